/* agent_sources.h - where the built-in agent has providers, keys and facts about models from. */
#ifndef SRC_CMD_AGENT_SOURCES_H
#define SRC_CMD_AGENT_SOURCES_H

#include "cmd/conversation_setup.h"
#include "model/providers.h"

/* What the configuration says about models; nothing without memory. */
struct model_table agent_read_facts(struct conversation_setup *c);

/*
 * The providers of the configuration.  The variables that hold their keys leave the environment of
 * what we start.
 */
void agent_read_providers(struct conversation_setup *c, struct model_sources *sources);

/*
 * Puts the stored keys into the sources, in the arena; `user` is the conversation.  Keys that
 * cannot be used are complained about.  ACP_ERR_NOMEM.
 */
int agent_read_keys(void *user, struct acp_arena *arena, struct model_sources *sources);

#endif
