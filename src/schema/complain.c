/*
 * complain.c - messages about violations, for people and for a language model that has to correct
 * them: "expected X, got Y".  Values are quoted as JSON and cut, because they are untrusted.
 */
#include <stdarg.h>
#include <stdio.h>

#include "schema/check.h"

enum { QUOTED = 60, LISTED = 300 };

/* ---- Parts of a sentence -------------------------------------------------------------------- */

/* The buffers are bounded; text beyond their maximum is dropped. */
static void put(struct schema_checker *c, const char *text)
{
    (void) acp_buf_append_str(&c->message, acp_str_from(text));
}

static void put_value(struct schema_checker *c, const struct schema_value *value)
{
    (void) schema_value_print(value, QUOTED, &c->message);
}

static void put_text(struct schema_checker *c, struct acp_str text)
{
    struct schema_value value = schema_value_of_text(text);
    put_value(c, &value);
}

/* The kind of a value, such as "a string". */
static const char *kind_of(enum acp_json_type type)
{
    static const char *const kinds[] = {
        [ACP_JSON_NONE] = "nothing",    [ACP_JSON_NULL] = "null",
        [ACP_JSON_BOOL] = "a boolean",  [ACP_JSON_NUMBER] = "a number",
        [ACP_JSON_STRING] = "a string", [ACP_JSON_ARRAY] = "an array",
        [ACP_JSON_OBJECT] = "an object"};
    return kinds[type];
}

static void put_actual(struct schema_checker *c, const struct schema_value *value)
{
    put(c, ", got ");
    if (value->type == ACP_JSON_OBJECT || value->type == ACP_JSON_ARRAY)
        put(c, kind_of(value->type));
    else
        put_value(c, value);
}

/* ---- A report ------------------------------------------------------------------------------- */

/* Counts a violation; true when it should be reported. */
static bool begin(struct schema_checker *c, size_t weight)
{
    if (c->mode == SCHEMA_COUNT)
        c->weight += weight;
    if (c->err || c->mode != SCHEMA_TELL || c->reported >= SCHEMA_MAX_REPORTS)
        return false;
    acp_buf_clear(&c->message);
    return true;
}

/* Recursive, as deep as the value. */
static void put_path(struct schema_checker *c, const struct schema_place *place)
{
    if (!place)
        return;
    put_path(c, place->parent);
    if (place->kind == SCHEMA_AT_ITEM)
        (void) acp_buf_printf(&c->path, "/%zu", place->index);
    else if (place->kind == SCHEMA_AT_MEMBER)
        (void) schema_pointer_append(&c->path, place->key);
}

static bool end(struct schema_checker *c, const struct schema_place *place)
{
    acp_buf_clear(&c->path);
    put_path(c, place);
    c->reported++;
    c->report(acp_buf_view(&c->path), acp_buf_view(&c->message), c->user);
    return false;
}

/* A property name has no path, so the message includes it. */
static bool begin_at(struct schema_checker *c, const struct schema_place *place, size_t weight)
{
    if (!begin(c, weight))
        return false;
    if (place && place->kind == SCHEMA_AT_NAME) {
        put(c, "the property name ");
        put_text(c, place->key);
        put(c, ": ");
    }
    return true;
}

/* ---- Sentences ------------------------------------------------------------------------------ */

bool schema_complain(struct schema_checker *c, const struct schema_place *place, const char *format,
                     ...)
{
    if (!begin_at(c, place, SCHEMA_WEIGHT_PLAIN))
        return false;
    char text[200];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put(c, text);
    return end(c, place);
}

bool schema_complain_limit(struct schema_checker *c, const struct schema_place *place,
                           const char *words, const struct schema_value *limit,
                           const struct schema_value *value)
{
    if (!begin_at(c, place, SCHEMA_WEIGHT_PLAIN))
        return false;
    put(c, "expected ");
    put(c, words);
    put(c, " ");
    put_value(c, limit);
    put_actual(c, value);
    return end(c, place);
}

bool schema_complain_type(struct schema_checker *c, const struct schema_place *place,
                          unsigned types, const struct schema_value *value)
{
    if (!begin_at(c, place, SCHEMA_WEIGHT_PLAIN))
        return false;
    const char *between = "expected ";
    for (int type = ACP_JSON_NULL; type <= SCHEMA_INTEGER; type++) {
        if (!(types & SCHEMA_TYPE_BIT(type)))
            continue;
        put(c, between);
        put(c, type == SCHEMA_INTEGER ? "an integer" : kind_of((enum acp_json_type) type));
        between = " or ";
    }
    /* For a number that is not an integer, the value is more useful than its kind. */
    if (value->type == ACP_JSON_NUMBER && types & SCHEMA_TYPE_BIT(SCHEMA_INTEGER)) {
        put_actual(c, value);
    } else {
        put(c, ", got ");
        put(c, kind_of(value->type));
    }
    return end(c, place);
}

static void put_list(struct schema_checker *c, const struct schema_value *list)
{
    for (size_t i = 0; i < list->is.array.count; i++) {
        put(c, i ? ", " : "");
        if (c->message.len > LISTED) {
            put(c, "...");
            return;
        }
        put_value(c, &list->is.array.items[i]);
    }
}

bool schema_complain_constant(struct schema_checker *c, const struct schema_place *place,
                              const struct schema_value *expected, bool is_list,
                              const struct schema_value *value)
{
    if (!begin_at(c, place, SCHEMA_WEIGHT_CONSTANT))
        return false;
    put(c, "expected ");
    if (is_list && expected->is.array.count > 1) {
        put(c, "one of ");
        put_list(c, expected);
    } else {
        put_value(c, is_list ? &expected->is.array.items[0] : expected);
    }
    put_actual(c, value);
    return end(c, place);
}

bool schema_complain_missing(struct schema_checker *c, const struct schema_place *place,
                             struct acp_str name, struct acp_str because_of)
{
    if (!begin_at(c, place, SCHEMA_WEIGHT_PLAIN))
        return false;
    put(c, "the property ");
    put_text(c, name);
    put(c, " is missing");
    if (because_of.ptr) {
        put(c, "; it is required beside ");
        put_text(c, because_of);
    }
    return end(c, place);
}

bool schema_complain_property(struct schema_checker *c, const struct schema_place *place,
                              struct acp_str name, const struct schema_value *known)
{
    if (!begin_at(c, place, SCHEMA_WEIGHT_PLAIN))
        return false;
    put(c, "the property ");
    put_text(c, name);
    put(c, " is not allowed");
    for (size_t i = 0; known && i < known->is.object.count; i++) {
        put(c, i ? ", " : "; known are ");
        if (c->message.len > LISTED) {
            put(c, "...");
            break;
        }
        put_text(c, known->is.object.members[i].key);
    }
    return end(c, place);
}

bool schema_complain_pattern(struct schema_checker *c, const struct schema_place *place,
                             struct acp_str pattern, const struct schema_value *value)
{
    if (!begin_at(c, place, SCHEMA_WEIGHT_PLAIN))
        return false;
    put(c, "expected a string that matches the pattern ");
    put_text(c, pattern);
    put_actual(c, value);
    return end(c, place);
}
