/* The versions of the database, and the way from one to the next. */
#include "store/db_schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "acp/io.h"
#include "store/db.h"

/* "ACPS" */
#define APPLICATION_ID 1094930515

/*
 * sessions: one row each.  number is short and our own; id is what people and other programs know.
 *   indexed_seq  up to here the search index is final
 *   seen_seq     up to here it has at least a preliminary text
 * events: place is number << 32 | sequence, see store_place().  From version 3 on, a row has count
 *   events that follow each other and differ in their bodies only; see struct store_run.  size is
 *   the length of the bodies where they are compressed, otherwise 0.
 * texts: what was said, by whom; a text has the place of its first event.
 */
static const char version_1[] =
    "CREATE TABLE sessions ("
    "  number INTEGER PRIMARY KEY,"
    "  id TEXT NOT NULL UNIQUE,"
    "  agent TEXT NOT NULL,"
    "  command TEXT,"
    "  agent_session TEXT,"
    "  name TEXT,"
    "  scope TEXT,"
    "  cwd TEXT,"
    "  directories TEXT,"
    "  title TEXT,"
    "  settings TEXT,"
    "  usage TEXT,"
    "  stop_reason TEXT,"
    "  created INTEGER NOT NULL,"
    "  updated INTEGER NOT NULL,"
    "  closed INTEGER,"
    "  running INTEGER NOT NULL DEFAULT 0,"
    "  last_seq INTEGER NOT NULL DEFAULT 0,"
    "  indexed_seq INTEGER NOT NULL DEFAULT 0,"
    "  seen_seq INTEGER NOT NULL DEFAULT 0"
    ") STRICT;"
    "CREATE INDEX sessions_by_name ON sessions (agent, scope, name);"
    "CREATE INDEX sessions_by_age ON sessions (updated);"
    "CREATE INDEX sessions_to_index ON sessions (number) WHERE seen_seq < last_seq;"
    "CREATE TABLE events ("
    "  place INTEGER PRIMARY KEY,"
    "  time INTEGER NOT NULL,"
    "  turn INTEGER NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  body BLOB NOT NULL"
    ") STRICT;"
    "CREATE VIRTUAL TABLE texts USING fts5"
    "  (content, author UNINDEXED, tokenize = 'unicode61 remove_diacritics 2');";

/*
 * Kinds of events, named as the specification names them: first those of conversations, see
 * transcript/event.h, then those of the built-in agent.  Members of bodies that were renamed are
 * left as they were; readers accept both.
 */
static const char version_2[] = "UPDATE events SET kind = CASE kind"
                                "  WHEN 'open' THEN 'opened'"
                                "  WHEN 'user' THEN 'user_message'"
                                "  WHEN 'tool' THEN 'tool_call'"
                                "  WHEN 'options' THEN 'config_options'"
                                "  WHEN 'said' THEN 'message'"
                                "  WHEN 'forget' THEN 'history_reset'"
                                "  WHEN 'kept' THEN 'retained'"
                                "  ELSE kind END "
                                "WHERE kind IN ('open', 'user', 'tool', 'options', 'said',"
                                "               'forget', 'kept');";

static const char version_3[] = "ALTER TABLE events ADD COLUMN count INTEGER NOT NULL DEFAULT 1;"
                                "ALTER TABLE events ADD COLUMN size INTEGER NOT NULL DEFAULT 0;";

static const char *const steps[] = {version_1, version_2, version_3};
const struct store_schema store_schema = {steps, sizeof(steps) / sizeof(steps[0])};

/* What stands in the file. */
struct found {
    int64_t application;
    int64_t version;
    int64_t tables;
};

