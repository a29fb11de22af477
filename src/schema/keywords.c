/*
 * The keywords: for each its name, what it takes and which field of a node it fills.  A keyword
 * that checks something is in this table or the schema is refused.
 */
#include <stdlib.h>

#include "json/grammar.h"
#include "schema/compile.h"

/* The field of a node at an offset; each row of the table pairs it with a function of its type. */
static void *field(struct schema_node *node, size_t offset)
{
    return (char *) node + offset;
}

static void *allocate(struct schema_compiler *c, size_t count, size_t size)
{
    return acp_arena_alloc(&c->schema->arena, count * size + 1);
}

/* ---- Schemas -------------------------------------------------------------------------------- */

static int take_schema(struct schema_compiler *c, const struct schema_value *value,
                       struct schema_node *node, size_t offset)
{
    return schema_node_of(c, value, (const struct schema_node **) field(node, offset));
}

static int take_schemas(struct schema_compiler *c, const struct schema_value *value,
                        struct schema_node *node, size_t offset)
{
    struct schema_list *list = field(node, offset);
    if (value->type != ACP_JSON_ARRAY || value->is.array.count == 0)
        return schema_refuse(c, value, "expected a list with at least one schema");
    list->nodes = allocate(c, value->is.array.count, sizeof(struct schema_node *));
    if (!list->nodes)
        return schema_no_memory(c);
    for (size_t i = 0; i < value->is.array.count; i++) {
        int err = schema_node_of(c, &value->is.array.items[i], &list->nodes[i]);
        if (err)
            return err;
    }
    list->count = value->is.array.count;
    return 0;
}

/* One schema for all items, or in draft-07 a list, one for each. */
static int take_items(struct schema_compiler *c, const struct schema_value *value,
                      struct schema_node *node, size_t offset)
{
    if (value->type != ACP_JSON_ARRAY)
        return take_schema(c, value, node, offset);
    node->items_listed = true;
    return take_schemas(c, value, node, offsetof(struct schema_node, prefix_items));
}

static int check_names(struct schema_compiler *c, const struct schema_value *value)
{
    if (value->type != ACP_JSON_ARRAY)
        return schema_refuse(c, value, "expected a list of property names");
    for (size_t i = 0; i < value->is.array.count; i++)
        if (value->is.array.items[i].type != ACP_JSON_STRING)
            return schema_refuse(c, &value->is.array.items[i], "expected a property name");
    return 0;
}

/* What the members of a map may be. */
enum map_of { MAP_OF_SCHEMAS = 1, MAP_OF_NAMES = 2 };

static int take_map_of(struct schema_compiler *c, const struct schema_value *value,
                       struct schema_map *map, unsigned of)
{
    if (value->type != ACP_JSON_OBJECT)
        return schema_refuse(c, value, "expected an object");
    size_t count = value->is.object.count;
    map->nodes = allocate(c, count, sizeof(struct schema_node *));
    if (!map->nodes)
        return schema_no_memory(c);
    for (size_t i = 0; i < count; i++) {
        const struct schema_value *member = &value->is.object.members[i].value;
        bool names = of == MAP_OF_NAMES || (of & MAP_OF_NAMES && member->type == ACP_JSON_ARRAY);
        int err = names ? check_names(c, member) : schema_node_of(c, member, &map->nodes[i]);
        if (err)
            return err;
    }
    map->source = value;
    return 0;
}

static int take_schema_map(struct schema_compiler *c, const struct schema_value *value,
                           struct schema_node *node, size_t offset)
{
    return take_map_of(c, value, field(node, offset), MAP_OF_SCHEMAS);
}

static int take_names_map(struct schema_compiler *c, const struct schema_value *value,
                          struct schema_node *node, size_t offset)
{
    return take_map_of(c, value, field(node, offset), MAP_OF_NAMES);
}

static int take_dependencies(struct schema_compiler *c, const struct schema_value *value,
                             struct schema_node *node, size_t offset)
{
    return take_map_of(c, value, field(node, offset), MAP_OF_SCHEMAS | MAP_OF_NAMES);
}

/* Definitions say nothing by themselves, but must be schemas. */
static int take_definitions(struct schema_compiler *c, const struct schema_value *value,
                            struct schema_node *node, size_t offset)
{
    (void) node;
    (void) offset;
    struct schema_map unused = {0};
    return take_map_of(c, value, &unused, MAP_OF_SCHEMAS);
}

