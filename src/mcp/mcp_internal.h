/*
 * mcp_internal.h - what the files of the MCP client share.
 *
 *   server.c           the connection: initialize, states, requests of the server
 *   lists.c            tools, prompts, resources and templates
 *   mcp_requests.c     requests, with progress and cancellation
 *   transport.h        how messages travel: stdio.c, http.c, acp_transport.c
 *   mcp_read.c         reads what servers say; without I/O, for a fuzzer
 *   mcp_read_result.c  the same for results with content
 */
#ifndef SRC_MCP_MCP_INTERNAL_H
#define SRC_MCP_MCP_INTERNAL_H

#include "acp/json.h"
#include "acp/rpc.h"
#include "mcp/mcp.h"
#include "mcp/transport.h"

/* The newest version of the protocol that is supported, which initialize asks for. */
#define MCP_NEWEST_VERSION "2025-11-25"

/* ---- mcp_read.c ------------------------------------------------------------------------------ */

struct mcp_list {
    struct mcp_item *items; /* in the arena */
    size_t count;
    size_t cap;
    struct acp_arena arena;
};

void mcp_list_init(struct mcp_list *list);
void mcp_list_finish(struct mcp_list *list);

/* Whether that version of the protocol is supported. */
bool mcp_knows_version(struct acp_str version);
/* Reads the answer to initialize, into the arena.  ACP_ERR_TYPE, or an error of the reader. */
int mcp_read_info(struct acp_raw result, struct acp_arena *arena, struct mcp_info *ret);
/*
 * Adds a page of a list; items without a valid name are left out.  *ret_cursor is the cursor of the
 * next page, in the arena of the list, or absent.  ACP_ERR_LIMIT: there are too many, and as many
 * as possible were added.
 */
int mcp_read_list(struct acp_raw result, enum mcp_list_kind kind, struct mcp_list *list,
                  struct acp_str *ret_cursor);

struct mcp_progress_note {
    uint64_t token;
    struct mcp_progress progress;
};
/* Reads the params of notifications/progress.  ACP_ERR_TYPE. */
int mcp_read_progress(struct acp_raw params, struct acp_arena *arena,
                      struct mcp_progress_note *ret);

/* ---- server.c -------------------------------------------------------------------------------- */

/* A list that is kept up to date. */
struct mcp_listing {
    struct mcp_list *known;    /* NULL until they are */
    struct mcp_list *next;     /* those that are being listed, or NULL */
    unsigned pages;            /* of the listing */
    unsigned count;            /* of listings */
    bool again;                /* they changed while they were listed */
    struct mcp_server *server; /* and kind: for the callback of a page */
    enum mcp_list_kind kind;
};

struct mcp_server {
    uv_loop_t *loop;
    uv_timer_t *timer; /* of requests; closed with the server */
    char *name;
    char *version; /* ours */
    bool elicits_urls;
    uint64_t start_ms;
    uint64_t call_ms;
    uint64_t deadline; /* until it must be ready */
    struct mcp_handler handler;
    void *user;
    enum mcp_state state;
    struct acp_peer *peer;
    struct mcp_transport *transport;
    struct acp_arena info_arena;
    struct mcp_info info;
    char noise[80]; /* the beginning of the first line that is not a message */
    struct mcp_listing lists[MCP_LIST_KINDS];
    struct mcp_call *calls;
    size_t call_count;
    uint64_t tokens;              /* of progress, so far */
    struct acp_str lost_sentence; /* why a response cannot arrive, while that is delivered */
    unsigned depth;               /* of callbacks, during which it must not be freed */
    bool ended;                   /* the transport, or there is none */
    bool freed;                   /* no callbacks any more */
};

/* Around everything that may call the handler. */
void mcp_server_enter(struct mcp_server *server);
/* Frees a server that was freed meanwhile. */
void mcp_server_leave(struct mcp_server *server);
/* It cannot be used any more: what it did, for people. */
void mcp_server_fail(struct mcp_server *server, const char *format, ...) ACP_PRINTF(2, 3);
/* The same for a request of ours that was not answered properly. */
void mcp_server_fail_reply(struct mcp_server *server, const char *what,
                           const struct acp_reply *reply);
/* The first tools are known, or there are none. */
void mcp_server_be_ready(struct mcp_server *server);
uint64_t mcp_server_time_left(const struct mcp_server *server);
/* Appends a sentence for a request without a result. */
void mcp_server_explain(const struct mcp_server *server, const struct acp_reply *reply,
                        uint64_t timeout_ms, struct acp_buf *out);

/* ---- lists.c --------------------------------------------------------------------------------- */

/* Starts a listing unless one is under way, which is repeated then. */
void mcp_lists_start(struct mcp_server *server, enum mcp_list_kind kind);
void mcp_lists_finish(struct mcp_server *server);

/* ---- mcp_requests.c -------------------------------------------------------------------------- */

void mcp_requests_on_progress(struct mcp_server *server, struct acp_raw params);
/* The server is freed: no call calls back any more. */
void mcp_requests_drop(struct mcp_server *server);
void mcp_requests_on_timer(uv_timer_t *timer);

#endif
