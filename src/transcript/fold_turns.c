/* fold_turns.c - where turns begin and end, and what they have cost and changed. */
#include "transcript/transcript_internal.h"

#include <stdlib.h>

#include "json/members.h"

/* ---- What is open ---------------------------------------------------------------------------- */

/* Everything that the turn has begun ends with it. */
static void end_items(struct transcript *t, bool cancelled, struct acp_str reason)
{
    end_open(t);
    t->last_message = 0;
    struct item *next;
    for (struct item *item = t->first_tracked; item; item = next) {
        next = item->behind;
        if (item->shown.is_ended)
            continue;
        if (item->shown.kind != ITEM_TOOL_CALL)
            item_end(t, item, 0);
        else if (!item->shown.tool_call.in_background)
            orphan_tool_call(t, item, cancelled, reason);
    }
}

/* Ids are those of a turn, except for tool calls that outlast it. */
static void forget_ids(struct transcript *t)
{
    struct item *next;
    for (struct item *item = t->first_tracked; item; item = next) {
        next = item->behind;
        if (item->shown.kind == ITEM_TOOL_CALL && item->shown.tool_call.in_background &&
            !item->shown.is_ended)
            continue;
        if (keeps_all(t))
            untrack(t, item);
        else
            item_remove(t, item);
    }
    t->told_beyond = false;
}

