/*
 * grammar.h - the grammar of JSON as functions over [p, end): each checks one thing and returns the
 * byte after it, or NULL with *err set and *where at the offending byte.  The scan and the reader
 * are both made of these, so there is one opinion of what JSON is.
 */
#ifndef LIB_JSON_GRAMMAR_H
#define LIB_JSON_GRAMMAR_H

#include "acp/json.h"

/*
 * Vector instructions search texts for the bytes that end or complicate them; ACP_PORTABLE forces
 * the path for machines without, so that the tests can run both.
 */
#if defined(__SSE2__) && !defined(ACP_PORTABLE)
#define ACP_JSON_SSE2 1
#include <emmintrin.h>
#else
#define ACP_JSON_SSE2 0
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ACP_JSON_BIG_ENDIAN 1
#else
#define ACP_JSON_BIG_ENDIAN 0
#endif

/* How many bytes a mask of special bytes is about. */
enum { ACP_JSON_BLOCK = 64 };

/*
 * State of one pass over a text.
 *
 * A pass over a whole message knows its special bytes 64 at a time: finding the end of a string is
 * then a shift and a count, which do not wait for a load and four vector instructions each time.
 */
struct acp_json_cursor {
    const char *end;
    const char *block; /* what specials is about; NULL: strings are searched one by one */
    uint64_t specials;
    const char *where; /* the byte that an error is about */
    uint32_t max_depth;
    int err;
    bool escaped; /* a string had an escape in it; the caller clears it */
};

static inline const char *acp_json_fail(struct acp_json_cursor *c, const char *where, int err)
{
    c->where = where;
    c->err = err;
    return NULL;
}

static inline const char *acp_json_space(const char *p, const char *end)
{
    while (p < end && (unsigned char) *p <= ' ' &&
           (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
        p++;
    return p;
}

/*
 * The byte of structure at *at, with white space before it passed over; 0 at the end.  Messages
 * seldom have any, so the byte itself is looked at first.
 */
static inline char acp_json_next(const char **at, const char *end)
{
    const char *p = *at;
    if (p < end && (unsigned char) *p > ' ')
        return *p;
    *at = p = acp_json_space(p, end);
    return p < end ? *p : '\0';
}

/*
 * A byte that cannot simply be passed over inside a string: quote, backslash, control, non-ASCII.
 */
static inline bool acp_json_special(char c)
{
    return c == '"' || c == '\\' || (signed char) c < 0x20;
}

#if ACP_JSON_SSE2
/* All bits set in each special byte of sixteen. */
static inline __m128i acp_json_special_bytes(__m128i v)
{
    /*
     * With one bit flipped the quote is the byte after the controls, which stay controls.  The
     * comparison is signed, so bytes from 0x80 up are less than they.
     */
    __m128i flipped = _mm_xor_si128(v, _mm_set1_epi8('"' ^ 0x20));
    return _mm_or_si128(_mm_cmplt_epi8(flipped, _mm_set1_epi8(0x21)),
                        _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
}

static inline __m128i acp_json_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *) (const void *) p);
}

/* One bit for each special byte among the sixteen at p. */
static inline unsigned acp_json_specials(const char *p)
{
    return (unsigned) _mm_movemask_epi8(acp_json_special_bytes(acp_json_load(p)));
}
#endif

/* The first special byte at or after p, or end. */
const char *acp_json_plain_any(const char *p, const char *end);
#if ACP_JSON_SSE2
/* The same where the sixteen bytes before p may be read. */
const char *acp_json_plain_more(const char *p, const char *end);
#endif

/* The same; most texts are short, so the first sixteen bytes are looked at in place. */
static inline const char *acp_json_plain(const char *p, const char *end)
{
#if ACP_JSON_SSE2
    if (end - p >= 16) {
        unsigned mask = acp_json_specials(p);
        return mask ? p + __builtin_ctz(mask) : acp_json_plain_more(p + 16, end);
    }
#endif
    return acp_json_plain_any(p, end);
}

/* One bit for each special byte of a block, the lowest for the first. */
static inline uint64_t acp_json_block_specials(const char *p)
{
    uint64_t specials = 0;
#if ACP_JSON_SSE2
    for (unsigned i = 0; i < ACP_JSON_BLOCK; i += 16)
        specials |= (uint64_t) acp_json_specials(p + i) << i;
#else
    /* Eight bytes at a time, the first one lowest; sums of seven bits have no carry. */
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t tops = 0x8080808080808080u;
    for (unsigned i = 0; i < ACP_JSON_BLOCK; i += 8) {
        uint64_t v;
        memcpy(&v, p + i, sizeof(v));
        if (ACP_JSON_BIG_ENDIAN)
            v = __builtin_bswap64(v);
        uint64_t low = v & ~tops;
        /* As with vectors: controls and the quote are below 0x21 once a bit is flipped. */
        uint64_t plain = (low ^ ones * ('"' ^ 0x20)) + ones * (0x80 - 0x21);
        uint64_t other = (low ^ ones * '\\') + ones * 0x7F;
        uint64_t hits = (v | ~(plain & other)) & tops;
        /* Gathers the top bits in the highest byte. */
        if (hits)
            specials |= (hits >> 7) * 0x0102040810204080u >> 56 << i;
    }
#endif
    return specials;
}

