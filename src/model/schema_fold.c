/* Schemas of tools, folded into what services take; docs/models.md has the sources. */
#include "model/schema_fold.h"

#include "model/pick.h"

enum {
    MAX_BRANCHES = 32, /* of anyOf, oneOf and allOf at the root; the others are left out */
    MAX_REFS = 4,      /* references that lead to references */
    MAX_LAYERS = 8,    /* of an allOf below the root */
    MAX_PROPERTY = 64, /* bytes of a property's name, for Anthropic */
};

/* One of the schemas that the root is made of. */
struct branch {
    struct acp_raw schema;
    unsigned choice; /* 0: it always holds; otherwise one of the branches of this choice does */
};

struct fold {
    struct acp_raw root;
    enum schema_taker taker;
    struct acp_json_writer *w;
    struct acp_arena arena; /* keys with escapes */
    struct branch branches[MAX_BRANCHES];
    size_t count;
    unsigned choices;
};

static bool is_object(struct acp_raw value)
{
    return value.len && *value.ptr == '{';
}

static bool is_string(struct acp_raw value)
{
    return value.len && *value.ptr == '"';
}

static bool is_in(struct acp_str word, const char *const *words)
{
    for (; *words; words++) {
        if (acp_str_is(word, *words))
            return true;
    }
    return false;
}

/* ---- References ------------------------------------------------------------------------------ */

static const char *const ref_places[] = {"#/$defs/", "#/definitions/"};

/* The name behind a reference into the root's own definitions; absent for others. */
static struct acp_str ref_name(struct fold *fold, struct acp_raw schema, const char **ret_place)
{
    struct acp_str ref = pick_str(pick_member(schema, acp_str_from("$ref")), "", &fold->arena);
    for (size_t i = 0; ref.ptr && i < 2; i++) {
        size_t n = strlen(ref_places[i]);
        if (acp_str_starts_with(ref, ref_places[i])) {
            *ret_place = i ? "definitions" : "$defs";
            return acp_str_n(ref.ptr + n, ref.len - n);
        }
    }
    return acp_str_from(NULL);
}

/* What a schema that is a reference refers to; any other is itself. */
static struct acp_raw resolve(struct fold *fold, struct acp_raw schema)
{
    for (size_t i = 0; i < MAX_REFS; i++) {
        const char *place = NULL;
        struct acp_str name = ref_name(fold, schema, &place);
        if (!name.ptr)
            break;
        struct acp_raw target = pick_member(pick_member(fold->root, acp_str_from(place)), name);
        if (!is_object(target))
            break;
        schema = target;
    }
    return schema;
}

/* ---- Gemini's subset ------------------------------------------------------------------------- */

static void copy_schema(struct fold *fold, struct acp_raw schema, unsigned depth);

static void copy_list(struct fold *fold, struct acp_raw list, unsigned depth)
{
    struct pick_cursor cursor = {0};
    struct acp_raw item;
    acp_json_begin_array(fold->w);
    while (pick_next(list, &cursor, &item))
        copy_schema(fold, item, depth);
    acp_json_end_array(fold->w);
}

static void copy_map(struct fold *fold, struct acp_raw map, unsigned depth)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_raw value;
    acp_json_begin_object(fold->w);
    acp_json_reader_init(&r, map, &fold->arena, 0);
    if (acp_json_enter_object(&r) == 0) {
        while (acp_json_next_key(&r, &key) > 0 && acp_json_read_raw(&r, &value) == 0) {
            acp_json_write_key(fold->w, key);
            copy_schema(fold, value, depth);
        }
    }
    acp_json_end_object(fold->w);
}

static bool is_simple_enum(struct acp_raw list)
{
    struct pick_cursor cursor = {0};
    struct acp_raw item;
    size_t count = 0;
    while (pick_next(list, &cursor, &item)) {
        if (!is_string(item) && *item.ptr != '-' && (*item.ptr < '0' || *item.ptr > '9'))
            return false;
        count++;
    }
    return count > 0;
}

