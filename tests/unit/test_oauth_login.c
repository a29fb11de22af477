/*
 * Logins and refreshes against a server that answers by a script, which is MCP server and
 * authorization server in one.
 */
#include "oauth/oauth.h"
#include "test_web.h"

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
#define NOT_FOUND "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
#define MAX_SCRIPT 8

struct world {
    struct host *host;
    struct web web;
    struct http_client *http;
    struct oauth_login *login;
    struct oauth_refresh *refresh;
    char script[MAX_SCRIPT][2000];
    size_t script_count;
    int authorized;
    int done;
    bool has_grant;
    bool is_final;
    char url[4000];
    char why[700];
    char grant[4000];
};

static void begin(struct world *w, void **state)
{
    memset(w, 0, sizeof(*w));
    w->host = *state;
    web_start(&w->web, &w->host->loop);
    assert_int_equal(http_client_new(&w->host->loop, NULL, &w->http), 0);
}

static void end(struct world *w)
{
    oauth_login_free(w->login);
    oauth_refresh_free(w->refresh);
    http_client_free(w->http);
    web_stop(&w->web, &w->host->loop);
    (void) uv_run(&w->host->loop, UV_RUN_DEFAULT);
}

/* One more answer; each '$' in the body is the address of the server. */
static void answers(struct world *w, const char *head, const char *body)
{
    char *out = w->script[w->script_count];
    size_t n = (size_t) snprintf(out, sizeof(w->script[0]), "%s", head);
    while (*body) {
        size_t plain = strcspn(body, "$");
        assert_true(n + plain + sizeof(w->web.url) < sizeof(w->script[0]));
        n += (size_t) snprintf(out + n, sizeof(w->script[0]) - n, "%.*s%s", (int) plain, body,
                               body[plain] ? w->web.url : "");
        body += plain + (body[plain] != 0);
    }
    (void) web_answers(&w->web, w->script[w->script_count++]);
}

static void keep_grant(struct world *w, const struct oauth_grant *grant, const char *why)
{
    struct acp_buf text;
    acp_buf_init(&text, OAUTH_MAX_GRANT);
    w->done++;
    w->has_grant = grant != NULL;
    (void) snprintf(w->why, sizeof(w->why), "%s", why ? why : "");
    if (grant)
        assert_int_equal(oauth_grant_write(grant, &text), 0);
    (void) snprintf(w->grant, sizeof(w->grant), "%.*s", ACP_ARG(acp_buf_view(&text)));
    acp_buf_finish(&text);
}

static void on_authorize(struct oauth_login *login, const char *url, void *user)
{
    struct world *w = user;
    (void) login;
    w->authorized++;
    (void) snprintf(w->url, sizeof(w->url), "%s", url);
}

static void on_done(struct oauth_login *login, const struct oauth_grant *grant, const char *why,
                    void *user)
{
    struct world *w = user;
    keep_grant(w, grant, why);
    oauth_login_free(login);
    w->login = NULL;
}

static const struct oauth_login_handler handler = {on_authorize, on_done};

static int login_with(struct world *w, struct oauth_login_options options,
                      struct acp_failure *failure)
{
    char url[100];
    (void) snprintf(url, sizeof(url), "%s/mcp", w->web.url);
    if (!options.url.ptr)
        options.url = acp_str_from(url);
    options.redirect_uri = acp_str_from("http://127.0.0.1:1/callback");
    options.client_name = acp_str_from("acp");
    return oauth_login_new(w->http, &options, &handler, w, &w->login, failure);
}

static void login(struct world *w)
{
    assert_int_equal(login_with(w, (struct oauth_login_options){0}, NULL), 0);
}

static void wait_authorized(struct world *w)
{
    web_run_until(&w->host->loop, &w->authorized);
    assert_int_equal(w->done, 0);
}

static void wait_done(struct world *w)
{
    web_run_until(&w->host->loop, &w->done);
}

static void fails_with(struct world *w, const char *why)
{
    wait_done(w);
    assert_false(w->has_grant);
    if (!strstr(w->why, why))
        fail_msg("%s", w->why);
}

/* The value of a parameter of the URL for the browser, as it is written there. */
static const char *parameter(struct world *w, const char *name, char ret[200])
{
    char word[64];
    (void) snprintf(word, sizeof(word), "%s=", name);
    const char *at = strstr(w->url, word);
    assert_non_null(at);
    (void) snprintf(ret, 200, "%.*s", (int) strcspn(at + strlen(word), "&"), at + strlen(word));
    return ret;
}

