/*
 * deliver.c - records on their way into the log and to the owner.
 *
 * A record is appended to the log, which gives it its number, and waits here until the log says
 * that it is kept.  The ends of prompts wait in the same line, so that they come after all records.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/types.h"
#include "base/utf8.h"
#include "conversation/conversation_internal.h"

/* ---- The log --------------------------------------------------------------------------------- */

static void on_durable(struct store_log *log, uint64_t seq, bool kept, void *user)
{
    struct conversation *c = user;
    (void) log;
    (void) kept; /* what is not kept was told by on_failed, and is shown all the same */
    c->shown = seq;
    (void) conversation_show(c);
    if (c->stopping)
        conversation_wake(c);
}

static void on_pressure(struct store_log *log, bool high, void *user)
{
    struct conversation *c = user;
    (void) log;
    c->log_pressed = high;
    conversation_regulate(c);
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
    c->log_opening = false;
    if (session) {
        c->untitled = !session->title.len;
        c->sequence = session->last_seq;
        c->shown = session->last_seq;
    } else {
        c->log = NULL;
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
    int err = write_list(&text, options->shown_argv ? options->shown_argv : options->argv,
                         (struct acp_str_list){0});
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
    struct store_writer_options writer = {.path = options->store_path,
                                          .flags = options->store_flags | STORE_CREATE};
    struct acp_failure failure = {0};
    if (!options->store_path)
        return 0;
    int err = store_writer_new(c->loop, &writer, &c->writer);
    if (err)
        return err;
    if (options->in_store)
        err = store_log_open(c->writer, options->session, &log_handler, on_opened, c, &c->log,
                             &failure);
    else
        err = create_session(c, &failure);
    c->log_opening = options->in_store && !err;
    if (err && err != ACP_ERR_NOMEM)
        conversation_notice(c, "this conversation is not kept: %s", failure.message);
    return err == ACP_ERR_NOMEM ? err : 0;
}

/* ---- The line -------------------------------------------------------------------------------- */

static void push(struct conversation *c, struct queued_item *item)
{
    if (c->last_item)
        c->last_item->next = item;
    else
        c->items = item;
    c->last_item = item;
    conversation_wake(c);
}

void conversation_record(struct conversation *c, enum event_kind kind, uint64_t request,
                         struct acp_raw body)
{
    struct queued_item *item = malloc(sizeof(*item) + body.len);
    if (!item)
        return; /* nothing can be said about it either */
    *item = (struct queued_item){
        .record = {.kind = kind, .turn = request, .time = store_now()},
    };
    (void) memcpy(item->bytes, body.ptr, body.len);
    item->record.body = acp_raw_n(item->bytes, body.len);
    int err = ACP_ERR_STATE;
    if (c->log && !c->log_opening)
        err = store_log_append(c->log, request, item->record.time,
                               acp_str_from(event_kind_name(kind)), body, &item->record.sequence);
    if (err) {
        item->is_kept = true;
        item->record.sequence = c->sequence + 1;
    }
    c->sequence = item->record.sequence;
    push(c, item);
}

void conversation_show_end(struct conversation *c, uint64_t request, const struct prompt_end *end)
{
    struct queued_item *item = malloc(sizeof(*item) + end->stop.len + end->message.len);
    if (!item)
        abort(); /* a prompt must end; there is no way left to say so */
    *item = (struct queued_item){.is_end = true, .end = *end, .record = {.turn = request}};
    if (end->stop.len)
        (void) memcpy(item->bytes, end->stop.ptr, end->stop.len);
    if (end->message.len)
        (void) memcpy(item->bytes + end->stop.len, end->message.ptr, end->message.len);
    if (end->stop.ptr)
        item->end.stop.ptr = item->bytes;
    if (end->message.ptr)
        item->end.message.ptr = item->bytes + end->stop.len;
    push(c, item);
}

void conversation_show_question(struct conversation *c, uint64_t number)
{
    struct queued_item *item = calloc(1, sizeof(*item));
    if (!item) {
        conversation_ask_person(c, number); /* out of turn, but asked */
        return;
    }
    item->question = number;
    push(c, item);
}

static bool may_be_shown(const struct conversation *c, const struct queued_item *item)
{
    return item->is_end || item->question || item->is_kept || item->record.sequence <= c->shown;
}

bool conversation_show(struct conversation *c)
{
    bool any = c->unflushed;
    c->unflushed = false;
    while (c->items && may_be_shown(c, c->items)) {
        struct queued_item *item = c->items;
        c->items = item->next;
        if (!c->items)
            c->last_item = NULL;
        any = true;
        if (item->question)
            conversation_ask_person(c, item->question);
        else if (!item->is_end)
            c->handler.record(c, &item->record, c->user);
        else if (c->handler.ended)
            c->handler.ended(c, item->record.turn, &item->end, c->user);
        free(item);
    }
    if (any && c->handler.shown)
        c->handler.shown(c, c->user);
    return c->items == NULL;
}

void conversation_forget_items(struct conversation *c)
{
    while (c->items) {
        struct queued_item *item = c->items;
        c->items = item->next;
        free(item);
    }
    c->last_item = NULL;
}

/* ---- Records of ours ------------------------------------------------------------------------- */

void conversation_record_texts(struct conversation *c, enum event_kind kind, ...)
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
        conversation_record(c, kind, conversation_request(c),
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
    conversation_record_texts(c, EVENT_NOTICE, "message", acp_str_from(message),
                              (const char *) NULL);
}

void conversation_notice_limit(struct conversation *c, enum conversation_limit limit,
                               const char *format, ...)
{
    char message[500];
    va_list args;
    if (c->limits_told & limit)
        return;
    c->limits_told |= limit;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    conversation_notice(c, "%s", message);
}

/* ---- Events of the agent --------------------------------------------------------------------- */

/* What an answer said of modes and options, as the update that would have said the same. */
static void record_unsaid(struct conversation *c, const struct acp_event *event,
                          enum event_kind kind)
{
    unsigned mode = acp_client_protocol(acp_agent_process_client(c->process));
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
        conversation_record(c, kind, conversation_request(c),
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
static void show_at_once(struct conversation *c, const struct acp_event *event,
                         enum event_kind kind)
{
    struct session_event record = {
        .kind = kind,
        .sequence = ++c->sequence,
        .turn = conversation_request(c),
        .time = store_now(),
        .body = event->raw,
        .update = event->update,
    };
    c->handler.record(c, &record, c->user);
    c->unflushed = true;
    conversation_wake(c);
}

void conversation_event(struct conversation *c, const struct acp_event *event)
{
    enum event_kind kind = event_kind_of(event);
    if (event->kind == ACP_EVENT_OPTIONS)
        conversation_note_options(c, event->options);
    else if (event->kind == ACP_EVENT_TOOL)
        conversation_note_tool(c, event->tool);
    if (c->replaying)
        return;
    if (event->kind == ACP_EVENT_OTHER)
        note_in_row(c, event);
    if (event->raw.ptr && !c->log && !c->items)
        show_at_once(c, event, kind);
    else if (event->raw.ptr)
        conversation_record(c, kind, conversation_request(c), event->raw);
    else
        record_unsaid(c, event, kind);
}
