/* The peer over time: cancels, timeouts, limits, the close, and callbacks that call back in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test_rpc_host.h"

#define RPC "{\"jsonrpc\":\"2.0\","
#define LATER(id) RPC "\"id\":" id ",\"method\":\"later\"}\n"
#define CANCEL(params) RPC "\"method\":\"$/cancel_request\",\"params\":" params "}\n"
#define CANCEL_ID(id) CANCEL("{\"requestId\":" id "}")
#define OK(id, result) RPC "\"id\":" id ",\"result\":" result "}\n"

/* ---- Cancel --------------------------------------------------------------------------------- */

static void com_cancel_01_06_cancels_its_own_and_takes_either_answer(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    assert_int_equal(host_ask(&h, "m", NULL, 0), 0);
    assert_int_equal(host_ask(&h, "m", NULL, 0), 0);
    (void) host_take(&h);
    assert_int_equal(acp_peer_cancel(h.peer, 0), 0);
    assert_int_equal(acp_peer_cancel(h.peer, 1), 0);
    assert_int_equal(acp_peer_cancel(h.peer, 2), ACP_ERR_UNKNOWN);
    assert_string_equal(host_take(&h), CANCEL_ID("0") CANCEL_ID("1"));
    assert_int_equal(acp_peer_pending(h.peer), 2);
    host_feed(&h, OK("0", "\"won\"") RPC
              "\"id\":1,\"error\":{\"code\":-32800,\"message\":\"cancelled\"}}\n");
    assert_string_equal(host_log(&h), "A0:0:\"won\";A1:-14:-32800:cancelled:;");
    assert_int_equal(acp_peer_cancel(h.peer, 0), ACP_ERR_UNKNOWN);
    host_finish(&h);
}

static void com_cancel_02_03_07_the_request_is_answered_all_the_same(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    host_feed(&h, LATER("1") CANCEL_ID("1"));
    assert_string_equal(host_log(&h), "R1:later:;C1;");
    assert_string_equal(host_take(&h), "");
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from("\"partial\"")), 0);
    assert_string_equal(host_take(&h), OK("1", "\"partial\""));
    host_feed(&h, LATER("2") CANCEL_ID("2"));
    assert_int_equal(acp_peer_error_for(h.peer, h.later, ACP_ERR_CANCELLED), 0);
    assert_string_equal(host_take(&h), RPC "\"id\":2,\"error\":{\"code\":-32800,"
                                           "\"message\":\"cancelled\"}}\n");
    host_finish(&h);
    /* An owner that does not care about cancels. */
    struct acp_peer_handler handler = host_handler;
    handler.cancel = NULL;
    host_init(&h, NULL);
    acp_peer_free(h.peer);
    acp_buf_clear(&h.log);
    assert_int_equal(acp_peer_new(NULL, &handler, &h, &h.peer), 0);
    host_feed(&h, LATER("1") CANCEL_ID("1"));
    assert_string_equal(host_log(&h), "R1:later:;");
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from(NULL)), 0);
    assert_string_equal(host_take(&h), OK("1", "{}"));
    host_finish(&h);
}

static void com_cancel_04_notifications_go_before_the_answer(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    host_feed(&h, LATER("1") CANCEL_ID("1"));
    assert_int_equal(acp_peer_notify(h.peer, acp_str_from("last"), acp_raw_from(NULL)), 0);
    assert_int_equal(acp_peer_error_for(h.peer, h.later, ACP_ERR_CANCELLED), 0);
    const char *out = host_take(&h);
    assert_true(strstr(out, "\"last\"") < strstr(out, "-32800"));
    host_finish(&h);
}

