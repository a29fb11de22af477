/*
 * hub_initialize.c - the handshake: a client's initialize is passed on to the first agent, and its
 * answer is the answer to the client.  Agents that are started later get the same request, and the
 * login that has succeeded before.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"
#include "json/members.h"

/* ---- What an agent can do -------------------------------------------------------------------- */

static struct acp_raw member(struct acp_raw object, const char *name)
{
    struct acp_raw value = {NULL, 0};
    return acp_json_member_raw(object, name, &value) ? (struct acp_raw){0} : value;
}

/* A capability is an object, or true. */
static bool has(struct acp_raw object, const char *name)
{
    struct acp_raw value = member(object, name);
    return value.ptr && value.ptr[0] != 'n' && value.ptr[0] != 'f';
}

static struct hub_capabilities read_capabilities(struct acp_raw result)
{
    struct hub_capabilities can = {.version = 1};
    (void) acp_json_member_i64(result, "protocolVersion", &can.version);
    struct acp_raw old = member(result, "agentCapabilities");
    struct acp_raw sessions = member(old, "sessionCapabilities");
    if (can.version < 2) {
        can.load = has(old, "loadSession");
        can.resume = has(sessions, "resume");
        can.list = has(sessions, "list");
        can.close = has(sessions, "close");
    } else {
        can.resume = can.list = can.close = has(member(result, "capabilities"), "session");
    }
    return can;
}

/*
 * MCP over ACP is not offered: its messages to the agent name neither a session nor anything else
 * by which the right one of several agents could be found.
 */
static struct acp_splice mask_mcp(const struct hub_capabilities *can, struct acp_raw result)
{
    bool old = can->version < 2;
    struct acp_raw where = member(result, old ? "agentCapabilities" : "capabilities");
    struct acp_raw mcp =
        old ? member(where, "mcpCapabilities") : member(member(where, "session"), "mcp");
    struct acp_raw acp = member(mcp, "acp");
    return (struct acp_splice){acp, acp_raw_from(old ? "false" : "null")};
}

/* ---- Clients --------------------------------------------------------------------------------- */

/* The stored answer of the first agent, or its error, with the id of the client's request. */
static void answer_client(struct hub_client *client, struct acp_raw text, struct acp_raw id)
{
    struct acp_scan scan;
    if (acp_scan_message(text, acp_str_from(NULL), &scan, NULL))
        return; /* it was scanned before */
    struct acp_splice splice = {scan.id, id};
    hub_send(&client->connection, text, &splice, 1);
}

/* The caller frees it. */
static char *take_id(struct hub_client *client)
{
    char *id = client->initialize_id;
    client->initialize_id = NULL;
    return id;
}

static void serve_early(struct hub *hub)
{
    for (struct hub_client *client = hub->clients; client; client = client->next)
        hub_client_serve_early(client);
}

/* Each client that waits gets the answer; with failed, an error, and may try again. */
static void answer_waiting(struct hub *hub, struct acp_raw text, bool failed)
{
    for (struct hub_client *client = hub->clients; client; client = client->next) {
        if (client->state != HUB_CLIENT_INITIALIZING)
            continue;
        char *id = take_id(client);
        hub_client_set_state(client, failed ? HUB_CLIENT_NEW : HUB_CLIENT_INITIALIZED);
        answer_client(client, text, acp_raw_from(id));
        free(id);
    }
    if (failed)
        acp_buf_clear(&hub->initialize);
    serve_early(hub);
}

void hub_fail_initialize(struct hub *hub, struct acp_str why)
{
    for (struct hub_client *client = hub->clients; client; client = client->next) {
        if (client->state != HUB_CLIENT_INITIALIZING)
            continue;
        char *id = take_id(client);
        hub_client_set_state(client, HUB_CLIENT_NEW);
        hub_send_error(&client->connection, acp_raw_from(id), RPC_INTERNAL_ERROR, why);
        free(id);
    }
    acp_buf_clear(&hub->initialize);
    serve_early(hub);
}

