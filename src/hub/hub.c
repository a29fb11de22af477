/* hub.c - the life of a hub: its clients, its timers, shutting down, its log. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"

enum {
    DEFAULT_START_MS = 5 * 60 * 1000, /* npx may have to download the agent */
    DEFAULT_STOP_MS = 2000,
    DEFAULT_LIST_MS = 10000,
};

/* ---- Methods --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum hub_method method;
} methods[] = {
    {"session/update", HUB_UPDATE},
    {"session/prompt", HUB_PROMPT},
    {"session/cancel", HUB_CANCEL},
    {"session/request_permission", HUB_PERMISSION},
    {"session/new", HUB_NEW},
    {"session/load", HUB_LOAD},
    {"session/resume", HUB_RESUME},
    {"session/fork", HUB_FORK},
    {"session/close", HUB_CLOSE},
    {"session/end", HUB_END},
    {"session/delete", HUB_DELETE},
    {"session/list", HUB_LIST},
    {"initialize", HUB_INITIALIZE},
    {"authenticate", HUB_LOGIN},
    {"auth/login", HUB_LOGIN},
    {"logout", HUB_LOGOUT},
    {"auth/logout", HUB_LOGOUT},
    {"elicitation/create", HUB_ELICITATION},
    {"$/cancel_request", HUB_CANCEL_REQUEST},
};

enum { METHOD_COUNT = sizeof(methods) / sizeof(methods[0]) };

enum hub_method hub_method_of(struct acp_str method)
{
    for (size_t i = 0; i < METHOD_COUNT; i++)
        if (acp_str_is(method, methods[i].name))
            return methods[i].method;
    return HUB_OTHER;
}

struct acp_str hub_method_name(enum hub_method method)
{
    for (size_t i = 0; i < METHOD_COUNT; i++)
        if (methods[i].method == method)
            return acp_str_from(methods[i].name);
    return acp_str_from(NULL);
}

/* ---- Clients --------------------------------------------------------------------------------- */

void hub_client_set_state(struct hub_client *client, enum hub_client_state state)
{
    bool again = state == HUB_CLIENT_NEW && client->state == HUB_CLIENT_INITIALIZING;
    assert(state > client->state || again);
    (void) again;
    client->state = state;
}

int hub_client_new(struct hub *hub, struct hub_client **ret)
{
    size_t most = hub->options.shared ? HUB_MAX_CLIENTS : 1;
    if (hub->client_count >= most)
        return ACP_ERR_LIMIT;
    struct hub_client *client = calloc(1, sizeof(*client));
    int err = client ? hub_connection_init(&client->connection, hub, HUB_CLIENT) : ACP_ERR_NOMEM;
    if (err) {
        free(client);
        return err;
    }
    hub_queue_init(&client->early);
    client->number = ++hub->last_client;
    client->next = hub->clients;
    hub->clients = client;
    hub->client_count++;
    *ret = client;
    return 0;
}

/* The agents that have asked it get an error; a question waits for somebody else. */
static void fail_asked(struct hub_client *client)
{
    for (;;) {
        size_t cursor = 0;
        struct hub_request *request = acp_numbers_next(&client->connection.asked, &cursor);
        if (!request)
            return;
        if (request->question)
            hub_question_drop_copy(request);
        else
            hub_request_fail(request, RPC_INTERNAL_ERROR, acp_str_from("the client has gone"));
    }
}

/* Answers to its requests are for nobody. */
static void drop_requests(struct hub_client *client)
{
    struct hub *hub = client->connection.hub;
    struct hub_request *request;
    while ((request = client->connection.requests)) {
        if (request->listing) {
            struct hub_request *asked = request;
            hub_list_drop(hub, asked);
            hub_request_close(asked);
            continue;
        }
        bool turn = request->method == HUB_PROMPT && hub->options.shared;
        if (!turn && request->method != HUB_NEW && request->method != HUB_FORK)
            hub_request_send_cancel(request);
        hub_request_orphan(request);
    }
}

static void cancel_turns(struct hub_client *client)
{
    for (struct hub_attachment *a = client->attachments; a; a = a->next_of_client)
        hub_session_cancel(a->session);
}

