/*
 * fold_messages.c - messages, thoughts, and which of them is the answer.
 *
 * A chunk belongs to the message of its id.  Where an agent gives no ids, it goes on with what the
 * agent was saying, until something comes in between: a tool call, a plan or a message of the user
 * ends a message; a thought only interrupts it, and the rest is an item of its own so that the
 * order is kept.
 */
#include "transcript/transcript_internal.h"

#include <stdio.h>

#include "base/utf8.h"

static char letter_of(enum transcript_item_kind kind)
{
    return kind == ITEM_MESSAGE ? 'm' : kind == ITEM_THOUGHT ? 'h' : 'u';
}

void end_open(struct transcript *t)
{
    struct item *open = t->open;
    t->open = NULL;
    if (open && !open->is_tracked)
        item_end(t, open, 0);
}

void separate_messages(struct transcript *t)
{
    end_open(t);
    t->last_message = 0;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

struct acp_str block_text(struct transcript *t, const struct acp_content_block *block)
{
    struct acp_str what = block->tag;
    struct acp_str name = {0};
    if (block->is == ACP_CONTENT_BLOCK_TEXT)
        return block->text.text;
    if (block->is == ACP_CONTENT_BLOCK_RESOURCE_LINK)
        name = block->resource_link.uri;
    else if (block->is == ACP_CONTENT_BLOCK_IMAGE)
        name = block->image.mime_type;
    else if (block->is == ACP_CONTENT_BLOCK_AUDIO)
        name = block->audio.mime_type;
    size_t size = what.len + name.len + sizeof("[ ]");
    char *words = acp_arena_alloc(&t->arena, size);
    if (!words) {
        t->err = ACP_ERR_NOMEM;
        return (struct acp_str){0};
    }
    int n =
        snprintf(words, size, "[%.*s%s%.*s]", ACP_ARG(what), name.len ? " " : "", ACP_ARG(name));
    return acp_str_n(words, (size_t) n);
}

void add_block(struct transcript *t, struct item *item, size_t offset,
               const struct acp_content_block *block)
{
    if (!keeps_all(t) || item->shown.is_dropped)
        return;
    struct transcript_block *copy = acp_arena_alloc(&item->arena, sizeof(*copy));
    if (!copy || copy_block(&item->arena, block, &copy->block)) {
        t->err = ACP_ERR_NOMEM;
        return;
    }
    copy->offset = offset;
    if (item->last_block)
        item->last_block->next = copy;
    else
        item->shown.blocks = copy;
    item->last_block = copy;
}

/* ---- The answer ------------------------------------------------------------------------------ */

void clear_answer(struct transcript *t)
{
    acp_buf_clear(&t->answer);
    t->answer_is_cut = false;
    t->answer_root = 0;
}

static void add_to_answer(struct transcript *t, struct acp_str text)
{
    size_t room = TRANSCRIPT_MAX_TEXT - t->answer.len;
    if (t->answer_is_cut)
        return;
    if (text.len > room) {
        t->answer_is_cut = true;
        text.len = acp_utf8_cut(text.ptr, text.len, room);
    }
    if (acp_buf_append_str(&t->answer, text))
        t->err = ACP_ERR_NOMEM;
}

static bool is_answer(const struct transcript *t, const struct item *item)
{
    return item->shown.kind == ITEM_MESSAGE && item->root == t->answer_root;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static struct item *find_message(struct transcript *t, enum transcript_item_kind kind,
                                 struct acp_str id)
{
    struct item *open = t->open && t->open->shown.kind == kind ? t->open : NULL;
    if (open && (!id.len || acp_str_eq(id, id_of(open))))
        return open;
    struct item *found = id.len ? find_tracked(t, letter_of(kind), id) : NULL;
    if (!found)
        return NULL;
    end_open(t);
    t->open = found;
    if (kind == ITEM_MESSAGE) {
        t->last_message = found->shown.number;
        t->last_root = found->root;
    }
    return found;
}

/* A message of the agent begins, or goes on after a thought. */
static void begin_agent_message(struct transcript *t, struct item *item, bool has_id)
{
    if (!has_id && t->last_message) {
        item->shown.continues = t->last_message;
        item->root = t->last_root;
    } else {
        clear_answer(t);
        t->answer_root = item->root;
    }
    t->last_message = item->shown.number;
    t->last_root = item->root;
}

static struct item *begin_message(struct transcript *t, enum transcript_item_kind kind,
                                  struct acp_str id)
{
    end_open(t);
    struct item *item = item_add(t, kind);
    if (!item)
        return NULL;
    if (id.len)
        (void) track(t, item, letter_of(kind), id);
    t->open = item;
    if (kind == ITEM_MESSAGE) {
        begin_agent_message(t, item, id.len > 0);
    } else if (kind == ITEM_USER_MESSAGE) {
        t->last_message = 0;
        item->shown.is_echo = t->turn.state == TURN_RUNNING && t->prompt.len > 0;
        if (t->turn.state != TURN_RUNNING)
            clear_answer(t); /* a replay: this is where a turn begins */
    }
    return item;
}

/* A message of the user is an echo as long as its text is the prompt's; more comes at offset. */
static void check_echo(struct transcript *t, struct item *item, size_t offset, struct acp_str text)
{
    struct acp_str prompt = acp_buf_view(&t->prompt);
    if (item->shown.is_echo)
        item->shown.is_echo = offset <= prompt.len && text.len <= prompt.len - offset &&
                              acp_str_eq(text, acp_str_n(prompt.ptr + offset, text.len));
}

static struct acp_str cut_id(struct acp_str id)
{
    if (id.len > TRANSCRIPT_MAX_ID)
        id.len = TRANSCRIPT_MAX_ID;
    return id;
}

void fold_chunk(struct transcript *t, enum transcript_item_kind kind, struct acp_str id,
                const struct acp_content_block *block)
{
    struct acp_str text = block_text(t, block);
    unsigned what = 0;
    if (!text.len)
        return; /* some agents report costs in an empty chunk */
    id = cut_id(id);
    struct item *item = find_message(t, kind, id);
    if (!item) {
        what = CHANGE_NEW;
        item = begin_message(t, kind, id);
    }
    if (!item)
        return;
    item->shown.is_ended = false;
    if (block->is != ACP_CONTENT_BLOCK_TEXT)
        add_block(t, item, item->length, block);
    if (kind == ITEM_USER_MESSAGE)
        check_echo(t, item, item->length, text);
    note_text(t, item, text, what);
    if (is_answer(t, item))
        add_to_answer(t, text);
}

/* ---- Whole messages (version 2) -------------------------------------------------------------- */

/* The text of all blocks. */
static struct acp_str whole_text(struct transcript *t, struct acp_content_block_list content)
{
    if (content.count == 1)
        return block_text(t, &content.items[0]);
    struct acp_str *parts = acp_arena_alloc(&t->arena, content.count * sizeof(*parts));
    size_t len = 0;
    for (size_t i = 0; parts && i < content.count; i++) {
        parts[i] = block_text(t, &content.items[i]);
        len += parts[i].len;
    }
    char *text = parts ? acp_arena_alloc(&t->arena, len) : NULL;
    if (!text) {
        t->err = ACP_ERR_NOMEM;
        return (struct acp_str){0};
    }
    size_t at = 0;
    for (size_t i = 0; i < content.count; i++) {
        if (parts[i].len)
            (void) memcpy(text + at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    return acp_str_n(text, len);
}

static void replace_blocks(struct transcript *t, struct item *item,
                           struct acp_content_block_list content)
{
    size_t offset = 0;
    acp_arena_reset(&item->arena);
    item->shown.blocks = NULL;
    item->last_block = NULL;
    for (size_t i = 0; i < content.count; i++) {
        if (content.items[i].is != ACP_CONTENT_BLOCK_TEXT)
            add_block(t, item, offset, &content.items[i]);
        offset += block_text(t, &content.items[i]).len;
    }
}

/* What has come of the message, where that is kept. */
static struct acp_str text_so_far(const struct transcript *t, const struct item *item)
{
    bool of_answer = is_answer(t, item) && !t->answer_is_cut;
    struct acp_str text = transcript_text(&item->shown);
    if (of_answer && t->answer.len == item->length)
        text = acp_buf_view(&t->answer);
    return text.len == item->length ? text : (struct acp_str){0};
}

/*
 * Agents repeat a message as a whole when they have sent its chunks.  What is known already is not
 * reported again.
 */
void fold_message(struct transcript *t, enum transcript_item_kind kind, struct acp_str id,
                  struct acp_content_block_list content)
{
    id = cut_id(id);
    if (!content.items)
        return; /* absent: it stays as it is */
    struct item *item = find_message(t, kind, id);
    struct acp_str text = acp_str_from("");
    unsigned what = 0;
    if (content.count)
        text = whole_text(t, content);
    if (!item && content.count) {
        what = CHANGE_NEW;
        item = begin_message(t, kind, id);
    }
    if (!item || t->err)
        return;
    struct acp_str before = what ? acp_str_from("") : text_so_far(t, item);
    if (kind == ITEM_USER_MESSAGE)
        check_echo(t, item, 0, text);
    replace_blocks(t, item, content);
    if (before.ptr && text.len >= before.len &&
        acp_str_eq(before, acp_str_n(text.ptr, before.len))) {
        text = acp_str_n(text.ptr + before.len, text.len - before.len);
        if (!text.len && !what)
            return;
        item->shown.is_ended = false;
        note_text(t, item, text, what);
    } else {
        item->shown.is_ended = false;
        note_new_text(t, item, text);
        if (is_answer(t, item)) {
            acp_buf_clear(&t->answer);
            t->answer_is_cut = false;
        }
    }
    if (is_answer(t, item))
        add_to_answer(t, text);
}
