/*
 * mcp_serve.c - our tools as an MCP server.  The tools run in a turn of an ACP session, so there
 * is one: an agent and a client in this process, which exchange their messages in memory.  Its only
 * turn lasts as long as the MCP client is there.  What the tools ask of the client's user is passed
 * on as a question of MCP.
 */
#include "agent/loop/mcp_serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "acp/client.h"
#include "acp/run.h"
#include "agent/toolkit/tools.h"
#include "cli/output.h"
#include "json/members.h"

struct mcp_serve {
    const struct mcp_serve_options *options;
    uv_loop_t loop;
    uv_timer_t carrier; /* carries messages between agent and client */
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_client_session *client_session;
    struct acp_session *session;
    struct acp_turn *turn;
    struct acp_jobs *jobs;
    struct toolbox *box;
    struct tools *tools; /* NULL before initialize */
    struct acp_peer *peer;
    struct acp_link *link;
    struct served_call *calls;
    size_t call_count;
    uint64_t called; /* so far, for ids */
    bool elicits;    /* the MCP client can ask its user */
    bool failed;
};

/* A call of a tool, until it is answered. */
struct served_call {
    struct served_call *next;
    struct mcp_serve *serve;
    acp_call call;
    char id[24];
};

/* ---- Agent and client in memory -------------------------------------------------------------- */

static bool carry(struct acp_endpoint *from, struct acp_endpoint *to, uint64_t now)
{
    struct acp_outgoing message;
    bool any = false;
    while (acp_endpoint_next_message(from, &message) == 1) {
        (void) acp_endpoint_receive_message(to, message.text, now);
        acp_endpoint_message_sent(from);
        any = true;
    }
    return any;
}

static void on_carrier(uv_timer_t *timer)
{
    struct mcp_serve *serve = timer->data;
    struct acp_endpoint *agent = acp_agent_endpoint(serve->agent);
    struct acp_endpoint *client = acp_client_endpoint(serve->client);
    uint64_t now = uv_now(&serve->loop);
    acp_endpoint_tick(agent, now);
    acp_endpoint_tick(client, now);
    while (carry(agent, client, now) || carry(client, agent, now))
        continue;
    uint64_t a = acp_endpoint_deadline(agent);
    uint64_t c = acp_endpoint_deadline(client);
    uint64_t due = a < c ? a : c;
    if (due != UINT64_MAX)
        (void) uv_timer_start(&serve->carrier, on_carrier, due > now ? due - now : 0, 0);
}

static void on_wake(void *user)
{
    struct mcp_serve *serve = user;
    if (!uv_is_closing((uv_handle_t *) &serve->carrier))
        (void) uv_timer_start(&serve->carrier, on_carrier, 0, 0);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void finish(struct mcp_serve *serve)
{
    acp_link_free(serve->link);
    serve->link = NULL;
    tools_free(serve->tools);
    serve->tools = NULL;
    acp_peer_free(serve->peer);
    serve->peer = NULL;
    while (serve->calls) {
        struct served_call *call = serve->calls;
        serve->calls = call->next;
        free(call);
    }
    acp_jobs_free(serve->jobs);
    serve->jobs = NULL;
    acp_agent_free(serve->agent);
    acp_client_free(serve->client);
    serve->agent = NULL;
    serve->client = NULL;
    toolbox_free(serve->box);
    serve->box = NULL;
    uv_close((uv_handle_t *) &serve->carrier, NULL);
}

static void on_closed(struct acp_link *link, int reason, void *user)
{
    (void) link;
    (void) reason;
    finish(user);
}

/* ---- Tools ----------------------------------------------------------------------------------- */

/* A plan, questions and web pages are the business of the agent that is our client. */
static bool is_served(const struct mcp_serve *serve, const struct tool_info *info)
{
    return tools_offer(serve->tools, info) && strcmp(info->name, "plan") != 0 &&
           strcmp(info->name, "ask_user") != 0;
}

static void write_tool(struct acp_json_writer *w, const struct tool_info *info)
{
    acp_json_begin_object(w);
    acp_json_put_text(w, "name", info->name);
    acp_json_put_text(w, "title", info->title);
    acp_json_put_text(w, "description", info->description);
    acp_json_put_raw(w, "inputSchema", acp_raw_from(info->input_schema));
    acp_json_write_key(w, acp_str_from("annotations"));
    acp_json_begin_object(w);
    acp_json_put_bool(w, "readOnlyHint", !info->writes);
    acp_json_put_bool(w, "openWorldHint", info->dangerous);
    acp_json_end_object(w);
    acp_json_end_object(w);
}

static void list_tools(struct mcp_serve *serve, acp_call call)
{
    const struct tool_info *info;
    struct acp_json_writer *w = acp_peer_begin_result(serve->peer, call);
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str_from("tools"));
    acp_json_begin_array(w);
    for (size_t i = 0; (info = toolbox_at(serve->box, i)) != NULL; i++)
        if (is_served(serve, info))
            write_tool(w, info);
    acp_json_end_array(w);
    acp_json_end_object(w);
    (void) acp_peer_commit(serve->peer, NULL);
}

