/* Whole answers over HTTP: streams, attempts, errors in words, keys that are seen by nobody. */
#include "test_model_world.h"

/* ---- Good answers ---------------------------------------------------------------------------- */

static void test_chat(void **state)
{
    struct world w;
    begin(&w, state, MODEL_CHAT);
    struct web_answer *answer = web_answers(&w.web, STREAM_HEAD CHAT("Hel"));
    answer->pieces[1] = CHAT("lo") "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,"
                                   "\"completion_tokens\":10}}\n\n" CHAT_END;
    answer->delay_ms = 5;
    answer->then = WEB_STALL; /* [DONE] is enough */
    ask_and_wait(&w);
    assert_string_equal(test_cstr(&w.log), "Hello<Hello>");
    assert_int_equal(w.stop, MODEL_END);
    assert_string_equal(w.sentence, "");
    assert_int_equal(w.usage.input, 100);
    assert_int_equal(w.usage.window, 1000);
    assert_true(w.usage.cost.value > 0.000299 && w.usage.cost.value < 0.000301);
    const char *request = web_request(&w.web, 0);
    assert_non_null(strstr(request, "POST /chat/completions HTTP/1.1\r\n"));
    assert_non_null(strstr(request, "Authorization: Bearer " KEY "\r\n"));
    assert_non_null(strstr(request, "{\"model\":\"m\",\"stream\":true"));
    end(&w);
}

