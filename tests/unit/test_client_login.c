/*
 * Logging in at a terminal: the agent's own program with the method's arguments and environment,
 * in the foreground of the user's terminal until it ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "acp/run.h"
#include "io/login_command.h"
#include "io/pty.h"
#include "test_io_host.h"

/* ---- The command line ------------------------------------------------------------------------ */

static struct acp_auth_method terminal_method(struct acp_str_list args, struct acp_str_map env)
{
    struct acp_auth_method method = {.is = ACP_AUTH_METHOD_TERMINAL};
    method.terminal.id = acp_str_from("tui");
    method.terminal.name = acp_str_from("In a terminal");
    method.terminal.args = args;
    method.terminal.env = env;
    return method;
}

static void v1_auth_07_args_are_appended_and_env_is_laid_on_top(void **state)
{
    static const struct acp_str args[] = {ACP_STR("--login"), ACP_STR("")};
    static const struct acp_str_entry env[] = {{ACP_STR("WHERE"), ACP_STR("method")}};
    static const struct acp_env_variable env_v2[] = {
        {.name = ACP_STR("ALSO"), .value = ACP_STR("")}};
    const char *const own_argv[] = {"agent", "--acp", NULL};
    const char *const own_env[] = {"WHERE=agent", "KEPT=1", NULL};
    struct acp_auth_method method =
        terminal_method((struct acp_str_list){args, 2}, (struct acp_str_map){env, 1});
    struct acp_login_command command;
    struct acp_arena arena;
    (void) state;
    method.terminal.env_v2 = (struct acp_env_variable_list){env_v2, 1};
    acp_arena_init(&arena, 0);
    assert_int_equal(
        acp_login_command_make(&method, own_argv, own_env, false, &arena, &command, NULL), 0);
    const char *const argv[] = {"agent", "--acp", "--login", ""};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(command.argv[i], argv[i]);
    assert_null(command.argv[4]);
    const char *const all[] = {"WHERE=agent", "KEPT=1", "WHERE=method", "ALSO="};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(command.env[i], all[i]);
    assert_null(command.env[4]);
    acp_arena_finish(&arena);
}

static void what_cannot_be_given_to_a_program_is_refused(void **state)
{
    static const struct acp_str nul[] = {{"a\0b", 3}};
    static const struct acp_str_entry names[] = {
        {ACP_STR(""), ACP_STR("x")},
        {ACP_STR("A=B"), ACP_STR("x")},
        {{"A\0B", 3}, ACP_STR("x")},
        {ACP_STR("A"), {"x\0y", 3}},
    };
    const char *const own[] = {"agent", NULL};
    struct acp_login_command command;
    struct acp_failure failure;
    struct acp_arena arena;
    (void) state;
    acp_arena_init(&arena, 0);
    for (size_t i = 0; i < 5; i++) {
        struct acp_auth_method method =
            i == 4 ? terminal_method((struct acp_str_list){nul, 1}, (struct acp_str_map){NULL, 0})
                   : terminal_method((struct acp_str_list){NULL, 0},
                                     (struct acp_str_map){names + i, 1});
        assert_int_equal(
            acp_login_command_make(&method, own, NULL, false, &arena, &command, &failure),
            ACP_ERR_ARGUMENT);
        assert_non_null(strstr(failure.message, "cannot be given"));
    }
    acp_arena_finish(&arena);
}

/* What agents did before there was such a method: the whole command line is theirs. */
static void a_command_of_the_agents_own_needs_leave(void **state)
{
    struct acp_auth_method method = {.is = ACP_AUTH_METHOD_AGENT};
    const char *const own[] = {"agent", "--acp", NULL};
    struct acp_login_command command;
    struct acp_failure failure;
    struct acp_arena arena;
    (void) state;
    acp_arena_init(&arena, 0);
    method.agent.meta =
        acp_raw_from("{\"x\":1,\"terminal-auth\":{\"label\":\"Log in\",\"command\":"
                     "\"node\",\"args\":[\"cli.js\",\"/login\"],\"env\":{\"A\":\"1\"}}}");
    assert_int_equal(acp_login_command_make(&method, own, NULL, false, &arena, &command, &failure),
                     ACP_ERR_STATE);
    assert_int_equal(acp_login_command_make(&method, own, NULL, true, &arena, &command, &failure),
                     0);
    assert_string_equal(command.argv[0], "node");
    assert_string_equal(command.argv[1], "cli.js");
    assert_string_equal(command.argv[2], "/login");
    assert_null(command.argv[3]);
    assert_string_equal(command.env[0], "A=1");
    const char *const none[] = {"{}",
                                "{\"terminal-auth\":true}",
                                "{\"terminal-auth\":{\"args\":[\"x\"]}}",
                                "{\"terminal-auth\":{\"command\":7}}",
                                "{\"terminal-auth\":{\"command\":\"x\",\"args\":[1]}}",
                                "{\"terminal-auth\":{\"command\":\"x\",\"env\":[]}}"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        method.agent.meta = acp_raw_from(none[i]);
        assert_int_equal(
            acp_login_command_make(&method, own, NULL, true, &arena, &command, &failure),
            ACP_ERR_STATE);
    }
    acp_arena_finish(&arena);
}

