/*
 * The two roles when out of memory: a whole conversation in memory, with the first, the second, the
 * third ... allocation failing, until none fails.  Nothing may crash or leak; every call that was
 * taken calls back exactly once; a call that fails at once says why; who watches a session is told
 * of its end.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc.
 */
#include "helpers.h"

#include "acp/agent.h"
#include "acp/client.h"
#include "test_memory.h"

struct conversation {
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_client_session *session;
    struct acp_client_session_observer watch;
    bool watching;
    size_t begun;   /* calls that were taken */
    size_t settled; /* their callbacks */
    size_t asked;   /* questions of the agent that were taken */
    size_t answered;
    size_t sessions_ended;
    enum acp_stop stop;
    bool closed;
    bool by_message; /* carried as messages, not as bytes */
};

/* ---- The agent ------------------------------------------------------------------------------- */

static void on_new_session(struct acp_session *session,
                           const struct acp_new_session_request *request, void *user)
{
    const struct acp_session_mode modes[] = {
        acp_mode_value(acp_str_from("ask"), acp_str_from("Ask")),
        acp_mode_value(acp_str_from("code"), acp_str_from("Code")),
    };
    const struct acp_session_config_select_option values[] = {
        acp_option_value(acp_str_from("small"), acp_str_from("Small"))};
    const struct acp_session_config_option options[] = {acp_option_select(
        acp_str_from("model"), acp_str_from("Model"), acp_str_from("small"), values, 1)};
    struct acp_session_setup setup = {
        .modes = {modes, 2}, .current_mode = acp_str_from("ask"), .options = {options, 1}};
    (void) request;
    (void) user;
    if (acp_session_accept(session, &setup))
        (void) acp_session_reject(session, -32603, acp_str_from("out of memory"));
}

static void on_set_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user)
{
    const struct conversation *c = user;
    if (acp_session_reply_set_mode(session, call, mode))
        (void) acp_agent_respond_error(c->agent, call, -32603, acp_str_from("out of memory"));
}

static void on_permission_answer(struct acp_turn *turn, const struct acp_permission_answer *answer,
                                 void *user)
{
    struct conversation *c = user;
    (void) answer;
    c->answered++;
    /* A turn whose end cannot be said is ended with its session. */
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct conversation *c = user;
    struct acp_tool_call_update tool;
    struct acp_permission_option option;
    const struct acp_tool_call_content content =
        acp_tool_diff(acp_str_from("/w/a"), acp_str_from("one\n"), acp_str_from("two\n"));
    (void) prompt;
    (void) acp_turn_send_text(turn, acp_str_from("hello"));
    acp_tool_call_update_init(&tool, acp_str_from("t"));
    tool.title = acp_str_from("Edit");
    tool.content = (struct acp_tool_call_content_list){&content, 1};
    (void) acp_turn_send_tool_call(turn, &tool);
    acp_permission_option_init(&option, acp_str_from("yes"), acp_str_from("Yes"),
                               ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE);
    if (acp_turn_request_permission(turn, &tool, &option, 1, on_permission_answer, c) == 0)
        c->asked++;
    else
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

/* ---- The client ------------------------------------------------------------------------------ */

static void begin(struct conversation *c, int err)
{
    if (err)
        assert_true(acp_client_error_text(c->client).len > 0);
    else
        c->begun++;
}

static void on_done(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    (void) client;
    assert_int_equal(outcome->err != 0, outcome->why.len > 0);
    ((struct conversation *) user)->settled++;
}

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    (void) session;
    assert_int_equal(outcome->err != 0, outcome->why.len > 0);
    c->settled++;
    c->stop = stop->reason;
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct conversation *c = user;
    on_done(client, outcome, user);
    c->session = session;
}

static void on_permission(struct acp_client_session *session, acp_call call,
                          const struct acp_permission_request *question, void *user)
{
    const struct conversation *c = user;
    (void) session;
    (void) question;
    if (acp_client_select_permission(c->client, call, acp_str_from("yes")))
        assert_true(acp_client_error_text(c->client).len > 0);
}

static void on_watch(struct acp_client_session_observer *watch)
{
    struct conversation *c =
        (struct conversation *) ((char *) watch - offsetof(struct conversation, watch));
    assert_null(watch->session);
    c->watching = false;
}

static void on_end_session(struct acp_client_session *session, void *user)
{
    struct conversation *c = user;
    assert_false(c->watching); /* it heard of it before */
    if (c->session == session)
        c->session = NULL;
    c->sessions_ended++;
}

static void on_closed(struct acp_client *client, int reason, void *user)
{
    (void) client;
    (void) reason;
    ((struct conversation *) user)->closed = true;
}

/* ---- Between them ---------------------------------------------------------------------------- */

static char between[1 << 20];

static bool move_bytes(struct acp_endpoint *from, struct acp_endpoint *to)
{
    struct acp_str out = acp_endpoint_output(from);
    assert_true(out.len < sizeof(between));
    memcpy(between, out.ptr, out.len);
    acp_endpoint_sent(from, out.len);
    (void) acp_endpoint_receive(to, between, out.len, 1);
    return out.len > 0;
}

