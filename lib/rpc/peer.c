/*
 * The peer: its life, the bytes that go in and out, and the close.  Everything it owns is in struct
 * acp_peer; the owner of a connection calls what is here.
 *
 * Callbacks may call back in.  Three things make that safe: a depth counter puts off the free until
 * the outermost call returns; bytes fed while others are being served wait in the inbox; and every
 * loop here looks again at the peer after each callback.
 */
#include "rpc/peer.h"
#include "base/sized.h"

#include <assert.h>
#include <stdlib.h>

enum {
    DEFAULT_MAX_OUTPUT = 256 * 1024 * 1024,
    DEFAULT_HIGH_WATER = 1024 * 1024,
    DEFAULT_MAX_OPEN = 65536,
    EXCERPT = 200, /* of a message that is too large so much is looked at */
};

static void set_defaults(struct acp_peer_options *o)
{
    if (!o->max_message)
        o->max_message = ACP_WIRE_DEFAULT_MAX;
    if (!o->max_output)
        o->max_output = DEFAULT_MAX_OUTPUT;
    if (!o->high_water)
        o->high_water = DEFAULT_HIGH_WATER;
    if (!o->low_water)
        o->low_water = o->high_water / 4;
    if (!o->max_calls)
        o->max_calls = DEFAULT_MAX_OPEN;
    if (!o->max_pending)
        o->max_pending = DEFAULT_MAX_OPEN;
    if (!o->cancel_method.ptr)
        o->cancel_method = acp_str_from("$/cancel_request");
    if (!o->cancel_key.ptr)
        o->cancel_key = acp_str_from("requestId");
}

/*
 * The other side chooses the keys of calls_by_id and must not know how they hash.  The library has
 * neither a clock nor a source of randomness; the address of the peer is what it has that an
 * attacker does not see.  The mix is that of splitmix64.
 */
