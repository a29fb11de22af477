/*
 * Decisions when out of memory: with each allocation failing in turn, nothing is allowed that
 * memory would have asked about or denied, and nothing that was told is dropped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "acp/policy.h"
#include "test_memory.h"

static const char rules[] = "{\"rules\":[{\"verdict\":\"allow\",\"command\":\"git *\"},"
                            "{\"verdict\":\"deny\",\"command\":\"rm *\"},"
                            "{\"verdict\":\"allow\",\"path\":\"src/**\"},"
                            "{\"verdict\":\"deny\",\"path\":\"**/.env\"}]}";

static void a_decision_without_memory_is_never_looser(void **state)
{
    (void) state;
    static const struct acp_str roots[] = {ACP_STR("/no/other"), ACP_STR("/no/third")};
    static const struct acp_str paths[] = {ACP_STR("/no/ws/src/a"), ACP_STR("/no/ws/src/.env")};
    static const char *const commands[] = {"git status", "git status; rm x", "make", "rm x", NULL};
    struct acp_policy *policy = NULL;
    assert_int_equal(acp_policy_new(&policy), 0);
    assert_int_equal(acp_policy_load(policy, acp_raw_from(rules), NULL), 0);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        struct acp_action action = {.kind = ACP_TOOL_KIND_EDIT,
                                    .command = acp_str_from(commands[i])};
        action.cwd = acp_str_from("/no/ws");
        action.additional = (struct acp_str_list){roots, 2};
        if (!commands[i])
            action.paths = (struct acp_str_list){paths, 2};
        enum acp_verdict want = acp_policy_decide(policy, NULL, &action, 0, true).verdict;
        for (int sticky = 0; sticky < 2; sticky++)
            for (long n = 1; n < 1000; n++) {
                test_struck = false;
                test_sticky = sticky;
                test_countdown = n;
                struct acp_decision d = acp_policy_decide(policy, NULL, &action, 0, true);
                test_countdown = 0;
                if (!test_struck)
                    break;
                assert_true(d.verdict <= want);
                /* The first is for the roots, and without it nothing is known. */
                if (n == 1)
                    assert_int_equal(d.by, ACP_DECIDED_BY_ERROR);
            }
    }
    acp_policy_free(policy);
}

static void a_request_is_read_whole_or_not_at_all(void **state)
{
    (void) state;
    static const char json[] =
        "{\"sessionId\":\"s\",\"toolCall\":{\"toolCallId\":\"t\",\"locations\":[{\"path\":\"/a\"},"
        "{\"path\":\"/b\"}],\"content\":[{\"type\":\"diff\",\"path\":\"/c\",\"newText\":\"x\"}],"
        "\"rawInput\":{\"command\":[\"rm\",\"a b\"],\"env\":{\"A\":\"\\u0031\"},\"cwd\":\"/x\"}},"
        "\"options\":[]}";
    bool struck = true;
    for (long n = 1; struck && n < 1000; n++) {
        struct acp_arena arena;
        struct acp_request_permission_request request;
        struct acp_action action = {0};
        acp_arena_init(&arena, 0);
        assert_int_equal(acp_request_permission_request_decode(ACP_V1, acp_raw_from(json), &arena,
                                                               &request, NULL),
                         0);
        struct acp_arena own;
        acp_arena_init(&own, 0);
        test_struck = false;
        test_sticky = true;
        test_countdown = n;
        int err = acp_action_from_request(&request, &own, &action);
        test_countdown = 0;
        struck = test_struck;
        assert_int_equal(err, struck ? ACP_ERR_NOMEM : 0);
        if (!err) {
            assert_true(acp_str_is(action.command, "rm 'a b'"));
            assert_int_equal(action.env.count, 1);
            assert_true(acp_str_is(action.command_cwd, "/x"));
            assert_int_equal(action.paths.count, 3);
            assert_int_equal(action.edits.count, 1);
        }
        acp_arena_finish(&own);
        acp_arena_finish(&arena);
    }
    assert_false(struck);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decision_without_memory_is_never_looser),
        cmocka_unit_test(a_request_is_read_whole_or_not_at_all),
    };
    return cmocka_run_group_tests_name("policy-nomem", tests, NULL, NULL);
}
