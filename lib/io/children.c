/*
 * The list of children that are alive.  Entering and leaving are done under a lock or by the owner
 * of the slot; reading is lock-free, since acp_process_kill_all() runs in signal handlers: slots
 * are atomics in blocks that are never given back.
 */
#include "io/children.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "acp/io.h"

enum { BLOCK = 64, FREE = 0, RESERVED = -1 };

struct block {
    atomic_int pids[BLOCK]; /* of a child, or FREE, or RESERVED */
    _Atomic(struct block *) next;
};

static struct block first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void acp_children_lock(void)
{
    (void) pthread_mutex_lock(&lock);
}

void acp_children_unlock(void)
{
    (void) pthread_mutex_unlock(&lock);
}

static struct block *next_of(struct block *block)
{
    return atomic_load_explicit(&block->next, memory_order_acquire);
}

/* The block behind, made if there is none.  Two threads may both make one; the loser's goes. */
static struct block *extend(struct block *block)
{
    struct block *fresh = calloc(1, sizeof(*fresh));
    struct block *expected = NULL;
    if (!fresh || atomic_compare_exchange_strong(&block->next, &expected, fresh))
        return fresh;
    free(fresh);
    return expected;
}

acp_child_slot *acp_children_reserve(void)
{
    for (struct block *block = &first; block;) {
        for (size_t i = 0; i < BLOCK; i++) {
            int expected = FREE;
            if (atomic_compare_exchange_strong(&block->pids[i], &expected, RESERVED))
                return &block->pids[i];
        }
        struct block *next = next_of(block);
        block = next ? next : extend(block);
    }
    return NULL;
}

void acp_children_enter(acp_child_slot *slot, pid_t pid)
{
    atomic_store(slot, (int) pid);
}

void acp_children_leave(acp_child_slot *slot)
{
    if (slot)
        atomic_store(slot, FREE);
}

bool acp_children_has(pid_t pid)
{
    for (struct block *block = &first; block; block = next_of(block))
        for (size_t i = 0; i < BLOCK; i++)
            if (atomic_load(&block->pids[i]) == (int) pid)
                return true;
    return false;
}

size_t acp_process_count(void)
{
    size_t count = 0;
    for (struct block *block = &first; block; block = next_of(block))
        for (size_t i = 0; i < BLOCK; i++)
            count += atomic_load(&block->pids[i]) > 0;
    return count;
}

void acp_process_kill_all(void)
{
    for (struct block *block = &first; block; block = next_of(block))
        for (size_t i = 0; i < BLOCK; i++) {
            int pid = atomic_load(&block->pids[i]);
            if (pid > 0)
                (void) kill((pid_t) -pid, SIGKILL);
        }
}
