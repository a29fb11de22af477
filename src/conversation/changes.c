/*
 * changes.c - what edits change in files, for the person who is asked.
 *
 * A size and a digest bind an answer to a content, but nobody can judge them: the question has the
 * changed lines.  It has all of them, or is not asked.
 */
#include <stdio.h>

#include "acp/types.h"
#include "base/diff.h"
#include "conversation/conversation_internal.h"
#include "conversation/question.h"

/* Both texts of a diff.  Comparing takes time, on the loop; of more than this, a diff is rare. */
enum { CHANGES_MAX_BYTES = 4 * 1024 * 1024 };

void edit_changes_init(struct edit_changes *changes)
{
    /* One more than a question takes, so that what is too long is found to be so. */
    acp_buf_init(&changes->text, (size_t) QUESTION_MAX_BYTES + 1);
    *changes->complaint = '\0';
}

void edit_changes_finish(struct edit_changes *changes)
{
    acp_buf_finish(&changes->text);
}

static void complain(struct edit_changes *changes, const char *why)
{
    (void) snprintf(changes->complaint, sizeof(changes->complaint), "%s", why);
}

static void append(struct edit_changes *changes, struct acp_str text)
{
    if (acp_buf_append_str(&changes->text, text))
        complain(changes, "its changes are longer than 32 KiB");
}

static void append_patch(struct edit_changes *changes, struct acp_str path, bool is_new,
                         struct acp_str old_text, struct acp_str new_text)
{
    struct acp_diff_patch_options options = {.old_path = is_new ? acp_str_from(NULL) : path,
                                             .new_path = path};
    size_t before = changes->text.len;
    if (old_text.len + new_text.len > CHANGES_MAX_BYTES) {
        complain(changes, "the file is too large to show what changes in it");
        return;
    }
    int err = acp_diff_patch(&options, old_text, new_text, &changes->text);
    if (err == ACP_ERR_LIMIT)
        complain(changes, "its changes are longer than 32 KiB");
    else if (err)
        complain(changes, acp_err_text(err));
    else if (changes->text.len == before)
        append(changes, acp_str_from("none: the text stays the same\n"));
}

/* The text of the file on the disk; one that does not exist is empty, and new. */
static int read_disk(struct conversation *c, struct acp_str path, struct acp_buf *buf,
                     struct acp_str *ret_text, bool *ret_new, struct acp_files_error *error)
{
    int err = acp_workspace_read(c->workspace, c->session, path, buf, ret_text, error);
    *ret_new = err == ACP_ERR_MISSING;
    if (*ret_new)
        *ret_text = acp_str_from("");
    return *ret_new ? 0 : err;
}

void conversation_describe_write(struct conversation *c, struct acp_str path,
                                 struct acp_str new_text, struct edit_changes *changes)
{
    struct acp_files_error error;
    struct acp_str old_text;
    struct acp_buf buf;
    bool is_new;
    acp_buf_init(&buf, (size_t) ACP_WIRE_DEFAULT_MAX);
    if (read_disk(c, path, &buf, &old_text, &is_new, &error))
        (void) snprintf(changes->complaint, sizeof(changes->complaint),
                        "what it changes cannot be shown: %s", error.message);
    else
        append_patch(changes, path, is_new, old_text, new_text);
    acp_buf_finish(&buf);
}

/* Whether the file on the disk has the text that the agent says is replaced. */
static bool is_on_disk(struct conversation *c, const struct acp_diff *diff)
{
    struct acp_files_error error;
    struct acp_str old_text = acp_is_set(diff->old_text.ptr) ? diff->old_text : acp_str_from("");
    struct acp_str text;
    struct acp_buf buf;
    bool is_new;
    acp_buf_init(&buf, (size_t) ACP_WIRE_DEFAULT_MAX);
    bool same =
        !read_disk(c, diff->path, &buf, &text, &is_new, &error) && acp_str_eq(text, old_text);
    acp_buf_finish(&buf);
    return same;
}

/* Version 2: a patch, when there is one; the files are in the action's paths. */
static void append_changes(struct edit_changes *changes, const struct acp_diff *diff)
{
    for (size_t i = 0; i < diff->changes.count; i++) {
        const struct acp_diff_change *change = &diff->changes.items[i];
        bool moves = change->is == ACP_DIFF_CHANGE_MOVE || change->is == ACP_DIFF_CHANGE_COPY;
        append(changes, change->tag);
        append(changes, acp_str_from(" "));
        append(changes, moves ? change->move.old_path : change->add.path);
        append(changes, acp_str_from(moves ? " to " : "\n"));
        if (moves) {
            append(changes, change->move.path);
            append(changes, acp_str_from("\n"));
        }
    }
    if (!acp_is_set(diff->patch))
        return;
    append(changes, diff->patch->text);
    if (diff->patch->text.len && diff->patch->text.ptr[diff->patch->text.len - 1] != '\n')
        append(changes, acp_str_from("\n"));
}

static void forget_content(struct acp_arena *arena, struct acp_action *action, struct acp_str path,
                           struct edit_changes *changes)
{
    struct acp_action_edit *edits =
        acp_arena_alloc(arena, (action->edits.count + 1) * sizeof(*edits));
    for (size_t i = 0; edits && i < action->edits.count; i++) {
        edits[i] = action->edits.items[i];
        if (acp_str_eq(edits[i].path, path))
            edits[i].known = false;
    }
    if (edits)
        action->edits.items = edits;
    else
        complain(changes, acp_err_text(ACP_ERR_NOMEM));
}

void conversation_describe_diffs(struct conversation *c, struct acp_tool_call_content_list content,
                                 struct acp_arena *arena, struct acp_action *action,
                                 struct edit_changes *changes)
{
    for (size_t i = 0; i < content.count && !*changes->complaint; i++) {
        const struct acp_diff *diff = &content.items[i].diff;
        if (content.items[i].is != ACP_TOOL_CALL_CONTENT_DIFF)
            continue;
        if (!diff->path.len) {
            append_changes(changes, diff);
            continue;
        }
        bool is_new = !acp_is_set(diff->old_text.ptr);
        append_patch(changes, diff->path, is_new, is_new ? acp_str_from("") : diff->old_text,
                     diff->new_text);
        if (!is_on_disk(c, diff))
            forget_content(arena, action, diff->path, changes);
    }
}