void hub_client_drop(struct hub_client *client)
{
    if (client->state == HUB_CLIENT_CLOSING)
        return;
    hub_client_set_state(client, HUB_CLIENT_CLOSING);
    if (!client->connection.hub->options.shared)
        cancel_turns(client);
    fail_asked(client);
    drop_requests(client);
    while (client->attachments)
        hub_session_detach(client->attachments->session, client);
}

void hub_client_free(struct hub_client *client)
{
    if (!client)
        return;
    struct hub *hub = client->connection.hub;
    hub_client_drop(client);
    struct hub_client **link = &hub->clients;
    while (*link != client)
        link = &(*link)->next;
    *link = client->next;
    hub->client_count--;
    hub_connection_finish(&client->connection);
    hub_queue_finish(&client->early);
    free(client->initialize_id);
    free(client);
}

struct acp_endpoint *hub_client_endpoint(struct hub_client *client)
{
    return client->connection.endpoint;
}

/* ---- Time ------------------------------------------------------------------------------------ */

void hub_advance(struct hub *hub, uint64_t now)
{
    if (now > hub->now)
        hub->now = now;
}

uint64_t hub_deadline(const struct hub *hub)
{
    uint64_t due_at = hub_list_deadline(hub);
    if (hub->state == HUB_SHUTTING_DOWN && hub->stop_at < due_at)
        due_at = hub->stop_at;
    for (const struct hub_agent *agent = hub->agents; agent; agent = agent->next)
        if (agent->due_at < due_at)
            due_at = agent->due_at;
    return due_at;
}

void hub_wake(struct hub *hub)
{
    if (hub->handler.wake)
        hub->handler.wake(hub->user);
}

static void stop_agents(struct hub *hub)
{
    struct hub_agent *next;
    for (struct hub_agent *agent = hub->agents; agent; agent = next) {
        next = agent->next;
        hub_agent_stop(agent, NULL);
    }
    hub->stop_at = UINT64_MAX;
}

