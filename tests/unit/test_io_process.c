/* Processes: started, spoken to, stopped with all they have started, and explained. */
#define _GNU_SOURCE /* mkdtemp and friends */
#include "test_io_host.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "io/children.h"

/* A process and what it has told. */
struct run {
    struct acp_process *process;
    struct acp_process_options options;
    struct acp_buf out;
    struct acp_buf err;
    unsigned err_calls;
    bool exited;
    bool unlinked;
    int unlink_reason;
    bool keep; /* do not free in exited */
    struct acp_process_exit how;
    struct acp_failure failure;
};

static void on_output(struct acp_process *process, struct acp_str bytes, void *user)
{
    (void) process;
    struct run *run = user;
    assert_false(run->exited && !run->options.keep_rest);
    assert_int_equal(acp_buf_append_str(&run->out, bytes), 0);
}

static void on_errors(struct acp_process *process, struct acp_str text, void *user)
{
    (void) process;
    struct run *run = user;
    assert_false(run->exited);
    run->err_calls++;
    assert_int_equal(acp_buf_append_str(&run->err, text), 0);
    if (run->options.err_by_line)
        assert_int_equal(acp_buf_append(&run->err, "|", 1), 0);
}

static void on_unlinked(struct acp_process *process, int reason, void *user)
{
    (void) process;
    struct run *run = user;
    assert_false(run->exited || run->unlinked);
    run->unlinked = true;
    run->unlink_reason = reason;
}

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    struct run *run = user;
    assert_false(run->exited);
    run->exited = true;
    run->how = *how;
    if (!run->keep) {
        acp_process_free(process);
        run->process = NULL;
    }
}

static const struct acp_process_handler handler = {on_output, on_errors, on_unlinked, on_exited};

static void run_init(struct run *run)
{
    *run = (struct run){0};
    acp_buf_init(&run->out, 64 << 20);
    acp_buf_init(&run->err, 64 << 20);
}

static int run_start(struct run *run, uv_loop_t *loop, const char *const *argv)
{
    run->options.argv = argv;
    return acp_process_start(loop, &run->options, &handler, run, &run->process, &run->failure);
}

/* With the helper and one or two words for it. */
static void run_child(struct run *run, uv_loop_t *loop, const char *what, const char *argument)
{
    const char *argv[] = {host_child(), what, argument, NULL};
    int err = run_start(run, loop, argv);
    if (err)
        fail_msg("%s", run->failure.message);
}

static void run_shell(struct run *run, uv_loop_t *loop, const char *line)
{
    const char *argv[] = {"sh", "-c", line, NULL};
    assert_int_equal(run_start(run, loop, argv), 0);
}

static void run_finish(struct run *run)
{
    acp_process_free(run->process);
    acp_buf_finish(&run->out);
    acp_buf_finish(&run->err);
}

/* Runs the loop until the output begins with a whole line, which is a number or "ready". */
static int run_first_line(struct run *run, uv_loop_t *loop)
{
    for (int i = 0; i < 500 && !memchr(acp_buf_view(&run->out).ptr, '\n', run->out.len); i++)
        host_run_for(loop, 10);
    const char *text = test_cstr(&run->out);
    return host_number(&text);
}

/* Runs the loop until the output holds a text. */
static void run_await(struct run *run, uv_loop_t *loop, const char *text)
{
    for (int i = 0; i < 1000 && !strstr(test_cstr(&run->out), text); i++)
        host_run_for(loop, 10);
    assert_non_null(strstr(test_cstr(&run->out), text));
}

/* ---- Starting ------------------------------------------------------------------------------- */

