/*
 * mcp_internal.h - what the files of the MCP client share.
 *
 *   mcp.c          the process, the handshake, calls
 *   mcp_result.c   reads what servers answer; without I/O, for a fuzzer
 */
#ifndef SRC_MCP_MCP_INTERNAL_H
#define SRC_MCP_MCP_INTERNAL_H

#include "acp/json.h"
#include "mcp/mcp.h"

/* The tools of a server, which are listed page by page. */
struct mcp_tools {
    struct mcp_tool items[MCP_MAX_TOOLS];
    size_t count;
    struct acp_arena arena;
};

struct mcp_hello {
    struct acp_str version;
    bool has_tools;
};

/* Reads the answer to initialize.  ACP_ERR_TYPE, or an error of the reader. */
int mcp_read_hello(struct acp_raw result, struct acp_arena *arena, struct mcp_hello *ret);
/* Whether that version of the protocol is supported. */
bool mcp_knows_version(struct acp_str version);

/*
 * Adds a page of tools/list to the tools; those without a valid name are left out.  *ret_cursor is
 * the cursor of the next page, in the arena of the tools, or absent.  ACP_ERR_LIMIT: there are too
 * many, and as many as possible were added.
 */
int mcp_read_tools(struct acp_raw result, struct mcp_tools *tools, struct acp_str *ret_cursor);

/* Reads the answer to tools/call; its text is appended to text, at most MCP_MAX_RESULT bytes. */
int mcp_read_result(struct acp_raw result, struct acp_buf *text, struct mcp_result *ret);

#endif
