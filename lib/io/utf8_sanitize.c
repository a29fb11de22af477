/*
 * utf8_sanitize.c - see utf8_sanitize.h.  Valid text is passed on without a copy; only around an
 * invalid byte the text is assembled in a small buffer.
 */
#include "io/utf8_sanitize.h"

#include "base/utf8.h"

static const char replacement[] = "\xEF\xBF\xBD";
enum { REPLACEMENT_LEN = 3, MOST_BAD = 1024 };

/* The first byte at or after p that begins no whole character, or end. */
static const char *good_until(const char *p, const char *end)
{
    while (p < end) {
        uint64_t eight;
        while (end - p >= 8) {
            memcpy(&eight, p, sizeof(eight));
            if (eight & UINT64_C(0x8080808080808080))
                break;
            p += 8;
        }
        if (p == end)
            break;
        size_t n = acp_utf8_length(p, end);
        if (n == 0)
            break;
        p += n;
    }
    return p;
}

/* Whether the bytes are the beginning of a character whose rest may still come. */
static bool may_continue(const char *p, const char *end)
{
    size_t have = (size_t) (end - p);
    if (have == 0 || have > 3)
        return false;
    /*
     * Any one continuation that completes it will do: their ranges matter in the second byte only.
     */
    char whole[4] = {p[0], (char) 0x80, (char) 0x80, (char) 0x80};
    memcpy(whole, p, have);
    if (have > 1)
        return acp_utf8_length(whole, whole + 4) > have;
    whole[1] = (char) 0x90; /* allowed after E0 only from A0, after F4 only up to 8F */
    unsigned char lead = (unsigned char) p[0];
    if (lead == 0xE0)
        whole[1] = (char) 0xA0;
    else if (lead == 0xED || lead == 0xF4)
        whole[1] = (char) 0x80;
    return acp_utf8_length(whole, whole + 4) > 1;
}

static void emit(acp_utf8_sanitize_fn *text, void *self, const char *p, const char *end)
{
    if (p < end)
        text(self, acp_str_n(p, (size_t) (end - p)));
}

/*
 * Bytes that begin no character, from p on; a run of them becomes one piece.  Returns what follows.
 */
static const char *emit_bad(const char *p, const char *end, acp_utf8_sanitize_fn *text, void *self)
{
    char out[MOST_BAD * REPLACEMENT_LEN];
    size_t n = 0;
    while (p < end && n < MOST_BAD && acp_utf8_length(p, end) == 0 && !may_continue(p, end)) {
        memcpy(out + n * REPLACEMENT_LEN, replacement, REPLACEMENT_LEN);
        n++;
        p++;
    }
    emit(text, self, out, out + n * REPLACEMENT_LEN);
    return p;
}

/* Takes bytes to the held ones until they are a character, or cannot become one. */
static const char *use_held(struct acp_utf8_sanitizer *sanitizer, const char *p, const char *end,
                            acp_utf8_sanitize_fn *text, void *self)
{
    while (sanitizer->held_len && p < end) {
        char *held = sanitizer->held;
        held[sanitizer->held_len] = *p;
        const char *held_end = held + sanitizer->held_len + 1;
        if (may_continue(held, held_end)) {
            sanitizer->held_len++;
            p++;
        } else if (acp_utf8_length(held, held_end)) {
            sanitizer->held_len = 0;
            p++;
            emit(text, self, held, held_end);
        } else {
            /* The new byte does not fit; it is looked at again, on its own. */
            acp_utf8_sanitize_end(sanitizer, text, self);
        }
    }
    return p;
}

void acp_utf8_sanitize_feed(struct acp_utf8_sanitizer *sanitizer, struct acp_str bytes,
                            acp_utf8_sanitize_fn *text, void *self)
{
    if (bytes.len == 0)
        return;
    const char *end = bytes.ptr + bytes.len;
    const char *p = use_held(sanitizer, bytes.ptr, end, text, self);
    while (p < end) {
        const char *good = good_until(p, end);
        emit(text, self, p, good);
        if (may_continue(good, end)) {
            sanitizer->held_len = (size_t) (end - good);
            memcpy(sanitizer->held, good, sanitizer->held_len);
            return;
        }
        p = emit_bad(good, end, text, self);
    }
}

void acp_utf8_sanitize_end(struct acp_utf8_sanitizer *sanitizer, acp_utf8_sanitize_fn *text,
                           void *self)
{
    /* One for each byte: those after the first are continuations of nothing. */
    const char *end = sanitizer->held + sanitizer->held_len;
    sanitizer->held_len = 0;
    for (const char *p = sanitizer->held; p < end; p++)
        emit(text, self, replacement, replacement + REPLACEMENT_LEN);
}
