/*
 * hub_client.c - what clients send: each message finds its agent, by its session, its directory, or
 * because there is only one that it can be for.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"
#include "json/members.h"

/* Where a message goes.  Without an agent, code and why are the answer. */
struct route {
    struct hub_agent *agent;
    struct hub_session *session;
    int code;
    struct acp_failure failure;
};

static struct hub *hub_of(const struct hub_client *client)
{
    return client->connection.hub;
}

static void refuse(struct hub_client *client, const struct hub_message *message, int code,
                   const char *why)
{
    if (message->scan.kind == ACP_SCAN_REQUEST)
        hub_send_error(&client->connection, message->scan.id, code, acp_str_from(why));
}

static void set_failure(struct route *route, int code, const char *why)
{
    route->code = code;
    (void) snprintf(route->failure.message, sizeof(route->failure.message), "%s", why);
}

/* ---- Routes ---------------------------------------------------------------------------------- */

/* The agent that answers what is about no session. */
static int find_default(struct hub *hub, struct route *ret)
{
    int err = hub->first ? 0 : hub_start_first(hub, &ret->failure);
    ret->agent = hub->first;
    ret->code = RPC_INTERNAL_ERROR;
    return err;
}

/* The agent for the directory that a message names; without one, the default agent's. */
static int find_by_cwd(struct hub_client *client, const struct hub_message *message, char *path,
                       struct route *ret)
{
    struct hub *hub = hub_of(client);
    struct acp_str cwd = acp_str_from(hub->options.cwd);
    (void) acp_json_member_str(message->scan.params, "cwd", &client->connection.arena, &cwd);
    ret->code = RPC_INVALID_PARAMS;
    return hub->options.launcher->find_workspace(hub->options.launcher, cwd, path, &ret->failure);
}

/* What an id that is not open means, in that workspace or in one that is known. */
static const char *find_closed(struct hub *hub, const char *path, struct acp_str public_id,
                               char *buffer, struct hub_id *ret)
{
    if (path && hub_agent_id(hub, path, public_id, buffer, ret))
        return path;
    for (const struct hub_workspace *w = hub->workspaces; w; w = w->next)
        if (hub_agent_id(hub, w->path, public_id, buffer, ret))
            return w->path;
    if (hub->options.shared || public_id.len > HUB_MAX_SESSION_ID)
        return NULL;
    *ret = (struct hub_id){.agent_id = public_id, .own = true};
    return path ? path : hub->workspaces ? hub->workspaces->path : NULL;
}

/* The session that a message names, if it is open and the client may use it. */
static struct hub_session *find_session(struct hub_client *client,
                                        const struct hub_message *message)
{
    struct acp_str id = hub_text_of(&client->connection, message->scan.session_id);
    struct hub_session *session = id.ptr ? hub_session_find(hub_of(client), id) : NULL;
    return session && hub_session_attachment(session, client) ? session : NULL;
}

/* ---- Sending on ------------------------------------------------------------------------------ */

static struct hub_request *open_request(struct hub_client *client, const struct route *route,
                                        const struct hub_message *message)
{
    struct hub_request *request;
    int err = hub_request_open(&client->connection, message->scan.id,
                               route->agent ? &route->agent->connection : NULL, message->method,
                               route->session, &request);
    if (!err)
        return request;
    refuse(client, message, err == ACP_ERR_STATE ? RPC_INVALID_REQUEST : RPC_INTERNAL_ERROR,
           err == ACP_ERR_STATE   ? "a request with this id is still open"
           : err == ACP_ERR_LIMIT ? "too many open requests"
                                  : "out of memory");
    return NULL;
}

static void pass(struct hub_client *client, const struct route *route, struct hub_request *request,
                 const struct hub_message *message)
{
    struct hub_session *session = route->session;
    struct hub_agent *agent = route->agent;
    if (request && session && message->method == HUB_PROMPT) {
        hub_session_show_prompt(session, client, message->scan.params);
        hub_request_count(request);
    }
    if (session && session->state == HUB_SESSION_REOPENING) {
        if (hub_queue_add(&session->waiting, request, session, message->text) && request)
            hub_request_fail(request, RPC_INTERNAL_ERROR,
                             acp_str_from("too many messages wait for the session"));
        return;
    }
    hub_agent_pass(agent, request, session, message);
    hub_connection_hold(&client->connection, &agent->connection);
}