void hub_initialize_client(struct hub_client *client, const struct hub_message *message)
{
    struct hub *hub = client->connection.hub;
    struct acp_raw id = message->scan.id;
    struct acp_failure failure = {0};
    if (client->state != HUB_CLIENT_NEW) {
        hub_send_error(&client->connection, id, RPC_INVALID_REQUEST,
                       acp_str_from("initialize was sent before"));
        return;
    }
    if (hub->initialized.len) {
        hub_client_set_state(client, HUB_CLIENT_INITIALIZED);
        struct acp_str text = acp_buf_view(&hub->initialized);
        answer_client(client, acp_raw_n(text.ptr, text.len), id);
        return;
    }
    if (!hub->initialize.len &&
        acp_buf_append(&hub->initialize, message->text.ptr, message->text.len)) {
        hub_send_error(&client->connection, id, RPC_INVALID_REQUEST,
                       acp_str_from("initialize is larger than the limit of 1 MiB"));
        return;
    }
    client->initialize_id = acp_str_dup(acp_str_n(id.ptr, id.len));
    if (!client->initialize_id) {
        hub_connection_close(&client->connection, ACP_ERR_NOMEM);
        return;
    }
    hub_client_set_state(client, HUB_CLIENT_INITIALIZING);
    if (!hub->first && hub_start_first(hub, &failure))
        hub_fail_initialize(hub, acp_str_from(failure.message));
}

/* ---- Agents ---------------------------------------------------------------------------------- */

static void on_login(struct hub_request *request, const struct hub_message *message)
{
    struct hub_agent *agent = (struct hub_agent *) request->to;
    if (!message)
        return;
    if (!message->scan.result.ptr)
        hub_log(agent->connection.hub, HUB_LOG_WARNING, agent,
                "the agent has refused the login that another one has accepted");
    hub_agent_set_ready(agent);
}

/* Sends a request of a client once more, as one of the hub. */
static int repeat(struct hub_agent *agent, const struct acp_buf *kept, enum hub_method method,
                  hub_reply_fn *reply)
{
    char number[HUB_NUMBER_SIZE];
    struct acp_raw text = acp_raw_n(acp_buf_view(kept).ptr, kept->len);
    struct hub_request *request;
    struct acp_scan scan;
    int err = acp_scan_message(text, acp_str_from(NULL), &scan, NULL);
    if (!err)
        err =
            hub_request_open(NULL, acp_raw_from(NULL), &agent->connection, method, NULL, &request);
    if (err)
        return err;
    request->reply = reply;
    struct acp_splice splice = {scan.id, hub_number_text(request->number, number)};
    hub_send(&agent->connection, text, &splice, 1);
    return 0;
}

static void greet_ready(struct hub_agent *agent)
{
    struct hub *hub = agent->connection.hub;
    if (!hub->login.len || repeat(agent, &hub->login, HUB_LOGIN, on_login))
        hub_agent_set_ready(agent);
}

/* Another agent must be like the first, because clients were told what that one can do. */
static void check_version(struct hub_agent *agent)
{
    struct hub *hub = agent->connection.hub;
    char why[120];
    if (agent->can.version == hub->version) {
        greet_ready(agent);
        return;
    }
    (void) snprintf(why, sizeof(why),
                    "it speaks version %lld of the protocol, the first version %lld",
                    (long long) agent->can.version, (long long) hub->version);
    hub_agent_stop(agent, why);
}

static int keep_answer(struct hub *hub, const struct hub_agent *agent,
                       const struct hub_message *message)
{
    struct acp_splice splice = mask_mcp(&agent->can, message->scan.result);
    hub->version = agent->can.version;
    return acp_scan_splice_all(message->text, &splice, 1, &hub->initialized);
}

static void on_initialized(struct hub_request *request, const struct hub_message *message)
{
    struct hub_agent *agent = (struct hub_agent *) request->to;
    struct hub *hub = agent->connection.hub;
    if (!message)
        return; /* the agent has ended, and tells it */
    if (!message->scan.result.ptr) {
        if (!hub->initialized.len)
            answer_waiting(hub, message->text, true);
        hub_agent_stop(agent, "it has answered initialize with an error");
        return;
    }
    agent->can = read_capabilities(message->scan.result);
    if (hub->initialized.len) {
        check_version(agent);
        return;
    }
    int err = keep_answer(hub, agent, message);
    if (err) {
        hub_agent_stop(agent, "its answer to initialize is larger than the limit of 1 MiB");
        return;
    }
    struct acp_str text = acp_buf_view(&hub->initialized);
    greet_ready(agent);
    answer_waiting(hub, acp_raw_n(text.ptr, text.len), false);
}

void hub_initialize_agent(struct hub_agent *agent)
{
    if (repeat(agent, &agent->connection.hub->initialize, HUB_INITIALIZE, on_initialized))
        hub_agent_stop(agent, "out of memory");
}

/* The request has the message as its setup. */
void hub_keep_login(struct hub *hub, const struct hub_request *request)
{
    acp_buf_clear(&hub->login);
    if (!request->setup || acp_buf_append_str(&hub->login, acp_str_from(request->setup)))
        hub_log(hub, HUB_LOG_WARNING, NULL,
                "the login is too long to be repeated for other agents");
}
