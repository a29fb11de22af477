/* config_command.h - what `acp config` and `acp agents` share. */
#ifndef SRC_CMD_CONFIG_COMMAND_H
#define SRC_CMD_CONFIG_COMMAND_H

#include "cli/option.h"
#include "config/config.h"

struct config_flags {
    const char *cwd;
};
extern const struct option config_flag_rows[];

/* The environment of this process. */
const char *const *config_command_environment(void);
/* The directory that a command runs in, absolute; NULL when out of memory. */
const char *config_command_folder(const char *cwd, struct acp_arena *arena);
/* Loads the configuration and prints the report.  The exit status; EXIT_OK when *ret is set. */
int config_command_load(const struct config_options *options, struct config **ret);
/* These print "acp COMMAND: why" and return EXIT_FAILED; the first finishes the buffer. */
int config_command_fail(const char *command, struct acp_buf *why);
int config_command_fail_system(const char *command, const char *what, const char *path, int reason);

#endif
