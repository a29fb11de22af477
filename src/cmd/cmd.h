/* cmd.h - the commands that there are, and the exit statuses that they share. */
#ifndef SRC_CMD_CMD_H
#define SRC_CMD_CMD_H

#include "cmd/command.h"

/*
 * The same for all commands, and stable: scripts depend on them.  They are those of acpx.  A
 * command that gives one of them in a sense of its own says so in its table.
 */
#define EXIT_STATUS_MAP(X)                                                                         \
    X(OK, 0, "The job was done.")                                                                  \
    X(FAILED, 1, "The job could not be done: the agent, the protocol or the system failed.")       \
    X(USAGE, 2, "The command line or the configuration makes no sense.")                           \
    X(TIMEOUT, 3, "The time that *--timeout* allows was over.")                                    \
    X(NO_SESSION, 4, "There is no such session.")                                                  \
    X(DENIED, 5, "A permission was denied, or nobody could be asked for it.")                      \
    X(INTERRUPTED, 130, "A signal ended it, such as the one of Ctrl-C.")

enum {
#define EXIT_STATUS_ENUM(name, number, meaning) EXIT_##name = (number),
    EXIT_STATUS_MAP(EXIT_STATUS_ENUM)
#undef EXIT_STATUS_ENUM
};

/* One file for each; main.c lists them in the order in which help shows them. */
extern const struct command command_agent;
extern const struct command command_agent_login; /* its subcommands */
extern const struct command command_agent_logout;
extern const struct command command_exec;
extern const struct command command_prompt;
extern const struct command command_cancel;
extern const struct command command_set_mode;
extern const struct command command_set;
extern const struct command command_status;
extern const struct command command_sessions;
extern const struct command command_agents;
extern const struct command command_agents_login; /* a subcommand of it */
extern const struct command command_config;
extern const struct command command_doctor;
extern const struct command command_trace;
extern const struct command command_help;
extern const struct command command_version;
extern const struct command command_completion;
extern const struct command command_complete; /* what the completion scripts call */

#endif
