/*
 * Fuzzes a peer with bytes and with what its owner does.  The first byte chooses options; after it
 * all bytes are fed as they are, but 0xff and the byte behind it are an action of the owner.
 *
 * Held: every request of ours gets exactly one reply; every answer that was accepted is in the
 * output once; the output is whole frames of valid JSON-RPC; nothing comes after the close.
 */
#include <stdlib.h>

#include "acp/rpc.h"
#include "acp/scan.h"
#include "fuzz.h"

enum { MAX_ASKED = 256, MAX_OPEN = 64, OUR_CODE = 4242 };

struct owner {
    struct acp_peer *peer; /* NULL once it is freed */
    uint8_t replies[MAX_ASKED];
    size_t asked;
    acp_call open[MAX_OPEN];
    size_t open_count;
    size_t results; /* accepted by the peer, and seen in its output */
    size_t results_seen;
    size_t errors;
    size_t errors_seen;
    size_t closed;
    uint8_t inside; /* an action for the next callback */
    uint64_t now;
};

static void act(struct owner *o, uint8_t what);

static void act_inside(struct owner *o)
{
    uint8_t what = o->inside;
    o->inside = 0;
    if (what)
        act(o, what);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *m,
                       void *user)
{
    struct owner *o = user;
    CHECK(acp_peer_call_id(peer, call).ptr);
    CHECK(acp_json_validate(m->text, 0, NULL) == 0);
    if (o->open_count < MAX_OPEN)
        o->open[o->open_count++] = call;
    else if (acp_peer_result(peer, call, m->params) == 0)
        o->results++;
    act_inside(o);
    CHECK(acp_json_validate(m->text, 0, NULL) == 0);
}

static void on_notification(struct acp_peer *peer, const struct acp_message *m, void *user)
{
    (void) peer;
    CHECK(!acp_str_is(m->method, "$/cancel_request"));
    act_inside(user);
    CHECK(acp_json_validate(m->text, 0, NULL) == 0);
}

static void on_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    CHECK(acp_peer_call_id(peer, call).ptr);
    act_inside(user);
}

static void on_protocol_error(struct acp_peer *peer, enum acp_protocol_error what,
                              struct acp_str text, void *user)
{
    (void) peer;
    CHECK(text.ptr || what == ACP_PROTOCOL_ERROR_TOO_LARGE);
    act_inside(user);
}

static void on_wake(void *user)
{
    act_inside(user);
}

static void on_closed(struct acp_peer *peer, int reason, void *user)
{
    struct owner *o = user;
    CHECK(reason < 0 && acp_peer_is_closed(peer) && acp_peer_pending(peer) == 0);
    o->closed++;
    act_inside(o);
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    (void) peer;
    struct owner *o = user;
    CHECK(request < MAX_ASKED && !o->replies[request]);
    o->replies[request] = 1;
    if (reply->err == 0)
        CHECK(acp_json_validate(reply->result, 0, NULL) == 0);
    act_inside(o);
}

/* ---- The output ----------------------------------------------------------------------------- */

static int64_t code_in(struct acp_raw error)
{
    struct acp_json_reader r;
    struct acp_str key;
    int64_t code;
    acp_json_reader_init(&r, error, NULL, 0);
    CHECK(acp_json_enter_object(&r) == 0);
    CHECK(acp_json_next_key(&r, &key) == 1 && acp_str_is(key, "code"));
    CHECK(acp_json_read_i64(&r, &code) == 0);
    return code;
}

static void take_output(struct owner *o)
{
    struct acp_deframer d;
    struct acp_frame frame;
    struct acp_str out = acp_peer_output(o->peer);
    acp_deframer_init(&d, acp_peer_framing(o->peer), 0);
    acp_deframer_feed(&d, out.ptr, out.len);
    for (;;) {
        CHECK(acp_deframer_next(&d, &frame) == 0);
        if (!frame.kind)
            break;
        struct acp_scan s;
        struct acp_raw text = acp_raw_n(frame.text.ptr, frame.text.len);
        CHECK(frame.kind == ACP_FRAME_MESSAGE);
        CHECK(acp_json_validate(text, 0, NULL) == 0);
        CHECK(acp_scan_message(text, acp_str_from(NULL), &s, NULL) == 0 && s.version_ok);
        CHECK(s.kind == ACP_SCAN_REQUEST || s.kind == ACP_SCAN_NOTIFICATION ||
              s.kind == ACP_SCAN_RESPONSE);
        if (s.result.ptr)
            o->results_seen++;
        if (s.error.ptr && code_in(s.error) == OUR_CODE)
            o->errors_seen++;
    }
    CHECK(d.pending.len == 0 && d.input_len == 0);
    acp_deframer_finish(&d);
    acp_peer_sent(o->peer, out.len);
}

/* ---- The owner ------------------------------------------------------------------------------ */

static void ask(struct owner *o, uint64_t timeout_ms)
{
    struct acp_request request = {
        .method = acp_str_from("ask"), .timeout_ms = timeout_ms, .reply = on_reply, .user = o};
    if (o->asked == MAX_ASKED)
        return;
    /* Counted before: the output callback may already bring the end. */
    o->asked++;
    if (acp_peer_request(o->peer, &request, acp_raw_from("{}"), NULL))
        o->asked--;
}

