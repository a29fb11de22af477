/*
 * mcp.h - a client of MCP servers, over stdio, streamable HTTP and the older HTTP+SSE.
 *
 *     mcp_server_new(loop, &options, &handler, user, &server, &failure);
 *     mcp_call(server, acp_str_from("search"), acp_raw_from("{\"word\":\"x\"}"), &watcher, user,
 *              &call);
 *
 * What is guaranteed:
 *   - `ready` or `gone` is called within start_ms, whatever the server does
 *   - each request ends once, call_ms after its last sign of progress at the latest and after
 *     MCP_MAX_CALL_TIMES as long in any case, unless it is cancelled or its server is freed
 *   - the limits below bound the memory that a server can use
 *   - a program ends with its server, with all processes that it has started: its input is closed,
 *     and if it does not end then, it gets SIGTERM and later SIGKILL, within 2 s
 *   - over HTTP, a stream that breaks off is resumed where the server can do that, and a result is
 *     neither lost nor delivered twice then; a request that may have been served is never repeated
 *
 * Callbacks come from the loop, never before the call that caused them has returned, and may call
 * any function here, including mcp_server_free().  Their arguments are valid until they return.
 * Sentences name the server and have no full stop.
 */
#ifndef SRC_MCP_MCP_H
#define SRC_MCP_MCP_H

#include <uv.h>

#include "acp/base.h"
#include "acp/rpc.h"
#include "acp/types.h"
#include "http/http_client.h"

enum {
    MCP_MAX_TOOLS = 256,              /* of one server, and likewise resources and prompts */
    MCP_MAX_NAME = 256,               /* bytes of a name; items with longer ones are left out */
    MCP_MAX_DESCRIPTION = 8 * 1024,   /* bytes of a description; the rest is cut */
    MCP_MAX_URI = 4096,               /* bytes of a URI; items with longer ones are left out */
    MCP_MAX_INSTRUCTIONS = 16 * 1024, /* bytes; the rest is cut */
    MCP_MAX_LIST = 4 << 20,           /* bytes of all names, descriptions and schemas */
    MCP_MAX_MESSAGE = 16 << 20,       /* bytes of one message */
    MCP_MAX_RESULT = 256 * 1024,      /* bytes of text of one result; the rest is cut */
    MCP_MAX_BLOCKS = 64,              /* of one result that are shown; the text has all */
    MCP_MAX_CALLS = 256,              /* at the same time */
    MCP_MAX_ASKS = 16,                /* requests of the server that are open; more get an error */
    MCP_MAX_CALL_TIMES = 6,           /* how often progress can renew the time of a request */
};

struct mcp_server;
struct mcp_call;

/* ---- Options --------------------------------------------------------------------------------- */

enum mcp_transport_kind {
    MCP_STDIO = 0,
    MCP_HTTP, /* streamable; the older transport if the server refuses it */
    MCP_SSE,  /* the older transport */
    MCP_ACP,  /* a server in the ACP client, by mcp/message (unstable) */
};

/*
 * How requests to an HTTP server are authorized (the place of OAuth).  The object outlives the
 * server.
 */
struct mcp_refusal {
    int status;                 /* 401, or 403 */
    struct acp_str challenge;   /* WWW-Authenticate; may be absent */
    const char *url;            /* of the server */
    struct acp_str used_header; /* the Authorization that was sent; absent: none */
};
/* 0: try again; otherwise the sentence says why it cannot be. */
typedef void mcp_authorized_fn(int err, struct acp_str sentence, void *waiter);
struct mcp_authorizer {
    /*
     * The value of the Authorization header of the next request, such as "Bearer ...", or absent.
     * Called for each request; the text is valid until the next call.
     */
    struct acp_str (*header)(void *user);
    /*
     * The server has refused a request.  Returns true if authorization can be obtained: then
     * `done` is called once, later, unless `forget` is called before.  Meanwhile messages wait.
     */
    bool (*refused)(const struct mcp_refusal *refusal, mcp_authorized_fn *done, void *waiter,
                    void *user);
    void (*forget)(void *waiter, void *user);
    void *user;
};

/* Everything is copied, except for what the comments say. */
struct mcp_options {
    const char *name;    /* for people */
    const char *version; /* ours, for initialize; NULL: "0" */
    enum mcp_transport_kind kind;
    /* stdio */
    const char *const *argv; /* NULL at the end */
    const char *const *env;  /* "NAME=value", added to ours, NULL at the end; may be NULL */
    const char *cwd;         /* NULL: ours */
    /* HTTP */
    const char *url;
    const struct http_header *headers;
    size_t header_count;
    struct http_client *http;                /* outlives the server */
    const struct mcp_authorizer *authorizer; /* outlives the server; may be NULL */
    /* ACP */
    struct acp_agent *agent; /* outlives the server */
    const char *server_id;
    bool elicits_urls; /* handler.elicit takes web pages as well as forms */
    /* Times */
    uint64_t start_ms; /* until its tools are known; 0: 30 s */
    uint64_t call_ms;  /* for one request, without progress; 0: 10 minutes */
};

