/*
 * turn.c - a turn: asks the model, runs its tool calls, sends the results and asks again, until the
 * model is done, a limit is reached, or the user cancels.
 *
 * However a turn ends, every call in the history has a result, so the next prompt can be sent.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"
#include "base/utf8.h"
#include "json/members.h"

enum {
    MAX_REQUESTS_DEFAULT = 100,
    MAX_CONTINUED = 3,   /* answers in a row that are cut off and continued */
    MAX_UNPARSED = 4096, /* bytes that are kept of arguments that are not JSON */
    FULL_PART = 50,      /* the window is full when less than 1/50 of it is left */
};

/* ---- States ---------------------------------------------------------------------------------- */

#define TO(state) (1u << AGENT_TURN_##state)

void agent_turn_set_state(struct agent_turn *turn, enum agent_turn_state state)
{
    static const unsigned next[] = {
        [AGENT_TURN_PREPARING] = TO(RESTORING) | TO(READING_FILES) | TO(WAITING_FOR_SERVERS) |
                                 TO(READY) | TO(COMPACTING) | TO(ENDED),
        [AGENT_TURN_RESTORING] = TO(PREPARING) | TO(ENDED),
        [AGENT_TURN_READING_FILES] = TO(WAITING_FOR_SERVERS) | TO(READY) | TO(ENDED),
        [AGENT_TURN_WAITING_FOR_SERVERS] = TO(PREPARING) | TO(READY) | TO(ENDED),
        [AGENT_TURN_READY] = TO(ASKING) | TO(COMPACTING) | TO(STARTING_CALLS) | TO(ENDED),
        [AGENT_TURN_ASKING] = TO(READY) | TO(ENDED),
        [AGENT_TURN_COMPACTING] = TO(READY) | TO(ENDED),
        [AGENT_TURN_STARTING_CALLS] = TO(RUNNING_CALLS) | TO(ENDED),
        [AGENT_TURN_RUNNING_CALLS] = TO(READY) | TO(ENDED),
        [AGENT_TURN_ENDED] = 0,
    };
    assert(next[turn->state] & 1u << state);
    (void) next;
    turn->state = state;
}

#undef TO

/* ---- The end --------------------------------------------------------------------------------- */

static void free_turn(struct agent_turn *turn)
{
    agent_turn_set_state(turn, AGENT_TURN_ENDED);
    turn->session->turn = NULL;
    turn->session->last_used = uv_now(&turn->session->agent->loop);
    model_reply_free(turn->reply);
    acp_arena_finish(&turn->arena);
    acp_buf_finish(&turn->summary);
    free(turn);
}

/* Gives a result to the calls that will not end any more, so that the next prompt can be sent. */
static void close_calls(struct agent_turn *turn)
{
    struct agent_session *session = turn->session;
    const char *why = turn->cancelled ? "This was not run: the user cancelled the turn."
                                      : "This was not run: the answer was not complete.";
    if (session->state != AGENT_SESSION_OPEN)
        return; /* the history is not in memory, and unchanged in the log */
    if (history_close_calls(session->history, acp_str_from(why)) < 0)
        history_clear(session->history);
    agent_session_log_history(session);
}

void agent_turn_end(struct agent_turn *turn, enum acp_stop stop)
{
    struct acp_turn *role_turn = turn->role;
    close_calls(turn);
    agent_session_log_stop(turn->session, acp_stop_text(stop));
    if (turn->requests && stop == ACP_STOP_END_TURN) /* it was not a command */
        agent_session_schedule_title(turn->session);
    free_turn(turn);
    (void) acp_turn_end(role_turn, stop);
}

static void fail_turn(struct agent_turn *turn, int64_t code, const char *sentence)
{
    struct acp_turn *role_turn = turn->role;
    char copy[600]; /* the sentence may be part of what is freed */
    (void) snprintf(copy, sizeof(copy), "%s", sentence);
    close_calls(turn);
    agent_session_log_error(turn->session, copy);
    free_turn(turn);
    (void) acp_turn_fail(role_turn, code, acp_str_from(copy));
}

