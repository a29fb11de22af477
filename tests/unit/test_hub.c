/*
 * The hub without processes: what it passes on is what came but for ids, everything is answered
 * once, agents and clients come and go.
 */
#include "hub_world.h"

#include <stdio.h>

#define M "{\"jsonrpc\":\"2.0\","

/* ---- Bytes and ids --------------------------------------------------------------------------- */

static void test_messages_keep_their_bytes(void **state)
{
    struct world *w = world_new(NULL);
    char expected[HUB_PUBLIC_ID_SIZE + 1000];
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w/x", "s1");
    const char *id = world_id(w, "/w", "s1");
    /* Unknown fields, their order, blanks, numbers and escapes. */
    world_client_says(
        w, 0,
        "{ \"params\" : {\"z\":1.0e+2, \"sessionId\" : \"%s\",\"prompt\":[],\"\\u0061\""
        ":null}, \"x\":[ ],\"method\":\"session/prompt\", \"id\":\"a\\u0062\", "
        "\"jsonrpc\":\"2.0\" }",
        id);
    assert_agent_got(
        w, 0,
        "{ \"params\" : {\"z\":1.0e+2, \"sessionId\" : \"s1\",\"prompt\":[],\"\\u0061\""
        ":null}, \"x\":[ ],\"method\":\"session/prompt\", \"id\":3, "
        "\"jsonrpc\":\"2.0\" }");
    world_agent_says(w, 0,
                     M "\"method\":\"session\\/update\",\"params\":{\"sessionId\":\"\\u00731\","
                       "\"update\":{\"_\":-0.0}},\"extra\":0}");
    (void) snprintf(expected, sizeof(expected),
                    M "\"method\":\"session\\/update\",\"params\":{\"sessionId\":\"%s\","
                      "\"update\":{\"_\":-0.0}},\"extra\":0}",
                    id);
    assert_client_got(w, 0, expected);
    world_agent_says(w, 0,
                     "{\"result\":{ \"stopReason\":\"end_turn\"},\"id\":3,\"jsonrpc\":\"2.0\"}");
    assert_client_got(w, 0,
                      "{\"result\":{ \"stopReason\":\"end_turn\"},\"id\":\"a\\u0062\",\"jsonrpc\":"
                      "\"2.0\"}");
    world_free(w);
}

static void test_ids_cannot_be_guessed(void **state)
{
    struct world *w = world_new(NULL);
    struct hub_id found;
    char buffer[HUB_MAX_SESSION_ID];
    char id[HUB_PUBLIC_ID_SIZE];
    (void) state;
    static const char *const names[] = {"s1", "", "a b", "sess/1\\\"", "\xc3\xa4", "x.2-s1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t n = strlen(world_id(w, "/w", names[i]));
        memcpy(id, world_id(w, "/w", names[i]), n + 1);
        assert_true(hub_agent_id(w->hub, "/w", acp_str_n(id, n), buffer, &found));
        assert_true(acp_str_is(found.agent_id, names[i]));
        assert_false(hub_agent_id(w->hub, "/v", acp_str_n(id, n), buffer, &found));
        for (size_t at = 0; at < n; at++) {
            id[at] ^= 1;
            assert_false(hub_agent_id(w->hub, "/w", acp_str_n(id, n), buffer, &found));
            id[at] ^= 1;
            assert_false(hub_agent_id(w->hub, "/w", acp_str_n(id, at), buffer, &found));
        }
    }
    world_free(w);
}

static void test_agents_of_a_workspace_may_use_the_same_ids(void **state)
{
    struct hub_options options = {.agent_per_session = true};
    struct world *w = world_new(&options);
    (void) state;
    world_greet(w);
    assert_int_equal(world_open(w, 0, "/w", "1"), 0);
    assert_int_equal(world_open(w, 0, "/w", "1"), 1);
    assert_int_equal(hub_session_count(w->hub), 2);
    world_agent_says(w, 1, M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"1\"}}");
    const char *line = world_client_line(w, 0);
    assert_non_null(line);
    assert_null(strstr(line, world_id(w, "/w", "1")));
    assert_non_null(strstr(line, ".1-1\""));
    world_free(w);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void test_cancellation_names_the_id_of_the_receiver(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "s");
    world_client_says(w, 0,
                      M "\"id\":\"q\",\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\"}}",
                      world_id(w, "/w", "s"));
    (void) world_agent_line(w, 0);
    world_client_says(w, 0, M "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":\"q\"}}");
    assert_agent_got(w, 0, M "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":3}}");
    /* Of what is not open, and of somebody else's, nothing is passed on. */
    world_client_says(w, 0, M "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":3}}");
    assert_agent_silent(w, 0);
    world_agent_says(w, 0,
                     M "\"id\":7,\"method\":\"session/request_permission\",\"params\":"
                       "{\"sessionId\":\"s\"}}");
    const char *line = world_client_line(w, 0);
    assert_non_null(strstr(line, "\"id\":1,"));
    world_agent_says(w, 0, M "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":7}}");
    assert_client_got(w, 0, M "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}");
    world_client_says(w, 0, M "\"id\":1,\"error\":{\"code\":-32800,\"message\":\"cancelled\"}}");
    assert_agent_got(w, 0, M "\"id\":7,\"error\":{\"code\":-32800,\"message\":\"cancelled\"}}");
    world_client_says(w, 0, M "\"id\":1,\"result\":{}}");
    assert_agent_silent(w, 0);
    world_free(w);
}

