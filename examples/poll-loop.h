/*
 * poll-loop.h - drives an endpoint of libacp with poll(2), for poll-agent.c and poll-client.c: the
 * loop of acp/endpoint.h, one round at a time, so that a program can wait for other things as well.
 */
#ifndef POLL_LOOP_H
#define POLL_LOOP_H

#include <poll.h>

#include "acp/endpoint.h"

/* One connection.  The descriptors are pipes or sockets that block, and belong to the owner. */
struct poll_loop {
    struct acp_endpoint *endpoint;
    int in;  /* -1: nothing more comes */
    int out; /* -1: nothing more can be sent */
};

enum poll_loop_result {
    POLL_LOOP_CONTINUE,
    POLL_LOOP_INPUT_ENDS, /* in was set to -1: call acp_endpoint_receive_end(), then go on */
    POLL_LOOP_DONE,       /* nothing more will come, and all that could be sent has been */
    POLL_LOOP_FAILED,     /* poll() failed, and errno says why */
};

/* Milliseconds of a clock that only goes forward. */
uint64_t poll_loop_now(void);

/*
 * Waits until there is something to do, and does it.  other is one more descriptor to wait for, or
 * NULL; its revents are 0 when nothing happened to it.
 */
enum poll_loop_result poll_loop_step(struct poll_loop *loop, struct pollfd *other);

#endif
