/* The rows of sessions: reading, finding, listing, changing, removing. */
#include <stdio.h>
#include <stdlib.h>

#include "store/claim.h"
#include "store/db.h"

/* ---- Reading --------------------------------------------------------------------------------- */

/* The texts of a session in the order of the columns. */
static const size_t text_offsets[] = {
    offsetof(struct store_session, id),      offsetof(struct store_session, agent),
    offsetof(struct store_session, command), offsetof(struct store_session, agent_session),
    offsetof(struct store_session, name),    offsetof(struct store_session, scope),
    offsetof(struct store_session, cwd),     offsetof(struct store_session, directories),
    offsetof(struct store_session, title),   offsetof(struct store_session, settings),
    offsetof(struct store_session, usage),   offsetof(struct store_session, stop_reason),
};
enum { TEXTS = sizeof(text_offsets) / sizeof(text_offsets[0]) };

static struct acp_str *text_at(struct store_session *session, int at)
{
    return (struct acp_str *) (void *) ((char *) session + text_offsets[at]);
}

static struct acp_str text_of(const struct store_session *session, int at)
{
    return *(const struct acp_str *) (const void *) ((const char *) session + text_offsets[at]);
}

/* The row at which the statement stands; texts live until the next step.  Returns its number. */
static int64_t read_row(const struct store *store, sqlite3_stmt *row, struct store_session *ret)
{
    for (int i = 0; i < TEXTS; i++)
        *text_at(ret, i) = store_column_str(row, i);
    ret->created = sqlite.column_int64(row, TEXTS);
    ret->updated = sqlite.column_int64(row, TEXTS + 1);
    ret->closed = sqlite.column_int64(row, TEXTS + 2);
    ret->last_seq = (uint64_t) sqlite.column_int64(row, TEXTS + 3);
    ret->owner = store_owner(store->path, ret->id);
    ret->running = ret->owner && sqlite.column_int64(row, TEXTS + 4);
    return sqlite.column_int64(row, TEXTS + 5);
}

/* Copies the texts, so that the row may go. */
static int keep_texts(struct store_session *session, struct acp_arena *arena,
                      struct acp_failure *failure)
{
    for (int i = 0; i < TEXTS; i++) {
        struct acp_str *text = text_at(session, i);
        if (!text->ptr)
            continue;
        *text = acp_arena_copy(arena, *text);
        if (!text->ptr)
            return store_fail(failure, ACP_ERR_NOMEM, "out of memory");
    }
    return 0;
}

/* Steps once and keeps the row.  1: there was one, and the statement stands on it; 0: none. */
static int take_row(struct store *store, sqlite3_stmt *statement, struct acp_arena *arena,
                    struct store_session *ret, int64_t *ret_number, struct acp_failure *failure)
{
    int found = store_step(store, statement, failure);
    if (found <= 0)
        return found;
    struct store_session session;
    int64_t number = read_row(store, statement, &session);
    int err = keep_texts(&session, arena, failure);
    if (err) {
        (void) sqlite.reset(statement);
        return err;
    }
    *ret = session;
    if (ret_number)
        *ret_number = number;
    return 1;
}

static int fail_missing(struct acp_str id, struct acp_failure *failure)
{
    int shown = id.len > 64 ? 64 : (int) id.len;
    return store_fail(failure, ACP_ERR_MISSING, "there is no session %.*s", shown,
                      id.ptr ? id.ptr : "");
}

int store_read_session(struct store *store, struct acp_str id, struct acp_arena *arena,
                       struct store_session *ret, int64_t *ret_number, struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_SELECT_SESSION, &statement, failure);
    if (err)
        return err;
    store_bind_str(statement, 1, id);
    int found = take_row(store, statement, arena, ret, ret_number, failure);
    (void) sqlite.reset(statement);
    if (found < 0)
        return found;
    return found ? 0 : fail_missing(id, failure);
}

/* ---- Finding --------------------------------------------------------------------------------- */

