/* What all dialects have in common. */
#include "model/dialect.h"

#include <stdio.h>

#include "model/pick.h"

const struct model_dialect *dialect_of(enum model_api api)
{
    static const struct model_dialect *const dialects[MODEL_APIS] = {
        [MODEL_ANTHROPIC] = &dialect_anthropic,
        [MODEL_CHAT] = &dialect_chat,
        [MODEL_RESPONSES] = &dialect_responses,
        [MODEL_GEMINI] = &dialect_gemini,
    };
    return dialects[api];
}

void dialect_event(const struct model_dialect *dialect, struct model_stream *s, struct acp_str data)
{
    struct acp_raw event = acp_raw_n(data.ptr, data.len);
    struct acp_json_reader r;
    if (s->err || s->fault || s->is_complete || !data.len)
        return;
    if (acp_str_is(data, "[DONE]")) {
        s->is_complete = true;
        return;
    }
    acp_json_reader_init(&r, event, NULL, 0);
    if (acp_json_peek(&r) != ACP_JSON_OBJECT || acp_json_validate(event, 0, NULL)) {
        struct acp_str sentence = ACP_STR("an event of the answer is not the JSON it should be");
        stream_fault(s, FAULT_BUSY, sentence);
        return;
    }
    dialect->read(s, event);
    acp_arena_reset(&s->event);
}

/* ---- Writing --------------------------------------------------------------------------------- */

void dialect_key(struct acp_json_writer *w, const char *key)
{
    acp_json_write_key(w, acp_str_from(key));
}

void dialect_put_str(struct acp_json_writer *w, const char *key, struct acp_str text)
{
    if (!text.ptr)
        return;
    dialect_key(w, key);
    acp_json_write_str(w, text);
}

void dialect_put_u64(struct acp_json_writer *w, const char *key, uint64_t value)
{
    dialect_key(w, key);
    acp_json_write_u64(w, value);
}

void dialect_put_raw(struct acp_json_writer *w, const char *key, struct acp_raw value)
{
    if (!value.ptr)
        return;
    dialect_key(w, key);
    acp_json_write_raw(w, value);
}

void dialect_put_bool(struct acp_json_writer *w, const char *key, bool value)
{
    dialect_key(w, key);
    acp_json_write_bool(w, value);
}

void dialect_put_resource(struct acp_json_writer *w, const char *key, const struct model_part *part)
{
    struct acp_buf text;
    acp_buf_init(&text, SIZE_MAX / 2);
    int err = acp_buf_printf(&text, "<resource uri=\"%.*s\">\n", (int) part->uri.len,
                             part->uri.ptr ? part->uri.ptr : "");
    if (!err)
        err = acp_buf_append_str(&text, part->text);
    if (!err)
        err = acp_buf_append_str(&text, acp_str_from("\n</resource>"));
    if (err && !w->err)
        w->err = err;
    dialect_put_str(w, key, acp_buf_view(&text));
    acp_buf_finish(&text);
}

void dialect_write_arguments(struct acp_json_writer *w, const struct model_part *call)
{
    if (call->arguments.ptr) {
        acp_json_write_raw(w, call->arguments);
        return;
    }
    acp_json_begin_object(w);
    if (call->text.len)
        dialect_put_str(w, DIALECT_RAW_ARGUMENTS, call->text);
    acp_json_end_object(w);
}

struct acp_raw dialect_seal(const struct model_dialect *dialect, const struct model_ask *ask,
                            const struct model_part *part)
{
    struct acp_str origin = ask->origin.ptr ? ask->origin : acp_str_from(dialect->name);
    return part->sealed.api.ptr && acp_str_eq(part->sealed.api, origin) ? part->sealed.data
                                                                        : acp_raw_from(NULL);
}

size_t model_strip_sealed(struct model_part *parts, size_t count)
{
    size_t stripped = 0;
    for (size_t i = 0; i < count; i++) {
        stripped += parts[i].sealed.api.ptr != NULL;
        parts[i].sealed = (struct model_sealed){0};
    }
    return stripped;
}

/* ---- Names ----------------------------------------------------------------------------------- */

enum { MAX_NAME = 64 };

static bool is_taken(char c, enum dialect_names names)
{
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool is_plain = is_letter || (c >= '0' && c <= '9') || c == '_' || c == '-';
    return names == NAMES_ANY || is_plain || (names == NAMES_GEMINI && (c == '.' || c == ':'));
}

static bool may_begin(char c, enum dialect_names names)
{
    return names != NAMES_GEMINI || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Writes the name into the room as it is taken; returns its length.  *ret_same: nothing changed. */
static size_t fit_name(struct acp_str name, enum dialect_names names, char *room, size_t most,
                       bool *ret_same)
{
    size_t n = 0;
    *ret_same = name.len > 0 && name.len <= most;
    if (name.len && !may_begin(name.ptr[0], names)) {
        room[n++] = '_';
        *ret_same = false;
    }
    for (size_t i = 0; i < name.len && n < most; i++) {
        bool taken = is_taken(name.ptr[i], names);
        *ret_same = *ret_same && taken;
        room[n++] = (char) (taken ? name.ptr[i] : '_');
    }
    return n;
}

void dialect_put_name(struct acp_json_writer *w, const char *key, struct acp_str name,
                      enum dialect_names names)
{
    char room[MAX_NAME];
    bool same;
    size_t n = fit_name(name, names, room, sizeof(room), &same);
    dialect_put_str(w, key, same ? name : n ? acp_str_n(room, n) : acp_str_from("unnamed"));
}

uint64_t dialect_hash(struct acp_str text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char) text.ptr[i]) * 0x100000001b3u;
    return hash;
}

