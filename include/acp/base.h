/*
 * base.h - the types that everything else uses: error codes, text spans, optional values, a
 * bounded buffer, base64 and an arena.
 *
 *     #include <acp/base.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         struct acp_buf out;
 *         acp_buf_init(&out, 1 << 20); // never holds more than 1 MiB
 *         struct acp_str name = acp_str_from("answer");
 *         int err = acp_buf_printf(&out, "%.*s: %d\n", ACP_ARG(name), 42);
 *         if (err)
 *             fprintf(stderr, "%s\n", acp_err_text(err));
 *         else
 *             fwrite(acp_buf_view(&out).ptr, 1, acp_buf_view(&out).len, stdout);
 *         acp_buf_finish(&out);
 *         return err ? 1 : 0;
 *     }
 *
 * Conventions of all headers:
 *
 *   - Functions named _new or _start allocate an object that _free releases; _init and _finish do
 *     the same for a struct that the caller provides.  Every _free takes NULL.
 *   - Functions that can fail return 0 or a count on success and a negative enum acp_err on
 *     failure.  They write through pointers named ret or ret_... on success only.
 *   - A function that appends to a struct acp_buf may fail with ACP_ERR_LIMIT (the maximum of the
 *     buffer) or ACP_ERR_NOMEM.
 *   - A pointer or text in a struct is borrowed unless its comment says otherwise.
 *   - Structs that the program fills in must be zeroed first; an initialiser with designated
 *     members does that.  Members named `reserved` must stay zero: later versions use them.
 *   - Options and callback tables are passed with their size, so that they can grow.  Call the
 *     inline function, which supplies the size; the exported one, named _sized, is for bindings to
 *     other languages.  If a member is set that this version of the library does not know,
 *     because the program was compiled with a later one, the function fails with
 *     ACP_ERR_ARGUMENT.  docs/abi.md says what may change.
 *   - The library has no global state and does not print.  Functions without an object may be
 *     called from any thread; an object belongs to one thread at a time.  acp/endpoint.h has the
 *     rules for connections and callbacks.
 */
#ifndef ACP_BASE_H
#define ACP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ACP_API marks what the shared libraries export; ACP_PRINTF has the compiler check formats. */
#if defined(__GNUC__)
#define ACP_API __attribute__((visibility("default")))
#define ACP_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define ACP_API
#define ACP_PRINTF(at, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors --------------------------------------------------------------------------------- */

/*
 * The error codes: name, number, the JSON-RPC code sent to a peer that caused the error, and a
 * description.
 *
 * A sentence for people comes with an error in one of three ways:
 *   - functions that parse a text or a configuration, or start a program, fill in a
 *     struct acp_failure
 *   - a request to the other side ends with a struct acp_outcome (acp/rpc.h); see its `why`
 *   - a call of the client role that fails immediately sets acp_client_error_text()
 * All other functions return the code alone.  Their comments list the codes with what they mean
 * there; acp_err_text() gives the general description.
 */
#define ACP_ERR_MAP(X)                                                                             \
    X(NOMEM, -1, -32603, "out of memory")                                                          \
    X(LIMIT, -2, -32600, "larger than the limit that is set for it")                               \
    X(SYNTAX, -3, -32700, "not valid JSON")                                                        \
    X(UTF8, -4, -32700, "not valid UTF-8")                                                         \
    X(DEPTH, -5, -32700, "nested too deeply")                                                      \
    X(ENVELOPE, -6, -32600, "not a JSON-RPC 2.0 message")                                          \
    X(TYPE, -7, -32602, "a value of the wrong type")                                               \
    X(RANGE, -8, -32602, "a value outside of its range")                                           \
    X(MISSING, -9, -32602, "a required field is missing")                                          \
    X(VARIANT, -10, -32602, "a variant that is not part of the protocol")                          \
    X(ARGUMENT, -11, -32603, "an argument that this function does not take")                       \
    X(STATE, -12, -32603, "not possible in this state")                                            \
    X(UNKNOWN, -13, -32603, "no such request is open")                                             \
    X(REMOTE, -14, -32603, "the other side answered with an error")                                \
    X(MALFORMED, -15, -32603, "the other side sent a malformed answer")                            \
    X(TIMEOUT, -16, -32800, "no answer in time")                                                   \
    X(CANCELLED, -17, -32800, "cancelled")                                                         \
    X(CLOSED, -18, -32603, "the connection is closed")