int store_find(struct store *store, struct acp_str id, struct acp_arena *arena,
               struct store_session *ret, struct acp_failure *failure)
{
    /* Ids are ASCII: behind all that begin like this one comes the same with DEL at its end. */
    char behind[STORE_ID_SIZE * 2];
    if (id.len == 0 || id.len >= sizeof(behind))
        return fail_missing(id, failure);
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_SELECT_PREFIX, &statement, failure);
    if (err)
        return err;
    memcpy(behind, id.ptr, id.len);
    behind[id.len] = 0x7f;
    store_bind_str(statement, 1, id);
    store_bind_str(statement, 2, acp_str_n(behind, id.len + 1));
    (void) sqlite.bind_int64(statement, 3, (sqlite3_int64) id.len);
    struct store_session first = {0};
    int64_t number = 0;
    int found = take_row(store, statement, arena, &first, &number, failure);
    int more = 0;
    /* A whole id comes first and is meant, whatever else begins with it. */
    if (found > 0 && first.id.len > id.len)
        more = store_step(store, statement, failure);
    (void) sqlite.reset(statement);
    if (found < 0 || more < 0)
        return found < 0 ? found : more;
    if (!found)
        return fail_missing(id, failure);
    if (more)
        return store_fail(failure, ACP_ERR_ARGUMENT,
                          "several sessions begin with %.*s; please give more of the id",
                          (int) id.len, id.ptr);
    err = store_last_turn(store, number, &first.last_turn, failure);
    if (!err)
        *ret = first;
    return err;
}

int store_find_named(struct store *store, struct acp_str agent, struct acp_str scope,
                     struct acp_str name, struct acp_arena *arena, struct store_session *ret,
                     struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_SELECT_NAMED, &statement, failure);
    if (err)
        return err;
    store_bind_str(statement, 1, agent);
    store_bind_str(statement, 2, scope);
    store_bind_str(statement, 3, name);
    int64_t number = 0;
    int found = take_row(store, statement, arena, ret, &number, failure);
    (void) sqlite.reset(statement);
    if (found < 0)
        return found;
    return found ? store_last_turn(store, number, &ret->last_turn, failure)
                 : store_fail(failure, ACP_ERR_MISSING, "there is no such session here");
}

/* Hands over every row; ends the statement. */
static int each_row(struct store *store, sqlite3_stmt *statement, store_session_fn *each,
                    void *user, struct acp_failure *failure)
{
    int more = 0;
    int err = 0;
    while (!err && (more = store_step(store, statement, failure)) > 0) {
        struct store_session session;
        (void) read_row(store, statement, &session);
        err = each(&session, user);
    }
    (void) sqlite.reset(statement);
    return err ? err : more;
}

int store_list(struct store *store, const struct store_filter *filter, store_session_fn *each,
               void *user, struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_SELECT_LIST, &statement, failure);
    if (err)
        return err;
    store_bind_str(statement, 1, filter->agent);
    store_bind_str(statement, 2, filter->scope);
    store_bind_str(statement, 3, filter->cwd);
    store_bind_str(statement, 4, filter->name);
    (void) sqlite.bind_int64(statement, 5, filter->state);
    (void) sqlite.bind_int64(statement, 6, store_limit(filter->limit));
    (void) sqlite.bind_int64(statement, 7, (sqlite3_int64) (filter->offset & INT64_MAX));
    (void) sqlite.bind_int64(statement, 8, filter->not_empty);
    return each_row(store, statement, each, user, failure);
}

/* ---- Writing --------------------------------------------------------------------------------- */

int store_insert_session(struct store *store, const struct store_session *session,
                         int64_t *ret_number, struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_INSERT_SESSION, &statement, failure);
    if (err)
        return err;
    for (int i = 0; i < TEXTS; i++)
        store_bind_str(statement, i + 1, text_of(session, i));
    int64_t created = session->created ? session->created : store_now();
    (void) sqlite.bind_int64(statement, TEXTS + 1, created);
    (void) sqlite.bind_int64(statement, TEXTS + 2, session->updated ? session->updated : created);
    if (session->closed)
        (void) sqlite.bind_int64(statement, TEXTS + 3, session->closed);
    else
        (void) sqlite.bind_null(statement, TEXTS + 3);
    err = store_run(store, statement, failure);
    if (!err)
        *ret_number = sqlite.last_insert_rowid(store->handle);
    return err;
}

