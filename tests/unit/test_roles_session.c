/*
 * Connections and sessions, with the two roles against each other in memory: what they agree on,
 * how sessions are opened and closed, and what never reaches the programs.
 */
#include "roles_world.h"

/* ---- Agreeing on a version ------------------------------------------------------------------- */

static void negotiation(void **state)
{
    static const struct {
        unsigned agent;
        unsigned client;
        unsigned agreed; /* 0: none */
    } cases[] = {
        {ACP_V1, ACP_V1, ACP_V1},
        {ACP_V2, ACP_V2, ACP_V2},
        {ACP_V1 | ACP_V2, ACP_V1, ACP_V1},
        {ACP_V1 | ACP_V2, ACP_V1 | ACP_V2, ACP_V2},
        {ACP_V1, ACP_V1 | ACP_V2, ACP_V1},
        {ACP_V2, ACP_V1, 0},
        {ACP_V1, ACP_V2, 0},
    };
    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *w = world_new(cases[i].agent, cases[i].client);
        assert_int_equal(acp_client_initialize(w->client, world_on_ready, w), 0);
        world_carry(w);
        assert_int_equal(acp_client_protocol(w->client), cases[i].agreed);
        assert_int_equal(w->err == 0, cases[i].agreed != 0);
        world_free(w);
    }
}

static void nothing_goes_before_initialize(void **state)
{
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":"
        "{\"cwd\":\"/w\",\"mcpServers\":[]}}\n";
    static const struct acp_session_params place = {.cwd = ACP_STR("/w")};
    (void) state;
    struct world *w = world_new(ACP_V1, ACP_V1);
    assert_int_equal(acp_client_new_session(w->client, &place, world_on_session, w), ACP_ERR_STATE);
    assert_int_equal(acp_endpoint_receive(w->a, line, sizeof(line) - 1, 0), 0);
    struct acp_str out = acp_endpoint_output(w->a);
    char *answer = world_copy(out);
    assert_non_null(strstr(answer, "-32600"));
    free(answer);
    world_free(w);
}

