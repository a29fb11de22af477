/*
 * hub.h - clients on one side, agents on the other, sessions between them.
 *
 * `acp proxy` is a hub with one client on standard input and output.  A hub speaks ACP on both
 * sides: to a client it is an agent, to an agent a client, so hubs can be chained.
 *
 *   client                      hub                              agent
 *   initialize           ──►    asks the first agent      ──►    initialize
 *   session/new          ──►    workspace of cwd          ──►    an agent for that workspace
 *   {id:7, "sessionId":S}       request and session ids          {id:1, "sessionId":A}
 *
 * Messages are scanned and spliced: request ids and session ids are replaced, every other byte is
 * passed on as it came.
 *
 * A hub does no I/O and has no clock.  Clients are endpoints (acp/endpoint.h) that a link drives;
 * agents are started by a launcher, which gets an endpoint to connect them to.  The owner calls
 * hub_tick() at hub_deadline().
 *
 * Everything belongs to one thread.  Callbacks run inside calls into the hub or its endpoints, and
 * must not free the hub.
 */
#ifndef SRC_HUB_HUB_H
#define SRC_HUB_HUB_H

#include "acp/endpoint.h"
#include "acp/scan.h"
#include "workspace/beneath.h"

struct hub;
struct hub_client;

/* ---- Launchers ------------------------------------------------------------------------------- */

struct hub_process;

/*
 * Translates paths between a client and an agent whose files have other names, message by message.
 * Each function appends the whole message to out, with typed fields changed and all else as it is;
 * method is that of the message, or of the request that it answers.  A negative acp_err refuses the
 * message; its sender is told.
 */
struct hub_path_map {
    int (*to_agent)(void *user, struct acp_str method, const struct acp_scan *scan,
                    struct acp_raw text, struct acp_buf *out);
    int (*to_client)(void *user, struct acp_str method, const struct acp_scan *scan,
                     struct acp_raw text, struct acp_buf *out);
    void *user;
};

/* What the hub wants to know of an agent that was started. */
struct hub_process_handler {
    /* A line that it wrote to standard error. */
    void (*errors)(struct acp_str line, void *user);
    /*
     * It has ended, and all its output was passed on; the sentence says how, with its last words.
     * The hub frees the process in this callback.
     */
    void (*ended)(struct acp_str sentence, void *user);
};

/* What the hub does with it. */
struct hub_process_class {
    /* Stops (true) and resumes (false) reading its output, so that it has to wait. */
    void (*pause)(struct hub_process *process, bool pause);
    /* Ends it: closes its input, then signals, each with a deadline.  `ended` is called. */
    void (*stop)(struct hub_process *process);
    /* Ends it at once and frees it; nothing is called back. */
    void (*free)(struct hub_process *process);
};

/* The first member of what a launcher makes. */
struct hub_process {
    const struct hub_process_class *class;
    /* NULL: paths are the same on both sides.  Set by the launcher. */
    const struct hub_path_map *paths;
};

/* An agent to start.  Texts are valid during the call, endpoint and user until it has ended. */
struct hub_launch {
    const char *workspace; /* absolute; the agent starts in it */
    struct acp_endpoint *endpoint;
    const struct hub_process_handler *handler;
    void *user;
};

/* How agents are started; the first member of every launcher. */
struct hub_launcher {
    /*
     * Starts an agent; handler functions are called later, never inside this.  On error, failure
     * has a sentence for the client.
     */
    int (*start)(struct hub_launcher *launcher, const struct hub_launch *launch,
                 struct hub_process **ret, struct acp_failure *failure);
    /*
     * The workspace of a session in cwd.  ACP_ERR_UNKNOWN if cwd is not an existing directory or
     * may not be used, with a sentence in failure.
     */
    int (*find_workspace)(struct hub_launcher *launcher, struct acp_str cwd,
                          char ret[ACP_PATH_SIZE], struct acp_failure *failure);
};

/*
 * The nearest parent of cwd, or cwd itself, with a .git; else the nearest with .acp/config.json or
 * .containai/config.toml; else cwd.  For find_workspace.
 */
int hub_find_workspace(struct acp_str cwd, char ret[ACP_PATH_SIZE], struct acp_failure *failure);

