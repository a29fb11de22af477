/* manual.h - man pages from the tables. */
#ifndef SRC_CLI_MANUAL_H
#define SRC_CLI_MANUAL_H

#include "cli/command.h"
#include "cli/output.h"

/*
 * Prints the page of a command, with its subcommands, or of the program where command is NULL, as
 * source for scdoc(1).  sections names a file of further sections, which go behind the options, or
 * is NULL.  Gives an exit status, after a message on stderr when it is not EXIT_OK.
 */
int manual_print(struct output *out, const struct program *program, const struct command *command,
                 const char *sections);

#endif
