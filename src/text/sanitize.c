/* sanitize.c - see sanitize.h. */
#include "text/sanitize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* ---- Which characters ------------------------------------------------------------------------ */

/*
 * Sorted.  Controls, bidirectional controls, and what Unicode calls default ignorable: characters
 * without a glyph, by which two texts that look the same differ.
 */
static const struct {
    uint32_t first;
    uint32_t last;
} hidden[] = {
    {0x80, 0x9F},       /* C1 */
    {0xAD, 0xAD},       /* soft hyphen */
    {0x34F, 0x34F},     /* combining grapheme joiner */
    {0x61C, 0x61C},     /* Arabic letter mark */
    {0x115F, 0x1160},   /* Hangul fillers */
    {0x17B4, 0x17B5},   /* Khmer inherent vowels */
    {0x180B, 0x180F},   /* Mongolian variation selectors and vowel separator */
    {0x200B, 0x200F},   /* zero width space, joiners, directional marks */
    {0x2028, 0x202E},   /* line and paragraph separator, embeddings and overrides */
    {0x2060, 0x206F},   /* word joiner, invisible operators, isolates, deprecated controls */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xFE00, 0xFE0F},   /* variation selectors */
    {0xFEFF, 0xFEFF},   /* byte order mark */
    {0xFFA0, 0xFFA0},   /* halfwidth Hangul filler */
    {0xFFF0, 0xFFFB},   /* unassigned default ignorables, interlinear annotation */
    {0x1BCA0, 0x1BCA3}, /* shorthand format controls */
    {0x1D173, 0x1D17A}, /* musical format controls */
    {0xE0000, 0xE0FFF}, /* tags, more variation selectors */
};

