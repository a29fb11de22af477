/* change.c - changes files: reads, makes and shows the new texts; then checks, writes, records. */
#include "agent/tools/change.h"

#include <stdio.h>

/* Bytes of all files of a run, old and new. */
#define CHANGE_MAX_BYTES ((size_t) 64 << 20)

/* ---- Preparing ------------------------------------------------------------------------------ */

int change_prepare(struct tool_run *run, size_t count, int (*make)(struct tool_run *, size_t),
                   struct changes **ret)
{
    struct changes *changes = acp_arena_alloc(&run->arena, sizeof(*changes));
    struct change *items = acp_arena_alloc(&run->arena, count * sizeof(*items));
    if (!changes || !items) {
        tool_printf(run, "Out of memory.");
        return ACP_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++)
        acp_buf_init(&items[i].made, CHANGE_MAX_BYTES);
    *changes = (struct changes){.items = items, .count = count, .make = make};
    run->own = changes;
    *ret = changes;
    return 0;
}

int change_place(struct tool_run *run, const char *verb)
{
    struct changes *changes = run->own;
    char title[300];
    struct acp_str *paths = acp_arena_alloc(&run->arena, changes->count * sizeof(*paths));
    if (!paths) {
        tool_printf(run, "Out of memory.");
        return ACP_ERR_NOMEM;
    }
    for (size_t i = 0; i < changes->count; i++)
        paths[i] = changes->items[i].path;
    run->paths = (struct acp_str_list){paths, changes->count};
    run->paths_are_files = true;
    run->changes_files = true;
    (void) snprintf(title, sizeof(title), "%s %.200s", verb, tool_display_path(run, paths[0].ptr));
    if (changes->count > 1)
        (void) snprintf(title, sizeof(title), "%s %zu files", verb, changes->count);
    run->title = acp_arena_copy(&run->arena, acp_str_from(title));
    for (size_t i = 0; i < changes->count; i++) {
        int err = tool_check_path(run, paths[i], true);
        if (err)
            return err;
    }
    return 0;
}

void change_drop(struct tool_run *run)
{
    struct changes *changes = run->own;
    for (size_t i = 0; changes && i < changes->count; i++)
        acp_buf_finish(&changes->items[i].made);
}

/* ---- Showing -------------------------------------------------------------------------------- */

/* The number of the first line that differs. */
static int64_t first_difference(struct acp_str a, struct acp_str b)
{
    int64_t line = 1;
    for (size_t i = 0; i < a.len && i < b.len && a.ptr[i] == b.ptr[i]; i++)
        line += a.ptr[i] == '\n';
    return line;
}

static bool show(struct tool_run *run)
{
    struct changes *changes = run->own;
    run->content = acp_arena_alloc(&run->arena, changes->count * sizeof(*run->content));
    if (!run->content)
        return false;
    for (size_t i = 0; i < changes->count; i++) {
        struct change *change = &changes->items[i];
        struct acp_tool_call_content *content = &run->content[i];
        acp_tool_call_content_init_diff(content);
        content->diff.path = change->path;
        content->diff.old_text = change->old_text;
        content->diff.new_text = acp_buf_view(&change->made);
    }
    run->content_count = changes->count;
    run->line = acp_some_i64(
        first_difference(changes->items[0].old_text, acp_buf_view(&changes->items[0].made)));
    return true;
}

/* ---- The preview ---------------------------------------------------------------------------- */

static void look_next(struct tool_run *run);

/* Stores the old text of the file; false if the run has failed. */
static bool keep_old(struct tool_run *run, struct change *change, int err, struct acp_str text)
{
    if (err == ACP_ERR_MISSING && change->may_be_new)
        return true;
    if (err) {
        tool_fail(run, "%.*s.", ACP_ARG(acp_str_cut(text, 900)));
        return false;
    }
    if (change->must_be_new) {
        tool_fail(run, "%s already exists.", change->path.ptr);
        return false;
    }
    change->old_text = acp_arena_copy(&run->arena, text);
    change->mode = tool_mode(run, change->path);
    if (!change->old_text.ptr)
        tool_fail(run, "Out of memory.");
    return change->old_text.ptr != NULL;
}

