/* Ids of sessions, and the clock. */
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "store/store.h"

int64_t store_now(void)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Random bytes; where the system has none to give, the clock is better than nothing. */
static void fill(uint8_t *bytes, size_t n)
{
    if (getrandom(bytes, n, 0) == (ssize_t) n)
        return;
    struct timespec now;
    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t state = (uint64_t) now.tv_nsec * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t) (state >> 56);
    }
}

/* RFC 9562, 5.7: 48 bits of milliseconds, version, variant, the rest random. */
void store_new_id(char ret[STORE_ID_SIZE])
{
    uint8_t b[16];
    uint64_t ms = (uint64_t) store_now();
    fill(b, sizeof(b));
    for (int i = 0; i < 6; i++)
        b[i] = (uint8_t) (ms >> (40 - 8 * i));
    b[6] = (uint8_t) (0x70 | (b[6] & 0x0f));
    b[8] = (uint8_t) (0x80 | (b[8] & 0x3f));
    (void) snprintf(ret, STORE_ID_SIZE,
                    "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                    b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                    b[13], b[14], b[15]);
}

enum { LAST_GROUP = 24, SHORT_LEN = 8 };

struct acp_str store_short_id(struct acp_str id)
{
    bool is_uuid = id.len == STORE_ID_SIZE - 1 && id.ptr[LAST_GROUP - 1] == '-';
    return is_uuid ? acp_str_n(id.ptr + LAST_GROUP, SHORT_LEN) : id;
}
