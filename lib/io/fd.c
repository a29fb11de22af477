/*
 * Descriptors.  The one delicate thing here is O_NONBLOCK: it belongs to the open file description,
 * which our standard input and output share with the shell that started us and with every other
 * program on that terminal.  Who sets it there makes their reads and writes fail.  So pipes and
 * terminals are opened a second time through /proc, which gives a description of our own; where
 * that is not possible, the flag is set and taken back at the end.
 */
#define _GNU_SOURCE /* pipe2 */
#include "io/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acp/io.h"

void acp_fd_close(int *fd)
{
    /* After EINTR the descriptor is gone on Linux; trying again could hit somebody else's. */
    if (*fd >= 0)
        (void) close(*fd);
    *fd = -1;
}

int acp_fd_pipe(int *ret_read, int *ret_write)
{
    int ends[2];
#if defined(__linux__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__)
    if (pipe2(ends, O_CLOEXEC) < 0)
        return acp_err_from_errno(errno);
#else
    /* A fork on another thread between the two steps leaks the ends into that child. */
    if (pipe(ends) < 0)
        return acp_err_from_errno(errno);
    (void) fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void) fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
    *ret_read = ends[0];
    *ret_write = ends[1];
    return 0;
}

int acp_fd_dup(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return copy < 0 ? acp_err_from_errno(errno) : copy;
}

int acp_fd_nonblock(int fd, bool on)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return acp_err_from_errno(errno);
    int wanted = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    if (wanted != flags && fcntl(fd, F_SETFL, wanted) < 0)
        return acp_err_from_errno(errno);
    return 0;
}

/* The same pipe or terminal under a description of our own, or -1. */
static int reopen(int fd, const struct stat *st, int flags)
{
#if defined(__linux__)
    unsigned number;
    /* To open the master of a terminal again would make another terminal. */
    bool can = S_ISFIFO(st->st_mode) ||
               (S_ISCHR(st->st_mode) && isatty(fd) && ioctl(fd, TIOCGPTN, &number) < 0);
    if (!can)
        return -1;
    char path[40];
    (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
#else
    (void) fd;
    (void) st;
    (void) flags;
    return -1;
#endif
}

void acp_fd_take(struct acp_fd *ret, int fd)
{
    *ret = (struct acp_fd){.fd = fd};
    struct stat st;
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK) || fstat(fd, &st) < 0 || S_ISREG(st.st_mode))
        return;
    int own = reopen(fd, &st, flags);
    if (own >= 0) {
        acp_fd_close(&ret->fd);
        ret->fd = own;
    } else {
        ret->restore = acp_fd_nonblock(fd, true) == 0;
    }
}

void acp_fd_release(struct acp_fd *fd)
{
    if (fd->fd >= 0 && fd->restore)
        (void) acp_fd_nonblock(fd->fd, false);
    fd->restore = false;
    acp_fd_close(&fd->fd);
}

ssize_t acp_fd_read(int fd, void *bytes, size_t n)
{
    for (;;) {
        ssize_t got = read(fd, bytes, n);
        if (got >= 0)
            return got;
        if (errno != EINTR)
            return -errno;
    }
}

ssize_t acp_fd_write(int fd, const void *bytes, size_t n)
{
    for (;;) {
        ssize_t put = write(fd, bytes, n);
        if (put >= 0)
            return put;
        if (errno != EINTR)
            return -errno;
    }
}

bool acp_fd_has_bytes(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return fd >= 0 && poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & POLLIN);
}

void acp_fd_ignore_sigpipe(void)
{
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) < 0 || (action.sa_flags & SA_SIGINFO) ||
        action.sa_handler != SIG_DFL)
        return; /* somebody has an opinion already */
    action = (struct sigaction){.sa_handler = SIG_IGN};
    (void) sigaction(SIGPIPE, &action, NULL);
}

/* ---- Standard input and output -------------------------------------------------------------- */

int acp_stdio_take(int *ret_in, int *ret_out)
{
    int in = acp_fd_dup(STDIN_FILENO);
    if (in < 0)
        return in;
    int out = acp_fd_dup(STDOUT_FILENO);
    if (out < 0) {
        acp_fd_close(&in);
        return out;
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    /* Without a standard error (some start us so) prints have nowhere to go but away. */
    bool quiet = fcntl(STDERR_FILENO, F_GETFD) < 0;
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        dup2(quiet ? null : STDERR_FILENO, STDOUT_FILENO) < 0) {
        int err = acp_err_from_errno(errno);
        (void) dup2(in, STDIN_FILENO);
        (void) dup2(out, STDOUT_FILENO);
        acp_fd_close(&null);
        acp_fd_close(&in);
        acp_fd_close(&out);
        return err;
    }
    acp_fd_close(&null);
    *ret_in = in;
    *ret_out = out;
    return 0;
}
