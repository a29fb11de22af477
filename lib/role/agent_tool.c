/*
 * Tool calls and terminals.  Which of them a version 2 client may cancel by themselves is what
 * their updates said last; the role remembers it, and refuses all others.
 */
#include "role/agent_role.h"

/* What the maps hold for an id: only the address counts. */
static char begun;
static char cancellable;

/* ---- Remembering ----------------------------------------------------------------------------- */

static bool is_final(enum acp_tool_call_status_is status)
{
    return status == ACP_TOOL_CALL_STATUS_COMPLETED || status == ACP_TOOL_CALL_STATUS_FAILED ||
           status == ACP_TOOL_CALL_STATUS_CANCELLED;
}

int agent_note_tool(struct acp_session *session, struct acp_tool_call_update *tool)
{
    struct acp_agent *agent = session->agent;
    const char *old = acp_map_get(&session->tools, tool->tool_call_id);
    bool offered = old == &cancellable;
    if (agent_is_v2(agent)) {
        if (!agent->handler.cancel_tool)
            tool->capabilities = NULL;
        else if (is_final(tool->status.is) && (offered || tool->capabilities))
            tool->capabilities = acp_null(); /* what has ended is no longer offered */
        if (tool->capabilities)
            offered = acp_is_set(tool->capabilities) && acp_is_set(tool->capabilities->cancel);
    }
    return acp_map_set(&session->tools, tool->tool_call_id, offered ? &cancellable : &begun);
}

int agent_note_terminal(struct acp_session *session, struct acp_terminal_update *terminal)
{
    bool offered = acp_map_get(&session->terminals, terminal->terminal_id);
    if (!session->agent->handler.cancel_terminal)
        terminal->capabilities = NULL;
    else if (acp_is_set(terminal->exit_status) && (offered || terminal->capabilities))
        terminal->capabilities = acp_null();
    if (!terminal->capabilities)
        return 0;
    if (acp_is_set(terminal->capabilities->cancel))
        return acp_map_set(&session->terminals, terminal->terminal_id, &cancellable);
    (void) acp_map_remove(&session->terminals, terminal->terminal_id);
    return 0;
}

/* A call that is new to a version 1 client is announced, with all that is known of it. */
static void announce(const struct acp_tool_call_update *from, struct acp_session_update *update)
{
    acp_session_update_init_tool_call(
        update, from->tool_call_id, acp_is_set(from->title.ptr) ? from->title : from->tool_call_id);
    update->tool_call.name = from->name;
    update->tool_call.kind = from->kind;
    update->tool_call.status = from->status;
    update->tool_call.content = from->content;
    update->tool_call.locations = from->locations;
    update->tool_call.raw_input = from->raw_input;
    update->tool_call.raw_output = from->raw_output;
    update->tool_call.meta = from->meta;
}

int acp_session_send_tool_call(struct acp_session *session, const struct acp_tool_call_update *tool)
{
    struct acp_agent *agent = session->agent;
    struct acp_tool_call_update said;
    struct acp_session_update update;
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    int err = agent_check_tool(agent, tool);
    if (!err)
        err = agent_dialect_tool(agent, tool, &said);
    if (err)
        return err;
    bool known = acp_map_get(&session->tools, tool->tool_call_id);
    /* What was logged of a session is replayed as it is. */
    if (!known && session->state == SESSION_READY &&
        !(acp_is_set(tool->title.ptr) && tool->title.len))
        return ACP_ERR_MISSING;
    err = agent_note_tool(session, &said);
    if (err)
        return err;
    if (!agent_is_v2(agent) && !known) {
        announce(&said, &update);
    } else {
        acp_session_update_init_tool_call_update(&update, said.tool_call_id);
        update.tool_call_update = said;
    }
    return agent_send_between(session, &update);
}

/* ---- Cancelling one of them ------------------------------------------------------------------ */

/* Whatever is wrong with the target, the answer is the same. */
static void refuse_target(struct acp_agent *agent, acp_call call)
{
    (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                        "Invalid params: it is not there, has ended, or cannot be cancelled");
}

/* The end comes later, as an update: the answer says that it was asked for. */
void agent_serve_cancel_tool(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_cancel_tool_call_request request;
    struct acp_failure failure;
    if (acp_cancel_tool_call_request_decode(agent->mode, params, &agent->arena, &request,
                                            &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (!session || acp_map_get(&session->tools, request.tool_call_id) != &cancellable) {
        refuse_target(agent, call);
        return;
    }
    (void) acp_peer_result(agent->peer, call, acp_raw_from(NULL));
    agent->handler.cancel_tool(session, request.tool_call_id, agent->user);
}

void agent_serve_cancel_terminal(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_cancel_terminal_request request;
    struct acp_failure failure;
    if (acp_cancel_terminal_request_decode(agent->mode, params, &agent->arena, &request,
                                           &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (!session || !acp_map_get(&session->terminals, request.terminal_id)) {
        refuse_target(agent, call);
        return;
    }
    (void) acp_peer_result(agent->peer, call, acp_raw_from(NULL));
    agent->handler.cancel_terminal(session, request.terminal_id, agent->user);
}
