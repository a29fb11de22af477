/* Small parts of the agent that work on texts: the journal, terminal output, patterns of files. */
#include "helpers.h"

#include "agent/toolkit/undo.h"
#include "agent/tools/pattern.h"
#include "text/plain.h"

/* ---- The journal ---------------------------------------------------------------------------- */

static void note(struct undo *journal, const char *path, const char *before, const char *after)
{
    undo_note(journal, acp_str_from(path), acp_str_from(before), 0644, acp_str_from(after));
}

static void a_turn_keeps_the_first_text_of_each_file(void **state)
{
    struct undo journal;
    (void) state;
    undo_init(&journal, 0);
    assert_int_equal(undo_count(&journal), 0);
    undo_drop(&journal);
    undo_begin(&journal);
    note(&journal, "/a", "1", "2");
    note(&journal, "/a", "2", "3");
    note(&journal, "/b", NULL, "new");
    assert_int_equal(undo_count(&journal), 2);
    const struct undo_file *file = undo_at(&journal, 0);
    assert_text_equal(file->old_text, "1");
    assert_true(undo_same(file->left, undo_mark(acp_str_from("3"))));
    assert_false(undo_same(file->left, undo_mark(acp_str_from("2"))));
    assert_false(undo_same(file->left, undo_mark(acp_str_from(NULL))));
    assert_null(undo_at(&journal, 1)->old_text.ptr);
    assert_null(undo_at(&journal, 2));
    /* A turn that changes nothing hides no turn that did. */
    undo_begin(&journal);
    undo_begin(&journal);
    assert_int_equal(undo_count(&journal), 2);
    undo_drop(&journal);
    assert_int_equal(undo_count(&journal), 0);
    undo_finish(&journal);
}

static void the_journal_has_a_limit(void **state)
{
    struct undo journal;
    (void) state;
    undo_init(&journal, 10);
    note(&journal, "/a", "123456", "x");
    undo_begin(&journal);
    note(&journal, "/b", "1234", "x");
    assert_int_equal(undo_count(&journal), 1);
    note(&journal, "/c", "123456", "x"); /* the first turn makes room */
    assert_int_equal(undo_count(&journal), 2);
    assert_int_equal(undo_lost(&journal), 0);
    note(&journal, "/d", "1", "x"); /* and now nothing does */
    assert_int_equal(undo_lost(&journal), 1);
    undo_drop(&journal);
    assert_int_equal(undo_count(&journal), 0);
    for (int i = 0; i < 3 * UNDO_MAX_TURNS; i++) {
        undo_begin(&journal);
        note(&journal, "/a", "", "x");
    }
    size_t turns = 0;
    for (; undo_count(&journal); turns++)
        undo_drop(&journal);
    assert_int_equal(turns, UNDO_MAX_TURNS);
    undo_finish(&journal);
}

/* ---- Terminal output ------------------------------------------------------------------------ */

static void terminal_output_becomes_text(void **state)
{
    static const char *const rows[][2] = {
        {"plain\n", "plain\n"},
        {"\033[31mred\033[0m text", "red text"},
        {"\033]0;title\007shown", "shown"},
        {"\033]8;;http://x\033\\link\033]8;;\033\\", "link"},
        {"\033(Bx\033=y", "xy"},
        {"10%\r50%\r100%\n", "100%\n"},
        {"one\r\ntwo\r\r\n", "one\ntwo\n"},
        {"done\r", "done"},
        {"ab\bc", "ac"},
        {"\303\251\b", ""},
        {"\b\bx", "x"},
        {"a\nb\b\b\bc", "a\nc"},
        {"a\007\001b\177c\td", "abc\td"},
        {"cut \033[3", "cut "},
        {"cut \033", "cut "},
        {"\033]no end\nnext", "\nnext"},
        {"\303\274ber", "\303\274ber"},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_buf out;
        acp_buf_init(&out, 1000);
        struct acp_raw text = test_exact(acp_raw_from(rows[i][0]));
        assert_int_equal(plain_text(acp_str_n(text.ptr, text.len), &out), 0);
        CHECK_ROW(strcmp(test_cstr(&out), rows[i][1]) == 0, i, "%s", test_cstr(&out));
        test_exact_free(text);
        acp_buf_finish(&out);
    }
}

/* ---- Patterns ------------------------------------------------------------------------------- */

static void patterns_of_files(void **state)
{
    static const struct {
        const char *pattern;
        const char *path;
        bool fits;
    } rows[] = {
        {"*.c", "a.c", true},
        {"*.c", "src/a.c", true},
        {"src/*.c", "src/a.c", true},
        {"src/*.c", "src/x/a.c", false},
        {"src/**/*.c", "src/x/a.c", true},
        {"src/**/*.c", "src/a.c", true},
        {"./src/*.c", "src/a.c", true},
        {"**/*.{ts,tsx}", "a/b.tsx", true},
        {"*.{ts,tsx}", "a/b.ts", true},
        {"*.{ts,tsx}", "a/b.js", false},
        {"{a,b}/{c,d}.x", "b/c.x", true},
        {"{a,b}/{c,d}.x", "c/c.x", false},
        {"{a,{b,c}}.x", "c.x", true},
        {"a{,b}", "a", true},
        {"a{,b}", "ab", true},
        {"{a}", "{a}", true},
        {"{a,b", "{a,b", true},
        {"\\{a,b}", "{a,b}", true},
        {"Makefile", "x/Makefile", true},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_arena arena;
        struct pattern pattern;
        acp_arena_init(&arena, 0);
        assert_int_equal(pattern_parse(acp_str_from(rows[i].pattern), &arena, &pattern), 0);
        CHECK_ROW(pattern_matches(&pattern, acp_str_from(rows[i].path)) == rows[i].fits, i, "%s %s",
                  rows[i].pattern, rows[i].path);
        acp_arena_finish(&arena);
    }
}

static void alternatives_do_not_explode(void **state)
{
    struct acp_arena arena;
    struct pattern pattern;
    (void) state;
    acp_arena_init(&arena, 1 << 20);
    assert_int_equal(
        pattern_parse(acp_str_from("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"), &arena, &pattern), 0);
    assert_int_equal(pattern.count, 64);
    assert_int_equal(pattern_parse(acp_str_from("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"),
                                   &arena, &pattern),
                     ACP_ERR_LIMIT);
    acp_arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_keeps_the_first_text_of_each_file),
        cmocka_unit_test(the_journal_has_a_limit),
        cmocka_unit_test(terminal_output_becomes_text),
        cmocka_unit_test(patterns_of_files),
        cmocka_unit_test(alternatives_do_not_explode),
    };
    return cmocka_run_group_tests_name("agent_texts", tests, NULL, NULL);
}
