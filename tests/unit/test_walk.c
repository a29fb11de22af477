/* Going through a workspace: order, rules, links that lead out, and limits. */
#define _GNU_SOURCE
#include <fcntl.h>

#include "agent/toolkit/file_walk.h"
#include "test_home.h"

struct seen {
    struct acp_buf text;
    size_t enough; /* stop after this number of names; 0: never */
    size_t count;
    atomic_bool *stops;
    uint64_t sleeps_ms;
};

static int on_entry(struct walk *walk, const struct walk_entry *entry, void *user)
{
    static const char marks[] = {
        [WALK_FILE] = ' ', [WALK_FOLDER] = '/', [WALK_LINK] = '@', [WALK_OTHER] = '?'};
    struct seen *seen = user;
    size_t n = strlen(entry->path) - strlen(entry->within);
    assert_true(n && entry->path[n - 1] == '/');
    assert_int_equal(acp_buf_printf(&seen->text, "%s%c", entry->within, marks[entry->kind]), 0);
    if (entry->kind == WALK_FILE) {
        int fd = walk_open(walk, entry);
        assert_true(fd >= 0);
        assert_int_equal(close(fd), 0);
    }
    if (seen->stops)
        atomic_store(seen->stops, true);
    if (seen->sleeps_ms)
        (void) usleep((useconds_t) seen->sleeps_ms * 1000);
    return ++seen->count == seen->enough;
}

struct tour {
    struct acp_roots *roots;
    struct walk_options options;
    struct walk_outcome outcome;
    struct acp_files_error error;
    struct seen seen;
};

static int setup(void **state)
{
    struct tour *tour = calloc(1, sizeof(*tour));
    assert_int_equal(test_make_home(NULL), 0);
    assert_int_equal(
        acp_roots_new(acp_str_from(test_home), (struct acp_str_list){NULL, 0}, &tour->roots, NULL),
        0);
    acp_buf_init(&tour->seen.text, 64 << 20);
    tour->options.roots = tour->roots;
    tour->options.top = test_home;
    *state = tour;
    return 0;
}

static int teardown(void **state)
{
    struct tour *tour = *state;
    acp_roots_free(tour->roots);
    acp_buf_finish(&tour->seen.text);
    free(tour);
    return test_remove_home(NULL);
}

static const char *go(struct tour *tour)
{
    acp_buf_clear(&tour->seen.text);
    tour->seen.count = 0;
    assert_int_equal(walk_tree(&tour->options, on_entry, &tour->seen, &tour->outcome, &tour->error),
                     0);
    return test_cstr(&tour->seen.text);
}

static void files_come_before_folders_by_name(void **state)
{
    struct tour *tour = *state;
    test_write("b", "", 0644);
    test_write("a/y", "", 0644);
    test_write("a/c/z", "", 0644);
    test_write("B", "", 0644);
    assert_int_equal(symlink("/etc", test_path("out")), 0);
    assert_int_equal(symlink("a", test_path("in")), 0);
    assert_int_equal(mkfifo(test_path("fifo"), 0600), 0);
    assert_string_equal(go(tour), "B b fifo?in@out@a/a/y a/c/a/c/z ");
    assert_int_equal(tour->outcome.end, WALK_COMPLETE);
    assert_int_equal(tour->outcome.entries, 9);
    tour->options.depth = 1;
    assert_string_equal(go(tour), "B b fifo?in@out@a/");
    tour->options.depth = 0;
    tour->options.top = test_path("a");
    assert_string_equal(go(tour), "y c/c/z ");
    tour->options.top = test_path("a/c/z");
    assert_string_equal(go(tour), "z ");
}

