/* rich.c - tool calls, plans and the ends of turns, as lines for a terminal. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "render/render_internal.h"

enum {
    REASON_LINES = 4, /* of why something failed */
    OUTPUT_LINES = 5, /* the last ones of what a command printed */
    LINE_SHOWN = 300, /* bytes of such a line */
    PLACES = 2,
};

/* ---- Texts ----------------------------------------------------------------------------------- */

void rich_text(struct renderer *r, unsigned attributes, enum output_colour colour,
               struct acp_str text)
{
    struct output *out = &r->activity;
    if (r->options.activity < 0)
        return;
    if (r->out.pending.len)
        (void) renderer_flush(r);
    if (attributes || colour != OUTPUT_DEFAULT)
        output_look(out, attributes, colour);
    output_text(out, text);
    if (attributes || colour != OUTPUT_DEFAULT)
        output_style(out, STYLE_NONE);
}

void rich_printf(struct renderer *r, unsigned attributes, enum output_colour colour,
                 const char *format, ...)
{
    char line[1200];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t) n;
    if (len >= sizeof(line))
        len = acp_utf8_copy_cut(line, line, sizeof(line) - 1, sizeof(line) - 2);
    rich_text(r, attributes, colour, acp_str_n(line, len));
}

static const char *symbol(const struct renderer *r, const char *ascii, const char *unicode)
{
    return r->options.ascii ? ascii : unicode;
}

struct acp_str rich_path(const struct renderer *r, struct acp_str path)
{
    struct acp_str cwd = r->options.cwd;
    if (cwd.len > 1 && path.len > cwd.len + 1 && memcmp(path.ptr, cwd.ptr, cwd.len) == 0 &&
        path.ptr[cwd.len] == '/')
        return acp_str_n(path.ptr + cwd.len + 1, path.len - cwd.len - 1);
    return path;
}

/* The first line of a text, without its end. */
static struct acp_str first_line(struct acp_str text)
{
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    return end ? acp_str_n(text.ptr, (size_t) (end - text.ptr)) : text;
}

static struct acp_str without_line(struct acp_str text, struct acp_str line)
{
    size_t n = line.len + (line.len < text.len);
    return acp_str_n(text.ptr + n, text.len - n);
}

static void put_indented(struct renderer *r, unsigned attributes, enum output_colour colour,
                         struct acp_str line)
{
    char cut[LINE_SHOWN + 4];
    line = acp_str_n(cut, acp_utf8_copy_cut(cut, line.ptr, line.len, LINE_SHOWN));
    rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("    "));
    rich_text(r, attributes, colour, line);
    rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("\n"));
}

static void put_first_lines(struct renderer *r, struct acp_str text, size_t most)
{
    for (size_t shown = 0; text.len && shown < most;) {
        struct acp_str line = first_line(text);
        text = without_line(text, line);
        if (!line.len)
            continue;
        put_indented(r, 0, OUTPUT_RED, line);
        shown++;
    }
    if (text.len)
        put_indented(r, OUTPUT_DIM, OUTPUT_DEFAULT, acp_str_from(symbol(r, "...", "\xe2\x80\xa6")));
}

static void put_last_lines(struct renderer *r, struct acp_str text, size_t most)
{
    size_t lines = 0;
    size_t from;
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    for (from = text.len; from; from--)
        if (text.ptr[from - 1] == '\n' && ++lines == most)
            break;
    text = acp_str_n(text.ptr + from, text.len - from);
    while (text.len) {
        struct acp_str line = first_line(text);
        text = without_line(text, line);
        put_indented(r, OUTPUT_DIM, OUTPUT_DEFAULT, line);
    }
}

/* 3.2s, 1m 5s */
static void put_duration(struct renderer *r, int64_t ms)
{
    if (ms < 0)
        return;
    if (ms < 60 * 1000)
        rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "%d.%ds", (int) (ms / 1000),
                    (int) (ms % 1000 / 100));
    else
        rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "%dm %ds", (int) (ms / 60000),
                    (int) (ms / 1000 % 60));
}

