/*
 * The ledger of grants: what is remembered and when it holds, the text it is written as, and the
 * file that several processes share.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "acp/policy.h"

static struct acp_ledger *ledger;
static struct acp_policy *policy;
static char base[64];

static int setup(void **state)
{
    (void) state;
    char real[] = "/tmp/acp-ledger-XXXXXX";
    assert_non_null(mkdtemp(real));
    (void) snprintf(base, sizeof(base), "%s", real);
    assert_int_equal(acp_policy_new(&policy), 0);
    assert_int_equal(acp_policy_set_home(policy, acp_str_from("/no/home")), 0);
    return acp_ledger_new(&ledger);
}

static int teardown(void **state)
{
    (void) state;
    acp_ledger_free(ledger);
    acp_ledger_free(NULL);
    acp_policy_free(policy);
    char command[100];
    (void) snprintf(command, sizeof(command), "rm -rf '%s'", base);
    return system(command);
}

static const char *at(const char *name)
{
    static char path[100];
    (void) snprintf(path, sizeof(path), "%s/%s", base, name);
    return path;
}

static struct acp_action run(const char *command)
{
    return (struct acp_action){.kind = ACP_TOOL_KIND_EXECUTE,
                               .title = acp_str_from("Run it"),
                               .command = acp_str_from(command),
                               .cwd = acp_str_from("/no/ws/sub"),
                               .session_id = acp_str_from("s1")};
}

static struct acp_decision decide(const struct acp_action *action, int64_t now)
{
    return acp_policy_decide(policy, ledger, action, now, true);
}

static struct acp_grant how(bool allow, enum acp_grant_scope scope)
{
    return (struct acp_grant){
        .allow = allow, .scope = scope, .who = acp_str_from("ann"), .granted = 1000};
}

/* ---- Holding -------------------------------------------------------------------------------- */

static void always_is_remembered_in_its_scope(void **state)
{
    (void) state;
    /* In the order of reading.  NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
    static const struct {
        enum acp_grant_scope scope;
        const char *session;
        const char *cwd;
        bool holds;
    } rows[] = {
        {ACP_GRANT_SESSION, "s1", "/no/ws/sub", true},
        {ACP_GRANT_SESSION, "s1", "/elsewhere", true},
        {ACP_GRANT_SESSION, "s2", "/no/ws/sub", false},
        {ACP_GRANT_SESSION, "", "/no/ws/sub", false},
        {ACP_GRANT_PROJECT, "s2", "/no/ws/sub", true},
        {ACP_GRANT_PROJECT, "s2", "/no/ws/sub/deeper", true},
        {ACP_GRANT_PROJECT, "s1", "/no/ws", false},
        {ACP_GRANT_PROJECT, "s1", "/no/ws/subx", false},
        {ACP_GRANT_PROJECT, "s1", "", false},
        {ACP_GRANT_EVERYWHERE, "s2", "/elsewhere", true},
    };
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        bool allow = i % 2;
        struct acp_grant grant = how(allow, rows[i / 2].scope);
        struct acp_action action = run("make test");
        assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
        assert_int_equal(acp_ledger_count(ledger), 1);
        action.session_id = acp_str_from(rows[i / 2].session);
        action.cwd = acp_str_from(rows[i / 2].cwd);
        struct acp_decision d = decide(&action, 2000);
        enum acp_verdict answered = allow ? ACP_VERDICT_ALLOW : ACP_VERDICT_DENY;
        if (d.verdict != (rows[i / 2].holds ? answered : ACP_VERDICT_ASK))
            print_error("row %zu, allow %d\n", i / 2, allow);
        assert_int_equal(d.verdict, rows[i / 2].holds ? answered : ACP_VERDICT_ASK);
        if (rows[i / 2].holds) {
            assert_int_equal(d.by, ACP_DECIDED_BY_GRANT);
            assert_int_equal(d.grant, acp_ledger_at(ledger, 0)->number);
        }
        assert_int_equal(acp_ledger_revoke(ledger, acp_ledger_at(ledger, 0)->number), 0);
        assert_int_equal(decide(&action, 2000).verdict, ACP_VERDICT_ASK);
    }
}

static void grants_are_for_exactly_what_was_asked(void **state)
{
    (void) state;
    static const struct {
        const char *asked;
        const char *later;
        bool holds;
    } rows[] = {
        {"make test", "make test", true},
        {"make test", "make  test ", true},
        {"make test", "make test2", false},
        {"make test", "make test -j", false},
        {"make test", "make test; rm -rf /", false},
        {"rm *", "rm x", false}, /* the star was the command's own */
        {"rm *", "rm *", true},
        {"make && make test", "make && make test", true},
        {"make && make test", "make && make test && x", false},
        {"echo \"$(date)\"", "echo \"$(date)\"", true},
        {"git commit -m \"a b\"", "git commit -m \"a b\"", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_grant grant = how(true, ACP_GRANT_EVERYWHERE);
        struct acp_action action = run(rows[i].asked);
        assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
        action = run(rows[i].later);
        if ((decide(&action, 0).verdict == ACP_VERDICT_ALLOW) != rows[i].holds)
            print_error("%s, then %s\n", rows[i].asked, rows[i].later);
        assert_int_equal(decide(&action, 0).verdict == ACP_VERDICT_ALLOW, rows[i].holds);
        assert_int_equal(acp_ledger_revoke(ledger, acp_ledger_at(ledger, 0)->number), 0);
    }
}

