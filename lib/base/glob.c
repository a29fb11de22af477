/*
 * Patterns.  Both levels, characters within a name and names within a path, are matched in the
 * same way: of all stars only the last one met can still be wrong, because what an earlier one
 * could take more, a later one can take as well.  So there is one place to go back to, and no
 * recursion.
 */
#include "base/glob.h"

#include "base/utf8.h"

/* ---- Characters ----------------------------------------------------------------------------- */

/* How long the character at p is; p < end. */
static size_t char_len(const char *p, const char *end)
{
    size_t n = acp_utf8_length(p, end);
    return n ? n : 1;
}

/* A number that grows with the code point; bytes that are not UTF-8 come after all of them. */
static uint32_t char_code(const char *p, const char *end)
{
    size_t n = acp_utf8_length(p, end);
    uint32_t code = 0;
    for (size_t i = 0; i < (n ? n : 1); i++)
        code = code << 8 | (unsigned char) p[i];
    return n ? code : 0xff000000u | code;
}

/* The end of the class that begins at p, behind its "]"; NULL when it is not closed. */
static const char *class_end(const char *p, const char *end)
{
    p++;
    if (p < end && (*p == '!' || *p == '^'))
        p++;
    /* The first one is a member, even if it is a bracket. */
    for (bool first = true; p < end; first = false) {
        if (*p == ']' && !first)
            return p + 1;
        if (*p == '\\' && p + 1 < end)
            p++;
        p += char_len(p, end);
    }
    return NULL;
}

/* One member of a class, behind an escape if there is one. */
static uint32_t member(const char **p, const char *end)
{
    if (**p == '\\' && *p + 1 < end)
        (*p)++;
    uint32_t code = char_code(*p, end);
    *p += char_len(*p, end);
    return code;
}

/* Whether the class [p, end) has the character; end is behind its "]". */
static bool class_has(const char *p, const char *end, uint32_t code)
{
    const char *last = end - 1;
    bool negated = p[1] == '!' || p[1] == '^';
    bool found = false;
    p += negated ? 2 : 1;
    while (p < last) {
        uint32_t low = member(&p, last);
        uint32_t high = low;
        if (last - p >= 2 && *p == '-') {
            p++;
            high = member(&p, last);
        }
        found |= low <= code && code <= high;
    }
    return found != negated;
}

/* One unit of the pattern against one character: both move on when they fit. */
static bool match_one(const char **pattern, const char *pattern_end, const char **text,
                      const char *text_end)
{
    const char *p = *pattern;
    const char *t = *text;
    if (p == pattern_end || t == text_end)
        return false;
    size_t n = char_len(t, text_end);
    const char *closed = *p == '[' ? class_end(p, pattern_end) : NULL;
    if (*p == '?') {
        p++;
    } else if (closed) {
        if (!class_has(p, closed, char_code(t, text_end)))
            return false;
        p = closed;
    } else {
        if (*p == '\\' && p + 1 < pattern_end)
            p++;
        size_t m = char_len(p, pattern_end);
        if (m != n || memcmp(p, t, n) != 0)
            return false;
        p += m;
    }
    *pattern = p;
    *text = t + n;
    return true;
}

bool acp_glob_text(struct acp_str pattern, struct acp_str text)
{
    /* A text that is absent is an empty one. */
    const char *p = pattern.len ? pattern.ptr : "";
    const char *p_end = p + pattern.len;
    const char *t = text.len ? text.ptr : "";
    const char *t_end = t + text.len;
    const char *star = NULL; /* behind the last star, and where its share of the text ends */
    const char *share = NULL;
    for (;;) {
        if (p < p_end && *p == '*') {
            star = ++p;
            share = t;
        } else if (p == p_end && t == t_end) {
            return true;
        } else if (!match_one(&p, p_end, &t, t_end)) {
            if (!star || share == t_end)
                return false;
            share += char_len(share, t_end);
            t = share;
            p = star;
        }
    }
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* Takes the next name off the path; false at the end. */
static bool next_name(struct acp_str *path, struct acp_str *ret_name)
{
    while (path->len && *path->ptr == '/')
        *path = acp_str_n(path->ptr + 1, path->len - 1);
    if (path->len == 0)
        return false;
    const char *slash = memchr(path->ptr, '/', path->len);
    size_t n = slash ? (size_t) (slash - path->ptr) : path->len;
    *ret_name = acp_str_n(path->ptr, n);
    *path = acp_str_n(path->ptr + n, path->len - n);
    return true;
}

bool acp_glob_path(struct acp_str pattern, struct acp_str path)
{
    bool starred = false;
    struct acp_str star = {NULL, 0}; /* behind the last double star, and its share */
    struct acp_str share = {NULL, 0};
    struct acp_str want;
    struct acp_str have;
    for (;;) {
        struct acp_str p = pattern;
        struct acp_str t = path;
        bool more_pattern = next_name(&p, &want);
        bool more_path = next_name(&t, &have);
        if (more_pattern && acp_str_is(want, "**")) {
            starred = true;
            star = pattern = p;
            share = path;
        } else if (!more_pattern && !more_path) {
            return true;
        } else if (more_pattern && more_path && acp_glob_text(want, have)) {
            pattern = p;
            path = t;
        } else {
            if (!starred || !next_name(&share, &have))
                return false;
            path = share;
            pattern = star;
        }
    }
}

/* ---- Patterns as such ----------------------------------------------------------------------- */

bool acp_glob_is_wild(struct acp_str pattern)
{
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] == '\\')
            i++;
        else if (memchr("*?[", pattern.ptr[i], 3))
            return true;
    }
    return false;
}

const char *acp_glob_complaint(struct acp_str pattern)
{
    if (pattern.len == 0)
        return "a pattern must not be empty";
    const char *end = pattern.ptr + pattern.len;
    if (memchr(pattern.ptr, '\0', pattern.len))
        return "a pattern must not have a NUL in it";
    for (const char *p = pattern.ptr; p < end; p++) {
        if (*p == '\\') {
            if (++p == end)
                return "the pattern ends in a backslash that escapes nothing";
        } else if (*p == '[') {
            p = class_end(p, end);
            if (!p)
                return "the pattern has a [ that is not closed";
            p--;
        }
    }
    return NULL;
}

int acp_glob_escape(struct acp_str text, struct acp_buf *out)
{
    size_t before = out->len;
    int err = 0;
    for (size_t i = 0; i < text.len && !err; i++) {
        if (memchr("*?[\\", text.ptr[i], 4))
            err = acp_buf_append(out, "\\", 1);
        if (!err)
            err = acp_buf_append(out, &text.ptr[i], 1);
    }
    if (err)
        acp_buf_truncate(out, before);
    return err;
}

bool acp_glob_spells(struct acp_str pattern, struct acp_str text)
{
    size_t t = 0;
    if (acp_glob_is_wild(pattern))
        return false;
    for (size_t i = 0; i < pattern.len; i++, t++) {
        if (pattern.ptr[i] == '\\' && i + 1 < pattern.len)
            i++;
        if (t == text.len || pattern.ptr[i] != text.ptr[t])
            return false;
    }
    return t == text.len;
}
