/*
 * printable.h - text that somebody else chose goes to a terminal: show controls, do not obey them.
 */
#ifndef SRC_CMD_PRINTABLE_H
#define SRC_CMD_PRINTABLE_H

#include <stdio.h>

#include "acp/base.h"

/* Puts a question mark in the place of every control character, those of Latin-1 included. */
void make_printable(char *text, size_t len);

/* Prints a report or a result: line by line as it is, but for controls. */
void print_text(FILE *out, struct acp_buf *text);

#endif
