/* Endpoints: what the peer and the roles offer to whoever carries their messages. */
#include "rpc/endpoint.h"

#include <limits.h>
#include <stdlib.h>

#include "acp/scan.h"
#include "base/sized.h"

/*
 * Two sides that both wait for the other to read would wait for ever; and a program that reads only
 * when it is done writing is such a side.  So a paused endpoint takes this much when nothing was
 * sent or received during this time.  Against one that floods us and never reads, the hard limit
 * of the output holds.
 */
enum { BREATH_MS = 20, BREATH_BYTES = 64 * 1024 };

void acp_endpoint_init(struct acp_endpoint *endpoint, const struct acp_endpoint_handler *handler,
                       void *self)
{
    *endpoint = (struct acp_endpoint){.handler = *handler, .self = self};
}

int acp_endpoint_new_sized(const struct acp_endpoint_handler *handler, size_t handler_size,
                           void *self, struct acp_endpoint **ret)
{
    struct acp_endpoint_handler own;
    int err = ACP_SIZED_COPY(&own, handler, handler_size);
    if (err)
        return err;
    struct acp_endpoint *endpoint = malloc(sizeof(*endpoint));
    if (!endpoint)
        return ACP_ERR_NOMEM;
    acp_endpoint_init(endpoint, &own, self);
    *ret = endpoint;
    return 0;
}

void acp_endpoint_free(struct acp_endpoint *endpoint)
{
    free(endpoint);
}

void acp_endpoint_on_wake(struct acp_endpoint *endpoint, void (*wake)(void *user), void *user)
{
    endpoint->wake = wake;
    endpoint->wake_user = user;
}

void acp_endpoint_wake(const struct acp_endpoint *endpoint)
{
    if (endpoint->wake)
        endpoint->wake(endpoint->wake_user);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

int acp_endpoint_receive(struct acp_endpoint *endpoint, const void *bytes, size_t n, uint64_t now)
{
    endpoint->breath_at = now + BREATH_MS;
    return endpoint->handler.receive(endpoint->self, bytes, n, now);
}

void acp_endpoint_receive_end(struct acp_endpoint *endpoint, uint64_t now)
{
    endpoint->handler.receive_end(endpoint->self, now);
}

struct acp_str acp_endpoint_output(struct acp_endpoint *endpoint)
{
    return endpoint->handler.output(endpoint->self);
}

void acp_endpoint_sent(struct acp_endpoint *endpoint, size_t n)
{
    endpoint->progress |= n > 0;
    endpoint->handler.sent(endpoint->self, n);
}

/* ---- Messages -------------------------------------------------------------------------------- */

int acp_endpoint_receive_message(struct acp_endpoint *endpoint, struct acp_raw text, uint64_t now)
{
    if (!endpoint->handler.receive_message)
        return ACP_ERR_STATE;
    endpoint->breath_at = now + BREATH_MS;
    return endpoint->handler.receive_message(endpoint->self, text, now);
}

/* The first message without its line end; empty when there is none. */
static struct acp_str first_line(struct acp_endpoint *endpoint)
{
    struct acp_str out = acp_endpoint_output(endpoint);
    const char *end = out.len ? memchr(out.ptr, '\n', out.len) : NULL;
    return end ? acp_str_n(out.ptr, (size_t) (end - out.ptr)) : acp_str_n(NULL, 0);
}

int acp_endpoint_next_message(struct acp_endpoint *endpoint, struct acp_outgoing *ret)
{
    struct acp_str line = first_line(endpoint);
    struct acp_str no_key = {NULL, 0};
    struct acp_scan s;
    if (!line.len)
        return 0;
    struct acp_raw text = acp_raw_n(line.ptr, line.len);
    if (*line.ptr != '{' || acp_scan_message(text, no_key, &s, NULL))
        return ACP_ERR_STATE;
    *ret = (struct acp_outgoing){
        .text = text,
        .kind = s.kind == ACP_SCAN_REQUEST        ? ACP_MESSAGE_REQUEST
                : s.kind == ACP_SCAN_NOTIFICATION ? ACP_MESSAGE_NOTIFICATION
                                                  : ACP_MESSAGE_RESPONSE,
        .method = s.method.ptr ? acp_scan_plain(s.method) : no_key,
        .id = s.id,
        .session_id = s.session_id,
    };
    return 1;
}

void acp_endpoint_message_sent(struct acp_endpoint *endpoint)
{
    struct acp_str line = first_line(endpoint);
    if (line.len)
        acp_endpoint_sent(endpoint, line.len + 1);
}

/* ---- Time and pressure ----------------------------------------------------------------------- */

uint64_t acp_endpoint_deadline(struct acp_endpoint *endpoint)
{
    return endpoint->handler.deadline(endpoint->self);
}

void acp_endpoint_tick(struct acp_endpoint *endpoint, uint64_t now)
{
    endpoint->handler.tick(endpoint->self, now);
}

size_t acp_endpoint_wanted(struct acp_endpoint *endpoint, uint64_t now)
{
    bool was_paused = endpoint->paused;
    endpoint->paused = endpoint->handler.paused(endpoint->self);
    if (!endpoint->paused)
        return SIZE_MAX;
    if (!was_paused || endpoint->progress)
        endpoint->breath_at = now + BREATH_MS;
    endpoint->progress = false;
    return now >= endpoint->breath_at ? BREATH_BYTES : 0;
}

bool acp_endpoint_is_holding(struct acp_endpoint *endpoint)
{
    return endpoint->handler.holding && endpoint->handler.holding(endpoint->self);
}

void acp_endpoint_poll(struct acp_endpoint *endpoint, uint64_t now, struct acp_endpoint_want *ret)
{
    size_t input = acp_endpoint_wanted(endpoint, now);
    uint64_t due_at = acp_endpoint_deadline(endpoint);
    if (!input && endpoint->breath_at < due_at)
        due_at = endpoint->breath_at;
    uint64_t left = due_at > now ? due_at - now : 0;
    *ret = (struct acp_endpoint_want){
        .input = input,
        .output = acp_endpoint_output(endpoint).len,
        .holding = acp_endpoint_is_holding(endpoint),
        .timeout_ms = due_at == UINT64_MAX ? -1
                      : left < INT_MAX     ? (int) left
                                           : INT_MAX,
        .due_at = due_at,
    };
}
