/*
 * session_log.c - what is kept of sessions: everything that is said, before anybody sees it.
 *
 *   prompt            the user's, as a user_message of version 2
 *   update, update2   what the client is told, in the words of version 1 or 2
 *   output, output2   what a terminal showed, as an update of its call in version 1: it is told
 *                     again where the terminal cannot be
 *   said              a message of the model's history
 *   forget            the history is made anew: the messages that follow as kept are all of it
 *   rewind            the history is cut back to that number of messages
 *   model_context     system text and tool list of the requests from here on, and the facts that
 *                     they tell; reasoning in messages before it is not sent any more
 *   model_facts       the facts that the model knows from the note in the next message on
 *   stop, error       how a turn ended
 *
 * Whatever is sent behind such an event waits for it: see acp_agent_hold_output().  The writer is
 * flushed as often as it is done with the last flush, so one event alone waits for one transaction,
 * and a flood shares a few.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "cli/output.h"

enum { EVENT_MAX = 64 << 20 };

/* ---- Waiting --------------------------------------------------------------------------------- */

static void release(struct coder *coder, uint64_t number)
{
    if (coder->stdio)
        acp_agent_release_output(acp_agent_stdio_agent(coder->stdio), number);
}

static void flush(struct coder *coder);

static void on_flushed(void *user)
{
    struct coder *coder = user;
    uint64_t number = coder->flushing;
    coder->flushing = 0;
    release(coder, number);
    if (coder->appended > number)
        flush(coder);
}

static void flush(struct coder *coder)
{
    coder->flushing = coder->appended;
    if (store_writer_flush(coder->writer, on_flushed, coder)) {
        /* Nothing can be kept any more; the writer has said so, and people go on without. */
        coder->flushing = 0;
        release(coder, coder->appended);
    }
}

static void hold(struct coding *coding)
{
    struct coder *coder = coding->coder;
    coder->appended++;
    acp_agent_hold_output(acp_session_agent(coding->session), coder->appended);
    if (!coder->flushing)
        flush(coder);
}

/* ---- The store ------------------------------------------------------------------------------- */

static void on_failed(struct store_log *log, const char *sentence, void *user)
{
    struct coding *coding = user;
    char warning[600];
    (void) log;
    (void) snprintf(warning, sizeof(warning), "sessions are not kept any more: %s", sentence);
    if (!coding->coder->store_failed)
        err_printf("acp agent: %s\n", warning);
    coding->coder->store_failed = true;
    (void) coding_warn(coding, warning);
}

const struct store_log_handler coding_log_handler = {.failed = on_failed};

int coder_open_store(struct coder *coder)
{
    struct store_writer_options options = {.path = coder->options->store_path,
                                           .flags = STORE_CREATE | STORE_NO_INDEX};
    return options.path ? store_writer_new(&coder->loop, &options, &coder->writer) : 0;
}

bool coding_is_kept(const struct coding *coding)
{
    return coding->log && !store_writer_failure(coding->coder->writer) &&
           store_log_durable_seq(coding->log) == store_log_last_seq(coding->log);
}

/* ---- Settings, and what the session has cost ------------------------------------------------- */

static int write_settings(const struct coding *coding, struct acp_buf *out)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("mode"));
    acp_json_write_str(&w, acp_str_from(acp_policy_mode_name(acp_policy_get_mode(coding->policy))));
    acp_json_write_key(&w, acp_str_from("effort"));
    acp_json_write_str(&w, acp_str_from(model_effort_name(coding->effort)));
    if (coding->model) {
        acp_json_write_key(&w, acp_str_from("model"));
        acp_json_write_str(&w, acp_str_from(coding->model));
    }
    if (coding->cost.has == ACP_PRESENT) {
        char cost[40];
        (void) snprintf(cost, sizeof(cost), "%.9g", coding->cost.value);
        acp_json_write_key(&w, acp_str_from("cost"));
        acp_json_write_str(&w, acp_str_from(cost));
    }
    acp_json_end_object(&w);
    return w.err;
}

void coding_log_settings(struct coding *coding)
{
    struct acp_buf text;
    if (!coding->log)
        return;
    acp_buf_init(&text, EVENT_MAX);
    if (write_settings(coding, &text) == 0) {
        struct store_change change = {.settings = acp_buf_view(&text)};
        (void) store_log_change(coding->log, &change);
    }
    acp_buf_finish(&text);
}

