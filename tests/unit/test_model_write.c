/* What each API is asked, byte for byte. */
#include "helpers.h"
#include "model/dialect.h"
#include "model/pick.h"

static const struct model_part first[] = {
    {.kind = MODEL_TEXT, .text = ACP_STR("Look \"here\"")},
    {.kind = MODEL_IMAGE, .mime = ACP_STR("image/png"), .data = ACP_STR("aW1n")},
    {.kind = MODEL_RESOURCE, .uri = ACP_STR("file:///a"), .text = ACP_STR("A")},
};
static const struct model_part second[] = {
    {.kind = MODEL_THOUGHT,
     .text = ACP_STR("hm"),
     .sealed = {ACP_STR("anthropic"), {"\"sig\"", 5}}},
    {.kind = MODEL_THOUGHT,
     .sealed = {ACP_STR("anthropic"), {"{\"type\":\"redacted_thinking\",\"data\":\"x\"}", 39}}},
    {.kind = MODEL_THOUGHT,
     .text = ACP_STR("so"),
     .sealed = {ACP_STR("openai-responses"), {"{\"type\":\"reasoning\",\"id\":\"rs\"}", 30}}},
    {.kind = MODEL_TEXT, .text = ACP_STR("I read.")},
    {.kind = MODEL_CALL,
     .id = ACP_STR("c1"),
     .name = ACP_STR("read"),
     .arguments = {"{\"path\":\"a\"}", 12},
     .sealed = {ACP_STR("gemini"), {"\"ts\"", 4}}},
    {.kind = MODEL_CALL, .id = ACP_STR("c2"), .name = ACP_STR("run"), .text = ACP_STR("{broken")},
};
static const struct model_part third[] = {
    {.kind = MODEL_RESULT, .id = ACP_STR("c1"), .name = ACP_STR("read"), .text = ACP_STR("A")},
    {.kind = MODEL_RESULT,
     .id = ACP_STR("c2"),
     .name = ACP_STR("run"),
     .text = ACP_STR("no"),
     .failed = true},
    {.kind = MODEL_TEXT, .text = ACP_STR("go on")},
};
static const struct model_message messages[] = {
    {MODEL_USER, first, COUNT(first)},
    {MODEL_ASSISTANT, second, COUNT(second)},
    {MODEL_USER, third, COUNT(third)},
};
static const struct model_tool tools[] = {
    {ACP_STR("read"), ACP_STR("Reads."), {"{\"type\":\"object\"}", 17}},
};

static void expect(const struct model_dialect *dialect, const struct model_ask *ask,
                   const char *json)
{
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, 1 << 20);
    acp_json_writer_init(&w, &body);
    dialect->write(ask, &w);
    assert_int_equal(w.err, 0);
    struct acp_str view = acp_buf_view(&body);
    assert_int_equal(acp_json_validate(acp_raw_n(view.ptr, view.len), 0, NULL), 0);
    /* With ' for ", as the tables are written. */
    char *shown = malloc(view.len + 1);
    assert_non_null(shown);
    for (size_t i = 0; i < view.len; i++)
        shown[i] = (char) (view.ptr[i] == '"' ? '\'' : view.ptr[i]);
    shown[view.len] = '\0';
    assert_string_equal(shown, json);
    free(shown);
    acp_buf_finish(&body);
}

static struct model_ask whole(const char *model)
{
    return (struct model_ask){
        .model = acp_str_from(model),
        .system = ACP_STR("Be brief."),
        .messages = messages,
        .message_count = COUNT(messages),
        .tools = tools,
        .tool_count = COUNT(tools),
    };
}

static const struct model_part hello = {.kind = MODEL_TEXT, .text = ACP_STR("Hi")};
static const struct model_message greeting = {MODEL_USER, &hello, 1};

static struct model_ask plain(const char *model, enum model_effort effort)
{
    return (struct model_ask){
        .model = acp_str_from(model),
        .messages = &greeting,
        .message_count = 1,
        .effort = effort,
        .max_tokens = 100,
        .temperature = acp_some_f64(0.5),
    };
}

#define MARK ",'cache_control':{'type':'ephemeral'}"