static void com_cancel_05_matches_ids_by_value_and_ignores_others(void **state)
{
    (void) state;
    static const struct {
        const char *in;
        const char *log;
    } rows[] = {
        {LATER("1") CANCEL_ID("1"), "R1:later:;C1;"},
        {LATER("\"a\"") CANCEL_ID("\"a\""), "R1:later:;C1;"},
        {LATER("\"a\"") CANCEL_ID("\"\\u0061\""), "R1:later:;C1;"},
        {LATER("\"\\u0061\"") CANCEL_ID("\"a\""), "R1:later:;C1;"},
        {LATER("\"\\u0061\"") CANCEL_ID("\"\\u0061\""), "R1:later:;C1;"},
        {LATER("1") LATER("2") CANCEL_ID("2") CANCEL_ID("1"), "R1:later:;R2:later:;C2;C1;"},
        {LATER("1") CANCEL_ID("\"1\""), "R1:later:;"},
        {LATER("1") CANCEL_ID("2"), "R1:later:;"},
        {LATER("1") CANCEL_ID("1.0"), "R1:later:;"},
        {LATER("1") CANCEL_ID("null"), "R1:later:;"},
        {LATER("1") CANCEL_ID("[1]"), "R1:later:;"},
        {LATER("1") CANCEL("[1]"), "R1:later:;"},
        {LATER("1") CANCEL("{}"), "R1:later:;"},
        {LATER("1") CANCEL("null"), "R1:later:;"},
        {LATER("1") RPC "\"method\":\"$/cancel_request\"}\n", "R1:later:;"},
        {RPC "\"id\":1,\"method\":\"echo\"}\n" CANCEL_ID("1"), "R1:echo:;"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct host h;
        host_init(&h, NULL);
        /* A request of ours with the number is none of theirs. */
        assert_int_equal(host_ask(&h, "m", NULL, 0), 0);
        assert_int_equal(host_ask(&h, "m", NULL, 0), 0);
        host_feed(&h, rows[i].in);
        assert_string_equal(host_log(&h), rows[i].log);
        assert_int_equal(acp_peer_pending(h.peer), 2);
        host_finish(&h);
    }
    struct host h;
    host_init(&h, &(struct acp_peer_options){.null_ids = true});
    host_feed(&h, LATER("null") CANCEL_ID("null"));
    assert_string_equal(host_log(&h), "R1:later:;");
    host_finish(&h);
}

static void com_cancel_09_session_cancel_is_an_ordinary_notification(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    host_feed(&h, LATER("1") RPC "\"method\":\"session/cancel\",\"params\":{\"requestId\":1}}\n");
    assert_string_equal(host_log(&h), "R1:later:;N:session/cancel:{\"requestId\":1};");
    host_finish(&h);
}

static void com_cancel_10_accepts_meta_and_is_never_answered(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    host_feed(&h, LATER("1") CANCEL("{\"_meta\":{\"requestId\":2},\"requestId\":1,\"x\":[]}"));
    host_feed(&h, RPC "\"method\":\"$\\/cancel_request\",\"params\":{\"request\\u0049d\":1}}\n");
    assert_string_equal(host_log(&h), "R1:later:;C1;C1;");
    assert_string_equal(host_take(&h), "");
    host_feed(&h, CANCEL("7") "{\"method\":\"$/cancel_request\"}\n");
    assert_string_equal(host_log(&h), "T2;T2;");
    assert_string_equal(host_take(&h), "");
    /* As a request it is none that we know. */
    host_feed(&h, RPC "\"id\":3,\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}\n");
    assert_string_equal(host_log(&h), "");
    assert_string_equal(host_take(&h), RPC "\"id\":3,\"error\":{\"code\":-32601,"
                                           "\"message\":\"Method not found\"}}\n");
    host_finish(&h);
}

/* ---- Time ----------------------------------------------------------------------------------- */

static void timeouts_cancel_and_reply_once(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    assert_true(acp_peer_deadline(h.peer) == UINT64_MAX);
    acp_peer_tick(h.peer, 1000);
    assert_int_equal(host_ask(&h, "slow", NULL, 500), 0);
    assert_int_equal(host_ask(&h, "fast", NULL, 200), 0);
    assert_int_equal(host_ask(&h, "ever", NULL, 0), 0);
    assert_int_equal(host_ask(&h, "ever", NULL, UINT64_MAX), 0);
    (void) host_take(&h);
    acp_peer_tick(h.peer, 1000);
    assert_int_equal(acp_peer_deadline(h.peer), 1200);
    acp_peer_tick(h.peer, 1199);
    assert_string_equal(host_log(&h), "");
    acp_peer_tick(h.peer, 1200);
    assert_string_equal(host_log(&h), "A1:-16;");
    assert_string_equal(host_take(&h), CANCEL_ID("1"));
    assert_int_equal(acp_peer_deadline(h.peer), 1500);
    assert_int_equal(acp_peer_receive(h.peer, OK("1", "{}"), strlen(OK("1", "{}")), 1300), 0);
    assert_string_equal(host_log(&h), "T3;");
    assert_int_equal(host_ask(&h, "new", NULL, 100), 0);
    acp_peer_tick(h.peer, 1300);
    assert_int_equal(acp_peer_deadline(h.peer), 1400);
    acp_peer_tick(h.peer, 5000);
    assert_string_equal(host_log(&h), "A4:-16;A0:-16;");
    assert_true(acp_peer_deadline(h.peer) == UINT64_MAX);
    assert_int_equal(acp_peer_pending(h.peer), 2);
    host_finish(&h);
}

/* A request sent before the peer has heard of any time waits its whole span. */
static void timeouts_before_the_first_time_count_from_it(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    assert_int_equal(host_ask(&h, "a", NULL, 500), 0);
    assert_int_equal(host_ask(&h, "b", NULL, 200), 0);
    assert_int_equal(acp_peer_deadline(h.peer), 0);
    acp_peer_tick(h.peer, 1000000);
    assert_string_equal(host_log(&h), "");
    assert_int_equal(acp_peer_deadline(h.peer), 1000200);
    acp_peer_tick(h.peer, 1000500);
    assert_string_equal(host_log(&h), "A1:-16;A0:-16;");
    host_finish(&h);
}

/* After a silence the last time that the peer was told is long past. */
static void timeouts_after_a_silence_wait_their_whole_span(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    acp_peer_tick(h.peer, 1000);
    assert_int_equal(host_ask(&h, "a", NULL, 500), 0);
    assert_int_equal(host_ask(&h, "ever", NULL, 0), 0);
    assert_int_equal(acp_peer_deadline(h.peer), 0);
    acp_peer_tick(h.peer, 9000);
    assert_string_equal(host_log(&h), "");
    assert_int_equal(acp_peer_deadline(h.peer), 9500);
    /* One that is answered before its time begins leaves nothing behind. */
    assert_int_equal(host_ask(&h, "b", NULL, 100), 0);
    assert_int_equal(host_ask(&h, "c", NULL, 200), 0);
    assert_int_equal(acp_peer_receive(h.peer, OK("2", "{}"), strlen(OK("2", "{}")), 9100), 0);
    assert_string_equal(host_log(&h), "A2:0:{};");
    assert_int_equal(acp_peer_deadline(h.peer), 9300);
    acp_peer_tick(h.peer, 9300);
    assert_string_equal(host_log(&h), "A3:-16;");
    acp_peer_tick(h.peer, 9500);
    assert_string_equal(host_log(&h), "A0:-16;");
    assert_true(acp_peer_deadline(h.peer) == UINT64_MAX);
    host_finish(&h);
}

struct timed {
    size_t answers;
    size_t replies;
};

static void on_timed_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                           void *user)
{
    (void) peer;
    (void) request;
    struct timed *o = user;
    if (reply->err == 0)
        o->answers++;
    else
        o->replies++;
    assert_true(reply->err == 0 || reply->err == ACP_ERR_TIMEOUT);
}

