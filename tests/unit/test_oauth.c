/* OAuth without a network: challenges, URLs, forms, metadata, tokens and grants. */
#include "helpers.h"
#include "oauth/oauth_internal.h"

static struct acp_arena arena;

static int setup(void **state)
{
    (void) state;
    acp_arena_init(&arena, 0);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    acp_arena_finish(&arena);
    return 0;
}

#define oauth_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static bool same(struct acp_str text, const char *expected)
{
    return expected ? text.ptr && acp_str_is(text, expected) : !text.ptr;
}

/* ---- Challenges ------------------------------------------------------------------------------ */

static void challenges_are_read(void **state)
{
    static const struct {
        const char *header;
        bool is_bearer;
        const char *url, *scope, *error;
    } rows[] = {
        {"Bearer", true, NULL, NULL, NULL},
        {"bearer realm=\"x\"", true, NULL, NULL, NULL},
        {"Bearer resource_metadata=\"https://a/m\", scope=\"r w\", error=invalid_token", true,
         "https://a/m", "r w", "invalid_token"},
        {"Bearer SCOPE = \"a \\\"b\\\"\" ,", true, NULL, "a \"b\"", NULL},
        {"Basic realm=\"scope\", Bearer scope=x", true, NULL, "x", NULL},
        {"Negotiate dG9rZW4=, Bearer scope=x", true, NULL, "x", NULL},
        {"Negotiate, Bearer scope=x", true, NULL, "x", NULL},
        {"Bearer scope=x, DPoP scope=y, error=z", true, NULL, "x", NULL},
        {"Basic scope=x", false, NULL, NULL, NULL},
        {"Bearer scope=\"open", false, NULL, NULL, NULL},
        {"Bearer scope=", true, NULL, NULL, NULL}, /* credentials, by the grammar */
        {"Bearer realm=x, scope=", false, NULL, NULL, NULL},
        {"Bearer scope=\"a\\", false, NULL, NULL, NULL},
        {"=x", false, NULL, NULL, NULL},
        {"", false, NULL, NULL, NULL},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct oauth_challenge c = {0};
        bool is_bearer = oauth_challenge_read(acp_str_from(rows[i].header), &arena, &c);
        CHECK_ROW(is_bearer == rows[i].is_bearer, i, "%s", rows[i].header);
        CHECK_ROW(!is_bearer || same(c.metadata_url, rows[i].url), i, "url");
        CHECK_ROW(!is_bearer || same(c.scope, rows[i].scope), i, "scope");
        CHECK_ROW(!is_bearer || same(c.error, rows[i].error), i, "error");
    }
}

static void a_challenge_is_limited(void **state)
{
    char header[OAUTH_MAX_CHALLENGE + 2];
    struct oauth_challenge c;
    (void) state;
    memset(header, ' ', sizeof(header));
    memcpy(header, "Bearer", 6);
    assert_true(oauth_challenge_read(acp_str_n(header, OAUTH_MAX_CHALLENGE), &arena, &c));
    assert_false(oauth_challenge_read(acp_str_n(header, OAUTH_MAX_CHALLENGE + 1), &arena, &c));
}

/* ---- URLs ------------------------------------------------------------------------------------ */

static void only_safe_urls_are_used(void **state)
{
    static const char far[] = "https://mcp.example/mcp";
    static const char near[] = "http://127.0.0.1:8000/mcp";
    static const struct {
        const char *url;
        bool from_far, from_near;
    } rows[] = {
        {"https://login.example/authorize?x=1", true, true},
        {"HTTPS://login.example", true, true},
        {"http://login.example/", false, false},
        {"http://127.0.0.1:9/", false, true},
        {"http://localhost/", false, true},
        {"https://127.0.0.1/", false, true},
        {"https://user@login.example/", false, false},
        {"https://login.example/#f", false, false},
        {"https://login.example/a b", false, false},
        {"https://login.example:0/", false, false},
        {"https:///x", false, false},
        {"javascript:alert(1)", false, false},
        {"file:///etc/passwd", false, false},
        {"https://login.ex\xc3\xa4mple/", false, false},
        {"", false, false},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_str url = acp_str_from(rows[i].url);
        CHECK_ROW(oauth_url_is_usable(url, acp_str_from(far)) == rows[i].from_far, i, "%s",
                  rows[i].url);
        CHECK_ROW(oauth_url_is_usable(url, acp_str_from(near)) == rows[i].from_near, i, "%s",
                  rows[i].url);
    }
}