static bool move_message(struct acp_endpoint *from, struct acp_endpoint *to)
{
    struct acp_outgoing out;
    int more = acp_endpoint_next_message(from, &out);
    if (more <= 0) {
        assert_int_equal(more, 0);
        return false;
    }
    assert_true(out.text.len < sizeof(between));
    memcpy(between, out.text.ptr, out.text.len);
    acp_endpoint_message_sent(from);
    (void) acp_endpoint_receive_message(to, acp_raw_n(between, out.text.len), 1);
    return true;
}

static void carry(struct conversation *c)
{
    bool (*move)(struct acp_endpoint *, struct acp_endpoint *) =
        c->by_message ? move_message : move_bytes;
    struct acp_endpoint *a = acp_agent_endpoint(c->agent);
    struct acp_endpoint *e = acp_client_endpoint(c->client);
    for (uint64_t now = 2; now < 1000; now += 100) {
        while (move(a, e) | move(e, a))
            continue;
        acp_endpoint_tick(a, now);
        acp_endpoint_tick(e, now);
    }
}

static void conversation_in_session(struct conversation *c)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from("go"));
    c->watch.session_ends = on_watch;
    c->watching = acp_client_session_add_observer(c->session, &c->watch) == 0;
    begin(c, acp_client_set_mode(c->session, acp_str_from("code"), on_done, c));
    carry(c);
    if (c->session)
        begin(c, acp_client_prompt(c->session, &block, 1, on_end, c));
    carry(c);
    if (c->session)
        begin(c, acp_client_close_session(c->session, on_done, c));
    carry(c);
}

static void talk(struct conversation *c)
{
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    if (acp_client_set_meta(c->client, acp_raw_from("{\"a\":1}")))
        assert_true(acp_client_error_text(c->client).len > 0);
    begin(c, acp_client_initialize(c->client, on_done, c));
    carry(c);
    begin(c, acp_client_new_session(c->client, &place, on_session, c));
    carry(c);
    if (c->session)
        conversation_in_session(c);
}

/* True while an allocation was left to fail. */
static bool run(long n, unsigned version, bool by_message)
{
    static const struct acp_agent_handler agent = {
        .new_session = on_new_session, .set_mode = on_set_mode, .prompt = on_prompt};
    static const struct acp_client_handler client = {
        .permission = on_permission, .end_session = on_end_session, .closed = on_closed};
    struct acp_agent_options agent_options = {.versions = version, .seed = {1, 2}};
    struct acp_client_options client_options = {.versions = version, .name = acp_str_from("c")};
    struct conversation c = {.by_message = by_message};
    test_struck = false;
    test_countdown = n;
    int err = acp_agent_new(&agent_options, &agent, &c, &c.agent);
    if (!err)
        err = acp_client_new(&client_options, &client, &c, &c.client);
    if (err)
        assert_int_equal(err, ACP_ERR_NOMEM);
    else
        talk(&c);
    bool whole = c.begun == c.settled && c.stop == ACP_STOP_END_TURN && c.sessions_ended == 1;
    acp_client_free(c.client);
    acp_agent_free(c.agent);
    test_countdown = 0;
    assert_int_equal(c.begun, c.settled);
    assert_int_equal(c.asked, c.answered);
    assert_false(c.watching);
    assert_int_equal(c.closed, c.client != NULL);
    assert_true(test_struck || whole);
    return test_struck;
}

static void every_allocation_fails_once(void **state)
{
    static const unsigned versions[] = {ACP_V1, ACP_V2};
    (void) state;
    for (size_t i = 0; i < 4; i++) {
        long n = 1;
        while (run(n, versions[i / 2], i % 2))
            n++;
        assert_true(n > 40); /* both roles, and what they keep */
    }
}

/* From one on, all of them. */
static void memory_stays_away(void **state)
{
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        long n = 1;
        test_sticky = true;
        while (run(n, version, false))
            n++;
        test_sticky = false;
    }
}

/* ---- A program's own endpoint ---------------------------------------------------------------- */

static struct acp_str say_nothing(void *self)
{
    (void) self;
    return acp_str_n("", 0);
}

static uint64_t never(void *self)
{
    (void) self;
    return UINT64_MAX;
}

static bool is_paused(void *self)
{
    (void) self;
    return false;
}

static void an_endpoint_of_ones_own(void **state)
{
    static const struct acp_endpoint_handler handler = {
        .output = say_nothing, .deadline = never, .paused = is_paused};
    struct acp_endpoint *end = NULL;
    (void) state;
    for (long n = 1; !end; n++) {
        test_countdown = n;
        int err = acp_endpoint_new(&handler, NULL, &end);
        test_countdown = 0;
        assert_int_equal(err, end ? 0 : ACP_ERR_NOMEM);
    }
    assert_int_equal(acp_endpoint_deadline(end), UINT64_MAX);
    acp_endpoint_free(end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(memory_stays_away),
        cmocka_unit_test(an_endpoint_of_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
