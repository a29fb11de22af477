/* The listener for the browser: requests as browsers, other pages and other processes send them. */
#include "oauth/oauth.h"
#include "test_web.h"

struct world {
    struct host *host;
    struct oauth_callback *callback;
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_write_t write;
    char request[20000];
    struct acp_buf got;
    int closed;
    int calls;
    bool accepts;
    bool frees; /* the listener, inside the callback */
    char query[1000];
};

static const char *on_redirected(struct acp_str query, bool *ret_accepted, void *user)
{
    struct world *w = user;
    w->calls++;
    (void) snprintf(w->query, sizeof(w->query), "%.*s", ACP_ARG(query));
    *ret_accepted = w->accepts;
    if (w->frees) {
        oauth_callback_free(w->callback);
        w->callback = NULL;
    }
    return w->accepts ? "You are logged in." : "This is not the login that was started.";
}

static void begin(struct world *w, void **state)
{
    memset(w, 0, sizeof(*w));
    w->host = *state;
    w->accepts = true;
    acp_buf_init(&w->got, MIB(1));
    assert_int_equal(oauth_callback_new(&w->host->loop, on_redirected, w, &w->callback, NULL), 0);
}

static void end(struct world *w)
{
    oauth_callback_free(w->callback);
    (void) uv_run(&w->host->loop, UV_RUN_DEFAULT);
    acp_buf_finish(&w->got);
}

static unsigned port_of(struct world *w)
{
    const char *colon = strrchr(oauth_callback_url(w->callback), ':');
    assert_non_null(colon);
    return (unsigned) strtoul(colon + 1, NULL, 10);
}

static void on_tcp_closed(uv_handle_t *handle)
{
    struct world *w = handle->data;
    w->closed = 1;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct world *w = stream->data;
    if (n > 0)
        assert_int_equal(acp_buf_append(&w->got, buf->base, (size_t) n), 0);
    free(buf->base);
    if (n < 0)
        uv_close((uv_handle_t *) stream, on_tcp_closed);
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct world *w = connect->data;
    uv_buf_t out = uv_buf_init(w->request, (unsigned) strlen(w->request));
    assert_int_equal(status, 0);
    assert_int_equal(uv_read_start(connect->handle, web_alloc, on_read), 0);
    assert_int_equal(uv_write(&w->write, connect->handle, &out, 1, NULL), 0);
}

/* Sends the request and returns the answer; '$' is the host that the listener expects. */
static const char *ask(struct world *w, const char *request)
{
    struct sockaddr_in address;
    unsigned port = port_of(w);
    size_t n = 0;
    acp_buf_clear(&w->got);
    w->closed = 0;
    for (; *request; request++)
        n += (size_t) (*request == '$'
                           ? snprintf(w->request + n, sizeof(w->request) - n, "127.0.0.1:%u", port)
                           : snprintf(w->request + n, sizeof(w->request) - n, "%c", *request));
    assert_int_equal(uv_tcp_init(&w->host->loop, &w->tcp), 0);
    w->tcp.data = w;
    w->connect.data = w;
    assert_int_equal(uv_ip4_addr("127.0.0.1", (int) port, &address), 0);
    assert_int_equal(
        uv_tcp_connect(&w->connect, &w->tcp, (const struct sockaddr *) &address, on_connected), 0);
    web_run_until(&w->host->loop, &w->closed);
    return test_cstr(&w->got);
}

static void the_query_is_passed_on(void **state)
{
    struct world w;
    begin(&w, state);
    const char *page = ask(&w, "GET /callback?code=1&state=2 HTTP/1.1\r\nHost: $\r\n\r\n");
    assert_int_equal(w.calls, 1);
    assert_string_equal(w.query, "code=1&state=2");
    assert_non_null(strstr(page, "HTTP/1.1 200 OK\r\n"));
    assert_non_null(strstr(page, "You are logged in."));
    assert_non_null(strstr(page, "default-src 'none'"));
    w.accepts = false;
    page = ask(&w, "GET /callback?<script>=1 HTTP/1.1\r\nhOST:  $\r\n\r\n");
    assert_int_equal(w.calls, 2);
    assert_non_null(strstr(page, "HTTP/1.1 400 "));
    assert_null(strstr(page, "<script>"));
    end(&w);
}

static void other_requests_are_refused(void **state)
{
    static const struct {
        const char *request, *status;
    } rows[] = {
        {"GET /callback HTTP/1.1\r\nHost: $\r\n\r\n", "404"},
        {"GET /favicon.ico?x HTTP/1.1\r\nHost: $\r\n\r\n", "404"},
        {"GET /callbacks?code=1 HTTP/1.1\r\nHost: $\r\n\r\n", "404"},
        {"POST /callback?code=1 HTTP/1.1\r\nHost: $\r\n\r\n", "400"},
        {"GET /callback?code=1 HTTP/1.1\r\nHost: evil.example\r\n\r\n", "400"},
        {"GET /callback?code=1 HTTP/1.1\r\nHost: $.evil.example\r\n\r\n", "400"},
        {"GET /callback?code=1 HTTP/1.1\r\nX-Host: $\r\n\r\n", "400"},
        {"GET /callback?code=1 HTTP/1.1\r\n\r\n", "400"},
        {"GET /callback?code=1\r\nHost: $\r\n\r\n", "400"},
        {"GET http://$/callback?code=1 HTTP/1.1\r\nHost: $\r\n\r\n", "400"},
        {"\r\n\r\n", "400"},
    };
    struct world w;
    begin(&w, state);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char start[20];
        const char *page = ask(&w, rows[i].request);
        (void) snprintf(start, sizeof(start), "HTTP/1.1 %s ", rows[i].status);
        CHECK_ROW(strstr(page, start) == page, i, "%s", page);
    }
    assert_int_equal(w.calls, 0);
    end(&w);
}

static void a_request_is_limited(void **state)
{
    struct world w;
    char request[18000];
    begin(&w, state);
    memset(request, 'x', sizeof(request) - 1);
    request[sizeof(request) - 1] = 0;
    memcpy(request, "GET /callback?", 14);
    const char *page = ask(&w, request);
    assert_true(*page == 0 || strstr(page, "HTTP/1.1 431 ") == page);
    assert_int_equal(w.calls, 0);
    end(&w);
}

static void the_listener_may_be_freed_in_its_callback(void **state)
{
    struct world w;
    begin(&w, state);
    w.frees = true;
    const char *page = ask(&w, "GET /callback?code=1 HTTP/1.1\r\nHost: $\r\n\r\n");
    assert_non_null(strstr(page, "You are logged in."));
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(the_query_is_passed_on),
        host_test(other_requests_are_refused),
        host_test(a_request_is_limited),
        host_test(the_listener_may_be_freed_in_its_callback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
