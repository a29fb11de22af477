/* Where the JSON is in what an agent answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "schema/schema.h"

static void json_is_found_among_words(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        const char *json; /* NULL: none */
    } rows[] = {
        /* the whole */
        {"{\"a\":1}", "{\"a\":1}"},
        {" \n[1, 2]\n", "[1, 2]"},
        {"\"a text with ```json\"", "\"a text with ```json\""},
        {"42", "42"},
        {"null\n", "null"},
        /* a fenced block */
        {"```json\n{\"a\":1}\n```", "{\"a\":1}"},
        {"Here you are:\n\n```json\n{\n  \"a\": [1]\n}\n```\nThat is {all}.", "{\n  \"a\": [1]\n}"},
        {"```JSON\r\n[1]\r\n```\r\n", "[1]"},
        {"```\n5\n```", "5"},
        {"  1. so:\n     ````json\n     [1]\n     ````", "[1]"},
        {"````\n```json\n[1]\n```\n````", "[1]"}, /* by its brackets */
        {"```json\n[1]", "[1]"},
        {"First I ran\n```sh\nls [x]\n```\nand so\n```json\n{}\n```", "{}"},
        {"Not [1] but\n```json\n[2]\n```", "[2]"},
        {"```\n{\"like\":\"this\"}\n```\n```json\n[2]\n```", "[2]"},
        {"```json\nnot yet\n```\n```json\n[2]\n```", "[2]"},
        /* among words */
        {"The answer is {\"a\":{\"b\":[]}} as you wished.", "{\"a\":{\"b\":[]}}"},
        {"In the set {x} it is [1,2].", "[1,2]"},
        {"Use {{\"a\":1}}.", "{\"a\":1}"},
        {"```js\nconst a = {\"b\": 1};\n```", "{\"b\": 1}"},
        {"{\"a\":\"} [1]\"} done", "{\"a\":\"} [1]\"}"},
        {"{\"a\":\"\\u0041\\n\"}!", "{\"a\":\"\\u0041\\n\"}"},
        /* nothing */
        {"", NULL},
        {"I cannot do that.", NULL},
        {"{\"a\":1", NULL},
        {"{'a':1}", NULL},
        {"The answer is 42.", NULL},
        /* too much */
        {"{\"a\":1} {\"a\":2}", NULL},
        {"see [1]: {\"a\":2}", NULL},
        {"```json\n1\n```\n```json\n2\n```", NULL},
        {"```\n1\n```\n```\n2\n```", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct acp_raw json = {0};
        struct acp_failure failure = {0};
        int err = schema_answer(acp_str_from(rows[i].text), &json, &failure);
        struct acp_str found = {json.ptr, json.len};
        bool same = err ? !rows[i].json : rows[i].json && acp_str_is(found, rows[i].json);
        if (!same)
            print_error("%s\ngave %.*s\n", rows[i].text, (int) json.len, json.ptr ? json.ptr : "");
        assert_true(same);
        assert_int_equal(failure.err, err);
    }
}

static void failures_tell_an_agent_what_to_do(void **state)
{
    (void) state;
    struct acp_raw json;
    struct acp_failure failure = {0};
    assert_int_equal(schema_answer(acp_str_from("No."), &json, &failure), ACP_ERR_MISSING);
    assert_string_equal(failure.message, "there is no valid JSON in the answer");
    assert_int_equal(schema_answer(acp_str_from("[] []"), &json, &failure), ACP_ERR_VARIANT);
    assert_string_equal(failure.message,
                        "expected exactly one JSON value in the answer, got several");
    assert_int_equal(schema_answer(acp_str_from("No."), &json, NULL), ACP_ERR_MISSING);
}

/* Brackets that never close, in number. */
static void no_answer_takes_forever(void **state)
{
    (void) state;
    static const char *const parts[] = {"[", "{", "[1,", "{\"a\":", "[\"", "```\n", "[{\"\":["};
    const size_t N = 1 << 20;
    char *text = malloc(N);
    assert_non_null(text);
    clock_t begin = clock();
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        size_t len = strlen(parts[i]);
        for (size_t k = 0; k < N; k++)
            text[k] = parts[i][k % len];
        struct acp_raw json;
        assert_int_equal(schema_answer(acp_str_n(text, N), &json, NULL), ACP_ERR_MISSING);
    }
    assert_true((double) (clock() - begin) / CLOCKS_PER_SEC < 30);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_found_among_words),
        cmocka_unit_test(failures_tell_an_agent_what_to_do),
        cmocka_unit_test(no_answer_takes_forever),
    };
    return cmocka_run_group_tests_name("schema_answer", tests, NULL, NULL);
}
