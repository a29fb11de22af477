/* agent_names.h - the names of agents, for reading command lines and for completion. */
#ifndef SRC_REGISTRY_AGENT_NAMES_H
#define SRC_REGISTRY_AGENT_NAMES_H

#include "cli/command.h"

/* For struct program: ended by NULL, valid until the program ends. */
const char *const *agent_names(const struct invocation *invocation);

#endif
