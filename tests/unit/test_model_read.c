/* The streams of each API, cut at every byte. */
#include "helpers.h"
#include "model_log.h"

struct row {
    const struct model_dialect *dialect;
    const char *events; /* with ' for ", one in each line */
    const char *log;
};

/* Makes "data: LINE\n\n" of each line. */
static void make_stream(const char *events, struct acp_buf *out)
{
    while (*events) {
        size_t n = strcspn(events, "\n");
        assert_int_equal(acp_buf_append(out, "data: ", 6), 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(acp_buf_append(out, events[i] == '\'' ? "\"" : events + i, 1), 0);
        assert_int_equal(acp_buf_append(out, "\n\n", 2), 0);
        events += n + (events[n] ? 1 : 0);
    }
}

static void expect(const struct row *row, size_t number)
{
    struct acp_buf stream;
    acp_buf_init(&stream, 1 << 20);
    make_stream(row->events, &stream);
    static const size_t sizes[] = {1, 2, 3, 7, 64, 1 << 20};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct acp_buf log;
        acp_buf_init(&log, 1 << 20);
        model_log_stream(row->dialect, acp_buf_view(&stream), sizes[i], &log);
        for (size_t k = 0; k < log.len; k++) {
            if (log.data[log.start + k] == '"')
                log.data[log.start + k] = '\'';
        }
        CHECK_ROW(strcmp(test_cstr(&log), row->log) == 0, number, "in pieces of %zu:\n%s\n%s",
                  sizes[i], test_cstr(&log), row->log);
        acp_buf_finish(&log);
    }
    acp_buf_finish(&stream);
}

static void expect_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(&rows[i], i);
}

