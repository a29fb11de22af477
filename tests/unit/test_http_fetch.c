/*
 * Fetches with a helper process, which is a shell that does as the case says.  There is no libcurl
 * here: an error that names it comes from a request that was made in this process.
 */
#include "http/fetch_text.h"
#include "test_io_host.h"

#define MISSING "libcurl4"

/* A helper that ended before it got its request would not be used at all. */
#define READ "head -c 1 >/dev/null; "

struct seen {
    int count;
    enum http_trouble trouble;
    int status;
    char sentence[400];
    char body[64];
};

struct world {
    struct host *host;
    struct http_client *client;
    struct seen seen;
    const char *helper[4];
};

static void on_fetched(struct http_fetch *fetch, const struct http_fetched *fetched, void *user)
{
    (void) fetch;
    struct seen *seen = user;
    seen->count++;
    seen->trouble = fetched->end.trouble;
    seen->status = fetched->end.status;
    (void) snprintf(seen->sentence, sizeof(seen->sentence), "%s", fetched->end.sentence);
    (void) snprintf(seen->body, sizeof(seen->body), "%.*s", (int) fetched->body.len,
                    fetched->body.ptr ? fetched->body.ptr : "");
}

static void begin(struct world *w, void **state, const char *program, const char *script)
{
    struct http_client_options options = {.library = "libcurl-that-is-not-there.so"};
    memset(w, 0, sizeof(*w));
    w->host = *state;
    w->helper[0] = program;
    w->helper[1] = "-c";
    w->helper[2] = script;
    options.helper = w->helper;
    assert_int_equal(http_client_new(&w->host->loop, &options, &w->client), 0);
}

static void end(struct world *w)
{
    http_client_free(w->client);
    (void) uv_run(&w->host->loop, UV_RUN_DEFAULT);
    assert_int_equal(acp_process_count(), 0);
}

static const struct http_ask usual = {.url = "http://127.0.0.1:1/models", .max_body = 100};

/* One fetch with such a helper, to its end. */
static struct seen fetch_by(void **state, const char *program, const char *script,
                            const struct http_ask *ask)
{
    struct world w;
    struct http_fetch *fetch = NULL;
    begin(&w, state, program, script);
    assert_int_equal(http_fetch_new(w.client, ask, on_fetched, &w.seen, &fetch, NULL), 0);
    assert_int_equal(w.seen.count, 0);
    while (!w.seen.count)
        (void) uv_run(&w.host->loop, UV_RUN_ONCE);
    http_fetch_free(fetch);
    end(&w);
    assert_int_equal(w.seen.count, 1);
    return w.seen;
}

/* ---- The helper answers ---------------------------------------------------------------------- */

static void test_answer(void **state)
{
    struct seen seen =
        fetch_by(state, "/bin/sh", READ "printf '0\\000404\\0005\\000\\000'; printf hello", &usual);
    assert_int_equal(seen.trouble, HTTP_DONE);
    assert_int_equal(seen.status, 404);
    assert_string_equal(seen.sentence, "");
    assert_string_equal(seen.body, "hello");
}

static void test_trouble(void **state)
{
    struct seen seen =
        fetch_by(state, "/bin/sh", READ "printf '4\\0000\\0000\\000nothing answers\\000'", &usual);
    assert_int_equal(seen.trouble, HTTP_REFUSED);
    assert_int_equal(seen.status, 0);
    assert_string_equal(seen.sentence, "nothing answers");
    assert_string_equal(seen.body, "");
}

/* Neither its arguments nor its environment have the request, its standard input has. */
static void test_request_by_pipe(void **state)
{
    static const char script[] = "word=$(dd bs=65536 count=1 2>/dev/null | tr '\\000' '\\n' | "
                                 "sed -n 7p)\n"
                                 "printf \"0\\000200\\000${#word}\\000\\000$word\"";
    const struct http_header header = {"Authorization", "Bearer secret-0123"};
    struct http_ask ask = usual;
    ask.headers = &header;
    ask.header_count = 1;
    struct seen seen = fetch_by(state, "/bin/sh", script, &ask);
    assert_string_equal(seen.body, "Bearer secret-0123");
}

/* ---- It does not ----------------------------------------------------------------------------- */

static void test_fall_back(void **state)
{
    static const char *const scripts[] = {
        READ "exit 0",
        READ "exit 7",
        READ "kill -9 $$",
        READ "printf '0\\000200\\0005\\000\\000hello'; exit 1",
        READ "printf '0\\000200\\0005\\000\\000hell'",
        READ "printf '0\\000200\\0005\\000\\000hello!'",
        READ "printf '0\\000200\\0005\\000'",
        READ "printf '99\\000200\\0000\\000\\000'",
        READ "printf '0\\000-1\\0000\\000\\000'",
        READ "printf '\\000200\\0000\\000\\000'",
        READ "echo hello",
        READ "while echo hello; do :; done", /* more than an answer can have */
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        struct seen seen = fetch_by(state, "/bin/sh", scripts[i], &usual);
        CHECK_ROW(seen.trouble == HTTP_BROKEN, i, "%s: %d", scripts[i], (int) seen.trouble);
        CHECK_ROW(strstr(seen.sentence, MISSING), i, "%s: %s", scripts[i], seen.sentence);
    }
}

static void test_late(void **state)
{
    struct http_ask ask = usual;
    ask.total_ms = 1;
    struct seen seen = fetch_by(state, "/bin/sh", "exec sleep 1000", &ask);
    assert_int_equal(seen.trouble, HTTP_SLOW);
    assert_string_equal(seen.sentence, "127.0.0.1:1 took too long");
}

