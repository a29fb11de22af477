/*
 * turn.c - a turn: the model is asked, its tool calls are run, it is told the results and
 * asked again, until it is done, a limit is met, or the user cancels.
 *
 * Whatever happens, the history stays such that the next prompt can be given: every call in it has
 * a result.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"
#include "base/utf8.h"

enum {
    MAX_REQUESTS_DEFAULT = 100,
    CODE_INTERNAL = -32603,
    CODE_PARAMS = -32602,
    CODE_AUTH_REQUIRED = -32000
};

enum {
    MAX_CONTINUED = 3,   /* answers in a row that are cut off and continued */
    MAX_UNPARSED = 4096, /* bytes that are kept of arguments that are not JSON */
    FULL_PART = 50,      /* the window is full when less than this part of it is left */
};

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
    if (history_close_calls(coding->history, acp_str_from(why)) < 0)
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
    (void) acp_turn_fail(turn, code, acp_str_from(copy));
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

bool work_end_if_cancelled(struct work *work)
{
    if (!work->cancelled)
        return false;
    if (!work->reply && !work->open_calls && !work->starting)
        work_end(work, ACP_STOP_CANCELLED);
    return true;
}

static bool take_prompt(struct work *work);

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
        if (take_prompt(work))
            work_end(work, ACP_STOP_CANCELLED);
        return;
    }
    if (work->reply)
        model_reply_cancel(work->reply);
    tools_cancel(coding->tools, turn); /* may be the end of it */
}

/* ---- Pieces of an answer --------------------------------------------------------------------- */

static void on_text(struct model_reply *reply, struct acp_str piece, void *user)
{
    struct work *work = user;
    (void) reply;
    if (work->compacting)
        (void) acp_buf_append_str(&work->text, piece);
    else
        (void) acp_turn_send_text(work->turn, piece);
}

static void on_thought(struct model_reply *reply, struct acp_str piece, void *user)
{
    struct work *work = user;
    (void) reply;
    if (!work->compacting)
        (void) acp_turn_send_thought(work->turn, piece);
}

static bool send_notice(struct coding *coding, const char *sentence)
{
    struct acp_notice notice;
    acp_notice_init(&notice, ACP_NOTICE_SEVERITY_WARNING, acp_str_from(sentence));
    return acp_session_send_notice(coding->session, &notice) == 0;
}

bool coding_warn(struct coding *coding, const char *sentence)
{
    if (send_notice(coding, sentence))
        return true;
    if (!coding->work)
        return false;
    (void) acp_turn_send_thought(coding->work->turn, acp_str_from(sentence));
    (void) acp_turn_send_thought(coding->work->turn, acp_str_from("\n"));
    return true;
}

void coding_warn_later(struct coding *coding, const char *sentence)
{
    if (coding_warn(coding, sentence))
        return;
    free(coding->warning);
    coding->warning = acp_str_copy(acp_str_from(sentence));
}

void coding_tell_warning(struct coding *coding)
{
    if (!coding->warning || !coding_warn(coding, coding->warning))
        return;
    free(coding->warning);
    coding->warning = NULL;
}

bool coding_tell(struct coding *coding, const char *sentence)
{
    if (send_notice(coding, sentence))
        return true;
    if (!coding->work)
        return false;
    (void) acp_turn_send_text(coding->work->turn, acp_str_from("Warning: "));
    (void) acp_turn_send_text(coding->work->turn, acp_str_from(sentence));
    (void) acp_turn_send_text(coding->work->turn, acp_str_from("\n\n"));
    return true;
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
        acp_cost_init(&cost, coding->cost.value, acp_str_from("USD"));
        update.cost = &cost;
    }
    (void) acp_turn_send_usage(work->turn, &update);
}

/* ---- The whole answer ------------------------------------------------------------------------ */

/*
 * Arguments that are not a JSON object, as one: no service takes them back otherwise, and the model
 * should see what it wrote.
 */
static struct acp_raw wrap_arguments(struct acp_str text, struct acp_arena *arena)
{
    struct acp_json_writer w;
    struct acp_buf out;
    acp_buf_init(&out, 8 * MAX_UNPARSED);
    acp_json_writer_init(&w, &out);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("unparsed_arguments"));
    text.len = acp_utf8_cut(text.ptr, text.len, MAX_UNPARSED);
    acp_json_write_str(&w, text);
    acp_json_end_object(&w);
    struct acp_str copy = w.err ? acp_str_from(NULL) : acp_arena_copy(arena, acp_buf_view(&out));
    acp_buf_finish(&out);
    return copy.ptr ? acp_raw_n(copy.ptr, copy.len) : acp_raw_from("{}");
}

