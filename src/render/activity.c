/* activity.c - changes of a transcript: words as they come, everything else in a line each. */
#include "render/render_internal.h"

/* ---- Messages -------------------------------------------------------------------------------- */

static void render_message(struct renderer *r, const struct transcript_change *change)
{
    const struct transcript_item *item = change->item;
    bool goes_on = r->last_message &&
                   (item->number == r->last_message || item->continues == r->last_message) &&
                   !(change->what & CHANGE_TEXT_REPLACED);
    if (!(change->what & (CHANGE_TEXT | CHANGE_TEXT_REPLACED)))
        return;
    if (!goes_on && r->line == LINE_WORDS)
        text_end_line(r); /* what came in between is perhaps not shown */
    r->last_message = item->number;
    text_words(r, LINE_WORDS, change->text);
}

static void render_prompt(struct renderer *r, const struct transcript_change *change)
{
    if (change->what & CHANGE_NEW)
        r->last_message = 0;
    if (!r->options.prompts)
        return;
    if (change->what & CHANGE_NEW)
        text_heading(r, false);
    if (change->what & CHANGE_TEXT)
        text_activity(r, "> ", change->text);
}

/* ---- Tool calls and plans -------------------------------------------------------------------- */

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

static void render_status(struct renderer *r, const struct transcript_item *item)
{
    const struct transcript_tool_call *call = &item->tool_call;
    struct acp_str title = transcript_text(item);
    const char *status = status_words(call->status);
    if (!title.len)
        title = acp_str_from("(without a title)");
    if (status && call->is_orphaned)
        text_printf(r, "[tool] ", "%.*s: %s (%.*s)", ACP_ARG(title), status, ACP_ARG(call->reason));
    else if (status)
        text_printf(r, "[tool] ", "%.*s: %s", ACP_ARG(title), status);
}

static void render_tool_call(struct renderer *r, const struct transcript_change *change)
{
    const struct transcript_item *item = change->item;
    struct acp_tool_call_content_list content = item->tool_call.content;
    r->last_message = 0;
    if (r->options.activity < 0)
        return;
    if (r->options.rich) {
        rich_tool_call(r, change);
        return;
    }
    if (change->what & CHANGE_NEW && item->text.len)
        text_printf(r, "[tool] ", "%.*s", ACP_ARG(transcript_text(item)));
    if (change->what & CHANGE_STATUS)
        render_status(r, item);
    if (change->what & CHANGE_DIFFS && change->offset < content.count) {
        content.items += change->offset;
        content.count -= change->offset;
        render_diffs(r, content);
    }
}

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

static void render_plan(struct renderer *r, const struct transcript_change *change)
{
    const struct transcript_plan *plan = &change->item->plan;
    if (!(change->what & CHANGE_CONTENT))
        return;
    r->last_message = 0;
    if (plan->is_removed || plan->uri.ptr || plan->markdown.ptr)
        return;
    if (r->options.rich) {
        rich_plan(r, plan);
        return;
    }
    text_activity(r, "[plan]", acp_str_from(""));
    for (size_t i = 0; i < plan->entries.count; i++)
        text_printf(r, "  ", "%s%.*s", entry_mark(plan->entries.items[i].status.is),
                    ACP_ARG(plan->entries.items[i].content));
}

/* ---- What is said once ----------------------------------------------------------------------- */

static const char *describe_action(const struct transcript_item *item)
{
    const struct transcript_elicitation *elicitation = &item->elicitation;
    if (elicitation->unasked)
        return "declined, because nobody could be asked";
    return acp_str_is(elicitation->action, "accept")    ? "answered"
           : acp_str_is(elicitation->action, "decline") ? "declined"
                                                        : "closed without an answer";
}

static void render_once(struct renderer *r, const struct transcript_item *item, struct acp_str text)
{
    switch (item->kind) {
    case ITEM_PERMISSION:
        text_printf(r, "[permission] ", "%.*s: %s (%.*s)", ACP_ARG(text),
                    item->permission.is_allowed ? "allowed"
                    : item->permission.is_other ? "answered"
                                                : "denied",
                    ACP_ARG(item->permission.by));
        break;
    case ITEM_ELICITATION:
        text_printf(r, "[question] ", "%.*s: %s", ACP_ARG(text), describe_action(item));
        break;
    case ITEM_SETTING:
        text_printf(r, "[set] ", "%.*s = %.*s", ACP_ARG(text), ACP_ARG(item->setting));
        break;
    case ITEM_NOTICE:
        text_activity(r, item->notice.from_agent ? "[notice] " : "[acp] ", text);
        break;
    case ITEM_CLOSED:
        text_activity(r, "[acp] ", text);
        break;
    case ITEM_TURN_END:
        if (r->options.rich)
            rich_turn_end(r, item, text);
        else
            text_activity(r, item->end->state == TURN_FAILED ? "[error] " : "[done] ", text);
        break;
    default:
        break;
    }
}

void render_change(struct renderer *r, const struct transcript_change *change)
{
    const struct transcript_item *item = change->item;
    if (!item) {
        if (change->what & CHANGE_MODE)
            text_activity(r, "[mode] ", change->text);
        return;
    }
    switch (item->kind) {
    case ITEM_MESSAGE:
        render_message(r, change);
        break;
    case ITEM_THOUGHT:
        if (r->options.activity >= 0)
            text_words(r, LINE_THOUGHT, change->text);
        break;
    case ITEM_USER_MESSAGE:
        if (r->options.prompts && !item->is_echo && change->text.len)
            text_activity(r, "> ", change->text);
        break;
    case ITEM_PROMPT:
        render_prompt(r, change);
        break;
    case ITEM_TOOL_CALL:
        render_tool_call(r, change);
        break;
    case ITEM_PLAN:
        render_plan(r, change);
        break;
    default:
        if (change->what & CHANGE_NEW)
            render_once(r, item, change->text);
        break;
    }
}
