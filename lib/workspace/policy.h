/* policy.h - the inside of a policy, for policy.c and policy_load.c. */
#ifndef LIB_WORKSPACE_POLICY_H
#define LIB_WORKSPACE_POLICY_H

#include "acp/policy.h"

struct acp_policy {
    enum acp_policy_mode mode;
    struct acp_policy_rule *rules; /* owned */
    size_t count;
    size_t cap;
    const char *home; /* in texts; NULL when there is none */
    struct acp_arena texts;
};

#endif