static void com_ext_12_extensions_are_advertised_in_the_capabilities(void **state)
{
    static const unsigned versions[] = {ACP_V1, ACP_V2};
    static const struct acp_agent_handler handler = {.prompt = world_on_prompt};
    (void) state;
    for (size_t i = 0; i < 2; i++) {
        struct world *w = world_new(versions[i], versions[i]);
        struct acp_agent_options options = {.versions = versions[i],
                                            .seed = {1, 2},
                                            .capabilities_meta = acp_raw_from("{\"x.example\":1}")};
        acp_agent_free(w->agent);
        assert_int_equal(acp_agent_new(&options, &handler, w, &w->agent), 0);
        w->a = acp_agent_endpoint(w->agent);
        world_start(w);
        const struct acp_initialize_response *agent = acp_client_initialize_response(w->client);
        const struct acp_agent_capabilities *can =
            versions[i] == ACP_V1 ? agent->agent_capabilities : agent->capabilities;
        assert_int_equal(can->meta.len, strlen("{\"x.example\":1}"));
        world_free(w);
    }
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static void updates_before_the_session_is_known_are_kept(void **state)
{
    (void) state;
    struct world *w = world_new(ACP_V1, ACP_V1);
    static const struct acp_session_params place = {.cwd = ACP_STR("/w")};
    static const char early[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s9\","
        "\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
        "\"text\":\"early\"}}}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s9\","
        "\"update\":{\"sessionUpdate\":\"from_the_future\",\"x\":1}}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"sessionId\":\"s9\"}}\n";
    world_start(w);
    assert_int_equal(acp_client_new_session(w->client, &place, world_on_session, w), 0);
    struct acp_str out = acp_endpoint_output(w->c);
    acp_endpoint_sent(w->c, out.len);
    assert_int_equal(acp_endpoint_receive(w->c, early, sizeof(early) - 1, 0), 0);
    assert_non_null(w->session);
    world_expect_log(w, "agent: early\nother: {\"sessionUpdate\":\"from_the_future\",\"x\":1}\n");
    world_free(w);
}

static void load_once(struct world *w)
{
    static const struct acp_session_params place = {.cwd = ACP_STR("/w")};
    assert_int_equal(
        acp_client_load_session(w->client, acp_str_from("old-1"), &place, world_on_session, w), 0);
    world_carry(w);
    assert_int_equal(w->err, 0);
    assert_true(acp_str_is(acp_client_session_id(w->session), "old-1"));
    bool v2 = acp_client_protocol(w->client) & ACP_V2;
    world_expect_log(w, v2 ? "user: what I said\nagent: what was answered\n[idle]\n"
                           : "user: what I said\nagent: what was answered\n");
    world_echo(w);
}

static void load_shows_the_history_before_it_answers(void **state)
{
    (void) state;
    world_in_both(load_once);
}

static void close_once(struct world *w)
{
    world_say(w, SCENE_WAIT, "wait");
    assert_int_equal(acp_client_close_session(w->session, world_on_ready, w), 0);
    world_carry(w);
    assert_int_equal(w->err, 0);
    assert_int_equal(w->ends, 1);
    assert_string_equal(w->stop, "cancelled");
}

static void closing_a_session_ends_its_turn_as_cancelled(void **state)
{
    (void) state;
    world_in_both(close_once);
}

static void modes_once(struct world *w)
{
    assert_int_equal(acp_client_set_mode(w->session, acp_str_from("code"), world_on_ready, w), 0);
    world_carry(w);
    assert_int_equal(w->err, 0);
    assert_int_equal(acp_client_set_mode(w->session, acp_str_from("none"), world_on_ready, w), 0);
    world_carry(w);
    assert_int_equal(w->err, ACP_ERR_REMOTE);
    assert_int_equal(w->code, -32602);
}

static void modes_are_set_in_both_versions(void **state)
{
    (void) state;
    world_in_both(modes_once);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void what_must_not_reach_the_program_is_refused(void **state)
{
    static const struct {
        const char *request;
        const char *answer;
    } cases[] = {
        {"\"method\":\"session/new\",\"params\":{\"cwd\":\"relative\",\"mcpServers\":[]}",
         "-32602"},
        {"\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[],"
         "\"additionalDirectories\":[\"/x\"]}",
         "-32602"},
        {"\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[{\"type\":\"http\","
         "\"name\":\"n\",\"url\":\"u\",\"headers\":[]}]}",
         "-32602"},
        {"\"method\":\"session/new\",\"params\":{}", "-32602"},
        {"\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"nope\",\"prompt\":[]}",
         "-32002"},
        {"\"method\":\"session/list\",\"params\":{}", "-32601"},
        {"\"method\":\"session/resume\",\"params\":{}", "-32601"},
        {"\"method\":\"authenticate\",\"params\":{\"methodId\":\"x\"}", "-32601"},
        {"\"method\":\"no/such\",\"params\":{}", "-32601"},
        {"\"method\":\"_custom\",\"params\":{}", "-32601"},
        {"\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}", "-32600"},
    };
    (void) state;
    struct world *w = world_open(ACP_V1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[500];
        (void) snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":\"q\",%s}\n",
                        cases[i].request);
        assert_int_equal(acp_endpoint_receive(w->a, line, strlen(line), 0), 0);
        struct acp_str out = acp_endpoint_output(w->a);
        char *answer = world_copy(out);
        if (!strstr(answer, cases[i].answer))
            fail_msg("%s\n got %s instead of %s", cases[i].request, answer, cases[i].answer);
        free(answer);
        acp_endpoint_sent(w->a, out.len);
    }
    world_free(w);
}

/* Sends the agent a line and returns what it answers; to be freed. */
static char *answer_to(struct world *w, const char *line)
{
    assert_int_equal(acp_endpoint_receive(w->a, line, strlen(line), 0), 0);
    struct acp_str out = acp_endpoint_output(w->a);
    char *answer = world_copy(out);
    acp_endpoint_sent(w->a, out.len);
    return answer;
}

static void com_rpc_15_absent_params_are_an_empty_object(void **state)
{
    (void) state;
    struct world *w = world_open(ACP_V2);
    char *answer = answer_to(w, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/list\"}\n");
    assert_non_null(strstr(answer, "\"sessions\":["));
    free(answer);
    world_free(w);
}

static void com_rpc_24_relative_paths_go_nowhere(void **state)
{
    static const struct acp_session_params place = {.cwd = ACP_STR("w")};
    (void) state;
    struct world *w = world_open(ACP_V1);
    assert_int_equal(acp_client_new_session(w->client, &place, world_on_session, w),
                     ACP_ERR_ARGUMENT);
    world_say(w, SCENE_WAIT, "x");
    assert_int_equal(
        acp_turn_read_file(w->turn, acp_str_from("a.txt"), 1, 0, world_on_file_answer, w),
        ACP_ERR_ARGUMENT);
    (void) acp_turn_end(w->turn, ACP_STOP_END_TURN);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negotiation),
        cmocka_unit_test(nothing_goes_before_initialize),
        cmocka_unit_test(com_ext_12_extensions_are_advertised_in_the_capabilities),
        cmocka_unit_test(updates_before_the_session_is_known_are_kept),
        cmocka_unit_test(load_shows_the_history_before_it_answers),
        cmocka_unit_test(closing_a_session_ends_its_turn_as_cancelled),
        cmocka_unit_test(modes_are_set_in_both_versions),
        cmocka_unit_test(what_must_not_reach_the_program_is_refused),
        cmocka_unit_test(com_rpc_15_absent_params_are_an_empty_object),
        cmocka_unit_test(com_rpc_24_relative_paths_go_nowhere),
    };
    return cmocka_run_group_tests_name("roles_session", tests, NULL, NULL);
}
