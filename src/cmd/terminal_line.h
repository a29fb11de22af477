/* terminal_line.h - the terminal of this process, for what the user types: not standard input. */
#ifndef SRC_CMD_TERMINAL_LINE_H
#define SRC_CMD_TERMINAL_LINE_H

#include "acp/base.h"

/* A descriptor of the terminal, to be closed; negative if there is none. */
int terminal_open(void);

/*
 * Reads a line that the user types and waits for it; for commands that do nothing else meanwhile.
 * *ret_line points into the buffer and is trimmed.  False at the end of input, and without a
 * terminal.
 */
enum { TERMINAL_LINE_SIZE = 256 };
bool terminal_read_line(char buffer[TERMINAL_LINE_SIZE], struct acp_str *ret_line);

#endif
