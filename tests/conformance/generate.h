/* generate.h - random values of any type of the protocol, made from the tables alone. */
#ifndef TESTS_CONFORMANCE_GENERATE_H
#define TESTS_CONFORMANCE_GENERATE_H

#include "acp/codec.h"

/*
 * Fills ret, the zeroed struct of that type, with a value that is valid in that mode.  The same
 * seed gives the same value; a run of seeds goes through the variants of the first union or choice
 * that the type holds.  Aborts when memory is exhausted or a value of its own making is refused.
 *
 * Hostile values have nearly every field that there is, and in every text the word MARK and all
 * that a terminal would obey or that people are fooled with.
 */
void generate_value(acp_type_id type, unsigned mode, bool hostile, uint64_t seed,
                    struct acp_arena *arena, void *ret);

#endif
