/* mcp.c - an MCP server: its process, the handshake, its tools and their calls. */
#define _GNU_SOURCE /* memmem */
#include "mcp/mcp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/io.h"
#include "acp/rpc.h"
#include "acp/types.h"
#include "base/copy.h"
#include "json/members.h"
#include "mcp/mcp_internal.h"

enum {
    START_MS = 30 * 1000,
    CALL_MS = 10 * 60 * 1000,
    /* From closing its input to SIGTERM, and from there to SIGKILL: less than 2 s in all. */
    GRACE_MS = 700,
    TERM_MS = 800,
    ERROR_TAIL = 2048,
    MAX_SENTENCE = 8192,
    /* Against servers that send pages, or changes of their tools, for ever. */
    MAX_PAGES = 64,
    MAX_LISTS = 1000,
};

enum state { STARTING, READY, GONE };

struct mcp_server {
    uv_loop_t *loop;
    char *name;
    char *version; /* ours */
    uint64_t start_ms;
    uint64_t call_ms;
    uint64_t deadline; /* until it must be ready */
    struct mcp_handler handler;
    void *user;
    enum state state;
    struct acp_peer *peer;
    struct acp_process *process;
    char noise[80];            /* the beginning of the first line that is not a message */
    struct mcp_tools *tools;   /* NULL until they are known */
    struct mcp_tools *listing; /* those that are being listed, or NULL */
    unsigned pages;            /* of the listing */
    unsigned lists;
    bool list_again; /* they changed while they were listed */
    struct mcp_call *calls;
    size_t call_count;
    unsigned depth; /* of callbacks, during which it must not be freed */
    bool exited;    /* the process, or there is none */
    bool freed;     /* no callbacks any more */
};

/* Stays until its answer arrives, even if it was cancelled. */
struct mcp_call {
    struct mcp_call *next;
    struct mcp_server *server;
    uint64_t request;
    mcp_done_fn *done; /* NULL: it was cancelled */
    void *user;
};

static void list_tools(struct mcp_server *server, struct acp_str cursor);

/* ---- The end --------------------------------------------------------------------------------- */

static void free_tools(struct mcp_tools *tools)
{
    if (!tools)
        return;
    acp_arena_finish(&tools->arena);
    free(tools);
}

/* Releases a server that was freed once its process has ended and no callback is running. */
static void release(struct mcp_server *server)
{
    if (!server->freed || !server->exited || server->depth)
        return;
    acp_process_free(server->process);
    acp_peer_free(server->peer);
    free_tools(server->tools);
    free_tools(server->listing);
    free(server->name);
    free(server->version);
    free(server);
}

/* Closes the connection and asks the process to end. */
static void dismiss(struct mcp_server *server)
{
    if (server->peer)
        acp_peer_close(server->peer, ACP_ERR_CLOSED);
    if (server->process)
        acp_process_stop(server->process);
}

void mcp_server_free(struct mcp_server *server)
{
    if (!server || server->freed)
        return;
    server->freed = true;
    server->depth++;
    for (struct mcp_call *call = server->calls; call; call = call->next)
        call->done = NULL;
    dismiss(server);
    server->depth--;
    release(server);
}

/* Reports its end, once. */
static void lose(struct mcp_server *server, struct acp_str sentence)
{
    if (server->state == GONE || server->freed)
        return;
    server->state = GONE;
    server->depth++;
    dismiss(server);
    if (!server->freed)
        server->handler.gone(server, sentence, server->user);
    server->depth--;
    release(server);
}

static void fail(struct mcp_server *server, const char *format, ...) ACP_PRINTF(2, 3);
static void fail(struct mcp_server *server, const char *format, ...)
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

/* A request of the handshake or of a list was not answered properly. */
static void fail_reply(struct mcp_server *server, const char *what, const struct acp_reply *reply)
{
    switch (reply->err) {
    case ACP_ERR_CLOSED: /* its exit is reported next, and says more */
        return;
    case ACP_ERR_TIMEOUT:
        fail(server, "did not answer %s within %llu ms", what,
             (unsigned long long) server->start_ms);
        return;
    case ACP_ERR_REMOTE:
        fail(server, "refused %s: %.*s", what,
             (int) (reply->error_message.len < 300 ? reply->error_message.len : 300),
             reply->error_message.ptr);
        return;
    default:
        fail(server, "sent an invalid answer to %s: %s", what, acp_err_text(reply->err));
    }
}

