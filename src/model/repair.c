/* Changes a request that was refused; docs/models.md has what the services say. */
#include "model/repair.h"

#include "model/pick.h"
#include "model/text_find.h"

/* ---- What is wrong --------------------------------------------------------------------------- */

static bool says_any(struct acp_str words, const char *const *phrases)
{
    for (; *phrases; phrases++) {
        if (text_has(words, *phrases))
            return true;
    }
    return false;
}

/* Whether the service does not accept what it has sealed once. */
static bool refuses_seals(enum model_api api, struct acp_str words)
{
    static const char *const gemini[] = {"thought signature", "thought_signature",
                                         "thoughtSignature", NULL};
    static const char *const responses[] = {"encrypted_content", "encrypted content",
                                            "of type 'reasoning'", NULL};
    static const char *const missing[] = {"must be passed back", "Missing", "missing", NULL};
    switch (api) {
    case MODEL_ANTHROPIC:
        return text_has(words, "thinking") &&
               (text_has(words, "signature") || text_has(words, "cannot be modified"));
    case MODEL_GEMINI:
        return says_any(words, gemini);
    case MODEL_RESPONSES:
        return says_any(words, responses);
    case MODEL_CHAT:
        return (text_has(words, "reasoning_content") || text_has(words, "reasoning_details")) &&
               !says_any(words, missing);
    default:
        return false;
    }
}

/* The number behind a phrase. */
static bool number_behind(struct acp_str words, const char *phrase, uint64_t *ret)
{
    size_t at = text_find(words, acp_str_from(phrase));
    uint64_t number = 0;
    size_t digits = 0;
    if (at == TEXT_NOWHERE)
        return false;
    for (size_t i = at + strlen(phrase); i < words.len && digits < 12; i++, digits++) {
        char c = words.ptr[i];
        if (c < '0' || c > '9')
            break;
        number = number * 10 + (uint64_t) (c - '0');
    }
    *ret = number;
    return digits > 0;
}

static struct acp_raw tools_in(enum model_api api, struct acp_raw request)
{
    return pick(request, api == MODEL_GEMINI ? "tools.0.functionDeclarations" : "tools");
}

static struct acp_str name_of(enum model_api api, struct acp_raw tool, struct acp_arena *arena)
{
    return pick_str(tool, api == MODEL_CHAT ? "function.name" : "name", arena);
}

static size_t count_of(struct acp_raw list)
{
    struct pick_cursor cursor = {0};
    struct acp_raw item;
    size_t count = 0;
    while (pick_next(list, &cursor, &item))
        count++;
    return count;
}

/* "Invalid schema for function 'NAME'": the tool that is named between quotes. */
static bool find_by_name(enum model_api api, struct acp_raw tools, struct acp_str words,
                         size_t *ret)
{
    struct pick_cursor cursor = {0};
    struct acp_raw tool;
    struct acp_arena arena;
    bool found = false;
    acp_arena_init(&arena, 0);
    for (size_t i = 0; !found && pick_next(tools, &cursor, &tool); i++) {
        struct acp_str name = name_of(api, tool, &arena);
        size_t at = name.len ? text_find(words, name) : TEXT_NOWHERE;
        if (at == TEXT_NOWHERE || at == 0 || at + name.len >= words.len)
            continue;
        char before = words.ptr[at - 1];
        char behind = words.ptr[at + name.len];
        found = before == behind && (before == '\'' || before == '`');
        *ret = i;
    }
    acp_arena_finish(&arena);
    return found;
}

static bool find_tool(enum model_api api, struct acp_raw request, struct acp_str words, size_t *ret)
{
    static const char *const marks[] = {
        [MODEL_ANTHROPIC] = "tools.",
        [MODEL_CHAT] = "tools[",
        [MODEL_RESPONSES] = "tools[",
        [MODEL_GEMINI] = "function_declarations[",
    };
    struct acp_raw tools = tools_in(api, request);
    size_t count = count_of(tools);
    uint64_t index;
    if (number_behind(words, marks[api], &index) && index < count) {
        *ret = (size_t) index;
        return true;
    }
    return text_has(words, "function") && find_by_name(api, tools, words, ret);
}

