/* The rules of .gitignore files.  Each row was held against git itself. */
#include "helpers.h"

#include "text/ignore.h"

struct row {
    const char *rules;
    const char *path; /* a folder when it ends with a slash */
    bool ignored;
};

static bool decide(const struct ignore *rules, const char *path)
{
    size_t n = strlen(path);
    bool folder = n && path[n - 1] == '/';
    return ignore_matches(rules, acp_str_n(path, folder ? n - 1 : n), folder);
}

static void rules_are_those_of_git(void **state)
{
    static const struct row rows[] = {
        /* Names at any depth, and paths from the file's folder on. */
        {"*.o", "a.o", true},
        {"*.o", "src/deep/a.o", true},
        {"*.o", "a.c", false},
        {"build", "build", true},
        {"build", "x/build/", true},
        {"build", "rebuild", false},
        {"/build", "build/", true},
        {"/build", "x/build/", false},
        {"doc/*.txt", "doc/a.txt", true},
        {"doc/*.txt", "doc/x/a.txt", false},
        {"doc/*.txt", "x/doc/a.txt", false},
        /* Folders only. */
        {"out/", "out/", true},
        {"out/", "out", false},
        {"out/", "x/out/", true},
        {"/a/b/", "a/b/", true},
        /* Two stars. */
        {"**/foo", "foo", true},
        {"**/foo", "a/b/foo", true},
        {"foo/**", "foo/", false},
        {"foo/**", "foo/a", true},
        {"foo/**", "foo/a/b", true},
        {"foo/**", "x/foo/a", false},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"a/**/b", "c/a/b", false},
        {"**", "anything", true},
        /* Classes, question marks and escapes. */
        {"[ab].c", "a.c", true},
        {"[!ab].c", "a.c", false},
        {"[!ab].c", "c.c", true},
        {"?.c", "x.c", true},
        {"?.c", "xy.c", false},
        {"\\#x", "#x", true},
        {"#x", "#x", false},
        {"\\!x", "!x", true},
        {"a\\*", "a*", true},
        {"a\\*", "ab", false},
        /* Blanks. */
        {"x  ", "x", true},
        {"x\\ ", "x ", true},
        {"x\\ ", "x", false},
        {" x", " x", true},
        {"x\r", "x", true},
        {"\xef\xbb\xbfx", "x", true},
        {"", "x", false},
        {"/", "x", false},
        {"!", "x", false},
        /* The last that matches decides. */
        {"*.o\n!keep.o", "keep.o", false},
        {"!keep.o\n*.o", "keep.o", true},
        {"*\n!*.c\n!*/", "a.c", false},
        {"*\n!*.c\n!*/", "src/", false},
        {"*\n!*.c\n!*/", "a.o", true},
        {"# words\n\n*.tmp\n", "x.tmp", true},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_arena arena;
        const struct ignore *rules = NULL;
        acp_arena_init(&arena, 0);
        assert_int_equal(
            ignore_parse(acp_str_from(rows[i].rules), acp_str_from(""), NULL, &arena, &rules), 0);
        CHECK_ROW(decide(rules, rows[i].path) == rows[i].ignored, i, "%s: %s", rows[i].rules,
                  rows[i].path);
        acp_arena_finish(&arena);
    }
}

static void inner_files_come_before_outer_ones(void **state)
{
    struct acp_arena arena;
    const struct ignore *top = NULL;
    const struct ignore *inner = NULL;
    const struct ignore *none = NULL;
    (void) state;
    acp_arena_init(&arena, 0);
    assert_int_equal(
        ignore_parse(acp_str_from("*.log\n/only"), acp_str_from(""), NULL, &arena, &top), 0);
    assert_int_equal(
        ignore_parse(acp_str_from("!my.log\n/local"), acp_str_from("src"), top, &arena, &inner), 0);
    assert_true(decide(inner, "src/other.log"));
    assert_false(decide(inner, "src/my.log"));
    assert_true(decide(inner, "my.log"));
    assert_true(decide(inner, "src/local"));
    assert_false(decide(inner, "src/x/local"));
    assert_false(decide(inner, "local"));
    assert_false(decide(inner, "srclocal/local"));
    assert_true(decide(inner, "only"));
    assert_int_equal(
        ignore_parse(acp_str_from("# nothing\n"), acp_str_from("x"), inner, &arena, &none), 0);
    assert_ptr_equal(none, inner);
    assert_false(decide(NULL, "x"));
    acp_arena_finish(&arena);
}

static void what_is_too_much_is_passed_over(void **state)
{
    struct acp_arena arena;
    const struct ignore *rules = NULL;
    struct acp_buf text;
    (void) state;
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, (size_t) IGNORE_MAX_BYTES * 4);
    for (int i = 0; i < IGNORE_MAX_PATTERN + 1; i++)
        assert_int_equal(acp_buf_append(&text, "a", 1), 0);
    assert_int_equal(acp_buf_printf(&text, "\n*.o\n"), 0);
    for (int i = 0; i < 3 * IGNORE_MAX_RULES; i++)
        assert_int_equal(acp_buf_printf(&text, "name-%d\n", i), 0);
    assert_int_equal(ignore_parse(acp_buf_view(&text), acp_str_from(""), NULL, &arena, &rules), 0);
    assert_true(decide(rules, "x.o"));
    assert_true(decide(rules, "name-7"));
    assert_false(decide(rules, "name-12000"));
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_those_of_git),
        cmocka_unit_test(inner_files_come_before_outer_ones),
        cmocka_unit_test(what_is_too_much_is_passed_over),
    };
    return cmocka_run_group_tests_name("ignore", tests, NULL, NULL);
}
