/*
 * json.h - a validating pull reader and a streaming writer for JSON, exact to RFC 8259.
 *
 *     #include <acp/json.h>
 *     #include <stdio.h>
 *
 *     static int read_name(struct acp_raw json, struct acp_arena *arena, struct acp_str *ret)
 *     {
 *         struct acp_json_reader r;
 *         struct acp_str key;
 *         acp_json_reader_init(&r, json, arena, 0);
 *         int err = acp_json_enter_object(&r);
 *         while (!err && (err = acp_json_next_key(&r, &key)) > 0)
 *             err = acp_str_is(key, "name") ? acp_json_read_str(&r, ret) : acp_json_skip(&r);
 *         return err ? err : acp_json_read_end(&r);
 *     }
 *
 *     int main(void)
 *     {
 *         struct acp_arena arena;
 *         struct acp_buf out;
 *         struct acp_str name = {NULL, 0};
 *         acp_arena_init(&arena, 0);
 *         acp_buf_init(&out, 4096);
 *
 *         struct acp_json_writer w;
 *         acp_json_writer_init(&w, &out);
 *         acp_json_begin_object(&w);
 *         acp_json_write_key(&w, acp_str_from("name"));
 *         acp_json_write_str(&w, acp_str_from("libacp"));
 *         acp_json_end_object(&w);
 *         int err = w.err; // the only check: the writer keeps its first error
 *
 *         struct acp_str text = acp_buf_view(&out);
 *         if (!err)
 *             err = read_name(acp_raw_n(text.ptr, text.len), &arena, &name);
 *         printf("%.*s\n", ACP_ARG(err ? acp_str_from(acp_err_text(err)) : name));
 *         acp_buf_finish(&out);
 *         acp_arena_finish(&arena);
 *         return err ? 1 : 0;
 *     }
 *
 * What the RFC leaves open:
 *   - text must be UTF-8; anything else is ACP_ERR_UTF8
 *   - an escape that is half of a surrogate pair reads as U+FFFD (JavaScript peers send them)
 *   - \u0000 is an ordinary character; texts have a length
 *   - the reader reports all of several equal keys; in messages the last one counts
 *   - numbers are text until they are asked for; 64-bit integers are exact
 *   - nesting is limited, to ACP_JSON_MAX_DEPTH by default
 *
 * Readers and writers own no memory.  They need no finish function, and a copy of the struct is
 * independent of the original.
 */
#ifndef ACP_JSON_H
#define ACP_JSON_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Deep enough for every real message, and shallow enough for any stack. */
enum { ACP_JSON_MAX_DEPTH = 128 };

enum acp_json_type {
    ACP_JSON_NONE = 0, /* no value: the end of the text, or a syntax error */
    ACP_JSON_NULL,
    ACP_JSON_BOOL,
    ACP_JSON_NUMBER,
    ACP_JSON_STRING,
    ACP_JSON_ARRAY,
    ACP_JSON_OBJECT,
};

/* A type in words, for messages: "an object", "null".  A static string. */
ACP_API const char *acp_json_type_name(enum acp_json_type type);

/* ---- Reader --------------------------------------------------------------------------------- */

/*
 * A cursor over a complete text, which must outlive it and is not changed.  The calls follow the
 * shape of the text: enter an object or array, then call next until it returns 0, and after each 1
 * read, enter or skip exactly one value.
 *
 * Errors of the text are latched: ACP_ERR_SYNTAX, ACP_ERR_UTF8, ACP_ERR_DEPTH, and ACP_ERR_NOMEM
 * for a string with escapes that finds no room in the arena.  All later calls return the same
 * error, so a caller may check once, at the end.  A value of another type than the one asked for
 * (ACP_ERR_TYPE) or out of its range (ACP_ERR_RANGE) is not an error of the text: it is not latched
 * and does not move the cursor, so the value can be read in another way, or skipped.
 *
 * Copying the struct saves the position, and assigning the copy returns to it.
 */
struct acp_json_reader {
    const char *at; /* the cursor */
    const char *end;
    const char *begin;
    struct acp_arena *arena; /* for strings with escapes */
    uint32_t depth;
    uint32_t max_depth;
    int err;    /* the latched error, or 0; may be read */
    bool first; /* no comma is due before the next key or item */
    void *reserved[2];
};

/*
 * Starts at the first value of the text.  arena may be NULL if no strings or keys with escapes are
 * to be read.  max_depth 0 means ACP_JSON_MAX_DEPTH.
 */
ACP_API void acp_json_reader_init(struct acp_json_reader *r, struct acp_raw text,
                                  struct acp_arena *arena, uint32_t max_depth);

/* The type of the value at the cursor, judged by its first byte.  Does not move the cursor. */
ACP_API enum acp_json_type acp_json_peek(struct acp_json_reader *r);

/* Enters the object at the cursor: 0, ACP_ERR_TYPE, or an error of the text. */
ACP_API int acp_json_enter_object(struct acp_json_reader *r);
/*
 * Moves to the next member and returns 1 with its key, which is valid as long as a string that is
 * read.  At the end of the object it leaves the object and returns 0.  Or an error of the text.
 */
