/* members.c - single members of a JSON object, by name. */
#include "json/members.h"

bool acp_json_find_member(struct acp_raw object, const char *name, struct acp_arena *arena,
                          struct acp_json_reader *r)
{
    struct acp_str key;
    acp_json_reader_init(r, object, arena, 0);
    if (!object.ptr || acp_json_enter_object(r))
        return false;
    while (acp_json_next_key(r, &key) > 0) {
        if (acp_str_is(key, name))
            return true;
        if (acp_json_skip(r))
            return false;
    }
    return false;
}

int acp_json_member_str(struct acp_raw object, const char *name, struct acp_arena *arena,
                        struct acp_str *ret)
{
    struct acp_json_reader r;
    return acp_json_find_member(object, name, arena, &r) ? acp_json_read_str(&r, ret) : 0;
}

int acp_json_member_raw(struct acp_raw object, const char *name, struct acp_raw *ret)
{
    struct acp_json_reader r;
    return acp_json_find_member(object, name, NULL, &r) ? acp_json_read_raw(&r, ret) : 0;
}

int acp_json_member_u64(struct acp_raw object, const char *name, uint64_t *ret)
{
    struct acp_json_reader r;
    return acp_json_find_member(object, name, NULL, &r) ? acp_json_read_u64(&r, ret) : 0;
}

int acp_json_member_i64(struct acp_raw object, const char *name, int64_t *ret)
{
    struct acp_json_reader r;
    return acp_json_find_member(object, name, NULL, &r) ? acp_json_read_i64(&r, ret) : 0;
}

int acp_json_member_bool(struct acp_raw object, const char *name, bool *ret)
{
    struct acp_json_reader r;
    return acp_json_find_member(object, name, NULL, &r) ? acp_json_read_bool(&r, ret) : 0;
}
