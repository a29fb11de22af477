/*
 * fetch_page.c - fetches web pages for the model, without cookies or keys, with limits of size and
 * time, and converts them to text.
 *
 * Redirects are followed to the same scheme, host and port only, or from http to https.  Of others
 * the model gets the address: the user has not permitted it, so fetching it is a new call.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/loop/coding_agent_internal.h"
#include "base/copy.h"
#include "http/http_client.h"
#include "text/page.h"

enum {
    MAX_BODY = 1 << 20,
    MAX_REDIRECTS = 5,
    CONNECT_MS = 10 * 1000,
    STALL_MS = 15 * 1000,
    TOTAL_MS = 60 * 1000, /* with all redirects */
};

struct fetching {
    struct coding_agent *agent;
    struct http_request *request;
    char *url;
    unsigned redirects;
    uint64_t until;
    struct acp_buf body;
    bool cut; /* the body was longer */
    size_t max_text;
    toolbox_fetched_fn *done;
    void *waiting;
};

static void free_fetching(struct fetching *f)
{
    http_request_free(f->request);
    acp_buf_finish(&f->body);
    free(f->url);
    free(f);
}

/* Calls back and frees the request. */
static void end(struct fetching *f, int err, struct acp_str text, bool cut)
{
    f->done(err, text, cut, f->waiting);
    free_fetching(f);
}

static void fail(struct fetching *f, const char *format, ...) ACP_PRINTF(2, 3);
static void fail(struct fetching *f, const char *format, ...)
{
    char sentence[1000];
    va_list list;
    va_start(list, format);
    (void) vsnprintf(sentence, sizeof(sentence), format, list);
    va_end(list);
    end(f, ACP_ERR_REMOTE, acp_str_from(sentence), false);
}

/* Credentials in a URL; the tool allows none in those of the model. */
static bool has_user(struct acp_str url)
{
    struct acp_str place = http_place(url);
    return place.len && place.ptr > url.ptr && place.ptr[-1] == '@';
}

/* ---- The answer ------------------------------------------------------------------------------ */

static int ask(struct fetching *f, struct acp_failure *failure);

static void follow(struct fetching *f, const char *target)
{
    struct acp_failure failure = {0};
    char text[700];
    if (has_user(acp_str_from(target))) {
        fail(f, "It redirects to an address with a user in it, which is not fetched.");
        return;
    }
    if (!http_stays(acp_str_from(f->url), acp_str_from(target))) {
        (void) snprintf(
            text, sizeof(text),
            "It redirects to %.500s, which has another scheme, host or port. Fetch that address "
            "if you need it.",
            target);
        end(f, 0, acp_str_from(text), false);
        return;
    }
    char *url = f->redirects++ < MAX_REDIRECTS ? acp_str_copy(acp_str_from(target)) : NULL;
    if (!url) {
        fail(f, "It redirects more than %d times.", MAX_REDIRECTS);
        return;
    }
    free(f->url);
    f->url = url;
    http_request_free(f->request);
    f->request = NULL;
    acp_buf_clear(&f->body);
    if (ask(f, &failure))
        fail(f, "It cannot be fetched: %s.",
             *failure.message ? failure.message : acp_err_text(ACP_ERR_NOMEM));
}

static void give_text(struct fetching *f, int status)
{
    struct acp_str type = http_request_header(f->request, "content-type");
    struct acp_str body = acp_buf_view(&f->body);
    struct acp_buf text;
    if (!page_is_text(type, body)) {
        fail(f, "It is not text%s%.*s.", type.len ? " but " : "",
             type.len < 100 ? (int) type.len : 100, type.len ? type.ptr : "");
        return;
    }
    acp_buf_init(&text, f->max_text);
    if (status >= 300)
        (void) acp_buf_printf(&text, "The server answers with status %d:\n\n", status);
    int err = page_text(type, body, &text);
    if (err && err != ACP_ERR_LIMIT)
        fail(f, "It cannot be read: %s.", acp_err_text(err));
    else
        end(f, status >= 300 ? ACP_ERR_REMOTE : 0,
            text.len ? acp_buf_view(&text) : acp_str_from("(The page is empty.)"), err || f->cut);
    acp_buf_finish(&text);
}

static void on_body(struct http_request *request, struct acp_str piece, void *user)
{
    struct fetching *f = user;
    (void) request;
    if (acp_buf_append_str(&f->body, piece))
        f->cut = true;
}

static void on_end(struct http_request *request, const struct http_end *how, void *user)
{
    struct fetching *f = user;
    const char *target = http_request_redirect(request);
    f->cut |= how->trouble == HTTP_TOO_LARGE;
    if (how->trouble && how->trouble != HTTP_TOO_LARGE)
        fail(f, "It cannot be fetched: %s.", how->sentence);
    else if (target)
        follow(f, target);
    else
        give_text(f, how->status);
}

/* ---- The request ----------------------------------------------------------------------------- */

static int ask(struct fetching *f, struct acp_failure *failure)
{
    static const struct http_handler handler = {.body = on_body, .end = on_end};
    static const struct http_header headers[] = {
        {"Accept", "text/html,text/plain,text/markdown,application/json;q=0.9,*/*;q=0.5"}};
    uint64_t now = uv_now(&f->agent->loop);
    struct http_ask wanted = {
        .url = f->url,
        .headers = headers,
        .header_count = sizeof(headers) / sizeof(headers[0]),
        .connect_ms = CONNECT_MS,
        .stall_ms = STALL_MS,
        .total_ms = now < f->until ? f->until - now : 1,
        .max_body = MAX_BODY,
        .public_only = f->agent->options->fetch != CODING_AGENT_FETCH_ANY,
    };
    return http_request_new(f->agent->http, &wanted, &handler, f, &f->request, failure);
}

static int start(struct acp_str url, size_t max_bytes, toolbox_fetched_fn *done, void *waiting,
                 void *user, void **ret_request, struct acp_failure *failure)
{
    struct coding_agent *agent = user;
    struct fetching *f = calloc(1, sizeof(*f));
    if (!f)
        return ACP_ERR_NOMEM;
    f->agent = agent;
    f->url = acp_str_copy(url);
    f->until = uv_now(&agent->loop) + TOTAL_MS;
    f->max_text = max_bytes;
    f->done = done;
    f->waiting = waiting;
    acp_buf_init(&f->body, MAX_BODY);
    int err = f->url ? ask(f, failure) : ACP_ERR_NOMEM;
    if (err) {
        free_fetching(f);
        return err;
    }
    *ret_request = f;
    return 0;
}

static void cancel(void *request, void *user)
{
    (void) user;
    free_fetching(request);
}

struct toolbox_fetch coding_agent_fetch_tool(struct coding_agent *agent)
{
    return (struct toolbox_fetch){.start = start, .cancel = cancel, .user = agent};
}
