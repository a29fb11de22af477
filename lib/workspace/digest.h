/* digest.h - SHA-256 (FIPS 180-4), to bind a permission to the content that was shown. */
#ifndef LIB_WORKSPACE_DIGEST_H
#define LIB_WORKSPACE_DIGEST_H

#include "acp/policy.h"

void acp_digest(struct acp_str text, unsigned char ret_digest[ACP_DIGEST_SIZE]);

/* The edit that leaves that content in the file; path is borrowed. */
void acp_action_edit_init(struct acp_action_edit *edit, struct acp_str path,
                          struct acp_str content);

#endif
