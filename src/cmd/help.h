/* help.h - help for people, from the tables. */
#ifndef SRC_CMD_HELP_H
#define SRC_CMD_HELP_H

#include "cli/output.h"
#include "cmd/command.h"

/* Help on a command; on the program where command is NULL. */
void help_print(struct output *out, const struct program *program, const struct command *parent,
                const struct command *command);

#endif
