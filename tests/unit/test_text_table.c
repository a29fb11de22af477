/* Tables: widths, cutting, and what a pipe gets. */
#include "helpers.h"

#include "cli/prose.h"
#include "cli/text_table.h"

static const struct table_column columns[] = {
    {.heading = "ID"},
    {.heading = "SIZE", .right = true},
    {.heading = "TITLE", .cut = true},
    {0},
};

/* Prints two rows; width 0: into a pipe. */
static void print(const char *title, const char *width, char *out, size_t size)
{
    struct output output;
    struct table *table = table_new(columns);
    assert_non_null(table);
    assert_int_equal(setenv("COLUMNS", width ? width : "80", 1), 0);
    output_init_messages(&output, -1);
    output.exact = width == NULL;
    const struct acp_str first[] = {acp_str_from("a1"), acp_str_from("7"), acp_str_from(title)};
    const struct acp_str second[] = {acp_str_from("b"), acp_str_from("1234"), acp_str_from("")};
    assert_int_equal(table_add(table, first), 0);
    assert_int_equal(table_add(table, second), 0);
    assert_int_equal(table_print(table, &output), 0);
    struct acp_str text = acp_buf_view(&output.pending);
    assert_true(text.len < size);
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    output_finish(&output);
    table_free(table);
}

static void test_columns_are_as_wide_as_their_values(void **state)
{
    char out[500];
    (void) state;
    print("a title", NULL, out, sizeof(out));
    assert_string_equal(out, "a1     7  a title\n"
                             "b   1234  -\n");
    print("a title", "40", out, sizeof(out));
    assert_string_equal(out, "ID  SIZE  TITLE\n"
                             "a1     7  a title\n"
                             "b   1234  -\n");
}

static void test_a_row_is_cut_to_the_terminal_only(void **state)
{
    char out[500];
    (void) state;
    print("0123456789abcdef", "22", out, sizeof(out));
    assert_string_equal(out, "ID  SIZE  TITLE\n"
                             "a1     7  0123456789a\xe2\x80\xa6\n"
                             "b   1234  -\n");
    /* Two cells each: what does not fit whole is left out. */
    print("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", "18", out, sizeof(out));
    assert_string_equal(out, "ID  SIZE  TITLE\n"
                             "a1     7  \xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe2\x80\xa6\n"
                             "b   1234  -\n");
    print("0123456789abcdef", NULL, out, sizeof(out));
    assert_string_equal(out, "a1     7  0123456789abcdef\n"
                             "b   1234  -\n");
}

static void test_a_value_is_one_line(void **state)
{
    char out[500];
    (void) state;
    print("a\nb\x1b[31m", NULL, out, sizeof(out));
    assert_string_equal(out, "a1     7  a\\nb\\x1b[31m\n"
                             "b   1234  -\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_as_wide_as_their_values),
        cmocka_unit_test(test_a_row_is_cut_to_the_terminal_only),
        cmocka_unit_test(test_a_value_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