static void end_call(struct served_call *call)
{
    struct served_call **at = &call->serve->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    call->serve->call_count--;
    free(call);
}

static void on_done(struct tools *set, struct acp_str id, enum tool_end end, struct acp_str text,
                    void *user)
{
    struct served_call *call = user;
    struct acp_peer *peer = call->serve->peer;
    (void) set;
    (void) id;
    struct acp_json_writer *w = acp_peer_begin_result(peer, call->call);
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str_from("content"));
    acp_json_begin_array(w);
    acp_json_begin_object(w);
    acp_json_put_text(w, "type", "text");
    acp_json_put_str(w, "text", text);
    acp_json_end_object(w);
    acp_json_end_array(w);
    acp_json_put_bool(w, "isError", end != TOOL_COMPLETED);
    acp_json_end_object(w);
    (void) acp_peer_commit(peer, NULL);
    end_call(call);
}

static void call_tool(struct mcp_serve *serve, acp_call call, struct acp_raw params)
{
    struct acp_arena arena;
    struct acp_str name = acp_str_from("");
    struct acp_raw arguments = acp_raw_from("{}");
    acp_arena_init(&arena, MCP_SERVE_MAX_MESSAGE);
    (void) acp_json_member_str(params, "name", &arena, &name);
    (void) acp_json_member_raw(params, "arguments", &arguments);
    const struct tool_info *info = toolbox_find(serve->box, name);
    struct served_call *served = NULL;
    if (!info || !is_served(serve, info)) {
        (void) acp_peer_error(serve->peer, call, ACP_ERROR_CODE_INVALID_PARAMS,
                              acp_str_from("Unknown tool"), acp_raw_from(NULL));
    } else if (serve->call_count == MCP_SERVE_MAX_CALLS ||
               (served = calloc(1, sizeof(*served))) == NULL) {
        (void) acp_peer_error(serve->peer, call, ACP_ERROR_CODE_INTERNAL_ERROR,
                              acp_str_from("Too many calls are open"), acp_raw_from(NULL));
    }
    if (served) {
        *served = (struct served_call){.next = serve->calls, .serve = serve, .call = call};
        (void) snprintf(served->id, sizeof(served->id), "call_%llu",
                        (unsigned long long) ++serve->called);
        serve->calls = served;
        serve->call_count++;
        int err = tools_run(serve->tools, serve->turn, acp_str_from(served->id), name, arguments,
                            on_done, served);
        if (err) {
            (void) acp_peer_error_for(serve->peer, call, err);
            end_call(served);
        }
    }
    acp_arena_finish(&arena);
}

/* ---- Permission ------------------------------------------------------------------------------ */

struct question {
    struct mcp_serve *serve;
    acp_call call;
    char allow[64]; /* ids of options; "": there is none */
    char always[64];
    char reject[64];
};

static void keep_option(const struct acp_permission_request *request,
                        enum acp_permission_option_kind_is kind, char out[64])
{
    *out = '\0';
    for (size_t i = 0; i < request->options.count; i++)
        if (request->options.items[i].kind.is == kind)
            (void) snprintf(out, 64, "%.*s", ACP_ARG(request->options.items[i].option_id));
}

static void on_answered(struct acp_peer *peer, uint64_t id, const struct acp_reply *reply,
                        void *user)
{
    struct question *question = user;
    struct acp_arena arena;
    struct acp_raw content = {0};
    struct acp_str action = acp_str_from("");
    struct acp_str answer = acp_str_from("");
    const char *option = question->reject;
    (void) peer;
    (void) id;
    acp_arena_init(&arena, MCP_SERVE_MAX_MESSAGE);
    if (!reply->err) {
        (void) acp_json_member_str(reply->result, "action", &arena, &action);
        (void) acp_json_member_raw(reply->result, "content", &content);
        (void) acp_json_member_str(content, "answer", &arena, &answer);
    }
    if (acp_str_is(action, "accept") && acp_str_is(answer, "allow once"))
        option = question->allow;
    else if (acp_str_is(action, "accept") && acp_str_is(answer, "allow always"))
        option = question->always;
    if (question->serve->client)
        (void) acp_client_select_permission(question->serve->client, question->call,
                                            acp_str_from(option));
    acp_arena_finish(&arena);
    free(question);
}

