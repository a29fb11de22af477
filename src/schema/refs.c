/*
 * References.  Addresses are only names here: what has one within the schema can be referred to,
 * and nothing else; no address is ever opened.
 */
#include <stdlib.h>

#include "schema/compile.h"
#include "schema/uri.h"

/* References in a row, from one schema to the next for the same value, before it is no schema. */
enum { LONGEST_CHAIN = 250 };

/* ---- Names ---------------------------------------------------------------------------------- */

/* An address with an anchor, as names has it. */
static int join(struct schema_compiler *c, struct acp_str uri, struct acp_str anchor,
                struct acp_str *ret)
{
    char *out = acp_arena_alloc(&c->schema->arena, uri.len + anchor.len + 1);
    if (!out)
        return schema_no_memory(c);
    if (uri.len)
        memcpy(out, uri.ptr, uri.len);
    out[uri.len] = '#';
    memcpy(out + uri.len + 1, anchor.ptr, anchor.len);
    *ret = acp_str_n(out, uri.len + 1 + anchor.len);
    return 0;
}

static int add_name(struct schema_compiler *c, struct acp_str name,
                    const struct schema_value *schema, const struct schema_value *at)
{
    if (acp_map_get(&c->names, name) && name.len > 0)
        return schema_refuse(c, at, "this name is given twice in the schema");
    /* The map hands back what it was given; nobody writes through it. */
    return acp_map_set(&c->names, name, (void *) (uintptr_t) schema) ? schema_no_memory(c) : 0;
}

static int add_anchor(struct schema_compiler *c, const struct schema_resource *home,
                      struct acp_str anchor, const struct schema_value *schema,
                      const struct schema_value *at)
{
    struct acp_str name;
    int err = join(c, home->uri, anchor, &name);
    return err ? err : add_name(c, name, schema, at);
}

/* ---- The survey ----------------------------------------------------------------------------- */

/* A schema with $id is a resource of its own; in draft-07 "#name" there is an anchor only. */
static int take_id(struct schema_compiler *c, const struct schema_value *schema,
                   const struct schema_value *id, struct schema_resource **home)
{
    struct acp_str uri = id->is.text;
    struct acp_str anchor = schema_uri_cut_fragment(&uri);
    int err = 0;
    if (uri.len) {
        struct schema_resource *own = acp_arena_alloc(&c->schema->arena, sizeof(*own));
        if (!own || schema_uri_resolve((*home)->uri, uri, &c->schema->arena, &own->uri))
            return schema_no_memory(c);
        own->root = schema;
        *home = own;
        err = add_name(c, own->uri, schema, id);
    }
    if (!err && anchor.len)
        err = add_anchor(c, *home, anchor, schema, id);
    return err;
}

static int take_names(struct schema_compiler *c, const struct schema_value *schema,
                      struct schema_resource **home)
{
    static const char *const anchors[] = {"$anchor", "$dynamicAnchor"};
    const struct schema_member *id = schema_value_find(schema, acp_str_from("$id"));
    int err = 0;
    if (id && id->value.type == ACP_JSON_STRING)
        err = take_id(c, schema, &id->value, home);
    for (size_t i = 0; !err && i < sizeof(anchors) / sizeof(anchors[0]); i++) {
        const struct schema_member *anchor = schema_value_find(schema, acp_str_from(anchors[i]));
        if (anchor && anchor->value.type == ACP_JSON_STRING)
            err = add_anchor(c, *home, anchor->value.is.text, schema, &anchor->value);
    }
    return err;
}

