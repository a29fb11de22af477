/* poll-loop.c - see poll-loop.h. */
#include "poll-loop.h"

#include <errno.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

uint64_t poll_loop_now(void)
{
    struct timespec t;
    (void) clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
}

static enum poll_loop_result receive(struct poll_loop *loop, size_t most)
{
    static _Thread_local char buffer[65536];
    ssize_t n = read(loop->in, buffer, most < sizeof(buffer) ? most : sizeof(buffer));
    if (n < 0 && errno == EINTR)
        return POLL_LOOP_CONTINUE;
    if (n > 0 && acp_endpoint_receive(loop->endpoint, buffer, (size_t) n, poll_loop_now()) >= 0)
        return POLL_LOOP_CONTINUE;
    loop->in = -1;
    return POLL_LOOP_INPUT_ENDS;
}

static void send_some(struct poll_loop *loop)
{
    struct acp_str bytes = acp_endpoint_output(loop->endpoint);
    /* A pipe that poll() says can be written takes this much without blocking. */
    ssize_t n = write(loop->out, bytes.ptr, bytes.len < PIPE_BUF ? bytes.len : PIPE_BUF);
    if (n >= 0)
        acp_endpoint_sent(loop->endpoint, (size_t) n);
    else if (errno != EINTR)
        loop->out = -1; /* the other side is gone; the end of the input follows */
}

enum poll_loop_result poll_loop_step(struct poll_loop *loop, struct pollfd *other)
{
    struct acp_endpoint_want want;
    acp_endpoint_tick(loop->endpoint, poll_loop_now());
    acp_endpoint_poll(loop->endpoint, poll_loop_now(), &want);
    if (loop->in < 0 && (loop->out < 0 || (!want.output && !want.holding)))
        return POLL_LOOP_DONE;
    struct pollfd fds[3] = {{.fd = want.input ? loop->in : -1, .events = POLLIN},
                            {.fd = want.output ? loop->out : -1, .events = POLLOUT},
                            {.fd = -1}};
    if (other)
        fds[2] = *other;
    fds[2].revents = 0;
    if (poll(fds, 3, want.timeout_ms) < 0 && errno != EINTR)
        return POLL_LOOP_FAILED;
    if (other)
        other->revents = fds[2].revents;
    if (fds[1].revents)
        send_some(loop);
    return fds[0].revents ? receive(loop, want.input) : POLL_LOOP_CONTINUE;
}
