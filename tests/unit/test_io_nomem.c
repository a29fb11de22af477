/*
 * Links, processes and terminals when out of memory: the first, the second, the third ...
 * allocation fails, until none does.  What cannot be made says so, and leaves no descriptor, no
 * child, no handle.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc.
 */
#include "test_io_host.h"

#include "acp/terminals.h"
#include "acp/workspace.h"
#include "io/fd.h"
#include "test_memory.h"

static void links(void **state)
{
    for (long n = 1; n == 1 || test_struck; n++) {
        int ends[2];
        struct pair pair;
        struct acp_link *link = NULL;
        pair_init(&pair);
        assert_int_equal(acp_fd_pipe(&ends[0], &ends[1]), 0);
        struct acp_link_options options = {.in = ends[0], .out = ends[1]};
        test_struck = false;
        test_countdown = n;
        int err = acp_link_new(host_loop(state), &options, pair.endpoint, NULL, NULL, &link);
        test_countdown = 0;
        assert_int_equal(err, test_struck ? ACP_ERR_NOMEM : 0);
        acp_link_free(link);
        host_run_for(host_loop(state), 1);
        pair_finish(&pair);
    }
}

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    bool *exited = user;
    *exited = true;
    assert_int_equal(how->code, 0);
    acp_process_free(process);
}

static void processes(void **state)
{
    static const struct acp_process_handler handler = {.exited = on_exited};
    static const char *const argv[] = {"sh", "-c", "echo out; echo err >&2", NULL};
    static const char *const env[] = {"A=b", NULL};
    for (long n = 1; n == 1 || test_struck; n++) {
        struct pair pair;
        struct acp_failure failure = {0};
        struct acp_process *process = NULL;
        bool exited = false;
        pair_init(&pair);
        struct acp_process_options options = {
            .argv = argv, .env = env, .endpoint = pair.endpoint, .err_by_line = true};
        test_struck = false;
        test_countdown = n;
        int err =
            acp_process_start(host_loop(state), &options, &handler, &exited, &process, &failure);
        test_countdown = 0;
        if (err) {
            assert_true(test_struck);
            assert_int_equal(err, ACP_ERR_NOMEM);
            assert_non_null(strstr(failure.message, "sh"));
        } else {
            /* What was too little for reading /proc is made up for. */
            assert_true(host_run_until(host_loop(state), &exited, HOST_LATE_MS));
            assert_true(pair.in.len == 4);
        }
        host_run_for(host_loop(state), 1);
        pair_finish(&pair);
    }
}

static void terminals(void **state)
{
    static const struct acp_str args[] = {ACP_STR("-c"), ACP_STR("exit 0")};
    /* Long ones, so that the array and each text take an allocation. */
    static char text[20000];
    static struct acp_str_entry env[1000];
    memset(text, 'b', sizeof(text));
    for (size_t i = 0; i < COUNT(env); i++)
        env[i] = (struct acp_str_entry){ACP_STR("A"), acp_str_n(text, i < 3 ? sizeof(text) : 1)};
    struct acp_terminal_request request = {
        .command = ACP_STR("sh"), .args = {args, 2}, .env = {env, COUNT(env)}, .cwd = ACP_STR("/")};
    for (long n = 1; n == 1 || test_struck; n++) {
        struct acp_terminals *set = NULL;
        struct acp_str id;
        test_struck = false;
        test_countdown = n;
        int err = acp_terminals_new(host_loop(state), NULL, NULL, NULL, &set);
        if (!err)
            err = acp_terminals_create(set, acp_str_from("s"), &request, &id, NULL);
        test_countdown = 0;
        if (err)
            assert_int_equal(err, ACP_ERR_NOMEM);
        assert_true(err == 0 || test_struck);
        acp_terminals_free(set);
        host_run_for(host_loop(state), 20);
    }
}

static void workspaces(void **state)
{
    for (long n = 1; n == 1 || test_struck; n++) {
        struct acp_workspace *workspace = NULL;
        test_struck = false;
        test_countdown = n;
        int err = acp_workspace_new(host_loop(state), NULL, &workspace);
        test_countdown = 0;
        assert_int_equal(err, test_struck ? ACP_ERR_NOMEM : 0);
        assert_true((err == 0) == (workspace != NULL));
        acp_workspace_free(workspace);
        host_run_for(host_loop(state), 1);
    }
}

/* The exit of a process, with whatever it needs memory for failing. */
static void exits(void **state)
{
    static const struct acp_process_handler handler = {.exited = on_exited};
    static const char *const argv[] = {"sh", "-c", "echo err >&2", NULL};
    for (long n = 1; n < 40; n++) {
        struct acp_process *process = NULL;
        bool exited = false;
        struct acp_process_options options = {.argv = argv, .err_by_line = true};
        assert_int_equal(
            acp_process_start(host_loop(state), &options, &handler, &exited, &process, NULL), 0);
        test_countdown = n;
        assert_true(host_run_until(host_loop(state), &exited, HOST_LATE_MS));
        test_countdown = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(links),      host_test(processes), host_test(terminals),
        host_test(workspaces), host_test(exits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
