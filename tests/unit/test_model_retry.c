/* Answers that break off, requests that are refused: what is tried again, and what is shown. */
#include "test_model_world.h"

/* ---- Trying again ---------------------------------------------------------------------------- */

static void test_retries(void **state)
{
    static const char *const failures[] = {
        ERROR_ANSWER("429", "Retry-After: 0\r\n", "{\"error\":{\"message\":\"slow down\"}}"),
        ERROR_ANSWER("500", "", "{}"),
        ERROR_ANSWER("529", "", "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"o\"}}"),
        ERROR_ANSWER("408", "", ""),
        ERROR_ANSWER("503", "", "<html>down</html>"),
        STREAM_HEAD "data: {\"error\":{\"type\":\"server_error\",\"message\":\"oh\"}}\n\n",
        STREAM_HEAD, /* ends before it has begun */
        STREAM_HEAD "data: {\"choi\n\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\n",
        "",
        ERROR_ANSWER("429", "",
                     "{\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"0.004s\"}]}}"),
    };
    for (size_t i = 0; i < COUNT(failures); i++) {
        struct world w;
        begin(&w, state, MODEL_CHAT);
        web_answers(&w.web, failures[i]);
        web_answers(&w.web, STREAM_HEAD CHAT("fine") CHAT_END);
        ask_and_wait(&w);
        CHECK_ROW(w.stop == MODEL_END, i, "%s", w.sentence);
        CHECK_ROW(w.retries == 1, i, "%d", w.retries);
        CHECK_ROW(strstr(w.retry_sentence, ", trying again in "), i, "%s", w.retry_sentence);
        CHECK_ROW(strcmp(test_cstr(&w.log), "fine<fine>") == 0, i, "%s", test_cstr(&w.log));
        end(&w);
    }
}

static void test_gives_up(void **state)
{
    struct world w;
    begin(&w, state, MODEL_CHAT);
    web_answers(&w.web, ERROR_ANSWER("503", "", "{\"error\":{\"message\":\"down\"}}"));
    ask_and_wait(&w);
    assert_int_equal(w.web.request_count, 3);
    assert_int_equal(w.retries, 2);
    assert_true(w.retry_wait >= 8); /* twice the first */
    assert_int_equal(w.stop, MODEL_ERROR);
    assert_string_equal(w.sentence, "Test has a problem (down), also after 3 attempts");
    end(&w);
}

static void test_retry_after(void **state)
{
    struct world w;
    begin(&w, state, MODEL_CHAT);
    web_answers(&w.web, ERROR_ANSWER("429", "retry-after-ms: 60\r\n", "{}"));
    web_answers(&w.web, STREAM_HEAD CHAT("x") CHAT_END);
    uint64_t start = host_now();
    ask_and_wait(&w);
    assert_int_equal(w.retry_wait, 60);
    assert_true(host_now() - start >= 59);
    assert_string_equal(w.retry_sentence, "Test is busy, or the limit of the key is reached "
                                          "(status 429), trying again in 1 s");
    end(&w);
    /* Nobody waits for an hour. */
    begin(&w, state, MODEL_CHAT);
    web_answers(&w.web, ERROR_ANSWER("429", "Retry-After: 3600\r\n", "{}"));
    ask_and_wait(&w);
    assert_int_equal(w.stop, MODEL_ERROR);
    assert_int_equal(w.retries, 0);
    assert_non_null(strstr(w.sentence, "asks to wait for 3600 s"));
    end(&w);
}

/* Breaks that come behind the first words. */
static const char *const broken_streams[] = {
    STREAM_HEAD CHAT("half"),
    STREAM_HEAD CHAT("half") "data: {\"error\":{\"type\":\"server_error\"}}\n\n",
    STREAM_HEAD CHAT("half") "data: nonsense\n\n",
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 999\r\n\r\n" CHAT(
        "half"),
};

