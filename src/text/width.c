/* width.c - see width.h. */
#include "text/width.h"

#include "base/utf8.h"
#include "text/sanitize.h"

struct width_range {
    uint32_t first;
    uint32_t last;
};

#include "width_table.h"

enum { JOINER = 0x200D, TEXT_STYLE = 0xFE0E, EMOJI_STYLE = 0xFE0F };

static bool is_in(const struct width_range *ranges, size_t count, uint32_t code)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code >= ranges[low].first;
}

unsigned width_of(uint32_t code)
{
    if (code < 0x300) /* Latin: by far the most common */
        return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD ? 0 : 1;
    if (sanitize_hides(code) || is_in(marks, sizeof(marks) / sizeof(marks[0]), code))
        return code == 0x115F ? 2 : 0;
    return is_in(wide, sizeof(wide) / sizeof(wide[0]), code) ? 2 : 1;
}

static bool is_regional(uint32_t code)
{
    return code >= 0x1F1E6 && code <= 0x1F1FF;
}

static bool is_skin_tone(uint32_t code)
{
    return code >= 0x1F3FB && code <= 0x1F3FF;
}

/* The character at the start of a text: its length, at least 1.  Invalid bytes count as letters. */
static size_t take(struct acp_str text, uint32_t *ret_code)
{
    size_t n = acp_utf8_length(text.ptr, text.ptr + text.len);
    *ret_code = n ? acp_utf8_code(text.ptr, n) : 'x';
    return n ? n : 1;
}

static struct acp_str behind(struct acp_str text, size_t n)
{
    return acp_str_n(text.ptr + n, text.len - n);
}

size_t width_next(struct acp_str text, unsigned *ret_columns)
{
    uint32_t code;
    uint32_t previous;
    if (!text.len)
        return 0;
    size_t n = take(text, &previous);
    unsigned columns = width_of(previous);
    bool flag = is_regional(previous);
    while (n < text.len) {
        size_t more = take(behind(text, n), &code);
        if (flag && is_regional(code)) {
            columns = 2;
            flag = false;
        } else if (code == EMOJI_STYLE && columns == 1) {
            columns = 2;
        } else if (is_skin_tone(code) ? columns != 2
                                      : width_of(code) > 0 && (previous != JOINER || columns < 2)) {
            break;
        } else if (code < 0x20) {
            break;
        }
        previous = code;
        n += more;
    }
    if (ret_columns)
        *ret_columns = columns;
    return n;
}

size_t width_text(struct acp_str text)
{
    size_t columns = 0;
    while (text.len) {
        unsigned more = 1;
        size_t n = 1;
        bool alone = text.len == 1 || (unsigned char) text.ptr[1] < 0x80;
        if ((unsigned char) *text.ptr < 0x20 || (unsigned char) *text.ptr > 0x7E || !alone)
            n = width_next(text, &more);
        columns += more;
        text = behind(text, n);
    }
    return columns;
}

struct acp_str width_cut(struct acp_str text, size_t columns, size_t *ret_columns)
{
    struct acp_str rest = text;
    size_t taken = 0;
    while (rest.len) {
        unsigned more;
        size_t n = width_next(rest, &more);
        if (taken + more > columns)
            break;
        taken += more;
        rest = behind(rest, n);
    }
    if (ret_columns)
        *ret_columns = taken;
    return acp_str_n(text.ptr, text.len - rest.len);
}
