/*
 * session_find.h - finds the session that a command applies to, and the agent that goes with it.
 *
 * A word for a session is one of these, in this order:
 *
 *   - a whole id;
 *   - the name of an open session in the current directory or the nearest parent, up to the root
 *     of the git repository; of the agent that was named, else of the default agent, else of any;
 *   - the beginning of an id or of its random part, if it fits only one session;
 *   - the name of a session elsewhere, if only one open session has it; otherwise the latest that
 *     is closed.
 */
#ifndef SRC_CMD_SESSION_FIND_H
#define SRC_CMD_SESSION_FIND_H

#include "cmd/conversation_setup.h"
#include "store/store.h"

/*
 * The session for a word; with word NULL the open session of the agent without a name, in the
 * current directory or the nearest parent.  setup->agent.name is NULL if no agent was named.  Texts
 * go into the arena of the setup.  ACP_ERR_MISSING: there is none; all errors have a message.
 */
int session_find_word(struct conversation_setup *setup, struct store *store, const char *word,
                      struct store_session *ret, struct acp_failure *failure);

/*
 * The latest session, open or closed, in the current directory or the nearest parent that has one;
 * of the agent, if one was named.  ACP_ERR_MISSING, without a message, if there is none.
 */
int session_find_latest(struct conversation_setup *setup, struct store *store,
                        struct store_session *ret, struct acp_failure *failure);

/* Which session the command line asks for; all zero: the one without a name. */
struct session_wish {
    const char *name;   /* --session: one that is open here, or an id */
    const char *resume; /* --resume: any word for a session */
    bool last;          /* --continue: the latest of this directory */
    bool fork;          /* --fork: a new session that begins as that one */
};

/*
 * Finds the session and the agent: the one that was named, else that of the session, else the
 * default one.  *ret_found is false if there is no such session, which is an error for --resume and
 * --continue only.  After conversation_setup_configure().  Prints errors and returns the exit
 * status.
 */
int session_choose(struct conversation_setup *setup, const struct invocation *invocation,
                   const struct agent_flags *agent, const struct session_wish *wish,
                   struct store_session *ret, bool *ret_found);

/*
 * The open session of the agent with that name, or without one, in the current directory or the
 * nearest parent.
 */
int session_find_open(struct conversation_setup *setup, const char *name, struct store_session *ret,
                      struct acp_failure *failure);
/* Opens a session that was closed, in the log. */
int session_reopen(struct conversation_setup *setup, const struct store_session *session,
                   struct acp_failure *failure);
/*
 * Creates a session with that name (NULL: unnamed) for the current directory in the log, and puts
 * it into the setup.
 */
int session_make(struct conversation_setup *setup, const char *name, struct acp_failure *failure);

/* Sets up the conversation to continue a stored session; or a new one, to begin as a stored one. */
int session_continue(struct conversation_setup *setup, const struct store_session *session);
int session_fork(struct conversation_setup *setup, const struct store_session *session);

#endif
