/*
 * poll-agent - an agent on libacp alone, in a loop of its own with poll(2).
 *
 * It answers each prompt with the prompt.  poll-loop.c has the loop.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "acp/agent.h"
#include "poll-loop.h"

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) user;
    for (size_t i = 0; i < prompt.count; i++)
        if (acp_turn_send_block(turn, &prompt.items[i]))
            (void) fputs("poll-agent: cannot send a block of the prompt back\n", stderr);
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

static int run(struct acp_endpoint *endpoint)
{
    struct poll_loop loop = {.endpoint = endpoint, .in = STDIN_FILENO, .out = STDOUT_FILENO};
    for (;;) {
        switch (poll_loop_step(&loop, NULL)) {
        case POLL_LOOP_CONTINUE:
            break;
        case POLL_LOOP_INPUT_ENDS:
            acp_endpoint_receive_end(endpoint, poll_loop_now());
            break;
        case POLL_LOOP_DONE:
            return 0;
        case POLL_LOOP_FAILED:
            perror("poll-agent: poll");
            return 1;
        }
    }
}

int main(void)
{
    static const struct acp_agent_handler handler = {.prompt = on_prompt};
    struct acp_agent_options options = {
        .name = ACP_STR("poll-agent"),
        .version = ACP_STR("1.0"),
        .versions = ACP_V1 | ACP_V2,
    };
    struct acp_agent *agent;
    (void) signal(SIGPIPE, SIG_IGN); /* a client that is gone is the end of the input */
    int err = make_seed(options.seed);
    if (err) {
        perror("poll-agent: cannot read /dev/urandom");
        return 1;
    }
    err = acp_agent_new(&options, &handler, NULL, &agent);
    if (err) {
        (void) fprintf(stderr, "poll-agent: cannot start: %s\n", acp_err_text(err));
        return 1;
    }
    int status = run(acp_agent_endpoint(agent));
    acp_agent_free(agent);
    return status;
}
