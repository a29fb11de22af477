/*
 * Receiving: what is done with one message.  peer.c hands over each frame; the scan says what kind
 * of message it is, and each kind has its function here.
 *
 * The rule of rules: a request gets one response; a notification, and whatever looks like a
 * response, gets none, however broken.  The owner hears of trouble after it has been dealt with.
 */
#include <stdio.h>

#include "acp/scan.h"
#include "rpc/peer.h"

static const struct acp_raw null_id = ACP_STR("null");
static const struct acp_raw absent = {NULL, 0};
static const struct acp_str no_key = {NULL, 0};

static void clear_arena(struct acp_peer *peer)
{
    if (peer->arena.used > RPC_KEEP_MAX)
        acp_arena_finish(&peer->arena);
    else
        acp_arena_reset(&peer->arena);
}

static void report(struct acp_peer *peer, enum acp_protocol_error what, struct acp_str text)
{
    if (!peer->closed && peer->handler.protocol_error)
        peer->handler.protocol_error(peer, what, text, peer->user);
}

static void refuse(struct acp_peer *peer, struct acp_raw id, int code, const char *message)
{
    (void) acp_rpc_respond_error(peer, id, code, acp_str_from(message), absent);
}

/* Answers input that is not a message, and reports it. */
static void reject(struct acp_peer *peer, struct acp_raw id, const char *message,
                   struct acp_str text)
{
    refuse(peer, id, RPC_INVALID_REQUEST, message);
    report(peer, ACP_PROTOCOL_ERROR_INVALID_MESSAGE, text);
}

/* ---- Requests and notifications ------------------------------------------------------------- */

/* What is wrong with the envelope of a request or notification; NULL when nothing is. */
static const char *envelope_fault(const struct acp_scan *s)
{
    if (!s->version_ok)
        return "jsonrpc must be \"2.0\"";
    if (s->method.ptr[0] != '"')
        return "method must be a string";
    if (s->params.ptr && !strchr("{[n", s->params.ptr[0]))
        return "params must be an object or an array";
    return NULL;
}

/* ACP_ERR_NOMEM when the method has escapes and there is no memory to unfold them. */
static int read_message(struct acp_peer *peer, const struct acp_scan *s, struct acp_str text,
                        struct acp_message *ret)
{
    *ret = (struct acp_message){.method = acp_scan_plain(s->method),
                                .params = s->params,
                                .session_id = s->session_id,
                                .key = s->key,
                                .text = acp_raw_n(text.ptr, text.len)};
    if (s->params.ptr && s->params.ptr[0] == 'n')
        ret->params = absent;
    if (ret->method.ptr)
        return 0;
    struct acp_json_reader r;
    acp_json_reader_init(&r, s->method, &peer->arena, 0);
    return acp_json_read_str(&r, &ret->method);
}

static bool is_cancel(const struct acp_peer *peer, struct acp_str method)
{
    return method.len && acp_str_eq(method, peer->options.cancel_method);
}

static void open_and_serve(struct acp_peer *peer, struct acp_raw id,
                           const struct acp_message *message)
{
    struct call *call;
    switch (acp_rpc_call_open(peer, id, &call)) {
    case 0:
        peer->handler.request(peer, call->number, message, peer->user);
        break;
    case ACP_ERR_STATE:
        refuse(peer, id, RPC_INVALID_REQUEST, "a request with this id is still open");
        report(peer, ACP_PROTOCOL_ERROR_DUPLICATE_ID,
               acp_str_n(message->text.ptr, message->text.len));
        break;
    case ACP_ERR_LIMIT:
        refuse(peer, id, RPC_INTERNAL_ERROR, "too many open requests");
        break;
    default:
        refuse(peer, id, RPC_INTERNAL_ERROR, "out of memory");
        break;
    }
}

static void on_request(struct acp_peer *peer, const struct acp_scan *s, struct acp_str text)
{
    enum id_kind kind = acp_rpc_id_kind(s->id);
    if (kind == ID_BAD || (kind == ID_NULL && !peer->options.null_ids)) {
        reject(peer, null_id, "id must be a string or an integer", text);
        return;
    }
    const char *fault = envelope_fault(s);
    if (fault) {
        reject(peer, s->id, fault, text);
        return;
    }
    struct acp_message message;
    if (read_message(peer, s, text, &message))
        refuse(peer, s->id, RPC_INTERNAL_ERROR, "out of memory");
    else if (!peer->handler.request || is_cancel(peer, message.method))
        refuse(peer, s->id, RPC_METHOD_NOT_FOUND, "Method not found");
    else
        open_and_serve(peer, s->id, &message);
}

