/*
 * What an agent process costs: from its start to its answer to initialize, the memory it then has,
 * and what 10,000 idle sessions add.
 *
 *     bench_agent ECHO-AGENT NODE SDK-STREAM.mjs
 */
#include <stdio.h>

#include "agent_process.h"
#include "bench.h"

enum { STARTS = 20, SESSIONS = 10000 };

static void new_session(struct agent_process *agent)
{
    (void) agent_process_ask(agent, "session/new",
                             "{\"cwd\":\"/home/me/project\",\"mcpServers\":[]}", NULL, NULL);
}

static double measure_start(const char *program)
{
    const char *const argv[] = {program, NULL};
    double best = 1e18;
    for (int i = 0; i < STARTS; i++) {
        uint64_t begun = bench_now();
        struct agent_process agent = agent_process_start(argv, NULL);
        agent_process_initialize(&agent);
        double ns = (double) (bench_now() - begun);
        if (ns < best)
            best = ns;
        agent_process_stop(&agent);
    }
    return best;
}

static void measure_memory(const char *program)
{
    const char *const argv[] = {program, NULL};
    struct agent_process agent = agent_process_start(argv, NULL);
    agent_process_initialize(&agent);
    new_session(&agent);
    long one = agent_process_resident(&agent);
    for (int i = 1; i < SESSIONS; i++)
        new_session(&agent);
    long all = agent_process_resident(&agent);
    double each = (double) (all - one) * 1024 / (SESSIONS - 1);
    printf("%-46s %9ld KiB                                             (goal < 6144) %s\n",
           "resident after session/new", one, one < 6144 ? "reached" : "MISSED");
    printf("%-46s %9.0f bytes                                           (goal < 4096) %s\n",
           "each of 10,000 idle sessions", each, each < 4096 ? "reached" : "MISSED");
    agent_process_stop(&agent);
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
