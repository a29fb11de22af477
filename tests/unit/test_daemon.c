/* A daemon and its clients on one loop, with an agent in the same process. */
#include "store_help.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/daemon_client.h"
#include "daemon/daemon_internal.h"
#include "json/members.h"
#include "memory_agent.h"

struct viewer {
    struct daemon_client *client;
    uint64_t first; /* sequence numbers of its events */
    uint64_t last;
    size_t events;
    size_t questions;
    size_t questions_gone;
    uint64_t question;
    size_t queued;
    size_t ends;
    char kind[32]; /* of the last end */
    int err;
    char why[200];
    size_t replies;
    char state[32];
    bool gone;
};

static uv_loop_t loop;
static struct daemon under_test;
static struct daemon_options options;
static struct memory_agent agent;
static struct acp_policy *policy;
static struct viewer viewers[4];

/* ---- Clients --------------------------------------------------------------------------------- */

static void on_event(struct daemon_client *client, const struct session_event *event, void *user)
{
    struct viewer *v = user;
    (void) client;
    assert_true(event->sequence > v->last);
    if (!v->first)
        v->first = event->sequence;
    v->last = event->sequence;
    v->events++;
}

static void on_queued(struct daemon_client *client, uint64_t turn, uint64_t ahead, void *user)
{
    struct viewer *v = user;
    (void) client;
    (void) turn;
    assert_true(ahead > 0);
    v->queued++;
}

static void on_question(struct daemon_client *client, const struct permission_question *question,
                        void *user)
{
    struct viewer *v = user;
    (void) client;
    v->questions++;
    v->question = question->number;
}

static void on_elicitation(struct daemon_client *client,
                           const struct elicitation_question *question, void *user)
{
    struct viewer *v = user;
    (void) client;
    assert_non_null(strstr(question->params.ptr, "\"Who?\""));
    v->questions++;
    v->question = question->number;
}

static void on_question_gone(struct daemon_client *client, uint64_t number, void *user)
{
    struct viewer *v = user;
    (void) client;
    assert_int_equal(number, v->question);
    v->questions_gone++;
}

static void on_gone(struct daemon_client *client, void *user)
{
    struct viewer *v = user;
    daemon_client_free(client);
    v->client = NULL;
    v->gone = true;
}

static void on_reply(struct daemon_client *client, int err, struct acp_raw result,
                     struct acp_str why, void *user)
{
    struct viewer *v = user;
    struct acp_arena arena;
    struct acp_str state = {0};
    (void) client;
    acp_arena_init(&arena, 0);
    v->replies++;
    v->err = err;
    (void) snprintf(v->why, sizeof(v->why), "%.*s", ACP_ARG(why));
    (void) acp_json_member_str(result, "state", &arena, &state);
    (void) snprintf(v->state, sizeof(v->state), "%.*s", ACP_ARG(state));
    acp_arena_finish(&arena);
}

/* All events of the turn have come before this. */
static void on_end(struct daemon_client *client, int err, struct acp_raw result, struct acp_str why,
                   void *user)
{
    struct viewer *v = user;
    struct acp_arena arena;
    struct acp_str kind = {0};
    (void) client;
    (void) why;
    acp_arena_init(&arena, 0);
    v->err = err;
    v->ends++;
    (void) acp_json_member_str(result, "kind", &arena, &kind);
    (void) snprintf(v->kind, sizeof(v->kind), "%.*s", ACP_ARG(kind));
    acp_arena_finish(&arena);
}

static struct viewer *connect_client(size_t index)
{
    static const struct daemon_client_handler handler = {.event = on_event,
                                                         .queued = on_queued,
                                                         .question = on_question,
                                                         .elicitation = on_elicitation,
                                                         .question_gone = on_question_gone,
                                                         .gone = on_gone};
    struct viewer *v = &viewers[index];
    assert_int_equal(daemon_client_new(&loop, options.socket, &handler, v, &v->client), 0);
    return v;
}

static void leave(struct viewer *v)
{
    daemon_client_free(v->client);
    v->client = NULL;
}

static void prompt(struct viewer *v, const char *text, bool ask, bool wait)
{
    char body[200];
    (void) snprintf(body, sizeof(body), "{\"prompt\":[{\"type\":\"text\",\"text\":\"%s\"}]}", text);
    const struct prompt_request request = {
        .body = acp_raw_from(body), .permit = PERMIT_ASK, .ask = ask, .wait = wait};
    assert_int_equal(daemon_client_prompt(v->client, &request, wait ? on_end : on_reply, v), 0);
}

/* ---- The daemon ------------------------------------------------------------------------------ */

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *) &address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 16), 0);
    return fd;
}

