/* oauth_refresh.c - new tokens for an old grant. */
#define _GNU_SOURCE /* explicit_bzero */
#include <stdlib.h>

#include "oauth/oauth_internal.h"

struct oauth_refresh {
    struct oauth_exchange *exchange;
    struct oauth_grant grant; /* texts in the arena */
    struct acp_arena arena;
    oauth_refreshed_fn *refreshed;
    void *user;
};

/* Whether the authorization server will never take this refresh token again. */
static bool is_final_error(struct acp_str error)
{
    return acp_str_is(error, "invalid_grant") || acp_str_is(error, "invalid_client") ||
           acp_str_is(error, "unauthorized_client");
}

static void on_tokens(const struct oauth_answer *answer, void *user)
{
    struct oauth_refresh *refresh = user;
    struct oauth_grant grant = refresh->grant;
    if (!answer->body.ptr) {
        refresh->refreshed(refresh, NULL, is_final_error(answer->error), answer->why,
                           refresh->user);
        return;
    }
    int err = oauth_tokens_read(answer->body, &refresh->arena, oauth_now(), &grant);
    refresh->refreshed(refresh, err ? NULL : &grant, false,
                       err ? "the authorization server sent tokens that are not valid" : "",
                       refresh->user);
}

int oauth_refresh_new(struct http_client *client, const struct oauth_grant *grant,
                      oauth_refreshed_fn *refreshed, void *user, struct oauth_refresh **ret,
                      struct acp_failure *failure)
{
    if (!grant->refresh_token.len)
        return ACP_ERR_STATE;
    struct oauth_refresh *refresh = calloc(1, sizeof(*refresh));
    if (!refresh)
        return ACP_ERR_NOMEM;
    acp_arena_init(&refresh->arena, 4 * (size_t) OAUTH_MAX_ANSWER);
    refresh->refreshed = refreshed;
    refresh->user = user;
    struct acp_buf form;
    acp_buf_init(&form, OAUTH_MAX_FORM);
    int err = oauth_grant_copy(grant, &refresh->arena, &refresh->grant);
    if (!err)
        err = oauth_form_add(&form, "grant_type", acp_str_from("refresh_token"));
    if (!err)
        err = oauth_form_add(&form, "refresh_token", grant->refresh_token);
    if (!err)
        err = oauth_exchange_token(client, &refresh->grant, &form, on_tokens, refresh,
                                   &refresh->exchange, failure);
    if (form.cap)
        explicit_bzero(form.data, form.cap);
    acp_buf_finish(&form);
    if (err)
        oauth_refresh_free(refresh);
    else
        *ret = refresh;
    return err;
}

void oauth_refresh_free(struct oauth_refresh *refresh)
{
    if (!refresh)
        return;
    oauth_exchange_free(refresh->exchange);
    acp_arena_finish(&refresh->arena);
    free(refresh);
}
