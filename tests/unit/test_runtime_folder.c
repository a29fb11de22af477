/* Where the sockets of owners are: folders that are the user's alone, and no others. */
#include "daemon/daemon.h"
#include "test_home.h"

static struct acp_failure failure;
static const char *chosen;

static struct runtime_folder list[3];
static size_t count;

static int setup(void **state)
{
    (void) test_make_home(state);
    memset(&failure, 0, sizeof(failure));
    memset(list, 0, sizeof(list));
    count = 0;
    chosen = NULL;
    return 0;
}

static void add(const char *name)
{
    (void) snprintf(list[count].path, sizeof(list[0].path), "%s", test_path(name));
    list[count++].base_len = strlen(test_home);
}

static int choose(void)
{
    return runtime_folder_choose(list, count, 41, &chosen, &failure);
}

static void the_first_is_made_for_us_alone(void **state)
{
    struct stat st;
    (void) state;
    add("run/acp");
    add("second");
    assert_int_equal(choose(), 0);
    assert_string_equal(chosen, test_path("run/acp"));
    assert_int_equal(stat(chosen, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_not_equal(access(test_path("second"), F_OK), 0);
    assert_int_equal(choose(), 0);
    assert_string_equal(chosen, test_path("run/acp"));
}

static void make_open_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0711), 0);
}

static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

/* Whoever made the link could let it lead elsewhere at any time. */
static void make_link(const char *path)
{
    char own[128];
    (void) snprintf(own, sizeof(own), "%s-own", path);
    assert_int_equal(mkdir(own, 0700), 0);
    assert_int_equal(symlink(own, path), 0);
}

static void make_foreign_folder(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chown(path, 54321, (gid_t) -1), 0);
}

static const struct {
    void (*make)(const char *path);
    const char *words;
    bool needs_root;
} bad[] = {
    {make_open_folder, "/acp can be entered by others; set XDG_RUNTIME_DIR to", false},
    {make_file, "/acp is not a folder; set XDG_RUNTIME_DIR to", false},
    {make_link, "/acp is not a folder; set XDG_RUNTIME_DIR to", false},
    {make_foreign_folder, "/acp belongs to another user; set XDG_RUNTIME_DIR to", true},
};

static void a_folder_that_others_can_use_is_passed_over(void **state)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (bad[i].needs_root && geteuid() != 0)
            continue; /* only root can give a folder away */
        (void) setup(state);
        bad[i].make(test_path("acp"));
        add("acp");
        CHECK_ROW(choose() == ACP_ERR_STATE, i, "%s", chosen ? chosen : "");
        CHECK_ROW(strstr(failure.message, bad[i].words) != NULL, i, "%s", failure.message);
        CHECK_ROW(chosen == NULL, i, "%s", chosen);
        add("state/acp/run");
        CHECK_ROW(choose() == 0, i, "%s", failure.message);
        CHECK_ROW(strcmp(chosen, test_path("state/acp/run")) == 0, i, "%s", chosen);
        assert_int_equal(test_remove_home(state), 0);
    }
    (void) setup(state);
}

static void a_base_that_is_missing_is_passed_over(void **state)
{
    (void) state;
    add("gone/acp");
    list[0].base_len = strlen(test_path("gone"));
    add("second");
    assert_int_equal(choose(), 0);
    assert_string_equal(chosen, test_path("second"));
    assert_int_not_equal(access(test_path("gone"), F_OK), 0);
}

static void what_is_too_long_for_a_socket_is_passed_over(void **state)
{
    (void) state;
    add("a-name-that-leaves-no-room-for-the-name-of-a-session-behind-it");
    assert_int_equal(choose(), ACP_ERR_STATE);
    assert_non_null(strstr(failure.message, "name too long"));
    add("second");
    assert_int_equal(choose(), 0);
    assert_string_equal(chosen, test_path("second"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, test_remove_home)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_first_is_made_for_us_alone),
        CASE(a_folder_that_others_can_use_is_passed_over),
        CASE(a_base_that_is_missing_is_passed_over),
        CASE(what_is_too_long_for_a_socket_is_passed_over),
    };
    return cmocka_run_group_tests_name("runtime_folder", tests, NULL, NULL);
}
