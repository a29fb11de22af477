/*
 * Turns, with the two roles against each other in memory: what the agent says in one must arrive
 * at the client, and a turn must end once whatever either side does.
 */
#include "roles_world.h"

/* ---- What a turn says ------------------------------------------------------------------------ */

static void a_prompt_is_echoed_and_ends_once(void **state)
{
    (void) state;
    world_in_both(world_echo);
}

static void work_once(struct world *w)
{
    world_say(w, SCENE_WORK, "go");
    world_expect_log(w, "[running]\nthought: hm\nplan of 1\ntool call-1: Edit a file \n"
                        "tool call-1:  completed\nagent: done\n[idle]\nend end_turn\n");
    assert_int_equal(acp_buf_append(&w->wire, "", 1), 0);
    bool v2 = acp_client_protocol(w->client) & ACP_V2;
    assert_int_equal(strstr(w->wire.data, "\"oldText\":\"one\\n\"") != NULL, !v2);
    assert_int_equal(strstr(w->wire.data, "\"format\":\"git_patch\"") != NULL, v2);
    assert_int_equal(strstr(w->wire.data, "\"sessionUpdate\":\"tool_call\"") != NULL, !v2);
    assert_int_equal(strstr(w->wire.data, "\"planId\":\"main\"") != NULL, v2);
}

static void all_that_a_turn_says_arrives_in_order(void **state)
{
    (void) state;
    world_in_both(work_once);
}

static void chunks_are_merged_and_never_reordered(void **state)
{
    (void) state;
    struct world *w = world_open(ACP_V1);
    world_say(w, SCENE_WAIT, "x");
    acp_buf_clear(&w->log);
    for (int i = 0; i < 5; i++)
        (void) acp_turn_send_text(w->turn, acp_str_from("ab"));
    world_carry(w);
    world_expect_log(w, "");
    world_pass_time(w, 49);
    world_expect_log(w, "");
    world_pass_time(w, 1);
    world_expect_log(w, "agent: ababababab\n");
    (void) acp_turn_send_text(w->turn, acp_str_from("one"));
    (void) acp_turn_send_thought(w->turn, acp_str_from("two"));
    (void) acp_turn_send_text(w->turn, acp_str_from("three"));
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
    world_carry(w);
    world_expect_log(w, "agent: one\nthought: two\nagent: three\n[idle]\nend end_turn\n");
    char many[101];
    memset(many, 'x', 100);
    many[100] = '\0';
    world_say(w, SCENE_WAIT, "x");
    acp_buf_clear(&w->log);
    (void) acp_turn_send_text(w->turn, acp_str_from(many));
    world_carry(w);
    assert_int_equal(w->log.len, 108);
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
    world_free(w);
}

static void com_ext_06_the_trace_context_of_a_prompt_reaches_the_program(void **state)
{
    static const char trace[] = "{\"traceparent\":\"00-80e1afed08e019fc1110464cfa66635c-01\"}";
    char line[500];
    (void) state;
    struct world *w = world_open(ACP_V1);
    struct acp_str id = acp_client_session_id(w->session);
    (void) snprintf(
        line, sizeof(line),
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/prompt\",\"params\":"
        "{\"sessionId\":\"%.*s\",\"prompt\":[{\"type\":\"text\",\"text\":\"x\"}],\"_meta\":%s}}\n",
        (int) id.len, id.ptr, trace);
    w->scene = SCENE_WAIT;
    assert_int_equal(acp_endpoint_receive(w->a, line, strlen(line), 0), 0);
    struct acp_raw meta = acp_turn_meta(w->turn);
    assert_int_equal(meta.len, strlen(trace));
    assert_memory_equal(meta.ptr, trace, meta.len);
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
    world_free(w);
}

/* ---- How a turn ends ------------------------------------------------------------------------- */

