/* The transcript: turns, and what is true of the session as a whole. */
#include "transcript_play.h"

/* ---- How turns end --------------------------------------------------------------------------- */

static const char begun[] = "'tool_call','toolCallId':'t','title':'Build','status':'in_progress'";

static void a_turn_that_stops_fails_the_tool_calls_that_it_leaves(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_tool(&play, begun);
    play_tool(&play, "'tool_call','toolCallId':'u','title':'Look','status':'completed'");
    play_say(&play, "well");
    play_stop(&play, "end_turn");
    assert_int_equal(play_what(&play, 2), CHANGE_STATUS | CHANGE_ENDED);
    assert_item(&play, 2,
                "2 tool_call 'Build' [t failed because=the turn ended before it orphaned]");
    assert_item(&play, 3, "3 tool_call 'Look' [u completed]");
    assert_item(&play, 4, "4 message 'well'");
    assert_item(&play, 5, "5 turn_end 'end_turn' <turn 1 stopped 10..50 end_turn>");
    play_end(&play);
}

static void a_cancelled_turn_cancels_its_tool_calls(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_tool(&play, begun);
    play_stop(&play, "cancelled");
    assert_item(&play, 2,
                "2 tool_call 'Build' [t cancelled because=the turn was cancelled orphaned]");
    /* What the agent says later counts. */
    play_tool(&play, "'tool_call_update','toolCallId':'t','status':'completed'");
    assert_item(&play, 2, "2 tool_call 'Build' [t completed]");
    play_end(&play);
}

static void a_turn_that_fails_says_why_to_its_tool_calls(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_tool(&play, begun);
    play_event(&play, EVENT_CLOSED, "{'message':'the agent was killed'}");
    assert_item(&play, 3, "3 closed 'the agent was killed'");
    play_event(&play, EVENT_ERROR, "{'source':'agent','code':-7,'message':'it died'}");
    assert_item(&play, 2, "2 tool_call 'Build' [t failed because=it died orphaned]");
    assert_item(&play, 4, "4 turn_end 'it died' <turn 1 failed 10..40 agent -7 it died>");
    assert_int_equal(transcript_turn(play.transcript)->state, TURN_FAILED);
    play_end(&play);
}

static void errors_of_version_0_1_have_a_source(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_event(&play, EVENT_ERROR, "{'whose':'user','message':'no'}");
    assert_int_equal(transcript_turn(play.transcript)->source, ERROR_SOURCE_USER);
    play_end(&play);
}

static void a_turn_without_an_end_is_over_when_the_next_begins(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_tool(&play, begun);
    play_chunk(&play, "agent_message", "m", "half");
    play_prompt(&play, "again");
    assert_item(&play, 2,
                "2 tool_call 'Build' [t failed because=the turn was not finished orphaned]");
    assert_item(&play, 3, "3 message 'half'");
    /* The ids of a turn are its own. */
    play_tool(&play, begun);
    play_chunk(&play, "agent_message", "m", "whole");
    assert_item(&play, 5, "5 tool_call 'Build' open [t in_progress]");
    assert_answer(&play, "whole");
    play_end(&play);
}

static void a_tool_call_in_the_background_outlasts_the_turn(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_v2(&play);
    play_prompt(&play, "hi");
    play_tool(&play, "'tool_call_update','toolCallId':'t','title':'Serve','status':'in_progress'");
    play_event(&play, EVENT_STATE,
               "{'sessionUpdate':'state_update','state':'idle','stopReason':'end_turn',"
               "'background':[{'type':'tool_call','toolCallId':'t'}]}");
    assert_int_equal(play_what(&play, 0), CHANGE_STATE);
    play_stop(&play, "end_turn");
    play_prompt(&play, "more");
    assert_item(&play, 3, "3 tool_call 'Serve' open [t in_progress background]");
    play_tool(&play, "'tool_call_update','toolCallId':'t','status':'completed'");
    assert_true(transcript_item(play.transcript, 3)->is_ended);
    play_stop(&play, "end_turn");
    play_tool(&play, "'tool_call_update','toolCallId':'u','title':'Watch','status':'in_progress'");
    play_event(&play, EVENT_CLOSED, "{'message':'gone'}");
    assert_item(&play, 7, "7 tool_call 'Watch' [u failed because=gone orphaned]");
    play_end(&play);
}

/* ---- What turns cost and change -------------------------------------------------------------- */

