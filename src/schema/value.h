/*
 * value.h - a JSON text as a tree, for code that must look at a value more than once.
 *
 * The tree lives in an arena and points into the text; both must outlive it.  Of members with the
 * same key the last one counts.  Nothing in it is changed after it was read.
 */
#ifndef SRC_SCHEMA_VALUE_H
#define SRC_SCHEMA_VALUE_H

#include "acp/json.h"

struct schema_value {
    enum acp_json_type type;
    bool truth;    /* of a boolean */
    uint64_t hash; /* alike for equal values */
    union {
        struct acp_str text; /* of a string; of a number, as it is written */
        struct {
            const struct schema_value *items;
            size_t count;
        } array;
        struct {
            const struct schema_member *members;       /* in the order of the text */
            const struct schema_member *const *by_key; /* the same, sorted */
            size_t count;
        } object;
    } is;
};

struct schema_member {
    struct acp_str key;
    struct schema_value value;
};

/* Reads one text; the failure's offset tells where it is not JSON. */
int schema_value_read(struct acp_raw json, struct acp_arena *arena, struct schema_value *ret,
                      struct acp_failure *failure);

/* A string value made of a text. */
struct schema_value schema_value_of_text(struct acp_str text);

/* The member of an object, or NULL. */
const struct schema_member *schema_value_find(const struct schema_value *object,
                                              struct acp_str key);

/*
 * Whether two values are the same: numbers by what they are worth, objects in any order.  Adds the
 * number of values that were compared to *work.
 */
bool schema_value_equal(const struct schema_value *a, const struct schema_value *b, uint64_t *work);

/* How many characters (code points) a text has. */
size_t schema_text_length(struct acp_str text);

/* A number without a fraction: 1, 1.0 and 1e3 are. */
bool schema_number_is_integer(const struct schema_value *number);
/* Less than, equal to or greater than 0 as a is to b; exact, whatever their size. */
int schema_number_compare(const struct schema_value *a, const struct schema_value *b);
/* Whether a divisor can be used: more than zero, and no more than 18 digits that matter. */
bool schema_number_can_divide(const struct schema_value *divisor);
/* Whether the number is divisor times an integer; exact for decimals: 0.3 is 3 times 0.1. */
bool schema_number_is_multiple(const struct schema_value *number,
                               const struct schema_value *divisor);

/* Appends the value as JSON on one line, no more than about max bytes of it. */
int schema_value_print(const struct schema_value *value, size_t max, struct acp_buf *out);

/* Appends one name to a JSON pointer, with a slash before it. */
int schema_pointer_append(struct acp_buf *out, struct acp_str name);

#endif
