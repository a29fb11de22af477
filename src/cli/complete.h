/*
 * complete.h - candidates for shell completion.
 *
 * The shell scripts pass the words to `acp __complete` and show its output, so that all shells give
 * the same candidates, including the agents that are configured now.
 *
 * The first line of the output is one word and, after a tab, the part of the typed word that is
 * kept ("--format="):
 *     words        the following lines are the candidates: word, tab, description
 *     files        file names; candidates may follow as well
 *     directories  directory names
 */
#ifndef SRC_CLI_COMPLETE_H
#define SRC_CLI_COMPLETE_H

#include "cli/command.h"
#include "cli/output.h"

/* Prints the candidates for words[count - 1], which may be empty.  ACP_ERR_NOMEM. */
int complete_print(struct output *out, const struct program *program, const char *const *words,
                   size_t count);

#endif