/* "Always" to a harmless command is for its program and subcommand with other arguments. */
static void grants_cover_harmless_arguments(void **state)
{
    (void) state;
    static const struct {
        const char *asked;
        const char *later;
        bool holds;
    } rows[] = {
        {"git log -5", "git log", true},
        {"git log", "git log --oneline -n 3 -- src", true},
        {"git log", "git log --since=yesterday", true},
        {"git log", "git diff", false},
        {"git log", "git logs", false},
        {"git log", "git -c core.pager=sh log", false},
        {"git log", "/tmp/git log", false},
        {"git log", "git log; rm -rf .", false},
        {"git log", "git log $(rm -rf .)", false},
        {"git log", "PAGER=sh git log", false},
        {"git log", "git log > x", false},
        {"git log", "git log --output=x", false},
        {"git log", "git log --outp=x", false},
        {"git log", "git log --output x", false},
        {"git log", "git log '--output=x'", false},
        {"git log", "git log --ext-diff -p", false},
        {"git log", "git log ../other", false},
        {"git log", "git log /etc", false},
        {"git diff", "git diff a b", true},
        {"git diff", "git diff --no-index a b", false},
        {"git diff", "git diff a /etc/passwd", false},
        {"git diff", "git diff main..dev", true},
        {"git diff", "git diff -O/etc/passwd", false},
        {"git diff", "git diff -Oorder", true},
        {"git blame a.c", "git blame --contents=../x a.c", false},
        {"ls", "ls -la src", true},
        {"ls", "ls ..", false},
        {"cargo test", "cargo test some_test -- --nocapture", true},
        {"cargo test", "cargo test --config x", false},
        {"cargo test", "cargo test RUSTC=x", false},
        {"go test ./...", "go test -v ./pkg", true},
        {"go test ./...", "go test -exec sh ./pkg", false},
        {"npm run test", "npm run test -- unit", true},
        {"npm run test", "npm run deploy", false},
        {"npm run deploy", "npm run deploy", true},
        {"npm run deploy", "npm run deploy x", false},
        /* What does not begin as one of those is for the exact line. */
        {"git push", "git push", true},
        {"git push", "git push --force", false},
        {"git log --output=x", "git log --output=x", true},
        {"git log --output=x", "git log", false},
        {"git log | head", "git log", false},
        {"rm -rf build", "rm -rf .", false},
        {"cat a", "cat b", false},
        {"python3 x.py", "python3 y.py", false},
        {"sudo git log", "sudo git log -3", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_grant grant = how(true, ACP_GRANT_PROJECT);
        struct acp_action action = run(rows[i].asked);
        assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
        assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ALLOW);
        action = run(rows[i].later);
        if ((decide(&action, 0).verdict == ACP_VERDICT_ALLOW) != rows[i].holds)
            print_error("%s, then %s\n", rows[i].asked, rows[i].later);
        assert_int_equal(decide(&action, 0).verdict == ACP_VERDICT_ALLOW, rows[i].holds);
        action.command_cwd = acp_str_from("/no/elsewhere");
        assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ASK);
        assert_int_equal(acp_ledger_revoke(ledger, acp_ledger_at(ledger, 0)->number), 0);
    }
    /* A rejection is for the exact line. */
    struct acp_grant never = how(false, ACP_GRANT_PROJECT);
    struct acp_action action = run("git log -5");
    assert_int_equal(acp_ledger_remember(ledger, &action, &never, NULL), 0);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_DENY);
    action = run("git log");
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ASK);
}

