/*
 * The peer when out of memory: a whole conversation, with the first, the second, the third ...
 * allocation failing, until none fails.  Nothing may crash or leak, every request gets its one
 * reply, and every failure shows: as an error code, an error answer, a failed reply or a closed
 * peer.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "acp/rpc.h"
#include "test_memory.h"

/* ---- The owner ------------------------------------------------------------------------------ */

struct owner {
    acp_call later[64];
    size_t later_count;
    size_t notes;
    size_t asked;
    size_t replies;
    size_t closed;
    bool surfaced;
};

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *m,
                       void *user)
{
    struct owner *o = user;
    if (acp_str_is(m->method, "later"))
        o->later[o->later_count++] = call;
    else if (acp_peer_result(peer, call, m->params))
        o->surfaced = true;
}

static void on_notification(struct acp_peer *peer, const struct acp_message *m, void *user)
{
    (void) peer;
    (void) m;
    struct owner *o = user;
    o->notes++;
}

static void on_closed(struct acp_peer *peer, int reason, void *user)
{
    (void) peer;
    struct owner *o = user;
    o->closed++;
    if (reason != ACP_ERR_CLOSED)
        o->surfaced = true;
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    (void) peer;
    (void) request;
    struct owner *o = user;
    o->replies++;
    if (reply->err == ACP_ERR_NOMEM)
        o->surfaced = true;
}

static void note(struct owner *o, int err)
{
    if (err)
        o->surfaced = true;
}

/* Looks for answers that tell of the failure. */
static void take(struct acp_peer *peer, struct owner *o)
{
    struct acp_str out = acp_peer_output(peer);
    for (size_t i = 0; i + 6 <= out.len; i++)
        if (memcmp(out.ptr + i, "-32603", 6) == 0)
            o->surfaced = true;
    acp_peer_sent(peer, out.len);
}

/* ---- The conversation ----------------------------------------------------------------------- */

#define RPC "{\"jsonrpc\":\"2.0\","

static const char talk[] = RPC
    "\"id\":1,\"method\":\"later\"}\n" RPC "\"id\":\"\\u0061\",\"method\":\"l\\u0061ter\"}\n" RPC
    "\"id\":\"text\",\"method\":\"later\",\"params\":{\"a\":[1,2,3]}}\n" RPC
    "\"id\":3,\"method\":\"echo\",\"params\":{\"b\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}}\n" RPC
    "\"method\":\"note\",\"params\":{}}\n" RPC "\"method\":\"n\\u006fte\",\"params\":{}}\n" RPC
    "\"id\":0,\"result\":{}}\n" RPC "\"id\":1,\"error\":{\"code\":-1,\"message\":\"a\\u0062\","
    "\"data\":{}}}\nnoise\n[]\n" RPC "\"id\":77,\"result\":1}\n";

static void ask(struct acp_peer *peer, struct owner *o, uint64_t timeout_ms)
{
    struct acp_request request = {
        .method = acp_str_from("question"), .timeout_ms = timeout_ms, .reply = on_reply, .user = o};
    int err = acp_peer_request(peer, &request, acp_raw_from("{\"q\":true}"), NULL);
    if (!err)
        o->asked++;
    note(o, err);
}

static void converse(struct acp_peer *peer, struct owner *o, size_t piece)
{
    for (int i = 0; i < 40; i++)
        ask(peer, o, i % 2 ? 10 : 0);
    note(o, acp_peer_notify(peer, acp_str_from("hello"), acp_raw_from(NULL)));
    take(peer, o);
    for (size_t i = 0; i + 1 < sizeof(talk); i += piece) {
        size_t left = sizeof(talk) - 1 - i;
        note(o, acp_peer_receive(peer, talk + i, left < piece ? left : piece, 1));
    }
    for (size_t i = 0; i < o->later_count; i++) {
        struct acp_json_writer *w = acp_peer_begin_result(peer, o->later[i]);
        for (int n = 0; n < 400 && i == 0; n++)
            acp_json_begin_array(w);
        for (int n = 0; n < 400 && i == 0; n++)
            acp_json_end_array(w);
        note(o, acp_peer_commit(peer, NULL));
    }
    acp_peer_tick(peer, 100);
    take(peer, o);
    ask(peer, o, 5);
    take(peer, o);
}