static void answer(struct owner *o, uint8_t how)
{
    if (!o->open_count)
        return;
    acp_call call = o->open[--o->open_count];
    switch (how % 4) {
    case 0:
        o->results++;
        if (acp_peer_result(o->peer, call, acp_raw_from("[\n1]")))
            o->results--;
        break;
    case 1:
        o->errors++;
        if (acp_peer_error(o->peer, call, OUR_CODE, acp_str_from("a\x01\nb"), acp_raw_from("{}")))
            o->errors--;
        break;
    case 2: {
        struct acp_json_writer *w = acp_peer_begin_result(o->peer, call);
        bool begun = !w->err;
        acp_json_begin_object(w);
        acp_peer_abort(o->peer);
        if (!begun)
            break;
        CHECK(acp_peer_call_id(o->peer, call).ptr);
        o->open[o->open_count++] = call;
        break;
    }
    default: {
        struct acp_json_writer *w = acp_peer_begin_result(o->peer, call);
        int begun = w->err;
        acp_json_write_f64(w, 1.0 / 0.0);
        CHECK(acp_peer_commit(o->peer, NULL) == (begun ? begun : ACP_ERR_RANGE));
        break;
    }
    }
}

static void act(struct owner *o, uint8_t what)
{
    switch (what % 16) {
    case 1:
        ask(o, what / 16);
        break;
    case 2:
    case 3:
    case 4:
    case 5:
        answer(o, what);
        break;
    case 6:
        (void) acp_peer_notify(o->peer, acp_str_from("tell"), acp_raw_from("{\r\n}"));
        break;
    case 7:
        (void) acp_peer_cancel(o->peer, what / 16);
        break;
    case 8:
        o->now += what / 16;
        acp_peer_tick(o->peer, o->now);
        break;
    case 9:
        (void) acp_peer_receive(o->peer, "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n", 32, o->now);
        break;
    case 10:
        if (what / 16 == 15)
            acp_peer_receive_end(o->peer, o->now);
        break;
    case 11:
        if (what / 16 == 15)
            acp_peer_close(o->peer, ACP_ERR_CANCELLED);
        break;
    case 12:
        if (what / 16 == 15) {
            acp_peer_free(o->peer);
            CHECK(o->closed == 1);
            o->peer = NULL;
        }
        break;
    default:
        break;
    }
}

/* The peer must see its output taken before it can choose another framing. */
static void feed(struct owner *o, const uint8_t *bytes, size_t n)
{
    take_output(o);
    char *copy = malloc(n ? n : 1);
    CHECK(copy);
    if (n)
        memcpy(copy, bytes, n);
    bool closed = acp_peer_is_closed(o->peer);
    int err = acp_peer_receive(o->peer, copy, n, o->now);
    free(copy);
    if (!o->peer)
        return;
    CHECK(closed ? err == ACP_ERR_CLOSED && acp_peer_output(o->peer).len == 0
                 : !err == !acp_peer_is_closed(o->peer));
    take_output(o);
}

static void act_on(struct owner *o, uint8_t what)
{
    if (what % 16 == 15)
        o->inside = (uint8_t) (what / 16 | (what & 0x80 ? 0xf0 : 0));
    else
        act(o, what);
    if (o->peer)
        take_output(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct acp_peer_handler handler = {.request = on_request,
                                                    .notification = on_notification,
                                                    .cancel = on_cancel,
                                                    .protocol_error = on_protocol_error,
                                                    .closed = on_closed};
    if (size == 0)
        return 0;
    struct owner o = {0};
    struct acp_peer_options options = {.framing = (enum acp_framing)(data[0] % 3),
                                       .max_message = data[0] & 4 ? 100 : 0,
                                       .max_output = data[0] & 8 ? 300 : 0,
                                       .max_calls = data[0] & 16 ? 2 : 0,
                                       .max_pending = data[0] & 32 ? 2 : 0,
                                       .ignore_parse_errors = data[0] & 64,
                                       .null_ids = data[0] & 128};
    CHECK(acp_peer_new(&options, &handler, &o, &o.peer) == 0);
    acp_endpoint_on_wake(acp_peer_endpoint(o.peer), on_wake, &o);
    size_t at = 1;
    while (at < size && o.peer) {
        const uint8_t *mark = memchr(data + at, 0xff, size - at);
        size_t end = mark ? (size_t) (mark - data) : size;
        if (end > at)
            feed(&o, data + at, end - at);
        at = end + 1;
        if (at < size && o.peer)
            act_on(&o, data[at++]);
    }
    o.inside = 0;
    if (o.peer) {
        acp_peer_receive_end(o.peer, o.now);
        CHECK(acp_peer_is_closed(o.peer) && o.closed == 1);
        take_output(&o);
        CHECK(o.results == o.results_seen && o.errors == o.errors_seen);
        acp_peer_free(o.peer);
    }
    for (size_t i = 0; i < o.asked; i++)
        CHECK(o.replies[i]);
    CHECK(o.closed == 1);
    return 0;
}