/* ---- Running it ------------------------------------------------------------------------------ */

struct end {
    int calls;
    int err;
    struct acp_process_exit how;
    char sentence[200];
};

static void on_done(struct acp_login *login, int err, const struct acp_process_exit *how,
                    struct acp_str sentence, void *user)
{
    struct end *end = user;
    end->calls++;
    end->err = err;
    end->how = *how;
    (void) snprintf(end->sentence, sizeof(end->sentence), "%.*s", (int) sentence.len, sentence.ptr);
    acp_login_free(login);
}

/* The agent is a shell whose script sees the method's argument as $1. */
static int start(uv_loop_t *loop, const char *script, const char *argument, struct end *end,
                 struct acp_login **ret)
{
    struct acp_str arg = acp_str_from(argument);
    static const struct acp_str_entry env = {ACP_STR("LOGIN_TEST"), ACP_STR("method")};
    const char *const argv[] = {"/bin/sh", "-c", script, "agent", NULL};
    const char *const own_env[] = {"LOGIN_TEST=agent", NULL};
    struct acp_process_options agent = {.argv = argv, .env = own_env};
    struct acp_auth_method method =
        terminal_method((struct acp_str_list){&arg, 1}, (struct acp_str_map){&env, 1});
    struct acp_login_options options = {.agent = &agent, .method = &method};
    return acp_login_start(loop, &options, on_done, end, ret, NULL);
}

