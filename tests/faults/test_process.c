/*
 * Faults of real processes: the agent crashes, hangs, floods or stops reading, the client stops
 * reading or is killed.  The prompt ends once, with an error that tells what happened; nothing
 * hangs, grows without bound or is left behind.
 */
#include "drive.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* For what is kept while somebody does not read; under a sanitizer memory costs double and more. */
enum { MOST_GROWTH_KIB = 32 * 1024 };

/* A busy machine is no fault of ours; a test that hangs ends by its watchdog. */
enum { SLACK_MS = 20000 }; /* of a busy machine; what hangs takes longer */

static const unsigned versions[] = {ACP_V1, ACP_V2};

static void sleep_ms(unsigned ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long) (ms % 1000) * 1000000};
    while (nanosleep(&time, &time) < 0 && errno == EINTR)
        ;
}

/* ---- The agent goes -------------------------------------------------------------------------- */

/* The prompt has ended once, with an error in words: which program, how, and its last words. */
static void check_end(struct drive *d, const char *how, const char *last_words)
{
    assert_int_equal(d->ends, 1);
    assert_int_equal(d->session_ends, 1);
    assert_int_equal(d->err, ACP_ERR_CLOSED);
    assert_string_equal(d->why, d->sentence);
    if (!strstr(d->why, how) || !strstr(d->why, last_words))
        fail_msg("\"%s\" was explained by \"%s\"", d->prompt, d->why);
}

static void an_agent_that_dies_ends_the_prompt_and_tells_why(void **state)
{
    static const struct {
        const char *prompt;
        const char *how;
        const char *last_words;
        uint64_t after_ms;
    } cases[] = {
        {"abort", "was ended by SIGABRT", "", 0},
        {"exit", "exited with code 7", "opening the model\nthe disk is full", 0},
        {"kill", "was ended by SIGKILL", "", 0},
        {"half", "exited with code 3", "", 0},
        {"close output", "closed its output and was stopped by SIGTERM",
         "I have nothing more to say", 300},
        {"fork", "exited with code 0", "grandchild", 0},
        {"fork away", "exited with code 0", "grandchild", 0},
    };
    (void) state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t v = 0; v < COUNT(versions); v++) {
            struct drive d = {.prompt = cases[i].prompt, .version = versions[v]};
            drive_start(&d);
            drive_finish(&d);
            check_end(&d, cases[i].how, cases[i].last_words);
            printf("# %s: ended after %llu ms: %.*s\n", d.prompt, (unsigned long long) d.ended_ms,
                   (int) strcspn(d.why, "\n"), d.why);
            assert_in_range(d.ended_ms, cases[i].after_ms, cases[i].after_ms + SLACK_MS);
            if (d.grandchild)
                assert_false(drive_is_alive(d.grandchild));
        }
    }
}

static uint64_t acted_ms; /* when the test did what it waited for */

static void stop_agent(struct drive *d)
{
    acted_ms = drive_ms(d);
    acp_agent_process_stop(d->agent);
}

static void a_hanging_agent_is_stopped_within_its_deadlines(void **state)
{
    (void) state;
    for (size_t v = 0; v < COUNT(versions); v++) {
        struct drive d = {.prompt = "hang", .version = versions[v], .error_output = stop_agent};
        drive_start(&d);
        drive_finish(&d);
        check_end(&d, "was stopped by SIGKILL", "hanging");
        printf("# hang: gone %llu ms after stop\n", (unsigned long long) (d.exited_ms - acted_ms));
        /* 300 ms for the end of its input, 300 ms for SIGTERM. */
        assert_in_range(d.exited_ms - acted_ms, 600, 600 + SLACK_MS);
    }
}

static void cancel_turn(struct drive *d)
{
    acted_ms = drive_ms(d);
    assert_int_equal(acp_client_cancel(d->session), 0);
}

