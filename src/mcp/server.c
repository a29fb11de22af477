/* server.c - a connection to an MCP server: initialize, its states, and what the server asks. */
#define _GNU_SOURCE /* memmem */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "base/copy.h"
#include "json/members.h"
#include "mcp/mcp_internal.h"

enum {
    START_MS = 30 * 1000,
    CALL_MS = 10 * 60 * 1000,
    MAX_SENTENCE = 8192,
    MAX_INFO = 1 << 20, /* bytes of what initialize says */
};

static const struct mcp_transport_events events;

/* ---- States ---------------------------------------------------------------------------------- */

#define TO(state) (1u << MCP_##state)

static void server_set_state(struct mcp_server *server, enum mcp_state state)
{
    static const unsigned next[] = {
        [MCP_STARTING] = TO(READY) | TO(GONE) | TO(STARTING), /* a session that never began */
        [MCP_READY] = TO(RENEWING) | TO(GONE),
        [MCP_RENEWING] = TO(READY) | TO(GONE),
        [MCP_GONE] = 0,
    };
    assert(next[server->state] & 1u << state);
    (void) next;
    server->state = state;
}

#undef TO

/* ---- The end --------------------------------------------------------------------------------- */

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle);
}

/* Releases a server that was freed once its transport has ended and no callback is running. */
static void release(struct mcp_server *server)
{
    if (!server->freed || !server->ended || server->depth)
        return;
    if (server->transport)
        server->transport->class->free(server->transport);
    acp_peer_free(server->peer);
    mcp_lists_finish(server);
    if (server->timer)
        uv_close((uv_handle_t *) server->timer, on_timer_closed);
    acp_arena_finish(&server->info_arena);
    free(server->name);
    free(server->version);
    free(server);
}

void mcp_server_enter(struct mcp_server *server)
{
    server->depth++;
}

void mcp_server_leave(struct mcp_server *server)
{
    server->depth--;
    release(server);
}

/* Closes the connection and asks the transport to end. */
static void dismiss(struct mcp_server *server)
{
    if (server->peer)
        acp_peer_close(server->peer, ACP_ERR_CLOSED);
    if (server->transport && !server->ended)
        server->transport->class->stop(server->transport);
}

void mcp_server_free(struct mcp_server *server)
{
    if (!server || server->freed)
        return;
    server->freed = true;
    mcp_server_enter(server);
    mcp_requests_drop(server);
    dismiss(server);
    mcp_server_leave(server);
}

/* Reports its end, once. */
static void lose(struct mcp_server *server, struct acp_str sentence)
{
    if (server->state == MCP_GONE || server->freed)
        return;
    server_set_state(server, MCP_GONE);
    mcp_server_enter(server);
    dismiss(server);
    if (!server->freed && server->handler.gone)
        server->handler.gone(server, sentence, server->user);
    mcp_server_leave(server);
}

void mcp_server_fail(struct mcp_server *server, const char *format, ...)
{
    char words[512];
    char sentence[1024];
    va_list list;
    va_start(list, format);
    (void) vsnprintf(words, sizeof(words), format, list);
    va_end(list);
    (void) snprintf(sentence, sizeof(sentence), "the MCP server \"%.100s\" %s%s%s%s", server->name,
                    words, *server->noise ? "; it wrote a non-protocol line: \"" : "",
                    server->noise, *server->noise ? "\"" : "");
    lose(server, acp_str_from(sentence));
}

void mcp_server_fail_reply(struct mcp_server *server, const char *what,
                           const struct acp_reply *reply)
{
    if (reply->err == ACP_ERR_CLOSED) /* the end of the transport is reported next, with more */
        return;
    if (reply->err == ACP_ERR_TIMEOUT) {
        mcp_server_fail(server, "did not answer %s within %llu ms", what,
                        (unsigned long long) server->start_ms);
    } else if (reply->err == ACP_ERR_REMOTE && server->lost_sentence.len) {
        lose(server, server->lost_sentence);
    } else if (reply->err == ACP_ERR_REMOTE) {
        mcp_server_fail(server, "refused %s: %.*s", what,
                        (int) (reply->error_message.len < 300 ? reply->error_message.len : 300),
                        reply->error_message.ptr);
    } else {
        mcp_server_fail(server, "sent an invalid answer to %s: %s", what, acp_err_text(reply->err));
    }
}

