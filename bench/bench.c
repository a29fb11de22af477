/* Timing for benchmarks that compare. */
#include "bench.h"

#include <stdlib.h>
#include <time.h>

/* Enough that each side meets the machine at its best at least once. */
enum { ROUNDS = 400 };

uint64_t bench_now(void)
{
    struct timespec t;
    (void) clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

void bench_compare(struct bench_side *sides, size_t count)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            uint64_t begin = bench_now();
            size_t operations = sides[i].run(sides[i].user);
            double ns = (double) (bench_now() - begin) / (double) operations;
            if (round == 0 || ns < sides[i].ns)
                sides[i].ns = ns;
        }
    }
}

void bench_row(const char *what, const struct bench_side *ours, const struct bench_side *peer,
               double goal)
{
    double ratio = peer->ns / ours->ns;
    printf("%-46s %9.1f ns  %-22s %9.1f ns  %6.1f times  (goal >= %4.1f) %s\n", what, ours->ns,
           peer->name, peer->ns, ratio, goal, ratio >= goal ? "reached" : "MISSED");
}

double bench_script(const char *node, const char *script, const char *job)
{
    char command[1200];
    char line[64] = "";
    (void) snprintf(command, sizeof(command), "'%s' '%s' %s", node, script, job);
    FILE *out = popen(command, "r");
    if (!out)
        return 0;
    (void) !fgets(line, sizeof(line), out);
    (void) pclose(out);
    return strtod(line, NULL);
}
