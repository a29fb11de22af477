/*
 * OpenAI's chat completions, which Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and many others
 * speak too: https://platform.openai.com/docs/api-reference/chat
 */
#include "model/openai.h"
#include "model/pick.h"

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_audio(struct acp_json_writer *w, const struct model_part *part)
{
    /* "audio/wav" is "wav" there, "audio/mpeg" "mp3". */
    const char *slash = memchr(part->mime.ptr, '/', part->mime.len);
    struct acp_str format = part->mime;
    if (slash)
        format = acp_str_n(slash + 1, part->mime.len - (size_t) (slash - part->mime.ptr) - 1);
    if (acp_str_is(format, "mpeg"))
        format = acp_str("mp3");
    if (acp_str_is(format, "x-wav"))
        format = acp_str("wav");
    dialect_put_str(w, "type", acp_str("input_audio"));
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
        dialect_put_str(w, "type", acp_str("image_url"));
        dialect_key(w, "image_url");
        acp_json_begin_object(w);
        openai_put_data_url(w, "url", part);
        acp_json_end_object(w);
    } else if (part->kind == MODEL_AUDIO) {
        put_audio(w, part);
    } else {
        dialect_put_str(w, "type", acp_str("text"));
        if (part->kind == MODEL_RESOURCE)
            dialect_put_resource(w, "text", part);
        else
            dialect_put_str(w, "text", part->text);
    }
    acp_json_end_object(w);
}

/* A text alone is a string: that is what every imitation understands. */
static void put_user(struct acp_json_writer *w, const struct model_message *message)
{
    const struct model_part *only = NULL;
    size_t count = 0;
    for (size_t i = 0; i < message->part_count; i++) {
        if (message->parts[i].kind != MODEL_RESULT) {
            only = &message->parts[i];
            count++;
        }
    }
    if (!count)
        return;
    acp_json_begin_object(w);
    dialect_put_str(w, "role", acp_str("user"));
    if (count == 1 && only->kind == MODEL_TEXT) {
        dialect_put_str(w, "content", only->text);
    } else {
        dialect_key(w, "content");
        acp_json_begin_array(w);
        for (size_t i = 0; i < message->part_count; i++) {
            if (message->parts[i].kind != MODEL_RESULT)
                put_user_part(w, &message->parts[i]);
        }
        acp_json_end_array(w);
    }
    acp_json_end_object(w);
}

/* Results are messages of their own, right behind the calls. */
static void put_results(struct acp_json_writer *w, const struct model_message *message)
{
    for (size_t i = 0; i < message->part_count; i++) {
        const struct model_part *part = &message->parts[i];
        if (part->kind != MODEL_RESULT)
            continue;
        acp_json_begin_object(w);
        dialect_put_str(w, "role", acp_str("tool"));
        dialect_put_str(w, "tool_call_id", part->id);
        openai_put_result_text(w, "content", part);
        acp_json_end_object(w);
    }
}

static void put_calls(struct acp_json_writer *w, const struct model_message *message)
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
        dialect_put_str(w, "id", part->id);
        dialect_put_str(w, "type", acp_str("function"));
        dialect_key(w, "function");
        acp_json_begin_object(w);
        dialect_put_str(w, "name", part->name);
        openai_put_arguments(w, part);
        acp_json_end_object(w);
        acp_json_end_object(w);
    }
    if (begun)
        acp_json_end_array(w);
}

static void put_assistant(struct acp_json_writer *w, const struct model_message *message)
{
    struct acp_buf text;
    acp_buf_init(&text, SIZE_MAX / 2);
    for (size_t i = 0; i < message->part_count; i++) {
        int err = message->parts[i].kind == MODEL_TEXT
                      ? acp_buf_append_str(&text, message->parts[i].text)
                      : 0;
        if (err && !w->err)
            w->err = err;
    }
    acp_json_begin_object(w);
    dialect_put_str(w, "role", acp_str("assistant"));
    dialect_put_str(w, "content", acp_buf_view(&text));
    put_calls(w, message);
    acp_json_end_object(w);
    acp_buf_finish(&text);
}

static void put_messages(struct acp_json_writer *w, const struct model_ask *ask)
{
    dialect_key(w, "messages");
    acp_json_begin_array(w);
    if (ask->system.len) {
        acp_json_begin_object(w);
        dialect_put_str(w, "role", acp_str("system"));
        dialect_put_str(w, "content", ask->system);
        acp_json_end_object(w);
    }
    for (size_t i = 0; i < ask->message_count; i++) {
        if (ask->messages[i].role == MODEL_ASSISTANT) {
            put_assistant(w, &ask->messages[i]);
            continue;
        }
        put_results(w, &ask->messages[i]);
        put_user(w, &ask->messages[i]);
    }
    acp_json_end_array(w);
}

static void put_tools(struct acp_json_writer *w, const struct model_ask *ask)
{
    if (!ask->tool_count)
        return;
    dialect_key(w, "tools");
    acp_json_begin_array(w);
    for (size_t i = 0; i < ask->tool_count; i++) {
        acp_json_begin_object(w);
        dialect_put_str(w, "type", acp_str("function"));
        dialect_key(w, "function");
        acp_json_begin_object(w);
        dialect_put_str(w, "name", ask->tools[i].name);
        dialect_put_str(w, "description", ask->tools[i].description);
        dialect_put_raw(w, "parameters", ask->tools[i].schema);
        acp_json_end_object(w);
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
}

static void write(const struct model_ask *ask, struct acp_json_writer *w)
{
    bool thinks = openai_thinks(ask->model);
    acp_json_begin_object(w);
    dialect_put_str(w, "model", ask->model);
    dialect_put_bool(w, "stream", true);
    dialect_put_raw(w, "stream_options", acp_raw("{\"include_usage\":true}"));
    if (ask->max_tokens)
        dialect_put_u64(w, thinks ? "max_completion_tokens" : "max_tokens", ask->max_tokens);
    if (ask->tool_count && openai_thinks_or_calls(ask->model))
        dialect_put_str(w, "reasoning_effort", acp_str("none"));
    else if (ask->effort && openai_takes_effort(ask->model))
        dialect_put_str(w, "reasoning_effort", acp_str(openai_effort(ask->model, ask->effort)));
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
    return acp_buf_append_str(url, acp_str("/chat/completions"));
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

static void read_delta(struct model_stream *s, struct acp_raw delta)
{
    /* The name that thoughts have depends on who sends them; none sends both. */
    struct acp_str thought = pick_str(delta, "reasoning_content", &s->event);
    if (!thought.len)
        thought = pick_str(delta, "reasoning", &s->event);
    stream_thought(s, thought);
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
    stream_part_end(s);
    stream_calls_end(s);
    if (pick_is(choice, "finish_reason", "length"))
        stream_stop(s, MODEL_MAX_TOKENS);
    else if (pick_is(choice, "finish_reason", "content_filter"))
        stream_stop(s, MODEL_REFUSAL);
    else if (pick_is(choice, "finish_reason", "tool_calls"))
        stream_stop(s, MODEL_CALLS);
    else
        stream_stop(s, MODEL_END);
}

static void read_usage(struct model_stream *s, struct acp_raw usage)
{
    if (!usage.ptr || *usage.ptr != '{')
        return;
    s->usage.input = pick_u64(usage, "prompt_tokens", s->usage.input);
    s->usage.output = pick_u64(usage, "completion_tokens", s->usage.output);
    s->usage.cached = pick_u64(usage, "prompt_tokens_details.cached_tokens", s->usage.cached);
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
