/*
 * Fuzzes rules about commands.  Whatever a pattern permits that does not spell the line must be one
 * plain command, as a scanner of its own sees it; what permits must match no more than what
 * restricts; and variables or a directory of the agent's must take a permission away but leave a
 * denial.  The input is a pattern, a line end, and a command line.
 */
#include <stdlib.h>

#include "base/glob.h"
#include "base/trim.h"
#include "fuzz.h"
#include "workspace/policy_match.h"

enum { MOST = 300 };

static bool is_control(char c)
{
    return ((unsigned char) c < 0x20 && c != '\t') || c == 0x7f;
}

/* Whether a shell would do more with the line than run one command with just these words. */
static bool is_more_than_words(struct acp_str line)
{
    char quote = '\0';
    for (size_t i = 0; i < line.len; i++) {
        char c = line.ptr[i];
        if (is_control(c) && c != 0x7f)
            return true;
        if (quote == '\'') {
            if (c == '\'')
                quote = '\0';
        } else if (c == '\\') {
            if (i + 1 == line.len)
                return true;
            i += quote != '"' || strchr("$`\"\\", line.ptr[i + 1]) ? 1 : 0;
        } else if (c == '$' || c == '`') {
            return true;
        } else if (quote) {
            if (c == '"')
                quote = '\0';
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == 0x7f || strchr(";&|<>()*?[{~", c)) {
            return true;
        }
    }
    return quote != '\0';
}

static enum acp_verdict decide(enum acp_verdict verdict, struct acp_str pattern,
                               const struct acp_action *action)
{
    struct acp_policy *policy = NULL;
    struct acp_policy_rule rule = {.verdict = verdict, .command = pattern};
    CHECK(acp_policy_new(&policy) == 0);
    /* A pattern that is no good makes no rule. */
    (void) acp_policy_add(policy, &rule, NULL);
    enum acp_verdict got = acp_policy_decide(policy, NULL, action, 0, true).verdict;
    acp_policy_free(policy);
    return got;
}

static void check_action(struct acp_str pattern, struct acp_str line)
{
    static const struct acp_str_entry variable = {ACP_STR("A"), ACP_STR("")};
    struct acp_action action = {.kind = ACP_TOOL_KIND_EXECUTE, .command = line};
    action.cwd = acp_str_from("/no/such/place");
    bool allowed = decide(ACP_VERDICT_ALLOW, pattern, &action) == ACP_VERDICT_ALLOW;
    bool any = acp_command_is_any(pattern);
    CHECK(!allowed || decide(ACP_VERDICT_DENY, pattern, &action) == ACP_VERDICT_DENY);
    for (int i = 0; i < 2; i++) {
        struct acp_action altered = action;
        if (i)
            altered.command_cwd = acp_str_from("sub");
        else
            altered.env = (struct acp_str_map){&variable, 1};
        if (line.len && !any)
            CHECK(decide(ACP_VERDICT_ALLOW, pattern, &altered) == ACP_VERDICT_ASK);
        CHECK(decide(ACP_VERDICT_DENY, pattern, &altered) ==
              decide(ACP_VERDICT_DENY, pattern, &action));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size && size <= MOST ? memchr(data, '\n', size) : NULL;
    if (!end || end == data)
        return 0;
    size_t n = (size_t) (end - data);
    char *copy = malloc(size);
    CHECK(copy);
    memcpy(copy, data, size);
    struct acp_str pattern = acp_str_n(copy, n);
    struct acp_str line = acp_str_n(copy + n + 1, size - n - 1);
    bool spelt = acp_glob_spells(acp_str_trim(pattern), acp_str_trim(line));
    bool narrow = acp_command_matches(pattern, line, false);
    CHECK(!narrow || acp_command_matches(pattern, line, true));
    if (narrow && !spelt && !acp_command_is_any(pattern))
        CHECK(!is_more_than_words(acp_str_trim(line)));
    check_action(pattern, line);
    free(copy);
    return 0;
}
