/* options.h - the options of an MCP server from an entry of mcpServers. */
#ifndef SRC_MCP_OPTIONS_H
#define SRC_MCP_OPTIONS_H

#include "acp/types.h"
#include "mcp/mcp.h"

/* The name in an entry of any kind; absent for a kind that is not known. */
struct acp_str mcp_entry_name(const struct acp_mcp_server *entry);

/* Whether HTTP allows a header of that name and value. */
bool mcp_is_header(struct acp_str name, struct acp_str value);

/*
 * Sets name, kind, and what belongs to the kind; the texts are in the arena.  launch_folder (see
 * launch/fetched.h) may be NULL; otherwise a server that npx and the like fetch is started there,
 * not in options->cwd, which could replace it.  ACP_ERR_NOMEM, ACP_ERR_ARGUMENT for a kind that is
 * not known, or an error of launch_fetched(); the failure has a sentence.
 */
int mcp_options_read(const struct acp_mcp_server *entry, const char *launch_folder,
                     struct acp_arena *arena, struct mcp_options *options,
                     struct acp_failure *failure);

#endif