static void a_cancelled_turn_ends_as_cancelled_and_the_session_stays(void **state)
{
    (void) state;
    static const unsigned versions[] = {ACP_V1, ACP_V2};
    for (size_t i = 0; i < 2; i++) {
        struct world *w = world_open(versions[i]);
        w->ends = 0;
        world_say(w, SCENE_WAIT, "wait");
        assert_int_equal(acp_client_cancel(w->session), 0);
        world_carry(w);
        assert_int_equal(acp_turn_fail(w->turn, -32603, acp_str_from("aborted")), 0);
        world_carry(w);
        assert_string_equal(w->stop, "cancelled");
        assert_int_equal(w->end_err, 0);
        acp_buf_clear(&w->log);
        world_say(w, SCENE_ECHO, "again");
        world_expect_log(w, "[running]\nagent: again\n[idle]\nend end_turn\n");
        assert_int_equal(w->ends, 2);
        world_free(w);
    }
}

static void a_second_prompt_does_not_touch_the_first(void **state)
{
    (void) state;
    struct world *w = world_open(ACP_V1);
    struct acp_content_block block;
    world_say(w, SCENE_WAIT, "first");
    acp_content_block_init_text(&block, acp_str_from("second"));
    assert_int_equal(acp_client_prompt(w->session, &block, 1, world_on_end, w), ACP_ERR_STATE);
    /* A client that does not hold back is told so by the agent. */
    char second[200];
    (void) snprintf(second, sizeof(second),
                    "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"session/prompt\",\"params\":"
                    "{\"sessionId\":\"%.*s\",\"prompt\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n",
                    (int) acp_client_session_id(w->session).len,
                    acp_client_session_id(w->session).ptr);
    assert_int_equal(acp_endpoint_receive(w->a, second, strlen(second), 0), 0);
    struct acp_str out = acp_endpoint_output(w->a);
    char *answer = world_copy(out);
    assert_non_null(strstr(answer, "-32600"));
    free(answer);
    acp_endpoint_sent(w->a, out.len);
    assert_int_equal(acp_turn_end(w->turn, ACP_STOP_END_TURN), 0);
    world_carry(w);
    assert_int_equal(w->ends, 1);
    assert_string_equal(w->stop, "end_turn");
    world_free(w);
}

static void fail_once(struct world *w)
{
    world_say(w, SCENE_FAIL, "x");
    assert_int_equal(w->ends, 1);
    assert_int_equal(w->end_err, ACP_ERR_REMOTE);
    assert_string_equal(w->stop, "");
}

static void a_turn_that_fails_tells_why(void **state)
{
    (void) state;
    world_in_both(fail_once);
}

static void die_once(struct world *w)
{
    world_say(w, SCENE_WAIT, "wait");
    acp_endpoint_receive_end(w->c, w->now); /* the agent is gone */
    assert_int_equal(w->ends, 1);
    assert_int_equal(w->end_err, ACP_ERR_CLOSED);
    acp_endpoint_receive_end(w->a, w->now); /* and the client */
}

static void the_death_of_the_agent_ends_the_turn_once(void **state)
{
    (void) state;
    world_in_both(die_once);
}

static void v2_state_08_a_state_told_again_is_no_end(void **state)
{
    (void) state;
    struct world *w = world_open(ACP_V2);
    struct acp_content_block block;
    char idle[300];
    (void) snprintf(idle, sizeof(idle),
                    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":"
                    "\"%.*s\",\"update\":{\"sessionUpdate\":\"state_update\",\"state\":\"idle\","
                    "\"stopReason\":\"end_turn\"}}}\n",
                    (int) acp_client_session_id(w->session).len,
                    acp_client_session_id(w->session).ptr);
    acp_content_block_init_text(&block, acp_str_from("x"));
    w->scene = SCENE_ECHO;
    assert_int_equal(acp_client_prompt(w->session, &block, 1, world_on_end, w), 0);
    assert_int_equal(acp_endpoint_receive(w->c, idle, strlen(idle), 0), 0);
    assert_int_equal(w->ends, 0);
    world_carry(w);
    assert_int_equal(w->ends, 1);
    world_free(w);
}

/* ---- What a turn asks ------------------------------------------------------------------------ */