static uint64_t seed_of(const struct acp_peer *peer)
{
    uint64_t z = (uint64_t) (uintptr_t) peer + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int endpoint_receive(void *self, const void *bytes, size_t n, uint64_t now)
{
    return acp_peer_receive(self, bytes, n, now);
}

static void endpoint_receive_end(void *self, uint64_t now)
{
    acp_peer_receive_end(self, now);
}

static int endpoint_receive_message(void *self, struct acp_raw text, uint64_t now)
{
    return acp_peer_receive_message(self, text, now);
}

static struct acp_str endpoint_output(void *self)
{
    return acp_peer_output(self);
}

static void endpoint_sent(void *self, size_t n)
{
    acp_peer_sent(self, n);
}

static uint64_t endpoint_deadline(void *self)
{
    return acp_peer_deadline(self);
}

static void endpoint_tick(void *self, uint64_t now)
{
    acp_peer_tick(self, now);
}

static bool endpoint_paused(void *self)
{
    return acp_peer_is_above_high_water(self);
}

static const struct acp_endpoint_handler endpoint_handler = {
    .receive = endpoint_receive,
    .receive_end = endpoint_receive_end,
    .receive_message = endpoint_receive_message,
    .output = endpoint_output,
    .sent = endpoint_sent,
    .deadline = endpoint_deadline,
    .tick = endpoint_tick,
    .paused = endpoint_paused,
};

struct acp_endpoint *acp_peer_endpoint(struct acp_peer *peer)
{
    return &peer->endpoint;
}

int acp_peer_new_sized(const struct acp_peer_options *options, size_t options_size,
                       const struct acp_peer_handler *handler, size_t handler_size, void *user,
                       struct acp_peer **ret)
{
    struct acp_peer *peer = calloc(1, sizeof(*peer));
    if (!peer)
        return ACP_ERR_NOMEM;
    int err = ACP_SIZED_COPY(&peer->options, options, options_size);
    if (!err)
        err = ACP_SIZED_COPY(&peer->handler, handler, handler_size);
    if (err) {
        free(peer);
        return err;
    }
    set_defaults(&peer->options);
    peer->user = user;
    peer->next_call = 1;
    acp_deframer_init(&peer->deframer, peer->options.framing, peer->options.max_message);
    acp_buf_init(&peer->inbox, peer->deframer.max_message);
    acp_buf_init(&peer->messages, peer->deframer.max_message + sizeof(size_t));
    acp_endpoint_init(&peer->endpoint, &endpoint_handler, peer);
    acp_buf_init(&peer->out, peer->options.max_output);
    acp_arena_init(&peer->arena, 0);
    acp_map_init(&peer->calls_by_id, seed_of(peer));
    *ret = peer;
    return 0;
}

static void destroy(struct acp_peer *peer)
{
    assert(!peer->oldest);
    size_t cursor = 0;
    struct call *call;
    while ((call = acp_numbers_next(&peer->calls, &cursor)))
        free(call);
    acp_numbers_finish(&peer->calls);
    acp_map_finish(&peer->calls_by_id);
    acp_numbers_finish(&peer->asked);
    acp_deadlines_finish(&peer->deadlines);
    acp_deframer_finish(&peer->deframer);
    acp_buf_finish(&peer->inbox);
    acp_buf_finish(&peer->messages);
    acp_buf_finish(&peer->out);
    acp_arena_finish(&peer->arena);
    void (*destroyed)(void *user) = peer->destroyed;
    void *user = peer->destroyed_user;
    free(peer);
    if (destroyed)
        destroyed(user);
}

void acp_rpc_on_destroy(struct acp_peer *peer, void (*destroyed)(void *user), void *user)
{
    peer->destroyed = destroyed;
    peer->destroyed_user = user;
}

void acp_rpc_enter(struct acp_peer *peer)
{
    peer->depth++;
}

void acp_rpc_leave(struct acp_peer *peer)
{
    if (--peer->depth == 0 && peer->freeing)
        destroy(peer);
}

/* ---- Close ---------------------------------------------------------------------------------- */

/*
 * Fails what is open and says that the peer is closed.  A callback in here may close or free the
 * peer again; the inner call then does all that is left, and the outer one finds nothing to do.
 */
static void finish_close(struct acp_peer *peer)
{
    while (peer->oldest)
        acp_rpc_settle_err(peer, peer->oldest, peer->reason);
    if (peer->closed_told)
        return;
    peer->closed_told = true;
    if (peer->handler.closed)
        peer->handler.closed(peer, peer->reason, peer->user);
}

void acp_peer_close(struct acp_peer *peer, int reason)
{
    if (peer->closed)
        return;
    acp_rpc_enter(peer);
    acp_rpc_take_back(peer);
    peer->closed = true;
    peer->reason = reason < 0 ? reason : ACP_ERR_CLOSED;
    finish_close(peer);
    acp_rpc_leave(peer);
}

void acp_peer_free(struct acp_peer *peer)
{
    if (!peer || peer->freeing)
        return;
    acp_rpc_enter(peer);
    /* All callbacks run now: when this returns, what they work on may be gone. */
    acp_peer_close(peer, ACP_ERR_CLOSED);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): acp_rpc_enter() keeps it */
    finish_close(peer);
    peer->handler = (struct acp_peer_handler){0};
    acp_endpoint_on_wake(&peer->endpoint, NULL, NULL);
    peer->freeing = true;
    acp_rpc_leave(peer);
}

bool acp_peer_is_above_high_water(const struct acp_peer *peer)
{
    return peer->pressed;
}

bool acp_peer_is_closed(const struct acp_peer *peer)
{
    return peer->closed;
}

/* ---- Bytes in ------------------------------------------------------------------------------- */

void acp_rpc_begin_timed(struct acp_peer *peer, uint64_t now)
{
    if (now > peer->now)
        peer->now = now;
    acp_rpc_arm(peer);
    peer->timed++;
}

/* Serves every whole message there is. */
static void pump(struct acp_peer *peer)
{
    while (!peer->closed) {
        struct acp_frame frame;
        int err = acp_deframer_next(&peer->deframer, &frame);
        /* A lost message may have been a request; better no connection than one without answer. */
        if (err)
            acp_peer_close(peer, err);
        else if (frame.kind)
            acp_rpc_dispatch(peer, &frame);
        else
            return;
    }
}

static void serve_message(struct acp_peer *peer, struct acp_raw text)
{
    struct acp_frame frame = {ACP_FRAME_MESSAGE, acp_str_n(text.ptr, text.len)};
    if (text.len > peer->deframer.max_message) {
        frame.kind = ACP_FRAME_TOO_LARGE;
        frame.text.len = EXCERPT;
    }
    acp_rpc_dispatch(peer, &frame);
}

