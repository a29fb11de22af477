/* page.c - converts the answer of a web server to text. */
#include "text/page.h"

#include <strings.h>

#include "base/utf8.h"
#include "text/html.h"

static bool has(struct acp_str text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.len; i++)
        if (strncasecmp(text.ptr + i, word, n) == 0)
            return true;
    return false;
}

/* "text/html; charset=utf-8" without the parameters. */
static struct acp_str bare_type(struct acp_str type)
{
    const char *end = type.len ? memchr(type.ptr, ';', type.len) : NULL;
    return end ? acp_str_n(type.ptr, (size_t) (end - type.ptr)) : type;
}

bool page_is_text(struct acp_str type, struct acp_str body)
{
    static const char *const texts[] = {"text/",      "json", "xml",   "javascript", "ecmascript",
                                        "typescript", "yaml", "toml",  "x-sh",       "graphql",
                                        "x-www-form", "sql",  "x-tex", "x-httpd-php"};
    type = bare_type(type);
    if (body.len && memchr(body.ptr, '\0', body.len))
        return false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (has(type, texts[i]))
            return true;
    return type.len == 0;
}

static bool is_html(struct acp_str type, struct acp_str body)
{
    enum { LOOKED_AT = 1000 };
    struct acp_str beginning = acp_str_n(body.ptr, body.len < LOOKED_AT ? body.len : LOOKED_AT);
    type = bare_type(type);
    return type.len ? has(type, "html")
                    : has(beginning, "<html") || has(beginning, "<!doctype html");
}

/* ---- Characters ------------------------------------------------------------------------------ */

/* Windows-1252, which Latin-1 means as well: its characters from 0x80 to 0x9F. */
static const uint16_t western[32] = {
    0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};

/* Whether it is UTF-8; the last character may be cut. */
static bool is_utf8(struct acp_str bytes)
{
    const char *end = bytes.ptr + bytes.len;
    for (const char *at = bytes.ptr; at < end;) {
        size_t n = acp_utf8_length(at, end);
        if (!n)
            return end - at < 4;
        at += n;
    }
    return true;
}

/* Without a charset, what is not UTF-8 is taken for Windows-1252. */
static bool is_western(struct acp_str type, struct acp_str body)
{
    if (has(type, "charset"))
        return has(type, "iso-8859-1") || has(type, "windows-1252") || has(type, "latin1");
    return !is_utf8(body);
}

static bool is_plain(unsigned char c)
{
    return (c >= ' ' && c < 0x7F) || c == '\t' || c == '\n';
}

/* The character at *at, which is not ASCII, in UTF-8; empty for control characters. */
static size_t to_utf8(const char **at, const char *end, bool one_byte, char made[4])
{
    unsigned char c = (unsigned char) **at;
    size_t n = c < 0x80 || one_byte ? 0 : acp_utf8_length(*at, end);
    if (n) {
        memcpy(made, *at, n);
        *at += n;
        return n;
    }
    (*at)++;
    if (c < 0x80)
        return 0;
    uint32_t code = ACP_UTF8_REPLACEMENT;
    if (one_byte)
        code = c < 0xA0 ? western[c - 0x80] : c;
    return acp_utf8_put(made, code);
}

/* Appends it as UTF-8. */
static int append_utf8(struct acp_str bytes, bool one_byte, struct acp_buf *out)
{
    enum { RUN = 256 }; /* of ASCII characters, so that the buffer is filled nearly to its end */
    const char *end = bytes.ptr + bytes.len;
    int err = 0;
    for (const char *at = bytes.ptr; at < end && !err;) {
        const char *from = at;
        char made[4];
        while (at < end && at - from < RUN && is_plain((unsigned char) *at))
            at++;
        if (at > from) {
            err = acp_buf_append(out, from, (size_t) (at - from));
        } else {
            size_t n = to_utf8(&at, end, one_byte, made);
            err = n ? acp_buf_append(out, made, n) : 0;
        }
    }
    return err;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

int page_text(struct acp_str type, struct acp_str body, struct acp_buf *out)
{
    struct acp_buf valid;
    if (!body.len)
        return 0;
    bool one_byte = is_western(type, body);
    if (!is_html(type, body))
        return append_utf8(body, one_byte, out);
    acp_buf_init(&valid, 3 * body.len);
    int err = append_utf8(body, one_byte, &valid);
    if (!err)
        err = html_text(acp_buf_view(&valid), out);
    acp_buf_finish(&valid);
    return err;
}
