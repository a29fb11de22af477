/*
 * Endpoints as a program's own loop meets them: loops that obey the wanted input never deadlock,
 * the loop is woken when it must look again, and gateways get whole messages with what they route
 * by.
 */
#include "helpers.h"

#include "acp/agent.h"
#include "acp/client.h"
#include "acp/rpc.h"

static struct acp_raw quoted(const char *text, char *room, size_t size)
{
    return test_quoted(text, room, size);
}

/* ---- Two loops ------------------------------------------------------------------------------- */

enum { PIPE_ROOM = 4096, CALLS = 400 };

/* One side: a peer, the bounded pipe that it reads from, and a loop that writes first. */
struct side {
    struct acp_peer *peer;
    struct acp_buf pipe;
    struct side *other;
    unsigned served;
    unsigned answered;
};

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    ((struct side *) user)->served++;
    assert_int_equal(acp_peer_result(peer, call, message->params), 0);
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    (void) peer;
    (void) request;
    assert_int_equal(reply->err, 0);
    ((struct side *) user)->answered++;
}

/* What a poll(2) loop does in one round; false when it could do nothing. */
static bool run_loop_once(struct side *s, uint64_t now, uint64_t *due_at)
{
    struct acp_endpoint *end = acp_peer_endpoint(s->peer);
    struct acp_endpoint_want want;
    bool worked = false;
    acp_endpoint_tick(end, now);
    acp_endpoint_poll(end, now, &want);
    size_t room = PIPE_ROOM - s->other->pipe.len;
    if (want.output && room) {
        struct acp_str out = acp_endpoint_output(end);
        size_t n = out.len < room ? out.len : room;
        assert_int_equal(acp_buf_append(&s->other->pipe, out.ptr, n), 0);
        acp_endpoint_sent(end, n);
        return true; /* it writes first, and as long as it can */
    }
    if (want.input && s->pipe.len) {
        char bytes[PIPE_ROOM];
        struct acp_str in = acp_buf_view(&s->pipe);
        size_t n = in.len < want.input ? in.len : want.input;
        memcpy(bytes, in.ptr, n);
        acp_buf_consume(&s->pipe, n);
        assert_int_equal(acp_endpoint_receive(end, bytes, n, now), 0);
        worked = true;
    }
    if (want.due_at < *due_at)
        *due_at = want.due_at;
    return worked;
}

static void two_loops_that_both_write_first_do_not_deadlock(void **state)
{
    static const struct acp_peer_handler handler = {.request = on_request};
    static char params[9000];
    struct acp_peer_options options = {.high_water = (size_t) 64 * 1024};
    struct side s[2] = {{0}, {0}};
    (void) state;
    memset(params, 'x', sizeof(params) - 1);
    params[0] = '[';
    params[1] = '"';
    params[sizeof(params) - 3] = '"';
    params[sizeof(params) - 2] = ']';
    for (int i = 0; i < 2; i++) {
        acp_buf_init(&s[i].pipe, PIPE_ROOM);
        assert_int_equal(acp_peer_new(&options, &handler, &s[i], &s[i].peer), 0);
        s[i].other = &s[1 - i];
        for (int n = 0; n < CALLS; n++) {
            struct acp_request request = {
                .method = acp_str_from("m"), .reply = on_reply, .user = &s[i]};
            assert_int_equal(acp_peer_request(s[i].peer, &request, acp_raw_from(params), NULL), 0);
        }
        assert_true(acp_peer_is_above_high_water(s[i].peer));
    }
    uint64_t now = 1000;
    while (s[0].answered < CALLS || s[1].answered < CALLS) {
        uint64_t due_at = UINT64_MAX;
        bool first = run_loop_once(&s[0], now, &due_at);
        bool second = run_loop_once(&s[1], now, &due_at);
        if (first || second)
            continue;
        /* Both sleep.  One of them must have said for how long. */
        assert_true(due_at != UINT64_MAX && due_at > now && due_at < now + 1000);
        now = due_at;
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s[i].served, CALLS);
        acp_peer_free(s[i].peer);
        acp_buf_finish(&s[i].pipe);
    }
}

