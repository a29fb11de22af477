/* Loads libsqlite3 and fills the table of its functions. */
#include "store/sqlite.h"

#include "io/library.h"

/* STRICT tables. */
enum { OLDEST_VERSION = 3037000 };

struct sqlite_functions sqlite;

static const struct library_function functions[] = {
#define SQLITE_ROW_OF(name) {"sqlite3_" #name, offsetof(struct sqlite_functions, name)},
    SQLITE_FUNCTIONS(SQLITE_ROW_OF)
#undef SQLITE_ROW_OF
};

#ifdef ACP_LINKED_SQLITE
static const struct sqlite_functions linked = {
#define SQLITE_LINKED(name) .name = sqlite3_##name,
    SQLITE_FUNCTIONS(SQLITE_LINKED)
#undef SQLITE_LINKED
};
#define LINKED &linked
#else
#define LINKED NULL
#endif

static const char *begin(void)
{
    return sqlite.libversion_number() < OLDEST_VERSION
               ? "the one that is installed is older than 3.37"
               : NULL;
}

int sqlite_load(const char *library, struct acp_failure *failure)
{
    static struct library it = {
        .need = "the session log needs SQLite",
        .install = "install the package libsqlite3-0",
        .table = &sqlite,
        .functions = functions,
        .count = sizeof(functions) / sizeof(functions[0]),
        .linked = LINKED,
        .table_size = sizeof(sqlite),
        .begin = begin,
    };
    return library_load(&it, library, failure);
}
