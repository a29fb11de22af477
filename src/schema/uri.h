/* uri.h - references to other schemas as RFC 3986 has them: relative ones are resolved. */
#ifndef SRC_SCHEMA_URI_H
#define SRC_SCHEMA_URI_H

#include "acp/base.h"

/* Takes what stands behind the first '#' off a reference; absent when there is none. */
struct acp_str schema_uri_cut_fragment(struct acp_str *uri);

/*
 * What a reference (without fragment) means where base is the address.  The result lives in the
 * arena or in one of the two.  ACP_ERR_NOMEM.
 */
int schema_uri_resolve(struct acp_str base, struct acp_str reference, struct acp_arena *arena,
                       struct acp_str *ret);

/* A text with its %XX decoded, in the arena; those that are none stay as they are. */
int schema_uri_decode(struct acp_str text, struct acp_arena *arena, struct acp_str *ret);

#endif
