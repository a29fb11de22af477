/*
 * Sending: how a message gets into the output.  Each is written where it will be sent from, with
 * the framing around it, and taken back whole when anything about it fails.
 *
 * Responses are special: one is owed for each call.  When a result cannot be written the call is
 * answered with an error, and when not even that can be, the peer closes.
 */
#include "rpc/peer.h"

#include <stdlib.h>

#define PARAMS_KEY ",\"params\":"

/* Appends envelope text; like the writer it ignores what comes after a failure. */
#define PUT(w, literal) put((w), (literal), sizeof(literal) - 1)

static void put(struct acp_json_writer *w, const char *bytes, size_t n)
{
    if (!w->err)
        w->err = acp_buf_append(w->out, bytes, n);
}

/* ---- One message ---------------------------------------------------------------------------- */

static int start(struct acp_peer *peer, enum open_kind kind)
{
    struct open_message open = {.kind = kind, .framing = acp_peer_framing(peer)};
    int err = acp_frame_begin(&peer->out, open.framing, &open.mark);
    if (err)
        return err;
    acp_json_writer_init(&peer->writer, &peer->out);
    PUT(&peer->writer, "{\"jsonrpc\":\"2.0\"");
    peer->open = open;
    return 0;
}

/* The envelope is written up to the params or result, which the writer is ready for. */
static int await_value(struct acp_peer *peer)
{
    int err = peer->writer.err;
    if (err) {
        acp_rpc_take_back(peer);
        return err;
    }
    peer->writer.comma = false;
    peer->open.value_at = peer->out.len;
    return 0;
}

static void put_method(struct acp_peer *peer, struct acp_str method)
{
    struct acp_json_writer *w = &peer->writer;
    PUT(w, ",\"method\":");
    w->comma = false;
    acp_json_write_str(w, method);
    PUT(w, PARAMS_KEY);
}

/* Where no value was written, params are left out and a result is the empty object. */
static void fill_value(struct acp_peer *peer)
{
    if (peer->writer.err || peer->out.len != peer->open.value_at)
        return;
    if (peer->open.kind == OPEN_RESULT)
        PUT(&peer->writer, "{}");
    else
        acp_buf_truncate(&peer->out, peer->open.value_at - (sizeof(PARAMS_KEY) - 1));
}

/* Completes the message, or takes it back. */
static int finish(struct acp_peer *peer)
{
    fill_value(peer);
    PUT(&peer->writer, "}");
    if (peer->writer.err) {
        acp_buf_truncate(&peer->out, peer->open.mark);
        return peer->writer.err;
    }
    return acp_frame_end(&peer->out, peer->open.framing, peer->open.mark);
}

/*
 * Tells the owner about output that has been added behind mark; whoever drives the peer must look
 * again for the first of it, and for a request whose time begins.
 */
static void announce(struct acp_peer *peer, size_t mark, bool timed)
{
    if (mark == 0 || timed)
        acp_endpoint_wake(&peer->endpoint);
    if (peer->pressed || peer->out.len <= peer->options.high_water)
        return;
    peer->pressed = true;
    if (peer->handler.pressure)
        peer->handler.pressure(peer, true, peer->user);
}

/* ---- Requests and notifications ------------------------------------------------------------- */

static int may_send(const struct acp_peer *peer, struct acp_str method)
{
    if (peer->closed)
        return ACP_ERR_CLOSED;
    if (peer->open.kind)
        return ACP_ERR_STATE;
    return acp_is_set(method.ptr) ? 0 : ACP_ERR_ARGUMENT;
}

static int begin_request(struct acp_peer *peer, const struct acp_request *request)
{
    int err = may_send(peer, request->method);
    if (err)
        return err;
    struct asked *asked;
    err = acp_rpc_asked_add(peer, request, &asked);
    if (err)
        return err;
    err = start(peer, OPEN_REQUEST);
    if (err) {
        acp_rpc_asked_drop(peer, asked);
        return err;
    }
    peer->open.asked = asked;
    PUT(&peer->writer, ",\"id\":");
    acp_json_write_u64(&peer->writer, asked->number);
    put_method(peer, request->method);
    return await_value(peer);
}

static int begin_notify(struct acp_peer *peer, struct acp_str method)
{
    int err = may_send(peer, method);
    if (!err)
        err = start(peer, OPEN_NOTIFY);
    if (err)
        return err;
    put_method(peer, method);
    return await_value(peer);
}

/*
 * The writer for what was begun.  After a failure it is one that takes anything and writes nothing,
 * so that callers need to look at the result of commit only.  A second begin is a mistake of the
 * caller, who is told by the commit of the first.
 */
