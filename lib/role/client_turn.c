/*
 * Turns, from the client's side: prompts and their one end, and cancelling.
 */
#include <stdlib.h>

#include "role/client_role.h"
#include "role/stop.h"
#include "rpc/peer.h"

/* ---- Prompts --------------------------------------------------------------------------------- */

void client_end_turn(struct acp_client_session *session, struct acp_str stop,
                     const struct acp_outcome *outcome)
{
    const struct acp_client *client = session->client;
    bool was_closing = client->closing || session->gone;
    if (!session->prompting)
        return;
    if (session->state != ACP_SESSION_IDLE && !client_is_v2(client))
        client_emit_state(session, ACP_SESSION_IDLE, NULL);
    if (client->closing && !was_closing)
        return; /* the program has closed the connection, which has ended the turn */
    session->prompting = false;
    struct acp_turn_stop told = {.reason = acp_stop_find(stop), .text = stop};
    if (session->end)
        session->end(session, &told, outcome, session->end_user);
}

/* Version 1: the response is the end.  Version 2: it says that the message was taken. */
static void settle_prompt(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_client_session *session =
        acp_map_get(&call->client->sessions, acp_str_from(call->id));
    struct acp_outcome outcome = client_outcome(call, reply);
    if (!session || !session->prompting)
        return; /* it ended with its session */
    if (outcome.err && session->cancelled && outcome.code == ACP_ERROR_CODE_REQUEST_CANCELLED) {
        /* It was dropped before it had begun, which is what we wanted. */
        outcome = (struct acp_outcome){.why = acp_str_from("")};
        client_end_turn(session, acp_str_from("cancelled"), &outcome);
    } else if (outcome.err) {
        client_end_turn(session, acp_str_from(NULL), &outcome);
    } else if (!client_is_v2(call->client)) {
        const struct acp_prompt_response *response = outcome.value;
        client_end_turn(session, response->stop_reason.text, &outcome);
    } else {
        session->accepted = true;
        if (session->stop) {
            char *stop = session->stop;
            session->stop = NULL;
            client_end_turn(session, acp_str_from(stop), &outcome);
            free(stop);
        }
    }
}

