/*
 * Fuzzes regular expressions: the first line is a pattern, the rest a text.  A group around it, and
 * an alternative that is the same, change nothing; anchors only ever take matches away.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "schema/regex.h"

/* Enough for any text of the fuzzer, and not so much that a run takes seconds. */
static const uint64_t WORK = 20 * 1000000;

static int search(struct acp_str pattern, struct acp_str text)
{
    struct acp_arena arena;
    struct schema_regex *regex = NULL;
    struct schema_regex_scratch scratch;
    struct acp_failure failure = {0};
    uint64_t left = WORK;
    acp_arena_init(&arena, 0);
    schema_regex_scratch_init(&scratch);
    int result = schema_regex_compile(pattern, &arena, &regex, &failure);
    if (result) {
        CHECK(failure.err == result && *failure.message && failure.offset <= pattern.len);
    } else {
        result = schema_regex_search(regex, text, &scratch, &left);
        /* What a search leaves behind must not show in the next one. */
        left = WORK;
        CHECK(schema_regex_search(regex, text, &scratch, &left) == result);
    }
    schema_regex_scratch_finish(&scratch);
    acp_arena_finish(&arena);
    return result;
}

/* The search with the pattern between other words. */
static int search_within(const char *before, struct acp_str pattern, const char *behind,
                         struct acp_str text)
{
    struct acp_buf out;
    acp_buf_init(&out, SIZE_MAX / 2);
    CHECK(acp_buf_append_str(&out, acp_str_from(before)) == 0);
    CHECK(acp_buf_append_str(&out, pattern) == 0);
    CHECK(acp_buf_append_str(&out, acp_str_from(behind)) == 0);
    int result = search(acp_buf_view(&out), text);
    acp_buf_finish(&out);
    return result;
}

static char *copy_of(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    CHECK(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    size_t n = line ? (size_t) (line - data) : size;
    size_t m = line ? size - n - 1 : 0;
    char *pattern_copy = copy_of(data, n);
    char *text_copy = copy_of(line ? line + 1 : data, m);
    struct acp_str pattern = acp_str_n(pattern_copy, n);
    struct acp_str text = acp_str_n(text_copy, m);
    int result = search(pattern, text);
    if (result >= 0) {
        /* A group more, or some steps, may be too much; else nothing changes. */
        int grouped = search_within("(?:", pattern, ")", text);
        int doubled = search_within("(?:", pattern, ")|[]", text);
        int anchored = search_within("^(?:", pattern, ")$", text);
        int optional = search_within("(?:", pattern, ")?", text);
        CHECK(grouped < 0 || grouped == result);
        CHECK(doubled < 0 || doubled == result);
        CHECK(anchored < 0 || anchored <= result);
        CHECK(optional < 0 || optional == 1);
    }
    free(pattern_copy);
    free(text_copy);
    return 0;
}
