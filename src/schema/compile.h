/*
 * compile.h - what the files that compile a schema share: compile.c makes nodes, keywords.c knows
 * what each keyword takes, refs.c finds what references mean.
 */
#ifndef SRC_SCHEMA_COMPILE_H
#define SRC_SCHEMA_COMPILE_H

#include "base/map.h"
#include "schema/node.h"

/* A part of the schema with an address of its own ($id); the root is one in any case. */
struct schema_resource {
    const struct schema_value *root;
    struct acp_str uri;
};

struct schema_compiler {
    struct schema *schema;
    struct acp_failure *failure;
    struct acp_map nodes; /* the address of a value: its node */
    struct acp_map homes; /* the address of a value: the resource that it is part of */
    struct acp_map names; /* an address, or one with "#" and an anchor: the value */
    struct schema_node *first;
    struct schema_node *last;
};

/* The key of a value in those maps. */
static inline struct acp_str schema_address_of(const struct schema_value *const *value)
{
    return acp_str_n((const char *) value, sizeof(void *));
}

/* Fails at a value of the schema, with a sentence. */
int schema_refuse(struct schema_compiler *c, const struct schema_value *at, const char *format, ...)
    ACP_PRINTF(3, 4);

/* ACP_ERR_NOMEM, told in the failure as well. */
int schema_no_memory(struct schema_compiler *c);

/* The node of a schema within the schema; it is filled later.  Fails when the value is none. */
int schema_node_of(struct schema_compiler *c, const struct schema_value *value,
                   const struct schema_node **ret);

/* ---- Keywords ------------------------------------------------------------------------------- */

/* Where the value of a keyword has schemas in it. */
enum schema_holds {
    SCHEMA_HOLDS_NONE,
    SCHEMA_HOLDS_ONE,
    SCHEMA_HOLDS_LIST,
    SCHEMA_HOLDS_MAP,
    SCHEMA_HOLDS_ONE_OR_LIST,
};

struct schema_keyword {
    const char *name;
    int (*take)(struct schema_compiler *c, const struct schema_value *value,
                struct schema_node *node, size_t offset);
    size_t offset; /* of the field in the node that it fills */
    enum schema_holds holds;
};

/* NULL for what is no keyword. */
const struct schema_keyword *schema_keyword_find(struct acp_str name);

/* ---- References ----------------------------------------------------------------------------- */

/* Notes the addresses and anchors of a schema and of all schemas in it. */
int schema_survey(struct schema_compiler *c, const struct schema_value *value,
                  struct schema_resource *home);
/* The schema that a reference means; at is the value of $ref, in the schema source. */
int schema_resolve(struct schema_compiler *c, const struct schema_value *source,
                   const struct schema_value *at, const struct schema_value **ret);
/* Fails when a schema applies itself to the same value, which would never end. */
int schema_find_loops(struct schema_compiler *c);

#endif
