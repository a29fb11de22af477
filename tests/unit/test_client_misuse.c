/*
 * What a program may get wrong with the client's role: it is told, and the agent sees nothing of
 * it.
 */
#include "test_client_host.h"

static const char *of_session(unsigned version)
{
    return version & ACP_V2 ? "{\"session\":{}}" : "{}";
}

static void a_prompt_without_a_callback_ends_like_any_other(void **state)
{
    struct acp_content_block block;
    (void) state;
    acp_content_block_init_text(&block, acp_str_from("go"));
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(version, of_session(version));
        conversation_open(t, "{\"sessionId\":\"s\"}");
        expect_log(t, "opened well\n");
        for (int i = 0; i < 2; i++) {
            assert_int_equal(acp_client_prompt(t->session, &block, 1, NULL, NULL), 0);
            expect_said(t, "session/prompt");
            if (version == ACP_V2)
                update(t, "s", "{\"sessionUpdate\":\"state_update\",\"state\":\"running\"}");
            /* It is a turn, so there is no other one beside it. */
            assert_int_equal(acp_client_prompt(t->session, &block, 1, NULL, NULL), ACP_ERR_STATE);
            expect_said(t, NULL);
            tell(t, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}", i + 2,
                 version == ACP_V2 ? "{}" : "{\"stopReason\":\"end_turn\"}");
            if (version == ACP_V2)
                update(t, "s",
                       "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\","
                       "\"stopReason\":\"end_turn\"}");
            expect_log(t, "[running]\n[idle]\n");
            assert_int_equal(acp_client_session_state(t->session), ACP_SESSION_IDLE);
        }
        /* One that is cancelled, and one that ends with the connection. */
        assert_int_equal(acp_client_prompt(t->session, &block, 1, NULL, NULL), 0);
        assert_int_equal(acp_client_cancel(t->session), 0);
        expect_said(t, "session/cancel");
        conversation_free(t);
    }
}

static void params_that_are_not_an_object_are_not_sent(void **state)
{
    static const char *const bad[] = {"{\"a\":",  "{\"a\":1}}", "[1]",           "1",  "",
                                      "\"text\"", "{a:1}",      "{\"a\":1}\n{}", "nul"};
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(version, of_session(version));
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
            struct acp_raw params = acp_raw_from(bad[i]);
            assert_int_equal(
                acp_client_notify(t->client, acp_str_from("_x"), ACP_TYPE_ANY, &params),
                ACP_ERR_ARGUMENT);
            assert_int_equal(acp_client_request(t->client, acp_str_from("_x"), ACP_TYPE_ANY,
                                                &params, ACP_TYPE_ANY, on_done, t),
                             ACP_ERR_ARGUMENT);
            assert_non_null(strstr(acp_client_error_text(t->client).ptr, "JSON object"));
        }
        expect_said(t, NULL);
        /* A struct of another method, and none at all where there must be one. */
        struct acp_list_sessions_request list = {0};
        assert_int_equal(
            acp_client_notify(t->client, acp_str_from("_x"), ACP_TYPE_LIST_SESSIONS_REQUEST, NULL),
            ACP_ERR_ARGUMENT);
        if (version == ACP_V2)
            assert_int_equal(acp_client_request(t->client, acp_str_from("session/close"),
                                                ACP_TYPE_LIST_SESSIONS_REQUEST, &list, ACP_TYPE_ANY,
                                                on_done, t),
                             ACP_ERR_ARGUMENT);
        expect_said(t, NULL);
        expect_log(t, "");
        assert_int_equal(acp_client_notify(t->client, acp_str_from("_x"), ACP_TYPE_ANY, NULL), 0);
        expect_said(t, "\"method\":\"_x\",\"params\":{}");
        conversation_free(t);
    }
}

