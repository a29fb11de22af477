/*
 * diff.h - which lines differ between two texts, and the git patch that says so.
 *
 * A line ends behind its '\n'; the last one may lack it, and then it differs from the same line
 * with one.  '\r' and '\0' are bytes like all others, so CRLF is kept.  The empty text has no line.
 * Texts may hold any bytes; who puts a patch into a message sees to it that they are UTF-8.
 *
 * Time and memory are bounded for any input.  Lines that stand on one side only, and common ones at
 * both ends, cost a pass over the text.  For the others the script is the shortest one as long as
 * that has at most ACP_DIFF_EXACT of their lines in it; beyond, it is a good one; and when the work
 * exceeds a fixed budget, the regions that are left count as replaced as a whole.  100,000 lines
 * with scattered changes take 20 ms; two texts of 10 MB made to be slow take less than 3 seconds,
 * mostly for millions of different lines in a table, and all of them up to 30 bytes per line.
 */
#ifndef LIB_BASE_DIFF_H
#define LIB_BASE_DIFF_H

#include "acp/base.h"

enum {
    ACP_DIFF_MAX_BYTES = (1 << 30) - 1, /* of one text */
    ACP_DIFF_EXACT = 2048,
    ACP_DIFF_CONTEXT = 3,
};

/*
 * Lines old_start to old_start + old_count (not included) of the old text, counted from 0, make
 * place for those of the new one.  At most one of the counts is 0, and then its start is the place.
 */
struct acp_diff_edit {
    uint32_t old_start;
    uint32_t old_count;
    uint32_t new_start;
    uint32_t new_count;
};

/* The edits from the top down; at least one common line stands between two of them. */
struct acp_diff_script {
    const struct acp_diff_edit *edits;
    size_t count; /* 0: the texts are equal */
    uint32_t old_lines;
    uint32_t new_lines;
    bool capped; /* there may be a shorter one */
};

/*
 * The script that turns old_text into new_text; absent and null texts are empty ones.  Where an
 * edit could stand at several places it stands at the lowest, as in git.  The edits live in the
 * arena, all else is freed.  ACP_ERR_LIMIT for a text over ACP_DIFF_MAX_BYTES, ACP_ERR_NOMEM.
 */
int acp_diff_lines(struct acp_str old_text, struct acp_str new_text, struct acp_arena *arena,
                   struct acp_diff_script *ret);

/*
 * Paths are written as they are, without "a/" and "b/": the git_patch of v2 asks for absolute ones.
 * Those with control characters, quotes, backslashes or bytes that are not UTF-8 are quoted as git
 * does with core.quotePath off.
 */
struct acp_diff_patch_options {
    struct acp_str old_path; /* absent: the file is added */
    struct acp_str new_path; /* absent: the file is deleted */
    bool copied;             /* where the paths differ: the old file stays, else it was moved */
    size_t context;          /* lines; 0: ACP_DIFF_CONTEXT, since git applies no patch without */
};

/*
 * Appends the patch of one file; patches of several files may follow each other.  Nothing is
 * appended when nothing changed, neither text nor path.  Files that are added or deleted have mode
 * 100644.  `git apply -p0 --unsafe-paths` takes it.
 *
 * ACP_ERR_ARGUMENT: no path at all, one that is empty or has a '\0' in it, or a text without its
 * path; else the errors of acp_diff_lines() and of the buffer.  After a failure out is as before.
 */
int acp_diff_patch(const struct acp_diff_patch_options *options, struct acp_str old_text,
                   struct acp_str new_text, struct acp_buf *out);

#endif