void mcp_server_explain(const struct mcp_server *server, const struct acp_reply *reply,
                        uint64_t timeout_ms, struct acp_buf *out)
{
    struct acp_str said = acp_str_n(reply->error_message.ptr, reply->error_message.len);
    if (reply->err == ACP_ERR_REMOTE && server->lost_sentence.len) {
        (void) acp_buf_append_str(out, server->lost_sentence);
        return;
    }
    (void) acp_buf_printf(out, "the MCP server \"%.100s\" ", server->name);
    switch (reply->err) {
    case ACP_ERR_CLOSED:
        (void) acp_buf_printf(out, "ended before it answered");
        break;
    case ACP_ERR_TIMEOUT:
        (void) acp_buf_printf(out, "did not answer within %llu ms",
                              (unsigned long long) timeout_ms);
        break;
    case ACP_ERR_REMOTE:
        said.len = said.len < MAX_SENTENCE ? said.len : (size_t) MAX_SENTENCE;
        (void) acp_buf_printf(out, "answered with an error (%lld): %.*s",
                              (long long) reply->error_code, ACP_ARG(said));
        break;
    default:
        (void) acp_buf_printf(out, "sent an invalid answer: %s", acp_err_text(reply->err));
    }
}

/* ---- initialize ------------------------------------------------------------------------------ */

uint64_t mcp_server_time_left(const struct mcp_server *server)
{
    uint64_t now = uv_now(server->loop);
    if (server->state != MCP_STARTING)
        return server->start_ms;
    return now < server->deadline ? server->deadline - now : 1;
}

void mcp_server_be_ready(struct mcp_server *server)
{
    server_set_state(server, MCP_READY);
    if (server->handler.ready)
        server->handler.ready(server, server->user);
}

/* The lists of a new session may be others. */
static void take_info(struct mcp_server *server)
{
    bool first = server->state == MCP_STARTING;
    if (!mcp_knows_version(server->info.version)) {
        mcp_server_fail(
            server, "uses version \"%.*s\" of the protocol, which is not supported",
            ACP_ARG(acp_str_n(server->info.version.ptr,
                              server->info.version.len < 40 ? server->info.version.len : 40)));
        return;
    }
    if (server->transport->class->negotiated)
        server->transport->class->negotiated(server->transport, server->info.version);
    if (acp_peer_notify(server->peer, acp_str_from("notifications/initialized"),
                        (struct acp_raw){0}))
        return;
    if (!first)
        server_set_state(server, MCP_READY);
    if (server->info.tools)
        mcp_lists_start(server, MCP_TOOLS);
    if (server->info.prompts)
        mcp_lists_start(server, MCP_PROMPTS);
    if (first && !server->info.tools)
        mcp_server_be_ready(server);
}

static void on_initialized(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                           void *user)
{
    struct mcp_server *server = user;
    struct acp_reply answer = *reply;
    (void) peer;
    (void) request;
    if (server->freed || server->state == MCP_GONE)
        return;
    mcp_server_enter(server);
    if (!answer.err) {
        server->info = (struct mcp_info){0};
        acp_arena_reset(&server->info_arena);
        answer.err = mcp_read_info(answer.result, &server->info_arena, &server->info);
    }
    if (answer.err)
        mcp_server_fail_reply(server, "initialize", &answer);
    else
        take_info(server);
    mcp_server_leave(server);
}

static void write_capabilities(const struct mcp_server *server, struct acp_json_writer *w)
{
    acp_json_begin_object(w);
    if (server->handler.roots)
        acp_json_put_raw(w, "roots", acp_raw_from("{\"listChanged\":true}"));
    if (server->handler.sample)
        acp_json_put_raw(w, "sampling", acp_raw_from("{}"));
    if (server->handler.elicit)
        acp_json_put_raw(
            w, "elicitation",
            acp_raw_from(server->elicits_urls ? "{\"form\":{},\"url\":{}}" : "{\"form\":{}}"));
    acp_json_end_object(w);
}

