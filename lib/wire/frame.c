/*
 * Writing frames: puts a line end behind a message, or a Content-Length header in front of it, in
 * the output buffer where the message is written.  The peer calls it around every message it sends.
 */
#include <assert.h>
#include <stdio.h>

#include "acp/wire.h"

/* The longest header: the name, 20 digits, the line end and the empty line. */
enum { GAP = sizeof("Content-Length: 18446744073709551615\r\n\r\n") - 1 };

int acp_frame_begin(struct acp_buf *out, enum acp_framing framing, size_t *ret_mark)
{
    size_t mark = out->len;
    if (framing == ACP_FRAMING_CONTENT_LENGTH) {
        int err = acp_buf_reserve(out, GAP);
        if (err)
            return err;
        memset(out->data + out->start + out->len, ' ', GAP);
        out->len += GAP;
    }
    *ret_mark = mark;
    return 0;
}

/* The length is known only now: writes the header into the gap and closes what is left of it. */
static void put_header(struct acp_buf *out, size_t mark)
{
    assert(out->len >= mark + GAP);
    size_t body_len = out->len - mark - GAP;
    char header[GAP + 1];
    size_t header_len =
        (size_t) snprintf(header, sizeof(header), "Content-Length: %zu\r\n\r\n", body_len);
    char *at = out->data + out->start + mark;
    memcpy(at, header, header_len);
    memmove(at + header_len, at + GAP, body_len);
    acp_buf_truncate(out, mark + header_len + body_len);
}

int acp_frame_end(struct acp_buf *out, enum acp_framing framing, size_t mark)
{
    if (framing == ACP_FRAMING_CONTENT_LENGTH) {
        put_header(out, mark);
        return 0;
    }
    int err = acp_buf_append(out, "\n", 1);
    if (err)
        acp_buf_truncate(out, mark);
    return err;
}
