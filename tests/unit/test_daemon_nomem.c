/*
 * A daemon and its clients run out of memory: two prompts with a question, a client that watches,
 * and a stop, with the first, the second, the third ... allocation failing, until none fails.
 * Nothing may crash or leak; every prompt that was sent is answered once, or its connection ends;
 * and the daemon ends when it is told to.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc.
 */
#include "store_help.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/daemon_client.h"
#include "daemon/daemon_internal.h"
#include "memory_agent.h"
#include "test_memory.h"

enum { MAX_ALLOCATIONS = 20000 };

struct viewer {
    struct daemon_client *client;
    uint64_t last;
    int sent; /* requests */
    int done;
    bool gone;
};

static uv_loop_t loop;
static struct daemon under_test;
static struct viewer viewers[2];

static void on_event(struct daemon_client *client, const struct session_event *event, void *user)
{
    struct viewer *v = user;
    (void) client;
    assert_true(event->sequence > v->last);
    v->last = event->sequence;
}

static void on_question(struct daemon_client *client, const struct permission_question *question,
                        void *user)
{
    (void) user;
    daemon_client_answer(client, question->number, acp_str_from("yes"));
}

static void on_gone(struct daemon_client *client, void *user)
{
    struct viewer *v = user;
    daemon_client_free(client);
    v->client = NULL;
    v->gone = true;
}

static void on_done(struct daemon_client *client, int err, struct acp_raw result,
                    struct acp_str why, void *user)
{
    struct viewer *v = user;
    (void) client;
    (void) err;
    (void) result;
    (void) why;
    v->done++;
    assert_true(v->done <= v->sent);
}

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

static struct viewer *connect_client(size_t index, const char *socket_path)
{
    static const struct daemon_client_handler handler = {
        .event = on_event, .question = on_question, .gone = on_gone};
    struct viewer *v = &viewers[index];
    *v = (struct viewer){0};
    if (daemon_client_new(&loop, socket_path, &handler, v, &v->client))
        v->gone = true;
    return v;
}

/* Until all that was asked for is done, or can no longer be. */
static void wait_for(struct viewer *v)
{
    while (v->done < v->sent && !v->gone)
        (void) uv_run(&loop, UV_RUN_ONCE);
}

static void prompt(struct viewer *v, const char *text)
{
    char body[100];
    (void) snprintf(body, sizeof(body), "{\"prompt\":[{\"type\":\"text\",\"text\":\"%s\"}]}", text);
    /* What the agent could not say for want of memory is not waited for. */
    const struct prompt_request request = {.body = acp_raw_from(body),
                                           .permit = PERMIT_ASK,
                                           .timeout_ms = 50,
                                           .ask = true,
                                           .wait = true};
    v->sent++;
    if (v->gone || daemon_client_prompt(v->client, &request, on_done, v))
        v->sent--;
    wait_for(v);
}

/* The whole of it; how far it got depends on what fails. */
static void converse(const char *socket_path, struct acp_policy *policy)
{
    struct memory_agent agent;
    memory_agent_init(&agent);
    struct daemon_options options = {
        .conversation = {.agent = acp_str_from("memory"),
                         .endpoint = &agent.endpoint,
                         .place = {.cwd = acp_str_from(store_folder)},
                         .session = acp_str_from("0199-daemon"),
                         .policy = policy,
                         .start_ms = 50},
        .socket = socket_path,
    };
    for (int i = 0; i < PERMIT_COUNT; i++)
        options.policies[i] = policy;
    if (daemon_open(&under_test, &loop, &options, listen_at(socket_path)) == 0) {
        struct viewer *person = connect_client(0, socket_path);
        prompt(person, "say 3");
        struct viewer *viewer = connect_client(1, socket_path);
        viewer->sent++;
        if (viewer->gone || daemon_client_attach(viewer->client, 0, false, on_done, viewer))
            viewer->sent--;
        wait_for(viewer);
        prompt(person, "ask");
        person->sent++;
        if (person->gone || daemon_client_request(person->client, "daemon/status", on_done, person))
            person->sent--;
        wait_for(person);
        daemon_end(&under_test);
    }
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < COUNT(viewers); i++)
        assert_null(viewers[i].client);
    assert_null(under_test.clients);
    assert_null(under_test.waiting);
    assert_null(under_test.questions);
}

static void test_an_allocation_fails(void **state)
{
    char socket_path[100];
    struct acp_policy *policy = NULL;
    bool struck = true;
    long n = 0;
    (void) state;
    (void) snprintf(socket_path, sizeof(socket_path), "%s", store_at("socket"));
    assert_int_equal(acp_policy_new(&policy), 0);
    while (struck) {
        assert_true(++n < MAX_ALLOCATIONS);
        (void) unlink(socket_path);
        assert_int_equal(uv_loop_init(&loop), 0);
        test_struck = false;
        test_countdown = n;
        converse(socket_path, policy);
        test_countdown = 0;
        struck = test_struck;
        assert_int_equal(uv_loop_close(&loop), 0);
    }
    /* It has been a conversation. */
    assert_int_equal(viewers[0].done, 3);
    assert_true(viewers[1].last == viewers[0].last && viewers[1].last > 5);
    assert_true(n > 100);
    acp_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_allocation_fails, make_store_folder,
                                        remove_store_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
