/*
 * The guard of the files: it is asked about the file that was opened, and what it says holds for
 * that file whatever happens to the names meanwhile.  Links are swapped by threads while we read
 * and write, and by the guard itself, which is the worst moment there is.
 */
#define _GNU_SOURCE
#include "acp/files.h"
#include "acp/policy.h"
#include "test_home.h"
#include "test_race.h"

static struct acp_roots *roots;
static struct acp_policy *policy;
static struct acp_buf out;
static struct acp_str text;
static struct acp_files_error error;
static const struct acp_opt_i64 none;

/* What the guard was asked, and what it does about it. */
static struct {
    char path[400];
    int asked;
    int writes;
    int answer;
    void (*act)(void);
} seen;

static int note(struct acp_str path, bool writes, struct acp_files_error *e, void *user)
{
    (void) e;
    (void) user;
    seen.asked++;
    seen.writes += writes;
    (void) snprintf(seen.path, sizeof(seen.path), "%.*s", (int) path.len, path.ptr);
    if (seen.act)
        seen.act();
    return seen.answer;
}

/* As the workspace does it: the policy, by the real path. */
static int decide(struct acp_str path, bool writes, struct acp_files_error *e, void *user)
{
    struct acp_action action = {.kind = writes ? ACP_TOOL_KIND_EDIT : ACP_TOOL_KIND_READ,
                                .paths = {&path, 1},
                                .cwd = acp_str_from(test_home),
                                .is_real = true};
    (void) e;
    (void) user;
    return acp_policy_decide(policy, NULL, &action, 0, true).verdict == ACP_VERDICT_ALLOW
               ? 0
               : ACP_ERR_STATE;
}

static const struct acp_files_guard noting = {.check = note};
static const struct acp_files_guard deciding = {.check = decide};

static int setup(void **state)
{
    static const char *const files[][2] = {{"a/b/file", "plain"},
                                           {"open", "plain"},
                                           {".env", "secret"},
                                           {"keys/.env", "secret"},
                                           {"keys/open", "secret"}};
    static const char *const links[][2] = {
        {"a/b/file", "to-file"},  {"a/b", "to-dir"},
        {"to-dir/file", "twice"}, {".env", "to-env"},
        {"../../open", "a/b/up"}, {"keys", "to-keys"},
        {"a/b/new", "dangling"},  {"/etc/passwd", "absolute"},
        {"../..", "above"},       {"/proc/self/environ", "environ"},
        {"loop", "loop"}};
    (void) test_make_home(state);
    for (size_t i = 0; i < COUNT(files); i++)
        test_write(files[i][0], files[i][1], 0644);
    for (size_t i = 0; i < COUNT(links); i++)
        assert_int_equal(symlink(links[i][0], test_path(links[i][1])), 0);
    acp_buf_init(&out, 64u << 20);
    memset(&seen, 0, sizeof(seen));
    struct acp_policy_rule rules[] = {{.verdict = ACP_VERDICT_DENY, .path = ACP_STR("**/.env")},
                                      {.verdict = ACP_VERDICT_DENY, .path = ACP_STR("keys/**")}};
    assert_int_equal(acp_policy_new(&policy), 0);
    acp_policy_set_mode(policy, ACP_POLICY_FULL);
    for (size_t i = 0; i < COUNT(rules); i++)
        assert_int_equal(acp_policy_add(policy, &rules[i], NULL), 0);
    return acp_roots_new(acp_str_from(test_home), (struct acp_str_list){NULL, 0}, &roots, NULL);
}

static int teardown(void **state)
{
    acp_roots_free(roots);
    acp_policy_free(policy);
    acp_buf_finish(&out);
    return test_remove_home(state);
}

static int read_it(const char *name, const struct acp_files_guard *guard, bool walk)
{
    const struct acp_files_options options = {.guard = guard, .walk = walk};
    text = acp_str_from("");
    return acp_files_read(roots, acp_str_from(test_path(name)), none, none, &options, &out, &text,
                          &error);
}