static int send_initialize(struct mcp_server *server)
{
    struct acp_request request = {.method = acp_str_from("initialize"),
                                  .timeout_ms = server->start_ms,
                                  .no_cancel = true, /* MCP forbids cancelling this request */
                                  .reply = on_initialized,
                                  .user = server};
    struct acp_json_writer *w = acp_peer_begin_request(server->peer, &request);
    acp_json_begin_object(w);
    acp_json_put_text(w, "protocolVersion", MCP_NEWEST_VERSION);
    acp_json_write_key(w, acp_str_from("capabilities"));
    write_capabilities(server, w);
    acp_json_write_key(w, acp_str_from("clientInfo"));
    acp_json_begin_object(w);
    acp_json_put_text(w, "name", "acp");
    acp_json_put_text(w, "version", server->version);
    acp_json_end_object(w);
    acp_json_end_object(w);
    return acp_peer_commit(server->peer, NULL);
}

/* ---- What the transport tells ---------------------------------------------------------------- */

/*
 * The peer gets an error response in place of the one that cannot arrive, so that the request ends
 * in the same way as any other.
 */
static void on_lost(struct acp_raw id, struct acp_str sentence, void *user)
{
    struct mcp_server *server = user;
    struct acp_buf message;
    acp_buf_init(&message, id.len + 256);
    int err = acp_buf_printf(&message,
                             "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":-32000,"
                             "\"message\":\"the response is lost\"}}",
                             ACP_ARG(id));
    mcp_server_enter(server);
    server->lost_sentence = sentence;
    if (!err)
        (void) acp_peer_receive_message(
            server->peer, acp_raw_n(acp_buf_view(&message).ptr, message.len), uv_now(server->loop));
    server->lost_sentence = acp_str_from(NULL);
    mcp_server_leave(server);
    acp_buf_finish(&message);
}

static void on_expired(void *user)
{
    struct mcp_server *server = user;
    if (server->freed || server->state == MCP_GONE)
        return;
    server_set_state(server, server->state == MCP_STARTING ? MCP_STARTING : MCP_RENEWING);
    (void) send_initialize(server);
}

static void on_ended(struct acp_str sentence, void *user)
{
    struct mcp_server *server = user;
    mcp_server_enter(server);
    server->ended = true;
    lose(server, sentence);
    mcp_server_leave(server);
}

static const struct mcp_transport_events events = {
    .lost = on_lost, .expired = on_expired, .ended = on_ended};

/* ---- What the server says -------------------------------------------------------------------- */

static void on_log(struct mcp_server *server, struct acp_raw params)
{
    struct acp_arena arena;
    struct acp_str level = acp_str_from("");
    struct acp_raw data = {0};
    acp_arena_init(&arena, MCP_MAX_MESSAGE);
    (void) acp_json_member_str(params, "level", &arena, &level);
    (void) acp_json_member_raw(params, "data", &data);
    if (server->handler.log && data.len)
        server->handler.log(server, level, data, server->user);
    acp_arena_finish(&arena);
}

static void on_updated(struct mcp_server *server, struct acp_raw params)
{
    struct acp_arena arena;
    struct acp_str uri = acp_str_from("");
    acp_arena_init(&arena, MCP_MAX_MESSAGE);
    (void) acp_json_member_str(params, "uri", &arena, &uri);
    if (server->handler.resource_updated && uri.len)
        server->handler.resource_updated(server, uri, server->user);
    acp_arena_finish(&arena);
}

/* Lists that nobody has asked for are not asked for now. */
static void on_list_changed(struct mcp_server *server, enum mcp_list_kind kind)
{
    struct mcp_listing *listing = &server->lists[kind];
    if (listing->next || listing->known)
        mcp_lists_start(server, kind);
}

