/* The parts of a value: items of arrays, properties of objects, and how many there are. */
#include <stdlib.h>

#include "schema/check.h"

static struct schema_place item_place(const struct schema_place *parent, size_t index)
{
    return (struct schema_place){.parent = parent, .kind = SCHEMA_AT_ITEM, .index = index};
}

static struct schema_place member_place(const struct schema_place *parent, struct acp_str key)
{
    return (struct schema_place){.parent = parent, .kind = SCHEMA_AT_MEMBER, .key = key};
}

/* "expected at least 1 item, got 0". */
static bool complain_of_count(struct schema_checker *c, const struct schema_place *place,
                              const char *bound, uint64_t expected, const char *one,
                              const char *many, size_t count)
{
    return schema_complain(c, place, "expected %s %llu %s, got %zu", bound,
                           (unsigned long long) expected, expected == 1 ? one : many, count);
}

static bool check_count(struct schema_checker *c, const struct schema_place *place,
                        struct acp_opt_u64 min, struct acp_opt_u64 max, const char *one,
                        const char *many, size_t count)
{
    if (min.has && count < min.value)
        return complain_of_count(c, place, "at least", min.value, one, many, count);
    if (max.has && count > max.value)
        return complain_of_count(c, place, "at most", max.value, one, many, count);
    return true;
}

/* ---- Arrays --------------------------------------------------------------------------------- */

static bool check_items(struct schema_checker *c, const struct schema_node *node,
                        const struct schema_value *value, const struct schema_place *place,
                        bool *seen)
{
    bool good = true;
    for (size_t i = 0; i < value->is.array.count && schema_go_on(c, good); i++) {
        bool listed = i < node->prefix_items.count;
        const struct schema_node *expected = listed ? node->prefix_items.nodes[i] : node->items;
        if (!expected)
            break;
        struct schema_place at = item_place(place, i);
        good &= schema_fits(c, expected, &value->is.array.items[i], &at, NULL);
        if (seen)
            seen[i] = true;
    }
    return good;
}

static bool check_contains(struct schema_checker *c, const struct schema_node *node,
                           const struct schema_value *value, const struct schema_place *place,
                           bool *seen)
{
    struct acp_opt_u64 min = node->min_contains.has ? node->min_contains : acp_some_u64(1);
    size_t count = 0;
    for (size_t i = 0; i < value->is.array.count && !c->err; i++) {
        if (!schema_fits_quietly(c, node->contains, &value->is.array.items[i], NULL))
            continue;
        count++;
        if (seen)
            seen[i] = true;
    }
    return check_count(c, place, min, node->max_contains, "item that matches `contains`",
                       "items that match `contains`", count);
}

static int compare_items(const void *left, const void *right)
{
    const struct schema_value *a = *(const struct schema_value *const *) left;
    const struct schema_value *b = *(const struct schema_value *const *) right;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a > b) - (a < b);
}

/* Equal values have equal hashes, so they stand together when sorted by them. */
static bool find_equal(struct schema_checker *c, const struct schema_value **sorted, size_t count,
                       const struct schema_value **ret_one, const struct schema_value **ret_other)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count && sorted[k]->hash == sorted[i]->hash; k++) {
            uint64_t work = 0;
            bool equal = schema_value_equal(sorted[i], sorted[k], &work);
            if (!schema_spend(c, work))
                return false;
            if (equal) {
                *ret_one = sorted[i];
                *ret_other = sorted[k];
                return true;
            }
        }
    return false;
}

