/* test_home.h - a home directory of its own for each test, with the files that it writes. */
#ifndef TESTS_UNIT_TEST_HOME_H
#define TESTS_UNIT_TEST_HOME_H

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helpers.h"

static char test_home[64];
static char test_home_variable[80];
static const char *test_environment[16];

/* Adds "NAME=value" to the environment of the test. */
static inline void test_add_variable(const char *variable)
{
    size_t n = 0;
    while (test_environment[n])
        n++;
    assert_true(n + 1 < COUNT(test_environment));
    test_environment[n] = variable;
    test_environment[n + 1] = NULL;
}

static inline int test_make_home(void **state)
{
    (void) state;
    (void) snprintf(test_home, sizeof(test_home), "/tmp/acp-test-XXXXXX");
    assert_non_null(mkdtemp(test_home));
    (void) snprintf(test_home_variable, sizeof(test_home_variable), "HOME=%s", test_home);
    test_environment[0] = NULL;
    test_add_variable(test_home_variable);
    return 0;
}

static inline int test_remove_entry(const char *path, const struct stat *st, int type,
                                    struct FTW *at)
{
    (void) st;
    (void) type;
    (void) at;
    return remove(path);
}

static inline int test_remove_home(void **state)
{
    (void) state;
    return nftw(test_home, test_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path below the home; four of them are valid at a time. */
static inline const char *test_path(const char *name)
{
    static char paths[4][400];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void) snprintf(path, sizeof(paths[0]), "%s/%s", test_home, name);
    return path;
}

/* Writes a file below the home, with the folders above it. */
static inline void test_write(const char *name, const char *text, unsigned mode)
{
    char path[400];
    (void) snprintf(path, sizeof(path), "%s", test_path(name));
    for (char *slash = path + strlen(test_home) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void) mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static inline void test_make_folder(const char *name)
{
    char inside[200];
    (void) snprintf(inside, sizeof(inside), "%s/x", name);
    test_write(inside, "", 0600);
    assert_int_equal(unlink(test_path(inside)), 0);
}

#endif
