/*
 * Reading a configuration into a policy.  Everything is checked and nothing forgiven: a rule that
 * is not what its writer meant is worse than a program that does not start.
 */
#include <stdarg.h>
#include <stdio.h>

#include "acp/json.h"
#include "workspace/policy.h"

struct loader {
    struct acp_json_reader r;
    struct acp_policy *policy;
    struct acp_arena arena;
    size_t rule; /* its number, while one is read */
    bool in_rule;
    bool has_mode;
    enum acp_policy_mode mode;
    struct acp_failure *failure;
};

/* key may be NULL for the rule itself; the reader's own error goes before. */
static int fail(struct loader *l, int err, const char *key, const char *format, ...)
    ACP_PRINTF(4, 5);

static int fail(struct loader *l, int err, const char *key, const char *format, ...)
{
    struct acp_failure *f = l->failure;
    int latched = l->r.err;
    if (!f)
        return latched ? latched : err;
    *f = (struct acp_failure){.err = latched ? latched : err, .offset = acp_json_offset(&l->r)};
    if (l->in_rule)
        (void) snprintf(f->path, sizeof(f->path), "rules[%zu]%s%.60s", l->rule, key ? "." : "",
                        key ? key : "");
    else
        (void) snprintf(f->path, sizeof(f->path), "%.60s", key ? key : "");
    va_list args;
    va_start(args, format);
    (void) vsnprintf(f->message, sizeof(f->message), format, args);
    va_end(args);
    if (latched)
        (void) snprintf(f->message, sizeof(f->message), "%s", acp_err_text(latched));
    return f->err;
}

/* A key that came from outside, cut to fit into a path. */
static const char *short_key(struct acp_str key, char *out, size_t size)
{
    (void) snprintf(out, size, "%.*s", (int) (key.len < 60 ? key.len : 60), key.ptr);
    return out;
}

static int read_text(struct loader *l, const char *key, struct acp_str *ret)
{
    if (acp_json_read_str(&l->r, ret))
        return fail(l, ACP_ERR_TYPE, key, "must be a text");
    return 0;
}

static int read_verdict(struct loader *l, struct acp_policy_rule *rule)
{
    struct acp_str text;
    int err = read_text(l, "verdict", &text);
    if (!err && !acp_verdict_find(text, &rule->verdict))
        err = fail(l, ACP_ERR_VARIANT, "verdict", "must be allow, ask or deny");
    return err;
}

static int read_kinds(struct loader *l, struct acp_policy_rule *rule)
{
    char place[40];
    if (acp_json_enter_array(&l->r))
        return fail(l, ACP_ERR_TYPE, "kinds", "must be a list of tool kinds");
    int more;
    for (size_t i = 0; (more = acp_json_next_item(&l->r)) > 0; i++) {
        struct acp_str text;
        enum acp_tool_kind_is kind;
        (void) snprintf(place, sizeof(place), "kinds[%zu]", i);
        int err = read_text(l, place, &text);
        if (err)
            return err;
        if (!acp_kind_find(text, &kind))
            return fail(l, ACP_ERR_VARIANT, place,
                        "must be a tool kind: read, edit, delete, move, search, execute, think, "
                        "fetch, switch_mode or other");
        rule->kinds |= ACP_KIND_BIT(kind);
    }
    if (more < 0)
        return fail(l, more, "kinds", "must be a list of tool kinds");
    if (!rule->kinds)
        return fail(l, ACP_ERR_RANGE, "kinds", "is empty, so the rule would never match");
    return 0;
}

static int read_field(struct loader *l, struct acp_str key, struct acp_policy_rule *rule,
                      bool *has_verdict)
{
    char name[64];
    if (acp_str_is(key, "verdict")) {
        *has_verdict = true;
        return read_verdict(l, rule);
    }
    if (acp_str_is(key, "kinds"))
        return read_kinds(l, rule);
    if (acp_str_is(key, "path"))
        return read_text(l, "path", &rule->path);
    if (acp_str_is(key, "command"))
        return read_text(l, "command", &rule->command);
    if (acp_str_is(key, "tool"))
        return read_text(l, "tool", &rule->tool);
    return fail(l, ACP_ERR_VARIANT, short_key(key, name, sizeof(name)),
                "is not known; a rule has verdict, kinds, path, command and tool");
}

static int read_rule(struct loader *l)
{
    struct acp_policy_rule rule = {.verdict = ACP_VERDICT_DENY};
    bool has_verdict = false;
    struct acp_str key;
    int more;
    if (acp_json_enter_object(&l->r))
        return fail(l, ACP_ERR_TYPE, NULL, "must be an object");
    while ((more = acp_json_next_key(&l->r, &key)) > 0) {
        int err = read_field(l, key, &rule, &has_verdict);
        if (err)
            return err;
    }
    if (more < 0)
        return fail(l, more, NULL, "must be an object");
    if (!has_verdict)
        return fail(l, ACP_ERR_MISSING, "verdict", "is missing; it is allow, ask or deny");
    struct acp_failure why;
    int err = acp_policy_add(l->policy, &rule, &why);
    return err ? fail(l, err, *why.path ? why.path : NULL, "%s", why.message) : 0;
}

static int read_rules(struct loader *l)
{
    if (acp_json_enter_array(&l->r))
        return fail(l, ACP_ERR_TYPE, "rules", "must be a list of rules");
    int more;
    for (l->rule = 0; (more = acp_json_next_item(&l->r)) > 0; l->rule++) {
        l->in_rule = true;
        int err = read_rule(l);
        if (err)
            return err;
        l->in_rule = false;
    }
    return more < 0 ? fail(l, more, "rules", "must be a list of rules") : 0;
}

static int read_mode(struct loader *l)
{
    struct acp_str text;
    int err = read_text(l, "mode", &text);
    if (!err && !acp_policy_mode_find(text, &l->mode))
        err = fail(l, ACP_ERR_VARIANT, "mode", "must be safe, read-only, sandbox or full");
    l->has_mode = true;
    return err;
}

static int read_all(struct loader *l)
{
    struct acp_str key;
    char name[64];
    int more;
    if (acp_json_enter_object(&l->r))
        return fail(l, ACP_ERR_TYPE, NULL, "must be an object with mode and rules");
    while ((more = acp_json_next_key(&l->r, &key)) > 0) {
        int err = acp_str_is(key, "mode") ? read_mode(l)
                  : acp_str_is(key, "rules")
                      ? read_rules(l)
                      : fail(l, ACP_ERR_VARIANT, short_key(key, name, sizeof(name)),
                             "is not known; there are mode and rules");
        if (err)
            return err;
    }
    if (more < 0 || acp_json_read_end(&l->r))
        return fail(l, ACP_ERR_SYNTAX, NULL, "is not one JSON value");
    return 0;
}

int acp_policy_load(struct acp_policy *policy, struct acp_raw json, struct acp_failure *failure)
{
    struct loader l = {.policy = policy, .failure = failure};
    size_t before = policy->count;
    acp_arena_init(&l.arena, 0);
    acp_json_reader_init(&l.r, json, &l.arena, 0);
    int err = read_all(&l);
    if (err)
        policy->count = before;
    else if (l.has_mode)
        policy->mode = l.mode;
    acp_arena_finish(&l.arena);
    return err;
}
