/* members.h - writing a member of a JSON object, and finding one, in one call. */
#ifndef LIB_JSON_MEMBERS_H
#define LIB_JSON_MEMBERS_H

#include "acp/json.h"

/* ---- Writing --------------------------------------------------------------------------------- */

static inline void acp_json_put_str(struct acp_json_writer *w, const char *key, struct acp_str text)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_str(w, text);
}

/* NULL is written as null. */
static inline void acp_json_put_text(struct acp_json_writer *w, const char *key, const char *text)
{
    acp_json_write_key(w, acp_str_from(key));
    if (text)
        acp_json_write_str(w, acp_str_from(text));
    else
        acp_json_write_null(w);
}

static inline void acp_json_put_raw(struct acp_json_writer *w, const char *key, struct acp_raw json)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_raw(w, json);
}

static inline void acp_json_put_i64(struct acp_json_writer *w, const char *key, int64_t number)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_i64(w, number);
}

static inline void acp_json_put_u64(struct acp_json_writer *w, const char *key, uint64_t number)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_u64(w, number);
}

static inline void acp_json_put_bool(struct acp_json_writer *w, const char *key, bool value)
{
    acp_json_write_key(w, acp_str_from(key));
    acp_json_write_bool(w, value);
}

/* ---- Finding --------------------------------------------------------------------------------- */

/*
 * Sets *ret to a reader at the value of a member; if the key occurs more than once, at the last
 * one.  Returns false if the member is absent, or the text is not an object.  To get several
 * members, read the object once instead.
 */
static inline bool acp_json_find(struct acp_raw object, const char *key, struct acp_arena *arena,
                                 struct acp_json_reader *ret)
{
    struct acp_json_reader r;
    struct acp_str found;
    bool is_there = false;
    acp_json_reader_init(&r, object, arena, 0);
    if (acp_json_enter_object(&r))
        return false;
    while (acp_json_next_key(&r, &found) > 0) {
        if (acp_str_is(found, key)) {
            *ret = r;
            is_there = true;
        }
        if (acp_json_skip(&r))
            break;
    }
    return is_there;
}

/* These leave *ret as it is and return false if the member is absent or has another type. */
static inline bool acp_json_find_str(struct acp_raw object, const char *key,
                                     struct acp_arena *arena, struct acp_str *ret)
{
    struct acp_json_reader r;
    return acp_json_find(object, key, arena, &r) && acp_json_read_str(&r, ret) == 0;
}

static inline bool acp_json_find_u64(struct acp_raw object, const char *key,
                                     struct acp_arena *arena, uint64_t *ret)
{
    struct acp_json_reader r;
    return acp_json_find(object, key, arena, &r) && acp_json_read_u64(&r, ret) == 0;
}

static inline bool acp_json_find_bool(struct acp_raw object, const char *key,
                                      struct acp_arena *arena, bool *ret)
{
    struct acp_json_reader r;
    return acp_json_find(object, key, arena, &r) && acp_json_read_bool(&r, ret) == 0;
}

#endif
