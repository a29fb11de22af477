/*
 * What the agent reports, as events that are the same for both versions.
 */
#include <stdlib.h>

#include "acp/scan.h"
#include "role/announced.h"
#include "role/client_role.h"

void client_emit(struct acp_client_session *session, const struct acp_event *event)
{
    struct acp_client *client = session->client;
    if (client->handler.event)
        client->handler.event(session, event, client->user);
}

void client_emit_state(struct acp_client_session *session, enum acp_session_state state,
                       const struct acp_event *from)
{
    struct acp_event event = {0};
    if (from)
        event = *from;
    event.kind = ACP_EVENT_STATE;
    event.state = state;
    session->state = state;
    client_emit(session, &event);
}

/* ---- Words of one version that programs know by those of the other --------------------------- */

/* In version 1 null means unchanged, in version 2 reset: here it is always the latter. */
static void read_tool_v1(struct acp_tool_call_update *tool)
{
    static const struct acp_str absent = {NULL, 0};
    if (acp_is_null(tool->title.ptr))
        tool->title = absent;
    if (acp_is_null(tool->name.ptr))
        tool->name = absent;
    if (tool->kind.is == ACP_TOOL_KIND_NULL)
        tool->kind.is = ACP_TOOL_KIND_ABSENT;
    if (tool->status.is == ACP_TOOL_CALL_STATUS_NULL)
        tool->status.is = ACP_TOOL_CALL_STATUS_ABSENT;
    if (acp_is_null(tool->content.items))
        tool->content.items = NULL;
    if (acp_is_null(tool->locations.items))
        tool->locations.items = NULL;
}

/* ---- Updates --------------------------------------------------------------------------------- */

static void emit_chunk(struct acp_client_session *session, struct acp_event *event,
                       enum acp_message_role author, const struct acp_content_chunk *chunk)
{
    event->kind = ACP_EVENT_CHUNK;
    event->author = author;
    event->message = chunk->message_id;
    event->block = &chunk->content;
    client_emit(session, event);
}

static void emit_message(struct acp_client_session *session, struct acp_event *event,
                         enum acp_message_role author, struct acp_str id,
                         struct acp_content_block_list content)
{
    event->kind = ACP_EVENT_MESSAGE;
    event->author = author;
    event->message = id;
    event->content = content;
    client_emit(session, event);
}

static void emit_tool(struct acp_client_session *session, const struct acp_event *from,
                      struct acp_tool_call_update tool)
{
    struct acp_event event = *from;
    if (!client_is_v2(session->client))
        read_tool_v1(&tool);
    else
        client_note_tool(session, &tool);
    event.kind = ACP_EVENT_TOOL;
    event.tool_id = tool.tool_call_id;
    event.tool = &tool;
    client_emit(session, &event);
}

static void emit_plan(struct acp_client_session *session, struct acp_event *event,
                      const struct acp_plan_update_content *plan)
{
    if (plan->is == ACP_PLAN_UPDATE_CONTENT_ITEMS) {
        event->kind = ACP_EVENT_PLAN;
        event->plan_id = plan->items.plan_id;
        event->plan = plan->items.entries;
    }
    client_emit(session, event);
}

static void emit_work_state(struct acp_client_session *session, const struct acp_event *event,
                            const struct acp_state_update *state)
{
    const struct acp_client *client = session->client;
    /* A state that we do not know is busy; never idle. */
    client_emit_state(session,
                      state->is == ACP_STATE_UPDATE_IDLE              ? ACP_SESSION_IDLE
                      : state->is == ACP_STATE_UPDATE_REQUIRES_ACTION ? ACP_SESSION_REQUIRES_ACTION
                                                                      : ACP_SESSION_RUNNING,
                      event);
    if (!client->closing) /* by the program, when it heard of it */
        client_note_state(session, state);
}

