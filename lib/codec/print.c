/*
 * Printing for people: the walk of encode.c with one field a line.  Texts that a peer sent go to a
 * terminal here, so control characters are shown, never passed on.
 */
#include "codec/walk.h"

struct printer {
    struct acp_buf *out;
    uint8_t profile;
    int indent;
    int err; /* the first failure; what follows is left out */
};

static void print_type(struct printer *p, const struct acp_type *type, const char *value);
static void print_members(struct printer *p, const struct acp_type *type, const char *value);

static void put(struct printer *p, struct acp_str text)
{
    if (!p->err)
        p->err = acp_buf_append_str(p->out, text);
}

static void put_text(struct printer *p, const char *text)
{
    put(p, acp_str_from(text));
}

static void new_line(struct printer *p)
{
    if (!p->err)
        p->err = acp_buf_printf(p->out, "\n%*s", p->indent * 2, "");
}

/*
 * DEL and the C1 controls (C2 80 to C2 9F) are legal in JSON but move a terminal's cursor, and so
 * do line ends between the tokens of raw JSON.
 */
static void disarm(struct acp_buf *out, size_t from)
{
    unsigned char *bytes = (unsigned char *) out->data + out->start;
    for (size_t i = from; i < out->len; i++) {
        if (bytes[i] < 0x20)
            bytes[i] = ' ';
        else if (bytes[i] == 0x7F)
            bytes[i] = '?';
        else if (bytes[i] == 0xC2 && i + 1 < out->len && bytes[i + 1] < 0xA0)
            memcpy(bytes + i, "??", 2);
    }
}

/* In quotes, with escapes as in JSON: the writer makes them. */
static void put_quoted(struct printer *p, struct acp_str text)
{
    if (p->err)
        return;
    struct acp_json_writer w;
    size_t from = p->out->len;
    acp_json_writer_init(&w, p->out);
    acp_json_write_str(&w, text);
    p->err = w.err;
    disarm(p->out, from);
}

static void put_raw(struct printer *p, struct acp_raw raw)
{
    size_t from = p->out->len;
    put(p, acp_str_n(raw.ptr, raw.len));
    disarm(p->out, from);
}

static void print_enum(struct printer *p, const struct acp_field *f, const char *value)
{
    struct acp_any_enum e;
    memcpy(&e, value, sizeof(e));
    const struct acp_enumerator *listed = acp_enumerator_by_id(acp_type_of(f), e.is, p->profile);
    if (listed)
        put(p, acp_text_at(listed->name));
    else
        put_quoted(p, e.text);
}

static void print_number(struct printer *p, const struct acp_field *f, const char *value)
{
    int64_t i;
    uint64_t u;
    double x;
    struct acp_json_writer w;
    if (p->err)
        return;
    acp_json_writer_init(&w, p->out);
    if (f->kind == ACP_KIND_I64) {
        memcpy(&i, value, sizeof(i));
        acp_json_write_i64(&w, i);
    } else if (f->kind == ACP_KIND_U64) {
        memcpy(&u, value, sizeof(u));
        acp_json_write_u64(&w, u);
    } else {
        memcpy(&x, value, sizeof(x));
        acp_json_write_f64(&w, x);
    }
    p->err = w.err;
}

static void print_value(struct printer *p, const struct acp_field *f, const char *value)
{
    struct acp_str text;
    struct acp_raw raw;
    bool truth;
    switch ((enum acp_kind) f->kind) {
    case ACP_KIND_STR:
        memcpy(&text, value, sizeof(text));
        put_quoted(p, text);
        break;
    case ACP_KIND_BOOL:
        memcpy(&truth, value, sizeof(truth));
        put_text(p, truth ? "true" : "false");
        break;
    case ACP_KIND_I64:
    case ACP_KIND_U64:
    case ACP_KIND_F64:
        print_number(p, f, value);
        break;
    case ACP_KIND_ANY:
    case ACP_KIND_OBJECT:
        memcpy(&raw, value, sizeof(raw));
        put_raw(p, raw);
        break;
    case ACP_KIND_ENUM:
        print_enum(p, f, value);
        break;
    case ACP_KIND_TYPE:
        print_type(p, acp_type_of(f), value);
        break;
    case ACP_KIND_NONE:
    case ACP_KIND_NULL:
        put_text(p, "null");
        break;
    }
}

static void print_container(struct printer *p, const struct acp_field *f, const char *value)
{
    bool map = f->shape == ACP_SHAPE_MAP;
    struct acp_any_list list;
    memcpy(&list, value, sizeof(list));
    size_t size = acp_value_size(f) + (map ? ACP_ENTRY_VALUE : 0);
    const char *item = list.items;
    if (list.count == 0)
        put_text(p, "none");
    p->indent++;
    for (size_t i = 0; i < list.count && !p->err; i++, item += size) {
        new_line(p);
        if (map) {
            struct acp_str key;
            memcpy(&key, item, sizeof(key));
            put_quoted(p, key);
            put_text(p, ": ");
        } else {
            put_text(p, f->kind == ACP_KIND_TYPE && acp_type_of(f)->form == ACP_FORM_STRUCT ? "-"
                                                                                            : "- ");
        }
        print_value(p, f, item + (map ? ACP_ENTRY_VALUE : 0));
    }
    p->indent--;
}

