/*
 * hub_agent.c - the life of an agent: started for a workspace, asked to initialize, ready, ended
 * when it has nothing to do, and what happens to its sessions and requests when it is gone.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"

static struct hub *hub_of(const struct hub_agent *agent)
{
    return agent->connection.hub;
}

static void set_state(struct hub_agent *agent, enum hub_agent_state state)
{
    assert(state > agent->state || (state == HUB_AGENT_STARTING && !agent->state));
    agent->state = state;
    /* Whoever wants an agent from now on gets another one. */
    if (state >= HUB_AGENT_DRAINING && hub_of(agent)->first == agent)
        hub_of(agent)->first = NULL;
}

/* ---- Workspaces ------------------------------------------------------------------------------ */

struct hub_workspace *hub_workspace_get(struct hub *hub, const char *path)
{
    size_t n = strlen(path) + 1;
    struct hub_workspace *w = hub->workspaces;
    while (w && strcmp(w->path, path) != 0)
        w = w->next;
    if (!w && (w = calloc(1, sizeof(*w) + n))) {
        memcpy(w->path, path, n);
        w->next = hub->workspaces;
        hub->workspaces = w;
    }
    if (w)
        w->uses++;
    return w;
}

void hub_workspace_release(struct hub *hub, struct hub_workspace *workspace)
{
    if (!workspace || --workspace->uses)
        return;
    struct hub_workspace **link = &hub->workspaces;
    while (*link != workspace)
        link = &(*link)->next;
    *link = workspace->next;
    free(workspace);
}

