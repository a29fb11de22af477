/*
 * subscriber.c - events to subscribers, each at its own pace.
 *
 * Events that were added last are in memory, in the tail.  A subscriber is live when its cursor is
 * in the tail: it holds the event that it got last and gets the next ones from there.  One that
 * wants older events, or has fallen behind further than the tail reaches, replays: it reads the log
 * from its cursor until it meets the tail.
 *
 * Sequence numbers decide what is next, so nothing is skipped and nothing comes twice.
 */
#include <assert.h>
#include <stdlib.h>

#include "conversation/conversation_internal.h"

/* ---- The tail -------------------------------------------------------------------------------- */

static size_t bytes_of(const struct tail_event *event)
{
    return sizeof(*event) + event->event.body.len;
}

int conversation_init_tail(struct conversation *c)
{
    c->tail = c->last = calloc(1, sizeof(*c->tail));
    return c->tail ? 0 : ACP_ERR_NOMEM;
}

uint64_t conversation_last_sequence(const struct conversation *c)
{
    return c->last->event.sequence;
}

int conversation_extend_tail(struct conversation *c, const struct session_event *event,
                             bool not_kept)
{
    struct tail_event *added = malloc(sizeof(*added) + event->body.len);
    if (!added)
        return ACP_ERR_NOMEM;
    *added = (struct tail_event){.not_kept = not_kept, .event = *event};
    (void) memcpy(added->bytes, event->body.ptr, event->body.len);
    added->event.body.ptr = added->bytes;
    conversation_link_tail(c, added);
    return 0;
}

void conversation_link_tail(struct conversation *c, struct tail_event *event)
{
    c->last->next = event;
    c->last = event;
    c->tail_bytes += bytes_of(event);
}

static bool is_deliverable(const struct conversation *c, const struct tail_event *event)
{
    return event->not_kept || event->event.sequence <= c->deliverable;
}

static bool is_replaying(const struct conversation *c)
{
    for (const struct subscriber *s = c->subscribers; s; s = s->next)
        if (s->state == SUBSCRIBER_REPLAYING && !s->freed)
            return true;
    return false;
}

/* The subscriber continues from the log; what it still holds of the tail can go. */
static void leave_tail(struct subscriber *s)
{
    s->at->at--;
    s->at = NULL;
    s->state = SUBSCRIBER_REPLAYING;
}

/* Those that hold the first event have not got the second. */
static void leave_behind(struct conversation *c)
{
    for (struct subscriber *s = c->subscribers; s; s = s->next)
        if (s->at == c->tail && !s->freed)
            leave_tail(s);
}

/* Whether the second event can be read in the log by those that have not got it. */
static bool can_be_read_again(const struct conversation *c)
{
    return c->log && c->worker && !store_writer_failure(c->writer) && !c->tail->next->not_kept;
}

/*
 * Drops events that everybody has got, and, past the limit, those that can be read in the log.
 * Subscribers that replay need something to meet, so within the limit all is kept for them.
 */
static void trim_tail(struct conversation *c)
{
    bool replaying = is_replaying(c);
    while (c->tail->next && is_deliverable(c, c->tail->next)) {
        bool over = c->tail_bytes > CONVERSATION_MAX_TAIL_BYTES;
        if (!over && (c->tail->at || replaying))
            break;
        if (c->tail->at && !can_be_read_again(c))
            break;
        leave_behind(c);
        struct tail_event *first = c->tail;
        c->tail = first->next;
        c->tail_bytes -= bytes_of(c->tail);
        free(first);
    }
    conversation_pause_agent(c, PAUSED_BY_SUBSCRIBERS,
                             c->tail_bytes > CONVERSATION_MAX_TAIL_BYTES && c->tail->at &&
                                 c->tail->next && is_deliverable(c, c->tail->next) &&
                                 !can_be_read_again(c));
}

/* ---- Delivering ------------------------------------------------------------------------------ */

/* A callback of the subscriber begins; it may free the subscriber. */
static void end_callback(struct subscriber *s)
{
    s->delivering = false;
}

static void give(struct subscriber *s, const struct session_event *event)
{
    assert(event->sequence > s->cursor);
    s->cursor = event->sequence;
    s->idle = false;
    s->delivering = true;
    s->handler->event(s, event, s->user);
    end_callback(s);
}

static const struct open_question *next_question(const struct subscriber *s)
{
    const struct open_question *q = s->conversation->open_questions;
    while (q && q->number <= s->asked)
        q = q->next;
    return q && q->after <= s->cursor ? q : NULL;
}

