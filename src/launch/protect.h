/*
 * protect.h - what in a writable root must not be written after all, because a program outside of
 * the sandbox would run it or obey it later: git's configuration and hooks, the folders of editors
 * and agents, start files of shells, our own state; and what must not even be read: keys.
 *
 * A mount needs something to stand on.  Where a protected name is missing, an empty directory is
 * made for the time of the run (a stub); no program takes an empty directory of that name for more
 * than nothing, and rmdir() afterwards cannot destroy anything.  Stubs have the sticky bit, by
 * which a later run knows those that a crash has left behind.  Only git's `commondir` cannot be a
 * directory: its stub says that everything is where it is without the file.  Runs in the same root
 * hold a shared lock on it, and stubs are removed by whoever gets it alone.
 */
#ifndef SRC_LAUNCH_PROTECT_H
#define SRC_LAUNCH_PROTECT_H

#include "acp/base.h"

enum protect_how {
    PROTECT_ROOT,   /* can be written: a root */
    PROTECT_GITDIR, /* can be written, but not renamed or removed: a repository */
    PROTECT_PIN,    /* can be written, but not renamed or removed: something below is protected */
    PROTECT_READ,   /* can be read only */
    PROTECT_HIDE_DIRECTORY, /* is empty */
    PROTECT_HIDE_FILE,      /* is empty */
};

enum protect_stub { STUB_NONE, STUB_DIRECTORY, STUB_COMMONDIR };

struct protect_entry {
    const char *path; /* absolute, without links */
    enum protect_how how;
    enum protect_stub stub; /* which it needs, being missing */
};

/* In the order in which mounts are made: what comes later lies on top. */
struct protect_list {
    struct acp_arena *arena;
    struct protect_entry *entries;
    size_t count;
    size_t room;
    int *locks; /* one descriptor for each root */
    size_t lock_count;
    bool has_home; /* a root is, or has in it, the home directory */
    bool commits;  /* as in the options */
};

struct protect_options {
    struct acp_str_list roots;  /* absolute */
    struct acp_str_list hidden; /* absolute; further paths in them that must not be seen */
    bool commits;               /* repositories can be written, but for what runs programs */
    const char *homes[2];       /* as the environment and as the system has it; may be NULL */
};

/*
 * Finds everything and locks the roots.  ACP_ERR_RANGE for a root that is a system directory or not
 * absolute, ACP_ERR_MISSING for one that is not there, ACP_ERR_STATE when something cannot be
 * protected, such as a link; failure says what to do.  In any case protect_finish() follows.
 */
int protect_find(const struct protect_options *options, struct acp_arena *arena,
                 struct protect_list *ret, struct acp_failure *failure);
/* Makes the stubs; one that the user may not make the command cannot make either. */
int protect_make_stubs(const struct protect_list *list, struct acp_failure *failure);
/*
 * After a run that could write repositories: disables those that it has made and added to that of a
 * root, by giving their `.git` another name, and returns how many.
 */
size_t protect_disable_gitlinks(const struct protect_list *paths);
/* Removes the stubs, unless another run needs them, and unlocks the roots. */
void protect_finish(struct protect_list *list);

/* ---- Between protect.c, protect_git.c and gitlinks.c ---------------------------------------- */

int protect_add(struct protect_list *list, enum protect_how how, const char *path);
/* Adds a name in a directory as what must not be written, also when it is missing. */
int protect_name(struct protect_list *list, const char *folder, const char *name,
                 struct acp_failure *failure);
/* All that belongs to git in a root. */
int protect_git(struct protect_list *list, const char *root, struct acp_failure *failure);
/* Repositories in a root that the root's own records. */
int protect_gitlinks(struct protect_list *paths, const char *root, struct acp_failure *failure);
/* Makes and removes the stub of git's `commondir`; -errno. */
int protect_make_commondir(const char *path);
void protect_remove_commondir(const char *path);
ACP_PRINTF(3, 4)
int protect_fail(struct acp_failure *failure, int err, const char *format, ...);

#endif
