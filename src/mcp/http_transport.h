/*
 * http_transport.h - what the files of the HTTP transport share.
 *
 *   http.c         the transport: the session, what may be sent when, its end
 *   http_stream.c  one POST or GET: its attempts, its answer, resuming it
 *   http_url.c     where the older transport wants its messages
 */
#ifndef SRC_MCP_HTTP_TRANSPORT_H
#define SRC_MCP_HTTP_TRANSPORT_H

#include "http/sse.h"
#include "mcp/mcp_internal.h"

enum {
    MCP_MAX_SESSION_ID = 1024,      /* bytes; a longer one is ignored */
    MCP_MAX_POSTS = 64,             /* messages on their way that are not requests */
    MCP_MAX_HEADERS = 64,           /* from the options; more are an error */
    MCP_MAX_ERROR_BODY = 64 * 1024, /* bytes of an answer that is an HTTP error */
    MCP_MAX_ATTEMPTS = 5,           /* to resume a stream, without an event in between */
    MCP_MAX_REDIRECTS = 5,          /* of one message, within the server */
};

/* http_set_phase() has the transitions. */
enum http_phase {
    HTTP_OPENING,        /* initialize is under way; everything else waits */
    HTTP_OPENING_LEGACY, /* the stream of the older transport is opened; everything waits */
    HTTP_OPEN,
    HTTP_AUTHORIZING, /* everything waits for the authorizer */
    HTTP_STOPPING,    /* the session is ended with DELETE */
    HTTP_ENDED,
};

/* stream_set_state() has the transitions. */
enum stream_state {
    STREAM_HELD,    /* until the phase permits it */
    STREAM_WAITING, /* until its time for another attempt */
    STREAM_ACTIVE,  /* an HTTP request is under way */
    STREAM_OVER,    /* freed when no callback is running */
};

enum stream_kind {
    STREAM_REQUEST,   /* a message that wants a response */
    STREAM_MESSAGE,   /* one that does not */
    STREAM_LISTENING, /* what the server sends by itself */
};

struct http_stream {
    struct http_stream *next;
    struct http_transport *http;
    enum stream_kind kind;
    enum stream_state state;
    bool is_initialize;
    bool is_initialized; /* the notification after it */
    char *body;          /* the message, or NULL */
    size_t body_len;
    struct acp_raw id; /* of the request, in the body */
    struct http_request *request;
    bool resumes;     /* by GET with the id of the last event */
    bool is_events;   /* the answer is a stream of events */
    bool had_session; /* the session was named in the last attempt */
    bool was_expired; /* it was refused once because of its session */
    bool answered;    /* its response was delivered */
    bool paused;
    struct http_sse sse;
    struct acp_buf answer; /* a body that is not events */
    unsigned attempts;     /* since the last event */
    unsigned redirects;
    uint64_t due; /* while WAITING */
};

struct http_transport {
    struct mcp_transport base;
    struct mcp_transport_context context;
    struct http_client *client;
    const struct mcp_authorizer *authorizer;
    char *url;
    char *post_url; /* of the older transport; NULL: the URL */
    bool is_legacy;
    bool may_fall_back;          /* to the older transport */
    struct http_header *headers; /* of the options; their texts are owned */
    size_t header_count;
    enum http_phase phase;
    enum http_phase before;                  /* AUTHORIZING */
    bool initialize_done;                    /* while OPENING: it was answered */
    char session_id[MCP_MAX_SESSION_ID + 1]; /* "": none */
    char version[32];                        /* "": not negotiated */
    char first_failure[700];                 /* before the older transport was tried; "": none */
    struct http_stream *streams;
    size_t post_count;            /* of kind MESSAGE */
    struct http_request *goodbye; /* DELETE */
    uv_timer_t timer;             /* closed last, which frees the struct */
    unsigned busy;                /* callbacks that are running */
    bool freed;
};

/* ---- http.c ---------------------------------------------------------------------------------- */

void http_enter(struct http_transport *http);
void http_leave(struct http_transport *http);
/* Something is to be done soon. */
void http_wake(void *user);
/* Whether the stream may be sent now. */
bool http_may_send(const struct http_transport *http, const struct http_stream *stream);
/* initialize was answered over HTTP with this status and its headers. */
void http_take_session(struct http_transport *http, const struct http_request *request);
/* The message after initialize has arrived: everything may be sent. */
void http_be_open(struct http_transport *http);
/* The server does not know the session any more. */
void http_expire(struct http_transport *http);
/* The server has refused the stream's request; true: it is repeated once there is an answer. */
bool http_authorize(struct http_transport *http, const struct http_request *request, int status);
/* initialize was refused; true: the older transport is tried. */
bool http_fall_back(struct http_transport *http, int status, struct acp_str sentence);
/* The endpoint event of the older transport. */
void http_take_endpoint(struct http_transport *http, struct acp_str data);
/* Ends the transport as a whole. */
void http_fail(struct http_transport *http, struct acp_str sentence);

/* ---- http_stream.c --------------------------------------------------------------------------- */

/* The text is copied.  NULL if out of memory. */
struct http_stream *http_stream_new(struct http_transport *http, enum stream_kind kind,
                                    struct acp_raw message);
void http_stream_free(struct http_stream *stream);
void http_stream_set_state(struct http_stream *stream, enum stream_state state);
/* Makes an attempt. */
void http_stream_start(struct http_stream *stream);
/* Its response cannot arrive any more: the connection is told, and the stream is over. */
void http_stream_lose(struct http_stream *stream, const char *format, ...) ACP_PRINTF(2, 3);
/* Ends it without a word. */
void http_stream_end(struct http_stream *stream);

/* ---- http_url.c ------------------------------------------------------------------------------ */

/*
 * Appends the URL that a reference leads to, seen from the base.  ACP_ERR_ARGUMENT: it leads to
 * another server, or is none.
 */
int http_resolve(struct acp_str base, struct acp_str reference, struct acp_buf *out);

#endif
