/*
 * client_role.h - the inside of the client's role.
 *
 *   client.c          the connection: initialize, requests and their outcomes
 *   client_session.c  sessions: opening, prompts, cancellation, the end
 *   client_event.c    what the agent reports, as events of either version
 *   client_answer.c   what the agent asks
 */
#ifndef LIB_ACP_CLIENT_ROLE_H
#define LIB_ACP_CLIENT_ROLE_H

#include "acp/client.h"
#include "base/copy.h"
#include "base/map.h"

/* Updates for sessions that are not known yet are held; so much of them, then the oldest go. */
enum { CLIENT_MAX_EARLY = 1024 * 1024 };

struct early_update {
    struct early_update *next;
    size_t session_len;
    size_t len;
    char bytes[]; /* the session's id, then the params */
};

/* A permission request that waits for the program. */
struct question {
    struct question *next;
    acp_call call;
    size_t option_count; /* ids of the options that were offered, each a copy */
    struct acp_str *options;
};

struct acp_client_session {
    struct acp_client *client;
    char *id;
    char *cwd;
    void *user;
    bool gone; /* it is being ended, and no longer among client->sessions */
    enum acp_work_state state;
    /* The prompt at work. */
    acp_turn_fn *end; /* NULL when there is none */
    void *end_user;
    bool accepted;  /* version 2: its response has come */
    bool worked;    /* version 2: the agent has begun since it was sent */
    bool cancelled; /* we have asked for its end */
    char *stop;     /* version 2: why it stopped, should that be told before the response */
    struct question *questions;
};

/* A request of ours. */
struct client_call {
    struct acp_client *client;
    void (*settle)(struct client_call *call, const struct acp_reply *reply);
    union {
        acp_client_fn *done;
        acp_session_fn *session;
    } then;
    void *user;
    acp_type_id result_type;
    struct acp_client_session *session; /* that it is about, or NULL */
    char *id;                           /* of a session that is being opened */
    char *cwd;                          /* likewise */
};

struct acp_client {
    struct acp_client_options options;
    struct acp_client_handler handler;
    void *user;
    struct acp_peer *peer;
    unsigned mode;
    bool starting;
    bool closing;
    struct acp_arena arena; /* for the message at hand */
    struct acp_arena kept;  /* for what initialize answered */
    struct acp_initialize_response agent;
    struct acp_map sessions;
    struct early_update *early; /* oldest first */
    size_t early_bytes;
    char *close_words; /* why the connection is closed, for people; may be NULL */
    void (*wake)(void *user);
    void *wake_user;
};

static inline bool client_is_v2(const struct acp_client *client)
{
    return client->mode & ACP_V2;
}

/* An error of ours as an outcome. */
struct acp_outcome client_failed(const struct acp_client *client, int err);

/* client.c */
struct client_call *client_call_new(struct acp_client *client,
                                    void (*settle)(struct client_call *, const struct acp_reply *),
                                    acp_type_id result_type, void *user);
/* Sends the request; takes the call, also when it fails. */
int client_send(struct client_call *call, const char *method, acp_type_id type, const void *params,
                uint64_t timeout_ms);
/* The outcome of a reply, with its value decoded into the message's arena. */
struct acp_outcome client_outcome(struct client_call *call, const struct acp_reply *reply);
/* Settles by calling then.done. */
void client_settle_done(struct client_call *call, const struct acp_reply *reply);

/* client_session.c */
void client_end_session(struct acp_client_session *session, int reason);
void client_note_state(struct acp_client_session *session, const struct acp_state_update *state);
void client_end_turn(struct acp_client_session *session, struct acp_str stop,
                     const struct acp_outcome *outcome);

/* client_event.c */
void client_serve_update(struct acp_client *client, const struct acp_message *message);
void client_deliver_early(struct acp_client_session *session);
void client_forget_early(struct acp_client *client);
void client_emit_state(struct acp_client_session *session, enum acp_work_state state,
                       const struct acp_session_update *update, struct acp_raw raw);

/* client_answer.c */
void client_serve_request(struct acp_client *client, acp_call call,
                          const struct acp_message *message);
void client_withdraw(struct acp_client *client, acp_call call);
void client_drop_questions(struct acp_client_session *session);

#endif
