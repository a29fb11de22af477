/* A machine without libcurl: a sentence that says what to install. */
#include "http/http_client.h"
#include "test_io_host.h"

static void on_end(struct http_request *request, const struct http_end *end, void *user)
{
    (void) request;
    (void) end;
    (void) user;
    fail();
}

static void test_missing(void **state)
{
    struct host *host = *state;
    struct http_client *client = NULL;
    struct http_request *request = NULL;
    struct acp_failure failure = {0};
    struct http_client_options options = {.library = "libcurl-that-is-not-there.so"};
    struct http_handler handler = {.end = on_end};
    struct http_ask ask = {.url = "http://127.0.0.1:1/"};
    assert_int_equal(http_client_new(&host->loop, &options, &client), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(http_request_new(client, &ask, &handler, NULL, &request, &failure),
                         ACP_ERR_MISSING);
        assert_non_null(strstr(failure.message, "libcurl4"));
        assert_null(request);
    }
    http_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_missing, host_setup, host_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
