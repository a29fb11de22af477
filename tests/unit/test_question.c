/* A permission question: what is shown of it, what cannot be shown, and what an answer means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "acp/types.h"
#include "cmd/question_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    ONCE = ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE,
    ALWAYS = ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS,
    NO = ACP_PERMISSION_OPTION_KIND_REJECT_ONCE,
    NEVER = ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS,
    UNLISTED = ACP_PERMISSION_OPTION_KIND_UNLISTED,
};

/* ---- Answers --------------------------------------------------------------------------------- */

static void lines_mean_the_option_of_their_kind(void **state)
{
    (void) state;
    static const struct {
        int kinds[4]; /* 0 at the end */
        const char *line;
        int reply;
        size_t index;
    } rows[] = {
        {{ONCE, ALWAYS, NO, NEVER}, "y\n", QUESTION_CHOSEN, 0},
        {{NEVER, NO, ALWAYS, ONCE}, "y\n", QUESTION_CHOSEN, 3},
        {{ONCE, ALWAYS, NO, NEVER}, "a\n", QUESTION_CHOSEN, 1},
        {{ONCE, ALWAYS, NO, NEVER}, "n\n", QUESTION_CHOSEN, 2},
        {{ONCE, ALWAYS, NO, NEVER}, "d\n", QUESTION_CHOSEN, 3},
        {{ONCE, ALWAYS, NO, NEVER}, "  YES \r\n", QUESTION_CHOSEN, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "don't", QUESTION_CHOSEN, 3},
        {{ONCE, ALWAYS, NO, NEVER}, "4\n", QUESTION_CHOSEN, 3},
        {{ONCE, ALWAYS, NO, NEVER}, "?\n", QUESTION_HELP, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "\n", QUESTION_AGAIN, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "", QUESTION_AGAIN, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "5\n", QUESTION_AGAIN, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "0\n", QUESTION_AGAIN, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "11\n", QUESTION_AGAIN, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "1 \ny", QUESTION_AGAIN, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "yy\n", QUESTION_AGAIN, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "y n\n", QUESTION_AGAIN, 0},
        {{ONCE, ALWAYS, NO, NEVER}, "yex\n", QUESTION_AGAIN, 0},
        /* What is not offered is not an answer; no always is. */
        {{ALWAYS, NEVER}, "y\n", QUESTION_AGAIN, 0},
        {{ONCE}, "a\n", QUESTION_AGAIN, 0},
        {{ONCE}, "d\n", QUESTION_AGAIN, 0},
        {{ONCE}, "n\n", QUESTION_REFUSE, 0},
        {{0}, "n\n", QUESTION_REFUSE, 0},
        {{0}, "y\n", QUESTION_AGAIN, 0},
        {{0}, "1\n", QUESTION_AGAIN, 0},
        /* Of two of a kind only the number tells; but no is no. */
        {{ONCE, ONCE}, "y\n", QUESTION_AGAIN, 0},
        {{ONCE, ONCE}, "2\n", QUESTION_CHOSEN, 1},
        {{NO, NO}, "n\n", QUESTION_CHOSEN, 0},
        {{NO, NO}, "2\n", QUESTION_CHOSEN, 1},
        /* An unknown kind has no letter. */
        {{UNLISTED}, "1\n", QUESTION_CHOSEN, 0},
        {{UNLISTED}, "y\n", QUESTION_AGAIN, 0},
        {{UNLISTED, ONCE}, "2\n", QUESTION_CHOSEN, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct question_choices choices = {.numbered = true};
        size_t index = 0;
        for (size_t k = 0; k < 4 && rows[i].kinds[k]; k++)
            choices.kinds[choices.count++] = (enum acp_permission_option_kind_is) rows[i].kinds[k];
        int reply = (int) question_read(&choices, acp_str_from(rows[i].line), &index);
        if (reply != rows[i].reply || index != rows[i].index)
            print_error("row %zu: %s\n", i, rows[i].line);
        assert_int_equal(reply, rows[i].reply);
        assert_int_equal(index, rows[i].index);
    }
}

/* Numbers count where the options are listed, which they are if a letter would not tell enough. */
static void options_are_numbered_where_letters_do_not_tell(void **state)
{
    (void) state;
    static const struct {
        int kinds[2];
        const char *names[2];
        bool numbered;
    } rows[] = {
        {{ONCE, NO}, {"Allow", "Reject"}, false},
        {{ONCE, NO}, {"", ""}, false},
        {{ONCE, NO}, {"Yes", "No"}, false},
        {{ONCE, NO}, {"Reject", "Allow"}, true},
        {{ALWAYS, NO}, {"Yes, and accept edits", "No"}, true},
        {{ONCE, ONCE}, {"Allow", "Allow"}, true},
        {{UNLISTED, ONCE}, {"Allow", "Allow"}, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_permission_option options[2];
        struct permission_question question = {.options = {options, 2}};
        struct question_choices choices;
        size_t index;
        for (size_t k = 0; k < 2; k++)
            acp_permission_option_init(&options[k], acp_str_from(k ? "a" : "b"),
                                       acp_str_from(rows[i].names[k]),
                                       (enum acp_permission_option_kind_is) rows[i].kinds[k]);
        question_choices_init(&choices, &question);
        assert_int_equal(choices.numbered, rows[i].numbered);
        assert_int_equal(question_read(&choices, acp_str_from("1\n"), &index),
                         rows[i].numbered ? QUESTION_CHOSEN : QUESTION_AGAIN);
    }
}

static void the_line_tells_what_always_covers(void **state)
{
    (void) state;
    static char name[200];
    struct acp_permission_option options[2];
    struct permission_question question = {.options = {options, 2},
                                           .always_brief = acp_str_from("for 'git log'\x1b[2J")};
    acp_permission_option_init(&options[0], acp_str_from("a"), acp_str_from("Allow"),
                               (enum acp_permission_option_kind_is) ONCE);
    acp_permission_option_init(&options[1], acp_str_from("b"), acp_str_from("Always"),
                               (enum acp_permission_option_kind_is) ALWAYS);
    for (int i = 0; i < 2; i++) {
        struct question_choices choices;
        struct acp_buf out;
        acp_buf_init(&out, 1000);
        question_choices_init(&choices, &question);
        assert_int_equal(question_write_prompt(&choices, &out), 0);
        assert_true(acp_str_is(acp_buf_view(&out),
                               i ? "[y]es, [a]lways (as shown above), [n]o, [?] "
                                 : "[y]es, [a]lways (for 'git log'\\x1b[2J), [n]o, [?] "));
        acp_buf_finish(&out);
        memset(name, 'x', sizeof(name));
        question.always_brief = acp_str_n(name, sizeof(name));
    }
}

/* ---- What is shown --------------------------------------------------------------------------- */

static void make_options(struct acp_permission_option *options, char (*ids)[8], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void) snprintf(ids[i], sizeof(ids[i]), "%zu", i);
        acp_permission_option_init(&options[i], acp_str_from(ids[i]), acp_str_from("ok"),
                                   ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    }
}

static int write_question(const struct permission_question *question, struct acp_buf *out)
{
    acp_buf_init(out, QUESTION_TEXT_MAX);
    int err = question_write(question, out);
    (void) acp_buf_append(out, "", 1);
    return err;
}

/* Exactly at the limit it is asked, and one beyond it is not. */
static void limits_are_exact(void **state)
{
    (void) state;
    static char text[QUESTION_MAX_BYTES + 1];
    static struct acp_str paths[QUESTION_MAX_PATHS + 1];
    static struct acp_str_entry env[QUESTION_MAX_VARIABLES + 1];
    static struct acp_action_edit edits[QUESTION_MAX_PATHS + 1];
    static char ids[QUESTION_MAX_OPTIONS + 1][8];
    static struct acp_permission_option options[QUESTION_MAX_OPTIONS + 1];
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i <= QUESTION_MAX_PATHS; i++) {
        paths[i] = acp_str_from("/p");
        edits[i].path = acp_str_from("/p");
        env[i] = (struct acp_str_entry){acp_str_from("A"), acp_str_from("")};
    }
    make_options(options, ids, QUESTION_MAX_OPTIONS + 1);
    for (size_t more = 0; more < 2; more++) {
        struct acp_action actions[8] = {0};
        struct permission_question questions[8] = {0};
        actions[0].command = acp_str_n(text, QUESTION_MAX_BYTES + more);
        actions[1].paths = (struct acp_str_list){paths, QUESTION_MAX_PATHS + more};
        actions[2].env = (struct acp_str_map){env, QUESTION_MAX_VARIABLES + more};
        actions[3].edits = (struct acp_action_edit_list){edits, QUESTION_MAX_PATHS + more};
        questions[4].options =
            (struct acp_permission_option_list){options, QUESTION_MAX_OPTIONS + more};
        questions[5].title = acp_str_n(text, QUESTION_MAX_BYTES + more);
        questions[6].description = acp_str_n(text, QUESTION_MAX_BYTES + more);
        questions[7].changes = acp_str_n(text, QUESTION_MAX_BYTES + more);
        for (size_t i = 0; i < 8; i++) {
            struct acp_buf out;
            questions[i].action = &actions[i];
            assert_int_equal(question_complaint(&questions[i]) != NULL, more);
            assert_int_equal(write_question(&questions[i], &out), more ? ACP_ERR_LIMIT : 0);
            acp_buf_finish(&out);
        }
    }
    /* A short text of many lines. */
    struct acp_action action = {.command = acp_str_n(text, QUESTION_MAX_LINES - 5)};
    struct permission_question question = {.action = &action};
    memset(text, '\n', QUESTION_MAX_LINES);
    assert_null(question_complaint(&question));
    action.command.len++;
    assert_non_null(question_complaint(&question));
    action.command.len = 0;
    question.changes = acp_str_n(text, QUESTION_MAX_LINES - 5);
    assert_null(question_complaint(&question));
    question.changes.len++;
    assert_non_null(question_complaint(&question));
}

