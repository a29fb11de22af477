/* Anthropic's Messages: https://docs.anthropic.com/en/api/messages */
#include "model/claude.h"
#include "model/dialect.h"
#include "model/pick.h"
#include "model/schema_fold.h"

/* Tokens of an answer where nobody has asked for a number, and the model is one that... */
enum {
    OLD_MAX_TOKENS = 32 * 1000, /* ...has a small window, which the answer is a part of */
    OTHER_MAX_TOKENS = 16 * 1024,
    LEAST_BUDGET = 1024,
    MAX_ID = 64,
};

/* ---- Thinking -------------------------------------------------------------------------------- */

/* What a request says of thinking. */
struct thinking {
    enum { SAYS_NOTHING, DISABLED, ADAPTIVE, BUDGET } is;
    const char *effort; /* ADAPTIVE; NULL: the model's own */
    uint64_t budget;
    uint64_t max_tokens;
};

/* Thoughts go back only with their signature, and there are no empty texts. */
static bool is_sent(const struct model_ask *ask, const struct model_part *part)
{
    if (part->kind == MODEL_THOUGHT)
        return dialect_seal(&dialect_anthropic, ask, part).ptr;
    return part->kind != MODEL_TEXT || part->text.len;
}

/*
 * With a budget, an answer whose calls have just been carried out must begin with its thoughts.
 * Where those were another model's there is no thinking until the next prompt.
 */
static bool allows_budget(const struct model_ask *ask)
{
    for (size_t i = ask->message_count; i-- > 0;) {
        const struct model_message *message = &ask->messages[i];
        bool has_call = false;
        if (message->role != MODEL_ASSISTANT)
            continue;
        for (size_t k = 0; k < message->part_count; k++)
            has_call = has_call || message->parts[k].kind == MODEL_CALL;
        for (size_t k = 0; has_call && k < message->part_count; k++) {
            if (is_sent(ask, &message->parts[k]))
                return message->parts[k].kind == MODEL_THOUGHT;
        }
        return true;
    }
    return true;
}

/* What the caller knows, or the table of models; that has nothing of an imitation's model. */
static enum model_thinking way_of_thinking(const struct model_ask *ask, const struct claude *claude)
{
    if (ask->thinking || !claude->is_claude)
        return ask->thinking;
    return facts_of(ask->model).thinking;
}

static struct thinking thinking_for(const struct model_ask *ask, const struct claude *claude,
                                    enum model_thinking way)
{
    struct thinking t = {.is = SAYS_NOTHING};
    switch (way) {
    case MODEL_THINKING_UNKNOWN:
        t.is = ask->effort >= MODEL_EFFORT_LOW ? ADAPTIVE : SAYS_NOTHING;
        break;
    case MODEL_THINKING_NONE:
        break;
    case MODEL_THINKING_BUDGET:
        t.budget = allows_budget(ask) ? claude_budget(ask->effort) : 0;
        t.is = t.budget ? BUDGET : SAYS_NOTHING;
        break;
    case MODEL_THINKING_ADAPTIVE:
    case MODEL_THINKING_EFFORT:
        t.is = ask->effort == MODEL_EFFORT_NONE && !claude->always ? DISABLED : ADAPTIVE;
        break;
    }
    if (t.is == ADAPTIVE)
        t.effort = claude_effort(claude, dialect_effort(ask));
    return t;
}

/* max_tokens is for thoughts and answer together, and a budget must be smaller. */
static void share_tokens(const struct model_ask *ask, enum model_thinking way, struct thinking *t)
{
    uint64_t usual = way == MODEL_THINKING_UNKNOWN    ? OTHER_MAX_TOKENS
                     : way >= MODEL_THINKING_ADAPTIVE ? limits_of(ask).max_output
                                                      : OLD_MAX_TOKENS;
    uint64_t tokens = ask->max_tokens ? ask->max_tokens : usual;
    if (t->is == ADAPTIVE && ask->max_tokens)
        tokens += DIALECT_THINKING_ROOM;
    t->max_tokens = limits_clamp(ask, tokens + t->budget);
    if (t->budget * 2 > t->max_tokens && t->budget + ask->max_tokens > t->max_tokens)
        t->budget = t->max_tokens / 2;
    if (t->is == BUDGET && t->budget < LEAST_BUDGET)
        t->is = SAYS_NOTHING;
}

