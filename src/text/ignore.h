/*
 * ignore.h - the rules of .gitignore files, with the meaning that git gives them.
 *
 * The rules of a file are one struct, which points to those of the folders above.  The last
 * matching rule of the innermost file decides.  Everything below an ignored folder is ignored:
 * callers do not enter it.
 */
#ifndef SRC_TEXT_IGNORE_H
#define SRC_TEXT_IGNORE_H

#include "acp/base.h"

/* The file is untrusted: what exceeds these limits is ignored. */
enum { IGNORE_MAX_BYTES = 256 * 1024, IGNORE_MAX_RULES = 4096, IGNORE_MAX_PATTERN = 1024 };

struct ignore;

/*
 * Reads a file of `directory`, a path below the top of the tree ("" for the top itself).  All of it
 * is in the arena, including a copy of the directory.  `above` may be NULL; *ret is `above` if the
 * file has no rules.  ACP_ERR_NOMEM.
 */
int ignore_parse(struct acp_str text, struct acp_str directory, const struct ignore *above,
                 struct acp_arena *arena, const struct ignore **ret);

/* Whether a path below the top, without slashes at its ends, is ignored.  rules may be NULL. */
bool ignore_matches(const struct ignore *rules, struct acp_str path, bool is_directory);

#endif
