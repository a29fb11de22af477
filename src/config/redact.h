/*
 * redact.h - removes tokens and passwords from command lines, URLs and messages.
 *
 * Possible secrets are replaced by "(set)".  They cannot be recognized reliably, so words that look
 * like a secret are replaced too: it is better to show too little.
 */
#ifndef SRC_CONFIG_REDACT_H
#define SRC_CONFIG_REDACT_H

#include "acp/base.h"

/*
 * A URL without the user, the values of the query, the fragment, and path segments that are not
 * plain words.
 */
int redact_url(struct acp_str url, struct acp_buf *out);

/*
 * An argument of a command, which follows `before` (NULL: it is the first):
 *
 *   --token X, --token=X, -p X     the value of an option with the name of a secret
 *   NAME=value                     of a variable
 *   Authorization: Bearer X        of a header
 *   https://user:pw@host/?key=X    see redact_url()
 *   sk-..., ghp_..., long mixtures of letters and digits
 */
int redact_argument(const char *before, struct acp_str argument, struct acp_buf *out);

/* The same for a list that ends with NULL; NULL when out of memory. */
const char *const *redact_arguments(struct acp_arena *arena, const char *const *arguments);

/*
 * A protocol message, or a part of one, without the values of variables, headers and members with
 * the name of a secret, and without possible secrets in arguments and URLs.  Prompts and messages
 * are not changed.
 */
int redact_json(struct acp_raw json, struct acp_arena *arena, struct acp_buf *out);

#endif
