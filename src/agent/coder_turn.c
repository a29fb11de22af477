/*
 * coder_turn.c - a turn: the model is asked, its tool calls are run, it is told the results and
 * asked again, until it is done, a limit is met, or the user cancels.
 *
 * Whatever happens, the history stays such that the next prompt can be given: every call in it has
 * a result.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/coder_inside.h"
#include "base/copy.h"

enum {
    MAX_REQUESTS_DEFAULT = 100,
    CODE_INTERNAL = -32603,
    CODE_PARAMS = -32602,
    CODE_AUTH_REQUIRED = -32000
};

/* From this part of the window on, what was said is summed up. */
enum { COMPACT_PERCENT = 85, COMPACT_KEEP = 4, COMPACT_KEEP_LEAST = 1 };

static void ask_model(struct work *work);

/* ---- The end --------------------------------------------------------------------------------- */

static void free_work(struct work *work)
{
    work->coding->work = NULL;
    work->coding->used = uv_now(&work->coding->coder->loop);
    model_reply_free(work->reply);
    acp_arena_finish(&work->arena);
    acp_buf_finish(&work->text);
    free(work);
}

/* Calls that will have no result any more get one, so that the next prompt can be given. */
static void settle(struct work *work)
{
    struct coding *coding = work->coding;
    const char *why = work->cancelled ? "This was not run: the user cancelled the turn."
                                      : "This was not run: the answer was not complete.";
    if (!coding->history)
        return; /* it could not be brought back, and is in the log as it was */
    if (history_close_calls(coding->history, acp_str(why)) < 0)
        history_clear(coding->history);
    coding_log(coding);
}

void work_end(struct work *work, enum acp_stop stop)
{
    struct acp_turn *turn = work->turn;
    settle(work);
    coding_log_stop(work->coding, acp_stop_text(stop));
    if (work->requests && stop == ACP_STOP_END_TURN) /* commands have none */
        coding_turn_ended(work->coding);
    free_work(work);
    (void) acp_turn_end(turn, stop);
}

static void fail_turn(struct work *work, int64_t code, const char *sentence)
{
    struct acp_turn *turn = work->turn;
    char copy[600]; /* it may be a part of what goes */
    (void) snprintf(copy, sizeof(copy), "%s", sentence);
    settle(work);
    coding_log_error(work->coding, copy);
    free_work(work);
    (void) acp_turn_fail(turn, code, acp_str(copy));
}

void work_fail(struct work *work, const char *sentence)
{
    fail_turn(work, CODE_INTERNAL, sentence);
}

void work_abandon(struct work *work)
{
    work->cancelled = true;
    settle(work);
    coding_log_stop(work->coding, "cancelled");
    free_work(work);
}

/* The client offers its user the ways to log in. */
static void fail_auth(struct work *work, const char *sentence)
{
    struct acp_str provider = coding_provider(work->coding);
    char text[600];
    (void) snprintf(text, sizeof(text), "%.400s; log in by `acp agent login %.*s`", sentence,
                    (int) (provider.len < 60 ? provider.len : 60), provider.ptr);
    fail_turn(work, CODE_AUTH_REQUIRED, text);
}

/* A turn that was cancelled ends when nothing of it is at work any more. */
static bool end_if_cancelled(struct work *work)
{
    if (!work->cancelled)
        return false;
    if (!work->reply && !work->open_calls && !work->starting)
        work_end(work, ACP_STOP_CANCELLED);
    return true;
}

void coder_cancel(struct acp_turn *turn, void *user)
{
    struct coding *coding = acp_session_user(acp_turn_session(turn));
    struct work *work = coding ? coding->work : NULL;
    (void) user;
    if (!work || work->turn != turn)
        return;
    work->cancelled = true;
    if (work->waiting) {
        coding_stop_waiting(coding);
        work_end(work, ACP_STOP_CANCELLED);
        return;
    }
    if (work->reply)
        model_reply_cancel(work->reply);
    tools_cancel(coding->tools, turn); /* may be the end of it */
}

/* ---- Tool calls ------------------------------------------------------------------------------ */

