/* The transcript: messages, thoughts, tool calls and plans of both versions of the protocol. */
#include "transcript_play.h"

/* ---- Messages -------------------------------------------------------------------------------- */

static void chunks_without_ids_are_one_message_until_a_tool_call(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_say(&play, "One ");
    assert_int_equal(play_what(&play, 2), CHANGE_NEW | CHANGE_TEXT);
    play_say(&play, "two");
    assert_int_equal(play_what(&play, 2), CHANGE_TEXT);
    assert_int_equal(play.changes.items[0].offset, 4);
    assert_text_equal(play.changes.items[0].text, "two");
    play_tool(&play, "'tool_call','toolCallId':'t','title':'Look'");
    assert_int_equal(play_what(&play, 2), CHANGE_ENDED);
    play_say(&play, "three");
    assert_item(&play, 1, "1 prompt 'hi' {0 text}");
    assert_item(&play, 2, "2 message 'One two'");
    assert_item(&play, 4, "4 message 'three' open");
    assert_answer(&play, "three");
    play_end(&play);
}

static void a_thought_interrupts_a_message_without_ending_the_answer(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_say(&play, "One ");
    play_think(&play, "hm");
    play_say(&play, "two");
    play_think(&play, "well");
    play_say(&play, ".");
    assert_item(&play, 2, "2 message 'One '");
    assert_item(&play, 3, "3 thought 'hm'");
    assert_item(&play, 4, "4 message 'two' continues 2");
    assert_item(&play, 6, "6 message '.' continues 4 open");
    assert_answer(&play, "One two.");
    play_end(&play);
}

static void interleaved_chunks_are_joined_by_their_ids(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_chunk(&play, "agent_message", "a", "A1 ");
    play_chunk(&play, "agent_message", "b", "B1 ");
    play_chunk(&play, "agent_thought", "a", "T1 ");
    play_chunk(&play, "agent_message", "a", "A2");
    play_tool(&play, "'tool_call','toolCallId':'t','title':'Look'");
    play_chunk(&play, "agent_message", "b", "B2");
    play_chunk(&play, "agent_thought", "a", "T2");
    assert_item(&play, 2, "2 message 'A1 A2' open");
    assert_item(&play, 3, "3 message 'B1 B2' open");
    assert_item(&play, 4, "4 thought 'T1 T2' open");
    assert_answer(&play, "B1 B2");
    /* One without an id goes on with what was last spoken of. */
    play_chunk(&play, "agent_message", "a", ".");
    play_think(&play, "hm");
    play_say(&play, "A3");
    assert_item(&play, 7, "7 message 'A3' continues 2 open");
    play_stop(&play, "end_turn");
    assert_int_equal(play_what(&play, 2), CHANGE_ENDED);
    assert_int_equal(play_what(&play, 3), CHANGE_ENDED);
    assert_answer(&play, "B1 B2");
    play_end(&play);
}

static void the_answer_is_the_last_message_of_the_turn(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "one");
    play_say(&play, "I look.");
    play_event(&play, EVENT_PLAN, "{'sessionUpdate':'plan','entries':[]}");
    play_say(&play, "It is done");
    play_event(&play, EVENT_NOTICE, "{'message':'hm'}");
    play_say(&play, ".");
    play_say(&play, "");
    play_stop(&play, "end_turn");
    assert_answer(&play, "It is done.");
    play_prompt(&play, "two");
    assert_answer(&play, "");
    play_stop(&play, "end_turn");
    assert_answer(&play, "");
    play_end(&play);
}

static void a_whole_message_that_repeats_its_chunks_changes_nothing(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_v2(&play);
    play_prompt(&play, "hi");
    play_chunk(&play, "agent_message", "a", "One");
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message','messageId':'a',"
               "'content':[{'type':'text','text':'One'}]}");
    assert_int_equal(play.changes.count, 0);
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message','messageId':'a',"
               "'content':[{'type':'text','text':'One'},{'type':'text','text':' two'}]}");
    assert_int_equal(play_what(&play, 3), CHANGE_TEXT);
    assert_text_equal(play.changes.items[0].text, " two");
    assert_answer(&play, "One two");
    play_event(&play, EVENT_MESSAGE, "{'sessionUpdate':'agent_message','messageId':'a'}");
    assert_int_equal(play.changes.count, 0);
    play_end(&play);
}

