#include "role/stop.h"

static const char *const names[] = {
    [ACP_STOP_END_TURN] = "end_turn",
    [ACP_STOP_MAX_TOKENS] = "max_tokens",
    [ACP_STOP_MAX_TURN_REQUESTS] = "max_turn_requests",
    [ACP_STOP_REFUSAL] = "refusal",
    [ACP_STOP_CANCELLED] = "cancelled",
};

enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

const char *acp_stop_text(enum acp_stop stop)
{
    return (unsigned) stop < NAME_COUNT ? names[stop] : NULL;
}

enum acp_stop acp_stop_find(struct acp_str text)
{
    if (!text.ptr)
        return ACP_STOP_NONE;
    for (int i = ACP_STOP_END_TURN; i < NAME_COUNT; i++)
        if (acp_str_is(text, names[i]))
            return (enum acp_stop) i;
    return ACP_STOP_OTHER;
}
