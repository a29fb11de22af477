/*
 * Encoding: the walk of decode.c the other way round.  Strict: what the version requires must be
 * there, what it does not know is left out, and nothing out of range is written.
 *
 * The functions pass the place to write at from one to the next, so that it stays in a register:
 * each takes it as p and returns the place behind what it wrote, or NULL when it failed.  Keys,
 * brackets and plain texts are written here; whatever needs more care goes through the writer.
 */
#include "codec/walk.h"
#include "json/writer.h"

struct encoder {
    struct acp_buf *out; /* its len is right only while the writer is at work */
    char *limit;         /* where the room in out ends */
    struct acp_failure *failure;
    int err;
    uint8_t profile;
    bool keep_unknown;
    struct acp_raw unlisted; /* what the object at hand turned out to be instead: see encode_type */
};

static char *encode_type(struct encoder *e, char *p, const struct acp_type *type,
                         const char *value);
static char *encode_members(struct encoder *e, char *p, const struct acp_type *type,
                            const char *value);

/* ---- Failing --------------------------------------------------------------------------------- */

static char *fail(struct encoder *e, int err, const char *message)
{
    e->err = acp_failure_set(e->failure, err, "%s", message);
    return NULL;
}

static char *missing(struct encoder *e)
{
    return fail(e, ACP_ERR_MISSING, "is required but missing");
}

static char *out_of_range(struct encoder *e)
{
    return fail(e, ACP_ERR_RANGE, "is outside of its range");
}