/*
 * Moves the cursor's block to p, or to the last one of the text, which overlaps the one before it
 * so that nothing behind the end is read.  The text has at least ACP_JSON_BLOCK bytes.
 */
static inline void acp_json_load_block(struct acp_json_cursor *c, const char *p)
{
    const char *last = c->end - ACP_JSON_BLOCK;
    c->block = p < last ? p : last;
    c->specials = acp_json_block_specials(c->block);
}

/* p is inside of a string; returns its closing quote. */
const char *acp_json_string_rest(struct acp_json_cursor *c, const char *p);

/* p is after the opening quote; returns the closing quote. */
static inline const char *acp_json_string(struct acp_json_cursor *c, const char *p)
{
    uintptr_t at = (uintptr_t) p - (uintptr_t) c->block; /* huge where there is no block */
    uint64_t mask = at < ACP_JSON_BLOCK ? c->specials >> at : 0;
    if (mask) {
        const char *special = p + __builtin_ctzll(mask);
        if (*special == '"')
            return special;
    }
    return acp_json_string_rest(c, p);
}

const char *acp_json_number(struct acp_json_cursor *c, const char *p);
/* true, false or null. */
const char *acp_json_word(struct acp_json_cursor *c, const char *p);
/* Any value that starts at p, inside of depth containers. */
const char *acp_json_value(struct acp_json_cursor *c, const char *p, uint32_t depth);

/* p is after a key; passes over the colon and the white space around it. */
static inline const char *acp_json_colon(struct acp_json_cursor *c, const char *p)
{
    if (acp_json_next(&p, c->end) != ':')
        return acp_json_fail(c, p, ACP_ERR_SYNTAX);
    p++;
    (void) acp_json_next(&p, c->end);
    return p;
}

/* *at is where a key has to start: moves it behind the opening quote and returns 1, or -1. */
static inline int acp_json_open_key(struct acp_json_cursor *c, const char **at)
{
    if (acp_json_next(at, c->end) != '"') {
        (void) acp_json_fail(c, *at, ACP_ERR_SYNTAX);
        return -1;
    }
    (*at)++;
    return 1;
}

/*
 * *at is after the opening brace.  Returns 1 with *at after the quote that opens the first key, 0
 * with *at after the closing brace when the object is empty, -1 on error.
 */
static inline int acp_json_first_member(struct acp_json_cursor *c, const char **at)
{
    if (acp_json_next(at, c->end) != '}')
        return acp_json_open_key(c, at);
    (*at)++;
    return 0;
}

/* The same where *at is after the value of a member. */
static inline int acp_json_next_member(struct acp_json_cursor *c, const char **at)
{
    char next = acp_json_next(at, c->end);
    if (next == ',') {
        (*at)++;
        (void) acp_json_next(at, c->end);
        return acp_json_open_key(c, at);
    }
    if (next != '}') {
        (void) acp_json_fail(c, *at, ACP_ERR_SYNTAX);
        return -1;
    }
    (*at)++;
    return 0;
}

/* The value of a hexadecimal digit, or -1. */
static inline int acp_json_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char) (c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Unfolds the inside of a checked string; out has room for as many bytes.  Returns the length. */
size_t acp_json_unescape(const char *p, const char *end, char *out);
/* Whether the inside of a checked string, unfolded, is this text. */
bool acp_json_escaped_is(const char *p, const char *end, struct acp_str text);

/*
 * A checked number taken apart: its digits without zeros at either end, times ten to the power.
 * Equal numbers have equal parts, however they are written.
 */
struct acp_json_decimal {
    bool negative;      /* never for zero */
    const char *digits; /* the first that is not zero; a point may stand among them */
    size_t point;       /* how many of the digits stand before that point */
    size_t count;       /* 0: the number is zero */
    int64_t power;      /* of the last digit; exact up to a million million, then only huge */
};

struct acp_json_decimal acp_json_take_apart(struct acp_raw number);

static inline char acp_json_digit(const struct acp_json_decimal *d, size_t i)
{
    return d->digits[i < d->point ? i : i + 1];
}

/* The value of a checked number. */
int acp_json_integer(struct acp_raw number, bool *ret_negative, uint64_t *ret_magnitude);
double acp_json_double(struct acp_raw number);
/* Writes the shortest text that reads back the same; returns its length (at most 32). */
size_t acp_json_format_double(double value, char out[32]);

#endif
