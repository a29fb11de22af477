/*
 * agent_role.h - the inside of the agent's role.
 *
 *   agent.c             the connection: which method goes where, answers, notifications
 *   agent_initialize.c  the first exchange: the version, what is offered, logging in
 *   agent_session.c     sessions: new, load, resume, fork, list, close, delete
 *   agent_reopen.c      sessions that are opened once more while they are open
 *   agent_setup.c       modes, options and commands of a session
 *   agent_dialect.c     what the program says, turned into the version at hand
 *   agent_check.c       what may be sent: what the client offered, absolute paths
 *   agent_update.c      what is sent for a session; merging of text
 *   agent_keep.c        what is said waits until the program has kept it
 *   agent_replay.c      logged updates, replayed
 *   agent_history.c     the updates of an agent that cannot load a session, for a replay
 *   agent_tool.c        tool calls and terminals, and cancelling one of them
 *   agent_state.c       what a version 2 client is told of a session's state
 *   agent_turn.c        prompts: their beginning, cancellation and end
 *   agent_ask.c         what a turn asks of the client
 */
#ifndef LIB_ROLE_AGENT_ROLE_H
#define LIB_ROLE_AGENT_ROLE_H

#include "acp/agent.h"
#include "base/copy.h"
#include "base/map.h"
#include "rpc/endpoint.h"

/* What a client can make an agent keep; docs/limits.md says what happens at each limit. */
enum {
    /* Prompts that a version 2 client sends while a turn runs: in a session, and bytes in all. */
    AGENT_MAX_HELD = 16,
    AGENT_MAX_HELD_BYTES = 64 * 1024 * 1024,
    /* The roots of a session, and the length of each path. */
    AGENT_MAX_DIRECTORIES = 128,
    AGENT_MAX_PATH = 4096,
    /* The params of initialize as text, and a prompt's _meta. */
    AGENT_MAX_INITIALIZE = 1024 * 1024,
    AGENT_MAX_META = 1024 * 1024,
    /* Structs are larger than the JSON they come from: [{},{},...] by two orders of magnitude. */
    AGENT_MAX_KEPT = 16 * 1024 * 1024,
    AGENT_MAX_DECODED = 192 * 1024 * 1024,
};

enum { AGENT_ID_SIZE = 48 };

struct held_prompt {
    struct held_prompt *next;
    acp_call call;
    size_t len;
    char params[];
};

enum session_state {
    SESSION_OPENING, /* the program has not accepted it yet; as new, nothing may be sent */
    SESSION_LOADING, /* likewise, but its history may be sent */
    SESSION_READY,
};

/* A text that sessions share; most of them are set up alike. */
struct shared_text {
    size_t refs;
    size_t len;
    char text[];
};

/* What kind of text the session is in the middle of. */
enum speaker { SPEAKER_NONE, SPEAKER_USER, SPEAKER_AGENT, SPEAKER_THOUGHT };

struct agent_history {
    struct acp_buf updates; /* a length and the text of each */
    bool lost;              /* it went over its limit and was forgotten */
};

struct acp_session {
    struct acp_agent *agent;
    char *id; /* NULL until it has one; in id_room where it fits */
    char id_room[AGENT_ID_SIZE];
    struct acp_session *next_pending; /* while it is not in agent->sessions */
    struct acp_str *directories;
    size_t directory_count;
    enum session_state state;
    acp_call opening;              /* the request that waits for it to be accepted */
    struct acp_session *replaces;  /* open under the same id until this one is accepted, or NULL */
    struct acp_session *successor; /* the one that replaces it once accepted, or NULL */
    int opening_method;            /* enum acp_method_id */
    void *user;
    struct acp_turn *turn;
    uint64_t turns;           /* begun so far */
    struct held_prompt *held; /* oldest first */
    enum speaker speaker;     /* whose message is open */
    char *message;            /* its id; in message_room where it fits */
    char message_room[AGENT_ID_SIZE];
    struct acp_buf text; /* what of it has not been sent yet */
    uint64_t text_due;   /* when it must be; 0: merge_ms after the next time that is told */
    bool is_merging;     /* text is in agent->merging */
    struct acp_session *next_merging;
    struct acp_map tools;     /* ids of tool calls that have begun, and which can be cancelled */
    struct acp_map terminals; /* ids of terminals that can be cancelled */
    struct acp_map replayed;  /* messages of the history that have begun (version 2) */
    struct acp_buf waiting;   /* updates kept for the next prompt: a length and the text of each */
    struct agent_history history;
    struct shared_text *setup;     /* what a version 2 client was told, as JSON; NULL: nothing */
    bool made_mode;                /* one of its options stands for the modes */
    char *background;              /* as the JSON of a state; NULL: never told */
    enum acp_state_update_is told; /* the state that the client knows; 0: idle from the start */
    char cwd[];
};

