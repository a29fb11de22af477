/*
 * html.c - converts a web page to text, in one pass and without a tree: tags change the layout of
 * the words between them.
 */
#include "text/html.h"

#include <strings.h>

#include "base/utf8.h"

/* The state of the conversion. */
struct setting {
    const char *at;
    const char *end;
    struct acp_buf *out;
    int err;
    size_t start;        /* where the text begins in the buffer */
    unsigned breaks;     /* line ends before the next word */
    bool space;          /* a space before the next word */
    unsigned pre;        /* depth of preformatted elements */
    bool cell;           /* a cell of this row has begun */
    struct acp_str link; /* the address of the current link, as written; absent: none */
    size_t link_start;   /* where its words begin in the buffer */
};

/* ---- Words ----------------------------------------------------------------------------------- */

static void append(struct setting *s, const char *bytes, size_t n)
{
    if (!s->err && n)
        s->err = acp_buf_append(s->out, bytes, n);
}

/* Writes what separates the last word from this one. */
static void begin_word(struct setting *s)
{
    bool first = s->out->len == s->start;
    if (s->breaks && !first)
        append(s, "\n\n", s->breaks);
    else if (s->space && !first)
        append(s, " ", 1);
    s->breaks = 0;
    s->space = false;
}

static void put(struct setting *s, const char *bytes, size_t n)
{
    begin_word(s);
    append(s, bytes, n);
}

static void put_text(struct setting *s, const char *text)
{
    put(s, text, strlen(text));
}

static void break_line(struct setting *s, unsigned lines)
{
    s->space = false;
    if (s->breaks < lines)
        s->breaks = lines;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void put_space(struct setting *s, char c)
{
    if (s->pre && c != '\r')
        put(s, &c, 1);
    else if (!s->pre && !s->breaks)
        s->space = true;
}

/* ---- Entities -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *text;
} entities[] = {
    {"amp", "&"},         {"lt", "<"},          {"gt", ">"},          {"quot", "\""},
    {"apos", "'"},        {"nbsp", " "},        {"copy", "\u00a9"},   {"reg", "\u00ae"},
    {"trade", "\u2122"},  {"hellip", "\u2026"}, {"mdash", "\u2014"},  {"ndash", "\u2013"},
    {"lsquo", "\u2018"},  {"rsquo", "\u2019"},  {"ldquo", "\u201c"},  {"rdquo", "\u201d"},
    {"laquo", "\u00ab"},  {"raquo", "\u00bb"},  {"bull", "\u2022"},   {"middot", "\u00b7"},
    {"times", "\u00d7"},  {"deg", "\u00b0"},    {"euro", "\u20ac"},   {"pound", "\u00a3"},
    {"sect", "\u00a7"},   {"para", "\u00b6"},   {"larr", "\u2190"},   {"rarr", "\u2192"},
    {"le", "\u2264"},     {"ge", "\u2265"},     {"ne", "\u2260"},     {"minus", "\u2212"},
    {"auml", "\u00e4"},   {"ouml", "\u00f6"},   {"uuml", "\u00fc"},   {"szlig", "\u00df"},
    {"eacute", "\u00e9"}, {"egrave", "\u00e8"}, {"agrave", "\u00e0"}, {"ccedil", "\u00e7"},
};

/* The number after "&#"; false if there is none, or if it is not a character. */
static bool read_number(struct acp_str digits, uint32_t *ret)
{
    bool hex = digits.len && (*digits.ptr == 'x' || *digits.ptr == 'X');
    uint32_t code = 0;
    if (digits.len == (hex ? 1u : 0u))
        return false;
    for (size_t i = hex ? 1 : 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        char low = (char) (c | 0x20);
        uint32_t digit = c >= '0' && c <= '9'              ? (uint32_t) (c - '0')
                         : hex && low >= 'a' && low <= 'f' ? (uint32_t) (low - 'a') + 10
                                                           : 16;
        if (digit == 16 || code > 0x10FFFF)
            return false;
        code = code * (hex ? 16 : 10) + digit;
    }
    *ret = code;
    return code >= 0x20 && code <= 0x10FFFF && (code < 0x7F || code > 0x9F) &&
           (code < 0xD800 || code > 0xDFFF);
}

/* The entity at *at, after the '&'; without one, the '&' itself is written. */
static void put_entity(struct setting *s, const char **at, const char *end)
{
    enum { LONGEST = 10 };
    const char *semicolon = *at;
    char bytes[4];
    uint32_t code;
    while (semicolon < end && semicolon - *at <= LONGEST && *semicolon != ';')
        semicolon++;
    if (semicolon < end && *semicolon == ';') {
        struct acp_str name = acp_str_n(*at, (size_t) (semicolon - *at));
        if (name.len && *name.ptr == '#' &&
            read_number(acp_str_n(name.ptr + 1, name.len - 1), &code)) {
            *at = semicolon + 1;
            if (code == 0xA0)
                put_space(s, ' ');
            else
                put(s, bytes, acp_utf8_put(bytes, code));
            return;
        }
        for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
            if (!acp_str_is(name, entities[i].name))
                continue;
            *at = semicolon + 1;
            if (*entities[i].text == ' ')
                put_space(s, ' ');
            else
                put_text(s, entities[i].text);
            return;
        }
    }
    put(s, "&", 1);
}

