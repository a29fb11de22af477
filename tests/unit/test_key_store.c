/* Stored keys: who may read them, and what is refused. */
#define _XOPEN_SOURCE 700
#include "config/key_store.h"
#include "test_home.h"

#include <errno.h>

#define FOLDER ".local/share/acp/keys"
#define KEY "sk-0123456789"

static struct config *config;
static struct acp_arena arena;
static struct acp_buf why;
static const char *folder;

static int setup(void **state)
{
    (void) test_make_home(state);
    test_write(".config/acp/config.json",
               "{\"providers\": {\"work\": {\"base_url\": \"https://w/v1\"}}}", 0600);
    acp_arena_init(&arena, 0);
    acp_buf_init(&why, 10000);
    struct config_options options = {
        .cwd = test_home, .environment = test_environment, .no_project = true};
    assert_int_equal(config_load(&options, &config, &why), 0);
    folder = key_store_folder(config, &arena);
    return 0;
}

static int teardown(void **state)
{
    config_free(config);
    acp_arena_finish(&arena);
    acp_buf_finish(&why);
    return test_remove_home(state);
}

static int write_key(const char *provider, const char *key)
{
    acp_buf_clear(&why);
    return key_store_write(config, folder, provider, acp_str_from(key), KEY_IN_FILE, &why);
}

static int read_key(const char *provider, const char **ret)
{
    enum key_place place = KEY_IN_KEYRING;
    acp_buf_clear(&why);
    int err = key_store_read(config, folder, provider, &arena, ret, &place, &why);
    if (!err)
        assert_int_equal(place, KEY_IN_FILE);
    return err;
}

static unsigned mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(lstat(test_path(name), &st), 0);
    return st.st_mode & 0777;
}

static void a_key_comes_back_and_goes(void **state)
{
    const char *key = NULL;
    (void) state;
    assert_string_equal(folder, test_path(FOLDER));
    assert_int_equal(read_key("anthropic", &key), -ENOENT);
    mode_t old = umask(0); /* whatever the user has */
    assert_int_equal(write_key("anthropic", KEY), 0);
    (void) umask(old);
    assert_int_equal(mode_of(FOLDER), 0700);
    assert_int_equal(mode_of(FOLDER "/anthropic"), 0600);
    assert_int_equal(read_key("anthropic", &key), 0);
    assert_string_equal(key, KEY);
    assert_int_equal(write_key("anthropic", "another"), 0);
    assert_int_equal(read_key("anthropic", &key), 0);
    assert_string_equal(key, "another");
    assert_int_equal(key_store_remove(config, folder, "anthropic", &why), 0);
    assert_int_equal(key_store_remove(config, folder, "anthropic", &why), -ENOENT);
    assert_int_equal(read_key("anthropic", &key), -ENOENT);
}

static void what_others_can_read_or_change_is_not_used(void **state)
{
    static const struct {
        unsigned file;
        unsigned folder;
        const char *sentence;
    } rows[] = {
        {0640, 0700, "is readable by others"},
        {0604, 0700, "is readable by others"},
        {0620, 0700, "by others"},
        {0602, 0700, "is writable by everyone"},
        {0600, 0777, "is writable by everyone"},
    };
    const char *key = NULL;
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        test_write(FOLDER "/openai", KEY "\n", rows[i].file);
        assert_int_equal(chmod(test_path(FOLDER), rows[i].folder), 0);
        CHECK_ROW(read_key("openai", &key) == -EPERM, i, "%o", rows[i].file);
        CHECK_ROW(strstr(test_cstr(&why), rows[i].sentence), i, "%s", test_cstr(&why));
        /* Nothing is put there either. */
        CHECK_ROW(write_key("openai", "new") == -EPERM, i, "%s", test_cstr(&why));
        assert_int_equal(chmod(test_path(FOLDER), 0700), 0);
        assert_int_equal(remove(test_path(FOLDER "/openai")), 0);
    }
    /* Others may look into the folder, but not read: still no place for secrets. */
    assert_int_equal(chmod(test_path(FOLDER), 0755), 0);
    assert_int_equal(write_key("openai", KEY), -EPERM);
    assert_non_null(strstr(test_cstr(&why), "chmod 700"));
    assert_int_equal(access(test_path(FOLDER "/openai"), F_OK), -1);
}

static void a_folder_that_is_a_link_is_refused(void **state)
{
    (void) state;
    test_make_folder("elsewhere");
    test_make_folder(".local");
    test_make_folder(".local/share");
    test_make_folder(".local/share/acp");
    assert_int_equal(symlink(test_path("elsewhere"), test_path(FOLDER)), 0);
    assert_true(write_key("openai", KEY) < 0);
    assert_int_equal(access(test_path("elsewhere/openai"), F_OK), -1);
}

