/*
 * change.h - what tools that change files share: the old texts are read, the new ones made from
 * them and shown as diffs; with permission, and if nothing has changed in the meantime, they are
 * written and recorded in the journal.
 */
#ifndef SRC_AGENT_TOOLS_CHANGE_H
#define SRC_AGENT_TOOLS_CHANGE_H

#include "agent/toolkit/tool.h"

/* One file. */
struct change {
    struct acp_str path;
    bool may_be_new;         /* otherwise a missing file is an error */
    bool must_be_new;        /* an existing file is an error */
    bool removes;            /* the file is deleted */
    struct acp_str old_text; /* absent: the file does not exist */
    struct acp_buf made;     /* the new text */
    mode_t mode;
};

struct changes {
    struct change *items; /* in the arena */
    size_t count;
    size_t at;
    /* Appends the new text of a file to its `made`.  An error after tool_printf(). */
    int (*make)(struct tool_run *run, size_t index);
    void *own; /* of the tool */
};

/* For prepare: makes run->own, with room for that many files.  An error after tool_printf(). */
int change_prepare(struct tool_run *run, size_t count, int (*make)(struct tool_run *, size_t),
                   struct changes **ret);
/* For prepare, when all have their paths: checks them and sets those of the run. */
int change_place(struct tool_run *run, const char *verb);

/* The other functions of such a tool. */
void change_preview(struct tool_run *run);
void change_start(struct tool_run *run);
void change_drop(struct tool_run *run);

#endif
