/*
 * Modes, options and commands, as a client's program sees them: alike in both versions, the newest
 * last, whoever changed them.
 */
#include "test_client_host.h"

#define SESSION_V2 "{\"session\":{}}"
#define COMMANDS(names)                                                                            \
    "{\"sessionUpdate\":\"available_commands_update\",\"availableCommands\":[" names "]}"
#define COMMAND(name) "{\"type\":\"command\",\"name\":\"" name "\",\"description\":\"d\"}"
#define VALUES "[{\"value\":\"ask\",\"name\":\"Ask\"},{\"value\":\"code\",\"name\":\"Code\"}]"
#define MORE_VALUES                                                                                \
    "[{\"groupId\":\"g\",\"name\":\"G\",\"options\":[{\"value\":\"ask\",\"name\":\"Ask\"},"        \
    "{\"value\":\"code\",\"name\":\"Code\"},{\"value\":\"plan\",\"name\":\"Plan\"}]}]"
#define MODEL(id, value)                                                                           \
    "{\"" id "\":\"model\",\"name\":\"Model\",\"category\":\"model\",\"type\":\"select\","         \
    "\"currentValue\":\"" value "\",\"options\":[{\"value\":\"" value "\",\"name\":\"m\"}]}"
#define STYLE(id, value, values)                                                                   \
    "{\"" id "\":\"style\",\"name\":\"Style\",\"category\":\"mode\",\"type\":\"select\","          \
    "\"currentValue\":\"" value "\",\"options\":" values "}"
#define TWO_OPTIONS MODEL("configId", "m-1") "," STYLE("configId", "ask", VALUES)
#define TWO_COMMANDS COMMAND("test") ",{\"type\":\"_other\",\"name\":\"x\"}"
#define OPTIONS(list) "{\"sessionUpdate\":\"config_option_update\",\"configOptions\":[" list "]}"

static void a_session_of_version_2_tells_what_may_be_set(void **state)
{
    struct conversation *t = conversation_begin(ACP_V2, SESSION_V2);
    (void) state;
    conversation_open(t, "{\"sessionId\":\"s\",\"configOptions\":[" TWO_OPTIONS
                         "],\"availableCommands\":[" TWO_COMMANDS "]}");
    /* V2-CFG-10: a command of a kind that nobody knows is left out. */
    expect_log(t, "opened well\noptions model=m-1 style=ask\nmodes ask code (ask)\n"
                  "commands test\n");
    assert_true(acp_str_is(acp_client_session_mode(t->session), "ask"));
    assert_int_equal(acp_client_session_modes(t->session).count, 2);
    assert_int_equal(acp_client_session_options(t->session).count, 2);
    /* The mode is the option of that category, whatever its id. */
    assert_int_equal(acp_client_set_mode(t->session, acp_str_from("code"), on_done, t), 0);
    hear(t);
    int id = last_id(t);
    expect_said(t, "\"method\":\"session/set_config_option\",\"params\":{\"type\":\"id\","
                   "\"value\":\"code\",\"sessionId\":\"s\",\"configId\":\"style\"}");
    tell(t, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"configOptions\":[%s,%s]}}", id,
         MODEL("configId", "m-2"), STYLE("configId", "code", VALUES));
    expect_log(t, "options model=m-2 style=code\nmode code\ndone well\n");
    /* What is replayed, as it must be, is no change of the mode. */
    update(t, "s", OPTIONS(MODEL("configId", "m-2") "," STYLE("configId", "code", VALUES)));
    expect_log(t, "options model=m-2 style=code\n");
    update(t, "s", OPTIONS(STYLE("configId", "plan", MORE_VALUES)));
    expect_log(t, "options style=plan\nmodes ask code plan (plan)\n");
    conversation_free(t);
}

