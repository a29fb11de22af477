/* transcript.c - the list of items: how events get into it, and what memory it takes. */
#include "transcript/transcript_internal.h"

#include <assert.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "json/members.h"

/* Enough for nearly every event; more are allocated as needed. */
enum { FIRST_CHANGES = 8, FIRST_SLOTS = 64 };

bool keeps_all(const struct transcript *t)
{
    return t->options.keep == TRANSCRIPT_KEEP_ALL;
}

size_t text_limit(const struct transcript *t)
{
    return t->options.max_bytes < TRANSCRIPT_MAX_TEXT ? t->options.max_bytes : TRANSCRIPT_MAX_TEXT;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static size_t content_bytes(const struct item_content *content)
{
    return sizeof(*content) + content->arena.used + content->capacity * sizeof(*content->entries) +
           content->location_bytes + content->file_arena.used + content->input.cap +
           content->output.cap;
}

static void count_bytes(struct transcript *t, struct item *item)
{
    size_t bytes = sizeof(*item) + item->shown.text.cap + item->arena.used + item->id_len;
    if (item->content)
        bytes += content_bytes(item->content);
    if (item->shown.number) {
        t->bytes += bytes - item->bytes;
        item->bytes = bytes;
    }
}

static void free_content(struct item_content *content)
{
    if (!content)
        return;
    acp_arena_finish(&content->arena);
    acp_arena_finish(&content->file_arena);
    acp_buf_finish(&content->input);
    acp_buf_finish(&content->output);
    free(content->entries);
    free(content->locations);
    free(content);
}

static void free_item(struct item *item)
{
    if (!item)
        return;
    free_content(item->content);
    acp_buf_finish(&item->shown.text);
    acp_arena_finish(&item->arena);
    free(item->id);
    free(item->name);
    free(item->reason);
    free(item);
}

/* Frees what is large: the text of a message, the content of a tool call or plan. */
static void drop(struct transcript *t, struct item *item)
{
    struct transcript_item *shown = &item->shown;
    switch (shown->kind) {
    case ITEM_TOOL_CALL:
        shown->tool_call.content = (struct acp_tool_call_content_list){0};
        shown->tool_call.locations = (struct acp_tool_call_location_list){0};
        shown->tool_call.raw_input = (struct acp_raw){0};
        shown->tool_call.raw_output = (struct acp_raw){0};
        shown->tool_call.files = (struct transcript_file_list){0};
        break;
    case ITEM_PLAN:
        shown->plan.entries = (struct acp_plan_entry_list){0};
        shown->plan.markdown = (struct acp_str){0};
        break;
    case ITEM_PROMPT:
    case ITEM_USER_MESSAGE:
    case ITEM_MESSAGE:
    case ITEM_THOUGHT:
    case ITEM_COMPACTION:
        acp_buf_finish(&shown->text);
        acp_arena_finish(&item->arena);
        shown->blocks = NULL;
        item->last_block = NULL;
        break;
    default:
        return; /* a few words */
    }
    free_content(item->content);
    item->content = NULL;
    shown->is_dropped = true;
    count_bytes(t, item);
}

/* ---- Items ----------------------------------------------------------------------------------- */

static struct item *item_at(const struct transcript *t, uint64_t number)
{
    if (number < t->first || number >= t->first + t->count)
        return NULL;
    return t->slots[t->start + (size_t) (number - t->first)];
}

/* The oldest one may be a gap. */
static void pop_gaps(struct transcript *t)
{
    while (t->count && !t->slots[t->start]) {
        t->start++;
        t->first++;
        t->count--;
    }
}

void item_remove(struct transcript *t, struct item *item)
{
    assert(item_at(t, item->shown.number) == item);
    untrack(t, item);
    if (t->open == item)
        t->open = NULL;
    t->bytes -= item->bytes;
    t->slots[t->start + (size_t) (item->shown.number - t->first)] = NULL;
    pop_gaps(t);
    item->next_removed = t->removed;
    t->removed = item;
}

static int make_room(struct transcript *t)
{
    while (t->count >= t->options.max_items)
        item_remove(t, t->slots[t->start]);
    if (t->start + t->count < t->capacity)
        return 0;
    if (t->start > t->capacity / 2) {
        memmove(t->slots, t->slots + t->start, t->count * sizeof(struct item *));
        t->start = 0;
        return 0;
    }
    size_t capacity = t->capacity ? t->capacity * 2 : FIRST_SLOTS;
    struct item **slots = realloc(t->slots, capacity * sizeof(struct item *));
    if (!slots)
        return ACP_ERR_NOMEM;
    t->slots = slots;
    t->capacity = capacity;
    return 0;
}

static struct item *new_item(struct transcript *t, enum transcript_item_kind kind)
{
    struct item *item = calloc(1, sizeof(*item));
    if (!item) {
        t->err = ACP_ERR_NOMEM;
        return NULL;
    }
    item->shown.kind = kind;
    item->shown.sequence = t->event->sequence;
    item->shown.turn = t->event->turn;
    item->shown.started = t->event->time;
    acp_buf_init(&item->shown.text, text_limit(t));
    acp_arena_init(&item->arena, 0);
    return item;
}

struct item *item_add(struct transcript *t, enum transcript_item_kind kind)
{
    struct item *item = new_item(t, kind);
    if (item && make_room(t)) {
        t->err = ACP_ERR_NOMEM;
        free_item(item);
        return NULL;
    }
    if (!item)
        return NULL;
    item->shown.number = t->next++;
    item->root = item->shown.number;
    t->slots[t->start + t->count++] = item;
    count_bytes(t, item);
    return item;
}

struct item *item_beyond(struct transcript *t)
{
    if (!t->beyond)
        t->beyond = new_item(t, ITEM_TOOL_CALL);
    return t->beyond;
}

/* ---- Changes --------------------------------------------------------------------------------- */

struct transcript_change *note_change(struct transcript *t, struct item *item, unsigned what)
{
    if (t->change_count == t->change_capacity) {
        size_t capacity = t->change_capacity ? t->change_capacity * 2 : FIRST_CHANGES;
        struct transcript_change *changes =
            realloc(t->changes, capacity * sizeof(struct transcript_change));
        if (!changes) {
            t->err = ACP_ERR_NOMEM;
            return NULL;
        }
        t->changes = changes;
        t->change_capacity = capacity;
    }
    struct transcript_change *change = &t->changes[t->change_count++];
    *change = (struct transcript_change){.what = what};
    if (item) {
        change->item = &item->shown;
        item->touched = t->serial;
        count_bytes(t, item);
    }
    return change;
}

/* Texts that the answer has, or that are only passed on, are not kept a second time. */
static bool keeps_text(const struct transcript *t, const struct item *item)
{
    if (item->shown.is_dropped || item->shown.is_cut)
        return false;
    return keeps_all(t) || item->shown.kind > ITEM_THOUGHT;
}

static void keep_text(struct transcript *t, struct item *item, struct acp_str text)
{
    struct transcript_item *shown = &item->shown;
    if (!keeps_text(t, item))
        return;
    size_t room = shown->text.max - shown->text.len;
    if (text.len > room) {
        shown->is_cut = true;
        text.len = acp_utf8_cut(text.ptr, text.len, room);
    }
    if (acp_buf_append_str(&shown->text, text))
        t->err = ACP_ERR_NOMEM;
}

void note_text(struct transcript *t, struct item *item, struct acp_str text, unsigned what)
{
    size_t offset = item->length;
    keep_text(t, item, text);
    item->length += text.len;
    struct transcript_change *change = note_change(t, item, what | CHANGE_TEXT);
    if (change) {
        change->offset = offset;
        change->text = text;
    }
}

void note_new_text(struct transcript *t, struct item *item, struct acp_str text)
{
    acp_buf_clear(&item->shown.text);
    item->shown.is_cut = false;
    item->length = text.len;
    keep_text(t, item, text);
    struct transcript_change *change = note_change(t, item, CHANGE_TEXT_REPLACED);
    if (change)
        change->text = text;
}

void item_end(struct transcript *t, struct item *item, unsigned what)
{
    if (!item->shown.is_ended) {
        item->shown.is_ended = true;
        item->shown.ended = t->event->time;
    }
    (void) note_change(t, item, what | CHANGE_ENDED);
    if (!keeps_all(t) && !item->is_tracked)
        item_remove(t, item);
}

/* ---- Ids ------------------------------------------------------------------------------------- */

static struct acp_str tracking_key(char kind, struct acp_str id, char key[1 + TRANSCRIPT_MAX_ID])
{
    key[0] = kind;
    if (id.len)
        (void) memcpy(key + 1, id.ptr, id.len);
    return acp_str_n(key, id.len + 1);
}

struct item *find_tracked(const struct transcript *t, char kind, struct acp_str id)
{
    char key[1 + TRANSCRIPT_MAX_ID];
    if (id.len > TRANSCRIPT_MAX_ID)
        return NULL;
    return acp_map_get(&t->tracked, tracking_key(kind, id, key));
}

bool track(struct transcript *t, struct item *item, char kind, struct acp_str id)
{
    char key[1 + TRANSCRIPT_MAX_ID];
    bool is_tool_call = item->shown.kind == ITEM_TOOL_CALL;
    size_t *count = is_tool_call ? &t->tool_calls : &t->others;
    size_t most = is_tool_call ? TRANSCRIPT_MAX_TOOL_CALLS : TRANSCRIPT_MAX_MESSAGES;
    struct acp_str whole = tracking_key(kind, id, key);
    item->id = acp_str_dup(whole);
    if (!item->id) {
        t->err = ACP_ERR_NOMEM;
        return false;
    }
    item->id_len = whole.len;
    if (*count >= most)
        return false;
    if (acp_map_set(&t->tracked, whole, item)) {
        t->err = ACP_ERR_NOMEM;
        return false;
    }
    ++*count;
    item->is_tracked = true;
    item->before = t->last_tracked;
    if (t->last_tracked)
        t->last_tracked->behind = item;
    else
        t->first_tracked = item;
    t->last_tracked = item;
    return true;
}

void untrack(struct transcript *t, struct item *item)
{
    if (!item->is_tracked)
        return;
    (void) acp_map_remove(&t->tracked, acp_str_n(item->id, item->id_len));
    --*(item->shown.kind == ITEM_TOOL_CALL ? &t->tool_calls : &t->others);
    if (item->before)
        item->before->behind = item->behind;
    else
        t->first_tracked = item->behind;
    if (item->behind)
        item->behind->before = item->before;
    else
        t->last_tracked = item->before;
    item->before = NULL;
    item->behind = NULL;
    item->is_tracked = false;
}

struct acp_str id_of(const struct item *item)
{
    return item->id ? acp_str_n(item->id + 1, item->id_len - 1) : (struct acp_str){0};
}

/* ---- Texts ----------------------------------------------------------------------------------- */

void replace_text(struct transcript *t, char **old, struct acp_str text)
{
    char *copy = NULL;
    if (acp_is_set(text.ptr)) {
        copy = acp_str_dup(text);
        if (!copy) {
            t->err = ACP_ERR_NOMEM;
            return;
        }
    }
    free(*old);
    *old = copy;
}

struct acp_str event_text(struct transcript *t, const char *name)
{
    struct acp_json_reader r;
    struct acp_str text = {0};
    struct acp_raw raw;
    if (acp_json_find_member(t->event->body, name, &t->arena, &r)) {
        if (acp_json_peek(&r) == ACP_JSON_STRING)
            (void) acp_json_read_str(&r, &text);
        else if (acp_json_read_raw(&r, &raw) == 0)
            text = acp_str_n(raw.ptr, raw.len);
    }
    if (r.err == ACP_ERR_NOMEM)
        t->err = ACP_ERR_NOMEM;
    return text;
}

/* ---- Adding events --------------------------------------------------------------------------- */

static void fold_update(struct transcript *t, const struct acp_session_update *u)
{
    switch (u->is) {
    case ACP_SESSION_UPDATE_AGENT_MESSAGE_CHUNK:
        fold_chunk(t, ITEM_MESSAGE, u->agent_message_chunk.message_id,
                   &u->agent_message_chunk.content);
        break;
    case ACP_SESSION_UPDATE_AGENT_THOUGHT_CHUNK:
        fold_chunk(t, ITEM_THOUGHT, u->agent_thought_chunk.message_id,
                   &u->agent_thought_chunk.content);
        break;
    case ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK:
        fold_chunk(t, ITEM_USER_MESSAGE, u->user_message_chunk.message_id,
                   &u->user_message_chunk.content);
        break;
    case ACP_SESSION_UPDATE_AGENT_MESSAGE:
        fold_message(t, ITEM_MESSAGE, u->agent_message.message_id, u->agent_message.content);
        break;
    case ACP_SESSION_UPDATE_AGENT_THOUGHT:
        fold_message(t, ITEM_THOUGHT, u->agent_thought.message_id, u->agent_thought.content);
        break;
    case ACP_SESSION_UPDATE_USER_MESSAGE:
        fold_message(t, ITEM_USER_MESSAGE, u->user_message.message_id, u->user_message.content);
        break;
    case ACP_SESSION_UPDATE_TOOL_CALL:
    case ACP_SESSION_UPDATE_TOOL_CALL_UPDATE:
    case ACP_SESSION_UPDATE_TOOL_CALL_CONTENT_CHUNK:
        fold_tool_call(t, u);
        break;
    case ACP_SESSION_UPDATE_PLAN:
        fold_plan(t, u->plan.entries);
        break;
    case ACP_SESSION_UPDATE_PLAN_UPDATE:
        fold_plan_update(t, &u->plan_update.plan);
        break;
    case ACP_SESSION_UPDATE_PLAN_REMOVED:
        fold_plan_removed(t, u->plan_removed.plan_id);
        break;
    case ACP_SESSION_UPDATE_COMPACTION_UPDATE:
        fold_compaction(t, &u->compaction_update);
        break;
    case ACP_SESSION_UPDATE_COMPACTION_SUMMARY_CHUNK:
        fold_compaction_chunk(t, &u->compaction_summary_chunk);
        break;
    case ACP_SESSION_UPDATE_STATE_UPDATE:
        fold_state(t, &u->state_update);
        break;
    case ACP_SESSION_UPDATE_USAGE_UPDATE:
        fold_usage(t, &u->usage_update);
        break;
    case ACP_SESSION_UPDATE_SESSION_INFO_UPDATE:
        fold_info(t, &u->session_info_update);
        break;
    case ACP_SESSION_UPDATE_NOTICE:
        fold_notice(t, &u->notice);
        break;
    default:
        break; /* nothing that is shown in the order of the conversation */
    }
}

static void fold(struct transcript *t)
{
    const struct acp_session_update *update;
    int err = 0;
    switch (t->event->kind) {
    case EVENT_OPENED:
        fold_opened(t);
        break;
    case EVENT_PROMPT:
        fold_prompt(t);
        break;
    case EVENT_COMMANDS:
        fold_commands(t);
        break;
    case EVENT_CONFIG_OPTIONS:
        fold_options(t);
        break;
    case EVENT_MODE:
        fold_mode(t);
        break;
    case EVENT_PERMISSION:
        fold_permission(t);
        break;
    case EVENT_ELICITATION:
        fold_elicitation(t);
        break;
    case EVENT_SETTING:
        fold_setting(t);
        break;
    case EVENT_NOTICE:
        fold_message_of_ours(t, ITEM_NOTICE);
        break;
    case EVENT_CLOSED:
        fold_message_of_ours(t, ITEM_CLOSED);
        break;
    case EVENT_STOP:
    case EVENT_ERROR:
        fold_turn_end(t);
        break;
    default:
        err = event_decode(t->event, t->session.protocol, &t->arena, &update);
        if (!err)
            fold_update(t, update);
        break;
    }
    if (err == ACP_ERR_NOMEM)
        t->err = err;
}

/* Empties what points into the event before, and frees what only its changes could point to. */
static void forget_last_event(struct transcript *t)
{
    if (t->transient && t->transient->shown.kind == ITEM_TOOL_CALL) {
        struct transcript_tool_call *call = &t->transient->shown.tool_call;
        call->content = (struct acp_tool_call_content_list){0};
        call->locations = (struct acp_tool_call_location_list){0};
        call->raw_input = (struct acp_raw){0};
        call->raw_output = (struct acp_raw){0};
    } else if (t->transient) {
        t->transient->shown.plan.entries = (struct acp_plan_entry_list){0};
        t->transient->shown.plan.markdown = (struct acp_str){0};
    }
    t->transient = NULL;
    while (t->removed) {
        struct item *item = t->removed;
        t->removed = item->next_removed;
        free_item(item);
    }
}

/* The oldest first, up to what this event has changed. */
static void keep_to_limit(struct transcript *t)
{
    if (t->drop_next < t->first)
        t->drop_next = t->first;
    while (t->bytes > t->options.max_bytes && t->drop_next < t->next) {
        struct item *item = item_at(t, t->drop_next);
        if (item && item->touched == t->serial)
            return;
        if (item)
            drop(t, item);
        t->drop_next++;
    }
}

int transcript_add(struct transcript *t, const struct session_event *event,
                   struct transcript_changes *ret)
{
    forget_last_event(t);
    acp_arena_reset(&t->arena);
    t->err = 0;
    t->event = event;
    t->serial++;
    t->change_count = 0;
    fold(t);
    keep_to_limit(t);
    t->event = NULL;
    if (t->err)
        return t->err;
    *ret = (struct transcript_changes){t->changes, t->change_count};
    return 0;
}

/* ---- Making one ------------------------------------------------------------------------------ */

int transcript_new(const struct transcript_options *options, struct transcript **ret)
{
    struct transcript *t = calloc(1, sizeof(*t));
    if (!t)
        return ACP_ERR_NOMEM;
    if (options)
        t->options = *options;
    if (!t->options.max_bytes)
        t->options.max_bytes = TRANSCRIPT_MAX_BYTES;
    if (!t->options.max_items)
        t->options.max_items = TRANSCRIPT_MAX_ITEMS;
    t->first = 1;
    t->next = 1;
    t->session.protocol = ACP_V1;
    acp_arena_init(&t->arena, 0);
    acp_arena_init(&t->turn_arena, 0);
    acp_map_init(&t->tracked, (uint64_t) (uintptr_t) t);
    acp_buf_init(&t->answer, TRANSCRIPT_MAX_TEXT);
    acp_buf_init(&t->prompt, text_limit(t));
    acp_buf_init(&t->modes, TRANSCRIPT_MAX_SETTINGS);
    acp_buf_init(&t->config_options, TRANSCRIPT_MAX_SETTINGS);
    acp_buf_init(&t->commands, TRANSCRIPT_MAX_SETTINGS);
    *ret = t;
    return 0;
}

void transcript_free(struct transcript *t)
{
    if (!t)
        return;
    forget_last_event(t);
    for (size_t i = 0; i < t->count; i++)
        free_item(t->slots[t->start + i]);
    free_item(t->beyond);
    free(t->slots);
    free(t->changes);
    free(t->title);
    free(t->mode);
    free(t->state);
    acp_map_finish(&t->tracked);
    acp_arena_finish(&t->arena);
    acp_arena_finish(&t->turn_arena);
    acp_buf_finish(&t->answer);
    acp_buf_finish(&t->prompt);
    acp_buf_finish(&t->modes);
    acp_buf_finish(&t->config_options);
    acp_buf_finish(&t->commands);
    free(t);
}

/* ---- Reading --------------------------------------------------------------------------------- */

uint64_t transcript_first(const struct transcript *t)
{
    return t->count ? t->first : 0;
}

uint64_t transcript_last(const struct transcript *t)
{
    return t->count ? t->first + t->count - 1 : 0;
}

const struct transcript_item *transcript_item(const struct transcript *t, uint64_t number)
{
    const struct item *item = item_at(t, number);
    return item ? &item->shown : NULL;
}

const struct transcript_turn *transcript_turn(const struct transcript *t)
{
    return &t->turn;
}

struct transcript_answer transcript_answer(const struct transcript *t)
{
    return (struct transcript_answer){acp_buf_view(&t->answer), t->answer_is_cut};
}

const struct transcript_item *transcript_plan(const struct transcript *t)
{
    return transcript_item(t, t->plan);
}

const struct transcript_session *transcript_session(const struct transcript *t)
{
    return &t->session;
}
