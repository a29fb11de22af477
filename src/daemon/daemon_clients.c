/*
 * daemon_clients.c - the clients of a daemon: their connections, the events and questions that each
 * is sent.
 *
 * A prompt of a client that disconnects goes on: the log keeps its events.  A question that nobody
 * else could answer is answered with no.
 */
#include <stdlib.h>
#include <unistd.h>

#include "daemon/daemon_internal.h"
#include "json/members.h"

void client_hold(struct client *client)
{
    client->uses++;
}

void client_release(struct client *client)
{
    struct client **at = &client->daemon->clients;
    if (--client->uses)
        return;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    free(client);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static bool waits_for(const struct client *client, uint64_t turn)
{
    for (const struct waiting_prompt *w = client->daemon->waiting; w; w = w->next)
        if (w->client == client && (!turn || w->turn == turn))
            return true;
    return false;
}

void daemon_tell_end(struct daemon *daemon, const struct client *client, uint64_t turn,
                     const struct prompt_end *end)
{
    for (struct waiting_prompt **at = &daemon->waiting; *at;) {
        struct waiting_prompt *waiting = *at;
        if (waiting->client != client || waiting->turn != turn) {
            at = &waiting->next;
            continue;
        }
        *at = waiting->next;
        if (waiting->client->peer) {
            struct acp_json_writer *w = acp_peer_begin_result(waiting->client->peer, waiting->call);
            daemon_write_end(w, turn, end);
            (void) acp_peer_commit(waiting->client->peer, NULL);
        }
        client_release(waiting->client);
        free(waiting);
    }
}

static void unsubscribe(struct client *client)
{
    subscriber_free(client->subscriber);
    client->subscriber = NULL;
    client->subscription = NOT_SUBSCRIBED;
    client->can_answer = false;
}

static void on_event(struct subscriber *s, const struct session_event *event, void *user)
{
    struct client *client = user;
    struct daemon *daemon = client->daemon;
    struct prompt_end end;
    struct acp_arena arena;
    (void) s;
    if (client->subscription == SUBSCRIBED_TO_ALL || !event->turn ||
        waits_for(client, event->turn)) {
        struct acp_json_writer *w =
            acp_peer_begin_notify(client->peer, acp_str_from("daemon/event"));
        (void) event_write(event, daemon->options->conversation.session, w);
        (void) acp_peer_commit(client->peer, NULL);
    }
    acp_arena_init(&arena, 0);
    if (prompt_end_read(event, &arena, &end)) {
        daemon_tell_end(daemon, client, event->turn, &end);
        if (client->subscription == SUBSCRIBED_TO_OWN && !waits_for(client, 0))
            unsubscribe(client);
    }
    acp_arena_finish(&arena);
}

/* ---- Questions ------------------------------------------------------------------------------- */

/* Whether this client is to be asked about the turn. */
static bool is_asked(const struct client *client, uint64_t turn)
{
    return client->peer && client->can_answer &&
           (client->subscription == SUBSCRIBED_TO_ALL || (turn && waits_for(client, turn)));
}

static bool somebody_is_asked(const struct daemon *daemon, uint64_t turn)
{
    for (const struct client *client = daemon->clients; client; client = client->next)
        if (is_asked(client, turn))
            return true;
    return false;
}

bool daemon_has_answering_client(const struct daemon *daemon)
{
    return somebody_is_asked(daemon, 0);
}

static struct sent_question *take_question(struct daemon *daemon,
                                           const struct sent_question *wanted)
{
    struct sent_question **at = &daemon->questions;
    while (*at && *at != wanted)
        at = &(*at)->next;
    struct sent_question *found = *at;
    if (found)
        *at = found->next;
    return found;
}

static bool is_sent_to_another(const struct daemon *daemon, uint64_t number)
{
    for (const struct sent_question *q = daemon->questions; q; q = q->next)
        if (q->number == number && q->client->peer)
            return true;
    return false;
}

/* The first answer settles it; that of a client that has disconnected is none. */
static void pass_on(struct daemon *daemon, const struct sent_question *sent,
                    const struct acp_reply *reply)
{
    struct acp_arena arena;
    struct acp_str option = {0};
    if (sent->is_elicitation) {
        (void) conversation_answer_elicitation(daemon->conversation, sent->number,
                                               reply->err ? acp_raw_from("{}") : reply->result);
        return;
    }
    acp_arena_init(&arena, 0);
    if (!reply->err)
        (void) acp_json_member_str(reply->result, "option", &arena, &option);
    (void) conversation_answer(daemon->conversation, sent->number, option, (struct acp_str){0});
    acp_arena_finish(&arena);
}

static void on_answer(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                      void *user)
{
    struct sent_question *sent = user;
    struct daemon *daemon = sent->client->daemon;
    (void) peer;
    (void) request;
    bool open = take_question(daemon, sent) != NULL;
    /* A client that has disconnected leaves the question to the others. */
    if (open && daemon->conversation && !(reply->err && is_sent_to_another(daemon, sent->number)))
        pass_on(daemon, sent, reply);
    client_release(sent->client);
    free(sent);
}

/* What the client is asked: one of the two. */
struct question_to_send {
    const struct permission_question *permission;
    const struct elicitation_question *elicitation;
    uint64_t number;
    uint64_t turn;
};

static int send_question(struct client *client, const struct question_to_send *question)
{
    struct sent_question *sent = calloc(1, sizeof(*sent));
    if (!sent)
        return ACP_ERR_NOMEM;
    const struct acp_request request = {
        .method = acp_str_from(question->elicitation ? "daemon/elicitation" : "daemon/question"),
        .reply = on_answer,
        .user = sent};
    *sent = (struct sent_question){.next = client->daemon->questions,
                                   .client = client,
                                   .number = question->number,
                                   .is_elicitation = question->elicitation != NULL};
    struct acp_json_writer *w = acp_peer_begin_request(client->peer, &request);
    if (question->elicitation)
        daemon_write_elicitation(w, question->elicitation);
    else
        daemon_write_question(w, question->permission);
    int err = acp_peer_commit(client->peer, &sent->request);
    if (err) {
        free(sent);
        return err;
    }
    client_hold(client);
    client->daemon->questions = sent;
    return 0;
}

/* True if the client is asked, or another is or will be. */
static bool ask_client(struct client *client, const struct question_to_send *question)
{
    struct daemon *daemon = client->daemon;
    bool sent = is_asked(client, question->turn) && send_question(client, question) == 0;
    return sent || is_sent_to_another(daemon, question->number) ||
           somebody_is_asked(daemon, question->turn);
}

static void on_question(struct subscriber *s, const struct permission_question *question,
                        void *user)
{
    struct client *client = user;
    const struct question_to_send sent = {
        .permission = question, .number = question->number, .turn = question->turn};
    (void) s;
    if (!ask_client(client, &sent))
        (void) conversation_answer(client->daemon->conversation, question->number,
                                   (struct acp_str){0}, (struct acp_str){0});
}

static void on_elicitation(struct subscriber *s, const struct elicitation_question *question,
                           void *user)
{
    struct client *client = user;
    const struct question_to_send sent = {
        .elicitation = question, .number = question->number, .turn = question->turn};
    (void) s;
    if (!ask_client(client, &sent))
        (void) conversation_answer_elicitation(client->daemon->conversation, question->number,
                                               acp_raw_from("{\"action\":\"decline\"}"));
}

/* The answer still comes, and finds nothing to answer. */
static void on_question_gone(struct subscriber *s, uint64_t number, void *user)
{
    struct client *client = user;
    (void) s;
    for (struct sent_question *q = client->daemon->questions; q; q = q->next) {
        if (q->number != number || q->client != client)
            continue;
        (void) take_question(client->daemon, q);
        if (client->peer)
            (void) acp_peer_cancel(client->peer, q->request);
        return;
    }
}

/* ---- Subscriptions --------------------------------------------------------------------------- */

int client_subscribe(struct client *client, enum subscription subscription, bool can_answer,
                     uint64_t after)
{
    static const struct subscriber_handler viewer = {.event = on_event};
    static const struct subscriber_handler asked = {.event = on_event,
                                                    .question = on_question,
                                                    .elicitation = on_elicitation,
                                                    .question_gone = on_question_gone};
    bool same = client->subscriber && client->can_answer >= can_answer &&
                client->subscription >= subscription;
    if (same)
        return 0;
    if (client->subscriber && subscription < client->subscription)
        subscription = client->subscription;
    struct subscriber *subscriber = NULL;
    /* One that is subscribed already goes on where it is. */
    if (client->subscriber && after == CONVERSATION_NEW_EVENTS)
        after = subscriber_cursor(client->subscriber);
    int err = conversation_subscribe(client->daemon->conversation, after,
                                     can_answer ? &asked : &viewer, client, &subscriber);
    if (err)
        return err;
    subscriber_free(client->subscriber);
    client->subscriber = subscriber;
    client->subscription = subscription;
    client->can_answer = can_answer;
    return 0;
}

/* ---- Connections ----------------------------------------------------------------------------- */

static void on_disconnected(struct acp_link *link, int reason, void *user)
{
    struct client *client = user;
    struct daemon *daemon = client->daemon;
    struct acp_peer *peer = client->peer;
    (void) reason;
    client->peer = NULL;
    client->link = NULL;
    unsubscribe(client);
    acp_link_free(link);
    acp_peer_free(peer); /* fails the questions that it was sent, here */
    for (struct waiting_prompt **at = &daemon->waiting; *at;) {
        struct waiting_prompt *waiting = *at;
        if (waiting->client != client) {
            at = &waiting->next;
            continue;
        }
        *at = waiting->next;
        free(waiting);
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the last use is given back below */
        client_release(client);
    }
    daemon->client_count--;
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the last use is given back below */
    daemon->input_room -= client->input_room;
    client_release(client);
}

static void on_pressure(struct acp_peer *peer, bool high, void *user)
{
    struct client *client = user;
    (void) peer;
    if (client->subscriber)
        subscriber_pause(client->subscriber, high);
}

void daemon_accept(struct daemon *daemon, int fd)
{
    static const struct acp_peer_handler handler = {.request = daemon_serve,
                                                    .pressure = on_pressure};
    static const struct acp_link_handler link_handler = {.closed = on_disconnected};
    size_t room = (DAEMON_MAX_INPUT - daemon->input_room) / 2;
    const struct acp_peer_options options = {
        .max_message = room < DAEMON_MIN_MESSAGE ? (size_t) DAEMON_MIN_MESSAGE : room};
    struct acp_link_options link = {.in = fd, .out = fd};
    struct client *client = calloc(1, sizeof(*client));
    if (!client || acp_peer_new(&options, &handler, client, &client->peer)) {
        (void) close(fd);
        free(client);
        return;
    }
    client->daemon = daemon;
    client->input_room = room < DAEMON_MIN_MESSAGE ? 0 : room;
    struct acp_endpoint *endpoint = acp_peer_endpoint(client->peer);
    if (acp_link_new(daemon->loop, &link, endpoint, &link_handler, client, &client->link)) {
        acp_peer_free(client->peer);
        free(client);
        return;
    }
    client->uses = 1;
    client->next = daemon->clients;
    daemon->clients = client;
    daemon->client_count++;
    daemon->input_room += client->input_room;
}

void daemon_close_clients(struct daemon *daemon)
{
    for (struct client *client = daemon->clients; client; client = client->next) {
        client->subscriber = NULL; /* gone with the conversation */
        if (client->link)
            acp_link_close(client->link);
    }
}
