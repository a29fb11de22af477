/* The tools that read and change files: what they do, and what they say when they cannot. */
#define _GNU_SOURCE
#include "test_tools_host.h"

/* ---- read ----------------------------------------------------------------------------------- */

static void lines_are_read_with_their_numbers(void **state)
{
    struct world *w = *state;
    test_write("a.txt", "one\ntwo\nthree\n", 0644);
    assert_run(w, "read", "{'path':'a.txt'}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "     1\tone\n     2\ttwo\n     3\tthree\n");
    assert_run(w, "read", "{'path':'~/a.txt','line':2,'limit':1}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "     2\ttwo\n[There is more. Continue with \"line\": 3.]");
    assert_run(w, "read", "{'path':'a.txt','line':9,'limit':null}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "[The file ends before this line.]");
    assert_true(world_said(w, "\"kind\":\"read\""));
    assert_true(world_said(w, "\"status\":\"pending\""));
    assert_true(world_said(w, "\"status\":\"in_progress\""));
    assert_true(world_said(w, "\"status\":\"completed\""));
    assert_true(world_said(w, "\"rawInput\":{\"path\":\"a.txt\"}"));
    assert_true(world_said(w, "\"rawOutput\":{\"lines\":3,\"more\":false}"));
    assert_true(world_said(w, "\"locations\":[{\"path\":\"/tmp/acp-test-"));
    assert_int_equal(w->questions, 0);
}

static void what_cannot_be_read_is_said(void **state)
{
    struct world *w = *state;
    assert_run(w, "read", "{'path':'gone.txt'}", TOOL_FAILED);
    assert_has(w, "gone.txt");
    assert_true(world_said(w, "\"status\":\"failed\""));
    test_make_folder("folder");
    assert_run(w, "read", "{'path':'folder'}", TOOL_FAILED);
    test_write("empty", "", 0644);
    assert_run(w, "read", "{'path':'empty'}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "[The file is empty.]");
    FILE *file = fopen(test_path("binary"), "wb");
    assert_int_equal(fwrite("a\0b", 1, 3, file), 3);
    assert_int_equal(fclose(file), 0);
    assert_run(w, "read", "{'path':'binary'}", TOOL_FAILED);
}

static void a_long_file_is_read_in_parts(void **state)
{
    struct world *w = *state;
    FILE *file = fopen(test_path("long"), "wb");
    for (int i = 1; i <= 5000; i++)
        assert_true(fprintf(file, "line %d %0*d\n", i, 60, 0) > 0);
    assert_int_equal(fclose(file), 0);
    assert_run(w, "read", "{'path':'long','limit':5000}", TOOL_COMPLETED);
    const char *more = strstr(world_text(w), "Continue with \"line\": ");
    assert_non_null(more);
    int next = atoi(more + strlen("Continue with \"line\": "));
    assert_in_range(next, 500, 1100);
    char input[100];
    (void) snprintf(input, sizeof(input), "{'path':'long','line':%d,'limit':1}", next);
    assert_run(w, "read", input, TOOL_COMPLETED);
    char expected[40];
    (void) snprintf(expected, sizeof(expected), "%6d\tline %d ", next, next);
    assert_has(w, expected);
}

static void a_file_outside_is_not_ours(void **state)
{
    struct world *w = *state;
    assert_run(w, "read", "{'path':'/etc/hostname'}", TOOL_FAILED);
    assert_has(w, "is outside the workspace");
    assert_has(w, test_home);
    assert_int_equal(symlink("/etc/hostname", test_path("link")), 0);
    assert_run(w, "read", "{'path':'link'}", TOOL_FAILED);
    assert_run(w, "read", "{'path':'../../etc/hostname'}", TOOL_FAILED);
    assert_run(w, "write", "{'path':'/etc/acp-test','text':'x'}", TOOL_FAILED);
    assert_int_equal(access("/etc/acp-test", F_OK), -1);
}

static void the_editors_buffer_is_read_and_written(void **state)
{
    struct world *w = *state;
    test_write("a.txt", "on the disk\n", 0644);
    w->has_buffer = true;
    w->buffer_path = test_path("a.txt");
    assert_int_equal(acp_buf_append_str(&w->buffer, acp_str_from("not saved\nyet\n")), 0);
    assert_run(w, "read", "{'path':'a.txt','line':2}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "     2\tyet\n");
    assert_run(w, "edit", "{'path':'a.txt','edits':[{'old_text':'saved','new_text':'kept'}]}",
               TOOL_COMPLETED);
    assert_string_equal(test_cstr(&w->buffer), "not kept\nyet\n");
    assert_string_equal(world_file("a.txt"), "on the disk\n");
}

/* A client that opens files by name can be led out of the roots by links that a command makes. */
static void the_editor_is_not_asked_beside_a_sandbox(void **state)
{
    struct world *w = *state;
    test_write("a.txt", "on the disk\n", 0644);
    w->has_buffer = true;
    w->buffer_path = test_path("a.txt");
    assert_int_equal(acp_buf_append_str(&w->buffer, acp_str_from("not saved\n")), 0);
    assert_run(w, "read", "{'path':'a.txt'}", TOOL_COMPLETED);
    assert_has(w, "on the disk");
    assert_run(w, "edit", "{'path':'a.txt','edits':[{'old_text':'on','new_text':'off'}]}",
               TOOL_COMPLETED);
    assert_run(w, "write", "{'path':'b.txt','text':'new\\n'}", TOOL_COMPLETED);
    assert_string_equal(world_file("a.txt"), "off the disk\n");
    assert_string_equal(world_file("b.txt"), "new\n");
    assert_int_equal(symlink("/etc/passwd", test_path("link")), 0);
    assert_run(w, "read", "{'path':'link'}", TOOL_FAILED);
    assert_run(w, "write", "{'path':'link','text':'x'}", TOOL_FAILED);
    assert_null(strstr(world_log(w), "\"fs/"));
    if (!toolbox_has_sandbox(w->box, NULL))
        return;
    /* One that runs on is still there when the mode is another. */
    assert_run(w, "run_command", "{'command':'sleep 1000','background':true}", TOOL_COMPLETED);
    acp_policy_set_mode(w->policy, ACP_POLICY_FULL);
    assert_run(w, "read", "{'path':'a.txt'}", TOOL_COMPLETED);
    assert_has(w, "off the disk");
    assert_null(strstr(world_log(w), "\"fs/"));
    /* And without it the editor knows best. */
    assert_run(w, "command_stop", "{'command':1}", TOOL_COMPLETED);
    UNTIL(w, acp_process_count() == 0);
    assert_run(w, "read", "{'path':'a.txt'}", TOOL_COMPLETED);
    assert_has(w, "not saved");
}

/* ---- write and edit ------------------------------------------------------------------------- */

static void a_file_is_written(void **state)
{
    struct world *w = *state;
    assert_run(w, "write", "{'path':'new/deep/b.txt','text':'hello\\n'}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "new/deep/b.txt was created.\n");
    assert_string_equal(world_file("new/deep/b.txt"), "hello\n");
    assert_run(w, "write", "{'path':'new/deep/b.txt','text':'bye\\n'}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "new/deep/b.txt was changed.\n");
    assert_string_equal(world_file("new/deep/b.txt"), "bye\n");
    assert_run(w, "write", "{'path':'new/deep/b.txt','text':'bye\\n'}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "new/deep/b.txt already has this text.\n");
    assert_true(world_said(w, "\"type\":\"diff\""));
    if (w->kind == SECOND)
        assert_true(world_said(w, "-hello\\n+bye\\n"));
    else
        assert_true(world_said(w, "\"oldText\":\"hello\\n\",\"newText\":\"bye\\n\""));
    assert_true(world_said(w, "\"kind\":\"edit\""));
}

static void edits_are_made_all_or_none(void **state)
{
    struct world *w = *state;
    test_write("c.txt", "alpha\nbeta\ngamma\nbeta\n", 0640);
    assert_run(w, "edit",
               "{'path':'c.txt','edits':[{'old_text':'alpha','new_text':'ALPHA'},"
               "{'old_text':'beta','new_text':'b','all':true}]}",
               TOOL_COMPLETED);
    assert_string_equal(world_file("c.txt"), "ALPHA\nb\ngamma\nb\n");
    struct stat st;
    assert_int_equal(stat(test_path("c.txt"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_run(w, "edit",
               "{'path':'c.txt','edits':[{'old_text':'ALPHA','new_text':'x'},"
               "{'old_text':'delta','new_text':'y'}]}",
               TOOL_FAILED);
    assert_has(w, "Edit 2: its old_text is not in the file");
    assert_has(w, "None of the edits was made.");
    assert_string_equal(world_file("c.txt"), "ALPHA\nb\ngamma\nb\n");
}

static void an_edit_that_fails_says_how_to_mend_it(void **state)
{
    struct world *w = *state;
    test_write("d.c", "int main(void)\n{\n\treturn compute(1, 2);\n}\nx\nx\nx\n", 0644);
    static const struct {
        const char *edits;
        const char *words[3];
    } rows[] = {
        {"{'old_text':'x\\n','new_text':'y'}",
         {"occurs 3 times in the file, in lines 5, 6, 7", "set \"all\""}},
        {"{'old_text':'    return compute(1, 2);','new_text':'y'}",
         {"but for white space", "     3\t\treturn compute(1, 2);"}},
        {"{'old_text':'\\treturn compute(1, 3);','new_text':'y'}",
         {"what is most like it stands here", "     3\t\treturn compute(1, 2);"}},
        {"{'old_text':'something else entirely','new_text':'y'}", {"nothing like its first line"}},
        {"{'old_text':'x','new_text':'x'}", {"are the same"}},
        {"{'old_text':'','new_text':'x'}", {"edits/0/old_text"}},
        {"{'old_text':'x'}", {"edits/0", "new_text"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char input[400];
        (void) snprintf(input, sizeof(input), "{'path':'d.c','edits':[%s]}", rows[i].edits);
        assert_run(w, "edit", input, TOOL_FAILED);
        for (size_t k = 0; k < COUNT(rows[i].words) && rows[i].words[k]; k++)
            assert_has(w, rows[i].words[k]);
    }
    assert_run(w, "edit", "{'path':'no.c','edits':[{'old_text':'a','new_text':'b'}]}", TOOL_FAILED);
    assert_null(world_file("no.c"));
}

static void line_ends_of_the_file_are_kept(void **state)
{
    struct world *w = *state;
    test_write("crlf", "one\r\ntwo\r\nthree\r\n", 0644);
    assert_run(w, "edit",
               "{'path':'crlf','edits':[{'old_text':'one\\ntwo','new_text':'1\\n2\\n2a'}]}",
               TOOL_COMPLETED);
    assert_string_equal(world_file("crlf"), "1\r\n2\r\n2a\r\nthree\r\n");
}

static void two_edits_of_one_file_wait_for_each_other(void **state)
{
    struct world *w = *state;
    test_write("e", "a b c d\n", 0644);
    w->count = 0;
    world_begin(w, "1", "edit", "{'path':'e','edits':[{'old_text':'a','new_text':'1'}]}");
    world_begin(w, "2", "edit", "{'path':'e','edits':[{'old_text':'b','new_text':'2'}]}");
    world_begin(w, "3", "edit", "{'path':'./e','edits':[{'old_text':'c','new_text':'3'}]}");
    world_begin(w, "4", "read", "{'path':'nowhere'}");
    UNTIL(w, w->count == 4);
    assert_string_equal(world_file("e"), "1 2 3 d\n");
}

/* ---- apply_patch ---------------------------------------------------------------------------- */

static void a_patch_changes_makes_moves_and_removes(void **state)
{
    struct world *w = *state;
    test_write("src/x.c", "one\ntwo\nthree\n", 0644);
    test_write("old.c", "away\n", 0644);
    test_write("was.c", "stays\nthe same\n", 0644);
    assert_run(w, "apply_patch",
               "{'patch':'diff --git a/src/x.c b/src/x.c\\n--- a/src/x.c\\n+++ b/src/x.c\\n"
               "@@ -1,3 +1,3 @@\\n one\\n-two\\n+TWO\\n three\\n"
               "--- /dev/null\\n+++ b/made.c\\n@@ -0,0 +1,2 @@\\n+new\\n+file\\n"
               "--- a/old.c\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-away\\n"
               "diff --git a/was.c b/is.c\\nrename from was.c\\nrename to is.c\\n'}",
               TOOL_COMPLETED);
    assert_string_equal(world_file("src/x.c"), "one\nTWO\nthree\n");
    assert_string_equal(world_file("made.c"), "new\nfile\n");
    assert_null(world_file("old.c"));
    assert_null(world_file("was.c"));
    assert_string_equal(world_file("is.c"), "stays\nthe same\n");
    assert_has(w, "src/x.c was changed.");
    assert_has(w, "old.c was removed.");
}

static void a_patch_that_does_not_fit_writes_nothing(void **state)
{
    struct world *w = *state;
    test_write("one", "1\n", 0644);
    test_write("two", "2\n", 0644);
    assert_run(w, "apply_patch",
               "{'patch':'--- a/one\\n+++ b/one\\n@@ -1 +1 @@\\n-1\\n+I\\n"
               "--- a/two\\n+++ b/two\\n@@ -1 +1 @@\\n-3\\n+III\\n'}",
               TOOL_FAILED);
    assert_has(w, "Nothing was written");
    assert_string_equal(world_file("one"), "1\n");
    assert_run(w, "apply_patch", "{'patch':'hello'}", TOOL_FAILED);
    assert_has(w, "not a unified diff");
    assert_run(w, "apply_patch", "{'patch':'--- /dev/null\\n+++ b/one\\n@@ -0,0 +1 @@\\n+x\\n'}",
               TOOL_FAILED);
    assert_has(w, "already exists");
}

/* ---- Input ---------------------------------------------------------------------------------- */

static void wrong_input_is_told_to_the_model(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *name;
        const char *input;
        const char *words;
    } rows[] = {
        {"read", "{'path':", "cannot be read"},
        {"read", "not json", "cannot be read"},
        {"read", "", "path"},
        {"read", "[]", "is invalid"},
        {"read", "{'path':1}", "path"},
        {"read", "{'path':'a','line':0}", "line"},
        {"read", "{'path':'a','file':'b'}", "file"},
        {"read", "{'path':'a\\u0000b'}", "not a path"},
        {"reed", "{'path':'a'}", "There is no tool \"reed\""},
        {"grep", "{'pattern':'('}", "regular expression"},
        {"run_command", "{'command':'a\\u0000b'}", "NUL"},
        {"fetch", "{'url':'file:///etc/passwd'}", "http://"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_run(w, rows[i].name, rows[i].input, TOOL_FAILED);
        assert_has(w, rows[i].words);
    }
    assert_true(world_said(w, "\"rawInput\":\"not json\""));
}

/* ---- undo ----------------------------------------------------------------------------------- */

static void world_on_undone(struct tools *set, int err, struct acp_str text, void *user)
{
    struct world *w = user;
    (void) set;
    assert_false(w->undo_told);
    w->undo_told = true;
    w->undo_err = err;
    acp_buf_clear(&w->undone);
    assert_int_equal(acp_buf_append_str(&w->undone, text), 0);
}

static int undo(struct world *w)
{
    w->undo_told = false;
    int err = tools_undo(w->tools, w->turn, world_on_undone, w);
    if (err)
        return err;
    UNTIL(w, w->undo_told);
    return w->undo_err;
}

static void a_turn_is_taken_back(void **state)
{
    struct world *w = *state;
    test_write("kept", "first\n", 0600);
    test_write("gone", "was here\n", 0755);
    assert_int_equal(undo(w), ACP_ERR_MISSING);
    assert_run(w, "write", "{'path':'kept','text':'second\\n'}", TOOL_COMPLETED);
    assert_run(w, "write", "{'path':'kept','text':'third\\n'}", TOOL_COMPLETED);
    assert_run(w, "write", "{'path':'made','text':'new\\n'}", TOOL_COMPLETED);
    assert_run(w, "apply_patch",
               "{'patch':'--- a/gone\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-was here\\n'}",
               TOOL_COMPLETED);
    assert_null(world_file("gone"));
    world_end_turn(w);
    world_prompt(w);
    assert_int_equal(undo(w), 0);
    assert_string_equal(world_file("kept"), "first\n");
    assert_null(world_file("made"));
    assert_string_equal(world_file("gone"), "was here\n");
    struct stat st;
    assert_int_equal(stat(test_path("gone"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0755);
    assert_int_equal(undo(w), ACP_ERR_MISSING);
}

static void what_was_changed_since_is_left(void **state)
{
    struct world *w = *state;
    test_write("one", "1\n", 0644);
    test_write("two", "2\n", 0644);
    assert_run(w, "write", "{'path':'one','text':'I\\n'}", TOOL_COMPLETED);
    assert_run(w, "write", "{'path':'two','text':'II\\n'}", TOOL_COMPLETED);
    test_write("one", "somebody else\n", 0644);
    assert_int_equal(undo(w), ACP_ERR_STATE);
    assert_non_null(strstr(test_cstr(&w->undone), "one was left as it is: it has changed since"));
    assert_string_equal(world_file("one"), "somebody else\n");
    assert_string_equal(world_file("two"), "2\n");
}

int main(void)
{
    VARIANTS(full, ACP_POLICY_FULL);
    VARIANTS(sandbox, ACP_POLICY_SANDBOX);
    const struct CMUnitTest tests[] = {
        EACH_CLIENT(lines_are_read_with_their_numbers, full),
        EACH_CLIENT(what_cannot_be_read_is_said, full),
        EACH_CLIENT(a_long_file_is_read_in_parts, full),
        WORLD_TEST("outside (bare client)", a_file_outside_is_not_ours, full[BARE]),
        WORLD_TEST("outside (version 2)", a_file_outside_is_not_ours, full[SECOND]),
        WORLD_TEST("buffers", the_editors_buffer_is_read_and_written, full[EDITOR]),
        WORLD_TEST("sandbox (editor)", the_editor_is_not_asked_beside_a_sandbox, sandbox[EDITOR]),
        EACH_CLIENT(a_file_is_written, full),
        EACH_CLIENT(edits_are_made_all_or_none, full),
        EACH_CLIENT(an_edit_that_fails_says_how_to_mend_it, full),
        EACH_CLIENT(line_ends_of_the_file_are_kept, full),
        EACH_CLIENT(two_edits_of_one_file_wait_for_each_other, full),
        EACH_CLIENT(a_patch_changes_makes_moves_and_removes, full),
        EACH_CLIENT(a_patch_that_does_not_fit_writes_nothing, full),
        EACH_CLIENT(wrong_input_is_told_to_the_model, full),
        EACH_CLIENT(a_turn_is_taken_back, full),
        EACH_CLIENT(what_was_changed_since_is_left, full),
    };
    return cmocka_run_group_tests_name("tools_files", tests, NULL, NULL);
}