/* Version 2: the end of a turn is the session's being idle again. */
void client_note_state(struct acp_client_session *session, const struct acp_state_update *state)
{
    if (!session->prompting)
        return;
    if (state->is != ACP_STATE_UPDATE_IDLE) {
        session->worked = true;
        return;
    }
    const struct acp_idle_state_update *idle = &state->idle;
    bool told = idle->is != ACP_IDLE_STATE_UPDATE_ABSENT;
    if (!session->worked && !(told && session->accepted))
        return; /* a state from before the prompt, replayed */
    struct acp_str stop = told ? idle->tag : acp_str_from("end_turn");
    struct acp_outcome outcome = {.why = acp_str_from("")};
    if (idle->is == ACP_IDLE_STATE_UPDATE_ERROR) {
        const struct acp_error *error = idle->error.error;
        outcome = (struct acp_outcome){
            .err = ACP_ERR_REMOTE,
            .code = acp_is_set(error) ? error->code : ACP_ERROR_CODE_INTERNAL_ERROR,
            .why = acp_is_set(error) ? error->message : acp_str_from("the turn failed"),
        };
        stop = acp_str_from(NULL);
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
    switch (block->is) {
    case ACP_CONTENT_BLOCK_TEXT:
    case ACP_CONTENT_BLOCK_RESOURCE_LINK:
        return true;
    case ACP_CONTENT_BLOCK_IMAGE:
        return client_has(client, "agentCapabilities.promptCapabilities.image",
                          "capabilities.session.prompt.image");
    case ACP_CONTENT_BLOCK_AUDIO:
        return client_has(client, "agentCapabilities.promptCapabilities.audio",
                          "capabilities.session.prompt.audio");
    case ACP_CONTENT_BLOCK_RESOURCE:
        return client_has(client, "agentCapabilities.promptCapabilities.embeddedContext",
                          "capabilities.session.prompt.embeddedContext");
    default:
        return false;
    }
}

static int check_prompt(struct acp_client_session *session, const struct acp_content_block *blocks,
                        size_t count)
{
    struct acp_client *client = session->client;
    if (session->gone || client->closing || !session->open)
        return client_decline(client, ACP_ERR_STATE, "the session is not open");
    if (session->prompting)
        return client_decline(client, ACP_ERR_STATE, "another prompt is at work in this session");
    for (size_t i = 0; i < count; i++)
        if (!agent_takes_block(client, &blocks[i]))
            return client_decline(client, ACP_ERR_STATE,
                                  "the agent does not take content of the kind of block %zu", i);
    return 0;
}

static int prompt(struct acp_client_session *session, const struct acp_content_block *blocks,
                  size_t count, acp_turn_fn *end, void *user)
{
    struct acp_client *client = session->client;
    struct acp_prompt_request request;
    int err = check_prompt(session, blocks, count);
    if (err)
        return err;
    struct client_call *call =
        client_call_new(client, settle_prompt, ACP_TYPE_PROMPT_RESPONSE, NULL);
    if (!call)
        return client_fail(client, ACP_ERR_NOMEM);
    call->id = acp_str_copy(acp_str_from(session->id));
    if (!call->id) {
        client_call_free(call);
        return client_fail(client, ACP_ERR_NOMEM);
    }
    session->prompting = true;
    session->end = end;
    session->end_user = user;
    session->accepted = false;
    session->worked = false;
    session->cancelled = false;
    free(session->stop);
    session->stop = NULL;
    acp_prompt_request_init(&request, acp_str_from(session->id), blocks, count);
    err = client_send(call, acp_str_from("session/prompt"), ACP_TYPE_PROMPT_REQUEST, &request, 0);
    if (err)
        session->prompting = false;
    else if (!client_is_v2(client))
        client_emit_state(session, ACP_SESSION_RUNNING, NULL);
    return err;
}

/* The program may free the client in the events that come of this. */
int acp_client_prompt(struct acp_client_session *session, const struct acp_content_block *blocks,
                      size_t count, acp_turn_fn *end, void *user)
{
    struct acp_peer *peer = session->client->peer;
    acp_rpc_enter(peer);
    int err = prompt(session, blocks, count, end, user);
    acp_rpc_leave(peer);
    return err;
}

static int cancel(struct acp_client_session *session)
{
    struct acp_client *client = session->client;
    struct acp_close_session_request note; /* holds the same as both versions' notification */
    if (!session->prompting && session->state == ACP_SESSION_IDLE)
        return 0;
    acp_close_session_request_init(&note, acp_str_from(session->id));
    int err = client_send_note(client, acp_str_from("session/cancel"),
                               ACP_TYPE_CLOSE_SESSION_REQUEST, &note);
    session->cancelled = true;
    client_drop_questions(session);
    return err;
}

int acp_client_cancel(struct acp_client_session *session)
{
    struct acp_peer *peer = session->client->peer;
    acp_rpc_enter(peer);
    int err = cancel(session);
    acp_rpc_leave(peer);
    return err;
}

/* ---- Cancelling one thing alone (version 2) -------------------------------------------------- */

/* An id is in the set exactly while its latest update says so. */
static void note_cancellable(struct acp_client_session *session, struct acp_map *set,
                             struct acp_str id, bool told, bool can)
{
    if (!told)
        return;
    if (!can)
        (void) acp_map_remove(set, id);
    else if (set->count < CLIENT_MAX_CANCELLABLE && id.len <= CLIENT_MAX_ID)
        (void) acp_map_set(set, id, session); /* when out of memory, it counts as not cancellable */
}

void client_note_tool(struct acp_client_session *session, const struct acp_tool_call_update *tool)
{
    bool over = tool->status.is == ACP_TOOL_CALL_STATUS_COMPLETED ||
                tool->status.is == ACP_TOOL_CALL_STATUS_FAILED ||
                tool->status.is == ACP_TOOL_CALL_STATUS_CANCELLED;
    const struct acp_tool_call_capabilities *can = tool->capabilities;
    note_cancellable(session, &session->cancellable_tools, tool->tool_call_id, over || can,
                     !over && acp_is_set(can) && acp_is_set(can->cancel));
}

void client_note_terminal(struct acp_client_session *session,
                          const struct acp_terminal_update *terminal)
{
    bool over = acp_is_set(terminal->exit_status);
    const struct acp_terminal_capabilities *can = terminal->capabilities;
    note_cancellable(session, &session->cancellable_terminals, terminal->terminal_id, over || can,
                     !over && acp_is_set(can) && acp_is_set(can->cancel));
}

int acp_client_cancel_tool_call(struct acp_client_session *session, struct acp_str tool,
                                acp_client_fn *done, void *user)
{
    struct acp_client *client = session->client;
    struct acp_cancel_tool_call_request request;
    if (!acp_map_get(&session->cancellable_tools, tool))
        return client_decline(client, ACP_ERR_STATE, "this tool call cannot be stopped by itself");
    acp_cancel_tool_call_request_init(&request, acp_str_from(session->id), tool);
    return client_send_done(client, acp_str_from("tool_call/cancel"),
                            ACP_TYPE_CANCEL_TOOL_CALL_REQUEST, &request,
                            ACP_TYPE_CANCEL_TOOL_CALL_RESPONSE, done, user);
}

int acp_client_cancel_terminal(struct acp_client_session *session, struct acp_str terminal,
                               acp_client_fn *done, void *user)
{
    struct acp_client *client = session->client;
    struct acp_cancel_terminal_request request;
    if (!acp_map_get(&session->cancellable_terminals, terminal))
        return client_decline(client, ACP_ERR_STATE, "this terminal cannot be stopped by itself");
    acp_cancel_terminal_request_init(&request, acp_str_from(session->id), terminal);
    return client_send_done(client, acp_str_from("terminal/cancel"),
                            ACP_TYPE_CANCEL_TERMINAL_REQUEST, &request,
                            ACP_TYPE_CANCEL_TERMINAL_RESPONSE, done, user);
}
