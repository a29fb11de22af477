/*
 * The agent's own tools and the rules about files: a denied file is not read, searched, changed or
 * removed, whatever links lead to it and whenever they appear.
 */
#define _GNU_SOURCE
#include "test_race.h"
#include "test_tools_host.h"

static void add_rule(struct world *w, enum acp_verdict verdict, const char *path)
{
    struct acp_policy_rule rule = {.verdict = verdict, .path = acp_str_from(path)};
    assert_int_equal(acp_policy_add(w->policy, &rule, NULL), 0);
}

static void make_link(const char *target, const char *name)
{
    (void) unlink(test_path(name));
    assert_int_equal(symlink(target, test_path(name)), 0);
}

/* ---- Searching ------------------------------------------------------------------------------ */

static void grep_leaves_out_what_is_denied(void **state)
{
    struct world *w = *state;
    test_write(".env", "needle secret\n", 0644);
    test_write("deep/er/.env", "needle secret\n", 0644);
    test_write("keys/a", "needle secret\n", 0644);
    test_write("plain", "needle plain\n", 0644);
    make_link(".env", "link");
    add_rule(w, ACP_VERDICT_DENY, "**/.env");
    add_rule(w, ACP_VERDICT_ASK, "keys/**");
    assert_run(w, "grep", "{'pattern':'needle','all':true}", TOOL_COMPLETED);
    assert_has(w, "plain:1:needle plain\n");
    assert_lacks(w, "secret");
    assert_has(w, "[3 files were not read, because the rules do not allow it.]");
    /* By name it is denied or asked, and a yes is for that file. */
    assert_run(w, "grep", "{'pattern':'needle','path':'.env'}", TOOL_DENIED);
    assert_run(w, "grep", "{'pattern':'needle','path':'link'}", TOOL_DENIED);
    world_user(w, ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    assert_run(w, "grep", "{'pattern':'needle','path':'keys/a'}", TOOL_COMPLETED);
    assert_has(w, "needle secret");
}

static void grep_honours_rules_for_reading_alone(void **state)
{
    struct world *w = *state;
    struct acp_policy_rule rule = {.verdict = ACP_VERDICT_DENY,
                                   .kinds = ACP_KIND_BIT(ACP_TOOL_KIND_READ),
                                   .path = ACP_STR("a")};
    test_write("a", "needle secret\n", 0644);
    test_write("b", "needle plain\n", 0644);
    assert_int_equal(acp_policy_add(w->policy, &rule, NULL), 0);
    assert_run(w, "grep", "{'pattern':'needle'}", TOOL_COMPLETED);
    assert_lacks(w, "secret");
    assert_has(w, "needle plain");
}

static void grep_honours_rejections(void **state)
{
    struct world *w = *state;
    struct acp_grant no = {.kind = ACP_TOOL_KIND_READ,
                           .scope = ACP_GRANT_EVERYWHERE,
                           .path = acp_str_from(test_path("a"))};
    struct acp_grant over = {.kind = ACP_TOOL_KIND_READ,
                             .scope = ACP_GRANT_EVERYWHERE,
                             .path = acp_str_from(test_path("b")),
                             .granted = 1,
                             .expires = 2};
    uint64_t number;
    test_write("a", "needle secret\n", 0644);
    test_write("b", "needle plain\n", 0644);
    assert_int_equal(acp_ledger_add(w->ledger, &no, &number, NULL), 0);
    assert_int_equal(acp_ledger_add(w->ledger, &over, &number, NULL), 0);
    assert_run(w, "grep", "{'pattern':'needle'}", TOOL_COMPLETED);
    assert_lacks(w, "secret");
    assert_has(w, "needle plain");
}

/* Reading and searching while a name is a file and a link to a denied one in turns. */
static void swapping_links_gives_nothing_away(void **state)
{
    struct world *w = *state;
    struct racer r;
    enum { ROUNDS = 100 };
    test_write(".env", "needle secret\n", 0644);
    test_write("file", "needle plain\n", 0644);
    make_link(".env", "link");
    add_rule(w, ACP_VERDICT_DENY, "**/.env");
    racer_start(&r, "file", "link");
    for (int i = 0; i < ROUNDS; i++) {
        (void) world_run(w, "grep", "{'pattern':'needle'}");
        assert_lacks(w, "secret");
        (void) world_run(w, "read", "{'path':'file'}");
        assert_lacks(w, "secret");
        (void) world_run(w, "write", "{'path':'link','text':'needle plain\\n'}");
    }
    racer_stop(&r);
    assert_string_equal(world_file(".env"), "needle secret\n");
}

/* ---- Changing ------------------------------------------------------------------------------- */

/* The user is asked about one file, and while they think the name is made to lead to another. */
static void a_yes_is_for_the_file_that_was_shown(void **state)
{
    static const char *const names[] = {"link", "folder/f"};
    struct world *w = *state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char input[100];
        (void) snprintf(input, sizeof(input), "{'path':'%s','text':'new\\n'}", names[i]);
        test_write("a/f", "one\n", 0644);
        test_write("b/f", "one\n", 0644);
        make_link("a/f", "link");
        make_link("a", "folder");
        w->user = NO_ANSWER;
        w->questions = 0;
        w->count = 0;
        world_begin(w, "x", "write", input);
        UNTIL(w, w->questions == 1);
        make_link("b/f", "link");
        make_link("b", "folder");
        assert_int_equal(
            acp_client_select_permission(w->client, w->question, acp_str_from("allow-once")), 0);
        UNTIL(w, w->count);
        assert_int_equal(world_end(w), TOOL_FAILED);
        assert_string_equal(world_file("a/f"), "one\n");
        assert_string_equal(world_file("b/f"), "one\n");
    }
}

