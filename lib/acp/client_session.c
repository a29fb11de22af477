/*
 * Sessions, from the client's side: opening them, prompts and their one end.
 */
#include <stdlib.h>

#include "acp/client_role.h"

static bool is_absolute(struct acp_str path)
{
    return path.len > 0 && path.ptr[0] == '/';
}

/* ---- What the agent offers ------------------------------------------------------------------- */

static const struct acp_session_capabilities *session_capabilities(const struct acp_client *client)
{
    const struct acp_agent_capabilities *can =
        client_is_v2(client) ? client->agent.capabilities : client->agent.agent_capabilities;
    if (!acp_is_set(can))
        return NULL;
    const struct acp_session_capabilities *session =
        client_is_v2(client) ? can->session : can->session_capabilities;
    return acp_is_set(session) ? session : NULL;
}

static bool agent_loads(const struct acp_client *client)
{
    const struct acp_agent_capabilities *can = client->agent.agent_capabilities;
    return client_is_v2(client) ? session_capabilities(client) != NULL
                                : acp_is_set(can) && can->load_session;
}

static bool agent_takes_servers(const struct acp_client *client, struct acp_mcp_server_list servers)
{
    const struct acp_session_capabilities *session = session_capabilities(client);
    const struct acp_agent_capabilities *can = client->agent.agent_capabilities;
    const struct acp_mcp_capabilities *mcp = client_is_v2(client)
                                                 ? (session ? session->mcp : NULL)
                                                 : (acp_is_set(can) ? can->mcp_capabilities : NULL);
    static const struct acp_mcp_capabilities none = {0};
    if (!acp_is_set(mcp))
        mcp = &none;
    for (size_t i = 0; i < servers.count; i++) {
        bool ok;
        switch (servers.items[i].is) {
        case ACP_MCP_SERVER_STDIO:
            ok = !client_is_v2(client) || acp_is_set(mcp->stdio);
            break;
        case ACP_MCP_SERVER_HTTP:
            ok = client_is_v2(client) ? acp_is_set(mcp->http_v2) : mcp->http;
            break;
        case ACP_MCP_SERVER_SSE:
            ok = !client_is_v2(client) && mcp->sse;
            break;
        default:
            ok = client->mode & ACP_UNSTABLE;
        }
        if (!ok)
            return false;
    }
    return true;
}

