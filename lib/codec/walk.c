/* What decode, encode and print share: how values lie in their structs, and look-ups in tables. */
#include "codec/walk.h"

#include <stdarg.h>
#include <stdio.h>

size_t acp_value_size(const struct acp_field *f)
{
    switch ((enum acp_kind) f->kind) {
    case ACP_KIND_STR:
        return sizeof(struct acp_str);
    case ACP_KIND_BOOL:
        return sizeof(bool);
    case ACP_KIND_I64:
    case ACP_KIND_U64:
        return sizeof(int64_t);
    case ACP_KIND_F64:
        return sizeof(double);
    case ACP_KIND_ANY:
    case ACP_KIND_OBJECT:
        return sizeof(struct acp_raw);
    case ACP_KIND_ENUM:
        return sizeof(struct acp_any_enum);
    case ACP_KIND_TYPE:
        return acp_type_of(f)->size;
    case ACP_KIND_NONE:
    case ACP_KIND_NULL:
        break;
    }
    return 0;
}

size_t acp_storage_size(const struct acp_field *f)
{
    if (f->shape != ACP_SHAPE_ONE)
        return sizeof(struct acp_any_list);
    if (f->flags & ACP_FIELD_BY_POINTER)
        return sizeof(void *);
    if (f->flags & ACP_FIELD_OPTIONAL)
        return f->kind == ACP_KIND_BOOL ? sizeof(struct acp_opt_bool) : sizeof(struct acp_opt_i64);
    return acp_value_size(f);
}

const struct acp_variant *acp_variant_by_tag(const struct acp_type *type, struct acp_str tag,
                                             uint8_t profile)
{
    const struct acp_variant *v = &acp_variants[type->first_variant];
    for (const struct acp_variant *end = v + type->variant_count; v < end; v++)
        if ((v->value.profiles & profile) &&
            !(v->value.flags & (ACP_FIELD_UNTAGGED | ACP_FIELD_FALLBACK)) &&
            acp_str_eq(acp_text_at(v->value.name), tag))
            return v;
    return NULL;
}

const struct acp_variant *acp_variant_by_flag(const struct acp_type *type, unsigned flag,
                                              uint8_t profile)
{
    const struct acp_variant *v = &acp_variants[type->first_variant];
    for (const struct acp_variant *end = v + type->variant_count; v < end; v++)
        if ((v->value.profiles & profile) && (v->value.flags & flag))
            return v;
    return NULL;
}

const struct acp_variant *acp_variant_search_id(const struct acp_type *type, int id,
                                                uint8_t profile)
{
    const struct acp_variant *v = &acp_variants[type->first_variant];
    for (const struct acp_variant *end = v + type->variant_count; v < end; v++)
        if (v->id == id && (v->value.profiles & profile))
            return v;
    return NULL;
}

const struct acp_enumerator *acp_enumerator_by_text(const struct acp_type *type,
                                                    struct acp_str text, uint8_t profile)
{
    const struct acp_enumerator *e = &acp_enumerators[type->first_variant];
    for (const struct acp_enumerator *end = e + type->variant_count; e < end; e++)
        if ((e->profiles & profile) && acp_str_eq(acp_text_at(e->name), text))
            return e;
    return NULL;
}

const struct acp_enumerator *acp_enumerator_by_id(const struct acp_type *type, int id,
                                                  uint8_t profile)
{
    const struct acp_enumerator *e = &acp_enumerators[type->first_variant];
    /* Mostly it is where it would be if numbers were positions. */
    if (id > 0 && id <= type->variant_count && e[id - 1].id == id)
        return e[id - 1].profiles & profile ? &e[id - 1] : NULL;
    for (const struct acp_enumerator *end = e + type->variant_count; e < end; e++)
        if (e->id == id && (e->profiles & profile))
            return e;
    return NULL;
}

bool acp_in_bounds(const struct acp_field *f, double value)
{
    const struct acp_bounds *b = &acp_bounds_table[f->bounds];
    return !(b->has_low && value < b->low) && !(b->has_high && value > b->high);
}

int acp_failure_set(struct acp_failure *failure, int err, const char *format, ...)
{
    if (!failure)
        return err;
    va_list args;
    va_start(args, format);
    failure->err = err;
    failure->offset = 0;
    failure->path[0] = '\0';
    (void) vsnprintf(failure->message, sizeof(failure->message), format, args);
    va_end(args);
    return err;
}

/* A path that grows too long loses its end, since its beginning says where to look. */
static void prepend(struct acp_failure *failure, const char *text, size_t len, bool dot)
{
    char *path = failure->path;
    size_t room = sizeof(failure->path) - 1;
    size_t had = strlen(path);
    dot = dot && had && path[0] != '[';
    if (len > room)
        len = room;
    size_t shift = len + (dot ? 1 : 0);
    if (shift > room)
        shift = room;
    size_t keep = had < room - shift ? had : room - shift;
    memmove(path + shift, path, keep);
    memcpy(path, text, len);
    if (dot && len < room)
        path[len] = '.';
    path[shift + keep] = '\0';
}

void acp_failure_in_key(struct acp_failure *failure, struct acp_str key)
{
    if (failure)
        prepend(failure, key.ptr, key.len, true);
}

void acp_failure_in_item(struct acp_failure *failure, size_t index)
{
    if (!failure)
        return;
    char text[32];
    int n = snprintf(text, sizeof(text), "[%zu]", index);
    prepend(failure, text, (size_t) n, true);
}
