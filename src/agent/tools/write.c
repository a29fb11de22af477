/* write.c - writes a whole file. */
#include "agent/tools/change.h"

static int make(struct tool_run *run, size_t index)
{
    struct changes *changes = run->own;
    const struct acp_str *text = changes->own;
    if (acp_buf_append_str(&changes->items[index].made, *text) == 0)
        return 0;
    tool_printf(run, "The text is too long.");
    return ACP_ERR_LIMIT;
}

static int prepare(struct tool_run *run)
{
    struct changes *changes;
    struct acp_str given = {NULL, 0};
    struct acp_str *text = acp_arena_alloc(&run->arena, sizeof(*text));
    int err = text ? change_prepare(run, 1, make, &changes) : ACP_ERR_NOMEM;
    if (err)
        return err;
    changes->own = text;
    changes->items[0].may_be_new = true;
    tool_get_str(run, "path", &given);
    tool_get_str(run, "text", text);
    err = tool_get_path(run, given, &changes->items[0].path);
    return err ? err : change_place(run, "Write");
}

const struct tool tool_for_write = {
    .info =
        {.name = "write",
         .title = "Write a file",
         .description =
             "Writes the given text to a file in place of its content; the file and its folders "
             "are created if necessary. To change part of a file use "
             "\"edit\".",
         .input_schema = "{\"type\":\"object\",\"properties\":{"
                         "\"path\":{\"type\":\"string\",\"minLength\":1},"
                         "\"text\":{\"type\":\"string\",\"description\":\"the whole content\"}},"
                         "\"required\":[\"path\",\"text\"],\"additionalProperties\":false}",
         .kind = ACP_TOOL_KIND_EDIT,
         .writes = true},
    .prepare = prepare,
    .preview = change_preview,
    .start = change_start,
    .drop = change_drop,
};