bool sanitize_hides(uint32_t code)
{
    size_t low = 0;
    size_t high = sizeof(hidden) / sizeof(hidden[0]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code > hidden[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof(hidden) / sizeof(hidden[0]) && code >= hidden[low].first;
}

static bool is_between(uint32_t code, uint32_t first, uint32_t last)
{
    return code >= first && code <= last;
}

/* Symbols that a variation selector may follow: arrows to dingbats, emoji, and bases of keycaps. */
static bool is_symbol(uint32_t code)
{
    return is_between(code, 0x2190, 0x2BFF) || is_between(code, 0x1F000, 0x1FAFF) ||
           is_between(code, '0', '9') || code == '#' || code == '*' || code == 0xA9 ||
           code == 0xAE || code == 0x203C || code == 0x2049 || code == 0x2122 || code == 0x2139 ||
           code == 0x3030 || code == 0x303D || code == 0x3297 || code == 0x3299;
}

/* Whether prose needs the invisible character behind the one before it. */
static bool is_needed(uint32_t previous, uint32_t code)
{
    bool indic = is_between(previous, 0x900, 0xDFF);
    bool arabic = is_between(previous, 0x620, 0x6FF) || is_between(previous, 0x750, 0x77F) ||
                  is_between(previous, 0x8A0, 0x8FF) || is_between(previous, 0xFB50, 0xFDFF) ||
                  is_between(previous, 0xFE70, 0xFEFC);
    if (code == 0xFE0E || code == 0xFE0F)
        return is_symbol(previous);
    if (code == 0x200D)
        return indic || previous == 0xFE0F || (previous >= 0x2190 && is_symbol(previous));
    return code == 0x200C && (arabic || indic);
}

/* ---- Escapes --------------------------------------------------------------------------------- */

/* Both halves of what JSON needs for a character beyond U+FFFF, or one \uXXXX. */
static int put_json_escape(struct acp_buf *out, uint32_t code)
{
    if (code < 0x10000)
        return acp_buf_printf(out, "\\u%04x", (unsigned) code);
    code -= 0x10000;
    return acp_buf_printf(out, "\\u%04x\\u%04x", (unsigned) (0xD800 | code >> 10),
                          (unsigned) (0xDC00 | (code & 0x3FF)));
}

/* A control of ASCII, or DEL. */
static int put_control(enum sanitize_mode mode, unsigned char c, struct acp_buf *out)
{
    if (mode == SANITIZE_JSON) /* between values it is white space */
        return c == '\r' ? acp_buf_append(out, " ", 1) : put_json_escape(out, c);
    if (c == '\r' || c == '\n' || c == '\t')
        return acp_buf_append_str(out, acp_str_from(c == '\r' ? "\\r" : c == '\n' ? "\\n" : "\\t"));
    return acp_buf_printf(out, "\\x%02x", c);
}

static int put_invalid(enum sanitize_mode mode, unsigned char byte, struct acp_buf *out)
{
    if (mode == SANITIZE_JSON)
        return put_json_escape(out, ACP_UTF8_REPLACEMENT);
    return acp_buf_printf(out, "\\x%02x", byte);
}

/* A character beyond ASCII, as the n bytes at p. */
static int put_wide(struct sanitizer *s, enum sanitize_mode mode, const char *p, size_t n,
                    struct acp_buf *out)
{
    uint32_t code = acp_utf8_code(p, n);
    bool shown = !sanitize_hides(code) || (mode == SANITIZE_PROSE && is_needed(s->previous, code));
    s->previous = shown ? code : 0;
    if (shown)
        return acp_buf_append(out, p, n);
    if (mode == SANITIZE_JSON)
        return put_json_escape(out, code);
    return acp_buf_printf(out, "\\u{%x}", (unsigned) code);
}

/* ---- Scanning -------------------------------------------------------------------------------- */

/* Whether eight bytes are all from space to tilde. */
static bool is_plain_word(const char *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word;
    (void) memcpy(&word, p, sizeof(word));
    uint64_t below = word - ones * 0x20;          /* borrows where a byte is below space */
    uint64_t above = word + ones * (0x7F - 0x7E); /* carries into bit 7 from DEL on */
    return !((below | above | word) & (ones * 0x80));
}

/* How many bytes from p on pass unchanged in every mode but SANITIZE_LINE. */
static size_t plain_length(enum sanitize_mode mode, const char *p, const char *end)
{
    const char *start = p;
    for (;;) {
        while (end - p >= 8 && is_plain_word(p))
            p += 8;
        /* The bytes that stopped the words, line ends mostly, and the last few. */
        const char *from = p;
        while (p < end && p - from < 8 &&
               ((*p >= 0x20 && *p < 0x7F) || (mode != SANITIZE_LINE && (*p == '\n' || *p == '\t'))))
            p++;
        if (p == end || p - from < 8)
            return (size_t) (p - start);
    }
}

/* How many bytes the sequence that starts with this byte should have; 0: none starts so. */
static size_t expected_length(unsigned char first)
{
    if (first < 0xC2 || first > 0xF4)
        return 0;
    return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* Whether the bytes, all there are, can still become a character. */
static bool is_cut(const char *p, const char *end)
{
    static const char tails[] = "\x80\xA0\x90"; /* one of these continues every valid start */
    size_t n = (size_t) (end - p);
    size_t expected = expected_length((unsigned char) *p);
    char whole[4];
    if (n >= expected)
        return false;
    (void) memcpy(whole, p, n);
    for (size_t i = 0; i < sizeof(tails) - 1; i++) {
        (void) memset(whole + n, tails[i], expected - n);
        if (acp_utf8_length(whole, whole + expected) == expected)
            return true;
    }
    return false;
}

/*
 * One character at p.  The number of bytes it took; 0: it depends on what has not come yet; or an
 * error.
 */
static int put_character(struct sanitizer *s, enum sanitize_mode mode, const char *p,
                         const char *end, bool is_end, struct acp_buf *out)
{
    unsigned char c = (unsigned char) *p;
    size_t n = acp_utf8_length(p, end);
    int err;
    if (!n && !is_end && is_cut(p, end))
        return 0;
    if (c == '\r' && mode != SANITIZE_LINE && mode != SANITIZE_JSON) {
        if (p + 1 == end && !is_end)
            return 0;
        if (p + 1 < end && p[1] == '\n')
            return 1; /* the line feed follows */
    }
    if (n > 1) {
        err = put_wide(s, mode, p, n, out);
        return err ? err : (int) n;
    }
    bool plain = plain_length(mode, p, p + 1) == 1;
    s->previous = plain ? c : 0;
    if (plain)
        err = acp_buf_append(out, p, 1);
    else
        err = n ? put_control(mode, c, out) : put_invalid(mode, c, out);
    return err ? err : 1;
}

/* What was held back, with as many bytes of the text as it lacks; these are taken from it. */
static int put_held(struct sanitizer *s, enum sanitize_mode mode, struct acp_str *text, bool is_end,
                    struct acp_buf *out)
{
    while (s->held_len) {
        int taken = put_character(s, mode, s->held, s->held + s->held_len, is_end, out);
        if (taken < 0)
            return taken;
        if (taken == 0 && !text->len)
            return 0;
        if (taken == 0) {
            s->held[s->held_len++] = *text->ptr;
            *text = acp_str_n(text->ptr + 1, text->len - 1);
            continue;
        }
        s->held_len = (unsigned char) (s->held_len - taken);
        (void) memmove(s->held, s->held + taken, s->held_len);
    }
    return 0;
}

int sanitize(struct sanitizer *state, enum sanitize_mode mode, struct acp_str text,
             struct acp_buf *out)
{
    int err = put_held(state, mode, &text, false, out);
    const char *p = text.ptr;
    const char *end = text.len ? p + text.len : p;
    while (!err && p < end) {
        size_t n = plain_length(mode, p, end);
        if (n) {
            err = acp_buf_append(out, p, n);
            p += n;
            state->previous = (unsigned char) p[-1];
            continue;
        }
        int taken = put_character(state, mode, p, end, false, out);
        if (taken < 0)
            return taken;
        if (taken == 0) {
            state->held_len = (unsigned char) (end - p);
            (void) memcpy(state->held, p, state->held_len);
            break;
        }
        p += taken;
    }
    return err;
}

int sanitize_end(struct sanitizer *state, enum sanitize_mode mode, struct acp_buf *out)
{
    struct acp_str none = {0};
    int err = put_held(state, mode, &none, true, out);
    *state = (struct sanitizer){0};
    return err;
}

int sanitize_whole(enum sanitize_mode mode, struct acp_str text, struct acp_buf *out)
{
    struct sanitizer state = {0};
    int err = sanitize(&state, mode, text, out);
    return err ? err : sanitize_end(&state, mode, out);
}

int sanitize_vrow(struct acp_buf *out, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = n < 0 ? NULL : malloc((size_t) n + 1);
    if (text)
        n = vsnprintf(text, (size_t) n + 1, format, again);
    va_end(again);
    if (!text)
        return ACP_ERR_NOMEM;
    int err = sanitize_whole(SANITIZE_LINE, acp_str_n(text, (size_t) n), out);
    free(text);
    return err ? err : acp_buf_append(out, "\n", 1);
}

int sanitize_row(struct acp_buf *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int err = sanitize_vrow(out, format, args);
    va_end(args);
    return err;
}
