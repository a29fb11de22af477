/* A hub with several clients on one session: what each sees, and whose answer counts. */
#include "hub_world.h"

#include <stdio.h>

#define M "{\"jsonrpc\":\"2.0\","

/* A shared hub with two clients that are attached to the session "a" of agent 0. */
static struct world *share(void)
{
    struct hub_options options = {.shared = true};
    struct world *w = world_new(&options);
    world_greet(w);
    world_open(w, 0, "/w", "a");
    assert_int_equal(world_connect(w), 1);
    world_client_says(w, 1, M "\"id\":0,\"method\":\"initialize\"}");
    assert_non_null(strstr(world_client_line(w, 1), "\"id\":0,\"result\":{\"protocolVersion\":1"));
    world_client_says(w, 1,
                      M "\"id\":1,\"method\":\"session/load\",\"params\":{\"cwd\":\"/w\","
                        "\"sessionId\":\"%s\"}}",
                      world_id(w, "/w", "a"));
    assert_non_null(strstr(world_client_line(w, 1), "\"id\":1,\"result\":{"));
    assert_agent_silent(w, 0);
    return w;
}

static void test_a_session_of_another_client_must_be_attached_first(void **state)
{
    struct world *w = share();
    (void) state;
    assert_int_equal(world_connect(w), 2);
    world_client_says(w, 2, M "\"id\":0,\"method\":\"initialize\"}");
    (void) world_client_line(w, 2);
    world_client_says(w, 2, M "\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"%s\"}}",
                      world_id(w, "/w", "a"));
    world_client_says(w, 2,
                      M "\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\"}}",
                      world_id(w, "/w", "a"));
    assert_client_got(w, 2,
                      M "\"id\":1,\"error\":{\"code\":-32600,\"message\":"
                        "\"the session is open; load or resume it before you use it\"}}");
    assert_agent_silent(w, 0);
    /* The agent's own id is not enough where several clients share an agent. */
    world_client_says(w, 2,
                      M "\"id\":1,\"method\":\"session/load\",\"params\":{\"cwd\":\"/w\","
                        "\"sessionId\":\"a\"}}");
    assert_client_got(w, 2,
                      M "\"id\":1,\"error\":{\"code\":-32002,\"message\":"
                        "\"no such session\"}}");
    world_free(w);
}

static void test_all_see_a_prompt_and_its_updates_and_one_the_answer(void **state)
{
    struct world *w = share();
    char expected[HUB_PUBLIC_ID_SIZE + 1000];
    (void) state;
    world_client_says(w, 1,
                      M "\"id\":5,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
                        "\"%s\",\"prompt\":[{\"type\":\"text\" }]}}",
                      world_id(w, "/w", "a"));
    assert_non_null(world_agent_line(w, 0));
    (void) snprintf(expected, sizeof(expected),
                    M
                    "\"method\":\"session/update\",\"params\":{\"sessionId\":\"%s\",\"update\":"
                    "{\"sessionUpdate\":\"user_message_chunk\",\"content\":{\"type\":\"text\" }}}}",
                    world_id(w, "/w", "a"));
    assert_client_got(w, 0, expected);
    assert_client_silent(w, 1);
    world_agent_says(w, 0, M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"a\"}}");
    world_agent_says(w, 0, M "\"id\":3,\"result\":{}}");
    for (size_t i = 0; i < 2; i++)
        assert_non_null(strstr(world_client_line(w, i), "session/update"));
    assert_client_silent(w, 0);
    assert_client_got(w, 1, M "\"id\":5,\"result\":{}}");
    world_free(w);
}