static void test_anthropic(void **state)
{
    (void) state;
    struct model_ask ask = whole("claude-sonnet-4-6");
    expect(&dialect_anthropic, &ask,
           "{'model':'claude-sonnet-4-6','max_tokens':64000,'stream':true,"
           "'thinking':{'type':'adaptive','display':'summarized'},"
           "'tools':[{'name':'read','description':'Reads.',"
           "'input_schema':{'type':'object','properties':{}}" MARK "}],"
           "'system':[{'type':'text','text':'Be brief.'" MARK "}],"
           "'messages':[{'role':'user','content':["
           "{'type':'text','text':'Look \\'here\\''},"
           "{'type':'image','source':{'type':'base64','media_type':'image/png','data':'aW1n'}},"
           "{'type':'text','text':'<resource uri=\\'file:///a\\'>\\nA\\n</resource>'" MARK "}]},"
           "{'role':'assistant','content':["
           "{'type':'thinking','thinking':'hm','signature':'sig'},"
           "{'type':'redacted_thinking','data':'x'},"
           "{'type':'text','text':'I read.'},"
           "{'type':'tool_use','id':'c1','name':'read','input':{'path':'a'}},"
           "{'type':'tool_use','id':'c2','name':'run','input':{'raw_arguments':'{broken'}}]},"
           "{'role':'user','content':["
           "{'type':'tool_result','tool_use_id':'c1','content':'A'},"
           "{'type':'tool_result','tool_use_id':'c2','content':'no','is_error':true},"
           "{'type':'text','text':'go on'" MARK "}]}]}");
}

static void test_anthropic_thinking(void **state)
{
    (void) state;
    static const struct {
        const char *model;
        enum model_effort effort;
        const char *settings;
    } rows[] = {
#define ADAPTIVE                                                                                   \
    "'max_tokens':8292,'stream':true,'thinking':{'type':'adaptive','display':'summarized'}"
#define EFFORT(effort) ADAPTIVE ",'output_config':{'effort':'" effort "'}"
#define OFF "'max_tokens':100,'stream':true,'thinking':{'type':'disabled'}"
#define PLAIN "'max_tokens':100,'stream':true,'temperature':0.5"
        {"claude-sonnet-4-6", MODEL_EFFORT_DEFAULT, ADAPTIVE},
        {"claude-sonnet-4-6", MODEL_EFFORT_HIGH, EFFORT("high")},
        {"claude-opus-4-6", MODEL_EFFORT_XHIGH, EFFORT("high")},
        {"claude-opus-4-6", MODEL_EFFORT_MAX, EFFORT("max")},
        {"claude-opus-4-8", MODEL_EFFORT_MEDIUM, EFFORT("medium")},
        {"claude-opus-4-7", MODEL_EFFORT_XHIGH, EFFORT("xhigh")},
        {"claude-opus-5", MODEL_EFFORT_LOW, EFFORT("low")},
        {"claude-sonnet-5", MODEL_EFFORT_DEFAULT, ADAPTIVE},
        {"us.anthropic.claude-opus-5-v1:0", MODEL_EFFORT_MAX, EFFORT("max")},
        {"claude-fable-5", MODEL_EFFORT_MAX, EFFORT("max")},
        /* Some cannot do without thoughts. */
        {"claude-sonnet-4-6", MODEL_EFFORT_NONE, OFF ",'temperature':0.5"},
        {"claude-opus-4-8", MODEL_EFFORT_NONE, OFF},
        {"claude-opus-5", MODEL_EFFORT_NONE, OFF},
        {"claude-opus-5-5", MODEL_EFFORT_NONE, EFFORT("low")},
        {"claude-fable-5", MODEL_EFFORT_NONE, EFFORT("low")},
        {"claude-mythos-preview", MODEL_EFFORT_NONE, EFFORT("low")},
        {"claude-opus-4-5-20251101", MODEL_EFFORT_LOW,
         "'max_tokens':2148,'stream':true,'thinking':{'type':'enabled','budget_tokens':2048}"},
        {"claude-sonnet-4-20250514", MODEL_EFFORT_MEDIUM,
         "'max_tokens':8292,'stream':true,'thinking':{'type':'enabled','budget_tokens':8192}"},
        {"claude-opus-4-1@20250805", MODEL_EFFORT_MAX,
         "'max_tokens':32000,'stream':true,'thinking':{'type':'enabled','budget_tokens':16000}"},
        {"claude-sonnet-4-5", MODEL_EFFORT_DEFAULT, PLAIN},
        {"claude-sonnet-4-5", MODEL_EFFORT_NONE, PLAIN},
        {"claude-3-5-haiku-latest", MODEL_EFFORT_HIGH, PLAIN},
        /* Models of others who imitate the API. */
        {"kimi-k3", MODEL_EFFORT_DEFAULT, PLAIN},
        {"kimi-k3", MODEL_EFFORT_HIGH, EFFORT("high")},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char json[1000];
        struct model_ask ask = plain(rows[i].model, rows[i].effort);
        (void) snprintf(json, sizeof(json),
                        "{'model':'%s',%s,'messages':[{'role':'user','content':"
                        "[{'type':'text','text':'Hi'" MARK "}]}]}",
                        rows[i].model, rows[i].settings);
        expect(&dialect_anthropic, &ask, json);
    }
}

