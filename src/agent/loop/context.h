/*
 * context.h - what precedes the conversation in every request: system text and tools, and the facts
 * that the model knows.
 */
#ifndef SRC_AGENT_LOOP_CONTEXT_H
#define SRC_AGENT_LOOP_CONTEXT_H

#include "acp/json.h"
#include "model/model.h"

/* ---- Facts ----------------------------------------------------------------------------------- */

/* Something that the model has to know, and that can change during a session. */
enum fact_kind {
    FACT_LINE, /* "Mode: safe" */
    FACT_FILE, /* instructions of the project; the name is the path */
    FACT_TOOL, /* of an MCP server; the text is its definition as JSON */
};
struct fact {
    enum fact_kind kind;
    struct acp_str name;
    uint64_t hash;       /* of the text */
    struct acp_str text; /* absent in facts that the model knows */
};
struct facts {
    struct acp_arena arena;
    struct fact *items;
    size_t count;
};

void facts_init(struct facts *facts);
void facts_finish(struct facts *facts);
uint64_t facts_hash(struct acp_str text);
int facts_add(struct facts *facts, enum fact_kind kind, struct acp_str name, uint64_t hash,
              struct acp_str text);
const struct fact *facts_get(const struct facts *facts, enum fact_kind kind, struct acp_str name);
/* Without their texts. */
int facts_copy(const struct facts *facts, struct facts *ret);

/* ---- A context ------------------------------------------------------------------------------- */

/* No service accepts more. */
enum { CONTEXT_MAX_TOOLS = 128 };

struct context {
    struct acp_arena arena; /* of the texts */
    struct acp_str model;   /* for which it was made, with its API */
    struct acp_str system;
    struct model_tool *tools;
    size_t tool_count;
    struct facts known;  /* to the model */
    struct facts before; /* known to it when the turn began */
};

/* NULL if out of memory. */
struct context *context_new(void);
/* Takes NULL. */
void context_free(struct context *context);
void context_write_tool(struct acp_json_writer *w, const struct model_tool *tool);
/* For the log: all of it, or only the facts that the model knows. */
void context_write(const struct context *context, bool whole, struct acp_json_writer *w);
/*
 * Reads what was logged into *context, which is made if it is NULL.  On failure it is freed, and
 * NULL.
 */
int context_read(struct acp_raw object, struct context **context);

#endif
