/*
 * fuzz.h - what all fuzzers share.
 *
 * CHECK() is for invariants: whatever the input is, they hold.  It does not depend on NDEBUG.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What a fuzzer defines; libFuzzer calls it with every input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void) fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);       \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