/* ---- Tool calls ------------------------------------------------------------------------------ */

static const char *kind_word(enum acp_tool_kind_is kind)
{
    static const char *const words[] = {
        [ACP_TOOL_KIND_READ] = "read",        [ACP_TOOL_KIND_EDIT] = "edit",
        [ACP_TOOL_KIND_DELETE] = "delete",    [ACP_TOOL_KIND_MOVE] = "move",
        [ACP_TOOL_KIND_SEARCH] = "search",    [ACP_TOOL_KIND_EXECUTE] = "run",
        [ACP_TOOL_KIND_THINK] = "think",      [ACP_TOOL_KIND_FETCH] = "fetch",
        [ACP_TOOL_KIND_SWITCH_MODE] = "mode",
    };
    return kind > 0 && (size_t) kind < sizeof(words) / sizeof(words[0]) ? words[kind] : NULL;
}

static bool contains(struct acp_str text, struct acp_str part)
{
    return part.len && text.len >= part.len && memmem(text.ptr, text.len, part.ptr, part.len);
}

static struct acp_str base_name(struct acp_str path)
{
    size_t at = path.len;
    while (at && path.ptr[at - 1] != '/')
        at--;
    return acp_str_n(path.ptr + at, path.len - at);
}

/* What the title does not say: the kind before it, the places behind it. */
static void put_title(struct renderer *r, const struct transcript_item *item)
{
    const struct transcript_tool_call *call = &item->tool_call;
    struct acp_str title = first_line(transcript_text(item));
    const char *kind = kind_word(call->kind);
    bool says_kind =
        kind && title.len >= strlen(kind) && strncasecmp(title.ptr, kind, strlen(kind)) == 0;
    if (kind && !says_kind)
        rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "%s ", kind);
    if (title.len)
        rich_text(r, 0, OUTPUT_DEFAULT, title);
    else
        rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("(without a title)"));
    for (size_t i = 0; i < call->locations.count && i < PLACES; i++) {
        struct acp_str path = call->locations.items[i].path;
        if (!contains(title, base_name(path)))
            rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, " %.*s",
                        ACP_ARG(first_line(rich_path(r, path))));
    }
    if (call->locations.count > PLACES)
        rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, " +%zu", call->locations.count - PLACES);
}

/* The turn ended before the call did, or somebody cancelled it: the call itself did not fail. */
static bool is_cut_short(const struct transcript_tool_call *call)
{
    return call->is_orphaned || call->status == ACP_TOOL_CALL_STATUS_CANCELLED;
}

static void put_mark(struct renderer *r, const struct transcript_tool_call *call)
{
    if (is_cut_short(call))
        rich_text(r, OUTPUT_DIM, OUTPUT_DEFAULT, acp_str_from("- "));
    else if (call->status == ACP_TOOL_CALL_STATUS_FAILED)
        rich_text(r, 0, OUTPUT_RED, acp_str_from(symbol(r, "x ", "\xe2\x9c\x97 ")));
    else
        rich_text(r, 0, OUTPUT_GREEN, acp_str_from(symbol(r, "+ ", "\xe2\x9c\x93 ")));
}

static void put_outcome(struct renderer *r, const struct transcript_tool_call *call)
{
    struct acp_str reason = first_line(call->reason);
    if (is_cut_short(call)) {
        rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, " %s",
                    call->status == ACP_TOOL_CALL_STATUS_CANCELLED ? "cancelled" : "not finished");
        if (reason.len)
            rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, ": %.*s", ACP_ARG(reason));
    } else if (call->status == ACP_TOOL_CALL_STATUS_FAILED) {
        rich_text(r, 0, OUTPUT_RED, acp_str_from(" failed"));
    }
}

static void put_end(struct renderer *r, const struct transcript_item *item)
{
    text_end_line(r);
    put_mark(r, &item->tool_call);
    put_title(r, item);
    put_outcome(r, &item->tool_call);
    if (item->ended > item->started && item->ended - item->started >= 100) {
        rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("  "));
        put_duration(r, item->ended - item->started);
    }
    rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("\n"));
}

