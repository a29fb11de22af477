/* suggest.h - suggests a known word for a mistyped one. */
#ifndef SRC_TEXT_SUGGEST_H
#define SRC_TEXT_SUGGEST_H

#include <stddef.h>

/*
 * The number of insertions, deletions, replacements and exchanges of neighbours between two words;
 * most + 1 if it is more than most.
 */
size_t suggest_distance(const char *a, const char *b, size_t most);

/* The best word so far, for candidates that come one by one. */
struct suggestion {
    const char *wrong;
    const char *best; /* NULL: nothing is near enough */
    size_t distance;
};

/* Starts with a zeroed struct of which .wrong is set. */
void suggest_try(struct suggestion *suggestion, const char *candidate);

#endif
