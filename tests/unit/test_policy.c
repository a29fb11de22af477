/*
 * The policy: rules, modes, what overrules what, and paths with their links.  Paths under /no are
 * nowhere, so they are what they look like.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "acp/policy.h"

enum { DENY = ACP_VERDICT_DENY, ASK = ACP_VERDICT_ASK, ALLOW = ACP_VERDICT_ALLOW };
enum {
    READ = ACP_TOOL_KIND_READ,
    EDIT = ACP_TOOL_KIND_EDIT,
    DELETE = ACP_TOOL_KIND_DELETE,
    MOVE = ACP_TOOL_KIND_MOVE,
    SEARCH = ACP_TOOL_KIND_SEARCH,
    EXECUTE = ACP_TOOL_KIND_EXECUTE,
    THINK = ACP_TOOL_KIND_THINK,
    FETCH = ACP_TOOL_KIND_FETCH,
    SWITCH = ACP_TOOL_KIND_SWITCH_MODE,
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

static struct acp_action action_on(int kind, struct acp_str *path)
{
    static struct acp_str extra;
    extra = acp_str_from("/no/extra");
    return (struct acp_action){.kind = (enum acp_tool_kind_is) kind,
                               .paths = {path, path && path->ptr ? 1 : 0},
                               .cwd = acp_str_from("/no/ws"),
                               .additional = {&extra, 1},
                               .session_id = acp_str_from("s1")};
}

static int decide(const struct acp_policy *policy, int kind, const char *path, const char *command)
{
    struct acp_str item = acp_str_from(path);
    struct acp_action action = action_on(kind, &item);
    action.command = acp_str_from(command);
    return (int) acp_policy_decide(policy, NULL, &action, 0, true).verdict;
}

/* ---- Modes ---------------------------------------------------------------------------------- */

static void modes_decide_what_no_rule_does(void **state)
{
    (void) state;
    static const char *const names[] = {"safe", "read-only", "sandbox", "full"};
    static const char *const in = "/no/ws/a";
    static const char *const also_in = "/no/extra/a";
    static const char *const out = "/no/else/a";
    /* In the order of reading.  NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
    const struct {
        int kind;
        const char *path;
        int want[5]; /* safe, read-only, sandbox, full; sandbox when it is sandboxed */
    } rows[] = {
        {READ, in, {ALLOW, ALLOW, ALLOW, ALLOW, ALLOW}},
        {READ, also_in, {ALLOW, ALLOW, ALLOW, ALLOW, ALLOW}},
        {READ, "/no/ws", {ALLOW, ALLOW, ALLOW, ALLOW, ALLOW}},
        {READ, "/no/ws/../else", {ASK, ASK, DENY, ALLOW, DENY}},
        {READ, "/no/wsx", {ASK, ASK, DENY, ALLOW, DENY}},
        {READ, "a/b", {ALLOW, ALLOW, ALLOW, ALLOW, ALLOW}},
        {READ, "../else", {ASK, ASK, DENY, ALLOW, DENY}},
        {READ, out, {ASK, ASK, DENY, ALLOW, DENY}},
        {READ, NULL, {ASK, ASK, ASK, ALLOW, ALLOW}},
        {SEARCH, in, {ALLOW, ALLOW, ALLOW, ALLOW, ALLOW}},
        {SEARCH, out, {ASK, ASK, DENY, ALLOW, DENY}},
        {SEARCH, NULL, {ASK, ASK, ASK, ALLOW, ALLOW}},
        {EDIT, in, {ASK, DENY, ALLOW, ALLOW, ALLOW}},
        {EDIT, out, {ASK, DENY, DENY, ALLOW, DENY}},
        {EDIT, NULL, {ASK, DENY, ASK, ALLOW, ALLOW}},
        {DELETE, in, {ASK, DENY, ALLOW, ALLOW, ALLOW}},
        {DELETE, out, {ASK, DENY, DENY, ALLOW, DENY}},
        {MOVE, in, {ASK, DENY, ALLOW, ALLOW, ALLOW}},
        {MOVE, out, {ASK, DENY, DENY, ALLOW, DENY}},
        {EXECUTE, NULL, {ASK, DENY, ASK, ALLOW, ALLOW}},
        {EXECUTE, in, {ASK, DENY, ASK, ALLOW, ALLOW}},
        {EXECUTE, out, {ASK, DENY, DENY, ALLOW, DENY}},
        {THINK, NULL, {ALLOW, ALLOW, ALLOW, ALLOW, ALLOW}},
        {FETCH, NULL, {ASK, ASK, ASK, ALLOW, ASK}},
        {SWITCH, NULL, {ASK, ASK, ASK, ALLOW, ASK}},
        {OTHER, NULL, {ASK, ASK, ASK, ALLOW, ALLOW}},
        {OTHER, in, {ASK, ASK, ALLOW, ALLOW, ALLOW}},
        {OTHER, out, {ASK, ASK, DENY, ALLOW, DENY}},
        {ACP_TOOL_KIND_ABSENT, NULL, {ASK, ASK, ASK, ALLOW, ALLOW}},
        {ACP_TOOL_KIND_NULL, in, {ASK, ASK, ALLOW, ALLOW, ALLOW}},
        {ACP_TOOL_KIND_UNLISTED, out, {ASK, ASK, DENY, ALLOW, DENY}},
    };
    struct acp_policy *policy = load("{}");
    assert_int_equal(acp_policy_get_mode(policy), ACP_POLICY_SAFE);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int m = 0; m < 5; m++) {
            struct acp_str path = acp_str_from(rows[i].path);
            struct acp_action action = action_on(rows[i].kind, &path);
            action.sandboxed = m == 4;
            enum acp_policy_mode mode;
            assert_true(acp_policy_mode_find(acp_str_from(names[m == 4 ? 2 : m]), &mode));
            acp_policy_set_mode(policy, mode);
            struct acp_decision d = acp_policy_decide(policy, NULL, &action, 0, true);
            if ((int) d.verdict != rows[i].want[m])
                print_error("row %zu, mode %d: %d\n", i, m, (int) d.verdict);
            assert_int_equal(d.verdict, rows[i].want[m]);
            assert_int_equal(d.by, ACP_DECIDED_BY_MODE);
        }
    acp_policy_free(policy);
    acp_policy_free(NULL);
}