/* Everything that is permitted is shown: the call with its whole input, and the diffs. */
static int describe(const struct acp_permission_request *request, struct acp_buf *out)
{
    const struct acp_tool_call_update *tool = request->tool;
    int err = acp_buf_printf(out, "%.*s", ACP_ARG(request->title));
    if (!err && tool && tool->raw_input.len)
        err = acp_buf_printf(out, "\n%.*s", ACP_ARG(tool->raw_input));
    return err;
}

static int send_question(struct question *question, struct acp_str message)
{
    struct acp_request request = {
        .method = acp_str_from("elicitation/create"), .reply = on_answered, .user = question};
    struct acp_json_writer *w = acp_peer_begin_request(question->serve->peer, &request);
    acp_json_begin_object(w);
    acp_json_put_str(w, "message", message);
    acp_json_put_raw(w, "requestedSchema",
                     acp_raw_from("{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":"
                                  "\"string\",\"enum\":[\"allow once\",\"allow always\","
                                  "\"reject\"]}},\"required\":[\"answer\"]}"));
    acp_json_end_object(w);
    return acp_peer_commit(question->serve->peer, NULL);
}

static void on_permission(struct acp_client_session *session, acp_call call,
                          const struct acp_permission_request *request, void *user)
{
    struct mcp_serve *serve = user;
    struct question *question = serve->elicits ? calloc(1, sizeof(*question)) : NULL;
    struct acp_buf message;
    (void) session;
    acp_buf_init(&message, MCP_SERVE_MAX_SHOWN);
    int err = question ? describe(request, &message) : ACP_ERR_STATE;
    if (question) {
        question->serve = serve;
        question->call = call;
        keep_option(request, ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE, question->allow);
        keep_option(request, ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS, question->always);
        keep_option(request, ACP_PERMISSION_OPTION_KIND_REJECT_ONCE, question->reject);
    }
    if (!err)
        err = send_question(question, acp_buf_view(&message));
    if (err) {
        free(question);
        (void) acp_client_cancel_permission(serve->client, call);
    }
    acp_buf_finish(&message);
}

static void on_deciding(struct tools *set, void *user)
{
    const struct mcp_serve_options *options = ((struct mcp_serve *) user)->options;
    (void) set;
    if (options->ledger && options->ledger_path)
        (void) acp_ledger_refresh_file(options->ledger, options->ledger_path, NULL);
}

static void on_granted(struct tools *set, void *user)
{
    const struct mcp_serve_options *options = ((struct mcp_serve *) user)->options;
    (void) set;
    if (options->ledger && options->ledger_path)
        (void) acp_ledger_save_file(options->ledger, options->ledger_path, NULL, NULL, NULL);
}

/* ---- Requests of the MCP client -------------------------------------------------------------- */

static int make_tools(struct mcp_serve *serve)
{
    struct tools_options options = {.box = serve->box,
                                    .session = serve->session,
                                    .jobs = serve->jobs,
                                    .policy = serve->options->policy,
                                    .ledger = serve->options->ledger,
                                    .always = ACP_GRANT_PROJECT,
                                    .nobody = !serve->elicits,
                                    .deciding = on_deciding,
                                    .granted = on_granted,
                                    .user = serve};
    return serve->tools ? 0 : tools_new(&options, &serve->tools);
}

static void initialize(struct mcp_serve *serve, acp_call call, struct acp_raw params)
{
    static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
    struct acp_arena arena;
    struct acp_raw capabilities = {0};
    struct acp_raw elicitation = {0};
    struct acp_str wanted = acp_str_from("");
    const char *version = versions[0];
    acp_arena_init(&arena, MCP_SERVE_MAX_MESSAGE);
    (void) acp_json_member_str(params, "protocolVersion", &arena, &wanted);
    (void) acp_json_member_raw(params, "capabilities", &capabilities);
    (void) acp_json_member_raw(capabilities, "elicitation", &elicitation);
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (acp_str_is(wanted, versions[i]))
            version = versions[i];
    serve->elicits = elicitation.len > 0;
    if (make_tools(serve)) {
        (void) acp_peer_error_for(serve->peer, call, ACP_ERR_NOMEM);
    } else {
        struct acp_json_writer *w = acp_peer_begin_result(serve->peer, call);
        acp_json_begin_object(w);
        acp_json_put_text(w, "protocolVersion", version);
        acp_json_put_raw(w, "capabilities", acp_raw_from("{\"tools\":{}}"));
        acp_json_write_key(w, acp_str_from("serverInfo"));
        acp_json_begin_object(w);
        acp_json_put_text(w, "name", "acp");
        acp_json_put_text(w, "version", serve->options->version);
        acp_json_end_object(w);
        acp_json_end_object(w);
        (void) acp_peer_commit(serve->peer, NULL);
    }
    acp_arena_finish(&arena);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct mcp_serve *serve = user;
    if (acp_str_is(message->method, "initialize"))
        initialize(serve, call, message->params);
    else if (acp_str_is(message->method, "ping"))
        (void) acp_peer_result(peer, call, (struct acp_raw){0});
    else if (acp_str_is(message->method, "tools/list") && serve->tools)
        list_tools(serve, call);
    else if (acp_str_is(message->method, "tools/call") && serve->tools)
        call_tool(serve, call, message->params);
    else
        (void) acp_peer_error(peer, call, ACP_ERROR_CODE_METHOD_NOT_FOUND,
                              acp_str_from("Method not found"), acp_raw_from(NULL));
}

