/*
 * What an agent asks and reports, seen from the client, where the agent is one that the official
 * SDK would not be: it does not take its questions back, says words that nobody knows, answers
 * null, and speaks of sessions that are not there.
 */
#include "test_client_host.h"

#include "role/client_role.h"

static const char *session_capability(unsigned version)
{
    return version == ACP_V2 ? "{\"session\":{}}"
                             : "{\"loadSession\":true,\"sessionCapabilities\":{\"resume\":{},"
                               "\"close\":{},\"delete\":{}}}";
}

/* A session, and in version 2 a turn that works. */
static struct conversation *begin(unsigned version)
{
    struct conversation *t = conversation_begin(version, session_capability(version));
    conversation_open(t, "{\"sessionId\":\"s\"}");
    expect_log(t, "opened well\n");
    return t;
}

static void begin_turn(struct conversation *t)
{
    conversation_prompt(t);
    if (t->options.versions & ACP_V2) {
        answer(t, "{\"messageId\":\"m\"}");
        update(t, "s", "{\"sessionUpdate\":\"state_update\",\"state\":\"running\"}");
    }
    expect_log(t, "[running]\n");
    hear(t);
    acp_buf_clear(&t->said);
}

static void ask(struct conversation *t, const char *session, int id, const char *more)
{
    tell(t,
         "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"session/request_permission\",\"params\":{"
         "\"sessionId\":\"%s\",%s,\"options\":[{\"optionId\":\"y\",\"name\":\"Yes\","
         "\"kind\":\"allow_once\"}]%s}}",
         id, session,
         t->options.versions & ACP_V2 ? "\"title\":\"May I?\""
                                      : "\"toolCall\":{\"toolCallId\":\"t\",\"title\":\"May I?\"}",
         more);
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* An agent that never sends $/cancel_request, so that only the client can have settled them. */
static void v1_cancel_03_a_cancelled_turn_settles_all_its_questions(void **state)
{
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = begin(version);
        begin_turn(t);
        ask(t, "s", 101, "");
        ask(t, "s", 102, "");
        const char *asked = version == ACP_V1
                                ? "may it in s: May I? (1) tool\n"
                                  "may it in s: May I? (1) tool\n"
                                : "may it in s: May I? (1)\nmay it in s: May I? (1)\n";
        expect_log(t, asked);
        expect_said(t, NULL);
        acp_call last = t->call;
        assert_int_equal(acp_client_cancel(t->session), 0);
        expect_log(t, "gone in s (the last)\ngone in s\n");
        hear(t);
        expect_said(t, "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{"
                       "\"sessionId\":\"s\"}}\n"
                       "{\"jsonrpc\":\"2.0\",\"id\":102,\"result\":{\"outcome\":{\"outcome\":"
                       "\"cancelled\"}}}\n"
                       "{\"jsonrpc\":\"2.0\",\"id\":101,\"result\":{\"outcome\":{\"outcome\":"
                       "\"cancelled\"}}}\n");
        assert_int_equal(acp_client_select_permission(t->client, last, acp_str_from("y")),
                         ACP_ERR_UNKNOWN);
        /* One that crosses the cancellation is answered for the program. */
        ask(t, "s", 103, "");
        expect_log(t, "");
        expect_said(t, "\"id\":103,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}");
        conversation_free(t);
    }
}

/* Each is found among those of all sessions, in whatever order they are answered. */
static void questions_of_many_sessions_are_kept_apart(void **state)
{
    enum { MANY = 50 };
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    acp_call calls[MANY];
    struct conversation *t = conversation_begin(ACP_V1, session_capability(ACP_V1));
    char text[120];
    (void) state;
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), 0);
        (void) snprintf(text, sizeof(text), "{\"sessionId\":\"s%d\"}", i);
        answer(t, text);
        (void) snprintf(text, sizeof(text), "s%d", i);
        ask(t, text, 1000 + i, "");
        calls[i] = t->call;
    }
    acp_buf_clear(&t->said);
    for (int i = 0; i < MANY; i++) {
        int at = (i * 7) % MANY;
        assert_int_equal(acp_client_select_permission(t->client, calls[at], acp_str_from("n")),
                         ACP_ERR_ARGUMENT);
        assert_int_equal(acp_client_select_permission(t->client, calls[at], acp_str_from("y")), 0);
        (void) snprintf(text, sizeof(text),
                        "\"id\":%d,\"result\":{\"outcome\":{\"outcome\":"
                        "\"selected\",\"optionId\":\"y\"}}",
                        1000 + at);
        expect_said(t, text);
        assert_int_equal(acp_client_cancel_permission(t->client, calls[at]), ACP_ERR_UNKNOWN);
    }
    conversation_free(t);
}

