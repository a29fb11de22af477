/* What may be shown of URLs and arguments. */
#include "config/redact.h"

#include "helpers.h"

static void test_urls(void **state)
{
    (void) state;
    static const char *const rows[][2] = {
        {"https://a.b/mcp", "https://a.b/mcp"},
        {"https://a.b:8443/v1/mcp/", "https://a.b:8443/v1/mcp/"},
        {"https://me:SECRET@a.b/mcp", "https://(set)@a.b/mcp"},
        {"https://SECRET@a.b", "https://(set)@a.b"},
        {"https://me:SEC@RET@a.b", "https://(set)@a.b"},
        {"https://a.b/?token=SECRET", "https://a.b/?token=(set)"},
        {"https://a.b/x?a=SECRET&b=SECRET#SECRET", "https://a.b/x?a=(set)&b=(set)#(set)"},
        {"https://a.b?SECRET", "https://a.b?(set)"},
        {"https://a.b#SECRET", "https://a.b#(set)"},
        {"https://a.b/s/SECRET1234567890abcdef/mcp", "https://a.b/s/(set)/mcp"},
        {"https://a.b/s/sk-SECRET/mcp", "https://a.b/s/(set)/mcp"},
        {"https://a.b/s/SECRET%20x/mcp", "https://a.b/s/(set)/mcp"},
        {"https://[::1]:80/mcp", "https://[::1]:80/mcp"},
        {"", ""},
        {"://", "://"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_buf out;
        acp_buf_init(&out, 1000);
        assert_int_equal(redact_url(acp_str_from(rows[i][0]), &out), 0);
        CHECK_ROW(acp_str_is(acp_buf_view(&out), rows[i][1]), i, "%s -> %.*s", rows[i][0],
                  (int) out.len, out.len ? out.data + out.start : "");
        acp_buf_finish(&out);
    }
}

static void test_arguments(void **state)
{
    (void) state;
    static const char *const rows[][3] = {
        /* Nothing to hide. */
        {NULL, "-y", "-y"},
        {"-y", "@modelcontextprotocol/server-filesystem@2025.8.21",
         "@modelcontextprotocol/server-filesystem@2025.8.21"},
        {"x", "/home/me/projects/some-long-name-with-2024",
         "/home/me/projects/some-long-name-with-2024"},
        {"x", "--stdio", "--stdio"},
        {"--port", "8080", "8080"},
        {"--verbose", "run", "run"},
        {"x", "--model=gpt-5", "--model=gpt-5"},
        /* Options. */
        {"--token", "SECRET", "(set)"},
        {"--api-key", "SECRET", "(set)"},
        {"--apiKey", "SECRET", "(set)"},
        {"-k", "SECRET", "(set)"},
        {"-u", "me:SECRET", "me: (set)"},
        {"--password", "SECRET", "(set)"},
        {"--client-secret", "SECRET", "(set)"},
        {"x", "--token=SECRET", "--token=(set)"},
        {"x", "--api_key=SECRET=SECRET", "--api_key=(set)"},
        {"x", "-pSECRET", "-p(set)"},
        {"--token", "--next", "--next"},
        {"--token=x", "run", "run"},
        /* Headers and variables. */
        {"-H", "Authorization: Bearer SECRET", "Authorization: (set)"},
        {"--header", "X-Api-Key:SECRET", "X-Api-Key: (set)"},
        {"x", "Authorization: Bearer SECRET", "Authorization: (set)"},
        {"x", "X-Auth-Token:SECRET", "X-Auth-Token: (set)"},
        {"-e", "GITHUB_TOKEN=SECRET", "GITHUB_TOKEN=(set)"},
        {"x", "NAME=SECRET", "NAME=(set)"},
        {"x", "--env=NAME=SECRET", "--env=(set)"},
        {"x", "Bearer SECRET", "(set)"},
        /* URLs. */
        {"x", "https://me:SECRET@a.b/?k=SECRET", "https://(set)@a.b/?k=(set)"},
        {"x", "--url=https://a.b/?k=SECRET", "--url=https://a.b/?k=(set)"},
        {"x", "postgresql://me:SECRET@a.b/db", "postgresql://(set)@a.b/db"},
        /* By their looks. */
        {"x", "sk-SECRET", "(set)"},
        {"x", "ghp_SECRET", "(set)"},
        {"x", "eyJSECRET", "(set)"},
        {"x", "SECRETSECRET12345678", "(set)"},
        {"x", "--thing=SECRETSECRET12345678", "--thing=(set)"},
        {"x", "0123456789abcdef0123456789abcdef", "(set)"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_buf out;
        acp_buf_init(&out, 1000);
        assert_int_equal(redact_argument(rows[i][0], acp_str_from(rows[i][1]), &out), 0);
        CHECK_ROW(acp_str_is(acp_buf_view(&out), rows[i][2]), i, "%s -> %.*s", rows[i][1],
                  (int) out.len, out.len ? out.data + out.start : "");
        acp_buf_finish(&out);
    }
}

static void test_list(void **state)
{
    (void) state;
    struct acp_arena arena;
    const char *const arguments[] = {"run", "--token", "SECRET", "https://a@b/?c=d", NULL};
    const char *const expected[] = {"run", "--token", "(set)", "https://(set)@b/?c=(set)"};
    acp_arena_init(&arena, 0);
    const char *const *shown = redact_arguments(&arena, arguments);
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_string_equal(shown[i], expected[i]);
    assert_null(shown[COUNT(expected)]);
    acp_arena_finish(&arena);
}

static void test_json(void **state)
{
    (void) state;
    static const char *const rows[][2] = {
        {"{\"a\":[1,true,null,\"token\"],\"text\":\"sk-said\"}",
         "{\"a\":[1,true,null,\"token\"],\"text\":\"sk-said\"}"},
        {"{\"env\":[{\"name\":\"A\",\"value\":\"SECRET\"}]}",
         "{\"env\":[{\"name\":\"A\",\"value\":\"(set)\"}]}"},
        {"{\"env\":{\"A\":\"SECRET\"}}", "{\"env\":{\"A\":\"(set)\"}}"},
        {"{\"env\":[\"A=SECRET\"]}", "{\"env\":[\"(set)\"]}"},
        {"{\"headers\":{\"x\":{\"y\":[\"SECRET\"]}}}", "{\"headers\":{\"x\":{\"y\":[\"(set)\"]}}}"},
        {"{\"args\":[\"--token\",\"SECRET\",\"x\"]}", "{\"args\":[\"--token\",\"(set)\",\"x\"]}"},
        {"{\"args\":[\"--token\",\"-SECRET_x\",\"--token\",\"x-SECRET\",\"--token\",\"--ver\"]}",
         "{\"args\":[\"--token\",\"(set)\",\"--token\",\"(set)\",\"--token\",\"--ver\"]}"},
        {"{\"url\":\"https://a.b/?k=SECRET\"}", "{\"url\":\"https://a.b/?k=(set)\"}"},
        {"{\"baseUrl\":\"https://u:SECRET@a.b\"}", "{\"baseUrl\":\"https://(set)@a.b\"}"},
        {"{\"APIKEY\":\"SECRET\",\"api_key\":[\"SECRET\"]}",
         "{\"APIKEY\":\"(set)\",\"api_key\":[\"(set)\"]}"},
        {"{\"password\":1234,\"credentials\":[5,{\"pin\":6}],\"n\":7}",
         "{\"password\":\"(set)\",\"credentials\":[\"(set)\",{\"pin\":\"(set)\"}],\"n\":7}"},
        {"\"x\"", "\"x\""},
        {"[]", "[]"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_buf out;
        struct acp_arena arena;
        acp_arena_init(&arena, 0);
        acp_buf_init(&out, 1000);
        assert_int_equal(redact_json(acp_raw_n(rows[i][0], strlen(rows[i][0])), &arena, &out), 0);
        CHECK_ROW(acp_str_is(acp_buf_view(&out), rows[i][1]), i, "%s -> %.*s", rows[i][0],
                  (int) out.len, out.data + out.start);
        acp_buf_finish(&out);
        acp_arena_finish(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_urls), cmocka_unit_test(test_json),
                                       cmocka_unit_test(test_arguments),
                                       cmocka_unit_test(test_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
