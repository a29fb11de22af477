/*
 * JSON with comments: what is blanked and what is not, places as people count them, and edits that
 * leave everything else as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "acp/json.h"
#include "config/jsonc.h"
#include "helpers.h"

/* ---- Blanking ------------------------------------------------------------------------------- */

static void comments_and_last_commas_become_spaces(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        const char *blanked;
    } rows[] = {
        {"{}", "{}"},
        {"", ""},
        {"{ // a\n}", "{     \n}"},
        {"{ // a\r\n}", "{     \r\n}"},
        {"{ /* a\nb */ }", "{     \n     }"},
        {"[1,]", "[1 ]"},
        {"[1, /* x */ ]", "[1          ]"},
        {"[1, // x\n]", "[1      \n]"},
        {"{\"a\":[],}", "{\"a\":[] }"},
        {"{\"a\":\"x\",}", "{\"a\":\"x\" }"},
        {"[1,,]", "[1,,]"},
        {"[,]", "[,]"},
        {"{,}", "{,}"},
        {"{\"a\":,}", "{\"a\":,}"},
        {"[1,],", "[1 ],"},
        {"\"// no\"", "\"// no\""},
        {"\"\\\"// no\"", "\"\\\"// no\""},
        {"\"a\\\\\"// b", "\"a\\\\\"    "},
        {"[\",]\"]", "[\",]\"]"},
        {"\xef\xbb\xbf{}", "   {}"},
        {"1 / 2", "1 / 2"},
        {"/", "/"},
        {"\"open", "\"open"},
        {"\"open\\", "\"open\\"},
        {"/**/1/***/", "    1     "},
        {"// only", "       "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char out[64];
        struct acp_str text = acp_str_from(rows[i].text);
        assert_int_equal(jsonc_blank(text, out, NULL), 0);
        if (memcmp(out, rows[i].blanked, text.len) != 0)
            print_error("row %zu: %.*s\n", i, (int) text.len, out);
        assert_int_equal(strlen(rows[i].blanked), text.len);
        assert_memory_equal(out, rows[i].blanked, text.len);
    }
}

static void a_comment_that_does_not_end_is_told_with_its_beginning(void **state)
{
    (void) state;
    char out[64];
    struct acp_failure failure = {0};
    assert_int_equal(jsonc_blank(acp_str_from("{ /* x }"), out, &failure), ACP_ERR_SYNTAX);
    assert_int_equal(failure.offset, 2);
    assert_true(*failure.message);
    assert_int_equal(jsonc_blank(acp_str_from("{} /*/"), out, NULL), ACP_ERR_SYNTAX);
    /* The same, and what the JSON reader finds, when a text is checked as a whole. */
    assert_int_equal(jsonc_check(acp_str_from("{ /* x }"), &failure), ACP_ERR_SYNTAX);
    assert_int_equal(failure.offset, 2);
    assert_int_equal(jsonc_check(acp_str_from("// c\n{\"a\": 1,}"), &failure), 0);
    assert_int_equal(jsonc_check(acp_str_from(" // c\n"), &failure), 0);
    assert_int_equal(jsonc_check(acp_str_from("{\"a\": }"), &failure), ACP_ERR_SYNTAX);
    assert_int_equal(failure.offset, 6);
    assert_string_equal(failure.message, "not valid JSON");
}

static void paths_count_lines_and_characters_from_one(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        size_t offset;
        size_t line;
        size_t column;
    } rows[] = {
        {"", 0, 1, 1},     {"abc", 2, 1, 3},   {"a\nb", 2, 2, 1},      {"a\r\nb", 3, 2, 1},
        {"a\rb", 2, 2, 1}, {"a\n\n", 3, 3, 1}, {"\xc3\xa4x", 2, 1, 2}, {"ab", 99, 1, 3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct jsonc_position place = jsonc_position(acp_str_from(rows[i].text), rows[i].offset);
        assert_int_equal(place.line, rows[i].line);
        assert_int_equal(place.column, rows[i].column);
    }
}

/* ---- Editing -------------------------------------------------------------------------------- */

