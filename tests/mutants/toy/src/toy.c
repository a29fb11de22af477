#include "toy.h"

#include <assert.h>
#include <stdlib.h>

enum { MOST = 10 };

#define TWICE(n) ((n) > 100 ? (n) : 2 * (n))

int covered(int n)
{
    if (n > MOST)
        return -1;
    return 0;
}

int not_covered(int n)
{
    if (n > MOST)
        return -1;
    return 0;
}

static char *block;

/* One byte behind the end, which only a sanitizer sees. */
int only_sanitized(void)
{
    if (!block)
        block = malloc(MOST);
    for (int i = 0; i < MOST; i++)
        block[i] = 1;
    return block[0];
}

int in_a_child(int n)
{
    return n >= MOST;
}

static void step(int *n)
{
    ++*n;
}

int never_ends(int n)
{
    do {
        step(&n);
    } while (n != MOST);
    return n;
}

/* Nothing in here but the call can be mutated. */
int constants(int n)
{
    static const int table[] = {1, 1 + 1, sizeof(int[3])};
    static_assert(MOST > 3 && MOST < 100, "a constant");
    assert(n > 0 && n < 100);
    switch (n) {
    case 1 + 1:
        return table[1];
    default:
        return TWICE(table[0]);
    }
}

/* At the limit both ways give the same. */
int equivalent(int n)
{
    return n > MOST ? n : n < MOST ? MOST : n;
}
