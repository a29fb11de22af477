/*
 * hub_connection.c - one connection of the hub: bytes in and out, messages, backpressure.
 *
 * Received bytes are cut into messages, scanned in place, and spliced into the output of another
 * connection; in the usual case a message is copied once.
 *
 * Backpressure.  When the output of a connection rises above the high-water mark, whoever sends to
 * it is held: an agent is not read until the output has fallen to the low-water mark; a client is
 * read slowly, because an agent that waits for the client's answer must get it (acp/endpoint.h).
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"

static const struct acp_raw null_id = ACP_STR("null");
static const struct acp_str request_id = ACP_STR("requestId"); /* of $/cancel_request */

/* ---- Sending --------------------------------------------------------------------------------- */

static bool is_agent(const struct hub_connection *c)
{
    return c->side == HUB_AGENT;
}

void hub_connection_close(struct hub_connection *c, int reason)
{
    if (c->closed)
        return;
    c->closed = true;
    c->reason = reason;
    if (is_agent(c)) {
        char why[100];
        (void) snprintf(why, sizeof(why), "its connection was closed: %s", acp_err_text(reason));
        hub_agent_stop((struct hub_agent *) c, why);
    } else if (c->hub->handler.client_closed) {
        c->hub->handler.client_closed((struct hub_client *) c, reason, c->hub->user);
    }
}

static void set_held(struct hub_connection *c, struct hub_connection *by)
{
    c->held_by = by;
    if (is_agent(c))
        hub_agent_pause((struct hub_agent *) c, by != NULL);
    else
        acp_endpoint_wake(c->endpoint);
}

void hub_connection_hold(struct hub_connection *sender, struct hub_connection *receiver)
{
    if (!receiver->high || sender->held_by || sender == receiver || receiver->closed)
        return;
    sender->next_held = receiver->holds;
    receiver->holds = sender;
    set_held(sender, receiver);
}

static void release_held(struct hub_connection *c)
{
    struct hub_connection *held;
    while ((held = c->holds)) {
        c->holds = held->next_held;
        set_held(held, NULL);
    }
}

static void leave_holder(struct hub_connection *c)
{
    if (!c->held_by)
        return;
    struct hub_connection **link = &c->held_by->holds;
    while (*link != c)
        link = &(*link)->next_held;
    *link = c->next_held;
    c->held_by = NULL;
}

static void after_append(struct hub_connection *c, size_t had)
{
    if (had == 0)
        acp_endpoint_wake(c->endpoint);
    if (c->out.len > HUB_HIGH_WATER)
        c->high = true;
}

static enum acp_framing framing_of(const struct hub_connection *c)
{
    return c->frames.framing == ACP_FRAMING_AUTO ? ACP_FRAMING_LINES : c->frames.framing;
}

/* A line must not contain line ends; outside of strings they are blanks. */
static void join_lines(struct hub_connection *c, size_t from)
{
    char *at = c->out.data + c->out.start + from;
    char *end = c->out.data + c->out.start + c->out.len;
    for (; at < end; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
}

/* For the owner's recording. */
static void tell_message(struct hub_connection *c, bool to_client, const char *text, size_t n)
{
    if (!is_agent(c))
        c->hub->handler.message((struct hub_client *) c, to_client, acp_raw_n(text, n),
                                c->hub->user);
}

int hub_splice(struct acp_raw text, const struct acp_splice *splices, size_t count,
               struct acp_buf *out)
{
    return count ? acp_scan_splice_all(text, splices, count, out)
                 : acp_buf_append(out, text.ptr, text.len);
}

void hub_send(struct hub_connection *to, struct acp_raw text, const struct acp_splice *splices,
              size_t count)
{
    size_t had = to->out.len;
    size_t mark;
    if (to->closed)
        return;
    enum acp_framing framing = framing_of(to);
    int err = acp_frame_begin(&to->out, framing, &mark);
    size_t begin = to->out.len;
    if (!err)
        err = hub_splice(text, splices, count, &to->out);
    if (!err && to->hub->has_line_ends && framing == ACP_FRAMING_LINES)
        join_lines(to, had);
    if (!err && to->hub->handler.message)
        tell_message(to, true, acp_buf_view(&to->out).ptr + begin, to->out.len - begin);
    if (!err)
        err = acp_frame_end(&to->out, framing, mark);
    if (err) {
        acp_buf_truncate(&to->out, had);
        hub_connection_close(to, err);
        return;
    }
    after_append(to, had);
}

void hub_send_text(struct hub_connection *to, const char *format, ...)
{
    struct acp_buf text;
    va_list args;
    char small[512];
    va_start(args, format);
    int n = vsnprintf(small, sizeof(small), format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t) n < sizeof(small)) {
        hub_send(to, acp_raw_n(small, (size_t) n), NULL, 0);
        return;
    }
    acp_buf_init(&text, (size_t) n + 1);
    int err = acp_buf_reserve(&text, (size_t) n + 1);
    if (!err) {
        va_start(args, format);
        (void) vsnprintf(text.data, (size_t) n + 1, format, args);
        va_end(args);
        hub_send(to, acp_raw_n(text.data, (size_t) n), NULL, 0);
    } else {
        hub_connection_close(to, err);
    }
    acp_buf_finish(&text);
}

