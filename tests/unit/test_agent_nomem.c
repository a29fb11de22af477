/*
 * The coding agent runs out of memory: a client opens a session, lets it write a file and run a
 * command, cancels a turn, and loads the session again, with the first, the second, the third ...
 * allocation failing.  Nothing may crash or leak; every request gets one response, unless the
 * agent closes the connection; and the agent ends when its input does.
 *
 * The agent runs as in its own process, on descriptors 0 and 1; the client is a thread that
 * allocates nothing.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc.
 */
#include "store_help.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "agent/loop/coding_agent.h"
#include "test_memory.h"
#include "test_no_sync.h"

enum {
    MAX_ALLOCATIONS = 20000,
    MAX_REQUESTS = 16,
    MAX_LINE = 256 * 1024,
};

/* ---- The client ------------------------------------------------------------------------------ */

struct client {
    int to;   /* the agent's input; -1: closed */
    int from; /* its output */
    char line[MAX_LINE];
    size_t length; /* of what was read */
    size_t taken;  /* of that, by lines */
    int sent;      /* requests */
    int responses[MAX_REQUESTS + 1];
    bool succeeded[MAX_REQUESTS + 1];
    bool closed; /* by the agent */
    bool cancels;
    char session[100];
};

static struct client client;

static void put(const char *text)
{
    size_t length = strlen(text);
    while (length && client.to >= 0) {
        ssize_t n = write(client.to, text, length);
        if (n <= 0)
            return; /* the agent has gone, which the end of its output will tell */
        text += n;
        length -= (size_t) n;
    }
}

/* Its number; 0 when nobody listens any more. */
static int request(const char *method, const char *params)
{
    static char text[2000];
    if (client.closed)
        return 0;
    client.sent++;
    assert_true(client.sent <= MAX_REQUESTS);
    (void) snprintf(text, sizeof(text),
                    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s}}\n",
                    client.sent, method, params);
    put(text);
    return client.sent;
}

/* The next line of the agent, with a NUL instead of its end; NULL when there are no more. */
static char *next_line(void)
{
    for (;;) {
        char *line = client.line + client.taken;
        char *end = memchr(line, '\n', client.length - client.taken);
        if (end) {
            *end = '\0';
            client.taken = (size_t) (end + 1 - client.line);
            return line;
        }
        memmove(client.line, line, client.length - client.taken);
        client.length -= client.taken;
        client.taken = 0;
        assert_true(client.length < MAX_LINE);
        ssize_t n = read(client.from, client.line + client.length, MAX_LINE - client.length);
        if (n <= 0) {
            client.closed = true;
            return NULL;
        }
        client.length += (size_t) n;
    }
}

/* The number behind the name of a member; -1 if there is none. */
static int number_of(const char *line, const char *name)
{
    const char *found = strstr(line, name);
    int number = 0;
    if (!found)
        return -1;
    for (const char *p = found + strlen(name); *p >= '0' && *p <= '9'; p++)
        number = 10 * number + (*p - '0');
    return number;
}

static void take_session(const char *line)
{
    static const char name[] = "\"sessionId\":\"";
    const char *found = strstr(line, name);
    if (!found || *client.session)
        return;
    size_t length = strcspn(found + strlen(name), "\"");
    assert_true(length < sizeof(client.session));
    memcpy(client.session, found + strlen(name), length);
    client.session[length] = '\0';
}

static void answer_agent(const char *line)
{
    char text[300];
    bool asked = strstr(line, "\"session/request_permission\"") != NULL;
    (void) snprintf(text, sizeof(text),
                    asked ? "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"outcome\":"
                            "{\"outcome\":\"selected\",\"optionId\":\"allow-once\"}}}\n"
                          : "{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":"
                            "{\"code\":-32601,\"message\":\"no\"}}\n",
                    number_of(line, "\"id\":"));
    put(text);
}

static void take_line(const char *line)
{
    bool is_call = strstr(line, "\"method\":") != NULL;
    int id = number_of(line, "\"id\":");
    if (is_call && id >= 0) {
        answer_agent(line);
    } else if (!is_call && id > 0) {
        assert_true(id <= client.sent);
        client.responses[id]++;
        client.succeeded[id] = strstr(line, "\"result\":") != NULL;
        take_session(line);
    } else if (client.cancels && strstr(line, "\"tool_call\"")) {
        char text[300];
        client.cancels = false;
        (void) snprintf(text, sizeof(text),
                        "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\","
                        "\"params\":{\"sessionId\":\"%s\"}}\n",
                        client.session);
        put(text);
    }
}

static bool wait_for(int id)
{
    char *line;
    if (!id)
        return false;
    while (!client.responses[id] && (line = next_line()))
        take_line(line);
    return client.responses[id] && client.succeeded[id];
}

