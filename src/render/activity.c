/* activity.c - what an agent does beside talking, and what we do, in a line each. */
#include <stdarg.h>
#include <stdlib.h>

#include "acp/json.h"
#include "acp/types.h"
#include "base/utf8.h"
#include "render/render_internal.h"

void show_printf(struct show *show, const char *label, const char *format, ...)
{
    char line[1200]; /* a title and what is said of it; what is longer ends in a mark */
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n <= 0)
        return;
    if ((size_t) n >= sizeof(line))
        line[acp_utf8_copy_cut(line, line, sizeof(line) - 1, sizeof(line) - 2)] = '\0';
    /* Titles are often commands, which have several lines. */
    for (char *c = line; *c; c++)
        if (*c == '\n')
            *c = ' ';
    show_progress(show, label, acp_str_from(line));
}

/* ---- Tools ----------------------------------------------------------------------------------- */

void show_forget_tools(struct show *show)
{
    size_t cursor = 0;
    void *tool;
    while ((tool = acp_map_next(&show->tools, &cursor, NULL)) != NULL)
        free(tool);
    acp_map_finish(&show->tools);
    acp_map_init(&show->tools, (uint64_t) (uintptr_t) show);
    show->tools_cut = false;
}

/* Whether one more tool call can be known; an agent makes as many as it likes. */
static bool has_room(struct show *show, struct acp_str id)
{
    if (id.len <= SHOW_MAX_ID && show->tools.count < SHOW_MAX_TOOLS)
        return true;
    if (!show->tools_cut)
        show_progress(show, "[acp] ",
                      acp_str_from("too many tool calls, or ids that are too long; "
                                   "some are shown without their titles"));
    show->tools_cut = true;
    return false;
}

/* The tool call as it is known by now, with the title if that is a new one; NULL: unknown. */
static struct shown_tool *tool_of(struct show *show, struct acp_str id, struct acp_str title)
{
    struct shown_tool *known = acp_map_get(&show->tools, id);
    if (known && !title.len)
        return known;
    if (!known && !has_room(show, id))
        return NULL;
    size_t most = title.len < SHOW_MAX_TITLE ? title.len : SHOW_MAX_TITLE;
    struct shown_tool *tool = malloc(sizeof(*tool) + most + 1);
    if (!tool)
        return known;
    tool->changes = known ? known->changes : 0;
    tool->title[acp_utf8_copy_cut(tool->title, title.ptr, title.len, SHOW_MAX_TITLE)] = '\0';
    free(acp_map_remove(&show->tools, id));
    if (acp_map_set(&show->tools, id, tool)) {
        free(tool);
        return NULL;
    }
    return tool;
}

static const char *status_words(enum acp_tool_call_status_is status)
{
    switch (status) {
    case ACP_TOOL_CALL_STATUS_COMPLETED:
        return "done";
    case ACP_TOOL_CALL_STATUS_FAILED:
        return "failed";
    case ACP_TOOL_CALL_STATUS_CANCELLED:
        return "cancelled";
    case ACP_TOOL_CALL_STATUS_PAUSED:
        return "paused";
    default:
        return NULL;
    }
}