/* A setting that the service names and that may be left out. */
static const char *find_field(struct acp_raw request, struct acp_str words)
{
    static const struct {
        const char *word;
        const char *field;
    } rows[] = {
        {"reasoning.summary", "reasoning.summary"},
        {"reasoning summaries", "reasoning.summary"},
        {"reasoning.effort", "reasoning.effort"},
        {"reasoning_effort", "reasoning_effort"},
        {"output_config", "output_config"},
        {"thinking", "thinking"},
        {"thinking_level", "generationConfig.thinkingConfig"},
        {"thinkingLevel", "generationConfig.thinkingConfig"},
        {"prompt_cache_key", "prompt_cache_key"},
        {"stream_options", "stream_options"},
        {"temperature", "temperature"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (text_has(words, rows[i].word) && pick(request, rows[i].field).ptr)
            return rows[i].field;
    }
    return NULL;
}

struct repair repair_find(enum model_api api, struct acp_raw request, struct acp_str words)
{
    struct repair repair = {.kind = REPAIR_NONE};
    if (text_has(words, "maximum allowed number of output tokens") &&
        number_behind(words, "> ", &repair.tokens) && pick(request, "max_tokens").ptr) {
        repair.kind = REPAIR_MAX_TOKENS;
    } else if (refuses_seals(api, words)) {
        repair.kind = REPAIR_STRIP;
    } else if (find_tool(api, request, words, &repair.tool)) {
        repair.kind = REPAIR_TOOL;
    } else {
        repair.field = find_field(request, words);
        repair.kind = repair.field ? REPAIR_FIELD : REPAIR_NONE;
    }
    return repair;
}

struct acp_str repair_tool_name(enum model_api api, struct acp_raw request,
                                const struct repair *repair, struct acp_arena *arena)
{
    struct pick_cursor cursor = {0};
    struct acp_raw tool;
    for (size_t i = 0; pick_next(tools_in(api, request), &cursor, &tool); i++) {
        if (i == repair->tool)
            return name_of(api, tool, arena);
    }
    return acp_str_from(NULL);
}

/* ---- What is changed ------------------------------------------------------------------------- */

struct change {
    enum model_api api;
    const struct repair *repair;
    struct acp_json_writer *w;
};

/* A walk over the members of an object. */
struct members {
    struct acp_json_reader r;
    struct acp_arena arena;
};

static bool open_members(struct members *m, struct acp_raw object)
{
    acp_arena_init(&m->arena, 0);
    acp_json_reader_init(&m->r, object, &m->arena, 0);
    return acp_json_enter_object(&m->r) == 0;
}

static bool next_member(struct members *m, struct acp_str *ret_key, struct acp_raw *ret_value)
{
    return acp_json_next_key(&m->r, ret_key) > 0 && acp_json_read_raw(&m->r, ret_value) == 0;
}

static void put(struct change *c, struct acp_str key, struct acp_raw value)
{
    if (!value.ptr)
        return;
    acp_json_write_key(c->w, key);
    acp_json_write_raw(c->w, value);
}

/* An object without some of its members. */
static void copy_without(struct change *c, struct acp_raw object, const char *const *left_out)
{
    struct members m;
    struct acp_str key;
    struct acp_raw value;
    acp_json_begin_object(c->w);
    bool open = open_members(&m, object);
    while (open && next_member(&m, &key, &value)) {
        bool out = false;
        for (size_t i = 0; left_out[i]; i++)
            out = out || acp_str_is(key, left_out[i]);
        if (!out)
            put(c, key, value);
    }
    acp_arena_finish(&m.arena);
    acp_json_end_object(c->w);
}

static bool is_thinking(struct acp_raw block)
{
    return pick_is(block, "type", "thinking") || pick_is(block, "type", "redacted_thinking");
}

/* Of a message of Anthropic's, the blocks that are no thoughts; nothing when there are none. */
static void strip_blocks(struct change *c, struct acp_raw message)
{
    struct acp_raw content = pick(message, "content");
    struct pick_cursor cursor = {0};
    struct acp_raw block;
    size_t left = 0;
    while (pick_next(content, &cursor, &block))
        left += !is_thinking(block);
    if (!content.ptr || *content.ptr != '[') {
        acp_json_write_raw(c->w, message);
        return;
    }
    if (!left)
        return;
    acp_json_begin_object(c->w);
    put(c, acp_str_from("role"), pick(message, "role"));
    acp_json_write_key(c->w, acp_str_from("content"));
    acp_json_begin_array(c->w);
    cursor = (struct pick_cursor){0};
    while (pick_next(content, &cursor, &block)) {
        if (!is_thinking(block))
            acp_json_write_raw(c->w, block);
    }
    acp_json_end_array(c->w);
    acp_json_end_object(c->w);
}

/* Gemini wants a signature with the first call of a turn: it gets the word that stands for one. */
static void strip_parts(struct change *c, struct acp_raw content)
{
    static const char *const left_out[] = {"thoughtSignature", NULL};
    struct pick_cursor cursor = {0};
    struct acp_raw part;
    bool has_call = false;
    acp_json_begin_object(c->w);
    put(c, acp_str_from("role"), pick(content, "role"));
    acp_json_write_key(c->w, acp_str_from("parts"));
    acp_json_begin_array(c->w);
    while (pick_next(pick(content, "parts"), &cursor, &part)) {
        struct acp_raw call = pick(part, "functionCall");
        if (!call.ptr || has_call) {
            copy_without(c, part, left_out);
            continue;
        }
        has_call = true;
        acp_json_begin_object(c->w);
        put(c, acp_str_from("functionCall"), call);
        put(c, acp_str_from("thoughtSignature"),
            acp_raw_from("\"skip_thought_signature_validator\""));
        acp_json_end_object(c->w);
    }
    acp_json_end_array(c->w);
    acp_json_end_object(c->w);
}

static void strip_message(struct change *c, struct acp_raw message)
{
    static const char *const thoughts[] = {"reasoning_content", "reasoning", "reasoning_details",
                                           NULL};
    bool is_object = *message.ptr == '{';
    if (is_object && c->api == MODEL_ANTHROPIC)
        strip_blocks(c, message);
    else if (is_object && c->api == MODEL_GEMINI)
        strip_parts(c, message);
    else if (is_object && c->api == MODEL_CHAT)
        copy_without(c, message, thoughts);
    else if (!pick_is(message, "type", "reasoning"))
        acp_json_write_raw(c->w, message);
}

static void write_list(struct change *c, struct acp_raw list)
{
    struct pick_cursor cursor = {0};
    struct acp_raw item;
    acp_json_begin_array(c->w);
    for (size_t i = 0; pick_next(list, &cursor, &item); i++) {
        if (c->repair->kind == REPAIR_STRIP)
            strip_message(c, item);
        else if (i != c->repair->tool)
            acp_json_write_raw(c->w, item);
    }
    acp_json_end_array(c->w);
}

static void write_tools(struct change *c, struct acp_raw request)
{
    struct acp_raw tools = tools_in(c->api, request);
    if (count_of(tools) <= 1)
        return;
    acp_json_write_key(c->w, acp_str_from("tools"));
    if (c->api == MODEL_GEMINI) {
        acp_json_begin_array(c->w);
        acp_json_begin_object(c->w);
        acp_json_write_key(c->w, acp_str_from("functionDeclarations"));
    }
    write_list(c, tools);
    if (c->api == MODEL_GEMINI) {
        acp_json_end_object(c->w);
        acp_json_end_array(c->w);
    }
}

/* A member that is to go, or one of whose members is. */
static void write_field(struct change *c, struct acp_str key, struct acp_raw value)
{
    const char *field = c->repair->field;
    const char *dot = strchr(field, '.');
    if (acp_str_is(key, field))
        return;
    if (!dot || !acp_str_eq(key, acp_str_n(field, (size_t) (dot - field)))) {
        put(c, key, value);
        return;
    }
    const char *const inner[] = {dot + 1, NULL};
    acp_json_write_key(c->w, key);
    copy_without(c, value, inner);
}

static void write_member(struct change *c, struct acp_raw request, struct acp_str key,
                         struct acp_raw value)
{
    bool is_talk =
        acp_str_is(key, "messages") || acp_str_is(key, "input") || acp_str_is(key, "contents");
    switch (c->repair->kind) {
    case REPAIR_STRIP:
        if (is_talk && *value.ptr == '[') {
            acp_json_write_key(c->w, key);
            write_list(c, value);
            return;
        }
        break;
    case REPAIR_TOOL:
        if (acp_str_is(key, "tools")) {
            write_tools(c, request);
            return;
        }
        break;
    case REPAIR_FIELD:
        write_field(c, key, value);
        return;
    case REPAIR_MAX_TOKENS:
        if (acp_str_is(key, "max_tokens")) {
            acp_json_write_key(c->w, key);
            acp_json_write_u64(c->w, c->repair->tokens);
            return;
        }
        break;
    case REPAIR_NONE:
        break;
    }
    put(c, key, value);
}

int repair_apply(enum model_api api, struct acp_raw request, const struct repair *repair,
                 struct acp_buf *ret)
{
    struct acp_json_writer w;
    struct change c = {api, repair, &w};
    struct members m;
    struct acp_str key;
    struct acp_raw value;
    acp_json_writer_init(&w, ret);
    acp_json_begin_object(&w);
    bool open = open_members(&m, request);
    while (open && next_member(&m, &key, &value))
        write_member(&c, request, key, value);
    acp_arena_finish(&m.arena);
    acp_json_end_object(&w);
    return w.err;
}