/* One that was in a jail which cannot be made here may look, and no more. */
static void take_mode(struct coding *coding, struct acp_str mode)
{
    struct acp_failure failure;
    if (coding_set_mode(coding, mode, &failure))
        (void) coding_use_mode(coding, ACP_POLICY_READ_ONLY);
}

static void take_setting(struct coding *coding, struct acp_str key, struct acp_str value)
{
    struct acp_failure failure;
    if (acp_str_is(key, "mode"))
        take_mode(coding, value);
    else if (acp_str_is(key, "effort"))
        (void) model_effort_find(value, &coding->effort);
    else if (acp_str_is(key, "model"))
        (void) coding_set_model(coding, value, &failure); /* else the default is asked */
    else if (acp_str_is(key, "cost"))
        coding->cost = acp_some_f64(strtod(value.ptr, NULL)); /* a quote ends it */
}

void coding_take_settings(struct coding *coding, struct acp_str settings)
{
    struct acp_json_reader r;
    struct acp_arena arena;
    struct acp_str key;
    struct acp_str value;
    if (!settings.len)
        return;
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, acp_raw_n(settings.ptr, settings.len), &arena, 0);
    int more = acp_json_enter_object(&r);
    while (more == 0 && acp_json_next_key(&r, &key) > 0) {
        more = acp_json_read_str(&r, &value);
        if (more == 0)
            take_setting(coding, key, value);
    }
    acp_arena_finish(&arena);
}

/* ---- Events ---------------------------------------------------------------------------------- */

bool coding_begin_log(struct coding *coding)
{
    struct store_session row = {
        .id = acp_session_id(coding->session),
        .agent = acp_str_from("acp"),
        .cwd = acp_session_cwd(coding->session),
    };
    struct acp_buf settings;
    if (coding->log || !coding->coder->writer)
        return coding->log != NULL;
    if (coding->title)
        row.title = acp_str_from(coding->title);
    if (*coding->chat)
        row.name = acp_str_from(coding->chat);
    acp_buf_init(&settings, EVENT_MAX);
    if (write_settings(coding, &settings) == 0)
        row.settings = acp_buf_view(&settings);
    (void) store_log_create(coding->coder->writer, &row, &coding_log_handler, coding, &coding->log,
                            NULL);
    acp_buf_finish(&settings);
    if (coding->log)
        hold(coding); /* nobody learns its id before it can be found by it */
    return coding->log != NULL;
}

/* Appends what was written; nobody sees what comes behind it before it is kept. */
static void append(struct coding *coding, const char *kind, const struct acp_buf *body, int err)
{
    struct acp_str text = acp_buf_view(body);
    if (!err)
        err = store_log_append(coding->log, coding->turns, store_now(), acp_str_from(kind),
                               acp_raw_n(text.ptr, text.len), NULL);
    if (!err)
        hold(coding);
}

static void append_update(struct coding *coding, const char *kind, unsigned mode,
                          const struct acp_session_update *update)
{
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, EVENT_MAX);
    acp_json_writer_init(&w, &body);
    int err = acp_session_update_encode(mode, update, &w, NULL);
    append(coding, kind, &body, err ? err : w.err);
    acp_buf_finish(&body);
}

static void append_text(struct coding *coding, const char *kind, const char *key,
                        struct acp_str value)
{
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, EVENT_MAX);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from(key));
    acp_json_write_str(&w, value);
    acp_json_end_object(&w);
    append(coding, kind, &body, w.err);
    acp_buf_finish(&body);
}

static void begin_turn(struct coding *coding, const struct acp_session_update *message)
{
    struct store_change change = {.running = {ACP_PRESENT, true}};
    if (!coding_begin_log(coding))
        return;
    coding->turns++;
    (void) store_log_change(coding->log, &change);
    append_update(coding, "prompt", ACP_V2, message);
}

void coding_log_prompt(struct coding *coding, const struct acp_turn *turn,
                       struct acp_content_block_list prompt)
{
    struct acp_session_update message = {.is = ACP_SESSION_UPDATE_USER_MESSAGE};
    /* Version 2 repeats the prompt as a message, which was kept already. */
    if (acp_agent_protocol(acp_session_agent(coding->session)) & ACP_V2)
        return;
    message.user_message.message_id = acp_turn_user_message_id(turn);
    message.user_message.content = prompt;
    begin_turn(coding, &message);
}

