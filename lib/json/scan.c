/*
 * The routing scan.  It walks the envelope and the top level of params (or result) by hand and lets
 * the grammar in text.c pass over everything else, so a message is looked at once.
 */
#include "acp/scan.h"

#include "json/text.h"

enum field { F_OTHER, F_JSONRPC, F_ID, F_METHOD, F_PARAMS, F_RESULT, F_ERROR };

static const struct acp_str session_key = ACP_STR("sessionId");
static const struct acp_str version = ACP_STR("2.0");

/* Whether the key [p, quote) is this name; escapes in keys are rare but legal. */
static inline bool key_is(const struct acp_json_cursor *c, const char *p, const char *quote,
                          struct acp_str name)
{
    if (c->escaped)
        return acp_json_escaped_is(p, quote, name);
    return (size_t) (quote - p) == name.len && memcmp(p, name.ptr, name.len) == 0;
}

static enum field envelope_field(const struct acp_json_cursor *c, const char *p, const char *quote)
{
    static const struct acp_str names[] = {
        [F_JSONRPC] = ACP_STR("jsonrpc"), [F_ID] = ACP_STR("id"),
        [F_METHOD] = ACP_STR("method"),   [F_PARAMS] = ACP_STR("params"),
        [F_RESULT] = ACP_STR("result"),   [F_ERROR] = ACP_STR("error"),
    };
    if (c->escaped) {
        for (int f = F_JSONRPC; f <= F_ERROR; f++)
            if (acp_json_escaped_is(p, quote, names[f]))
                return (enum field) f;
        return F_OTHER;
    }
    /* Comparisons of a known length are a few instructions; this is done for every message. */
    switch (quote - p) {
    case 2:
        return memcmp(p, "id", 2) == 0 ? F_ID : F_OTHER;
    case 5:
        return memcmp(p, "error", 5) == 0 ? F_ERROR : F_OTHER;
    case 6:
        if (memcmp(p, "method", 6) == 0)
            return F_METHOD;
        if (memcmp(p, "params", 6) == 0)
            return F_PARAMS;
        return memcmp(p, "result", 6) == 0 ? F_RESULT : F_OTHER;
    case 7:
        return memcmp(p, "jsonrpc", 7) == 0 ? F_JSONRPC : F_OTHER;
    default:
        return F_OTHER;
    }
}

/*
 * The key at p and the colon behind it: returns where the value starts, with *ret_quote at the end
 * of the key; NULL on error.
 */
static inline const char *key_and_colon(struct acp_json_cursor *c, const char *p,
                                        const char **ret_quote)
{
    if (p >= c->end || *p != '"')
        return acp_json_fail(c, p, ACP_ERR_SYNTAX);
    p = acp_json_string(c, p + 1);
    if (!p)
        return NULL;
    *ret_quote = p++;
    if (acp_json_next(&p, c->end) != ':')
        return acp_json_fail(c, p, ACP_ERR_SYNTAX);
    p++;
    (void) acp_json_next(&p, c->end);
    return p;
}

/* After a member's value: 1 another key starts at *p, 0 the object ended before *p, -1 error. */
static inline int member_end(struct acp_json_cursor *c, const char **at)
{
    char next = acp_json_next(at, c->end);
    if (next == '}') {
        (*at)++;
        return 0;
    }
    if (next != ',') {
        (void) acp_json_fail(c, *at, ACP_ERR_SYNTAX);
        return -1;
    }
    (*at)++;
    (void) acp_json_next(at, c->end);
    return 1;
}

/* What is looked for at the top level of params or result. */
struct inside {
    struct acp_raw session_id;
    struct acp_raw key;
};

/* params or result at p. */
static const char *payload(struct acp_json_cursor *c, const char *p, struct acp_str key,
                           struct inside *s)
{
    *s = (struct inside){{NULL, 0}, {NULL, 0}};
    if (p >= c->end || *p != '{')
        return acp_json_value(c, p, 1);
    p = acp_json_space(p + 1, c->end);
    if (p < c->end && *p == '}')
        return p + 1;
    int more;
    do {
        const char *quote;
        const char *name = p + 1;
        const char *value = key_and_colon(c, p, &quote);
        if (!value)
            return NULL;
        bool is_session = key_is(c, name, quote, session_key);
        bool is_key = key.ptr && key_is(c, name, quote, key);
        p = acp_json_member_value(c, value, 2);
        if (!p)
            return NULL;
        if (is_session)
            s->session_id = acp_raw_n(value, (size_t) (p - value));
        if (is_key)
            s->key = acp_raw_n(value, (size_t) (p - value));
        more = member_end(c, &p);
    } while (more > 0);
    return more < 0 ? NULL : p;
}

static struct acp_raw *field_span(struct acp_scan *s, enum field field)
{
    switch (field) {
    case F_ID:
        return &s->id;
    case F_METHOD:
        return &s->method;
    case F_PARAMS:
        return &s->params;
    case F_RESULT:
        return &s->result;
    case F_ERROR:
        return &s->error;
    default:
        return NULL;
    }
}

