/*
 * repair.h - requests that a service has refused for a reason that can be taken away: a tool whose
 * schema it does not take, reasoning that it does not accept back, a setting that the model does
 * not have.
 *
 * The request is changed as the JSON text it is; the conversation that it was made of need not be
 * there any more.
 */
#ifndef SRC_MODEL_REPAIR_H
#define SRC_MODEL_REPAIR_H

#include "acp/json.h"
#include "model/model.h"

enum repair_kind {
    REPAIR_NONE = 0,
    REPAIR_STRIP,      /* without what is sealed */
    REPAIR_TOOL,       /* without one of the tools */
    REPAIR_FIELD,      /* without a setting */
    REPAIR_MAX_TOKENS, /* with a smaller limit of the answer */
};

struct repair {
    enum repair_kind kind;
    size_t tool;       /* its index */
    const char *field; /* "temperature", "reasoning.summary" */
    uint64_t tokens;
};

/* What to change about a request that was refused with these words; both are JSON. */
struct repair repair_find(enum model_api api, struct acp_raw request, struct acp_str words);
/* Appends the changed request. */
int repair_apply(enum model_api api, struct acp_raw request, const struct repair *repair,
                 struct acp_buf *ret);
/* The name of the tool that a repair leaves out, in the arena; absent when there is none. */
struct acp_str repair_tool_name(enum model_api api, struct acp_raw request,
                                const struct repair *repair, struct acp_arena *arena);

#endif
