/*
 * sessions.h - what the subcommands of `acp sessions` share.
 *
 *   sessions.c          list, show; the command table
 *   sessions_read.c     history, search
 *   sessions_export.c   export, import
 *   sessions_end.c      close, delete, prune
 */
#ifndef SRC_CMD_SESSIONS_H
#define SRC_CMD_SESSIONS_H

#include "cli/text_table.h"
#include "cmd/session_find.h"
#include "render/render.h"

/* An open session log; sessions_finish() must be called in any case. */
struct sessions {
    struct conversation_setup setup;
    struct store *store;
    bool has_agent; /* the command line names an agent: use only its sessions */
};

/*
 * Opens the log.  With empty_is_fine a missing log is not an error, and store is NULL.
 * Prints errors and returns the exit status.
 */
int sessions_open(struct sessions *sessions, const struct invocation *invocation,
                  const struct agent_flags *agent, bool empty_is_fine);
void sessions_finish(struct sessions *sessions);

/* The session of the first argument, or of the directory.  Prints errors like sessions_open(). */
int sessions_find(struct sessions *sessions, const struct invocation *invocation,
                  struct store_session *ret);

int sessions_find_word(struct sessions *sessions, const char *word, struct store_session *ret);
/* The same for commands that only read: without an open session, the latest of the directory. */
int sessions_find_to_read(struct sessions *sessions, const struct invocation *invocation,
                          struct store_session *ret);

/* A list of sessions on its way to standard output. */
struct sessions_listing {
    enum render_format format;
    struct table *table;
};
int sessions_listing_init(struct sessions_listing *listing, enum render_format format);
/* For store_list() and store_prune(); user is the listing. */
int sessions_listing_add(const struct store_session *session, void *user);
/* Takes a zeroed one. */
void sessions_listing_end(struct sessions_listing *listing);

/* Writes a session as a JSON object. */
void sessions_write(struct acp_json_writer *w, const struct store_session *session);
/* Reads that object; texts go into the arena. */
int sessions_read_row(struct acp_raw json, struct acp_arena *arena, struct store_session *ret);
/* An event of the log; false for kinds that this version does not know. */
bool sessions_event(const struct store_event *event, struct session_event *ret);

/* Events of the log on their way through a renderer; zeroed before, and finished in any case. */
struct sessions_rendering {
    struct transcript *transcript;
    struct renderer *renderer;
    uint64_t most; /* messages; 0: all */
    uint64_t messages;
};
/* Returned by sessions_render() in place of the message after the last one. */
enum { SESSIONS_ENOUGH = 1 };
int sessions_rendering_init(struct sessions_rendering *rendering,
                            const struct renderer_options *options);
/* For store_events(). */
int sessions_render(const struct store_event *event, void *user);
int sessions_rendering_end(struct sessions_rendering *rendering);
void sessions_rendering_finish(struct sessions_rendering *rendering);
/*
 * Prints the events of a session in the format of the setup: the last messages, or the first after
 * an event.  Prints errors and returns the exit status.
 */
int sessions_print(struct sessions *sessions, const struct store_session *session,
                   const struct option_number *limit, const struct option_number *first);
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