/* What was shown is not shown again, and what is kept is the whole answer. */
static void test_retry_after_text(void **state)
{
    for (size_t i = 0; i < COUNT(broken_streams); i++) {
        struct world w;
        begin(&w, state, MODEL_CHAT);
        web_answers(&w.web, broken_streams[i]);
        web_answers(&w.web, STREAM_HEAD CHAT("ha") CHAT("lf and half") CHAT_END);
        ask_and_wait(&w);
        CHECK_ROW(w.stop == MODEL_END && w.retries == 1, i, "%s", w.sentence);
        CHECK_ROW(w.notices == 0, i, "%s", w.notice);
        CHECK_ROW(strcmp(test_cstr(&w.log), "half and half<half and half>") == 0, i, "%s",
                  test_cstr(&w.log));
        assert_string_equal(strstr(web_request(&w.web, 0), "\r\n\r\n"),
                            strstr(web_request(&w.web, 1), "\r\n\r\n"));
        end(&w);
    }
}

/* An answer that goes another way is shown from its beginning, and the user is told. */
static void test_retry_differs(void **state)
{
    static const struct {
        const char *first;
        const char *second;
        const char *log;
    } rows[] = {
        {CHAT("half"), CHAT("ha") CHAT("ppy"), "half[!]\n\nhappy<happy>"},
        {CHAT("half"), CHAT("whole"), "half[!]\n\nwhole<whole>"},
        {CHAT("half"), CHAT("ha"), "half[!]\n\nha<ha>"},
        {CHAT("half"), "", "half[!]"},
        {CHAT("\\u00e9t\\u00e9"), CHAT("\\u00e9t\\u00e8"),
         "\u00e9t\u00e9[!]\n\n\u00e9t\u00e8<\u00e9t\u00e8>"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        begin(&w, state, MODEL_CHAT);
        struct web_answer *answer = web_answers(&w.web, STREAM_HEAD);
        answer->pieces[1] = rows[i].first;
        answer = web_answers(&w.web, STREAM_HEAD);
        answer->pieces[1] = rows[i].second;
        answer->pieces[2] = CHAT_END;
        ask_and_wait(&w);
        CHECK_ROW(w.stop == MODEL_END && w.retries == 1, i, "%s", w.sentence);
        CHECK_ROW(strcmp(test_cstr(&w.log), rows[i].log) == 0, i, "%s", test_cstr(&w.log));
        CHECK_ROW(w.notices == 1 && strstr(w.notice, "differs"), i, "%s", w.notice);
        end(&w);
    }
}

/* When no attempt reaches the end, what people have seen is kept. */
static void test_all_attempts_break(void **state)
{
    for (size_t i = 0; i < COUNT(broken_streams); i++) {
        struct world w;
        begin(&w, state, MODEL_CHAT);
        web_answers(&w.web, broken_streams[i]);
        web_answers(&w.web, STREAM_HEAD);
        web_answers(&w.web, STREAM_HEAD CHAT("ha"));
        ask_and_wait(&w);
        CHECK_ROW(w.stop == MODEL_ERROR && w.retries == 2, i, "%s", w.sentence);
        CHECK_ROW(strstr(w.sentence, "in the middle of the answer, also after 3 attempts"), i, "%s",
                  w.sentence);
        CHECK_ROW(strcmp(test_cstr(&w.log), "half<half>") == 0, i, "%s", test_cstr(&w.log));
        end(&w);
    }
}

/* Calls of an attempt that broke off do not count. */
static void test_retry_drops_calls(void **state)
{
#define CHAT_CALL(id)                                                                              \
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"" id                    \
    "\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]}}]}\n\n"
    struct world w;
    begin(&w, state, MODEL_CHAT);
    web_answers(&w.web, STREAM_HEAD CHAT_CALL("a"));
    web_answers(&w.web, STREAM_HEAD CHAT_CALL("b") CHAT_END);
    ask_and_wait(&w);
    assert_int_equal(w.stop, MODEL_CALLS);
    assert_string_equal(test_cstr(&w.log), "[-run a][run]<>");
    end(&w);
}

/* ---- Requests that are changed --------------------------------------------------------------- */

static const struct model_tool two_tools[] = {
    {ACP_STR("good"), ACP_STR("Good."), {"{}", 2}},
    {ACP_STR("bad"), ACP_STR("Bad."), {"{}", 2}},
};

static void ask_with_tools(struct world *w)
{
    struct model_ask with = question;
    with.tools = two_tools;
    with.tool_count = 2;
    w->ends = 0;
    model_reply_free(w->reply);
    assert_int_equal(model_ask(w->service, &with, &handler, w, &w->reply, NULL), 0);
    web_run_until(&w->host->loop, &w->ends);
}

/* A tool that is refused is left out, from then on. */
static void test_refused_tool(void **state)
{
    static const struct {
        enum model_api api;
        const char *message;
    } rows[] = {
        {MODEL_CHAT, "Invalid schema for function 'bad': no type"},
        {MODEL_CHAT, "tools[1].function.parameters: no"},
        {MODEL_RESPONSES, "Invalid schema for function 'bad': no type"},
        {MODEL_ANTHROPIC, "tools.1.custom.input_schema: input_schema does not support oneOf"},
        {MODEL_GEMINI, "GenerateContentRequest.tools[0].function_declarations[1].name: no"},
    };
    static const char *const ends[] = {
        [MODEL_CHAT] = CHAT_END,
        [MODEL_RESPONSES] = "data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
        [MODEL_ANTHROPIC] = ("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                             "\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"),
        [MODEL_GEMINI] = "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        char refusal[400];
        begin(&w, state, rows[i].api);
        (void) snprintf(refusal, sizeof(refusal),
                        ERROR_ANSWER("400", "", "{\"error\":{\"message\":\"%s\"}}"),
                        rows[i].message);
        web_answers(&w.web, refusal);
        struct web_answer *answer = web_answers(&w.web, STREAM_HEAD);
        answer->pieces[1] = ends[rows[i].api];
        ask_with_tools(&w);
        CHECK_ROW(w.stop == MODEL_END && w.retries == 0, i, "%s", w.sentence);
        CHECK_ROW(w.notices == 1 && strstr(w.notice, "the tool \"bad\""), i, "%s", w.notice);
        ask_with_tools(&w);
        CHECK_ROW(w.web.request_count == 3, i, "%zu", w.web.request_count);
        for (size_t k = 0; k < 3; k++) {
            CHECK_ROW(strstr(web_request(&w.web, k), "\"good\""), i, "%zu", k);
            CHECK_ROW(!strstr(web_request(&w.web, k), "\"bad\"") == (k > 0), i, "%zu", k);
        }
        end(&w);
    }
}

/* Reasoning that is refused is left out, once; and the agent is told to forget it. */
static void test_refused_reasoning(void **state)
{
    struct world w;
    char origin[80];
    struct model_part said[2] = {{.kind = MODEL_THOUGHT, .text = ACP_STR("hm")},
                                 {.kind = MODEL_TEXT, .text = ACP_STR("Yes")}};
    struct model_message talk[] = {greeting, {MODEL_ASSISTANT, said, 2}, greeting};
    begin(&w, state, MODEL_ANTHROPIC);
    (void) snprintf(origin, sizeof(origin), "anthropic@%08llx m",
                    (unsigned long long) (dialect_hash(acp_str_from(w.web.url)) & 0xffffffff));
    said[0].sealed = (struct model_sealed){acp_str_from(origin), acp_raw_from("\"sig\"")};
    web_answers(&w.web, ERROR_ANSWER("400", "",
                                     "{\"error\":{\"message\":\"messages.1.content.0: Invalid "
                                     "`signature` in `thinking` block\"}}"));
    struct model_ask asked = {.messages = talk, .message_count = 3};
    assert_int_equal(model_ask(w.service, &asked, &handler, &w, &w.reply, NULL), 0);
    web_run_until(&w.host->loop, &w.ends);
    assert_int_equal(w.web.request_count, 2);
    assert_non_null(strstr(web_request(&w.web, 0), "\"signature\":\"sig\""));
    assert_null(strstr(web_request(&w.web, 1), "sig"));
    assert_non_null(strstr(web_request(&w.web, 1), "\"Yes\""));
    assert_int_equal(w.stop, MODEL_ERROR); /* it is refused again, for the same reason */
    assert_true(w.is_stripped);
    assert_int_equal(w.notices, 1);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(test_retries),           host_test(test_gives_up),
        host_test(test_retry_after),       host_test(test_retry_after_text),
        host_test(test_retry_differs),     host_test(test_all_attempts_break),
        host_test(test_retry_drops_calls), host_test(test_refused_tool),
        host_test(test_refused_reasoning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
