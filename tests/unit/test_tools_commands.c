/* Commands: their output, their ends, in the background, in a jail, and in floods. */
#define _GNU_SOURCE
#include "test_tools_host.h"

#include <sys/resource.h>

static void a_command_runs_in_a_terminal(void **state)
{
    struct world *w = *state;
    test_write("sub/f", "", 0644);
    assert_run(w, "run_command", "{'command':'printf \\u0027\\\\033[31mred\\\\033[0m\\u0027; pwd'}",
               TOOL_COMPLETED);
    char expected[200];
    (void) snprintf(expected, sizeof(expected), "red%s\n[exit status 0]", test_home);
    assert_string_equal(world_text(w), expected);
    assert_run(w, "run_command", "{'command':'ls','cwd':'sub'}", TOOL_COMPLETED);
    assert_string_equal(world_text(w), "f\n[exit status 0]");
    assert_run(w, "run_command", "{'command':'echo no >&2; exit 3'}", TOOL_FAILED);
    assert_string_equal(world_text(w), "no\n[exit status 3]");
    assert_true(world_said(w, "\"rawOutput\":{\"exitCode\":3}"));
    assert_run(w, "run_command", "{'command':'kill -9 $$'}", TOOL_FAILED);
    assert_string_equal(world_text(w), "[ended by SIGKILL]");
    assert_true(world_said(w, "\"kind\":\"execute\""));
    if (w->kind != BARE)
        assert_true(world_said(w, "\"type\":\"terminal\""));
    assert_run(w, "run_command", "{'command':'/nowhere/at-all'}", TOOL_FAILED);
    assert_has(w, "/nowhere/at-all");
}

static void a_command_that_takes_too_long_is_ended(void **state)
{
    struct world *w = *state;
    assert_run(w, "run_command", "{'command':'echo early; sleep 300','timeout_ms':1000}",
               TOOL_FAILED);
    assert_has(w, "early\n[");
    assert_has(w, "1000 ms");
}

static void a_command_is_ended_with_its_turn(void **state)
{
    struct world *w = *state;
    w->count = 0;
    world_begin(w, "x", "run_command", "{'command':'echo $$ > pid; sleep 300 & wait'}");
    UNTIL(w, world_file("pid") && strchr(world_file("pid"), '\n'));
    int pid = atoi(world_file("pid"));
    assert_int_equal(kill(pid, 0), 0);
    assert_int_equal(acp_client_cancel(w->session), 0);
    UNTIL(w, w->count);
    assert_int_equal(world_end(w), TOOL_CANCELLED);
    assert_int_equal(kill(pid, 0), -1);
    world_run_for(w, 20);
    assert_int_equal(w->count, 1);
}