static void options_with_one_id_are_refused(void **state)
{
    (void) state;
    struct acp_permission_option options[3];
    char ids[3][8];
    struct acp_action action = {0};
    struct permission_question question = {.action = &action, .options = {options, 3}};
    make_options(options, ids, 3);
    assert_null(question_complaint(&question));
    options[2].option_id = options[0].option_id;
    assert_non_null(question_complaint(&question));
}

/* What an agent writes must not look like something of ours, nor be obeyed by the terminal. */
static void texts_stay_in_their_place(void **state)
{
    (void) state;
    struct acp_str paths[] = {ACP_STR("/a\n[permission] read"), ACP_STR("/b\033[1A\r")};
    struct acp_str_entry env[] = {{ACP_STR("A\n  1) Reject"), ACP_STR("\x7f\x1b[2J")}};
    struct acp_action action = {.kind = ACP_TOOL_KIND_EDIT,
                                .command = acp_str_from("make\n[y]es, [?] y\rls"),
                                .command_cwd = acp_str_from("/x\n/y"),
                                .paths = {paths, 2},
                                .env = {env, 1}};
    struct acp_permission_option option;
    struct permission_question question = {.title = acp_str_from("Hello\n  1) Reject"),
                                           .description = acp_str_from("one\ntwo\xc2\x9b"),
                                           .changes =
                                               acp_str_from("+a\tb\n[y]es, [?] y\r\n-\x1b[2K\n"),
                                           .action = &action,
                                           .options = {&option, 1}};
    struct acp_buf out;
    acp_permission_option_init(&option, acp_str_from("a"), acp_str_from("\n  2) Reject\""),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS);
    assert_int_equal(write_question(&question, &out), 0);
    const char *text = out.data + out.start;
    /* Each line begins with what we put there. */
    size_t lines = 0;
    for (const char *at = strchr(text, '\n'); at && at[1]; at = strchr(at + 1, '\n'), lines++)
        assert_true(!strncmp(at, "\n[permission] execute: Hello\\n  1) Reject", 39) ||
                    !strncmp(at, "\n  | ", 5) || !strncmp(at, "\n  1) Always allow, \"\\n", 22) ||
                    (!strncmp(at, "\n  ", 3) && strchr("cdvfa", at[3])));
    assert_int_equal(lines, 18);
    for (const char *at = text; *at; at++)
        assert_true(*at == '\n' || *at == '\t' || ((unsigned char) *at >= 0x20 && *at != 0x7f));
    assert_non_null(
        strstr(text, "  changes:\n  | +a\tb\n  | [y]es, [?] y\\r\n  | -\\x1b[2K\n  1)"));
    assert_null(strstr(text, "\xc2\x9b"));
    assert_non_null(strstr(text, "always: only within the agent, if it remembers the answer"));
    acp_buf_finish(&out);
}

