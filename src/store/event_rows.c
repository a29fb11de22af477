/* The events of sessions: writing, reading, and importing a whole session. */
#include <stdlib.h>

#include "store/claim.h"
#include "store/compress.h"
#include "store/db.h"

static void bind_event(sqlite3_stmt *statement, int64_t number, const struct store_event *event)
{
    (void) sqlite.bind_int64(statement, 1, store_place(number, event->seq));
    (void) sqlite.bind_int64(statement, 2, event->time);
    (void) sqlite.bind_int64(statement, 3, (sqlite3_int64) event->turn);
    store_bind_str(statement, 4, event->kind);
    store_bind_blob(statement, 5, event->body);
}

int store_insert_event(struct store *store, int64_t number, const struct store_event *event,
                       struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_INSERT_EVENT, &statement, failure);
    if (err)
        return err;
    bind_event(statement, number, event);
    return store_run(store, statement, failure);
}

/* Compresses the bodies; absent if that is not worth it. */
static struct acp_raw pack(struct store *store, struct acp_raw bodies)
{
    size_t room = bodies.len - bodies.len / 8;
    if (!store->packed)
        store->packed = malloc(STORE_RUN_MAX_BYTES);
    if (!store->packed || room > STORE_RUN_MAX_BYTES)
        return (struct acp_raw){0};
    size_t n = compress_text(acp_str_n(bodies.ptr, bodies.len), store->packed, room);
    return acp_raw_n(store->packed, n);
}

int store_insert_run(struct store *store, int64_t number, const struct store_run *run,
                     struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_INSERT_RUN, &statement, failure);
    if (err)
        return err;
    struct acp_raw bodies = run->first.body;
    struct acp_raw packed = pack(store, bodies);
    bind_event(statement, number, &run->first);
    if (packed.len)
        store_bind_blob(statement, 5, packed);
    (void) sqlite.bind_int64(statement, 6, (sqlite3_int64) run->count);
    (void) sqlite.bind_int64(statement, 7, packed.len ? (sqlite3_int64) bodies.len : 0);
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

/* bodies has those of the run when they were compressed; 0, or ACP_ERR_STATE. */
static int read_run(sqlite3_stmt *row, char **bodies, struct store_run *ret)
{
    struct store_event *first = &ret->first;
    first->seq = store_place_seq(sqlite.column_int64(row, 0));
    first->time = sqlite.column_int64(row, 1);
    first->turn = (uint64_t) sqlite.column_int64(row, 2);
    first->kind = store_column_str(row, 3);
    const char *body = sqlite.column_blob(row, 4);
    first->body = acp_raw_n(body ? body : "", body ? (size_t) sqlite.column_bytes(row, 4) : 0);
    ret->count = (uint64_t) sqlite.column_int64(row, 5);
    size_t size = (size_t) sqlite.column_int64(row, 6);
    if (size == 0)
        return 0;
    if (!*bodies)
        *bodies = malloc(STORE_RUN_MAX_BYTES);
    if (!*bodies)
        return ACP_ERR_NOMEM;
    if (size > STORE_RUN_MAX_BYTES ||
        !decompress_text(acp_str_n(first->body.ptr, first->body.len), *bodies, size))
        return ACP_ERR_STATE;
    first->body = acp_raw_n(*bodies, size);
    return 0;
}

/* Why a row could not be read. */
static int fail_run(struct store *store, int err, struct acp_failure *failure)
{
    return store_fail_code(store, err == ACP_ERR_NOMEM ? SQLITE_NOMEM : SQLITE_CORRUPT, failure);
}

/* Takes the first event out of the run; false if there are fewer bodies than events. */
static bool take_first(struct store_run *run, struct store_event *ret)
{
    struct acp_raw *rest = &run->first.body;
    *ret = run->first;
    if (run->count > 1) {
        const char *end = memchr(rest->ptr, STORE_BODY_SEPARATOR, rest->len);
        if (!end)
            return false;
        ret->body.len = (size_t) (end - rest->ptr);
        *rest = acp_raw_n(end + 1, rest->len - ret->body.len - 1);
    }
    run->first.seq++;
    run->count--;
    return true;
}

/* The events that were asked for, and by whom. */
struct range {
    uint64_t from;
    uint64_t to;
    uint64_t left; /* how many more */
    store_event_fn *each;
    void *user;
};

static int each_of_run(struct store *store, struct store_run *run, struct range *range,
                       struct acp_failure *failure)
{
    int err = 0;
    while (!err && run->count > 0 && range->left > 0 && run->first.seq <= range->to) {
        struct store_event event;
        if (!take_first(run, &event))
            return fail_run(store, ACP_ERR_STATE, failure);
        if (event.seq < range->from)
            continue;
        range->left--;
        err = range->each(&event, range->user);
    }
    return err;
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
    (void) sqlite.bind_int64(statement, 4, store_place(number, 0));
    struct range range = {from, to, limit ? limit : UINT64_MAX, each, user};
    char *bodies = NULL;
    int more = 0;
    while (!err && (more = store_step(store, statement, failure)) > 0) {
        struct store_run run;
        err = read_run(statement, &bodies, &run);
        err = err ? fail_run(store, err, failure) : each_of_run(store, &run, &range, failure);
    }
    free(bodies);
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