/* It is noticed when something is written to it; then it cannot be an agent any more. */
static void an_agent_that_closes_its_input_is_stopped(void **state)
{
    (void) state;
    for (size_t v = 0; v < COUNT(versions); v++) {
        struct drive d = {
            .prompt = "close input", .version = versions[v], .error_output = cancel_turn};
        drive_start(&d);
        drive_finish(&d);
        check_end(&d, "closed its input and was stopped by SIGTERM", "input closed");
        printf("# close input: ended %llu ms after the cancel: %s\n",
               (unsigned long long) (d.ended_ms - acted_ms), d.why);
        assert_in_range(d.ended_ms - acted_ms, 0, 1500 + SLACK_MS);
    }
}

/* ---- The agent is slow ----------------------------------------------------------------------- */

static void a_flood_on_standard_error_holds_nobody_up(void **state)
{
    (void) state;
    long before = drive_rss((int) getpid());
    struct drive d = {.prompt = "flood", .version = ACP_V1};
    drive_start(&d);
    drive_finish(&d);
    assert_int_equal(d.ends, 1);
    assert_string_equal(d.stop, "end_turn");
    assert_int_equal(d.error_bytes, 8192 * 4095);
    long grown = drive_rss((int) getpid()) - before;
    printf("# flood: 32 MiB of standard error in %llu ms, %ld KiB more\n",
           (unsigned long long) d.ended_ms, grown);
    assert_in_range(grown < 0 ? 0 : grown, 0, MOST_GROWTH_KIB);
}

static void an_agent_that_stalls_answers_in_the_end(void **state)
{
    (void) state;
    for (size_t v = 0; v < COUNT(versions); v++) {
        struct drive d = {.prompt = "stall", .version = versions[v], .error_output = cancel_turn};
        drive_start(&d);
        drive_finish(&d);
        assert_int_equal(d.ends, 1);
        assert_int_equal(d.err, 0);
        assert_in_range(d.ended_ms - acted_ms, 1400, 2000 + SLACK_MS);
    }
}

/* ---- A reader that is stopped ---------------------------------------------------------------- */

enum { MANY = 64, PROMPT_SIZE = 100 * 1024, MAX_OUTPUT = 4 * 1024 * 1024 };

/* Many sessions, whose prompts pile up while the agent does not run. */
struct many {
    struct drive d;
    struct acp_client_session *sessions[MANY];
    int opened;
    int sent;
    int ended; /* of those sent, in their order */
};

static void on_many_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                        const struct acp_outcome *outcome, void *user)
{
    struct many *m = user;
    assert_int_equal(outcome->err, 0);
    assert_true(stop->reason == ACP_STOP_END_TURN);
    assert_ptr_equal(session, m->sessions[m->ended]);
    m->ended++;
}

static void on_many_session(struct acp_client *client, struct acp_client_session *session,
                            const struct acp_outcome *outcome, void *user)
{
    struct many *m = user;
    (void) client;
    assert_int_equal(outcome->err, 0);
    m->sessions[m->opened++] = session;
}

static void open_many(struct drive *d)
{
    static const struct acp_session_params place = {.cwd = ACP_STR("/")};
    struct many *m = (struct many *) d;
    for (int i = 0; i < MANY; i++)
        assert_int_equal(acp_client_new_session(d->client, &place, on_many_session, m), 0);
}

static size_t unsent(struct many *m)
{
    return acp_peer_output(acp_client_peer(m->d.client)).len;
}

/* Prompts until no more are taken, then cancels likewise. */
static void send_all_it_takes(struct many *m, const char *text)
{
    struct acp_content_block block;
    acp_content_block_init_text(&block, acp_str_n(text, PROMPT_SIZE));
    int err = 0;
    for (; m->sent < MANY; m->sent++) {
        err = acp_client_prompt(m->sessions[m->sent], &block, 1, on_many_end, m);
        if (err)
            break;
    }
    assert_int_equal(err, ACP_ERR_LIMIT);
    assert_in_range(m->sent, MAX_OUTPUT / PROMPT_SIZE - 2, MAX_OUTPUT / PROMPT_SIZE + 4);
    int cancels = 0;
    while ((err = acp_client_cancel(m->sessions[cancels % m->sent])) == 0)
        cancels++;
    assert_int_equal(err, ACP_ERR_LIMIT);
    assert_true(cancels > 10);
    assert_in_range(unsent(m), MAX_OUTPUT - PROMPT_SIZE, MAX_OUTPUT);
}

