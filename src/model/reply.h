/* reply.h - one answer on its way, as the files that drive it see it. */
#ifndef SRC_MODEL_REPLY_H
#define SRC_MODEL_REPLY_H

#include "http/sse.h"
#include "model/demo.h"
#include "model/service.h"
#include "model/shown.h"

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
    char *origin; /* of what the service seals */
    struct http_request *request;
    struct http_sse sse;
    struct model_stream stream;
    struct model_stream former; /* of the attempt that came furthest before this one */
    struct shown shown;
    struct demo_play demo;
    unsigned attempt; /* the one that runs, from 1; those with a changed request do not count */
    unsigned repairs; /* how often the request was changed */
    bool begun;       /* there was an attempt before */
    bool has_former;
    bool stripped;  /* the request goes without what is sealed */
    bool streaming; /* what comes is events */
    bool paused;
    bool cancelled;
    bool over; /* the end was told, or nobody wants to hear it */
};

/* Ends it: tells the handler, once.  The sentence is redacted here. */
void reply_end(struct model_reply *reply, enum model_stop stop, const char *sentence, bool is_auth,
               bool is_too_long);
/* The answer has come whole, or as far as the stream can tell. */
void reply_complete(struct model_reply *reply);

/* Tells the user something; the sentence is redacted here. */
void reply_notice(struct model_reply *reply, const char *sentence);

/* wire.c: the next attempt over HTTP. */
int reply_attempt(struct model_reply *reply, struct acp_failure *failure);

/* again.c: what comes between two attempts. */

/* Makes the reply ready for another attempt: what was shown is remembered, calls are dropped. */
int reply_start_over(struct model_reply *reply);
/*
 * Changes a request that was refused, when there is a way: the next attempt is due at once then.
 * words is the body of the answer.
 */
bool reply_repair(struct model_reply *reply, struct acp_str words);
/* Whether a tool was refused for this model before. */
bool service_has_refused(const struct model_service *service, struct acp_str model,
                         struct acp_str tool);

#endif
