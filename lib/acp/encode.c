/*
 * Encoding: the walk of decode.c the other way round.  Strict: what the version requires must be
 * there, what it does not know is left out, and nothing out of range is written.
 */
#include "acp/walk.h"
#include "json/writer.h"

struct encoder {
    struct acp_json_writer *w;
    struct acp_failure *failure;
    uint8_t profile;
    bool keep_unknown;
};

static int encode_type(struct encoder *e, const struct acp_type *type, const char *value);
static int encode_members(struct encoder *e, const struct acp_type *type, const char *value);

static void write_key(struct encoder *e, unsigned name)
{
    acp_json_write_ready_key(e->w, acp_text_bytes + acp_texts[name].offset,
                             acp_texts[name].len + 4u);
}

static int missing(struct encoder *e)
{
    return acp_failure_set(e->failure, ACP_ERR_MISSING, "is required but missing");
}

static int out_of_range(struct encoder *e)
{
    return acp_failure_set(e->failure, ACP_ERR_RANGE, "is outside of its range");
}

static int not_in_version(struct encoder *e)
{
    return acp_failure_set(e->failure, ACP_ERR_VARIANT, "is not part of this version");
}

/* ---- One value --------------------------------------------------------------------------------- */

static int encode_enum(struct encoder *e, const struct acp_field *f, const char *src)
{
    const struct acp_type *type = acp_type_of(f);
    struct acp_any_enum value;
    memcpy(&value, src, sizeof(value));
    if (value.is == ACP_IS_UNLISTED) {
        if (!(type->open & e->profile))
            return not_in_version(e);
        if (!value.text.ptr)
            return missing(e);
        acp_json_write_str(e->w, value.text);
        return 0;
    }
    const struct acp_enumerator *listed = acp_enumerator_by_id(type, value.is, e->profile);
    if (!listed)
        return value.is == ACP_IS_ABSENT ? missing(e) : not_in_version(e);
    acp_json_write_str(e->w, acp_text_at(listed->name));
    return 0;
}

static int encode_raw(struct encoder *e, const struct acp_field *f, const char *src)
{
    struct acp_raw raw;
    memcpy(&raw, src, sizeof(raw));
    if (!raw.ptr)
        return missing(e);
    /* Raw text may come from the program, and a message must stay JSON. */
    int err = acp_json_validate(raw, 0, NULL);
    if (err)
        return acp_failure_set(e->failure, err, "is %s", acp_err_text(err));
    bool null_allowed = f->flags & ACP_FIELD_NULLABLE;
    struct acp_json_reader r;
    acp_json_reader_init(&r, raw, NULL, 0);
    enum acp_json_type type = acp_json_peek(&r);
    if (f->kind == ACP_KIND_OBJECT && type != ACP_JSON_OBJECT &&
        !(null_allowed && type == ACP_JSON_NULL))
        return acp_failure_set(e->failure, ACP_ERR_TYPE, "must be an object");
    acp_json_write_raw(e->w, raw);
    return 0;
}

static int encode_number(struct encoder *e, const struct acp_field *f, const char *src)
{
    int64_t i;
    uint64_t u;
    double x;
    switch (f->kind) {
    case ACP_KIND_I64:
        memcpy(&i, src, sizeof(i));
        if (!acp_in_bounds(f, (double) i))
            return out_of_range(e);
        acp_json_write_i64(e->w, i);
        return 0;
    case ACP_KIND_U64:
        memcpy(&u, src, sizeof(u));
        acp_json_write_u64(e->w, u);
        return 0;
    default:
        memcpy(&x, src, sizeof(x));
        if (!acp_in_bounds(f, x))
            return out_of_range(e);
        acp_json_write_f64(e->w, x);
        return e->w->err == ACP_ERR_RANGE ? out_of_range(e) : 0;
    }
}

static int encode_value(struct encoder *e, const struct acp_field *f, const char *src)
{
    struct acp_str text;
    bool truth;
    switch ((enum acp_kind) f->kind) {
    case ACP_KIND_STR:
        memcpy(&text, src, sizeof(text));
        if (!acp_is_set(text.ptr))
            return missing(e);
        if (f->bounds && !acp_in_bounds(f, (double) text.len))
            return out_of_range(e);
        acp_json_write_str(e->w, text);
        return 0;
    case ACP_KIND_BOOL:
        memcpy(&truth, src, sizeof(truth));
        acp_json_write_bool(e->w, truth);
        return 0;
    case ACP_KIND_I64:
    case ACP_KIND_U64:
    case ACP_KIND_F64:
        return encode_number(e, f, src);
    case ACP_KIND_ANY:
    case ACP_KIND_OBJECT:
        return encode_raw(e, f, src);
    case ACP_KIND_ENUM:
        return encode_enum(e, f, src);
    case ACP_KIND_TYPE:
        return encode_type(e, acp_type_of(f), src);
    case ACP_KIND_NONE:
    case ACP_KIND_NULL:
        break;
    }
    acp_json_write_null(e->w);
    return 0;
}

