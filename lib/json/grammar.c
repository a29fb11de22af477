/* The grammar of JSON, strings and structure: shared by the scan and the reader. */
#include "json/grammar.h"

#include "base/utf8.h"

/* Four hex digits at p, or -1. */
static int32_t hex_quad(const char *p, const char *end)
{
    if (end - p < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = acp_json_hex_digit(p[i]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

#if ACP_JSON_SSE2
const char *acp_json_plain_more(const char *p, const char *end)
{
    unsigned mask;
    for (; end - p >= 16; p += 16) {
        mask = acp_json_specials(p);
        if (mask)
            return p + __builtin_ctz(mask);
    }
    /* The last sixteen bytes; those that have been seen already are shifted out. */
    mask = acp_json_specials(end - 16) >> (16 - (end - p));
    return mask ? p + __builtin_ctz(mask) : end;
}
#endif

const char *acp_json_plain_any(const char *p, const char *end)
{
    /*
     * Eight bytes at a time; each term has the top bit set in (at least) the first byte it is for.
     */
    const uint64_t ones = 0x0101010101010101u;
    const uint64_t tops = 0x8080808080808080u;
    for (; end - p >= 8; p += 8) {
        uint64_t v;
        memcpy(&v, p, sizeof(v));
        uint64_t q = v ^ (ones * '"');
        uint64_t b = v ^ (ones * '\\');
        uint64_t hit = v | ((v - ones * 0x20) & ~v) | ((q - ones) & ~q) | ((b - ones) & ~b);
        if (hit & tops)
            break;
    }
    while (p < end && !acp_json_special(*p))
        p++;
    return p;
}

/* acp_json_plain() with a cursor that has a block; p is not before it. */
static const char *plain_blocks(struct acp_json_cursor *c, const char *p)
{
    while (p < c->end) {
        size_t at = (size_t) (p - c->block);
        if (at >= ACP_JSON_BLOCK) {
            acp_json_load_block(c, p);
            continue;
        }
        uint64_t mask = c->specials >> at;
        if (mask)
            return p + __builtin_ctzll(mask);
        p = c->block + ACP_JSON_BLOCK;
    }
    return c->end;
}

/* How many bytes an escape takes, by what stands after its backslash; 0: it is none. */
static const unsigned char escape_lengths[256] = {
    ['"'] = 2, ['\\'] = 2, ['/'] = 2, ['b'] = 2, ['f'] = 2,
    ['n'] = 2, ['r'] = 2,  ['t'] = 2, ['u'] = 6,
};

/* The same for the escape at p, whose backslash has been seen; 0 when it is none. */
static inline size_t escape_length(const char *p, const char *end)
{
    size_t n = end - p >= 2 ? escape_lengths[(unsigned char) p[1]] : 0;
    if (n == 6 && hex_quad(p + 2, end) < 0)
        return 0;
    return n;
}

/* A run of non-ASCII text at p; returns the ASCII byte after it. */
static const char *non_ascii(struct acp_json_cursor *c, const char *p)
{
    while (p < c->end && (signed char) *p < 0) {
        size_t n = acp_utf8_length(p, c->end);
        if (n == 0)
            return acp_json_fail(c, p, ACP_ERR_UTF8);
        p += n;
    }
    return p;
}

#if ACP_JSON_SSE2
/*
 * Of sixteen bytes, those that are escaped by a backslash before them.  A run of backslashes
 * escapes the byte after it when the run is odd; adding the starts of runs to the runs carries a
 * bit to that byte.  *carry says whether the byte before the sixteen escapes the first of them.
 */
static inline unsigned escaped_bytes(unsigned backslashes, unsigned *carry)
{
    const unsigned even = 0x5555;
    backslashes &= ~*carry;
    unsigned follows = backslashes << 1 | *carry;
    unsigned odd_starts = backslashes & ~even & ~follows;
    unsigned sums = odd_starts + backslashes;
    *carry = sums >> 16 & 1;
    return (even ^ (sums << 1)) & follows & 0xFFFF;
}

/*
 * Of the sixteen bytes at p, the escaped ones that want a closer look: u and what is no escape.
 * There is seldom more than one, so they are looked up one by one.
 */
static inline unsigned odd_escapes(const char *p, unsigned escaped)
{
    unsigned odd = 0;
    for (unsigned left = escaped; left; left &= left - 1) {
        unsigned at = (unsigned) __builtin_ctz(left);
        odd |= (unsigned) (escape_lengths[(unsigned char) p[at]] != 2) << at;
    }
    return odd;
}

/*
 * Passes over a string, simple escapes included, sixteen bytes at a time.  Returns the closing
 * quote or the first byte that needs a closer look.
 */
static const char *string_blocks(struct acp_json_cursor *c, const char *p)
{
    unsigned carry = 0;
    for (; c->end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *) (const void *) p);
        unsigned backslashes = (unsigned) _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
        unsigned quotes = (unsigned) _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
        /* Control characters and, the comparison being signed, non-ASCII. */
        unsigned others = (unsigned) _mm_movemask_epi8(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)));
        unsigned escaped = 0;
        if (backslashes | carry) {
            escaped = escaped_bytes(backslashes, &carry);
            others |= odd_escapes(p, escaped);
        }
        unsigned stops = (quotes & ~escaped) | others;
        /* What stands behind the end of the string is none of its escapes. */
        if (backslashes & (stops - 1) & ~stops)
            c->escaped = true;
        if (stops) {
            unsigned at = (unsigned) __builtin_ctz(stops);
            /* An escape is looked at from its backslash on. */
            return p + at - (escaped >> at & 1);
        }
    }
    return p - carry;
}
#endif

