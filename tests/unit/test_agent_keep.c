/* Updates that wait until they are kept, and that are replayed in a later connection. */
#include "test_agent_host.h"

/* ---- Waiting --------------------------------------------------------------------------------- */

static uint64_t next_number; /* 0: nothing is held */

static void on_keep(struct acp_session *session, const struct acp_session_update *update,
                    void *user)
{
    struct host *h = user;
    (void) session;
    host_note(h, "%d", (int) update->is);
    if (next_number)
        acp_agent_hold_output(h->agent, next_number);
}

static void open_keeping(struct host *h, int version)
{
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2, .no_merging = true};
    struct acp_agent_handler handler = {.new_session = host_accept, .before_update = on_keep};
    next_number = 0;
    host_init(h, &options, &handler);
    host_open(h, version, "{}");
    host_prompt(h);
    acp_buf_clear(&h->log);
    forget(h);
}

static void say_numbered(struct host *h, const char *text, uint64_t number)
{
    next_number = number;
    assert_int_equal(acp_turn_send_text(h->turn, acp_str_from(text)), 0);
}

static void what_is_not_kept_is_not_sent(void **state)
{
    struct host h;
    (void) state;
    open_keeping(&h, 1);
    say_numbered(&h, "free", 0);
    expect_wrote(&h, "free");
    assert_false(acp_endpoint_is_holding(h.end));
    forget(&h);
    say_numbered(&h, "held", 1);
    assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
    expect_silence(&h);
    assert_true(acp_endpoint_is_holding(h.end));
    acp_agent_release_output(h.agent, 1);
    expect_wrote(&h, "held");
    expect_wrote(&h, "'stopReason':'end_turn'");
    assert_false(acp_endpoint_is_holding(h.end));
    host_finish(&h);
}

/* What acp_session_get_update() has given in the callback. */
static char seen_update[500];

static void on_encode(struct acp_session *session, const struct acp_session_update *update,
                      void *user)
{
    struct acp_raw once;
    struct acp_raw twice;
    (void) update;
    (void) user;
    assert_int_equal(acp_session_get_update(session, &once), 0);
    assert_int_equal(acp_session_get_update(session, &twice), 0);
    assert_ptr_equal(once.ptr, twice.ptr);
    (void) snprintf(seen_update, sizeof(seen_update), "%.*s", (int) once.len, once.ptr);
}

static void the_json_of_an_update_is_what_is_sent(void **state)
{
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2, .no_merging = true};
    struct acp_agent_handler handler = {.new_session = host_accept, .before_update = on_encode};
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        struct acp_raw raw;
        host_init(&h, &options, &handler);
        host_open(&h, version, "{}");
        host_prompt(&h);
        forget(&h);
        assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("one \"two\"\n")), 0);
        assert_non_null(strstr(seen_update, "one \\\"two\\\"\\n"));
        for (char *c = seen_update; *c; c++)
            *c = *c == '"' ? '\'' : *c; /* as the host has what was written */
        expect_wrote(&h, seen_update);
        assert_int_equal(acp_session_get_update(acp_turn_session(h.turn), &raw), ACP_ERR_STATE);
        host_finish(&h);
    }
}

static void waves_are_sent_in_turn(void **state)
{
    struct host h;
    (void) state;
    open_keeping(&h, 1);
    say_numbered(&h, "one", 1);
    say_numbered(&h, "two", 2);
    say_numbered(&h, "three", 3);
    expect_silence(&h);
    acp_agent_release_output(h.agent, 1);
    expect_wrote(&h, "one");
    assert_false(wrote(&h, "two"));
    say_numbered(&h, "four", 4);
    acp_agent_release_output(h.agent, 2); /* three came with it */
    assert_false(wrote(&h, "two"));
    acp_agent_release_output(h.agent, 3);
    expect_wrote(&h, "two");
    expect_wrote(&h, "three");
    assert_false(wrote(&h, "four"));
    acp_agent_release_output(h.agent, 9);
    expect_wrote(&h, "four");
    host_finish(&h);
}

static void wake(void *user)
{
    ++*(int *) user;
}

static void a_release_wakes_who_carries_the_bytes(void **state)
{
    struct host h;
    int wakes = 0;
    (void) state;
    open_keeping(&h, 1);
    say_numbered(&h, "held", 1);
    acp_endpoint_on_wake(h.end, wake, &wakes);
    acp_agent_release_output(h.agent, 1);
    assert_int_equal(wakes, 1);
    acp_agent_release_output(h.agent, 1);
    assert_int_equal(wakes, 1);
    host_finish(&h);
}

static void version_2_hears_of_the_prompt_and_the_states(void **state)
{
    struct host h;
    char expected[80];
    (void) state;
    open_keeping(&h, 2);
    assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
    (void) snprintf(expected, sizeof(expected), "%d\n", ACP_SESSION_UPDATE_STATE_UPDATE);
    expect_note(&h, expected);
    host_prompt(&h);
    (void) snprintf(expected, sizeof(expected), "%d\n%d\n", ACP_SESSION_UPDATE_USER_MESSAGE,
                    ACP_SESSION_UPDATE_STATE_UPDATE);
    expect_note(&h, expected);
    host_finish(&h);
}