static void permit_once(struct world *w)
{
    world_say(w, SCENE_ASK, "may I");
    assert_int_not_equal(w->question, 0);
    assert_int_equal(acp_client_select_permission(w->client, w->question, acp_str_from("yes")), 0);
    assert_int_equal(acp_client_select_permission(w->client, w->question, acp_str_from("yes")),
                     ACP_ERR_UNKNOWN);
    world_carry(w);
    assert_int_equal(w->answers, 1);
    assert_int_equal(w->answer_err, 0);
    assert_string_equal(w->answer, "yes");
    assert_int_equal(acp_turn_end(w->turn, ACP_STOP_END_TURN), 0);
    world_carry(w);
    assert_int_equal(w->ends, 1);
}

static void permission_is_granted_by_an_offered_option(void **state)
{
    (void) state;
    world_in_both(permit_once);
}

static void made_up_option(struct world *w)
{
    struct acp_request_permission_response answer;
    world_say(w, SCENE_ASK, "may I");
    assert_int_equal(acp_client_select_permission(w->client, w->question, acp_str_from("made up")),
                     ACP_ERR_ARGUMENT);
    /* A client that says it all the same permits nothing. */
    acp_request_permission_response_init(&answer);
    acp_request_permission_outcome_init_selected(&answer.outcome, acp_str_from("made up"));
    assert_int_equal(
        acp_client_respond(w->client, w->question, ACP_TYPE_REQUEST_PERMISSION_RESPONSE, &answer),
        0);
    world_carry(w);
    assert_int_equal(w->answers, 1);
    assert_int_not_equal(w->answer_err, 0);
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
}

static void an_option_that_was_not_offered_is_no_permission(void **state)
{
    (void) state;
    world_in_both(made_up_option);
}

static void cancel_asking(struct world *w)
{
    world_say(w, SCENE_ASK, "may I");
    assert_int_equal(acp_client_cancel(w->session), 0);
    world_carry(w);
    assert_int_equal(w->answers, 1);
    assert_int_equal(w->answer_err, ACP_ERR_CANCELLED);
    assert_int_equal(w->questions_gone, 1);
    assert_int_equal(acp_turn_end(w->turn, ACP_STOP_END_TURN), 0);
    world_carry(w);
    assert_string_equal(w->stop, "cancelled");
    assert_int_equal(acp_peer_calls(acp_client_peer(w->client)), 0);
    assert_int_equal(acp_peer_pending(acp_agent_peer(w->agent)), 0);
}

static void cancel_settles_the_questions_of_the_turn(void **state)
{
    (void) state;
    world_in_both(cancel_asking);
}

static void files_are_served_where_the_client_offers_them(void **state)
{
    (void) state;
    struct world *w = world_open(ACP_V1);
    world_say(w, SCENE_READ, "read");
    assert_int_equal(w->answers, 1);
    assert_string_equal(w->answer, "contents");
    assert_int_equal(w->ends, 1);
    world_free(w);
    w = world_open(ACP_V2);
    world_say(w, SCENE_READ, "read");
    assert_int_equal(w->answers, 0);
    assert_int_equal(w->err, ACP_ERR_STATE);
    assert_int_equal(w->ends, 1);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prompt_is_echoed_and_ends_once),
        cmocka_unit_test(all_that_a_turn_says_arrives_in_order),
        cmocka_unit_test(chunks_are_merged_and_never_reordered),
        cmocka_unit_test(com_ext_06_the_trace_context_of_a_prompt_reaches_the_program),
        cmocka_unit_test(a_cancelled_turn_ends_as_cancelled_and_the_session_stays),
        cmocka_unit_test(a_second_prompt_does_not_touch_the_first),
        cmocka_unit_test(a_turn_that_fails_tells_why),
        cmocka_unit_test(the_death_of_the_agent_ends_the_turn_once),
        cmocka_unit_test(v2_state_08_a_state_told_again_is_no_end),
        cmocka_unit_test(permission_is_granted_by_an_offered_option),
        cmocka_unit_test(an_option_that_was_not_offered_is_no_permission),
        cmocka_unit_test(cancel_settles_the_questions_of_the_turn),
        cmocka_unit_test(files_are_served_where_the_client_offers_them),
    };
    return cmocka_run_group_tests_name("roles_turn", tests, NULL, NULL);
}
