/*
 * The link: an endpoint bound to two descriptors on a loop.
 *
 * Reading is pushed by a source (source.c).  Everything else happens in one place, on_turn(), which
 * runs from a prepare handle just before the loop waits: output of the whole turn is written at
 * once, reading is paused or resumed, the timer is set for the next deadline, and the link closes
 * when its time has come.  Whatever changes something only asks for that turn.
 *
 * Writing is done here and not by uv_write(), which would need a copy of the output until it is
 * through: what is not taken stays in the endpoint, where it counts against its high-water mark,
 * and a poll handle tells when there is room again.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/sized.h"
#include "io/link.h"
#include "io/source.h"

/* As large as a pipe is by default: one read empties it. */
enum { READ_SIZE = 64 * 1024, DEFAULT_LINGER_MS = 1000 };

enum state {
    OPEN,
    FLUSHING, /* no more input; the last output goes out */
    BROKEN,   /* no more output; the last input comes in */
    CLOSED,   /* the owner knows; handles are being closed */
};

struct acp_link {
    uv_loop_t *loop;
    struct acp_endpoint *endpoint;
    struct acp_link_handler handler;
    void *user;
    enum state state;
    int reason; /* for the owner, once the state is not OPEN */
    uint64_t linger_ms;
    uint64_t linger_until; /* while FLUSHING or BROKEN */
    void (*traffic)(bool is_sent, struct acp_str bytes, void *traffic_user);
    void *traffic_user;

    struct acp_source in;
    struct acp_fd out;
    uv_poll_t out_poll; /* exists when out_pollable */
    bool out_pollable;
    bool out_waiting; /* for room in the output */
    bool out_ending;  /* to be closed once everything is sent */
    bool paused;      /* the owner wants no input read */

    uv_prepare_t turn;
    uv_timer_t timer;
    unsigned handles; /* not yet closed */
    bool freed;
    char buffer[READ_SIZE];
};

/* ---- Death ---------------------------------------------------------------------------------- */

static void handle_gone(struct acp_link *link)
{
    assert(link->handles > 0);
    if (--link->handles == 0 && link->freed)
        free(link);
}

static void on_handle_closed(uv_handle_t *handle)
{
    handle_gone(handle->data);
}

static void on_source_closed(struct acp_source *source)
{
    handle_gone(source->self);
}

static void close_output(struct acp_link *link)
{
    if (link->out_pollable) {
        (void) uv_poll_stop(&link->out_poll);
        uv_close((uv_handle_t *) &link->out_poll, on_handle_closed);
    }
    link->out_pollable = false;
    link->out_waiting = false;
    acp_fd_release(&link->out);
}

static void close_handles(struct acp_link *link)
{
    acp_source_close(&link->in);
    close_output(link);
    if (!uv_is_closing((uv_handle_t *) &link->turn))
        uv_close((uv_handle_t *) &link->turn, on_handle_closed);
    if (!uv_is_closing((uv_handle_t *) &link->timer))
        uv_close((uv_handle_t *) &link->timer, on_handle_closed);
}

/* From here on the endpoint is not touched: its owner may free it. */
static void leave_endpoint(struct acp_link *link)
{
    if (link->state != CLOSED)
        acp_endpoint_on_wake(link->endpoint, NULL, NULL);
    link->state = CLOSED;
}

static void finish(struct acp_link *link, int reason)
{
    assert(link->state != CLOSED);
    leave_endpoint(link);
    close_handles(link);
    if (link->handler.closed)
        link->handler.closed(link, reason, link->user);
}

void acp_link_free(struct acp_link *link)
{
    if (!link || link->freed)
        return;
    link->freed = true;
    leave_endpoint(link);
    close_handles(link);
    if (link->handles == 0)
        free(link);
}

/* ---- Output --------------------------------------------------------------------------------- */

static void start_linger(struct acp_link *link, enum state state, int reason)
{
    link->state = state;
    link->reason = reason;
    link->linger_until = uv_now(link->loop) + link->linger_ms;
}

/* Nothing can be written any more, for this reason. */
static void break_output(struct acp_link *link, int err)
{
    close_output(link);
    if (link->state == OPEN)
        start_linger(link, BROKEN, err);
    else if (link->state == FLUSHING && link->reason == 0)
        link->reason = err;
}

static void on_writable(uv_poll_t *handle, int status, int events)
{
    (void) status; /* the write will tell */
    (void) events;
    struct acp_link *link = handle->data;
    (void) uv_poll_stop(handle);
    link->out_waiting = false;
    acp_link_wake(link);
}