static void a_turn_knows_what_it_has_cost(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_event(&play, EVENT_UPDATE,
               "{'sessionUpdate':'usage_update','used':100,'size':1000,"
               "'cost':{'amount':0.25,'currency':'USD'}}");
    assert_int_equal(play_what(&play, 0), CHANGE_USAGE);
    play_event(&play, EVENT_STOP,
               "{'stopReason':'end_turn','usage':{'totalTokens':9,'inputTokens':5,'outputTokens':4,"
               "'cachedReadTokens':2,'thoughtTokens':null}}");
    assert_item(&play, 2,
                "2 turn_end 'end_turn' <turn 1 stopped 10..30 end_turn in=5 out=4 total=9 read=2"
                " cost=0.25USD>");
    play_prompt(&play, "more");
    play_event(&play, EVENT_UPDATE,
               "{'sessionUpdate':'usage_update','used':200,'size':1000,"
               "'cost':{'amount':1,'currency':'USD'}}");
    play_stop(&play, "end_turn");
    assert_item(&play, 4, "4 turn_end 'end_turn' <turn 2 stopped 40..60 end_turn cost=0.75USD>");
    /* Nobody knows what part of it a turn has cost when the unit changes. */
    play_prompt(&play, "more");
    play_event(&play, EVENT_UPDATE,
               "{'sessionUpdate':'usage_update','used':1,'size':2,"
               "'cost':{'amount':7,'currency':'credits'}}");
    play_stop(&play, "end_turn");
    assert_item(&play, 6, "6 turn_end 'end_turn' <turn 3 stopped 70..90 end_turn>");
    assert_int_equal(transcript_session(play.transcript)->context_used.value, 1);
    play_end(&play);
}

static void the_usage_of_a_turn_may_come_with_the_state(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_v2(&play);
    play_prompt(&play, "hi");
    play_event(&play, EVENT_STATE,
               "{'sessionUpdate':'state_update','state':'idle','stopReason':'end_turn','usage':"
               "{'totalTokens':9,'inputTokens':5,'outputTokens':4}}");
    play_stop(&play, "end_turn");
    assert_item(&play, 3,
                "3 turn_end 'end_turn' <turn 1 stopped 20..40 end_turn in=5 out=4 total=9>");
    assert_text_equal(transcript_session(play.transcript)->state, "idle");
    play_end(&play);
}

static void a_turn_knows_which_files_completed_tool_calls_have_changed(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_tool(&play, "'tool_call','toolCallId':'t','title':'A','status':'completed','content':"
                     "[{'type':'diff','path':'/w/a','oldText':'x\\n','newText':'y\\n'},"
                     "{'type':'diff','path':'/w/new','newText':'1\\n2\\n'}]");
    play_tool(&play, "'tool_call','toolCallId':'u','title':'B','status':'failed','content':"
                     "[{'type':'diff','path':'/w/b','oldText':'x\\n','newText':'y\\n'}]");
    play_tool(&play, "'tool_call','toolCallId':'v','title':'C','content':"
                     "[{'type':'diff','path':'/w/a','oldText':'y\\n','newText':'y\\nz\\n'}]");
    /* The diff is known from before. */
    play_tool(&play, "'tool_call_update','toolCallId':'v','status':'completed','content':"
                     "[{'type':'content','content':{'type':'text','text':'ok'}}]");
    play_stop(&play, "end_turn");
    assert_item(&play, 5,
                "5 turn_end 'end_turn' <turn 1 stopped 10..60 end_turn /w/a +2 -1 /w/new +2 -0>");
    play_end(&play);
}

/* ---- The session ----------------------------------------------------------------------------- */

static void an_opened_session_says_which_version_its_updates_are_in(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_event(&play, EVENT_OPENED,
               "{'agent':'claude','protocol':2,'agentSession':'s1','cwd':'/w','how':'resumed'}");
    assert_item(&play, 1, "1 opened '' claude s1 /w resumed v2");
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message','messageId':'m','content':[]}");
    assert_int_equal(play.changes.count, 0);
    play_event(&play, EVENT_OPENED, "{'agent':'claude','protocol':1}");
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message','messageId':'m','content':[{'type':'text',"
               "'text':'not in version 1'}]}");
    assert_int_equal(play.changes.count, 0);
    play_end(&play);
}

