/*
 * sessions.h - what the subcommands of `acp sessions` share.
 *
 *   sessions.c         list, show, new, ensure; the table
 *   sessions_read.c    history, search
 *   sessions_carry.c   export, import
 *   sessions_end.c     close, delete, prune
 */
#ifndef SRC_CMD_SESSIONS_H
#define SRC_CMD_SESSIONS_H

#include "cmd/session_find.h"

/* What all of them need; sessions_finish() is due in any case. */
struct sessions {
    struct conversation_setup setup;
    struct store *store;
    bool has_agent; /* the command line names one: only its sessions */
};

/*
 * Opens the log.  A log that is not there is no failure when empty_is_fine: store is NULL then.
 * Prints what is wrong and returns the exit status.
 */
int sessions_open(struct sessions *sessions, const struct invocation *invocation,
                  const struct agent_flags *agent, bool empty_is_fine);
void sessions_finish(struct sessions *sessions);

/* The session that the first argument, or the folder, means; says so when there is none. */
int sessions_find(struct sessions *sessions, const struct invocation *invocation,
                  struct store_session *ret);

/* A session as one object of JSON. */
void sessions_write(struct acp_json_writer *w, const struct store_session *session);
/* The same read again, in the arena. */
int sessions_read_row(struct acp_raw json, struct acp_arena *arena, struct store_session *ret);
/* "2026-11-15 06:30:00", in the local time zone. */
enum { SESSIONS_TIME_SIZE = 20 };
void sessions_time(int64_t ms, char ret[SESSIONS_TIME_SIZE]);

extern const struct command command_sessions_history;
extern const struct command command_sessions_search;
extern const struct command command_sessions_export;
extern const struct command command_sessions_import;
extern const struct command command_sessions_close;
extern const struct command command_sessions_delete;
extern const struct command command_sessions_prune;

#endif