/* Up to three names with slashes between. */
static size_t split_path(const char *path, struct acp_str *names)
{
    size_t n = 0;
    while (n < 3) {
        const char *slash = strchr(path, '/');
        names[n++] = acp_str_n(path, slash ? (size_t) (slash - path) : strlen(path));
        if (!slash)
            break;
        path = slash + 1;
    }
    return n;
}

/* value NULL removes.  Checks that the result is JSON with comments. */
static int edit(const char *text, const char *path, const char *value, struct acp_buf *out)
{
    struct acp_str names[3];
    size_t depth = split_path(path, names);
    struct acp_failure failure;
    acp_buf_init(out, 100000);
    int err = value
                  ? jsonc_set(acp_str_from(text), names, depth, acp_raw_from(value), out, &failure)
                  : jsonc_remove(acp_str_from(text), names, depth, out, &failure);
    if (err) {
        assert_int_equal(failure.err, err);
        assert_int_equal(out->len, 0);
        return err;
    }
    char blanked[1000];
    assert_true(out->len < sizeof(blanked));
    assert_int_equal(jsonc_blank(acp_buf_view(out), blanked, NULL), 0);
    assert_int_equal(acp_json_validate(acp_raw_n(blanked, out->len), 0, NULL), 0);
    return 0;
}

static void check_edit(const char *text, const char *path, const char *value, const char *wanted)
{
    struct acp_buf out;
    assert_int_equal(edit(text, path, value, &out), 0);
    assert_string_equal(test_cstr(&out), wanted);
    acp_buf_finish(&out);
}

static void members_are_added_behind_the_others(void **state)
{
    (void) state;
    check_edit("", "a", "1", "{\n  \"a\": 1\n}\n");
    check_edit("// mine", "a", "1", "// mine\n{\n  \"a\": 1\n}\n");
    check_edit("{}", "a", "1", "{\n  \"a\": 1\n}");
    check_edit("{}\n", "a/b/c", "1",
               "{\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  }\n}\n");
    check_edit("{\n}\n", "a", "1", "{\n  \"a\": 1\n}\n");
    check_edit("{ // all\n}\n", "a", "1", "{ // all\n  \"a\": 1\n}\n");
    check_edit("{ /* all */ }", "a", "1", "{ /* all */\n  \"a\": 1\n}");
    check_edit("{\"a\": 1}", "b", "2", "{\"a\": 1, \"b\": 2}");
    check_edit("{\"a\": 1,}", "b", "2", "{\"a\": 1, \"b\": 2,}");
    check_edit("{\"a\": 1 /* one */}", "b", "2", "{\"a\": 1, \"b\": 2 /* one */}");
    check_edit("{\"a\": 1 // one\n}", "b", "2", "{\"a\": 1, // one\n\"b\": 2\n}");
    check_edit("{\n\t\"a\": 1 // one\n\t// end\n}", "b", "{\n  \"x\": 1\n}",
               "{\n\t\"a\": 1, // one\n\t\"b\": {\n\t\t\"x\": 1\n\t}\n\t// end\n}");
    check_edit("{\n    \"a\": 1, /* one\n */\n}", "b", "2",
               "{\n    \"a\": 1, /* one\n */\n    \"b\": 2,\n}");
    check_edit("{\r\n  \"a\": {\r\n  }\r\n}\r\n", "a/b", "[\n  1\n]",
               "{\r\n  \"a\": {\r\n    \"b\": [\r\n      1\r\n    ]\r\n  }\r\n}\r\n");
    check_edit(
        "{\n  \"s\": {\n    \"x\": {\"y\": 1}\n  }\n}\n", "s/z", "{\n  \"y\": 2\n}",
        "{\n  \"s\": {\n    \"x\": {\"y\": 1},\n    \"z\": {\n      \"y\": 2\n    }\n  }\n}\n");
    check_edit("{\"s\": {\"x\": 1}}", "s/z", "{\n  \"y\": 2\n}",
               "{\"s\": {\"x\": 1, \"z\": { \"y\": 2 }}}");
    check_edit("{\n  \"a\": 1\n}", "q\"\n", "1", "{\n  \"a\": 1,\n  \"q\\\"\\n\": 1\n}");
}

