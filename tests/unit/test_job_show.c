/*
 * What a client is shown of a job: text in version 1, a terminal with its bytes in version 2.  Much
 * output, slow clients, and bytes that are not text.
 */
#define _GNU_SOURCE /* memmem */
#include "test_job_host.h"

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* ---- Version 2 ------------------------------------------------------------------------------ */

static void a_terminal_begins_is_embedded_prints_and_exits(void **state)
{
    struct world *w = *state;
    struct acp_str args[] = {ACP_STR("-c"), ACP_STR("printf 'a\\377b'; exit 3"), ACP_STR("it's")};
    struct acp_job_options options = world_line(w, "sh");
    options.args = (struct acp_str_list){args, 3};
    world_run(w, &options);
    world_step(w);
    static const char *const order[] = {
        "\"sessionUpdate\":\"terminal_update\"",
        "\"type\":\"terminal\"",
        "\"sessionUpdate\":\"terminal_output_chunk\"",
        "\"exitStatus\":{\"exitCode\":3}",
    };
    const char *at = test_cstr(&w->log);
    for (size_t i = 0; i < COUNT(order); i++) {
        at = strstr(at, order[i]);
        assert_non_null(at);
    }
    assert_true(world_said(
        w, "\"command\":\"sh -c 'printf '\\\\''a\\\\377b'\\\\''; exit 3' 'it'\\\\''s'\""));
    assert_true(world_said(w, "\"cwd\":\"/tmp\""));
    assert_true(world_said(w, "\"size\":{\"cols\":120,\"rows\":40}"));
    assert_int_equal(w->shown.len, 3); /* the bytes, whatever they mean */
    assert_memory_equal(acp_buf_view(&w->shown).ptr, "a\377b", 3);
    assert_string_equal(test_cstr(&w->told.output), "a\xEF\xBF\xBD"
                                                    "b"); /* the text */
}

static void every_terminal_has_an_id_of_its_own(void **state)
{
    struct world *w = *state;
    char ids[3][64];
    for (int i = 0; i < 3; i++) {
        struct acp_job_options options = world_line(w, "true");
        struct acp_job *job = world_start(w, &options);
        struct acp_str id = acp_job_terminal(job);
        assert_true(id.len > 0 && id.len < sizeof(ids[0]));
        (void) snprintf(ids[i], sizeof(ids[i]), "%.*s", (int) id.len, id.ptr);
        assert_string_not_equal(ids[i], "call-1");
        UNTIL(w, w->told.count);
    }
    assert_string_not_equal(ids[0], ids[1]);
    assert_string_not_equal(ids[1], ids[2]);
}

static void output_is_there_while_it_runs_and_joined(void **state)
{
    struct world *w = *state;
    struct acp_job_options options =
        world_line(w, "i=0; while [ $i -lt 500 ]; do echo $i; i=$((i+1)); done; sleep 300");
    struct acp_job *job = world_start(w, &options);
    UNTIL(w, w->shown.len == 1890);
    assert_int_equal(w->told.count, 0);
    assert_true(w->chunks < 100); /* there were 500 writes */
    acp_job_kill(job);
    UNTIL(w, w->told.count);
}

static void what_is_said_is_not_cut_by_what_is_printed(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "while :; do echo x; sleep 0.01; done");
    options.background = true;
    struct acp_job *job = world_start(w, &options);
    char ids[2][64] = {"", "?"};
    for (int i = 0; i < 2; i++) {
        acp_buf_clear(&w->log);
        size_t before = w->chunks;
        assert_int_equal(acp_turn_send_text(w->turn, acp_str_from("words")), 0);
        UNTIL(w, w->chunks > before + 1 && world_said(w, "agent_message_chunk"));
        const char *at = strstr(test_cstr(&w->log), "agent_message_chunk");
        struct acp_str id = world_value(acp_str_from(at), "messageId");
        assert_non_null(id.ptr);
        (void) snprintf(ids[i], sizeof(ids[i]), "%.*s", (int) id.len, id.ptr);
    }
    assert_string_equal(ids[0], ids[1]);
    acp_job_free(job);
}

