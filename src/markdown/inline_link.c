/* inline_link.c - links, addresses without brackets, and character references. */
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "markdown/inline.h"

/* ---- Addresses ------------------------------------------------------------------------------- */

static bool begins(struct acp_str text, const char *with)
{
    size_t len = strlen(with);
    return text.len >= len && strncasecmp(text.ptr, with, len) == 0;
}

bool inline_is_safe(struct acp_str url)
{
    if (!begins(url, "http://") && !begins(url, "https://") && !begins(url, "mailto:"))
        return false;
    for (size_t i = 0; i < url.len; i++)
        if (url.ptr[i] <= ' ' || url.ptr[i] >= 0x7F)
            return false;
    return true;
}

/* A label that looks like an address must not lead somewhere else. */
bool inline_needs_address(struct acp_str label, struct acp_str url)
{
    return !acp_str_eq(label, url) &&
           (begins(label, "http:") || begins(label, "https:") || begins(label, "www."));
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of a scheme and its colon at the start; 0: there is none. */
static unsigned scheme_length(const char *text, unsigned len)
{
    unsigned i = 0;
    while (i < len &&
           (is_letter(text[i]) || (i && ((text[i] >= '0' && text[i] <= '9') || text[i] == '+' ||
                                         text[i] == '.' || text[i] == '-'))))
        i++;
    return i > 1 && i <= 32 && i < len && text[i] == ':' ? i + 1 : 0;
}

/* ---- <address> ------------------------------------------------------------------------------- */

static bool is_line_break(struct acp_str tag)
{
    size_t i = 2;
    while (i < tag.len && (tag.ptr[i] == ' ' || tag.ptr[i] == '/'))
        i++;
    return begins(tag, "br") && i >= tag.len;
}

static void end_angle(struct inline_parser *p)
{
    struct acp_str raw = acp_str_n(p->raw, p->raw_len);
    p->mode = INLINE_TEXT;
    (void) memcpy(p->last, "xx>", 3);
    if (is_line_break(raw)) {
        inline_put_break(p);
    } else if (scheme_length(p->raw, p->raw_len) && !memchr(p->raw, ' ', p->raw_len)) {
        inline_put_address(p, raw, raw);
    } else { /* a tag, which is text */
        inline_put(p, "<", 1);
        inline_put(p, p->raw, p->raw_len);
        inline_put(p, ">", 1);
    }
}

void inline_step_angle(struct inline_parser *p, char c)
{
    struct acp_str raw = acp_str_n(p->raw, p->raw_len);
    if (c == '>' && raw.len) {
        end_angle(p);
        return;
    }
    bool break_tag = (c == ' ' || c == '/') && is_line_break(raw);
    bool goes_on = c > ' ' && c != '<' && c != '>' && (raw.len || is_letter(c) || c == '/');
    if ((goes_on || break_tag) && p->raw_len < 500) {
        p->raw[p->raw_len++] = c;
        return;
    }
    inline_fail(p);
    inline_again(p, &c, 1);
}

/* ---- Bare addresses -------------------------------------------------------------------------- */

/* Punctuation at the end belongs to the sentence. */
static unsigned address_length(const char *text, unsigned len)
{
    while (len) {
        char c = text[len - 1];
        int depth = 0;
        for (unsigned i = 0; c == ')' && i < len; i++)
            depth += (text[i] == '(') - (text[i] == ')');
        if (c == ')' ? depth >= 0 : !strchr("?!.,:;*_~'\"`]", c))
            break;
        len--;
    }
    return len;
}

static bool is_address(const char *raw, unsigned len)
{
    struct acp_str text = acp_str_n(raw, len);
    return (begins(text, "http://") && len > 7) || (begins(text, "https://") && len > 8);
}

void inline_end_address(struct inline_parser *p)
{
    unsigned whole = p->raw_len;
    unsigned len = address_length(p->raw, whole);
    p->mode = INLINE_TEXT;
    if (!is_address(p->raw, len)) {
        inline_put(p, "h", 1);
        (void) memcpy(p->last, "xxh", 3);
        inline_again(p, p->raw + 1, whole - 1);
        return;
    }
    struct acp_str url = acp_str_n(p->raw, len);
    inline_put_address(p, url, url);
    (void) memcpy(p->last, "xxx", 3);
    inline_again(p, p->raw + len, whole - len);
}

void inline_step_address(struct inline_parser *p, char c)
{
    static const char https[] = "https://";
    static const char http[] = "http://";
    unsigned n = p->raw_len;
    bool head = (n < 8 && memcmp(p->raw, https, n) == 0 && c == https[n]) ||
                (n < 7 && memcmp(p->raw, http, n) == 0 && c == http[n]);
    bool in_address = is_address(p->raw, n) || (n == 7 && memcmp(p->raw, http, 7) == 0) ||
                      (n == 8 && memcmp(p->raw, https, 8) == 0);
    bool more = in_address && c > ' ' && c < 0x7F && !strchr("<>|\\\"`[]{}^", c);
    if ((head || more) && n < MARKDOWN_MAX_HELD - 1) {
        p->raw[p->raw_len++] = c;
        return;
    }
    inline_end_address(p);
    inline_again(p, &c, 1);
}

/* ---- [label](target "title") ----------------------------------------------------------------- */

/* What the next byte makes of the state; false: this is no target. */
static bool target_next(struct inline_parser *p, char c, bool escaped)
{
    bool blank = c == ' ' || c == '\t';
    switch (p->target) {
    case TARGET_START:
        if (blank)
            return true;
        if (c == '<') {
            p->target = TARGET_ANGLE;
            return true;
        }
        p->target = TARGET_PLAIN;
        return target_next(p, c, escaped);
    case TARGET_ANGLE:
        if (c == '>' && !escaped)
            p->target = TARGET_BEHIND;
        else
            p->url[p->url_len++] = c;
        return c != '<';
    case TARGET_PLAIN:
        if (blank) {
            p->target = TARGET_BEHIND;
            return true;
        }
        if (c == '(' && !escaped)
            p->depth++;
        if (c == ')' && !escaped && p->depth-- == 0) {
            p->target = TARGET_END;
            return true;
        }
        p->url[p->url_len++] = c;
        return p->depth <= 8 && (unsigned char) c > ' ' && c != 0x7F;
    case TARGET_BEHIND:
        if (c == '"' || c == '\'' || c == '(') {
            p->target = TARGET_TITLE;
            p->quote = c == '(' ? ')' : c;
            return true;
        }
        p->target = c == ')' ? TARGET_END : p->target;
        return blank || c == ')';
    case TARGET_TITLE:
        if (c == p->quote && !escaped) {
            p->target = TARGET_BEHIND;
            p->quote = 0;
        }
        return true;
    case TARGET_END:
        break;
    }
    return false;
}

void inline_step_target(struct inline_parser *p, char c)
{
    bool escaped =
        p->raw_len > 1 && p->raw[p->raw_len - 1] == '\\' && memchr("()<>\"'\\", c, 7) != NULL && c;
    if (escaped && p->url_len && p->target <= TARGET_PLAIN && p->url[p->url_len - 1] == '\\')
        p->url_len--;
    bool room = p->raw_len < MARKDOWN_MAX_HELD / 2;
    p->raw[p->raw_len++] = c;
    if (!room || c == '\n' || !target_next(p, c, escaped)) {
        inline_fail(p);
        return;
    }
    if (p->target != TARGET_END)
        return;
    p->mode = INLINE_TEXT;
    (void) memcpy(p->last, "xx)", 3);
    inline_bracket_is_link(p);
}

/* ---- Character references -------------------------------------------------------------------- */

static uint32_t named(struct acp_str name)
{
    static const struct {
        const char *name;
        uint32_t code;
    } names[] = {
        {"amp", '&'},      {"lt", '<'},       {"gt", '>'},       {"quot", '"'},
        {"apos", '\''},    {"nbsp", 0xA0},    {"copy", 0xA9},    {"reg", 0xAE},
        {"deg", 0xB0},     {"plusmn", 0xB1},  {"middot", 0xB7},  {"times", 0xD7},
        {"ndash", 0x2013}, {"mdash", 0x2014}, {"lsquo", 0x2018}, {"rsquo", 0x2019},
        {"ldquo", 0x201C}, {"rdquo", 0x201D}, {"bull", 0x2022},  {"hellip", 0x2026},
        {"trade", 0x2122}, {"larr", 0x2190},  {"uarr", 0x2191},  {"rarr", 0x2192},
        {"darr", 0x2193},  {"ne", 0x2260},    {"le", 0x2264},    {"ge", 0x2265},
        {"check", 0x2713},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (acp_str_is(name, names[i].name))
            return names[i].code;
    return 0;
}

static uint32_t numbered(struct acp_str digits)
{
    bool hex = digits.len && (*digits.ptr == 'x' || *digits.ptr == 'X');
    uint32_t code = 0;
    for (size_t i = hex; i < digits.len; i++) {
        char c = digits.ptr[i];
        uint32_t digit = c >= '0' && c <= '9'          ? (uint32_t) (c - '0')
                         : hex && c >= 'a' && c <= 'f' ? (uint32_t) (c - 'a' + 10)
                         : hex && c >= 'A' && c <= 'F' ? (uint32_t) (c - 'A' + 10)
                                                       : 99;
        if (digit == 99)
            return 0;
        code = code * (hex ? 16 : 10) + digit;
    }
    return code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) ? 0 : code;
}

void inline_step_entity(struct inline_parser *p, char c)
{
    enum { LONGEST = 8 };
    char bytes[4];
    bool name = is_letter(c) || (c >= '0' && c <= '9') || (c == '#' && !p->raw_len);
    if (name && p->raw_len < LONGEST) {
        p->raw[p->raw_len++] = c;
        return;
    }
    struct acp_str text = acp_str_n(p->raw, p->raw_len);
    uint32_t code = 0;
    if (c == ';' && text.len)
        code = *text.ptr == '#' ? numbered(acp_str_n(text.ptr + 1, text.len - 1)) : named(text);
    if (!code) {
        inline_fail(p);
        inline_again(p, &c, 1);
        return;
    }
    p->mode = INLINE_TEXT;
    inline_put(p, bytes, acp_utf8_put(bytes, code));
    (void) memcpy(p->last, "xx;", 3);
}