/* What another process has revoked or granted counts from the next look at the file. */
static void a_changed_file_is_read_again(void **state)
{
    (void) state;
    struct acp_ledger *other = NULL;
    struct acp_grant grant = how(true, ACP_GRANT_PROJECT);
    struct acp_action make = run("make test");
    struct acp_action push = run("git push");
    assert_int_equal(acp_ledger_refresh_file(ledger, at("grants"), NULL), 0);
    assert_int_equal(acp_ledger_remember(ledger, &make, &grant, NULL), 0);
    assert_int_equal(acp_ledger_save_file(ledger, at("grants"), NULL, NULL, NULL), 0);
    assert_int_equal(acp_ledger_refresh_file(ledger, at("grants"), NULL), 0);
    assert_int_equal(acp_ledger_new(&other), 0);
    assert_int_equal(acp_ledger_refresh_file(other, at("grants"), NULL), 1);
    assert_int_equal(acp_ledger_refresh_file(other, at("grants"), NULL), 0);
    assert_int_equal(acp_ledger_remember(other, &push, &grant, NULL), 0);
    assert_int_equal(acp_ledger_revoke(other, acp_ledger_at(other, 0)->number), 0);
    assert_int_equal(acp_ledger_save_file(other, at("grants"), NULL, NULL, NULL), 0);
    assert_int_equal(acp_ledger_refresh_file(ledger, at("grants"), NULL), 1);
    assert_int_equal(decide(&make, 0).verdict, ACP_VERDICT_ASK);
    assert_int_equal(decide(&push, 0).verdict, ACP_VERDICT_ALLOW);
    /* What is only here stays, and a file that cannot be read changes nothing. */
    assert_int_equal(acp_ledger_remember(ledger, &make, &grant, NULL), 0);
    assert_int_equal(unlink(at("grants")), 0);
    assert_int_equal(acp_ledger_refresh_file(ledger, at("grants"), NULL), 1);
    assert_int_equal(decide(&make, 0).verdict, ACP_VERDICT_ALLOW);
    assert_int_equal(decide(&push, 0).verdict, ACP_VERDICT_ASK);
    assert_int_equal(mkdir(at("grants"), 0700), 0);
    struct acp_failure failure = {0};
    assert_int_equal(acp_ledger_refresh_file(ledger, at("grants"), &failure), ACP_ERR_STATE);
    assert_int_equal(decide(&make, 0).verdict, ACP_VERDICT_ALLOW);
    acp_ledger_free(other);
}

static void every_path_must_have_been_granted(void **state)
{
    (void) state;
    struct acp_str paths[] = {acp_str_from("/no/ws/a[1]"), acp_str_from("/no/ws/../ws/b*"),
                              acp_str_from("/no/c")};
    struct acp_action action = {.kind = ACP_TOOL_KIND_MOVE,
                                .paths = {paths, 2},
                                .cwd = acp_str_from("/no/ws"),
                                .session_id = acp_str_from("s1")};
    struct acp_grant grant = how(true, ACP_GRANT_PROJECT);
    assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
    assert_int_equal(acp_ledger_count(ledger), 2);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ALLOW);
    action.paths.count = 3;
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ASK);
    action.paths.count = 2;
    action.kind = ACP_TOOL_KIND_DELETE;
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ASK);
    action.kind = ACP_TOOL_KIND_MOVE;
    paths[0] = acp_str_from("/no/ws/a1");
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ASK);
}

static void a_link_does_not_carry_a_grant_elsewhere(void **state)
{
    (void) state;
    char command[300];
    (void) snprintf(command, sizeof(command), "cd %s && touch a b && ln -s a link", base);
    assert_int_equal(system(command), 0);
    struct acp_str path = acp_str_from(at("link"));
    struct acp_action action = {
        .kind = ACP_TOOL_KIND_EDIT, .paths = {&path, 1}, .cwd = acp_str_from(base)};
    struct acp_grant grant = how(true, ACP_GRANT_PROJECT);
    assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ALLOW);
    (void) snprintf(command, sizeof(command), "cd %s && ln -sfn b link", base);
    assert_int_equal(system(command), 0);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ASK);
}

static void tools_are_remembered_by_name_and_nothing_by_nothing(void **state)
{
    (void) state;
    struct acp_action action = {.kind = ACP_TOOL_KIND_OTHER, .tool = acp_str_from("mcp__x*")};
    struct acp_grant grant = how(true, ACP_GRANT_EVERYWHERE);
    assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ALLOW);
    action.tool = acp_str_from("mcp__xy");
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ASK);
    action.tool = acp_str_from(NULL);
    action.title = acp_str_from("Do something");
    struct acp_failure failure;
    assert_int_equal(acp_ledger_remember(ledger, &action, &grant, &failure), ACP_ERR_MISSING);
    assert_int_equal(acp_ledger_count(ledger), 1);
}

static void grants_do_not_lift_what_is_denied(void **state)
{
    (void) state;
    struct acp_action action = run("make");
    struct acp_grant grant = how(true, ACP_GRANT_EVERYWHERE);
    assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ALLOW);
    /* Nobody has to be there for what was answered before. */
    assert_int_equal(acp_policy_decide(policy, ledger, &action, 0, false).verdict,
                     ACP_VERDICT_ALLOW);
    acp_policy_set_mode(policy, ACP_POLICY_READ_ONLY);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_DENY);
    acp_policy_set_mode(policy, ACP_POLICY_SAFE);
    assert_int_equal(
        acp_policy_load(policy, acp_raw_from("{\"rules\":[{\"verdict\":\"ask\"}]}"), NULL), 0);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ALLOW);
    assert_int_equal(
        acp_policy_load(policy, acp_raw_from("{\"rules\":[{\"verdict\":\"deny\"}]}"), NULL), 0);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_DENY);
}

