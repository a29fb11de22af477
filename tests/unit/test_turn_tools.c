/* What was permitted in a turn: how much of it is remembered, and that it is used up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "conversation/conversation_internal.h"
#include "workspace/digest.h"

static struct conversation talk;

static int begin(void **state)
{
    (void) state;
    talk = (struct conversation){0};
    return 0;
}

static int end(void **state)
{
    (void) state;
    conversation_forget_tools(&talk);
    acp_map_finish(&talk.tool_kinds);
    return 0;
}

/* A command that differs by its number; `more` bytes make it long. */
static struct acp_action command(int number, size_t more)
{
    static char line[CONVERSATION_MAX_PERMITTED_BYTES + 100];
    int n = snprintf(line, sizeof(line), "make %d ", number);
    memset(line + n, 'x', more);
    return (struct acp_action){.kind = ACP_TOOL_KIND_EXECUTE,
                               .command = acp_str_n(line, (size_t) n + more),
                               .cwd = acp_str_from("/work")};
}

static void permit(int number, size_t more)
{
    struct acp_action action = command(number, more);
    conversation_note_permitted(&talk, &action);
}

static bool use(int number, size_t more)
{
    struct acp_action action = command(number, more);
    return conversation_use_permission(&talk, &action);
}

static void what_falls_out_of_the_list_is_asked_about_again(void **state)
{
    (void) state;
    for (int over = 0; over < 2; over++) {
        for (int i = 0; i < CONVERSATION_MAX_PERMITTED + over; i++)
            permit(i, 0);
        assert_int_equal(talk.permitted_count, CONVERSATION_MAX_PERMITTED);
        assert_int_equal(use(0, 0), !over);
        assert_true(use(1, 0));
        assert_true(use(CONVERSATION_MAX_PERMITTED - 1 + over, 0));
        conversation_forget_tools(&talk);
        assert_int_equal(talk.permitted_bytes, 0);
    }
}

static void long_actions_take_the_place_of_many(void **state)
{
    (void) state;
    const size_t half = CONVERSATION_MAX_PERMITTED_BYTES / 2;
    permit(0, half);
    permit(1, half);
    assert_false(use(0, half));
    assert_true(use(1, half));
    /* One alone that is too large is not remembered at all, and drops no other. */
    permit(2, 0);
    permit(3, CONVERSATION_MAX_PERMITTED_BYTES);
    assert_false(use(3, CONVERSATION_MAX_PERMITTED_BYTES));
    assert_true(use(2, 0));
}

static void each_is_for_one_use_in_its_turn(void **state)
{
    (void) state;
    permit(0, 0);
    assert_true(use(0, 0));
    assert_false(use(0, 0));
    permit(0, 0);
    permit(0, 0);
    assert_true(use(0, 0));
    assert_true(use(0, 0));
    assert_false(use(0, 0));
    permit(1, 0);
    conversation_forget_tools(&talk);
    assert_false(use(1, 0));
}

/* A write is covered by a diff that showed its content, and by nothing else. */
static void a_write_needs_the_content_that_was_shown(void **state)
{
    (void) state;
    struct acp_str path = ACP_STR("/work/a");
    struct acp_action_edit shown;
    struct acp_action_edit written;
    struct acp_action permitted = {.kind = ACP_TOOL_KIND_EDIT, .paths = {&path, 1}};
    struct acp_action write = {
        .kind = ACP_TOOL_KIND_EDIT, .paths = {&path, 1}, .edits = {&written, 1}};
    acp_action_edit_init(&shown, path, acp_str_from("new"));
    acp_action_edit_init(&written, path, acp_str_from("new"));
    conversation_note_permitted(&talk, &permitted);
    assert_false(conversation_use_permission(&talk, &write));
    permitted.edits = (struct acp_action_edit_list){&shown, 1};
    shown.known = false; /* the old text of the diff was not on the disk */
    conversation_note_permitted(&talk, &permitted);
    assert_false(conversation_use_permission(&talk, &write));
    shown.known = true;
    conversation_note_permitted(&talk, &permitted);
    acp_action_edit_init(&written, path, acp_str_from("old"));
    assert_false(conversation_use_permission(&talk, &write));
    acp_action_edit_init(&written, path, acp_str_from("new"));
    assert_true(conversation_use_permission(&talk, &write));
    assert_false(conversation_use_permission(&talk, &write));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_falls_out_of_the_list_is_asked_about_again, begin,
                                        end),
        cmocka_unit_test_setup_teardown(long_actions_take_the_place_of_many, begin, end),
        cmocka_unit_test_setup_teardown(each_is_for_one_use_in_its_turn, begin, end),
        cmocka_unit_test_setup_teardown(a_write_needs_the_content_that_was_shown, begin, end),
    };
    return cmocka_run_group_tests_name("conversation_known", tests, NULL, NULL);
}
