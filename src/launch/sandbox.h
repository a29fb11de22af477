/*
 * sandbox.h - runs a program where it can do no harm: it sees the system's programs without being
 * able to change them, the roots, which it may change, an empty /tmp, and nothing else.
 *
 *     sandbox_new(NULL, &sandbox, &failure);             // once: finds out what can be had here
 *     sandbox_run_new(sandbox, &profile, &run, &failure);
 *     ... start run->argv, wait until it has ended with all that it has started ...
 *     sandbox_run_free(run);                             // removes what the run needed
 *
 * Two walls stand inside of each other:
 *
 *   bubblewrap             namespaces for users, mounts, processes, network, IPC and host name; no
 *                          capabilities, no further user namespaces
 *   Landlock and seccomp   by the helper `acp-sandbox`, which bubblewrap starts and which becomes
 *                          the command
 *
 * Where bubblewrap cannot run, the second is the only wall; sandbox_wall() says so.  What is weaker
 * then: other processes are seen by name; modes, owners and times of files can be changed; /tmp is
 * a directory of the run's own under another name; nothing can be created directly in a root, and
 * git can read its repository but not commit; no Unix socket can be made; the home directory cannot
 * be a root; before Landlock 6 other processes of the user can be signalled.  The same files are
 * protected and hidden behind both.  Where neither can be had there is no sandbox, and nothing must
 * be run.
 *
 * It is the same for root as for anybody else: inside there is no capability, and what of the
 * kernel belongs to root cannot be written.
 */
#ifndef SRC_LAUNCH_SANDBOX_H
#define SRC_LAUNCH_SANDBOX_H

#include "acp/base.h"

enum sandbox_wall {
    SANDBOX_ANY,        /* the best that can be had */
    SANDBOX_BUBBLEWRAP, /* with Landlock, where the kernel has it, and seccomp inside */
    SANDBOX_LANDLOCK,   /* with seccomp */
};

struct sandbox_options {
    enum sandbox_wall wall;
    const char *helper; /* the path of acp-sandbox; NULL: $ACP_SANDBOX_HELPER, or as installed */
};

struct sandbox;

/*
 * Tries a run with all that real runs have, which takes some milliseconds, at most five seconds.
 * options may be NULL.  ACP_ERR_STATE when there is no sandbox, and failure says what to install or
 * to allow; ACP_ERR_NOMEM.
 */
int sandbox_new(const struct sandbox_options *options, struct sandbox **ret,
                struct acp_failure *failure);
void sandbox_free(struct sandbox *sandbox);
enum sandbox_wall sandbox_wall(const struct sandbox *sandbox);
/* "bubblewrap, Landlock 7, seccomp"; as long as the sandbox. */
const char *sandbox_describe(const struct sandbox *sandbox);

/* What a run may do.  All paths are absolute; a text is followed by a NUL. */
struct sandbox_profile {
    struct acp_str_list roots;       /* read and written, but for what protect.h lists */
    struct acp_str_list readable;    /* further paths that are read and executed */
    struct acp_str_list hidden;      /* paths in the roots that are not seen */
    struct acp_str_list environment; /* NAME=VALUE, besides what every run gets */
    struct acp_str_list command;     /* the program and its arguments */
    struct acp_str cwd;              /* in a root */
    bool network;                    /* that of the machine, as it is */
    /*
     * Git can commit in the roots.  Meanwhile a command can add a repository of its own to that of
     * a root, and the user's `git status` would obey its configuration; sandbox_run_free() disables
     * such.  So it is for commands that end soon.  Without it repositories can be read only.
     */
    bool commits;
};

struct sandbox_run {
    struct acp_str *argv; /* to be started in place of the command, with any environment */
    size_t count;
};

/*
 * ACP_ERR_RANGE for a root that belongs to the system or is not absolute, ACP_ERR_MISSING for one
 * that is not there, ACP_ERR_STATE when something in it cannot be protected, ACP_ERR_NOMEM.
 */
int sandbox_run_new(const struct sandbox *sandbox, const struct sandbox_profile *profile,
                    struct sandbox_run **ret, struct acp_failure *failure);
/* When all of it has ended.  Returns how many repositories it had to disable.  Takes NULL. */
size_t sandbox_run_free(struct sandbox_run *run);

#endif
