/*
 * The transcript when out of memory: with each allocation failing in turn, an event is folded in or
 * ACP_ERR_NOMEM is returned, and the transcript can be read, added to and freed.
 */
#include "transcript_play.h"

#include "test_memory.h"

static const struct {
    enum event_kind kind;
    const char *body;
} events[] = {
    {EVENT_OPENED, "{'agent':'a','cwd':'/w','how':'new','protocol':2}"},
    {EVENT_PROMPT, "{'prompt':[{'type':'text','text':'a\\u0041'},{'type':'image','mimeType':"
                   "'image/png','data':'aGk='}]}"},
    {EVENT_MODE, "{'currentModeId':'ask','availableModes':[{'id':'ask','name':'Ask'}]}"},
    {EVENT_CONFIG_OPTIONS, "{'sessionUpdate':'config_option_update','configOptions':[]}"},
    {EVENT_COMMANDS, "{'sessionUpdate':'available_commands_update','availableCommands':[]}"},
    {EVENT_UPDATE, "{'sessionUpdate':'session_info_update','title':'T'}"},
    {EVENT_UPDATE, "{'sessionUpdate':'usage_update','used':1,'size':2,'cost':{'amount':1,"
                   "'currency':'USD'}}"},
    {EVENT_MESSAGE, "{'sessionUpdate':'agent_message_chunk','messageId':'m','content':{'type':"
                    "'text','text':'one \\u0041'}}"},
    {EVENT_THOUGHT, "{'sessionUpdate':'agent_thought_chunk','messageId':'h','content':{'type':"
                    "'resource_link','uri':'file:///a','name':'a'}}"},
    {EVENT_MESSAGE, "{'sessionUpdate':'agent_message','messageId':'m','content':[{'type':'text',"
                    "'text':'two'},{'type':'text','text':'three'}]}"},
    {EVENT_USER_MESSAGE, "{'sessionUpdate':'user_message','messageId':'u','content':[{'type':"
                         "'text','text':'aA'}]}"},
    {EVENT_TOOL_CALL,
     "{'sessionUpdate':'tool_call_update','toolCallId':'t','title':'Edit','name':'edit','status':"
     "'in_progress','content':[{'type':'diff','changes':[{'operation':'move','oldPath':'/a',"
     "'path':'/b'},{'operation':'add','path':'/c'}],'patch':{'format':'git_patch','text':"
     "'@@\\n+x\\n'}},{'type':'content','content':{'type':'text','text':'so'}}],'locations':"
     "[{'path':'/a'}],'rawInput':{'a':1},'rawOutput':'out'}"},
    {EVENT_TOOL_CALL, "{'sessionUpdate':'tool_call_content_chunk','toolCallId':'t','content':"
                      "{'type':'terminal','terminalId':'x'}}"},
    {EVENT_TOOL_CALL, "{'sessionUpdate':'tool_call_update','toolCallId':'u','status':'failed',"
                      "'rawOutput':{'error':'n\\u0041'}}"},
    {EVENT_TOOL_CALL, "{'sessionUpdate':'tool_call_update','toolCallId':'t','status':"
                      "'completed'}"},
    {EVENT_TOOL_CALL, "{'sessionUpdate':'tool_call_update','toolCallId':'v','title':'Left'}"},
    {EVENT_PLAN, "{'sessionUpdate':'plan_update','plan':{'type':'items','planId':'p','entries':"
                 "[{'content':'do','priority':'low','status':'pending'}]}}"},
    {EVENT_PLAN, "{'sessionUpdate':'plan_update','plan':{'type':'markdown','planId':'q',"
                 "'content':'# do'}}"},
    {EVENT_UPDATE, "{'sessionUpdate':'compaction_update','compactionId':'c','status':'failed',"
                   "'error':'so','summary':[{'type':'text','text':'short'}]}"},
    {EVENT_UPDATE, "{'sessionUpdate':'notice','severity':'info','title':'N','description':'d'}"},
    {EVENT_STATE, "{'sessionUpdate':'state_update','state':'idle','stopReason':'end_turn'}"},
    {EVENT_PERMISSION, "{'title':'T','kind':'execute','command':'c','cwd':'/w','paths':['/a'],"
                       "'verdict':'allow','option':'o','by':'b'}"},
    {EVENT_SETTING, "{'name':'mode','value':{'a':1}}"},
    {EVENT_NOTICE, "{'message':'n\\u0041'}"},
    {EVENT_STOP, "{'stopReason':'end_turn','usage':{'totalTokens':1}}"},
    {EVENT_CLOSED, "{'message':'gone'}"},
    {EVENT_ERROR, "{'source':'agent','code':1,'message':'broken'}"},
};

