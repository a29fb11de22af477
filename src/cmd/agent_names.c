/*
 * agent_names.c - the names of agents that a command line may begin with.
 *
 * The configuration is read for it without a word; the command itself reads it again and tells what
 * is wrong with it.
 */
#include "cmd/agent_names.h"

#include <stdlib.h>

#include "cmd/agents.h"

/* Kept until the program ends: the names point into it. */
static struct {
    struct config *config;
    const char **names;
    size_t count;
} known;

static void add_name(const struct agent_command *agent, void *user)
{
    (void) user;
    const char **names = realloc(known.names, (known.count + 2) * sizeof(*names));
    if (!names)
        return;
    names[known.count++] = agent->name;
    names[known.count] = NULL;
    known.names = names;
}

const char *const *agent_names(const struct invocation *invocation)
{
    static const char *const nothing[] = {NULL};
    struct config_options options = {0};
    struct acp_buf ignored;
    (void) invocation;
    if (known.names)
        return known.names;
    acp_buf_init(&ignored, CONFIG_MAX_REPORT);
    if (!known.config && config_load(&options, &known.config, &ignored) == 0)
        (void) agents_list(known.config, add_name, NULL, &ignored);
    acp_buf_finish(&ignored);
    return known.names ? known.names : nothing;
}
