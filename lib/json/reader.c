/*
 * The pull reader: a cursor that its caller drives along the shape of the text.  It keeps no stack;
 * the caller's own control flow is the stack, and depth is only counted.
 */
#include "json/pull.h"

#include <math.h>

static const char *const type_names[] = {
    [ACP_JSON_NONE] = "nothing",     [ACP_JSON_NULL] = "null",       [ACP_JSON_BOOL] = "a boolean",
    [ACP_JSON_NUMBER] = "a number",  [ACP_JSON_STRING] = "a string", [ACP_JSON_ARRAY] = "an array",
    [ACP_JSON_OBJECT] = "an object",
};

const char *acp_json_type_name(enum acp_json_type type)
{
    return type_names[type];
}

void acp_json_reader_init(struct acp_json_reader *r, struct acp_raw text, struct acp_arena *arena,
                          uint32_t max_depth)
{
    *r = (struct acp_json_reader){
        .at = text.ptr,
        .end = text.ptr ? text.ptr + text.len : NULL,
        .begin = text.ptr,
        .arena = arena,
        .max_depth = max_depth ? max_depth : (uint32_t) ACP_JSON_MAX_DEPTH,
    };
    r->at = acp_json_space(r->at, r->end);
}

static struct acp_json_cursor cursor(const struct acp_json_reader *r)
{
    return (struct acp_json_cursor){.end = r->end, .max_depth = r->max_depth};
}

enum acp_json_type acp_json_peek(struct acp_json_reader *r)
{
    return acp_pull_peek(r);
}

int acp_pull_mismatch(struct acp_json_reader *r)
{
    if (r->err)
        return r->err;
    /* A text that holds no value at all is no matter of types. */
    if (acp_pull_peek(r) == ACP_JSON_NONE)
        return acp_pull_latch(r, r->at, ACP_ERR_SYNTAX);
    return ACP_ERR_TYPE;
}

int acp_json_enter_object(struct acp_json_reader *r)
{
    return acp_pull_enter(r, '{');
}

int acp_json_enter_array(struct acp_json_reader *r)
{
    return acp_pull_enter(r, '[');
}

int acp_json_next_item(struct acp_json_reader *r)
{
    return acp_pull_next(r, ']');
}

int acp_json_next_key(struct acp_json_reader *r, struct acp_str *ret_key)
{
    return acp_pull_key(r, ret_key);
}

int acp_pull_string_slow(struct acp_json_reader *r, struct acp_str *ret, const char **ret_behind)
{
    struct acp_json_cursor c = cursor(r);
    const char *inside = r->at + 1;
    const char *quote = acp_json_string(&c, inside);
    if (!quote)
        return acp_pull_latch(r, c.where, c.err);
    size_t len = (size_t) (quote - inside);
    *ret_behind = quote + 1;
    if (!c.escaped) {
        *ret = acp_str_n(inside, len);
        return 0;
    }
    /* Unfolding never makes a text longer. */
    char *copy = r->arena ? acp_arena_alloc(r->arena, len) : NULL;
    if (!copy)
        return acp_pull_latch(r, r->at, ACP_ERR_NOMEM);
    *ret = acp_str_n(copy, acp_json_unescape(inside, quote, copy));
    return 0;
}

int acp_json_read_str(struct acp_json_reader *r, struct acp_str *ret)
{
    return acp_pull_str(r, ret);
}

/* A true, false or null at the cursor, whose first letter has been seen. */
static int take_word(struct acp_json_reader *r)
{
    struct acp_json_cursor c = cursor(r);
    const char *behind = acp_json_word(&c, r->at);
    return behind ? acp_pull_step(r, behind) : acp_pull_latch(r, c.where, c.err);
}

int acp_json_read_bool(struct acp_json_reader *r, bool *ret)
{
    if (acp_pull_peek(r) != ACP_JSON_BOOL)
        return acp_pull_mismatch(r);
    bool value = *r->at == 't';
    int err = take_word(r);
    if (!err)
        *ret = value;
    return err;
}

int acp_json_read_null(struct acp_json_reader *r)
{
    return acp_pull_peek(r) == ACP_JSON_NULL ? take_word(r) : acp_pull_mismatch(r);
}

/* The number at the cursor as text; does not move on. */
static int take_number(struct acp_json_reader *r, struct acp_raw *ret)
{
    if (acp_pull_peek(r) != ACP_JSON_NUMBER)
        return acp_pull_mismatch(r);
    struct acp_json_cursor c = cursor(r);
    const char *behind = acp_json_number(&c, r->at);
    if (!behind)
        return acp_pull_latch(r, c.where, c.err);
    *ret = acp_raw_n(r->at, (size_t) (behind - r->at));
    return 0;
}

int acp_json_read_i64(struct acp_json_reader *r, int64_t *ret)
{
    struct acp_raw number;
    bool negative;
    uint64_t magnitude;
    int err = take_number(r, &number);
    if (!err)
        err = acp_json_integer(number, &negative, &magnitude);
    if (err)
        return err;
    if (magnitude > (uint64_t) INT64_MAX + (negative ? 1 : 0))
        return ACP_ERR_RANGE;
    /* Negated as unsigned, since the smallest number has no positive counterpart. */
    *ret = negative ? (int64_t) (0 - magnitude) : (int64_t) magnitude;
    return acp_pull_step(r, number.ptr + number.len);
}

int acp_json_read_u64(struct acp_json_reader *r, uint64_t *ret)
{
    struct acp_raw number;
    bool negative;
    uint64_t magnitude;
    int err = take_number(r, &number);
    if (!err)
        err = acp_json_integer(number, &negative, &magnitude);
    if (err)
        return err;
    if (negative)
        return ACP_ERR_RANGE;
    *ret = magnitude;
    return acp_pull_step(r, number.ptr + number.len);
}

int acp_json_read_f64(struct acp_json_reader *r, double *ret)
{
    struct acp_raw number;
    int err = take_number(r, &number);
    if (err)
        return err;
    double value = acp_json_double(number);
    if (!isfinite(value))
        return ACP_ERR_RANGE;
    *ret = value;
    return acp_pull_step(r, number.ptr + number.len);
}

int acp_json_read_raw(struct acp_json_reader *r, struct acp_raw *ret)
{
    if (r->err)
        return r->err;
    struct acp_json_cursor c = cursor(r);
    const char *behind = acp_json_value(&c, r->at, r->depth);
    if (!behind)
        return acp_pull_latch(r, c.where, c.err);
    *ret = acp_raw_n(r->at, (size_t) (behind - r->at));
    return acp_pull_step(r, behind);
}

int acp_json_skip(struct acp_json_reader *r)
{
    struct acp_raw ignored;
    return acp_json_read_raw(r, &ignored);
}

int acp_json_read_end(struct acp_json_reader *r)
{
    if (r->err)
        return r->err;
    return r->at == r->end ? 0 : acp_pull_latch(r, r->at, ACP_ERR_SYNTAX);
}

int acp_json_validate(struct acp_raw text, uint32_t max_depth, size_t *ret_offset)
{
    struct acp_json_reader r;
    acp_json_reader_init(&r, text, NULL, max_depth);
    int err = acp_json_skip(&r);
    if (!err)
        err = acp_json_read_end(&r);
    if (err && ret_offset)
        *ret_offset = acp_json_offset(&r);
    return err;
}
