/* http.c - the HTTP transports of MCP: the session, what may be sent when, and the end. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/copy.h"
#include "json/members.h"
#include "mcp/http_transport.h"

enum { GOODBYE_MS = 1500 };

/* ---- Phases ---------------------------------------------------------------------------------- */

#define TO(phase) (1u << HTTP_##phase)

static void http_set_phase(struct http_transport *http, enum http_phase phase)
{
    static const unsigned next[] = {
        [HTTP_OPENING] = TO(OPEN) | TO(OPENING_LEGACY) | TO(AUTHORIZING) | TO(STOPPING) | TO(ENDED),
        [HTTP_OPENING_LEGACY] = TO(OPENING) | TO(AUTHORIZING) | TO(STOPPING) | TO(ENDED),
        [HTTP_OPEN] = TO(OPENING) | TO(AUTHORIZING) | TO(STOPPING) | TO(ENDED),
        [HTTP_AUTHORIZING] = TO(OPENING) | TO(OPENING_LEGACY) | TO(OPEN) | TO(STOPPING) | TO(ENDED),
        [HTTP_STOPPING] = TO(ENDED),
        [HTTP_ENDED] = 0,
    };
    assert(next[http->phase] & 1u << phase);
    (void) next;
    http->phase = phase;
    http_wake(http);
}

#undef TO