/* p is after the brace. */
static const char *envelope(struct acp_json_cursor *c, const char *p, struct acp_str key,
                            struct acp_scan *s)
{
    static const struct acp_str none = {NULL, 0};
    struct inside params = {{NULL, 0}, {NULL, 0}};
    struct inside result = {{NULL, 0}, {NULL, 0}};
    p = acp_json_space(p, c->end);
    if (p < c->end && *p == '}')
        return p + 1;
    int more;
    do {
        const char *quote;
        const char *name = p + 1;
        const char *value = key_and_colon(c, p, &quote);
        if (!value)
            return NULL;
        enum field field = envelope_field(c, name, quote);
        if (field == F_PARAMS)
            p = payload(c, value, key, &params);
        else if (field == F_RESULT)
            p = payload(c, value, none, &result);
        else
            p = acp_json_member_value(c, value, 1);
        if (!p)
            return NULL;
        struct acp_raw *span = field_span(s, field);
        if (span)
            *span = acp_raw_n(value, (size_t) (p - value));
        else if (field == F_JSONRPC)
            s->version_ok = *value == '"' && key_is(c, value + 1, p - 1, version);
        more = member_end(c, &p);
    } while (more > 0);
    s->session_id = params.session_id.ptr || s->method.ptr ? params.session_id : result.session_id;
    s->key = params.key;
    return more < 0 ? NULL : p;
}

static enum acp_scan_kind classify(const struct acp_scan *s)
{
    if (s->method.ptr)
        return s->id.ptr ? ACP_SCAN_REQUEST : ACP_SCAN_NOTIFICATION;
    if (!s->result.ptr && !s->error.ptr)
        return ACP_SCAN_INVALID;
    bool one = !s->result.ptr != !s->error.ptr;
    return one && s->id.ptr ? ACP_SCAN_RESPONSE : ACP_SCAN_BAD_RESPONSE;
}

/* Field by field: compilers clear the whole with an instruction that takes a while to start. */
static inline void clear(struct acp_scan *s)
{
    static const struct acp_raw none = {NULL, 0};
    s->kind = ACP_SCAN_INVALID;
    s->version_ok = false;
    s->id = none;
    s->method = none;
    s->params = none;
    s->result = none;
    s->error = none;
    s->session_id = none;
    s->key = none;
}

int acp_scan_message(struct acp_raw text, struct acp_str key, struct acp_scan *ret,
                     size_t *ret_offset)
{
    struct acp_json_cursor c = {.end = text.ptr + text.len, .max_depth = ACP_JSON_MAX_DEPTH};
    struct acp_scan s;
    clear(&s);
    acp_json_use_blocks(&c, text.ptr);
    const char *p = acp_json_space(text.ptr, c.end);
    if (p < c.end && *p == '{') {
        p = envelope(&c, p + 1, key, &s);
        s.kind = classify(&s);
    } else {
        s.kind = p < c.end && *p == '[' ? ACP_SCAN_ARRAY : ACP_SCAN_INVALID;
        p = acp_json_value(&c, p, 0);
    }
    if (p) {
        p = acp_json_space(p, c.end);
        if (p < c.end)
            p = acp_json_fail(&c, p, ACP_ERR_SYNTAX);
    }
    if (!p) {
        if (ret_offset)
            *ret_offset = (size_t) (c.where - text.ptr);
        return c.err;
    }
    *ret = s;
    return 0;
}

struct acp_str acp_scan_plain(struct acp_raw span)
{
    if (span.len < 2 || span.ptr[0] != '"' || memchr(span.ptr, '\\', span.len))
        return acp_str_n(NULL, 0);
    return acp_str_n(span.ptr + 1, span.len - 2);
}

/* Of the spans that are there, the one that follows `last` in the message; NULL behind the last. */
static inline const struct acp_splice *next_splice(const struct acp_splice *splices, size_t count,
                                                   const struct acp_splice *last)
{
    const struct acp_splice *next = NULL;
    for (const struct acp_splice *s = splices; s < splices + count; s++) {
        if (!s->span.ptr || (last && s->span.ptr < last->span.ptr) ||
            (last && s->span.ptr == last->span.ptr && s <= last))
            continue;
        if (!next || s->span.ptr < next->span.ptr)
            next = s;
    }
    return next;
}

/* The length of the result, or -1 when a span lies outside of the message or two overlap. */
static int64_t spliced_length(struct acp_raw message, const struct acp_splice *first,
                              const struct acp_splice *splices, size_t count)
{
    const char *at = message.ptr;
    const char *end = message.ptr + message.len;
    size_t length = message.len;
    for (const struct acp_splice *s = first; s; s = next_splice(splices, count, s)) {
        if (s->span.ptr < at || s->span.ptr > end || s->span.len > (size_t) (end - s->span.ptr))
            return -1;
        at = s->span.ptr + s->span.len;
        length += s->by.len - s->span.len;
    }
    return (int64_t) length;
}

/* Appends where there is room. */
static inline void add(struct acp_buf *out, const char *bytes, size_t n)
{
    if (n)
        memcpy(out->data + out->start + out->len, bytes, n);
    out->len += n;
}

int acp_scan_splice_all(struct acp_raw message, const struct acp_splice *splices, size_t count,
                        struct acp_buf *out)
{
    const struct acp_splice *first = next_splice(splices, count, NULL);
    int64_t length = spliced_length(message, first, splices, count);
    if (length < 0)
        return ACP_ERR_ARGUMENT;
    int err = acp_buf_reserve(out, (size_t) length);
    if (err)
        return err;
    const char *at = message.ptr;
    for (const struct acp_splice *s = first; s; s = next_splice(splices, count, s)) {
        add(out, at, (size_t) (s->span.ptr - at));
        add(out, s->by.ptr, s->by.len);
        at = s->span.ptr + s->span.len;
    }
    add(out, at, (size_t) (message.ptr + message.len - at));
    return 0;
}

int acp_scan_splice(struct acp_raw message, struct acp_raw span, struct acp_raw by,
                    struct acp_buf *out)
{
    struct acp_splice one = {span, by};
    return span.ptr ? acp_scan_splice_all(message, &one, 1, out) : ACP_ERR_ARGUMENT;
}
