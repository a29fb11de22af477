/*
 * session_log.c - writes the log of sessions; log_kinds.h has the kinds of events.
 *
 * Everything is logged before anybody sees it: what is sent after an event waits until the event is
 * on disk, see acp_agent_hold_output().  The writer is flushed again whenever a flush has ended.
 * So a single event waits for one transaction, and many at a time share a few.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "cli/output.h"
#include "json/members.h"

enum { EVENT_MAX = 64 << 20 };

/* ---- Waiting --------------------------------------------------------------------------------- */

static void release(struct coding_agent *agent, uint64_t number)
{
    if (agent->stdio)
        acp_agent_release_output(acp_agent_stdio_agent(agent->stdio), number);
}

static void flush(struct coding_agent *agent);

static void on_flushed(void *user)
{
    struct coding_agent *agent = user;
    uint64_t number = agent->flushing;
    agent->flushing = 0;
    release(agent, number);
    if (agent->appended > number && agent->writer)
        flush(agent);
}

static void flush(struct coding_agent *agent)
{
    agent->flushing = agent->appended;
    if (store_writer_flush(agent->writer, on_flushed, agent)) {
        /* Nothing can be written any more, which on_failed() reports; sessions go on without. */
        agent->flushing = 0;
        release(agent, agent->appended);
    }
}

static void hold(struct agent_session *session)
{
    struct coding_agent *agent = session->agent;
    agent->appended++;
    acp_agent_hold_output(acp_session_agent(session->role), agent->appended);
    if (!agent->flushing)
        flush(agent);
}

/* ---- The store ------------------------------------------------------------------------------- */

static void on_failed(struct store_log *log, const char *sentence, void *user)
{
    struct agent_session *session = user;
    char warning[600];
    (void) log;
    (void) snprintf(warning, sizeof(warning), "sessions are no longer stored: %s", sentence);
    if (!session->agent->store_failed)
        err_printf("acp agent: %s\n", warning);
    session->agent->store_failed = true;
    (void) agent_session_warn(session, warning);
}

const struct store_log_handler agent_session_log_handler = {.failed = on_failed};

int coding_agent_open_store(struct coding_agent *agent)
{
    struct store_writer_options options = {.path = agent->options->store_path,
                                           .flags = STORE_CREATE | STORE_NO_INDEX};
    if (!options.path)
        return 0;
    int err = store_writer_new(&agent->loop, &options, &agent->writer);
    return err ? err : store_worker_new(&agent->loop, options.path, 0, &agent->worker);
}

void coding_agent_close_store(struct coding_agent *agent)
{
    if (agent->writer)
        store_writer_close(agent->writer, NULL, NULL);
    agent->writer = NULL;
    store_worker_close(agent->worker, NULL, NULL);
    agent->worker = NULL;
}

bool agent_session_is_durable(const struct agent_session *session)
{
    return session->log && !store_writer_failure(session->agent->writer) &&
           store_log_durable_seq(session->log) == store_log_last_seq(session->log);
}

/* ---- Settings, and what the session has cost ------------------------------------------------- */

static int write_settings(const struct agent_session *session, struct acp_buf *out)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "mode", acp_policy_mode_name(acp_policy_get_mode(session->policy)));
    acp_json_put_text(&w, "effort", model_effort_name(session->effort));
    if (session->model)
        acp_json_put_text(&w, "model", session->model);
    if (session->cost.has == ACP_PRESENT) {
        char cost[40];
        (void) snprintf(cost, sizeof(cost), "%.9g", session->cost.value);
        acp_json_put_text(&w, "cost", cost);
    }
    agent_overrides_write(&session->overrides, &w);
    acp_json_end_object(&w);
    return w.err;
}

void agent_session_log_settings(struct agent_session *session)
{
    struct acp_buf text;
    if (!session->log)
        return;
    acp_buf_init(&text, EVENT_MAX);
    if (write_settings(session, &text) == 0) {
        struct store_change change = {.settings = acp_buf_view(&text)};
        (void) store_log_change(session->log, &change);
    }
    acp_buf_finish(&text);
}

/* A session of sandbox mode becomes read-only where no sandbox can be made. */
static void apply_mode(struct agent_session *session, struct acp_str mode)
{
    struct acp_failure failure;
    if (agent_session_set_mode(session, mode, &failure))
        (void) agent_session_use_mode(session, ACP_POLICY_READ_ONLY);
}

