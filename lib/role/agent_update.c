/*
 * What is sent for a session.  Text is merged: chunks of one message are joined until there is
 * enough of them, they are old enough, or something else is to be sent.
 */
#include <stdio.h>
#include <stdlib.h>

#include "role/agent_role.h"

/* Bytes of an encoded update; the buffer is freed after a longer one. */
enum { KEPT_JSON = 64 * 1024 };

/* ---- Sending --------------------------------------------------------------------------------- */

bool agent_may_send(const struct acp_session *session)
{
    return !session->agent->closing && session->id && session->state != SESSION_OPENING;
}

/* Between turns, for a client that cannot take that: kept until the next prompt. */
static bool must_wait(const struct acp_session *session)
{
    return session->agent->options.quiet_between_turns && session->state == SESSION_READY &&
           !session->turn;
}

static int keep_waiting(struct acp_session *session, const struct acp_session_update *update,
                        struct acp_raw raw)
{
    struct acp_buf text;
    struct acp_json_writer w;
    acp_buf_init(&text, session->waiting.max);
    acp_json_writer_init(&w, &text);
    int err = raw.ptr ? acp_buf_append(&text, raw.ptr, raw.len)
                      : acp_session_update_encode(session->agent->mode, update, &w, NULL);
    size_t len = text.len;
    size_t had = session->waiting.len;
    if (!err)
        err = acp_buf_append(&session->waiting, &len, sizeof(len));
    if (!err)
        err = acp_buf_append_str(&session->waiting, acp_buf_view(&text));
    if (err)
        acp_buf_truncate(&session->waiting, had);
    acp_buf_finish(&text);
    return err;
}

/* The notification around an update, which is given as a struct or as raw JSON. */
static int send_notification(struct acp_session *session, const struct acp_session_update *update,
                             struct acp_raw raw)
{
    struct acp_agent *agent = session->agent;
    struct acp_json_writer *w = acp_peer_begin_notify(agent->peer, acp_str_from("session/update"));
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str_from("sessionId"));
    acp_json_write_str(w, acp_str_from(session->id));
    acp_json_write_key(w, acp_str_from("update"));
    if (raw.ptr)
        acp_json_write_raw(w, raw);
    else
        (void) acp_session_update_encode(agent->mode, update, w, NULL);
    if (session->turn && session->turn->own_meta) {
        acp_json_write_key(w, acp_str_from("_meta"));
        acp_json_write_raw(w, acp_raw_from(session->turn->own_meta));
    }
    acp_json_end_object(w);
    return acp_peer_commit(agent->peer, NULL);
}

int acp_session_get_update(struct acp_session *session, struct acp_raw *ret)
{
    struct acp_agent *agent = session->agent;
    struct acp_buf *json = &agent->update_json;
    struct acp_json_writer w;
    if (!agent->update)
        return ACP_ERR_STATE;
    if (json->len == 0) {
        acp_json_writer_init(&w, json);
        int err = acp_session_update_encode(agent->mode, agent->update, &w, NULL);
        if (err) {
            acp_buf_clear(json);
            return err;
        }
    }
    *ret = acp_raw_n(acp_buf_view(json).ptr, json->len);
    return 0;
}

struct acp_raw agent_before_update(struct acp_session *session,
                                   const struct acp_session_update *update)
{
    struct acp_agent *agent = session->agent;
    struct acp_buf *json = &agent->update_json;
    acp_buf_clear(json);
    if (agent->handler.before_update && session->state == SESSION_READY) {
        agent->update = update;
        agent->handler.before_update(session, update, agent->user);
        agent->update = NULL;
    }
    return json->len ? acp_raw_n(acp_buf_view(json).ptr, json->len) : acp_raw_from(NULL);
}

/* A long update does not leave its memory to an agent that may never have another one. */
static void trim_json(struct acp_agent *agent)
{
    if (agent->update_json.len > KEPT_JSON)
        acp_buf_finish(&agent->update_json);
}