/* An agent asks without end, and nobody answers. */
static void questions_have_a_limit_and_a_refusal_makes_room(void **state)
{
    struct conversation *t = begin(ACP_V1);
    (void) state;
    for (int i = 0; i < CLIENT_MAX_QUESTIONS; i++)
        ask(t, "s", i, "");
    expect_said(t, NULL);
    acp_buf_clear(&t->log);
    ask(t, "s", CLIENT_MAX_QUESTIONS, "");
    expect_log(t, "");
    expect_said(t, "Too many permission requests are open");
    acp_call last = t->call;
    assert_int_equal(acp_client_respond_error(t->client, last, -32603, acp_str_from("no room"),
                                              acp_raw_from(NULL)),
                     0);
    expect_said(t, "no room");
    assert_int_equal(acp_client_select_permission(t->client, last, acp_str_from("y")),
                     ACP_ERR_UNKNOWN);
    ask(t, "s", CLIENT_MAX_QUESTIONS + 1, "");
    expect_log(t, "may it in s: May I? (1) tool\n");
    expect_said(t, NULL);
    ask(t, "s", CLIENT_MAX_QUESTIONS + 2, "");
    expect_said(t, "Too many permission requests are open");
    conversation_free(t);
}

static int tell_cancellable(struct conversation *t, const char *id)
{
    char text[2000];
    (void) snprintf(text, sizeof(text),
                    "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"%s\","
                    "\"capabilities\":{\"cancel\":{}}}",
                    id);
    update(t, "s", text);
    return acp_client_cancel_tool_call(t->session, acp_str_from(id), NULL, NULL);
}

static void what_can_be_cancelled_has_a_limit(void **state)
{
    struct conversation *t = begin(ACP_V2);
    char id[CLIENT_MAX_ID + 2];
    (void) state;
    memset(id, 'i', sizeof(id));
    id[CLIENT_MAX_ID + 1] = '\0';
    assert_int_equal(tell_cancellable(t, id), ACP_ERR_STATE);
    id[CLIENT_MAX_ID] = '\0';
    assert_int_equal(tell_cancellable(t, id), 0);
    for (int i = 1; i < CLIENT_MAX_CANCELLABLE; i++) {
        (void) snprintf(id, sizeof(id), "%d", i);
        assert_int_equal(tell_cancellable(t, id), 0);
    }
    assert_int_equal(tell_cancellable(t, "one more"), ACP_ERR_STATE);
    /* One that is over makes room. */
    update(t, "s",
           "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"1\","
           "\"status\":\"completed\"}");
    assert_int_equal(tell_cancellable(t, "one more"), 0);
    conversation_free(t);
}

static void v2_perm_04_a_subject_of_no_known_kind_is_shown_as_it_is(void **state)
{
    struct conversation *t = begin(ACP_V2);
    (void) state;
    ask(t, "s", 1,
        ",\"subject\":{\"type\":\"_door\",\"door\":7},\"_meta\":{\"traceparent\":\"00\"}");
    expect_log(t, "may it in s: May I? (1) subject\nabout {\"type\":\"_door\",\"door\":7}\n"
                  "meta {\"traceparent\":\"00\"}\n");
    assert_int_equal(acp_client_select_permission(t->client, t->call, acp_str_from("y")), 0);
    expect_said(t, "\"optionId\":\"y\"");
    conversation_free(t);
}

static void a_question_about_no_session_is_refused(void **state)
{
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = begin(version);
        ask(t, "other", 1, "");
        expect_log(t, "");
        expect_said(t, "\"id\":1,\"error\":{\"code\":-32002");
        conversation_free(t);
    }
}

/* ---- Services -------------------------------------------------------------------------------- */

static void elicit(struct conversation *t, const char *mode)
{
    tell(t,
         "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"elicitation/create\",\"params\":{"
         "\"sessionId\":\"s\",\"message\":\"Tell me\",\"mode\":\"%s\",\"elicitationId\":\"e\","
         "\"url\":\"https://example.com\",\"requestedSchema\":{\"type\":\"object\","
         "\"properties\":{}}}}",
         mode);
}

