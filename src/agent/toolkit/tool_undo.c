/*
 * tool_undo.c - undoes the changes of a turn.  It is a run like those of tools, and reads and
 * writes files as they do; but the user has asked for it, so only rules can deny it.
 */
#include <stdlib.h>

#include "agent/toolkit/tool.h"

struct undoing {
    size_t left; /* files to restore, the last changed first */
    size_t kept; /* files that could not be restored */
    tools_undone_fn *done;
    void *user;
};

static void restore_next(struct tool_run *run);

static const struct undo_file *current(const struct tool_run *run)
{
    const struct undoing *own = run->own;
    return undo_at(&run->set->undo, own->left);
}

static void leave(struct tool_run *run, struct acp_str why)
{
    struct undoing *own = run->own;
    own->kept++;
    tool_printf(run, "%s was left as it is: ", tool_display_path(run, current(run)->path.ptr));
    tool_append(run, why);
    tool_printf(run, ".\n");
    restore_next(run);
}

static void on_written(struct tool_run *run, int err, struct acp_str text)
{
    const struct undo_file *file = current(run);
    if (err) {
        leave(run, text);
        return;
    }
    if (file->mode)
        tool_set_mode(run, file->path, file->mode);
    tool_printf(run, "%s was restored.\n", tool_display_path(run, file->path.ptr));
    restore_next(run);
}

static void remove_file(struct tool_run *run, const struct undo_file *file)
{
    struct acp_files_error error;
    if (tool_remove(run, file->path, &error)) {
        leave(run, acp_str_from(error.message));
        return;
    }
    tool_printf(run, "%s was removed; it did not exist before.\n",
                tool_display_path(run, file->path.ptr));
    restore_next(run);
}

static void on_now(struct tool_run *run, int err, struct acp_str text)
{
    const struct undo_file *file = current(run);
    struct undo_mark now = undo_mark(err ? acp_str_from(NULL) : text);
    if (err && err != ACP_ERR_MISSING)
        leave(run, text);
    else if (!undo_same(now, file->left))
        leave(run, acp_str_from("it has changed since"));
    else if (file->old_text.ptr)
        tool_write(run, file->path, file->old_text, on_written);
    else if (now.there)
        remove_file(run, file);
    else
        restore_next(run); /* created and removed in the same turn */
}

static void restore_next(struct tool_run *run)
{
    struct undoing *own = run->own;
    if (own->left) {
        own->left--;
        tool_read(run, current(run)->path, 0, 0, on_now);
        return;
    }
    size_t lost = undo_lost(&run->set->undo);
    if (lost)
        tool_printf(run, "%zu changes were too large to be recorded and were not undone.\n", lost);
    undo_drop(&run->set->undo);
    tool_finish(run, own->kept || lost ? TOOL_FAILED : TOOL_COMPLETED);
}

static void start(struct tool_run *run)
{
    struct undoing *own = run->own;
    own->left = undo_count(&run->set->undo);
    restore_next(run);
}

static const struct tool tool_for_undo = {
    .info = {.name = "undo", .title = "Undo", .kind = ACP_TOOL_KIND_EDIT, .writes = true},
    .hidden = true,
    .decides_itself = true,
    .only_deny_rules = true,
    .start = start,
};

static void on_done(struct tools *set, struct acp_str call, enum tool_end end, struct acp_str text,
                    void *user)
{
    struct undoing own = *(struct undoing *) user;
    (void) call;
    int err = end == TOOL_COMPLETED ? 0 : end == TOOL_CANCELLED ? ACP_ERR_CANCELLED : ACP_ERR_STATE;
    own.done(set, err, text, own.user);
}

int tools_undo(struct tools *set, struct acp_turn *turn, tools_undone_fn *done, void *user)
{
    if (set->runs)
        return ACP_ERR_STATE;
    if (undo_count(&set->undo) == 0 && undo_lost(&set->undo) == 0)
        return ACP_ERR_MISSING;
    struct undoing *own;
    struct tool_run *run = tool_run_hidden(set, turn, &tool_for_undo, sizeof(*own), on_done);
    if (!run)
        return ACP_ERR_NOMEM;
    own = run->own;
    *own = (struct undoing){.done = done, .user = user};
    tool_enqueue(run);
    return 0;
}
