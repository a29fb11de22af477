/*
 * What goes into a policy and what comes out as an answer: the configuration and its mistakes,
 * limits, names, permission requests as actions, and the option that carries a verdict back.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "acp/policy.h"

enum { DENY = ACP_VERDICT_DENY, ASK = ACP_VERDICT_ASK, ALLOW = ACP_VERDICT_ALLOW };
enum {
    READ = ACP_TOOL_KIND_READ,
    EDIT = ACP_TOOL_KIND_EDIT,
    MOVE = ACP_TOOL_KIND_MOVE,
    EXECUTE = ACP_TOOL_KIND_EXECUTE,
    OTHER = ACP_TOOL_KIND_OTHER,
};

static struct acp_policy *load(const char *json)
{
    struct acp_policy *policy = NULL;
    struct acp_failure failure = {0};
    assert_int_equal(acp_policy_new(&policy), 0);
    assert_int_equal(acp_policy_set_home(policy, acp_str_from("/no/home")), 0);
    if (acp_policy_load(policy, acp_raw_from(json), &failure))
        print_error("%s: %s: %s\n", json, failure.path, failure.message);
    assert_int_equal(failure.err, 0);
    return policy;
}

/* ---- Configuration -------------------------------------------------------------------------- */

static void mistakes_in_the_configuration_are_told_with_their_place(void **state)
{
    (void) state;
    static const struct {
        const char *json;
        int err;
        const char *path;
    } rows[] = {
        {"", ACP_ERR_SYNTAX, ""},
        {"[]", ACP_ERR_TYPE, ""},
        {"{", ACP_ERR_SYNTAX, ""},
        {"{} x", ACP_ERR_SYNTAX, ""},
        {"{\"mode\":\"fast\"}", ACP_ERR_VARIANT, "mode"},
        {"{\"mode\":1}", ACP_ERR_TYPE, "mode"},
        {"{\"modus\":\"safe\"}", ACP_ERR_VARIANT, "modus"},
        {"{\"rules\":{}}", ACP_ERR_TYPE, "rules"},
        {"{\"rules\":[1]}", ACP_ERR_TYPE, "rules[0]"},
        {"{\"rules\":[{}]}", ACP_ERR_MISSING, "rules[0].verdict"},
        {"{\"rules\":[{\"verdict\":\"ask\"},{\"verdict\":\"ask\"},{\"verdict\":\"maybe\"}]}",
         ACP_ERR_VARIANT, "rules[2].verdict"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"kinds\":\"read\"}]}", ACP_ERR_TYPE, "rules[0].kinds"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"kinds\":[]}]}", ACP_ERR_RANGE, "rules[0].kinds"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"kinds\":[\"read\",\"write\"]}]}", ACP_ERR_VARIANT,
         "rules[0].kinds[1]"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"kinds\":[\"read\",2]}]}", ACP_ERR_TYPE,
         "rules[0].kinds[1]"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"path\":7}]}", ACP_ERR_TYPE, "rules[0].path"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"path\":\"\"}]}", ACP_ERR_RANGE, "rules[0].path"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"path\":\"[a\"}]}", ACP_ERR_RANGE, "rules[0].path"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"path\":\"a/../b\"}]}", ACP_ERR_RANGE, "rules[0].path"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"path\":\"./b\"}]}", ACP_ERR_RANGE, "rules[0].path"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"path\":\"~ann/x\"}]}", ACP_ERR_RANGE, "rules[0].path"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"command\":\"x\\\\\"}]}", ACP_ERR_RANGE,
         "rules[0].command"},
        {"{\"rules\":[{\"verdict\":\"ask\",\"tool\":\"a\\u0000\"}]}", ACP_ERR_RANGE,
         "rules[0].tool"},
        {"{\"rules\":[{\"verdict\":\"allow\",\"comand\":\"make\"}]}", ACP_ERR_VARIANT,
         "rules[0].comand"},
        {"{\"rules\":[{\"verdict\":\"allow\",\"path\":\"\xff\"}]}", ACP_ERR_UTF8, "rules[0].path"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_policy *policy =
            load("{\"mode\":\"read-only\",\"rules\":[{\"verdict\":\"ask\"}]}");
        struct acp_failure failure = {0};
        int err = acp_policy_load(policy, acp_raw_from(rows[i].json), &failure);
        if (err != rows[i].err || strcmp(failure.path, rows[i].path) != 0)
            print_error("row %zu: %d %s %s\n", i, err, failure.path, failure.message);
        assert_int_equal(err, rows[i].err);
        assert_int_equal(failure.err, rows[i].err);
        assert_string_equal(failure.path, rows[i].path);
        assert_true(strlen(failure.message) > 5);
        assert_int_equal(acp_policy_load(policy, acp_raw_from(rows[i].json), NULL), rows[i].err);
        /* All or nothing. */
        assert_int_equal(acp_policy_rule_count(policy), 1);
        assert_int_equal(acp_policy_get_mode(policy), ACP_POLICY_READ_ONLY);
        acp_policy_free(policy);
    }
}

static void configurations_add_to_each_other(void **state)
{
    (void) state;
    struct acp_policy *policy =
        load("{\"mode\":\"full\",\"rules\":[{\"verdict\":\"ask\",\"kinds\":[\"read\",\"edit\"],"
             "\"path\":\"s\\u0072c/**\",\"command\":\"make *\",\"tool\":\"t\"}]}");
    assert_int_equal(
        acp_policy_load(policy, acp_raw_from("{\"rules\":[{\"verdict\":\"deny\"}]}"), NULL), 0);
    assert_int_equal(acp_policy_rule_count(policy), 2);
    assert_int_equal(acp_policy_get_mode(policy), ACP_POLICY_FULL);
    const struct acp_policy_rule *rule = acp_policy_rule_at(policy, 0);
    assert_int_equal(rule->verdict, ASK);
    assert_int_equal(rule->kinds, ACP_KIND_BIT(READ) | ACP_KIND_BIT(EDIT));
    assert_true(acp_str_is(rule->path, "src/**"));
    assert_true(acp_str_is(rule->command, "make *"));
    assert_true(acp_str_is(rule->tool, "t"));
    rule = acp_policy_rule_at(policy, 1);
    assert_true(rule->verdict == ACP_VERDICT_DENY && rule->kinds == 0 && !rule->path.ptr);
    assert_null(acp_policy_rule_at(policy, 2));
    acp_policy_free(policy);
}

static void rules_and_patterns_are_bounded(void **state)
{
    (void) state;
    struct acp_policy *policy = load("{}");
    struct acp_policy_rule rule = {.verdict = ACP_VERDICT_ASK};
    for (int i = 0; i < ACP_POLICY_MAX_RULES; i++)
        assert_int_equal(acp_policy_add(policy, &rule, NULL), 0);
    assert_int_equal(acp_policy_add(policy, &rule, NULL), ACP_ERR_LIMIT);
    acp_policy_free(policy);
    char *pattern = malloc(ACP_PATTERN_MAX + 1);
    assert_non_null(pattern);
    memset(pattern, 'x', ACP_PATTERN_MAX + 1);
    policy = load("{}");
    rule.command = acp_str_n(pattern, ACP_PATTERN_MAX);
    assert_int_equal(acp_policy_add(policy, &rule, NULL), 0);
    rule.command.len++;
    assert_int_equal(acp_policy_add(policy, &rule, NULL), ACP_ERR_RANGE);
    acp_policy_free(policy);
    free(pattern);
}

static void names_lead_there_and_back(void **state)
{
    (void) state;
    for (int i = READ; i <= OTHER; i++) {
        enum acp_tool_kind_is kind;
        assert_true(acp_kind_find(acp_str_from(acp_kind_name((enum acp_tool_kind_is) i)), &kind));
        assert_int_equal(kind, i);
        /* The codec has the same names. */
        char json[100];
        (void) snprintf(json, sizeof(json), "{\"toolCallId\":\"x\",\"kind\":\"%s\"}",
                        acp_kind_name((enum acp_tool_kind_is) i));
        struct acp_arena arena;
        struct acp_tool_call_update call;
        acp_arena_init(&arena, 0);
        assert_int_equal(
            acp_tool_call_update_decode(ACP_V1, acp_raw_from(json), &arena, &call, NULL), 0);
        assert_int_equal(call.kind.is, i);
        acp_arena_finish(&arena);
    }
    enum acp_tool_kind_is kind;
    assert_false(acp_kind_find(acp_str_from(""), &kind));
    assert_string_equal(acp_kind_name(ACP_TOOL_KIND_UNLISTED), "other");
    assert_string_equal(acp_verdict_name(ACP_VERDICT_ASK), "ask");
    assert_string_equal(acp_policy_mode_name(ACP_POLICY_READ_ONLY), "read-only");
}

/* ---- Requests and answers ------------------------------------------------------------------- */

static void answers_never_give_more_than_was_decided(void **state)
{
    (void) state;
    static const struct {
        const char *offered; /* a: allow once, A: allow always, r, R: reject; ?: another kind */
        int verdict;
        bool always;
        char want; /* '-' is cancelled */
    } rows[] = {
        {"aArR", ALLOW, false, 'a'}, {"aArR", ALLOW, true, 'A'},  {"aArR", DENY, false, 'r'},
        {"aArR", DENY, true, 'R'},   {"RrAa", ALLOW, false, 'a'}, {"Arr", ALLOW, false, '-'},
        {"ar", ALLOW, true, 'a'},    {"aR", DENY, false, 'R'},    {"ar", DENY, true, 'r'},
        {"rR", ALLOW, false, '-'},   {"rR", ALLOW, true, '-'},    {"aA", DENY, false, '-'},
        {"aA", DENY, true, '-'},     {"", ALLOW, false, '-'},     {"", DENY, false, '-'},
        {"?", ALLOW, false, '-'},    {"?", DENY, true, '-'},      {"aArR", ASK, false, '-'},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_permission_option options[4];
        size_t n = strlen(rows[i].offered);
        for (size_t k = 0; k < n; k++) {
            static const char letters[] = "aArR";
            const char *letter = strchr(letters, rows[i].offered[k]);
            int kind = letter ? (int) (letter - letters) + 1 : ACP_PERMISSION_OPTION_KIND_UNLISTED;
            acp_permission_option_init(&options[k], acp_str_n(&rows[i].offered[k], 1),
                                       acp_str_from("name"),
                                       (enum acp_permission_option_kind_is) kind);
        }
        struct acp_request_permission_outcome outcome;
        bool chosen = acp_policy_answer((enum acp_verdict) rows[i].verdict, rows[i].always,
                                        (struct acp_permission_option_list){options, n}, &outcome);
        assert_int_equal(chosen, rows[i].want != '-');
        if (chosen) {
            assert_int_equal(outcome.is, ACP_REQUEST_PERMISSION_OUTCOME_SELECTED);
            assert_int_equal(outcome.selected.option_id.ptr[0], rows[i].want);
        } else {
            assert_int_equal(outcome.is, ACP_REQUEST_PERMISSION_OUTCOME_CANCELLED);
        }
    }
}

static void requests_tell_what_they_are_about(void **state)
{
    (void) state;
#define CALL "{\"sessionId\":\"s\",\"toolCall\":{\"toolCallId\":\"t\","
#define OPTIONS "\"options\":[{\"optionId\":\"a\",\"name\":\"A\",\"kind\":\"allow_once\"}]}"
    /* In the order of reading.  NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
    static const struct {
        unsigned mode;
        const char *json;
        int kind;
        const char *title;
        const char *command;
        const char *paths;
    } rows[] = {
        {ACP_V1,
         CALL
         "\"kind\":\"edit\",\"title\":\"T\",\"locations\":[{\"path\":\"/a\"},{\"path\":\"/b\"}],"
         "\"content\":[{\"type\":\"diff\",\"path\":\"/a\",\"newText\":\"\"},"
         "{\"type\":\"diff\",\"path\":\"/c\",\"newText\":\"\"}]}," OPTIONS,
         EDIT, "T", NULL, "/a /b /c "},
        {ACP_V1,
         CALL "\"kind\":\"execute\",\"rawInput\":{\"x\":{\"command\":\"no\"},"
              "\"command\":\"make \\u0026\\u0026 x\"}}," OPTIONS,
         EXECUTE, "", "make && x", ""},
        {ACP_V1, CALL "\"rawInput\":{\"command\":[\"bash\",\"-lc\",\"git status; rm\"]}}," OPTIONS,
         ACP_TOOL_KIND_ABSENT, "", "bash -lc 'git status; rm'", ""},
        {ACP_V1, CALL "\"rawInput\":{\"command\":{\"a\":1}}}," OPTIONS, ACP_TOOL_KIND_ABSENT, "",
         "{\"command\":{\"a\":1}}", ""},
        {ACP_V1, CALL "\"rawInput\":[1]}," OPTIONS, ACP_TOOL_KIND_ABSENT, "", NULL, ""},
        {ACP_V2,
         "{\"sessionId\":\"s\",\"title\":\"Run it?\",\"subject\":{\"type\":\"command\",\"command\":"
         "\"make\",\"cwd\":\"/x\"}," OPTIONS,
         EXECUTE, "Run it?", "make", ""},
        {ACP_V2,
         "{\"sessionId\":\"s\",\"title\":\"Move?\",\"subject\":{\"type\":\"tool_call\","
         "\"toolCall\":{\"toolCallId\":\"t\",\"kind\":\"move\",\"content\":[{\"type\":\"diff\","
         "\"changes\":[{\"operation\":\"move\",\"oldPath\":\"/a\",\"path\":\"/b\","
         "\"fileType\":\"text\"}]}]}}," OPTIONS,
         MOVE, "Move?", NULL, "/a /b "},
        {ACP_V2,
         "{\"sessionId\":\"s\",\"title\":\"Edit?\",\"subject\":{\"type\":\"tool_call\","
         "\"toolCall\":{\"toolCallId\":\"t\",\"kind\":\"edit\",\"content\":[{\"type\":\"diff\","
         "\"changes\":[{\"operation\":\"add\",\"path\":\"/a\",\"fileType\":\"text\"},"
         "{\"operation\":\"delete\",\"path\":\"/b\",\"fileType\":\"text\"},"
         "{\"operation\":\"modify\",\"path\":\"/c\",\"fileType\":\"text\"}]}]}}," OPTIONS,
         EDIT, "Edit?", NULL, "/a /b /c "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_arena arena;
        struct acp_request_permission_request request;
        struct acp_failure failure = {0};
        struct acp_action action;
        acp_arena_init(&arena, 0);
        if (acp_request_permission_request_decode(rows[i].mode, acp_raw_from(rows[i].json), &arena,
                                                  &request, &failure))
            print_error("row %zu: %s %s\n", i, failure.path, failure.message);
        assert_int_equal(failure.err, 0);
        assert_int_equal(acp_action_from_request(&request, &arena, &action), 0);
        assert_int_equal(action.kind, rows[i].kind);
        assert_true(acp_str_is(action.title, rows[i].title));
        assert_true(acp_str_eq(action.command, acp_str_from(rows[i].command)));
        assert_true(acp_str_is(action.session_id, "s"));
        char paths[100] = "";
        size_t n = 0;
        for (size_t k = 0; k < action.paths.count; k++)
            n += (size_t) snprintf(paths + n, sizeof(paths) - n, "%.*s ",
                                   (int) action.paths.items[k].len, action.paths.items[k].ptr);
        assert_string_equal(paths, rows[i].paths);
        /* A change that is told as a patch leaves no content to compare with. */
        for (size_t k = 0; k < action.edits.count; k++)
            assert_int_equal(action.edits.items[k].known, rows[i].mode == ACP_V1);
        acp_arena_finish(&arena);
    }
}