static int encode_container(struct encoder *e, const struct acp_field *f, const char *src)
{
    bool map = f->shape == ACP_SHAPE_MAP;
    struct acp_any_list list;
    memcpy(&list, src, sizeof(list));
    if (list.count < f->least)
        return acp_failure_set(e->failure, ACP_ERR_RANGE, "needs at least %d item", f->least);
    size_t size = acp_value_size(f) + (map ? ACP_ENTRY_VALUE : 0);
    const char *item = list.items;
    if (map)
        acp_json_begin_object(e->w);
    else
        acp_json_begin_array(e->w);
    for (size_t i = 0; i < list.count; i++, item += size) {
        struct acp_str key = {NULL, 0};
        if (map) {
            memcpy(&key, item, sizeof(key));
            acp_json_write_key(e->w, key);
        }
        int err = encode_value(e, f, item + (map ? ACP_ENTRY_VALUE : 0));
        if (err) {
            if (map)
                acp_failure_in_key(e->failure, key);
            else
                acp_failure_in_item(e->failure, i);
            return err;
        }
    }
    if (map)
        acp_json_end_object(e->w);
    else
        acp_json_end_array(e->w);
    return 0;
}

/* ---- One field ---------------------------------------------------------------------------------- */

static enum acp_presence pointer_presence(const char *src)
{
    const void *ptr;
    memcpy(&ptr, src, sizeof(ptr));
    return !ptr ? ACP_ABSENT : acp_is_null(ptr) ? ACP_NULL : ACP_PRESENT;
}

/* Whether the struct says anything for the field. */
static enum acp_presence presence(const struct acp_field *f, const char *src)
{
    if (f->shape != ACP_SHAPE_ONE || (f->flags & ACP_FIELD_BY_POINTER))
        return pointer_presence(src);
    if (f->flags & ACP_FIELD_OPTIONAL) {
        enum acp_presence has;
        memcpy(&has, src, sizeof(has));
        return has;
    }
    switch ((enum acp_kind) f->kind) {
    case ACP_KIND_STR:
    case ACP_KIND_ANY:
    case ACP_KIND_OBJECT:
        return pointer_presence(src);
    case ACP_KIND_ENUM:
        return acp_is_of(src) == ACP_IS_ABSENT ? ACP_ABSENT
               : acp_is_of(src) == ACP_IS_NULL ? ACP_NULL
                                               : ACP_PRESENT;
    case ACP_KIND_BOOL: {
        /* An optional plain boolean is one whose default is false. */
        bool truth;
        memcpy(&truth, src, sizeof(truth));
        return truth || (f->flags & ACP_FIELD_REQUIRED) ? ACP_PRESENT : ACP_ABSENT;
    }
    default:
        return ACP_PRESENT;
    }
}

static int encode_present(struct encoder *e, const struct acp_field *f, const char *src)
{
    if (f->shape != ACP_SHAPE_ONE)
        return encode_container(e, f, src);
    if (f->flags & ACP_FIELD_BY_POINTER) {
        const char *target;
        memcpy(&target, src, sizeof(target));
        return encode_value(e, f, target);
    }
    if (f->flags & ACP_FIELD_OPTIONAL)
        src += f->kind == ACP_KIND_BOOL ? offsetof(struct acp_opt_bool, value)
                                        : offsetof(struct acp_opt_i64, value);
    return encode_value(e, f, src);
}

static int encode_field(struct encoder *e, const struct acp_field *f, const char *src)
{
    enum acp_presence has = presence(f, src);
    if (has == ACP_NULL && !(f->flags & ACP_FIELD_NULLABLE))
        has = ACP_ABSENT;
    /* A list that is required and was not set is an empty one. */
    if (has == ACP_ABSENT && (f->flags & ACP_FIELD_REQUIRED) && f->shape != ACP_SHAPE_ONE)
        has = ACP_PRESENT;
    if (has == ACP_ABSENT && !(f->flags & ACP_FIELD_REQUIRED))
        return 0;
    int err = 0;
    if (has == ACP_ABSENT) {
        err = missing(e);
    } else {
        write_key(e, f->name);
        if (has == ACP_NULL)
            acp_json_write_null(e->w);
        else
            err = encode_present(e, f, src);
    }
    if (err)
        acp_failure_in_key(e->failure, acp_text_at(f->name));
    return err;
}

/* ---- Objects ------------------------------------------------------------------------------------- */

static bool is_layer(const struct acp_field *f)
{
    return f->kind == ACP_KIND_TYPE && f->shape == ACP_SHAPE_ONE;
}