/*
 * The wish is passed on for a call that is open.  Anything else about it is ignored: it may have
 * crossed our response, and there is no one to tell.
 */
static void on_cancel(struct acp_peer *peer, struct acp_str text)
{
    struct acp_scan s;
    if (acp_scan_message(acp_raw_n(text.ptr, text.len), peer->options.cancel_key, &s, NULL))
        return;
    const struct call *call = acp_rpc_call_by_id(peer, s.key);
    if (call && peer->handler.cancel)
        peer->handler.cancel(peer, call->number, peer->user);
}

static void on_notification(struct acp_peer *peer, const struct acp_scan *s, struct acp_str text)
{
    if (envelope_fault(s)) {
        report(peer, ACP_PROTOCOL_ERROR_INVALID_MESSAGE, text);
        return;
    }
    struct acp_message message;
    int err = read_message(peer, s, text, &message);
    if (err)
        acp_peer_close(peer, err); /* it would be lost in silence */
    else if (is_cancel(peer, message.method))
        on_cancel(peer, text);
    else if (peer->handler.notification)
        peer->handler.notification(peer, &message, peer->user);
}

/* ---- Responses ------------------------------------------------------------------------------ */

/* One member of an error object.  A wrong type is passed over; what is missing shows at the end. */
static int read_error_member(struct acp_json_reader *r, struct acp_str key, struct acp_reply *reply,
                             bool *has_code)
{
    if (acp_str_is(key, "code")) {
        *has_code = acp_json_read_i64(r, &reply->error_code) == 0;
        return *has_code ? 0 : acp_json_skip(r);
    }
    if (acp_str_is(key, "message")) {
        int err = acp_json_read_str(r, &reply->error_message);
        if (err != ACP_ERR_TYPE)
            return err;
        reply->error_message = no_key;
        return acp_json_skip(r);
    }
    if (acp_str_is(key, "data"))
        return acp_json_read_raw(r, &reply->error_data);
    return acp_json_skip(r);
}

/* An object with an integer code and a text as message, or it is malformed. */
static struct acp_reply read_error(struct acp_peer *peer, struct acp_raw error)
{
    struct acp_reply reply = {.err = ACP_ERR_REMOTE};
    struct acp_json_reader r;
    struct acp_str key;
    bool has_code = false;
    acp_json_reader_init(&r, error, &peer->arena, 0);
    int err = acp_json_enter_object(&r);
    while (!err && (err = acp_json_next_key(&r, &key)) > 0)
        err = read_error_member(&r, key, &reply, &has_code);
    if (err == ACP_ERR_NOMEM)
        reply.err = err;
    else if (err || !has_code || !reply.error_message.ptr)
        reply.err = ACP_ERR_MALFORMED;
    return reply;
}

static void on_response(struct acp_peer *peer, const struct acp_scan *s, struct acp_str text)
{
    struct asked *asked = acp_rpc_asked_find(peer, s->id);
    if (!asked) {
        report(peer, ACP_PROTOCOL_ERROR_UNEXPECTED_RESPONSE, text);
        return;
    }
    struct acp_reply reply = {.err = ACP_ERR_MALFORMED};
    if (s->version_ok && s->kind == ACP_SCAN_RESPONSE) {
        if (s->error.ptr)
            reply = read_error(peer, s->error);
        else
            reply = (struct acp_reply){.result = s->result};
    }
    acp_rpc_settle(peer, asked, &reply);
}

/* ---- Input that is not a message ------------------------------------------------------------ */

/*
 * An object with an id and nothing else that we know.  With the id of a request of ours it is the
 * answer of a peer whose result was undefined; otherwise it is a request gone wrong.
 */
static void on_invalid(struct acp_peer *peer, const struct acp_scan *s, struct acp_str text)
{
    if (acp_rpc_asked_find(peer, s->id))
        on_response(peer, s, text);
    else
        reject(peer, acp_rpc_id_kind(s->id) == ID_GOOD ? s->id : null_id,
               "not a JSON-RPC 2.0 message", text);
}

/* Whether one thing in the array is owed an answer.  An empty one is owed one itself. */
static bool is_owed_answer(struct acp_raw array)
{
    struct acp_json_reader r;
    acp_json_reader_init(&r, array, NULL, 0);
    bool empty = true;
    (void) acp_json_enter_array(&r);
    while (acp_json_next_item(&r) > 0) {
        struct acp_raw item;
        struct acp_scan s;
        empty = false;
        if (acp_json_read_raw(&r, &item) || acp_scan_message(item, no_key, &s, NULL))
            return true;
        if (s.kind != ACP_SCAN_NOTIFICATION && s.kind != ACP_SCAN_RESPONSE &&
            s.kind != ACP_SCAN_BAD_RESPONSE)
            return true;
    }
    return empty;
}

