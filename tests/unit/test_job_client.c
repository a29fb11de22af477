/*
 * Jobs in the terminals of a version 1 client: the requests, step by step, when each of them is
 * refused or never answered, and when the turn ends between any two.  Whatever happens, there is
 * one result, and every terminal is released.
 */
#define _GNU_SOURCE /* memmem */
#include "test_job_host.h"

/* No terminal and no process is left at the client. */
static void assert_all_released(struct world *w)
{
    world_step(w);
    assert_int_equal(world_count(w, "\"terminal/release\""), world_count(w, "\"terminal/create\""));
    UNTIL(w, acp_process_count() == 0);
}

static void the_requests_come_in_their_order(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "echo one two");
    world_run(w, &options);
    UNTIL(w, world_said(w, "terminal/release"));
    /* The terminal is on the tool call before it is released: V1-TOOL-10. */
    static const char *const order[] = {
        "\"terminal/create\"", "\"type\":\"terminal\"", "\"terminal/wait_for_exit\"",
        "\"terminal/output\"", "\"terminal/release\"",
    };
    const char *at = test_cstr(&w->log);
    for (size_t i = 0; i < COUNT(order); i++) {
        at = strstr(at, order[i]);
        assert_non_null(at);
        assert_int_equal(world_count(w, order[i]), 1);
    }
    assert_true(world_said(w, "\"command\":\"/bin/sh\",\"args\":[\"-c\",\"echo one two\"]"));
    assert_true(world_said(w, "\"cwd\":\"/tmp\""));
    assert_true(world_said(w, "\"outputByteLimit\":1048576"));
    assert_false(world_said(w, "terminal/kill"));
}

static void a_timeout_is_made_of_kill_wait_output_release(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "echo early; sleep 300");
    options.timeout_ms = 1000; /* enough for the first words also where much else runs */
    world_run(w, &options);
    assert_int_equal(w->told.end, ACP_JOB_TIMED_OUT);
    assert_string_equal(test_cstr(&w->told.output), "early\n");
    assert_int_equal(world_count(w, "\"terminal/kill\""), 1);
    assert_all_released(w);
}

static void one_that_shall_be_ours_is_not_asked_of_the_client(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "echo ours");
    options.own = true;
    world_run(w, &options);
    assert_int_equal(w->told.end, ACP_JOB_EXITED);
    assert_non_null(strstr(test_cstr(&w->told.output), "ours"));
    assert_false(world_said(w, "terminal/create"));
    assert_all_released(w);
}

/* ---- What is refused ------------------------------------------------------------------------ */

static void refuse(struct world *w, const char *method, const char *line)
{
    struct acp_job_options options = world_line(w, line);
    options.timeout_ms = 150;
    w->refuses = method;
    world_run(w, &options);
    w->refuses = NULL;
    world_run_for(w, 30);
    assert_int_equal(w->told.count, 1);
}

static void a_refused_create_is_a_command_not_started(void **state)
{
    struct world *w = *state;
    refuse(w, "terminal/create", "true");
    assert_int_equal(w->told.end, ACP_JOB_NOT_STARTED);
    assert_non_null(strstr(w->told.message, "not today"));
    assert_false(world_said(w, "terminal/release"));
}

static void a_long_reason_is_cut_at_a_character(void **state)
{
    struct world *w = *state;
    static char reason[601];
    for (size_t i = 0; i < 600; i += 2)
        memcpy(reason + i, "\303\251", 2);
    w->reason = reason;
    refuse(w, "terminal/create", "true");
    size_t len = strlen(w->told.message);
    assert_true(len > 200 && len < sizeof(w->told.message));
    assert_memory_equal(w->told.message + len - 2, "\303\251", 2);
}

static void a_refused_wait_loses_the_command_but_not_its_output(void **state)
{
    struct world *w = *state;
    refuse(w, "terminal/wait_for_exit", "echo seen; sleep 300");
    assert_int_equal(w->told.end, ACP_JOB_LOST);
    assert_non_null(strstr(w->told.message, "not today"));
    assert_all_released(w);
}

