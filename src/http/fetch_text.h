/*
 * fetch_text.h - what a fetch and its helper process say to each other.
 *
 * Both messages are texts that end with NUL.  The request: the URL, four numbers, names and values
 * of headers, and an empty text.  The answer: three numbers, a sentence, and then the body.
 */
#ifndef SRC_HTTP_FETCH_TEXT_H
#define SRC_HTTP_FETCH_TEXT_H

#include "http/fetch.h"

enum {
    FETCH_MAX_ASK = 60 * 1024, /* a new pipe has room for it */
    FETCH_MAX_HEAD = 1024,     /* of the answer, before its body */
    FETCH_MAX_HEADERS = 64,
};

/* ACP_ERR_LIMIT if it is too long for a helper, ACP_ERR_NOMEM. */
int fetch_write_ask(const struct http_ask *ask, struct acp_buf *out);
/*
 * All texts are borrowed, and the headers are stored in the array.  ACP_ERR_MALFORMED, also if the
 * end is missing.
 */
int fetch_read_ask(struct acp_str text, struct http_header headers[FETCH_MAX_HEADERS],
                   struct http_ask *ret);

/* What precedes a body of this length. */
int fetch_write_head(const struct http_end *end, size_t length, struct acp_buf *out);
/* Sentence and body are borrowed.  ACP_ERR_MALFORMED, also if it is not complete. */
int fetch_read_answer(struct acp_str text, struct http_fetched *ret);

#endif
