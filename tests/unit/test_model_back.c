/* What a model has said goes back to it as its service wants it, and to no other. */
#include "helpers.h"
#include "model_log.h"

/* With " for ', as the tables are written. */
static void unquote(struct acp_buf *text)
{
    for (size_t i = 0; i < text->len; i++) {
        char *c = &text->data[text->start + i];
        *c = (char) (*c == '\'' ? '"' : *c == '"' ? '\'' : *c);
    }
}

static const struct stream_sink sink = {model_log_text, model_log_thought, model_log_begun,
                                        model_log_call, model_log_usage,   model_log_dropped};

/* An answer that was read, and the request that it goes back with. */
struct echo {
    struct model_stream stream;
    struct acp_buf log;
    struct acp_buf body;
};

/* events: one in each line, with ' for ". */
static void hear(struct echo *e, const struct model_dialect *dialect, const char *origin,
                 const char *events)
{
    struct acp_buf text;
    acp_buf_init(&e->log, 1 << 20);
    acp_buf_init(&e->body, 1 << 20);
    acp_buf_init(&text, 1 << 20);
    assert_int_equal(acp_buf_append_str(&text, acp_str_from(events)), 0);
    unquote(&text);
    stream_init(&e->stream, &sink, &e->log);
    e->stream.origin = acp_str_from(origin);
    struct acp_str rest = acp_buf_view(&text);
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t) (end - rest.ptr) : rest.len;
        dialect_event(dialect, &e->stream, acp_str_n(rest.ptr, n));
        n += end != NULL;
        rest = acp_str_n(rest.ptr + n, rest.len - n);
    }
    assert_int_equal(e->stream.err, 0);
    acp_buf_finish(&text);
}

static const struct model_part hello = {.kind = MODEL_TEXT, .text = ACP_STR("Hi")};
static const struct model_message greeting = {MODEL_USER, &hello, 1};

/* The request with the answer in it, as text with ' for ". */
static const char *say(struct echo *e, const struct model_dialect *dialect, const char *model,
                       const char *origin)
{
    const struct model_part *parts;
    size_t count;
    struct model_part results[8];
    size_t result_count = 0;
    struct acp_json_writer w;
    assert_int_equal(stream_parts(&e->stream, &parts, &count), 0);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].kind == MODEL_CALL)
            results[result_count++] = (struct model_part){.kind = MODEL_RESULT,
                                                          .id = parts[i].id,
                                                          .name = parts[i].name,
                                                          .text = ACP_STR("ok")};
    }
    struct model_message talk[] = {
        greeting, {MODEL_ASSISTANT, parts, count}, {MODEL_USER, results, result_count}};
    struct model_ask ask = {.model = acp_str_from(model),
                            .origin = acp_str_from(origin),
                            .messages = talk,
                            .message_count = result_count ? 3 : 2,
                            .session = ACP_STR("sess_1")};
    acp_buf_clear(&e->body);
    acp_json_writer_init(&w, &e->body);
    dialect->write(&ask, &w);
    assert_int_equal(w.err, 0);
    unquote(&e->body);
    return test_cstr(&e->body);
}

static void forget(struct echo *e)
{
    stream_finish(&e->stream);
    acp_buf_finish(&e->log);
    acp_buf_finish(&e->body);
}

/* ---- Seals ----------------------------------------------------------------------------------- */

#define CHAT_CALL                                                                                  \
    "{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'c','function':{'name':'r',"              \
    "'arguments':'{}'}}]}}]}\n{'choices':[{'delta':{},'finish_reason':'tool_calls'}]}"

