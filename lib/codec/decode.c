/*
 * Decoding: a walk over the text that is led by the tables.
 *
 * A JSON object may fill several structs at once, since unions lie flat: the object of a
 * session/update holds the fields of SessionUpdate, of StateUpdate, of IdleStateUpdate.  Such a
 * stack of structs is called layers here.  The tags are looked up first, which chooses the layers;
 * then one pass over the keys fills them all.
 */
#include "codec/walk.h"
#include "json/pull.h"

struct decoder {
    struct acp_json_reader r;
    struct acp_arena *arena;
    struct acp_failure *failure;
    uint8_t profile;
    bool strict;
};

struct layer {
    const struct acp_type *type;
    char *base;         /* its struct */
    struct acp_str tag; /* of a union: what chose the variant; absent when nothing did */
    uint64_t seen;      /* fields that occurred, by index */
    unsigned expect;    /* the field that probably comes next */
    bool untagged;      /* a union: its tag is none of ours, so it is a key like any other */
};

/* The JSON value that the layers are filled from, mostly an object. */
struct object {
    const char *value; /* where it begins */
    const char *begin; /* its first key */
    const char *body;  /* behind those of its tags that came first and have been used */
    uint32_t depth;    /* of value */
    bool body_first;   /* there were none */
};

static int decode_type(struct decoder *d, const struct acp_type *type, char *dst);
static int decode_layers(struct decoder *d, struct object *o, struct layer *layers, int count);

/* ---- Failing --------------------------------------------------------------------------------- */

/* Malformed JSON and lack of memory end the message; everything else may be forgiven. */
static bool is_fatal(const struct decoder *d)
{
    return d->r.err != 0;
}

static int no_memory(struct decoder *d)
{
    d->r.err = ACP_ERR_NOMEM;
    return acp_failure_set(d->failure, ACP_ERR_NOMEM, "%s", acp_err_text(ACP_ERR_NOMEM));
}

static int wrong_type(struct decoder *d, const char *expected)
{
    enum acp_json_type found = acp_pull_peek(&d->r);
    if (is_fatal(d) || found == ACP_JSON_NONE) {
        int err = is_fatal(d) ? d->r.err : acp_json_skip(&d->r);
        return acp_failure_set(d->failure, err, "%s", acp_err_text(err));
    }
    return acp_failure_set(d->failure, ACP_ERR_TYPE, "expected %s, found %s", expected,
                           acp_json_type_name(found));
}

/* How much of a text that a peer chose goes into a message. */
static int shown(struct acp_str text)
{
    return (int) (text.len < 60 ? text.len : 60);
}

static int out_of_range(struct decoder *d, const char *what)
{
    return acp_failure_set(d->failure, ACP_ERR_RANGE, "%s is outside of its range", what);
}

/* Sets the reader back to the value, and to its body. */
static void to_value(struct decoder *d, const struct object *o)
{
    d->r.at = o->value;
    d->r.depth = o->depth;
    d->r.first = false; /* true inside of an object that was entered in vain */
}

static void to_body(struct decoder *d, const struct object *o)
{
    d->r.at = o->body;
    d->r.depth = o->depth + 1;
    d->r.first = o->body_first;
}

/* ---- One value ------------------------------------------------------------------------------- */

static int decode_i64(struct decoder *d, const struct acp_field *f, char *dst)
{
    int64_t value;
    struct acp_json_reader start = d->r;
    int err = acp_json_read_i64(&d->r, &value);
    if (err == ACP_ERR_RANGE)
        return out_of_range(d, "the number");
    if (err)
        return wrong_type(d, "a whole number");
    if (!acp_in_bounds(f, (double) value)) {
        d->r = start;
        return out_of_range(d, "the number");
    }
    memcpy(dst, &value, sizeof(value));
    return 0;
}

static int decode_u64(struct decoder *d, const struct acp_field *f, char *dst)
{
    uint64_t value;
    struct acp_json_reader start = d->r;
    int err = acp_json_read_u64(&d->r, &value);
    if (err == ACP_ERR_RANGE)
        return out_of_range(d, "the number");
    if (err)
        return wrong_type(d, "a whole number");
    if (!acp_in_bounds(f, (double) value)) {
        d->r = start;
        return out_of_range(d, "the number");
    }
    memcpy(dst, &value, sizeof(value));
    return 0;
}

