/*
 * edit.c - replaces texts in a file.  Exact matches make it safe, so most of this file is about
 * telling the model why its text was not found, and where there is a similar one.
 */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <stdlib.h>

#include "agent/tools/change.h"

enum {
    MAX_EDITS = 200,
    SHOWN_PLACES = 5,
    SHOWN_LINES = 6,
    MAX_LINE = 400, /* bytes of a line that are compared and shown */
};

struct edit {
    struct acp_str old_text;
    struct acp_str new_text;
    bool all;
};

struct edits {
    struct edit *items;
    size_t count;
};

/* ---- Reading the input ---------------------------------------------------------------------- */

static int read_edit(struct acp_json_reader *r, struct edit *ret)
{
    struct acp_str key;
    int more = 0;
    int err = acp_json_enter_object(r);
    while (!err && (more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "old_text"))
            err = acp_json_read_str(r, &ret->old_text);
        else if (acp_str_is(key, "new_text"))
            err = acp_json_read_str(r, &ret->new_text);
        else if (acp_str_is(key, "all") && acp_json_peek(r) == ACP_JSON_BOOL)
            err = acp_json_read_bool(r, &ret->all);
        else
            err = acp_json_skip(r);
    }
    return err ? err : more;
}

static int read_edits(struct tool_run *run, struct edits *ret)
{
    struct acp_json_reader r;
    int more = 0;
    ret->items = acp_arena_alloc(&run->arena, MAX_EDITS * sizeof(struct edit));
    if (!ret->items || !tool_get_reader(run, "edits", &r))
        return ACP_ERR_NOMEM;
    int err = acp_json_enter_array(&r);
    while (!err && ret->count < MAX_EDITS && (more = acp_json_next_item(&r)) > 0)
        err = read_edit(&r, &ret->items[ret->count++]);
    return err ? err : more < 0 ? more : 0;
}

/* ---- Places --------------------------------------------------------------------------------- */

static uint64_t line_of(struct acp_str text, const char *at)
{
    uint64_t line = 1;
    for (const char *p = text.ptr; p < at; p++)
        line += *p == '\n';
    return line;
}

/* How often the text occurs; returns the first places. */
static size_t count_places(struct acp_str text, struct acp_str wanted,
                           const char *places[SHOWN_PLACES])
{
    size_t count = 0;
    const char *end = text.ptr + text.len;
    for (const char *at = text.ptr; (at = memmem(at, (size_t) (end - at), wanted.ptr, wanted.len));
         at += wanted.len) {
        if (count < SHOWN_PLACES)
            places[count] = at;
        count++;
    }
    return count;
}

/* ---- What is like it ------------------------------------------------------------------------ */

static struct acp_str trimmed(struct acp_str line)
{
    while (line.len && memchr(" \t\r", line.ptr[0], 3))
        line = acp_str_n(line.ptr + 1, line.len - 1);
    while (line.len && memchr(" \t\r", line.ptr[line.len - 1], 3))
        line.len--;
    return line;
}

static struct acp_str line_at(struct acp_str text, size_t at)
{
    const char *end = memchr(text.ptr + at, '\n', text.len - at);
    return acp_str_n(text.ptr + at, end ? (size_t) (end - text.ptr) - at : text.len - at);
}

/* How much two lines have in common at their beginning and end, in percent. */
static unsigned likeness(struct acp_str a, struct acp_str b)
{
    size_t most = a.len > b.len ? a.len : b.len;
    size_t least = a.len < b.len ? a.len : b.len;
    size_t head = 0;
    size_t tail = 0;
    if (most == 0)
        return 0;
    while (head < least && a.ptr[head] == b.ptr[head])
        head++;
    while (tail < least - head && a.ptr[a.len - 1 - tail] == b.ptr[b.len - 1 - tail])
        tail++;
    return (unsigned) ((head + tail) * 100 / most);
}

