/*
 * patch.h - reads unified diffs, as git, diff and (with mistakes) language models write them, and
 * applies them to texts.
 *
 * Models count badly, so the line number of a hunk only says where the search starts: the hunk is
 * applied at the nearest place that has all its old lines.  Nothing else is guessed: if there is no
 * such place, the error names the line that does not match.
 *
 * A line of the patch without "\r" also matches the same line with one; added lines get the line
 * ends of the file.
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
    bool no_end;         /* the last line of the file, without "\n" */
    struct acp_str text; /* without the end of the line */
};

struct patch_hunk {
    uint64_t old_start; /* from 1, as given in the patch; 0: not given */
    const struct patch_line *lines;
    size_t count;
    size_t at_line; /* of the patch, for messages */
};

/* Paths as given, without "a/" and "b/"; absent for /dev/null. */
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
 * Texts point into `text`, lists are in the arena.  ACP_ERR_SYNTAX with a sentence for the model,
 * ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
int patch_parse(struct acp_str text, struct acp_arena *arena, struct patch *ret,
                struct acp_failure *failure);

/*
 * Appends the new text to out.  ACP_ERR_MISSING if a hunk matches nowhere, with a sentence that
 * names a line that does not match; ACP_ERR_LIMIT, ACP_ERR_NOMEM.  A failure leaves out as it was.
 */
int patch_apply(const struct patch_file *file, struct acp_str old_text, struct acp_buf *out,
                struct acp_failure *failure);

#endif
