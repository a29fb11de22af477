/*
 * replay.c - reads events of a session from the log, for a subscriber.
 *
 * A batch is read by the store's worker, on its thread, into a list that belongs to it until it is
 * handed over on the loop.  Events that are durable are in the log by then, also those that have
 * come since the subscriber asked.
 */
#include <stdlib.h>

#include "conversation/conversation_internal.h"

/* A batch ends with the event that goes over one of these. */
enum { BATCH_EVENTS = 1000, BATCH_BYTES = 256 * 1024 };

struct replay {
    struct subscriber *subscriber; /* NULL: it has gone */
    char *session;
    uint64_t from;
    struct acp_arena arena; /* for one event */
    struct tail_event *first;
    struct tail_event **end;
    size_t count;
    size_t bytes;
};

static void free_events(struct tail_event *events)
{
    while (events) {
        struct tail_event *event = events;
        events = event->next;
        free(event);
    }
}

static void free_replay(struct replay *replay)
{
    free_events(replay->first);
    acp_arena_finish(&replay->arena);
    free(replay->session);
    free(replay);
}

/* ---- On the thread --------------------------------------------------------------------------- */

static int keep_event(struct replay *replay, const struct store_event *from, enum event_kind kind)
{
    struct acp_raw body = from->body;
    acp_arena_reset(&replay->arena);
    int err = event_upgrade_body(kind, from->body, &replay->arena, &body);
    struct tail_event *event = err ? NULL : malloc(sizeof(*event) + body.len);
    if (!event)
        return err ? err : ACP_ERR_NOMEM;
    *event = (struct tail_event){.event = {.kind = kind,
                                           .sequence = from->seq,
                                           .turn = from->turn,
                                           .time = from->time,
                                           .body = acp_raw_n(event->bytes, body.len)}};
    (void) memcpy(event->bytes, body.ptr, body.len);
    *replay->end = event;
    replay->end = &event->next;
    replay->count++;
    replay->bytes += sizeof(*event) + body.len;
    return 0;
}

/* What ends the walk without an error. */
enum { BATCH_IS_FULL = 1 };

static int on_event(const struct store_event *event, void *user)
{
    struct replay *replay = user;
    enum event_kind kind;
    /* A kind of a newer version is passed over. */
    int err = event_kind_find(event->kind, &kind) ? keep_event(replay, event, kind) : 0;
    if (err)
        return err;
    return replay->count >= BATCH_EVENTS || replay->bytes >= BATCH_BYTES ? BATCH_IS_FULL : 0;
}

static int read_batch(struct store *store, void *user, struct acp_failure *failure)
{
    struct replay *replay = user;
    int err = store_events(store, acp_str_from(replay->session), replay->from, 0, on_event, replay,
                           failure);
    return err == BATCH_IS_FULL ? 0 : err;
}

/* ---- On the loop ----------------------------------------------------------------------------- */

static void on_read(int err, const struct acp_failure *failure, void *user)
{
    struct replay *replay = user;
    struct subscriber *s = replay->subscriber;
    if (s) {
        s->replay = NULL;
        s->read = replay->first;
        replay->first = NULL;
        conversation_replayed(s, err ? failure : NULL);
    }
    free_replay(replay);
}

int conversation_replay(struct subscriber *s)
{
    struct conversation *c = s->conversation;
    if (!c->worker || !c->log)
        return ACP_ERR_STATE;
    struct replay *replay = calloc(1, sizeof(*replay));
    if (!replay)
        return ACP_ERR_NOMEM;
    acp_arena_init(&replay->arena, 0);
    replay->subscriber = s;
    replay->session = conversation_copy(c->options.session);
    replay->from = s->cursor + 1;
    replay->end = &replay->first;
    int err =
        replay->session ? store_worker_run(c->worker, read_batch, on_read, replay) : ACP_ERR_NOMEM;
    if (err)
        free_replay(replay);
    else
        s->replay = replay;
    return err;
}

void conversation_drop_replay(struct subscriber *s)
{
    if (s->replay)
        s->replay->subscriber = NULL;
    s->replay = NULL;
    free_events(s->read);
    s->read = NULL;
}
