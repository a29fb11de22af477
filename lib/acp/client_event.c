/*
 * What the agent reports, as events that are the same for both versions.
 */
#include <stdlib.h>

#include "acp/client_role.h"
#include "acp/scan.h"

static void emit(struct acp_client_session *session, const struct acp_event *event)
{
    struct acp_client *client = session->client;
    if (client->handler.event)
        client->handler.event(session, event, client->user);
}

void client_emit_state(struct acp_client_session *session, enum acp_work_state state,
                       const struct acp_session_update *update, struct acp_raw raw)
{
    struct acp_event event = {
        .kind = ACP_EVENT_STATE, .state = state, .update = update, .raw = raw};
    session->state = state;
    emit(session, &event);
}

/* ---- Words of version 2 that programs know by those of version 1 ----------------------------- */

static void read_commands(struct acp_client *client,
                          const struct acp_available_commands_update *from, struct acp_event *event)
{
    event->kind = ACP_EVENT_COMMANDS;
    event->commands = from->available_commands;
    if (!client_is_v2(client))
        return;
    size_t count = from->available_commands_v2.count;
    struct acp_available_command *commands =
        acp_arena_alloc(&client->arena, (count + 1) * sizeof(*commands));
    struct acp_available_command_input *inputs =
        acp_arena_alloc(&client->arena, (count + 1) * sizeof(*inputs));
    event->commands.items = commands;
    for (size_t i = 0; commands && inputs && i < count; i++) {
        const struct acp_available_command_v2 *command = &from->available_commands_v2.items[i];
        if (command->is != ACP_AVAILABLE_COMMAND_V2_COMMAND)
            continue;
        size_t n = event->commands.count++;
        acp_available_command_init(&commands[n], command->command.name,
                                   command->command.description);
        const struct acp_available_command_input_v2 *input = command->command.input;
        if (acp_is_set(input) && input->is == ACP_AVAILABLE_COMMAND_INPUT_V2_TEXT) {
            acp_available_command_input_init_unstructured(&inputs[n], input->text.hint);
            commands[n].input = &inputs[n];
        }
    }
}

static void name_groups(struct acp_client *client,
                        struct acp_session_config_select_options *options)
{
    if (options->is != ACP_SESSION_CONFIG_SELECT_OPTIONS_GROUPED)
        return;
    size_t count = options->grouped.count;
    struct acp_session_config_select_group *groups =
        acp_arena_alloc(&client->arena, (count + 1) * sizeof(*groups));
    if (!groups)
        return;
    for (size_t i = 0; i < count; i++) {
        groups[i] = options->grouped.items[i];
        groups[i].group = groups[i].group_id;
    }
    options->grouped.items = groups;
}

static void read_options(struct acp_client *client, struct acp_session_config_option_list from,
                         struct acp_event *event)
{
    event->kind = ACP_EVENT_OPTIONS;
    event->options = from;
    if (!client_is_v2(client))
        return;
    struct acp_session_config_option *options =
        acp_arena_alloc(&client->arena, (from.count + 1) * sizeof(*options));
    if (!options)
        return;
    for (size_t i = 0; i < from.count; i++) {
        options[i] = from.items[i];
        options[i].id = options[i].config_id;
        if (options[i].is == ACP_SESSION_CONFIG_OPTION_SELECT)
            name_groups(client, &options[i].select.options);
    }
    event->options.items = options;
}

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

static struct acp_tool_call_update announced(const struct acp_tool_call *call)
{
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, call->tool_call_id);
    tool.title = call->title;
    tool.name = call->name;
    tool.kind = call->kind;
    tool.status = call->status;
    tool.content = call->content;
    tool.locations = call->locations;
    tool.raw_input = call->raw_input;
    tool.raw_output = call->raw_output;
    tool.meta = call->meta;
    return tool;
}

/* ---- Updates --------------------------------------------------------------------------------- */

static void emit_chunk(struct acp_client_session *session, struct acp_event *event,
                       enum acp_author author, const struct acp_content_chunk *chunk)
{
    event->kind = ACP_EVENT_CHUNK;
    event->author = author;
    event->message = chunk->message_id;
    event->block = &chunk->content;
    emit(session, event);
}

