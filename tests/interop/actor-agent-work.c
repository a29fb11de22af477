/* Lines about the work itself: what can be cancelled, the states, ids of messages, the trace. */
#include <stdio.h>
#include <string.h>

#include "actor-agent.h"

/* ---- What can be cancelled by itself --------------------------------------------------------- */

static void tell_tool(struct acp_session *session, enum acp_tool_call_status_is status,
                      const struct acp_tool_call_capabilities *can)
{
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from("tool-long"));
    tool.title = acp_str_from("Taking long");
    tool.status.is = status;
    tool.capabilities = can;
    (void) acp_session_send_tool_call(session, &tool);
}

/* Begins a tool call and waits until it is cancelled. */
enum step do_long_tool(struct work *work, const char *argument)
{
    static const struct acp_tool_call_cancel_capabilities cancel = {.meta = {NULL, 0}};
    static const struct acp_tool_call_capabilities can = {.cancel = &cancel};
    (void) argument;
    work->long_work = true;
    tell_tool(acp_turn_session(work->turn), ACP_TOOL_CALL_STATUS_IN_PROGRESS, &can);
    return STEP_WAIT;
}

/* Likewise for the command of a terminal. */
enum step do_long_terminal(struct work *work, const char *argument)
{
    static const struct acp_terminal_cancel_capabilities cancel = {.meta = {NULL, 0}};
    static const struct acp_terminal_capabilities can = {.cancel = &cancel};
    struct acp_session_update update;
    (void) argument;
    work->long_work = true;
    acp_session_update_init_terminal_update(&update, acp_str_from("term-long"));
    update.terminal_update.command = acp_str_from("sleep 100");
    update.terminal_update.capabilities = &can;
    (void) acp_session_send_update(acp_turn_session(work->turn), &update);
    return STEP_WAIT;
}

static void end_long_work(struct acp_session *session)
{
    struct acp_turn *turn = acp_session_turn(session);
    struct work *work = turn ? acp_turn_user(turn) : NULL;
    if (!work || !work->long_work)
        return;
    work->long_work = false;
    go_on(work);
}

void on_cancel_tool(struct acp_session *session, struct acp_str tool_call, void *user)
{
    (void) tool_call;
    (void) user;
    tell_tool(session, ACP_TOOL_CALL_STATUS_CANCELLED, NULL);
    end_long_work(session);
}

void on_cancel_terminal(struct acp_session *session, struct acp_str terminal, void *user)
{
    struct acp_terminal_exit_status ended = {.signal = acp_str_from("SIGTERM")};
    struct acp_session_update update;
    (void) user;
    acp_session_update_init_terminal_update(&update, terminal);
    update.terminal_update.exit_status = &ended;
    (void) acp_session_send_update(session, &update);
    end_long_work(session);
}

/* ---- States ---------------------------------------------------------------------------------- */

/* background [ID]: the terminal of that id goes on beside the conversation; without one nothing. */
enum step do_background(struct work *work, const char *argument)
{
    struct acp_background_work item;
    acp_background_work_init_terminal(&item, acp_str_from(argument));
    (void) acp_session_send_background(acp_turn_session(work->turn), &item, *argument ? 1 : 0);
    return STEP_NEXT;
}

/* busy on|off */
enum step do_busy(struct work *work, const char *argument)
{
    (void) acp_turn_set_busy(work->turn, strcmp(argument, "on") == 0);
    return STEP_NEXT;
}

/* ---- Ids and the trace ----------------------------------------------------------------------- */

enum step do_ids(struct work *work, const char *argument)
{
    struct acp_str user = acp_turn_user_message_id(work->turn);
    (void) argument;
    sayf(work, "user=%.*s\n", (int) user.len, user.ptr);
    struct acp_str mine = acp_session_message_id(acp_turn_session(work->turn));
    sayf(work, "agent=%.*s\n", (int) mine.len, mine.ptr);
    return STEP_NEXT;
}

/* The trace context of the prompt goes beside all that follows. */
enum step do_trace(struct work *work, const char *argument)
{
    (void) argument;
    (void) acp_turn_set_meta(work->turn, acp_turn_meta(work->turn));
    return STEP_NEXT;
}

/* ---- What must not be sent ------------------------------------------------------------------- */

enum step do_relative(struct work *work, const char *argument)
{
    struct acp_session *session = acp_turn_session(work->turn);
    struct acp_tool_call_location where = {.path = acp_str_from("a.txt")};
    struct acp_tool_call_content content;
    struct acp_tool_call_update tool;
    (void) argument;
    acp_tool_call_update_init(&tool, acp_str_from("tool-relative"));
    tool.title = acp_str_from("Nowhere");
    tool.locations.items = &where;
    tool.locations.count = 1;
    sayf(work, "location: %s\n", acp_err_name(acp_session_send_tool_call(session, &tool)));
    where.path = acp_str_from("/w/a.txt");
    where.line = acp_some_i64(0);
    sayf(work, "line: %s\n", acp_err_name(acp_session_send_tool_call(session, &tool)));
    acp_tool_call_content_init_diff(&content);
    content.diff.path = acp_str_from("a.txt");
    content.diff.new_text = acp_str_from("x\n");
    tool.locations.count = 0;
    tool.content.items = &content;
    tool.content.count = 1;
    sayf(work, "diff: %s\n", acp_err_name(acp_session_send_tool_call(session, &tool)));
    return STEP_NEXT;
}
