/* cmd.h - the subcommands and the exit statuses that they share. */
#ifndef SRC_CMD_CMD_H
#define SRC_CMD_CMD_H

#include "cli/command.h"
#include "cli/exit_status.h"

/* main.c lists them in the order in which help shows them. */
extern const struct command command_agent;
extern const struct command command_agent_login; /* its subcommands */
extern const struct command command_agent_logout;
extern const struct command command_exec;
extern const struct command command_compare;
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
extern const struct command command_permissions;
extern const struct command command_mcp;
extern const struct command command_mcp_add; /* its subcommands */
extern const struct command command_mcp_remove;
extern const struct command command_mcp_login;
extern const struct command command_mcp_logout;
extern const struct command command_proxy;
extern const struct command command_mcp_serve;
extern const struct command command_config;
extern const struct command command_config_trust; /* its subcommands */
extern const struct command command_config_untrust;
extern const struct command command_config_trusted;
extern const struct command command_doctor;
extern const struct command command_setup;
extern const struct command command_trace;
extern const struct command command_help;
extern const struct command command_version;
extern const struct command command_completion;
extern const struct command command_complete; /* called by the completion scripts */
extern const struct command command_fetch;    /* started by acp agent: see http/fetch.h */

#endif