static void test_seals(void **state)
{
    (void) state;
    static const struct {
        const struct model_dialect *dialect;
        const char *model;
        const char *events;
        const char *back;   /* to the same model */
        const char *absent; /* to another one, or to the same by another service */
    } rows[] = {
        {&dialect_anthropic, "claude-opus-5",
         "{'type':'content_block_start','index':0,'content_block':{'type':'thinking',"
         "'thinking':'','signature':''}}\n"
         "{'type':'content_block_delta','index':0,'delta':{'type':'thinking_delta',"
         "'thinking':'hm'}}\n"
         "{'type':'content_block_delta','index':0,'delta':{'type':'signature_delta',"
         "'signature':'SEAL'}}\n{'type':'content_block_stop','index':0}\n"
         "{'type':'content_block_start','index':1,'content_block':{'type':'redacted_thinking',"
         "'data':'SEAL'}}\n{'type':'content_block_stop','index':1}\n"
         "{'type':'content_block_start','index':2,'content_block':{'type':'text','text':'Yes'}}\n"
         "{'type':'message_delta','delta':{'stop_reason':'end_turn'}}",
         "'content':[{'type':'thinking','thinking':'hm','signature':'SEAL'},"
         "{'type':'redacted_thinking','data':'SEAL'},{'type':'text','text':'Yes'}]",
         "SEAL"},
        {&dialect_responses, "gpt-5.6",
         "{'type':'response.output_item.added','output_index':0,'item':{'type':'reasoning'}}\n"
         "{'type':'response.output_item.done','output_index':0,'item':{'type':'reasoning',"
         "'id':'rs_1','summary':[],'encrypted_content':'SEAL'}}\n"
         "{'type':'response.output_item.added','output_index':1,'item':{'type':'message'}}\n"
         "{'type':'response.output_text.delta','delta':'I look.'}\n"
         "{'type':'response.output_item.done','output_index':1,'item':{'type':'message',"
         "'phase':'commentary'}}\n{'type':'response.completed','response':{}}",
         "{'type':'reasoning','id':'rs_1','summary':[],'encrypted_content':'SEAL'},"
         "{'type':'message','role':'assistant','phase':'commentary','content':["
         "{'type':'output_text','text':'I look.'}]}",
         "SEAL"},
        {&dialect_chat, "deepseek-v4-pro",
         "{'choices':[{'delta':{'reasoning_content':'I '}}]}\n"
         "{'choices':[{'delta':{'reasoning_content':'SEAL'}}]}\n" CHAT_CALL,
         "'reasoning_content':'I SEAL'}", "SEAL"},
        {&dialect_chat, "some/model",
         "{'choices':[{'delta':{'reasoning':'I ','reasoning_details':[{'type':'reasoning.text',"
         "'index':0,'text':'I ','format':'f'}]}}]}\n"
         "{'choices':[{'delta':{'reasoning':'am','reasoning_details':[{'type':'reasoning.text',"
         "'index':0,'text':'am','signature':'SEAL'}]}}]}\n"
         "{'choices':[{'delta':{'reasoning_details':[{'type':'reasoning.encrypted','index':1,"
         "'data':'SE'},{'type':'reasoning.encrypted','index':1,'data':'AL'}]}}]}\n"
         "{'choices':[{'delta':{'content':'Yes'},'finish_reason':'stop'}]}",
         "'content':'Yes','reasoning_details':[{'type':'reasoning.text','format':'f','index':0,"
         "'signature':'SEAL','text':'I am'},"
         "{'type':'reasoning.encrypted','index':1,'data':'SEAL'}]}",
         "SEAL"},
        {&dialect_gemini, "gemini-3-pro",
         "{'candidates':[{'content':{'parts':[{'text':'hm','thought':true},{'text':'I '},"
         "{'text':'look','thoughtSignature':'SEAL'},{'functionCall':{'name':'r','args':{}},"
         "'thoughtSignature':'SEAL'},{'functionCall':{'name':'s','args':{}}}]}}]}\n"
         "{'candidates':[{'finishReason':'STOP'}]}",
         "[{'text':'I '},{'text':'look','thoughtSignature':'SEAL'},"
         "{'functionCall':{'name':'r','args':{}},'thoughtSignature':'SEAL'},"
         "{'functionCall':{'name':'s','args':{}}}]",
         "SEAL"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct echo e;
        hear(&e, rows[i].dialect, "here this", rows[i].events);
        const char *same = say(&e, rows[i].dialect, rows[i].model, "here this");
        CHECK_ROW(strstr(same, rows[i].back), i, "%s", same);
        static const char *const others[] = {"here that", "there this"};
        for (size_t k = 0; k < COUNT(others); k++) {
            const char *other = say(&e, rows[i].dialect, rows[i].model, others[k]);
            CHECK_ROW(!strstr(other, rows[i].absent), i, "%s", other);
        }
        /* Nor when it is stripped, though the origin is right. */
        for (size_t k = 0; k < e.stream.count; k++)
            (void) model_strip_sealed(&e.stream.parts[k].part, 1);
        const char *stripped = say(&e, rows[i].dialect, rows[i].model, "here this");
        CHECK_ROW(!strstr(stripped, rows[i].absent), i, "%s", stripped);
        forget(&e);
    }
}

/* DeepSeek wants thoughts with every call, also with one that has none. */
static void test_deepseek(void **state)
{
    (void) state;
    struct echo e;
    hear(&e, &dialect_chat, "o", CHAT_CALL);
    assert_non_null(
        strstr(say(&e, &dialect_chat, "deepseek-v4-pro", "o"), "'reasoning_content':''"));
    assert_null(strstr(say(&e, &dialect_chat, "qwen3", "o"), "reasoning_content"));
    forget(&e);
    /* Without calls its older models refuse them. */
    hear(&e, &dialect_chat, "o",
         "{'choices':[{'delta':{'reasoning_content':'hm','content':'x'},'finish_reason':'stop'}]}");
    assert_null(strstr(say(&e, &dialect_chat, "deepseek-reasoner", "o"), "reasoning_content"));
    forget(&e);
}

/* With a budget the thoughts must be there that the calls came with, or there are none. */
static void test_budget_after_switch(void **state)
{
    (void) state;
    static const struct model_part call[] = {
        {.kind = MODEL_THOUGHT, .sealed = {ACP_STR("o"), {"\"s\"", 3}}},
        {.kind = MODEL_CALL, .id = ACP_STR("c"), .name = ACP_STR("r")}};
    static const struct model_part result = {
        .kind = MODEL_RESULT, .id = ACP_STR("c"), .name = ACP_STR("r"), .text = ACP_STR("x")};
    const struct model_message talk[] = {
        greeting, {MODEL_ASSISTANT, call, 2}, {MODEL_USER, &result, 1}};
    for (int own = 0; own < 2; own++) {
        struct model_ask ask = {.model = ACP_STR("claude-sonnet-4-5"),
                                .origin = acp_str_from(own ? "o" : "other"),
                                .effort = MODEL_EFFORT_LOW,
                                .messages = talk,
                                .message_count = 3};
        struct acp_buf body;
        struct acp_json_writer w;
        acp_buf_init(&body, 1 << 20);
        acp_json_writer_init(&w, &body);
        dialect_anthropic.write(&ask, &w);
        assert_int_equal(strstr(test_cstr(&body), "budget_tokens") != NULL, own);
        acp_buf_finish(&body);
    }
}

/* ---- Names and roles ------------------------------------------------------------------------- */

static void check_body(const struct model_dialect *dialect, const char *model,
                       const struct model_message *talk, size_t count, const char *expected,
                       size_t row)
{
    struct model_ask ask = {.model = acp_str_from(model), .messages = talk, .message_count = count};
    struct acp_buf body;
    struct acp_json_writer w;
    acp_buf_init(&body, 1 << 20);
    acp_json_writer_init(&w, &body);
    dialect->write(&ask, &w);
    unquote(&body);
    CHECK_ROW(strstr(test_cstr(&body), expected), row, "%s", test_cstr(&body));
    acp_buf_finish(&body);
}

/* Calls of one service, told to another. */
static void test_names(void **state)
{
    (void) state;
    static const struct {
        const struct model_dialect *dialect;
        const char *model;
        const char *call;
        const char *result;
    } rows[] = {
        {&dialect_anthropic, "claude-opus-5", "'id':'call_5b4c7fc9f36ea68e','name':'read_file_'",
         "'tool_use_id':'call_5b4c7fc9f36ea68e'"},
        {&dialect_responses, "gpt-5.6", "'call_id':'call_5b4c7fc9f36ea68e','name':'read_file_'",
         "'call_id':'call_5b4c7fc9f36ea68e'"},
        {&dialect_chat, "gpt-5.6",
         "'id':'functions.read:0','type':'function',"
         "'function':{'name':'read_file_'",
         "'tool_call_id':'functions.read:0'"},
        {&dialect_chat, "mistral-large", "'id':'9f36ea68e'", "'tool_call_id':'9f36ea68e'"},
        {&dialect_gemini, "gemini-3-pro", "'id':'functions.read:0','name':'read_file_'",
         "'id':'functions.read:0','name':'read_file_'"},
    };
    struct model_part call = {
        .kind = MODEL_CALL, .id = ACP_STR("functions.read:0"), .name = ACP_STR("read/file\n")};
    struct model_part result = {.kind = MODEL_RESULT, .id = call.id, .name = call.name};
    struct model_message talk[] = {greeting, {MODEL_ASSISTANT, &call, 1}, {MODEL_USER, &result, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        check_body(rows[i].dialect, rows[i].model, talk, 3, rows[i].call, i);
        check_body(rows[i].dialect, rows[i].model, talk, 3, rows[i].result, i);
    }
    /* What is taken stays as it is; nothing becomes something. */
    call.id = acp_str_from("toolu_1");
    call.name = acp_str_from("");
    check_body(&dialect_anthropic, "claude-opus-5", talk, 2, "'id':'toolu_1','name':'unnamed'", 10);
    call.name = acp_str_from("1st");
    check_body(&dialect_gemini, "gemini-3-pro", talk, 2, "'name':'_1st'", 11);
    check_body(&dialect_anthropic, "claude-opus-5", talk, 2, "'name':'1st'", 12);
}

/* Prompts that got no answer, answers of which nothing can be sent. */
static void test_roles_alternate(void **state)
{
    (void) state;
    static const struct model_part thought = {.kind = MODEL_THOUGHT, .text = ACP_STR("hm")};
    static const struct model_part again = {.kind = MODEL_TEXT, .text = ACP_STR("Ho")};
    const struct model_message talk[] = {
        greeting, {MODEL_ASSISTANT, &thought, 1}, {MODEL_USER, &again, 1}};
    check_body(&dialect_anthropic, "claude-opus-5", talk, 3,
               "'messages':[{'role':'user','content':[{'type':'text','text':'Hi'},"
               "{'type':'text','text':'Ho','cache_control':{'type':'ephemeral'}}]}]}",
               0);
    check_body(&dialect_chat, "m", talk, 3,
               "'messages':[{'role':'user','content':[{'type':'text','text':'Hi'},"
               "{'type':'text','text':'Ho'}]}]",
               1);
    check_body(&dialect_gemini, "gemini-3-pro", talk, 3,
               "'contents':[{'role':'user','parts':[{'text':'Hi'},{'text':'Ho'}]}]", 2);
}

/* ---- Caches and limits ----------------------------------------------------------------------- */

static void test_cache_key(void **state)
{
    (void) state;
    struct echo e;
    hear(&e, &dialect_chat, "o", "{'choices':[{'delta':{'content':'x'},'finish_reason':'stop'}]}");
    assert_non_null(
        strstr(say(&e, &dialect_responses, "gpt-5.6", "o"), "'prompt_cache_key':'sess_1'"));
    assert_non_null(strstr(say(&e, &dialect_chat, "gpt-5.6", "o"), "'prompt_cache_key':'sess_1'"));
    assert_null(strstr(say(&e, &dialect_chat, "mistral-large", "o"), "prompt_cache_key"));
    forget(&e);
}

/* What the service had kept, and what it keeps from now on. */
static void test_cache_usage(void **state)
{
    (void) state;
    static const struct {
        const struct model_dialect *dialect;
        const char *event;
        struct model_usage usage;
    } rows[] = {
        {&dialect_anthropic,
         "{'type':'message_start','message':{'usage':{'input_tokens':1,"
         "'cache_read_input_tokens':20,'cache_creation_input_tokens':300}}}",
         {.input = 321, .cached = 20, .written = 300}},
        {&dialect_responses,
         "{'type':'response.completed','response':{'usage':{'input_tokens':321,'output_tokens':4,"
         "'input_tokens_details':{'cached_tokens':20,'cache_write_tokens':300}}}}",
         {.input = 321, .cached = 20, .written = 300, .output = 4}},
        {&dialect_chat,
         "{'choices':[],'usage':{'prompt_tokens':321,'completion_tokens':4,"
         "'prompt_tokens_details':{'cached_tokens':20,'cache_write_tokens':300}}}",
         {.input = 321, .cached = 20, .written = 300, .output = 4}},
        {&dialect_chat,
         "{'choices':[],'usage':{'prompt_tokens':321,'completion_tokens':4,"
         "'prompt_cache_hit_tokens':20,'prompt_cache_miss_tokens':301}}",
         {.input = 321, .cached = 20, .output = 4}},
        {&dialect_gemini,
         "{'usageMetadata':{'promptTokenCount':321,'cachedContentTokenCount':20,"
         "'candidatesTokenCount':3,'thoughtsTokenCount':1}}",
         {.input = 321, .cached = 20, .output = 4}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct echo e;
        hear(&e, rows[i].dialect, "o", rows[i].event);
        const struct model_usage *u = &e.stream.usage;
        CHECK_ROW(u->input == rows[i].usage.input && u->cached == rows[i].usage.cached &&
                      u->written == rows[i].usage.written && u->output == rows[i].usage.output,
                  i, "%llu %llu %llu", (unsigned long long) u->input,
                  (unsigned long long) u->cached, (unsigned long long) u->written);
        forget(&e);
    }
}

static void test_limits(void **state)
{
    (void) state;
    static const struct {
        const char *model;
        uint64_t max_output;
    } rows[] = {
        {"claude-opus-5", 128000},
        {"claude-sonnet-4-6", 64000},
        {"claude-opus-4-6", 128000},
        {"claude-opus-4-1", 32000},
        {"claude-3-haiku-1", 4096},
        {"claude-haiku-5-5", 128000},
        {"gpt-5.6", 128000},
        {"openai/gpt-4o-mini", 16384},
        {"gpt-oss:20b", 131072},
        {"gemini-3.8-flash", 65536},
        {"gemini-2.0-flash", 8192},
        {"qwen3", 0},
        {"anthropic/claude-3.5-sonnet", 8192},
        {"claude-9", 128000},
        {"claude-haiku-6", 64000},
        {"claude-opus-4-5-20251101", 64000},
        {"claude-opus-4-20250514", 32000},
        {"us.anthropic.claude-opus-4-1-20250805-v1:0", 32000},
        {"us.anthropic.claude-opus-4-6-v1:0", 128000},
        {"claude-3-7-sonnet-latest", 64000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct model_ask ask = {.model = acp_str_from(rows[i].model)};
        CHECK_ROW(limits_of(&ask).max_output == rows[i].max_output, i, "%llu",
                  (unsigned long long) limits_of(&ask).max_output);
        ask.limits.max_output = 77;
        CHECK_ROW(limits_clamp(&ask, 100) == 77 && limits_clamp(&ask, 10) == 10, i, "%s",
                  rows[i].model);
    }
}

/* The window is full: not the same as an answer that is too long. */
static void test_window_full(void **state)
{
    (void) state;
    static const char *const reasons[] = {"max_tokens", "model_context_window_exceeded"};
    for (size_t i = 0; i < COUNT(reasons); i++) {
        struct echo e;
        char event[200];
        (void) snprintf(event, sizeof(event),
                        "{'type':'message_delta','delta':{'stop_reason':'%s'}}", reasons[i]);
        hear(&e, &dialect_anthropic, "o", event);
        assert_int_equal(stream_final_stop(&e.stream), MODEL_MAX_TOKENS);
        assert_int_equal(e.stream.is_window_full, i == 1);
        forget(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seals),
        cmocka_unit_test(test_deepseek),
        cmocka_unit_test(test_budget_after_switch),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_roles_alternate),
        cmocka_unit_test(test_cache_key),
        cmocka_unit_test(test_cache_usage),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_window_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