/* ---- Events ---------------------------------------------------------------------------------- */

enum mcp_list_kind { MCP_TOOLS = 0, MCP_PROMPTS, MCP_RESOURCES, MCP_TEMPLATES };
enum { MCP_LIST_KINDS = MCP_TEMPLATES + 1 };

/* All members may be NULL. */
struct mcp_handler {
    /* The tools are known.  Called once. */
    void (*ready)(struct mcp_server *server, void *user);
    /*
     * A list is known for the first time, has changed, or could not be had, which leaves it as it
     * was; pointers to its old items are invalid.  Not called for the first list of tools, which
     * comes before `ready`.
     */
    void (*listed)(struct mcp_server *server, enum mcp_list_kind kind, void *user);
    /* A resource that was subscribed to has changed. */
    void (*resource_updated)(struct mcp_server *server, struct acp_str uri, void *user);
    /* A line of its log; the text is a JSON value. */
    void (*log)(struct mcp_server *server, struct acp_str level, struct acp_raw data, void *user);
    /*
     * Requests of the server.  Each is answered once, by mcp_answer() or mcp_refuse(), in the
     * callback or later.  Those left out are not offered.  params is a JSON object, or absent.
     */
    void (*roots)(struct mcp_server *server, acp_call ask, void *user);
    void (*sample)(struct mcp_server *server, acp_call ask, struct acp_raw params, void *user);
    void (*elicit)(struct mcp_server *server, acp_call ask, struct acp_raw params, void *user);
    /* The server does not want the answer any more, which may still be given. */
    void (*withdrawn)(struct mcp_server *server, acp_call ask, void *user);
    /*
     * It cannot be used, or has ended.  Called once, last, after all calls have ended.  The server
     * still has to be freed with mcp_server_free().
     */
    void (*gone)(struct mcp_server *server, struct acp_str sentence, void *user);
};

/* ---- Its life -------------------------------------------------------------------------------- */

/*
 * Starts the program, or connects.  The handler is copied.  If that is not possible, failure says
 * why and nothing is called back.
 */
int mcp_server_new(uv_loop_t *loop, const struct mcp_options *options,
                   const struct mcp_handler *handler, void *user, struct mcp_server **ret,
                   struct acp_failure *failure);
/*
 * Drops its calls and ends the program or the session; nothing is called back any more.  The loop
 * stays active until that is done, at most 2 s.  Takes NULL.
 */
void mcp_server_free(struct mcp_server *server);

/* server_set_state() has the transitions. */
enum mcp_state {
    MCP_STARTING, /* initialize and the first list of tools are under way */
    MCP_READY,
    MCP_RENEWING, /* the server has forgotten the session, and initialize is under way again */
    MCP_GONE,
};

const char *mcp_server_name(const struct mcp_server *server);
enum mcp_state mcp_server_state(const struct mcp_server *server);

/* ---- What it offers -------------------------------------------------------------------------- */

/* What the server said in initialize; empty before. */
struct mcp_info {
    struct acp_str version;     /* of the protocol */
    struct acp_str server_name; /* may be empty, like the following */
    struct acp_str server_title;
    struct acp_str server_version;
    struct acp_str instructions;
    bool tools;
    bool resources;
    bool subscribe;
    bool prompts;
    bool completions;
    bool logging;
};
const struct mcp_info *mcp_server_info(const struct mcp_server *server);

/* A tool, a prompt, a resource or a template; what it does not have is empty. */
struct mcp_item {
    struct acp_str name;
    struct acp_str title;
    struct acp_str description;
    struct acp_str uri; /* of a resource, or the template */
    struct acp_str mime;
    struct acp_raw schema;         /* of a tool's arguments: a JSON object */
    struct acp_raw arguments;      /* of a prompt: a JSON array, or absent */
    struct acp_opt_bool read_only; /* hints of a tool, which may be wrong */
    struct acp_opt_bool destructive;
};

/*
 * The items that are known.  Tools and prompts are listed at the start and when they change; the
 * others by mcp_server_list().  Valid until `listed`, or until the server is freed.
 */