static struct end run(struct host *host, const char *script, const char *argument)
{
    struct end end = {0};
    struct acp_login *login = NULL;
    assert_int_equal(start(&host->loop, script, argument, &end, &login), 0);
    assert_int_equal(uv_run(&host->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(end.calls, 1);
    return end;
}

static void v1_auth_08_only_the_exit_status_0_is_success(void **state)
{
    struct host *host = *state;
    const char *script = "test \"$1$LOGIN_TEST\" = --loginmethod || exit 9; exit 0";
    struct end end = run(host, script, "--login");
    assert_int_equal(end.err, 0);
    end = run(host, script, "--other");
    assert_int_equal(end.err, ACP_ERR_REMOTE);
    assert_int_equal(end.how.code, 9);
    assert_non_null(strstr(end.sentence, "/bin/sh exited with code 9"));
    end = run(host, "kill -9 $$", "x");
    assert_int_equal(end.err, ACP_ERR_REMOTE);
    assert_int_equal(end.how.signal, SIGKILL);
}

static void who_gives_up_has_not_logged_in(void **state)
{
    struct host *host = *state;
    struct end end = {0};
    struct acp_login *login = NULL;
    assert_int_equal(
        start(&host->loop, "trap 'exit 0' TERM; while :; do sleep 0.05; done", "x", &end, &login),
        0);
    /* Once the shell has set its trap; if it has not, the signal ends it, which is the same. */
    uv_sleep(50);
    acp_login_cancel(login);
    assert_int_equal(uv_run(&host->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(end.calls, 1);
    assert_int_equal(end.err, ACP_ERR_CANCELLED);
}

static void freed_in_the_middle_it_calls_nothing(void **state)
{
    struct host *host = *state;
    struct end end = {0};
    struct acp_login *login = NULL;
    assert_int_equal(start(&host->loop, "sleep 30", "x", &end, &login), 0);
    acp_login_free(login);
    acp_login_free(NULL);
    assert_int_equal(uv_run(&host->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(end.calls, 0);
}

static void a_method_of_another_kind_is_not_run(void **state)
{
    struct host *host = *state;
    const char *const argv[] = {"/bin/true", NULL};
    struct acp_process_options agent = {.argv = argv};
    struct acp_auth_method method = {.is = ACP_AUTH_METHOD_AGENT};
    struct acp_login_options options = {.agent = &agent, .method = &method};
    struct acp_login *login = NULL;
    struct acp_failure failure;
    struct end end = {0};
    assert_int_equal(acp_login_start(&host->loop, &options, on_done, &end, &login, &failure),
                     ACP_ERR_STATE);
    assert_non_null(strstr(failure.message, "not run at a terminal"));
    assert_null(login);
}

/* ---- At a terminal --------------------------------------------------------------------------- */

/* What the program that has a terminal found out; each is a bit of its exit status. */
enum finding {
    NOT_LENT = 1,
    NOT_TAKEN_BACK = 2,
    NOT_RESTORED = 4,
    WRONG_END = 8,
    NOT_STARTED = 16
};

/*
 * A program of its own at the terminal: it logs in, and says what it found.
 */
static int at_terminal(int slave, const char *script, int expected)
{
    struct termios before;
    struct termios after;
    uv_loop_t loop;
    struct end end = {0};
    struct acp_login *login = NULL;
    int found = 0;
    (void) setsid();
    if (ioctl(slave, TIOCSCTTY, 0) < 0 || tcgetattr(slave, &before) < 0)
        return NOT_STARTED;
    for (int i = 0; i < 3; i++)
        (void) dup2(slave, i);
    if (uv_loop_init(&loop) || start(&loop, script, "x", &end, &login))
        return NOT_STARTED;
    if (tcgetpgrp(slave) == getpgrp())
        found |= NOT_LENT;
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    if (tcgetpgrp(slave) != getpgrp())
        found |= NOT_TAKEN_BACK;
    if (tcgetattr(slave, &after) < 0 || before.c_lflag != after.c_lflag)
        found |= NOT_RESTORED;
    if (end.calls != 1 || end.err != expected)
        found |= WRONG_END;
    return found;
}

/* Reads the terminal until the word has come. */
static void await_word(int master, const char *word)
{
    char seen[4096];
    size_t n = 0;
    while (n + 1 < sizeof(seen)) {
        ssize_t got = read(master, seen + n, sizeof(seen) - 1 - n);
        assert_true(got > 0 || errno == EAGAIN || errno == EINTR);
        if (got <= 0) {
            uv_sleep(5);
            continue;
        }
        n += (size_t) got;
        seen[n] = '\0';
        if (strstr(seen, word))
            return;
    }
    fail_msg("%s did not come", word);
}

static void type_at(const char *script, const char *keys, int expected)
{
    int master;
    int slave;
    int status;
    assert_int_equal(acp_pty_open(0, 0, false, &master, &slave), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(at_terminal(slave, script, expected));
    assert_int_equal(close(slave), 0);
    await_word(master, "ready");
    assert_int_equal(write(master, keys, strlen(keys)), strlen(keys));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(close(master), 0);
    /* Had the key reached the program itself, it would have ended by the signal. */
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void the_user_types_into_the_login_and_not_into_us(void **state)
{
    (void) state;
    type_at("stty -echo; echo ready; read word; test \"$word\" = secret", "secret\n", 0);
    type_at("stty -echo; echo ready; read word; test \"$word\" = secret", "wrong\n",
            ACP_ERR_REMOTE);
    type_at("echo ready; read word", "\x03", ACP_ERR_REMOTE);
    /* ^Z would stop it for ever. */
    type_at("echo ready; read word; test \"$word\" = on", "\x1aon\n", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v1_auth_07_args_are_appended_and_env_is_laid_on_top),
        cmocka_unit_test(what_cannot_be_given_to_a_program_is_refused),
        cmocka_unit_test(a_command_of_the_agents_own_needs_leave),
        cmocka_unit_test_setup_teardown(v1_auth_08_only_the_exit_status_0_is_success, host_setup,
                                        host_teardown),
        cmocka_unit_test_setup_teardown(who_gives_up_has_not_logged_in, host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(freed_in_the_middle_it_calls_nothing, host_setup,
                                        host_teardown),
        cmocka_unit_test_setup_teardown(a_method_of_another_kind_is_not_run, host_setup,
                                        host_teardown),
        cmocka_unit_test_setup_teardown(the_user_types_into_the_login_and_not_into_us, host_setup,
                                        host_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
