/* launch_plain.h - agents as child processes of this one, without a sandbox. */
#ifndef SRC_HUB_LAUNCH_PLAIN_H
#define SRC_HUB_LAUNCH_PLAIN_H

#include <uv.h>

#include "hub/hub.h"

/* What to start for a workspace.  Texts and lists are valid until the next call. */
struct launch_command {
    const char *const *argv;
    const char *const *env; /* "NAME=value", added to our environment; NULL: nothing */
    const char *cwd;        /* of the process; NULL: the workspace */
};

struct launch_plain {
    struct hub_launcher launcher; /* first; set by launch_plain_init() */
    uv_loop_t *loop;
    /* How the agent of a workspace is started.  On error, failure has a sentence. */
    int (*command)(const char *workspace, struct launch_command *ret, struct acp_failure *failure,
                   void *user);
    void *user;
};

/* Sets the functions of the launcher; the caller sets the other members. */
void launch_plain_init(struct launch_plain *launcher);

#endif
