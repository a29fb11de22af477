/* Processes: started and spoken to, over pipes and on terminals. */
#define _GNU_SOURCE /* mkdtemp and friends */
#include "test_io_run.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- Starting ------------------------------------------------------------------------------- */

static void output_and_code_come_back(void **state)
{
    struct run run;
    run_init(&run);
    run_shell(&run, host_loop(state), "echo out; echo err >&2; exit 7");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.out), "out\n");
    assert_string_equal(test_cstr(&run.err), "err\n");
    assert_int_equal(run.how.code, 7);
    assert_int_equal(run.how.signal, 0);
    assert_false(run.how.stopped);
    run_finish(&run);
}

static void expect_failure(void **state, const struct acp_process_options *options, int number,
                           const char *words)
{
    struct run run;
    run_init(&run);
    run.options = *options;
    int err = run_start(&run, host_loop(state), options->argv);
    if (number)
        assert_int_equal(acp_err_errno(err), number);
    else
        assert_int_equal(err, ACP_ERR_ARGUMENT);
    assert_int_equal(run.failure.err, err);
    assert_non_null(strstr(run.failure.message, options->argv[0] ? options->argv[0] : ""));
    if (!strstr(run.failure.message, words))
        fail_msg("%s", run.failure.message);
    assert_null(run.process);
    host_run_for(host_loop(state), 5);
    assert_false(run.exited);
    run_finish(&run);
}

static void what_cannot_be_started_says_which_and_why(void **state)
{
    const char *nowhere[] = {"no-such-program-acp", NULL};
    expect_failure(state, &(struct acp_process_options){.argv = nowhere}, ENOENT, "not in PATH");
    const char *missing[] = {"/no/such/program", NULL};
    expect_failure(state, &(struct acp_process_options){.argv = missing}, ENOENT, "No such file");
    const char *folder[] = {"/tmp", NULL};
    expect_failure(state, &(struct acp_process_options){.argv = folder}, EACCES, "denied");
    const char *plain[] = {"/etc/passwd", NULL};
    expect_failure(state, &(struct acp_process_options){.argv = plain}, EACCES, "denied");
    const char *good[] = {"true", NULL};
    expect_failure(state, &(struct acp_process_options){.argv = good, .cwd = "/no/such/folder"},
                   ENOENT, "its folder /no/such/folder");
    expect_failure(state, &(struct acp_process_options){.argv = good, .in = ACP_IO_MERGE}, 0, "");
    expect_failure(state, &(struct acp_process_options){.argv = good, .in = ACP_IO_PTY}, 0, "");
    const char *empty[] = {NULL};
    expect_failure(state, &(struct acp_process_options){.argv = empty}, 0, "");
}

static void a_script_without_an_interpreter_runs_in_a_shell(void **state)
{
    char path[] = "/tmp/acp-script-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "echo $1\n", 8), 8);
    assert_int_equal(fchmod(fd, 0700), 0);
    assert_int_equal(close(fd), 0);
    struct run run;
    run_init(&run);
    const char *argv[] = {path, "argument", NULL};
    assert_int_equal(run_start(&run, host_loop(state), argv), 0);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.out), "argument\n");
    run_finish(&run);
    assert_int_equal(unlink(path), 0);
}

static void the_environment_is_ours_with_changes(void **state)
{
    assert_int_equal(setenv("CLAUDECODE", "1", 1), 0);
    assert_int_equal(setenv("ACP_TEST_GONE", "1", 1), 0);
    assert_int_equal(setenv("ACP_TEST_KEPT", "kept", 1), 0);
    static const char *const env[] = {"ACP_TEST_NEW=a", "ACP_TEST_NEW=b", "ACP_TEST_GONE2=", NULL};
    static const char *const unset[] = {"ACP_TEST_GONE", NULL};
    static const char line[] = "echo ${CLAUDECODE-none} ${ACP_TEST_GONE-none} $ACP_TEST_KEPT "
                               "$ACP_TEST_NEW ${HOME:+home} ${ACP_PROCESS:+mark}";
    struct run run;
    run_init(&run);
    run.options.env = env;
    run.options.unset = unset;
    run_shell(&run, host_loop(state), line);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.out), getenv("HOME") ? "none none kept b home mark\n"
                                                            : "none none kept b mark\n");
    run_finish(&run);
    run_init(&run);
    run.options.keep_nesting = true;
    run_shell(&run, host_loop(state), "echo $CLAUDECODE");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.out), "1\n");
    run_finish(&run);
    assert_int_equal(unsetenv("CLAUDECODE"), 0);
}