static void a_single_command_is_cancelled(void **state)
{
    struct world *w = *state;
    w->count = 0;
    world_begin(w, "x", "run_command", "{'command':'echo $$ > pid; exec sleep 300'}");
    world_begin(w, "y", "run_command", "{'command':'sleep 0.2; echo good'}");
    UNTIL(w, world_file("pid") && strchr(world_file("pid"), '\n'));
    assert_int_equal(tools_cancel_one(w->tools, acp_str_from("x")), 0);
    assert_int_equal(tools_cancel_one(w->tools, acp_str_from("x")), 0);
    UNTIL(w, w->count == 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(w->results[i].end,
                         strcmp(w->results[i].call, "x") == 0 ? TOOL_CANCELLED : TOOL_COMPLETED);
}

static void a_set_that_is_freed_ends_its_commands(void **state)
{
    struct world *w = *state;
    w->count = 0;
    world_begin(w, "x", "run_command", "{'command':'echo $$ > pid; exec sleep 300'}");
    world_begin(w, "y", "run_command", "{'command':'sleep 300','background':true}");
    UNTIL(w, w->count == 1 && world_file("pid") && strchr(world_file("pid"), '\n'));
    int pid = atoi(world_file("pid"));
    tools_free(w->tools);
    w->tools = NULL;
    UNTIL(w, kill(pid, 0) != 0);
    assert_int_equal(w->count, 1);
}

/* ---- The background ------------------------------------------------------------------------- */

static void a_command_in_the_background_is_asked_for_later(void **state)
{
    struct world *w = *state;
    assert_run(w, "run_command",
               "{'command':'echo first; while [ ! -e go ]; do sleep 0.02; done; echo last; exit 2',"
               "'background':true}",
               TOOL_COMPLETED);
    assert_has(w, "command 1");
    /* It outlives its turn. */
    world_end_turn(w);
    world_prompt(w);
    UNTIL(w, world_run(w, "command_output", "{'command':1}") == TOOL_COMPLETED &&
                 strstr(world_text(w), "first"));
    assert_string_equal(world_text(w), "first\n[It is still running.]");
    test_write("go", "", 0644);
    UNTIL(w, world_run(w, "command_output", "{'command':1}") == TOOL_COMPLETED &&
                 strstr(world_text(w), "ended"));
    assert_string_equal(world_text(w), "first\nlast\n[It has ended: exit status 2]");
    assert_run(w, "command_stop", "{'command':1}", TOOL_COMPLETED);
    assert_run(w, "command_output", "{'command':2}", TOOL_FAILED);
    assert_has(w, "no command 2");
    if (w->kind == SECOND)
        assert_true(world_said(w, "\"background\":["));
}

static void a_command_in_the_background_is_stopped(void **state)
{
    struct world *w = *state;
    assert_run(w, "run_command", "{'command':'echo $$ > pid; exec sleep 300','background':true}",
               TOOL_COMPLETED);
    UNTIL(w, world_file("pid") && strchr(world_file("pid"), '\n'));
    int pid = atoi(world_file("pid"));
    assert_run(w, "command_stop", "{'command':1}", TOOL_COMPLETED);
    UNTIL(w, kill(pid, 0) != 0);
    UNTIL(w, world_run(w, "command_output", "{'command':1}") == TOOL_COMPLETED &&
                 strstr(world_text(w), "ended"));
}

static void only_so_many_run_in_the_background(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < TOOLS_MAX_BACKGROUND; i++)
        assert_run(w, "run_command", "{'command':'sleep 300','background':true}", TOOL_COMPLETED);
    assert_run(w, "run_command", "{'command':'sleep 300','background':true}", TOOL_FAILED);
    assert_has(w, "stop one of them first");
    assert_run(w, "command_stop", "{'command':3}", TOOL_COMPLETED);
    UNTIL(w, world_run(w, "command_output", "{'command':3}") == TOOL_COMPLETED &&
                 strstr(world_text(w), "ended"));
    assert_run(w, "run_command", "{'command':'sleep 300','background':true}", TOOL_COMPLETED);
    assert_has(w, "command 17");
}

static void the_background_ends_with_the_session(void **state)
{
    struct world *w = *state;
    assert_run(w, "run_command", "{'command':'true','background':true}", TOOL_COMPLETED);
    assert_run(w, "run_command", "{'command':'echo $$ > pid; exec sleep 300','background':true}",
               TOOL_COMPLETED);
    UNTIL(w, world_file("pid") && strchr(world_file("pid"), '\n'));
    int pid = atoi(world_file("pid"));
    acp_agent_close(w->agent, ACP_ERR_CLOSED);
    UNTIL(w, kill(pid, 0) != 0);
}

/* ---- Too much ------------------------------------------------------------------------------- */