static int write_it(const char *name, const char *content, const struct acp_files_guard *guard,
                    bool walk)
{
    const struct acp_files_options options = {.guard = guard, .walk = walk};
    return acp_files_write(roots, acp_str_from(test_path(name)), acp_str_from(content), &options,
                           &error);
}

static void assert_content(const char *name, const char *wanted)
{
    char got[100] = "";
    FILE *f = fopen(test_path(name), "r");
    assert_non_null(f);
    size_t n = fread(got, 1, sizeof(got) - 1, f);
    assert_int_equal(fclose(f), 0);
    got[n] = '\0';
    assert_string_equal(got, wanted);
}

/* ---- What it is asked ------------------------------------------------------------------------ */

static void it_is_asked_about_the_real_path(void **state)
{
    static const char *const rows[][2] = {
        {"a/b/file", "a/b/file"}, {"to-file", "a/b/file"},      {"to-dir/file", "a/b/file"},
        {"twice", "a/b/file"},    {"a/b/up", "open"},           {"to-dir/up", "open"},
        {"to-env", ".env"},       {"to-keys/open", "keys/open"}};
    (void) state;
    for (int walk = 0; walk < 2; walk++)
        for (size_t i = 0; i < COUNT(rows); i++) {
            seen.asked = 0;
            CHECK_ROW(read_it(rows[i][0], &noting, walk) == 0, i, "%s", error.message);
            CHECK_ROW(seen.asked == 1, i, "asked %d times", seen.asked);
            CHECK_ROW(strcmp(seen.path, test_path(rows[i][1])) == 0, i, "%s", seen.path);
            CHECK_ROW(write_it(rows[i][0], text.ptr ? "plain" : "", &noting, walk) == 0, i, "%s",
                      error.message);
            CHECK_ROW(strcmp(seen.path, test_path(rows[i][1])) == 0, i, "%s", seen.path);
        }
    assert_int_equal(seen.writes, 2 * (int) COUNT(rows));
}

/* The root was given by a link: the guard gets its real name, and rules by either name hold. */
static void a_root_behind_a_link_has_its_real_name(void **state)
{
    struct acp_roots *linked = NULL;
    char alias[100];
    char path[120];
    (void) state;
    (void) snprintf(alias, sizeof(alias), "%s-alias", test_home);
    assert_int_equal(symlink(test_home, alias), 0);
    assert_int_equal(
        acp_roots_new(acp_str_from(alias), (struct acp_str_list){NULL, 0}, &linked, NULL), 0);
    (void) snprintf(path, sizeof(path), "%s/to-env", alias);
    for (int walk = 0; walk < 2; walk++) {
        struct acp_files_options options = {.guard = &noting, .walk = walk};
        assert_int_equal(
            acp_files_read(linked, acp_str_from(path), none, none, &options, &out, &text, &error),
            0);
        assert_string_equal(seen.path, test_path(".env"));
        options.guard = &deciding;
        assert_int_equal(
            acp_files_read(linked, acp_str_from(path), none, none, &options, &out, &text, &error),
            ACP_ERR_STATE);
    }
    acp_roots_free(linked);
    assert_int_equal(unlink(alias), 0);
}

static void a_refusal_leaves_everything_as_it_was(void **state)
{
    (void) state;
    seen.answer = ACP_ERR_STATE;
    for (int walk = 0; walk < 2; walk++) {
        assert_int_equal(read_it("open", &noting, walk), ACP_ERR_STATE);
        assert_int_equal(error.code, ACP_FILES_FAILED);
        assert_non_null(strstr(error.message, "/open"));
        assert_int_equal(out.len, 0);
        assert_int_equal(write_it("open", "changed", &noting, walk), ACP_ERR_STATE);
        assert_content("open", "plain");
        /* Nothing is made on the way to what is refused, through a link neither. */
        assert_int_equal(write_it("a/x/y/z", "new", &noting, walk), ACP_ERR_STATE);
        assert_string_equal(seen.path, test_path("a/x/y/z"));
        assert_int_not_equal(access(test_path("a/x"), F_OK), 0);
        assert_int_equal(write_it("to-dir/x/z", "new", &noting, walk), ACP_ERR_STATE);
        assert_string_equal(seen.path, test_path("a/b/x/z"));
        assert_int_not_equal(access(test_path("a/b/x"), F_OK), 0);
        assert_int_equal(write_it("dangling", "new", &noting, walk), ACP_ERR_STATE);
        assert_string_equal(seen.path, test_path("a/b/new"));
        assert_int_not_equal(access(test_path("a/b/new"), F_OK), 0);
    }
}