/* ACP_ERR_NOMEM and so on.  acp/io.h adds errors of the operating system below these. */
enum acp_err {
#define ACP_ERR_ENUM(name, number, rpc, text) ACP_ERR_##name = (number),
    ACP_ERR_MAP(ACP_ERR_ENUM)
#undef ACP_ERR_ENUM
};

/*
 * The description of an error code, a static string.  Never NULL: other negative numbers are
 * "an unknown error", all others "no error".
 */
ACP_API const char *acp_err_text(int err);
/* Its name without the prefix ("SYNTAX"), for logs and programs; "UNKNOWN_ERROR" or "OK". */
ACP_API const char *acp_err_name(int err);
/* The JSON-RPC error code to send for it; -32603 for numbers that are not in the list. */
ACP_API int acp_err_rpc_code(int err);

/*
 * What went wrong, and where.  Written on failure only.  Every function that takes a pointer to one
 * accepts NULL.
 */
struct acp_failure {
    int err;           /* enum acp_err */
    size_t offset;     /* the byte of the input where the error was found, if there is an input */
    char path[120];    /* the field, such as "update.content[2].text"; empty at the root */
    char message[200]; /* one sentence without a full stop */
    void *reserved[2];
};

/* ---- Text ----------------------------------------------------------------------------------- */

/*
 * A span of bytes that belongs to somebody else; not terminated by NUL.  In messages:
 *   ptr == NULL          the field is absent
 *   acp_is_null(ptr)     the field is JSON null; such a span reads as the empty text
 *   anything else        the field has a value, which may be empty
 */
struct acp_str {
    const char *ptr;
    size_t len;
};

/* A JSON value as its bytes, received or to be sent; absent if ptr is NULL. */
struct acp_raw {
    const char *ptr;
    size_t len;
};

/* Lists and maps are arrays with a count.  As fields of messages, items says whether they are
 * absent or null, as in struct acp_str. */
struct acp_str_list {
    const struct acp_str *items;
    size_t count;
};

struct acp_i64_list {
    const int64_t *items;
    size_t count;
};

struct acp_str_entry {
    struct acp_str key;
    struct acp_str value;
};

struct acp_str_map {
    const struct acp_str_entry *items;
    size_t count;
};

/* The two arguments that "%.*s" takes: printf("%.*s\n", ACP_ARG(text)). */
#define ACP_ARG(s) (int) (s).len, ((s).ptr ? (s).ptr : "")

/* Initialises a struct acp_str or acp_raw with a string literal; usable for static objects. */
#define ACP_STR(literal)                                                                           \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

/* The text of len bytes at ptr. */
static inline struct acp_str acp_str_n(const char *ptr, size_t len)
{
    struct acp_str s = {ptr, len};
    return s;
}

/* The text of a C string; NULL gives the absent text. */
static inline struct acp_str acp_str_from(const char *text)
{
    return acp_str_n(text, text ? strlen(text) : 0);
}

/* The JSON value of len bytes at ptr. */
static inline struct acp_raw acp_raw_n(const char *ptr, size_t len)
{
    struct acp_raw r = {ptr, len};
    return r;
}

/* The JSON value in a C string; NULL gives the absent value. */
static inline struct acp_raw acp_raw_from(const char *json)
{
    return acp_raw_n(json, json ? strlen(json) : 0);
}

