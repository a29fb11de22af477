/*
 * Fuzzes the compression of the session log: a text comes back as it was, in no more room than was
 * given, and any bytes can be decompressed without harm.
 */
#include <stdlib.h>

#include "store/compress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* In memory of its own size, so that a byte too many is noticed. */
static void check_round_trip(struct acp_str text, size_t room)
{
    char *packed = malloc(room + 1);
    char *unpacked = malloc(text.len + 1);
    CHECK(packed && unpacked);
    size_t n = compress_text(text, packed, room);
    CHECK(n <= room);
    if (n > 0) {
        CHECK(decompress_text(acp_str_n(packed, n), unpacked, text.len));
        CHECK(memcmp(unpacked, text.ptr, text.len) == 0);
    }
    free(packed);
    free(unpacked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct acp_str input = acp_str_n((const char *) data, size);
    if (size == 0)
        return 0;
    check_round_trip(input, size + size / 255 + 16);
    check_round_trip(input, data[0]);
    for (size_t wanted = 0; wanted <= 1000; wanted += 1 + data[0]) {
        char *unpacked = malloc(wanted + 1);
        CHECK(unpacked);
        (void) decompress_text(input, unpacked, wanted);
        free(unpacked);
    }
    return 0;
}