static void a_whole_message_replaces_what_it_does_not_repeat(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_v2(&play);
    play_prompt(&play, "hi");
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message','messageId':'a',"
               "'content':[{'type':'text','text':'wrong'}]}");
    assert_int_equal(play_what(&play, 3), CHANGE_NEW | CHANGE_TEXT);
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message','messageId':'a',"
               "'content':[{'type':'text','text':'right'}]}");
    assert_int_equal(play_what(&play, 3), CHANGE_TEXT_REPLACED);
    play_chunk(&play, "agent_message", "a", "!");
    assert_item(&play, 3, "3 message 'right!' open");
    assert_answer(&play, "right!");
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message','messageId':'a','content':null}");
    assert_item(&play, 3, "3 message '' open");
    assert_answer(&play, "");
    play_end(&play);
}

static void blocks_that_are_no_text_stand_where_they_came(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_say(&play, "See ");
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message_chunk','content':"
               "{'type':'image','mimeType':'image/png','data':'aGk='}}");
    play_event(&play, EVENT_MESSAGE,
               "{'sessionUpdate':'agent_message_chunk','content':"
               "{'type':'resource','resource':{'uri':'file:///a','text':'words'}}}");
    assert_item(&play, 2,
                "2 message 'See [image image/png][resource]' open {4 image aGk=} {21 resource}");
    const struct transcript_block *image = transcript_item(play.transcript, 2)->blocks;
    assert_text_equal(image->block.image.data, "aGk=");
    assert_text_equal(image->next->block.resource.resource.text_resource_contents.text, "words");
    play_end(&play);
}

static void the_echo_of_a_prompt_is_told_from_other_messages_of_the_user(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hello");
    play_chunk(&play, "user_message", NULL, "hel");
    play_chunk(&play, "user_message", NULL, "lo");
    assert_item(&play, 2, "2 user 'hello' open echo");
    play_say(&play, "hi");
    play_chunk(&play, "user_message", NULL, "help");
    assert_item(&play, 4, "4 user 'help' open");
    play_say(&play, "yes");
    assert_answer(&play, "yes");
    play_end(&play);
}

static void a_replay_without_prompts_has_turns_at_the_messages_of_the_user(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_chunk(&play, "user_message", NULL, "one");
    play_say(&play, "first");
    play_chunk(&play, "user_message", NULL, "two");
    assert_answer(&play, "");
    play_say(&play, "second");
    assert_answer(&play, "second");
    assert_item(&play, 2, "2 message 'first'");
    assert_int_equal(transcript_turn(play.transcript)->state, TURN_NONE);
    play_end(&play);
}

/* ---- Tool calls ------------------------------------------------------------------------------ */

static void a_tool_call_is_one_item_from_its_announcement_to_its_end(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_tool(&play, "'tool_call','toolCallId':'t','title':'Edit','kind':'edit','rawInput':{'a':1},"
                     "'locations':[{'path':'/w/a','line':3}]");
    assert_int_equal(play_what(&play, 2), CHANGE_NEW | CHANGE_TITLE | CHANGE_CONTENT);
    play_tool(&play,
              "'tool_call_update','toolCallId':'t','status':'in_progress','content':"
              "[{'type':'diff','path':'/w/a','oldText':'a\\nb\\n','newText':'a\\nc\\nd\\n'}]");
    assert_int_equal(play_what(&play, 2), CHANGE_STATUS | CHANGE_CONTENT | CHANGE_DIFFS);
    play_tool(&play, "'tool_call_update','toolCallId':'t','status':'completed','title':'Edited',"
                     "'content':[{'type':'diff','path':'/w/a','oldText':'a\\nb\\n',"
                     "'newText':'a\\nc\\nd\\n'},{'type':'terminal','terminalId':'x'}],"
                     "'rawOutput':'ok'");
    assert_int_equal(play_what(&play, 2),
                     CHANGE_STATUS | CHANGE_TITLE | CHANGE_CONTENT | CHANGE_ENDED);
    assert_item(&play, 2,
                "2 tool_call 'Edited' [t completed kind=2 content=diff content=terminal:x at=/w/a:3"
                " in={\"a\":1} out=\"ok\" files /w/a +2 -1]");
    const struct acp_diff *diff =
        &transcript_item(play.transcript, 2)->tool_call.content.items[0].diff;
    assert_text_equal(diff->old_text, "a\nb\n");
    assert_int_equal(transcript_item(play.transcript, 2)->started, 20);
    assert_int_equal(transcript_item(play.transcript, 2)->ended, 40);
    play_end(&play);
}

