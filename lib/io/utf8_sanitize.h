/*
 * utf8_sanitize.h - turns a byte stream into valid UTF-8: each invalid byte becomes U+FFFD.  A
 * character that is cut by the end of one chunk is completed by the next.
 */
#ifndef LIB_IO_UTF8_SANITIZE_H
#define LIB_IO_UTF8_SANITIZE_H

#include "acp/base.h"

/* All zero is the start. */
struct acp_mend {
    char held[4]; /* the beginning of a character */
    size_t held_len;
};

typedef void acp_mend_fn(void *self, struct acp_str text);

/* Hands on the text in pieces, none empty, each valid by itself; often one, which is the input. */
void acp_mend_feed(struct acp_mend *mend, struct acp_str bytes, acp_mend_fn *text, void *self);
/* Nothing more comes: what is held is no character. */
void acp_mend_end(struct acp_mend *mend, acp_mend_fn *text, void *self);

#endif