static void show_tool(struct show *show, struct acp_str id, struct acp_str title,
                      enum acp_tool_call_status_is status,
                      struct acp_tool_call_content_list content)
{
    bool is_new = acp_map_get(&show->tools, id) == NULL;
    struct shown_tool *tool = tool_of(show, id, title);
    const char *ended = status_words(status);
    uint64_t changes = show_mark_changes(content);
    if (is_new && tool && *tool->title)
        show_printf(show, "[tool] ", "%s", tool->title);
    if (ended)
        show_printf(show, "[tool] ", "%s: %s",
                    tool && *tool->title ? tool->title : "(without a title)", ended);
    /* They come when it begins, and often again when it ends. */
    if (changes && tool && tool->changes != changes) {
        tool->changes = changes;
        show_changes(show, content);
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static const char *entry_mark(enum acp_plan_entry_status_is status)
{
    switch (status) {
    case ACP_PLAN_ENTRY_STATUS_COMPLETED:
        return "[x] ";
    case ACP_PLAN_ENTRY_STATUS_IN_PROGRESS:
        return "[>] ";
    case ACP_PLAN_ENTRY_STATUS_CANCELLED:
        return "[-] ";
    default:
        return "[ ] ";
    }
}

static void show_plan(struct show *show, struct acp_plan_entry_list entries)
{
    show_progress(show, "[plan]", acp_str_from(""));
    for (size_t i = 0; i < entries.count; i++)
        show_printf(show, "  ", "%s%.*s", entry_mark(entries.items[i].status.is),
                    (int) entries.items[i].content.len, entries.items[i].content.ptr);
}

void show_doing(struct show *show, const struct acp_session_update *u)
{
    switch (u->is) {
    case ACP_SESSION_UPDATE_TOOL_CALL:
        show_tool(show, u->tool_call.tool_call_id, u->tool_call.title, u->tool_call.status.is,
                  u->tool_call.content);
        break;
    case ACP_SESSION_UPDATE_TOOL_CALL_UPDATE:
        show_tool(show, u->tool_call_update.tool_call_id, u->tool_call_update.title,
                  u->tool_call_update.status.is, u->tool_call_update.content);
        break;
    case ACP_SESSION_UPDATE_PLAN:
        show_plan(show, u->plan.entries);
        break;
    case ACP_SESSION_UPDATE_PLAN_UPDATE:
        if (u->plan_update.plan.is == ACP_PLAN_UPDATE_CONTENT_ITEMS)
            show_plan(show, u->plan_update.plan.items.entries);
        break;
    case ACP_SESSION_UPDATE_CURRENT_MODE_UPDATE:
        show_progress(show, "[mode] ", u->current_mode_update.current_mode_id);
        break;
    case ACP_SESSION_UPDATE_NOTICE:
        show_progress(show, "[notice] ", u->notice.title);
        break;
    default:
        break;
    }
}

/* ---- Records of ours ------------------------------------------------------------------------- */

/* A member of a body, as text; what is none is shown as its JSON. */
static struct acp_str member(struct show *show, struct acp_raw body, const char *name)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_str text = {0};
    struct acp_raw raw;
    acp_json_reader_init(&r, body, &show->arena, 0);
    if (acp_json_enter_object(&r))
        return text;
    while (acp_json_next_key(&r, &key) > 0) {
        if (!acp_str_is(key, name)) {
            (void) acp_json_skip(&r);
            continue;
        }
        if (acp_json_read_str(&r, &text) == 0)
            return text;
        if (acp_json_read_raw(&r, &raw) == 0)
            return acp_str_n(raw.ptr, raw.len);
    }
    return text;
}

static void show_prompt(struct show *show, struct acp_raw body)
{
    struct acp_content_block_list blocks;
    if (!show->options.prompts || event_read_prompt(body, &show->arena, &blocks, NULL))
        return;
    show_heading(show, false);
    for (size_t i = 0; i < blocks.count; i++)
        show_progress(show, "> ", show_block(show, &blocks.items[i]));
}

void show_own(struct show *show, const struct session_event *record)
{
    struct acp_raw body = record->body;
    acp_arena_reset(&show->arena);
    if (record->kind == EVENT_OPENED)
        show->mode = acp_str_is(member(show, body, "protocol"), "2") ? ACP_V2 : ACP_V1;
    if (!show_is_text(show))
        return;
    switch (record->kind) {
    case EVENT_PROMPT:
        show_prompt(show, body);
        break;
    case EVENT_PERMISSION: {
        struct acp_str title = member(show, body, "title");
        struct acp_str verdict = member(show, body, "verdict");
        struct acp_str by = member(show, body, "by");
        show_printf(show, "[permission] ", "%.*s: %s (%.*s)", (int) title.len, title.ptr,
                    acp_str_is(verdict, "allow") ? "allowed" : "denied", (int) by.len, by.ptr);
        break;
    }
    case EVENT_SETTING: {
        struct acp_str name = member(show, body, "name");
        struct acp_str value = member(show, body, "value");
        show_printf(show, "[set] ", "%.*s = %.*s", (int) name.len, name.ptr, (int) value.len,
                    value.ptr);
        break;
    }
    case EVENT_NOTICE:
    case EVENT_CLOSED:
        show_progress(show, "[acp] ", member(show, body, "message"));
        break;
    case EVENT_ERROR:
        show_progress(show, "[error] ", member(show, body, "message"));
        break;
    case EVENT_STOP:
        show_progress(show, "[done] ", member(show, body, "stopReason"));
        break;
    default:
        break;
    }
}