static void what_is_no_key_is_refused(void **state)
{
    static const char *const texts[] = {"",         "\n",   "two words",         "line\nline",
                                        "tab\tbed", "\x01", "gr\xc3\xbc\xc3\x9f"};
    const char *key = NULL;
    (void) state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        CHECK_ROW(!key_is_valid(acp_str_from(texts[i])), i, "%s", texts[i]);
        test_write(FOLDER "/openai", texts[i], 0600);
        CHECK_ROW(read_key("openai", &key) == -EINVAL, i, "%s", texts[i]);
        CHECK_ROW(strstr(test_cstr(&why), "does not contain a key"), i, "%s", test_cstr(&why));
    }
    char longest[5000];
    memset(longest, 'k', sizeof(longest));
    assert_true(key_is_valid(acp_str_n(longest, 4096)));
    assert_false(key_is_valid(acp_str_n(longest, 4097)));
    assert_int_equal(mkfifo(test_path(FOLDER "/gemini"), 0600), 0);
    assert_true(read_key("gemini", &key) < 0); /* at once */
}

static void all_of_them_are_read_and_removed(void **state)
{
    struct model_key *keys = NULL;
    size_t count = 9;
    (void) state;
    acp_buf_clear(&why);
    assert_int_equal(key_store_read_all(config, folder, &arena, &keys, &count, &why), 0);
    assert_int_equal(count, 0);
    assert_int_equal(why.len, 0);
    assert_int_equal(write_key("work", "w"), 0);
    assert_int_equal(write_key("gemini", "g"), 0);
    test_write(FOLDER "/openai", KEY, 0644);
    test_write(FOLDER "/stranger", KEY, 0600); /* of nobody that is known */
    assert_int_equal(key_store_read_all(config, folder, &arena, &keys, &count, &why), 0);
    assert_int_equal(count, 2);
    assert_string_equal(keys[0].provider, "gemini");
    assert_string_equal(keys[0].key, "g");
    assert_string_equal(keys[1].provider, "work");
    assert_non_null(strstr(test_cstr(&why), "openai is readable by others"));
    assert_null(strstr(test_cstr(&why), KEY));
    assert_int_equal(key_store_remove_all(config, folder, &why), 0);
    assert_int_equal(access(test_path(FOLDER "/openai"), F_OK), -1);
    assert_int_equal(access(test_path(FOLDER "/work"), F_OK), -1);
    assert_int_equal(access(test_path(FOLDER "/stranger"), F_OK), 0);
}

/* A program in the place of secret-tool that keeps what it is given in a file. */
static void the_keyring_is_asked_by_its_program(void **state)
{
    enum key_place place = KEY_IN_FILE;
    const char *key = NULL;
    static char path[100];
    (void) state;
    acp_buf_clear(&why);
    (void) snprintf(path, sizeof(path), "PATH=%s/bin", test_home);
    test_add_variable(path);
    assert_int_equal(
        key_store_write(config, folder, "xai", acp_str_from(KEY), KEY_IN_KEYRING, &why), -ENOENT);
    assert_non_null(strstr(test_cstr(&why), "secret-tool is not installed"));
    char script[400];
    (void) snprintf(script, sizeof(script),
                    "#!/bin/sh\necho \"$@\" >> %s/calls\ncase $1 in store) cat > %s/ring;; lookup) "
                    "cat %s/ring;; clear) rm %s/ring;; esac\n",
                    test_home, test_home, test_home, test_home);
    test_write("bin/secret-tool", script, 0700);
    assert_int_equal(setenv("PATH", "/usr/bin:/bin", 1), 0);
    assert_int_equal(
        key_store_write(config, folder, "xai", acp_str_from(KEY), KEY_IN_KEYRING, &why), 0);
    char text[200] = "";
    FILE *file = fopen(test_path(FOLDER "/xai"), "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    (void) fclose(file);
    assert_null(strstr(text, KEY));
    assert_int_equal(key_store_read(config, folder, "xai", &arena, &key, &place, &why), 0);
    assert_int_equal(place, KEY_IN_KEYRING);
    assert_string_equal(key, KEY);
    file = fopen(test_path("calls"), "rb");
    assert_non_null(file);
    memset(text, 0, sizeof(text));
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    (void) fclose(file);
    assert_null(strstr(text, KEY)); /* it is on no command line */
    assert_non_null(strstr(text, "lookup service acp provider xai"));
    assert_int_equal(key_store_remove(config, folder, "xai", &why), 0);
    assert_int_equal(access(test_path("ring"), F_OK), -1);
}

#define KEY_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        KEY_TEST(a_key_comes_back_and_goes),
        KEY_TEST(what_others_can_read_or_change_is_not_used),
        KEY_TEST(a_folder_that_is_a_link_is_refused),
        KEY_TEST(what_is_no_key_is_refused),
        KEY_TEST(all_of_them_are_read_and_removed),
        KEY_TEST(the_keyring_is_asked_by_its_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
