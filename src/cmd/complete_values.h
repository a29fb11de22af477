/* complete_values.h - sessions, models and modes for completion, from the session log. */
#ifndef SRC_CMD_COMPLETE_VALUES_H
#define SRC_CMD_COMPLETE_VALUES_H

#include "cli/command.h"

/*
 * The hook of struct program.  Sessions: the names and short ids of the latest ones.  Models and
 * modes: what the agent (the one that is named, or the default one) has offered in its latest
 * session.  Prints nothing, and is empty where anything fails.
 */
const struct candidate *complete_values(struct invocation *invocation, enum option_kind kind);

#endif
