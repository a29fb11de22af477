/* What a turn asks the user, in both versions: forms and web pages, states meanwhile, the gates. */
#include "test_agent_host.h"

static const struct acp_agent_handler handler = {.new_session = host_accept};

static void open_host(struct host *h, int version, const char *capabilities)
{
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2};
    host_init(h, &options, &handler);
    host_open(h, version, capabilities);
    host_prompt(h);
}

static void on_answer(struct acp_turn *turn, const struct acp_elicitation_answer *answer,
                      void *user)
{
    static const char *const actions[] = {"cancel", "decline", "accept"};
    struct host *h = user;
    assert_ptr_equal(turn, h->turn);
    h->answers++;
    h->err = answer->err;
    host_note(h, "%s %zu", actions[answer->action], answer->content.count);
}

static int ask_form(struct host *h)
{
    struct acp_elicitation_property_schema_entry name = {.key = acp_str_from("name")};
    struct acp_elicitation_schema form;
    acp_elicitation_property_schema_init_string(&name.value);
    acp_elicitation_schema_init(&form);
    form.properties.items = &name;
    form.properties.count = 1;
    return acp_turn_elicit_form(h->turn, acp_str_from("t1"), acp_str_from("Who?"), &form, on_answer,
                                h);
}

static int ask_url(struct host *h)
{
    return acp_turn_elicit_url(h->turn, acp_str_from(NULL), acp_str_from("There"),
                               acp_str_from("https://example.com/"), acp_str_from("v1"), on_answer,
                               h);
}

static void on_permission(struct acp_turn *turn, const struct acp_permission_answer *answer,
                          void *user)
{
    struct host *h = user;
    (void) turn;
    h->answers++;
    h->err = answer->err;
}

static int ask_permission(struct host *h, const char *path)
{
    struct acp_tool_call_location where = {.path = acp_str_from(path)};
    struct acp_permission_option option;
    struct acp_tool_call_update tool;
    acp_permission_option_init(&option, acp_str_from("yes"), acp_str_from("Yes"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_tool_call_update_init(&tool, acp_str_from("t1"));
    tool.title = acp_str_from("Look");
    tool.locations.items = &where;
    tool.locations.count = 1;
    return acp_turn_request_permission(h->turn, &tool, &option, 1, on_permission, h);
}

static void a_form_and_a_page_are_asked_for(void **state)
{
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, "{'elicitation':{'form':{},'url':{}}}");
        assert_int_equal(ask_form(&h), 0);
        expect_wrote(&h, "'method':'elicitation/create','params':{'mode':'form',");
        expect_wrote(&h, "'sessionId':'s','toolCallId':'t1',");
        expect_wrote(&h, "'requestedSchema':{'type':'object','properties':{'name':");
        expect_wrote(&h, "'message':'Who?'");
        feed(&h, "{'jsonrpc':'2.0','id':0,'result':{'action':'accept','content':{'name':'x'}}}");
        expect_note(&h, "accept 1\n");
        forget(&h);
        assert_int_equal(ask_url(&h), 0);
        expect_wrote(&h, "'mode':'url'");
        expect_wrote(&h, "'elicitationId':'v1','url':'https://example.com/'");
        assert_false(wrote(&h, "toolCallId"));
        feed(&h, "{'jsonrpc':'2.0','id':1,'result':{'action':'decline'}}");
        expect_note(&h, "decline 0\n");
        assert_int_equal(acp_agent_complete_elicitation(h.agent, acp_str_from("v1")), 0);
        expect_wrote(&h, "'method':'elicitation/complete','params':{'elicitationId':'v1'}");
        host_finish(&h);
    }
}

static void v1_elic_01_one_mode_is_not_the_other(void **state)
{
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, "{'elicitation':{'form':{}}}");
        forget(&h);
        assert_int_equal(ask_url(&h), ACP_ERR_STATE);
        assert_int_equal(acp_agent_complete_elicitation(h.agent, acp_str_from("v1")),
                         ACP_ERR_STATE);
        expect_silence(&h);
        assert_int_equal(ask_form(&h), 0);
        host_finish(&h);
        open_host(&h, version, "{'elicitation':{'url':{}}}");
        forget(&h);
        assert_int_equal(ask_form(&h), ACP_ERR_STATE);
        expect_silence(&h);
        assert_int_equal(ask_url(&h), 0);
        host_finish(&h);
        open_host(&h, version, "{'elicitation':{}}");
        assert_int_equal(ask_form(&h), ACP_ERR_STATE);
        assert_int_equal(ask_url(&h), ACP_ERR_STATE);
        host_finish(&h);
    }
}

