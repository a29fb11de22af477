/*
 * log.h - the session log while a conversation runs: written from the loop without ever waiting.
 *
 * One writer for each process has a thread and a connection of its own.  Appending gives an event
 * its number at once; the thread writes what has come together in one transaction as soon as it is
 * free, and `durable` tells on the loop how far each session is kept.  Who shows an event only
 * then never shows what a crash can take back.
 *
 * When the log cannot be kept (no SQLite, a full disk, a folder that cannot be written, a database
 * that is none) `failed` says so once.  From then on everything works as before, and `durable` says
 * that nothing is kept.
 *
 * All functions belong to the loop's thread, and so do the callbacks.  A callback may call any of
 * them.
 */
#ifndef SRC_STORE_LOG_H
#define SRC_STORE_LOG_H

#include <uv.h>

#include "store/store.h"

struct store_writer;
struct store_log; /* one session, claimed for writing */

struct store_writer_options {
    const char *path;  /* copied */
    unsigned flags;    /* enum store_open_flags */
    size_t high_water; /* bytes that wait to be written; 0: 8 MiB */
    size_t low_water;  /* 0: a quarter of the high mark */
    size_t max_bytes;  /* past this, appending is ACP_ERR_LIMIT; 0: 512 MiB */
};

struct store_writer_handler {
    /*
     * All events of the log up to this number are on disk (kept), or never will be.  Comes for the
     * latest number, not for each; also once for a new session without events, with 0.
     */
    void (*durable)(struct store_log *log, uint64_t seq, bool kept, void *user);
    /*
     * More waits than the high mark (true): stop reading from the agent.  False: go on.  True may
     * come out of store_log_append().
     */
    void (*pressure)(struct store_writer *writer, bool high, void *user);
    /* Why nothing is kept from now on: one sentence, without a final stop.  Comes at most once. */
    void (*failed)(struct store_writer *writer, const char *sentence, void *user);
};

/* Copies options and handler; the database is opened by the thread. */
int store_writer_new(uv_loop_t *loop, const struct store_writer_options *options,
                     const struct store_writer_handler *handler, void *user,
                     struct store_writer **ret);
typedef void store_done_fn(void *user);
/* Calls back when everything that was appended until now is kept, or given up. */
int store_writer_flush(struct store_writer *writer, store_done_fn *done, void *user);
/*
 * Writes what waits, lets go of all sessions and frees everything; done (may be NULL) is the last
 * callback.  The loop must run until then.
 */
void store_writer_close(struct store_writer *writer, store_done_fn *done, void *user);
/* Why nothing is kept, or NULL. */
const char *store_writer_failure(const struct store_writer *writer);

/* ---- Sessions -------------------------------------------------------------------------------- */

/*
 * A new session, claimed at once.  Of the row are used: id (absent: a new one is made), all texts,
 * created (0: now).  Copies everything.
 */
int store_log_create(struct store_writer *writer, const struct store_session *session, void *user,
                     struct store_log **ret, struct acp_failure *failure);

/*
 * An old session.  It is claimed at once; ACP_ERR_STATE names the process that has it already.
 * Then `opened` comes with its row, and from then on it can be appended to; with session NULL the
 * log is gone and the failure says why (no such session, or nothing is kept).  The row's texts hold
 * until opened returns.
 */
typedef void store_opened_fn(struct store_log *log, const struct store_session *session,
                             const struct acp_failure *failure, void *user);
int store_log_open(struct store_writer *writer, struct acp_str id, store_opened_fn *opened,
                   void *user, struct store_log **ret, struct acp_failure *failure);

/*
 * Gives the event its number.  time is what the event is shown with, so that it reads the same when
 * it is replayed: milliseconds since 1970.  The kind and the body are copied.  ACP_ERR_LIMIT,
 * ACP_ERR_NOMEM, ACP_ERR_ARGUMENT (the kind), ACP_ERR_STATE (not opened yet).  A "stop" makes the
 * turn searchable.
 */
int store_log_append(struct store_log *log, uint64_t turn, int64_t time, struct acp_str kind,
                     struct acp_raw body, uint64_t *ret_seq);
/* Changes the row, in order with the events.  Copies everything. */
int store_log_change(struct store_log *log, const struct store_change *change);
/*
 * Lets go of the session when all of it is kept.  The log is not to be used any more, and no
 * callback names it again.
 */
void store_log_close(struct store_log *log);

struct acp_str store_log_id(const struct store_log *log);
uint64_t store_log_last_seq(const struct store_log *log);
uint64_t store_log_durable_seq(const struct store_log *log);
void *store_log_user(const struct store_log *log);

#endif
