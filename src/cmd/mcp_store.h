/* mcp_store.h - the stored tokens of MCP servers, for those who connect to servers. */
#ifndef SRC_CMD_MCP_STORE_H
#define SRC_CMD_MCP_STORE_H

#include "config/config.h"
#include "mcp/mcp_tokens.h"

/*
 * The store of this user.  Its memory is in the arena; without a home directory there is nothing in
 * it.  Tokens that are not safe to use are ignored, with a message on standard error.
 */
struct mcp_token_store token_store_of(const struct config *config, struct acp_arena *arena);

#endif
