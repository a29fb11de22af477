/*
 * Decoding: messages as real peers send them, what is forgiven and what is not, how a failure says
 * where it is, and what a proxy passes on.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc, so that calls can be counted.
 */
#include "helpers.h"

#include "acp/scan.h"
#include "acp/types.h"
#include "test_memory.h"

enum { ROOM = 4096 };

static struct acp_arena arena;
static char text_of[ROOM]; /* what was decoded last: the structs point into it */

static int set_up(void **state)
{
    (void) state;
    acp_arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    acp_arena_finish(&arena);
    return 0;
}

/* Decodes a text that has ' for ". */
static void decode(acp_type_id type, unsigned mode, const char *text, void *ret)
{
    struct acp_failure failure = {0};
    int err = acp_decode(type, mode, test_quoted(text, text_of, ROOM), &arena, ret, &failure);
    if (err)
        print_error("%s: %s at %zu\n", failure.path, failure.message, failure.offset);
    assert_int_equal(err, 0);
    /* It is filled on failure only, whatever was forgiven on the way. */
    assert_int_equal(failure.err, 0);
    assert_string_equal(failure.path, "");
    assert_string_equal(failure.message, "");
}

static void refuse(acp_type_id type, unsigned mode, const char *text, int err, const char *path,
                   const char *message)
{
    struct acp_failure failure = {0};
    uint64_t room[ACP_NULL_SIZE / sizeof(uint64_t)];
    struct acp_raw json = test_quoted(text, text_of, ROOM);
    int got = acp_decode(type, mode, json, &arena, room, &failure);
    if (got != err || strcmp(failure.path, path) != 0 || strcmp(failure.message, message) != 0)
        print_error("%s\nis %d at '%s': '%s'\n", text, got, failure.path, failure.message);
    assert_int_equal(got, err);
    assert_int_equal(failure.err, err);
    assert_string_equal(failure.path, path);
    assert_string_equal(failure.message, message);
    assert_true(failure.offset <= json.len);
    assert_int_equal(acp_decode(type, mode, json, &arena, room, NULL), err);
}

/* Encodes what was decoded and compares. */
static void gives(acp_type_id type, unsigned mode, const void *value, const char *want)
{
    char text[ROOM];
    struct acp_buf buf;
    struct acp_json_writer w;
    struct acp_failure failure = {0};
    acp_buf_init(&buf, 1 << 20);
    acp_json_writer_init(&w, &buf);
    if (acp_encode(type, mode, value, &w, &failure))
        print_error("%s: %s\n", failure.path, failure.message);
    assert_int_equal(w.err, 0);
    (void) test_quoted(want, text, sizeof(text));
    assert_string_equal(test_cstr(&buf), text);
    acp_buf_finish(&buf);
}

/* ---- As real peers do ----------------------------------------------------------------------- */

static void keys_in_any_order_and_tags_anywhere(void **state)
{
    (void) state;
    static const char *const texts[] = {
        "{'sessionId':'s','update':{'sessionUpdate':'agent_message_chunk','content':"
        "{'type':'text','text':'hi'}}}",
        "{'update':{'content':{'text':'hi','type':'text'},'sessionUpdate':'agent_message_chunk'},"
        "'sessionId':'s'}",
        " { 'update' : { 'content' : { 'text' : 'hi' , 'type' : 'text' } , 'sessionUpdate' : "
        "'agent_message_chunk' } , 'sessionId' : 's' } ",
        "{'update':{'x':[{}],'sessionUpdat\\u0065':'agent_message_chun\\u006b','y':null,'content':"
        "{'typ\\u0065':'te\\u0078t','text':'h\\u0069'}},'sessionId':'\\u0073'}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct acp_session_notification m;
        decode(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, texts[i], &m);
        assert_text_equal(m.session_id, "s");
        assert_int_equal(m.update.is, ACP_SESSION_UPDATE_AGENT_MESSAGE_CHUNK);
        assert_text_equal(m.update.tag, "agent_message_chunk");
        const struct acp_content_block *c = &m.update.agent_message_chunk.content;
        assert_int_equal(c->is, ACP_CONTENT_BLOCK_TEXT);
        assert_text_equal(c->text.text, "hi");
        gives(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m, texts[0]);
    }
}