static void many_timeouts_in_any_order(void **state)
{
    (void) state;
    enum { MANY = 20000, SPAN = 5000 };
    struct acp_peer *peer;
    struct timed order = {0};
    static size_t due[SPAN + 1];
    static uint64_t timeouts[MANY];
    assert_int_equal(acp_peer_new(NULL, NULL, NULL, &peer), 0);
    acp_peer_tick(peer, 0);
    for (int i = 0; i < MANY; i++) {
        uint64_t timeout = 1 + (uint64_t) rand() % SPAN;
        struct acp_request request = {.method = acp_str_from("m"),
                                      .timeout_ms = timeout,
                                      .reply = on_timed_reply,
                                      .user = &order};
        assert_int_equal(acp_peer_request(peer, &request, acp_raw_from(NULL), NULL), 0);
        due[timeout]++;
        timeouts[i] = timeout;
    }
    /* Every third is answered before, out of the middle of the heap. */
    for (int i = 0; i < MANY; i += 3) {
        char text[80];
        int n = snprintf(text, sizeof(text), RPC "\"id\":%d,\"result\":{}}\n", i);
        due[timeouts[i]]--;
        assert_int_equal(acp_peer_receive(peer, text, (size_t) n, 0), 0);
    }
    assert_int_equal(order.answers, (MANY + 2) / 3);
    size_t want = 0;
    for (uint64_t now = 1; now <= SPAN; now++) {
        want += due[now];
        assert_true(acp_peer_deadline(peer) >= now);
        acp_peer_tick(peer, now);
        assert_int_equal(order.replies, want);
        acp_peer_sent(peer, acp_peer_output(peer).len);
    }
    assert_int_equal(order.replies + order.answers, MANY);
    acp_peer_free(peer);
}

