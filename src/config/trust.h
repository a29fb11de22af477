/*
 * trust.h - the list of directories whose .acp/config.json the user trusts.
 *
 * A project's file may name commands and grant permissions only if the user trusts it.  Trust
 * applies to the content of the file at that time: the list stores the content with the real path
 * of the directory, and a changed file is untrusted.  The list is in the state directory, mode
 * 0600, one JSON object per line.
 */
#ifndef SRC_CONFIG_TRUST_H
#define SRC_CONFIG_TRUST_H

#include "acp/base.h"

enum trust { TRUST_NONE = 0, TRUST_CHANGED, TRUST_YES };

/*
 * Whether that content in that directory is trusted; `file` is the list (see trust_file()).  If the
 * list cannot be read, nothing is trusted.  The directory is resolved here.
 */
enum trust trust_check(const char *file, const char *folder, struct acp_str content);

/* Adds or updates an entry.  Negative, with a message in why, on error. */
int trust_add(const char *file, const char *folder, struct acp_str content, struct acp_buf *why);
/* Removes an entry; ACP_ERR_UNKNOWN if there is none. */
int trust_remove(const char *file, const char *folder, struct acp_buf *why);

/* Calls back for each directory in the list.  Negative, with a message in why, on error. */
typedef void trust_visit(struct acp_str folder, struct acp_str content, void *user);
int trust_list(const char *file, trust_visit *visit, void *user, struct acp_buf *why);

/* The path of the list in the state directory, in the arena; NULL without a home directory. */
const char *trust_file(const char *const *environment, struct acp_arena *arena);

#endif
