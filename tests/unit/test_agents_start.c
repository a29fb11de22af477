/* How agents that npx and its relatives fetch are started: in a folder of ours. */
#define _XOPEN_SOURCE 700
#include <ctype.h>

#include "launch/fetched.h"
#include "registry/agents.h"
#include "test_home.h"

/* ---- Which they are ------------------------------------------------------------------------- */

static void test_which(void **state)
{
    (void) state;
    static const struct {
        const char *argv[6];
        bool fetched;
    } rows[] = {
        {{"npx", "-y", "thing"}, true},
        {{"/usr/bin/npx", "thing"}, true},
        {{"npx"}, true},
        {{"npm", "exec", "--", "thing"}, true},
        {{"npm", "x", "thing"}, true},
        {{"npm", "start"}, false},
        {{"npm"}, false},
        {{"uvx", "thing"}, true},
        {{"uvx", "--from", "thing", "it"}, true},
        {{"uv", "tool", "run", "thing"}, true},
        {{"uv", "run", "thing"}, false},
        {{"pnpm", "dlx", "thing"}, true},
        {{"pnpm", "run", "thing"}, false},
        {{"pnpx", "thing"}, true},
        {{"yarn", "dlx", "thing"}, true},
        {{"bunx", "thing"}, true},
        {{"bun", "x", "thing"}, true},
        {{"bun", "run", "thing"}, false},
        {{"pipx", "run", "thing"}, true},
        {{"mynpx", "thing"}, false},
        {{"npx-thing"}, false},
        /* The folder's own code, by the user's word. */
        {{"npx", "./thing"}, false},
        {{"npx", "-y", "../thing"}, false},
        {{"npx", "."}, false},
        {{"npm", "exec", "./thing"}, false},
        {{"npx", "thing", "./file"}, true},
        {{"npx", ".hidden"}, true},
        {{"npx", "/absolute"}, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_ROW(launch_is_fetched(rows[i].argv) == rows[i].fetched, i, "%s %s", rows[i].argv[0],
                  rows[i].argv[1] ? rows[i].argv[1] : "");
}

/* name@1.2.3, or name==1.2.3 */
static bool is_pinned(const char *fetched)
{
    for (const char *at = fetched; *at; at++) {
        bool mark =
            (at[0] == '@' && at > fetched && at[-1] != ' ') || (at[0] == '=' && at[1] == '=');
        const char *digits = at + (at[0] == '=' ? 2 : 1);
        int dots = 0;
        if (!mark)
            continue;
        while (isdigit((unsigned char) *digits) || *digits == '.')
            dots += *digits++ == '.';
        if (dots == 2 && (*digits == ' ' || *digits == '\0'))
            return true;
    }
    return false;
}

static void test_versions_are_exact(void **state)
{
    (void) state;
    const struct agent_known *known;
    size_t count = 0;
    for (size_t i = 0; (known = agents_known_at(i)); i++) {
        if (!known->fetched)
            continue;
        CHECK_ROW(is_pinned(known->fetched), i, "%s", known->fetched);
        count++;
    }
    assert_true(count > 5);
    assert_false(is_pinned("npx -y @scope/name"));
    assert_false(is_pinned("npx -y name@latest"));
    assert_false(is_pinned("npx -y name@^1.2.3"));
}

/* ---- The folder ----------------------------------------------------------------------------- */

static int start(struct acp_arena *arena, const char *const *argv, struct launch_fetched *ret,
                 struct acp_failure *failure)
{
    const char *folder = test_path("state/launch");
    struct acp_str copy = acp_arena_copy(arena, acp_str_from(folder));
    return launch_fetched(arena, copy.ptr, "/bin/prog", argv, "/the/project", ret, failure);
}

static void check_list(const char *const *list, const char *expected)
{
    char line[1000] = "";
    size_t n = 0;
    for (size_t i = 0; list[i]; i++)
        n += (size_t) snprintf(line + n, sizeof(line) - n, "%s%s", i ? "|" : "", list[i]);
    assert_string_equal(line, expected);
}

static void test_command_lines(void **state)
{
    (void) state;
    struct acp_arena arena;
    struct acp_failure failure;
    struct launch_fetched fetched;
    char expected[500];
    acp_arena_init(&arena, 0);
    const char *const npx[] = {"npx", "-y", "thing@1.0.0", "--acp", NULL};
    assert_int_equal(start(&arena, npx, &fetched, &failure), 0);
    check_list(fetched.argv, "/bin/prog|-y|thing@1.0.0|--acp");
    (void) snprintf(expected, sizeof(expected),
                    "ACP_START_FOLDER=/the/project|npm_config_script_shell=%s/state/launch/shell",
                    test_home);
    check_list(fetched.env, expected);
    assert_string_equal(fetched.cwd, test_path("state/launch"));

    const char *const uvx[] = {"uvx", "--from", "thing==1", "it", "--acp", NULL};
    assert_int_equal(start(&arena, uvx, &fetched, &failure), 0);
    (void) snprintf(expected, sizeof(expected),
                    "/bin/prog|--from|thing==1|%s/state/launch/shell|-c|exec \"$@\"|sh|it|--acp",
                    test_home);
    check_list(fetched.argv, expected);
    check_list(fetched.env, "ACP_START_FOLDER=/the/project");

    const char *const bare[] = {"uvx", "thing", NULL};
    assert_int_equal(start(&arena, bare, &fetched, &failure), 0);
    check_list(fetched.argv, "/bin/prog|thing");
    check_list(fetched.env, "");
    acp_arena_finish(&arena);
}

static void test_folder(void **state)
{
    (void) state;
    struct acp_arena arena;
    struct acp_failure failure;
    struct launch_fetched fetched;
    struct stat st;
    const char *const npx[] = {"npx", "thing", NULL};
    acp_arena_init(&arena, 0);
    /* Whatever somebody has put there is replaced; a link is not followed. */
    test_make_folder("state");
    test_make_folder("state/launch");
    test_write("elsewhere", "keep me", 0600);
    test_write("state/launch/package.json", "{\"workspaces\": [\"*\"]}", 0600);
    char target[100];
    (void) snprintf(target, sizeof(target), "%s", test_path("elsewhere"));
    assert_int_equal(symlink(target, test_path("state/launch/shell")), 0);
    assert_int_equal(start(&arena, npx, &fetched, &failure), 0);
    assert_int_equal(lstat(test_path("state/launch/shell"), &st), 0);
    assert_true(S_ISREG(st.st_mode) && (st.st_mode & 0777) == 0700);
    assert_int_equal(stat(test_path("state/launch/package.json"), &st), 0);
    assert_int_equal(st.st_size, 3);
    assert_int_equal(stat(test_path("elsewhere"), &st), 0);
    assert_int_equal(st.st_size, 7);
    /* A folder that others can write to is none. */
    assert_int_equal(chmod(test_path("state/launch"), 0777), 0);
    assert_int_equal(start(&arena, npx, &fetched, &failure), ACP_ERR_STATE);
    assert_non_null(strstr(failure.message, "only you can write"));
    assert_int_equal(chmod(test_path("state/launch"), 0700), 0);
    acp_arena_finish(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which),
        cmocka_unit_test(test_versions_are_exact),
        cmocka_unit_test_setup_teardown(test_command_lines, test_make_home, test_remove_home),
        cmocka_unit_test_setup_teardown(test_folder, test_make_home, test_remove_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