bool http_may_send(const struct http_transport *http, const struct http_stream *stream)
{
    switch (http->phase) {
    case HTTP_OPENING:
        return stream->is_initialize || (http->initialize_done && stream->is_initialized);
    case HTTP_OPENING_LEGACY:
        return stream->kind == STREAM_LISTENING;
    case HTTP_OPEN:
        return true;
    default:
        return false;
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void on_timer_closed(uv_handle_t *handle)
{
    struct http_transport *http = handle->data;
    for (size_t i = 0; i < http->header_count; i++) {
        free((void *) (uintptr_t) http->headers[i].name);
        free((void *) (uintptr_t) http->headers[i].value);
    }
    free(http->headers);
    free(http->url);
    free(http->post_url);
    free(http);
}

static void free_streams(struct http_transport *http, bool all)
{
    for (struct http_stream **at = &http->streams; *at;) {
        struct http_stream *stream = *at;
        if (!all && stream->state != STREAM_OVER) {
            at = &stream->next;
            continue;
        }
        *at = stream->next;
        http_stream_free(stream);
    }
}

void http_enter(struct http_transport *http)
{
    http->busy++;
}

void http_leave(struct http_transport *http)
{
    if (--http->busy)
        return;
    free_streams(http, http->freed);
    if (http->freed && !uv_is_closing((uv_handle_t *) &http->timer))
        uv_close((uv_handle_t *) &http->timer, on_timer_closed);
}

static void free_transport(struct mcp_transport *base)
{
    struct http_transport *http = (struct http_transport *) base;
    http_enter(http);
    http->freed = true;
    http_leave(http);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void end(struct http_transport *http, struct acp_str sentence)
{
    http_set_phase(http, HTTP_ENDED);
    (void) uv_timer_stop(&http->timer);
    acp_endpoint_on_wake(http->context.endpoint, NULL, NULL);
    http->context.events->ended(sentence, http->context.user);
}

static void end_streams(struct http_transport *http)
{
    for (struct http_stream *stream = http->streams; stream; stream = stream->next)
        http_stream_end(stream);
}

void http_fail(struct http_transport *http, struct acp_str sentence)
{
    if (http->phase == HTTP_ENDED || http->phase == HTTP_STOPPING)
        return;
    end_streams(http);
    end(http, sentence);
}

static void on_goodbye(struct http_request *request, const struct http_end *how, void *user)
{
    struct http_transport *http = user;
    (void) how;
    http_enter(http);
    http_request_free(request);
    http->goodbye = NULL;
    if (http->phase == HTTP_STOPPING)
        end(http, acp_str_from(""));
    http_leave(http);
}

/* Tells the server that the session is not needed any more. */
static bool send_goodbye(struct http_transport *http)
{
    static const struct http_handler handler = {.end = on_goodbye};
    const struct mcp_authorizer *authorizer = http->authorizer;
    struct http_header headers[MCP_MAX_HEADERS + 3];
    char authorization[4096];
    size_t count = 0;
    if (!*http->session_id)
        return false;
    for (size_t i = 0; i < http->header_count; i++)
        headers[count++] = http->headers[i];
    headers[count++] = (struct http_header){"Mcp-Session-Id", http->session_id};
    if (*http->version)
        headers[count++] = (struct http_header){"MCP-Protocol-Version", http->version};
    struct acp_str value = authorizer ? authorizer->header(authorizer->user) : acp_str_from(NULL);
    if (value.len && value.len < sizeof(authorization)) {
        (void) snprintf(authorization, sizeof(authorization), "%.*s", ACP_ARG(value));
        headers[count++] = (struct http_header){"Authorization", authorization};
    }
    struct http_ask ask = {.method = "DELETE",
                           .url = http->url,
                           .headers = headers,
                           .header_count = count,
                           .total_ms = GOODBYE_MS,
                           .max_body = MCP_MAX_ERROR_BODY};
    return http_request_new(http->client, &ask, &handler, http, &http->goodbye, NULL) == 0;
}

static void stop(struct mcp_transport *base)
{
    struct http_transport *http = (struct http_transport *) base;
    if (http->phase == HTTP_ENDED || http->phase == HTTP_STOPPING)
        return;
    http_enter(http);
    if (http->phase == HTTP_AUTHORIZING)
        http->authorizer->forget(http, http->authorizer->user);
    end_streams(http);
    http_set_phase(http, HTTP_STOPPING);
    if (!send_goodbye(http))
        end(http, acp_str_from(""));
    http_leave(http);
}

/* ---- The session ----------------------------------------------------------------------------- */

/* Visible ASCII only, as the specification has it. */
void http_take_session(struct http_transport *http, const struct http_request *request)
{
    struct acp_str id = http_request_header(request, "mcp-session-id");
    *http->session_id = '\0';
    if (id.len > MCP_MAX_SESSION_ID)
        return;
    for (size_t i = 0; i < id.len; i++)
        if (id.ptr[i] < 0x21 || id.ptr[i] > 0x7E)
            return;
    (void) snprintf(http->session_id, sizeof(http->session_id), "%.*s", ACP_ARG(id));
}

static void negotiated(struct mcp_transport *base, struct acp_str version)
{
    struct http_transport *http = (struct http_transport *) base;
    (void) snprintf(http->version, sizeof(http->version), "%.*s", ACP_ARG(version));
    http->initialize_done = true;
    http_wake(http);
}

void http_be_open(struct http_transport *http)
{
    if (http->phase != HTTP_OPENING)
        return;
    http_set_phase(http, HTTP_OPEN);
    if (!http->is_legacy) /* which has its stream already */
        (void) http_stream_new(http, STREAM_LISTENING, acp_raw_from(NULL));
}

/* Responses of the old session cannot arrive any more; what was refused because of it is kept. */
void http_expire(struct http_transport *http)
{
    if (http->phase != HTTP_OPEN)
        return;
    *http->session_id = '\0';
    *http->version = '\0';
    http->initialize_done = false;
    http_set_phase(http, HTTP_OPENING);
    for (struct http_stream *stream = http->streams; stream; stream = stream->next) {
        bool is_old = stream->state == STREAM_ACTIVE || stream->state == STREAM_WAITING;
        if (is_old && stream->kind == STREAM_REQUEST && (stream->is_events || stream->resumes))
            http_stream_lose(stream, "ended the session before it answered; whether it did what "
                                     "it was asked is not known");
        else if (is_old && stream->kind == STREAM_LISTENING)
            http_stream_end(stream);
    }
    if (http->phase == HTTP_OPENING)
        http->context.events->expired(http->context.user);
}

/* ---- Authorization --------------------------------------------------------------------------- */

static void on_authorized(int err, struct acp_str sentence, void *waiter)
{
    struct http_transport *http = waiter;
    if (http->phase != HTTP_AUTHORIZING)
        return;
    http_enter(http);
    http_set_phase(http, http->before);
    if (err)
        http_fail(http, sentence);
    http_leave(http);
}

bool http_authorize(struct http_transport *http, const struct http_request *request, int status)
{
    const struct mcp_authorizer *authorizer = http->authorizer;
    if (!authorizer || http->phase == HTTP_STOPPING || http->phase == HTTP_ENDED)
        return false;
    if (http->phase == HTTP_AUTHORIZING)
        return true;
    struct mcp_refusal refusal = {.status = status,
                                  .challenge = http_request_header(request, "www-authenticate"),
                                  .url = http->url,
                                  .used_header = authorizer->header(authorizer->user)};
    if (!authorizer->refused(&refusal, on_authorized, http, authorizer->user))
        return false;
    http->before = http->phase;
    http_set_phase(http, HTTP_AUTHORIZING);
    return true;
}

/* ---- The older transport --------------------------------------------------------------------- */

bool http_fall_back(struct http_transport *http, int status, struct acp_str sentence)
{
    bool is_refused = status == 400 || status == 404 || status == 405;
    if (!http->may_fall_back || !is_refused || http->phase != HTTP_OPENING)
        return false;
    http->may_fall_back = false;
    http->is_legacy = true;
    (void) snprintf(http->first_failure, sizeof(http->first_failure), "%.*s", ACP_ARG(sentence));
    http_set_phase(http, HTTP_OPENING_LEGACY);
    return http_stream_new(http, STREAM_LISTENING, acp_raw_from(NULL)) != NULL;
}

void http_take_endpoint(struct http_transport *http, struct acp_str data)
{
    struct acp_buf url;
    char sentence[400];
    if (http->phase != HTTP_OPENING_LEGACY)
        return;
    acp_buf_init(&url, MCP_MAX_MESSAGE);
    int err = http_resolve(acp_str_from(http->url), data, &url);
    http->post_url = err ? NULL : acp_str_copy(acp_buf_view(&url));
    acp_buf_finish(&url);
    if (http->post_url) {
        http_set_phase(http, HTTP_OPENING);
        return;
    }
    (void) snprintf(sentence, sizeof(sentence),
                    "the MCP server \"%.100s\" wants its messages sent to another server",
                    http->context.name);
    http_fail(http, acp_str_from(sentence));
}

/* ---- Messages to the server ------------------------------------------------------------------ */

/* The response to a request that is cancelled is not waited for. */
static void drop_cancelled(struct http_transport *http, struct acp_raw message)
{
    struct acp_raw params = {0};
    struct acp_raw id = {0};
    (void) acp_json_member_raw(message, "params", &params);
    (void) acp_json_member_raw(params, "requestId", &id);
    for (struct http_stream *stream = http->streams; stream && id.len; stream = stream->next) {
        if (stream->kind == STREAM_REQUEST && stream->state != STREAM_OVER &&
            acp_str_eq(acp_str_n(stream->id.ptr, stream->id.len), acp_str_n(id.ptr, id.len))) {
            http_stream_lose(stream, "was asked to cancel it");
            return;
        }
    }
}

static bool take_message(struct http_transport *http, const struct acp_outgoing *message)
{
    bool is_request = message->kind == ACP_MESSAGE_REQUEST;
    struct http_stream *stream =
        http_stream_new(http, is_request ? STREAM_REQUEST : STREAM_MESSAGE, message->text);
    if (!stream)
        return false;
    if (is_request)
        stream->id =
            acp_raw_n(stream->body + (message->id.ptr - message->text.ptr), message->id.len);
    stream->is_initialize = acp_str_is(message->method, "initialize");
    stream->is_initialized = acp_str_is(message->method, "notifications/initialized");
    return true;
}

static void take_messages(struct http_transport *http)
{
    struct acp_endpoint *endpoint = http->context.endpoint;
    struct acp_outgoing message;
    while (http->post_count < MCP_MAX_POSTS && http->phase != HTTP_ENDED &&
           acp_endpoint_next_message(endpoint, &message) == 1 && take_message(http, &message)) {
        bool cancels = acp_str_is(message.method, "notifications/cancelled");
        if (cancels)
            drop_cancelled(http, message.text);
        acp_endpoint_message_sent(endpoint);
    }
}

static void start_streams(struct http_transport *http, uint64_t now)
{
    for (struct http_stream *stream = http->streams; stream; stream = stream->next) {
        bool is_due =
            stream->state == STREAM_HELD || (stream->state == STREAM_WAITING && stream->due <= now);
        if (is_due && http_may_send(http, stream))
            http_stream_start(stream);
        if (stream->paused && stream->request && acp_endpoint_wanted(http->context.endpoint, now)) {
            stream->paused = false;
            http_request_resume(stream->request);
        }
    }
}

static void on_timer(uv_timer_t *timer);

static void arm(struct http_transport *http, uint64_t now)
{
    uint64_t due = acp_endpoint_deadline(http->context.endpoint);
    for (const struct http_stream *stream = http->streams; stream; stream = stream->next) {
        bool is_waiting = stream->state == STREAM_WAITING && http_may_send(http, stream);
        if (is_waiting && stream->due < due)
            due = stream->due;
    }
    if (due != UINT64_MAX)
        (void) uv_timer_start(&http->timer, on_timer, due > now ? due - now : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct http_transport *http = timer->data;
    uint64_t now = uv_now(http->context.loop);
    if (http->phase == HTTP_ENDED || http->phase == HTTP_STOPPING)
        return;
    http_enter(http);
    acp_endpoint_tick(http->context.endpoint, now);
    if (http->phase != HTTP_ENDED && http->phase != HTTP_STOPPING)
        take_messages(http);
    if (http->phase != HTTP_ENDED && http->phase != HTTP_STOPPING)
        start_streams(http, now);
    if (http->phase != HTTP_ENDED && http->phase != HTTP_STOPPING)
        arm(http, now);
    http_leave(http);
}

void http_wake(void *user)
{
    struct http_transport *http = user;
    if (http->phase != HTTP_ENDED && !uv_is_closing((uv_handle_t *) &http->timer))
        (void) uv_timer_start(&http->timer, on_timer, 0, 0);
}

/* ---- The beginning --------------------------------------------------------------------------- */

static const struct mcp_transport_class http_class = {
    .negotiated = negotiated, .stop = stop, .free = free_transport};

static bool copy_options(struct http_transport *http, const struct mcp_options *options)
{
    http->url = acp_str_copy(acp_str_from(options->url));
    http->headers = calloc(options->header_count + 1, sizeof(*http->headers));
    bool copied = http->url && http->headers;
    for (size_t i = 0; copied && i < options->header_count; i++) {
        http->headers[i].name = acp_str_copy(acp_str_from(options->headers[i].name));
        http->headers[i].value = acp_str_copy(acp_str_from(options->headers[i].value));
        http->header_count++;
        copied = http->headers[i].name && http->headers[i].value;
    }
    return copied;
}

int mcp_http_new(const struct mcp_transport_context *context, const struct mcp_options *options,
                 struct mcp_transport **ret, struct acp_failure *failure)
{
    if (options->header_count > MCP_MAX_HEADERS) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the MCP server \"%.60s\" has more than %d headers", context->name,
                        MCP_MAX_HEADERS);
        return ACP_ERR_LIMIT;
    }
    struct http_transport *http = calloc(1, sizeof(*http));
    if (!http)
        return ACP_ERR_NOMEM;
    http->base.class = &http_class;
    http->context = *context;
    http->client = options->http;
    http->authorizer = options->authorizer;
    http->is_legacy = options->kind == MCP_SSE;
    http->may_fall_back = options->kind == MCP_HTTP;
    http->phase = http->is_legacy ? HTTP_OPENING_LEGACY : HTTP_OPENING;
    (void) uv_timer_init(context->loop, &http->timer);
    http->timer.data = http;
    if (!copy_options(http, options) ||
        (http->is_legacy && !http_stream_new(http, STREAM_LISTENING, acp_raw_from(NULL)))) {
        free_transport(&http->base);
        return ACP_ERR_NOMEM;
    }
    acp_endpoint_on_wake(context->endpoint, http_wake, http);
    http_wake(http);
    *ret = &http->base;
    return 0;
}