/* ---- The list of tools ----------------------------------------------------------------------- */

static uint64_t time_left(const struct mcp_server *server)
{
    uint64_t now = uv_now(server->loop);
    if (server->state == READY)
        return server->start_ms;
    return now < server->deadline ? server->deadline - now : 1;
}

/* Replaces the known tools by those of the listing. */
static void take_listing(struct mcp_server *server)
{
    bool first = server->state == STARTING;
    free_tools(server->tools);
    server->tools = server->listing;
    server->listing = NULL;
    server->state = READY;
    server->depth++;
    if (first)
        server->handler.ready(server, server->user);
    else
        server->handler.tools_changed(server, server->user);
    bool again = server->list_again && !server->freed && server->state == READY;
    server->list_again = false;
    if (again)
        list_tools(server, (struct acp_str){0});
    server->depth--;
    release(server);
}

static void on_listed(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                      void *user)
{
    struct mcp_server *server = user;
    struct acp_reply answer = *reply;
    struct acp_str cursor = {0};
    (void) peer;
    (void) request;
    if (server->freed)
        return;
    if (!answer.err)
        answer.err = mcp_read_tools(answer.result, server->listing, &cursor);
    if (answer.err && answer.err != ACP_ERR_LIMIT) {
        free_tools(server->listing);
        server->listing = NULL;
        if (server->state == STARTING)
            fail_reply(server, "tools/list", &answer);
    } else if (!answer.err && cursor.ptr && server->pages < MAX_PAGES) {
        list_tools(server, cursor);
    } else {
        take_listing(server);
    }
}

/* Starts a listing, or continues it at the cursor. */
static void list_tools(struct mcp_server *server, struct acp_str cursor)
{
    struct acp_request request = {.method = acp_str_from("tools/list"),
                                  .timeout_ms = time_left(server),
                                  .reply = on_listed,
                                  .user = server};
    if (!server->listing) {
        if (server->lists++ == MAX_LISTS)
            return;
        server->listing = calloc(1, sizeof(*server->listing));
        if (!server->listing) {
            fail(server, "has more tools than there is memory for");
            return;
        }
        acp_arena_init(&server->listing->arena, MCP_MAX_LIST);
        server->pages = 0;
    }
    server->pages++;
    struct acp_json_writer *w = acp_peer_begin_request(server->peer, &request);
    acp_json_begin_object(w);
    if (cursor.ptr) {
        acp_json_put_str(w, "cursor", cursor);
    }
    acp_json_end_object(w);
    (void) acp_peer_commit(server->peer, NULL); /* if the peer is closed, the exit tells why */
}

static void on_notification(struct acp_peer *peer, const struct acp_message *message, void *user)
{
    struct mcp_server *server = user;
    (void) peer;
    if (!acp_str_is(message->method, "notifications/tools/list_changed"))
        return;
    if (server->listing)
        server->list_again = true;
    else if (server->state == READY)
        list_tools(server, (struct acp_str){0});
}

/* ---- The handshake --------------------------------------------------------------------------- */

static void take_hello(struct mcp_server *server, const struct mcp_hello *hello)
{
    if (!mcp_knows_version(hello->version)) {
        fail(server, "uses version \"%.*s\" of the protocol, which is not supported",
             (int) (hello->version.len < 40 ? hello->version.len : 40), hello->version.ptr);
        return;
    }
    if (acp_peer_notify(server->peer, acp_str_from("notifications/initialized"),
                        (struct acp_raw){0}))
        return;
    if (hello->has_tools) {
        list_tools(server, (struct acp_str){0});
        return;
    }
    server->state = READY;
    server->handler.ready(server, server->user);
}

static void on_hello(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    struct mcp_server *server = user;
    struct acp_reply answer = *reply;
    struct mcp_hello hello = {0};
    struct acp_arena arena;
    (void) peer;
    (void) request;
    if (server->freed)
        return;
    acp_arena_init(&arena, MCP_MAX_MESSAGE);
    if (!answer.err)
        answer.err = mcp_read_hello(answer.result, &arena, &hello);
    if (answer.err)
        fail_reply(server, "initialize", &answer);
    else
        take_hello(server, &hello);
    acp_arena_finish(&arena);
}

