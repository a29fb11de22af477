/* fold_plans.c - plans, one item of a turn each, and compactions of the agent's context. */
#include "transcript/transcript_internal.h"

/* ---- Plans ----------------------------------------------------------------------------------- */

static struct item *plan_of(struct transcript *t, struct acp_str id, unsigned *ret_what)
{
    if (id.len > TRANSCRIPT_MAX_ID)
        id.len = TRANSCRIPT_MAX_ID;
    separate_messages(t);
    struct item *item = find_tracked(t, 'p', id);
    *ret_what = CHANGE_CONTENT;
    if (!item) {
        *ret_what |= CHANGE_NEW;
        item = item_add(t, ITEM_PLAN);
        if (!item)
            return NULL;
        (void) track(t, item, 'p', id);
        item->shown.plan.id = id.len ? id_of(item) : (struct acp_str){0};
    }
    item->shown.is_ended = false;
    item->shown.plan.is_removed = false;
    t->plan = item->shown.number;
    return item;
}

static void copy_entries(struct transcript *t, struct item *item,
                         struct acp_plan_entry_list entries)
{
    struct item_content *content = content_of(t, item);
    if (!content)
        return;
    acp_arena_reset(&content->arena);
    struct acp_plan_entry *copies =
        acp_arena_alloc(&content->arena, entries.count * sizeof(*copies));
    item->shown.plan.entries = (struct acp_plan_entry_list){copies, 0};
    for (size_t i = 0; copies && i < entries.count; i++) {
        if (copy_plan_entry(&content->arena, &entries.items[i], &copies[i])) {
            copies = NULL;
            break;
        }
        item->shown.plan.entries.count++;
    }
    if (!copies)
        t->err = ACP_ERR_NOMEM;
}

static void set_entries(struct transcript *t, struct acp_str id, struct acp_plan_entry_list entries)
{
    unsigned what;
    struct item *item = plan_of(t, id, &what);
    if (!item)
        return;
    item->shown.plan.uri = (struct acp_str){0};
    item->shown.plan.markdown = (struct acp_str){0};
    if (keeps_all(t)) {
        copy_entries(t, item, entries);
    } else {
        item->shown.plan.entries = entries;
        t->transient = item;
    }
    (void) note_change(t, item, what);
}

/* A plan that is a text, or stands in a file. */
static void set_text(struct transcript *t, struct acp_str id, struct acp_str text, bool is_uri)
{
    unsigned what;
    struct item *item = plan_of(t, id, &what);
    struct item_content *content = item ? content_of(t, item) : NULL;
    if (!item)
        return;
    item->shown.plan.entries = (struct acp_plan_entry_list){0};
    item->shown.plan.uri = (struct acp_str){0};
    item->shown.plan.markdown = (struct acp_str){0};
    if (content) {
        acp_arena_reset(&content->arena);
        struct acp_str copy = acp_arena_copy(&content->arena, text);
        if (!copy.ptr)
            t->err = ACP_ERR_NOMEM;
        else if (is_uri)
            item->shown.plan.uri = copy;
        else
            item->shown.plan.markdown = copy;
    }
    (void) note_change(t, item, what);
}

void fold_plan(struct transcript *t, struct acp_plan_entry_list entries)
{
    set_entries(t, (struct acp_str){0}, entries);
}

void fold_plan_update(struct transcript *t, const struct acp_plan_update_content *plan)
{
    switch (plan->is) {
    case ACP_PLAN_UPDATE_CONTENT_ITEMS:
        set_entries(t, plan->items.plan_id, plan->items.entries);
        break;
    case ACP_PLAN_UPDATE_CONTENT_FILE:
        set_text(t, plan->file.plan_id, plan->file.uri, true);
        break;
    case ACP_PLAN_UPDATE_CONTENT_MARKDOWN:
        set_text(t, plan->markdown.plan_id, plan->markdown.content, false);
        break;
    default:
        break;
    }
}

void fold_plan_removed(struct transcript *t, struct acp_str id)
{
    if (id.len > TRANSCRIPT_MAX_ID)
        id.len = TRANSCRIPT_MAX_ID;
    struct item *item = find_tracked(t, 'p', id);
    if (!item)
        return;
    item->shown.plan.is_removed = true;
    if (t->plan == item->shown.number)
        t->plan = 0;
    item_end(t, item, CHANGE_CONTENT);
}

/* ---- Compactions ----------------------------------------------------------------------------- */

static struct item *compaction_of(struct transcript *t, struct acp_str id, unsigned *ret_what)
{
    if (id.len > TRANSCRIPT_MAX_ID)
        id.len = TRANSCRIPT_MAX_ID;
    struct item *item = find_tracked(t, 'c', id);
    *ret_what = 0;
    if (item)
        return item;
    *ret_what = CHANGE_NEW;
    item = item_add(t, ITEM_COMPACTION);
    if (item)
        (void) track(t, item, 'c', id);
    return item;
}

/* All of the summary; that of null is empty. */
static void set_summary(struct transcript *t, struct item *item,
                        struct acp_content_block_list summary)
{
    note_new_text(t, item, acp_str_from(""));
    for (size_t i = 0; i < summary.count; i++)
        note_text(t, item, block_text(t, &summary.items[i]), 0);
}

void fold_compaction(struct transcript *t, const struct acp_compaction_update *update)
{
    unsigned what;
    struct item *item = compaction_of(t, update->compaction_id, &what);
    if (!item)
        return;
    item->shown.compaction.status = update->status.is;
    if (update->error.ptr && update->error.len <= TRANSCRIPT_MAX_REASON) {
        replace_text(t, &item->reason, update->error);
        item->shown.compaction.reason = acp_str_from(item->reason);
    }
    item->shown.is_ended = false;
    if (update->status.is == ACP_COMPACTION_STATUS_IN_PROGRESS)
        (void) note_change(t, item, what | CHANGE_STATUS);
    else
        item_end(t, item, what | CHANGE_STATUS);
    if (update->summary.items)
        set_summary(t, item, update->summary);
}

void fold_compaction_chunk(struct transcript *t, const struct acp_compaction_summary_chunk *chunk)
{
    unsigned what;
    struct item *item = compaction_of(t, chunk->compaction_id, &what);
    if (item)
        note_text(t, item, block_text(t, &chunk->content), what);
}
