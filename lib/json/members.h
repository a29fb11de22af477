/* members.h - writing a member of a JSON object in one call. */
#ifndef LIB_JSON_MEMBERS_H
#define LIB_JSON_MEMBERS_H

#include "acp/json.h"

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

/* NULL: the member is left out. */
static inline void acp_json_put_optional(struct acp_json_writer *w, const char *key,
                                         const char *text)
{
    if (text)
        acp_json_put_text(w, key, text);
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

/* ---- Reading --------------------------------------------------------------------------------- */

/*
 * Single members of an object, for small objects of which only a few matter.  The first member of
 * the name counts.  The functions below return 0 and leave *ret as it is if there is no such
 * member, or no object at all, so a default is what *ret was before; otherwise they return what
 * reading the value returned.
 */

/* Places the reader before the value of that name; false if there is none.  arena may be NULL. */
bool acp_json_find_member(struct acp_raw object, const char *name, struct acp_arena *arena,
                          struct acp_json_reader *r);

/* The text is in the object, or in the arena if it has escapes. */
int acp_json_member_str(struct acp_raw object, const char *name, struct acp_arena *arena,
                        struct acp_str *ret);
int acp_json_member_raw(struct acp_raw object, const char *name, struct acp_raw *ret);
int acp_json_member_u64(struct acp_raw object, const char *name, uint64_t *ret);
int acp_json_member_i64(struct acp_raw object, const char *name, int64_t *ret);
int acp_json_member_bool(struct acp_raw object, const char *name, bool *ret);

#endif