static void test_the_first_answer_counts_and_the_others_are_told(void **state)
{
    struct world *w = share();
    char expected[HUB_PUBLIC_ID_SIZE + 1000];
    (void) state;
    world_agent_says(w, 0,
                     M "\"id\":\"q\",\"method\":\"session/request_permission\",\"params\":"
                       "{\"sessionId\":\"a\"}}");
    assert_non_null(strstr(world_client_line(w, 0), "\"id\":1,"));
    assert_non_null(strstr(world_client_line(w, 1), "\"id\":1,"));
    /* That one cannot is no answer while another may. */
    world_client_says(w, 0, M "\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}");
    assert_agent_silent(w, 0);
    world_client_says(w, 1, M "\"id\":1,\"result\":{\"x\":1}}");
    assert_agent_got(w, 0, M "\"id\":\"q\",\"result\":{\"x\":1}}");
    assert_client_silent(w, 0);
    world_agent_says(w, 0,
                     M "\"id\":\"r\",\"method\":\"session/request_permission\",\"params\":"
                       "{\"sessionId\":\"a\"}}");
    (void) world_client_line(w, 0);
    (void) world_client_line(w, 1);
    world_client_says(w, 1, M "\"id\":2,\"result\":{\"y\":1}}");
    assert_agent_got(w, 0, M "\"id\":\"r\",\"result\":{\"y\":1}}");
    assert_client_got(w, 0, M "\"method\":\"$/cancel_request\",\"params\":{\"requestId\":2}}");
    (void) snprintf(expected, sizeof(expected),
                    M "\"method\":\"_acp/request_answered\",\"params\":{\"sessionId\":\"%s\","
                      "\"requestId\":2}}",
                    world_id(w, "/w", "a"));
    assert_client_got(w, 0, expected);
    world_client_says(w, 0, M "\"id\":2,\"result\":{\"z\":1}}");
    assert_agent_silent(w, 0);
    world_free(w);
}

static void test_a_question_waits_for_somebody_to_attach(void **state)
{
    struct world *w = share();
    (void) state;
    world_disconnect(w, 0);
    world_disconnect(w, 1);
    world_agent_says(w, 0,
                     M "\"id\":\"q\",\"method\":\"session/request_permission\",\"params\":"
                       "{\"sessionId\":\"a\"}}");
    assert_agent_silent(w, 0);
    for (size_t i = 2; i < 4; i++) {
        assert_int_equal(world_connect(w), i);
        world_client_says(w, i, M "\"id\":0,\"method\":\"initialize\"}");
        (void) world_client_line(w, i);
        world_client_says(w, i,
                          M "\"id\":1,\"method\":\"session/%s\",\"params\":{\"cwd\":\"/w\","
                            "\"sessionId\":\"%s\"}}",
                          i == 2 ? "load" : "resume", world_id(w, "/w", "a"));
        if (i == 2) /* the replay comes before the answer */
            assert_non_null(strstr(world_client_line(w, i), "request_permission"));
        assert_non_null(strstr(world_client_line(w, i), "\"id\":1,\"result\""));
        if (i == 3)
            assert_non_null(strstr(world_client_line(w, i), "request_permission"));
        assert_client_silent(w, i);
    }
    world_client_says(w, 3, M "\"id\":1,\"result\":{}}");
    assert_agent_got(w, 0, M "\"id\":\"q\",\"result\":{}}");
    world_free(w);
}

static void test_a_slow_client_holds_up_nobody_until_events_would_be_lost(void **state)
{
    struct world *w = share();
    static char text[64 * 1024];
    size_t said = 0;
    (void) state;
    memset(text, 'x', sizeof(text) - 1);
    w->clients[1].stuck = true;
    while (!w->agents[0].paused) {
        world_agent_says(w, 0,
                         M "\"method\":\"session/update\",\"params\":{\"sessionId\":\"a\","
                           "\"n\":%zu,\"t\":\"%s\"}}",
                         said, text);
        said++;
        assert_non_null(world_client_line(w, 0)); /* the other one has got it */
        assert_true(said * sizeof(text) <= HUB_MAX_EVENT_BYTES + 2 * HUB_HIGH_WATER);
    }
    assert_true(said * sizeof(text) > HUB_MAX_EVENT_BYTES);
    w->clients[1].stuck = false;
    world_settle(w);
    assert_false(w->agents[0].paused);
    for (size_t i = 0; i < said; i++) {
        unsigned long long n = 0;
        const char *line = world_client_line(w, 1);
        assert_non_null(line);
        assert_int_equal(sscanf(strstr(line, "\"n\":"), "\"n\":%llu", &n), 1);
        assert_int_equal(n, i);
    }
    assert_client_silent(w, 1);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_session_of_another_client_must_be_attached_first),
        cmocka_unit_test(test_all_see_a_prompt_and_its_updates_and_one_the_answer),
        cmocka_unit_test(test_the_first_answer_counts_and_the_others_are_told),
        cmocka_unit_test(test_a_question_waits_for_somebody_to_attach),
        cmocka_unit_test(test_a_slow_client_holds_up_nobody_until_events_would_be_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
