/* Anthropic's Messages: https://docs.anthropic.com/en/api/messages */
#include "model/dialect.h"
#include "model/pick.h"

enum {
    USUAL_MAX_TOKENS = 16 * 1024,
    OLD_MAX_TOKENS = 8 * 1024, /* of Claude 3.5 and 3 */
};

/* ---- Which model thinks how ------------------------------------------------------------------ */

enum thinking {
    THINKS_NOT,       /* before Claude 3.7 */
    THINKS_BY_BUDGET, /* to Claude 4.5: a number of tokens */
    THINKS_BY_EFFORT, /* since Claude 4.6: as it sees fit, more or less of it */
};

/*
 * "claude-opus-4-5-20251101" is 4.5, "claude-opus-4-20250514" is 4.0.  As of 2026, by Anthropic's
 * reference: since 4.6 "adaptive" with an effort is what is meant to be used, since 4.7 it is all
 * that is taken, and thoughts are shown only when that is asked for.
 */
static enum thinking thinking_of(struct acp_str model)
{
    static const char *const families[] = {"claude-opus-4", "claude-sonnet-4", "claude-haiku-4"};
    if (acp_str_begins(model, "claude-3-7"))
        return THINKS_BY_BUDGET;
    if (acp_str_begins(model, "claude-3") || acp_str_begins(model, "claude-2"))
        return THINKS_NOT;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        size_t n = strlen(families[i]);
        if (!acp_str_begins(model, families[i]))
            continue;
        struct acp_str minor = acp_str_n(model.ptr + n, model.len - n);
        bool is_number =
            minor.len >= 2 && minor.ptr[0] == '-' && (minor.len == 2 || minor.ptr[2] == '-');
        return is_number && minor.ptr[1] > '5' ? THINKS_BY_EFFORT : THINKS_BY_BUDGET;
    }
    return THINKS_BY_EFFORT;
}