static int say_hello(struct mcp_server *server)
{
    struct acp_request request = {.method = acp_str_from("initialize"),
                                  .timeout_ms = server->start_ms,
                                  .no_cancel = true, /* MCP forbids cancelling this request */
                                  .reply = on_hello,
                                  .user = server};
    struct acp_json_writer *w = acp_peer_begin_request(server->peer, &request);
    acp_json_begin_object(w);
    acp_json_put_text(w, "protocolVersion", "2025-06-18");
    acp_json_put_raw(w, "capabilities", acp_raw_from("{}"));
    acp_json_write_key(w, acp_str_from("clientInfo"));
    acp_json_begin_object(w);
    acp_json_put_text(w, "name", "acp");
    acp_json_put_text(w, "version", server->version);
    acp_json_end_object(w);
    acp_json_end_object(w);
    return acp_peer_commit(server->peer, NULL);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    (void) user;
    if (acp_str_is(message->method, "ping"))
        (void) acp_peer_result(peer, call, (struct acp_raw){0});
    else
        (void) acp_peer_error(peer, call, ACP_ERROR_CODE_METHOD_NOT_FOUND,
                              acp_str_from("Method not found"), acp_raw_from(NULL));
}

/* ---- The program ----------------------------------------------------------------------------- */

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
        fail(server, "wrote more than %d MiB without a line end", MCP_MAX_MESSAGE >> 20);
    else if (what == ACP_PROTOCOL_ERROR_PARSE && memmem(text.ptr, text.len, mark, sizeof(mark) - 1))
        fail(server, "wrote a message that is not JSON");
}

static void on_unlinked(struct acp_process *process, int reason, void *user)
{
    (void) reason;
    (void) user;
    acp_process_stop(process); /* it does not read; the exit tells the rest */
}

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    struct mcp_server *server = user;
    struct acp_buf name;
    struct acp_buf tail;
    struct acp_buf sentence;
    server->exited = true;
    if (server->freed) {
        release(server);
        return;
    }
    acp_buf_init(&name, 512);
    acp_buf_init(&tail, (size_t) 4 * ERROR_TAIL);
    acp_buf_init(&sentence, MAX_SENTENCE + (size_t) 4 * ERROR_TAIL);
    (void) acp_buf_printf(&name, "the MCP server \"%.100s\"", server->name);
    (void) acp_process_error_tail(process, &tail);
    (void) acp_process_describe_exit(acp_buf_view(&name), how, acp_buf_view(&tail), &sentence);
    lose(server, sentence.len ? acp_buf_view(&sentence) : acp_buf_view(&name));
    acp_buf_finish(&name);
    acp_buf_finish(&tail);
    acp_buf_finish(&sentence);
}

static int start(struct mcp_server *server, const struct mcp_options *options,
                 struct acp_failure *failure)
{
    static const struct acp_peer_handler peer_handler = {.request = on_request,
                                                         .notification = on_notification,
                                                         .protocol_error = on_protocol_error};
    static const struct acp_process_handler process_handler = {.unlinked = on_unlinked,
                                                               .exited = on_exited};
    struct acp_peer_options peer_options = {.framing = ACP_FRAMING_LINES,
                                            .max_message = MCP_MAX_MESSAGE,
                                            .max_output = 4 * (size_t) MCP_MAX_MESSAGE,
                                            .max_calls = MCP_MAX_CALLS,
                                            .cancel_method =
                                                acp_str_from("notifications/cancelled"),
                                            .cancel_key = acp_str_from("requestId"),
                                            .ignore_parse_errors = true};
    int err = acp_peer_new(&peer_options, &peer_handler, server, &server->peer);
    if (err)
        return err;
    struct acp_process_options process = {.argv = options->argv,
                                          .cwd = options->cwd,
                                          .env = options->env,
                                          .err_tail = ERROR_TAIL,
                                          .grace_ms = GRACE_MS,
                                          .term_ms = TERM_MS,
                                          .endpoint = acp_peer_endpoint(server->peer)};
    struct acp_failure why = {0};
    err =
        acp_process_start(server->loop, &process, &process_handler, server, &server->process, &why);
    server->exited = err != 0;
    if (err && failure) {
        failure->err = err;
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the MCP server \"%.60s\" cannot be started: %.100s", server->name,
                        *why.message ? why.message : acp_io_err_text(err));
    }
    return err ? err : say_hello(server);
}

