/* agent_process.h - an agent process on two pipes, for benchmarks: asked one thing at a time. */
#ifndef BENCH_AGENT_PROCESS_H
#define BENCH_AGENT_PROCESS_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct agent_process {
    pid_t pid;
    FILE *to;
    FILE *from;
    char *line; /* what was read last */
    size_t room;
    unsigned asked; /* the id of the last request */
};

/* Gets every line that comes before an answer. */
typedef void agent_line_fn(const char *line, void *user);

/* Starts a program; environment NULL is our own.  Whatever fails here ends the benchmark. */
struct agent_process agent_process_start(const char *const *argv, const char *const *environment);

/* Ends its input, waits for it, and frees what belongs to it. */
void agent_process_stop(struct agent_process *agent);

/*
 * Sends a request with these params (JSON) and waits for its result.  Gives the line that has it,
 * which lives until the next call.  An error in its place ends the benchmark.
 */
const char *agent_process_ask(struct agent_process *agent, const char *method, const char *params,
                              agent_line_fn *each, void *user);

/* The same for initialize, in version 1. */
void agent_process_initialize(struct agent_process *agent);

/* Waits for a line with that text in it. */
void agent_process_await(struct agent_process *agent, const char *text);

/* How much of its memory is resident, in KiB. */
long agent_process_resident(const struct agent_process *agent);

#endif