void agent_turn_fail(struct agent_turn *turn, const char *sentence)
{
    fail_turn(turn, ACP_ERROR_CODE_INTERNAL_ERROR, sentence);
}

void agent_turn_abandon(struct agent_turn *turn)
{
    turn->cancelled = true;
    close_calls(turn);
    agent_session_log_stop(turn->session, "cancelled");
    free_turn(turn);
}

/* The client then offers its user the login methods. */
static void fail_auth(struct agent_turn *turn, const char *sentence)
{
    struct acp_str provider = agent_session_provider(turn->session);
    char text[600];
    (void) snprintf(text, sizeof(text), "%.400s; log in with `acp agent login %.*s`", sentence,
                    (int) (provider.len < 60 ? provider.len : 60), provider.ptr);
    fail_turn(turn, ACP_ERROR_CODE_AUTHENTICATION_REQUIRED, text);
}

bool agent_turn_end_if_cancelled(struct agent_turn *turn)
{
    bool cancelled = turn->cancelled;
    if (cancelled)
        agent_turn_end(turn, ACP_STOP_CANCELLED);
    return cancelled;
}

static bool add_prompt(struct agent_turn *turn);

void coding_agent_cancel(struct acp_turn *role_turn, void *user)
{
    struct agent_session *session = acp_session_user(acp_turn_session(role_turn));
    struct agent_turn *turn = session ? session->turn : NULL;
    (void) user;
    if (!turn || turn->role != role_turn)
        return;
    turn->cancelled = true;
    switch (turn->state) {
    case AGENT_TURN_WAITING_FOR_SERVERS:
        agent_session_stop_waiting(session);
        if (add_prompt(turn))
            agent_turn_end(turn, ACP_STOP_CANCELLED);
        break;
    case AGENT_TURN_ASKING:
    case AGENT_TURN_COMPACTING:
        model_reply_cancel(turn->reply);
        break;
    case AGENT_TURN_RESTORING:
        break; /* it ends once the history is there, which then gets the prompt */
    default:
        tools_cancel(session->tools, role_turn); /* may end the turn */
        break;
    }
}

/* ---- Chunks of an answer --------------------------------------------------------------------- */

static void on_text(struct model_reply *reply, struct acp_str chunk, void *user)
{
    struct agent_turn *turn = user;
    (void) reply;
    if (turn->state == AGENT_TURN_COMPACTING)
        (void) acp_buf_append_str(&turn->summary, chunk);
    else
        (void) acp_turn_send_text(turn->role, chunk);
}

static void on_thought(struct model_reply *reply, struct acp_str chunk, void *user)
{
    struct agent_turn *turn = user;
    (void) reply;
    if (turn->state != AGENT_TURN_COMPACTING)
        (void) acp_turn_send_thought(turn->role, chunk);
}

static bool send_notice(struct agent_session *session, const char *sentence)
{
    struct acp_notice notice;
    acp_notice_init(&notice, ACP_NOTICE_SEVERITY_WARNING, acp_str_from(sentence));
    return acp_session_send_notice(session->role, &notice) == 0;
}

bool agent_session_warn(struct agent_session *session, const char *sentence)
{
    if (send_notice(session, sentence))
        return true;
    if (!session->turn)
        return false;
    (void) acp_turn_send_thought(session->turn->role, acp_str_from(sentence));
    (void) acp_turn_send_thought(session->turn->role, acp_str_from("\n"));
    return true;
}

void agent_session_warn_later(struct agent_session *session, const char *sentence)
{
    if (agent_session_warn(session, sentence))
        return;
    free(session->warning);
    session->warning = acp_str_copy(acp_str_from(sentence));
}

void agent_session_send_warning(struct agent_session *session)
{
    if (!session->warning || !agent_session_warn(session, session->warning))
        return;
    free(session->warning);
    session->warning = NULL;
}

