/* Replacing spans of a message that is passed on otherwise as it is. */
#include "acp/scan.h"

/* Of the spans that are there, the one that follows `last` in the message; NULL behind the last. */
static inline const struct acp_splice *next_splice(const struct acp_splice *splices, size_t count,
                                                   const struct acp_splice *last)
{
    const struct acp_splice *next = NULL;
    if (count == 1) /* most messages have one id to replace */
        return !last && splices->span.ptr ? splices : NULL;
    for (const struct acp_splice *s = splices; s < splices + count; s++) {
        if (!s->span.ptr || (last && s->span.ptr < last->span.ptr) ||
            (last && s->span.ptr == last->span.ptr && s <= last))
            continue;
        if (!next || s->span.ptr < next->span.ptr)
            next = s;
    }
    return next;
}

/* The length of the result, or -1 when a span lies outside of the message or two overlap. */
static int64_t spliced_length(struct acp_raw message, const struct acp_splice *first,
                              const struct acp_splice *splices, size_t count)
{
    const char *at = message.ptr;
    const char *end = message.ptr + message.len;
    size_t length = message.len;
    for (const struct acp_splice *s = first; s; s = next_splice(splices, count, s)) {
        if (s->span.ptr < at || s->span.ptr > end || s->span.len > (size_t) (end - s->span.ptr))
            return -1;
        at = s->span.ptr + s->span.len;
        length += s->by.len - s->span.len;
    }
    return (int64_t) length;
}

/* Appends where there is room. */
static inline void add(struct acp_buf *out, const char *bytes, size_t n)
{
    if (n)
        memcpy(out->data + out->start + out->len, bytes, n);
    out->len += n;
}

int acp_scan_splice_all(struct acp_raw message, const struct acp_splice *splices, size_t count,
                        struct acp_buf *out)
{
    const struct acp_splice *first = next_splice(splices, count, NULL);
    int64_t length = spliced_length(message, first, splices, count);
    if (length < 0)
        return ACP_ERR_ARGUMENT;
    int err = acp_buf_reserve(out, (size_t) length);
    if (err)
        return err;
    const char *at = message.ptr;
    for (const struct acp_splice *s = first; s; s = next_splice(splices, count, s)) {
        add(out, at, (size_t) (s->span.ptr - at));
        add(out, s->by.ptr, s->by.len);
        at = s->span.ptr + s->span.len;
    }
    add(out, at, (size_t) (message.ptr + message.len - at));
    return 0;
}

int acp_scan_splice(struct acp_raw message, struct acp_raw span, struct acp_raw by,
                    struct acp_buf *out)
{
    struct acp_splice one = {span, by};
    return span.ptr ? acp_scan_splice_all(message, &one, 1, out) : ACP_ERR_ARGUMENT;
}
