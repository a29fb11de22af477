/*
 * The routing scan.  It walks the objects of a message by hand, looks at the keys of the envelope
 * and of params or result, and lets grammar.c pass over everything else, so a message is looked at
 * once.
 */
#include "acp/scan.h"

#include "json/grammar.h"

static const struct acp_str session_key = ACP_STR("sessionId");

/* ---- Marks ----------------------------------------------------------------------------------- */

/*
 * Marks are the special bytes that are still ahead in the cursor's block, one bit each.  Where a
 * message has no white space and no escapes, all of them are quotes, and the few bytes between two
 * quotes can be told apart by one comparison.  Taking a mark off does not wait for the position of
 * the one before, so a processor works on several strings at once.
 *
 * At least two bytes of the text follow a mark, so three can be compared.  Special bytes at the
 * very end have no mark, nor have those of a text too short for a block.  Where there is no mark,
 * and where its byte is no quote, the functions of grammar.h go from byte to byte.
 */
enum { BEHIND_MARK = 2 };

/* The marks of the cursor's block from p on, which is in there. */
static inline uint64_t block_marks(const struct acp_json_cursor *c, const char *p)
{
    uint64_t marks = c->specials & UINT64_MAX << (p - c->block);
    ptrdiff_t left = c->end - c->block - ACP_JSON_BLOCK; /* behind the block */
    return left < BEHIND_MARK ? marks & UINT64_MAX >> (BEHIND_MARK - left) : marks;
}

/* The marks from p on, which is not before the block. */
static uint64_t marks_at(struct acp_json_cursor *c, const char *p)
{
    if (!c->block || p >= c->end)
        return 0;
    if (p - c->block >= ACP_JSON_BLOCK)
        acp_json_load_block(c, p);
    return block_marks(c, p);
}

/* The same with the first block of this text, which may be too short for one. */
static inline uint64_t first_marks(struct acp_json_cursor *c, struct acp_raw text, const char *p)
{
    if (text.len < ACP_JSON_BLOCK || p >= c->end)
        return 0;
    acp_json_load_block(c, p);
    return block_marks(c, p);
}

/* The marks from p on, of the next block that has any; 0: there is none. */
static uint64_t marks_ahead(struct acp_json_cursor *c, const char *p)
{
    uint64_t marks = 0;
    while (!marks && c->block) {
        const char *next = c->block + ACP_JSON_BLOCK;
        if (p < next)
            p = next;
        if (p >= c->end)
            return 0;
        acp_json_load_block(c, next);
        marks = block_marks(c, p);
    }
    return marks;
}

/* Takes the first mark off, if there is one. */
static inline void drop_mark(uint64_t *marks)
{
    *marks &= *marks - 1;
}

/* Takes the first mark from p on; false: there is none. */
static inline bool take_mark(struct acp_json_cursor *c, const char *p, uint64_t *marks,
                             const char **ret_mark)
{
    if (!*marks) {
        *marks = marks_ahead(c, p);
        if (!*marks)
            return false;
    }
    *ret_mark = c->block + (unsigned) __builtin_ctzll(*marks);
    drop_mark(marks);
    return true;
}

/* Whether these three bytes start with the mark. */
static inline bool mark_is(const char *mark, const char *three)
{
    return memcmp(mark, three, 3) == 0;
}

/*
 * The end of the string that p is in, where the next mark is another byte than its quote, or is
 * not there (NULL).
 */
static const char *string_from_mark(struct acp_json_cursor *c, const char *p, const char *mark)
{
    if (mark)
        p = mark;
    else if (c->block && p < c->block)
        p = c->block; /* there was none in the blocks before */
    return acp_json_string_rest(c, p);
}

/* ---- Members --------------------------------------------------------------------------------- */

/* What the value of a member is. */
enum kind { FAILED, STRING, OBJECT, OTHER };

