/*
 * node.h - a schema after compilation: one node for each object that is a schema.  Between the
 * files that compile and those that check.
 */
#ifndef SRC_SCHEMA_NODE_H
#define SRC_SCHEMA_NODE_H

#include "schema/regex.h"
#include "schema/schema.h"
#include "schema/value.h"

/* Bits of the types that a schema takes; those of JSON by their number, and one more. */
#define SCHEMA_TYPE_BIT(type) (1u << (type))
enum { SCHEMA_INTEGER = ACP_JSON_OBJECT + 1 };

struct schema_list {
    const struct schema_node **nodes;
    size_t count;
};

/* For each member of an object in the schema a node, in their order; NULL where it is no schema. */
struct schema_map {
    const struct schema_value *source;
    const struct schema_node **nodes;
};

struct schema_pattern {
    struct acp_str text;
    struct schema_regex *regex;
    const struct schema_node *node; /* for the properties that it matches */
};

struct schema_patterns {
    struct schema_pattern *items;
    size_t count;
};

struct schema_enum {
    const struct schema_value *source;
    const struct schema_value **by_hash; /* its items, sorted */
};

/* Where a keyword is absent its field is zero. */
struct schema_node {
    const struct schema_value *source;
    struct schema_node *next; /* of all nodes */
    bool never;               /* the schema false */
    uint8_t visit;            /* of the search for endless references */

    /* any type */
    unsigned types;
    const struct schema_value *constant;
    struct schema_enum choice;

    /* numbers */
    const struct schema_value *minimum;
    const struct schema_value *maximum;
    const struct schema_value *exclusive_minimum;
    const struct schema_value *exclusive_maximum;
    const struct schema_value *multiple_of;

    /* strings */
    struct acp_opt_u64 min_length;
    struct acp_opt_u64 max_length;
    struct schema_pattern pattern;

    /* arrays */
    struct schema_list prefix_items;
    const struct schema_node *items; /* those behind the prefix */
    const struct schema_node *additional_items;
    bool items_listed; /* `items` is a list, as in draft-07: so additionalItems counts */
    const struct schema_node *contains;
    struct acp_opt_u64 min_contains;
    struct acp_opt_u64 max_contains;
    struct acp_opt_u64 min_items;
    struct acp_opt_u64 max_items;
    bool unique_items;
    const struct schema_node *unevaluated_items;

    /* objects */
    struct schema_map properties;
    struct schema_patterns pattern_properties;
    const struct schema_node *additional_properties;
    const struct schema_node *property_names;
    const struct schema_node *unevaluated_properties;
    struct acp_opt_u64 min_properties;
    struct acp_opt_u64 max_properties;
    const struct schema_value *required;
    struct schema_map dependent_required;
    struct schema_map dependent_schemas;
    struct schema_map dependencies; /* both in one */

    /* other schemas for the same value */
    const struct schema_node *ref;
    struct schema_list all_of;
    struct schema_list any_of;
    struct schema_list one_of;
    const struct schema_node *not_schema;
    const struct schema_node *if_schema;
    const struct schema_node *then_schema;
    const struct schema_node *else_schema;
};

struct schema {
    struct acp_arena arena;
    struct schema_value source;
    const struct schema_node *root;
};

#endif