/* They would mean the folder of a project, and whoever wrote that would choose what runs. */
static void relative_entries_of_path_find_no_program(void **state)
{
    static const char *const paths[] = {
        "PATH=.",  "PATH=.:/nowhere", "PATH=/nowhere:", "PATH=:/nowhere", "PATH=/nowhere::/nowhere",
        "PATH=./", "PATH=../acp-path"};
    char folder[] = "/tmp/acp-path-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char program[64];
    char own[64];
    (void) snprintf(program, sizeof(program), "%s/acp-here", folder);
    (void) snprintf(own, sizeof(own), "PATH=..%s", strrchr(folder, '/'));
    int fd = open(program, O_WRONLY | O_CREAT, 0700);
    assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
    assert_int_equal(close(fd), 0);
    for (size_t i = 0; i <= COUNT(paths); i++) {
        const char *env[] = {i < COUNT(paths) ? paths[i] : own, NULL};
        const char *argv[] = {"acp-here", NULL};
        struct acp_process_options options = {.argv = argv, .env = env, .cwd = folder};
        expect_failure(state, &options, ENOENT, "not in PATH");
    }
    assert_int_equal(unlink(program), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Wherever in PATH it is. */
static void a_file_that_may_not_run_says_more_than_none(void **state)
{
    static const char *const around[][2] = {
        {"", ""}, {"", ":/nowhere"}, {"/nowhere:", ""}, {"/nowhere:", ":/etc/passwd"}};
    char folder[] = "/tmp/acp-path-XXXXXX";
    char program[64];
    char path[64];
    assert_non_null(mkdtemp(folder));
    (void) snprintf(program, sizeof(program), "%s/acp-here", folder);
    int fd = open(program, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0 && close(fd) == 0);
    for (size_t i = 0; i < COUNT(around); i++) {
        (void) snprintf(path, sizeof(path), "PATH=%s%s%s", around[i][0], folder, around[i][1]);
        const char *env[] = {path, NULL};
        const char *argv[] = {"acp-here", NULL};
        expect_failure(state, &(struct acp_process_options){.argv = argv, .env = env}, EACCES,
                       "denied");
    }
    assert_int_equal(unlink(program), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void path_and_folder_are_those_of_the_child(void **state)
{
    char folder[] = "/tmp/acp-path-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char program[64];
    char path[64];
    (void) snprintf(program, sizeof(program), "%s/acp-here", folder);
    (void) snprintf(path, sizeof(path), "PATH=/nowhere:%s:/bin", folder);
    int fd = open(program, O_WRONLY | O_CREAT, 0700);
    assert_int_equal(write(fd, "#!/bin/sh\npwd\n", 14), 14);
    assert_int_equal(close(fd), 0);
    struct run run;
    run_init(&run);
    const char *env[] = {path, NULL};
    const char *argv[] = {"acp-here", NULL};
    run.options.env = env;
    run.options.cwd = folder;
    assert_int_equal(run_start(&run, host_loop(state), argv), 0);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_memory_equal(acp_buf_view(&run.out).ptr, folder, strlen(folder));
    run_finish(&run);
    assert_int_equal(unlink(program), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void a_child_inherits_no_descriptor_and_no_signal(void **state)
{
    int open_one = open("/dev/null", O_RDONLY); /* without O_CLOEXEC, as others do */
    sigset_t blocked;
    sigset_t before;
    (void) sigemptyset(&blocked);
    (void) sigaddset(&blocked, SIGUSR1);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
    struct run run;
    run_init(&run);
    run_child(&run, host_loop(state), "inside", NULL);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.out), "0 1 2 odd 0 leader 1\n");
    run_finish(&run);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(close(open_one), 0);
}

/* ---- Input, output, errors ------------------------------------------------------------------ */

static void input_is_written_and_its_end_is_seen(void **state)
{
    struct run run;
    run_init(&run);
    run_child(&run, host_loop(state), "echo", NULL);
    assert_int_equal(acp_process_write(run.process, "hello", 5), 5);
    run_await(&run, host_loop(state), "hello");
    assert_true(acp_process_is_running(run.process));
    acp_process_close_input(run.process);
    assert_int_equal(acp_process_write(run.process, "x", 1), ACP_ERR_CLOSED);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.how.code, 0);
    run_finish(&run);
}

static void an_endpoint_speaks_with_a_program(void **state)
{
    enum { TOTAL = 50 * 1000 * 1000 };
    struct run run;
    struct pair pair;
    run_init(&run);
    pair_init(&pair);
    pair.to_send = TOTAL;
    pair.count_only = true;
    pair.mark = MIB(1);
    run.options.endpoint = pair.endpoint;
    size_t before = host_resident();
    run_child(&run, host_loop(state), "echo", NULL);
    HOST_UNTIL(host_loop(state), pair.received >= TOTAL);
    assert_int_equal(pair.received, TOTAL);
    assert_true(pair.hash == pair.sent_hash);
    assert_true(host_resident() < before + MIB(16));
    acp_process_stop(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_true(run.unlinked && pair.ended);
    assert_int_equal(run.unlink_reason, 0);
    assert_int_equal(run.how.code, 0);
    assert_true(run.how.stopped);
    run_finish(&run);
    pair_finish(&pair);
}

static void a_program_that_stalls_is_waited_for(void **state)
{
    struct run run;
    struct pair pair;
    run_init(&run);
    pair_init(&pair);
    pair.to_send = MIB(4);
    run.options.endpoint = pair.endpoint;
    run.options.grace_ms = 10000;
    run_child(&run, host_loop(state), "stall", "1500");
    host_run_for(host_loop(state), 100);
    assert_true(acp_link_is_stalled(acp_process_link(run.process)));
    assert_true(pair.sent < MIB(1));
    acp_process_stop(run.process); /* what is unsent is sent before the input is closed */
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&pair.in), "4194304\n");
    assert_int_equal(run.how.code, 0);
    run_finish(&run);
    pair_finish(&pair);
}

static void who_is_slow_can_pause_a_program(void **state)
{
    struct run run;
    run_init(&run);
    run_child(&run, host_loop(state), "flood", "20000000");
    acp_process_pause(run.process, true);
    host_run_for(host_loop(state), 100);
    assert_true(run.out.len < MIB(1));
    assert_true(acp_process_is_running(run.process));
    acp_process_pause(run.process, false);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.out.len, 20000000);
    run_finish(&run);
}

static void a_flood_of_errors_is_drained_and_kept_to_a_tail(void **state)
{
    struct run run;
    run_init(&run);
    run.keep = true;
    run_child(&run, host_loop(state), "errors", "20000000");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.err.len, 20000000);
    struct acp_buf tail;
    acp_buf_init(&tail, 1 << 20);
    assert_int_equal(acp_process_error_tail(run.process, &tail), 0);
    assert_int_equal(tail.len, KIB(64));
    assert_memory_equal(acp_buf_view(&tail).ptr, acp_buf_view(&run.err).ptr + run.err.len - KIB(64),
                        KIB(64));
    acp_buf_finish(&tail);
    run_finish(&run);
}

