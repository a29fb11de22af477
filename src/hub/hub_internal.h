/*
 * hub_internal.h - the inside of a hub.
 *
 *   hub.c                 its life: clients, timers, shutting down
 *   hub_connection.c      bytes and messages of one connection, backpressure
 *   hub_requests.c        the requests that are open, by our number and by the sender's id
 *   hub_initialize.c      initialize of clients and agents, capabilities, logins
 *   hub_client.c          what clients send
 *   hub_agent.c           the life of an agent
 *   hub_agent_messages.c  what agents send
 *   hub_session.c         sessions: ids, states, who is attached
 *   hub_reopen.c          sessions whose agent has ended
 *   hub_events.c          events of shared sessions, and their delivery
 *   hub_questions.c       what agents ask of the clients of a shared session
 *   hub_list.c            session/list of all agents as one
 *   hub_workspace.c       which workspace a directory belongs to
 *   launch_plain.c        agents as child processes
 *
 * Ownership: the hub owns workspaces, agents and sessions.  A client belongs to the hub's owner.  A
 * request belongs to the connection that must answer it.
 */
#ifndef SRC_HUB_HUB_INTERNAL_H
#define SRC_HUB_HUB_INTERNAL_H

#include "acp/json.h"
#include "acp/wire.h"
#include "base/map.h"
#include "hub/hub.h"
#include "rpc/numbers.h"

enum {
    HUB_MAX_CLIENTS = 1024,
    HUB_MAX_AGENTS = 256,
    HUB_MAX_SESSIONS = 100000,
    HUB_MAX_OUTPUT = 256 * 1024 * 1024, /* unsent bytes of a connection; it is closed */
    HUB_HIGH_WATER = 1024 * 1024,       /* unsent bytes at which its sources are paused */
    HUB_LOW_WATER = HUB_HIGH_WATER / 4,
    HUB_KEEP_BYTES = 1024 * 1024,     /* a larger buffer is freed when it is empty */
    HUB_MAX_REQUESTS = 16384,         /* open at once, from a connection, and to a connection */
    HUB_MAX_REQUEST_ID = 4096,        /* bytes of an id */
    HUB_MAX_SESSION_ID = 1024,        /* bytes of an agent's session id */
    HUB_MAX_INITIALIZE = 1024 * 1024, /* of the request and of the response */
    HUB_MAX_SETUP = 64 * 1024,        /* params that open a session, kept to open it again */
    HUB_MAX_LOGIN = 64 * 1024,        /* an authenticate request, kept for further agents */
    HUB_MAX_WAITING = 1024,           /* messages that wait for an agent or a session */
    HUB_MAX_WAITING_BYTES = 64 * 1024 * 1024,
    HUB_MAX_EVENT_BYTES = 8 * 1024 * 1024, /* events in memory of a shared session */
    HUB_MAX_QUESTIONS = 256,               /* open in a shared session */
    HUB_MAX_LISTED = 10000,                /* entries of one answer to session/list */
    HUB_MAX_WORKSPACES = 10000, /* that are remembered because sessions in them were listed */
    HUB_MAX_CURSOR = 64 * 1024, /* bytes of a cursor */
};

enum {
    HUB_TAG_LENGTH = 32, /* characters of a session id that cannot be guessed */
    HUB_PUBLIC_ID_SIZE = HUB_TAG_LENGTH + 16 + 2 * HUB_MAX_SESSION_ID + 1,
};

enum {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    RPC_CANCELLED = -32800,
    RPC_AUTH_REQUIRED = -32000,
    RPC_NOT_FOUND = -32002,
};

