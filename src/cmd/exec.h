/* exec.h - acp exec as a function, for the commands that run it several times. */
#ifndef SRC_CMD_EXEC_H
#define SRC_CMD_EXEC_H

#include "cli/command.h"
#include "cmd/shared_options.h"

struct exec_options {
    struct agent_flags agent;
    struct conversation_flags conversation;
    const char *worktree; /* "": any name; NULL: none */
    const char *record;
    const char *each; /* a file with many inputs */
    const char *results;
    struct option_number jobs;
};

/* One run; invocation->options is a struct exec_options.  Returns the exit status. */
int exec_run(const struct invocation *invocation);
/* exec --each: one run for each input of the file. */
int exec_run_each(const struct invocation *invocation);

#endif
