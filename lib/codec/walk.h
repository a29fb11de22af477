/* walk.h - what decode, encode and print share: how values lie in their structs. */
#ifndef LIB_CODEC_WALK_H
#define LIB_CODEC_WALK_H

#include "base/null.h"
#include "codec/describe.h"

/* Unions nest in one JSON object: session/update > state_update > idle > error is the deepest. */
enum { ACP_MAX_LAYERS = 8 };

/* The common beginning of all generated enums. */
struct acp_any_enum {
    int is;
    struct acp_str text;
};

/* The common form of all generated lists and maps. */
struct acp_any_list {
    const void *items;
    size_t count;
};

static inline const struct acp_type *acp_type_of(const struct acp_field *f)
{
    return &acp_types[f->type];
}

static inline int acp_is_of(const void *value)
{
    int is;
    memcpy(&is, value, sizeof(is));
    return is;
}

/* The size of one value of a field: of an item where it is a list. */
size_t acp_value_size(const struct acp_field *f);
/* The size of what the struct keeps for the field. */
size_t acp_storage_size(const struct acp_field *f);
/* Where the value lies in an entry of a map, behind its key. */
enum { ACP_ENTRY_VALUE = sizeof(struct acp_str) };

/* The variant that a tag (or `is`) stands for in a profile, or NULL. */
const struct acp_variant *acp_variant_by_tag(const struct acp_type *type, struct acp_str tag,
                                             uint8_t profile);
const struct acp_variant *acp_variant_by_flag(const struct acp_type *type, unsigned flag,
                                              uint8_t profile);
const struct acp_variant *acp_variant_search_id(const struct acp_type *type, int id,
                                                uint8_t profile);
const struct acp_enumerator *acp_enumerator_by_text(const struct acp_type *type,
                                                    struct acp_str text, uint8_t profile);
const struct acp_enumerator *acp_enumerator_by_id(const struct acp_type *type, int id,
                                                  uint8_t profile);

/* Numbers are mostly given out in order, so a variant mostly is where it is expected. */
static inline const struct acp_variant *acp_variant_by_id(const struct acp_type *type, int id,
                                                          uint8_t profile)
{
    if (id > 0 && id <= type->variant_count) {
        const struct acp_variant *v = &acp_variants[type->first_variant + id - 1];
        if (v->id == id && (v->value.profiles & profile))
            return v;
    }
    return acp_variant_search_id(type, id, profile);
}

bool acp_in_bounds(const struct acp_field *f, double value);

/* Records what went wrong; failure may be NULL.  Returns err. */
int acp_failure_set(struct acp_failure *failure, int err, const char *format, ...) ACP_PRINTF(3, 4);
/* On the way out: puts a key, or an index, before the path. */
void acp_failure_in_key(struct acp_failure *failure, struct acp_str key);
void acp_failure_in_item(struct acp_failure *failure, size_t index);

#endif
