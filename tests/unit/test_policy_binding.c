/*
 * What a permission is bound to: environment, directory and content of an action.  Allow rules and
 * grants must not reach further than the command line they name; what restricts still does.
 */
#define _GNU_SOURCE

#include "helpers.h"

#include "acp/policy.h"
#include "workspace/digest.h"

enum { DENY = ACP_VERDICT_DENY, ASK = ACP_VERDICT_ASK, ALLOW = ACP_VERDICT_ALLOW };

static const struct acp_str_entry variables[] = {
    {ACP_STR("PATH"), ACP_STR("/work/evil")},
    {ACP_STR("LD_PRELOAD"), ACP_STR("/work/x.so")},
    {ACP_STR("GIT_CONFIG_COUNT"), ACP_STR("1")},
    {ACP_STR("HARMLESS"), ACP_STR("")},
    {ACP_STR("LANG"), ACP_STR("C")},
};

static int decide(const char *verdict, const char *conditions, const struct acp_action *action)
{
    struct acp_policy *policy = NULL;
    char json[400];
    (void) snprintf(json, sizeof(json), "{\"rules\":[{\"verdict\":\"%s\"%s}]}", verdict,
                    conditions);
    assert_int_equal(acp_policy_new(&policy), 0);
    assert_int_equal(acp_policy_load(policy, acp_raw_from(json), NULL), 0);
    int got = (int) acp_policy_decide(policy, NULL, action, 0, true).verdict;
    acp_policy_free(policy);
    return got;
}

static struct acp_action git_status(void)
{
    return (struct acp_action){.kind = ACP_TOOL_KIND_EXECUTE,
                               .command = acp_str_from("git status"),
                               .cwd = acp_str_from("/work")};
}

static const char *const narrow[] = {
    ",\"command\":\"git status\"", ",\"command\":\"git status*\"",
    ",\"command\":\"git *\"",      ",\"command\":\"?* *\"",
    ",\"command\":\"**\"",         ",\"kinds\":[\"execute\"],\"command\":\"git status\"",
};

/* These permit any command, `env X=1 sh -c ...` included. */
static const char *const any[] = {"", ",\"kinds\":[\"execute\"]", ",\"command\":\"*\"",
                                  ",\"command\":\" * \""};

static void variables_of_the_agent_are_not_permitted_by_a_command(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(variables); i++) {
        struct acp_action action = git_status();
        for (size_t k = 0; k < COUNT(narrow); k++)
            assert_int_equal(decide("allow", narrow[k], &action), ALLOW);
        action.env = (struct acp_str_map){&variables[i], 1};
        for (size_t k = 0; k < COUNT(narrow); k++) {
            assert_int_equal(decide("allow", narrow[k], &action), ASK);
            assert_int_equal(decide("deny", narrow[k], &action), DENY);
        }
        for (size_t k = 0; k < COUNT(any); k++)
            assert_int_equal(decide("allow", any[k], &action), ALLOW);
    }
}