void end_background(struct transcript *t, struct acp_str reason)
{
    for (struct item *item = t->first_tracked; item; item = item->behind)
        if (item->shown.kind == ITEM_TOOL_CALL)
            item->shown.tool_call.in_background = false;
    if (t->turn.state != TURN_RUNNING)
        end_items(t, false, reason);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static void take_prompt(struct transcript *t, struct item *item)
{
    struct acp_content_block_list blocks;
    acp_buf_clear(&t->prompt);
    int err = event_read_prompt(t->event->body, &t->arena, &blocks, NULL);
    if (err)
        blocks = (struct acp_content_block_list){0};
    if (err == ACP_ERR_NOMEM)
        t->err = err;
    for (size_t i = 0; i < blocks.count; i++) {
        struct acp_str text = block_text(t, &blocks.items[i]);
        add_block(t, item, item->length, &blocks.items[i]);
        if (acp_buf_append_str(&t->prompt, text) == ACP_ERR_NOMEM)
            t->err = ACP_ERR_NOMEM;
        note_text(t, item, text, i ? 0 : CHANGE_NEW);
    }
    if (!blocks.count)
        (void) note_change(t, item, CHANGE_NEW);
}

void fold_prompt(struct transcript *t)
{
    end_items(t, false, acp_str_from("the turn was not finished"));
    forget_ids(t);
    clear_answer(t);
    acp_arena_reset(&t->turn_arena);
    t->turn_files = (struct file_set){0};
    t->turn = (struct transcript_turn){
        .state = TURN_RUNNING, .number = t->event->turn, .started = t->event->time};
    t->cost_before = t->session.cost;
    struct item *item = item_add(t, ITEM_PROMPT);
    if (!item)
        return;
    t->turn.prompt = item->shown.number;
    take_prompt(t, item);
    item_end(t, item, 0);
}

/* ---- End ------------------------------------------------------------------------------------- */

static struct acp_opt_u64 read_tokens(struct acp_raw usage, const char *name)
{
    struct acp_json_reader r;
    uint64_t value;
    bool is_known = acp_json_find_member(usage, name, NULL, &r) && !acp_json_read_u64(&r, &value);
    return is_known ? acp_some_u64(value) : (struct acp_opt_u64){0};
}

/* The usage beside a stop reason, in the words of the protocol. */
static struct transcript_usage parse_usage(struct acp_raw usage)
{
    return (struct transcript_usage){
        .total = read_tokens(usage, "totalTokens"),
        .input = read_tokens(usage, "inputTokens"),
        .output = read_tokens(usage, "outputTokens"),
        .thought = read_tokens(usage, "thoughtTokens"),
        .cached_read = read_tokens(usage, "cachedReadTokens"),
        .cached_write = read_tokens(usage, "cachedWriteTokens"),
    };
}

/* What the session costs more than before the turn. */
static void set_cost(struct transcript *t)
{
    const struct transcript_cost *now = &t->session.cost;
    const struct transcript_cost *before = &t->cost_before;
    bool comparable = before->is_known ? strcmp(before->currency, now->currency) == 0
                                       : t->turn.number <= 1; /* nothing was spent before */
    if (!now->is_known || !comparable)
        return;
    t->turn.cost = *now;
    t->turn.cost.amount -= before->is_known ? before->amount : 0;
}

static void set_files(struct transcript *t)
{
    for (struct item *item = t->first_tracked; item; item = item->behind) {
        const struct transcript_tool_call *call = &item->shown.tool_call;
        if (item->shown.kind == ITEM_TOOL_CALL && call->status == ACP_TOOL_CALL_STATUS_COMPLETED &&
            merge_files(&t->turn_files, &t->turn_arena, call->files))
            t->err = ACP_ERR_NOMEM;
    }
    t->turn.files = t->turn_files.list;
}

static struct acp_str keep_in_turn(struct transcript *t, struct acp_str text)
{
    struct acp_str copy = {0};
    if (!text.ptr)
        return copy;
    copy = acp_arena_copy(&t->turn_arena, text);
    if (!copy.ptr)
        t->err = ACP_ERR_NOMEM;
    return copy;
}

static enum error_source read_source(struct transcript *t)
{
    struct acp_str name = event_text(t, "source");
    if (!name.ptr)
        name = event_text(t, "whose"); /* version 0.1 */
    if (acp_str_is(name, error_source_name(ERROR_SOURCE_AGENT)))
        return ERROR_SOURCE_AGENT;
    return acp_str_is(name, error_source_name(ERROR_SOURCE_USER)) ? ERROR_SOURCE_USER
                                                                  : ERROR_SOURCE_ACP;
}

static void read_end(struct transcript *t, struct acp_str text)
{
    struct acp_raw usage = {0};
    t->turn.ended = t->event->time;
    t->turn.number = t->event->turn;
    if (t->event->kind == EVENT_STOP) {
        t->turn.state = TURN_STOPPED;
        t->turn.stop_reason = keep_in_turn(t, text);
        (void) acp_json_member_raw(t->event->body, "usage", &usage);
        if (usage.len)
            t->turn.usage = parse_usage(usage);
        return;
    }
    t->turn.state = TURN_FAILED;
    t->turn.message = keep_in_turn(t, text);
    t->turn.source = read_source(t);
    (void) acp_json_member_i64(t->event->body, "code", &t->turn.code);
}

/* A copy of the turn for its item, which may outlive it, or be removed before. */
static const struct transcript_turn *copy_turn(struct transcript *t, struct item *item)
{
    struct transcript_turn *copy = acp_arena_alloc(&item->arena, sizeof(*copy));
    struct file_set files = {0};
    if (!copy) {
        t->err = ACP_ERR_NOMEM;
        return NULL;
    }
    *copy = t->turn;
    if (merge_files(&files, &item->arena, t->turn.files))
        t->err = ACP_ERR_NOMEM;
    copy->files = files.list;
    copy->stop_reason = (struct acp_str){0};
    copy->message = (struct acp_str){0};
    if (t->turn.stop_reason.ptr)
        copy->stop_reason = acp_arena_copy(&item->arena, t->turn.stop_reason);
    if (t->turn.message.ptr)
        copy->message = acp_arena_copy(&item->arena, t->turn.message);
    return copy;
}

void fold_turn_end(struct transcript *t)
{
    bool stopped = t->event->kind == EVENT_STOP;
    struct acp_str text = event_text(t, stopped ? "stopReason" : "message");
    bool cancelled = stopped && acp_str_is(text, "cancelled");
    end_items(t, cancelled,
              cancelled ? acp_str_from("the turn was cancelled")
              : stopped ? acp_str_from("the turn ended before it")
                        : text);
    read_end(t, text);
    set_cost(t);
    set_files(t);
    struct item *item = item_add(t, ITEM_TURN_END);
    if (!item)
        return;
    item->shown.end = copy_turn(t, item);
    if (!item->shown.end) {
        item_remove(t, item); /* nobody has heard of it */
        return;
    }
    note_text(t, item, text, CHANGE_NEW);
    item_end(t, item, 0);
}

/* ---- State and usage ------------------------------------------------------------------------- */

static void note_background(struct transcript *t, struct acp_background_work_list background)
{
    for (struct item *item = t->first_tracked; item; item = item->behind)
        if (item->shown.kind == ITEM_TOOL_CALL)
            item->shown.tool_call.in_background = false;
    for (size_t i = 0; i < background.count; i++) {
        if (background.items[i].is != ACP_BACKGROUND_WORK_TOOL_CALL)
            continue;
        struct item *item = find_tracked(t, 't', background.items[i].tool_call.tool_call_id);
        if (item)
            item->shown.tool_call.in_background = true;
    }
}

static void take_usage(struct transcript *t, const struct acp_usage *usage)
{
    t->turn.usage = (struct transcript_usage){
        .total = acp_some_u64(usage->total_tokens),
        .input = acp_some_u64(usage->input_tokens),
        .output = acp_some_u64(usage->output_tokens),
        .thought = usage->thought_tokens,
        .cached_read = usage->cached_read_tokens,
        .cached_write = usage->cached_write_tokens,
    };
}

void fold_state(struct transcript *t, const struct acp_state_update *state)
{
    struct acp_background_work_list background = {0};
    if (state->is == ACP_STATE_UPDATE_RUNNING)
        background = state->running.background;
    else if (state->is == ACP_STATE_UPDATE_REQUIRES_ACTION)
        background = state->requires_action.background;
    else if (state->is == ACP_STATE_UPDATE_IDLE)
        background = state->idle.background;
    if (acp_is_set(background.items))
        note_background(t, background);
    if (state->is == ACP_STATE_UPDATE_IDLE && acp_is_set(state->idle.usage))
        take_usage(t, state->idle.usage);
    /* In a replay this is all that says where a turn has ended. */
    if (state->is == ACP_STATE_UPDATE_IDLE && t->turn.state != TURN_RUNNING)
        end_open(t);
    if (state->tag.len <= TRANSCRIPT_MAX_ID)
        replace_text(t, &t->state, state->tag);
    t->session.state = acp_str_from(t->state);
    (void) note_change(t, NULL, CHANGE_STATE);
}

static void add_tokens(struct acp_opt_u64 *sum, struct acp_opt_u64 more)
{
    if (more.has == ACP_PRESENT)
        *sum = acp_some_u64(sum->value + more.value);
}

/*
 * An agent may report the tokens of each call of its model beside the usage of the context, as
 * _meta {"acp":{"usage":{...}}} with the members of a Usage: the built-in agent does.  The turn has
 * their sum, until its end says better.
 */
static void add_call(struct transcript *t, struct acp_raw meta)
{
    struct acp_raw ours = {0};
    struct acp_raw usage = {0};
    if (!meta.len || t->turn.state != TURN_RUNNING || acp_json_member_raw(meta, "acp", &ours) ||
        !ours.len || acp_json_member_raw(ours, "usage", &usage) || !usage.len)
        return;
    const struct transcript_usage call = parse_usage(usage);
    struct transcript_usage *sum = &t->turn.usage;
    t->turn.model_calls++;
    add_tokens(&sum->total, call.total);
    add_tokens(&sum->input, call.input);
    add_tokens(&sum->output, call.output);
    add_tokens(&sum->thought, call.thought);
    add_tokens(&sum->cached_read, call.cached_read);
    add_tokens(&sum->cached_write, call.cached_write);
}

void fold_usage(struct transcript *t, const struct acp_usage_update *usage)
{
    struct transcript_cost *cost = &t->session.cost;
    t->session.context_used = acp_some_u64(usage->used);
    t->session.context_size = acp_some_u64(usage->size);
    if (acp_is_set(usage->cost) && usage->cost->currency.len < sizeof(cost->currency)) {
        *cost = (struct transcript_cost){.is_known = true, .amount = usage->cost->amount};
        (void) memcpy(cost->currency, usage->cost->currency.ptr, usage->cost->currency.len);
    } else if (usage->cost) {
        *cost = (struct transcript_cost){0};
    }
    add_call(t, usage->meta);
    (void) note_change(t, NULL, CHANGE_USAGE);
}
