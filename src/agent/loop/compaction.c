/*
 * compaction.c - makes room when the conversation fills the model's window: the model writes a
 * summary, which replaces the conversation, and the turn continues.
 */
#include <stdio.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/utf8.h"

enum {
    COMPACT_PERCENT = 85,   /* of the window: more than that is compacted */
    COMPACT_KEEP = 4,       /* messages that stay */
    COMPACT_KEEP_LEAST = 1, /* where the conversation has exceeded the window */
    MAX_REQUEST = 8192,     /* bytes of the user's request that are repeated */
};

bool agent_turn_can_compact(const struct agent_turn *turn)
{
    return !turn->exceeded_window && history_count(turn->session->history) > 1;
}

void agent_turn_compact_cut(struct agent_turn *turn)
{
    turn->exceeded_window = true;
    agent_turn_compact(turn);
}

/* The request of this turn in the user's words, which the summary may have lost. */
static int write_request(const struct agent_turn *turn, struct acp_buf *out)
{
    const struct history *history = turn->session->history;
    struct acp_arena arena;
    int err = 0;
    acp_arena_init(&arena, 0);
    const struct model_message *messages = history_messages(history, turn->first_message, &arena);
    size_t count = messages && history_count(history) > turn->first_message ? 1 : 0;
    if (count && messages->role == MODEL_USER) {
        err = acp_buf_printf(out, "\n\nThe current request of the user:\n");
        for (size_t i = 0; i < messages->part_count && !err; i++) {
            struct acp_str text = acp_str_cut(messages->parts[i].text, MAX_REQUEST);
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
    int err = acp_buf_printf(out, "Summary of the conversation so far:\n\n%.*s",
                             (int) turn->summary.len, acp_buf_view(&turn->summary).ptr);
    bool is_kept = count - turn->first_message <= keep;
    return err || !turn->requests || is_kept ? err : write_request(turn, out);
}

/* Replaces the conversation by the summary. */
static int apply_summary(struct agent_turn *turn, const struct model_end *end)
{
    struct agent_session *session = turn->session;
    size_t keep = turn->exceeded_window ? COMPACT_KEEP_LEAST : COMPACT_KEEP;
    size_t count = history_count(session->history);
    struct acp_buf text;
    bool is_answer =
        end->stop == MODEL_END || end->stop == MODEL_CALLS || end->stop == MODEL_MAX_TOKENS;
    if (!is_answer || !turn->summary.len)
        return ACP_ERR_REMOTE;
    acp_buf_init(&text, 2 << 20);
    int err = write_summary(turn, keep, &text);
    if (!err)
        err = history_compact(session->history, acp_buf_view(&text), keep);
    acp_buf_finish(&text);
    if (err)
        return err;
    /* Where the turn begins now: the messages before those that stay have become a single one. */
    size_t gone = count + 1 - history_count(session->history);
    turn->first_message = turn->first_message > gone ? turn->first_message - gone + 1 : 1;
    agent_session_reset_history(session);
    agent_session_log_history(session);
    return 0;
}

/* For clients that take such updates. */
static void send_compaction(struct agent_turn *turn, enum acp_compaction_status_is status)
{
    struct acp_compaction_update update;
    struct acp_content_block summary;
    char id[40];
    (void) snprintf(id, sizeof(id), "compaction_%llu",
                    (unsigned long long) turn->session->compactions);
    acp_compaction_update_init(&update, acp_str_from(id), status);
    if (status == ACP_COMPACTION_STATUS_COMPLETED && turn->summary.len) {
        acp_content_block_init_text(&summary, acp_buf_view(&turn->summary));
        update.summary = (struct acp_content_block_list){&summary, 1};
    }
    (void) acp_session_send_compaction(turn->session->role, &update);
}

void agent_turn_end_compaction(struct agent_turn *turn, const struct model_end *end)
{
    int err = apply_summary(turn, end);
    agent_session_add_cost(turn->session, &end->usage);
    send_compaction(turn, err ? ACP_COMPACTION_STATUS_FAILED : ACP_COMPACTION_STATUS_COMPLETED);
    acp_buf_clear(&turn->summary);
    if (agent_turn_end_if_cancelled(turn))
        return;
    if (err && end->is_too_long && agent_turn_can_compact(turn)) {
        agent_turn_compact_cut(turn);
    } else if (err) {
        agent_turn_fail(turn, end->stop == MODEL_CANCELLED ? AGENT_PROVIDER_DISABLED
                              : *end->sentence             ? end->sentence
                                                           : "the model returned no summary");
    } else if (turn->requests) {
        agent_turn_ask(turn);
    } else {
        (void) acp_turn_send_text(turn->role, acp_str_from("The conversation was summarised.\n"));
        agent_turn_end(turn, ACP_STOP_END_TURN);
    }
}

/* The request for a summary follows the history and is not part of it. */
static int request_summary(struct agent_turn *turn, struct acp_failure *failure)
{
    static const char request[] =
        "Summarise our conversation so far, so that you can continue with nothing but the "
        "summary: the task, decisions and their reasons, what was done, which files matter, what "
        "is still open. Answer with the summary only, and call no tools.";
    struct model_part part = {.kind = MODEL_TEXT, .text = acp_str_from(request)};
    struct model_ask context;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    /* Before the messages are read: a new context removes reasoning from them. */
    int err = agent_session_get_context(turn->session, &context);
    size_t count = history_count(turn->session->history);
    struct model_message *messages =
        err ? NULL : history_messages(turn->session->history, 0, &arena);
    if (!err && !messages)
        err = ACP_ERR_NOMEM;
    if (!err && turn->exceeded_window)
        err = compaction_cut(messages, count, &arena, messages);
    if (!err) {
        messages[count] =
            (struct model_message){MODEL_USER, &part, 1}; /* there is room for one more */
        err = agent_turn_send(turn, AGENT_TURN_COMPACTING, messages, count + 1, failure);
    }
    acp_arena_finish(&arena);
    return err;
}

void agent_turn_compact(struct agent_turn *turn)
{
    struct acp_failure failure = {0};
    turn->session->compactions++;
    send_compaction(turn, ACP_COMPACTION_STATUS_IN_PROGRESS);
    int err = request_summary(turn, &failure);
    if (err) {
        send_compaction(turn, ACP_COMPACTION_STATUS_FAILED);
        agent_turn_fail(turn, *failure.message ? failure.message : acp_err_text(err));
    }
}

bool agent_session_is_nearly_full(const struct agent_session *session)
{
    const struct model_usage *usage = &session->usage;
    return usage->window && (usage->input + usage->output) * 100 > usage->window * COMPACT_PERCENT;
}