/* take_key() where the next mark is not the quote between a key and a string or an object. */
static enum kind take_key_slowly(struct acp_json_cursor *c, const char *p, const char *mark,
                                 const char **ret_quote, const char **ret_value)
{
    const char *quote = mark && *mark == '"' ? mark : string_from_mark(c, p, mark);
    const char *value = quote ? acp_json_colon(c, quote + 1) : NULL;
    if (!value)
        return FAILED;
    *ret_quote = quote;
    *ret_value = value;
    if (value >= c->end)
        return OTHER;
    return *value == '"' ? STRING : *value == '{' ? OBJECT : OTHER;
}

/*
 * p is after the opening quote of a key.  Returns the kind of its value, *ret_quote at the end of
 * the key and *ret_value at the start of the value, with the marks after the first byte of that.
 */
static inline enum kind take_key(struct acp_json_cursor *c, const char *p, uint64_t *marks,
                                 const char **ret_quote, const char **ret_value)
{
    const char *mark = NULL;
    if (take_mark(c, p, marks, &mark)) {
        *ret_quote = mark;
        *ret_value = mark + 2;
        if (mark_is(mark, "\":\"")) {
            drop_mark(marks);
            return STRING;
        }
        if (mark_is(mark, "\":{"))
            return OBJECT;
        if (mark_is(mark, "\": ") && mark + 3 < c->end && (mark[3] == '"' || mark[3] == '{')) {
            *ret_value = mark + 3;
            if (mark[3] == '{')
                return OBJECT;
            drop_mark(marks);
            return STRING;
        }
    }
    const char *quote;
    const char *value;
    enum kind kind = take_key_slowly(c, p, mark, &quote, &value);
    if (kind != FAILED) {
        *ret_quote = quote;
        *ret_value = value;
        *marks = marks_at(c, value + 1);
    }
    return kind;
}

/*
 * p is after the opening quote of a value.  Returns the byte after its closing quote, or NULL.
 * *ret_key is behind the quote of another key when that follows at once, and its mark is taken.
 * Where it is NULL, the marks are not up to date until take_next() has found another key.
 */
static inline const char *take_string(struct acp_json_cursor *c, const char *p, uint64_t *marks,
                                      const char **ret_key)
{
    const char *mark = NULL;
    *ret_key = NULL;
    if (take_mark(c, p, marks, &mark)) {
        if (mark_is(mark, "\",\"")) {
            drop_mark(marks);
            *ret_key = mark + 3;
            return mark + 1;
        }
        if (mark_is(mark, "\", ") && mark + 3 < c->end && mark[3] == '"') {
            drop_mark(marks);
            *ret_key = mark + 4;
            return mark + 1;
        }
        if (*mark == '"')
            return mark + 1;
    }
    const char *quote = string_from_mark(c, p, mark);
    return quote ? quote + 1 : NULL;
}

/*
 * p is after the brace that opens an object, or after the value of a member in one.  Returns where
 * the next key starts, after its quote; *ret_end: it is what follows the end of the object instead.
 */
static inline const char *take_first(struct acp_json_cursor *c, const char *p, uint64_t *marks,
                                     bool *ret_end)
{
    *ret_end = false;
    if (p < c->end && *p == '"') {
        drop_mark(marks);
        return p + 1;
    }
    int more = acp_json_first_member(c, &p);
    *ret_end = more == 0;
    *marks = marks_at(c, p);
    return more < 0 ? NULL : p;
}

static inline const char *take_next(struct acp_json_cursor *c, const char *p, uint64_t *marks,
                                    bool *ret_end)
{
    *ret_end = p < c->end && *p == '}';
    if (*ret_end)
        return p + 1;
    int more = acp_json_next_member(c, &p);
    *ret_end = more == 0;
    *marks = marks_at(c, p);
    return more < 0 ? NULL : p;
}

/* ---- What is looked for ---------------------------------------------------------------------- */

/*
 * The walk through the envelope, which is level 1, params and result, level 2, and what is below.
 * Of the first two it keeps the current member: where its value starts, and where its span is put;
 * what nobody asks for goes to `other`.
 */
