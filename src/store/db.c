/* A connection: opening it, its statements, its errors in words. */
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "acp/io.h"
#include "store/claim.h"

/*
 * How long we wait while another process writes.  Asked often: a busy writer leaves only short
 * gaps.
 */
enum { BUSY_PAUSE_MS = 1, BUSY_TRIES = 10000, SHOWN = 100 };

/* ---- Errors ---------------------------------------------------------------------------------- */

int store_fail(struct acp_failure *failure, int err, const char *format, ...)
{
    if (failure) {
        va_list args;
        va_start(args, format);
        *failure = (struct acp_failure){.err = err};
        (void) vsnprintf(failure->message, sizeof(failure->message), format, args);
        va_end(args);
    }
    return err;
}

const char *store_shown(const char *path)
{
    size_t n = strlen(path);
    if (n <= SHOWN)
        return path;
    const char *slash = strchr(path + n - SHOWN, '/');
    return slash ? slash : path + n - SHOWN;
}

int store_fail_code(const struct store *store, int code, struct acp_failure *failure)
{
    const char *file = store_shown(store->path);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return store_fail(failure, ACP_ERR_NOMEM, "out of memory");
    case SQLITE_FULL:
        return store_fail(failure, acp_err_from_errno(ENOSPC),
                          "cannot write the session log %s: the disk is full", file);
    case SQLITE_READONLY:
        return store_fail(failure, acp_err_from_errno(EROFS),
                          "cannot write the session log %s: it or its folder is read-only", file);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return store_fail(failure, acp_err_from_errno(EACCES),
                          "cannot open the session log %s or the files beside it", file);
    case SQLITE_NOTADB:
        return store_fail(failure, ACP_ERR_STATE, "%s is no session log; it is left as it is",
                          file);
    case SQLITE_CORRUPT:
        return store_fail(failure, ACP_ERR_STATE,
                          "the session log %s is damaged; move it away, or repair a copy with "
                          "sqlite3 .recover",
                          file);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return store_fail(failure, ACP_ERR_TIMEOUT,
                          "another process has kept the session log %s for ten seconds", file);
    case SQLITE_IOERR:
        return store_fail(failure, acp_err_from_errno(EIO),
                          "cannot read or write the session log %s (SQLite's error %d)", file,
                          code);
    default:
        return store_fail(failure, ACP_ERR_STATE, "the session log %s: %s", file,
                          sqlite.errmsg(store->handle));
    }
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void pause_for_others(void)
{
    const struct timespec pause = {0, BUSY_PAUSE_MS * 1000000L};
    (void) nanosleep(&pause, NULL);
}

static int wait_for_others(void *user, int tries)
{
    (void) user;
    if (tries >= BUSY_TRIES)
        return 0;
    pause_for_others();
    return 1;
}