static int fetch_error(struct world *w, const struct http_ask *ask, struct acp_failure *failure)
{
    struct http_fetch *fetch = NULL;
    int err = http_fetch_new(w->client, ask, on_fetched, &w->seen, &fetch, failure);
    assert_null(fetch);
    assert_int_equal(w->seen.count, 0);
    return err;
}

/* What is known at once is told at once. */
static void test_no_helper(void **state)
{
    struct world w;
    struct acp_failure failure = {0};
    begin(&w, state, "/there/is/no/such/program", "");
    assert_int_equal(fetch_error(&w, &usual, &failure), ACP_ERR_MISSING);
    assert_non_null(strstr(failure.message, MISSING));
    end(&w);
}

static void test_long_request(void **state)
{
    static char url[FETCH_MAX_ASK + 1];
    struct world w;
    struct http_ask ask = usual;
    begin(&w, state, "/bin/sh", "exec sleep 1000");
    memset(url, 'u', sizeof(url) - 1);
    ask.url = url;
    assert_int_equal(fetch_error(&w, &ask, NULL), ACP_ERR_MISSING);
    end(&w);
}

static void test_too_many(void **state)
{
    enum { HELPERS = 4 };
    struct world w;
    struct http_fetch *fetches[HELPERS];
    begin(&w, state, "/bin/sh", "exec sleep 1000");
    for (size_t i = 0; i < HELPERS; i++)
        assert_int_equal(http_fetch_new(w.client, &usual, on_fetched, &w.seen, &fetches[i], NULL),
                         0);
    assert_int_equal(acp_process_count(), HELPERS);
    assert_int_equal(fetch_error(&w, &usual, NULL), ACP_ERR_MISSING);
    /* There is room for another one when one has ended, and freeing ends it. */
    http_fetch_free(fetches[0]);
    assert_int_equal(http_fetch_new(w.client, &usual, on_fetched, &w.seen, &fetches[0], NULL), 0);
    for (size_t i = 0; i < HELPERS; i++)
        http_fetch_free(fetches[i]);
    end(&w);
    assert_int_equal(w.seen.count, 0);
}

static void test_wrong_request(void **state)
{
    struct world w;
    begin(&w, state, "/bin/sh", "exec sleep 1000");
    struct http_ask asks[] = {usual, usual, usual, usual};
    asks[0].method = "PUT";
    asks[1].body = acp_str_from("{}");
    asks[2].public_only = true;
    asks[3].max_body = 0;
    for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
        assert_int_equal(fetch_error(&w, &asks[i], NULL), ACP_ERR_ARGUMENT);
    end(&w);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static void test_texts(void **state)
{
    (void) state;
    const struct http_header headers[] = {{"A", "b: c\xff"}, {"Empty", ""}};
    const struct http_ask ask = {.url = "https://u:p@h/",
                                 .headers = headers,
                                 .header_count = 2,
                                 .connect_ms = 1,
                                 .stall_ms = UINT64_MAX,
                                 .total_ms = 0,
                                 .max_body = 20};
    struct http_header room[FETCH_MAX_HEADERS];
    struct http_ask read = {0};
    struct acp_buf text;
    acp_buf_init(&text, FETCH_MAX_ASK);
    assert_int_equal(fetch_write_ask(&ask, &text), 0);
    struct acp_str whole = acp_buf_view(&text);
    assert_int_equal(fetch_read_ask(whole, room, &read), 0);
    assert_string_equal(read.url, ask.url);
    assert_int_equal(read.connect_ms, 1);
    assert_true(read.stall_ms == UINT64_MAX);
    assert_int_equal(read.total_ms, 0);
    assert_int_equal(read.max_body, 20);
    assert_int_equal(read.header_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(read.headers[i].name, headers[i].name);
        assert_string_equal(read.headers[i].value, headers[i].value);
    }
    for (size_t n = 0; n < whole.len; n++)
        assert_int_equal(fetch_read_ask(acp_str_n(whole.ptr, n), room, &read), ACP_ERR_MALFORMED);
    acp_buf_finish(&text);
}

static void test_many_headers(void **state)
{
    (void) state;
    struct http_header headers[FETCH_MAX_HEADERS + 1];
    struct http_header room[FETCH_MAX_HEADERS];
    struct http_ask ask = usual;
    struct http_ask read = {0};
    struct acp_buf text;
    for (size_t i = 0; i <= FETCH_MAX_HEADERS; i++)
        headers[i] = (struct http_header){"N", "v"};
    ask.headers = headers;
    ask.header_count = FETCH_MAX_HEADERS + 1;
    acp_buf_init(&text, FETCH_MAX_ASK);
    assert_int_equal(fetch_write_ask(&ask, &text), ACP_ERR_LIMIT);
    acp_buf_clear(&text);
    ask.header_count = FETCH_MAX_HEADERS;
    assert_int_equal(fetch_write_ask(&ask, &text), 0);
    assert_int_equal(fetch_read_ask(acp_buf_view(&text), room, &read), 0);
    assert_int_equal(read.header_count, FETCH_MAX_HEADERS);
    /* One more, in place of the end. */
    text.len--;
    assert_int_equal(acp_buf_append(&text, "N\0v\0", sizeof("N\0v\0")), 0);
    assert_int_equal(fetch_read_ask(acp_buf_view(&text), room, &read), ACP_ERR_MALFORMED);
    acp_buf_finish(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answer, host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(test_trouble, host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(test_request_by_pipe, host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(test_fall_back, host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(test_late, host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(test_no_helper, host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(test_long_request, host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(test_too_many, host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(test_wrong_request, host_setup, host_teardown),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_many_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
