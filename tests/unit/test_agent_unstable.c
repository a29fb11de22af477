/*
 * The unstable surface of the agent's role: behind the switch, behind what the program offers, and
 * with params that are decoded.
 */
#include "test_agent_host.h"

enum { ALL = 255 };

static void on_request(struct acp_agent *agent, acp_call call, const struct acp_method *method,
                       const void *params, const struct acp_message *message, void *user)
{
    struct host *h = user;
    (void) message;
    if (method->id == ACP_METHOD_SESSION_SET_TITLE) {
        const struct acp_set_session_title_request *request = params;
        struct acp_set_session_title_response answer;
        acp_set_session_title_response_init(&answer, request->title);
        host_note(h, "title %.*s", (int) request->title.len, request->title.ptr);
        assert_int_equal(acp_agent_respond(agent, call, method->result, &answer), 0);
        return;
    }
    host_note(h, "%.*s%s", (int) method->name.len, method->name.ptr, params ? "" : " raw");
    (void) acp_agent_respond_error(agent, call, -32603, acp_str_from("served"));
}

static void on_fork(struct acp_session *session, const struct acp_fork_session_request *request,
                    void *user)
{
    struct host *h = user;
    host_note(h, "fork of %.*s in %.*s", (int) request->session_id.len, request->session_id.ptr,
              (int) acp_session_cwd(session).len, acp_session_cwd(session).ptr);
    if (acp_str_is(request->session_id, "s")) {
        assert_int_equal(acp_session_set_id(session, acp_str_from("fork")), 0);
        assert_int_equal(acp_session_accept(session, NULL), 0);
    } else {
        assert_int_equal(acp_session_reject(session, ACP_ERROR_CODE_RESOURCE_NOT_FOUND,
                                            acp_str_from("No such session")),
                         0);
    }
}

static void on_notification(struct acp_agent *agent, const struct acp_message *message, void *user)
{
    (void) agent;
    host_note(user, "%.*s", (int) message->method.len, message->method.ptr);
}

static const struct acp_agent_handler handler = {.new_session = host_accept,
                                                 .fork_session = on_fork,
                                                 .request = on_request,
                                                 .notification = on_notification};

static void open_host(struct host *h, int version, unsigned unstable, unsigned services,
                      const char *capabilities)
{
    struct acp_agent_options options = {.versions = ACP_V1 | ACP_V2 | unstable,
                                        .services = services};
    host_init(h, &options, &handler);
    host_initialize(h, version, capabilities);
}

static void open_session(struct host *h)
{
    feed(h, "{'jsonrpc':'2.0','id':1,'method':'session/new','params':{'cwd':'/w',"
            "'mcpServers':[]}}");
    expect_wrote(h, "'sessionId':'s'");
    forget(h);
}

/* Every unstable request: by what it is offered, and with good and bad params. */
static const struct {
    const char *method;
    unsigned service;
    const char *params;
    bool takes_anything;
} requests[] = {
    {"session/archive", ACP_SERVICE_ARCHIVE, "{'sessionId':'x'}", false},
    {"session/unarchive", ACP_SERVICE_ARCHIVE, "{'sessionId':'x'}", false},
    {"session/status", ACP_SERVICE_STATUS, "{'sessionId':'x'}", false},
    {"providers/list", ACP_SERVICE_PROVIDERS, "{}", true},
    {"providers/set", ACP_SERVICE_PROVIDERS,
     "{'providerId':'p','apiType':'openai','baseUrl':'https://example.com'}", false},
    {"providers/disable", ACP_SERVICE_PROVIDERS, "{'providerId':'p'}", false},
    {"auth/status", ACP_SERVICE_AUTH_STATUS, "{}", true},
};

static void send_request(struct host *h, const char *method, const char *params)
{
    char line[600];
    (void) snprintf(line, sizeof(line), "{'jsonrpc':'2.0','id':5,'method':'%s','params':%s}",
                    method, params);
    forget(h);
    feed(h, line);
}

