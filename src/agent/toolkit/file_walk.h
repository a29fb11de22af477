/*
 * file_walk.h - walks the files of a workspace, folder by folder, within its roots and the limits
 * that the caller sets.
 *
 * A folder's files come first, then its folders, both by name.  Symbolic links are told of and not
 * followed.  ".git" is never entered, and what .gitignore files name is left out unless asked for.
 * The calls block: they are for a thread.
 */
#ifndef SRC_AGENT_TOOLKIT_FILE_WALK_H
#define SRC_AGENT_TOOLKIT_FILE_WALK_H

#include <stdatomic.h>

#include "acp/files.h"

enum {
    WALK_MAX_ENTRIES = 1000000, /* names that are looked at */
    WALK_MAX_FOLDER = 100000,   /* names of one folder, which are sorted in memory */
    WALK_MAX_DEPTH = 100,       /* folders within each other */
    WALK_MAX_MEMORY = 64 << 20, /* for names, folders to come, and rules */
    WALK_MAX_MS = 20000,
};

struct walk_options {
    const struct acp_roots *roots;
    const char *top;         /* absolute and normal; a folder, or a single file */
    size_t depth;            /* folders within each other; 1: this one only; 0: WALK_MAX_DEPTH */
    bool with_ignored;       /* also what .gitignore names */
    uint64_t max_entries;    /* 0: WALK_MAX_ENTRIES */
    uint64_t max_ms;         /* 0: WALK_MAX_MS */
    const atomic_bool *stop; /* set by another thread: it is no longer wanted; may be NULL */
    const struct acp_files_guard *guard; /* asked about each file that is opened; may be NULL */
};

enum walk_kind { WALK_FILE, WALK_FOLDER, WALK_LINK, WALK_OTHER };

struct walk_entry {
    const char *path;   /* absolute */
    const char *within; /* its end, from the top on; the name when the top is a file */
    enum walk_kind kind;
};

/* Why a walk ended. */
enum walk_end {
    WALK_COMPLETE = 0,
    WALK_ENOUGH, /* the function said so */
    WALK_STOPPED,
    WALK_TOO_MANY,
    WALK_TOO_LONG,
    WALK_TOO_DEEP, /* some folders were left out */
    WALK_NO_MEMORY,
};

struct walk;

/* Called for each name; valid inside of the call.  Not 0: it is enough. */
typedef int walk_fn(struct walk *walk, const struct walk_entry *entry, void *user);

struct walk_outcome {
    enum walk_end end;
    uint64_t entries;
    uint64_t ignored;    /* left out by rules; what is in an ignored folder is not counted */
    uint64_t unreadable; /* folders that could not be read */
};

/*
 * 0 with the outcome; ACP_ERR_MISSING, ACP_ERR_RANGE or ACP_ERR_STATE when the top cannot be read,
 * and error tells why; ACP_ERR_NOMEM.
 */
int walk_tree(const struct walk_options *options, walk_fn *fn, void *user, struct walk_outcome *ret,
              struct acp_files_error *error);

/* For the function: opens the entry, a regular file, for reading.  A descriptor or acp_err. */
int walk_open(const struct walk *walk, const struct walk_entry *entry);
/* For the function: whether the time is over or nobody wants it any more. */
bool walk_is_over(const struct walk *walk);

/* What to tell of an end that is not complete, or NULL. */
const char *walk_end_text(enum walk_end end);

#endif
