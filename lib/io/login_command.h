/* login_command.h - the command line by which a method of logging in is carried out. */
#ifndef LIB_IO_LOGIN_COMMAND_H
#define LIB_IO_LOGIN_COMMAND_H

#include "acp/types.h"

/* Both end with NULL and live in the arena, but for what was borrowed from the agent's own. */
struct acp_login_command {
    const char **argv;
    const char **env;
};

/*
 * argv and env are the agent's own; env may be NULL.  ACP_ERR_STATE, _ARGUMENT, _NOMEM; failure,
 * which may be NULL, says why.
 */
int acp_login_command_make(const struct acp_auth_method *method, const char *const *argv,
                           const char *const *env, bool agents_command, struct acp_arena *arena,
                           struct acp_login_command *ret, struct acp_failure *failure);

#endif
