/*
 * poll-agent - an agent in a loop of its own: the role, poll(2), and nothing else.
 *
 * It says back what it is told.  The loop is the one of acp/endpoint.h; a program that waits for
 * other things too adds their descriptors to the call of poll().
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "acp/agent.h"

static uint64_t now_ms(void)
{
    struct timespec t;
    (void) clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) user;
    for (size_t i = 0; i < prompt.count; i++)
        if (acp_turn_block(turn, &prompt.items[i]))
            (void) fputs("poll-agent: a block cannot be said back\n", stderr);
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

/* Ids must not repeat from run to run, and the library has no source of randomness. */
static int make_seed(uint64_t seed[2])
{
    FILE *random = fopen("/dev/urandom", "rb");
    size_t n = random ? fread(seed, sizeof(seed[0]), 2, random) : 0;
    if (random)
        (void) fclose(random);
    return n == 2 ? 0 : -1;
}

static int run(struct acp_endpoint *end, int in, int out)
{
    static char buffer[65536];
    struct acp_endpoint_want want;
    for (;;) {
        acp_endpoint_tick(end, now_ms());
        acp_endpoint_poll(end, now_ms(), &want);
        if (in < 0 && !want.output && !want.holding)
            return 0;
        struct pollfd fds[2] = {{.fd = want.input ? in : -1, .events = POLLIN},
                                {.fd = want.output ? out : -1, .events = POLLOUT}};
        if (poll(fds, 2, want.timeout_ms) < 0 && errno != EINTR)
            return 1;
        if (fds[0].revents) {
            size_t most = want.input < sizeof(buffer) ? want.input : sizeof(buffer);
            ssize_t n = read(in, buffer, most);
            if (n <= 0)
                acp_endpoint_receive_end(end, now_ms());
            if (n <= 0 || acp_endpoint_receive(end, buffer, (size_t) n, now_ms()) < 0)
                in = -1;
        }
        if (fds[1].revents) {
            struct acp_str bytes = acp_endpoint_output(end);
            /* A pipe that can be written takes this much without waiting. */
            ssize_t n = write(out, bytes.ptr, bytes.len < PIPE_BUF ? bytes.len : PIPE_BUF);
            if (n < 0)
                return 1;
            acp_endpoint_sent(end, (size_t) n);
        }
    }
}

int main(void)
{
    static const struct acp_agent_handler handler = {.prompt = on_prompt};
    struct acp_agent_options options = {.name = ACP_STR("poll-agent"), .version = ACP_STR("1.0")};
    struct acp_agent *agent;
    if (make_seed(options.seed) || acp_agent_new(&options, &handler, NULL, &agent)) {
        (void) fputs("poll-agent: cannot start\n", stderr);
        return 1;
    }
    int status = run(acp_agent_endpoint(agent), STDIN_FILENO, STDOUT_FILENO);
    acp_agent_free(agent);
    return status;
}