static int decode_f64(struct decoder *d, const struct acp_field *f, char *dst)
{
    double value;
    struct acp_json_reader start = d->r;
    int err = acp_json_read_f64(&d->r, &value);
    if (err == ACP_ERR_RANGE)
        return out_of_range(d, "the number");
    if (err)
        return wrong_type(d, "a number");
    if (!acp_in_bounds(f, value)) {
        d->r = start;
        return out_of_range(d, "the number");
    }
    memcpy(dst, &value, sizeof(value));
    return 0;
}

static int decode_str(struct decoder *d, const struct acp_field *f, char *dst)
{
    struct acp_str text = {NULL, 0};
    if (acp_pull_str(&d->r, &text))
        return wrong_type(d, "a string");
    if (f->bounds && !acp_in_bounds(f, (double) text.len))
        return out_of_range(d, "the length of the text");
    memcpy(dst, &text, sizeof(text));
    return 0;
}

static int decode_enum(struct decoder *d, const struct acp_field *f, char *dst)
{
    const struct acp_type *type = acp_type_of(f);
    struct acp_any_enum value = {0};
    if (acp_pull_str(&d->r, &value.text))
        return wrong_type(d, "a string");
    const struct acp_enumerator *e = acp_enumerator_by_text(type, value.text, d->profile);
    if (e)
        value.is = e->id;
    else if (type->open & d->profile)
        value.is = ACP_IS_UNLISTED;
    else
        return acp_failure_set(d->failure, ACP_ERR_VARIANT, "'%.*s' is not a value of %.*s",
                               shown(value.text), value.text.ptr, shown(acp_text_at(type->name)),
                               acp_text_at(type->name).ptr);
    memcpy(dst, &value, sizeof(value));
    return 0;
}

static int decode_raw(struct decoder *d, const struct acp_field *f, char *dst)
{
    struct acp_raw raw;
    if (f->kind == ACP_KIND_OBJECT && acp_pull_peek(&d->r) != ACP_JSON_OBJECT)
        return wrong_type(d, "an object");
    if (acp_json_read_raw(&d->r, &raw))
        return wrong_type(d, "a value");
    memcpy(dst, &raw, sizeof(raw));
    return 0;
}

static int decode_value(struct decoder *d, const struct acp_field *f, char *dst)
{
    bool truth;
    switch ((enum acp_kind) f->kind) {
    case ACP_KIND_STR:
        return decode_str(d, f, dst);
    case ACP_KIND_BOOL:
        if (acp_json_read_bool(&d->r, &truth))
            return wrong_type(d, "true or false");
        memcpy(dst, &truth, sizeof(truth));
        return 0;
    case ACP_KIND_I64:
        return decode_i64(d, f, dst);
    case ACP_KIND_U64:
        return decode_u64(d, f, dst);
    case ACP_KIND_F64:
        return decode_f64(d, f, dst);
    case ACP_KIND_NULL:
        return acp_json_read_null(&d->r) ? wrong_type(d, "null") : 0;
    case ACP_KIND_ANY:
    case ACP_KIND_OBJECT:
        return decode_raw(d, f, dst);
    case ACP_KIND_ENUM:
        return decode_enum(d, f, dst);
    case ACP_KIND_TYPE:
        return decode_type(d, acp_type_of(f), dst);
    case ACP_KIND_NONE:
        break;
    }
    return acp_json_skip(&d->r);
}

/* ---- Lists and maps -------------------------------------------------------------------------- */

/* Room for one more element; a fresh one is zeroed. */
static char *next_element(struct decoder *d, char **items, size_t count, size_t *room, size_t size)
{
    enum { FIRST = 4 };
    if (count == *room) {
        size_t more = count ? count * 2 : FIRST;
        char *grown = acp_arena_grow(d->arena, *items, count * size, more * size);
        if (!grown)
            return NULL;
        *items = grown;
        *room = more;
    }
    return *items + count * size;
}

