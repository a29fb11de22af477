/*
 * transcript_dump.h - a transcript as text, for comparing; and a mirror of its texts that is built
 * from changes alone, as a user interface would.
 */
#ifndef TESTS_UNIT_TRANSCRIPT_DUMP_H
#define TESTS_UNIT_TRANSCRIPT_DUMP_H

#include <stdio.h>
#include <stdlib.h>

#include "transcript/transcript.h"

static const char *const item_kind_names[] = {
    [ITEM_OPENED] = "opened",
    [ITEM_PROMPT] = "prompt",
    [ITEM_USER_MESSAGE] = "user",
    [ITEM_MESSAGE] = "message",
    [ITEM_THOUGHT] = "thought",
    [ITEM_TOOL_CALL] = "tool_call",
    [ITEM_PLAN] = "plan",
    [ITEM_COMPACTION] = "compaction",
    [ITEM_PERMISSION] = "permission",
    [ITEM_SETTING] = "setting",
    [ITEM_NOTICE] = "notice",
    [ITEM_TURN_END] = "turn_end",
    [ITEM_CLOSED] = "closed",
    [ITEM_ELICITATION] = "elicitation",
};

static inline const char *tool_status_name(enum acp_tool_call_status_is status)
{
    switch (status) {
    case ACP_TOOL_CALL_STATUS_PENDING:
        return "pending";
    case ACP_TOOL_CALL_STATUS_IN_PROGRESS:
        return "in_progress";
    case ACP_TOOL_CALL_STATUS_PAUSED:
        return "paused";
    case ACP_TOOL_CALL_STATUS_COMPLETED:
        return "completed";
    case ACP_TOOL_CALL_STATUS_FAILED:
        return "failed";
    case ACP_TOOL_CALL_STATUS_CANCELLED:
        return "cancelled";
    default:
        return "none";
    }
}

static inline void dump_files(struct transcript_file_list files, struct acp_buf *out)
{
    for (size_t i = 0; i < files.count; i++) {
        const struct transcript_file *file = &files.items[i];
        (void) acp_buf_printf(out, " %.*s", ACP_ARG(file->path));
        if (file->is_counted)
            (void) acp_buf_printf(out, " +%llu -%llu", (unsigned long long) file->added,
                                  (unsigned long long) file->removed);
    }
}

static inline void dump_tool_call(const struct transcript_tool_call *call, struct acp_buf *out)
{
    (void) acp_buf_printf(out, " [%.*s %s", ACP_ARG(call->id), tool_status_name(call->status));
    if (call->name.ptr)
        (void) acp_buf_printf(out, " name=%.*s", ACP_ARG(call->name));
    if (call->kind)
        (void) acp_buf_printf(out, " kind=%d", call->kind);
    for (size_t i = 0; i < call->content.count; i++) {
        const struct acp_tool_call_content *content = &call->content.items[i];
        (void) acp_buf_printf(out, " content=%.*s", ACP_ARG(content->tag));
        if (content->is == ACP_TOOL_CALL_CONTENT_CONTENT &&
            content->content.content.is == ACP_CONTENT_BLOCK_TEXT)
            (void) acp_buf_printf(out, ":%.*s", ACP_ARG(content->content.content.text.text));
        else if (content->is == ACP_TOOL_CALL_CONTENT_TERMINAL)
            (void) acp_buf_printf(out, ":%.*s", ACP_ARG(content->terminal.terminal_id));
    }
    for (size_t i = 0; i < call->locations.count; i++)
        (void) acp_buf_printf(out, " at=%.*s:%lld", ACP_ARG(call->locations.items[i].path),
                              (long long) call->locations.items[i].line.value);
    if (call->raw_input.ptr)
        (void) acp_buf_printf(out, " in=%.*s", ACP_ARG(call->raw_input));
    if (call->raw_output.ptr)
        (void) acp_buf_printf(out, " out=%.*s", ACP_ARG(call->raw_output));
    if (call->files.count)
        (void) acp_buf_printf(out, " files");
    dump_files(call->files, out);
    if (call->reason.ptr)
        (void) acp_buf_printf(out, " because=%.*s", ACP_ARG(call->reason));
    (void) acp_buf_printf(out, "%s%s]", call->is_orphaned ? " orphaned" : "",
                          call->in_background ? " background" : "");
}

static inline void dump_tokens(const char *name, struct acp_opt_u64 tokens, struct acp_buf *out)
{
    if (tokens.has == ACP_PRESENT)
        (void) acp_buf_printf(out, " %s=%llu", name, (unsigned long long) tokens.value);
}

