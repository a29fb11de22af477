/*
 * What a client may send: only what the version has and the agent offers.  The rest is refused
 * here, with a sentence, and never reaches the agent.
 */
#include "test_client_host.h"

#define UNSTABLE_V1                                                                                \
    "{\"sessionCapabilities\":{\"fork\":{},\"archive\":{},\"title\":{},\"status\":{},"             \
    "\"systemPrompt\":{}},\"providers\":{},\"auth\":{\"status\":{}},"                              \
    "\"mcpCapabilities\":{\"acp\":true}}"
#define UNSTABLE_V2                                                                                \
    "{\"session\":{\"fork\":{},\"archive\":{},\"title\":{},\"status\":{},\"systemPrompt\":{},"     \
    "\"mcp\":{\"acp\":{}}},\"providers\":{},\"auth\":{\"status\":{}}}"

static const char *unstable(unsigned version)
{
    return version & ACP_V2 ? UNSTABLE_V2 : UNSTABLE_V1;
}

static int request(struct conversation *t, const char *method, const char *json)
{
    struct acp_raw params = acp_raw_from(json);
    return acp_client_request(t->client, acp_str_from(method), ACP_TYPE_ANY, &params, ACP_TYPE_ANY,
                              on_done, t);
}

static int notify(struct conversation *t, const char *method, const char *json)
{
    struct acp_raw params = acp_raw_from(json);
    return acp_client_notify(t->client, acp_str_from(method), ACP_TYPE_ANY, &params);
}