static void apply_setting(struct agent_session *session, struct acp_str key, struct acp_str value)
{
    struct acp_failure failure;
    if (acp_str_is(key, "mode"))
        apply_mode(session, value);
    else if (acp_str_is(key, "effort"))
        (void) model_effort_find(value, &session->effort);
    else if (acp_str_is(key, "model"))
        (void) agent_session_set_model(session, value, &failure); /* or keep the default */
    else if (acp_str_is(key, "cost"))
        session->cost = acp_some_f64(strtod(value.ptr, NULL)); /* a quote ends it */
    else
        agent_overrides_read(&session->overrides, key, value);
}

void agent_session_apply_settings(struct agent_session *session, struct acp_str settings)
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
            apply_setting(session, key, value);
    }
    acp_arena_finish(&arena);
}

/* ---- Events ---------------------------------------------------------------------------------- */

bool agent_session_begin_log(struct agent_session *session)
{
    struct store_session row = {
        .id = acp_session_id(session->role),
        .agent = acp_str_from("acp"),
        .cwd = acp_session_cwd(session->role),
    };
    struct acp_buf settings;
    if (session->log || !session->agent->writer)
        return session->log != NULL;
    if (session->title)
        row.title = acp_str_from(session->title);
    if (*session->chat)
        row.name = acp_str_from(session->chat);
    acp_buf_init(&settings, EVENT_MAX);
    if (write_settings(session, &settings) == 0)
        row.settings = acp_buf_view(&settings);
    (void) store_log_create(session->agent->writer, &row, &agent_session_log_handler, session,
                            &session->log, NULL);
    acp_buf_finish(&settings);
    if (session->log)
        hold(session); /* the client gets the id once the session can be found by it */
    return session->log != NULL;
}

/* What is sent from now on waits until the event is on disk. */
static void append(struct agent_session *session, enum log_kind kind, struct acp_raw body)
{
    int err = store_log_append(session->log, session->turns, store_now(), log_kind_name(kind), body,
                               NULL);
    if (!err)
        hold(session);
}

/* err: of writing the body. */
static void append_buf(struct agent_session *session, enum log_kind kind,
                       const struct acp_buf *body, int err)
{
    struct acp_str text = acp_buf_view(body);
    if (!err)
        append(session, kind, acp_raw_n(text.ptr, text.len));
}

/* An update that is about to be sent: the role has encoded it already. */
static void append_sent(struct agent_session *session, enum log_kind kind)
{
    struct acp_raw body;
    int err = acp_session_get_update(session->role, &body);
    if (!err)
        append(session, kind, body);
}

static void append_update(struct agent_session *session, enum log_kind kind, unsigned mode,
                          const struct acp_session_update *update)
{
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, EVENT_MAX);
    acp_json_writer_init(&w, &body);
    int err = acp_session_update_encode(mode, update, &w, NULL);
    append_buf(session, kind, &body, err ? err : w.err);
    acp_buf_finish(&body);
}

static void append_text(struct agent_session *session, enum log_kind kind, const char *key,
                        struct acp_str value)
{
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, EVENT_MAX);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    acp_json_put_str(&w, key, value);
    acp_json_end_object(&w);
    append_buf(session, kind, &body, w.err);
    acp_buf_finish(&body);
}

/* False if the session cannot be stored. */
static bool begin_turn(struct agent_session *session)
{
    struct store_change change = {.running = {ACP_PRESENT, true}};
    if (!agent_session_begin_log(session))
        return false;
    session->turns++;
    (void) store_log_change(session->log, &change);
    return true;
}

void agent_session_log_prompt(struct agent_session *session, const struct acp_turn *role_turn,
                              struct acp_content_block_list prompt)
{
    struct acp_session_update message = {.is = ACP_SESSION_UPDATE_USER_MESSAGE};
    /* Version 2 sends the prompt back as a message, which was logged already. */
    if (acp_agent_protocol(acp_session_agent(session->role)) & ACP_V2)
        return;
    message.user_message.message_id = acp_turn_user_message_id(role_turn);
    message.user_message.content = prompt;
    if (begin_turn(session))
        append_update(session, LOG_KIND_PROMPT, ACP_V2, &message);
}

static bool is_open(const struct agent_session *session)
{
    return session->state >= AGENT_SESSION_OPEN && session->state <= AGENT_SESSION_RESTORING;
}