int mcp_server_new(uv_loop_t *loop, const struct mcp_options *options,
                   const struct mcp_handler *handler, void *user, struct mcp_server **ret,
                   struct acp_failure *failure)
{
    struct mcp_server *server = calloc(1, sizeof(*server));
    if (!server)
        return ACP_ERR_NOMEM;
    server->loop = loop;
    server->handler = *handler;
    server->user = user;
    server->start_ms = options->start_ms ? options->start_ms : START_MS;
    server->call_ms = options->call_ms ? options->call_ms : CALL_MS;
    server->deadline = uv_now(loop) + server->start_ms;
    server->exited = true;
    server->name = acp_str_copy(acp_str_from(options->name));
    server->version = acp_str_copy(acp_str_from(options->version ? options->version : "0"));
    int err = server->name && server->version ? start(server, options, failure) : ACP_ERR_NOMEM;
    if (err) {
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

const struct mcp_tool *mcp_server_tool_at(const struct mcp_server *server, size_t index)
{
    return index < mcp_server_tool_count(server) ? &server->tools->items[index] : NULL;
}

size_t mcp_server_tool_count(const struct mcp_server *server)
{
    return server->tools && server->state == READY ? server->tools->count : 0;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void take_out(struct mcp_call *call)
{
    struct mcp_call **at = &call->server->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    call->server->call_count--;
}

/* A sentence for a call without a result. */
static void explain(const struct mcp_server *server, const struct acp_reply *reply,
                    struct acp_buf *out)
{
    (void) acp_buf_printf(out, "the MCP server \"%.100s\" ", server->name);
    switch (reply->err) {
    case ACP_ERR_CLOSED:
        (void) acp_buf_printf(out, "ended before it answered");
        break;
    case ACP_ERR_TIMEOUT:
        (void) acp_buf_printf(out, "did not answer within %llu ms",
                              (unsigned long long) server->call_ms);
        break;
    case ACP_ERR_REMOTE:
        (void) acp_buf_printf(
            out, "answered with an error (%lld): %.*s", (long long) reply->error_code,
            (int) (reply->error_message.len < MAX_SENTENCE ? reply->error_message.len
                                                           : MAX_SENTENCE),
            reply->error_message.ptr);
        break;
    default:
        (void) acp_buf_printf(out, "sent an invalid answer: %s", acp_err_text(reply->err));
    }
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    struct mcp_call *call = user;
    struct acp_reply answer = *reply;
    struct mcp_result result = {0};
    struct acp_buf text;
    (void) peer;
    (void) request;
    take_out(call);
    acp_buf_init(&text, MCP_MAX_RESULT);
    if (!answer.err && call->done)
        answer.err = mcp_read_result(answer.result, &text, &result);
    if (answer.err && call->done) {
        acp_buf_clear(&text);
        explain(call->server, &answer, &text);
        result = (struct mcp_result){.err = answer.err, .text = acp_buf_view(&text)};
    }
    if (call->done)
        call->done(call, &result, call->user);
    acp_buf_finish(&text);
    free(call);
}

int mcp_call(struct mcp_server *server, struct acp_str tool, struct acp_raw arguments,
             mcp_done_fn *done, void *user, struct mcp_call **ret)
{
    if (server->state != READY)
        return server->state == GONE ? ACP_ERR_CLOSED : ACP_ERR_STATE;
    if (server->call_count >= MCP_MAX_CALLS)
        return ACP_ERR_LIMIT;
    struct mcp_call *call = calloc(1, sizeof(*call));
    if (!call)
        return ACP_ERR_NOMEM;
    *call = (struct mcp_call){.server = server, .done = done, .user = user};
    struct acp_request request = {.method = acp_str_from("tools/call"),
                                  .timeout_ms = server->call_ms,
                                  .reply = on_reply,
                                  .user = call};
    struct acp_json_writer *w = acp_peer_begin_request(server->peer, &request);
    acp_json_begin_object(w);
    acp_json_put_str(w, "name", tool);
    acp_json_put_raw(w, "arguments", arguments.len ? arguments : acp_raw_from("{}"));
    acp_json_end_object(w);
    int err = acp_peer_commit(server->peer, &call->request);
    if (err) {
        free(call);
        return err;
    }
    call->next = server->calls;
    server->calls = call;
    server->call_count++;
    *ret = call;
    return 0;
}

void mcp_call_cancel(struct mcp_call *call)
{
    call->done = NULL;
    (void) acp_peer_cancel(call->server->peer, call->request);
}
