/*
 * undo.h - the journal of what turns have changed: for each file what it was before its turn, so
 * that the last turn can be taken back as a whole.
 *
 * It lives in memory and is bounded: past the limit the oldest turns are forgotten, and of a turn
 * that is too large by itself the files that do not fit, which it then says.
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

/* What a text is known by, to see whether it was changed since. */
struct undo_mark {
    bool there; /* false: there is no file */
    size_t len;
    uint64_t hash;
};

/* An absent text is a file that is not there. */
struct undo_mark undo_mark(struct acp_str text);
bool undo_same(struct undo_mark a, struct undo_mark b);

struct undo_file {
    struct acp_str path;
    struct acp_str old_text; /* absent: it was not there */
    mode_t mode;             /* 0 when it is not known, or there was no file */
    struct undo_mark left;   /* as the turn has left it */
};

struct undo {
    struct undo_turn *turns; /* the newest first */
    bool begun;              /* a turn that has changed nothing yet: it is not among them */
    size_t bytes;
    size_t max_bytes;
};

/* max_bytes 0: UNDO_MAX_BYTES. */
void undo_init(struct undo *journal, size_t max_bytes);
void undo_finish(struct undo *journal);

/* What is noted from now on belongs to a new turn. */
void undo_begin(struct undo *journal);
/*
 * A file was changed from one text to another.  Only its first text in a turn is kept, and what it
 * was left with.  Where it cannot be kept (limits, memory) the turn remembers that.
 */
void undo_note(struct undo *journal, struct acp_str path, struct acp_str old_text, mode_t mode,
               struct acp_str new_text);

/* The last turn that changed anything. */
size_t undo_count(const struct undo *journal);
/* Its files in the order they were changed first; valid until the journal changes. */
const struct undo_file *undo_at(const struct undo *journal, size_t index);
/* How many of its files could not be kept. */
size_t undo_lost(const struct undo *journal);
/* Forgets it. */
void undo_drop(struct undo *journal);

#endif