/* The last lines of what a command has printed. */
static void put_output(struct renderer *r, const struct transcript_tool_call *call)
{
    for (size_t i = call->content.count; i; i--) {
        const struct acp_tool_call_content *content = &call->content.items[i - 1];
        if (content->is != ACP_TOOL_CALL_CONTENT_CONTENT ||
            content->content.content.is != ACP_CONTENT_BLOCK_TEXT)
            continue;
        put_last_lines(r, content->content.content.text.text, OUTPUT_LINES);
        return;
    }
}

void rich_tool_call(struct renderer *r, const struct transcript_change *change)
{
    const struct transcript_item *item = change->item;
    const struct transcript_tool_call *call = &item->tool_call;
    struct acp_tool_call_content_list content = call->content;
    /* The status line, which says what runs, needs a line of its own. */
    text_end_line(r);
    if (change->what & CHANGE_ENDED) {
        put_end(r, item);
        if (call->status == ACP_TOOL_CALL_STATUS_FAILED && !is_cut_short(call))
            put_first_lines(r, call->reason, REASON_LINES);
        else if (call->kind == ACP_TOOL_KIND_EXECUTE)
            put_output(r, call);
    }
    if (change->what & CHANGE_DIFFS && change->offset < content.count) {
        content.items += change->offset;
        content.count -= change->offset;
        render_diffs(r, content);
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static uint64_t hash_of(struct acp_str text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char) text.ptr[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void put_step(struct renderer *r, const struct acp_plan_entry *entry)
{
    struct acp_str text = first_line(entry->content);
    rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("  "));
    switch (entry->status.is) {
    case ACP_PLAN_ENTRY_STATUS_COMPLETED:
        rich_text(r, 0, OUTPUT_GREEN, acp_str_from(symbol(r, "[x] ", "\xe2\x9c\x93 ")));
        rich_text(r, OUTPUT_DIM, OUTPUT_DEFAULT, text);
        break;
    case ACP_PLAN_ENTRY_STATUS_IN_PROGRESS:
        rich_text(r, 0, OUTPUT_CYAN, acp_str_from(symbol(r, "[>] ", "\xe2\x96\xb8 ")));
        rich_text(r, OUTPUT_BOLD, OUTPUT_DEFAULT, text);
        break;
    case ACP_PLAN_ENTRY_STATUS_CANCELLED:
        rich_text(r, OUTPUT_DIM, OUTPUT_DEFAULT, acp_str_from(symbol(r, "[-] ", "- ")));
        rich_text(r, OUTPUT_DIM | OUTPUT_STRIKE, OUTPUT_DEFAULT, text);
        break;
    default:
        rich_text(r, OUTPUT_DIM, OUTPUT_DEFAULT, acp_str_from(symbol(r, "[ ] ", "\xe2\x97\x8b ")));
        rich_text(r, 0, OUTPUT_DEFAULT, text);
        break;
    }
    rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("\n"));
}

/* Whether the step was shown like that already. */
static bool is_shown(const struct renderer *r, uint64_t hash, int status, bool *ret_known)
{
    for (size_t i = 0; i < r->plan_count; i++) {
        if (r->plan[i].hash != hash)
            continue;
        *ret_known = true;
        return r->plan[i].status == status;
    }
    return false;
}

void rich_plan(struct renderer *r, const struct transcript_plan *plan)
{
    const struct acp_plan_entry *entries = plan->entries.items;
    struct shown_step now[RENDER_PLAN_MAX];
    size_t count = plan->entries.count < RENDER_PLAN_MAX ? plan->entries.count : RENDER_PLAN_MAX;
    size_t done = 0;
    size_t unknown = 0;
    size_t changed = 0;
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        now[i] = (struct shown_step){hash_of(entries[i].content), (int) entries[i].status.is};
        changed += !is_shown(r, now[i].hash, now[i].status, &known);
        unknown += !known;
        done += entries[i].status.is == ACP_PLAN_ENTRY_STATUS_COMPLETED;
    }
    if (!changed && count == r->plan_count)
        return;
    bool whole = unknown > 0 && 2 * unknown >= count;
    text_end_line(r);
    rich_text(r, OUTPUT_BOLD, OUTPUT_DEFAULT, acp_str_from("Plan"));
    rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, " %zu/%zu\n", done, count);
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        if (whole || !is_shown(r, now[i].hash, now[i].status, &known))
            put_step(r, &entries[i]);
    }
    (void) memcpy(r->plan, now, count * sizeof(now[0]));
    r->plan_count = count;
}

