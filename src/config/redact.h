/*
 * redact.h - what may be shown of command lines and addresses in which people keep tokens and
 * passwords.
 *
 * What can be a secret is replaced by "(set)".  Nobody can tell them apart from all else for sure,
 * so words that look like one are replaced, too: it is better to show too little.
 */
#ifndef SRC_CONFIG_REDACT_H
#define SRC_CONFIG_REDACT_H

#include "acp/base.h"

/*
 * A URL with its scheme, host, port, and names: without a user, the values of the query, the
 * fragment, and parts of the path that are no plain words.
 */
int redact_url(struct acp_str url, struct acp_buf *out);

/*
 * One argument of a command, which follows `before` (NULL: it is the first):
 *
 *   --token X, --token=X, -p X     the value of an option that is named like a secret
 *   NAME=value                     of a variable
 *   Authorization: Bearer X        of a header
 *   https://user:pw@host/?key=X    see redact_url()
 *   sk-..., ghp_..., long mixtures of letters and digits
 */
int redact_argument(const char *before, struct acp_str argument, struct acp_buf *out);

/* A list that ends with NULL, as a list in the arena; NULL without memory. */
const char *const *redact_arguments(struct acp_arena *arena, const char *const *arguments);

/*
 * A message of the protocol, or a part of one, without the values of variables and headers, of
 * members that are named like a secret, and of what can be one in arguments and URLs.  What is said
 * in it stays as it is.
 */
int redact_json(struct acp_raw json, struct acp_arena *arena, struct acp_buf *out);

#endif