void coding_agent_before_update(struct acp_session *role_session,
                                const struct acp_session_update *update, void *user)
{
    struct agent_session *session = acp_session_user(role_session);
    unsigned mode = acp_agent_protocol(acp_session_agent(role_session));
    (void) user;
    if (!session)
        return;
    /* Version 1 sends the user's message block by block; the whole message is logged already. */
    if (update->is == ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK)
        return;
    if (update->is == ACP_SESSION_UPDATE_USER_MESSAGE) {
        if (begin_turn(session))
            append_sent(session, LOG_KIND_PROMPT);
    } else if (is_open(session) && session->log && session->turns &&
               update->is != ACP_SESSION_UPDATE_AVAILABLE_COMMANDS_UPDATE) {
        /* Commands, and what is sent before a session has a turn or is open, is sent anew. */
        append_sent(session, mode & ACP_V2 ? LOG_KIND_UPDATE2 : LOG_KIND_UPDATE);
    }
}

void agent_session_log_output(struct tools *set, const struct acp_tool_call_update *call,
                              void *user)
{
    struct agent_session *session = user;
    unsigned mode = acp_agent_protocol(acp_session_agent(session->role));
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_TOOL_CALL_UPDATE};
    (void) set;
    update.tool_call_update = *call;
    if (session->log)
        append_update(session, mode & ACP_V2 ? LOG_KIND_OUTPUT2 : LOG_KIND_OUTPUT, ACP_V1, &update);
}

void agent_session_log_stop(struct agent_session *session, const char *stop_reason)
{
    struct store_change change = {.running = {ACP_PRESENT, false}};
    if (!session->log)
        return;
    append_text(session, LOG_KIND_STOP, "stopReason", acp_str_from(stop_reason));
    (void) store_log_change(session->log, &change);
}

void agent_session_log_error(struct agent_session *session, const char *sentence)
{
    struct store_change change = {.running = {ACP_PRESENT, false}};
    if (!session->log)
        return;
    append_text(session, LOG_KIND_ERROR, "message", acp_str_from(sentence));
    (void) store_log_change(session->log, &change);
}

static void append_message(struct agent_session *session, enum log_kind kind,
                           const struct model_message *message)
{
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, EVENT_MAX);
    acp_json_writer_init(&w, &body);
    history_write(message, &w);
    append_buf(session, kind, &body, w.err);
    acp_buf_finish(&body);
}

void agent_session_log_history(struct agent_session *session)
{
    size_t count = history_count(session->history);
    struct acp_arena arena;
    bool was_reset = session->history_was_reset;
    if ((session->logged >= count && !was_reset) || !session->log)
        return;
    acp_arena_init(&arena, 0);
    const struct model_message *messages =
        history_messages(session->history, session->logged, &arena);
    if (!messages) {
        acp_arena_finish(&arena);
        return; /* out of memory: next time */
    }
    if (was_reset)
        (void) store_log_append(session->log, session->turns, store_now(),
                                log_kind_name(LOG_KIND_HISTORY_RESET), acp_raw_from("{}"), NULL);
    session->history_was_reset = false;
    for (size_t i = 0; i < count - session->logged; i++)
        append_message(session, was_reset ? LOG_KIND_RETAINED : LOG_KIND_MESSAGE, &messages[i]);
    session->logged = count;
    acp_arena_finish(&arena);
}

void agent_session_reset_history(struct agent_session *session)
{
    session->usage = (struct model_usage){0};
    session->logged = 0;
    session->history_was_reset = true;
    agent_session_free_context(session);
}

void agent_session_log_rewind(struct agent_session *session)
{
    struct acp_buf body;
    size_t count = history_count(session->history);
    if (!session->log || session->logged <= count)
        return;
    acp_buf_init(&body, EVENT_MAX);
    int err = acp_buf_printf(&body, "{\"messages\":%zu}", count);
    append_buf(session, LOG_KIND_REWIND, &body, err);
    acp_buf_finish(&body);
    session->logged = count;
}

void agent_session_log_context(struct agent_session *session, enum log_kind kind)
{
    struct acp_buf body;
    struct acp_json_writer w;
    if (!session->log)
        return;
    acp_buf_init(&body, EVENT_MAX);
    acp_json_writer_init(&w, &body);
    context_write(session->context, kind == LOG_KIND_MODEL_CONTEXT, &w);
    append_buf(session, kind, &body, w.err);
    acp_buf_finish(&body);
}
