/* helpers.h - what the unit tests share: cmocka, random numbers, texts in blocks of their size. */
#ifndef TESTS_UNIT_HELPERS_H
#define TESTS_UNIT_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/base.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A text of an array, with the NUL bytes that it may hold. */
#define TEXT(literal) acp_raw_n((literal), sizeof(literal) - 1)

/* Fails with the place in a table that is to blame. */
#define CHECK_ROW(condition, row, ...)                                                             \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("row %zu: " #condition "\n", (size_t) (row));                              \
            print_error(__VA_ARGS__);                                                              \
            print_error("\n");                                                                     \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* ---- Random numbers ------------------------------------------------------------------------- */

static uint64_t test_random_state;

/* Starts from a fixed seed, or from ACP_TEST_SEED, and prints it. */
static inline void test_seed(void)
{
    unsigned long seed = 20261115;
    const char *text = getenv("ACP_TEST_SEED");
    if (text)
        seed = strtoul(text, NULL, 10);
    printf("# seed %lu (ACP_TEST_SEED)\n", seed);
    test_random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
}

static inline uint64_t test_random(void)
{
    uint64_t x = test_random_state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static inline size_t test_below(size_t n)
{
    return (size_t) (test_random() % n);
}

/* ---- Texts ---------------------------------------------------------------------------------- */

/* A copy in a block of exactly its size, so that the sanitizer sees every read outside of it. */
static inline struct acp_raw test_exact(struct acp_raw text)
{
    char *copy = malloc(text.len ? text.len : 1);
    assert_non_null(copy);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    return acp_raw_n(text.len ? copy : copy + 1, text.len);
}

static inline void test_exact_free(struct acp_raw text)
{
    char *block;
    const char *ptr = text.len ? text.ptr : text.ptr - 1;
    memcpy(&block, &ptr, sizeof(block));
    free(block);
}

/* The text with " for ', which makes tables of JSON readable. */
static inline struct acp_raw test_quoted(const char *text, char *out, size_t size)
{
    size_t n = strlen(text);
    assert_true(n < size);
    for (size_t i = 0; i <= n; i++)
        out[i] = text[i] == '\'' ? '"' : text[i];
    return acp_raw_n(out, n);
}

/* The content of a buffer as a C string; valid until it changes. */
static inline const char *test_cstr(struct acp_buf *buf)
{
    assert_int_equal(acp_buf_append(buf, "", 1), 0);
    acp_buf_truncate(buf, buf->len - 1);
    return acp_buf_view(buf).ptr;
}

static inline bool test_inside(struct acp_raw part, struct acp_raw whole)
{
    return part.ptr >= whole.ptr && part.len <= whole.len &&
           (size_t) (part.ptr - whole.ptr) <= whole.len - part.len;
}

#define assert_text_equal(text, literal)                                                           \
    do {                                                                                           \
        assert_int_equal((text).len, strlen(literal));                                             \
        assert_memory_equal((text).ptr, (literal), (text).len);                                    \
    } while (0)

#endif