static void v1_elic_03_only_the_way_of_asking_that_was_offered(void **state)
{
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        for (int forms = 0; forms < 2; forms++) {
            struct acp_client_options options = {
                .versions = version, .forms = forms, .urls = !forms};
            struct conversation *t = conversation_with(&options);
            conversation_start(t, session_capability(version));
            conversation_open(t, "{\"sessionId\":\"s\"}");
            expect_log(t, "opened well\n");
            elicit(t, forms ? "url" : "form");
            expect_log(t, "");
            expect_said(t, "\"id\":9,\"error\":{\"code\":-32602");
            /* V2-MISC-02: nor one that nobody knows. */
            elicit(t, "telepathy");
            expect_log(t, "");
            expect_said(t, "\"id\":9,\"error\":{\"code\":-32602");
            elicit(t, forms ? "form" : "url");
            expect_log(t, "asked elicitation/create in a session\n");
            conversation_free(t);
        }
    }
}

/* ---- Reports --------------------------------------------------------------------------------- */

static void v2_state_09_an_unknown_state_is_busy(void **state)
{
    struct conversation *t = begin(ACP_V2);
    (void) state;
    begin_turn(t);
    update(t, "s", "{\"sessionUpdate\":\"state_update\",\"state\":\"_dreaming\"}");
    expect_log(t, "[running]\n");
    assert_int_equal(acp_client_session_state(t->session), ACP_SESSION_RUNNING);
    update(t, "s",
           "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\","
           "\"stopReason\":\"_bored\"}");
    expect_log(t, "[idle]\nend _bored\n");
    /* Also where nothing is at work. */
    update(t, "s", "{\"sessionUpdate\":\"state_update\",\"state\":\"resting\"}");
    expect_log(t, "[running]\n");
    conversation_free(t);
}

static void v1_tool_07_a_change_of_an_unseen_call_is_shown(void **state)
{
    struct conversation *t = begin(ACP_V1);
    (void) state;
    update(t, "s",
           "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"never-seen\","
           "\"status\":\"completed\"}");
    expect_log(t, "tool never-seen\n");
    conversation_free(t);
}

#define CHUNK                                                                                      \
    "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\","                              \
    "\"content\":{\"type\":\"text\",\"text\":\"hi\"}}"
#define NOTE(params) "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":" params "}"

static void com_ext_07_the_meta_beside_an_update_reaches_the_program(void **state)
{
    static const struct {
        const char *line;
        const char *shown;
    } rows[] = {
        {NOTE("{\"sessionId\":\"s\",\"update\":" CHUNK "}"), "chunk hi\n"},
        {NOTE("{\"update\":" CHUNK ",\"sessionId\":\"s\"}"), "chunk hi\n"},
        {NOTE("{ \"sessionId\" : \"s\", \"update\" : " CHUNK " }"), "chunk hi\n"},
        {NOTE("{\"sessionId\":\"s\",\"update\":" CHUNK ",\"_meta\":{\"a\":1}}"),
         "chunk hi meta {\"a\":1}\n"},
        {NOTE("{\"_meta\":{\"a\":1},\"sessionId\":\"s\",\"update\":" CHUNK "}"),
         "chunk hi meta {\"a\":1}\n"},
        {NOTE("{\"_meta\":null,\"sessionId\":\"s\",\"update\":" CHUNK "}"), "chunk hi\n"},
        {NOTE("{\"_meta\":7,\"sessionId\":\"s\",\"update\":" CHUNK "}"), "chunk hi\n"},
        {NOTE("{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"current_mode_update\","
              "\"modeId\":\"x\"},\"_meta\":{}}"),
         "mode x meta {}\n"},
    };
    struct conversation *t = begin(ACP_V1);
    (void) state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tell(t, "%s", rows[i].line);
        expect_log(t, rows[i].shown);
    }
    /* Also of one that was held. */
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), 0);
    int id = last_id(t);
    tell(t, NOTE("{\"sessionId\":\"later\",\"update\":" CHUNK ",\"_meta\":{\"a\":1}}"));
    tell(t, NOTE("{\"sessionId\":\"never\",\"update\":" CHUNK "}"));
    tell(t, NOTE("{\"sessionId\":\"later\",\"update\":" CHUNK "}"));
    tell(t, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"sessionId\":\"later\"}}", id);
    expect_log(t, "opened well\nchunk hi meta {\"a\":1}\nchunk hi\n");
    conversation_free(t);
}