static void test_anthropic(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {&dialect_anthropic,
         "{'type':'message_start','message':{'usage':{'input_tokens':10,"
         "'cache_read_input_tokens':5,'cache_creation_input_tokens':2,'output_tokens':1}}}\n"
         "{'type':'content_block_start','index':0,"
         "'content_block':{'type':'thinking','thinking':''}}\n"
         "{'type':'content_block_delta','index':0,"
         "'delta':{'type':'thinking_delta','thinking':'hm'}}\n"
         "{'type':'content_block_delta','index':0,"
         "'delta':{'type':'signature_delta','signature':'sig'}}\n"
         "{'type':'content_block_stop','index':0}\n"
         "{'type':'content_block_start','index':1,"
         "'content_block':{'type':'redacted_thinking','data':'x'}}\n"
         "{'type':'content_block_stop','index':1}\n"
         "{'type':'ping'}\n"
         "{'type':'content_block_start','index':2,'content_block':{'type':'text','text':''}}\n"
         "{'type':'content_block_delta','index':2,"
         "'delta':{'type':'text_delta','text':'Gr\xC3\xBC\xC3\x9F'}}\n"
         "{'type':'content_block_delta','index':2,"
         "'delta':{'type':'text_delta','text':'e\\u00e9\\n'}}\n"
         "{'type':'content_block_stop','index':2}\n"
         "{'type':'content_block_start','index':3,"
         "'content_block':{'type':'tool_use','id':'t1','name':'read','input':{}}}\n"
         "{'type':'content_block_delta','index':3,"
         "'delta':{'type':'input_json_delta','partial_json':'{\\'a'}}\n"
         "{'type':'content_block_delta','index':3,"
         "'delta':{'type':'input_json_delta','partial_json':'\\':1}'}}\n"
         "{'type':'content_block_stop','index':3}\n"
         "{'type':'message_delta','delta':{'stop_reason':'tool_use'},"
         "'usage':{'output_tokens':9}}\n"
         "{'type':'message_stop'}\n"
         "{'type':'content_block_delta','index':2,'delta':{'type':'text_delta','text':'late'}}",
         "usage(17+1/5)thought(hm)text(Gr\xC3\xBC\xC3\x9F)text(e\xC3\xA9\n)begun(read)id(t1)"
         "call({'a':1})usage(17+9/5)Thought(hm)seal('sig')"
         "Thought()seal({'type':'redacted_thinking','data':'x'})"
         "Text(Gr\xC3\xBC\xC3\x9F"
         "e\xC3\xA9\n)Call(read)calls!"},
        {&dialect_anthropic,
         "{'type':'content_block_start','index':0,"
         "'content_block':{'type':'tool_use','id':'t1','name':'a','input':{}}}\n"
         "{'type':'content_block_delta','index':0,"
         "'delta':{'type':'input_json_delta','partial_json':'{oops'}}\n"
         "{'type':'content_block_stop','index':0}\n"
         "{'type':'content_block_start','index':1,"
         "'content_block':{'type':'tool_use','id':'t2','name':'b','input':{}}}\n"
         "{'type':'content_block_stop','index':1}\n"
         "{'type':'content_block_start','index':2,"
         "'content_block':{'type':'tool_use','id':'t3','name':'c','input':{'x':2}}}\n"
         "{'type':'content_block_stop','index':2}\n"
         "{'type':'content_block_start','index':3,"
         "'content_block':{'type':'tool_use','id':'t4','name':'d','input':{}}}\n"
         "{'type':'content_block_delta','index':3,"
         "'delta':{'type':'input_json_delta','partial_json':'[1]'}}\n"
         "{'type':'content_block_stop','index':3}\n"
         "{'type':'message_delta','delta':{'stop_reason':'tool_use'}}",
         "begun(a)id(t1)broken({oops)begun(b)id(t2)call({})begun(c)id(t3)call({'x':2})"
         "begun(d)id(t4)broken([1])Call(a)Call(b)Call(c)Call(d)calls"},
        {&dialect_anthropic,
         "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'a'}}\n"
         "{'type':'error','error':{'type':'overloaded_error','message':'Overloaded'}}\n"
         "{'type':'content_block_delta','index':0,'delta':{'type':'text_delta','text':'b'}}",
         "text(a)Text(a)fault1(Overloaded)"},
        {&dialect_anthropic,
         "{'type':'content_block_start','index':0,'content_block':{'type':'thinking'}}\n"
         "{'type':'content_block_delta','index':0,'delta':{'type':'signature_delta'}}\n"
         "{'type':'content_block_delta','index':0,"
         "'delta':{'type':'signature_delta','signature':{'x':1}}}\n"
         "{'type':'content_block_stop','index':0}",
         "Thought()"},
        {&dialect_anthropic,
         "{'type':'error','error':{'type':'invalid_request_error','message':'no'}}", "fault2(no)"},
        {&dialect_anthropic,
         "{'type':'error','error':{'type':'authentication_error','message':'no'}}", "fault3(no)"},
        {&dialect_anthropic, "{'type':'message_delta','delta':{'stop_reason':'end_turn'}}", "end"},
        {&dialect_anthropic, "{'type':'message_delta','delta':{'stop_reason':'max_tokens'}}",
         "max tokens"},
        {&dialect_anthropic, "{'type':'message_delta','delta':{'stop_reason':'refusal'}}",
         "refusal"},
        {&dialect_anthropic, "{'type':'message_delta','delta':{'stop_reason':null}}", ""},
        {&dialect_anthropic, "{'type':",
         "fault1(an event of the answer is not the JSON it should "
         "be)"},
        {&dialect_anthropic, "[1]", "fault1(an event of the answer is not the JSON it should be)"},
    };
    expect_all(rows, COUNT(rows));
}

