/*
 * OpenAI's chat completions, which Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and many others
 * speak too: https://platform.openai.com/docs/api-reference/chat
 */
#include <stdio.h>

#include "model/chat_details.h"
#include "model/openai.h"
#include "model/pick.h"
#include "model/schema_fold.h"

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_audio(struct acp_json_writer *w, const struct model_part *part)
{
    /* "audio/wav" is "wav" there, "audio/mpeg" "mp3". */
    const char *slash = memchr(part->mime.ptr, '/', part->mime.len);
    struct acp_str format = part->mime;
    if (slash)
        format = acp_str_n(slash + 1, part->mime.len - (size_t) (slash - part->mime.ptr) - 1);
    if (acp_str_is(format, "mpeg"))
        format = acp_str_from("mp3");
    if (acp_str_is(format, "x-wav"))
        format = acp_str_from("wav");
    dialect_put_str(w, "type", acp_str_from("input_audio"));
    dialect_key(w, "input_audio");
    acp_json_begin_object(w);
    dialect_put_str(w, "data", part->data);
    dialect_put_str(w, "format", format);
    acp_json_end_object(w);
}

static void put_user_part(struct acp_json_writer *w, const struct model_part *part)
{
    acp_json_begin_object(w);
    if (part->kind == MODEL_IMAGE) {
        dialect_put_str(w, "type", acp_str_from("image_url"));
        dialect_key(w, "image_url");
        acp_json_begin_object(w);
        openai_put_data_url(w, "url", part);
        acp_json_end_object(w);
    } else if (part->kind == MODEL_AUDIO) {
        put_audio(w, part);
    } else {
        dialect_put_str(w, "type", acp_str_from("text"));
        if (part->kind == MODEL_RESOURCE)
            dialect_put_resource(w, "text", part);
        else
            dialect_put_str(w, "text", part->text);
    }
    acp_json_end_object(w);
}

/* ---- Writing: messages ----------------------------------------------------------------------- */

/* Mistral's ids are nine letters and digits, OpenAI's at most 40 characters of any kind. */
static void put_call_id(struct acp_json_writer *w, const char *key, const struct model_ask *ask,
                        struct acp_str id)
{
    enum { MISTRALS = 9, MAX_ID = 40 };
    static const char *const families[] = {"mistral",  "ministral", "codestral",
                                           "devstral", "pixtral",   "magistral"};
    bool is_mistral = false;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        is_mistral = is_mistral || acp_str_starts_with(ask->model, families[i]);
    if (!is_mistral) {
        dialect_put_id(w, key, id, NAMES_ANY, MAX_ID);
        return;
    }
    bool is_own = id.len == MISTRALS;
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        is_own = is_own && (is_letter || (c >= '0' && c <= '9'));
    }
    char own[MISTRALS + 1];
    (void) snprintf(own, sizeof(own), "%09llx",
                    (unsigned long long) (dialect_hash(id) & 0xfffffffffu));
    dialect_put_str(w, key, is_own ? id : acp_str_from(own));
}

/* Thoughts go back with the message that they belong to, if at all. */
static bool is_sent(const struct model_ask *ask, const struct model_part *part)
{
    (void) ask;
    return part->kind != MODEL_THOUGHT && (part->kind != MODEL_TEXT || part->text.len);
}

static bool is_user_part(const struct model_ask *ask, const struct model_part *part)
{
    return part->kind != MODEL_RESULT && is_sent(ask, part);
}

/* A text alone is a string: that is what every imitation understands. */
static void put_user(struct acp_json_writer *w, const struct model_ask *ask,
                     const struct dialect_turn *turn)
{
    const struct model_part *only = NULL;
    const struct model_part *part;
    struct dialect_walk walk = {0};
    size_t count = 0;
    while ((part = dialect_next_part(ask, turn, &walk)) != NULL) {
        count += is_user_part(ask, part);
        only = is_user_part(ask, part) ? part : only;
    }
    if (!count)
        return;
    acp_json_begin_object(w);
    dialect_put_str(w, "role", acp_str_from("user"));
    if (count == 1 && only->kind == MODEL_TEXT) {
        dialect_put_str(w, "content", only->text);
    } else {
        dialect_key(w, "content");
        acp_json_begin_array(w);
        walk = (struct dialect_walk){0};
        while ((part = dialect_next_part(ask, turn, &walk)) != NULL) {
            if (is_user_part(ask, part))
                put_user_part(w, part);
        }
        acp_json_end_array(w);
    }
    acp_json_end_object(w);
}

