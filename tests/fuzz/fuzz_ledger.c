/*
 * Fuzzes what is read from disk about permissions: the lines of a ledger, and the rules of a
 * policy. No line may take another along, and what was read must be written and read again as the
 * same.
 */
#include "acp/policy.h"
#include "fuzz.h"

static int reports;

static void count_report(size_t line, const struct acp_failure *failure, void *user)
{
    (void) user;
    CHECK(line > 0 && failure->err < 0 && *failure->message);
    reports++;
}

/* Loads, writes into out, and tells how many grants there are. */
static size_t load(struct acp_str text, struct acp_buf *out, int *ret_aside)
{
    struct acp_ledger *ledger = NULL;
    CHECK(acp_ledger_new(&ledger) == 0);
    reports = 0;
    *ret_aside = acp_ledger_load(ledger, text, count_report, NULL);
    CHECK(*ret_aside == reports);
    CHECK(acp_ledger_write(ledger, out) == 0);
    size_t count = acp_ledger_count(ledger);
    const struct acp_str path = {"/x/y", 4};
    struct acp_action action = {
        .kind = ACP_TOOL_KIND_EDIT, .paths = {&path, 1}, .cwd = {"/x", 2}, .session_id = {"s", 1}};
    struct acp_policy *policy = NULL;
    CHECK(acp_policy_new(&policy) == 0);
    /* Without a grant an edit is asked about, and the file has to say so by number. */
    struct acp_decision d = acp_policy_decide(policy, ledger, &action, 1000, true);
    CHECK(d.verdict == ACP_VERDICT_ASK || d.by == ACP_DECIDED_BY_GRANT);
    while (acp_ledger_count(ledger))
        CHECK(acp_ledger_revoke(ledger, acp_ledger_at(ledger, 0)->number) == 0);
    CHECK(acp_policy_decide(policy, ledger, &action, 1000, true).verdict == ACP_VERDICT_ASK);
    acp_policy_free(policy);
    acp_ledger_free(ledger);
    return count;
}

static void check_policy(struct acp_raw json)
{
    struct acp_policy *policy = NULL;
    struct acp_failure failure = {0};
    CHECK(acp_policy_new(&policy) == 0);
    int err = acp_policy_load(policy, json, &failure);
    CHECK((err == 0) == (failure.err == 0));
    if (err)
        CHECK(acp_policy_rule_count(policy) == 0 && acp_policy_get_mode(policy) == ACP_POLICY_SAFE);
    acp_policy_free(policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_buf first;
    struct acp_buf second;
    acp_buf_init(&first, SIZE_MAX / 2);
    acp_buf_init(&second, SIZE_MAX / 2);
    int aside = 0;
    int again = 0;
    size_t count = load(acp_str_n((const char *) data, size), &first, &aside);
    CHECK(load(acp_buf_view(&first), &second, &again) == count);
    CHECK(aside == again);
    CHECK(acp_str_eq(acp_buf_view(&first), acp_buf_view(&second)));
    check_policy(acp_raw_n((const char *) data, size));
    acp_buf_finish(&first);
    acp_buf_finish(&second);
    return 0;
}
