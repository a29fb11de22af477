/*
 * Regular expressions: what is refused and with which words, and that nothing is slow.  What they
 * match is held against JavaScript in tests/conformance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "schema/regex.h"

static int search_n(struct acp_str pattern, struct acp_str text, uint64_t work)
{
    struct acp_arena arena;
    struct schema_regex *regex = NULL;
    struct schema_regex_scratch scratch;
    struct acp_failure failure = {0};
    acp_arena_init(&arena, 0);
    schema_regex_scratch_init(&scratch);
    int result = schema_regex_compile(pattern, &arena, &regex, &failure);
    if (result)
        assert_true(failure.err == result && *failure.message);
    else
        result = schema_regex_search(regex, text, &scratch, &work);
    schema_regex_scratch_finish(&scratch);
    acp_arena_finish(&arena);
    return result;
}

static int search(const char *pattern, const char *text)
{
    return search_n(acp_str_from(pattern), acp_str_from(text), 1000000);
}

static void patterns_match(void **state)
{
    (void) state;
    static const struct {
        const char *pattern;
        const char *text;
        int matches;
    } rows[] = {
        {"", "", 1},
        {"", "x", 1},
        {"^$", "", 1},
        {"^$", "x", 0},
        {"a|b|", "c", 1},
        {"^(a|b)$", "b", 1},
        {"^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$", "2024-12", 1},
        {"^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$", "2024-13", 0},
        {"^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$", "a.b@c.de", 1},
        {"^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$", "a b@c.de", 0},
        {"^[A-Za-z_$][\\w$-]*$", "a-b_1", 1},
        {"\\bcat\\b", "a cat sat", 1},
        {"\\bcat\\b", "concat", 0},
        {"^.$", "\xe2\x80\xa8", 0},
        {"^.$", "\xf0\x9f\x98\x80", 1},
        {"^\\u{1F600}\\ud83d\\ude00$", "\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 1},
        {"^\\s$", "\xc2\xa0", 1},
        {"^\\-\\/\\:$", "-/:", 1},
        {"^\\cJ\\x41\\0$", "\nA", 0},
        {"^(a*)*$", "aaaa", 1},
        {"^(a*)*$", "aaab", 0},
        {"^((){9}){9}$", "", 1},
        {"^(a?){3}a{3}$", "aaa", 1},
        {"^a{0}$", "", 1},
        {"^a{2,3}$", "aaaa", 0},
        {"^a{2,}$", "aaaa", 1},
        {"^[\\]\\\\^-]$", "^", 1},
        {"^[]$", "", 0},
        {"^[^]$", "\n", 1},
        {"a^", "a", 0},
        {"$a", "a", 0},
        {"(^a|b)$", "cb", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int got = search(rows[i].pattern, rows[i].text);
        if (got != rows[i].matches)
            print_error("%s on %s\n", rows[i].pattern, rows[i].text);
        assert_int_equal(got, rows[i].matches);
    }
    assert_int_equal(search_n(acp_str_from("^\\0$"), acp_str_n("\0", 1), 1000), 1);
}

static void what_is_not_taken_is_refused_with_its_place(void **state)
{
    (void) state;
    static const struct {
        const char *pattern;
        size_t offset;
    } rows[] = {
        {"(", 1},       {")", 0},       {"a)", 1},          {"[a", 2},     {"[z-a]", 4},
        {"[\\d-z]", 5}, {"[a-\\d]", 5}, {"*", 0},           {"a**", 2},    {"a{2,1}", 5},
        {"a{", 2},      {"a{1", 3},     {"{", 0},           {"}", 0},      {"]", 0},
        {"\\", 1},      {"\\1", 1},     {"(a)\\k<a>", 4},   {"\\p{L}", 1}, {"\\q", 1},
        {"\\u12", 4},   {"\\x1", 3},    {"\\u{110000}", 8}, {"\\u{}", 3},  {"(?=a)", 2},
        {"(?!a)", 2},   {"(?<=a)", 2},  {"(?<!a)", 2},      {"(?i)a", 2},  {"(?<1>a)", 3},
        {"^*", 1},      {"\\b+", 2},    {"\\01", 1},        {"\xff", 0},   {"a{,2}", 2},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_arena arena;
        struct schema_regex *regex = NULL;
        struct acp_failure failure = {0};
        acp_arena_init(&arena, 0);
        int err = schema_regex_compile(acp_str_from(rows[i].pattern), &arena, &regex, &failure);
        if (err != ACP_ERR_ARGUMENT || failure.offset != rows[i].offset)
            print_error("%s: %d at %zu: %s\n", rows[i].pattern, err, failure.offset,
                        failure.message);
        assert_int_equal(err, ACP_ERR_ARGUMENT);
        assert_int_equal(failure.offset, rows[i].offset);
        assert_null(regex);
        acp_arena_finish(&arena);
    }
}

static void sizes_are_limited(void **state)
{
    (void) state;
    char deep[2 * SCHEMA_REGEX_MAX_GROUPS + 4];
    size_t n = SCHEMA_REGEX_MAX_GROUPS;
    memset(deep, '(', n + 1);
    memset(deep + n + 1, ')', n + 1);
    assert_int_equal(search_n(acp_str_n(deep, 2 * n + 2), acp_str_from(""), 1000),
                     ACP_ERR_ARGUMENT);
    assert_int_equal(search_n(acp_str_n(deep + 1, 2 * n), acp_str_from(""), 1000), 1);
    assert_int_equal(search("a{20001}", ""), ACP_ERR_ARGUMENT);
    assert_int_equal(search("a{99999999999999999999}", ""), ACP_ERR_ARGUMENT);
    assert_int_equal(search("((a{100}){100}){100}", ""), ACP_ERR_ARGUMENT);
    assert_int_equal(search("(((){99999}){99999}){99999}", "x"), 1);
    assert_int_equal(search("^a{0,9000}$", "aaa"), 1);
}

/* Patterns that take others a lifetime. */
static void nothing_is_slow(void **state)
{
    (void) state;
    static const char *const patterns[] = {
        "^(a+)+$",  "^(a|a)*$",       "^(a|aa)+$",           "^(.*a){20}$",
        "(x+x+)+y", "^([a-z]+)*\\d$", "^(([a-z])+.)+[A-Z]$", "(a*)*(a*)*(a*)*b",
    };
    const size_t N = 100000;
    char *text = malloc(N);
    assert_non_null(text);
    memset(text, 'a', N);
    text[N - 1] = '!';
    clock_t begin = clock();
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        assert_int_equal(search_n(acp_str_from(patterns[i]), acp_str_n(text, N), UINT64_MAX), 0);
    assert_true((double) (clock() - begin) / CLOCKS_PER_SEC < 20);
    /* And where there is too much of everything, the work has an end. */
    memset(text, 'a', N);
    assert_int_equal(search_n(acp_str_from("(a?){5000}b"), acp_str_n(text, N), 1000000),
                     ACP_ERR_LIMIT);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match),
        cmocka_unit_test(what_is_not_taken_is_refused_with_its_place),
        cmocka_unit_test(sizes_are_limited),
        cmocka_unit_test(nothing_is_slow),
    };
    return cmocka_run_group_tests_name("schema_regex", tests, NULL, NULL);
}
