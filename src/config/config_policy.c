/*
 * config_policy.c - reads permissions.  Of an untrusted project only deny and ask rules are used,
 * and a mode that is not more permissive.
 */
#include <stdio.h>
#include <stdlib.h>

#include "config/config_internal.h"

/*
 * Whether a mode is not more permissive than another in any row of the table in acp/policy.h.
 * Sandbox and read-only are not comparable: one denies reads outside, the other edits.
 */
static bool is_stricter(enum acp_policy_mode mode, enum acp_policy_mode than)
{
    return mode == than || than == ACP_POLICY_FULL ||
           (mode == ACP_POLICY_READ_ONLY && than == ACP_POLICY_SAFE);
}

static bool has_mode(struct acp_raw json, struct acp_arena *arena)
{
    struct acp_json_reader r;
    struct acp_str key;
    acp_json_reader_init(&r, json, arena, 0);
    if (acp_json_enter_object(&r))
        return false;
    while (acp_json_next_key(&r, &key) > 0) {
        if (acp_str_is(key, "mode"))
            return true;
        (void) acp_json_skip(&r);
    }
    return false;
}

static void merge_mode(struct config_reader *reader, enum acp_policy_mode mode)
{
    struct acp_policy *policy = reader->config->policy;
    if (reader->trusted || is_stricter(mode, acp_policy_get_mode(policy)))
        acp_policy_set_mode(policy, mode);
    else
        config_ignore(reader, "permissions.mode");
}

static int merge_rules(struct config_reader *reader, const struct acp_policy *from,
                       struct acp_failure *failure)
{
    size_t aside = 0;
    const struct acp_policy_rule *rule;
    for (size_t i = 0; (rule = acp_policy_rule_at(from, i)); i++) {
        if (!reader->trusted && rule->verdict == ACP_VERDICT_ALLOW) {
            aside++;
            continue;
        }
        int err = acp_policy_add(reader->config->policy, rule, failure);
        if (err)
            return err;
    }
    if (aside > 0)
        config_ignore(reader, "%zu allow rule%s", aside, aside == 1 ? "" : "s");
    return 0;
}

int config_read_policy(struct config_reader *reader)
{
    struct acp_raw json;
    struct acp_failure failure = {0};
    struct acp_policy *read = NULL;
    if (acp_json_peek(&reader->r) != ACP_JSON_OBJECT)
        return config_mismatch(reader, "an object with mode and rules");
    int err = acp_json_read_raw(&reader->r, &json);
    if (err)
        return err;
    if (acp_policy_new(&read))
        return reader->r.err = ACP_ERR_NOMEM;
    err = acp_policy_load(read, json, &failure);
    if (!err)
        err = merge_rules(reader, read, &failure);
    if (!err && has_mode(json, &reader->config->arena))
        merge_mode(reader, acp_policy_get_mode(read));
    acp_policy_free(read);
    if (err == ACP_ERR_NOMEM)
        return reader->r.err = err;
    if (!err)
        return 0;
    size_t mark = reader->path_len;
    if (*failure.path)
        mark = config_enter(reader, acp_str_from(failure.path));
    config_error_at(reader, (size_t) (json.ptr - reader->r.begin) + failure.offset, "%s",
                    failure.message);
    config_leave(reader, mark);
    return 1;
}

int config_policy(const struct config *config, struct acp_policy **ret)
{
    struct acp_policy *policy = NULL;
    int err = acp_policy_new(&policy);
    if (!err && config->home)
        err = acp_policy_set_home(policy, acp_str_from(config->home));
    const struct acp_policy_rule *rule;
    for (size_t i = 0; !err && (rule = acp_policy_rule_at(config->policy, i)); i++)
        err = acp_policy_add(policy, rule, NULL);
    if (err) {
        acp_policy_free(policy);
        return err;
    }
    acp_policy_set_mode(policy, acp_policy_get_mode(config->policy));
    *ret = policy;
    return 0;
}
