/*
 * conversation.h - the client's side of one session: the connection to the agent, the session, its
 * prompts, what is permitted, and the log.
 *
 * The program gives prompts and subscribes to events; the conversation does the rest:
 *
 *   - It connects to the agent when there is something to do, and again if the agent has died.  It
 *     resumes or loads the old session; if the agent cannot do that, it opens a new one and says so
 *     in a notice.
 *   - It runs one prompt after the other.  Each ends exactly once, with a stop or an error event
 *     after all its other events.
 *   - It delivers an event once it is durable, so nothing that was shown can be lost.  Without a
 *     log, or if that fails, it delivers events at once; of a failure it says so in a notice.
 *   - One policy decides about permissions, files and terminals.  Where it says to ask, the
 *     subscribers that can be asked are.
 *   - Whatever goes wrong becomes a sentence that says who is at fault.
 *
 * Everything runs on one loop.  Callbacks come from the loop, never from inside a call, and may
 * call any function here.
 */
#ifndef SRC_CONVERSATION_CONVERSATION_H
#define SRC_CONVERSATION_CONVERSATION_H

#include <uv.h>

#include "acp/policy.h"
#include "conversation/connection.h"
#include "store/log.h"
#include "store/worker.h"
#include "transcript/event.h"

struct conversation;

/* What a conversation is doing.  conversation_state_name() has the words. */
enum conversation_state {
    CONVERSATION_DISCONNECTED, /* the next prompt or setting connects to the agent */
    CONVERSATION_INITIALIZING, /* initialize was sent */
    CONVERSATION_LOGGING_IN,   /* authenticate was sent */
    CONVERSATION_OPENING,      /* session/new or session/resume was sent */
    CONVERSATION_LOADING,      /* session/load was sent; the agent repeats what is in the log */
    CONVERSATION_SETTING,      /* setting mode, model and options, before the first prompt */
    CONVERSATION_IDLE,
    CONVERSATION_RUNNING,    /* a turn */
    CONVERSATION_CANCELLING, /* the turn; the agent was asked to end it */
    CONVERSATION_ENDING,     /* the agent was told to go, or has to be */
    CONVERSATION_STATES,
};
const char *conversation_state_name(enum conversation_state state);

struct conversation_handler {
    /* conversation_stop() is done: the agent has gone, the log is complete; it may be freed. */
    void (*stopped)(struct conversation *c, void *user);
    /* A line that the agent wrote to standard error.  May be NULL. */
    void (*agent_stderr)(struct conversation *c, struct acp_str line, void *user);
};

/* All texts and lists must outlive the conversation. */
struct conversation_options {
    struct acp_str agent;                  /* its name, for people */
    const struct agent_endpoint *endpoint; /* how it is reached */
    const char *const *shown_argv; /* the agent's command without secrets, for the log; or NULL */
    unsigned versions;             /* of the protocol: ACP_V1, or with ACP_V2; 0: ACP_V1 */
    struct acp_session_params place;
    struct acp_str session;       /* our id of the session, as store_new_id() makes them */
    struct acp_str agent_session; /* the agent's id of it, to resume or load; absent: a new one */
    struct acp_str fork_of;       /* our id of the session that has agent_session: to be forked */
    bool must_continue;           /* refuse an agent that cannot resume, load or fork it */
    struct acp_str mode;          /* to be set; absent: as the agent has it */
    struct acp_str model;
    struct acp_str_map settings; /* other options and their values */
    struct acp_raw session_meta; /* the _meta of session/new, an object; absent: none */
    struct acp_str auth_method;  /* to log in with before the session is opened; absent: none */
    bool login_is_likely;        /* a failure that could be one of the login is worth the hint: */
    struct acp_str login_hint;   /* what to do to log in, for a sentence; may be absent */
    bool fail_without_login;     /* refuse an agent that offers a login and got none */
    uint64_t start_ms;           /* limit for connecting and opening; 0: two minutes */
    bool no_files;               /* do not offer files and terminals */
    bool no_terminals;
    bool stderr_is_shown;   /* by agent_stderr: it is not to be repeated when the agent fails */
    bool stderr_is_notices; /* what the agent writes to standard error becomes notices */
    const struct acp_policy *policy;
    struct acp_ledger *ledger; /* may be NULL */
    const char *ledger_path;   /* where "always" answers are kept; may be NULL */
    uint64_t last_turn;        /* of the session so far; the next prompt is one more */
    bool in_store;             /* the session is in the log already; otherwise it is created: */
    struct acp_str name;       /* with this name, or absent */
    struct acp_str scope;      /* and this folder */
    bool close_session;        /* close it in the log when the conversation is stopped */
};

