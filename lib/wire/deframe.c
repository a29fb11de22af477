/*
 * The reader of frames: what both framings share, and the lines.  It owns the pending buffer, the
 * unfinished rest of what was fed; everything else is handed out where it lies.  The peer calls it
 * for every chunk received.
 *
 * Each byte is searched for a line end once, when it comes in: pending never holds one.
 */
#include <assert.h>

#include "wire/wire.h"

/* A pending buffer above this is given back after its message. */
enum { KEEP_MAX = 1024 * 1024 };

void acp_deframer_init(struct acp_deframer *d, enum acp_framing framing, size_t max_message)
{
    size_t max = max_message ? max_message : (size_t) ACP_WIRE_DEFAULT_MAX;
    if (max > SIZE_MAX / 2)
        max = SIZE_MAX / 2;
    *d = (struct acp_deframer){.framing = framing, .max_message = max};
    d->state = framing == ACP_FRAMING_CONTENT_LENGTH ? AT_HEADER : AT_LINE;
    /* One more than a message, for the '\r' that may turn out to belong to the line end. */
    acp_buf_init(&d->pending, max >= HEADER_MAX ? max + 1 : (size_t) HEADER_MAX);
}

void acp_deframer_finish(struct acp_deframer *d)
{
    acp_buf_finish(&d->pending);
    d->input_len = 0;
}

void acp_deframer_feed(struct acp_deframer *d, const void *bytes, size_t n)
{
    assert(d->input_len == 0 && !d->ended);
    d->input = bytes;
    d->input_len = n;
}

void acp_deframer_end(struct acp_deframer *d)
{
    d->ended = true;
}

int acp_deframer_keep(struct acp_deframer *d, size_t n)
{
    int err = acp_buf_append(&d->pending, d->input, n);
    if (!err)
        acp_deframer_take(d, n);
    return err;
}

void acp_deframer_give(struct acp_deframer *d, enum acp_frame_kind kind, size_t len,
                       struct acp_frame *ret)
{
    ret->kind = kind;
    ret->text = acp_str_n(acp_buf_view(&d->pending).ptr, len);
    d->returned = true;
}

void acp_deframer_drop(struct acp_deframer *d, enum acp_frame_kind kind, struct acp_frame *ret)
{
    size_t want = d->max_message < EXCERPT ? d->max_message : (size_t) EXCERPT;
    if (d->pending.len < want) {
        size_t more = want - d->pending.len;
        /* When out of memory, the excerpt is shorter; that is no reason to fail. */
        (void) acp_deframer_keep(d, more < d->input_len ? more : d->input_len);
    }
    acp_deframer_give(d, kind, want < d->pending.len ? want : d->pending.len, ret);
}

