/* OpenAI's responses: https://platform.openai.com/docs/api-reference/responses */
#include "model/openai.h"
#include "model/pick.h"
#include "model/schema_fold.h"

enum { MAX_ID = 64 };

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_user_part(struct acp_json_writer *w, const struct model_part *part)
{
    acp_json_begin_object(w);
    if (part->kind == MODEL_IMAGE) {
        dialect_put_str(w, "type", acp_str_from("input_image"));
        openai_put_data_url(w, "image_url", part);
    } else {
        dialect_put_str(w, "type", acp_str_from("input_text"));
        if (part->kind == MODEL_RESOURCE)
            dialect_put_resource(w, "text", part);
        else
            dialect_put_str(w, "text", part->text);
    }
    acp_json_end_object(w);
}

static void put_result(struct acp_json_writer *w, const struct model_part *part)
{
    acp_json_begin_object(w);
    dialect_put_str(w, "type", acp_str_from("function_call_output"));
    dialect_put_id(w, "call_id", part->id, NAMES_PLAIN, MAX_ID);
    openai_put_result_text(w, "output", part);
    acp_json_end_object(w);
}

/* Results are items of their own; the rest of the message follows them as one. */
static void put_user(struct acp_json_writer *w, const struct model_message *message)
{
    size_t others = 0;
    for (size_t i = 0; i < message->part_count; i++) {
        if (message->parts[i].kind == MODEL_RESULT)
            put_result(w, &message->parts[i]);
        else
            others++;
    }
    if (!others)
        return;
    acp_json_begin_object(w);
    dialect_put_str(w, "type", acp_str_from("message"));
    dialect_put_str(w, "role", acp_str_from("user"));
    dialect_key(w, "content");
    acp_json_begin_array(w);
    for (size_t i = 0; i < message->part_count; i++) {
        if (message->parts[i].kind != MODEL_RESULT)
            put_user_part(w, &message->parts[i]);
    }
    acp_json_end_array(w);
    acp_json_end_object(w);
}

/* Its seal is the phase that the model has said it in: a comment on its work, or the answer. */
static void put_said(struct acp_json_writer *w, const struct model_part *part, struct acp_raw phase)
{
    acp_json_begin_object(w);
    dialect_put_str(w, "type", acp_str_from("message"));
    dialect_put_str(w, "role", acp_str_from("assistant"));
    dialect_put_raw(w, "phase", phase);
    dialect_key(w, "content");
    acp_json_begin_array(w);
    acp_json_begin_object(w);
    dialect_put_str(w, "type", acp_str_from("output_text"));
    dialect_put_str(w, "text", part->text);
    acp_json_end_object(w);
    acp_json_end_array(w);
    acp_json_end_object(w);
}

static void put_call(struct acp_json_writer *w, const struct model_part *part)
{
    acp_json_begin_object(w);
    dialect_put_str(w, "type", acp_str_from("function_call"));
    dialect_put_id(w, "call_id", part->id, NAMES_PLAIN, MAX_ID);
    dialect_put_name(w, "name", part->name, NAMES_PLAIN);
    openai_put_arguments(w, part);
    acp_json_end_object(w);
}

static void put_assistant(struct acp_json_writer *w, const struct model_ask *ask,
                          const struct model_message *message)
{
    for (size_t i = 0; i < message->part_count; i++) {
        const struct model_part *part = &message->parts[i];
        struct acp_raw seal = dialect_seal(&dialect_responses, ask, part);
        if (part->kind == MODEL_TEXT && part->text.len)
            put_said(w, part, seal);
        else if (part->kind == MODEL_CALL)
            put_call(w, part);
        else if (part->kind == MODEL_THOUGHT && seal.ptr)
            acp_json_write_raw(w, seal);
    }
}

