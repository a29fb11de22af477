/*
 * utf8_sanitize.h - turns a byte stream into valid UTF-8: each invalid byte becomes U+FFFD.  A
 * character that is cut by the end of one chunk is completed by the next.
 */
#ifndef LIB_IO_UTF8_SANITIZE_H
#define LIB_IO_UTF8_SANITIZE_H

#include "acp/base.h"

/* All zero is the start. */
struct acp_utf8_sanitizer {
    char held[4]; /* the beginning of a character */
    size_t held_len;
};

typedef void acp_utf8_sanitize_fn(void *self, struct acp_str text);

/* Passes on the text in chunks, none of them empty, each valid UTF-8; often the input itself. */
void acp_utf8_sanitize_feed(struct acp_utf8_sanitizer *sanitizer, struct acp_str bytes,
                            acp_utf8_sanitize_fn *text, void *self);
/* The end of the stream: an incomplete character is replaced. */
void acp_utf8_sanitize_end(struct acp_utf8_sanitizer *sanitizer, acp_utf8_sanitize_fn *text,
                           void *self);

#endif