static void emit_message(struct acp_client_session *session, struct acp_event *event,
                         enum acp_author author, struct acp_str id,
                         struct acp_content_block_list content)
{
    event->kind = ACP_EVENT_MESSAGE;
    event->author = author;
    event->message = id;
    event->content = content;
    emit(session, event);
}

static void emit_tool(struct acp_client_session *session, const struct acp_event *from,
                      struct acp_tool_call_update tool)
{
    struct acp_event event = *from;
    if (!client_is_v2(session->client))
        read_tool_v1(&tool);
    event.kind = ACP_EVENT_TOOL;
    event.tool_id = tool.tool_call_id;
    event.tool = &tool;
    emit(session, &event);
}

static void emit_plan(struct acp_client_session *session, struct acp_event *event,
                      const struct acp_plan_update_content *plan)
{
    if (plan->is == ACP_PLAN_UPDATE_CONTENT_ITEMS) {
        event->kind = ACP_EVENT_PLAN;
        event->plan_id = plan->items.plan_id;
        event->plan = plan->items.entries;
    }
    emit(session, event);
}

static void emit_work_state(struct acp_client_session *session,
                            const struct acp_session_update *update, struct acp_raw raw)
{
    const struct acp_state_update *state = &update->state_update;
    const struct acp_client *client = session->client;
    /* A state that we do not know is busy; never idle. */
    client_emit_state(session,
                      state->is == ACP_STATE_UPDATE_IDLE              ? ACP_WORK_IDLE
                      : state->is == ACP_STATE_UPDATE_REQUIRES_ACTION ? ACP_WORK_BLOCKED
                                                                      : ACP_WORK_RUNNING,
                      update, raw);
    if (!client->closing) /* by the program, when it heard of it */
        client_note_state(session, state);
}

