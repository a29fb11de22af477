/*
 * db.h - a connection to the database, for the files of this folder: its statements, its errors in
 * words, and where an event stands.
 */
#ifndef SRC_STORE_DB_H
#define SRC_STORE_DB_H

#include "store/db_schema.h"
#include "store/sqlite.h"
#include "store/statements.h"
#include "store/store.h"

struct store {
    sqlite3 *handle;
    char *path;
    sqlite3_stmt *statements[STORE_STATEMENT_COUNT]; /* prepared when first used, then kept */
    /* An import that is under way: the session's number and the event that is due; 0: none. */
    int64_t import_number;
    uint64_t import_seq;
    int64_t import_time;
    char *packed; /* for store_insert_run(); allocated when first used */
};

/*
 * The key of an event, and of a text in the search index: the session's number in the upper half,
 * the sequence in the lower one.  So a session's events lie together and in order.
 */
enum { STORE_SEQ_BITS = 32 };
#define STORE_SEQ_MAX UINT32_MAX

static inline int64_t store_place(int64_t number, uint64_t seq)
{
    return (int64_t) (((uint64_t) number << STORE_SEQ_BITS) | seq);
}

static inline uint64_t store_place_seq(int64_t place)
{
    return (uint64_t) place & STORE_SEQ_MAX;
}

/*
 * Events in one row: they follow each other and have the same time, turn and kind.  In a row of its
 * own, an event takes several times as long to write, and is not compressed.
 */
struct store_run {
    struct store_event first; /* body: those of all, with a separator between two */
    uint64_t count;
};
enum { STORE_RUN_MAX_BYTES = 64 * 1024 }; /* as much as can be compressed */
/* Cannot occur in JSON; the record separator, as in RFC 7464. */
#define STORE_BODY_SEPARATOR '\x1e'

/* store_open() with a schema of the caller's, which tests need. */
int store_open_schema(const char *path, unsigned flags, const struct store_schema *schema,
                      struct store **ret, struct acp_failure *failure);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Fills the failure, when there is one, and returns err. */
int store_fail(struct acp_failure *failure, int err, const char *format, ...) ACP_PRINTF(3, 4);
/* What SQLite's result code means for a person; the database is named. */
int store_fail_code(const struct store *store, int code, struct acp_failure *failure);
/* As much of a path as fits into a sentence: its end. */
const char *store_shown(const char *path);

/* ---- Statements ------------------------------------------------------------------------------ */

/* Runs SQL without results. */
int store_exec(struct store *store, const char *sql, struct acp_failure *failure);
/* Ready to be bound; nothing of an earlier use is left. */
int store_prepare(struct store *store, enum store_statement which, sqlite3_stmt **ret,
                  struct acp_failure *failure);
/* 1: a row; 0: done, and the statement is reset; or an error, and it is reset. */
int store_step(struct store *store, sqlite3_stmt *statement, struct acp_failure *failure);
/* For statements without rows. */
int store_run(struct store *store, sqlite3_stmt *statement, struct acp_failure *failure);

/* For LIMIT: 0 is none. */
sqlite3_int64 store_limit(uint64_t limit);
/* Absent and null texts are NULL there.  The bytes must live until the statement is reset. */
void store_bind_str(sqlite3_stmt *statement, int at, struct acp_str text);
void store_bind_blob(sqlite3_stmt *statement, int at, struct acp_raw bytes);
/* Lives until the next step. */
struct acp_str store_column_str(sqlite3_stmt *statement, int at);

int store_begin(struct store *store, struct acp_failure *failure);
int store_commit(struct store *store, struct acp_failure *failure);
void store_rollback(struct store *store);
/* Ends a transaction by how it went: commits after 0, takes back after an error; returns it. */
int store_end(struct store *store, int err, struct acp_failure *failure);

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Writes the row of a new session. */
int store_insert_session(struct store *store, const struct store_session *session,
                         int64_t *ret_number, struct acp_failure *failure);
/* The row with that whole id; the texts go into the arena.  ACP_ERR_MISSING. */
int store_read_session(struct store *store, struct acp_str id, struct acp_arena *arena,
                       struct store_session *ret, int64_t *ret_number, struct acp_failure *failure);
/* The turn of the last event that belongs to one; 0 if none does. */
int store_last_turn(struct store *store, int64_t number, uint64_t *ret,
                    struct acp_failure *failure);
/* Its number alone. */
int store_number(struct store *store, struct acp_str id, int64_t *ret, struct acp_failure *failure);
int store_change_session(struct store *store, struct acp_str id, const struct store_change *change,
                         struct acp_failure *failure);
int store_insert_event(struct store *store, int64_t number, const struct store_event *event,
                       struct acp_failure *failure);
int store_insert_run(struct store *store, int64_t number, const struct store_run *run,
                     struct acp_failure *failure);
/* The events of a session from one number up to another, at most limit (0: all). */
int store_each_event(struct store *store, int64_t number, uint64_t from, uint64_t to,
                     uint64_t limit, store_event_fn *each, void *user, struct acp_failure *failure);
/* The session's last event is this one now. */
int store_set_last(struct store *store, int64_t number, uint64_t seq, int64_t time,
                   struct acp_failure *failure);

/* ---- The search index ------------------------------------------------------------------------ */

/*
 * Adds to the index what a session has and the index has not, in one transaction of bounded size.
 * 1: there is more to do; 0: done.
 */
int store_index_session(struct store *store, int64_t number, struct acp_failure *failure);
/* The same for all sessions, until nothing is left. */
int store_index_all(struct store *store, struct acp_failure *failure);

#endif