/* Results are messages of their own, right behind the calls. */
static void put_results(struct acp_json_writer *w, const struct model_ask *ask,
                        const struct dialect_turn *turn)
{
    const struct model_part *part;
    struct dialect_walk walk = {0};
    while ((part = dialect_next_part(ask, turn, &walk)) != NULL) {
        if (part->kind != MODEL_RESULT)
            continue;
        acp_json_begin_object(w);
        dialect_put_str(w, "role", acp_str_from("tool"));
        put_call_id(w, "tool_call_id", ask, part->id);
        openai_put_result_text(w, "content", part);
        acp_json_end_object(w);
    }
}

/* Whether there are any. */
static bool put_calls(struct acp_json_writer *w, const struct model_ask *ask,
                      const struct model_message *message)
{
    bool begun = false;
    for (size_t i = 0; i < message->part_count; i++) {
        const struct model_part *part = &message->parts[i];
        if (part->kind != MODEL_CALL)
            continue;
        if (!begun) {
            dialect_key(w, "tool_calls");
            acp_json_begin_array(w);
        }
        begun = true;
        acp_json_begin_object(w);
        put_call_id(w, "id", ask, part->id);
        dialect_put_str(w, "type", acp_str_from("function"));
        dialect_key(w, "function");
        acp_json_begin_object(w);
        dialect_put_name(w, "name", part->name, NAMES_PLAIN);
        openai_put_arguments(w, part);
        acp_json_end_object(w);
        acp_json_end_object(w);
    }
    if (begun)
        acp_json_end_array(w);
    return begun;
}

/* DeepSeek's own service, which has fields that others do not know. */
static bool is_deepseek(struct acp_str model)
{
    return acp_str_starts_with(model, "deepseek-");
}

/*
 * The thoughts of a message, in the field that they came in.  Plain ones go with calls only: that
 * is where DeepSeek insists on them, also on empty ones; its older models refuse them elsewhere.
 */
static void put_thoughts(struct acp_json_writer *w, const struct model_ask *ask,
                         const struct model_message *message, bool has_calls)
{
    struct acp_buf text;
    struct acp_raw field = acp_raw_from(NULL);
    acp_buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < message->part_count; i++) {
        const struct model_part *part = &message->parts[i];
        struct acp_raw seal = dialect_seal(&dialect_chat, ask, part);
        if (part->kind != MODEL_THOUGHT || !seal.ptr)
            continue;
        if (*seal.ptr == '[') {
            dialect_put_raw(w, "reasoning_details", seal);
            acp_buf_finish(&text);
            return;
        }
        field = seal;
        int err = acp_buf_append_str(&text, part->text);
        w->err = w->err ? w->err : err;
    }
    if (has_calls && !field.ptr && is_deepseek(ask->model))
        field = acp_raw_from("\"reasoning_content\"");
    if (has_calls && field.len > 2) {
        acp_json_write_key(w, acp_str_n(field.ptr + 1, field.len - 2));
        acp_json_write_str(w, acp_buf_view(&text));
    }
    acp_buf_finish(&text);
}

static void put_assistant(struct acp_json_writer *w, const struct model_ask *ask,
                          const struct model_message *message)
{
    struct acp_buf text;
    acp_buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < message->part_count; i++) {
        int err = message->parts[i].kind == MODEL_TEXT
                      ? acp_buf_append_str(&text, message->parts[i].text)
                      : 0;
        w->err = w->err ? w->err : err;
    }
    acp_json_begin_object(w);
    dialect_put_str(w, "role", acp_str_from("assistant"));
    dialect_put_str(w, "content", acp_buf_view(&text));
    bool has_calls = put_calls(w, ask, message);
    put_thoughts(w, ask, message, has_calls);
    acp_json_end_object(w);
    acp_buf_finish(&text);
}