/* ---- Limits --------------------------------------------------------------------------------- */

static void too_many_calls_are_answered_with_an_error(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, &(struct acp_peer_options){.max_calls = 2});
    host_feed(&h, LATER("1") LATER("2") LATER("3"));
    assert_string_equal(host_take(&h), RPC "\"id\":3,\"error\":{\"code\":-32603,"
                                           "\"message\":\"too many open requests\"}}\n");
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from(NULL)), 0);
    host_feed(&h, LATER("4"));
    assert_string_equal(host_log(&h), "R1:later:;R2:later:;R3:later:;");
    host_finish(&h);
}

static void long_ids_do_not_pile_up(void **state)
{
    (void) state;
    enum { SIZE = 6 * 1024 * 1024 };
    struct host h;
    host_init(&h, NULL);
    char *line = malloc(SIZE + 100);
    assert_non_null(line);
    for (int i = 0; i < 3; i++) {
        int n = snprintf(line, 100, RPC "\"method\":\"later\",\"id\":\"%d", i);
        memset(line + n, 'x', SIZE);
        memcpy(line + n + SIZE, "\"}\n", 4);
        assert_int_equal(acp_peer_receive(h.peer, line, (size_t) n + SIZE + 3, 0), 0);
    }
    assert_int_equal(acp_peer_calls(h.peer), 2);
    assert_non_null(strstr(host_take(&h), "too many open requests"));
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from(NULL)), 0);
    (void) host_take(&h);
    assert_int_equal(acp_peer_receive(h.peer, line, strlen(line), 0), 0);
    assert_int_equal(acp_peer_calls(h.peer), 2);
    free(line);
    host_finish(&h);
}

static void too_many_pending_requests_are_refused(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, &(struct acp_peer_options){.max_pending = 2});
    assert_int_equal(host_ask(&h, "m", NULL, 0), 0);
    assert_int_equal(host_ask(&h, "m", NULL, 0), 0);
    (void) host_take(&h);
    assert_int_equal(host_ask(&h, "m", NULL, 0), ACP_ERR_LIMIT);
    struct acp_request request = {.method = acp_str_from("m"), .reply = host_reply, .user = &h};
    acp_json_write_null(acp_peer_begin_request(h.peer, &request));
    assert_int_equal(acp_peer_commit(h.peer, NULL), ACP_ERR_LIMIT);
    assert_string_equal(host_take(&h), "");
    host_feed(&h, OK("0", "1"));
    assert_int_equal(host_ask(&h, "m", NULL, 0), 0);
    host_finish(&h);
}

