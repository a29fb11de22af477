/* cmd.h - the commands, and the exit statuses that they share. */
#ifndef SRC_CMD_CMD_H
#define SRC_CMD_CMD_H

#include "cli/command.h"
#include "cli/exit_status.h"

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
extern const struct command command_agents_add; /* its subcommands */
extern const struct command command_agents_remove;
extern const struct command command_agents_login;
extern const struct command command_config;
extern const struct command command_config_trust; /* its subcommands */
extern const struct command command_config_untrust;
extern const struct command command_config_trusted;
extern const struct command command_doctor;
extern const struct command command_trace;
extern const struct command command_help;
extern const struct command command_version;
extern const struct command command_completion;
extern const struct command command_complete; /* what the completion scripts call */
extern const struct command command_fetch;    /* what acp agent starts: see http/fetch.h */

#endif