static void test_chat(void **state)
{
    (void) state;
    struct model_ask ask = whole("llama3");
    expect(&dialect_chat, &ask,
           "{'model':'llama3','stream':true,'stream_options':{'include_usage':true},"
           "'messages':[{'role':'system','content':'Be brief.'},"
           "{'role':'user','content':[{'type':'text','text':'Look \\'here\\''},"
           "{'type':'image_url','image_url':{'url':'data:image/png;base64,aW1n'}},"
           "{'type':'text','text':'<resource uri=\\'file:///a\\'>\\nA\\n</resource>'}]},"
           "{'role':'assistant','content':'I read.','tool_calls':["
           "{'id':'c1','type':'function','function':{'name':'read',"
           "'arguments':'{\\'path\\':\\'a\\'}'}},"
           "{'id':'c2','type':'function','function':{'name':'run',"
           "'arguments':'{\\'raw_arguments\\':\\'{broken\\'}'}}]},"
           "{'role':'tool','tool_call_id':'c1','content':'A'},"
           "{'role':'tool','tool_call_id':'c2','content':'Error: no'},"
           "{'role':'user','content':'go on'}],"
           "'tools':[{'type':'function','function':{'name':'read','description':'Reads.',"
           "'parameters':{'type':'object','properties':{}}}}]}");
    ask = plain("llama3", MODEL_EFFORT_DEFAULT);
    expect(&dialect_chat, &ask,
           "{'model':'llama3','stream':true,'stream_options':{'include_usage':true},"
           "'max_tokens':100,'temperature':0.5,'messages':[{'role':'user','content':'Hi'}]}");
    ask = plain("openai/gpt-5", MODEL_EFFORT_NONE);
    expect(&dialect_chat, &ask,
           "{'model':'openai/gpt-5','stream':true,'stream_options':{'include_usage':true},"
           "'max_completion_tokens':8292,'reasoning_effort':'minimal',"
           "'messages':[{'role':'user','content':'Hi'}]}");
}

/* Whether the request by that API has this effort; NULL: it names none. */
static void check_effort(const struct model_dialect *dialect, const char *model,
                         enum model_effort effort, bool calls, const char *wanted)
{
    struct acp_buf body;
    struct acp_json_writer w;
    struct model_ask ask = plain(model, effort);
    bool chat = dialect == &dialect_chat;
    ask.tools = tools;
    ask.tool_count = calls ? 1 : 0;
    acp_buf_init(&body, 1 << 20);
    acp_json_writer_init(&w, &body);
    dialect->write(&ask, &w);
    struct acp_str text = acp_buf_view(&body);
    struct acp_raw found =
        pick(acp_raw_n(text.ptr, text.len), chat ? "reasoning_effort" : "reasoning.effort");
    bool right = wanted ? pick_is(found, "", wanted) : !found.ptr;
    if (!right)
        fail_msg("%s by %s: %.*s, not %s", model, dialect->name, (int) found.len,
                 found.len ? found.ptr : "", wanted ? wanted : "(none)");
    acp_buf_finish(&body);
}

