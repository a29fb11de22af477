/*
 * The history of a session whose agent cannot load one: version 2 lets a client ask for the start
 * of a session that is open, whatever the agent remembers.  So the role keeps the updates it sent,
 * as JSON, up to a limit; past it they are forgotten, and the request is refused.
 */
#include <stdlib.h>

#include "role/agent_role.h"

/* Bytes of one session's updates. */
enum { MAX_HISTORY = 16 * 1024 * 1024 };

void agent_record_update(struct acp_session *session, const struct acp_session_update *update)
{
    const struct acp_agent *agent = session->agent;
    struct agent_history *history = &session->history;
    if (!agent_is_v2(agent) || agent->handler.load_session || history->lost)
        return;
    if (!history->updates.max)
        acp_buf_init(&history->updates, MAX_HISTORY);
    struct acp_json_writer w;
    size_t at = history->updates.len;
    size_t len = 0;
    int err = acp_buf_append(&history->updates, &len, sizeof(len));
    acp_json_writer_init(&w, &history->updates);
    if (!err)
        err = acp_session_update_encode(agent->mode, update, &w, NULL);
    /* What cannot be written is not sent either; a record that is full or out of memory is over. */
    if (err == ACP_ERR_LIMIT || err == ACP_ERR_NOMEM) {
        history->lost = true;
        acp_buf_finish(&history->updates);
    } else if (err) {
        acp_buf_truncate(&history->updates, at);
    } else {
        len = history->updates.len - at - sizeof(len);
        memcpy(history->updates.data + history->updates.start + at, &len, sizeof(len));
    }
}

/* Takes the next update off the rest. */
static struct acp_raw next_update(struct acp_str *rest)
{
    size_t len;
    memcpy(&len, rest->ptr, sizeof(len));
    struct acp_raw update = acp_raw_n(rest->ptr + sizeof(len), len);
    rest->ptr += sizeof(len) + len;
    rest->len -= sizeof(len) + len;
    return update;
}

int agent_replay_history(struct acp_session *session)
{
    int err = agent_flush_text(session);
    if (session->history.lost)
        return ACP_ERR_LIMIT;
    /* The message that a running turn is in the middle of goes on afterwards. */
    enum speaker speaker = session->speaker;
    char *message = session->message;
    char room[AGENT_ID_SIZE];
    memcpy(room, session->message_room, sizeof(room));
    session->speaker = SPEAKER_NONE;
    session->message = NULL;
    session->state = SESSION_LOADING;
    struct acp_str rest = acp_buf_view(&session->history.updates);
    while (rest.len && !err)
        err = acp_session_replay(session, session->agent->mode, next_update(&rest));
    if (!err)
        err = agent_flush_text(session);
    session->state = SESSION_READY;
    acp_map_finish(&session->replayed);
    acp_map_init(&session->replayed, session->agent->options.seed[1]);
    acp_str_free_from_room(session->message, session->message_room);
    memcpy(session->message_room, room, sizeof(room));
    session->speaker = speaker;
    session->message = message;
    return err;
}