static void give_elicitation(struct subscriber *s, const struct open_question *open)
{
    struct conversation *c = s->conversation;
    const struct elicitation_question question = {
        .number = open->number,
        .turn = open->turn,
        .agent = c->options.agent,
        .protocol = c->connection ? acp_client_protocol(conversation_client(c)) : ACP_V1,
        .params = open->elicitation,
    };
    s->delivering = true;
    if (s->handler->elicitation)
        s->handler->elicitation(s, &question, s->user);
    end_callback(s);
}

static void give_question(struct subscriber *s, const struct open_question *open)
{
    struct permission_question question = {
        .number = open->number,
        .turn = open->turn,
        .title = open->title,
        .description = open->description,
        .changes = open->changes,
        .action = &open->action,
        .options = open->options,
        .always = open->always,
        .always_brief = open->always_brief,
    };
    s->delivering = true;
    if (s->handler->question)
        s->handler->question(s, &question, s->user);
    end_callback(s);
}

/* One question, if it is its turn. */
static bool ask_next(struct subscriber *s)
{
    bool asked = s->handler->question || s->handler->elicitation;
    const struct open_question *open = asked ? next_question(s) : NULL;
    if (!open)
        return false;
    s->asked = open->number;
    if (open->elicitation.ptr)
        give_elicitation(s, open);
    else
        give_question(s, open);
    return true;
}

/* The place in the tail from which the subscriber can go on, or NULL. */
static struct tail_event *find_place(const struct subscriber *s)
{
    struct tail_event *place = s->conversation->tail;
    if (place->event.sequence > s->cursor)
        return NULL;
    while (place->next && place->next->event.sequence <= s->cursor)
        place = place->next;
    return place;
}

static void go_live(struct subscriber *s, struct tail_event *place)
{
    conversation_drop_replay(s);
    s->state = SUBSCRIBER_LIVE;
    s->at = place;
    s->at->at++;
    if (s->cursor < place->event.sequence)
        s->cursor = place->event.sequence;
}

/* The events between the cursor and the tail are not available. */
static void skip_to_tail(struct subscriber *s)
{
    go_live(s, s->conversation->tail);
}

static bool deliver_read(struct subscriber *s)
{
    struct tail_event *next = s->read;
    if (!next)
        return false;
    s->read = next->next;
    if (next->event.sequence > s->cursor)
        give(s, &next->event);
    free(next);
    return true;
}

/* True if something was delivered. */
static bool deliver_replayed(struct subscriber *s)
{
    if (deliver_read(s))
        return true;
    struct tail_event *place = find_place(s);
    if (place)
        go_live(s, place);
    else if (!s->replay && conversation_replay(s))
        skip_to_tail(s);
    return s->state == SUBSCRIBER_LIVE;
}

static bool deliver_live(struct subscriber *s)
{
    struct tail_event *next = s->at->next;
    if (!next || !is_deliverable(s->conversation, next))
        return false;
    s->at->at--;
    s->at = next;
    next->at++;
    give(s, &next->event);
    return true;
}

static bool deliver_next(struct subscriber *s)
{
    if (s->paused || s->freed)
        return false;
    if (ask_next(s))
        return true;
    switch (s->state) {
    case SUBSCRIBER_WAITING:
        break;
    case SUBSCRIBER_REPLAYING:
        return deliver_replayed(s);
    case SUBSCRIBER_LIVE:
        return deliver_live(s);
    }
    return false;
}

static bool is_behind(const struct subscriber *s)
{
    return !s->paused && s->state == SUBSCRIBER_REPLAYING;
}

static void deliver_to(struct subscriber *s)
{
    if (s->delivering)
        return; /* a callback of it has called us */
    while (deliver_next(s))
        ;
    if (!s->idle && !s->paused && !s->freed && s->state == SUBSCRIBER_LIVE) {
        s->idle = true;
        s->delivering = true;
        if (s->handler->caught_up)
            s->handler->caught_up(s, s->user);
        end_callback(s);
    }
}

/* Frees those that were freed in callbacks. */
static void sweep(struct conversation *c)
{
    for (struct subscriber **at = &c->subscribers; *at;) {
        struct subscriber *s = *at;
        if (!s->freed || s->delivering) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        free(s);
    }
}