static void requests_need_the_switch_and_the_offer(void **state)
{
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        for (size_t i = 0; i < COUNT(requests); i++) {
            /* Not without the switch, and not without the offer. */
            open_host(&h, version, 0, ALL, "{}");
            send_request(&h, requests[i].method, requests[i].params);
            CHECK_ROW(wrote(&h, "-32601"), i, "%s", test_cstr(&h.wire));
            host_finish(&h);
            open_host(&h, version, ACP_UNSTABLE, ALL & ~requests[i].service, "{}");
            send_request(&h, requests[i].method, requests[i].params);
            CHECK_ROW(wrote(&h, "-32601"), i, "%s", test_cstr(&h.wire));
            expect_note(&h, "");
            host_finish(&h);
            /* With both. */
            open_host(&h, version, ACP_UNSTABLE, requests[i].service, "{}");
            send_request(&h, requests[i].method, requests[i].params);
            CHECK_ROW(wrote(&h, "served"), i, "%s", test_cstr(&h.wire));
            char told[64];
            (void) snprintf(told, sizeof(told), "%s\n", requests[i].method);
            expect_note(&h, told);
            send_request(&h, requests[i].method, "{'sessionId':7,'providerId':[]}");
            CHECK_ROW(wrote(&h, "-32602") != requests[i].takes_anything, i, "%s",
                      test_cstr(&h.wire));
            host_finish(&h);
        }
    }
}

static void params_are_decoded_and_answers_typed(void **state)
{
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, ACP_UNSTABLE, ACP_SERVICE_TITLE, "{}");
        send_request(&h, "session/set_title", "{'sessionId':'x','title':'A talk'}");
        expect_note(&h, "title A talk\n");
        expect_wrote(&h, "'id':5,'result':{'title':'A talk'}");
        /* Those of the client's own are as they came. */
        send_request(&h, "_x/y", "{'a':1}");
        expect_note(&h, "_x/y raw\n");
        send_request(&h, "no/such", "{}");
        expect_wrote(&h, "-32601");
        expect_note(&h, "");
        host_finish(&h);
    }
}

static void what_is_offered_is_told(void **state)
{
    static const char *const parts[] = {
        "'archive':{}", "'status':{}",    "'title':{}",
        "'fork':{}",    "'providers':{}", "'systemPrompt':{'mode':{'override':{}}}",
    };
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, ACP_UNSTABLE, ALL, "{}");
        for (size_t i = 0; i < COUNT(parts); i++)
            expect_wrote(&h, parts[i]);
        expect_wrote(&h, version == 1 ? "'acp':true" : "'acp':{}");
        expect_wrote(&h, "'auth':{'status':{}");
        host_finish(&h);
        open_host(&h, version, 0, ALL, "{}");
        for (size_t i = 0; i < COUNT(parts); i++)
            assert_false(wrote(&h, parts[i]));
        assert_false(wrote(&h, "'acp':"));
        host_finish(&h);
        open_host(&h, version, ACP_UNSTABLE, ACP_SERVICE_SYSTEM_PROMPT, "{}");
        expect_wrote(&h, "'systemPrompt':{}");
        assert_false(wrote(&h, "'archive'"));
        assert_false(wrote(&h, "'providers'"));
        host_finish(&h);
    }
}

static void a_session_is_forked(void **state)
{
    static const char FORK[] = "{'sessionId':'s','cwd':'/w/2','mcpServers':[]}";
    struct host h;
    (void) state;
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, ACP_UNSTABLE, 0, "{}");
        open_session(&h);
        send_request(&h, "session/fork", FORK);
        expect_note(&h, "fork of s in /w/2\n");
        expect_wrote(&h, "'id':5,'result':{'sessionId':'fork'");
        assert_non_null(acp_agent_find_session(h.agent, acp_str_from("s")));
        assert_non_null(acp_agent_find_session(h.agent, acp_str_from("fork")));
        send_request(&h, "session/fork", "{'sessionId':'gone','cwd':'/w','mcpServers':[]}");
        expect_wrote(&h, "'id':5,'error':{'code':-32002");
        expect_note(&h, "fork of gone in /w\n");
        send_request(&h, "session/fork", "{'sessionId':'s','cwd':'w','mcpServers':[]}");
        expect_wrote(&h, "-32602");
        expect_note(&h, "");
        host_finish(&h);
        open_host(&h, version, 0, 0, "{}");
        send_request(&h, "session/fork", FORK);
        expect_wrote(&h, "-32601");
        expect_note(&h, "");
        host_finish(&h);
    }
}