/* The row that such a conversation creates for a new session; its texts go into the arena. */
int conversation_session_row(const struct conversation_options *options, struct acp_arena *arena,
                             struct store_session *ret);

/*
 * writer and worker keep the log and outlive the conversation; a process has one of each for all
 * its conversations.  Both NULL: no log is kept.
 */
int conversation_new(uv_loop_t *loop, const struct conversation_options *options,
                     struct store_writer *writer, struct store_worker *worker,
                     const struct conversation_handler *handler, void *user,
                     struct conversation **ret);
/*
 * Kills what is left of the agent, calls nothing back, and frees all subscribers.  Not from inside
 * their callbacks.  Takes NULL.
 */
void conversation_free(struct conversation *c);
/* Ends the turn and the agent; `stopped` is called. */
void conversation_stop(struct conversation *c);
/*
 * Kills the agent with its descendants and the commands that run for it, which ends the turn; also
 * while it is being stopped or cancelled.  For who cannot wait until it ends by itself.
 */
void conversation_kill_agent(struct conversation *c);

enum conversation_state conversation_get_state(const struct conversation *c);
/* 0 if the agent does not run, or is not a process of ours. */
int conversation_agent_pid(const struct conversation *c);
/* The agent's id of the session; absent before it is open. */
struct acp_str conversation_agent_session(const struct conversation *c);

/* ---- Prompts --------------------------------------------------------------------------------- */

struct prompt_options {
    uint64_t timeout_ms;             /* 0: none */
    const struct acp_policy *policy; /* instead of the conversation's; outlives it; may be NULL */
    bool nobody;                     /* nobody can be asked during this turn */
};

/*
 * Queues a prompt.  body is that of a prompt event, and copied.  *ret_turn is the number of its
 * turn, which its events have.  ACP_ERR_CLOSED after conversation_stop(), ACP_ERR_NOMEM.
 */
int conversation_prompt(struct conversation *c, struct acp_raw body,
                        const struct prompt_options *options, uint64_t *ret_turn);
/*
 * Ends the turn that runs: asks the agent, and after grace_ms ends both.  Does not touch
 * queued prompts.  False if no turn runs.
 */
bool conversation_cancel(struct conversation *c, uint64_t grace_ms);
/* Removes a queued prompt, without an event; false if it is not queued. */
bool conversation_withdraw(struct conversation *c, uint64_t turn);

/* The turn that runs, or 0; and how many prompts are queued, with how many bytes. */
uint64_t conversation_turn(const struct conversation *c);
size_t conversation_queued(const struct conversation *c);
size_t conversation_queued_bytes(const struct conversation *c);

/* How a turn ended, as its stop or error event says it. */
enum prompt_end_kind {
    PROMPT_STOPPED,   /* by the agent: stop says why */
    PROMPT_REFUSED,   /* the agent answered with an error, with nothing, or has died */
    PROMPT_FAILED,    /* the agent never had the prompt: it cannot be started, needs a login, ... */
    PROMPT_TIMED_OUT, /* no answer in time */
};

struct prompt_end {
    enum prompt_end_kind kind;
    struct acp_str stop;    /* "end_turn", ...; absent if it did not stop by itself */
    struct acp_str message; /* one sentence, if it failed */
    bool denied;            /* permissions were asked for in the turn, and none was given */
    bool unasked;           /* something had to be asked, and nobody could be */
    bool cancelled;         /* by conversation_cancel() */
};

