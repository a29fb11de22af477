/*
 * Watching a child.  A pidfd becomes readable when its process ends: no signal handler is involved,
 * one child does not cause a look at all others, and it works in any thread and beside whatever
 * else the program does with SIGCHLD.  It also names a process permanently, where a number may be
 * reused; we need that for orphans, while our own children cannot lose their number before we reap
 * them. Without pidfds (Linux before 5.3, other systems) SIGCHLD makes us look.
 *
 * Children are looked at with WNOWAIT first.  Until a child is reaped its number stays its own, and
 * so does that of its process group: the group can be killed without fear of hitting a new one.
 */
#define _GNU_SOURCE /* syscall() */
#include "io/watch.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "acp/io.h"
#include "io/fd.h"

int acp_pidfd_open(pid_t pid)
{
#if defined(SYS_pidfd_open)
    return (int) syscall(SYS_pidfd_open, pid, 0);
#else
    (void) pid;
    return -1;
#endif
}

void acp_pidfd_signal(int pidfd, int signal_number)
{
#if defined(SYS_pidfd_send_signal)
    (void) syscall(SYS_pidfd_send_signal, pidfd, signal_number, NULL, 0);
#else
    (void) pidfd;
    (void) signal_number;
#endif
}

enum acp_wait acp_wait_look(pid_t pid, int *ret_code, int *ret_signal)
{
    siginfo_t info = {0};
    int err;
    do
        err = waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT);
    while (err < 0 && errno == EINTR);
    if (err < 0)
        return ACP_WAIT_LOST;
    if (info.si_pid == 0)
        return ACP_WAIT_RUNNING;
    bool exited = info.si_code == CLD_EXITED;
    *ret_code = exited ? info.si_status : -1;
    *ret_signal = exited ? 0 : info.si_status;
    return ACP_WAIT_ENDED;
}

void acp_wait_reap(pid_t pid)
{
    while (waitpid(pid, NULL, WNOHANG) < 0 && errno == EINTR)
        ;
}

static bool has_ended(const struct acp_watch *watch)
{
    int code;
    int number;
    return acp_wait_look(watch->pid, &code, &number) != ACP_WAIT_RUNNING;
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    (void) status;
    (void) events;
    struct acp_watch *watch = handle->data;
    if (!has_ended(watch))
        return;
    (void) uv_poll_stop(handle);
    watch->ended(watch);
}

static void on_sigchld(uv_signal_t *handle, int number)
{
    (void) number;
    struct acp_watch *watch = handle->data;
    if (!has_ended(watch))
        return;
    (void) uv_signal_stop(handle);
    watch->ended(watch);
}

static int start_signal(struct acp_watch *watch, uv_loop_t *loop)
{
    int err = uv_signal_init(loop, &watch->uv.signal);
    if (err)
        return err;
    watch->open = true;
    watch->uv.handle.data = watch;
    err = uv_signal_start(&watch->uv.signal, on_sigchld, SIGCHLD);
    /* It may have ended before anybody listened; then nothing else would tell. */
    if (!err && has_ended(watch))
        (void) raise(SIGCHLD);
    return err;
}

static int start_pidfd(struct acp_watch *watch, uv_loop_t *loop)
{
    int err = uv_poll_init(loop, &watch->uv.poll, watch->pidfd);
    if (err) {
        acp_fd_close(&watch->pidfd);
        return err;
    }
    watch->open = true;
    watch->uv.handle.data = watch;
    return uv_poll_start(&watch->uv.poll, UV_READABLE, on_readable);
}

int acp_watch_start(struct acp_watch *watch, uv_loop_t *loop, pid_t pid, bool no_pidfd)
{
    watch->pid = pid;
    watch->pidfd = no_pidfd ? -1 : acp_pidfd_open(pid);
    int err = watch->pidfd >= 0 ? start_pidfd(watch, loop) : start_signal(watch, loop);
    return err ? acp_err_from_errno(-err) : 0;
}

static void on_close(uv_handle_t *handle)
{
    struct acp_watch *watch = handle->data;
    watch->closed(watch);
}

void acp_watch_close(struct acp_watch *watch)
{
    if (!watch->open)
        return;
    watch->open = false;
    if (watch->pidfd >= 0)
        (void) uv_poll_stop(&watch->uv.poll);
    uv_close(&watch->uv.handle, on_close);
    acp_fd_close(&watch->pidfd);
}