static void without_a_person_the_answer_is_no(void **state)
{
    (void) state;
    struct acp_policy *policy = load("{}");
    struct acp_str path = acp_str_from("/no/ws/a");
    struct acp_action action = action_on(EDIT, &path);
    struct acp_decision d = acp_policy_decide(policy, NULL, &action, 0, false);
    assert_int_equal(d.verdict, DENY);
    assert_int_equal(d.by, ACP_DECIDED_BY_NOBODY);
    action.kind = ACP_TOOL_KIND_READ;
    assert_int_equal(acp_policy_decide(policy, NULL, &action, 0, false).verdict, ALLOW);
    acp_policy_free(policy);
}

static void the_strictest_of_several_paths_counts(void **state)
{
    (void) state;
    struct acp_policy *policy =
        load("{\"mode\":\"sandbox\",\"rules\":[{\"verdict\":\"ask\",\"path\":\"ask\"}]}");
    struct acp_str paths[] = {acp_str_from("/no/ws/a"), acp_str_from("/no/ws/ask"),
                              acp_str_from("/no/else")};
    struct acp_action action = action_on(MOVE, paths);
    const int want[] = {ALLOW, ASK, DENY};
    for (size_t n = 1; n <= 3; n++) {
        action.paths = (struct acp_str_list){paths, n};
        struct acp_decision d = acp_policy_decide(policy, NULL, &action, 0, true);
        assert_int_equal(d.verdict, want[n - 1]);
        assert_true(acp_str_eq(d.path, paths[n - 1]));
    }
    acp_policy_free(policy);
}

static void a_command_is_executed_whatever_its_kind_says(void **state)
{
    (void) state;
    struct acp_policy *policy = load("{}");
    assert_int_equal(decide(policy, READ, "/no/ws/a", "rm -rf /"), ASK);
    acp_policy_set_mode(policy, ACP_POLICY_READ_ONLY);
    assert_int_equal(decide(policy, THINK, NULL, "rm -rf /"), DENY);
    acp_policy_free(policy);
}

