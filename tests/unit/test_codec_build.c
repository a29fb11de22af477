/*
 * Building messages with the generated init functions and writing them, in both versions: the text
 * that comes out, what is left out, and what is refused.
 */
#include "helpers.h"

#include <math.h>

#include "acp/types.h"

enum { ROOM = 2048 };

/* Encodes and compares; the text has ' for ". */
static void expect(acp_type_id type, unsigned mode, const void *value, const char *want)
{
    char text[ROOM];
    struct acp_buf buf;
    struct acp_json_writer w;
    struct acp_failure failure = {0};
    acp_buf_init(&buf, 1 << 20);
    acp_json_writer_init(&w, &buf);
    int err = acp_encode(type, mode, value, &w, &failure);
    if (err)
        print_error("%s: %s\n", failure.path, failure.message);
    assert_int_equal(err, 0);
    (void) test_quoted(want, text, sizeof(text));
    assert_string_equal(test_cstr(&buf), text);
    assert_int_equal(failure.err, 0);
    acp_buf_finish(&buf);
}

static void expect_refused(acp_type_id type, unsigned mode, const void *value, int err,
                           const char *path, const char *message)
{
    struct acp_buf buf;
    struct acp_json_writer w;
    struct acp_failure failure = {0};
    acp_buf_init(&buf, 1 << 20);
    assert_int_equal(acp_buf_append(&buf, "before", 6), 0);
    acp_json_writer_init(&w, &buf);
    assert_int_equal(acp_encode(type, mode, value, &w, &failure), err);
    assert_int_equal(failure.err, err);
    assert_string_equal(failure.path, path);
    assert_string_equal(failure.message, message);
    /* The writer is done for, and nothing was written. */
    assert_int_equal(w.err, err);
    assert_text_equal(acp_buf_view(&buf), "before");
    assert_int_equal(acp_encode(type, mode, value, &w, NULL), err);
    acp_buf_finish(&buf);
}

/* ---- A few lines of C each ------------------------------------------------------------------ */

static void initialize_in_version_1(void **state)
{
    (void) state;
    struct acp_initialize_request m;
    struct acp_client_capabilities can;
    struct acp_file_system_capabilities fs;
    struct acp_implementation info;
    acp_file_system_capabilities_init(&fs);
    fs.read_text_file = true;
    acp_client_capabilities_init(&can);
    can.fs = &fs;
    can.terminal = true;
    acp_implementation_init(&info, acp_str_from("acp"), acp_str_from("0.1"));
    acp_initialize_request_init(&m, 1);
    m.client_capabilities = &can;
    m.client_info = &info;
    expect(ACP_TYPE_INITIALIZE_REQUEST, ACP_V1, &m,
           "{'protocolVersion':1,'clientCapabilities':{'fs':{'readTextFile':true},'terminal':true},"
           "'clientInfo':{'name':'acp','version':'0.1'}}");
}

static void initialize_in_version_2(void **state)
{
    (void) state;
    struct acp_initialize_request m;
    struct acp_client_capabilities can;
    acp_client_capabilities_init(&can);
    acp_initialize_request_init(&m, 2);
    acp_implementation_init(&m.info, acp_str_from("acp"), acp_str_from("0.1"));
    m.info.title = acp_str_null();
    m.capabilities = &can;
    expect(ACP_TYPE_INITIALIZE_REQUEST, ACP_V2, &m,
           "{'protocolVersion':2,'info':{'name':'acp','title':null,'version':'0.1'},"
           "'capabilities':{}}");
}

