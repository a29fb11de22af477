/*
 * The policy: its rules, the modes, and the one function that decides.  The order of what overrules
 * what stands in acp/policy.h, and decide_target() below is that order.
 */
#include "acp/policy.h"

#include <stdio.h>
#include <stdlib.h>

#include "workspace/policy.h"
#include "workspace/policy_match.h"

/* ---- Names ---------------------------------------------------------------------------------- */

static const char *const mode_names[] = {[ACP_POLICY_SAFE] = "safe",
                                         [ACP_POLICY_READ_ONLY] = "read-only",
                                         [ACP_POLICY_SANDBOX] = "sandbox",
                                         [ACP_POLICY_FULL] = "full"};
static const char *const verdict_names[] = {
    [ACP_VERDICT_DENY] = "deny", [ACP_VERDICT_ASK] = "ask", [ACP_VERDICT_ALLOW] = "allow"};
static const char *const kind_names[] = {[ACP_TOOL_KIND_READ] = "read",
                                         [ACP_TOOL_KIND_EDIT] = "edit",
                                         [ACP_TOOL_KIND_DELETE] = "delete",
                                         [ACP_TOOL_KIND_MOVE] = "move",
                                         [ACP_TOOL_KIND_SEARCH] = "search",
                                         [ACP_TOOL_KIND_EXECUTE] = "execute",
                                         [ACP_TOOL_KIND_THINK] = "think",
                                         [ACP_TOOL_KIND_FETCH] = "fetch",
                                         [ACP_TOOL_KIND_SWITCH_MODE] = "switch_mode",
                                         [ACP_TOOL_KIND_OTHER] = "other"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The place of the name in the list, or -1. */
static int find_name(const char *const *names, size_t count, struct acp_str name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] && acp_str_is(name, names[i]))
            return (int) i;
    return -1;
}

const char *acp_policy_mode_name(enum acp_policy_mode mode)
{
    return (size_t) mode < COUNT(mode_names) ? mode_names[mode] : "unknown";
}

const char *acp_verdict_name(enum acp_verdict verdict)
{
    return (size_t) verdict < COUNT(verdict_names) ? verdict_names[verdict] : "unknown";
}

const char *acp_kind_name(enum acp_tool_kind_is kind)
{
    return kind_names[acp_kind_listed(kind)];
}

bool acp_policy_mode_find(struct acp_str name, enum acp_policy_mode *ret_mode)
{
    int i = find_name(mode_names, COUNT(mode_names), name);
    if (i >= 0)
        *ret_mode = (enum acp_policy_mode) i;
    return i >= 0;
}

bool acp_verdict_find(struct acp_str name, enum acp_verdict *ret_verdict)
{
    int i = find_name(verdict_names, COUNT(verdict_names), name);
    if (i >= 0)
        *ret_verdict = (enum acp_verdict) i;
    return i >= 0;
}

bool acp_kind_find(struct acp_str name, enum acp_tool_kind_is *ret_kind)
{
    int i = find_name(kind_names, COUNT(kind_names), name);
    if (i >= 0)
        *ret_kind = (enum acp_tool_kind_is) i;
    return i >= 0;
}

/* ---- The policy ----------------------------------------------------------------------------- */

int acp_policy_new(struct acp_policy **ret_policy)
{
    struct acp_policy *policy = calloc(1, sizeof(*policy));
    if (!policy)
        return ACP_ERR_NOMEM;
    acp_arena_init(&policy->texts, 0);
    *ret_policy = policy;
    return 0;
}

void acp_policy_free(struct acp_policy *policy)
{
    if (!policy)
        return;
    acp_arena_finish(&policy->texts);
    free(policy->rules);
    free(policy);
}

void acp_policy_set_mode(struct acp_policy *policy, enum acp_policy_mode mode)
{
    policy->mode = mode;
}

enum acp_policy_mode acp_policy_get_mode(const struct acp_policy *policy)
{
    return policy->mode;
}

int acp_policy_set_home(struct acp_policy *policy, struct acp_str home)
{
    struct acp_str copy = acp_arena_copy(&policy->texts, home);
    if (!copy.ptr)
        return ACP_ERR_NOMEM;
    policy->home = copy.ptr;
    return 0;
}

size_t acp_policy_rule_count(const struct acp_policy *policy)
{
    return policy->count;
}

const struct acp_policy_rule *acp_policy_rule_at(const struct acp_policy *policy, size_t index)
{
    return index < policy->count ? &policy->rules[index] : NULL;
}