static void a_tool_call_may_be_updated_before_it_is_announced(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_tool(&play, "'tool_call_update','toolCallId':'t','status':'in_progress'");
    assert_int_equal(play_what(&play, 2), CHANGE_NEW | CHANGE_STATUS);
    play_tool(&play, "'tool_call','toolCallId':'t','title':'Look'");
    assert_int_equal(play_what(&play, 2), CHANGE_TITLE);
    assert_item(&play, 2, "2 tool_call 'Look' open [t in_progress]");
    play_end(&play);
}

static void content_of_a_tool_call_is_appended_in_version_2(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_v2(&play);
    play_prompt(&play, "hi");
    play_tool(&play, "'tool_call_update','toolCallId':'t','title':'Edit','name':'edit','content':"
                     "[{'type':'content','content':{'type':'text','text':'one'}}]");
    play_tool(&play, "'tool_call_content_chunk','toolCallId':'t','content':"
                     "{'type':'content','content':{'type':'text','text':'two'}}");
    assert_int_equal(play_what(&play, 3), CHANGE_CONTENT);
    assert_int_equal(play.changes.items[0].offset, 1);
    play_tool(&play, "'tool_call_content_chunk','toolCallId':'t','content':{'type':'diff',"
                     "'changes':[{'operation':'modify','path':'/w/b'}],'patch':{'format':"
                     "'git_patch','text':'diff --git a b\\n--- a\\n+++ b\\n@@ -1 +1,2 @@\\n"
                     "-x\\n+y\\n+z\\n'}}");
    assert_int_equal(play_what(&play, 3), CHANGE_CONTENT | CHANGE_DIFFS);
    assert_item(
        &play, 3,
        "3 tool_call 'Edit' open [t pending name=edit content=content:one content=content:two"
        " content=diff files /w/b +2 -1]");
    /* Null resets in version 2. */
    play_tool(&play, "'tool_call_update','toolCallId':'t','content':null,'name':null");
    assert_item(&play, 3, "3 tool_call 'Edit' open [t pending files /w/b +2 -1]");
    play_end(&play);
}

static void null_keeps_the_content_in_version_1(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_tool(&play, "'tool_call','toolCallId':'t','title':'Look','content':"
                     "[{'type':'content','content':{'type':'text','text':'one'}}]");
    play_tool(&play, "'tool_call_update','toolCallId':'t','content':null,'title':null");
    assert_item(&play, 2, "2 tool_call 'Look' open [t pending content=content:one]");
    play_tool(&play, "'tool_call_update','toolCallId':'t','content':[]");
    assert_item(&play, 2, "2 tool_call 'Look' open [t pending]");
    play_end(&play);
}

static void a_failed_tool_call_says_why(void **state)
{
    static const struct {
        const char *update;
        const char *reason;
    } rows[] = {
        {"'content':[{'type':'content','content':{'type':'text','text':'no such file'}}]",
         "no such file"},
        {"'rawOutput':'broken'", "broken"},
        {"'rawOutput':{'code':1,'error':'denied'}", "denied"},
        {"'rawOutput':{'message':'gone','x':[1]}", "gone"},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct play play;
        char update[300];
        play_begin(&play, NULL);
        (void) snprintf(update, sizeof(update),
                        "'tool_call_update','toolCallId':'t','status':'failed',%s", rows[i].update);
        play_tool(&play, update);
        assert_string_equal(transcript_item(play.transcript, 1)->tool_call.reason.ptr,
                            rows[i].reason);
        play_tool(&play, "'tool_call_update','toolCallId':'t','status':'in_progress'");
        assert_null(transcript_item(play.transcript, 1)->tool_call.reason.ptr);
        assert_false(transcript_item(play.transcript, 1)->is_ended);
        play_end(&play);
    }
}

/* ---- Plans and compactions ------------------------------------------------------------------- */

static void a_plan_is_replaced_as_a_whole(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_prompt(&play, "hi");
    play_event(&play, EVENT_PLAN,
               "{'sessionUpdate':'plan','entries':[{'content':'look','priority':'high','status':"
               "'in_progress'},{'content':'edit','priority':'low','status':'pending'}]}");
    assert_int_equal(play_what(&play, 2), CHANGE_NEW | CHANGE_CONTENT);
    assert_item(&play, 2, "2 plan '' open   2:look 1:edit");
    play_event(&play, EVENT_PLAN,
               "{'sessionUpdate':'plan','entries':[{'content':'look','priority':'high','status':"
               "'completed'}]}");
    assert_int_equal(play_what(&play, 2), CHANGE_CONTENT);
    assert_item(&play, 2, "2 plan '' open   3:look");
    assert_ptr_equal(transcript_plan(play.transcript), transcript_item(play.transcript, 2));
    play_stop(&play, "end_turn");
    assert_true(transcript_item(play.transcript, 2)->is_ended);
    /* The next turn has a plan of its own. */
    play_prompt(&play, "go on");
    play_event(&play, EVENT_PLAN, "{'sessionUpdate':'plan','entries':[]}");
    assert_int_equal(transcript_plan(play.transcript)->number, 5);
    play_end(&play);
}

