/*
 * wire.h - framing: bytes to messages and back.
 *
 * Two framings: one message a line (ACP's own on stdio), and LSP's Content-Length headers.  A
 * reader that is told ACP_FRAMING_AUTO decides by the first bytes it sees.  The peer of rpc.h uses
 * it by itself; it is for programs that have no peer.
 *
 *     struct acp_deframer d;
 *     struct acp_frame frame;
 *     acp_deframer_init(&d, ACP_FRAMING_LINES, 0);
 *     while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
 *         acp_deframer_feed(&d, bytes, (size_t) n);
 *         while (acp_deframer_next(&d, &frame) == 0 && frame.kind != ACP_FRAME_NONE)
 *             if (frame.kind == ACP_FRAME_MESSAGE)
 *                 handle(frame.text);
 *     }
 *     acp_deframer_finish(&d);
 *
 * A deframer belongs to one thread at a time.
 */
#ifndef ACP_WIRE_H
#define ACP_WIRE_H

#include "acp/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum acp_framing {
    ACP_FRAMING_AUTO = 0,
    ACP_FRAMING_LINES,
    ACP_FRAMING_CONTENT_LENGTH,
};

/* A message larger than this fails; real agents send single lines of over half a megabyte. */
enum { ACP_WIRE_DEFAULT_MAX = 64 * 1024 * 1024 };

enum acp_frame_kind {
    ACP_FRAME_NONE = 0,  /* more bytes are needed */
    ACP_FRAME_MESSAGE,   /* text is one message, not yet checked */
    ACP_FRAME_TOO_LARGE, /* a message over the limit was dropped; text is its beginning */
    ACP_FRAME_NOISE,     /* text is bytes between messages that belong to none */
};

struct acp_frame {
    enum acp_frame_kind kind;
    struct acp_str text;
};

/*
 * Cuts a stream into frames.  A message that lies whole in the bytes fed is handed out where it
 * lies; only the unfinished rest is copied.
 *
 *     acp_deframer_feed(&d, bytes, n);
 *     while ((err = acp_deframer_next(&d, &frame)) == 0 && frame.kind)
 *         handle(frame);
 *
 * The bytes fed must stay valid until next() has answered ACP_FRAME_NONE; a frame's text is valid
 * until the call after it.
 */
struct acp_deframer {
    enum acp_framing framing; /* AUTO until decided */
    size_t max_message;
    const char *input;
    size_t input_len;
    struct acp_buf pending; /* the beginning of a message or header block whose end has not come */
    size_t line_start;      /* Content-Length: where in pending the current header line begins */
    size_t body_left;       /* Content-Length: bytes of the current body still to come */
    int state;              /* private to deframe.c */
    bool has_length;        /* Content-Length: the current header block has named it */
    bool returned;          /* pending was handed out and is to be cleared */
    bool ended;
    void *reserved[4];
};

/* max_message 0 takes the default. */
ACP_API void acp_deframer_init(struct acp_deframer *d, enum acp_framing framing,
                               size_t max_message);
ACP_API void acp_deframer_finish(struct acp_deframer *d);
/* Hands over received bytes; only after next() has answered NONE for those before. */
ACP_API void acp_deframer_feed(struct acp_deframer *d, const void *bytes, size_t n);
/* Says that no more bytes will come, so that a last line without its end is a message too. */
ACP_API void acp_deframer_end(struct acp_deframer *d);
/* The next frame.  Only ACP_ERR_NOMEM is an error; it loses the message it struck and no other. */
ACP_API int acp_deframer_next(struct acp_deframer *d, struct acp_frame *ret);

/*
 * Writes one message into a buffer with the framing around it: begin, append the message to the
 * buffer, then end.  mark is what begin returned.  AUTO writes lines.
 */
ACP_API int acp_frame_begin(struct acp_buf *out, enum acp_framing framing, size_t *ret_mark);
ACP_API int acp_frame_end(struct acp_buf *out, enum acp_framing framing, size_t mark);

#ifdef __cplusplus
}
#endif

#endif
