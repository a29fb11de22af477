/*
 * How turns and sessions of an agent end: cancelled by a request, replaced by being opened once
 * more, or with the program; and text that is joined only while it has to wait.
 */
#include "test_agent_host.h"

static void on_cancel(struct acp_turn *turn, void *user)
{
    struct host *h = user;
    host_note(h, "cancel");
    h->turn = NULL;
    assert_int_equal(acp_turn_end(turn, ACP_STOP_CANCELLED), 0);
}

static void on_end(struct acp_session *session, void *user)
{
    host_note(user, "end %s", (const char *) acp_session_user(session));
}

static void on_new(struct acp_session *session, const struct acp_new_session_request *request,
                   void *user)
{
    static char name[] = "old";
    acp_session_set_user(session, name);
    host_accept(session, request, user);
}

/* The program takes its time: host.session is the one that waits. */
static void on_load(struct acp_session *session, const struct acp_resume_session_request *request,
                    void *user)
{
    static char name[] = "new";
    struct host *h = user;
    (void) request;
    h->session = session;
    acp_session_set_user(session, name);
}

static const struct acp_agent_handler life = {
    .new_session = on_new,
    .load_session = on_load,
    .resume_session = on_load,
    .end_session = on_end,
    .cancel = on_cancel,
};

static void open_life(struct host *h, int version)
{
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2};
    host_init(h, &options, &life);
    host_open(h, version, "{}");
}

/* ---- Cancelling by a request ----------------------------------------------------------------- */

static void a_cancel_sent_as_a_request_is_answered(void **state)
{
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        open_life(&h, version);
        host_prompt(&h);
        forget(&h);
        feed(&h, "{'jsonrpc':'2.0','id':'c','method':'session/cancel',"
                 "'params':{'sessionId':'s'}}");
        expect_wrote(&h, "{'jsonrpc':'2.0','id':'c','result':{}}");
        expect_wrote(&h, "'stopReason':'cancelled'");
        expect_note(&h, "cancel\n");
        host_finish(&h);
    }
}

static void a_cancel_request_without_a_turn_is_answered_too(void **state)
{
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        open_life(&h, version);
        feed(&h, "{'jsonrpc':'2.0','id':7,'method':'session/cancel','params':{'sessionId':'s',"
                 "'_meta':{'a':1}}}");
        expect_wrote(&h, "{'jsonrpc':'2.0','id':7,'result':{}}");
        forget(&h);
        feed(&h, "{'jsonrpc':'2.0','id':8,'method':'session/cancel','params':{'sessionId':'t'}}");
        expect_wrote(&h, "'id':8,'error':{'code':-32002");
        forget(&h);
        feed(&h, "{'jsonrpc':'2.0','id':9,'method':'session/cancel'}");
        expect_wrote(&h, "'id':9,'error':{'code':-32602");
        expect_note(&h, "");
        host_finish(&h);
    }
}

static void a_cancel_notification_gets_no_answer(void **state)
{
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        open_life(&h, version);
        feed(&h, "{'jsonrpc':'2.0','method':'session/cancel','params':{'sessionId':'s'}}");
        feed(&h, "{'jsonrpc':'2.0','method':'session/cancel','params':{'sessionId':'t'}}");
        feed(&h, "{'jsonrpc':'2.0','method':'session/cancel'}");
        expect_silence(&h);
        host_prompt(&h);
        feed(&h, "{'jsonrpc':'2.0','method':'session/cancel','params':{'sessionId':'s'}}");
        expect_wrote(&h, "'stopReason':'cancelled'");
        assert_false(wrote(&h, "'result':{}"));
        host_finish(&h);
    }
}

/* ---- Opening a session once more ------------------------------------------------------------- */

static void feed_load(struct host *h, int version, int id)
{
    char line[300];
    (void) snprintf(line, sizeof(line),
                    "{'jsonrpc':'2.0','id':%d,'method':'session/%s','params':{'sessionId':'s',"
                    "'cwd':'/w','mcpServers':[]}}",
                    id, version == 1 ? "load" : "resume");
    h->session = NULL;
    feed(h, line);
}