static int setup(void **state)
{
    static char socket_path[100];
    static char store_path[100];
    (void) make_store_folder(state);
    memset(viewers, 0, sizeof(viewers));
    memory_agent_init(&agent);
    assert_int_equal(acp_policy_new(&policy), 0);
    (void) snprintf(socket_path, sizeof(socket_path), "%s", store_at("socket"));
    (void) snprintf(store_path, sizeof(store_path), "%s", store_at("log.db"));
    options = (struct daemon_options){
        .conversation = {.agent = acp_str_from("memory"),
                         .endpoint = &agent.endpoint,
                         .place = {.cwd = acp_str_from(store_folder)},
                         .session = acp_str_from("0199-daemon"),
                         .policy = policy},
        .store_path = store_path,
        .socket = socket_path,
    };
    for (int i = 0; i < PERMIT_COUNT; i++)
        options.policies[i] = policy;
    assert_int_equal(uv_loop_init(&loop), 0);
    return daemon_open(&under_test, &loop, &options, listen_at(socket_path));
}

/* Ends with all clients disconnected. */
static int teardown(void **state)
{
    daemon_end(&under_test);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < 4; i++)
        assert_null(viewers[i].client);
    assert_null(under_test.clients);
    assert_null(under_test.waiting);
    assert_null(under_test.questions);
    acp_policy_free(policy);
    assert_int_equal(uv_loop_close(&loop), 0);
    return remove_store_folder(state);
}

#define RUN_UNTIL(condition)                                                                       \
    do {                                                                                           \
        while (!(condition))                                                                       \
            (void) uv_run(&loop, UV_RUN_ONCE);                                                     \
    } while (0)

/* ---- Tests ----------------------------------------------------------------------------------- */

static void test_a_client_gets_the_events_and_the_end_of_its_turn(void **state)
{
    (void) state;
    struct viewer *v = connect_client(0);
    prompt(v, "say 50", false, true);
    RUN_UNTIL(v->ends);
    assert_string_equal(v->kind, "stopped");
    assert_int_equal(v->events, 53);
    assert_int_equal(v->last, 53);
}

static void test_prompts_of_two_clients_are_queued(void **state)
{
    (void) state;
    struct viewer *a = connect_client(0);
    struct viewer *b = connect_client(1);
    prompt(a, "wait", false, true);
    RUN_UNTIL(agent.prompts);
    prompt(b, "say 3", false, true);
    RUN_UNTIL(b->queued);
    assert_int_equal(b->events, 0);
    assert_int_equal(daemon_client_request(b->client, "daemon/cancel", on_reply, b), 0);
    RUN_UNTIL(a->ends && b->ends);
    assert_int_equal(a->events, 3); /* opened, prompt, stop */
    assert_int_equal(b->events, 5); /* prompt, three messages, stop */
}

static void test_a_viewer_attaches_to_a_running_turn(void **state)
{
    (void) state;
    struct viewer *a = connect_client(0);
    prompt(a, "wait", false, true);
    RUN_UNTIL(agent.prompts);
    memory_agent_send(&agent, "before");
    RUN_UNTIL(a->last == 3);
    struct viewer *b = connect_client(1);
    assert_int_equal(daemon_client_attach(b->client, 0, false, on_reply, b), 0);
    RUN_UNTIL(b->last == 3);
    memory_agent_send(&agent, "after");
    RUN_UNTIL(a->last == 4 && b->last == 4);
    assert_int_equal(b->first, 1);
    assert_int_equal(b->events, 4);
    memory_agent_finish(&agent);
    RUN_UNTIL(a->ends && b->last == 5);
    /* It stays attached for the next turn, of anybody. */
    prompt(a, "say 1", false, true);
    RUN_UNTIL(a->ends == 2 && b->last == 8);
    assert_int_equal(b->events, 8);
}

static void test_a_client_that_leaves_does_not_end_its_turn(void **state)
{
    (void) state;
    struct viewer *a = connect_client(0);
    prompt(a, "wait", false, true);
    RUN_UNTIL(agent.prompts);
    leave(a);
    struct viewer *b = connect_client(1);
    assert_int_equal(daemon_client_attach(b->client, 2, false, on_reply, b), 0);
    RUN_UNTIL(b->replies);
    RUN_UNTIL(under_test.client_count == 1);
    memory_agent_finish(&agent);
    RUN_UNTIL(b->last == 3);
    assert_int_equal(b->events, 1);
}

static void test_all_that_can_answer_are_asked(void **state)
{
    (void) state;
    struct viewer *a = connect_client(0);
    struct viewer *b = connect_client(1);
    struct viewer *viewer = connect_client(2);
    assert_int_equal(daemon_client_attach(b->client, 0, true, on_reply, b), 0);
    assert_int_equal(daemon_client_attach(viewer->client, 0, false, on_reply, viewer), 0);
    RUN_UNTIL(b->replies && viewer->replies);
    prompt(a, "ask", true, true);
    RUN_UNTIL(a->questions && b->questions);
    daemon_client_answer(b->client, b->question, acp_str_from("yes"));
    RUN_UNTIL(a->ends && a->questions_gone);
    assert_string_equal(agent.answer, "yes");
    assert_int_equal(viewer->questions, 0);
}

