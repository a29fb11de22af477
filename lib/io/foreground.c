/* Lending our terminal to a child, as a shell does for the commands that it runs. */
#define _GNU_SOURCE /* O_CLOEXEC, pthread_sigmask */
#include "io/foreground.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "io/fd.h"

void acp_foreground_init(struct acp_foreground *ret)
{
    *ret = (struct acp_foreground){.tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)};
    ret->group = getpgrp();
    if (ret->tty >= 0 && tcgetpgrp(ret->tty) != ret->group)
        acp_fd_close(&ret->tty);
    if (ret->tty >= 0)
        ret->has_modes = tcgetattr(ret->tty, &ret->modes) == 0;
}

void acp_foreground_take_back(struct acp_foreground *foreground)
{
    sigset_t background;
    sigset_t before;
    if (foreground->tty < 0)
        return;
    /* Who is in the background and touches the terminal is stopped, unless that is blocked. */
    (void) sigemptyset(&background);
    (void) sigaddset(&background, SIGTTOU);
    (void) pthread_sigmask(SIG_BLOCK, &background, &before);
    (void) tcsetpgrp(foreground->tty, foreground->group);
    if (foreground->has_modes)
        (void) tcsetattr(foreground->tty, TCSADRAIN, &foreground->modes);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    acp_fd_close(&foreground->tty);
}
