/* Keys leave the environment, in every sense of the word, and only those that are asked for come
 * back. */
#include "registry/environment_keys.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "helpers.h"
#include "registry/agents.h"

extern char **environ;

/* As the kernel gives it: entries one behind the other, which /proc/PID/environ shows. */
static char block[] = "HOME=/home/me\0"
                      "ANTHROPIC_API_KEY=marker-anthropic\0"
                      "GITHUB_TOKEN=marker-github\0"
                      "OPENAI_API_KEY=marker-openai\0"
                      "OPENAI_API_KEY_FILE=/etc/key\0"
                      "CURSOR_API_KEY=\0"
                      "GEMINI_API_KEY\0"
                      "LAST=one";

static bool block_has(const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i + n <= sizeof(block); i++)
        if (memcmp(block + i, text, n) == 0)
            return true;
    return false;
}

static const char *find(const char *const *list, const char *entry)
{
    for (; *list; list++)
        if (strcmp(*list, entry) == 0)
            return *list;
    return NULL;
}

static void test_names(void **state)
{
    (void) state;
    static const char *const keys[] = {
        "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY",
        "GOOGLE_API_KEY",    "OPENROUTER_API_KEY",   "CURSOR_API_KEY", "COPILOT_GITHUB_TOKEN",
        "VLLM_API_KEY",      "VERTEX_ACCESS_TOKEN"};
    static const char *const others[] = {"",
                                         "ANTHROPIC",
                                         "ANTHROPIC_API_KEY_",
                                         "anthropic_api_key",
                                         "ANTHROPIC_BASE_URL",
                                         "GITHUB_TOKEN",
                                         "PATH"};
    for (size_t i = 0; i < COUNT(keys); i++)
        CHECK_ROW(keys_is_key(acp_str_from(keys[i])), i, "%s", keys[i]);
    for (size_t i = 0; i < COUNT(others); i++)
        CHECK_ROW(!keys_is_key(acp_str_from(others[i])), i, "%s", others[i]);
    /* The first is the built-in agent, which gets all keys. */
    const struct agent_known *known = agents_known_at(0);
    assert_true(strcmp(known->name, AGENTS_OWN_NAME) == 0 && !known->keys);
    for (size_t i = 1; (known = agents_known_at(i)); i++)
        CHECK_ROW(known->keys && *known->keys, i, "%s", known->name);
}

/* All in one: it can be done once in a process. */
static void test_taking(void **state)
{
    (void) state;
    char *entries[16];
    size_t count = 0;
    for (char *at = block; at < block + sizeof(block); at += strlen(at) + 1)
        entries[count++] = at;
    entries[count] = NULL;
    char **before = environ;
    environ = entries;
    keys_take();
    char **left = environ;
    environ = before;
    const char *const *now = (const char *const *) left;
    assert_non_null(find(now, "HOME=/home/me"));
    assert_non_null(find(now, "GITHUB_TOKEN=marker-github"));
    assert_non_null(find(now, "OPENAI_API_KEY_FILE=/etc/key"));
    assert_non_null(find(now, "LAST=one"));
    size_t n = 0;
    while (now[n])
        n++;
    assert_int_equal(n, 4);
    assert_false(block_has("marker-anthropic"));
    assert_false(block_has("marker-openai"));
    assert_true(block_has("marker-github"));

    const char *const *all = keys_environment();
    assert_non_null(find(all, "HOME=/home/me"));
    assert_non_null(find(all, "ANTHROPIC_API_KEY=marker-anthropic"));
    assert_non_null(find(all, "OPENAI_API_KEY=marker-openai"));

    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    const char *const *some = keys_select(&arena, "GEMINI_API_KEY OPENAI_API_KEY");
    assert_non_null(find(some, "OPENAI_API_KEY=marker-openai"));
    assert_null(find(some, "ANTHROPIC_API_KEY=marker-anthropic"));
    assert_null(keys_select(&arena, "")[0]);
    some = keys_select(&arena, NULL);
    assert_non_null(find(some, "OPENAI_API_KEY=marker-openai"));
    assert_non_null(find(some, "ANTHROPIC_API_KEY=marker-anthropic"));
    assert_non_null(find(some, "CURSOR_API_KEY="));
    acp_arena_finish(&arena);
    assert_int_equal(prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL), 0);

    /* One that the configuration names. */
    environ = left;
    keys_hide("OWN_KEY");
    keys_hide("GITHUB_TOKEN");
    environ = before;
    assert_null(find(now, "GITHUB_TOKEN=marker-github"));
    assert_non_null(find(now, "HOME=/home/me"));
    assert_non_null(find(now, "LAST=one"));
    assert_false(block_has("marker-github"));
    assert_non_null(find(keys_environment(), "GITHUB_TOKEN=marker-github"));
    (void) prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL); /* for what looks for leaks */
    free(left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_taking)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