/* The methods that the hub treats specially. */
enum hub_method {
    HUB_OTHER = 0,
    HUB_INITIALIZE,
    HUB_NEW,
    HUB_LOAD,
    HUB_RESUME,
    HUB_FORK,
    HUB_CLOSE,
    HUB_END, /* session/end of old clients */
    HUB_DELETE,
    HUB_LIST,
    HUB_PROMPT,
    HUB_CANCEL,         /* session/cancel, a notification */
    HUB_CANCEL_REQUEST, /* $/cancel_request, a notification */
    HUB_LOGIN,
    HUB_LOGOUT,
    HUB_UPDATE, /* session/update, a notification */
    HUB_PERMISSION,
    HUB_ELICITATION,
};

enum hub_method hub_method_of(struct acp_str method);
/* Its name in version 1; absent for HUB_OTHER. */
struct acp_str hub_method_name(enum hub_method method);

struct hub_agent;
struct hub_session;
struct hub_request;
struct hub_question;
struct hub_listing;

/* ---- Connections ----------------------------------------------------------------------------- */

enum hub_side { HUB_CLIENT, HUB_AGENT };

/* A received message: what the scan found, and the method without escapes. */
struct hub_message {
    struct acp_raw text;
    struct acp_scan scan;
    struct acp_str method_text; /* of a request or notification */
    enum hub_method method;
};

/* One end of the hub; the first member of struct hub_client and struct hub_agent. */
struct hub_connection {
    struct hub *hub;
    enum hub_side side;
    struct acp_endpoint *endpoint;
    struct acp_deframer frames;
    struct acp_buf out;
    struct acp_arena arena; /* for the message being served */
    bool closed;            /* nothing is received or sent any more */
    int reason;             /* for which it was closed */
    bool receiving;
    bool high; /* out rose above the high-water mark and has not fallen to the low one */

    struct acp_numbers asked; /* requests that this side must answer, by their number */
    uint64_t last_number;
    struct acp_map opened;        /* requests that this side has made, by their id */
    struct hub_request *requests; /* the same as a list */

    /* Backpressure: who is not read because its messages go to a connection that is high. */
    struct hub_connection *held_by;
    struct hub_connection *next_held;
    struct hub_connection *holds; /* the first of those that wait for this one */
};

int hub_connection_init(struct hub_connection *c, struct hub *hub, enum hub_side side);
void hub_connection_finish(struct hub_connection *c);
/* Gives up the connection: tells its agent or client.  Without effect on a closed one. */
void hub_connection_close(struct hub_connection *c, int reason);
/* The sender is not read until the receiver has sent enough; without effect unless it is high. */
void hub_connection_hold(struct hub_connection *sender, struct hub_connection *receiver);

/*
 * Sends a message with some of its spans replaced.  When it cannot be sent, the connection is
 * closed.
 */
void hub_send(struct hub_connection *to, struct acp_raw text, const struct acp_splice *splices,
              size_t count);
/* Appends the message like that to a buffer; splices may be NULL if count is 0. */
int hub_splice(struct acp_raw text, const struct acp_splice *splices, size_t count,
               struct acp_buf *out);
/* The same for a message that the hub writes itself. */
ACP_PRINTF(2, 3) void hub_send_text(struct hub_connection *to, const char *format, ...);
/* Answers a request that is not, or no longer, in the tables.  The text is one of ours. */
void hub_send_error(struct hub_connection *to, struct acp_raw id, int code, struct acp_str message);
/* Reads a message of c that was received before; false if it is none. */
bool hub_message_read(struct hub_connection *c, struct acp_raw text, struct hub_message *ret);
/* The text of a JSON string; absent if it is none.  Lives in the message or in the arena. */
struct acp_str hub_text_of(struct hub_connection *c, struct acp_raw span);

/* ---- Requests -------------------------------------------------------------------------------- */

/* The end of a request that the hub has made itself; message is NULL if there is no answer. */
typedef void hub_reply_fn(struct hub_request *request, const struct hub_message *message);

