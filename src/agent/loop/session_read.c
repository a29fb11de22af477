/*
 * session_read.c - reads a stored session a page at a time.  The store's thread fills a page; the
 * loop hands its events to the reader and asks for the next one.  So neither a slow database nor a
 * long session holds up other sessions, and only one page is in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/loop/coding_agent_internal.h"

/* A page ends with the event that reaches one of them. */
enum { PAGE_EVENTS = 256, PAGE_BYTES = 1 << 20 };

/* While a job is queued or running, it belongs to the store's thread except for the first part. */
struct session_read {
    const struct session_read_handler *handler;
    void *user;
    struct store_worker *worker;
    bool cancelled;
    bool has_row; /* and the handler was called with it */

    char id[STORE_ID_SIZE];
    struct acp_arena row_arena;
    struct store_session row;
    struct acp_arena arena; /* of the page */
    struct store_event events[PAGE_EVENTS];
    size_t count;
    size_t bytes;
    uint64_t next; /* number of the first event that was not read */
};

static void free_read(struct session_read *read)
{
    acp_arena_finish(&read->row_arena);
    acp_arena_finish(&read->arena);
    free(read);
}

/* ---- On the thread --------------------------------------------------------------------------- */

static int add_event(const struct store_event *event, void *user)
{
    struct session_read *read = user;
    struct acp_str kind = acp_arena_copy(&read->arena, event->kind);
    struct acp_str body = acp_arena_copy(&read->arena, acp_str_n(event->body.ptr, event->body.len));
    if (!kind.ptr || !body.ptr)
        return ACP_ERR_NOMEM;
    struct store_event *copy = &read->events[read->count++];
    *copy = *event;
    copy->kind = kind;
    copy->body = acp_raw_n(body.ptr, body.len);
    read->bytes += body.len;
    read->next = event->seq + 1;
    return read->count == PAGE_EVENTS || read->bytes >= PAGE_BYTES;
}

static int find_row(struct store *store, struct session_read *read, struct acp_failure *failure)
{
    struct acp_str id = acp_str_from(read->id);
    int err = store_find(store, id, &read->row_arena, &read->row, failure);
    /* store_find() takes the beginning of an id as well. */
    return err ? err : acp_str_eq(read->row.id, id) ? 0 : ACP_ERR_MISSING;
}

static int read_page(struct store *store, void *user, struct acp_failure *failure)
{
    struct session_read *read = user;
    int err = read->row.id.ptr ? 0 : find_row(store, read, failure);
    read->count = 0;
    read->bytes = 0;
    acp_arena_reset(&read->arena);
    if (err || read->next > read->row.last_seq)
        return err;
    err = store_events(store, read->row.id, read->next, read->row.last_seq - read->next + 1,
                       add_event, read, failure);
    return err < 0 ? err : 0;
}

/* ---- On the loop ----------------------------------------------------------------------------- */

static void end_read(struct session_read *read, int err, const struct acp_failure *failure)
{
    const struct session_read_handler *handler = read->handler;
    void *user = read->user;
    free_read(read);
    handler->done(err, failure, user);
}

static int hand_over(struct session_read *read, struct acp_failure *failure)
{
    int err = 0;
    if (!read->has_row && read->handler->row)
        err = read->handler->row(&read->row, read->user, failure);
    read->has_row = true;
    for (size_t i = 0; i < read->count && !err; i++)
        err = read->handler->event(&read->events[i], read->user);
    return err;
}

static void on_page(int err, const struct acp_failure *failure, void *user)
{
    struct session_read *read = user;
    struct acp_failure own = {0};
    if (read->cancelled) {
        free_read(read);
        return;
    }
    if (!err) {
        err = hand_over(read, &own);
        failure = &own;
    }
    bool more = !err && read->count && read->next <= read->row.last_seq;
    if (more)
        err = store_worker_run(read->worker, read_page, on_page, read);
    if (!more || err)
        end_read(read, err, failure);
}

int session_read_new(struct store_worker *worker, struct acp_str id,
                     const struct session_read_handler *handler, void *user,
                     struct session_read **ret)
{
    if (id.len >= STORE_ID_SIZE)
        return ACP_ERR_MISSING;
    struct session_read *read = calloc(1, sizeof(*read));
    if (!read)
        return ACP_ERR_NOMEM;
    read->handler = handler;
    read->user = user;
    read->worker = worker;
    read->next = 1;
    memcpy(read->id, id.ptr, id.len);
    acp_arena_init(&read->row_arena, 0);
    acp_arena_init(&read->arena, 0);
    int err = store_worker_run(worker, read_page, on_page, read);
    if (err) {
        free_read(read);
        return err;
    }
    *ret = read;
    return 0;
}

void session_read_cancel(struct session_read *read)
{
    if (read)
        read->cancelled = true;
}
