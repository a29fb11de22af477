/* agents_internal.h - between agents*.c. */
#ifndef SRC_REGISTRY_AGENTS_INTERNAL_H
#define SRC_REGISTRY_AGENTS_INTERNAL_H

#include "acp/json.h"
#include "registry/agents.h"

/* What is known of a way to start an agent, before it is looked for. */
struct agent_recipe {
    const char *name;
    const char *title;
    const char *const *installed; /* its own program and arguments; NULL: none is known */
    const char *const *fetched;   /* npx or uvx and arguments; NULL: none */
    const char *const *env;       /* "NAME=value"; NULL: none */
    const char *install;
    const char *login;
    const char *keys; /* as of struct agent_known; NULL: all */
    enum agent_source source;
};

/*
 * Reads the registry file that the configuration names and calls back for each agent in it that
 * has something for this platform.  0 when none is named.  ACP_ERR_RANGE with a sentence in why
 * when the file cannot be read; an entry that is not as it should be is passed over, since one
 * publisher's mistake must not take the others away.
 */
typedef void agents_visit_recipe(const struct agent_recipe *recipe, void *user);
int agents_read_registry(struct config *config, agents_visit_recipe *visit, void *user,
                         struct acp_buf *why);

/* The same with the text of such a file. */
int agents_read_registry_text(struct config *config, struct acp_str text,
                              agents_visit_recipe *visit, void *user, struct acp_buf *why);

/* The PATH that an agent with these variables gets; NULL: none. */
const char *agents_path(struct config *config, const char *const *env);

/* Two lists as one, ended by NULL; NULL without memory. */
const char *const *agents_join(struct acp_arena *arena, const char *const *first,
                               const char *const *second);

/* "linux-x86_64", as the registry calls this machine. */
void agents_platform(char *out, size_t size);

#endif
