/*
 * file_walk.h - walks the files of a workspace, folder by folder, within its roots and the limits
 * that the caller sets.
 *
 * The files of a folder come first, then its folders, both by name.  Symbolic links are reported
 * and not followed.  ".git" is never entered, and what .gitignore files list is left out by
 * default.  The calls block, so they should run on a thread.
 */
#ifndef SRC_AGENT_TOOLKIT_FILE_WALK_H
#define SRC_AGENT_TOOLKIT_FILE_WALK_H

#include <stdatomic.h>

#include "acp/files.h"

enum {
    WALK_MAX_ENTRIES = 1000000, /* names that are visited */
    WALK_MAX_FOLDER = 100000,   /* names in a folder, which are sorted in memory */
    WALK_MAX_DEPTH = 100,       /* nested folders */
    WALK_MAX_MEMORY = 64 << 20, /* for names, folders to visit, and rules */
    WALK_MAX_MS = 20000,
};

struct walk_options {
    const struct acp_roots *roots;
    const char *top;                     /* absolute and normal; a folder, or a single file */
    size_t depth;                        /* of folders; 1: the top only; 0: WALK_MAX_DEPTH */
    bool with_ignored;                   /* also files that .gitignore lists */
    uint64_t max_entries;                /* 0: WALK_MAX_ENTRIES */
    uint64_t max_ms;                     /* 0: WALK_MAX_MS */
    const atomic_bool *stop;             /* set by another thread to end the walk; may be NULL */
    const struct acp_files_guard *guard; /* asked about each file that is opened; may be NULL */
};

enum walk_kind { WALK_FILE, WALK_FOLDER, WALK_LINK, WALK_OTHER };

struct walk_entry {
    const char *path;   /* absolute */
    const char *within; /* relative to the top; the name if the top is a file */
    enum walk_kind kind;
};

/* Why a walk ended. */
enum walk_end {
    WALK_COMPLETE = 0,
    WALK_ENOUGH, /* the function has ended it */
    WALK_STOPPED,
    WALK_TOO_MANY,
    WALK_TOO_LONG,
    WALK_TOO_DEEP, /* some folders were left out */
    WALK_NO_MEMORY,
};

struct walk;

/* Called for each name; the entry is valid until it returns.  Not 0 ends the walk. */
typedef int walk_fn(struct walk *walk, const struct walk_entry *entry, void *user);

struct walk_outcome {
    enum walk_end end;
    uint64_t entries;
    uint64_t ignored;    /* by rules; the contents of an ignored folder are not counted */
    uint64_t unreadable; /* folders that could not be read */
};

/*
 * 0 with the outcome; ACP_ERR_MISSING, ACP_ERR_RANGE or ACP_ERR_STATE if the top cannot be read,
 * and error says why; ACP_ERR_NOMEM.
 */
int walk_tree(const struct walk_options *options, walk_fn *fn, void *user, struct walk_outcome *ret,
              struct acp_files_error *error);

/* For the function: opens the entry, a regular file, for reading.  A descriptor or an acp_err. */
int walk_open(const struct walk *walk, const struct walk_entry *entry);
/* For the function: whether the walk has to end, because of its time limit or `stop`. */
bool walk_is_over(const struct walk *walk);

/* A sentence for an incomplete walk, or NULL. */
const char *walk_end_text(enum walk_end end);

#endif
