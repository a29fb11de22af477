/*
 * log.h - writes the session log from a loop, without blocking it.
 *
 * A process has one writer, with a thread and a database connection of its own, however many
 * sessions it serves.  Appending numbers an event and returns; the thread writes all events that
 * are waiting in one transaction, and `durable` reports on the loop how far a session is on disk.
 * A program that shows an event only then never shows what a crash can take back.
 *
 * If the log cannot be kept (no SQLite, a full disk, a read-only folder, a file that is no
 * database), `failed` says so once for each session.  After that everything works as before, except
 * that `durable` reports the events as not kept.
 *
 * Call all functions from the loop's thread; callbacks come there too, and may call any of them.
 */
#ifndef SRC_STORE_LOG_H
#define SRC_STORE_LOG_H

#include <uv.h>

#include "store/store.h"

struct store_writer;
struct store_log; /* one session, claimed for writing by this process */

struct store_writer_options {
    const char *path;  /* copied */
    unsigned flags;    /* enum store_open_flags */
    size_t high_water; /* bytes waiting to be written; 0: 8 MiB */
    size_t low_water;  /* 0: a quarter of the high mark */
    size_t max_bytes;  /* past this, appending is ACP_ERR_LIMIT; 0: 512 MiB */
};

/* Copies the options.  The thread opens the database. */
int store_writer_new(uv_loop_t *loop, const struct store_writer_options *options,
                     struct store_writer **ret);
typedef void store_done_fn(void *user);
/* Calls back once everything appended so far is durable, or known never to be. */
int store_writer_flush(struct store_writer *writer, store_done_fn *done, void *user);
/*
 * Writes what is waiting, releases all sessions and frees everything; done (may be NULL) is the
 * last callback.  The loop must run until then.
 */
void store_writer_close(struct store_writer *writer, store_done_fn *done, void *user);
/* Why nothing is kept any more: a sentence without a full stop.  NULL while the log works. */
const char *store_writer_failure(const struct store_writer *writer);

/* ---- Sessions -------------------------------------------------------------------------------- */

/* What a session is told.  Callbacks may be NULL. */
struct store_log_handler {
    /*
     * All events up to this number are on disk (kept), or never will be.  Reports the latest
     * number, not each one; a new session without events is reported once, with 0.
     */
    void (*durable)(struct store_log *log, uint64_t seq, bool kept, void *user);
    /*
     * The writer has more waiting than its high mark (true): stop reading from the agent.  False:
     * continue.  May be called out of store_log_append(), of any session.
     */
    void (*pressure)(struct store_log *log, bool high, void *user);
    /* Nothing is kept from now on, and why.  Called at most once. */
    void (*failed)(struct store_log *log, const char *sentence, void *user);
};

/*
 * Creates a session and claims it.  Of the row are used: id (absent: a new one is made), all texts,
 * created (0: now).  Copies everything but the handler, which must outlive the log.
 */
int store_log_create(struct store_writer *writer, const struct store_session *session,
                     const struct store_log_handler *handler, void *user, struct store_log **ret,
                     struct acp_failure *failure);

/*
 * Claims an existing session; ACP_ERR_STATE names the process that has it.  `opened` is called with
 * its row, and from then on it can be appended to.  If session is NULL, the log is gone and the
 * failure says why (no such session, or nothing is kept).  The row's texts are valid until opened
 * returns.
 */
typedef void store_opened_fn(struct store_log *log, const struct store_session *session,
                             const struct acp_failure *failure, void *user);
int store_log_open(struct store_writer *writer, struct acp_str id,
                   const struct store_log_handler *handler, store_opened_fn *opened, void *user,
                   struct store_log **ret, struct acp_failure *failure);

/*
 * Numbers the event.  time is shown with the event, now and when it is replayed: milliseconds since
 * 1970.  Copies kind and body.  ACP_ERR_LIMIT, ACP_ERR_NOMEM, ACP_ERR_ARGUMENT (the kind),
 * ACP_ERR_STATE (not opened yet).  The kind "stop" ends a turn, which is then indexed for search.
 */
int store_log_append(struct store_log *log, uint64_t turn, int64_t time, struct acp_str kind,
                     struct acp_raw body, uint64_t *ret_seq);
/* Changes the row, in order with the events.  Copies everything. */
int store_log_change(struct store_log *log, const struct store_change *change);
/*
 * Releases the session once all its events are durable.  The log must not be used any more, and no
 * callback is called for it again.
 */
void store_log_close(struct store_log *log);

struct acp_str store_log_id(const struct store_log *log);
uint64_t store_log_last_seq(const struct store_log *log);
uint64_t store_log_durable_seq(const struct store_log *log);
void *store_log_user(const struct store_log *log);

#endif
