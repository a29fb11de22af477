/*
 * pull.h - the reader's inner workings, inline: reader.c wraps them for everybody, and the codec,
 * which spends its time here, uses them directly.
 */
#ifndef LIB_JSON_PULL_H
#define LIB_JSON_PULL_H

#include <assert.h>

#include "json/grammar.h"

static inline int acp_pull_latch(struct acp_json_reader *r, const char *where, int err)
{
    assert(err != 0); /* whoever gets it takes it for a failure */
    r->at = where;
    r->err = err;
    return err;
}

/* The cursor goes behind something that was just read. */
static inline int acp_pull_step(struct acp_json_reader *r, const char *behind)
{
    r->at = acp_json_space(behind, r->end);
    return 0;
}

static inline enum acp_json_type acp_pull_peek(const struct acp_json_reader *r)
{
    if (r->err || r->at >= r->end)
        return ACP_JSON_NONE;
    switch (*r->at) {
    case '"':
        return ACP_JSON_STRING;
    case '{':
        return ACP_JSON_OBJECT;
    case '[':
        return ACP_JSON_ARRAY;
    case 't':
    case 'f':
        return ACP_JSON_BOOL;
    case 'n':
        return ACP_JSON_NULL;
    default:
        return *r->at == '-' || (*r->at >= '0' && *r->at <= '9') ? ACP_JSON_NUMBER : ACP_JSON_NONE;
    }
}

/* What to return when the value at the cursor is not of the type that was asked for. */
int acp_pull_mismatch(struct acp_json_reader *r);

static inline int acp_pull_enter(struct acp_json_reader *r, char bracket)
{
    if (r->err || r->at >= r->end || *r->at != bracket)
        return acp_pull_mismatch(r);
    if (r->depth >= r->max_depth)
        return acp_pull_latch(r, r->at, ACP_ERR_DEPTH);
    r->depth++;
    r->first = true;
    return acp_pull_step(r, r->at + 1);
}

/* Between members: 1 when one follows, 0 when the container ends here and is left. */
static inline int acp_pull_next(struct acp_json_reader *r, char closing)
{
    if (r->err)
        return r->err;
    if (r->at < r->end && *r->at == closing) {
        r->depth--;
        r->first = false;
        return acp_pull_step(r, r->at + 1);
    }
    if (r->first) {
        r->first = false;
        return 1;
    }
    if (r->at >= r->end || *r->at != ',')
        return acp_pull_latch(r, r->at, ACP_ERR_SYNTAX);
    (void) acp_pull_step(r, r->at + 1);
    /* A comma promises a member. */
    if (r->at < r->end && *r->at == closing)
        return acp_pull_latch(r, r->at, ACP_ERR_SYNTAX);
    return 1;
}

/* A string that is more than plain ASCII: checks it, unfolds it.  The cursor is at its quote. */
int acp_pull_string_slow(struct acp_json_reader *r, struct acp_str *ret, const char **ret_behind);

/* The string whose opening quote is at the cursor; the cursor stays. */
static inline int acp_pull_string(struct acp_json_reader *r, struct acp_str *ret,
                                  const char **ret_behind)
{
    const char *inside = r->at + 1;
    const char *quote = acp_json_plain(inside, r->end);
    if (quote < r->end && *quote == '"') {
        *ret = acp_str_n(inside, (size_t) (quote - inside));
        *ret_behind = quote + 1;
        return 0;
    }
    return acp_pull_string_slow(r, ret, ret_behind);
}

static inline int acp_pull_key(struct acp_json_reader *r, struct acp_str *ret_key)
{
    int more = acp_pull_next(r, '}');
    if (more <= 0)
        return more;
    if (r->at >= r->end || *r->at != '"')
        return acp_pull_latch(r, r->at, ACP_ERR_SYNTAX);
    const char *p = r->at;
    int err = acp_pull_string(r, ret_key, &p);
    if (err)
        return err;
    p = acp_json_space(p, r->end);
    if (p >= r->end || *p != ':')
        return acp_pull_latch(r, p, ACP_ERR_SYNTAX);
    (void) acp_pull_step(r, p + 1);
    return 1;
}

static inline int acp_pull_str(struct acp_json_reader *r, struct acp_str *ret)
{
    if (r->err || r->at >= r->end || *r->at != '"')
        return acp_pull_mismatch(r);
    const char *behind;
    int err = acp_pull_string(r, ret, &behind);
    return err ? err : acp_pull_step(r, behind);
}

#endif
