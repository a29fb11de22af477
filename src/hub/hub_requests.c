/*
 * hub_requests.c - the requests that are open: found by our number when the answer comes, by the
 * sender's id when it is cancelled; and messages that wait.
 */
#include <assert.h>
#include <stdlib.h>

#include "hub/hub_internal.h"

/* ---- Requests -------------------------------------------------------------------------------- */

static void unlink_request(struct hub_request *request)
{
    if (!request->from)
        return;
    *request->link = request->next;
    if (request->next)
        request->next->link = request->link;
    (void) acp_map_remove(&request->from->opened, acp_str_n(request->id, request->id_len));
    request->from = NULL;
}

static int link_request(struct hub_request *request, struct hub_connection *from)
{
    int err = acp_map_set(&from->opened, acp_str_n(request->id, request->id_len), request);
    if (err)
        return err;
    request->from = from;
    request->next = from->requests;
    request->link = &from->requests;
    if (request->next)
        request->next->link = &request->next;
    from->requests = request;
    return 0;
}

int hub_request_open(struct hub_connection *from, struct acp_raw id, struct hub_connection *to,
                     enum hub_method method, struct hub_session *session, struct hub_request **ret)
{
    if ((from && from->opened.count >= HUB_MAX_REQUESTS) ||
        (to && to->asked.count >= HUB_MAX_REQUESTS))
        return ACP_ERR_LIMIT;
    if (from && acp_map_get(&from->opened, acp_str_n(id.ptr, id.len)))
        return ACP_ERR_STATE;
    struct hub_request *request = calloc(1, sizeof(*request) + id.len);
    if (!request)
        return ACP_ERR_NOMEM;
    request->to = to;
    request->method = method;
    request->session = session;
    request->id_len = id.len;
    if (id.len)
        memcpy(request->id, id.ptr, id.len);
    int err = from ? link_request(request, from) : 0;
    if (!err && to) {
        request->number = ++to->last_number;
        err = acp_numbers_add(&to->asked, &request->number);
    }
    if (err) {
        unlink_request(request);
        free(request);
        return err;
    }
    *ret = request;
    return 0;
}

/* A turn, or a question of the agent. */
static size_t *count_of(const struct hub_request *request)
{
    return request->method == HUB_PROMPT ? &request->session->turns : &request->session->questions;
}

void hub_request_count(struct hub_request *request)
{
    request->counted = true;
    ++*count_of(request);
    hub_session_update(request->session);
}

void hub_request_close(struct hub_request *request)
{
    assert(!request->waiting);
    if (request->counted && request->session && *count_of(request)) {
        --*count_of(request);
        hub_session_update(request->session);
    }
    unlink_request(request);
    if (request->to)
        acp_numbers_remove(&request->to->asked, request->number);
    free(request->setup);
    free(request);
}

void hub_request_orphan(struct hub_request *request)
{
    unlink_request(request);
}

/* Our numbers have no sign and no leading zeros. */
struct hub_request *hub_request_answered(const struct hub_connection *to, struct acp_raw id)
{
    uint64_t number = 0;
    if (!id.ptr || id.len == 0 || id.len > 19 || id.ptr[0] == '0')
        return NULL;
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] < '0' || id.ptr[i] > '9')
            return NULL;
        number = number * 10 + (uint64_t) (id.ptr[i] - '0');
    }
    struct hub_request *request = acp_numbers_get(&to->asked, number);
    return request && !request->waiting ? request : NULL; /* it may be guessed before it is sent */
}

struct hub_request *hub_request_made(const struct hub_connection *from, struct acp_raw id)
{
    return id.ptr ? acp_map_get(&from->opened, acp_str_n(id.ptr, id.len)) : NULL;
}

void hub_request_fail(struct hub_request *request, int code, struct acp_str message)
{
    if (request->reply)
        request->reply(request, NULL);
    else if (request->from)
        hub_send_error(request->from, acp_raw_n(request->id, request->id_len), code, message);
    hub_request_close(request);
}

void hub_request_send_cancel(struct hub_request *request)
{
    if (request->to && !request->waiting)
        hub_send_text(request->to,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":"
                      "{\"requestId\":%llu}}",
                      (unsigned long long) request->number);
}

struct acp_raw hub_number_text(uint64_t number, char buffer[HUB_NUMBER_SIZE])
{
    char *at = buffer + HUB_NUMBER_SIZE;
    do
        *--at = (char) ('0' + number % 10);
    while (number /= 10);
    return acp_raw_n(at, (size_t) (buffer + HUB_NUMBER_SIZE - at));
}

/* ---- Messages that wait ---------------------------------------------------------------------- */

void hub_queue_init(struct hub_queue *queue)
{
    *queue = (struct hub_queue){.end = &queue->first};
}

int hub_queue_add(struct hub_queue *queue, struct hub_request *request, struct hub_session *session,
                  struct acp_raw text)
{
    if (queue->count >= HUB_MAX_WAITING || text.len > HUB_MAX_WAITING_BYTES - queue->bytes)
        return ACP_ERR_LIMIT;
    struct hub_waiting *waiting = malloc(sizeof(*waiting) + text.len);
    if (!waiting)
        return ACP_ERR_NOMEM;
    *waiting = (struct hub_waiting){.request = request, .session = session, .len = text.len};
    memcpy(waiting->text, text.ptr, text.len);
    *queue->end = waiting;
    queue->end = &waiting->next;
    queue->count++;
    queue->bytes += text.len;
    if (request)
        request->waiting = true;
    return 0;
}

static struct hub_waiting *take_at(struct hub_queue *queue, struct hub_waiting **at)
{
    struct hub_waiting *waiting = *at;
    *at = waiting->next;
    if (!*at)
        queue->end = at;
    queue->count--;
    queue->bytes -= waiting->len;
    if (waiting->request)
        waiting->request->waiting = false;
    return waiting;
}

struct hub_waiting *hub_queue_take(struct hub_queue *queue)
{
    return queue->first ? take_at(queue, &queue->first) : NULL;
}

void hub_queue_remove(struct hub_queue *queue, const struct hub_request *request)
{
    struct hub_waiting **at = &queue->first;
    while (*at && (*at)->request != request)
        at = &(*at)->next;
    if (*at)
        free(take_at(queue, at));
}

void hub_queue_fail(struct hub_queue *queue, const struct hub_session *session, struct acp_str why)
{
    struct hub_waiting **at = &queue->first;
    while (*at) {
        if (session && (*at)->session != session) {
            at = &(*at)->next;
            continue;
        }
        struct hub_waiting *waiting = take_at(queue, at);
        if (waiting->request)
            hub_request_fail(waiting->request, RPC_INTERNAL_ERROR, why);
        free(waiting);
    }
}

void hub_queue_finish(struct hub_queue *queue)
{
    struct hub_waiting *waiting;
    while ((waiting = hub_queue_take(queue)))
        free(waiting);
}