struct acp_turn {
    struct acp_session *session;
    uint64_t number; /* tells it from a later turn at the same address */
    acp_call call;   /* the prompt; 0 once it is answered (version 2) */
    bool cancelled;
    unsigned questions; /* to the user, that are open */
    bool busy;          /* works on meanwhile */
    bool blocked;       /* the client was told that it waits for the user */
    bool has_usage;
    struct acp_usage usage;
    struct ask *asks;
    char *meta;                  /* the prompt's, or NULL */
    char *own_meta;              /* what goes beside the updates, or NULL */
    char message[AGENT_ID_SIZE]; /* the id of the user's message */
    void *user;
};

/* A request of a turn to the client. */
struct ask {
    struct ask *next;
    struct acp_turn *turn; /* NULL when it is settled or its turn is gone */
    uint64_t request;
    bool is_question; /* the user is to answer it */
    void (*settle)(struct ask *ask, const struct acp_reply *reply);
    union {
        acp_permission_fn *permission;
        acp_elicitation_fn *elicitation;
        acp_text_fn *text;
        acp_result_fn *result;
    } answer;
    void *user;
    acp_type_id result_type;
    size_t option_count; /* of a permission request: what was offered */
    struct acp_permission_option *options;
};

/* What is sent from this place in the stream on waits for that number. */
struct hold {
    uint64_t from;
    uint64_t number; /* 0: nothing waits */
};

struct acp_agent {
    struct acp_agent_options options;
    struct acp_agent_handler handler;
    void *user;
    struct acp_peer *peer;
    struct acp_endpoint endpoint;
    unsigned mode; /* 0 before initialize */
    bool served;   /* a request other than initialize was taken */
    bool closing;
    bool freeing;
    bool closed_told;
    struct acp_arena arena; /* for the message at hand */
    struct acp_arena kept;  /* for what initialize said */
    const struct acp_client_capabilities *client;
    struct acp_raw meta; /* of the message that is being served */
    bool has_acp_server; /* the client has handed over an MCP server that is reached through it */
    struct acp_map sessions;
    struct acp_map texts;        /* that sessions share */
    struct acp_session *pending; /* sessions without an id, or whose id an open one still has */
    size_t held_bytes;           /* of the prompts that wait, in all sessions */
    uint64_t next_session;
    uint64_t next_message; /* of all sessions: one that is opened again must not repeat its ids */
    uint64_t now;          /* the latest that was told */
    unsigned timed;        /* depth of calls that have told it: within them it is true */
    bool unarmed;          /* text is being merged whose time counts from the next that is told */
    struct acp_session *merging; /* sessions with text to send, the earliest due first */
    struct acp_session *last_merging;
    uint64_t sent;          /* bytes, since the beginning */
    struct hold holding[2]; /* agent_keep.c */
    /* While before_update runs, of any session. */
    const struct acp_session_update *update;
    struct acp_buf update_json;       /* empty until the program asks for it */
    struct acp_agent_observer *watch; /* or NULL */
};

static inline bool agent_is_v2(const struct acp_agent *agent)
{
    return agent->mode & ACP_V2;
}

