/*
 * test_model_world.h - a model service at the server of the test, and what a reply tells of itself.
 */
#ifndef TESTS_UNIT_TEST_MODEL_WORLD_H
#define TESTS_UNIT_TEST_MODEL_WORLD_H

#include "http/http_client.h"
#include "model/dialect.h"
#include "test_web.h"

#define KEY "sk-test-0123456789abcdef"
#define STREAM_HEAD                                                                                \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define CHAT(text) "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define CHAT_END                                                                                   \
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
#define ERROR_ANSWER(status, headers, body)                                                        \
    "HTTP/1.1 " status " X\r\nContent-Type: application/json\r\nConnection: close\r\n" headers     \
    "\r\n" body

struct world {
    struct host *host;
    struct web web;
    struct http_client *client;
    struct model_service *service;
    struct model_reply *reply;
    struct acp_buf log;
    int ends;
    int retries;
    enum model_stop stop;
    bool is_auth;
    bool is_too_long;
    char sentence[800];
    char retry_sentence[800];
    uint64_t retry_wait;
    struct model_usage usage;
    int notices;
    char notice[800];
    bool is_stripped;
    bool cancel_in_text;
    bool free_in_text;
    bool free_in_end;
    bool cancel_in_retry;
};

static void on_text(struct model_reply *reply, struct acp_str piece, void *user)
{
    struct world *w = user;
    assert_int_equal(acp_buf_append_str(&w->log, piece), 0);
    if (w->cancel_in_text)
        model_reply_cancel(reply);
    if (w->free_in_text) {
        model_reply_free(reply);
        w->reply = NULL;
    }
}

static void on_call(struct model_reply *reply, const struct model_part *call, void *user)
{
    (void) reply;
    struct world *w = user;
    assert_int_equal(acp_buf_printf(&w->log, "[%.*s]", (int) call->name.len, call->name.ptr), 0);
}

static void on_dropped(struct model_reply *reply, const struct model_part *call, void *user)
{
    (void) reply;
    struct world *w = user;
    assert_int_equal(acp_buf_printf(&w->log, "[-%.*s %.*s]", (int) call->name.len, call->name.ptr,
                                    (int) call->id.len, call->id.ptr),
                     0);
}

static void on_notice(struct model_reply *reply, const char *sentence, void *user)
{
    (void) reply;
    struct world *w = user;
    w->notices++;
    (void) snprintf(w->notice, sizeof(w->notice), "%s", sentence);
    if (strstr(sentence, "differs"))
        assert_int_equal(acp_buf_append_str(&w->log, acp_str_from("[!]")), 0);
}

static void on_retry(struct model_reply *reply, const struct model_retry *retry, void *user)
{
    struct world *w = user;
    w->retries++;
    w->retry_wait = retry->wait_ms;
    assert_int_equal(retry->attempt, w->retries + 1);
    (void) snprintf(w->retry_sentence, sizeof(w->retry_sentence), "%s", retry->sentence);
    if (w->cancel_in_retry)
        model_reply_cancel(reply);
}

static void on_end(struct model_reply *reply, const struct model_end *end, void *user)
{
    struct world *w = user;
    w->ends++;
    w->stop = end->stop;
    w->is_auth = end->is_auth;
    w->is_too_long = end->is_too_long;
    w->is_stripped = end->is_stripped;
    w->usage = end->usage;
    (void) snprintf(w->sentence, sizeof(w->sentence), "%s", end->sentence);
    for (size_t i = 0; i < end->part_count; i++) {
        struct acp_str text = end->parts[i].text;
        assert_int_equal(acp_buf_printf(&w->log, "<%.*s>", (int) text.len, text.ptr), 0);
    }
    if (w->free_in_end) {
        model_reply_free(reply);
        w->reply = NULL;
    }
}

static const struct model_handler handler = {
    .text = on_text,
    .call = on_call,
    .retry = on_retry,
    .call_dropped = on_dropped,
    .notice = on_notice,
    .end = on_end,
};

static const struct model_part hello = {.kind = MODEL_TEXT, .text = ACP_STR("Hi")};
static const struct model_message greeting = {MODEL_USER, &hello, 1};
static const struct model_ask question = {.messages = &greeting, .message_count = 1};

static void begin(struct world *w, void **state, enum model_api api)
{
    memset(w, 0, sizeof(*w));
    w->host = *state;
    acp_buf_init(&w->log, MIB(1));
    web_start(&w->web, &w->host->loop);
    assert_int_equal(http_client_new(&w->host->loop, NULL, &w->client), 0);
    static const struct model_fact_row rows[] = {
        {"m*", {.price = {2, 10, 2, 2}, .has_price = true}}};
    static const struct model_table facts = {rows, 1};
    struct model_settings settings = {
        .api = api,
        .name = "Test",
        .base_url = w->web.url,
        .key = KEY,
        .model = "m",
        .backoff_ms = 4,
        .stall_ms = 300,
        .attempts = 3,
        .facts = &facts,
        .window = 1000,
    };
    assert_int_equal(model_service_new(&w->host->loop, w->client, &settings, &w->service, NULL), 0);
}

static void ask(struct world *w)
{
    assert_int_equal(model_ask(w->service, &question, &handler, w, &w->reply, NULL), 0);
    assert_int_equal(w->ends, 0);
}

static void end(struct world *w)
{
    model_reply_free(w->reply);
    model_service_free(w->service);
    http_client_free(w->client);
    web_stop(&w->web, &w->host->loop);
    (void) uv_run(&w->host->loop, UV_RUN_DEFAULT);
    assert_null(strstr(test_cstr(&w->log), KEY));
    assert_null(strstr(w->sentence, "sk-test"));
    assert_null(strstr(w->retry_sentence, "sk-test"));
    acp_buf_finish(&w->log);
}

static void ask_and_wait(struct world *w)
{
    ask(w);
    web_run_until(&w->host->loop, &w->ends);
}

#endif
