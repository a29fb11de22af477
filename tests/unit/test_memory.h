/*
 * test_memory.h - malloc and its kin, counted and made to fail at will.
 *
 * For programs that are linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc.
 */
#ifndef TESTS_UNIT_TEST_MEMORY_H
#define TESTS_UNIT_TEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

static size_t test_allocations; /* how many there were */
static bool test_no_memory;     /* all of them fail */
static long test_countdown;     /* allocations until one fails; 0: none does */
static bool test_sticky;        /* all after that one fail too, until the countdown is set again */
static bool test_struck;        /* that one has come */

static bool test_fails(void)
{
    test_allocations++;
    if (test_countdown == 0)
        return test_no_memory;
    if (test_countdown > 1) {
        test_countdown--;
        return false;
    }
    test_countdown = test_sticky ? 1 : 0;
    test_struck = true;
    return true;
}

/* NOLINTBEGIN(bugprone-reserved-identifier): these names are the linker's. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return test_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return test_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return test_fails() ? NULL : __real_realloc(old, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
