/* apply_patch.c - applies a unified diff to any number of files. */
#include <stdlib.h>

#include "agent/tools/change.h"
#include "text/patch.h"

/* The file of the patch that a change comes from, and the change that has its old text. */
struct origin {
    const struct patch_file *file;
    size_t old; /* index of the latter */
};

static int make(struct tool_run *run, size_t index)
{
    struct changes *changes = run->own;
    const struct origin *origin = &((const struct origin *) changes->own)[index];
    struct acp_failure failure = {0};
    struct acp_str old_text = changes->items[origin->old].old_text;
    int err = patch_apply(origin->file, old_text.ptr ? old_text : acp_str_from(""),
                          &changes->items[index].made, &failure);
    if (err)
        tool_printf(run, "%s: %s. Nothing was written.", changes->items[index].path.ptr,
                    failure.message[0] ? failure.message : acp_err_text(err));
    return err;
}

/* Whether it moves the file, so that the old and the new text have different paths. */
static bool moves(const struct patch_file *file)
{
    return file->old_path.len && file->new_path.len && !acp_str_eq(file->old_path, file->new_path);
}

static int place_file(struct tool_run *run, struct changes *changes, const struct patch_file *file,
                      size_t *at)
{
    struct origin *origins = changes->own;
    int err = 0;
    if (moves(file)) {
        struct change *gone = &changes->items[*at];
        gone->removes = true;
        origins[*at] = (struct origin){file, *at};
        err = tool_get_path(run, file->old_path, &gone->path);
        (*at)++;
        origins[*at] = (struct origin){file, *at - 1};
    } else {
        origins[*at] = (struct origin){file, *at};
    }
    struct change *change = &changes->items[*at];
    change->removes = !file->new_path.len;
    change->may_be_new = change->must_be_new = !file->old_path.len || moves(file);
    if (!err)
        err =
            tool_get_path(run, file->new_path.len ? file->new_path : file->old_path, &change->path);
    (*at)++;
    return err;
}

/* Two changes of one file would both be made from the old text. */
static int check_once(struct tool_run *run, const struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        for (size_t k = 0; k < i; k++)
            if (acp_str_eq(changes->items[i].path, changes->items[k].path)) {
                tool_printf(run, "%s occurs twice in the patch; put its hunks together.",
                            changes->items[i].path.ptr);
                return ACP_ERR_RANGE;
            }
    return 0;
}

static int prepare(struct tool_run *run)
{
    struct acp_failure failure;
    struct acp_str text = {NULL, 0};
    struct changes *changes;
    struct patch *patch = acp_arena_alloc(&run->arena, sizeof(*patch));
    tool_get_str(run, "patch", &text);
    int err = patch ? patch_parse(text, &run->arena, patch, &failure) : ACP_ERR_NOMEM;
    if (err) {
        tool_printf(run, "%s.", patch ? failure.message : "Out of memory");
        return err;
    }
    size_t count = 0;
    for (size_t i = 0; i < patch->count; i++)
        count += moves(&patch->files[i]) ? 2 : 1;
    err = change_prepare(run, count, make, &changes);
    if (err)
        return err;
    changes->own = acp_arena_alloc(&run->arena, count * sizeof(struct origin));
    if (!changes->own)
        return ACP_ERR_NOMEM;
    size_t at = 0;
    for (size_t i = 0; i < patch->count && !err; i++)
        err = place_file(run, changes, &patch->files[i], &at);
    if (!err)
        err = check_once(run, changes);
    return err ? err : change_place(run, "Patch");
}

const struct tool tool_for_patch = {
    .info = {.name = "apply_patch",
             .title = "Apply a patch",
             .description =
                 "Applies a unified diff, as `git diff` writes it, to one or more files: \"--- "
                 "a/path\", \"+++ b/path\" and hunks that begin with \"@@ -1,3 +1,4 @@\". "
                 "/dev/null as the old or new path creates or deletes a file. Context lines must "
                 "match the file exactly; line numbers may be off. Nothing is written unless every "
                 "hunk applies.",
             .input_schema = "{\"type\":\"object\",\"properties\":{"
                             "\"patch\":{\"type\":\"string\",\"minLength\":1}},"
                             "\"required\":[\"patch\"],\"additionalProperties\":false}",
             .kind = ACP_TOOL_KIND_EDIT,
             .writes = true},
    .prepare = prepare,
    .preview = change_preview,
    .start = change_start,
    .drop = change_drop,
};