bool acp_deframer_prefix(size_t index, char byte)
{
    static const char prefix[] = "content-";
    char lower = byte >= 'A' && byte <= 'Z' ? (char) (byte + ('a' - 'A')) : byte;
    return index < sizeof(prefix) - 1 && prefix[index] == lower;
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static size_t without_cr(const char *text, size_t len)
{
    return len && text[len - 1] == '\r' ? len - 1 : len;
}

/* Whether the line is over the limit, by what has come of it; a last '\r' may be its end's. */
static bool is_over(const struct acp_deframer *d, size_t len, char last)
{
    return len > d->max_message + (last == '\r' ? 1 : 0);
}

/* The line goes on beyond the input: keeps what there is, or hands it out at the end. */
static int unfinished_line(struct acp_deframer *d, struct acp_frame *ret)
{
    if (d->input_len) {
        size_t len = d->pending.len + d->input_len;
        if (is_over(d, len, d->input[d->input_len - 1])) {
            d->state = SKIP_LINE;
            acp_deframer_drop(d, ACP_FRAME_TOO_LARGE, ret);
            return 0;
        }
        int err = acp_deframer_keep(d, d->input_len);
        if (err) {
            d->state = SKIP_LINE;
            d->returned = true;
            return err;
        }
    }
    struct acp_str text = acp_buf_view(&d->pending);
    if (!d->ended || acp_deframer_is_blank(text.ptr, text.len))
        return 0;
    size_t len = without_cr(text.ptr, text.len);
    /* Only a limit below the bytes that AUTO looked at lets pending be over it. */
    if (len > d->max_message)
        acp_deframer_drop(d, ACP_FRAME_TOO_LARGE, ret);
    else
        acp_deframer_give(d, ACP_FRAME_MESSAGE, len, ret);
    return 0;
}

/* The line ends n bytes into the input.  Blank lines give no frame. */
static int finished_line(struct acp_deframer *d, size_t n, struct acp_frame *ret)
{
    bool over = d->pending.len + n > 0 &&
                is_over(d, d->pending.len + n,
                        n ? d->input[n - 1] : acp_buf_view(&d->pending).ptr[d->pending.len - 1]);
    if (over) {
        d->state = SKIP_LINE;
        acp_deframer_drop(d, ACP_FRAME_TOO_LARGE, ret);
        return 0;
    }
    const char *line = d->input;
    size_t len = n;
    if (d->pending.len) {
        int err = acp_deframer_keep(d, n);
        if (err) {
            d->state = SKIP_LINE;
            d->returned = true;
            return err;
        }
        line = acp_buf_view(&d->pending).ptr;
        len = d->pending.len;
        d->returned = true;
        n = 0;
    }
    acp_deframer_take(d, n + 1);
    len = without_cr(line, len);
    if (!acp_deframer_is_blank(line, len))
        *ret = (struct acp_frame){ACP_FRAME_MESSAGE, acp_str_n(line, len)};
    return 0;
}

static void clear_returned(struct acp_deframer *d)
{
    if (!d->returned)
        return;
    d->returned = false;
    if (d->pending.cap > KEEP_MAX)
        acp_buf_finish(&d->pending);
    else
        acp_buf_clear(&d->pending);
}

int acp_deframer_next_line(struct acp_deframer *d, struct acp_frame *ret)
{
    for (;;) {
        clear_returned(d);
        const char *end = d->input_len ? memchr(d->input, '\n', d->input_len) : NULL;
        if (d->state == SKIP_LINE) {
            acp_deframer_take(d, end ? (size_t) (end - d->input) + 1 : d->input_len);
            if (!end)
                return 0;
            d->state = AT_LINE;
            continue;
        }
        if (!end)
            return unfinished_line(d, ret);
        int err = finished_line(d, (size_t) (end - d->input), ret);
        if (err || ret->kind)
            return err;
    }
}

/* ---- Both ----------------------------------------------------------------------------------- */

/* AUTO: the first bytes that are not white space tell.  What was looked at is kept in pending. */
static int decide(struct acp_deframer *d)
{
    while (d->input_len) {
        size_t matched = d->pending.len;
        if (matched == 0 && acp_deframer_is_blank(d->input, 1)) {
            acp_deframer_take(d, 1);
            continue;
        }
        if (!acp_deframer_prefix(matched, *d->input)) {
            d->framing = ACP_FRAMING_LINES;
            return 0;
        }
        int err = acp_deframer_keep(d, 1);
        if (err)
            return err;
        if (d->pending.len == sizeof("content-") - 1) {
            d->framing = ACP_FRAMING_CONTENT_LENGTH;
            d->state = AT_HEADER;
            return 0;
        }
    }
    if (d->ended && d->pending.len)
        d->framing = ACP_FRAMING_LINES;
    return 0;
}

int acp_deframer_next(struct acp_deframer *d, struct acp_frame *ret)
{
    *ret = (struct acp_frame){ACP_FRAME_NONE, {NULL, 0}};
    clear_returned(d);
    if (d->framing == ACP_FRAMING_AUTO) {
        int err = decide(d);
        if (err || d->framing == ACP_FRAMING_AUTO)
            return err;
    }
    return d->framing == ACP_FRAMING_LINES ? acp_deframer_next_line(d, ret)
                                           : acp_deframer_next_headed(d, ret);
}