/* The items of a list, or with keys the entries of a map, up to the closing bracket. */
static int decode_elements(struct decoder *d, const struct acp_field *f, struct acp_any_list *ret)
{
    bool map = f->shape == ACP_SHAPE_MAP;
    size_t size = acp_value_size(f) + (map ? ACP_ENTRY_VALUE : 0);
    bool drop_bad = (f->flags & ACP_FIELD_FORGIVE_ITEMS) && !d->strict;
    char *items = NULL;
    size_t count = 0;
    size_t room = 0;
    int more;
    struct acp_str key = {NULL, 0};
    while ((more = map ? acp_pull_key(&d->r, &key) : acp_pull_next(&d->r, ']')) > 0) {
        char *element = next_element(d, &items, count, &room, size);
        if (!element)
            return no_memory(d);
        if (map)
            memcpy(element, &key, sizeof(key));
        struct acp_json_reader start = d->r;
        int err = decode_value(d, f, element + (map ? ACP_ENTRY_VALUE : 0));
        if (!err) {
            count++;
            continue;
        }
        if (is_fatal(d) || !drop_bad) {
            if (map)
                acp_failure_in_key(d->failure, key);
            else
                acp_failure_in_item(d->failure, count);
            return err;
        }
        memset(element, 0, size);
        d->r = start;
        if (acp_json_skip(&d->r))
            return wrong_type(d, "a value");
    }
    if (more < 0)
        return wrong_type(d, "a list");
    *ret = (struct acp_any_list){items ? items : acp_zeros(), count};
    return 0;
}

static int decode_container(struct decoder *d, const struct acp_field *f, char *dst)
{
    struct acp_any_list list = {NULL, 0};
    if (acp_pull_enter(&d->r, f->shape == ACP_SHAPE_MAP ? '{' : '['))
        return wrong_type(d, f->shape == ACP_SHAPE_MAP ? "an object" : "an array");
    int err = decode_elements(d, f, &list);
    if (err)
        return err;
    if (list.count < f->least)
        return acp_failure_set(d->failure, ACP_ERR_RANGE, "needs at least %d item", f->least);
    memcpy(dst, &list, sizeof(list));
    return 0;
}

/* ---- One field: presence and forgiveness ----------------------------------------------------- */

static int decode_by_pointer(struct decoder *d, const struct acp_field *f, char *dst)
{
    char *value = acp_arena_alloc(d->arena, acp_value_size(f));
    if (!value)
        return no_memory(d);
    int err = decode_value(d, f, value);
    if (!err)
        memcpy(dst, &value, sizeof(value));
    return err;
}

static int decode_optional_number(struct decoder *d, const struct acp_field *f, char *dst)
{
    size_t at = f->kind == ACP_KIND_BOOL ? offsetof(struct acp_opt_bool, value)
                                         : offsetof(struct acp_opt_i64, value);
    int err = decode_value(d, f, dst + at);
    if (!err) {
        enum acp_presence has = ACP_PRESENT;
        memcpy(dst, &has, sizeof(has));
    }
    return err;
}

/* JSON null where it is allowed. */
static int decode_null(struct decoder *d, const struct acp_field *f, char *dst)
{
    if (f->kind == ACP_KIND_OBJECT && f->shape == ACP_SHAPE_ONE) {
        struct acp_raw raw;
        int err = acp_json_read_raw(&d->r, &raw);
        if (!err)
            memcpy(dst, &raw, sizeof(raw));
        return err;
    }
    int err = acp_json_read_null(&d->r);
    if (err)
        return err;
    if (f->shape == ACP_SHAPE_ONE && f->kind == ACP_KIND_ENUM) {
        int is = ACP_IS_NULL;
        memcpy(dst, &is, sizeof(is));
    } else if (f->shape == ACP_SHAPE_ONE && (f->flags & ACP_FIELD_OPTIONAL)) {
        enum acp_presence has = ACP_NULL;
        memcpy(dst, &has, sizeof(has));
    } else {
        /* Texts, lists and pointers all begin with a pointer. */
        const void *null = acp_null();
        memcpy(dst, &null, sizeof(null));
    }
    return 0;
}

