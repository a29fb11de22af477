/*
 * Fuzzes the readers of frames: a stream must give the same frames however it is cut, none of them
 * larger than it may be.  The first three bytes choose the framing, the limit and the cuts.
 */
#include <stdlib.h>

#include "acp/wire.h"
#include "fuzz.h"

enum { EXCERPT = 200, HEADER_MAX = 8 * 1024 };

enum cut { WHOLE, BYTES, RANDOM };

static void drain(struct acp_deframer *d, struct acp_buf *log)
{
    struct acp_frame frame;
    for (;;) {
        CHECK(acp_deframer_next(d, &frame) == 0);
        size_t most = d->max_message > HEADER_MAX ? d->max_message + 1 : (size_t) HEADER_MAX;
        CHECK(d->pending.cap <= most);
        if (!frame.kind)
            return;
        if (frame.kind == ACP_FRAME_MESSAGE)
            CHECK(frame.text.len <= d->max_message);
        if (frame.kind == ACP_FRAME_TOO_LARGE)
            CHECK(frame.text.len <= EXCERPT);
        if (d->framing == ACP_FRAMING_LINES && frame.kind == ACP_FRAME_MESSAGE)
            CHECK(!memchr(frame.text.ptr, '\n', frame.text.len));
        CHECK(acp_buf_printf(log, "%d %zu ", (int) frame.kind, frame.text.len) == 0);
        CHECK(acp_buf_append_str(log, frame.text) == 0);
    }
}

static void run(enum acp_framing framing, size_t max, struct acp_str stream, enum cut cut,
                uint32_t seed, struct acp_buf *log)
{
    struct acp_deframer d;
    acp_deframer_init(&d, framing, max);
    while (stream.len) {
        seed = seed * 1664525u + 1013904223u;
        size_t n = cut == WHOLE ? stream.len : cut == BYTES ? 1 : 1 + (seed >> 16) % 40;
        n = n < stream.len ? n : stream.len;
        /* A copy of its own size, so that the sanitizer sees every read outside of it. */
        char *piece = malloc(n);
        CHECK(piece);
        memcpy(piece, stream.ptr, n);
        acp_deframer_feed(&d, piece, n);
        drain(&d, log);
        free(piece);
        stream = acp_str_n(stream.ptr + n, stream.len - n);
    }
    acp_deframer_end(&d);
    drain(&d, log);
    CHECK(acp_buf_printf(log, "%d", (int) d.framing) == 0);
    acp_deframer_finish(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    enum acp_framing framing = (enum acp_framing)(data[0] % 3);
    size_t max = data[1] == 255 ? 0 : (size_t) data[1] + 1;
    struct acp_str stream = acp_str_n((const char *) data + 3, size - 3);
    struct acp_buf want;
    struct acp_buf got;
    acp_buf_init(&want, SIZE_MAX / 2);
    acp_buf_init(&got, SIZE_MAX / 2);
    run(framing, max, stream, WHOLE, 0, &want);
    run(framing, max, stream, BYTES, 0, &got);
    CHECK(acp_str_eq(acp_buf_view(&want), acp_buf_view(&got)));
    acp_buf_clear(&got);
    run(framing, max, stream, RANDOM, data[2], &got);
    CHECK(acp_str_eq(acp_buf_view(&want), acp_buf_view(&got)));
    acp_buf_finish(&want);
    acp_buf_finish(&got);
    return 0;
}