static void pump_messages(struct acp_peer *peer)
{
    while (!peer->closed && peer->messages.len) {
        struct acp_buf chunk = peer->messages;
        acp_buf_init(&peer->messages, chunk.max);
        while (!peer->closed && chunk.len) {
            size_t len;
            memcpy(&len, acp_buf_view(&chunk).ptr, sizeof(len));
            acp_buf_consume(&chunk, sizeof(len));
            serve_message(peer, acp_raw_n(acp_buf_view(&chunk).ptr, len));
            acp_buf_consume(&chunk, len);
        }
        acp_buf_finish(&chunk);
    }
}

/* Serves what callbacks have fed meanwhile, in the order it came. */
static void pump_inbox(struct acp_peer *peer)
{
    pump_messages(peer);
    while (!peer->closed && peer->inbox.len) {
        struct acp_buf chunk = peer->inbox;
        acp_buf_init(&peer->inbox, chunk.max);
        struct acp_str bytes = acp_buf_view(&chunk);
        acp_deframer_feed(&peer->deframer, bytes.ptr, bytes.len);
        pump(peer);
        acp_buf_finish(&chunk);
    }
    if (!peer->closed && peer->end_seen) {
        acp_deframer_end(&peer->deframer);
        pump(peer);
        acp_peer_close(peer, ACP_ERR_CLOSED);
    }
}

int acp_peer_receive(struct acp_peer *peer, const void *bytes, size_t n, uint64_t now)
{
    assert(!peer->open.kind);
    if (peer->closed || peer->end_seen)
        return ACP_ERR_CLOSED;
    if (peer->receiving)
        return acp_buf_append(&peer->inbox, bytes, n);
    acp_rpc_enter(peer);
    acp_rpc_begin_timed(peer, now);
    peer->receiving = true;
    acp_deframer_feed(&peer->deframer, bytes, n);
    pump(peer);
    pump_inbox(peer);
    peer->receiving = false;
    int ret = peer->closed ? ACP_ERR_CLOSED : 0;
    peer->timed--;
    acp_rpc_leave(peer);
    return ret;
}

/* A message that a callback feeds while another is being served. */
static int keep_message(struct acp_peer *peer, struct acp_raw text)
{
    size_t had = peer->messages.len;
    int err = acp_buf_append(&peer->messages, &text.len, sizeof(text.len));
    if (!err)
        err = acp_buf_append(&peer->messages, text.ptr, text.len);
    if (err)
        acp_buf_truncate(&peer->messages, had);
    return err;
}

int acp_peer_receive_message(struct acp_peer *peer, struct acp_raw text, uint64_t now)
{
    assert(!peer->open.kind);
    if (peer->closed || peer->end_seen)
        return ACP_ERR_CLOSED;
    if (peer->receiving)
        return keep_message(peer, text);
    acp_rpc_enter(peer);
    acp_rpc_begin_timed(peer, now);
    peer->receiving = true;
    serve_message(peer, text);
    pump_inbox(peer);
    peer->receiving = false;
    int ret = peer->closed ? ACP_ERR_CLOSED : 0;
    peer->timed--;
    acp_rpc_leave(peer);
    return ret;
}

void acp_peer_receive_end(struct acp_peer *peer, uint64_t now)
{
    assert(!peer->open.kind);
    if (peer->closed || peer->end_seen)
        return;
    peer->end_seen = true;
    if (peer->receiving)
        return;
    acp_rpc_enter(peer);
    acp_rpc_begin_timed(peer, now);
    peer->receiving = true;
    pump_inbox(peer);
    peer->receiving = false;
    peer->timed--;
    acp_rpc_leave(peer);
}

/* ---- Bytes out ------------------------------------------------------------------------------ */

struct acp_str acp_peer_output(const struct acp_peer *peer)
{
    assert(!peer->open.kind);
    return acp_buf_view(&peer->out);
}

void acp_peer_sent(struct acp_peer *peer, size_t n)
{
    assert(!peer->open.kind && n <= peer->out.len);
    acp_buf_consume(&peer->out, n);
    if (peer->out.len == 0 && peer->out.cap > RPC_KEEP_MAX)
        acp_buf_finish(&peer->out);
    if (!peer->pressed || peer->out.len > peer->options.low_water)
        return;
    peer->pressed = false;
    if (!peer->handler.pressure)
        return;
    acp_rpc_enter(peer);
    peer->handler.pressure(peer, false, peer->user);
    acp_rpc_leave(peer);
}

enum acp_framing acp_peer_framing(const struct acp_peer *peer)
{
    enum acp_framing framing = peer->deframer.framing;
    return framing == ACP_FRAMING_AUTO ? ACP_FRAMING_LINES : framing;
}