static void well_known_addresses(void **state)
{
    static const struct {
        const char *url;
        enum oauth_document document;
        const char *expected;
    } rows[] = {
        {"https://a.b/x/y/?q", OAUTH_RESOURCE_AT_PATH,
         "https://a.b/.well-known/oauth-protected-resource/x/y"},
        {"https://a.b/x/y", OAUTH_RESOURCE_AT_ROOT,
         "https://a.b/.well-known/oauth-protected-resource"},
        {"https://a.b", OAUTH_SERVER_AT_PATH, "https://a.b/.well-known/oauth-authorization-server"},
        {"https://a.b/t", OAUTH_SERVER_AT_PATH,
         "https://a.b/.well-known/oauth-authorization-server/t"},
        {"https://a.b/t", OAUTH_OPENID_AT_PATH, "https://a.b/.well-known/openid-configuration/t"},
        {"https://a.b:8/t", OAUTH_OPENID_BELOW_PATH,
         "https://a.b:8/t/.well-known/openid-configuration"},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_buf out;
        acp_buf_init(&out, OAUTH_MAX_URL);
        assert_int_equal(oauth_url_well_known(acp_str_from(rows[i].url), rows[i].document, &out),
                         0);
        CHECK_ROW(acp_str_is(acp_buf_view(&out), rows[i].expected), i, "%.*s",
                  ACP_ARG(acp_buf_view(&out)));
        acp_buf_finish(&out);
    }
}