static bool run(long n, size_t piece)
{
    static const struct acp_peer_handler handler = {
        .request = on_request, .notification = on_notification, .closed = on_closed};
    struct owner o = {0};
    struct acp_peer *peer = NULL;
    test_struck = false;
    test_countdown = n;
    int err = acp_peer_new(NULL, &handler, &o, &peer);
    if (err) {
        assert_int_equal(err, ACP_ERR_NOMEM);
        assert_null(peer);
        test_countdown = 0;
        return test_struck;
    }
    converse(peer, &o, piece);
    if (acp_peer_is_closed(peer))
        o.surfaced = true;
    acp_peer_receive_end(peer, 101);
    test_countdown = 0;
    acp_peer_free(peer);
    assert_int_equal(o.replies, o.asked);
    assert_int_equal(o.closed, 1);
    assert_int_equal(o.surfaced, test_struck);
    if (!test_struck)
        assert_int_equal(o.notes, 2);
    return test_struck;
}

static void fail_each_allocation(size_t piece)
{
    long n = 1;
    while (run(n, piece))
        n++;
    print_message("%ld allocations\n", n - 1);
    assert_true(n > 50);
}

static void each_allocation_fails_once(void **state)
{
    (void) state;
    test_sticky = false;
    fail_each_allocation(sizeof(talk));
    fail_each_allocation(1);
    fail_each_allocation(50);
}

static void all_allocations_fail_from_one_on(void **state)
{
    (void) state;
    test_sticky = true;
    fail_each_allocation(sizeof(talk));
    fail_each_allocation(50);
}

/* Once warm, notifications cost no memory, neither received nor sent. */
static void notifications_do_not_allocate(void **state)
{
    (void) state;
    static const struct acp_peer_handler handler = {.notification = on_notification};
    static const char in[] =
        RPC "\"method\":\"session/update\",\"params\":{\"a\":[1,\"\\n\"]}}\n" RPC
            "\"method\":\"n\\u006fte\",\"params\":{}}\n";
    struct owner o = {0};
    struct acp_peer *peer;
    assert_int_equal(acp_peer_new(NULL, &handler, &o, &peer), 0);
    for (int i = 0; i < 1000; i++) {
        if (i == 10) {
            test_sticky = true;
            test_struck = false;
            test_countdown = 1;
        }
        assert_int_equal(acp_peer_receive(peer, in, sizeof(in) - 1, 0), 0);
        assert_int_equal(acp_peer_receive(peer, in, 50, 0), 0);
        assert_int_equal(acp_peer_receive(peer, in + 50, sizeof(in) - 51, 0), 0);
        assert_int_equal(acp_peer_notify(peer, acp_str_from("session/update"), acp_raw_from("{}")),
                         0);
        assert_int_equal(acp_peer_notify(peer, acp_str_from("other"), acp_raw_from(NULL)), 0);
        acp_peer_sent(peer, acp_peer_output(peer).len);
    }
    test_countdown = 0;
    assert_false(test_struck);
    assert_int_equal(o.notes, 4000);
    acp_peer_free(peer);
}

/* One allocation that fails costs a reader of frames one message at most. */
static void a_deframer_loses_one_message_at_most(void **state)
{
    (void) state;
    enum { MESSAGES = 6 };
#define SMALL "Content-Length: 2\r\n\r\n[]"
#define FORMAT_HEADED                                                                              \
    SMALL SMALL                                                                                    \
        "Content-Length: 300\r\n\r\n%300dContent-Length: 900\r\n\r\n%900dbad\n" SMALL SMALL SMALL
#define FORMAT_LINES "[]\n[]\n%300d\n%900d\n[]\n[]\n[]\n"
    test_sticky = false;
    for (int framing = ACP_FRAMING_AUTO; framing <= ACP_FRAMING_LINES; framing++) {
        static char stream[4096];
        size_t len = (size_t) (framing == ACP_FRAMING_LINES
                                   ? snprintf(stream, sizeof(stream), FORMAT_LINES, 1, 2)
                                   : snprintf(stream, sizeof(stream), FORMAT_HEADED, 1, 2));
        test_struck = true;
        for (long n = 1; test_struck; n++) {
            struct acp_deframer d;
            struct acp_frame frame;
            int messages = 0;
            int too_large = 0;
            acp_deframer_init(&d, (enum acp_framing) framing, 500);
            test_struck = false;
            test_countdown = n;
            for (size_t i = 0; i < len; i++) {
                acp_deframer_feed(&d, stream + i, 1);
                int err;
                while ((err = acp_deframer_next(&d, &frame)) != 0 || frame.kind) {
                    assert_true(err == 0 || (test_struck && err == ACP_ERR_NOMEM));
                    messages += !err && frame.kind == ACP_FRAME_MESSAGE;
                    too_large += !err && frame.kind == ACP_FRAME_TOO_LARGE;
                }
            }
            test_countdown = 0;
            assert_true(messages + too_large >= MESSAGES + (test_struck ? 0 : 1));
            acp_deframer_finish(&d);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_fails_once),
        cmocka_unit_test(all_allocations_fail_from_one_on),
        cmocka_unit_test(notifications_do_not_allocate),
        cmocka_unit_test(a_deframer_loses_one_message_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
