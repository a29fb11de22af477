/*
 * http_stream.c - one POST or GET of the HTTP transport: its attempts, its answer, resuming it.
 *
 * A message is sent again only if it was certainly not served: the server could not be reached, has
 * refused it with a status that says so, or does not know the session.  A stream of events that
 * breaks off is resumed behind its last event; without the id of one, the response is lost.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "acp/scan.h"
#include "base/copy.h"
#include "base/utf8.h"
#include "json/members.h"
#include "mcp/http_transport.h"
#include "oauth/oauth.h"

enum {
    RETRY_MS = 1000, /* before a stream is resumed, unless the server says otherwise */
    MAX_RETRY_MS = 60 * 1000,
    /* Time limits are those of the requests; a stream may be silent in between. */
    STALL_MS = 24 * 60 * 60 * 1000,
    SHOWN_SCOPE = 200,
};

static const char plain_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 :._/-";

/* ---- States ---------------------------------------------------------------------------------- */

#define TO(state) (1u << STREAM_##state)

void http_stream_set_state(struct http_stream *stream, enum stream_state state)
{
    static const unsigned next[] = {
        [STREAM_HELD] = TO(ACTIVE) | TO(OVER),
        [STREAM_WAITING] = TO(ACTIVE) | TO(HELD) | TO(OVER),
        [STREAM_ACTIVE] = TO(HELD) | TO(WAITING) | TO(OVER),
        [STREAM_OVER] = 0,
    };
    assert(next[stream->state] & 1u << state);
    (void) next;
    stream->state = state;
    http_wake(stream->http);
}

#undef TO

/* ---- Beginning and end ----------------------------------------------------------------------- */

struct http_stream *http_stream_new(struct http_transport *http, enum stream_kind kind,
                                    struct acp_raw message)
{
    struct http_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return NULL;
    stream->http = http;
    stream->kind = kind;
    http_sse_init(&stream->sse, MCP_MAX_MESSAGE);
    acp_buf_init(&stream->answer, MCP_MAX_MESSAGE);
    if (message.ptr) {
        stream->body = acp_str_copy(acp_str_n(message.ptr, message.len));
        stream->body_len = message.len;
        if (!stream->body) {
            http_stream_free(stream);
            return NULL;
        }
    }
    struct http_stream **at = &http->streams;
    while (*at)
        at = &(*at)->next;
    *at = stream;
    http->post_count += kind == STREAM_MESSAGE;
    return stream;
}

void http_stream_free(struct http_stream *stream)
{
    http_request_free(stream->request);
    http_sse_finish(&stream->sse);
    acp_buf_finish(&stream->answer);
    free(stream->body);
    free(stream);
}

void http_stream_end(struct http_stream *stream)
{
    if (stream->state == STREAM_OVER)
        return;
    http_request_free(stream->request);
    stream->request = NULL;
    stream->http->post_count -= stream->kind == STREAM_MESSAGE;
    http_stream_set_state(stream, STREAM_OVER);
}

void http_stream_lose(struct http_stream *stream, const char *format, ...)
{
    struct http_transport *http = stream->http;
    char words[512];
    char sentence[700];
    va_list list;
    va_start(list, format);
    (void) vsnprintf(words, sizeof(words), format, list);
    va_end(list);
    (void) snprintf(sentence, sizeof(sentence), "the MCP server \"%.100s\" %s", http->context.name,
                    words);
    bool is_owed = stream->kind == STREAM_REQUEST && !stream->answered;
    http_stream_end(stream);
    if (is_owed && http->phase != HTTP_ENDED && http->phase != HTTP_STOPPING)
        http->context.events->lost(stream->id, acp_str_from(sentence), http->context.user);
}

/* ---- Messages of the server ------------------------------------------------------------------ */

/* The id of a response, as its bytes; absent for another message. */
static struct acp_str response_id(struct acp_raw message)
{
    struct acp_scan scan;
    if (acp_scan_message(message, acp_str_from(NULL), &scan, NULL))
        return acp_str_from(NULL);
    bool is = scan.kind == ACP_SCAN_RESPONSE || scan.kind == ACP_SCAN_BAD_RESPONSE;
    return is ? acp_str_n(scan.id.ptr, scan.id.len) : acp_str_from(NULL);
}

static bool is_for(const struct http_stream *stream, struct acp_str id)
{
    return id.len && stream->kind == STREAM_REQUEST &&
           acp_str_eq(id, acp_str_n(stream->id.ptr, stream->id.len));
}

