/*
 * Fuzzes durations.  What is accepted is within the limits, means the same with its unit written
 * out, and is not accepted with anything behind it.
 */
#include <string.h>

#include "fuzz.h"
#include "text/duration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[64];
    uint64_t ms = 0;
    uint64_t again = 0;
    if (size + 3 > sizeof(text))
        return 0;
    memcpy(text, data, size);
    if (!duration_read(acp_str_n(text, size), 1000, &ms))
        return 0;
    CHECK(ms <= DURATION_MAX_MS);
    /* "5" is "5s", and "5m" becomes "5ms"; no other unit goes on with an s. */
    bool has_unit = text[size - 1] >= 'a' && text[size - 1] <= 'z';
    text[size] = 's';
    bool taken = duration_read(acp_str_n(text, size + 1), 1000, &again);
    CHECK(taken == (!has_unit || text[size - 1] == 'm'));
    CHECK(has_unit || again == ms);
    text[size] = ' ';
    CHECK(!duration_read(acp_str_n(text, size + 1), 1000, &again));
    return 0;
}