/* What came of an answer, in the history. */
static int keep_answer(struct coding *coding, const struct model_part *parts, size_t count)
{
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    struct model_part *kept = acp_arena_alloc(&arena, (count + 1) * sizeof(*kept));
    int err = kept ? 0 : ACP_ERR_NOMEM;
    for (size_t i = 0; i < count && !err; i++) {
        kept[i] = parts[i];
        if (parts[i].kind != MODEL_CALL || parts[i].arguments.ptr)
            continue;
        kept[i].arguments = wrap_arguments(parts[i].text, &arena);
        kept[i].text = acp_str_from(NULL);
    }
    if (!err)
        err = history_add(coding->history, MODEL_ASSISTANT, kept, count);
    acp_arena_finish(&arena);
    coding_log(coding);
    return err;
}

/* Whether the answer ended because nothing more fits into the window. */
static bool is_window_full(const struct model_end *end)
{
    const struct model_usage *usage = &end->usage;
    return end->is_too_long ||
           (end->stop == MODEL_MAX_TOKENS && usage->window &&
            usage->input + usage->output >= usage->window - usage->window / FULL_PART);
}

/*
 * An answer that was cut off at the limit of its length: what came is kept, whole calls are run,
 * and the model goes on.  A call at its very end may have been cut off, and is not run.
 */
static void go_on_after_cut(struct work *work, const struct model_end *end)
{
    static const char wish[] =
        CODER_NOTE_BEGIN "Your answer was cut off at the limit of its length. Go on exactly where "
                         "it stops, without repeating anything. If a tool call was cut off, make "
                         "it again, in smaller steps." CODER_NOTE_END;
    struct model_part part = {.kind = MODEL_TEXT, .text = acp_str_from(wish)};
    size_t count = end->part_count;
    if (count && end->parts[count - 1].kind == MODEL_CALL)
        count--;
    work->lost_call = count < end->part_count;
    int err = keep_answer(work->coding, end->parts, count);
    if (work_end_if_cancelled(work))
        return;
    if (!err && work->continued++ == MAX_CONTINUED) {
        work_end(work, ACP_STOP_MAX_TOKENS);
        return;
    }
    for (size_t i = 0; i < count && !err; i++)
        if (end->parts[i].kind == MODEL_CALL) {
            work_run_calls(work, end->parts, count);
            return;
        }
    if (!err)
        err = history_add(work->coding->history, MODEL_USER, &part, 1);
    coding_log(work->coding);
    if (err)
        work_fail(work, history_err_text(work->coding->history, err));
    else if (is_window_full(end) && work_can_compact(work))
        work_make_room(work);
    else
        work_ask(work);
}

/* With a turn that the service refuses in the history, it would refuse the next one, too. */
static void refuse_turn(struct work *work)
{
    struct coding *coding = work->coding;
    history_truncate(coding->history, work->first_message);
    coding_rewind_facts(coding);
    coding_log_rewind(coding);
    (void) coding_tell(coding,
                       "the model refused this prompt; it was left out of what the model is "
                       "told again, so that the next prompt can be answered");
    work_end(work, ACP_STOP_REFUSAL);
}

static void on_error(struct work *work, const struct model_end *end)
{
    if (is_window_full(end) && work_can_compact(work))
        work_make_room(work);
    else if (end->stop == MODEL_CANCELLED)
        work_fail(work, CODER_DISABLED); /* the user has not cancelled it */
    else if (end->is_auth)
        fail_auth(work, end->sentence);
    else
        work_fail(work, end->sentence);
}

static void on_answer(struct work *work, const struct model_end *end)
{
    if (end->stop == MODEL_MAX_TOKENS) {
        go_on_after_cut(work, end);
        return;
    }
    work->continued = 0;
    if (end->stop == MODEL_REFUSAL && !work->cancelled) {
        refuse_turn(work);
        return;
    }
    int err = keep_answer(work->coding, end->parts, end->part_count);
    if (work_end_if_cancelled(work))
        return;
    if (err)
        work_fail(work, history_err_text(work->coding->history, err));
    else if (end->stop == MODEL_CALLS)
        work_run_calls(work, end->parts, end->part_count);
    else if (end->stop == MODEL_ERROR || end->stop == MODEL_CANCELLED)
        on_error(work, end);
    else
        work_end(work, ACP_STOP_END_TURN);
}