static bool why_has(struct conversation *t, const char *word)
{
    return strstr(acp_client_error_text(t->client).ptr, word) != NULL;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void nothing_is_requested_that_the_agent_does_not_offer(void **state)
{
    static const struct {
        unsigned version;
        const char *capabilities;
        const char *method;
        const char *why; /* NULL: it is sent */
    } rows[] = {
        {ACP_V1, "{}", "_own/method", NULL},
        {ACP_V2, "{}", "_own/method", NULL},
        {ACP_V1, "{}", "own/method", "has no own/method"},
        {ACP_V1, "{}", "session/list", "does not offer session/list"},
        {ACP_V1, "{\"sessionCapabilities\":{\"list\":null}}", "session/list", "does not offer"},
        /* A mark must be an object; anything else is malformed and read as absent. */
        {ACP_V1, "{\"sessionCapabilities\":{\"list\":true}}", "session/list", "does not offer"},
        {ACP_V1, "{\"sessionCapabilities\":{\"list\":{}}}", "session/list", NULL},
        {ACP_V2, "{}", "session/list", "does not offer"},
        {ACP_V2, "{\"session\":{}}", "session/list", NULL},
        {ACP_V2, "{\"session\":{}}", "session/close", NULL},
        {ACP_V2, "{\"session\":{}}", "session/delete", "does not offer"},
        {ACP_V2, "{\"session\":{\"delete\":{}}}", "session/delete", NULL},
        {ACP_V2, "{\"session\":{}}", "session/load", "version 2 of the protocol has no"},
        {ACP_V1, "{\"auth\":{\"logout\":{}}}", "logout", NULL},
        {ACP_V2, "{\"session\":{}}", "logout", "has no logout"},
        /* What is unstable is not there, however much the agent offers it. */
        {ACP_V1, UNSTABLE_V1, "session/archive", "has no session/archive"},
        {ACP_V2, UNSTABLE_V2, "providers/list", "has no providers/list"},
        {ACP_V1 | ACP_UNSTABLE, "{}", "session/archive", "does not offer"},
        {ACP_V2 | ACP_UNSTABLE, "{\"session\":{}}", "session/set_title", "does not offer"},
        {ACP_V1 | ACP_UNSTABLE, UNSTABLE_V1, "session/archive", NULL},
        {ACP_V1 | ACP_UNSTABLE, UNSTABLE_V1, "session/set_title", NULL},
        {ACP_V1 | ACP_UNSTABLE, UNSTABLE_V1, "auth/status", NULL},
        {ACP_V2 | ACP_UNSTABLE, UNSTABLE_V2, "session/status", NULL},
        {ACP_V2 | ACP_UNSTABLE, UNSTABLE_V2, "providers/list", NULL},
        {ACP_V2 | ACP_UNSTABLE, UNSTABLE_V2, "auth/status", NULL},
        /* What the role must know of. */
        {ACP_V1, "{}", "initialize", "call of its own"},
        {ACP_V1, "{}", "session/new", "call of its own"},
        {ACP_V1, "{\"loadSession\":true}", "session/load", "call of its own"},
        {ACP_V2, "{\"session\":{}}", "session/prompt", "call of its own"},
        {ACP_V2 | ACP_UNSTABLE, UNSTABLE_V2, "session/fork", "call of its own"},
        {ACP_V1, "{}", "session/cancel", "is a notification"},
        {ACP_V1, "{}", "session/set_mode", "does not offer"},
        {ACP_V1, "{}", "session/set_config_option", "does not offer"},
        {ACP_V2, "{\"session\":{}}", "tool_call/cancel", "does not offer"},
        {ACP_V1, "{}", "authenticate", "does not offer"},
        /* What the agent asks of us is nothing that we may ask. */
        {ACP_V1, "{}", "fs/read_text_file", "has no"},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct conversation *t = conversation_begin(rows[i].version, rows[i].capabilities);
        int err = request(t, rows[i].method, "{}");
        CHECK_ROW(err == (rows[i].why ? ACP_ERR_STATE : 0), i, "%d %s", err, rows[i].method);
        if (rows[i].why) {
            CHECK_ROW(why_has(t, rows[i].why), i, "%s", acp_client_error_text(t->client).ptr);
            expect_said(t, NULL);
        } else {
            expect_said(t, rows[i].method);
        }
        conversation_free(t);
    }
}

static void nothing_is_requested_before_initialize(void **state)
{
    struct conversation *t = conversation_new(ACP_V1);
    (void) state;
    assert_int_equal(request(t, "_own", "{}"), ACP_ERR_STATE);
    assert_int_equal(notify(t, "_own", "{}"), ACP_ERR_STATE);
    assert_true(why_has(t, "initialize has not been answered"));
    expect_said(t, NULL);
    conversation_free(t);
}

static void notifications_are_sent_under_the_same_conditions(void **state)
{
    struct conversation *t = conversation_begin(ACP_V1 | ACP_UNSTABLE, UNSTABLE_V1);
    const char *mcp = "{\"serverId\":\"s\",\"requestId\":\"1\",\"method\":\"m\"}";
    (void) state;
    assert_int_equal(notify(t, "_own/note", "{\"a\":1}"), 0);
    expect_said(t, "{\"jsonrpc\":\"2.0\",\"method\":\"_own/note\",\"params\":{\"a\":1}}\n");
    assert_int_equal(notify(t, "mcp/message", mcp), 0);
    expect_said(t, "\"method\":\"mcp/message\"");
    assert_int_equal(notify(t, "session/cancel", "{\"sessionId\":\"s\"}"), ACP_ERR_STATE);
    assert_int_equal(notify(t, "$/cancel_request", "{\"requestId\":1}"), ACP_ERR_STATE);
    assert_int_equal(notify(t, "session/archive", "{}"), ACP_ERR_STATE);
    assert_true(why_has(t, "is a request"));
    expect_said(t, NULL);
    conversation_free(t);
    t = conversation_begin(ACP_V1, UNSTABLE_V1);
    assert_int_equal(notify(t, "mcp/message", mcp), ACP_ERR_STATE);
    conversation_free(t);
}

static void keep_raw(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    const struct acp_raw *value = outcome->value;
    (void) client;
    note(user, "got %.*s\n", SPAN(*value));
}

static void the_result_of_a_method_of_ones_own_is_shown_raw(void **state)
{
    struct conversation *t = conversation_begin(ACP_V1, "{}");
    struct acp_raw params = acp_raw_from("{}");
    (void) state;
    assert_int_equal(acp_client_request(t->client, acp_str_from("_own"), ACP_TYPE_ANY, &params,
                                        ACP_TYPE_ANY, keep_raw, t),
                     0);
    answer(t, "[1,{\"a\":null}]");
    expect_log(t, "got [1,{\"a\":null}]\n");
    conversation_free(t);
}

/* ---- What is unstable, typed ----------------------------------------------------------------- */

static void on_title(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    const struct acp_set_session_title_response *response = outcome->value;
    (void) client;
    note(user, "title %.*s\n", SPAN(response->title));
}

static void on_providers(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    const struct acp_list_providers_response *response = outcome->value;
    (void) client;
    note(user, "providers %zu\n", response->providers.count);
}

static void unstable_requests_have_their_types(void **state)
{
    struct acp_set_session_title_request title;
    struct acp_list_providers_request list = {0};
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(version | ACP_UNSTABLE, unstable(version));
        acp_set_session_title_request_init(&title, acp_str_from("s"), acp_str_from("A talk"));
        assert_int_equal(acp_client_request(t->client, acp_str_from("session/set_title"),
                                            ACP_TYPE_SET_SESSION_TITLE_REQUEST, &title,
                                            ACP_TYPE_SET_SESSION_TITLE_RESPONSE, on_title, t),
                         0);
        answer(t, "{\"title\":\"A Talk\"}");
        expect_said(t, "\"params\":{\"sessionId\":\"s\",\"title\":\"A talk\"}");
        assert_int_equal(acp_client_request(t->client, acp_str_from("providers/list"),
                                            ACP_TYPE_LIST_PROVIDERS_REQUEST, &list,
                                            ACP_TYPE_LIST_PROVIDERS_RESPONSE, on_providers, t),
                         0);
        answer(t, "{\"providers\":[]}");
        expect_log(t, "title A Talk\nproviders 0\n");
        conversation_free(t);
    }
}