/* ---- The hub --------------------------------------------------------------------------------- */

enum hub_log_level { HUB_LOG_DEBUG, HUB_LOG_INFO, HUB_LOG_WARNING, HUB_LOG_ERROR };

/* One entry of the log.  Texts that are not known are empty. */
struct hub_log_entry {
    enum hub_log_level level;
    struct acp_str text;
    struct acp_str workspace; /* of the agent that it is about */
    struct acp_str session;   /* the first characters of its id: enough to find it, not to use it */
    bool agent_stderr;        /* text is a line that the agent wrote to standard error */
};

/* All callbacks may be left out. */
struct hub_handler {
    void (*log)(const struct hub_log_entry *entry, void *user);
    /* A message of a client, or, with to_client, one for it, as the client knows it. */
    void (*message)(struct hub_client *client, bool to_client, struct acp_raw text, void *user);
    /* hub_deadline() is earlier than it was. */
    void (*wake)(void *user);
    /*
     * The hub has given up a client, for this reason, a negative acp_err.  Nothing is received from
     * it or sent to it any more; the owner closes its connection and frees it.
     */
    void (*client_closed)(struct hub_client *client, int reason, void *user);
    /* After hub_shut_down(): no agent is left.  Called once. */
    void (*ended)(void *user);
};

enum { HUB_KEY_SIZE = 32 };

struct hub_options {
    const char *name; /* of the agent, for messages and in session ids */
    struct hub_launcher *launcher;
    const char *cwd; /* its workspace is that of the agent that answers initialize */
    /*
     * Binds session ids to this user: an id that was made with another key, or guessed, is none.
     * The same key must be used for sessions to be found again.
     */
    unsigned char key[HUB_KEY_SIZE];
    bool agent_per_session; /* otherwise the sessions of a workspace share an agent */
    /*
     * Sessions have several clients, which come and go: events are kept in memory to be delivered
     * to each at its own pace, and a turn goes on when its client has gone.  Otherwise there is one
     * client, agents wait for it, and its turns are cancelled when it goes.
     */
    bool shared;
    uint64_t idle_ms;    /* an agent without work for that long is ended; 0: never */
    uint64_t start_ms;   /* time for an agent to answer initialize; 0: 5 minutes */
    uint64_t stop_ms;    /* time for sessions to close in hub_shut_down(); 0: 2 seconds */
    uint64_t list_ms;    /* time for agents to list their sessions; 0: 10 seconds */
    size_t max_message;  /* 0: ACP_WIRE_DEFAULT_MAX */
    size_t max_output;   /* unsent bytes of a connection; 0: HUB_MAX_OUTPUT */
    size_t max_sessions; /* open at once; 0: HUB_MAX_SESSIONS */
    size_t max_agents;   /* running at once; 0: HUB_MAX_AGENTS */
};

/* The options are copied; name, launcher and cwd must outlive the hub.  ACP_ERR_NOMEM. */
int hub_new(const struct hub_options *options, const struct hub_handler *handler, void *user,
            struct hub **ret);
/* Ends all agents at once.  Clients must have been freed.  Takes NULL. */
void hub_free(struct hub *hub);

/* When to call hub_tick(); UINT64_MAX means never. */
uint64_t hub_deadline(const struct hub *hub);
void hub_tick(struct hub *hub, uint64_t now);

/*
 * Cancels turns, closes sessions and stops the agents, in this order; `ended` is called when all
 * are gone, at the earliest inside this call.  Clients get errors from now on.  May be repeated.
 */
void hub_shut_down(struct hub *hub, uint64_t now);

size_t hub_session_count(const struct hub *hub);
size_t hub_agent_count(const struct hub *hub);

/* ---- Clients --------------------------------------------------------------------------------- */

/*
 * A client that has just connected.  ACP_ERR_LIMIT if there are HUB_MAX_CLIENTS, or if it is the
 * second of a hub that is not shared; ACP_ERR_NOMEM.
 */
int hub_client_new(struct hub *hub, struct hub_client **ret);
/* Detaches it from its sessions; see hub_options.shared.  Takes NULL. */
void hub_client_free(struct hub_client *client);
/* Belongs to the client. */
struct acp_endpoint *hub_client_endpoint(struct hub_client *client);

#endif