static void a_refused_output_leaves_the_exit_code(void **state)
{
    struct world *w = *state;
    refuse(w, "terminal/output", "exit 7");
    assert_int_equal(w->told.end, ACP_JOB_EXITED);
    assert_int_equal(w->told.code, 7);
    assert_int_equal(w->told.output.len, 0);
    assert_non_null(strstr(w->told.message, "not today"));
    assert_all_released(w);
}

static void a_refused_kill_ends_with_the_release(void **state)
{
    struct world *w = *state;
    refuse(w, "terminal/kill", "sleep 300");
    assert_int_equal(w->told.end, ACP_JOB_TIMED_OUT);
    assert_all_released(w);
}

static void a_refused_release_changes_nothing(void **state)
{
    struct world *w = *state;
    refuse(w, "terminal/release", "exit 1");
    assert_int_equal(w->told.end, ACP_JOB_EXITED);
    assert_int_equal(w->told.code, 1);
}

/* ---- What is never answered ----------------------------------------------------------------- */

static void a_client_that_does_not_answer_is_not_waited_for(void **state)
{
    static const char *const methods[] = {"terminal/wait_for_exit", "terminal/kill",
                                          "terminal/output", "terminal/release"};
    struct world *w = *state;
    for (size_t i = 0; i < COUNT(methods); i++) {
        struct acp_job_options options = world_line(w, "sleep 300");
        options.timeout_ms = 50;
        w->ignores = methods[i];
        world_run(w, &options);
        assert_int_equal(w->told.end, ACP_JOB_TIMED_OUT);
        world_step(w);
        assert_int_equal(world_count(w, "\"terminal/release\""), i + 1);
    }
}

static void a_create_that_is_not_answered_can_be_killed(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "true");
    w->ignores = "terminal/create";
    struct acp_job *job = world_start(w, &options);
    UNTIL(w, world_said(w, "terminal/create"));
    assert_int_equal(acp_job_read(job, NULL, NULL), ACP_ERR_STATE);
    acp_job_kill(job);
    UNTIL(w, w->told.count);
    assert_int_equal(w->told.end, ACP_JOB_KILLED);
    UNTIL(w, world_said(w, "$/cancel_request"));
}

/* ---- Cancelling between any two steps ------------------------------------------------------- */

/* Holds the client's answers back once the agent has sent this, and cancels then. */
static void cancel_after(struct world *w, const char *method, const char *line)
{
    struct acp_job_options options = world_line(w, line);
    w->ends_turn = true;
    (void) world_start(w, &options);
    while (!world_said(w, method))
        world_step(w);
    assert_int_equal(acp_client_cancel(w->session), 0);
    UNTIL(w, w->ends);
    assert_int_equal(w->told.count, 1);
    world_run_for(w, 30);
    assert_int_equal(w->told.count, 1);
    assert_all_released(w);
}

static void cancelled_while_it_is_created(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    w->ends_turn = true;
    (void) world_start(w, &options);
    assert_int_equal(acp_client_cancel(w->session), 0);
    assert_true(world_move(w, w->c, w->a)); /* the cancel arrives before the client has read */
    while (!w->told.count)
        (void) uv_run(w->loop, UV_RUN_ONCE);
    assert_int_equal(w->told.end, ACP_JOB_CANCELLED);
    UNTIL(w, w->ends);
    world_run_for(w, 100); /* the terminal that came all the same is released */
    assert_int_equal(world_count(w, "terminal/create"), 1);
    assert_all_released(w);
}

static void cancelled_when_the_client_has_created_it(void **state)
{
    cancel_after(*state, "terminal/create", "sleep 300");
    assert_int_equal(((struct world *) *state)->told.end, ACP_JOB_CANCELLED);
}

static void cancelled_while_it_runs(void **state)
{
    cancel_after(*state, "terminal/wait_for_exit", "sleep 300");
    assert_int_equal(((struct world *) *state)->told.end, ACP_JOB_CANCELLED);
}