static void emit_update(struct acp_client_session *session, const struct acp_session_update *u,
                        const struct client_update *from)
{
    struct acp_event event = {
        .kind = ACP_EVENT_OTHER, .update = u, .raw = from->update, .meta = from->meta};
    switch (u->is) {
    case ACP_SESSION_UPDATE_AGENT_MESSAGE_CHUNK:
        emit_chunk(session, &event, ACP_MESSAGE_ROLE_AGENT, &u->agent_message_chunk);
        break;
    case ACP_SESSION_UPDATE_AGENT_THOUGHT_CHUNK:
        emit_chunk(session, &event, ACP_MESSAGE_ROLE_THOUGHT, &u->agent_thought_chunk);
        break;
    case ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK:
        emit_chunk(session, &event, ACP_MESSAGE_ROLE_USER, &u->user_message_chunk);
        break;
    case ACP_SESSION_UPDATE_AGENT_MESSAGE:
        emit_message(session, &event, ACP_MESSAGE_ROLE_AGENT, u->agent_message.message_id,
                     u->agent_message.content);
        break;
    case ACP_SESSION_UPDATE_AGENT_THOUGHT:
        emit_message(session, &event, ACP_MESSAGE_ROLE_THOUGHT, u->agent_thought.message_id,
                     u->agent_thought.content);
        break;
    case ACP_SESSION_UPDATE_USER_MESSAGE:
        emit_message(session, &event, ACP_MESSAGE_ROLE_USER, u->user_message.message_id,
                     u->user_message.content);
        break;
    case ACP_SESSION_UPDATE_TOOL_CALL:
        emit_tool(session, &event, acp_tool_call_announced(&u->tool_call));
        break;
    case ACP_SESSION_UPDATE_TOOL_CALL_UPDATE:
        emit_tool(session, &event, u->tool_call_update);
        break;
    case ACP_SESSION_UPDATE_TOOL_CALL_CONTENT_CHUNK:
        event.kind = ACP_EVENT_TOOL_CONTENT;
        event.tool_id = u->tool_call_content_chunk.tool_call_id;
        event.tool_content = &u->tool_call_content_chunk.content;
        client_emit(session, &event);
        break;
    case ACP_SESSION_UPDATE_PLAN:
        event.kind = ACP_EVENT_PLAN;
        event.plan = u->plan.entries;
        client_emit(session, &event);
        break;
    case ACP_SESSION_UPDATE_PLAN_UPDATE:
        emit_plan(session, &event, &u->plan_update.plan);
        break;
    case ACP_SESSION_UPDATE_AVAILABLE_COMMANDS_UPDATE:
        client_emit_commands(session, &event, u->available_commands_update.available_commands,
                             u->available_commands_update.available_commands_v2);
        break;
    case ACP_SESSION_UPDATE_CURRENT_MODE_UPDATE:
        client_emit_mode(session, &event, u->current_mode_update.current_mode_id);
        break;
    case ACP_SESSION_UPDATE_CONFIG_OPTION_UPDATE:
        client_emit_options(session, &event, ACP_TYPE_SESSION_UPDATE, from->update);
        break;
    case ACP_SESSION_UPDATE_STATE_UPDATE:
        emit_work_state(session, &event, &u->state_update);
        break;
    case ACP_SESSION_UPDATE_TERMINAL_UPDATE:
        client_note_terminal(session, &u->terminal_update);
        client_emit(session, &event);
        break;
    default:
        client_emit(session, &event);
    }
}

/* ---- Where they come from -------------------------------------------------------------------- */

/* The text of a string as it stands in a message; absent when it is none. */
static struct acp_str read_text(struct acp_client *client, struct acp_raw span)
{
    struct acp_str text = acp_scan_plain(span);
    if (text.ptr || !span.ptr || span.ptr[0] != '"')
        return text;
    struct acp_json_reader r;
    acp_json_reader_init(&r, span, &client->arena, 0);
    return acp_json_read_str(&r, &text) ? acp_str_from(NULL) : text;
}

/* The value of a key of an object, or absent. */
static struct acp_raw find_value(struct acp_client *client, struct acp_raw object, const char *name)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_raw value;
    struct acp_raw found = {NULL, 0};
    acp_json_reader_init(&r, object, &client->arena, 0);
    int err = acp_json_enter_object(&r);
    while (!err && acp_json_next_key(&r, &key) > 0) {
        err = acp_json_read_raw(&r, &value);
        if (!err && acp_str_is(key, name))
            found = value;
    }
    return found;
}

/*
 * The _meta beside an update.  Most params have none: then their length is that of the other two
 * members, and they need not be read once more.
 */
static struct acp_raw find_meta(struct acp_client *client, const struct acp_message *message)
{
    size_t rest = sizeof("{\"sessionId\":,\"update\":}") - 1;
    if (message->params.len == message->session_id.len + message->key.len + rest)
        return acp_raw_from(NULL);
    struct acp_raw meta = find_value(client, message->params, "_meta");
    return meta.ptr && meta.ptr[0] == '{' ? meta : acp_raw_from(NULL);
}

/* The official example of a mode's update has modeId for currentModeId, and agents follow it. */
static bool deliver_misspelled(struct acp_client_session *session, const struct client_update *from,
                               const struct acp_failure *failure)
{
    struct acp_client *client = session->client;
    struct acp_event event = {.raw = from->update, .meta = from->meta};
    if (failure->err != ACP_ERR_MISSING || strcmp(failure->path, "currentModeId") != 0)
        return false;
    struct acp_str mode = read_text(client, find_value(client, from->update, "modeId"));
    if (!mode.ptr)
        return false;
    client_emit_mode(session, &event, mode);
    return true;
}

void client_deliver(struct acp_client_session *session, const struct client_update *from)
{
    struct acp_client *client = session->client;
    struct acp_session_update update;
    struct acp_failure failure;
    int err =
        acp_session_update_decode(client->mode, from->update, &client->arena, &update, &failure);
    if (!err) {
        emit_update(session, &update, from);
        return;
    }
    if (deliver_misspelled(session, from, &failure))
        return;
    /* Kinds that we do not know are handed on as they are; malformed ones are dropped. */
    struct acp_event event = {.kind = ACP_EVENT_OTHER, .raw = from->update, .meta = from->meta};
    if (err == ACP_ERR_VARIANT && acp_str_is(acp_str_from(failure.path), "sessionUpdate"))
        client_emit(session, &event);
    else if (client->handler.protocol_error)
        client->handler.protocol_error(client, ACP_PROTOCOL_ERROR_INVALID_MESSAGE,
                                       acp_str_from(failure.message), client->user);
}

void client_serve_update(struct acp_client *client, const struct acp_message *message)
{
    struct acp_str id = read_text(client, message->session_id);
    if (!client->mode || !id.ptr || !message->key.ptr)
        return;
    struct client_update update = {message->key, find_meta(client, message)};
    struct acp_client_session *session = acp_map_get(&client->sessions, id);
    if (session)
        client_deliver(session, &update);
    else
        client_hold_early(client, id, &update);
}
