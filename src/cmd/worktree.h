/*
 * worktree.h - a git worktree of its own for a run: beside the repository, as REPOSITORY.worktrees/
 * NAME, on the branch acp/NAME, from the commit that is checked out.
 */
#ifndef SRC_CMD_WORKTREE_H
#define SRC_CMD_WORKTREE_H

#include "acp/base.h"

/* All texts are in the arena. */
struct worktree {
    struct acp_arena *arena;
    const char *name;
    const char *root;    /* of the worktree */
    const char *cwd;     /* the directory in it that corresponds to the one given */
    const char *top;     /* of the repository's main worktree, or the one that was given */
    const char *git_dir; /* of the worktree; not read from the file `.git` in it */
    const char *branch;
    const char *base; /* the commit from which it was made or, if it existed, at which it stood */
    bool is_new;
    bool is_dirty; /* the given directory has changes that are not in the new worktree */
};

struct worktree_stat {
    uint64_t files;
    uint64_t added;
    uint64_t removed;
};

/*
 * Makes the worktree for a directory of a repository, or takes the one of that name.  A name has
 * letters, digits, and "-", "_" and "." inside.  ACP_ERR_ARGUMENT for another name, and if the
 * directory is in no repository or that has no commit; the errors of git_run().  All have a
 * message.
 */
int worktree_open(const char *cwd, const char *name, struct acp_arena *arena, struct worktree *ret,
                  struct acp_failure *failure);

/* What differs from the base: commits, changes, and new files, which are registered (add -N). */
int worktree_stat(const struct worktree *worktree, struct worktree_stat *ret,
                  struct acp_failure *failure);
/* The same as a patch. */
int worktree_diff(const struct worktree *worktree, struct acp_buf *out,
                  struct acp_failure *failure);

/* Removes the worktree and its branch, with everything in it. */
int worktree_remove(const struct worktree *worktree, struct acp_failure *failure);

/* At the end of a run a new worktree without changes is removed. */
enum worktree_fate {
    WORKTREE_KEPT,
    WORKTREE_REMOVED,
    WORKTREE_UNKNOWN, /* git has failed; a message says how */
};
enum worktree_fate worktree_finish(const struct worktree *worktree, struct worktree_stat *ret_stat);
/*
 * Tells people what has become of it, what has changed, and how to look at that, merge it and drop
 * it.  session: how it is continued; empty: not at all.
 */
void worktree_report(const struct worktree *worktree, enum worktree_fate fate,
                     const struct worktree_stat *changes, struct acp_str session);

#endif