static void on_end(struct model_reply *reply, const struct model_end *end, void *user)
{
    struct work *work = user;
    work->reply = NULL;
    if (work->compacting) {
        work_end_compaction(work, end);
    } else {
        tell_usage(work, &end->usage);
        /* The service did not accept the reasoning, and answered without: it goes for good. */
        if (end->is_stripped)
            coding_free_context(work->coding);
        on_answer(work, end);
    }
    model_reply_free(reply);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

int work_send(struct work *work, const struct model_message *messages, size_t count,
              struct acp_failure *failure)
{
    static const struct model_handler handler = {
        .text = on_text,
        .thought = on_thought,
        .retry = on_retry,
        .notice = on_notice,
        .end = on_end,
    };
    struct coding *coding = work->coding;
    struct model_ask ask = {
        .messages = messages,
        .message_count = count,
        .effort = coding->effort,
        .session = acp_session_id(coding->session),
    };
    int err = coding_get_context(coding, &ask);
    return err ? err : coding_ask(coding, &ask, &handler, work, &work->reply, failure);
}

void work_ask(struct work *work)
{
    struct coding *coding = work->coding;
    uint64_t most = coding->coder->options->max_requests;
    struct acp_failure failure = {0};
    struct acp_arena arena;
    struct model_ask context;
    if (work->requests >= (most ? most : MAX_REQUESTS_DEFAULT)) {
        work_end(work, ACP_STOP_MAX_TURN_REQUESTS);
        return;
    }
    work->requests++;
    if (coding_is_nearly_full(coding)) {
        work_compact(work);
        return;
    }
    acp_arena_init(&arena, 0);
    /* Before the messages are looked at: a new context takes reasoning out of them. */
    int err = coding_get_context(coding, &context);
    const struct model_message *messages =
        err ? NULL : history_messages(coding->history, 0, &arena);
    if (!err)
        err = messages ? work_send(work, messages, history_count(coding->history), &failure)
                       : ACP_ERR_NOMEM;
    acp_arena_finish(&arena);
    if (err)
        work_fail(work, *failure.message ? failure.message : acp_err_text(err));
}

/* ---- The prompt ------------------------------------------------------------------------------ */

/* The prompt behind a note of what has changed. */
static int add_prompt(struct work *work, struct acp_str note)
{
    const struct work_prompt *prompt = &work->prompt;
    size_t size = (prompt->count + 1) * sizeof(*prompt->parts);
    struct model_part *parts = acp_arena_alloc(&work->arena, size);
    size_t count = 0;
    if (!parts)
        return ACP_ERR_NOMEM;
    if (note.len)
        parts[count++] = (struct model_part){.kind = MODEL_TEXT, .text = note};
    memcpy(parts + count, prompt->parts, prompt->count * sizeof(*parts));
    return history_add(work->coding->history, MODEL_USER, parts, count + prompt->count);
}

/* Puts the prompt into the history; false when the turn has failed with it. */
static bool take_prompt(struct work *work)
{
    struct coding *coding = work->coding;
    struct acp_buf note;
    work->waiting = false;
    acp_buf_init(&note, CODER_MAX_NOTE);
    work->first_message = history_count(coding->history);
    coding_begin_facts(coding);
    int err = coding_write_note(coding, FACTS_ALL, &note);
    if (!err)
        err = add_prompt(work, acp_buf_view(&note));
    acp_buf_finish(&note);
    if (err)
        coding_rewind_facts(coding);
    coding_log(coding);
    if (!err && history_count(coding->history) == work->first_message) {
        fail_turn(work, CODE_PARAMS, "the prompt is empty: say what the agent should do");
        return false;
    }
    if (err)
        fail_turn(work, CODE_PARAMS, history_err_text(work->coding->history, err));
    return !err;
}

void work_go_on(struct work *work)
{
    if (take_prompt(work))
        work_ask(work);
}

void work_begin(struct work *work)
{
    struct coding *coding = work->coding;
    coding_name(coding, work->prompt.parts, work->prompt.count);
    tools_begin_turn(coding->tools);
    coding_tell_warning(coding);
    coding_tell_servers(coding);
    coding_tell_commands_cut(coding);
    if (work->cancelled) {
        if (take_prompt(work))
            work_end(work, ACP_STOP_CANCELLED);
        return;
    }
    work->waiting = coding_await_servers(coding, work);
    if (!work->waiting)
        work_go_on(work);
    else if (work_keep_prompt(work))
        work_fail(work, acp_err_text(ACP_ERR_NOMEM));
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
        (void) acp_turn_fail(turn, CODE_INTERNAL, acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
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