static void test_chat(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {&dialect_chat,
         "{'choices':[{'index':0,'delta':{'role':'assistant','content':''}}]}\n"
         "{'choices':[{'index':0,'delta':{'reasoning_content':'hm'}}]}\n"
         "{'choices':[{'index':0,'delta':{'content':'Hel'}}],'usage':null}\n"
         "{'choices':[{'index':0,'delta':{'content':'lo'}}]}\n"
         "{'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,'id':'c1','type':'function',"
         "'function':{'name':'read','arguments':''}}]}}]}\n"
         "{'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,"
         "'function':{'arguments':'{\\'a\\''}}]}}]}\n"
         "{'choices':[{'index':0,'delta':{'tool_calls':[{'index':1,'id':'c2',"
         "'function':{'name':'run','arguments':'{}'}}]}}]}\n"
         "{'choices':[{'index':0,'delta':{'tool_calls':[{'index':0,"
         "'function':{'arguments':':1}'}}]}}]}\n"
         "{'choices':[{'index':0,'delta':{},'finish_reason':'tool_calls'}]}\n"
         "{'choices':[],'usage':{'prompt_tokens':7,'completion_tokens':3,"
         "'prompt_tokens_details':{'cached_tokens':2}}}\n"
         "[DONE]",
         "thought(hm)text(Hel)text(lo)begun(read)begun(run)id(c1)call({'a':1})id(c2)call({})"
         "usage(7+3/2)Thought(hm)seal('reasoning_content')Text(Hello)Call(read)Call(run)calls!"},
        /* Without numbers, whole calls with an object, "stop" all the same. */
        {&dialect_chat,
         "{'choices':[{'delta':{'tool_calls':[{'id':'a','function':{'name':'x',"
         "'arguments':{'k':1}}},{'id':'b','function':{'name':'y','arguments':'{'}}]}}]}\n"
         "{'choices':[{'delta':{'tool_calls':[{'function':{'arguments':'}'}}]}}]}\n"
         "{'choices':[{'delta':{},'finish_reason':'stop'}]}",
         "begun(x)begun(y)id(a)call({'k':1})id(b)call({})Call(x)Call(y)calls"},
        {&dialect_chat,
         "{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a','function':{'name':'x',"
         "'arguments':'{\\'k'}}]}}]}\n{'choices':[{'delta':{},'finish_reason':'length'}]}",
         "begun(x)dropped(x)max tokens"},
        {&dialect_chat,
         "{'choices':[{'delta':{'refusal':'I will not'},'finish_reason':'content_filter'}]}",
         "text(I will not)Text(I will not)refusal"},
        {&dialect_chat, "{'choices':[{'delta':{'reasoning':'r'},'finish_reason':'stop'}]}\n[DONE]",
         "thought(r)Thought(r)seal('reasoning')end!"},
        {&dialect_chat, "{'error':{'message':'busy','type':'server_error'}}", "fault1(busy)"},
        {&dialect_chat, "{'error':{'message':'busy','code':502}}", "fault1(busy)"},
        {&dialect_chat, "{'error':{'message':'paid up?','code':'insufficient_quota'}}",
         "fault2(paid up?)"},
        {&dialect_chat, "{'error':'plain'}", "fault2(plain)"},
        {&dialect_chat, "{'choices':'no','usage':7}", ""},
    };
    expect_all(rows, COUNT(rows));
}

static void test_responses(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {&dialect_responses,
         "{'type':'response.created','response':{'usage':null}}\n"
         "{'type':'response.output_item.added','output_index':0,"
         "'item':{'type':'reasoning','id':'rs','summary':[]}}\n"
         "{'type':'response.reasoning_summary_part.added','output_index':0,'summary_index':0}\n"
         "{'type':'response.reasoning_summary_text.delta','output_index':0,'delta':'hm'}\n"
         "{'type':'response.reasoning_summary_part.added','output_index':0,'summary_index':1}\n"
         "{'type':'response.reasoning_summary_text.delta','output_index':0,'delta':'so'}\n"
         "{'type':'response.output_item.done','output_index':0,'item':{'type':'reasoning',"
         "'id':'rs','status':'completed','summary':[],'encrypted_content':'enc'}}\n"
         "{'type':'response.output_item.added','output_index':1,'item':{'type':'message'}}\n"
         "{'type':'response.output_text.delta','output_index':1,'delta':'Hi'}\n"
         "{'type':'response.output_text.done','output_index':1,'text':'Hi'}\n"
         "{'type':'response.output_item.done','output_index':1,'item':{'type':'message'}}\n"
         "{'type':'response.output_item.added','output_index':2,"
         "'item':{'type':'function_call','call_id':'c1','name':'read','arguments':''}}\n"
         "{'type':'response.function_call_arguments.delta','output_index':2,'delta':'{'}\n"
         "{'type':'response.function_call_arguments.done','output_index':2,'arguments':'{}'}\n"
         "{'type':'response.output_item.done','output_index':2,"
         "'item':{'type':'function_call','call_id':'c1','name':'read','arguments':'{}'}}\n"
         "{'type':'response.completed','response':{'usage':{'input_tokens':4,'output_tokens':2,"
         "'input_tokens_details':{'cached_tokens':1}}}}",
         "thought(hm)thought(\n\n)thought(so)text(Hi)begun(read)id(c1)call({})usage(4+2/1)"
         "Thought(hm\n\nso)"
         "seal({'type':'reasoning','id':'rs','summary':[],'encrypted_content':'enc'})"
         "Text(Hi)Call(read)calls!"},
        {&dialect_responses,
         "{'type':'response.output_item.done','output_index':0,'item':{'type':'reasoning',"
         "'id':'rs','encrypted_content':'e'}}\n"
         "{'type':'response.completed','response':{}}",
         "Thought()seal({'type':'reasoning','id':'rs','summary':[],'encrypted_content':'e'})end!"},
        {&dialect_responses,
         "{'type':'response.incomplete','response':{'incomplete_details':"
         "{'reason':'max_output_tokens'}}}",
         "max tokens!"},
        {&dialect_responses,
         "{'type':'response.incomplete','response':{'incomplete_details':"
         "{'reason':'content_filter'}}}",
         "refusal!"},
        {&dialect_responses,
         "{'type':'response.refusal.delta','delta':'no'}\n"
         "{'type':'response.completed','response':{}}",
         "text(no)Text(no)refusal!"},
        {&dialect_responses,
         "{'type':'response.failed','response':{'error':{'code':'server_error',"
         "'message':'oh'}}}",
         "fault1(oh)"},
        {&dialect_responses, "{'type':'error','code':'rate_limit_exceeded','message':'slow'}",
         "fault1(slow)"},
        {&dialect_responses, "{'type':'error','error':{'type':'invalid','message':'bad'}}",
         "fault2(bad)"},
    };
    expect_all(rows, COUNT(rows));
}

