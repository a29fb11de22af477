/*
 * ignore.h - the rules of .gitignore files, as git has them: which names of a project are not part
 * of it.
 *
 * Rules of one file stand in one struct, which points to those of the folders above.  The last rule
 * of the innermost file that matches decides.  What is below an ignored folder is ignored with it:
 * whoever walks does not go in there.
 */
#ifndef SRC_TEXT_IGNORE_H
#define SRC_TEXT_IGNORE_H

#include "acp/base.h"

/* Somebody else wrote the file: what is beyond these is passed over. */
enum { IGNORE_MAX_BYTES = 256 * 1024, IGNORE_MAX_RULES = 4096, IGNORE_MAX_PATTERN = 1024 };

struct ignore;

/*
 * Reads a file that stands in `directory`, a path below the top of the tree ("" for the top
 * itself).  Everything lives in the arena, the directory too, with `above`, which may be NULL.
 * *ret is `above` when the file has no rules.  ACP_ERR_NOMEM.
 */
int ignore_parse(struct acp_str text, struct acp_str directory, const struct ignore *above,
                 struct acp_arena *arena, const struct ignore **ret);

/* Whether a path below the top, without slashes at its ends, is ignored.  rules may be NULL. */
bool ignore_matches(const struct ignore *rules, struct acp_str path, bool is_directory);

#endif