static void on_old(struct tool_run *run, int err, struct acp_str text)
{
    struct changes *changes = run->own;
    struct change *change = &changes->items[changes->at];
    if (!keep_old(run, change, err, text))
        return;
    if (!change->removes && changes->make(run, changes->at)) {
        tool_finish(run, TOOL_FAILED);
        return;
    }
    changes->at++;
    look_next(run);
}

static void look_next(struct tool_run *run)
{
    struct changes *changes = run->own;
    if (changes->at < changes->count) {
        tool_read(run, changes->items[changes->at].path, 0, 0, on_old);
        return;
    }
    changes->at = 0;
    if (!show(run))
        tool_fail(run, "Out of memory.");
    else
        tool_preview_done(run);
}

void change_preview(struct tool_run *run)
{
    look_next(run);
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void write_next(struct tool_run *run);

static bool is_same(const struct change *change)
{
    return !change->removes && change->old_text.ptr &&
           acp_str_eq(change->old_text, acp_buf_view(&change->made));
}

static void tell(struct tool_run *run)
{
    const struct changes *changes = run->own;
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->items[i];
        const char *what = is_same(change)         ? "already has this text"
                           : change->removes       ? "was removed"
                           : !change->old_text.ptr ? "was created"
                                                   : "was changed";
        tool_printf(run, "%s %s.\n", tool_display_path(run, change->path.ptr), what);
    }
    (void) acp_buf_printf(&run->output, "{\"files\":%zu}", changes->count);
    tool_finish(run, TOOL_COMPLETED);
}

static void fail_write(struct tool_run *run, struct acp_str words)
{
    const struct changes *changes = run->own;
    tool_append(run, words);
    tool_printf(run, ".");
    if (changes->at)
        tool_printf(run, "\nOf the %zu files some were written before that; read them again.",
                    changes->count);
    tool_finish(run, TOOL_FAILED);
}

static void note(struct tool_run *run, const struct change *change)
{
    undo_note(&run->set->undo, change->path, change->old_text, change->mode,
              change->removes ? acp_str_from(NULL) : acp_buf_view(&change->made));
}

/* Files are written before others are removed, so that a move loses nothing. */
static struct change *current(struct changes *changes, bool *ret_removing)
{
    *ret_removing = changes->at >= changes->count;
    return &changes->items[*ret_removing ? changes->at - changes->count : changes->at];
}

static void on_written(struct tool_run *run, int err, struct acp_str text)
{
    struct changes *changes = run->own;
    bool removing = false;
    struct change *change = current(changes, &removing);
    if (err) {
        fail_write(run, text);
        return;
    }
    note(run, change);
    changes->at++;
    write_next(run);
}

static void write_next(struct tool_run *run)
{
    struct changes *changes = run->own;
    struct acp_files_error error;
    for (; changes->at < 2 * changes->count; changes->at++) {
        bool removing = false;
        struct change *change = current(changes, &removing);
        if (change->removes != removing || is_same(change))
            continue;
        if (!removing) {
            tool_write(run, change->path, acp_buf_view(&change->made), on_written);
            return;
        }
        if (tool_remove(run, change->path, &error)) {
            fail_write(run, acp_str_from(error.message));
            return;
        }
        note(run, change);
    }
    tell(run);
}

/* ---- Checking ------------------------------------------------------------------------------- */

static void look_again(struct tool_run *run);

static void on_again(struct tool_run *run, int err, struct acp_str text)
{
    struct changes *changes = run->own;
    const struct change *change = &changes->items[changes->at];
    bool gone = err == ACP_ERR_MISSING;
    if (gone != !change->old_text.ptr || (!err && !acp_str_eq(text, change->old_text)) ||
        (err && !gone)) {
        tool_fail(
            run,
            "%s has changed while the user was asked for permission; nothing was written. Read "
            "it and try again.",
            change->path.ptr);
        return;
    }
    changes->at++;
    look_again(run);
}

static void look_again(struct tool_run *run)
{
    struct changes *changes = run->own;
    if (changes->at < changes->count) {
        tool_read(run, changes->items[changes->at].path, 0, 0, on_again);
        return;
    }
    changes->at = 0;
    write_next(run);
}

void change_start(struct tool_run *run)
{
    /* Without a question no time has passed since the preview. */
    if (run->granted)
        look_again(run);
    else
        write_next(run);
}