static void a_system_prompt_needs_its_offer(void **state)
{
    static const struct {
        unsigned services;
        const char *mode;
        bool taken;
    } rows[] = {
        {0, "append", false},
        {ACP_SERVICE_SYSTEM_PROMPT, "append", true},
        {ACP_SERVICE_SYSTEM_PROMPT, "override", false},
        {ACP_SERVICE_OVERRIDE_SYSTEM_PROMPT, "override", true},
        {ACP_SERVICE_OVERRIDE_SYSTEM_PROMPT, "append", true},
        {ACP_SERVICE_OVERRIDE_SYSTEM_PROMPT, "_other", false},
    };
    struct host h;
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char params[300];
        (void) snprintf(params, sizeof(params),
                        "{'cwd':'/w','mcpServers':[],'systemPrompt':{'mode':'%s','content':[]}}",
                        rows[i].mode);
        open_host(&h, 2, ACP_UNSTABLE, rows[i].services, "{}");
        send_request(&h, "session/new", params);
        CHECK_ROW(wrote(&h, "'sessionId':'s'") == rows[i].taken, i, "%s", test_cstr(&h.wire));
        CHECK_ROW(wrote(&h, "-32602") != rows[i].taken, i, "%s", test_cstr(&h.wire));
        host_finish(&h);
    }
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    struct host *h = user;
    (void) peer;
    (void) request;
    (void) reply;
    h->answers++;
}

static void mcp_goes_through_the_connection(void **state)
{
    static const char SERVER[] =
        "{'cwd':'/w','mcpServers':[{'type':'acp','name':'m','serverId':'m1'}]}";
    static const char NOTE[] =
        "{'jsonrpc':'2.0','method':'mcp/message','params':{'serverId':'m1','requestId':'r',"
        "'method':'notifications/progress'}}";
    struct acp_message_mcp_request request;
    struct acp_str method = acp_str_from("mcp/message");
    struct host h;
    (void) state;
    acp_message_mcp_request_init(&request, acp_str_from("m1"), acp_str_from("r"),
                                 acp_str_from("tools/list"));
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, ACP_UNSTABLE, 0, "{}");
        send_request(&h, "session/new", SERVER);
        expect_wrote(&h, "mcpServers[0]");
        feed(&h, NOTE);
        expect_note(&h, "");
        host_finish(&h);
        open_host(&h, version, ACP_UNSTABLE, ACP_SERVICE_MCP, "{}");
        forget(&h);
        assert_int_equal(acp_agent_request(h.agent, method, ACP_TYPE_MESSAGE_MCP_REQUEST, &request,
                                           on_reply, &h, NULL),
                         ACP_ERR_STATE); /* no such server was handed over yet */
        send_request(&h, "session/new", SERVER);
        expect_wrote(&h, "'sessionId':'s'");
        assert_int_equal(acp_agent_request(h.agent, method, ACP_TYPE_MESSAGE_MCP_REQUEST, &request,
                                           on_reply, &h, NULL),
                         0);
        expect_wrote(&h, "'method':'mcp/message','params':{'serverId':'m1'");
        feed(&h, NOTE);
        expect_note(&h, "mcp/message\n");
        host_finish(&h);
        assert_int_equal(h.answers, 1);
    }
}