static void output_and_code_come_back(void **state)
{
    struct run run;
    run_init(&run);
    run_shell(&run, host_loop(state), "echo out; echo err >&2; exit 7");
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_string_equal(test_cstr(&run.out), getenv("HOME") ? "none none kept b home mark\n"
                                                            : "none none kept b mark\n");
    run_finish(&run);
    run_init(&run);
    run.options.keep_nesting = true;
    run_shell(&run, host_loop(state), "echo $CLAUDECODE");
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_string_equal(test_cstr(&run.out), "1\n");
    run_finish(&run);
    assert_int_equal(unsetenv("CLAUDECODE"), 0);
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    bool never = false;
    for (int i = 0; i < 500 && pair.received < TOTAL; i++)
        (void) host_run_until(host_loop(state), &never, 100);
    assert_int_equal(pair.received, TOTAL);
    assert_true(pair.hash == pair.sent_hash);
    assert_true(host_resident() < before + MIB(16));
    acp_process_stop(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 10000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_int_equal(run.out.len, 20000000);
    run_finish(&run);
}

static void a_flood_of_errors_is_drained_and_kept_to_a_tail(void **state)
{
    struct run run;
    run_init(&run);
    run.keep = true;
    run_child(&run, host_loop(state), "errors", "20000000");
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_string_equal(test_cstr(&run.err), "one|two||four \xC3\xA4 \xEF\xBF\xBD|");
    run_finish(&run);
    run_init(&run);
    run.options.err_by_line = true;
    run_shell(&run, host_loop(state), "head -c 100000 /dev/zero | tr '\\0' x >&2");
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_string_equal(test_cstr(&run.out), "111 33x99 controlling foreground\r\n");
    assert_int_equal(run.how.code, 0);
    run_finish(&run);
    run_init(&run);
    run.options.in = ACP_IO_NULL;
    run.options.out = ACP_IO_PTY;
    run.options.err = ACP_IO_MERGE;
    run.options.plain_terminal = true;
    run_child(&run, host_loop(state), "tty", NULL);
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 10000));
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_int_equal(run.out.len, 3000000);
    run_finish(&run);
}