/* Whether the turn of that number is still at work: callbacks may have ended it. */
static inline bool agent_turn_goes_on(const struct acp_session *session, uint64_t number)
{
    return session->turn && session->turn->number == number;
}

/* Whether the client can use it: one that is being reopened has to wait for the program. */
static inline bool agent_is_usable(const struct acp_session *session)
{
    return session && session->state == SESSION_READY && !session->successor;
}

/* Whether it is one of one's own: such names belong to nobody else. */
static inline bool agent_is_custom(struct acp_str method)
{
    return method.len > 0 && method.ptr[0] == '_';
}

static inline bool agent_is_absolute(struct acp_str path)
{
    return path.len > 0 && path.ptr[0] == '/';
}

/* Whether the unstable service is offered in this connection. */
static inline bool agent_offers(const struct acp_agent *agent, unsigned service)
{
    return (agent->mode & ACP_UNSTABLE) && (agent->options.services & service);
}

/* agent.c */
extern const struct acp_endpoint_handler agent_endpoint_handler;
int agent_refuse(struct acp_agent *agent, acp_call call, int64_t code, const char *format, ...)
    ACP_PRINTF(4, 5);
int agent_refuse_failure(struct acp_agent *agent, acp_call call, const struct acp_failure *failure);
int agent_refuse_session(struct acp_agent *agent, acp_call call, struct acp_str id);
int agent_refuse_missing(struct acp_agent *agent, acp_call call, struct acp_str id,
                         struct acp_str message);
/* Answers without asking whether the type is the method's result. */
int agent_answer(struct acp_agent *agent, acp_call call, acp_type_id type, const void *value);
/* Begins a request that the gates have let pass, writes its params and sends it. */
int agent_send_request(struct acp_agent *agent, const struct acp_request *request, acp_type_id type,
                       const void *params, uint64_t *ret_request);

