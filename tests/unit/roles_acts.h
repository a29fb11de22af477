/* roles_acts.h - what the agent does in more than one of the tests in which both roles talk. */
#ifndef TESTS_UNIT_ROLES_ACTS_H
#define TESTS_UNIT_ROLES_ACTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "acp/agent.h"
#include "acp/turn.h"
#include "acp/types.h"

/* Thinks, plans, and edits a file. */
static inline void acts_work(struct acp_turn *turn)
{
    struct acp_plan_entry entry;
    struct acp_tool_call_update tool;
    struct acp_tool_call_content content;
    (void) acp_turn_send_thought(turn, acp_str_from("hm"));
    acp_plan_entry_init(&entry, acp_str_from("think"), ACP_PLAN_ENTRY_PRIORITY_HIGH,
                        ACP_PLAN_ENTRY_STATUS_IN_PROGRESS);
    (void) acp_turn_send_plan(turn, &entry, 1);
    acp_tool_call_update_init(&tool, acp_str_from("call-1"));
    tool.title = acp_str_from("Edit a file");
    tool.kind.is = ACP_TOOL_KIND_EDIT;
    (void) acp_turn_send_tool_call(turn, &tool);
    acp_tool_call_update_init(&tool, acp_str_from("call-1"));
    tool.status.is = ACP_TOOL_CALL_STATUS_COMPLETED;
    memset(&content, 0, sizeof(content));
    content.is = ACP_TOOL_CALL_CONTENT_DIFF;
    content.diff.path = acp_str_from("/w/a.txt");
    content.diff.old_text = acp_str_from("one\n");
    content.diff.new_text = acp_str_from("two\n");
    tool.content.items = &content;
    tool.content.count = 1;
    (void) acp_turn_send_tool_call(turn, &tool);
}

/* Asks whether it may remove everything: "yes" or "no". */
static inline void acts_ask(struct acp_turn *turn, acp_permission_fn *answered, void *user)
{
    struct acp_permission_option options[2];
    struct acp_tool_call_update tool;
    acp_permission_option_init(&options[0], acp_str_from("yes"), acp_str_from("Allow"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_permission_option_init(&options[1], acp_str_from("no"), acp_str_from("Reject"),
                               ACP_PERMISSION_OPTION_KIND_REJECT_ONCE);
    acp_tool_call_update_init(&tool, acp_str_from("call-9"));
    tool.title = acp_str_from("Remove everything");
    assert_int_equal(acp_turn_request_permission(turn, &tool, options, 2, answered, user), 0);
}

/* Takes a new session, with the modes "ask" and "code" and the command "test". */
static inline void acts_accept(struct acp_session *session)
{
    struct acp_session_mode modes[2];
    struct acp_available_command command;
    acp_session_mode_init(&modes[0], acp_str_from("ask"), acp_str_from("Ask"));
    acp_session_mode_init(&modes[1], acp_str_from("code"), acp_str_from("Code"));
    acp_available_command_init(&command, acp_str_from("test"), acp_str_from("Runs the tests"));
    struct acp_session_setup setup = {
        .modes = {modes, 2}, .current_mode = acp_str_from("ask"), .commands = {&command, 1}};
    assert_int_equal(acp_session_accept(session, &setup), 0);
}

/* Tells again what was said in an old session. */
static inline void acts_replay(struct acp_session *session)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from("what I said"));
    assert_int_equal(acp_session_send_user_block(session, &block, acp_str_from("u1")), 0);
    assert_int_equal(
        acp_session_send_text(session, acp_str_from("what was answered"), acp_str_from("a1")), 0);
}

#endif