static void test_an_id_is_used_once_at_a_time(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "s");
    world_client_says(w, 0, M "\"id\":1,\"method\":\"_x\",\"params\":{}}");
    assert_agent_got(w, 0, M "\"id\":3,\"method\":\"_x\",\"params\":{}}");
    world_client_says(w, 0, M "\"id\":1,\"method\":\"_y\",\"params\":{}}");
    assert_agent_silent(w, 0);
    assert_client_got(w, 0,
                      M "\"id\":1,\"error\":{\"code\":-32600,\"message\":"
                        "\"a request with this id is still open\"}}");
    world_agent_says(w, 0, M "\"id\":3,\"result\":[]}");
    assert_client_got(w, 0, M "\"id\":1,\"result\":[]}");
    world_agent_says(w, 0, M "\"id\":3,\"result\":[]}");
    assert_client_silent(w, 0);
    world_client_says(w, 0, M "\"id\":1,\"method\":\"_y\"}");
    assert_agent_got(w, 0, M "\"id\":4,\"method\":\"_y\"}");
    world_free(w);
}

static void test_open_requests_have_a_limit(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "s");
    for (int i = 0; i < HUB_MAX_REQUESTS; i++)
        world_client_says(w, 0, M "\"id\":%d,\"method\":\"_x\"}", i);
    assert_client_silent(w, 0);
    world_client_says(w, 0, M "\"id\":-1,\"method\":\"_x\"}");
    assert_client_got(w, 0,
                      M "\"id\":-1,\"error\":{\"code\":-32603,\"message\":"
                        "\"too many open requests\"}}");
    world_agent_says(w, 0, M "\"id\":3,\"result\":0}");
    assert_client_got(w, 0, M "\"id\":0,\"result\":0}");
    world_client_says(w, 0, M "\"id\":-1,\"method\":\"_x\"}");
    assert_client_silent(w, 0);
    world_free(w);
}

static void test_ids_and_sessions_have_a_limit(void **state)
{
    struct hub_options options = {.max_sessions = 2};
    struct world *w = world_new(&options);
    static char id[HUB_MAX_REQUEST_ID + 1];
    (void) state;
    memset(id, 'x', sizeof(id) - 1);
    world_greet(w);
    world_client_says(w, 0, M "\"id\":\"%s\",\"method\":\"_x\"}", id + 2);
    assert_non_null(world_agent_line(w, 0));
    world_client_says(w, 0, M "\"id\":\"%s\",\"method\":\"_x\"}", id + 1);
    assert_agent_silent(w, 0);
    assert_client_got(w, 0,
                      M "\"id\":null,\"error\":{\"code\":-32600,\"message\":"
                        "\"id must be a string of at most 4096 bytes or an integer\"}}");
    id[HUB_MAX_SESSION_ID] = '\0';
    world_open(w, 0, "/w", id);
    world_client_says(w, 0, M "\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\"}}");
    (void) world_agent_line(w, 0);
    world_agent_says(w, 0, M "\"id\":4,\"result\":{\"sessionId\":\"%sy\"}}", id);
    assert_non_null(strstr(world_client_line(w, 0), "\"error\""));
    world_open(w, 0, "/w", "b");
    world_client_says(w, 0, M "\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\"}}");
    (void) world_agent_line(w, 0);
    world_agent_says(w, 0, M "\"id\":6,\"result\":{\"sessionId\":\"c\"}}");
    assert_non_null(strstr(world_client_line(w, 0), "too many sessions"));
    assert_int_equal(hub_session_count(w->hub), 2);
    world_free(w);
}

static void test_what_is_not_a_message_is_answered_as_by_a_peer(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_client_says(w, 0, "{\"jsonrpc\"");
    assert_client_got(w, 0,
                      M "\"id\":null,\"error\":{\"code\":-32700,\"message\":"
                        "\"not valid JSON\"}}");
    world_client_says(w, 0, "[]");
    assert_client_got(w, 0,
                      M "\"id\":null,\"error\":{\"code\":-32600,\"message\":"
                        "\"batches are not supported\"}}");
    world_client_says(w, 0, "{\"id\":5,\"method\":\"_x\"}");
    assert_client_got(w, 0,
                      M "\"id\":5,\"error\":{\"code\":-32600,\"message\":"
                        "\"jsonrpc must be \\\"2.0\\\"\"}}");
    world_client_says(w, 0, "{\"id\":5}");
    assert_client_got(w, 0,
                      M "\"id\":5,\"error\":{\"code\":-32600,\"message\":"
                        "\"not a JSON-RPC 2.0 message\"}}");
    /* What an agent prints by mistake is only logged. */
    world_agent_says(w, 0, "Listening on port 7");
    world_agent_says(w, 0, M "\"error\":{\"code\":1,\"message\":\"x\"}}");
    assert_agent_silent(w, 0);
    assert_client_silent(w, 0);
    world_free(w);
}