/* The browser returns with the state of this login and more. */
static int redirect(struct world *w, const char *more)
{
    char state[200];
    char url[1000];
    (void) snprintf(url, sizeof(url), "http://127.0.0.1:1/callback?state=%s%s",
                    parameter(w, "state", state), more);
    return oauth_login_redirected(w->login, acp_str_from(url), NULL);
}

#define RESOURCE "{\"resource\":\"$/mcp\",\"authorization_servers\":[\"$\"]}"
#define SERVER_BUT_PKCE(issuer)                                                                    \
    "{\"issuer\":\"" issuer "\",\"authorization_endpoint\":\"$/authorize\","                       \
    "\"token_endpoint\":\"$/token\",\"registration_endpoint\":\"$/register\","                     \
    "\"token_endpoint_auth_methods_supported\":[\"none\"]"
#define PKCE ",\"code_challenge_methods_supported\":[\"S256\"]"
#define SERVER SERVER_BUT_PKCE("$") PKCE "}"
#define CLIENT "{\"client_id\":\"client-1\"}"
#define TOKENS                                                                                     \
    "{\"access_token\":\"at-1\",\"refresh_token\":\"rt-1\",\"token_type\":\"Bearer\",\"expires_"   \
    "in\":3600}"

static void to_the_browser(struct world *w)
{
    answers(w, HEAD, RESOURCE);
    answers(w, HEAD, SERVER);
    answers(w, HEAD, CLIENT);
    answers(w, HEAD, TOKENS);
    login(w);
    wait_authorized(w);
}

/* ---- Success --------------------------------------------------------------------------------- */

static void a_whole_login(void **state)
{
    struct world w;
    char text[200];
    begin(&w, state);
    to_the_browser(&w);
    assert_non_null(
        strstr(web_request(&w.web, 0), "GET /.well-known/oauth-protected-resource/mcp "));
    assert_non_null(strstr(web_request(&w.web, 1), "GET /.well-known/oauth-authorization-server "));
    assert_non_null(strstr(web_request(&w.web, 2), "POST /register "));
    assert_non_null(strstr(web_request(&w.web, 2), "\"http://127.0.0.1:1/callback\""));
    assert_int_equal(strlen(parameter(&w, "state", text)), 43);
    assert_int_equal(strlen(parameter(&w, "code_challenge", text)), 43);
    assert_string_equal(parameter(&w, "code_challenge_method", text), "S256");
    assert_string_equal(parameter(&w, "client_id", text), "client-1");
    assert_null(strstr(w.url, "scope="));
    assert_int_equal(redirect(&w, "&code=abc%2F1"), 0);
    wait_done(&w);
    assert_true(w.has_grant);
    const char *asked = web_request(&w.web, 3);
    assert_non_null(strstr(asked, "POST /token "));
    assert_non_null(strstr(asked, "grant_type=authorization_code&code=abc%2F1&redirect_uri="));
    assert_non_null(strstr(asked, "&code_verifier="));
    assert_non_null(strstr(asked, "&resource=http%3A%2F%2F127.0.0.1"));
    assert_non_null(strstr(asked, "&client_id=client-1"));
    assert_non_null(strstr(w.grant, "\"access_token\":\"at-1\""));
    assert_non_null(strstr(w.grant, "\"refresh_token\":\"rt-1\""));
    end(&w);
}

static void a_server_without_metadata(void **state)
{
    struct world w;
    begin(&w, state);
    for (int i = 0; i < 4; i++)
        answers(&w, NOT_FOUND, "");
    answers(&w, HEAD, CLIENT);
    login(&w);
    wait_authorized(&w);
    assert_non_null(strstr(web_request(&w.web, 1), "GET /.well-known/oauth-protected-resource "));
    assert_non_null(strstr(web_request(&w.web, 3), "GET /.well-known/openid-configuration "));
    assert_non_null(strstr(web_request(&w.web, 4), "POST /register "));
    assert_non_null(strstr(w.url, "/authorize?response_type=code&"));
    end(&w);
}

static void more_scope_is_added_to_what_was_granted(void **state)
{
    struct world w;
    char text[200];
    begin(&w, state);
    answers(&w, HEAD, RESOURCE);
    answers(&w, HEAD, SERVER_BUT_PKCE("$") PKCE ",\"scopes_supported\":[\"offline_access\"]}");
    assert_int_equal(login_with(&w,
                                (struct oauth_login_options){
                                    .challenge.scope = ACP_STR("read write"),
                                    .earlier_scope = ACP_STR("read other"),
                                    .client_id = ACP_STR("mine"),
                                },
                                NULL),
                     0);
    wait_authorized(&w);
    assert_string_equal(parameter(&w, "scope", text), "read%20other%20write%20offline_access");
    assert_string_equal(parameter(&w, "client_id", text), "mine");
    end(&w);
}

