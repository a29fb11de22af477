/* session_find.h - the session that a command is about. */
#ifndef SRC_CMD_SESSION_FIND_H
#define SRC_CMD_SESSION_FIND_H

#include "cmd/conversation_setup.h"
#include "store/store.h"

/*
 * The open session of the conversation's agent: of that name, or without one (NULL), in the
 * conversation's folder or in one above it, up to the root of the git repository; the nearest wins.
 * Its texts go into the conversation's arena.  ACP_ERR_MISSING when there is none; for all other
 * errors the failure has a sentence.
 */
int session_find(struct conversation_setup *c, const char *name, struct store_session *ret,
                 struct acp_failure *failure);

/*
 * The session that the user means by a word: an id, the beginning of one, or a name as above.
 * word NULL: as session_find().  Open or closed.
 */
int session_find_word(struct conversation_setup *c, struct store *store, const char *word,
                      struct store_session *ret, struct acp_failure *failure);

/*
 * Makes a new session of that name (NULL: without one) in the conversation's folder and in the log,
 * and puts it into the conversation.
 */
int session_make(struct conversation_setup *c, const char *name, struct acp_failure *failure);

/* What the row says of the session, put into the conversation: it will go on with it. */
int session_continue(struct conversation_setup *c, const struct store_session *session);

#endif
