/* relay.h - the limit for programs between a client and an agent: one that looks into nothing. */
#ifndef BENCH_RELAY_H
#define BENCH_RELAY_H

/*
 * Starts the agent and passes on whole lines in both directions until one side ends.  Returns the
 * exit status.
 */
int relay_run(char **agent);

#endif
