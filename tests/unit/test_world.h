/*
 * test_world.h - an agent and a client in memory, joined by their bytes, on a loop with real
 * processes: what such worlds share.  Who includes it has a struct world with a `kind`, and writes
 * world_step() and world_log().
 */
#ifndef TESTS_UNIT_TEST_WORLD_H
#define TESTS_UNIT_TEST_WORLD_H

#include "test_io_host.h"

#include <poll.h>

#include "acp/endpoint.h"

struct world;

/* One exchange of bytes and one turn of the loop. */
static inline void world_step(struct world *w);

/* What came over the wire. */
static inline const char *world_log(struct world *w);

static inline size_t world_count(struct world *w, const char *words)
{
    size_t n = 0;
    for (const char *at = world_log(w); (at = strstr(at, words)); at += strlen(words))
        n++;
    return n;
}

static inline bool world_said(struct world *w, const char *words)
{
    return world_count(w, words) > 0;
}

/*
 * Hands what one side has to say to the other, in memory of just that size; heard gets it first.
 * False when it has nothing to say.
 */
static inline bool world_pass(struct world *w, struct acp_endpoint *from, struct acp_endpoint *to,
                              uint64_t now, void (*heard)(struct world *w, struct acp_str bytes))
{
    struct acp_str out = acp_endpoint_output(from);
    if (out.len == 0)
        return false;
    struct acp_raw copy = test_exact(acp_raw_n(out.ptr, out.len));
    acp_endpoint_sent(from, copy.len);
    if (heard)
        heard(w, acp_str_n(copy.ptr, copy.len));
    (void) acp_endpoint_receive(to, copy.ptr, copy.len, now);
    test_exact_free(copy);
    return true;
}

/* One turn of the loop; where nothing was to be moved it may wait a little. */
static inline void world_turn_loop(uv_loop_t *loop, bool moved)
{
    (void) uv_run(loop, UV_RUN_NOWAIT);
    struct pollfd events = {.fd = uv_backend_fd(loop), .events = POLLIN};
    if (!moved)
        (void) poll(&events, 1, 1);
}

#define UNTIL(w, condition)                                                                        \
    do {                                                                                           \
        uint64_t world_until = uv_hrtime() + UINT64_C(60000000000);                                \
        while (!(condition)) {                                                                     \
            world_step(w);                                                                         \
            if (uv_hrtime() > world_until)                                                         \
                fail_msg("kind %d: waited in vain for " #condition "\n%s", (int) (w)->kind,        \
                         world_log(w));                                                            \
        }                                                                                          \
    } while (0)

static inline void world_run_for(struct world *w, uint64_t ms)
{
    uint64_t until = uv_hrtime() + ms * 1000000;
    while (uv_hrtime() < until)
        world_step(w);
}

/* A row of the table of tests. */
#define WORLD_TEST(words, test, variant)                                                           \
    {                                                                                              \
        words, test, world_setup, world_teardown, &(variant)                                       \
    }

#endif
