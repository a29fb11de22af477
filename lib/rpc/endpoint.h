/* endpoint.h - the inside of an endpoint, for what contains one: the peer and the agent's role. */
#ifndef LIB_RPC_ENDPOINT_H
#define LIB_RPC_ENDPOINT_H

#include "acp/endpoint.h"

struct acp_endpoint {
    struct acp_endpoint_handler handler;
    void *self;
    void (*wake)(void *user);
    void *wake_user;
    bool paused;        /* the handler was, when it was last looked at */
    bool progress;      /* something was sent since */
    uint64_t breath_at; /* while paused: when a little input is accepted all the same */
};

void acp_endpoint_init(struct acp_endpoint *endpoint, const struct acp_endpoint_handler *handler,
                       void *self);

#endif