static void a_request_is_answered_by_its_own_type_only(void **state)
{
    struct acp_client_options options = {.versions = ACP_V1, .read_files = true};
    struct acp_read_text_file_response file;
    struct acp_write_text_file_response written = {0};
    struct acp_raw raw = acp_raw_from("{\"content\":\"x\"}");
    struct acp_raw broken = acp_raw_from("{\"content\":");
    (void) state;
    struct conversation *t = conversation_with(&options);
    conversation_start(t, "{}");
    conversation_open(t, "{\"sessionId\":\"s\"}");
    tell(t, "{\"jsonrpc\":\"2.0\",\"id\":\"f\",\"method\":\"fs/read_text_file\",\"params\":{"
            "\"sessionId\":\"s\",\"path\":\"/w/a\"}}");
    expect_log(t, "opened well\nasked fs/read_text_file in a session\n");
    assert_int_equal(
        acp_client_respond(t->client, t->call, ACP_TYPE_WRITE_TEXT_FILE_RESPONSE, &written),
        ACP_ERR_ARGUMENT);
    assert_int_equal(acp_client_respond(t->client, t->call, ACP_TYPE_ANY, &raw), ACP_ERR_ARGUMENT);
    assert_int_equal(acp_client_respond(t->client, t->call, ACP_TYPE_READ_TEXT_FILE_RESPONSE, NULL),
                     ACP_ERR_ARGUMENT);
    expect_said(t, NULL);
    acp_read_text_file_response_init(&file, acp_str_from("text"));
    assert_int_equal(
        acp_client_respond(t->client, t->call, ACP_TYPE_READ_TEXT_FILE_RESPONSE, &file), 0);
    expect_said(t, "\"id\":\"f\",\"result\":{\"content\":\"text\"}");
    assert_int_equal(
        acp_client_respond(t->client, t->call, ACP_TYPE_READ_TEXT_FILE_RESPONSE, &file),
        ACP_ERR_UNKNOWN);
    /* One of the agent's own has no type; but what is sent is JSON. */
    tell(t, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"_x\"}");
    expect_log(t, "asked _x raw\n");
    assert_int_equal(acp_client_respond(t->client, t->call, ACP_TYPE_ANY, &broken),
                     ACP_ERR_ARGUMENT);
    expect_said(t, NULL);
    assert_int_equal(acp_client_respond(t->client, t->call, ACP_TYPE_ANY, &raw), 0);
    expect_said(t, "\"id\":\"x\",\"result\":{\"content\":\"x\"}");
    conversation_free(t);
}

/* What was said of an earlier call is not left for a later one. */
static void a_call_that_fails_at_once_says_why(void **state)
{
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(version, of_session(version));
        conversation_open(t, "{\"sessionId\":\"s\"}");
        expect_log(t, "opened well\n");
        assert_int_equal(acp_client_set_mode(t->session, acp_str_from("x"), on_done, t),
                         ACP_ERR_STATE);
        assert_true(acp_str_is(acp_client_error_text(t->client), "the session has no modes"));
        assert_int_equal(acp_client_select_permission(t->client, 7, acp_str_from("x")),
                         ACP_ERR_UNKNOWN);
        assert_true(acp_str_is(acp_client_error_text(t->client),
                               "the permission request is settled already"));
        assert_int_equal(
            acp_client_respond_error(t->client, 7, -1, acp_str_from("No."), acp_raw_from(NULL)),
            ACP_ERR_UNKNOWN);
        assert_true(acp_str_is(acp_client_error_text(t->client), acp_err_text(ACP_ERR_UNKNOWN)));
        acp_client_set_close_message(t->client, acp_str_from("the agent exited with code 1"));
        acp_client_close(t->client, ACP_ERR_CLOSED);
        assert_int_equal(acp_client_notify(t->client, acp_str_from("_x"), ACP_TYPE_ANY, NULL),
                         ACP_ERR_CLOSED);
        assert_true(acp_str_is(acp_client_error_text(t->client), "the agent exited with code 1"));
        conversation_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_without_a_callback_ends_like_any_other),
        cmocka_unit_test(params_that_are_not_an_object_are_not_sent),
        cmocka_unit_test(a_request_is_answered_by_its_own_type_only),
        cmocka_unit_test(a_call_that_fails_at_once_says_why),
    };
    return cmocka_run_group_tests_name("client_misuse", tests, NULL, NULL);
}