static struct acp_json_writer *writer_for(struct acp_peer *peer, int err)
{
    if (err && peer->open.kind == OPEN_NONE) {
        peer->open.kind = OPEN_FAILED;
        acp_json_writer_init(&peer->writer, &peer->out);
    }
    if (err && !peer->writer.err)
        peer->writer.err = err;
    return &peer->writer;
}

struct acp_json_writer *acp_peer_begin_request(struct acp_peer *peer,
                                               const struct acp_request *request)
{
    return writer_for(peer, begin_request(peer, request));
}

struct acp_json_writer *acp_peer_begin_notify(struct acp_peer *peer, struct acp_str method)
{
    return writer_for(peer, begin_notify(peer, method));
}

static void write_value(struct acp_peer *peer, struct acp_raw value)
{
    if (acp_is_set(value.ptr) && value.len)
        acp_json_write_raw(&peer->writer, value);
}

int acp_peer_request(struct acp_peer *peer, const struct acp_request *request,
                     struct acp_raw params, uint64_t *ret_request)
{
    int err = begin_request(peer, request);
    if (err)
        return err;
    write_value(peer, params);
    return acp_peer_commit(peer, ret_request);
}

int acp_peer_notify(struct acp_peer *peer, struct acp_str method, struct acp_raw params)
{
    int err = begin_notify(peer, method);
    if (err)
        return err;
    write_value(peer, params);
    return acp_peer_commit(peer, NULL);
}

int acp_rpc_send_cancel(struct acp_peer *peer, uint64_t number)
{
    if (!peer->options.cancel_method.len)
        return 0;
    int err = begin_notify(peer, peer->options.cancel_method);
    if (err)
        return err;
    acp_json_begin_object(&peer->writer);
    acp_json_write_key(&peer->writer, peer->options.cancel_key);
    acp_json_write_u64(&peer->writer, number);
    acp_json_end_object(&peer->writer);
    return acp_peer_commit(peer, NULL);
}

/* ---- Responses ------------------------------------------------------------------------------ */

static void put_id(struct acp_peer *peer, struct acp_raw id)
{
    PUT(&peer->writer, ",\"id\":");
    put(&peer->writer, id.ptr, id.len);
}

/*
 * The message of an error is one line without control characters, and never empty.  When there is
 * no memory to clean it, the stand-in does.
 */
static struct acp_str clean_message(struct acp_peer *peer, struct acp_str message)
{
    static const struct acp_str stand_in = ACP_STR("Internal error");
    size_t len = 0;
    size_t kept = 0;
    bool visible = false;
    for (; len < message.len && message.ptr[len] != '\n' && message.ptr[len] != '\r'; len++) {
        bool control = (unsigned char) message.ptr[len] < ' ' || message.ptr[len] == 0x7f;
        kept += control ? 0 : 1;
        visible |= !control && message.ptr[len] != ' ';
    }
    if (!visible)
        return stand_in;
    if (kept == len)
        return acp_str_n(message.ptr, len);
    /* Outside of receive() nothing lives in the arena. */
    if (!peer->receiving)
        acp_arena_reset(&peer->arena);
    char *copy = acp_arena_alloc(&peer->arena, kept);
    if (!copy)
        return stand_in;
    size_t at = 0;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char) message.ptr[i] >= ' ' && message.ptr[i] != 0x7f)
            copy[at++] = message.ptr[i];
    return acp_str_n(copy, kept);
}

/* Writes one error response.  On failure the output is as it was. */
static int put_error(struct acp_peer *peer, struct acp_raw id, int64_t code, struct acp_str message,
                     struct acp_raw data, size_t *ret_mark)
{
    int err = start(peer, OPEN_RESULT);
    if (err)
        return err;
    struct acp_json_writer *w = &peer->writer;
    put_id(peer, id);
    PUT(w, ",\"error\":{\"code\":");
    acp_json_write_i64(w, code);
    PUT(w, ",\"message\":");
    w->comma = false;
    acp_json_write_str(w, message);
    if (acp_is_set(data.ptr) && data.len) {
        PUT(w, ",\"data\":");
        w->comma = false;
        acp_json_write_raw(w, data);
    }
    PUT(w, "}");
    err = finish(peer);
    if (!err)
        *ret_mark = peer->open.mark;
    peer->open = (struct open_message){0};
    return err;
}

