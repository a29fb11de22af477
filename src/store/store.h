/*
 * store.h - the session log on disk, for whoever reads it or puts it in order: one database with
 * every session and, for each, its events by number.
 *
 * A session is its events: 1, 2, 3 and so on without a gap, each with the bytes that came.  The row
 * beside them says where the session belongs and how it stands.  This half is synchronous, for
 * commands; what writes while a conversation runs is store/log.h.  Several processes may have the
 * same database open.
 *
 * Functions return 0 or a negative enum acp_err, and then a sentence for people in the failure
 * (which may be NULL).  ACP_ERR_MISSING: there is no such database or session.  A callback may use
 * the store, except for the function that called it.  Times are milliseconds since 1970.
 */
#ifndef SRC_STORE_STORE_H
#define SRC_STORE_STORE_H

#include "acp/base.h"

struct store;

enum store_open_flags {
    STORE_CREATE = 1 << 0,    /* make the database and its folder (modes 0600, 0700) if missing */
    STORE_FULL_SYNC = 1 << 1, /* what is written survives a loss of power too, at a price */
    STORE_NO_INDEX = 1 << 2,  /* a writer leaves all indexing to the first search */
};

/* Refuses what is no database, another program's, or of a newer version; migrates an older one. */
int store_open(const char *path, unsigned flags, struct store **ret, struct acp_failure *failure);
/* Takes NULL. */
void store_close(struct store *store);

/*
 * The pid of the process that has claimed a session for writing; 0: nobody, -1: one that has not
 * written its number yet.  Needs no open database.
 */
int64_t store_owner(const char *path, struct acp_str id);

/* A new id for a session: UUID version 7, so that ids sort by age. */
enum { STORE_ID_SIZE = 37 };
void store_new_id(char ret[STORE_ID_SIZE]);
/*
 * The part of an id that people are shown: eight digits of its random part, since its beginning is
 * a time that the ids of a day share.  An id of another form is shown whole.
 */
struct acp_str store_short_id(struct acp_str id);
/* The clock that stamps events. */
int64_t store_now(void);

/* ---- Sessions -------------------------------------------------------------------------------- */

/* Texts are absent where nothing is known.  When read, they live as long as the function says. */
struct store_session {
    struct acp_str id;            /* ours: letters, digits, - and _ */
    struct acp_str agent;         /* the name that the user knows it by */
    struct acp_str command;       /* JSON array: how the agent is started */
    struct acp_str agent_session; /* the agent's own id; another one when the session is reopened */
    struct acp_str name;          /* given by the user, or absent */
    struct acp_str scope;         /* the folder where `acp prompt` finds it, looking upwards */
    struct acp_str cwd;
    struct acp_str directories; /* JSON array: additional ones */
    struct acp_str title;
    struct acp_str settings; /* JSON object: wanted mode, model and others */
    struct acp_str usage;    /* JSON object, as the agent last told it */
    struct acp_str stop_reason;
    int64_t created;
    int64_t updated; /* time of the last event */
    int64_t closed;  /* 0: open */
    uint64_t last_seq;
    uint64_t last_turn; /* with events; 0 in lists */
    bool running;       /* a prompt is being answered, and the process that asked is alive */
    int64_t owner;      /* pid of the process that has claimed it for writing; see store_owner() */
};

/* What is to change; absent is unchanged, acp_str_null() and ACP_NULL remove. */
struct store_change {
    struct acp_str agent;
    struct acp_str command;
    struct acp_str agent_session;
    struct acp_str name;
    struct acp_str scope;
    struct acp_str cwd;
    struct acp_str directories;
    struct acp_str title;
    struct acp_str settings;
    struct acp_str usage;
    struct acp_str stop_reason;
    struct acp_opt_i64 closed;
    struct acp_opt_bool running;
};

/*
 * By id, or by the beginning of an id or of its random part (the last group of digits) that fits no
 * other session.  ACP_ERR_ARGUMENT if it fits several.  The texts go into the arena.
 */
int store_find(struct store *store, struct acp_str id, struct acp_arena *arena,
               struct store_session *ret, struct acp_failure *failure);
/*
 * The newest open session of that agent (absent: of any), scope and name (absent: the one without).
 */
int store_find_named(struct store *store, struct acp_str agent, struct acp_str scope,
                     struct acp_str name, struct acp_arena *arena, struct store_session *ret,
                     struct acp_failure *failure);

