/*
 * library.h - shared libraries that are loaded when they are first needed, so that a command that
 * does not need one does not pay for it, and works where it is not installed.
 *
 * A static program (ACP_STATIC) loads nothing: it has the libraries that it was linked with.
 */
#ifndef LIB_IO_LIBRARY_H
#define LIB_IO_LIBRARY_H

#include "acp/base.h"

struct library_function {
    const char *name;
    size_t offset; /* of its pointer in the table */
};

struct library {
    const char *need;    /* "the session log needs SQLite" */
    const char *install; /* "install the package libsqlite3-0" */
    void *table;         /* of pointers to its functions */
    const struct library_function *functions;
    size_t count;
    const void *linked; /* the same table, where the library is linked into the program; or NULL */
    size_t table_size;
    const char *(*begin)(void); /* called when it is loaded; says why it will not do, or NULL */

    bool tried;                 /* from here on: set by library_load() */
    struct acp_failure outcome; /* err is 0 when it is loaded */
};

/*
 * Loads the file called name, once for the process; later calls, of any thread, repeat
 * the first result.  ACP_ERR_MISSING and a sentence that says what to install.
 */
int library_load(struct library *library, const char *name, struct acp_failure *failure);

#endif