static const struct {
    const char *column;
    size_t offset;
} changeable[] = {
    {"agent", offsetof(struct store_change, agent)},
    {"command", offsetof(struct store_change, command)},
    {"agent_session", offsetof(struct store_change, agent_session)},
    {"name", offsetof(struct store_change, name)},
    {"scope", offsetof(struct store_change, scope)},
    {"cwd", offsetof(struct store_change, cwd)},
    {"directories", offsetof(struct store_change, directories)},
    {"title", offsetof(struct store_change, title)},
    {"settings", offsetof(struct store_change, settings)},
    {"usage", offsetof(struct store_change, usage)},
    {"stop_reason", offsetof(struct store_change, stop_reason)},
};
enum { CHANGEABLE = sizeof(changeable) / sizeof(changeable[0]) };

static struct acp_str change_at(const struct store_change *change, size_t at)
{
    return *(const struct acp_str *) (const void *) ((const char *) change + changeable[at].offset);
}

/* "UPDATE sessions SET a = ?1, b = ?2 WHERE id = ?3" with what changes; false: nothing does. */
static bool write_update(const struct store_change *change, char *sql, size_t size)
{
    int at = 0;
    size_t n = (size_t) snprintf(sql, size, "UPDATE sessions SET");
    for (size_t i = 0; i < CHANGEABLE; i++)
        if (change_at(change, i).ptr)
            n += (size_t) snprintf(sql + n, size - n, "%s %s = ?%d", at ? "," : "",
                                   changeable[i].column, at + 1),
                at++;
    if (change->closed.has)
        n += (size_t) snprintf(sql + n, size - n, "%s closed = ?%d", at ? "," : "", at + 1), at++;
    if (change->running.has)
        n += (size_t) snprintf(sql + n, size - n, "%s running = ?%d", at ? "," : "", at + 1), at++;
    (void) snprintf(sql + n, size - n, " WHERE id = ?%d", at + 1);
    return at > 0;
}

static void bind_change(sqlite3_stmt *statement, const struct store_change *change,
                        struct acp_str id)
{
    int at = 0;
    for (size_t i = 0; i < CHANGEABLE; i++)
        if (change_at(change, i).ptr)
            store_bind_str(statement, ++at, change_at(change, i));
    if (change->closed.has == ACP_PRESENT)
        (void) sqlite.bind_int64(statement, ++at, change->closed.value);
    else if (change->closed.has)
        (void) sqlite.bind_null(statement, ++at);
    if (change->running.has)
        (void) sqlite.bind_int64(statement, ++at, change->running.value);
    store_bind_str(statement, ++at, id);
}

int store_change_session(struct store *store, struct acp_str id, const struct store_change *change,
                         struct acp_failure *failure)
{
    char sql[512];
    if (!write_update(change, sql, sizeof(sql)))
        return 0;
    sqlite3_stmt *statement = NULL;
    int code = sqlite.prepare_v3(store->handle, sql, -1, 0, &statement, NULL);
    if (code != SQLITE_OK)
        return store_fail_code(store, code, failure);
    bind_change(statement, change, id);
    int err = store_run(store, statement, failure);
    (void) sqlite.finalize(statement);
    return err;
}

/* ---- Changing and removing what nobody writes to --------------------------------------------- */

int store_number(struct store *store, struct acp_str id, int64_t *ret, struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_SELECT_NUMBER, &statement, failure);
    if (err)
        return err;
    store_bind_str(statement, 1, id);
    int found = store_step(store, statement, failure);
    if (found > 0)
        *ret = sqlite.column_int64(statement, 0);
    (void) sqlite.reset(statement);
    if (found < 0)
        return found;
    return found ? 0 : fail_missing(id, failure);
}

int store_last_turn(struct store *store, int64_t number, uint64_t *ret, struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_SELECT_LAST_TURN, &statement, failure);
    if (err)
        return err;
    (void) sqlite.bind_int64(statement, 1, store_place(number, 0));
    (void) sqlite.bind_int64(statement, 2, store_place(number, STORE_SEQ_MAX));
    int found = store_step(store, statement, failure);
    if (found >= 0)
        *ret = found ? (uint64_t) sqlite.column_int64(statement, 0) : 0;
    (void) sqlite.reset(statement);
    return found < 0 ? found : 0;
}

