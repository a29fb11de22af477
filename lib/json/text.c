/* The grammar of JSON, strings and structure: shared by the scan and the reader. */
#include "json/text.h"

#include "base/utf8.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char) (c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits at p, or -1. */
static int32_t hex_quad(const char *p, const char *end)
{
    if (end - p < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* p is at a backslash; returns the byte after the escape. */
static const char *escape(struct acp_json_cursor *c, const char *p)
{
    c->escaped = true;
    if (c->end - p < 2)
        return acp_json_fail(c, c->end, ACP_ERR_SYNTAX);
    switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return p + 2;
    case 'u':
        if (hex_quad(p + 2, c->end) >= 0)
            return p + 6;
        return acp_json_fail(c, p + 1, ACP_ERR_SYNTAX);
    default:
        return acp_json_fail(c, p + 1, ACP_ERR_SYNTAX);
    }
}

const char *acp_json_string_rest(struct acp_json_cursor *c, const char *p)
{
    for (;;) {
        if (p >= c->end)
            return acp_json_fail(c, c->end, ACP_ERR_SYNTAX);
        if (*p == '"')
            return p;
        if (*p == '\\') {
            p = escape(c, p);
            if (!p)
                return NULL;
        } else if ((unsigned char) *p < 0x20) {
            return acp_json_fail(c, p, ACP_ERR_SYNTAX);
        } else {
            /* A run of non-ASCII text; leave it only when ASCII comes again. */
            while (p < c->end && (signed char) *p < 0) {
                size_t n = acp_utf8_length(p, c->end);
                if (n == 0)
                    return acp_json_fail(c, p, ACP_ERR_UTF8);
                p += n;
            }
        }
        p = acp_json_plain(p, c->end);
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
    const char *end = c->end;
    p = acp_json_space(p, end);
    if (p < end && *p == '}')
        return p + 1;
    for (;;) {
        if (p >= end || *p != '"')
            return acp_json_fail(c, p, ACP_ERR_SYNTAX);
        p = acp_json_string(c, p + 1);
        if (!p)
            return NULL;
        p = acp_json_space(p + 1, end);
        if (p >= end || *p != ':')
            return acp_json_fail(c, p, ACP_ERR_SYNTAX);
        p = acp_json_value(c, acp_json_space(p + 1, end), depth);
        if (!p)
            return NULL;
        p = acp_json_space(p, end);
        if (p < end && *p == '}')
            return p + 1;
        if (p >= end || *p != ',')
            return acp_json_fail(c, p, ACP_ERR_SYNTAX);
        p = acp_json_space(p + 1, end);
    }
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
