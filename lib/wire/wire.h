/* wire.h - what the files of the reader share.  Private to lib/wire. */
#ifndef LIB_WIRE_WIRE_H
#define LIB_WIRE_WIRE_H

#include "acp/wire.h"

enum {
    /* Of a dropped message so much is shown; enough to recognise it by. */
    EXCERPT = 200,
    /* Real header blocks are under 100 bytes; the limit stops one without an end. */
    HEADER_MAX = 8 * 1024,
};

/* Where a reader stands; the first two are those of lines, the others of Content-Length. */
enum state {
    AT_LINE = 0,  /* in a line; pending is its beginning */
    SKIP_LINE,    /* in a line that is dropped, up to its end */
    AT_HEADER,    /* in a header block; pending is all of it so far */
    AT_BODY,      /* in a body; pending is its beginning */
    LARGE_BODY,   /* in a body over the limit; pending is what will be shown of it */
    SKIP_BODY,    /* in a body that is dropped */
    RESYNC_START, /* at the start of a line while looking for a header; pending is what matches */
    RESYNC_SKIP,  /* in a line that is no header */
};

/* One frame of each framing; deframe.c chooses. */
int acp_deframer_next_line(struct acp_deframer *d, struct acp_frame *ret);
int acp_deframer_next_headed(struct acp_deframer *d, struct acp_frame *ret);

/* Moves bytes from the input to the end of pending. */
int acp_deframer_keep(struct acp_deframer *d, size_t n);
/* Moves bytes until pending holds the excerpt of what is dropped, and hands that out. */
void acp_deframer_drop(struct acp_deframer *d, enum acp_frame_kind kind, struct acp_frame *ret);
/* Hands out the first len bytes of pending, which is cleared by the next call. */
void acp_deframer_give(struct acp_deframer *d, enum acp_frame_kind kind, size_t len,
                       struct acp_frame *ret);
/* How much of "content-" the byte continues: true when it is the one at this index. */
bool acp_deframer_prefix(size_t index, char byte);

static inline void acp_deframer_take(struct acp_deframer *d, size_t n)
{
    d->input += n;
    d->input_len -= n;
}

static inline bool acp_deframer_is_blank(const char *text, size_t len)
{
    while (len && (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n'))
        text++, len--;
    return len == 0;
}

#endif