/* Everything between two places of a session. */
static int delete_range(struct store *store, enum store_statement which, int64_t number,
                        struct acp_failure *failure)
{
    sqlite3_stmt *statement;
    int err = store_prepare(store, which, &statement, failure);
    if (err)
        return err;
    (void) sqlite.bind_int64(statement, 1, store_place(number, 0));
    (void) sqlite.bind_int64(statement, 2, store_place(number, STORE_SEQ_MAX));
    return store_run(store, statement, failure);
}

static int delete_rows(struct store *store, int64_t number, struct acp_failure *failure)
{
    int err = delete_range(store, STORE_DELETE_TEXTS, number, failure);
    if (!err)
        err = delete_range(store, STORE_DELETE_EVENTS, number, failure);
    sqlite3_stmt *statement;
    if (!err)
        err = store_prepare(store, STORE_DELETE_SESSION, &statement, failure);
    if (!err) {
        (void) sqlite.bind_int64(statement, 1, number);
        err = store_run(store, statement, failure);
    }
    return err;
}

/* change NULL: removes. */
static int change_unclaimed(struct store *store, struct acp_str id,
                            const struct store_change *change, struct acp_failure *failure)
{
    int64_t number = 0;
    int err = store_number(store, id, &number, failure);
    struct store_claim claim = STORE_NO_CLAIM;
    if (!err)
        err = store_claim_take(&claim, store->path, id, failure);
    if (!err)
        err = store_begin(store, failure);
    if (!err) {
        err = change ? store_change_session(store, id, change, failure)
                     : delete_rows(store, number, failure);
        err = store_end(store, err, failure);
    }
    store_claim_release(&claim);
    return err;
}

int store_change(struct store *store, struct acp_str id, const struct store_change *change,
                 struct acp_failure *failure)
{
    return change_unclaimed(store, id, change, failure);
}

int store_delete(struct store *store, struct acp_str id, struct acp_failure *failure)
{
    return change_unclaimed(store, id, NULL, failure);
}

/* ---- Pruning --------------------------------------------------------------------------------- */

struct candidates {
    const struct store_prune *prune;
    struct acp_buf ids; /* each ends with NUL */
    uint64_t count;
};

static int note_candidate(const struct store_session *session, void *user)
{
    struct candidates *c = user;
    if (session->owner)
        return 0;
    int err = c->prune->each ? c->prune->each(session, c->prune->user) : 0;
    if (!err)
        err = acp_buf_append_str(&c->ids, session->id);
    if (!err)
        err = acp_buf_append(&c->ids, "", 1);
    if (!err)
        c->count++;
    return err;
}

static int find_candidates(struct store *store, struct candidates *c, struct acp_failure *failure)
{
    const struct store_prune *prune = c->prune;
    sqlite3_stmt *statement;
    int err = store_prepare(store, STORE_SELECT_PRUNE, &statement, failure);
    if (err)
        return err;
    store_bind_str(statement, 1, prune->agent);
    store_bind_str(statement, 2, prune->scope);
    (void) sqlite.bind_int64(statement, 3, prune->older_than);
    (void) sqlite.bind_int64(statement, 4, prune->closed_only);
    (void) sqlite.bind_int64(statement, 5, (sqlite3_int64) (prune->keep & INT64_MAX));
    return each_row(store, statement, note_candidate, c, failure);
}

int store_prune(struct store *store, const struct store_prune *prune, uint64_t *ret_count,
                struct acp_failure *failure)
{
    struct candidates c = {.prune = prune};
    acp_buf_init(&c.ids, SIZE_MAX / 2);
    int err = find_candidates(store, &c, failure);
    uint64_t removed = prune->dry_run ? c.count : 0;
    struct acp_str rest = acp_buf_view(&c.ids);
    while (!err && !prune->dry_run && rest.len > 0) {
        struct acp_str id = acp_str_from(rest.ptr);
        rest = acp_str_n(rest.ptr + id.len + 1, rest.len - id.len - 1);
        err = store_delete(store, id, failure);
        if (!err)
            removed++;
        /* Claimed or removed by somebody since we looked: not ours to remove any more. */
        else if (err == ACP_ERR_STATE || err == ACP_ERR_MISSING)
            err = 0;
    }
    acp_buf_finish(&c.ids);
    if (!err)
        *ret_count = removed;
    return err;
}

int store_compact(struct store *store, struct acp_failure *failure)
{
    return store_exec(store, "VACUUM", failure);
}
