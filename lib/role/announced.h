/* announced.h - version 1 begins a tool call by another struct than it changes one. */
#ifndef LIB_ROLE_ANNOUNCED_H
#define LIB_ROLE_ANNOUNCED_H

#include "acp/types.h"

/* The beginning as the change that it is in version 2. */
static inline struct acp_tool_call_update acp_tool_call_announced(const struct acp_tool_call *call)
{
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, call->tool_call_id);
    tool.title = call->title;
    tool.name = call->name;
    tool.kind = call->kind;
    tool.status = call->status;
    tool.content = call->content;
    tool.locations = call->locations;
    tool.raw_input = call->raw_input;
    tool.raw_output = call->raw_output;
    tool.meta = call->meta;
    return tool;
}

#endif
