/*
 * seccomp.h - the system calls that nothing in a sandbox needs and that have led out of sandboxes
 * before.  They fail with EPERM; calls of a foreign architecture end the process.
 */
#ifndef SRC_LAUNCH_SECCOMP_H
#define SRC_LAUNCH_SECCOMP_H

#include <stdbool.h>

/* Sockets that may be made; pairs of connected Unix sockets always. */
enum seccomp_sockets {
    SECCOMP_SOCKETS_NONE,  /* none at all */
    SECCOMP_SOCKETS_INET,  /* TCP and UDP */
    SECCOMP_SOCKETS_LOCAL, /* TCP, UDP and Unix: for a network and file namespace of its own */
};

/*
 * Installs the filter for this process and all that it starts; no_new_privs is set already.  shared
 * allows System V IPC and message queues, which are harmless in an IPC namespace of its own.
 * -ENOTSUP on an architecture that the table does not know, or -errno.
 */
int seccomp_enforce(enum seccomp_sockets sockets, bool shared);

#endif
