/* environment.h - the environment of a child: ours, less some, plus some. */
#ifndef LIB_IO_ENVIRONMENT_H
#define LIB_IO_ENVIRONMENT_H

#include <stdbool.h>

/*
 * A list for execve that borrows its texts from environ, from set, and mark, a whole "NAME=value"
 * that may be NULL.  Of the same name the last one counts: environ, then set, then mark.  The list
 * is freed with free(); NULL if out of memory.
 */
char **acp_environment_make(const char *const *set, const char *const *unset, bool keep_nesting,
                            const char *mark);
/* The value of a name, or NULL. */
const char *acp_environment_get(char *const *environment, const char *name);

#endif