static void new_session_with_mcp_servers(void **state)
{
    (void) state;
    struct acp_new_session_request m;
    struct acp_mcp_server servers[2];
    struct acp_env_variable env[1];
    const struct acp_str args[] = {ACP_STR("-v"), ACP_STR("a b")};
    acp_env_variable_init(&env[0], acp_str_from("HOME"), acp_str_from("/root"));
    acp_mcp_server_init_stdio(&servers[0], acp_str_from("files"), acp_str_from("/bin/mcp"));
    servers[0].stdio.args = (struct acp_str_list){args, 2};
    servers[0].stdio.env = (struct acp_env_variable_list){env, 1};
    acp_mcp_server_init_http(&servers[1], acp_str_from("web"), acp_str_from("https://x/"));
    acp_new_session_request_init(&m, acp_str_from("/w"));
    m.mcp_servers = (struct acp_mcp_server_list){servers, 2};
    /* Version 1 has no tag for stdio and requires the lists, which are written though empty. */
    expect(ACP_TYPE_NEW_SESSION_REQUEST, ACP_V1, &m,
           "{'cwd':'/w','mcpServers':[{'name':'files','command':'/bin/mcp','args':['-v','a b'],"
           "'env':[{'name':'HOME','value':'/root'}]},{'type':'http','name':'web',"
           "'url':'https://x/','headers':[]}]}");
    expect(ACP_TYPE_NEW_SESSION_REQUEST, ACP_V2, &m,
           "{'cwd':'/w','mcpServers':[{'type':'stdio','name':'files','command':'/bin/mcp',"
           "'args':['-v','a b'],'env':[{'name':'HOME','value':'/root'}]},{'type':'http',"
           "'name':'web','url':'https://x/'}]}");
    acp_new_session_request_init(&m, acp_str_from(""));
    expect(ACP_TYPE_NEW_SESSION_REQUEST, ACP_V1, &m, "{'cwd':'','mcpServers':[]}");
    expect(ACP_TYPE_NEW_SESSION_REQUEST, ACP_V2, &m, "{'cwd':''}");
}

static void prompt_with_every_block(void **state)
{
    (void) state;
    struct acp_prompt_request m;
    struct acp_content_block blocks[5];
    struct acp_annotations notes;
    const struct acp_role whom[] = {{.is = ACP_ROLE_USER}, {.is = ACP_ROLE_ASSISTANT}};
    acp_annotations_init(&notes);
    notes.audience = (struct acp_role_list){whom, 2};
    notes.priority = acp_some_f64(0.5);
    acp_content_block_init_text(&blocks[0], acp_str_from("line\n\"two\" \xC3\xA9"));
    blocks[0].text.annotations = &notes;
    acp_content_block_init_image(&blocks[1], acp_str_from("aGk="), acp_str_from("image/png"));
    acp_content_block_init_audio(&blocks[2], acp_str_from(""), acp_str_from("audio/wav"));
    acp_content_block_init_resource_link(&blocks[3], acp_str_from("n"), acp_str_from("file:///x"));
    blocks[3].resource_link.size = acp_some_i64(-1);
    blocks[3].resource_link.size_v2 = acp_some_u64(UINT64_MAX);
    acp_content_block_init_resource(&blocks[4]);
    acp_embedded_resource_resource_init_text_resource_contents(
        &blocks[4].resource.resource, acp_str_from("t"), acp_str_from("u:"));
    blocks[4].resource.meta = acp_raw_from("{\"k\": [1]}");
    acp_prompt_request_init(&m, acp_str_from("s1"), blocks, 5);
    expect(ACP_TYPE_PROMPT_REQUEST, ACP_V1, &m,
           "{'sessionId':'s1','prompt':[{'type':'text','text':'line\\n\\'two\\' \xC3\xA9',"
           "'annotations':{'audience':['user','assistant'],'priority':0.5}},"
           "{'type':'image','data':'aGk=','mimeType':'image/png'},"
           "{'type':'audio','data':'','mimeType':'audio/wav'},"
           "{'type':'resource_link','name':'n','uri':'file:///x','size':-1},"
           "{'type':'resource','resource':{'text':'t','uri':'u:'},'_meta':{'k': [1]}}]}");
    blocks[3].resource_link.size.has = ACP_NULL;
    acp_prompt_request_init(&m, acp_str_from("s1"), &blocks[3], 1);
    expect(ACP_TYPE_PROMPT_REQUEST, ACP_V2, &m,
           "{'sessionId':'s1','prompt':[{'type':'resource_link','name':'n','uri':'file:///x',"
           "'size':18446744073709551615}]}");
}

