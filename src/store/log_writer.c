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
 * nothing has come for a moment.  In a flood we do it after LARGE_JOURNAL bytes of events, as soon
 * as nothing is waiting, so that the end of the program need not do all of it.  A flood that the
 * writer does not catch up with still has an end.
 */
enum { QUIET_MS = 250, LARGE_JOURNAL = 8 << 20 };
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
    w->run = NULL;
    w->to_index_count = 0;
    w->failure = *failure;
    uv_mutex_lock(&w->lock);
    w->shared_failure = *failure;
    uv_mutex_unlock(&w->lock);
}

/* ---- Runs of events -------------------------------------------------------------------------- */

static struct acp_raw body_of(const struct record *record)
{
    return acp_raw_n((const char *) (record + 1), record->body_len);
}

/* Writes the events that have been gathered for a row. */
static int write_run(struct store_writer *w, struct acp_failure *failure)
{
    const struct record *first = w->run;
    if (!first)
        return 0;
    struct store_run run = {
        .first = {.seq = first->seq,
                  .time = first->time,
                  .turn = first->turn,
                  .kind = acp_str_n(first->kind, first->kind_len),
                  .body = body_of(first)},
        .count = w->run_count,
    };
    w->run = NULL;
    if (run.count == 1)
        return store_insert_event(w->store, first->log->number, &run.first, failure);
    struct acp_str bodies = acp_buf_view(&w->run_bodies);
    run.first.body = acp_raw_n(bodies.ptr, bodies.len);
    return store_insert_run(w->store, first->log->number, &run, failure);
}

/* A body that is not JSON may have the separator in it. */
static bool can_share_row(const struct record *record)
{
    return !memchr(body_of(record).ptr, STORE_BODY_SEPARATOR, record->body_len);
}

static bool continues_run(const struct store_writer *w, const struct record *record)
{
    const struct record *first = w->run;
    return first && !w->is_run_closed && first->log == record->log && first->time == record->time &&
           first->turn == record->turn && first->kind_len == record->kind_len &&
           memcmp(first->kind, record->kind, record->kind_len) == 0 && can_share_row(record);
}

/* Adds the event to those that have been gathered; false if there is no room for it. */
static bool add_to_run(struct store_writer *w, const struct record *record)
{
    static const char separator = STORE_BODY_SEPARATOR;
    struct acp_buf *bodies = &w->run_bodies;
    if (acp_buf_reserve(bodies, sizeof(separator) + record->body_len))
        return false;
    (void) acp_buf_append(bodies, &separator, sizeof(separator));
    (void) acp_buf_append(bodies, body_of(record).ptr, record->body_len);
    w->run_count++;
    return true;
}

/* The first event of a row.  One that cannot have company leaves no room for it. */
static void begin_run(struct store_writer *w, const struct record *record)
{
    struct acp_raw body = body_of(record);
    w->run = record;
    w->run_count = 1;
    acp_buf_clear(&w->run_bodies);
    w->is_run_closed = !can_share_row(record) || acp_buf_append(&w->run_bodies, body.ptr, body.len);
}

static int write_event(struct store_writer *w, const struct record *record,
                       struct acp_failure *failure)
{
    if (continues_run(w, record) && add_to_run(w, record))
        return 0;
    int err = write_run(w, failure);
    begin_run(w, record);
    return err;
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
static void want_index(struct store_writer *w, const struct store_log *log)
{
    struct to_index *at = w->to_index;
    struct to_index *end = at + w->to_index_count;
    while (at < end && at->number != log->number)
        at++;
    if (w->to_index_count == STORE_TO_INDEX_MAX && at == end)
        return;
    bool waits = log->turn_was_long || (at < end && at->waits);
    *at = (struct to_index){log->number, waits};
    if (at == end)
        w->to_index_count++;
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
            want_index(w, log);
        log->pending_seq = 0;
        log->turn_ended = false;
        log->turn_was_long = false;
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
        int err = write_run(w, &failure);
        if (!err)
            err = write_last(w, &failure);
        if (!err)
            err = store_commit(w->store, &failure);
        if (err)
            give_up(w, &failure);
        w->in_transaction = false;
        w->has_journal = !err;
        w->journal_bytes += w->batch_bytes;
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

static bool needs_transaction(const struct record *record)
{
    return !record->request ||
           (record->request->kind != REQUEST_CLOSE && record->request->kind != REQUEST_FLUSH);
}

static void end_turn(struct store_log *log)
{
    log->turn_ended = true;
    if (log->turn_events > STORE_LONG_TURN)
        log->turn_was_long = true;
    log->turn_events = 0;
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
    record->log->turn_events++;
    if (acp_str_is(acp_str_n(record->kind, record->kind_len), "stop"))
        end_turn(record->log);
}

/* What fails here is tried again by SQLite, and by whoever closes the database last. */
static void empty_journal(struct store_writer *w)
{
    if (!w->failure.err)
        (void) store_exec(w->store, EMPTY_JOURNAL, NULL);
    w->has_journal = false;
    w->journal_bytes = 0;
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

/* The oldest that need not wait; NULL: none. */
static struct to_index *next_to_index(struct store_writer *w)
{
    for (size_t i = 0; i < w->to_index_count; i++)
        if (!w->to_index[i].waits)
            return &w->to_index[i];
    return NULL;
}

/*
 * One pass for a session.  Where it fails, the next search tells why; what a long turn has left
 * when the writer is closed is for that, too.
 */
static void index_one(struct store_writer *w, struct to_index *one)
{
    if (store_index_session(w->store, one->number, NULL) > 0 && !w->hurry)
        return;
    w->to_index_count--;
    memmove(one, one + 1, (size_t) (w->to_index + w->to_index_count - one) * sizeof(*one));
}

/* Nothing has come for a moment. */
static void use_quiet(struct store_writer *w)
{
    bool any = false;
    for (size_t i = 0; i < w->to_index_count; i++) {
        any = any || w->to_index[i].waits;
        w->to_index[i].waits = false;
    }
    if (!any)
        empty_journal(w);
}

/* Waits for something to come; false when that took so long that there is time for the rest. */
static bool wait_for_work(struct store_writer *w)
{
    bool in_time = true;
    w->waiting = true;
    if (w->has_journal || w->to_index_count > 0)
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
    while (w->filling.len == 0 && !w->stopping && !next_to_index(w) && !quiet)
        quiet = w->journal_bytes >= LARGE_JOURNAL || !wait_for_work(w);
    bool more = w->filling.len > 0 || next_to_index(w) || quiet;
    w->hurry = w->stopping;
    struct acp_buf taken = w->filling;
    w->filling = w->writing;
    w->writing = taken;
    w->in_flight = taken.len;
    uv_mutex_unlock(&w->lock);
    return more;
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
        struct to_index *one = next_to_index(w);
        if (w->writing.len > 0) {
            write_batches(w);
            empty_buffer(w);
        } else if (one) {
            index_one(w, one);
        } else if (w->journal_bytes >= LARGE_JOURNAL) {
            empty_journal(w);
        } else {
            use_quiet(w);
        }
    }
    store_close(w->store);
    uv_mutex_lock(&w->lock);
    w->ended = true;
    uv_mutex_unlock(&w->lock);
    (void) uv_async_send(&w->async);
}
