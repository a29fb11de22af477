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

/* The sides are measured in turn; of ours, which is over so soon, there are more in a round. */
enum { ROUNDS = 4, OURS_A_ROUND = 5 };

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

/* One of the commands that are compared, and the best of its rounds. */
struct side {
    const char *const *argv; /* NULL at first: it cannot be run */
    off_t output;            /* how much it prints */
    struct cost best;
};

static void measure(struct side *side, int times)
{
    for (int i = 0; i < times && side->argv[0]; i++) {
        struct cost one = run(side->argv, side->output);
        if (side->best.kib == 0 || one.ns < side->best.ns)
            side->best.ns = one.ns;
        if (side->best.kib == 0 || one.kib < side->best.kib)
            side->best.kib = one.kib;
    }
}

/* Without a peer there is only our own number. */
static void row(const char *what, const char *unit, double ours, double theirs, double goal)
{
    printf("%-46s %9.2f %-4s", what, ours, unit);
    if (theirs > 0)
        printf(" acpx %9.2f %-4s %6.1f times", theirs, unit, theirs / ours);
    if (theirs > 0 && goal > 0)
        printf("  (goal >= %4.1f) %s", goal, theirs / ours >= goal ? "reached" : "MISSED");
    printf("\n");
}

static double mib(struct cost command, struct cost agent)
{
    return command.kib ? (double) (command.kib + agent.kib) / 1024 : 0;
}

static double us_each(struct cost flood)
{
    return flood.ns / UPDATES / 1000;
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 6) {
        (void) fputs("usage: bench_exec ACP ECHO-AGENT STREAM-AGENT [NODE ACPX.js]\n", stderr);
        return 2;
    }
    const char *acp = argv[1];
    const char *echo = argv[2];
    const char *stream = argv[3];
    const char *node = argc == 6 ? argv[4] : NULL;
    const char *acpx = argc == 6 ? argv[5] : NULL;
    char much[64];
    (void) snprintf(much, sizeof(much), "%d %d", UPDATES, UPDATE_BYTES);
    off_t little = sizeof("hello");
    off_t all = (off_t) UPDATES * UPDATE_BYTES + 1; /* and a line end */

    const char *const agent[] = {echo, NULL};
    const char *const hello[] = {acp, "exec", "--format", "quiet", "--agent", echo, "hello", NULL};
    const char *const log[] = {acp, "exec", "--format", "quiet", "--agent", stream, much, NULL};
    const char *const no_log[] = {acp,       "exec", "--no-log", "--format", "quiet",
                                  "--agent", stream, much,       NULL};
    const char *const their_hello[] = {node, acpx,   "--format", "quiet", "--agent",
                                       echo, "exec", "hello",    NULL};
    const char *const their_flood[] = {node,   acpx,   "--format", "quiet", "--agent",
                                       stream, "exec", much,       NULL};
    struct side alone = {.argv = agent};
    struct side ours = {.argv = hello, .output = little};
    struct side logged = {.argv = log, .output = all};
    struct side unlogged = {.argv = no_log, .output = all};
    struct side theirs = {.argv = their_hello, .output = little};
    struct side theirs_flood = {.argv = their_flood, .output = all};
    for (int round = 0; round < ROUNDS; round++) {
        measure(&alone, 1);
        measure(&ours, OURS_A_ROUND);
        measure(&theirs, 1);
        measure(&unlogged, OURS_A_ROUND);
        measure(&logged, OURS_A_ROUND);
        measure(&theirs_flood, 1);
    }
    row("exec of echo-agent", "ms", ours.best.ns / 1e6, theirs.best.ns / 1e6, 20);
    row("memory of both processes at most", "MiB", mib(ours.best, alone.best),
        mib(theirs.best, alone.best), 10);
    row("an update of 200 bytes, quiet, no log", "us", us_each(unlogged.best),
        us_each(theirs_flood.best), 20);
    row("the same with the log, which acpx has not", "us", us_each(logged.best),
        us_each(theirs_flood.best), 10);
    double rate = UPDATES / (logged.best.ns / 1e9);
    printf("%-46s %9.0f a second %44s (goal >= %d) %s\n", "events into the log", rate, "", LOG_GOAL,
           rate >= LOG_GOAL ? "reached" : "MISSED");
    return 0;
}
