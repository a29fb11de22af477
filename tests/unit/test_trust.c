/* The list of trusted folders: what is in it, who may read it, and what it survives. */
#define _XOPEN_SOURCE 700
#include "config/paths.h"
#include "config/trust.h"
#include "test_home.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

static struct acp_arena arena;
static struct acp_buf why;
static const char *list;

static int setup(void **state)
{
    (void) test_make_home(state);
    acp_arena_init(&arena, 0);
    acp_buf_init(&why, 10000);
    list = trust_file(test_environment, &arena);
    test_make_folder("a");
    test_make_folder("b");
    return 0;
}

static int teardown(void **state)
{
    acp_arena_finish(&arena);
    acp_buf_finish(&why);
    return test_remove_home(state);
}

static void exactly_what_was_agreed_to_is_trusted(void **state)
{
    (void) state;
    const char *a = test_path("a");
    assert_int_equal(trust_check(list, a, acp_str_from("{}")), TRUST_NONE);
    assert_int_equal(trust_add(list, a, acp_str_from("{}"), &why), 0);
    assert_int_equal(trust_check(list, a, acp_str_from("{}")), TRUST_YES);
    assert_int_equal(trust_check(list, a, acp_str_from("{} ")), TRUST_CHANGED);
    assert_int_equal(trust_check(list, a, acp_str_from("")), TRUST_CHANGED);
    assert_int_equal(trust_check(list, test_path("b"), acp_str_from("{}")), TRUST_NONE);
    assert_int_equal(trust_check(NULL, a, acp_str_from("{}")), TRUST_NONE);
    assert_int_equal(trust_add(list, a, acp_str_from("{\"\n\xc3\xa4\": \"\\\"}"), &why), 0);
    assert_int_equal(trust_check(list, a, acp_str_from("{\"\n\xc3\xa4\": \"\\\"}")), TRUST_YES);
    assert_int_equal(trust_check(list, a, acp_str_from("{}")), TRUST_CHANGED);
    assert_int_equal(trust_remove(list, a, &why), 0);
    assert_int_equal(trust_check(list, a, acp_str_from("{}")), TRUST_NONE);
    assert_int_equal(trust_remove(list, a, &why), ACP_ERR_UNKNOWN);
    assert_non_null(strstr(test_cstr(&why), "was not trusted"));
}

static void a_link_is_the_folder_behind_it(void **state)
{
    (void) state;
    assert_int_equal(symlink(test_path("a"), test_path("link")), 0);
    assert_int_equal(trust_add(list, test_path("link"), acp_str_from("x"), &why), 0);
    assert_int_equal(trust_check(list, test_path("a"), acp_str_from("x")), TRUST_YES);
    /* Pointing it elsewhere takes nothing along. */
    assert_int_equal(unlink(test_path("link")), 0);
    assert_int_equal(symlink(test_path("b"), test_path("link")), 0);
    assert_int_equal(trust_check(list, test_path("link"), acp_str_from("x")), TRUST_NONE);
}