/* The same small answer by each API, with the key where it wants it. */
static void test_each_api(void **state)
{
    static const struct {
        enum model_api api;
        const char *stream;
        const char *path;
        const char *header;
    } rows[] = {
        {MODEL_ANTHROPIC,
         "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
         "\"text\":\"Hello\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
         "\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
         "POST /v1/messages HTTP", "x-api-key: " KEY "\r\n"},
        {MODEL_CHAT, CHAT("Hello") CHAT_END, "POST /chat/completions HTTP",
         "Authorization: Bearer " KEY "\r\n"},
        {MODEL_RESPONSES,
         "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hello\"}\n\n"
         "data: {\"type\":\"response.completed\",\"response\":{}}\n\n",
         "POST /responses HTTP", "Authorization: Bearer " KEY "\r\n"},
        {MODEL_GEMINI,
         "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hello\"}]},"
         "\"finishReason\":\"STOP\"}]}\r\n\r\n",
         "POST /v1beta/models/m:streamGenerateContent?alt=sse HTTP", "x-goog-api-key: " KEY "\r\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        begin(&w, state, rows[i].api);
        struct web_answer *answer = web_answers(&w.web, STREAM_HEAD);
        answer->pieces[1] = rows[i].stream;
        ask_and_wait(&w);
        CHECK_ROW(strcmp(test_cstr(&w.log), "Hello<Hello>") == 0, i, "%s", test_cstr(&w.log));
        CHECK_ROW(w.stop == MODEL_END, i, "%s", w.sentence);
        CHECK_ROW(strstr(web_request(&w.web, 0), rows[i].path), i, "%s", web_request(&w.web, 0));
        CHECK_ROW(strstr(web_request(&w.web, 0), rows[i].header), i, "%s", rows[i].header);
        end(&w);
    }
}

/* An end without the last formality, also of a connection that breaks then. */
static void test_end_without_done(void **state)
{
    static const char *const heads[] = {
        STREAM_HEAD,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n",
    };
    for (size_t i = 0; i < COUNT(heads); i++) {
        struct world w;
        begin(&w, state, MODEL_CHAT);
        struct web_answer *answer = web_answers(&w.web, heads[i]);
        answer->pieces[1] =
            CHAT("a") "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n";
        ask_and_wait(&w);
        assert_int_equal(w.stop, MODEL_MAX_TOKENS);
        assert_string_equal(test_cstr(&w.log), "a<a>");
        end(&w);
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void test_errors(void **state)
{
    static const struct {
        const char *answer;
        const char *sentence;
        bool is_auth;
        bool is_too_long;
    } rows[] = {
        {ERROR_ANSWER("401", "", "{\"error\":{\"message\":\"Wrong key " KEY ".\"}}"),
         "Test does not accept the key: please check it (Wrong key [key].)", true, false},
        {ERROR_ANSWER("401", "", "{\"error\":{\"message\":\"Wrong: sk-test-****cdef, ok\"}}"),
         "Test does not accept the key: please check it (Wrong: [key], ok)", true, false},
        {ERROR_ANSWER("403", "", "{\"message\":\"not you\"}"),
         "Test does not allow this with this key (not you)", true, false},
        {ERROR_ANSWER("404", "", "{\"detail\":\"no model\"}"),
         "Test does not know this model, or the base URL is wrong (no model)", false, false},
        {ERROR_ANSWER("400", "", "{\"error\":{\"message\":\"prompt is too long: 9 > 8\"}}"),
         "Test does not take the request (prompt is too long: 9 > 8)", false, true},
        {ERROR_ANSWER("400", "", "[{\"error\":{\"message\":\"two\\nlines\"}}]"),
         "Test does not take the request (two lines)", false, false},
        {ERROR_ANSWER("429", "", "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"e\"}}"),
         "Test is busy, or the limit of the key is reached (e)", false, false},
        {ERROR_ANSWER("413", "", ""), "the conversation is too large for Test (status 413)", false,
         true},
        {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n\n <html>",
         "Test answers with a web page instead of JSON (status 200): is the base URL right?", false,
         false},
        {"HTTP/1.1 302 F\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
         "Test answers with something unexpected (status 302)", false, false},
        {ERROR_ANSWER("200", "", "{\"choices\":[]}"),
         "Test answers with something unexpected (status 200)", false, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        begin(&w, state, MODEL_CHAT);
        web_answers(&w.web, rows[i].answer);
        ask_and_wait(&w);
        CHECK_ROW(w.stop == MODEL_ERROR && w.retries == 0, i, "%s", w.sentence);
        CHECK_ROW(strcmp(w.sentence, rows[i].sentence) == 0, i, "%s", w.sentence);
        CHECK_ROW(w.is_auth == rows[i].is_auth, i, "%s", w.sentence);
        CHECK_ROW(w.is_too_long == rows[i].is_too_long, i, "%s", w.sentence);
        end(&w);
    }
}

static void test_stall(void **state)
{
    struct world w;
    begin(&w, state, MODEL_CHAT);
    struct web_answer *answer = web_answers(&w.web, STREAM_HEAD CHAT("a"));
    answer->then = WEB_STALL;
    ask_and_wait(&w);
    assert_int_equal(w.stop, MODEL_ERROR);
    assert_int_equal(w.retries, 1);
    assert_non_null(strstr(w.sentence, "nothing came from 127.0.0.1:"));
    assert_non_null(strstr(w.sentence, "in the middle of the answer"));
    assert_string_equal(test_cstr(&w.log), "a<a>");
    end(&w);
}

static void test_refused(void **state)
{
    struct world w;
    begin(&w, state, MODEL_CHAT);
    model_service_free(w.service);
    struct model_settings settings = {
        .api = MODEL_CHAT, .base_url = "http://127.0.0.1:1/v1/", .model = "m", .key = KEY};
    assert_int_equal(model_service_new(&w.host->loop, w.client, &settings, &w.service, NULL), 0);
    assert_string_equal(model_service_name(w.service), "127.0.0.1:1");
    ask_and_wait(&w);
    assert_int_equal(w.stop, MODEL_ERROR);
    assert_int_equal(w.retries, 0);
    assert_non_null(strstr(w.sentence, "nothing answers at 127.0.0.1:1"));
    end(&w);
}

static void test_refused_conversations(void **state)
{
    struct world w;
    struct acp_failure failure;
    begin(&w, state, MODEL_ANTHROPIC);
    struct model_part audio = {.kind = MODEL_AUDIO};
    struct model_part call = {.kind = MODEL_CALL, .id = ACP_STR("1"), .name = ACP_STR("x")};
    struct model_part result = {.kind = MODEL_RESULT, .id = ACP_STR("2")};
    struct model_message with_audio = {MODEL_USER, &audio, 1};
    struct model_message calls[] = {{MODEL_ASSISTANT, &call, 1}, {MODEL_USER, &result, 1}};
    struct model_message of_user = {MODEL_USER, &call, 1};
    const struct {
        struct model_ask ask;
        const char *sentence;
    } rows[] = {
        {{.messages = NULL}, "no message"},
        {{.messages = &with_audio, .message_count = 1}, "no audio"},
        {{.messages = calls, .message_count = 1}, "no result"},
        {{.messages = calls, .message_count = 2}, "no result"},
        {{.messages = &of_user, .message_count = 1}, "part of the assistant"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int err = model_ask(w.service, &rows[i].ask, &handler, &w, &w.reply, &failure);
        CHECK_ROW(err == ACP_ERR_ARGUMENT, i, "%d", err);
        CHECK_ROW(strstr(failure.message, rows[i].sentence), i, "%s", failure.message);
    }
    assert_null(w.reply);
    assert_int_equal(model_service_set_model(w.service, acp_str_from("")), 0);
    assert_int_equal(model_ask(w.service, &question, &handler, &w, &w.reply, &failure),
                     ACP_ERR_ARGUMENT);
    struct model_service *none = NULL;
    struct model_settings settings = {.api = MODEL_CHAT, .base_url = "ftp://" KEY};
    assert_int_equal(model_service_new(&w.host->loop, w.client, &settings, &none, &failure),
                     ACP_ERR_ARGUMENT);
    assert_null(strstr(failure.message, KEY));
    end(&w);
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

static void test_cancel_at_any_time(void **state)
{
    for (int turns = 0; turns < 14; turns++) {
        struct world w;
        begin(&w, state, MODEL_CHAT);
        struct web_answer *answer = web_answers(&w.web, STREAM_HEAD);
        answer->pieces[1] = CHAT("a");
        answer->then = WEB_STALL;
        ask(&w);
        for (int i = 0; i < turns; i++)
            (void) uv_run(&w.host->loop, UV_RUN_NOWAIT);
        model_reply_cancel(w.reply);
        model_reply_cancel(w.reply);
        assert_int_equal(w.ends, 0);
        web_run_until(&w.host->loop, &w.ends);
        assert_int_equal(w.stop, MODEL_CANCELLED);
        host_run_for(&w.host->loop, 5);
        assert_int_equal(w.ends, 1);
        end(&w);
    }
}

static void test_cancel_inside(void **state)
{
    for (int where = 0; where < 4; where++) {
        struct world w;
        begin(&w, state, MODEL_CHAT);
        if (where == 2)
            web_answers(&w.web, ERROR_ANSWER("503", "", ""));
        web_answers(&w.web, STREAM_HEAD CHAT("a") CHAT("b") CHAT_END);
        w.cancel_in_text = where == 0;
        w.free_in_text = where == 1;
        w.cancel_in_retry = where == 2;
        w.free_in_end = where == 3;
        ask(&w);
        host_run_for(&w.host->loop, 60);
        static const char *const logs[] = {"a<a>", "a", "", "ab<ab>"};
        assert_string_equal(test_cstr(&w.log), logs[where]);
        assert_int_equal(w.ends, where == 1 ? 0 : 1);
        if (where != 1)
            assert_int_equal(w.stop, where == 3 ? MODEL_END : MODEL_CANCELLED);
        end(&w);
    }
}

static void test_pause(void **state)
{
    struct world w;
    begin(&w, state, MODEL_CHAT);
    struct web_answer *answer = web_answers(&w.web, STREAM_HEAD);
    answer->pieces[1] = CHAT("a") CHAT_END;
    ask(&w);
    model_reply_pause(w.reply);
    host_run_for(&w.host->loop, 50);
    assert_int_equal(w.log.len, 0);
    model_reply_resume(w.reply);
    web_run_until(&w.host->loop, &w.ends);
    assert_string_equal(test_cstr(&w.log), "a<a>");
    end(&w);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void on_listed(struct model_list *list, const struct model_row *rows, size_t count,
                      const char *sentence, void *user)
{
    struct world *w = user;
    w->ends++;
    (void) snprintf(w->sentence, sizeof(w->sentence), "%s", sentence);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(acp_buf_printf(&w->log, "%.*s|%.*s|%llu;", (int) rows[i].id.len,
                                        rows[i].id.ptr, (int) rows[i].name.len,
                                        rows[i].name.ptr ? rows[i].name.ptr : "",
                                        (unsigned long long) rows[i].window),
                         0);
    if (!rows)
        assert_int_equal(acp_buf_printf(&w->log, "none"), 0);
    model_list_free(list);
}

static void test_list(void **state)
{
    static const struct {
        enum model_api api;
        const char *answer;
        const char *path;
        const char *log;
        const char *sentence;
    } rows[] = {
        {MODEL_ANTHROPIC,
         ERROR_ANSWER("200", "",
                      "{\"data\":[{\"id\":\"claude-x\",\"display_name\":\"Claude X\","
                      "\"max_input_tokens\":5}]}"),
         "GET /v1/models?limit=1000 HTTP", "claude-x|Claude X|5;", ""},
        {MODEL_CHAT,
         ERROR_ANSWER("200", "",
                      "{\"object\":\"list\",\"data\":[{\"id\":\"a\",\"context_length\":7,"
                      "\"pricing\":{\"prompt\":\"0.000001\",\"completion\":\"0.000002\"}},"
                      "{\"id\":\"b\"},{\"no\":1}]}"),
         "GET /models HTTP", "a||7;b||0;", ""},
        {MODEL_GEMINI,
         ERROR_ANSWER("200", "",
                      "{\"models\":[{\"name\":\"models/g\",\"displayName\":\"G\","
                      "\"inputTokenLimit\":9,\"supportedGenerationMethods\":[\"generateContent\"]},"
                      "{\"name\":\"models/e\",\"supportedGenerationMethods\":[\"embed\"]}]}"),
         "GET /v1beta/models?pageSize=1000 HTTP", "g|G|9;", ""},
        {MODEL_CHAT, ERROR_ANSWER("401", "", "{\"error\":{\"message\":\"" KEY "\"}}"), "GET",
         "none", "Test does not accept the key: please check it ([key])"},
        {MODEL_CHAT, ERROR_ANSWER("200", "", "<html>"), "GET", "none",
         "Test answers with a web page instead of JSON (status 200): is the base URL right?"},
        {MODEL_CHAT, ERROR_ANSWER("200", "", "{\"data\":{}}"), "GET", "none",
         "Test answers with something unexpected (status 200)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        struct model_list *list = NULL;
        begin(&w, state, rows[i].api);
        web_answers(&w.web, rows[i].answer);
        assert_int_equal(model_list_new(w.service, on_listed, &w, &list, NULL), 0);
        web_run_until(&w.host->loop, &w.ends);
        CHECK_ROW(strcmp(test_cstr(&w.log), rows[i].log) == 0, i, "%s", test_cstr(&w.log));
        CHECK_ROW(strcmp(w.sentence, rows[i].sentence) == 0, i, "%s", w.sentence);
        CHECK_ROW(strstr(web_request(&w.web, 0), rows[i].path), i, "%s", web_request(&w.web, 0));
        end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(test_chat),
        host_test(test_each_api),
        host_test(test_end_without_done),
        host_test(test_errors),
        host_test(test_stall),
        host_test(test_refused),
        host_test(test_refused_conversations),
        host_test(test_cancel_at_any_time),
        host_test(test_cancel_inside),
        host_test(test_pause),
        host_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
