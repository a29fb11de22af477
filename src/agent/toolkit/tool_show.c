/* tool_show.c - shows a run to the client as a tool call: pending, in progress, ended. */
#include "agent/toolkit/tool.h"

/* Enough for people; the model gets all of it. */
enum { SHOWN_TEXT = 16 * 1024 };

void tool_describe(struct tool_run *run, struct acp_tool_call_update *ret,
                   struct acp_tool_call_location *locations)
{
    size_t count = run->paths_are_files ? run->paths.count : 0;
    count = count < TOOL_MAX_LOCATIONS ? count : TOOL_MAX_LOCATIONS;
    acp_tool_call_update_init(ret, run->call);
    ret->name = run->name;
    ret->title = run->title;
    ret->kind.is = run->tool ? run->tool->info.kind : ACP_TOOL_KIND_OTHER;
    ret->status.is = ACP_TOOL_CALL_STATUS_PENDING;
    for (size_t i = 0; i < count; i++) {
        acp_tool_call_location_init(&locations[i], run->paths.items[i]);
        if (i == 0)
            locations[i].line = run->line;
    }
    ret->locations = (struct acp_tool_call_location_list){count ? locations : NULL, count};
    ret->content = (struct acp_tool_call_content_list){run->content, run->content_count};
    ret->raw_input = run->input;
}

static bool is_shown(const struct tool_run *run)
{
    return !(run->tool && run->tool->hidden);
}

void tool_show_start(struct tool_run *run)
{
    struct acp_tool_call_update call;
    struct acp_tool_call_location locations[TOOL_MAX_LOCATIONS];
    if (!is_shown(run))
        return;
    tool_describe(run, &call, locations);
    (void) acp_turn_send_tool_call(run->turn, &call);
}

/* The content, unless it was shown before. */
static void add_content(struct tool_run *run, struct acp_tool_call_update *call)
{
    if (!run->content_shown)
        call->content = (struct acp_tool_call_content_list){run->content, run->content_count};
    run->content_shown = run->content_count > 0;
}

void tool_show_preview(struct tool_run *run)
{
    struct acp_tool_call_update call;
    struct acp_tool_call_location locations[TOOL_MAX_LOCATIONS];
    if (!is_shown(run) || !run->content_count)
        return;
    tool_describe(run, &call, locations);
    /* The rest was sent when it started. */
    struct acp_tool_call_location_list places = call.locations;
    acp_tool_call_update_init(&call, run->call);
    call.locations = places;
    add_content(run, &call);
    (void) acp_turn_send_tool_call(run->turn, &call);
}

void tool_show_running(struct tool_run *run)
{
    struct acp_tool_call_update call;
    if (!is_shown(run))
        return;
    acp_tool_call_update_init(&call, run->call);
    call.status.is = ACP_TOOL_CALL_STATUS_IN_PROGRESS;
    add_content(run, &call);
    (void) acp_turn_send_tool_call(run->turn, &call);
}

/* ---- The end -------------------------------------------------------------------------------- */

/* The longest run of backquotes in a text. */
static size_t longest_quotes(struct acp_str text)
{
    size_t longest = 0;
    size_t row = 0;
    for (size_t i = 0; i < text.len; i++) {
        row = text.ptr[i] == '`' ? row + 1 : 0;
        if (row > longest)
            longest = row;
    }
    return longest;
}

/* Clients show text as Markdown, which leaves fenced text as it is. */
static int fence(struct acp_str text, struct acp_buf *out)
{
    static const char quotes[] = "````````````````````````````````";
    size_t n = longest_quotes(text) + 1;
    n = n < 3 ? 3 : n < sizeof(quotes) ? n : sizeof(quotes) - 1;
    bool ends = text.len && text.ptr[text.len - 1] == '\n';
    int err = acp_buf_printf(out, "%.*s\n", (int) n, quotes);
    if (!err)
        err = acp_buf_append_str(out, text);
    return err ? err : acp_buf_printf(out, "%s%.*s", ends ? "" : "\n", (int) n, quotes);
}

static enum acp_tool_call_status_is status_of(enum tool_end end)
{
    switch (end) {
    case TOOL_COMPLETED:
        return ACP_TOOL_CALL_STATUS_COMPLETED;
    case TOOL_CANCELLED:
        return ACP_TOOL_CALL_STATUS_CANCELLED;
    default:
        return ACP_TOOL_CALL_STATUS_FAILED;
    }
}

static void report_shown(struct tool_run *run, const struct acp_tool_call_content *text)
{
    const struct tools_options *options = &run->set->options;
    struct acp_tool_call_update call;
    acp_tool_call_update_init(&call, run->call);
    call.content = (struct acp_tool_call_content_list){text, 1};
    if (options->shown)
        options->shown(run->set, &call, options->user);
}

/* The text, and what is shown after it. */
static struct acp_tool_call_content_list with_blocks(struct tool_run *run,
                                                     const struct acp_tool_call_content *text)
{
    size_t count = run->block_count + 1;
    struct acp_tool_call_content *all =
        run->block_count ? acp_arena_alloc(&run->arena, count * sizeof(*all)) : NULL;
    if (!all)
        return (struct acp_tool_call_content_list){text, 1};
    all[0] = *text;
    memcpy(all + 1, run->blocks, run->block_count * sizeof(*all));
    return (struct acp_tool_call_content_list){all, count};
}

void tool_show_end(struct tool_run *run, enum tool_end end)
{
    struct acp_tool_call_update call;
    struct acp_tool_call_content text;
    struct acp_buf shown;
    if (!is_shown(run))
        return;
    acp_buf_init(&shown, SHOWN_TEXT + 128);
    acp_tool_call_update_init(&call, run->call);
    call.status.is = status_of(end);
    struct acp_str view = acp_buf_view(&run->output);
    if (view.len)
        call.raw_output = acp_raw_n(view.ptr, view.len);
    /* A diff or a terminal is enough, unless something has failed. */
    bool has_own = run->has_terminal || (run->content_count && end == TOOL_COMPLETED);
    struct acp_str cut = acp_str_cut(acp_buf_view(&run->text), SHOWN_TEXT);
    bool fenced = (!has_own || run->has_terminal) && fence(cut, &shown) == 0;
    if (fenced) {
        acp_tool_call_content_init_content(&text);
        acp_content_block_init_text(&text.content.content, acp_buf_view(&shown));
    }
    if (fenced && !has_own)
        call.content = with_blocks(run, &text);
    (void) acp_turn_send_tool_call(run->turn, &call);
    if (fenced && has_own)
        report_shown(run, &text);
    acp_buf_finish(&shown);
}