static void a_refused_reopen_changes_nothing(void **state)
{
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        open_life(&h, version);
        struct acp_session *old = h.session;
        feed_load(&h, version, 10);
        assert_non_null(h.session);
        assert_ptr_not_equal(h.session, old);
        assert_text_equal(acp_session_id(h.session), "s");
        assert_ptr_equal(acp_agent_find_session(h.agent, acp_str_from("s")), old);
        expect_note(&h, "");
        assert_int_equal(acp_session_reject(h.session, -32602, acp_str_from("no folder")), 0);
        expect_wrote(&h, "'id':10,'error':{'code':-32602,'message':'no folder'}");
        expect_note(&h, ""); /* neither of them has ended for the program */
        assert_ptr_equal(acp_agent_find_session(h.agent, acp_str_from("s")), old);
        assert_string_equal(acp_session_user(old), "old");
        forget(&h);
        host_prompt(&h);
        assert_ptr_equal(acp_turn_session(h.turn), old);
        assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
        expect_wrote(&h, "end_turn");
        host_finish(&h);
    }
}

static void an_accepted_reopen_ends_the_old_session(void **state)
{
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        open_life(&h, version);
        struct acp_session *old = h.session;
        feed_load(&h, version, 10);
        struct acp_session *session = h.session;
        expect_silence(&h);
        assert_int_equal(acp_session_accept(session, NULL), 0);
        expect_note(&h, "end old\n");
        expect_wrote(&h, "'id':10,'result'");
        assert_ptr_not_equal(session, old);
        assert_ptr_equal(acp_agent_find_session(h.agent, acp_str_from("s")), session);
        host_prompt(&h);
        assert_ptr_equal(acp_turn_session(h.turn), session);
        host_finish(&h);
    }
}

static void while_it_is_reopened_a_session_takes_nothing_else(void **state)
{
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        open_life(&h, version);
        feed_load(&h, version, 10);
        struct acp_session *session = h.session;
        feed_load(&h, version, 11);
        assert_null(h.session);
        expect_wrote(&h, "'id':11,'error':{'code':-32600");
        forget(&h);
        feed(&h, "{'jsonrpc':'2.0','id':12,'method':'session/prompt','params':{'sessionId':'s',"
                 "'prompt':[{'type':'text','text':'go'}]}}");
        expect_wrote(&h, "'id':12,'error'");
        assert_null(h.turn);
        assert_int_equal(acp_session_accept(session, NULL), 0);
        expect_wrote(&h, "'id':10,'result'");
        host_finish(&h);
    }
}

/* The program hears of both, and the request is answered. */
static void closing_a_session_that_is_reopened_ends_both(void **state)
{
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        open_life(&h, version);
        feed_load(&h, version, 10);
        feed(&h, "{'jsonrpc':'2.0','id':11,'method':'session/close','params':{'sessionId':'s'}}");
        expect_note(&h, "end new\nend old\n");
        expect_wrote(&h, "'id':10,'error':{'code':-32800");
        expect_wrote(&h, "'id':11,'result':{}");
        assert_null(acp_agent_find_session(h.agent, acp_str_from("s")));
        host_finish(&h);
        open_life(&h, version);
        feed_load(&h, version, 10);
        acp_agent_close(h.agent, ACP_ERR_CLOSED);
        expect_note(&h, "end new\nend old\n");
        host_finish(&h);
    }
}

/* ---- The end of the program ------------------------------------------------------------------ */

static void ending_all_sessions_answers_their_prompts(void **state)
{
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2};
        struct acp_agent_handler slow = life;
        slow.cancel = NULL; /* a program that does not end its turn in time */
        host_init(&h, &options, &slow);
        host_open(&h, version, "{}");
        host_prompt(&h);
        assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("half a sen")), 0);
        forget(&h);
        acp_agent_end_sessions(h.agent);
        expect_wrote(&h, "half a sen");
        expect_wrote(&h, "'stopReason':'cancelled'");
        expect_note(&h, "end old\n");
        assert_null(acp_agent_find_session(h.agent, acp_str_from("s")));
        acp_agent_end_sessions(h.agent); /* there are none */
        forget(&h);
        feed(&h, "{'jsonrpc':'2.0','id':3,'method':'session/new','params':{'cwd':'/w',"
                 "'mcpServers':[]}}");
        expect_wrote(&h, "'sessionId':'s'"); /* the connection is as it was */
        host_finish(&h);
    }
}

