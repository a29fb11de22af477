/* Unified diffs: what is read, where hunks go, and what is said when they go nowhere. */
#include "helpers.h"

#include "base/diff.h"
#include "text/patch.h"

struct row {
    const char *old_text;
    const char *hunks; /* behind "--- a/f" and "+++ b/f" */
    const char *new_text;
};

static int run(const char *old_text, const char *hunks, struct acp_buf *out,
               struct acp_failure *failure)
{
    struct acp_arena arena;
    struct acp_buf text;
    struct patch patch;
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, 1 << 20);
    assert_int_equal(acp_buf_printf(&text, "--- a/f\n+++ b/f\n%s", hunks), 0);
    int err = patch_parse(acp_buf_view(&text), &arena, &patch, failure);
    if (!err)
        err = patch_apply(&patch.files[0], acp_str_from(old_text), out, failure);
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
    return err;
}

static void hunks_go_where_their_lines_are(void **state)
{
    static const struct row rows[] = {
        {"a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
        /* Numbers that are wrong, or missing. */
        {"a\nb\nc\n", "@@ -7,3 +7,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
        {"a\nb\nc\n", "@@ -1,9 +1,9 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
        {"a\nb\nc\n", "@@ -1 +1 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
        {"a\nb\nc\n", "@@\n a\n-b\n+B\n", "a\nB\nc\n"},
        {"a\nb\nc\n", "@@ main @@\n-b\n+B\n", "a\nB\nc\n"},
        /* The nearest place of several. */
        {"x\ny\nx\ny\nx\n", "@@ -3 +3 @@\n-x\n+X\n", "x\ny\nX\ny\nx\n"},
        {"x\ny\nx\n", "@@ -9 +9 @@\n-x\n+X\n", "x\ny\nX\n"},
        /* Two hunks, the second behind the first. */
        {"1\n2\n3\n4\n5\n", "@@ -1 +1 @@\n-1\n+one\n@@ -5 +5 @@\n-5\n+five\n",
         "one\n2\n3\n4\nfive\n"},
        {"x\nx\n", "@@ -1 +1 @@\n-x\n+1\n@@ -1 +1 @@\n-x\n+2\n", "1\n2\n"},
        /* Only new lines: behind the line that is named. */
        {"a\nb\n", "@@ -1,0 +2 @@\n+n\n", "a\nn\nb\n"},
        {"a\nb\n", "@@ -0,0 +1 @@\n+n\n", "n\na\nb\n"},
        {"", "@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n"},
        /* The last line without its end. */
        {"a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n", "a\nc\n"},
        {"a\nb\n", "@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file\n", "a\nc"},
        {"a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc\n"},
        /* Line ends. */
        {"a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\r\nc\r\n"},
        {"a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n", "a\nc\r\n"},
        /* An empty line without its blank, and words around the patch. */
        {"a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n"},
        {"a\n", "@@ -1 +1 @@\n-a\n+b\n\n\nThat is all.\n", "b\n"},
        {"a\n", "@@ -1 +1 @@\n-a\n+b\n```\n", "b\n"},
        /* Lines that look like names of files. */
        {"-- x\ny\n", "@@ -1,2 +1,2 @@\n--- x\n+++ z\n y\n", "++ z\ny\n"},
        {"-- x\n", "@@ -1 +1 @@\n--- x\n+++ z\n", "++ z\n"},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_buf out;
        struct acp_failure failure = {0};
        acp_buf_init(&out, 1 << 20);
        int err = run(rows[i].old_text, rows[i].hunks, &out, &failure);
        CHECK_ROW(err == 0, i, "%s", failure.message);
        CHECK_ROW(strcmp(test_cstr(&out), rows[i].new_text) == 0, i, "%s", test_cstr(&out));
        acp_buf_finish(&out);
    }
}

static void what_does_not_fit_is_explained(void **state)
{
    static const struct {
        const char *old_text;
        const char *hunks;
        const char *words;
    } rows[] = {
        {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-c\n+d\n",
         "nearest place is line 1 of the file, but line 2 is "
         "not \"c\""},
        {"a\n", "@@ -1 +1 @@\n-z\n+d\n", "has no line \"z\""},
        {"a\n", "@@ -1,2 +1,2 @@\n a\nb\n-c\n", "Line 5 of the patch begins with none of"},
        {"a\n", "@@ -1 +1 @@\n", "has no lines"},
        {"a\n", "", "No hunk follows line 2"},
        {"x\n", "@@ -1 +1 @@\n-x\n+1\n@@ -1 +1 @@\n-x\n+2\n", "The hunk at line 6"},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_buf out;
        struct acp_failure failure = {0};
        acp_buf_init(&out, 1 << 20);
        int err = run(rows[i].old_text, rows[i].hunks, &out, &failure);
        CHECK_ROW(err < 0, i, "%s", test_cstr(&out));
        CHECK_ROW(strstr(failure.message, rows[i].words), i, "%s", failure.message);
        CHECK_ROW(out.len == 0, i, "%s", test_cstr(&out));
        acp_buf_finish(&out);
    }
}

static void files_are_named_in_many_ways(void **state)
{
    static const char text[] = "Here it is:\n"
                               "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"
                               "@@ -1 +1 @@\n-a\n+b\n"
                               "--- y.c\t2026-01-01\n+++ y.c\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n"
                               "--- \"a/with blank\"\n+++ \"b/with blank\"\n@@ -1 +1 @@\n-a\n+b\n"
                               "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+b\n"
                               "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"
                               "diff --git a/from b/to\nsimilarity index 100%\n"
                               "rename from from\nrename to to\n";
    static const char *const names[][2] = {
        {"x", "x"},    {"y.c", "y.c"}, {"with blank", "with blank"},
        {NULL, "new"}, {"old", NULL},  {"from", "to"}};
    struct acp_arena arena;
    struct patch patch;
    (void) state;
    acp_arena_init(&arena, 0);
    assert_int_equal(patch_parse(acp_str_from(text), &arena, &patch, NULL), 0);
    assert_int_equal(patch.count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        CHECK_ROW(acp_str_eq(patch.files[i].old_path, acp_str_from(names[i][0])), i, "old");
        CHECK_ROW(acp_str_eq(patch.files[i].new_path, acp_str_from(names[i][1])), i, "new");
    }
    acp_arena_finish(&arena);
}

static void what_is_no_patch_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *words;
    } rows[] = {
        {"", "not a unified diff"},
        {"hello\nworld\n", "not a unified diff"},
        {"@@ -1 +1 @@\n-a\n+b\n", "no file is named before it"},
        {"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n", "names no file"},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_arena arena;
        struct patch patch;
        struct acp_failure failure = {0};
        acp_arena_init(&arena, 0);
        CHECK_ROW(patch_parse(acp_str_from(rows[i].text), &arena, &patch, &failure) ==
                      ACP_ERR_SYNTAX,
                  i, "%s", rows[i].text);
        CHECK_ROW(strstr(failure.message, rows[i].words), i, "%s", failure.message);
        acp_arena_finish(&arena);
    }
}

/* Some lines of few kinds, so that texts have much in common. */
static void random_text(struct acp_buf *out)
{
    size_t lines = test_below(30);
    acp_buf_clear(out);
    for (size_t i = 0; i < lines; i++)
        assert_int_equal(acp_buf_printf(out, "%c%s", (char) ('a' + (char) test_below(5)),
                                        i + 1 < lines || test_below(4) ? "\n" : ""),
                         0);
}

static void our_own_patches_come_out_again(void **state)
{
    struct acp_buf old_text;
    struct acp_buf new_text;
    struct acp_buf text;
    struct acp_buf made;
    (void) state;
    test_seed();
    acp_buf_init(&old_text, 1 << 20);
    acp_buf_init(&new_text, 1 << 20);
    acp_buf_init(&text, 1 << 20);
    acp_buf_init(&made, 1 << 20);
    for (int i = 0; i < 5000; i++) {
        struct acp_arena arena;
        struct patch patch;
        struct acp_failure failure = {0};
        struct acp_diff_patch_options options = {.old_path = acp_str_from("f"),
                                                 .new_path = acp_str_from("f")};
        random_text(&old_text);
        random_text(&new_text);
        acp_buf_clear(&text);
        acp_buf_clear(&made);
        assert_int_equal(
            acp_diff_patch(&options, acp_buf_view(&old_text), acp_buf_view(&new_text), &text), 0);
        if (text.len == 0)
            continue;
        acp_arena_init(&arena, 0);
        int err = patch_parse(acp_buf_view(&text), &arena, &patch, &failure);
        if (!err)
            err = patch_apply(&patch.files[0], acp_buf_view(&old_text), &made, &failure);
        CHECK_ROW(!err && acp_str_eq(acp_buf_view(&made), acp_buf_view(&new_text)), i,
                  "%s\n%s\nmade:\n%s", failure.message, test_cstr(&text), test_cstr(&made));
        acp_arena_finish(&arena);
    }
    acp_buf_finish(&old_text);
    acp_buf_finish(&new_text);
    acp_buf_finish(&text);
    acp_buf_finish(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hunks_go_where_their_lines_are),
        cmocka_unit_test(what_does_not_fit_is_explained),
        cmocka_unit_test(files_are_named_in_many_ways),
        cmocka_unit_test(what_is_no_patch_is_refused),
        cmocka_unit_test(our_own_patches_come_out_again),
    };
    return cmocka_run_group_tests_name("patch", tests, NULL, NULL);
}