static void rejections_beat_rules_and_full_mode(void **state)
{
    (void) state;
    struct acp_action action = run("make");
    struct acp_grant grant = how(false, ACP_GRANT_EVERYWHERE);
    assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
    assert_int_equal(
        acp_policy_load(
            policy, acp_raw_from("{\"mode\":\"full\",\"rules\":[{\"verdict\":\"allow\"}]}"), NULL),
        0);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_DENY);
    action = run("ls; /usr/bin/make");
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_DENY);
}

static void the_newer_answer_takes_the_place_of_the_older(void **state)
{
    (void) state;
    struct acp_action action = run("make");
    struct acp_action other = run("make test");
    struct acp_grant yes = how(true, ACP_GRANT_PROJECT);
    struct acp_grant no = how(false, ACP_GRANT_PROJECT);
    assert_int_equal(acp_ledger_remember(ledger, &action, &no, NULL), 0);
    assert_int_equal(acp_ledger_remember(ledger, &other, &yes, NULL), 0);
    assert_int_equal(acp_ledger_remember(ledger, &action, &yes, NULL), 0);
    assert_int_equal(acp_ledger_remember(ledger, &action, &yes, NULL), 0);
    assert_int_equal(acp_ledger_count(ledger), 2);
    assert_int_equal(acp_ledger_at(ledger, 0)->number, 2);
    assert_int_equal(acp_ledger_at(ledger, 1)->number, 4);
    assert_null(acp_ledger_at(ledger, 2));
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_ALLOW);
    /* In another scope it is another matter. */
    struct acp_grant session = how(true, ACP_GRANT_SESSION);
    assert_int_equal(acp_ledger_remember(ledger, &action, &session, NULL), 0);
    assert_int_equal(acp_ledger_count(ledger), 3);
}

static void grants_end_by_the_time_that_is_told(void **state)
{
    (void) state;
    struct acp_action action = run("make");
    struct acp_grant grant = how(true, ACP_GRANT_SESSION);
    grant.expires = 5000;
    assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
    assert_int_equal(decide(&action, 4999).verdict, ACP_VERDICT_ALLOW);
    assert_int_equal(decide(&action, 5000).verdict, ACP_VERDICT_ASK);
    assert_int_equal(acp_ledger_expire(ledger, 4999), 0);
    assert_int_equal(acp_ledger_expire(ledger, 5000), 1);
    assert_int_equal(acp_ledger_count(ledger), 0);
    grant.expires = 0;
    assert_int_equal(acp_ledger_remember(ledger, &action, &grant, NULL), 0);
    assert_int_equal(acp_ledger_expire(ledger, INT64_MAX), 0);
    assert_int_equal(acp_ledger_end_session(ledger, acp_str_from("s2")), 0);
    assert_int_equal(acp_ledger_end_session(ledger, acp_str_from("s1")), 1);
    assert_int_equal(acp_ledger_count(ledger), 0);
}

