/* The life of a job: its result, exactly one, in every place and however it ends. */
#define _GNU_SOURCE /* memmem */
#include "test_job_host.h"

/* ---- Ends that the command chooses ---------------------------------------------------------- */

static void a_command_runs_and_its_result_comes_once(void **state)
{
    struct world *w = *state;
    struct acp_str args[] = {ACP_STR("-c"), ACP_STR("echo $WORD in `pwd`; echo 2 >&2; exit 3")};
    struct acp_str_entry env[] = {{ACP_STR("WORD"), ACP_STR("hello")}};
    struct acp_job_options options = world_line(w, "sh");
    options.args = (struct acp_str_list){args, 2};
    options.env = (struct acp_str_map){env, 1};
    world_run(w, &options);
    assert_int_equal(w->told.end, ACP_JOB_EXITED);
    assert_true(w->told.has_code);
    assert_int_equal(w->told.code, 3);
    assert_string_equal(w->told.signal, "");
    assert_string_equal(w->told.message, "");
    assert_string_equal(test_cstr(&w->told.output), "hello in /tmp\n2\n");
    assert_false(w->told.truncated);
    world_run_for(w, 50);
    assert_int_equal(w->told.count, 1);
}

static void a_line_goes_to_a_shell(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "echo one two | tr a-z A-Z");
    world_run(w, &options);
    assert_string_equal(test_cstr(&w->told.output), "ONE TWO\n");
}

static void a_signal_that_is_not_ours_is_an_exit(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "kill -USR1 $$");
    world_run(w, &options);
    assert_int_equal(w->told.end, ACP_JOB_EXITED);
    assert_false(w->told.has_code);
    assert_string_equal(w->told.signal, "SIGUSR1");
}

static void what_is_not_there_is_not_started(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "/nowhere/at-all");
    world_run(w, &options);
    assert_int_equal(w->told.end, ACP_JOB_NOT_STARTED);
    assert_non_null(strstr(w->told.message, "/nowhere/at-all"));
    assert_false(w->told.has_code);
    assert_int_equal(w->told.output.len, 0);
    options.command = acp_str_from("true");
    world_run(w, &options);
    assert_int_equal(w->told.end, ACP_JOB_EXITED);
}

static void many_that_exit_at_once_have_a_result_each(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "true");
    enum { MANY = 20 };
    for (int i = 0; i < MANY; i++)
        assert_int_equal(acp_turn_run_command(w->turn, w->jobs, &options, world_on_result, w, NULL),
                         0);
    UNTIL(w, w->told.count == MANY);
    world_run_for(w, 50);
    assert_int_equal(w->told.count, MANY);
}

static void more_than_there_may_be_are_not_started(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    enum { MOST = 2 };
    for (int i = 0; i <= MOST; i++)
        assert_int_equal(acp_turn_run_command(w->turn, w->jobs, &options, world_on_result, w, NULL),
                         0);
    UNTIL(w, w->told.count);
    assert_int_equal(w->told.end, ACP_JOB_NOT_STARTED);
    assert_non_null(strstr(w->told.message, "release some"));
}

/* ---- What is left behind -------------------------------------------------------------------- */

static void what_is_left_in_the_background_ends_too(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300 & echo $!");
    world_run(w, &options);
    assert_int_equal(w->told.end, ACP_JOB_EXITED);
    UNTIL(w, !host_is_alive(world_printed_number(w)));
}

static void only_the_end_of_the_output_is_kept(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "printf 'aaaaaaaaaaaa\\303\\251bcd'");
    options.output_byte_limit = 4;
    world_run(w, &options);
    assert_string_equal(test_cstr(&w->told.output), "bcd"); /* not half an e with its accent */
    assert_true(w->told.truncated);
}

/* ---- Ends that we choose -------------------------------------------------------------------- */