/* ---- Patterns ------------------------------------------------------------------------------- */

static int compile_pattern(struct schema_compiler *c, const struct schema_value *at,
                           struct acp_str text, struct schema_pattern *ret)
{
    struct acp_failure why;
    ret->text = text;
    int err = schema_regex_compile(text, &c->schema->arena, &ret->regex, &why);
    if (err == ACP_ERR_NOMEM)
        return schema_no_memory(c);
    if (err)
        return schema_refuse(c, at, "the pattern at character %zu: %s",
                             schema_text_length(acp_str_n(text.ptr, why.offset)) + 1, why.message);
    return 0;
}

static int take_pattern(struct schema_compiler *c, const struct schema_value *value,
                        struct schema_node *node, size_t offset)
{
    if (value->type != ACP_JSON_STRING)
        return schema_refuse(c, value, "expected a regular expression");
    return compile_pattern(c, value, value->is.text, field(node, offset));
}

static int take_pattern_map(struct schema_compiler *c, const struct schema_value *value,
                            struct schema_node *node, size_t offset)
{
    struct schema_patterns *patterns = field(node, offset);
    if (value->type != ACP_JSON_OBJECT)
        return schema_refuse(c, value, "expected an object");
    patterns->count = value->is.object.count;
    patterns->items = allocate(c, patterns->count, sizeof(patterns->items[0]));
    if (!patterns->items)
        return schema_no_memory(c);
    for (size_t i = 0; i < patterns->count; i++) {
        const struct schema_member *member = &value->is.object.members[i];
        int err = compile_pattern(c, &member->value, member->key, &patterns->items[i]);
        if (!err)
            err = schema_node_of(c, &member->value, &patterns->items[i].node);
        if (err)
            return err;
    }
    return 0;
}

/* ---- Plain values --------------------------------------------------------------------------- */

static int take_count(struct schema_compiler *c, const struct schema_value *value,
                      struct schema_node *node, size_t offset)
{
    bool negative = false;
    uint64_t count = 0;
    int err = ACP_ERR_TYPE;
    if (value->type == ACP_JSON_NUMBER)
        err =
            acp_json_integer(acp_raw_n(value->is.text.ptr, value->is.text.len), &negative, &count);
    if (err == ACP_ERR_RANGE) { /* more than anything can have */
        negative = value->is.text.ptr[0] == '-';
        count = UINT64_MAX;
        err = 0;
    }
    if (err || negative)
        return schema_refuse(c, value, "expected a non-negative integer");
    *(struct acp_opt_u64 *) field(node, offset) = acp_some_u64(count);
    return 0;
}

/* For fields that keep the value as it is. */
static int take_value(struct schema_compiler *c, const struct schema_value *value,
                      struct schema_node *node, size_t offset)
{
    (void) c;
    *(const struct schema_value **) field(node, offset) = value;
    return 0;
}

static int take_number(struct schema_compiler *c, const struct schema_value *value,
                       struct schema_node *node, size_t offset)
{
    if (value->type != ACP_JSON_NUMBER)
        return schema_refuse(c, value, "expected a number");
    return take_value(c, value, node, offset);
}

static int take_divisor(struct schema_compiler *c, const struct schema_value *value,
                        struct schema_node *node, size_t offset)
{
    if (value->type != ACP_JSON_NUMBER || !schema_number_can_divide(value))
        return schema_refuse(c, value, "expected a number above 0 with at most 18 digits");
    return take_value(c, value, node, offset);
}

static int take_flag(struct schema_compiler *c, const struct schema_value *value,
                     struct schema_node *node, size_t offset)
{
    if (value->type != ACP_JSON_BOOL)
        return schema_refuse(c, value, "expected true or false");
    *(bool *) field(node, offset) = value->truth;
    return 0;
}

static int take_names(struct schema_compiler *c, const struct schema_value *value,
                      struct schema_node *node, size_t offset)
{
    int err = check_names(c, value);
    return err ? err : take_value(c, value, node, offset);
}