/* Sends a message of an open session to its agent, which is started again if it has ended. */
static void pass_to_session(struct hub_client *client, struct hub_session *session,
                            const struct hub_message *message)
{
    struct route route = {.session = session};
    struct hub_request *request = NULL;
    /* An agent that is being ended reads no more. */
    if (session->agent && session->agent->state >= HUB_AGENT_DRAINING &&
        session->state != HUB_SESSION_OPENING && session->state != HUB_SESSION_REOPENING)
        hub_session_lose(session);
    if (session->state == HUB_SESSION_LOST && hub_session_reopen(session, &route.failure)) {
        refuse(client, message, RPC_INTERNAL_ERROR, route.failure.message);
        return;
    }
    route.agent = session->agent;
    if (message->scan.kind == ACP_SCAN_REQUEST) {
        request = open_request(client, &route, message);
        if (!request)
            return;
    }
    pass(client, &route, request, message);
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static void open_new(struct hub_client *client, const struct hub_message *message)
{
    char path[ACP_PATH_SIZE];
    struct route route = {0};
    int err = find_by_cwd(client, message, path, &route);
    if (!err) {
        route.code = RPC_INTERNAL_ERROR;
        err = hub_agent_get(hub_of(client), path, &route.agent, &route.failure);
    }
    if (err) {
        refuse(client, message, route.code, route.failure.message);
        return;
    }
    struct hub_request *request = open_request(client, &route, message);
    if (!request)
        return;
    request->setup = hub_copy(message->scan.params, HUB_MAX_SETUP);
    pass(client, &route, request, message);
}

/* A session that is not open: its agent is found by the id and the directory. */
static int find_agent_of(struct hub_client *client, const struct hub_message *message, char *buffer,
                         struct hub_id *id, struct route *ret)
{
    char path[ACP_PATH_SIZE];
    struct hub *hub = hub_of(client);
    struct acp_str public_id = hub_text_of(&client->connection, message->scan.session_id);
    struct acp_raw cwd = {NULL, 0};
    bool here = !acp_json_member_raw(message->scan.params, "cwd", &cwd) && cwd.ptr;
    if (here && find_by_cwd(client, message, path, ret))
        return ACP_ERR_UNKNOWN;
    const char *found =
        public_id.ptr ? find_closed(hub, here ? path : NULL, public_id, buffer, id) : NULL;
    if (!found) {
        set_failure(ret, RPC_NOT_FOUND, "no such session");
        return ACP_ERR_UNKNOWN;
    }
    ret->code = RPC_INTERNAL_ERROR;
    return hub_agent_get(hub, found, &ret->agent, &ret->failure);
}

static int make_session(struct hub_client *client, const struct hub_id *id, struct route *ret)
{
    int err = hub_session_new(ret->agent, id, &ret->session);
    if (!err && (err = hub_session_attach(ret->session, client)))
        hub_session_free(ret->session);
    if (err)
        set_failure(ret, RPC_INTERNAL_ERROR,
                    err == ACP_ERR_LIMIT ? "too many open sessions" : acp_err_text(err));
    return err;
}

/* session/load and session/resume of a session that is not open. */
static void open_again(struct hub_client *client, const struct hub_message *message)
{
    char buffer[HUB_MAX_SESSION_ID];
    struct hub_id id;
    struct route route = {0};
    int err = find_agent_of(client, message, buffer, &id, &route);
    if (!err)
        err = make_session(client, &id, &route);
    if (err) {
        refuse(client, message, route.code, route.failure.message);
        return;
    }
    struct hub_request *request = open_request(client, &route, message);
    if (!request) {
        hub_session_free(route.session);
        return;
    }
    request->setup = hub_copy(message->scan.params, HUB_MAX_SETUP);
    pass(client, &route, request, message);
}

static void open_known(struct hub_client *client, const struct hub_message *message)
{
    struct acp_str id = hub_text_of(&client->connection, message->scan.session_id);
    struct hub_session *session = id.ptr ? hub_session_find(hub_of(client), id) : NULL;
    if (!session)
        open_again(client, message);
    else if (hub_of(client)->options.shared)
        hub_session_join(session, client, message);
    else
        pass_to_session(client, session, message);
}

/* Whether other clients have the session that a message names. */
static bool is_open(struct hub_client *client, const struct hub_message *message)
{
    struct acp_str id = hub_text_of(&client->connection, message->scan.session_id);
    return id.ptr && hub_session_find(hub_of(client), id);
}

/* session/fork and whatever else names a session that may not be open: no state is kept. */
static void pass_by_id(struct hub_client *client, const struct hub_message *message)
{
    char buffer[HUB_MAX_SESSION_ID];
    struct hub_id id;
    struct route route = {0};
    struct hub_session *session = find_session(client, message);
    if (session && message->method != HUB_FORK) {
        pass_to_session(client, session, message);
        return;
    }
    if (!session && is_open(client, message)) {
        refuse(client, message, RPC_INVALID_REQUEST,
               "the session is open; load or resume it before you use it");
        return;
    }
    if (session && session->state == HUB_SESSION_LOST)
        session = NULL; /* the agent that is started for it knows it by its id */
    route.agent = session ? session->agent : NULL;
    if (!session && find_agent_of(client, message, buffer, &id, &route)) {
        refuse(client, message, route.code, route.failure.message);
        return;
    }
    struct hub_request *request = NULL;
    if (message->scan.kind == ACP_SCAN_REQUEST &&
        !(request = open_request(client, &route, message)))
        return;
    if (request && message->method == HUB_FORK)
        request->setup = hub_copy(message->scan.params, HUB_MAX_SETUP);
    hub_agent_pass_id(route.agent, request, session ? session->agent_key : id.agent_id, message);
    hub_connection_hold(&client->connection, &route.agent->connection);
}

/* Ends a session that its agent does not know, or cannot close. */
static void close_here(struct hub_client *client, struct hub_session *session,
                       const struct hub_message *message)
{
    hub_session_cancel(session);
    hub_session_free(session);
    if (message->scan.kind == ACP_SCAN_REQUEST)
        hub_send_text(&client->connection, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{}}",
                      ACP_ARG(message->scan.id));
}