bool agent_session_alert(struct agent_session *session, const char *sentence)
{
    if (send_notice(session, sentence))
        return true;
    if (!session->turn)
        return false;
    (void) acp_turn_send_text(session->turn->role, acp_str_from("Warning: "));
    (void) acp_turn_send_text(session->turn->role, acp_str_from(sentence));
    (void) acp_turn_send_text(session->turn->role, acp_str_from("\n\n"));
    return true;
}

static void on_retry(struct model_reply *reply, const struct model_retry *retry, void *user)
{
    const struct agent_turn *turn = user;
    (void) reply;
    (void) agent_session_warn(turn->session, retry->sentence);
}

static void on_notice(struct model_reply *reply, const char *sentence, void *user)
{
    const struct agent_turn *turn = user;
    (void) reply;
    (void) agent_session_warn(turn->session, sentence);
}

void agent_session_add_cost(struct agent_session *session, const struct model_usage *usage)
{
    if (usage->cost.has != ACP_PRESENT)
        return;
    session->cost = acp_some_f64(session->cost.value + usage->cost.value);
    agent_session_log_settings(session);
}

/*
 * The tokens of this call of the model alone, which a client can add up: the update itself has only
 * the size of the context.  The members are those of the protocol's Usage.
 */
static struct acp_raw write_call_usage(const struct model_usage *usage, struct acp_buf *out)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("acp"));
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("usage"));
    acp_json_begin_object(&w);
    acp_json_put_u64(&w, "totalTokens", usage->input + usage->output);
    acp_json_put_u64(&w, "inputTokens", usage->input);
    acp_json_put_u64(&w, "outputTokens", usage->output);
    acp_json_put_u64(&w, "cachedReadTokens", usage->cached);
    acp_json_put_u64(&w, "cachedWriteTokens", usage->written);
    acp_json_end_object(&w);
    acp_json_end_object(&w);
    acp_json_end_object(&w);
    return w.err ? (struct acp_raw){0} : acp_raw_n(out->data + out->start, out->len);
}

static void send_usage(struct agent_turn *turn, const struct model_usage *usage)
{
    struct agent_session *session = turn->session;
    struct acp_usage_update update;
    struct acp_cost cost;
    struct acp_buf meta;
    /* An answer that broke off early has none; the last one stays valid. */
    if (!usage->input && !usage->output)
        return;
    session->usage = *usage;
    agent_session_add_cost(session, usage);
    if (!usage->window)
        return;
    acp_usage_update_init(&update, usage->input + usage->output, usage->window);
    if (session->cost.has == ACP_PRESENT) {
        acp_cost_init(&cost, session->cost.value, acp_str_from("USD"));
        update.cost = &cost;
    }
    acp_buf_init(&meta, 1000);
    update.meta = write_call_usage(usage, &meta);
    (void) acp_turn_send_usage(turn->role, &update);
    acp_buf_finish(&meta);
}

/* ---- The whole answer ------------------------------------------------------------------------ */

/*
 * Makes a JSON object of arguments that are none: services do not take them back otherwise, and the
 * model should see what it wrote.
 */
static struct acp_raw wrap_arguments(struct acp_str text, struct acp_arena *arena)
{
    struct acp_json_writer w;
    struct acp_buf out;
    acp_buf_init(&out, (size_t) 8 * MAX_UNPARSED);
    acp_json_writer_init(&w, &out);
    acp_json_begin_object(&w);
    acp_json_put_str(&w, "unparsed_arguments", acp_str_cut(text, MAX_UNPARSED));
    acp_json_end_object(&w);
    struct acp_str copy = w.err ? acp_str_from(NULL) : acp_arena_copy(arena, acp_buf_view(&out));
    acp_buf_finish(&out);
    return copy.ptr ? acp_raw_n(copy.ptr, copy.len) : acp_raw_from("{}");
}

/* Adds the answer, or what was received of it, to the history. */
static int add_answer(struct agent_session *session, const struct model_part *parts, size_t count)
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
        err = history_add(session->history, MODEL_ASSISTANT, kept, count);
    acp_arena_finish(&arena);
    agent_session_log_history(session);
    return err;
}