/* Some servers answer on another stream than that of the request. */
static void note_answer(struct http_transport *http, struct acp_str id)
{
    for (struct http_stream *stream = http->streams; stream; stream = stream->next) {
        if (stream->state == STREAM_OVER || !is_for(stream, id))
            continue;
        stream->answered = true;
        if (stream->state == STREAM_WAITING)
            http_stream_end(stream);
    }
}

static void deliver_one(struct http_stream *stream, struct acp_raw message)
{
    struct http_transport *http = stream->http;
    note_answer(http, response_id(message));
    (void) acp_endpoint_receive_message(http->context.endpoint, message,
                                        uv_now(http->context.loop));
}

/* Version 2025-03-26 had batches. */
static void deliver(struct http_stream *stream, struct acp_str text)
{
    struct acp_json_reader r;
    struct acp_raw item;
    while (text.len && (*text.ptr == ' ' || *text.ptr == '\n' || *text.ptr == '\r'))
        text = acp_str_n(text.ptr + 1, text.len - 1);
    if (!text.len)
        return;
    if (*text.ptr != '[') {
        deliver_one(stream, acp_raw_n(text.ptr, text.len));
        return;
    }
    acp_json_reader_init(&r, acp_raw_n(text.ptr, text.len), NULL, 0);
    (void) acp_json_enter_array(&r);
    while (acp_json_next_item(&r) > 0 && acp_json_read_raw(&r, &item) == 0)
        deliver_one(stream, item);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static bool is_type(const struct http_request *request, const char *type)
{
    struct acp_str value = http_request_header(request, "content-type");
    size_t n = strlen(type);
    return value.len >= n && strncasecmp(value.ptr, type, n) == 0;
}

static void on_head(struct http_request *request, int status, void *user)
{
    struct http_stream *stream = user;
    bool is_good = status >= 200 && status < 300;
    stream->is_events = is_good && is_type(request, "text/event-stream");
    if (!is_good)
        stream->answer.max = MCP_MAX_ERROR_BODY;
    if (is_good && stream->is_initialize)
        http_take_session(stream->http, request);
}

static void take_event(struct http_stream *stream, const struct http_sse_event *event)
{
    stream->attempts = 0;
    if (acp_str_is(event->name, "endpoint") && stream->http->is_legacy)
        http_take_endpoint(stream->http, event->data);
    else if (!event->name.len || acp_str_is(event->name, "message"))
        deliver(stream, event->data);
}

static void read_events(struct http_stream *stream, struct acp_str piece)
{
    struct http_transport *http = stream->http;
    struct http_sse_event event;
    int some;
    http_sse_feed(&stream->sse, piece);
    while ((some = http_sse_next(&stream->sse, &event)) > 0) {
        take_event(stream, &event);
        if (stream->state == STREAM_OVER || http->phase == HTTP_ENDED)
            return;
    }
    if (some < 0)
        http_stream_lose(stream, "sent an event of more than %d MiB", MCP_MAX_MESSAGE >> 20);
}

static void on_body(struct http_request *request, struct acp_str piece, void *user)
{
    struct http_stream *stream = user;
    struct http_transport *http = stream->http;
    http_enter(http);
    if (stream->is_events) {
        read_events(stream, piece);
        if (stream->state != STREAM_OVER && http->phase != HTTP_ENDED &&
            !acp_endpoint_wanted(http->context.endpoint, uv_now(http->context.loop))) {
            stream->paused = true;
            http_request_pause(request);
        }
    } else if (acp_buf_append_str(&stream->answer, piece) &&
               stream->answer.max == MCP_MAX_MESSAGE) {
        http_stream_lose(stream, "sent an answer of more than %d MiB", MCP_MAX_MESSAGE >> 20);
    }
    http_leave(http);
}

/* ---- Another attempt ------------------------------------------------------------------------- */

static void wait_for(struct http_stream *stream, uint64_t ms)
{
    stream->due = uv_now(stream->http->context.loop) + ms;
    http_stream_set_state(stream, STREAM_WAITING);
}

/* Each attempt without an event in between waits twice as long as the one before. */
static uint64_t pause_before(const struct http_stream *stream)
{
    uint64_t ms = stream->sse.retry_ms ? stream->sse.retry_ms : (uint64_t) RETRY_MS;
    unsigned doubled = stream->attempts < 5 ? stream->attempts : 5;
    uint64_t longer = ms << doubled;
    return longer < MAX_RETRY_MS || longer < ms ? longer : ms > MAX_RETRY_MS ? ms : MAX_RETRY_MS;
}

/* A stream of events has ended, or could not be resumed. */
static void resume(struct http_stream *stream, const char *why)
{
    bool can = stream->sse.last_id.len > 0;
    if (!can && stream->kind == STREAM_REQUEST) {
        http_stream_lose(stream,
                         "closed the connection before it answered, and cannot resume "
                         "it%s%.200s; whether it did what it was asked is not known",
                         *why ? ": " : "", why);
        return;
    }
    if (stream->attempts >= MCP_MAX_ATTEMPTS && stream->kind == STREAM_REQUEST) {
        http_stream_lose(stream,
                         "closed the connection and did not answer in %d attempts to "
                         "resume it%s%.200s",
                         MCP_MAX_ATTEMPTS, *why ? ": " : "", why);
        return;
    }
    uint64_t ms = pause_before(stream);
    stream->resumes = can;
    stream->attempts++;
    wait_for(stream, ms);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* What the body of an HTTP error says, on one line. */
static void describe_body(const struct http_stream *stream, char *out, size_t size)
{
    struct acp_str body = acp_buf_view(&stream->answer);
    struct acp_arena arena;
    struct acp_raw error = {0};
    struct acp_str text = acp_str_from("");
    acp_arena_init(&arena, 0);
    struct acp_raw json = acp_raw_n(body.ptr, body.len);
    if (body.len && *body.ptr == '{' && acp_json_member_raw(json, "error", &error) == 0)
        (void) acp_json_member_str(error, "message", &arena, &text);
    else if (body.len && *body.ptr != '<' && *body.ptr != '{')
        text = body;
    size_t n = 0;
    for (; n < text.len && n + 1 < size && text.ptr[n] != '\n'; n++)
        out[n] = text.ptr[n];
    out[n] = '\0';
    acp_arena_finish(&arena);
}

/* A redirection within the server is followed; whoever is asked elsewhere might not be trusted. */
static bool follow(struct http_stream *stream, const char *target, int status)
{
    struct http_transport *http = stream->http;
    bool keeps_method = status == 307 || status == 308 || !stream->body || stream->resumes;
    if (!target || !keeps_method || stream->redirects++ >= MCP_MAX_REDIRECTS ||
        !http_stays(acp_str_from(http->url), acp_str_from(target)))
        return false;
    char **url = http->post_url && stream->body ? &http->post_url : &http->url;
    char *copy = acp_str_copy(acp_str_from(target));
    if (!copy)
        return false;
    free(*url);
    *url = copy;
    wait_for(stream, 0);
    return true;
}

/* Whether a scope may be part of a command that people copy into a shell. */
static bool is_plain_scope(struct acp_str scope)
{
    for (size_t i = 0; i < scope.len; i++)
        if (!memchr(plain_characters, scope.ptr[i], sizeof(plain_characters) - 1))
            return false;
    return scope.len <= SHOWN_SCOPE;
}

/* The server wants a login, or one that covers more: says how to log in for this request. */
static bool report_login(struct http_stream *stream, struct http_request *request, int status,
                         const char *said)
{
    struct oauth_challenge challenge = {0};
    struct acp_arena arena;
    acp_arena_init(&arena, MCP_MAX_ERROR_BODY);
    bool is_read =
        oauth_challenge_read(http_request_header(request, "www-authenticate"), &arena, &challenge);
    bool is_login =
        status == 401 || (status == 403 && acp_str_is(challenge.error, "insufficient_scope"));
    struct acp_str scope = challenge.scope;
    if (!is_read || !is_plain_scope(scope))
        scope.len = 0;
    if (is_login)
        http_stream_lose(stream,
                         "requires a login (HTTP status %d%s%s); run 'acp mcp login%s%.*s%s %s'",
                         status, *said ? ": " : "", said, scope.len ? " --scope \"" : "",
                         ACP_ARG(scope), scope.len ? "\"" : "", stream->http->url);
    acp_arena_finish(&arena);
    return is_login;
}

static void report_status(struct http_stream *stream, struct http_request *request, int status)
{
    const char *target = http_request_redirect(request);
    char said[200];
    struct acp_str place = http_place(acp_str_from(target ? target : ""));
    describe_body(stream, said, sizeof(said));
    if (target)
        http_stream_lose(stream,
                         "redirects to %.*s, which is not followed; configure that address "
                         "if it is right",
                         ACP_ARG(acp_str_n(place.ptr, place.len < 150 ? place.len : 150)));
    else if (!report_login(stream, request, status, said))
        http_stream_lose(stream, "answered with HTTP status %d%s%s", status, *said ? ": " : "",
                         said);
}

/* True: the stream waits for something, and is tried again. */
static bool try_again(struct http_stream *stream, struct http_request *request, int status)
{
    struct http_transport *http = stream->http;
    uint64_t ms = RETRY_MS;
    if (status == 404 && stream->had_session && !stream->was_expired) {
        stream->was_expired = true;
        http_stream_set_state(stream, STREAM_HELD);
        http_expire(http);
        return true;
    }
    if ((status == 401 || status == 403) && http_authorize(http, request, status)) {
        http_stream_set_state(stream, STREAM_HELD);
        return true;
    }
    if ((status == 429 || status == 503) && stream->attempts++ < MCP_MAX_ATTEMPTS) {
        (void) http_request_retry_after(request, &ms);
        wait_for(stream, ms < MAX_RETRY_MS ? ms : MAX_RETRY_MS);
        return true;
    }
    return status >= 300 && status < 400 && follow(stream, http_request_redirect(request), status);
}

static void end_with_status(struct http_stream *stream, struct http_request *request, int status)
{
    struct acp_str body = acp_buf_view(&stream->answer);
    char sentence[700];
    if (try_again(stream, request, status))
        return;
    (void) snprintf(sentence, sizeof(sentence),
                    "the MCP server \"%.100s\" answered with HTTP status %d",
                    stream->http->context.name, status);
    if (stream->is_initialize && http_fall_back(stream->http, status, acp_str_from(sentence))) {
        http_stream_set_state(stream, STREAM_HELD);
        return;
    }
    /* An error response of JSON-RPC says more than the status. */
    if (body.len && is_for(stream, response_id(acp_raw_n(body.ptr, body.len))))
        deliver(stream, body);
    if (stream->state == STREAM_OVER)
        return;
    if (stream->answered)
        http_stream_end(stream);
    else
        report_status(stream, request, status);
}

/* ---- The end of an attempt ------------------------------------------------------------------- */

/* The server sends nothing by itself, or the stream is opened again. */
static void end_listening(struct http_stream *stream, struct http_request *request,
                          const struct http_end *end)
{
    struct http_transport *http = stream->http;
    if (end->status >= 300 && try_again(stream, request, end->status))
        return;
    if (http->is_legacy) {
        char sentence[700];
        (void) snprintf(sentence, sizeof(sentence), "the MCP server \"%.100s\" %s%.300s",
                        http->context.name,
                        end->status == 200 ? "closed its stream of events"
                                           : "did not open a stream of events: ",
                        end->status == 200   ? ""
                        : *end->sentence     ? end->sentence
                        : end->status == 405 ? "HTTP status 405"
                                             : "it answered with an HTTP error");
        http_fail(http, acp_str_from(*http->first_failure ? http->first_failure : sentence));
        return;
    }
    if (end->status < 300 && (stream->is_events || end->trouble) &&
        stream->attempts < MCP_MAX_ATTEMPTS)
        resume(stream, end->sentence);
    else
        http_stream_end(stream);
}

/* The attempt to send a message has ended. */
static void end_message(struct http_stream *stream, struct http_request *request,
                        const struct http_end *end)
{
    if (end->status >= 300 && try_again(stream, request, end->status))
        return;
    if (stream->is_initialized)
        http_be_open(stream->http);
    http_stream_end(stream);
}

/* The older transport has its responses on the other stream. */
static void end_request(struct http_stream *stream, struct http_request *request,
                        const struct http_end *end)
{
    struct http_transport *http = stream->http;
    bool is_good = end->status >= 200 && end->status < 300;
    if (stream->answered || (http->is_legacy && is_good && !stream->resumes)) {
        http_stream_end(stream);
    } else if (end->status >= 300 && !(end->status == 404 && stream->resumes)) {
        end_with_status(stream, request, end->status);
    } else if (is_good && stream->is_events) {
        resume(stream, end->sentence);
    } else if (stream->resumes) {
        resume(stream, end->status ? "it has forgotten the stream" : end->sentence);
    } else if (is_good && !end->trouble) {
        deliver(stream, acp_buf_view(&stream->answer));
        if (stream->answered)
            http_stream_end(stream);
        else
            http_stream_lose(stream, "did not answer a request, but sent something else; whether "
                                     "it did what it was asked is not known");
    } else if (is_good || end->trouble == HTTP_BROKEN || end->trouble == HTTP_STALLED) {
        http_stream_lose(stream,
                         "broke off its answer (%.300s); whether it did what it was asked "
                         "is not known",
                         end->sentence);
    } else {
        http_stream_lose(stream, "cannot be reached: %.300s", end->sentence);
    }
}

static void on_end(struct http_request *request, const struct http_end *end, void *user)
{
    struct http_stream *stream = user;
    struct http_transport *http = stream->http;
    http_enter(http);
    stream->request = NULL;
    if (stream->state == STREAM_ACTIVE && http->phase != HTTP_ENDED) {
        switch (stream->kind) {
        case STREAM_LISTENING:
            end_listening(stream, request, end);
            break;
        case STREAM_MESSAGE:
            end_message(stream, request, end);
            break;
        case STREAM_REQUEST:
            end_request(stream, request, end);
            break;
        }
    }
    http_request_free(request);
    http_leave(http);
}

/* ---- An attempt ------------------------------------------------------------------------------ */

static void add_header(struct http_header *headers, size_t *count, const char *name,
                       const char *value)
{
    headers[(*count)++] = (struct http_header){name, value};
}

/* The user's own headers come first; theirs of the same name are sent as well. */
static size_t fill_headers(struct http_stream *stream, struct http_header *headers, char *last_id,
                           char *authorization, size_t size)
{
    struct http_transport *http = stream->http;
    const struct mcp_authorizer *authorizer = http->authorizer;
    size_t count = 0;
    bool posts = stream->body && !stream->resumes;
    for (size_t i = 0; i < http->header_count; i++)
        headers[count++] = http->headers[i];
    if (posts)
        add_header(headers, &count, "Content-Type", "application/json");
    add_header(headers, &count, "Accept",
               posts ? "application/json, text/event-stream" : "text/event-stream");
    stream->had_session = *http->session_id && !stream->is_initialize;
    if (stream->had_session)
        add_header(headers, &count, "Mcp-Session-Id", http->session_id);
    if (*http->version && !stream->is_initialize)
        add_header(headers, &count, "MCP-Protocol-Version", http->version);
    if (stream->resumes) {
        (void) snprintf(last_id, HTTP_SSE_MAX_ID + 1, "%.*s",
                        ACP_ARG(acp_buf_view(&stream->sse.last_id)));
        add_header(headers, &count, "Last-Event-ID", last_id);
    }
    struct acp_str value = authorizer ? authorizer->header(authorizer->user) : acp_str_from(NULL);
    if (value.len && value.len < size) {
        (void) snprintf(authorization, size, "%.*s", ACP_ARG(value));
        add_header(headers, &count, "Authorization", authorization);
    }
    return count;
}

/* What was read of a broken stream is dropped, but for the place where it is resumed. */
static void begin_answer(struct http_stream *stream)
{
    struct acp_buf last_id = stream->sse.last_id;
    uint64_t retry_ms = stream->sse.retry_ms;
    acp_buf_init(&stream->sse.last_id, 0);
    http_sse_finish(&stream->sse);
    http_sse_init(&stream->sse, MCP_MAX_MESSAGE);
    stream->sse.last_id = last_id;
    (void) acp_buf_append_str(&stream->sse.id, acp_buf_view(&last_id));
    stream->sse.retry_ms = retry_ms;
    acp_buf_clear(&stream->answer);
    stream->answer.max = MCP_MAX_MESSAGE;
    stream->is_events = false;
    stream->paused = false;
}

void http_stream_start(struct http_stream *stream)
{
    static const struct http_handler handler = {.head = on_head, .body = on_body, .end = on_end};
    enum { OWN_HEADERS = 8, MAX_AUTHORIZATION = 16 * 1024 };
    struct http_transport *http = stream->http;
    struct http_header headers[MCP_MAX_HEADERS + OWN_HEADERS];
    struct acp_failure failure = {0};
    char last_id[HTTP_SSE_MAX_ID + 1];
    char authorization[MAX_AUTHORIZATION];
    bool posts = stream->body && !stream->resumes;
    begin_answer(stream);
    size_t count = fill_headers(stream, headers, last_id, authorization, sizeof(authorization));
    struct http_ask ask = {.method = posts ? "POST" : "GET",
                           .url = posts && http->post_url ? http->post_url : http->url,
                           .headers = headers,
                           .header_count = count,
                           .body = posts ? acp_str_n(stream->body, stream->body_len)
                                         : acp_str_from(NULL),
                           .once = posts,
                           .stall_ms = STALL_MS};
    http_stream_set_state(stream, STREAM_ACTIVE);
    int err = http_request_new(http->client, &ask, &handler, stream, &stream->request, &failure);
    if (err)
        http_stream_lose(stream, "cannot be reached: %.300s",
                         *failure.message ? failure.message : acp_err_text(err));
}