static void test_gemini(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {&dialect_gemini,
         "{'candidates':[{'content':{'parts':[{'text':'hm','thought':true}],'role':'model'}}]}\n"
         "{'candidates':[{'content':{'parts':[{'text':'Hel'}]}}]}\n"
         "{'candidates':[{'content':{'parts':[{'text':'lo'}]}}]}\n"
         "{'candidates':[{'content':{'parts':[{'functionCall':{'id':'c9','name':'read',"
         "'args':{'a':1}},'thoughtSignature':'ts'},"
         "{'functionCall':{'name':'run'}}]}}]}\n"
         "{'candidates':[{'content':{'parts':[{'text':'','thoughtSignature':'end'}]},"
         "'finishReason':'STOP'}],'usageMetadata':{'promptTokenCount':8,"
         "'candidatesTokenCount':2,'thoughtsTokenCount':3,'cachedContentTokenCount':4}}",
         "thought(hm)text(Hel)text(lo)begun(read)id(c9)call({'a':1})begun(run)id(acp_call_0_4)"
         "call({})usage(8+5/4)Thought(hm)Text(Hello)Call(read)seal('ts')Call(run)"
         "Text()seal('end')calls"},
        {&dialect_gemini, "{'candidates':[{'finishReason':'MAX_TOKENS'}]}", "max tokens"},
        {&dialect_gemini, "{'candidates':[{'finishReason':'SAFETY'}]}", "refusal"},
        {&dialect_gemini, "{'promptFeedback':{'blockReason':'OTHER'}}", "refusal"},
        {&dialect_gemini, "{'candidates':[{'finishReason':'MALFORMED_FUNCTION_CALL'}]}",
         "fault1(the model has made a tool call that is none)"},
        {&dialect_gemini, "{'error':{'code':503,'message':'later','status':'UNAVAILABLE'}}",
         "fault1(later)"},
        {&dialect_gemini, "{'error':{'code':400,'message':'bad','status':'INVALID_ARGUMENT'}}",
         "fault2(bad)"},
        {&dialect_gemini,
         "{'candidates':[{'content':{'parts':[{'functionCall':{'name':'x','args':[]}}]},"
         "'finishReason':'STOP'}]}",
         "begun(x)id(acp_call_0_1)broken([])Call(x)calls"},
    };
    expect_all(rows, COUNT(rows));
}

/* More parts than anybody needs: an error, not all the memory. */
static void test_limit(void **state)
{
    (void) state;
    struct acp_buf stream;
    struct acp_buf log;
    acp_buf_init(&stream, 1 << 24);
    acp_buf_init(&log, 1 << 24);
    for (int i = 0; i < STREAM_MAX_PARTS + 10; i++)
        make_stream("{'candidates':[{'content':{'parts':[{'functionCall':{'name':'x'}}]}}]}",
                    &stream);
    model_log_stream(&dialect_gemini, acp_buf_view(&stream), 4096, &log);
    size_t begun = 0;
    for (const char *p = test_cstr(&log); (p = strstr(p, "begun(")); p++)
        begun++;
    assert_int_equal(begun, STREAM_MAX_PARTS);
    acp_buf_finish(&stream);
    acp_buf_finish(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anthropic), cmocka_unit_test(test_chat),
        cmocka_unit_test(test_responses), cmocka_unit_test(test_gemini),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
