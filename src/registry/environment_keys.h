/*
 * environment_keys.h - the keys of model services and agents that our environment holds.
 *
 * They are taken out of the environment before anything else happens, so that no process that we
 * start inherits one and none can read them from /proc/PID/environ of ours.  Whoever needs a key
 * asks for it here: the model service, and the environment of an agent that works with it.
 *
 * A key variable is one that the table of known agents or that of model providers names.
 * Credentials that people give to the programs they work with (GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY)
 * are not ours to take: commands need them.
 */
#ifndef SRC_REGISTRY_ENVIRONMENT_KEYS_H
#define SRC_REGISTRY_ENVIRONMENT_KEYS_H

#include "acp/base.h"

/* Whether a variable holds a key. */
bool keys_is_key(struct acp_str name);

/*
 * Moves all key variables from the environment into memory of ours, overwrites the originals, and
 * keeps other processes of this user out of our memory when there was one.  Called once, at the
 * start of main(), before there are threads.  Without memory the process ends.
 */
void keys_take(void);

/*
 * Moves one more variable, which the configuration names as one with a key, in the same way.  Does
 * nothing when it is not set.
 */
void keys_hide(const char *name);

/* Our environment as it was, with the keys.  Lives as long as the process. */
const char *const *keys_environment(void);

/*
 * The taken keys whose names are in the list of words with spaces between, as "NAME=value"; NULL:
 * all of them.  Ends with NULL; NULL without memory.
 */
const char *const *keys_select(struct acp_arena *arena, const char *names);

/*
 * Makes the memory of this process unreadable for other processes of the same user (they could read
 * /proc/PID/mem, or attach a debugger) and keeps it out of core dumps.  Root can read it anyway.
 */
void keys_protect(void);

#endif