static void modes_options_and_commands_can_be_read(void **state)
{
    struct play play;
    struct acp_arena arena;
    struct acp_session_mode_list modes;
    struct acp_session_config_option_list options;
    struct acp_available_command_list commands;
    (void) state;
    acp_arena_init(&arena, 0);
    play_begin(&play, NULL);
    assert_int_equal(transcript_modes(play.transcript, &arena, &modes), 0);
    assert_int_equal(modes.count, 0);
    assert_int_equal(transcript_config_options(play.transcript, &arena, &options), 0);
    assert_int_equal(options.count, 0);
    assert_int_equal(transcript_commands(play.transcript, &arena, &commands), 0);
    assert_int_equal(commands.count, 0);
    play_event(&play, EVENT_MODE,
               "{'currentModeId':'ask','availableModes':[{'id':'ask','name':'Ask'},"
               "{'id':'full','name':'Full'}]}");
    assert_int_equal(play_what(&play, 0), CHANGE_MODES);
    play_event(&play, EVENT_MODE, "{'sessionUpdate':'current_mode_update','currentModeId':'full'}");
    assert_int_equal(play_what(&play, 0), CHANGE_MODE);
    assert_text_equal(transcript_session(play.transcript)->mode, "full");
    assert_int_equal(transcript_modes(play.transcript, &arena, &modes), 0);
    assert_int_equal(modes.count, 2);
    assert_text_equal(modes.items[1].name, "Full");
    play_event(&play, EVENT_CONFIG_OPTIONS,
               "{'sessionUpdate':'config_option_update','configOptions':[{'type':'select','id':"
               "'model','name':'Model','currentValue':'a','options':[]}]}");
    assert_int_equal(play_what(&play, 0), CHANGE_OPTIONS);
    assert_int_equal(transcript_config_options(play.transcript, &arena, &options), 0);
    assert_int_equal(options.count, 1);
    play_event(&play, EVENT_COMMANDS,
               "{'sessionUpdate':'available_commands_update','availableCommands':[{'name':'plan',"
               "'description':'Make a plan'}]}");
    assert_int_equal(play_what(&play, 0), CHANGE_COMMANDS);
    assert_int_equal(transcript_commands(play.transcript, &arena, &commands), 0);
    assert_int_equal(commands.count, 1);
    play_event(&play, EVENT_UPDATE, "{'sessionUpdate':'session_info_update','title':'Work'}");
    assert_int_equal(play_what(&play, 0), CHANGE_TITLE);
    assert_text_equal(transcript_session(play.transcript)->title, "Work");
    play_event(&play, EVENT_UPDATE, "{'sessionUpdate':'session_info_update','title':null}");
    assert_null(transcript_session(play.transcript)->title.ptr);
    /* A body that is none is not taken for one. */
    play_event(&play, EVENT_COMMANDS, "{'sessionUpdate':'session_info_update'}");
    assert_int_equal(transcript_commands(play.transcript, &arena, &commands), 0);
    assert_int_equal(commands.count, 0);
    acp_arena_finish(&arena);
    play_end(&play);
}

static void permissions_settings_and_notices_are_items(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_event(&play, EVENT_PERMISSION,
               "{'title':'Run it','kind':'execute','command':'make','cwd':'/w','paths':['/w/a',"
               "'/w/b'],'verdict':'allow','option':'once','by':'the user'}");
    play_event(&play, EVENT_PERMISSION,
               "{'title':'Read','kind':'read','paths':[],'verdict':'deny','by':'the rule'}");
    play_event(&play, EVENT_SETTING, "{'name':'mode','value':'full'}");
    play_event(&play, EVENT_SETTING, "{'name':'depth','value':7}");
    play_event(&play, EVENT_NOTICE, "{'message':'mind'}");
    play_event(&play, EVENT_UPDATE,
               "{'sessionUpdate':'notice','severity':'warning','title':'low','description':'so'}");
    assert_item(&play, 1,
                "1 permission 'Run it' execute allowed by the user (once) make in /w /w/a /w/b");
    assert_item(&play, 2, "2 permission 'Read' read denied by the rule ()  in ");
    assert_item(&play, 3, "3 setting 'mode' = full");
    assert_item(&play, 4, "4 setting 'depth' = 7");
    assert_item(&play, 5, "5 notice 'mind' acp 0 ");
    assert_item(&play, 6, "6 notice 'low' agent 2 so");
    assert_int_equal(play_what(&play, 6), CHANGE_NEW | CHANGE_TEXT | CHANGE_ENDED);
    play_end(&play);
}

static void what_cannot_be_decoded_changes_nothing(void **state)
{
    static const struct {
        enum event_kind kind;
        const char *body;
    } rows[] = {
        {EVENT_MESSAGE, "{'sessionUpdate':'agent_message_chunk','content':7}"},
        {EVENT_MESSAGE, "[]"},
        {EVENT_TOOL_CALL, "{}"},
        {EVENT_PLAN, "{'sessionUpdate':'plan'"},
        {EVENT_MODE, "{'sessionUpdate':'current_mode_update'}"},
        {EVENT_UPDATE, "{'sessionUpdate':'dance'}"},
        {EVENT_STATE, "{'sessionUpdate':'state_update'}"},
    };
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        play_event(&play, rows[i].kind, rows[i].body);
        CHECK_ROW(play.changes.count == 0, i, "%s", rows[i].body);
    }
    assert_int_equal(transcript_last(play.transcript), 0);
    assert_null(transcript_item(play.transcript, 1));
    assert_null(transcript_plan(play.transcript));
    play_end(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_that_stops_fails_the_tool_calls_that_it_leaves),
        cmocka_unit_test(a_cancelled_turn_cancels_its_tool_calls),
        cmocka_unit_test(a_turn_that_fails_says_why_to_its_tool_calls),
        cmocka_unit_test(errors_of_version_0_1_have_a_source),
        cmocka_unit_test(a_turn_without_an_end_is_over_when_the_next_begins),
        cmocka_unit_test(a_tool_call_in_the_background_outlasts_the_turn),
        cmocka_unit_test(a_turn_knows_what_it_has_cost),
        cmocka_unit_test(the_usage_of_a_turn_may_come_with_the_state),
        cmocka_unit_test(a_turn_knows_which_files_completed_tool_calls_have_changed),
        cmocka_unit_test(an_opened_session_says_which_version_its_updates_are_in),
        cmocka_unit_test(modes_options_and_commands_can_be_read),
        cmocka_unit_test(permissions_settings_and_notices_are_items),
        cmocka_unit_test(what_cannot_be_decoded_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