static void a_client_with_a_secret_authenticates_itself(void **state)
{
    struct world w;
    begin(&w, state);
    answers(&w, HEAD, RESOURCE);
    answers(&w, HEAD,
            "{\"issuer\":\"$\",\"authorization_endpoint\":\"$/a\",\"token_endpoint\":\"$/t\"" PKCE
            "}");
    answers(&w, HEAD, TOKENS);
    assert_int_equal(login_with(&w,
                                (struct oauth_login_options){.client_id = ACP_STR("a b"),
                                                             .client_secret = ACP_STR("s:1")},
                                NULL),
                     0);
    wait_authorized(&w);
    assert_int_equal(redirect(&w, "&code=1"), 0);
    wait_done(&w);
    assert_true(w.has_grant);
    /* "a%20b:s%3A1" */
    assert_non_null(strstr(web_request(&w.web, 2), "Authorization: Basic YSUyMGI6cyUzQTE=\r\n"));
    assert_null(strstr(web_request(&w.web, 2), "client_secret="));
    end(&w);
}

/* ---- Attacks and failures -------------------------------------------------------------------- */

static void metadata_of_another_server_is_refused(void **state)
{
    struct world w;
    begin(&w, state);
    answers(&w, HEAD,
            "{\"resource\":\"https://bank.example/mcp\",\"authorization_servers\":[\"$\"]}");
    login(&w);
    fails_with(&w, "is about another server, bank.example");
    end(&w);
}

static void another_issuer_is_refused(void **state)
{
    struct world w;
    begin(&w, state);
    answers(&w, HEAD, RESOURCE);
    answers(&w, HEAD, SERVER_BUT_PKCE("https://bank.example") PKCE "}");
    login(&w);
    fails_with(&w, "names another issuer");
    end(&w);
}

static void without_pkce_there_is_no_login(void **state)
{
    struct world w;
    begin(&w, state);
    answers(&w, HEAD, RESOURCE);
    answers(&w, HEAD, SERVER_BUT_PKCE("$") "}");
    login(&w);
    fails_with(&w, "PKCE");
    end(&w);
}

static void endpoints_must_be_safe(void **state)
{
    static const char *const bad[] = {"http://login.example/token", "javascript:alert(1)",
                                      "https://user@login.example/", ""};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct world w;
        char server[600];
        begin(&w, state);
        (void) snprintf(server, sizeof(server),
                        "{\"issuer\":\"$\",\"authorization_endpoint\":\"%s\",\"token_endpoint\":"
                        "\"$/token\"" PKCE "}",
                        bad[i]);
        answers(&w, HEAD, RESOURCE);
        answers(&w, HEAD, server);
        login(&w);
        wait_done(&w);
        assert_false(w.has_grant);
        assert_int_equal(w.authorized, 0);
        end(&w);
    }
}

static void only_the_answer_to_this_login_counts(void **state)
{
    struct world w;
    struct acp_failure failure = {0};
    begin(&w, state);
    to_the_browser(&w);
    static const char *const others[] = {"code=1", "code=1&state=", "code=1&state=guess", "",
                                         "http://127.0.0.1:1/callback?code=1&state=x"};
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_int_equal(oauth_login_redirected(w.login, acp_str_from(others[i]), &failure),
                         ACP_ERR_ARGUMENT);
        assert_true(*failure.message);
    }
    assert_int_equal(w.done, 0);
    assert_int_equal(redirect(&w, "&code=1"), 0);
    /* The second time it does not wait any more. */
    assert_int_equal(redirect(&w, "&code=2"), ACP_ERR_STATE);
    wait_done(&w);
    assert_true(w.has_grant);
    end(&w);
}

static void the_answer_must_come_from_the_issuer(void **state)
{
    for (int named = 0; named < 2; named++) {
        struct world w;
        begin(&w, state);
        answers(&w, HEAD, RESOURCE);
        answers(&w, HEAD,
                named ? SERVER_BUT_PKCE("$") PKCE
                    ",\"authorization_response_iss_parameter_supported\":true}"
                      : SERVER);
        answers(&w, HEAD, CLIENT);
        login(&w);
        wait_authorized(&w);
        assert_int_equal(redirect(&w, named ? "&code=1" : "&code=1&iss=https%3A%2F%2Fevil"), 0);
        fails_with(&w, "does not come from the authorization server");
        assert_int_equal(w.web.request_count, 3);
        end(&w);
    }
}

static void a_refusal_is_told(void **state)
{
    struct world w;
    begin(&w, state);
    to_the_browser(&w);
    assert_int_equal(redirect(&w, "&error=access_denied&error_description=Not+you"), 0);
    fails_with(&w, "access_denied: Not you");
    end(&w);
}