const char *acp_json_string_rest(struct acp_json_cursor *c, const char *p)
{
    p = c->block ? plain_blocks(c, p) : acp_json_plain(p, c->end);
    if (p < c->end && *p == '"')
        return p;
    for (;;) {
#if ACP_JSON_SSE2
        p = string_blocks(c, p);
#endif
        p = acp_json_plain_any(p, c->end);
        if (p >= c->end)
            return acp_json_fail(c, c->end, ACP_ERR_SYNTAX);
        if (*p == '"')
            return p;
        if (*p == '\\') {
            size_t n = escape_length(p, c->end);
            if (n == 0)
                return acp_json_fail(c, p, ACP_ERR_SYNTAX);
            c->escaped = true;
            p += n;
        } else if ((unsigned char) *p < 0x20) {
            return acp_json_fail(c, p, ACP_ERR_SYNTAX);
        } else {
            p = non_ascii(c, p);
            if (!p)
                return NULL;
        }
    }
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

const char *acp_json_number(struct acp_json_cursor *c, const char *p)
{
    const char *end = c->end;
    if (p < end && *p == '-')
        p++;
    const char *whole = p;
    p = digits(p, end);
    if (p == whole || (*whole == '0' && p - whole > 1))
        return acp_json_fail(c, whole, ACP_ERR_SYNTAX);
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = digits(p, end);
        if (p == fraction)
            return acp_json_fail(c, p, ACP_ERR_SYNTAX);
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        const char *exponent = p;
        p = digits(p, end);
        if (p == exponent)
            return acp_json_fail(c, p, ACP_ERR_SYNTAX);
    }
    return p;
}

const char *acp_json_word(struct acp_json_cursor *c, const char *p)
{
    static const struct acp_str words[] = {ACP_STR("true"), ACP_STR("false"), ACP_STR("null")};
    size_t left = (size_t) (c->end - p);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (left >= words[i].len && memcmp(p, words[i].ptr, words[i].len) == 0)
            return p + words[i].len;
    return acp_json_fail(c, p, ACP_ERR_SYNTAX);
}

