/*
 * Fuzzes what OAuth reads of servers and browsers: challenges, metadata, tokens, queries and stored
 * grants.  The first byte says which.
 */
#include "fuzz.h"
#include "oauth/oauth_internal.h"

static void try_challenge(struct acp_str text, struct acp_arena *arena)
{
    struct oauth_challenge challenge = {0};
    if (!oauth_challenge_read(text, arena, &challenge))
        return;
    CHECK(text.len <= OAUTH_MAX_CHALLENGE);
    CHECK(challenge.scope.len < text.len && challenge.metadata_url.len < text.len);
}

/* Whatever a URL is, one that may be used leads to one place. */
static void try_url(struct acp_str text)
{
    static const char server[] = "https://server.example/mcp";
    struct oauth_url_parts parts = oauth_url_split(text);
    struct acp_buf out;
    CHECK(parts.origin.len + parts.path.len <= text.len);
    if (!oauth_url_is_usable(text, acp_str_from(server)))
        return;
    CHECK(http_stays(text, parts.origin) && http_stays(parts.origin, text));
    acp_buf_init(&out, OAUTH_MAX_URL + 100);
    for (int i = 0; i < OAUTH_DOCUMENTS; i++) {
        CHECK(oauth_url_well_known(text, (enum oauth_document) i, &out) == 0);
        CHECK(http_stays(text, acp_buf_view(&out)));
        acp_buf_clear(&out);
    }
    acp_buf_finish(&out);
}

static void try_form(struct acp_str text, struct acp_arena *arena)
{
    struct acp_str value = oauth_form_get(oauth_url_query(text), "state", arena);
    struct acp_buf out;
    acp_buf_init(&out, 4 * text.len + 100);
    CHECK(oauth_form_add(&out, "state", value) == 0);
    struct acp_str again = oauth_form_get(acp_buf_view(&out), "state", arena);
    CHECK(again.ptr && acp_str_eq(again, value));
    acp_buf_finish(&out);
}

static void try_tokens(struct acp_raw json, struct acp_arena *arena)
{
    struct oauth_grant grant = {0};
    if (oauth_tokens_read(json, arena, 1000, &grant))
        return;
    CHECK(grant.access_token.len && (!grant.expires || grant.expires > 1000));
    for (size_t i = 0; i < grant.access_token.len; i++)
        CHECK(grant.access_token.ptr[i] > ' ' && grant.access_token.ptr[i] <= '~');
}

static void try_grant(struct acp_raw json, struct acp_arena *arena)
{
    struct oauth_grant grant;
    struct oauth_grant again;
    struct acp_buf out;
    if (oauth_grant_read(json, arena, &grant))
        return;
    acp_buf_init(&out, OAUTH_MAX_GRANT);
    if (oauth_grant_write(&grant, &out) == 0) {
        struct acp_str text = acp_buf_view(&out);
        CHECK(oauth_grant_read(acp_raw_n(text.ptr, text.len), arena, &again) == 0);
        CHECK(acp_str_eq(again.access_token, grant.access_token) &&
              acp_str_eq(again.resource, grant.resource) && again.expires == grant.expires);
    }
    acp_buf_finish(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct oauth_resource resource;
    struct oauth_server server;
    struct oauth_client client;
    struct acp_arena arena;
    if (size < 1)
        return 0;
    struct acp_str text = acp_str_n((const char *) data + 1, size - 1);
    struct acp_raw json = acp_raw_n(text.ptr, text.len);
    acp_arena_init(&arena, 1 << 22);
    switch (data[0]) {
    case 'c':
        try_challenge(text, &arena);
        break;
    case 'u':
        try_url(text);
        break;
    case 'q':
        try_form(text, &arena);
        break;
    case 'r':
        CHECK(oauth_resource_read(json, &arena, &resource) || resource.resource.len);
        break;
    case 's':
        CHECK(oauth_server_read(json, &arena, &server) || server.token_endpoint.len);
        break;
    case 'k':
        CHECK(oauth_client_read(json, &arena, &client) || client.id.len);
        break;
    case 't':
        try_tokens(json, &arena);
        break;
    case 'g':
        try_grant(json, &arena);
        break;
    default:
        break;
    }
    acp_arena_finish(&arena);
    return 0;
}