/* The schemas in the value of a keyword. */
static int survey_within(struct schema_compiler *c, const struct schema_value *value,
                         enum schema_holds holds, struct schema_resource *home)
{
    int err = 0;
    bool list = holds == SCHEMA_HOLDS_LIST || holds == SCHEMA_HOLDS_ONE_OR_LIST;
    if (list && value->type == ACP_JSON_ARRAY) {
        for (size_t i = 0; !err && i < value->is.array.count; i++)
            err = schema_survey(c, &value->is.array.items[i], home);
    } else if (holds == SCHEMA_HOLDS_MAP && value->type == ACP_JSON_OBJECT) {
        for (size_t i = 0; !err && i < value->is.object.count; i++)
            err = schema_survey(c, &value->is.object.members[i].value, home);
    } else if (holds == SCHEMA_HOLDS_ONE || holds == SCHEMA_HOLDS_ONE_OR_LIST) {
        err = schema_survey(c, value, home);
    }
    return err;
}

/* Recursive, as deep as the text.  What is no schema is found later, with a better sentence. */
int schema_survey(struct schema_compiler *c, const struct schema_value *value,
                  struct schema_resource *home)
{
    if (value->type != ACP_JSON_OBJECT || acp_map_get(&c->homes, schema_address_of(&value)))
        return 0;
    int err = take_names(c, value, &home);
    if (!err && acp_map_set(&c->homes, schema_address_of(&value), home))
        err = schema_no_memory(c);
    for (size_t i = 0; !err && i < value->is.object.count; i++) {
        const struct schema_member *member = &value->is.object.members[i];
        const struct schema_keyword *keyword = schema_keyword_find(member->key);
        if (keyword)
            err = survey_within(c, &member->value, keyword->holds, home);
    }
    return err;
}

/* ---- Resolving ------------------------------------------------------------------------------ */

/* One name of a JSON pointer, unfolded in place. */
static struct acp_str unfold(char *name, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        bool escape = name[i] == '~' && i + 1 < len && (name[i + 1] == '0' || name[i + 1] == '1');
        name[n++] = !escape ? name[i] : name[i + 1] == '0' ? '~' : '/';
        i += escape;
    }
    return acp_str_n(name, n);
}

static const struct schema_value *item_at(const struct schema_value *array, struct acp_str index)
{
    size_t i = 0;
    if (index.len == 0 || index.len > 9 || (index.len > 1 && index.ptr[0] == '0'))
        return NULL;
    for (size_t k = 0; k < index.len; k++) {
        if (index.ptr[k] < '0' || index.ptr[k] > '9')
            return NULL;
        i = i * 10 + (size_t) (index.ptr[k] - '0');
    }
    return i < array->is.array.count ? &array->is.array.items[i] : NULL;
}

/* The pointer begins with a slash and is unfolded on the way; NULL when it leads nowhere. */
static const struct schema_value *follow_pointer(const struct schema_value *value, char *pointer,
                                                 size_t len)
{
    char *end = pointer + len;
    while (value && pointer < end) {
        char *name = pointer + 1;
        char *slash = memchr(name, '/', (size_t) (end - name));
        pointer = slash ? slash : end;
        struct acp_str key = unfold(name, (size_t) (pointer - name));
        if (value->type == ACP_JSON_ARRAY) {
            value = item_at(value, key);
        } else {
            const struct schema_member *member = schema_value_find(value, key);
            value = member ? &member->value : NULL;
        }
    }
    return value;
}

/* A text of the schema, cut for a sentence. */
static int shown(struct acp_str text)
{
    return (int) (text.len < 80 ? text.len : 80);
}

/* What stands behind '#', within a resource. */
static int find_fragment(struct schema_compiler *c, const struct schema_value *at,
                         struct schema_resource *home, struct acp_str fragment,
                         const struct schema_value **ret)
{
    struct acp_str text = {0};
    struct acp_str name = {0};
    if (schema_uri_decode(fragment, &c->schema->arena, &text))
        return schema_no_memory(c);
    if (text.len == 0) {
        *ret = home->root;
        return 0;
    }
    const struct schema_value *found;
    if (text.ptr[0] == '/') {
        struct acp_str copy = acp_arena_copy(&c->schema->arena, text);
        if (!copy.ptr)
            return schema_no_memory(c);
        found = follow_pointer(home->root, (char *) (uintptr_t) copy.ptr, copy.len);
    } else {
        int err = join(c, home->uri, text, &name);
        if (err)
            return err;
        found = acp_map_get(&c->names, name);
    }
    if (!found)
        return schema_refuse(c, at, "there is nothing at #%.*s", shown(fragment), fragment.ptr);
    /* A place that no keyword leads to was not surveyed yet. */
    int err = schema_survey(c, found, home);
    if (!err)
        *ret = found;
    return err;
}