/* p is after the brace; depth counts this object. */
static const char *object(struct acp_json_cursor *c, const char *p, uint32_t depth)
{
    int more = acp_json_first_member(c, &p);
    while (more > 0) {
        p = acp_json_string(c, p);
        p = p ? acp_json_colon(c, p + 1) : NULL;
        if (!p)
            return NULL;
        /* Most members are strings, passed over in place. */
        if (p < c->end && *p == '"') {
            p = acp_json_string(c, p + 1);
            p = p ? p + 1 : NULL;
        } else {
            p = acp_json_value(c, p, depth);
        }
        if (!p)
            return NULL;
        more = acp_json_next_member(c, &p);
    }
    return more < 0 ? NULL : p;
}

/* p is after the bracket; depth counts this array. */
static const char *array(struct acp_json_cursor *c, const char *p, uint32_t depth)
{
    const char *end = c->end;
    p = acp_json_space(p, end);
    if (p < end && *p == ']')
        return p + 1;
    for (;;) {
        p = acp_json_value(c, p, depth);
        if (!p)
            return NULL;
        p = acp_json_space(p, end);
        if (p < end && *p == ']')
            return p + 1;
        if (p >= end || *p != ',')
            return acp_json_fail(c, p, ACP_ERR_SYNTAX);
        p = acp_json_space(p + 1, end);
    }
}

const char *acp_json_value(struct acp_json_cursor *c, const char *p, uint32_t depth)
{
    if (p >= c->end)
        return acp_json_fail(c, c->end, ACP_ERR_SYNTAX);
    switch (*p) {
    case '"':
        p = acp_json_string(c, p + 1);
        return p ? p + 1 : NULL;
    case '{':
        if (depth >= c->max_depth)
            return acp_json_fail(c, p, ACP_ERR_DEPTH);
        return object(c, p + 1, depth + 1);
    case '[':
        if (depth >= c->max_depth)
            return acp_json_fail(c, p, ACP_ERR_DEPTH);
        return array(c, p + 1, depth + 1);
    case 't':
    case 'f':
    case 'n':
        return acp_json_word(c, p);
    default:
        return acp_json_number(c, p);
    }
}

/*
 * One character of a checked string: puts its bytes in out (room for 4) and moves p behind it.
 * Half of a surrogate pair becomes U+FFFD.
 */
static size_t unfold(const char **at, const char *end, char *out)
{
    const char *p = *at;
    if (*p != '\\') {
        *at = p + 1;
        *out = *p;
        return 1;
    }
    *at = p + 2;
    switch (p[1]) {
    case 'b':
        *out = '\b';
        return 1;
    case 'f':
        *out = '\f';
        return 1;
    case 'n':
        *out = '\n';
        return 1;
    case 'r':
        *out = '\r';
        return 1;
    case 't':
        *out = '\t';
        return 1;
    case 'u':
        break;
    default:
        *out = p[1];
        return 1;
    }
    uint32_t code = (uint32_t) hex_quad(p + 2, end);
    p += 6;
    if (code >= 0xD800 && code < 0xE000) {
        int32_t low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex_quad(p + 2, end) : -1;
        if (code < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + ((uint32_t) low - 0xDC00);
            p += 6;
        } else {
            code = ACP_UTF8_REPLACEMENT;
        }
    }
    *at = p;
    return acp_utf8_put(out, code);
}

size_t acp_json_unescape(const char *p, const char *end, char *out)
{
    char *o = out;
    while (p < end) {
        const char *backslash = memchr(p, '\\', (size_t) (end - p));
        size_t run = (size_t) ((backslash ? backslash : end) - p);
        memcpy(o, p, run);
        o += run;
        p += run;
        if (p < end)
            o += unfold(&p, end, o);
    }
    return (size_t) (o - out);
}

bool acp_json_escaped_is(const char *p, const char *end, struct acp_str text)
{
    size_t matched = 0;
    while (p < end) {
        char bytes[4];
        size_t n = unfold(&p, end, bytes);
        if (n > text.len - matched || memcmp(bytes, text.ptr + matched, n) != 0)
            return false;
        matched += n;
    }
    return matched == text.len;
}