/* ---- What "always" covers -------------------------------------------------------------------- */

static void always_tells_its_scope(void **state)
{
    (void) state;
    struct acp_str paths[] = {ACP_STR("/no/a"), ACP_STR("/no/b")};
    struct acp_str_entry env = {ACP_STR("A"), ACP_STR("1")};
#define KEPT "; in sessions in /no; kept in /g (see 'acp permissions')"
    const struct {
        struct acp_action action;
        const char *full; /* NULL: it is not remembered */
        const char *brief;
    } rows[] = {
        {{.command = acp_str_from("make")},
         "exactly this command line" KEPT,
         "for exactly this command in this folder"},
        {{.command = acp_str_from("git log -3")},
         "'git log' with other arguments too, unless they leave the folder, write "
         "files or run programs" KEPT,
         "for 'git log' commands in this folder"},
        {{.command = acp_str_from("git log -3 | sh")},
         "exactly this command line" KEPT,
         "for exactly this command in this folder"},
        {{.kind = ACP_TOOL_KIND_EDIT, .paths = {paths, 1}},
         "edits of this file, with any content" KEPT,
         "for edits of this file"},
        {{.kind = ACP_TOOL_KIND_EDIT, .paths = {paths, 2}},
         "edits of these files, with any content" KEPT,
         "for edits of these files"},
        {{.tool = acp_str_from("mcp__x")},
         "everything that the tool mcp__x does" KEPT,
         "for the tool mcp__x in this folder"},
        {{.title = acp_str_from("something")}, NULL, NULL},
        {{.command = acp_str_from("make"), .env = {&env, 1}}, NULL, NULL},
        {{.command = acp_str_from("git log"), .env = {&env, 1}}, NULL, NULL},
        {{.command = acp_str_from("make"), .command_cwd = acp_str_from("/no/sub")}, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_action action = rows[i].action;
        struct question_scope scope;
        question_scope_init(&scope);
        action.cwd = acp_str_from("/no");
        int err = question_scope_write(&scope, &action, "/g");
        assert_int_equal(err, rows[i].full ? 0 : ACP_ERR_MISSING);
        assert_true(
            acp_str_eq(acp_buf_view(&scope.full), acp_str_from(rows[i].full ? rows[i].full : "")));
        assert_true(acp_str_eq(acp_buf_view(&scope.brief),
                               acp_str_from(rows[i].brief ? rows[i].brief : "")));
        question_scope_finish(&scope);
    }
#undef KEPT
}

static void directories_are_compared_by_name(void **state)
{
    (void) state;
    static const struct {
        const char *one;
        const char *other;
        bool same;
    } rows[] = {
        {NULL, NULL, true},       {NULL, "/no", true},         {"/no/", ".", true},
        {"sub", "/no/sub", true}, {"/no", "/n", false},        {"/no/sub", NULL, false},
        {"..", "/", true},        {"/no", "/no/sub/..", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_action one = {.cwd = acp_str_from("/no"),
                                 .command_cwd = acp_str_from(rows[i].one)};
        struct acp_action other = {.cwd = acp_str_from("/no"),
                                   .command_cwd = acp_str_from(rows[i].other)};
        assert_int_equal(question_same_directory(&one, &other), rows[i].same);
        assert_int_equal(question_same_directory(&other, &one), rows[i].same);
    }
    struct acp_action nowhere = {0};
    assert_false(question_same_directory(&nowhere, &nowhere));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_mean_the_option_of_their_kind),
        cmocka_unit_test(options_are_numbered_where_letters_do_not_tell),
        cmocka_unit_test(the_line_tells_what_always_covers),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(options_with_one_id_are_refused),
        cmocka_unit_test(texts_stay_in_their_place),
        cmocka_unit_test(always_tells_its_scope),
        cmocka_unit_test(directories_are_compared_by_name),
    };
    return cmocka_run_group_tests_name("question", tests, NULL, NULL);
}