static int look(struct store *store, struct found *ret, struct acp_failure *failure)
{
    static const char sql[] = "SELECT application_id, user_version, (SELECT count(*) FROM "
                              "sqlite_schema) FROM pragma_application_id, pragma_user_version";
    sqlite3_stmt *statement = NULL;
    int code = sqlite.prepare_v3(store->handle, sql, -1, 0, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite.step(statement);
    if (code == SQLITE_ROW) {
        ret->application = sqlite.column_int64(statement, 0);
        ret->version = sqlite.column_int64(statement, 1);
        ret->tables = sqlite.column_int64(statement, 2);
    }
    (void) sqlite.finalize(statement);
    return code == SQLITE_ROW ? 0 : store_fail_code(store, code, failure);
}

/* May we touch it? */
static int judge(const struct store *store, const struct found *found,
                 const struct store_schema *schema, struct acp_failure *failure)
{
    bool empty = found->application == 0 && found->version == 0 && found->tables == 0;
    if (!empty && found->application != APPLICATION_ID)
        return store_fail(failure, ACP_ERR_STATE,
                          "%s is a database of another program; it is left as it is",
                          store_shown(store->path));
    if (found->version > schema->version)
        return store_fail(failure, ACP_ERR_STATE,
                          "the session log %s has version %lld and this acp knows only up to %d; "
                          "please use a newer acp",
                          store_shown(store->path), (long long) found->version, schema->version);
    return 0;
}

/* ---- The copy of an older version ------------------------------------------------------------ */

/* Copies through a connection of its own, while ours keeps everybody else from writing. */
static int copy_into(struct store *store, const char *target, struct acp_failure *failure)
{
    /* SQLite takes an empty file for none, and this one has the right mode. */
    (void) unlink(target);
    int fd = open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return store_fail(failure, acp_err_from_errno(errno),
                          "cannot make a copy of the session log before it is migrated: %s",
                          acp_io_err_text(acp_err_from_errno(errno)));
    sqlite3 *reader = NULL;
    sqlite3_stmt *statement = NULL;
    int code = sqlite.open_v2(store->path, &reader, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK)
        code = sqlite.prepare_v3(reader, "VACUUM INTO ?1", -1, 0, &statement, NULL);
    if (code == SQLITE_OK) {
        store_bind_str(statement, 1, acp_str_from(target));
        code = sqlite.step(statement);
    }
    (void) sqlite.finalize(statement);
    (void) sqlite.close_v2(reader);
    int err = code == SQLITE_DONE ? 0 : store_fail_code(store, code, failure);
    if (!err && fsync(fd) != 0)
        err = store_fail_code(store, SQLITE_IOERR, failure);
    (void) close(fd);
    if (err)
        (void) unlink(target);
    return err;
}

static int back_up(struct store *store, int64_t version, struct acp_failure *failure)
{
    struct acp_buf target;
    struct acp_buf unfinished;
    acp_buf_init(&target, SIZE_MAX / 2);
    acp_buf_init(&unfinished, SIZE_MAX / 2);
    int err = acp_buf_printf(&target, "%s.v%lld.backup%c", store->path, (long long) version, 0);
    if (!err)
        err = acp_buf_printf(&unfinished, "%s.unfinished%c", target.data, 0);
    if (err)
        err = store_fail(failure, err, "%s", acp_err_text(err));
    else
        err = copy_into(store, unfinished.data, failure);
    if (!err && rename(unfinished.data, target.data) != 0)
        err = store_fail(failure, acp_err_from_errno(errno), "cannot keep the copy %s: %s",
                         store_shown(target.data), acp_io_err_text(acp_err_from_errno(errno)));
    acp_buf_finish(&target);
    acp_buf_finish(&unfinished);
    return err;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static int climb(struct store *store, int64_t from, const struct store_schema *schema,
                 struct acp_failure *failure)
{
    int err = 0;
    for (int64_t version = from; !err && version < schema->version; version++)
        err = store_exec(store, schema->steps[version], failure);
    char mark[96];
    (void) snprintf(mark, sizeof(mark), "PRAGMA application_id = %d; PRAGMA user_version = %d",
                    APPLICATION_ID, schema->version);
    return err ? err : store_exec(store, mark, failure);
}

/* Another process may have been faster, so all is looked at again once nobody else can write. */
static int migrate(struct store *store, const struct store_schema *schema,
                   struct acp_failure *failure)
{
    int err = store_begin(store, failure);
    if (err)
        return err;
    struct found found = {0};
    err = look(store, &found, failure);
    if (!err)
        err = judge(store, &found, schema, failure);
    if (!err && found.version < schema->version) {
        if (found.version > 0)
            err = back_up(store, found.version, failure);
        if (!err)
            err = climb(store, found.version, schema, failure);
    }
    return store_end(store, err, failure);
}

int store_schema_apply(struct store *store, const struct store_schema *schema,
                       struct acp_failure *failure)
{
    struct found found = {0};
    int err = look(store, &found, failure);
    if (!err)
        err = judge(store, &found, schema, failure);
    if (!err)
        err = store_exec(store, "PRAGMA journal_mode = WAL", failure);
    if (!err && found.version < schema->version)
        err = migrate(store, schema, failure);
    return err;
}
