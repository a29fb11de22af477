/*
 * oauth_callback.c - the listener to which the browser returns: one GET request on loopback.
 *
 * Any process of this machine, and any page in the browser, can connect.  So little is read of a
 * connection, few are open at a time, and what counts is the random state in the query, which the
 * login checks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "oauth/oauth_internal.h"

enum {
    CALLBACK_MAX_CONNECTIONS = 16,
    CALLBACK_MAX_REQUEST = 16 * 1024,
    CALLBACK_MAX_PAGE = 4 * 1024,
    CONNECTION_MS = 10 * 1000, /* for the whole request */
};

static const char path[] = "/callback";

struct connection {
    struct connection *next;
    struct oauth_callback *callback; /* NULL when that is closed */
    uv_tcp_t stream;
    uv_timer_t timer;
    unsigned handles; /* that are not closed yet */
    bool is_served;   /* the request is complete */
    uv_write_t write;
    struct acp_buf page;
    size_t used;
    char request[CALLBACK_MAX_REQUEST];
};

struct oauth_callback {
    uv_tcp_t listener;
    struct connection *connections;
    size_t count;
    oauth_callback_fn *redirected;
    void *user;
    char url[64];
};

/* ---- Connections ----------------------------------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    if (--c->handles)
        return;
    acp_buf_finish(&c->page);
    free(c);
}

static void close_connection(struct connection *c)
{
    struct oauth_callback *callback = c->callback;
    if (uv_is_closing((uv_handle_t *) &c->stream))
        return;
    if (callback) {
        struct connection **at = &callback->connections;
        while (*at != c)
            at = &(*at)->next;
        *at = c->next;
        callback->count--;
    }
    uv_close((uv_handle_t *) &c->stream, on_handle_closed);
    uv_close((uv_handle_t *) &c->timer, on_handle_closed);
}

static void on_written(uv_write_t *write, int status)
{
    (void) status;
    close_connection(write->data);
}

/* Nothing that the browser sent is on the page, and nothing on it runs or is loaded. */
static void answer(struct connection *c, const char *status, const char *sentence)
{
    char body[1024];
    int n = snprintf(body, sizeof(body),
                     "<!doctype html><meta charset=utf-8><title>acp</title>"
                     "<p>%s</p>\n",
                     sentence);
    int err = acp_buf_printf(&c->page,
                             "HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\n"
                             "Content-Length: %d\r\nConnection: close\r\n"
                             "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
                             "Content-Security-Policy: default-src 'none'\r\n"
                             "X-Content-Type-Options: nosniff\r\n\r\n%s",
                             status, n, body);
    uv_buf_t out = uv_buf_init(c->page.data + c->page.start, (unsigned) c->page.len);
    (void) uv_read_stop((uv_stream_t *) &c->stream);
    c->write.data = c;
    if (err || uv_write(&c->write, (uv_stream_t *) &c->stream, &out, 1, on_written))
        close_connection(c);
}

/* The target of the request line; absent if this is not a GET of HTTP/1. */
static struct acp_str read_target(struct acp_str line)
{
    struct acp_str none = {0};
    if (!acp_str_starts_with(line, "GET /"))
        return none;
    const char *from = line.ptr + 4;
    const char *end = memchr(from, ' ', line.len - 4);
    size_t left = end ? line.len - (size_t) (end - line.ptr) : 0;
    if (!end || !acp_str_starts_with(acp_str_n(end, left), " HTTP/1."))
        return none;
    return acp_str_n(from, (size_t) (end - from));
}

/* A page of another origin may not read the answer, but a name that was rebound could. */
static bool names_this_host(const struct connection *c, struct acp_str head)
{
    const char *host = c->callback->url + strlen("http://");
    size_t n = strcspn(host, "/");
    static const char name[] = "\r\nhost:";
    for (size_t i = 0; i + sizeof(name) - 1 < head.len; i++) {
        size_t k = 0;
        while (k < sizeof(name) - 1 && (head.ptr[i + k] | (name[k] > ' ' ? 0x20 : 0)) == name[k])
            k++;
        if (k < sizeof(name) - 1)
            continue;
        const char *value = head.ptr + i + k;
        const char *end = head.ptr + head.len;
        while (value < end && *value == ' ')
            value++;
        return (size_t) (end - value) >= n + 2 && memcmp(value, host, n) == 0 &&
               memcmp(value + n, "\r\n", 2) == 0;
    }
    return false;
}

