/* agents_internal.h - shared by the files of src/registry. */
#ifndef SRC_REGISTRY_AGENTS_INTERNAL_H
#define SRC_REGISTRY_AGENTS_INTERNAL_H

#include "acp/json.h"
#include "registry/agents.h"

/* How to start an agent, before its program is looked up. */
struct agent_recipe {
    const char *name;
    const char *title;
    const char *const *installed; /* its own program and arguments; NULL: unknown */
    const char *const *fetched;   /* npx or uvx and arguments; NULL: none */
    const char *const *env;       /* "NAME=value"; NULL: none */
    const char *install;
    const char *login;
    const char *keys;                /* as in struct agent_known; NULL: all */
    const struct agent_known *known; /* or NULL */
    enum agent_source source;
};

/*
 * Reads the configured registry file and calls back for each agent that supports this platform.
 * 0 if no file is configured.  ACP_ERR_RANGE with a message in why if it cannot be read.  Invalid
 * entries are skipped, so that an error of one publisher does not affect the others.
 */
typedef void agents_visit_recipe(const struct agent_recipe *recipe, void *user);
int agents_read_registry(struct config *config, agents_visit_recipe *visit, void *user,
                         struct acp_buf *why);

/* The same for the text of such a file. */
int agents_read_registry_text(struct config *config, struct acp_str text,
                              agents_visit_recipe *visit, void *user, struct acp_buf *why);

/* The PATH of an agent with these variables; NULL: none. */
const char *agents_path(struct config *config, const char *const *env);

/* Joins two lists; ended by NULL.  NULL when out of memory. */
const char *const *agents_join(struct acp_arena *arena, const char *const *first,
                               const char *const *second);

/* The name of this platform in the registry, such as "linux-x86_64". */
void agents_platform(char *out, size_t size);

#endif
