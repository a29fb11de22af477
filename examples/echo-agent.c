/* echo-agent - an agent that says back what it is told. */
#include "acp/run.h"

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) user;
    for (size_t i = 0; i < prompt.count; i++)
        (void) acp_turn_send_block(turn, &prompt.items[i]);
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

int main(void)
{
    static const struct acp_agent_handler handler = {.prompt = on_prompt};
    static const struct acp_agent_options options = {
        .name = ACP_STR("echo-agent"),
        .version = ACP_STR("1.0"),
        .versions = ACP_V1 | ACP_V2,
        .images = true,
        .audio = true,
        .embedded_context = true,
    };
    return acp_agent_run(&options, &handler, NULL);
}
