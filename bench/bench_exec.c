/*
 * What one prompt from the shell costs, by `acp exec` and by acpx: time and memory for a trivial
 * agent, and the rate at which a flood of updates goes through, with the session log and without.
 *
 *     bench_exec ACP ECHO-AGENT STREAM-AGENT [NODE ACPX.js]
 *
 * HOME must be a folder that may be filled.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { UPDATES = 100000, UPDATE_BYTES = 200, LOG_GOAL = 20000 };

/* Rounds of us and of the peer, which takes a hundred times as long. */
enum { OUR_ROUNDS = 20, PEER_ROUNDS = 5, FLOOD_ROUNDS = 3 };

struct cost {
    double ns;
    long kib; /* the most that the process had resident */
};

/* Runs a command to its end; its output goes to a file that is then looked at. */
static struct cost run(const char *const *argv, off_t output)
{
    char path[] = "/tmp/acp-bench-XXXXXX";
    struct rusage usage;
    int status;
    int out = mkstemp(path);
    (void) unlink(path);
    uint64_t begun = bench_now();
    pid_t pid = fork();
    if (pid == 0) {
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        (void) dup2(nothing, 0);
        (void) dup2(out, 1);
        (void) execv(argv[0], (char *const *) argv);
        _exit(127);
    }
    if (out < 0 || pid < 0 || wait4(pid, &status, 0, &usage) != pid)
        abort();
    struct cost cost = {.ns = (double) (bench_now() - begun), .kib = usage.ru_maxrss};
    off_t length = lseek(out, 0, SEEK_END);
    (void) close(out);
    if (status != 0 || (output && length != output)) {
        (void) fprintf(stderr, "%s %s ended with %d and %ld bytes of output\n", argv[0], argv[1],
                       status, (long) length);
        exit(1);
    }
    return cost;
}

/* The best of some rounds. */
static struct cost best(const char *const *argv, off_t output, int rounds)
{
    struct cost best = run(argv, output);
    for (int i = 1; i < rounds; i++) {
        struct cost one = run(argv, output);
        best.ns = one.ns < best.ns ? one.ns : best.ns;
        best.kib = one.kib < best.kib ? one.kib : best.kib;
    }
    return best;
}

static void row(const char *what, double ours, const char *unit, double theirs, double goal)
{
    double ratio = theirs / ours;
    printf("%-46s %9.1f %-4s acpx %9.1f %-4s %6.1f times  (goal >= %4.1f) %s\n", what, ours, unit,
           theirs, unit, ratio, goal, ratio >= goal ? "reached" : "MISSED");
}

static void row_alone(const char *what, double ours, const char *unit)
{
    printf("%-46s %9.1f %-4s\n", what, ours, unit);
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 6) {
        (void) fputs("usage: bench_exec ACP ECHO-AGENT STREAM-AGENT [NODE ACPX.js]\n", stderr);
        return 2;
    }
    const char *acp = argv[1];
    const char *echo = argv[2];
    const char *node = argc == 6 ? argv[4] : NULL;
    const char *acpx = argc == 6 ? argv[5] : NULL;
    char flood[64];
    off_t flood_output = (off_t) UPDATES * UPDATE_BYTES + 1; /* and a line end */
    (void) snprintf(flood, sizeof(flood), "%d %d", UPDATES, UPDATE_BYTES);

    const char *const agent[] = {echo, NULL};
    const char *const exec[] = {acp, "exec", "--format", "quiet", "--agent", echo, "hello", NULL};
    const char *const acpx_exec[] = {node,     acpx,   "--format", "quiet", "--agent", echo,
                                     "exec", "hello", NULL};
    const char *const logged[] = {acp,   "exec", "--format", "quiet", "--agent", argv[3],
                                  flood, NULL};
    const char *const unlogged[] = {acp,     "exec", "--no-log", "--format", "quiet", "--agent",
                                    argv[3], flood,  NULL};
    const char *const acpx_flood[] = {node,   acpx, "--format", "quiet", "--agent", argv[3],
                                      "exec", flood, NULL};

    struct cost alone = run(agent, 0);
    struct cost ours = best(exec, sizeof("hello"), OUR_ROUNDS);
    struct cost ours_logged = best(logged, flood_output, FLOOD_ROUNDS);
    struct cost ours_unlogged = best(unlogged, flood_output, FLOOD_ROUNDS);
    double tree = (double) (ours.kib + alone.kib) / 1024;
    double each_logged = ours_logged.ns / UPDATES / 1000;
    double each_unlogged = ours_unlogged.ns / UPDATES / 1000;
    double rate = UPDATES / (ours_logged.ns / 1e9);
    if (!acpx) {
        row_alone("acp exec of echo-agent", ours.ns / 1e6, "ms");
        row_alone("memory of both processes at most", tree, "MiB");
        row_alone("an update of 200 bytes, with the log", each_logged, "us");
        row_alone("the same without the log", each_unlogged, "us");
    } else {
        struct cost theirs = best(acpx_exec, sizeof("hello"), PEER_ROUNDS);
        struct cost theirs_flood = best(acpx_flood, flood_output, 1);
        double theirs_each = theirs_flood.ns / UPDATES / 1000;
        row("exec of echo-agent", ours.ns / 1e6, "ms", theirs.ns / 1e6, 20);
        row("memory of both processes at most", tree, "MiB",
            (double) (theirs.kib + alone.kib) / 1024, 10);
        row("an update of 200 bytes, with the log", each_logged, "us", theirs_each, 20);
        row("the same without the log", each_unlogged, "us", theirs_each, 20);
    }
    printf("%-46s %9.0f a second                                    (goal >= %d) %s\n",
           "events into the log", rate, LOG_GOAL, rate >= LOG_GOAL ? "reached" : "MISSED");
    return 0;
}
