/* spawn.h - from a description to a running program: fork, the few steps before exec, exec. */
#ifndef LIB_IO_SPAWN_H
#define LIB_IO_SPAWN_H

#include <sys/types.h>

#include "acp/base.h"
#include "io/children.h"

struct acp_spawn {
    const char *const *argv;
    char *const *environment;
    const char *cwd;   /* NULL: ours */
    const int *cwd_fd; /* instead of cwd, which only names it then; may be NULL */
    int fds[3];        /* what becomes 0, 1 and 2; any numbers, all open */
    int terminal;      /* becomes the controlling terminal; -1: none */
    /* Stays in our session, with its group in the foreground of this terminal; -1: just that. */
    bool in_our_session;
    int foreground;
};

/*
 * Returns once the program runs.  slot is reserved and holds the child then.  Otherwise an error,
 * the slot is given back, and failure, which may be NULL, says it with the name of the program.
 */
int acp_spawn(const struct acp_spawn *spawn, acp_child_slot *slot, pid_t *ret_pid,
              struct acp_failure *failure);
/* Fills a failure about a program that could not be started; returns err. */
int acp_spawn_failed(struct acp_failure *failure, const char *program, const char *what, int err);

#endif
