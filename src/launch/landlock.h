/*
 * landlock.h - a Landlock ruleset: what a process and all that it starts may do with files, TCP
 * ports, abstract sockets and signals.  Nothing is allowed that no rule names.
 */
#ifndef SRC_LAUNCH_LANDLOCK_H
#define SRC_LAUNCH_LANDLOCK_H

#include <stdbool.h>

enum landlock_access {
    LANDLOCK_LIST,  /* names in directories */
    LANDLOCK_READ,  /* read and execute */
    LANDLOCK_WRITE, /* read, execute, change, create, remove; no device files */
    LANDLOCK_DEVICE /* read, write and control device files that exist; create nothing */
};

/* The version of the kernel's Landlock; 0 where it has none. */
int landlock_version(void);

/* A new ruleset as a descriptor, or -errno.  Without network TCP is denied (version 4 and up). */
int landlock_new(bool network);
/* Allows access to a path and all below it; -ENOENT when there is no such path. */
int landlock_allow(int ruleset, const char *path, enum landlock_access access);
/*
 * The same for all below a directory but the paths in `except` (absolute, ended by NULL) and what
 * lies below those.  Nothing can be created in, or removed from, a directory on the way to one.
 */
int landlock_allow_except(int ruleset, const char *path, enum landlock_access access,
                          const char *const *except);
/* Confines this process permanently and closes the ruleset.  no_new_privs must be set.  -errno. */
int landlock_enforce(int ruleset);

#endif