/* The keywords whose values need no look. */
static bool is_plain_keyword(struct acp_str key, struct acp_raw value)
{
    static const char *const words[] = {
        "$id",      "$anchor",  "type",    "title",   "description",      "required",
        "minItems", "maxItems", "minimum", "maximum", "propertyOrdering", NULL};
    static const char *const formats[] = {"\"date-time\"", "\"date\"",   "\"time\"",
                                          "\"duration\"",  "\"int32\"",  "\"int64\"",
                                          "\"float\"",     "\"double\"", NULL};
    if (acp_str_is(key, "format"))
        return is_in(acp_str_n(value.ptr, value.len), formats);
    if (acp_str_is(key, "enum"))
        return is_simple_enum(value);
    return is_in(key, words);
}

/* One keyword as Gemini takes it, or nothing. */
static void copy_keyword(struct fold *fold, struct acp_str key, struct acp_raw value,
                         unsigned depth)
{
    static const char *const maps[] = {"properties", "$defs", NULL};
    static const char *const lists[] = {"anyOf", "oneOf", "prefixItems", NULL};
    static const char *const schemas[] = {"items", "additionalProperties", NULL};
    struct acp_json_writer *w = fold->w;
    if (acp_str_is(key, "definitions"))
        key = acp_str_from("$defs");
    bool is_flag =
        acp_str_is(key, "additionalProperties") && (*value.ptr == 't' || *value.ptr == 'f');
    if (is_plain_keyword(key, value) || is_flag) {
        acp_json_write_key(w, key);
        acp_json_write_raw(w, value);
    } else if (is_in(key, maps) && is_object(value)) {
        acp_json_write_key(w, key);
        copy_map(fold, value, depth + 1);
    } else if (is_in(key, lists) && *value.ptr == '[') {
        acp_json_write_key(w, key);
        copy_list(fold, value, depth + 1);
    } else if (is_in(key, schemas) && is_object(value)) {
        acp_json_write_key(w, key);
        copy_schema(fold, value, depth + 1);
    } else if (acp_str_is(key, "const") &&
               (is_string(value) || (*value.ptr >= '0' && *value.ptr <= '9'))) {
        acp_json_write_key(w, acp_str_from("enum"));
        acp_json_begin_array(w);
        acp_json_write_raw(w, value);
        acp_json_end_array(w);
    }
}

/* Whether one of the layers before has this keyword too. */
static bool is_repeated(const struct acp_raw *layers, size_t at, struct acp_str key)
{
    for (size_t i = 0; i < at; i++) {
        if (pick_member(layers[i], key).ptr)
            return true;
    }
    return false;
}

static void copy_layer(struct fold *fold, const struct acp_raw *layers, size_t at, unsigned depth)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_raw value;
    acp_json_reader_init(&r, layers[at], &fold->arena, 0);
    if (acp_json_enter_object(&r))
        return;
    while (acp_json_next_key(&r, &key) > 0 && acp_json_read_raw(&r, &value) == 0) {
        if (!is_repeated(layers, at, key))
            copy_keyword(fold, key, value, depth);
    }
}

/* A schema below the root: what Gemini knows of it, with an allOf folded in. */
static void copy_schema(struct fold *fold, struct acp_raw schema, unsigned depth)
{
    struct acp_raw layers[MAX_LAYERS] = {schema};
    size_t count = 1;
    const char *place = NULL;
    struct acp_str name = ref_name(fold, schema, &place);
    acp_json_begin_object(fold->w);
    if (depth >= SCHEMA_MAX_DEPTH || !is_object(schema)) {
        acp_json_end_object(fold->w);
        return;
    }
    if (name.ptr) { /* nothing else may stand beside a reference */
        struct acp_buf ref;
        acp_buf_init(&ref, SCHEMA_MAX_BYTES);
        int err = acp_buf_append_str(&ref, acp_str_from(ref_places[0]));
        err = err ? err : acp_buf_append_str(&ref, name);
        fold->w->err = fold->w->err ? fold->w->err : err;
        acp_json_write_key(fold->w, acp_str_from("$ref"));
        acp_json_write_str(fold->w, acp_buf_view(&ref));
        acp_buf_finish(&ref);
    } else {
        struct pick_cursor cursor = {0};
        struct acp_raw all = pick_member(schema, acp_str_from("allOf"));
        while (count < MAX_LAYERS && pick_next(all, &cursor, &layers[count])) {
            layers[count] = resolve(fold, layers[count]);
            count += is_object(layers[count]);
        }
        for (size_t i = 0; i < count; i++)
            copy_layer(fold, layers, i, depth);
    }
    acp_json_end_object(fold->w);
}

