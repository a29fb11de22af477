/*
 * mcp.h - a client of MCP servers: starts a program, lists its tools and calls them, over its
 * standard input and output.
 *
 *     mcp_server_new(loop, &options, &handler, user, &server, &failure);
 *     mcp_call(server, acp_str_from("search"), acp_raw_from("{\"word\":\"x\"}"), on_done, user,
 *           &call);
 *
 * What is guaranteed:
 *   - `ready` or `gone` is called within start_ms, whatever the program does
 *   - each call ends once, within call_ms, unless it is cancelled or its server is freed
 *   - the limits below bound the memory that a server can use
 *   - the program ends with its server, with all processes that it has started: its input is
 *     closed, and if it does not end then, it gets SIGTERM and later SIGKILL, within 2 s
 *
 * Callbacks come from the loop, never before the call that caused them has returned, and may call
 * any function here, including mcp_server_free().  Their arguments are valid until they return.
 * Sentences name the server and have no full stop.
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
    MCP_MAX_CALLS = 256,         /* at the same time */
};

struct mcp_server;
struct mcp_call;

/* Everything is copied. */
struct mcp_options {
    const char *name;        /* for people */
    const char *version;     /* ours, for the handshake; NULL: "0" */
    const char *const *argv; /* NULL at the end */
    const char *const *env;  /* "NAME=value", added to ours, NULL at the end; may be NULL */
    const char *cwd;         /* NULL: ours */
    uint64_t start_ms;       /* until its tools are known; 0: 30 s */
    uint64_t call_ms;        /* for one call; 0: 10 minutes */
};

struct mcp_handler {
    /* The tools are known.  Called once. */
    void (*ready)(struct mcp_server *server, void *user);
    /* The list of tools has changed; pointers to the old ones are invalid. */
    void (*tools_changed)(struct mcp_server *server, void *user);
    /*
     * It cannot be used, or has ended.  Called once, last, after all calls have ended.  The server
     * still has to be freed with mcp_server_free().
     */
    void (*gone)(struct mcp_server *server, struct acp_str sentence, void *user);
};

struct mcp_tool {
    struct acp_str name;
    struct acp_str description; /* may be empty */
    struct acp_raw schema;      /* of its arguments: a JSON object */
};

/*
 * Starts the program.  The handler is copied.  If the program cannot be started, failure says why
 * and nothing is called back.
 */
int mcp_server_new(uv_loop_t *loop, const struct mcp_options *options,
                   const struct mcp_handler *handler, void *user, struct mcp_server **ret,
                   struct acp_failure *failure);
/*
 * Drops its calls and ends the program; nothing is called back any more.  The loop stays active
 * until the program has ended.  Takes NULL.
 */
void mcp_server_free(struct mcp_server *server);

const char *mcp_server_name(const struct mcp_server *server);
/* NULL past the last.  Valid until tools_changed, or until the server is freed. */
const struct mcp_tool *mcp_server_tool_at(const struct mcp_server *server, size_t index);
size_t mcp_server_tool_count(const struct mcp_server *server);

struct mcp_result {
    /* 0, or why there is no answer: ACP_ERR_REMOTE, _TIMEOUT, _CLOSED, ...; text is a sentence */
    int err;
    bool is_error; /* the tool has failed; the text says why */
    bool cut;      /* the text was longer */
    /* All texts.  Images and the like are described in brackets. */
    struct acp_str text;
};

typedef void mcp_done_fn(struct mcp_call *call, const struct mcp_result *result, void *user);

/*
 * Calls a tool; arguments is an object or absent.  The call is valid until done returns.
 * done is not called for ACP_ERR_STATE (the server is not ready), ACP_ERR_CLOSED (it has ended),
 * ACP_ERR_LIMIT and ACP_ERR_NOMEM.
 */
int mcp_call(struct mcp_server *server, struct acp_str tool, struct acp_raw arguments,
             mcp_done_fn *done, void *user, struct mcp_call **ret);
/* Sends a cancellation to the server and frees the call; done is not called. */
void mcp_call_cancel(struct mcp_call *call);

#endif