static inline void dump_turn(const struct transcript_turn *turn, struct acp_buf *out)
{
    static const char *const states[] = {"none", "running", "stopped", "failed"};
    (void) acp_buf_printf(out, " <turn %llu %s %lld..%lld", (unsigned long long) turn->number,
                          states[turn->state], (long long) turn->started, (long long) turn->ended);
    if (turn->stop_reason.ptr)
        (void) acp_buf_printf(out, " %.*s", ACP_ARG(turn->stop_reason));
    if (turn->state == TURN_FAILED)
        (void) acp_buf_printf(out, " %s %lld %.*s", error_source_name(turn->source),
                              (long long) turn->code, ACP_ARG(turn->message));
    dump_tokens("in", turn->usage.input, out);
    dump_tokens("out", turn->usage.output, out);
    dump_tokens("total", turn->usage.total, out);
    dump_tokens("thought", turn->usage.thought, out);
    dump_tokens("read", turn->usage.cached_read, out);
    dump_tokens("written", turn->usage.cached_write, out);
    if (turn->cost.is_known)
        (void) acp_buf_printf(out, " cost=%g%s", turn->cost.amount, turn->cost.currency);
    dump_files(turn->files, out);
    (void) acp_buf_printf(out, ">");
}

static inline void dump_details(const struct transcript_item *item, struct acp_buf *out)
{
    switch (item->kind) {
    case ITEM_OPENED:
        (void) acp_buf_printf(out, " %.*s %.*s %.*s %.*s v%u", ACP_ARG(item->opened.agent),
                              ACP_ARG(item->opened.agent_session), ACP_ARG(item->opened.cwd),
                              ACP_ARG(item->opened.how), item->opened.protocol);
        break;
    case ITEM_TOOL_CALL:
        dump_tool_call(&item->tool_call, out);
        break;
    case ITEM_PLAN:
        (void) acp_buf_printf(out, " %.*s%s %.*s%.*s", ACP_ARG(item->plan.id),
                              item->plan.is_removed ? " removed" : "", ACP_ARG(item->plan.uri),
                              ACP_ARG(item->plan.markdown));
        for (size_t i = 0; i < item->plan.entries.count; i++)
            (void) acp_buf_printf(out, " %d:%.*s", item->plan.entries.items[i].status.is,
                                  ACP_ARG(item->plan.entries.items[i].content));
        break;
    case ITEM_COMPACTION:
        (void) acp_buf_printf(out, " status=%d %.*s", item->compaction.status,
                              ACP_ARG(item->compaction.reason));
        break;
    case ITEM_PERMISSION:
        (void) acp_buf_printf(out, " %.*s %s by %.*s (%.*s) %.*s in %.*s",
                              ACP_ARG(item->permission.kind),
                              item->permission.is_allowed ? "allowed" : "denied",
                              ACP_ARG(item->permission.by), ACP_ARG(item->permission.option),
                              ACP_ARG(item->permission.command), ACP_ARG(item->permission.cwd));
        for (size_t i = 0; i < item->permission.paths.count; i++)
            (void) acp_buf_printf(out, " %.*s", ACP_ARG(item->permission.paths.items[i]));
        break;
    case ITEM_ELICITATION:
        (void) acp_buf_printf(out, " %.*s %.*s%s", ACP_ARG(item->elicitation.action),
                              ACP_ARG(item->elicitation.url),
                              item->elicitation.unasked ? " unasked" : "");
        break;
    case ITEM_SETTING:
        (void) acp_buf_printf(out, " = %.*s", ACP_ARG(item->setting));
        break;
    case ITEM_NOTICE:
        (void) acp_buf_printf(out, " %s %d %.*s", item->notice.from_agent ? "agent" : "acp",
                              item->notice.severity, ACP_ARG(item->notice.description));
        break;
    case ITEM_TURN_END:
        dump_turn(item->end, out);
        break;
    default:
        break;
    }
}

static inline struct acp_str image_data(const struct acp_content_block *block)
{
    return block->is == ACP_CONTENT_BLOCK_IMAGE ? block->image.data : (struct acp_str){0};
}

static inline void dump_item(const struct transcript_item *item, struct acp_buf *out)
{
    (void) acp_buf_printf(out, "%llu %s '%.*s'", (unsigned long long) item->number,
                          item_kind_names[item->kind], ACP_ARG(transcript_text(item)));
    if (item->continues)
        (void) acp_buf_printf(out, " continues %llu", (unsigned long long) item->continues);
    (void) acp_buf_printf(out, "%s%s%s%s", item->is_ended ? "" : " open",
                          item->is_cut ? " cut" : "", item->is_dropped ? " dropped" : "",
                          item->is_echo ? " echo" : "");
    for (const struct transcript_block *block = item->blocks; block; block = block->next)
        (void) acp_buf_printf(out, " {%zu %.*s%s%.*s}", block->offset, ACP_ARG(block->block.tag),
                              block->block.is == ACP_CONTENT_BLOCK_IMAGE ? " " : "",
                              ACP_ARG(image_data(&block->block)));
    dump_details(item, out);
    (void) acp_buf_printf(out, "\n");
}

