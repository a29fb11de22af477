/*
 * The client on the loop: curl says which sockets it waits for and when it wants to be called, and
 * libuv watches them.  All that changes something is done in settle(), when curl is not running.
 */
#include <stdlib.h>

#include "base/copy.h"
#include "http/http_internal.h"
#include "io/fd.h"

static const uint64_t NEVER = UINT64_MAX;

/*
 * Connections that are kept for the next request.  Without a limit curl keeps four times as many as
 * there ever were requests at a time, each with its buffers and a descriptor.
 */
enum { MAX_KEPT = 8 };

/* A socket of curl's that libuv watches. */
struct http_socket {
    uv_poll_t poll;
    struct http_client *client;
    curl_socket_t fd;
};

/* ---- The end of a request -------------------------------------------------------------------- */

/* Takes the request out of curl and tells its owner, once. */
static void finish(struct http_request *request, enum http_trouble trouble, CURLcode code)
{
    char sentence[400] = "";
    if (trouble)
        http_sentence(request->url, request->stall_ms, trouble, code, sentence, sizeof(sentence));
    (void) curl.multi_remove_handle(request->client->multi, request->easy);
    request->state = HTTP_OVER;
    struct http_end end = {.trouble = trouble, .status = request->status, .sentence = sentence};
    if (!request->freed && !request->client->closing)
        request->handler.end(request, &end, request->user);
}

/* Hears which transfers curl has done with. */
static void drain(struct http_client *client)
{
    int left;
    CURLMsg *message;
    while ((message = curl.multi_info_read(client->multi, &left))) {
        CURLcode code = message->data.result;
        struct http_request *request = NULL;
        if (message->msg != CURLMSG_DONE ||
            curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request))
            continue;
        enum http_trouble trouble = request->trouble;
        if (!trouble && code)
            trouble = request->met_private && code == CURLE_COULDNT_CONNECT
                          ? HTTP_PRIVATE
                          : http_trouble_of(request->easy, code);
        finish(request, trouble, code);
    }
}

static void act(struct http_client *client, curl_socket_t fd, int events)
{
    int running;
    (void) curl.multi_socket_action(client->multi, fd, events, &running);
    drain(client);
    http_arm(client);
}

/* ---- Sockets --------------------------------------------------------------------------------- */

static void maybe_gone(struct http_client *client)
{
    if (!client->closing || client->sockets || !uv_is_closing((uv_handle_t *) &client->timer))
        return;
    if (client->timer.data)
        return; /* its close callback is still to come */
    free(client->user_agent);
    free(client->library);
    free(client);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    const struct http_socket *watched = poll->data;
    struct http_client *client = watched->client;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;
    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    act(client, watched->fd, flags);
}

static void on_socket_closed(uv_handle_t *handle)
{
    struct http_socket *watched = handle->data;
    struct http_client *client = watched->client;
    free(watched);
    client->sockets--;
    maybe_gone(client);
}

static struct http_socket *watch(struct http_client *client, curl_socket_t fd)
{
    struct http_socket *watched = calloc(1, sizeof(*watched));
    if (!watched)
        return NULL;
    watched->client = client;
    watched->fd = fd;
    if (uv_poll_init_socket(client->loop, &watched->poll, fd)) {
        free(watched);
        return NULL;
    }
    watched->poll.data = watched;
    client->sockets++;
    (void) curl.multi_assign(client->multi, fd, watched);
    return watched;
}