struct walk {
    struct acp_json_cursor c;
    struct acp_raw text;
    struct acp_str key;
    const char *value[3];
    struct acp_raw *span[3];
    /* In params or result: where the spans of sessionId and of the key go.  NULL elsewhere. */
    struct acp_raw *session_id;
    struct acp_raw *inner_key;
    struct acp_scan scan; /* its session_id is the one of params until the end */
    struct acp_raw version;
    struct acp_raw result_session_id;
    struct acp_raw other;
};

/* Whether the key [p, quote) is this name; escapes in keys are rare but legal. */
static inline bool key_is(const struct walk *w, const char *p, const char *quote,
                          struct acp_str name)
{
    if (w->c.escaped)
        return acp_json_escaped_is(p, quote, name);
    /* Looking at the first byte saves most calls of memcmp(). */
    return (size_t) (quote - p) == name.len &&
           (name.len == 0 || (*p == *name.ptr && memcmp(p, name.ptr, name.len) == 0));
}

static inline struct acp_raw *begin_inside(struct walk *w, struct acp_raw *session_id,
                                           struct acp_raw *key, struct acp_raw *span)
{
    *session_id = (struct acp_raw){NULL, 0};
    *key = (struct acp_raw){NULL, 0};
    w->session_id = session_id;
    w->inner_key = key;
    return span;
}

/* Where the span of that member of the envelope goes. */
static inline struct acp_raw *envelope_span(struct walk *w, const char *p, size_t len)
{
    /* Comparisons of a known length are a few instructions; this is done for every message. */
    switch (len) {
    case 2:
        return memcmp(p, "id", 2) == 0 ? &w->scan.id : &w->other;
    case 5:
        return memcmp(p, "error", 5) == 0 ? &w->scan.error : &w->other;
    case 6:
        if (memcmp(p, "method", 6) == 0)
            return &w->scan.method;
        if (memcmp(p, "params", 6) == 0)
            return begin_inside(w, &w->scan.session_id, &w->scan.key, &w->scan.params);
        if (memcmp(p, "result", 6) == 0)
            return begin_inside(w, &w->result_session_id, &w->other, &w->scan.result);
        return &w->other;
    case 7:
        return memcmp(p, "jsonrpc", 7) == 0 ? &w->version : &w->other;
    default:
        return &w->other;
    }
}

/* The same for a key with escapes: by the name that it stands for. */
static struct acp_raw *escaped_span(struct walk *w, const char *p, const char *quote)
{
    static const struct acp_str names[] = {ACP_STR("jsonrpc"), ACP_STR("id"),     ACP_STR("method"),
                                           ACP_STR("params"),  ACP_STR("result"), ACP_STR("error")};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (acp_json_escaped_is(p, quote, names[i]))
            return envelope_span(w, names[i].ptr, names[i].len);
    return &w->other;
}

static inline void begin_member(struct walk *w, uint32_t level, const char *name, const char *quote,
                                const char *value)
{
    struct acp_raw *span = &w->other;
    w->value[level] = value;
    if (level == 1) {
        w->session_id = NULL;
        span = w->c.escaped ? escaped_span(w, name, quote)
                            : envelope_span(w, name, (size_t) (quote - name));
    } else if (!w->session_id) {
        span = &w->other;
    } else if (key_is(w, name, quote, session_key)) {
        span = w->session_id;
    } else if (w->key.ptr && key_is(w, name, quote, w->key)) {
        span = w->inner_key;
    }
    w->span[level] = span;
}

/* Its value ends before p. */
static inline void end_member(struct walk *w, uint32_t level, const char *p)
{
    const char *value = w->value[level];
    *w->span[level] = acp_raw_n(value, (size_t) (p - value));
}

/* Copies an empty struct: compilers clear one with an instruction that takes a while to start. */
static inline void begin(struct walk *w, struct acp_raw text, struct acp_str key)
{
    static const struct acp_scan empty;
    static const struct acp_raw none;
    w->c.end = text.ptr + text.len;
    w->c.block = NULL;
    w->c.where = text.ptr;
    w->c.err = 0;
    w->c.max_depth = ACP_JSON_MAX_DEPTH;
    w->text = text;
    w->key = key;
    w->scan = empty;
    w->version = none;
    w->result_session_id = none;
}