static void keys_that_nobody_described_are_kept(void **state)
{
    (void) state;
    struct acp_new_session_response m;
    decode(ACP_TYPE_NEW_SESSION_RESPONSE, ACP_V1,
           "{'models':{'availableModels':[{'modelId':'a'}]},'sessionId':'s','x':1,'modes':null}",
           &m);
    assert_text_equal(m.session_id, "s");
    assert_true(acp_is_null(m.modes));
    assert_non_null(m.unknown);
    assert_text_equal(m.unknown->key, "models");
    assert_text_equal(m.unknown->value, "{\"availableModels\":[{\"modelId\":\"a\"}]}");
    assert_text_equal(m.unknown->next->key, "x");
    assert_null(m.unknown->next->next);
    gives(ACP_TYPE_NEW_SESSION_RESPONSE, ACP_V1, &m, "{'sessionId':'s','modes':null}");
    gives(ACP_TYPE_NEW_SESSION_RESPONSE, ACP_V1 | ACP_KEEP_UNKNOWN, &m,
          "{'sessionId':'s','modes':null,'models':{'availableModels':[{'modelId':'a'}]},'x':1}");
}

static void usage_is_known_to_the_unstable_schema_only(void **state)
{
    (void) state;
    static const char text[] =
        "{'stopReason':'end_turn','usage':{'totalTokens':3,'inputTokens':2,'outputTokens':1}}";
    struct acp_prompt_response m;
    decode(ACP_TYPE_PROMPT_RESPONSE, ACP_V1, text, &m);
    assert_null(m.usage);
    assert_text_equal(m.unknown->key, "usage");
    gives(ACP_TYPE_PROMPT_RESPONSE, ACP_V1 | ACP_KEEP_UNKNOWN, &m, text);
    decode(ACP_TYPE_PROMPT_RESPONSE, ACP_V1 | ACP_UNSTABLE, text, &m);
    assert_null(m.unknown);
    assert_int_equal(m.usage->total_tokens, 3);
    gives(ACP_TYPE_PROMPT_RESPONSE, ACP_V1 | ACP_UNSTABLE, &m, text);
}

static void unlisted_updates_are_refused_by_1_and_kept_by_2(void **state)
{
    (void) state;
    static const char text[] =
        "{'sessionId':'s','update':{'x':[1, 2],'sessionUpdate':'_own','sessionId':'no'}}";
    struct acp_update_session_notification m;
    refuse(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, text, ACP_ERR_VARIANT, "update.sessionUpdate",
           "'_own' is not part of this version");
    decode(ACP_TYPE_UPDATE_SESSION_NOTIFICATION, ACP_V2, text, &m);
    assert_int_equal(m.update.is, ACP_SESSION_UPDATE_UNLISTED);
    assert_text_equal(m.update.tag, "_own");
    assert_text_equal(m.update.raw,
                      "{\"x\":[1, 2],\"sessionUpdate\":\"_own\",\"sessionId\":\"no\"}");
    gives(ACP_TYPE_UPDATE_SESSION_NOTIFICATION, ACP_V2, &m, text);
    gives(ACP_TYPE_UPDATE_SESSION_NOTIFICATION, ACP_V2 | ACP_KEEP_UNKNOWN, &m, text);
}

/* qwen-code sends all its skills in one line of 560 KB. */
static void a_line_of_560_kilobytes(void **state)
{
    (void) state;
    enum { COMMANDS = 2000 };
    struct acp_buf buf;
    acp_buf_init(&buf, 1 << 20);
    assert_int_equal(
        acp_buf_printf(&buf, "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{"
                             "\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":"
                             "\"available_commands_update\",\"availableCommands\":["),
        0);
    for (int i = 0; i < COMMANDS; i++)
        assert_int_equal(acp_buf_printf(&buf,
                                        "%s{\"name\":\"command-%d\",\"description\":\"%0240d\\n\","
                                        "\"input\":%s}",
                                        i ? "," : "", i, i, i % 2 ? "null" : "{\"hint\":\"h\"}"),
                         0);
    assert_int_equal(acp_buf_append_str(&buf, acp_str_from("]}}}")), 0);
    assert_true(buf.len > 560000);
    struct acp_scan scan;
    struct acp_session_notification m;
    assert_int_equal(
        acp_scan_message(acp_raw_n(buf.data, buf.len), acp_str_from(NULL), &scan, NULL), 0);
    assert_int_equal(acp_session_notification_decode(ACP_V1, scan.params, &arena, &m, NULL), 0);
    const struct acp_available_command_list *list =
        &m.update.available_commands_update.available_commands;
    assert_int_equal(list->count, COMMANDS);
    assert_text_equal(list->items[1999].name, "command-1999");
    assert_int_equal(list->items[77].description.len, 241);
    assert_true(acp_is_null(list->items[1999].input));
    assert_text_equal(list->items[1998].input->unstructured.hint, "h");
    acp_buf_finish(&buf);
}