/* agent_initialize.c */
void agent_serve_initialize(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_authenticate(struct acp_agent *agent, acp_call call, struct acp_raw params,
                              acp_type_id type);

/* agent_session.c: the requests about sessions */
void agent_serve_new(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_load(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_resume(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_fork(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_list(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_close(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_delete(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_end_session(struct acp_session *session);

/* agent_reopen.c */
void agent_leave_pending(struct acp_session *session);
/* The open session that it was to replace stays as it is. */
void agent_leave_replaced(struct acp_session *session);
/* Gives the session the id of an open one, which keeps it until the new one is accepted. */
int agent_set_replaced(struct acp_session *session, struct acp_session *old);
/*
 * The session is accepted: the one that it replaces ends.  False when the program has closed the
 * connection at that; the session is gone then.
 */
bool agent_replace(struct acp_session *session);

/* agent_setup.c */
void agent_serve_set_mode(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_set_option(struct acp_agent *agent, acp_call call, struct acp_raw params);
/*
 * What a version 2 client was last told of options and commands, to be replayed: in
 * the message's arena, empty when it was told nothing.
 */
int agent_keep_setup(struct acp_session *session, const struct acp_resume_session_response *told);
struct acp_resume_session_response agent_kept_setup(const struct acp_session *session);
/* The same for an update that the program made itself. */
void agent_note_setup(struct acp_session *session, const struct acp_session_update *update);
void agent_forget_setup(struct acp_session *session);

/* agent_dialect.c: what the program says, as the version at hand has it; in the message's arena */
/* mode is an option that stands for the modes; NULL: none. */
struct acp_session_config_option_list agent_dialect_options(
    struct acp_agent *agent, struct acp_session_config_option_list options,
    const struct acp_session_config_option *mode);
/* The modes of version 1 as an option of version 2. */
int agent_dialect_modes(struct acp_agent *agent, struct acp_session_mode_list modes,
                        struct acp_str current, struct acp_session_config_option *ret);
/* Whether the program offers its modes as an option itself. */
bool agent_has_mode_option(struct acp_session_config_option_list options);
/* Whether the client can show an option that is on or off. */
bool agent_takes_booleans(const struct acp_agent *agent);
struct acp_available_command_v2_list agent_dialect_commands(
    struct acp_agent *agent, struct acp_available_command_list commands);
int agent_dialect_tool(struct acp_agent *agent, const struct acp_tool_call_update *update,
                       struct acp_tool_call_update *ret);

/* agent_check.c: 0, ACP_ERR_STATE for what the client did not offer, ACP_ERR_ARGUMENT for paths */
int agent_check_update(const struct acp_session *session, const struct acp_session_update *update);
int agent_check_tool(const struct acp_agent *agent, const struct acp_tool_call_update *tool);
int agent_check_request(const struct acp_agent *agent, struct acp_str method, acp_type_id type,
                        const void *params);
int agent_check_notification(const struct acp_agent *agent, struct acp_str method, acp_type_id type,
                             const void *params);

/* agent_update.c */
bool agent_may_send(const struct acp_session *session);
int agent_send_update(struct acp_session *session, const struct acp_session_update *update);
/*
 * Calls before_update, unless the session is being loaded.  Returns the update as JSON if the
 * program has asked for it; valid until the next call.  Otherwise absent.
 */
struct acp_raw agent_before_update(struct acp_session *session,
                                   const struct acp_session_update *update);
/* The same for one that ends the message that is open. */
int agent_send_between(struct acp_session *session, const struct acp_session_update *update);
/* Sends the text that is being merged. */
int agent_flush_text(struct acp_session *session);
/* That of all sessions: what is sent next must not overtake it. */
void agent_flush_all(struct acp_agent *agent);
/* The message that is open is complete; what is said next is another one. */
void agent_end_message(struct acp_session *session);
void agent_release_waiting(struct acp_session *session);
void agent_forget_text(struct acp_session *session);
/* Frees the buffer that text is merged in, unless there is some: an idle session needs none. */
void agent_free_text_buffer(struct acp_session *session);
void agent_make_message_id(struct acp_session *session, char id[AGENT_ID_SIZE]);

/* agent_keep.c */
/* What of the peer's output may be sent. */
struct acp_str agent_free_output(const struct acp_agent *agent);

/* agent_history.c; version 2, for an agent without load_session */
void agent_record_update(struct acp_session *session, const struct acp_session_update *update);
/* Sends again what a session that is ready has sent.  ACP_ERR_LIMIT when that is forgotten. */
int agent_replay_history(struct acp_session *session);

/* agent_tool.c */
/* Remembers what the update of a tool call or a terminal says, and corrects what it offers. */
int agent_note_tool(struct acp_session *session, struct acp_tool_call_update *tool);
int agent_note_terminal(struct acp_session *session, struct acp_terminal_update *terminal);
void agent_serve_cancel_tool(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_cancel_terminal(struct acp_agent *agent, acp_call call, struct acp_raw params);

/* agent_state.c; version 2 only */
int agent_send_state(struct acp_session *session, enum acp_state_update_is state);
int agent_send_idle(struct acp_turn *turn, enum acp_idle_state_update_is stop,
                    const struct acp_error *error);
/* Sends again the state that the client knows. */
int agent_repeat_state(struct acp_session *session);
/* A state that the program tells: with the background that it told before. */
void agent_note_state(struct acp_session *session, struct acp_state_update *state);
/* A question to the user was asked (1) or is settled (-1). */
void agent_count_question(struct acp_turn *turn, int change);

/* agent_turn.c */
void agent_serve_prompt(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_serve_cancel(struct acp_agent *agent, struct acp_raw params);
void agent_serve_cancel_request(struct acp_agent *agent, acp_call call, struct acp_raw params);
void agent_cancel_turn(struct acp_turn *turn);
/* Cancels what the session has open: its turn and the prompts that wait. */
void agent_cancel_work(struct acp_session *session);
/* The same, and ends the turn if the program has not. */
void agent_drop_work(struct acp_session *session);

/* agent_ask.c */
/* False when the program has meanwhile ended the turn, or closed the connection. */
bool agent_settle_asks(struct acp_turn *turn, int err);

#endif