static void test_a_message_over_the_limit_fails_what_it_belongs_to(void **state)
{
    struct hub_options options = {.max_message = 1000};
    struct world *w = world_new(&options);
    char text[1001];
    (void) state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    world_greet(w);
    world_client_says(w, 0, M "\"id\":5,\"method\":\"_x\",\"params\":[\"%s\"]}", text);
    assert_client_got(w, 0,
                      M "\"id\":5,\"error\":{\"code\":-32600,\"message\":"
                        "\"message larger than the limit\"}}");
    world_client_says(w, 0, M "\"id\":6,\"method\":\"_x\"}");
    assert_agent_got(w, 0, M "\"id\":2,\"method\":\"_x\"}");
    world_agent_says(w, 0, M "\"id\":2,\"result\":\"%s\"}", text);
    assert_client_got(w, 0,
                      M "\"id\":6,\"error\":{\"code\":-32603,\"message\":"
                        "\"the response is larger than the limit\"}}");
    /* Exactly the limit passes. */
    int head = (int) strlen(M "\"method\":\"_x\",\"params\":[\"\"]}");
    world_client_says(w, 0, M "\"method\":\"_x\",\"params\":[\"%.*s\"]}", 1000 - head, text);
    assert_int_equal(strlen(world_agent_line(w, 0)), 1000);
    world_client_says(w, 0, M "\"method\":\"_x\",\"params\":[\"%.*s\"]}", 1001 - head, text);
    assert_agent_silent(w, 0);
    world_free(w);
}

/* ---- Workspaces ------------------------------------------------------------------------------ */

static void test_each_workspace_has_an_agent(void **state)
{
    struct world *w = world_new(NULL);
    char expected[HUB_PUBLIC_ID_SIZE + 1000];
    (void) state;
    world_greet(w);
    assert_int_equal(world_open(w, 0, "/w/a", "1"), 0);
    assert_int_equal(world_open(w, 0, "/v/a", "1"), 1);
    assert_int_equal(world_open(w, 0, "/v/b", "2"), 1);
    assert_int_equal(world_open(w, 0, "/w", "2"), 0);
    assert_string_equal(w->agents[1].workspace, "/v");
    world_client_says(w, 0,
                      M "\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/gone\"}}");
    assert_client_got(w, 0,
                      M "\"id\":1,\"error\":{\"code\":-32602,\"message\":"
                        "\"no such directory\"}}");
    assert_int_equal(w->agent_count, 2);
    /* Both call it "1". */
    world_agent_says(w, 1, M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"1\"}}");
    (void) snprintf(expected, sizeof(expected),
                    M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"%s\"}}",
                    world_id(w, "/v", "1"));
    assert_client_got(w, 0, expected);
    world_free(w);
}

static void test_a_login_is_repeated_for_later_agents(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_client_says(w, 0,
                      M "\"id\":1,\"method\":\"authenticate\",\"params\":{\"methodId\":\"k\"}}");
    assert_agent_got(w, 0,
                     M "\"id\":2,\"method\":\"authenticate\",\"params\":{\"methodId\":\"k\"}}");
    world_agent_says(w, 0, M "\"id\":2,\"result\":{}}");
    assert_client_got(w, 0, M "\"id\":1,\"result\":{}}");
    world_client_says(w, 0, M "\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"/v\"}}");
    (void) world_agent_line(w, 1);
    world_agent_says(w, 1, M "\"id\":1,\"result\":{\"protocolVersion\":1}}");
    assert_agent_got(w, 1,
                     M "\"id\":3,\"method\":\"authenticate\",\"params\":{\"methodId\":\"k\"}}");
    assert_agent_silent(w, 1);
    world_agent_says(w, 1, M "\"id\":3,\"result\":{}}");
    assert_agent_got(w, 1, M "\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"/v\"}}");
    world_free(w);
}