/* curl says what it waits for on a socket; with REMOVE it may close it as soon as we return. */
static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *known)
{
    (void) easy;
    struct http_client *client = user;
    struct http_socket *watched = known;
    if (what == CURL_POLL_REMOVE) {
        if (!watched)
            return 0;
        (void) uv_poll_stop(&watched->poll);
        uv_close((uv_handle_t *) &watched->poll, on_socket_closed);
        (void) curl.multi_assign(client->multi, fd, NULL);
        return 0;
    }
    if (!watched)
        watched = watch(client, fd);
    if (!watched)
        return -1;
    int events = 0;
    if (what & CURL_POLL_IN)
        events |= UV_READABLE;
    if (what & CURL_POLL_OUT)
        events |= UV_WRITABLE;
    return uv_poll_start(&watched->poll, events, on_poll) ? -1 : 0;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static int on_curl_timer(CURLM *multi, long timeout_ms, void *user)
{
    (void) multi;
    struct http_client *client = user;
    client->curl_deadline = timeout_ms < 0 ? NEVER : uv_now(client->loop) + (uint64_t) timeout_ms;
    http_arm(client);
    return 0;
}

/* When a running request has waited too long. */
static uint64_t patience(const struct http_request *request)
{
    if (request->state != HTTP_RUNNING)
        return NEVER;
    uint64_t stall = request->pause ? NEVER : request->last_bytes + request->stall_ms;
    return stall < request->deadline ? stall : request->deadline;
}

static void close_client(struct http_client *client);
static void settle(struct http_client *client);

static void on_timer(uv_timer_t *timer)
{
    struct http_client *client = timer->data;
    if (client->unsettled)
        settle(client);
    uint64_t now = uv_now(client->loop);
    for (struct http_request *r = client->requests; r && !client->closing; r = r->next) {
        if (patience(r) <= now)
            finish(r, r->deadline <= now ? HTTP_SLOW : HTTP_STALLED, CURLE_OK);
    }
    if (client->closing) {
        close_client(client);
        return;
    }
    if (client->curl_deadline <= now) {
        client->curl_deadline = NEVER;
        act(client, CURL_SOCKET_TIMEOUT, 0);
    }
    http_arm(client);
}

void http_arm(struct http_client *client)
{
    if (uv_is_closing((uv_handle_t *) &client->timer))
        return;
    uint64_t now = uv_now(client->loop);
    uint64_t at = client->unsettled ? now : client->curl_deadline;
    for (const struct http_request *r = client->requests; r; r = r->next) {
        uint64_t limit = patience(r);
        at = limit < at ? limit : at;
    }
    if (at == NEVER)
        (void) uv_timer_stop(&client->timer);
    else
        (void) uv_timer_start(&client->timer, on_timer, at > now ? at - now : 0, 0);
}

void http_unsettle(struct http_client *client)
{
    client->unsettled = true;
    http_arm(client);
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* One request: begins, goes on, or goes away; false when it is gone. */
static bool settle_request(struct http_client *client, struct http_request *request)
{
    if (request->freed) {
        if (request->state == HTTP_RUNNING)
            (void) curl.multi_remove_handle(client->multi, request->easy);
        http_destroy(request);
        return false;
    }
    if (request->state == HTTP_FRESH) {
        request->state = HTTP_RUNNING;
        request->last_bytes = uv_now(client->loop);
        if (curl.multi_add_handle(client->multi, request->easy))
            finish(request, HTTP_NO_MEMORY, CURLE_OUT_OF_MEMORY);
    } else if (request->state == HTTP_RUNNING && request->paused && !request->pause) {
        request->paused = false;
        request->last_bytes = uv_now(client->loop);
        (void) curl.easy_pause(request->easy, CURLPAUSE_CONT);
    }
    return true;
}

static void settle(struct http_client *client)
{
    client->unsettled = false;
    for (struct http_request **at = &client->requests; *at && !client->closing;) {
        struct http_request *request = *at;
        struct http_request *next = request->next;
        if (settle_request(client, request)) {
            at = &request->next;
            continue;
        }
        *at = next;
    }
    if (!client->closing && client->multi)
        drain(client);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct http_client *client = handle->data;
    handle->data = NULL;
    maybe_gone(client);
}

static void close_client(struct http_client *client)
{
    while (client->requests) {
        struct http_request *request = client->requests;
        client->requests = request->next;
        if (request->state == HTTP_RUNNING)
            (void) curl.multi_remove_handle(client->multi, request->easy);
        http_destroy(request);
    }
    if (client->multi)
        (void) curl.multi_cleanup(client->multi);
    uv_close((uv_handle_t *) &client->timer, on_timer_closed);
}

/* ---- Birth and death ------------------------------------------------------------------------- */

int http_client_new(uv_loop_t *loop, const struct http_client_options *options,
                    struct http_client **ret)
{
    static const struct http_client_options usual = {0};
    if (!options)
        options = &usual;
    struct http_client *client = calloc(1, sizeof(*client));
    if (!client)
        return ACP_ERR_NOMEM;
    client->loop = loop;
    client->curl_deadline = NEVER;
    client->helper = options->helper;
    client->user_agent =
        acp_str_copy(acp_str_from(options->user_agent ? options->user_agent : "acp"));
    client->library =
        acp_str_copy(acp_str_from(options->library ? options->library : CURL_LIBRARY));
    if (!client->user_agent || !client->library || uv_timer_init(loop, &client->timer)) {
        free(client->user_agent);
        free(client->library);
        free(client);
        return ACP_ERR_NOMEM;
    }
    client->timer.data = client;
    *ret = client;
    return 0;
}

void http_client_free(struct http_client *client)
{
    if (!client || client->closing)
        return;
    client->closing = true;
    http_unsettle(client);
}

static int start_curl(struct http_client *client, struct acp_failure *failure)
{
    if (client->multi)
        return 0;
    int err = curl_load(client->library, failure);
    if (err)
        return err;
    /* A server that is gone must be an error of the request, not our death. */
    acp_fd_ignore_sigpipe();
    client->multi = curl.multi_init();
    if (!client->multi)
        return ACP_ERR_NOMEM;
    (void) curl.multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
    (void) curl.multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    (void) curl.multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    (void) curl.multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    (void) curl.multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long) MAX_KEPT);
    return 0;
}

int http_request_new(struct http_client *client, const struct http_ask *ask,
                     const struct http_handler *handler, void *user, struct http_request **ret,
                     struct acp_failure *failure)
{
    int err = start_curl(client, failure);
    if (err)
        return err;
    struct http_request *request = calloc(1, sizeof(*request));
    if (!request)
        return ACP_ERR_NOMEM;
    request->client = client;
    request->handler = *handler;
    request->user = user;
    err = http_prepare(request, ask);
    if (err) {
        http_destroy(request);
        return err;
    }
    /* The loop's clock stands still while its callbacks run. */
    request->deadline = ask->total_ms ? uv_now(client->loop) + ask->total_ms : NEVER;
    request->next = client->requests;
    client->requests = request;
    http_unsettle(client);
    *ret = request;
    return 0;
}

void http_request_free(struct http_request *request)
{
    if (!request || request->freed)
        return;
    request->freed = true;
    http_unsettle(request->client);
}

void http_request_pause(struct http_request *request)
{
    request->pause = true;
}

void http_request_resume(struct http_request *request)
{
    if (!request->pause)
        return;
    request->pause = false;
    request->last_bytes = uv_now(request->client->loop);
    http_unsettle(request->client);
}
