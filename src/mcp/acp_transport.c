/*
 * acp_transport.c - an MCP server that lives in the ACP client (unstable).  Each request is one
 * request mcp/message, which names the server and has an id of its own for the notifications that
 * belong to it.
 *
 * These servers speak version 2026-07-28 of MCP, which has no session: initialize becomes
 * server/discover, and every request carries the version and the capabilities of the client.  So a
 * server asks nothing of us.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/agent.h"
#include "base/copy.h"
#include "json/members.h"
#include "mcp/mcp_internal.h"

#define STATELESS_VERSION "2026-07-28"
#define META(name) "io.modelcontextprotocol/" name

struct acp_transport {
    struct mcp_transport base;
    struct mcp_transport_context context;
    struct acp_agent *agent;
    char *server_id;
    char *version; /* ours */
    struct sent *requests;
    uint64_t start;      /* of ids: two sessions may use the same server */
    uint64_t sent_count; /* so far, for ids */
    uv_timer_t timer;    /* closed last, which frees the struct */
    bool stopped;
};

/* A request, until its reply arrives. */
struct sent {
    struct sent *next;
    struct acp_transport *transport; /* NULL: it is gone */
    uint64_t outer;
    char request_id[48];
    char *id; /* of the MCP request, as its bytes */
    bool is_initialize;
};

/* ---- Responses ------------------------------------------------------------------------------- */

static void deliver(struct acp_transport *transport, const struct acp_buf *message)
{
    struct acp_str view = acp_buf_view(message);
    (void) acp_endpoint_receive_message(transport->context.endpoint, acp_raw_n(view.ptr, view.len),
                                        uv_now(transport->context.loop));
}

/* The answer to server/discover as one to initialize. */
static void write_discovered(struct acp_json_writer *w, struct acp_raw result)
{
    struct acp_raw capabilities = acp_raw_from("{\"tools\":{}}");
    struct acp_raw instructions = {0};
    struct acp_raw meta = {0};
    struct acp_raw info = {0};
    (void) acp_json_member_raw(result, "capabilities", &capabilities);
    (void) acp_json_member_raw(result, "instructions", &instructions);
    (void) acp_json_member_raw(result, "_meta", &meta);
    (void) acp_json_member_raw(meta, META("serverInfo"), &info);
    acp_json_begin_object(w);
    acp_json_put_text(w, "protocolVersion", MCP_NEWEST_VERSION);
    acp_json_put_raw(w, "capabilities", capabilities);
    if (info.len)
        acp_json_put_raw(w, "serverInfo", info);
    if (instructions.len)
        acp_json_put_raw(w, "instructions", instructions);
    acp_json_end_object(w);
}

static bool wants_input(struct acp_raw result)
{
    struct acp_str type = acp_str_from("complete");
    (void) acp_json_member_str(result, "resultType", NULL, &type);
    return acp_str_is(type, "input_required");
}

/* response has a result or an error; the result counts if both are there. */
static void take_response(struct acp_transport *transport, const struct sent *sent,
                          struct acp_raw response)
{
    struct acp_json_writer w;
    struct acp_buf message;
    struct acp_raw result = {0};
    struct acp_raw error = acp_raw_from("{\"code\":-32603,\"message\":\"no result\"}");
    int64_t code = 0;
    (void) acp_json_member_raw(response, "result", &result);
    (void) acp_json_member_raw(response, "error", &error);
    (void) acp_json_member_i64(error, "code", &code);
    /* A server without discovery may have tools all the same. */
    if (sent->is_initialize && !result.len && code == ACP_ERROR_CODE_METHOD_NOT_FOUND)
        result = acp_raw_from("{}");
    if (result.len && wants_input(result)) {
        result = (struct acp_raw){0};
        error = acp_raw_from("{\"code\":-32603,\"message\":\"the server asks for input, which is "
                             "not supported over ACP\"}");
    }
    acp_buf_init(&message, 2 * (size_t) MCP_MAX_MESSAGE);
    acp_json_writer_init(&w, &message);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "jsonrpc", "2.0");
    acp_json_put_raw(&w, "id", acp_raw_from(sent->id));
    if (result.len && sent->is_initialize) {
        acp_json_write_key(&w, acp_str_from("result"));
        write_discovered(&w, result);
    } else {
        acp_json_put_raw(&w, result.len ? "result" : "error", result.len ? result : error);
    }
    acp_json_end_object(&w);
    if (!w.err)
        deliver(transport, &message);
    acp_buf_finish(&message);
}