/* The size of this process at its largest, in KiB. */
static long largest_size(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void a_flood_takes_no_memory(void **state)
{
    struct world *w = *state;
    long before = largest_size();
    assert_run(
        w, "run_command",
        "{'command':'head -c 200000000 /dev/zero | tr \\u0027\\\\0\\u0027 x; echo; echo end',"
        "'timeout_ms':60000}",
        TOOL_COMPLETED);
    assert_has(w, "[The beginning of the output was left out.]");
    assert_has(w, "\nend\n[exit status 0]");
    acp_buf_finish(&w->log); /* which is the test's own */
    long more = largest_size() - before;
    print_message("# 200 MB of output took %ld KiB more\n", more);
    assert_true(more < 100000);
}

/* ---- The jail ------------------------------------------------------------------------------- */

static void a_jail_holds_the_command(void **state)
{
    struct world *w = *state;
    struct acp_failure failure;
    if (!toolbox_has_sandbox(w->box, &failure)) {
        print_message("# SKIP %s\n", failure.message);
        /* Decided without our own code: where bubblewrap works, ours must. */
        assert_int_not_equal(system("bwrap --unshare-user --unshare-all --ro-bind / / true"), 0);
        skip();
    }
    test_write("f", "in the workspace\n", 0644);
    assert_run(w, "run_command", "{'command':'cat f; echo new > g'}", TOOL_COMPLETED);
    assert_has(w, "in the workspace");
    assert_string_equal(world_file("g"), "new\n");
    assert_run(w, "run_command", "{'command':'echo x > /usr/acp-test'}", TOOL_FAILED);
    assert_int_equal(access("/usr/acp-test", F_OK), -1);
    assert_run(w, "run_command", "{'command':'ls /root /home /sys'}", TOOL_FAILED);
    assert_run(w, "run_command", "{'command':'grep -v lo: /proc/net/dev | grep :'}", TOOL_FAILED);
    assert_run(w, "run_command", "{'command':'ls','cwd':'/etc'}", TOOL_DENIED);
    assert_int_equal(w->questions, 0);
    assert_run(w, "run_command", "{'command':'exit 7'}", TOOL_FAILED);
    assert_has(w, "exit status 7");
    assert_run(w, "run_command", "{'command':'sleep 300','timeout_ms':300}", TOOL_FAILED);
    UNTIL(w, acp_process_count() == 0);
}

/* The workspace has something in it that no mount can protect. */
static void what_cannot_be_jailed_does_not_run(void **state)
{
    struct world *w = *state;
    if (!toolbox_has_sandbox(w->box, NULL))
        skip(); /* the test above fails where there should be one */
    test_write("settings", "", 0644);
    assert_int_equal(symlink("settings", test_path(".mcp.json")), 0);
    assert_run(w, "run_command", "{'command':'echo new > settings'}", TOOL_FAILED);
    assert_has(w, "was not run");
    assert_has(w, ".mcp.json is a symbolic link");
    assert_run(w, "run_command", "{'command':'echo new > settings','background':true}",
               TOOL_FAILED);
    assert_has(w, "was not run");
    assert_int_equal(acp_process_count(), 0);
    assert_string_equal(world_file("settings"), "");
}

static void a_jail_leaves_nothing_behind(void **state)
{
    struct world *w = *state;
    if (!toolbox_has_sandbox(w->box, NULL))
        skip();
    assert_run(w, "run_command", "{'command':'ls -A; mkdir .vscode/x'}", TOOL_FAILED);
    assert_int_equal(access(test_path(".vscode"), F_OK), -1);
    /* One in the background is protected until it has ended. */
    assert_run(w, "run_command", "{'command':'sleep 1000; mkdir .vscode/x','background':true}",
               TOOL_COMPLETED);
    assert_run(w, "run_command", "{'command':'true'}", TOOL_COMPLETED);
    assert_int_equal(access(test_path(".vscode"), F_OK), 0);
    assert_run(w, "command_stop", "{'command':1}", TOOL_COMPLETED);
    UNTIL(w, acp_process_count() == 0);
    UNTIL(w, access(test_path(".vscode"), F_OK) != 0);
}

static void without_a_jail_nothing_runs(void **state)
{
    struct world *w = *state;
    char helper[4096];
    (void) snprintf(helper, sizeof(helper), "%s", getenv("ACP_SANDBOX_HELPER"));
    assert_int_equal(setenv("ACP_SANDBOX_HELPER", "/nowhere", 1), 0);
    enum tool_end end = world_run(w, "run_command", "{'command':'true'}");
    bool offered = tools_offer(w->tools, toolbox_find(w->box, acp_str_from("run_command")));
    assert_int_equal(setenv("ACP_SANDBOX_HELPER", helper, 1), 0);
    assert_int_equal(end, TOOL_DENIED);
    assert_has(w, "not available in mode sandbox");
    assert_false(offered);
    assert_true(tools_offer(w->tools, toolbox_find(w->box, acp_str_from("write"))));
}

int main(void)
{
    VARIANTS(full, ACP_POLICY_FULL);
    VARIANTS(sandbox, ACP_POLICY_SANDBOX);
    const struct CMUnitTest tests[] = {
        EACH_CLIENT(a_command_runs_in_a_terminal, full),
        EACH_CLIENT(a_command_that_takes_too_long_is_ended, full),
        EACH_CLIENT(a_command_is_ended_with_its_turn, full),
        EACH_CLIENT(a_single_command_is_cancelled, full),
        EACH_CLIENT(a_set_that_is_freed_ends_its_commands, full),
        EACH_CLIENT(a_command_in_the_background_is_asked_for_later, full),
        EACH_CLIENT(a_command_in_the_background_is_stopped, full),
        WORLD_TEST("many in the background", only_so_many_run_in_the_background, full[BARE]),
        /* What an editor runs for us ends with the editor's session. */
        WORLD_TEST("end of session (bare client)", the_background_ends_with_the_session,
                   full[BARE]),
        WORLD_TEST("end of session (version 2)", the_background_ends_with_the_session,
                   full[SECOND]),
        WORLD_TEST("flood (bare client)", a_flood_takes_no_memory, full[BARE]),
        WORLD_TEST("flood (editor)", a_flood_takes_no_memory, full[EDITOR]),
        EACH_CLIENT(a_jail_holds_the_command, sandbox),
        EACH_CLIENT(what_cannot_be_jailed_does_not_run, sandbox),
        EACH_CLIENT(a_jail_leaves_nothing_behind, sandbox),
        WORLD_TEST("no jail", without_a_jail_nothing_runs, sandbox[BARE]),
    };
    return cmocka_run_group_tests_name("tools_commands", tests, NULL, NULL);
}
