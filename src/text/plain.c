/* plain.c - converts terminal output to text, in one pass. */
#include "text/plain.h"

/* The end of a sequence that begins with ESC at p. */
static const char *pass_sequence(const char *p, const char *end)
{
    p++;
    if (p == end)
        return p;
    if (*p == '[') {
        for (p++; p < end && ((unsigned char) *p < 0x40 || (unsigned char) *p > 0x7e); p++)
            continue;
        return p < end ? p + 1 : p;
    }
    if (*p == ']' || *p == 'P' || *p == '_' || *p == '^') {
        /* A string that ends with BEL or ESC \, or with the line if both are missing. */
        for (p++; p < end && *p != '\n'; p++) {
            if (*p == '\a')
                return p + 1;
            if (*p == '\033')
                return p + 1 < end && p[1] == '\\' ? p + 2 : p;
        }
        return p;
    }
    /* ESC ( B and the like have one more. */
    if (*p == '(' || *p == ')' || *p == '#')
        p++;
    return p < end ? p + 1 : p;
}

static void take_back_line(struct acp_buf *out, size_t before)
{
    struct acp_str text = acp_buf_view(out);
    while (text.len > before && text.ptr[text.len - 1] != '\n')
        text.len--;
    acp_buf_truncate(out, text.len);
}

static void take_back_character(struct acp_buf *out, size_t before)
{
    struct acp_str text = acp_buf_view(out);
    if (text.len == before || text.ptr[text.len - 1] == '\n')
        return;
    do
        text.len--;
    while (text.len > before && ((unsigned char) text.ptr[text.len] & 0xC0) == 0x80);
    acp_buf_truncate(out, text.len);
}

/* The end of the returns at p: several before a line end count as one. */
static const char *pass_return(const char *p, const char *end, struct acp_buf *out, size_t before)
{
    while (p < end && *p == '\r')
        p++;
    if (p < end && *p != '\n')
        take_back_line(out, before);
    return p;
}

int plain_text(struct acp_str text, struct acp_buf *out)
{
    const char *p = text.len ? text.ptr : "";
    const char *end = p + text.len;
    size_t before = out->len;
    int err = 0;
    while (p < end && !err) {
        const char *start = p;
        while (p < end && ((unsigned char) *p >= 0x20 || *p == '\n' || *p == '\t') && *p != 0x7f)
            p++;
        err = acp_buf_append(out, start, (size_t) (p - start));
        if (err || p == end)
            break;
        if (*p == '\033') {
            p = pass_sequence(p, end);
        } else if (*p == '\r') {
            p = pass_return(p, end, out, before);
        } else {
            if (*p == '\b')
                take_back_character(out, before);
            p++;
        }
    }
    return err;
}
