/*
 * base.h - the types that everything else uses: text spans, error codes, a bounded buffer, base64
 * and an arena.
 *
 *     struct acp_buf out;
 *     acp_buf_init(&out, 1 << 20);
 *     int err = acp_buf_printf(&out, "%.*s: %d", ACP_ARG(name), 42);
 *     if (err)
 *         fprintf(stderr, "%s\n", acp_err_text(err));
 *     else
 *         send(acp_buf_view(&out));
 *     acp_buf_finish(&out);
 *
 * Nothing here does I/O, reads a clock, keeps global state or prints.  An object belongs to one
 * thread at a time; different objects may be used by different threads.
 *
 * Structs that programs fill must be zeroed first (an initialiser with designated members does
 * that), also where they have members called `reserved`, which are for the members of later
 * versions.  docs/abi.md says what may change.
 */
#ifndef ACP_BASE_H
#define ACP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
 * Functions that can fail return 0 (or a count) on success and one of these negative codes on
 * failure; what they return through ret_ pointers is written on success only.
 *
 * A sentence for people comes with an error in one of three ways, depending on the function:
 *   - functions that read a text or a configuration, or start a program, fill a struct acp_failure
 *   - a request to the other side ends with a struct acp_outcome (rpc.h), whose `why` says it
 *   - a call of the client role that fails at once leaves it in acp_client_error_text()
 * All others have the code alone: acp_err_text() describes it, and the comment at the function says
 * which codes it returns and what they mean there.
 *
 * The third column is the JSON-RPC code that a peer is told when the error is its doing.
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

enum acp_err {
#define ACP_ERR_ENUM(name, number, rpc, text) ACP_ERR_##name = (number),
    ACP_ERR_MAP(ACP_ERR_ENUM)
#undef ACP_ERR_ENUM
};

/* A description for people, static; never NULL, also for numbers that are not in the list. */
ACP_API const char *acp_err_text(int err);
/* The name without prefix, for logs and programs ("SYNTAX"). */
ACP_API const char *acp_err_name(int err);
/* The JSON-RPC error code that tells a peer about it. */
ACP_API int acp_err_rpc_code(int err);

/* What went wrong and where.  Filled only on failure; every function that takes one takes NULL. */
struct acp_failure {
    int err;           /* enum acp_err */
    size_t offset;     /* byte in the text where it was seen, where there is a text */
    char path[120];    /* "update.content[2].text", empty at the root */
    char message[200]; /* one sentence, without a final stop */
    void *reserved[2];
};

/* ---- Text ----------------------------------------------------------------------------------- */

/*
 * A span of bytes that somebody else owns; not NUL-terminated.  In messages:
 *   ptr == NULL          the field is absent
 *   acp_is_null(ptr)     the field is JSON null; such a span reads as the empty text
 *   anything else        the field has a value, maybe an empty one
 */
struct acp_str {
    const char *ptr;
    size_t len;
};

/* A JSON value as the bytes it came in, or is to be written as; absent when ptr is NULL. */
struct acp_raw {
    const char *ptr;
    size_t len;
};

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

/* The two arguments that printf's "%.*s" takes for a text: printf("%.*s\n", ACP_ARG(text)). */
#define ACP_ARG(s) (int) (s).len, ((s).ptr ? (s).ptr : "")

/* Made from a literal; usable in static initialisers. */
#define ACP_STR(literal)                                                                           \
    {                                                                                              \
        (literal), sizeof(literal) - 1                                                             \
    }

static inline struct acp_str acp_str_n(const char *ptr, size_t len)
{
    struct acp_str s = {ptr, len};
    return s;
}

/* From a C string; NULL gives the absent text. */
static inline struct acp_str acp_str_from(const char *text)
{
    return acp_str_n(text, text ? strlen(text) : 0);
}

static inline struct acp_raw acp_raw_n(const char *ptr, size_t len)
{
    struct acp_raw r = {ptr, len};
    return r;
}

static inline struct acp_raw acp_raw_from(const char *json)
{
    return acp_raw_n(json, json ? strlen(json) : 0);
}

