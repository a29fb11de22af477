/*
 * Messages of 200 bytes, 2 KiB and 64 KiB from an agent through examples/router, which scans each
 * one and rewrites its session id, against a C program between the same two pipes that passes on
 * whole lines without looking into them and is otherwise made like the router.
 *
 *     bench_router ROUTER
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "relay.h"

enum { ROUNDS = 15, CHUNK = 64 * 1024 };

/* The scan knows how both begin: a piece of text, and an update of a tool call up to its id. */
static const struct kind {
    const char *name;
    const char *head;
    const char *tail;
} kinds[] = {
    {"text",
     "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":"
     "\"sess_40f163a1ca32ed7bf46e4a9b\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\","
     "\"content\":{\"type\":\"text\",\"text\":\"",
     "\"}}}}\n"},
    {"tool",
     "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":"
     "\"sess_40f163a1ca32ed7bf46e4a9b\",\"update\":{\"sessionUpdate\":\"tool_call_update\","
     "\"toolCallId\":\"call_1\",\"title\":\"",
     "\"}}}\n"},
};

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(fd, bytes, n);
        if (done <= 0)
            _exit(1);
        bytes += done;
        n -= (size_t) done;
    }
}

/* ---- The agent ------------------------------------------------------------------------------- */

/* Writes messages of that length, some 16 KiB at a time, then waits for the end of its input. */
static int run_agent(const char *name, size_t length, size_t count)
{
    const struct kind *kind = strcmp(name, kinds[1].name) == 0 ? &kinds[1] : &kinds[0];
    size_t head = strlen(kind->head);
    size_t tail = strlen(kind->tail);
    size_t at_once = length < 16384 ? 16384 / length : 1;
    char *lines = malloc(length * at_once);
    char byte;
    if (!lines)
        return 1;
    memset(lines, 'x', length * at_once);
    for (size_t i = 0; i < at_once; i++) {
        memcpy(lines + i * length, kind->head, head);
        memcpy(lines + (i + 1) * length - tail, kind->tail, tail);
    }
    for (; count; count -= at_once < count ? at_once : count)
        write_all(STDOUT_FILENO, lines, length * (at_once < count ? at_once : count));
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    free(lines);
    return 0;
}

/* ---- The client ------------------------------------------------------------------------------ */

/* The nanoseconds that one message takes from the agent to us through the program argv. */
static double measure(char **argv, size_t count)
{
    static char bytes[4 * CHUNK];
    int to[2];
    int from[2];
    size_t lines = 0;
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        (void) dup2(to[0], STDIN_FILENO);
        (void) dup2(from[1], STDOUT_FILENO);
        (void) execv(argv[0], argv);
        _exit(127);
    }
    (void) close(to[0]);
    (void) close(from[1]);
    uint64_t begun = 0; /* the first message: starting the programs is not counted */
    while (lines < count) {
        ssize_t n = read(from[0], bytes, sizeof(bytes));
        if (n <= 0)
            abort();
        if (!begun)
            begun = bench_now();
        for (char *p = bytes; (p = memchr(p, '\n', (size_t) (bytes + n - p))); p++)
            lines++;
    }
    double ns = (double) (bench_now() - begun) / (double) count;
    (void) close(to[1]);
    (void) close(from[0]);
    (void) waitpid(pid, NULL, 0);
    return ns;
}

static double best_of(char **argv, size_t count, double best)
{
    double ns = measure(argv, count);
    return ns < best ? ns : best;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *kind;
        size_t length;
        size_t count;
        double goal; /* of the blind relay's rate */
    } cases[] = {{"text", 200, 500000, 0.7},
                 {"tool", 200, 500000, 0.7},
                 {"text", 2048, 100000, 0},
                 {"text", 65536, 4000, 0}};
    bool missed = false;
    if (argc == 5 && strcmp(argv[1], "--agent") == 0)
        return run_agent(argv[2], strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    if (argc > 2 && strcmp(argv[1], "--relay") == 0)
        return relay_run(argv + 2);
    if (argc != 2) {
        (void) fputs("usage: bench_router ROUTER\n", stderr);
        return 2;
    }
    printf("%-6s %10s %14s %14s %8s %6s\n", "kind", "bytes", "router msg/s", "relay msg/s", "ratio",
           "goal");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char length[24];
        char count[24];
        (void) snprintf(length, sizeof(length), "%zu", cases[i].length);
        (void) snprintf(count, sizeof(count), "%zu", cases[i].count);
        char *kind = (char *) cases[i].kind;
        char *router[] = {argv[1], (char *) "1", argv[0], (char *) "--agent",
                          kind,    length,       count,   NULL};
        char *relay[] = {
            argv[0], (char *) "--relay", argv[0], (char *) "--agent", kind, length, count, NULL};
        double ours = 1e18;
        double blind = 1e18;
        for (int round = 0; round < ROUNDS; round++) {
            ours = best_of(router, cases[i].count, ours);
            blind = best_of(relay, cases[i].count, blind);
        }
        printf("%-6s %10zu %14.0f %14.0f %8.2f %6.2f\n", kind, cases[i].length, 1e9 / ours,
               1e9 / blind, blind / ours, cases[i].goal);
        missed |= blind / ours < cases[i].goal;
    }
    return missed;
}