static int compare_hashes(const void *left, const void *right)
{
    const struct schema_value *a = *(const struct schema_value *const *) left;
    const struct schema_value *b = *(const struct schema_value *const *) right;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

static int take_enum(struct schema_compiler *c, const struct schema_value *value,
                     struct schema_node *node, size_t offset)
{
    struct schema_enum *choice = field(node, offset);
    if (value->type != ACP_JSON_ARRAY || value->is.array.count == 0)
        return schema_refuse(c, value, "expected a list with at least one value");
    choice->by_hash = allocate(c, value->is.array.count, sizeof(struct schema_value *));
    if (!choice->by_hash)
        return schema_no_memory(c);
    for (size_t i = 0; i < value->is.array.count; i++)
        choice->by_hash[i] = &value->is.array.items[i];
    qsort(choice->by_hash, value->is.array.count, sizeof(struct schema_value *), compare_hashes);
    choice->source = value;
    return 0;
}

static int add_type(struct schema_compiler *c, const struct schema_value *value, unsigned *types)
{
    static const struct {
        const char *name;
        unsigned types;
    } known[] = {
        {"null", SCHEMA_TYPE_BIT(ACP_JSON_NULL)},     {"boolean", SCHEMA_TYPE_BIT(ACP_JSON_BOOL)},
        {"number", SCHEMA_TYPE_BIT(ACP_JSON_NUMBER)}, {"string", SCHEMA_TYPE_BIT(ACP_JSON_STRING)},
        {"array", SCHEMA_TYPE_BIT(ACP_JSON_ARRAY)},   {"object", SCHEMA_TYPE_BIT(ACP_JSON_OBJECT)},
        {"integer", SCHEMA_TYPE_BIT(SCHEMA_INTEGER)},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (value->type == ACP_JSON_STRING && acp_str_is(value->is.text, known[i].name)) {
            *types |= known[i].types;
            return 0;
        }
    return schema_refuse(c, value,
                         "there is no such type; types are null, boolean, integer, "
                         "number, string, array and object");
}

static int take_type(struct schema_compiler *c, const struct schema_value *value,
                     struct schema_node *node, size_t offset)
{
    unsigned *types = field(node, offset);
    if (value->type != ACP_JSON_ARRAY)
        return add_type(c, value, types);
    if (value->is.array.count == 0)
        return schema_refuse(c, value, "expected a list with at least one type");
    int err = 0;
    for (size_t i = 0; !err && i < value->is.array.count; i++)
        err = add_type(c, &value->is.array.items[i], types);
    return err;
}

static int take_ref(struct schema_compiler *c, const struct schema_value *value,
                    struct schema_node *node, size_t offset)
{
    const struct schema_value *target;
    int err = schema_resolve(c, node->source, value, &target);
    return err ? err : take_schema(c, target, node, offset);
}

/* Keywords that name and explain; what they say is used elsewhere, or by others. */
static int take_text(struct schema_compiler *c, const struct schema_value *value,
                     struct schema_node *node, size_t offset)
{
    (void) node;
    (void) offset;
    return value->type == ACP_JSON_STRING ? 0 : schema_refuse(c, value, "expected a string");
}

static int take_nothing(struct schema_compiler *c, const struct schema_value *value,
                        struct schema_node *node, size_t offset)
{
    (void) node;
    (void) offset;
    return schema_refuse(c, value, "dynamic references are not supported; use $ref");
}

/* ---- The table ------------------------------------------------------------------------------ */

#define FIELD(name) offsetof(struct schema_node, name)

static const struct schema_keyword keywords[] = {
    {"$anchor", take_text, 0, SCHEMA_HOLDS_NONE},
    {"$comment", take_text, 0, SCHEMA_HOLDS_NONE},
    {"$defs", take_definitions, 0, SCHEMA_HOLDS_MAP},
    {"$dynamicAnchor", take_text, 0, SCHEMA_HOLDS_NONE},
    {"$dynamicRef", take_nothing, 0, SCHEMA_HOLDS_NONE},
    {"$id", take_text, 0, SCHEMA_HOLDS_NONE},
    {"$recursiveRef", take_nothing, 0, SCHEMA_HOLDS_NONE},
    {"$ref", take_ref, FIELD(ref), SCHEMA_HOLDS_NONE},
    {"$schema", take_text, 0, SCHEMA_HOLDS_NONE},
    {"additionalItems", take_schema, FIELD(additional_items), SCHEMA_HOLDS_ONE},
    {"additionalProperties", take_schema, FIELD(additional_properties), SCHEMA_HOLDS_ONE},
    {"allOf", take_schemas, FIELD(all_of), SCHEMA_HOLDS_LIST},
    {"anyOf", take_schemas, FIELD(any_of), SCHEMA_HOLDS_LIST},
    {"const", take_value, FIELD(constant), SCHEMA_HOLDS_NONE},
    {"contains", take_schema, FIELD(contains), SCHEMA_HOLDS_ONE},
    {"definitions", take_definitions, 0, SCHEMA_HOLDS_MAP},
    {"dependencies", take_dependencies, FIELD(dependencies), SCHEMA_HOLDS_MAP},
    {"dependentRequired", take_names_map, FIELD(dependent_required), SCHEMA_HOLDS_NONE},
    {"dependentSchemas", take_schema_map, FIELD(dependent_schemas), SCHEMA_HOLDS_MAP},
    {"else", take_schema, FIELD(else_schema), SCHEMA_HOLDS_ONE},
    {"enum", take_enum, FIELD(choice), SCHEMA_HOLDS_NONE},
    {"exclusiveMaximum", take_number, FIELD(exclusive_maximum), SCHEMA_HOLDS_NONE},
    {"exclusiveMinimum", take_number, FIELD(exclusive_minimum), SCHEMA_HOLDS_NONE},
    {"if", take_schema, FIELD(if_schema), SCHEMA_HOLDS_ONE},
    {"items", take_items, FIELD(items), SCHEMA_HOLDS_ONE_OR_LIST},
    {"maxContains", take_count, FIELD(max_contains), SCHEMA_HOLDS_NONE},
    {"maxItems", take_count, FIELD(max_items), SCHEMA_HOLDS_NONE},
    {"maxLength", take_count, FIELD(max_length), SCHEMA_HOLDS_NONE},
    {"maxProperties", take_count, FIELD(max_properties), SCHEMA_HOLDS_NONE},
    {"maximum", take_number, FIELD(maximum), SCHEMA_HOLDS_NONE},
    {"minContains", take_count, FIELD(min_contains), SCHEMA_HOLDS_NONE},
    {"minItems", take_count, FIELD(min_items), SCHEMA_HOLDS_NONE},
    {"minLength", take_count, FIELD(min_length), SCHEMA_HOLDS_NONE},
    {"minProperties", take_count, FIELD(min_properties), SCHEMA_HOLDS_NONE},
    {"minimum", take_number, FIELD(minimum), SCHEMA_HOLDS_NONE},
    {"multipleOf", take_divisor, FIELD(multiple_of), SCHEMA_HOLDS_NONE},
    {"not", take_schema, FIELD(not_schema), SCHEMA_HOLDS_ONE},
    {"oneOf", take_schemas, FIELD(one_of), SCHEMA_HOLDS_LIST},
    {"pattern", take_pattern, FIELD(pattern), SCHEMA_HOLDS_NONE},
    {"patternProperties", take_pattern_map, FIELD(pattern_properties), SCHEMA_HOLDS_MAP},
    {"prefixItems", take_schemas, FIELD(prefix_items), SCHEMA_HOLDS_LIST},
    {"properties", take_schema_map, FIELD(properties), SCHEMA_HOLDS_MAP},
    {"propertyNames", take_schema, FIELD(property_names), SCHEMA_HOLDS_ONE},
    {"required", take_names, FIELD(required), SCHEMA_HOLDS_NONE},
    {"then", take_schema, FIELD(then_schema), SCHEMA_HOLDS_ONE},
    {"type", take_type, FIELD(types), SCHEMA_HOLDS_NONE},
    {"unevaluatedItems", take_schema, FIELD(unevaluated_items), SCHEMA_HOLDS_ONE},
    {"unevaluatedProperties", take_schema, FIELD(unevaluated_properties), SCHEMA_HOLDS_ONE},
    {"uniqueItems", take_flag, FIELD(unique_items), SCHEMA_HOLDS_NONE},
};

const struct schema_keyword *schema_keyword_find(struct acp_str name)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
        if (acp_str_is(name, keywords[i].name))
            return &keywords[i];
    return NULL;
}