/* ---- Text that has to wait ------------------------------------------------------------------- */

static uint64_t held;

static void on_keep(struct acp_session *session, const struct acp_session_update *update,
                    void *user)
{
    const struct host *h = user;
    (void) session;
    (void) update;
    if (held)
        acp_agent_hold_output(h->agent, held++);
}

static void open_merging(struct host *h)
{
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2, .merge_waiting = true};
    struct acp_agent_handler handler = life;
    handler.before_update = on_keep;
    held = 0;
    host_init(h, &options, &handler);
    host_open(h, 1, "{}");
    host_prompt(h);
    forget(h);
}

static void say(struct host *h, const char *text)
{
    assert_int_equal(acp_turn_send_text(h->turn, acp_str_from(text)), 0);
}

static int count_updates(struct host *h)
{
    int count = 0;
    host_collect(h);
    for (const char *at = test_cstr(&h->wire); (at = strstr(at, "\"session/update\"")); at++)
        count++;
    return count;
}

static void text_goes_at_once_while_nothing_is_on_its_way(void **state)
{
    struct host h;
    (void) state;
    open_merging(&h);
    for (int i = 0; i < 3; i++) {
        say(&h, "a");
        assert_int_equal(count_updates(&h), i + 1);
    }
    say(&h, "b"); /* on its way from here on */
    say(&h, "c");
    say(&h, "d");
    host_collect(&h);
    assert_int_equal(count_updates(&h), 5);
    expect_wrote(&h, "'text':'cd'"); /* sent as soon as the one before it was */
    assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
    host_finish(&h);
}

static void text_behind_what_is_held_is_joined(void **state)
{
    struct host h;
    (void) state;
    open_merging(&h);
    held = 1;
    say(&h, "first");
    for (int i = 0; i < 19; i++)
        say(&h, "12345");
    assert_int_equal(acp_turn_send_thought(h.turn, acp_str_from("hm")), 0); /* another message */
    expect_silence(&h);
    acp_agent_release_output(h.agent, 1);
    assert_int_equal(count_updates(&h), 1);
    acp_agent_release_output(h.agent, 2);
    assert_int_equal(count_updates(&h), 2);
    expect_wrote(&h, "'text':'123451234512345123451234512345123451234512345123451234512345123451234"
                     "51234512345123451234512345'");
    host_collect(&h);
    acp_agent_release_output(h.agent, 3);
    assert_int_equal(count_updates(&h), 3);
    expect_wrote(&h, "'text':'hm'");
    host_finish(&h);
}

static void what_waits_is_joined_up_to_the_limit_of_bytes(void **state)
{
    struct host h;
    (void) state;
    open_merging(&h);
    held = 1;
    for (int i = 0; i < 2000; i++)
        say(&h, "12345");
    assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
    acp_agent_release_output(h.agent, UINT64_MAX);
    /* The first by itself, then 100 bytes each. */
    assert_int_equal(count_updates(&h), 1 + (2000 - 1 + 19) / 20);
    host_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancel_sent_as_a_request_is_answered),
        cmocka_unit_test(a_cancel_request_without_a_turn_is_answered_too),
        cmocka_unit_test(a_cancel_notification_gets_no_answer),
        cmocka_unit_test(a_refused_reopen_changes_nothing),
        cmocka_unit_test(an_accepted_reopen_ends_the_old_session),
        cmocka_unit_test(while_it_is_reopened_a_session_takes_nothing_else),
        cmocka_unit_test(closing_a_session_that_is_reopened_ends_both),
        cmocka_unit_test(ending_all_sessions_answers_their_prompts),
        cmocka_unit_test(text_goes_at_once_while_nothing_is_on_its_way),
        cmocka_unit_test(text_behind_what_is_held_is_joined),
        cmocka_unit_test(what_waits_is_joined_up_to_the_limit_of_bytes),
    };
    return cmocka_run_group_tests_name("agent_life", tests, NULL, NULL);
}
