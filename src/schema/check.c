/*
 * Checks a value: the keywords of a schema one after the other, and the schemas that they bring for
 * the same value.  Recursive along the schema and the value, with a limit to depth and to work, so
 * that nothing from outside can make it fall or hang.
 */
#include "schema/check.h"

#include <stdlib.h>

enum { MAX_MESSAGE = 600 };

/* The cost of applying a schema, in steps of a regular expression. */
enum { COST_OF_SCHEMA = 10 };

bool schema_spend(struct schema_checker *c, uint64_t work)
{
    if (c->err)
        return false;
    if (work > c->left) {
        c->err = ACP_ERR_LIMIT;
        return false;
    }
    c->left -= work;
    return true;
}

bool schema_matches(struct schema_checker *c, const struct schema_regex *regex, struct acp_str text)
{
    int found = c->err ? c->err : schema_regex_search(regex, text, &c->scratch, &c->left);
    if (found < 0)
        c->err = found;
    return found > 0;
}

/* ---- Values --------------------------------------------------------------------------------- */

static bool is_of_type(unsigned types, const struct schema_value *value)
{
    if (types == 0 || types & SCHEMA_TYPE_BIT(value->type))
        return true;
    return value->type == ACP_JSON_NUMBER && types & SCHEMA_TYPE_BIT(SCHEMA_INTEGER) &&
           schema_number_is_integer(value);
}

static bool is_among(struct schema_checker *c, const struct schema_enum *choice,
                     const struct schema_value *value)
{
    size_t count = choice->source->is.array.count;
    size_t low = 0;
    size_t high = count;
    uint64_t work = 0;
    bool found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (choice->by_hash[middle]->hash < value->hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; !found && low < count && choice->by_hash[low]->hash == value->hash; low++)
        found = schema_value_equal(choice->by_hash[low], value, &work);
    return schema_spend(c, work) && found;
}

static bool check_constants(struct schema_checker *c, const struct schema_node *node,
                            const struct schema_value *value, const struct schema_place *place)
{
    uint64_t work = 0;
    if (node->constant && !schema_value_equal(node->constant, value, &work))
        return schema_complain_constant(c, place, node->constant, false, value);
    if (node->choice.source && !is_among(c, &node->choice, value))
        return schema_complain_constant(c, place, node->choice.source, true, value);
    return schema_spend(c, work);
}

static bool check_number(struct schema_checker *c, const struct schema_node *node,
                         const struct schema_value *value, const struct schema_place *place)
{
    const struct {
        const struct schema_value *limit;
        const char *words;
        int wrong; /* how the value must not compare to the limit */
        bool equal_is_wrong;
    } limits[] = {
        {node->minimum, "at least", -1, false},
        {node->exclusive_minimum, "more than", -1, true},
        {node->maximum, "at most", 1, false},
        {node->exclusive_maximum, "less than", 1, true},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && schema_go_on(c, good); i++) {
        if (!limits[i].limit)
            continue;
        int order = schema_number_compare(value, limits[i].limit);
        if (order == limits[i].wrong || (order == 0 && limits[i].equal_is_wrong))
            good = schema_complain_limit(c, place, limits[i].words, limits[i].limit, value);
    }
    if (schema_go_on(c, good) && node->multiple_of &&
        !schema_number_is_multiple(value, node->multiple_of))
        good = schema_complain_limit(c, place, "a multiple of", node->multiple_of, value);
    return good;
}

static bool check_string(struct schema_checker *c, const struct schema_node *node,
                         const struct schema_value *value, const struct schema_place *place)
{
    bool good = true;
    if (node->min_length.has || node->max_length.has) {
        size_t length = schema_text_length(value->is.text);
        bool less = node->min_length.has && length < node->min_length.value;
        bool more = node->max_length.has && length > node->max_length.value;
        uint64_t expected = less ? node->min_length.value : node->max_length.value;
        if (less || more)
            good = schema_complain(c, place, "expected at %s %llu character%s, got %zu",
                                   less ? "least" : "most", (unsigned long long) expected,
                                   expected == 1 ? "" : "s", length);
    }
    if (schema_go_on(c, good) && node->pattern.regex &&
        !schema_matches(c, node->pattern.regex, value->is.text))
        good = schema_complain_pattern(c, place, node->pattern.text, value);
    return good;
}

static bool check_parts(struct schema_checker *c, const struct schema_node *node,
                        const struct schema_value *value, const struct schema_place *place,
                        bool *seen)
{
    switch (value->type) {
    case ACP_JSON_NUMBER:
        return check_number(c, node, value, place);
    case ACP_JSON_STRING:
        return check_string(c, node, value, place);
    case ACP_JSON_ARRAY:
        return schema_check_array(c, node, value, place, seen);
    case ACP_JSON_OBJECT:
        return schema_check_object(c, node, value, place, seen);
    default:
        return true;
    }
}