static void put_thinking(struct acp_json_writer *w, const struct thinking *t)
{
    if (t->is == SAYS_NOTHING)
        return;
    dialect_key(w, "thinking");
    acp_json_begin_object(w);
    dialect_put_str(w, "type",
                    acp_str_from(t->is == DISABLED   ? "disabled"
                                 : t->is == ADAPTIVE ? "adaptive"
                                                     : "enabled"));
    if (t->is == ADAPTIVE)
        dialect_put_str(w, "display", acp_str_from("summarized"));
    if (t->is == BUDGET)
        dialect_put_u64(w, "budget_tokens", t->budget);
    acp_json_end_object(w);
    if (!t->effort)
        return;
    dialect_key(w, "output_config");
    acp_json_begin_object(w);
    dialect_put_str(w, "effort", acp_str_from(t->effort));
    acp_json_end_object(w);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* What is before this mark is the same in the next request, and is kept by the service. */
static void put_cache_mark(struct acp_json_writer *w)
{
    dialect_put_raw(w, "cache_control", acp_raw_from("{\"type\":\"ephemeral\"}"));
}

static void put_media(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_put_str(w, "type", acp_str_from("image"));
    dialect_key(w, "source");
    acp_json_begin_object(w);
    dialect_put_str(w, "type", acp_str_from("base64"));
    dialect_put_str(w, "media_type", part->mime);
    dialect_put_str(w, "data", part->data);
    acp_json_end_object(w);
}

static void put_result(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_put_str(w, "type", acp_str_from("tool_result"));
    dialect_put_id(w, "tool_use_id", part->id, NAMES_PLAIN, MAX_ID);
    dialect_put_str(w, "content", part->text.ptr ? part->text : acp_str_from(""));
    if (part->failed)
        dialect_put_bool(w, "is_error", true);
}

static void put_thought(struct acp_json_writer *w, const struct model_part *part,
                        struct acp_raw signature)
{
    dialect_put_str(w, "type", acp_str_from("thinking"));
    dialect_put_str(w, "thinking", part->text.ptr ? part->text : acp_str_from(""));
    dialect_put_raw(w, "signature", signature);
}

static void put_call(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_put_str(w, "type", acp_str_from("tool_use"));
    dialect_put_id(w, "id", part->id, NAMES_PLAIN, MAX_ID);
    dialect_put_name(w, "name", part->name, NAMES_PLAIN);
    dialect_key(w, "input");
    dialect_write_arguments(w, part);
}

static void put_part(struct acp_json_writer *w, const struct model_ask *ask,
                     const struct model_part *part, bool mark)
{
    struct acp_raw seal = dialect_seal(&dialect_anthropic, ask, part);
    if (part->kind == MODEL_THOUGHT && seal.len && *seal.ptr == '{') {
        acp_json_write_raw(w, seal); /* one that was not shown: the whole block */
        return;
    }
    acp_json_begin_object(w);
    switch (part->kind) {
    case MODEL_TEXT:
        dialect_put_str(w, "type", acp_str_from("text"));
        dialect_put_str(w, "text", part->text);
        break;
    case MODEL_RESOURCE:
        dialect_put_str(w, "type", acp_str_from("text"));
        dialect_put_resource(w, "text", part);
        break;
    case MODEL_IMAGE:
    case MODEL_AUDIO:
        put_media(w, part);
        break;
    case MODEL_THOUGHT:
        put_thought(w, part, seal);
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

/* One message; the last of its parts gets a mark where that is due. */
static void put_turn(struct acp_json_writer *w, const struct model_ask *ask,
                     const struct dialect_turn *turn, bool mark)
{
    const struct model_part *last = NULL;
    const struct model_part *part;
    struct dialect_walk walk = {0};
    while ((part = dialect_next_part(ask, turn, &walk)) != NULL)
        last = is_sent(ask, part) ? part : last;
    acp_json_begin_object(w);
    dialect_put_str(w, "role", acp_str_from(turn->role == MODEL_USER ? "user" : "assistant"));
    dialect_key(w, "content");
    acp_json_begin_array(w);
    walk = (struct dialect_walk){0};
    while ((part = dialect_next_part(ask, turn, &walk)) != NULL) {
        if (is_sent(ask, part))
            put_part(w, ask, part, mark && part == last);
    }
    acp_json_end_array(w);
    acp_json_end_object(w);
}

/* The last turn of the user is marked, and the one before, which the last request ended with. */
static void put_messages(struct acp_json_writer *w, const struct model_ask *ask)
{
    struct dialect_turn turn = {0};
    size_t users = 0;
    size_t seen = 0;
    while (dialect_next_turn(ask, is_sent, &turn))
        users += turn.role == MODEL_USER;
    turn = (struct dialect_turn){0};
    dialect_key(w, "messages");
    acp_json_begin_array(w);
    while (dialect_next_turn(ask, is_sent, &turn)) {
        bool is_user = turn.role == MODEL_USER;
        seen += is_user;
        put_turn(w, ask, &turn, is_user && seen + 2 > users);
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
        dialect_put_name(w, "name", ask->tools[i].name, NAMES_PLAIN);
        dialect_put_str(w, "description", ask->tools[i].description);
        dialect_key(w, "input_schema");
        schema_write(ask->tools[i].schema, SCHEMA_ANTHROPIC, w);
        if (i + 1 == ask->tool_count)
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
    dialect_put_str(w, "type", acp_str_from("text"));
    dialect_put_str(w, "text", ask->system);
    put_cache_mark(w);
    acp_json_end_object(w);
    acp_json_end_array(w);
}

static void write(const struct model_ask *ask, struct acp_json_writer *w)
{
    struct claude claude = claude_of(ask->model);
    enum model_thinking way = way_of_thinking(ask, &claude);
    struct thinking thinking = thinking_for(ask, &claude, way);
    share_tokens(ask, way, &thinking);
    bool thinks = thinking.is == ADAPTIVE || thinking.is == BUDGET;
    acp_json_begin_object(w);
    dialect_put_str(w, "model", ask->model);
    dialect_put_u64(w, "max_tokens", thinking.max_tokens);
    dialect_put_bool(w, "stream", true);
    put_thinking(w, &thinking);
    if (ask->temperature.has == ACP_PRESENT && !thinks && claude_takes_temperature(&claude)) {
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
    return acp_buf_append_str(url, acp_str_from("/v1/messages"));
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
        stream_call_end(s, key, acp_str_from(NULL));
    else
        stream_part_end(s);
}

/* The stop reason since Claude 4.5 where the conversation fills the window. */
#define WINDOW_FULL "model_context_window_exceeded"

static void read_message_delta(struct model_stream *s, struct acp_raw event)
{
    static const struct {
        const char *name;
        enum model_stop stop;
    } reasons[] = {
        {"tool_use", MODEL_CALLS},
        {"max_tokens", MODEL_MAX_TOKENS},
        {WINDOW_FULL, MODEL_MAX_TOKENS},
        {"refusal", MODEL_REFUSAL},
    };
    if (pick_str(event, "delta.stop_reason", &s->event).ptr) {
        enum model_stop stop = MODEL_END;
        for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
            if (pick_is(event, "delta.stop_reason", reasons[i].name))
                stop = reasons[i].stop;
        }
        stream_stop(s, stop);
        s->is_window_full = pick_is(event, "delta.stop_reason", WINDOW_FULL);
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
