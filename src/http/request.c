/* One request: what curl is told about it, and what comes out of curl for it. */
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "base/copy.h"
#include "http/http_internal.h"

enum {
    /* A request that is sent once does not take a connection that was idle for longer. */
    ONCE_IDLE_S = 3,
    CONNECT_MS = 20 * 1000,
    STALL_MS = 300 * 1000,
    MAX_HEADER = 64 * 1024,
};

/* ---- What comes ------------------------------------------------------------------------------ */

static bool is_heard(const struct http_request *request)
{
    return !request->freed && !request->client->closing;
}

static void heard_bytes(struct http_request *request)
{
    request->last_bytes = uv_now(request->client->loop);
}

static int status_in(struct acp_str line)
{
    const char *space = memchr(line.ptr, ' ', line.len);
    int status = 0;
    if (!space)
        return 0;
    for (const char *p = space + 1; p < line.ptr + line.len && *p >= '0' && *p <= '9'; p++)
        status = status < 1000 ? status * 10 + (*p - '0') : status;
    return status;
}

/* Passes status and headers on, once; those before the last answer (100, 103) are no answer. */
static void tell_head(struct http_request *request)
{
    if (request->head_told || request->status < 200)
        return;
    request->head_told = true;
    if (request->handler.head)
        request->handler.head(request, request->status, request->user);
}

/* A line of headers; what comes behind the body is none of ours. */
static size_t on_header(char *bytes, size_t size, size_t count, void *user)
{
    struct http_request *request = user;
    size_t n = size * count;
    struct acp_str line = acp_str_n(bytes, n);
    if (!is_heard(request))
        return 0;
    heard_bytes(request);
    while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    if (request->head_told)
        return n;
    if (line.len >= 5 && memcmp(line.ptr, "HTTP/", 5) == 0) {
        acp_buf_clear(&request->got_headers);
        request->status = status_in(line);
    } else if (line.len) {
        if (acp_buf_append_str(&request->got_headers, line) == 0)
            (void) acp_buf_append(&request->got_headers, "\n", 1);
    } else {
        tell_head(request);
    }
    return is_heard(request) ? n : 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *user)
{
    struct http_request *request = user;
    size_t n = size * count;
    if (!is_heard(request))
        return 0;
    if (request->pause) {
        request->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    heard_bytes(request);
    request->body_bytes += n;
    if (request->max_body && request->body_bytes > request->max_body) {
        request->trouble = HTTP_TOO_LARGE;
        return 0;
    }
    if (request->handler.body)
        request->handler.body(request, acp_str_n(bytes, n), request->user);
    return is_heard(request) ? n : 0;
}

/* A large body on its way up is no stall. */
static int on_progress(void *user, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                       curl_off_t up)
{
    (void) down_all;
    (void) down;
    (void) up_all;
    struct http_request *request = user;
    if (up != request->uploaded) {
        request->uploaded = up;
        heard_bytes(request);
    }
    return is_heard(request) ? 0 : 1;
}

/* curl wants a socket for an address that it has found. */
static curl_socket_t on_open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct http_request *request = user;
    (void) purpose;
    if (!http_is_public(&address->addr)) {
        request->met_private = true;
        return CURL_SOCKET_BAD; /* it may have others, which are tried */
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* The value behind "NAME:" when the line is of that header. */
static bool is_header(struct acp_str line, struct acp_str name, struct acp_str *ret)
{
    if (line.len <= name.len || line.ptr[name.len] != ':' ||
        strncasecmp(line.ptr, name.ptr, name.len) != 0)
        return false;
    struct acp_str value = acp_str_n(line.ptr + name.len + 1, line.len - name.len - 1);
    while (value.len && (*value.ptr == ' ' || *value.ptr == '\t'))
        value = acp_str_n(value.ptr + 1, value.len - 1);
    while (value.len && (value.ptr[value.len - 1] == ' ' || value.ptr[value.len - 1] == '\t'))
        value.len--;
    *ret = value;
    return true;
}

struct acp_str http_request_header(const struct http_request *request, const char *name)
{
    struct acp_str found = acp_str_from(NULL);
    struct acp_str rest = acp_buf_view(&request->got_headers);
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t) (end - rest.ptr) : rest.len;
        (void) is_header(acp_str_n(rest.ptr, n), acp_str_from(name), &found);
        n = n < rest.len ? n + 1 : n;
        rest = acp_str_n(rest.ptr + n, rest.len - n);
    }
    return found;
}

/* A number without anything around it. */
static bool read_number(struct acp_str text, uint64_t *ret)
{
    uint64_t number = 0;
    if (!text.len || text.len > 12)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        number = number * 10 + (uint64_t) (text.ptr[i] - '0');
    }
    *ret = number;
    return true;
}

const char *http_request_redirect(const struct http_request *request)
{
    const char *url = NULL;
    bool is_over = request->state == HTTP_OVER && request->status >= 300 && request->status < 400;
    if (is_over)
        (void) curl.easy_getinfo(request->easy, CURLINFO_REDIRECT_URL, &url);
    return url;
}

bool http_request_retry_after(const struct http_request *request, uint64_t *ret_ms)
{
    uint64_t number;
    if (read_number(http_request_header(request, "retry-after-ms"), ret_ms))
        return true;
    struct acp_str value = http_request_header(request, "retry-after");
    if (read_number(value, &number)) {
        *ret_ms = number * 1000;
        return true;
    }
    char date[64];
    if (!value.len || value.len >= sizeof(date))
        return false;
    memcpy(date, value.ptr, value.len);
    date[value.len] = '\0';
    time_t now = time(NULL);
    time_t then = curl.getdate(date, NULL);
    if (then == (time_t) -1)
        return false;
    *ret_ms = then > now ? (uint64_t) (then - now) * 1000 : 0;
    return true;
}