/* Whether the answer ended because the window is full. */
static bool is_window_full(const struct model_end *end)
{
    const struct model_usage *usage = &end->usage;
    return end->is_too_long ||
           (end->stop == MODEL_MAX_TOKENS && usage->window &&
            usage->input + usage->output >= usage->window - usage->window / FULL_PART);
}

/*
 * The answer was cut off at the limit of its length.  What was received is added to the history,
 * complete calls are run, and the model continues.  A call at the very end may be incomplete and is
 * not run.
 */
static void continue_answer(struct agent_turn *turn, const struct model_end *end)
{
    static const char request[] = AGENT_NOTE_BEGIN
        "Your answer was cut off at the limit of its length. Continue exactly where it ends, "
        "without repeating anything. If a tool call was cut off, make "
        "it again, in smaller steps." AGENT_NOTE_END;
    struct model_part part = {.kind = MODEL_TEXT, .text = acp_str_from(request)};
    size_t count = end->part_count;
    if (count && end->parts[count - 1].kind == MODEL_CALL)
        count--;
    turn->lost_a_call = count < end->part_count;
    int err = add_answer(turn->session, end->parts, count);
    if (agent_turn_end_if_cancelled(turn))
        return;
    if (!err && turn->continued++ == MAX_CONTINUED) {
        agent_turn_end(turn, ACP_STOP_MAX_TOKENS);
        return;
    }
    for (size_t i = 0; i < count && !err; i++)
        if (end->parts[i].kind == MODEL_CALL) {
            agent_turn_run_calls(turn, end->parts, count);
            return;
        }
    if (!err)
        err = history_add(turn->session->history, MODEL_USER, &part, 1);
    agent_session_log_history(turn->session);
    if (err)
        agent_turn_fail(turn, history_err_text(turn->session->history, err));
    else if (is_window_full(end) && agent_turn_can_compact(turn))
        agent_turn_compact_cut(turn);
    else
        agent_turn_ask(turn);
}

/* Removes the turn from the history: with it there, the service would refuse the next one too. */
static void end_refused(struct agent_turn *turn)
{
    struct agent_session *session = turn->session;
    history_truncate(session->history, turn->first_message);
    agent_session_rewind_facts(session);
    agent_session_log_rewind(session);
    (void) agent_session_alert(session, "the model refused this prompt; it was removed from the "
                                        "conversation, so that the next prompt can be answered");
    agent_turn_end(turn, ACP_STOP_REFUSAL);
}

static void on_error(struct agent_turn *turn, const struct model_end *end)
{
    if (is_window_full(end) && agent_turn_can_compact(turn))
        agent_turn_compact_cut(turn);
    else if (end->stop == MODEL_CANCELLED)
        agent_turn_fail(turn, AGENT_PROVIDER_DISABLED); /* not cancelled by the user */
    else if (end->is_auth)
        fail_auth(turn, end->sentence);
    else
        agent_turn_fail(turn, end->sentence);
}