static void metadata_must_be_about_the_server(void **state)
{
    static const struct {
        const char *resource, *url;
        bool is_of;
    } rows[] = {
        {"https://a.b/mcp", "https://a.b/mcp", true},
        {"https://A.B:443/mcp/", "https://a.b/mcp", true},
        {"https://a.b", "https://a.b/mcp", true},
        {"https://a.b/", "https://a.b/mcp?x=1", true},
        {"https://a.b/mc", "https://a.b/mcp", false},
        {"https://a.b/mcp/more", "https://a.b/mcp", false},
        {"https://a.b.evil/mcp", "https://a.b/mcp", false},
        {"http://a.b/mcp", "https://a.b/mcp", false},
        {"https://a.b/mcp", "http://a.b/mcp", false},
        {"https://a.b:444/mcp", "https://a.b/mcp", false},
        {"https://a.b@evil/mcp", "https://a.b/mcp", false},
        {"", "https://a.b/mcp", false},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_ROW(oauth_resource_is_of(acp_str_from(rows[i].resource), acp_str_from(rows[i].url)) ==
                      rows[i].is_of,
                  i, "%s %s", rows[i].resource, rows[i].url);
}

/* ---- Forms ----------------------------------------------------------------------------------- */

static void forms_are_written_and_read(void **state)
{
    struct acp_buf out;
    (void) state;
    acp_buf_init(&out, 1000);
    assert_int_equal(oauth_form_add(&out, "a", acp_str_from("x y&z=\xc3\xa4+~")), 0);
    assert_int_equal(oauth_form_add(&out, "b", acp_str_from("")), 0);
    assert_true(acp_str_is(acp_buf_view(&out), "a=x%20y%26z%3D%C3%A4%2B~&b="));
    assert_true(same(oauth_form_get(acp_buf_view(&out), "a", &arena), "x y&z=\xc3\xa4+~"));
    assert_true(same(oauth_form_get(acp_buf_view(&out), "b", &arena), ""));
    acp_buf_finish(&out);

    static const struct {
        const char *query, *expected;
    } rows[] = {
        {"code=1", "1"},   {"xcode=1&code=a+b", "a b"}, {"code=1&code=2", NULL},
        {"code=%4", NULL}, {"code=%zz", NULL},          {"code", NULL},
        {"", NULL},        {"&&code=1&", "1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_ROW(
            same(oauth_form_get(acp_str_from(rows[i].query), "code", &arena), rows[i].expected), i,
            "%s", rows[i].query);
    assert_true(acp_str_is(oauth_url_query(acp_str_from("http://a/b?c=d#e")), "c=d"));
    assert_true(acp_str_is(oauth_url_query(acp_str_from("c=d")), "c=d"));
}

/* ---- Metadata -------------------------------------------------------------------------------- */

static void metadata_is_read(void **state)
{
    struct oauth_resource resource;
    struct oauth_server server;
    struct oauth_client client;
    (void) state;
    assert_int_equal(oauth_resource_read(
                         acp_raw_from("{\"scopes_supported\":[\"a\",1,\"b\"],\"resource\":\"https:"
                                      "//r\",\"authorization_servers\":[\"https://i\",\"x\"]}"),
                         &arena, &resource),
                     0);
    assert_true(same(resource.resource, "https://r") && same(resource.issuer, "https://i") &&
                same(resource.scopes, "a b"));
    assert_int_equal(oauth_resource_read(acp_raw_from("{}"), &arena, &resource), ACP_ERR_MISSING);
    assert_int_equal(oauth_resource_read(acp_raw_from("{\"resource\":7}"), &arena, &resource),
                     ACP_ERR_TYPE);
    assert_int_equal(
        oauth_server_read(
            acp_raw_from("{\"issuer\":\"https://i\",\"authorization_endpoint\":\"https://i/a\","
                         "\"token_endpoint\":\"https://i/t\",\"registration_endpoint\":null}"),
            &arena, &server),
        0);
    assert_true(server.takes_basic && !server.takes_none && !server.has_pkce &&
                !server.registration_endpoint.ptr && !server.names_issuer);
    assert_int_equal(
        oauth_server_read(
            acp_raw_from("{\"issuer\":\"https://i\",\"authorization_endpoint\":\"https://i/a\","
                         "\"token_endpoint\":\"https://i/t\",\"code_challenge_methods_supported\":"
                         "[\"plain\",\"S256\"],\"token_endpoint_auth_methods_supported\":[\"none\"]"
                         ",\"client_id_metadata_document_supported\":true,"
                         "\"authorization_response_iss_parameter_supported\":true}"),
            &arena, &server),
        0);
    assert_true(server.has_pkce && server.takes_none && !server.takes_basic &&
                server.takes_client_documents && server.names_issuer);
    assert_int_equal(oauth_server_read(acp_raw_from("{\"issuer\":\"https://i\"}"), &arena, &server),
                     ACP_ERR_MISSING);
    assert_int_equal(oauth_client_read(acp_raw_from("{\"client_id\":\"c\"}"), &arena, &client), 0);
    assert_true(same(client.id, "c") && !client.secret.ptr);
    assert_int_equal(oauth_client_read(acp_raw_from("{\"client_id\":\"\"}"), &arena, &client),
                     ACP_ERR_MISSING);
}

/* ---- Tokens and grants ----------------------------------------------------------------------- */

static void tokens_are_checked(void **state)
{
    static const struct {
        const char *json;
        int err;
    } rows[] = {
        {"{\"access_token\":\"a\",\"token_type\":\"bearer\"}", 0},
        {"{\"access_token\":\"a\"}", 0},
        {"{\"token_type\":\"Bearer\"}", ACP_ERR_MISSING},
        {"{\"access_token\":\"a\",\"token_type\":\"mac\"}", ACP_ERR_TYPE},
        {"{\"access_token\":\"a\\r\\nX: y\",\"token_type\":\"Bearer\"}", ACP_ERR_RANGE},
        {"{\"access_token\":\"a\",\"refresh_token\":\"b c\"}", ACP_ERR_RANGE},
        {"{\"access_token\":1}", ACP_ERR_TYPE},
        {"[]", ACP_ERR_MISSING},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct oauth_grant grant = {.refresh_token = ACP_STR("old"), .scope = ACP_STR("s")};
        int err = oauth_tokens_read(acp_raw_from(rows[i].json), &arena, 1000, &grant);
        CHECK_ROW(err == rows[i].err, i, "%d", err);
        CHECK_ROW(err || same(grant.refresh_token, "old"), i, "refresh token");
        CHECK_ROW(!err || !grant.access_token.ptr, i, "written on failure");
    }
    struct oauth_grant grant = {.refresh_token = ACP_STR("old")};
    assert_int_equal(oauth_tokens_read(acp_raw_from("{\"access_token\":\"a\",\"refresh_token\":"
                                                    "\"new\",\"expires_in\":60,\"scope\":\"x\"}"),
                                       &arena, 1000, &grant),
                     0);
    assert_true(same(grant.refresh_token, "new") && same(grant.scope, "x"));
    assert_int_equal(grant.expires, 1060);
    assert_true(oauth_grant_is_fresh(&grant, 1029));
    assert_false(oauth_grant_is_fresh(&grant, 1030));
    assert_int_equal(
        oauth_tokens_read(
            acp_raw_from("{\"access_token\":\"a\",\"expires_in\":18446744073709551615}"), &arena,
            1000, &grant),
        0);
    assert_true(grant.expires > 1000 && grant.expires < INT64_C(1) << 40);
}

static void grants_are_written_and_read(void **state)
{
    struct oauth_grant read;
    struct acp_buf out;
    struct oauth_grant grant = {
        .resource = ACP_STR("https://r"),
        .issuer = ACP_STR("https://i"),
        .token_endpoint = ACP_STR("https://i/t"),
        .client_id = ACP_STR("c"),
        .access_token = ACP_STR("a"),
        .scope = ACP_STR("x y"),
        .expires = 7,
    };
    (void) state;
    acp_buf_init(&out, OAUTH_MAX_GRANT);
    assert_int_equal(oauth_grant_write(&grant, &out), 0);
    struct acp_raw text = acp_raw_n(acp_buf_view(&out).ptr, out.len);
    assert_int_equal(oauth_grant_read(text, &arena, &read), 0);
    assert_true(same(read.resource, "https://r") && same(read.scope, "x y") &&
                !read.refresh_token.ptr && !read.client_secret.ptr && read.expires == 7);
    assert_true(oauth_grant_covers(&read, acp_str_from("https://r/mcp")));
    assert_false(oauth_grant_covers(&read, acp_str_from("https://other/mcp")));
    acp_buf_finish(&out);
    assert_int_equal(oauth_grant_read(acp_raw_from("{\"resource\":\"x\"}"), &arena, &read),
                     ACP_ERR_MISSING);
    assert_int_equal(oauth_grant_read(acp_raw_from("{\"resource\":\"x\""), &arena, &read),
                     ACP_ERR_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        oauth_test(challenges_are_read),
        oauth_test(a_challenge_is_limited),
        oauth_test(only_safe_urls_are_used),
        oauth_test(well_known_addresses),
        oauth_test(metadata_must_be_about_the_server),
        oauth_test(forms_are_written_and_read),
        oauth_test(metadata_is_read),
        oauth_test(tokens_are_checked),
        oauth_test(grants_are_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
