/*
 * The requests that were sent and wait for their reply: opening, settling, timeouts.  It owns the
 * records.  send.c opens them, receive.c settles them with responses, peer.c with the close.
 *
 * A request is taken out of every table before its reply callback runs, so each gets exactly one.
 */
#include "rpc/peer.h"

#include <assert.h>
#include <stdlib.h>

static void link_newest(struct acp_peer *peer, struct asked *asked)
{
    asked->older = peer->newest;
    if (peer->newest)
        peer->newest->newer = asked;
    else
        peer->oldest = asked;
    peer->newest = asked;
}

static void unlink_asked(struct acp_peer *peer, struct asked *asked)
{
    if (asked->older)
        asked->older->newer = asked->newer;
    else
        peer->oldest = asked->newer;
    if (asked->newer)
        asked->newer->older = asked->older;
    else
        peer->newest = asked->older;
}

int acp_rpc_asked_add(struct acp_peer *peer, const struct acp_request *request, struct asked **ret)
{
    if (peer->asked.count >= peer->options.max_pending)
        return ACP_ERR_LIMIT;
    if (request->timeout_ms) {
        int err = acp_deadlines_reserve(&peer->deadlines, peer->unarmed + 1);
        if (err)
            return err;
    }
    struct asked *asked = malloc(sizeof(*asked));
    if (!asked)
        return ACP_ERR_NOMEM;
    *asked = (struct asked){.number = peer->next_request,
                            .no_cancel = request->no_cancel,
                            .reply = request->reply,
                            .user = request->user};
    int err = acp_numbers_add(&peer->asked, &asked->number);
    if (err) {
        free(asked);
        return err;
    }
    link_newest(peer, asked);
    if (request->timeout_ms) {
        asked->timeout_ms = request->timeout_ms;
        peer->unarmed++;
        if (peer->timed)
            acp_rpc_arm(peer);
    }
    *ret = asked;
    return 0;
}

/* All that are not armed are newer than all that are, so the walk ends after those sent since. */
void acp_rpc_arm(struct acp_peer *peer)
{
    for (struct asked *asked = peer->newest; peer->unarmed; asked = asked->older) {
        uint64_t timeout_ms = asked->timeout_ms;
        if (!timeout_ms)
            continue;
        asked->timeout_ms = 0;
        peer->unarmed--;
        /* A deadline beyond the end of time is none. */
        if (timeout_ms >= UINT64_MAX - peer->now)
            continue;
        asked->deadline.when = peer->now + timeout_ms;
        acp_deadlines_push(&peer->deadlines, &asked->deadline);
    }
}

/* Only the very text that we sent is one of our ids: 1.0, "1" and 01 are not. */
static bool own_id(struct acp_raw id, uint64_t *ret)
{
    if (!id.ptr || id.len == 0 || id.len > 19)
        return false;
    uint64_t number = 0;
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] < '0' || id.ptr[i] > '9')
            return false;
        number = number * 10 + (uint64_t) (id.ptr[i] - '0');
    }
    *ret = number;
    return true;
}

struct asked *acp_rpc_asked_find(const struct acp_peer *peer, struct acp_raw id)
{
    uint64_t number;
    return own_id(id, &number) ? acp_numbers_get(&peer->asked, number) : NULL;
}

static void detach(struct acp_peer *peer, struct asked *asked)
{
    acp_numbers_remove(&peer->asked, asked->number);
    if (asked->timeout_ms)
        peer->unarmed--;
    acp_deadlines_remove(&peer->deadlines, &asked->deadline);
    unlink_asked(peer, asked);
}

void acp_rpc_asked_drop(struct acp_peer *peer, struct asked *asked)
{
    detach(peer, asked);
    free(asked);
}

void acp_rpc_settle(struct acp_peer *peer, struct asked *asked, const struct acp_reply *reply)
{
    detach(peer, asked);
    if (asked->reply)
        asked->reply(peer, asked->number, reply, asked->user);
    free(asked);
}

void acp_rpc_settle_err(struct acp_peer *peer, struct asked *asked, int err)
{
    struct acp_reply reply = {.err = err};
    acp_rpc_settle(peer, asked, &reply);
}

size_t acp_peer_pending(const struct acp_peer *peer)
{
    return peer->asked.count;
}

/* ---- Time ----------------------------------------------------------------------------------- */

uint64_t acp_peer_deadline(const struct acp_peer *peer)
{
    /* The time at which they were sent is not known: a tick at once tells it. */
    if (peer->unarmed)
        return 0;
    const struct acp_deadline *first = acp_deadlines_first(&peer->deadlines);
    return first ? first->when : UINT64_MAX;
}

static struct asked *asked_of(struct acp_deadline *deadline)
{
    return (struct asked *) (void *) ((char *) deadline - offsetof(struct asked, deadline));
}

void acp_peer_tick(struct acp_peer *peer, uint64_t now)
{
    assert(!peer->open.kind);
    acp_rpc_enter(peer);
    acp_rpc_begin_timed(peer, now);
    struct acp_deadline *first;
    while (!peer->closed && (first = acp_deadlines_first(&peer->deadlines)) && first->when <= now) {
        struct asked *asked = asked_of(first);
        uint64_t number = asked->number;
        /* Out of the heap first: the output callback of the cancel may tick again. */
        acp_deadlines_remove(&peer->deadlines, first);
        /* The cancel is a courtesy; the request fails here whether it can be sent or not. */
        if (!asked->no_cancel)
            (void) acp_rpc_send_cancel(peer, number);
        /* That callback may also have settled it. */
        asked = acp_numbers_get(&peer->asked, number);
        if (asked)
            acp_rpc_settle_err(peer, asked, ACP_ERR_TIMEOUT);
    }
    peer->timed--;
    acp_rpc_leave(peer);
}

int acp_peer_cancel(struct acp_peer *peer, uint64_t request)
{
    if (peer->closed)
        return ACP_ERR_CLOSED;
    if (!acp_numbers_get(&peer->asked, request))
        return ACP_ERR_UNKNOWN;
    return acp_rpc_send_cancel(peer, request);
}