/* The first line that is not blank; its number within the text, from 0. */
static struct acp_str first_words(struct acp_str text, size_t *ret_index)
{
    *ret_index = 0;
    for (size_t at = 0; at < text.len; (*ret_index)++) {
        struct acp_str line = line_at(text, at);
        if (trimmed(line).len)
            return acp_str_cut(trimmed(line), MAX_LINE);
        at += line.len + 1;
    }
    *ret_index = 0;
    return acp_str_from("");
}

/* The most similar line: how similar it is, and where it begins. */
static unsigned find_like(struct acp_str text, struct acp_str wanted, size_t *ret_at)
{
    unsigned best = 0;
    for (size_t at = 0; at < text.len;) {
        struct acp_str line = line_at(text, at);
        unsigned like = likeness(acp_str_cut(trimmed(line), MAX_LINE), wanted);
        if (like > best) {
            best = like;
            *ret_at = at;
        }
        at += line.len + 1;
    }
    return best;
}

static void show_lines(struct tool_run *run, struct acp_str text, size_t at)
{
    uint64_t number = line_of(text, text.ptr + at);
    for (size_t i = 0; i < SHOWN_LINES && at < text.len; i++) {
        struct acp_str line = line_at(text, at);
        tool_printf(run, "%6llu\t", (unsigned long long) number++);
        tool_append(run, acp_str_cut(line, MAX_LINE));
        tool_printf(run, "\n");
        at += line.len + 1;
    }
}

static void say_not_found(struct tool_run *run, size_t number, const struct edit *edit,
                          struct acp_str text)
{
    enum { LIKE_ENOUGH = 50 };
    size_t index = 0;
    size_t at = 0;
    struct acp_str wanted = first_words(edit->old_text, &index);
    unsigned like = find_like(text, wanted, &at);
    tool_printf(run, "Edit %zu: its old_text is not in the file", number);
    if (like < LIKE_ENOUGH) {
        tool_printf(run, ", and nothing like its first line is. Read the file again.");
        return;
    }
    tool_printf(run, like == 100
                         ? ", though its first line is, but for white space or the lines that "
                           "follow"
                         : "; what is most like it");
    tool_printf(run, " stands here (the number and the tab are not part of the file):\n");
    show_lines(run, text, at);
    tool_printf(run, "old_text must match the file exactly, including white space.");
}

static void say_not_unique(struct tool_run *run, size_t number, struct acp_str text, size_t count,
                           const char *const places[SHOWN_PLACES])
{
    tool_printf(run, "Edit %zu: its old_text occurs %zu times in the file, in lines", number,
                count);
    for (size_t i = 0; i < count && i < SHOWN_PLACES; i++)
        tool_printf(run, "%s %llu", i ? "," : "", (unsigned long long) line_of(text, places[i]));
    tool_printf(run, "%s. Add surrounding lines until it is unique, or set \"all\".",
                count > SHOWN_PLACES ? ", ..." : "");
}

/* ---- Replacing ------------------------------------------------------------------------------ */

/* The text with "\r\n" for "\n"; absent if out of memory. */
static struct acp_str with_returns(struct tool_run *run, struct acp_str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    char *out = acp_arena_alloc(&run->arena, text.len + lines + 1);
    size_t n = 0;
    if (!out)
        return acp_str_from(NULL);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\n' && (i == 0 || text.ptr[i - 1] != '\r'))
            out[n++] = '\r';
        out[n++] = text.ptr[i];
    }
    return acp_str_n(out, n);
}

/* Models write "\n" even if the file has "\r\n". */
static bool adapt_returns(struct tool_run *run, struct edit *edit, struct acp_str text)
{
    if (!memmem(text.ptr, text.len, "\r\n", 2) ||
        memchr(edit->old_text.ptr, '\r', edit->old_text.len))
        return false;
    struct acp_str old_text = with_returns(run, edit->old_text);
    struct acp_str new_text = with_returns(run, edit->new_text);
    if (!old_text.ptr || !new_text.ptr)
        return false;
    edit->old_text = old_text;
    edit->new_text = new_text;
    return true;
}

