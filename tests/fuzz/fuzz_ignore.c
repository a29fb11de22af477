/*
 * Fuzzes the rules of .gitignore: the input is a path, a line end, and the file.  What is decided
 * must not depend on the folder that the rules stand in, a rule for everything at the end must
 * decide, and one that keeps everything too.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "text/ignore.h"

enum { MOST = 2000 };

static bool decide(const char *bytes, size_t n, const char *folder, const char *last,
                   struct acp_str path, bool is_directory)
{
    struct acp_arena arena;
    struct acp_buf text;
    const struct ignore *rules = NULL;
    acp_arena_init(&arena, 0);
    acp_buf_init(&text, (size_t) 2 * MOST);
    CHECK(acp_buf_append(&text, bytes, n) == 0 && acp_buf_printf(&text, "\n%s\n", last) == 0);
    CHECK(ignore_parse(acp_buf_view(&text), acp_str_from(folder), NULL, &arena, &rules) == 0);
    bool ignored = ignore_matches(rules, path, is_directory);
    acp_buf_finish(&text);
    acp_arena_finish(&arena);
    return ignored;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    char inner[MOST + 16];
    if (!end || size > MOST || end == data)
        return 0;
    size_t n = (size_t) (end - data);
    size_t m = size - n - 1;
    /* A copy of its own size, so that the sanitizer sees every read outside of it. */
    char *path_copy = malloc(n);
    CHECK(path_copy);
    memcpy(path_copy, data, n);
    struct acp_str path = acp_str_n(path_copy, n);
    const char *rules = (const char *) end + 1;
    memcpy(inner, "in/", 3);
    memcpy(inner + 3, path.ptr, n);
    for (int folder = 0; folder < 2; folder++) {
        bool here = decide(rules, m, "", "", path, folder);
        CHECK(decide(rules, m, "in", "", acp_str_n(inner, n + 3), folder) == here);
        CHECK(!decide(rules, m, "elsewhere", "", acp_str_n(inner, n + 3), folder));
        if (path.ptr[n - 1] != '/') {
            CHECK(decide(rules, m, "", "*", path, folder));
            CHECK(!decide(rules, m, "", "!*", path, folder));
        }
    }
    free(path_copy);
    return 0;
}
