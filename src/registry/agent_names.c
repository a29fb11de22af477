/*
 * agent_names.c - the names of agents that a command line may begin with.
 *
 * The configuration is read for it without a word; the command itself reads it again and tells what
 * is wrong with it.
 */
#include "registry/agent_names.h"

#include "registry/agents.h"

const char *const *agent_names(const struct invocation *invocation)
{
    static const char *const nothing[] = {NULL};
    static struct config *config; /* kept until the program ends: the names point into it */
    struct config_options options = {0};
    struct acp_buf ignored;
    (void) invocation;
    acp_buf_init(&ignored, CONFIG_MAX_REPORT);
    if (!config)
        (void) config_load(&options, &config, &ignored);
    acp_buf_finish(&ignored);
    return config ? agents_names(config) : nothing;
}