static void emit_update(struct acp_client_session *session, const struct acp_session_update *u,
                        struct acp_raw raw)
{
    struct acp_client *client = session->client;
    struct acp_event event = {.kind = ACP_EVENT_OTHER, .update = u, .raw = raw};
    switch (u->is) {
    case ACP_SESSION_UPDATE_AGENT_MESSAGE_CHUNK:
        emit_chunk(session, &event, ACP_AUTHOR_AGENT, &u->agent_message_chunk);
        break;
    case ACP_SESSION_UPDATE_AGENT_THOUGHT_CHUNK:
        emit_chunk(session, &event, ACP_AUTHOR_THOUGHT, &u->agent_thought_chunk);
        break;
    case ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK:
        emit_chunk(session, &event, ACP_AUTHOR_USER, &u->user_message_chunk);
        break;
    case ACP_SESSION_UPDATE_AGENT_MESSAGE:
        emit_message(session, &event, ACP_AUTHOR_AGENT, u->agent_message.message_id,
                     u->agent_message.content);
        break;
    case ACP_SESSION_UPDATE_AGENT_THOUGHT:
        emit_message(session, &event, ACP_AUTHOR_THOUGHT, u->agent_thought.message_id,
                     u->agent_thought.content);
        break;
    case ACP_SESSION_UPDATE_USER_MESSAGE:
        emit_message(session, &event, ACP_AUTHOR_USER, u->user_message.message_id,
                     u->user_message.content);
        break;
    case ACP_SESSION_UPDATE_TOOL_CALL:
        emit_tool(session, &event, announced(&u->tool_call));
        break;
    case ACP_SESSION_UPDATE_TOOL_CALL_UPDATE:
        emit_tool(session, &event, u->tool_call_update);
        break;
    case ACP_SESSION_UPDATE_TOOL_CALL_CONTENT_CHUNK:
        event.kind = ACP_EVENT_TOOL_CONTENT;
        event.tool_id = u->tool_call_content_chunk.tool_call_id;
        event.tool_content = &u->tool_call_content_chunk.content;
        emit(session, &event);
        break;
    case ACP_SESSION_UPDATE_PLAN:
        event.kind = ACP_EVENT_PLAN;
        event.plan = u->plan.entries;
        emit(session, &event);
        break;
    case ACP_SESSION_UPDATE_PLAN_UPDATE:
        emit_plan(session, &event, &u->plan_update.plan);
        break;
    case ACP_SESSION_UPDATE_AVAILABLE_COMMANDS_UPDATE:
        read_commands(client, &u->available_commands_update, &event);
        emit(session, &event);
        break;
    case ACP_SESSION_UPDATE_CURRENT_MODE_UPDATE:
        event.kind = ACP_EVENT_MODE;
        event.mode = u->current_mode_update.current_mode_id;
        emit(session, &event);
        break;
    case ACP_SESSION_UPDATE_CONFIG_OPTION_UPDATE:
        read_options(client, u->config_option_update.config_options, &event);
        emit(session, &event);
        break;
    case ACP_SESSION_UPDATE_STATE_UPDATE:
        emit_work_state(session, u, raw);
        break;
    default:
        emit(session, &event);
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
    return acp_json_read_str(&r, &text) ? acp_str(NULL) : text;
}

static void deliver(struct acp_client_session *session, struct acp_raw raw)
{
    struct acp_client *client = session->client;
    struct acp_session_update update;
    struct acp_failure failure;
    int err = acp_session_update_decode(client->mode, raw, &client->arena, &update, &failure);
    if (!err) {
        emit_update(session, &update, raw);
        return;
    }
    /* Kinds that we do not know are handed on as they are; malformed ones are dropped. */
    struct acp_event event = {.kind = ACP_EVENT_OTHER, .raw = raw};
    if (err == ACP_ERR_VARIANT && acp_str_is(acp_str(failure.path), "sessionUpdate"))
        emit(session, &event);
    else if (client->handler.trouble)
        client->handler.trouble(client, ACP_TROUBLE_INVALID, acp_str(failure.message),
                                client->user);
}

/* A session that is about to be told of may already be spoken of. */
static void hold_early(struct acp_client *client, struct acp_str session, struct acp_raw params)
{
    size_t size = sizeof(struct early_update) + session.len + params.len;
    if (size > CLIENT_MAX_EARLY)
        return;
    while (client->early && client->early_bytes + size > CLIENT_MAX_EARLY) {
        struct early_update *oldest = client->early;
        client->early = oldest->next;
        client->early_bytes -= sizeof(*oldest) + oldest->session_len + oldest->len;
        free(oldest);
    }
    struct early_update *early = malloc(size);
    if (!early)
        return;
    *early = (struct early_update){.session_len = session.len, .len = params.len};
    memcpy(early->bytes, session.ptr, session.len);
    memcpy(early->bytes + session.len, params.ptr, params.len);
    struct early_update **last = &client->early;
    while (*last)
        last = &(*last)->next;
    *last = early;
    client->early_bytes += size;
}

void client_serve_update(struct acp_client *client, const struct acp_message *message)
{
    struct acp_str id = read_text(client, message->session_id);
    if (!client->mode || !id.ptr || !message->key.ptr)
        return;
    struct acp_client_session *session = acp_map_get(&client->sessions, id);
    if (session)
        deliver(session, message->key);
    else
        hold_early(client, id, message->key);
}

void client_deliver_early(struct acp_client_session *session)
{
    struct acp_client *client = session->client;
    struct acp_str id = acp_str(session->id);
    struct early_update **at = &client->early;
    while (*at) {
        struct early_update *early = *at;
        if (!acp_str_eq(acp_str_n(early->bytes, early->session_len), id)) {
            at = &early->next;
            continue;
        }
        *at = early->next;
        client->early_bytes -= sizeof(*early) + early->session_len + early->len;
        deliver(session, acp_raw_n(early->bytes + early->session_len, early->len));
        free(early);
        if (client->closing)
            return; /* the program has closed the connection, and the session is freed */
    }
}

void client_forget_early(struct acp_client *client)
{
    while (client->early) {
        struct early_update *next = client->early->next;
        free(client->early);
        client->early = next;
    }
    client->early_bytes = 0;
}
