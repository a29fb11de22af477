/*
 * An agent that answers a prompt "COUNT [BYTES]" with COUNT chunks of text, each of BYTES
 * bytes: the far end of bench_stream and bench_exec.
 */
#include <stdlib.h>

#include "acp/run.h"

static const char text[] =
    "the function reads every line of a file and returns what it found, "
    "before the buffer is given back to where it came from, and then goes on with the "
    "next one until there are no more lines to be read or somebody wants it to end";
enum { DEFAULT_BYTES = 120 };

static struct acp_turn *turn;
static long left;
static size_t bytes;

/* As much as the client takes; the rest when it has caught up. */
static void stream(struct acp_agent *agent)
{
    for (; left > 0 && !acp_agent_is_above_high_water(agent); left--)
        (void) acp_turn_send_text(turn, acp_str_n(text, bytes));
    if (left == 0)
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_prompt(struct acp_turn *new_turn, struct acp_content_block_list prompt, void *user)
{
    char numbers[32] = "";
    char *rest;
    (void) user;
    if (prompt.count && prompt.items[0].text.text.len < sizeof(numbers))
        memcpy(numbers, prompt.items[0].text.text.ptr, prompt.items[0].text.text.len);
    turn = new_turn;
    left = strtol(numbers, &rest, 10);
    bytes = strtoul(rest, NULL, 10);
    if (!bytes || bytes >= sizeof(text))
        bytes = DEFAULT_BYTES;
    stream(acp_session_agent(acp_turn_session(turn)));
}

static void on_pressure(struct acp_agent *agent, bool high, void *user)
{
    (void) user;
    if (!high && left > 0)
        stream(agent);
}

int main(void)
{
    static const struct acp_agent_handler handler = {.prompt = on_prompt, .pressure = on_pressure};
    static const struct acp_agent_options options = {.no_merging = true};
    return acp_agent_run(&options, &handler, NULL);
}
