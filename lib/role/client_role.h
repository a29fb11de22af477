/*
 * client_role.h - the inside of the client's role.
 *
 *   client.c           the connection: initialize, what comes in, the end
 *   client_request.c   requests and their outcomes, what may be sent, logging in
 *   client_open.c      opening sessions
 *   client_session.c   sessions: their life, listing and closing them
 *   client_turn.c      prompts, cancellation, the one end of a turn
 *   client_settings.c  modes, options and commands
 *   client_event.c     what the agent reports, as events of either version
 *   client_early.c     reports on sessions that are not known yet
 *   client_answer.c    what the agent asks
 */
#ifndef LIB_ROLE_CLIENT_ROLE_H
#define LIB_ROLE_CLIENT_ROLE_H

#include "acp/client.h"
#include "base/copy.h"
#include "base/map.h"

/* What an agent can make a client keep; docs/limits.md says what happens at each limit. */
enum {
    /* Updates for sessions that are not known yet are held; so much, then the oldest go. */
    CLIENT_MAX_EARLY = 1024 * 1024,
    /* How many tool calls, and how many terminals, of a session are known to be cancellable. */
    CLIENT_MAX_CANCELLABLE = 4096,
    /* An id that is kept: of a session, a mode, a tool call or a terminal that can be cancelled. */
    CLIENT_MAX_ID = 1024,
    /* The answer to initialize, and the message that tells options or modes, as text. */
    CLIENT_MAX_INITIALIZE = 1024 * 1024,
    CLIENT_MAX_SETTINGS = 1024 * 1024,
    /* Structs are larger than the JSON they come from: [{},{},...] by two orders of magnitude. */
    CLIENT_MAX_KEPT = 16 * 1024 * 1024,
    CLIENT_MAX_DECODED = 192 * 1024 * 1024,
    /* Permission requests that are open, and the options that each offers. */
    CLIENT_MAX_QUESTIONS = 1024,
    CLIENT_MAX_OPTIONS = 100,
    CLIENT_MAX_OPTION_BYTES = 64 * 1024,
};

/* An update as it came, with the _meta beside it, which may be absent. */
struct client_update {
    struct acp_raw update;
    struct acp_raw meta;
};

struct early_update {
    struct early_update *next;
    size_t session_len;
    size_t update_len;
    size_t meta_len; /* 0: absent */
    char bytes[];    /* the session's id, the update, the _meta */
};

/* A permission request that waits for the program: in its session's list, and by its call. */
struct question {
    struct question *next;
    struct question **link; /* what points to it */
    struct acp_client_session *session;
    acp_call call;
    size_t option_count; /* ids of the options that were offered, each a copy */
    struct acp_str *options;
};

/* What may be set in a session, as last told, in the words of version 1. */
struct settings {
    struct acp_arena modes_arena;
    struct acp_arena options_arena;
    struct acp_session_mode_list modes;
    struct acp_session_config_option_list options;
    struct acp_str mode_option; /* the id of the option that is the mode; absent: none */
    bool by_set_mode;           /* modes are set by session/set_mode, not by an option */
    char *mode;                 /* the current one; NULL: none */
};

struct acp_client_session {
    struct acp_client *client;
    char *id;
    char *cwd;
    void *user;
    bool gone;        /* it is being ended, and no longer among client->sessions */
    bool open;        /* the agent has said so */
    unsigned openers; /* requests to open it that wait for their answer */
    enum acp_session_state state;
    /* The turn that runs. */
    bool prompting;
    acp_turn_fn *end; /* may be NULL */
    void *end_user;
    bool accepted;  /* version 2: its response has come */
    bool worked;    /* version 2: the agent has begun since it was sent */
    bool cancelled; /* we have asked for its end */
    char *stop;     /* version 2: why it stopped, should that be told before the response */
    struct question *questions;
    struct settings settings;
    /* Ids of what can be cancelled by itself, as of now. */
    struct acp_map cancellable_tools;
    struct acp_map cancellable_terminals;
    struct acp_client_session_observer *watches;
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
    char *id;   /* of the session that it is about, or NULL */
    char *cwd;  /* of a session that is being opened */
    char *mode; /* that is being set */
};

struct acp_client {
    struct acp_client_options options;
    struct acp_client_handler handler;
    void *user;
    struct acp_peer *peer;
    unsigned mode;
    bool starting;
    bool closing;
    bool freeing;
    bool closed_told;
    bool serves_mcp;        /* an MCP server that lives in the client was handed over */
    struct acp_arena arena; /* for the message at hand */
    struct acp_arena kept;  /* for what initialize answered */
    struct acp_initialize_response agent;
    struct acp_map sessions;
    struct acp_map questions;   /* by their calls */
    struct early_update *early; /* oldest first */
    struct early_update **early_end;
    size_t early_bytes;
    bool early_lost;   /* some were dropped, and the program knows */
    char *meta;        /* that requests carry; NULL: none */
    char *close_words; /* why the connection is closed, for people; may be NULL */
    char why[240];     /* the last call failed at once */
};

