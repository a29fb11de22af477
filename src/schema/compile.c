/*
 * Makes nodes of a schema.  A node is made where it is first referred to, put into a list, and
 * filled when its turn comes; so references may go round in circles, and no chain of them makes
 * the stack grow.
 */
#include "schema/compile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct schema_node schema_true;
static const struct schema_node schema_false = {.never = true};

/* ---- Failures ------------------------------------------------------------------------------- */

/* Where a value stands below another one; recursive, as deep as the text. */
static bool find_path(const struct schema_value *in, const struct schema_value *at,
                      struct acp_buf *out)
{
    size_t before = out->len;
    if (in == at)
        return true;
    if (in->type == ACP_JSON_ARRAY)
        for (size_t i = 0; i < in->is.array.count; i++) {
            (void) acp_buf_printf(out, "/%zu", i);
            if (find_path(&in->is.array.items[i], at, out))
                return true;
            acp_buf_truncate(out, before);
        }
    if (in->type == ACP_JSON_OBJECT)
        for (size_t i = 0; i < in->is.object.count; i++) {
            (void) schema_pointer_append(out, in->is.object.members[i].key);
            if (find_path(&in->is.object.members[i].value, at, out))
                return true;
            acp_buf_truncate(out, before);
        }
    return false;
}

int schema_refuse(struct schema_compiler *c, const struct schema_value *at, const char *format, ...)
{
    struct acp_failure *f = c->failure;
    struct acp_buf path;
    va_list args;
    if (!f)
        return ACP_ERR_ARGUMENT;
    *f = (struct acp_failure){.err = ACP_ERR_ARGUMENT};
    acp_buf_init(&path, SIZE_MAX / 2);
    if (find_path(&c->schema->source, at, &path))
        (void) snprintf(f->path, sizeof(f->path), "%.*s", (int) path.len, acp_buf_view(&path).ptr);
    acp_buf_finish(&path);
    va_start(args, format);
    (void) vsnprintf(f->message, sizeof(f->message), format, args);
    va_end(args);
    return f->err;
}

int schema_no_memory(struct schema_compiler *c)
{
    if (c->failure) {
        *c->failure = (struct acp_failure){.err = ACP_ERR_NOMEM};
        (void) snprintf(c->failure->message, sizeof(c->failure->message),
                        "no memory; a schema may take %d MB", SCHEMA_MAX_MEMORY >> 20);
    }
    return ACP_ERR_NOMEM;
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

int schema_node_of(struct schema_compiler *c, const struct schema_value *value,
                   const struct schema_node **ret)
{
    if (value->type == ACP_JSON_BOOL) {
        *ret = value->truth ? &schema_true : &schema_false;
        return 0;
    }
    if (value->type != ACP_JSON_OBJECT)
        return schema_refuse(c, value, "a schema is an object, true or false");
    struct acp_str key = schema_address_of(&value);
    struct schema_node *node = acp_map_get(&c->nodes, key);
    if (!node) {
        node = acp_arena_alloc(&c->schema->arena, sizeof(*node));
        if (!node || acp_map_set(&c->nodes, key, node))
            return schema_no_memory(c);
        node->source = value;
        if (c->last)
            c->last->next = node;
        else
            c->first = node;
        c->last = node;
    }
    *ret = node;
    return 0;
}

/* What depends on several keywords of one schema. */
static int settle(struct schema_compiler *c, struct schema_node *node)
{
    if (node->items_listed) {
        if (schema_value_find(node->source, acp_str_from("prefixItems")))
            return schema_refuse(c, node->source, "items is a list and there is prefixItems too");
        node->items = node->additional_items;
    }
    if (!node->if_schema)
        node->then_schema = node->else_schema = NULL;
    return 0;
}

static int fill(struct schema_compiler *c, struct schema_node *node)
{
    const struct schema_value *source = node->source;
    for (size_t i = 0; i < source->is.object.count; i++) {
        const struct schema_member *member = &source->is.object.members[i];
        const struct schema_keyword *keyword = schema_keyword_find(member->key);
        int err = keyword ? keyword->take(c, &member->value, node, keyword->offset) : 0;
        if (err)
            return err;
    }
    return settle(c, node);
}

static int compile_all(struct schema_compiler *c)
{
    struct schema *schema = c->schema;
    struct schema_resource *home = acp_arena_alloc(&schema->arena, sizeof(*home));
    if (!home)
        return schema_no_memory(c);
    home->root = &schema->source;
    home->uri = acp_str_from("");
    if (acp_map_set(&c->names, home->uri, &schema->source))
        return schema_no_memory(c);
    int err = schema_survey(c, &schema->source, home);
    if (!err)
        err = schema_node_of(c, &schema->source, &schema->root);
    for (struct schema_node *node = c->first; !err && node; node = node->next)
        err = fill(c, node);
    return err ? err : schema_find_loops(c);
}

int schema_compile(struct acp_raw json, struct schema **ret, struct acp_failure *failure)
{
    struct schema *schema = calloc(1, sizeof(*schema));
    struct schema_compiler c = {.schema = schema, .failure = failure};
    if (!schema)
        return schema_no_memory(&c);
    acp_arena_init(&schema->arena, SCHEMA_MAX_MEMORY);
    struct acp_str text = acp_arena_copy(&schema->arena, acp_str_n(json.ptr, json.len));
    int err = text.ptr ? schema_value_read(acp_raw_n(text.ptr, text.len), &schema->arena,
                                           &schema->source, failure)
                       : schema_no_memory(&c);
    if (!err)
        err = compile_all(&c);
    acp_map_finish(&c.nodes);
    acp_map_finish(&c.homes);
    acp_map_finish(&c.names);
    if (err) {
        schema_free(schema);
        return err;
    }
    *ret = schema;
    return 0;
}

void schema_free(struct schema *schema)
{
    if (!schema)
        return;
    acp_arena_finish(&schema->arena);
    free(schema);
}
