/* fold_tool_calls.c - tool calls: what they do, how far they are, and why they failed. */
#include "transcript/transcript_internal.h"

#include <stdlib.h>

#include "base/utf8.h"

bool is_finished(enum acp_tool_call_status_is status)
{
    return status == ACP_TOOL_CALL_STATUS_COMPLETED || status == ACP_TOOL_CALL_STATUS_FAILED ||
           status == ACP_TOOL_CALL_STATUS_CANCELLED;
}

struct item_content *content_of(struct transcript *t, struct item *item)
{
    if (!item->shown.number || item->shown.is_dropped)
        return NULL;
    if (item->content)
        return item->content;
    struct item_content *content = calloc(1, sizeof(*content));
    if (!content) {
        t->err = ACP_ERR_NOMEM;
        return NULL;
    }
    acp_arena_init(&content->arena, 0);
    acp_arena_init(&content->file_arena, 0);
    acp_buf_init(&content->input, text_limit(t));
    acp_buf_init(&content->output, text_limit(t));
    item->content = content;
    return content;
}

/* ---- Which one ------------------------------------------------------------------------------- */

static struct item *beyond_limit(struct transcript *t)
{
    struct item *item = item_beyond(t);
    if (!t->told_beyond) {
        struct item *notice = item_add(t, ITEM_NOTICE);
        t->told_beyond = true;
        if (notice) {
            note_text(t, notice,
                      acp_str_from("too many tool calls, or ids that are too long; "
                                   "some are shown without their titles"),
                      CHANGE_NEW);
            item_end(t, notice, 0);
        }
    }
    if (item) {
        item->shown.tool_call = (struct transcript_tool_call){0};
        item->shown.turn = t->event->turn;
        item->shown.is_ended = false;
    }
    return item;
}

static struct item *tool_call_of(struct transcript *t, struct acp_str id, bool *ret_new)
{
    struct item *item = find_tracked(t, 't', id);
    *ret_new = false;
    if (item)
        return item;
    if (id.len > TRANSCRIPT_MAX_ID || t->tool_calls >= TRANSCRIPT_MAX_TOOL_CALLS)
        return beyond_limit(t);
    item = item_add(t, ITEM_TOOL_CALL);
    if (!item)
        return NULL;
    *ret_new = true;
    (void) track(t, item, 't', id);
    item->shown.tool_call.status = ACP_TOOL_CALL_STATUS_PENDING; /* when nothing else is told */
    item->shown.tool_call.id = id_of(item);
    return item;
}

/* ---- What it produces ------------------------------------------------------------------------ */

/* Copies the entries behind those that are there. */
static void append_content(struct transcript *t, struct item *item, struct item_content *content,
                           struct acp_tool_call_content_list from)
{
    struct acp_tool_call_content_list *list = &item->shown.tool_call.content;
    size_t need = list->count + from.count;
    if (need > content->capacity) {
        size_t capacity = need > 2 * content->capacity ? need : 2 * content->capacity;
        struct acp_tool_call_content *entries =
            realloc(content->entries, capacity * sizeof(*entries));
        if (!entries) {
            t->err = ACP_ERR_NOMEM;
            return;
        }
        content->entries = entries;
        content->capacity = capacity;
    }
    list->items = content->entries;
    for (size_t i = 0; i < from.count; i++) {
        if (copy_content(&content->arena, &from.items[i], &content->entries[list->count])) {
            t->err = ACP_ERR_NOMEM;
            return;
        }
        list->count++;
    }
}

static void take_files(struct transcript *t, struct item *item, struct item_content *content,
                       struct acp_tool_call_content_list from, bool append)
{
    if (!append) {
        acp_arena_reset(&content->file_arena);
        content->files = (struct file_set){0};
    }
    if (add_changed_files(&content->files, &content->file_arena, from, &t->arena))
        t->err = ACP_ERR_NOMEM;
    item->shown.tool_call.files = content->files.list;
}

/* Content that came; says what has changed. */
static unsigned take_content(struct transcript *t, struct item *item,
                             struct acp_tool_call_content_list from, bool append)
{
    struct acp_tool_call_content_list *list = &item->shown.tool_call.content;
    struct item_content *content = content_of(t, item);
    unsigned what = CHANGE_CONTENT;
    if (!content)
        return 0;
    if (!append) {
        acp_arena_reset(&content->arena);
        list->count = 0;
    }
    uint64_t diffs = mark_diffs(from);
    if (keeps_all(t)) {
        append_content(t, item, content, from);
    } else {
        *list = from;
        t->transient = item;
    }
    if (diffs && (append || diffs != content->diffs)) {
        what |= CHANGE_DIFFS;
        content->diffs = append ? content->diffs * 31 + diffs : diffs;
        take_files(t, item, content, from, append);
    }
    return what;
}

