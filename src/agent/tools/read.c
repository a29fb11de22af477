/* read.c - the lines of a file, with their numbers. */
#include <inttypes.h>
#include <stdio.h>

#include "agent/toolkit/tool.h"

enum {
    DEFAULT_LINES = 2000,
    MAX_LINE_BYTES = 2000, /* shown of a line: minified files have few lines */
    NOTE_ROOM = 600,       /* for the note at the end */
};

struct reading {
    uint64_t first;
    uint64_t limit;
};

static int prepare(struct tool_run *run)
{
    struct reading *own = acp_arena_alloc(&run->arena, sizeof(*own));
    struct acp_str given = {NULL, 0};
    struct acp_str path;
    char title[300];
    if (!own)
        return ACP_ERR_NOMEM;
    *own = (struct reading){1, DEFAULT_LINES};
    run->own = own;
    tool_get_str(run, "path", &given);
    tool_get_u64(run, "line", &own->first);
    tool_get_u64(run, "limit", &own->limit);
    int err = tool_get_path(run, given, &path);
    if (!err)
        err = tool_set_path(run, path);
    if (err)
        return err;
    (void) snprintf(title, sizeof(title), "Read %.200s", tool_display_path(run, path.ptr));
    run->title = acp_arena_copy(&run->arena, acp_str_from(title));
    run->paths_are_files = true;
    if (own->first > 1)
        run->line = acp_some_i64((int64_t) own->first);
    return tool_check_path(run, path, false);
}

/* A line with its number; false if it does not fit any more. */
static bool put_line(struct tool_run *run, uint64_t number, struct acp_str line)
{
    struct acp_str shown = acp_str_cut(line, MAX_LINE_BYTES);
    if (run->text.len + shown.len + NOTE_ROOM > TOOLS_MAX_RESULT)
        return false;
    tool_printf(run, "%6llu\t", (unsigned long long) number);
    tool_append(run, shown);
    if (shown.len < line.len)
        tool_printf(run, " [... %zu more bytes in this line]", line.len - shown.len);
    tool_printf(run, "\n");
    return true;
}

static void on_text(struct tool_run *run, int err, struct acp_str text)
{
    const struct reading *own = run->own;
    uint64_t count = 0;
    size_t at = 0;
    if (err) {
        tool_fail(run, "%.*s.", ACP_ARG(acp_str_cut(text, 900)));
        return;
    }
    while (at < text.len && count < own->limit) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        size_t n = end ? (size_t) (end - text.ptr) - at : text.len - at;
        if (!put_line(run, own->first + count, acp_str_n(text.ptr + at, n)))
            break;
        at += end ? n + 1 : n;
        count++;
    }
    bool more = at < text.len;
    if (more)
        tool_printf(run, "[There is more. Continue with \"line\": %" PRIu64 ".]",
                    own->first + count);
    else if (count == 0)
        tool_printf(run,
                    own->first > 1 ? "[The file ends before this line.]" : "[The file is empty.]");
    (void) acp_buf_printf(&run->output, "{\"lines\":%llu,\"more\":%s}", (unsigned long long) count,
                          more ? "true" : "false");
    tool_finish(run, TOOL_COMPLETED);
}

static void start(struct tool_run *run)
{
    const struct reading *own = run->own;
    /* One more line than is shown, to see whether there is more. */
    tool_read(run, run->paths.items[0], own->first, own->limit + 1, on_text);
}

const struct tool tool_for_read = {
    .info =
        {.name = "read",
         .title = "Read a file",
         .description =
             "Reads a text file and returns its lines, each preceded by its number and a tab, "
             "which are not part of the file. By default it returns the first 2000 lines. Paths "
             "are absolute or relative to the working directory.",
         .input_schema = "{\"type\":\"object\",\"properties\":{"
                         "\"path\":{\"type\":\"string\",\"minLength\":1},"
                         "\"line\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000000,"
                         "\"description\":\"the first line to read, from 1\"},"
                         "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100000,"
                         "\"description\":\"how many lines\"}},"
                         "\"required\":[\"path\"],\"additionalProperties\":false}",
         .kind = ACP_TOOL_KIND_READ},
    .prepare = prepare,
    .start = start,
};
