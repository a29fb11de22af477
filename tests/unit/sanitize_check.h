/* sanitize_check.h - the invariants of sanitized text; for the unit test and the fuzzer. */
#ifndef TESTS_UNIT_SANITIZE_CHECK_H
#define TESTS_UNIT_SANITIZE_CHECK_H

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "text/sanitize.h"

/* Written down a second time, by what terminals and people are fooled with. */
static inline bool is_hostile(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0xAD || c == 0x61C || c == 0x115F ||
           c == 0x1160 || c == 0x180E || (c >= 0x200B && c <= 0x200F) || c == 0x2028 ||
           c == 0x2029 || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x2064) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x3164 || (c >= 0xFE00 && c <= 0xFE0F) ||
           c == 0xFEFF || c == 0xFFA0 || (c >= 0xE0000 && c <= 0xE007F) ||
           (c >= 0xE0100 && c <= 0xE01EF);
}

/* Behind which characters prose may have an invisible one: never behind a letter of ASCII. */
static inline bool may_join(uint32_t before, uint32_t c)
{
    if (c == 0xFE0E || c == 0xFE0F)
        return before >= 0xA9 || (before >= '0' && before <= '9') || before == '#' || before == '*';
    return (c == 0x200C || c == 0x200D) && before >= 0x620;
}

/* NULL, or what is wrong with the output. */
static inline const char *find_hostile(enum sanitize_mode mode, struct acp_str out)
{
    const char *end = out.len ? out.ptr + out.len : out.ptr;
    uint32_t before = 0;
    for (const char *p = out.ptr; p < end;) {
        size_t n = acp_utf8_length(p, end);
        if (!n)
            return "not UTF-8";
        uint32_t code = acp_utf8_code(p, n);
        bool space = mode != SANITIZE_LINE && (code == '\n' || code == '\t');
        if (is_hostile(code) && !space && !(mode == SANITIZE_PROSE && may_join(before, code)))
            return "a character that had to be replaced";
        before = code;
        p += n;
    }
    return NULL;
}

/* Nothing but characters that everybody sees. */
static inline bool is_clean(struct acp_str in)
{
    const char *end = in.len ? in.ptr + in.len : in.ptr;
    for (const char *p = in.ptr; p < end;) {
        size_t n = acp_utf8_length(p, end);
        uint32_t c = n ? acp_utf8_code(p, n) : 0;
        if (!(c >= 0x20 && c < 0x7F) && !(c > 0xAD && c < 0x300) && !(c >= 0x4E00 && c < 0xA000) &&
            !(c >= 0x1F300 && c < 0x1FAFF))
            return false;
        p += n;
    }
    return true;
}

static inline bool is_same(const struct acp_buf *a, const struct acp_buf *b)
{
    return a->len == b->len &&
           (!a->len || memcmp(a->data + a->start, b->data + b->start, a->len) == 0);
}

/* The text in two pieces, and byte by byte. */
static inline const char *find_chunked(enum sanitize_mode mode, struct acp_str in, size_t cut,
                                       const struct acp_buf *whole)
{
    const char *wrong = NULL;
    struct acp_buf out;
    struct sanitizer state = {0};
    acp_buf_init(&out, SIZE_MAX / 2);
    if (sanitize(&state, mode, acp_str_n(in.ptr, cut), &out) ||
        sanitize(&state, mode, acp_str_n(in.ptr + cut, in.len - cut), &out) ||
        sanitize_end(&state, mode, &out) || !is_same(&out, whole))
        wrong = "two pieces differ from the whole";
    acp_buf_clear(&out);
    for (size_t i = 0; i < in.len && !wrong; i++)
        if (sanitize(&state, mode, acp_str_n(in.ptr + i, 1), &out))
            wrong = "a byte failed";
    if (!wrong && (sanitize_end(&state, mode, &out) || !is_same(&out, whole)))
        wrong = "single bytes differ from the whole";
    acp_buf_finish(&out);
    return wrong;
}

/* NULL, or what does not hold for the text, which may be cut at that place. */
static inline const char *find_broken(enum sanitize_mode mode, struct acp_str in, size_t cut)
{
    struct acp_buf whole;
    struct acp_buf again;
    const char *wrong = NULL;
    acp_buf_init(&whole, SIZE_MAX / 2);
    acp_buf_init(&again, SIZE_MAX / 2);
    if (sanitize_whole(mode, in, &whole) || sanitize_whole(mode, acp_buf_view(&whole), &again))
        wrong = "it failed";
    if (!wrong)
        wrong = find_hostile(mode, acp_buf_view(&whole));
    if (!wrong && !is_same(&whole, &again))
        wrong = "twice is not the same as once";
    if (!wrong && is_clean(in) && !acp_str_eq(in, acp_buf_view(&whole)))
        wrong = "clean text was changed";
    if (!wrong)
        wrong = find_chunked(mode, in, cut, &whole);
    acp_buf_finish(&whole);
    acp_buf_finish(&again);
    return wrong;
}

#endif
