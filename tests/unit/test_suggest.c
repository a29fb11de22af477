/* The distance of words, held against one that tries everything; and which word is suggested. */
#include "helpers.h"

#include "text/suggest.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* By its definition, for short words. */
static size_t simple(const char *a, size_t m, const char *b, size_t n)
{
    if (m == 0 || n == 0)
        return m + n;
    size_t best = simple(a, m - 1, b, n - 1) + (a[m - 1] != b[n - 1]);
    best = least(best, simple(a, m - 1, b, n) + 1);
    best = least(best, simple(a, m, b, n - 1) + 1);
    if (m > 1 && n > 1 && a[m - 1] == b[n - 2] && a[m - 2] == b[n - 1])
        best = least(best, simple(a, m - 2, b, n - 2) + 1);
    return best;
}

static void random_word(char *word, size_t most)
{
    size_t n = test_below(most + 1);
    for (size_t i = 0; i < n; i++)
        word[i] = (char) ('a' + test_below(3));
    word[n] = '\0';
}

static void test_distance_is_what_it_is_defined_as(void **state)
{
    (void) state;
    test_seed();
    for (size_t i = 0; i < 3000; i++) {
        char a[7] = "";
        char b[7] = "";
        random_word(a, 6);
        random_word(b, 6);
        size_t want = simple(a, strlen(a), b, strlen(b));
        for (size_t most = 0; most < 8; most++)
            assert_int_equal(suggest_distance(a, b, most), least(want, most + 1));
    }
}

static void test_words_of_any_length(void **state)
{
    (void) state;
    static char huge[5000];
    memset(huge, 'a', sizeof(huge) - 1);
    assert_int_equal(suggest_distance(huge, "a", 3), 4);
    assert_int_equal(suggest_distance(huge, huge, 3), 4);
    assert_int_equal(suggest_distance("", "", 0), 0);
}

static const char *suggested(const char *wrong)
{
    static const char *const known[] = {"exec",   "prompt", "sessions", "set",
                                        "status", "config", "agents",   "trace"};
    struct suggestion near = {.wrong = wrong};
    for (size_t i = 0; i < COUNT(known); i++)
        suggest_try(&near, known[i]);
    return near.best;
}

static void test_what_is_suggested(void **state)
{
    (void) state;
    assert_string_equal(suggested("exce"), "exec");
    assert_string_equal(suggested("promt"), "prompt");
    assert_string_equal(suggested("session"), "sessions");
    assert_string_equal(suggested("sess"), "sessions");
    assert_string_equal(suggested("stauts"), "status");
    assert_string_equal(suggested("sett"), "set");
    assert_string_equal(suggested("trcae"), "trace");
    assert_null(suggested("delete"));
    assert_null(suggested("x"));
    assert_null(suggested(""));
    assert_null(suggested("fix the tests"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance_is_what_it_is_defined_as),
        cmocka_unit_test(test_words_of_any_length),
        cmocka_unit_test(test_what_is_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