static void on_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    struct mcp_serve *serve = user;
    (void) peer;
    for (struct served_call *served = serve->calls; served; served = served->next)
        if (served->call == call) {
            (void) tools_cancel_one(serve->tools, acp_str_from(served->id));
            return;
        }
}

/* ---- The beginning --------------------------------------------------------------------------- */

static void fail(struct mcp_serve *serve, const char *what, const char *why)
{
    err_printf("acp mcp: cannot %s: %s\n", what, why);
    serve->failed = true;
    finish(serve);
}

/* The turn has begun, in which tools can run: the MCP client is served. */
static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    static const struct acp_peer_handler handler = {.request = on_request, .cancel = on_cancel};
    static const struct acp_link_handler link_handler = {.closed = on_closed};
    struct mcp_serve *serve = user;
    struct acp_peer_options options = {.framing = ACP_FRAMING_LINES,
                                       .max_message = MCP_SERVE_MAX_MESSAGE,
                                       .cancel_method = acp_str_from("notifications/cancelled"),
                                       .cancel_key = acp_str_from("requestId")};
    struct acp_link_options link = {0};
    (void) prompt;
    serve->turn = turn;
    serve->session = acp_turn_session(turn);
    (void) acp_turn_set_busy(turn, true);
    int err = acp_stdio_take(&link.in, &link.out);
    if (!err)
        err = acp_peer_new(&options, &handler, serve, &serve->peer);
    if (!err)
        err = acp_link_new(&serve->loop, &link, acp_peer_endpoint(serve->peer), &link_handler,
                           serve, &serve->link);
    serve->failed = err != 0;
    if (err)
        err_printf("acp mcp: cannot serve: %s\n", acp_io_err_text(err));
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct mcp_serve *serve = user;
    struct acp_content_block block;
    (void) client;
    if (outcome->err) {
        serve->failed = true;
        return;
    }
    serve->client_session = session;
    acp_content_block_init_text(&block, acp_str_from("serve"));
    serve->failed = acp_client_prompt(session, &block, 1, NULL, NULL) != 0;
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct mcp_serve *serve = user;
    struct acp_session_params place = {.cwd = acp_str_from(serve->options->cwd)};
    serve->failed = outcome->err || acp_client_new_session(client, &place, on_session, serve) != 0;
}

static int start(struct mcp_serve *serve)
{
    static const struct acp_agent_handler agent_handler = {.prompt = on_prompt};
    static const struct acp_client_handler client_handler = {.permission = on_permission};
    struct acp_agent_options agent = {.name = acp_str_from("acp"),
                                      .version = acp_str_from(serve->options->version)};
    struct acp_client_options client = {.name = acp_str_from("acp")};
    (void) !getrandom(agent.seed, sizeof(agent.seed), 0);
    int err = acp_agent_new(&agent, &agent_handler, serve, &serve->agent);
    if (!err)
        err = acp_client_new(&client, &client_handler, serve, &serve->client);
    if (!err)
        err = acp_jobs_new(&serve->loop, serve->agent, NULL, &serve->jobs);
    if (!err)
        err = toolbox_new(&serve->loop, NULL, &serve->box);
    if (err)
        return err;
    acp_endpoint_on_wake(acp_agent_endpoint(serve->agent), on_wake, serve);
    acp_endpoint_on_wake(acp_client_endpoint(serve->client), on_wake, serve);
    return acp_client_initialize(serve->client, on_ready, serve);
}

int mcp_serve_run(const struct mcp_serve_options *options)
{
    struct mcp_serve serve = {.options = options};
    if (uv_loop_init(&serve.loop))
        return 1;
    (void) uv_timer_init(&serve.loop, &serve.carrier);
    serve.carrier.data = &serve;
    int err = start(&serve);
    if (err)
        fail(&serve, "start", acp_err_text(err));
    (void) uv_run(&serve.loop, UV_RUN_DEFAULT);
    if (serve.agent) /* it never came to serving */
        finish(&serve);
    (void) uv_run(&serve.loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&serve.loop);
    return serve.failed ? 1 : 0;
}
