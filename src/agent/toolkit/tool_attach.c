/*
 * tool_attach.c - reads a file that a prompt links to.  It is a run like those of tools, with the
 * same source of files and the same rules.  Where the rules say to ask, the file is not read: the
 * read tool can ask, if the model needs the file.
 */
#include "agent/toolkit/tool.h"

/* Lines that a client is asked for. */
enum { MAX_LINES = 50000 };

struct attaching {
    struct acp_str path;
    struct tools_attached file;
    tools_attached_fn *done;
    void *user;
};

static uint64_t count_lines(struct acp_str text)
{
    uint64_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    return count;
}

static void on_text(struct tool_run *run, int err, struct acp_str text)
{
    struct attaching *own = run->own;
    if (err) {
        tool_fail(run, "%.*s", ACP_ARG(acp_str_cut(text, 900)));
        return;
    }
    own->file.text = acp_str_cut(text, TOOLS_MAX_ATTACHED);
    own->file.is_cut = own->file.text.len < text.len || count_lines(text) >= MAX_LINES;
    own->file.size = tool_size(run, run->file);
    tool_finish(run, TOOL_COMPLETED);
}

static void start(struct tool_run *run)
{
    struct attaching *own = run->own;
    struct acp_str path;
    if (tool_get_path(run, own->path, &path) || tool_set_path(run, path) ||
        tool_check_path(run, path, false)) {
        tool_finish(run, TOOL_FAILED);
        return;
    }
    enum acp_verdict verdict = tool_decision(run).verdict;
    if (verdict == ACP_VERDICT_DENY)
        tool_fail(run, "the rules do not allow reading it");
    else if (verdict == ACP_VERDICT_ASK)
        tool_fail(run, "the rules require asking the user first; use the read tool");
    else
        tool_read(run, path, 1, MAX_LINES, on_text);
}

static const struct tool tool_for_attached = {
    .info = {.name = "read", .title = "Read a file", .kind = ACP_TOOL_KIND_READ},
    .hidden = true,
    .decides_itself = true,
    .start = start,
};

static void on_done(struct tools *set, struct acp_str call, enum tool_end end, struct acp_str text,
                    void *user)
{
    struct attaching *own = user;
    (void) call;
    own->file.why = end == TOOL_COMPLETED ? acp_str_from("") : text;
    own->done(set, &own->file, own->user);
}

int tools_attach(struct tools *set, struct acp_turn *turn, struct acp_str path,
                 tools_attached_fn *done, void *user)
{
    if (acp_turn_is_cancelled(turn))
        return ACP_ERR_CANCELLED;
    if (tools_running(set) >= TOOLS_MAX_RUNS)
        return ACP_ERR_LIMIT;
    struct attaching *own;
    struct tool_run *run = tool_run_hidden(set, turn, &tool_for_attached, sizeof(*own), on_done);
    struct acp_str copy = run ? acp_arena_copy(&run->arena, path) : acp_str_from(NULL);
    if (!copy.ptr) {
        if (run)
            tool_abandon(run);
        return ACP_ERR_NOMEM;
    }
    own = run->own;
    *own = (struct attaching){.path = copy, .done = done, .user = user};
    tool_enqueue(run);
    return 0;
}