int acp_rpc_respond_error(struct acp_peer *peer, struct acp_raw id, int64_t code,
                          struct acp_str message, struct acp_raw data)
{
    size_t mark;
    struct acp_str line = clean_message(peer, message);
    int err = put_error(peer, id, code, line, data, &mark);
    if (err && data.ptr)
        err = put_error(peer, id, code, line, acp_raw_n(NULL, 0), &mark);
    acp_rpc_enter(peer);
    if (err)
        acp_peer_close(peer, err);
    else
        announce(peer, mark, false);
    acp_rpc_leave(peer);
    return err;
}

/* The call to be answered.  After the close there is no answer, but the record goes. */
static int call_to_answer(struct acp_peer *peer, acp_call number, struct call **ret)
{
    if (peer->open.kind)
        return ACP_ERR_STATE;
    struct call *call = acp_rpc_call_find(peer, number);
    if (!call)
        return ACP_ERR_UNKNOWN;
    if (peer->closed) {
        acp_rpc_call_detach(peer, call);
        free(call);
        return ACP_ERR_CLOSED;
    }
    *ret = call;
    return 0;
}

int acp_peer_error(struct acp_peer *peer, acp_call call, int64_t code, struct acp_str message,
                   struct acp_raw data)
{
    struct call *found;
    int err = call_to_answer(peer, call, &found);
    if (err)
        return err;
    acp_rpc_call_detach(peer, found);
    err = acp_rpc_respond_error(peer, acp_rpc_call_id(found), code, message, data);
    free(found);
    return err;
}

int acp_peer_error_for(struct acp_peer *peer, acp_call call, int err)
{
    return acp_peer_error(peer, call, acp_err_rpc_code(err), acp_str_from(acp_err_text(err)),
                          acp_raw_n(NULL, 0));
}

/*
 * A result that could not be written.  The caller has detached the call and frees it.  What went
 * wrong is ours to know, so the other side is told no more than that.
 */
static void respond_failure(struct acp_peer *peer, const struct call *call)
{
    static const struct acp_str text = ACP_STR("Internal error");
    (void) acp_rpc_respond_error(peer, acp_rpc_call_id(call), RPC_INTERNAL_ERROR, text,
                                 acp_raw_n(NULL, 0));
}

static int begin_result(struct acp_peer *peer, acp_call number)
{
    struct call *call;
    int err = call_to_answer(peer, number, &call);
    if (err)
        return err;
    err = start(peer, OPEN_RESULT);
    if (!err) {
        peer->open.call = call;
        put_id(peer, acp_rpc_call_id(call));
        PUT(&peer->writer, ",\"result\":");
        err = await_value(peer);
    }
    if (err) {
        acp_rpc_call_detach(peer, call);
        respond_failure(peer, call);
        free(call);
    }
    return err;
}

struct acp_json_writer *acp_peer_begin_result(struct acp_peer *peer, acp_call call)
{
    return writer_for(peer, begin_result(peer, call));
}

int acp_peer_result(struct acp_peer *peer, acp_call call, struct acp_raw result)
{
    int err = begin_result(peer, call);
    if (err)
        return err;
    write_value(peer, result);
    return acp_peer_commit(peer, NULL);
}

/* ---- Commit --------------------------------------------------------------------------------- */

int acp_peer_commit(struct acp_peer *peer, uint64_t *ret_request)
{
    if (peer->open.kind == OPEN_NONE)
        return ACP_ERR_STATE;
    int err = peer->open.kind == OPEN_FAILED ? peer->writer.err : finish(peer);
    struct open_message open = peer->open;
    bool timed = false;
    peer->open = (struct open_message){0};
    acp_rpc_enter(peer);
    if (open.call)
        acp_rpc_call_detach(peer, open.call);
    if (open.asked && err) {
        acp_rpc_asked_drop(peer, open.asked);
    } else if (open.asked) {
        timed = open.asked->timeout_ms > 0;
        peer->next_request++;
        /* Before the callback, which may bring the reply. */
        if (ret_request)
            *ret_request = open.asked->number;
    }
    if (!err)
        announce(peer, open.mark, timed);
    else if (open.call)
        respond_failure(peer, open.call);
    free(open.call);
    acp_rpc_leave(peer);
    return err;
}

void acp_peer_abort(struct acp_peer *peer)
{
    acp_rpc_take_back(peer);
}

void acp_rpc_take_back(struct acp_peer *peer)
{
    if (peer->open.kind != OPEN_NONE && peer->open.kind != OPEN_FAILED)
        acp_buf_truncate(&peer->out, peer->open.mark);
    if (peer->open.asked)
        acp_rpc_asked_drop(peer, peer->open.asked);
    peer->open = (struct open_message){0};
}