static void errors_come_by_line(void **state)
{
    struct run run;
    run_init(&run);
    run.options.err_by_line = true;
    run_shell(&run, host_loop(state),
              "printf 'one\\ntwo\\r\\n\\nfo' >&2; sleep 0.05; printf 'ur \\303\\244 \\377' >&2");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.err), "one|two||four \xC3\xA4 \xEF\xBF\xBD|");
    run_finish(&run);
    run_init(&run);
    run.options.err_by_line = true;
    run_shell(&run, host_loop(state), "head -c 100000 /dev/zero | tr '\\0' x >&2");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.err_calls, (100000 + 8191) / 8192);
    assert_int_equal(run.err.len, 100000 + run.err_calls);
    run_finish(&run);
}

static void merged_errors_come_with_the_output(void **state)
{
    struct run run;
    run_init(&run);
    run.options.err = ACP_IO_MERGE;
    run.options.in = ACP_IO_NULL;
    run_shell(&run, host_loop(state), "echo one; echo two >&2; cat; echo three");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.out), "one\ntwo\nthree\n");
    assert_int_equal(run.err.len, 0);
    run_finish(&run);
}

/* ---- Terminals ------------------------------------------------------------------------------ */

static void a_terminal_is_one_in_every_way(void **state)
{
    struct run run;
    run_init(&run);
    run.options.in = run.options.out = run.options.err = ACP_IO_PTY;
    run.options.rows = 33;
    run.options.columns = 99;
    run_child(&run, host_loop(state), "tty", NULL);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.out), "111 33x99 controlling foreground\r\n");
    assert_int_equal(run.how.code, 0);
    run_finish(&run);
    run_init(&run);
    run.options.in = ACP_IO_NULL;
    run.options.out = ACP_IO_PTY;
    run.options.err = ACP_IO_MERGE;
    run.options.plain_terminal = true;
    run_child(&run, host_loop(state), "tty", NULL);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.out), "011 24x80 controlling foreground\n");
    run_finish(&run);
}

