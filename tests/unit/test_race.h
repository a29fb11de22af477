/* test_race.h - a thread that keeps exchanging two names below the home of a test. */
#ifndef TESTS_UNIT_TEST_RACE_H
#define TESTS_UNIT_TEST_RACE_H

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "test_home.h"

struct racer {
    char a[200];
    char b[200];
    pthread_t thread;
    atomic_bool stop;
    atomic_ulong swaps;
};

static inline void *racer_run(void *user)
{
    struct racer *r = user;
    while (!r->stop) {
        (void) syscall(SYS_renameat2, AT_FDCWD, r->a, AT_FDCWD, r->b, 2 /* RENAME_EXCHANGE */);
        r->swaps++;
    }
    return NULL;
}

static inline void racer_start(struct racer *r, const char *a, const char *b)
{
    memset(r, 0, sizeof(*r));
    (void) snprintf(r->a, sizeof(r->a), "%s", test_path(a));
    (void) snprintf(r->b, sizeof(r->b), "%s", test_path(b));
    assert_int_equal(pthread_create(&r->thread, NULL, racer_run, r), 0);
}

/* Fails when it never came to its turn: then nothing was tried. */
static inline void racer_stop(struct racer *r)
{
    r->stop = true;
    assert_int_equal(pthread_join(r->thread, NULL), 0);
    assert_true(r->swaps > 10);
}

#endif