void hub_send_error(struct hub_connection *to, struct acp_raw id, int code, struct acp_str message)
{
    struct acp_buf text;
    struct acp_json_writer w;
    acp_buf_init(&text, HUB_MAX_REQUEST_ID + 16384);
    acp_json_writer_init(&w, &text);
    acp_json_write_str(&w, message.len < 8192 ? message : acp_str_n(message.ptr, 8192));
    if (w.err)
        hub_send_text(to,
                      "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,\"message\":"
                      "\"Internal error\"}}",
                      ACP_ARG(id), code);
    else
        hub_send_text(to,
                      "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":%d,\"message\":"
                      "%.*s}}",
                      ACP_ARG(id), code, ACP_ARG(acp_buf_view(&text)));
    acp_buf_finish(&text);
}

/* ---- Receiving ------------------------------------------------------------------------------- */

struct acp_str hub_text_of(struct hub_connection *c, struct acp_raw span)
{
    struct acp_str text = span.ptr ? acp_scan_plain(span) : acp_str_from(NULL);
    struct acp_json_reader r;
    if (text.ptr || !span.ptr || span.ptr[0] != '"')
        return text;
    acp_json_reader_init(&r, span, &c->arena, 0);
    return acp_json_read_str(&r, &text) ? acp_str_from(NULL) : text;
}

/* The text with which an id is answered: a string or an integer; otherwise null. */
static bool is_id(struct acp_raw id)
{
    if (!id.ptr || id.len > HUB_MAX_REQUEST_ID)
        return false;
    if (id.ptr[0] == '"')
        return true;
    for (size_t i = id.ptr[0] == '-'; i < id.len; i++)
        if (id.ptr[i] < '0' || id.ptr[i] > '9')
            return false;
    return id.len < 20;
}

static const char *fault_of(const struct acp_scan *s)
{
    if (!s->version_ok)
        return "jsonrpc must be \"2.0\"";
    if (s->kind == ACP_SCAN_REQUEST && !is_id(s->id))
        return "id must be a string of at most 4096 bytes or an integer";
    if (s->method.ptr[0] != '"')
        return "method must be a string";
    char first = s->params.ptr ? s->params.ptr[0] : '{';
    return first == '{' || first == '[' || first == 'n' ? NULL
                                                        : "params must be an object or an array";
}

/* An agent's output that is not protocol is only logged: many print before they know better. */
static void reject(struct hub_connection *c, struct acp_raw id, int code, const char *why)
{
    hub_log(c->hub, HUB_LOG_WARNING, is_agent(c) ? (struct hub_agent *) c : NULL,
            "%s sent a message that is not valid: %s", is_agent(c) ? "the agent" : "the client",
            why);
    if (!is_agent(c) || is_id(id))
        hub_send_error(c, is_id(id) ? id : null_id, code, acp_str_from(why));
}

static void on_call(struct hub_connection *c, struct hub_message *message)
{
    const char *fault = fault_of(&message->scan);
    if (fault) {
        if (message->scan.kind == ACP_SCAN_REQUEST)
            reject(c, message->scan.id, RPC_INVALID_REQUEST, fault);
        return;
    }
    message->method_text = hub_text_of(c, message->scan.method);
    message->method = hub_method_of(message->method_text);
    if (is_agent(c))
        hub_agent_on_message((struct hub_agent *) c, message);
    else
        hub_client_on_message((struct hub_client *) c, message);
}

