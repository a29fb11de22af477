/* manual.h - man page sources from the tables. */
#ifndef SRC_CLI_MANUAL_H
#define SRC_CLI_MANUAL_H

#include "cli/command.h"
#include "cli/output.h"

/*
 * Prints the page of a command with its subcommands, or of the program if command is NULL, as
 * source for scdoc(1).  sections is a file of further sections to insert after the options, or
 * NULL.  Returns the exit status; prints a message if it is not EXIT_OK.
 */
int manual_print(struct output *out, const struct program *program, const struct command *command,
                 const char *sections);

#endif