static void test_a_login_goes_to_the_agent_that_wants_it(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_client_says(w, 0, M "\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"/v\"}}");
    (void) world_agent_line(w, 1);
    world_agent_says(w, 1, M "\"id\":1,\"result\":{\"protocolVersion\":1}}");
    (void) world_agent_line(w, 1);
    world_agent_says(w, 1, M "\"id\":2,\"error\":{\"code\":-32000,\"message\":\"login\"}}");
    assert_client_got(w, 0, M "\"id\":2,\"error\":{\"code\":-32000,\"message\":\"login\"}}");
    world_client_says(w, 0, M "\"id\":3,\"method\":\"authenticate\"}");
    assert_agent_silent(w, 0);
    assert_agent_got(w, 1, M "\"id\":3,\"method\":\"authenticate\"}");
    world_free(w);
}

static void test_another_version_is_not_mixed_in(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_client_says(w, 0, M "\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"/v\"}}");
    (void) world_agent_line(w, 1);
    world_agent_says(w, 1, M "\"id\":1,\"result\":{\"protocolVersion\":2}}");
    assert_non_null(strstr(world_client_line(w, 0),
                           "it speaks version 2 of the protocol, the first version 1"));
    assert_false(w->agents[1].running);
    world_free(w);
}

/* ---- Agents that end ------------------------------------------------------------------------- */

static void test_a_crash_fails_its_own_prompts_and_the_next_one_restarts(void **state)
{
    struct world *w = world_new(NULL);
    char id[HUB_PUBLIC_ID_SIZE];
    char expected[HUB_PUBLIC_ID_SIZE + 1000];
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "a");
    world_open(w, 0, "/v", "b");
    (void) snprintf(id, sizeof(id), "%s", world_id(w, "/v", "b"));
    world_client_says(w, 0,
                      M "\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\"}}",
                      id);
    world_client_says(w, 0,
                      M "\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\"}}",
                      world_id(w, "/w", "a"));
    world_agent_says(w, 1,
                     M "\"id\":9,\"method\":\"session/request_permission\",\"params\":"
                       "{\"sessionId\":\"b\"}}");
    assert_non_null(strstr(world_client_line(w, 0), "request_permission"));
    world_agent_dies(w, 1, "it crashed: out of cheese");
    assert_client_got(w, 0, M "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}");
    assert_client_got(w, 0,
                      M "\"id\":1,\"error\":{\"code\":-32603,\"message\":"
                        "\"the agent played has ended: it crashed: out of cheese\"}}");
    assert_client_silent(w, 0);
    /* The other session goes on. */
    (void) world_agent_line(w, 0);
    world_agent_says(w, 0, M "\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}");
    assert_client_got(w, 0, M "\"id\":2,\"result\":{\"stopReason\":\"end_turn\"}}");

    /* The next prompt waits for another process, which resumes the session. */
    world_client_says(w, 0,
                      M "\"id\":3,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\",\"n\":3}}",
                      id);
    assert_int_equal(w->agent_count, 3);
    assert_non_null(world_agent_line(w, 2));
    world_agent_says(w, 2,
                     M "\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":"
                       "{\"loadSession\":true}}}");
    assert_agent_got(w, 2,
                     M "\"id\":3,\"method\":\"session/load\",\"params\":{\"sessionId\":\"b\","
                       "\"cwd\":\"/v\",\"mcpServers\":[]}}");
    assert_agent_silent(w, 2);
    /* What it replays has been shown. */
    world_agent_says(w, 2, M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"b\"}}");
    world_agent_says(w, 2, M "\"id\":3,\"result\":{}}");
    assert_client_silent(w, 0);
    assert_agent_got(w, 2,
                     M "\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"b\","
                       "\"n\":3}}");
    world_agent_says(w, 2, M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"b\"}}");
    (void) snprintf(expected, sizeof(expected),
                    M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"%s\"}}", id);
    assert_client_got(w, 0, expected);
    world_free(w);
}

static void test_a_prompt_that_waits_can_be_cancelled(void **state)
{
    struct world *w = world_new(NULL);
    char id[HUB_PUBLIC_ID_SIZE];
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "a");
    (void) snprintf(id, sizeof(id), "%s", world_id(w, "/w", "a"));
    world_agent_dies(w, 0, "bye");
    for (int i = 1; i <= 3; i++)
        world_client_says(w, 0,
                          M "\"id\":%d,\"method\":\"session/%s\",\"params\":{\"sessionId\":"
                            "\"%s\"}}",
                          i, i == 3 ? "set_mode" : "prompt", id);
    assert_int_equal(w->agent_count, 2);
    world_client_says(w, 0, M "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}");
    assert_client_got(w, 0, M "\"id\":1,\"error\":{\"code\":-32800,\"message\":\"cancelled\"}}");
    world_client_says(w, 0, M "\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"%s\"}}",
                      id);
    assert_client_got(w, 0, M "\"id\":2,\"result\":{\"stopReason\":\"cancelled\"}}");
    assert_client_silent(w, 0);
    (void) world_agent_line(w, 1);
    world_agent_says(w, 1,
                     M "\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":"
                       "{\"sessionCapabilities\":{\"resume\":{}}}}}");
    assert_non_null(strstr(world_agent_line(w, 1), "session/resume"));
    world_agent_says(w, 1, M "\"id\":5,\"error\":{\"code\":-32002,\"message\":\"forgotten\"}}");
    assert_client_got(w, 0,
                      M "\"id\":3,\"error\":{\"code\":-32603,\"message\":"
                        "\"the session cannot be opened again: forgotten\"}}");
    assert_agent_silent(w, 1);
    world_free(w);
}