static void a_slow_client_makes_the_command_wait(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "seq 1 700000");
    options.pipes = true;
    options.output_byte_limit = MIB(8);
    (void) world_start(w, &options);
    w->reads_nothing = true;
    world_run_for(w, 1000);
    assert_int_equal(w->told.count, 0); /* 4.8 MB do not fit in between */
    assert_true(w->most_unsent > KIB(512));
    assert_true(w->most_unsent < MIB(2));
    w->reads_nothing = false;
    UNTIL(w, w->told.count);
    world_step(w);
    assert_true(w->most_unsent < MIB(4));
    assert_int_equal(w->snapshots, 0);
    assert_int_equal(w->shown.len, w->told.output.len);
    assert_memory_equal(acp_buf_view(&w->shown).ptr, acp_buf_view(&w->told.output).ptr,
                        w->shown.len);
    assert_false(w->told.truncated);
}

static void a_slow_client_does_not_keep_a_command_from_its_end(void **state)
{
    struct world *w = *state;
    /* It is paused shortly before its last bytes, which then wait in the pipe while it exits. */
    struct acp_job_options options = world_line(w, "head -c 820000 /dev/zero | tr '\\0' x");
    options.pipes = true;
    w->reads_nothing = true;
    (void) world_start(w, &options);
    UNTIL(w, acp_agent_is_above_high_water(w->agent));
    world_run_for(w, 500);
    assert_int_equal(w->told.count, 1);
    assert_int_equal(w->told.output.len, 820000);
    w->reads_nothing = false;
    UNTIL(w, w->shown.len == 820000);
}

/* Fifty megabytes: the client is sent the first of them and then the end, now and then. */
static void a_flood_is_shown_by_its_end(void **state)
{
    struct world *w = *state;
    struct acp_job_options options =
        world_line(w, "head -c 50000000 /dev/zero | tr '\\0' x; echo end");
    options.output_byte_limit = KIB(100);
    size_t before = host_resident();
    world_run(w, &options);
    world_step(w);
    assert_int_equal(w->told.end, ACP_JOB_EXITED);
    assert_true(w->told.truncated);
    assert_int_equal(w->told.output.len, KIB(100));
    assert_string_equal(test_cstr(&w->told.output) + KIB(100) - 4, "end\n");
    assert_true(w->most_unsent < MIB(4));
    /*
     * Most of it is what a client keeps, which is in here too, and the updates that the role keeps
     * for a replay, 16 MiB at most; the sanitizer keeps all of it.
     */
    if (!SANITIZED)
        assert_true(host_resident() < before + MIB(24 + 16));
    if (w->kind != WITH_STREAM)
        return;
    assert_true(w->snapshots > 0);
    assert_true(w->chunks < 1000);
    assert_int_equal(w->shown.len, KIB(100));
    assert_memory_equal(acp_buf_view(&w->shown).ptr, acp_buf_view(&w->told.output).ptr, KIB(100));
}

static void a_client_may_cancel_the_terminal_alone(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    struct acp_job *job = world_start(w, &options);
    world_run_for(w, 20);
    assert_true(world_said(w, "\"capabilities\":{\"cancel\":{}}"));
    assert_int_equal(
        acp_client_cancel_terminal(w->session, acp_job_terminal(job), world_on_done, w), 0);
    UNTIL(w, w->told.count);
    assert_int_equal(w->told.end, ACP_JOB_KILLED);
    UNTIL(w, world_said(w, "\"exitStatus\":{\"signal\":\"SIGTERM\"}"));
    assert_int_equal(w->ends, 0); /* the turn goes on */
    assert_null(acp_jobs_find(w->jobs, acp_turn_session(w->turn), acp_str_from("term_0_0")));
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void text_is_shown_while_it_runs_and_at_the_end(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "echo one; sleep 0.3; echo two");
    (void) world_start(w, &options);
    UNTIL(w, world_said(w, "\"text\":\"```\\none\\n```\""));
    assert_int_equal(w->told.count, 0);
    UNTIL(w, w->told.count);
    UNTIL(w, world_said(w, "\"text\":\"```\\none\\ntwo\\n```\""));
    assert_false(world_said(w, "terminal"));
}

