/* A peer as an endpoint, for whoever carries its bytes. */
#include "acp/rpc.h"

static int receive(void *self, const void *bytes, size_t n, uint64_t now)
{
    return acp_peer_receive(self, bytes, n, now);
}

static void receive_end(void *self, uint64_t now)
{
    acp_peer_receive_end(self, now);
}

static struct acp_str output(void *self)
{
    return acp_peer_output(self);
}

static void sent(void *self, size_t n)
{
    acp_peer_sent(self, n);
}

static uint64_t deadline(void *self)
{
    return acp_peer_deadline(self);
}

static void tick(void *self, uint64_t now)
{
    acp_peer_tick(self, now);
}

static bool paused(void *self)
{
    return acp_peer_is_pressed(self);
}

struct acp_endpoint acp_peer_endpoint(struct acp_peer *peer)
{
    struct acp_endpoint endpoint = {
        .self = peer,
        .receive = receive,
        .receive_end = receive_end,
        .output = output,
        .sent = sent,
        .deadline = deadline,
        .tick = tick,
        .paused = paused,
    };
    return endpoint;
}
