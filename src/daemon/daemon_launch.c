/* daemon_launch.c - starts a daemon: a socket, and a process that has left its terminal. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/daemon_internal.h"
#include "store/log.h"

static int fail(struct acp_failure *failure, const char *what, const char *path, int number)
{
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    (void) snprintf(failure->message, sizeof(failure->message), "%s %s: %s", what, path,
                    strerror(number));
    return ACP_ERR_STATE;
}

/* ---- The listener ---------------------------------------------------------------------------- */

/* The caller knows that no other daemon has the path. */
static int open_listener(const char *path, struct acp_failure *failure)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail(failure, "cannot make", path, errno);
    (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    (void) unlink(path);
    if (bind(fd, (const struct sockaddr *) &address, sizeof(address)) || listen(fd, 64)) {
        int number = errno;
        (void) close(fd);
        return fail(failure, "cannot listen at", path, number);
    }
    return fd;
}

/* ---- The process ----------------------------------------------------------------------------- */

/* What the daemon writes to who has launched it: nothing when all is well, else a sentence. */
static void tell_launcher(void *user)
{
    int *fd = user;
    (void) close(*fd);
    *fd = -1;
}

/* Leaves the terminal and the files of who has launched it. */
static void detach(int keep)
{
    (void) setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        (void) dup2(null, fd);
    if (null > 2 && null != keep)
        (void) close(null);
    (void) prctl(PR_SET_NAME, "acp-daemon");
}

static void become_daemon(const struct daemon_options *options, int launcher)
{
    struct acp_failure failure = {0};
    detach(launcher);
    int listener = open_listener(options->socket, &failure);
    if (listener >= 0 && daemon_run(options, listener, tell_launcher, &launcher))
        (void) snprintf(failure.message, sizeof(failure.message), "out of memory");
    if (launcher >= 0 && *failure.message)
        (void) !write(launcher, failure.message, strlen(failure.message));
    _exit(0);
}

int daemon_launch(const struct daemon_options *options, struct acp_failure *failure)
{
    int ends[2];
    const char *path = options->store_path;
    int64_t other = path ? store_owner(path, options->conversation.session) : 0;
    *failure = (struct acp_failure){.err = ACP_ERR_STATE};
    if (other) {
        (void) snprintf(failure->message, sizeof(failure->message),
                        "the session is at work in process %lld", (long long) other);
        return ACP_ERR_STATE;
    }
    if (pipe2(ends, O_CLOEXEC))
        return fail(failure, "cannot make", "a pipe", errno);
    pid_t pid = fork();
    if (pid == 0) {
        /* The second fork makes it nobody's child, so that nobody has to wait for it. */
        (void) close(ends[0]);
        if (fork() == 0)
            become_daemon(options, ends[1]);
        _exit(0);
    }
    (void) close(ends[1]);
    if (pid < 0) {
        (void) close(ends[0]);
        return fail(failure, "cannot start", "the daemon", errno);
    }
    (void) waitpid(pid, NULL, 0);
    ssize_t n = read(ends[0], failure->message, sizeof(failure->message) - 1);
    (void) close(ends[0]);
    if (n > 0)
        failure->message[n] = '\0';
    return n > 0 ? ACP_ERR_STATE : 0;
}