static void a_side_that_is_not_read_is_served_a_little_only(void **state)
{
    struct acp_peer *peer;
    struct acp_peer_options options = {.high_water = 100};
    struct acp_endpoint_want want;
    (void) state;
    assert_int_equal(acp_peer_new(&options, NULL, NULL, &peer), 0);
    struct acp_endpoint *end = acp_peer_endpoint(peer);
    acp_endpoint_poll(end, 5, &want);
    assert_true(want.input == SIZE_MAX && !want.output && want.timeout_ms == -1);
    while (!acp_peer_is_above_high_water(peer))
        assert_int_equal(acp_peer_notify(peer, acp_str_from("n"), acp_raw_from(NULL)), 0);
    acp_endpoint_poll(end, 10, &want);
    assert_true(want.input == 0 && want.output > 100 && want.timeout_ms > 0);
    uint64_t breath = want.due_at;
    acp_endpoint_poll(end, breath - 1, &want);
    assert_int_equal(want.input, 0);
    acp_endpoint_poll(end, breath, &want);
    assert_true(want.input > 0 && want.input < SIZE_MAX);
    /* What came in uses it up; and so does what can be sent, which is better. */
    assert_int_equal(acp_endpoint_receive(end, "\n", 1, breath), 0);
    acp_endpoint_poll(end, breath, &want);
    assert_int_equal(want.input, 0);
    acp_endpoint_sent(end, 1);
    acp_endpoint_poll(end, breath + 19, &want);
    assert_true(want.input == 0 && want.due_at > breath + 20);
    acp_endpoint_sent(end, acp_endpoint_output(end).len);
    acp_endpoint_poll(end, breath + 19, &want);
    assert_true(want.input == SIZE_MAX);
    acp_peer_free(peer);
}

/* ---- Waking ---------------------------------------------------------------------------------- */

static void count(void *user)
{
    ++*(int *) user;
}

static void a_loop_is_woken_for_output_and_for_deadlines(void **state)
{
    struct acp_peer *peer;
    int wakes = 0;
    (void) state;
    assert_int_equal(acp_peer_new(NULL, NULL, NULL, &peer), 0);
    struct acp_endpoint *end = acp_peer_endpoint(peer);
    acp_endpoint_on_wake(end, count, &wakes);
    assert_int_equal(acp_peer_notify(peer, acp_str_from("n"), acp_raw_from(NULL)), 0);
    assert_int_equal(wakes, 1);
    assert_int_equal(acp_peer_notify(peer, acp_str_from("n"), acp_raw_from(NULL)), 0);
    assert_int_equal(wakes, 1); /* it knows */
    struct acp_request request = {.method = acp_str_from("m"), .timeout_ms = 100};
    assert_int_equal(acp_peer_request(peer, &request, acp_raw_from(NULL), NULL), 0);
    assert_int_equal(wakes, 2); /* its time begins with the next tick */
    assert_int_equal(acp_endpoint_deadline(end), 0);
    acp_endpoint_tick(end, 1000);
    assert_int_equal(acp_endpoint_deadline(end), 1100);
    acp_endpoint_on_wake(end, NULL, NULL);
    acp_endpoint_sent(end, acp_endpoint_output(end).len);
    assert_int_equal(acp_peer_notify(peer, acp_str_from("n"), acp_raw_from(NULL)), 0);
    assert_int_equal(wakes, 2);
    acp_peer_free(peer);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) prompt;
    *(struct acp_turn **) user = turn;
}

static void give(struct acp_endpoint *end, const char *message)
{
    char room[2000];
    assert_int_equal(acp_endpoint_receive_message(end, quoted(message, room, sizeof(room)), 1), 0);
}

static bool is(struct acp_raw raw, const char *text)
{
    return raw.len == strlen(text) && (!raw.len || memcmp(raw.ptr, text, raw.len) == 0);
}

static void take_response(struct acp_endpoint *end, const char *id)
{
    struct acp_outgoing out;
    assert_int_equal(acp_endpoint_next_message(end, &out), 1);
    assert_int_equal(out.kind, ACP_MESSAGE_RESPONSE);
    if (!is(out.id, id) || out.method.ptr)
        fail_msg("expected a response to %s, got %.*s", id, (int) out.text.len, out.text.ptr);
    acp_endpoint_message_sent(end);
}