static void a_link_is_written_through_and_removed_as_one(void **state)
{
    struct world *w = *state;
    world_user(w, ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    test_write("a/f", "one\n", 0644);
    make_link("a/f", "link");
    make_link("a", "folder");
    assert_run(w, "write", "{'path':'link','text':'two\\n'}", TOOL_COMPLETED);
    assert_run(w, "write", "{'path':'folder/new','text':'made\\n'}", TOOL_COMPLETED);
    assert_string_equal(world_file("a/f"), "two\n");
    assert_string_equal(world_file("a/new"), "made\n");
    assert_run(w, "apply_patch", "{'patch':'--- a/link\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-two\\n'}",
               TOOL_COMPLETED);
    assert_null(world_file("link"));
    assert_string_equal(world_file("a/f"), "two\n");
}

/* Removing through a folder that leads to what is denied. */
static void nothing_denied_is_removed_through_a_link(void **state)
{
    struct world *w = *state;
    test_write("keys/f", "two\n", 0644);
    make_link("keys", "folder");
    add_rule(w, ACP_VERDICT_DENY, "keys/**");
    assert_run(w, "apply_patch",
               "{'patch':'--- a/folder/f\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-two\\n'}", TOOL_DENIED);
    assert_run(w, "write", "{'path':'folder/g','text':'x'}", TOOL_DENIED);
    assert_run(w, "read", "{'path':'folder/f'}", TOOL_DENIED);
    assert_string_equal(world_file("keys/f"), "two\n");
}

static struct variant safe = {BARE, ACP_POLICY_SAFE};
static struct variant full = {BARE, ACP_POLICY_FULL};

#define CASE(name, variant)                                                                        \
    cmocka_unit_test_prestate_setup_teardown(name, world_setup, world_teardown, &(variant))

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(grep_leaves_out_what_is_denied, safe),
        CASE(grep_honours_rules_for_reading_alone, safe),
        CASE(grep_honours_rejections, safe),
        CASE(swapping_links_gives_nothing_away, full),
        CASE(a_yes_is_for_the_file_that_was_shown, safe),
        CASE(a_link_is_written_through_and_removed_as_one, safe),
        CASE(nothing_denied_is_removed_through_a_link, full),
    };
    return cmocka_run_group_tests_name("tools-opener", tests, NULL, NULL);
}