void hub_tick(struct hub *hub, uint64_t now)
{
    hub_advance(hub, now);
    hub_list_tick(hub);
    hub_agents_tick(hub);
    if (hub->state == HUB_SHUTTING_DOWN && hub->stop_at <= now)
        stop_agents(hub);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void set_state(struct hub *hub, enum hub_state state)
{
    assert(state > hub->state);
    hub->state = state;
}

void hub_check_ended(struct hub *hub)
{
    if (hub->state != HUB_SHUTTING_DOWN || hub->agent_count)
        return;
    set_state(hub, HUB_ENDED);
    if (hub->handler.ended)
        hub->handler.ended(hub->user);
}

/* Nothing is open any more, so it need not be waited for. */
static void stop_if_done(struct hub_agent *agent)
{
    if (agent->state == HUB_AGENT_STARTING || !agent->connection.asked.count)
        hub_agent_stop(agent, NULL);
}

static void close_sessions(struct hub_agent *agent)
{
    for (struct hub_session *s = agent->sessions; s; s = s->next) {
        hub_session_cancel(s);
        if (agent->can.close && s->state != HUB_SESSION_REOPENING)
            hub_session_send_close(s);
    }
}

void hub_shut_down(struct hub *hub, uint64_t now)
{
    struct hub_agent *next;
    hub_advance(hub, now);
    if (hub->state != HUB_OPEN)
        return;
    set_state(hub, HUB_SHUTTING_DOWN);
    hub->stop_at = hub->now + hub->options.stop_ms;
    for (struct hub_agent *agent = hub->agents; agent; agent = next) {
        next = agent->next;
        close_sessions(agent);
        stop_if_done(agent);
    }
    hub_wake(hub);
    hub_check_ended(hub);
}

void hub_agent_answered(struct hub_agent *agent)
{
    if (agent->connection.hub->state == HUB_SHUTTING_DOWN)
        stop_if_done(agent);
}

size_t hub_session_count(const struct hub *hub)
{
    return hub->sessions.count;
}

size_t hub_agent_count(const struct hub *hub)
{
    return hub->agent_count;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void set_default(uint64_t *value, uint64_t by)
{
    if (!*value)
        *value = by;
}

static void set_default_size(size_t *value, size_t by)
{
    if (!*value)
        *value = by;
}

int hub_new(const struct hub_options *options, const struct hub_handler *handler, void *user,
            struct hub **ret)
{
    struct hub *hub = calloc(1, sizeof(*hub));
    if (!hub)
        return ACP_ERR_NOMEM;
    hub->options = *options;
    set_default(&hub->options.start_ms, DEFAULT_START_MS);
    set_default(&hub->options.stop_ms, DEFAULT_STOP_MS);
    set_default(&hub->options.list_ms, DEFAULT_LIST_MS);
    set_default_size(&hub->options.max_message, ACP_WIRE_DEFAULT_MAX);
    set_default_size(&hub->options.max_output, HUB_MAX_OUTPUT);
    set_default_size(&hub->options.max_sessions, HUB_MAX_SESSIONS);
    set_default_size(&hub->options.max_agents, HUB_MAX_AGENTS);
    hub->handler = *handler;
    hub->user = user;
    hub->version = 1;
    acp_map_init(&hub->sessions, (uint64_t) (uintptr_t) hub);
    acp_buf_init(&hub->initialize, HUB_MAX_INITIALIZE);
    acp_buf_init(&hub->initialized, HUB_MAX_INITIALIZE);
    acp_buf_init(&hub->login, HUB_MAX_LOGIN);
    *ret = hub;
    return 0;
}

static void free_agents(struct hub *hub)
{
    while (hub->agents) {
        struct hub_agent *agent = hub->agents;
        hub->agents = agent->next;
        hub->agent_count--;
        hub_queue_finish(&agent->waiting);
        while (agent->sessions)
            hub_session_free(agent->sessions);
        while (agent->connection.requests)
            hub_request_close(agent->connection.requests);
        for (;;) {
            size_t cursor = 0;
            struct hub_request *request = acp_numbers_next(&agent->connection.asked, &cursor);
            if (!request)
                break;
            hub_request_close(request);
        }
        hub_agent_free(agent);
    }
}

void hub_free(struct hub *hub)
{
    if (!hub)
        return;
    assert(!hub->clients);
    free_agents(hub);
    while (hub->lost)
        hub_session_free(hub->lost);
    while (hub->workspaces) {
        hub->workspaces->uses = 1;
        hub_workspace_release(hub, hub->workspaces);
    }
    acp_map_finish(&hub->sessions);
    acp_buf_finish(&hub->initialize);
    acp_buf_finish(&hub->initialized);
    acp_buf_finish(&hub->login);
    free(hub);
}

/* ---- Help for the others --------------------------------------------------------------------- */

ACP_PRINTF(3, 0)
static void log_entry(struct hub *hub, struct hub_log_entry *entry, const char *format,
                      va_list args)
{
    char text[1024];
    int n = vsnprintf(text, sizeof(text), format, args);
    if (n < 0)
        return;
    entry->text = acp_str_n(text, (size_t) n < sizeof(text) ? (size_t) n : sizeof(text) - 1);
    hub->handler.log(entry, hub->user);
}

void hub_log(struct hub *hub, enum hub_log_level level, const struct hub_agent *agent,
             const char *format, ...)
{
    va_list args;
    struct hub_log_entry entry = {.level = level,
                                  .workspace = acp_str_from(agent ? agent->workspace->path : "")};
    va_start(args, format);
    if (hub->handler.log)
        log_entry(hub, &entry, format, args);
    va_end(args);
}

/* The beginning of an id tells sessions apart, and is of no use to anybody else. */
enum { SHOWN_ID = 8 };

void hub_session_log(const struct hub_session *session, enum hub_log_level level,
                     const char *format, ...)
{
    va_list args;
    size_t n = session->public_id.len - 2;
    struct hub_log_entry entry = {
        .level = level,
        .workspace = acp_str_from(session->workspace->path),
        .session = acp_str_n(session->public_id.ptr + 1, n < SHOWN_ID ? n : SHOWN_ID)};
    va_start(args, format);
    if (session->hub->handler.log)
        log_entry(session->hub, &entry, format, args);
    va_end(args);
}

char *hub_copy(struct acp_raw text, size_t most)
{
    return text.ptr && text.len <= most ? acp_str_dup(acp_str_n(text.ptr, text.len)) : NULL;
}