/* ---- Telling again --------------------------------------------------------------------------- */

static const struct {
    unsigned mode;
    const char *update;
} history[] = {
    {ACP_V1, "{'sessionUpdate':'user_message_chunk','content':{'type':'text','text':'Hello'}}"},
    {ACP_V1, "{'sessionUpdate':'agent_thought_chunk','content':{'type':'text','text':'hm'}}"},
    {ACP_V1, "{'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':'Good '}}"},
    {ACP_V1, "{'sessionUpdate':'agent_message_chunk','content':{'type':'text','text':'day'}}"},
    {ACP_V1, "{'sessionUpdate':'available_commands_update','availableCommands':[]}"},
    {ACP_V1, "{'sessionUpdate':'current_mode_update','currentModeId':'full'}"},
    {ACP_V1, "{'sessionUpdate':'plan','entries':[{'content':'Think','priority':'high',"
             "'status':'pending'}]}"},
    {ACP_V1, "{'sessionUpdate':'tool_call','toolCallId':'t1','title':'Edit','kind':'edit',"
             "'status':'pending','content':[{'type':'diff','path':'/w/a','oldText':'old\\n',"
             "'newText':'new\\n'}]}"},
    {ACP_V1, "{'sessionUpdate':'tool_call_update','toolCallId':'t1','status':'completed',"
             "'content':[{'type':'terminal','terminalId':'term-1'}]}"},
    {ACP_V2, "{'sessionUpdate':'user_message','messageId':'m9','content':[{'type':'text',"
             "'text':'Again'}]}"},
    {ACP_V2, "{'sessionUpdate':'state_update','state':'running'}"},
    {ACP_V2, "{'sessionUpdate':'agent_message_chunk','messageId':'m10','content':{'type':'text',"
             "'text':'Sure'}}"},
    {ACP_V2, "{'sessionUpdate':'tool_call_update','toolCallId':'t2','title':'Run','status':"
             "'completed','content':[{'type':'terminal','terminalId':'term-2'},{'type':'diff',"
             "'changes':[{'operation':'modify','path':'/w/b'}],'patch':{'format':'git_patch',"
             "'text':'--- a\\n+++ b\\n'}}]}"},
    {ACP_V2, "{'sessionUpdate':'terminal_update','terminalId':'term-2','command':'ls'}"},
    {ACP_V2, "{'sessionUpdate':'plan_update','plan':{'type':'items','planId':'main','entries':"
             "[{'content':'Rest','priority':'low','status':'completed'}]}}"},
};

static void on_load(struct acp_session *session, const struct acp_resume_session_request *request,
                    void *user)
{
    (void) user;
    (void) request;
    for (size_t i = 0; i < sizeof(history) / sizeof(history[0]); i++) {
        char text[1024];
        struct acp_raw update = test_quoted(history[i].update, text, sizeof(text));
        assert_int_equal(acp_session_replay(session, history[i].mode, update), 0);
    }
    assert_int_not_equal(acp_session_replay(session, ACP_V1, acp_raw_from("{\"no\":1}")), 0);
    assert_int_equal(acp_session_accept(session, NULL), 0);
}

static void load_history(struct host *h, int version)
{
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2};
    struct acp_agent_handler handler = {
        .load_session = on_load, .resume_session = on_load, .before_update = on_keep};
    host_init(h, &options, &handler);
    host_initialize(h, version, "{}");
    feed(h, version == 1 ? "{'jsonrpc':'2.0','id':1,'method':'session/load','params':{"
                           "'sessionId':'s','cwd':'/w','mcpServers':[]}}"
                         : "{'jsonrpc':'2.0','id':1,'method':'session/resume','params':{"
                           "'sessionId':'s','cwd':'/w','replayFrom':{'type':'start'}}}");
    expect_wrote(h, "'id':1,'result'");
    /* All of it is kept already; version 2 is told the state behind it. */
    char expected[16] = "";
    if (version == 2)
        (void) snprintf(expected, sizeof(expected), "%d\n", ACP_SESSION_UPDATE_STATE_UPDATE);
    expect_note(h, expected);
    expect_wrote(h, "'text':'Good day'");
    expect_wrote(h, "'text':'hm'");
    expect_wrote(h, "'text':'Again'");
    expect_wrote(h, "'text':'Sure'");
    expect_wrote(h, "'content':'Think'");
    expect_wrote(h, "'content':'Rest'");
    assert_false(wrote(h, "term-1"));
    assert_false(wrote(h, "current_mode_update"));
    assert_false(wrote(h, "'running'"));
}

static void history_is_told_in_version_1(void **state)
{
    struct host h;
    (void) state;
    load_history(&h, 1);
    expect_wrote(&h, "'sessionUpdate':'user_message_chunk'");
    expect_wrote(&h, "'sessionUpdate':'tool_call','toolCallId':'t1','title':'Edit'");
    expect_wrote(&h, "'oldText':'old\\n','newText':'new\\n'");
    expect_wrote(&h, "'sessionUpdate':'tool_call','toolCallId':'t2','title':'Run'");
    expect_wrote(&h, "```diff\\n--- a\\n+++ b\\n");
    assert_false(wrote(&h, "term-2"));
    assert_false(wrote(&h, "plan_update"));
    host_finish(&h);
}

