/* Walking structs by the names of their fields: which capabilities are there. */
#include "acp/gate.h"

#include "acp/walk.h"

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

int acp_check_raw_params(acp_type_id type, const void *params)
{
    const struct acp_raw *raw = params;
    if (type != ACP_TYPE_ANY)
        return params ? 0 : ACP_ERR_ARGUMENT;
    if (!raw)
        return 0;
    if (!raw->ptr || !raw->len || *raw->ptr != '{')
        return ACP_ERR_ARGUMENT;
    return acp_json_validate(*raw, 0, NULL) ? ACP_ERR_ARGUMENT : 0;
}

/* Type ids are small numbers; one more, so that none is NULL. */
void acp_note_result_type(struct acp_peer *peer, acp_call call, acp_type_id type)
{
    acp_peer_call_set_user(peer, call, (void *) (uintptr_t) ((unsigned) type + 1u));
}

int acp_check_answer(const struct acp_peer *peer, acp_call call, acp_type_id type,
                     const void *value)
{
    uintptr_t noted = (uintptr_t) acp_peer_call_user(peer, call);
    if (!value || (noted && noted != (uintptr_t) ((unsigned) type + 1u)))
        return ACP_ERR_ARGUMENT;
    if (type != ACP_TYPE_ANY)
        return 0;
    const struct acp_raw *raw = value;
    return raw->ptr && !acp_json_validate(*raw, 0, NULL) ? 0 : ACP_ERR_ARGUMENT;
}

void acp_write_value(acp_type_id type, unsigned mode, const void *value, struct acp_json_writer *w)
{
    if (type == ACP_TYPE_ANY)
        acp_json_write_raw(w, value ? *(const struct acp_raw *) value : acp_raw_from("{}"));
    else
        (void) acp_encode(type, mode, value, w, NULL);
}
