/*
 * trust.h - the folders whose .acp/config.json the user has agreed to.
 *
 * A project's file may name commands and permit things only once its user has said so.  What was
 * agreed to is the file as it was then: its whole text is kept beside the folder's real path, and
 * a file that has changed asks again.  Kept in the state folder, mode 0600, one JSON object a line.
 */
#ifndef SRC_CONFIG_TRUST_H
#define SRC_CONFIG_TRUST_H

#include "acp/base.h"

enum trust { TRUST_NONE = 0, TRUST_CHANGED, TRUST_YES };

/*
 * Whether that content in that folder is trusted; `file` is the list (see trust_file()).  A list
 * that cannot be read trusts nothing.  folder is made real here.
 */
enum trust trust_check(const char *file, const char *folder, struct acp_str content);

/* Adds or renews; removes.  Negative, with a sentence in why, when it could not be done. */
int trust_add(const char *file, const char *folder, struct acp_str content, struct acp_buf *why);
/* ACP_ERR_UNKNOWN when the folder was not in the list. */
int trust_remove(const char *file, const char *folder, struct acp_buf *why);

/* Calls back for each folder in the list.  Negative, with a sentence in why. */
typedef void trust_visit(struct acp_str folder, struct acp_str content, void *user);
int trust_list(const char *file, trust_visit *visit, void *user, struct acp_buf *why);

/* The list's place in the state folder, in the arena; NULL without a home. */
const char *trust_file(const char *const *environment, struct acp_arena *arena);

#endif