/* ---- Schemas for the same value ------------------------------------------------------------- */

static size_t parts_of(const struct schema_value *value)
{
    if (value->type == ACP_JSON_ARRAY)
        return value->is.array.count;
    return value->type == ACP_JSON_OBJECT ? value->is.object.count : 0;
}

bool schema_fits_quietly(struct schema_checker *c, const struct schema_node *node,
                         const struct schema_value *value, bool *seen)
{
    enum schema_mode mode = c->mode;
    c->mode = SCHEMA_QUIET;
    bool good = schema_fits(c, node, value, NULL, seen);
    c->mode = mode;
    return good;
}

/* The same, where what a schema has seen counts only if the value fits. */
static bool try_schema(struct schema_checker *c, const struct schema_node *node,
                       const struct schema_value *value, bool *seen)
{
    size_t count = parts_of(value);
    if (!seen || count == 0)
        return schema_fits_quietly(c, node, value, NULL);
    bool *own = schema_spend(c, count) ? calloc(count, sizeof(*own)) : NULL;
    if (!own) {
        c->err = c->err ? c->err : ACP_ERR_NOMEM;
        return false;
    }
    bool good = schema_fits_quietly(c, node, value, own);
    for (size_t i = 0; good && i < count; i++)
        seen[i] |= own[i];
    free(own);
    return good;
}

/* The types that a schema takes, also through a reference; 0 for all. */
static unsigned types_of(const struct schema_node *node)
{
    while (!node->types && node->ref)
        node = node->ref;
    return node->types;
}

static size_t weigh(struct schema_checker *c, const struct schema_node *node,
                    const struct schema_value *value)
{
    enum schema_mode mode = c->mode;
    size_t before = c->weight;
    c->mode = SCHEMA_COUNT;
    c->weight = 0;
    (void) schema_fits(c, node, value, NULL, NULL);
    size_t weight = c->weight;
    c->mode = mode;
    c->weight = before;
    return weight;
}

/*
 * Says why none of the alternatives fits: which types would, or what the one that was most likely
 * meant still lacks.
 */
static bool complain_of_all(struct schema_checker *c, const struct schema_list *list,
                            const char *keyword, const struct schema_value *value,
                            const struct schema_place *place)
{
    if (c->mode != SCHEMA_TELL)
        return schema_complain(c, place, "none matches"); /* counted, not shown */
    size_t nearest = list->count;
    size_t least = SIZE_MAX;
    unsigned types = 0;
    for (size_t i = 0; i < list->count; i++) {
        unsigned expected = types_of(list->nodes[i]);
        types |= expected;
        size_t weight = is_of_type(expected, value) ? weigh(c, list->nodes[i], value) : SIZE_MAX;
        if (weight < least) {
            least = weight;
            nearest = i;
        }
    }
    if (nearest == list->count)
        return schema_complain_type(c, place, types, value);
    if (list->count > 1)
        (void) schema_complain(
            c, place,
            "none of the %zu alternatives (%s) matches; the errors of the nearest, "
            "number %zu, follow",
            list->count, keyword, nearest + 1);
    if (schema_go_on(c, false))
        (void) schema_fits(c, list->nodes[nearest], value, place, NULL);
    return false;
}

static bool check_any_of(struct schema_checker *c, const struct schema_node *node,
                         const struct schema_value *value, const struct schema_place *place,
                         bool *seen)
{
    bool good = false;
    /* All of them have a say in what was seen. */
    for (size_t i = 0; i < node->any_of.count && !c->err && (!good || seen); i++)
        good |= try_schema(c, node->any_of.nodes[i], value, seen);
    return good || complain_of_all(c, &node->any_of, "anyOf", value, place);
}

static bool check_one_of(struct schema_checker *c, const struct schema_node *node,
                         const struct schema_value *value, const struct schema_place *place,
                         bool *seen)
{
    size_t count = 0;
    size_t first = 0;
    for (size_t i = 0; i < node->one_of.count && !c->err; i++) {
        if (!try_schema(c, node->one_of.nodes[i], value, seen))
            continue;
        if (count++ == 0)
            first = i;
        else
            return schema_complain(
                c, place,
                "expected exactly one alternative of oneOf to match, but numbers "
                "%zu and %zu both do",
                first + 1, i + 1);
    }
    return count == 1 || complain_of_all(c, &node->one_of, "oneOf", value, place);
}

