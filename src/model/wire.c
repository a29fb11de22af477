/* A reply over HTTP: attempts, the answer of each, and when to try again. */
#include <stdio.h>
#include <stdlib.h>

#include "model/reply.h"
#include "model/text_find.h"

enum {
    ATTEMPTS = 5,
    BACKOFF_MS = 1000,
    MAX_WAIT_MS = 60 * 1000,
    MAX_ANSWER = 128 * 1024 * 1024, /* bytes on the wire */
};

/* ---- Trying again ---------------------------------------------------------------------------- */

static void fail(struct model_reply *reply, const char *sentence)
{
    reply_end(reply, MODEL_ERROR, sentence, false,
              service_says_too_long(acp_str_from(sentence)) && !reply->stream.told);
}

static void on_wait_over(uv_timer_t *timer)
{
    struct model_reply *reply = timer->data;
    struct acp_failure failure = {0};
    int err = reply_attempt(reply, &failure);
    if (err)
        fail(reply, *failure.message ? failure.message : acp_err_text(err));
}

/* Twice as long each time, and a little more, so that not all come back together. */
static uint64_t backoff(const struct model_reply *reply, uint64_t most)
{
    uint64_t wait = reply->service->settings.backoff_ms;
    wait = wait ? wait : (uint64_t) BACKOFF_MS;
    for (unsigned i = 1; i < reply->attempt && wait < most; i++)
        wait *= 2;
    wait += uv_hrtime() / 1000 % (wait / 4 + 1);
    return wait < most ? wait : most;
}

static void tell_retry(struct model_reply *reply, const char *why, uint64_t wait, unsigned attempts)
{
    char sentence[700];
    (void) snprintf(sentence, sizeof(sentence), "%s, trying again in %llu s", why,
                    (unsigned long long) (wait + 999) / 1000);
    service_redact(reply->service, sentence);
    struct model_retry retry = {
        .sentence = sentence,
        .wait_ms = wait,
        .attempt = reply->attempt + 1,
        .attempts = attempts,
    };
    if (reply->handler.retry)
        reply->handler.retry(reply, &retry, reply->user);
}

static unsigned attempts_of(const struct model_reply *reply)
{
    unsigned attempts = reply->service->settings.attempts;
    return attempts ? attempts : (unsigned) ATTEMPTS;
}

/*
 * Another attempt, or the end when there were too many.  wait is what the server asks for, or
 * NULL.
 */
static void try_within(struct model_reply *reply, const char *why, const uint64_t *wait,
                       unsigned attempts)
{
    const struct model_settings *settings = &reply->service->settings;
    uint64_t most = settings->max_wait_ms ? settings->max_wait_ms : (uint64_t) MAX_WAIT_MS;
    uint64_t pause = wait ? *wait : backoff(reply, most);
    char sentence[700];
    http_request_free(reply->request);
    reply->request = NULL;
    bool told = reply->stream.told || reply->has_former;
    if (reply->attempt >= attempts) {
        (void) snprintf(sentence, sizeof(sentence), "%s%s, also after %u attempts%s", why,
                        told ? " in the middle of the answer" : "", reply->attempt,
                        told ? "; what came until then is kept" : "");
        fail(reply, reply->attempt > 1 ? sentence : why);
    } else if (pause > most) {
        (void) snprintf(sentence, sizeof(sentence), "%s, and asks to wait for %llu s", why,
                        (unsigned long long) pause / 1000);
        fail(reply, sentence);
    } else {
        (void) uv_timer_start(&reply->timer, on_wait_over, pause, 0);
        tell_retry(reply, why, pause, attempts);
    }
}

static void try_again(struct model_reply *reply, const char *why, const uint64_t *wait)
{
    try_within(reply, why, wait, attempts_of(reply));
}

/* Each silence has taken minutes: after the second nobody wants to wait any longer. */
static void try_once_more(struct model_reply *reply, const char *why)
{
    unsigned attempts = attempts_of(reply);
    try_within(reply, why, NULL, attempts < 2 ? attempts : 2);
}

/* ---- What comes ------------------------------------------------------------------------------ */

/* An error that came in the stream. */
static void take_fault(struct model_reply *reply)
{
    const struct model_stream *s = &reply->stream;
    char sentence[600];
    const char *name = reply->service->name;
    if (*s->sentence)
        (void) snprintf(sentence, sizeof(sentence), "%s reports an error (%s)", name, s->sentence);
    else
        (void) snprintf(sentence, sizeof(sentence), "%s reports an error", name);
    if (s->fault == FAULT_BUSY)
        try_again(reply, sentence, NULL);
    else
        reply_end(reply, MODEL_ERROR, sentence, s->fault == FAULT_AUTH,
                  service_says_too_long(acp_str_from(s->sentence)));
}