static void test_an_agent_that_cannot_start_fails_initialize_and_may_be_tried_again(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    w->fail_start = true;
    world_connect(w);
    world_client_says(w, 0, M "\"id\":0,\"method\":\"initialize\"}");
    assert_client_got(w, 0,
                      M "\"id\":0,\"error\":{\"code\":-32603,\"message\":"
                        "\"cannot start it\"}}");
    w->fail_start = false;
    world_client_says(w, 0, M "\"id\":1,\"method\":\"initialize\"}");
    world_client_says(w, 0, M "\"id\":2,\"method\":\"_early\"}");
    world_agent_dies(w, 0, "no key");
    assert_client_got(w, 0,
                      M "\"id\":1,\"error\":{\"code\":-32603,\"message\":"
                        "\"the agent played has ended: no key\"}}");
    assert_client_got(w, 0,
                      M "\"id\":2,\"error\":{\"code\":-32600,\"message\":"
                        "\"initialize must come first\"}}");
    world_client_says(w, 0, M "\"id\":3,\"method\":\"initialize\"}");
    assert_int_equal(w->agent_count, 2);
    world_client_says(w, 0, M "\"id\":4,\"method\":\"_early\"}");
    world_pass_time(w, 5 * 60 * 1000);
    assert_non_null(strstr(world_client_line(w, 0), "has not answered initialize in time"));
    world_free(w);
}

static void test_idle_agents_end_and_come_back(void **state)
{
    struct hub_options options = {.idle_ms = 1000};
    struct world *w = world_new(&options);
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "a");
    world_client_says(w, 0,
                      M "\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\"}}",
                      world_id(w, "/w", "a"));
    world_pass_time(w, 10000);
    assert_true(w->agents[0].running);
    (void) world_agent_line(w, 0);
    world_agent_says(w, 0, M "\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}");
    (void) world_client_line(w, 0);
    world_pass_time(w, 999);
    assert_true(w->agents[0].running);
    world_pass_time(w, 2000);
    assert_false(w->agents[0].running);
    assert_int_equal(hub_session_count(w->hub), 1);
    assert_client_silent(w, 0);
    world_client_says(w, 0,
                      M "\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\"}}",
                      world_id(w, "/w", "a"));
    assert_int_equal(w->agent_count, 2);
    world_free(w);
}

static void test_a_prompt_while_an_idle_agent_ends_starts_another(void **state)
{
    struct hub_options options = {.idle_ms = 1000};
    struct world *w = world_new(&options);
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "a");
    w->agents[0].lingers = true;
    world_pass_time(w, 3000);
    assert_true(w->agents[0].stopped && w->agents[0].running);
    world_client_says(w, 0,
                      M "\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\"}}",
                      world_id(w, "/w", "a"));
    assert_int_equal(w->agent_count, 2);
    world_agent_dies(w, 0, "it was stopped");
    assert_client_silent(w, 0);
    (void) world_agent_line(w, 1);
    world_agent_says(w, 1,
                     M "\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":"
                       "{\"loadSession\":true}}}");
    assert_non_null(strstr(world_agent_line(w, 1), "session/load"));
    world_agent_says(w, 1, M "\"id\":3,\"result\":{}}");
    assert_non_null(strstr(world_agent_line(w, 1), "session/prompt"));
    world_agent_says(w, 1, M "\"id\":2,\"result\":{}}");
    assert_client_got(w, 0, M "\"id\":1,\"result\":{}}");
    world_free(w);
}

/* ---- Loading, closing, listing --------------------------------------------------------------- */

