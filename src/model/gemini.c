/* Gemini's streamGenerateContent: https://ai.google.dev/api/generate-content */
#include "model/dialect.h"
#include "model/pick.h"
#include "model/schema_fold.h"
#include "model/text_find.h"

/* ---- Which model is which -------------------------------------------------------------------- */

enum { LATEST = 90 };

/*
 * The first number of "gemini-2.5-pro", times ten: 25; 0 for other names.  "gemini-flash-latest"
 * and the like are the newest there is, whatever its number; since 2026 that is a Gemini 3.
 */
static unsigned version_of(struct acp_str model)
{
    struct acp_str prefix = ACP_STR("gemini-");
    struct acp_str suffix = ACP_STR("-latest");
    if (model.len <= prefix.len || memcmp(model.ptr, prefix.ptr, prefix.len) != 0)
        return 0;
    const char *p = model.ptr + prefix.len;
    const char *end = model.ptr + model.len;
    if (*p < '0' || *p > '9')
        return model.len > prefix.len + suffix.len &&
                       memcmp(end - suffix.len, suffix.ptr, suffix.len) == 0
                   ? LATEST
                   : 0;
    unsigned version = (unsigned) (*p - '0') * 10;
    if (end - p >= 3 && p[1] == '.' && p[2] >= '0' && p[2] <= '9')
        version += (unsigned) (p[2] - '0');
    return version;
}

static bool is_pro(struct acp_str model)
{
    return text_has(model, "-pro");
}