static void requests_with_endless_paths_are_refused(void **state)
{
    (void) state;
    static struct acp_tool_call_location locations[ACP_ACTION_MAX_PATHS + 1];
    static char names[ACP_ACTION_MAX_PATHS + 1][16];
    for (size_t i = 0; i <= ACP_ACTION_MAX_PATHS; i++) {
        (void) snprintf(names[i], sizeof(names[i]), "/%zu", i);
        locations[i].path = acp_str_from(names[i]);
    }
    struct acp_request_permission_request request = {0};
    struct acp_arena arena;
    struct acp_action action;
    acp_arena_init(&arena, 0);
    request.tool_call.locations =
        (struct acp_tool_call_location_list){locations, ACP_ACTION_MAX_PATHS};
    assert_int_equal(acp_action_from_request(&request, &arena, &action), 0);
    assert_int_equal(action.paths.count, ACP_ACTION_MAX_PATHS);
    request.tool_call.locations.count++;
    assert_int_equal(acp_action_from_request(&request, &arena, &action), ACP_ERR_LIMIT);
    acp_arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_the_configuration_are_told_with_their_place),
        cmocka_unit_test(configurations_add_to_each_other),
        cmocka_unit_test(rules_and_patterns_are_bounded),
        cmocka_unit_test(names_lead_there_and_back),
        cmocka_unit_test(answers_never_give_more_than_was_decided),
        cmocka_unit_test(requests_tell_what_they_are_about),
        cmocka_unit_test(requests_with_endless_paths_are_refused),
    };
    return cmocka_run_group_tests_name("policy-config", tests, NULL, NULL);
}