static uint64_t budget_of(enum model_effort effort)
{
    static const uint64_t budgets[] = {
        [MODEL_EFFORT_LOW] = 2048,
        [MODEL_EFFORT_MEDIUM] = 8192,
        [MODEL_EFFORT_HIGH] = 24576,
    };
    return effort >= MODEL_EFFORT_LOW ? budgets[effort] : 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* What is before this mark is the same in the next request, and is kept by the service. */
static void put_cache_mark(struct acp_json_writer *w)
{
    dialect_put_raw(w, "cache_control", acp_raw("{\"type\":\"ephemeral\"}"));
}

static void put_media(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_put_str(w, "type", acp_str("image"));
    dialect_key(w, "source");
    acp_json_begin_object(w);
    dialect_put_str(w, "type", acp_str("base64"));
    dialect_put_str(w, "media_type", part->mime);
    dialect_put_str(w, "data", part->data);
    acp_json_end_object(w);
}

static void put_result(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_put_str(w, "type", acp_str("tool_result"));
    dialect_put_str(w, "tool_use_id", part->id);
    dialect_put_str(w, "content", part->text.ptr ? part->text : acp_str(""));
    if (part->failed)
        dialect_put_bool(w, "is_error", true);
}

static void put_thought(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_put_str(w, "type", acp_str("thinking"));
    dialect_put_str(w, "thinking", part->text.ptr ? part->text : acp_str(""));
    dialect_put_raw(w, "signature", dialect_seal(&dialect_anthropic, part));
}

static void put_call(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_put_str(w, "type", acp_str("tool_use"));
    dialect_put_str(w, "id", part->id);
    dialect_put_str(w, "name", part->name);
    dialect_put_raw(w, "input", dialect_arguments(part));
}

/* Thoughts go back only with their signature, and there are no empty texts. */
static bool is_sent(const struct model_part *part)
{
    if (part->kind == MODEL_THOUGHT)
        return dialect_seal(&dialect_anthropic, part).ptr;
    return part->kind != MODEL_TEXT || part->text.len;
}

static void put_part(struct acp_json_writer *w, const struct model_part *part, bool mark)
{
    struct acp_raw seal = dialect_seal(&dialect_anthropic, part);
    if (part->kind == MODEL_THOUGHT && seal.len && *seal.ptr == '{') {
        acp_json_write_raw(w, seal); /* one that was not shown: the whole block */
        return;
    }
    acp_json_begin_object(w);
    switch (part->kind) {
    case MODEL_TEXT:
        dialect_put_str(w, "type", acp_str("text"));
        dialect_put_str(w, "text", part->text);
        break;
    case MODEL_RESOURCE:
        dialect_put_str(w, "type", acp_str("text"));
        dialect_put_resource(w, "text", part);
        break;
    case MODEL_IMAGE:
    case MODEL_AUDIO:
        put_media(w, part);
        break;
    case MODEL_THOUGHT:
        put_thought(w, part);
        break;
    case MODEL_CALL:
        put_call(w, part);
        break;
    case MODEL_RESULT:
        put_result(w, part);
        break;
    }
    if (mark)
        put_cache_mark(w);
    acp_json_end_object(w);
}

static void put_message(struct acp_json_writer *w, const struct model_message *message, bool mark)
{
    acp_json_begin_object(w);
    dialect_put_str(w, "role", acp_str(message->role == MODEL_USER ? "user" : "assistant"));
    dialect_key(w, "content");
    acp_json_begin_array(w);
    for (size_t i = 0; i < message->part_count; i++) {
        if (is_sent(&message->parts[i]))
            put_part(w, &message->parts[i], mark && i + 1 == message->part_count);
    }
    acp_json_end_array(w);
    acp_json_end_object(w);
}

/* The last message of the user is marked, and the one before, which the last request ended with. */
static void put_messages(struct acp_json_writer *w, const struct model_ask *ask)
{
    size_t users = 0;
    size_t seen = 0;
    for (size_t i = 0; i < ask->message_count; i++)
        users += ask->messages[i].role == MODEL_USER;
    dialect_key(w, "messages");
    acp_json_begin_array(w);
    for (size_t i = 0; i < ask->message_count; i++) {
        bool is_user = ask->messages[i].role == MODEL_USER;
        seen += is_user;
        put_message(w, &ask->messages[i], is_user && seen + 2 > users);
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
        dialect_put_str(w, "name", ask->tools[i].name);
        dialect_put_str(w, "description", ask->tools[i].description);
        dialect_put_raw(w, "input_schema", ask->tools[i].schema);
        /* The tools stand before the system prompt, whose mark is for both. */
        if (i + 1 == ask->tool_count && !ask->system.len)
            put_cache_mark(w);
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
}

static void put_system(struct acp_json_writer *w, const struct model_ask *ask)
{
    if (!ask->system.len)
        return;
    dialect_key(w, "system");
    acp_json_begin_array(w);
    acp_json_begin_object(w);
    dialect_put_str(w, "type", acp_str("text"));
    dialect_put_str(w, "text", ask->system);
    put_cache_mark(w);
    acp_json_end_object(w);
    acp_json_end_array(w);
}

/* Whether it will think; then a temperature is not allowed. */
static bool put_thinking(struct acp_json_writer *w, const struct model_ask *ask, uint64_t budget)
{
    if (budget) {
        dialect_key(w, "thinking");
        acp_json_begin_object(w);
        dialect_put_str(w, "type", acp_str("enabled"));
        dialect_put_u64(w, "budget_tokens", budget);
        acp_json_end_object(w);
        return true;
    }
    if (ask->effort < MODEL_EFFORT_LOW || thinking_of(ask->model) != THINKS_BY_EFFORT)
        return false;
    dialect_put_raw(w, "thinking", acp_raw("{\"type\":\"adaptive\",\"display\":\"summarized\"}"));
    dialect_key(w, "output_config");
    acp_json_begin_object(w);
    dialect_put_str(w, "effort", acp_str(model_effort_name(ask->effort)));
    acp_json_end_object(w);
    return true;
}

static void write(const struct model_ask *ask, struct acp_json_writer *w)
{
    enum thinking thinking = thinking_of(ask->model);
    uint64_t budget = thinking == THINKS_BY_BUDGET ? budget_of(ask->effort) : 0;
    uint64_t usual = thinking == THINKS_NOT ? OLD_MAX_TOKENS : USUAL_MAX_TOKENS;
    uint64_t max_tokens = ask->max_tokens ? ask->max_tokens : usual;
    acp_json_begin_object(w);
    dialect_put_str(w, "model", ask->model);
    dialect_put_u64(w, "max_tokens", max_tokens + budget);
    dialect_put_bool(w, "stream", true);
    if (!put_thinking(w, ask, budget) && ask->temperature.has == ACP_PRESENT) {
        dialect_key(w, "temperature");
        acp_json_write_f64(w, ask->temperature.value);
    }
    put_tools(w, ask);
    put_system(w, ask);
    put_messages(w, ask);
    acp_json_end_object(w);
}

static int path(struct acp_str model, struct acp_buf *url)
{
    (void) model;
    return acp_buf_append_str(url, acp_str("/v1/messages"));
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_usage(struct model_stream *s, struct acp_raw usage)
{
    if (!usage.ptr)
        return;
    struct model_usage *u = &s->usage;
    if (pick(usage, "input_tokens").ptr) {
        u->cached = pick_u64(usage, "cache_read_input_tokens", u->cached);
        u->written = pick_u64(usage, "cache_creation_input_tokens", u->written);
        u->input = pick_u64(usage, "input_tokens", 0) + u->cached + u->written;
    }
    u->output = pick_u64(usage, "output_tokens", u->output);
    stream_usage(s);
}

static void read_block_start(struct model_stream *s, struct acp_raw event)
{
    struct acp_raw block = pick(event, "content_block");
    size_t key = (size_t) pick_u64(event, "index", 0);
    stream_part_end(s);
    if (pick_is(block, "type", "text")) {
        stream_text(s, pick_str(block, "text", &s->event));
    } else if (pick_is(block, "type", "thinking")) {
        stream_begin(s, MODEL_THOUGHT);
        stream_thought(s, pick_str(block, "thinking", &s->event));
    } else if (pick_is(block, "type", "redacted_thinking")) {
        stream_begin(s, MODEL_THOUGHT);
        stream_seal(s, dialect_anthropic.name, block);
    } else if (pick_is(block, "type", "tool_use")) {
        struct acp_raw input = pick(block, "input");
        stream_call(s, key, pick_str(block, "id", &s->event), pick_str(block, "name", &s->event));
        /* Usually empty here; some imitations send all of it at once. */
        if (input.len > 2)
            stream_arguments(s, key, acp_str_n(input.ptr, input.len));
    }
}

static void read_block_delta(struct model_stream *s, struct acp_raw event)
{
    struct acp_raw delta = pick(event, "delta");
    if (pick_is(delta, "type", "text_delta"))
        stream_text(s, pick_str(delta, "text", &s->event));
    else if (pick_is(delta, "type", "thinking_delta"))
        stream_thought(s, pick_str(delta, "thinking", &s->event));
    else if (pick_is(delta, "type", "signature_delta"))
        stream_seal(s, dialect_anthropic.name, pick_quoted(delta, "signature"));
    else if (pick_is(delta, "type", "input_json_delta"))
        stream_arguments(s, (size_t) pick_u64(event, "index", 0),
                         pick_str(delta, "partial_json", &s->event));
}

static void read_block_stop(struct model_stream *s, struct acp_raw event)
{
    size_t key = (size_t) pick_u64(event, "index", 0);
    if (stream_has_call(s, key))
        stream_call_end(s, key, acp_str(NULL));
    else
        stream_part_end(s);
}

static void read_message_delta(struct model_stream *s, struct acp_raw event)
{
    static const struct {
        const char *name;
        enum model_stop stop;
    } reasons[] = {
        {"tool_use", MODEL_CALLS},
        {"max_tokens", MODEL_MAX_TOKENS},
        {"model_context_window_exceeded", MODEL_MAX_TOKENS},
        {"refusal", MODEL_REFUSAL},
    };
    if (pick_str(event, "delta.stop_reason", &s->event).ptr) {
        enum model_stop stop = MODEL_END;
        for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
            if (pick_is(event, "delta.stop_reason", reasons[i].name))
                stop = reasons[i].stop;
        }
        stream_stop(s, stop);
    }
    read_usage(s, pick(event, "usage"));
}

static void read(struct model_stream *s, struct acp_raw event)
{
    if (pick_is(event, "type", "content_block_delta"))
        read_block_delta(s, event);
    else if (pick_is(event, "type", "content_block_start"))
        read_block_start(s, event);
    else if (pick_is(event, "type", "content_block_stop"))
        read_block_stop(s, event);
    else if (pick_is(event, "type", "message_start"))
        read_usage(s, pick(event, "message.usage"));
    else if (pick_is(event, "type", "message_delta"))
        read_message_delta(s, event);
    else if (pick_is(event, "type", "message_stop"))
        s->is_complete = true;
    else
        (void) dialect_read_error(s, event, 0);
}

const struct model_dialect dialect_anthropic = {
    .name = "anthropic",
    .title = "Anthropic",
    .base_url = "https://api.anthropic.com",
    .models = "/v1/models?limit=1000",
    .model = "claude-sonnet-5",
    .rows = "data",
    .takes = 1u << MODEL_TEXT | 1u << MODEL_IMAGE | 1u << MODEL_RESOURCE | 1u << MODEL_RESULT,
    .path = path,
    .write = write,
    .read = read,
};
