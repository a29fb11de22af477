/* gate.h - asking a struct for something by its name in the protocol. */
#ifndef LIB_ACP_GATE_H
#define LIB_ACP_GATE_H

#include "acp/describe.h"
#include "acp/rpc.h"

/* The field of that name in a struct or union, or NULL. */
const struct acp_field *acp_field_named(acp_type_id type, struct acp_str name, unsigned mode);
/*
 * Whether a capability is given: the path, such as capabilities.session.fork, leads from a struct
 * of that type to true or to an object.  Gates that are prose are not given.
 */
bool acp_gate_is_open(acp_type_id type, unsigned mode, const void *value, struct acp_str path);

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
void acp_write_value(acp_type_id type, unsigned mode, const void *value, struct acp_json_writer *w);

#endif
