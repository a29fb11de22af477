/* values.h - the params and results that a program hands to a role: checked, then written. */
#ifndef LIB_ROLE_VALUES_H
#define LIB_ROLE_VALUES_H

#include "acp/rpc.h"
#include "acp/types.h"

/*
 * What a program gives as the params of a message: where that is JSON (ACP_TYPE_ANY) it must be an
 * object; NULL is the empty one.  ACP_ERR_ARGUMENT.
 */
int acp_check_raw_params(acp_type_id type, const void *params);

/*
 * Roles note with each call which type answers it, and let no other one be sent: a call of a
 * program's own has none, and takes any.  For ACP_TYPE_ANY, value is a struct acp_raw that must be
 * JSON.  ACP_ERR_ARGUMENT.
 */
void acp_note_result_type(struct acp_peer *peer, acp_call call, acp_type_id type);
int acp_check_answer(const struct acp_peer *peer, acp_call call, acp_type_id type,
                     const void *value);
void acp_role_write_value(acp_type_id type, unsigned mode, const void *value,
                          struct acp_json_writer *w);

#endif
