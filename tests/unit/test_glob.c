/*
 * Patterns for paths and words: what they match, against a table and against a matcher that is too
 * simple to be wrong, and how long the nastiest ones take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "base/glob.h"

struct row {
    const char *pattern;
    const char *text;
    bool matches;
};

static void words_match_as_a_whole(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"a", "a", true},
        {"a", "b", false},
        {"a", "aa", false},
        {"*", "", true},
        {"*", "anything/at all", true},
        {"a*", "a", true},
        {"a*", "abc", true},
        {"a*", "ba", false},
        {"*a", "ba", true},
        {"*a", "ab", false},
        {"a*c", "abc", true},
        {"a*c", "ac", true},
        {"a*c", "abcb", false},
        {"a*b*c", "axbxc", true},
        {"a*b*c", "abbbc", true},
        {"a*b*c", "acb", false},
        {"**", "x", true},
        {"*ab*ab", "abxab", true},
        {"*ab*ab", "ab", false},
        {"*ab*ab", "aabab", true},
        {"?", "a", true},
        {"?", "", false},
        {"?", "ab", false},
        {"?", "ä", true},
        {"??", "ä", false},
        {"?", "日", true},
        {"?", "\xff", true},
        {"*", "\xff\xfe", true},
        {"ä*", "äöü", true},
        /* What is not UTF-8 is a character of its own, behind all others. */
        {"[\xff]", "\xff", true},
        {"[\xff]", "\xfe", false},
        {"[\xff]", "ÿ", false},
        {"[a-\xff]", "日", true},
        {"[日-\xfe]", "\xff", false},
        {"[abc]", "b", true},
        {"[abc]", "d", false},
        {"[a-c]", "b", true},
        {"[a-c]", "d", false},
        {"[!a-c]", "d", true},
        {"[!a-c]", "b", false},
        {"[^a]", "b", true},
        {"[^a]", "a", false},
        {"[]]", "]", true},
        {"[!]]", "]", false},
        {"[]a]", "a", true},
        {"[a-]", "-", true},
        {"[-a]", "-", true},
        {"[a\\]]", "]", true},
        {"[\\!a]", "!", true},
        {"[ä-ü]", "ö", true},
        {"[ä-ü]", "o", false},
        {"[a-c]x", "bx", true},
        {"[z-a]", "m", false},
        {"[a", "[a", true},
        {"[", "[", true},
        {"[]", "[]", true},
        {"x[", "x[", true},
        {"[!", "[!", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"\\a", "a", true},
        {"\\\\", "\\", true},
        {"\\[a]", "[a]", true},
        {"a\\", "a\\", true},
        {"git*", "git status", true},
        {".*", ".env", true},
        {"*", ".env", true},
        {"*.c", "a.c", true},
        {"*.c", ".c", true},
        {"A", "a", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool got = acp_glob_text(acp_str_from(rows[i].pattern), acp_str_from(rows[i].text));
        if (got != rows[i].matches)
            print_error("%s on %s\n", rows[i].pattern, rows[i].text);
        assert_int_equal(got, rows[i].matches);
    }
}

static void paths_match_name_by_name(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"", "", true},
        {"/", "/", true},
        {"/", "/a", false},
        {"a", "a", true},
        {"a/b", "a/b", true},
        {"a/b", "a", false},
        {"a/*", "a/b", true},
        {"a/*", "a/b/c", false},
        {"a/*", "a", false},
        {"*", "a/b", false},
        {"*.c", "x/a.c", false},
        {"a?b", "a/b", false},
        {"a[/]b", "a/b", false},
        {"a[!x]b", "a/b", false},
        {"**", "", true},
        {"**", "a/b/c", true},
        {"/**", "/", true},
        {"/**", "/a/b", true},
        {"a/**", "a", true},
        {"a/**", "a/b", true},
        {"a/**", "a/b/c", true},
        {"a/**", "ab", false},
        {"a/**", "b/a", false},
        {"**/a", "a", true},
        {"**/a", "x/a", true},
        {"**/a", "x/y/a", true},
        {"**/a", "x/ab", false},
        {"**/a", "a/b", false},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"a/**/b", "a/x", false},
        {"**/a/**/b", "x/a/y/a/z/b", true},
        {"**/a/**/b/**", "x/a/y/b/z", true},
        {"**/.env*", "x/.env.local", true},
        {"**/*.c", "x/y/z.c", true},
        {"**/*.c", "x/y/z.h", false},
        {"**/node_modules/**", "a/node_modules/b/c", true},
        {"a/**b", "a/x/b", false}, /* only a whole name is any number of names */
        {"a/**b", "a/xb", true},
        {"**/**/a", "a", true},
        {"**/x/**/x", "x/x", true},
        {"**/x/**/x", "x", false},
        {"a//b/", "/a/b", true},
        {"ä/日*", "ä/日本", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool got = acp_glob_path(acp_str_from(rows[i].pattern), acp_str_from(rows[i].text));
        if (got != rows[i].matches)
            print_error("%s on %s\n", rows[i].pattern, rows[i].text);
        assert_int_equal(got, rows[i].matches);
    }
}

/* ---- Against a simple one ------------------------------------------------------------------- */

/* Texts over "ab/" and patterns over "ab*?/", tried in every way. */
static bool simple_text(const char *p, const char *p_end, const char *t, const char *t_end)
{
    if (p == p_end)
        return t == t_end;
    if (*p == '*')
        return simple_text(p + 1, p_end, t, t_end) ||
               (t < t_end && simple_text(p, p_end, t + 1, t_end));
    return t < t_end && (*p == '?' || *p == *t) && simple_text(p + 1, p_end, t + 1, t_end);
}

