/*
 * sandbox.h - a jail for a command, made by bubblewrap: it sees the system's programs without being
 * able to change them, an empty /tmp, the roots, which it may change, and nothing else: no home
 * directory, no network, no processes but its own, and none of our environment.
 */
#ifndef SRC_LAUNCH_SANDBOX_H
#define SRC_LAUNCH_SANDBOX_H

#include "acp/base.h"

struct sandbox_options {
    struct acp_str_list roots; /* absolute; what may be read and written */
    struct acp_str cwd;        /* absolute, in a root */
    bool network;
};

/* The program, and the arguments that come before the command; everything lives in the arena. */
struct sandbox_words {
    struct acp_str program;
    struct acp_str *args; /* with room for what sandbox_words() was told to leave */
    size_t count;
};

/*
 * Makes the beginning of the command line; `extra` more arguments fit behind it.  ACP_ERR_MISSING
 * without bubblewrap, ACP_ERR_RANGE for a root that is the whole file system or not absolute,
 * ACP_ERR_NOMEM; failure, which may be NULL, says why in words.
 */
int sandbox_words(const struct sandbox_options *options, size_t extra, struct acp_arena *arena,
                  struct sandbox_words *ret, struct acp_failure *failure);

/*
 * Whether a jail can be made here.  Tries it, which takes some milliseconds and at most two
 * seconds; who asks often remembers the answer.
 */
bool sandbox_available(struct acp_failure *failure);

#endif
