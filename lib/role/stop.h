/*
 * stop.h - the names of stop reasons, which are the same in both versions.
 */
#ifndef LIB_ROLE_STOP_H
#define LIB_ROLE_STOP_H

#include "acp/rpc.h"

/* ACP_STOP_NONE for an absent text, ACP_STOP_OTHER for one that is not known. */
enum acp_stop acp_stop_find(struct acp_str text);

#endif
