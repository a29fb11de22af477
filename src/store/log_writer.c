/*
 * The thread of a writer.  It takes whatever has come together since last time and writes it in
 * transactions of bounded size; while it writes, the next batch comes together.  So one event alone
 * is written at once, and a flood in few transactions, without a timer.
 */
#include "store/log_writer.h"

#include <stdlib.h>

/* A transaction keeps other processes out for some milliseconds at most. */
enum { BATCH_RECORDS = 2000, BATCH_BYTES = 1 << 20 };

/*
 * SQLite would move the pages of its journal into the database every thousand of them, in the
 * middle of a conversation, and who waits for an event waits for the disk then.  We do that when
 * nothing has come for a moment; a flood that never pauses still has an end.
 */
enum { QUIET_MS = 250 };
#define KEEP_JOURNAL "PRAGMA wal_autocheckpoint = 8192"
#define EMPTY_JOURNAL "PRAGMA wal_checkpoint(PASSIVE)"

void request_list_init(struct request_list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

void request_list_add(struct request_list *list, struct request *request)
{
    request->next = NULL;
    *list->end = request;
    list->end = &request->next;
}

void request_list_move(struct request_list *from, struct request_list *to)
{
    if (!from->first)
        return;
    *to->end = from->first;
    to->end = from->end;
    request_list_init(from);
}

/* ---- Failing --------------------------------------------------------------------------------- */

/* Nothing is kept from now on.  The loop hears of it with the next results. */
static void give_up(struct store_writer *w, const struct acp_failure *failure)
{
    if (w->in_transaction)
        store_rollback(w->store);
    w->in_transaction = false;
    w->to_index_count = 0;
    w->failure = *failure;
    uv_mutex_lock(&w->lock);
    w->shared_failure = *failure;
    uv_mutex_unlock(&w->lock);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static void touch(struct store_writer *w, struct store_log *log)
{
    if (log->touched)
        return;
    log->touched = true;
    log->next_touched = w->touched;
    w->touched = log;
}

/* A turn that ended is for the search, once there is nothing better to do. */
static void want_index(struct store_writer *w, int64_t number)
{
    for (size_t i = 0; i < w->to_index_count; i++)
        if (w->to_index[i] == number)
            return;
    if (w->to_index_count < STORE_TO_INDEX_MAX)
        w->to_index[w->to_index_count++] = number;
}

static int write_last(struct store_writer *w, struct acp_failure *failure)
{
    int err = 0;
    for (const struct store_log *log = w->touched; log && !err; log = log->next_touched)
        if (log->pending_seq)
            err =
                store_set_last(w->store, log->number, log->pending_seq, log->pending_time, failure);
    return err;
}

/* Hands the results of a batch to the loop. */
static void publish(struct store_writer *w)
{
    bool kept = w->failure.err == 0;
    uv_mutex_lock(&w->lock);
    while (w->touched) {
        struct store_log *log = w->touched;
        w->touched = log->next_touched;
        log->passed = true;
        if (log->pending_seq) {
            log->passed_seq = log->pending_seq;
            if (kept)
                log->kept_seq = log->pending_seq;
        }
        if (log->turn_ended && kept && !(w->flags & STORE_NO_INDEX))
            want_index(w, log->number);
        log->pending_seq = 0;
        log->turn_ended = false;
        log->touched = false;
    }
    request_list_move(&w->settled, &w->answers);
    w->passed += w->batch_records;
    w->in_flight -= w->batch_bytes;
    uv_mutex_unlock(&w->lock);
    w->batch_records = 0;
    w->batch_bytes = 0;
    (void) uv_async_send(&w->async);
}

/* Ends the batch: commits, and tells how it went. */
static void settle(struct store_writer *w)
{
    if (w->in_transaction) {
        struct acp_failure failure = {0};
        int err = write_last(w, &failure);
        if (!err)
            err = store_commit(w->store, &failure);
        if (err)
            give_up(w, &failure);
        w->in_transaction = false;
        w->has_journal = !err;
    }
    publish(w);
}

/* ---- Records --------------------------------------------------------------------------------- */

static int open_session(struct store_writer *w, struct request *request)
{
    struct store_log *log = request->log;
    int64_t number = 0;
    int err = store_read_session(w->store, request->session.id, &request->arena, &request->session,
                                 &number, &request->failure);
    if (!err) {
        log->number = number;
        return 0;
    }
    /* That there is none is the caller's trouble; everything else is ours. */
    return err == ACP_ERR_MISSING ? 0 : err;
}

static int perform(struct store_writer *w, struct request *request, struct acp_failure *failure)
{
    int err = 0;
    switch (request->kind) {
    case REQUEST_CREATE:
        return store_insert_session(w->store, &request->session, &request->log->number, failure);
    case REQUEST_OPEN:
        err = open_session(w, request);
        if (err)
            *failure = request->failure;
        return err;
    case REQUEST_CHANGE:
        return store_change_session(w->store, acp_str_from(request->log->id), &request->change,
                                    failure);
    case REQUEST_CLOSE:
    case REQUEST_FLUSH:
        break;
    }
    return 0;
}

static int write_event(struct store_writer *w, const struct record *record,
                       struct acp_failure *failure)
{
    struct store_event event = {
        .seq = record->seq,
        .time = record->time,
        .turn = record->turn,
        .kind = acp_str_n(record->kind, record->kind_len),
        .body = acp_raw_n((const char *) (record + 1), record->body_len),
    };
    return store_insert_event(w->store, record->log->number, &event, failure);
}

static bool needs_transaction(const struct record *record)
{
    return !record->request ||
           (record->request->kind != REQUEST_CLOSE && record->request->kind != REQUEST_FLUSH);
}

static void handle_record(struct store_writer *w, const struct record *record)
{
    struct acp_failure failure = {0};
    int err = w->failure.err;
    if (!err && !w->in_transaction && needs_transaction(record)) {
        err = store_begin(w->store, &failure);
        w->in_transaction = !err;
    }
    if (!err)
        err = record->request ? perform(w, record->request, &failure)
                              : write_event(w, record, &failure);
    if (err && !w->failure.err)
        give_up(w, &failure);
    if (record->request) {
        if (w->failure.err && record->request->kind == REQUEST_OPEN)
            record->request->failure = w->failure;
        if (record->request->kind == REQUEST_CREATE)
            touch(w, record->log);
        request_list_add(&w->settled, record->request);
        return;
    }
    touch(w, record->log);
    record->log->pending_seq = record->seq;
    record->log->pending_time = record->time;
    if (acp_str_is(acp_str_n(record->kind, record->kind_len), "stop"))
        record->log->turn_ended = true;
}

static void write_batches(struct store_writer *w)
{
    for (size_t at = 0; at < w->writing.len;) {
        const struct record *record = (const struct record *) (const void *) (w->writing.data + at);
        /* Who opens a session again is told all of it, and others can read that. */
        if (record->request && record->request->kind == REQUEST_OPEN && w->touched)
            settle(w);
        handle_record(w, record);
        at += record->size;
        w->batch_records++;
        w->batch_bytes += record->size;
        if (w->batch_records >= BATCH_RECORDS || w->batch_bytes >= BATCH_BYTES)
            settle(w);
    }
    if (w->batch_records > 0)
        settle(w);
}

/* ---- The thread ------------------------------------------------------------------------------ */

/*
 * One pass for the oldest turn that waits.  Where it fails, the next search tells why; what a long
 * turn has left when the writer is closed is for that, too.
 */
static void index_one(struct store_writer *w)
{
    if (store_index_session(w->store, w->to_index[0], NULL) <= 0 || w->hurry)
        memmove(w->to_index, w->to_index + 1, --w->to_index_count * sizeof(w->to_index[0]));
}

/* Waits for something to come; false when that took so long that the journal can be emptied. */
static bool wait_for_work(struct store_writer *w)
{
    bool in_time = true;
    w->waiting = true;
    if (w->has_journal)
        in_time = uv_cond_timedwait(&w->wake, &w->lock, QUIET_MS * UINT64_C(1000000)) == 0;
    else
        uv_cond_wait(&w->wake, &w->lock);
    w->waiting = false;
    return in_time;
}

/* Waits for something to do and takes it; false: there will be nothing any more. */
static bool take_work(struct store_writer *w)
{
    bool quiet = false;
    uv_mutex_lock(&w->lock);
    while (w->filling.len == 0 && !w->stopping && w->to_index_count == 0 && !quiet)
        quiet = !wait_for_work(w);
    bool more = w->filling.len > 0 || w->to_index_count > 0 || quiet;
    w->hurry = w->stopping;
    struct acp_buf taken = w->filling;
    w->filling = w->writing;
    w->writing = taken;
    w->in_flight = taken.len;
    uv_mutex_unlock(&w->lock);
    return more;
}

/* What fails here is tried again by SQLite, and by whoever closes the database last. */
static void empty_journal(struct store_writer *w)
{
    if (!w->failure.err)
        (void) store_exec(w->store, EMPTY_JOURNAL, NULL);
    w->has_journal = false;
}

/* The buffer is empty again; what a flood has left behind is given back. */
static void empty_buffer(struct store_writer *w)
{
    if (w->writing.cap > 2 * w->high_water)
        acp_buf_finish(&w->writing);
    else
        acp_buf_clear(&w->writing);
}

void store_writer_thread(void *user)
{
    struct store_writer *w = user;
    struct acp_failure failure = {0};
    int err = store_open(w->path, w->flags, &w->store, &failure);
    if (!err)
        err = store_exec(w->store, KEEP_JOURNAL, &failure);
    if (err) {
        give_up(w, &failure);
        (void) uv_async_send(&w->async);
    }
    while (take_work(w)) {
        if (w->writing.len > 0) {
            write_batches(w);
            empty_buffer(w);
        } else if (w->to_index_count > 0) {
            index_one(w);
        } else {
            empty_journal(w);
        }
    }
    store_close(w->store);
    uv_mutex_lock(&w->lock);
    w->ended = true;
    uv_mutex_unlock(&w->lock);
    (void) uv_async_send(&w->async);
}
