/* daemon_connect.h - connects to the daemon of a session, and starts it if necessary. */
#ifndef SRC_CMD_DAEMON_CONNECT_H
#define SRC_CMD_DAEMON_CONNECT_H

#include "cmd/session_find.h"
#include "daemon/daemon_client.h"

/* The path of the socket of the session's daemon.  Prints errors and returns the exit status. */
int daemon_find_socket(struct conversation_setup *c, char ret_socket[DAEMON_PATH_SIZE]);

/*
 * Connects to the daemon of the session.  With ttl_ms not NULL the daemon is started if none runs;
 * otherwise that is ACP_ERR_CLOSED.  All other errors have a message in *failure.
 */
int daemon_connect(struct conversation_setup *c, const char *socket, const uint64_t *ttl_ms,
                   uv_loop_t *loop, const struct daemon_client_handler *handler, void *user,
                   struct daemon_client **ret, struct acp_failure *failure);

#endif