static void output_over_its_limit(void **state)
{
    (void) state;
    struct host h;
    static const char big[] =
        "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"";
    for (int framing = ACP_FRAMING_LINES; framing <= ACP_FRAMING_CONTENT_LENGTH; framing++) {
        host_init(&h, &(struct acp_peer_options){.max_output = 130,
                                                 .framing = (enum acp_framing) framing});
        /* Requests and notifications that do not fit are not sent, nor half of them. */
        assert_int_equal(host_ask(&h, "m", big, 0), ACP_ERR_LIMIT);
        assert_int_equal(acp_peer_notify(h.peer, acp_str_from("m"), acp_raw_from(big)),
                         ACP_ERR_LIMIT);
        assert_int_equal(acp_peer_notify(h.peer, acp_str_from(big), acp_raw_from(NULL)),
                         ACP_ERR_LIMIT);
        assert_int_equal(acp_peer_pending(h.peer), 0);
        assert_int_equal(acp_peer_output(h.peer).len, 0);
        assert_string_equal(host_log(&h), "");
        host_finish(&h);
    }
    /* A result that does not fit becomes an error; ... */
    host_init(&h, &(struct acp_peer_options){.max_output = 130});
    host_feed(&h, LATER("1") LATER("2"));
    acp_call last = h.later;
    assert_int_equal(acp_peer_result(h.peer, 1, acp_raw_from(big)), ACP_ERR_LIMIT);
    assert_int_equal(acp_peer_calls(h.peer), 1);
    assert_false(acp_peer_is_closed(h.peer));
    /* ... and a response that does not fit in any form ends the connection. */
    assert_int_equal(acp_peer_result(h.peer, last, acp_raw_from(big)), ACP_ERR_LIMIT);
    assert_true(acp_peer_is_closed(h.peer));
    assert_string_equal(host_log(&h), "R1:later:;R2:later:;X-2;");
    assert_string_equal(host_take(&h), RPC "\"id\":1,\"error\":{\"code\":-32603,"
                                           "\"message\":\"Internal error\"}}\n");
    host_finish(&h);
    /* The data of an error is what goes first. */
    host_init(&h, &(struct acp_peer_options){.max_output = 130});
    host_feed(&h, LATER("1"));
    assert_int_equal(acp_peer_error(h.peer, h.later, 5, acp_str_from("why"), acp_raw_from(big)), 0);
    assert_string_equal(host_take(&h),
                        RPC "\"id\":1,\"error\":{\"code\":5,\"message\":\"why\"}}\n");
    host_finish(&h);
    /* The peer's own answers count too. */
    host_init(&h, &(struct acp_peer_options){.max_output = 130});
    assert_int_equal(host_feed_n(&h, "x\nx\nx\n", 6), ACP_ERR_CLOSED);
    assert_string_equal(host_log(&h), "T0;X-2;");
    host_finish(&h);
}

static void pressure_has_two_marks(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, &(struct acp_peer_options){.high_water = 100, .low_water = 40});
    const size_t one = strlen(RPC "\"method\":\"note\"}\n");
    for (int i = 0; i < 6; i++)
        assert_int_equal(acp_peer_notify(h.peer, acp_str_from("note"), acp_raw_from(NULL)), 0);
    assert_string_equal(host_log(&h), "P1;");
    for (int i = 0; i < 4; i++)
        acp_peer_sent(h.peer, one);
    assert_string_equal(host_log(&h), "");
    acp_peer_sent(h.peer, one);
    assert_string_equal(host_log(&h), "P0;");
    acp_peer_sent(h.peer, one);
    assert_string_equal(host_log(&h), "");
    host_finish(&h);
}

/* ---- Close ---------------------------------------------------------------------------------- */