static void a_command_that_takes_too_long_is_ended(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "echo $$; sleep 300; echo late");
    options.timeout_ms = 1000; /* enough for the first words also where much else runs */
    world_run(w, &options);
    assert_int_equal(w->told.end, ACP_JOB_TIMED_OUT);
    assert_non_null(strstr(w->told.message, "1000 ms"));
    assert_string_equal(w->told.signal, "SIGTERM");
    assert_null(strstr(test_cstr(&w->told.output), "late"));
    assert_false(host_is_alive(world_printed_number(w)));
}

static void who_ignores_sigterm_is_killed(void **state)
{
    struct world *w = *state;
    struct acp_job_options options =
        world_line(w, "trap '' TERM; echo $$; while :; do sleep 0.1; done");
    options.timeout_ms = 1000;
    world_run(w, &options);
    assert_int_equal(w->told.end, ACP_JOB_TIMED_OUT);
    assert_string_equal(w->told.signal, "SIGKILL");
    assert_false(host_is_alive(world_printed_number(w)));
}

static void a_job_can_be_killed(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    struct acp_job *job = world_start(w, &options);
    world_run_for(w, 50);
    assert_true(acp_job_is_running(job));
    acp_job_kill(job);
    acp_job_kill(job);
    UNTIL(w, w->told.count);
    assert_int_equal(w->told.end, ACP_JOB_KILLED);
}

static void a_cancelled_turn_ends_its_commands_before_it_ends(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "echo $$; sleep 300");
    w->ends_turn = true;
    (void) world_start(w, &options);
    world_run_for(w, 100);
    assert_int_equal(acp_client_cancel(w->session), 0);
    UNTIL(w, w->ends);
    assert_true(w->cancelled);
    assert_int_equal(w->told.count, 1);
    assert_int_equal(w->told.end, ACP_JOB_CANCELLED);
    assert_false(host_is_alive(world_printed_number(w)));
    world_prompt(w); /* and the session goes on */
    w->ends_turn = false;
    options.command = acp_str_from("echo again");
    world_run(w, &options);
    assert_string_equal(test_cstr(&w->told.output), "again\n");
}

static void nothing_is_started_in_a_cancelled_turn(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "true");
    assert_int_equal(acp_client_cancel(w->session), 0);
    UNTIL(w, w->cancelled);
    assert_int_equal(acp_turn_run_command(w->turn, w->jobs, &options, world_on_result, w, NULL),
                     ACP_ERR_CANCELLED);
    assert_int_equal(w->told.count, 0);
}

static void a_turn_that_ends_takes_its_commands_along(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "echo $$ > /tmp/acp-job-$PPID; exec sleep 300");
    char path[64];
    int pid = 0;
    (void) snprintf(path, sizeof(path), "/tmp/acp-job-%d", (int) getpid());
    (void) world_start(w, &options);
    world_run_for(w, 150);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(unlink(path), 0);
    assert_true(host_is_alive(pid));
    world_end_turn(w);
    assert_int_equal(w->told.count, 1); /* inside of it */
    assert_int_equal(w->told.end, ACP_JOB_CANCELLED);
    UNTIL(w, !host_is_alive(pid));
    UNTIL(w, w->ends == 1);
    assert_int_equal(w->told.count, 1);
}

static void a_result_may_end_the_turn_that_is_ending(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    struct acp_turn *turn = w->turn;
    w->ends_turn = true;
    (void) world_start(w, &options);
    world_run_for(w, 50);
    assert_int_equal(acp_turn_end(turn, ACP_STOP_END_TURN), 0); /* w->turn is ended in it */
    UNTIL(w, w->ends);
    world_run_for(w, 20);
    assert_int_equal(w->ends, 1);
    assert_int_equal(w->told.count, 1);
}

static void a_session_that_ends_takes_all_along(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    (void) world_start(w, &options);
    options.background = true;
    (void) world_start(w, &options);
    options.command = acp_str_from("true");
    (void) world_start(w, &options);
    UNTIL(w, w->told.count == 1); /* the last one, which stays to be read */
    assert_int_equal(acp_client_close_session(w->session, world_on_done, w), 0);
    UNTIL(w, w->told.count == 3);
    assert_int_equal(w->told.end, ACP_JOB_CANCELLED);
    UNTIL(w, acp_process_count() == 0);
}

