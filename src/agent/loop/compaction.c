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

bool work_can_compact(const struct work *work)
{
    return !work->too_long && history_count(work->coding->history) > 1;
}

void work_make_room(struct work *work)
{
    work->too_long = true;
    work_compact(work);
}

/* What the user asked for in this turn, in their words, when only the summary would tell it. */
static int write_request(const struct work *work, struct acp_buf *out)
{
    const struct history *history = work->coding->history;
    struct acp_arena arena;
    int err = 0;
    acp_arena_init(&arena, 0);
    const struct model_message *messages = history_messages(history, work->first_message, &arena);
    size_t count = messages && history_count(history) > work->first_message ? 1 : 0;
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

static int write_summary(const struct work *work, size_t keep, struct acp_buf *out)
{
    size_t count = history_count(work->coding->history);
    int err = acp_buf_printf(out, "What was said until now, in short:\n\n%.*s",
                             (int) work->text.len, acp_buf_view(&work->text).ptr);
    bool is_kept = count - work->first_message <= keep;
    return err || !work->requests || is_kept ? err : write_request(work, out);
}

/* The summary takes the place of what it sums up. */
static int keep_summary(struct work *work, const struct model_end *end)
{
    struct coding *coding = work->coding;
    size_t keep = work->too_long ? COMPACT_KEEP_LEAST : COMPACT_KEEP;
    size_t count = history_count(coding->history);
    struct acp_buf text;
    bool is_answer =
        end->stop == MODEL_END || end->stop == MODEL_CALLS || end->stop == MODEL_MAX_TOKENS;
    if (!is_answer || !work->text.len)
        return ACP_ERR_REMOTE;
    acp_buf_init(&text, 2 << 20);
    int err = write_summary(work, keep, &text);
    if (!err)
        err = history_compact(coding->history, acp_buf_view(&text), keep);
    acp_buf_finish(&text);
    if (err)
        return err;
    /* Where the turn begins now: messages in front of the kept ones became a single one. */
    size_t gone = count + 1 - history_count(coding->history);
    work->first_message = work->first_message > gone ? work->first_message - gone + 1 : 1;
    coding_forget(coding);
    coding_log(coding);
    return 0;
}

/* Clients that take such updates see that the conversation is summed up, and the summary. */
static void tell_compaction(struct work *work, enum acp_compaction_status_is status)
{
    struct acp_compaction_update update;
    struct acp_content_block summary;
    char id[40];
    (void) snprintf(id, sizeof(id), "compaction_%llu",
                    (unsigned long long) work->coding->compactions);
    acp_compaction_update_init(&update, acp_str_from(id), status);
    if (status == ACP_COMPACTION_STATUS_COMPLETED && work->text.len) {
        acp_content_block_init_text(&summary, acp_buf_view(&work->text));
        update.summary = (struct acp_content_block_list){&summary, 1};
    }
    (void) acp_session_send_compaction(work->coding->session, &update);
}

void work_end_compaction(struct work *work, const struct model_end *end)
{
    int err = keep_summary(work, end);
    coding_spend(work->coding, &end->usage);
    tell_compaction(work, err ? ACP_COMPACTION_STATUS_FAILED : ACP_COMPACTION_STATUS_COMPLETED);
    work->compacting = false;
    acp_buf_clear(&work->text);
    if (work_end_if_cancelled(work))
        return;
    if (err && end->is_too_long && work_can_compact(work)) {
        work_make_room(work);
    } else if (err) {
        work_fail(work, end->stop == MODEL_CANCELLED ? CODER_DISABLED
                        : *end->sentence             ? end->sentence
                                                     : "the model gave no summary");
    } else if (work->requests) {
        work_ask(work);
    } else {
        (void) acp_turn_send_text(work->turn, acp_str_from("The conversation was summed up.\n"));
        work_end(work, ACP_STOP_END_TURN);
    }
}

/* The wish for a summary is sent behind the history and is no part of it. */
static int send_wish(struct work *work, struct acp_failure *failure)
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
    int err = coding_get_context(work->coding, &context);
    size_t count = history_count(work->coding->history);
    struct model_message *said = err ? NULL : history_messages(work->coding->history, 0, &arena);
    if (!err && !said)
        err = ACP_ERR_NOMEM;
    if (!err && work->too_long)
        err = coder_shorten(said, count, &arena, said);
    if (!err) {
        said[count] = (struct model_message){MODEL_USER, &part, 1}; /* there is room for one more */
        err = work_send(work, said, count + 1, failure);
    }
    acp_arena_finish(&arena);
    return err;
}

void work_compact(struct work *work)
{
    struct acp_failure failure = {0};
    work->compacting = true;
    work->coding->compactions++;
    tell_compaction(work, ACP_COMPACTION_STATUS_IN_PROGRESS);
    int err = send_wish(work, &failure);
    if (err) {
        tell_compaction(work, ACP_COMPACTION_STATUS_FAILED);
        work->compacting = false;
        work_fail(work, *failure.message ? failure.message : acp_err_text(err));
    }
}

bool coding_is_nearly_full(const struct coding *coding)
{
    const struct model_usage *usage = &coding->usage;
    return usage->window && (usage->input + usage->output) * 100 > usage->window * COMPACT_PERCENT;
}