static inline bool client_is_v2(const struct acp_client *client)
{
    return client->mode & ACP_V2;
}

/* client_request.c */
/* An error of ours as an outcome. */
struct acp_outcome client_failed(const struct acp_client *client, int err);
/* What a reply says, before its value is looked at. */
struct acp_outcome client_reply_outcome(struct acp_client *client, const struct acp_reply *reply);
/* Notes why a call fails at once; returns err. */
int client_decline(struct acp_client *client, int err, const char *format, ...) ACP_PRINTF(3, 4);
/* Notes the text of the error as the reason; returns err, which may be 0. */
int client_fail(struct acp_client *client, int err);
/* Whether the agent has the capability of that path: of version 1, of version 2. */
bool client_has(const struct acp_client *client, const char *v1, const char *v2);
/* 0 when the version has the method and the agent offers it; otherwise ACP_ERR_STATE. */
int client_may(struct acp_client *client, const char *method);
struct client_call *client_call_new(struct acp_client *client,
                                    void (*settle)(struct client_call *, const struct acp_reply *),
                                    acp_type_id result_type, void *user);
void client_call_free(struct client_call *call);
/* Sends the request; takes the call, also when it fails. */
int client_send(struct client_call *call, struct acp_str method, acp_type_id type,
                const void *params, uint64_t timeout_ms);
/* Sends a request whose outcome goes to done. */
int client_send_done(struct acp_client *client, struct acp_str method, acp_type_id params_type,
                     const void *params, acp_type_id result_type, acp_client_fn *done, void *user);
int client_send_note(struct acp_client *client, struct acp_str method, acp_type_id type,
                     const void *params);
/* The outcome of a reply, with its value decoded into the message's arena. */
struct acp_outcome client_outcome(struct client_call *call, const struct acp_reply *reply);
/* Settles by calling then.done. */
void client_settle_done(struct client_call *call, const struct acp_reply *reply);

/* client_session.c */
struct acp_client_session *client_add_session(struct acp_client *client, struct acp_str id,
                                              struct acp_str cwd);
void client_end_session(struct acp_client_session *session, int reason);
/* Takes back what client_add_session() did, when nobody has heard of it. */
void client_remove_session(struct acp_client_session *session);

/* client_turn.c */
void client_note_state(struct acp_client_session *session, const struct acp_state_update *state);
void client_end_turn(struct acp_client_session *session, struct acp_str stop,
                     const struct acp_outcome *outcome);
/* What an update says of whether something can be cancelled by itself. */
void client_note_tool(struct acp_client_session *session, const struct acp_tool_call_update *tool);
void client_note_terminal(struct acp_client_session *session,
                          const struct acp_terminal_update *terminal);

/* client_settings.c */
/* Keeps what the answer that opened a session says; from is its text.  ACP_ERR_NOMEM. */
int client_take_settings(struct acp_client_session *session, acp_type_id type, const void *answer,
                         struct acp_raw from);
/* Shows it. */
void client_emit_settings(struct acp_client_session *session, acp_type_id type, const void *answer);
/* Updates; the event has the update, and gets its kind. */
void client_emit_options(struct acp_client_session *session, struct acp_event *event,
                         acp_type_id type, struct acp_raw from);
void client_emit_mode(struct acp_client_session *session, struct acp_event *event,
                      struct acp_str mode);
void client_emit_commands(struct acp_client_session *session, struct acp_event *event,
                          struct acp_available_command_list commands,
                          struct acp_available_command_v2_list commands_v2);
void client_forget_settings(struct acp_client_session *session);

/* client_event.c */
void client_emit(struct acp_client_session *session, const struct acp_event *event);
void client_serve_update(struct acp_client *client, const struct acp_message *message);
void client_deliver(struct acp_client_session *session, const struct client_update *from);
void client_emit_state(struct acp_client_session *session, enum acp_session_state state,
                       const struct acp_event *from);

/* client_early.c */
void client_hold_early(struct acp_client *client, struct acp_str session,
                       const struct client_update *update);
/* Delivers what was held for the session; false when there was nothing. */
bool client_deliver_early(struct acp_client_session *session);
void client_forget_early(struct acp_client *client);

/* client_answer.c */
void client_serve_request(struct acp_client *client, acp_call call,
                          const struct acp_message *message);
void client_withdraw(struct acp_client *client, acp_call call);
void client_drop_questions(struct acp_client_session *session);

#endif