static bool check_condition(struct schema_checker *c, const struct schema_node *node,
                            const struct schema_value *value, const struct schema_place *place,
                            bool *seen)
{
    bool holds = try_schema(c, node->if_schema, value, seen);
    const struct schema_node *next = holds ? node->then_schema : node->else_schema;
    return !next || schema_fits(c, next, value, place, seen);
}

static bool check_logic(struct schema_checker *c, const struct schema_node *node,
                        const struct schema_value *value, const struct schema_place *place,
                        bool *seen)
{
    bool good = !node->ref || schema_fits(c, node->ref, value, place, seen);
    for (size_t i = 0; i < node->all_of.count && schema_go_on(c, good); i++)
        good &= schema_fits(c, node->all_of.nodes[i], value, place, seen);
    if (node->any_of.count && schema_go_on(c, good))
        good &= check_any_of(c, node, value, place, seen);
    if (node->one_of.count && schema_go_on(c, good))
        good &= check_one_of(c, node, value, place, seen);
    if (node->not_schema && schema_go_on(c, good) &&
        schema_fits_quietly(c, node->not_schema, value, NULL))
        good = schema_complain(c, place, "the value matches the schema in `not`");
    if (node->if_schema && schema_go_on(c, good))
        good &= check_condition(c, node, value, place, seen);
    return good;
}

/* ---- One schema ----------------------------------------------------------------------------- */

static bool check_keywords(struct schema_checker *c, const struct schema_node *node,
                           const struct schema_value *value, const struct schema_place *place,
                           bool *seen)
{
    if (node->never)
        return schema_complain(c, place, "no value is allowed here; omit it");
    /* For a wrong type further errors are not useful. */
    if (!is_of_type(node->types, value))
        return schema_complain_type(c, place, node->types, value);
    bool good = check_constants(c, node, value, place);
    if (schema_go_on(c, good))
        good &= check_parts(c, node, value, place, seen);
    if (schema_go_on(c, good))
        good &= check_logic(c, node, value, place, seen);
    return good;
}

/*
 * A schema that asks for what nobody has looked at keeps a list of its own: what other schemas
 * beside it have seen is none of its business.
 */
static bool check_with_list(struct schema_checker *c, const struct schema_node *node,
                            const struct schema_node *rest, const struct schema_value *value,
                            const struct schema_place *place, bool *seen)
{
    size_t count = parts_of(value);
    bool *own = schema_spend(c, count) ? calloc(count + 1, sizeof(*own)) : NULL;
    if (!own) {
        c->err = c->err ? c->err : ACP_ERR_NOMEM;
        return false;
    }
    bool good = check_keywords(c, node, value, place, own);
    if (good)
        good = schema_check_unevaluated(c, rest, value, place, own);
    for (size_t i = 0; good && seen && i < count; i++)
        seen[i] |= own[i];
    free(own);
    return good;
}

bool schema_fits(struct schema_checker *c, const struct schema_node *node,
                 const struct schema_value *value, const struct schema_place *place, bool *seen)
{
    const struct schema_node *rest = NULL;
    if (!schema_spend(c, COST_OF_SCHEMA))
        return false;
    if (c->depth >= SCHEMA_MAX_DEPTH) {
        c->err = ACP_ERR_DEPTH;
        return false;
    }
    if (value->type == ACP_JSON_ARRAY)
        rest = node->unevaluated_items;
    else if (value->type == ACP_JSON_OBJECT)
        rest = node->unevaluated_properties;
    c->depth++;
    bool good = rest ? check_with_list(c, node, rest, value, place, seen)
                     : check_keywords(c, node, value, place, seen);
    c->depth--;
    return good && !c->err;
}

int schema_check(const struct schema *schema, struct acp_raw value, schema_report *report,
                 void *user)
{
    struct schema_checker c = {.mode = report ? SCHEMA_TELL : SCHEMA_QUIET,
                               .report = report,
                               .user = user,
                               .left = SCHEMA_MAX_WORK};
    struct acp_arena arena;
    struct schema_value tree;
    acp_arena_init(&arena, 0);
    acp_buf_init(&c.path, SIZE_MAX / 2);
    acp_buf_init(&c.message, MAX_MESSAGE);
    schema_regex_scratch_init(&c.scratch);
    int result = schema_value_read(value, &arena, &tree, NULL);
    if (!result) {
        bool good = schema_fits(&c, schema->root, &tree, NULL, NULL);
        if (c.err)
            result = c.err;
        else if (!good)
            result = c.reported ? (int) c.reported : 1;
    }
    schema_regex_scratch_finish(&c.scratch);
    acp_buf_finish(&c.path);
    acp_buf_finish(&c.message);
    acp_arena_finish(&arena);
    return result;
}
