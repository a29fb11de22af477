/* Fetches: in a helper process first, in this process if that does not work. */
#include "http/fetch.h"

#include <stdlib.h>

#include "acp/io.h"
#include "http/fetch_text.h"
#include "http/http_internal.h"

enum {
    MAX_HELPERS = 4,    /* at the same time; further requests are made in this process */
    LATE_MS = 2 * 1000, /* how long a helper may take beyond the time of its request */
};

struct http_fetch {
    struct http_client *client;
    http_fetched_fn *fetched;
    void *user;
    uv_timer_t timer; /* ends a helper that is late; the last to be closed */
    struct acp_process *helper;
    struct http_request *request; /* in this process */
    struct acp_buf asked;         /* the request as a text: for the helper, or to be made here */
    struct acp_buf answer;        /* of the helper: all of it; of the request: the body */
};

static void tell(struct http_fetch *fetch, const struct http_fetched *fetched)
{
    fetch->fetched(fetch, fetched, fetch->user);
}

static int read_asked(const struct http_fetch *fetch, struct http_header headers[FETCH_MAX_HEADERS],
                      struct http_ask *ret)
{
    return fetch_read_ask(acp_buf_view(&fetch->asked), headers, ret);
}

/* ---- In this process ------------------------------------------------------------------------- */

static void on_body(struct http_request *request, struct acp_str piece, void *user)
{
    (void) request;
    struct http_fetch *fetch = user;
    /* The client stops at max_body; a body that is cut when out of memory is no valid list. */
    (void) acp_buf_append_str(&fetch->answer, piece);
}

static void on_end(struct http_request *request, const struct http_end *end, void *user)
{
    (void) request;
    struct http_fetch *fetch = user;
    tell(fetch, &(struct http_fetched){.end = *end, .body = acp_buf_view(&fetch->answer)});
}

static int fetch_here(struct http_fetch *fetch, const struct http_ask *ask,
                      struct acp_failure *failure)
{
    static const struct http_handler handler = {NULL, on_body, on_end};
    return http_request_new(fetch->client, ask, &handler, fetch, &fetch->request, failure);
}

/* ---- The helper ------------------------------------------------------------------------------ */

static void end_helper(struct http_fetch *fetch)
{
    if (!fetch->helper)
        return;
    (void) uv_timer_stop(&fetch->timer);
    acp_process_free(fetch->helper);
    fetch->helper = NULL;
    fetch->client->helpers--;
}

static void on_output(struct acp_process *process, struct acp_str bytes, void *user)
{
    struct http_fetch *fetch = user;
    if (acp_buf_append_str(&fetch->answer, bytes))
        acp_process_kill(process); /* its exit tells that the answer is not complete */
}

/* The helper has not answered: what it was to ask is asked here. */
static void fall_back(struct http_fetch *fetch)
{
    struct http_header headers[FETCH_MAX_HEADERS];
    struct http_ask ask;
    struct acp_failure failure = {0};
    acp_buf_clear(&fetch->answer);
    int err = read_asked(fetch, headers, &ask);
    if (!err)
        err = fetch_here(fetch, &ask, &failure);
    if (!err)
        return;
    const char *why = *failure.message ? failure.message : acp_err_text(err);
    tell(fetch, &(struct http_fetched){.end = {.trouble = HTTP_BROKEN, .sentence = why}});
}

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    (void) process;
    struct http_fetch *fetch = user;
    struct http_fetched fetched;
    bool is_answered =
        how->code == 0 && fetch_read_answer(acp_buf_view(&fetch->answer), &fetched) == 0;
    end_helper(fetch);
    if (is_answered)
        tell(fetch, &fetched);
    else
        fall_back(fetch);
}

static void on_late(uv_timer_t *timer)
{
    struct http_fetch *fetch = timer->data;
    struct http_header headers[FETCH_MAX_HEADERS];
    struct http_ask ask = {.url = ""};
    char sentence[400];
    end_helper(fetch);
    (void) read_asked(fetch, headers, &ask);
    http_sentence(ask.url, 0, HTTP_SLOW, CURLE_OK, sentence, sizeof(sentence));
    tell(fetch, &(struct http_fetched){.end = {.trouble = HTTP_SLOW, .sentence = sentence}});
}

static bool may_help(const struct http_client *client)
{
    return client->helper && client->helpers < MAX_HELPERS && !curl_is_loaded();
}

/* False if there is none: it could not be started, or does not take the request. */
static bool start_helper(struct http_fetch *fetch, uint64_t total_ms)
{
    static const struct acp_process_handler handler = {.output = on_output, .exited = on_exited};
    struct http_client *client = fetch->client;
    struct acp_process_options options = {.argv = client->helper, .err = ACP_IO_NULL};
    struct acp_str asked = acp_buf_view(&fetch->asked);
    if (acp_process_start(client->loop, &options, &handler, fetch, &fetch->helper, NULL))
        return false;
    client->helpers++;
    if (acp_process_write(fetch->helper, asked.ptr, asked.len) != (int64_t) asked.len) {
        end_helper(fetch);
        return false;
    }
    if (total_ms)
        (void) uv_timer_start(&fetch->timer, on_late, total_ms + LATE_MS, 0);
    return true;
}

/* ---- Fetches --------------------------------------------------------------------------------- */

static int start(struct http_fetch *fetch, const struct http_ask *ask, struct acp_failure *failure)
{
    if (may_help(fetch->client) && fetch_write_ask(ask, &fetch->asked) == 0 &&
        start_helper(fetch, ask->total_ms))
        return 0;
    return fetch_here(fetch, ask, failure);
}

int http_fetch_new(struct http_client *client, const struct http_ask *ask, http_fetched_fn *fetched,
                   void *user, struct http_fetch **ret, struct acp_failure *failure)
{
    if (ask->method || ask->body.ptr || ask->public_only || !ask->max_body)
        return ACP_ERR_ARGUMENT;
    struct http_fetch *fetch = calloc(1, sizeof(*fetch));
    if (!fetch)
        return ACP_ERR_NOMEM;
    fetch->client = client;
    fetch->fetched = fetched;
    fetch->user = user;
    acp_buf_init(&fetch->asked, FETCH_MAX_ASK);
    acp_buf_init(&fetch->answer, ask->max_body + FETCH_MAX_HEAD);
    if (uv_timer_init(client->loop, &fetch->timer)) {
        free(fetch);
        return ACP_ERR_NOMEM;
    }
    fetch->timer.data = fetch;
    int err = start(fetch, ask, failure);
    if (err) {
        http_fetch_free(fetch);
        return err;
    }
    *ret = fetch;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct http_fetch *fetch = handle->data;
    acp_buf_finish(&fetch->asked);
    acp_buf_finish(&fetch->answer);
    free(fetch);
}

void http_fetch_free(struct http_fetch *fetch)
{
    if (!fetch || uv_is_closing((uv_handle_t *) &fetch->timer))
        return;
    end_helper(fetch);
    http_request_free(fetch->request);
    fetch->request = NULL;
    uv_close((uv_handle_t *) &fetch->timer, on_closed);
}