/* A request that was passed on, or made by the hub, and has no answer yet. */
struct hub_request {
    uint64_t number; /* its id towards `to`; first, for the table */
    struct hub_connection *to;
    struct hub_connection *from; /* NULL: the hub itself, or the sender has gone */
    struct hub_request *next;    /* of those from the same connection */
    struct hub_request **link;
    enum hub_method method;
    bool waiting;                  /* not sent yet */
    bool counted;                  /* among the turns or the questions of its session */
    struct hub_session *session;   /* which it is about; may be NULL */
    struct hub_question *question; /* of which it is one copy; may be NULL */
    struct hub_listing *listing;   /* of which it is one part; may be NULL */
    hub_reply_fn *reply;           /* of a request of the hub */
    char *setup; /* the params that open a session, or the text of a login; owned; may be NULL */
    size_t id_len;
    char id[]; /* as it came */
};

/*
 * Opens a request; id is absent for one of the hub.  ACP_ERR_LIMIT, ACP_ERR_STATE if `from` has an
 * open request with that id, ACP_ERR_NOMEM.
 */
int hub_request_open(struct hub_connection *from, struct acp_raw id, struct hub_connection *to,
                     enum hub_method method, struct hub_session *session, struct hub_request **ret);
/* It is a turn, or a question of the agent, of its session until it is closed. */
void hub_request_count(struct hub_request *request);
/* Removes and frees it, without an answer. */
void hub_request_close(struct hub_request *request);
/* Its sender has gone: the answer is for nobody. */
void hub_request_orphan(struct hub_request *request);
/* The request that `to` answers with this id. */
struct hub_request *hub_request_answered(const struct hub_connection *to, struct acp_raw id);
/* The request that `from` made with this id. */
struct hub_request *hub_request_made(const struct hub_connection *from, struct acp_raw id);
/* Ends it with an error: for its sender, or by reply(request, NULL); then closes it. */
void hub_request_fail(struct hub_request *request, int code, struct acp_str message);
/* Asks `to` to cancel it, if it was sent. */
void hub_request_send_cancel(struct hub_request *request);
/* The id with which the receiver knows it, as JSON. */
enum { HUB_NUMBER_SIZE = 24 };
struct acp_raw hub_number_text(uint64_t number, char buffer[HUB_NUMBER_SIZE]);

/* ---- Messages that wait ---------------------------------------------------------------------- */

/* A message of a client, for an agent that is not ready or a session that is not open. */
struct hub_waiting {
    struct hub_waiting *next;
    struct hub_request *request; /* NULL: a notification */
    struct hub_session *session; /* which it is about; may be NULL */
    size_t len;
    char text[];
};

struct hub_queue {
    struct hub_waiting *first;
    struct hub_waiting **end;
    size_t count;
    size_t bytes;
};

void hub_queue_init(struct hub_queue *queue);
/* ACP_ERR_LIMIT, ACP_ERR_NOMEM. */
int hub_queue_add(struct hub_queue *queue, struct hub_request *request, struct hub_session *session,
                  struct acp_raw text);
/* The first, to be freed by the caller; NULL if there is none. */
struct hub_waiting *hub_queue_take(struct hub_queue *queue);
/* Removes the message of a request, if it is there. */
void hub_queue_remove(struct hub_queue *queue, const struct hub_request *request);
/* Removes all messages, or those of a session; their requests fail. */
void hub_queue_fail(struct hub_queue *queue, const struct hub_session *session, struct acp_str why);
void hub_queue_finish(struct hub_queue *queue);

/* ---- Sessions -------------------------------------------------------------------------------- */

enum hub_session_state {
    HUB_SESSION_OPENING, /* the agent has not confirmed it */
    HUB_SESSION_IDLE,
    HUB_SESSION_RUNNING,   /* a turn runs */
    HUB_SESSION_WAITING,   /* a turn runs, and the agent waits for a client */
    HUB_SESSION_LOST,      /* its agent has ended; the next request opens it again */
    HUB_SESSION_REOPENING, /* that is under way */
    HUB_SESSION_CLOSED,
};