/* ---- The root -------------------------------------------------------------------------------- */

static void collect(struct fold *fold, struct acp_raw schema, unsigned choice, unsigned depth)
{
    static const char *const words[] = {"allOf", "anyOf", "oneOf"};
    schema = resolve(fold, schema);
    if (!is_object(schema) || fold->count == MAX_BRANCHES || depth > MAX_REFS)
        return;
    fold->branches[fold->count++] = (struct branch){schema, choice};
    for (size_t i = 0; i < 3; i++) {
        struct acp_raw list = pick_member(schema, acp_str_from(words[i]));
        struct pick_cursor cursor = {0};
        struct acp_raw item;
        unsigned inner = choice;
        /* Within a choice nothing is required for certain: it has a number of its own. */
        if (i > 0 && list.ptr)
            inner = ++fold->choices;
        while (pick_next(list, &cursor, &item))
            collect(fold, item, inner, depth + 1);
    }
}

static struct acp_raw property_of(const struct branch *branch, struct acp_str name)
{
    return pick_member(pick_member(branch->schema, acp_str_from("properties")), name);
}

static bool is_name_taken(const struct fold *fold, struct acp_str name)
{
    if (fold->taker != SCHEMA_ANTHROPIC)
        return true;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-')
            return false;
    }
    return name.len > 0 && name.len <= MAX_PROPERTY;
}

static void write_schema(struct fold *fold, struct acp_raw schema)
{
    if (fold->taker == SCHEMA_GEMINI)
        copy_schema(fold, schema, 1);
    else
        acp_json_write_raw(fold->w, schema);
}

static bool is_same(struct acp_raw a, struct acp_raw b)
{
    return acp_str_eq(acp_str_n(a.ptr, a.len), acp_str_n(b.ptr, b.len));
}

/* A property that branches describe differently may be as any of them says. */
static void write_property(struct fold *fold, size_t at, struct acp_str name, struct acp_raw first)
{
    bool differs = false;
    for (size_t i = at + 1; i < fold->count; i++) {
        struct acp_raw other = property_of(&fold->branches[i], name);
        differs = differs || (other.ptr && !is_same(first, other));
    }
    acp_json_write_key(fold->w, name);
    if (!differs) {
        write_schema(fold, first);
        return;
    }
    acp_json_begin_object(fold->w);
    acp_json_write_key(fold->w, acp_str_from("anyOf"));
    acp_json_begin_array(fold->w);
    for (size_t i = at; i < fold->count; i++) {
        struct acp_raw one = property_of(&fold->branches[i], name);
        bool repeated = false;
        for (size_t k = at; one.ptr && k < i && !repeated; k++) {
            struct acp_raw former = property_of(&fold->branches[k], name);
            repeated = former.ptr && is_same(former, one);
        }
        if (one.ptr && !repeated)
            write_schema(fold, one);
    }
    acp_json_end_array(fold->w);
    acp_json_end_object(fold->w);
}

static bool is_known_before(const struct fold *fold, size_t at, struct acp_str name)
{
    for (size_t i = 0; i < at; i++) {
        if (property_of(&fold->branches[i], name).ptr)
            return true;
    }
    return false;
}

static void write_properties(struct fold *fold)
{
    size_t left = SCHEMA_MAX_PROPERTIES;
    acp_json_write_key(fold->w, acp_str_from("properties"));
    acp_json_begin_object(fold->w);
    for (size_t i = 0; i < fold->count; i++) {
        struct acp_raw map = pick_member(fold->branches[i].schema, acp_str_from("properties"));
        struct acp_json_reader r;
        struct acp_str name;
        struct acp_raw value;
        acp_json_reader_init(&r, map, &fold->arena, 0);
        if (!is_object(map) || acp_json_enter_object(&r))
            continue;
        while (left && acp_json_next_key(&r, &name) > 0 && acp_json_read_raw(&r, &value) == 0) {
            if (is_known_before(fold, i, name) || !is_name_taken(fold, name))
                continue;
            write_property(fold, i, name, value);
            left--;
        }
    }
    acp_json_end_object(fold->w);
}

