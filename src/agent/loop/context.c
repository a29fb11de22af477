/* context.c - system text, tools and facts, and their form in the log. */
#include "agent/loop/context.h"

#include <stdio.h>
#include <stdlib.h>

#include "json/members.h"

/* ---- A list of facts ------------------------------------------------------------------------- */

uint64_t facts_hash(struct acp_str text)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char) text.ptr[i]) * UINT64_C(1099511628211);
    return hash;
}

void facts_init(struct facts *facts)
{
    *facts = (struct facts){0};
    acp_arena_init(&facts->arena, 0);
}

void facts_finish(struct facts *facts)
{
    acp_arena_finish(&facts->arena);
}

const struct fact *facts_get(const struct facts *facts, enum fact_kind kind, struct acp_str name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (facts->items[i].kind == kind && acp_str_eq(facts->items[i].name, name))
            return &facts->items[i];
    return NULL;
}

int facts_add(struct facts *facts, enum fact_kind kind, struct acp_str name, uint64_t hash,
              struct acp_str text)
{
    size_t size = facts->count * sizeof(*facts->items);
    struct fact fact = {.kind = kind, .hash = hash};
    fact.name = acp_arena_copy(&facts->arena, name);
    fact.text = text.ptr ? acp_arena_copy(&facts->arena, text) : text;
    struct fact *items =
        acp_arena_grow(&facts->arena, facts->items, size, size + sizeof(*facts->items));
    if (!items || !fact.name.ptr || (text.ptr && !fact.text.ptr))
        return ACP_ERR_NOMEM;
    items[facts->count++] = fact;
    facts->items = items;
    return 0;
}

int facts_copy(const struct facts *facts, struct facts *ret)
{
    int err = 0;
    facts_init(ret);
    for (size_t i = 0; i < facts->count && !err; i++)
        err = facts_add(ret, facts->items[i].kind, facts->items[i].name, facts->items[i].hash,
                        acp_str_from(NULL));
    if (err)
        facts_finish(ret);
    return err;
}

/* ---- A context ------------------------------------------------------------------------------- */

void context_free(struct context *context)
{
    if (!context)
        return;
    acp_arena_finish(&context->arena);
    facts_finish(&context->known);
    facts_finish(&context->before);
    free(context);
}

struct context *context_new(void)
{
    struct context *context = calloc(1, sizeof(*context));
    if (!context)
        return NULL;
    acp_arena_init(&context->arena, 0);
    facts_init(&context->known);
    facts_init(&context->before);
    return context;
}

/* ---- In the log ------------------------------------------------------------------------------ */

void context_write_tool(struct acp_json_writer *w, const struct model_tool *tool)
{
    acp_json_begin_object(w);
    acp_json_put_str(w, "name", tool->name);
    acp_json_put_str(w, "description",
                     tool->description.ptr ? tool->description : acp_str_from(""));
    acp_json_put_raw(w, "input_schema", tool->schema);
    acp_json_end_object(w);
}

static const char *const kind_names[] = {
    [FACT_LINE] = "line", [FACT_FILE] = "file", [FACT_TOOL] = "tool"};

static void write_facts(struct acp_json_writer *w, const struct facts *facts)
{
    acp_json_write_key(w, acp_str_from("facts"));
    acp_json_begin_array(w);
    for (size_t i = 0; i < facts->count; i++) {
        char hash[20];
        (void) snprintf(hash, sizeof(hash), "%016llx", (unsigned long long) facts->items[i].hash);
        acp_json_begin_object(w);
        acp_json_put_str(w, "kind", acp_str_from(kind_names[facts->items[i].kind]));
        acp_json_put_str(w, "name", facts->items[i].name);
        acp_json_put_str(w, "hash", acp_str_from(hash));
        acp_json_end_object(w);
    }
    acp_json_end_array(w);
}

void context_write(const struct context *context, bool whole, struct acp_json_writer *w)
{
    acp_json_begin_object(w);
    if (whole) {
        acp_json_put_str(w, "model", context->model);
        acp_json_put_str(w, "system", context->system);
        acp_json_write_key(w, acp_str_from("tools"));
        acp_json_begin_array(w);
        for (size_t i = 0; i < context->tool_count; i++)
            context_write_tool(w, &context->tools[i]);
        acp_json_end_array(w);
    }
    write_facts(w, &context->known);
    acp_json_end_object(w);
}

