/*
 * hub_reopen.c - sessions whose agent has ended: the next message starts another agent, which
 * resumes or loads the session; meanwhile messages wait.  What it replays is not shown again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hub/hub_internal.h"
#include "json/members.h"

/* Whether the object has no members. */
static bool is_empty_object(struct acp_raw object)
{
    size_t at = 1;
    while (at < object.len && strchr(" \t\r\n", object.ptr[at]))
        at++;
    return at < object.len && object.ptr[at] == '}';
}

int hub_session_make_setup(const struct hub_session *session, struct acp_raw params,
                           struct acp_buf *out)
{
    struct acp_raw id = {NULL, 0};
    if (!params.ptr || params.ptr[0] != '{')
        return ACP_ERR_MISSING;
    int err = acp_json_member_raw(params, "sessionId", &id);
    if (err)
        return err;
    if (id.ptr)
        return acp_scan_splice(params, id, session->agent_id, out);
    err = acp_buf_printf(out, "{\"sessionId\":%.*s%s", ACP_ARG(session->agent_id),
                         is_empty_object(params) ? "" : ",");
    return err ? err : acp_buf_append(out, params.ptr + 1, params.len - 1);
}

void hub_session_send_close(struct hub_session *session)
{
    struct hub_agent *agent = session->agent;
    struct hub_request *request;
    if (hub_request_open(NULL, acp_raw_from(NULL), &agent->connection, HUB_CLOSE, NULL, &request))
        return; /* the agent closes it when it ends */
    hub_send_text(&agent->connection,
                  "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"session/close\",\"params\":"
                  "{\"sessionId\":%.*s}}",
                  (unsigned long long) request->number, ACP_ARG(session->agent_id));
}

static void fail(struct hub_session *session, const char *why)
{
    char text[600];
    (void) snprintf(text, sizeof(text), "the session cannot be opened again: %s", why);
    hub_session_log(session, HUB_LOG_WARNING, "%s", text);
    hub_queue_fail(&session->waiting, NULL, acp_str_from(text));
    session->turns = 0;
    hub_session_move(session, NULL);
    hub_session_set_state(session, HUB_SESSION_LOST);
}

static void on_reopened(struct hub_request *request, const struct hub_message *message)
{
    struct hub_session *session = request->session;
    struct hub_agent *agent = (struct hub_agent *) request->to;
    char why[400];
    if (!session || session->state != HUB_SESSION_REOPENING)
        return;
    if (message && message->scan.result.ptr) {
        hub_session_set_state(session, HUB_SESSION_IDLE);
        hub_session_update(session);
        hub_agent_send_queue(agent, &session->waiting);
        return;
    }
    struct acp_str text = acp_str_from("no answer");
    if (message)
        (void) acp_json_member_str(message->scan.error, "message", &agent->connection.arena, &text);
    (void) snprintf(why, sizeof(why), "%.*s", ACP_ARG(text));
    request->session = NULL;
    fail(session, why);
}

void hub_session_send_reopen(struct hub_session *session)
{
    struct hub_agent *agent = session->agent;
    struct hub_request *request;
    if (!agent->can.resume && !agent->can.load) {
        fail(session, "the agent cannot load sessions");
        return;
    }
    if (hub_request_open(NULL, acp_raw_from(NULL), &agent->connection, HUB_LOAD, session,
                         &request)) {
        fail(session, "too many open requests");
        return;
    }
    request->reply = on_reopened;
    hub_send_text(&agent->connection,
                  "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"session/%s\",\"params\":%s}",
                  (unsigned long long) request->number, agent->can.resume ? "resume" : "load",
                  session->setup);
}

int hub_session_reopen(struct hub_session *session, struct acp_failure *failure)
{
    struct hub *hub = session->hub;
    struct hub_agent *agent;
    char path[ACP_PATH_SIZE];
    if (!session->setup) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the agent of this session has ended, and how to open it again is not "
                        "known; start a new session");
        return ACP_ERR_STATE;
    }
    /* The directory may have been removed meanwhile. */
    int err = hub->options.launcher->find_workspace(
        hub->options.launcher, acp_str_from(session->workspace->path), path, failure);
    if (!err)
        err = hub_agent_get(hub, session->workspace->path, &agent, failure);
    if (err)
        return err;
    hub_session_move(session, agent);
    if (session->agent != agent) {
        (void) snprintf(failure->message, sizeof(failure->message), "out of memory");
        return ACP_ERR_NOMEM;
    }
    hub_session_log(session, HUB_LOG_INFO, "the session is opened again");
    hub_session_set_state(session, HUB_SESSION_REOPENING);
    if (agent->state == HUB_AGENT_READY)
        hub_session_send_reopen(session);
    if (session->state == HUB_SESSION_REOPENING)
        return 0;
    (void) snprintf(failure->message, sizeof(failure->message),
                    "the agent of this session has ended, and it cannot load sessions; start a "
                    "new session");
    return ACP_ERR_STATE;
}