/* An event of a shared session; owned by it. */
enum hub_event_kind {
    HUB_EVENT_MESSAGE,  /* a notification, for all */
    HUB_EVENT_PROMPT,   /* an update that shows a client's prompt, for all others */
    HUB_EVENT_RESPONSE, /* for one client; its id is that of the client */
    HUB_EVENT_QUESTION, /* a request of the agent, for all as long as it is open */
};

struct hub_event {
    struct hub_event *next;
    uint64_t seq; /* 1, 2, 3... */
    enum hub_event_kind kind;
    /* The number of the receiver of a response, 0 once it was sent; of the author of a prompt. */
    uint64_t client;
    struct hub_question *question; /* NULL once it is settled */
    size_t len;
    char text[]; /* with our session id */
};

/* A client that is attached to a session. */
struct hub_attachment {
    struct hub_client *client;
    struct hub_session *session;
    struct hub_attachment *next_of_client;
    struct hub_attachment *next_of_session;
    struct hub_event *at; /* the last event that it got, of a shared session; NULL: none */
};

struct hub_session {
    struct hub *hub;
    struct hub_session *next; /* of the agent, or of the lost sessions */
    struct hub_session **link;
    enum hub_session_state state;
    bool own_id; /* the client knows it by the agent's id */
    struct hub_workspace *workspace;
    struct hub_agent *agent; /* NULL: LOST */
    struct hub_attachment *attachments;
    size_t turns;     /* prompts without an answer; in version 2, 1 while the agent is not idle */
    size_t questions; /* requests of the agent without an answer */
    char *setup;      /* the params that open it again, owned; NULL if it cannot be */
    struct hub_queue waiting; /* while it is REOPENING */

    /* Of a shared session: */
    struct hub_event *events;
    struct hub_event *last_event;
    uint64_t last_seq;
    size_t event_bytes;
    struct hub_question *open_questions;
    char *opened; /* the result with which it was opened, owned; may be NULL */

    struct acp_raw public_id; /* these two as JSON texts, with their quotes */
    struct acp_raw agent_id;
    struct acp_str agent_key; /* the agent's id as it is */
    char ids[];
};

/* What makes a session of an agent different from all others. */
struct hub_id {
    const char *workspace;
    unsigned copy; /* 0, unless agents of the workspace use the same ids */
    bool own;      /* the client knows it by the agent's id: it is older than the proxy */
    struct acp_str agent_id;
};

/* Writes our id, without quotes.  ACP_ERR_NOMEM. */
int hub_public_id(const struct hub *hub, const struct hub_id *id, char ret[HUB_PUBLIC_ID_SIZE],
                  size_t *ret_len);
/*
 * What is behind one of our ids in the workspace; false if it is not one.  The agent's id is in
 * the buffer.
 */
bool hub_agent_id(const struct hub *hub, const char *workspace, struct acp_str public_id,
                  char buffer[HUB_MAX_SESSION_ID], struct hub_id *ret);
/* By the text between the quotes; NULL if there is none. */
struct hub_session *hub_session_find(const struct hub *hub, struct acp_str public_id);
struct hub_session *hub_session_of_agent(struct hub_agent *agent, struct acp_str agent_id);
/*
 * A new session with that agent, OPENING; of id the workspace is not needed.  ACP_ERR_LIMIT: too
 * many, or the id is too long; ACP_ERR_STATE: the agent has one with this id; ACP_ERR_NOMEM.
 */
int hub_session_new(struct hub_agent *agent, const struct hub_id *id, struct hub_session **ret);
/* The only function that changes the state. */
void hub_session_set_state(struct hub_session *session, enum hub_session_state state);
/* IDLE, RUNNING or WAITING, by the counts. */
void hub_session_update(struct hub_session *session);
/* Removes it and frees it; requests that are about it lose it. */
void hub_session_free(struct hub_session *session);
/* Attaches a client that loads or resumes a shared session which is open, and answers it. */
void hub_session_join(struct hub_session *session, struct hub_client *client,
                      const struct hub_message *message);
