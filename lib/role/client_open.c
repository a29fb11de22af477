/*
 * Opening sessions: new ones, old ones with and without their history, copies of old ones.
 */
#include <stdlib.h>

#include "role/client_role.h"

/* ---- What may be asked for ------------------------------------------------------------------- */

static bool is_absolute(struct acp_str path)
{
    return path.len > 0 && path.ptr[0] == '/';
}

static bool agent_reaches(const struct acp_client *client, const struct acp_mcp_server *server)
{
    switch (server->is) {
    case ACP_MCP_SERVER_STDIO:
        return !client_is_v2(client) || client_has(client, NULL, "capabilities.session.mcp.stdio");
    case ACP_MCP_SERVER_HTTP:
        return client_has(client, "agentCapabilities.mcpCapabilities.http",
                          "capabilities.session.mcp.http");
    case ACP_MCP_SERVER_SSE:
        return client_has(client, "agentCapabilities.mcpCapabilities.sse", NULL);
    case ACP_MCP_SERVER_ACP:
        return client_has(client, "agentCapabilities.mcpCapabilities.acp",
                          "capabilities.session.mcp.acp");
    default:
        return false;
    }
}

static struct acp_str server_name(const struct acp_mcp_server *server)
{
    switch (server->is) {
    case ACP_MCP_SERVER_STDIO:
        return server->stdio.name;
    case ACP_MCP_SERVER_HTTP:
        return server->http.name;
    case ACP_MCP_SERVER_SSE:
        return server->sse.name;
    case ACP_MCP_SERVER_ACP:
        return server->acp.name;
    default:
        return acp_str_from("");
    }
}

static bool is_named_before(const struct acp_mcp_server_list *servers, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (acp_str_eq(server_name(&servers->items[i]), server_name(&servers->items[at])))
            return true;
    return false;
}

static int check_servers(struct acp_client *client, const struct acp_mcp_server_list *servers)
{
    for (size_t i = 0; i < servers->count; i++) {
        const struct acp_mcp_server *server = &servers->items[i];
        struct acp_str name = server_name(server);
        int len = (int) (name.len < 80 ? name.len : 80);
        if (server->is == ACP_MCP_SERVER_STDIO && !is_absolute(server->stdio.command))
            return client_decline(client, ACP_ERR_ARGUMENT,
                                  "the command of the MCP server %.*s must be an absolute path",
                                  len, name.ptr);
        if (client_is_v2(client) && is_named_before(servers, i))
            return client_decline(client, ACP_ERR_ARGUMENT, "two MCP servers are named %.*s", len,
                                  name.ptr);
        if (!agent_reaches(client, server))
            return client_decline(client, ACP_ERR_STATE,
                                  "the agent cannot reach an MCP server such as %.*s", len,
                                  name.ptr);
    }
    return 0;
}

static int check_system_prompt(struct acp_client *client, const struct acp_system_prompt *prompt)
{
    if (!prompt)
        return 0;
    if (!client_has(client, "agentCapabilities.sessionCapabilities.systemPrompt",
                    "capabilities.session.systemPrompt"))
        return client_decline(client, ACP_ERR_STATE, "the agent takes no system prompt");
    if (prompt->mode.is == ACP_SYSTEM_PROMPT_MODE_OVERRIDE &&
        !client_has(client, "agentCapabilities.sessionCapabilities.systemPrompt.mode.override",
                    "capabilities.session.systemPrompt.mode.override"))
        return client_decline(client, ACP_ERR_STATE,
                              "the agent does not let its own system prompt be replaced");
    return 0;
}

static int check_place(struct acp_client *client, const char *method,
                       const struct acp_session_params *place)
{
    int err = client_may(client, method);
    if (err)
        return err;
    if (!is_absolute(place->cwd))
        return client_decline(client, ACP_ERR_ARGUMENT,
                              "the working directory must be an absolute path");
    for (size_t i = 0; i < place->directories.count; i++)
        if (!is_absolute(place->directories.items[i]))
            return client_decline(client, ACP_ERR_ARGUMENT,
                                  "additional directories must be absolute paths");
    if (place->directories.count &&
        !client_has(client, "agentCapabilities.sessionCapabilities.additionalDirectories",
                    "capabilities.session.additionalDirectories"))
        return client_decline(client, ACP_ERR_STATE, "the agent takes no additional directories");
    err = check_servers(client, &place->mcp_servers);
    return err ? err : check_system_prompt(client, place->system_prompt);
}