size_t mcp_server_count(const struct mcp_server *server, enum mcp_list_kind kind);
/* NULL past the last. */
const struct mcp_item *mcp_server_at(const struct mcp_server *server, enum mcp_list_kind kind,
                                     size_t index);
/* "tools", "tools/list" and so on. */
const char *mcp_list_key(enum mcp_list_kind kind);
const char *mcp_list_method(enum mcp_list_kind kind);
/* Lists them; `listed` follows if that succeeds.  ACP_ERR_STATE, ACP_ERR_CLOSED. */
int mcp_server_list(struct mcp_server *server, enum mcp_list_kind kind);

/* ---- Requests -------------------------------------------------------------------------------- */

struct mcp_reply {
    /* 0, or why there is no result: ACP_ERR_REMOTE, _TIMEOUT, _CLOSED, ... */
    int err;
    int64_t code;            /* of an error of the server */
    struct acp_str sentence; /* if err is not 0 */
    struct acp_raw result;   /* if it is */
};

/* message may be empty; total is absent if it is unknown. */
struct mcp_progress {
    double progress;
    struct acp_opt_f64 total;
    struct acp_str message;
};

typedef void mcp_reply_fn(struct mcp_call *call, const struct mcp_reply *reply, void *user);
typedef void mcp_progress_fn(struct mcp_call *call, const struct mcp_progress *progress,
                             void *user);

struct mcp_request {
    const char *method;
    struct acp_raw params;     /* a JSON object, or absent */
    uint64_t timeout_ms;       /* 0: call_ms of the server */
    mcp_reply_fn *reply;       /* the end of the request, once */
    mcp_progress_fn *progress; /* may be NULL */
    void *user;
};

/*
 * Sends a request.  The call is valid until `reply` returns, which is not called for ACP_ERR_STATE
 * (the server is not ready), ACP_ERR_CLOSED (it has ended), ACP_ERR_LIMIT and ACP_ERR_NOMEM.
 */
int mcp_server_request(struct mcp_server *server, const struct mcp_request *request,
                       struct mcp_call **ret);
/* Asks the server to cancel it and frees the call; reply is not called. */
void mcp_call_cancel(struct mcp_call *call);

/* Passes on a notification of the ACP client, which may be for another server. */
void mcp_server_notified(struct mcp_server *server,
                         const struct acp_message_mcp_notification *notification);
/* Tells the server that the roots have changed. */
void mcp_server_roots_changed(struct mcp_server *server);
/* Answers a request of the server; result is a JSON object. */
int mcp_answer(struct mcp_server *server, acp_call ask, struct acp_raw result);
int mcp_refuse(struct mcp_server *server, acp_call ask, int64_t code, const char *sentence);

/* ---- Calling a tool -------------------------------------------------------------------------- */

/* A block of content; what it does not have is empty. */
struct mcp_block {
    struct acp_str type; /* "text", "image", "audio", "resource", "resource_link" */
    struct acp_str text;
    struct acp_str data; /* base64 */
    struct acp_str mime;
    struct acp_str uri;
    struct acp_str name;
    struct acp_raw raw; /* all of it, as the server sent it */
};

struct mcp_result {
    /* 0, or why there is no answer: ACP_ERR_REMOTE, _TIMEOUT, _CLOSED, ...; text is a sentence */
    int err;
    bool is_error; /* the tool has failed; the text says why */
    bool cut;      /* the text was longer */
    /* All texts.  Images and the like are described in brackets. */
    struct acp_str text;
    const struct mcp_block *blocks;
    size_t block_count;
    struct acp_raw structured; /* a JSON object, or absent */
};

typedef void mcp_done_fn(struct mcp_call *call, const struct mcp_result *result, void *user);
struct mcp_watcher {
    mcp_done_fn *done;
    mcp_progress_fn *progress; /* may be NULL */
};

/*
 * Calls a tool; arguments is an object or absent.  Like mcp_server_request(), with `done` for
 * `reply`.
 */
int mcp_call(struct mcp_server *server, struct acp_str tool, struct acp_raw arguments,
             const struct mcp_watcher *watcher, void *user, struct mcp_call **ret);

/* Reads a result of tools/call; texts are in the arena, in `text`, or in the result. */
int mcp_read_result(struct acp_raw result, struct acp_arena *arena, struct acp_buf *text,
                    struct mcp_result *ret);
/*
 * Reads a result of resources/read ("contents") or prompts/get ("messages") as text, in the way of
 * mcp_result.text.  At most MCP_MAX_RESULT bytes are appended.
 */
int mcp_read_contents(struct acp_raw result, struct acp_buf *text, bool *ret_cut);
int mcp_read_messages(struct acp_raw result, struct acp_buf *text, bool *ret_cut);

#endif