/* Moves it to another agent; NULL: it is lost. */
void hub_session_move(struct hub_session *session, struct hub_agent *agent);
/* Its agent has ended, or is being ended: it is LOST. */
void hub_session_lose(struct hub_session *session);
/* Attaches a client, which then gets all events that are in memory.  ACP_ERR_NOMEM. */
int hub_session_attach(struct hub_session *session, struct hub_client *client);
struct hub_attachment *hub_session_attachment(const struct hub_session *session,
                                              const struct hub_client *client);
void hub_session_detach(struct hub_session *session, struct hub_client *client);
/* Asks the agent to end the turn that runs. */
void hub_session_cancel(struct hub_session *session);
/* Replaces the params that open it again by a copy of these; too long: by none. */
void hub_session_keep_setup(struct hub_session *session, struct acp_raw params);

/* Appends the agent's id, or ours, as a JSON string. */
int hub_write_id(struct acp_buf *out, struct acp_str id);

/* ---- hub_reopen.c ---------------------------------------------------------------------------- */

/*
 * Starts an agent for a lost session and opens the session with it; meanwhile messages wait.  The
 * sentence says why that is not possible.
 */
int hub_session_reopen(struct hub_session *session, struct acp_failure *failure);
/* Its agent is ready: it is asked to open the session. */
void hub_session_send_reopen(struct hub_session *session);
/*
 * Writes the params that open the session again, from those that have opened it.  ACP_ERR_MISSING
 * if they are no object.
 */
int hub_session_make_setup(const struct hub_session *session, struct acp_raw params,
                           struct acp_buf *out);
/* Sends session/close for a session that no client knows any more. */
void hub_session_send_close(struct hub_session *session);

/* ---- Agents ---------------------------------------------------------------------------------- */

enum hub_agent_state {
    HUB_AGENT_STARTING, /* initialize and, if necessary, the login have no answer yet */
    HUB_AGENT_READY,
    HUB_AGENT_DRAINING, /* it is being ended */
    HUB_AGENT_DEAD,
};

struct hub_workspace {
    struct hub_workspace *next;
    size_t uses; /* agents and sessions */
    bool kept;   /* counts as a use */
    char path[];
};

struct hub_capabilities {
    int64_t version;
    bool load;
    bool resume;
    bool list;
    bool close;
};

struct hub_agent {
    struct hub_connection connection; /* first */
    struct hub_agent *next;
    uint64_t serial;
    struct hub_workspace *workspace;
    struct hub_process *process;
    enum hub_agent_state state;
    struct hub_capabilities can;
    struct hub_queue waiting; /* while it is STARTING */
    struct hub_session *sessions;
    size_t session_count;
    struct acp_map by_id;           /* sessions by the agent's id */
    struct hub_session *last_found; /* of by_id: most messages are about the same session */
    uint64_t due_at;                /* when it has started too slowly, or was idle long enough */
    bool paused;
    char reason[200]; /* why it is being ended; empty: nothing is wrong */
};

/* The agent for a new session in the workspace; started if necessary. */
int hub_agent_get(struct hub *hub, const char *path, struct hub_agent **ret,
                  struct acp_failure *failure);
/* Passes a message of a client on, or keeps it until the agent is ready. */
void hub_agent_pass(struct hub_agent *agent, struct hub_request *request,
                    struct hub_session *session, const struct hub_message *message);
/* Sends one that is ready, with the ids of the request and the session. */
void hub_agent_send(struct hub_agent *agent, struct hub_request *request,
                    const struct hub_session *session, const struct hub_message *message);
/* The same for a session of which only the agent's id is known. */
void hub_agent_pass_id(struct hub_agent *agent, struct hub_request *request,
                       struct acp_str agent_id, const struct hub_message *message);
/* Sends the answer of a client to a request of the agent. */
void hub_agent_send_reply(struct hub_agent *agent, const struct hub_request *request,
                          const struct hub_message *message);