/* Batches are no longer part of the protocol: nothing in one is done. */
static void on_batch(struct acp_peer *peer, struct acp_str text)
{
    if (is_owed_answer(acp_raw_n(text.ptr, text.len)))
        reject(peer, null_id, "batches are not supported", text);
    else
        report(peer, ACP_PROTOCOL_ERROR_INVALID_MESSAGE, text);
}

static void on_noise(struct acp_peer *peer, struct acp_str text)
{
    /* Nobody waits for this answer: a side that does not read gets no more of them. */
    if (!peer->options.ignore_parse_errors && !peer->pressed)
        refuse(peer, null_id, RPC_PARSE_ERROR, "Parse error");
    report(peer, ACP_PROTOCOL_ERROR_PARSE, text);
}

/*
 * Reads what there is of the envelope in the beginning of a message that was dropped.  Kind is
 * INVALID when that does not tell a request from the rest.
 */
static struct acp_scan scan_beginning(struct acp_peer *peer, struct acp_str text)
{
    struct acp_scan s = {0};
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_raw value;
    acp_json_reader_init(&r, acp_raw_n(text.ptr, text.len), &peer->arena, 0);
    (void) acp_json_enter_object(&r);
    while (acp_json_next_key(&r, &key) > 0) {
        if (acp_str_is(key, "result") || acp_str_is(key, "error")) {
            s.kind = s.method.ptr ? s.kind : ACP_SCAN_BAD_RESPONSE;
            return s;
        }
        /* A number at the very end may have more digits. */
        if (acp_json_read_raw(&r, &value) || r.at == r.end)
            return s;
        if (acp_str_is(key, "id"))
            s.id = value;
        else if (acp_str_is(key, "method"))
            s.method = value;
        if (s.id.ptr && s.method.ptr)
            s.kind = ACP_SCAN_REQUEST;
    }
    return s;
}

/* The request it was, or was the answer to, is failed where its beginning names it. */
static void on_too_large(struct acp_peer *peer, struct acp_str text)
{
    char message[80];
    clear_arena(peer);
    struct acp_scan s = scan_beginning(peer, text);
    if (s.kind == ACP_SCAN_BAD_RESPONSE) {
        struct asked *asked = acp_rpc_asked_find(peer, s.id);
        if (asked)
            acp_rpc_settle_err(peer, asked, ACP_ERR_LIMIT);
        report(peer, ACP_PROTOCOL_ERROR_TOO_LARGE, text);
        return;
    }
    bool named = s.kind == ACP_SCAN_REQUEST && acp_rpc_id_kind(s.id) == ID_GOOD;
    (void) snprintf(message, sizeof(message), "message larger than the limit of %zu bytes",
                    peer->deframer.max_message);
    refuse(peer, named ? s.id : null_id, RPC_INVALID_REQUEST, message);
    report(peer, ACP_PROTOCOL_ERROR_TOO_LARGE, text);
}

/* ---- Dispatch ------------------------------------------------------------------------------- */

static void on_message(struct acp_peer *peer, struct acp_str text)
{
    struct acp_scan s;
    clear_arena(peer);
    if (acp_scan_message(acp_raw_n(text.ptr, text.len), peer->options.key, &s, NULL)) {
        on_noise(peer, text);
        return;
    }
    switch (s.kind) {
    case ACP_SCAN_REQUEST:
        on_request(peer, &s, text);
        break;
    case ACP_SCAN_NOTIFICATION:
        on_notification(peer, &s, text);
        break;
    case ACP_SCAN_RESPONSE:
    case ACP_SCAN_BAD_RESPONSE:
        on_response(peer, &s, text);
        break;
    case ACP_SCAN_ARRAY:
        on_batch(peer, text);
        break;
    case ACP_SCAN_INVALID:
        on_invalid(peer, &s, text);
        break;
    }
}

void acp_rpc_dispatch(struct acp_peer *peer, const struct acp_frame *frame)
{
    switch (frame->kind) {
    case ACP_FRAME_MESSAGE:
        on_message(peer, frame->text);
        break;
    case ACP_FRAME_TOO_LARGE:
        on_too_large(peer, frame->text);
        break;
    case ACP_FRAME_NOISE:
        on_noise(peer, frame->text);
        break;
    case ACP_FRAME_NONE:
        break;
    }
}