/* ---- Usual messages -------------------------------------------------------------------------- */

/*
 * Most messages are the updates of a session, most of those carry a piece of text or change a tool
 * call, and agents write them alike.  What surrounds the session id and the text is compared with
 * the bytes it has then, which checks it as well as a walk from key to key does, and is quicker.
 * Any other message is walked through.
 */

static inline bool starts_with(const char *p, const char *end, const char *text, size_t len)
{
    return (size_t) (end - p) > len && memcmp(p, text, len) == 0;
}

/*
 * take_first() of the envelope: the version and, of an update, method and params, which is level 2.
 */
static inline const char *take_opening(struct walk *w, const char *p, uint64_t *marks,
                                       uint32_t *ret_level, bool *ret_end)
{
    static const char usual[] = "\"jsonrpc\":\"2.0\",\"";
    static const char update[] = "method\":\"session/update\",\"params\":{\"";
    enum { USUAL = sizeof(usual) - 1, UPDATE = sizeof(update) - 1, METHOD = 8, PARAMS = 34 };
    *ret_level = 1;
    if (!starts_with(p, w->c.end, usual, USUAL)) {
        *marks = first_marks(&w->c, w->text, p);
        return take_first(&w->c, p, marks, ret_end);
    }
    w->version = acp_raw_n(p + USUAL - 7, 5);
    p += USUAL;
    if (starts_with(p, w->c.end, update, UPDATE)) {
        w->scan.method = acp_raw_n(p + METHOD, sizeof("\"session/update\"") - 1);
        w->span[1] = begin_inside(w, &w->scan.session_id, &w->scan.key, &w->scan.params);
        w->value[1] = p + PARAMS;
        *ret_level = 2;
        p += UPDATE;
    }
    *marks = first_marks(&w->c, w->text, p);
    *ret_end = false;
    return p;
}

/* Where the walk goes on in a usual update: a string, at its opening quote; NULL: it is another. */
static inline const char *chunk_text(const char *p, const char *end)
{
    static const char content[] = "_chunk\",\"content\":{\"type\":\"text\",\"text\":\"";
    enum { KIND = 7, CONTENT = sizeof(content) - 1 };
    if (end - p <= KIND + CONTENT ||
        (memcmp(p, "message", KIND) != 0 && memcmp(p, "thought", KIND) != 0) ||
        memcmp(p + KIND, content, CONTENT) != 0)
        return NULL;
    return p + KIND + CONTENT - 1;
}

static inline const char *tool_call_id(const char *p, const char *end)
{
    static const char update[] = "_update";
    static const char id[] = "\",\"toolCallId\":\"";
    enum { UPDATE = sizeof(update) - 1, ID = sizeof(id) - 1 };
    if (starts_with(p, end, update, UPDATE))
        p += UPDATE;
    return starts_with(p, end, id, ID) ? p + ID - 1 : NULL;
}

/*
 * The member of params at p, behind the opening quote of its key, when it is the update with a
 * piece of the agent's message or thoughts, or with a tool call.  Returns where the piece or the id
 * of the call starts, at its quote and with the marks after that, and its level; NULL: it is
 * another one.
 */
