/*
 * fetch_helper.c - acp __fetch: the helper process of http/fetch.h: makes one request, and ends.
 *
 * It ends early if its standard input is closed, because then nobody waits for the answer.
 */
#include "cli/output.h"
#include "cmd/cmd.h"
#include "http/fetch_text.h"
#include "registry/environment_keys.h"

struct fetch_helper {
    uv_loop_t loop;
    uv_pipe_t in;
    char room[4096]; /* for one read */
    struct acp_buf asked;
    struct acp_buf body;
    struct http_client *client;
    struct http_request *request;
    int status;
};

/* The loop then runs until everything is closed. */
static void finish(struct fetch_helper *helper, int status)
{
    if (uv_is_closing((uv_handle_t *) &helper->in))
        return;
    helper->status = status;
    http_request_free(helper->request);
    http_client_free(helper->client);
    uv_close((uv_handle_t *) &helper->in, NULL);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void on_body(struct http_request *request, struct acp_str piece, void *user)
{
    (void) request;
    struct fetch_helper *helper = user;
    if (acp_buf_append_str(&helper->body, piece))
        finish(helper, EXIT_FAILED);
}

static void on_end(struct http_request *request, const struct http_end *end, void *user)
{
    (void) request;
    struct fetch_helper *helper = user;
    struct acp_str body = acp_buf_view(&helper->body);
    struct acp_buf head;
    acp_buf_init(&head, FETCH_MAX_HEAD);
    int err = fetch_write_head(end, body.len, &head);
    if (!err) {
        out_text(acp_buf_view(&head));
        out_text(body);
        err = out_flush();
    }
    acp_buf_finish(&head);
    finish(helper, err ? EXIT_FAILED : EXIT_OK);
}

/* ---- The request ----------------------------------------------------------------------------- */

static void make_request(struct fetch_helper *helper)
{
    static const struct http_handler handler = {NULL, on_body, on_end};
    struct http_header headers[FETCH_MAX_HEADERS];
    struct http_ask ask;
    if (helper->request || fetch_read_ask(acp_buf_view(&helper->asked), headers, &ask))
        return; /* it is on its way, or not complete */
    acp_buf_finish(&helper->body);
    acp_buf_init(&helper->body, ask.max_body);
    if (http_request_new(helper->client, &ask, &handler, helper, &helper->request, NULL))
        finish(helper, EXIT_FAILED);
}

static void make_room(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
    (void) wanted;
    struct fetch_helper *helper = handle->data;
    *buf = uv_buf_init(helper->room, sizeof(helper->room));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct fetch_helper *helper = stream->data;
    if (n < 0 || acp_buf_append(&helper->asked, buf->base, (size_t) n))
        finish(helper, EXIT_FAILED); /* nobody wants the answer any more */
    else
        make_request(helper);
}

static int run_fetch(const struct invocation *invocation)
{
    struct fetch_helper helper = {.status = EXIT_FAILED};
    (void) invocation;
    keys_protect(); /* from other processes of this user, as the agent's own memory */
    if (uv_loop_init(&helper.loop))
        return EXIT_FAILED;
    acp_buf_init(&helper.asked, FETCH_MAX_ASK);
    acp_buf_init(&helper.body, 0);
    (void) uv_pipe_init(&helper.loop, &helper.in, 0);
    helper.in.data = &helper;
    if (http_client_new(&helper.loop, NULL, &helper.client) || uv_pipe_open(&helper.in, 0) ||
        uv_read_start((uv_stream_t *) &helper.in, make_room, on_read))
        finish(&helper, EXIT_FAILED);
    (void) uv_run(&helper.loop, UV_RUN_DEFAULT);
    acp_buf_finish(&helper.asked);
    acp_buf_finish(&helper.body);
    (void) uv_loop_close(&helper.loop);
    return helper.status;
}

const struct command command_fetch = {
    .name = "__fetch",
    .summary = "make one HTTP request; acp agent calls it",
    .description = "Reads a request from its standard input and writes the answer.",
    .hidden = true,
    .run = run_fetch,
};
