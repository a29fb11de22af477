/*
 * worker.h - runs functions of store.h beside a loop: on a thread, with a database connection of
 * its own.  Programs that serve peers never call SQLite on their loop; they ask a worker.
 *
 *     static int read_title(struct store *store, void *user, struct acp_failure *failure)
 *     {
 *         struct title *title = user; // on the thread
 *         struct store_session session;
 *         int err = store_find(store, title->id, &title->arena, &session, failure);
 *         if (!err)
 *             title->text = session.title;
 *         return err;
 *     }
 *
 *     store_worker_run(worker, read_title, show_title, title);
 *
 * A process needs one worker.  It runs one function after the other, in the order in which they
 * were given.  Events that a store_writer of this process has not written yet are not seen; see
 * store_writer_flush().
 *
 * Call all functions from the loop's thread; done is called there too, and may call any of them.
 */
#ifndef SRC_STORE_WORKER_H
#define SRC_STORE_WORKER_H

#include <uv.h>

#include "store/store.h"

struct store_worker;

/* Runs on the thread, which has user to itself until done is called.  0 or a negative acp_err. */
typedef int store_work_fn(struct store *store, void *user, struct acp_failure *failure);
/* What work returned; err and failure also say why the database could not be opened. */
typedef void store_work_done_fn(int err, const struct acp_failure *failure, void *user);

/* Copies the path.  The thread starts and the database is opened with the first work. */
int store_worker_new(uv_loop_t *loop, const char *path, unsigned flags, struct store_worker **ret);
/*
 * Queues work.  done is called exactly once, unless this returns an error: ACP_ERR_NOMEM, or
 * ACP_ERR_STATE after store_worker_close().
 */
int store_worker_run(struct store_worker *worker, store_work_fn *work, store_work_done_fn *done,
                     void *user);
/*
 * Calls back what is queued with ACP_ERR_CLOSED, waits for the function that is running and frees
 * everything; closed (may be NULL) is the last callback.  The loop must run until then.  Takes
 * NULL.
 */
void store_worker_close(struct store_worker *worker, void (*closed)(void *user), void *user);

#endif
