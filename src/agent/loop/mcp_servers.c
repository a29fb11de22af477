/*
 * mcp_servers.c - the MCP servers of a session.  All are started when it is opened.  The session
 * does not wait for them; the first prompt does, for two seconds.  Tools of servers that are ready
 * when the model is first asked are in the tool list.  Later ones are announced in a note and
 * called through AGENT_MCP_CALL, since the tool list never changes (session_context.c).
 *
 * A server that ends, or cannot be reached, is reported once and tried again with growing pauses.
 */
#include "agent/loop/mcp_servers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/copy.h"

enum {
    WAIT_MS = 2000,        /* how long prompts wait, from the start of the servers */
    FIRST_PAUSE_MS = 1000, /* before a server is tried again; doubled with each try */
    STEADY_MS = 60 * 1000, /* a server that was ready for this time has all its tries again */
};

/* ---- States ---------------------------------------------------------------------------------- */

#define TO(state) (1u << SERVER_##state)

static void servers_set_state(struct one_server *one, enum server_state state)
{
    static const unsigned next[] = {
        [SERVER_STARTING] = TO(READY) | TO(WAITING) | TO(FAILED),
        [SERVER_READY] = TO(WAITING) | TO(FAILED),
        [SERVER_WAITING] = TO(STARTING) | TO(FAILED),
        [SERVER_FAILED] = 0,
    };
    assert(next[one->state] & 1u << state);
    (void) next;
    one->state = state;
}

#undef TO

const char *servers_state_name(enum server_state state)
{
    static const char *const names[] = {[SERVER_STARTING] = "starting",
                                        [SERVER_READY] = "ready",
                                        [SERVER_WAITING] = "ended, will be tried again",
                                        [SERVER_FAILED] = "failed"};
    return names[state];
}

/* ---- Problems -------------------------------------------------------------------------------- */

/* A problem is reported once, as soon as that is possible. */
static void report_problem(struct one_server *one)
{
    if (!one->problem || !agent_session_alert(one->session, one->problem))
        return;
    free(one->problem);
    one->problem = NULL;
}

void agent_session_report_servers(struct agent_session *session)
{
    for (size_t i = 0; session->servers && i < session->servers->count; i++)
        report_problem(&session->servers->items[i]);
}