/* Copies a text that is set; false if out of memory. */
static bool keep(struct acp_policy *policy, struct acp_str *text)
{
    if (text->ptr)
        *text = acp_arena_copy(&policy->texts, *text);
    return text->ptr || text->len == 0;
}

static int make_room(struct acp_policy *policy)
{
    if (policy->count < policy->cap)
        return 0;
    size_t cap = policy->cap ? policy->cap * 2 : 16;
    struct acp_policy_rule *rules = realloc(policy->rules, cap * sizeof(struct acp_policy_rule));
    if (!rules)
        return ACP_ERR_NOMEM;
    policy->rules = rules;
    policy->cap = cap;
    return 0;
}

static int fail(struct acp_failure *failure, int err, const char *path, const char *message)
{
    if (!failure)
        return err;
    *failure = (struct acp_failure){.err = err};
    (void) snprintf(failure->path, sizeof(failure->path), "%s", path);
    (void) snprintf(failure->message, sizeof(failure->message), "%s", message);
    return err;
}

int acp_policy_add(struct acp_policy *policy, const struct acp_policy_rule *rule,
                   struct acp_failure *failure)
{
    const char *field = "";
    const char *complaint = acp_rule_complaint(rule, &field);
    if (complaint)
        return fail(failure, ACP_ERR_RANGE, field, complaint);
    if (policy->count == ACP_POLICY_MAX_RULES)
        return fail(failure, ACP_ERR_LIMIT, "", "more rules than a policy may have");
    struct acp_policy_rule copy = *rule;
    if (make_room(policy) || !keep(policy, &copy.path) || !keep(policy, &copy.command) ||
        !keep(policy, &copy.tool))
        return fail(failure, ACP_ERR_NOMEM, "", acp_err_text(ACP_ERR_NOMEM));
    policy->rules[policy->count++] = copy;
    return 0;
}

int acp_policy_copy(const struct acp_policy *policy, struct acp_policy **ret_policy)
{
    struct acp_policy *copy = NULL;
    int err = acp_policy_new(&copy);
    if (!err && policy) {
        copy->mode = policy->mode;
        if (policy->home)
            err = acp_policy_set_home(copy, acp_str_from(policy->home));
        for (size_t i = 0; i < policy->count && !err; i++)
            err = acp_policy_add(copy, &policy->rules[i], NULL);
    }
    if (err)
        acp_policy_free(copy);
    else
        *ret_policy = copy;
    return err;
}

/* ---- Modes ---------------------------------------------------------------------------------- */

enum where { INSIDE, OUTSIDE, UNKNOWN };

static enum acp_verdict decide_safe(enum acp_tool_kind_is kind, enum where where)
{
    bool look = kind == ACP_TOOL_KIND_READ || kind == ACP_TOOL_KIND_SEARCH;
    return look && where == INSIDE ? ACP_VERDICT_ALLOW : ACP_VERDICT_ASK;
}

static enum acp_verdict decide_read_only(enum acp_tool_kind_is kind, enum where where)
{
    switch (kind) {
    case ACP_TOOL_KIND_EDIT:
    case ACP_TOOL_KIND_DELETE:
    case ACP_TOOL_KIND_MOVE:
    case ACP_TOOL_KIND_EXECUTE:
        return ACP_VERDICT_DENY;
    default:
        return decide_safe(kind, where);
    }
}

static enum acp_verdict decide_sandbox(enum acp_tool_kind_is kind, enum where where, bool sandboxed)
{
    if (where == OUTSIDE)
        return ACP_VERDICT_DENY;
    if (kind == ACP_TOOL_KIND_FETCH || kind == ACP_TOOL_KIND_SWITCH_MODE)
        return ACP_VERDICT_ASK;
    /* A command has its paths from us, but goes where it wants unless something holds it. */
    if (where == INSIDE && kind != ACP_TOOL_KIND_EXECUTE)
        return ACP_VERDICT_ALLOW;
    return sandboxed ? ACP_VERDICT_ALLOW : ACP_VERDICT_ASK;
}

static enum acp_verdict decide_by_mode(const struct acp_policy *policy,
                                       const struct acp_scene *scene)
{
    enum where where = !scene->has_path ? UNKNOWN : acp_scene_inside(scene) ? INSIDE : OUTSIDE;
    if (scene->kind == ACP_TOOL_KIND_THINK)
        return ACP_VERDICT_ALLOW;
    switch (policy->mode) {
    case ACP_POLICY_FULL:
        return ACP_VERDICT_ALLOW;
    case ACP_POLICY_SANDBOX:
        return decide_sandbox(scene->kind, where, scene->action->sandboxed);
    case ACP_POLICY_READ_ONLY:
        return decide_read_only(scene->kind, where);
    default:
        return decide_safe(scene->kind, where);
    }
}