/* The list and its texts in one block. */
static void take_locations(struct transcript *t, struct item *item,
                           struct acp_tool_call_location_list from)
{
    struct item_content *content = content_of(t, item);
    size_t size = from.count * sizeof(struct acp_tool_call_location);
    size_t bytes = size;
    for (size_t i = 0; i < from.count; i++)
        bytes += from.items[i].path.len;
    if (!content)
        return;
    if (!keeps_all(t)) {
        item->shown.tool_call.locations = from;
        t->transient = item;
        return;
    }
    struct acp_tool_call_location *block = malloc(bytes ? bytes : 1);
    if (!block) {
        t->err = ACP_ERR_NOMEM;
        return;
    }
    char *path = (char *) block + size;
    for (size_t i = 0; i < from.count; i++) {
        struct acp_str one = from.items[i].path;
        block[i] = (struct acp_tool_call_location){.path = acp_str_n(path, one.len),
                                                   .line = from.items[i].line};
        if (one.len)
            (void) memcpy(path, one.ptr, one.len);
        path += one.len;
    }
    free(content->locations);
    content->locations = block;
    content->location_bytes = bytes;
    item->shown.tool_call.locations = (struct acp_tool_call_location_list){block, from.count};
}

/* JSON that the tool was given or has returned; what is too long is left out. */
static void take_raw(struct transcript *t, struct item *item, bool output, struct acp_raw from)
{
    struct item_content *content = content_of(t, item);
    struct acp_raw *shown =
        output ? &item->shown.tool_call.raw_output : &item->shown.tool_call.raw_input;
    if (!content)
        return;
    *shown = (struct acp_raw){0};
    if (!keeps_all(t)) {
        *shown = from;
        t->transient = item;
        return;
    }
    struct acp_buf *buf = output ? &content->output : &content->input;
    acp_buf_clear(buf);
    int err = acp_buf_append(buf, from.ptr, from.len);
    if (err == ACP_ERR_NOMEM)
        t->err = err;
    if (!err)
        *shown = acp_raw_n(acp_buf_view(buf).ptr, buf->len);
}

/* ---- Why it failed --------------------------------------------------------------------------- */

/* The text, or a member "error" or "message" that is one. */
static struct acp_str reason_in(struct transcript *t, struct acp_raw raw)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_str text = {0};
    if (!raw.ptr)
        return text;
    acp_json_reader_init(&r, raw, &t->arena, 0);
    if (acp_json_peek(&r) == ACP_JSON_STRING) {
        (void) acp_json_read_str(&r, &text);
        return text;
    }
    if (acp_json_enter_object(&r))
        return text;
    while (acp_json_next_key(&r, &key) > 0) {
        bool wanted = acp_str_is(key, "error") || acp_str_is(key, "message");
        if (wanted && acp_json_peek(&r) == ACP_JSON_STRING)
            (void) acp_json_read_str(&r, &text);
        else if (acp_json_skip(&r))
            break;
    }
    return text;
}

static void set_reason(struct transcript *t, struct item *item, struct acp_str reason)
{
    reason.len = acp_utf8_cut(reason.ptr, reason.len, TRANSCRIPT_MAX_REASON);
    replace_text(t, &item->reason, reason);
    item->shown.tool_call.reason = acp_str_from(item->reason);
}

static void find_reason(struct transcript *t, struct item *item)
{
    const struct transcript_tool_call *call = &item->shown.tool_call;
    struct acp_str reason = {0};
    for (size_t i = 0; !reason.len && i < call->content.count; i++) {
        const struct acp_content_block *block = &call->content.items[i].content.content;
        if (call->content.items[i].is == ACP_TOOL_CALL_CONTENT_CONTENT &&
            block->is == ACP_CONTENT_BLOCK_TEXT)
            reason = block->text.text;
    }
    if (!reason.len)
        reason = reason_in(t, call->raw_output);
    if (reason.len)
        set_reason(t, item, reason);
}

/* ---- Folding --------------------------------------------------------------------------------- */

/* Version 1 takes null for an absent value; in version 2 it resets. */
static bool is_given(const struct transcript *t, const void *ptr)
{
    return ptr && (!acp_is_null(ptr) || t->session.protocol == ACP_V2);
}

