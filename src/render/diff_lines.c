/* diff_lines.c - what a tool call changes in files, as lines that go and lines that come. */
#include "acp/types.h"
#include "base/diff.h"
#include "render/render_internal.h"

/* A person looks at so much; the log has all of it. */
enum { MAX_LINES = 60, MAX_BYTES = 1 << 20 };

/* ---- Patches --------------------------------------------------------------------------------- */

static struct acp_str next_line(struct acp_str *rest)
{
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t len = end ? (size_t) (end - rest->ptr) : rest->len;
    struct acp_str line = acp_str_n(rest->ptr, len);
    size_t taken = end ? len + 1 : len;
    *rest = acp_str_n(rest->ptr + taken, rest->len - taken);
    return line;
}

static void show_hunk_line(struct show *show, struct acp_str line)
{
    char sign = line.len ? *line.ptr : ' ';
    enum output_style style = sign == '-'   ? STYLE_RED
                              : sign == '+' ? STYLE_GREEN
                              : sign == '@' ? STYLE_DIM
                                            : STYLE_NONE;
    show_styled(show, style, show->options.format == SHOW_MARKDOWN ? "" : "    ", line);
}

/* What stands above the hunks names the file, which was named already. */
static void show_hunks(struct show *show, struct acp_str patch)
{
    size_t shown = 0;
    bool in_hunks = false;
    while (patch.len) {
        struct acp_str line = next_line(&patch);
        if (acp_str_starts_with(line, "@@"))
            in_hunks = true;
        else if (acp_str_starts_with(line, "diff --git "))
            in_hunks = false;
        if (!in_hunks)
            continue;
        if (shown++ == MAX_LINES) {
            show_hunk_line(show, acp_str_from("@@ and so on"));
            return;
        }
        show_hunk_line(show, line);
    }
}

static void show_patch(struct show *show, struct acp_str patch)
{
    bool fenced = show->options.format == SHOW_MARKDOWN;
    if (fenced)
        show_styled(show, STYLE_NONE, "", acp_str_from("\n````diff"));
    show_hunks(show, patch);
    if (fenced)
        show_styled(show, STYLE_NONE, "", acp_str_from("````\n"));
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Version 1: both texts. */
static void show_texts(struct show *show, const struct acp_diff *diff)
{
    bool is_new = !acp_is_set(diff->old_text.ptr);
    struct acp_diff_patch_options options = {.old_path = is_new ? acp_str_from(NULL) : diff->path,
                                             .new_path = diff->path};
    struct acp_str old_text = is_new ? acp_str_from("") : diff->old_text;
    struct acp_buf patch;
    show_printf(show, "  ", "%s %.*s", is_new ? "writes" : "changes", (int) diff->path.len,
                diff->path.ptr);
    if (old_text.len + diff->new_text.len > MAX_BYTES)
        return;
    acp_buf_init(&patch, 4 * (size_t) MAX_BYTES);
    if (acp_diff_patch(&options, old_text, diff->new_text, &patch) == 0)
        show_patch(show, acp_buf_view(&patch));
    acp_buf_finish(&patch);
}

/* Version 2: the files, and maybe a patch. */
static void show_change(struct show *show, const struct acp_diff_change *change)
{
    struct acp_str path = {0};
    switch (change->is) {
    case ACP_DIFF_CHANGE_ADD:
    case ACP_DIFF_CHANGE_DELETE:
    case ACP_DIFF_CHANGE_MODIFY:
        path = change->add.path;
        break;
    case ACP_DIFF_CHANGE_MOVE:
    case ACP_DIFF_CHANGE_COPY:
        path = change->move.path;
        break;
    default:
        return;
    }
    show_printf(show, "  ", "%.*s %.*s", (int) change->tag.len, change->tag.ptr, (int) path.len,
                path.ptr);
}

void show_changes(struct show *show, struct acp_tool_call_content_list content)
{
    for (size_t i = 0; i < content.count; i++) {
        const struct acp_diff *diff = &content.items[i].diff;
        if (content.items[i].is != ACP_TOOL_CALL_CONTENT_DIFF)
            continue;
        if (diff->path.len)
            show_texts(show, diff);
        for (size_t c = 0; c < diff->changes.count; c++)
            show_change(show, &diff->changes.items[c]);
        if (acp_is_set(diff->patch) && diff->patch->text.len <= MAX_BYTES)
            show_patch(show, diff->patch->text);
    }
}

/* Something that differs when the changes do. */
static uint64_t mark_text(uint64_t mark, struct acp_str text)
{
    for (size_t i = 0; acp_is_set(text.ptr) && i < text.len; i++)
        mark = (mark ^ (unsigned char) text.ptr[i]) * UINT64_C(1099511628211);
    return mark;
}

uint64_t show_mark_changes(struct acp_tool_call_content_list content)
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
