/* The width of characters, held against that of the C library, and of what is drawn as one. */
#include "helpers.h"

#include <locale.h>
#include <wchar.h>

#include "text/sanitize.h"
#include "text/width.h"

static void characters_are_as_wide_as_the_c_library_says(void **state)
{
    size_t compared = 0;
    size_t others = 0;
    (void) state;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    for (uint32_t code = 0x20; code < 0x110000; code++) {
        int theirs = wcwidth((wchar_t) code);
        if (theirs < 0 || sanitize_hides(code)) /* not assigned, or never shown */
            continue;
        compared++;
        others += width_of(code) != (unsigned) theirs;
    }
    printf("# %zu of %zu characters differ\n", others, compared);
    assert_true(compared > 100000);
    /* Other versions of Unicode, and marks that take a column of their own. */
    assert_true(others < compared / 500);
}

static void what_is_drawn_as_one_counts_once(void **state)
{
    static const struct {
        const char *text;
        size_t columns;
    } rows[] = {
        {"", 0},
        {"abc", 3},
        {"e\xcc\x81", 1},                                        /* e and an acute */
        {"\xe6\x97\xa5\xe6\x9c\xac", 4},                         /* two ideographs */
        {"\xf0\x9f\x98\x80", 2},                                 /* a face */
        {"\xe2\x9d\xa4\xef\xb8\x8f", 2},                         /* a heart, as an emoji */
        {"\xe2\x9d\xa4", 1},                                     /* the same as text */
        {"\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd", 2},                 /* a thumb with a skin tone */
        {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", 2},     /* woman, joiner, laptop */
        {"\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa", 2},                 /* a flag */
        {"\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa\xf0\x9f\x87\xab", 3}, /* and half of one */
        {"a\xff"
         "b",
         3},
        {"\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 2}, /* a Hangul syllable in parts */
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_ROW(width_text(acp_str_from(rows[i].text)) == rows[i].columns, i, "%s", rows[i].text);
}

static void cuts_lie_between_units(void **state)
{
    size_t columns;
    (void) state;
    struct acp_str text = acp_str_from("a\xe6\x97\xa5"
                                       "e\xcc\x81z");
    assert_true(acp_str_is(width_cut(text, 2, &columns), "a"));
    assert_int_equal(columns, 1);
    assert_true(acp_str_is(width_cut(text, 4, &columns), "a\xe6\x97\xa5"
                                                         "e\xcc\x81"));
    assert_int_equal(columns, 4);
    assert_true(acp_str_eq(width_cut(text, 100, NULL), text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_as_wide_as_the_c_library_says),
        cmocka_unit_test(what_is_drawn_as_one_counts_once),
        cmocka_unit_test(cuts_lie_between_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