void servers_add_problem(struct one_server *one, struct acp_str sentence)
{
    struct acp_buf text;
    acp_buf_init(&text, 1 << 16);
    (void) acp_buf_printf(&text, "%s%s%.*s", one->problem ? one->problem : "",
                          one->problem ? "\n" : "", (int) sentence.len, sentence.ptr);
    free(one->problem);
    one->problem = acp_str_copy(acp_buf_view(&text));
    acp_buf_finish(&text);
    report_problem(one);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool any_starts(const struct mcp_servers *servers)
{
    for (size_t i = 0; i < servers->count; i++)
        if (!servers->items[i].was_waited_for)
            return true;
    return false;
}

static void on_time(uv_timer_t *timer);

/* For the turn that waits, and for servers that are tried again. */
static void arm(struct mcp_servers *servers)
{
    uint64_t now = uv_now(servers->timer.loop);
    bool waits = servers->waiting && !servers->prompt;
    uint64_t due = waits ? servers->until : UINT64_MAX;
    for (size_t i = 0; i < servers->count; i++)
        if (servers->items[i].state == SERVER_WAITING && servers->items[i].due < due)
            due = servers->items[i].due;
    if (due == UINT64_MAX)
        (void) uv_timer_stop(&servers->timer);
    else
        (void) uv_timer_start(&servers->timer, on_time, due > now ? due - now : 0, 0);
}

void agent_session_stop_waiting(struct agent_session *session)
{
    struct mcp_servers *servers = session->servers;
    if (!servers || !servers->waiting)
        return;
    if (servers->prompt)
        mcp_call_cancel(servers->prompt);
    servers->prompt = NULL;
    servers->waiting = NULL;
    arm(servers);
}

static void go_on(struct mcp_servers *servers)
{
    struct agent_turn *turn = servers->prompt ? NULL : servers->waiting;
    if (!turn)
        return;
    agent_session_stop_waiting(turn->session);
    agent_turn_continue(turn);
}

/* Reports the servers that are not ready, so that users know why their tools are missing. */
static void report_late(struct mcp_servers *servers)
{
    for (size_t i = 0; i < servers->count; i++) {
        struct one_server *one = &servers->items[i];
        char sentence[300];
        (void) snprintf(
            sentence, sizeof(sentence),
            "the MCP server \"%.100s\" is not ready yet; its tools become available when it is",
            one->options.name);
        if (!one->was_waited_for)
            servers_add_problem(one, acp_str_from(sentence));
    }
}

bool agent_session_wait_for_servers(struct agent_session *session, struct agent_turn *turn)
{
    struct mcp_servers *servers = session->servers;
    uint64_t now = uv_now(&session->agent->loop);
    if (!servers || now >= servers->until || !any_starts(servers))
        return false;
    servers->waiting = turn;
    arm(servers);
    return true;
}

/* The server is ready, or was not at the first try. */
static void settle(struct one_server *one)
{
    struct mcp_servers *servers = one->session->servers;
    one->was_waited_for = true;
    if (!any_starts(servers))
        go_on(servers);
}

/* ---- A server -------------------------------------------------------------------------------- */

/* The client's list of commands has the prompts of servers. */
static void send_commands(struct agent_session *session)
{
    struct acp_arena arena;
    if (session->state != AGENT_SESSION_OPEN && session->state != AGENT_SESSION_IDLE)
        return; /* they are sent when the session is accepted */
    acp_arena_init(&arena, 0);
    struct acp_available_command_list list = agent_session_commands(session, &arena);
    (void) acp_session_send_commands(session->role, list.items, list.count);
    acp_arena_finish(&arena);
}

static void on_ready(struct mcp_server *server, void *user)
{
    struct one_server *one = user;
    (void) server;
    servers_set_state(one, SERVER_READY);
    one->due = uv_now(&one->session->agent->loop);
    servers_name_tools(one);
    servers_notice_changes(one);
    settle(one);
}

static void on_listed(struct mcp_server *server, enum mcp_list_kind kind, void *user)
{
    struct one_server *one = user;
    (void) server;
    if (kind == MCP_TOOLS) {
        servers_name_tools(one);
        servers_notice_changes(one);
    } else if (kind == MCP_PROMPTS) {
        send_commands(one->session);
    }
}

/* Tries it again later, unless that was done often enough. */
static void plan_try(struct one_server *one)
{
    uint64_t now = uv_now(&one->session->agent->loop);
    if (one->state == SERVER_READY && now - one->due >= STEADY_MS)
        one->tries = 0;
    if (one->tries == SERVERS_MAX_TRIES) {
        servers_set_state(one, SERVER_FAILED);
        return;
    }
    servers_set_state(one, SERVER_WAITING);
    one->due = now + ((uint64_t) FIRST_PAUSE_MS << one->tries++);
    arm(one->session->servers);
}

/* A problem that repeats itself in tries to bring it back is not reported again. */
static void on_gone(struct mcp_server *server, struct acp_str sentence, void *user)
{
    struct one_server *one = user;
    bool had_prompts = mcp_server_info(server)->prompts;
    bool is_new = one->state == SERVER_READY || !one->was_waited_for;
    servers_forget_asks(one);
    one->name_count = 0;
    one->server = NULL;
    one->session->agent->servers--;
    mcp_server_free(server);
    (void) snprintf(one->last, sizeof(one->last), "%.*s", ACP_ARG(sentence));
    plan_try(one);
    if (is_new)
        servers_add_problem(one, sentence);
    if (had_prompts)
        send_commands(one->session);
    settle(one);
}

static bool client_takes(const struct agent_session *session, bool urls)
{
    const struct acp_client_capabilities *client =
        acp_agent_client_capabilities(acp_session_agent(session->role));
    const struct acp_elicitation_capabilities *elicits =
        client && acp_is_set(client->elicitation) ? client->elicitation : NULL;
    return elicits && acp_is_set(urls ? (const void *) elicits->url : (const void *) elicits->form);
}

static int connect_server(struct one_server *one, struct acp_failure *failure)
{
    struct coding_agent *agent = one->session->agent;
    bool forms = client_takes(one->session, false);
    struct mcp_handler handler = {.ready = on_ready,
                                  .listed = on_listed,
                                  .roots = servers_on_roots,
                                  .sample = servers_on_sample,
                                  .elicit = forms ? servers_on_elicit : NULL,
                                  .withdrawn = servers_on_withdrawn,
                                  .gone = on_gone};
    one->options.elicits_urls = forms && client_takes(one->session, true);
    if (agent->servers >= SERVERS_MAX_ALL) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "%.60s was not started: 256 MCP servers of all sessions run already; "
                        "close a session that is not needed",
                        one->options.name);
        return ACP_ERR_LIMIT;
    }
    int err = mcp_server_new(&agent->loop, &one->options, &handler, one, &one->server, failure);
    agent->servers += !err;
    return err;
}

