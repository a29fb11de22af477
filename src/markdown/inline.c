/* inline.c - see inline.h: the bytes of a paragraph, one construct after the other. */
#include "markdown/inline.h"

#include <string.h>

/* ---- Characters ------------------------------------------------------------------------------ */

enum char_class { CLASS_SPACE, CLASS_PUNCTUATION, CLASS_OTHER };

static bool is_punctuation(char c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/*
 * Of the character whose bytes these are, 0 before and behind the text.  Beyond ASCII only the
 * blocks of general punctuation and symbols of Latin-1 and East Asia are told from letters.
 */
static enum char_class class_of(unsigned a, unsigned b, unsigned c)
{
    if (a == 0 || a == ' ' || a == '\t' || a == '\n')
        return CLASS_SPACE;
    if (a < 0x80)
        return is_punctuation((char) a) ? CLASS_PUNCTUATION : CLASS_OTHER;
    if (a == 0xC2)
        return b == 0xA0 ? CLASS_SPACE : b < 0xC0 ? CLASS_PUNCTUATION : CLASS_OTHER;
    if (a == 0xE2 && b == 0x80)
        return c <= 0x8A || c == 0xA8 || c == 0xA9 || c == 0xAF ? CLASS_SPACE : CLASS_PUNCTUATION;
    if (a == 0xE3 && b == 0x80)
        return c == 0x80 ? CLASS_SPACE : CLASS_PUNCTUATION;
    if (a == 0xEF && b == 0xBC)
        return c <= 0x8F || (c >= 0x9A && c <= 0xA0) ? CLASS_PUNCTUATION : CLASS_OTHER;
    return CLASS_OTHER;
}

/* Of the character that ends with these three bytes. */
static enum char_class class_before(const unsigned char *last)
{
    if (last[2] < 0x80)
        return class_of(last[2], 0, 0);
    if (last[1] == 0xC2)
        return class_of(last[1], last[2], 0);
    return last[0] < 0x80 ? CLASS_OTHER : class_of(last[0], last[1], last[2]);
}

/* How many bytes of a character its class depends on. */
static unsigned class_length(char c)
{
    unsigned char a = (unsigned char) c;
    return a == 0xC2 ? 2 : a == 0xE2 || a == 0xE3 || a == 0xEF ? 3 : 1;
}

static void pass(struct inline_parser *p, const char *text, size_t len)
{
    for (size_t i = len < 3 ? 0 : len - 3; i < len; i++) {
        p->last[0] = p->last[1];
        p->last[1] = p->last[2];
        p->last[2] = (unsigned char) text[i];
    }
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void put_bytes(struct inline_parser *p, const char *text, size_t len)
{
    while (len && p->count) {
        size_t room = MARKDOWN_MAX_HELD - p->held_len;
        size_t n = len < room ? len : room;
        if (!n) {
            inline_give_up(p);
        } else if (inline_hold(p, TOKEN_TEXT, text, n)) {
            text += n;
            len -= n;
        }
    }
    if (len)
        p->receiver->text(acp_str_n(text, len), p->base, acp_str_n(NULL, 0), p->user);
}

static void put_spaces(struct inline_parser *p)
{
    static const char blanks[] = "                                ";
    while (p->spaces) {
        unsigned n = p->spaces < sizeof(blanks) - 1 ? p->spaces : (unsigned) sizeof(blanks) - 1;
        p->spaces -= n;
        put_bytes(p, blanks, n);
    }
}

void inline_put(struct inline_parser *p, const char *text, size_t len)
{
    put_spaces(p);
    put_bytes(p, text, len);
}

void inline_put_code(struct inline_parser *p, const char *text, size_t len)
{
    struct markdown_style style = p->base;
    put_spaces(p);
    style.role = MARKDOWN_CODE;
    if (len && !inline_hold(p, TOKEN_CODE, text, len))
        p->receiver->text(acp_str_n(text, len), style, acp_str_n(NULL, 0), p->user);
}

void inline_put_address(struct inline_parser *p, struct acp_str label, struct acp_str url)
{
    struct markdown_style style = p->base;
    bool link = p->hyperlinks && inline_is_safe(url);
    put_spaces(p);
    if (p->count) { /* what is held has no room for links without brackets */
        put_bytes(p, label.ptr, label.len);
        return;
    }
    style.role = MARKDOWN_LINK;
    p->receiver->text(label, style, link ? url : acp_str_n(NULL, 0), p->user);
}

void inline_put_break(struct inline_parser *p)
{
    p->spaces = 0;
    if (!p->count || !inline_token_new(p, TOKEN_BREAK))
        p->receiver->line_break(p->user);
    (void) memset(p->last, 0, sizeof(p->last));
}

/* ---- Constructs ------------------------------------------------------------------------------ */

void inline_again(struct inline_parser *p, const char *text, size_t len)
{
    (void) memcpy(p->back + p->back_len, text, len);
    p->back_len += (unsigned) len;
}

/* Ends a run of * _ or ~ in front of a character of that class. */
static void end_run(struct inline_parser *p, enum char_class next)
{
    enum char_class before = class_before(p->run_last);
    bool left = next != CLASS_SPACE && (next != CLASS_PUNCTUATION || before != CLASS_OTHER);
    bool right = before != CLASS_SPACE && (before != CLASS_PUNCTUATION || next != CLASS_OTHER);
    bool can_open = left;
    bool can_close = right;
    if (p->run_char == '_') {
        can_open = left && (!right || before == CLASS_PUNCTUATION);
        can_close = right && (!left || next == CLASS_PUNCTUATION);
    }
    p->mode = INLINE_TEXT;
    inline_add_run(p, p->run_char, p->run, can_open, can_close);
}

static void end_code(struct inline_parser *p)
{
    unsigned len = p->raw_len - p->open_run;
    const char *text = p->raw;
    bool padded = len > 2 && text[0] == ' ' && text[len - 1] == ' ';
    for (unsigned i = 0; i < len; i++)
        if (p->raw[i] == '\n')
            p->raw[i] = ' ';
    if (padded)
        padded = strspn(text, " ") < len;
    p->mode = INLINE_TEXT;
    inline_put_code(p, text + padded, len - 2 * (unsigned) padded);
}

static void put_backticks(struct inline_parser *p, unsigned count)
{
    for (; count; count--)
        inline_put(p, "`", 1);
}

void inline_fail(struct inline_parser *p)
{
    enum inline_mode mode = p->mode;
    unsigned raw_len = p->raw_len;
    p->mode = INLINE_TEXT;
    p->raw_len = 0;
    switch (mode) {
    case INLINE_TEXT:
        return;
    case INLINE_RUN:
        end_run(p, CLASS_SPACE);
        return;
    case INLINE_RUN_NEXT:
        end_run(p, CLASS_OTHER);
        break;
    case INLINE_BACKTICKS:
    case INLINE_CODE:
        put_backticks(p, p->open_run);
        break;
    case INLINE_ESCAPE:
        inline_put(p, "\\", 1);
        break;
    case INLINE_ENTITY:
        inline_put(p, "&", 1);
        break;
    case INLINE_BANG:
        inline_put(p, "!", 1);
        break;
    case INLINE_ANGLE:
        inline_put(p, "<", 1);
        break;
    case INLINE_ADDRESS:
        inline_put(p, p->raw, raw_len);
        return;
    case INLINE_BRACKET_END:
    case INLINE_TARGET:
        inline_bracket_is_text(p);
        break;
    }
    inline_again(p, p->raw, raw_len);
}

static void begin(struct inline_parser *p, enum inline_mode mode, char c)
{
    p->mode = mode;
    p->raw_len = 0;
    p->run = 1;
    p->run_char = c;
    (void) memcpy(p->run_last, p->last, sizeof(p->last));
    /* Spaces are not in last, since they may not be shown. */
    if (p->spaces)
        p->run_last[2] = ' ';
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* A byte that may begin something. */
static void step_text(struct inline_parser *p, char c)
{
    switch (c) {
    case '\n':
        inline_put_break(p);
        return;
    case '\t':
        p->spaces++;
        return;
    case '*':
    case '_':
    case '~':
        begin(p, INLINE_RUN, c);
        break;
    case '`':
        begin(p, INLINE_BACKTICKS, c);
        break;
    case '\\':
        begin(p, INLINE_ESCAPE, c);
        break;
    case '&':
        begin(p, INLINE_ENTITY, c);
        break;
    case '!':
        begin(p, INLINE_BANG, c);
        break;
    case '<':
        begin(p, INLINE_ANGLE, c);
        break;
    case '[':
        inline_add_bracket(p, 0);
        break;
    case ']':
        if (p->brackets_count)
            begin(p, INLINE_BRACKET_END, c);
        else
            inline_put(p, "]", 1);
        break;
    case 'h':
        begin(p, INLINE_ADDRESS, c);
        p->raw[p->raw_len++] = c;
        break;
    default:
        inline_put(p, &c, 1);
        break;
    }
    pass(p, &c, 1);
}

static void step_run(struct inline_parser *p, char c)
{
    if (c == p->run_char && p->mode == INLINE_RUN) {
        p->run++;
        pass(p, &c, 1);
        return;
    }
    if (p->mode == INLINE_RUN) {
        p->mode = INLINE_RUN_NEXT;
        p->raw_len = 0;
    }
    p->raw[p->raw_len++] = c;
    if (p->raw_len < class_length(p->raw[0]) && ((unsigned char) c & 0x80))
        return;
    end_run(p, class_of((unsigned char) p->raw[0], (unsigned char) p->raw[1],
                        (unsigned char) p->raw[2]));
    inline_again(p, p->raw, p->raw_len);
}

static void step_backticks(struct inline_parser *p, char c)
{
    if (c == '`' && p->run < MARKDOWN_MAX_HELD) {
        p->run++;
        return;
    }
    p->mode = INLINE_CODE;
    p->open_run = p->run;
    p->run = 0;
    inline_again(p, &c, 1);
}

static void step_code(struct inline_parser *p, char c)
{
    if (c != '`' && p->run == p->open_run) {
        end_code(p);
        (void) memcpy(p->last, "xx`", 3);
        inline_again(p, &c, 1);
        return;
    }
    p->run = c == '`' ? p->run + 1 : 0;
    p->raw[p->raw_len++] = c;
    if (p->raw_len + p->open_run >= MARKDOWN_MAX_HELD)
        inline_fail(p);
}

static void step_escape(struct inline_parser *p, char c)
{
    p->mode = INLINE_TEXT;
    if (is_punctuation(c)) {
        inline_put(p, &c, 1);
        pass(p, &c, 1);
        return;
    }
    if (c != '\n')
        inline_put(p, "\\", 1);
    inline_again(p, &c, 1);
}

static void step_bang(struct inline_parser *p, char c)
{
    p->mode = INLINE_TEXT;
    if (c == '[') {
        inline_add_bracket(p, '!');
        pass(p, &c, 1);
        return;
    }
    inline_put(p, "!", 1);
    inline_again(p, &c, 1);
}

static void step_bracket_end(struct inline_parser *p, char c)
{
    if (c == '(') {
        p->mode = INLINE_TARGET;
        p->target = TARGET_START;
        p->depth = 0;
        p->url_len = 0;
        p->raw[p->raw_len++] = c;
        return;
    }
    p->mode = INLINE_TEXT;
    inline_bracket_is_text(p);
    inline_again(p, &c, 1);
}

/* How many bytes from the start are text that begins nothing. */
static size_t plain_length(const struct inline_parser *p, const char *text, size_t len)
{
    static const bool special[256] = {
        ['\n'] = true, ['\t'] = true, ['\\'] = true, ['`'] = true, ['*'] = true,
        ['_'] = true,  ['~'] = true,  ['['] = true,  [']'] = true, ['!'] = true,
        ['<'] = true,  ['&'] = true,  ['h'] = true};
    char before = p->spaces ? ' ' : (char) p->last[2];
    for (size_t i = 0; i < len; i++) {
        if (special[(unsigned char) text[i]] && (text[i] != 'h' || !is_alphanumeric(before)))
            return i;
        before = text[i];
    }
    return len;
}

static size_t feed_text(struct inline_parser *p, const char *text, size_t len)
{
    size_t n = plain_length(p, text, len);
    size_t shown = n;
    if (!n) {
        step_text(p, *text);
        return 1;
    }
    while (shown && text[shown - 1] == ' ')
        shown--;
    if (shown) {
        inline_put(p, text, shown);
        pass(p, text, shown);
    }
    p->spaces += (unsigned) (n - shown);
    return n;
}

/* Takes some of the text, and returns how many bytes. */
static size_t feed_some(struct inline_parser *p, const char *text, size_t len)
{
    switch (p->mode) {
    case INLINE_TEXT:
        return feed_text(p, text, len);
    case INLINE_RUN:
    case INLINE_RUN_NEXT:
        step_run(p, *text);
        break;
    case INLINE_BACKTICKS:
        step_backticks(p, *text);
        break;
    case INLINE_CODE:
        step_code(p, *text);
        break;
    case INLINE_ESCAPE:
        step_escape(p, *text);
        break;
    case INLINE_ENTITY:
        inline_step_entity(p, *text);
        break;
    case INLINE_BANG:
        step_bang(p, *text);
        break;
    case INLINE_ANGLE:
        inline_step_angle(p, *text);
        break;
    case INLINE_ADDRESS:
        inline_step_address(p, *text);
        break;
    case INLINE_BRACKET_END:
        step_bracket_end(p, *text);
        break;
    case INLINE_TARGET:
        inline_step_target(p, *text);
        break;
    }
    return 1;
}

/* ---- The parser ------------------------------------------------------------------------------ */

void inline_begin(struct inline_parser *p, struct markdown_style base)
{
    p->base = base;
    p->mode = INLINE_TEXT;
    p->spaces = 0;
    (void) memset(p->last, 0, sizeof(p->last));
    p->raw_len = p->back_len = p->held_len = 0;
    p->count = p->openers = p->brackets_count = 0;
}

/* What is read again may lead to more of it: the rest then comes behind that. */
static void feed_back(struct inline_parser *p)
{
    char text[sizeof(p->back)];
    while (p->back_len) {
        size_t len = p->back_len;
        size_t at = 0;
        (void) memcpy(text, p->back, len);
        p->back_len = 0;
        while (at < len && !p->back_len)
            at += feed_some(p, text + at, len - at);
        if (p->back_len && at < len) {
            (void) memcpy(p->back + p->back_len, text + at, len - at);
            p->back_len += (unsigned) (len - at);
        }
    }
}

void inline_feed(struct inline_parser *p, struct acp_str text)
{
    size_t at = 0;
    while (at < text.len) {
        at += feed_some(p, text.ptr + at, text.len - at);
        if (p->back_len)
            feed_back(p);
    }
}

void inline_end(struct inline_parser *p)
{
    while (p->mode != INLINE_TEXT) {
        if (p->mode == INLINE_CODE && p->run == p->open_run)
            end_code(p);
        else if (p->mode == INLINE_ADDRESS)
            inline_end_address(p);
        else
            inline_fail(p);
        feed_back(p);
    }
    p->spaces = 0;
    inline_give_up(p);
}