/* Whether two texts have the same bytes.  Absent, null and empty texts are equal. */
static inline bool acp_str_eq(struct acp_str a, struct acp_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* The same with a C string. */
static inline bool acp_str_is(struct acp_str a, const char *text)
{
    return acp_str_eq(a, acp_str_from(text));
}

/* Whether a begins with the C string `with`, which must not be NULL. */
static inline bool acp_str_starts_with(struct acp_str a, const char *with)
{
    size_t n = strlen(with);
    return a.len >= n && acp_str_eq(acp_str_n(a.ptr, n), acp_str_n(with, n));
}

/* A copy terminated by NUL, to be released with free(); NULL if out of memory. */
ACP_API char *acp_str_dup(struct acp_str text);

/* ---- Absent, null, or a value --------------------------------------------------------------- */

/*
 * JSON null, wherever a field is a pointer: the address of a static block of zeros that is as large
 * as the largest message struct.  A reader who does not distinguish null sees an empty text, list
 * or struct; one who does asks acp_is_null().
 */
enum { ACP_NULL_SIZE = 1024 };
ACP_API const void *acp_null(void);
ACP_API bool acp_is_null(const void *ptr);

/* Whether a field has a value: it is neither absent nor null. */
static inline bool acp_is_set(const void *ptr)
{
    return ptr && !acp_is_null(ptr);
}

/* The text that is written as null. */
static inline struct acp_str acp_str_null(void)
{
    return acp_str_n((const char *) acp_null(), 0);
}

/* Sets size bytes to zero; the init functions of acp/types.h begin with it. */
ACP_API void acp_zero(void *memory, size_t size);

/* Numbers and booleans that may be absent or null; value is 0 then. */
enum acp_presence { ACP_ABSENT = 0, ACP_NULL, ACP_PRESENT };

struct acp_opt_bool {
    enum acp_presence has;
    bool value;
};
struct acp_opt_i64 {
    enum acp_presence has;
    int64_t value;
};
struct acp_opt_u64 {
    enum acp_presence has;
    uint64_t value;
};
struct acp_opt_f64 {
    enum acp_presence has;
    double value;
};

/* The value as one that is present. */
static inline struct acp_opt_bool acp_some_bool(bool value)
{
    struct acp_opt_bool o = {ACP_PRESENT, value};
    return o;
}
static inline struct acp_opt_i64 acp_some_i64(int64_t value)
{
    struct acp_opt_i64 o = {ACP_PRESENT, value};
    return o;
}
static inline struct acp_opt_u64 acp_some_u64(uint64_t value)
{
    struct acp_opt_u64 o = {ACP_PRESENT, value};
    return o;
}
static inline struct acp_opt_f64 acp_some_f64(double value)
{
    struct acp_opt_f64 o = {ACP_PRESENT, value};
    return o;
}

/* ---- Buffer --------------------------------------------------------------------------------- */

/*
 * Bytes that are appended at the end and consumed from the front, up to a maximum set at the start:
 * whatever a peer can make grow has one.
 *
 * A function that appends returns 0, ACP_ERR_LIMIT (the content would exceed max) or ACP_ERR_NOMEM,
 * and leaves the content unchanged on failure.
 *
 * The content is data[start .. start + len); data is NULL exactly if cap is 0.  Read it through
 * acp_buf_view().  len may be read, and max changed, which does not shorten the content; leave the
 * other members alone.
 */
struct acp_buf {
    char *data;
    size_t start;
    size_t len;
    size_t cap;
    size_t max;
    void *reserved;
};

/* An empty buffer that grows to at most max bytes.  Allocates nothing yet. */
ACP_API void acp_buf_init(struct acp_buf *buf, size_t max);
/* Frees the memory.  The buffer is empty and can be used again, with the same maximum. */
ACP_API void acp_buf_finish(struct acp_buf *buf);
/* Empties the buffer and keeps its memory. */
ACP_API void acp_buf_clear(struct acp_buf *buf);
/* The slow path of acp_buf_reserve(), which is the function to call. */
ACP_API int acp_buf_grow(struct acp_buf *buf, size_t n);

/* Makes room for n more bytes, so that appending them cannot fail. */
static inline int acp_buf_reserve(struct acp_buf *buf, size_t n)
{
    return n <= buf->cap - buf->start - buf->len ? 0 : acp_buf_grow(buf, n);
}

/* Appends n bytes, which must not be part of the buffer. */
static inline int acp_buf_append(struct acp_buf *buf, const void *bytes, size_t n)
{
    if (n == 0)
        return 0;
    int err = acp_buf_reserve(buf, n);
    if (err)
        return err;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): with room there is data */
    memcpy(buf->data + buf->start + buf->len, bytes, n);
    buf->len += n;
    return 0;
}