static void v2_misc_03_what_is_unknown_counts_as_cancelled(void **state)
{
    struct host h;
    (void) state;
    open_host(&h, 2, "{'elicitation':{'form':{}}}");
    assert_int_equal(ask_form(&h), 0);
    feed(&h, "{'jsonrpc':'2.0','id':0,'result':{'action':'_later','content':{'name':'x'}}}");
    expect_note(&h, "cancel 0\n");
    assert_int_equal(h.err, 0);
    assert_int_equal(ask_form(&h), 0);
    feed(&h, "{'jsonrpc':'2.0','id':1,'result':{'action':'decline','content':{'name':'x'}}}");
    expect_note(&h, "decline 0\n");
    assert_int_equal(ask_form(&h), 0);
    feed(&h, "{'jsonrpc':'2.0','id':2,'result':7}");
    expect_note(&h, "cancel 0\n");
    assert_int_equal(h.err, ACP_ERR_TYPE);
    assert_int_equal(ask_form(&h), 0);
    feed(&h, "{'jsonrpc':'2.0','id':3,'error':{'code':-32603,'message':'no'}}");
    expect_note(&h, "cancel 0\n");
    assert_int_equal(h.err, ACP_ERR_REMOTE);
    host_finish(&h);
}

static void a_form_is_answered_once_at_cancel_end_and_close(void **state)
{
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        for (int way = 0; way < 3; way++) {
            open_host(&h, version, "{'elicitation':{'form':{}}}");
            assert_int_equal(ask_form(&h), 0);
            if (way == 0)
                feed(&h, "{'jsonrpc':'2.0','method':'session/cancel','params':{'sessionId':'s'}}");
            else if (way == 1)
                assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
            else
                acp_agent_close(h.agent, ACP_ERR_CLOSED);
            assert_int_equal(h.answers, 1);
            assert_int_equal(h.err, way == 2 ? ACP_ERR_CLOSED : ACP_ERR_CANCELLED);
            if (way < 2) {
                expect_wrote(&h, "'method':'$/cancel_request','params':{'requestId':0}");
                feed(&h, "{'jsonrpc':'2.0','id':0,'result':{'action':'accept'}}");
            }
            if (way == 0) {
                assert_int_equal(ask_form(&h), ACP_ERR_CANCELLED);
                assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
            }
            assert_int_equal(h.answers, 1);
            host_finish(&h);
            assert_int_equal(h.answers, 1);
        }
    }
}

static void v2_state_06_a_question_blocks_unless_the_turn_works_on(void **state)
{
    struct host h;
    (void) state;
    open_host(&h, 2, "{'elicitation':{'form':{}}}");
    forget(&h);
    assert_int_equal(ask_form(&h), 0);
    expect_wrote(&h, "'state':'requires_action'");
    forget(&h);
    /* Of two questions the answer to one changes nothing. */
    assert_int_equal(ask_permission(&h, "/w/a"), 0);
    feed(&h, "{'jsonrpc':'2.0','id':0,'result':{'action':'decline'}}");
    assert_false(wrote(&h, "state_update"));
    feed(&h, "{'jsonrpc':'2.0','id':1,'result':{'outcome':{'outcome':'cancelled'}}}");
    expect_wrote(&h, "'state':'running'");
    forget(&h);
    /* A turn that works on is not blocked, until it says that it waits now. */
    assert_int_equal(acp_turn_set_busy(h.turn, true), 0);
    assert_int_equal(ask_form(&h), 0);
    assert_false(wrote(&h, "state_update"));
    assert_int_equal(acp_turn_set_busy(h.turn, false), 0);
    expect_wrote(&h, "'state':'requires_action'");
    forget(&h);
    assert_int_equal(acp_turn_set_busy(h.turn, true), 0);
    expect_wrote(&h, "'state':'running'");
    forget(&h);
    assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
    expect_wrote(&h, "'state':'idle','stopReason':'end_turn'");
    assert_false(wrote(&h, "'state':'running'"));
    host_finish(&h);
}

