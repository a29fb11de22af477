/*
 * conversation.h - one conversation with one agent: its process, its session, what is said, what is
 * permitted, and the log of it.
 *
 * The owner of a talk gives prompts and is shown records; the talk does the rest:
 *
 *   - the agent is started when it is needed, and again when it has died; an old session is resumed
 *     or loaded, and where the agent cannot do that a new one is opened and the user is told
 *   - prompts wait for one another; each ends exactly once, with a stop or an error record, after
 *     all its other records
 *   - a record is shown once it is in the log: what was shown is never lost.  Without a log, or
 *     when that fails, the conversation goes on all the same and the user is told
 *   - permissions, files and terminals are decided by the one policy; where that says to ask and
 *     there is a person, the person is asked
 *   - whatever the agent does wrong becomes a sentence that says whose fault it is
 *
 * Everything runs on one loop; callbacks come from the loop, never from inside of a call.
 */
#ifndef SRC_CONVERSATION_CONVERSATION_H
#define SRC_CONVERSATION_CONVERSATION_H

#include <uv.h>

#include "acp/policy.h"
#include "store/store.h"
#include "transcript/event.h"

struct conversation;

/* How a prompt ended. */
enum prompt_end_kind {
    PROMPT_STOPPED, /* the agent says why: stop */
    PROMPT_REFUSED, /* the agent answered with an error, or with none at all, or has died */
    PROMPT_FAILED, /* the prompt was never given: the agent cannot be started, needs a login, ... */
    PROMPT_TIMED_OUT, /* no answer in time */
};

struct prompt_end {
    enum prompt_end_kind kind;
    struct acp_str stop;    /* "end_turn", ...; absent when it did not stop by itself */
    struct acp_str message; /* one sentence, when it failed */
    bool denied;            /* permissions were asked for on the way, and none was given */
    bool unasked;           /* something had to be asked, and nobody was there */
    bool cancelled;         /* the user's wish */
};

/* A question to the person; answered by conversation_answer(). */
struct permission_question {
    uint64_t number;
    struct acp_str title;
    struct acp_str description;      /* may be absent */
    struct acp_str changes;          /* what the edits change, as patches; absent: nothing known */
    const struct acp_action *action; /* command_cwd is set when it is not the session's cwd */
    struct acp_permission_option_list options;
    struct acp_str always; /* what an "always" covers and where it is kept; absent: it holds once */
};

struct conversation_handler {
    /* Something happened, and is kept. */
    void (*record)(struct conversation *c, const struct session_event *record, void *user);
    /* That was all for now: time to flush. */
    void (*shown)(struct conversation *c, void *user);
    /* Left out: there is nobody to ask, and the answer is no. */
    void (*question)(struct conversation *c, const struct permission_question *question,
                     void *user);
    /* The question of that number needs no answer any more. */
    void (*question_gone)(struct conversation *c, uint64_t number, void *user);
    /* A prompt has ended; all its records were shown. */
    void (*ended)(struct conversation *c, uint64_t request, const struct prompt_end *end,
                  void *user);
    /* conversation_stop() is done: the agent has gone, the log is complete; it may be freed. */
    void (*stopped)(struct conversation *c, void *user);
};

/* All texts and lists must outlive the talk. */
struct conversation_options {
    struct acp_str agent;          /* its name, for people */
    const char *const *argv;       /* its program */
    const char *const *shown_argv; /* the same without secrets, for the log; NULL: argv */
    const char *const *env;        /* NAME=value, NULL at the end; may be NULL */
    const char *start_cwd;         /* where the process is started; NULL: where the session is */
    unsigned versions;             /* of the protocol: ACP_V1, or with ACP_V2; 0: ACP_V1 */
    struct acp_session_params place;
    struct acp_str session;       /* our id of the session, as store_new_id() makes them */
    struct acp_str agent_session; /* the agent's name for it, to go on with; absent: a new one */
    struct acp_str mode;          /* wanted; absent: as the agent has it */
    struct acp_str model;
    struct acp_str_map settings; /* other options and their values */
    struct acp_raw session_meta; /* the _meta of session/new, an object; absent: none */
    struct acp_str auth_method;  /* to log in with before the session is opened; absent: none */
    bool fail_without_login;     /* an agent that offers a login and got none is refused */
    uint64_t start_ms; /* for the agent to start and to open the session; 0: two minutes */
    bool no_files;     /* do not offer files and terminals */
    bool no_terminals;
    const struct acp_policy *policy;
    struct acp_ledger *ledger; /* may be NULL */
    const char *ledger_path;   /* where "always" answers are kept; may be NULL */
    const char *store_path;    /* of the session log; NULL: none is kept */
    unsigned store_flags;      /* enum store_open_flags */
    bool in_store;             /* the session is in the log already; otherwise it is made: */
    struct acp_str name;       /* with this name, or absent */
    struct acp_str scope;      /* and this folder */
    bool close_session;        /* it is closed in the log when the talk is stopped */
    void (*errors)(struct conversation *c, struct acp_str line,
                   void *user); /* of the agent, or NULL */
    bool errors_are_notices;    /* what the agent writes to its standard error is for the user */
};

/* The row in the log that such a talk makes for a new session; its texts go into the arena. */
int conversation_session_row(const struct conversation_options *options, struct acp_arena *arena,
                             struct store_session *ret);

int conversation_new(uv_loop_t *loop, const struct conversation_options *options,
                     const struct conversation_handler *handler, void *user,
                     struct conversation **ret);
/* Kills what is left of the agent, and calls nothing back.  Takes NULL. */
void conversation_free(struct conversation *c);

struct prompt_run_options {
    uint64_t timeout_ms;             /* 0: none */
    const struct acp_policy *policy; /* instead of the talk's; must outlive the talk; may be NULL */
    bool nobody;                     /* there is no person to ask */
};

/* body is that of a prompt record, and copied.  Waits behind the prompts before it. */
int conversation_prompt(struct conversation *c, struct acp_raw body,
                        const struct prompt_run_options *options, uint64_t *ret_request);
/*
 * Ends the prompt at work: asks the agent, and after grace_ms ends it and the agent.  Prompts that
 * wait are not touched.  False when there is none.
 */
bool conversation_cancel(struct conversation *c, uint64_t grace_ms);
/* Takes back a prompt that waits; false when it does not. */
bool conversation_withdraw(struct conversation *c, uint64_t request);

/* Sets the mode, the model or any other option, now or when the session is open. */
typedef void conversation_set_fn(struct conversation *c, const struct acp_outcome *outcome,
                                 void *user);
int conversation_set(struct conversation *c, struct acp_str name, struct acp_str value,
                     conversation_set_fn *done, void *user);

/*
 * option is one of the question's, or absent to say no; one of a kind that is not known says no as
 * well.  False when it is settled already.
 */
bool conversation_answer(struct conversation *c, uint64_t number, struct acp_str option);

/* Who is shown the records cannot keep up (true): the agent is made to wait. */
void conversation_pause(struct conversation *c, bool pause);
/* Ends what is at work and the agent; `stopped` is called. */
void conversation_stop(struct conversation *c);

/* The prompt at work, or 0; and how many wait behind it. */
uint64_t conversation_request(const struct conversation *c);
size_t conversation_waiting(const struct conversation *c);
/* The bytes of those that wait. */
size_t conversation_waiting_bytes(const struct conversation *c);
/* 0 when it does not run. */
int conversation_agent_pid(const struct conversation *c);
/* What the agent calls the session; absent before it is open. */
struct acp_str conversation_agent_session(const struct conversation *c);

#endif
