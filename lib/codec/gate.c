/* Walking structs by the names of their fields: which capabilities are there. */
#include "codec/gate.h"

#include "codec/walk.h"

static const struct acp_field *find(const struct acp_type *type, struct acp_str name,
                                    uint8_t profile)
{
    const struct acp_field *f = &acp_fields[type->first_field];
    for (const struct acp_field *end = f + type->field_count; f < end; f++)
        if ((f->profiles & profile) && acp_str_eq(acp_text_at(f->name), name))
            return f;
    return NULL;
}

const struct acp_field *acp_field_named(acp_type_id type, struct acp_str name, unsigned mode)
{
    return !acp_type_exists(type) ? NULL : find(&acp_types[type], name, acp_profile_of(mode));
}

/* Cuts the first name off a path. */
static struct acp_str take_name(struct acp_str *path)
{
    const char *dot = path->len ? memchr(path->ptr, '.', path->len) : NULL;
    size_t len = dot ? (size_t) (dot - path->ptr) : path->len;
    struct acp_str name = acp_str_n(path->ptr, len);
    size_t gone = dot ? len + 1 : len;
    *path = acp_str_n(path->ptr + gone, path->len - gone);
    return name;
}

bool acp_gate_is_open(acp_type_id type, unsigned mode, const void *value, struct acp_str path)
{
    const struct acp_type *t = &acp_types[type];
    const char *at = value;
    while (path.len > 0) {
        const struct acp_field *f = find(t, take_name(&path), acp_profile_of(mode));
        if (!f || f->shape != ACP_SHAPE_ONE)
            return false;
        at += f->offset;
        if (f->kind == ACP_KIND_BOOL && !(f->flags & ACP_FIELD_OPTIONAL))
            return path.len == 0 && *(const bool *) at;
        if (f->kind != ACP_KIND_TYPE)
            return false;
        if (f->flags & ACP_FIELD_BY_POINTER) {
            const void *pointed;
            memcpy(&pointed, at, sizeof(pointed));
            if (!acp_is_set(pointed))
                return false;
            at = pointed;
        }
        t = acp_type_of(f);
    }
    return true;
}
