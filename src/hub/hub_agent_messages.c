/*
 * hub_agent_messages.c - what agents send: updates, requests and answers find the clients of their
 * session.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"
#include "json/members.h"

static struct hub *hub_of(const struct hub_agent *agent)
{
    return agent->connection.hub;
}

/* ---- Whom it is for -------------------------------------------------------------------------- */

/* The only client of a hub that is not shared, or that is alone; NULL if there are several. */
static struct hub_client *only_client(const struct hub *hub)
{
    struct hub_client *client = hub->clients;
    return client && !client->next && client->state != HUB_CLIENT_CLOSING ? client : NULL;
}

/*
 * A session that the agent names before it has answered the request that opens it.  In a hub that
 * is not shared it can only be for the one client; in a shared one its events wait until the
 * answer tells who gets them.
 */
static struct hub_session *find_early(struct hub_agent *agent, struct acp_str agent_id)
{
    struct hub_id id = {.agent_id = agent_id};
    struct hub_session *session = NULL;
    struct hub_client *client = only_client(hub_of(agent));
    struct hub_request *request;
    bool opening = false;
    for (size_t cursor = 0; (request = acp_numbers_next(&agent->connection.asked, &cursor));)
        opening |= request->method == HUB_NEW || request->method == HUB_FORK;
    if (!opening || hub_session_new(agent, &id, &session))
        return NULL;
    if (!hub_of(agent)->options.shared && client && hub_session_attach(session, client)) {
        hub_session_free(session);
        return NULL;
    }
    return session;
}

static struct hub_session *find_session(struct hub_agent *agent, const struct hub_message *message)
{
    struct acp_str id = hub_text_of(&agent->connection, message->scan.session_id);
    if (!id.ptr)
        return NULL;
    struct hub_session *session = hub_session_of_agent(agent, id);
    return session ? session : find_early(agent, id);
}

/* ---- Notifications --------------------------------------------------------------------------- */

/* In version 2 the agent says when a turn ends. */
static void note_state(struct hub_session *session, const struct hub_message *message)
{
    struct acp_raw update = {NULL, 0};
    struct acp_str kind = {NULL, 0};
    struct acp_str state = {NULL, 0};
    (void) acp_json_member_raw(message->scan.params, "update", &update);
    (void) acp_json_member_str(update, "sessionUpdate", NULL, &kind);
    if (!acp_str_is(kind, "state_update"))
        return;
    (void) acp_json_member_str(update, "state", NULL, &state);
    session->turns = acp_str_is(state, "idle") ? 0 : 1;
    hub_session_update(session);
}

static void log_dropped(struct hub_agent *agent, const struct hub_message *message, const char *why)
{
    struct acp_str method = message->method_text;
    hub_log(hub_of(agent), HUB_LOG_DEBUG, agent, "%.*s of the agent was dropped: %s",
            (int) (method.len < 100 ? method.len : 100), method.ptr, why);
}

static void on_cancel_request(struct hub_agent *agent, const struct hub_message *message)
{
    char number[HUB_NUMBER_SIZE];
    struct hub_request *request = hub_request_made(&agent->connection, message->scan.key);
    if (!request)
        return; /* it may have crossed the answer */
    if (request->question) {
        hub_question_cancel(request->question);
        return;
    }
    struct acp_splice splice = {message->scan.key, hub_number_text(request->number, number)};
    hub_send(request->to, message->text, &splice, 1);
}