static void on_notification(struct acp_peer *peer, const struct acp_message *message, void *user)
{
    struct mcp_server *server = user;
    (void) peer;
    if (server->freed || server->state == MCP_GONE)
        return;
    mcp_server_enter(server);
    if (acp_str_is(message->method, "notifications/progress")) {
        mcp_requests_on_progress(server, message->params);
    } else if (acp_str_is(message->method, "notifications/tools/list_changed")) {
        on_list_changed(server, MCP_TOOLS);
    } else if (acp_str_is(message->method, "notifications/prompts/list_changed")) {
        on_list_changed(server, MCP_PROMPTS);
    } else if (acp_str_is(message->method, "notifications/resources/list_changed")) {
        on_list_changed(server, MCP_RESOURCES);
        on_list_changed(server, MCP_TEMPLATES);
    } else if (acp_str_is(message->method, "notifications/message")) {
        on_log(server, message->params);
    } else if (acp_str_is(message->method, "notifications/resources/updated")) {
        on_updated(server, message->params);
    }
    mcp_server_leave(server);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct mcp_server *server = user;
    const struct mcp_handler *handler = &server->handler;
    mcp_server_enter(server);
    if (acp_str_is(message->method, "ping"))
        (void) acp_peer_result(peer, call, (struct acp_raw){0});
    else if (acp_peer_calls(peer) > MCP_MAX_ASKS)
        (void) acp_peer_error(peer, call, ACP_ERROR_CODE_INTERNAL_ERROR,
                              acp_str_from("Too many requests are open"), acp_raw_from(NULL));
    else if (acp_str_is(message->method, "roots/list") && handler->roots)
        handler->roots(server, call, server->user);
    else if (acp_str_is(message->method, "sampling/createMessage") && handler->sample)
        handler->sample(server, call, message->params, server->user);
    else if (acp_str_is(message->method, "elicitation/create") && handler->elicit)
        handler->elicit(server, call, message->params, server->user);
    else
        (void) acp_peer_error(peer, call, ACP_ERROR_CODE_METHOD_NOT_FOUND,
                              acp_str_from("Method not found"), acp_raw_from(NULL));
    mcp_server_leave(server);
}

/* MCP wants no response to a request that was cancelled, but takes one. */
static void on_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    struct mcp_server *server = user;
    mcp_server_enter(server);
    if (!server->freed && server->handler.withdrawn)
        server->handler.withdrawn(server, call, server->user);
    (void) acp_peer_error_for(peer, call, ACP_ERR_CANCELLED);
    mcp_server_leave(server);
}

int mcp_answer(struct mcp_server *server, acp_call ask, struct acp_raw result)
{
    return acp_peer_result(server->peer, ask, result);
}

int mcp_refuse(struct mcp_server *server, acp_call ask, int64_t code, const char *sentence)
{
    return acp_peer_error(server->peer, ask, code, acp_str_from(sentence), acp_raw_from(NULL));
}

void mcp_server_notified(struct mcp_server *server,
                         const struct acp_message_mcp_notification *notification)
{
    mcp_server_enter(server);
    if (server->transport && !server->ended && server->transport->class->notified)
        server->transport->class->notified(server->transport, notification);
    mcp_server_leave(server);
}

void mcp_server_roots_changed(struct mcp_server *server)
{
    if (server->state == MCP_READY && server->handler.roots)
        (void) acp_peer_notify(server->peer, acp_str_from("notifications/roots/list_changed"),
                               (struct acp_raw){0});
}

/*
 * A line that is broken JSON may be an answer that is waited for, and after a line without an end
 * it is unknown where the next one begins.  Such a server cannot be used.  Other lines are not
 * meant as messages; the first one is shown if the server does not answer.
 */
static void on_protocol_error(struct acp_peer *peer, enum acp_protocol_error what,
                              struct acp_str text, void *user)
{
    static const char mark[] = "\"jsonrpc\"";
    struct mcp_server *server = user;
    (void) peer;
    if (what == ACP_PROTOCOL_ERROR_UNEXPECTED_RESPONSE || server->freed)
        return;
    if (!*server->noise)
        for (size_t i = 0; i < text.len && i + 1 < sizeof(server->noise); i++)
            server->noise[i] = text.ptr[i] >= ' ' && text.ptr[i] <= '~' ? text.ptr[i] : '?';
    if (what == ACP_PROTOCOL_ERROR_TOO_LARGE)
        mcp_server_fail(server, "wrote more than %d MiB without a line end", MCP_MAX_MESSAGE >> 20);
    else if (what == ACP_PROTOCOL_ERROR_PARSE && memmem(text.ptr, text.len, mark, sizeof(mark) - 1))
        mcp_server_fail(server, "wrote a message that is not JSON");
}