static void a_fork_is_a_session_of_its_own(void **state)
{
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(version | ACP_UNSTABLE, unstable(version));
        conversation_open(t, "{\"sessionId\":\"old\"}");
        struct acp_client_session *old = t->session;
        assert_int_equal(
            acp_client_fork_session(t->client, acp_str_from("old"), &place, on_opened, t), 0);
        int id = last_id(t);
        expect_said(t, "\"method\":\"session/fork\",\"params\":{\"sessionId\":\"old\"");
        update(t, "new",
               "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\","
               "\"content\":{\"type\":\"text\",\"text\":\"early\"}}");
        tell(t, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"sessionId\":\"new\"}}", id);
        expect_log(t, "opened well\nopened well\nchunk early\n");
        assert_true(t->session != old);
        assert_true(acp_str_is(acp_client_session_id(t->session), "new"));
        assert_ptr_equal(acp_client_find_session(t->client, acp_str_from("old")), old);
        conversation_prompt(t);
        expect_said(t, "\"sessionId\":\"new\"");
        conversation_free(t);
        t = conversation_begin(version, unstable(version));
        assert_int_equal(
            acp_client_fork_session(t->client, acp_str_from("old"), &place, on_opened, t),
            ACP_ERR_STATE);
        conversation_free(t);
    }
}

static void servers_in_the_client_are_asked_by_the_agent(void **state)
{
    const char *ask = "{\"jsonrpc\":\"2.0\",\"id\":\"m\",\"method\":\"mcp/message\",\"params\":{"
                      "\"serverId\":\"mine\",\"requestId\":\"1\",\"method\":\"tools/list\"}}";
    struct acp_mcp_server server = {.is = ACP_MCP_SERVER_ACP};
    struct acp_session_params place = {.cwd = acp_str_from("/w"), .mcp_servers = {&server, 1}};
    struct acp_message_mcp_response result = {.is = ACP_MESSAGE_MCP_RESPONSE_RESULT};
    (void) state;
    server.acp.name = acp_str_from("mine");
    server.acp.server_id = acp_str_from("mine");
    result.result.result = acp_raw_from("{\"tools\":[]}");
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(version | ACP_UNSTABLE, unstable(version));
        tell(t, "%s", ask); /* before there is one */
        expect_said(t, "-32601");
        assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), 0);
        answer(t, "{\"sessionId\":\"s\"}");
        acp_buf_clear(&t->said);
        tell(t, "%s", ask);
        expect_log(t, "opened well\nasked mcp/message\nmcp mine tools/list\n");
        assert_int_equal(
            acp_client_respond(t->client, t->call, ACP_TYPE_MESSAGE_MCP_RESPONSE, &result), 0);
        expect_said(t, "\"result\":{\"result\":{\"tools\":[]}}");
        conversation_free(t);
        /* An agent that cannot, and a client that does not want to. */
        t = conversation_begin(version | ACP_UNSTABLE,
                               version == ACP_V2 ? "{\"session\":{}}" : "{}");
        assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), ACP_ERR_STATE);
        conversation_free(t);
        t = conversation_begin(version, unstable(version));
        assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), ACP_ERR_STATE);
        tell(t, "%s", ask);
        expect_said(t, "-32601");
        conversation_free(t);
    }
}

