/* terminal_echo.c - see terminal_echo.h. */
#include "cli/terminal_echo.h"

#include <stdbool.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static struct {
    bool is_off;
    bool at_exit; /* terminal_echo_restore() is registered */
    int fd;
} echo;

/* Who changes a terminal from the background is stopped. */
static bool is_in_foreground(int fd)
{
    return tcgetpgrp(fd) == getpgrp();
}

void terminal_echo_off(int fd)
{
    struct termios modes;
    if (echo.is_off || !is_in_foreground(fd) || tcgetattr(fd, &modes) || !(modes.c_lflag & ECHO))
        return;
    if (!echo.at_exit && atexit(terminal_echo_restore))
        return;
    echo.at_exit = true;
    modes.c_lflag &= ~(tcflag_t) ECHO;
    echo.fd = fd;
    echo.is_off = tcsetattr(fd, TCSANOW, &modes) == 0;
}

void terminal_echo_restore(void)
{
    struct termios modes;
    if (!echo.is_off || !is_in_foreground(echo.fd) || tcgetattr(echo.fd, &modes))
        return;
    modes.c_lflag |= ECHO;
    echo.is_off = tcsetattr(echo.fd, TCSANOW, &modes) != 0;
}