static bool check_unique(struct schema_checker *c, const struct schema_value *value,
                         const struct schema_place *place)
{
    size_t count = value->is.array.count;
    const struct schema_value *one = NULL;
    const struct schema_value *other = NULL;
    if (count < 2 || !schema_spend(c, count))
        return !c->err;
    const struct schema_value **sorted = malloc(count * sizeof(struct schema_value *));
    if (!sorted) {
        c->err = ACP_ERR_NOMEM;
        return false;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = &value->is.array.items[i];
    qsort(sorted, count, sizeof(struct schema_value *), compare_items);
    bool found = find_equal(c, sorted, count, &one, &other);
    free(sorted);
    if (found)
        return schema_complain(c, place, "all items must differ, but items %zu and %zu are equal",
                               (size_t) (one - value->is.array.items),
                               (size_t) (other - value->is.array.items));
    return !c->err;
}

bool schema_check_array(struct schema_checker *c, const struct schema_node *node,
                        const struct schema_value *value, const struct schema_place *place,
                        bool *seen)
{
    bool good = check_count(c, place, node->min_items, node->max_items, "item", "items",
                            value->is.array.count);
    if (schema_go_on(c, good) && (node->items || node->prefix_items.count))
        good &= check_items(c, node, value, place, seen);
    if (schema_go_on(c, good) && node->contains)
        good &= check_contains(c, node, value, place, seen);
    if (schema_go_on(c, good) && node->unique_items)
        good &= check_unique(c, value, place);
    return good;
}

/* ---- Objects -------------------------------------------------------------------------------- */

static const struct schema_node *property_of(const struct schema_node *node, struct acp_str key)
{
    const struct schema_value *source = node->properties.source;
    const struct schema_member *member = source ? schema_value_find(source, key) : NULL;
    return member ? node->properties.nodes[member - source->is.object.members] : NULL;
}

/* All schemas that a property's name brings it. */
static bool check_property(struct schema_checker *c, const struct schema_node *node,
                           const struct schema_member *member, const struct schema_place *place,
                           bool *seen)
{
    struct schema_place at = member_place(place, member->key);
    const struct schema_node *expected = property_of(node, member->key);
    bool known = expected != NULL;
    bool good = !expected || schema_fits(c, expected, &member->value, &at, NULL);
    for (size_t i = 0; i < node->pattern_properties.count && schema_go_on(c, good); i++) {
        const struct schema_pattern *pattern = &node->pattern_properties.items[i];
        if (!schema_matches(c, pattern->regex, member->key))
            continue;
        known = true;
        good &= schema_fits(c, pattern->node, &member->value, &at, NULL);
    }
    if (!known && node->additional_properties && schema_go_on(c, good)) {
        known = true;
        if (node->additional_properties->never)
            good = schema_complain_property(c, place, member->key, node->properties.source);
        else
            good &= schema_fits(c, node->additional_properties, &member->value, &at, NULL);
    }
    if (seen && known)
        *seen = true;
    return good;
}

static bool check_name(struct schema_checker *c, const struct schema_node *node,
                       struct acp_str name, const struct schema_place *place)
{
    struct schema_value value = schema_value_of_text(name);
    struct schema_place at = {.parent = place, .kind = SCHEMA_AT_NAME, .key = name};
    return schema_fits(c, node->property_names, &value, &at, NULL);
}

static bool check_properties(struct schema_checker *c, const struct schema_node *node,
                             const struct schema_value *value, const struct schema_place *place,
                             bool *seen)
{
    bool good = true;
    for (size_t i = 0; i < value->is.object.count && schema_go_on(c, good); i++) {
        const struct schema_member *member = &value->is.object.members[i];
        if (!schema_spend(c, 1))
            return false;
        if (node->property_names)
            good &= check_name(c, node, member->key, place);
        if (schema_go_on(c, good))
            good &= check_property(c, node, member, place, seen ? &seen[i] : NULL);
    }
    return good;
}

static bool check_required(struct schema_checker *c, const struct schema_value *names,
                           const struct schema_value *value, const struct schema_place *place,
                           struct acp_str because_of)
{
    bool good = true;
    if (!schema_spend(c, names->is.array.count))
        return false;
    for (size_t i = 0; i < names->is.array.count && schema_go_on(c, good); i++) {
        struct acp_str name = names->is.array.items[i].is.text;
        if (!schema_value_find(value, name))
            good = schema_complain_missing(c, place, name, because_of);
    }
    return good;
}

/* What the presence of a property asks for: more properties, or a schema for the whole object. */
static bool check_dependent(struct schema_checker *c, const struct schema_map *map,
                            const struct schema_value *value, const struct schema_place *place,
                            bool *seen)
{
    bool good = true;
    if (!map->source || !schema_spend(c, map->source->is.object.count))
        return !c->err;
    for (size_t i = 0; i < map->source->is.object.count && schema_go_on(c, good); i++) {
        const struct schema_member *member = &map->source->is.object.members[i];
        if (!schema_value_find(value, member->key))
            continue;
        if (map->nodes[i])
            good &= schema_fits(c, map->nodes[i], value, place, seen);
        else
            good &= check_required(c, &member->value, value, place, member->key);
    }
    return good;
}

bool schema_check_object(struct schema_checker *c, const struct schema_node *node,
                         const struct schema_value *value, const struct schema_place *place,
                         bool *seen)
{
    bool good = check_count(c, place, node->min_properties, node->max_properties, "property",
                            "properties", value->is.object.count);
    if (schema_go_on(c, good) && node->required)
        good &= check_required(c, node->required, value, place, acp_str_n(NULL, 0));
    if (schema_go_on(c, good) && (node->properties.source || node->pattern_properties.count ||
                                  node->additional_properties || node->property_names))
        good &= check_properties(c, node, value, place, seen);
    if (schema_go_on(c, good))
        good &= check_dependent(c, &node->dependent_required, value, place, seen);
    if (schema_go_on(c, good))
        good &= check_dependent(c, &node->dependent_schemas, value, place, seen);
    if (schema_go_on(c, good))
        good &= check_dependent(c, &node->dependencies, value, place, seen);
    return good;
}

/* ---- What is left --------------------------------------------------------------------------- */

bool schema_check_unevaluated(struct schema_checker *c, const struct schema_node *node,
                              const struct schema_value *value, const struct schema_place *place,
                              bool *seen)
{
    bool array = value->type == ACP_JSON_ARRAY;
    size_t count = array ? value->is.array.count : value->is.object.count;
    bool good = true;
    for (size_t i = 0; i < count && schema_go_on(c, good); i++) {
        if (seen[i])
            continue;
        seen[i] = true;
        if (array) {
            struct schema_place at = item_place(place, i);
            good &= schema_fits(c, node, &value->is.array.items[i], &at, NULL);
        } else {
            const struct schema_member *member = &value->is.object.members[i];
            struct schema_place at = member_place(place, member->key);
            if (node->never)
                good = schema_complain_property(c, place, member->key, NULL);
            else
                good &= schema_fits(c, node, &member->value, &at, NULL);
        }
    }
    return good;
}