/* All calls have their results, maybe that they were cancelled: the model is told them. */
static void calls_are_done(struct work *work)
{
    struct coding *coding = work->coding;
    if (work->open_calls || work->starting)
        return;
    if (work->result_count) {
        int err = history_add(coding->history, MODEL_USER, work->results, work->result_count);
        work->result_count = 0;
        acp_arena_reset(&work->arena);
        coding_log(coding);
        if (err) {
            work_fail(work, history_err_text(err));
            return;
        }
    }
    if (!end_if_cancelled(work))
        ask_model(work);
}

static void note_result(struct work *work, struct model_part *result, bool failed,
                        struct acp_str text)
{
    result->failed = failed;
    result->text = acp_arena_copy(&work->arena, text.len ? text : acp_str("(nothing)"));
}

/* A call at work; in the turn's arena. */
struct running {
    struct work *work;
    struct model_part *result;
};

static void on_tool_done(struct tools *set, struct acp_str call, enum tool_end end,
                         struct acp_str text, void *user)
{
    struct running *running = user;
    struct work *work = running->work;
    (void) set;
    (void) call;
    note_result(work, running->result, end != TOOL_COMPLETED, text);
    work->open_calls--;
    calls_are_done(work);
}

/* Begins one call; what cannot be begun has failed. */
static void run_call(struct work *work, const struct model_part *call, struct model_part *result)
{
    struct coding *coding = work->coding;
    char id[40];
    *result = (struct model_part){.kind = MODEL_RESULT,
                                  .id = acp_arena_copy(&work->arena, call->id),
                                  .name = acp_arena_copy(&work->arena, call->name)};
    (void) snprintf(id, sizeof(id), "call_%llu", (unsigned long long) ++coding->calls);
    /* What is no JSON goes there as it came: the tools say what is wrong with it. */
    struct acp_raw input =
        call->arguments.ptr ? call->arguments : acp_raw_n(call->text.ptr, call->text.len);
    struct running *running = acp_arena_alloc(&work->arena, sizeof(*running));
    int err = ACP_ERR_NOMEM;
    if (running) {
        *running = (struct running){work, result};
        err = tools_run(coding->tools, work->turn, acp_str(id), call->name, input, on_tool_done,
                        running);
    }
    if (err) {
        note_result(work, result, true, acp_str(acp_err_text(err)));
        return;
    }
    work->open_calls++;
}

static void run_calls(struct work *work, const struct model_part *parts, size_t count)
{
    acp_arena_reset(&work->arena);
    work->results = acp_arena_alloc(&work->arena, (count + 1) * sizeof(*work->results));
    work->result_count = 0;
    if (!work->results) {
        work_fail(work, acp_err_text(ACP_ERR_NOMEM));
        return;
    }
    work->starting = true;
    for (size_t i = 0; i < count; i++)
        if (parts[i].kind == MODEL_CALL)
            run_call(work, &parts[i], &work->results[work->result_count++]);
    work->starting = false;
    calls_are_done(work);
}

/* ---- Pieces of an answer --------------------------------------------------------------------- */

static void on_text(struct model_reply *reply, struct acp_str piece, void *user)
{
    struct work *work = user;
    (void) reply;
    if (work->compacting)
        (void) acp_buf_append_str(&work->text, piece);
    else
        (void) acp_turn_text(work->turn, piece);
}

static void on_thought(struct model_reply *reply, struct acp_str piece, void *user)
{
    struct work *work = user;
    (void) reply;
    if (!work->compacting)
        (void) acp_turn_thought(work->turn, piece);
}

bool coding_warn(struct coding *coding, const char *sentence)
{
    struct acp_notice notice;
    acp_notice_init(&notice, ACP_NOTICE_SEVERITY_WARNING, acp_str(sentence));
    if (acp_session_notice(coding->session, &notice) == 0)
        return true;
    if (!coding->work)
        return false;
    (void) acp_turn_thought(coding->work->turn, acp_str(sentence));
    (void) acp_turn_thought(coding->work->turn, acp_str("\n"));
    return true;
}

