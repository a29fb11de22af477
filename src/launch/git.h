/*
 * git.h - runs git on a repository that is not trusted: nothing that the repository configures is
 * run.
 *
 * Hooks and the file system monitor are disabled, and so are the filters that the repository's own
 * configuration defines; those of the user's configuration, such as Git LFS, stay.  Git asks
 * nothing and does not use the network.
 */
#ifndef SRC_LAUNCH_GIT_H
#define SRC_LAUNCH_GIT_H

#include "acp/base.h"

enum {
    GIT_MAX_ARGUMENTS = 32,
    GIT_MAX_FILTERS = 64, /* of a repository; with more it is not used */
    GIT_MAX_MS = 120000,  /* for one command; a large repository takes its time to be checked out */
};
#define GIT_MAX_OUTPUT ((size_t) 64 * 1024 * 1024)

/*
 * A repository.  directory is where git is run.  git_dir and work_tree are given to git if they are
 * set, so that it does not look for them: an agent may have changed the file `.git`.
 */
struct git_place {
    const char *directory;
    const char *git_dir;
    const char *work_tree;
};

/*
 * Runs git with the arguments, a list that ends with NULL, and appends what it prints.  Waits for
 * it.  ACP_ERR_MISSING: git is not installed.  ACP_ERR_STATE: it has failed; the message is the
 * first line that it wrote to standard error.  ACP_ERR_TIMEOUT, ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
int git_run(const struct git_place *place, const char *const *arguments, struct acp_buf *out,
            struct acp_failure *failure);

#endif
