/*
 * schema_fold.h - the JSON Schema of a tool's arguments as a service takes it.
 *
 * Tools of MCP servers bring schemas of every kind, and one that a service does not take fails each
 * request.  So the root becomes a plain object (what anyOf, oneOf and allOf say there is folded
 * into its properties), and keywords that the service does not know are left out.
 */
#ifndef SRC_MODEL_SCHEMA_FOLD_H
#define SRC_MODEL_SCHEMA_FOLD_H

#include "acp/json.h"

enum schema_taker {
    SCHEMA_ANTHROPIC,
    SCHEMA_OPENAI,
    SCHEMA_GEMINI,
};

enum {
    SCHEMA_MAX_BYTES = 64 * 1024, /* a larger one becomes "any object" */
    SCHEMA_MAX_DEPTH = 24,        /* what is deeper becomes "anything" */
    SCHEMA_MAX_PROPERTIES = 512,  /* of the root; the others are left out */
};

/* Always writes one value: an object schema.  The text need not be valid. */
void schema_write(struct acp_raw schema, enum schema_taker taker, struct acp_json_writer *w);

#endif
