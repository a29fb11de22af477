/* daemon_connect.h - a client at the owner of a session, who is started when there is none. */
#ifndef SRC_CMD_DAEMON_CONNECT_H
#define SRC_CMD_DAEMON_CONNECT_H

#include "cmd/session_find.h"
#include "daemon/daemon_client.h"

/*
 * Finds the session of that name (NULL: the one without), and whether somebody owns it.  Prints
 * what is wrong and returns the exit status; EXIT_NO_SESSION, without a word, when there is none.
 * ret_socket is set when the status is EXIT_OK.
 */
int daemon_find(struct conversation_setup *c, const char *name, char ret_socket[DAEMON_PATH_SIZE]);

/*
 * Visits the owner; with ttl_ms not NULL one is started when there is none, for the session that
 * the conversation is about.  ACP_ERR_CLOSED when there is none; failure has a sentence for all
 * others.
 */
int daemon_connect(struct conversation_setup *c, const char *socket, const uint64_t *ttl_ms,
                   uv_loop_t *loop, const struct daemon_client_handler *handler, void *user,
                   struct daemon_client **ret, struct acp_failure *failure);

#endif