static void on_notification(struct hub_agent *agent, const struct hub_message *message)
{
    struct hub_session *session = NULL;
    if (message->method == HUB_CANCEL_REQUEST) {
        on_cancel_request(agent, message);
        return;
    }
    if (!message->scan.session_id.ptr) {
        struct hub_client *client = only_client(hub_of(agent));
        if (client) {
            hub_send(&client->connection, message->text, NULL, 0);
            hub_connection_hold(&agent->connection, &client->connection);
        } else {
            log_dropped(agent, message, "it names no session");
        }
        return;
    }
    session = find_session(agent, message);
    if (!session || (session->state == HUB_SESSION_REOPENING && message->method == HUB_UPDATE)) {
        /* What is replayed when a lost session is loaded again has been shown before. */
        log_dropped(agent, message, session ? "it was shown before" : "the session is not open");
        return;
    }
    if (hub_of(agent)->version >= 2 && message->method == HUB_UPDATE)
        note_state(session, message);
    struct acp_splice splice = {message->scan.session_id, session->public_id};
    hub_session_tell(session, message->text, &splice, 1);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void refuse(struct hub_agent *agent, const struct hub_message *message, int code,
                   const char *why)
{
    hub_send_error(&agent->connection, message->scan.id, code, acp_str_from(why));
}

/* Who serves files, terminals and everything else that only one client can answer. */
static struct hub_client *host_of(const struct hub_agent *agent, const struct hub_session *session)
{
    if (session)
        return session->attachments ? session->attachments->client : NULL;
    return only_client(hub_of(agent));
}

/*
 * An elicitation may be about a request of a client instead of a session: the client knows that by
 * another id, and only it is asked.
 */
static struct hub_client *asker_of(struct hub_agent *agent, const struct hub_message *message,
                                   struct acp_splice *ret)
{
    if (message->method != HUB_ELICITATION || !message->scan.key.ptr)
        return NULL;
    struct hub_request *about = hub_request_answered(&agent->connection, message->scan.key);
    if (!about || !about->from)
        return NULL;
    *ret = (struct acp_splice){message->scan.key, acp_raw_n(about->id, about->id_len)};
    return (struct hub_client *) about->from;
}

static void ask_client(struct hub_agent *agent, struct hub_session *session,
                       struct hub_client *client, const struct hub_message *message,
                       const struct acp_splice *about)
{
    char number[HUB_NUMBER_SIZE];
    struct hub_request *request;
    int err = hub_request_open(&agent->connection, message->scan.id, &client->connection,
                               message->method, session, &request);
    if (err) {
        refuse(agent, message, err == ACP_ERR_STATE ? RPC_INVALID_REQUEST : RPC_INTERNAL_ERROR,
               err == ACP_ERR_STATE ? "a request with this id is still open"
                                    : "too many open requests");
        return;
    }
    if (session)
        hub_request_count(request);
    struct acp_splice splices[3] = {
        {message->scan.id, hub_number_text(request->number, number)},
        {message->scan.session_id, session ? session->public_id : (struct acp_raw){0}},
        *about};
    if (!session)
        splices[1].span.ptr = NULL;
    hub_send(&client->connection, message->text, splices, 3);
    hub_connection_hold(&agent->connection, &client->connection);
}

static void on_request(struct hub_agent *agent, const struct hub_message *message)
{
    struct acp_splice about = {.span = {0}};
    struct hub_session *session = NULL;
    if (message->scan.session_id.ptr) {
        session = find_session(agent, message);
        if (!session) {
            refuse(agent, message, RPC_INVALID_PARAMS, "no such session is open");
            return;
        }
    }
    bool for_all = message->method == HUB_PERMISSION || message->method == HUB_ELICITATION;
    if (hub_of(agent)->options.shared && session && for_all) {
        hub_question_ask(session, message);
        return;
    }
    struct hub_client *client = asker_of(agent, message, &about);
    if (!client)
        client = host_of(agent, session);
    if (client)
        ask_client(agent, session, client, message, &about);
    else
        refuse(agent, message, session ? RPC_INTERNAL_ERROR : RPC_METHOD_NOT_FOUND,
               session ? "no client is attached to the session" : "Method not found");
}

/* The launcher's map comes first: from here on the message has the client's paths. */
static int map_paths(struct hub_agent *agent, struct acp_str method, struct hub_message *message,
                     struct acp_buf *out)
{
    static const struct acp_str key = ACP_STR("requestId");
    const struct hub_path_map *paths = agent->process->paths;
    int err = paths->to_client(paths->user, method, &message->scan, message->text, out);
    if (err)
        return err;
    message->text = acp_raw_n(acp_buf_view(out).ptr, out->len);
    return acp_scan_message(message->text, key, &message->scan, NULL);
}

static void on_call(struct hub_agent *agent, const struct hub_message *message)
{
    if (message->scan.kind == ACP_SCAN_REQUEST)
        on_request(agent, message);
    else
        on_notification(agent, message);
}

static void on_mapped_call(struct hub_agent *agent, const struct hub_message *message)
{
    struct hub_message mapped = *message;
    struct acp_buf text;
    acp_buf_init(&text, hub_of(agent)->options.max_output);
    if (!map_paths(agent, message->method_text, &mapped, &text))
        on_call(agent, &mapped);
    else if (message->scan.kind == ACP_SCAN_REQUEST)
        refuse(agent, message, RPC_INVALID_PARAMS, "a path is outside of the workspace");
    else
        log_dropped(agent, message, "a path is outside of the workspace");
    acp_buf_finish(&text);
}

void hub_agent_on_message(struct hub_agent *agent, const struct hub_message *message)
{
    if (agent->process->paths)
        on_mapped_call(agent, message);
    else
        on_call(agent, message);
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Nobody waits for the session any more. */
static void close_unwanted(struct hub_agent *agent, struct hub_session *session)
{
    if (agent->can.close)
        hub_session_send_close(session);
    hub_session_free(session);
}

/* The session that the agent has made for a client. */
static struct hub_session *adopt(struct hub_agent *agent, const struct hub_request *request,
                                 const struct hub_message *message)
{
    struct hub_id id = {.agent_id = hub_text_of(&agent->connection, message->scan.session_id)};
    struct hub_session *session = NULL;
    if (!id.agent_id.ptr)
        return NULL;
    session = hub_session_of_agent(agent, id.agent_id);
    if (session && session->state != HUB_SESSION_OPENING)
        return NULL;
    if (!session && hub_session_new(agent, &id, &session))
        return NULL;
    if (request->from && hub_session_attach(session, (struct hub_client *) request->from)) {
        hub_session_free(session);
        return NULL;
    }
    return session;
}

static void confirm(struct hub_session *session, const struct hub_request *request,
                    const struct hub_message *message)
{
    struct acp_buf params;
    acp_buf_init(&params, HUB_MAX_SETUP);
    if (hub_session_make_setup(session, acp_raw_from(request->setup), &params) == 0)
        hub_session_keep_setup(session, acp_raw_n(acp_buf_view(&params).ptr, params.len));
    acp_buf_finish(&params);
    if (session->hub->options.shared) {
        free(session->opened);
        session->opened = hub_copy(message->scan.result, HUB_MAX_SETUP);
    }
    hub_session_set_state(session, HUB_SESSION_IDLE);
    hub_session_update(session);
    hub_session_log(session, HUB_LOG_DEBUG, "the session is open");
}

static void answer(struct hub_agent *agent, const struct hub_request *request,
                   struct hub_session *session, const struct hub_message *message)
{
    struct acp_splice splices[2] = {{message->scan.id, acp_raw_n(request->id, request->id_len)}};
    if (session && message->scan.session_id.ptr)
        splices[1] = (struct acp_splice){message->scan.session_id, session->public_id};
    if (!request->from)
        return;
    if (session)
        hub_session_answer(session, request->from, message->text, splices, 2);
    else
        hub_send(request->from, message->text, splices, 2);
    hub_connection_hold(&agent->connection, request->from);
}

static void on_new(struct hub_agent *agent, struct hub_request *request,
                   const struct hub_message *message)
{
    struct hub_session *session = adopt(agent, request, message);
    if (!session) {
        hub_request_fail(request, RPC_INTERNAL_ERROR,
                         acp_str_from("the agent has answered without a session id that is new, "
                                      "or there are too many sessions"));
        return;
    }
    confirm(session, request, message);
    answer(agent, request, session, message);
    bool unwanted = !request->from;
    hub_request_close(request);
    if (unwanted)
        close_unwanted(agent, session);
}

static void on_load(struct hub_agent *agent, struct hub_request *request,
                    const struct hub_message *message)
{
    struct hub_session *session = request->session;
    bool opening = session && session->state == HUB_SESSION_OPENING;
    if (opening && message->scan.result.ptr)
        confirm(session, request, message);
    answer(agent, request, session, message);
    hub_request_close(request);
    if (opening && !message->scan.result.ptr)
        hub_session_free(session);
}

/* What an error says beyond its text: that a login is necessary. */
static void note_error(struct hub_agent *agent, const struct hub_request *request,
                       const struct hub_message *message)
{
    int64_t code = 0;
    (void) acp_json_member_i64(message->scan.error, "code", &code);
    if (code == RPC_AUTH_REQUIRED && request->from)
        ((struct hub_client *) request->from)->wants_login = agent;
}

static void on_other(struct hub_agent *agent, struct hub_request *request,
                     const struct hub_message *message)
{
    struct hub *hub = hub_of(agent);
    struct hub_session *session = request->session;
    bool good = message->scan.result.ptr;
    bool ends = good && session && (request->method == HUB_CLOSE || request->method == HUB_DELETE);
    if (good && request->method == HUB_LOGIN)
        hub_keep_login(hub, request);
    if (good && request->method == HUB_LOGOUT)
        acp_buf_clear(&hub->login);
    if (good && request->method == HUB_PROMPT && hub->version >= 2)
        request->counted = false; /* the turn goes on until the agent says that it is idle */
    if (session && !ends) {
        answer(agent, request, session, message);
    } else {
        struct hub_session *named = NULL;
        if (message->scan.session_id.ptr)
            named = hub_session_of_agent(agent,
                                         hub_text_of(&agent->connection, message->scan.session_id));
        struct acp_splice splices[2] = {
            {message->scan.id, acp_raw_n(request->id, request->id_len)}};
        if (named)
            splices[1] = (struct acp_splice){message->scan.session_id, named->public_id};
        if (request->from)
            hub_send(request->from, message->text, splices, 2);
    }
    hub_request_close(request);
    if (ends)
        hub_session_free(session);
}

static void on_reply(struct hub_agent *agent, struct hub_request *request,
                     const struct hub_message *message)
{
    if (message->scan.error.ptr)
        note_error(agent, request, message);
    if (request->listing) {
        hub_list_reply(request, message);
    } else if (request->reply) {
        request->reply(request, message);
        hub_request_close(request);
    } else if ((request->method == HUB_NEW || request->method == HUB_FORK) &&
               message->scan.result.ptr) {
        on_new(agent, request, message);
    } else if (request->method == HUB_LOAD || request->method == HUB_RESUME) {
        on_load(agent, request, message);
    } else {
        on_other(agent, request, message);
    }
}

void hub_agent_on_reply(struct hub_agent *agent, struct hub_request *request,
                        const struct hub_message *message)
{
    struct hub_message mapped;
    struct acp_buf text;
    if (!agent->process->paths) {
        on_reply(agent, request, message);
        return;
    }
    mapped = *message;
    acp_buf_init(&text, hub_of(agent)->options.max_output);
    if (map_paths(agent, hub_method_name(request->method), &mapped, &text))
        hub_request_fail(request, RPC_INTERNAL_ERROR,
                         acp_str_from("a path in the answer is outside of the workspace"));
    else
        on_reply(agent, request, &mapped);
    acp_buf_finish(&text);
}