static void updates_in_both_versions(void **state)
{
    (void) state;
    struct acp_session_notification m1;
    struct acp_update_session_notification m2;
    acp_session_notification_init(&m1, acp_str_from("s"));
    acp_session_update_init_agent_message_chunk(&m1.update);
    acp_content_block_init_text(&m1.update.agent_message_chunk.content, acp_str_from("hi"));
    expect(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m1,
           "{'sessionId':'s','update':{'sessionUpdate':'agent_message_chunk',"
           "'content':{'type':'text','text':'hi'}}}");

    struct acp_plan_entry entry;
    acp_plan_entry_init(&entry, acp_str_from("do"), ACP_PLAN_ENTRY_PRIORITY_HIGH,
                        ACP_PLAN_ENTRY_STATUS_IN_PROGRESS);
    acp_session_update_init_plan(&m1.update, &entry, 1);
    expect(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m1,
           "{'sessionId':'s','update':{'sessionUpdate':'plan','entries':[{'content':'do',"
           "'priority':'high','status':'in_progress'}]}}");

    struct acp_cost cost;
    acp_cost_init(&cost, 0.25, acp_str_from("USD"));
    acp_session_update_init_usage_update(&m1.update, 7, UINT64_MAX);
    m1.update.usage_update.cost = &cost;
    expect(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m1,
           "{'sessionId':'s','update':{'sessionUpdate':'usage_update','used':7,"
           "'size':18446744073709551615,'cost':{'amount':0.25,'currency':'USD'}}}");

    /* Layers that lie flat in one object: the tags come first. */
    acp_update_session_notification_init(&m2, acp_str_from("s"));
    acp_session_update_init_state_update(&m2.update);
    acp_state_update_init_idle(&m2.update.state_update);
    acp_idle_state_update_init_error(&m2.update.state_update.idle);
    struct acp_error error;
    acp_error_init(&error, -32603, acp_str_from("no"));
    m2.update.state_update.idle.error.error = &error;
    m2.update.state_update.idle.background.items = acp_null();
    expect(ACP_TYPE_UPDATE_SESSION_NOTIFICATION, ACP_V2, &m2,
           "{'sessionId':'s','update':{'sessionUpdate':'state_update','state':'idle',"
           "'stopReason':'error','error':{'code':-32603,'message':'no'},'background':null}}");
    acp_zero(&m2.update.state_update.idle, sizeof(m2.update.state_update.idle));
    expect(ACP_TYPE_UPDATE_SESSION_NOTIFICATION, ACP_V2, &m2,
           "{'sessionId':'s','update':{'sessionUpdate':'state_update','state':'idle'}}");
}