static bool is_there(const struct acp_field *f, const char *value)
{
    if (f->shape == ACP_SHAPE_ONE && (f->flags & ACP_FIELD_OPTIONAL)) {
        enum acp_presence has;
        memcpy(&has, value, sizeof(has));
        return has == ACP_PRESENT;
    }
    if (f->shape == ACP_SHAPE_ONE && f->kind == ACP_KIND_ENUM)
        return acp_is_of(value) != ACP_IS_ABSENT && acp_is_of(value) != ACP_IS_NULL;
    bool pointer = f->shape != ACP_SHAPE_ONE || (f->flags & ACP_FIELD_BY_POINTER) ||
                   f->kind == ACP_KIND_STR || f->kind == ACP_KIND_ANY || f->kind == ACP_KIND_OBJECT;
    const void *ptr;
    if (!pointer)
        return true;
    memcpy(&ptr, value, sizeof(ptr));
    return acp_is_set(ptr);
}

/* Whether everything of the value stands on the lines after its name. */
static bool goes_below(const struct acp_field *f, const char *value)
{
    if (f->shape == ACP_SHAPE_ONE)
        return f->kind == ACP_KIND_TYPE && acp_type_of(f)->form == ACP_FORM_STRUCT;
    struct acp_any_list list;
    memcpy(&list, value, sizeof(list));
    return list.count > 0;
}

static void print_field(struct printer *p, const struct acp_field *f, const char *value)
{
    if (!is_there(f, value))
        return;
    new_line(p);
    put(p, acp_text_at(f->name));
    put_text(p, goes_below(f, value) ? ":" : ": ");
    if (f->shape != ACP_SHAPE_ONE) {
        print_container(p, f, value);
        return;
    }
    if (f->flags & ACP_FIELD_BY_POINTER)
        memcpy(&value, value, sizeof(void *));
    else if (f->flags & ACP_FIELD_OPTIONAL)
        value += f->kind == ACP_KIND_BOOL ? offsetof(struct acp_opt_bool, value)
                                          : offsetof(struct acp_opt_i64, value);
    print_value(p, f, value);
}

/* The chosen variant: its name on the line, its fields below. */
static void print_variant(struct printer *p, const struct acp_type *type, const char *value)
{
    const struct acp_variant *v = acp_variant_by_id(type, acp_is_of(value), p->profile);
    if (!v)
        return;
    if (v->id == ACP_IS_UNLISTED) {
        struct acp_raw raw;
        memcpy(&raw, value + type->raw, sizeof(raw));
        put_raw(p, raw);
        return;
    }
    bool layer = v->value.kind == ACP_KIND_TYPE && v->value.shape == ACP_SHAPE_ONE;
    if (type->form == ACP_FORM_UNION)
        put(p, acp_text_at(v->value.name));
    if (layer) {
        if (type->form == ACP_FORM_UNION && acp_type_of(&v->value)->form == ACP_FORM_UNION)
            put_text(p, " ");
        print_members(p, acp_type_of(&v->value), value + v->value.offset);
    } else if (v->value.shape != ACP_SHAPE_ONE) {
        print_container(p, &v->value, value + v->value.offset);
    } else if (v->value.kind != ACP_KIND_NONE) {
        print_value(p, &v->value, value + v->value.offset);
    }
}

static void print_members(struct printer *p, const struct acp_type *type, const char *value)
{
    if (type->form != ACP_FORM_STRUCT)
        print_variant(p, type, value);
    const struct acp_field *f = &acp_fields[type->first_field];
    for (unsigned n = 0; n < type->field_count && !p->err; n++, f++)
        if (f->profiles & p->profile)
            print_field(p, f, value + f->offset);
}

static void print_type(struct printer *p, const struct acp_type *type, const char *value)
{
    p->indent++;
    print_members(p, type, value);
    p->indent--;
}

int acp_print(acp_type_id type, unsigned mode, const void *value, struct acp_buf *out)
{
    uint8_t profile = acp_profile_of(mode);
    if (type < 0 || type >= acp_type_count || !(acp_types[type].profiles & profile))
        return ACP_ERR_ARGUMENT;
    struct printer p = {.out = out, .profile = profile};
    put(&p, acp_text_at(acp_types[type].name));
    if (acp_types[type].form != ACP_FORM_STRUCT)
        put_text(&p, " ");
    print_type(&p, &acp_types[type], value);
    put_text(&p, "\n");
    return p.err;
}
