/*
 * library.h - shared libraries that are loaded when they are first needed, so that a command that
 * does not need one does not pay for it, and works where it is not installed.
 */
#ifndef LIB_IO_LIBRARY_H
#define LIB_IO_LIBRARY_H

#include "acp/base.h"

struct library_function {
    const char *name;
    size_t offset; /* of its pointer in the table */
};

struct library {
    const char *need; /* who needs it, and what to install: the beginning of a sentence */
    void *table;      /* of pointers to its functions */
    const struct library_function *functions;
    size_t count;
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
