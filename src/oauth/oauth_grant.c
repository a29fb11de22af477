/* oauth_grant.c - grants as JSON, and the answers of token endpoints. */
#include <strings.h>
#include <time.h>

#include "json/members.h"
#include "oauth/oauth_internal.h"

enum { FRESH_SECONDS = 30 };

/* The texts of a grant and the names of their members; required ones first. */
static const struct {
    const char *name;
    size_t offset;
} members[] = {
    {"resource", offsetof(struct oauth_grant, resource)},
    {"issuer", offsetof(struct oauth_grant, issuer)},
    {"token_endpoint", offsetof(struct oauth_grant, token_endpoint)},
    {"client_id", offsetof(struct oauth_grant, client_id)},
    {"access_token", offsetof(struct oauth_grant, access_token)},
    {"client_secret", offsetof(struct oauth_grant, client_secret)},
    {"client_auth", offsetof(struct oauth_grant, client_auth)},
    {"refresh_token", offsetof(struct oauth_grant, refresh_token)},
    {"scope", offsetof(struct oauth_grant, scope)},
};
enum { REQUIRED = 5, MEMBERS = sizeof(members) / sizeof(members[0]) };

static struct acp_str *text_of(struct oauth_grant *grant, size_t i)
{
    return (struct acp_str *) (void *) ((char *) grant + members[i].offset);
}

int oauth_keep(struct acp_arena *arena, struct acp_str text, struct acp_str *ret)
{
    struct acp_str copy = {0};
    if (text.ptr) {
        copy = acp_arena_copy(arena, text);
        if (!copy.ptr)
            return ACP_ERR_NOMEM;
    }
    *ret = copy;
    return 0;
}

int oauth_grant_copy(const struct oauth_grant *grant, struct acp_arena *arena,
                     struct oauth_grant *ret)
{
    struct oauth_grant from = *grant;
    struct oauth_grant copy = *grant;
    for (size_t i = 0; i < MEMBERS; i++)
        if (oauth_keep(arena, *text_of(&from, i), text_of(&copy, i)))
            return ACP_ERR_NOMEM;
    *ret = copy;
    return 0;
}

int oauth_grant_write(const struct oauth_grant *grant, struct acp_buf *out)
{
    struct oauth_grant from = *grant;
    struct acp_json_writer w;
    struct acp_buf text;
    acp_buf_init(&text, OAUTH_MAX_GRANT);
    acp_json_writer_init(&w, &text);
    acp_json_begin_object(&w);
    for (size_t i = 0; i < MEMBERS; i++)
        if (text_of(&from, i)->ptr)
            acp_json_put_str(&w, members[i].name, *text_of(&from, i));
    if (grant->expires)
        acp_json_put_i64(&w, "expires", grant->expires);
    acp_json_end_object(&w);
    int err = w.err ? w.err : acp_buf_append_str(out, acp_buf_view(&text));
    acp_buf_finish(&text);
    return err;
}

int oauth_grant_read(struct acp_raw json, struct acp_arena *arena, struct oauth_grant *ret)
{
    struct oauth_grant grant = {0};
    int err = json.len > OAUTH_MAX_GRANT ? ACP_ERR_LIMIT : acp_json_validate(json, 0, NULL);
    for (size_t i = 0; !err && i < MEMBERS; i++) {
        struct acp_str text = {0};
        err = acp_json_member_str(json, members[i].name, arena, &text);
        if (!err && i < REQUIRED && !text.len)
            err = ACP_ERR_MISSING;
        if (!err)
            err = oauth_keep(arena, text, text_of(&grant, i));
    }
    if (!err)
        err = acp_json_member_i64(json, "expires", &grant.expires);
    if (!err)
        *ret = grant;
    return err;
}

int64_t oauth_now(void)
{
    return (int64_t) time(NULL);
}

bool oauth_grant_is_fresh(const struct oauth_grant *grant, int64_t now)
{
    return !grant->expires || grant->expires - FRESH_SECONDS > now;
}

bool oauth_grant_covers(const struct oauth_grant *grant, struct acp_str url)
{
    return oauth_resource_is_of(grant->resource, url);
}

/* ---- Answers of token endpoints -------------------------------------------------------------- */

/* A token goes into a header: printable ASCII without blanks (RFC 6749, appendix A.12). */
static bool is_token(struct acp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false;
    return text.len > 0;
}

int oauth_tokens_read(struct acp_raw json, struct acp_arena *arena, int64_t now,
                      struct oauth_grant *grant)
{
    /* A token that is not said to expire is tried until it is refused; this bounds the others. */
    static const uint64_t longest = (uint64_t) 10 * 365 * 24 * 3600;
    struct acp_str type = {0};
    struct acp_str access = {0};
    struct acp_str refresh = {0};
    struct acp_str scope = {0};
    uint64_t seconds = 0;
    int err = acp_json_member_str(json, "access_token", arena, &access);
    if (!err)
        err = acp_json_member_str(json, "token_type", arena, &type);
    if (!err)
        err = acp_json_member_str(json, "refresh_token", arena, &refresh);
    if (!err)
        err = acp_json_member_str(json, "scope", arena, &scope);
    if (!err && acp_json_member_u64(json, "expires_in", &seconds))
        seconds = 0;
    if (err)
        return err;
    if (!access.len)
        return ACP_ERR_MISSING;
    if (type.len && (type.len != 6 || strncasecmp(type.ptr, "Bearer", 6) != 0))
        return ACP_ERR_TYPE;
    if (!is_token(access) || (refresh.len && !is_token(refresh)))
        return ACP_ERR_RANGE;
    grant->access_token = access;
    if (refresh.len)
        grant->refresh_token = refresh;
    if (scope.len)
        grant->scope = scope;
    grant->expires = seconds ? now + (int64_t) (seconds < longest ? seconds : longest) : 0;
    return 0;
}
