/*
 * text.h - the grammar of JSON as functions over [p, end): each checks one thing and returns the
 * byte after it, or NULL with *err set and *where at the offending byte.  The scan and the reader
 * are both made of these, so there is one opinion of what JSON is.
 */
#ifndef LIB_JSON_TEXT_H
#define LIB_JSON_TEXT_H

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

/* State of one pass over a text. */
struct acp_json_cursor {
    const char *end;
    const char *where;  /* the byte that an error is about */
    uint32_t max_depth;
    int err;
    bool escaped; /* the last string had an escape in it */
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

/* A byte that cannot simply be passed over inside a string: quote, backslash, control, non-ASCII. */
static inline bool acp_json_special(char c)
{
    return c == '"' || c == '\\' || (signed char) c < 0x20;
}

/* The first special byte at or after p, or end. */
static inline const char *acp_json_plain(const char *p, const char *end)
{
#if ACP_JSON_SSE2
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(0x20);
    while (end - p >= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *) (const void *) p);
        /* The comparison is signed, so bytes from 0x80 up count as less than a space. */
        __m128i hit = _mm_or_si128(_mm_cmplt_epi8(v, space),
                                   _mm_or_si128(_mm_cmpeq_epi8(v, quote),
                                                _mm_cmpeq_epi8(v, backslash)));
        unsigned mask = (unsigned) _mm_movemask_epi8(hit);
        if (mask)
            return p + __builtin_ctz(mask);
        p += 16;
    }
#endif
    /* Eight bytes at a time; each term has the top bit set in (at least) the first byte it is for. */
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t tops = 0x8080808080808080u;
    while (end - p >= 8) {
        uint64_t v;
        memcpy(&v, p, sizeof(v));
        uint64_t q = v ^ (ones * '"');
        uint64_t b = v ^ (ones * '\\');
        uint64_t hit = v | ((v - ones * 0x20) & ~v) | ((q - ones) & ~q) | ((b - ones) & ~b);
        if (hit & tops)
            break;
        p += 8;
    }
    while (p < end && !acp_json_special(*p))
        p++;
    return p;
}

/* p is after the opening quote; returns the closing quote. */
const char *acp_json_string_rest(struct acp_json_cursor *c, const char *p);

static inline const char *acp_json_string(struct acp_json_cursor *c, const char *p)
{
    c->escaped = false;
    p = acp_json_plain(p, c->end);
    if (p < c->end && *p == '"')
        return p;
    return acp_json_string_rest(c, p);
}

const char *acp_json_number(struct acp_json_cursor *c, const char *p);
/* true, false or null. */
const char *acp_json_word(struct acp_json_cursor *c, const char *p);
/* Any value that starts at p, inside of depth containers. */
const char *acp_json_value(struct acp_json_cursor *c, const char *p, uint32_t depth);

/* Unfolds the inside of a checked string; out has room for as many bytes.  Returns the length. */
size_t acp_json_unescape(const char *p, const char *end, char *out);
/* Whether the inside of a checked string, unfolded, is this text. */
bool acp_json_escaped_is(const char *p, const char *end, struct acp_str text);

/* The value of a checked number. */
int acp_json_integer(struct acp_raw number, bool *ret_negative, uint64_t *ret_magnitude);
double acp_json_double(struct acp_raw number);
/* Writes the shortest text that reads back the same; returns its length (at most 32). */
size_t acp_json_format_double(double value, char out[32]);

#endif