static int read_str(struct acp_json_reader *r, struct acp_arena *arena, struct acp_str *ret)
{
    struct acp_str text;
    int err = acp_json_read_str(r, &text);
    if (err)
        return err;
    *ret = acp_arena_copy(arena, text);
    return ret->ptr ? 0 : ACP_ERR_NOMEM;
}

static int read_tool(struct acp_json_reader *r, struct acp_arena *arena, struct model_tool *tool)
{
    struct acp_str key;
    int more = acp_json_enter_object(r);
    while (!more && (more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "name")) {
            more = read_str(r, arena, &tool->name);
        } else if (acp_str_is(key, "description")) {
            more = read_str(r, arena, &tool->description);
        } else if (acp_str_is(key, "input_schema")) {
            struct acp_raw raw;
            more = acp_json_read_raw(r, &raw);
            struct acp_str copy =
                more ? acp_str_from(NULL) : acp_arena_copy(arena, acp_str_n(raw.ptr, raw.len));
            tool->schema = acp_raw_n(copy.ptr, copy.len);
            if (!more && !copy.ptr)
                more = ACP_ERR_NOMEM;
        } else {
            more = acp_json_skip(r);
        }
    }
    bool whole = tool->name.ptr && tool->description.ptr && tool->schema.ptr;
    return more ? more : whole ? 0 : ACP_ERR_MISSING;
}

static int read_tools(struct acp_json_reader *r, struct context *context)
{
    int more = acp_json_enter_array(r);
    context->tool_count = 0;
    context->tools = acp_arena_alloc(&context->arena, CONTEXT_MAX_TOOLS * sizeof(*context->tools));
    if (!context->tools)
        return ACP_ERR_NOMEM;
    while (!more && (more = acp_json_next_item(r)) > 0) {
        more = context->tool_count == CONTEXT_MAX_TOOLS
                   ? ACP_ERR_LIMIT
                   : read_tool(r, &context->arena, &context->tools[context->tool_count]);
        context->tool_count += !more;
    }
    return more;
}

static int read_fact(struct acp_json_reader *r, struct facts *facts)
{
    struct acp_str key;
    struct acp_str kind = {0};
    struct acp_str name = {0};
    struct acp_str hash = {0};
    int more = acp_json_enter_object(r);
    while (!more && (more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "kind"))
            more = acp_json_read_str(r, &kind);
        else if (acp_str_is(key, "name"))
            more = acp_json_read_str(r, &name);
        else if (acp_str_is(key, "hash"))
            more = acp_json_read_str(r, &hash);
        else
            more = acp_json_skip(r);
    }
    char digits[20] = "";
    if (!more && hash.ptr && hash.len < sizeof(digits))
        memcpy(digits, hash.ptr, hash.len);
    for (size_t i = 0; !more && name.ptr && i < sizeof(kind_names) / sizeof(kind_names[0]); i++)
        if (acp_str_is(kind, kind_names[i]))
            more = facts_add(facts, (enum fact_kind) i, name, strtoull(digits, NULL, 16),
                             acp_str_from(NULL));
    return more;
}

static int read_facts(struct acp_json_reader *r, struct facts *facts)
{
    int more = acp_json_enter_array(r);
    facts_finish(facts);
    facts_init(facts);
    while (!more && (more = acp_json_next_item(r)) > 0)
        more = read_fact(r, facts);
    return more;
}

static int read_members(struct acp_json_reader *r, struct context *context)
{
    struct acp_str key;
    int more = acp_json_enter_object(r);
    while (!more && (more = acp_json_next_key(r, &key)) > 0) {
        if (acp_str_is(key, "model"))
            more = read_str(r, &context->arena, &context->model);
        else if (acp_str_is(key, "system"))
            more = read_str(r, &context->arena, &context->system);
        else if (acp_str_is(key, "tools"))
            more = read_tools(r, context);
        else if (acp_str_is(key, "facts"))
            more = read_facts(r, &context->known);
        else
            more = acp_json_skip(r);
    }
    return more;
}

int context_read(struct acp_raw object, struct context **context)
{
    struct acp_json_reader r;
    struct acp_arena arena;
    struct context *read = *context ? *context : context_new();
    if (!read)
        return ACP_ERR_NOMEM;
    acp_arena_init(&arena, 0);
    acp_json_reader_init(&r, object, &arena, 0);
    int err = read_members(&r, read);
    if (!err && (!read->model.ptr || !read->system.ptr || !read->tools))
        err = ACP_ERR_MISSING;
    acp_arena_finish(&arena);
    if (err) {
        context_free(read);
        read = NULL;
    }
    *context = read;
    return err;
}