enum store_state { STORE_ANY = 0, STORE_OPEN, STORE_CLOSED };

struct store_filter {
    struct acp_str agent; /* texts: equal, or absent for any */
    struct acp_str scope;
    struct acp_str cwd;
    struct acp_str name;
    enum store_state state;
    bool not_empty; /* only those with events */
    uint64_t limit; /* 0: all */
    uint64_t offset;
};

/*
 * Called for one after the other; texts hold until it returns.  What is not 0 ends it, and is
 * returned.
 */
typedef int store_session_fn(const struct store_session *session, void *user);
/* Latest activity first. */
int store_list(struct store *store, const struct store_filter *filter, store_session_fn *each,
               void *user, struct acp_failure *failure);

/* By whole id; for a session that nobody has claimed, otherwise ACP_ERR_STATE names the owner. */
int store_change(struct store *store, struct acp_str id, const struct store_change *change,
                 struct acp_failure *failure);
int store_delete(struct store *store, struct acp_str id, struct acp_failure *failure);

struct store_prune {
    struct acp_str agent; /* absent: any */
    struct acp_str scope; /* absent: any */
    int64_t older_than;   /* last active before this time; 0: any */
    bool closed_only;
    uint64_t keep;          /* this number of the newest of that agent and scope stay */
    bool dry_run;           /* count only */
    store_session_fn *each; /* may be NULL; told of each before it goes */
    void *user;
};

/* Removes sessions that nobody has claimed and counts them. */
int store_prune(struct store *store, const struct store_prune *prune, uint64_t *ret_count,
                struct acp_failure *failure);
/* Gives the space of what was deleted back to the disk; slow. */
int store_compact(struct store *store, struct acp_failure *failure);

/* ---- Events ---------------------------------------------------------------------------------- */

/*
 * What the store itself understands, for the search: the body of "prompt" is an array of content
 * blocks (or an object with one as "prompt"); any other body with a member "sessionUpdate" is what
 * session/update has as "update".  "stop" and "error" end a turn.  Kinds are otherwise the writer's
 * own.
 */
struct store_event {
    uint64_t seq;
    int64_t time;
    uint64_t turn;
    struct acp_str kind; /* a short word, at most STORE_KIND_MAX bytes */
    struct acp_raw body; /* JSON as it came */
};
enum { STORE_KIND_MAX = 32 };

typedef int store_event_fn(const struct store_event *event, void *user);
/*
 * The events from that number on, at most limit (0: all); one at a time in memory.  id is a whole
 * one.  Events that are written meanwhile are not seen.
 */
int store_events(struct store *store, struct acp_str id, uint64_t from, uint64_t limit,
                 store_event_fn *each, void *user, struct acp_failure *failure);

/*
 * Adding a whole session, as an import does: all of it appears at commit, nothing at rollback.  The
 * events must have the numbers 1, 2, 3...  An id that exists already is ACP_ERR_STATE.
 */
int store_import_begin(struct store *store, const struct store_session *session,
                       struct acp_failure *failure);
int store_import_event(struct store *store, const struct store_event *event,
                       struct acp_failure *failure);
int store_import_commit(struct store *store, struct acp_failure *failure);
void store_import_rollback(struct store *store);

/* ---- Search ---------------------------------------------------------------------------------- */

/*
 * Over everything said: prompts, messages, thoughts, titles of tool calls, plans.  All words must
 * occur in the same message; a word may end in * (its beginning), and "words in quotes" must follow
 * each other.  Every other sign is only text.
 */
struct store_query {
    struct acp_str words;
    struct acp_str session; /* a whole id; absent: all */
    struct acp_str agent;
    struct acp_str scope;
    struct acp_str author; /* see struct store_hit */
    bool newest_first;     /* instead of the best first */
    uint64_t limit;        /* 0: all */
    uint64_t offset;
    const char *mark; /* put around what was found, in the snippet; NULL: nothing */
    const char *end_mark;
};

struct store_hit {
    struct acp_str session; /* id */
    struct acp_str agent;
    struct acp_str title;
    uint64_t seq; /* where the message begins */
    int64_t time;
    struct acp_str author;  /* user, agent, thought, tool or plan */
    struct acp_str snippet; /* some words around */
};

typedef int store_hit_fn(const struct store_hit *hit, void *user);
int store_search(struct store *store, const struct store_query *query, store_hit_fn *each,
                 void *user, struct acp_failure *failure);

#endif
