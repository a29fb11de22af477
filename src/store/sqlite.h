/*
 * sqlite.h - SQLite's functions, loaded when the first database is opened.
 *
 * A command that keeps no log does not pay for the library, and one on a machine without it still
 * works.  Everything is called through the table: sqlite.step(statement).
 */
#ifndef SRC_STORE_SQLITE_H
#define SRC_STORE_SQLITE_H

#include <sqlite3.h>

#include "acp/base.h"

#define SQLITE_FUNCTIONS(X)                                                                        \
    X(bind_blob64)                                                                                 \
    X(bind_int64)                                                                                  \
    X(bind_null)                                                                                   \
    X(bind_text64)                                                                                 \
    X(busy_handler)                                                                                \
    X(close_v2)                                                                                    \
    X(column_blob)                                                                                 \
    X(column_bytes)                                                                                \
    X(column_int64)                                                                                \
    X(column_text)                                                                                 \
    X(errmsg)                                                                                      \
    X(exec)                                                                                        \
    X(finalize)                                                                                    \
    X(last_insert_rowid)                                                                           \
    X(libversion_number)                                                                           \
    X(open_v2)                                                                                     \
    X(prepare_v3)                                                                                  \
    X(reset)                                                                                       \
    X(step)

struct sqlite_functions {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): it names a member */
#define SQLITE_MEMBER(name) __typeof__(&sqlite3_##name) name;
    SQLITE_FUNCTIONS(SQLITE_MEMBER)
#undef SQLITE_MEMBER
};

/* Valid after sqlite_load() has said 0. */
extern struct sqlite_functions sqlite;

#define SQLITE_LIBRARY "libsqlite3.so.0"

/*
 * Loads the library, once for the process: later calls, of any thread, repeat the first result.
 * ACP_ERR_MISSING and a sentence that says what to install.
 */
int sqlite_load(const char *library, struct acp_failure *failure);

#endif
