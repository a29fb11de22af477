/*
 * test_web.h - a web server for tests, on the loop of the test itself: it keeps what it is asked
 * and answers by a script, byte for byte.
 */
#ifndef TESTS_UNIT_TEST_WEB_H
#define TESTS_UNIT_TEST_WEB_H

#include "test_io_host.h"

enum { WEB_ANSWERS = 8, WEB_PIECES = 8, WEB_REQUESTS = 64 };

/* What happens when all pieces were sent. */
enum web_then { WEB_CLOSE = 0, WEB_STALL, WEB_RESET };

struct web_answer {
    const char *pieces[WEB_PIECES + 1]; /* sent as they are, one by one */
    uint64_t delay_ms;                  /* before each of them */
    enum web_then then;
};

struct web {
    uv_tcp_t listener;
    uv_timer_t tick; /* keeps the loop turning, so that one turn never waits long */
    unsigned port;
    char url[64];
    struct web_answer
        answers[WEB_ANSWERS]; /* of the first request, the second, ...; then the last */
    size_t answer_count;
    struct acp_buf requests[WEB_REQUESTS];
    size_t request_count;
    size_t left; /* connections that the other side has closed */
};

struct web_connection {
    uv_tcp_t tcp;
    uv_timer_t timer;
    struct web *web;
    struct acp_buf got;
    struct web_answer answer;
    size_t piece;
    bool answering;
    int open; /* handles that are not closed */
};

static void web_closed(uv_handle_t *handle)
{
    struct web_connection *c = handle->data;
    if (--c->open)
        return;
    acp_buf_finish(&c->got);
    free(c);
}

static void web_drop(struct web_connection *c)
{
    if (uv_is_closing((uv_handle_t *) &c->tcp))
        return;
    uv_close((uv_handle_t *) &c->tcp, web_closed);
    uv_close((uv_handle_t *) &c->timer, web_closed);
}

static void web_written(uv_write_t *write, int status)
{
    (void) status;
    free(write);
}

static void web_next_piece(uv_timer_t *timer)
{
    struct web_connection *c = timer->data;
    const char *piece = c->answer.pieces[c->piece];
    if (!piece) {
        if (c->answer.then == WEB_CLOSE)
            web_drop(c);
        return;
    }
    c->piece++;
    uv_buf_t buf = uv_buf_init((char *) (uintptr_t) piece, (unsigned) strlen(piece));
    uv_write_t *write = malloc(sizeof(*write));
    assert_non_null(write);
    assert_int_equal(uv_write(write, (uv_stream_t *) &c->tcp, &buf, 1, web_written), 0);
    assert_int_equal(uv_timer_start(timer, web_next_piece, c->answer.delay_ms, 0), 0);
}

/* Whether the whole request is there: its head, and as much body as that says. */
static bool web_is_whole(struct acp_buf *got)
{
    const char *text = test_cstr(got);
    const char *end = strstr(text, "\r\n\r\n");
    if (!end)
        return false;
    const char *length = strstr(text, "Content-Length: ");
    size_t body = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
    return got->len >= (size_t) (end + 4 - text) + body;
}

static void web_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct web_connection *c = stream->data;
    if (n < 0) {
        c->web->left++;
        web_drop(c);
    } else if (n > 0) {
        assert_int_equal(acp_buf_append(&c->got, buf->base, (size_t) n), 0);
        if (!c->answering && web_is_whole(&c->got)) {
            struct web *web = c->web;
            size_t number = web->request_count++;
            assert_true(number < WEB_REQUESTS);
            acp_buf_init(&web->requests[number], MIB(64));
            assert_int_equal(acp_buf_append_str(&web->requests[number], acp_buf_view(&c->got)), 0);
            c->answer = web->answers[number < web->answer_count ? number : web->answer_count - 1];
            c->answering = true;
            assert_int_equal(uv_timer_start(&c->timer, web_next_piece, c->answer.delay_ms, 0), 0);
        }
    }
    free(buf->base);
}

static void web_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    (void) handle;
    *buf = uv_buf_init(malloc(size), (unsigned) size);
}

static void web_accept(uv_stream_t *listener, int status)
{
    struct web *web = listener->data;
    struct web_connection *c = calloc(1, sizeof(*c));
    assert_int_equal(status, 0);
    assert_non_null(c);
    c->web = web;
    acp_buf_init(&c->got, MIB(64));
    assert_int_equal(uv_tcp_init(listener->loop, &c->tcp), 0);
    assert_int_equal(uv_timer_init(listener->loop, &c->timer), 0);
    c->tcp.data = c;
    c->timer.data = c;
    c->open = 2;
    assert_int_equal(uv_accept(listener, (uv_stream_t *) &c->tcp), 0);
    (void) uv_tcp_nodelay(&c->tcp, 1);
    assert_int_equal(uv_read_start((uv_stream_t *) &c->tcp, web_alloc, web_read), 0);
}

static void web_tick(uv_timer_t *timer)
{
    (void) timer;
}

static inline void web_start(struct web *web, uv_loop_t *loop)
{
    struct sockaddr_in address;
    int size = sizeof(address);
    memset(web, 0, sizeof(*web));
    (void) signal(SIGPIPE, SIG_IGN);
    assert_int_equal(uv_tcp_init(loop, &web->listener), 0);
    web->listener.data = web;
    assert_int_equal(uv_timer_init(loop, &web->tick), 0);
    assert_int_equal(uv_timer_start(&web->tick, web_tick, 5, 5), 0);
    assert_int_equal(uv_ip4_addr("127.0.0.1", 0, &address), 0);
    assert_int_equal(uv_tcp_bind(&web->listener, (const struct sockaddr *) &address, 0), 0);
    assert_int_equal(uv_listen((uv_stream_t *) &web->listener, 64, web_accept), 0);
    assert_int_equal(uv_tcp_getsockname(&web->listener, (struct sockaddr *) &address, &size), 0);
    web->port = ntohs(address.sin_port);
    (void) snprintf(web->url, sizeof(web->url), "http://127.0.0.1:%u", web->port);
}

/* One more answer of the script. */
static inline struct web_answer *web_answers(struct web *web, const char *piece)
{
    assert_true(web->answer_count < WEB_ANSWERS);
    struct web_answer *answer = &web->answers[web->answer_count++];
    answer->pieces[0] = piece;
    return answer;
}

static void web_end_one(uv_handle_t *handle, void *user)
{
    /* The connections of this server, which hold nothing of anybody else. */
    struct web *web = user;
    if (handle->type == UV_TCP && handle != (uv_handle_t *) &web->listener && handle->data) {
        struct web_connection *c = handle->data;
        if (c->web == web)
            web_drop(c);
    }
}

static inline void web_stop(struct web *web, uv_loop_t *loop)
{
    uv_walk(loop, web_end_one, web);
    uv_close((uv_handle_t *) &web->listener, NULL);
    uv_close((uv_handle_t *) &web->tick, NULL);
    for (size_t i = 0; i < web->request_count; i++)
        acp_buf_finish(&web->requests[i]);
}

/* The request as a text. */
static inline const char *web_request(struct web *web, size_t number)
{
    assert_true(number < web->request_count);
    return test_cstr(&web->requests[number]);
}

/* Runs the loop until something is so. */
static inline void web_run_until(uv_loop_t *loop, const int *what)
{
    while (!*what)
        (void) uv_run(loop, UV_RUN_ONCE);
}

#endif
