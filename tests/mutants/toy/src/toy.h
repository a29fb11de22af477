/* What test_toy.c tries, and what it forgets to try. */
#ifndef TOY_H
#define TOY_H

int covered(int n);
int not_covered(int n);
int only_sanitized(void);
int in_a_child(int n);
int never_ends(int n);
int constants(int n);
int equivalent(int n);

#endif