/* A title is for one line; what is longer ends in an ellipsis. */
static unsigned take_title(struct transcript *t, struct item *item, struct acp_str title)
{
    char cut[TRANSCRIPT_MAX_TITLE];
    if (!title.len || !item->shown.number)
        return 0;
    title = acp_str_n(cut, acp_utf8_copy_cut(cut, title.ptr, title.len, sizeof(cut)));
    acp_buf_clear(&item->shown.text);
    if (acp_buf_append_str(&item->shown.text, title))
        t->err = ACP_ERR_NOMEM;
    return CHANGE_TITLE;
}

static unsigned take_status(struct transcript *t, struct item *item,
                            struct acp_tool_call_status status)
{
    struct transcript_tool_call *call = &item->shown.tool_call;
    if (status.is == ACP_TOOL_CALL_STATUS_ABSENT || status.is == ACP_TOOL_CALL_STATUS_NULL)
        return 0;
    call->status = status.is;
    call->is_orphaned = false;
    replace_text(t, &item->reason, (struct acp_str){0});
    call->reason = (struct acp_str){0};
    if (!is_finished(status.is)) {
        item->shown.is_ended = false;
        return CHANGE_STATUS;
    }
    item->shown.is_ended = true;
    item->shown.ended = t->event->time;
    return CHANGE_STATUS | CHANGE_ENDED;
}

static unsigned take_details(struct transcript *t, struct item *item,
                             const struct acp_tool_call_update *update)
{
    struct transcript_tool_call *call = &item->shown.tool_call;
    unsigned what = 0;
    if (is_given(t, update->name.ptr) && update->name.len <= TRANSCRIPT_MAX_TITLE) {
        replace_text(t, &item->name, update->name);
        call->name = acp_str_from(item->name);
    }
    if (update->kind.is != ACP_TOOL_KIND_ABSENT && update->kind.is != ACP_TOOL_KIND_NULL)
        call->kind = update->kind.is;
    if (is_given(t, update->locations.items)) {
        take_locations(t, item, update->locations);
        what |= CHANGE_CONTENT;
    }
    if (update->raw_input.ptr) {
        take_raw(t, item, false, update->raw_input);
        what |= CHANGE_CONTENT;
    }
    if (update->raw_output.ptr) {
        take_raw(t, item, true, update->raw_output);
        what |= CHANGE_CONTENT;
    }
    return what;
}

/* The update that would say the same as the announcement of version 1. */
static void from_tool_call(const struct acp_tool_call *call, struct acp_tool_call_update *ret)
{
    *ret = (struct acp_tool_call_update){
        .tool_call_id = call->tool_call_id,
        .title = call->title,
        .name = call->name,
        .kind = call->kind,
        .status = call->status,
        .content = call->content,
        .locations = call->locations,
        .raw_input = call->raw_input,
        .raw_output = call->raw_output,
    };
}

void fold_tool_call(struct transcript *t, const struct acp_session_update *u)
{
    struct acp_tool_call_update update = {0};
    bool appends = u->is == ACP_SESSION_UPDATE_TOOL_CALL_CONTENT_CHUNK;
    bool is_new;
    if (u->is == ACP_SESSION_UPDATE_TOOL_CALL)
        from_tool_call(&u->tool_call, &update);
    else if (!appends)
        update = u->tool_call_update;
    else
        update = (struct acp_tool_call_update){
            .tool_call_id = u->tool_call_content_chunk.tool_call_id,
            .content = {&u->tool_call_content_chunk.content, 1},
        };
    separate_messages(t);
    struct item *item = tool_call_of(t, update.tool_call_id, &is_new);
    if (!item)
        return;
    size_t offset = appends && keeps_all(t) ? item->shown.tool_call.content.count : 0;
    unsigned what = is_new ? CHANGE_NEW : 0;
    what |= take_title(t, item, update.title);
    what |= take_status(t, item, update.status);
    what |= take_details(t, item, &update);
    if (is_given(t, update.content.items))
        what |= take_content(t, item, update.content, appends);
    enum acp_tool_call_status_is status = item->shown.tool_call.status;
    if (status == ACP_TOOL_CALL_STATUS_FAILED || status == ACP_TOOL_CALL_STATUS_CANCELLED)
        find_reason(t, item);
    struct transcript_change *change = note_change(t, item, what);
    if (change)
        change->offset = offset;
}

void orphan_tool_call(struct transcript *t, struct item *item, bool cancelled,
                      struct acp_str reason)
{
    struct transcript_tool_call *call = &item->shown.tool_call;
    call->status = cancelled ? ACP_TOOL_CALL_STATUS_CANCELLED : ACP_TOOL_CALL_STATUS_FAILED;
    call->is_orphaned = true;
    set_reason(t, item, reason);
    item_end(t, item, CHANGE_STATUS);
}
