/*
 * Replays a logged update of an earlier connection in the version of this one.
 *
 * Both versions say most things by the same structs.  What only one of them has a word for becomes
 * text where people want to read it, and is passed over otherwise.
 */
#include "role/agent_role.h"
#include "role/announced.h"

static int tell_block(struct acp_session *session, enum acp_session_update_is kind,
                      const struct acp_content_block *block, struct acp_str message)
{
    bool text = block->is == ACP_CONTENT_BLOCK_TEXT;
    switch (kind) {
    case ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK:
    case ACP_SESSION_UPDATE_USER_MESSAGE:
        return acp_session_send_user_block(session, block, message);
    case ACP_SESSION_UPDATE_AGENT_THOUGHT_CHUNK:
    case ACP_SESSION_UPDATE_AGENT_THOUGHT:
        return text ? acp_session_send_thought(session, block->text.text, message) : 0;
    default:
        return text ? acp_session_send_text(session, block->text.text, message)
                    : acp_session_send_block(session, block, message);
    }
}

/* Version 2: a message as a whole. */
static int tell_message(struct acp_session *session, enum acp_session_update_is kind,
                        struct acp_str message, struct acp_content_block_list content)
{
    int err = 0;
    for (size_t i = 0; i < content.count && !err; i++)
        err = tell_block(session, kind, &content.items[i], message);
    return err;
}

/* ---- Tool calls ------------------------------------------------------------------------------ */

/* Version 1 has no patches: there it is text. */
static int write_patch(struct acp_agent *agent, const struct acp_diff *diff,
                       struct acp_tool_call_content *ret)
{
    struct acp_str patch = acp_is_set(diff->patch) ? diff->patch->text : acp_str_from("");
    struct acp_buf text;
    acp_buf_init(&text, (size_t) ACP_WIRE_DEFAULT_MAX);
    int err = acp_buf_printf(&text, "```diff\n%.*s\n```", (int) patch.len, patch.ptr);
    struct acp_str copy =
        err ? acp_str_from(NULL) : acp_arena_copy(&agent->arena, acp_buf_view(&text));
    acp_buf_finish(&text);
    if (!copy.ptr)
        return err ? err : ACP_ERR_NOMEM;
    acp_tool_call_content_init_content(ret);
    acp_content_block_init_text(&ret->content.content, copy);
    return 0;
}

/* The content that can be sent here; terminals only where they are replayed as well. */
static int keep_content(struct acp_session *session, unsigned mode,
                        struct acp_tool_call_content_list *content)
{
    struct acp_agent *agent = session->agent;
    bool terminals = (mode & ACP_V2) && agent_is_v2(agent);
    size_t count = 0;
    int err = 0;
    if (content->count == 0)
        return 0;
    struct acp_tool_call_content *items =
        acp_arena_alloc(&agent->arena, content->count * sizeof(*items));
    if (!items)
        return ACP_ERR_NOMEM;
    for (size_t i = 0; i < content->count && !err; i++) {
        const struct acp_tool_call_content *item = &content->items[i];
        if (item->is == ACP_TOOL_CALL_CONTENT_TERMINAL && !terminals)
            continue;
        if (item->is == ACP_TOOL_CALL_CONTENT_DIFF && !item->diff.path.ptr && !agent_is_v2(agent))
            err = write_patch(agent, &item->diff, &items[count++]);
        else
            items[count++] = *item;
    }
    /* Nothing is left: it stays what it was. */
    *content = (struct acp_tool_call_content_list){count ? items : NULL, count};
    return err;
}

static int tell_tool(struct acp_session *session, unsigned mode, struct acp_tool_call_update *tool)
{
    int err = keep_content(session, mode, &tool->content);
    tool->capabilities = NULL; /* it has ended, one way or the other */
    return err ? err : acp_session_send_tool_call(session, tool);
}

/* Version 1: the beginning of one. */
static int tell_call(struct acp_session *session, unsigned mode, const struct acp_tool_call *call)
{
    struct acp_tool_call_update tool = acp_tool_call_announced(call);
    return tell_tool(session, mode, &tool);
}

/* ---- Everything ------------------------------------------------------------------------------ */

/* What both versions have, or neither of this version's clients can be told. */
static int tell_as_it_is(struct acp_session *session, unsigned mode,
                         const struct acp_session_update *update)
{
    bool same = !(mode & ACP_V2) == !agent_is_v2(session->agent);
    int err = same ? acp_session_send_update(session, update) : 0;
    return err == ACP_ERR_STATE ? 0 : err;
}

static int tell_update(struct acp_session *session, unsigned mode,
                       struct acp_session_update *update)
{
    switch (update->is) {
    case ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK:
    case ACP_SESSION_UPDATE_AGENT_MESSAGE_CHUNK:
    case ACP_SESSION_UPDATE_AGENT_THOUGHT_CHUNK:
        /* The three kinds of chunk are one struct at one place, and so are those of messages. */
        return tell_block(session, update->is, &update->agent_message_chunk.content,
                          update->agent_message_chunk.message_id);
    case ACP_SESSION_UPDATE_USER_MESSAGE:
    case ACP_SESSION_UPDATE_AGENT_MESSAGE:
    case ACP_SESSION_UPDATE_AGENT_THOUGHT:
        return tell_message(session, update->is, update->agent_message.message_id,
                            update->agent_message.content);
    case ACP_SESSION_UPDATE_TOOL_CALL:
        return tell_call(session, mode, &update->tool_call);
    case ACP_SESSION_UPDATE_TOOL_CALL_UPDATE:
        return tell_tool(session, mode, &update->tool_call_update);
    case ACP_SESSION_UPDATE_PLAN:
        return acp_session_send_plan(session, update->plan.entries.items,
                                     update->plan.entries.count);
    case ACP_SESSION_UPDATE_PLAN_UPDATE:
        if (update->plan_update.plan.is == ACP_PLAN_UPDATE_CONTENT_ITEMS)
            return acp_session_send_plan(session, update->plan_update.plan.items.entries.items,
                                         update->plan_update.plan.items.entries.count);
        return tell_as_it_is(session, mode, update);
    case ACP_SESSION_UPDATE_USAGE_UPDATE:
        return acp_session_send_usage(session, &update->usage_update);
    case ACP_SESSION_UPDATE_STATE_UPDATE:
    case ACP_SESSION_UPDATE_AVAILABLE_COMMANDS_UPDATE:
    case ACP_SESSION_UPDATE_CURRENT_MODE_UPDATE:
    case ACP_SESSION_UPDATE_CONFIG_OPTION_UPDATE:
        return 0;
    default:
        return tell_as_it_is(session, mode, update);
    }
}

int acp_session_replay(struct acp_session *session, unsigned mode, struct acp_raw update)
{
    struct acp_agent *agent = session->agent;
    struct acp_session_update told;
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    /*
     * A log is long, and the message's arena is for one message: it has what the request said,
     * which the program may still need.
     */
    struct acp_arena kept = agent->arena;
    acp_arena_init(&agent->arena, 0);
    int err = acp_session_update_decode(mode | ACP_UNSTABLE, update, &agent->arena, &told, NULL);
    if (!err)
        err = tell_update(session, mode, &told);
    acp_arena_finish(&agent->arena);
    agent->arena = kept;
    return err;
}
