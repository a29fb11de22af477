/*
 * mcp_tokens.h - authorizes requests to an MCP server with the tokens of an earlier login, and
 * refreshes them when the server refuses them.
 *
 * A server can also ask for more than that login granted; then the request fails, with a sentence
 * that says how to log in.  A process that runs at the same time may have refreshed the tokens, so
 * they are read again before and after a refresh.
 */
#ifndef SRC_MCP_MCP_TOKENS_H
#define SRC_MCP_MCP_TOKENS_H

#include "mcp/mcp.h"
#include "oauth/oauth.h"

/* Where grants are stored.  Both return 0 or a negative number. */
struct mcp_token_store {
    int (*load)(struct acp_str url, struct acp_arena *arena, struct oauth_grant *ret, void *user);
    int (*save)(struct acp_str url, const struct oauth_grant *grant, void *user);
    void *user;
};

struct mcp_tokens;

/*
 * Sets options->authorizer if the server has a URL, and no header with credentials of its own; if
 * not, *ret becomes NULL.  The object must outlive the server, the store and options->http must
 * outlive the object.  ACP_ERR_NOMEM.
 */
int mcp_tokens_new(uv_loop_t *loop, const struct mcp_token_store *store,
                   struct mcp_options *options, struct mcp_tokens **ret);
/* Its memory is freed by the loop.  Takes NULL. */
void mcp_tokens_free(struct mcp_tokens *tokens);

#endif