static void serve(struct connection *c, struct acp_str head)
{
    struct oauth_callback *callback = c->callback;
    const char *end = memchr(head.ptr, '\r', head.len);
    struct acp_str target = read_target(acp_str_n(head.ptr, (size_t) (end - head.ptr)));
    const char *query = target.len ? memchr(target.ptr, '?', target.len) : NULL;
    size_t length = query ? (size_t) (query - target.ptr) : target.len;
    bool is_accepted = false;
    c->is_served = true;
    if (!target.ptr || !names_this_host(c, head)) {
        answer(c, "400 Bad Request", "This is not a request that acp expects.");
    } else if (!query || !acp_str_is(acp_str_n(target.ptr, length), path)) {
        answer(c, "404 Not Found", "There is nothing here.");
    } else {
        struct acp_str text = acp_str_n(query + 1, target.len - length - 1);
        const char *sentence = callback->redirected(text, &is_accepted, callback->user);
        /* The callback may have closed the listener, but not this connection. */
        answer(c, is_accepted ? "200 OK" : "400 Bad Request", sentence);
    }
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *ret)
{
    struct connection *c = handle->data;
    (void) size;
    *ret = uv_buf_init(c->request + c->used, (unsigned) (sizeof(c->request) - c->used));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct connection *c = stream->data;
    (void) buf;
    if (n < 0) {
        close_connection(c);
        return;
    }
    c->used += (size_t) n;
    for (size_t i = 3; i < c->used; i++)
        if (memcmp(c->request + i - 3, "\r\n\r\n", 4) == 0) {
            serve(c, acp_str_n(c->request, i + 1));
            return;
        }
    if (c->used == sizeof(c->request))
        answer(c, "431 Request Header Fields Too Large", "The request is too large.");
}

static void on_late(uv_timer_t *timer)
{
    close_connection(timer->data);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct oauth_callback *callback = listener->data;
    if (status < 0)
        return;
    struct connection *c = calloc(1, sizeof(*c));
    if (!c)
        return;
    acp_buf_init(&c->page, CALLBACK_MAX_PAGE);
    (void) uv_tcp_init(listener->loop, &c->stream);
    (void) uv_timer_init(listener->loop, &c->timer);
    c->stream.data = c;
    c->timer.data = c;
    c->handles = 2;
    c->callback = callback;
    c->next = callback->connections;
    callback->connections = c;
    callback->count++;
    if (uv_accept(listener, (uv_stream_t *) &c->stream) ||
        callback->count > CALLBACK_MAX_CONNECTIONS ||
        uv_timer_start(&c->timer, on_late, CONNECTION_MS, 0) ||
        uv_read_start((uv_stream_t *) &c->stream, on_alloc, on_read))
        close_connection(c);
}

/* ---- The listener ---------------------------------------------------------------------------- */

static void on_listener_closed(uv_handle_t *handle)
{
    free(handle->data);
}

int oauth_callback_new(uv_loop_t *loop, oauth_callback_fn *redirected, void *user,
                       struct oauth_callback **ret, struct acp_failure *failure)
{
    struct sockaddr_in address;
    int size = sizeof(address);
    struct oauth_callback *callback = calloc(1, sizeof(*callback));
    if (!callback)
        return ACP_ERR_NOMEM;
    callback->redirected = redirected;
    callback->user = user;
    callback->listener.data = callback;
    (void) uv_tcp_init(loop, &callback->listener);
    callback->listener.data = callback;
    (void) uv_ip4_addr("127.0.0.1", 0, &address);
    int err = uv_tcp_bind(&callback->listener, (const struct sockaddr *) &address, 0);
    if (!err)
        err =
            uv_listen((uv_stream_t *) &callback->listener, CALLBACK_MAX_CONNECTIONS, on_connection);
    if (!err)
        err = uv_tcp_getsockname(&callback->listener, (struct sockaddr *) &address, &size);
    if (err) {
        if (failure)
            (void) snprintf(failure->message, sizeof(failure->message),
                            "cannot listen for the browser on 127.0.0.1: %s", uv_strerror(err));
        uv_close((uv_handle_t *) &callback->listener, on_listener_closed);
        return ACP_ERR_STATE;
    }
    (void) snprintf(callback->url, sizeof(callback->url), "http://127.0.0.1:%u%s",
                    ntohs(address.sin_port), path);
    *ret = callback;
    return 0;
}

const char *oauth_callback_url(const struct oauth_callback *callback)
{
    return callback->url;
}

void oauth_callback_free(struct oauth_callback *callback)
{
    if (!callback)
        return;
    struct connection *next = callback->connections;
    callback->connections = NULL;
    for (struct connection *c = next; c; c = next) {
        next = c->next;
        c->callback = NULL;
        /* A page that is being written still gets to the browser. */
        if (!c->is_served)
            close_connection(c);
    }
    uv_close((uv_handle_t *) &callback->listener, on_listener_closed);
}
