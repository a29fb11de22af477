/* The ends of processes: stopped with all they have started, one or many, and explained. */
#define _GNU_SOURCE /* usleep */
#include "test_io_run.h"

/* ---- Ends ----------------------------------------------------------------------------------- */

static void a_crash_is_told_with_its_signal_and_last_words(void **state)
{
    struct run run;
    run_init(&run);
    run.keep = true;
    run_child(&run, host_loop(state), "crash", "11");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
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
        acp_process_describe_exit(acp_str_from("agent"), &run.how, acp_buf_view(&tail), &text), 0);
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
    run.options.grace_ms = 2 * HOST_LATE_MS;
    run_child(&run, host_loop(state), "echo", NULL);
    acp_process_stop(run.process);
    acp_process_stop(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.how.code, 0);
    assert_true(run.how.stopped);
    run_finish(&run);
}

static void who_ignores_the_end_of_input_gets_sigterm(void **state)
{
    struct run run;
    run_init(&run);
    run.options.grace_ms = 100;
    run.options.term_ms = 2 * HOST_LATE_MS;
    run_child(&run, host_loop(state), "wait", NULL);
    (void) run_first_line(&run, host_loop(state));
    uint64_t start = host_now();
    acp_process_stop(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_true(host_now() - start >= 90);
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
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_true(host_now() - start >= 140);
    assert_int_equal(run.how.signal, SIGKILL);
    assert_true(run.how.stopped);
    run_finish(&run);
}

/* Each one more is for a process that is being ended already. */
static void asking_again_puts_nothing_off(void **state)
{
    struct run run;
    run_init(&run);
    run.options.term_ms = 300;
    run_child(&run, host_loop(state), "stubborn", NULL);
    (void) run_first_line(&run, host_loop(state));
    acp_process_terminate(run.process);
    /* Far longer than that, if each began the time anew. */
    for (int i = 0; i < 200 && !run.exited; i++) {
        acp_process_terminate(run.process);
        acp_process_stop(run.process);
        host_run_for(host_loop(state), 50);
    }
    assert_true(run.exited);
    assert_int_equal(run.how.signal, SIGKILL);
    run_finish(&run);
}

/* It is not reaped yet, and something that nobody can find holds its output open. */
static void a_dead_process_takes_no_signal(void **state)
{
    struct run run;
    run_init(&run);
    run.options.drain_ms = 60000;
    run_shell(&run, host_loop(state),
              "env -i setsid sh -c 'echo $$; exec sleep 1000' & read x; exit 0");
    int left = run_first_line(&run, host_loop(state));
    acp_process_close_input(run.process);
    while (!run.exited && acp_process_signal(run.process, 0) == 0)
        host_run_for(host_loop(state), 5);
    assert_false(run.exited);
    assert_int_equal(acp_process_signal(run.process, SIGTERM), ACP_ERR_STATE);
    assert_int_equal(kill(left, SIGKILL), 0);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.how.code, 0);
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
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
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
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_false(host_is_alive(a) || host_is_alive(b));
    run_finish(&run);
    /* The root exits by itself and leaves one behind, which holds the output open. */
    run_init(&run);
    run.options.drain_ms = 20000;
    run_shell(&run, host_loop(state), "sleep 1000 & echo $! $!");
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
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
        assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
        assert_false(host_is_alive(escaped));
        run_finish(&run);
        /* The same when the root has exited before. */
        run_init(&run);
        run_child(&run, host_loop(state), "escape", "0");
        assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
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
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    run_finish(&run);
    /* Killed as the last process went; reaped as it dies. */
    siginfo_t info;
    HOST_UNTIL(host_loop(state), waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0);
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
    assert_true(host_run_until(host_loop(state), &two.exited, HOST_LATE_MS));
    host_run_for(host_loop(state), 30);
    assert_true(host_is_alive(escaped));
    acp_process_stop(one.process);
    assert_true(host_run_until(host_loop(state), &one.exited, HOST_LATE_MS));
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
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
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
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
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
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
    assert_int_equal(run.how.code, 3);
    assert_string_equal(test_cstr(&run.out), "out\n");
    run_finish(&run);
    run_init(&run);
    run.options.no_pidfd = true;
    run_child(&run, host_loop(state), "wait", NULL);
    host_run_for(host_loop(state), 20);
    acp_process_kill(run.process);
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
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
    assert_true(host_run_until(host_loop(state), &run.exited, HOST_LATE_MS));
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
        assert_true(host_run_until(host_loop(state), &runs[i].exited, HOST_LATE_MS));
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
        assert_true(host_run_until(host_loop(state), &runs[i].exited, HOST_LATE_MS));
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
    while (host_is_alive(pid))
        (void) usleep(10000); /* the alarm ends this test if it must */
    assert_false(host_is_alive(pid));
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
}

/* ---- Words ---------------------------------------------------------------------------------- */

static void describe(const struct acp_process_exit *how, const char *tail, const char *expected)
{
    struct acp_buf text;
    acp_buf_init(&text, 1 << 20);
    assert_int_equal(acp_process_describe_exit(acp_str_from("it"), how, acp_str_from(tail), &text),
                     0);
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
    assert_int_equal(
        acp_process_describe_exit(acp_str_from("it"), &how, acp_buf_view(&tail), &text), 0);
    assert_null(strstr(test_cstr(&text), "line 4989"));
    assert_non_null(strstr(test_cstr(&text), ":\nline 4990\n"));
    assert_non_null(strstr(test_cstr(&text), "line 4999"));
    /* One line that never ends. */
    acp_buf_clear(&tail);
    acp_buf_clear(&text);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(acp_buf_append(&tail, "\xE2\x82\xAC", 3), 0);
    assert_int_equal(
        acp_process_describe_exit(acp_str_from("it"), &how, acp_buf_view(&tail), &text), 0);
    assert_true(text.len > 1400 && text.len < 1700);
    assert_non_null(strstr(test_cstr(&text), ":\n\xE2\x82\xAC"));
    acp_buf_finish(&text);
    acp_buf_init(&text, 10);
    assert_int_equal(
        acp_process_describe_exit(acp_str_from("it"), &how, acp_buf_view(&tail), &text),
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
        host_test(a_crash_is_told_with_its_signal_and_last_words),
        host_test(the_end_of_input_is_enough_for_the_willing),
        host_test(who_ignores_the_end_of_input_gets_sigterm),
        host_test(who_ignores_sigterm_gets_sigkill),
        host_test(asking_again_puts_nothing_off),
        host_test(a_dead_process_takes_no_signal),
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