/* Requests for MCP servers that live here are served once the agent knows of one. */
static void note_servers(struct acp_client *client, const struct acp_mcp_server_list *servers)
{
    for (size_t i = 0; i < servers->count; i++)
        if (servers->items[i].is == ACP_MCP_SERVER_ACP)
            client->serves_mcp = true;
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* The id that the answer gives to a new session; absent when it was known before. */
static struct acp_str new_id(const struct client_call *call, const struct acp_outcome *outcome)
{
    if (call->result_type == ACP_TYPE_NEW_SESSION_RESPONSE) {
        const struct acp_new_session_response *response = outcome->value;
        return response->session_id;
    }
    if (call->result_type == ACP_TYPE_FORK_SESSION_RESPONSE) {
        const struct acp_fork_session_response *response = outcome->value;
        return response->session_id;
    }
    return acp_str_from(NULL);
}

/* The session that was opened, with what the answer says of it.  ACP_ERR_LIMIT, ACP_ERR_NOMEM. */
static int take_opened(struct client_call *call, const struct acp_outcome *outcome,
                       struct acp_raw answer, struct acp_client_session **ret)
{
    struct acp_client *client = call->client;
    if (!call->id && new_id(call, outcome).len > CLIENT_MAX_ID)
        return ACP_ERR_LIMIT;
    if (!call->id)
        call->id = acp_str_copy(new_id(call, outcome));
    if (!call->id)
        return ACP_ERR_NOMEM;
    struct acp_client_session *session =
        client_add_session(client, acp_str_from(call->id), acp_str_from(call->cwd));
    int err = session ? client_take_settings(session, call->result_type, outcome->value, answer)
                      : ACP_ERR_NOMEM;
    if (err)
        return err;
    session->open = true;
    *ret = session;
    return 0;
}

/*
 * A session that could not be opened is none, and its history was shown in vain; unless it was open
 * before, or somebody else is still trying.
 */
static void give_up(struct client_call *call, int err)
{
    struct acp_client_session *session =
        call->id ? acp_map_get(&call->client->sessions, acp_str_from(call->id)) : NULL;
    if (session && !session->open && session->openers == 0)
        client_end_session(session, err);
}

/* Whether the program, which has just been called, has ended the session. */
static bool is_gone(const struct client_call *call, const struct acp_client_session *session)
{
    return acp_map_get(&call->client->sessions, acp_str_from(call->id)) != session;
}

static void settle_open(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_client *client = call->client;
    struct acp_outcome outcome = client_outcome(call, reply);
    struct acp_client_session *session =
        call->id ? acp_map_get(&client->sessions, acp_str_from(call->id)) : NULL;
    if (session && session->openers > 0)
        session->openers--;
    session = NULL;
    int err = outcome.err ? 0 : take_opened(call, &outcome, reply->result, &session);
    if (err)
        outcome = client_failed(client, err);
    if (outcome.err)
        give_up(call, outcome.err);
    call->then.session(client, session, &outcome, call->user);
    /* What came before the answer is older than the answer, so that is shown last. */
    if (!session || is_gone(call, session))
        return;
    if (client_deliver_early(session) && !is_gone(call, session))
        (void) client_take_settings(session, call->result_type, outcome.value, reply->result);
    if (!is_gone(call, session))
        client_emit_settings(session, call->result_type, outcome.value);
}

/* ---- The requests ---------------------------------------------------------------------------- */

/* id is absent where the answer gives it. */
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
    if (call->cwd && (!id.ptr || call->id))
        return call;
    client_call_free(call);
    return NULL;
}