void hub_workspace_keep(struct hub *hub, const char *path)
{
    if (hub->kept_workspaces >= HUB_MAX_WORKSPACES)
        return; /* its sessions can still be loaded, which names the directory */
    struct hub_workspace *w = hub_workspace_get(hub, path);
    if (!w || w->kept) {
        hub_workspace_release(hub, w);
        return;
    }
    w->kept = true;
    hub->kept_workspaces++;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static bool is_working(const struct hub_agent *agent)
{
    if (agent->connection.asked.count || agent->connection.opened.count)
        return true;
    /* Sessions that cannot be opened again need their agent. */
    bool replaceable = agent->can.load || agent->can.resume;
    for (const struct hub_session *s = agent->sessions; s; s = s->next)
        if (s->turns || s->questions || !replaceable || !s->setup)
            return true;
    return false;
}

/*
 * The time counts from the last work; whether there is some is looked at when it is over, so that
 * this costs nothing for each message.
 */
void hub_agent_note_work(struct hub_agent *agent)
{
    struct hub *hub = hub_of(agent);
    if (agent->state != HUB_AGENT_READY || !hub->options.idle_ms)
        return;
    bool first = agent->due_at == UINT64_MAX;
    agent->due_at = hub->now + hub->options.idle_ms;
    if (first)
        hub_wake(hub);
}

static void lose_sessions(struct hub_agent *agent, struct acp_str sentence)
{
    while (agent->sessions) {
        struct hub_session *session = agent->sessions;
        hub_queue_fail(&session->waiting, NULL, sentence);
        if (session->state == HUB_SESSION_OPENING)
            hub_session_free(session);
        else
            hub_session_lose(session);
    }
}

static void end_idle(struct hub_agent *agent)
{
    struct hub *hub = hub_of(agent);
    if (is_working(agent)) {
        agent->due_at = hub->now + hub->options.idle_ms;
        return;
    }
    hub_log(hub, HUB_LOG_INFO, agent, "the agent is idle and is ended");
    /* Now, so that a message that comes before its end starts another one. */
    lose_sessions(agent, acp_str_from(NULL));
    hub_agent_stop(agent, NULL);
}

static void agent_tick(struct hub_agent *agent)
{
    if (agent->state == HUB_AGENT_STARTING)
        hub_agent_stop(agent, "it has not answered initialize in time");
    else if (agent->state == HUB_AGENT_READY)
        end_idle(agent);
    else
        agent->due_at = UINT64_MAX;
}

void hub_agents_tick(struct hub *hub)
{
    for (struct hub_agent *agent = hub->agents; agent; agent = agent->next)
        if (agent->due_at <= hub->now)
            agent_tick(agent);
}

/* ---- The end --------------------------------------------------------------------------------- */

/* What it has asked clients for is not wanted any more. */
static void withdraw_requests(struct hub_agent *agent)
{
    while (agent->connection.requests) {
        struct hub_request *request = agent->connection.requests;
        hub_request_send_cancel(request);
        hub_request_close(request);
    }
}

static void fail_requests(struct hub_agent *agent, struct acp_str sentence)
{
    for (;;) {
        size_t cursor = 0;
        struct hub_request *request = acp_numbers_next(&agent->connection.asked, &cursor);
        if (!request)
            return;
        hub_request_fail(request, RPC_INTERNAL_ERROR, sentence);
    }
}

static void unlink_agent(struct hub_agent *agent)
{
    struct hub *hub = hub_of(agent);
    struct hub_agent **link = &hub->agents;
    while (*link != agent)
        link = &(*link)->next;
    *link = agent->next;
    hub->agent_count--;
    for (struct hub_client *client = hub->clients; client; client = client->next)
        if (client->wants_login == agent)
            client->wants_login = NULL;
}

/* Everybody who waits for it is told, its sessions are lost, its memory is freed. */
static void bury(struct hub_agent *agent, struct acp_str sentence)
{
    struct hub *hub = hub_of(agent);
    char text[1024];
    (void) snprintf(text, sizeof(text), "the agent %s has ended: %s%s%.*s", hub->options.name,
                    agent->reason, *agent->reason && sentence.len ? "; " : "", ACP_ARG(sentence));
    set_state(agent, HUB_AGENT_DEAD);
    agent->connection.closed = true;
    if (!hub->initialized.len && (!hub->first || hub->first == agent))
        hub_fail_initialize(hub, acp_str_from(text));
    hub_queue_fail(&agent->waiting, NULL, acp_str_from(text));
    lose_sessions(agent, acp_str_from(text));
    withdraw_requests(agent);
    fail_requests(agent, acp_str_from(text));
    unlink_agent(agent);
    hub_agent_free(agent);
    hub_check_ended(hub);
}

static void on_ended(struct acp_str sentence, void *user)
{
    struct hub_agent *agent = user;
    bool wanted = agent->state == HUB_AGENT_DRAINING;
    hub_log(hub_of(agent), wanted ? HUB_LOG_INFO : HUB_LOG_ERROR, agent, "%.*s", ACP_ARG(sentence));
    bury(agent, sentence);
}

static void on_errors(struct acp_str line, void *user)
{
    struct hub_agent *agent = user;
    const struct hub *hub = hub_of(agent);
    struct hub_log_entry entry = {.level = HUB_LOG_INFO,
                                  .text = line,
                                  .workspace = acp_str_from(agent->workspace->path),
                                  .agent_stderr = true};
    if (hub->handler.log)
        hub->handler.log(&entry, hub->user);
}

void hub_agent_stop(struct hub_agent *agent, const char *reason)
{
    if (agent->state >= HUB_AGENT_DRAINING)
        return;
    set_state(agent, HUB_AGENT_DRAINING);
    agent->due_at = UINT64_MAX;
    if (reason) {
        (void) snprintf(agent->reason, sizeof(agent->reason), "%s", reason);
        hub_log(hub_of(agent), HUB_LOG_WARNING, agent, "the agent is ended: %s", reason);
    }
    if (agent->paused)
        agent->process->class->pause(agent->process, false);
    agent->process->class->stop(agent->process);
}

void hub_agent_pause(struct hub_agent *agent, bool pause)
{
    if (agent->paused == pause || agent->state >= HUB_AGENT_DRAINING)
        return;
    agent->paused = pause;
    agent->process->class->pause(agent->process, pause);
}

void hub_agent_free(struct hub_agent *agent)
{
    if (agent->process)
        agent->process->class->free(agent->process);
    hub_queue_finish(&agent->waiting);
    acp_map_finish(&agent->by_id);
    hub_workspace_release(hub_of(agent), agent->workspace);
    hub_connection_finish(&agent->connection);
    free(agent);
}

/* ---- The start ------------------------------------------------------------------------------- */

static int start_process(struct hub_agent *agent, struct acp_failure *failure)
{
    static const struct hub_process_handler handler = {.errors = on_errors, .ended = on_ended};
    struct hub_launch launch = {.workspace = agent->workspace->path,
                                .endpoint = agent->connection.endpoint,
                                .handler = &handler,
                                .user = agent};
    struct hub_launcher *launcher = hub_of(agent)->options.launcher;
    return launcher->start(launcher, &launch, &agent->process, failure);
}

static int make_agent(struct hub *hub, const char *path, struct hub_agent **ret,
                      struct acp_failure *failure)
{
    struct hub_agent *agent = calloc(1, sizeof(*agent));
    int err = agent ? hub_connection_init(&agent->connection, hub, HUB_AGENT) : ACP_ERR_NOMEM;
    if (err) {
        free(agent);
        return err;
    }
    hub_queue_init(&agent->waiting);
    acp_map_init(&agent->by_id, (uint64_t) (uintptr_t) agent);
    agent->serial = ++hub->last_agent;
    agent->due_at = hub->now + hub->options.start_ms;
    agent->workspace = hub_workspace_get(hub, path);
    err = agent->workspace ? start_process(agent, failure) : ACP_ERR_NOMEM;
    if (err) {
        hub_agent_free(agent);
        return err;
    }
    *ret = agent;
    return 0;
}

static int start_agent(struct hub *hub, const char *path, struct hub_agent **ret,
                       struct acp_failure *failure)
{
    struct hub_agent *agent;
    if (hub->agent_count >= hub->options.max_agents) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "%zu agents run, which is the limit", hub->agent_count);
        return ACP_ERR_LIMIT;
    }
    (void) snprintf(failure->message, sizeof(failure->message), "out of memory");
    int err = make_agent(hub, path, &agent, failure);
    if (err)
        return err;
    agent->next = hub->agents;
    hub->agents = agent;
    hub->agent_count++;
    hub_log(hub, HUB_LOG_INFO, agent, "the agent was started");
    hub_initialize_agent(agent);
    hub_wake(hub);
    *ret = agent;
    return 0;
}