static void a_client_that_goes_takes_all_along(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    (void) world_start(w, &options);
    world_run_for(w, 50);
    acp_agent_close(w->agent, ACP_ERR_CLOSED);
    assert_int_equal(w->told.count, 1);
    assert_true(w->told.end == ACP_JOB_CANCELLED || w->told.end == ACP_JOB_LOST);
    w->turn = NULL;
}

static void the_agent_may_be_freed_before_its_jobs(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    (void) world_start(w, &options);
    world_run_for(w, 50);
    acp_agent_free(w->agent);
    w->agent = NULL;
    assert_int_equal(w->told.count, 1);
}

static void jobs_that_are_freed_have_no_result(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    (void) world_start(w, &options);
    world_run_for(w, 50);
    acp_jobs_free(w->jobs);
    w->jobs = NULL;
    for (int i = 0; i < 50; i++)
        world_step(w);
    assert_int_equal(w->told.count, 0);
    world_end_turn(w); /* which nobody watches any more */
}

static void free_everything(struct acp_job *job, const struct acp_job_result *result, void *user)
{
    struct world *w = user;
    (void) result;
    w->told.count++;
    acp_job_free(job);
    acp_jobs_free(w->jobs);
    w->jobs = NULL;
}

static void a_result_may_free_everything(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "true");
    options.background = true;
    assert_int_equal(acp_turn_run_command(w->turn, w->jobs, &options, free_everything, w, NULL), 0);
    options.command = acp_str_from("sleep 300");
    assert_int_equal(acp_turn_run_command(w->turn, w->jobs, &options, free_everything, w, NULL), 0);
    UNTIL(w, w->told.count);
    world_run_for(w, 50);
    assert_int_equal(w->told.count, 1);
}

/* ---- The background ------------------------------------------------------------------------- */

struct seen {
    int count;
    int err;
    char text[64];
    bool running;
    bool truncated;
};

static void on_read(struct acp_job *job, const struct acp_job_output *output, void *user)
{
    struct seen *seen = user;
    (void) job;
    seen->count++;
    seen->err = output->err;
    seen->running = output->running;
    seen->truncated = output->truncated;
    (void) snprintf(seen->text, sizeof(seen->text), "%.*s", (int) output->text.len,
                    output->text.ptr ? output->text.ptr : "");
}

static void read_job(struct world *w, struct acp_job *job, struct seen *seen)
{
    int before = seen->count;
    assert_int_equal(acp_job_read(job, on_read, seen), 0);
    UNTIL(w, seen->count == before + 1);
}

