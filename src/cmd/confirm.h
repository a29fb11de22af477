/* confirm.h - a yes-or-no question before something is changed. */
#ifndef SRC_CMD_CONFIRM_H
#define SRC_CMD_CONFIRM_H

#include <stdbool.h>

enum confirm { CONFIRM_YES, CONFIRM_NO, CONFIRM_NOBODY /* there is no terminal */ };

/*
 * Asks on standard error and reads a line from standard input: "y" or "yes" is yes, and so is
 * nothing else.  What was typed before the question is discarded.
 */
enum confirm confirm_ask(const char *question);

#endif