static void com_rpc_20_the_close_fails_what_is_pending(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    host_feed(&h, LATER("7"));
    assert_int_equal(host_ask(&h, "a", NULL, 90), 0);
    assert_int_equal(host_ask(&h, "b", NULL, 0), 0);
    assert_int_equal(host_ask(&h, "c", NULL, 10), 0);
    acp_peer_close(h.peer, ACP_ERR_LIMIT);
    assert_string_equal(host_log(&h), "R1:later:;A0:-2;A1:-2;A2:-2;X-2;");
    acp_peer_close(h.peer, ACP_ERR_CLOSED);
    acp_peer_receive_end(h.peer, 0);
    acp_peer_tick(h.peer, 1000);
    assert_string_equal(host_log(&h), "");
    assert_true(acp_peer_is_closed(h.peer));
    assert_true(acp_peer_deadline(h.peer) == UINT64_MAX);
    /* Nothing goes in or out any more, but what was queued can be sent. */
    assert_int_equal(host_feed_n(&h, LATER("8"), strlen(LATER("8"))), ACP_ERR_CLOSED);
    assert_int_equal(host_ask(&h, "d", NULL, 0), ACP_ERR_CLOSED);
    assert_int_equal(acp_peer_notify(h.peer, acp_str_from("n"), acp_raw_from(NULL)),
                     ACP_ERR_CLOSED);
    assert_int_equal(acp_peer_cancel(h.peer, 0), ACP_ERR_CLOSED);
    assert_int_equal(acp_peer_calls(h.peer), 1);
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from(NULL)), ACP_ERR_CLOSED);
    assert_int_equal(acp_peer_calls(h.peer), 0);
    assert_int_equal(acp_peer_result(h.peer, h.later, acp_raw_from(NULL)), ACP_ERR_UNKNOWN);
    assert_string_equal(host_take(&h),
                        RPC "\"id\":0,\"method\":\"a\"}\n" RPC "\"id\":1,\"method\":\"b\"}\n" RPC
                            "\"id\":2,\"method\":\"c\"}\n");
    host_finish(&h);
}

static void the_end_of_the_stream_closes(void **state)
{
    (void) state;
    struct host h;
    host_init(&h, NULL);
    assert_int_equal(host_ask(&h, "a", NULL, 0), 0);
    assert_int_equal(host_ask(&h, "b", NULL, 0), 0);
    host_feed(&h, RPC "\"id\":1,\"result\":true}");
    acp_peer_receive_end(h.peer, 0);
    assert_string_equal(host_log(&h), "A1:0:true;A0:-18;X-18;");
    host_finish(&h);
}

static void free_takes_null_and_fails_what_is_pending(void **state)
{
    (void) state;
    struct host h;
    acp_peer_free(NULL);
    host_init(&h, NULL);
    assert_int_equal(host_ask(&h, "a", NULL, 0), 0);
    host_feed(&h, LATER("1") LATER("\"\\u0061\""));
    acp_peer_free(h.peer);
    assert_string_equal(host_log(&h), "R1:later:;R2:later:;A0:-18;X-18;");
    h.peer = NULL;
    host_finish(&h);
    /* Between begin and commit as well: that request was never sent. */
    host_init(&h, NULL);
    struct acp_request request = {
        .method = acp_str_from("m"), .timeout_ms = 5, .reply = host_reply, .user = &h};
    assert_non_null(acp_peer_begin_request(h.peer, &request));
    acp_peer_free(h.peer);
    assert_string_equal(host_log(&h), "X-18;");
    h.peer = NULL;
    host_finish(&h);
}

/* ---- Callbacks that call back in ------------------------------------------------------------ */

/* What every callback of this owner does, once, when its letter comes up. */
struct reentrant {
    struct acp_peer *peer;
    char when; /* r n c t o p x a: the callback that acts */
    char what; /* f free, c close, q request, b bytes, e end, s send all output, k tick */
    int acted;
    bool freed; /* after which no callback may come */
    int replies;
    int asked;
    int closed;
    int notes;
};

static void re_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user);

