/*
 * token_store.h - the OAuth tokens of MCP servers, stored by `acp mcp login`.
 *
 * One file per server in a private directory, $XDG_DATA_HOME/acp/mcp-tokens, named by the SHA-256
 * of the server's URL.  A file that other users could read or change is not used.
 */
#ifndef SRC_CONFIG_TOKEN_STORE_H
#define SRC_CONFIG_TOKEN_STORE_H

#include "config/config.h"
#include "oauth/oauth.h"

/* The directory of the files; NULL without a home directory or when out of memory. */
const char *token_store_folder(const char *const *environment, struct acp_arena *arena);

/*
 * All return 0 or -errno with a message in why.  -ENOENT, without a message: nothing is stored for
 * that URL.  A stored grant that does not cover the URL is -EINVAL.
 */
int token_store_read(const char *folder, struct acp_str url, struct acp_arena *arena,
                     struct oauth_grant *ret, struct acp_buf *why);
/* Stores a grant for the server with that URL, or replaces the stored one. */
int token_store_write(const char *folder, struct acp_str url, const struct oauth_grant *grant,
                      struct acp_buf *why);
int token_store_remove(const char *folder, struct acp_str url, struct acp_buf *why);

#endif