static void permission_in_both_versions(void **state)
{
    (void) state;
    struct acp_request_permission_request m;
    struct acp_permission_option options[2];
    struct acp_request_permission_subject subject;
    acp_permission_option_init(&options[0], acp_str_from("y"), acp_str_from("Yes"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_permission_option_init(&options[1], acp_str_from("n"), acp_str_from("No"),
                               ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS);
    acp_request_permission_request_init(&m, acp_str_from("s"), options, 2);
    acp_tool_call_update_init(&m.tool_call, acp_str_from("c"));
    m.tool_call.status.is = ACP_TOOL_CALL_STATUS_PENDING;
    expect(ACP_TYPE_REQUEST_PERMISSION_REQUEST, ACP_V1, &m,
           "{'sessionId':'s','toolCall':{'toolCallId':'c','status':'pending'},'options':["
           "{'optionId':'y','name':'Yes','kind':'allow_once'},"
           "{'optionId':'n','name':'No','kind':'reject_always'}]}");
    acp_request_permission_subject_init_command(&subject, acp_str_from("rm"), acp_str_from("/"));
    m.title = acp_str_from("May I?");
    m.subject = &subject;
    expect(ACP_TYPE_REQUEST_PERMISSION_REQUEST, ACP_V2, &m,
           "{'sessionId':'s','title':'May I?','subject':{'type':'command','command':'rm',"
           "'cwd':'/'},'options':[{'optionId':'y','name':'Yes','kind':'allow_once'},"
           "{'optionId':'n','name':'No','kind':'reject_always'}]}");

    struct acp_request_permission_response answer;
    acp_request_permission_response_init(&answer);
    acp_request_permission_outcome_init_selected(&answer.outcome, acp_str_from("y"));
    expect(ACP_TYPE_REQUEST_PERMISSION_RESPONSE, ACP_V1, &answer,
           "{'outcome':{'outcome':'selected','optionId':'y'}}");
    acp_request_permission_outcome_init_cancelled(&answer.outcome);
    expect(ACP_TYPE_REQUEST_PERMISSION_RESPONSE, ACP_V1, &answer,
           "{'outcome':{'outcome':'cancelled'}}");
    expect(ACP_TYPE_REQUEST_PERMISSION_RESPONSE, ACP_V2, &answer,
           "{'outcome':{'outcome':'cancelled'}}");
}

static void choices_are_written_as_what_they_are(void **state)
{
    (void) state;
    struct acp_cancel_request_notification m;
    acp_cancel_request_notification_init(&m);
    acp_request_id_init_number(&m.request_id, INT64_MIN);
    expect(ACP_TYPE_CANCEL_REQUEST_NOTIFICATION, ACP_V1, &m, "{'requestId':-9223372036854775808}");
    acp_request_id_init_str(&m.request_id, acp_str_from("7"));
    expect(ACP_TYPE_CANCEL_REQUEST_NOTIFICATION, ACP_V2, &m, "{'requestId':'7'}");
    acp_request_id_init_null(&m.request_id);
    expect(ACP_TYPE_CANCEL_REQUEST_NOTIFICATION, ACP_V1, &m, "{'requestId':null}");
    expect_refused(ACP_TYPE_CANCEL_REQUEST_NOTIFICATION, ACP_V2, &m, ACP_ERR_VARIANT, "requestId",
                   "is not part of this version");
}

/* ---- Three states --------------------------------------------------------------------------- */

static void absent_null_and_value_are_written_apart(void **state)
{
    (void) state;
    struct acp_session_info_update m;
    acp_session_info_update_init(&m);
    expect(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V2, &m, "{}");
    m.title = acp_str_null();
    expect(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V2, &m, "{'title':null}");
    m.title = acp_str_from("");
    expect(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V2, &m, "{'title':''}");

    struct acp_tool_call_update t;
    acp_tool_call_update_init(&t, acp_str_from("c"));
    t.kind.is = ACP_TOOL_KIND_NULL;
    t.status.is = ACP_TOOL_CALL_STATUS_COMPLETED;
    t.content.items = acp_null();
    t.capabilities = acp_null();
    t.raw_input = acp_raw_from("null");
    expect(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2, &t,
           "{'toolCallId':'c','kind':null,'status':'completed','content':null,'rawInput':null,"
           "'capabilities':null}");
    static const struct acp_tool_call_content none[1];
    t.content = (struct acp_tool_call_content_list){none, 0};
    t.kind.is = ACP_TOOL_KIND_ABSENT;
    expect(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V1, &t,
           "{'toolCallId':'c','status':'completed','content':[],'rawInput':null}");
}

static void null_where_none_is_allowed_is_left_out(void **state)
{
    (void) state;
    struct acp_tool_call t;
    acp_tool_call_init(&t, acp_str_from("c"), acp_str_from("t"));
    t.kind.is = ACP_TOOL_KIND_NULL;
    t.content.items = acp_null();
    t.name = acp_str_null();
    expect(ACP_TYPE_TOOL_CALL, ACP_V1, &t, "{'toolCallId':'c','title':'t','name':null}");
}

/* ---- Versions ------------------------------------------------------------------------------- */

static void fields_of_the_other_version_are_left_out(void **state)
{
    (void) state;
    struct acp_prompt_response m;
    struct acp_usage usage;
    acp_usage_init(&usage, 3, 2, 1);
    acp_prompt_response_init(&m);
    m.stop_reason.is = ACP_STOP_REASON_END_TURN;
    m.message_id = acp_str_from("m1");
    m.usage = &usage;
    expect(ACP_TYPE_PROMPT_RESPONSE, ACP_V1, &m, "{'stopReason':'end_turn'}");
    expect(ACP_TYPE_PROMPT_RESPONSE, ACP_V2, &m, "{'messageId':'m1'}");
    expect(ACP_TYPE_PROMPT_RESPONSE, ACP_V1 | ACP_UNSTABLE, &m,
           "{'stopReason':'end_turn','usage':{'totalTokens':3,'inputTokens':2,'outputTokens':1}}");
}

/* What a binding does that knows the name of a type only. */
static void a_message_is_built_by_the_name_of_its_type(void **state)
{
    (void) state;
    struct acp_arena arena;
    struct acp_buf out;
    struct acp_failure failure;
    static const char json[] = "{\"text\" : \"hi\", \"_own\":1}";
    acp_arena_init(&arena, 0);
    acp_buf_init(&out, 1000);
    acp_type_id type = acp_type_find(acp_str_from("TextContent"), ACP_V1);
    void *value = acp_arena_alloc(&arena, acp_type_size(type));
    assert_int_equal(acp_decode(type, ACP_V1, acp_raw_from(json), &arena, value, NULL), 0);
    assert_int_equal(acp_buf_append(&out, "x", 1), 0);
    assert_int_equal(acp_encode_text(type, ACP_V1, value, &out, NULL), 0);
    assert_text_equal(acp_buf_view(&out), "x{\"text\":\"hi\"}");
    assert_int_equal(acp_encode_text(type, ACP_V1 | ACP_KEEP_UNKNOWN, value, &out, NULL), 0);
    assert_text_equal(acp_buf_view(&out), "x{\"text\":\"hi\"}{\"text\":\"hi\",\"_own\":1}");
    /* What cannot be written leaves nothing behind. */
    acp_buf_clear(&out);
    assert_int_equal(acp_buf_append(&out, "x", 1), 0);
    memset(value, 0, acp_type_size(type));
    assert_int_equal(acp_encode_text(type, ACP_V1, value, &out, &failure), ACP_ERR_MISSING);
    assert_string_equal(failure.path, "text");
    assert_int_equal(acp_encode_text(ACP_TYPE_NONE, ACP_V1, value, &out, NULL), ACP_ERR_ARGUMENT);
    assert_text_equal(acp_buf_view(&out), "x");
    acp_buf_finish(&out);
    acp_arena_finish(&arena);
}

static void variants_and_types_of_the_other_version_are_refused(void **state)
{
    (void) state;
    struct acp_session_notification m;
    acp_session_notification_init(&m, acp_str_from("s"));
    acp_session_update_init_agent_message(&m.update, acp_str_from("m"));
    expect_refused(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m, ACP_ERR_VARIANT,
                   "update.sessionUpdate", "is not part of this version");
    expect_refused(ACP_TYPE_SESSION_NOTIFICATION, ACP_V2, &m, ACP_ERR_ARGUMENT, "",
                   "no such type in this version");
    expect_refused(ACP_TYPE_SESSION_NOTIFICATION, 0, &m, ACP_ERR_ARGUMENT, "",
                   "no such type in this version");
    expect_refused(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1 | ACP_V2, &m, ACP_ERR_ARGUMENT, "",
                   "no such type in this version");
    expect_refused(-1, ACP_V1, &m, ACP_ERR_ARGUMENT, "", "no such type in this version");
    expect_refused(0, ACP_V1, &m, ACP_ERR_ARGUMENT, "", "no such type in this version");
    expect_refused(ACP_TYPE_ANY, ACP_V1, &m, ACP_ERR_ARGUMENT, "", "no such type in this version");
    expect_refused(100000, ACP_V1, &m, ACP_ERR_ARGUMENT, "", "no such type in this version");
    expect_refused(ACP_TYPE_STOP_REASON, ACP_V1, &m, ACP_ERR_ARGUMENT, "",
                   "no such type in this version"); /* an enum is not a message */

    struct acp_tool_call_update t;
    acp_tool_call_update_init(&t, acp_str_from("c"));
    t.status.is = ACP_TOOL_CALL_STATUS_PAUSED;
    expect(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2, &t, "{'toolCallId':'c','status':'paused'}");
    expect_refused(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V1, &t, ACP_ERR_VARIANT, "status",
                   "is not part of this version");
    t.status.is = ACP_TOOL_CALL_STATUS_UNLISTED;
    t.status.text = acp_str_from("napping");
    expect(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V2, &t, "{'toolCallId':'c','status':'napping'}");
    expect_refused(ACP_TYPE_TOOL_CALL_UPDATE, ACP_V1, &t, ACP_ERR_VARIANT, "status",
                   "is not part of this version");
}

/* ---- What is refused ------------------------------------------------------------------------ */

static void what_is_required_must_be_there(void **state)
{
    (void) state;
    struct acp_session_notification m;
    acp_session_notification_init(&m, acp_str_from("s"));
    expect_refused(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m, ACP_ERR_MISSING,
                   "update.sessionUpdate", "is required but missing");
    acp_session_update_init_agent_message_chunk(&m.update);
    expect_refused(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m, ACP_ERR_MISSING,
                   "update.content.type", "is required but missing");
    acp_content_block_init_text(&m.update.agent_message_chunk.content, acp_str_from(NULL));
    expect_refused(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m, ACP_ERR_MISSING,
                   "update.content.text", "is required but missing");
    m.update.agent_message_chunk.content.text.text = acp_str_null();
    expect_refused(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m, ACP_ERR_MISSING,
                   "update.content.text", "is required but missing");
    m.update.agent_message_chunk.content.text.text = acp_str_from("x");
    m.session_id = acp_str_from(NULL);
    expect_refused(ACP_TYPE_SESSION_NOTIFICATION, ACP_V1, &m, ACP_ERR_MISSING, "sessionId",
                   "is required but missing");

    struct acp_tool_call_content items[3];
    struct acp_tool_call t;
    for (int i = 0; i < 3; i++) {
        acp_tool_call_content_init_content(&items[i]);
        acp_content_block_init_text(&items[i].content.content, acp_str_from(i == 2 ? NULL : "x"));
    }
    acp_tool_call_init(&t, acp_str_from("c"), acp_str_from("t"));
    t.content = (struct acp_tool_call_content_list){items, 3};
    expect_refused(ACP_TYPE_TOOL_CALL, ACP_V1, &t, ACP_ERR_MISSING, "content[2].content.text",
                   "is required but missing");

    struct acp_prompt_response p;
    acp_prompt_response_init(&p);
    expect_refused(ACP_TYPE_PROMPT_RESPONSE, ACP_V1, &p, ACP_ERR_MISSING, "stopReason",
                   "is required but missing");
    expect_refused(ACP_TYPE_PROMPT_RESPONSE, ACP_V2, &p, ACP_ERR_MISSING, "messageId",
                   "is required but missing");
}

static void values_out_of_range_are_refused(void **state)
{
    (void) state;
    struct acp_tool_call_location where;
    acp_tool_call_location_init(&where, acp_str_from("/f"));
    static const struct {
        int64_t line;
        bool v1;
        bool v2;
    } lines[] = {{-1, false, false},       {0, true, false},           {1, true, true},
                 {UINT32_MAX, true, true}, {4294967296, false, false}, {INT64_MIN, false, false},
                 {INT64_MAX, false, false}};
    for (size_t i = 0; i < COUNT(lines); i++) {
        char want[80];
        where.line = acp_some_i64(lines[i].line);
        (void) snprintf(want, sizeof(want), "{'path':'/f','line':%lld}", (long long) lines[i].line);
        for (int v = 0; v < 2; v++) {
            if (v ? lines[i].v2 : lines[i].v1)
                expect(ACP_TYPE_TOOL_CALL_LOCATION, v ? ACP_V2 : ACP_V1, &where, want);
            else
                expect_refused(ACP_TYPE_TOOL_CALL_LOCATION, v ? ACP_V2 : ACP_V1, &where,
                               ACP_ERR_RANGE, "line", "is outside of its range");
        }
    }
    struct acp_initialize_request init;
    acp_initialize_request_init(&init, 65536);
    expect_refused(ACP_TYPE_INITIALIZE_REQUEST, ACP_V1, &init, ACP_ERR_RANGE, "protocolVersion",
                   "is outside of its range");
    struct acp_cost cost;
    acp_cost_init(&cost, (double) NAN, acp_str_from("USD"));
    expect_refused(ACP_TYPE_COST, ACP_V1, &cost, ACP_ERR_RANGE, "amount",
                   "is outside of its range");
    struct acp_annotations notes;
    acp_annotations_init(&notes);
    notes.priority = acp_some_f64(1.5);
    expect(ACP_TYPE_ANNOTATIONS, ACP_V1, &notes, "{'priority':1.5}");
    expect_refused(ACP_TYPE_ANNOTATIONS, ACP_V2, &notes, ACP_ERR_RANGE, "priority",
                   "is outside of its range");
    struct acp_notice notice;
    acp_notice_init(&notice, ACP_NOTICE_SEVERITY_INFO, acp_str_from(""));
    expect_refused(ACP_TYPE_NOTICE, ACP_V2, &notice, ACP_ERR_RANGE, "title",
                   "is outside of its range");
    struct acp_prompt_request prompt;
    acp_prompt_request_init(&prompt, acp_str_from("s"), NULL, 0);
    expect(ACP_TYPE_PROMPT_REQUEST, ACP_V1, &prompt, "{'sessionId':'s','prompt':[]}");
    expect_refused(ACP_TYPE_PROMPT_REQUEST, ACP_V2, &prompt, ACP_ERR_RANGE, "prompt",
                   "has too few items");
}

static void raw_json_is_checked_before_it_goes_out(void **state)
{
    (void) state;
    struct acp_session_info_update m;
    acp_session_info_update_init(&m);
    m.meta = acp_raw_from("{\"a\":\n1}");
    expect(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V1, &m, "{'_meta':{'a': 1}}");
    m.meta = acp_raw_from("null");
    expect(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V1, &m, "{'_meta':null}");
    m.meta = acp_raw_from("[1]");
    expect_refused(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V1, &m, ACP_ERR_TYPE, "_meta",
                   "must be an object");
    m.meta = acp_raw_from("{\"a\":}");
    expect_refused(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V1, &m, ACP_ERR_SYNTAX, "_meta",
                   "not valid JSON");
    m.meta = acp_raw_from("{} , \"injected\":1");
    expect_refused(ACP_TYPE_SESSION_INFO_UPDATE, ACP_V1, &m, ACP_ERR_SYNTAX, "_meta",
                   "not valid JSON");

    struct acp_update_session_notification u;
    acp_update_session_notification_init(&u, acp_str_from("s"));
    u.update.is = ACP_SESSION_UPDATE_UNLISTED;
    expect_refused(ACP_TYPE_UPDATE_SESSION_NOTIFICATION, ACP_V2, &u, ACP_ERR_MISSING, "update",
                   "needs its raw text");
    u.update.raw = acp_raw_from("{\"sessionUpdate\":\"_own\",\n\"x\":1}");
    expect(ACP_TYPE_UPDATE_SESSION_NOTIFICATION, ACP_V2, &u,
           "{'sessionId':'s','update':{'sessionUpdate':'_own', 'x':1}}");
    u.update.raw = acp_raw_from("{\"sessionUpdate\":");
    expect_refused(ACP_TYPE_UPDATE_SESSION_NOTIFICATION, ACP_V2, &u, ACP_ERR_SYNTAX, "update",
                   "not valid JSON");
}

static void encoding_takes_its_place_among_other_values(void **state)
{
    (void) state;
    struct acp_buf buf;
    struct acp_json_writer w;
    struct acp_error error;
    acp_error_init(&error, -32000, acp_str_from("no"));
    acp_buf_init(&buf, 1 << 16);
    acp_json_writer_init(&w, &buf);
    acp_json_begin_array(&w);
    assert_int_equal(acp_error_encode(ACP_V1, &error, &w, NULL), 0);
    assert_int_equal(acp_error_encode(ACP_V1, &error, &w, NULL), 0);
    acp_json_write_i64(&w, 1);
    acp_json_end_array(&w);
    assert_int_equal(w.err, 0);
    assert_string_equal(test_cstr(&buf), "[{\"code\":-32000,\"message\":\"no\"},"
                                         "{\"code\":-32000,\"message\":\"no\"},1]");
    acp_buf_finish(&buf);
}

/* However small the buffer may grow: LIMIT or the whole message, and what was there stays. */
static void a_full_buffer_is_an_error_not_half_a_message(void **state)
{
    (void) state;
    struct acp_content_block blocks[8];
    struct acp_prompt_request m;
    for (size_t i = 0; i < COUNT(blocks); i++)
        acp_content_block_init_text(&blocks[i],
                                    acp_str_from("text\nwith escapes and \xFF bytes \x01"));
    acp_prompt_request_init(&m, acp_str_from("s"), blocks, COUNT(blocks));
    size_t whole = 0;
    for (size_t max = 2000; max-- > 0;) {
        struct acp_buf buf;
        struct acp_json_writer w;
        acp_buf_init(&buf, max);
        acp_json_writer_init(&w, &buf);
        int err = acp_prompt_request_encode(ACP_V1, &m, &w, NULL);
        assert_true(err == 0 || err == ACP_ERR_LIMIT);
        assert_int_equal(w.err, err);
        if (!whole)
            whole = buf.len;
        assert_int_equal(buf.len, err ? 0 : whole);
        assert_true(err != 0 || max >= whole);
        acp_buf_finish(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialize_in_version_1),
        cmocka_unit_test(initialize_in_version_2),
        cmocka_unit_test(new_session_with_mcp_servers),
        cmocka_unit_test(prompt_with_every_block),
        cmocka_unit_test(updates_in_both_versions),
        cmocka_unit_test(permission_in_both_versions),
        cmocka_unit_test(choices_are_written_as_what_they_are),
        cmocka_unit_test(absent_null_and_value_are_written_apart),
        cmocka_unit_test(null_where_none_is_allowed_is_left_out),
        cmocka_unit_test(fields_of_the_other_version_are_left_out),
        cmocka_unit_test(a_message_is_built_by_the_name_of_its_type),
        cmocka_unit_test(variants_and_types_of_the_other_version_are_refused),
        cmocka_unit_test(what_is_required_must_be_there),
        cmocka_unit_test(values_out_of_range_are_refused),
        cmocka_unit_test(raw_json_is_checked_before_it_goes_out),
        cmocka_unit_test(encoding_takes_its_place_among_other_values),
        cmocka_unit_test(a_full_buffer_is_an_error_not_half_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
