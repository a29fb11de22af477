/* Roles may be freed from any of their callbacks: it takes effect when the last call returns. */
#include "helpers.h"

#include "acp/agent.h"
#include "acp/client.h"

/* Both roles in memory.  Whichever callback has the letter that was chosen frees its own role. */
struct world {
    char when;
    struct acp_agent *agent;
    struct acp_client *client;
    struct acp_client_session *session;
    int freed;
    int callbacks; /* after the free function has returned */
    int ends;      /* of the prompt */
};

static void free_agent(struct world *w, char when)
{
    w->callbacks += w->freed && !w->agent;
    if (w->when != when || !w->agent)
        return;
    struct acp_agent *agent = w->agent;
    w->agent = NULL;
    acp_agent_free(agent);
    acp_agent_free(agent); /* what is going is not freed again */
    w->freed++;
}

static void free_client(struct world *w, char when)
{
    w->callbacks += w->freed && !w->client;
    if (w->when != when || !w->client)
        return;
    struct acp_client *client = w->client;
    w->client = NULL;
    acp_client_free(client);
    acp_client_free(client);
    w->freed++;
}

static void on_new(struct acp_session *session, const struct acp_new_session_request *request,
                   void *user)
{
    struct world *w = user;
    (void) request;
    free_agent(w, 'n');
    if (w->agent)
        assert_int_equal(acp_session_accept(session, NULL), 0);
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct world *w = user;
    (void) prompt;
    (void) acp_turn_send_text(turn, acp_str_from("text"));
    free_agent(w, 'p');
    if (w->agent && w->when != 'c')
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_cancel(struct acp_turn *turn, void *user)
{
    (void) turn;
    free_agent(user, 'c');
}

static void on_agent_end(struct acp_session *session, void *user)
{
    (void) session;
    free_agent(user, 'E');
}

static void on_agent_closed(struct acp_agent *agent, int reason, void *user)
{
    (void) agent;
    (void) reason;
    free_agent(user, 'X');
}

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    (void) session;
    free_client(user, event->kind == ACP_EVENT_STATE ? 's' : 'e');
}

static void on_client_end(struct acp_client_session *session, void *user)
{
    (void) session;
    free_client(user, 'q');
}

static void on_client_closed(struct acp_client *client, int reason, void *user)
{
    (void) client;
    (void) reason;
    free_client(user, 'x');
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    (void) client;
    (void) outcome;
    free_client(user, 'd');
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    (void) client;
    (void) outcome;
    ((struct world *) user)->session = session;
}

static void on_turn_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                        const struct acp_outcome *outcome, void *user)
{
    struct world *w = user;
    (void) session;
    (void) stop;
    (void) outcome;
    w->ends++;
    free_client(w, 't');
}

static void carry(struct world *w)
{
    for (int i = 0; i < 6 && w->agent && w->client; i++) {
        struct acp_endpoint *from =
            i % 2 ? acp_agent_endpoint(w->agent) : acp_client_endpoint(w->client);
        struct acp_endpoint *to =
            i % 2 ? acp_client_endpoint(w->client) : acp_agent_endpoint(w->agent);
        if (i % 2)
            acp_endpoint_tick(from, 1000);
        struct acp_str out = acp_endpoint_output(from);
        char *copy = malloc(out.len + 1);
        size_t n = out.len;
        assert_non_null(copy);
        if (n)
            memcpy(copy, out.ptr, n);
        acp_endpoint_sent(from, n);
        (void) acp_endpoint_receive(to, copy, n, 1000);
        free(copy);
    }
}

static void talk(struct world *w)
{
    struct acp_session_params place = {.cwd = acp_str_from("/w")};
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_from("go"));
    assert_int_equal(acp_client_initialize(w->client, on_ready, w), 0);
    carry(w);
    if (!w->client)
        return;
    assert_int_equal(acp_client_new_session(w->client, &place, on_session, w), 0);
    carry(w);
    if (!w->session || !w->agent)
        return;
    assert_int_equal(acp_client_prompt(w->session, &block, 1, on_turn_end, w), 0);
    carry(w);
    if (w->client && w->when == 'c')
        assert_int_equal(acp_client_cancel(w->session), 0);
    carry(w);
    if (w->client && strchr("qx", w->when))
        acp_endpoint_receive_end(acp_client_endpoint(w->client), 1000);
    if (w->agent && strchr("EX", w->when))
        acp_endpoint_receive_end(acp_agent_endpoint(w->agent), 1000);
}

static void a_role_may_be_freed_in_any_callback(void **state)
{
    static const struct acp_agent_handler agent_handler = {.new_session = on_new,
                                                           .prompt = on_prompt,
                                                           .cancel = on_cancel,
                                                           .end_session = on_agent_end,
                                                           .closed = on_agent_closed};
    static const struct acp_client_handler client_handler = {
        .event = on_event, .end_session = on_client_end, .closed = on_client_closed};
    (void) state;
    for (unsigned version = ACP_V1; version <= ACP_V2; version++) {
        for (const char *when = "npcEXdestqx"; *when; when++) {
            struct world w = {.when = *when};
            struct acp_agent_options agent = {.versions = version, .seed = {1, 2}};
            struct acp_client_options client = {.versions = version};
            assert_int_equal(acp_agent_new(&agent, &agent_handler, &w, &w.agent), 0);
            assert_int_equal(acp_client_new(&client, &client_handler, &w, &w.client), 0);
            talk(&w);
            if (w.freed != 1 || w.callbacks)
                fail_msg("in %c: freed %d, called %d times after it", *when, w.freed, w.callbacks);
            w.when = 0;
            w.freed = 0;
            acp_client_free(w.client);
            acp_agent_free(w.agent);
        }
    }
}

static void an_agent_without_randomness_is_refused(void **state)
{
    static const struct acp_agent_handler handler = {.prompt = on_prompt};
    struct acp_agent_options options = {.name = acp_str_from("a")};
    struct acp_agent *agent = NULL;
    (void) state;
    assert_int_equal(acp_agent_new(&options, &handler, NULL, &agent), ACP_ERR_ARGUMENT);
    assert_int_equal(acp_agent_new(NULL, &handler, NULL, &agent), ACP_ERR_ARGUMENT);
    assert_null(agent);
    options.seed[1] = 1;
    assert_int_equal(acp_agent_new(&options, &handler, NULL, &agent), 0);
    acp_agent_free(agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_may_be_freed_in_any_callback),
        cmocka_unit_test(an_agent_without_randomness_is_refused),
    };
    return cmocka_run_group_tests_name("roles_free", tests, NULL, NULL);
}
