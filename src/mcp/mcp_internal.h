/*
 * mcp_internal.h - the inside of the MCP client.
 *
 *   mcp.c      the program, the handshake, calls
 *   answer.c   what servers answer, read; no I/O, so that a fuzzer can have it
 */
#ifndef SRC_MCP_MCP_INTERNAL_H
#define SRC_MCP_MCP_INTERNAL_H

#include "acp/json.h"
#include "mcp/mcp.h"

/* The tools of a server, as they are listed page by page. */
struct mcp_tools {
    struct mcp_tool items[MCP_MAX_TOOLS];
    size_t count;
    struct acp_arena arena;
};

struct mcp_hello {
    struct acp_str version;
    bool has_tools;
};

/* The answer to initialize.  ACP_ERR_TYPE, or what the reader says. */
int mcp_read_hello(struct acp_raw result, struct acp_arena *arena, struct mcp_hello *ret);
/* Whether we speak that version of the protocol. */
bool mcp_knows_version(struct acp_str version);

/*
 * A page of tools/list, added to the tools; what has no good name is left out.  The cursor of the
 * next page is put into *ret_cursor, in the arena of the tools, and absent when there is none.
 * ACP_ERR_LIMIT when there are too many: those that have room are taken.
 */
int mcp_read_tools(struct acp_raw result, struct mcp_tools *tools, struct acp_str *ret_cursor);

/* The answer to tools/call; text is where its text goes, at most MCP_MAX_RESULT bytes. */
int mcp_read_result(struct acp_raw result, struct acp_buf *text, struct mcp_result *ret);

#endif
