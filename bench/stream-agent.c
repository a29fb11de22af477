/* An agent that answers each prompt with so many chunks of text: the far end of bench_stream. */
#include <stdlib.h>

#include "acp/run.h"

static const char text[] = "the function reads every line of a file and returns what it found, "
                           "before the buffer is given back to where it came from";

static struct acp_turn *turn;
static long left;

/* As much as the client takes; the rest when it has caught up. */
static void stream(struct acp_agent *agent)
{
    for (; left > 0 && !acp_agent_is_pressed(agent); left--)
        (void) acp_turn_text(turn, acp_str_n(text, sizeof(text) - 1));
    if (left == 0)
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_prompt(struct acp_turn *new_turn, struct acp_content_block_list prompt, void *user)
{
    char number[32] = "";
    (void) user;
    if (prompt.count && prompt.items[0].text.text.len < sizeof(number))
        memcpy(number, prompt.items[0].text.text.ptr, prompt.items[0].text.text.len);
    turn = new_turn;
    left = strtol(number, NULL, 10);
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
