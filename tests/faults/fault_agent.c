/*
 * An agent that goes wrong in the way its prompt says.  Everything up to there is what any agent on
 * acp_agent_run() does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "acp/run.h"

/* The pipes that we were started with; the library has moved them to other descriptors. */
static struct stat input;
static struct stat output;

/* What "stream" still has to say. */
static struct {
    struct acp_turn *turn;
    unsigned next;
    unsigned count;
} stream;

static struct acp_turn *waiting;

/* ---- Ways to go wrong ------------------------------------------------------------------------ */

/* The next descriptor from `from` on for that pipe, or -1. */
static int find_pipe(const struct stat *which, int from)
{
    for (int fd = from; fd < 100; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && st.st_ino == which->st_ino && st.st_dev == which->st_dev)
            return fd;
    }
    return -1;
}

static void close_pipe(const struct stat *which)
{
    for (int fd = 0; (fd = find_pipe(which, fd)) >= 0; fd++)
        (void) close(fd);
}

static _Noreturn void live_on(void)
{
    for (;;)
        (void) pause();
}

static void do_abort(struct acp_turn *turn)
{
    (void) turn;
    abort();
}

static void do_exit(struct acp_turn *turn)
{
    (void) turn;
    (void) fprintf(stderr, "opening the model\nthe disk is full\n");
    _exit(7);
}

static void do_kill(struct acp_turn *turn)
{
    (void) turn;
    (void) raise(SIGKILL);
}

static void do_close_output(struct acp_turn *turn)
{
    (void) turn;
    (void) fprintf(stderr, "I have nothing more to say\n");
    close_pipe(&output);
    live_on();
}

static void do_close_input(struct acp_turn *turn)
{
    (void) turn;
    close_pipe(&input);
    (void) fputs("input closed\n", stderr);
    live_on();
}

static void do_hang(struct acp_turn *turn)
{
    (void) turn;
    (void) signal(SIGTERM, SIG_IGN);
    (void) fputs("hanging\n", stderr);
    live_on();
}

static void do_flood(struct acp_turn *turn)
{
    static char line[4096];
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\n';
    for (int i = 0; i < 8192; i++)
        (void) !write(STDERR_FILENO, line, sizeof(line));
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void do_half(struct acp_turn *turn)
{
    static const char half[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sess";
    (void) turn;
    int fd = find_pipe(&output, 3);
    (void) !write(fd, half, sizeof(half) - 1);
    _exit(3);
}

/*
 * It holds on to all descriptors, and in a session of its own signals to the group do not reach it.
 */
static void leave_grandchild(bool own_session)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (own_session)
            (void) setsid();
        (void) signal(SIGTERM, SIG_IGN);
        (void) signal(SIGHUP, SIG_IGN);
        live_on();
    }
    (void) fprintf(stderr, "grandchild %d\n", (int) pid);
    _exit(0);
}

static void do_fork(struct acp_turn *turn)
{
    (void) turn;
    leave_grandchild(false);
}

static void do_fork_away(struct acp_turn *turn)
{
    (void) turn;
    leave_grandchild(true);
}

static void do_stall(struct acp_turn *turn)
{
    struct timespec two_seconds = {.tv_sec = 2};
    (void) fputs("stalling\n", stderr);
    while (nanosleep(&two_seconds, &two_seconds) < 0 && errno == EINTR)
        ;
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void do_wait(struct acp_turn *turn)
{
    waiting = turn;
    (void) acp_turn_send_text(turn, acp_str_from("waiting"));
}

/* ---- Streaming, no faster than it is read ---------------------------------------------------- */

static void go_on(void)
{
    static char chunk[1000];
    while (stream.turn && stream.next < stream.count) {
        if (acp_agent_is_above_high_water(acp_session_agent(acp_turn_session(stream.turn))))
            return;
        memset(chunk, '.', sizeof(chunk));
        (void) snprintf(chunk, sizeof(chunk), "%u ", stream.next++);
        (void) acp_turn_send_text(stream.turn, acp_str_n(chunk, sizeof(chunk)));
    }
    struct acp_turn *turn = stream.turn;
    stream.turn = NULL;
    if (turn)
        (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void do_stream(struct acp_turn *turn)
{
    stream.turn = turn;
    stream.next = 0;
    stream.count = 60000;
    go_on();
}

static void on_pressure(struct acp_agent *agent, bool high, void *user)
{
    (void) agent;
    (void) user;
    if (!high)
        go_on();
}

/* ---- The agent ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*act)(struct acp_turn *turn);
} ways[] = {
    {"abort", do_abort},
    {"exit", do_exit},
    {"kill", do_kill},
    {"close output", do_close_output},
    {"close input", do_close_input},
    {"hang", do_hang},
    {"flood", do_flood},
    {"half", do_half},
    {"fork", do_fork},
    {"fork away", do_fork_away},
    {"stall", do_stall},
    {"wait", do_wait},
    {"stream", do_stream},
};

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) user;
    struct acp_str text = prompt.items[0].text.text;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (acp_str_is(text, ways[i].name)) {
            ways[i].act(turn);
            return;
        }
    }
    text.len = text.len < 40 ? text.len : 40;
    (void) acp_turn_send_text(turn, text);
    (void) acp_turn_end(turn, ACP_STOP_END_TURN);
}

static void on_cancel(struct acp_turn *turn, void *user)
{
    (void) user;
    if (turn == stream.turn)
        stream.turn = NULL;
    if (turn == waiting)
        waiting = NULL;
    (void) acp_turn_end(turn, ACP_STOP_CANCELLED);
}

int main(void)
{
    static const struct acp_agent_handler handler = {
        .prompt = on_prompt, .cancel = on_cancel, .pressure = on_pressure};
    static const struct acp_agent_options options = {
        .name = ACP_STR("fault-agent"), .versions = ACP_V1 | ACP_V2, .no_merging = true};
    if (fstat(STDIN_FILENO, &input) < 0 || fstat(STDOUT_FILENO, &output) < 0)
        return 1;
    return acp_agent_run(&options, &handler, NULL);
}
