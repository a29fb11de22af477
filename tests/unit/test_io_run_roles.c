/* Roles in real processes: an agent process, and an agent on standard input and output. */
#include "test_io_host.h"

#include <fcntl.h>

#include "acp/run.h"

/* ---- An agent process ----------------------------------------------------------------------- */

struct started {
    struct acp_agent_process *agent;
    bool free_when_closed;
    bool closed;
    bool exited;
    char why[200];
};

static void on_closed(struct acp_client *client, int reason, void *user)
{
    struct started *started = user;
    (void) client;
    assert_int_equal(reason, ACP_ERR_CLOSED);
    started->closed = true;
    if (started->free_when_closed)
        acp_agent_process_free(started->agent);
}

static void on_exited(struct acp_agent_process *agent, const struct acp_process_exit *how,
                      struct acp_str sentence, void *user)
{
    struct started *started = user;
    assert_true(started->closed);
    assert_int_equal(how->code, 3);
    (void) snprintf(started->why, sizeof(started->why), "%.*s", ACP_ARG(sentence));
    started->exited = true;
    acp_agent_process_free(agent);
}

static void start(struct started *started, uv_loop_t *loop)
{
    struct acp_failure failure;
    struct acp_agent_process_options options = {
        .handler.closed = on_closed, .user = started, .exited = on_exited};
    options.process.argv = (const char *const[]){"sh", "-c", "exit 3", NULL};
    assert_int_equal(acp_agent_process_start(loop, &options, &started->agent, &failure), 0);
}

static void an_exit_comes_after_the_close_of_the_client(void **state)
{
    struct started started = {0};
    start(&started, host_loop(state));
    assert_true(host_run_until(host_loop(state), &started.exited, HOST_LATE_MS));
    assert_string_equal(started.why, "sh exited with code 3");
}

static void an_agent_process_may_be_freed_when_its_client_closes(void **state)
{
    struct started started = {.free_when_closed = true};
    start(&started, host_loop(state));
    assert_true(host_run_until(host_loop(state), &started.closed, HOST_LATE_MS));
    assert_int_equal(uv_run(host_loop(state), UV_RUN_DEFAULT), 0);
    assert_false(started.exited);
}

/* ---- Logging in ----------------------------------------------------------------------------- */

static void on_login(struct acp_login *login, int err, const struct acp_process_exit *how,
                     struct acp_str sentence, void *user)
{
    (void) login, (void) err, (void) how, (void) sentence, (void) user;
    fail();
}

static void a_login_needs_an_agent_and_a_method(void **state)
{
    const struct acp_process_options agent = {.argv = (const char *const[]){"true", NULL}};
    const struct acp_auth_method method = {.is = ACP_AUTH_METHOD_TERMINAL};
    const struct acp_login_options wrong[] = {
        {.agent = NULL}, {.agent = &agent}, {.method = &method}};
    struct acp_login *login = NULL;
    for (size_t i = 0; i < 3; i++) {
        struct acp_failure failure = {0};
        assert_int_equal(
            acp_login_start(host_loop(state), &wrong[i], on_login, NULL, &login, &failure),
            ACP_ERR_ARGUMENT);
        assert_string_equal(failure.message,
                            "cannot start a login: an argument that this function does not take");
        assert_null(login);
    }
}

/* ---- An agent on standard input and output -------------------------------------------------- */

struct served {
    struct acp_agent_stdio *stdio;
    bool free_when_closed;
    bool closed;
    bool gone;
};

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) prompt, (void) user;
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_agent_closed(struct acp_agent *agent, int reason, void *user)
{
    struct served *served = user;
    (void) agent, (void) reason;
    served->closed = true;
    if (served->free_when_closed)
        acp_agent_stdio_free(served->stdio);
}

static void on_gone(int reason, void *user)
{
    struct served *served = user;
    assert_int_equal(reason, 0);
    assert_true(served->closed);
    served->gone = true;
}

/* Serves an empty input in place of the standard one, which the tests need again. */
static void serve_nothing(struct served *served, uv_loop_t *loop)
{
    static const struct acp_agent_handler handler = {.prompt = on_prompt,
                                                     .closed = on_agent_closed};
    struct acp_agent_options options = {.name = acp_str_from("test")};
    int in = dup(STDIN_FILENO);
    int out = dup(STDOUT_FILENO);
    int null = open("/dev/null", O_RDWR);
    assert_true(in >= 0 && out >= 0 && null >= 0);
    assert_true(dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0);
    int err = acp_agent_stdio_new(loop, &options, &handler, on_gone, served, &served->stdio);
    assert_true(dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0);
    (void) close(in);
    (void) close(out);
    (void) close(null);
    assert_int_equal(err, 0);
    assert_int_equal(uv_run(loop, UV_RUN_DEFAULT), 0);
}

static void an_agent_on_stdio_tells_that_its_client_has_gone(void **state)
{
    struct served served = {0};
    serve_nothing(&served, host_loop(state));
    assert_true(served.gone);
    acp_agent_stdio_free(served.stdio);
}

static void an_agent_on_stdio_may_be_freed_when_it_closes(void **state)
{
    struct served served = {.free_when_closed = true};
    serve_nothing(&served, host_loop(state));
    assert_true(served.closed);
    assert_false(served.gone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(an_exit_comes_after_the_close_of_the_client),
        host_test(an_agent_process_may_be_freed_when_its_client_closes),
        host_test(a_login_needs_an_agent_and_a_method),
        host_test(an_agent_on_stdio_tells_that_its_client_has_gone),
        host_test(an_agent_on_stdio_may_be_freed_when_it_closes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
