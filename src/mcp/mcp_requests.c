/* mcp_requests.c - requests to an MCP server, with progress, time limits and cancellation. */
#include <stdlib.h>

#include "json/members.h"
#include "mcp/mcp_internal.h"

/* Stays until its answer arrives, even if it was cancelled. */
struct mcp_call {
    struct mcp_call *next;
    struct mcp_server *server;
    uint64_t request; /* the peer's number */
    uint64_t token;   /* of its progress */
    uint64_t due;     /* without progress until then it has failed; the loop's time */
    uint64_t last;    /* the same, with any progress */
    uint64_t timeout_ms;
    mcp_reply_fn *reply; /* NULL: it was cancelled, or timed out */
    mcp_progress_fn *progress;
    void *user;
    mcp_done_fn *done; /* of mcp_call() */
};

/* ---- Time ------------------------------------------------------------------------------------ */

static void arm(struct mcp_server *server)
{
    uint64_t now = uv_now(server->loop);
    uint64_t due = UINT64_MAX;
    for (const struct mcp_call *call = server->calls; call; call = call->next)
        if (call->reply && call->due < due)
            due = call->due;
    if (due == UINT64_MAX)
        (void) uv_timer_stop(server->timer);
    else
        (void) uv_timer_start(server->timer, mcp_requests_on_timer, due > now ? due - now : 0, 0);
}

static void renew(struct mcp_call *call)
{
    uint64_t due = uv_now(call->server->loop) + call->timeout_ms;
    call->due = due < call->last ? due : call->last;
}

/* ---- The end of a call ----------------------------------------------------------------------- */

static void take_out(struct mcp_call *call)
{
    struct mcp_call **at = &call->server->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
}

/* Reports the end, once; the call itself stays until its answer arrives. */
static void end_call(struct mcp_call *call, const struct acp_reply *answer)
{
    struct mcp_server *server = call->server;
    mcp_reply_fn *fn = call->reply;
    struct mcp_reply reply = {.err = answer->err, .result = answer->result};
    struct acp_buf sentence;
    if (!fn)
        return;
    call->reply = NULL;
    server->call_count--;
    acp_buf_init(&sentence, MCP_MAX_MESSAGE);
    if (answer->err) {
        mcp_server_explain(server, answer, call->timeout_ms, &sentence);
        reply.code = answer->error_code;
        reply.sentence = acp_buf_view(&sentence);
    }
    fn(call, &reply, call->user);
    acp_buf_finish(&sentence);
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    struct mcp_call *call = user;
    struct mcp_server *server = call->server;
    (void) peer;
    (void) request;
    mcp_server_enter(server);
    take_out(call);
    end_call(call, reply);
    free(call);
    mcp_server_leave(server);
}

static struct mcp_call *find_due(const struct mcp_server *server)
{
    for (struct mcp_call *call = server->calls; call; call = call->next)
        if (call->reply && call->due <= uv_now(server->loop))
            return call;
    return NULL;
}

/* A callback may change the list, so each search begins anew. */
void mcp_requests_on_timer(uv_timer_t *timer)
{
    static const struct acp_reply timeout = {.err = ACP_ERR_TIMEOUT};
    struct mcp_server *server = timer->data;
    struct mcp_call *call;
    mcp_server_enter(server);
    while (!server->freed && (call = find_due(server)) != NULL) {
        uint64_t request = call->request;
        end_call(call, &timeout);
        (void) acp_peer_cancel(server->peer, request);
    }
    if (!server->freed)
        arm(server);
    mcp_server_leave(server);
}

void mcp_requests_drop(struct mcp_server *server)
{
    for (struct mcp_call *call = server->calls; call; call = call->next)
        call->reply = NULL;
    server->call_count = 0;
    if (server->timer)
        (void) uv_timer_stop(server->timer);
}

void mcp_call_cancel(struct mcp_call *call)
{
    if (call->reply)
        call->server->call_count--;
    call->reply = NULL;
    (void) acp_peer_cancel(call->server->peer, call->request);
}

/* ---- Progress -------------------------------------------------------------------------------- */

