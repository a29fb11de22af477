/* utf8.h - the one place that knows which bytes are UTF-8. */
#ifndef LIB_BASE_UTF8_H
#define LIB_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "acp/base.h"

/*
 * The length (1 to 4) of the well-formed sequence that starts at p, or 0: overlong forms,
 * surrogates, numbers over U+10FFFF and cut-off sequences are not well-formed.  p < end.
 */
static inline size_t acp_utf8_length(const char *text, const char *end)
{
    const unsigned char *p = (const unsigned char *) text;
    size_t left = (size_t) (end - text);
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || left < 2 || (p[1] & 0xC0) != 0x80)
        return 0;
    if (p[0] < 0xE0)
        return 2;
    if (left < 3 || (p[2] & 0xC0) != 0x80)
        return 0;
    if (p[0] < 0xF0) {
        if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F))
            return 0;
        return 3;
    }
    if (p[0] > 0xF4 || left < 4 || (p[3] & 0xC0) != 0x80)
        return 0;
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return 4;
}

/* The length to which text must be cut so that at most max bytes and no torn sequence remain. */
static inline size_t acp_utf8_cut(const char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while (max && ((unsigned char) text[max] & 0xC0) == 0x80)
        max--;
    return max;
}

/* At most max bytes of a text, without a torn sequence at the end. */
static inline struct acp_str acp_str_cut(struct acp_str text, size_t max)
{
    return acp_str_n(text.ptr, acp_utf8_cut(text.ptr, text.len, max));
}

/*
 * Copies the text to out, at most max bytes of it, without a NUL; what is cut ends in an ellipsis.
 * max is at least the 3 bytes of that.  out may be text.  Returns how many bytes were written.
 */
static inline size_t acp_utf8_copy_cut(char *out, const char *text, size_t len, size_t max)
{
    size_t kept = len <= max ? len : acp_utf8_cut(text, len, max - 3);
    if (kept && out != text)
        (void) memcpy(out, text, kept);
    if (kept == len)
        return len;
    (void) memcpy(out + kept, "\xe2\x80\xa6", 3);
    return kept + 3;
}

/* The code point of the well-formed sequence of n bytes at text. */
static inline uint32_t acp_utf8_code(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *) text;
    uint32_t code = n == 1 ? p[0] : p[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (p[i] & 0x3Fu);
    return code;
}

/* Writes a code point (not a surrogate, at most U+10FFFF) as 1 to 4 bytes and returns how many. */
static inline size_t acp_utf8_put(char *out, uint32_t code)
{
    unsigned char *o = (unsigned char *) out;
    if (code < 0x80) {
        o[0] = (unsigned char) code;
        return 1;
    }
    if (code < 0x800) {
        o[0] = (unsigned char) (0xC0 | (code >> 6));
        o[1] = (unsigned char) (0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        o[0] = (unsigned char) (0xE0 | (code >> 12));
        o[1] = (unsigned char) (0x80 | ((code >> 6) & 0x3F));
        o[2] = (unsigned char) (0x80 | (code & 0x3F));
        return 3;
    }
    o[0] = (unsigned char) (0xF0 | (code >> 18));
    o[1] = (unsigned char) (0x80 | ((code >> 12) & 0x3F));
    o[2] = (unsigned char) (0x80 | ((code >> 6) & 0x3F));
    o[3] = (unsigned char) (0x80 | (code & 0x3F));
    return 4;
}

enum { ACP_UTF8_REPLACEMENT = 0xFFFD };

#endif
