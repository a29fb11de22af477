/* mcp_connect.h - acp mcp: a connection to one server, and requests that are waited for. */
#ifndef SRC_CMD_MCP_CONNECT_H
#define SRC_CMD_MCP_CONNECT_H

#include "cli/command.h"
#include "cmd/config_command.h"
#include "mcp/mcp_tokens.h"

/* The options of all commands that use a server. */
struct mcp_flags {
    struct config_flags place;
    const char *mcp; /* a file with servers */
    struct option_number timeout;
    struct option_list headers; /* "Name: value", for a URL */
    int transport;              /* of a URL: enum mcp_transport_choice */
    bool defaults;              /* answer questions of the server with their defaults */
    bool verbose;
    bool json;
};
extern const struct option mcp_flag_rows[];
extern const char *const mcp_transport_names[];
enum mcp_transport_choice { MCP_CHOICE_HTTP = 1, MCP_CHOICE_SSE };

struct mcp_connection {
    const struct mcp_flags *flags;
    uv_loop_t loop;
    uv_signal_t interrupt;
    struct http_client *http;
    struct mcp_token_store store;
    struct mcp_tokens *tokens; /* of a server with a URL */
    struct mcp_server *server;
    struct config *config;
    struct acp_arena arena;
    bool ready;
    bool waiting;                /* for a reply */
    bool listed[MCP_LIST_KINDS]; /* since that was asked for */
    int status;                  /* the exit status, once something has failed */
    struct acp_buf result;
};

/*
 * Connects to SERVER: the name of a configured server, a URL, or a command line.  Prints errors and
 * returns the exit status; mcp_connection_close() must be called in any case.
 */
int mcp_connection_open(struct mcp_connection *connection, const struct mcp_flags *flags,
                        const char *server);
void mcp_connection_close(struct mcp_connection *connection);

/* Sends a request and waits: connection->result has the result.  Otherwise as above. */
int mcp_connection_request(struct mcp_connection *connection, const char *method,
                           struct acp_raw params);
/* Waits until a list is known. */
int mcp_connection_list(struct mcp_connection *connection, enum mcp_list_kind kind);

/* The result of the last request, for --json. */
struct acp_raw mcp_connection_result(const struct mcp_connection *connection);

#endif