/* ---- What is asked --------------------------------------------------------------------------- */

static int add_header(struct http_request *request, const char *name, const char *value)
{
    struct acp_buf line;
    acp_buf_init(&line, MAX_HEADER);
    int err = acp_buf_printf(&line, "%s:%s%s", name, *value ? " " : "", value);
    if (!err && memchr(acp_buf_view(&line).ptr, '\n', line.len))
        err = ACP_ERR_ARGUMENT;
    if (!err && memchr(acp_buf_view(&line).ptr, '\r', line.len))
        err = ACP_ERR_ARGUMENT;
    if (!err)
        err = acp_buf_append(&line, "", 1);
    struct curl_slist *longer = NULL;
    if (!err) {
        longer = curl.slist_append(request->headers, acp_buf_view(&line).ptr);
        err = longer ? 0 : ACP_ERR_NOMEM;
    }
    if (!err)
        request->headers = longer;
    acp_buf_finish(&line);
    return err;
}

static int add_headers(struct http_request *request, const struct http_ask *ask)
{
    int err = 0;
    for (size_t i = 0; !err && i < ask->header_count; i++)
        err = add_header(request, ask->headers[i].name, ask->headers[i].value);
    /* curl would ask whether a large body is welcome, and wait for the answer. */
    return err ? err : add_header(request, "Expect", "");
}

static size_t on_read(char *bytes, size_t size, size_t count, void *user)
{
    struct http_request *request = user;
    size_t left = request->body_size - request->body_sent;
    size_t n = size * count < left ? size * count : left;
    memcpy(bytes, request->body + request->body_sent, n);
    request->body_sent += n;
    return n;
}

/*
 * curl repeats a request on a connection that closes before the first byte of an answer.  It cannot
 * repeat a body that it reads from a function and cannot rewind.
 */
static void set_body(struct http_request *request, const struct http_ask *ask)
{
    CURL *easy = request->easy;
    request->body_size = ask->body.len;
    (void) curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) ask->body.len);
    if (ask->once) {
        (void) curl.easy_setopt(easy, CURLOPT_POST, 1L);
        (void) curl.easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
        (void) curl.easy_setopt(easy, CURLOPT_READDATA, request);
        (void) curl.easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long) ONCE_IDLE_S);
    } else {
        (void) curl.easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
    }
}

static void set_callbacks(struct http_request *request)
{
    CURL *easy = request->easy;
    (void) curl.easy_setopt(easy, CURLOPT_PRIVATE, request);
    (void) curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void) curl.easy_setopt(easy, CURLOPT_HEADERDATA, request);
    (void) curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void) curl.easy_setopt(easy, CURLOPT_WRITEDATA, request);
    (void) curl.easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    (void) curl.easy_setopt(easy, CURLOPT_XFERINFODATA, request);
    (void) curl.easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

static void set_manners(struct http_request *request)
{
    CURL *easy = request->easy;
    (void) curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void) curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void) curl.easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void) curl.easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    (void) curl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void) curl.easy_setopt(easy, CURLOPT_USERAGENT, request->client->user_agent);
    /* Without this, a request that is ended while a name is looked up would make us wait for it. */
    (void) curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    /* Proxies of the environment are for the world, not for this machine. */
    if (request->public_only || http_is_loopback(acp_str_from(request->url)))
        (void) curl.easy_setopt(easy, CURLOPT_PROXY, "");
    if (request->public_only) {
        (void) curl.easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        (void) curl.easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
        (void) curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
        (void) curl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, request);
    }
}

int http_prepare(struct http_request *request, const struct http_ask *ask)
{
    acp_buf_init(&request->got_headers, HTTP_MAX_HEADERS);
    request->stall_ms = ask->stall_ms ? ask->stall_ms : (uint64_t) STALL_MS;
    request->max_body = ask->max_body;
    request->public_only = ask->public_only;
    request->easy = curl.easy_init();
    request->url = acp_str_copy(acp_str_from(ask->url));
    if (ask->body.ptr)
        request->body = acp_str_copy(ask->body);
    if (!request->easy || !request->url || (ask->body.ptr && !request->body))
        return ACP_ERR_NOMEM;
    int err = add_headers(request, ask);
    if (err)
        return err;
    uint64_t connect_ms = ask->connect_ms ? ask->connect_ms : (uint64_t) CONNECT_MS;
    (void) curl.easy_setopt(request->easy, CURLOPT_CONNECTTIMEOUT_MS, (long) connect_ms);
    (void) curl.easy_setopt(request->easy, CURLOPT_HTTPHEADER, request->headers);
    if (request->body)
        set_body(request, ask);
    if (ask->method)
        (void) curl.easy_setopt(request->easy, CURLOPT_CUSTOMREQUEST, ask->method);
    set_callbacks(request);
    set_manners(request);
    return curl.easy_setopt(request->easy, CURLOPT_URL, request->url) ? ACP_ERR_NOMEM : 0;
}

void http_destroy(struct http_request *request)
{
    if (request->easy)
        curl.easy_cleanup(request->easy);
    if (request->headers)
        curl.slist_free_all(request->headers);
    acp_buf_finish(&request->got_headers);
    free(request->url);
    free(request->body);
    free(request);
}
