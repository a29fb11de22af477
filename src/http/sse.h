/*
 * sse.h - a reader of server-sent events: bytes in, in whatever pieces they come, events out.
 *
 *     http_sse_feed(&sse, piece);
 *     while ((n = http_sse_next(&sse, &event)) > 0)
 *         ...
 *
 * As the HTML standard has it: lines end with CR, LF or both, comments are passed over, several
 * data lines are joined with a line end, an event without data is none.  Nothing is allocated for
 * events that lie whole in a piece's lines beyond a buffer that is kept.
 *
 * The id of the last whole event, also of one without data, and the time to wait before the next
 * connection are kept for a caller that resumes a stream.
 */
#ifndef SRC_HTTP_SSE_H
#define SRC_HTTP_SSE_H

#include "acp/base.h"

enum { HTTP_SSE_MAX_ID = 1024 }; /* bytes; an event with a longer id has none */

struct http_sse {
    struct acp_str piece; /* what is still to be read of the piece that was fed */
    struct acp_buf line;  /* the beginning of a line whose end has not come */
    struct acp_buf name;  /* of the event that is being read */
    struct acp_buf data;
    struct acp_buf id;      /* of the event that is being read, or of one before it */
    struct acp_buf last_id; /* of the last event that was whole */
    uint64_t retry_ms;      /* how long to wait before connecting again; 0: it was not said */
    size_t max;
    bool has_data;
    bool skip_lf;   /* a CR came last: an LF belongs to it */
    bool past_mark; /* the place where a byte-order mark may stand is behind us */
    bool given;     /* name and data were given out and go with the next call */
    bool ended;
    int err;
};

struct http_sse_event {
    struct acp_str name; /* empty: "message" */
    struct acp_str data;
};

/* max bounds one line and the data of one event. */
void http_sse_init(struct http_sse *sse, size_t max);
void http_sse_finish(struct http_sse *sse);
/* The piece is borrowed until http_sse_next() has said 0; only then may the next one come. */
void http_sse_feed(struct http_sse *sse, struct acp_str piece);
/* The stream has ended as it should: what it ends with is taken for whole. */
void http_sse_end(struct http_sse *sse);
/*
 * 1 and an event, which is valid until the next call; 0 when the piece is used up; ACP_ERR_LIMIT or
 * ACP_ERR_NOMEM, again and again from then on.
 */
int http_sse_next(struct http_sse *sse, struct http_sse_event *ret);

#endif