static void cancelled_while_its_output_is_read(void **state)
{
    cancel_after(*state, "terminal/output", "exit 4");
    /* It had exited before. */
    assert_int_equal(((struct world *) *state)->told.end, ACP_JOB_EXITED);
    assert_int_equal(((struct world *) *state)->told.code, 4);
}

static void cancelled_while_it_is_killed_for_its_time(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "trap '' TERM; while :; do sleep 0.1; done");
    options.timeout_ms = 100;
    w->ends_turn = true;
    (void) world_start(w, &options);
    UNTIL(w, world_said(w, "terminal/kill"));
    assert_int_equal(acp_client_cancel(w->session), 0);
    UNTIL(w, w->ends);
    assert_int_equal(w->told.end, ACP_JOB_TIMED_OUT);
    assert_all_released(w);
}

/* ---- The turn ends between any two steps ---------------------------------------------------- */

static void the_turn_ends_at_each_step(void **state)
{
    static const char *const methods[] = {"\"terminal/create\"", "\"terminal/wait_for_exit\"",
                                          "\"terminal/output\""};
    struct world *w = *state;
    for (size_t i = 0; i < COUNT(methods); i++) {
        struct acp_job_options options = world_line(w, i == 2 ? "true" : "sleep 300");
        (void) world_start(w, &options);
        size_t before = world_count(w, methods[i]);
        UNTIL(w, world_count(w, methods[i]) > before);
        world_end_turn(w);
        assert_int_equal(w->told.count, 1);
        assert_int_equal(w->told.end, i == 2 ? ACP_JOB_EXITED : ACP_JOB_CANCELLED);
        world_run_for(w, 30);
        assert_int_equal(w->told.count, 1);
        assert_all_released(w);
        world_prompt(w);
    }
}

/* ---- Reads ---------------------------------------------------------------------------------- */

static void count_read(struct acp_job *job, const struct acp_job_output *output, void *user)
{
    (void) job;
    (void) output;
    ++*(int *) user;
}

static void reads_that_wait_are_answered_by_the_end(void **state)
{
    struct world *w = *state;
    int reads = 0;
    struct acp_job_options options = world_line(w, "echo x; sleep 300");
    options.background = true;
    struct acp_job *job = world_start(w, &options);
    UNTIL(w, world_said(w, "wait_for_exit"));
    w->ignores = "terminal/output";
    for (int i = 0; i < 3; i++)
        assert_int_equal(acp_job_read(job, count_read, &reads), 0);
    world_run_for(w, 20);
    assert_int_equal(reads, 0);
    acp_job_kill(job);
    UNTIL(w, w->told.count);
    assert_int_equal(reads, 3);
    acp_job_free(job);
}

int main(void)
{
    static struct variant here = {.kind = WITH_TERMINALS, .options = {.settle_ms = 300}};
#define HERE(test) WORLD_TEST(#test, test, here)
    const struct CMUnitTest tests[] = {
        HERE(the_requests_come_in_their_order),
        HERE(a_timeout_is_made_of_kill_wait_output_release),
        HERE(one_that_shall_be_ours_is_not_asked_of_the_client),
        HERE(a_refused_create_is_a_command_not_started),
        HERE(a_long_reason_is_cut_at_a_character),
        HERE(a_refused_wait_loses_the_command_but_not_its_output),
        HERE(a_refused_output_leaves_the_exit_code),
        HERE(a_refused_kill_ends_with_the_release),
        HERE(a_refused_release_changes_nothing),
        HERE(a_client_that_does_not_answer_is_not_waited_for),
        HERE(a_create_that_is_not_answered_can_be_killed),
        HERE(cancelled_while_it_is_created),
        HERE(cancelled_when_the_client_has_created_it),
        HERE(cancelled_while_it_runs),
        HERE(cancelled_while_its_output_is_read),
        HERE(cancelled_while_it_is_killed_for_its_time),
        HERE(the_turn_ends_at_each_step),
        HERE(reads_that_wait_are_answered_by_the_end),
    };
    return cmocka_run_group_tests_name("job_client", tests, NULL, NULL);
}