static void test_a_question_goes_to_those_who_are_left(void **state)
{
    (void) state;
    struct viewer *a = connect_client(0);
    struct viewer *b = connect_client(1);
    assert_int_equal(daemon_client_attach(b->client, 0, true, on_reply, b), 0);
    RUN_UNTIL(b->replies);
    prompt(a, "ask", true, true);
    RUN_UNTIL(a->questions && b->questions);
    leave(a);
    RUN_UNTIL(under_test.client_count == 1);
    assert_int_equal(agent.answered, 0);
    leave(b);
    RUN_UNTIL(agent.answered);
    assert_string_equal(agent.answer, "");
}

static void test_a_form_goes_to_all_and_the_first_answer_counts(void **state)
{
    (void) state;
    struct viewer *a = connect_client(0);
    struct viewer *b = connect_client(1);
    assert_int_equal(daemon_client_attach(b->client, 0, true, on_reply, b), 0);
    RUN_UNTIL(b->replies);
    prompt(a, "elicit", true, true);
    RUN_UNTIL(a->questions && b->questions);
    daemon_client_respond(b->client, b->question,
                          acp_raw_from("{\"action\":\"accept\",\"content\":{\"name\":\"Ann\"}}"));
    RUN_UNTIL(a->ends && a->questions_gone);
    assert_string_equal(agent.answer, "accept Ann");
}

static void test_a_form_is_cancelled_when_all_have_left(void **state)
{
    (void) state;
    struct viewer *a = connect_client(0);
    struct viewer *b = connect_client(1);
    assert_int_equal(daemon_client_attach(b->client, 0, true, on_reply, b), 0);
    RUN_UNTIL(b->replies);
    prompt(a, "elicit", true, true);
    RUN_UNTIL(a->questions && b->questions);
    leave(a);
    RUN_UNTIL(under_test.client_count == 1);
    assert_int_equal(agent.answered, 0);
    leave(b);
    RUN_UNTIL(agent.answered);
    assert_string_equal(agent.answer, "cancel");
}

static void test_a_client_takes_its_own_prompts_back(void **state)
{
    (void) state;
    struct viewer *a = connect_client(0);
    struct viewer *b = connect_client(1);
    prompt(a, "wait", false, true);
    RUN_UNTIL(agent.prompts);
    prompt(b, "say 1", false, true);
    prompt(b, "say 2", false, true);
    RUN_UNTIL(b->queued == 2);
    assert_int_equal(daemon_client_request(b->client, "daemon/cancel_own", NULL, NULL), 0);
    RUN_UNTIL(b->ends == 2);
    assert_int_equal(a->ends, 0);
    assert_int_equal(conversation_queued(under_test.conversation), 0);
    assert_int_equal(daemon_client_request(a->client, "daemon/cancel_own", NULL, NULL), 0);
    RUN_UNTIL(a->ends);
    assert_int_equal(agent.prompts, 1);
}

static void test_bad_requests_get_errors(void **state)
{
    (void) state;
    struct viewer *v = connect_client(0);
    assert_int_equal(daemon_client_request(v->client, "daemon/dance", on_reply, v), 0);
    RUN_UNTIL(v->replies);
    assert_int_equal(v->err, ACP_ERR_REMOTE);
    assert_string_equal(v->why, "Method not found");
    assert_int_equal(daemon_client_request(v->client, "daemon/prompt", on_reply, v), 0);
    RUN_UNTIL(v->replies == 2);
    assert_int_equal(v->err, ACP_ERR_REMOTE);
    assert_int_equal(daemon_client_request(v->client, "daemon/status", on_reply, v), 0);
    RUN_UNTIL(v->replies == 3);
    assert_int_equal(v->err, 0);
    assert_string_equal(v->state, "disconnected");
}

static void test_a_stop_ends_all(void **state)
{
    (void) state;
    struct viewer *a = connect_client(0);
    struct viewer *b = connect_client(1);
    prompt(a, "wait", false, true);
    RUN_UNTIL(agent.prompts);
    assert_int_equal(daemon_client_request(b->client, "daemon/stop", on_reply, b), 0);
    RUN_UNTIL(a->gone && b->gone);
    assert_int_equal(a->ends, 1);
    assert_string_equal(a->kind, "stopped");
}

int main(void)
{
#define WITH_DAEMON(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_DAEMON(test_a_client_gets_the_events_and_the_end_of_its_turn),
        WITH_DAEMON(test_prompts_of_two_clients_are_queued),
        WITH_DAEMON(test_a_viewer_attaches_to_a_running_turn),
        WITH_DAEMON(test_a_client_that_leaves_does_not_end_its_turn),
        WITH_DAEMON(test_all_that_can_answer_are_asked),
        WITH_DAEMON(test_a_question_goes_to_those_who_are_left),
        WITH_DAEMON(test_a_form_goes_to_all_and_the_first_answer_counts),
        WITH_DAEMON(test_a_form_is_cancelled_when_all_have_left),
        WITH_DAEMON(test_a_client_takes_its_own_prompts_back),
        WITH_DAEMON(test_bad_requests_get_errors),
        WITH_DAEMON(test_a_stop_ends_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
