/*
 * mcp_servers.h - what the files about the MCP servers of a session share.
 *
 *   mcp_servers.c  starting, waiting, trying again, the end
 *   mcp_names.c    names of tools for models
 *   mcp_tools.c    the tools of servers as tools of the session
 *   mcp_asks.c     what servers ask: roots, questions for the user, answers of the model
 *   mcp_prompts.c  the prompts of servers as slash commands, and /mcp
 */
#ifndef SRC_AGENT_LOOP_MCP_SERVERS_H
#define SRC_AGENT_LOOP_MCP_SERVERS_H

#include "acp/types.h"
#include "agent/loop/coding_agent_internal.h"
#include "mcp/mcp_tokens.h"
#include "mcp/options.h"

enum {
    SERVERS_MAX = 32,       /* of a session */
    SERVERS_MAX_ALL = 256,  /* of all sessions; each is a process or a connection */
    SERVERS_MAX_LABEL = 24, /* bytes of a server's part of a name */
    SERVERS_MAX_TOOL = 64,  /* of the whole name: what model APIs accept */
    SERVERS_MAX_TRIES = 5,  /* in a row, to bring a server back that has ended */
    SERVERS_MAX_ASKS = 32,  /* open requests of all servers of a session; more are refused */
};

/* servers_set_state() has the transitions. */
enum server_state {
    SERVER_STARTING, /* for the first time, or again */
    SERVER_READY,
    SERVER_WAITING, /* has ended, and is tried again later */
    SERVER_FAILED,  /* is not tried again */
};

/* A tool as it was offered before, to notice changes of its description. */
struct offered_tool {
    uint64_t name; /* hashes */
    uint64_t definition;
};

struct one_server {
    struct agent_session *session;
    struct acp_arena arena; /* of the options */
    struct mcp_options options;
    struct mcp_tokens *tokens; /* of a login, for a server with a URL; or NULL */
    struct mcp_server *server; /* NULL: it is not connected */
    enum server_state state;
    bool was_waited_for;                 /* it has been ready, or has failed, once */
    unsigned tries;                      /* since it was ready for long enough */
    uint64_t due;                        /* WAITING: the next try; READY: since when */
    char label[SERVERS_MAX_LABEL + 1];   /* its unique prefix in the names of its tools */
    char (*names)[SERVERS_MAX_TOOL + 1]; /* of its tools, in their order */
    size_t name_count;
    struct offered_tool *offered;
    size_t offered_count;
    char *problem;  /* to be reported to the user, or NULL */
    char last[300]; /* the last problem; "": none */
};

struct server_ask; /* mcp_asks.c */

struct mcp_servers {
    struct one_server items[SERVERS_MAX];
    size_t count;
    uint64_t until;             /* how long prompts wait; the loop's time */
    uv_timer_t timer;           /* closed last, which frees the struct */
    struct agent_turn *waiting; /* the turn that waits, or NULL */
    struct mcp_call *prompt;    /* that it waits for; NULL: for servers that start */
    bool reported_omitted;      /* that there are more tools than can be offered */
    struct server_ask *asks;
    size_t ask_count;
    uint64_t asked; /* so far, for ids */
};

/* ---- mcp_servers.c --------------------------------------------------------------------------- */

/* Reports it together with those that could not be reported yet. */
void servers_add_problem(struct one_server *one, struct acp_str sentence);
/* "starting", "ready" and so on. */
const char *servers_state_name(enum server_state state);

/* ---- mcp_names.c ----------------------------------------------------------------------------- */

/* A label for the server that no other has. */
void servers_make_label(const struct mcp_servers *servers, struct acp_str name, char *out);
/* Makes names for the tools of the server. */
void servers_name_tools(struct one_server *one);
/* Tells the user of tools whose definition is another than before. */
void servers_notice_changes(struct one_server *one);

/* ---- mcp_tools.c ----------------------------------------------------------------------------- */

/* A server that is ending has no tools any more. */
size_t servers_tool_count(const struct one_server *one);

/* ---- mcp_asks.c ------------------------------------------------------------------------------ */

/* For mcp_handler. */
void servers_on_roots(struct mcp_server *server, acp_call ask, void *user);
void servers_on_sample(struct mcp_server *server, acp_call ask, struct acp_raw params, void *user);
void servers_on_elicit(struct mcp_server *server, acp_call ask, struct acp_raw params, void *user);
void servers_on_withdrawn(struct mcp_server *server, acp_call ask, void *user);
/* The server has ended: its requests need no answer any more. */
void servers_forget_asks(struct one_server *one);

#endif