static void test_openai_effort(void **state)
{
    (void) state;
    static const struct {
        const char *model;
        enum model_effort effort;
        const char *responses;
        const char *chat;
        const char *chat_with_tools;
    } rows[] = {
        {"o3", MODEL_EFFORT_NONE, "low", "low", "low"},
        {"gpt-4o", MODEL_EFFORT_HIGH, NULL, NULL, NULL},
        {"gpt-5", MODEL_EFFORT_NONE, "minimal", "minimal", "minimal"},
        {"gpt-5-mini", MODEL_EFFORT_HIGH, "high", "high", "high"},
        {"gpt-5-chat-latest", MODEL_EFFORT_HIGH, NULL, NULL, NULL},
        {"gpt-5-pro", MODEL_EFFORT_LOW, "high", "high", "high"},
        {"gpt-5.1", MODEL_EFFORT_NONE, "none", "none", "none"},
        {"gpt-5.1-codex", MODEL_EFFORT_NONE, "low", "low", "low"},
        {"gpt-5.5", MODEL_EFFORT_MEDIUM, "medium", "medium", "none"},
        {"gpt-5.6-sol", MODEL_EFFORT_DEFAULT, NULL, NULL, "none"},
        {"openai/gpt-5.5", MODEL_EFFORT_MEDIUM, "medium", "medium", "medium"},
        {"gpt-oss:20b", MODEL_EFFORT_HIGH, NULL, "high", "high"},
        {"qwen3", MODEL_EFFORT_HIGH, NULL, "high", "high"},
        {"o3", MODEL_EFFORT_MAX, "high", "high", "high"},
        {"gpt-5", MODEL_EFFORT_XHIGH, "high", "high", "high"},
        {"gpt-5.1-codex-max", MODEL_EFFORT_MAX, "xhigh", "xhigh", "xhigh"},
        {"gpt-5.2", MODEL_EFFORT_MAX, "xhigh", "xhigh", "xhigh"},
        {"gpt-5.2-pro", MODEL_EFFORT_LOW, "medium", "medium", "medium"},
        {"gpt-5.3-codex", MODEL_EFFORT_NONE, "none", "none", "none"},
        {"gpt-5.6", MODEL_EFFORT_MAX, "max", "max", "none"},
        {"gpt-6", MODEL_EFFORT_MAX, "max", "max", "none"},
        {"gpt-oss:20b", MODEL_EFFORT_MAX, NULL, "high", "high"},
        {"deepseek-v4-pro", MODEL_EFFORT_MAX, NULL, "max", "max"},
        {"deepseek-v4-pro", MODEL_EFFORT_NONE, NULL, NULL, NULL},
        {"mistral-large-latest", MODEL_EFFORT_HIGH, NULL, NULL, NULL},
        {"llama3", MODEL_EFFORT_HIGH, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_effort(&dialect_responses, rows[i].model, rows[i].effort, true, rows[i].responses);
        check_effort(&dialect_chat, rows[i].model, rows[i].effort, false, rows[i].chat);
        check_effort(&dialect_chat, rows[i].model, rows[i].effort, true, rows[i].chat_with_tools);
    }
}

/* What the facts of a model say about its efforts counts more than its name. */
static void test_known_efforts(void **state)
{
    (void) state;
    enum {
        NONE = 1 << MODEL_EFFORT_NONE,
        LOW = 1 << MODEL_EFFORT_LOW,
        HIGH = 1 << MODEL_EFFORT_HIGH,
        MAX = 1 << MODEL_EFFORT_MAX,
    };
    static const struct {
        const struct model_dialect *dialect;
        const char *model;
        enum model_thinking thinking;
        unsigned efforts;
        enum model_effort effort;
        const char *has;
        const char *has_not;
    } rows[] = {
        {&dialect_responses, "gpt-6", 0, LOW | HIGH, MODEL_EFFORT_NONE, "\"effort\":\"low\"", NULL},
        {&dialect_responses, "gpt-5", 0, LOW | MAX, MODEL_EFFORT_MAX, "\"effort\":\"max\"", NULL},
        {&dialect_responses, "gpt-5.5", 0, LOW, MODEL_EFFORT_DEFAULT, NULL, "\"effort\""},
        {&dialect_chat, "qwen3", 0, HIGH | MAX, MODEL_EFFORT_LOW, "_effort\":\"high\"", NULL},
        {&dialect_chat, "qwen3", 0, NONE | HIGH, MODEL_EFFORT_LOW, "_effort\":\"high\"", NULL},
        {&dialect_chat, "deepseek-v4", 0, NONE | MAX, MODEL_EFFORT_NONE, "\"disabled\"", "_effort"},
        {&dialect_chat, "llama3", 0, LOW, MODEL_EFFORT_HIGH, "_effort\":\"low\"", NULL},
        {&dialect_gemini, "gemini-3", 0, LOW, MODEL_EFFORT_HIGH, "thinkingLevel\":\"low\"", NULL},
        {&dialect_anthropic, "claude-opus-5", 0, LOW | HIGH, MODEL_EFFORT_MAX,
         "\"effort\":\"high\"", NULL},
        {&dialect_anthropic, "claude-opus-5", MODEL_THINKING_BUDGET, 0, MODEL_EFFORT_LOW,
         "\"budget_tokens\":2048", "adaptive"},
        {&dialect_anthropic, "claude-opus-5", MODEL_THINKING_NONE, 0, MODEL_EFFORT_LOW, NULL,
         "\"thinking\""},
        {&dialect_anthropic, "other", MODEL_THINKING_ADAPTIVE, 0, MODEL_EFFORT_DEFAULT, "adaptive",
         NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct model_part part = {.kind = MODEL_TEXT, .text = ACP_STR("Hi")};
        struct model_message message = {MODEL_USER, &part, 1};
        struct model_ask ask = {.model = acp_str_from(rows[i].model),
                                .messages = &message,
                                .message_count = 1,
                                .thinking = rows[i].thinking,
                                .efforts = rows[i].efforts,
                                .effort = rows[i].effort};
        struct acp_buf body;
        struct acp_json_writer w;
        acp_buf_init(&body, 1 << 20);
        acp_json_writer_init(&w, &body);
        rows[i].dialect->write(&ask, &w);
        assert_int_equal(acp_buf_append(&body, "", 1), 0);
        const char *text = acp_buf_view(&body).ptr;
        CHECK_ROW(!rows[i].has || strstr(text, rows[i].has), i, "%s", text);
        CHECK_ROW(!rows[i].has_not || !strstr(text, rows[i].has_not), i, "%s", text);
        acp_buf_finish(&body);
    }
}

static void test_chat_audio(void **state)
{
    (void) state;
    struct model_part part = {
        .kind = MODEL_AUDIO, .mime = ACP_STR("audio/mpeg"), .data = ACP_STR("bXAz")};
    struct model_message message = {MODEL_USER, &part, 1};
    struct model_ask ask = {.model = ACP_STR("m"), .messages = &message, .message_count = 1};
    expect(&dialect_chat, &ask,
           "{'model':'m','stream':true,'stream_options':{'include_usage':true},"
           "'messages':[{'role':'user','content':[{'type':'input_audio',"
           "'input_audio':{'data':'bXAz','format':'mp3'}}]}]}");
}

static void test_responses(void **state)
{
    (void) state;
    struct model_ask ask = whole("gpt-4.1");
    expect(&dialect_responses, &ask,
           "{'model':'gpt-4.1','stream':true,'store':false,'instructions':'Be brief.',"
           "'input':[{'type':'message','role':'user','content':["
           "{'type':'input_text','text':'Look \\'here\\''},"
           "{'type':'input_image','image_url':'data:image/png;base64,aW1n'},"
           "{'type':'input_text','text':'<resource uri=\\'file:///a\\'>\\nA\\n</resource>'}]},"
           "{'type':'reasoning','id':'rs'},"
           "{'type':'message','role':'assistant','content':["
           "{'type':'output_text','text':'I read.'}]},"
           "{'type':'function_call','call_id':'c1','name':'read',"
           "'arguments':'{\\'path\\':\\'a\\'}'},"
           "{'type':'function_call','call_id':'c2','name':'run',"
           "'arguments':'{\\'raw_arguments\\':\\'{broken\\'}'},"
           "{'type':'function_call_output','call_id':'c1','output':'A'},"
           "{'type':'function_call_output','call_id':'c2','output':'Error: no'},"
           "{'type':'message','role':'user','content':[{'type':'input_text','text':'go on'}]}],"
           "'tools':[{'type':'function','name':'read','description':'Reads.',"
           "'parameters':{'type':'object','properties':{}},'strict':false}]}");
    ask = plain("gpt-5.1", MODEL_EFFORT_HIGH);
    expect(&dialect_responses, &ask,
           "{'model':'gpt-5.1','stream':true,'store':false,'max_output_tokens':8292,"
           "'include':['reasoning.encrypted_content'],"
           "'reasoning':{'effort':'high','summary':'auto'},"
           "'input':[{'type':'message','role':'user','content':["
           "{'type':'input_text','text':'Hi'}]}]}");
    ask = plain("gpt-5.1", MODEL_EFFORT_NONE);
    expect(&dialect_responses, &ask,
           "{'model':'gpt-5.1','stream':true,'store':false,'max_output_tokens':8292,"
           "'include':['reasoning.encrypted_content'],'reasoning':{'effort':'none'},"
           "'input':[{'type':'message','role':'user','content':["
           "{'type':'input_text','text':'Hi'}]}]}");
}

static void test_gemini(void **state)
{
    (void) state;
    struct model_ask ask = whole("gemini-2.5-flash");
    expect(&dialect_gemini, &ask,
           "{'systemInstruction':{'parts':[{'text':'Be brief.'}]},"
           "'contents':[{'role':'user','parts':[{'text':'Look \\'here\\''},"
           "{'inlineData':{'mimeType':'image/png','data':'aW1n'}},"
           "{'text':'<resource uri=\\'file:///a\\'>\\nA\\n</resource>'}]},"
           "{'role':'model','parts':[{'text':'I read.'},"
           "{'functionCall':{'id':'c1','name':'read','args':{'path':'a'}},'thoughtSignature':'ts'},"
           "{'functionCall':{'id':'c2','name':'run',"
           "'args':{'raw_arguments':'{broken'}}}]},"
           "{'role':'user','parts':["
           "{'functionResponse':{'id':'c1','name':'read','response':{'output':'A'}}},"
           "{'functionResponse':{'id':'c2','name':'run','response':{'error':'no'}}},"
           "{'text':'go on'}]}],"
           "'tools':[{'functionDeclarations':[{'name':'read','description':'Reads.',"
           "'parametersJsonSchema':{'type':'object','properties':{}}}]}],"
           "'generationConfig':{'thinkingConfig':{'includeThoughts':true}}}");
}

static void test_gemini_thinking(void **state)
{
    (void) state;
    static const struct {
        const char *model;
        enum model_effort effort;
        const char *thinking; /* with ! in front: it always thinks, and gets room for that */
    } rows[] = {
        {"gemini-2.0-flash", MODEL_EFFORT_HIGH, ""},
        {"gemini-2.5-flash", MODEL_EFFORT_LOW,
         ",'thinkingConfig':{'includeThoughts':true,'thinkingBudget':2048}"},
        {"gemini-2.5-flash", MODEL_EFFORT_NONE, ",'thinkingConfig':{'thinkingBudget':0}"},
        {"gemini-2.5-pro", MODEL_EFFORT_NONE,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingBudget':128}"},
        {"gemini-3-pro-preview", MODEL_EFFORT_HIGH,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'high'}"},
        {"gemini-3-pro-preview", MODEL_EFFORT_NONE,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'low'}"},
        {"gemini-3.5-flash", MODEL_EFFORT_NONE,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'minimal'}"},
        {"gemini-3.8-flash", MODEL_EFFORT_NONE,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'low'}"},
        {"gemini-flash-latest", MODEL_EFFORT_DEFAULT,
         "!,'thinkingConfig':{'includeThoughts':true}"},
        {"gemini-flash-latest", MODEL_EFFORT_MEDIUM,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'medium'}"},
        {"gemini-flash-latest", MODEL_EFFORT_NONE,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'low'}"},
        {"gemini-2.5-flash", MODEL_EFFORT_MAX,
         ",'thinkingConfig':{'includeThoughts':true,'thinkingBudget':24576}"},
        {"gemini-2.5-pro", MODEL_EFFORT_MAX,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingBudget':32768}"},
        {"gemini-3-pro-preview", MODEL_EFFORT_MEDIUM,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'high'}"},
        {"gemini-3.1-pro-preview", MODEL_EFFORT_MEDIUM,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'medium'}"},
        {"gemini-3.5-flash", MODEL_EFFORT_XHIGH,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'high'}"},
        {"gemini-pro-latest", MODEL_EFFORT_HIGH,
         "!,'thinkingConfig':{'includeThoughts':true,'thinkingLevel':'high'}"},
        {"gemini-1.5-pro-latest", MODEL_EFFORT_HIGH, ""},
        {"gemini-exp-1206", MODEL_EFFORT_HIGH, ""},
        {"gemini-latest", MODEL_EFFORT_HIGH, ""},
        {"gemma-3", MODEL_EFFORT_HIGH, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char json[600];
        struct model_ask ask = plain(rows[i].model, rows[i].effort);
        (void) snprintf(json, sizeof(json),
                        "{'contents':[{'role':'user','parts':[{'text':'Hi'}]}],"
                        "'generationConfig':{'maxOutputTokens':%s,'temperature':0.5%s}}",
                        *rows[i].thinking == '!' ? "8292" : "100",
                        rows[i].thinking + (*rows[i].thinking == '!'));
        expect(&dialect_gemini, &ask, json);
    }
}

/* Calls that another service has made, for a model that wants a signature. */
static void test_gemini_stand_in(void **state)
{
    (void) state;
    struct model_part calls[] = {
        {.kind = MODEL_CALL, .id = ACP_STR("acp_call_1_1"), .name = ACP_STR("a")},
        {.kind = MODEL_CALL, .id = ACP_STR("toolu_2"), .name = ACP_STR("b")},
    };
    struct model_part results[] = {
        {.kind = MODEL_RESULT, .id = ACP_STR("acp_call_1_1"), .name = ACP_STR("a")},
        {.kind = MODEL_RESULT, .id = ACP_STR("toolu_2"), .name = ACP_STR("b")},
    };
    struct model_message talk[] = {{MODEL_ASSISTANT, calls, 2}, {MODEL_USER, results, 2}};
    struct model_ask ask = {.model = ACP_STR("gemini-3-pro"), .messages = talk, .message_count = 2};
    expect(&dialect_gemini, &ask,
           "{'contents':[{'role':'model','parts':["
           "{'functionCall':{'name':'a','args':{}},"
           "'thoughtSignature':'skip_thought_signature_validator'},"
           "{'functionCall':{'id':'toolu_2','name':'b','args':{}}}]},"
           "{'role':'user','parts':["
           "{'functionResponse':{'name':'a','response':{'output':''}}},"
           "{'functionResponse':{'id':'toolu_2','name':'b','response':{'output':''}}}]}],"
           "'generationConfig':{'thinkingConfig':{'includeThoughts':true}}}");
}

static void test_paths(void **state)
{
    (void) state;
    static const struct {
        const struct model_dialect *dialect;
        const char *path;
    } rows[] = {
        {&dialect_anthropic, "/v1/messages"},
        {&dialect_chat, "/chat/completions"},
        {&dialect_responses, "/responses"},
        {&dialect_gemini, "/v1beta/models/a.b-c%2F..%3Fx:streamGenerateContent?alt=sse"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_buf url;
        acp_buf_init(&url, 1000);
        assert_int_equal(rows[i].dialect->path(acp_str_from("a.b-c/..?x"), &url), 0);
        assert_string_equal(test_cstr(&url), rows[i].path);
        acp_buf_finish(&url);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anthropic),
        cmocka_unit_test(test_anthropic_thinking),
        cmocka_unit_test(test_chat),
        cmocka_unit_test(test_chat_audio),
        cmocka_unit_test(test_openai_effort),
        cmocka_unit_test(test_known_efforts),
        cmocka_unit_test(test_responses),
        cmocka_unit_test(test_gemini),
        cmocka_unit_test(test_gemini_thinking),
        cmocka_unit_test(test_gemini_stand_in),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
