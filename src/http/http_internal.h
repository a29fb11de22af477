/*
 * http_internal.h - what the files of the client share.
 *
 * curl must not be called from its own callbacks, in which ours run.  So functions that change
 * something only note it, and one place does it: settle(), out of the client's timer.
 */
#ifndef SRC_HTTP_HTTP_INTERNAL_H
#define SRC_HTTP_HTTP_INTERNAL_H

#include "http/curl.h"
#include "http/http_client.h"

enum { HTTP_MAX_HEADERS = 64 * 1024 }; /* kept of an answer; what is beyond is forgotten */

/* A request's way: FRESH, then RUNNING, then OVER; it may be freed anywhere on it. */
enum http_state { HTTP_FRESH, HTTP_RUNNING, HTTP_OVER };

struct http_request {
    struct http_client *client;
    struct http_request *next;
    struct http_handler handler;
    void *user;
    enum http_state state;
    bool freed;                /* calls nobody back, and goes when curl is not looking */
    bool pause;                /* wanted */
    bool paused;               /* curl was told */
    bool head_told;            /* status and headers were passed on */
    enum http_trouble trouble; /* why we ended it ourselves */
    CURL *easy;
    struct curl_slist *headers;
    char *url;
    char *body;
    size_t body_size;
    size_t body_sent; /* of a body that is sent once */
    bool public_only;
    bool met_private;           /* one of the host's addresses is not public */
    struct acp_buf got_headers; /* "name: value\n" each, of the last answer */
    int status;
    uint64_t stall_ms;
    uint64_t last_bytes; /* when, by the loop's clock */
    uint64_t deadline;   /* for all of it; UINT64_MAX: none */
    uint64_t max_body;
    uint64_t body_bytes;
    curl_off_t uploaded;
};

struct http_client {
    uv_loop_t *loop;
    CURLM *multi; /* NULL before the first request */
    char *user_agent;
    char *library;
    const char *const *helper; /* see fetch.h; NULL: none */
    unsigned helpers;          /* that run */
    struct http_request *requests;
    uv_timer_t timer;
    uint64_t curl_deadline; /* when curl wants to be called; UINT64_MAX: not at all */
    bool unsettled;         /* something waits for settle() */
    bool closing;
    unsigned sockets; /* polls that are not closed yet */
};

/* Arms the timer for whatever comes first. */
void http_arm(struct http_client *client);
/* Something is to be settled: as soon as the loop turns. */
void http_unsettle(struct http_client *client);

/* Gives a request its handle with all options.  ACP_ERR_NOMEM, ACP_ERR_ARGUMENT. */
int http_prepare(struct http_request *request, const struct http_ask *ask);
void http_destroy(struct http_request *request);

/* What a code of curl's means, and the sentence for it. */
enum http_trouble http_trouble_of(CURL *easy, CURLcode code);
void http_sentence(const char *url, uint64_t stall_ms, enum http_trouble trouble, CURLcode code,
                   char *out, size_t size);

#endif