static void on_response(struct hub_connection *c, struct hub_message *message)
{
    struct hub_request *request = hub_request_answered(c, message->scan.id);
    if (!request) {
        hub_log(c->hub, HUB_LOG_DEBUG, is_agent(c) ? (struct hub_agent *) c : NULL,
                "%s answered a request that is not open", is_agent(c) ? "the agent" : "the client");
        return;
    }
    message->method = request->method;
    if (message->scan.kind != ACP_SCAN_RESPONSE || !message->scan.version_ok) {
        hub_request_fail(request, RPC_INTERNAL_ERROR, acp_str_from("a malformed response"));
        return;
    }
    if (is_agent(c)) {
        hub_agent_on_reply((struct hub_agent *) c, request, message);
        hub_agent_answered((struct hub_agent *) c);
    } else {
        hub_client_on_reply((struct hub_client *) c, request, message);
    }
}

bool hub_message_read(struct hub_connection *c, struct acp_raw text, struct hub_message *ret)
{
    *ret = (struct hub_message){.text = text};
    if (acp_scan_message(text, request_id, &ret->scan, NULL))
        return false;
    ret->method_text = hub_text_of(c, ret->scan.method);
    ret->method = hub_method_of(ret->method_text);
    return true;
}

static void on_text(struct hub_connection *c, struct acp_str text)
{
    struct hub_message message; /* the scan fills most of it */
    if (c->hub->handler.message)
        tell_message(c, false, text.ptr, text.len);
    message.text = acp_raw_n(text.ptr, text.len);
    message.method_text = acp_str_from(NULL);
    message.method = HUB_OTHER;
    if (c->arena.used)
        acp_arena_reset(&c->arena);
    if (acp_scan_message(message.text, request_id, &message.scan, NULL)) {
        reject(c, null_id, RPC_PARSE_ERROR, "not valid JSON");
        return;
    }
    switch (message.scan.kind) {
    case ACP_SCAN_REQUEST:
    case ACP_SCAN_NOTIFICATION:
        on_call(c, &message);
        break;
    case ACP_SCAN_RESPONSE:
    case ACP_SCAN_BAD_RESPONSE:
        on_response(c, &message);
        break;
    case ACP_SCAN_ARRAY:
        reject(c, null_id, RPC_INVALID_REQUEST, "batches are not supported");
        break;
    case ACP_SCAN_INVALID:
        if (hub_request_answered(c, message.scan.id))
            on_response(c, &message);
        else
            reject(c, message.scan.id, RPC_INVALID_REQUEST, "not a JSON-RPC 2.0 message");
        break;
    }
}

/* What does not come as a line may have line ends in it. */
static void on_frame(struct hub_connection *c, struct acp_str text)
{
    if (c->frames.framing != ACP_FRAMING_LINES)
        c->hub->has_line_ends = true;
    on_text(c, text);
}

/*
 * Only the beginning of the message is there.  A request in it is refused; the request that it
 * answers fails.
 */
static void on_too_large(struct hub_connection *c, struct acp_str text)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_raw value;
    struct acp_raw id = {NULL, 0};
    bool answers = false;
    acp_arena_reset(&c->arena);
    acp_json_reader_init(&r, acp_raw_n(text.ptr, text.len), &c->arena, 0);
    (void) acp_json_enter_object(&r);
    while (!answers && acp_json_next_key(&r, &key) > 0) {
        answers = acp_str_is(key, "result") || acp_str_is(key, "error");
        if (answers || acp_json_read_raw(&r, &value) ||
            value.ptr + value.len == text.ptr + text.len)
            break;
        if (acp_str_is(key, "id"))
            id = value;
    }
    struct hub_request *request = answers ? hub_request_answered(c, id) : NULL;
    if (request)
        hub_request_fail(request, RPC_INTERNAL_ERROR,
                         acp_str_from("the response is larger than the limit"));
    else if (!answers)
        reject(c, id, RPC_INVALID_REQUEST, "message larger than the limit");
}