static void on_answer(struct agent_turn *turn, const struct model_end *end)
{
    if (end->stop == MODEL_MAX_TOKENS) {
        continue_answer(turn, end);
        return;
    }
    turn->continued = 0;
    if (end->stop == MODEL_REFUSAL && !turn->cancelled) {
        end_refused(turn);
        return;
    }
    int err = add_answer(turn->session, end->parts, end->part_count);
    if (agent_turn_end_if_cancelled(turn))
        return;
    if (err)
        agent_turn_fail(turn, history_err_text(turn->session->history, err));
    else if (end->stop == MODEL_CALLS)
        agent_turn_run_calls(turn, end->parts, end->part_count);
    else if (end->stop == MODEL_ERROR || end->stop == MODEL_CANCELLED)
        on_error(turn, end);
    else
        agent_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_end(struct model_reply *reply, const struct model_end *end, void *user)
{
    struct agent_turn *turn = user;
    bool is_summary = turn->state == AGENT_TURN_COMPACTING;
    turn->reply = NULL;
    agent_turn_set_state(turn, AGENT_TURN_READY);
    if (is_summary) {
        agent_turn_end_compaction(turn, end);
    } else {
        send_usage(turn, &end->usage);
        /* The service did not accept the reasoning and has answered without it: remove it. */
        if (end->is_stripped)
            agent_session_free_context(turn->session);
        on_answer(turn, end);
    }
    model_reply_free(reply);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

int agent_turn_send(struct agent_turn *turn, enum agent_turn_state state,
                    const struct model_message *messages, size_t count, struct acp_failure *failure)
{
    static const struct model_handler handler = {
        .text = on_text,
        .thought = on_thought,
        .retry = on_retry,
        .notice = on_notice,
        .end = on_end,
    };
    struct agent_session *session = turn->session;
    struct model_ask ask = {
        .messages = messages,
        .message_count = count,
        .effort = session->effort,
        .session = acp_session_id(session->role),
    };
    agent_turn_set_state(turn, state);
    int err = agent_session_get_context(session, &ask);
    return err ? err : agent_session_ask(session, &ask, &handler, turn, &turn->reply, failure);
}

void agent_turn_ask(struct agent_turn *turn)
{
    struct agent_session *session = turn->session;
    uint64_t most = session->overrides.max_requests ? session->overrides.max_requests
                                                    : session->agent->options->max_requests;
    struct acp_failure failure = {0};
    struct acp_arena arena;
    struct model_ask context;
    if (turn->requests >= (most ? most : MAX_REQUESTS_DEFAULT)) {
        agent_turn_end(turn, ACP_STOP_MAX_TURN_REQUESTS);
        return;
    }
    turn->requests++;
    if (agent_session_is_nearly_full(session)) {
        agent_turn_compact(turn);
        return;
    }
    acp_arena_init(&arena, 0);
    /* Before the messages are read: a new context removes reasoning from them. */
    int err = agent_session_get_context(session, &context);
    const struct model_message *messages =
        err ? NULL : history_messages(session->history, 0, &arena);
    if (!err)
        err = messages ? agent_turn_send(turn, AGENT_TURN_ASKING, messages,
                                         history_count(session->history), &failure)
                       : ACP_ERR_NOMEM;
    acp_arena_finish(&arena);
    if (err)
        agent_turn_fail(turn, *failure.message ? failure.message : acp_err_text(err));
}

/* ---- The prompt ------------------------------------------------------------------------------ */

/* The prompt, after a note of what has changed. */
static int write_prompt(struct agent_turn *turn, struct acp_str note)
{
    const struct agent_prompt *prompt = &turn->prompt;
    size_t size = (prompt->count + 1) * sizeof(*prompt->parts);
    struct model_part *parts = acp_arena_alloc(&turn->arena, size);
    size_t count = 0;
    if (!parts)
        return ACP_ERR_NOMEM;
    if (note.len)
        parts[count++] = (struct model_part){.kind = MODEL_TEXT, .text = note};
    memcpy(parts + count, prompt->parts, prompt->count * sizeof(*parts));
    return history_add(turn->session->history, MODEL_USER, parts, count + prompt->count);
}

/* Adds the prompt to the history; false if the turn has failed with it. */
static bool add_prompt(struct agent_turn *turn)
{
    struct agent_session *session = turn->session;
    struct acp_buf note;
    agent_turn_set_state(turn, AGENT_TURN_READY);
    acp_buf_init(&note, AGENT_MAX_NOTE);
    turn->first_message = history_count(session->history);
    agent_session_save_facts(session);
    int err = agent_session_write_note(session, FACTS_ALL, &note);
    if (!err)
        err = write_prompt(turn, acp_buf_view(&note));
    acp_buf_finish(&note);
    if (err)
        agent_session_rewind_facts(session);
    agent_session_log_history(session);
    if (!err && history_count(session->history) == turn->first_message) {
        fail_turn(turn, ACP_ERROR_CODE_INVALID_PARAMS,
                  "the prompt is empty: say what the agent should do");
        return false;
    }
    if (err)
        fail_turn(turn, ACP_ERROR_CODE_INVALID_PARAMS, history_err_text(session->history, err));
    return !err;
}

void agent_turn_continue(struct agent_turn *turn)
{
    if (add_prompt(turn))
        agent_turn_ask(turn);
}

void agent_turn_begin(struct agent_turn *turn)
{
    struct agent_session *session = turn->session;
    agent_session_title_from_prompt(session, turn->prompt.parts, turn->prompt.count);
    tools_start_turn(session->tools);
    agent_session_send_warning(session);
    agent_session_report_servers(session);
    agent_session_warn_commands_cut(session);
    if (turn->cancelled) {
        if (add_prompt(turn))
            agent_turn_end(turn, ACP_STOP_CANCELLED);
    } else if (!agent_session_wait_for_servers(session, turn)) {
        agent_turn_continue(turn);
    } else {
        agent_turn_set_state(turn, AGENT_TURN_WAITING_FOR_SERVERS);
        if (agent_turn_copy_prompt(turn))
            agent_turn_fail(turn, acp_err_text(ACP_ERR_NOMEM));
    }
}

/* The history is in memory: runs a slash command, or reads what the prompt links to. */
static void prepare(struct agent_turn *turn)
{
    struct agent_prompt *prompt = &turn->prompt;
    bool may_be_command = prompt->count == 1 && prompt->parts[0].kind == MODEL_TEXT;
    if (may_be_command &&
        agent_turn_run_command(turn, prompt->parts[0].text, &prompt->parts[0].text) == COMMAND_DONE)
        return;
    int err = agent_turn_read_links(turn);
    if (err)
        agent_turn_fail(turn, acp_err_text(err));
}

void agent_turn_restored(struct agent_turn *turn, int err, const struct acp_failure *failure)
{
    agent_turn_set_state(turn, AGENT_TURN_PREPARING);
    if (err)
        agent_turn_fail(turn, *failure->message ? failure->message : acp_err_text(err));
    else if (turn->cancelled)
        agent_turn_begin(turn);
    else
        prepare(turn);
}

static int restore(struct agent_turn *turn)
{
    int err = agent_turn_copy_prompt(turn);
    if (!err)
        err = agent_session_restore(turn->session);
    if (!err)
        agent_turn_set_state(turn, AGENT_TURN_RESTORING);
    return err;
}

void coding_agent_prompt(struct acp_turn *role_turn, struct acp_content_block_list blocks,
                         void *user)
{
    struct agent_session *session = acp_session_user(acp_turn_session(role_turn));
    struct agent_turn *turn = calloc(1, sizeof(*turn));
    struct acp_failure failure = {0};
    (void) user;
    if (!session || !turn) {
        free(turn);
        (void) acp_turn_fail(role_turn, ACP_ERROR_CODE_INTERNAL_ERROR,
                             acp_str_from(acp_err_text(ACP_ERR_NOMEM)));
        return;
    }
    turn->session = session;
    turn->role = role_turn;
    acp_arena_init(&turn->arena, 0);
    acp_buf_init(&turn->summary, 1 << 20);
    session->turn = turn;
    agent_session_log_prompt(session, role_turn, blocks);
    int err = agent_session_read_prompt(session, blocks, &turn->arena, &turn->prompt.parts,
                                        &turn->prompt.count, &failure);
    if (err) {
        fail_turn(turn, ACP_ERROR_CODE_INVALID_PARAMS,
                  *failure.message ? failure.message : acp_err_text(err));
        return;
    }
    bool is_idle = session->state == AGENT_SESSION_IDLE;
    err = is_idle ? restore(turn) : 0;
    if (err)
        agent_turn_fail(turn, acp_err_text(err));
    else if (!is_idle)
        prepare(turn);
}
