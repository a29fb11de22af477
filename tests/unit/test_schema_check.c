/*
 * What is said of values that do not fit and of schemas that are none, and that neither can hang
 * us.  Which values fit which schemas is held against another validator in tests/conformance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "schema/schema.h"

static struct schema *compile(const char *json)
{
    struct schema *schema = NULL;
    struct acp_failure failure = {0};
    if (schema_compile(acp_raw_from(json), &schema, &failure))
        print_error("%s: %s: %s\n", json, failure.path, failure.message);
    assert_non_null(schema);
    return schema;
}

/* All reports, each on a line of its own. */
static void collect(struct acp_str path, struct acp_str message, void *user)
{
    struct acp_buf *out = user;
    assert_int_equal(acp_buf_printf(out, "%s%.*s: %.*s", out->len ? "\n" : "", (int) path.len,
                                    path.ptr, (int) message.len, message.ptr),
                     0);
}

static int check(const char *schema_text, struct acp_raw value, struct acp_buf *out)
{
    struct schema *schema = compile(schema_text);
    acp_buf_clear(out);
    int result = schema_check(schema, value, collect, out);
    int quiet = schema_check(schema, value, NULL, NULL);
    assert_int_equal(result > 0, quiet > 0);
    assert_int_equal(result < 0 ? result : 0, quiet < 0 ? quiet : 0);
    schema_free(schema);
    return result;
}

/* ---- What is said --------------------------------------------------------------------------- */

static void violations_report_the_path_and_the_expected_value(void **state)
{
    (void) state;
    static const struct {
        const char *schema;
        const char *value;
        const char *said;
    } rows[] = {
        {"{\"type\":\"object\"}", "{}", ""},
        {"{\"type\":\"string\"}", "5", ": expected a string, got a number"},
        {"{\"type\":[\"string\",\"null\"]}", "[]", ": expected null or a string, got an array"},
        {"{\"type\":\"integer\"}", "1.5", ": expected an integer, got 1.5"},
        {"false", "1", ": no value is allowed here; omit it"},
        {"{\"enum\":[\"a\",\"b\",3]}", "\"c\"", ": expected one of \"a\", \"b\", 3, got \"c\""},
        {"{\"enum\":[\"a\"]}", "{}", ": expected \"a\", got an object"},
        {"{\"const\":{\"a\":[1,null]}}", "true", ": expected {\"a\":[1,null]}, got true"},
        {"{\"minimum\":3}", "2", ": expected at least 3, got 2"},
        {"{\"exclusiveMaximum\":3}", "3.0", ": expected less than 3, got 3.0"},
        {"{\"multipleOf\":0.1}", "0.25", ": expected a multiple of 0.1, got 0.25"},
        {"{\"minLength\":2}", "\"x\"", ": expected at least 2 characters, got 1"},
        {"{\"maxLength\":1}", "\"xyz\"", ": expected at most 1 character, got 3"},
        {"{\"pattern\":\"^a\"}", "\"b\"",
         ": expected a string that matches the pattern \"^a\", got \"b\""},
        {"{\"minItems\":1}", "[]", ": expected at least 1 item, got 0"},
        {"{\"uniqueItems\":true}", "[1,2,1.0]",
         ": all items must differ, but items 0 and 2 are equal"},
        {"{\"contains\":{\"const\":1}}", "[2]",
         ": expected at least 1 item that matches `contains`, got 0"},
        {"{\"items\":{\"properties\":{\"price\":{\"type\":\"number\"}}}}", "[{},{\"price\":\"5\"}]",
         "/1/price: expected a number, got a string"},
        {"{\"properties\":{\"a/b\":{\"properties\":{\"~\":false}}}}", "{\"a/b\":{\"~\":1}}",
         "/a~1b/~0: no value is allowed here; omit it"},
        {"{\"required\":[\"a\",\"b\"]}", "{}",
         ": the property \"a\" is missing\n: the property \"b\" is missing"},
        {"{\"properties\":{\"a\":{},\"b\":{}},\"additionalProperties\":false}", "{\"c\":1}",
         ": the property \"c\" is not allowed; known are \"a\", \"b\""},
        {"{\"unevaluatedProperties\":false}", "{\"c\":1}", ": the property \"c\" is not allowed"},
        {"{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}",
         ": the property name \"ab\": expected at most 1 character, got 2"},
        {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
         ": the property \"b\" is missing; it is required beside \"a\""},
        {"{\"not\":{\"type\":\"null\"}}", "null", ": the value matches the schema in `not`"},
        {"{\"oneOf\":[{\"minimum\":1},true]}", "1",
         ": expected exactly one alternative of oneOf to match, but numbers 1 and 2 both do"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\"}]}", "1",
         ": expected a string or an object, got a number"},
        {"{\"if\":{\"const\":1},\"then\":{\"const\":2}}", "1", ": expected 2, got 1"},
    };
    struct acp_buf out;
    acp_buf_init(&out, 1 << 20);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int result = check(rows[i].schema, acp_raw_from(rows[i].value), &out);
        if (!acp_str_is(acp_buf_view(&out), rows[i].said))
            print_error("%s on %s:\n%.*s\n", rows[i].schema, rows[i].value, (int) out.len,
                        acp_buf_view(&out).ptr);
        assert_true(acp_str_is(acp_buf_view(&out), rows[i].said));
        assert_int_equal(result > 0, rows[i].said[0] != '\0');
    }
    acp_buf_finish(&out);
}

