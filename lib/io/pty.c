/*
 * Pseudo-terminals.  The size is set before any program looks, because many look only once, and 0
 * by 0 makes them wrap at one column or crash.
 */
#define _GNU_SOURCE /* posix_openpt, ptsname_r */
#include "io/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "acp/io.h"
#include "io/fd.h"

static int open_slave(int master)
{
#if defined(__linux__)
    char name[64];
    if (grantpt(master) < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof(name)) != 0)
        return -1;
#else
    /* Its buffer is shared by all threads; there is no better way that all systems have. */
    const char *name = grantpt(master) < 0 || unlockpt(master) < 0 ? NULL : ptsname(master);
    if (!name)
        return -1;
#endif
    return open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static int set_plain(int slave)
{
    struct termios t;
    if (tcgetattr(slave, &t) < 0)
        return -1;
    t.c_oflag &= ~(tcflag_t) (OPOST | ONLCR);
    t.c_lflag &= ~(tcflag_t) (ECHO | ECHONL | ECHOE | ECHOK);
    return tcsetattr(slave, TCSANOW, &t);
}

int acp_pty_resize(int master, unsigned short rows, unsigned short columns)
{
    struct winsize size = {.ws_row = rows ? rows : 24, .ws_col = columns ? columns : 80};
    return ioctl(master, TIOCSWINSZ, &size) < 0 ? acp_err_from_errno(errno) : 0;
}

int acp_pty_open(unsigned short rows, unsigned short columns, bool plain, int *ret_master,
                 int *ret_slave)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0)
        return acp_err_from_errno(errno);
    (void) fcntl(master, F_SETFD, FD_CLOEXEC);
    int slave = open_slave(master);
    int err = slave < 0 || (plain && set_plain(slave) < 0) ? acp_err_from_errno(errno) : 0;
    if (!err)
        err = acp_pty_resize(master, rows, columns);
    if (!err)
        err = acp_fd_nonblock(master, true);
    if (err) {
        acp_fd_close(&master);
        acp_fd_close(&slave);
        return err;
    }
    *ret_master = master;
    *ret_slave = slave;
    return 0;
}
