/*
 * terminal_echo.h - keeps what is typed from appearing in a line that is drawn again and again.
 *
 * Nothing is read: whoever reads next, such as the shell, gets all of it.  The terminal is left as
 * it was found, also when the program exits; a program that is killed relies on its shell for that.
 */
#ifndef SRC_CLI_TERMINAL_ECHO_H
#define SRC_CLI_TERMINAL_ECHO_H

/* Does nothing in the background, or if echo is off already. */
void terminal_echo_off(int fd);
/* Undoes the above. */
void terminal_echo_restore(void);

#endif