static void another_directory_is_not_permitted_by_a_command(void **state)
{
    (void) state;
    static const struct {
        const char *directory;
        bool same;
    } rows[] = {
        {NULL, true},          {"", true},           {"/work", true}, {"/work/", true},
        {"/work/.", true},     {"/work/a/..", true}, {".", true},     {"/work/sub", false},
        {"sub", false},        {"..", false},        {"/", false},    {"/work2", false},
        {"/workspace", false}, {"{\"a\":1}", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_action action = git_status();
        action.command_cwd = acp_str_from(rows[i].directory);
        for (size_t k = 0; k < COUNT(narrow); k++) {
            int got = decide("allow", narrow[k], &action);
            if (got != (rows[i].same ? ALLOW : ASK))
                print_error("%s in %s\n", narrow[k], rows[i].directory);
            assert_int_equal(got, rows[i].same ? ALLOW : ASK);
            assert_int_equal(decide("deny", narrow[k], &action), DENY);
        }
        assert_int_equal(decide("allow", any[2], &action), ALLOW);
    }
    /* Without a directory to compare with, none is the same. */
    struct acp_action action = git_status();
    action.cwd = acp_str_from(NULL);
    action.command_cwd = acp_str_from("/work");
    assert_int_equal(decide("allow", narrow[0], &action), ASK);
}

static void grants_cannot_express_variables_or_directories(void **state)
{
    (void) state;
    struct acp_ledger *ledger = NULL;
    struct acp_policy *policy = NULL;
    struct acp_grant yes = {.allow = true, .scope = ACP_GRANT_EVERYWHERE};
    struct acp_grant no = {.allow = false, .scope = ACP_GRANT_EVERYWHERE};
    struct acp_failure failure = {0};
    assert_int_equal(acp_ledger_new(&ledger), 0);
    assert_int_equal(acp_policy_new(&policy), 0);
    struct acp_action altered[] = {git_status(), git_status()};
    altered[0].env = (struct acp_str_map){variables, 1};
    altered[1].command_cwd = acp_str_from("/work/sub");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(acp_ledger_remember(ledger, &altered[i], &yes, &failure), ACP_ERR_MISSING);
        assert_non_null(strstr(failure.message, "environment"));
        assert_int_equal(acp_ledger_count(ledger), 0);
    }
    struct acp_action action = git_status();
    assert_int_equal(acp_ledger_remember(ledger, &action, &yes, NULL), 0);
    assert_int_equal(acp_policy_decide(policy, ledger, &action, 0, true).verdict, ALLOW);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(acp_policy_decide(policy, ledger, &altered[i], 0, true).verdict, ASK);
    /* A rejection reaches further than a permission. */
    assert_int_equal(acp_ledger_remember(ledger, &altered[0], &no, NULL), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(acp_policy_decide(policy, ledger, &altered[i], 0, true).verdict, DENY);
    acp_ledger_free(ledger);
    acp_policy_free(policy);
}

/* The paths of a command are what the agent says they are. */
static void a_path_does_not_permit_a_command(void **state)
{
    (void) state;
    struct acp_str path = acp_str_from("/work/src/a");
    struct acp_action action = git_status();
    action.kind = ACP_TOOL_KIND_EDIT;
    action.paths = (struct acp_str_list){&path, 1};
    assert_int_equal(decide("allow", ",\"path\":\"src/**\"", &action), ASK);
    assert_int_equal(decide("allow", ",\"path\":\"src/**\",\"kinds\":[\"edit\"]", &action), ASK);
    assert_int_equal(decide("allow", ",\"path\":\"src/**\",\"kinds\":[\"execute\"]", &action),
                     ALLOW);
    assert_int_equal(decide("deny", ",\"path\":\"src/**\"", &action), DENY);
    action.command = acp_str_from(NULL);
    assert_int_equal(decide("allow", ",\"path\":\"src/**\"", &action), ALLOW);
}

/* ---- What requests tell ---------------------------------------------------------------------- */

static void read_request(const char *call, struct acp_arena *arena, struct acp_action *ret)
{
    struct acp_request_permission_request request;
    struct acp_failure failure = {0};
    char json[4096];
    (void) snprintf(json, sizeof(json),
                    "{\"sessionId\":\"s\",\"toolCall\":{\"toolCallId\":\"t\",%s},\"options\":[]}",
                    call);
    acp_arena_init(arena, 0);
    struct acp_str copy = acp_arena_copy(arena, acp_str_from(json));
    if (acp_request_permission_request_decode(ACP_V1, acp_raw_n(copy.ptr, copy.len), arena,
                                              &request, &failure))
        print_error("%s: %s %s\n", json, failure.path, failure.message);
    assert_int_equal(failure.err, 0);
    assert_int_equal(acp_action_from_request(&request, arena, ret), 0);
}

static void a_command_that_cannot_be_read_matches_no_pattern(void **state)
{
    (void) state;
    static const char *const commands[] = {
        "[]",
        "[1]",
        "[\"\"]",
        "[null]",
        "[\"git\",1]",
        "[\"git\",[\"status\"]]",
        "[\"git\",{\"a\":\"status\"}]",
        "{\"git\":\"status\"}",
        "null",
        "7",
        "true",
        "\"git status\",\"command\":\"git status\"", /* which of the two is run? */
        "[\"git\",\"status\"],\"command\":\"git status\"",
    };
    for (size_t i = 0; i < COUNT(commands); i++) {
        char call[300];
        struct acp_arena arena;
        struct acp_action action = {0};
        (void) snprintf(call, sizeof(call), "\"rawInput\":{\"command\":%s}", commands[i]);
        read_request(call, &arena, &action);
        assert_true(action.command.len > 0);
        for (size_t k = 0; k < COUNT(narrow); k++)
            assert_int_equal(decide("allow", narrow[k], &action), ASK);
        assert_int_equal(decide("allow", ",\"command\":\"{*\"", &action), ASK);
        assert_int_equal(decide("allow", ",\"kinds\":[\"edit\",\"other\"]", &action), ASK);
        assert_int_equal(decide("deny", ",\"command\":\"*\"", &action), DENY);
        acp_arena_finish(&arena);
    }
    /* 64 words can be read, 65 cannot. */
    for (int words = 64; words <= 65; words++) {
        char call[1000] = "\"rawInput\":{\"command\":[\"git\"";
        struct acp_arena arena;
        struct acp_action action = {0};
        for (int i = 1; i < words; i++)
            (void) snprintf(call + strlen(call), sizeof(call) - strlen(call), "%s", ",\"s\"");
        (void) snprintf(call + strlen(call), sizeof(call) - strlen(call), "%s", "]}");
        read_request(call, &arena, &action);
        assert_int_equal(decide("allow", ",\"command\":\"git *\"", &action),
                         words == 64 ? ALLOW : ASK);
        acp_arena_finish(&arena);
    }
}

static void requests_tell_variables_and_directory(void **state)
{
    (void) state;
    static const struct {
        const char *input;
        const char *cwd;
        const char *env;
    } rows[] = {
        {"{\"command\":\"make\"}", NULL, ""},
        {"{\"command\":\"make\",\"cwd\":\"/x\"}", "/x", ""},
        {"{\"workdir\":\"y\",\"command\":\"make\"}", "y", ""},
        {"{\"command\":\"make\",\"cwd\":null,\"env\":null}", NULL, ""},
        {"{\"command\":\"make\",\"cwd\":[1]}", "[1]", ""},
        {"{\"command\":\"make\",\"cwd\":\"/x\",\"workdir\":\"/y\"}", "\"/y\"", ""},
        {"{\"command\":\"make\",\"env\":{}}", NULL, ""},
        {"{\"command\":\"make\",\"env\":{\"A\":\"1\",\"B\":\"\"}}", NULL, "A=1 B= "},
        {"{\"command\":\"make\",\"env\":{\"A\":1}}", NULL, "env={\"A\":1} "},
        {"{\"command\":\"make\",\"env\":[\"A=1\"]}", NULL, "env=[\"A=1\"] "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char call[300];
        char env[200] = "";
        size_t n = 0;
        struct acp_arena arena;
        struct acp_action action = {0};
        (void) snprintf(call, sizeof(call), "\"rawInput\":%s", rows[i].input);
        read_request(call, &arena, &action);
        assert_true(acp_str_is(action.command, "make"));
        assert_true(acp_str_eq(action.command_cwd, acp_str_from(rows[i].cwd)));
        for (size_t k = 0; k < action.env.count; k++)
            n += (size_t) snprintf(env + n, sizeof(env) - n, "%.*s=%.*s ",
                                   (int) action.env.items[k].key.len, action.env.items[k].key.ptr,
                                   (int) action.env.items[k].value.len,
                                   action.env.items[k].value.ptr);
        assert_string_equal(env, rows[i].env);
        acp_arena_finish(&arena);
    }
}

/* 63 variables can be read; with more, their JSON stands for them. */
static void many_variables_are_not_dropped(void **state)
{
    (void) state;
    for (int count = 63; count <= 64; count++) {
        char call[2000] = "\"rawInput\":{\"command\":\"make\",\"env\":{\"V\":\"\"";
        struct acp_arena arena;
        struct acp_action action = {0};
        for (int i = 1; i < count; i++)
            (void) snprintf(call + strlen(call), sizeof(call) - strlen(call), ",\"V%d\":\"\"", i);
        (void) snprintf(call + strlen(call), sizeof(call) - strlen(call), "}}");
        read_request(call, &arena, &action);
        assert_int_equal(action.env.count, count == 63 ? 63 : 1);
        assert_int_equal(decide("allow", ",\"command\":\"make\"", &action), ASK);
        acp_arena_finish(&arena);
    }
}

/* A path that cannot be one is kept off by what restricts, and permitted by nothing. */
static void endless_paths_are_permitted_by_nothing(void **state)
{
    (void) state;
    static char name[9000];
    memset(name, 'x', sizeof(name));
    struct acp_str path = acp_str_n(name, sizeof(name));
    struct acp_action action = {.kind = ACP_TOOL_KIND_EDIT, .cwd = acp_str_from("/work")};
    action.paths = (struct acp_str_list){&path, 1};
    for (int absolute = 0; absolute < 2; absolute++) {
        name[0] = absolute ? '/' : 'x';
        assert_int_equal(decide("allow", ",\"path\":\"**\"", &action), ASK);
        assert_int_equal(decide("allow", ",\"path\":\"/**\"", &action), ASK);
        assert_int_equal(decide("deny", ",\"path\":\"none\"", &action), DENY);
    }
}

static void print_digest(const struct acp_action_edit *edit, char ret[2 * ACP_DIGEST_SIZE + 1])
{
    for (size_t i = 0; i < ACP_DIGEST_SIZE; i++)
        (void) snprintf(ret + 2 * i, 3, "%02x", edit->digest[i]);
}

static void requests_tell_what_files_will_hold(void **state)
{
    (void) state;
    struct acp_arena arena;
    struct acp_action action = {0};
    char digest[2 * ACP_DIGEST_SIZE + 1];
    read_request("\"kind\":\"edit\",\"content\":[{\"type\":\"diff\",\"path\":\"/a\","
                 "\"oldText\":\"x\",\"newText\":\"abc\"},{\"type\":\"content\",\"content\":"
                 "{\"type\":\"text\",\"text\":\"t\"}},{\"type\":\"diff\",\"path\":\"/b\","
                 "\"newText\":\"\"}]",
                 &arena, &action);
    assert_int_equal(action.edits.count, 2);
    assert_true(acp_str_is(action.edits.items[0].path, "/a"));
    assert_true(action.edits.items[0].known);
    assert_int_equal(action.edits.items[0].size, 3);
    print_digest(&action.edits.items[0], digest);
    assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(action.edits.items[1].size, 0);
    acp_arena_finish(&arena);
}

/* Against sha256sum(1), for all lengths around the border of a block and some beyond. */
static void digests_are_sha_256(void **state)
{
    (void) state;
    static const struct {
        size_t length; /* of "a" */
        const char *digest;
    } rows[] = {
        {0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
        {1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    char *text = malloc(1000000);
    assert_non_null(text);
    memset(text, 'a', 1000000);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_action_edit edit;
        char digest[2 * ACP_DIGEST_SIZE + 1];
        struct acp_raw exact = test_exact(acp_raw_n(text, rows[i].length));
        acp_action_edit_init(&edit, acp_str_from("/a"), acp_str_n(exact.ptr, exact.len));
        test_exact_free(exact);
        print_digest(&edit, digest);
        assert_string_equal(digest, rows[i].digest);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_of_the_agent_are_not_permitted_by_a_command),
        cmocka_unit_test(another_directory_is_not_permitted_by_a_command),
        cmocka_unit_test(grants_cannot_express_variables_or_directories),
        cmocka_unit_test(a_path_does_not_permit_a_command),
        cmocka_unit_test(a_command_that_cannot_be_read_matches_no_pattern),
        cmocka_unit_test(requests_tell_variables_and_directory),
        cmocka_unit_test(many_variables_are_not_dropped),
        cmocka_unit_test(endless_paths_are_permitted_by_nothing),
        cmocka_unit_test(requests_tell_what_files_will_hold),
        cmocka_unit_test(digests_are_sha_256),
    };
    return cmocka_run_group_tests_name("policy-binding", tests, NULL, NULL);
}