static void a_system_prompt_goes_only_where_it_is_taken(void **state)
{
    struct acp_content_block block;
    struct acp_system_prompt prompt = {.mode = {.is = ACP_SYSTEM_PROMPT_MODE_APPEND},
                                       .content = {&block, 1}};
    struct acp_session_params place = {.cwd = acp_str_from("/w"), .system_prompt = &prompt};
    struct conversation *t = conversation_begin(ACP_V1 | ACP_UNSTABLE, UNSTABLE_V1);
    (void) state;
    acp_content_block_init_text(&block, acp_str_from("Be brief."));
    assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), 0);
    expect_said(t, "\"systemPrompt\":{\"mode\":\"append\"");
    prompt.mode.is = ACP_SYSTEM_PROMPT_MODE_OVERRIDE;
    assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), ACP_ERR_STATE);
    conversation_free(t);
    t = conversation_begin(ACP_V1, UNSTABLE_V1);
    prompt.mode.is = ACP_SYSTEM_PROMPT_MODE_APPEND;
    assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), ACP_ERR_STATE);
    conversation_free(t);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static int open_with(struct conversation *t, const struct acp_mcp_server *servers, size_t count)
{
    struct acp_session_params place = {.cwd = acp_str_from("/w"), .mcp_servers = {servers, count}};
    return acp_client_new_session(t->client, &place, on_opened, t);
}

static void v1_sess_15_the_command_of_a_server_is_an_absolute_path(void **state)
{
    static const char *const relative[] = {"tools", "./tools", ""};
    struct acp_mcp_server server;
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(
            version, version == ACP_V2 ? "{\"session\":{\"mcp\":{\"stdio\":{}}}}" : "{}");
        for (size_t i = 0; i < COUNT(relative); i++) {
            acp_mcp_server_init_stdio(&server, acp_str_from("tools"), acp_str_from(relative[i]));
            assert_int_equal(open_with(t, &server, 1), ACP_ERR_ARGUMENT);
            assert_true(why_has(t, "the command of the MCP server tools must be an absolute path"));
        }
        expect_said(t, NULL);
        acp_mcp_server_init_stdio(&server, acp_str_from("tools"), acp_str_from("/bin/tools"));
        assert_int_equal(open_with(t, &server, 1), 0);
        expect_said(t, "/bin/tools");
        conversation_free(t);
    }
}

static void v1_sess_14_servers_that_the_agent_cannot_reach_are_not_sent(void **state)
{
    static const struct {
        unsigned version;
        const char *capabilities;
        enum acp_mcp_server_is is;
        int err;
    } rows[] = {
        {ACP_V1, "{}", ACP_MCP_SERVER_STDIO, 0},
        {ACP_V1, "{}", ACP_MCP_SERVER_HTTP, ACP_ERR_STATE},
        {ACP_V1, "{\"mcpCapabilities\":{\"sse\":true}}", ACP_MCP_SERVER_HTTP, ACP_ERR_STATE},
        {ACP_V1, "{\"mcpCapabilities\":{\"http\":true}}", ACP_MCP_SERVER_HTTP, 0},
        {ACP_V1, "{\"mcpCapabilities\":{\"http\":true}}", ACP_MCP_SERVER_SSE, ACP_ERR_STATE},
        {ACP_V1, "{\"mcpCapabilities\":{\"sse\":true}}", ACP_MCP_SERVER_SSE, 0},
        {ACP_V2, "{\"session\":{}}", ACP_MCP_SERVER_STDIO, ACP_ERR_STATE},
        {ACP_V2, "{\"session\":{\"mcp\":{\"stdio\":{}}}}", ACP_MCP_SERVER_STDIO, 0},
        {ACP_V2, "{\"session\":{\"mcp\":{\"stdio\":{}}}}", ACP_MCP_SERVER_HTTP, ACP_ERR_STATE},
        {ACP_V2, "{\"session\":{\"mcp\":{\"http\":{}}}}", ACP_MCP_SERVER_HTTP, 0},
        {ACP_V2, "{\"session\":{\"mcp\":{\"http\":{}}}}", ACP_MCP_SERVER_SSE, ACP_ERR_STATE},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct conversation *t = conversation_begin(rows[i].version, rows[i].capabilities);
        struct acp_mcp_server server = {.is = rows[i].is};
        if (rows[i].is == ACP_MCP_SERVER_STDIO)
            acp_mcp_server_init_stdio(&server, acp_str_from("n"), acp_str_from("/bin/x"));
        else if (rows[i].is == ACP_MCP_SERVER_HTTP)
            acp_mcp_server_init_http(&server, acp_str_from("n"),
                                     acp_str_from("https://example.com"));
        else
            acp_mcp_server_init_sse(&server, acp_str_from("n"), acp_str_from("https://example.com"),
                                    NULL, 0);
        int err = open_with(t, &server, 1);
        CHECK_ROW(err == rows[i].err, i, "%d", err);
        conversation_free(t);
    }
}