static void what_is_no_file_inside_is_never_asked_about(void **state)
{
    static const struct {
        const char *name;
        int err;
    } rows[] = {{"absolute", ACP_ERR_RANGE}, {"environ", ACP_ERR_RANGE},
                {"above/x", ACP_ERR_RANGE},  {"loop", ACP_ERR_STATE},
                {"pipe", ACP_ERR_STATE},     {"a", ACP_ERR_STATE},
                {"to-dir", ACP_ERR_STATE},   {"none", ACP_ERR_MISSING},
                {"open/x", ACP_ERR_STATE},   {"to-keys/none", ACP_ERR_MISSING}};
    (void) state;
    assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
    for (int walk = 0; walk < 2; walk++)
        for (size_t i = 0; i < COUNT(rows); i++) {
            int err = read_it(rows[i].name, &noting, walk);
            CHECK_ROW(err == rows[i].err, i, "%d: %s", err, error.message);
        }
    assert_int_equal(seen.asked, 0);
    /* Devices and /proc, from a root that has them. */
    static const char *const special[] = {"/dev/null", "/dev/zero", "/proc/self/environ",
                                          "/proc/self/cwd/open", "/proc/self/fd/0"};
    struct acp_roots *whole = NULL;
    assert_int_equal(acp_roots_new(acp_str_from("/"), (struct acp_str_list){NULL, 0}, &whole, NULL),
                     0);
    for (size_t i = 0; i < 2 * COUNT(special); i++) {
        struct acp_files_options options = {.guard = &noting, .walk = i % 2};
        int fd = -1;
        CHECK_ROW(acp_files_open(whole, acp_str_from(special[i / 2]), &options, &fd, &error) ==
                      ACP_ERR_STATE,
                  i, "%s", special[i / 2]);
    }
    acp_roots_free(whole);
    assert_int_equal(seen.asked, 0);
}

static int buffer_asked;
static int read_buffer(struct acp_str path, struct acp_str *ret, void *user)
{
    (void) path;
    (void) user;
    buffer_asked++;
    *ret = acp_str_from("unsaved secret");
    return 1;
}

static void an_editors_buffer_is_guarded_as_well(void **state)
{
    const struct acp_files_hooks hooks = {.read = read_buffer};
    struct acp_files_options options = {.guard = &deciding, .hooks = &hooks};
    (void) state;
    assert_int_equal(acp_files_read(roots, acp_str_from(test_path("to-env")), none, none, &options,
                                    &out, &text, &error),
                     ACP_ERR_STATE);
    assert_int_equal(buffer_asked, 0);
    assert_int_equal(acp_files_read(roots, acp_str_from(test_path("open")), none, none, &options,
                                    &out, &text, &error),
                     0);
    assert_int_equal(buffer_asked, 1);
}

/* ---- Between the decision and the use -------------------------------------------------------- */

static void replace_by_a_file(void)
{
    assert_int_equal(rename(test_path("keys/open"), test_path("open")), 0);
}

static void replace_by_a_link(void)
{
    assert_int_equal(rename(test_path("to-env"), test_path("open")), 0);
}

static void replace_the_folder(void)
{
    assert_int_equal(rename(test_path("a"), test_path("was-a")), 0);
    assert_int_equal(symlink("keys", test_path("a")), 0);
    assert_int_equal(mkdir(test_path("keys/b"), 0755), 0);
}

static void a_file_replaced_after_the_decision_is_not_read(void **state)
{
    (void) state;
    seen.act = replace_by_a_file;
    assert_int_equal(read_it("open", &noting, false), 0);
    assert_true(acp_str_is(text, "plain"));
}

