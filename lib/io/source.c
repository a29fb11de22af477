/*
 * A descriptor that is read on the loop.  What can be waited for is waited for with uv_poll rather
 * than read through uv_stream: that takes pipes, sockets and both sides of terminals alike, needs
 * no allocation for each read, and the bytes go from the kernel to the endpoint through one buffer.
 * Regular files and /dev/null cannot be waited for; they are read from an idle handle.
 *
 * One read for each turn: with a buffer as large as a pipe that empties it, and no writer, however
 * fast, can keep the loop from its other work.
 */
#include "io/source.h"

#include <errno.h>

#include "acp/io.h"

static void stop(struct acp_source *s)
{
    if (!s->active)
        return;
    s->active = false;
    if (s->ready)
        (void) uv_idle_stop(&s->uv.idle);
    else
        (void) uv_poll_stop(&s->uv.poll);
}

static void read_once(struct acp_source *s)
{
    ssize_t n = acp_fd_read(s->fd.fd, s->buffer, s->size);
    if (n > 0) {
        s->owner->bytes(s, acp_str_n(s->buffer, (size_t) n));
        return;
    }
    if (n == -EAGAIN || n == -EWOULDBLOCK)
        return;
    s->ended = true;
    stop(s);
    /* The master of a terminal says EIO once the last process on it is gone: that is its end. */
    s->owner->end(s, n == 0 || n == -EIO ? 0 : acp_err_from_errno((int) -n));
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
    (void) events;
    struct acp_source *s = handle->data;
    /* With an error libuv has stopped the handle; the read tells which error it is. */
    if (status < 0)
        s->active = false;
    read_once(s);
    if (status < 0 && s->open && !s->ended)
        acp_source_pause(s, s->paused);
}

static void on_idle(uv_idle_t *handle)
{
    read_once(handle->data);
}

static void on_close(uv_handle_t *handle)
{
    struct acp_source *s = handle->data;
    s->owner->closed(s);
}

int acp_source_open(struct acp_source *s, uv_loop_t *loop, int fd, char *buffer, size_t size)
{
    acp_fd_take(&s->fd, fd);
    s->buffer = buffer;
    s->size = size;
    s->paused = true;
    s->ready = false;
    int err = uv_poll_init(loop, &s->uv.poll, s->fd.fd);
    if (err == UV_EPERM) {
        s->ready = true;
        err = uv_idle_init(loop, &s->uv.idle);
    }
    if (err) {
        acp_fd_release(&s->fd);
        return acp_err_from_errno(-err);
    }
    s->uv.handle.data = s;
    s->open = true;
    return 0;
}

void acp_source_pause(struct acp_source *s, bool pause)
{
    s->paused = pause;
    bool wanted = s->open && !s->ended && !pause;
    if (wanted == s->active)
        return;
    if (!wanted) {
        stop(s);
        return;
    }
    s->active = true;
    if (s->ready)
        (void) uv_idle_start(&s->uv.idle, on_idle);
    else
        (void) uv_poll_start(&s->uv.poll, UV_READABLE, on_poll);
}

void acp_source_close(struct acp_source *s)
{
    if (!s->open)
        return;
    stop(s);
    s->open = false;
    s->ended = true;
    uv_close(&s->uv.handle, on_close);
    /* The poll is stopped, so that the descriptor may go before the handle does. */
    acp_fd_release(&s->fd);
}
