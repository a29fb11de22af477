/*
 * The arena: memory for one message.  Blocks double in size; reset keeps the largest, so a warm
 * arena serves messages without malloc.
 */
#include <stdalign.h>
#include <stdlib.h>

#include "base/null.h"

enum {
    FIRST_BLOCK = 4096,
    /* A block above this is freed by a reset: one huge message must not cost memory for ever. */
    ARENA_KEEP_MAX = 1024 * 1024,
};

struct acp_arena_block {
    struct acp_arena_block *older;
    size_t size;
    alignas(max_align_t) char bytes[];
};

const uint64_t acp_null_block[ACP_NULL_SIZE / sizeof(uint64_t)];

const void *acp_null(void)
{
    return acp_null_block;
}

bool acp_is_null(const void *ptr)
{
    return ptr == (const void *) acp_null_block;
}

/*
 * Not inline on purpose: compilers turn a memset of known size into a string instruction that is
 * slow to start, and libc's memset is not.
 */
void acp_zero(void *memory, size_t size)
{
    memset(memory, 0, size);
}

static size_t aligned(size_t size)
{
    return (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

void acp_arena_init(struct acp_arena *arena, size_t max)
{
    *arena = (struct acp_arena){.max = max ? max : (size_t) ACP_ARENA_DEFAULT_MAX};
}

static void free_blocks(struct acp_arena_block *block)
{
    while (block) {
        struct acp_arena_block *older = block->older;
        free(block);
        block = older;
    }
}

void acp_arena_finish(struct acp_arena *arena)
{
    free_blocks(arena->blocks);
    acp_arena_init(arena, arena->max);
}

void acp_arena_reset(struct acp_arena *arena)
{
    struct acp_arena_block *kept = arena->blocks;
    if (!kept)
        return;
    /* Mostly the newest, unless the limit cut that one short. */
    for (struct acp_arena_block *block = kept->older; block; block = block->older)
        if (block->size > kept->size)
            kept = block;
    if (kept->size > ARENA_KEEP_MAX) {
        acp_arena_finish(arena);
        return;
    }
    for (struct acp_arena_block *block = arena->blocks; block;) {
        struct acp_arena_block *older = block->older;
        if (block != kept)
            free(block);
        block = older;
    }
    kept->older = NULL;
    arena->blocks = kept;
    arena->next = kept->bytes;
    arena->end = kept->bytes + kept->size;
    arena->used = kept->size;
}

static int add_block(struct acp_arena *arena, size_t least)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    if (size < least)
        size = least;
    if (size > arena->max - arena->used)
        size = arena->max - arena->used;
    if (size < least)
        return ACP_ERR_LIMIT;
    struct acp_arena_block *block = malloc(sizeof(*block) + size);
    if (!block)
        return ACP_ERR_NOMEM;
    block->older = arena->blocks;
    block->size = size;
    arena->blocks = block;
    arena->next = block->bytes;
    arena->end = block->bytes + size;
    arena->used += size;
    return 0;
}

void *acp_arena_alloc(struct acp_arena *arena, size_t size)
{
    if (size > arena->max)
        return NULL;
    size_t need = aligned(size ? size : 1);
    if (need > (size_t) (arena->end - arena->next) && add_block(arena, need))
        return NULL;
    char *memory = arena->next;
    arena->next += need;
    memset(memory, 0, need);
    return memory;
}

void *acp_arena_grow(struct acp_arena *arena, void *old, size_t old_size, size_t new_size)
{
    if (!old)
        return acp_arena_alloc(arena, new_size);
    if (new_size <= old_size)
        return old;
    if (new_size > arena->max)
        return NULL;
    size_t had = aligned(old_size ? old_size : 1);
    size_t need = aligned(new_size);
    char *bytes = old;
    if (bytes + had == arena->next && need <= (size_t) (arena->end - bytes)) {
        memset(bytes + old_size, 0, need - old_size);
        arena->next = bytes + need;
        return old;
    }
    void *memory = acp_arena_alloc(arena, new_size);
    if (memory)
        memcpy(memory, old, old_size);
    return memory;
}

struct acp_str acp_arena_copy(struct acp_arena *arena, struct acp_str text)
{
    char *copy = acp_arena_alloc(arena, text.len + 1);
    if (!copy)
        return acp_str_n(NULL, 0);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    return acp_str_n(copy, text.len);
}
