/* Reading the files that a prompt points at: from where the tools read, and under their rules. */
#define _GNU_SOURCE
#include "test_tools_host.h"

/* What came of one; the sentence is in the results. */
struct attached {
    struct world *world;
    bool is_cut;
    uint64_t size;
};

static void on_attached(struct tools *set, const struct tools_attached *file, void *user)
{
    struct attached *attached = user;
    struct world *w = attached->world;
    (void) set;
    attached->is_cut = file->is_cut;
    attached->size = file->size;
    struct result *result = &w->results[w->count++];
    result->end = file->why.len ? TOOL_FAILED : TOOL_COMPLETED;
    acp_buf_clear(&result->text);
    assert_int_equal(acp_buf_append_str(&result->text, file->why.len ? file->why : file->text), 0);
}

static struct attached attach(struct world *w, const char *path)
{
    struct attached attached = {.world = w};
    w->count = 0;
    assert_int_equal(tools_attach(w->tools, w->turn, acp_str_from(path), on_attached, &attached),
                     0);
    assert_int_equal(w->count, 0); /* never inside of the call */
    UNTIL(w, w->count == 1);
    assert_int_equal(tools_running(w->tools), 0);
    assert_int_equal(w->questions, 0);
    assert_false(world_said(w, "tool_call"));
    return attached;
}

static void assert_given(struct world *w, const char *path, const char *text)
{
    (void) attach(w, path);
    assert_string_equal(world_text(w), text);
    assert_int_equal(world_end(w), TOOL_COMPLETED);
}

static void assert_kept(struct world *w, const char *path, const char *why)
{
    (void) attach(w, path);
    assert_int_equal(world_end(w), TOOL_FAILED);
    assert_has(w, why);
}

static void a_file_is_given_whole(void **state)
{
    struct world *w = *state;
    test_write("a.txt", "one\ntwo\n", 0644);
    struct attached attached = attach(w, test_path("a.txt"));
    assert_string_equal(world_text(w), "one\ntwo\n");
    assert_false(attached.is_cut);
    assert_int_equal(attached.size, 8);
    test_write("empty", "", 0644);
    assert_given(w, test_path("empty"), "");
}

static void of_a_long_file_the_beginning_is_given(void **state)
{
    struct world *w = *state;
    FILE *file = fopen(test_path("long"), "wb");
    for (int i = 0; i < 20000; i++)
        assert_true(fprintf(file, "line %07d of many\xc3\xbc\n", i) > 0);
    assert_int_equal(fclose(file), 0);
    struct attached attached = attach(w, test_path("long"));
    assert_int_equal(world_end(w), TOOL_COMPLETED);
    assert_true(attached.is_cut);
    assert_int_equal(attached.size, 20000 * 23);
    size_t n = strlen(world_text(w));
    assert_in_range(n, TOOLS_MAX_ATTACHED - 3, TOOLS_MAX_ATTACHED);
    assert_has(w, "line 0000000 of many\xc3\xbc\n");
}

static void of_very_many_lines_the_first_are_given(void **state)
{
    struct world *w = *state;
    FILE *file = fopen(test_path("lines"), "wb");
    for (int i = 0; i < 60000; i++)
        assert_true(fputs("x\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    struct attached attached = attach(w, test_path("lines"));
    assert_int_equal(world_end(w), TOOL_COMPLETED);
    assert_true(attached.is_cut);
    assert_int_equal(attached.size, 120000);
}

static void what_is_no_text_is_not_given(void **state)
{
    struct world *w = *state;
    assert_kept(w, test_path("gone"), "gone");
    test_make_folder("folder");
    assert_kept(w, test_path("folder"), "folder");
    FILE *file = fopen(test_path("binary"), "wb");
    assert_int_equal(fwrite("a\0b", 1, 3, file), 3);
    assert_int_equal(fclose(file), 0);
    assert_kept(w, test_path("binary"), "binary");
    assert_kept(w, "/etc/hostname", "");
}

static void the_rules_hold(void **state)
{
    struct world *w = *state;
    struct acp_policy_rule deny = {.verdict = ACP_VERDICT_DENY, .path = acp_str_from("**/secret")};
    struct acp_policy_rule ask = {.verdict = ACP_VERDICT_ASK, .path = acp_str_from("**/private")};
    assert_int_equal(acp_policy_add(w->policy, &deny, NULL), 0);
    assert_int_equal(acp_policy_add(w->policy, &ask, NULL), 0);
    test_write("secret", "s3cret", 0644);
    test_write("private", "pr1vate", 0644);
    test_write("public", "public", 0644);
    assert_kept(w, test_path("secret"), "do not allow");
    assert_lacks(w, "s3cret");
    assert_kept(w, test_path("private"), "the read tool");
    assert_lacks(w, "pr1vate");
    assert_given(w, test_path("public"), "public");
    assert_kept(w, test_path("folder/../secret"), "do not allow");
}

static void a_buffer_that_is_not_saved_is_given(void **state)
{
    struct world *w = *state;
    test_write("a.txt", "on the disk\n", 0644);
    w->has_buffer = true;
    w->buffer_path = test_path("a.txt");
    assert_int_equal(acp_buf_append_str(&w->buffer, acp_str_from("not saved\n")), 0);
    assert_given(w, test_path("a.txt"), "not saved\n");
}

static void cancel_ends_it(void **state)
{
    struct world *w = *state;
    struct attached attached = {.world = w};
    test_write("a.txt", "one\n", 0644);
    assert_int_equal(
        tools_attach(w->tools, w->turn, acp_str_from(test_path("a.txt")), on_attached, &attached),
        0);
    tools_cancel(w->tools, w->turn);
    assert_int_equal(w->count, 1);
    assert_has(w, "cancelled");
    world_run_for(w, 20);
    assert_int_equal(w->count, 1);
}

int main(void)
{
    VARIANTS(safe, ACP_POLICY_SAFE);
    const struct CMUnitTest tests[] = {
        EACH_CLIENT(a_file_is_given_whole, safe),
        EACH_CLIENT(of_a_long_file_the_beginning_is_given, safe),
        EACH_CLIENT(of_very_many_lines_the_first_are_given, safe),
        EACH_CLIENT(what_is_no_text_is_not_given, safe),
        EACH_CLIENT(the_rules_hold, safe),
        WORLD_TEST("buffers", a_buffer_that_is_not_saved_is_given, safe[EDITOR]),
        EACH_CLIENT(cancel_ends_it, safe),
    };
    return cmocka_run_group_tests_name("tools_attach", tests, NULL, NULL);
}
