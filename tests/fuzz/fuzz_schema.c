/*
 * Fuzzes JSON Schema: the first line is a schema, the rest a value, and an answer to find one in.
 * Whatever they are, a check ends, the verdict is the same with and without reports, and what is
 * reported can be read.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "schema/schema.h"

static void check_utf8(struct acp_str text)
{
    const char *end = text.ptr + text.len;
    for (const char *p = text.ptr; p < end;) {
        size_t n = acp_utf8_length(p, end);
        CHECK(n > 0);
        p += n;
    }
}

static void count_report(struct acp_str path, struct acp_str message, void *user)
{
    ++*(int *) user;
    CHECK(path.len == 0 || path.ptr[0] == '/');
    CHECK(message.len > 0);
    check_utf8(path);
    check_utf8(message);
}

static void check_value(const struct schema *schema, struct acp_raw value)
{
    int reports = 0;
    int told = schema_check(schema, value, count_report, &reports);
    int quiet = schema_check(schema, value, NULL, NULL);
    CHECK(told < 0 || told == reports);
    CHECK(reports <= SCHEMA_MAX_REPORTS);
    /* Looking for all violations takes more than looking for one. */
    if (told == ACP_ERR_LIMIT || told == ACP_ERR_DEPTH)
        return;
    CHECK(told < 0 ? quiet == told : (told > 0) == (quiet > 0));
}

static void check_answer(struct acp_str text)
{
    struct acp_raw json;
    struct acp_failure failure = {0};
    if (schema_answer(text, &json, &failure) == 0) {
        CHECK(json.ptr >= text.ptr && json.ptr + json.len <= text.ptr + text.len);
        CHECK(acp_json_validate(json, 0, NULL) == 0);
    } else {
        CHECK(failure.err < 0 && *failure.message);
    }
}

/* A copy of its own size, so that the sanitizer sees every read outside of it. */
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
    char *schema_text = copy_of(data, n);
    char *value = copy_of(line ? line + 1 : data, m);
    struct schema *schema = NULL;
    struct acp_failure failure = {0};
    int err = schema_compile(acp_raw_n(schema_text, n), &schema, &failure);
    free(schema_text); /* it was copied */
    CHECK((err == 0) == (failure.err == 0) && (err == 0) == (schema != NULL));
    if (schema)
        check_value(schema, acp_raw_n(value, m));
    else
        CHECK(*failure.message);
    check_answer(acp_str_n(value, m));
    schema_free(schema);
    free(value);
    return 0;
}
