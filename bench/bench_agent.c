/*
 * What an agent process costs: from its start to its answer to initialize, the memory it then has,
 * and what 10,000 idle sessions add.
 *
 *     bench_agent ECHO-AGENT NODE SDK-STREAM.mjs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { STARTS = 20, SESSIONS = 10000 };

struct agent {
    pid_t pid;
    FILE *to;
    FILE *from;
};

static struct agent start(const char *program)
{
    struct agent agent;
    int to[2];
    int from[2];
    if (pipe(to) || pipe(from))
        abort();
    agent.pid = fork();
    if (agent.pid == 0) {
        (void) dup2(to[0], 0);
        (void) dup2(from[1], 1);
        for (int i = 0; i < 2; i++) {
            (void) close(to[i]);
            (void) close(from[i]);
        }
        (void) execl(program, program, (char *) NULL);
        _exit(127);
    }
    (void) close(to[0]);
    (void) close(from[1]);
    agent.to = fdopen(to[1], "w");
    agent.from = fdopen(from[0], "r");
    return agent;
}

static void ask(struct agent *agent, const char *request)
{
    static char line[65536];
    (void) fputs(request, agent->to);
    (void) fflush(agent->to);
    if (!fgets(line, sizeof(line), agent->from) || !strstr(line, "\"result\""))
        abort();
}

static void initialize(struct agent *agent)
{
    ask(agent, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
               "{\"protocolVersion\":1}}\n");
}

static void new_session(struct agent *agent)
{
    ask(agent, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":"
               "{\"cwd\":\"/home/me/project\",\"mcpServers\":[]}}\n");
}

static void stop(struct agent *agent)
{
    (void) fclose(agent->to);
    (void) waitpid(agent->pid, NULL, 0);
    (void) fclose(agent->from);
}

/* Resident KiB. */
static long resident(const struct agent *agent)
{
    char path[64];
    char line[256];
    long kib = 0;
    (void) snprintf(path, sizeof(path), "/proc/%d/status", (int) agent->pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (status)
        (void) fclose(status);
    return kib;
}

static double measure_start(const char *program)
{
    double best = 1e18;
    for (int i = 0; i < STARTS; i++) {
        uint64_t begun = bench_now();
        struct agent agent = start(program);
        initialize(&agent);
        double ns = (double) (bench_now() - begun);
        if (ns < best)
            best = ns;
        stop(&agent);
    }
    return best;
}

static void measure_memory(const char *program)
{
    struct agent agent = start(program);
    initialize(&agent);
    new_session(&agent);
    long one = resident(&agent);
    for (int i = 1; i < SESSIONS; i++)
        new_session(&agent);
    long all = resident(&agent);
    double each = (double) (all - one) * 1024 / (SESSIONS - 1);
    printf("%-46s %9ld KiB                                             (goal < 6144) %s\n",
           "resident after session/new", one, one < 6144 ? "reached" : "MISSED");
    printf("%-46s %9.0f bytes                                           (goal < 4096) %s\n",
           "each of 10,000 idle sessions", each, each < 4096 ? "reached" : "MISSED");
    stop(&agent);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void) fputs("usage: bench_agent ECHO-AGENT NODE SDK-STREAM.mjs\n", stderr);
        return 2;
    }
    struct bench_side ours = {.name = "echo-agent", .ns = measure_start(argv[1])};
    struct bench_side limit = {.name = "10 ms", .ns = 1e7};
    bench_row("start to the answer to initialize", &ours, &limit, 1);
    struct bench_side sdk = {.name = "agent on the SDK",
                             .ns = bench_script(argv[2], argv[3], "start")};
    if (sdk.ns > 0)
        bench_row("start to the answer to initialize", &ours, &sdk, 20);
    else
        printf("%-46s the SDK could not be run: no ratio\n", "start to the answer to initialize");
    measure_memory(argv[1]);
    return 0;
}