void mcp_requests_on_progress(struct mcp_server *server, struct acp_raw params)
{
    struct mcp_progress_note note;
    struct acp_arena arena;
    acp_arena_init(&arena, MCP_MAX_MESSAGE);
    struct mcp_call *call = mcp_read_progress(params, &arena, &note) ? NULL : server->calls;
    while (call && (call->token != note.token || !call->reply))
        call = call->next;
    if (call) {
        renew(call);
        arm(server);
        if (call->progress)
            call->progress(call, &note.progress, call->user);
    }
    acp_arena_finish(&arena);
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* Writes the members of params, and the token by which the server reports progress. */
static void write_params(struct acp_json_writer *w, struct acp_raw params, uint64_t token)
{
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_str key;
    struct acp_raw value;
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, params, &arena, 0);
    acp_json_begin_object(w);
    if (params.len && acp_json_enter_object(&r) == 0)
        while (acp_json_next_key(&r, &key) > 0 && acp_json_read_raw(&r, &value) == 0) {
            acp_json_write_key(w, key);
            acp_json_write_raw(w, value);
        }
    acp_json_write_key(w, acp_str_from("_meta"));
    acp_json_begin_object(w);
    acp_json_put_u64(w, "progressToken", token);
    acp_json_end_object(w);
    acp_json_end_object(w);
    acp_arena_finish(&arena);
}

static int new_call(struct mcp_server *server, uint64_t timeout_ms, struct mcp_call **ret)
{
    if (server->state == MCP_GONE)
        return ACP_ERR_CLOSED;
    if (server->state == MCP_STARTING)
        return ACP_ERR_STATE;
    if (server->call_count >= MCP_MAX_CALLS)
        return ACP_ERR_LIMIT;
    struct mcp_call *call = calloc(1, sizeof(*call));
    if (!call)
        return ACP_ERR_NOMEM;
    uv_update_time(server->loop);
    call->server = server;
    call->token = ++server->tokens;
    call->timeout_ms = timeout_ms ? timeout_ms : server->call_ms;
    call->last = uv_now(server->loop) + MCP_MAX_CALL_TIMES * call->timeout_ms;
    renew(call);
    *ret = call;
    return 0;
}

/* The peer's own limit comes later than ours, and removes what was never answered. */
static struct acp_request request_for(struct mcp_call *call, const char *method)
{
    return (struct acp_request){.method = acp_str_from(method),
                                .timeout_ms = (MCP_MAX_CALL_TIMES + 1) * call->timeout_ms,
                                .no_cancel = true,
                                .reply = on_reply,
                                .user = call};
}

static int add_call(struct mcp_call *call, struct mcp_call **ret)
{
    struct mcp_server *server = call->server;
    int err = acp_peer_commit(server->peer, &call->request);
    if (err) {
        free(call);
        return err;
    }
    call->next = server->calls;
    server->calls = call;
    server->call_count++;
    arm(server);
    *ret = call;
    return 0;
}

int mcp_server_request(struct mcp_server *server, const struct mcp_request *request,
                       struct mcp_call **ret)
{
    struct mcp_call *call;
    int err = new_call(server, request->timeout_ms, &call);
    if (err)
        return err;
    call->reply = request->reply;
    call->progress = request->progress;
    call->user = request->user;
    struct acp_request sent = request_for(call, request->method);
    write_params(acp_peer_begin_request(server->peer, &sent), request->params, call->token);
    return add_call(call, ret);
}

/* ---- Tools ----------------------------------------------------------------------------------- */

static void on_result(struct mcp_call *call, const struct mcp_reply *reply, void *user)
{
    struct mcp_result result = {.err = reply->err, .text = reply->sentence};
    struct acp_arena arena;
    struct acp_buf text;
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, MCP_MAX_RESULT);
    int err = reply->err ? 0 : mcp_read_result(reply->result, &arena, &text, &result);
    if (err) {
        const struct acp_reply invalid = {.err = err};
        acp_buf_clear(&text);
        mcp_server_explain(call->server, &invalid, call->timeout_ms, &text);
        result = (struct mcp_result){.err = err, .text = acp_buf_view(&text)};
    }
    call->done(call, &result, user);
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
}

int mcp_call(struct mcp_server *server, struct acp_str tool, struct acp_raw arguments,
             const struct mcp_watcher *watcher, void *user, struct mcp_call **ret)
{
    struct mcp_call *call;
    int err = new_call(server, 0, &call);
    if (err)
        return err;
    call->reply = on_result;
    call->done = watcher->done;
    call->progress = watcher->progress;
    call->user = user;
    struct acp_request request = request_for(call, "tools/call");
    struct acp_json_writer *w = acp_peer_begin_request(server->peer, &request);
    acp_json_begin_object(w);
    acp_json_put_str(w, "name", tool);
    acp_json_put_raw(w, "arguments", arguments.len ? arguments : acp_raw_from("{}"));
    acp_json_write_key(w, acp_str_from("_meta"));
    acp_json_begin_object(w);
    acp_json_put_u64(w, "progressToken", call->token);
    acp_json_end_object(w);
    acp_json_end_object(w);
    return add_call(call, ret);
}