static void a_terminal_is_stopped_without_delay(void **state)
{
    struct run run;
    run_init(&run);
    run.options.in = run.options.out = ACP_IO_PTY;
    run.options.err = ACP_IO_MERGE;
    run_child(&run, host_loop(state), "wait", NULL);
    (void) run_first_line(&run, host_loop(state));
    uint64_t start = host_now();
    acp_process_stop(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_true(host_now() - start < 1900);
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
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_string_equal(test_cstr(&run.out), "bye\r\n");
    assert_int_equal(run.how.code, 7);
    run_finish(&run);
}

/* ---- Ends ----------------------------------------------------------------------------------- */

static void a_crash_is_told_with_its_signal_and_last_words(void **state)
{
    struct run run;
    run_init(&run);
    run.keep = true;
    run_child(&run, host_loop(state), "crash", "11");
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_int_equal(run.how.code, -1);
    assert_int_equal(run.how.signal, SIGSEGV);
    assert_string_equal(run.how.signal_name, "SIGSEGV");
    assert_false(run.how.stopped);
    struct acp_buf tail;
    struct acp_buf text;
    acp_buf_init(&tail, 1 << 20);
    acp_buf_init(&text, 1 << 20);
    assert_int_equal(acp_process_error_tail(run.process, &tail), 0);
    assert_int_equal(
        acp_process_describe_exit(acp_str("agent"), &run.how, acp_buf_view(&tail), &text), 0);
    assert_string_equal(test_cstr(&text), "agent was ended by SIGSEGV; the last it wrote to "
                                          "standard error:\nabout to crash");
    acp_buf_finish(&tail);
    acp_buf_finish(&text);
    run_finish(&run);
}

static void the_end_of_input_is_enough_for_the_willing(void **state)
{
    struct run run;
    run_init(&run);
    run_child(&run, host_loop(state), "echo", NULL);
    uint64_t start = host_now();
    acp_process_stop(run.process);
    acp_process_stop(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_true(host_now() - start < 1900);
    assert_int_equal(run.how.code, 0);
    assert_true(run.how.stopped);
    run_finish(&run);
}

static void who_ignores_the_end_of_input_gets_sigterm(void **state)
{
    struct run run;
    run_init(&run);
    run.options.grace_ms = 100;
    run_child(&run, host_loop(state), "wait", NULL);
    (void) run_first_line(&run, host_loop(state));
    uint64_t start = host_now();
    acp_process_stop(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    uint64_t took = host_now() - start;
    assert_true(took >= 90 && took < 1900);
    assert_int_equal(run.how.signal, SIGTERM);
    run_finish(&run);
}

static void who_ignores_sigterm_gets_sigkill(void **state)
{
    struct run run;
    run_init(&run);
    run.options.grace_ms = 50;
    run.options.term_ms = 100;
    run_child(&run, host_loop(state), "stubborn", NULL);
    (void) run_first_line(&run, host_loop(state));
    uint64_t start = host_now();
    acp_process_stop(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    uint64_t took = host_now() - start;
    assert_true(took >= 140 && took < 1900);
    assert_int_equal(run.how.signal, SIGKILL);
    assert_true(run.how.stopped);
    run_finish(&run);
}

static void who_is_stopped_is_woken_to_be_terminated(void **state)
{
    struct run run;
    run_init(&run);
    run_child(&run, host_loop(state), "wait", NULL);
    (void) run_first_line(&run, host_loop(state));
    assert_int_equal(acp_process_signal(run.process, SIGSTOP), 0);
    host_run_for(host_loop(state), 30);
    acp_process_terminate(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, 1000));
    assert_int_equal(run.how.signal, SIGTERM);
    run_finish(&run);
}

/* The numbers of two background processes that a shell has started. */
static void two_numbers(struct run *run, uv_loop_t *loop, int *ret_a, int *ret_b)
{
    *ret_a = *ret_b = 0;
    for (int i = 0; i < 300; i++) {
        host_run_for(loop, 10);
        const char *text = test_cstr(&run->out);
        *ret_a = host_number(&text);
        *ret_b = host_number(&text);
        if (*ret_b && *text)
            return;
    }
    fail_msg("no numbers");
}

static void a_tree_ends_with_its_root(void **state)
{
    struct run run;
    int a;
    int b;
    run_init(&run);
    run_shell(&run, host_loop(state), "sleep 1000 & echo $!; sleep 1000 & echo $!; wait");
    two_numbers(&run, host_loop(state), &a, &b);
    assert_true(host_is_alive(a) && host_is_alive(b));
    acp_process_kill(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_false(host_is_alive(a) || host_is_alive(b));
    run_finish(&run);
    /* The root exits by itself and leaves one behind, which holds the output open. */
    run_init(&run);
    run.options.drain_ms = 20000;
    run_shell(&run, host_loop(state), "sleep 1000 & echo $! $!");
    assert_true(host_run_until(host_loop(state), &run.exited, 10000));
    a = run_first_line(&run, host_loop(state));
    assert_int_equal(run.how.code, 0);
    assert_false(host_is_alive(a));
    run_finish(&run);
}

static void what_left_the_group_ends_too(void **state)
{
    for (int with_reaper = 0; with_reaper < 2; with_reaper++) {
        struct acp_reaper *reaper = NULL;
        if (with_reaper)
            assert_int_equal(acp_reaper_new(host_loop(state), &reaper), 0);
        struct run run;
        run_init(&run);
        run_child(&run, host_loop(state), "escape", "1");
        int escaped = run_first_line(&run, host_loop(state));
        assert_true(escaped > 0 && host_is_alive(escaped));
        acp_process_kill(run.process);
        assert_true(host_run_until(host_loop(state), &run.exited, 20000));
        assert_false(host_is_alive(escaped));
        run_finish(&run);
        /* The same when the root has exited before. */
        run_init(&run);
        run_child(&run, host_loop(state), "escape", "0");
        assert_true(host_run_until(host_loop(state), &run.exited, 20000));
        escaped = run_first_line(&run, host_loop(state));
        assert_true(escaped > 0);
        host_await_death(host_loop(state), escaped);
        run_finish(&run);
        acp_reaper_free(reaper);
    }
}

static void with_a_reaper_even_the_unmarked_end(void **state)
{
    struct acp_reaper *reaper;
    assert_int_equal(acp_reaper_new(host_loop(state), &reaper), 0);
    struct run run;
    run_init(&run);
    run.options.drain_ms = 100;
    run_child(&run, host_loop(state), "escape-bare", NULL);
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    run_finish(&run);
    /* Killed as the last process went; reaped as it dies. */
    siginfo_t info;
    for (int i = 0; i < 100 && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0; i++)
        host_run_for(host_loop(state), 10);
    acp_reaper_free(reaper);
}

static void an_orphan_of_one_does_not_end_with_another(void **state)
{
    struct acp_reaper *reaper;
    assert_int_equal(acp_reaper_new(host_loop(state), &reaper), 0);
    struct run one;
    struct run two;
    run_init(&one);
    run_init(&two);
    run_child(&one, host_loop(state), "escape", "1");
    int escaped = run_first_line(&one, host_loop(state));
    run_child(&two, host_loop(state), "status", "0");
    assert_true(host_run_until(host_loop(state), &two.exited, 20000));
    host_run_for(host_loop(state), 30);
    assert_true(host_is_alive(escaped));
    acp_process_stop(one.process);
    assert_true(host_run_until(host_loop(state), &one.exited, 10000));
    assert_false(host_is_alive(escaped));
    run_finish(&one);
    run_finish(&two);
    acp_reaper_free(reaper);
}

static void what_is_left_may_be_kept_until_the_end(void **state)
{
    struct run run;
    run_init(&run);
    run.keep = true;
    run.options.keep_rest = true;
    run.options.drain_ms = 50;
    run_shell(&run, host_loop(state), "(sleep 0.3; echo later; sleep 1000) & echo $!");
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    int rest = run_first_line(&run, host_loop(state));
    assert_true(host_is_alive(rest));
    assert_false(acp_process_is_running(run.process));
    run_await(&run, host_loop(state), "later\n");
    acp_process_terminate(run.process);
    host_await_death(host_loop(state), rest);
    run_finish(&run);
    /* Freed instead of stopped. */
    run_init(&run);
    run.keep = true;
    run.options.keep_rest = true;
    run.options.drain_ms = 50;
    run_shell(&run, host_loop(state), "sleep 1000 & echo $!");
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    rest = run_first_line(&run, host_loop(state));
    assert_true(host_is_alive(rest));
    acp_process_free(run.process);
    run.process = NULL;
    host_await_death(host_loop(state), rest);
    run_finish(&run);
}

static void a_process_may_be_freed_at_any_time(void **state)
{
    struct run run;
    for (int ms = 0; ms < 20; ms += 4) {
        run_init(&run);
        run_shell(&run, host_loop(state), "echo a; echo b >&2; sleep 0.005; exec sleep 1000");
        int pid = acp_process_pid(run.process);
        assert_string_equal(acp_process_program(run.process), "sh");
        host_run_for(host_loop(state), (uint64_t) ms);
        acp_process_free(run.process);
        run.process = NULL;
        host_await_death(host_loop(state), pid);
        assert_false(run.exited);
        run_finish(&run);
    }
    acp_process_free(NULL);
}

static void without_pidfds_it_is_the_same(void **state)
{
    struct run run;
    run_init(&run);
    run.options.no_pidfd = true;
    run_shell(&run, host_loop(state), "echo out; exit 3");
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_int_equal(run.how.code, 3);
    assert_string_equal(test_cstr(&run.out), "out\n");
    run_finish(&run);
    run_init(&run);
    run.options.no_pidfd = true;
    run_child(&run, host_loop(state), "wait", NULL);
    host_run_for(host_loop(state), 20);
    acp_process_kill(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_int_equal(run.how.signal, SIGKILL);
    run_finish(&run);
}

static void a_child_that_somebody_else_reaps_is_over(void **state)
{
    struct run run;
    run_init(&run);
    run_child(&run, host_loop(state), "status", "5");
    int code = 0;
    assert_int_equal(waitpid(acp_process_pid(run.process), &code, 0), acp_process_pid(run.process));
    assert_true(host_run_until(host_loop(state), &run.exited, 20000));
    assert_int_equal(run.how.code, -1);
    assert_int_equal(run.how.signal, 0);
    run_finish(&run);
}

/* ---- Many ----------------------------------------------------------------------------------- */

static void start_and_stop_many(void **state)
{
    enum { MANY = 200 };
    static struct run runs[MANY];
    uint64_t start = uv_hrtime();
    for (int i = 0; i < MANY; i++) {
        run_init(&runs[i]);
        runs[i].options.grace_ms = runs[i].options.term_ms = 60000; /* machines are busy */
        run_child(&runs[i], host_loop(state), i % 2 ? "echo" : "wait", NULL);
    }
    printf("# start of a process: %.2f ms\n", (double) (uv_hrtime() - start) / 1e6 / MANY);
    assert_int_equal(acp_process_count(), MANY);
    start = uv_hrtime();
    for (int i = 0; i < MANY; i++) {
        if (i % 2)
            acp_process_stop(runs[i].process);
        else
            acp_process_terminate(runs[i].process);
    }
    for (int i = 0; i < MANY; i++)
        assert_true(host_run_until(host_loop(state), &runs[i].exited, 60000));
    printf("# stop of a process: %.2f ms\n", (double) (uv_hrtime() - start) / 1e6 / MANY);
    for (int i = 0; i < MANY; i++) {
        /* The quick ones may be gone before they have set up anything. */
        assert_true(i % 2 ? runs[i].how.code == 0 : runs[i].how.signal == SIGTERM);
        run_finish(&runs[i]);
    }
}

static void two_hundred_are_started_and_stopped(void **state)
{
    start_and_stop_many(state);
}

static void two_hundred_with_a_reaper(void **state)
{
    struct acp_reaper *reaper;
    assert_int_equal(acp_reaper_new(host_loop(state), &reaper), 0);
    start_and_stop_many(state);
    acp_reaper_free(reaper);
}

static void all_groups_end_at_once(void **state)
{
    enum { SOME = 80 };
    static struct run runs[SOME];
    for (int i = 0; i < SOME; i++) {
        run_init(&runs[i]);
        run_child(&runs[i], host_loop(state), "stubborn", NULL);
    }
    acp_process_kill_all();
    for (int i = 0; i < SOME; i++) {
        assert_true(host_run_until(host_loop(state), &runs[i].exited, 60000));
        assert_int_equal(runs[i].how.signal, SIGKILL);
        assert_false(runs[i].how.stopped);
        run_finish(&runs[i]);
    }
}

/* Our own death: a fork of this test starts one and is killed. */
static void a_process_does_not_survive_us(void **state)
{
    (void) state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t middle = fork();
    if (middle == 0) {
        uv_loop_t loop;
        struct run run;
        (void) uv_loop_init(&loop);
        run_init(&run);
        run_child(&run, &loop, "stubborn", NULL);
        int pid = acp_process_pid(run.process);
        if (write(ends[1], &pid, sizeof(pid)) < 0)
            _exit(1);
        for (;;)
            (void) pause();
    }
    int pid = 0;
    assert_int_equal(read(ends[0], &pid, sizeof(pid)), sizeof(pid));
    assert_true(host_is_alive(pid));
    assert_int_equal(kill(middle, SIGKILL), 0);
    assert_int_equal(waitpid(middle, NULL, 0), middle);
    for (int i = 0; i < 200 && host_is_alive(pid); i++)
        (void) usleep(10000);
    assert_false(host_is_alive(pid));
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
}

/* ---- Words ---------------------------------------------------------------------------------- */

static void describe(const struct acp_process_exit *how, const char *tail, const char *expected)
{
    struct acp_buf text;
    acp_buf_init(&text, 1 << 20);
    assert_int_equal(acp_process_describe_exit(acp_str("it"), how, acp_str(tail), &text), 0);
    assert_string_equal(test_cstr(&text), expected);
    acp_buf_finish(&text);
}

static void ends_are_described(void **state)
{
    (void) state;
    describe(&(struct acp_process_exit){.code = 1}, "", "it exited with code 1");
    describe(&(struct acp_process_exit){.code = -1, .signal = SIGKILL, .stopped = true}, NULL,
             "it was stopped by SIGKILL");
    describe(&(struct acp_process_exit){.code = -1, .signal = 60}, " \n",
             "it was ended by signal 60");
    describe(NULL, NULL, "it ended");
    describe(&(struct acp_process_exit){.code = 2}, "\x1b[31mred\x1b[0m\a\n\x1b(Bplain\r\n",
             "it exited with code 2; the last it wrote to standard error:\nred\nBplain");
    struct acp_buf tail;
    struct acp_buf text;
    acp_buf_init(&tail, 1 << 20);
    acp_buf_init(&text, 1 << 20);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(acp_buf_printf(&tail, "line %d\n", i), 0);
    struct acp_process_exit how = {.code = 0};
    assert_int_equal(acp_process_describe_exit(acp_str("it"), &how, acp_buf_view(&tail), &text), 0);
    assert_null(strstr(test_cstr(&text), "line 4989"));
    assert_non_null(strstr(test_cstr(&text), ":\nline 4990\n"));
    assert_non_null(strstr(test_cstr(&text), "line 4999"));
    /* One line that never ends. */
    acp_buf_clear(&tail);
    acp_buf_clear(&text);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(acp_buf_append(&tail, "\xE2\x82\xAC", 3), 0);
    assert_int_equal(acp_process_describe_exit(acp_str("it"), &how, acp_buf_view(&tail), &text), 0);
    assert_true(text.len > 1400 && text.len < 1700);
    assert_non_null(strstr(test_cstr(&text), ":\n\xE2\x82\xAC"));
    acp_buf_finish(&text);
    acp_buf_init(&text, 10);
    assert_int_equal(acp_process_describe_exit(acp_str("it"), &how, acp_buf_view(&tail), &text),
                     ACP_ERR_LIMIT);
    assert_int_equal(text.len, 0);
    acp_buf_finish(&tail);
    acp_buf_finish(&text);
    assert_string_equal(acp_signal_name(15), "SIGTERM");
    assert_null(acp_signal_name(0));
    assert_string_equal(acp_io_err_text(ACP_ERR_LIMIT), acp_err_text(ACP_ERR_LIMIT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(output_and_code_come_back),
        host_test(what_cannot_be_started_says_which_and_why),
        host_test(a_script_without_an_interpreter_runs_in_a_shell),
        host_test(the_environment_is_ours_with_changes),
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
        host_test(a_crash_is_told_with_its_signal_and_last_words),
        host_test(the_end_of_input_is_enough_for_the_willing),
        host_test(who_ignores_the_end_of_input_gets_sigterm),
        host_test(who_ignores_sigterm_gets_sigkill),
        host_test(who_is_stopped_is_woken_to_be_terminated),
        host_test(a_tree_ends_with_its_root),
        host_test(what_left_the_group_ends_too),
        host_test(with_a_reaper_even_the_unmarked_end),
        host_test(an_orphan_of_one_does_not_end_with_another),
        host_test(what_is_left_may_be_kept_until_the_end),
        host_test(a_process_may_be_freed_at_any_time),
        host_test(without_pidfds_it_is_the_same),
        host_test(a_child_that_somebody_else_reaps_is_over),
        host_test(two_hundred_are_started_and_stopped),
        host_test(two_hundred_with_a_reaper),
        host_test(all_groups_end_at_once),
        host_test(a_process_does_not_survive_us),
        host_test(ends_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