static void put_tools(struct acp_json_writer *w, const struct model_ask *ask)
{
    if (!ask->tool_count)
        return;
    dialect_key(w, "tools");
    acp_json_begin_array(w);
    for (size_t i = 0; i < ask->tool_count; i++) {
        acp_json_begin_object(w);
        dialect_put_str(w, "type", acp_str_from("function"));
        dialect_put_name(w, "name", ask->tools[i].name, NAMES_PLAIN);
        dialect_put_str(w, "description", ask->tools[i].description);
        dialect_key(w, "parameters");
        schema_write(ask->tools[i].schema, SCHEMA_OPENAI, w);
        dialect_put_bool(w, "strict", false);
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
}

/* Thoughts come back encrypted, so that the service need not keep the conversation. */
static void put_thinking(struct acp_json_writer *w, const struct model_ask *ask)
{
    const char *effort = openai_effort(ask);
    bool sums_up = openai_sums_up(ask->model) && !acp_str_is(acp_str_from(effort), "none");
    dialect_put_raw(w, "include", acp_raw_from("[\"reasoning.encrypted_content\"]"));
    if (!effort && !sums_up)
        return;
    dialect_key(w, "reasoning");
    acp_json_begin_object(w);
    dialect_put_str(w, "effort", acp_str_from(effort));
    if (sums_up)
        dialect_put_str(w, "summary", acp_str_from("auto"));
    acp_json_end_object(w);
}

static void put_max_tokens(struct acp_json_writer *w, const struct model_ask *ask)
{
    uint64_t room = openai_thinks(ask->model) ? DIALECT_THINKING_ROOM : 0;
    if (ask->max_tokens)
        dialect_put_u64(w, "max_output_tokens", limits_clamp(ask, ask->max_tokens + room));
}

static void write(const struct model_ask *ask, struct acp_json_writer *w)
{
    acp_json_begin_object(w);
    dialect_put_str(w, "model", ask->model);
    dialect_put_bool(w, "stream", true);
    dialect_put_bool(w, "store", false);
    openai_put_cache_key(w, ask);
    put_max_tokens(w, ask);
    if (openai_thinks(ask->model)) {
        put_thinking(w, ask);
    } else if (ask->temperature.has == ACP_PRESENT) {
        dialect_key(w, "temperature");
        acp_json_write_f64(w, ask->temperature.value);
    }
    if (ask->system.len)
        dialect_put_str(w, "instructions", ask->system);
    dialect_key(w, "input");
    acp_json_begin_array(w);
    for (size_t i = 0; i < ask->message_count; i++) {
        if (ask->messages[i].role == MODEL_USER)
            put_user(w, &ask->messages[i]);
        else
            put_assistant(w, ask, &ask->messages[i]);
    }
    acp_json_end_array(w);
    put_tools(w, ask);
    acp_json_end_object(w);
}

static int path(struct acp_str model, struct acp_buf *url)
{
    (void) model;
    return acp_buf_append_str(url, acp_str_from("/responses"));
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The item of a thought as it must be sent again. */
static void seal_thought(struct model_stream *s, struct acp_raw item)
{
    struct acp_raw content = pick_quoted(item, "encrypted_content");
    if (!content.ptr)
        return;
    struct acp_buf text;
    struct acp_json_writer w;
    struct acp_raw summary = pick(item, "summary");
    acp_buf_init(&text, STREAM_MAX_ANSWER);
    acp_json_writer_init(&w, &text);
    acp_json_begin_object(&w);
    dialect_put_str(&w, "type", acp_str_from("reasoning"));
    dialect_put_raw(&w, "id", pick(item, "id"));
    dialect_put_raw(&w, "summary", summary.ptr ? summary : acp_raw_from("[]"));
    dialect_put_raw(&w, "encrypted_content", content);
    acp_json_end_object(&w);
    if (w.err && !s->err)
        s->err = w.err;
    struct acp_str sealed = acp_buf_view(&text);
    stream_seal(s, dialect_responses.name, acp_raw_n(sealed.ptr, sealed.len));
    acp_buf_finish(&text);
}

static void read_item_added(struct model_stream *s, struct acp_raw event)
{
    struct acp_raw item = pick(event, "item");
    stream_part_end(s);
    if (pick_is(item, "type", "function_call"))
        stream_call(s, (size_t) pick_u64(event, "output_index", 0),
                    pick_str(item, "call_id", &s->event), pick_str(item, "name", &s->event));
}

static void read_item_done(struct model_stream *s, struct acp_raw event)
{
    struct acp_raw item = pick(event, "item");
    if (pick_is(item, "type", "function_call")) {
        stream_call_end(s, (size_t) pick_u64(event, "output_index", 0),
                        pick_str(item, "arguments", &s->event));
    } else if (pick_is(item, "type", "reasoning")) {
        stream_begin(s, MODEL_THOUGHT);
        seal_thought(s, item);
    } else if (pick_is(item, "type", "message") && pick_quoted(item, "phase").ptr) {
        stream_begin(s, MODEL_TEXT);
        stream_seal(s, dialect_responses.name, pick_quoted(item, "phase"));
    }
    stream_part_end(s);
}

/* Of a summary of several parts each is a paragraph. */
static void read_summary_part(struct model_stream *s, struct acp_raw event)
{
    if (pick_u64(event, "summary_index", 0) > 0)
        stream_thought(s, acp_str_from("\n\n"));
}

static void read_usage(struct model_stream *s, struct acp_raw usage)
{
    if (!usage.ptr || *usage.ptr != '{')
        return;
    s->usage.input = pick_u64(usage, "input_tokens", 0);
    s->usage.output = pick_u64(usage, "output_tokens", 0);
    s->usage.cached = pick_u64(usage, "input_tokens_details.cached_tokens", 0);
    s->usage.written = pick_u64(usage, "input_tokens_details.cache_write_tokens", 0);
    stream_usage(s);
}

static void read_end(struct model_stream *s, struct acp_raw response, bool incomplete)
{
    enum model_stop stop = s->calls ? MODEL_CALLS : MODEL_END;
    if (incomplete)
        stop = pick_is(response, "incomplete_details.reason", "content_filter") ? MODEL_REFUSAL
                                                                                : MODEL_MAX_TOKENS;
    else if (s->has_stop)
        stop = s->stop; /* it has refused */
    stream_stop(s, stop);
    read_usage(s, pick(response, "usage"));
    s->is_complete = true;
}

static void read_refusal(struct model_stream *s, struct acp_raw event)
{
    stream_text(s, pick_str(event, "delta", &s->event));
    stream_stop(s, MODEL_REFUSAL);
}

static void read(struct model_stream *s, struct acp_raw event)
{
    if (pick_is(event, "type", "response.output_text.delta"))
        stream_text(s, pick_str(event, "delta", &s->event));
    else if (pick_is(event, "type", "response.function_call_arguments.delta"))
        stream_arguments(s, (size_t) pick_u64(event, "output_index", 0),
                         pick_str(event, "delta", &s->event));
    else if (pick_is(event, "type", "response.reasoning_summary_text.delta") ||
             pick_is(event, "type", "response.reasoning_text.delta"))
        stream_thought(s, pick_str(event, "delta", &s->event));
    else if (pick_is(event, "type", "response.reasoning_summary_part.added"))
        read_summary_part(s, event);
    else if (pick_is(event, "type", "response.refusal.delta"))
        read_refusal(s, event);
    else if (pick_is(event, "type", "response.output_item.added"))
        read_item_added(s, event);
    else if (pick_is(event, "type", "response.output_item.done"))
        read_item_done(s, event);
    else if (pick_is(event, "type", "response.completed"))
        read_end(s, pick(event, "response"), false);
    else if (pick_is(event, "type", "response.incomplete"))
        read_end(s, pick(event, "response"), true);
    else if (pick_is(event, "type", "response.failed"))
        (void) dialect_read_error(s, pick(event, "response"), 0);
    else if (pick_is(event, "type", "error") || pick(event, "error").ptr)
        (void) dialect_read_error(s, event, 0);
}

const struct model_dialect dialect_responses = {
    .name = "openai-responses",
    .title = "OpenAI",
    .base_url = "https://api.openai.com/v1",
    .models = "/models",
    .model = "gpt-5.5",
    .rows = "data",
    .takes = 1u << MODEL_TEXT | 1u << MODEL_IMAGE | 1u << MODEL_RESOURCE | 1u << MODEL_RESULT,
    .path = path,
    .write = write,
    .read = read,
};
