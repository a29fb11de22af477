/* The words for bubblewrap. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "helpers.h"

#include "launch/sandbox.h"

/* A bwrap that only has to be there. */
static char folder[] = "/tmp/acp-test-XXXXXX";
static char program[64];

static int setup(void **state)
{
    (void) state;
    assert_non_null(mkdtemp(folder));
    (void) snprintf(program, sizeof(program), "%s/bwrap", folder);
    FILE *file = fopen(program, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(program, 0700), 0);
    return setenv("PATH", folder, 1);
}

static int teardown(void **state)
{
    (void) state;
    return unlink(program) || rmdir(folder);
}

static bool has(const struct sandbox_words *words, const char *a, const char *b, const char *c)
{
    for (size_t i = 0; i + 2 < words->count; i++)
        if (acp_str_is(words->args[i], a) && acp_str_is(words->args[i + 1], b) &&
            acp_str_is(words->args[i + 2], c))
            return true;
    return false;
}

static bool has_word(const struct sandbox_words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (acp_str_is(words->args[i], word))
            return true;
    return false;
}

static void the_words_shut_everything_else_out(void **state)
{
    struct acp_arena arena;
    struct sandbox_words words;
    struct acp_str roots[] = {ACP_STR("/srv/one"), ACP_STR("/srv/two")};
    struct sandbox_options options = {.roots = {roots, 2}, .cwd = acp_str("/srv/one")};
    (void) state;
    acp_arena_init(&arena, 0);
    assert_int_equal(setenv("ACP_TEST_KEY", "secret", 1), 0);
    assert_int_equal(sandbox_words(&options, 3, &arena, &words, NULL), 0);
    assert_text_equal(words.program, program);
    assert_true(has_word(&words, "--unshare-all"));
    assert_true(has_word(&words, "--die-with-parent"));
    assert_true(has_word(&words, "--clearenv"));
    assert_false(has_word(&words, "--share-net"));
    assert_true(has(&words, "--ro-bind-try", "/usr", "/usr"));
    assert_true(has(&words, "--bind", "/srv/one", "/srv/one"));
    assert_true(has(&words, "--bind", "/srv/two", "/srv/two"));
    assert_true(has(&words, "--setenv", "PATH", folder));
    assert_false(has_word(&words, "secret"));
    assert_true(acp_str_is(words.args[words.count - 1], "--"));
    /* The roots come after what would hide them. */
    size_t tmp = 0;
    size_t bind = 0;
    for (size_t i = 0; i < words.count; i++) {
        tmp = acp_str_is(words.args[i], "--tmpfs") ? i : tmp;
        bind = !bind && acp_str_is(words.args[i], "--bind") ? i : bind;
    }
    assert_true(tmp < bind);
    options.network = true;
    assert_int_equal(sandbox_words(&options, 0, &arena, &words, NULL), 0);
    assert_true(has_word(&words, "--share-net"));
    acp_arena_finish(&arena);
}

static void not_everything_can_be_a_root(void **state)
{
    static const char *const roots[] = {"/", "//", "/.", "/..", "", "relative"};
    (void) state;
    for (size_t i = 0; i < COUNT(roots); i++) {
        struct acp_arena arena;
        struct sandbox_words words;
        struct acp_failure failure = {0};
        struct acp_str root = acp_str(roots[i]);
        struct sandbox_options options = {.roots = {&root, 1}};
        acp_arena_init(&arena, 0);
        CHECK_ROW(sandbox_words(&options, 0, &arena, &words, &failure) == ACP_ERR_RANGE, i, "%s",
                  roots[i]);
        CHECK_ROW(failure.message[0], i, "%s", roots[i]);
        acp_arena_finish(&arena);
    }
}

static void a_program_that_does_nothing_is_no_sandbox(void **state)
{
    struct acp_failure failure = {0};
    (void) state;
    assert_false(sandbox_available(&failure)); /* an empty file cannot be executed */
    assert_non_null(strstr(failure.message, "cannot make a sandbox here"));
    assert_int_equal(setenv("PATH", "/nowhere:relative", 1), 0);
    assert_false(sandbox_available(&failure));
    assert_non_null(strstr(failure.message, "not installed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_words_shut_everything_else_out),
        cmocka_unit_test(not_everything_can_be_a_root),
        cmocka_unit_test(a_program_that_does_nothing_is_no_sandbox),
    };
    return cmocka_run_group_tests_name("sandbox", tests, setup, teardown);
}
