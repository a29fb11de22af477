/*
 * wire.h - framing: cuts a stream of bytes into messages, and frames messages for sending.
 *
 * There are two framings: lines with one message each, which ACP uses on stdio, and the Content-
 * Length headers of LSP.  The peer of acp/rpc.h uses this by itself; the header is for programs
 * without a peer.
 *
 *     #include <acp/wire.h>
 *     #include <stdio.h>
 *     #include <unistd.h>
 *
 *     int main(void)
 *     {
 *         struct acp_deframer d;
 *         struct acp_frame frame;
 *         char bytes[4096];
 *         ssize_t n;
 *         int err = 0;
 *         acp_deframer_init(&d, ACP_FRAMING_AUTO, 0);
 *         while (!err && (n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0) {
 *             acp_deframer_feed(&d, bytes, (size_t) n);
 *             while (!(err = acp_deframer_next(&d, &frame)) && frame.kind != ACP_FRAME_NONE)
 *                 if (frame.kind == ACP_FRAME_MESSAGE)
 *                     printf("message: %.*s\n", ACP_ARG(frame.text));
 *         }
 *         acp_deframer_finish(&d);
 *         return err ? 1 : 0;
 *     }
 *
 * A deframer belongs to one thread at a time.
 */
#ifndef ACP_WIRE_H
#define ACP_WIRE_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Receiving ------------------------------------------------------------------------------ */

enum acp_framing {
    ACP_FRAMING_AUTO = 0, /* decided by the first bytes received; sending uses lines */
    ACP_FRAMING_LINES,
    ACP_FRAMING_CONTENT_LENGTH,
};

/* The default maximum of one message; real agents send single lines of over half a megabyte. */
enum { ACP_WIRE_DEFAULT_MAX = 64 * 1024 * 1024 };

enum acp_frame_kind {
    ACP_FRAME_NONE = 0,  /* more bytes are needed */
    ACP_FRAME_MESSAGE,   /* text is one message; not validated */
    ACP_FRAME_TOO_LARGE, /* a message over the maximum was dropped; text is how it began */
    ACP_FRAME_NOISE,     /* text is part of bytes between messages that could not be read */
};

struct acp_frame {
    enum acp_frame_kind kind;
    struct acp_str text; /* without the framing; valid until the next call */
};

/*
 * Cuts a stream into frames.  A message that lies whole in the bytes fed is returned in place; only
 * an unfinished rest is copied.  Leave the members alone.
 */
struct acp_deframer {
    enum acp_framing framing; /* may be read: AUTO until it is decided */
    size_t max_message;
    const char *input;
    size_t input_len;
    struct acp_buf pending; /* the beginning of an unfinished message or header block */
    size_t line_start;      /* Content-Length: where in pending the current header line begins */
    size_t body_left;       /* Content-Length: bytes of the current body still to come */
    int state;
    bool has_length; /* Content-Length: the current header block has a length */
    bool returned;   /* pending was returned as a frame and is to be cleared */
    bool ended;
    void *reserved[4];
};

/* max_message is in bytes; 0 means ACP_WIRE_DEFAULT_MAX.  Allocates nothing yet. */
ACP_API void acp_deframer_init(struct acp_deframer *d, enum acp_framing framing,
                               size_t max_message);
/* Frees the memory; the deframer must be initialised before it is used again. */
ACP_API void acp_deframer_finish(struct acp_deframer *d);
/*
 * Passes received bytes in.  Call it only after acp_deframer_next() has returned ACP_FRAME_NONE for
 * those before, and keep the bytes unchanged until it does so again.
 */
ACP_API void acp_deframer_feed(struct acp_deframer *d, const void *bytes, size_t n);
/*
 * No more bytes will come: a last line without a line end becomes a message, too.  Call
 * acp_deframer_next() once more afterwards; nothing may be fed any more.
 */
ACP_API void acp_deframer_end(struct acp_deframer *d);
/*
 * The next frame; ACP_FRAME_NONE if more bytes are needed.  The only error is ACP_ERR_NOMEM: the
 * message that was being copied is lost, and the following ones are not affected.
 */
ACP_API int acp_deframer_next(struct acp_deframer *d, struct acp_frame *ret);

/* ---- Sending -------------------------------------------------------------------------------- */

/*
 * Writes a message with its framing into a buffer: call acp_frame_begin(), append the message to
 * the buffer, call acp_frame_end() with the mark.  A message framed as a line must not contain a
 * line end.
 *
 * ACP_ERR_LIMIT or ACP_ERR_NOMEM; if acp_frame_end() fails, the message is removed again.
 */
ACP_API int acp_frame_begin(struct acp_buf *out, enum acp_framing framing, size_t *ret_mark);
ACP_API int acp_frame_end(struct acp_buf *out, enum acp_framing framing, size_t mark);

#ifdef __cplusplus
}
#endif

#endif