/* session/end of old clients is session/close for the agent. */
static void close_session(struct hub_client *client, const struct hub_message *message)
{
    struct hub_session *session = find_session(client, message);
    bool here =
        session && (session->state == HUB_SESSION_LOST || session->state == HUB_SESSION_REOPENING);
    if (!session) {
        pass_by_id(client, message);
    } else if (here || (message->method == HUB_END &&
                        (!session->agent->can.close || message->scan.kind != ACP_SCAN_REQUEST))) {
        close_here(client, session, message);
    } else {
        struct hub_message renamed = *message;
        struct acp_buf text;
        struct acp_splice splice = {message->scan.method, acp_raw_from("\"session/close\"")};
        acp_buf_init(&text, message->text.len + 64);
        int err = acp_scan_splice_all(message->text, &splice, 1, &text);
        renamed.text = acp_raw_n(acp_buf_view(&text).ptr, text.len);
        if (!err)
            err = acp_scan_message(renamed.text, acp_str_from(NULL), &renamed.scan, NULL);
        renamed.method = HUB_CLOSE;
        if (!err)
            pass_to_session(client, session, &renamed);
        else
            refuse(client, message, RPC_INTERNAL_ERROR, acp_err_text(err));
        acp_buf_finish(&text);
    }
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

static void cancel_waiting(struct hub_request *request, bool answer)
{
    struct hub_agent *agent = (struct hub_agent *) request->to;
    struct hub_session *session = request->session;
    hub_queue_remove(&agent->waiting, request);
    if (session)
        hub_queue_remove(&session->waiting, request);
    if (answer && request->from) {
        hub_send_text(request->from,
                      "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"stopReason\":\"cancelled\"}}",
                      (int) request->id_len, request->id);
        hub_request_close(request);
    } else {
        hub_request_fail(request, RPC_CANCELLED, acp_str_from("cancelled"));
    }
}

/* Prompts that the agent has not got yet are answered as it would have. */
static void cancel_turn(struct hub_client *client, const struct hub_message *message)
{
    struct hub_session *session = find_session(client, message);
    struct hub_request *next;
    if (!session)
        return;
    for (struct hub_request *r = client->connection.requests; r; r = next) {
        next = r->next;
        if (r->session == session && r->waiting && r->method == HUB_PROMPT)
            cancel_waiting(r, hub_of(client)->version < 2);
    }
    if (session->agent && session->state != HUB_SESSION_REOPENING)
        pass_to_session(client, session, message);
}

static void cancel_request(struct hub_client *client, const struct hub_message *message)
{
    char number[HUB_NUMBER_SIZE];
    struct hub_request *request = hub_request_made(&client->connection, message->scan.key);
    if (!request || !request->to)
        return; /* it may have crossed the answer */
    if (request->waiting) {
        cancel_waiting(request, false);
        return;
    }
    struct acp_splice splice = {message->scan.key, hub_number_text(request->number, number)};
    hub_send(request->to, message->text, &splice, 1);
}

/* ---- Everything ------------------------------------------------------------------------------ */

/* The only agent, or the only one with sessions; NULL if there are several. */
static struct hub_agent *only_agent(const struct hub *hub)
{
    struct hub_agent *only = NULL;
    for (struct hub_agent *agent = hub->agents; agent; agent = agent->next) {
        if (agent->state >= HUB_AGENT_DRAINING || (!agent->session_count && hub->agent_count > 1))
            continue;
        if (only)
            return NULL;
        only = agent;
    }
    return only;
}

/*
 * A login goes to the agent that wants it, everything else without a session to the only agent that
 * it can be meant for, and requests at last to the first.
 */
static void pass_to_default(struct hub_client *client, const struct hub_message *message)
{
    struct hub *hub = hub_of(client);
    struct route route = {0};
    bool login = message->method == HUB_LOGIN || message->method == HUB_LOGOUT;
    route.agent = login ? client->wants_login : only_agent(hub);
    if (message->scan.kind != ACP_SCAN_REQUEST && !route.agent) {
        hub_log(hub, HUB_LOG_WARNING, NULL,
                "a notification of the client is for no agent in particular: %.*s",
                (int) (message->method_text.len < 100 ? message->method_text.len : 100),
                message->method_text.ptr);
        return;
    }
    if (!route.agent && find_default(hub, &route)) {
        refuse(client, message, route.code, route.failure.message);
        return;
    }
    struct hub_request *request = NULL;
    if (message->scan.kind == ACP_SCAN_REQUEST &&
        !(request = open_request(client, &route, message)))
        return;
    if (request && message->method == HUB_LOGIN)
        request->setup = hub_copy(message->text, HUB_MAX_LOGIN);
    pass(client, &route, request, message);
}

static void serve(struct hub_client *client, const struct hub_message *message)
{
    switch (message->method) {
    case HUB_NEW:
        open_new(client, message);
        return;
    case HUB_LOAD:
    case HUB_RESUME:
        open_known(client, message);
        return;
    case HUB_CLOSE:
    case HUB_END:
        close_session(client, message);
        return;
    case HUB_LIST:
        hub_list(client, message);
        return;
    default:
        break;
    }
    if (message->scan.session_id.ptr)
        pass_by_id(client, message);
    else
        pass_to_default(client, message);
}

static void on_notification(struct hub_client *client, const struct hub_message *message)
{
    if (message->method == HUB_CANCEL)
        cancel_turn(client, message);
    else if (message->method == HUB_CANCEL_REQUEST)
        cancel_request(client, message);
    else if (message->method == HUB_END)
        close_session(client, message);
    else if (message->scan.session_id.ptr)
        pass_by_id(client, message);
    else
        pass_to_default(client, message);
}

static void keep_early(struct hub_client *client, const struct hub_message *message)
{
    if (hub_queue_add(&client->early, NULL, NULL, message->text))
        refuse(client, message, RPC_INTERNAL_ERROR,
               "too many messages before initialize is answered");
}

void hub_client_serve_early(struct hub_client *client)
{
    struct hub_waiting *waiting;
    struct hub_message message;
    while (client->state != HUB_CLIENT_INITIALIZING && (waiting = hub_queue_take(&client->early))) {
        if (hub_message_read(&client->connection, acp_raw_n(waiting->text, waiting->len), &message))
            hub_client_on_message(client, &message);
        free(waiting);
    }
}

void hub_client_on_message(struct hub_client *client, const struct hub_message *message)
{
    bool is_request = message->scan.kind == ACP_SCAN_REQUEST;
    if (is_request && message->method == HUB_INITIALIZE)
        hub_initialize_client(client, message);
    else if (client->state == HUB_CLIENT_INITIALIZING)
        keep_early(client, message);
    else if (client->state != HUB_CLIENT_INITIALIZED)
        refuse(client, message, RPC_INVALID_REQUEST, "initialize must come first");
    else if (hub_of(client)->state != HUB_OPEN)
        refuse(client, message, RPC_INTERNAL_ERROR, "acp is shutting down");
    else if (is_request)
        serve(client, message);
    else
        on_notification(client, message);
}

/* The answer to a request of an agent. */
void hub_client_on_reply(struct hub_client *client, struct hub_request *request,
                         const struct hub_message *message)
{
    if (request->question) {
        hub_question_answer(request, message);
        return;
    }
    if (request->from) {
        struct hub_agent *agent = (struct hub_agent *) request->from;
        hub_agent_send_reply(agent, request, message);
        hub_connection_hold(&client->connection, &agent->connection);
    }
    hub_request_close(request);
}
