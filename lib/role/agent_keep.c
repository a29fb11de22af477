/*
 * What is said waits until the program has kept it.
 *
 * Two waves are enough, however many numbers there are: the first is what the program is writing
 * now, the second is all that has come since.  When the first is released the second takes its
 * place, and waits for the last of its numbers.
 */
#include "role/agent_role.h"

void acp_agent_hold_output(struct acp_agent *agent, uint64_t number)
{
    struct hold *wave = agent->holding[0].number ? &agent->holding[1] : &agent->holding[0];
    if (!wave->number)
        wave->from = agent->sent + acp_peer_output(agent->peer).len;
    wave->number = number;
}

void acp_agent_release_output(struct acp_agent *agent, uint64_t number)
{
    static const struct hold nothing = {0};
    bool moved = false;
    while (agent->holding[0].number && agent->holding[0].number <= number) {
        agent->holding[0] = agent->holding[1];
        agent->holding[1] = nothing;
        moved = true;
    }
    if (moved)
        acp_endpoint_wake(&agent->endpoint);
}

struct acp_str agent_free_output(const struct acp_agent *agent)
{
    struct acp_str output = acp_peer_output(agent->peer);
    const struct hold *first = &agent->holding[0];
    if (first->number && first->from - agent->sent < output.len)
        output.len = (size_t) (first->from - agent->sent);
    return output;
}