/* With an agent for each session, one that has no session yet is used first. */
int hub_agent_get(struct hub *hub, const char *path, struct hub_agent **ret,
                  struct acp_failure *failure)
{
    for (struct hub_agent *agent = hub->agents; agent; agent = agent->next) {
        bool free_for_use =
            !hub->options.agent_per_session ||
            (!agent->session_count && !agent->waiting.count && !agent->connection.asked.count);
        if (agent->state < HUB_AGENT_DRAINING && free_for_use &&
            strcmp(agent->workspace->path, path) == 0) {
            *ret = agent;
            return 0;
        }
    }
    if (hub->state != HUB_OPEN) {
        (void) snprintf(failure->message, sizeof(failure->message), "acp is shutting down");
        return ACP_ERR_CLOSED;
    }
    return start_agent(hub, path, ret, failure);
}

/* ---- Messages to it -------------------------------------------------------------------------- */

/* Sends a message with our ids replaced by the agent's, and paths by its own; false: refused. */
static bool splice_to_agent(struct hub_agent *agent, const struct hub_message *message,
                            const struct acp_splice *splices, size_t count)
{
    const struct hub_path_map *paths = agent->process->paths;
    struct acp_buf spliced;
    struct acp_buf mapped;
    struct acp_scan scan;
    if (!paths) {
        hub_send(&agent->connection, message->text, splices, count);
        return true;
    }
    acp_buf_init(&spliced, hub_of(agent)->options.max_output);
    acp_buf_init(&mapped, hub_of(agent)->options.max_output);
    int err = acp_scan_splice_all(message->text, splices, count, &spliced);
    struct acp_raw text = acp_raw_n(acp_buf_view(&spliced).ptr, spliced.len);
    if (!err)
        err = acp_scan_message(text, acp_str_from(NULL), &scan, NULL);
    if (!err)
        err = paths->to_agent(paths->user, message->method_text, &scan, text, &mapped);
    if (!err)
        hub_send(&agent->connection, acp_raw_n(acp_buf_view(&mapped).ptr, mapped.len), NULL, 0);
    acp_buf_finish(&spliced);
    acp_buf_finish(&mapped);
    return err == 0;
}

void hub_agent_send(struct hub_agent *agent, struct hub_request *request,
                    const struct hub_session *session, const struct hub_message *message)
{
    char number[HUB_NUMBER_SIZE];
    struct acp_splice splices[2] = {{.span = {0}}};
    if (request)
        splices[0] =
            (struct acp_splice){message->scan.id, hub_number_text(request->number, number)};
    if (session && message->scan.session_id.ptr)
        splices[1] = (struct acp_splice){message->scan.session_id, session->agent_id};
    if (!splice_to_agent(agent, message, splices, 2) && request)
        hub_request_fail(request, RPC_INVALID_PARAMS,
                         acp_str_from("a path in this message is outside of what the agent sees"));
}

