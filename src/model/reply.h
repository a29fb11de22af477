/* reply.h - one answer on its way, as the files that drive it see it. */
#ifndef SRC_MODEL_REPLY_H
#define SRC_MODEL_REPLY_H

#include "http/sse.h"
#include "model/demo.h"
#include "model/service.h"

enum { REPLY_MAX_EVENT = 32 * 1024 * 1024 }; /* one event of a stream */

struct model_reply {
    struct model_service *service;
    struct model_handler handler;
    void *user;
    uv_timer_t timer; /* waits for the next attempt, the next word of the demo, the end */
    struct acp_buf url;
    struct acp_buf body;
    struct acp_buf complaint; /* an answer that is no stream */
    char *model;
    struct http_request *request;
    struct http_sse sse;
    struct model_stream stream;
    struct demo_play demo;
    unsigned attempt; /* the one that runs, from 1 */
    bool streaming;   /* what comes is events */
    bool paused;
    bool cancelled;
    bool over; /* the end was told, or nobody wants to hear it */
};

/* Ends it: tells the handler, once.  The sentence is redacted here. */
void reply_end(struct model_reply *reply, enum model_stop stop, const char *sentence, bool is_auth,
               bool is_too_long);
/* The answer has come whole, or as far as the stream can tell. */
void reply_complete(struct model_reply *reply);

/* wire.c: the next attempt over HTTP. */
int reply_attempt(struct model_reply *reply, struct acp_failure *failure);

#endif