/* Words up to the next tag, or to the end. */
static void put_words(struct setting *s, const char **at, const char *end)
{
    while (*at < end && **at != '<' && !s->err) {
        const char *from = *at;
        if (is_space(*from)) {
            (*at)++;
            put_space(s, *from);
        } else if (*from == '&') {
            (*at)++;
            put_entity(s, at, end);
        } else {
            while (*at < end && **at != '<' && **at != '&' && !is_space(**at))
                (*at)++;
            put(s, from, (size_t) (*at - from));
        }
    }
}

/* ---- Tags ------------------------------------------------------------------------------------ */

enum { MAX_NAME = 11 };

struct tag {
    char name[MAX_NAME + 1]; /* in lower case; "": longer than any known one */
    bool closes;
    struct acp_str href;
    struct acp_str alt;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void read_name(struct setting *s, struct tag *tag)
{
    size_t n = 0;
    for (; s->at < s->end && !is_space(*s->at) && *s->at != '>' && *s->at != '/'; s->at++, n++)
        if (n < MAX_NAME)
            tag->name[n] = (char) (is_letter(*s->at) ? *s->at | 0x20 : *s->at);
    if (n > MAX_NAME)
        n = 0;
    tag->name[n] = '\0';
}

/* A value, perhaps in quotes, after the '='. */
static struct acp_str read_value(struct setting *s)
{
    while (s->at < s->end && is_space(*s->at))
        s->at++;
    if (s->at == s->end)
        return acp_str_from("");
    char quote = *s->at == '"' || *s->at == '\'' ? *s->at : '\0';
    if (quote)
        s->at++;
    const char *from = s->at;
    while (s->at < s->end && (quote ? *s->at != quote : !is_space(*s->at) && *s->at != '>'))
        s->at++;
    struct acp_str value = acp_str_n(from, (size_t) (s->at - from));
    if (quote && s->at < s->end)
        s->at++;
    return value;
}

static bool is_named(struct acp_str text, const char *name)
{
    return text.len == strlen(name) && strncasecmp(text.ptr, name, text.len) == 0;
}

/* The rest of a tag, after its name. */
static void read_attributes(struct setting *s, struct tag *tag)
{
    while (s->at < s->end && *s->at != '>') {
        const char *from = s->at;
        while (s->at < s->end && !is_space(*s->at) && !strchr("=>/", *s->at))
            s->at++;
        struct acp_str name = acp_str_n(from, (size_t) (s->at - from));
        while (s->at < s->end && is_space(*s->at))
            s->at++;
        if (s->at < s->end && *s->at == '=' && name.len) {
            s->at++;
            struct acp_str value = read_value(s);
            if (is_named(name, "href"))
                tag->href = value;
            else if (is_named(name, "alt"))
                tag->alt = value;
        } else if (s->at == from) {
            s->at++; /* a stray '/' or '=' */
        }
    }
    if (s->at < s->end)
        s->at++;
}

/* Skips an element whose content is not shown, with its end tag. */
static void skip_element(struct setting *s, const char *name)
{
    size_t n = strlen(name);
    while ((s->at = memchr(s->at, '<', (size_t) (s->end - s->at)))) {
        if ((size_t) (s->end - s->at) > n + 1 && s->at[1] == '/' &&
            strncasecmp(s->at + 2, name, n) == 0)
            break;
        s->at++;
    }
    if (!s->at)
        s->at = s->end; /* without an end */
    while (s->at < s->end && *s->at != '>')
        s->at++;
    if (s->at < s->end)
        s->at++;
}

/* Skips a comment, a declaration or the like, after its "<". */
static void skip_declaration(struct setting *s)
{
    bool comment = s->end - s->at >= 3 && memcmp(s->at, "!--", 3) == 0;
    s->at += comment ? 3 : 1;
    while (s->at < s->end && (*s->at != '>' || (comment && (s->at[-1] != '-' || s->at[-2] != '-'))))
        s->at++;
    if (s->at < s->end)
        s->at++;
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* The line ends around an element, and the mark before its words. */
static const struct {
    const char *name;
    unsigned breaks; /* before and after it */
    const char *mark;
} elements[] = {
    {"p", 2, NULL},       {"div", 1, NULL},        {"section", 2, NULL},  {"article", 2, NULL},
    {"header", 1, NULL},  {"footer", 2, NULL},     {"main", 2, NULL},     {"nav", 2, NULL},
    {"aside", 2, NULL},   {"ul", 1, NULL},         {"ol", 1, NULL},       {"dl", 1, NULL},
    {"dt", 1, NULL},      {"dd", 1, NULL},         {"table", 2, NULL},    {"tr", 1, NULL},
    {"caption", 1, NULL}, {"form", 1, NULL},       {"fieldset", 1, NULL}, {"blockquote", 2, NULL},
    {"figure", 2, NULL},  {"figcaption", 1, NULL}, {"address", 1, NULL},  {"details", 1, NULL},
    {"summary", 1, NULL}, {"option", 1, NULL},     {"pre", 2, NULL},      {"title", 2, NULL},
    {"br", 1, NULL},      {"hr", 2, NULL},         {"li", 1, "- "},       {"h1", 2, "# "},
    {"h2", 2, "## "},     {"h3", 2, "### "},       {"h4", 2, "#### "},    {"h5", 2, "##### "},
    {"h6", 2, "###### "},
};

static const char *const unseen[] = {"script", "style",  "template", "noscript",
                                     "svg",    "iframe", "object",   "canvas"};

static void begin_link(struct setting *s, struct acp_str address)
{
    static const char script[] = "javascript:";
    size_t n = sizeof(script) - 1;
    bool leads = address.len && *address.ptr != '#' &&
                 (address.len < n || strncasecmp(address.ptr, script, n) != 0);
    s->link = leads ? address : (struct acp_str){0};
    s->link_start = s->out->len;
}

static bool ends_with(struct acp_str text, struct acp_str end)
{
    return text.len >= end.len && memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0;
}

/* The address follows the words, unless they are the address. */
static void end_link(struct setting *s)
{
    struct acp_str address = s->link;
    unsigned breaks = s->breaks;
    bool space = s->space;
    s->link = (struct acp_str){0};
    if (!address.ptr || s->out->len == s->link_start || ends_with(acp_buf_view(s->out), address))
        return;
    s->breaks = 0;
    s->space = false;
    append(s, " (", 2);
    for (const char *at = address.ptr, *end = at + address.len; at < end && !s->err;) {
        put_words(s, &at, end);
        if (at < end)
            put(s, at++, 1); /* a '<' */
    }
    append(s, ")", 1);
    s->breaks = breaks;
    s->space = space;
}

static void set_element(struct setting *s, const struct tag *tag)
{
    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
        if (strcmp(tag->name, elements[i].name) != 0)
            continue;
        break_line(s, elements[i].breaks);
        if (elements[i].mark && !tag->closes)
            put_text(s, elements[i].mark);
        return;
    }
}

static void set_tag(struct setting *s, const struct tag *tag)
{
    const char *name = tag->name;
    set_element(s, tag);
    if (strcmp(name, "a") == 0) {
        end_link(s);
        if (!tag->closes)
            begin_link(s, tag->href);
    } else if (strcmp(name, "pre") == 0) {
        s->pre = tag->closes ? s->pre - (s->pre > 0) : s->pre + 1;
        if (!tag->closes && s->at < s->end && *s->at == '\n')
            s->at++; /* the first line end belongs to the tag */
    } else if (strcmp(name, "tr") == 0) {
        s->cell = false;
    } else if ((strcmp(name, "td") == 0 || strcmp(name, "th") == 0) && !tag->closes) {
        if (s->cell && !s->breaks)
            append(s, " |", 2);
        s->space = s->cell;
        s->cell = true;
    } else if (strcmp(name, "hr") == 0) {
        put_text(s, "---");
        break_line(s, 2);
    } else if (strcmp(name, "img") == 0 && tag->alt.len) {
        put(s, "[", 1);
        append(s, tag->alt.ptr, tag->alt.len);
        append(s, "]", 1);
    }
}

/* What begins with "<": a tag, a comment, or the character itself. */
static void take_markup(struct setting *s)
{
    struct tag tag = {0};
    s->at++;
    if (s->at < s->end && (*s->at == '!' || *s->at == '?')) {
        skip_declaration(s);
        return;
    }
    tag.closes = s->at < s->end && *s->at == '/';
    if (s->at + tag.closes >= s->end || !is_letter(s->at[tag.closes])) {
        put(s, "<", 1);
        return;
    }
    s->at += tag.closes;
    read_name(s, &tag);
    read_attributes(s, &tag);
    for (size_t i = 0; !tag.closes && i < sizeof(unseen) / sizeof(unseen[0]); i++)
        if (strcmp(tag.name, unseen[i]) == 0) {
            skip_element(s, tag.name);
            return;
        }
    set_tag(s, &tag);
}

int html_text(struct acp_str html, struct acp_buf *out)
{
    if (!html.len)
        return 0;
    struct setting s = {.at = html.ptr, .end = html.ptr + html.len, .out = out, .start = out->len};
    while (s.at < s.end && !s.err) {
        put_words(&s, &s.at, s.end);
        if (s.at < s.end && !s.err)
            take_markup(&s);
    }
    end_link(&s);
    return s.err;
}
