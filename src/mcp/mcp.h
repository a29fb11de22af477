/*
 * mcp.h - a client of MCP servers that are programs: one is started, asked which tools it has, and
 * has them called, over its standard input and output.
 *
 *     mcp_server_new(loop, &options, &handler, user, &server, &failure);
 *     mcp_call(server, acp_str_from("search"), acp_raw_from("{\"word\":\"x\"}"), on_done, user,
 *           &call);
 *
 * What is guaranteed:
 *   - one of `ready` and `gone` comes within start_ms, whatever the program does
 *   - each call has one end, within call_ms, unless it is cancelled or its server freed
 *   - what a server can make us hold is bounded by the numbers below
 *   - the program ends with its server, and so does all that it has started: its input is closed,
 *     and when that does not end it, it gets SIGTERM and then SIGKILL, within 2 s
 *
 * Callbacks run from the loop, never inside the call that caused them, and may call any function
 * here, also mcp_server_free().  What they are given is valid until they return.  Sentences name
 * the server and have no final stop.
 */
#ifndef SRC_MCP_MCP_H
#define SRC_MCP_MCP_H

#include <uv.h>

#include "acp/base.h"

enum {
    MCP_MAX_TOOLS = 256,         /* of one server; more are left out */
    MCP_MAX_NAME = 256,          /* bytes of a tool's name; longer ones are left out */
    MCP_MAX_LIST = 4 << 20,      /* bytes of all names, descriptions and schemas */
    MCP_MAX_MESSAGE = 16 << 20,  /* bytes of one message */
    MCP_MAX_RESULT = 256 * 1024, /* bytes of text of one result; the rest is cut */
    MCP_MAX_CALLS = 256,         /* that wait at the same time */
};

struct mcp_server;
struct mcp_call;

/* Everything is copied. */
struct mcp_options {
    const char *name;        /* for people */
    const char *version;     /* of ours, which it is told; NULL: "0" */
    const char *const *argv; /* NULL at the end */
    const char *const *env;  /* "NAME=value" on top of ours, NULL at the end; may be NULL */
    const char *cwd;         /* NULL: ours */
    uint64_t start_ms;       /* until its tools are known; 0: 30 s */
    uint64_t call_ms;        /* for one call; 0: 10 minutes */
};

struct mcp_handler {
    /* The tools are known; once. */
    void (*ready)(struct mcp_server *server, void *user);
    /* They are others than before: those that were looked at are gone. */
    void (*tools_changed)(struct mcp_server *server, void *user);
    /*
     * It could not be spoken with, or has ended; once, the last one.  Calls have had their ends.
     * The server still wants its mcp_server_free().
     */
    void (*gone)(struct mcp_server *server, struct acp_str sentence, void *user);
};

struct mcp_tool {
    struct acp_str name;
    struct acp_str description; /* maybe empty */
    struct acp_raw schema;      /* of its arguments: a JSON object */
};

/*
 * Starts the program; all else is told by the handler, which is copied.  When it cannot be started,
 * failure says so and nothing is called back.
 */
int mcp_server_new(uv_loop_t *loop, const struct mcp_options *options,
                   const struct mcp_handler *handler, void *user, struct mcp_server **ret,
                   struct acp_failure *failure);
/*
 * Its calls are given up without a word, and nothing is called back any more.  The program is told
 * to end; until it has, the loop has something to do.  Takes NULL.
 */
void mcp_server_free(struct mcp_server *server);

const char *mcp_server_name(const struct mcp_server *server);
/* NULL behind the last.  Valid until tools_changed, or until the server is freed. */
const struct mcp_tool *mcp_server_tool_at(const struct mcp_server *server, size_t index);
size_t mcp_server_tool_count(const struct mcp_server *server);

struct mcp_result {
    /* 0, or why there is no answer: ACP_ERR_REMOTE, _TIMEOUT, _CLOSED, ...; text says it */
    int err;
    bool is_error; /* the tool says that it has failed, and the text how */
    bool cut;      /* the text was longer */
    /* All texts; images and the like are named in brackets in their places. */
    struct acp_str text;
};

typedef void mcp_done_fn(struct mcp_call *call, const struct mcp_result *result, void *user);

/*
 * Calls a tool; arguments is an object or absent.  The call is valid until done returns.
 * ACP_ERR_STATE when the server is not ready, ACP_ERR_CLOSED when it is gone, ACP_ERR_LIMIT,
 * ACP_ERR_NOMEM: then done is not called.
 */
int mcp_call(struct mcp_server *server, struct acp_str tool, struct acp_raw arguments,
             mcp_done_fn *done, void *user, struct mcp_call **ret);
/* Tells the server that nobody waits any more.  done is not called, and the call is gone. */
void mcp_call_cancel(struct mcp_call *call);

#endif