static const char *name_end(const char *p)
{
    return p + strcspn(p, "/");
}

static bool simple_path(const char *p, const char *t)
{
    p += strspn(p, "/");
    t += strspn(t, "/");
    if (!*p)
        return !*t;
    const char *p_end = name_end(p);
    const char *t_end = name_end(t);
    if (p_end - p == 2 && p[0] == '*' && p[1] == '*')
        return simple_path(p_end, t) || (*t && simple_path(p, t_end));
    return *t && simple_text(p, p_end, t, t_end) && simple_path(p_end, t_end);
}

static uint64_t seed;

static size_t some_number(size_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t) (seed >> 33) % below;
}

static void random_text(char *out, size_t max, const char *letters)
{
    size_t n = some_number(max);
    for (size_t i = 0; i < n; i++)
        out[i] = letters[some_number(strlen(letters))];
    out[n] = '\0';
}

static void random_patterns_match_as_the_simple_matcher_says(void **state)
{
    (void) state;
    const char *given = getenv("SEED");
    unsigned start = given ? (unsigned) strtoul(given, NULL, 10) : (unsigned) time(NULL);
    seed = start;
    for (int i = 0; i < 300000; i++) {
        char pattern[12] = "";
        char text[14] = "";
        random_text(pattern, sizeof(pattern), "aab**?//");
        random_text(text, sizeof(text), "aab/");
        bool want = simple_path(pattern, text);
        bool want_text = simple_text(pattern, pattern + strlen(pattern), text, text + strlen(text));
        if (acp_glob_path(acp_str_from(pattern), acp_str_from(text)) != want ||
            acp_glob_text(acp_str_from(pattern), acp_str_from(text)) != want_text) {
            print_error("SEED=%u: %s on %s\n", start, pattern, text);
            fail();
        }
    }
}

static void no_pattern_takes_forever(void **state)
{
    (void) state;
    const size_t N = 4000;
    char *pattern = malloc(2 * N + 2);
    char *text = malloc(2 * N + 1);
    assert_non_null(pattern);
    assert_non_null(text);
    for (size_t i = 0; i < N; i++) {
        memcpy(pattern + 2 * i, "*a", 2);
        memcpy(text + 2 * i, "aa", 2);
    }
    memcpy(pattern + 2 * N, "b", 2);
    text[2 * N] = '\0';
    clock_t begin = clock();
    assert_false(acp_glob_text(acp_str_from(pattern), acp_str_from(text)));
    /* A double star, a name, a double star ... */
    for (size_t i = 0; i + 5 < 2 * N; i += 5)
        memcpy(pattern + i, "**/a/", 6);
    for (size_t i = 0; i < N; i++)
        memcpy(text + 2 * i, "a/", 2);
    text[2 * N - 1] = 'c';
    assert_false(acp_glob_path(acp_str_from(pattern), acp_str_from(text)));
    assert_true((double) (clock() - begin) / CLOCKS_PER_SEC < 5);
    free(pattern);
    free(text);
}

/* ---- Patterns as such ----------------------------------------------------------------------- */

static void escaped_texts_match_themselves_only(void **state)
{
    (void) state;
    static const char *const texts[] = {"",         "plain", "a*b",   "[x]",  "\\",    "?",
                                        "*?[\\]!-", "a\\*b", "{a,b}", "ä*日", "\xff*", "~"};
    struct acp_buf out;
    acp_buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        acp_buf_clear(&out);
        assert_int_equal(acp_glob_escape(acp_str_from(texts[i]), &out), 0);
        struct acp_str pattern = acp_buf_view(&out);
        assert_false(acp_glob_is_wild(pattern));
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
            assert_int_equal(acp_glob_text(pattern, acp_str_from(texts[k])), i == k);
            assert_int_equal(acp_glob_spells(pattern, acp_str_from(texts[k])), i == k);
        }
    }
    acp_buf_finish(&out);
    acp_buf_init(&out, 3);
    assert_int_equal(acp_glob_escape(acp_str_from("***"), &out), ACP_ERR_LIMIT);
    assert_int_equal(out.len, 0);
    acp_buf_finish(&out);
}

static void mistakes_in_patterns_are_told(void **state)
{
    (void) state;
    static const struct {
        const char *pattern;
        bool good;
    } rows[] = {{"a", true},      {"", false},     {"[a]", true},    {"[a", false},
                {"[]", false},    {"[]]", true},   {"a\\", false},   {"a\\\\", true},
                {"\\[", true},    {"[\\]", false}, {"[a\\]]", true}, {"x[!]", false},
                {"**/*.c", true}, {"[a][b", false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool good = acp_glob_complaint(acp_str_from(rows[i].pattern)) == NULL;
        if (good != rows[i].good)
            fail_msg("row %zu", i);
    }
    assert_non_null(acp_glob_complaint(acp_str_n("a\0b", 3)));
    assert_true(acp_glob_is_wild(acp_str_from("a?")));
    assert_true(acp_glob_is_wild(acp_str_from("\\\\*")));
    assert_false(acp_glob_is_wild(acp_str_from("a\\*b")));
    assert_false(acp_glob_spells(acp_str_from("a*"), acp_str_from("a*")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_match_as_a_whole),
        cmocka_unit_test(paths_match_name_by_name),
        cmocka_unit_test(random_patterns_match_as_the_simple_matcher_says),
        cmocka_unit_test(no_pattern_takes_forever),
        cmocka_unit_test(escaped_texts_match_themselves_only),
        cmocka_unit_test(mistakes_in_patterns_are_told),
    };
    return cmocka_run_group_tests_name("glob", tests, NULL, NULL);
}