/* ---- What overrules what -------------------------------------------------------------------- */

static void rules_overrule_each_other_in_order(void **state)
{
    (void) state;
    /* In the order of reading.  NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
    static const struct {
        const char *config;
        int kind;
        const char *path;
        int want;
    } rows[] = {
        /* Deny wins wherever it stands, in every mode. */
        {"{\"rules\":[{\"verdict\":\"deny\"},{\"verdict\":\"allow\"}]}", READ, "/no/ws/a", DENY},
        {"{\"rules\":[{\"verdict\":\"allow\"},{\"verdict\":\"deny\"}]}", READ, "/no/ws/a", DENY},
        {"{\"mode\":\"full\",\"rules\":[{\"verdict\":\"deny\",\"path\":\"a\"}]}", READ, "/no/ws/a",
         DENY},
        /* Of the rest the last one. */
        {"{\"rules\":[{\"verdict\":\"allow\"},{\"verdict\":\"ask\"}]}", EDIT, "/no/ws/a", ASK},
        {"{\"rules\":[{\"verdict\":\"ask\"},{\"verdict\":\"allow\"}]}", EDIT, "/no/ws/a", ALLOW},
        {"{\"rules\":[{\"verdict\":\"ask\",\"path\":\"a\"}]}", READ, "/no/ws/a", ASK},
        {"{\"rules\":[{\"verdict\":\"ask\",\"path\":\"a\"}]}", READ, "/no/ws/b", ALLOW},
        /* Rules do not lift what the mode denies, and full does not ask. */
        {"{\"mode\":\"read-only\",\"rules\":[{\"verdict\":\"allow\"}]}", EDIT, "/no/ws/a", DENY},
        {"{\"mode\":\"sandbox\",\"rules\":[{\"verdict\":\"allow\"}]}", READ, "/no/else", DENY},
        {"{\"mode\":\"full\",\"rules\":[{\"verdict\":\"ask\"}]}", EDIT, "/no/else", ALLOW},
        /* Kinds. */
        {"{\"rules\":[{\"verdict\":\"allow\",\"kinds\":[\"edit\"]}]}", EDIT, "/no/ws/a", ALLOW},
        {"{\"rules\":[{\"verdict\":\"allow\",\"kinds\":[\"edit\"]}]}", DELETE, "/no/ws/a", ASK},
        {"{\"rules\":[{\"verdict\":\"allow\",\"kinds\":[\"edit\",\"delete\"]}]}", DELETE, "/no/x",
         ALLOW},
        {"{\"rules\":[{\"verdict\":\"allow\",\"kinds\":[\"other\"]}]}", ACP_TOOL_KIND_UNLISTED,
         NULL, ALLOW},
        /* A path is asked for, and there is none. */
        {"{\"rules\":[{\"verdict\":\"allow\",\"path\":\"**\"}]}", EDIT, NULL, ASK},
        {"{\"rules\":[{\"verdict\":\"deny\",\"path\":\"**\"}]}", EDIT, NULL, ASK},
        {"{\"rules\":[{\"verdict\":\"allow\",\"command\":\"*\"}]}", EXECUTE, NULL, ASK},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_policy *policy = load(rows[i].config);
        int got = decide(policy, rows[i].kind, rows[i].path, NULL);
        if (got != rows[i].want)
            print_error("row %zu: %d\n", i, got);
        assert_int_equal(got, rows[i].want);
        acp_policy_free(policy);
    }
}