int acp_client_new_session(struct acp_client *client, const struct acp_session_params *place,
                           acp_session_fn *done, void *user)
{
    struct acp_new_session_request request;
    int err = check_place(client, "session/new", place);
    if (err)
        return err;
    struct client_call *call = open_call(client, acp_str_from(NULL), place->cwd,
                                         ACP_TYPE_NEW_SESSION_RESPONSE, done, user);
    if (!call)
        return client_fail(client, ACP_ERR_NOMEM);
    acp_new_session_request_init(&request, place->cwd);
    request.additional_directories = place->directories;
    request.mcp_servers = place->mcp_servers;
    request.system_prompt = place->system_prompt;
    note_servers(client, &place->mcp_servers);
    return client_send(call, acp_str_from("session/new"), ACP_TYPE_NEW_SESSION_REQUEST, &request,
                       client->options.timeout_ms);
}

int acp_client_fork_session(struct acp_client *client, struct acp_str id,
                            const struct acp_session_params *place, acp_session_fn *done,
                            void *user)
{
    struct acp_fork_session_request request;
    int err = check_place(client, "session/fork", place);
    if (err)
        return err;
    struct client_call *call = open_call(client, acp_str_from(NULL), place->cwd,
                                         ACP_TYPE_FORK_SESSION_RESPONSE, done, user);
    if (!call)
        return client_fail(client, ACP_ERR_NOMEM);
    acp_fork_session_request_init(&request, id, place->cwd);
    request.additional_directories = place->directories;
    request.mcp_servers = place->mcp_servers;
    request.system_prompt = place->system_prompt;
    note_servers(client, &place->mcp_servers);
    return client_send(call, acp_str_from("session/fork"), ACP_TYPE_FORK_SESSION_REQUEST, &request,
                       client->options.timeout_ms);
}

/* Sends the request that opens an old session; takes the call, also when it fails. */
static int send_old(struct client_call *call, struct acp_str id,
                    const struct acp_session_params *place, bool replay)
{
    static const struct acp_replay_from from_start = {.is = ACP_REPLAY_FROM_START};
    uint64_t timeout_ms = call->client->options.timeout_ms;
    if (call->result_type == ACP_TYPE_LOAD_SESSION_RESPONSE) {
        struct acp_load_session_request request = {.session_id = id,
                                                   .cwd = place->cwd,
                                                   .additional_directories = place->directories,
                                                   .mcp_servers = place->mcp_servers,
                                                   .system_prompt = place->system_prompt};
        return client_send(call, acp_str_from("session/load"), ACP_TYPE_LOAD_SESSION_REQUEST,
                           &request, timeout_ms);
    }
    struct acp_resume_session_request request;
    acp_resume_session_request_init(&request, id, place->cwd);
    request.additional_directories = place->directories;
    request.mcp_servers = place->mcp_servers;
    request.system_prompt = place->system_prompt;
    request.replay_from = replay ? &from_start : NULL;
    return client_send(call, acp_str_from("session/resume"), ACP_TYPE_RESUME_SESSION_REQUEST,
                       &request, timeout_ms);
}

/* An old session is known from now on, so that its history finds it. */
static int open_old(struct acp_client *client, struct acp_str id,
                    const struct acp_session_params *place, bool replay, acp_session_fn *done,
                    void *user)
{
    bool v1_load = replay && !client_is_v2(client);
    int err = check_place(client, v1_load ? "session/load" : "session/resume", place);
    if (err)
        return err;
    bool known = acp_map_get(&client->sessions, id) != NULL;
    struct client_call *call = open_call(
        client, id, place->cwd,
        v1_load ? ACP_TYPE_LOAD_SESSION_RESPONSE : ACP_TYPE_RESUME_SESSION_RESPONSE, done, user);
    if (!call)
        return client_fail(client, ACP_ERR_NOMEM);
    struct acp_client_session *session = client_add_session(client, id, place->cwd);
    if (!session) {
        client_call_free(call);
        return client_fail(client, ACP_ERR_NOMEM);
    }
    note_servers(client, &place->mcp_servers);
    err = send_old(call, id, place, replay);
    if (!err)
        session->openers++;
    else if (!known)
        client_remove_session(session);
    return err;
}

int acp_client_load_session(struct acp_client *client, struct acp_str id,
                            const struct acp_session_params *place, acp_session_fn *done,
                            void *user)
{
    return open_old(client, id, place, true, done, user);
}

int acp_client_resume_session(struct acp_client *client, struct acp_str id,
                              const struct acp_session_params *place, acp_session_fn *done,
                              void *user)
{
    return open_old(client, id, place, false, done, user);
}
