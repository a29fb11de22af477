/*
 * tail.h - the end of a text that may be of any length: a ring that keeps the last bytes up to a
 * limit.  What comes in is valid UTF-8 in whole characters (see utf8_sanitize.h), and what goes out
 * is too: a character that is cut at the front is left out.
 */
#ifndef LIB_IO_TAIL_H
#define LIB_IO_TAIL_H

#include "acp/base.h"

struct acp_tail {
    char *data;
    size_t cap; /* grows up to limit */
    size_t start;
    size_t len;
    size_t limit;
    bool truncated; /* something was dropped at the front */
};

void acp_tail_init(struct acp_tail *tail, size_t limit);
void acp_tail_finish(struct acp_tail *tail);
/*
 * Each byte costs the same however much is kept.  When out of memory, less is kept than the
 * limit says; nothing fails.
 */
void acp_tail_write(struct acp_tail *tail, struct acp_str text);
/* The length of what acp_tail_read() appends. */
size_t acp_tail_length(const struct acp_tail *tail);
/* Appends what is kept.  ACP_ERR_LIMIT, ACP_ERR_NOMEM, and then nothing was appended. */
int acp_tail_read(const struct acp_tail *tail, struct acp_buf *out);

#endif
