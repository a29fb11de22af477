/* diff_lines.c - what a tool call changes in files, as lines that go and lines that come. */
#include "acp/types.h"
#include "base/diff.h"
#include "render/render_internal.h"

/* More is not shown; the log has all of it. */
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

static void render_hunk_line(struct renderer *r, struct acp_str line)
{
    char sign = line.len ? *line.ptr : ' ';
    enum output_style style = sign == '-'   ? STYLE_RED
                              : sign == '+' ? STYLE_GREEN
                              : sign == '@' ? STYLE_DIM
                                            : STYLE_NONE;
    text_styled(r, style, r->options.format == RENDER_MARKDOWN ? "" : "    ", line);
}

/* What stands above the hunks names the file, which was named already. */
static void render_hunks(struct renderer *r, struct acp_str patch)
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
            render_hunk_line(r, acp_str_from("@@ and so on"));
            return;
        }
        render_hunk_line(r, line);
    }
}

static void render_patch(struct renderer *r, struct acp_str patch)
{
    bool fenced = r->options.format == RENDER_MARKDOWN;
    if (r->options.rich) {
        rich_patch(r, patch);
        return;
    }
    if (fenced)
        text_styled(r, STYLE_NONE, "", acp_str_from("\n````diff"));
    render_hunks(r, patch);
    if (fenced)
        text_styled(r, STYLE_NONE, "", acp_str_from("````\n"));
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Version 1: both texts. */
static void render_texts(struct renderer *r, const struct acp_diff *diff)
{
    bool is_new = !acp_is_set(diff->old_text.ptr);
    struct acp_diff_patch_options options = {.old_path = is_new ? acp_str_from(NULL) : diff->path,
                                             .new_path = diff->path};
    struct acp_str old_text = is_new ? acp_str_from("") : diff->old_text;
    struct acp_buf patch;
    struct acp_str path = r->options.rich ? rich_path(r, diff->path) : diff->path;
    text_printf(r, "  ", "%s %.*s", is_new ? "writes" : "changes", ACP_ARG(path));
    if (old_text.len + diff->new_text.len > MAX_BYTES)
        return;
    acp_buf_init(&patch, 4 * (size_t) MAX_BYTES);
    if (acp_diff_patch(&options, old_text, diff->new_text, &patch) == 0)
        render_patch(r, acp_buf_view(&patch));
    acp_buf_finish(&patch);
}

/* Version 2: the files, and maybe a patch. */
static void render_file(struct renderer *r, const struct acp_diff_change *change)
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
    if (r->options.rich)
        path = rich_path(r, path);
    text_printf(r, "  ", "%.*s %.*s", ACP_ARG(change->tag), ACP_ARG(path));
}

void render_diffs(struct renderer *r, struct acp_tool_call_content_list content)
{
    for (size_t i = 0; i < content.count; i++) {
        const struct acp_diff *diff = &content.items[i].diff;
        if (content.items[i].is != ACP_TOOL_CALL_CONTENT_DIFF)
            continue;
        if (diff->path.len)
            render_texts(r, diff);
        for (size_t c = 0; c < diff->changes.count; c++)
            render_file(r, &diff->changes.items[c]);
        if (acp_is_set(diff->patch) && diff->patch->text.len <= MAX_BYTES)
            render_patch(r, diff->patch->text);
    }
}
