/*
 * events.c - events on their way into the log and to the subscribers.
 *
 * An event is appended to the log, which numbers it, and to the tail, where it waits until the log
 * reports it as durable.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "base/utf8.h"
#include "conversation/conversation_internal.h"

/* ---- The log --------------------------------------------------------------------------------- */

static void on_durable(struct store_log *log, uint64_t sequence, bool kept, void *user)
{
    struct conversation *c = user;
    (void) log;
    (void) kept; /* on_failed has reported what is not kept; it is delivered all the same */
    c->deliverable = sequence;
    (void) conversation_deliver(c);
    if (c->stopping)
        conversation_wake(c);
}

static void on_pressure(struct store_log *log, bool high, void *user)
{
    (void) log;
    conversation_pause_agent(user, PAUSED_BY_LOG, high);
}

static void on_failed(struct store_log *log, const char *sentence, void *user)
{
    (void) log;
    conversation_notice(user, "this conversation is not kept: %s", sentence);
}

static void on_opened(struct store_log *log, const struct store_session *session,
                      const struct acp_failure *failure, void *user)
{
    struct conversation *c = user;
    (void) log;
    c->log_state = session ? LOG_OPEN : LOG_NONE;
    if (session) {
        c->untitled = !session->title.len;
        conversation_start_tail(c, session->last_seq);
    } else {
        c->log = NULL;
        conversation_start_tail(c, 0);
        conversation_notice(c, "this conversation is not kept: %s", failure->message);
    }
    conversation_wake(c);
}

/* The list of words as JSON. */
static int write_list(struct acp_buf *out, const char *const *words, struct acp_str_list texts)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    acp_json_begin_array(&w);
    for (; words && *words; words++)
        acp_json_write_str(&w, acp_str_from(*words));
    for (size_t i = 0; i < texts.count; i++)
        acp_json_write_str(&w, texts.items[i]);
    acp_json_end_array(&w);
    return w.err;
}

int conversation_session_row(const struct conversation_options *options, struct acp_arena *arena,
                             struct store_session *ret)
{
    struct acp_buf text;
    acp_buf_init(&text, EVENT_MAX_BYTES);
    *ret = (struct store_session){
        .id = options->session,
        .agent = options->agent,
        .name = options->name,
        .scope = options->scope,
        .cwd = options->place.cwd,
    };
    int err = write_list(&text, options->shown_argv, (struct acp_str_list){0});
    ret->command = acp_arena_copy(arena, acp_buf_view(&text));
    acp_buf_clear(&text);
    if (!err)
        err = write_list(&text, NULL, options->place.directories);
    ret->directories = acp_arena_copy(arena, acp_buf_view(&text));
    acp_buf_finish(&text);
    return !err && !(ret->command.ptr && ret->directories.ptr) ? ACP_ERR_NOMEM : err;
}

static const struct store_log_handler log_handler = {
    .durable = on_durable, .pressure = on_pressure, .failed = on_failed};

static int create_session(struct conversation *c, struct acp_failure *failure)
{
    struct acp_arena arena;
    struct store_session row;
    acp_arena_init(&arena, 0);
    int err = conversation_session_row(&c->options, &arena, &row);
    if (!err)
        err = store_log_create(c->writer, &row, &log_handler, c, &c->log, failure);
    c->untitled = true;
    acp_arena_finish(&arena);
    return err;
}

int conversation_open_log(struct conversation *c)
{
    const struct conversation_options *options = &c->options;
    struct acp_failure failure = {0};
    if (!c->writer)
        return 0;
    int err = options->in_store ? store_log_open(c->writer, options->session, &log_handler,
                                                 on_opened, c, &c->log, &failure)
                                : create_session(c, &failure);
    if (!err)
        c->log_state = options->in_store ? LOG_OPENING : LOG_OPEN;
    else if (err != ACP_ERR_NOMEM)
        conversation_notice(c, "this conversation is not kept: %s", failure.message);
    return err == ACP_ERR_NOMEM ? err : 0;
}

void conversation_close_log(struct conversation *c)
{
    if (c->log)
        store_log_close(c->log);
    c->log = NULL;
    c->log_state = LOG_NONE;
}

/* ---- Adding events --------------------------------------------------------------------------- */

/*
 * A log that lacks an event is no log of the session any more: nothing is kept from here on, and
 * nothing waits for it.
 */
static void give_up_log(struct conversation *c, int err)
{
    c->deliverable = conversation_last_sequence(c);
    conversation_close_log(c);
    conversation_notice(c, "this conversation is not kept any more: %s", acp_err_text(err));
}

/* Appends the event to the log and numbers it; false if it is in no log. */
static bool log_event(struct conversation *c, struct session_event *event)
{
    event->time = store_now();
    if (c->log_state == LOG_OPEN) {
        int err = store_log_append(c->log, event->turn, event->time,
                                   acp_str_from(event_kind_name(event->kind)), event->body,
                                   &event->sequence);
        if (!err)
            return true;
        give_up_log(c, err);
    }
    event->sequence = conversation_last_sequence(c) + 1;
    return false;
}

void conversation_add_event(struct conversation *c, enum event_kind kind, uint64_t turn,
                            struct acp_raw body)
{
    struct session_event event = {.kind = kind, .turn = turn, .body = body};
    bool kept = log_event(c, &event);
    /* When out of memory, it cannot be reported either; the log has the event. */
    (void) conversation_extend_tail(c, &event, !kept);
    conversation_wake(c);
}

