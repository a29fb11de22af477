/* gate.h - asking a struct for something by its name in the protocol. */
#ifndef LIB_CODEC_GATE_H
#define LIB_CODEC_GATE_H

#include "codec/describe.h"

/* The field of that name in a struct or union, or NULL. */
const struct acp_field *acp_field_named(acp_type_id type, struct acp_str name, unsigned mode);
/*
 * Whether a capability is given: the path, such as capabilities.session.fork, leads from a struct
 * of that type to true or to an object.  Gates that are prose are not given.
 */
bool acp_gate_is_open(acp_type_id type, unsigned mode, const void *value, struct acp_str path);

#endif