static void test_a_session_is_loaded_by_its_id_alone(void **state)
{
    struct world *w = world_new(NULL);
    char id[HUB_PUBLIC_ID_SIZE];
    char expected[HUB_PUBLIC_ID_SIZE + 1000];
    (void) state;
    world_greet(w);
    (void) snprintf(id, sizeof(id), "%s", world_id(w, "/w", "old"));
    world_client_says(w, 0,
                      M "\"id\":1,\"method\":\"session/load\",\"params\":{\"cwd\":\"/w/x\","
                        "\"sessionId\":\"%s\"}}",
                      id);
    assert_agent_got(w, 0,
                     M "\"id\":2,\"method\":\"session/load\",\"params\":{\"cwd\":\"/w/x\","
                       "\"sessionId\":\"old\"}}");
    /* The replay comes before the answer. */
    world_agent_says(w, 0, M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"old\"}}");
    (void) snprintf(expected, sizeof(expected),
                    M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"%s\"}}", id);
    assert_client_got(w, 0, expected);
    world_agent_says(w, 0, M "\"id\":2,\"error\":{\"code\":-32002,\"message\":\"no\"}}");
    assert_client_got(w, 0, M "\"id\":1,\"error\":{\"code\":-32002,\"message\":\"no\"}}");
    assert_int_equal(hub_session_count(w->hub), 0);
    /* An id that the agent has told the client before there was a proxy stays as it is. */
    world_client_says(w, 0,
                      M "\"id\":2,\"method\":\"session/resume\",\"params\":{\"cwd\":\"/w/x\","
                        "\"sessionId\":\"older\"}}");
    assert_agent_got(w, 0,
                     M "\"id\":3,\"method\":\"session/resume\",\"params\":{\"cwd\":\"/w/x\","
                       "\"sessionId\":\"older\"}}");
    world_agent_says(w, 0, M "\"id\":3,\"result\":{}}");
    assert_client_got(w, 0, M "\"id\":2,\"result\":{}}");
    world_agent_says(w, 0, M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"older\"}}");
    assert_client_got(w, 0,
                      M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"older\"}}");
    world_free(w);
}

static void test_session_end_is_close(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "a");
    world_client_says(w, 0,
                      M "\"id\":1,\"method\":\"session/end\",\"params\":{\"sessionId\":\"%s\"}}",
                      world_id(w, "/w", "a"));
    assert_agent_got(w, 0,
                     M "\"id\":3,\"method\":\"session/close\",\"params\":{\"sessionId\":\"a\"}}");
    world_agent_says(w, 0, M "\"id\":3,\"result\":{}}");
    assert_client_got(w, 0, M "\"id\":1,\"result\":{}}");
    assert_int_equal(hub_session_count(w->hub), 0);
    world_free(w);
}

static void test_lists_are_merged_and_continued(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "a");
    world_open(w, 0, "/v", "b");
    world_client_says(w, 0, M "\"id\":1,\"method\":\"session/list\",\"params\":{}}");
    assert_agent_got(w, 0, M "\"id\":3,\"method\":\"session/list\",\"params\":{}}");
    assert_agent_got(w, 1, M "\"id\":3,\"method\":\"session/list\",\"params\":{}}");
    world_agent_says(w, 0,
                     M "\"id\":3,\"result\":{\"sessions\":[{\"sessionId\":\"a\",\"cwd\":\"/w\","
                       "\"updatedAt\":\"2026-01-01\"},{ \"x\":1,\"sessionId\":\"c\",\"cwd\":\"/v\","
                       "\"updatedAt\":\"2026-01-03\"}],\"nextCursor\":\"n\\u0031\"}}");
    assert_client_silent(w, 0);
    world_agent_says(w, 1,
                     M "\"id\":3,\"result\":{\"sessions\":[{\"sessionId\":\"c\",\"cwd\":\"/v\","
                       "\"updatedAt\":\"2026-01-03\"},{\"sessionId\":\"b\",\"cwd\":\"/v\","
                       "\"updatedAt\":\"2026-01-02\"}]}}");
    char expected[3 * HUB_PUBLIC_ID_SIZE + 1000];
    size_t n = (size_t) snprintf(expected, sizeof(expected),
                                 M "\"id\":1,\"result\":{\"sessions\":[{ \"x\":1,\"sessionId\":"
                                   "\"%s\",\"cwd\":\"/v\",\"updatedAt\":\"2026-01-03\"}",
                                 world_id(w, "/v", "c"));
    n += (size_t) snprintf(expected + n, sizeof(expected) - n,
                           ",{\"sessionId\":\"%s\",\"cwd\":\"/v\",\"updatedAt\":\"2026-01-02\"}",
                           world_id(w, "/v", "b"));
    (void) snprintf(expected + n, sizeof(expected) - n,
                    ",{\"sessionId\":\"%s\",\"cwd\":\"/w\",\"updatedAt\":\"2026-01-01\"}],"
                    "\"nextCursor\":\"W1sxLCJuXHUwMDMxIl1d\"}}",
                    world_id(w, "/w", "a"));
    assert_client_got(w, 0, expected);
    world_client_says(w, 0,
                      M "\"id\":2,\"method\":\"session/list\",\"params\":{\"cursor\":"
                        "\"W1sxLCJuXHUwMDMxIl1d\"}}");
    assert_agent_silent(w, 1);
    assert_agent_got(w, 0,
                     M "\"id\":4,\"method\":\"session/list\",\"params\":{\"cursor\":"
                       "\"n\\u0031\"}}");
    /* One that does not answer is left out. */
    world_pass_time(w, 10000);
    assert_client_got(w, 0, M "\"id\":2,\"result\":{\"sessions\":[]}}");
    world_agent_says(w, 0, M "\"id\":4,\"result\":{\"sessions\":[]}}");
    assert_client_silent(w, 0);
    static const char *const bad[] = {"x", "W10=", "bnVsbA==", "W1tdXQ==", "W1s5LCJ4Il1d"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        world_client_says(w, 0,
                          M "\"id\":3,\"method\":\"session/list\",\"params\":{\"cursor\":"
                            "\"%s\"}}",
                          bad[i]);
        assert_client_got(w, 0,
                          M "\"id\":3,\"error\":{\"code\":-32602,\"message\":"
                            "\"the cursor is not valid\"}}");
    }
    world_free(w);
}