/* The handle is made when there is something to wait for, which many links never have. */
static int wait_writable(struct acp_link *link)
{
    int err = 0;
    if (!link->out_pollable) {
        err = uv_poll_init(link->loop, &link->out_poll, link->out.fd);
        if (err)
            return err;
        link->out_poll.data = link;
        link->out_pollable = true;
        link->handles++;
    }
    err = uv_poll_start(&link->out_poll, UV_WRITABLE, on_writable);
    link->out_waiting = err == 0;
    return err;
}

/* Without an output, what the endpoint says is lost, and must not hold it up either. */
static void drop_output(struct acp_link *link)
{
    size_t n;
    while (link->state != CLOSED && (n = acp_endpoint_output(link->endpoint).len))
        acp_endpoint_sent(link->endpoint, n);
}

/* Callbacks of the endpoint may close or free the link; the state tells. */
static void flush(struct acp_link *link)
{
    while (link->state != CLOSED && !link->out_waiting) {
        struct acp_str out = acp_endpoint_output(link->endpoint);
        if (out.len == 0)
            break;
        if (link->out.fd < 0) {
            drop_output(link);
            return;
        }
        ssize_t n = acp_fd_write(link->out.fd, out.ptr, out.len);
        bool full = n == -EAGAIN || n == -EWOULDBLOCK || (n >= 0 && (size_t) n < out.len);
        if (n < 0 && !full) {
            break_output(link, acp_err_from_errno((int) -n));
            drop_output(link);
            return;
        }
        if (n > 0 && link->traffic)
            link->traffic(true, acp_str_n(out.ptr, (size_t) n), link->traffic_user);
        if (n > 0)
            acp_endpoint_sent(link->endpoint, (size_t) n);
        int err = full && link->state != CLOSED ? wait_writable(link) : 0;
        if (err)
            break_output(link, acp_err_from_errno(-err));
    }
}

/* ---- Input ---------------------------------------------------------------------------------- */

static void on_bytes(struct acp_source *source, struct acp_str bytes)
{
    struct acp_link *link = source->self;
    uint64_t now = uv_now(link->loop);
    if (link->traffic)
        link->traffic(false, bytes, link->traffic_user);
    int err = acp_endpoint_receive(link->endpoint, bytes.ptr, bytes.len, now);
    if (link->state == CLOSED)
        return;
    if (err < 0) {
        acp_source_close(&link->in);
        if (link->state != FLUSHING)
            start_linger(link, FLUSHING, link->state == BROKEN ? link->reason : err);
    }
    acp_link_wake(link);
}

static void on_end(struct acp_source *source, int err)
{
    struct acp_link *link = source->self;
    acp_source_close(&link->in);
    if (link->handler.ended)
        link->handler.ended(link, link->user);
    else
        acp_endpoint_receive_end(link->endpoint, uv_now(link->loop));
    if (link->state == CLOSED)
        return;
    if (link->state != FLUSHING)
        start_linger(link, FLUSHING, link->state == BROKEN ? link->reason : err);
    acp_link_wake(link);
}

static const struct acp_source_owner source_owner = {on_bytes, on_end, on_source_closed};

/* ---- The turn ------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer)
{
    struct acp_link *link = timer->data;
    uint64_t now = uv_now(link->loop);
    if (acp_endpoint_deadline(link->endpoint) <= now)
        acp_endpoint_tick(link->endpoint, now);
    if (link->state != CLOSED)
        acp_link_wake(link);
}

/* Reads as much as the endpoint wants, and comes back when that changes. */
static void wait_for_more(struct acp_link *link)
{
    struct acp_endpoint_want want;
    acp_endpoint_poll(link->endpoint, uv_now(link->loop), &want);
    acp_source_pause(&link->in, link->paused || !want.input);
    uint64_t when = link->in.open ? want.due_at : acp_endpoint_deadline(link->endpoint);
    if (link->state != OPEN && link->linger_until < when)
        when = link->linger_until;
    if (when == UINT64_MAX) {
        (void) uv_timer_stop(&link->timer);
        return;
    }
    uint64_t now = uv_now(link->loop);
    if (!uv_is_active((uv_handle_t *) &link->timer) ||
        when != now + uv_timer_get_due_in(&link->timer))
        (void) uv_timer_start(&link->timer, on_timer, when > now ? when - now : 0, 0);
}

/* Whether the endpoint has more to say, now or soon. */
static bool has_unsent(const struct acp_link *link)
{
    return link->out.fd >= 0 &&
           (acp_endpoint_output(link->endpoint).len > 0 || acp_endpoint_is_holding(link->endpoint));
}