static void the_state_of_the_login_is_told_where_it_is_offered(void **state)
{
    struct acp_auth_status_update_notification note;
    struct acp_str method = acp_str_from("auth/status_update");
    struct host h;
    (void) state;
    acp_auth_status_update_notification_init(&note, ACP_AUTH_STATE_AUTHENTICATED);
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, ACP_UNSTABLE, 0, "{}");
        assert_int_equal(
            acp_agent_notify(h.agent, method, ACP_TYPE_AUTH_STATUS_UPDATE_NOTIFICATION, &note),
            ACP_ERR_STATE);
        host_finish(&h);
        open_host(&h, version, ACP_UNSTABLE, ACP_SERVICE_AUTH_STATUS, "{}");
        assert_int_equal(
            acp_agent_notify(h.agent, method, ACP_TYPE_AUTH_STATUS_UPDATE_NOTIFICATION, &note), 0);
        expect_wrote(&h, "'method':'auth/status_update','params':{'state':'authenticated'");
        host_finish(&h);
    }
}

static void subagents_and_plans_need_the_markers_of_version_1(void **state)
{
    struct acp_session_update child;
    struct acp_session_update removed;
    struct host h;
    (void) state;
    acp_session_update_init_subagent_update(&child, acp_str_from("child"));
    acp_session_update_init_plan_removed(&removed, acp_str_from("main"));
    open_host(&h, 1, ACP_UNSTABLE, 0, "{}");
    open_session(&h);
    assert_int_equal(acp_session_send_update(h.session, &child), ACP_ERR_STATE);
    assert_int_equal(acp_session_send_update(h.session, &removed), ACP_ERR_STATE);
    expect_silence(&h);
    host_finish(&h);
    for (int version = 1; version <= 2; version++) {
        open_host(&h, version, ACP_UNSTABLE, 0, version == 1 ? "{'subagents':{},'plan':{}}" : "{}");
        open_session(&h);
        assert_int_equal(acp_session_send_update(h.session, &child), 0);
        expect_wrote(&h, "'sessionUpdate':'subagent_update','sessionId':'child'");
        assert_int_equal(acp_session_send_update(h.session, &removed), 0);
        expect_wrote(&h, "'sessionUpdate':'plan_removed'");
        forget(&h);
        child.subagent_update.cwd = acp_str_from("here");
        assert_int_equal(acp_session_send_update(h.session, &child), ACP_ERR_ARGUMENT);
        child.subagent_update.cwd = acp_str_from(NULL);
        expect_silence(&h);
        host_finish(&h);
    }
    open_host(&h, 2, 0, 0, "{}");
    open_session(&h);
    assert_int_not_equal(acp_session_send_update(h.session, &child), 0);
    expect_silence(&h);
    host_finish(&h);
}

static void what_a_turn_cost_is_told_at_its_end(void **state)
{
    struct acp_usage usage;
    struct host h;
    (void) state;
    acp_usage_init(&usage, 30, 10, 20);
    for (int version = 1; version <= 2; version++) {
        for (unsigned unstable = 0; unstable <= ACP_UNSTABLE; unstable += ACP_UNSTABLE) {
            open_host(&h, version, unstable, 0, "{}");
            open_session(&h);
            host_prompt(&h);
            acp_turn_set_usage(h.turn, &usage);
            assert_int_equal(acp_turn_end(h.turn, ACP_STOP_END_TURN), 0);
            assert_true(wrote(&h, "'stopReason':'end_turn'"));
            assert_int_equal(wrote(&h, "'usage':{'totalTokens':30,'inputTokens':10,"
                                       "'outputTokens':20}"),
                             unstable != 0);
            host_finish(&h);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_need_the_switch_and_the_offer),
        cmocka_unit_test(params_are_decoded_and_answers_typed),
        cmocka_unit_test(what_is_offered_is_told),
        cmocka_unit_test(a_session_is_forked),
        cmocka_unit_test(a_system_prompt_needs_its_offer),
        cmocka_unit_test(mcp_goes_through_the_connection),
        cmocka_unit_test(the_state_of_the_login_is_told_where_it_is_offered),
        cmocka_unit_test(subagents_and_plans_need_the_markers_of_version_1),
        cmocka_unit_test(what_a_turn_cost_is_told_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
