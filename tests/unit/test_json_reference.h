/*
 * test_json_reference.h - JSON once more, byte by byte and as plain as it can be: what the library
 * says of a text is compared with what this says.
 */
#ifndef TESTS_UNIT_TEST_JSON_REFERENCE_H
#define TESTS_UNIT_TEST_JSON_REFERENCE_H

#include "acp/json.h"

struct ref {
    const unsigned char *s;
    size_t n;
    size_t i;  /* the byte at hand */
    size_t at; /* where an error was seen */
    int err;
    unsigned max_depth;
    char *out; /* where the last string is unfolded to, or NULL; has room for all of the text */
    size_t out_len;
};

static inline bool ref_fail(struct ref *r, size_t at, int err)
{
    r->at = at;
    r->err = err;
    return false;
}

static inline int ref_byte(const struct ref *r, size_t i)
{
    return i < r->n ? r->s[i] : -1;
}

static inline void ref_space(struct ref *r)
{
    while (ref_byte(r, r->i) == ' ' || ref_byte(r, r->i) == '\t' || ref_byte(r, r->i) == '\n' ||
           ref_byte(r, r->i) == '\r')
        r->i++;
}

static inline void ref_put(struct ref *r, unsigned long code)
{
    char *o = r->out;
    if (!o)
        return;
    if (code < 0x80) {
        o[r->out_len++] = (char) code;
    } else if (code < 0x800) {
        o[r->out_len++] = (char) (0xC0 + code / 64);
        o[r->out_len++] = (char) (0x80 + code % 64);
    } else if (code < 0x10000) {
        o[r->out_len++] = (char) (0xE0 + code / 4096);
        o[r->out_len++] = (char) (0x80 + code / 64 % 64);
        o[r->out_len++] = (char) (0x80 + code % 64);
    } else {
        o[r->out_len++] = (char) (0xF0 + code / 262144);
        o[r->out_len++] = (char) (0x80 + code / 4096 % 64);
        o[r->out_len++] = (char) (0x80 + code / 64 % 64);
        o[r->out_len++] = (char) (0x80 + code % 64);
    }
}

/* The code of \uXXXX at i, or -1 when there is none. */
static inline long ref_unicode(const struct ref *r, size_t i)
{
    long code = 0;
    if (ref_byte(r, i) != '\\' || ref_byte(r, i + 1) != 'u')
        return -1;
    for (size_t k = i + 2; k < i + 6; k++) {
        int c = ref_byte(r, k);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

static inline bool ref_escape(struct ref *r)
{
    static const char names[] = "\"\\/bfnrt";
    static const char means[] = "\"\\/\b\f\n\r\t";
    int c = ref_byte(r, r->i + 1);
    const char *found = c > 0 ? strchr(names, c) : NULL;
    if (found) {
        ref_put(r, (unsigned char) means[found - names]);
        r->i += 2;
        return true;
    }
    long code = ref_unicode(r, r->i);
    if (code < 0)
        return ref_fail(r, r->i, ACP_ERR_SYNTAX);
    r->i += 6;
    if (code >= 0xD800 && code <= 0xDBFF) {
        long low = ref_unicode(r, r->i);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            r->i += 6;
            code = 0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00);
        } else {
            code = 0xFFFD;
        }
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
        code = 0xFFFD;
    }
    ref_put(r, (unsigned long) code);
    return true;
}