static void decisions_tell_what_made_them(void **state)
{
    (void) state;
    struct acp_policy *policy = load("{\"rules\":[{\"verdict\":\"allow\",\"path\":\"b\"},"
                                     "{\"verdict\":\"deny\",\"path\":\"c\"}]}");
    static const struct {
        const char *path;
        bool person;
        const char *text;
    } rows[] = {
        {"/no/ws/a", true, "to be asked by the mode"},
        {"/no/ws/a", false, "denied because nobody is there to be asked"},
        {"/no/ws/b", true, "allowed by rules[0]"},
        {"/no/ws/c", true, "denied by rules[1]"},
    };
    for (size_t i = 0; i < 4; i++) {
        struct acp_str path = acp_str_from(rows[i].path);
        struct acp_action action = action_on(EDIT, &path);
        struct acp_decision d = acp_policy_decide(policy, NULL, &action, 0, rows[i].person);
        struct acp_buf out;
        acp_buf_init(&out, 1000);
        assert_int_equal(acp_decision_print(&d, &out), 0);
        assert_true(acp_str_is(acp_buf_view(&out), rows[i].text));
        acp_buf_finish(&out);
    }
    acp_policy_free(policy);
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static void path_patterns_start_at_cwd_home_or_root(void **state)
{
    (void) state;
    static const struct {
        const char *pattern;
        const char *path;
        bool matches;
    } rows[] = {
        {"a", "/no/ws/a", true},
        {"a", "/no/ws/b/a", false},
        {"a", "/no/extra/a", false},
        {"**/a", "/no/ws/b/a", true},
        {"**/a", "/no/extra/a", false},
        {"/**/a", "/no/extra/a", true},
        {"src/**", "/no/ws/src", true},
        {"src/**", "/no/ws/src/x/y", true},
        {"src/**", "/no/ws/srcx", false},
        {"src/**", "/no/ws/src/../x", false},
        {"src/**", "src/x", true},
        {"*.md", "/no/ws/./README.md", true},
        {"~", "/no/home", true},
        {"~", "/no/home/x", false},
        {"~/**", "/no/home/x", true},
        {"~/.ssh/**", "/no/home/.ssh/id", true},
        {"~/.ssh/**", "/no/home2/.ssh/id", false},
        {"/no/ws/*", "/no/ws/x", true},
        {"/no/ws/*", "/no/ws/x/y", false},
        {"/no/extra/**", "/no/extra/x/y", true},
        {"/**", "/anything", true},
        {"/", "/", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int verdicts[] = {ALLOW, DENY};
        for (size_t k = 0; k < 2; k++) {
            struct acp_policy *policy = load("{}");
            struct acp_policy_rule rule = {.verdict = (enum acp_verdict) verdicts[k],
                                           .path = acp_str_from(rows[i].pattern)};
            assert_int_equal(acp_policy_add(policy, &rule, NULL), 0);
            int got = decide(policy, EDIT, rows[i].path, NULL);
            if (got != (rows[i].matches ? verdicts[k] : ASK))
                print_error("%s on %s\n", rows[i].pattern, rows[i].path);
            assert_int_equal(got, rows[i].matches ? verdicts[k] : ASK);
            acp_policy_free(policy);
        }
    }
}

static void what_is_no_path_is_denied_by_what_denies_paths(void **state)
{
    (void) state;
    char endless[5000];
    memset(endless, 'x', sizeof(endless));
    endless[0] = '/';
    endless[sizeof(endless) - 1] = '\0';
    struct acp_policy *policy = load("{\"rules\":[{\"verdict\":\"allow\",\"path\":\"/**\"}]}");
    assert_int_equal(decide(policy, READ, endless, NULL), ASK);
    assert_int_equal(decide(policy, READ, "", NULL), ASK);
    acp_policy_free(policy);
    policy = load("{\"mode\":\"full\",\"rules\":[{\"verdict\":\"deny\",\"path\":\"/etc/**\"}]}");
    assert_int_equal(decide(policy, READ, endless, NULL), DENY);
    assert_int_equal(decide(policy, READ, "/no/x", NULL), ALLOW);
    acp_policy_free(policy);
}

static void links_permit_only_what_is_really_there(void **state)
{
    (void) state;
    char base[] = "/tmp/acp-policy-XXXXXX";
    assert_non_null(mkdtemp(base));
    char command[400];
    (void) snprintf(command, sizeof(command),
                    "cd %s && mkdir -p real/src real/secret out && touch real/src/a real/secret/k "
                    "out/x && ln -s real ws && ln -s ../secret/k real/src/k && ln -s %s/out "
                    "real/src/out && ln -s nowhere real/src/dangling && ln -s ../out/new "
                    "real/dangling-out && ln -s l real/l",
                    base, base);
    assert_int_equal(system(command), 0);
    static const struct {
        const char *rule; /* its verdict and pattern; @ is the scratch folder */
        const char *pattern;
        const char *path;
        int want;
    } rows[] = {
        {"allow", "src/**", "@/ws/src/a", ALLOW},
        {"allow", "src/**", "@/real/src/a", ALLOW},
        {"allow", "@/ws/src/**", "@/ws/src/a", ALLOW}, /* the cwd's own link does not count */
        {"allow", "@/real/src/**", "@/ws/src/a", ALLOW},
        {"allow", "src/**", "@/ws/src/new", ALLOW},
        {"allow", "src/**", "@/ws/src/new/dir/file", ALLOW},
        {"allow", "src/**", "@/ws/src/k", ASK}, /* leads to secret/k */
        {"allow", "src/k", "@/ws/src/k", ASK},
        {"allow", "@/ws/src/k", "@/ws/src/k", ASK},
        {"allow", "secret/**", "@/ws/src/k", ALLOW},
        {"allow", "src/**", "@/ws/src/out/x", ASK},
        {"allow", "src/**", "@/ws/src/out/new", ASK},
        {"allow", "src/**", "@/ws/src/dangling", ASK},
        {"allow", "**", "@/ws/dangling-out", ASK},
        {"allow", "**", "@/ws/l", ASK},
        {"deny", "secret/**", "@/ws/src/k", DENY},
        {"deny", "src/k", "@/ws/src/k", DENY},
        {"deny", "@/out/**", "@/ws/src/out/x", DENY},
        {"deny", "@/out/**", "@/ws/src/out/new", DENY},
        {"deny", "src/l", "@/ws/l", ASK},
        {"deny", "l", "@/ws/l", DENY},
        {"deny", "@/ws", "@/real", DENY},
        {"deny", "@/ws", "@/real/src", ASK},
        {"deny", "@/wsx", "@/real", ASK},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char texts[3][200];
        const char *given[] = {rows[i].pattern, rows[i].path, "@/ws"};
        for (size_t k = 0; k < 3; k++)
            (void) snprintf(texts[k], sizeof(texts[k]), "%s%s", given[k][0] == '@' ? base : "",
                            given[k] + (given[k][0] == '@'));
        struct acp_policy_rule rule = {.path = acp_str_from(texts[0])};
        assert_true(acp_verdict_find(acp_str_from(rows[i].rule), &rule.verdict));
        struct acp_policy *policy = load("{}");
        assert_int_equal(acp_policy_add(policy, &rule, NULL), 0);
        struct acp_str path = acp_str_from(texts[1]);
        struct acp_action action = action_on(EDIT, &path);
        action.cwd = acp_str_from(texts[2]);
        int got = (int) acp_policy_decide(policy, NULL, &action, 0, true).verdict;
        if (got != rows[i].want)
            print_error("%s %s on %s: %d\n", rows[i].rule, rows[i].pattern, rows[i].path, got);
        assert_int_equal(got, rows[i].want);
        /* Without rules: inside is what is really inside. */
        acp_policy_free(policy);
    }
    struct acp_policy *policy = load("{}");
    static const struct {
        const char *path;
        int want;
    } reads[] = {{"src/a", ALLOW}, {"src/k", ALLOW}, {"src/out/x", ASK}, {"dangling-out", ASK}};
    for (size_t i = 0; i < 4; i++) {
        char cwd[100];
        (void) snprintf(cwd, sizeof(cwd), "%s/ws", base);
        struct acp_str path = acp_str_from(reads[i].path);
        struct acp_action action = action_on(READ, &path);
        action.cwd = acp_str_from(cwd);
        assert_int_equal(acp_policy_decide(policy, NULL, &action, 0, true).verdict, reads[i].want);
    }
    acp_policy_free(policy);
    (void) snprintf(command, sizeof(command), "rm -rf %s", base);
    assert_int_equal(system(command), 0);
}

static void tools_are_known_by_name(void **state)
{
    (void) state;
    struct acp_policy *policy = load("{\"rules\":[{\"verdict\":\"allow\",\"tool\":\"mcp__git*\"},"
                                     "{\"verdict\":\"deny\",\"tool\":\"*__push\"}]}");
    static const struct {
        const char *tool;
        int want;
    } rows[] = {
        {"mcp__github__list", ALLOW}, {"mcp__git__push", DENY}, {"other", ASK}, {NULL, ASK}};
    for (size_t i = 0; i < 4; i++) {
        struct acp_action action = action_on(OTHER, NULL);
        action.tool = acp_str_from(rows[i].tool);
        assert_int_equal(acp_policy_decide(policy, NULL, &action, 0, true).verdict, rows[i].want);
    }
    acp_policy_free(policy);
}

/* ---- Copies, and paths that are real --------------------------------------------------------- */

static void a_copy_decides_alike(void **state)
{
    (void) state;
    struct acp_policy *policy = load("{\"mode\": \"full\", \"rules\": ["
                                     "{\"verdict\": \"deny\", \"path\": \"~/secret\"},"
                                     "{\"verdict\": \"deny\", \"command\": \"rm*\"}]}");
    struct acp_policy *copy = NULL;
    assert_int_equal(acp_policy_copy(policy, &copy), 0);
    acp_policy_free(policy);
    assert_int_equal(acp_policy_get_mode(copy), ACP_POLICY_FULL);
    assert_int_equal(acp_policy_rule_count(copy), 2);
    assert_int_equal(decide(copy, READ, "/no/home/secret", NULL), ACP_VERDICT_DENY);
    assert_int_equal(decide(copy, READ, "/no/home/other", NULL), ACP_VERDICT_ALLOW);
    assert_int_equal(decide(copy, EXECUTE, NULL, "rm x"), ACP_VERDICT_DENY);
    acp_policy_free(copy);
    assert_int_equal(acp_policy_copy(NULL, &copy), 0);
    assert_int_equal(acp_policy_get_mode(copy), ACP_POLICY_SAFE);
    acp_policy_free(copy);
}

/* A path that is said to be real is not resolved again: by now the name may lead elsewhere. */
static void a_real_path_is_taken_as_it_is(void **state)
{
    (void) state;
    char folder[] = "/tmp/acp-policy-XXXXXX";
    char link[64];
    assert_non_null(mkdtemp(folder));
    (void) snprintf(link, sizeof(link), "%s/link", folder);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    struct acp_policy *policy = load("{\"rules\": [{\"verdict\": \"deny\", \"path\": "
                                     "\"/etc/passwd\"}, {\"verdict\": \"ask\", \"path\": "
                                     "\"**/.env\"}]}");
    struct acp_str paths[] = {acp_str_from(link), ACP_STR("relative"), ACP_STR("")};
    for (size_t i = 0; i < 3; i++) {
        struct acp_action action = {
            .kind = ACP_TOOL_KIND_READ, .paths = {&paths[i], 1}, .cwd = acp_str_from(folder)};
        if (i == 0)
            assert_int_equal(acp_policy_decide(policy, NULL, &action, 0, true).verdict,
                             ACP_VERDICT_DENY);
        action.is_real = true;
        enum acp_verdict verdict = acp_policy_decide(policy, NULL, &action, 0, true).verdict;
        /* What is no absolute path is kept off by every rule. */
        assert_int_equal(verdict, i == 0 ? ACP_VERDICT_ALLOW : ACP_VERDICT_DENY);
    }
    acp_policy_free(policy);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_decides_alike),
        cmocka_unit_test(a_real_path_is_taken_as_it_is),
        cmocka_unit_test(modes_decide_what_no_rule_does),
        cmocka_unit_test(without_a_person_the_answer_is_no),
        cmocka_unit_test(the_strictest_of_several_paths_counts),
        cmocka_unit_test(a_command_is_executed_whatever_its_kind_says),
        cmocka_unit_test(rules_overrule_each_other_in_order),
        cmocka_unit_test(decisions_tell_what_made_them),
        cmocka_unit_test(path_patterns_start_at_cwd_home_or_root),
        cmocka_unit_test(what_is_no_path_is_denied_by_what_denies_paths),
        cmocka_unit_test(links_permit_only_what_is_really_there),
        cmocka_unit_test(tools_are_known_by_name),
    };
    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