/* It is ready: what waits is sent. */
void hub_agent_set_ready(struct hub_agent *agent);
void hub_agent_send_queue(struct hub_agent *agent, struct hub_queue *queue);
/* Ends agents that start too slowly or have nothing to do. */
void hub_agents_tick(struct hub *hub);
/* Ends it; with a reason, which is told to everybody whose request fails. */
void hub_agent_stop(struct hub_agent *agent, const char *reason);
/* Counts the idle time from now on, or stops counting. */
void hub_agent_note_work(struct hub_agent *agent);
void hub_agent_pause(struct hub_agent *agent, bool pause);
void hub_agent_free(struct hub_agent *agent);
/* For hub_connection.c: the messages of an agent. */
void hub_agent_on_message(struct hub_agent *agent, const struct hub_message *message);
void hub_agent_on_reply(struct hub_agent *agent, struct hub_request *request,
                        const struct hub_message *message);

struct hub_workspace *hub_workspace_get(struct hub *hub, const char *path);
void hub_workspace_release(struct hub *hub, struct hub_workspace *workspace);
/* Remembers one that has no agent, up to a limit. */
void hub_workspace_keep(struct hub *hub, const char *path);
/* Starts hub->first, the agent that answers what is about no session. */
int hub_start_first(struct hub *hub, struct acp_failure *failure);
/* The same unless any agent runs. */
int hub_need_agent(struct hub *hub, struct acp_failure *failure);

/* ---- hub_initialize.c ------------------------------------------------------------------------ */

void hub_initialize_client(struct hub_client *client, const struct hub_message *message);
/* Sends initialize to an agent that was started. */
void hub_initialize_agent(struct hub_agent *agent);
/* The answer of an agent to a login was good: later agents get the same request. */
void hub_keep_login(struct hub *hub, const struct hub_request *request);
void hub_fail_initialize(struct hub *hub, struct acp_str why);

/* ---- Clients --------------------------------------------------------------------------------- */

enum hub_client_state {
    HUB_CLIENT_NEW,
    HUB_CLIENT_INITIALIZING, /* the agent is being asked */
    HUB_CLIENT_INITIALIZED,
    HUB_CLIENT_CLOSING,
};

struct hub_client {
    struct hub_connection connection; /* first */
    struct hub_client *next;
    uint64_t number;
    enum hub_client_state state;
    struct hub_attachment *attachments;
    struct hub_agent *wants_login; /* the last that has answered "authentication required" */
    char *initialize_id;           /* of its request; while INITIALIZING */
    struct hub_queue early;        /* what it sends while it is INITIALIZING */
};

void hub_client_on_message(struct hub_client *client, const struct hub_message *message);
/* It is initialized, or may try again: what it has sent meanwhile is served. */
void hub_client_serve_early(struct hub_client *client);
void hub_client_on_reply(struct hub_client *client, struct hub_request *request,
                         const struct hub_message *message);
void hub_client_set_state(struct hub_client *client, enum hub_client_state state);
/* Its requests, its questions and its sessions are given up. */
void hub_client_drop(struct hub_client *client);

/* ---- hub_events.c ---------------------------------------------------------------------------- */

/*
 * Sends a message to the clients of a session: at once, or in a shared session as an event.  The
 * splices put our ids in.
 */
void hub_session_tell(struct hub_session *session, struct acp_raw text,
                      const struct acp_splice *splices, size_t count);
/* The answer to a client's request that is about a session, in its place among the events. */
void hub_session_answer(struct hub_session *session, struct hub_connection *to, struct acp_raw text,
                        const struct acp_splice *splices, size_t count);
/* Shows a client's prompt to the others of a shared session. */
void hub_session_show_prompt(struct hub_session *session, const struct hub_client *author,
                             struct acp_raw params);