static const char no_memory[] = "{\"source\":\"acp\",\"message\":\"out of memory\"}";

struct tail_event *conversation_spare_end(void)
{
    return calloc(1, sizeof(struct tail_event));
}

void conversation_add_end(struct conversation *c, enum event_kind kind,
                          struct queued_prompt *prompt, struct acp_raw body)
{
    struct session_event event = {.kind = kind, .turn = prompt->turn, .body = body};
    bool kept = body.ptr && log_event(c, &event);
    if (!body.ptr || conversation_extend_tail(c, &event, !kept)) {
        event.kind = EVENT_ERROR;
        event.body = acp_raw_from(no_memory);
        if (!kept)
            kept = log_event(c, &event);
        *prompt->end = (struct tail_event){.not_kept = !kept, .event = event};
        conversation_link_tail(c, prompt->end);
        prompt->end = NULL;
    }
    conversation_wake(c);
}

void conversation_add_texts(struct conversation *c, enum event_kind kind, ...)
{
    struct acp_buf body;
    struct acp_json_writer w;
    const char *name;
    va_list args;
    acp_buf_init(&body, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    va_start(args, kind);
    while ((name = va_arg(args, const char *)) != NULL) {
        struct acp_str text = va_arg(args, struct acp_str);
        if (!text.ptr)
            continue;
        acp_json_write_key(&w, acp_str_from(name));
        acp_json_write_str(&w, text);
    }
    va_end(args);
    acp_json_end_object(&w);
    if (!w.err)
        conversation_add_event(c, kind, conversation_turn(c),
                               acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
}

void conversation_notice(struct conversation *c, const char *format, ...)
{
    char message[2000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    conversation_add_texts(c, EVENT_NOTICE, "message", acp_str_from(message), (const char *) NULL);
}

void conversation_notice_limit(struct conversation *c, enum conversation_limit limit,
                               const char *format, ...)
{
    char message[500];
    va_list args;
    if (c->limits_reported & limit)
        return;
    c->limits_reported |= limit;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    conversation_notice(c, "%s", message);
}

/* ---- Events of the agent --------------------------------------------------------------------- */

/* What an answer said of modes and options, as the update that would have said the same. */
static void add_answered(struct conversation *c, const struct acp_event *event,
                         enum event_kind kind)
{
    unsigned mode = acp_client_protocol(conversation_client(c));
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &body);
    int err = ACP_ERR_STATE;
    if (event->kind == ACP_EVENT_MODES) {
        struct acp_session_mode_state state;
        acp_session_mode_state_init(&state, event->mode, event->modes.items, event->modes.count);
        err = acp_encode(ACP_TYPE_SESSION_MODE_STATE, ACP_V1, &state, &w, NULL);
    } else if (event->kind == ACP_EVENT_OPTIONS) {
        struct acp_session_update update;
        acp_session_update_init_config_option_update(&update, event->options.items,
                                                     event->options.count);
        err = acp_encode(ACP_TYPE_SESSION_UPDATE, mode, &update, &w, NULL);
    }
    if (!err && !w.err)
        conversation_add_event(c, kind, conversation_turn(c),
                               acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
}

/* A title is for one line of a list; what is longer is cut there, into a buffer of the caller. */
static struct acp_str row_title(struct acp_str title, char cut[CONVERSATION_MAX_TITLE])
{
    if (title.len > CONVERSATION_MAX_TITLE)
        title =
            acp_str_n(cut, acp_utf8_copy_cut(cut, title.ptr, title.len, CONVERSATION_MAX_TITLE));
    return title;
}

/* What the row of the session tells without its events. */
static void note_in_row(struct conversation *c, const struct acp_event *event)
{
    struct store_change change = {0};
    char cut[CONVERSATION_MAX_TITLE];
    if (!c->log || !event->update)
        return;
    if (event->update->is == ACP_SESSION_UPDATE_SESSION_INFO_UPDATE)
        change.title = row_title(event->update->session_info_update.title, cut);
    else if (event->update->is == ACP_SESSION_UPDATE_USAGE_UPDATE &&
             event->raw.len <= CONVERSATION_MAX_USAGE)
        change.usage = acp_str_n(event->raw.ptr, event->raw.len);
    else
        return;
    (void) store_log_change(c->log, &change);
}

/* Without a log nothing has to wait, and what is decoded need not be copied and decoded again. */
static void deliver_now(struct conversation *c, const struct acp_event *event, enum event_kind kind)
{
    struct session_event now = {
        .kind = kind,
        .sequence = conversation_last_sequence(c) + 1,
        .turn = conversation_turn(c),
        .time = store_now(),
        .body = event->raw,
        .update = event->update,
    };
    conversation_deliver_now(c, &now);
}

void conversation_agent_event(struct conversation *c, const struct acp_event *event)
{
    enum event_kind kind = event_kind_of(event);
    if (event->kind == ACP_EVENT_OPTIONS)
        conversation_note_options(c, event->options);
    else if (event->kind == ACP_EVENT_TOOL)
        conversation_note_tool(c, event->tool);
    if (c->state == CONVERSATION_LOADING)
        return;
    if (event->kind == ACP_EVENT_OTHER)
        note_in_row(c, event);
    if (event->raw.ptr && conversation_can_deliver_now(c))
        deliver_now(c, event, kind);
    else if (event->raw.ptr)
        conversation_add_event(c, kind, conversation_turn(c), event->raw);
    else
        add_answered(c, event, kind);
}
