/*
 * many_runs.h - several runs of acp exec at the same time, each in a process of its own.
 *
 * The processes are forked, so they have everything that is in memory; the caller has no threads
 * and no loop.  A run prints JSON, of which only its result is kept, and asks nobody: its standard
 * error is a pipe, whose lines are printed with the name of the run.  Ctrl-C reaches all of them;
 * no further run is started then.
 */
#ifndef SRC_CMD_MANY_RUNS_H
#define SRC_CMD_MANY_RUNS_H

#include "acp/json.h"

/* A run that has ended. */
struct finished_run {
    size_t index;
    int status;             /* the exit status */
    struct acp_raw result;  /* the event of kind "result"; absent if there was none */
    struct acp_str message; /* the last line of standard error */
    int64_t duration_ms;
};

struct many_runs {
    size_t count;
    size_t jobs; /* the most at a time */
    /* In the process of the run: does it, prints the result, and returns the exit status. */
    int (*run)(size_t index, void *user);
    /* The name of the run in front of its messages; NULL: they are not printed. */
    const char *(*name)(size_t index, void *user);
    /* In ours: a run has ended.  Not 0: no further run is started. */
    int (*done)(const struct finished_run *run, void *user);
    void *user;
};

/* The most at a time, and of one line of a run that is kept. */
enum { MANY_RUNS_MAX_JOBS = 64, MANY_RUNS_MAX_LINE = 64 * 1024 * 1024 };

/*
 * Returns when all have ended: EXIT_OK, EXIT_FAILED if one could not be started or `done` refused,
 * EXIT_INTERRUPTED.
 */
int many_runs(const struct many_runs *runs);

#endif
