/* pty.h - a pseudo-terminal: the side we read and write, and the side a child lives on. */
#ifndef LIB_IO_PTY_H
#define LIB_IO_PTY_H

#include <stdbool.h>

/*
 * Both are closed on exec, the master does not wait.  plain: line ends stay as they are written,
 * nothing is echoed.  rows and columns 0 are 24 and 80.  0 or an error of the system.
 */
int acp_pty_open(unsigned short rows, unsigned short columns, bool plain, int *ret_master,
                 int *ret_slave);
int acp_pty_resize(int master, unsigned short rows, unsigned short columns);

#endif
