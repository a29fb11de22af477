/* config_command.h - what `acp config` and `acp agents` share. */
#ifndef SRC_CMD_CONFIG_COMMAND_H
#define SRC_CMD_CONFIG_COMMAND_H

#include "cli/option.h"
#include "config/config.h"

struct config_flags {
    const char *cwd;
};
extern const struct option config_flag_rows[];

/* The process's own environment. */
const char *const *config_command_environment(void);
/* The folder that a command works in, absolute; NULL without memory. */
const char *config_command_folder(const char *cwd, struct acp_arena *arena);
/* Loads, prints the report to stderr; an exit status, EXIT_OK when *ret is set. */
int config_command_load(const struct config_options *options, struct config **ret);
/* Print "acp COMMAND: why" to stderr, finish the buffer, and give EXIT_FAILED. */
int config_command_fail(const char *command, struct acp_buf *why);
int config_command_fail_system(const char *command, const char *what, const char *path, int reason);

#endif