/* ---- Pressure and the end -------------------------------------------------------------------- */

static void test_a_client_that_does_not_read_stops_its_agents(void **state)
{
    struct world *w = world_new(NULL);
    static char text[100 * 1024];
    (void) state;
    memset(text, 'x', sizeof(text) - 1);
    world_greet(w);
    world_open(w, 0, "/w", "a");
    world_open(w, 0, "/v", "b");
    w->clients[0].stuck = true;
    size_t said = 0;
    while (!w->agents[0].paused) {
        world_agent_says(w, 0,
                         M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"a\","
                           "\"t\":\"%s\"}}",
                         text);
        said++;
        assert_true(said <= HUB_HIGH_WATER / sizeof(text) + 2);
    }
    assert_true(said >= HUB_HIGH_WATER / sizeof(text));
    assert_false(w->agents[1].paused); /* it has said nothing */
    w->clients[0].stuck = false;
    world_settle(w);
    assert_false(w->agents[0].paused);
    for (size_t i = 0; i < said; i++)
        assert_non_null(world_client_line(w, 0));
    assert_client_silent(w, 0);
    world_free(w);
}

static void test_output_over_the_limit_closes_the_connection(void **state)
{
    struct hub_options options = {.max_output = 4096};
    struct world *w = world_new(&options);
    static char text[4096];
    (void) state;
    memset(text, 'x', sizeof(text) - 1);
    world_greet(w);
    world_open(w, 0, "/w", "a");
    w->agents[0].stuck = true;
    world_client_says(w, 0, M "\"id\":1,\"method\":\"_x\",\"params\":\"\"}");
    world_client_says(w, 0, M "\"id\":2,\"method\":\"_x\",\"params\":[\"%s\"]}", text + 3000);
    assert_false(w->agents[0].stopped);
    world_client_says(w, 0, M "\"id\":3,\"method\":\"_x\",\"params\":[\"%s\"]}", text + 500);
    assert_false(w->agents[0].running);
    assert_non_null(strstr(world_client_line(w, 0), "params must be"));
    assert_non_null(strstr(world_client_line(w, 0), "larger than the limit"));
    assert_non_null(strstr(world_client_line(w, 0), "larger than the limit"));
    world_free(w);
}

static void test_shutting_down_closes_sessions_and_has_a_deadline(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "a");
    world_open(w, 0, "/v", "b");
    world_client_says(w, 0,
                      M "\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\"}}",
                      world_id(w, "/w", "a"));
    (void) world_agent_line(w, 0);
    hub_shut_down(w->hub, w->now);
    world_settle(w);
    assert_agent_got(w, 0, M "\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"a\"}}");
    assert_agent_got(w, 0,
                     M "\"id\":4,\"method\":\"session/close\",\"params\":{\"sessionId\":\"a\"}}");
    assert_agent_got(w, 1,
                     M "\"id\":3,\"method\":\"session/close\",\"params\":{\"sessionId\":\"b\"}}");
    world_client_says(w, 0, M "\"id\":2,\"method\":\"_x\"}");
    assert_client_got(w, 0,
                      M "\"id\":2,\"error\":{\"code\":-32603,\"message\":"
                        "\"acp is shutting down\"}}");
    world_agent_says(w, 1, M "\"id\":3,\"result\":{}}");
    assert_false(w->agents[1].running);
    world_agent_says(w, 0, M "\"id\":3,\"result\":{\"stopReason\":\"cancelled\"}}");
    assert_client_got(w, 0, M "\"id\":1,\"result\":{\"stopReason\":\"cancelled\"}}");
    assert_true(w->agents[0].running);
    world_pass_time(w, 1999);
    assert_true(w->agents[0].running);
    assert_false(w->ended);
    world_pass_time(w, 1);
    assert_false(w->agents[0].running);
    assert_true(w->ended);
    world_free(w);
}