static void the_list_is_for_its_user_alone(void **state)
{
    (void) state;
    struct stat st;
    mode_t before = umask(0);
    assert_int_equal(trust_add(list, test_path("a"), acp_str_from("x"), &why), 0);
    (void) umask(before);
    assert_int_equal(stat(list, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(test_path(".local/state/acp"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void count_folder(struct acp_str folder, struct acp_str content, void *user)
{
    assert_true(folder.len > 0 && content.ptr);
    ++*(size_t *) user;
}

static void lines_that_are_not_ours_stay_and_trust_nothing(void **state)
{
    (void) state;
    static const char odd[] =
        "{\"folder\": \"/x\", \"config\": 1}\nnonsense\n{\"folder\": \"/y\"}\n"
        "{\"new\": [], \"folder\": \"/z\", \"config\": \"c\"}\n";
    test_write(".local/state/acp/trusted.jsonl", odd, 0600);
    size_t count = 0;
    assert_int_equal(trust_list(list, count_folder, &count, &why), 0);
    assert_int_equal(count, 1);
    assert_int_equal(trust_add(list, test_path("a"), acp_str_from("x"), &why), 0);
    struct acp_buf text;
    acp_buf_init(&text, 100000);
    assert_int_equal(paths_read_file(list, &text), 0);
    assert_int_equal(strncmp(test_cstr(&text), odd, strlen(odd)), 0);
    acp_buf_finish(&text);
    count = 0;
    assert_int_equal(trust_list(list, count_folder, &count, &why), 0);
    assert_int_equal(count, 2);
}

static void what_cannot_be_kept_is_told(void **state)
{
    (void) state;
    assert_int_equal(trust_add(list, test_path("a"), acp_str_from("\xff"), &why), ACP_ERR_UTF8);
    assert_int_equal(trust_add(list, test_path("a"), acp_str_n("a\0b", 3), &why), ACP_ERR_UTF8);
    acp_buf_clear(&why);
    test_make_folder(".local/state/acp/trusted.jsonl");
    assert_int_equal(trust_add(list, test_path("a"), acp_str_from("x"), &why), ACP_ERR_STATE);
    assert_non_null(strstr(test_cstr(&why), "cannot read "));
    assert_int_equal(trust_check(list, test_path("a"), acp_str_from("x")), TRUST_NONE);
    size_t count = 0;
    assert_int_equal(trust_list(list, count_folder, &count, &why), ACP_ERR_STATE);
}

static void two_processes_do_not_lose_each_others_folders(void **state)
{
    (void) state;
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        char name[16];
        (void) snprintf(name, sizeof(name), "c%d", i);
        test_make_folder(name);
        children[i] = fork();
        if (children[i] == 0)
            _exit(trust_add(list, test_path(name), acp_str_from("x"), &why) ? 1 : 0);
    }
    for (int i = 0; i < 4; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    size_t count = 0;
    assert_int_equal(trust_list(list, count_folder, &count, &why), 0);
    assert_int_equal(count, 4);
}

/* ---- Files, which everything above stands on ------------------------------------------------ */

static void replacing_keeps_links_and_modes(void **state)
{
    (void) state;
    struct stat st;
    test_write("real.json", "old", 0640);
    assert_int_equal(symlink("real.json", test_path("link.json")), 0);
    assert_int_equal(paths_write_file(test_path("link.json"), acp_str_from("new"), 0600), 0);
    assert_int_equal(lstat(test_path("link.json"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    struct acp_buf text;
    acp_buf_init(&text, 100000);
    assert_int_equal(paths_read_file(test_path("real.json"), &text), 0);
    assert_string_equal(test_cstr(&text), "new");
    assert_int_equal(stat(test_path("real.json"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(paths_write_file(test_path("x/y/z.json"), acp_str_from("1"), 0600), 0);
    assert_int_equal(paths_write_file(test_path("a"), acp_str_from("1"), 0600), -EISDIR);
    assert_int_equal(paths_read_file(test_path("a"), &text), -EISDIR);
    assert_int_equal(paths_read_file(test_path("none"), &text), -ENOENT);
    assert_int_equal(mkfifo(test_path("fifo"), 0600), 0);
    assert_int_equal(paths_read_file(test_path("fifo"), &text), -EINVAL);
    acp_buf_finish(&text);
}

static void a_lock_that_is_held_is_waited_for_and_given_up(void **state)
{
    (void) state;
    int held = paths_lock_file(test_path("f"));
    assert_true(held >= 0);
    assert_int_equal(paths_lock_file(test_path("f")), -EWOULDBLOCK);
    assert_int_equal(close(held), 0);
    held = paths_lock_file(test_path("f"));
    assert_true(held >= 0);
    assert_int_equal(close(held), 0);
}

static void folders_come_from_xdg_or_the_home(void **state)
{
    (void) state;
    assert_string_equal(paths_config_dir(test_environment, &arena), test_path(".config/acp"));
    assert_string_equal(paths_data_dir(test_environment, &arena), test_path(".local/share/acp"));
    test_add_variable("XDG_CONFIG_HOME=/c");
    test_add_variable("XDG_STATE_HOME=relative");
    assert_string_equal(paths_config_dir(test_environment, &arena), "/c/acp");
    assert_string_equal(paths_state_dir(test_environment, &arena), test_path(".local/state/acp"));
    assert_string_equal(paths_shorten(&arena, test_path("x/y"), test_home), "~/x/y");
    assert_string_equal(paths_shorten(&arena, test_home, test_home), "~");
    assert_string_equal(paths_shorten(&arena, "/x", test_home), "/x");
    assert_string_equal(paths_expand(&arena, acp_str_from("~"), "/b", "/h"), "/h/");
    assert_string_equal(paths_expand(&arena, acp_str_from("~x"), "/b", "/h"), "/b/~x");
    assert_null(paths_expand(&arena, acp_str_from("~/x"), "/b", NULL));
}

#define HOME_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HOME_TEST(exactly_what_was_agreed_to_is_trusted),
        HOME_TEST(a_link_is_the_folder_behind_it),
        HOME_TEST(the_list_is_for_its_user_alone),
        HOME_TEST(lines_that_are_not_ours_stay_and_trust_nothing),
        HOME_TEST(what_cannot_be_kept_is_told),
        HOME_TEST(two_processes_do_not_lose_each_others_folders),
        HOME_TEST(replacing_keeps_links_and_modes),
        HOME_TEST(a_lock_that_is_held_is_waited_for_and_given_up),
        HOME_TEST(folders_come_from_xdg_or_the_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