static void act(struct reentrant *re, char when)
{
    assert_false(re->freed);
    if (re->when != when || re->acted++)
        return;
    static const char fed[] =
        RPC "\"method\":\"fed\"}\n" RPC "\"id\":\"in\",\"method\":\"echo\"}\n";
    struct acp_request request = {
        .method = acp_str_from("inner"), .timeout_ms = 5, .reply = re_reply, .user = re};
    struct acp_peer *peer = re->peer;
    switch (re->what) {
    case 'f':
        acp_peer_free(peer);
        re->freed = true;
        break;
    case 'c':
        acp_peer_close(peer, ACP_ERR_CANCELLED);
        break;
    case 'q':
        if (acp_peer_request(peer, &request, acp_raw_from(NULL), NULL) == 0)
            re->asked++;
        break;
    case 'b':
        (void) acp_peer_receive(peer, fed, sizeof(fed) - 11, 3);
        (void) acp_peer_receive(peer, fed + sizeof(fed) - 11, 10, 3);
        break;
    case 'e':
        acp_peer_receive_end(peer, 3);
        break;
    case 's':
        acp_peer_sent(peer, acp_peer_output(peer).len);
        break;
    case 'k':
        acp_peer_tick(peer, 1000000);
        break;
    default:
        fail();
    }
}

static void re_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    (void) peer;
    (void) request;
    (void) reply;
    struct reentrant *re = user;
    re->replies++;
    act(re, 'a');
}
static void re_request(struct acp_peer *peer, acp_call call, const struct acp_message *m,
                       void *user)
{
    struct reentrant *re = user;
    act(re, 'r');
    /* The message must have stayed as it was. */
    assert_true(acp_str_is(m->method, "later") || acp_str_is(m->method, "echo"));
    if (re->what != 'f' || !re->acted)
        (void) acp_peer_result(peer, call, m->params);
}
static void re_note(struct acp_peer *peer, const struct acp_message *m, void *user)
{
    (void) peer;
    struct reentrant *re = user;
    re->notes++;
    act(re, 'n');
    assert_true(acp_str_is(m->method, "note") || acp_str_is(m->method, "fed"));
}
static void re_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    (void) peer;
    (void) call;
    act(user, 'c');
}
static void re_trouble(struct acp_peer *peer, enum acp_protocol_error what, struct acp_str text,
                       void *user)
{
    (void) peer;
    (void) what;
    act(user, 't');
    assert_true(text.len > 0 && (text.ptr[0] == 'x' || text.ptr[0] == '{'));
}
static void re_output(void *user)
{
    act(user, 'o');
}
static void re_pressure(struct acp_peer *peer, bool high, void *user)
{
    (void) peer;
    (void) high;
    act(user, 'p');
}
static void re_closed(struct acp_peer *peer, int reason, void *user)
{
    (void) peer;
    (void) reason;
    struct reentrant *re = user;
    re->closed++;
    act(re, 'x');
}

static bool gone(const struct reentrant *re)
{
    return re->what == 'f' && re->acted;
}

/* One conversation that runs every callback. */
static void converse(struct reentrant *re)
{
    static const char in[] = RPC "\"id\":1,\"method\":\"later\",\"params\":[1]}\n" RPC
                                 "\"method\":\"note\"}\n" CANCEL_ID(
                                     "1") "x\n" RPC "\"id\":0,\"result\":{}}\n" RPC
                                          "\"id\":\"\\u0061\",\"method\":\"l\\u0061ter\"}\n" RPC
                                          "\"id\":77,\"result\":{}}\n";
    struct acp_request request = {
        .method = acp_str_from("outer"), .timeout_ms = 5, .reply = re_reply, .user = re};
    for (int i = 0; i < 3 && !gone(re); i++)
        if (acp_peer_request(re->peer, &request, acp_raw_from(NULL), NULL) == 0)
            re->asked++;
    /* Bytes that come in pieces live in the peer's own buffer; but what 'b' feeds must not come
     * between two of them. */
    size_t piece = re->what == 'b' ? sizeof(in) : 7;
    for (size_t i = 0; i + 1 < sizeof(in) && !gone(re);) {
        size_t n = sizeof(in) - 1 - i < piece ? sizeof(in) - 1 - i : piece;
        (void) acp_peer_receive(re->peer, in + i, n, 1);
        i += n;
    }
    if (!gone(re))
        acp_peer_tick(re->peer, 100);
    if (!gone(re))
        acp_peer_sent(re->peer, acp_peer_output(re->peer).len);
    if (!gone(re))
        acp_peer_receive_end(re->peer, 101);
    if (!gone(re))
        acp_peer_free(re->peer);
}