int schema_resolve(struct schema_compiler *c, const struct schema_value *source,
                   const struct schema_value *at, const struct schema_value **ret)
{
    if (at->type != ACP_JSON_STRING)
        return schema_refuse(c, at, "a reference is a string");
    struct schema_resource *home = acp_map_get(&c->homes, schema_address_of(&source));
    struct acp_str uri = at->is.text;
    struct acp_str fragment = schema_uri_cut_fragment(&uri);
    if (uri.len) {
        struct acp_str full = {0};
        if (schema_uri_resolve(home->uri, uri, &c->schema->arena, &full))
            return schema_no_memory(c);
        const struct schema_value *root = acp_map_get(&c->names, full);
        if (!root)
            return schema_refuse(c, at,
                                 "%.*s is not part of this schema; references to others are not "
                                 "followed",
                                 shown(at->is.text), at->is.text.ptr);
        home = acp_map_get(&c->homes, schema_address_of(&root));
    }
    return find_fragment(c, at, home, fragment, ret);
}

/* ---- Loops ---------------------------------------------------------------------------------- */

enum { VISIT_NONE, VISIT_OPEN, VISIT_DONE };

static int visit(struct schema_compiler *c, struct schema_node *node, unsigned chain);

static int visit_one(struct schema_compiler *c, const struct schema_node *node, unsigned chain)
{
    if (!node || !node->source)
        return 0;
    /* Nodes point to each other as to constants; here, before anybody uses them, they are not. */
    return visit(c, (struct schema_node *) (uintptr_t) node, chain);
}

static int visit_many(struct schema_compiler *c, const struct schema_node **nodes, size_t count,
                      unsigned chain)
{
    int err = 0;
    for (size_t i = 0; !err && i < count; i++)
        err = visit_one(c, nodes[i], chain);
    return err;
}

static int visit_map(struct schema_compiler *c, const struct schema_map *map, unsigned chain)
{
    return map->source ? visit_many(c, map->nodes, map->source->is.object.count, chain) : 0;
}

/* All schemas that a schema applies to the value that it is applied to itself. */
static int visit_in_place(struct schema_compiler *c, const struct schema_node *node, unsigned chain)
{
    const struct schema_node *single[] = {node->ref, node->not_schema, node->if_schema,
                                          node->then_schema, node->else_schema};
    int err = visit_many(c, single, sizeof(single) / sizeof(single[0]), chain);
    if (!err)
        err = visit_many(c, node->all_of.nodes, node->all_of.count, chain);
    if (!err)
        err = visit_many(c, node->any_of.nodes, node->any_of.count, chain);
    if (!err)
        err = visit_many(c, node->one_of.nodes, node->one_of.count, chain);
    if (!err)
        err = visit_map(c, &node->dependent_schemas, chain);
    if (!err)
        err = visit_map(c, &node->dependencies, chain);
    return err;
}

static int visit(struct schema_compiler *c, struct schema_node *node, unsigned chain)
{
    if (node->visit == VISIT_DONE)
        return 0;
    if (node->visit == VISIT_OPEN)
        return schema_refuse(c, node->source,
                             "the schema refers to itself for the same value, without an end");
    if (chain >= LONGEST_CHAIN)
        return schema_refuse(c, node->source, "more than %d references in a row", LONGEST_CHAIN);
    node->visit = VISIT_OPEN;
    int err = visit_in_place(c, node, chain + 1);
    node->visit = VISIT_DONE;
    return err;
}

int schema_find_loops(struct schema_compiler *c)
{
    int err = 0;
    for (struct schema_node *node = c->first; !err && node; node = node->next)
        err = visit(c, node, 0);
    return err;
}