static void values_are_replaced_in_their_place(void **state)
{
    (void) state;
    check_edit("{\n  // why\n  \"a\": [1, 2], // and\n  \"b\": 2\n}\n", "a", "{\n  \"x\": 1\n}",
               "{\n  // why\n  \"a\": {\n    \"x\": 1\n  }, // and\n  \"b\": 2\n}\n");
    check_edit("{\"a\": /* x */ 1 /* y */}", "a", "2", "{\"a\": /* x */ 2 /* y */}");
    /* The last of the same name is the one that counts. */
    check_edit("{\"a\": 1, \"a\": 2}", "a", "3", "{\"a\": 1, \"a\": 3}");
    /* Names are compared by what they mean. */
    check_edit("{\"\\u0061\": 1}", "a", "3", "{\"\\u0061\": 3}");
}

static void members_are_removed_with_their_comma(void **state)
{
    (void) state;
    check_edit("{\"a\": 1}", "a", NULL, "{}");
    check_edit("{ \"a\": 1, \"b\": 2 }", "a", NULL, "{ \"b\": 2 }");
    check_edit("{ \"a\": 1, \"b\": 2 }", "b", NULL, "{ \"a\": 1 }");
    check_edit("{ \"a\": 1, \"b\": 2, }", "b", NULL, "{ \"a\": 1, }");
    check_edit("{ \"a\": 1, /* x */ \"b\": 2 }", "b", NULL, "{ \"a\": 1 /* x */  }");
    check_edit("{\n  \"a\": 1, // one\n  \"b\": 2 // two\n}\n", "b", NULL,
               "{\n  \"a\": 1 // one\n}\n");
    check_edit("{\n  \"a\": 1, // one\n  \"b\": 2 // two\n}\n", "a", NULL,
               "{\n  \"b\": 2 // two\n}\n");
    check_edit("{\n  // above\n  \"a\": {\n    \"x\": 1\n  },\n\n  \"b\": 2,\n}\n", "a", NULL,
               "{\n  // above\n\n  \"b\": 2,\n}\n");
    check_edit("{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n", "b", NULL, "{\r\n  \"a\": 1\r\n}\r\n");
    check_edit("{\n  \"s\": {\n    \"a\": 1\n  }\n}", "s/a", NULL, "{\n  \"s\": {\n  }\n}");
    check_edit("{\n  \"a\": 1,\n  \"b\": 2 }", "b", NULL, "{\n  \"a\": 1\n   }");
}

static void what_cannot_be_edited_is_left_alone(void **state)
{
    (void) state;
    struct acp_buf out;
    assert_int_equal(edit("[]", "a", "1", &out), ACP_ERR_TYPE);
    assert_int_equal(edit("{\"a\": 1}", "a/b", "1", &out), ACP_ERR_TYPE);
    assert_int_equal(edit("{\"a\": 1}", "a/b", NULL, &out), ACP_ERR_TYPE);
    assert_int_equal(edit("{\"a\": 1}", "b", NULL, &out), ACP_ERR_UNKNOWN);
    assert_int_equal(edit("{\"a\": {}}", "b/a", NULL, &out), ACP_ERR_UNKNOWN);
    assert_int_equal(edit("", "b", NULL, &out), ACP_ERR_SYNTAX);
    assert_int_equal(edit("{\"a\": }", "b", "1", &out), ACP_ERR_SYNTAX);
    assert_int_equal(edit("{} x", "b", "1", &out), ACP_ERR_SYNTAX);
    assert_int_equal(edit("{} /*", "b", "1", &out), ACP_ERR_SYNTAX);
    assert_int_equal(edit("{\"a\": \"\xff\"}", "b", "1", &out), ACP_ERR_UTF8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_and_last_commas_become_spaces),
        cmocka_unit_test(a_comment_that_does_not_end_is_told_with_its_beginning),
        cmocka_unit_test(paths_count_lines_and_characters_from_one),
        cmocka_unit_test(members_are_added_behind_the_others),
        cmocka_unit_test(values_are_replaced_in_their_place),
        cmocka_unit_test(members_are_removed_with_their_comma),
        cmocka_unit_test(what_cannot_be_edited_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