static void callbacks_may_call_anything(void **state)
{
    (void) state;
    static const struct acp_peer_handler handler = {re_request, re_note,     re_cancel,
                                                    re_trouble, re_pressure, re_closed};
    const struct acp_peer_options options = {.high_water = 20};
    for (const char *when = "rncotpxa"; *when; when++) {
        for (const char *what = "fcqbesk"; *what; what++) {
            struct reentrant re = {.when = *when, .what = *what};
            assert_int_equal(acp_peer_new(&options, &handler, &re, &re.peer), 0);
            acp_endpoint_on_wake(acp_peer_endpoint(re.peer), re_output, &re);
            converse(&re);
            if (re.replies != re.asked || re.closed != 1)
                print_error("in %c doing %c\n", *when, *what);
            assert_int_equal(re.replies, re.asked);
            assert_int_equal(re.closed, 1);
            if (*what == 'b' && strchr("rnt", *when))
                assert_int_equal(re.notes, 2);
        }
    }
}

/* ---- Cut-off conversations ------------------------------------------------------------------ */

static void every_prefix_of_a_conversation(void **state)
{
    (void) state;
    /* clang-format off */
    static const char talk[] = LATER("1")
        RPC "\"method\":\"note\",\"params\":{\"a\":[1,\"\\u0041\"]}}\r\n"
        OK("0", "{\"x\":1}") "\n"
        CANCEL_ID("1") "noise\n[]\n"
        RPC "\"id\":\"\\u0061\",\"method\":\"echo\",\"params\":[]}\n"
        RPC "\"id\":1,\"error\":{\"code\":-1,\"message\":\"\\u0041\"}}\n";
    /* clang-format on */
    for (size_t n = 0; n < sizeof(talk); n++) {
        struct host h;
        host_init(&h, NULL);
        assert_int_equal(host_ask(&h, "a", NULL, 0), 0);
        assert_int_equal(host_ask(&h, "b", NULL, 50), 0);
        (void) host_feed_n(&h, talk, n);
        acp_peer_receive_end(h.peer, 0);
        assert_int_equal(acp_peer_pending(h.peer), 0);
        const char *log = host_log(&h);
        const char *a0 = strstr(log, "A0:");
        const char *a1 = strstr(log, "A1:");
        assert_true(a0 && !strstr(a0 + 1, "A0:"));
        assert_true(a1 && !strstr(a1 + 1, "A1:"));
        assert_string_equal(log + strlen(log) - 5, "X-18;");
        (void) host_take(&h);
        host_finish(&h);
    }
}

int main(void)
{
    (void) test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(com_cancel_01_06_cancels_its_own_and_takes_either_answer),
        cmocka_unit_test(com_cancel_02_03_07_the_request_is_answered_all_the_same),
        cmocka_unit_test(com_cancel_04_notifications_go_before_the_answer),
        cmocka_unit_test(com_cancel_05_matches_ids_by_value_and_ignores_others),
        cmocka_unit_test(com_cancel_09_session_cancel_is_an_ordinary_notification),
        cmocka_unit_test(com_cancel_10_accepts_meta_and_is_never_answered),
        cmocka_unit_test(timeouts_cancel_and_reply_once),
        cmocka_unit_test(timeouts_before_the_first_time_count_from_it),
        cmocka_unit_test(timeouts_after_a_silence_wait_their_whole_span),
        cmocka_unit_test(many_timeouts_in_any_order),
        cmocka_unit_test(too_many_calls_are_answered_with_an_error),
        cmocka_unit_test(long_ids_do_not_pile_up),
        cmocka_unit_test(too_many_pending_requests_are_refused),
        cmocka_unit_test(output_over_its_limit),
        cmocka_unit_test(pressure_has_two_marks),
        cmocka_unit_test(com_rpc_20_the_close_fails_what_is_pending),
        cmocka_unit_test(the_end_of_the_stream_closes),
        cmocka_unit_test(free_takes_null_and_fails_what_is_pending),
        cmocka_unit_test(callbacks_may_call_anything),
        cmocka_unit_test(every_prefix_of_a_conversation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