void coding_warn_later(struct coding *coding, const char *sentence)
{
    if (coding_warn(coding, sentence))
        return;
    free(coding->warning);
    coding->warning = acp_str_copy(acp_str(sentence));
}

void coding_tell_warning(struct coding *coding)
{
    if (!coding->warning || !coding_warn(coding, coding->warning))
        return;
    free(coding->warning);
    coding->warning = NULL;
}

static void on_retry(struct model_reply *reply, const struct model_retry *retry, void *user)
{
    const struct work *work = user;
    (void) reply;
    (void) coding_warn(work->coding, retry->sentence);
}

static void on_notice(struct model_reply *reply, const char *sentence, void *user)
{
    const struct work *work = user;
    (void) reply;
    (void) coding_warn(work->coding, sentence);
}

void coding_spend(struct coding *coding, const struct model_usage *usage)
{
    if (usage->cost.has != ACP_PRESENT)
        return;
    coding->cost = acp_some_f64(coding->cost.value + usage->cost.value);
    coding_log_settings(coding);
}

static void tell_usage(struct work *work, const struct model_usage *usage)
{
    struct coding *coding = work->coding;
    struct acp_usage_update update;
    struct acp_cost cost;
    /* An answer that broke off early tells nothing, and what was told before still holds. */
    if (!usage->input && !usage->output)
        return;
    coding->usage = *usage;
    coding_spend(coding, usage);
    if (!usage->window)
        return;
    acp_usage_update_init(&update, usage->input + usage->output, usage->window);
    if (coding->cost.has == ACP_PRESENT) {
        acp_cost_init(&cost, coding->cost.value, acp_str("USD"));
        update.cost = &cost;
    }
    (void) acp_turn_usage(work->turn, &update);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

/* What does not fit can be summed up, once in a turn; a single message cannot be. */
static bool can_be_shorter(const struct work *work, const struct model_end *end)
{
    size_t count;
    (void) history_messages(work->coding->history, &count);
    return end->stop == MODEL_ERROR && end->is_too_long && !work->too_long && count > 1;
}

static void make_room(struct work *work)
{
    work->too_long = true;
    work_compact(work);
}

/* The summary takes the place of what it sums up. */
static int keep_summary(struct work *work, const struct model_end *end)
{
    struct coding *coding = work->coding;
    struct acp_buf text;
    bool is_answer =
        end->stop == MODEL_END || end->stop == MODEL_CALLS || end->stop == MODEL_MAX_TOKENS;
    if (!is_answer || !work->text.len)
        return ACP_ERR_REMOTE;
    acp_buf_init(&text, 2 << 20);
    int err = acp_buf_printf(&text, "What was said until now, in short:\n\n%.*s",
                             (int) work->text.len, acp_buf_view(&work->text).ptr);
    if (!err)
        err = history_compact(coding->history, acp_buf_view(&text),
                              work->too_long ? COMPACT_KEEP_LEAST : COMPACT_KEEP);
    acp_buf_finish(&text);
    if (err)
        return err;
    coding->usage = (struct model_usage){0};
    coding->logged = 0;
    coding->forgot = true;
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
    acp_compaction_update_init(&update, acp_str(id), status);
    if (status == ACP_COMPACTION_STATUS_COMPLETED && work->text.len) {
        acp_content_block_init_text(&summary, acp_buf_view(&work->text));
        update.summary = (struct acp_content_block_list){&summary, 1};
    }
    (void) acp_session_compaction(work->coding->session, &update);
}

static void end_compaction(struct work *work, const struct model_end *end)
{
    int err = keep_summary(work, end);
    coding_spend(work->coding, &end->usage);
    tell_compaction(work, err ? ACP_COMPACTION_STATUS_FAILED : ACP_COMPACTION_STATUS_COMPLETED);
    work->compacting = false;
    acp_buf_clear(&work->text);
    if (end_if_cancelled(work))
        return;
    if (err && can_be_shorter(work, end)) {
        make_room(work);
    } else if (err) {
        work_fail(work, end->stop == MODEL_CANCELLED ? CODER_DISABLED
                        : *end->sentence             ? end->sentence
                                                     : "the model gave no summary");
    } else if (work->requests) {
        ask_model(work);
    } else {
        (void) acp_turn_text(work->turn, acp_str("The conversation was summed up.\n"));
        work_end(work, ACP_STOP_END_TURN);
    }
}

/* ---- The whole answer ------------------------------------------------------------------------ */

/*
 * What came of an answer, in the history.  Services take no thoughts that nothing follows: those of
 * an answer that broke off there are left out.
 */
static int keep_answer(struct coding *coding, const struct model_end *end)
{
    size_t count = end->part_count;
    while (count && end->parts[count - 1].kind == MODEL_THOUGHT)
        count--;
    int err = count ? history_add(coding->history, MODEL_ASSISTANT, end->parts, count) : 0;
    coding_log(coding);
    return err;
}

static void on_end(struct model_reply *reply, const struct model_end *end, void *user)
{
    struct work *work = user;
    work->reply = NULL;
    if (work->compacting) {
        end_compaction(work, end);
        model_reply_free(reply);
        return;
    }
    tell_usage(work, &end->usage);
    int err = keep_answer(work->coding, end);
    if (end_if_cancelled(work))
        ;
    else if (err)
        work_fail(work, history_err_text(err));
    else if (end->stop == MODEL_CALLS)
        run_calls(work, end->parts, end->part_count);
    else if (can_be_shorter(work, end))
        make_room(work);
    else if (end->stop == MODEL_CANCELLED)
        work_fail(work, CODER_DISABLED); /* the user has not cancelled it */
    else if (end->stop == MODEL_ERROR && end->is_auth)
        fail_auth(work, end->sentence);
    else if (end->stop == MODEL_ERROR)
        work_fail(work, end->sentence);
    else
        work_end(work, end->stop == MODEL_MAX_TOKENS ? ACP_STOP_MAX_TOKENS
                       : end->stop == MODEL_REFUSAL  ? ACP_STOP_REFUSAL
                                                     : ACP_STOP_END_TURN);
    model_reply_free(reply);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* The tools that the mode offers. */
static size_t offered(struct coding *coding, struct model_tool *tools, size_t most)
{
    size_t count = 0;
    const struct tool_info *info;
    for (size_t i = 0; (info = toolbox_at(coding->coder->box, i)) != NULL && count < most; i++)
        if (tools_offer(coding->tools, info))
            tools[count++] = (struct model_tool){acp_str(info->name), acp_str(info->description),
                                                 acp_raw(info->input_schema)};
    return count + coding_offer_servers(coding, tools + count, most - count);
}

/* Sends these messages, and the tools: services want those declared that were used. */
static int send_messages(struct work *work, const struct model_message *messages, size_t count,
                         struct acp_failure *failure)
{
    enum { MAX_TOOLS = 128 };
    static const struct model_handler handler = {
        .text = on_text,
        .thought = on_thought,
        .retry = on_retry,
        .notice = on_notice,
        .end = on_end,
    };
    struct coding *coding = work->coding;
    struct model_tool tools[MAX_TOOLS];
    struct acp_buf system;
    acp_buf_init(&system, 1 << 20);
    int err = coder_write_system(coding, &system);
    struct model_ask ask = {
        .system = acp_buf_view(&system),
        .messages = messages,
        .message_count = count,
        .tools = tools,
        .tool_count = offered(coding, tools, MAX_TOOLS),
        .effort = coding->effort,
        .session = acp_session_id(coding->session),
    };
    if (!err)
        err = coding_ask(coding, &ask, &handler, work, &work->reply, failure);
    acp_buf_finish(&system);
    return err;
}

static void fail_ask(struct work *work, int err, const struct acp_failure *failure)
{
    work_fail(work, *failure->message ? failure->message : acp_err_text(err));
}

/* The wish for a summary is sent behind the history and is no part of it. */
static int send_wish(struct work *work, struct acp_failure *failure)
{
    static const char wish[] =
        "Sum up our conversation so far for yourself, so that you can go on with nothing but the "
        "summary: the task, what was decided and why, what was done, which files matter, what is "
        "still open. Answer with the summary alone, and call no tools.";
    struct model_part part = {.kind = MODEL_TEXT, .text = acp_str(wish)};
    size_t count;
    const struct model_message *said = history_messages(work->coding->history, &count);
    struct model_message *messages = calloc(count + 1, sizeof(*messages));
    if (!messages)
        return ACP_ERR_NOMEM;
    struct acp_arena shortened;
    int err = 0;
    acp_arena_init(&shortened, 0);
    if (work->too_long)
        err = coder_shorten(said, count, &shortened, messages);
    else if (count)
        memcpy(messages, said, count * sizeof(*messages));
    messages[count] = (struct model_message){MODEL_USER, &part, 1};
    if (!err)
        err = send_messages(work, messages, count + 1, failure);
    acp_arena_finish(&shortened);
    free(messages);
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
        fail_ask(work, err, &failure);
    }
}

static bool is_nearly_full(const struct coding *coding)
{
    const struct model_usage *usage = &coding->usage;
    return usage->window && (usage->input + usage->output) * 100 > usage->window * COMPACT_PERCENT;
}

static void ask_model(struct work *work)
{
    struct coding *coding = work->coding;
    uint64_t most = coding->coder->options->max_requests;
    struct acp_failure failure = {0};
    size_t count;
    if (work->requests >= (most ? most : MAX_REQUESTS_DEFAULT)) {
        work_end(work, ACP_STOP_MAX_TURN_REQUESTS);
        return;
    }
    work->requests++;
    if (is_nearly_full(coding)) {
        work_compact(work);
        return;
    }
    const struct model_message *messages = history_messages(coding->history, &count);
    int err = send_messages(work, messages, count, &failure);
    if (err)
        fail_ask(work, err, &failure);
}

void work_go_on(struct work *work)
{
    work->waiting = false;
    ask_model(work);
}

/* ---- The prompt ------------------------------------------------------------------------------ */

void work_begin(struct work *work)
{
    struct coding *coding = work->coding;
    int err = history_add(coding->history, MODEL_USER, work->prompt.parts, work->prompt.count);
    if (err) {
        fail_turn(work, CODE_PARAMS, history_err_text(err));
        return;
    }
    coding_name(coding, work->prompt.parts, work->prompt.count);
    coding_log(coding);
    tools_begin_turn(coding->tools);
    coding_tell_warning(coding);
    coding_tell_servers(coding);
    if (end_if_cancelled(work))
        return;
    work->waiting = coding_await_servers(coding, work);
    if (!work->waiting)
        ask_model(work);
}

static void begin(struct work *work, struct acp_content_block_list blocks)
{
    struct work_prompt *prompt = &work->prompt;
    struct acp_failure failure = {0};
    int err = coder_read_prompt(work->coding, blocks, &work->arena, &prompt->parts, &prompt->count,
                                &failure);
    if (!err && prompt->count == 1 && prompt->parts[0].kind == MODEL_TEXT &&
        coder_run_command(work, prompt->parts[0].text, &prompt->parts[0].text) == COMMAND_DONE)
        return;
    if (!err)
        err = work_read_links(work);
    if (err)
        fail_turn(work, CODE_PARAMS, *failure.message ? failure.message : acp_err_text(err));
}

void coder_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct coding *coding = acp_session_user(acp_turn_session(turn));
    struct work *work = calloc(1, sizeof(*work));
    (void) user;
    if (!coding || !work) {
        free(work);
        (void) acp_turn_fail(turn, CODE_INTERNAL, acp_str(acp_err_text(ACP_ERR_NOMEM)));
        return;
    }
    work->coding = coding;
    work->turn = turn;
    acp_arena_init(&work->arena, 0);
    acp_buf_init(&work->text, 1 << 20);
    coding->work = work;
    coding_log_prompt(coding, turn, prompt);
    struct acp_failure failure = {0};
    int err = coding_wake(coding, &failure);
    if (err)
        work_fail(work, *failure.message ? failure.message : acp_err_text(err));
    else
        begin(work, prompt);
}