void dialect_put_id(struct acp_json_writer *w, const char *key, struct acp_str id,
                    enum dialect_names names, size_t most)
{
    char room[MAX_NAME];
    char own[32];
    bool same;
    (void) fit_name(id, names, room, most < sizeof(room) ? most : sizeof(room), &same);
    (void) snprintf(own, sizeof(own), "call_%016llx", (unsigned long long) dialect_hash(id));
    dialect_put_str(w, key, same ? id : acp_str_from(own));
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static bool has_words(const struct model_ask *ask, const struct model_message *message,
                      dialect_sent_fn *is_sent)
{
    for (size_t i = 0; i < message->part_count; i++) {
        if (is_sent(ask, &message->parts[i]))
            return true;
    }
    return false;
}

bool dialect_next_turn(const struct model_ask *ask, dialect_sent_fn *is_sent,
                       struct dialect_turn *turn)
{
    size_t i = turn->end;
    while (i < ask->message_count && !has_words(ask, &ask->messages[i], is_sent))
        i++;
    if (i == ask->message_count)
        return false;
    *turn = (struct dialect_turn){ask->messages[i].role, i, i + 1};
    for (i++; i < ask->message_count; i++) {
        if (!has_words(ask, &ask->messages[i], is_sent))
            continue;
        if (ask->messages[i].role != turn->role)
            break;
        turn->end = i + 1;
    }
    return true;
}

const struct model_part *dialect_next_part(const struct model_ask *ask,
                                           const struct dialect_turn *turn,
                                           struct dialect_walk *walk)
{
    while (turn->begin + walk->message < turn->end) {
        const struct model_message *message = &ask->messages[turn->begin + walk->message];
        if (message->role == turn->role && walk->part < message->part_count)
            return &message->parts[walk->part++];
        walk->message++;
        walk->part = 0;
    }
    return NULL;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Words by which services say that they are busy, whatever the status is. */
static bool is_busy_word(struct acp_str word)
{
    static const char *const words[] = {
        "overloaded_error",   "api_error",  "rate_limit_error", "rate_limit_exceeded",
        "server_error",       "overloaded", "timeout_error",    "UNAVAILABLE",
        "RESOURCE_EXHAUSTED", "INTERNAL",   "internal_error",   "DEADLINE_EXCEEDED",
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (acp_str_is(word, words[i]))
            return true;
    }
    return false;
}

/* Waiting does not fill an account. */
static bool is_quota_word(struct acp_str word)
{
    return acp_str_is(word, "insufficient_quota") || acp_str_is(word, "billing_error");
}

static bool is_auth_word(struct acp_str word)
{
    return acp_str_is(word, "authentication_error") || acp_str_is(word, "permission_error") ||
           acp_str_is(word, "invalid_api_key") || acp_str_is(word, "UNAUTHENTICATED") ||
           acp_str_is(word, "PERMISSION_DENIED");
}

static enum stream_fault fault_of(struct model_stream *s, struct acp_raw error, int status)
{
    struct acp_str type = pick_str(error, "type", &s->event);
    struct acp_str code = pick_str(error, "code", &s->event);
    struct acp_str name = pick_str(error, "status", &s->event);
    if (is_quota_word(type) || is_quota_word(code))
        return FAULT_FINAL;
    if (status == 401 || status == 403 || is_auth_word(type) || is_auth_word(code) ||
        is_auth_word(name))
        return FAULT_AUTH;
    if (!status)
        status = (int) pick_u64(error, "code", 0);
    if (status == 408 || status == 429 || (status >= 500 && status != 501 && status != 505))
        return FAULT_BUSY;
    if (status)
        return FAULT_FINAL;
    return is_busy_word(type) || is_busy_word(code) ? FAULT_BUSY : FAULT_FINAL;
}

bool dialect_read_error(struct model_stream *s, struct acp_raw body, int status)
{
    /* Gemini may put it into an array. */
    if (pick(body, "0").ptr)
        body = pick(body, "0");
    struct acp_raw error = pick(body, "error");
    static const char *const places[] = {"error.message", "error", "message", "detail"};
    struct acp_str message = acp_str_from(NULL);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !message.ptr; i++)
        message = pick_str(body, places[i], &s->event);
    if (!message.ptr && (!error.ptr || acp_str_is(acp_str_n(error.ptr, error.len), "null")))
        return false;
    stream_fault(s, fault_of(s, error.ptr ? error : body, status), message);
    return true;
}

/* ---- Efforts --------------------------------------------------------------------------------- */

enum model_effort dialect_effort(const struct model_ask *ask)
{
    unsigned wanted = ask->effort;
    if (!ask->efforts || wanted == MODEL_EFFORT_DEFAULT)
        return ask->effort;
    /* None is no thinking at all: the nearest to it is the least, but nothing else becomes none. */
    unsigned least = wanted == MODEL_EFFORT_NONE ? MODEL_EFFORT_NONE : MODEL_EFFORT_LOW;
    for (unsigned effort = wanted; effort >= least; effort--)
        if (ask->efforts & 1u << effort)
            return (enum model_effort) effort;
    for (unsigned effort = wanted; effort <= MODEL_EFFORT_MAX; effort++)
        if (ask->efforts & 1u << effort)
            return (enum model_effort) effort;
    return ask->effort;
}
