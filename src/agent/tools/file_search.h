/*
 * file_search.h - what list, glob and grep share: a walk through the workspace on a thread, which
 * writes lines for the model, and notes on what was left out.
 */
#ifndef SRC_AGENT_TOOLS_FILE_SEARCH_H
#define SRC_AGENT_TOOLS_FILE_SEARCH_H

#include "agent/toolkit/file_walk.h"
#include "agent/toolkit/tool.h"
#include "agent/tools/pattern.h"

/*
 * Decides on the thread whether a file may be read, with copies of policy and ledger, so that the
 * session can use its own.
 */
struct search_guard {
    struct acp_files_guard guard;
    struct acp_policy *policy;
    struct acp_ledger *rejections; /* those in the ledger */
    struct acp_action action;
    struct acp_str agreed; /* the real path of the file that the user has allowed, if it is one */
    size_t withheld;       /* files that were not read */
};

struct search {
    struct acp_arena arena;
    struct acp_buf lines;  /* for the model */
    struct acp_str folder; /* of the session: paths are printed relative to it */
    struct walk_options options;
    struct walk_outcome outcome;
    struct search_guard rules;
    walk_fn *fn;
    size_t found;
    size_t too_large;       /* files that were skipped */
    size_t too_hard;        /* lines that would take too long */
    size_t most;            /* that are printed */
    struct pattern pattern; /* of files to search */
    const char *nothing;    /* what to print if there are none */
    /* Frees what `own` has outside of the arena; may be NULL. */
    void (*drop)(struct search *search);
    void *own; /* of the tool; in the arena */
    int err;
    struct acp_files_error error;
};

/*
 * For prepare: reads "path", which may be missing, checks it, and makes run->own.  An error after
 * tool_printf().
 */
int search_prepare(struct tool_run *run, const char *verb, walk_fn *fn, size_t own_size,
                   struct search **ret);
/* For prepare: reads a pattern for files, if there is one.  An error after tool_printf(). */
int search_read_pattern(struct tool_run *run, const char *key, struct search *search);
/* A path as it is printed. */
const char *search_path(const struct search *search, const char *path);

/* For the thread: adds to the line, and ends it; an error if there is no room for more. */
int search_add(struct search *search, struct acp_str text);
int search_add_line(struct search *search, const char *path, const char *end);

/* search_guard.c: for the loop, before the thread begins; 0 or ACP_ERR_NOMEM. */
int search_guard_init(struct search_guard *guard, const struct tool_run *run,
                      struct acp_arena *arena);
void search_guard_finish(struct search_guard *guard);

/* The other functions of such a tool. */
void search_start(struct tool_run *run);
void search_drop(struct tool_run *run);

#endif