static int deliver(struct acp_session *session, const struct acp_session_update *update)
{
    struct acp_raw raw = agent_before_update(session, update);
    if (session->state == SESSION_READY)
        agent_record_update(session, update);
    int err = must_wait(session) ? keep_waiting(session, update, raw)
                                 : send_notification(session, update, raw);
    trim_json(session->agent);
    return err;
}

int agent_send_update(struct acp_session *session, const struct acp_session_update *update)
{
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    int err = agent_flush_text(session);
    return err ? err : deliver(session, update);
}

void agent_release_waiting(struct acp_session *session)
{
    struct acp_str rest = acp_buf_view(&session->waiting);
    while (rest.len > sizeof(size_t)) {
        size_t len;
        memcpy(&len, rest.ptr, sizeof(len));
        (void) send_notification(session, NULL, acp_raw_n(rest.ptr + sizeof(len), len));
        rest.ptr += sizeof(len) + len;
        rest.len -= sizeof(len) + len;
    }
    acp_buf_finish(&session->waiting);
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* The history came in pieces once; nobody waits for the single ones any more. */
enum { HISTORY_CHARS = 16 * 1024 };

void agent_make_message_id(struct acp_session *session, char id[AGENT_ID_SIZE])
{
    (void) snprintf(id, AGENT_ID_SIZE, "msg_%llx_%llu",
                    (unsigned long long) session->agent->options.seed[1],
                    (unsigned long long) session->agent->next_message++);
}

void agent_end_message(struct acp_session *session)
{
    session->speaker = SPEAKER_NONE;
}

static enum acp_session_update_is chunk_kind(enum speaker speaker)
{
    return speaker == SPEAKER_USER    ? ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK
           : speaker == SPEAKER_AGENT ? ACP_SESSION_UPDATE_AGENT_MESSAGE_CHUNK
                                      : ACP_SESSION_UPDATE_AGENT_THOUGHT_CHUNK;
}

static void set_chunk(struct acp_session_update *update, enum speaker speaker,
                      struct acp_str message)
{
    acp_zero(update, sizeof(*update));
    update->is = chunk_kind(speaker);
    /* The three kinds of chunk are one struct at one place. */
    update->agent_message_chunk.message_id = message;
}

static void start_merging(struct acp_session *session)
{
    struct acp_agent *agent = session->agent;
    session->is_merging = true;
    session->text_due = agent->timed ? agent->now + agent->options.merge_ms : 0;
    agent->unarmed |= !agent->timed;
    session->next_merging = NULL;
    if (agent->merging)
        agent->last_merging->next_merging = session;
    else
        agent->merging = session;
    agent->last_merging = session;
    acp_endpoint_wake(&agent->endpoint); /* there is a new deadline */
}

void agent_forget_text(struct acp_session *session)
{
    struct acp_agent *agent = session->agent;
    struct acp_session *before = NULL;
    if (!session->is_merging)
        return;
    session->is_merging = false;
    acp_buf_clear(&session->text);
    for (struct acp_session *s = agent->merging; s != session; s = s->next_merging)
        before = s;
    if (before)
        before->next_merging = session->next_merging;
    else
        agent->merging = session->next_merging;
    if (agent->last_merging == session)
        agent->last_merging = before;
}

void agent_free_text_buffer(struct acp_session *session)
{
    if (!session->is_merging)
        acp_buf_finish(&session->text);
}

int agent_flush_text(struct acp_session *session)
{
    if (!session->is_merging)
        return 0;
    struct acp_session_update update;
    set_chunk(&update, session->speaker, acp_str_from(session->message));
    acp_content_block_init_text(&update.agent_message_chunk.content, acp_buf_view(&session->text));
    int err = deliver(session, &update);
    agent_forget_text(session);
    return err;
}

void agent_flush_all(struct acp_agent *agent)
{
    while (agent->merging)
        (void) agent_flush_text(agent->merging);
}

static enum acp_session_update_is whole_kind(enum speaker speaker)
{
    return speaker == SPEAKER_USER    ? ACP_SESSION_UPDATE_USER_MESSAGE
           : speaker == SPEAKER_AGENT ? ACP_SESSION_UPDATE_AGENT_MESSAGE
                                      : ACP_SESSION_UPDATE_AGENT_THOUGHT;
}

/*
 * Version 2: a message of the history begins as an empty one, so that a client which still has it
 * from before does not have it twice.
 */
static int begin_replayed(struct acp_session *session)
{
    static const struct acp_content_block nothing = {.is = ACP_CONTENT_BLOCK_TEXT};
    static char begun; /* what the map holds for a message: only its being there counts */
    struct acp_session_update update = {.is = whole_kind(session->speaker)};
    struct acp_buf key;
    acp_buf_init(&key, (size_t) ACP_WIRE_DEFAULT_MAX);
    /* The three kinds of message have ids of their own. */
    int err = acp_buf_printf(&key, "%d %s", (int) session->speaker, session->message);
    bool known = !err && acp_map_get(&session->replayed, acp_buf_view(&key));
    if (!err && !known)
        err = acp_map_set(&session->replayed, acp_buf_view(&key), &begun);
    acp_buf_finish(&key);
    if (err || known)
        return err;
    update.agent_message.message_id = acp_str_from(session->message);
    update.agent_message.content.items = &nothing; /* none of them */
    return agent_send_update(session, &update);
}

/* The message that the next chunk belongs to: the one given, the open one, or a new one. */
static int choose_message(struct acp_session *session, enum speaker speaker, struct acp_str message)
{
    bool same = session->speaker == speaker &&
                (!message.len || acp_str_eq(message, acp_str_from(session->message)));
    if (same)
        return 0;
    int err = agent_flush_text(session);
    char made[AGENT_ID_SIZE];
    if (!message.len) {
        agent_make_message_id(session, made);
        message = acp_str_from(made);
    }
    char *copy =
        acp_str_copy_to_room(message, session->message_room, sizeof(session->message_room));
    if (!copy)
        return ACP_ERR_NOMEM;
    acp_str_free_from_room(session->message, session->message_room);
    session->message = copy;
    session->speaker = speaker;
    if (!err && agent_is_v2(session->agent) && session->state == SESSION_LOADING)
        err = begin_replayed(session);
    return err;
}

/* Whether text that was said is to be sent now. */
static bool is_enough(const struct acp_session *session)
{
    const struct acp_agent *agent = session->agent;
    if (session->state == SESSION_LOADING)
        return session->text.len >= HISTORY_CHARS;
    return agent->options.no_merging || session->text.len >= agent->options.merge_chars ||
           (agent->options.merge_waiting && acp_peer_output(agent->peer).len == 0);
}

static int say(struct acp_session *session, enum speaker speaker, struct acp_str text,
               struct acp_str message)
{
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    if (text.len == 0)
        return 0;
    int err = choose_message(session, speaker, message);
    if (!err)
        err = acp_buf_append_str(&session->text, text);
    if (err)
        return err;
    if (!session->is_merging)
        start_merging(session);
    return is_enough(session) ? agent_flush_text(session) : 0;
}

static int say_block(struct acp_session *session, enum speaker speaker,
                     const struct acp_content_block *block, struct acp_str message)
{
    struct acp_session_update update;
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    int err = choose_message(session, speaker, message);
    if (err)
        return err;
    set_chunk(&update, speaker, acp_str_from(session->message));
    update.agent_message_chunk.content = *block;
    if (agent_is_v2(session->agent) && block->is == ACP_CONTENT_BLOCK_RESOURCE_LINK &&
        block->resource_link.size.has == ACP_PRESENT && block->resource_link.size.value >= 0)
        update.agent_message_chunk.content.resource_link.size_v2 =
            acp_some_u64((uint64_t) block->resource_link.size.value);
    return agent_send_update(session, &update);
}

int acp_session_send_text(struct acp_session *session, struct acp_str text, struct acp_str message)
{
    return say(session, SPEAKER_AGENT, text, message);
}

int acp_session_send_thought(struct acp_session *session, struct acp_str text,
                             struct acp_str message)
{
    return say(session, SPEAKER_THOUGHT, text, message);
}

int acp_session_send_block(struct acp_session *session, const struct acp_content_block *block,
                           struct acp_str message)
{
    return say_block(session, SPEAKER_AGENT, block, message);
}

int acp_session_send_user_block(struct acp_session *session, const struct acp_content_block *block,
                                struct acp_str message)
{
    return say_block(session, SPEAKER_USER, block, message);
}

struct acp_str acp_session_message_id(const struct acp_session *session)
{
    return acp_str_from(session->message);
}

/* ---- The other updates ----------------------------------------------------------------------- */

int agent_send_between(struct acp_session *session, const struct acp_session_update *update)
{
    int err = agent_send_update(session, update); /* sends what is left of the message first */
    agent_end_message(session);
    return err;
}

int acp_session_send_plan(struct acp_session *session, const struct acp_plan_entry *entries,
                          size_t count)
{
    struct acp_session_update update;
    if (agent_is_v2(session->agent)) {
        acp_session_update_init_plan_update(&update);
        acp_plan_update_content_init_items(&update.plan_update.plan, acp_str_from("main"), entries,
                                           count);
    } else {
        acp_session_update_init_plan(&update, entries, count);
    }
    return agent_send_between(session, &update);
}

int acp_session_send_info(struct acp_session *session, const struct acp_session_info_update *info)
{
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_SESSION_INFO_UPDATE};
    update.session_info_update = *info;
    return agent_send_update(session, &update);
}

