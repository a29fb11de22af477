/* help.h - help output from the tables. */
#ifndef SRC_CLI_HELP_H
#define SRC_CLI_HELP_H

#include "cli/command.h"
#include "cli/output.h"

/* Prints help for a command, or for the program if command is NULL. */
void help_print(struct output *out, const struct program *program, const struct command *parent,
                const struct command *command);

/* What `acp` alone prints, on one screen: what to try first, and the names of the commands. */
void help_print_first_steps(struct output *out, const struct program *program);

#endif