/* ---- The end of a turn ----------------------------------------------------------------------- */

/* 950, 12.3k, 1.2M */
static void put_tokens(struct renderer *r, uint64_t count, const char *what)
{
    if (count < 1000)
        rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "%u%s", (unsigned) count, what);
    else if (count < 1000 * 1000)
        rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "%.1fk%s", (double) count / 1e3, what);
    else
        rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "%.1fM%s", (double) count / 1e6, what);
}

static void put_separator(struct renderer *r)
{
    rich_text(r, OUTPUT_DIM, OUTPUT_DEFAULT, acp_str_from(symbol(r, ", ", " \xc2\xb7 ")));
}

static void put_usage(struct renderer *r, const struct transcript_turn *turn)
{
    const struct transcript_usage *usage = &turn->usage;
    if (usage->input.has == ACP_PRESENT) {
        put_separator(r);
        put_tokens(r, usage->input.value, " in");
        if (usage->cached_read.has == ACP_PRESENT && usage->cached_read.value) {
            rich_text(r, OUTPUT_DIM, OUTPUT_DEFAULT, acp_str_from(" ("));
            put_tokens(r, usage->cached_read.value, " cached)");
        }
    }
    if (usage->output.has == ACP_PRESENT) {
        put_separator(r);
        put_tokens(r, usage->output.value, " out");
    }
    if (turn->cost.is_known) {
        bool dollars = strcmp(turn->cost.currency, "USD") == 0;
        put_separator(r);
        rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "%s%.*f%s%s", dollars ? "$" : "",
                    turn->cost.amount < 0.1 ? 4 : 2, turn->cost.amount, dollars ? "" : " ",
                    dollars ? "" : turn->cost.currency);
    }
}

static void put_files(struct renderer *r, struct transcript_file_list files)
{
    uint64_t added = 0;
    uint64_t removed = 0;
    for (size_t i = 0; i < files.count; i++) {
        added += files.items[i].added;
        removed += files.items[i].removed;
    }
    if (!files.count)
        return;
    put_separator(r);
    rich_printf(r, OUTPUT_DIM, OUTPUT_DEFAULT, "%zu file%s ", files.count,
                files.count == 1 ? "" : "s");
    rich_printf(r, 0, OUTPUT_GREEN, "+%llu", (unsigned long long) added);
    rich_printf(r, 0, OUTPUT_RED, " %s%llu", symbol(r, "-", "\xe2\x88\x92"),
                (unsigned long long) removed);
}

void rich_turn_end(struct renderer *r, const struct transcript_item *item, struct acp_str text)
{
    const struct transcript_turn *turn = item->end;
    text_end_line(r);
    if (turn->state == TURN_FAILED) {
        rich_text(r, 0, OUTPUT_RED, acp_str_from(symbol(r, "x ", "\xe2\x9c\x97 ")));
        rich_text(r, 0, OUTPUT_DEFAULT, text);
        rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("\n"));
    }
    put_duration(r, turn->ended > turn->started ? turn->ended - turn->started : 0);
    if (turn->state != TURN_FAILED && !acp_str_is(text, "end_turn")) {
        put_separator(r);
        rich_text(r, 0, OUTPUT_YELLOW, text);
    }
    put_usage(r, turn);
    put_files(r, turn->files);
    if (r->options.again.len) {
        put_separator(r);
        rich_text(r, OUTPUT_DIM, OUTPUT_DEFAULT, r->options.again);
    }
    rich_text(r, 0, OUTPUT_DEFAULT, acp_str_from("\n"));
}