static void messages_say_where_they_belong(void **state)
{
    static const struct acp_agent_handler handler = {.prompt = on_prompt};
    struct acp_agent_options options = {.no_merging = true, .seed = {1, 2}};
    struct acp_agent *agent;
    struct acp_turn *turn = NULL;
    struct acp_outgoing out;
    char session[100];
    char line[400];
    (void) state;
    assert_int_equal(acp_agent_new(&options, &handler, &turn, &agent), 0);
    struct acp_endpoint *end = acp_agent_endpoint(agent);
    assert_int_equal(acp_endpoint_next_message(end, &out), 0);
    /* A message may have line ends of its own: its frame is the transport's. */
    give(end, "{'jsonrpc':'2.0','id':0,\n'method':'initialize','params':{\n'protocolVersion':1}}");
    take_response(end, "0");
    give(end, "{'jsonrpc':'2.0','id':'n','method':'session/new','params':{'cwd':'/w',"
              "'mcpServers':[]}}");
    assert_int_equal(acp_endpoint_next_message(end, &out), 1);
    const char *at = strstr(out.text.ptr, "\"sessionId\":");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"sessionId\":%99[^},]", session), 1);
    assert_true(is(out.session_id, session)); /* of a response, the session that it opens */
    take_response(end, "\"n\"");
    (void) snprintf(line, sizeof(line),
                    "{'jsonrpc':'2.0','id':2,'method':'session/prompt','params':{'sessionId':%s,"
                    "'prompt':[{'type':'text','text':'go'}]}}",
                    session);
    give(end, line);
    assert_non_null(turn);
    assert_int_equal(acp_turn_send_text(turn, acp_str_from("a\nb")), 0);
    assert_int_equal(acp_turn_end(turn, ACP_STOP_END_TURN), 0);
    assert_int_equal(acp_endpoint_next_message(end, &out), 1);
    assert_int_equal(out.kind, ACP_MESSAGE_NOTIFICATION);
    assert_true(acp_str_is(out.method, "session/update") && !out.id.ptr);
    assert_true(is(out.session_id, session));
    assert_null(memchr(out.text.ptr, '\n', out.text.len));
    assert_int_equal(acp_json_validate(out.text, 0, NULL), 0);
    /* Until it is sent it is given again. */
    assert_int_equal(acp_endpoint_next_message(end, &out), 1);
    acp_endpoint_message_sent(end);
    take_response(end, "2");
    assert_int_equal(acp_endpoint_next_message(end, &out), 0);
    acp_endpoint_message_sent(end);
    acp_agent_free(agent);
}

static void on_echo(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                    void *user)
{
    unsigned *depth = user;
    (void) call;
    /* What is fed from here is served when this one is through. */
    if (acp_str_is(message->method, "more")) {
        assert_int_equal(
            acp_peer_receive_message(
                peer, acp_raw_from("{\"jsonrpc\":\"2.0\",\n\"id\":2,\"method\":\"echo\"}"), 1),
            0);
        assert_int_equal(*depth, 0);
    } else {
        ++*depth;
    }
    assert_int_equal(acp_peer_result(peer, call, acp_raw_from(NULL)), 0);
}

static void messages_have_the_limits_of_bytes(void **state)
{
    static const struct acp_peer_handler handler = {.request = on_echo};
    struct acp_peer_options options = {.max_message = 300, .high_water = 100};
    struct acp_peer *peer;
    struct acp_outgoing out;
    char large[400];
    unsigned served = 0;
    (void) state;
    assert_int_equal(acp_peer_new(&options, &handler, &served, &peer), 0);
    struct acp_endpoint *end = acp_peer_endpoint(peer);
    give(end, "{'jsonrpc':'2.0','id':1,'method':'more'}");
    assert_int_equal(served, 1);
    take_response(end, "1");
    take_response(end, "2");
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"echo\",\"x\":\"";
    memset(large, 'x', sizeof(large));
    memcpy(large, head, sizeof(head) - 1);
    assert_int_equal(acp_endpoint_receive_message(end, acp_raw_n(large, sizeof(large)), 1), 0);
    assert_int_equal(acp_endpoint_next_message(end, &out), 1);
    assert_non_null(strstr(out.text.ptr, "-32600"));
    take_response(end, "3");
    give(end, "nonsense");
    take_response(end, "null");
    assert_int_equal(served, 1);
    /* Pressure counts the same bytes. */
    for (int i = 0; i < 10; i++)
        give(end, "{'jsonrpc':'2.0','id':4,'method':'echo'}");
    assert_true(acp_peer_is_above_high_water(peer));
    assert_int_equal(acp_endpoint_wanted(end, 2), 0);
    while (acp_endpoint_next_message(end, &out) == 1)
        acp_endpoint_message_sent(end);
    assert_false(acp_peer_is_above_high_water(peer));
    acp_peer_close(peer, ACP_ERR_CLOSED);
    assert_int_equal(acp_endpoint_receive_message(end, acp_raw_from("{}"), 3), ACP_ERR_CLOSED);
    acp_peer_free(peer);
    /* A stream of another framing has no lines to take messages from. */
    assert_int_equal(acp_peer_new(&(struct acp_peer_options){.framing = ACP_FRAMING_CONTENT_LENGTH},
                                  NULL, NULL, &peer),
                     0);
    assert_int_equal(acp_peer_notify(peer, acp_str_from("n"), acp_raw_from(NULL)), 0);
    assert_int_equal(acp_endpoint_next_message(acp_peer_endpoint(peer), &out), ACP_ERR_STATE);
    acp_peer_free(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_loops_that_both_write_first_do_not_deadlock),
        cmocka_unit_test(a_side_that_is_not_read_is_served_a_little_only),
        cmocka_unit_test(a_loop_is_woken_for_output_and_for_deadlines),
        cmocka_unit_test(messages_say_where_they_belong),
        cmocka_unit_test(messages_have_the_limits_of_bytes),
    };
    return cmocka_run_group_tests_name("endpoint", tests, NULL, NULL);
}