static bool prompt(const char *text)
{
    char params[500];
    (void) snprintf(params, sizeof(params),
                    "\"sessionId\":\"%s\",\"prompt\":[{\"type\":\"text\",\"text\":\"%s\"}]",
                    client.session, text);
    return wait_for(request("session/prompt", params));
}

static bool open_session(const char *method, const char *id)
{
    char params[500];
    (void) snprintf(params, sizeof(params), "%s%s%s\"cwd\":\"%s\",\"mcpServers\":[]",
                    *id ? "\"sessionId\":\"" : "", id, *id ? "\"," : "", store_folder);
    return wait_for(request(method, params));
}

/* As much of it as the failure allows. */
static void converse(void)
{
    if (!wait_for(request("initialize", "\"protocolVersion\":1,\"clientCapabilities\":{}")) ||
        !open_session("session/new", "") || !*client.session)
        return;
    (void) prompt("Write hello to a.txt, then read a.txt, then list the files");
    (void) prompt("Run echo hi");
    client.cancels = true;
    /* A cancellation can be lost, too. */
    (void) prompt("Run sleep 1");
    client.cancels = false;
    (void) wait_for(request("session/list", ""));
    (void) open_session("session/load", client.session);
    (void) prompt("Hello");
}

static void *run_client(void *unused)
{
    converse();
    (void) close(client.to);
    client.to = -1;
    for (char *line = next_line(); line; line = next_line())
        take_line(line);
    (void) close(client.from);
    return unused;
}

/* ---- The agent ------------------------------------------------------------------------------- */

/* A pipe: the end that the agent has as `fd`, and the client's. */
static int make_pipe(int fd, bool reads)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(dup2(ends[reads ? 0 : 1], fd), fd);
    (void) close(ends[reads ? 0 : 1]);
    return ends[reads ? 1 : 0];
}

static void empty_folder(void)
{
    static const char *const names[] = {"a.txt", "log.db", "log.db-wal", "log.db-shm"};
    for (size_t i = 0; i < COUNT(names); i++)
        (void) unlink(store_at(names[i]));
}

/* Runs the agent once; the n-th allocation fails.  Whether there were as many. */
static bool run_with_failure(const struct coding_agent_options *options, long n, int *ret_status)
{
    static const int saved[] = {0, 1, 2};
    int own[COUNT(saved)];
    pthread_t thread;
    empty_folder();
    for (size_t i = 0; i < COUNT(saved); i++) {
        own[i] = fcntl(saved[i], F_DUPFD_CLOEXEC, 10);
        assert_true(own[i] >= 0);
    }
    memset(&client, 0, sizeof(client));
    client.to = make_pipe(0, true);
    client.from = make_pipe(1, false);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert_int_equal(dup2(null, 2), 2);
    (void) close(null);
    assert_int_equal(pthread_create(&thread, NULL, run_client, NULL), 0);
    test_struck = false;
    test_countdown = n;
    *ret_status = coding_agent_run(options);
    test_countdown = 0;
    bool struck = test_struck;
    /* The client sees the end of the agent's output now, if it was not closed before. */
    for (size_t i = 0; i < COUNT(saved); i++) {
        assert_int_equal(dup2(own[i], saved[i]), saved[i]);
        (void) close(own[i]);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    return struck;
}

static void check_responses(long n, int status)
{
    for (int id = 1; id <= client.sent; id++) {
        /* A request that came as the agent closed the connection is the exception. */
        bool last = id == client.sent && client.closed;
        if (client.responses[id] > 1 || (!client.responses[id] && !last && !status))
            fail_msg("allocation %ld: request %d got %d responses", n, id, client.responses[id]);
    }
}

static void an_allocation_fails(void **state)
{
    static const struct model_sources no_sources = {0};
    struct acp_policy *policy = NULL;
    char log[200];
    int status = -1;
    (void) state;
    (void) snprintf(log, sizeof(log), "%s", store_at("log.db"));
    assert_int_equal(acp_policy_new(&policy), 0);
    struct coding_agent_options options = {
        .version = "1",
        .sources = no_sources,
        .demo = true,
        .mode = ACP_POLICY_SAFE,
        .policy = policy,
        .store_path = log,
    };
    /* Without a failure all of it works. */
    assert_false(run_with_failure(&options, 0, &status));
    assert_int_equal(status, 0);
    assert_int_equal(client.sent, 8);
    for (int id = 1; id <= client.sent; id++)
        assert_true(client.responses[id] == 1 && client.succeeded[id]);
    long n = 0;
    do {
        n++;
        assert_true(n < MAX_ALLOCATIONS);
        if (!run_with_failure(&options, n, &status))
            break;
        check_responses(n, status);
    } while (true);
    assert_true(n > 300);
    acp_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_allocation_fails, make_store_folder,
                                        remove_store_folder),
    };
    (void) signal(SIGPIPE, SIG_IGN);
    test_sticky = false;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
