/*
 * compaction.c - a conversation that fills the window of the model: the model is asked for a
 * summary, which takes the place of what was said, and the turn goes on.
 */
#include <stdio.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "agent/toolkit/tool.h"

/* From this part of the window on, what was said is summed up. */
enum { COMPACT_PERCENT = 85, COMPACT_KEEP = 4, COMPACT_KEEP_LEAST = 1, MAX_REQUEST = 8192 };

bool agent_turn_can_compact(const struct agent_turn *turn)
{
    return !turn->too_long && history_count(turn->session->history) > 1;
}

void agent_turn_compact_cut(struct agent_turn *turn)
{
    turn->too_long = true;
    agent_turn_compact(turn);
}

/* What the user asked for in this turn, in their words, when only the summary would tell it. */
static int write_request(const struct agent_turn *turn, struct acp_buf *out)
{
    const struct history *history = turn->session->history;
    struct acp_arena arena;
    int err = 0;
    acp_arena_init(&arena, 0);
    const struct model_message *messages = history_messages(history, turn->first_message, &arena);
    size_t count = messages && history_count(history) > turn->first_message ? 1 : 0;
    if (count && messages->role == MODEL_USER) {
        err = acp_buf_printf(out, "\n\nThe request of the user that is being worked on:\n");
        for (size_t i = 0; i < messages->part_count && !err; i++) {
            struct acp_str text = tool_cut(messages->parts[i].text, MAX_REQUEST);
            if (messages->parts[i].kind == MODEL_TEXT)
                err = acp_buf_printf(out, "\n%.*s", (int) text.len, text.ptr);
        }
    }
    acp_arena_finish(&arena);
    return err;
}

static int write_summary(const struct agent_turn *turn, size_t keep, struct acp_buf *out)
{
    size_t count = history_count(turn->session->history);
    int err = acp_buf_printf(out, "What was said until now, in short:\n\n%.*s",
                             (int) turn->text.len, acp_buf_view(&turn->text).ptr);
    bool is_kept = count - turn->first_message <= keep;
    return err || !turn->requests || is_kept ? err : write_request(turn, out);
}

/* The summary takes the place of what it sums up. */
static int keep_summary(struct agent_turn *turn, const struct model_end *end)
{
    struct agent_session *session = turn->session;
    size_t keep = turn->too_long ? COMPACT_KEEP_LEAST : COMPACT_KEEP;
    size_t count = history_count(session->history);
    struct acp_buf text;
    bool is_answer =
        end->stop == MODEL_END || end->stop == MODEL_CALLS || end->stop == MODEL_MAX_TOKENS;
    if (!is_answer || !turn->text.len)
        return ACP_ERR_REMOTE;
    acp_buf_init(&text, 2 << 20);
    int err = write_summary(turn, keep, &text);
    if (!err)
        err = history_compact(session->history, acp_buf_view(&text), keep);
    acp_buf_finish(&text);
    if (err)
        return err;
    /* Where the turn begins now: messages in front of the kept ones became a single one. */
    size_t gone = count + 1 - history_count(session->history);
    turn->first_message = turn->first_message > gone ? turn->first_message - gone + 1 : 1;
    agent_session_reset_history(session);
    agent_session_log_history(session);
    return 0;
}

/* Clients that take such updates see that the conversation is summed up, and the summary. */
static void tell_compaction(struct agent_turn *turn, enum acp_compaction_status_is status)
{
    struct acp_compaction_update update;
    struct acp_content_block summary;
    char id[40];
    (void) snprintf(id, sizeof(id), "compaction_%llu",
                    (unsigned long long) turn->session->compactions);
    acp_compaction_update_init(&update, acp_str_from(id), status);
    if (status == ACP_COMPACTION_STATUS_COMPLETED && turn->text.len) {
        acp_content_block_init_text(&summary, acp_buf_view(&turn->text));
        update.summary = (struct acp_content_block_list){&summary, 1};
    }
    (void) acp_session_send_compaction(turn->session->role, &update);
}

void agent_turn_end_compaction(struct agent_turn *turn, const struct model_end *end)
{
    int err = keep_summary(turn, end);
    agent_session_add_cost(turn->session, &end->usage);
    tell_compaction(turn, err ? ACP_COMPACTION_STATUS_FAILED : ACP_COMPACTION_STATUS_COMPLETED);
    turn->compacting = false;
    acp_buf_clear(&turn->text);
    if (agent_turn_end_if_cancelled(turn))
        return;
    if (err && end->is_too_long && agent_turn_can_compact(turn)) {
        agent_turn_compact_cut(turn);
    } else if (err) {
        agent_turn_fail(turn, end->stop == MODEL_CANCELLED ? AGENT_PROVIDER_DISABLED
                              : *end->sentence             ? end->sentence
                                                           : "the model gave no summary");
    } else if (turn->requests) {
        agent_turn_ask(turn);
    } else {
        (void) acp_turn_send_text(turn->role, acp_str_from("The conversation was summed up.\n"));
        agent_turn_end(turn, ACP_STOP_END_TURN);
    }
}

/* The wish for a summary is sent behind the history and is no part of it. */
static int send_wish(struct agent_turn *turn, struct acp_failure *failure)
{
    static const char wish[] =
        "Sum up our conversation so far for yourself, so that you can go on with nothing but the "
        "summary: the task, what was decided and why, what was done, which files matter, what is "
        "still open. Answer with the summary alone, and call no tools.";
    struct model_part part = {.kind = MODEL_TEXT, .text = acp_str_from(wish)};
    struct model_ask context;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    /* Before the messages are looked at: a new context takes reasoning out of them. */
    int err = agent_session_get_context(turn->session, &context);
    size_t count = history_count(turn->session->history);
    struct model_message *said = err ? NULL : history_messages(turn->session->history, 0, &arena);
    if (!err && !said)
        err = ACP_ERR_NOMEM;
    if (!err && turn->too_long)
        err = compaction_cut(said, count, &arena, said);
    if (!err) {
        said[count] = (struct model_message){MODEL_USER, &part, 1}; /* there is room for one more */
        err = agent_turn_send(turn, said, count + 1, failure);
    }
    acp_arena_finish(&arena);
    return err;
}

void agent_turn_compact(struct agent_turn *turn)
{
    struct acp_failure failure = {0};
    turn->compacting = true;
    turn->session->compactions++;
    tell_compaction(turn, ACP_COMPACTION_STATUS_IN_PROGRESS);
    int err = send_wish(turn, &failure);
    if (err) {
        tell_compaction(turn, ACP_COMPACTION_STATUS_FAILED);
        turn->compacting = false;
        agent_turn_fail(turn, *failure.message ? failure.message : acp_err_text(err));
    }
}

bool agent_session_is_nearly_full(const struct agent_session *session)
{
    const struct model_usage *usage = &session->usage;
    return usage->window && (usage->input + usage->output) * 100 > usage->window * COMPACT_PERCENT;
}