static void an_agent_that_does_not_read_costs_bounded_memory(void **state)
{
    static char text[PROMPT_SIZE];
    (void) state;
    memset(text, 'x', sizeof(text));
    for (size_t v = 0; v < COUNT(versions); v++) {
        struct many *m = calloc(1, sizeof(*m));
        assert_non_null(m);
        m->d = (struct drive){.prompt = "", .version = versions[v], .ready = open_many};
        m->d.max_output = MAX_OUTPUT;
        drive_start(&m->d);
        while (m->opened < MANY)
            (void) uv_run(&m->d.loop, UV_RUN_ONCE);
        long before = drive_rss((int) getpid());
        assert_int_equal(kill(m->d.pid, SIGSTOP), 0);
        send_all_it_takes(m, text);
        drive_for(&m->d, 2000);
        assert_int_equal(m->ended, 0);
        assert_true(unsent(m) <= MAX_OUTPUT);
        long grown = drive_rss((int) getpid()) - before;
        printf("# stopped agent: %d prompts wait, %zu bytes unsent, %ld KiB more\n", m->sent,
               unsent(m), grown);
        assert_in_range(grown < 0 ? 0 : grown, 0, MOST_GROWTH_KIB);
        uint64_t woken = drive_ms(&m->d);
        assert_int_equal(kill(m->d.pid, SIGCONT), 0);
        while (m->ended < m->sent && !m->d.late)
            (void) uv_run(&m->d.loop, UV_RUN_ONCE);
        assert_int_equal(m->ended, m->sent);
        printf("# stopped agent: all ended %llu ms after it went on\n",
               (unsigned long long) (drive_ms(&m->d) - woken));
        /* Whoever was refused may come again. */
        struct acp_content_block block;
        acp_content_block_init_text(&block, acp_str_from("again"));
        assert_int_equal(acp_client_prompt(m->sessions[m->sent++], &block, 1, on_many_end, m), 0);
        while (m->ended < m->sent && !m->d.late)
            (void) uv_run(&m->d.loop, UV_RUN_ONCE);
        acp_agent_process_stop(m->d.agent);
        drive_finish(&m->d);
        assert_int_equal(m->d.session_ends, MANY + 1);
        free(m);
    }
}

static void a_client_that_does_not_read_stops_the_agent(void **state)
{
    (void) state;
    for (size_t v = 0; v < COUNT(versions); v++) {
        struct drive d = {.prompt = "stream", .version = versions[v]};
        drive_start(&d);
        while (!d.session)
            (void) uv_run(&d.loop, UV_RUN_ONCE);
        long before = drive_rss(d.pid);
        while (d.chunks == 0 && !d.late)
            (void) uv_run(&d.loop, UV_RUN_ONCE);
        sleep_ms(2000);
        long grown = drive_rss(d.pid) - before;
        printf("# paused client: the agent has %ld KiB more\n", grown);
        assert_in_range(grown < 0 ? 0 : grown, 0, MOST_GROWTH_KIB);
        assert_int_equal(d.ends, 0);
        drive_finish(&d);
        assert_int_equal(d.ends, 1);
        assert_string_equal(d.stop, "end_turn");
        assert_int_equal(d.chunks, 60000);
        assert_int_equal(d.wrong_chunks, 0);
        printf("# paused client: all there after %llu ms\n", (unsigned long long) d.ended_ms);
    }
}

/* ---- The client is killed -------------------------------------------------------------------- */

/* How long it takes until the process is gone, in ms; more than the limit when it is not. */
static unsigned time_until_gone(int pid, unsigned limit)
{
    unsigned ms = 0;
    while (drive_is_alive(pid) && ms <= limit) {
        sleep_ms(10);
        ms += 10;
    }
    return ms;
}

