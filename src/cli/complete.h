/*
 * complete.h - what may follow on a command line that is being typed.
 *
 * The scripts for the shells are a few lines each: they hand the words to `acp __complete` and show
 * what it answers, so that all shells know the same, and know agents and sessions as they are now.
 *
 * The answer: a first line with one word and, behind a tab, the part of the typed word that stays
 * as it is ("--format="):
 *     words        the lines that follow are the candidates: word, tab, what it means
 *     files        the names of files; candidates may follow as well
 *     directories  the names of folders
 */
#ifndef SRC_CLI_COMPLETE_H
#define SRC_CLI_COMPLETE_H

#include "cli/command.h"
#include "cli/output.h"

/* Prints what words[count - 1], which may be empty, can become.  ACP_ERR_NOMEM. */
int complete_print(struct output *out, const struct program *program, const char *const *words,
                   size_t count);

#endif