static char *not_in_version(struct encoder *e)
{
    return fail(e, ACP_ERR_VARIANT, "is not part of this version");
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The place to write at, after out has changed. */
static char *resume(struct encoder *e)
{
    e->limit = e->out->data + e->out->cap;
    return e->out->data + e->out->start + e->out->len;
}

static char *grow(struct encoder *e, const char *p, size_t n)
{
    e->out->len = (size_t) (p - (e->out->data + e->out->start));
    int err = acp_buf_reserve(e->out, n);
    return err ? fail(e, err, acp_err_text(err)) : resume(e);
}

static inline char *room(struct encoder *e, char *p, size_t n)
{
    return (size_t) (e->limit - p) >= n ? p : grow(e, p, n);
}

/* Gives the place to the writer, and takes it back. */
static struct acp_json_writer lend(struct encoder *e, const char *p)
{
    e->out->len = (size_t) (p - (e->out->data + e->out->start));
    return (struct acp_json_writer){.out = e->out};
}

static char *take_back(struct encoder *e, const struct acp_json_writer *w)
{
    return w->err ? fail(e, w->err, acp_err_text(w->err)) : resume(e);
}

static inline char *put_char(struct encoder *e, char *p, char c)
{
    p = room(e, p, 1);
    if (!p)
        return NULL;
    *p = c;
    return p + 1;
}

/* A text of the tables from its byte `skip` on, n bytes.  A copy of fixed size is the fastest. */
static inline char *put_ready(struct encoder *e, char *p, unsigned name, size_t skip, size_t n)
{
    enum { BLIND = ACP_TEXT_READABLE - 2 };
    p = room(e, p, n + BLIND);
    if (!p)
        return NULL;
    const char *text = acp_text_bytes + acp_texts[name].offset + skip;
    if (n <= BLIND)
        memcpy(p, text, BLIND);
    else
        memcpy(p, text, n);
    return p + n;
}

/* The first key of an object takes no comma. */
static inline char *put_key(struct encoder *e, char *p, unsigned name)
{
    size_t skip = p[-1] == '{' ? 1 : 0;
    return put_ready(e, p, name, skip, acp_texts[name].len + 4u - skip);
}

/* A text of the tables as a string; it stands there in quotes. */
static inline char *put_text(struct encoder *e, char *p, unsigned name)
{
    return put_ready(e, p, name, 1, acp_texts[name].len + 2u);
}

static char *put_careful(struct encoder *e, const char *p, struct acp_str text)
{
    struct acp_json_writer w = lend(e, p);
    acp_json_write_str(&w, text);
    return take_back(e, &w);
}

static inline char *put_str(struct encoder *e, char *p, struct acp_str text)
{
    p = room(e, p, text.len + 2);
    if (!p)
        return NULL;
    *p = '"';
    if (text.len > 0 && !acp_write_copy_plain(p + 1, text.ptr, text.len))
        return put_careful(e, p, text);
    p[text.len + 1] = '"';
    return p + text.len + 2;
}

static char *put_raw(struct encoder *e, char *p, struct acp_raw raw)
{
    struct acp_json_writer w = lend(e, p);
    acp_json_write_raw(&w, raw);
    return take_back(e, &w);
}

static char *put_null(struct encoder *e, char *p)
{
    return put_raw(e, p, acp_raw_from("null"));
}

/* A key that is not in the tables. */
static char *put_own_key(struct encoder *e, char *p, struct acp_str key)
{
    bool first = p[-1] == '{';
    if (!first)
        p = put_char(e, p, ',');
    if (p)
        p = put_str(e, p, key);
    return p ? put_char(e, p, ':') : NULL;
}

/* ---- One value ------------------------------------------------------------------------------- */

static char *encode_enum(struct encoder *e, char *p, const struct acp_field *f, const char *src)
{
    const struct acp_type *type = acp_type_of(f);
    struct acp_any_enum value;
    memcpy(&value, src, sizeof(value));
    const struct acp_enumerator *listed = acp_enumerator_by_id(type, value.is, e->profile);
    if (listed)
        return put_text(e, p, listed->name);
    if (value.is == ACP_IS_ABSENT)
        return missing(e);
    if (value.is != ACP_IS_UNLISTED || !(type->open & e->profile))
        return not_in_version(e);
    return value.text.ptr ? put_str(e, p, value.text) : missing(e);
}

/* Raw text may come from the program, and a message must stay JSON. */
static char *encode_raw(struct encoder *e, char *p, const struct acp_field *f, const char *src)
{
    struct acp_raw raw;
    memcpy(&raw, src, sizeof(raw));
    if (!raw.ptr)
        return missing(e);
    int err = acp_json_validate(raw, 0, NULL);
    if (err)
        return fail(e, err, acp_err_text(err));
    struct acp_json_reader r;
    acp_json_reader_init(&r, raw, NULL, 0);
    enum acp_json_type type = acp_json_peek(&r);
    bool null_allowed = f->flags & ACP_FIELD_NULLABLE;
    if (f->kind == ACP_KIND_OBJECT && type != ACP_JSON_OBJECT &&
        !(null_allowed && type == ACP_JSON_NULL))
        return fail(e, ACP_ERR_TYPE, "must be an object");
    return put_raw(e, p, raw);
}

static char *encode_number(struct encoder *e, char *p, const struct acp_field *f, const char *src)
{
    struct acp_json_writer w = lend(e, p);
    int64_t i;
    uint64_t u;
    double x;
    if (f->kind == ACP_KIND_I64) {
        memcpy(&i, src, sizeof(i));
        if (!acp_in_bounds(f, (double) i))
            return out_of_range(e);
        acp_json_write_i64(&w, i);
    } else if (f->kind == ACP_KIND_U64) {
        memcpy(&u, src, sizeof(u));
        if (!acp_in_bounds(f, (double) u))
            return out_of_range(e);
        acp_json_write_u64(&w, u);
    } else {
        memcpy(&x, src, sizeof(x));
        if (!acp_in_bounds(f, x))
            return out_of_range(e);
        acp_json_write_f64(&w, x);
        if (w.err == ACP_ERR_RANGE)
            return out_of_range(e);
    }
    return take_back(e, &w);
}

static char *encode_bool(struct encoder *e, char *p, const char *src)
{
    bool truth;
    memcpy(&truth, src, sizeof(truth));
    return put_raw(e, p, acp_raw_from(truth ? "true" : "false"));
}

static char *encode_str(struct encoder *e, char *p, const struct acp_field *f, const char *src)
{
    struct acp_str text;
    memcpy(&text, src, sizeof(text));
    if (!acp_is_set(text.ptr))
        return missing(e);
    if (f->bounds && !acp_in_bounds(f, (double) text.len))
        return out_of_range(e);
    return put_str(e, p, text);
}

static char *encode_value(struct encoder *e, char *p, const struct acp_field *f, const char *src)
{
    switch ((enum acp_kind) f->kind) {
    case ACP_KIND_STR:
        return encode_str(e, p, f, src);
    case ACP_KIND_TYPE:
        return encode_type(e, p, acp_type_of(f), src);
    case ACP_KIND_ENUM:
        return encode_enum(e, p, f, src);
    case ACP_KIND_BOOL:
        return encode_bool(e, p, src);
    case ACP_KIND_I64:
    case ACP_KIND_U64:
    case ACP_KIND_F64:
        return encode_number(e, p, f, src);
    case ACP_KIND_ANY:
    case ACP_KIND_OBJECT:
        return encode_raw(e, p, f, src);
    case ACP_KIND_NONE:
    case ACP_KIND_NULL:
        break;
    }
    return put_null(e, p);
}

/* An item of a list, or an entry of a map. */
static char *encode_element(struct encoder *e, char *p, const struct acp_field *f, const char *item,
                            size_t index)
{
    if (f->shape == ACP_SHAPE_MAP) {
        struct acp_str key;
        memcpy(&key, item, sizeof(key));
        p = put_own_key(e, p, key);
        if (p)
            p = encode_value(e, p, f, item + ACP_ENTRY_VALUE);
        if (!p)
            acp_failure_in_key(e->failure, key);
        return p;
    }
    if (index > 0)
        p = put_char(e, p, ',');
    if (p)
        p = encode_value(e, p, f, item);
    if (!p)
        acp_failure_in_item(e->failure, index);
    return p;
}

static char *encode_container(struct encoder *e, char *p, const struct acp_field *f,
                              const char *src)
{
    bool map = f->shape == ACP_SHAPE_MAP;
    struct acp_any_list list;
    memcpy(&list, src, sizeof(list));
    if (list.count < f->least)
        return fail(e, ACP_ERR_RANGE, "has too few items");
    size_t size = acp_value_size(f) + (map ? ACP_ENTRY_VALUE : 0);
    const char *item = list.items;
    p = put_char(e, p, map ? '{' : '[');
    for (size_t i = 0; p && i < list.count; i++, item += size)
        p = encode_element(e, p, f, item, i);
    return p ? put_char(e, p, map ? '}' : ']') : NULL;
}

/* ---- One field ------------------------------------------------------------------------------- */

/* Whether the struct says anything for the field. */
static enum acp_presence presence(const struct acp_field *f, const char *src)
{
    if (f->flags & ACP_FIELD_POINTER) {
        const void *ptr;
        memcpy(&ptr, src, sizeof(ptr));
        return !ptr ? ACP_ABSENT : acp_is_null(ptr) ? ACP_NULL : ACP_PRESENT;
    }
    if (f->flags & ACP_FIELD_OPTIONAL) {
        enum acp_presence has;
        memcpy(&has, src, sizeof(has));
        return has;
    }
    if (f->kind == ACP_KIND_ENUM) {
        int is = acp_is_of(src);
        return is == ACP_IS_ABSENT ? ACP_ABSENT : is == ACP_IS_NULL ? ACP_NULL : ACP_PRESENT;
    }
    if (f->kind == ACP_KIND_BOOL && !(f->flags & ACP_FIELD_REQUIRED)) {
        /* Its default is false. */
        bool truth;
        memcpy(&truth, src, sizeof(truth));
        return truth ? ACP_PRESENT : ACP_ABSENT;
    }
    return ACP_PRESENT;
}

static char *encode_present(struct encoder *e, char *p, const struct acp_field *f, const char *src)
{
    if (f->shape != ACP_SHAPE_ONE)
        return encode_container(e, p, f, src);
    if (f->flags & ACP_FIELD_BY_POINTER)
        memcpy(&src, src, sizeof(void *));
    else if (f->flags & ACP_FIELD_OPTIONAL)
        src += f->kind == ACP_KIND_BOOL ? offsetof(struct acp_opt_bool, value)
                                        : offsetof(struct acp_opt_i64, value);
    return encode_value(e, p, f, src);
}

static char *encode_any_field(struct encoder *e, char *p, const struct acp_field *f,
                              const char *src)
{
    enum acp_presence has = presence(f, src);
    if (has == ACP_NULL && !(f->flags & ACP_FIELD_NULLABLE))
        has = ACP_ABSENT;
    if (has == ACP_ABSENT) {
        if (!(f->flags & ACP_FIELD_REQUIRED))
            return p;
        /* A list that is required and was not set is an empty one. */
        if (f->shape != ACP_SHAPE_ONE)
            has = ACP_PRESENT;
    }
    if (has == ACP_ABSENT) {
        p = missing(e);
    } else {
        p = put_key(e, p, f->name);
        if (p)
            p = has == ACP_NULL ? put_null(e, p) : encode_present(e, p, f, src);
    }
    if (!p)
        acp_failure_in_key(e->failure, acp_text_at(f->name));
    return p;
}

/* The commonest fields go the short way: texts that are there, and structs in structs. */
static inline char *encode_field(struct encoder *e, char *p, const struct acp_field *f,
                                 const char *src)
{
    if (f->shape == ACP_SHAPE_ONE && f->kind == ACP_KIND_STR && !f->bounds) {
        struct acp_str text;
        memcpy(&text, src, sizeof(text));
        if (acp_is_set(text.ptr)) {
            p = put_key(e, p, f->name);
            return p ? put_str(e, p, text) : NULL;
        }
    } else if (f->shape == ACP_SHAPE_ONE && f->kind == ACP_KIND_TYPE &&
               !(f->flags & ACP_FIELD_BY_POINTER)) {
        p = put_key(e, p, f->name);
        if (p)
            p = encode_type(e, p, acp_type_of(f), src);
        if (!p)
            acp_failure_in_key(e->failure, acp_text_at(f->name));
        return p;
    }
    return encode_any_field(e, p, f, src);
}

/* Most fields of most messages are absent: says so at a glance. */
static inline bool plainly_absent(const struct acp_field *f, const char *src)
{
    const void *ptr;
    if ((f->flags & (ACP_FIELD_POINTER | ACP_FIELD_REQUIRED)) != ACP_FIELD_POINTER)
        return false;
    memcpy(&ptr, src, sizeof(ptr));
    return !ptr;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static bool is_layer(const struct acp_field *f)
{
    return f->kind == ACP_KIND_TYPE && f->shape == ACP_SHAPE_ONE;
}

/* The variant that a union or choice says it is; NULL when it says nothing and need not. */
static inline const struct acp_variant *variant_of(struct encoder *e, const struct acp_type *type,
                                                   const char *value)
{
    int is = acp_is_of(value);
    const struct acp_variant *v = acp_variant_by_id(type, is, e->profile);
    if (v || (is == ACP_IS_ABSENT && type->tag_optional))
        return v;
    (void) (is == ACP_IS_ABSENT ? missing(e) : not_in_version(e));
    if (type->form == ACP_FORM_UNION)
        acp_failure_in_key(e->failure, acp_text_at(type->key));
    return NULL;
}

static char *encode_variant(struct encoder *e, char *p, const struct acp_type *type,
                            const char *value)
{
    const struct acp_variant *v = variant_of(e, type, value);
    if (!v)
        return e->err ? NULL : p;
    if (v->id == ACP_IS_UNLISTED) {
        memcpy(&e->unlisted, value + type->raw, sizeof(e->unlisted));
        return e->unlisted.ptr ? NULL : fail(e, ACP_ERR_MISSING, "needs its raw text");
    }
    if (type->form == ACP_FORM_UNION && !(v->value.flags & ACP_FIELD_UNTAGGED)) {
        p = put_key(e, p, type->key);
        if (p)
            p = put_text(e, p, v->value.name);
    }
    if (!p || !is_layer(&v->value))
        return p;
    return encode_members(e, p, acp_type_of(&v->value), value + v->value.offset);
}

static char *encode_unknown(struct encoder *e, char *p, const struct acp_type *type,
                            const char *value)
{
    const struct acp_unknown *u;
    memcpy(&u, value + type->unknown, sizeof(void *));
    for (; p && u; u = u->next) {
        p = put_own_key(e, p, u->key);
        if (p)
            p = put_raw(e, p, u->value);
    }
    return p;
}

/* Tags go first: a reader that sees them first need not look ahead. */
static char *encode_members(struct encoder *e, char *p, const struct acp_type *type,
                            const char *value)
{
    if (type->form != ACP_FORM_STRUCT)
        p = encode_variant(e, p, type, value);
    const struct acp_field *f = &acp_fields[type->first_field];
    const struct acp_field *end = f + type->field_count;
    for (; p && f < end; f++)
        if ((f->profiles & e->profile) && !plainly_absent(f, value + f->offset))
            p = encode_field(e, p, f, value + f->offset);
    if (p && e->keep_unknown && type->unknown != ACP_NO_OFFSET)
        p = encode_unknown(e, p, type, value);
    return p;
}

/* A value with an unlisted variant anywhere in its layers is written as it came. */
static char *encode_unlisted(struct encoder *e, size_t at)
{
    struct acp_raw raw = e->unlisted;
    e->unlisted = (struct acp_raw){NULL, 0};
    int err = acp_json_validate(raw, 0, NULL);
    if (err)
        return fail(e, err, acp_err_text(err));
    return put_raw(e, e->out->data + at, raw);
}

static char *encode_type(struct encoder *e, char *p, const struct acp_type *type, const char *value)
{
    if (type->form == ACP_FORM_CHOICE) {
        const struct acp_variant *v = variant_of(e, type, value);
        if (!v)
            return NULL;
        if (!is_layer(&v->value))
            return encode_present(e, p, &v->value, value + v->value.offset);
    }
    size_t at = (size_t) (p - e->out->data);
    p = put_char(e, p, '{');
    if (p)
        p = encode_members(e, p, type, value);
    if (!p)
        return e->unlisted.ptr ? encode_unlisted(e, at) : NULL;
    return put_char(e, p, '}');
}

int acp_encode(acp_type_id type, unsigned mode, const void *value, struct acp_json_writer *w,
               struct acp_failure *failure)
{
    if (w->err)
        return acp_failure_set(failure, w->err, "%s", acp_err_text(w->err));
    struct encoder e = {
        .out = w->out,
        .failure = failure,
        .profile = acp_profile_of(mode),
        .keep_unknown = mode & ACP_KEEP_UNKNOWN,
    };
    enum { TYPICAL = 256 };
    size_t had = w->out->len;
    char *p = NULL;
    if (type < 0 || type >= acp_type_count || !(acp_types[type].profiles & e.profile) ||
        acp_types[type].form == ACP_FORM_ENUM)
        (void) fail(&e, ACP_ERR_ARGUMENT, "no such type in this version");
    else if ((e.err = acp_buf_reserve(w->out, TYPICAL)))
        (void) fail(&e, e.err, acp_err_text(e.err));
    else
        p = resume(&e);
    if (p && w->comma)
        p = put_char(&e, p, ',');
    if (p)
        p = encode_type(&e, p, &acp_types[type], value);
    w->err = e.err;
    w->out->len = p ? (size_t) (p - (w->out->data + w->out->start)) : had;
    w->comma = true;
    return e.err;
}

int acp_encode_text(acp_type_id type, unsigned mode, const void *value, struct acp_buf *out,
                    struct acp_failure *failure)
{
    struct acp_json_writer w;
    size_t had = out->len;
    acp_json_writer_init(&w, out);
    int err = acp_encode(type, mode, value, &w, failure);
    if (err)
        acp_buf_truncate(out, had);
    return err;
}
