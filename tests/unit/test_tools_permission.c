/*
 * Each tool in each mode: what is allowed, what is asked and granted or denied, what is cancelled,
 * and what is not offered at all.
 */
#define _GNU_SOURCE
#include "test_tools_host.h"

/* ---- The table of modes --------------------------------------------------------------------- */

enum outcome { ALLOWED, ASKED, REFUSED };

static const char *const inputs[][2] = {
    {"read", "{'path':'f'}"},
    {"write", "{'path':'f','text':'x\\n'}"},
    {"edit", "{'path':'f','edits':[{'old_text':'one','new_text':'x'}]}"},
    {"apply_patch", "{'patch':'--- a/f\\n+++ b/f\\n@@ -1 +1 @@\\n-one\\n+x\\n'}"},
    {"list", "{}"},
    {"glob", "{'pattern':'*'}"},
    {"grep", "{'pattern':'one'}"},
    {"run_command", "{'command':'echo x > f'}"},
    {"plan", "{'steps':[{'content':'work','status':'pending'}]}"},
};

/* For each mode, in the order of its numbers, what becomes of each of the above. */
static const enum outcome expected[][COUNT(inputs)] = {
    [ACP_POLICY_SAFE] = {ALLOWED, ASKED, ASKED, ASKED, ALLOWED, ALLOWED, ALLOWED, ASKED, ALLOWED},
    [ACP_POLICY_READ_ONLY] = {ALLOWED, REFUSED, REFUSED, REFUSED, ALLOWED, ALLOWED, ALLOWED,
                              REFUSED, ALLOWED},
    [ACP_POLICY_SANDBOX] = {ALLOWED, ALLOWED, ALLOWED, ALLOWED, ALLOWED, ALLOWED, ALLOWED, ALLOWED,
                            ALLOWED},
    [ACP_POLICY_FULL] = {ALLOWED, ALLOWED, ALLOWED, ALLOWED, ALLOWED, ALLOWED, ALLOWED, ALLOWED,
                         ALLOWED},
};

static bool needs_jail(struct world *w, const char *name)
{
    return acp_policy_get_mode(w->policy) == ACP_POLICY_SANDBOX &&
           strcmp(name, "run_command") == 0 && !toolbox_has_sandbox(w->box, NULL);
}

/* The file changes when, and only when, it may. */
static void check_row(struct world *w, size_t i, enum user user,
                      enum acp_permission_option_kind_is choice)
{
    enum acp_policy_mode mode = acp_policy_get_mode(w->policy);
    enum outcome outcome = needs_jail(w, inputs[i][0]) ? REFUSED : expected[mode][i];
    const struct tool_info *tool = toolbox_find(w->box, acp_str_from(inputs[i][0]));
    bool says_yes = user == CHOOSES && choice == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE;
    test_write("f", "one\n", 0644);
    w->user = user;
    w->choice = choice;
    w->questions = 0;
    enum tool_end end = world_run(w, inputs[i][0], inputs[i][1]);
    bool done = outcome == ALLOWED || (outcome == ASKED && says_yes);
    CHECK_ROW(w->questions == (outcome == ASKED), i, "%s: %d questions", inputs[i][0],
              w->questions);
    CHECK_ROW(end == (done ? TOOL_COMPLETED : TOOL_DENIED), i, "%s: %s", inputs[i][0],
              world_text(w));
    const char *wanted = done && tool->writes ? "x\n" : "one\n";
    CHECK_ROW(strcmp(world_file("f"), wanted) == 0, i, "%s: %s", inputs[i][0], world_file("f"));
    CHECK_ROW(tools_offer(w->tools, tool) == (outcome != REFUSED), i, "%s", inputs[i][0]);
}

static void each_tool_in_this_mode(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < COUNT(inputs); i++) {
        check_row(w, i, CHOOSES, ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
        check_row(w, i, CHOOSES, ACP_PERMISSION_OPTION_KIND_REJECT_ONCE);
        check_row(w, i, DISMISSES, 0);
    }
    assert_int_equal(acp_ledger_count(w->ledger), 0);
}

/* ---- Always --------------------------------------------------------------------------------- */