static void take_out(struct sent *sent)
{
    struct sent **at = &sent->transport->requests;
    while (*at != sent)
        at = &(*at)->next;
    *at = sent->next;
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    struct sent *sent = user;
    struct acp_transport *transport = sent->transport;
    char sentence[600];
    (void) peer;
    (void) request;
    if (transport) {
        take_out(sent);
        if (reply->err) {
            (void) snprintf(
                sentence, sizeof(sentence),
                "the client cannot reach the MCP server \"%.100s\": %.*s", transport->context.name,
                (int) (reply->error_message.len < 300 ? reply->error_message.len : 300),
                reply->error_message.len ? reply->error_message.ptr : acp_err_text(reply->err));
            transport->context.events->lost(acp_raw_from(sent->id), acp_str_from(sentence),
                                            transport->context.user);
        } else {
            take_response(transport, sent, reply->result);
        }
    }
    free(sent->id);
    free(sent);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void write_meta(const struct acp_transport *transport, struct acp_json_writer *w,
                       struct acp_raw given)
{
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_str key;
    struct acp_raw value;
    acp_arena_init(&arena, 0);
    acp_json_begin_object(w);
    acp_json_reader_init(&r, given, &arena, 0);
    if (given.len && acp_json_enter_object(&r) == 0)
        while (acp_json_next_key(&r, &key) > 0 && acp_json_read_raw(&r, &value) == 0) {
            acp_json_write_key(w, key);
            acp_json_write_raw(w, value);
        }
    acp_json_put_text(w, META("protocolVersion"), STATELESS_VERSION);
    acp_json_write_key(w, acp_str_from(META("clientInfo")));
    acp_json_begin_object(w);
    acp_json_put_text(w, "name", "acp");
    acp_json_put_text(w, "version", transport->version);
    acp_json_end_object(w);
    acp_json_put_raw(w, META("clientCapabilities"), acp_raw_from("{}"));
    acp_json_end_object(w);
    acp_arena_finish(&arena);
}

static int write_params(const struct acp_transport *transport, struct acp_raw params,
                        bool is_initialize, struct acp_buf *out)
{
    struct acp_json_writer w;
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_str key;
    struct acp_raw value;
    struct acp_raw meta = {0};
    acp_arena_init(&arena, 0);
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_reader_init(&r, params, &arena, 0);
    if (params.len && !is_initialize && acp_json_enter_object(&r) == 0)
        while (acp_json_next_key(&r, &key) > 0 && acp_json_read_raw(&r, &value) == 0) {
            if (acp_str_is(key, "_meta")) {
                meta = value;
                continue;
            }
            acp_json_write_key(&w, key);
            acp_json_write_raw(&w, value);
        }
    acp_json_write_key(&w, acp_str_from("_meta"));
    write_meta(transport, &w, meta);
    acp_json_end_object(&w);
    acp_arena_finish(&arena);
    return w.err;
}

static int send_request(struct acp_transport *transport, const struct acp_outgoing *message)
{
    struct acp_message_mcp_request request = {.server_id = acp_str_from(transport->server_id)};
    struct acp_raw params = {0};
    struct acp_buf written;
    struct sent *sent = calloc(1, sizeof(*sent));
    if (!sent)
        return ACP_ERR_NOMEM;
    sent->id = acp_str_copy(acp_str_n(message->id.ptr, message->id.len));
    sent->is_initialize = acp_str_is(message->method, "initialize");
    (void) snprintf(sent->request_id, sizeof(sent->request_id), "%llx-%llu",
                    (unsigned long long) transport->start,
                    (unsigned long long) ++transport->sent_count);
    acp_buf_init(&written, 2 * (size_t) MCP_MAX_MESSAGE);
    (void) acp_json_member_raw(message->text, "params", &params);
    int err =
        sent->id ? write_params(transport, params, sent->is_initialize, &written) : ACP_ERR_NOMEM;
    struct acp_str view = acp_buf_view(&written);
    request.request_id = acp_str_from(sent->request_id);
    request.method = sent->is_initialize ? acp_str_from("server/discover") : message->method;
    request.params = acp_raw_n(view.ptr, view.len);
    if (!err)
        err =
            acp_agent_request(transport->agent, acp_str_from("mcp/message"),
                              ACP_TYPE_MESSAGE_MCP_REQUEST, &request, on_reply, sent, &sent->outer);
    acp_buf_finish(&written);
    if (err) {
        free(sent->id);
        free(sent);
        return err;
    }
    sent->transport = transport;
    sent->next = transport->requests;
    transport->requests = sent;
    return 0;
}

static void cancel_request(struct acp_transport *transport, struct acp_raw message)
{
    struct acp_raw params = {0};
    struct acp_raw id = {0};
    (void) acp_json_member_raw(message, "params", &params);
    (void) acp_json_member_raw(params, "requestId", &id);
    for (struct sent *sent = transport->requests; sent; sent = sent->next)
        if (acp_str_is(acp_str_n(id.ptr, id.len), sent->id)) {
            (void) acp_peer_cancel(acp_agent_peer(transport->agent), sent->outer);
            return;
        }
}

/* initialized and the like have no place in this version. */
static void send_message(struct acp_transport *transport, const struct acp_outgoing *message)
{
    struct acp_endpoint *endpoint = transport->context.endpoint;
    char *id = NULL;
    int err = 0;
    if (message->kind == ACP_MESSAGE_REQUEST) {
        id = acp_str_copy(acp_str_n(message->id.ptr, message->id.len));
        err = send_request(transport, message);
    } else if (acp_str_is(message->method, "notifications/cancelled")) {
        cancel_request(transport, message->text);
    }
    acp_endpoint_message_sent(endpoint);
    if (err && id)
        transport->context.events->lost(acp_raw_from(id), acp_str_from(acp_err_text(err)),
                                        transport->context.user);
    free(id);
}

static void on_timer(uv_timer_t *timer)
{
    struct acp_transport *transport = timer->data;
    struct acp_endpoint *endpoint = transport->context.endpoint;
    struct acp_outgoing message;
    if (transport->stopped)
        return;
    acp_endpoint_tick(endpoint, uv_now(timer->loop));
    while (!transport->stopped && acp_endpoint_next_message(endpoint, &message) == 1)
        send_message(transport, &message);
    if (transport->stopped)
        return;
    uint64_t due = acp_endpoint_deadline(endpoint);
    uint64_t now = uv_now(timer->loop);
    if (due != UINT64_MAX)
        (void) uv_timer_start(timer, on_timer, due > now ? due - now : 0, 0);
}

static void on_wake(void *user)
{
    struct acp_transport *transport = user;
    if (!transport->stopped)
        (void) uv_timer_start(&transport->timer, on_timer, 0, 0);
}

/* ---- Notifications of the server ------------------------------------------------------------- */

/* Those for a request that is not open any more are dropped. */
static void notified(struct mcp_transport *base,
                     const struct acp_message_mcp_notification *notification)
{
    struct acp_transport *transport = (struct acp_transport *) base;
    struct acp_json_writer w;
    struct acp_buf message;
    const struct sent *sent = transport->requests;
    if (!acp_str_is(notification->server_id, transport->server_id))
        return;
    while (sent && !acp_str_is(notification->request_id, sent->request_id))
        sent = sent->next;
    if (!sent)
        return;
    acp_buf_init(&message, 2 * (size_t) MCP_MAX_MESSAGE);
    acp_json_writer_init(&w, &message);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "jsonrpc", "2.0");
    acp_json_put_str(&w, "method", notification->method);
    if (notification->params.len)
        acp_json_put_raw(&w, "params", notification->params);
    acp_json_end_object(&w);
    if (!w.err)
        deliver(transport, &message);
    acp_buf_finish(&message);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void stop(struct mcp_transport *base)
{
    struct acp_transport *transport = (struct acp_transport *) base;
    if (transport->stopped)
        return;
    transport->stopped = true;
    (void) uv_timer_stop(&transport->timer);
    acp_endpoint_on_wake(transport->context.endpoint, NULL, NULL);
    while (transport->requests) {
        struct sent *sent = transport->requests;
        transport->requests = sent->next;
        sent->transport = NULL;
        (void) acp_peer_cancel(acp_agent_peer(transport->agent), sent->outer);
    }
    transport->context.events->ended(acp_str_from(""), transport->context.user);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct acp_transport *transport = handle->data;
    free(transport->server_id);
    free(transport->version);
    free(transport);
}

static void free_transport(struct mcp_transport *base)
{
    uv_close((uv_handle_t *) &((struct acp_transport *) base)->timer, on_timer_closed);
}

static const struct mcp_transport_class acp_class = {
    .stop = stop, .free = free_transport, .notified = notified};

int mcp_acp_new(const struct mcp_transport_context *context, const struct mcp_options *options,
                struct mcp_transport **ret)
{
    struct acp_transport *transport = calloc(1, sizeof(*transport));
    if (!transport)
        return ACP_ERR_NOMEM;
    transport->base.class = &acp_class;
    transport->context = *context;
    transport->agent = options->agent;
    transport->start = uv_hrtime();
    (void) uv_timer_init(context->loop, &transport->timer);
    transport->timer.data = transport;
    transport->server_id = acp_str_copy(acp_str_from(options->server_id));
    transport->version = acp_str_copy(acp_str_from(options->version ? options->version : "0"));
    if (!transport->server_id || !transport->version) {
        free_transport(&transport->base);
        return ACP_ERR_NOMEM;
    }
    acp_endpoint_on_wake(context->endpoint, on_wake, transport);
    on_wake(transport);
    *ret = &transport->base;
    return 0;
}