static void plans_of_version_2_have_ids_and_forms(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_v2(&play);
    play_event(&play, EVENT_PLAN,
               "{'sessionUpdate':'plan_update','plan':{'type':'items','planId':'p','entries':"
               "[{'content':'look','priority':'high','status':'pending'}]}}");
    play_event(&play, EVENT_PLAN,
               "{'sessionUpdate':'plan_update','plan':{'type':'markdown','planId':'q','content':"
               "'# Plan'}}");
    play_event(&play, EVENT_PLAN,
               "{'sessionUpdate':'plan_update','plan':{'type':'file','planId':'p','uri':"
               "'file:///plan'}}");
    assert_item(&play, 2, "2 plan '' open p file:///plan");
    play_event(&play, EVENT_PLAN,
               "{'sessionUpdate':'plan_update','plan':{'type':'markdown','planId':'p','content':"
               "'# Other'}}");
    assert_item(&play, 2, "2 plan '' open p # Other");
    play_event(&play, EVENT_PLAN,
               "{'sessionUpdate':'plan_update','plan':{'type':'items','planId':'p','entries':[]}}");
    assert_item(&play, 2, "2 plan '' open p ");
    assert_item(&play, 3, "3 plan '' open q # Plan");
    play_event(&play, EVENT_UPDATE, "{'sessionUpdate':'plan_removed','planId':'q'}");
    assert_item(&play, 3, "3 plan '' q removed # Plan");
    play_event(&play, EVENT_UPDATE, "{'sessionUpdate':'plan_removed','planId':'nobody'}");
    assert_int_equal(play.changes.count, 0);
    play_end(&play);
}

static void a_compaction_has_a_summary(void **state)
{
    struct play play;
    (void) state;
    play_begin(&play, NULL);
    play_event(&play, EVENT_UPDATE,
               "{'sessionUpdate':'compaction_update','compactionId':'c','status':'in_progress'}");
    play_event(&play, EVENT_UPDATE,
               "{'sessionUpdate':'compaction_summary_chunk','compactionId':'c','content':"
               "{'type':'text','text':'short'}}");
    assert_item(&play, 1, "1 compaction 'short' open status=1 ");
    play_event(&play, EVENT_UPDATE,
               "{'sessionUpdate':'compaction_update','compactionId':'c','status':'failed',"
               "'error':'too long','summary':[{'type':'text','text':'other'}]}");
    assert_item(&play, 1, "1 compaction 'other' status=3 too long");
    play_end(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_without_ids_are_one_message_until_a_tool_call),
        cmocka_unit_test(a_thought_interrupts_a_message_without_ending_the_answer),
        cmocka_unit_test(interleaved_chunks_are_joined_by_their_ids),
        cmocka_unit_test(the_answer_is_the_last_message_of_the_turn),
        cmocka_unit_test(a_whole_message_that_repeats_its_chunks_changes_nothing),
        cmocka_unit_test(a_whole_message_replaces_what_it_does_not_repeat),
        cmocka_unit_test(blocks_that_are_no_text_stand_where_they_came),
        cmocka_unit_test(the_echo_of_a_prompt_is_told_from_other_messages_of_the_user),
        cmocka_unit_test(a_replay_without_prompts_has_turns_at_the_messages_of_the_user),
        cmocka_unit_test(a_tool_call_is_one_item_from_its_announcement_to_its_end),
        cmocka_unit_test(a_tool_call_may_be_updated_before_it_is_announced),
        cmocka_unit_test(content_of_a_tool_call_is_appended_in_version_2),
        cmocka_unit_test(null_keeps_the_content_in_version_1),
        cmocka_unit_test(a_failed_tool_call_says_why),
        cmocka_unit_test(a_plan_is_replaced_as_a_whole),
        cmocka_unit_test(plans_of_version_2_have_ids_and_forms),
        cmocka_unit_test(a_compaction_has_a_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