ACP_API int acp_json_next_key(struct acp_json_reader *r, struct acp_str *ret_key);
/* Enters the array at the cursor: 0, ACP_ERR_TYPE, or an error of the text. */
ACP_API int acp_json_enter_array(struct acp_json_reader *r);
/*
 * Moves to the next item and returns 1.  At the end of the array it leaves the array and returns 0.
 * Or an error of the text.
 */
ACP_API int acp_json_next_item(struct acp_json_reader *r);

/*
 * Reads the value at the cursor and moves past it: 0, ACP_ERR_TYPE, or an error of the text.
 *
 * A string points into the text if it has no escapes, and into the arena otherwise.
 */
ACP_API int acp_json_read_str(struct acp_json_reader *r, struct acp_str *ret);
ACP_API int acp_json_read_bool(struct acp_json_reader *r, bool *ret);
ACP_API int acp_json_read_null(struct acp_json_reader *r);
/*
 * Any number whose value is an integer, such as 1.0 and 1e3.  ACP_ERR_TYPE if it is not one,
 * ACP_ERR_RANGE if it does not fit.
 */
ACP_API int acp_json_read_i64(struct acp_json_reader *r, int64_t *ret);
ACP_API int acp_json_read_u64(struct acp_json_reader *r, uint64_t *ret);
/* The nearest double; ACP_ERR_RANGE if the number is beyond the largest (1e400). */
ACP_API int acp_json_read_f64(struct acp_json_reader *r, double *ret);
/* A value of any type as its bytes in the text, which are validated. */
ACP_API int acp_json_read_raw(struct acp_json_reader *r, struct acp_raw *ret);
/* Validates a value of any type and moves past it. */
ACP_API int acp_json_skip(struct acp_json_reader *r);
/* 0 if nothing but white space follows; ACP_ERR_SYNTAX otherwise, or an earlier error. */
ACP_API int acp_json_read_end(struct acp_json_reader *r);

/* The offset of the cursor in the text; after an error of the text, where that was found. */
static inline size_t acp_json_offset(const struct acp_json_reader *r)
{
    return (size_t) (r->at - r->begin);
}

/*
 * Validates a text that is one JSON value: 0, ACP_ERR_SYNTAX, ACP_ERR_UTF8 or ACP_ERR_DEPTH.
 * max_depth 0 means ACP_JSON_MAX_DEPTH.  ret_offset may be NULL and is written on failure only: the
 * byte at which the error was found.
 */
ACP_API int acp_json_validate(struct acp_raw text, uint32_t max_depth, size_t *ret_offset);

/* ---- Writer --------------------------------------------------------------------------------- */

/*
 * Appends JSON to a buffer, compact and on one line, with commas where they are needed.  The caller
 * provides the shape: balanced begin and end calls, and a key before each member of an object.
 *
 * The first failure (ACP_ERR_LIMIT or ACP_ERR_NOMEM of the buffer, ACP_ERR_RANGE) is latched in
 * err, and everything after it is ignored, so a caller checks err once, at the end.  What was
 * appended before the failure stays in the buffer.
 */
struct acp_json_writer {
    struct acp_buf *out;
    int err;    /* the first failure, or 0; may be read */
    bool comma; /* the next key or item is preceded by a comma */
    void *reserved[2];
};

/* Starts a value at the end of the buffer, which must outlive the writer. */
ACP_API void acp_json_writer_init(struct acp_json_writer *w, struct acp_buf *out);
/* Objects and arrays. */
ACP_API void acp_json_begin_object(struct acp_json_writer *w);
ACP_API void acp_json_end_object(struct acp_json_writer *w);
ACP_API void acp_json_begin_array(struct acp_json_writer *w);
ACP_API void acp_json_end_array(struct acp_json_writer *w);
/* Bytes of keys and strings that are not UTF-8 are written as U+FFFD. */
ACP_API void acp_json_write_key(struct acp_json_writer *w, struct acp_str key);
ACP_API void acp_json_write_str(struct acp_json_writer *w, struct acp_str text);
ACP_API void acp_json_write_bool(struct acp_json_writer *w, bool value);
ACP_API void acp_json_write_null(struct acp_json_writer *w);
ACP_API void acp_json_write_i64(struct acp_json_writer *w, int64_t value);
ACP_API void acp_json_write_u64(struct acp_json_writer *w, uint64_t value);
/* The shortest text that reads as the same double.  ACP_ERR_RANGE for NaN and infinities. */
ACP_API void acp_json_write_f64(struct acp_json_writer *w, double value);
/*
 * Copies a value that is known to be valid JSON; it is not checked.  Line ends between its tokens
 * become spaces, so that a message stays on one line.
 */
ACP_API void acp_json_write_raw(struct acp_json_writer *w, struct acp_raw value);

/*
 * Appends a JSON text indented by two spaces a level, for people.  Errors as acp_json_validate()
 * with the default depth, ACP_ERR_LIMIT, ACP_ERR_NOMEM; the buffer may then hold a part of it.
 */
ACP_API int acp_json_pretty(struct acp_raw text, struct acp_buf *out);

#ifdef __cplusplus
}
#endif

#endif