static inline bool acp_str_eq(struct acp_str a, struct acp_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool acp_str_is(struct acp_str a, const char *text)
{
    return acp_str_eq(a, acp_str_from(text));
}

static inline bool acp_str_starts_with(struct acp_str a, const char *with)
{
    size_t n = strlen(with);
    return a.len >= n && acp_str_eq(acp_str_n(a.ptr, n), acp_str_n(with, n));
}

/* A copy that ends in NUL and is freed with free(); NULL when memory is out. */
ACP_API char *acp_str_dup(struct acp_str text);

/*
 * The stand-in for JSON null wherever a field is a pointer: a block of zeros large enough for every
 * message struct.  Who does not care reads an empty text, list or struct; who cares asks
 * acp_is_null().
 */
enum { ACP_NULL_SIZE = 1024 };
ACP_API const void *acp_null(void);
ACP_API bool acp_is_null(const void *ptr);

/* Neither absent nor null. */
static inline bool acp_is_set(const void *ptr)
{
    return ptr && !acp_is_null(ptr);
}

static inline struct acp_str acp_str_null(void)
{
    return acp_str_n((const char *) acp_null(), 0);
}

/* What the init functions of messages begin with. */
ACP_API void acp_zero(void *memory, size_t size);

/* Numbers and booleans that may be absent or null. */
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
 * Bytes that grow at the end up to a maximum given at the start, and can be consumed from the
 * front.  Every buffer that a peer can make grow has such a maximum.
 *
 * Invariants: data[start .. start + len) is the content; data is NULL exactly when cap is 0.
 */
struct acp_buf {
    char *data;
    size_t start;
    size_t len;
    size_t cap;
    size_t max;
    void *reserved;
};

ACP_API void acp_buf_init(struct acp_buf *buf, size_t max);
/* Frees the memory; the buffer is empty and usable again. */
ACP_API void acp_buf_finish(struct acp_buf *buf);
/* Forgets the content, keeps the memory. */
ACP_API void acp_buf_clear(struct acp_buf *buf);
ACP_API int acp_buf_grow(struct acp_buf *buf, size_t n);

/* Room for n more bytes at the end.  ACP_ERR_LIMIT, ACP_ERR_NOMEM; the content stays as it was. */
static inline int acp_buf_reserve(struct acp_buf *buf, size_t n)
{
    return n <= buf->cap - buf->start - buf->len ? 0 : acp_buf_grow(buf, n);
}

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

ACP_API int acp_buf_append_str(struct acp_buf *buf, struct acp_str text);
ACP_API int acp_buf_printf(struct acp_buf *buf, const char *format, ...) ACP_PRINTF(2, 3);
/* Drops n bytes from the front. */
ACP_API void acp_buf_consume(struct acp_buf *buf, size_t n);
/* Cuts the content to its first n bytes. */
ACP_API void acp_buf_truncate(struct acp_buf *buf, size_t n);

/* The content; valid until the buffer changes. */
static inline struct acp_str acp_buf_view(const struct acp_buf *buf)
{
    return acp_str_n(buf->data ? buf->data + buf->start : "", buf->len);
}

/* ---- Base64 --------------------------------------------------------------------------------- */

/*
 * RFC 4648, section 4, with its padding: what the data of images, sounds and terminals is written
 * as.  Encoding appends; ACP_ERR_LIMIT, ACP_ERR_NOMEM, and then nothing was appended.
 */
ACP_API int acp_base64_encode(struct acp_buf *out, const void *bytes, size_t n);
/* How many bytes the text stands for, if it is valid. */
ACP_API size_t acp_base64_decoded_size(struct acp_str text);
/*
 * Appends what the text stands for, or nothing.  Strict: nothing but the alphabet, no
 * line ends, all of the padding and no bits behind the end; so there is one text for each sequence
 * of bytes.  ACP_ERR_RANGE, and failure, which may be NULL, tells where; ACP_ERR_LIMIT, _NOMEM.
 */
ACP_API int acp_base64_decode(struct acp_buf *out, struct acp_str text,
                              struct acp_failure *failure);

/* ---- Arena ---------------------------------------------------------------------------------- */

struct acp_arena_block;

/*
 * Memory for one message, freed at once.  Reset keeps the largest block, up to 1 MiB, so that
 * an arena that is used again and again stops calling malloc.
 */
struct acp_arena {
    struct acp_arena_block *blocks; /* newest first */
    char *next;
    char *end;
    size_t used; /* bytes asked from malloc since the last reset */
    size_t max;
    void *reserved[2];
};

/* max bounds what one message may take: 0 means ACP_ARENA_DEFAULT_MAX. */
enum { ACP_ARENA_DEFAULT_MAX = 512 * 1024 * 1024 };
ACP_API void acp_arena_init(struct acp_arena *arena, size_t max);
ACP_API void acp_arena_finish(struct acp_arena *arena);
ACP_API void acp_arena_reset(struct acp_arena *arena);
/* Zeroed memory, aligned for any type; NULL when memory or the limit is exhausted. */
ACP_API void *acp_arena_alloc(struct acp_arena *arena, size_t size);
/*
 * Grows an allocation; in place when it was the last one.  The new part is zeroed.  NULL on
 * failure, and then the old one is still good.
 */
ACP_API void *acp_arena_grow(struct acp_arena *arena, void *old, size_t old_size, size_t new_size);
/* A NUL-terminated copy; ptr is NULL on failure. */
ACP_API struct acp_str acp_arena_copy(struct acp_arena *arena, struct acp_str text);

#ifdef __cplusplus
}
#endif

#endif