/*
 * Folds all events, the n-th allocation of one of them failing; whether there was such an
 * allocation.
 */
static bool fold_with_failure(enum transcript_keep keep, size_t which, long n, bool sticky)
{
    struct transcript_options options = {.keep = keep};
    struct transcript *t;
    struct transcript_changes changes = {0};
    bool struck = false;
    struct acp_buf dump;
    acp_buf_init(&dump, EVENT_MAX_BYTES);
    assert_int_equal(transcript_new(&options, &t), 0);
    for (size_t i = 0; i < COUNT(events); i++) {
        char body[1000];
        struct session_event event = {.kind = events[i].kind, .sequence = i + 1, .turn = 1};
        event.body = test_quoted(events[i].body, body, sizeof(body));
        test_struck = false;
        test_sticky = sticky;
        test_countdown = i == which ? n : 0;
        int err = transcript_add(t, &event, &changes);
        test_countdown = 0;
        struck = struck || test_struck;
        assert_true(err == 0 || (err == ACP_ERR_NOMEM && i == which && test_struck));
        acp_buf_clear(&dump);
        dump_transcript(t, &dump);
    }
    acp_buf_finish(&dump);
    transcript_free(t);
    return struck;
}

static void a_failed_allocation_costs_an_event_at_most(void **state)
{
    static const enum transcript_keep keeps[] = {TRANSCRIPT_KEEP_ALL, TRANSCRIPT_KEEP_ANSWER};
    long failures = 0;
    (void) state;
    for (size_t k = 0; k < COUNT(keeps); k++)
        for (int sticky = 0; sticky < 2; sticky++)
            for (size_t which = 0; which < COUNT(events); which++) {
                long n = 1;
                while (fold_with_failure(keeps[k], which, n, sticky))
                    n++;
                assert_true(n < 1000);
                failures += n - 1;
            }
    assert_true(failures > 100);
}

/* What did not strike must not be reported, and what struck must be. */
static void nothing_is_lost_without_an_error(void **state)
{
    struct acp_buf want;
    struct acp_buf got;
    char body[1000];
    (void) state;
    acp_buf_init(&want, EVENT_MAX_BYTES);
    acp_buf_init(&got, EVENT_MAX_BYTES);
    for (size_t i = 0; i < COUNT(events); i++) {
        bool struck = true;
        for (long n = 0; struck; n++) {
            struct transcript *t;
            struct transcript_changes changes;
            struct session_event opened = {.kind = EVENT_OPENED, .body = TEXT("{\"protocol\":2}")};
            struct session_event event = {.kind = events[i].kind};
            event.body = test_quoted(events[i].body, body, sizeof(body));
            assert_int_equal(transcript_new(NULL, &t), 0);
            assert_int_equal(transcript_add(t, &opened, &changes), 0);
            test_struck = false;
            test_sticky = false;
            test_countdown = n;
            int err = transcript_add(t, &event, &changes);
            test_countdown = 0;
            struck = n == 0 || test_struck;
            acp_buf_clear(n ? &got : &want);
            dump_transcript(t, n ? &got : &want);
            if (n && err == 0)
                assert_string_equal(test_cstr(&got), test_cstr(&want));
            transcript_free(t);
        }
    }
    acp_buf_finish(&want);
    acp_buf_finish(&got);
}

static void a_transcript_needs_memory_to_begin(void **state)
{
    struct transcript *t = NULL;
    (void) state;
    test_sticky = false;
    test_countdown = 1;
    assert_int_equal(transcript_new(NULL, &t), ACP_ERR_NOMEM);
    test_countdown = 0;
    assert_null(t);
    transcript_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_allocation_costs_an_event_at_most),
        cmocka_unit_test(nothing_is_lost_without_an_error),
        cmocka_unit_test(a_transcript_needs_memory_to_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