/* Appends a text; an absent one appends nothing. */
ACP_API int acp_buf_append_str(struct acp_buf *buf, struct acp_str text);
/*
 * Appends formatted text, without its NUL, for which max must leave room, too.  ACP_ERR_ARGUMENT if
 * vsnprintf() rejects the format.
 */
ACP_API int acp_buf_printf(struct acp_buf *buf, const char *format, ...) ACP_PRINTF(2, 3);
/* Removes the first n bytes; there must be that many. */
ACP_API void acp_buf_consume(struct acp_buf *buf, size_t n);
/* Removes everything after the first n bytes; there must be that many. */
ACP_API void acp_buf_truncate(struct acp_buf *buf, size_t n);

/* The content; valid until the buffer changes. */
static inline struct acp_str acp_buf_view(const struct acp_buf *buf)
{
    return acp_str_n(buf->data ? buf->data + buf->start : "", buf->len);
}

/* ---- Base64 --------------------------------------------------------------------------------- */

/*
 * RFC 4648, section 4, with padding: the encoding of images, sounds and terminal output in
 * messages.  Appends the encoded bytes; ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
ACP_API int acp_base64_encode(struct acp_buf *out, const void *bytes, size_t n);
/* The number of bytes that the text decodes to if it is valid. */
ACP_API size_t acp_base64_decoded_size(struct acp_str text);
/*
 * Appends the decoded bytes.  Strict, so that each sequence of bytes has one encoding: no
 * characters outside the alphabet, no line breaks, full padding, and no bits set beyond the end.
 *
 * ACP_ERR_RANGE if the text is not valid, with the place in failure; ACP_ERR_LIMIT or
 * ACP_ERR_NOMEM, which leave failure alone.
 */
ACP_API int acp_base64_decode(struct acp_buf *out, struct acp_str text,
                              struct acp_failure *failure);

/* ---- Arena ---------------------------------------------------------------------------------- */

struct acp_arena_block;

/*
 * Memory for one message, released all at once.  Nothing in it is freed singly.  Leave the members
 * alone.
 */
struct acp_arena {
    struct acp_arena_block *blocks; /* newest first */
    char *next;
    char *end;
    size_t used; /* bytes obtained from malloc since the last reset */
    size_t max;
    void *reserved[2];
};

/*
 * An arena that obtains at most max bytes; 0 means ACP_ARENA_DEFAULT_MAX.  Allocates nothing yet.
 */
enum { ACP_ARENA_DEFAULT_MAX = 512 * 1024 * 1024 };
ACP_API void acp_arena_init(struct acp_arena *arena, size_t max);
/* Frees everything.  The arena is empty and can be used again, with the same maximum. */
ACP_API void acp_arena_finish(struct acp_arena *arena);
/*
 * Invalidates everything in the arena, but keeps its largest block if that is not above 1 MiB, so
 * that an arena used for one message after the other stops calling malloc.
 */
ACP_API void acp_arena_reset(struct acp_arena *arena);
/* Zeroed memory, aligned for any type; NULL if memory or the maximum is exhausted. */
ACP_API void *acp_arena_alloc(struct acp_arena *arena, size_t size);
/*
 * Enlarges an allocation, in place if it was the last one; otherwise it is copied, and old must not
 * be used any more.  The new part is zeroed.  A smaller size, or NULL for old, is allowed.
 * NULL if memory or the maximum is exhausted; old stays valid then.
 */
ACP_API void *acp_arena_grow(struct acp_arena *arena, void *old, size_t old_size, size_t new_size);
/* A copy terminated by NUL; its ptr is NULL if memory or the maximum is exhausted. */
ACP_API struct acp_str acp_arena_copy(struct acp_arena *arena, struct acp_str text);

#ifdef __cplusplus
}
#endif

#endif
