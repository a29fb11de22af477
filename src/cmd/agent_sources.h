/* agent_sources.h - providers, keys and facts about models for the built-in agent. */
#ifndef SRC_CMD_AGENT_SOURCES_H
#define SRC_CMD_AGENT_SOURCES_H

#include "cmd/conversation_setup.h"
#include "model/providers.h"

/* Facts about models from the configuration; empty when out of memory. */
struct model_table agent_read_facts(struct conversation_setup *c);

/*
 * Adds the configured providers.  The variables that hold their keys are removed from the
 * environment of child processes.
 */
void agent_read_providers(struct conversation_setup *c, struct model_sources *sources);

/*
 * Adds the stored keys to the sources; they live in the arena.  `user` is the conversation setup.
 * Prints a message about each key that cannot be used.  ACP_ERR_NOMEM.
 */
int agent_read_keys(void *user, struct acp_arena *arena, struct model_sources *sources);

#endif