int store_exec(struct store *store, const char *sql, struct acp_failure *failure)
{
    int code = SQLITE_BUSY;
    /* Changing the journal mode does not ask the busy handler. */
    for (int i = 0; code == SQLITE_BUSY && i < BUSY_TRIES; i++) {
        if (i > 0)
            pause_for_others();
        code = sqlite.exec(store->handle, sql, NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? 0 : store_fail_code(store, code, failure);
}

int store_prepare(struct store *store, enum store_statement which, sqlite3_stmt **ret,
                  struct acp_failure *failure)
{
    sqlite3_stmt **kept = &store->statements[which];
    if (!*kept) {
        int code = sqlite.prepare_v3(store->handle, store_statement_sql[which], -1,
                                     SQLITE_PREPARE_PERSISTENT, kept, NULL);
        if (code != SQLITE_OK)
            return store_fail_code(store, code, failure);
    }
    (void) sqlite.reset(*kept);
    *ret = *kept;
    return 0;
}

int store_step(struct store *store, sqlite3_stmt *statement, struct acp_failure *failure)
{
    int code = sqlite.step(statement);
    if (code == SQLITE_ROW)
        return 1;
    int err = code == SQLITE_DONE ? 0 : store_fail_code(store, code, failure);
    (void) sqlite.reset(statement);
    return err;
}

int store_run(struct store *store, sqlite3_stmt *statement, struct acp_failure *failure)
{
    int err = store_step(store, statement, failure);
    if (err <= 0)
        return err;
    (void) sqlite.reset(statement);
    return 0;
}

sqlite3_int64 store_limit(uint64_t limit)
{
    return limit == 0 || limit > INT64_MAX ? -1 : (sqlite3_int64) limit;
}

void store_bind_str(sqlite3_stmt *statement, int at, struct acp_str text)
{
    if (acp_is_set(text.ptr))
        (void) sqlite.bind_text64(statement, at, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
    else
        (void) sqlite.bind_null(statement, at);
}

void store_bind_blob(sqlite3_stmt *statement, int at, struct acp_raw bytes)
{
    (void) sqlite.bind_blob64(statement, at, bytes.ptr ? bytes.ptr : "", bytes.len, SQLITE_STATIC);
}

struct acp_str store_column_str(sqlite3_stmt *statement, int at)
{
    const char *text = (const char *) sqlite.column_text(statement, at);
    return acp_str_n(text, text ? (size_t) sqlite.column_bytes(statement, at) : 0);
}

int store_begin(struct store *store, struct acp_failure *failure)
{
    return store_exec(store, "BEGIN IMMEDIATE", failure);
}

int store_commit(struct store *store, struct acp_failure *failure)
{
    return store_exec(store, "COMMIT", failure);
}

void store_rollback(struct store *store)
{
    /* After some failures SQLite has done so already, and says that there is nothing to do. */
    (void) sqlite.exec(store->handle, "ROLLBACK", NULL, NULL, NULL);
}

int store_end(struct store *store, int err, struct acp_failure *failure)
{
    if (!err)
        err = store_commit(store, failure);
    if (err)
        store_rollback(store);
    return err;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Makes the file with the mode it shall have; SQLite gives the same mode to those beside it. */
static int make_file(const char *path, struct acp_failure *failure)
{
    int err = 0;
    const char *slash = strrchr(path, '/');
    if (slash && slash > path) {
        char *folder = strndup(path, (size_t) (slash - path));
        err = folder ? store_make_folders(folder) : ACP_ERR_NOMEM;
        free(folder);
    }
    if (!err) {
        /*
         * Never opens a file that is there: closing it again would end the locks of every
         * connection that this process has to it.
         */
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0)
            (void) close(fd);
        else if (errno != EEXIST)
            err = acp_err_from_errno(errno);
    }
    return err ? store_fail(failure, err, "cannot make the session log %s: %s", store_shown(path),
                            acp_io_err_text(err))
               : 0;
}

static int open_connection(struct store *store, unsigned flags, const struct store_schema *schema,
                           struct acp_failure *failure)
{
    int code =
        sqlite.open_v2(store->path, &store->handle,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code != SQLITE_OK)
        return store_fail_code(store, code, failure);
    (void) sqlite.busy_handler(store->handle, wait_for_others, NULL);
    int err = store_schema_apply(store, schema, failure);
    if (err)
        return err;
    return store_exec(store,
                      flags & STORE_FULL_SYNC ? "PRAGMA synchronous = FULL"
                                              : "PRAGMA synchronous = NORMAL",
                      failure);
}

int store_open_schema(const char *path, unsigned flags, const struct store_schema *schema,
                      struct store **ret, struct acp_failure *failure)
{
    int err = sqlite_load(SQLITE_LIBRARY, failure);
    if (!err && flags & STORE_CREATE)
        err = make_file(path, failure);
    else if (!err && access(path, F_OK) != 0)
        err = store_fail(failure, ACP_ERR_MISSING, "there is no session log %s", store_shown(path));
    if (err)
        return err;
    struct store *store = calloc(1, sizeof(*store));
    if (store)
        store->path = strdup(path);
    if (!store || !store->path) {
        store_close(store);
        return store_fail(failure, ACP_ERR_NOMEM, "out of memory");
    }
    err = open_connection(store, flags, schema, failure);
    if (err) {
        store_close(store);
        return err;
    }
    *ret = store;
    return 0;
}

int store_open(const char *path, unsigned flags, struct store **ret, struct acp_failure *failure)
{
    return store_open_schema(path, flags, &store_schema, ret, failure);
}

void store_close(struct store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < STORE_STATEMENT_COUNT; i++)
        if (store->statements[i])
            (void) sqlite.finalize(store->statements[i]);
    if (store->handle)
        (void) sqlite.close_v2(store->handle);
    free(store->packed);
    free(store->path);
    free(store);
}