bool conversation_deliver(struct conversation *c)
{
    bool all = true;
    for (struct subscriber *s = c->subscribers; s; s = s->next)
        deliver_to(s);
    trim_tail(c);
    for (struct subscriber *s = c->subscribers; s && all; s = s->next)
        all = s->freed || !is_behind(s);
    for (const struct tail_event *event = c->tail->next; event && all; event = event->next)
        all = is_deliverable(c, event);
    sweep(c);
    return all;
}

bool conversation_can_deliver_now(const struct conversation *c)
{
    if (c->log || c->tail->next)
        return false;
    for (const struct subscriber *s = c->subscribers; s; s = s->next)
        if (s->state != SUBSCRIBER_LIVE || s->paused || s->delivering)
            return false;
    return true;
}

void conversation_deliver_now(struct conversation *c, const struct session_event *event)
{
    c->tail->event.sequence = event->sequence;
    for (struct subscriber *s = c->subscribers; s; s = s->next)
        if (!s->freed)
            give(s, event);
    conversation_wake(c); /* caught_up is due */
}

/* ---- Questions ------------------------------------------------------------------------------- */

bool conversation_can_ask(const struct conversation *c)
{
    for (const struct subscriber *s = c->subscribers; s; s = s->next)
        if (s->handler->question && !s->freed)
            return true;
    return false;
}

bool conversation_can_elicit(const struct conversation *c)
{
    for (const struct subscriber *s = c->subscribers; s; s = s->next)
        if (s->handler->elicitation && !s->freed)
            return true;
    return false;
}

void conversation_question_settled(struct conversation *c, uint64_t number)
{
    for (struct subscriber *s = c->subscribers; s; s = s->next)
        if (s->asked >= number && s->handler->question_gone && !s->freed)
            s->handler->question_gone(s, number, s->user);
}

/* ---- Subscribing ----------------------------------------------------------------------------- */

static void begin(struct subscriber *s)
{
    struct conversation *c = s->conversation;
    uint64_t last = conversation_last_sequence(c);
    if (s->cursor > last)
        s->cursor = last;
    struct tail_event *place = find_place(s);
    if (place)
        go_live(s, place);
    else if (c->log && c->worker)
        s->state = SUBSCRIBER_REPLAYING;
    else
        skip_to_tail(s);
}

void conversation_start_tail(struct conversation *c, uint64_t last)
{
    if (!c->tail->next)
        c->tail->event.sequence = last;
    if (c->deliverable < last)
        c->deliverable = last;
    for (struct subscriber *s = c->subscribers; s; s = s->next)
        if (s->state == SUBSCRIBER_WAITING && !s->freed)
            begin(s);
}

int conversation_subscribe(struct conversation *c, uint64_t after,
                           const struct subscriber_handler *handler, void *user,
                           struct subscriber **ret)
{
    struct subscriber *s = calloc(1, sizeof(*s));
    if (!s)
        return ACP_ERR_NOMEM;
    s->conversation = c;
    s->handler = handler;
    s->user = user;
    s->cursor = after;
    s->next = c->subscribers;
    c->subscribers = s;
    if (c->log_state != LOG_OPENING)
        begin(s);
    conversation_wake(c);
    *ret = s;
    return 0;
}

void subscriber_free(struct subscriber *s)
{
    if (!s || s->freed)
        return;
    struct conversation *c = s->conversation;
    s->freed = true;
    if (s->at)
        s->at->at--;
    s->at = NULL;
    conversation_drop_replay(s);
    conversation_wake(c); /* sweeps it */
}

void conversation_free_subscribers(struct conversation *c)
{
    for (struct subscriber *s = c->subscribers; s;) {
        struct subscriber *next = s->next;
        if (!s->freed)
            conversation_drop_replay(s);
        free(s);
        s = next;
    }
    c->subscribers = NULL;
}

void conversation_free_tail(struct conversation *c)
{
    while (c->tail) {
        struct tail_event *event = c->tail;
        c->tail = event->next;
        free(event);
    }
}

void subscriber_pause(struct subscriber *s, bool pause)
{
    s->paused = pause;
    if (!pause)
        conversation_wake(s->conversation);
}

uint64_t subscriber_cursor(const struct subscriber *s)
{
    return s->cursor;
}

void conversation_replayed(struct subscriber *s, const struct acp_failure *failure)
{
    struct conversation *c = s->conversation;
    bool nothing = !s->read && !find_place(s);
    if (failure && failure->err)
        conversation_notice(c, "earlier events cannot be read from the log: %s", failure->message);
    /* What is in no log cannot be read: it was not kept. */
    if (nothing)
        skip_to_tail(s);
    conversation_wake(c);
}