static void history_is_told_in_version_2(void **state)
{
    struct host h;
    (void) state;
    load_history(&h, 2);
    expect_wrote(&h, "'sessionUpdate':'user_message','messageId':'m9'");
    expect_wrote(&h, "'messageId':'m10'");
    expect_wrote(&h, "'sessionUpdate':'tool_call_update','toolCallId':'t1'");
    expect_wrote(&h, "-old\\n+new\\n");
    expect_wrote(&h, "'terminalId':'term-2'");
    expect_wrote(&h, "'sessionUpdate':'terminal_update'");
    expect_wrote(&h, "'sessionUpdate':'plan_update'");
    host_finish(&h);
}

#define REPLAY                                                                                     \
    "{'jsonrpc':'2.0','id':9,'method':'session/resume','params':{'sessionId':'s','cwd':'/w',"      \
    "'replayFrom':{'type':'start'}}}"

/* Version 2 asks that of every agent; one that cannot load sessions has the role's memory. */
static void an_open_session_is_replayed_without_the_program(void **state)
{
    static const struct acp_agent_handler handler = {.new_session = host_accept};
    struct acp_agent_options options = {.versions = ACP_V2, .no_merging = true};
    struct acp_tool_call_update tool;
    struct host h;
    (void) state;
    host_init(&h, &options, &handler);
    host_open(&h, 2, "{}");
    feed(&h, REPLAY); /* nothing has been said */
    expect_wrote(&h, "'id':9,'result':{");
    assert_false(wrote(&h, "-32002"));
    host_prompt(&h);
    assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("one")), 0);
    acp_tool_call_update_init(&tool, acp_str_from("t"));
    tool.title = acp_str_from("Look");
    assert_int_equal(acp_turn_send_tool_call(h.turn, &tool), 0);
    assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("two")), 0);
    forget(&h);
    /* While the turn runs: all of it, once, before the answer, with the state. */
    feed(&h, REPLAY);
    const char *parts[] = {
        "'go'", "'one'", "'title':'Look'", "'two'", "'state':'running'", "'id':9,'result':{"};
    host_collect(&h);
    const char *at = test_cstr(&h.wire);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char text[64];
        (void) test_quoted(parts[i], text, sizeof(text));
        at = strstr(at, text);
        if (!at)
            fail_msg("no %s in %s", parts[i], test_cstr(&h.wire));
        assert_true(i > 3 || !strstr(at + 1, text));
    }
    forget(&h);
    /* The message that was open goes on under its id, and the next replay has it whole. */
    assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("three")), 0);
    assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
    expect_wrote(&h, "'three'");
    forget(&h);
    feed(&h, REPLAY);
    expect_wrote(&h, "'twothree'");
    expect_wrote(&h, "'id':9,'result':{");
    /* A session that is not known is refused as before. */
    feed(&h, "{'jsonrpc':'2.0','id':10,'method':'session/resume','params':{'sessionId':'x',"
             "'cwd':'/w','replayFrom':{'type':'start'}}}");
    expect_wrote(&h, "'id':10,'error':{'code':-32002");
    host_finish(&h);
}

/* The role's memory has a limit, and says so. */
static void a_session_too_long_is_not_replayed(void **state)
{
    static const struct acp_agent_handler handler = {.new_session = host_accept};
    static char text[1 << 20];
    struct acp_agent_options options = {.versions = ACP_V2, .no_merging = true};
    struct host h;
    (void) state;
    memset(text, 'x', sizeof(text));
    host_init(&h, &options, &handler);
    host_open(&h, 2, "{}");
    for (int i = 0; i < 17; i++) {
        assert_int_equal(
            acp_session_send_text(h.session, acp_str_n(text, sizeof(text)), acp_str_from(NULL)), 0);
        forget(&h);
    }
    feed(&h, REPLAY);
    expect_wrote(&h, "'id':9,'error':{'code':-32603");
    /* Without its history it can be resumed. */
    feed(&h, "{'jsonrpc':'2.0','id':10,'method':'session/resume','params':{'sessionId':'s',"
             "'cwd':'/w'}}");
    expect_wrote(&h, "'id':10,'result':{");
    host_finish(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_session_is_replayed_without_the_program),
        cmocka_unit_test(a_session_too_long_is_not_replayed),
        cmocka_unit_test(what_is_not_kept_is_not_sent),
        cmocka_unit_test(the_json_of_an_update_is_what_is_sent),
        cmocka_unit_test(waves_are_sent_in_turn),
        cmocka_unit_test(a_release_wakes_who_carries_the_bytes),
        cmocka_unit_test(version_2_hears_of_the_prompt_and_the_states),
        cmocka_unit_test(history_is_told_in_version_1),
        cmocka_unit_test(history_is_told_in_version_2),
    };
    return cmocka_run_group_tests_name("agent_keep", tests, NULL, NULL);
}