int acp_session_send_usage(struct acp_session *session, const struct acp_usage_update *usage)
{
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_USAGE_UPDATE};
    update.usage_update = *usage;
    return agent_send_update(session, &update);
}

int acp_session_send_notice(struct acp_session *session, const struct acp_notice *notice)
{
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_NOTICE};
    update.notice = *notice;
    int err = agent_may_send(session) ? agent_check_update(session, &update) : ACP_ERR_STATE;
    return err ? err : agent_send_update(session, &update);
}

int acp_session_send_compaction(struct acp_session *session,
                                const struct acp_compaction_update *compaction)
{
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_COMPACTION_UPDATE};
    update.compaction_update = *compaction;
    return acp_session_send_update(session, &update);
}

/* What the role keeps account of, it must also learn from updates that it did not make. */
static int note_update(struct acp_session *session, struct acp_session_update *update)
{
    switch (update->is) {
    case ACP_SESSION_UPDATE_TOOL_CALL: {
        struct acp_tool_call_update tool = {.tool_call_id = update->tool_call.tool_call_id};
        return agent_note_tool(session, &tool);
    }
    case ACP_SESSION_UPDATE_TOOL_CALL_UPDATE:
        return agent_note_tool(session, &update->tool_call_update);
    case ACP_SESSION_UPDATE_TERMINAL_UPDATE:
        return agent_note_terminal(session, &update->terminal_update);
    case ACP_SESSION_UPDATE_STATE_UPDATE:
        agent_note_state(session, &update->state_update);
        return 0;
    case ACP_SESSION_UPDATE_CONFIG_OPTION_UPDATE:
    case ACP_SESSION_UPDATE_AVAILABLE_COMMANDS_UPDATE:
        agent_note_setup(session, update);
        return 0;
    default:
        return 0;
    }
}

int acp_session_send_update(struct acp_session *session, const struct acp_session_update *update)
{
    struct acp_session_update said = *update;
    if (!agent_may_send(session))
        return ACP_ERR_STATE;
    int err = agent_check_update(session, update);
    if (!err)
        err = note_update(session, &said);
    if (err)
        return err;
    /* What a terminal prints goes beside what is said, and does not cut a message in two. */
    if (said.is == ACP_SESSION_UPDATE_TERMINAL_UPDATE ||
        said.is == ACP_SESSION_UPDATE_TERMINAL_OUTPUT_CHUNK)
        return agent_send_update(session, &said);
    return agent_send_between(session, &said);
}
