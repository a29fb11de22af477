/* daemon_run.h - the inside of an owner's process. */
#ifndef SRC_DAEMON_DAEMON_RUN_H
#define SRC_DAEMON_DAEMON_RUN_H

#include "daemon/daemon.h"

/*
 * Runs the owner until it ends.  listener_fd listens at its socket, and is closed in the end; ready is
 * called when clients are served.
 */
int daemon_run(const struct daemon_options *options, int listener_fd, void (*ready)(void *user),
               void *user);

#endif