static void a_session_of_version_1_tells_what_may_be_set(void **state)
{
    struct conversation *t = conversation_begin(ACP_V1, "{}");
    (void) state;
    conversation_open(
        t, "{\"sessionId\":\"s\",\"modes\":{\"currentModeId\":\"ask\",\"availableModes\":["
           "{\"id\":\"ask\",\"name\":\"Ask\"},{\"id\":\"code\",\"name\":\"Code\"}]},"
           "\"configOptions\":[" MODEL("id", "m-1") "," STYLE("id", "code", VALUES) "]}");
    /* Where there are modes, an option of that category is just an option. */
    expect_log(t, "opened well\noptions model=m-1 style=code\nmodes ask code (ask)\n");
    update(t, "s", "{\"sessionUpdate\":\"current_mode_update\",\"currentModeId\":\"code\"}");
    expect_log(t, "mode code\n");
    assert_int_equal(acp_client_set_mode(t->session, acp_str_from("ask"), on_done, t), 0);
    int id = last_id(t);
    expect_said(t, "\"method\":\"session/set_mode\"");
    /* No update need follow the answer, which may be null. */
    tell(t, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":null}", id);
    expect_log(t, "mode ask\ndone well\n");
    assert_true(acp_str_is(acp_client_session_mode(t->session), "ask"));
    assert_int_equal(acp_client_set_mode(t->session, acp_str_from("fly"), on_done, t), 0);
    refuse(t, -32602);
    expect_log(t, "done REMOTE\n");
    assert_true(acp_str_is(acp_client_session_mode(t->session), "ask"));
    conversation_free(t);
}

static void modes_of_version_1_may_be_an_option_too(void **state)
{
    struct conversation *t = conversation_begin(ACP_V1, "{}");
    (void) state;
    conversation_open(t,
                      "{\"sessionId\":\"s\",\"configOptions\":[" STYLE("id", "ask", VALUES) "]}");
    expect_log(t, "opened well\noptions style=ask\nmodes ask code (ask)\n");
    assert_int_equal(acp_client_set_mode(t->session, acp_str_from("code"), on_done, t), 0);
    hear(t);
    expect_said(t, "\"method\":\"session/set_config_option\",\"params\":{\"value\":\"code\","
                   "\"sessionId\":\"s\",\"configId\":\"style\"}");
    conversation_free(t);
}

static void on_why(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    (void) client;
    note(user, "%.*s\n", (int) outcome->why.len, outcome->why.ptr);
}

/* Agents say "Internal error", and what happened in the data. */
static void the_reason_in_an_errors_data_is_told(void **state)
{
    static const struct {
        const char *data;
        const char *why;
    } rows[] = {
        {"\"the disk is full\"", "No.: the disk is full\n"},
        {"{\"a\":1,\"details\":\"it broke\"}", "No.: it broke\n"},
        {"{\"details\":{\"b\":[]},\"message\":\"twice\"}", "No.: twice\n"},
        {"{\"method\":\"x\"}", "No.\n"},
        {"[\"x\"]", "No.\n"},
        {"\"\"", "No.\n"},
        {"null", "No.\n"},
    };
    (void) state;
    struct conversation *t = conversation_begin(ACP_V1, "{}");
    conversation_open(t,
                      "{\"sessionId\":\"s\",\"configOptions\":[" STYLE("id", "ask", VALUES) "]}");
    expect_log(t, "opened well\noptions style=ask\nmodes ask code (ask)\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(acp_client_set_mode(t->session, acp_str_from("code"), on_why, t), 0);
        hear(t);
        tell(t,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":-32603,\"message\":\"No.\","
             "\"data\":%s}}",
             last_id(t), rows[i].data);
        expect_log(t, rows[i].why);
    }
    conversation_free(t);
}

static void what_was_not_told_of_cannot_be_set(void **state)
{
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(version, version == ACP_V2 ? SESSION_V2 : "{}");
        conversation_open(t, "{\"sessionId\":\"s\"}");
        expect_log(t, "opened well\n");
        assert_int_equal(acp_client_set_mode(t->session, acp_str_from("x"), on_done, t),
                         ACP_ERR_STATE);
        assert_true(acp_str_is(acp_client_error_text(t->client), "the session has no modes"));
        assert_int_equal(acp_client_set_config_option(t->session, acp_str_from("x"),
                                                      acp_str_from("y"), on_done, t),
                         ACP_ERR_STATE);
        assert_int_equal(
            acp_client_set_boolean_option(t->session, acp_str_from("x"), true, on_done, t),
            ACP_ERR_STATE);
        expect_said(t, NULL);
        assert_null(acp_client_session_mode(t->session).ptr);
        conversation_free(t);
    }
}

