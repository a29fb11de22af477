/* terminal_line.h - the terminal of this process, for what the user types: not standard input. */
#ifndef SRC_CMD_TERMINAL_LINE_H
#define SRC_CMD_TERMINAL_LINE_H

#include "acp/base.h"

/* A descriptor of the terminal, to be closed; negative if there is none. */
int terminal_open(void);

/*
 * Asks for a line and waits for it; for commands that do nothing else meanwhile.  What was typed
 * before the prompt is discarded.  *ret_line points into the buffer and is trimmed.  False at the
 * end of input, and without a terminal.
 */
enum { TERMINAL_LINE_SIZE = 256 };
bool terminal_ask_line(const char *prompt, char buffer[TERMINAL_LINE_SIZE],
                       struct acp_str *ret_line);

#endif
