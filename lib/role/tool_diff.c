/*
 * Diffs of tool calls in one shape.  Version 1 has the path and both texts of one file, version 2 a
 * list of changed files and a patch for all of them.
 */
#include "acp/client.h"
#include "base/diff.h"

bool acp_event_diff(const struct acp_event *event, size_t index, const struct acp_diff **ret)
{
    const struct acp_tool_call_content *content = NULL;
    size_t count = 0;
    if (event->kind == ACP_EVENT_TOOL) {
        content = event->tool->content.items;
        count = event->tool->content.count;
    } else if (event->kind == ACP_EVENT_TOOL_CONTENT) {
        content = event->tool_content;
        count = 1;
    }
    for (size_t i = 0; i < count; i++)
        if (content[i].is == ACP_TOOL_CALL_CONTENT_DIFF && index-- == 0) {
            *ret = &content[i].diff;
            return true;
        }
    return false;
}

static bool has_texts(const struct acp_diff *diff)
{
    return acp_is_set(diff->path.ptr);
}

size_t acp_diff_file_count(const struct acp_diff *diff)
{
    return has_texts(diff) ? 1 : diff->changes.count;
}

static void read_change(const struct acp_diff_change *change, struct acp_diff_file *ret)
{
    *ret = (struct acp_diff_file){.operation = change->is};
    switch (change->is) {
    case ACP_DIFF_CHANGE_ADD:
        ret->path = change->add.path;
        break;
    case ACP_DIFF_CHANGE_DELETE:
        ret->path = change->delete_.path;
        break;
    case ACP_DIFF_CHANGE_MODIFY:
        ret->path = change->modify.path;
        break;
    case ACP_DIFF_CHANGE_MOVE:
        ret->path = change->move.path;
        ret->old_path = change->move.old_path;
        break;
    case ACP_DIFF_CHANGE_COPY:
        ret->path = change->copy.path;
        ret->old_path = change->copy.old_path;
        break;
    default:
        break;
    }
}

static void read_texts(const struct acp_diff *diff, struct acp_diff_file *ret)
{
    bool added = !acp_is_set(diff->old_text.ptr);
    *ret = (struct acp_diff_file){
        .operation = added ? ACP_DIFF_CHANGE_ADD : ACP_DIFF_CHANGE_MODIFY,
        .path = diff->path,
        .old_text = added ? acp_str_from(NULL) : diff->old_text,
        .new_text = diff->new_text,
    };
}

bool acp_diff_file_at(const struct acp_diff *diff, size_t index, struct acp_diff_file *ret)
{
    if (index >= acp_diff_file_count(diff))
        return false;
    if (has_texts(diff))
        read_texts(diff, ret);
    else
        read_change(&diff->changes.items[index], ret);
    return true;
}

int acp_diff_write_patch(const struct acp_diff *diff, struct acp_buf *out)
{
    if (acp_is_set(diff->patch))
        return diff->patch->format.is == ACP_DIFF_PATCH_FORMAT_GIT_PATCH
                   ? acp_buf_append_str(out, diff->patch->text)
                   : ACP_ERR_MISSING;
    if (!has_texts(diff))
        return ACP_ERR_MISSING;
    struct acp_diff_file file;
    read_texts(diff, &file);
    bool added = file.operation == ACP_DIFF_CHANGE_ADD;
    struct acp_diff_patch_options options = {.old_path = added ? acp_str_from(NULL) : file.path,
                                             .new_path = file.path};
    return acp_diff_patch(&options, added ? acp_str_from("") : file.old_text, file.new_text, out);
}
