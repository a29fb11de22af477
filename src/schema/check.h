/*
 * check.h - what the files that check a value share: check.c goes through a schema's keywords,
 * check_parts.c through the parts of arrays and objects, complain.c says what is wrong.
 */
#ifndef SRC_SCHEMA_CHECK_H
#define SRC_SCHEMA_CHECK_H

#include "schema/node.h"

/* Where in the value we are, a chain from the inside out on the stack; NULL is the whole value. */
struct schema_place {
    const struct schema_place *parent;
    enum { SCHEMA_AT_ITEM, SCHEMA_AT_MEMBER, SCHEMA_AT_NAME } kind;
    struct acp_str key; /* of the member; the name itself when it is that which is checked */
    size_t index;
};

enum schema_mode {
    SCHEMA_QUIET, /* only the verdict: stop at the first violation */
    SCHEMA_COUNT, /* how bad is it? */
    SCHEMA_TELL,  /* report all violations */
};

struct schema_checker {
    enum schema_mode mode;
    schema_report *report;
    void *user;
    size_t reported;
    size_t weight; /* of the violations, while they are counted */
    uint64_t left; /* work that may still be done */
    unsigned depth;
    int err; /* why there will be no verdict */
    struct schema_regex_scratch scratch;
    struct acp_buf path;
    struct acp_buf message;
};

/*
 * Whether a value fits a schema.  seen has a flag for each member or item of the value, set for
 * those that the schema looks at; NULL when nobody asks.
 */
bool schema_fits(struct schema_checker *c, const struct schema_node *node,
                 const struct schema_value *value, const struct schema_place *place, bool *seen);
/* The same, with no report. */
bool schema_fits_quietly(struct schema_checker *c, const struct schema_node *node,
                         const struct schema_value *value, bool *seen);

/* The schema that all properties or items have to fit that are not marked in seen. */
bool schema_check_unevaluated(struct schema_checker *c, const struct schema_node *node,
                              const struct schema_value *value, const struct schema_place *place,
                              bool *seen);
bool schema_check_array(struct schema_checker *c, const struct schema_node *node,
                        const struct schema_value *value, const struct schema_place *place,
                        bool *seen);
bool schema_check_object(struct schema_checker *c, const struct schema_node *node,
                         const struct schema_value *value, const struct schema_place *place,
                         bool *seen);

/* Takes the cost of a step; false when the work, or something before, is at its end. */
bool schema_spend(struct schema_checker *c, uint64_t work);
/* Whether a text matches. */
bool schema_matches(struct schema_checker *c, const struct schema_regex *regex,
                    struct acp_str text);

/* Whether to look for more when what was checked so far is good or not. */
static inline bool schema_go_on(const struct schema_checker *c, bool good)
{
    return !c->err && (good || c->mode == SCHEMA_COUNT ||
                       (c->mode == SCHEMA_TELL && c->reported < SCHEMA_MAX_REPORTS));
}

/* ---- Complaints: all of them return false, the verdict --------------------------------------- */

/* A wrong constant weighs more: most often another alternative was meant. */
enum { SCHEMA_WEIGHT_PLAIN = 1, SCHEMA_WEIGHT_CONSTANT = 10 };

bool schema_complain(struct schema_checker *c, const struct schema_place *place, const char *format,
                     ...) ACP_PRINTF(3, 4);
/* A limit that is a value of the schema: "expected at least 3, got 2". */
bool schema_complain_limit(struct schema_checker *c, const struct schema_place *place,
                           const char *words, const struct schema_value *limit,
                           const struct schema_value *value);
bool schema_complain_type(struct schema_checker *c, const struct schema_place *place,
                          unsigned types, const struct schema_value *value);
/* Not the constant, or none of the values of a list. */
bool schema_complain_constant(struct schema_checker *c, const struct schema_place *place,
                              const struct schema_value *expected, bool is_list,
                              const struct schema_value *value);
bool schema_complain_missing(struct schema_checker *c, const struct schema_place *place,
                             struct acp_str name, struct acp_str because_of);
/* A property that may not be there; known is the object of those that may, or NULL. */
bool schema_complain_property(struct schema_checker *c, const struct schema_place *place,
                              struct acp_str name, const struct schema_value *known);
bool schema_complain_pattern(struct schema_checker *c, const struct schema_place *place,
                             struct acp_str pattern, const struct schema_value *value);

#endif
