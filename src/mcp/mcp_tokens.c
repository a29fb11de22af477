/* mcp_tokens.c - see mcp_tokens.h. */
#define _GNU_SOURCE /* explicit_bzero */
#include "mcp/mcp_tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

enum {
    MAX_HEADER = OAUTH_MAX_GRANT + 16,
    /* Tokens that are refused so soon after a refresh will not become better by another one. */
    REFRESH_AGAIN_SECONDS = 30,
};

struct mcp_tokens {
    struct mcp_authorizer authorizer;
    const struct mcp_token_store *store;
    struct http_client *client;
    char *url;
    struct acp_arena arena; /* of the grant */
    struct oauth_grant grant;
    bool has_grant;
    bool is_loaded; /* the store was asked */
    int64_t refreshed;
    struct oauth_refresh *refresh;
    /* The transport that waits; one at a time. */
    mcp_authorized_fn *done;
    void *waiter;
    uv_timer_t soon; /* answers it when no refresh is necessary */
    struct acp_buf header;
};

/* ---- The store ------------------------------------------------------------------------------- */

/* Takes a copy of the grant; true if its access token is another one than before. */
static bool take(struct mcp_tokens *tokens, const struct oauth_grant *grant)
{
    struct acp_arena arena;
    struct oauth_grant copy;
    acp_arena_init(&arena, 0);
    if (oauth_grant_copy(grant, &arena, &copy)) {
        acp_arena_finish(&arena);
        return false;
    }
    bool is_new = !tokens->has_grant || !acp_str_eq(copy.access_token, tokens->grant.access_token);
    acp_arena_finish(&tokens->arena);
    tokens->arena = arena;
    tokens->grant = copy;
    tokens->has_grant = true;
    return is_new;
}

/* Reads the stored grant; true if it is a new one. */
static bool load(struct mcp_tokens *tokens)
{
    const struct mcp_token_store *store = tokens->store;
    struct acp_arena arena;
    struct oauth_grant grant;
    acp_arena_init(&arena, 0);
    tokens->is_loaded = true;
    bool is_new = store->load(acp_str_from(tokens->url), &arena, &grant, store->user) == 0 &&
                  take(tokens, &grant);
    acp_arena_finish(&arena);
    return is_new;
}

static struct acp_str header(void *user)
{
    struct mcp_tokens *tokens = user;
    if (!tokens->is_loaded)
        (void) load(tokens);
    acp_buf_clear(&tokens->header);
    if (!tokens->has_grant ||
        acp_buf_printf(&tokens->header, "Bearer %.*s", ACP_ARG(tokens->grant.access_token)))
        return (struct acp_str){0};
    return acp_buf_view(&tokens->header);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void answer(struct mcp_tokens *tokens, int err, const char *sentence)
{
    mcp_authorized_fn *done = tokens->done;
    tokens->done = NULL;
    if (done)
        done(err, acp_str_from(sentence), tokens->waiter);
}

static void on_refreshed(struct oauth_refresh *refresh, const struct oauth_grant *grant,
                         bool is_final, const char *why, void *user)
{
    struct mcp_tokens *tokens = user;
    const struct mcp_token_store *store = tokens->store;
    char sentence[900] = "";
    bool is_usable;
    if (grant) {
        /* Tokens that cannot be stored still serve this process. */
        (void) store->save(acp_str_from(tokens->url), grant, store->user);
        is_usable = take(tokens, grant);
        tokens->refreshed = (int64_t) time(NULL);
    } else {
        is_usable = load(tokens);
    }
    if (!is_usable && is_final)
        (void) snprintf(sentence, sizeof(sentence),
                        "the login has expired; log in again with 'acp mcp login %s'", tokens->url);
    else if (!is_usable)
        (void) snprintf(sentence, sizeof(sentence), "cannot refresh the login: %s", why);
    oauth_refresh_free(refresh);
    tokens->refresh = NULL;
    answer(tokens, is_usable ? 0 : ACP_ERR_STATE, sentence);
}

static void on_soon(uv_timer_t *timer)
{
    answer(timer->data, 0, "");
}

static bool refused(const struct mcp_refusal *refusal, mcp_authorized_fn *done, void *waiter,
                    void *user)
{
    struct mcp_tokens *tokens = user;
    if (tokens->done || refusal->status != 401 || !tokens->has_grant)
        return false;
    bool is_new = load(tokens);
    bool is_recent = (int64_t) time(NULL) - tokens->refreshed < REFRESH_AGAIN_SECONDS;
    if (is_new)
        (void) uv_timer_start(&tokens->soon, on_soon, 0, 0);
    else if (is_recent || oauth_refresh_new(tokens->client, &tokens->grant, on_refreshed, tokens,
                                            &tokens->refresh, NULL))
        return false;
    tokens->done = done;
    tokens->waiter = waiter;
    return true;
}

static void forget(void *waiter, void *user)
{
    struct mcp_tokens *tokens = user;
    (void) waiter;
    (void) uv_timer_stop(&tokens->soon);
    oauth_refresh_free(tokens->refresh);
    tokens->refresh = NULL;
    tokens->done = NULL;
}

/* ---- The object ------------------------------------------------------------------------------ */

static bool has_credentials(const struct mcp_options *options)
{
    for (size_t i = 0; i < options->header_count; i++)
        if (strcasecmp(options->headers[i].name, "Authorization") == 0)
            return true;
    return false;
}

int mcp_tokens_new(uv_loop_t *loop, const struct mcp_token_store *store,
                   struct mcp_options *options, struct mcp_tokens **ret)
{
    *ret = NULL;
    if (!options->url || has_credentials(options))
        return 0;
    struct mcp_tokens *tokens = calloc(1, sizeof(*tokens));
    if (!tokens)
        return ACP_ERR_NOMEM;
    tokens->url = acp_str_dup(acp_str_from(options->url));
    if (!tokens->url) {
        free(tokens);
        return ACP_ERR_NOMEM;
    }
    tokens->authorizer = (struct mcp_authorizer){header, refused, forget, tokens};
    tokens->store = store;
    tokens->client = options->http;
    acp_arena_init(&tokens->arena, 0);
    acp_buf_init(&tokens->header, MAX_HEADER);
    (void) uv_timer_init(loop, &tokens->soon);
    tokens->soon.data = tokens;
    options->authorizer = &tokens->authorizer;
    *ret = tokens;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct mcp_tokens *tokens = handle->data;
    if (tokens->header.cap)
        explicit_bzero(tokens->header.data, tokens->header.cap);
    acp_buf_finish(&tokens->header);
    acp_arena_finish(&tokens->arena);
    free(tokens->url);
    free(tokens);
}

void mcp_tokens_free(struct mcp_tokens *tokens)
{
    if (!tokens)
        return;
    forget(NULL, tokens);
    uv_close((uv_handle_t *) &tokens->soon, on_closed);
}
