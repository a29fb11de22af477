/*
 * transport.h - how the messages of an MCP connection travel.  A transport drives the endpoint of
 * the connection's peer:
 *
 *   stdio.c         a program, over its standard input and output
 *   http.c          a URL, by the streamable HTTP transport, or by the older HTTP+SSE
 *   acp_transport.c a server in the ACP client, by mcp/message
 *
 * The connection (server.c) owns the transport.  It is told of events by callbacks, which come from
 * the loop or from inside of stop().
 */
#ifndef SRC_MCP_TRANSPORT_H
#define SRC_MCP_TRANSPORT_H

#include "acp/endpoint.h"
#include "mcp/mcp.h"

struct mcp_transport;

/* What a transport tells the connection; user is the connection. */
struct mcp_transport_events {
    /*
     * The response to the request with this id, as its bytes, cannot arrive any more; the sentence
     * says why.
     */
    void (*lost)(struct acp_raw id, struct acp_str sentence, void *user);
    /*
     * The server has forgotten the session: initialize has to be sent again.  Messages that the
     * server has refused because of that are kept and sent after it.
     */
    void (*expired)(void *user);
    /*
     * The transport has ended and does not use the endpoint any more.  Called exactly once, within
     * two seconds after stop().  The sentence is empty if nothing is wrong.
     */
    void (*ended)(struct acp_str sentence, void *user);
};

/* What a transport can do.  Members may be NULL except stop and free. */
struct mcp_transport_class {
    /* initialize was answered, and this version of the protocol is spoken from now on. */
    void (*negotiated)(struct mcp_transport *transport, struct acp_str version);
    /* A notification of a server in the ACP client; it may be for another one. */
    void (*notified)(struct mcp_transport *transport,
                     const struct acp_message_mcp_notification *notification);
    /* Ends it in good order; `ended` follows, possibly inside this call. */
    void (*stop)(struct mcp_transport *transport);
    /* Only after `ended`. */
    void (*free)(struct mcp_transport *transport);
};

struct mcp_transport {
    const struct mcp_transport_class *class;
};

struct mcp_transport_context {
    uv_loop_t *loop;
    const char *name; /* of the server, for sentences; outlives the transport */
    struct acp_endpoint *endpoint;
    const struct mcp_transport_events *events;
    void *user;
};

/* On failure nothing is called back, and the failure has a sentence. */
int mcp_stdio_new(const struct mcp_transport_context *context, const struct mcp_options *options,
                  struct mcp_transport **ret, struct acp_failure *failure);
int mcp_acp_new(const struct mcp_transport_context *context, const struct mcp_options *options,
                struct mcp_transport **ret);
int mcp_http_new(const struct mcp_transport_context *context, const struct mcp_options *options,
                 struct mcp_transport **ret, struct acp_failure *failure);

#endif