static void a_terminal_is_typed_on_and_resized(void **state)
{
    struct run run;
    run_init(&run);
    run.options.in = run.options.out = run.options.err = ACP_IO_PTY;
    run.options.plain_terminal = true;
    run_shell(&run, host_loop(state),
              "trap 'stty size' WINCH; echo ready; until [ \"$x\" = end ]; do read x; done");
    run_await(&run, host_loop(state), "ready\n");
    assert_int_equal(acp_process_resize(run.process, 50, 132), 0);
    /* The shell serves the signal at the latest when it has read a line. */
    assert_int_equal(acp_process_write(run.process, "a\n", 2), 2);
    run_await(&run, host_loop(state), "50 132\n");
    assert_int_equal(acp_process_write(run.process, "end\n", 4), 4);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.how.code, 0);
    run_finish(&run);
}

static void all_output_on_a_terminal_comes_before_the_exit(void **state)
{
    struct run run;
    run_init(&run);
    run.options.in = run.options.out = ACP_IO_PTY;
    run.options.err = ACP_IO_MERGE;
    run.options.plain_terminal = true;
    run_child(&run, host_loop(state), "flood", "3000000");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.out.len, 3000000);
    run_finish(&run);
}

static void a_terminal_is_stopped_without_delay(void **state)
{
    struct run run;
    run_init(&run);
    run.options.in = run.options.out = ACP_IO_PTY;
    run.options.err = ACP_IO_MERGE;
    run.options.grace_ms = 2 * HOST_LATE_MS;
    run_child(&run, host_loop(state), "wait", NULL);
    (void) run_first_line(&run, host_loop(state));
    acp_process_stop(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.how.signal, SIGTERM);
    run_finish(&run);
}

static void who_closes_its_terminal_is_not_hung_up(void **state)
{
    struct run run;
    run_init(&run);
    run.options.in = ACP_IO_NULL;
    run.options.out = ACP_IO_PTY;
    run.options.err = ACP_IO_MERGE;
    run_shell(&run, host_loop(state), "echo bye; exec >&- 2>&-; sleep 0.2; exit 7");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_string_equal(test_cstr(&run.out), "bye\r\n");
    assert_int_equal(run.how.code, 7);
    run_finish(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(output_and_code_come_back),
        host_test(what_cannot_be_started_says_which_and_why),
        host_test(a_script_without_an_interpreter_runs_in_a_shell),
        host_test(the_environment_is_ours_with_changes),
        host_test(relative_entries_of_path_find_no_program),
        host_test(a_file_that_may_not_run_says_more_than_none),
        host_test(path_and_folder_are_those_of_the_child),
        host_test(a_child_inherits_no_descriptor_and_no_signal),
        host_test(input_is_written_and_its_end_is_seen),
        host_test(an_endpoint_speaks_with_a_program),
        host_test(a_program_that_stalls_is_waited_for),
        host_test(who_is_slow_can_pause_a_program),
        host_test(a_flood_of_errors_is_drained_and_kept_to_a_tail),
        host_test(errors_come_by_line),
        host_test(merged_errors_come_with_the_output),
        host_test(a_terminal_is_one_in_every_way),
        host_test(a_terminal_is_typed_on_and_resized),
        host_test(all_output_on_a_terminal_comes_before_the_exit),
        host_test(a_terminal_is_stopped_without_delay),
        host_test(who_closes_its_terminal_is_not_hung_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