/* ---- Deciding ------------------------------------------------------------------------------- */

/* The first rule that denies, or else the last one that allows or asks; NULL when there is none. */
static const struct acp_policy_rule *find_rule(const struct acp_policy *policy,
                                               const struct acp_scene *scene)
{
    const struct acp_policy_rule *found = NULL;
    for (size_t i = 0; i < policy->count; i++) {
        const struct acp_policy_rule *rule = &policy->rules[i];
        if (!acp_rule_matches(rule, scene))
            continue;
        if (rule->verdict == ACP_VERDICT_DENY)
            return rule;
        found = rule;
    }
    return found;
}

static struct acp_decision by_rule(const struct acp_policy *policy,
                                   const struct acp_policy_rule *rule)
{
    return (struct acp_decision){.verdict = rule->verdict,
                                 .by = ACP_DECIDED_BY_RULE,
                                 .rule = (size_t) (rule - policy->rules)};
}

static struct acp_decision by_grant(const struct acp_grant *grant)
{
    return (struct acp_decision){.verdict = grant->allow ? ACP_VERDICT_ALLOW : ACP_VERDICT_DENY,
                                 .by = ACP_DECIDED_BY_GRANT,
                                 .grant = grant->number};
}

/* What the scene looks at. */
static struct acp_decision decide_target(const struct acp_policy *policy,
                                         const struct acp_ledger *ledger,
                                         const struct acp_scene *scene, int64_t now, bool person)
{
    struct acp_decision d = {.verdict = decide_by_mode(policy, scene)};
    const struct acp_policy_rule *rule = find_rule(policy, scene);
    if (rule && rule->verdict == ACP_VERDICT_DENY)
        return by_rule(policy, rule);
    if (d.verdict == ACP_VERDICT_DENY)
        return d;
    const struct acp_grant *grant = ledger ? acp_ledger_match(ledger, scene, now, false) : NULL;
    if (grant)
        return by_grant(grant);
    if (policy->mode == ACP_POLICY_FULL)
        return d;
    if (rule)
        d = by_rule(policy, rule);
    if (d.verdict != ACP_VERDICT_ASK)
        return d;
    grant = ledger ? acp_ledger_match(ledger, scene, now, true) : NULL;
    if (grant)
        return by_grant(grant);
    if (!person)
        d = (struct acp_decision){.verdict = ACP_VERDICT_DENY, .by = ACP_DECIDED_BY_NOBODY};
    return d;
}

struct acp_decision acp_policy_decide(const struct acp_policy *policy,
                                      const struct acp_ledger *ledger,
                                      const struct acp_action *action, int64_t now, bool person)
{
    struct acp_scene scene;
    if (acp_scene_init(&scene, action, policy->home))
        return (struct acp_decision){.verdict = ACP_VERDICT_DENY, .by = ACP_DECIDED_BY_ERROR};
    struct acp_decision strictest = {.verdict = ACP_VERDICT_ALLOW};
    size_t count = action->paths.count;
    for (size_t i = 0; i < (count ? count : 1); i++) {
        if (count)
            acp_scene_look(&scene, i);
        struct acp_decision d = decide_target(policy, ledger, &scene, now, person);
        d.path = count ? action->paths.items[i] : acp_str_from(NULL);
        if (i == 0 || d.verdict < strictest.verdict)
            strictest = d;
        if (d.verdict == ACP_VERDICT_DENY)
            break;
    }
    acp_scene_finish(&scene);
    return strictest;
}

int acp_decision_print(const struct acp_decision *d, struct acp_buf *out)
{
    static const char *const words[] = {[ACP_VERDICT_DENY] = "denied",
                                        [ACP_VERDICT_ASK] = "to be asked",
                                        [ACP_VERDICT_ALLOW] = "allowed"};
    const char *word = words[d->verdict];
    switch (d->by) {
    case ACP_DECIDED_BY_RULE:
        return acp_buf_printf(out, "%s by rules[%zu]", word, d->rule);
    case ACP_DECIDED_BY_GRANT:
        return acp_buf_printf(out, "%s by grant %llu", word, (unsigned long long) d->grant);
    case ACP_DECIDED_BY_NOBODY:
        return acp_buf_printf(out, "%s because nobody is there to be asked", word);
    case ACP_DECIDED_BY_ERROR:
        return acp_buf_printf(out, "%s because memory ran out", word);
    default:
        return acp_buf_printf(out, "%s by the mode", word);
    }
}