static void always_is_remembered(void **state)
{
    struct world *w = *state;
    test_write("f", "one\n", 0644);
    world_user(w, ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS);
    assert_run(w, "write", "{'path':'f','text':'1\\n'}", TOOL_COMPLETED);
    assert_run(w, "write", "{'path':'f','text':'2\\n'}", TOOL_COMPLETED);
    assert_int_equal(w->questions, 1);
    assert_int_equal(w->granted, 1);
    assert_string_equal(world_file("f"), "2\n");
    /* For another file it is asked again. */
    world_user(w, ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS);
    assert_run(w, "write", "{'path':'g','text':'1\\n'}", TOOL_DENIED);
    assert_has(w, "The user denied permission.");
    assert_run(w, "write", "{'path':'g','text':'1\\n'}", TOOL_DENIED);
    assert_has(w, "Not allowed: denied by grant");
    assert_int_equal(w->questions, 2);
    assert_null(world_file("g"));
    world_user(w, ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS);
    assert_run(w, "run_command", "{'command':'echo hi'}", TOOL_COMPLETED);
    assert_run(w, "run_command", "{'command':'echo hi'}", TOOL_COMPLETED);
    assert_int_equal(w->questions, 3);
    assert_run(w, "run_command", "{'command':'echo ho'}", TOOL_COMPLETED);
    assert_int_equal(w->questions, 4);
}

static void rules_hold_for_tools(void **state)
{
    struct world *w = *state;
    struct acp_policy_rule no_secrets = {.verdict = ACP_VERDICT_DENY,
                                         .path = acp_str_from("**/.env")};
    struct acp_policy_rule no_plan = {.verdict = ACP_VERDICT_DENY, .tool = acp_str_from("plan")};
    assert_int_equal(acp_policy_add(w->policy, &no_secrets, NULL), 0);
    assert_int_equal(acp_policy_add(w->policy, &no_plan, NULL), 0);
    test_write(".env", "KEY=1\n", 0600);
    assert_run(w, "read", "{'path':'.env'}", TOOL_DENIED);
    assert_has(w, "denied by rules[0]");
    assert_lacks(w, "KEY");
    assert_run(w, "plan", "{'steps':[]}", TOOL_DENIED);
    assert_false(world_said(w, "KEY=1"));
}

/* ---- While it is asked ---------------------------------------------------------------------- */

static void the_question_shows_the_change(void **state)
{
    struct world *w = *state;
    test_write("f", "one\ntwo\n", 0644);
    world_user(w, ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    assert_run(w, "edit", "{'path':'f','edits':[{'old_text':'two','new_text':'2'}]}",
               TOOL_COMPLETED);
    const char *question = strstr(test_cstr(&w->log), "session/request_permission");
    assert_non_null(question);
    const char *end = strchr(question, '\n');
    const char *diff = strstr(question, "\"type\":\"diff\"");
    assert_true(diff && diff < end);
    const char *line = strstr(question, "\"line\":2");
    assert_true(line && line < end);
}

static void a_file_that_changes_while_it_is_asked_is_not_overwritten(void **state)
{
    struct world *w = *state;
    test_write("f", "one\n", 0644);
    w->user = NO_ANSWER;
    w->count = 0;
    world_begin(w, "x", "write", "{'path':'f','text':'two\\n'}");
    UNTIL(w, w->questions == 1);
    test_write("f", "somebody else\n", 0644);
    assert_int_equal(
        acp_client_select_permission(w->client, w->question, acp_str_from("allow-once")), 0);
    UNTIL(w, w->count);
    assert_int_equal(world_end(w), TOOL_FAILED);
    assert_has(w, "has changed while the user was asked for permission");
    assert_string_equal(world_file("f"), "somebody else\n");
}

static void an_edit_that_cannot_be_made_is_not_asked_about(void **state)
{
    struct world *w = *state;
    test_write("f", "one\n", 0644);
    assert_run(w, "edit", "{'path':'f','edits':[{'old_text':'two','new_text':'2'}]}", TOOL_FAILED);
    assert_int_equal(w->questions, 0);
}

/* The editor reads it for us, but what it finds is not for the model before the user says so. */
static void nothing_of_an_outer_file_is_told_before_permission(void **state)
{
    struct world *w = *state;
    w->user = DISMISSES;
    assert_run(w, "edit",
               "{'path':'/etc/passwd','edits':[{'old_text':'root:x:0:0:no','new_text':'2'}]}",
               TOOL_DENIED);
    assert_int_equal(w->questions, 1);
    assert_lacks(w, "root:");
}

static void nobody_to_be_asked_is_no(void **state)
{
    struct world *w = *state;
    struct tools *set;
    struct tools_options options = {.box = w->box,
                                    .session = w->agent_session,
                                    .jobs = w->jobs,
                                    .policy = w->policy,
                                    .nobody = true};
    assert_int_equal(tools_new(&options, &set), 0);
    struct tools *other = w->tools;
    w->tools = set;
    assert_run(w, "write", "{'path':'f','text':'x'}", TOOL_DENIED);
    assert_has(w, "nobody is there to be asked");
    w->tools = other;
    tools_free(set);
}

/* ---- Cancelling ----------------------------------------------------------------------------- */

static void a_cancelled_turn_settles_everything_once(void **state)
{
    struct world *w = *state;
    test_write("f", "one\n", 0644);
    w->user = NO_ANSWER;
    w->count = 0;
    world_begin(w, "1", "write", "{'path':'f','text':'two\\n'}");
    world_begin(w, "2", "write", "{'path':'f','text':'three\\n'}"); /* waits for the first */
    world_begin(w, "3", "run_command", "{'command':'sleep 300'}");
    world_begin(w, "4", "ask_user", "{'question':'Why?'}");
    UNTIL(w, w->questions == 2);
    assert_true(tools_running(w->tools) >= 3);
    assert_int_equal(acp_client_cancel(w->session), 0);
    UNTIL(w, tools_running(w->tools) == 0);
    assert_int_equal(w->cancels, 1);
    world_run_for(w, 20);
    assert_int_equal(w->count, 4);
    assert_string_equal(world_file("f"), "one\n");
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->results[i].call, "4") != 0)
            assert_int_equal(w->results[i].end, TOOL_CANCELLED);
    assert_int_equal(tools_run(w->tools, w->turn, acp_str_from("5"), acp_str_from("list"),
                               acp_raw_from("{}"), world_on_done, w),
                     ACP_ERR_CANCELLED);
    world_end_turn(w);
    world_prompt(w);
    w->user = CHOOSES;
    w->choice = ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE;
    assert_run(w, "write", "{'path':'f','text':'four\\n'}", TOOL_COMPLETED);
}