static void grants_that_cannot_be_are_refused(void **state)
{
    (void) state;
    static const struct {
        struct acp_grant grant;
        int err;
        const char *path;
    } rows[] = {
        {{.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_SESSION}, ACP_ERR_MISSING, "session"},
        {{.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_PROJECT}, ACP_ERR_MISSING, "directory"},
        {{.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_PROJECT, .directory = ACP_STR("x")},
         ACP_ERR_RANGE,
         "directory"},
        {{.kind = ACP_TOOL_KIND_ABSENT, .scope = ACP_GRANT_EVERYWHERE}, ACP_ERR_RANGE, "kind"},
        {{.kind = ACP_TOOL_KIND_UNLISTED, .scope = ACP_GRANT_EVERYWHERE}, ACP_ERR_RANGE, "kind"},
        {{.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_EVERYWHERE, .path = ACP_STR("[")},
         ACP_ERR_RANGE,
         "path"},
        {{.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_EVERYWHERE, .path = ACP_STR("")},
         ACP_ERR_RANGE,
         "path"},
        {{.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_EVERYWHERE, .command = ACP_STR("a\\")},
         ACP_ERR_RANGE,
         "command"},
        {{.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_EVERYWHERE, .who = ACP_STR("\xff")},
         ACP_ERR_UTF8,
         "who"},
        {{.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_EVERYWHERE, .granted = -1},
         ACP_ERR_RANGE,
         "granted"},
        {{.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_EVERYWHERE, .expires = -1},
         ACP_ERR_RANGE,
         "expires"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_failure failure = {0};
        uint64_t number = 77;
        assert_int_equal(acp_ledger_add(ledger, &rows[i].grant, &number, &failure), rows[i].err);
        assert_string_equal(failure.path, rows[i].path);
        assert_int_equal(number, 77);
    }
    assert_int_equal(acp_ledger_count(ledger), 0);
    assert_int_equal(acp_ledger_revoke(ledger, 1), ACP_ERR_UNKNOWN);
    assert_null(acp_ledger_at(ledger, 0));
}

static void ledgers_are_bounded(void **state)
{
    (void) state;
    struct acp_grant grant = {.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_EVERYWHERE};
    for (int i = 0; i < ACP_LEDGER_MAX_GRANTS; i++)
        assert_int_equal(acp_ledger_add(ledger, &grant, NULL, NULL), 0);
    assert_int_equal(acp_ledger_add(ledger, &grant, NULL, NULL), ACP_ERR_LIMIT);
    char *text = malloc(ACP_LEDGER_MAX_TEXT + 1);
    assert_non_null(text);
    memset(text, 'x', ACP_LEDGER_MAX_TEXT + 1);
    assert_int_equal(acp_ledger_revoke(ledger, 1), 0);
    grant.title = acp_str_n(text, ACP_LEDGER_MAX_TEXT + 1);
    assert_int_equal(acp_ledger_add(ledger, &grant, NULL, NULL), ACP_ERR_LIMIT);
    /* A title may be long on the wire; it is left out then. */
    struct acp_action action = run("make");
    action.title = grant.title;
    struct acp_grant yes = how(true, ACP_GRANT_SESSION);
    assert_int_equal(acp_ledger_remember(ledger, &action, &yes, NULL), 0);
    assert_null(acp_ledger_at(ledger, ACP_LEDGER_MAX_GRANTS - 1)->title.ptr);
    action.command = grant.title;
    assert_true(acp_ledger_remember(ledger, &action, &yes, NULL) < 0);
    free(text);
}

/* ---- Text ----------------------------------------------------------------------------------- */

static const char *const sample =
    "{\"ledger\":1,\"next\":9}\n"
    "{\"grant\":3,\"answer\":\"allow\",\"scope\":\"project\",\"directory\":\"/no/ws\","
    "\"kind\":\"execute\",\"command\":\"make *\",\"who\":\"ann\",\"title\":\"Run \\\"it\\\"\","
    "\"granted\":1000}\n"
    "{\"grant\":5,\"answer\":\"reject\",\"scope\":\"session\",\"session\":\"s1\",\"kind\":\"edit\","
    "\"path\":\"~/**\",\"granted\":1000,\"expires\":2000}\n"
    "{\"grant\":8,\"answer\":\"allow\",\"scope\":\"everywhere\",\"kind\":\"other\",\"tool\":\"t\","
    "\"granted\":0}\n";

static void assert_text(const char *want)
{
    struct acp_buf out;
    acp_buf_init(&out, 1 << 20);
    assert_int_equal(acp_ledger_write(ledger, &out), 0);
    assert_int_equal(acp_buf_append(&out, "", 1), 0);
    assert_string_equal(acp_buf_view(&out).ptr, want);
    acp_buf_finish(&out);
}

static void text_reads_back_as_it_was_written(void **state)
{
    (void) state;
    assert_int_equal(acp_ledger_load(ledger, acp_str_from(sample), NULL, NULL), 0);
    assert_int_equal(acp_ledger_count(ledger), 3);
    const struct acp_grant *grant = acp_ledger_at(ledger, 0);
    assert_true(grant->allow && grant->number == 3 && grant->scope == ACP_GRANT_PROJECT);
    assert_true(acp_str_is(grant->title, "Run \"it\""));
    assert_text(sample);
    /* Numbers are not used again. */
    uint64_t number = 0;
    struct acp_grant edit = {.kind = ACP_TOOL_KIND_EDIT, .scope = ACP_GRANT_EVERYWHERE};
    assert_int_equal(acp_ledger_revoke(ledger, 8), 0);
    assert_int_equal(acp_ledger_add(ledger, &edit, &number, NULL), 0);
    assert_int_equal(number, 9);
}

struct reports {
    size_t count;
    size_t lines[32];
    struct acp_failure last;
};

static void take_report(size_t line, const struct acp_failure *failure, void *user)
{
    struct reports *r = user;
    assert_true(failure->err < 0 && *failure->message);
    r->lines[r->count++ % 32] = line;
    r->last = *failure;
}

#define GOOD "\"answer\":\"allow\",\"scope\":\"everywhere\",\"kind\":\"edit\",\"granted\":1"

static void bad_lines_are_told_and_do_not_take_others_along(void **state)
{
    (void) state;
    static const struct {
        const char *line;
        const char *path;
    } rows[] = {
        {"x", ""},
        {"{", ""},
        {"[]", ""},
        {"{} {}", ""},
        {"{}", ""},
        {"{\"grant\":2}", ""},
        {"{\"grant\":1," GOOD "}", "grant"}, /* twice */
        {"{\"grant\":0," GOOD "}", "grant"},
        {"{\"grant\":-1," GOOD "}", "grant"},
        {"{\"grant\":\"2\"," GOOD "}", "grant"},
        {"{\"grant\":9007199254740993," GOOD "}", "grant"},
        {"{\"grant\":2," GOOD ",\"host\":\"x\"}", "host"}, /* a condition of a newer version */
        {"{\"grant\":2," GOOD ",\"path\":\"\"}", "path"},
        {"{\"grant\":2," GOOD ",\"path\":\"a/..\"}", "path"},
        {"{\"grant\":2," GOOD ",\"path\":null}", "path"},
        {"{\"grant\":2," GOOD ",\"who\":\"a\\u0000b\"}", "who"},
        {"{\"grant\":2," GOOD ",\"expires\":\"x\"}", "expires"},
        {"{\"grant\":2," GOOD ",\"answer\":\"maybe\"}", "answer"},
        {"{\"grant\":2," GOOD ",\"scope\":\"here\"}", "scope"},
        {"{\"grant\":2," GOOD ",\"scope\":\"session\"}", "session"},
        {"{\"grant\":2," GOOD ",\"scope\":\"project\",\"directory\":\"/a/\"}", "directory"},
        {"{\"grant\":2," GOOD ",\"kind\":\"write\"}", "kind"},
        {"{\"grant\":2," GOOD "} x", ""},
        {"{\"ledger\":2,\"next\":5}", "ledger"},
        {"{\"ledger\":1,\"next\":0}", "ledger"},
        {"{\"ledger\":1,\"more\":0}", "ledger"},
        {"{\"grant\":2," GOOD ",\"title\":\"\xff\"}", "title"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[1000];
        struct reports r = {0};
        (void) snprintf(text, sizeof(text),
                        "{\"grant\":1," GOOD "}\n\n%s\r\n{\"grant\":4," GOOD "}", rows[i].line);
        int aside = acp_ledger_load(ledger, acp_str_from(text), take_report, &r);
        if (aside != 1 || strcmp(r.last.path, rows[i].path) != 0)
            print_error("%s: %d %s: %s\n", rows[i].line, aside, r.last.path, r.last.message);
        assert_int_equal(aside, 1);
        assert_int_equal(r.count, 1);
        assert_int_equal(r.lines[0], 3);
        assert_string_equal(r.last.path, rows[i].path);
        assert_int_equal(acp_ledger_count(ledger), 2);
        /* It is written back as it was. */
        (void) snprintf(text, sizeof(text),
                        "{\"ledger\":1,\"next\":5}\n{\"grant\":1," GOOD "}\n{\"grant\":4," GOOD
                        "}\n%s\r\n",
                        rows[i].line);
        assert_text(text);
        acp_ledger_free(ledger);
        assert_int_equal(acp_ledger_new(&ledger), 0);
    }
}

static void endless_lines_are_left_aside(void **state)
{
    (void) state;
    size_t n = ACP_LEDGER_MAX_LINE + 2;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, ' ', n);
    text[0] = '{';
    text[n - 1] = '\n';
    struct reports r = {0};
    assert_int_equal(acp_ledger_load(ledger, acp_str_n(text, n), take_report, &r), 1);
    assert_int_equal(r.last.err, ACP_ERR_LIMIT);
    free(text);
}

/* ---- Files ---------------------------------------------------------------------------------- */

static uint64_t add(struct acp_ledger *to, const char *tool)
{
    uint64_t number = 0;
    struct acp_grant grant = {.kind = ACP_TOOL_KIND_OTHER,
                              .scope = ACP_GRANT_EVERYWHERE,
                              .tool = acp_str_from(tool),
                              .allow = true};
    assert_int_equal(acp_ledger_add(to, &grant, &number, NULL), 0);
    return number;
}

static int save(struct acp_ledger *which)
{
    struct acp_failure failure = {0};
    int err = acp_ledger_save_file(which, at("ledger"), NULL, NULL, &failure);
    if (err < 0)
        print_error("%s\n", failure.message);
    return err;
}

/* The tools of all grants, in order. */
static void assert_tools(const struct acp_ledger *which, const char *want)
{
    char got[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < acp_ledger_count(which); i++) {
        const struct acp_grant *grant = acp_ledger_at(which, i);
        n += (size_t) snprintf(got + n, sizeof(got) - n, "%llu%.*s ",
                               (unsigned long long) grant->number, (int) grant->tool.len,
                               grant->tool.ptr);
    }
    assert_string_equal(got, want);
}

static void processes_do_not_lose_each_others_grants(void **state)
{
    (void) state;
    struct acp_ledger *other = NULL;
    assert_int_equal(acp_ledger_new(&other), 0);
    assert_int_equal(acp_ledger_load_file(ledger, at("ledger"), NULL, NULL, NULL), 0);
    assert_int_equal(acp_ledger_load_file(other, at("ledger"), NULL, NULL, NULL), 0);
    (void) add(ledger, "a");
    (void) add(other, "b");
    (void) add(other, "c");
    assert_int_equal(save(ledger), 0);
    assert_int_equal(save(other), 0);
    assert_tools(ledger, "1a ");
    assert_tools(other, "1a 2b 3c ");
    assert_int_equal(acp_ledger_load_file(ledger, at("ledger"), NULL, NULL, NULL), 0);
    assert_tools(ledger, "1a 2b 3c ");
    /* What one has revoked does not come back by the other. */
    assert_int_equal(acp_ledger_revoke(ledger, 1), 0);
    (void) add(other, "d");
    assert_int_equal(save(other), 0);
    (void) add(ledger, "e");
    assert_tools(ledger, "2b 3c 4e ");
    assert_int_equal(save(ledger), 0);
    assert_tools(ledger, "2b 3c 4d 5e ");
    assert_int_equal(acp_ledger_revoke(other, 3), 0);
    assert_int_equal(acp_ledger_load_file(other, at("ledger"), NULL, NULL, NULL), 0);
    assert_tools(other, "2b 4d 5e "); /* not saved yet, but not forgotten either */
    assert_int_equal(save(other), 0);
    assert_int_equal(save(ledger), 0);
    assert_tools(ledger, "2b 4d 5e ");
    /* A number that is gone is gone, also when it was the last. */
    assert_int_equal(acp_ledger_revoke(ledger, 5), 0);
    assert_int_equal(save(ledger), 0);
    assert_int_equal(acp_ledger_load_file(other, at("ledger"), NULL, NULL, NULL), 0);
    assert_int_equal(add(other, "f"), 6);
    acp_ledger_free(other);
}

/* As the client and the built-in agent do, in two processes, with the answer to one question. */
static void one_answer_remembered_by_two_is_one_grant(void **state)
{
    (void) state;
    struct acp_ledger *other = NULL;
    struct acp_grant yes = how(true, ACP_GRANT_PROJECT);
    struct acp_grant no = how(false, ACP_GRANT_PROJECT);
    struct acp_grant session = how(true, ACP_GRANT_SESSION);
    struct acp_action action = run("make");
    struct acp_action test = run("make test");
    assert_int_equal(acp_ledger_new(&other), 0);
    assert_int_equal(acp_ledger_remember(ledger, &action, &yes, NULL), 0);
    assert_int_equal(acp_ledger_remember(other, &action, &yes, NULL), 0);
    assert_int_equal(save(ledger), 0);
    assert_int_equal(save(other), 0);
    assert_int_equal(acp_ledger_count(other), 1);
    assert_int_equal(acp_ledger_load_file(ledger, at("ledger"), NULL, NULL, NULL), 0);
    assert_int_equal(acp_ledger_count(ledger), 1);
    /* Another scope or another command is another grant; the other answer replaces. */
    assert_int_equal(acp_ledger_remember(other, &action, &session, NULL), 0);
    assert_int_equal(acp_ledger_remember(other, &test, &yes, NULL), 0);
    assert_int_equal(save(other), 0);
    assert_int_equal(acp_ledger_count(other), 3);
    assert_int_equal(acp_ledger_remember(ledger, &action, &no, NULL), 0);
    assert_int_equal(save(ledger), 0);
    assert_int_equal(acp_ledger_count(ledger), 3);
    assert_int_equal(decide(&action, 0).verdict, ACP_VERDICT_DENY);
    assert_int_equal(decide(&test, 0).verdict, ACP_VERDICT_ALLOW);
    acp_ledger_free(other);
    /* Also by who has not read the file before. */
    assert_int_equal(acp_ledger_new(&other), 0);
    assert_int_equal(acp_ledger_remember(other, &test, &no, NULL), 0);
    assert_int_equal(save(other), 0);
    assert_int_equal(acp_ledger_count(other), 3);
    assert_int_equal(acp_ledger_load_file(ledger, at("ledger"), NULL, NULL, NULL), 0);
    assert_int_equal(decide(&test, 0).verdict, ACP_VERDICT_DENY);
    acp_ledger_free(other);
}

/* All paths of an action or none: half an answer is not what was said. */
static void an_answer_is_remembered_whole_or_not(void **state)
{
    (void) state;
    static char name[6000];
    memset(name, 'x', sizeof(name));
    struct acp_str paths[] = {ACP_STR("/no/ws/a"), acp_str_n(name, sizeof(name))};
    struct acp_action action = {
        .kind = ACP_TOOL_KIND_EDIT, .paths = {paths, 2}, .cwd = acp_str_from("/no/ws")};
    struct acp_grant yes = how(true, ACP_GRANT_PROJECT);
    struct acp_failure failure = {0};
    assert_int_equal(acp_ledger_remember(ledger, &action, &yes, &failure), ACP_ERR_RANGE);
    assert_string_equal(failure.path, "path");
    assert_int_equal(acp_ledger_count(ledger), 0);
    yes.scope = (enum acp_grant_scope)(ACP_GRANT_EVERYWHERE + 1);
    action.paths.count = 1;
    assert_int_equal(acp_ledger_remember(ledger, &action, &yes, &failure), ACP_ERR_RANGE);
    assert_string_equal(failure.path, "scope");
    assert_int_equal(acp_ledger_count(ledger), 0);
}

static void many_processes_save_at_a_time(void **state)
{
    (void) state;
    enum { PROCESSES = 6, EACH = 5 };
    pid_t pids[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        pids[p] = fork();
        assert_true(pids[p] >= 0);
        if (pids[p] == 0) {
            struct acp_ledger *own = NULL;
            int bad = acp_ledger_new(&own) != 0;
            for (int i = 0; i < EACH && !bad; i++) {
                char tool[32];
                (void) snprintf(tool, sizeof(tool), "%d-%d", p, i);
                (void) add(own, tool);
                bad = acp_ledger_save_file(own, at("ledger"), NULL, NULL, NULL) != 0;
            }
            acp_ledger_free(own);
            _exit(bad);
        }
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status = 0;
        assert_int_equal(waitpid(pids[p], &status, 0), pids[p]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(acp_ledger_load_file(ledger, at("ledger"), NULL, NULL, NULL), 0);
    assert_int_equal(acp_ledger_count(ledger), PROCESSES * EACH);
}

static void files_are_private_and_links_stay(void **state)
{
    (void) state;
    char real[100];
    (void) snprintf(real, sizeof(real), "%s", at("real"));
    assert_int_equal(mkdir(real, 0700), 0);
    (void) snprintf(real, sizeof(real), "%s", at("real/ledger"));
    FILE *f = fopen(real, "w");
    assert_non_null(f);
    (void) fputs("strange line\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(symlink("real/ledger", at("ledger")), 0);
    (void) add(ledger, "a");
    struct reports r = {0};
    assert_int_equal(acp_ledger_save_file(ledger, at("ledger"), take_report, &r, NULL), 1);
    assert_int_equal(r.lines[0], 1);
    struct stat st;
    assert_int_equal(lstat(at("ledger"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(real, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    /* The line that was not understood is still there. */
    assert_int_equal(acp_ledger_load_file(ledger, real, NULL, NULL, NULL), 1);
    assert_tools(ledger, "1a ");
}

static void trouble_with_the_file_is_told(void **state)
{
    (void) state;
    struct acp_failure failure = {0};
    assert_int_equal(acp_ledger_save_file(ledger, at("no/such/folder"), NULL, NULL, &failure),
                     ACP_ERR_STATE);
    assert_non_null(strstr(failure.message, "No such file"));
    assert_int_equal(mkdir(at("folder"), 0700), 0);
    assert_int_equal(acp_ledger_load_file(ledger, at("folder"), NULL, NULL, &failure),
                     ACP_ERR_STATE);
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    assert_int_equal(acp_ledger_load_file(ledger, at("fifo"), NULL, NULL, &failure), ACP_ERR_STATE);
    (void) add(ledger, "a");
    int fd = open(at("ledger.lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(acp_ledger_save_file(ledger, at("ledger"), NULL, NULL, &failure),
                     ACP_ERR_TIMEOUT);
    (void) close(fd);
    /* Nothing is lost by it. */
    assert_int_equal(save(ledger), 0);
    assert_tools(ledger, "1a ");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(always_is_remembered_in_its_scope),
        CASE(grants_are_for_exactly_what_was_asked),
        CASE(grants_cover_harmless_arguments),
        CASE(a_changed_file_is_read_again),
        CASE(every_path_must_have_been_granted),
        CASE(a_link_does_not_carry_a_grant_elsewhere),
        CASE(tools_are_remembered_by_name_and_nothing_by_nothing),
        CASE(grants_do_not_lift_what_is_denied),
        CASE(rejections_beat_rules_and_full_mode),
        CASE(the_newer_answer_takes_the_place_of_the_older),
        CASE(grants_end_by_the_time_that_is_told),
        CASE(grants_that_cannot_be_are_refused),
        CASE(ledgers_are_bounded),
        CASE(text_reads_back_as_it_was_written),
        CASE(bad_lines_are_told_and_do_not_take_others_along),
        CASE(endless_lines_are_left_aside),
        CASE(processes_do_not_lose_each_others_grants),
        CASE(one_answer_remembered_by_two_is_one_grant),
        CASE(an_answer_is_remembered_whole_or_not),
        CASE(many_processes_save_at_a_time),
        CASE(files_are_private_and_links_stay),
        CASE(trouble_with_the_file_is_told),
    };
    return cmocka_run_group_tests_name("policy-ledger", tests, NULL, NULL);
}
