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
    struct talk *talk = user;
    (void) log;
    (void) kept; /* what is not kept was told by on_failed, and is shown all the same */
    talk->shown = seq;
    (void) talk_show(talk);
    if (talk->stopping)
        talk_wake(talk);
}

static void on_pressure(struct store_log *log, bool high, void *user)
{
    struct talk *talk = user;
    (void) log;
    talk->log_pressed = high;
    talk_regulate(talk);
}

static void on_failed(struct store_log *log, const char *sentence, void *user)
{
    (void) log;
    talk_notice(user, "this conversation is not kept: %s", sentence);
}

static void on_opened(struct store_log *log, const struct store_session *session,
                      const struct acp_failure *failure, void *user)
{
    struct talk *talk = user;
    (void) log;
    talk->log_opening = false;
    if (session) {
        talk->untitled = !session->title.len;
        talk->sequence = session->last_seq;
        talk->shown = session->last_seq;
    } else {
        talk->log = NULL;
        talk_notice(talk, "this conversation is not kept: %s", failure->message);
    }
    talk_wake(talk);
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

int talk_session_row(const struct talk_options *options, struct acp_arena *arena,
                     struct store_session *ret)
{
    struct acp_buf text;
    acp_buf_init(&text, RECORD_MAX);
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

static int create_session(struct talk *talk, struct acp_failure *failure)
{
    struct acp_arena arena;
    struct store_session row;
    acp_arena_init(&arena, 0);
    int err = talk_session_row(&talk->options, &arena, &row);
    if (!err)
        err = store_log_create(talk->writer, &row, &log_handler, talk, &talk->log, failure);
    talk->untitled = true;
    acp_arena_finish(&arena);
    return err;
}

int talk_open_log(struct talk *talk)
{
    const struct talk_options *options = &talk->options;
    struct store_writer_options writer = {.path = options->store_path,
                                          .flags = options->store_flags | STORE_CREATE};
    struct acp_failure failure = {0};
    if (!options->store_path)
        return 0;
    int err = store_writer_new(talk->loop, &writer, &talk->writer);
    if (err)
        return err;
    if (options->in_store)
        err = store_log_open(talk->writer, options->session, &log_handler, on_opened, talk,
                             &talk->log, &failure);
    else
        err = create_session(talk, &failure);
    talk->log_opening = options->in_store && !err;
    if (err && err != ACP_ERR_NOMEM)
        talk_notice(talk, "this conversation is not kept: %s", failure.message);
    return err == ACP_ERR_NOMEM ? err : 0;
}

/* ---- The line -------------------------------------------------------------------------------- */

static void push(struct talk *talk, struct talk_item *item)
{
    if (talk->last_item)
        talk->last_item->next = item;
    else
        talk->items = item;
    talk->last_item = item;
    talk_wake(talk);
}

void talk_record(struct talk *talk, enum record_kind kind, uint64_t request, struct acp_raw body)
{
    struct talk_item *item = malloc(sizeof(*item) + body.len);
    if (!item)
        return; /* nothing can be said about it either */
    *item = (struct talk_item){
        .record = {.kind = kind, .request = request, .time = store_now()},
    };
    (void) memcpy(item->bytes, body.ptr, body.len);
    item->record.body = acp_raw_n(item->bytes, body.len);
    int err = ACP_ERR_STATE;
    if (talk->log && !talk->log_opening)
        err = store_log_append(talk->log, request, item->record.time,
                               acp_str_from(record_kind_name(kind)), body, &item->record.sequence);
    if (err) {
        item->is_kept = true;
        item->record.sequence = talk->sequence + 1;
    }
    talk->sequence = item->record.sequence;
    push(talk, item);
}

void talk_show_end(struct talk *talk, uint64_t request, const struct talk_end *end)
{
    struct talk_item *item = malloc(sizeof(*item) + end->stop.len + end->message.len);
    if (!item)
        abort(); /* a prompt must end; there is no way left to say so */
    *item = (struct talk_item){.is_end = true, .end = *end, .record = {.request = request}};
    if (end->stop.len)
        (void) memcpy(item->bytes, end->stop.ptr, end->stop.len);
    if (end->message.len)
        (void) memcpy(item->bytes + end->stop.len, end->message.ptr, end->message.len);
    if (end->stop.ptr)
        item->end.stop.ptr = item->bytes;
    if (end->message.ptr)
        item->end.message.ptr = item->bytes + end->stop.len;
    push(talk, item);
}

void talk_show_question(struct talk *talk, uint64_t number)
{
    struct talk_item *item = calloc(1, sizeof(*item));
    if (!item) {
        talk_ask_person(talk, number); /* out of turn, but asked */
        return;
    }
    item->question = number;
    push(talk, item);
}

static bool may_be_shown(const struct talk *talk, const struct talk_item *item)
{
    return item->is_end || item->question || item->is_kept || item->record.sequence <= talk->shown;
}

bool talk_show(struct talk *talk)
{
    bool any = talk->unflushed;
    talk->unflushed = false;
    while (talk->items && may_be_shown(talk, talk->items)) {
        struct talk_item *item = talk->items;
        talk->items = item->next;
        if (!talk->items)
            talk->last_item = NULL;
        any = true;
        if (item->question)
            talk_ask_person(talk, item->question);
        else if (!item->is_end)
            talk->handler.record(talk, &item->record, talk->user);
        else if (talk->handler.ended)
            talk->handler.ended(talk, item->record.request, &item->end, talk->user);
        free(item);
    }
    if (any && talk->handler.shown)
        talk->handler.shown(talk, talk->user);
    return talk->items == NULL;
}

void talk_forget_items(struct talk *talk)
{
    while (talk->items) {
        struct talk_item *item = talk->items;
        talk->items = item->next;
        free(item);
    }
    talk->last_item = NULL;
}

/* ---- Records of ours ------------------------------------------------------------------------- */

void talk_record_texts(struct talk *talk, enum record_kind kind, ...)
{
    struct acp_buf body;
    struct acp_json_writer w;
    const char *name;
    va_list args;
    acp_buf_init(&body, RECORD_MAX);
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
        talk_record(talk, kind, talk_request(talk), acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
}

void talk_notice(struct talk *talk, const char *format, ...)
{
    char message[2000];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    talk_record_texts(talk, RECORD_NOTICE, "message", acp_str_from(message), (const char *) NULL);
}

void talk_notice_limit(struct talk *talk, enum talk_limit limit, const char *format, ...)
{
    char message[500];
    va_list args;
    if (talk->limits_told & limit)
        return;
    talk->limits_told |= limit;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    talk_notice(talk, "%s", message);
}

/* ---- Events of the agent --------------------------------------------------------------------- */

/* What an answer said of modes and options, as the update that would have said the same. */
static void record_unsaid(struct talk *talk, const struct acp_event *event, enum record_kind kind)
{
    unsigned mode = acp_client_protocol(acp_agent_process_client(talk->process));
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, RECORD_MAX);
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
        talk_record(talk, kind, talk_request(talk), acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
}

/* A title is for one line of a list; what is longer is cut there, into a buffer of the caller. */
static struct acp_str row_title(struct acp_str title, char cut[TALK_MAX_TITLE])
{
    if (title.len > TALK_MAX_TITLE)
        title = acp_str_n(cut, acp_utf8_copy_cut(cut, title.ptr, title.len, TALK_MAX_TITLE));
    return title;
}

/* What the row of the session tells without its events. */
static void note_in_row(struct talk *talk, const struct acp_event *event)
{
    struct store_change change = {0};
    char cut[TALK_MAX_TITLE];
    if (!talk->log || !event->update)
        return;
    if (event->update->is == ACP_SESSION_UPDATE_SESSION_INFO_UPDATE)
        change.title = row_title(event->update->session_info_update.title, cut);
    else if (event->update->is == ACP_SESSION_UPDATE_USAGE_UPDATE &&
             event->raw.len <= TALK_MAX_USAGE)
        change.usage = acp_str_n(event->raw.ptr, event->raw.len);
    else
        return;
    (void) store_log_change(talk->log, &change);
}

/* Without a log nothing has to wait, and what is decoded need not be copied and decoded again. */
static void show_at_once(struct talk *talk, const struct acp_event *event, enum record_kind kind)
{
    struct record record = {
        .kind = kind,
        .sequence = ++talk->sequence,
        .request = talk_request(talk),
        .time = store_now(),
        .body = event->raw,
        .update = event->update,
    };
    talk->handler.record(talk, &record, talk->user);
    talk->unflushed = true;
    talk_wake(talk);
}

void talk_event(struct talk *talk, const struct acp_event *event)
{
    enum record_kind kind = record_kind_of(event);
    if (event->kind == ACP_EVENT_OPTIONS)
        talk_note_options(talk, event->options);
    else if (event->kind == ACP_EVENT_TOOL)
        talk_note_tool(talk, event->tool);
    if (talk->replaying)
        return;
    if (event->kind == ACP_EVENT_OTHER)
        note_in_row(talk, event);
    if (event->raw.ptr && !talk->log && !talk->items)
        show_at_once(talk, event, kind);
    else if (event->raw.ptr)
        talk_record(talk, kind, talk_request(talk), event->raw);
    else
        record_unsaid(talk, event, kind);
}