/* The variant that a union or choice says it is; NULL when it says nothing. */
static int variant_of(struct encoder *e, const struct acp_type *type, const char *value,
                      const struct acp_variant **ret)
{
    int is = acp_is_of(value);
    *ret = is == ACP_IS_ABSENT ? NULL : acp_variant_by_id(type, is, e->profile);
    if (*ret || (is == ACP_IS_ABSENT && type->tag_optional))
        return 0;
    int err = is == ACP_IS_ABSENT ? missing(e) : not_in_version(e);
    if (type->form == ACP_FORM_UNION)
        acp_failure_in_key(e->failure, acp_text_at(type->key));
    return err;
}

/* A value with an unlisted variant anywhere in its layers is written as it came. */
static struct acp_raw unlisted(struct encoder *e, const struct acp_type *type, const char *value)
{
    struct acp_raw raw = {NULL, 0};
    while (type->form == ACP_FORM_UNION || type->form == ACP_FORM_CHOICE) {
        int is = acp_is_of(value);
        if (type->form == ACP_FORM_UNION && is == ACP_IS_UNLISTED) {
            memcpy(&raw, value + type->raw, sizeof(raw));
            break;
        }
        const struct acp_variant *v = acp_variant_by_id(type, is, e->profile);
        if (!v || !is_layer(&v->value))
            break;
        value += v->value.offset;
        type = acp_type_of(&v->value);
    }
    return raw;
}

static int encode_variant(struct encoder *e, const struct acp_type *type, const char *value)
{
    const struct acp_variant *v;
    int err = variant_of(e, type, value, &v);
    if (err || !v)
        return err;
    if (v->id == ACP_IS_UNLISTED)
        return acp_failure_set(e->failure, ACP_ERR_MISSING, "an unlisted variant needs its raw text");
    if (type->form == ACP_FORM_UNION && !(v->value.flags & ACP_FIELD_UNTAGGED)) {
        write_key(e, type->key);
        acp_json_write_str(e->w, acp_text_at(v->value.name));
    }
    return is_layer(&v->value) ? encode_members(e, acp_type_of(&v->value), value + v->value.offset)
                               : 0;
}

static void encode_unknown(struct encoder *e, const struct acp_type *type, const char *value)
{
    const struct acp_unknown *u;
    memcpy(&u, value + type->unknown, sizeof(u));
    for (; u; u = u->next) {
        acp_json_write_key(e->w, u->key);
        acp_json_write_raw(e->w, u->value);
    }
}

/* Tags go first: a reader that sees them first need not look ahead. */
static int encode_members(struct encoder *e, const struct acp_type *type, const char *value)
{
    if (type->form != ACP_FORM_STRUCT) {
        int err = encode_variant(e, type, value);
        if (err)
            return err;
    }
    const struct acp_field *f = &acp_fields[type->first_field];
    for (unsigned n = 0; n < type->field_count; n++, f++) {
        if (!(f->profiles & e->profile))
            continue;
        int err = encode_field(e, f, value + f->offset);
        if (err)
            return err;
    }
    if (e->keep_unknown && type->unknown != ACP_NO_OFFSET)
        encode_unknown(e, type, value);
    return 0;
}

static int encode_type(struct encoder *e, const struct acp_type *type, const char *value)
{
    if (type->form != ACP_FORM_STRUCT) {
        struct acp_raw raw = unlisted(e, type, value);
        if (raw.ptr) {
            acp_json_write_raw(e->w, raw);
            return 0;
        }
    }
    if (type->form == ACP_FORM_CHOICE) {
        const struct acp_variant *v;
        int err = variant_of(e, type, value, &v);
        if (err)
            return err;
        if (!is_layer(&v->value))
            return encode_present(e, &v->value, value + v->value.offset);
    }
    acp_json_begin_object(e->w);
    int err = encode_members(e, type, value);
    acp_json_end_object(e->w);
    return err;
}

int acp_encode(acp_type_id type, unsigned mode, const void *value, struct acp_json_writer *w,
               struct acp_failure *failure)
{
    uint8_t profile = acp_profile_of(mode);
    int err;
    if (type < 0 || type >= acp_type_count || !(acp_types[type].profiles & profile) ||
        acp_types[type].form == ACP_FORM_ENUM) {
        err = acp_failure_set(failure, ACP_ERR_ARGUMENT, "no such type in this version");
    } else {
        struct encoder e = {
            .w = w,
            .failure = failure,
            .profile = profile,
            .keep_unknown = mode & ACP_KEEP_UNKNOWN,
        };
        err = encode_type(&e, &acp_types[type], value);
        if (!err && w->err)
            err = acp_failure_set(failure, w->err, "%s", acp_err_text(w->err));
    }
    if (err && !w->err)
        w->err = err;
    return err;
}
