/*
 * oauth_exchange.c - one request with a small JSON answer.
 *
 * Requests are made in this process and not redirected: what is sent to a token endpoint is for
 * that endpoint alone.
 */
#define _GNU_SOURCE /* explicit_bzero */
#include <stdio.h>
#include <stdlib.h>

#include "json/members.h"
#include "oauth/oauth_internal.h"

enum { TOTAL_MS = 30 * 1000, HEADERS = 4 };

struct oauth_exchange {
    struct http_request *request;
    oauth_answered_fn *answered;
    void *user;
    struct acp_buf body;
    char place[200]; /* for messages */
};

static void on_body(struct http_request *request, struct acp_str piece, void *user)
{
    (void) request;
    struct oauth_exchange *exchange = user;
    /* The client stops at max_body; a body that was cut when out of memory is not valid JSON. */
    (void) acp_buf_append_str(&exchange->body, piece);
}

/* The error of an OAuth answer: a word, and perhaps a sentence. */
static void read_error(struct acp_raw body, struct acp_arena *arena, struct oauth_answer *answer)
{
    struct acp_str description = {0};
    (void) acp_json_member_str(body, "error", arena, &answer->error);
    (void) acp_json_member_str(body, "error_description", arena, &description);
    if (!answer->error.len)
        return;
    size_t n = strlen(answer->why);
    (void) snprintf(answer->why + n, sizeof(answer->why) - n, ": %.*s%s%.*s",
                    ACP_ARG(answer->error), description.len ? ": " : "", ACP_ARG(description));
}

static void on_end(struct http_request *request, const struct http_end *end, void *user)
{
    struct oauth_exchange *exchange = user;
    struct oauth_answer answer = {.end = *end};
    struct acp_arena arena;
    struct acp_str text = acp_buf_view(&exchange->body);
    struct acp_raw body = acp_raw_n(text.ptr, text.len);
    bool is_json = acp_json_validate(body, 0, NULL) == 0;
    (void) request;
    acp_arena_init(&arena, OAUTH_MAX_ANSWER * 2);
    if (end->trouble) {
        (void) snprintf(answer.why, sizeof(answer.why), "%s", end->sentence);
    } else if (end->status != 200 && end->status != 201) {
        (void) snprintf(answer.why, sizeof(answer.why), "%s answered with status %d",
                        exchange->place, end->status);
        if (is_json)
            read_error(body, &arena, &answer);
    } else if (!is_json) {
        (void) snprintf(answer.why, sizeof(answer.why), "the answer of %s is not valid JSON",
                        exchange->place);
    } else {
        answer.body = body;
    }
    exchange->answered(&answer, exchange->user);
    acp_arena_finish(&arena);
}

static int begin(struct http_client *client, const struct http_ask *ask,
                 oauth_answered_fn *answered, void *user, struct oauth_exchange **ret,
                 struct acp_failure *failure)
{
    static const struct http_handler handler = {NULL, on_body, on_end};
    struct acp_str place = http_place(acp_str_from(ask->url));
    struct oauth_exchange *exchange = calloc(1, sizeof(*exchange));
    if (!exchange)
        return ACP_ERR_NOMEM;
    exchange->answered = answered;
    exchange->user = user;
    acp_buf_init(&exchange->body, OAUTH_MAX_ANSWER);
    (void) snprintf(exchange->place, sizeof(exchange->place), "%.*s", ACP_ARG(place));
    int err = http_request_new(client, ask, &handler, exchange, &exchange->request, failure);
    if (err) {
        oauth_exchange_free(exchange);
        return err;
    }
    *ret = exchange;
    return 0;
}

void oauth_exchange_free(struct oauth_exchange *exchange)
{
    if (!exchange)
        return;
    http_request_free(exchange->request);
    if (exchange->body.cap)
        explicit_bzero(exchange->body.data, exchange->body.cap);
    acp_buf_finish(&exchange->body);
    free(exchange);
}

