/*
 * agent_names.c - see agent_names.h.
 *
 * Loads the configuration without reporting errors; the command loads it again and reports them.
 */
#include "registry/agent_names.h"

#include "registry/agents.h"

const char *const *agent_names(const struct invocation *invocation)
{
    static const char *const nothing[] = {NULL};
    static struct config *config; /* kept until the program ends, because the names point into it */
    struct config_options options = {0};
    struct acp_buf ignored;
    (void) invocation;
    acp_buf_init(&ignored, CONFIG_MAX_REPORT);
    if (!config)
        (void) config_load(&options, &config, &ignored);
    acp_buf_finish(&ignored);
    return config ? agents_names(config) : nothing;
}