static void rules_hold_from_their_folder_on(void **state)
{
    struct tour *tour = *state;
    test_write(".gitignore", "*.o\nbuild/\n", 0644);
    test_write(".git/config", "", 0644);
    test_write(".git/info/exclude", "private\n", 0644);
    test_write("a.o", "", 0644);
    test_write("a.c", "", 0644);
    test_write("private", "", 0644);
    test_write("build/x.c", "", 0644);
    test_write("sub/.gitignore", "!keep.o\n/tmp\n", 0644);
    test_write("sub/keep.o", "", 0644);
    test_write("sub/b.o", "", 0644);
    test_write("sub/tmp/x", "", 0644);
    test_write("sub/deep/tmp", "", 0644);
    assert_string_equal(go(tour),
                        ".gitignore a.c sub/sub/.gitignore sub/keep.o sub/deep/sub/deep/tmp ");
    assert_int_equal(tour->outcome.ignored, 5);
    /* The rules above the top hold as well. */
    tour->options.top = test_path("sub/deep");
    test_write("sub/deep/c.o", "", 0644);
    assert_string_equal(go(tour), "tmp ");
    tour->options.top = test_home;
    tour->options.with_ignored = true;
    assert_non_null(strstr(go(tour), "build/x.c"));
    assert_null(strstr(test_cstr(&tour->seen.text), ".git/"));
}

static void what_leads_out_is_refused(void **state)
{
    struct tour *tour = *state;
    assert_int_equal(symlink("/etc", test_path("out")), 0);
    static const char *const tops[] = {"/etc", "/nowhere"};
    for (size_t i = 0; i < COUNT(tops); i++) {
        tour->options.top = tops[i];
        assert_int_equal(
            walk_tree(&tour->options, on_entry, &tour->seen, &tour->outcome, &tour->error),
            ACP_ERR_RANGE);
    }
    tour->options.top = test_path("out");
    assert_int_equal(walk_tree(&tour->options, on_entry, &tour->seen, &tour->outcome, &tour->error),
                     ACP_ERR_RANGE);
    tour->options.top = test_path("gone");
    assert_int_equal(walk_tree(&tour->options, on_entry, &tour->seen, &tour->outcome, &tour->error),
                     ACP_ERR_MISSING);
    assert_int_equal(tour->seen.count, 0);
}

static void a_walk_ends_at_its_limits(void **state)
{
    struct tour *tour = *state;
    for (int i = 0; i < 300; i++) {
        char name[32];
        (void) snprintf(name, sizeof(name), "d/%03d", i);
        test_write(name, "", 0644);
    }
    tour->options.max_entries = 100;
    (void) go(tour);
    assert_int_equal(tour->outcome.end, WALK_TOO_MANY);
    assert_in_range(tour->seen.count, 50, 100); /* what was found is told */
    tour->options.max_entries = 0;
    tour->seen.enough = 7;
    (void) go(tour);
    assert_int_equal(tour->outcome.end, WALK_ENOUGH);
    assert_int_equal(tour->seen.count, 7);
    tour->seen.enough = 0;
    tour->options.max_ms = 20;
    tour->seen.sleeps_ms = 5;
    (void) go(tour);
    assert_int_equal(tour->outcome.end, WALK_TOO_LONG);
    assert_in_range(tour->seen.count, 1, 100);
    tour->options.max_ms = 0;
    tour->seen.sleeps_ms = 0;
    atomic_bool stop = false;
    tour->options.stop = &stop;
    tour->seen.stops = &stop;
    (void) go(tour);
    assert_int_equal(tour->outcome.end, WALK_STOPPED);
    assert_int_equal(tour->seen.count, 1);
    assert_non_null(walk_end_text(tour->outcome.end));
}

static void deep_folders_are_left_out(void **state)
{
    struct tour *tour = *state;
    int at = open(test_home, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < WALK_MAX_DEPTH + 20; i++) {
        assert_int_equal(mkdirat(at, "d", 0700), 0);
        int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
        assert_int_equal(close(at), 0);
        at = next;
    }
    assert_int_equal(close(at), 0);
    (void) go(tour);
    assert_int_equal(tour->outcome.end, WALK_TOO_DEEP);
    assert_int_equal(tour->seen.count, WALK_MAX_DEPTH);
}

#define walk_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        walk_test(files_come_before_folders_by_name), walk_test(rules_hold_from_their_folder_on),
        walk_test(what_leads_out_is_refused),         walk_test(a_walk_ends_at_its_limits),
        walk_test(deep_folders_are_left_out),
    };
    return cmocka_run_group_tests_name("walk", tests, NULL, NULL);
}