static void v2_sess_07_servers_have_names_of_their_own(void **state)
{
    struct conversation *t =
        conversation_begin(ACP_V2, "{\"session\":{\"mcp\":{\"stdio\":{},\"http\":{}}}}");
    struct acp_mcp_server servers[2];
    (void) state;
    acp_mcp_server_init_stdio(&servers[0], acp_str_from("one"), acp_str_from("/bin/x"));
    acp_mcp_server_init_http(&servers[1], acp_str_from("one"), acp_str_from("https://example.com"));
    assert_int_equal(open_with(t, servers, 2), ACP_ERR_ARGUMENT);
    assert_true(why_has(t, "two MCP servers are named one"));
    acp_mcp_server_init_http(&servers[1], acp_str_from("two"), acp_str_from("https://example.com"));
    assert_int_equal(open_with(t, servers, 2), 0);
    conversation_free(t);
}

static void v2_init_15_without_sessions_there_are_none(void **state)
{
    struct conversation *t = conversation_begin(ACP_V2, "{}");
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    (void) state;
    assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), ACP_ERR_STATE);
    assert_int_equal(acp_client_load_session(t->client, acp_str_from("s"), &place, on_opened, t),
                     ACP_ERR_STATE);
    assert_int_equal(
        acp_client_list_sessions(t->client, acp_str_from(NULL), acp_str_from(NULL), on_done, t),
        ACP_ERR_STATE);
    expect_said(t, NULL);
    conversation_free(t);
}

/* ---- Cancelling one thing -------------------------------------------------------------------- */

#define TOOL(more) "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\"" more "}"
#define TERMINAL(more) "{\"sessionUpdate\":\"terminal_update\",\"terminalId\":\"t\"" more "}"
#define CANCEL ",\"capabilities\":{\"cancel\":{}}"

static int cancel(struct conversation *t, bool tool)
{
    return (tool ? acp_client_cancel_tool_call
                 : acp_client_cancel_terminal)(t->session, acp_str_from("t"), on_done, t);
}

static void v2_cancel_12_only_what_can_be_cancelled_now(void **state)
{
    static const struct {
        bool tool;
        const char *updates[3];
        int err;
    } rows[] = {
        {true, {TOOL("")}, ACP_ERR_STATE},
        {true, {TOOL(CANCEL)}, 0},
        {true, {TOOL(CANCEL), TOOL(",\"title\":\"on\"")}, 0},
        {true, {TOOL(CANCEL), TOOL(",\"capabilities\":{}")}, ACP_ERR_STATE},
        {true, {TOOL(CANCEL), TOOL(",\"capabilities\":null")}, ACP_ERR_STATE},
        {true, {TOOL(CANCEL), TOOL(",\"capabilities\":null"), TOOL(CANCEL)}, 0},
        {true, {TOOL(CANCEL), TOOL(",\"status\":\"in_progress\"")}, 0},
        {true, {TOOL(CANCEL), TOOL(",\"status\":\"completed\"")}, ACP_ERR_STATE},
        {true, {TOOL(CANCEL), TOOL(",\"status\":\"failed\"")}, ACP_ERR_STATE},
        {true, {TOOL(CANCEL ",\"status\":\"cancelled\"")}, ACP_ERR_STATE},
        {true, {TERMINAL(CANCEL)}, ACP_ERR_STATE},
        {false, {TERMINAL("")}, ACP_ERR_STATE},
        {false, {TERMINAL(CANCEL)}, 0},
        {false, {TERMINAL(CANCEL), TERMINAL(",\"exitStatus\":{\"exitCode\":0}")}, ACP_ERR_STATE},
        {false, {TERMINAL(CANCEL), TERMINAL(",\"capabilities\":null")}, ACP_ERR_STATE},
        {false, {TOOL(CANCEL)}, ACP_ERR_STATE},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct conversation *t = conversation_begin(ACP_V2, "{\"session\":{}}");
        conversation_open(t, "{\"sessionId\":\"s\"}");
        for (size_t n = 0; n < 3 && rows[i].updates[n]; n++)
            update(t, "s", rows[i].updates[n]);
        int err = cancel(t, rows[i].tool);
        CHECK_ROW(err == rows[i].err, i, "%d", err);
        if (err)
            expect_said(t, NULL);
        else
            expect_said(t, rows[i].tool ? "\"method\":\"tool_call/cancel\",\"params\":{"
                                          "\"sessionId\":\"s\",\"toolCallId\":\"t\"}"
                                        : "\"method\":\"terminal/cancel\",\"params\":{"
                                          "\"sessionId\":\"s\",\"terminalId\":\"t\"}");
        conversation_free(t);
    }
}

