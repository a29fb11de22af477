/* body.h - members of the bodies that are ours; see event.h. */
#ifndef SRC_TRANSCRIPT_BODY_H
#define SRC_TRANSCRIPT_BODY_H

#include "acp/json.h"

/* The member as JSON; absent when there is none. */
struct acp_raw body_member(struct acp_raw body, const char *name);
/*
 * A text, in the body or in the arena; of another type it is the JSON.  Absent when there is none.
 * 0 or ACP_ERR_NOMEM.
 */
int body_text(struct acp_raw body, const char *name, struct acp_arena *arena, struct acp_str *ret);
bool body_number(struct acp_raw body, const char *name, uint64_t *ret);
bool body_signed(struct acp_raw body, const char *name, int64_t *ret);
/* The texts of an array; others are left out.  0 or ACP_ERR_NOMEM. */
int body_texts(struct acp_raw body, const char *name, struct acp_arena *arena,
               struct acp_str_list *ret);

#endif