static void com_rpc_24_relative_paths_are_not_asked_about(void **state)
{
    struct acp_request_permission_subject subject;
    struct acp_request_permission_request request;
    struct acp_permission_option option;
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, "{'terminal':true,'fs':{'readTextFile':true}}");
        forget(&h);
        assert_int_equal(ask_permission(&h, "a"), ACP_ERR_ARGUMENT);
        expect_silence(&h);
        if (version == 2)
            break;
        struct acp_create_terminal_request create;
        acp_create_terminal_request_init(&create, acp_str_from("s"), acp_str_from("make"));
        create.cwd = acp_str_from("here");
        assert_int_equal(acp_turn_request(h.turn, acp_str_from("terminal/create"),
                                          ACP_TYPE_CREATE_TERMINAL_REQUEST, &create, NULL, NULL),
                         ACP_ERR_ARGUMENT);
        struct acp_read_text_file_request read;
        acp_read_text_file_request_init(&read, acp_str_from("s"), acp_str_from("/w/a"));
        read.line = acp_some_i64(0);
        assert_int_equal(acp_turn_request(h.turn, acp_str_from("fs/read_text_file"),
                                          ACP_TYPE_READ_TEXT_FILE_REQUEST, &read, NULL, NULL),
                         ACP_ERR_ARGUMENT);
        expect_silence(&h);
        host_finish(&h);
    }
    /* A command that is asked about. */
    acp_permission_option_init(&option, acp_str_from("yes"), acp_str_from("Yes"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_request_permission_request_init(&request, acp_str_from("s"), &option, 1);
    request.title = acp_str_from("Run it");
    acp_request_permission_subject_init_command(&subject, acp_str_from("make"),
                                                acp_str_from("here"));
    request.subject = &subject;
    struct acp_str method = acp_str_from("session/request_permission");
    assert_int_equal(
        acp_turn_request(h.turn, method, ACP_TYPE_REQUEST_PERMISSION_REQUEST, &request, NULL, NULL),
        ACP_ERR_ARGUMENT);
    expect_silence(&h);
    host_finish(&h);
}

static void on_result(struct acp_turn *turn, const struct acp_reply *reply, void *user)
{
    struct host *h = user;
    (void) turn;
    h->answers++;
    h->err = reply->err;
}

static void v2_perm_02_a_command_is_asked_about(void **state)
{
    struct acp_request_permission_subject subject;
    struct acp_request_permission_request request;
    struct acp_permission_option option;
    struct host h;
    (void) state;
    open_host(&h, 2, "{}");
    forget(&h);
    acp_permission_option_init(&option, acp_str_from("yes"), acp_str_from("Yes"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_request_permission_request_init(&request, acp_str_from("s"), &option, 1);
    request.title = acp_str_from("Run it");
    acp_request_permission_subject_init_command(&subject, acp_str_from("make"), acp_str_from("/w"));
    request.subject = &subject;
    assert_int_equal(acp_turn_request(h.turn, acp_str_from("session/request_permission"),
                                      ACP_TYPE_REQUEST_PERMISSION_REQUEST, &request, on_result, &h),
                     0);
    expect_wrote(&h, "'subject':{'type':'command','command':'make','cwd':'/w'}");
    expect_wrote(&h, "'state':'requires_action'");
    feed(&h, "{'jsonrpc':'2.0','id':0,'result':{'outcome':{'outcome':'cancelled'}}}");
    expect_wrote(&h, "'state':'running'");
    assert_int_equal(h.answers, 1);
    host_finish(&h);
}

/* Standard methods are asked with their own structs, so that they can be looked at. */
static void a_request_has_the_params_of_its_method(void **state)
{
    struct acp_raw raw = acp_raw_from("{}");
    struct acp_raw list = acp_raw_from("[]");
    struct host h;
    (void) state;
    open_host(&h, 1, "{'elicitation':{'form':{}}}");
    forget(&h);
    assert_int_equal(acp_turn_request(h.turn, acp_str_from("elicitation/create"), ACP_TYPE_ANY,
                                      &raw, on_result, &h),
                     ACP_ERR_ARGUMENT);
    assert_int_equal(
        acp_turn_request(h.turn, acp_str_from("no/such"), ACP_TYPE_ANY, &raw, on_result, &h),
        ACP_ERR_STATE);
    assert_int_equal(
        acp_turn_request(h.turn, acp_str_from("_x"), ACP_TYPE_ANY, &list, on_result, &h),
        ACP_ERR_ARGUMENT);
    expect_silence(&h);
    assert_int_equal(
        acp_turn_request(h.turn, acp_str_from("_x"), ACP_TYPE_ANY, &raw, on_result, &h), 0);
    expect_wrote(&h, "'method':'_x','params':{}");
    host_finish(&h);
    assert_int_equal(h.answers, 1);
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    struct host *h = user;
    (void) peer;
    (void) request;
    h->answers++;
    h->err = reply->err;
}

/* Asked while the client waits for the answer to a request, outside of any session. */
static void v1_elic_05_a_form_for_a_request(void **state)
{
    struct acp_create_elicitation_request request;
    struct host h;
    (void) state;
    open_host(&h, 1, "{'elicitation':{'form':{}}}");
    assert_int_equal(acp_turn_send_text(h.turn, acp_str_from("first")), 0);
    forget(&h);
    acp_create_elicitation_request_init_form(&request, acp_str_from("Who?"));
    acp_elicitation_form_mode_init_request(&request.form);
    request.form.request.request_id.is = ACP_REQUEST_ID_NUMBER;
    request.form.request.request_id.number = 2;
    assert_int_equal(acp_agent_request(h.agent, acp_str_from("elicitation/create"),
                                       ACP_TYPE_CREATE_ELICITATION_REQUEST, &request, on_reply, &h,
                                       NULL),
                     0);
    expect_wrote(&h, "'requestId':2");
    /* What was said before does not come behind it. */
    host_collect(&h);
    const char *all = test_cstr(&h.wire);
    assert_true(strstr(all, "first") && strstr(all, "first") < strstr(all, "requestId"));
    feed(&h, "{'jsonrpc':'2.0','id':0,'result':{'action':'cancel'}}");
    assert_int_equal(h.answers, 1);
    host_finish(&h);
    assert_int_equal(h.answers, 1);
}

/* ---- Too much ------------------------------------------------------------------------------- */

static void a_prompt_that_is_too_long_is_refused_and_begins_nothing(void **state)
{
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2, .max_prompt = 100};
    (void) state;
    for (int version = 1; version <= 2; version++) {
        struct host h;
        host_init(&h, &options, &handler);
        host_open(&h, version, "{}");
        feed(&h, "{'jsonrpc':'2.0','id':5,'method':'session/prompt','params':{'sessionId':'s',"
                 "'prompt':[{'type':'text','text':'"
                 "01234567890123456789012345678901234567890123456789'}]}}");
        expect_wrote(&h, "'id':5,'error':{'code':-32602,'message':'Invalid params: the prompt has "
                         "104 bytes, and at most 100 are taken'");
        assert_null(h.turn);
        forget(&h);
        host_prompt(&h);
        assert_non_null(h.turn);
        host_finish(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_and_a_page_are_asked_for),
        cmocka_unit_test(v1_elic_01_one_mode_is_not_the_other),
        cmocka_unit_test(v2_misc_03_what_is_unknown_counts_as_cancelled),
        cmocka_unit_test(a_form_is_answered_once_at_cancel_end_and_close),
        cmocka_unit_test(v2_state_06_a_question_blocks_unless_the_turn_works_on),
        cmocka_unit_test(com_rpc_24_relative_paths_are_not_asked_about),
        cmocka_unit_test(v2_perm_02_a_command_is_asked_about),
        cmocka_unit_test(a_request_has_the_params_of_its_method),
        cmocka_unit_test(v1_elic_05_a_form_for_a_request),
        cmocka_unit_test(a_prompt_that_is_too_long_is_refused_and_begins_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