/* The alternative with the right tag is the one that is explained, though it lacks more. */
static void of_alternatives_the_nearest_is_explained(void **state)
{
    (void) state;
    static const char schema[] =
        "{\"oneOf\":["
        "{\"properties\":{\"kind\":{\"const\":\"circle\"}},\"required\":[\"kind\"]},"
        "{\"type\":\"string\"},"
        "{\"properties\":{\"kind\":{\"const\":\"box\"},\"w\":{\"type\":\"number\"},"
        "\"h\":{\"type\":\"number\"}},\"required\":[\"kind\",\"w\",\"h\"]}]}";
    struct acp_buf out;
    acp_buf_init(&out, 1 << 20);
    int result = check(schema, acp_raw_from("{\"kind\":\"box\",\"w\":\"5\"}"), &out);
    assert_int_equal(result, 3);
    assert_true(acp_str_is(
        acp_buf_view(&out),
        ": none of the 3 alternatives (oneOf) matches; the errors of the nearest, number 3, "
        "follow\n"
        ": the property \"h\" is missing\n"
        "/w: expected a number, got a string"));
    acp_buf_finish(&out);
}

static void there_is_a_most_of_reports(void **state)
{
    (void) state;
    struct acp_buf out;
    struct acp_buf value;
    acp_buf_init(&out, 1 << 20);
    acp_buf_init(&value, 1 << 20);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(acp_buf_printf(&value, i ? ",1" : "[1"), 0);
    assert_int_equal(acp_buf_printf(&value, "]"), 0);
    struct acp_raw json = {acp_buf_view(&value).ptr, value.len};
    int result = check("{\"items\":{\"type\":\"string\"}}", json, &out);
    assert_int_equal(result, SCHEMA_MAX_REPORTS);
    acp_buf_finish(&value);
    acp_buf_finish(&out);
}

/* Quoted values are cut between characters. */
static void long_values_are_cut(void **state)
{
    (void) state;
    char value[4000];
    struct acp_buf out;
    acp_buf_init(&out, 1 << 20);
    for (size_t shift = 0; shift < 4; shift++) {
        size_t n = 0;
        value[n++] = '"';
        for (size_t i = 0; i < shift; i++)
            value[n++] = 'x';
        for (size_t i = 0; i < 500; i++, n += 4)
            memcpy(value + n, "\xf0\x9f\x98\x80", 4);
        value[n++] = '"';
        assert_true(check("{\"const\":1}", acp_raw_n(value, n), &out) > 0);
        assert_true(out.len < 100);
        /* The path and the sentence are UTF-8, or no JSON could hold them. */
        struct acp_json_writer w;
        struct acp_buf json;
        acp_buf_init(&json, 1 << 20);
        acp_json_writer_init(&w, &json);
        acp_json_write_str(&w, acp_buf_view(&out));
        struct acp_str text = acp_buf_view(&json);
        for (size_t i = 0; i + 3 <= text.len; i++)
            assert_memory_not_equal(text.ptr + i, "\xef\xbf\xbd", 3);
        acp_buf_finish(&json);
    }
    acp_buf_finish(&out);
}

static void a_value_that_is_no_json_has_no_verdict(void **state)
{
    (void) state;
    struct acp_buf out;
    acp_buf_init(&out, 1000);
    assert_int_equal(check("true", acp_raw_from("{"), &out), ACP_ERR_SYNTAX);
    assert_int_equal(check("true", acp_raw_from(""), &out), ACP_ERR_SYNTAX);
    assert_int_equal(check("true", acp_raw_from("1 2"), &out), ACP_ERR_SYNTAX);
    assert_int_equal(check("true", acp_raw_from("\"\xff\""), &out), ACP_ERR_UTF8);
    assert_int_equal(out.len, 0);
    acp_buf_finish(&out);
}

/* ---- Schemas that are none ------------------------------------------------------------------ */