static void try_again(struct one_server *one)
{
    struct acp_failure failure = {0};
    servers_set_state(one, SERVER_STARTING);
    if (connect_server(one, &failure) == 0)
        return;
    (void) snprintf(one->last, sizeof(one->last), "%s", failure.message);
    plan_try(one);
}

static void on_time(uv_timer_t *timer)
{
    struct mcp_servers *servers = timer->data;
    uint64_t now = uv_now(timer->loop);
    for (size_t i = 0; i < servers->count; i++)
        if (servers->items[i].state == SERVER_WAITING && servers->items[i].due <= now)
            try_again(&servers->items[i]);
    if (servers->waiting && !servers->prompt && servers->until <= now) {
        report_late(servers);
        go_on(servers);
    }
    arm(servers);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

/* What can be said against an entry before anything is started; NULL: nothing. */
static const char *fault_of(const struct acp_mcp_server *entry)
{
    bool is_remote = entry->is == ACP_MCP_SERVER_HTTP || entry->is == ACP_MCP_SERVER_SSE;
    if (!mcp_entry_name(entry).len)
        return "has no name";
    if (is_remote) {
        struct acp_str url = entry->is == ACP_MCP_SERVER_HTTP ? entry->http.url : entry->sse.url;
        struct acp_http_header_list headers =
            entry->is == ACP_MCP_SERVER_HTTP ? entry->http.headers : entry->sse.headers;
        if (!acp_str_starts_with(url, "http://") && !acp_str_starts_with(url, "https://"))
            return "has a url that does not begin with http:// or https://";
        for (size_t i = 0; i < headers.count; i++)
            if (!mcp_is_header(headers.items[i].name, headers.items[i].value))
                return "has a header that HTTP does not allow";
        return NULL;
    }
    if (entry->is != ACP_MCP_SERVER_STDIO)
        return NULL;
    for (size_t i = 0; i < entry->stdio.args.count; i++)
        if (memchr(entry->stdio.args.items[i].ptr, '\0', entry->stdio.args.items[i].len))
            return "has a NUL in its args";
    for (size_t i = 0; i < entry->stdio.env.count; i++) {
        struct acp_str name = entry->stdio.env.items[i].name;
        if (!name.len || memchr(name.ptr, '=', name.len) || memchr(name.ptr, '\0', name.len))
            return "has an environment variable without a valid name";
    }
    return NULL;
}

bool coding_agent_check_servers(struct acp_session *role_session, struct acp_mcp_server_list list)
{
    for (size_t i = 0; i < list.count; i++) {
        const char *fault = fault_of(&list.items[i]);
        struct acp_str name = mcp_entry_name(&list.items[i]);
        char sentence[300];
        if (!fault)
            continue;
        (void) snprintf(sentence, sizeof(sentence), "Invalid params: mcpServers[%zu] (\"%.*s\") %s",
                        i, ACP_ARG(acp_str_n(name.ptr, name.len < 100 ? name.len : 100)), fault);
        (void) acp_session_reject(role_session, ACP_ERROR_CODE_INVALID_PARAMS,
                                  acp_str_from(sentence));
        return false;
    }
    return true;
}

static void add_server(struct mcp_servers *servers, struct agent_session *session,
                       const struct acp_mcp_server *entry)
{
    struct one_server *one = &servers->items[servers->count];
    struct coding_agent *agent = session->agent;
    struct acp_failure failure = {0};
    one->session = session;
    acp_arena_init(&one->arena, 0);
    servers_make_label(servers, mcp_entry_name(entry), one->label);
    servers->count++;
    one->options = (struct mcp_options){
        .name = "an MCP server",
        .version = agent->options->version,
        .cwd = acp_arena_copy(&one->arena, acp_session_cwd(session->role)).ptr,
        .http = agent->http,
        .agent = acp_session_agent(session->role),
    };
    int err = mcp_options_read(entry, agent->options->launch_folder, &one->arena, &one->options,
                               &failure);
    if (!err && agent->options->mcp_tokens)
        err = mcp_tokens_new(&agent->loop, agent->options->mcp_tokens, &one->options, &one->tokens);
    if (!err)
        err = connect_server(one, &failure);
    if (!err)
        return;
    servers_set_state(one, SERVER_FAILED);
    one->was_waited_for = true;
    const char *why = *failure.message ? failure.message : acp_err_text(err);
    (void) snprintf(one->last, sizeof(one->last), "%s", why);
    servers_add_problem(one, acp_str_from(why));
}

/* Of two entries with the same name, the client's counts. */
static bool is_named(struct acp_mcp_server_list list, struct acp_str name)
{
    for (size_t i = 0; i < list.count; i++)
        if (acp_str_eq(mcp_entry_name(&list.items[i]), name))
            return true;
    return false;
}

static void add_servers(struct agent_session *session, struct acp_mcp_server_list list,
                        struct acp_mcp_server_list except)
{
    struct mcp_servers *servers = session->servers;
    for (size_t i = 0; i < list.count; i++) {
        if (is_named(except, mcp_entry_name(&list.items[i])))
            continue;
        if (servers->count == SERVERS_MAX) {
            servers_add_problem(
                &servers->items[0],
                acp_str_from("there are too many MCP servers; the first 32 are used"));
            return;
        }
        add_server(servers, session, &list.items[i]);
    }
}

void agent_session_start_servers(struct agent_session *session, struct acp_mcp_server_list list)
{
    uv_loop_t *loop = &session->agent->loop;
    struct acp_mcp_server_list own = session->agent->options->mcp_servers;
    bool any = list.count || own.count;
    struct mcp_servers *servers =
        !any || session->servers ? NULL : calloc(1, sizeof(*session->servers));
    if (!servers)
        return;
    (void) uv_timer_init(loop, &servers->timer);
    servers->timer.data = servers;
    uv_update_time(loop);
    servers->until = uv_now(loop) + WAIT_MS;
    session->servers = servers;
    add_servers(session, list, (struct acp_mcp_server_list){0});
    add_servers(session, own, list);
}

void coding_agent_notified(struct acp_agent *role_agent, const struct acp_message *message,
                           void *user)
{
    struct coding_agent *agent = user;
    struct acp_message_mcp_notification notification;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    bool is_mcp =
        acp_str_is(message->method, "mcp/message") &&
        acp_message_mcp_notification_decode(acp_agent_protocol(role_agent), message->params, &arena,
                                            &notification, NULL) == 0;
    for (struct agent_session *session = agent->first; is_mcp && session; session = session->next)
        for (size_t i = 0; session->servers && i < session->servers->count; i++)
            if (session->servers->items[i].server)
                mcp_server_notified(session->servers->items[i].server, &notification);
    acp_arena_finish(&arena);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void agent_session_stop_servers(struct agent_session *session)
{
    struct mcp_servers *servers = session->servers;
    if (!servers)
        return;
    agent_session_stop_waiting(session);
    for (size_t i = 0; i < servers->count; i++) {
        struct one_server *one = &servers->items[i];
        servers_forget_asks(one);
        session->agent->servers -= one->server != NULL;
        mcp_server_free(one->server);
        mcp_tokens_free(one->tokens);
        free(one->names);
        free(one->offered);
        free(one->problem);
        acp_arena_finish(&one->arena);
    }
    uv_close((uv_handle_t *) &servers->timer, on_timer_closed);
    session->servers = NULL;
}
