/* mcp_serve.h - our tools as an MCP server, on standard input and output. */
#ifndef SRC_AGENT_LOOP_MCP_SERVE_H
#define SRC_AGENT_LOOP_MCP_SERVE_H

#include "acp/policy.h"

enum {
    MCP_SERVE_MAX_MESSAGE = 32 << 20, /* bytes of one message of the client */
    MCP_SERVE_MAX_CALLS = 128,        /* open at the same time; more get an error */
    MCP_SERVE_MAX_SHOWN = 32 * 1024,  /* bytes of a call that a person is asked about; a longer one
                                         cannot be shown, and is denied */
};

/* All of it outlives the run. */
struct mcp_serve_options {
    const char *version;
    const char *cwd;                 /* the root; absolute */
    const struct acp_policy *policy; /* decides, with its mode */
    struct acp_ledger *ledger;       /* stores permanent permissions; may be NULL */
    const char *ledger_path;         /* may be NULL */
};

/*
 * Serves a client until its input ends.  A question goes to the client if that takes
 * elicitation/create; otherwise what is not allowed by a rule is denied.  Returns the exit status
 * of the process.
 */
int mcp_serve_run(const struct mcp_serve_options *options);

#endif