static void a_link_put_there_after_the_decision_is_not_followed(void **state)
{
    (void) state;
    seen.act = replace_by_a_link;
    assert_int_equal(read_it("open", &noting, false), 0);
    assert_true(acp_str_is(text, "plain"));
}

/* The last name may have become a link: writing replaces it, or refuses, but never follows. */
static void a_write_stays_in_the_place_that_was_decided_on(void **state)
{
    (void) state;
    seen.act = replace_by_a_link;
    (void) write_it("open", "new", &noting, false);
    assert_content(".env", "secret");
    seen.act = replace_the_folder;
    assert_int_equal(write_it("a/b/file", "new", &noting, false), 0);
    assert_content("was-a/b/file", "new");
    assert_int_not_equal(access(test_path("keys/b/file"), F_OK), 0);
}

/* ---- Races ----------------------------------------------------------------------------------- */

enum { ROUNDS = 150, MOST_ROUNDS = 400000 };

/* Reads, and writes, a name that leads to what is allowed and to what is denied in turns. */
static void attack(const char *a, const char *b, const char *name, bool walk)
{
    struct racer r;
    unsigned long good = 0;
    unsigned long refused = 0;
    unsigned long leaked = 0;
    racer_start(&r, a, b);
    /* Until both ends of the race were seen often enough; on a slow machine that takes more. */
    for (int i = 0; i < MOST_ROUNDS && (good < ROUNDS || refused < ROUNDS); i++) {
        int err = read_it(name, &deciding, walk);
        good += err == 0;
        refused += err == ACP_ERR_STATE;
        leaked += err == 0 && !acp_str_is(text, "plain");
    }
    racer_stop(&r);
    assert_int_equal(leaked, 0);
    assert_true(good > 0 && refused > 0);
}

/* The same for writing; what was there may go, but nothing that is denied may change. */
static void attack_by_writing(const char *a, const char *b, const char *name, bool walk)
{
    struct racer r;
    racer_start(&r, a, b);
    unsigned long good = 0;
    for (int i = 0; i < MOST_ROUNDS && good < ROUNDS; i++)
        good += write_it(name, "plain", &deciding, walk) == 0;
    racer_stop(&r);
    assert_true(good > 0);
    assert_content(".env", "secret");
    assert_content("keys/.env", "secret");
    assert_content("keys/open", "secret");
}

static void a_swapped_link_does_not_get_past_a_rule(void **state)
{
    (void) state;
    for (int walk = 0; walk < 2; walk++)
        attack("open", "to-env", "open", walk);
    attack_by_writing("open", "to-env", "open", false);
}

static void a_swapped_folder_does_not_get_past_a_rule(void **state)
{
    (void) state;
    test_write("dir/open", "plain", 0644);
    for (int walk = 0; walk < 2; walk++)
        attack("dir", "to-keys", "dir/open", walk);
    for (int walk = 0; walk < 2; walk++)
        attack_by_writing("dir", "to-keys", "dir/open", walk);
}

/* Two links that change places: neither name is ever a file itself. */
static void swapped_links_do_not_get_past_a_rule(void **state)
{
    (void) state;
    assert_int_equal(symlink("open", test_path("to-open")), 0);
    for (int walk = 0; walk < 2; walk++)
        attack("to-open", "to-env", "to-open", walk);
    attack_by_writing("to-open", "to-env", "to-open", false);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(it_is_asked_about_the_real_path),
        CASE(a_root_behind_a_link_has_its_real_name),
        CASE(a_refusal_leaves_everything_as_it_was),
        CASE(what_is_no_file_inside_is_never_asked_about),
        CASE(an_editors_buffer_is_guarded_as_well),
        CASE(a_file_replaced_after_the_decision_is_not_read),
        CASE(a_link_put_there_after_the_decision_is_not_followed),
        CASE(a_write_stays_in_the_place_that_was_decided_on),
        CASE(a_swapped_link_does_not_get_past_a_rule),
        CASE(a_swapped_folder_does_not_get_past_a_rule),
        CASE(swapped_links_do_not_get_past_a_rule),
    };
    return cmocka_run_group_tests_name("files-guard", tests, NULL, NULL);
}
