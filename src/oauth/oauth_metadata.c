/* oauth_metadata.c - metadata of protected resources, authorization servers and clients. */
#include "json/members.h"
#include "oauth/oauth_internal.h"

/* A member that must be there as a string with something in it. */
static int required(struct acp_raw json, const char *name, struct acp_arena *arena,
                    struct acp_str *ret)
{
    int err = acp_json_member_str(json, name, arena, ret);
    return err ? err : ret->len ? 0 : ACP_ERR_MISSING;
}

/* A member that may be missing or null. */
static int optional(struct acp_raw json, const char *name, struct acp_arena *arena,
                    struct acp_str *ret)
{
    struct acp_str text = {0};
    int err = acp_json_member_str(json, name, arena, &text);
    if (err == 0 && text.len)
        *ret = text;
    return err == ACP_ERR_TYPE ? 0 : err;
}

/* Calls `each` for the strings of an array; a member that is missing has none. */
static int each_string(struct acp_raw json, const char *name, struct acp_arena *arena,
                       int (*each)(struct acp_str text, void *user), void *user)
{
    struct acp_json_reader r;
    if (!acp_json_find_member(json, name, arena, &r) || acp_json_peek(&r) != ACP_JSON_ARRAY)
        return 0;
    int err = acp_json_enter_array(&r);
    while (!err && (err = acp_json_next_item(&r)) > 0) {
        struct acp_str text;
        err = acp_json_read_str(&r, &text);
        if (!err)
            err = each(text, user);
        else if (err == ACP_ERR_TYPE)
            err = acp_json_skip(&r);
    }
    return err;
}

static int take_first(struct acp_str text, void *user)
{
    struct acp_str *first = user;
    if (!first->ptr)
        *first = text;
    return 0;
}

static int add_word(struct acp_str text, void *user)
{
    struct acp_buf *words = user;
    int err = words->len ? acp_buf_append(words, " ", 1) : 0;
    return err ? err : acp_buf_append_str(words, text);
}

int oauth_resource_read(struct acp_raw json, struct acp_arena *arena, struct oauth_resource *ret)
{
    struct oauth_resource found = {0};
    struct acp_buf scopes;
    acp_buf_init(&scopes, OAUTH_MAX_URL);
    int err = required(json, "resource", arena, &found.resource);
    if (!err)
        err = each_string(json, "authorization_servers", arena, take_first, &found.issuer);
    if (!err)
        err = each_string(json, "scopes_supported", arena, add_word, &scopes);
    if (!err && scopes.len)
        err = oauth_keep(arena, acp_buf_view(&scopes), &found.scopes);
    acp_buf_finish(&scopes);
    if (!err)
        *ret = found;
    return err;
}

bool oauth_resource_is_of(struct acp_str resource, struct acp_str url)
{
    struct oauth_url_parts a = oauth_url_split(resource);
    struct oauth_url_parts b = oauth_url_split(url);
    if (!http_stays(url, resource) || !http_stays(resource, url))
        return false;
    /* A resource may stand for everything below it, but not for its neighbours. */
    return b.path.len >= a.path.len && acp_str_eq(a.path, acp_str_n(b.path.ptr, a.path.len)) &&
           (b.path.len == a.path.len || b.path.ptr[a.path.len] == '/');
}

/* ---- Authorization servers ------------------------------------------------------------------- */

static int note_pkce(struct acp_str text, void *user)
{
    struct oauth_server *server = user;
    server->has_pkce |= acp_str_is(text, "S256");
    return 0;
}

static int note_scope(struct acp_str text, void *user)
{
    struct oauth_server *server = user;
    server->offers_offline |= acp_str_is(text, "offline_access");
    return 0;
}

static int note_auth(struct acp_str text, void *user)
{
    struct oauth_server *server = user;
    server->takes_none |= acp_str_is(text, "none");
    server->takes_basic |= acp_str_is(text, "client_secret_basic");
    server->takes_post |= acp_str_is(text, "client_secret_post");
    return 0;
}

static bool is_true(struct acp_raw json, const char *name)
{
    bool value = false;
    return acp_json_member_bool(json, name, &value) == 0 && value;
}

int oauth_server_read(struct acp_raw json, struct acp_arena *arena, struct oauth_server *ret)
{
    struct oauth_server found = {0};
    int err = required(json, "issuer", arena, &found.issuer);
    if (!err)
        err = required(json, "authorization_endpoint", arena, &found.authorization_endpoint);
    if (!err)
        err = required(json, "token_endpoint", arena, &found.token_endpoint);
    if (!err)
        err = optional(json, "registration_endpoint", arena, &found.registration_endpoint);
    if (!err)
        err = each_string(json, "code_challenge_methods_supported", arena, note_pkce, &found);
    if (!err)
        err = each_string(json, "scopes_supported", arena, note_scope, &found);
    if (!err)
        err = each_string(json, "token_endpoint_auth_methods_supported", arena, note_auth, &found);
    if (err)
        return err;
    /* Without the list it is client_secret_basic: RFC 8414, section 2. */
    if (!found.takes_none && !found.takes_basic && !found.takes_post)
        found.takes_basic = true;
    found.takes_client_documents = is_true(json, "client_id_metadata_document_supported");
    found.names_issuer = is_true(json, "authorization_response_iss_parameter_supported");
    *ret = found;
    return 0;
}

int oauth_client_read(struct acp_raw json, struct acp_arena *arena, struct oauth_client *ret)
{
    struct oauth_client found = {0};
    int err = required(json, "client_id", arena, &found.id);
    if (!err)
        err = optional(json, "client_secret", arena, &found.secret);
    if (!err)
        err = optional(json, "token_endpoint_auth_method", arena, &found.auth);
    if (!err)
        *ret = found;
    return err;
}
