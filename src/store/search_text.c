/*
 * Takes the words out of an event.  Prompts and updates are read as JSON, not through the codec:
 * both versions of the protocol, and what either does not know, lie in the same log.
 */
#include "store/search_text.h"

#include "acp/json.h"

const char *store_author_name(enum store_author author)
{
    static const char *const names[] = {
        [STORE_USER] = "user", [STORE_AGENT] = "agent", [STORE_THOUGHT] = "thought",
        [STORE_TOOL] = "tool", [STORE_PLAN] = "plan",
    };
    return names[author];
}

size_t store_fit(struct acp_str text, size_t room)
{
    if (text.len <= room)
        return text.len;
    while (room > 0 && ((unsigned char) text.ptr[room] & 0xc0) == 0x80)
        room--;
    return room;
}

struct reading {
    struct acp_arena *arena;
    struct acp_buf *words;
    int err; /* ACP_ERR_NOMEM; everything else is only text that is not there */
};

static void add_words(struct reading *reading, struct acp_str text, const char *between)
{
    struct acp_buf *words = reading->words;
    size_t gap = words->len > 0 ? strlen(between) : 0;
    size_t room = words->max - words->len;
    if (text.len == 0 || room <= gap)
        return;
    int err = acp_buf_append(words, between, gap);
    if (!err)
        err = acp_buf_append(words, text.ptr, store_fit(text, room - gap));
    if (err)
        reading->err = err;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static struct acp_json_reader reader_of(struct reading *reading, struct acp_raw value)
{
    struct acp_json_reader r;
    acp_json_reader_init(&r, value, reading->arena, 0);
    return r;
}

/* A text, or the absent one when the value is none. */
static struct acp_str text_of(struct reading *reading, struct acp_raw value)
{
    struct acp_str text = {NULL, 0};
    if (value.ptr) {
        struct acp_json_reader r = reader_of(reading, value);
        int err = acp_json_read_str(&r, &text);
        if (err == ACP_ERR_NOMEM)
            reading->err = err;
    }
    return text;
}

/* One of the keys that are looked for in an object, and its value once it is found. */
struct member {
    const char *key;
    struct acp_raw value;
};

/* Fills the members that the object has; a key that occurs twice counts where it stands last. */
static void find_members(struct reading *reading, struct acp_raw object, struct member *members,
                         size_t count)
{
    if (!object.ptr)
        return;
    struct acp_json_reader r = reader_of(reading, object);
    struct acp_str key;
    if (acp_json_enter_object(&r))
        return;
    while (acp_json_next_key(&r, &key) > 0) {
        struct acp_raw value;
        if (acp_json_read_raw(&r, &value))
            return;
        for (size_t i = 0; i < count; i++)
            if (acp_str_is(key, members[i].key))
                members[i].value = value;
    }
}

static void add_block(struct reading *reading, struct acp_raw block)
{
    struct member members[] = {{.key = "type"}, {.key = "text"}};
    find_members(reading, block, members, 2);
    if (acp_str_is(text_of(reading, members[0].value), "text"))
        add_words(reading, text_of(reading, members[1].value), "");
}

static void add_plan_entry(struct reading *reading, struct acp_raw entry)
{
    struct member content = {.key = "content"};
    find_members(reading, entry, &content, 1);
    add_words(reading, text_of(reading, content.value), "\n");
}

static void each_item(struct reading *reading, struct acp_raw array,
                      void (*add)(struct reading *reading, struct acp_raw item))
{
    if (!array.ptr)
        return;
    struct acp_json_reader r = reader_of(reading, array);
    if (acp_json_enter_array(&r))
        return;
    while (acp_json_next_item(&r) > 0) {
        struct acp_raw item;
        if (acp_json_read_raw(&r, &item))
            return;
        add(reading, item);
    }
}

/* ---- Updates --------------------------------------------------------------------------------- */

enum { CONTENT, MESSAGE_ID, TOOL_CALL_ID, TITLE, ENTRIES, PLAN, NAME, MEMBERS };

static int say_chunk(struct reading *reading, const struct member *m, enum store_author author,
                     struct store_said *ret)
{
    ret->author = author;
    ret->key = text_of(reading, m[MESSAGE_ID].value);
    add_block(reading, m[CONTENT].value);
    return reading->words->len > 0;
}

static int say_message(struct reading *reading, const struct member *m, enum store_author author,
                       struct store_said *ret)
{
    if (!m[CONTENT].value.ptr)
        return 0; /* the message stays what it was */
    ret->author = author;
    ret->key = text_of(reading, m[MESSAGE_ID].value);
    ret->whole = true;
    each_item(reading, m[CONTENT].value, add_block);
    return 1;
}

static int say_tool(struct reading *reading, const struct member *m, struct store_said *ret)
{
    ret->author = STORE_TOOL;
    ret->key = text_of(reading, m[TOOL_CALL_ID].value);
    ret->whole = true;
    add_words(reading, text_of(reading, m[TITLE].value), "");
    return reading->words->len > 0 && ret->key.ptr;
}

/* Version 1 has entries; the other form has a plan with an id, and entries or markdown in it. */
static int say_plan(struct reading *reading, const struct member *m, struct store_said *ret)
{
    struct member in[] = {{.key = "planId"}, {.key = "entries"}, {.key = "content"}};
    find_members(reading, m[PLAN].value, in, 3);
    ret->author = STORE_PLAN;
    ret->key = text_of(reading, in[0].value);
    ret->whole = true;
    if (!ret->key.ptr)
        ret->key = acp_str_from("");
    each_item(reading, m[ENTRIES].value, add_plan_entry);
    each_item(reading, in[1].value, add_plan_entry);
    add_words(reading, text_of(reading, in[2].value), "\n");
    return reading->words->len > 0;
}

static int say_update(struct reading *reading, struct acp_raw body, struct store_said *ret)
{
    struct member m[MEMBERS] = {
        [CONTENT] = {.key = "content"},         [MESSAGE_ID] = {.key = "messageId"},
        [TOOL_CALL_ID] = {.key = "toolCallId"}, [TITLE] = {.key = "title"},
        [ENTRIES] = {.key = "entries"},         [PLAN] = {.key = "plan"},
        [NAME] = {.key = "sessionUpdate"},
    };
    find_members(reading, body, m, MEMBERS);
    struct acp_str name = text_of(reading, m[NAME].value);
    if (acp_str_is(name, "agent_message_chunk"))
        return say_chunk(reading, m, STORE_AGENT, ret);
    if (acp_str_is(name, "agent_thought_chunk"))
        return say_chunk(reading, m, STORE_THOUGHT, ret);
    if (acp_str_is(name, "user_message_chunk"))
        return say_chunk(reading, m, STORE_USER, ret);
    if (acp_str_is(name, "agent_message"))
        return say_message(reading, m, STORE_AGENT, ret);
    if (acp_str_is(name, "agent_thought"))
        return say_message(reading, m, STORE_THOUGHT, ret);
    if (acp_str_is(name, "user_message"))
        return say_message(reading, m, STORE_USER, ret);
    if (acp_str_is(name, "tool_call") || acp_str_is(name, "tool_call_update"))
        return say_tool(reading, m, ret);
    if (acp_str_is(name, "plan") || acp_str_is(name, "plan_update"))
        return say_plan(reading, m, ret);
    return 0;
}

static int say_prompt(struct reading *reading, struct acp_raw body, struct store_said *ret)
{
    /* A list of blocks; or an object that has them in one of its members. */
    struct member in[] = {{.key = "prompt", .value = body}, {.key = "content"}};
    find_members(reading, body, in, 2);
    ret->author = STORE_USER;
    ret->whole = true;
    each_item(reading, in[0].value, add_block);
    each_item(reading, in[1].value, add_block);
    return reading->words->len > 0;
}

int store_said(const struct store_event *event, struct acp_arena *arena, struct acp_buf *words,
               struct store_said *ret)
{
    struct reading reading = {.arena = arena, .words = words};
    struct store_said said = {.author = STORE_USER};
    acp_buf_clear(words);
    int some = acp_str_is(event->kind, "prompt") ? say_prompt(&reading, event->body, &said)
                                                 : say_update(&reading, event->body, &said);
    if (reading.err)
        return reading.err;
    if (some) {
        said.words = acp_buf_view(words);
        *ret = said;
    }
    return some;
}
