/*
 * http_client.h - an HTTP client on the event loop: requests whose answers come in pieces.
 *
 *     http_client_new(loop, NULL, &client);
 *     http_request_new(client, &(struct http_ask){.url = "https://..."}, &handler, user, &request,
 *                      &failure);
 *
 * Each request has one `head` (unless it fails before), pieces of the body, and one `end`.
 * Callbacks run from the loop, never inside the call that caused them, and may call any function
 * here, also the free functions of the objects they are about: after them nothing is called back.
 * Objects die in two steps, so let the loop run until it is done.
 *
 * Redirections are not followed: a key that was meant for one server is not for another.  What a
 * piece holds is the callee's to bound; the client itself keeps no body.  Who cannot take more
 * pauses the request, and the server is not read any further.
 */
#ifndef SRC_HTTP_HTTP_CLIENT_H
#define SRC_HTTP_HTTP_CLIENT_H

#include <uv.h>

#include "acp/base.h"

struct http_client;
struct http_request;

struct http_client_options {
    const char *user_agent; /* copied; NULL: "acp" */
    const char *library;    /* of curl, for tests; NULL: the usual one */
    /* The helper program of http/fetch.h and its arguments, then NULL; borrowed.  NULL: none. */
    const char *const *helper;
};

/* Loads nothing yet: that waits for the first request.  options may be NULL. */
int http_client_new(uv_loop_t *loop, const struct http_client_options *options,
                    struct http_client **ret);
/* Frees the client with all its requests; none of them calls back any more.  Takes NULL. */
void http_client_free(struct http_client *client);

struct http_header {
    const char *name;
    const char *value;
};

/* Everything is copied. */
struct http_ask {
    const char *method; /* NULL: POST with a body, otherwise GET */
    const char *url;    /* http or https */
    const struct http_header *headers;
    size_t header_count;
    struct acp_str body; /* absent: none */
    uint64_t connect_ms; /* until the connection stands, with name and TLS; 0: 20 s */
    uint64_t stall_ms;   /* without a byte in either direction; 0: 300 s */
    uint64_t total_ms;   /* for all of it; 0: as long as it takes */
    uint64_t max_body;   /* bytes of an answer; 0: any */
    /*
     * Never sent twice.  Otherwise a request on a connection that turns out to be closed is sent
     * again on another one, although the server may have served it.
     */
    bool once;
    /*
     * Only hosts of the public internet: what is connected to is looked at when the name has been
     * resolved, so that no name leads to this machine or its neighbours.  No proxy is used, which
     * would resolve the name by itself, and no connection that stands already.
     */
    bool public_only;
};

/* What became of a request. */
enum http_trouble {
    HTTP_DONE = 0,   /* the whole answer came, whatever its status */
    HTTP_ADDRESS,    /* the URL is none, or not for HTTP */
    HTTP_NAME,       /* the host's name is not found */
    HTTP_NO_NETWORK, /* there is no way to the host */
    HTTP_REFUSED,    /* nothing listens there */
    HTTP_PRIVATE,    /* the host is not public, and only those were wanted */
    HTTP_TLS,        /* no safe connection */
    HTTP_SLOW,       /* no connection in connect_ms, no end in total_ms */
    HTTP_STALLED,    /* no bytes for stall_ms */
    HTTP_BROKEN,     /* the connection broke, or what came is no HTTP */
    HTTP_TOO_LARGE,  /* more than max_body */
    HTTP_NO_MEMORY,
};

struct http_end {
    enum http_trouble trouble;
    int status;           /* 0 when no head came */
    const char *sentence; /* for people, without a final stop; "" when it is done */
};

struct http_handler {
    /* The status and, by http_request_header(), the headers are there.  May be NULL. */
    void (*head)(struct http_request *request, int status, void *user);
    /* May be NULL.  A request that was paused may still give one piece out of what has come. */
    void (*body)(struct http_request *request, struct acp_str piece, void *user);
    /* Once, the last one; the request still wants its http_request_free(). */
    void (*end)(struct http_request *request, const struct http_end *end, void *user);
};

/*
 * Failures are those that no callback can tell: ACP_ERR_MISSING (there is no libcurl; the failure,
 * which may be NULL, says what to install), ACP_ERR_NOMEM, ACP_ERR_ARGUMENT (a header with a line
 * end in it).
 */
int http_request_new(struct http_client *client, const struct http_ask *ask,
                     const struct http_handler *handler, void *user, struct http_request **ret,
                     struct acp_failure *failure);
/* Ends it at once, whatever its state; it does not call back any more.  Takes NULL. */
void http_request_free(struct http_request *request);

/* Stops reading until http_request_resume(); meanwhile nothing counts as a stall. */
void http_request_pause(struct http_request *request);
void http_request_resume(struct http_request *request);

/* The value of a header of the answer, of several the last; absent when there is none. */
struct acp_str http_request_header(const struct http_request *request, const char *name);

/*
 * Where an answer that is a redirection leads, as a whole URL; NULL when it is none.  In `end` and
 * behind it; valid as long as the request.
 */
const char *http_request_redirect(const struct http_request *request);

/*
 * How long the answer asks to wait before the next attempt (Retry-After, as seconds or a date, and
 * retry-after-ms), in milliseconds; false when it does not say.
 */
bool http_request_retry_after(const struct http_request *request, uint64_t *ret_ms);

/*
 * Where a URL leads, for people: "host" or "host:port", without a user, a password or anything of
 * the path.  Points into the URL.
 */
struct acp_str http_place(struct acp_str url);
/*
 * Whether a redirection stays where it was permitted to go: the same scheme, host and port, or from
 * http to https on their usual ports of the same host.  False for a URL with a user in it, and for
 * a host that readers of URLs do not agree on.
 */
bool http_stays(struct acp_str from, struct acp_str to);
/* Whether that is this machine, by its name or address. */
bool http_is_loopback(struct acp_str url);
/*
 * Whether an address is of the public internet: not of this machine, a private or a local network,
 * a group, or one that is reserved, also when it stands inside of an IPv6 address.
 */
bool http_is_public(const struct sockaddr *address);

#endif
