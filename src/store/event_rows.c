/* The events of sessions: writing, reading, and importing a whole session. */
#include "store/claim.h"
#include "store/db.h"

int store_insert_event(struct store *store, int64_t number, const struct store_event *event,
                       struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_INSERT_EVENT, &statement, failure);
    if (err)
        return err;
    (void) sqlite.bind_int64(statement, 1, store_place(number, event->seq));
    (void) sqlite.bind_int64(statement, 2, event->time);
    (void) sqlite.bind_int64(statement, 3, (sqlite3_int64) event->turn);
    store_bind_str(statement, 4, event->kind);
    store_bind_blob(statement, 5, event->body);
    return store_run(store, statement, failure);
}

int store_set_last(struct store *store, int64_t number, uint64_t seq, int64_t time,
                   struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_UPDATE_LAST, &statement, failure);
    if (err)
        return err;
    (void) sqlite.bind_int64(statement, 1, number);
    (void) sqlite.bind_int64(statement, 2, (sqlite3_int64) seq);
    (void) sqlite.bind_int64(statement, 3, time);
    return store_run(store, statement, failure);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_event(sqlite3_stmt *row, struct store_event *ret)
{
    ret->seq = store_place_seq(sqlite.column_int64(row, 0));
    ret->time = sqlite.column_int64(row, 1);
    ret->turn = (uint64_t) sqlite.column_int64(row, 2);
    ret->kind = store_column_str(row, 3);
    const char *body = sqlite.column_blob(row, 4);
    ret->body = acp_raw_n(body ? body : "", body ? (size_t) sqlite.column_bytes(row, 4) : 0);
}

int store_each_event(struct store *store, int64_t number, uint64_t from, uint64_t to,
                     uint64_t limit, store_event_fn *each, void *user, struct acp_failure *failure)
{
    if (from > STORE_SEQ_MAX)
        return 0;
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_SELECT_EVENTS, &statement, failure);
    if (err)
        return err;
    (void) sqlite.bind_int64(statement, 1, store_place(number, from));
    (void) sqlite.bind_int64(statement, 2, store_place(number, to));
    (void) sqlite.bind_int64(statement, 3, store_limit(limit));
    int more = 0;
    while (!err && (more = store_step(store, statement, failure)) > 0) {
        struct store_event event;
        read_event(statement, &event);
        err = each(&event, user);
    }
    (void) sqlite.reset(statement);
    return err ? err : more;
}

int store_events(struct store *store, struct acp_str id, uint64_t from, uint64_t limit,
                 store_event_fn *each, void *user, struct acp_failure *failure)
{
    int64_t number = 0;
    int err = store_number(store, id, &number, failure);
    if (err)
        return err;
    return store_each_event(store, number, from, STORE_SEQ_MAX, limit, each, user, failure);
}

/* ---- Importing ------------------------------------------------------------------------------- */

int store_import_begin(struct store *store, const struct store_session *session,
                       struct acp_failure *failure)
{
    if (store->import_number)
        return store_fail(failure, ACP_ERR_STATE, "an import is under way already");
    if (!store_is_id(session->id))
        return store_fail(failure, ACP_ERR_ARGUMENT, "this is no id of a session");
    int err = store_begin(store, failure);
    if (err)
        return err;
    int64_t number = 0;
    struct acp_failure why = {0};
    err = store_number(store, session->id, &number, &why);
    if (err == 0)
        err = store_fail(failure, ACP_ERR_STATE, "there is a session %.*s already",
                         (int) session->id.len, session->id.ptr);
    else if (err == ACP_ERR_MISSING)
        err = store_insert_session(store, session, &number, failure);
    else if (failure)
        *failure = why;
    if (err) {
        store_rollback(store);
        return err;
    }
    store->import_number = number;
    store->import_seq = 1;
    return 0;
}

int store_import_event(struct store *store, const struct store_event *event,
                       struct acp_failure *failure)
{
    if (!store->import_number)
        return store_fail(failure, ACP_ERR_STATE, "no import is under way");
    if (event->seq != store->import_seq || event->seq > STORE_SEQ_MAX)
        return store_fail(failure, ACP_ERR_ARGUMENT, "event %llu is missing from the import",
                          (unsigned long long) store->import_seq);
    if (event->kind.len == 0 || event->kind.len > STORE_KIND_MAX)
        return store_fail(failure, ACP_ERR_ARGUMENT, "event %llu has no kind that we could keep",
                          (unsigned long long) event->seq);
    int err = store_insert_event(store, store->import_number, event, failure);
    if (err)
        return err;
    store->import_seq++;
    store->import_time = event->time;
    return 0;
}

int store_import_commit(struct store *store, struct acp_failure *failure)
{
    if (!store->import_number)
        return store_fail(failure, ACP_ERR_STATE, "no import is under way");
    int err = 0;
    if (store->import_seq > 1)
        err = store_set_last(store, store->import_number, store->import_seq - 1, store->import_time,
                             failure);
    store->import_number = 0;
    return store_end(store, err, failure);
}

void store_import_rollback(struct store *store)
{
    if (store->import_number)
        store_rollback(store);
    store->import_number = 0;
}
