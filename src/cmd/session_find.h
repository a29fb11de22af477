/* session_find.h - finds the session that a command applies to. */
#ifndef SRC_CMD_SESSION_FIND_H
#define SRC_CMD_SESSION_FIND_H

#include "cmd/conversation_setup.h"
#include "store/store.h"

/*
 * The open session of the agent with that name, or the unnamed one (NULL), in the current directory
 * or the nearest parent, up to the root of the git repository.  Texts go into the arena of the
 * setup.  ACP_ERR_MISSING when there is none; other errors have a message in *failure.
 */
int session_find(struct conversation_setup *c, const char *name, struct store_session *ret,
                 struct acp_failure *failure);

/*
 * The session given by a word: an id, a unique prefix of an id, or a name as above; open or closed.
 * With word NULL the same as session_find().
 */
int session_find_word(struct conversation_setup *c, struct store *store, const char *word,
                      struct store_session *ret, struct acp_failure *failure);

/*
 * Creates a session with that name (NULL: unnamed) for the current directory in the log, and puts
 * it into the setup.
 */
int session_make(struct conversation_setup *c, const char *name, struct acp_failure *failure);

/* Sets up the conversation to continue a stored session. */
int session_continue(struct conversation_setup *c, const struct store_session *session);

#endif