static void the_subject_of_a_question_can_be_cancelled_too(void **state)
{
    struct conversation *t = conversation_begin(ACP_V2, "{\"session\":{}}");
    (void) state;
    conversation_open(t, "{\"sessionId\":\"s\"}");
    tell(t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/request_permission\",\"params\":{"
            "\"sessionId\":\"s\",\"title\":\"May I?\",\"subject\":{\"type\":\"tool_call\","
            "\"toolCall\":{\"toolCallId\":\"t\"" CANCEL "}},\"options\":[{\"optionId\":\"y\","
            "\"name\":\"Yes\",\"kind\":\"allow_once\"}]}}");
    assert_int_equal(cancel(t, true), 0);
    conversation_free(t);
}

/* ---- _meta, names ---------------------------------------------------------------------------- */

static void com_ext_06_requests_carry_the_trace_context(void **state)
{
    struct acp_content_block block;
    (void) state;
    acp_content_block_init_text(&block, acp_str_from("go"));
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(
            version,
            version == ACP_V2 ? "{\"session\":{}}" : "{\"sessionCapabilities\":{\"list\":{}}}");
        const char *options = version == ACP_V2 ? "configId" : "id";
        char opened[300];
        (void) snprintf(opened, sizeof(opened),
                        "{\"sessionId\":\"s\",\"configOptions\":[{\"%s\":\"o\",\"name\":\"O\","
                        "\"type\":\"boolean\",\"currentValue\":true}]}",
                        options);
        conversation_open(t, opened);
        const char *meta = "{\"traceparent\":\"00-1\"}";
        const char *expected = "\"_meta\":{\"traceparent\":\"00-1\"}";
        assert_int_equal(acp_client_set_meta(t->client, acp_raw_from(meta)), 0);
        conversation_prompt(t);
        expect_said(t, expected);
        assert_int_equal(acp_client_cancel(t->session), 0);
        expect_said(t, expected);
        assert_int_equal(
            acp_client_list_sessions(t->client, acp_str_from(NULL), acp_str_from(NULL), on_done, t),
            0);
        expect_said(t, expected);
        assert_int_equal(
            acp_client_set_boolean_option(t->session, acp_str_from("o"), false, on_done, t), 0);
        expect_said(t, expected);
        /* Who brings one of its own keeps it. */
        struct acp_list_sessions_request own = {.meta = acp_raw_from("{\"own\":1}")};
        assert_int_equal(acp_client_request(t->client, acp_str_from("session/list"),
                                            ACP_TYPE_LIST_SESSIONS_REQUEST, &own,
                                            ACP_TYPE_LIST_SESSIONS_RESPONSE, on_done, t),
                         0);
        expect_said(t, "\"_meta\":{\"own\":1}");
        assert_int_equal(acp_client_set_meta(t->client, acp_raw_from("7")), ACP_ERR_ARGUMENT);
        assert_int_equal(acp_client_set_meta(t->client, acp_raw_from("{}x")), ACP_ERR_ARGUMENT);
        assert_int_equal(acp_client_set_meta(t->client, acp_raw_from(NULL)), 0);
        assert_int_equal(
            acp_client_list_sessions(t->client, acp_str_from(NULL), acp_str_from(NULL), on_done, t),
            0);
        expect_said(t, "\"params\":{}");
        conversation_free(t);
    }
}

