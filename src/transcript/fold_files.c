/* fold_files.c - which files a tool call changes, and by how many lines. */
#include "transcript/transcript_internal.h"

#include "base/diff.h"

/* A longer path is none that a system has. */
enum { LONGEST_PATH = 4096, FIRST_FILES = 4 };

/* ---- Whether diffs differ -------------------------------------------------------------------- */

static uint64_t mark_text(uint64_t mark, struct acp_str text)
{
    for (size_t i = 0; acp_is_set(text.ptr) && i < text.len; i++)
        mark = (mark ^ (unsigned char) text.ptr[i]) * UINT64_C(1099511628211);
    return mark;
}

uint64_t mark_diffs(struct acp_tool_call_content_list content)
{
    uint64_t mark = 0;
    for (size_t i = 0; i < content.count; i++) {
        const struct acp_diff *diff = &content.items[i].diff;
        if (content.items[i].is != ACP_TOOL_CALL_CONTENT_DIFF)
            continue;
        mark = mark_text(mark + 1, diff->path);
        mark = mark_text(mark, diff->new_text);
        if (acp_is_set(diff->patch))
            mark = mark_text(mark, diff->patch->text);
    }
    return mark;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void count_texts(const struct acp_diff_file *diff, struct acp_arena *scratch,
                        struct transcript_file *file)
{
    struct acp_diff_script script;
    if (diff->old_text.len + diff->new_text.len > TRANSCRIPT_MAX_DIFF ||
        acp_diff_lines(diff->old_text, diff->new_text, scratch, &script))
        return;
    file->is_counted = true;
    for (size_t i = 0; i < script.count; i++) {
        file->added += script.edits[i].new_count;
        file->removed += script.edits[i].old_count;
    }
}

/* The lines of the hunks of a patch; what stands above them names the file. */
static void count_patch(struct acp_str patch, struct transcript_file *file)
{
    bool in_hunks = false;
    if (patch.len > TRANSCRIPT_MAX_DIFF)
        return;
    file->is_counted = true;
    while (patch.len) {
        const char *end = memchr(patch.ptr, '\n', patch.len);
        size_t len = end ? (size_t) (end - patch.ptr) + 1 : patch.len;
        if (acp_str_starts_with(patch, "@@"))
            in_hunks = true;
        else if (acp_str_starts_with(patch, "diff --git "))
            in_hunks = false;
        else if (in_hunks && *patch.ptr == '+')
            file->added++;
        else if (in_hunks && *patch.ptr == '-')
            file->removed++;
        patch = acp_str_n(patch.ptr + len, patch.len - len);
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static struct transcript_file *find_file(const struct file_set *set, struct acp_str path)
{
    for (size_t i = 0; i < set->list.count; i++)
        if (acp_str_eq(set->items[i].path, path))
            return &set->items[i];
    return NULL;
}

static int add_file(struct file_set *set, struct acp_arena *arena,
                    const struct transcript_file *file)
{
    struct transcript_file *known = find_file(set, file->path);
    if (known) {
        known->added += file->added;
        known->removed += file->removed;
        known->is_counted = known->is_counted && file->is_counted;
        return 0;
    }
    size_t count = set->list.count;
    if (count == TRANSCRIPT_MAX_FILES)
        return 0;
    if (count == set->capacity) {
        size_t capacity = count ? count * 2 : FIRST_FILES;
        struct transcript_file *items =
            acp_arena_grow(arena, set->items, count * sizeof(*items), capacity * sizeof(*items));
        if (!items)
            return ACP_ERR_NOMEM;
        set->items = items;
        set->capacity = capacity;
    }
    struct acp_str path = acp_arena_copy(arena, file->path);
    if (!path.ptr)
        return ACP_ERR_NOMEM;
    set->items[count] = *file;
    set->items[count].path = path;
    set->list = (struct transcript_file_list){set->items, count + 1};
    return 0;
}

int merge_files(struct file_set *into, struct acp_arena *arena, struct transcript_file_list files)
{
    int err = 0;
    for (size_t i = 0; !err && i < files.count; i++)
        err = add_file(into, arena, &files.items[i]);
    return err;
}

static int add_diff(struct file_set *into, struct acp_arena *arena, const struct acp_diff *diff,
                    struct acp_arena *scratch)
{
    struct acp_diff_file one;
    int err = 0;
    size_t count = acp_diff_file_count(diff);
    for (size_t i = 0; !err && acp_diff_file_at(diff, i, &one); i++) {
        struct transcript_file file = {.path = one.path};
        if (!one.path.len || one.path.len > LONGEST_PATH)
            continue;
        if (acp_is_set(one.new_text.ptr))
            count_texts(&one, scratch, &file);
        else if (acp_is_set(diff->patch) && count == 1)
            count_patch(diff->patch->text, &file);
        err = add_file(into, arena, &file);
    }
    return err;
}

int add_changed_files(struct file_set *into, struct acp_arena *arena,
                      struct acp_tool_call_content_list content, struct acp_arena *scratch)
{
    int err = 0;
    for (size_t i = 0; !err && i < content.count; i++)
        if (content.items[i].is == ACP_TOOL_CALL_CONTENT_DIFF)
            err = add_diff(into, arena, &content.items[i].diff, scratch);
    return err;
}