static void put_messages(struct acp_json_writer *w, const struct model_ask *ask)
{
    struct dialect_turn turn = {0};
    dialect_key(w, "messages");
    acp_json_begin_array(w);
    if (ask->system.len) {
        acp_json_begin_object(w);
        dialect_put_str(w, "role", acp_str_from("system"));
        dialect_put_str(w, "content", ask->system);
        acp_json_end_object(w);
    }
    while (dialect_next_turn(ask, is_sent, &turn)) {
        for (size_t i = turn.begin; turn.role == MODEL_ASSISTANT && i < turn.end; i++) {
            if (ask->messages[i].role == MODEL_ASSISTANT)
                put_assistant(w, ask, &ask->messages[i]);
        }
        if (turn.role == MODEL_USER) {
            put_results(w, ask, &turn);
            put_user(w, ask, &turn);
        }
    }
    acp_json_end_array(w);
}

/* ---- Writing: the rest ----------------------------------------------------------------------- */

static void put_tools(struct acp_json_writer *w, const struct model_ask *ask)
{
    if (!ask->tool_count)
        return;
    dialect_key(w, "tools");
    acp_json_begin_array(w);
    for (size_t i = 0; i < ask->tool_count; i++) {
        acp_json_begin_object(w);
        dialect_put_str(w, "type", acp_str_from("function"));
        dialect_key(w, "function");
        acp_json_begin_object(w);
        dialect_put_name(w, "name", ask->tools[i].name, NAMES_PLAIN);
        dialect_put_str(w, "description", ask->tools[i].description);
        dialect_key(w, "parameters");
        schema_write(ask->tools[i].schema, SCHEMA_OPENAI, w);
        acp_json_end_object(w);
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
}

static void put_thinking(struct acp_json_writer *w, const struct model_ask *ask)
{
    const char *effort = openai_effort(ask);
    if (ask->tool_count && openai_thinks_or_calls(ask->model))
        effort = "none";
    if (is_deepseek(ask->model) && dialect_effort(ask) == MODEL_EFFORT_NONE)
        dialect_put_raw(w, "thinking", acp_raw_from("{\"type\":\"disabled\"}"));
    else
        dialect_put_str(w, "reasoning_effort", acp_str_from(effort));
}

static void write(const struct model_ask *ask, struct acp_json_writer *w)
{
    bool thinks = openai_thinks(ask->model);
    uint64_t room = thinks ? DIALECT_THINKING_ROOM : 0;
    acp_json_begin_object(w);
    dialect_put_str(w, "model", ask->model);
    dialect_put_bool(w, "stream", true);
    dialect_put_raw(w, "stream_options", acp_raw_from("{\"include_usage\":true}"));
    if (openai_is_own(ask->model))
        openai_put_cache_key(w, ask);
    if (ask->max_tokens)
        dialect_put_u64(w, thinks ? "max_completion_tokens" : "max_tokens",
                        limits_clamp(ask, ask->max_tokens + room));
    put_thinking(w, ask);
    if (ask->temperature.has == ACP_PRESENT && !thinks) {
        dialect_key(w, "temperature");
        acp_json_write_f64(w, ask->temperature.value);
    }
    put_messages(w, ask);
    put_tools(w, ask);
    acp_json_end_object(w);
}

static int path(struct acp_str model, struct acp_buf *url)
{
    (void) model;
    return acp_buf_append_str(url, acp_str_from("/chat/completions"));
}

/* ---- Reading --------------------------------------------------------------------------------- */

/*
 * Most services number the calls.  Of those that do not, some send each call in one piece with an
 * id, which begins another one.
 */
static size_t key_of(const struct model_stream *s, struct acp_raw call, struct acp_str id)
{
    uint64_t index = pick_u64(call, "index", UINT64_MAX);
    if (index != UINT64_MAX)
        return (size_t) index;
    return id.len ? s->calls : s->last_key;
}

static void read_call(struct model_stream *s, struct acp_raw call)
{
    struct acp_str id = pick_str(call, "id", &s->event);
    struct acp_raw arguments = pick(call, "function.arguments");
    size_t key = key_of(s, call, id);
    if (!stream_has_call(s, key))
        stream_call(s, key, id, pick_str(call, "function.name", &s->event));
    if (arguments.len && *arguments.ptr == '{') /* an object where a text should be */
        stream_arguments(s, key, acp_str_n(arguments.ptr, arguments.len));
    else
        stream_arguments(s, key, pick_str(arguments, "", &s->event));
}

/* Thoughts, and under which name they go back. */
static void read_thought(struct model_stream *s, struct acp_raw delta)
{
    /* The name depends on who sends them; where there are two they say the same. */
    static const char *const fields[] = {"reasoning_content", "reasoning"};
    static const char *const seals[] = {"\"reasoning_content\"", "\"reasoning\""};
    struct acp_raw details = pick(delta, "reasoning_details");
    for (size_t i = 0; i < 2; i++) {
        struct acp_str thought = pick_str(delta, fields[i], &s->event);
        if (!thought.len)
            continue;
        stream_thought(s, thought);
        if (!stream_is_sealed(s))
            stream_seal(s, dialect_chat.name, acp_raw_from(seals[i]));
        break;
    }
    if (!details.ptr || *details.ptr != '[' || details.len <= 2)
        return;
    stream_begin(s, MODEL_THOUGHT);
    int err = chat_details_add(&s->details, details);
    s->err = s->err ? s->err : err;
}

/* What came of reasoning_details seals the first thought. */
static void seal_details(struct model_stream *s)
{
    struct acp_buf text;
    struct acp_json_writer w;
    if (!s->details.len || s->err)
        return;
    acp_buf_init(&text, STREAM_MAX_ANSWER);
    acp_json_writer_init(&w, &text);
    chat_details_write(&s->details, &w);
    s->err = w.err;
    struct acp_str view = acp_buf_view(&text);
    stream_seal_first(s, MODEL_THOUGHT, dialect_chat.name, acp_raw_n(view.ptr, view.len));
    acp_buf_finish(&text);
    acp_buf_clear(&s->details);
}

static void read_delta(struct model_stream *s, struct acp_raw delta)
{
    read_thought(s, delta);
    stream_text(s, pick_str(delta, "content", &s->event));
    stream_text(s, pick_str(delta, "refusal", &s->event));
    struct acp_raw calls = pick(delta, "tool_calls");
    struct pick_cursor cursor = {0};
    struct acp_raw call;
    while (pick_next(calls, &cursor, &call))
        read_call(s, call);
}

static void read_finish(struct model_stream *s, struct acp_raw choice)
{
    if (!pick_str(choice, "finish_reason", &s->event).ptr)
        return;
    seal_details(s);
    stream_part_end(s);
    if (pick_is(choice, "finish_reason", "length"))
        stream_stop(s, MODEL_MAX_TOKENS);
    else if (pick_is(choice, "finish_reason", "content_filter"))
        stream_stop(s, MODEL_REFUSAL);
    else if (pick_is(choice, "finish_reason", "tool_calls"))
        stream_stop(s, MODEL_CALLS);
    else
        stream_stop(s, MODEL_END);
    stream_calls_end(s);
}

static void read_usage(struct model_stream *s, struct acp_raw usage)
{
    if (!usage.ptr || *usage.ptr != '{')
        return;
    s->usage.input = pick_u64(usage, "prompt_tokens", s->usage.input);
    s->usage.output = pick_u64(usage, "completion_tokens", s->usage.output);
    s->usage.cached = pick_u64(usage, "prompt_cache_hit_tokens", s->usage.cached); /* DeepSeek's */
    s->usage.cached = pick_u64(usage, "prompt_tokens_details.cached_tokens", s->usage.cached);
    s->usage.written =
        pick_u64(usage, "prompt_tokens_details.cache_write_tokens", s->usage.written);
    double cost;
    if (pick_f64(usage, "cost", &cost)) /* OpenRouter's */
        s->usage.cost = acp_some_f64(cost);
    stream_usage(s);
}

static void read(struct model_stream *s, struct acp_raw event)
{
    struct acp_raw choice = pick(event, "choices.0");
    if (choice.ptr) {
        struct acp_raw delta = pick(choice, "delta");
        if (delta.ptr)
            read_delta(s, delta);
        read_finish(s, choice);
    }
    read_usage(s, pick(event, "usage"));
    if (pick(event, "error").ptr)
        (void) dialect_read_error(s, event, 0);
}

const struct model_dialect dialect_chat = {
    .name = "openai-chat",
    .title = "OpenAI",
    .base_url = "https://api.openai.com/v1",
    .models = "/models",
    .model = "gpt-5.5",
    .rows = "data",
    .takes = 1u << MODEL_TEXT | 1u << MODEL_IMAGE | 1u << MODEL_AUDIO | 1u << MODEL_RESOURCE |
             1u << MODEL_RESULT,
    .path = path,
    .write = write,
    .read = read,
};