static int replace(struct acp_str text, const struct edit *edit, struct acp_buf *out)
{
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    const char *found;
    int err = 0;
    while (!err &&
           (found = memmem(at, (size_t) (end - at), edit->old_text.ptr, edit->old_text.len))) {
        err = acp_buf_append(out, at, (size_t) (found - at));
        if (!err)
            err = acp_buf_append_str(out, edit->new_text);
        at = found + edit->old_text.len;
    }
    return err ? err : acp_buf_append(out, at, (size_t) (end - at));
}

/* Applies one edit to a text.  An error after tool_printf(). */
static int apply(struct tool_run *run, size_t number, struct edit *edit, struct acp_str text,
                 struct acp_buf *out)
{
    const char *places[SHOWN_PLACES] = {0};
    size_t count = count_places(text, edit->old_text, places);
    if (count == 0 && adapt_returns(run, edit, text))
        count = count_places(text, edit->old_text, places);
    if (count == 0) {
        say_not_found(run, number, edit, text);
        return ACP_ERR_MISSING;
    }
    if (count > 1 && !edit->all) {
        say_not_unique(run, number, text, count, places);
        return ACP_ERR_RANGE;
    }
    int err = replace(text, edit, out);
    if (err)
        tool_printf(run, "Edit %zu makes the file too large.", number);
    return err;
}

static int make(struct tool_run *run, size_t index)
{
    struct changes *changes = run->own;
    struct edits *edits = changes->own;
    struct change *change = &changes->items[index];
    struct acp_buf *made = &change->made;
    struct acp_buf before;
    acp_buf_init(&before, made->max);
    int err = acp_buf_append_str(made, change->old_text);
    for (size_t i = 0; i < edits->count && !err; i++) {
        struct acp_buf swap = before;
        before = *made;
        *made = swap;
        acp_buf_clear(made);
        err = apply(run, i + 1, &edits->items[i], acp_buf_view(&before), made);
    }
    if (err && edits->count > 1)
        tool_printf(run, "\nNone of the edits was made.");
    acp_buf_finish(&before);
    return err;
}

static int prepare(struct tool_run *run)
{
    struct changes *changes;
    struct acp_str given = {NULL, 0};
    struct edits *edits = acp_arena_alloc(&run->arena, sizeof(*edits));
    int err = edits ? change_prepare(run, 1, make, &changes) : ACP_ERR_NOMEM;
    if (!err)
        err = read_edits(run, edits);
    if (err) {
        tool_printf(run, "The edits cannot be read: %s.", acp_err_text(err));
        return err;
    }
    changes->own = edits;
    for (size_t i = 0; i < edits->count; i++)
        if (acp_str_eq(edits->items[i].old_text, edits->items[i].new_text)) {
            tool_printf(run, "Edit %zu: old_text and new_text are the same.", i + 1);
            return ACP_ERR_RANGE;
        }
    tool_get_str(run, "path", &given);
    err = tool_get_path(run, given, &changes->items[0].path);
    return err ? err : change_place(run, "Edit");
}

const struct tool tool_for_edit = {
    .info =
        {.name = "edit",
         .title = "Edit a file",
         .description =
             "Replaces texts in a file. Each old_text must match the file exactly, including "
             "white space, and occur only once unless \"all\" is true. Several edits are applied "
             "in order, all or none.",
         .input_schema =
             "{\"type\":\"object\",\"properties\":{"
             "\"path\":{\"type\":\"string\",\"minLength\":1},"
             "\"edits\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":200,\"items\":{"
             "\"type\":\"object\",\"properties\":{"
             "\"old_text\":{\"type\":\"string\",\"minLength\":1},"
             "\"new_text\":{\"type\":\"string\"},"
             "\"all\":{\"type\":[\"boolean\",\"null\"],"
             "\"description\":\"replace it everywhere in the file\"}},"
             "\"required\":[\"old_text\",\"new_text\"],\"additionalProperties\":false}}},"
             "\"required\":[\"path\",\"edits\"],\"additionalProperties\":false}",
         .kind = ACP_TOOL_KIND_EDIT,
         .writes = true},
    .prepare = prepare,
    .preview = change_preview,
    .start = change_start,
    .drop = change_drop,
};