static int decode_present(struct decoder *d, const struct acp_field *f, char *dst)
{
    if (acp_pull_peek(&d->r) == ACP_JSON_NULL) {
        if (f->flags & ACP_FIELD_NULLABLE)
            return decode_null(d, f, dst) ? wrong_type(d, "null") : 0;
        if (f->flags & ACP_FIELD_FORGIVE_NULL && !d->strict)
            return acp_json_read_null(&d->r) ? wrong_type(d, "null") : 0;
    }
    if (f->shape != ACP_SHAPE_ONE)
        return decode_container(d, f, dst);
    if (f->flags & ACP_FIELD_BY_POINTER)
        return decode_by_pointer(d, f, dst);
    if (f->flags & ACP_FIELD_OPTIONAL)
        return decode_optional_number(d, f, dst);
    return decode_value(d, f, dst);
}

/* A malformed value counts as absent. */
static int decode_forgiving(struct decoder *d, const struct acp_field *f, char *dst)
{
    struct acp_json_reader start = d->r;
    int err = decode_present(d, f, dst);
    if (!err || is_fatal(d))
        return err;
    memset(dst, 0, acp_storage_size(f));
    d->r = start;
    return acp_json_skip(&d->r) ? wrong_type(d, "a value") : 0;
}

static int decode_field(struct decoder *d, const struct acp_field *f, char *dst)
{
    bool forgive = (f->flags & ACP_FIELD_FORGIVE_ERROR) && !d->strict;
    int err = forgive ? decode_forgiving(d, f, dst) : decode_present(d, f, dst);
    if (err)
        acp_failure_in_key(d->failure, acp_text_at(f->name));
    return err;
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* The field of this name, looked for from the expected one on; its index, or -1. */
static int find_field(struct layer *layer, struct acp_str key, uint8_t profile)
{
    const struct acp_type *type = layer->type;
    const struct acp_field *fields = &acp_fields[type->first_field];
    unsigned i = layer->expect;
    for (unsigned n = type->field_count; n > 0; n--, i++) {
        if (i >= type->field_count)
            i = 0;
        if (acp_texts[fields[i].name].len == key.len && (fields[i].profiles & profile) &&
            /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a key was read */
            memcmp(acp_text_at(fields[i].name).ptr, key.ptr, key.len) == 0) {
            layer->expect = i + 1;
            return (int) i;
        }
    }
    return -1;
}

/* The layer whose tag this key holds, or NULL. */
static struct layer *layer_tagged_by(struct layer *layers, int count, struct acp_str key)
{
    for (int i = 0; i < count; i++)
        if (layers[i].type->form == ACP_FORM_UNION &&
            acp_str_eq(acp_text_at(layers[i].type->key), key))
            return &layers[i];
    return NULL;
}

/*
 * Passes over a tag, which has been used already.  A second one that differs is refused: another
 * reader might take the message for something else.
 */
static int decode_tag(struct decoder *d, const struct layer *layer)
{
    struct acp_str tag = {NULL, 0};
    bool is_text = acp_pull_peek(&d->r) == ACP_JSON_STRING;
    if (is_text ? acp_pull_str(&d->r, &tag) : acp_json_skip(&d->r))
        return wrong_type(d, "a value");
    if (!layer->tag.ptr || (is_text && acp_str_eq(tag, layer->tag)))
        return 0;
    (void) acp_failure_set(d->failure, ACP_ERR_VARIANT, "stands twice and differs");
    acp_failure_in_key(d->failure, acp_text_at(layer->type->key));
    return ACP_ERR_VARIANT;
}

static int keep_unknown(struct decoder *d, struct layer *layers, int count, struct acp_str key,
                        struct acp_unknown **last)
{
    struct acp_unknown *u = acp_arena_alloc(d->arena, sizeof(*u));
    if (!u)
        return no_memory(d);
    u->key = key;
    if (acp_json_read_raw(&d->r, &u->value))
        return wrong_type(d, "a value");
    if (*last) {
        (*last)->next = u;
    } else {
        for (int i = 0; i < count; i++) {
            if (layers[i].type->unknown != ACP_NO_OFFSET) {
                memcpy(layers[i].base + layers[i].type->unknown, &u, sizeof(void *));
                break;
            }
        }
    }
    *last = u;
    return 0;
}

static int keep_tag(struct decoder *d, struct layer *layers, int count, const struct layer *tagged,
                    struct acp_unknown **last)
{
    struct acp_json_reader start = d->r;
    int err = decode_tag(d, tagged);
    if (err)
        return err;
    d->r = start;
    return keep_unknown(d, layers, count, acp_text_at(tagged->type->key), last);
}

static int check_required(struct decoder *d, const struct layer *layers, int count)
{
    for (int i = 0; i < count; i++) {
        const struct acp_type *type = layers[i].type;
        const struct acp_field *f = &acp_fields[type->first_field];
        for (unsigned n = 0; n < type->field_count; n++, f++) {
            if (!(f->flags & ACP_FIELD_REQUIRED) || !(f->profiles & d->profile) ||
                (layers[i].seen & (uint64_t) 1 << n))
                continue;
            (void) acp_failure_set(d->failure, ACP_ERR_MISSING, "is required but missing");
            acp_failure_in_key(d->failure, acp_text_at(f->name));
            return ACP_ERR_MISSING;
        }
    }
    return 0;
}

/* A key that occurs again replaces what it said before. */
static int decode_member(struct decoder *d, struct layer *layer, int index)
{
    const struct acp_field *f = &acp_fields[layer->type->first_field + index];
    uint64_t bit = (uint64_t) 1 << index;
    if (layer->seen & bit)
        memset(layer->base + f->offset, 0, acp_storage_size(f));
    layer->seen |= bit;
    return decode_field(d, f, layer->base + f->offset);
}

/* What is unlisted is kept as all of the object that it was found in. */
static void keep_raw(const struct decoder *d, const struct object *o, struct layer *layers,
                     int count)
{
    const char *end = d->r.at;
    for (int i = 0; i < count; i++) {
        if (layers[i].type->form != ACP_FORM_UNION || acp_is_of(layers[i].base) != ACP_IS_UNLISTED)
            continue;
        while (end[-1] != '}') /* the reader has passed over white space */
            end--;
        struct acp_raw raw = {o->value, (size_t) (end - o->value)};
        memcpy(layers[i].base + layers[i].type->raw, &raw, sizeof(raw));
    }
}

/* The layers are chosen: one pass over the keys fills them. */
static int decode_members(struct decoder *d, const struct object *o, struct layer *layers,
                          int count)
{
    struct acp_unknown *last_unknown = NULL;
    struct acp_str key = {NULL, 0};
    int more;
    for (int i = 0; i < count; i++)
        layers[i].seen = 0;
    to_body(d, o);
    while ((more = acp_pull_key(&d->r, &key)) > 0) {
        int index = -1;
        int i = 0;
        while (i < count && (index = find_field(&layers[i], key, d->profile)) < 0)
            i++;
        int err;
        struct layer *tagged;
        if (index >= 0)
            err = decode_member(d, &layers[i], index);
        else if ((tagged = layer_tagged_by(layers, count, key)))
            err = tagged->untagged ? keep_tag(d, layers, count, tagged, &last_unknown)
                                   : decode_tag(d, tagged);
        else
            err = keep_unknown(d, layers, count, key, &last_unknown);
        if (err)
            return err;
    }
    if (more < 0)
        return wrong_type(d, "an object");
    keep_raw(d, o, layers, count);
    return check_required(d, layers, count);
}

/* ---- Unions and choices ---------------------------------------------------------------------- */

/* The tag anywhere in the object: see find_tag. */
static int search_tag(struct decoder *d, const struct object *o, const struct acp_type *type,
                      struct acp_str *ret)
{
    struct acp_str name = acp_text_at(type->key);
    struct acp_str key = {NULL, 0};
    int found = 0;
    to_body(d, o);
    d->r.at = o->begin;
    d->r.first = true;
    while (!found && acp_pull_key(&d->r, &key) > 0) {
        /* NOLINTNEXTLINE(bugprone-branch-clone): other keys and bad tags are passed over alike */
        if (!acp_str_eq(key, name)) {
            (void) acp_json_skip(&d->r);
        } else if (acp_pull_peek(&d->r) == ACP_JSON_STRING) {
            (void) acp_pull_str(&d->r, ret);
            found = 1;
        } else if (type->tag_optional && (!d->strict || acp_pull_peek(&d->r) == ACP_JSON_NULL)) {
            (void) acp_json_skip(&d->r);
        } else {
            int err = wrong_type(d, "a string");
            acp_failure_in_key(d->failure, name);
            return err;
        }
    }
    return is_fatal(d) ? wrong_type(d, "an object") : found;
}

/*
 * The tag of the object: 1 found, 0 absent (or no string where the tag is optional), or an error.
 * Most writers put tags first; one that stands where it is expected need not be read again.
 */
static int find_tag(struct decoder *d, struct object *o, const struct acp_type *type,
                    struct acp_str *ret)
{
    struct acp_str key = {NULL, 0};
    to_body(d, o);
    if (acp_pull_key(&d->r, &key) > 0 && acp_str_eq(key, acp_text_at(type->key)) &&
        !acp_pull_str(&d->r, ret)) {
        o->body = d->r.at;
        o->body_first = false;
        return 1;
    }
    if (is_fatal(d))
        return wrong_type(d, "an object");
    return search_tag(d, o, type, ret);
}

/* Chooses the variant of a union; NULL in *ret when there is none and none is needed. */
static int choose_variant(struct decoder *d, struct object *o, struct layer *layer,
                          const struct acp_variant **ret)
{
    const struct acp_type *type = layer->type;
    struct acp_str tag = {NULL, 0};
    int found = find_tag(d, o, type, &tag);
    if (found < 0)
        return found;
    const struct acp_variant *v = NULL;
    layer->tag = tag;
    if (found) {
        v = acp_variant_by_tag(type, tag, d->profile);
        if (!v)
            v = acp_variant_by_flag(type, ACP_FIELD_FALLBACK, d->profile);
        if (type->tag != ACP_NO_OFFSET)
            memcpy(layer->base + type->tag, &tag, sizeof(tag));
    }
    if (!v) {
        v = acp_variant_by_flag(type, ACP_FIELD_UNTAGGED, d->profile);
        layer->untagged = v && found;
        if (layer->untagged) {
            o->body = o->begin;
            o->body_first = true;
        }
    }
    *ret = v;
    if (v || (!found && type->tag_optional))
        return 0;
    int err = found ? ACP_ERR_VARIANT : ACP_ERR_MISSING;
    if (found)
        (void) acp_failure_set(d->failure, err, "'%.*s' is not part of this version", shown(tag),
                               tag.ptr);
    else
        (void) acp_failure_set(d->failure, err, "is required but missing");
    acp_failure_in_key(d->failure, acp_text_at(type->key));
    return err;
}

static bool is_layer(const struct acp_field *f)
{
    return f->kind == ACP_KIND_TYPE && f->shape == ACP_SHAPE_ONE;
}

/* Goes on with the variant as one more layer, or with the layers as they are. */
static int decode_variant(struct decoder *d, struct object *o, struct layer *layers, int count,
                          const struct acp_variant *v)
{
    char *base = layers[count - 1].base;
    int is = v->id;
    memcpy(base, &is, sizeof(is));
    if (!is_layer(&v->value))
        return decode_members(d, o, layers, count);
    layers[count] = (struct layer){.type = acp_type_of(&v->value), .base = base + v->value.offset};
    return decode_layers(d, o, layers, count + 1);
}

/* A variant that is not an object can only stand alone. */
static int decode_alone(struct decoder *d, const struct object *o, struct layer *layer,
                        const struct acp_variant *v)
{
    int is = v->id;
    memcpy(layer->base, &is, sizeof(is));
    to_value(d, o);
    return decode_present(d, &v->value, layer->base + v->value.offset);
}

/* What one variant does not know, the next one may. */
static void forget_unknown(struct layer *layers, int count)
{
    for (int i = 0; i < count; i++)
        if (layers[i].type->unknown != ACP_NO_OFFSET)
            memset(layers[i].base + layers[i].type->unknown, 0, sizeof(struct acp_unknown *));
}

/* The first variant that fits. */
static int try_variants(struct decoder *d, struct object *o, struct layer *layers, int count)
{
    struct layer *last = &layers[count - 1];
    const struct acp_variant *v = &acp_variants[last->type->first_variant];
    struct object start = *o;
    bool is_object = *o->value == '{';
    int err = acp_failure_set(d->failure, ACP_ERR_VARIANT, "fits none of the possible forms");
    for (const struct acp_variant *end = v + last->type->variant_count; v < end; v++) {
        bool layer = is_layer(&v->value);
        if (!(v->value.profiles & d->profile) || (layer && !is_object))
            continue;
        *o = start;
        err = layer ? decode_variant(d, o, layers, count, v) : decode_alone(d, o, last, v);
        if (!err || is_fatal(d))
            return err;
        memset(last->base, 0, last->type->size);
        forget_unknown(layers, count);
    }
    return err;
}

static int decode_layers(struct decoder *d, struct object *o, struct layer *layers, int count)
{
    struct layer *last = &layers[count - 1];
    if (count == ACP_MAX_LAYERS)
        return ACP_ERR_DEPTH;
    if (last->type->form == ACP_FORM_CHOICE)
        return try_variants(d, o, layers, count);
    if (last->type->form == ACP_FORM_UNION) {
        const struct acp_variant *v = NULL;
        int err = choose_variant(d, o, last, &v);
        if (err)
            return err;
        if (v)
            return decode_variant(d, o, layers, count, v);
    }
    return decode_members(d, o, layers, count);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the layers write to it */
static int decode_type(struct decoder *d, const struct acp_type *type, char *dst)
{
    struct object o = {.value = d->r.at, .depth = d->r.depth, .body_first = true};
    bool is_object = acp_pull_peek(&d->r) == ACP_JSON_OBJECT;
    if (acp_pull_peek(&d->r) == ACP_JSON_NONE || (!is_object && type->form != ACP_FORM_CHOICE))
        return wrong_type(d, "an object");
    if (is_object && acp_pull_enter(&d->r, '{'))
        return wrong_type(d, "an object");
    o.begin = d->r.at;
    o.body = d->r.at;
    struct layer layers[ACP_MAX_LAYERS];
    layers[0] = (struct layer){.type = type, .base = dst};
    return decode_layers(d, &o, layers, 1);
}

int acp_decode(acp_type_id type, unsigned mode, struct acp_raw json, struct acp_arena *arena,
               void *ret, struct acp_failure *failure)
{
    uint8_t profile = acp_profile_of(mode);
    if (type < 0 || type >= acp_type_count || !(acp_types[type].profiles & profile) ||
        acp_types[type].form == ACP_FORM_ENUM || !json.ptr)
        return acp_failure_set(failure, ACP_ERR_ARGUMENT, "no such type in this version");
    /* What is forgiven on the way leaves its trace here, so it is handed out at the end only. */
    struct acp_failure trace;
    trace.err = 0;
    trace.path[0] = '\0';
    trace.message[0] = '\0';
    struct decoder d = {
        .arena = arena,
        .failure = failure ? &trace : NULL,
        .profile = profile,
        .strict = mode & ACP_STRICT,
    };
    acp_json_reader_init(&d.r, json, arena, 0);
    memset(ret, 0, acp_types[type].size);
    int err = decode_type(&d, &acp_types[type], ret);
    if (!err && acp_json_read_end(&d.r))
        err = wrong_type(&d, "the end");
    if (err && failure) {
        *failure = trace;
        failure->err = err;
        failure->offset = acp_json_offset(&d.r);
    }
    return err;
}