static void a_command_in_the_background_outlives_its_turn(void **state)
{
    struct world *w = *state;
    struct seen seen = {0};
    char go[64];
    char line[128];
    (void) snprintf(go, sizeof(go), "/tmp/acp-job-go-%d", (int) getpid());
    (void) snprintf(line, sizeof(line), "echo one; until [ -e %s ]; do sleep 0.02; done; echo two",
                    go);
    struct acp_job_options options = world_line(w, line);
    options.background = true;
    struct acp_job *job = world_start(w, &options);
    UNTIL(w, acp_job_read(job, on_read, &seen) == 0); /* once the client has started it */
    assert_int_equal(acp_client_cancel(w->session), 0);
    UNTIL(w, w->cancelled);
    world_end_turn(w);
    UNTIL(w, w->ends);
    do {
        world_step(w);
        read_job(w, job, &seen);
    } while (!seen.text[0]);
    assert_string_equal(seen.text, "one\n");
    assert_true(seen.running);
    assert_int_equal(w->told.count, 0);
    FILE *file = fopen(go, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    UNTIL(w, w->told.count); /* between turns */
    assert_int_equal(unlink(go), 0);
    assert_int_equal(w->told.end, ACP_JOB_EXITED);
    assert_false(acp_job_is_running(job));
    read_job(w, job, &seen);
    assert_string_equal(seen.text, "one\ntwo\n");
    assert_false(seen.running);
    acp_job_kill(job); /* too late, without effect */
    acp_job_free(job);
    world_run_for(w, 20);
    assert_int_equal(w->told.count, 1);
}

static void a_command_in_the_background_is_freed_while_it_runs(void **state)
{
    struct world *w = *state;
    struct seen seen = {0};
    struct acp_job_options options = world_line(w, "sleep 300");
    options.background = true;
    struct acp_job *job = world_start(w, &options);
    UNTIL(w, acp_job_read(job, on_read, &seen) == 0);
    int before = seen.count;
    int err = acp_job_read(job, on_read, &seen);
    assert_int_equal(err, 0);
    acp_job_free(job);
    world_run_for(w, 50);
    assert_int_equal(w->told.count, 0);
    assert_true(seen.count <= before + 1);
    UNTIL(w, acp_process_count() == 0);
}

/* ---- Misuse --------------------------------------------------------------------------------- */

static void what_makes_no_sense_is_refused(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "");
    assert_int_equal(acp_turn_run_command(w->turn, w->jobs, &options, NULL, NULL, NULL),
                     ACP_ERR_ARGUMENT);
    options.command = acp_str_from("true");
    options.cwd = acp_str_from("not/absolute");
    assert_int_equal(acp_turn_run_command(w->turn, w->jobs, &options, NULL, NULL, NULL),
                     ACP_ERR_ARGUMENT);
    struct acp_jobs *second;
    assert_int_equal(acp_jobs_new(w->loop, w->agent, NULL, &second), ACP_ERR_STATE);
    options.cwd = acp_str_from(NULL);
    assert_int_equal(acp_turn_run_command(w->turn, w->jobs, &options, NULL, NULL, NULL), 0);
    world_run_for(w, 100); /* nobody wants to know */
    acp_jobs_free(NULL);
    acp_job_free(NULL);
}

int main(void)
{
    static struct variant with_terminals = {.kind = WITH_TERMINALS};
    static struct variant with_text = {.kind = WITH_TEXT};
    static struct variant with_stream = {.kind = WITH_STREAM};
    static struct variant few[] = {
        {.kind = WITH_TEXT, .options = {.terminals = {.max_per_session = 2}}},
        {.kind = WITH_STREAM, .options = {.terminals = {.max_per_session = 2}}},
    };
    const struct CMUnitTest tests[] = {
        EACH_KIND(a_command_runs_and_its_result_comes_once),
        EACH_KIND(a_line_goes_to_a_shell),
        EACH_KIND(a_signal_that_is_not_ours_is_an_exit),
        EACH_KIND(what_is_not_there_is_not_started),
        EACH_KIND(many_that_exit_at_once_have_a_result_each),
        WORLD_TEST("too many (text)", more_than_there_may_be_are_not_started, few[0]),
        WORLD_TEST("too many (stream)", more_than_there_may_be_are_not_started, few[1]),
        EACH_KIND(what_is_left_in_the_background_ends_too),
        EACH_KIND(only_the_end_of_the_output_is_kept),
        EACH_KIND(a_command_that_takes_too_long_is_ended),
        EACH_KIND(who_ignores_sigterm_is_killed),
        EACH_KIND(a_job_can_be_killed),
        EACH_KIND(a_cancelled_turn_ends_its_commands_before_it_ends),
        EACH_KIND(nothing_is_started_in_a_cancelled_turn),
        EACH_KIND(a_turn_that_ends_takes_its_commands_along),
        EACH_KIND(a_result_may_end_the_turn_that_is_ending),
        EACH_KIND(a_session_that_ends_takes_all_along),
        EACH_KIND(a_client_that_goes_takes_all_along),
        EACH_KIND(the_agent_may_be_freed_before_its_jobs),
        EACH_KIND(jobs_that_are_freed_have_no_result),
        EACH_KIND(a_result_may_free_everything),
        EACH_KIND(a_command_in_the_background_outlives_its_turn),
        EACH_KIND(a_command_in_the_background_is_freed_while_it_runs),
        EACH_KIND(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