static void a_session_that_ends_takes_its_tools_along(void **state)
{
    struct world *w = *state;
    test_write("f", "one\n", 0644);
    w->user = NO_ANSWER;
    world_begin(w, "1", "write", "{'path':'f','text':'two\\n'}");
    world_begin(w, "2", "grep", "{'pattern':'one'}");
    UNTIL(w, w->questions == 1);
    acp_agent_close(w->agent, ACP_ERR_CLOSED);
    assert_null(w->tools);
    assert_string_equal(world_file("f"), "one\n");
}

/* ---- The user ------------------------------------------------------------------------------- */

static void the_user_is_asked_by_a_form(void **state)
{
    struct world *w = *state;
    w->form_answer = "blue";
    assert_run(w, "ask_user", "{'question':'Which?','choices':['red','blue']}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "blue");
    assert_true(world_said(w, "\"enum\":[\"red\",\"blue\"]"));
    w->form_answer = "green";
    assert_run(w, "ask_user", "{'question':'Which?','choices':['red','blue']}", TOOL_FAILED);
    assert_run(w, "ask_user", "{'question':'Which?'}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "green");
    w->form_answer = NULL;
    assert_run(w, "ask_user", "{'question':'Which?'}", TOOL_FAILED);
    assert_has(w, "declined to answer");
    assert_int_equal(w->questions, 0);
}

static void a_client_without_forms_is_said(void **state)
{
    struct world *w = *state;
    assert_run(w, "ask_user", "{'question':'Which?'}", TOOL_FAILED);
    assert_has(w, "Ask in your answer instead");
}

static void the_plan_is_shown_as_a_plan(void **state)
{
    struct world *w = *state;
    assert_run(w, "plan",
               "{'steps':[{'content':'look','status':'completed','priority':'high'},"
               "{'content':'do it','status':'in_progress'}]}",
               TOOL_COMPLETED);
    assert_string_equal(world_text(w), "The plan is shown: 1 of 2 steps are completed.");
    assert_true(world_said(w, "\"content\":\"do it\",\"priority\":\"medium\","
                              "\"status\":\"in_progress\""));
    assert_false(world_said(w, "\"toolCallId\""));
    assert_run(w, "plan", "{'steps':[{'content':'look','status':'soon'}]}", TOOL_FAILED);
    assert_has(w, "/steps/0/status");
}

/* ---- fetch ---------------------------------------------------------------------------------- */

static void an_address_is_fetched_after_permission(void **state)
{
    struct world *w = *state;
    w->count = 0;
    world_begin(w, "x", "fetch", "{'url':'https://example.com/a'}");
    UNTIL(w, w->fetched);
    w->fetched(0, acp_str_from("the page"), true, w->fetch_waiting);
    assert_int_equal(w->count, 1);
    assert_has(w, "the page\n[The result was longer");
    w->fetched = NULL;
    world_begin(w, "y", "fetch", "{'url':'https://example.com/a'}");
    UNTIL(w, w->fetched);
    tools_cancel(w->tools, w->turn);
    assert_int_equal(w->fetch_cancels, 1);
    assert_int_equal(world_end(w), TOOL_CANCELLED);
    acp_policy_set_mode(w->policy, ACP_POLICY_SAFE);
    assert_run(w, "fetch", "{'url':'https://example.com/a'}", TOOL_DENIED);
    assert_has(w, "not available in mode safe");
}

static void fetched(struct world *w, const char *input)
{
    w->fetched = NULL;
    w->count = 0;
    world_begin(w, "x", "fetch", input);
    UNTIL(w, w->fetched);
    w->fetched(0, acp_str_from("the page"), false, w->fetch_waiting);
    assert_int_equal(w->count, 1);
}

static void always_is_for_one_host(void **state)
{
    struct world *w = *state;
    world_user(w, ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS);
    acp_policy_set_mode(w->policy, ACP_POLICY_READ_ONLY);
    fetched(w, "{'url':'https://Example.com/a'}");
    fetched(w, "{'url':'http://example.com/b?c'}");
    assert_int_equal(w->questions, 1);
    fetched(w, "{'url':'https://other.com/example.com'}");
    assert_int_equal(w->questions, 2);
    world_user(w, ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS);
    assert_run(w, "fetch", "{'url':'https://bad.com/'}", TOOL_DENIED);
    assert_run(w, "fetch", "{'url':'https://bad.com/a'}", TOOL_DENIED);
    assert_int_equal(w->questions, 3);
    acp_policy_set_mode(w->policy, ACP_POLICY_FULL);
    assert_run(w, "fetch", "{'url':'https://bad.com/'}", TOOL_DENIED);
    struct acp_policy_rule no_fetch = {.verdict = ACP_VERDICT_DENY, .tool = acp_str_from("fetch")};
    assert_int_equal(acp_policy_add(w->policy, &no_fetch, NULL), 0);
    assert_run(w, "fetch", "{'url':'https://example.com/a'}", TOOL_DENIED);
}

static void without_a_way_there_is_no_fetch(void **state)
{
    struct world *w = *state;
    struct toolbox *box;
    assert_int_equal(toolbox_new(w->loop, NULL, &box), 0);
    assert_null(toolbox_find(box, acp_str_from("fetch")));
    size_t with = 0;
    size_t without = 0;
    while (toolbox_at(w->box, with))
        with++;
    while (toolbox_at(box, without))
        assert_string_not_equal(toolbox_at(box, without++)->name, "fetch");
    assert_int_equal(with, without + 1);
    toolbox_free(box);
}

int main(void)
{
    VARIANTS(full, ACP_POLICY_FULL);
    VARIANTS(safe, ACP_POLICY_SAFE);
    VARIANTS(read_only, ACP_POLICY_READ_ONLY);
    VARIANTS(sandbox, ACP_POLICY_SANDBOX);
    const struct CMUnitTest tests[] = {
        EACH_CLIENT(each_tool_in_this_mode, safe),
        EACH_CLIENT(each_tool_in_this_mode, read_only),
        EACH_CLIENT(each_tool_in_this_mode, sandbox),
        EACH_CLIENT(each_tool_in_this_mode, full),
        EACH_CLIENT(always_is_remembered, safe),
        EACH_CLIENT(rules_hold_for_tools, full),
        EACH_CLIENT(the_question_shows_the_change, safe),
        EACH_CLIENT(a_file_that_changes_while_it_is_asked_is_not_overwritten, safe),
        EACH_CLIENT(an_edit_that_cannot_be_made_is_not_asked_about, safe),
        WORLD_TEST("outer file", nothing_of_an_outer_file_is_told_before_permission, safe[EDITOR]),
        EACH_CLIENT(nobody_to_be_asked_is_no, safe),
        EACH_CLIENT(a_cancelled_turn_settles_everything_once, safe),
        EACH_CLIENT(a_session_that_ends_takes_its_tools_along, safe),
        WORLD_TEST("form (editor)", the_user_is_asked_by_a_form, safe[EDITOR]),
        WORLD_TEST("form (version 2)", the_user_is_asked_by_a_form, safe[SECOND]),
        WORLD_TEST("no form", a_client_without_forms_is_said, safe[BARE]),
        EACH_CLIENT(the_plan_is_shown_as_a_plan, read_only),
        EACH_CLIENT(an_address_is_fetched_after_permission, full),
        WORLD_TEST("always is for one host", always_is_for_one_host, full[BARE]),
        WORLD_TEST("no fetch", without_a_way_there_is_no_fetch, full[BARE]),
    };
    return cmocka_run_group_tests_name("tools_permission", tests, NULL, NULL);
}
