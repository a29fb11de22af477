/* Server-sent events, line by line. */
#include "http/sse.h"

void http_sse_init(struct http_sse *sse, size_t max)
{
    *sse = (struct http_sse){.max = max};
    acp_buf_init(&sse->line, max);
    acp_buf_init(&sse->name, max);
    acp_buf_init(&sse->data, max);
    acp_buf_init(&sse->id, HTTP_SSE_MAX_ID);
    acp_buf_init(&sse->last_id, HTTP_SSE_MAX_ID);
}

void http_sse_finish(struct http_sse *sse)
{
    acp_buf_finish(&sse->line);
    acp_buf_finish(&sse->name);
    acp_buf_finish(&sse->data);
    acp_buf_finish(&sse->id);
    acp_buf_finish(&sse->last_id);
}

void http_sse_feed(struct http_sse *sse, struct acp_str piece)
{
    sse->piece = piece;
}

void http_sse_end(struct http_sse *sse)
{
    sse->ended = true;
}

static void forget_event(struct http_sse *sse)
{
    acp_buf_clear(&sse->name);
    acp_buf_clear(&sse->data);
    sse->has_data = false;
}

static void advance(struct http_sse *sse, size_t n)
{
    sse->piece = acp_str_n(sse->piece.ptr + n, sse->piece.len - n);
}

/* Where the line ends that begins here; the length of the piece when its end has not come. */
static size_t line_length(struct acp_str piece)
{
    const char *lf = memchr(piece.ptr, '\n', piece.len);
    size_t n = lf ? (size_t) (lf - piece.ptr) : piece.len;
    const char *cr = memchr(piece.ptr, '\r', n);
    return cr ? (size_t) (cr - piece.ptr) : n;
}

/*
 * The next whole line: from the piece where it lies whole in it, otherwise out of the buffer, which
 * the next call empties.  0 when there is none yet.
 */
static int next_line(struct http_sse *sse, struct acp_str *ret)
{
    if (sse->skip_lf && sse->piece.len) {
        if (*sse->piece.ptr == '\n')
            advance(sse, 1);
        sse->skip_lf = false;
    }
    if (!sse->piece.len)
        return 0;
    size_t n = line_length(sse->piece);
    struct acp_str part = acp_str_n(sse->piece.ptr, n);
    bool whole = n < sse->piece.len;
    if (!whole || sse->line.len) {
        int err = acp_buf_append_str(&sse->line, part);
        if (err)
            return err;
    }
    if (!whole) {
        advance(sse, n);
        return 0;
    }
    if (n > sse->max)
        return ACP_ERR_LIMIT;
    sse->skip_lf = sse->piece.ptr[n] == '\r';
    advance(sse, n + 1);
    *ret = sse->line.len ? acp_buf_view(&sse->line) : part;
    return 1;
}

/* An id with a NUL is none, by the standard; one that is too long cannot be sent back. */
static void take_id(struct http_sse *sse, struct acp_str value)
{
    if (value.len && memchr(value.ptr, '\0', value.len))
        return;
    acp_buf_clear(&sse->id);
    (void) acp_buf_append_str(&sse->id, value);
}

/* Digits only; what is more than a day is a day. */
static void take_retry(struct http_sse *sse, struct acp_str value)
{
    enum { DAY_MS = 24 * 60 * 60 * 1000 };
    uint64_t ms = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return;
        ms = ms < DAY_MS ? ms * 10 + (uint64_t) (value.ptr[i] - '0') : ms;
    }
    if (value.len)
        sse->retry_ms = ms < DAY_MS ? ms : DAY_MS;
}

/* The event is whole, and its id is where a new connection would go on. */
static void keep_id(struct http_sse *sse)
{
    acp_buf_clear(&sse->last_id);
    (void) acp_buf_append_str(&sse->last_id, acp_buf_view(&sse->id));
}

static int take_field(struct http_sse *sse, struct acp_str line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    struct acp_str field = line;
    struct acp_str value = acp_str_n("", 0);
    if (colon) {
        field.len = (size_t) (colon - line.ptr);
        value = acp_str_n(colon + 1, line.len - field.len - 1);
        if (value.len && *value.ptr == ' ')
            value = acp_str_n(value.ptr + 1, value.len - 1);
    }
    if (acp_str_is(field, "event")) {
        acp_buf_clear(&sse->name);
        return acp_buf_append_str(&sse->name, value);
    }
    if (acp_str_is(field, "id"))
        take_id(sse, value);
    else if (acp_str_is(field, "retry"))
        take_retry(sse, value);
    if (!acp_str_is(field, "data"))
        return 0; /* a comment, or something that does not concern us */
    int err = sse->has_data ? acp_buf_append(&sse->data, "\n", 1) : 0;
    sse->has_data = true;
    return err ? err : acp_buf_append_str(&sse->data, value);
}

/* The mark that some put before UTF-8 is not part of the first line. */
static struct acp_str without_mark(struct http_sse *sse, struct acp_str line)
{
    bool first = !sse->past_mark;
    sse->past_mark = true;
    if (first && line.len >= 3 && memcmp(line.ptr, "\xEF\xBB\xBF", 3) == 0)
        return acp_str_n(line.ptr + 3, line.len - 3);
    return line;
}

/* 1 when the line has completed an event. */
static int take_line(struct http_sse *sse, struct acp_str line)
{
    line = without_mark(sse, line);
    if (line.len)
        return take_field(sse, line);
    keep_id(sse);
    if (sse->has_data)
        return 1;
    forget_event(sse);
    return 0;
}

/* The end of the stream completes the line and the event that it came in. */
static int take_end(struct http_sse *sse)
{
    if (!sse->ended)
        return 0;
    sse->ended = false;
    if (sse->line.len) {
        int err = take_line(sse, acp_buf_view(&sse->line));
        acp_buf_clear(&sse->line);
        if (err)
            return err;
    }
    return sse->has_data ? 1 : 0;
}

int http_sse_next(struct http_sse *sse, struct http_sse_event *ret)
{
    if (sse->given)
        forget_event(sse);
    sse->given = false;
    int some = sse->err;
    while (some == 0) {
        struct acp_str line = acp_str_from(NULL);
        some = next_line(sse, &line);
        if (some == 0) {
            some = take_end(sse);
            break;
        }
        if (some < 0)
            break;
        some = take_line(sse, line);
        acp_buf_clear(&sse->line);
    }
    if (some > 0) {
        sse->given = true;
        *ret = (struct http_sse_event){acp_buf_view(&sse->name), acp_buf_view(&sse->data)};
    } else {
        sse->err = some;
    }
    return some;
}
