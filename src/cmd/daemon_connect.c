/* daemon_connect.c - see daemon_connect.h. */
#include "cmd/daemon_connect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "acp/io.h"
#include "cli/output.h"
#include "cmd/cmd.h"

int daemon_find_socket(struct conversation_setup *c, char ret_socket[DAEMON_PATH_SIZE])
{
    struct acp_failure failure = {0};
    int err = daemon_socket_path(c->conversation.session, ret_socket, &failure);
    if (err)
        err_message("%s", *failure.message ? failure.message : acp_err_text(err));
    return err ? EXIT_FAILED : EXIT_OK;
}

static int launch(struct conversation_setup *c, const char *socket, uint64_t ttl_ms,
                  struct acp_failure *failure)
{
    struct daemon_options options = {
        .conversation = c->conversation,
        .store_path = c->store_path,
        .store_flags = c->store_flags,
        .socket = socket,
        .ttl_ms = ttl_ms,
    };
    int64_t most = config_number(c->config, CONFIG_QUEUE);
    options.max_waiting = most > 0 ? (size_t) most : 0;
    for (int i = 0; i < PERMIT_COUNT; i++)
        options.policies[i] = c->policies[i];
    return daemon_launch(&options, failure);
}

/*
 * Locks the start of a daemon, so that two commands do not start two; close() releases the lock.
 * A POSIX record lock, because forked processes such as the daemon do not inherit it.  -1 on error.
 */
static int lock_launching(const char *socket)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[DAEMON_PATH_SIZE + sizeof("launch.lock")];
    const char *slash = strrchr(socket, '/');
    (void) snprintf(path, sizeof(path), "%.*s/launch.lock", (int) (slash - socket), socket);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    while (fd >= 0 && fcntl(fd, F_SETLKW, &whole) && errno == EINTR)
        ;
    return fd;
}

int daemon_connect(struct conversation_setup *c, const char *socket, const uint64_t *ttl_ms,
                   uv_loop_t *loop, const struct daemon_client_handler *handler, void *user,
                   struct daemon_client **ret, struct acp_failure *failure)
{
    /* A daemon that is exiting holds the session for a moment after its socket is closed. */
    enum { TRIES = 100, PAUSE_MS = 20 };
    const struct timespec pause = {0, PAUSE_MS * 1000000L};
    int err = daemon_client_new(loop, socket, handler, user, ret);
    for (int i = 0; err == ACP_ERR_CLOSED && ttl_ms && i < TRIES; i++) {
        int lock = lock_launching(socket);
        err = daemon_client_new(loop, socket, handler, user, ret);
        bool launched = err == ACP_ERR_CLOSED;
        if (launched)
            err = launch(c, socket, *ttl_ms, failure);
        if (lock >= 0)
            (void) close(lock);
        if (!launched)
            break; /* another command has started it */
        if (err && err != ACP_ERR_STATE)
            return err;
        if (err)
            (void) nanosleep(&pause, NULL);
        err = daemon_client_new(loop, socket, handler, user, ret);
    }
    if (err && !(err == ACP_ERR_CLOSED && *failure->message))
        (void) snprintf(failure->message, sizeof(failure->message), "%s", acp_io_err_text(err));
    return err;
}
