/*
 * json.h - a validating pull reader and a streaming writer, exact to RFC 8259.
 *
 * What the RFC leaves open is decided here once:
 *   - text must be UTF-8; anything else is ACP_ERR_UTF8
 *   - an escape that is half of a surrogate pair reads as U+FFFD (JavaScript peers do send them)
 *   - \u0000 is an ordinary character; texts carry their length
 *   - duplicate keys are all reported; for typed fields the last one wins
 *   - numbers are text until asked for; integers are exact over 64 bits
 *   - nesting is limited (ACP_JSON_MAX_DEPTH by default)
 *
 *     struct acp_json_writer w;
 *     acp_json_writer_init(&w, &buf);
 *     acp_json_begin_object(&w);
 *     acp_json_write_key(&w, acp_str_from("name"));
 *     acp_json_write_str(&w, acp_str_from("libacp"));
 *     acp_json_end_object(&w);
 *     if (w.err)
 *         ...                      the only check: the first error is kept, the rest is ignored
 *
 *     struct acp_json_reader r;
 *     acp_json_reader_init(&r, text, &arena, 0);
 *     err = acp_json_enter_object(&r);
 *     while (!err && acp_json_next_key(&r, &key) > 0)
 *         err = acp_str_is(key, "name") ? acp_json_read_str(&r, &name) : acp_json_skip(&r);
 *     if (r.err)
 *         ...                      not valid JSON
 *
 * Readers and writers own no memory: there is nothing to free, and copies are independent.
 */
#ifndef ACP_JSON_H
#define ACP_JSON_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Deep enough for every real message, shallow enough that no stack is in danger. */
enum { ACP_JSON_MAX_DEPTH = 128 };

enum acp_json_type {
    ACP_JSON_NONE = 0, /* no value here: the end of the text, or a syntax error */
    ACP_JSON_NULL,
    ACP_JSON_BOOL,
    ACP_JSON_NUMBER,
    ACP_JSON_STRING,
    ACP_JSON_ARRAY,
    ACP_JSON_OBJECT,
};

ACP_API const char *acp_json_type_name(enum acp_json_type type);

/* ---- Reader --------------------------------------------------------------------------------- */

/*
 * A cursor over a complete text that it neither copies nor changes.  Calls must follow the shape of
 * the text: enter, then next until it says 0, reading or skipping exactly one value each time.
 *
 *     acp_json_enter_object(&r);
 *     while ((n = acp_json_next_key(&r, &key)) > 0)
 *         acp_json_skip(&r);
 *
 * The first error is latched: every later call returns it again, so a caller may check once.
 * A mismatch of type (ACP_ERR_TYPE, ACP_ERR_RANGE) is not latched and does not move the cursor.
 * Copying the struct saves the position; assigning it back returns to it.
 */
struct acp_json_reader {
    const char *at;
    const char *end;
    const char *begin;
    struct acp_arena *arena; /* where texts with escapes are unfolded */
    uint32_t depth;
    uint32_t max_depth;
    int err;
    bool first; /* no comma is due before the next key or item */
    void *reserved[2];
};

/* arena may be NULL when no text will be read; max_depth 0 takes the default. */
ACP_API void acp_json_reader_init(struct acp_json_reader *r, struct acp_raw text,
                                  struct acp_arena *arena, uint32_t max_depth);

/* The type of the value at the cursor, from its first byte; does not move. */
ACP_API enum acp_json_type acp_json_peek(struct acp_json_reader *r);

ACP_API int acp_json_enter_object(struct acp_json_reader *r);
/* 1 and the key, 0 at the end of the object (which is left then), or an error. */
ACP_API int acp_json_next_key(struct acp_json_reader *r, struct acp_str *ret_key);
ACP_API int acp_json_enter_array(struct acp_json_reader *r);
/* 1 when an item follows, 0 at the end of the array (which is left then), or an error. */
ACP_API int acp_json_next_item(struct acp_json_reader *r);

/* Points into the text where no escape occurs, into the arena otherwise. */
ACP_API int acp_json_read_str(struct acp_json_reader *r, struct acp_str *ret);
ACP_API int acp_json_read_bool(struct acp_json_reader *r, bool *ret);
ACP_API int acp_json_read_null(struct acp_json_reader *r);
/* A number with the value of an integer (also 1.0 and 1e3); ACP_ERR_RANGE when it does not fit. */
ACP_API int acp_json_read_i64(struct acp_json_reader *r, int64_t *ret);
ACP_API int acp_json_read_u64(struct acp_json_reader *r, uint64_t *ret);
/* The nearest double; ACP_ERR_RANGE when it is larger than any (1e400). */
ACP_API int acp_json_read_f64(struct acp_json_reader *r, double *ret);
/* Any value, checked, as the bytes it is. */
ACP_API int acp_json_read_raw(struct acp_json_reader *r, struct acp_raw *ret);
/* Any value, checked and passed over. */
ACP_API int acp_json_skip(struct acp_json_reader *r);
/* Nothing but white space may follow. */
ACP_API int acp_json_read_end(struct acp_json_reader *r);

static inline size_t acp_json_offset(const struct acp_json_reader *r)
{
    return (size_t) (r->at - r->begin);
}

/* Checks a whole text. */
ACP_API int acp_json_validate(struct acp_raw text, uint32_t max_depth, size_t *ret_offset);

/* ---- Writer --------------------------------------------------------------------------------- */

/*
 * Appends JSON to a buffer, compact and on one line.  Commas are the writer's business.  The first
 * failure (memory, limit) is latched in err and everything after it is ignored, so that a caller
 * checks once at the end.  Texts that are not UTF-8 get U+FFFD where they are not.
 */
struct acp_json_writer {
    struct acp_buf *out;
    int err;
    bool comma; /* the next key or item needs one in front */
    void *reserved[2];
};

ACP_API void acp_json_writer_init(struct acp_json_writer *w, struct acp_buf *out);
ACP_API void acp_json_begin_object(struct acp_json_writer *w);
ACP_API void acp_json_end_object(struct acp_json_writer *w);
ACP_API void acp_json_begin_array(struct acp_json_writer *w);
ACP_API void acp_json_end_array(struct acp_json_writer *w);
ACP_API void acp_json_write_key(struct acp_json_writer *w, struct acp_str key);
ACP_API void acp_json_write_str(struct acp_json_writer *w, struct acp_str text);
ACP_API void acp_json_write_bool(struct acp_json_writer *w, bool value);
ACP_API void acp_json_write_null(struct acp_json_writer *w);
ACP_API void acp_json_write_i64(struct acp_json_writer *w, int64_t value);
ACP_API void acp_json_write_u64(struct acp_json_writer *w, uint64_t value);
/* The shortest text that reads back as the same number; NaN and infinities are ACP_ERR_RANGE. */
ACP_API void acp_json_write_f64(struct acp_json_writer *w, double value);
/*
 * A value that is known to be valid JSON, as its bytes; line ends between its tokens become spaces,
 * so that a message stays on one line.
 */
ACP_API void acp_json_write_raw(struct acp_json_writer *w, struct acp_raw value);

/* Appends a valid JSON text indented for people, two spaces a level. */
ACP_API int acp_json_pretty(struct acp_raw text, struct acp_buf *out);

#ifdef __cplusplus
}
#endif

#endif
