/*
 * bench.h - timing for benchmarks that compare.
 *
 * These machines are noisy, so a benchmark never reports a time alone: it runs the thing and its
 * peer in turn, several rounds each, takes the best round of both, and prints the ratio.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Monotonic nanoseconds. */
uint64_t bench_now(void);

/* One side of a comparison: runs all its work once and returns how many operations that were. */
typedef size_t bench_fn(void *user);

struct bench_side {
    const char *name;
    bench_fn *run;
    void *user;
    double ns; /* of one operation in the best round; filled by bench_compare */
};

/* Runs the sides in turn. */
void bench_compare(struct bench_side *sides, size_t count);

/* Prints a row: ours against a peer; the ratio is how many times faster we are. */
void bench_row(const char *what, const struct bench_side *ours, const struct bench_side *peer,
               double goal);

/*
 * Runs `node SCRIPT JOB` and returns the number it prints, nanoseconds; 0 when it cannot be run or
 * prints none.
 */
double bench_script(const char *node, const char *script, const char *job);

/* Keeps a result alive that nobody reads. */
static inline void bench_use(const void *value)
{
    __asm__ volatile("" : : "g"(value) : "memory");
}

#endif