static void tell_pid(struct drive *d)
{
    (void) !write(STDOUT_FILENO, &d->pid, sizeof(d->pid));
}

/* A client with an agent at work, in a process of its own. */
static _Noreturn void be_client(unsigned version)
{
    struct drive d = {.prompt = "wait", .version = version, .chunk = tell_pid};
    drive_start(&d);
    (void) uv_run(&d.loop, UV_RUN_DEFAULT);
    _exit(1);
}

/* The same without the library: nothing but the end of its input tells the agent. */
static _Noreturn void be_plain_client(unsigned version)
{
    static const char *const params[] = {
        "{\"protocolVersion\":1}",
        "{\"protocolVersion\":2,\"info\":{\"name\":\"c\",\"version\":\"1\"},\"capabilities\":{}}"};
    int in[2];
    int out[2];
    char byte;
    if (pipe(in) < 0 || pipe(out) < 0)
        _exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        (void) dup2(in[0], STDIN_FILENO);
        (void) dup2(out[1], STDOUT_FILENO);
        for (int i = 0; i < 2; i++) {
            (void) close(in[i]);
            (void) close(out[i]);
        }
        (void) execl(drive_program, drive_program, (char *) NULL);
        _exit(1);
    }
    (void) dprintf(in[1],
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":%s}\n",
                   params[version == ACP_V2]);
    if (read(out[0], &byte, 1) == 1)
        (void) !write(STDOUT_FILENO, &pid, sizeof(pid));
    for (;;)
        (void) pause();
}

static void kill_client(void (*client)(unsigned version), unsigned version)
{
    int pipe_fds[2];
    int agent = 0;
    assert_int_equal(pipe(pipe_fds), 0);
    (void) fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        (void) dup2(pipe_fds[1], STDOUT_FILENO);
        (void) close(pipe_fds[0]);
        (void) close(pipe_fds[1]);
        client(version);
        _exit(1);
    }
    (void) close(pipe_fds[1]);
    ssize_t n = read(pipe_fds[0], &agent, sizeof(agent));
    (void) close(pipe_fds[0]);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(n, sizeof(agent));
    unsigned ms = time_until_gone(agent, 2000);
    if (ms > 2000) {
        (void) kill(agent, SIGKILL);
        fail_msg("the agent has outlived its client");
    }
    printf("# killed client: the agent was gone after %u ms\n", ms);
}

static void the_agent_leaves_when_its_client_is_killed(void **state)
{
    (void) state;
    for (size_t v = 0; v < COUNT(versions); v++)
        kill_client(be_client, versions[v]);
}

static void the_agent_leaves_when_its_input_ends(void **state)
{
    (void) state;
    for (size_t v = 0; v < COUNT(versions); v++)
        kill_client(be_plain_client, versions[v]);
}

/* What libuv opens once for the whole process is no leak. */
static int warm_up(void **state)
{
    (void) state;
    uv_loop_t loop;
    return uv_loop_init(&loop) || uv_loop_close(&loop);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_that_dies_ends_the_prompt_and_tells_why),
        cmocka_unit_test(a_hanging_agent_is_stopped_within_its_deadlines),
        cmocka_unit_test(an_agent_that_closes_its_input_is_stopped),
        cmocka_unit_test(a_flood_on_standard_error_holds_nobody_up),
        cmocka_unit_test(an_agent_that_stalls_answers_in_the_end),
        cmocka_unit_test(an_agent_that_does_not_read_costs_bounded_memory),
        cmocka_unit_test(a_client_that_does_not_read_stops_the_agent),
        cmocka_unit_test(the_agent_leaves_when_its_client_is_killed),
        cmocka_unit_test(the_agent_leaves_when_its_input_ends),
    };
    if (argc != 2)
        return fprintf(stderr, "usage: %s FAULT-AGENT\n", argv[0]), 1;
    drive_program = argv[1];
    return cmocka_run_group_tests_name("process", tests, warm_up, NULL);
}
