/* Help and man pages of a made-up program: everything in the tables is there, in its place. */
#include "helpers.h"

#include "cli/help.h"
#include "cli/manual.h"
#include "cli/prose.h"
#include "test_program.h"

static char page[1 << 16];

/* Nothing is written before it is flushed, so the page is what is pending. */
static void take_page(struct output *out)
{
    struct acp_str text = acp_buf_view(&out->pending);
    assert_int_equal(out->err, 0);
    assert_true(text.len < sizeof(page));
    memset(page, 0, sizeof(page));
    memcpy(page, text.ptr, text.len);
    output_finish(out);
}

static void print_help(const struct command *parent, const struct command *command)
{
    struct output out;
    output_init_results(&out, -1);
    help_print(&out, &test_program, parent, command);
    take_page(&out);
}

static void print_manual(const struct command *command)
{
    struct command described = *command;
    described.description = "It does what it does.";
    struct output out;
    output_init_results(&out, -1);
    assert_int_equal(manual_print(&out, &test_program, &described, NULL), 0);
    take_page(&out);
}

static bool has(const char *text)
{
    if (strstr(page, text))
        return true;
    print_error("no '%s' in:\n%s\n", text, page);
    return false;
}

static size_t times(const char *text)
{
    size_t count = 0;
    for (const char *at = page; (at = strstr(at, text)); at++)
        count++;
    return count;
}

static void test_help_of_a_command(void **state)
{
    (void) state;
    print_help(NULL, &test_prompt);
    assert_true(has("acp prompt - send a prompt\n\nUsage:\n"
                    "  acp prompt [OPTION...] [AGENT] [PROMPT...]\n"
                    "  acp AGENT prompt [OPTION...] [PROMPT...]\n"
                    "  acp prompt [OPTION...] [PROMPT...] -- COMMAND [ARGUMENT...]\n"));
    /* Letters line up, a long label has its own line, a long text is wrapped in its column. */
    assert_true(has("\n  -s, --session NAME          name of the session (default: the unnamed "
                    "session)\n"));
    assert_true(has("\n      --prompt-retries COUNT  retry a prompt that failed with a temporary "
                    "error\n") ||
                has("\n                              "));
    assert_true(
        has("\n      --append-system-prompt TEXT\n                              append to"));
    assert_true(has("\n      --format FORMAT         output format: text, json or quiet\n"));
    assert_true(has("\nPermissions:\n      --approve-all "));
    assert_true(has("\nHelp:\n  -h, --help "));
    for (const struct option_group *g = test_prompt_groups; g->options; g++)
        for (const struct option *row = g->options; row->name; row++) {
            char label[80];
            (void) snprintf(label, sizeof(label), " --%s ", row->name);
            assert_true(row->hidden || has(label));
        }
}

static void test_help_of_subcommands(void **state)
{
    (void) state;
    print_help(NULL, &test_config);
    assert_true(has("  acp config SUBCOMMAND ...\n"));
    assert_true(has("\nSubcommands:\n  init   write a file\n  shell  for a shell\n"));
    print_help(&test_config, &test_shell);
    assert_true(has("acp config shell - for a shell\n"));
    assert_true(has("  acp config shell SHELL [FILE...]\n"));
    print_help(&test_sessions, &test_show);
    assert_true(has("  acp sessions show NAME [FILE]\n  acp AGENT sessions show NAME [FILE]\n"));
}

static void test_help_of_the_program(void **state)
{
    (void) state;
    print_help(NULL, NULL);
    assert_true(has("  acp AGENT [COMMAND] [OPTION...] [ARGUMENT...]\n"));
    assert_true(has("  prompt    send a prompt\n"));
    assert_int_equal(times("secret"), 0);
}

static void test_manual_of_a_command(void **state)
{
    (void) state;
    print_manual(&test_prompt);
    assert_true(has("acp-prompt(1)\n\n# NAME\n\nacp-prompt - send a prompt\n"));
    assert_true(has("\n*acp prompt* [_OPTION_...] [_AGENT_] [_PROMPT_...]\n"));
    assert_true(has("\n*acp* _AGENT_ *prompt* [_OPTION_...] [_PROMPT_...]\n"));
    assert_true(has("## Permissions\n\n*--approve-all*\n\tApprove all permission"));
    assert_true(has("*--format* _FORMAT_\n\tOutput format. One of *text*, *json* or *quiet*."));
    assert_true(
        has("*--set* _KEY=VALUE_\n\tSet a configuration option of the session before the prompt. "
            "May be given more than once. *--config-option* is an alias.\n"));
    assert_true(has("## Help\n\n*-h*, *--help*\n"));
}

static void test_manual_lists_a_shared_table_once(void **state)
{
    (void) state;
    print_manual(&test_sessions);
    assert_true(has("# SUBCOMMANDS\n\n## list\n"));
    assert_true(has("*acp sessions show* _NAME_ [_FILE_]"));
    assert_int_equal(times("*--format* _FORMAT_"), 1);
}

static void check_plain(const char *prose, const char *want)
{
    struct acp_buf out;
    acp_buf_init(&out, 1000);
    assert_int_equal(prose_plain(prose, &out), 0);
    assert_string_equal(test_cstr(&out), want);
    acp_buf_finish(&out);
}

static void test_markup(void **state)
{
    (void) state;
    check_plain("*bold* and _FILE_, _A_=_B_", "bold and FILE, A=B");
    check_plain("*ACP_HOME* is a_b", "ACP_HOME is a_b");
    check_plain("2 \\* 3 \\_x\\_ \\\\", "2 * 3 _x_ \\");
    check_plain("", "");
    check_plain("\\", "\\");
}

static void check_wrapped(const char *prose, size_t indent, size_t column, const char *want)
{
    struct output out;
    output_init_results(&out, -1);
    prose_print(&out, prose, indent, column, 20);
    take_page(&out);
    assert_string_equal(page, want);
}

static void test_wrapping(void **state)
{
    (void) state;
    check_wrapped("one two three four five", 0, 0, "one two three four\nfive\n");
    check_wrapped("exactly twenty chars", 0, 0, "exactly twenty chars\n");
    check_wrapped("one  two\nthree", 2, 0, "  one two three\n");
    check_wrapped("begins behind a label", 8, 4, "    begins\n        behind a\n        label\n");
    check_wrapped("a\n\nb", 1, 0, " a\n\n b\n");
    check_wrapped("averyveryverylongwordindeed x", 0, 0, "averyveryverylongwordindeed\nx\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help_of_a_command),
        cmocka_unit_test(test_help_of_subcommands),
        cmocka_unit_test(test_help_of_the_program),
        cmocka_unit_test(test_manual_of_a_command),
        cmocka_unit_test(test_manual_lists_a_shared_table_once),
        cmocka_unit_test(test_markup),
        cmocka_unit_test(test_wrapping),
    };
    (void) setenv("COLUMNS", "80", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