static void text_is_fenced_whatever_is_in_it(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "printf 'a ```` b'");
    world_run(w, &options);
    UNTIL(w, world_said(w, "\"text\":\"`````\\na ```` b\\n`````\""));
}

static void long_text_is_shown_by_its_end(void **state)
{
    struct world *w = *state;
    struct acp_job_options options =
        world_line(w, "head -c 200000 /dev/zero | tr '\\0' x; echo end");
    world_run(w, &options);
    UNTIL(w, world_said(w, "[the beginning is left out]"));
    UNTIL(w, world_said(w, "xend\\n```"));
    assert_true(w->log.len < KIB(160));
    assert_int_equal(w->told.output.len, 200004); /* the result has all of it */
}

/* ---- Both ----------------------------------------------------------------------------------- */

static void what_has_no_tool_call_is_not_shown(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = {.command = acp_str_from("echo secret")};
    world_run_for(w, 20);
    acp_buf_clear(&w->log);
    world_run(w, &options);
    world_run_for(w, 20);
    assert_string_equal(test_cstr(&w->told.output), "secret\n");
    assert_false(world_said(w, "session/update"));
}

static void what_is_ended_by_force_is_told_to_be_over(void **state)
{
    struct world *w = *state;
    struct acp_job_options options = world_line(w, "sleep 300");
    (void) world_start(w, &options);
    world_run_for(w, 20);
    world_end_turn(w);
    UNTIL(w, w->ends);
    const char *exit_told = strstr(test_cstr(&w->log), "\"exitStatus\":{\"signal\":\"SIGKILL\"}");
    assert_non_null(exit_told);
    assert_non_null(strstr(exit_told, "\"state\":\"idle\"")); /* in this order */
}

int main(void)
{
    static struct variant with_terminals = {.kind = WITH_TERMINALS};
    static struct variant with_text = {.kind = WITH_TEXT};
    static struct variant with_stream = {.kind = WITH_STREAM};
    static struct variant quick_text = {.kind = WITH_TEXT, .options = {.refresh_ms = 50}};
#define TEXT_TEST(test) WORLD_TEST(#test " (text)", test, quick_text)
#define STREAM_TEST(test) WORLD_TEST(#test " (stream)", test, with_stream)
    const struct CMUnitTest tests[] = {
        STREAM_TEST(a_terminal_begins_is_embedded_prints_and_exits),
        STREAM_TEST(every_terminal_has_an_id_of_its_own),
        STREAM_TEST(output_is_there_while_it_runs_and_joined),
        STREAM_TEST(what_is_said_is_not_cut_by_what_is_printed),
        STREAM_TEST(a_slow_client_makes_the_command_wait),
        STREAM_TEST(a_slow_client_does_not_keep_a_command_from_its_end),
        STREAM_TEST(a_client_may_cancel_the_terminal_alone),
        EACH_KIND(a_flood_is_shown_by_its_end),
        TEXT_TEST(text_is_shown_while_it_runs_and_at_the_end),
        TEXT_TEST(text_is_fenced_whatever_is_in_it),
        TEXT_TEST(long_text_is_shown_by_its_end),
        EACH_KIND(what_has_no_tool_call_is_not_shown),
        STREAM_TEST(what_is_ended_by_force_is_told_to_be_over),
    };
    return cmocka_run_group_tests_name("job_show", tests, NULL, NULL);
}