/* False when the reply goes no further. */
static bool take_events(struct model_reply *reply)
{
    struct http_sse_event event;
    int some;
    while ((some = http_sse_next(&reply->sse, &event)) > 0) {
        struct model_stream *s = &reply->stream;
        dialect_event(reply->service->dialect, s, event.data);
        if (reply->over || reply->cancelled)
            return false;
        if (s->err)
            fail(reply, stream_err_text(s->err));
        else if (s->fault)
            take_fault(reply);
        else if (s->is_complete && s->has_stop)
            reply_complete(reply);
        else
            continue;
        return false;
    }
    if (some < 0)
        fail(reply,
             some == ACP_ERR_LIMIT ? "an event of the answer is too large" : acp_err_text(some));
    return some == 0;
}

static void on_head(struct http_request *request, int status, void *user)
{
    struct model_reply *reply = user;
    struct acp_str type = http_request_header(request, "content-type");
    reply->streaming = status >= 200 && status < 300 && text_has(type, "event-stream");
}

static void on_body(struct http_request *request, struct acp_str piece, void *user)
{
    (void) request;
    struct model_reply *reply = user;
    if (reply->over || reply->cancelled)
        return;
    if (!reply->streaming) {
        size_t room = reply->complaint.max - reply->complaint.len;
        piece.len = piece.len < room ? piece.len : room;
        (void) acp_buf_append_str(&reply->complaint, piece);
        return;
    }
    http_sse_feed(&reply->sse, piece);
    (void) take_events(reply);
}

/* All of an answer that is no stream. */
static void take_answer(struct model_reply *reply, int status)
{
    struct service_answer answer = {.status = status, .body = acp_buf_view(&reply->complaint)};
    uint64_t wait = 0;
    bool has_wait = http_request_retry_after(reply->request, &wait);
    if ((status == 400 || status == 422) && !service_says_too_long(answer.body)) {
        bool again = reply_repair(reply, answer.body);
        if (reply->over || reply->cancelled)
            return;
        if (again) {
            http_request_free(reply->request);
            reply->request = NULL;
            (void) uv_timer_start(&reply->timer, on_wait_over, 0, 0);
            return;
        }
    }
    service_read_answer(reply->service, &answer);
    if (!has_wait && answer.has_wait) {
        has_wait = true;
        wait = answer.wait_ms;
    }
    if (answer.is_busy)
        try_again(reply, answer.sentence, has_wait ? &wait : NULL);
    else
        reply_end(reply, MODEL_ERROR, answer.sentence, answer.is_auth, answer.is_too_long);
}

static void on_end(struct http_request *request, const struct http_end *end, void *user)
{
    (void) request;
    struct model_reply *reply = user;
    char sentence[600];
    if (end->trouble == HTTP_DONE && reply->streaming) {
        http_sse_end(&reply->sse);
        if (!take_events(reply))
            return;
    }
    if (reply->streaming && reply->stream.has_stop &&
        (end->trouble == HTTP_DONE || end->trouble == HTTP_BROKEN)) {
        reply_complete(reply); /* without the last formality */
    } else if (end->trouble == HTTP_DONE && reply->streaming) {
        (void) snprintf(sentence, sizeof(sentence), "the answer of %s broke off",
                        reply->service->name);
        try_again(reply, sentence, NULL);
    } else if (end->trouble == HTTP_DONE) {
        take_answer(reply, end->status);
    } else if (end->trouble == HTTP_STALLED || end->trouble == HTTP_SLOW) {
        (void) snprintf(sentence, sizeof(sentence), "%s", end->sentence);
        try_once_more(reply, sentence);
    } else if (end->trouble == HTTP_BROKEN) {
        (void) snprintf(sentence, sizeof(sentence), "%s", end->sentence);
        try_again(reply, sentence, NULL);
    } else {
        (void) snprintf(sentence, sizeof(sentence), "%s%s", end->sentence,
                        reply->stream.told ? ", in the middle of the answer" : "");
        fail(reply, sentence);
    }
}

/* ---- An attempt ------------------------------------------------------------------------------ */

int reply_attempt(struct model_reply *reply, struct acp_failure *failure)
{
    static const struct http_handler handler = {on_head, on_body, on_end};
    const struct model_service *service = reply->service;
    struct service_headers headers;
    int err = reply->begun ? reply_start_over(reply) : 0;
    if (err)
        return err;
    reply->begun = true;
    reply->attempt++;
    err = service_headers(service, &headers);
    if (!err) {
        struct http_ask ask = {
            .method = "POST",
            .url = acp_buf_view(&reply->url).ptr,
            .headers = headers.items,
            .header_count = headers.count,
            .body = acp_buf_view(&reply->body),
            .connect_ms = service->settings.connect_ms,
            .stall_ms = service->settings.stall_ms,
            .max_body = MAX_ANSWER,
        };
        err = http_request_new(service->client, &ask, &handler, reply, &reply->request, failure);
    }
    service_headers_finish(&headers);
    if (!err && reply->paused)
        http_request_pause(reply->request);
    return err;
}
