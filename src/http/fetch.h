/*
 * fetch.h - a GET that returns the whole body at once, made by a helper process if there is one.
 *
 * libcurl loads some thirty other libraries and cannot be unloaded.  So a process that has not
 * loaded it yet starts the program named by http_client_options.helper.  The helper reads the
 * request from its standard input, writes the answer to its standard output, and ends; it also ends
 * when its standard input is closed, and so never outlives the process that started it.  The
 * request may have a key in it, which is therefore neither in an argument nor in the environment.
 *
 * If there is no helper, if it cannot be started, or if it ends without an answer, the request is
 * made in this process; the owner sees no difference.
 */
#ifndef SRC_HTTP_FETCH_H
#define SRC_HTTP_FETCH_H

#include "http/http_client.h"

struct http_fetch;

struct http_fetched {
    struct http_end end;
    struct acp_str body; /* until http_fetch_free() */
};

/* Called once, from the loop; may call http_fetch_free(). */
typedef void http_fetched_fn(struct http_fetch *fetch, const struct http_fetched *fetched,
                             void *user);

/*
 * ask must be a GET with max_body; public_only is not supported.  Everything is copied.  Errors are
 * those of http_request_new().
 */
int http_fetch_new(struct http_client *client, const struct http_ask *ask, http_fetched_fn *fetched,
                   void *user, struct http_fetch **ret, struct acp_failure *failure);
/* Ends it at once, and kills its helper.  Takes NULL. */
void http_fetch_free(struct http_fetch *fetch);

#endif