static void v1_init_04_the_client_says_who_it_is(void **state)
{
    static const struct acp_client_handler handler = {0};
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        for (int named = 0; named < 2; named++) {
            struct acp_client_options options = {.versions = version};
            struct acp_client *client;
            char expected[100];
            if (named) {
                options.name = acp_str_from("me");
                options.title = acp_str_from("Me");
                options.version = acp_str_from("3");
            }
            assert_int_equal(acp_client_new(&options, &handler, NULL, &client), 0);
            assert_int_equal(acp_client_initialize(client, NULL, NULL), 0);
            struct acp_str out = acp_endpoint_output(acp_client_endpoint(client));
            char *text = strndup(out.ptr, out.len);
            /* Version 2 demands a name, so there are stand-ins. */
            (void) snprintf(expected, sizeof(expected), "\"%s\":{%s}",
                            version == ACP_V1 ? "clientInfo" : "info",
                            named ? "\"name\":\"me\",\"title\":\"Me\",\"version\":\"3\""
                                  : "\"name\":\"unnamed\",\"version\":\"0\"");
            assert_non_null(strstr(text, expected));
            free(text);
            acp_client_free(client);
        }
    }
}

static void an_agent_of_either_version_learns_what_is_offered(void **state)
{
    static const struct acp_client_handler handler = {0};
    struct acp_client_options options = {
        .versions = ACP_V1 | ACP_V2, .name = acp_str_from("me"), .read_files = true, .forms = true};
    struct acp_client *client;
    (void) state;
    assert_int_equal(acp_client_new(&options, &handler, NULL, &client), 0);
    assert_int_equal(acp_client_initialize(client, NULL, NULL), 0);
    struct acp_str out = acp_endpoint_output(acp_client_endpoint(client));
    char *text = strndup(out.ptr, out.len);
    assert_non_null(strstr(text, "\"protocolVersion\":2"));
    assert_non_null(strstr(text, "\"capabilities\":{\"elicitation\":{\"form\":{}}}"));
    assert_non_null(strstr(text, "\"info\":{\"name\":\"me\",\"version\":\"0\"}"));
    assert_non_null(strstr(text, "\"clientCapabilities\":{\"fs\":{\"readTextFile\":true"));
    assert_non_null(strstr(text, "\"clientInfo\":{\"name\":\"me\",\"version\":\"0\"}"));
    free(text);
    acp_client_free(client);
}

static void unstable_capabilities_are_told_only_when_wanted(void **state)
{
    static const struct acp_client_handler handler = {0};
    (void) state;
    for (unsigned flags = 0; flags <= ACP_UNSTABLE; flags += ACP_UNSTABLE) {
        struct acp_client_options options = {.versions = ACP_V1 | flags, .subagents = true};
        struct acp_client *client;
        assert_int_equal(acp_client_new(&options, &handler, NULL, &client), 0);
        assert_int_equal(acp_client_initialize(client, NULL, NULL), 0);
        struct acp_str out = acp_endpoint_output(acp_client_endpoint(client));
        char *text = strndup(out.ptr, out.len);
        assert_int_equal(strstr(text, "\"subagents\":{}") != NULL, flags != 0);
        assert_int_equal(strstr(text, "\"plan\":{}") != NULL, flags != 0);
        free(text);
        acp_client_free(client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_requested_that_the_agent_does_not_offer),
        cmocka_unit_test(nothing_is_requested_before_initialize),
        cmocka_unit_test(notifications_are_sent_under_the_same_conditions),
        cmocka_unit_test(the_result_of_a_method_of_ones_own_is_shown_raw),
        cmocka_unit_test(unstable_requests_have_their_types),
        cmocka_unit_test(a_fork_is_a_session_of_its_own),
        cmocka_unit_test(servers_in_the_client_are_asked_by_the_agent),
        cmocka_unit_test(a_system_prompt_goes_only_where_it_is_taken),
        cmocka_unit_test(v1_sess_15_the_command_of_a_server_is_an_absolute_path),
        cmocka_unit_test(v1_sess_14_servers_that_the_agent_cannot_reach_are_not_sent),
        cmocka_unit_test(v2_sess_07_servers_have_names_of_their_own),
        cmocka_unit_test(v2_init_15_without_sessions_there_are_none),
        cmocka_unit_test(v2_cancel_12_only_what_can_be_cancelled_now),
        cmocka_unit_test(the_subject_of_a_question_can_be_cancelled_too),
        cmocka_unit_test(com_ext_06_requests_carry_the_trace_context),
        cmocka_unit_test(v1_init_04_the_client_says_who_it_is),
        cmocka_unit_test(an_agent_of_either_version_learns_what_is_offered),
        cmocka_unit_test(unstable_capabilities_are_told_only_when_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