static void test_a_client_that_goes_leaves_nothing_open(void **state)
{
    struct world *w = world_new(NULL);
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "a");
    world_client_says(w, 0,
                      M "\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\"}}",
                      world_id(w, "/w", "a"));
    (void) world_agent_line(w, 0);
    world_agent_says(w, 0,
                     M "\"id\":\"p\",\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":"
                       "\"a\"}}");
    acp_endpoint_receive_end(hub_client_endpoint(w->clients[0].client), w->now);
    world_settle(w);
    assert_agent_got(w, 0, M "\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"a\"}}");
    assert_agent_got(w, 0,
                     M "\"id\":\"p\",\"error\":{\"code\":-32603,\"message\":"
                       "\"the client has gone\"}}");
    assert_agent_got(w, 0, M "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":3}}");
    world_agent_says(w, 0, M "\"id\":3,\"result\":{}}");
    world_free(w);
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static int map_all(void *user, struct acp_str method, const struct acp_scan *scan,
                   struct acp_raw text, struct acp_buf *out)
{
    (void) method;
    (void) scan;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '!')
            return ACP_ERR_RANGE;
        char c = text.ptr[i] == ((const char *) user)[0] ? ((const char *) user)[1] : text.ptr[i];
        if (acp_buf_append(out, &c, 1))
            return ACP_ERR_NOMEM;
    }
    return 0;
}

static int map_back(void *user, struct acp_str method, const struct acp_scan *scan,
                    struct acp_raw text, struct acp_buf *out)
{
    char back[] = {((const char *) user)[1], ((const char *) user)[0]};
    return map_all(back, method, scan, text, out);
}

static void test_the_map_of_paths_sees_every_message(void **state)
{
    struct world *w = world_new(NULL);
    char letters[] = "<>";
    struct hub_path_map map = {.to_agent = map_all, .to_client = map_back, .user = letters};
    (void) state;
    world_greet(w);
    world_open(w, 0, "/w", "a");
    w->agents[0].process.paths = &map;
    world_client_says(w, 0, M "\"id\":1,\"method\":\"_x\",\"params\":[\"<\"]}");
    assert_agent_got(w, 0, M "\"id\":3,\"method\":\"_x\",\"params\":[\">\"]}");
    world_agent_says(w, 0, M "\"id\":3,\"result\":\">\"}");
    assert_client_got(w, 0, M "\"id\":1,\"result\":\"<\"}");
    world_client_says(w, 0, M "\"id\":2,\"method\":\"_x\",\"params\":[\"!\"]}");
    assert_agent_silent(w, 0);
    assert_non_null(strstr(world_client_line(w, 0), "outside of what the agent sees"));
    world_agent_says(w, 0,
                     M "\"id\":1,\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"a\","
                       "\"path\":\"!\"}}");
    assert_client_silent(w, 0);
    assert_non_null(strstr(world_agent_line(w, 0), "outside of the workspace"));
    world_agent_says(w, 0,
                     M "\"id\":1,\"method\":\"fs/read_text_file\",\"params\":{\"sessionId\":\"a\","
                       "\"path\":\">\"}}");
    assert_non_null(strstr(world_client_line(w, 0), "\"path\":\"<\""));
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_keep_their_bytes),
        cmocka_unit_test(test_ids_cannot_be_guessed),
        cmocka_unit_test(test_agents_of_a_workspace_may_use_the_same_ids),
        cmocka_unit_test(test_cancellation_names_the_id_of_the_receiver),
        cmocka_unit_test(test_an_id_is_used_once_at_a_time),
        cmocka_unit_test(test_open_requests_have_a_limit),
        cmocka_unit_test(test_ids_and_sessions_have_a_limit),
        cmocka_unit_test(test_what_is_not_a_message_is_answered_as_by_a_peer),
        cmocka_unit_test(test_a_message_over_the_limit_fails_what_it_belongs_to),
        cmocka_unit_test(test_each_workspace_has_an_agent),
        cmocka_unit_test(test_a_login_is_repeated_for_later_agents),
        cmocka_unit_test(test_a_login_goes_to_the_agent_that_wants_it),
        cmocka_unit_test(test_another_version_is_not_mixed_in),
        cmocka_unit_test(test_a_crash_fails_its_own_prompts_and_the_next_one_restarts),
        cmocka_unit_test(test_a_prompt_that_waits_can_be_cancelled),
        cmocka_unit_test(test_an_agent_that_cannot_start_fails_initialize_and_may_be_tried_again),
        cmocka_unit_test(test_idle_agents_end_and_come_back),
        cmocka_unit_test(test_a_prompt_while_an_idle_agent_ends_starts_another),
        cmocka_unit_test(test_a_session_is_loaded_by_its_id_alone),
        cmocka_unit_test(test_session_end_is_close),
        cmocka_unit_test(test_lists_are_merged_and_continued),
        cmocka_unit_test(test_a_client_that_does_not_read_stops_its_agents),
        cmocka_unit_test(test_output_over_the_limit_closes_the_connection),
        cmocka_unit_test(test_shutting_down_closes_sessions_and_has_a_deadline),
        cmocka_unit_test(test_a_client_that_goes_leaves_nothing_open),
        cmocka_unit_test(test_the_map_of_paths_sees_every_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
