/* terminals_command.h - what a terminal runs: from a request to arguments and an environment. */
#ifndef LIB_WORKSPACE_TERMINALS_COMMAND_H
#define LIB_WORKSPACE_TERMINALS_COMMAND_H

#include "acp/terminals.h"

struct acp_terminal_command {
    struct acp_arena arena; /* all of the following lives here */
    const char **argv;
    const char **env;
    const char *const *unset;
    const char *cwd; /* NULL: ours */
};

/* ACP_ERR_ARGUMENT, ACP_ERR_NOMEM; failure may be NULL.  Finish it in any case. */
int acp_terminal_command_init(struct acp_terminal_command *command,
                              const struct acp_terminal_request *request, bool pipes,
                              struct acp_failure *failure);
/* Whether a command without arguments is a line for a shell. */
bool acp_terminal_is_line(struct acp_str command);
void acp_terminal_command_finish(struct acp_terminal_command *command);

#endif