/* A sequence of several bytes, decoded first and judged by its number then. */
static inline bool ref_utf8(struct ref *r)
{
    static const unsigned long smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    int first = ref_byte(r, r->i);
    size_t len = first >= 0xF8 ? 0 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 0;
    unsigned long code = (unsigned long) first % (len ? 128ul >> len : 1);
    for (size_t k = 1; k < len; k++) {
        int c = ref_byte(r, r->i + k);
        if (c < 0x80 || c > 0xBF)
            return ref_fail(r, r->i, ACP_ERR_UTF8);
        code = code * 64 + (unsigned long) c % 64;
    }
    if (len == 0 || code < smallest[len] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return ref_fail(r, r->i, ACP_ERR_UTF8);
    ref_put(r, code);
    r->i += len;
    return true;
}

/* i is at the opening quote. */
static inline bool ref_string(struct ref *r)
{
    r->out_len = 0;
    r->i++;
    for (;;) {
        int c = ref_byte(r, r->i);
        if (c < 0x20) /* the end is -1 */
            return ref_fail(r, r->i, ACP_ERR_SYNTAX);
        if (c == '"') {
            r->i++;
            return true;
        }
        if (c == '\\') {
            if (!ref_escape(r))
                return false;
        } else if (c >= 0x80) {
            if (!ref_utf8(r))
                return false;
        } else {
            ref_put(r, (unsigned long) c);
            r->i++;
        }
    }
}

static inline bool ref_digits(struct ref *r)
{
    size_t from = r->i;
    while (ref_byte(r, r->i) >= '0' && ref_byte(r, r->i) <= '9')
        r->i++;
    return r->i > from;
}

static inline bool ref_number(struct ref *r)
{
    if (ref_byte(r, r->i) == '-')
        r->i++;
    size_t whole = r->i;
    if (!ref_digits(r) || (r->s[whole] == '0' && r->i > whole + 1))
        return ref_fail(r, whole, ACP_ERR_SYNTAX);
    if (ref_byte(r, r->i) == '.') {
        r->i++;
        if (!ref_digits(r))
            return ref_fail(r, r->i, ACP_ERR_SYNTAX);
    }
    if (ref_byte(r, r->i) == 'e' || ref_byte(r, r->i) == 'E') {
        r->i++;
        if (ref_byte(r, r->i) == '+' || ref_byte(r, r->i) == '-')
            r->i++;
        if (!ref_digits(r))
            return ref_fail(r, r->i, ACP_ERR_SYNTAX);
    }
    return true;
}

static inline bool ref_word(struct ref *r, const char *word)
{
    for (size_t k = 0; word[k]; k++)
        if (ref_byte(r, r->i + k) != word[k])
            return ref_fail(r, r->i, ACP_ERR_SYNTAX);
    r->i += strlen(word);
    return true;
}

static inline bool ref_value(struct ref *r, unsigned depth);

static inline bool ref_container(struct ref *r, unsigned depth, int closing)
{
    if (depth >= r->max_depth)
        return ref_fail(r, r->i, ACP_ERR_DEPTH);
    r->i++;
    ref_space(r);
    if (ref_byte(r, r->i) == closing) {
        r->i++;
        return true;
    }
    for (;;) {
        if (closing == '}') {
            if (ref_byte(r, r->i) != '"')
                return ref_fail(r, r->i, ACP_ERR_SYNTAX);
            if (!ref_string(r))
                return false;
            ref_space(r);
            if (ref_byte(r, r->i) != ':')
                return ref_fail(r, r->i, ACP_ERR_SYNTAX);
            r->i++;
            ref_space(r);
        }
        if (!ref_value(r, depth + 1))
            return false;
        ref_space(r);
        if (ref_byte(r, r->i) == closing) {
            r->i++;
            return true;
        }
        if (ref_byte(r, r->i) != ',')
            return ref_fail(r, r->i, ACP_ERR_SYNTAX);
        r->i++;
        ref_space(r);
    }
}

static inline bool ref_value(struct ref *r, unsigned depth)
{
    switch (ref_byte(r, r->i)) {
    case '"':
        return ref_string(r);
    case '{':
        return ref_container(r, depth, '}');
    case '[':
        return ref_container(r, depth, ']');
    case 't':
        return ref_word(r, "true");
    case 'f':
        return ref_word(r, "false");
    case 'n':
        return ref_word(r, "null");
    default:
        return ref_number(r);
    }
}

/* A whole text: 0, or the error with *ret_at where it was seen. */
static inline int ref_validate(struct acp_raw text, unsigned max_depth, size_t *ret_at)
{
    struct ref r = {.s = (const unsigned char *) text.ptr, .n = text.len, .max_depth = max_depth};
    ref_space(&r);
    if (ref_value(&r, 0)) {
        ref_space(&r);
        if (r.i < r.n)
            (void) ref_fail(&r, r.i, ACP_ERR_SYNTAX);
    }
    *ret_at = r.at;
    return r.err;
}

#endif