/* ---- The beginning --------------------------------------------------------------------------- */

static int make_peer(struct mcp_server *server)
{
    static const struct acp_peer_handler handler = {.request = on_request,
                                                    .notification = on_notification,
                                                    .cancel = on_cancel,
                                                    .protocol_error = on_protocol_error};
    struct acp_peer_options options = {.framing = ACP_FRAMING_LINES,
                                       .max_message = MCP_MAX_MESSAGE,
                                       .max_output = 4 * (size_t) MCP_MAX_MESSAGE,
                                       .max_calls = 2 * (size_t) MCP_MAX_ASKS,
                                       .cancel_method = acp_str_from("notifications/cancelled"),
                                       .cancel_key = acp_str_from("requestId"),
                                       .ignore_parse_errors = true};
    return acp_peer_new(&options, &handler, server, &server->peer);
}

static int make_transport(struct mcp_server *server, const struct mcp_options *options,
                          struct acp_failure *failure)
{
    struct mcp_transport_context context = {.loop = server->loop,
                                            .name = server->name,
                                            .endpoint = acp_peer_endpoint(server->peer),
                                            .events = &events,
                                            .user = server};
    int err =
        options->kind == MCP_STDIO ? mcp_stdio_new(&context, options, &server->transport, failure)
        : options->kind == MCP_ACP ? mcp_acp_new(&context, options, &server->transport)
                                   : mcp_http_new(&context, options, &server->transport, failure);
    server->ended = err != 0;
    if (err && !*failure->message)
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the MCP server \"%.60s\" cannot be started: %s", server->name,
                        acp_err_text(err));
    return err;
}

static int start(struct mcp_server *server, const struct mcp_options *options,
                 struct acp_failure *failure)
{
    uv_timer_t *timer = malloc(sizeof(*timer));
    if (!timer || uv_timer_init(server->loop, timer)) {
        free(timer);
        return ACP_ERR_NOMEM;
    }
    timer->data = server;
    server->timer = timer;
    int err = make_peer(server);
    if (!err)
        err = make_transport(server, options, failure);
    return err ? err : send_initialize(server);
}

int mcp_server_new(uv_loop_t *loop, const struct mcp_options *options,
                   const struct mcp_handler *handler, void *user, struct mcp_server **ret,
                   struct acp_failure *failure)
{
    struct acp_failure unused = {0};
    struct mcp_server *server = calloc(1, sizeof(*server));
    if (!server)
        return ACP_ERR_NOMEM;
    uv_update_time(loop);
    server->loop = loop;
    server->handler = *handler;
    server->user = user;
    server->elicits_urls = options->elicits_urls;
    server->start_ms = options->start_ms ? options->start_ms : START_MS;
    server->call_ms = options->call_ms ? options->call_ms : CALL_MS;
    server->deadline = uv_now(loop) + server->start_ms;
    server->ended = true;
    acp_arena_init(&server->info_arena, MAX_INFO);
    server->name = acp_str_copy(acp_str_from(options->name));
    server->version = acp_str_copy(acp_str_from(options->version ? options->version : "0"));
    failure = failure ? failure : &unused;
    int err = server->name && server->version ? start(server, options, failure) : ACP_ERR_NOMEM;
    if (err) {
        failure->err = err;
        mcp_server_free(server);
        return err;
    }
    *ret = server;
    return 0;
}

const char *mcp_server_name(const struct mcp_server *server)
{
    return server->name;
}

enum mcp_state mcp_server_state(const struct mcp_server *server)
{
    return server->state;
}

const struct mcp_info *mcp_server_info(const struct mcp_server *server)
{
    return &server->info;
}
