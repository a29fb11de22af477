/*
 * environment_keys.h - the API keys of model providers and agents in our environment.
 *
 * They are removed from the environment before anything else happens, so that no child process
 * inherits a key and none can read it from our /proc/PID/environ.  The model providers of the
 * built-in agent and the environments of other agents get their keys from here.
 *
 * A key variable is one listed in the table of known agents or of model providers.  Credentials of
 * other programs (GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY) are not removed, because commands need them.
 */
#ifndef SRC_REGISTRY_ENVIRONMENT_KEYS_H
#define SRC_REGISTRY_ENVIRONMENT_KEYS_H

#include "acp/base.h"

/* Whether a variable holds a key. */
bool keys_is_key(struct acp_str name);

/*
 * Moves all key variables from the environment to the heap, overwrites the originals, and calls
 * keys_protect() if there was one.  Called once at the start of main(), before there are threads.
 * Exits when out of memory.
 */
void keys_take(void);

/*
 * Moves another variable, named by the configuration, in the same way.  Does nothing if it is not
 * set.
 */
void keys_hide(const char *name);

/* Our original environment, with the keys.  Lives as long as the process. */
const char *const *keys_environment(void);

/*
 * The removed variables whose names are in the list (separated by blanks), as "NAME=value"; with
 * NULL all of them.  Ends with NULL; NULL when out of memory.
 */
const char *const *keys_select(struct acp_arena *arena, const char *names);

/*
 * Protects the memory of this process from other processes of the same user (/proc/PID/mem,
 * debuggers) and keeps it out of core dumps.  Root can still read it.
 */
void keys_protect(void);

#endif