/* Reads it from the event; texts go into the arena.  False for events that end no turn. */
bool prompt_end_read(const struct session_event *event, struct acp_arena *arena,
                     struct prompt_end *ret);

/* ---- Settings -------------------------------------------------------------------------------- */

/* Sets the mode ("mode"), the model ("model") or an option by its id; done may be NULL. */
typedef void conversation_set_fn(struct conversation *c, const struct acp_outcome *outcome,
                                 void *user);
int conversation_set(struct conversation *c, struct acp_str name, struct acp_str value,
                     conversation_set_fn *done, void *user);

/* ---- Questions ------------------------------------------------------------------------------- */

/* A permission to be given by a person; answered by conversation_answer(). */
struct permission_question {
    uint64_t number;
    uint64_t turn;
    struct acp_str title;
    struct acp_str description;      /* may be absent */
    struct acp_str changes;          /* what the edits change, as patches; absent: nothing known */
    const struct acp_action *action; /* command_cwd is set if it is not the session's cwd */
    struct acp_permission_option_list options;
    /* What "always" covers and where it is kept; and briefly.  Absent: it holds once. */
    struct acp_str always;
    struct acp_str always_brief;
};

/*
 * The first answer counts.  option is one of the question's; absent, it means no; one of an unknown
 * kind is for the agent, and permits nothing here.  by names who answered, for the log; absent: the
 * user.  False if the question is settled already.
 */
bool conversation_answer(struct conversation *c, uint64_t number, struct acp_str option,
                         struct acp_str by);

/*
 * What the agent asks the user by a form or a web page; answered by
 * conversation_answer_elicitation().
 */
struct elicitation_question {
    uint64_t number; /* from the same series as those of permissions */
    uint64_t turn;
    struct acp_str agent;  /* its name, for people */
    unsigned protocol;     /* ACP_V1 or ACP_V2 */
    struct acp_raw params; /* a CreateElicitationRequest of that version */
};

/*
 * The first answer counts.  response is a CreateElicitationResponse; anything else means cancel.
 * False if the question is settled already.
 */
bool conversation_answer_elicitation(struct conversation *c, uint64_t number,
                                     struct acp_raw response);

/* ---- Subscribers ----------------------------------------------------------------------------- */

struct subscriber;

struct subscriber_handler {
    /* The next event. */
    void (*event)(struct subscriber *s, const struct session_event *event, void *user);
    /* There is no further event for now: time to flush.  May be NULL. */
    void (*caught_up)(struct subscriber *s, void *user);
    /* A permission is needed.  NULL: this subscriber cannot be asked. */
    void (*question)(struct subscriber *s, const struct permission_question *question, void *user);
    /* The agent asks the user something.  NULL: this subscriber cannot be asked. */
    void (*elicitation)(struct subscriber *s, const struct elicitation_question *question,
                        void *user);
    /* The question was answered by someone else, or needs no answer any more.  May be NULL. */
    void (*question_gone)(struct subscriber *s, uint64_t number, void *user);
};

/* As `after`: no event that was there before the subscription. */
#define CONVERSATION_NEW_EVENTS UINT64_MAX

/*
 * Delivers the events with greater sequence numbers than `after`: first those in the log, then new
 * ones as they become durable, in order, without a gap or a duplicate.  Questions come in their
 * place between the events; those that are open already when all old events were delivered.
 *
 * Each subscriber has its own pace: one that is paused, or slow, continues from the log later and
 * holds up nobody.  Only without a log does the agent have to wait for it.
 *
 * The handler must outlive the subscriber.  ACP_ERR_NOMEM.
 */
int conversation_subscribe(struct conversation *c, uint64_t after,
                           const struct subscriber_handler *handler, void *user,
                           struct subscriber **ret);
/* Nothing is called back any more.  Takes NULL. */
void subscriber_free(struct subscriber *s);
/* While paused, nothing is delivered. */
void subscriber_pause(struct subscriber *s, bool pause);
/* The sequence number of the last event that was delivered. */
uint64_t subscriber_cursor(const struct subscriber *s);

#endif