/* Updates that come before the answer are older than it. */
static void v2_cfg_11_the_newest_list_wins(void **state)
{
    struct conversation *t = conversation_begin(ACP_V2, SESSION_V2);
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    (void) state;
    assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), 0);
    int id = last_id(t);
    update(t, "s", COMMANDS(COMMAND("old")));
    update(t, "s", OPTIONS(STYLE("configId", "code", VALUES)));
    tell(t,
         "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"sessionId\":\"s\",\"configOptions\":[%s],"
         "\"availableCommands\":[%s]}}",
         id, STYLE("configId", "ask", VALUES), COMMAND("new"));
    expect_log(t, "opened well\ncommands old\noptions style=code\nmode code\n"
                  "options style=ask\nmodes ask code (ask)\ncommands new\n");
    assert_true(acp_str_is(acp_client_session_mode(t->session), "ask"));
    update(t, "s", COMMANDS(COMMAND("newest")));
    expect_log(t, "commands newest\n");
    conversation_free(t);
}

static void v2_sess_03_an_early_state_stays(void **state)
{
    struct conversation *t = conversation_begin(ACP_V2, SESSION_V2);
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    (void) state;
    assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), 0);
    int id = last_id(t);
    update(t, "s", "{\"sessionUpdate\":\"state_update\",\"state\":\"running\"}");
    tell(t, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"sessionId\":\"s\"}}", id);
    expect_log(t, "opened well\n[running]\n");
    assert_int_equal(acp_client_session_state(t->session), ACP_SESSION_RUNNING);
    conversation_free(t);
}

/* The official example has it so. */
static void v1_mode_06_a_misspelled_mode_is_understood(void **state)
{
    struct conversation *t = conversation_begin(ACP_V1, "{}");
    (void) state;
    conversation_open(t, "{\"sessionId\":\"s\"}");
    expect_log(t, "opened well\n");
    update(t, "s", "{\"sessionUpdate\":\"current_mode_update\",\"modeId\":\"co\\u0064e\"}");
    expect_log(t, "mode code\n");
    update(t, "s", "{\"sessionUpdate\":\"current_mode_update\",\"modeId\":7}");
    update(t, "s", "{\"sessionUpdate\":\"current_mode_update\"}");
    char invalid[40];
    (void) snprintf(invalid, sizeof(invalid), "trouble %d\ntrouble %d\n",
                    ACP_PROTOCOL_ERROR_INVALID_MESSAGE, ACP_PROTOCOL_ERROR_INVALID_MESSAGE);
    expect_log(t, invalid);
    conversation_free(t);
}

/* A program may close the connection whenever it is called. */
static void closing_in_the_first_event_is_fine(void **state)
{
    struct conversation *t = conversation_begin(ACP_V2, SESSION_V2);
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    (void) state;
    t->closes = true;
    assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), 0);
    answer(t, "{\"sessionId\":\"s\",\"configOptions\":[" STYLE(
                  "configId", "ask", VALUES) "],\"availableCommands\":[" COMMAND("x") "]}");
    expect_log(t, "opened well\noptions style=ask\nended s\n");
    conversation_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_of_version_2_tells_what_may_be_set),
        cmocka_unit_test(a_session_of_version_1_tells_what_may_be_set),
        cmocka_unit_test(modes_of_version_1_may_be_an_option_too),
        cmocka_unit_test(the_reason_in_an_errors_data_is_told),
        cmocka_unit_test(what_was_not_told_of_cannot_be_set),
        cmocka_unit_test(v2_cfg_11_the_newest_list_wins),
        cmocka_unit_test(v2_sess_03_an_early_state_stays),
        cmocka_unit_test(v1_mode_06_a_misspelled_mode_is_understood),
        cmocka_unit_test(closing_in_the_first_event_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