int oauth_exchange_get(struct http_client *client, const char *url, oauth_answered_fn *answered,
                       void *user, struct oauth_exchange **ret, struct acp_failure *failure)
{
    static const struct http_header headers[] = {
        {"Accept", "application/json"},
    };
    struct http_ask ask = {
        .url = url,
        .headers = headers,
        .header_count = sizeof(headers) / sizeof(headers[0]),
        .total_ms = TOTAL_MS,
        .max_body = OAUTH_MAX_ANSWER,
    };
    return begin(client, &ask, answered, user, ret, failure);
}

int oauth_exchange_json(struct http_client *client, const char *url, struct acp_str body,
                        oauth_answered_fn *answered, void *user, struct oauth_exchange **ret,
                        struct acp_failure *failure)
{
    static const struct http_header headers[] = {
        {"Accept", "application/json"},
        {"Content-Type", "application/json"},
    };
    struct http_ask ask = {
        .url = url,
        .headers = headers,
        .header_count = sizeof(headers) / sizeof(headers[0]),
        .body = body,
        .total_ms = TOTAL_MS,
        .max_body = OAUTH_MAX_ANSWER,
    };
    return begin(client, &ask, answered, user, ret, failure);
}

/* "Basic " and the base64 of the percent-encoded id and secret (RFC 6749, section 2.3.1). */
static int write_basic(const struct oauth_grant *grant, struct acp_buf *out)
{
    struct acp_buf pair;
    struct acp_buf part;
    acp_buf_init(&pair, OAUTH_MAX_FORM);
    acp_buf_init(&part, OAUTH_MAX_FORM);
    /* Encoded as a form with the name "": what stands behind its '='. */
    int err = oauth_form_add(&part, "", grant->client_id);
    if (!err)
        err = acp_buf_append(&pair, acp_buf_view(&part).ptr + 1, part.len - 1);
    if (!err)
        err = acp_buf_append(&pair, ":", 1);
    acp_buf_clear(&part);
    if (!err)
        err = oauth_form_add(&part, "", grant->client_secret);
    if (!err)
        err = acp_buf_append(&pair, acp_buf_view(&part).ptr + 1, part.len - 1);
    if (!err)
        err = acp_buf_printf(out, "Basic ");
    if (!err)
        err = acp_base64_encode(out, acp_buf_view(&pair).ptr, pair.len);
    if (!err)
        err = acp_buf_append(out, "", 1);
    acp_buf_finish(&part);
    acp_buf_finish(&pair);
    return err;
}

int oauth_exchange_token(struct http_client *client, const struct oauth_grant *grant,
                         struct acp_buf *form, oauth_answered_fn *answered, void *user,
                         struct oauth_exchange **ret, struct acp_failure *failure)
{
    struct http_header headers[HEADERS] = {
        {"Accept", "application/json"},
        {"Content-Type", "application/x-www-form-urlencoded"},
    };
    size_t count = 2;
    struct acp_buf basic;
    struct acp_str url = grant->token_endpoint;
    char address[OAUTH_MAX_URL + 1];
    bool is_basic = acp_str_is(grant->client_auth, "client_secret_basic");
    acp_buf_init(&basic, OAUTH_MAX_FORM);
    int err = oauth_form_add(form, "resource", grant->resource);
    if (!err && is_basic)
        err = write_basic(grant, &basic);
    if (!err && is_basic)
        headers[count++] = (struct http_header){"Authorization", acp_buf_view(&basic).ptr};
    if (!err && !is_basic)
        err = oauth_form_add(form, "client_id", grant->client_id);
    if (!err && acp_str_is(grant->client_auth, "client_secret_post"))
        err = oauth_form_add(form, "client_secret", grant->client_secret);
    (void) snprintf(address, sizeof(address), "%.*s", ACP_ARG(url));
    struct http_ask ask = {
        .url = address,
        .headers = headers,
        .header_count = count,
        .body = acp_buf_view(form),
        .total_ms = TOTAL_MS,
        .max_body = OAUTH_MAX_ANSWER,
    };
    if (!err)
        err = begin(client, &ask, answered, user, ret, failure);
    if (basic.cap)
        explicit_bzero(basic.data, basic.cap);
    acp_buf_finish(&basic);
    return err;
}
