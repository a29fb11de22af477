/*
 * Programs and peers that do things at the worst moment, one by one: each case was, or could be, a
 * use of memory that is gone, or an end that comes twice or never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "acp/agent.h"
#include "acp/client.h"

#define RPC "{\"jsonrpc\":\"2.0\","
#define UPDATE                                                                                     \
    RPC "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\","                          \
        "\"update\":{\"sessionUpdate\":\"state_update\","

struct edge {
    struct acp_endpoint *end;
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_client_session *session;
    struct acp_session *opening;
    int ends;
    int err;
    int again; /* what prompting from within the end gave */
    int done;
    int session_ends;
    int answers;
    bool prompts_again;
};

static void feed(struct edge *e, const char *text)
{
    assert_int_equal(acp_endpoint_receive(e->end, text, strlen(text), 0), 0);
}

/* What was put out since the last time, as a text to be freed. */
static char *taken(struct edge *e)
{
    struct acp_str out = acp_endpoint_output(e->end);
    char *copy = strndup(out.len ? out.ptr : "", out.len);
    assert_non_null(copy);
    acp_endpoint_sent(e->end, out.len);
    return copy;
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static void drop(struct edge *e)
{
    free(taken(e));
}

/* ---- The agent ------------------------------------------------------------------------------- */

static void end_again(struct acp_turn *turn, const struct acp_permission_answer *answer, void *user)
{
    struct edge *e = user;
    assert_int_equal(answer->err, ACP_ERR_CANCELLED);
    e->answers++;
    (void) acp_turn_end(turn, ACP_STOP_REFUSAL);
}

static void ask_and_end(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct acp_permission_option option;
    struct acp_tool_call_update tool;
    (void) prompt;
    acp_permission_option_init(&option, acp_str_from("yes"), acp_str_from("Allow"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    acp_tool_call_update_init(&tool, acp_str_from("call"));
    tool.title = acp_str_from("Do it");
    for (int i = 0; i < 2; i++)
        assert_int_equal(acp_turn_request_permission(turn, &tool, &option, 1, end_again, user), 0);
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void keep_opening(struct acp_session *session,
                         const struct acp_resume_session_request *request, void *user)
{
    struct edge *e = user;
    (void) request;
    e->opening = session;
}

static void on_agent_session_end(struct acp_session *session, void *user)
{
    struct edge *e = user;
    e->session_ends++;
    /* It is too late for that, and must do no harm. */
    if (session == e->opening)
        assert_int_equal(acp_session_accept(session, NULL), ACP_ERR_STATE);
    e->opening = NULL;
}

static void name_it(struct acp_session *session, const struct acp_new_session_request *request,
                    void *user)
{
    (void) request;
    (void) user;
    assert_int_equal(acp_session_set_id(session, acp_str_from("s1")), 0);
    assert_int_equal(acp_session_accept(session, NULL), 0);
}

static void make_agent(struct edge *e)
{
    static const struct acp_agent_handler handler = {
        .new_session = name_it,
        .load_session = keep_opening,
        .end_session = on_agent_session_end,
        .prompt = ask_and_end,
    };
    assert_int_equal(
        acp_agent_new(&(struct acp_agent_options){.seed = {1, 2}}, &handler, e, &e->agent), 0);
    e->end = acp_agent_endpoint(e->agent);
    feed(e, RPC "\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n");
    feed(e, RPC "\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":\"/\","
                "\"mcpServers\":[]}}\n");
    drop(e);
}

static void a_turn_that_is_ended_with_questions_open_ends_once(void **state)
{
    (void) state;
    struct edge e = {0};
    make_agent(&e);
    feed(&e, RPC "\"id\":3,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s1\","
                 "\"prompt\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n");
    char *out = taken(&e);
    assert_int_equal(e.answers, 2);
    assert_int_equal(count(out, "\"id\":3"), 1);
    assert_int_equal(count(out, "stopReason"), 1);
    assert_int_equal(count(out, "cancel_request"), 2);
    free(out);
    acp_agent_free(e.agent);
}

static void a_session_may_be_closed_while_it_is_loaded(void **state)
{
    (void) state;
    struct edge e = {0};
    make_agent(&e);
    feed(&e, RPC "\"id\":3,\"method\":\"session/load\",\"params\":{\"sessionId\":\"old\","
                 "\"cwd\":\"/\",\"mcpServers\":[]}}\n");
    assert_non_null(e.opening);
    feed(&e, RPC "\"id\":4,\"method\":\"session/close\",\"params\":{\"sessionId\":\"old\"}}\n");
    assert_int_equal(e.session_ends, 1);
    char *out = taken(&e);
    assert_int_equal(count(out, "\"id\":3,\"error\""), 1);
    assert_int_equal(count(out, "\"id\":4,\"result\""), 1);
    free(out);
    acp_agent_free(e.agent);
    assert_int_equal(e.session_ends, 2);
}

/* ---- The client ------------------------------------------------------------------------------ */

static void on_done(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    struct edge *e = user;
    (void) client;
    assert_int_equal(outcome->err, 0);
    e->done++;
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct edge *e = user;
    (void) client;
    assert_int_equal(outcome->err, 0);
    e->session = session;
}

static int prompt(struct edge *e);

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    struct edge *e = user;
    (void) session;
    (void) stop;
    e->ends++;
    e->err = outcome->err;
    if (e->prompts_again)
        e->again = prompt(e);
}

static int prompt(struct edge *e)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from("hello"));
    return acp_client_prompt(e->session, &block, 1, on_end, e);
}

static void on_client_session_end(struct acp_client_session *session, void *user)
{
    struct edge *e = user;
    (void) session;
    e->session_ends++;
}

/* The numbers of its requests: 0 initialize, 1 session/new, then prompts and the rest from 2 on. */
static void make_client(struct edge *e, unsigned version)
{
    static const struct acp_session_params place = {.cwd = ACP_STR("/")};
    static const struct acp_client_handler handler = {.end_session = on_client_session_end};
    struct acp_client_options options = {.versions = version};
    assert_int_equal(acp_client_new(&options, &handler, e, &e->client), 0);
    e->end = acp_client_endpoint(e->client);
    assert_int_equal(acp_client_initialize(e->client, on_done, e), 0);
    feed(e, version == ACP_V1
                ? RPC "\"id\":0,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{"
                      "\"sessionCapabilities\":{\"close\":{}}}}}\n"
                : RPC "\"id\":0,\"result\":{\"protocolVersion\":2,\"info\":{\"name\":\"a\","
                      "\"version\":\"1\"},\"capabilities\":{\"session\":{}}}}\n");
    assert_int_equal(acp_client_new_session(e->client, &place, on_session, e), 0);
    feed(e, RPC "\"id\":1,\"result\":{\"sessionId\":\"s1\",\"configOptions\":[]}}\n");
    assert_non_null(e->session);
    e->done = 0;
}

/* Some agents answer the close and forget the prompt. */
static void no_prompt_begins_in_a_session_that_is_ending(void **state)
{
    (void) state;
    static const unsigned versions[] = {ACP_V1, ACP_V2};
    for (int i = 0; i < 2; i++) {
        struct edge e = {.prompts_again = true};
        make_client(&e, versions[i]);
        assert_int_equal(prompt(&e), 0);
        assert_int_equal(acp_client_close_session(e.session, on_done, &e), 0);
        feed(&e, RPC "\"id\":3,\"result\":{}}\n");
        assert_int_equal(e.ends, 1);
        assert_int_equal(e.err, ACP_ERR_CANCELLED);
        assert_int_equal(e.again, ACP_ERR_STATE);
        assert_int_equal(e.session_ends, 1);
        assert_int_equal(e.done, 1);
        acp_client_free(e.client);
        assert_int_equal(e.ends, 1);
    }
}

/* Version 2: the state may overtake the response, which then refuses the prompt. */
static void the_end_of_a_refused_prompt_is_not_that_of_the_next(void **state)
{
    (void) state;
    struct edge e = {0};
    make_client(&e, ACP_V2);
    assert_int_equal(prompt(&e), 0);
    feed(&e, UPDATE "\"state\":\"running\"}}}\n");
    feed(&e, UPDATE "\"state\":\"idle\",\"stopReason\":\"end_turn\"}}}\n");
    assert_int_equal(e.ends, 0);
    feed(&e, RPC "\"id\":2,\"error\":{\"code\":-32603,\"message\":\"not now\"}}\n");
    assert_int_equal(e.ends, 1);
    assert_int_equal(e.err, ACP_ERR_REMOTE);
    assert_int_equal(prompt(&e), 0);
    feed(&e, RPC "\"id\":3,\"result\":{\"messageId\":\"m1\"}}\n");
    assert_int_equal(e.ends, 1);
    feed(&e, UPDATE "\"state\":\"running\"}}}\n");
    feed(&e, UPDATE "\"state\":\"idle\",\"stopReason\":\"end_turn\"}}}\n");
    assert_int_equal(e.ends, 2);
    assert_int_equal(e.err, 0);
    acp_client_free(e.client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_that_is_ended_with_questions_open_ends_once),
        cmocka_unit_test(a_session_may_be_closed_while_it_is_loaded),
        cmocka_unit_test(no_prompt_begins_in_a_session_that_is_ending),
        cmocka_unit_test(the_end_of_a_refused_prompt_is_not_that_of_the_next),
    };
    return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