/* Whether a link that is not OPEN is through, and how. */
static bool is_over(const struct acp_link *link, int *ret_reason)
{
    bool late = uv_now(link->loop) >= link->linger_until;
    *ret_reason = link->reason;
    if (link->state == BROKEN)
        return late;
    bool unsent = has_unsent(link);
    if (unsent && late && link->reason == 0)
        *ret_reason = ACP_ERR_TIMEOUT;
    return !unsent || late;
}

static void on_turn(uv_prepare_t *handle)
{
    struct acp_link *link = handle->data;
    (void) uv_prepare_stop(handle);
    flush(link);
    if (link->state == CLOSED)
        return;
    if (link->out_ending && link->out.fd >= 0 && !has_unsent(link)) {
        /* A socket has one description for both directions: closing ours does not end the one. */
        (void) shutdown(link->out.fd, SHUT_WR);
        close_output(link);
    }
    int reason;
    if (link->state != OPEN && is_over(link, &reason)) {
        finish(link, reason);
        return;
    }
    wait_for_more(link);
}

void acp_link_wake(struct acp_link *link)
{
    if (link->state != CLOSED)
        (void) uv_prepare_start(&link->turn, on_turn);
}

static void on_wake(void *link)
{
    acp_link_wake(link);
}

void acp_link_pause(struct acp_link *link, bool pause)
{
    link->paused = pause;
    acp_link_wake(link);
}

/* ---- Life ----------------------------------------------------------------------------------- */

static int open_input(struct acp_link *link, int fd)
{
    link->in.fd.fd = -1;
    link->in.owner = &source_owner;
    link->in.self = link;
    if (fd < 0)
        return 0;
    int err = acp_source_open(&link->in, link->loop, fd, link->buffer, sizeof(link->buffer));
    if (!err)
        link->handles++;
    return err;
}

static void open_timers(struct acp_link *link)
{
    (void) uv_prepare_init(link->loop, &link->turn);
    (void) uv_timer_init(link->loop, &link->timer);
    link->turn.data = link;
    link->timer.data = link;
    link->handles += 2;
}

static int link_new(uv_loop_t *loop, const struct acp_link_options *options,
                    struct acp_endpoint *endpoint, const struct acp_link_handler *handler,
                    void *user, struct acp_link **ret)
{
    int in = options->in;
    int out = options->out;
    /* One descriptor cannot be watched by two handles. */
    if (out >= 0 && out == in)
        out = acp_fd_dup(in);
    struct acp_link *link = out < -1 ? NULL : malloc(sizeof(*link));
    if (!link) {
        acp_fd_close(&in);
        acp_fd_close(&out);
        return out < -1 ? out : ACP_ERR_NOMEM;
    }
    /* Not the buffer: what no message has filled costs no memory then. */
    memset(link, 0, offsetof(struct acp_link, buffer));
    link->loop = loop;
    link->endpoint = endpoint;
    if (handler)
        link->handler = *handler;
    link->user = user;
    link->traffic = options->traffic;
    link->traffic_user = options->traffic_user;
    link->linger_ms = options->linger_ms ? options->linger_ms : DEFAULT_LINGER_MS;
    acp_fd_take(&link->out, out);
    int err = open_input(link, in);
    if (err) {
        acp_fd_release(&link->out);
        free(link);
        return err;
    }
    open_timers(link);
    acp_fd_ignore_sigpipe();
    acp_endpoint_on_wake(endpoint, on_wake, link);
    acp_link_wake(link);
    *ret = link;
    return 0;
}

int acp_link_new_sized(uv_loop_t *loop, const struct acp_link_options *options, size_t options_size,
                       struct acp_endpoint *endpoint, const struct acp_link_handler *handler,
                       size_t handler_size, void *user, struct acp_link **ret)
{
    if (!options)
        return ACP_ERR_ARGUMENT; /* zeros would be descriptor 0 */
    struct acp_link_options own_options;
    struct acp_link_handler own_handler;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    if (!err)
        err = ACP_SIZED_COPY(&own_handler, handler, handler_size);
    return err ? err : link_new(loop, &own_options, endpoint, &own_handler, user, ret);
}

void acp_link_close(struct acp_link *link)
{
    if (link->state == CLOSED)
        return;
    acp_source_close(&link->in);
    if (link->state != FLUSHING)
        start_linger(link, FLUSHING, link->state == BROKEN ? link->reason : 0);
    acp_link_wake(link);
}

void acp_link_end_output(struct acp_link *link)
{
    link->out_ending = true;
    acp_link_wake(link);
}

int acp_link_input(const struct acp_link *link)
{
    return link->in.fd.fd;
}

bool acp_link_is_stalled(const struct acp_link *link)
{
    return link->out_waiting;
}
