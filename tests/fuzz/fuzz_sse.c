/*
 * Fuzzes the reader of server-sent events: a stream gives the same events however it is cut, and
 * nothing grows past the limit.  The first byte chooses the limit, the second the cuts.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "http/sse.h"

static int drain(struct http_sse *sse, struct acp_buf *log)
{
    struct http_sse_event event;
    int some;
    while ((some = http_sse_next(sse, &event)) > 0) {
        CHECK(event.data.len <= sse->max && event.name.len <= sse->max);
        CHECK(!memchr(event.name.ptr, '\n', event.name.len));
        CHECK(acp_buf_printf(log, "%zu %zu ", event.name.len, event.data.len) == 0);
        CHECK(acp_buf_append_str(log, event.name) == 0);
        CHECK(acp_buf_append_str(log, event.data) == 0);
    }
    CHECK(sse->line.cap <= sse->max && sse->data.cap <= sse->max);
    return some;
}

static void run(size_t max, struct acp_str stream, uint32_t seed, size_t most, struct acp_buf *log)
{
    struct http_sse sse;
    int err = 0;
    http_sse_init(&sse, max);
    while (stream.len && !err) {
        seed = seed * 1664525u + 1013904223u;
        size_t n = 1 + (seed >> 8) % most;
        n = n < stream.len ? n : stream.len;
        /* A copy of its own size, so that the sanitizer sees every read outside of it. */
        char *piece = malloc(n);
        CHECK(piece);
        memcpy(piece, stream.ptr, n);
        http_sse_feed(&sse, acp_str_n(piece, n));
        err = drain(&sse, log);
        free(piece);
        stream = acp_str_n(stream.ptr + n, stream.len - n);
    }
    if (!err) {
        http_sse_end(&sse);
        err = drain(&sse, log);
    }
    CHECK(acp_buf_printf(log, "%d", err) == 0);
    http_sse_finish(&sse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t max = 1 + (size_t) data[0];
    struct acp_str stream = acp_str_n((const char *) data + 2, size - 2);
    struct acp_buf logs[3];
    const size_t most[3] = {1, 20, (size_t) 1 << 20};
    for (size_t i = 0; i < 3; i++) {
        acp_buf_init(&logs[i], SIZE_MAX / 2);
        run(max, stream, data[1], most[i], &logs[i]);
        CHECK(acp_str_eq(acp_buf_view(&logs[i]), acp_buf_view(&logs[0])));
    }
    for (size_t i = 0; i < 3; i++)
        acp_buf_finish(&logs[i]);
    return 0;
}
