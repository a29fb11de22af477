/*
 * session_replay.c - sends a client what a stored session has shown.  Updates are logged as one
 * version of the protocol has them; the role translates them for a client that speaks the other.
 */
#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"

struct replayed_call {
    struct replayed_call *next;
    struct acp_str id;
};

void session_replay_init(struct session_replay *replay, struct acp_session *role_session)
{
    *replay = (struct session_replay){.role = role_session};
    acp_arena_init(&replay->arena, 0);
}

void session_replay_finish(struct session_replay *replay)
{
    acp_arena_finish(&replay->arena);
}

/* ---- Tool calls ------------------------------------------------------------------------------ */

/* The members of an update that tell whether a tool call is still running. */
struct call_state {
    struct acp_str update;
    struct acp_str id;
    struct acp_str status;
};

static struct call_state read_call(struct acp_raw body, struct acp_arena *arena)
{
    struct call_state state = {0};
    struct acp_json_reader r;
    struct acp_str key;
    acp_json_reader_init(&r, body, arena, 0);
    int err = acp_json_enter_object(&r);
    while (!err && acp_json_next_key(&r, &key) > 0) {
        bool is_text = acp_json_peek(&r) == ACP_JSON_STRING;
        struct acp_str *text = acp_str_is(key, "sessionUpdate") ? &state.update
                               : acp_str_is(key, "toolCallId")  ? &state.id
                               : acp_str_is(key, "status")      ? &state.status
                                                                : NULL;
        err = text && is_text ? acp_json_read_str(&r, text) : acp_json_skip(&r);
    }
    return state;
}

/* Keeps account of the calls that have begun and not ended. */
static void note_call(struct session_replay *replay, struct acp_raw body)
{
    struct call_state state = read_call(body, &replay->arena);
    struct replayed_call **at = &replay->calls;
    if (!acp_str_starts_with(state.update, "tool_call") || !state.id.ptr)
        return;
    while (*at && !acp_str_eq((*at)->id, state.id))
        at = &(*at)->next;
    bool ended = acp_str_is(state.status, "completed") || acp_str_is(state.status, "failed") ||
                 acp_str_is(state.status, "cancelled");
    if (*at && ended) {
        *at = (*at)->next;
    } else if (!*at && !ended) {
        struct acp_str id = acp_arena_copy(&replay->arena, state.id);
        struct replayed_call *call = acp_arena_alloc(&replay->arena, sizeof(*call));
        if (call && id.ptr)
            *call = (struct replayed_call){.id = id};
        *at = id.ptr ? call : NULL;
    }
}

void session_replay_end(struct session_replay *replay)
{
    static const char why[] = "The agent ended before this tool call did.";
    for (; replay->calls; replay->calls = replay->calls->next) {
        struct acp_session_update update = {.is = ACP_SESSION_UPDATE_TOOL_CALL_UPDATE};
        struct acp_tool_call_content content;
        struct acp_json_writer w;
        struct acp_buf body;
        acp_tool_call_content_init_content(&content);
        acp_content_block_init_text(&content.content.content, acp_str_from(why));
        acp_tool_call_update_init(&update.tool_call_update, replay->calls->id);
        update.tool_call_update.status.is = ACP_TOOL_CALL_STATUS_FAILED;
        update.tool_call_update.content = (struct acp_tool_call_content_list){&content, 1};
        acp_buf_init(&body, 1 << 16);
        acp_json_writer_init(&w, &body);
        if (acp_session_update_encode(ACP_V1, &update, &w, NULL) == 0 && !w.err)
            (void) acp_session_replay(replay->role, ACP_V1,
                                      acp_raw_n(acp_buf_view(&body).ptr, body.len));
        acp_buf_finish(&body);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* An update that this client cannot take is no reason to lose the session. */
void session_replay_event(struct session_replay *replay, enum log_kind kind, struct acp_raw body)
{
    struct acp_session *role_session = replay->role;
    bool v2 = acp_agent_protocol(acp_session_agent(role_session)) & ACP_V2;
    switch (kind) {
    case LOG_KIND_PROMPT:
        session_replay_end(replay);
        (void) acp_session_replay(role_session, ACP_V2, body);
        break;
    case LOG_KIND_UPDATE:
        note_call(replay, body);
        (void) acp_session_replay(role_session, ACP_V1, body);
        break;
    case LOG_KIND_UPDATE2:
        note_call(replay, body);
        (void) acp_session_replay(role_session, ACP_V2, body);
        break;
    case LOG_KIND_OUTPUT2:
        if (v2)
            break; /* the terminal itself is replayed */
        (void) acp_session_replay(role_session, ACP_V1, body);
        break;
    case LOG_KIND_OUTPUT:
        (void) acp_session_replay(role_session, ACP_V1, body);
        break;
    default:
        break;
    }
}
