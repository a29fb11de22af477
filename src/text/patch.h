/*
 * patch.h - reads a unified diff, as git and diff write it and as language models try to, and
 * applies it to texts.
 *
 * Models count badly, so the numbers of a hunk say where to begin to look and nothing more: a hunk
 * goes to the place nearest to its line where all its old lines stand.  Nothing is guessed beyond
 * that: a hunk whose lines are not there is an error that says which line is not.
 *
 * A line of the patch without "\r" also stands for the same line with one; what is added gets the
 * line ends that the file has.
 */
#ifndef SRC_TEXT_PATCH_H
#define SRC_TEXT_PATCH_H

#include "acp/base.h"

enum {
    PATCH_MAX_FILES = 64,
    PATCH_MAX_HUNKS = 2000,    /* of all files */
    PATCH_MAX_LINES = 200000,  /* of all hunks */
    PATCH_MAX_WORK = 50000000, /* lines compared in one application; some tenths of a second */
};

struct patch_line {
    char sign;           /* ' ', '-' or '+' */
    bool no_end;         /* the file ends behind it without "\n" */
    struct acp_str text; /* without the end of the line */
};

struct patch_hunk {
    uint64_t old_start; /* from 1, as the patch says; 0 when it says nothing */
    const struct patch_line *lines;
    size_t count;
    size_t at_line; /* of the patch, for messages */
};

/* Paths as they stand there, without "a/" and "b/"; absent for /dev/null. */
struct patch_file {
    struct acp_str old_path;
    struct acp_str new_path;
    const struct patch_hunk *hunks;
    size_t count;
};

struct patch {
    struct patch_file files[PATCH_MAX_FILES];
    size_t count;
};

/*
 * Texts point into `text`, lists live in the arena.  ACP_ERR_SYNTAX with a sentence for the model,
 * ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
int patch_parse(struct acp_str text, struct acp_arena *arena, struct patch *ret,
                struct acp_failure *failure);

/*
 * Appends the new text to out.  ACP_ERR_MISSING when a hunk fits nowhere, with a sentence that says
 * which of its lines is not there; ACP_ERR_LIMIT, ACP_ERR_NOMEM.  After a failure out is as before.
 */
int patch_apply(const struct patch_file *file, struct acp_str old_text, struct acp_buf *out,
                struct acp_failure *failure);

#endif