void hub_agent_send_reply(struct hub_agent *agent, const struct hub_request *request,
                          const struct hub_message *message)
{
    struct acp_raw id = acp_raw_n(request->id, request->id_len);
    struct acp_splice splices[2] = {{message->scan.id, id}};
    if (request->session && message->scan.session_id.ptr)
        splices[1] = (struct acp_splice){message->scan.session_id, request->session->agent_id};
    if (!splice_to_agent(agent, message, splices, 2))
        hub_send_error(&agent->connection, id, RPC_INTERNAL_ERROR,
                       acp_str_from("a path in the answer is outside of what the agent sees"));
}

static void keep_message(struct hub_agent *agent, struct hub_request *request,
                         struct hub_session *session, const struct hub_message *message)
{
    int err = hub_queue_add(&agent->waiting, request, session, message->text);
    if (!err)
        return;
    hub_log(hub_of(agent), HUB_LOG_WARNING, agent, "too many messages wait for the agent");
    if (request)
        hub_request_fail(request, RPC_INTERNAL_ERROR,
                         acp_str_from("too many messages wait for the agent"));
}

void hub_agent_pass(struct hub_agent *agent, struct hub_request *request,
                    struct hub_session *session, const struct hub_message *message)
{
    if (agent->state == HUB_AGENT_STARTING)
        keep_message(agent, request, session, message);
    else
        hub_agent_send(agent, request, session, message);
}

/* The agent's id is put in before the message may have to wait. */
void hub_agent_pass_id(struct hub_agent *agent, struct hub_request *request,
                       struct acp_str agent_id, const struct hub_message *message)
{
    struct hub_message named = *message;
    struct acp_buf id;
    struct acp_buf text;
    acp_buf_init(&id, 8 * HUB_MAX_SESSION_ID);
    acp_buf_init(&text, message->text.len + 8 * (size_t) HUB_MAX_SESSION_ID);
    int err = hub_write_id(&id, agent_id);
    struct acp_splice splice = {message->scan.session_id, acp_raw_n(acp_buf_view(&id).ptr, id.len)};
    if (!err)
        err = acp_scan_splice_all(message->text, &splice, 1, &text);
    named.text = acp_raw_n(acp_buf_view(&text).ptr, text.len);
    if (!err)
        err = acp_scan_message(named.text, acp_str_from(NULL), &named.scan, NULL);
    if (!err)
        hub_agent_pass(agent, request, NULL, &named);
    else if (request)
        hub_request_fail(request, RPC_INTERNAL_ERROR, acp_str_from(acp_err_text(err)));
    acp_buf_finish(&id);
    acp_buf_finish(&text);
}

static void send_waiting(struct hub_agent *agent, struct hub_waiting *waiting)
{
    struct hub_message message;
    if (hub_message_read(&agent->connection, acp_raw_n(waiting->text, waiting->len), &message))
        hub_agent_send(agent, waiting->request, waiting->session, &message);
}

void hub_agent_send_queue(struct hub_agent *agent, struct hub_queue *queue)
{
    struct hub_waiting *waiting;
    while ((waiting = hub_queue_take(queue))) {
        send_waiting(agent, waiting);
        free(waiting);
    }
}

void hub_agent_set_ready(struct hub_agent *agent)
{
    if (agent->state != HUB_AGENT_STARTING)
        return; /* it was told to end meanwhile */
    set_state(agent, HUB_AGENT_READY);
    agent->due_at = UINT64_MAX;
    hub_agent_note_work(agent);
    for (struct hub_session *s = agent->sessions, *next; s; s = next) {
        next = s->next;
        if (s->state == HUB_SESSION_REOPENING)
            hub_session_send_reopen(s);
    }
    hub_agent_send_queue(agent, &agent->waiting);
}

int hub_start_first(struct hub *hub, struct acp_failure *failure)
{
    char path[ACP_PATH_SIZE];
    struct hub_launcher *launcher = hub->options.launcher;
    int err = launcher->find_workspace(launcher, acp_str_from(hub->options.cwd), path, failure);
    return err ? err : hub_agent_get(hub, path, &hub->first, failure);
}

int hub_need_agent(struct hub *hub, struct acp_failure *failure)
{
    for (const struct hub_agent *agent = hub->agents; agent; agent = agent->next)
        if (agent->state < HUB_AGENT_DRAINING)
            return 0;
    return hub_start_first(hub, failure);
}