static int receive(void *self, const void *bytes, size_t n, uint64_t now)
{
    struct hub_connection *c = self;
    struct acp_frame frame;
    int err = 0;
    assert(!c->receiving);
    if (c->closed)
        return ACP_ERR_CLOSED;
    hub_advance(c->hub, now);
    c->receiving = true;
    acp_deframer_feed(&c->frames, bytes, n);
    while (!c->closed && !(err = acp_deframer_next(&c->frames, &frame)) && frame.kind)
        if (frame.kind == ACP_FRAME_MESSAGE)
            on_frame(c, frame.text);
        else if (frame.kind == ACP_FRAME_TOO_LARGE)
            on_too_large(c, frame.text);
        else
            reject(c, null_id, RPC_PARSE_ERROR, "not valid JSON");
    if (err)
        hub_connection_close(c, err);
    c->receiving = false;
    return c->closed ? ACP_ERR_CLOSED : 0;
}

static int receive_message(void *self, struct acp_raw text, uint64_t now)
{
    struct hub_connection *c = self;
    assert(!c->receiving);
    if (c->closed)
        return ACP_ERR_CLOSED;
    hub_advance(c->hub, now);
    c->receiving = true;
    c->hub->has_line_ends = true;
    if (text.len > c->frames.max_message)
        on_too_large(c, acp_str_n(text.ptr, text.len < 200 ? text.len : 200));
    else
        on_text(c, acp_str_n(text.ptr, text.len));
    c->receiving = false;
    return c->closed ? ACP_ERR_CLOSED : 0;
}

/*
 * A client that has ended its input wants nothing more.  An agent that has closed its output is
 * dead or as good as; its process tells how it ended.
 */
static void receive_end(void *self, uint64_t now)
{
    struct hub_connection *c = self;
    struct acp_frame frame;
    if (c->closed)
        return;
    hub_advance(c->hub, now);
    acp_deframer_end(&c->frames);
    while (!c->closed && !acp_deframer_next(&c->frames, &frame) && frame.kind)
        if (frame.kind == ACP_FRAME_MESSAGE)
            on_frame(c, frame.text);
    if (!is_agent(c))
        hub_client_drop((struct hub_client *) c);
    else if (!c->closed)
        hub_agent_stop((struct hub_agent *) c, NULL);
}

/* ---- Bytes out ------------------------------------------------------------------------------- */

static struct acp_str output(void *self)
{
    return acp_buf_view(&((struct hub_connection *) self)->out);
}

static void deliver_more(struct hub_connection *c)
{
    struct hub_client *client = (struct hub_client *) c;
    for (struct hub_attachment *a = client->attachments; a && !c->high; a = a->next_of_client)
        hub_attachment_deliver(a);
}

static void sent(void *self, size_t n)
{
    struct hub_connection *c = self;
    acp_buf_consume(&c->out, n);
    if (c->out.len == 0 && c->out.cap > HUB_KEEP_BYTES)
        acp_buf_finish(&c->out);
    if (!c->high || c->out.len > HUB_LOW_WATER)
        return;
    c->high = false;
    if (!is_agent(c) && c->hub->options.shared)
        deliver_more(c);
    if (!c->high)
        release_held(c);
}

static uint64_t deadline(void *self)
{
    (void) self;
    return UINT64_MAX;
}

static void tick(void *self, uint64_t now)
{
    (void) self;
    (void) now;
}

static bool paused(void *self)
{
    const struct hub_connection *c = self;
    return c->held_by || (!is_agent(c) && c->high);
}

/* ---- Life ------------------------------------------------------------------------------------ */

int hub_connection_init(struct hub_connection *c, struct hub *hub, enum hub_side side)
{
    static const struct acp_endpoint_handler handler = {
        .receive = receive,
        .receive_end = receive_end,
        .output = output,
        .sent = sent,
        .deadline = deadline,
        .tick = tick,
        .paused = paused,
        .receive_message = receive_message,
    };
    *c = (struct hub_connection){.hub = hub, .side = side};
    acp_deframer_init(&c->frames, ACP_FRAMING_AUTO, hub->options.max_message);
    acp_buf_init(&c->out, hub->options.max_output);
    acp_arena_init(&c->arena, 0);
    acp_map_init(&c->opened, (uint64_t) (uintptr_t) c * 0x9e3779b97f4a7c15u);
    return acp_endpoint_new(&handler, c, &c->endpoint);
}

void hub_connection_finish(struct hub_connection *c)
{
    c->closed = true;
    leave_holder(c);
    release_held(c);
    acp_numbers_finish(&c->asked);
    acp_map_finish(&c->opened);
    acp_deframer_finish(&c->frames);
    acp_buf_finish(&c->out);
    acp_arena_finish(&c->arena);
    acp_endpoint_free(c->endpoint);
    c->endpoint = NULL;
}
