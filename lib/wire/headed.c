/*
 * The reader of LSP's framing: a block of header lines, an empty line, a body of Content-Length
 * bytes.  Called by deframe.c, whose state it works on.
 *
 * A stream that has lost its place is read on from the next line that begins with "Content-"; a run
 * of bytes that belongs to no message is reported once, by its beginning.
 */
#include "wire/wire.h"

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_content_length(const char *name, size_t len)
{
    static const char want[] = "content-length";
    if (len != sizeof(want) - 1)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((name[i] >= 'A' && name[i] <= 'Z' ? name[i] + ('a' - 'A') : name[i]) != want[i])
            return false;
    return true;
}

/* Digits with white space around them; a number that does not fit is none. */
static bool parse_length(const char *text, size_t len, size_t *ret)
{
    while (len && (*text == ' ' || *text == '\t'))
        text++, len--;
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    size_t value = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        size_t digit = (size_t) (text[i] - '0');
        if (value > (SIZE_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return len > 0;
}

/* Takes in one header line; false when it is none.  Two lengths must agree. */
static bool parse_header(struct acp_deframer *d, const char *line, size_t len)
{
    size_t name = 0;
    while (name < len && is_token(line[name]))
        name++;
    if (name == 0 || name == len || line[name] != ':')
        return false;
    if (!is_content_length(line, name))
        return true;
    size_t length;
    if (!parse_length(line + name + 1, len - name - 1, &length))
        return false;
    if (d->has_length && length != d->body_left)
        return false;
    d->has_length = true;
    d->body_left = length;
    return true;
}

static void start_header(struct acp_deframer *d)
{
    d->state = AT_HEADER;
    d->line_start = 0;
    d->has_length = false;
}

/* The header block without the line ends behind it. */
static size_t block_len(const struct acp_deframer *d)
{
    struct acp_str block = acp_buf_view(&d->pending);
    while (block.len && (block.ptr[block.len - 1] == '\n' || block.ptr[block.len - 1] == '\r'))
        block.len--;
    return block.len;
}

/* The empty line has come. */
static void end_header(struct acp_deframer *d, struct acp_frame *ret)
{
    if (!d->has_length) {
        acp_deframer_give(d, ACP_FRAME_NOISE, block_len(d), ret);
        d->state = RESYNC_START;
    } else if (d->body_left > d->max_message) {
        acp_buf_clear(&d->pending);
        d->state = LARGE_BODY;
    } else {
        acp_buf_clear(&d->pending);
        d->state = AT_BODY;
    }
}

/* Reads up to one header line.  0 with nothing in ret and input left means: go on. */
static int at_header(struct acp_deframer *d, struct acp_frame *ret)
{
    const char *end = memchr(d->input, '\n', d->input_len);
    size_t n = end ? (size_t) (end - d->input) + 1 : d->input_len;
    if (n > HEADER_MAX - d->pending.len) {
        acp_deframer_drop(d, ACP_FRAME_NOISE, ret);
        d->state = RESYNC_SKIP;
        return 0;
    }
    /* When out of memory, take nothing; the next call tries again.  A header must not be lost. */
    int err = acp_deframer_keep(d, n);
    if (err || !end)
        return err;
    const char *line = acp_buf_view(&d->pending).ptr + d->line_start;
    size_t len = d->pending.len - d->line_start;
    if (acp_deframer_is_blank(line, len)) {
        if (d->line_start == 0)
            acp_buf_clear(&d->pending); /* an empty line between two messages */
        else
            end_header(d, ret);
        return 0;
    }
    len -= len > 1 && line[len - 2] == '\r' ? 2 : 1;
    if (!parse_header(d, line, len)) {
        acp_deframer_give(d, ACP_FRAME_NOISE, block_len(d), ret);
        d->state = RESYNC_START;
    }
    d->line_start = d->pending.len;
    return 0;
}

static int at_body(struct acp_deframer *d, struct acp_frame *ret)
{
    size_t n = d->body_left < d->input_len ? d->body_left : d->input_len;
    if (d->pending.len == 0 && n == d->body_left) {
        *ret = (struct acp_frame){ACP_FRAME_MESSAGE, acp_str_n(n ? d->input : "", n)};
        acp_deframer_take(d, n);
        start_header(d);
        return 0;
    }
    int err = acp_deframer_keep(d, n);
    if (err) {
        d->returned = true;
        d->state = SKIP_BODY;
        return err;
    }
    d->body_left -= n;
    if (d->body_left == 0) {
        acp_deframer_give(d, ACP_FRAME_MESSAGE, d->pending.len, ret);
        start_header(d);
    }
    return 0;
}

/* Gathers the beginning that is shown, which tells whose message it was; then skips the rest. */
static void large_body(struct acp_deframer *d, struct acp_frame *ret)
{
    size_t want = d->max_message < EXCERPT ? d->max_message : (size_t) EXCERPT;
    size_t n = want - d->pending.len;
    if (n > d->input_len)
        n = d->input_len;
    d->body_left -= n;
    if (acp_deframer_keep(d, n)) {
        acp_deframer_take(d, n);
        want = d->pending.len; /* when out of memory, the excerpt is shorter */
    }
    if (d->pending.len == want) {
        acp_deframer_give(d, ACP_FRAME_TOO_LARGE, want, ret);
        d->state = SKIP_BODY;
    }
}

static void skip_body(struct acp_deframer *d)
{
    size_t n = d->body_left < d->input_len ? d->body_left : d->input_len;
    acp_deframer_take(d, n);
    d->body_left -= n;
    if (d->body_left == 0)
        start_header(d);
}

static int resync(struct acp_deframer *d)
{
    if (d->state == RESYNC_SKIP) {
        const char *end = memchr(d->input, '\n', d->input_len);
        acp_deframer_take(d, end ? (size_t) (end - d->input) + 1 : d->input_len);
        if (end)
            d->state = RESYNC_START;
        return 0;
    }
    if (!acp_deframer_prefix(d->pending.len, *d->input)) {
        acp_buf_clear(&d->pending);
        d->state = RESYNC_SKIP;
        return 0;
    }
    int err = acp_deframer_keep(d, 1);
    if (!err && d->pending.len == sizeof("content-") - 1)
        start_header(d);
    return err;
}

/* What the end of the stream cut off. */
static void at_end(struct acp_deframer *d, struct acp_frame *ret)
{
    struct acp_str text = acp_buf_view(&d->pending);
    if (d->state == AT_BODY ||
        (d->state == AT_HEADER && !acp_deframer_is_blank(text.ptr, text.len)))
        acp_deframer_give(d, ACP_FRAME_NOISE, text.len, ret);
    else if (d->state == LARGE_BODY)
        acp_deframer_give(d, ACP_FRAME_TOO_LARGE, text.len, ret);
    else
        acp_buf_clear(&d->pending);
    start_header(d);
}

int acp_deframer_next_headed(struct acp_deframer *d, struct acp_frame *ret)
{
    int err = 0;
    /* A body of no bytes is whole without any input. */
    while (!err && !ret->kind &&
           (d->input_len || ((d->state == AT_BODY || d->state == SKIP_BODY) && !d->body_left))) {
        switch ((enum state) d->state) {
        case AT_HEADER:
            err = at_header(d, ret);
            break;
        case AT_BODY:
            err = at_body(d, ret);
            break;
        case LARGE_BODY:
            large_body(d, ret);
            break;
        case SKIP_BODY:
            skip_body(d);
            break;
        case RESYNC_START:
        case RESYNC_SKIP:
            err = resync(d);
            break;
        case AT_LINE:
        case SKIP_LINE:
            return ACP_ERR_STATE; /* states of the other framing */
        }
    }
    if (!err && !ret->kind && d->ended)
        at_end(d, ret);
    return err;
}