void coder_keep_update(struct acp_session *session, const struct acp_session_update *update,
                       void *user)
{
    struct coding *coding = acp_session_user(session);
    unsigned mode = acp_agent_protocol(acp_session_agent(session));
    (void) user;
    if (!coding)
        return;
    /* Version 1 tells the user's message block by block: coding_log_prompt() has all of it. */
    if (update->is == ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK)
        return;
    if (update->is == ACP_SESSION_UPDATE_USER_MESSAGE)
        begin_turn(coding, update);
    /* Commands are told with each session, as they are then; before a prompt nothing counts. */
    else if (coding->log && coding->turns && !coding->repeating &&
             update->is != ACP_SESSION_UPDATE_AVAILABLE_COMMANDS_UPDATE)
        append_update(coding, mode & ACP_V2 ? "update2" : "update", mode, update);
}

void coding_log_output(struct tools *set, const struct acp_tool_call_update *call, void *user)
{
    struct coding *coding = user;
    unsigned mode = acp_agent_protocol(acp_session_agent(coding->session));
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_TOOL_CALL_UPDATE};
    (void) set;
    update.tool_call_update = *call;
    if (coding->log)
        append_update(coding, mode & ACP_V2 ? "output2" : "output", ACP_V1, &update);
}

void coding_log_stop(struct coding *coding, const char *stop_reason)
{
    struct store_change change = {.running = {ACP_PRESENT, false}};
    if (!coding->log)
        return;
    append_text(coding, "stop", "stopReason", acp_str_from(stop_reason));
    (void) store_log_change(coding->log, &change);
}

void coding_log_error(struct coding *coding, const char *sentence)
{
    struct store_change change = {.running = {ACP_PRESENT, false}};
    if (!coding->log)
        return;
    append_text(coding, "error", "message", acp_str_from(sentence));
    (void) store_log_change(coding->log, &change);
}

static void append_message(struct coding *coding, const char *kind,
                           const struct model_message *message)
{
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, EVENT_MAX);
    acp_json_writer_init(&w, &body);
    history_write(message, &w);
    append(coding, kind, &body, w.err);
    acp_buf_finish(&body);
}

void coding_log(struct coding *coding)
{
    size_t count = history_count(coding->history);
    struct acp_arena arena;
    bool anew = coding->forgot;
    if ((coding->logged >= count && !anew) || !coding->log)
        return;
    acp_arena_init(&arena, 0);
    const struct model_message *messages =
        history_messages(coding->history, coding->logged, &arena);
    if (!messages) {
        acp_arena_finish(&arena);
        return; /* the next time */
    }
    if (anew)
        (void) store_log_append(coding->log, coding->turns, store_now(), acp_str_from("forget"),
                                acp_raw_from("{}"), NULL);
    coding->forgot = false;
    for (size_t i = 0; i < count - coding->logged; i++)
        append_message(coding, anew ? "kept" : "said", &messages[i]);
    coding->logged = count;
    acp_arena_finish(&arena);
}

void coding_forget(struct coding *coding)
{
    coding->usage = (struct model_usage){0};
    coding->logged = 0;
    coding->forgot = true;
    coding_free_context(coding);
}

void coding_log_rewind(struct coding *coding)
{
    struct acp_buf body;
    size_t count = history_count(coding->history);
    if (!coding->log || coding->logged <= count)
        return;
    acp_buf_init(&body, EVENT_MAX);
    int err = acp_buf_printf(&body, "{\"messages\":%zu}", count);
    append(coding, "rewind", &body, err);
    acp_buf_finish(&body);
    coding->logged = count;
}

void coding_log_context(struct coding *coding, const char *kind)
{
    struct acp_buf body;
    struct acp_json_writer w;
    if (!coding->log)
        return;
    acp_buf_init(&body, EVENT_MAX);
    acp_json_writer_init(&w, &body);
    context_write(coding->context, strcmp(kind, "model_context") == 0, &w);
    append(coding, kind, &body, w.err);
    acp_buf_finish(&body);
}