/* All items, the answer, the turn and the session. */
static inline void dump_transcript(const struct transcript *t, struct acp_buf *out)
{
    const struct transcript_session *session = transcript_session(t);
    struct transcript_answer answer = transcript_answer(t);
    if (transcript_first(t))
        for (uint64_t n = transcript_first(t); n <= transcript_last(t); n++)
            if (transcript_item(t, n))
                dump_item(transcript_item(t, n), out);
    (void) acp_buf_printf(out, "answer '%.*s'%s\n", ACP_ARG(answer.text),
                          answer.is_cut ? " cut" : "");
    dump_turn(transcript_turn(t), out);
    (void) acp_buf_printf(out, "\nsession v%u '%.*s' mode=%.*s state=%.*s", session->protocol,
                          ACP_ARG(session->title), ACP_ARG(session->mode), ACP_ARG(session->state));
    dump_tokens("used", session->context_used, out);
    dump_tokens("size", session->context_size, out);
    if (session->cost.is_known)
        (void) acp_buf_printf(out, " cost=%g%s", session->cost.amount, session->cost.currency);
    (void) acp_buf_printf(out, "\n");
}

/* ---- The mirror ------------------------------------------------------------------------------ */

#ifndef MIRROR_ITEMS
#define MIRROR_ITEMS 20000
#endif

/* What somebody knows who has seen nothing but the changes. */
struct mirror {
    struct acp_buf texts[MIRROR_ITEMS];
    bool known[MIRROR_ITEMS];
    bool ended[MIRROR_ITEMS];
    const char *wrong; /* what cannot be, if anything */
};

static inline void mirror_free(struct mirror *mirror)
{
    for (size_t i = 0; i < MIRROR_ITEMS; i++)
        acp_buf_finish(&mirror->texts[i]);
    free(mirror);
}

static inline struct mirror *mirror_new(void)
{
    struct mirror *mirror = calloc(1, sizeof(*mirror));
    for (size_t i = 0; mirror && i < MIRROR_ITEMS; i++)
        acp_buf_init(&mirror->texts[i], EVENT_MAX_BYTES);
    return mirror;
}

static inline void mirror_add(struct mirror *mirror, struct transcript_changes changes)
{
    for (size_t i = 0; i < changes.count; i++) {
        const struct transcript_change *change = &changes.items[i];
        if (!change->item || !change->item->number || change->item->number >= MIRROR_ITEMS)
            continue;
        size_t at = (size_t) change->item->number;
        struct acp_buf *text = &mirror->texts[at];
        if (mirror->known[at] == ((change->what & CHANGE_NEW) != 0))
            mirror->wrong = "an item is new exactly once, and first";
        mirror->known[at] = true;
        if (change->what & CHANGE_TEXT_REPLACED)
            acp_buf_clear(text);
        if (change->what & CHANGE_TEXT && change->offset != text->len)
            mirror->wrong = "text is appended where the text ended";
        if (change->what & (CHANGE_TEXT | CHANGE_TEXT_REPLACED))
            (void) acp_buf_append_str(text, change->text);
        mirror->ended[at] = change->item->is_ended;
    }
}

/* Whether the items that are kept are as the changes said. */
static inline bool mirror_matches(struct mirror *mirror, const struct transcript *t,
                                  bool keeps_texts)
{
    uint64_t last = transcript_last(t);
    if (mirror->wrong)
        return false;
    for (uint64_t n = transcript_first(t); n && n <= last && n < MIRROR_ITEMS; n++) {
        const struct transcript_item *item = transcript_item(t, n);
        if (!item)
            continue;
        if (!mirror->known[n] || mirror->ended[n] != item->is_ended) {
            mirror->wrong = "an item is as the last change of it said";
            return false;
        }
        if (item->kind == ITEM_TOOL_CALL || item->is_cut || item->is_dropped || !keeps_texts)
            continue;
        if (!acp_str_eq(acp_buf_view(&mirror->texts[n]), transcript_text(item))) {
            mirror->wrong = "a text is what the changes add up to";
            return false;
        }
    }
    return true;
}

#endif