static inline const char *take_usual_update(struct walk *w, const char *p, uint64_t *marks,
                                            uint32_t *ret_level)
{
    static const char update[] = "update\":{\"sessionUpdate\":\"";
    static const char agent[] = "agent_";
    static const char tool[] = "tool_call";
    enum { UPDATE = sizeof(update) - 1, AGENT = 6, TOOL = 9, VALUE = 8 };
    const char *end = w->c.end;
    const char *value = NULL;
    if (!starts_with(p, end, update, UPDATE))
        return NULL;
    const char *kind = p + UPDATE;
    if (starts_with(kind, end, agent, AGENT)) {
        value = chunk_text(kind + AGENT, end);
        *ret_level = 4;
    } else if (starts_with(kind, end, tool, TOOL)) {
        value = tool_call_id(kind + TOOL, end);
        *ret_level = 3;
    }
    if (!value) {
        *ret_level = 2;
        return NULL;
    }
    begin_member(w, 2, p, p + sizeof("update") - 1, p + VALUE);
    *marks = marks_at(&w->c, value + 1);
    return value;
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* p is after the brace of the envelope; returns what follows its end. */
static const char *walk(struct walk *w, const char *p)
{
    struct acp_json_cursor *c = &w->c;
    uint32_t level;
    bool end;
    uint64_t marks;
    p = take_opening(w, p, &marks, &level, &end);
    while (p && !end) {
        const char *quote;
        const char *value;
        const char *next_key = NULL;
        c->escaped = false;
        enum kind kind = STRING;
        value = level == 2 ? take_usual_update(w, p, &marks, &level) : NULL;
        if (!value) {
            kind = take_key(c, p, &marks, &quote, &value);
            if (kind == FAILED)
                return NULL;
            if (level <= 2)
                begin_member(w, level, p, quote, value);
        }
        if (kind == STRING) {
            p = take_string(c, value + 1, &marks, &next_key);
        } else if (kind == OBJECT) {
            if (level >= c->max_depth)
                return acp_json_fail(c, value, ACP_ERR_DEPTH);
            p = take_first(c, value + 1, &marks, &end);
            if (p && !end) {
                level++;
                continue;
            }
        } else {
            p = acp_json_value(c, value, level);
        }
        if (!p)
            return NULL;
        if (level <= 2)
            end_member(w, level, p);
        if (next_key) {
            p = next_key;
            end = false;
            continue;
        }
        while ((p = take_next(c, p, &marks, &end)) && end) {
            if (--level == 0)
                break;
            if (level <= 2)
                end_member(w, level, p);
        }
    }
    return p;
}

static bool version_ok(struct acp_raw version)
{
    static const struct acp_str wanted = ACP_STR("2.0");
    if (version.len < 2 || *version.ptr != '"')
        return false;
    return (version.len == 5 && memcmp(version.ptr, "\"2.0\"", 5) == 0) ||
           acp_json_escaped_is(version.ptr + 1, version.ptr + version.len - 1, wanted);
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

/* What the spans of an object say. */
static void conclude(struct walk *w)
{
    struct acp_scan *s = &w->scan;
    s->version_ok = version_ok(w->version);
    if (w->key.ptr && acp_str_eq(w->key, session_key))
        s->key = s->session_id;
    if (!s->session_id.ptr && !s->method.ptr)
        s->session_id = w->result_session_id;
    s->kind = classify(s);
}

int acp_scan_message(struct acp_raw text, struct acp_str key, struct acp_scan *ret,
                     size_t *ret_offset)
{
    struct walk w;
    begin(&w, text, key);
    struct acp_json_cursor *c = &w.c;
    const char *p = acp_json_space(text.ptr, c->end);
    if (p < c->end && *p == '{') {
        p = walk(&w, p + 1);
        if (p)
            conclude(&w);
    } else {
        w.scan.kind = p < c->end && *p == '[' ? ACP_SCAN_ARRAY : ACP_SCAN_INVALID;
        (void) first_marks(c, text, text.ptr);
        p = acp_json_value(c, p, 0);
    }
    if (p) {
        p = acp_json_space(p, c->end);
        if (p < c->end)
            p = acp_json_fail(c, p, ACP_ERR_SYNTAX);
    }
    if (!p) {
        if (ret_offset)
            *ret_offset = (size_t) (c->where - text.ptr);
        return c->err;
    }
    *ret = w.scan;
    return 0;
}

struct acp_str acp_scan_plain(struct acp_raw span)
{
    if (span.len < 2 || span.ptr[0] != '"' || memchr(span.ptr, '\\', span.len))
        return acp_str_n(NULL, 0);
    return acp_str_n(span.ptr + 1, span.len - 2);
}