static void answers_that_are_not_valid(void **state)
{
    static const char *const bodies[] = {"", "[]", "{", "{\"access_token\":\"a\\nb\"}"};
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct world w;
        begin(&w, state);
        answers(&w, HEAD, RESOURCE);
        answers(&w, HEAD, SERVER);
        answers(&w, HEAD, CLIENT);
        answers(&w, HEAD, bodies[i]);
        login(&w);
        wait_authorized(&w);
        assert_int_equal(redirect(&w, "&code=1"), 0);
        wait_done(&w);
        assert_false(w.has_grant);
        assert_true(*w.why);
        end(&w);
    }
}

static void urls_that_cannot_be_used(void **state)
{
    struct world w;
    struct acp_failure failure = {0};
    begin(&w, state);
    struct oauth_login_options options = {.url = ACP_STR("http://mcp.example/mcp")};
    assert_int_equal(login_with(&w, options, &failure), ACP_ERR_ARGUMENT);
    assert_non_null(strstr(failure.message, "https"));
    options = (struct oauth_login_options){
        .url = ACP_STR("https://mcp.example/mcp"),
        .challenge.metadata_url = ACP_STR("http://127.0.0.1:1/admin"),
    };
    assert_int_equal(login_with(&w, options, &failure), ACP_ERR_ARGUMENT);
    assert_int_equal(w.web.request_count, 0);
    end(&w);
}

/* ---- Refreshing ------------------------------------------------------------------------------ */

static void on_refreshed(struct oauth_refresh *refresh, const struct oauth_grant *grant,
                         bool is_final, const char *why, void *user)
{
    struct world *w = user;
    (void) refresh;
    w->is_final = is_final;
    keep_grant(w, grant, why);
}

static void refresh(struct world *w)
{
    char token[100];
    struct oauth_grant grant = {
        .resource = ACP_STR("https://r"),
        .client_id = ACP_STR("c"),
        .access_token = ACP_STR("old"),
        .refresh_token = ACP_STR("rt-1"),
    };
    (void) snprintf(token, sizeof(token), "%s/token", w->web.url);
    grant.token_endpoint = acp_str_from(token);
    grant.issuer = acp_str_from(w->web.url);
    assert_int_equal(oauth_refresh_new(w->http, &grant, on_refreshed, w, &w->refresh, NULL), 0);
    wait_done(w);
}

static void a_refresh_keeps_what_is_left_out(void **state)
{
    struct world w;
    begin(&w, state);
    answers(&w, HEAD, "{\"access_token\":\"new\",\"token_type\":\"Bearer\"}");
    refresh(&w);
    assert_true(w.has_grant);
    assert_non_null(strstr(w.grant, "\"access_token\":\"new\""));
    assert_non_null(strstr(w.grant, "\"refresh_token\":\"rt-1\""));
    const char *asked = web_request(&w.web, 0);
    assert_non_null(strstr(
        asked, "grant_type=refresh_token&refresh_token=rt-1&resource=https%3A%2F%2Fr&client_id=c"));
    end(&w);
}

static void a_refresh_says_whether_it_is_the_end(void **state)
{
    static const struct {
        const char *head, *body;
        bool is_final;
    } rows[] = {
        {"HTTP/1.1 400 Bad\r\nConnection: close\r\n\r\n", "{\"error\":\"invalid_grant\"}", true},
        {"HTTP/1.1 400 Bad\r\nConnection: close\r\n\r\n", "{\"error\":\"slow_down\"}", false},
        {"HTTP/1.1 503 Busy\r\nConnection: close\r\n\r\n", "", false},
        {HEAD, "{}", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct world w;
        begin(&w, state);
        answers(&w, rows[i].head, rows[i].body);
        refresh(&w);
        CHECK_ROW(!w.has_grant && w.is_final == rows[i].is_final && *w.why, i, "%s", w.why);
        end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        host_test(a_whole_login),
        host_test(a_server_without_metadata),
        host_test(more_scope_is_added_to_what_was_granted),
        host_test(a_client_with_a_secret_authenticates_itself),
        host_test(metadata_of_another_server_is_refused),
        host_test(another_issuer_is_refused),
        host_test(without_pkce_there_is_no_login),
        host_test(endpoints_must_be_safe),
        host_test(only_the_answer_to_this_login_counts),
        host_test(the_answer_must_come_from_the_issuer),
        host_test(a_refusal_is_told),
        host_test(answers_that_are_not_valid),
        host_test(urls_that_cannot_be_used),
        host_test(a_refresh_keeps_what_is_left_out),
        host_test(a_refresh_says_whether_it_is_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
