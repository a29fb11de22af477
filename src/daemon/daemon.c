/*
 * daemon.c - the process that keeps the agent of a session running: one conversation, and the
 * clients that use it.
 */
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/daemon_internal.h"

/* ---- Idleness -------------------------------------------------------------------------------- */

void daemon_end(struct daemon *daemon)
{
    if (daemon->ending)
        return;
    daemon->ending = true;
    (void) unlink(daemon->options->socket);
    (void) uv_poll_stop(&daemon->listener);
    (void) uv_timer_stop(&daemon->idle);
    conversation_stop(daemon->conversation);
}

static void on_idle(uv_timer_t *timer)
{
    daemon_end(timer->data);
}

void daemon_note_activity(struct daemon *daemon)
{
    bool busy =
        conversation_turn(daemon->conversation) || conversation_queued(daemon->conversation);
    daemon->idle_since = uv_now(daemon->loop);
    (void) uv_timer_stop(&daemon->idle);
    if (!busy && daemon->options->ttl_ms && !daemon->ending)
        (void) uv_timer_start(&daemon->idle, on_idle, daemon->options->ttl_ms, 0);
}

/* Turns end also when nobody waits for them. */
static void on_event(struct subscriber *s, const struct session_event *event, void *user)
{
    (void) s;
    if (event->kind == EVENT_STOP || event->kind == EVENT_ERROR)
        daemon_note_activity(user);
}

/* ---- Its life -------------------------------------------------------------------------------- */

static void on_connection(uv_poll_t *listener, int status, int events)
{
    struct daemon *daemon = listener->data;
    (void) status;
    (void) events;
    int fd = accept4(daemon->listener_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (daemon->client_count >= DAEMON_MAX_CLIENTS)
        (void) close(fd);
    else
        daemon_accept(daemon, fd);
    daemon_note_activity(daemon);
}

static void on_signal(uv_signal_t *signal, int number)
{
    (void) number;
    daemon_end(signal->data);
}

/* Clients that still wait learn of it by the end of the connection. */
static void close_all(struct daemon *daemon)
{
    conversation_free(daemon->conversation);
    daemon->conversation = NULL;
    daemon_close_clients(daemon);
    if (daemon->writer)
        store_writer_close(daemon->writer, NULL, NULL);
    store_worker_close(daemon->worker, NULL, NULL);
    acp_reaper_free(daemon->reaper);
    uv_close((uv_handle_t *) &daemon->listener, NULL);
    uv_close((uv_handle_t *) &daemon->idle, NULL);
    for (size_t i = 0; i < DAEMON_SIGNALS; i++)
        uv_close((uv_handle_t *) &daemon->signals[i], NULL);
    (void) close(daemon->listener_fd);
}

static void on_stopped(struct conversation *conversation, void *user)
{
    (void) conversation;
    close_all(user);
}

static int open_conversation(struct daemon *daemon)
{
    static const struct conversation_handler handler = {.stopped = on_stopped};
    static const struct subscriber_handler monitor = {.event = on_event};
    const struct daemon_options *options = daemon->options;
    const struct store_writer_options writer = {.path = options->store_path,
                                                .flags = options->store_flags | STORE_CREATE};
    int err = 0;
    if (options->store_path)
        err = store_writer_new(daemon->loop, &writer, &daemon->writer);
    if (!err && options->store_path)
        err = store_worker_new(daemon->loop, options->store_path, 0, &daemon->worker);
    if (err)
        return err;
    err = conversation_new(daemon->loop, &options->conversation, daemon->writer, daemon->worker,
                           &handler, daemon, &daemon->conversation);
    if (!err)
        err = conversation_subscribe(daemon->conversation, CONVERSATION_NEW_EVENTS, &monitor,
                                     daemon, &daemon->monitor);
    return err;
}

int daemon_open(struct daemon *daemon, uv_loop_t *loop, const struct daemon_options *options,
                int listener_fd)
{
    static const int numbers[DAEMON_SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    *daemon = (struct daemon){.options = options, .loop = loop, .listener_fd = listener_fd};
    (void) acp_reaper_new(loop, &daemon->reaper);
    (void) uv_timer_init(loop, &daemon->idle);
    daemon->idle.data = daemon;
    for (size_t i = 0; i < DAEMON_SIGNALS; i++) {
        (void) uv_signal_init(loop, &daemon->signals[i]);
        daemon->signals[i].data = daemon;
        (void) uv_signal_start(&daemon->signals[i], on_signal, numbers[i]);
    }
    (void) uv_poll_init(loop, &daemon->listener, listener_fd);
    daemon->listener.data = daemon;
    int err = open_conversation(daemon);
    if (err) {
        daemon->ending = true;
        close_all(daemon);
        return err;
    }
    (void) uv_poll_start(&daemon->listener, UV_READABLE, on_connection);
    daemon_note_activity(daemon);
    return 0;
}

int daemon_run(const struct daemon_options *options, int listener_fd, void (*ready)(void *user),
               void *user)
{
    struct daemon daemon;
    uv_loop_t loop;
    if (uv_loop_init(&loop))
        return ACP_ERR_NOMEM;
    int err = daemon_open(&daemon, &loop, options, listener_fd);
    if (!err)
        ready(user);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&loop);
    return err;
}