/* ---- Opening again --------------------------------------------------------------------------- */

static int open_old(struct conversation *t, const char *id, bool load)
{
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    return (load ? acp_client_load_session : acp_client_resume_session)(t->client, acp_str_from(id),
                                                                        &place, on_opened, t);
}

static void a_session_that_is_open_outlives_a_refused_load(void **state)
{
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        for (int load = 0; load < 2; load++) {
            struct conversation *t = begin(version);
            struct acp_client_session *session = t->session;
            begin_turn(t);
            ask(t, "s", 5, "");
            acp_buf_clear(&t->log);
            assert_int_equal(open_old(t, "s", load), 0);
            refuse(t, -32603);
            expect_log(t, "opened REMOTE\n");
            assert_ptr_equal(acp_client_find_session(t->client, acp_str_from("s")), session);
            assert_int_equal(acp_client_select_permission(t->client, t->call, acp_str_from("y")),
                             0);
            /* Nor does one end that somebody else is still opening. */
            assert_int_equal(open_old(t, "x", load), 0);
            int first = last_id(t);
            assert_int_equal(open_old(t, "x", load), 0);
            refuse(t, -32603);
            tell(t, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}", first);
            expect_log(t, "opened REMOTE\nopened well\n");
            assert_non_null(acp_client_find_session(t->client, acp_str_from("x")));
            /* But one that nobody could open is none. */
            assert_int_equal(open_old(t, "y", load), 0);
            refuse(t, -32002);
            expect_log(t, "ended y\nopened REMOTE\n");
            assert_null(acp_client_find_session(t->client, acp_str_from("y")));
            conversation_free(t);
        }
    }
}

static void v1_prompt_01_no_prompt_before_the_session_is_open(void **state)
{
    struct acp_content_block block;
    (void) state;
    acp_content_block_init_text(&block, acp_str_from("go"));
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(version, session_capability(version));
        assert_int_equal(open_old(t, "old", true), 0);
        struct acp_client_session *session =
            acp_client_find_session(t->client, acp_str_from("old"));
        assert_int_equal(acp_client_prompt(session, &block, 1, on_turn_end, t), ACP_ERR_STATE);
        assert_true(acp_str_is(acp_client_error_text(t->client), "the session is not open"));
        answer(t, "{}");
        assert_int_equal(acp_client_prompt(session, &block, 1, on_turn_end, t), 0);
        conversation_free(t);
    }
}

static void v1_life_05_null_is_an_answer_that_says_nothing(void **state)
{
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        struct conversation *t = conversation_begin(version, session_capability(version));
        assert_int_equal(open_old(t, "old", true), 0);
        answer(t, "null");
        expect_log(t, "opened well\n");
        assert_int_equal(acp_client_close_session(t->session, on_done, t), 0);
        answer(t, "null");
        expect_log(t, "ended old\ndone well\n");
        /* Where something must be said, it is no answer. */
        struct acp_session_params place = {.cwd = acp_str_from("/w")};
        assert_int_equal(acp_client_new_session(t->client, &place, on_opened, t), 0);
        answer(t, "null");
        expect_log(t, "opened MALFORMED\n");
        conversation_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v1_cancel_03_a_cancelled_turn_settles_all_its_questions),
        cmocka_unit_test(questions_of_many_sessions_are_kept_apart),
        cmocka_unit_test(questions_have_a_limit_and_a_refusal_makes_room),
        cmocka_unit_test(what_can_be_cancelled_has_a_limit),
        cmocka_unit_test(v2_perm_04_a_subject_of_no_known_kind_is_shown_as_it_is),
        cmocka_unit_test(a_question_about_no_session_is_refused),
        cmocka_unit_test(v1_elic_03_only_the_way_of_asking_that_was_offered),
        cmocka_unit_test(v2_state_09_an_unknown_state_is_busy),
        cmocka_unit_test(v1_tool_07_a_change_of_an_unseen_call_is_shown),
        cmocka_unit_test(com_ext_07_the_meta_beside_an_update_reaches_the_program),
        cmocka_unit_test(a_session_that_is_open_outlives_a_refused_load),
        cmocka_unit_test(v1_prompt_01_no_prompt_before_the_session_is_open),
        cmocka_unit_test(v1_life_05_null_is_an_answer_that_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