int hub_session_add_event(struct hub_session *session, enum hub_event_kind kind,
                          const struct hub_client *client, struct acp_raw text,
                          const struct acp_splice *splices, size_t count, struct hub_event **ret);
/* Sends a client what it has not got yet, as much as it takes. */
void hub_attachment_deliver(struct hub_attachment *attachment);
void hub_session_deliver(struct hub_session *session);
/* Sends the answers among the events that clients have not got: there will be no more events. */
void hub_session_send_answers(struct hub_session *session);
/* Frees events that nobody waits for when there are too many. */
void hub_session_trim(struct hub_session *session);

/* ---- hub_questions.c ------------------------------------------------------------------------- */

/* A request of an agent that all clients of a shared session may answer. */
struct hub_question {
    struct hub_question *next;
    struct hub_session *session;
    struct hub_request *asked; /* by the agent; answers it once */
    struct hub_event *event;
    size_t copies; /* requests to clients that have no answer yet */
};

void hub_question_ask(struct hub_session *session, const struct hub_message *message);
/* A client has got the event: it is asked now. */
void hub_question_send(struct hub_question *question, struct hub_client *client);
void hub_question_answer(struct hub_request *copy, const struct hub_message *message);
/* A client that was asked answers no more. */
void hub_question_drop_copy(struct hub_request *copy);
void hub_session_unask(struct hub_session *session, struct hub_client *client);
/* Its agent or its session has ended. */
void hub_question_withdraw(struct hub_question *question);
/* Its agent has asked to cancel it. */
void hub_question_cancel(struct hub_question *question);

/* ---- hub_list.c ------------------------------------------------------------------------------ */

void hub_list(struct hub_client *client, const struct hub_message *message);
void hub_list_reply(struct hub_request *request, const struct hub_message *message);
/* Answers listings that have waited long enough. */
void hub_list_tick(struct hub *hub);
uint64_t hub_list_deadline(const struct hub *hub);
/* The client that has asked is gone. */
void hub_list_drop(struct hub *hub, const struct hub_request *asked);

/* ---- The hub --------------------------------------------------------------------------------- */

enum hub_state { HUB_OPEN, HUB_SHUTTING_DOWN, HUB_ENDED };

struct hub {
    struct hub_options options;
    struct hub_handler handler;
    void *user;
    enum hub_state state;
    uint64_t now;
    uint64_t stop_at; /* while SHUTTING_DOWN */
    uint64_t wake_at; /* the deadline that the owner knows */

    bool has_line_ends; /* a connection has messages that are not lines */

    struct hub_client *clients;
    size_t client_count;
    uint64_t last_client;
    struct hub_workspace *workspaces;
    size_t kept_workspaces;
    struct hub_agent *agents;
    size_t agent_count;
    uint64_t last_agent;
    struct hub_session *lost;
    struct acp_map sessions; /* by our id */
    struct hub_listing *listings;

    struct hub_agent *first;    /* the agent that answers initialize; NULL: it has not been asked */
    struct acp_buf initialize;  /* the request of the first client */
    struct acp_buf initialized; /* the answer, with another id; empty: there is none yet */
    int64_t version;
    struct acp_buf login; /* the request of the last login that succeeded */
};

void hub_advance(struct hub *hub, uint64_t now);
/* The deadline may have changed. */
void hub_wake(struct hub *hub);
/* An agent has gone. */
void hub_check_ended(struct hub *hub);
/* An agent has answered a request; it is stopped if that was the last before the end. */
void hub_agent_answered(struct hub_agent *agent);
ACP_PRINTF(4, 5)
void hub_log(struct hub *hub, enum hub_log_level level, const struct hub_agent *agent,
             const char *format, ...);
/* The same about a session. */
ACP_PRINTF(3, 4)
void hub_session_log(const struct hub_session *session, enum hub_log_level level,
                     const char *format, ...);
/* A copy that the caller frees; NULL if it is longer than that, or out of memory. */
char *hub_copy(struct acp_raw text, size_t most);

#endif