static bool requires(struct fold *fold, const struct branch *branch, struct acp_str name)
{
    struct acp_raw list = pick_member(branch->schema, acp_str_from("required"));
    struct pick_cursor cursor = {0};
    struct acp_raw item;
    while (pick_next(list, &cursor, &item)) {
        if (acp_str_eq(pick_str(item, "", &fold->arena), name))
            return true;
    }
    return false;
}

/* Whether every branch of the choice requires it; of choice 0, whether any does. */
static bool choice_requires(struct fold *fold, unsigned choice, struct acp_str name)
{
    bool all = choice > 0;
    for (size_t i = 0; i < fold->count; i++) {
        if (fold->branches[i].choice != choice)
            continue;
        bool one = requires(fold, &fold->branches[i], name);
        if (!choice && one)
            return true;
        all = all && one;
    }
    return all;
}

/* Whether what an earlier branch requires has been written. */
static bool is_listed(struct fold *fold, size_t at, struct acp_str name)
{
    for (size_t i = 0; i < at; i++) {
        if (requires(fold, &fold->branches[i], name) &&
            choice_requires(fold, fold->branches[i].choice, name))
            return true;
    }
    return false;
}

/* What the object must have; the list is begun with the first. */
static void write_required(struct fold *fold)
{
    size_t left = SCHEMA_MAX_PROPERTIES;
    bool begun = false;
    for (size_t i = 0; i < fold->count; i++) {
        struct acp_raw list = pick_member(fold->branches[i].schema, acp_str_from("required"));
        struct pick_cursor cursor = {0};
        struct acp_raw item;
        for (; left && pick_next(list, &cursor, &item); left--) {
            struct acp_str name = pick_str(item, "", &fold->arena);
            if (!name.ptr || is_listed(fold, i, name) || !is_name_taken(fold, name) ||
                !is_known_before(fold, fold->count, name) ||
                !choice_requires(fold, fold->branches[i].choice, name))
                continue;
            if (!begun) {
                acp_json_write_key(fold->w, acp_str_from("required"));
                acp_json_begin_array(fold->w);
            }
            begun = true;
            acp_json_write_str(fold->w, name);
        }
    }
    if (begun)
        acp_json_end_array(fold->w);
}

/* What the root says besides its properties. */
static void write_rest(struct fold *fold)
{
    static const char *const left_out[] = {
        "type", "properties", "required", "allOf", "anyOf",   "oneOf", "not",  "if",
        "then", "else",       "enum",     "const", "$schema", "$id",   "$ref", NULL};
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_raw value;
    acp_json_reader_init(&r, fold->root, &fold->arena, 0);
    if (acp_json_enter_object(&r))
        return;
    while (acp_json_next_key(&r, &key) > 0 && acp_json_read_raw(&r, &value) == 0) {
        if (is_in(key, left_out))
            continue;
        if (fold->taker == SCHEMA_GEMINI) {
            copy_keyword(fold, key, value, 0);
        } else {
            acp_json_write_key(fold->w, key);
            acp_json_write_raw(fold->w, value);
        }
    }
}

void schema_write(struct acp_raw schema, enum schema_taker taker, struct acp_json_writer *w)
{
    while (schema.len && (unsigned char) *schema.ptr <= ' ')
        schema = acp_raw_n(schema.ptr + 1, schema.len - 1);
    struct fold fold = {.root = schema, .taker = taker, .w = w};
    bool is_good = schema.len && schema.len <= SCHEMA_MAX_BYTES && is_object(schema) &&
                   acp_json_validate(schema, 0, NULL) == 0;
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str_from("type"));
    acp_json_write_str(w, acp_str_from("object"));
    acp_arena_init(&fold.arena, 0);
    if (is_good) {
        collect(&fold, schema, 0, 0);
        write_properties(&fold);
        write_required(&fold);
        write_rest(&fold);
    } else {
        acp_json_write_key(w, acp_str_from("properties"));
        acp_json_begin_object(w);
        acp_json_end_object(w);
    }
    acp_arena_finish(&fold.arena);
    acp_json_end_object(w);
}