static void terminals_and_permissions_that_nobody_announced(void **state)
{
    (void) state;
    struct acp_request_permission_request m;
    decode(
        ACP_TYPE_REQUEST_PERMISSION_REQUEST, ACP_V1,
        "{'sessionId':'s','toolCall':{'toolCallId':'c','title':'Run','kind':'execute','content':["
        "{'type':'terminal','terminalId':'call_1','_meta':{'terminal_info':{'cwd':'/'}}}]},"
        "'options':[{'optionId':'a','name':'Yes','kind':'allow_once'}],'_meta':{'k':1}}",
        &m);
    assert_int_equal(m.tool_call.content.items[0].is, ACP_TOOL_CALL_CONTENT_TERMINAL);
    assert_text_equal(m.tool_call.content.items[0].terminal.meta,
                      "{\"terminal_info\":{\"cwd\":\"/\"}}");
    assert_int_equal(m.options.items[0].kind.is, ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    assert_text_equal(m.meta, "{\"k\":1}");
}

static void choices_take_the_first_form_that_fits(void **state)
{
    (void) state;
    struct acp_cancel_request_notification m;
    decode(ACP_TYPE_CANCEL_REQUEST_NOTIFICATION, ACP_V1, "{'requestId':9223372036854775807}", &m);
    assert_int_equal(m.request_id.is, ACP_REQUEST_ID_NUMBER);
    assert_int_equal(m.request_id.number, INT64_MAX);
    decode(ACP_TYPE_CANCEL_REQUEST_NOTIFICATION, ACP_V1, "{'requestId':'7'}", &m);
    assert_int_equal(m.request_id.is, ACP_REQUEST_ID_STR);
    decode(ACP_TYPE_CANCEL_REQUEST_NOTIFICATION, ACP_V1, "{'requestId':null}", &m);
    assert_int_equal(m.request_id.is, ACP_REQUEST_ID_NULL);

    struct acp_embedded_resource r;
    decode(ACP_TYPE_EMBEDDED_RESOURCE, ACP_V1, "{'resource':{'uri':'u','blob':'b','x':1}}", &r);
    assert_int_equal(r.resource.is, ACP_EMBEDDED_RESOURCE_RESOURCE_BLOB_RESOURCE_CONTENTS);
    assert_text_equal(r.resource.blob_resource_contents.blob, "b");
    gives(ACP_TYPE_EMBEDDED_RESOURCE, ACP_V1 | ACP_KEEP_UNKNOWN, &r,
          "{'resource':{'blob':'b','uri':'u','x':1}}");
    decode(ACP_TYPE_EMBEDDED_RESOURCE, ACP_V1, "{'resource':{'uri':'u','blob':'b','text':'t'}}",
           &r);
    assert_int_equal(r.resource.is, ACP_EMBEDDED_RESOURCE_RESOURCE_TEXT_RESOURCE_CONTENTS);
}

static void a_server_without_a_type_is_stdio_in_version_1(void **state)
{
    (void) state;
    struct acp_new_session_request m;
    decode(ACP_TYPE_NEW_SESSION_REQUEST, ACP_V1,
           "{'cwd':'/','mcpServers':[{'name':'n','command':'c','args':[],'env':[]},"
           "{'type':'http','name':'n','url':'u','headers':[]}]}",
           &m);
    assert_int_equal(m.mcp_servers.items[0].is, ACP_MCP_SERVER_STDIO);
    assert_int_equal(m.mcp_servers.items[1].is, ACP_MCP_SERVER_HTTP);
    assert_true(acp_is_set(m.mcp_servers.items[0].stdio.args.items));
    assert_int_equal(m.mcp_servers.items[0].stdio.args.count, 0);
    refuse(ACP_TYPE_NEW_SESSION_REQUEST, ACP_V2,
           "{'cwd':'/','mcpServers':[{'name':'n','command':'c'}]}", ACP_ERR_MISSING,
           "mcpServers[0].type", "is required but missing");
}

/* ---- Three states, enums, unions ------------------------------------------------------------ */

static void absent_null_and_value_are_read_apart(void **state)
{
    (void) state;
    static const char *const texts[] = {"{}", "{'title':null}", "{'title':''}", "{'title':'x'}"};
    struct acp_session_info_update m;
    decode(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V2, texts[0], &m);
    assert_null(m.title.ptr);
    decode(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V2, texts[1], &m);
    assert_true(acp_is_null(m.title.ptr));
    assert_int_equal(m.title.len, 0);
    decode(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V2, texts[2], &m);
    assert_true(acp_is_set(m.title.ptr));
    for (size_t i = 0; i < COUNT(texts); i++) {
        decode(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V2, texts[i], &m);
        gives(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V2, &m, texts[i]);
    }
    static const char *const patches[] = {
        "{'toolCallId':'c'}",
        "{'toolCallId':'c','name':null,'title':null,'kind':null,'status':null,'content':null,"
        "'locations':null,'rawInput':null,'rawOutput':null,'capabilities':null,'_meta':null}",
        "{'toolCallId':'c','name':'','title':'','kind':'read','status':'pending','content':[],"
        "'locations':[],'rawInput':0,'rawOutput':{},'capabilities':{},'_meta':{}}",
        "{'toolCallId':'c','locations':[{'path':'/','line':null},{'path':'/'}],"
        "'capabilities':{'cancel':null}}",
    };
    for (size_t i = 0; i < COUNT(patches); i++) {
        struct acp_tool_call_update t;
        decode(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2, patches[i], &t);
        gives(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2, &t, patches[i]);
        /* Who does not care reads on as if null were empty. */
        assert_true(t.content.count == 0 && t.title.len == 0);
        if (t.capabilities)
            assert_true(!acp_is_set(t.capabilities->cancel));
    }
}

static void enums_keep_what_is_not_listed(void **state)
{
    (void) state;
    struct acp_tool_call_update m;
    decode(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2,
           "{'toolCallId':'c','kind':'_own','status':'cancelled'}", &m);
    assert_int_equal(m.kind.is, ACP_TOOL_KIND_UNLISTED);
    assert_text_equal(m.kind.text, "_own");
    assert_int_equal(m.status.is, ACP_TOOL_CALL_STATUS_CANCELLED);
    gives(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2, &m,
          "{'toolCallId':'c','kind':'_own','status':'cancelled'}");
    /* Version 1 knows neither; both are forgiven there, as if they were absent. */
    decode(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V1,
           "{'toolCallId':'c','kind':'_own','status':'cancelled'}", &m);
    assert_int_equal(m.kind.is, ACP_TOOL_KIND_ABSENT);
    assert_null(m.kind.text.ptr);
    refuse(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V1 | ACP_STRICT, "{'toolCallId':'c','kind':'_own'}",
           ACP_ERR_VARIANT, "kind", "'_own' is not a value of ToolKind");
    refuse(ACP_TYPE_PROMPT_RESPONSE, ACP_V1, "{'stopReason':'tired'}", ACP_ERR_VARIANT,
           "stopReason", "'tired' is not a value of StopReason");
}

static void layers_of_unions_lie_flat(void **state)
{
    (void) state;
    static const char *const texts[] = {
        ("{'sessionUpdate':'state_update','state':'idle','stopReason':'error','error':{'code':1,"
         "'message':'m'},'background':[{'type':'terminal','terminalId':'t'}]}"),
        "{'sessionUpdate':'state_update','state':'idle'}",
        "{'sessionUpdate':'state_update','state':'running','background':[]}",
        "{'sessionUpdate':'state_update','state':'idle','stopReason':'end_turn','_meta':{}}",
        "{'sessionUpdate':'state_update','state':'idle','stopReason':'_tired','x':1}",
        "{'sessionUpdate':'state_update','state':'_dancing','x':[]}",
        "{'sessionUpdate':'plan_update','plan':{'type':'_own','planId':'p','z':1}}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct acp_session_update m;
        decode(ACP_TYPE_SESSION_UPDATE, ACP_V2, texts[i], &m);
        gives(ACP_TYPE_SESSION_UPDATE, ACP_V2, &m, texts[i]);
        gives(ACP_TYPE_SESSION_UPDATE, ACP_V2 | ACP_KEEP_UNKNOWN, &m, texts[i]);
    }
    struct acp_session_update m;
    decode(ACP_TYPE_SESSION_UPDATE, ACP_V2,
           "{'error':{'code':1,'message':'m'},'stopReason':'error','state':'idle',"
           "'sessionUpdate':'state_update'}",
           &m);
    assert_int_equal(m.state_update.is, ACP_STATE_UPDATE_IDLE);
    assert_int_equal(m.state_update.idle.is, ACP_IDLE_STATE_UPDATE_ERROR);
    assert_text_equal(m.state_update.idle.error.error->message, "m");
    /* A tag that may be absent may be null or malformed as well. */
    decode(ACP_TYPE_SESSION_UPDATE, ACP_V2,
           "{'sessionUpdate':'state_update','state':'idle','stopReason':5}", &m);
    assert_int_equal(m.state_update.idle.is, ACP_IDLE_STATE_UPDATE_ABSENT);
    /* What an unlisted variant requires is required all the same. */
    refuse(ACP_TYPE_SESSION_UPDATE, ACP_V2,
           "{'sessionUpdate':'plan_update','plan':{'type':'_own'}}", ACP_ERR_MISSING, "plan.planId",
           "is required but missing");
}

static void tags_that_contradict_each_other_are_refused(void **state)
{
    (void) state;
    struct acp_content_block m;
    decode(ACP_TYPE_CONTENT_BLOCK, ACP_V1, "{'type':'text','text':'x','type':'text'}", &m);
    static const char *const texts[] = {
        "{'type':'text','text':'x','type':'image'}",
        "{'text':'x','type':'text','type':'image','data':'','mimeType':''}",
        "{'type':'text','text':'x','typ\\u0065':'image'}",
        "{'type':'text','text':'x','type':5}",
        "{'type':'text','text':'x','type':null}",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        refuse(ACP_TYPE_CONTENT_BLOCK, ACP_V1, texts[i], ACP_ERR_VARIANT, "type",
               "stands twice and differs");
    refuse(ACP_TYPE_SESSION_UPDATE, ACP_V2,
           "{'sessionUpdate':'state_update','state':'idle','state':'running'}", ACP_ERR_VARIANT,
           "state", "stands twice and differs");
}

static void of_other_keys_the_last_one_counts(void **state)
{
    (void) state;
    struct acp_tool_call_update m;
    decode(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V1,
           "{'toolCallId':'a','title':'x','title':null,'status':'pending','status':'failed',"
           "'toolCallId':'b','content':[{'type':'terminal','terminalId':'t'}],'content':[],"
           "'kind':'read','kind':'no such'}",
           &m);
    assert_text_equal(m.tool_call_id, "b");
    assert_true(acp_is_null(m.title.ptr));
    assert_int_equal(m.status.is, ACP_TOOL_CALL_STATUS_FAILED);
    assert_int_equal(m.content.count, 0);
    assert_int_equal(m.kind.is, ACP_TOOL_KIND_ABSENT);
}

/* ---- Failures ------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    int err;
    const char *path;
    const char *message;
} failures[] = {
    {"{}", ACP_ERR_MISSING, "sessionId", "is required but missing"},
    {"{'sessionId':'s'}", ACP_ERR_MISSING, "update", "is required but missing"},
    {"[]", ACP_ERR_TYPE, "", "expected an object, found an array"},
    {"null", ACP_ERR_TYPE, "", "expected an object, found null"},
    {"{'sessionId':5}", ACP_ERR_TYPE, "sessionId", "expected a string, found a number"},
    {"{'sessionId':null}", ACP_ERR_TYPE, "sessionId", "expected a string, found null"},
    {"{'sessionId':'s','update':7}", ACP_ERR_TYPE, "update", "expected an object, found a number"},
    {"{'sessionId':'s','update':{}}", ACP_ERR_MISSING, "update.sessionUpdate",
     "is required but missing"},
    {"{'sessionId':'s','update':{'sessionUpdate':1}}", ACP_ERR_TYPE, "update.sessionUpdate",
     "expected a string, found a number"},
    {"{'sessionId':'s','update':{'sessionUpdate':'x'}}", ACP_ERR_VARIANT, "update.sessionUpdate",
     "'x' is not part of this version"},
    {"{'sessionId':'s','update':{'sessionUpdate':'agent_message_chunk'}}", ACP_ERR_MISSING,
     "update.content", "is required but missing"},
    {"{'sessionId':'s','update':{'sessionUpdate':'agent_message_chunk','content':{'type':'text',"
     "'text':{}}}}",
     ACP_ERR_TYPE, "update.content.text", "expected a string, found an object"},
    {"{'sessionId':'s','update':{'sessionUpdate':'usage_update','used':1.5,'size':1}}",
     ACP_ERR_TYPE, "update.used", "expected a whole number, found a number"},
    {"{'sessionId':'s','update':{'sessionUpdate':'usage_update','used':-1,'size':1}}",
     ACP_ERR_RANGE, "update.used", "the number is outside of its range"},
    {"{'sessionId':'s','update':{'sessionUpdate':'notice','severity':'info','title':''}}",
     ACP_ERR_RANGE, "update.title", "the length of the text is outside of its range"},
    {"", ACP_ERR_SYNTAX, "", "not valid JSON"},
    {"{'sessionId':'s',", ACP_ERR_SYNTAX, "", "not valid JSON"},
    {"{'sessionId':'s\xFF'}", ACP_ERR_UTF8, "sessionId", "not valid UTF-8"},
    {"{'sessionId':'s','update':{'sessionUpdate':'x'}} x", ACP_ERR_VARIANT, "update.sessionUpdate",
     "'x' is not part of this version"},
};

static void failures_say_where_and_what(void **state)
{
    (void) state;
    for (size_t i = 0; i < COUNT(failures); i++)
        refuse(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, failures[i].text, failures[i].err,
               failures[i].path, failures[i].message);
    refuse(ACP_TYPE_PROMPT_REQUEST, ACP_V1,
           "{'sessionId':'s','prompt':[{'type':'text','text':'a'},{'type':'text','text':'b'},"
           "{'type':'text','text':3}]}",
           ACP_ERR_TYPE, "prompt[2].text", "expected a string, found a number");
    refuse(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1 | ACP_STRICT,
           "{'sessionId':'s','update':{'sessionUpdate':'tool_call','toolCallId':'c','title':'t',"
           "'content':[{'type':'terminal','terminalId':'t'},{'type':'terminal','terminalId':'t'},"
           "{'type':'content','content':{'type':'text','text':null}}]}}",
           ACP_ERR_TYPE, "update.content[2].content.text", "expected a string, found null");
    refuse(ACP_TYPE_PROMPT_REQUEST, ACP_V2, "{'sessionId':'s','prompt':[]}", ACP_ERR_RANGE,
           "prompt", "needs at least 1 item");
    refuse(ACP_TYPE_PROMPT_REQUEST, ACP_V1, "{'sessionId':'s','prompt':[]} x", ACP_ERR_SYNTAX, "",
           "not valid JSON");
}

static void offsets_are_where_it_was_seen(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        size_t at;
    } rows[] = {
        {"{'path':5}", 8},
        {"{'path':'a','line':-1}", 19},
        {"{'path':'a','line': 1.5}", 20},
        {"{'path':'a','line':4294967296}", 19},
        {"{'path':'a'", 11},
        {"{'path':'\\x'}", 9},
        {"{'path':'a'} x", 13},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct acp_tool_call_location m;
        struct acp_failure failure = {0};
        assert_int_not_equal(acp_tool_call_location_decode(ACP_V1 | ACP_STRICT,
                                                           test_quoted(rows[i].text, text_of, ROOM),
                                                           &arena, &m, &failure),
                             0);
        CHECK_ROW(failure.offset == rows[i].at, i, "%s: %zu", rows[i].text, failure.offset);
    }
}

static void long_paths_keep_their_beginning(void **state)
{
    (void) state;
    struct acp_failure failure = {0};
    struct acp_elicitation_accept_action m;
    struct acp_buf buf;
    acp_buf_init(&buf, ROOM);
    assert_int_equal(acp_buf_printf(&buf, "{\"content\":{\"%0300d\":{\"a\":1}}}", 7), 0);
    int err = acp_elicitation_accept_action_decode(
        ACP_V1 | ACP_UNSTABLE, acp_raw_n(buf.data, buf.len), &arena, &m, &failure);
    assert_int_equal(err, ACP_ERR_TYPE);
    assert_memory_equal(failure.path, "content.000", 11);
    assert_int_equal(strlen(failure.path), sizeof(failure.path) - 1);
    acp_buf_finish(&buf);
}

static void long_texts_of_a_peer_are_cut_in_messages(void **state)
{
    (void) state;
    struct acp_failure failure = {0};
    struct acp_prompt_response m;
    struct acp_buf buf;
    acp_buf_init(&buf, ROOM);
    assert_int_equal(acp_buf_printf(&buf, "{\"stopReason\":\"%01000d\"}", 7), 0);
    assert_int_equal(
        acp_prompt_response_decode(ACP_V1, acp_raw_n(buf.data, buf.len), &arena, &m, &failure),
        ACP_ERR_VARIANT);
    assert_true(strlen(failure.message) < 120);
    acp_buf_finish(&buf);
}

/* ---- Forgiveness ---------------------------------------------------------------------------- */

static void lenience_is_as_the_protocol_says_unless_strict(void **state)
{
    (void) state;
    static const struct {
        acp_type_id type;
        unsigned mode;
        const char *text;
        const char *want; /* encoded again; NULL: refused even so */
        const char *path; /* where strict refuses it */
    } rows[] = {
        /* ~error */
        {ACP_TYPE_TEXT_CONTENT, ACP_V1, "{'text':'t','annotations':5}", "{'text':'t'}",
         "annotations"},
        {ACP_TYPE_TEXT_CONTENT, ACP_V1, "{'text':'t','annotations':{'priority':'high'}}",
         "{'text':'t','annotations':{}}", "annotations.priority"},
        {ACP_TYPE_TOOL_CALL_LOCATION, ACP_V1, "{'path':'p','line':-1}", "{'path':'p'}", "line"},
        {ACP_TYPE_TOOL_CALL_LOCATION, ACP_V2, "{'path':'p','line':0}", "{'path':'p'}", "line"},
        {ACP_TYPE_TOOL_CALL, ACP_V1, "{'toolCallId':'c','title':'t','kind':7,'_meta':[]}",
         "{'toolCallId':'c','title':'t'}", "kind"},
        {ACP_TYPE_COST, ACP_V1, "{'amount':1e400,'currency':'USD'}", NULL, "amount"},
        {ACP_TYPE_ANNOTATIONS, ACP_V1, "{'priority':1e400}", "{}", "priority"},
        {ACP_TYPE_ANNOTATIONS, ACP_V2, "{'priority':1.5}", "{}", "priority"},
        /* ~items, and ~error around it */
        {ACP_TYPE_PLAN, ACP_V1,
         "{'entries':[{},{'content':'c','priority':'low','status':'pending'},5]}",
         "{'entries':[{'content':'c','priority':'low','status':'pending'}]}", "entries[0].content"},
        {ACP_TYPE_PLAN, ACP_V1, "{'entries':5}", "{'entries':[]}", "entries"},
        {ACP_TYPE_ANNOTATIONS, ACP_V1, "{'audience':['user','nobody','assistant']}",
         "{'audience':['user','assistant']}", "audience[1]"},
        /* ~null */
        {ACP_TYPE_NEW_SESSION_REQUEST, ACP_V1, "{'cwd':'/','mcpServers':null}",
         "{'cwd':'/','mcpServers':[]}", "mcpServers"},
        {ACP_TYPE_NEW_SESSION_REQUEST, ACP_V1, "{'cwd':'/','mcpServers':5}", NULL, "mcpServers"},
        /* nothing */
        {ACP_TYPE_PROMPT_REQUEST, ACP_V1, "{'sessionId':'s','prompt':null}", NULL, "prompt"},
        {ACP_TYPE_TEXT_CONTENT, ACP_V1, "{'text':5}", NULL, "text"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t room[ACP_NULL_SIZE / sizeof(uint64_t)];
        struct acp_failure failure = {0};
        struct acp_raw json = test_quoted(rows[i].text, text_of, ROOM);
        int err = acp_decode(rows[i].type, rows[i].mode, json, &arena, room, &failure);
        CHECK_ROW(!err == (rows[i].want != NULL), i, "%s: %d", rows[i].text, err);
        if (!err) {
            assert_int_equal(failure.err, 0);
            gives(rows[i].type, rows[i].mode, room, rows[i].want);
        }
        err = acp_decode(rows[i].type, rows[i].mode | ACP_STRICT, json, &arena, room, &failure);
        CHECK_ROW(err, i, "%s: strict", rows[i].text);
        CHECK_ROW(strcmp(failure.path, rows[i].path) == 0, i, "%s: %s", rows[i].text, failure.path);
    }
}

/* What is malformed JSON fails the message even where a wrong value would be forgiven. */
static void syntax_is_never_forgiven(void **state)
{
    (void) state;
    refuse(ACP_TYPE_TEXT_CONTENT, ACP_V1, "{'text':'t','annotations':{'a':tru}}", ACP_ERR_SYNTAX,
           "annotations", "not valid JSON");
    refuse(ACP_TYPE_PLAN, ACP_V1, "{'entries':[{'content':'\xFF'}]}", ACP_ERR_UTF8,
           "entries[0].content", "not valid UTF-8");
    refuse(ACP_TYPE_TEXT_CONTENT, ACP_V1, "{'text':'t','annotations':5,}", ACP_ERR_SYNTAX, "",
           "not valid JSON");
}

/* Items that are dropped must not cost the memory of those that are kept. */
static void dropped_items_cost_little(void **state)
{
    (void) state;
    enum { BAD = 100000 };
    struct acp_buf buf;
    struct acp_arena small;
    struct acp_plan m;
    acp_buf_init(&buf, 1 << 20);
    acp_arena_init(&small, 1 << 16);
    assert_int_equal(acp_buf_append_str(&buf, acp_str_from("{\"entries\":[")), 0);
    for (int i = 0; i < BAD; i++)
        assert_int_equal(acp_buf_append(&buf, "0,", 2), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            acp_buf_append_str(&buf, acp_str_from("{\"content\":\"c\",\"priority\":\"low\","
                                                  "\"status\":\"pending\"},")),
            0);
    for (int i = 0; i < BAD; i++)
        assert_int_equal(acp_buf_append(&buf, "0,", 2), 0);
    assert_int_equal(acp_buf_append_str(&buf, acp_str_from("{}]}")), 0);
    assert_int_equal(acp_plan_decode(ACP_V1, acp_raw_n(buf.data, buf.len), &small, &m, NULL), 0);
    assert_int_equal(m.entries.count, 4);
    assert_text_equal(m.entries.items[3].content, "c");
    acp_arena_finish(&small);
    acp_buf_finish(&buf);
}

/* ---- Arguments, memory ---------------------------------------------------------------------- */

static void types_and_modes_that_do_not_exist_are_refused(void **state)
{
    (void) state;
    static const char text[] = "no such type in this version";
    refuse(-1, ACP_V1, "{}", ACP_ERR_ARGUMENT, "", text);
    refuse(ACP_TYPE_ANY, ACP_V1, "{}", ACP_ERR_ARGUMENT, "", text);
    refuse(1000000, ACP_V1, "{}", ACP_ERR_ARGUMENT, "", text);
    refuse(ACP_TYPE_PLAN, 0, "{}", ACP_ERR_ARGUMENT, "", text);
    refuse(ACP_TYPE_PLAN, ACP_V1 | ACP_V2, "{}", ACP_ERR_ARGUMENT, "", text);
    refuse(ACP_TYPE_PLAN, ACP_V2, "{}", ACP_ERR_ARGUMENT, "", text);
    refuse(ACP_TYPE_USAGE, ACP_V1, "{}", ACP_ERR_ARGUMENT, "", text);
    refuse(ACP_TYPE_STOP_REASON, ACP_V1, "{}", ACP_ERR_ARGUMENT, "", text);
    struct acp_plan m;
    assert_int_equal(acp_plan_decode(ACP_V1, acp_raw_from(NULL), &arena, &m, NULL),
                     ACP_ERR_ARGUMENT);
}

/* A small arena: NOMEM or success, never a crash, for every size. */
static void an_arena_that_is_too_small_is_an_error(void **state)
{
    (void) state;
    static const char text[] =
        "{'sessionId':'s\\n','update':{'sessionUpdate':'tool_call','toolCallId':'c','title':'t\\t',"
        "'content':[{'type':'content','content':{'type':'text','text':'\\u0041\\n'}},"
        "{'type':'diff',"
        "'path':'p','newText':'\\\\'},5,{'type':'terminal','terminalId':'x'}],'unknown':1,"
        "'locations':[{'path':'a'},{'path':'b'},{'path':'c'},{'path':'d'},{'path':'e'}]}}";
    struct acp_session_notification m;
    struct acp_raw json = test_quoted(text, text_of, ROOM);
    size_t failed = 0;
    int err = ACP_ERR_NOMEM;
    for (size_t max = 16; err; max += 16) {
        struct acp_failure failure = {0};
        struct acp_arena small;
        acp_arena_init(&small, max);
        err = acp_session_notification_decode(ACP_V1, json, &small, &m, &failure);
        assert_true(err == 0 || err == ACP_ERR_NOMEM);
        assert_int_equal(failure.err, err);
        failed += err != 0;
        acp_arena_finish(&small);
        assert_true(max < 100000);
    }
    assert_true(failed > 10);
}

static void decoding_without_escapes_copies_no_text(void **state)
{
    (void) state;
    struct acp_tool_call_location m;
    struct acp_raw json = test_quoted("{'path':'/a/b'}", text_of, ROOM);
    assert_int_equal(acp_tool_call_location_decode(ACP_V1, json, &arena, &m, NULL), 0);
    assert_true(test_inside(acp_raw_n(m.path.ptr, m.path.len), json));
}

/* Once warm, neither direction asks for memory. */
static void a_warm_codec_does_not_allocate(void **state)
{
    (void) state;
    static const char text[] =
        "{'sessionId':'s','update':{'sessionUpdate':'tool_call_update','toolCallId':'c\\n',"
        "'content':"
        "[{'type':'content','content':{'type':'text','text':'hello \\u00e9'}}],'locations':["
        "{'path':'/x','line':3}],'rawInput':{'a':[1,2,3]}}}";
    struct acp_raw json = test_quoted(text, text_of, ROOM);
    struct acp_buf buf;
    acp_buf_init(&buf, 1 << 20);
    for (int round = 0; round < 1000; round++) {
        struct acp_session_notification m;
        struct acp_json_writer w;
        if (round == 3)
            test_allocations = 0;
        acp_arena_reset(&arena);
        acp_buf_clear(&buf);
        acp_json_writer_init(&w, &buf);
        assert_int_equal(acp_session_notification_decode(ACP_V1, json, &arena, &m, NULL), 0);
        assert_int_equal(acp_session_notification_encode(ACP_V1, &m, &w, NULL), 0);
    }
    assert_int_equal(test_allocations, 0);
    acp_buf_finish(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(keys_in_any_order_and_tags_anywhere),
        CASE(keys_that_nobody_described_are_kept),
        CASE(usage_is_known_to_the_unstable_schema_only),
        CASE(unlisted_updates_are_refused_by_1_and_kept_by_2),
        CASE(a_line_of_560_kilobytes),
        CASE(terminals_and_permissions_that_nobody_announced),
        CASE(choices_take_the_first_form_that_fits),
        CASE(a_server_without_a_type_is_stdio_in_version_1),
        CASE(absent_null_and_value_are_read_apart),
        CASE(enums_keep_what_is_not_listed),
        CASE(layers_of_unions_lie_flat),
        CASE(tags_that_contradict_each_other_are_refused),
        CASE(of_other_keys_the_last_one_counts),
        CASE(failures_say_where_and_what),
        CASE(offsets_are_where_it_was_seen),
        CASE(long_paths_keep_their_beginning),
        CASE(long_texts_of_a_peer_are_cut_in_messages),
        CASE(lenience_is_as_the_protocol_says_unless_strict),
        CASE(syntax_is_never_forgiven),
        CASE(dropped_items_cost_little),
        CASE(types_and_modes_that_do_not_exist_are_refused),
        CASE(an_arena_that_is_too_small_is_an_error),
        CASE(decoding_without_escapes_copies_no_text),
        CASE(a_warm_codec_does_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
