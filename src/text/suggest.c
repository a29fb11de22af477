/*
 * suggest.c - finds the most similar known word.
 *
 * The distance is the restricted one of Damerau and Levenshtein (each pair of neighbours is
 * exchanged at most once), which fits typing mistakes.
 */
#include "text/suggest.h"

#include <stdbool.h>
#include <string.h>

/* No known word is longer. */
enum { LONGEST = 48 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One row of the matrix: the ways to make b's first 0..n letters of a's first i. */
static size_t fill_row(size_t rows[3][LONGEST + 1], size_t i, const char *a, const char *b,
                       size_t n)
{
    size_t *row = rows[i % 3];
    const size_t *above = rows[(i + 2) % 3];
    const size_t *two_above = rows[(i + 1) % 3];
    size_t least = row[0] = i;
    for (size_t j = 1; j <= n; j++) {
        row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
        row[j] = smaller(row[j], smaller(above[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[j] = smaller(row[j], two_above[j - 2] + 1);
        least = smaller(least, row[j]);
    }
    return least;
}

size_t suggest_distance(const char *a, const char *b, size_t most)
{
    size_t rows[3][LONGEST + 1];
    size_t m = strlen(a);
    size_t n = strlen(b);
    if (m > LONGEST || n > LONGEST || m > n + most || n > m + most)
        return most + 1;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = j;
    size_t before = 0;
    for (size_t i = 1; i <= m; i++) {
        size_t least = fill_row(rows, i, a, b, n);
        /* An exchange reaches back two rows, so one row over the limit is no proof. */
        if (least > most && before > most)
            return most + 1;
        before = least;
    }
    return smaller(rows[m % 3][n], most + 1);
}

/* A third of the letters may be wrong, and always one, but not all of them. */
static size_t tolerance(const char *wrong)
{
    size_t n = strlen(wrong);
    return n < 2 ? 0 : (n + 2) / 3;
}

void suggest_try(struct suggestion *suggestion, const char *candidate)
{
    const char *wrong = suggestion->wrong;
    size_t n = strlen(wrong);
    size_t most = suggestion->best ? suggestion->distance - 1 : tolerance(wrong);
    if (suggestion->best && suggestion->distance == 0)
        return;
    /* An incomplete word means the one that it begins. */
    bool begun = n >= 3 && strncmp(wrong, candidate, n) == 0;
    size_t distance = begun ? smaller(1, most + 1) : suggest_distance(wrong, candidate, most);
    if (distance > most || (distance == strlen(candidate) && !begun))
        return;
    suggestion->best = candidate;
    suggestion->distance = distance;
}