/* Whether it thinks whatever it is told: all since Gemini 3, and 2.5 Pro. */
static bool always_thinks(struct acp_str model)
{
    unsigned version = version_of(model);
    return version >= 30 || (version >= 25 && is_pro(model));
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Since Gemini 3; the sources are in docs/models.md. */
static const char *level_of(struct acp_str model, enum model_effort effort)
{
    unsigned version = version_of(model);
    switch (effort) {
    case MODEL_EFFORT_NONE:
        return version <= 36 && !is_pro(model) ? "minimal" : "low";
    case MODEL_EFFORT_LOW:
        return "low";
    case MODEL_EFFORT_MEDIUM:
        return version == 30 && is_pro(model) ? "high" : "medium";
    default:
        return "high";
    }
}

/* Of Gemini 2.5, in tokens. */
static uint64_t budget_of(struct acp_str model, enum model_effort effort)
{
    enum { LEAST_OF_PRO = 128, MOST_OF_PRO = 32768, MOST = 24576 };
    static const uint64_t budgets[] = {
        [MODEL_EFFORT_LOW] = 2048,
        [MODEL_EFFORT_MEDIUM] = 8192,
        [MODEL_EFFORT_HIGH] = 16384,
    };
    if (effort == MODEL_EFFORT_NONE)
        return is_pro(model) ? LEAST_OF_PRO : 0;
    if (effort <= MODEL_EFFORT_HIGH)
        return budgets[effort];
    return effort == MODEL_EFFORT_MAX && is_pro(model) ? MOST_OF_PRO : MOST;
}

/* A level or a budget, never both. */
static void put_thinking(struct acp_json_writer *w, const struct model_ask *ask)
{
    unsigned version = version_of(ask->model);
    /* None has a level of its own, which no list of efforts names. */
    enum model_effort effort = ask->effort == MODEL_EFFORT_NONE ? ask->effort : dialect_effort(ask);
    if (version < 25)
        return;
    dialect_key(w, "thinkingConfig");
    acp_json_begin_object(w);
    if (always_thinks(ask->model) || ask->effort != MODEL_EFFORT_NONE)
        dialect_put_bool(w, "includeThoughts", true);
    if (effort && version >= 30)
        dialect_put_str(w, "thinkingLevel", acp_str_from(level_of(ask->model, effort)));
    else if (effort)
        dialect_put_u64(w, "thinkingBudget", budget_of(ask->model, effort));
    acp_json_end_object(w);
}

static void put_config(struct acp_json_writer *w, const struct model_ask *ask)
{
    dialect_key(w, "generationConfig");
    acp_json_begin_object(w);
    uint64_t room = always_thinks(ask->model) ? DIALECT_THINKING_ROOM : 0;
    if (ask->max_tokens)
        dialect_put_u64(w, "maxOutputTokens", limits_clamp(ask, ask->max_tokens + room));
    if (ask->temperature.has == ACP_PRESENT) {
        dialect_key(w, "temperature");
        acp_json_write_f64(w, ask->temperature.value);
    }
    put_thinking(w, ask);
    acp_json_end_object(w);
}

/* Ids that we have made up are nothing to it. */
static void put_id(struct acp_json_writer *w, const struct model_part *part)
{
    if (!stream_is_own_id(part->id))
        dialect_put_str(w, "id", part->id);
}

static void put_call(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_key(w, "functionCall");
    acp_json_begin_object(w);
    put_id(w, part);
    dialect_put_name(w, "name", part->name, NAMES_GEMINI);
    dialect_key(w, "args");
    dialect_write_arguments(w, part);
    acp_json_end_object(w);
}

static void put_result(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_key(w, "functionResponse");
    acp_json_begin_object(w);
    put_id(w, part);
    dialect_put_name(w, "name", part->name, NAMES_GEMINI);
    dialect_key(w, "response");
    acp_json_begin_object(w);
    dialect_put_str(w, part->failed ? "error" : "output",
                    part->text.ptr ? part->text : acp_str_from(""));
    acp_json_end_object(w);
    acp_json_end_object(w);
}

static void put_media(struct acp_json_writer *w, const struct model_part *part)
{
    dialect_key(w, "inlineData");
    acp_json_begin_object(w);
    dialect_put_str(w, "mimeType", part->mime);
    dialect_put_str(w, "data", part->data);
    acp_json_end_object(w);
}

static void put_part(struct acp_json_writer *w, const struct model_part *part, struct acp_raw seal)
{
    acp_json_begin_object(w);
    if (part->kind == MODEL_CALL)
        put_call(w, part);
    else if (part->kind == MODEL_RESULT)
        put_result(w, part);
    else if (part->kind == MODEL_IMAGE || part->kind == MODEL_AUDIO)
        put_media(w, part);
    else if (part->kind == MODEL_RESOURCE)
        dialect_put_resource(w, "text", part);
    else
        dialect_put_str(w, "text", part->text.ptr ? part->text : acp_str_from(""));
    dialect_put_raw(w, "thoughtSignature", seal);
    acp_json_end_object(w);
}

/* Thoughts are for people, and there are no empty texts. */
static bool is_sent(const struct model_ask *ask, const struct model_part *part)
{
    bool is_empty = part->kind == MODEL_TEXT && !part->text.len &&
                    !dialect_seal(&dialect_gemini, ask, part).ptr;
    return part->kind != MODEL_THOUGHT && !is_empty;
}

/*
 * Since Gemini 3 a call without a signature is refused.  The first of a turn that another model has
 * made gets the word that the documentation has for this case.
 */
static struct acp_raw stand_in(const struct model_ask *ask, const struct model_message *message)
{
    if (version_of(ask->model) < 30)
        return acp_raw_from(NULL);
    for (size_t i = 0; i < message->part_count; i++) {
        if (message->parts[i].kind == MODEL_CALL)
            return dialect_seal(&dialect_gemini, ask, &message->parts[i]).ptr
                       ? acp_raw_from(NULL)
                       : acp_raw_from("\"skip_thought_signature_validator\"");
    }
    return acp_raw_from(NULL);
}

static void put_parts(struct acp_json_writer *w, const struct model_ask *ask,
                      const struct model_message *message)
{
    struct acp_raw missing = stand_in(ask, message);
    for (size_t i = 0; i < message->part_count; i++) {
        const struct model_part *part = &message->parts[i];
        struct acp_raw seal = dialect_seal(&dialect_gemini, ask, part);
        if (!is_sent(ask, part))
            continue;
        if (part->kind == MODEL_CALL && !seal.ptr) {
            seal = missing;
            missing = acp_raw_from(NULL);
        }
        put_part(w, part, seal);
    }
}

static void put_turn(struct acp_json_writer *w, const struct model_ask *ask,
                     const struct dialect_turn *turn)
{
    acp_json_begin_object(w);
    dialect_put_str(w, "role", acp_str_from(turn->role == MODEL_USER ? "user" : "model"));
    dialect_key(w, "parts");
    acp_json_begin_array(w);
    for (size_t i = turn->begin; i < turn->end; i++) {
        if (ask->messages[i].role == turn->role)
            put_parts(w, ask, &ask->messages[i]);
    }
    acp_json_end_array(w);
    acp_json_end_object(w);
}

static void put_tools(struct acp_json_writer *w, const struct model_ask *ask)
{
    if (!ask->tool_count)
        return;
    dialect_key(w, "tools");
    acp_json_begin_array(w);
    acp_json_begin_object(w);
    dialect_key(w, "functionDeclarations");
    acp_json_begin_array(w);
    for (size_t i = 0; i < ask->tool_count; i++) {
        acp_json_begin_object(w);
        dialect_put_name(w, "name", ask->tools[i].name, NAMES_GEMINI);
        dialect_put_str(w, "description", ask->tools[i].description);
        dialect_key(w, "parametersJsonSchema");
        schema_write(ask->tools[i].schema, SCHEMA_GEMINI, w);
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
    acp_json_end_object(w);
    acp_json_end_array(w);
}

static void write(const struct model_ask *ask, struct acp_json_writer *w)
{
    struct dialect_turn turn = {0};
    acp_json_begin_object(w);
    if (ask->system.len) {
        dialect_key(w, "systemInstruction");
        acp_json_begin_object(w);
        dialect_key(w, "parts");
        acp_json_begin_array(w);
        acp_json_begin_object(w);
        dialect_put_str(w, "text", ask->system);
        acp_json_end_object(w);
        acp_json_end_array(w);
        acp_json_end_object(w);
    }
    dialect_key(w, "contents");
    acp_json_begin_array(w);
    while (dialect_next_turn(ask, is_sent, &turn))
        put_turn(w, ask, &turn);
    acp_json_end_array(w);
    put_tools(w, ask);
    put_config(w, ask);
    acp_json_end_object(w);
}

/* The model is in the path; whatever is no plain letter is escaped there. */
static int path(struct acp_str model, struct acp_buf *url)
{
    int err = acp_buf_append_str(url, acp_str_from("/v1beta/models/"));
    for (size_t i = 0; !err && i < model.len; i++) {
        unsigned char c = (unsigned char) model.ptr[i];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
        err = is_plain ? acp_buf_append(url, &c, 1) : acp_buf_printf(url, "%%%02X", c);
    }
    return err ? err : acp_buf_append_str(url, acp_str_from(":streamGenerateContent?alt=sse"));
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_call(struct model_stream *s, struct acp_raw call)
{
    size_t key = s->calls;
    struct acp_raw arguments = pick(call, "args");
    stream_call(s, key, pick_str(call, "id", &s->event), pick_str(call, "name", &s->event));
    stream_call_end(s, key, acp_str_n(arguments.ptr ? arguments.ptr : "", arguments.len));
}

/* A part with a signature stands alone: it must come back as it is. */
static void read_part(struct model_stream *s, struct acp_raw part)
{
    struct acp_raw signature = pick_quoted(part, "thoughtSignature");
    struct acp_raw call = pick(part, "functionCall");
    struct acp_raw thought = pick(part, "thought");
    bool is_thought = acp_str_is(acp_str_n(thought.ptr, thought.len), "true");
    struct acp_str text = pick_str(part, "text", &s->event);
    if (call.ptr) {
        read_call(s, call);
    } else if (signature.ptr) {
        stream_part_end(s);
        stream_begin(s, is_thought ? MODEL_THOUGHT : MODEL_TEXT);
    }
    if (is_thought)
        stream_thought(s, text);
    else
        stream_text(s, text);
    if (signature.ptr) {
        stream_seal(s, dialect_gemini.name, signature);
        stream_part_end(s);
    }
}

static void read_finish(struct model_stream *s, struct acp_raw candidate)
{
    static const char *const refusals[] = {
        "SAFETY", "RECITATION", "BLOCKLIST",   "PROHIBITED_CONTENT",
        "SPII",   "LANGUAGE",   "IMAGE_SAFETY"};
    struct acp_str reason = pick_str(candidate, "finishReason", &s->event);
    if (!reason.ptr)
        return;
    stream_part_end(s);
    if (acp_str_is(reason, "MAX_TOKENS")) {
        stream_stop(s, MODEL_MAX_TOKENS);
        return;
    }
    if (acp_str_is(reason, "MALFORMED_FUNCTION_CALL") ||
        acp_str_is(reason, "UNEXPECTED_TOOL_CALL")) {
        stream_fault(s, FAULT_BUSY, acp_str_from("the model has made a tool call that is none"));
        return;
    }
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (acp_str_is(reason, refusals[i])) {
            stream_stop(s, MODEL_REFUSAL);
            return;
        }
    }
    stream_stop(s, MODEL_END);
}

static void read_usage(struct model_stream *s, struct acp_raw usage)
{
    if (!usage.ptr)
        return;
    s->usage.input = pick_u64(usage, "promptTokenCount", s->usage.input);
    s->usage.cached = pick_u64(usage, "cachedContentTokenCount", s->usage.cached);
    s->usage.output =
        pick_u64(usage, "candidatesTokenCount", 0) + pick_u64(usage, "thoughtsTokenCount", 0);
    stream_usage(s);
}

static void read(struct model_stream *s, struct acp_raw event)
{
    struct acp_raw candidate = pick(event, "candidates.0");
    struct acp_raw parts = pick(candidate, "content.parts");
    struct pick_cursor cursor = {0};
    struct acp_raw part;
    while (pick_next(parts, &cursor, &part))
        read_part(s, part);
    read_usage(s, pick(event, "usageMetadata"));
    read_finish(s, candidate);
    if (pick(event, "promptFeedback.blockReason").ptr)
        stream_stop(s, MODEL_REFUSAL);
    if (pick(event, "error").ptr)
        (void) dialect_read_error(s, event, 0);
}

const struct model_dialect dialect_gemini = {
    .name = "gemini",
    .title = "Gemini",
    .base_url = "https://generativelanguage.googleapis.com",
    .models = "/v1beta/models?pageSize=1000",
    .model = "gemini-flash-latest",
    .rows = "models",
    .takes = 1u << MODEL_TEXT | 1u << MODEL_IMAGE | 1u << MODEL_AUDIO | 1u << MODEL_RESOURCE |
             1u << MODEL_RESULT,
    .path = path,
    .write = write,
    .read = read,
};
