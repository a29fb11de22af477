/*
 * connection.h - a connection to an agent, whatever carries it: a child process, or in tests an
 * agent in the same process.
 *
 * A conversation opens one from an endpoint when it needs the agent, and another when that one has
 * ended.
 */
#ifndef SRC_CONVERSATION_CONNECTION_H
#define SRC_CONVERSATION_CONNECTION_H

#include <uv.h>

#include "acp/client.h"

struct agent_connection;

/* All are called from the loop.  user is the one given to connect(). */
struct agent_connection_handler {
    const struct acp_client_handler *client;
    /* A line that the agent wrote to standard error. */
    void (*agent_stderr)(struct acp_str line, void *user);
    /*
     * The connection has ended; the sentence says how.  All requests have failed before.  The
     * connection is still to be freed.
     */
    void (*ended)(struct acp_str sentence, void *user);
};

struct agent_connection_class {
    /* The client role; belongs to the connection. */
    struct acp_client *(*client)(const struct agent_connection *connection);
    /* False when the agent has ended, also before `ended` is called. */
    bool (*is_alive)(const struct agent_connection *connection);
    /* 0 if it is not a process of ours. */
    int (*pid)(const struct agent_connection *connection);
    /* Stops (true) and resumes (false) reading, so that the agent has to wait. */
    void (*pause)(struct agent_connection *connection, bool pause);
    /* Ends the agent, gently first; `ended` is called. */
    void (*stop)(struct agent_connection *connection);
    /* Kills the agent and its descendants, also while it is being stopped; `ended` is called. */
    void (*kill)(struct agent_connection *connection);
    /* Ends it at once; nothing is called back but the client's last callbacks. */
    void (*free)(struct agent_connection *connection);
};

/* The first member of every connection. */
struct agent_connection {
    const struct agent_connection_class *class;
};

/* The first member of what uses a connection; callbacks have it as their user pointer. */
struct agent_connection_user {
    const struct agent_connection_handler *handler;
};

/* How an agent is reached; the first member of what a connect function needs. */
struct agent_endpoint {
    int (*connect)(const struct agent_endpoint *endpoint, uv_loop_t *loop,
                   const struct acp_client_options *client, struct agent_connection_user *user,
                   struct agent_connection **ret, struct acp_failure *failure);
};

/* An agent that is started as a child process.  Texts and lists outlive the conversations. */
struct agent_process_endpoint {
    struct agent_endpoint endpoint; /* set by agent_process_endpoint_init() */
    const char *const *argv;
    const char *const *env; /* NAME=value, NULL at the end; may be NULL */
    const char *cwd;
    /* Messages on their way, for a recording; see struct acp_link_options.  May be NULL. */
    void (*traffic)(bool is_sent, struct acp_str bytes, void *user);
    void *traffic_user;
};

void agent_process_endpoint_init(struct agent_process_endpoint *endpoint);

#endif
