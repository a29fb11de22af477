/*
 * undo.h - the journal of what turns have changed: what each file was before the turn, so that the
 * last turn can be undone as a whole.
 *
 * It is in memory and bounded: past the limit the oldest turns are dropped.  If a single turn is
 * too large, files are left out and counted.
 */
#ifndef SRC_AGENT_TOOLKIT_UNDO_H
#define SRC_AGENT_TOOLKIT_UNDO_H

#include <sys/types.h>

#include "acp/base.h"

enum {
    UNDO_MAX_BYTES = 32 << 20, /* of all old texts of a session */
    UNDO_MAX_FILES = 1000,     /* of one turn */
    UNDO_MAX_TURNS = 50,
};

/* Identifies a text, to detect later changes. */
struct undo_mark {
    bool there; /* false: there is no file */
    size_t len;
    uint64_t hash;
};

/* An absent text stands for a missing file. */
struct undo_mark undo_mark(struct acp_str text);
bool undo_same(struct undo_mark a, struct undo_mark b);

struct undo_file {
    struct acp_str path;
    struct acp_str old_text; /* absent: it did not exist */
    mode_t mode;             /* 0 if unknown, or if there was no file */
    struct undo_mark left;   /* as the turn has left it */
};

struct undo {
    struct undo_turn *turns; /* the newest first */
    bool begun;              /* a new turn that has changed nothing yet */
    size_t bytes;
    size_t max_bytes;
};

/* max_bytes 0: UNDO_MAX_BYTES. */
void undo_init(struct undo *journal, size_t max_bytes);
void undo_finish(struct undo *journal);

/* What is recorded from now on belongs to a new turn. */
void undo_begin(struct undo *journal);
/*
 * Records that a file was changed from one text to another.  The journal keeps the first old text
 * of a turn and the last new one.  If it cannot (limits, memory), it counts the file.
 */
void undo_note(struct undo *journal, struct acp_str path, struct acp_str old_text, mode_t mode,
               struct acp_str new_text);

/* The last turn that changed anything. */
size_t undo_count(const struct undo *journal);
/* Its files in the order they were changed first; valid until the journal changes. */
const struct undo_file *undo_at(const struct undo *journal, size_t index);
/* How many of its files were not recorded. */
size_t undo_lost(const struct undo *journal);
/* Drops it. */
void undo_drop(struct undo *journal);

#endif