static void mistakes_in_a_schema_are_told_with_their_place(void **state)
{
    (void) state;
    static const struct {
        const char *json;
        int err;
        const char *path;
        const char *message;
    } rows[] = {
        {"{", ACP_ERR_SYNTAX, "", "not valid JSON"},
        {"{\"type\":\"text\"}", ACP_ERR_ARGUMENT, "/type",
         "there is no such type; types are null, boolean, integer, number, string, array and "
         "object"},
        {"{\"properties\":{\"a b\":{\"pattern\":\"\xc3\xa4(\"}}}", ACP_ERR_ARGUMENT,
         "/properties/a b/pattern",
         "the pattern at character 3: a group is not closed; write \\( for a parenthesis"},
        {"{\"items\":{\"$ref\":\"#/$defs/x\"}}", ACP_ERR_ARGUMENT, "/items/$ref",
         "there is nothing at #/$defs/x"},
        {"{\"$ref\":\"https://example.test/s\"}", ACP_ERR_ARGUMENT, "/$ref",
         "https://example.test/s is not part of this schema; references to others are not "
         "followed"},
        {"{\"multipleOf\":1234567890123456789}", ACP_ERR_ARGUMENT, "/multipleOf",
         "expected a number above 0 with at most 18 digits"},
        {"{\"allOf\":[{\"$ref\":\"#\"}]}", ACP_ERR_ARGUMENT, "",
         "the schema refers to itself for the same value, without an end"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct schema *schema = NULL;
        struct acp_failure failure = {0};
        assert_int_equal(schema_compile(acp_raw_from(rows[i].json), &schema, &failure),
                         rows[i].err);
        assert_int_equal(failure.err, rows[i].err);
        assert_null(schema);
        assert_string_equal(failure.path, rows[i].path);
        assert_string_equal(failure.message, rows[i].message);
        assert_int_equal(schema_compile(acp_raw_from(rows[i].json), &schema, NULL), rows[i].err);
    }
    schema_free(NULL);
}

/* ---- Hostile ones --------------------------------------------------------------------------- */

static double seconds_since(clock_t begin)
{
    return (double) (clock() - begin) / CLOCKS_PER_SEC;
}

static void repeat(struct acp_buf *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        assert_int_equal(acp_buf_append_str(out, acp_str_from(text)), 0);
}

/* Each definition applies the next one twice. */
static void schemas_that_multiply_come_to_an_end(void **state)
{
    (void) state;
    struct acp_buf schema;
    struct acp_buf out;
    acp_buf_init(&schema, 1 << 20);
    acp_buf_init(&out, 1 << 20);
    assert_int_equal(acp_buf_printf(&schema, "{\"$ref\":\"#/$defs/0\",\"$defs\":{"), 0);
    for (int i = 0; i < 60; i++)
        assert_int_equal(acp_buf_printf(&schema,
                                        "\"%d\":{\"allOf\":[{\"$ref\":\"#/$defs/%d\"},"
                                        "{\"$ref\":\"#/$defs/%d\"}]},",
                                        i, i + 1, i + 1),
                         0);
    assert_int_equal(acp_buf_printf(&schema, "\"60\":{}}}%c", '\0'), 0);
    clock_t begin = clock();
    assert_int_equal(check(acp_buf_view(&schema).ptr, acp_raw_from("1"), &out), ACP_ERR_LIMIT);
    assert_true(seconds_since(begin) < 20);
    acp_buf_finish(&schema);
    acp_buf_finish(&out);
}

/* 250 references at each of 100 levels would be too deep for the stack. */
static void depth_is_limited(void **state)
{
    (void) state;
    struct acp_buf schema;
    struct acp_buf value;
    struct acp_buf out;
    acp_buf_init(&schema, 1 << 20);
    acp_buf_init(&value, 1 << 20);
    acp_buf_init(&out, 1 << 20);
    assert_int_equal(acp_buf_printf(&schema, "{\"$ref\":\"#/$defs/0\",\"$defs\":{"), 0);
    for (int i = 0; i < 200; i++)
        assert_int_equal(acp_buf_printf(&schema, "\"%d\":{\"$ref\":\"#/$defs/%d\"},", i, i + 1), 0);
    assert_int_equal(
        acp_buf_printf(&schema, "\"200\":{\"items\":{\"$ref\":\"#/$defs/0\"}}}}%c", '\0'), 0);
    repeat(&value, "[", 100);
    repeat(&value, "]", 100);
    struct acp_raw json = {acp_buf_view(&value).ptr, value.len};
    assert_int_equal(check(acp_buf_view(&schema).ptr, json, &out), ACP_ERR_DEPTH);
    assert_int_equal(check(acp_buf_view(&schema).ptr, acp_raw_from("[[[]]]"), &out), 0);

    /* A longer chain is no schema at all. */
    acp_buf_clear(&schema);
    assert_int_equal(acp_buf_printf(&schema, "{\"$ref\":\"#/$defs/0\",\"$defs\":{"), 0);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(acp_buf_printf(&schema, "\"%d\":{\"$ref\":\"#/$defs/%d\"},", i, i + 1), 0);
    assert_int_equal(acp_buf_printf(&schema, "\"20000\":{}}}"), 0);
    struct schema *compiled = NULL;
    struct acp_failure failure = {0};
    assert_int_equal(
        schema_compile(acp_raw_n(acp_buf_view(&schema).ptr, schema.len), &compiled, &failure),
        ACP_ERR_ARGUMENT);
    assert_string_equal(failure.message, "more than 250 references in a row");
    acp_buf_finish(&schema);
    acp_buf_finish(&value);
    acp_buf_finish(&out);
}

/* A megabyte of items, each looked at by everything that there is. */
static void a_large_value_is_checked_fast(void **state)
{
    (void) state;
    static const char schema[] =
        "{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"object\","
        "\"required\":[\"id\",\"name\"],\"additionalProperties\":false,"
        "\"properties\":{\"id\":{\"type\":\"integer\",\"minimum\":0},"
        "\"name\":{\"type\":\"string\",\"pattern\":\"^[a-z]+-[0-9]{1,9}$\",\"maxLength\":20},"
        "\"kind\":{\"enum\":[\"a\",\"b\",\"c\"]},"
        "\"of\":{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"number\",\"multipleOf\":0.01}]}}}}";
    struct acp_buf value;
    struct acp_buf out;
    acp_buf_init(&value, 8 << 20);
    acp_buf_init(&out, 1 << 20);
    for (int i = 0; value.len < 1 << 20; i++)
        assert_int_equal(acp_buf_printf(&value,
                                        "%c{\"id\":%d,\"name\":\"item-%d\",\"kind\":\"%c\","
                                        "\"of\":%d.25}",
                                        i ? ',' : '[', i, i, 'a' + i % 3, i),
                         0);
    assert_int_equal(acp_buf_printf(&value, "]"), 0);
    struct acp_raw json = {acp_buf_view(&value).ptr, value.len};
    struct schema *compiled = compile(schema);
    clock_t begin = clock();
    assert_int_equal(schema_check(compiled, json, collect, &out), 0);
    print_message("1 MB in %.3f s\n", seconds_since(begin));
    assert_true(seconds_since(begin) < 5); /* also under a sanitizer; see the line above */
    schema_free(compiled);
    acp_buf_finish(&value);
    acp_buf_finish(&out);
}

/* Members and items in number: nothing is looked for one by one. */
static void many_members_take_no_longer(void **state)
{
    (void) state;
    struct acp_buf schema;
    struct acp_buf value;
    struct acp_buf out;
    acp_buf_init(&schema, 8 << 20);
    acp_buf_init(&value, 8 << 20);
    acp_buf_init(&out, 1 << 20);
    assert_int_equal(acp_buf_printf(&schema, "{\"additionalProperties\":{\"enum\":[0"), 0);
    for (int i = 1; i < 50000; i++)
        assert_int_equal(acp_buf_printf(&schema, ",%d", i), 0);
    assert_int_equal(acp_buf_printf(&schema, "]},\"required\":[\"0\"]}%c", '\0'), 0);
    for (int i = 0; i < 50000; i++)
        assert_int_equal(acp_buf_printf(&value, "%c\"%d\":%d", i ? ',' : '{', i, i), 0);
    assert_int_equal(acp_buf_printf(&value, "}"), 0);
    struct acp_raw json = {acp_buf_view(&value).ptr, value.len};
    clock_t begin = clock();
    assert_int_equal(check(acp_buf_view(&schema).ptr, json, &out), 0);
    assert_true(seconds_since(begin) < 5);
    acp_buf_finish(&schema);
    acp_buf_finish(&value);
    acp_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(violations_report_the_path_and_the_expected_value),
        cmocka_unit_test(of_alternatives_the_nearest_is_explained),
        cmocka_unit_test(there_is_a_most_of_reports),
        cmocka_unit_test(long_values_are_cut),
        cmocka_unit_test(a_value_that_is_no_json_has_no_verdict),
        cmocka_unit_test(mistakes_in_a_schema_are_told_with_their_place),
        cmocka_unit_test(schemas_that_multiply_come_to_an_end),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(a_large_value_is_checked_fast),
        cmocka_unit_test(many_members_take_no_longer),
    };
    return cmocka_run_group_tests_name("schema_check", tests, NULL, NULL);
}
