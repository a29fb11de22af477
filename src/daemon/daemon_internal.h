/*
 * daemon_internal.h - the inside of a daemon's process.
 *
 *   daemon.c           its life: signals, idleness, the listener, the end
 *   daemon_clients.c   connections, what each is sent, and questions to them
 *   daemon_requests.c  what clients ask for
 */
#ifndef SRC_DAEMON_DAEMON_INTERNAL_H
#define SRC_DAEMON_DAEMON_INTERNAL_H

#include "acp/io.h"
#include "acp/rpc.h"
#include "daemon/daemon_protocol.h"

enum {
    /* Queued prompts: the count is the default of an option, the bytes are of all of them. */
    DAEMON_MAX_WAITING = 100,
    DAEMON_MAX_WAITING_BYTES = 64 * 1024 * 1024,
    DAEMON_MAX_SETTINGS = 100,            /* that wait, of all clients */
    DAEMON_MAX_SETTING_BYTES = 64 * 1024, /* of the name and the value of one */
    DAEMON_MAX_CLIENTS = 64,
    /* Messages of all clients: each takes half of what is left, the first 64 MiB. */
    DAEMON_MAX_INPUT = 128 * 1024 * 1024,
    DAEMON_MIN_MESSAGE = 64 * 1024, /* that each may send in any case */
    DAEMON_SIGNALS = 3,
};

/* JSON-RPC codes that clients get, besides those of the protocol. */
enum { CODE_BUSY = -32000 };

/* What a client is sent of the session's events. */
enum subscription {
    NOT_SUBSCRIBED,
    SUBSCRIBED_TO_OWN, /* those of the turns that it waits for, and those outside of turns */
    SUBSCRIBED_TO_ALL, /* it is attached */
};

/* Lives until it has disconnected and nothing of its is under way any more. */
struct client {
    struct client *next;
    struct daemon *daemon;
    struct acp_peer *peer; /* NULL: it has disconnected */
    struct acp_link *link;
    struct subscriber *subscriber; /* NULL: not subscribed */
    enum subscription subscription;
    bool can_answer;   /* there is a person */
    size_t input_room; /* for a message of its, taken from the daemon's */
    unsigned uses;
};

/* A prompt whose end a client waits for. */
struct waiting_prompt {
    struct waiting_prompt *next;
    struct client *client;
    acp_call call;
    uint64_t turn;
};

/* A question that was sent to a client. */
struct sent_question {
    struct sent_question *next;
    struct client *client;
    uint64_t number;     /* of the conversation's question */
    uint64_t request;    /* of ours to the client */
    bool is_elicitation; /* otherwise of a permission */
};

struct daemon {
    const struct daemon_options *options;
    uv_loop_t *loop;
    struct store_writer *writer;
    struct store_worker *worker;
    struct conversation *conversation; /* NULL: stopped, and only clients are left */
    struct subscriber *monitor;
    uv_poll_t listener;
    int listener_fd;
    uv_timer_t idle;
    uint64_t idle_since;
    uv_signal_t signals[DAEMON_SIGNALS];
    struct acp_reaper *reaper;
    struct client *clients;
    size_t client_count; /* that are connected */
    size_t setting_count;
    size_t input_room; /* given to clients */
    struct waiting_prompt *waiting;
    struct sent_question *questions;
    bool ending;
};

/*
 * Opens a daemon on a loop, which runs as long as it does.  When it ends, it closes listener_fd,
 * which listens at its socket; also when it cannot be opened, for which the loop must run as well.
 */
int daemon_open(struct daemon *daemon, uv_loop_t *loop, const struct daemon_options *options,
                int listener_fd);
/* The same on a loop of its own, until it ends.  ready is called when clients are served. */
int daemon_run(const struct daemon_options *options, int listener_fd, void (*ready)(void *user),
               void *user);
/* Something has begun or ended: the time without activity starts anew. */
void daemon_note_activity(struct daemon *daemon);
void daemon_end(struct daemon *daemon);

/* ---- daemon_clients.c ------------------------------------------------------------------------ */

void daemon_accept(struct daemon *daemon, int fd);
void daemon_close_clients(struct daemon *daemon);
void client_hold(struct client *client);
void client_release(struct client *client);
/* Sends it events, from after that sequence number on.  ACP_ERR_NOMEM. */
int client_subscribe(struct client *client, enum subscription subscription, bool can_answer,
                     uint64_t after);
/* Whether a person at any client can be asked about any turn. */
bool daemon_has_answering_client(const struct daemon *daemon);
/* All that wait for the turn get its end. */
void daemon_tell_end(struct daemon *daemon, const struct client *client, uint64_t turn,
                     const struct prompt_end *end);

/* ---- daemon_requests.c ----------------------------------------------------------------------- */

void daemon_serve(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                  void *user);

#endif