static int check_place(const struct acp_client *client, const struct acp_session_place *place)
{
    const struct acp_session_capabilities *session = session_capabilities(client);
    if (!client->mode || (client_is_v2(client) && !session))
        return ACP_ERR_STATE;
    if (!is_absolute(place->cwd))
        return ACP_ERR_ARGUMENT;
    for (size_t i = 0; i < place->directories.count; i++)
        if (!is_absolute(place->directories.items[i]))
            return ACP_ERR_ARGUMENT;
    if (place->directories.count && !(session && acp_is_set(session->additional_directories)))
        return ACP_ERR_STATE;
    return agent_takes_servers(client, place->mcp_servers) ? 0 : ACP_ERR_STATE;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static struct acp_client_session *add_session(struct acp_client *client, struct acp_str id,
                                              const char *cwd)
{
    struct acp_client_session *session = acp_map_get(&client->sessions, id);
    if (session)
        return session;
    session = calloc(1, sizeof(*session));
    if (!session)
        return NULL;
    session->client = client;
    session->id = acp_str_copy(id);
    session->cwd = acp_str_copy(acp_str(cwd));
    if (!session->id || !session->cwd || acp_map_set(&client->sessions, id, session)) {
        free(session->id);
        free(session->cwd);
        free(session);
        return NULL;
    }
    return session;
}

static void free_session(struct acp_client_session *session)
{
    free(session->stop);
    free(session->id);
    free(session->cwd);
    free(session);
}

void client_end_session(struct acp_client_session *session, int reason)
{
    struct acp_client *client = session->client;
    struct acp_outcome outcome = client_failed(client, reason);
    /* First of all: the program may close the connection when it hears of this. */
    session->gone = true;
    (void) acp_map_remove(&client->sessions, acp_str(session->id));
    client_drop_questions(session);
    client_end_turn(session, acp_str(NULL), &outcome);
    if (client->handler.end_session)
        client->handler.end_session(session, client->user);
    free_session(session);
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void settle_open(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_client *client = call->client;
    struct acp_outcome outcome = client_outcome(call, reply);
    struct acp_client_session *session = NULL;
    if (!outcome.err && call->result_type == ACP_TYPE_NEW_SESSION_RESPONSE) {
        const struct acp_new_session_response *response = outcome.value;
        call->id = acp_str_copy(response->session_id);
        session = call->id ? add_session(client, response->session_id, call->cwd) : NULL;
    } else if (!outcome.err) {
        session = acp_map_get(&client->sessions, acp_str(call->id));
    } else if (call->id) {
        /* A session that could not be opened again is none; its history was shown in vain. */
        struct acp_client_session *gone = acp_map_get(&client->sessions, acp_str(call->id));
        if (gone)
            client_end_session(gone, outcome.err);
    }
    if (!outcome.err && !session)
        outcome = client_failed(client, ACP_ERR_NOMEM);
    call->then.session(client, session, &outcome, call->user);
    /* The program may have closed the connection, and with it the session. */
    if (session && acp_map_get(&client->sessions, acp_str(call->id)) == session)
        client_deliver_early(session);
}

static struct client_call *open_call(struct acp_client *client, struct acp_str id,
                                     struct acp_str cwd, acp_type_id result_type,
                                     acp_session_fn *done, void *user)
{
    struct client_call *call = client_call_new(client, settle_open, result_type, user);
    if (!call)
        return NULL;
    call->then.session = done;
    call->cwd = acp_str_copy(cwd);
    call->id = id.ptr ? acp_str_copy(id) : NULL;
    if (!call->cwd || (id.ptr && !call->id)) {
        free(call->cwd);
        free(call->id);
        free(call);
        return NULL;
    }
    return call;
}

int acp_client_new_session(struct acp_client *client, const struct acp_session_place *place,
                           acp_session_fn *done, void *user)
{
    struct acp_new_session_request request;
    int err = check_place(client, place);
    if (err)
        return err;
    struct client_call *call =
        open_call(client, acp_str(NULL), place->cwd, ACP_TYPE_NEW_SESSION_RESPONSE, done, user);
    if (!call)
        return ACP_ERR_NOMEM;
    acp_new_session_request_init(&request, place->cwd);
    request.additional_directories = place->directories;
    request.mcp_servers = place->mcp_servers;
    return client_send(call, "session/new", ACP_TYPE_NEW_SESSION_REQUEST, &request,
                       client->options.timeout_ms);
}

/* Sends the request that opens an old session; takes the call, also when it fails. */
static int send_old(struct client_call *call, struct acp_str id,
                    const struct acp_session_place *place, bool replay)
{
    static const struct acp_replay_from from_start = {.is = ACP_REPLAY_FROM_START};
    uint64_t timeout_ms = call->client->options.timeout_ms;
    if (call->result_type == ACP_TYPE_LOAD_SESSION_RESPONSE) {
        struct acp_load_session_request request = {.session_id = id,
                                                   .cwd = place->cwd,
                                                   .additional_directories = place->directories,
                                                   .mcp_servers = place->mcp_servers};
        return client_send(call, "session/load", ACP_TYPE_LOAD_SESSION_REQUEST, &request,
                           timeout_ms);
    }
    struct acp_resume_session_request request;
    acp_resume_session_request_init(&request, id, place->cwd);
    request.additional_directories = place->directories;
    request.mcp_servers = place->mcp_servers;
    request.replay_from = replay ? &from_start : NULL;
    return client_send(call, "session/resume", ACP_TYPE_RESUME_SESSION_REQUEST, &request,
                       timeout_ms);
}

/* An old session is known from now on, so that its history finds it. */
static int open_old(struct acp_client *client, struct acp_str id,
                    const struct acp_session_place *place, bool replay, acp_session_fn *done,
                    void *user)
{
    bool v1_load = replay && !client_is_v2(client);
    bool known = acp_map_get(&client->sessions, id) != NULL;
    struct client_call *call = open_call(
        client, id, place->cwd,
        v1_load ? ACP_TYPE_LOAD_SESSION_RESPONSE : ACP_TYPE_RESUME_SESSION_RESPONSE, done, user);
    if (!call)
        return ACP_ERR_NOMEM;
    struct acp_client_session *session = add_session(client, id, call->cwd);
    if (!session) {
        free(call->cwd);
        free(call->id);
        free(call);
        return ACP_ERR_NOMEM;
    }
    int err = send_old(call, id, place, replay);
    if (err && !known) {
        /* Nobody has heard of it. */
        (void) acp_map_remove(&client->sessions, id);
        free_session(session);
    }
    return err;
}

int acp_client_load_session(struct acp_client *client, struct acp_str id,
                            const struct acp_session_place *place, acp_session_fn *done, void *user)
{
    int err = check_place(client, place);
    if (!err && !agent_loads(client))
        err = ACP_ERR_STATE;
    return err ? err : open_old(client, id, place, true, done, user);
}

int acp_client_resume_session(struct acp_client *client, struct acp_str id,
                              const struct acp_session_place *place, acp_session_fn *done,
                              void *user)
{
    const struct acp_session_capabilities *session = session_capabilities(client);
    int err = check_place(client, place);
    if (!err && !(session && (client_is_v2(client) || acp_is_set(session->resume))))
        err = ACP_ERR_STATE;
    return err ? err : open_old(client, id, place, false, done, user);
}

/* ---- Listing, deleting, closing -------------------------------------------------------------- */

static int send_done(struct acp_client *client, const char *method, acp_type_id params_type,
                     const void *params, acp_type_id result_type, acp_client_fn *done, void *user)
{
    return acp_client_request(client, acp_str(method), params_type, params, result_type, done,
                              user);
}

int acp_client_list_sessions(struct acp_client *client, struct acp_str cwd, struct acp_str cursor,
                             acp_client_fn *done, void *user)
{
    const struct acp_session_capabilities *session = session_capabilities(client);
    struct acp_list_sessions_request request = {.cwd = cwd, .cursor = cursor};
    if (!session || !(client_is_v2(client) || acp_is_set(session->list)))
        return ACP_ERR_STATE;
    return send_done(client, "session/list", ACP_TYPE_LIST_SESSIONS_REQUEST, &request,
                     ACP_TYPE_LIST_SESSIONS_RESPONSE, done, user);
}

/* What the agent does not know is closed and deleted. */
static void settle_gone(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_reply fine = {.result = acp_raw("{}")};
    bool unknown =
        reply->err == ACP_ERR_REMOTE && reply->error_code == ACP_ERROR_CODE_RESOURCE_NOT_FOUND;
    struct acp_client_session *session =
        call->id ? acp_map_get(&call->client->sessions, acp_str(call->id)) : NULL;
    if (session && (!reply->err || unknown))
        client_end_session(session, ACP_ERR_CANCELLED);
    client_settle_done(call, unknown ? &fine : reply);
}

static int send_gone(struct acp_client *client, struct acp_str id, const char *method,
                     acp_type_id params_type, const void *params, acp_type_id result_type,
                     acp_client_fn *done, void *user)
{
    struct client_call *call = client_call_new(client, settle_gone, result_type, user);
    if (!call)
        return ACP_ERR_NOMEM;
    call->then.done = done;
    call->id = acp_str_copy(id);
    return client_send(call, method, params_type, params, client->options.timeout_ms);
}

int acp_client_delete_session(struct acp_client *client, struct acp_str id, acp_client_fn *done,
                              void *user)
{
    const struct acp_session_capabilities *session = session_capabilities(client);
    struct acp_delete_session_request request;
    if (!session || !acp_is_set(session->delete_))
        return ACP_ERR_STATE;
    acp_delete_session_request_init(&request, id);
    return send_gone(client, id, "session/delete", ACP_TYPE_DELETE_SESSION_REQUEST, &request,
                     ACP_TYPE_DELETE_SESSION_RESPONSE, done, user);
}

int acp_client_close_session(struct acp_client_session *session, acp_client_fn *done, void *user)
{
    struct acp_client *client = session->client;
    const struct acp_session_capabilities *can = session_capabilities(client);
    struct acp_close_session_request request;
    if (!can || !(client_is_v2(client) || acp_is_set(can->close)))
        return ACP_ERR_STATE;
    acp_close_session_request_init(&request, acp_str(session->id));
    return send_gone(client, acp_str(session->id), "session/close", ACP_TYPE_CLOSE_SESSION_REQUEST,
                     &request, ACP_TYPE_CLOSE_SESSION_RESPONSE, done, user);
}

/* ---- Prompts --------------------------------------------------------------------------------- */

void client_end_turn(struct acp_client_session *session, struct acp_str stop,
                     const struct acp_outcome *outcome)
{
    const struct acp_client *client = session->client;
    bool was_closing = client->closing || session->gone;
    if (!session->end)
        return;
    if (session->state != ACP_WORK_IDLE && !client_is_v2(client))
        client_emit_state(session, ACP_WORK_IDLE, NULL, acp_raw(NULL));
    if (client->closing && !was_closing)
        return; /* the program has closed the connection, which has ended the turn */
    acp_turn_fn *end = session->end;
    session->end = NULL;
    end(session, stop, outcome, session->end_user);
}

/* Version 1: the response is the end.  Version 2: it says that the message was taken. */
static void settle_prompt(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_client_session *session = acp_map_get(&call->client->sessions, acp_str(call->id));
    struct acp_outcome outcome = client_outcome(call, reply);
    if (!session || !session->end)
        return; /* it ended with its session */
    if (outcome.err && session->cancelled && outcome.code == ACP_ERROR_CODE_REQUEST_CANCELLED) {
        /* It was dropped before it had begun, which is what we wanted. */
        outcome = (struct acp_outcome){.why = acp_str("")};
        client_end_turn(session, acp_str("cancelled"), &outcome);
    } else if (outcome.err) {
        client_end_turn(session, acp_str(NULL), &outcome);
    } else if (!client_is_v2(call->client)) {
        const struct acp_prompt_response *response = outcome.value;
        client_end_turn(session, response->stop_reason.text, &outcome);
    } else {
        session->accepted = true;
        if (session->stop) {
            char *stop = session->stop;
            session->stop = NULL;
            client_end_turn(session, acp_str(stop), &outcome);
            free(stop);
        }
    }
}

/* Version 2: the end of a turn is the session's being idle again. */
void client_note_state(struct acp_client_session *session, const struct acp_state_update *state)
{
    if (!session->end)
        return;
    if (state->is != ACP_STATE_UPDATE_IDLE) {
        session->worked = true;
        return;
    }
    const struct acp_idle_state_update *idle = &state->idle;
    bool told = idle->is != ACP_IDLE_STATE_UPDATE_ABSENT;
    if (!session->worked && !(told && session->accepted))
        return; /* a state of before the prompt, told again */
    struct acp_str stop = told ? idle->tag : acp_str("end_turn");
    struct acp_outcome outcome = {.why = acp_str("")};
    if (idle->is == ACP_IDLE_STATE_UPDATE_ERROR) {
        const struct acp_error *error = idle->error.error;
        outcome = (struct acp_outcome){
            .err = ACP_ERR_REMOTE,
            .code = acp_is_set(error) ? error->code : ACP_ERROR_CODE_INTERNAL_ERROR,
            .why = acp_is_set(error) ? error->message : acp_str("the turn failed"),
        };
        stop = acp_str(NULL);
    }
    if (session->accepted || outcome.err) {
        client_end_turn(session, stop, &outcome);
    } else {
        free(session->stop);
        session->stop = acp_str_copy(stop);
    }
}

static bool agent_takes_block(const struct acp_client *client,
                              const struct acp_content_block *block)
{
    const struct acp_session_capabilities *session = session_capabilities(client);
    const struct acp_agent_capabilities *can = client->agent.agent_capabilities;
    const struct acp_prompt_capabilities *prompt =
        client_is_v2(client) ? (session ? session->prompt : NULL)
                             : (acp_is_set(can) ? can->prompt_capabilities : NULL);
    bool v2 = client_is_v2(client);
    if (block->is == ACP_CONTENT_BLOCK_TEXT || block->is == ACP_CONTENT_BLOCK_RESOURCE_LINK)
        return true;
    if (!acp_is_set(prompt))
        return false;
    switch (block->is) {
    case ACP_CONTENT_BLOCK_IMAGE:
        return v2 ? acp_is_set(prompt->image_v2) : prompt->image;
    case ACP_CONTENT_BLOCK_AUDIO:
        return v2 ? acp_is_set(prompt->audio_v2) : prompt->audio;
    case ACP_CONTENT_BLOCK_RESOURCE:
        return v2 ? acp_is_set(prompt->embedded_context_v2) : prompt->embedded_context;
    default:
        return false;
    }
}

int acp_client_prompt(struct acp_client_session *session, const struct acp_content_block *blocks,
                      size_t count, acp_turn_fn *end, void *user)
{
    struct acp_client *client = session->client;
    struct acp_prompt_request request;
    if (session->end || session->gone || client->closing)
        return ACP_ERR_STATE;
    for (size_t i = 0; i < count; i++)
        if (!agent_takes_block(client, &blocks[i]))
            return ACP_ERR_STATE;
    struct client_call *call =
        client_call_new(client, settle_prompt, ACP_TYPE_PROMPT_RESPONSE, NULL);
    if (!call)
        return ACP_ERR_NOMEM;
    call->id = acp_str_copy(acp_str(session->id));
    session->end = end;
    session->end_user = user;
    session->accepted = false;
    session->worked = false;
    session->cancelled = false;
    free(session->stop);
    session->stop = NULL;
    acp_prompt_request_init(&request, acp_str(session->id), blocks, count);
    int err = call->id ? client_send(call, "session/prompt", ACP_TYPE_PROMPT_REQUEST, &request, 0)
                       : ACP_ERR_NOMEM;
    if (err)
        session->end = NULL;
    else if (!client_is_v2(client))
        client_emit_state(session, ACP_WORK_RUNNING, NULL, acp_raw(NULL));
    return err;
}

int acp_client_cancel(struct acp_client_session *session)
{
    struct acp_client *client = session->client;
    struct acp_close_session_request note; /* holds the same as both versions' notification */
    if (!session->end && session->state == ACP_WORK_IDLE)
        return 0;
    acp_close_session_request_init(&note, acp_str(session->id));
    struct acp_json_writer *w = acp_peer_begin_notify(client->peer, acp_str("session/cancel"));
    if (!w)
        return acp_peer_is_closed(client->peer) ? ACP_ERR_CLOSED : ACP_ERR_LIMIT;
    (void) acp_close_session_request_encode(client->mode, &note, w, NULL);
    int err = acp_peer_commit(client->peer, NULL);
    session->cancelled = true;
    client_drop_questions(session);
    return err;
}

/* ---- Modes and options ----------------------------------------------------------------------- */

int acp_client_set_mode(struct acp_client_session *session, struct acp_str mode,
                        acp_client_fn *done, void *user)
{
    struct acp_client *client = session->client;
    if (client_is_v2(client))
        return acp_client_set_option(session, acp_str("mode"), mode, done, user);
    struct acp_set_session_mode_request request;
    acp_set_session_mode_request_init(&request, acp_str(session->id), mode);
    return send_done(client, "session/set_mode", ACP_TYPE_SET_SESSION_MODE_REQUEST, &request,
                     ACP_TYPE_SET_SESSION_MODE_RESPONSE, done, user);
}

static int set_config_option(struct acp_client_session *session,
                             const struct acp_set_session_config_option_request *request,
                             acp_client_fn *done, void *user)
{
    return send_done(session->client, "session/set_config_option",
                     ACP_TYPE_SET_SESSION_CONFIG_OPTION_REQUEST, request,
                     ACP_TYPE_SET_SESSION_CONFIG_OPTION_RESPONSE, done, user);
}

int acp_client_set_option(struct acp_client_session *session, struct acp_str option,
                          struct acp_str value, acp_client_fn *done, void *user)
{
    struct acp_set_session_config_option_request request;
    struct acp_str id = acp_str(session->id);
    if (client_is_v2(session->client))
        acp_set_session_config_option_request_init_id(&request, id, option, value);
    else
        acp_set_session_config_option_request_init_value_id(&request, id, option, value);
    return set_config_option(session, &request, done, user);
}

int acp_client_set_switch(struct acp_client_session *session, struct acp_str option, bool value,
                          acp_client_fn *done, void *user)
{
    struct acp_set_session_config_option_request request;
    acp_set_session_config_option_request_init_boolean(&request, acp_str(session->id), option,
                                                       value);
    return set_config_option(session, &request, done, user);
}

/* ---- Looking --------------------------------------------------------------------------------- */

struct acp_str acp_client_session_id(const struct acp_client_session *session)
{
    return acp_str(session->id);
}

struct acp_str acp_client_session_cwd(const struct acp_client_session *session)
{
    return acp_str(session->cwd);
}

struct acp_client *acp_client_session_client(const struct acp_client_session *session)
{
    return session->client;
}

void acp_client_session_set_user(struct acp_client_session *session, void *user)
{
    session->user = user;
}

void *acp_client_session_user(const struct acp_client_session *session)
{
    return session->user;
}

struct acp_client_session *acp_client_session(const struct acp_client *client, struct acp_str id)
{
    return acp_map_get(&client->sessions, id);
}

enum acp_work_state acp_client_session_state(const struct acp_client_session *session)
{
    return session->state;
}
