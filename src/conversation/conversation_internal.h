/*
 * conversation_internal.h - the inside of a conversation.
 *
 *   conversation.c    creating one, its states, its steps, stopping
 *   prompts.c         the queue of prompts, and turns
 *   events.c          events: into the log, and what the agent reports
 *   subscriber.c      events to subscribers, at the pace of each
 *   replay.c          reading events of a subscriber from the log
 *   open.c            connecting, logging in, opening the session
 *   prompt_content.c  content blocks as the agent takes them
 *   settings.c        mode, model and options
 *   permissions.c     what the agent asks, decided by the policy
 *   questions.c       what is left for a person to decide
 *   advice.c          what is told beside the reason why the agent failed
 *   elicitations.c    what the agent asks the user by a form or a web page
 *   question.c        what can be asked
 *   changes.c         what edits change in files, for the person who is asked
 *   turn_tools.c      what is known of the tool calls of a turn
 *
 * A conversation moves in steps: whatever happened, on_step() is called from the loop and does the
 * next thing that is due.  So no callback runs inside a call of the program.
 */
#ifndef SRC_CONVERSATION_CONVERSATION_INTERNAL_H
#define SRC_CONVERSATION_CONVERSATION_INTERNAL_H

#include "acp/workspace.h"
#include "base/map.h"
#include "conversation/conversation.h"

/* This many protocol errors of a turn are reported one by one; the others are counted. */
enum { CONVERSATION_MAX_NOISE = 3 };

/* What the agent can make us keep.  docs/limits.md says what happens at each limit. */
enum {
    /* Permitted actions of a turn.  The oldest are dropped, and asked about again if needed. */
    CONVERSATION_MAX_PERMITTED = 256,
    CONVERSATION_MAX_PERMITTED_BYTES = 4 * 1024 * 1024,
    /* Questions that wait for a person, and their texts.  More are answered with an error. */
    CONVERSATION_MAX_QUESTIONS = 64,
    CONVERSATION_MAX_QUESTION_BYTES = 8 * 1024 * 1024,
    /* Tool calls of a turn whose kind is remembered, and the length of their ids. */
    CONVERSATION_MAX_TOOLS = 4096,
    CONVERSATION_MAX_TOOL_ID = 1024,
    /* The title and the usage that the session list shows.  The log has them whole. */
    CONVERSATION_MAX_TITLE = 1024,
    CONVERSATION_MAX_USAGE = 64 * 1024,
    /* What the agent wrote last to standard error, for when it fails. */
    CONVERSATION_MAX_STDERR_LINES = 5,
    CONVERSATION_MAX_STDERR_LINE = 400,
    /* Why a prompt has failed, in the agent's words. */
    CONVERSATION_MAX_REASON = 8 * 1024,
    /*
     * Durable events that are kept in memory for subscribers that are behind; those continue from
     * the log.  Without a log, the agent waits for them.
     */
    CONVERSATION_MAX_TAIL_BYTES = 1024 * 1024,
};

/* Limits that were reached in this turn; each is reported once. */
enum conversation_limit {
    CONVERSATION_LIMIT_QUESTIONS = 1,
    CONVERSATION_LIMIT_TOOLS = 2,
};

enum log_state {
    LOG_NONE,    /* none is kept */
    LOG_OPENING, /* an old session: its row is being read */
    LOG_OPEN,
};

/* Why the agent has to wait. */
enum {
    PAUSED_BY_LOG = 1,         /* more waits to be written than the writer's high mark */
    PAUSED_BY_SUBSCRIBERS = 2, /* there is no log that those who are behind could read */
};

enum prompt_state {
    PROMPT_QUEUED,
    PROMPT_RUNNING, /* the agent has it */
};

enum cancel_reason {
    NOT_CANCELLED,
    CANCELLED_BY_PROGRAM,
    CANCELLED_BY_TIMEOUT,
};

/* The first in the list runs, or will be next. */
struct queued_prompt {
    struct queued_prompt *next;
    uint64_t turn;
    struct prompt_options options;
    enum prompt_state state;
    enum cancel_reason cancelled;
    bool denied;            /* something was not permitted */
    bool approved;          /* something was */
    bool unasked;           /* something had to be asked, and nobody could be */
    struct tail_event *end; /* for its stop or error event, if there is no memory then */
    struct acp_buf body;
};

/* Something to be set. */
struct wanted_setting {
    struct wanted_setting *next;
    bool sent;
    conversation_set_fn *done; /* may be NULL: from the conversation's options */
    void *user;
    char *name;
    char *value;
};

/* A question that waits for a person. */
struct open_question {
    struct open_question *next; /* oldest first */
    uint64_t number;
    uint64_t turn;
    uint64_t after;                     /* asked once this event was delivered */
    acp_call call;                      /* of a permission request or an elicitation, or */
    struct acp_pending_action *pending; /* of the workspace */
    size_t bytes;                       /* of its texts, counted in question_bytes */
    struct acp_arena arena;             /* of what follows */
    struct acp_raw elicitation;         /* the params; absent: it is a permission question, with: */
    struct acp_str title;
    struct acp_str description;
    struct acp_str changes;
    struct acp_str always;
    struct acp_str always_brief;
    struct acp_action action;
    struct acp_permission_option_list options;
};

/* What a permission for a file has been used for. */
enum { USED_TO_READ = 1, USED_TO_CHANGE = 2 };

/* A permission request that was allowed in this turn, and not used up. */
struct permitted_action {
    struct permitted_action *next;
    size_t bytes;           /* of the action's texts, counted in permitted_bytes */
    struct acp_arena arena; /* of what follows */
    struct acp_action action;
    unsigned char *used; /* for each of the action's paths */
};

/* An option of the session, as far as setting it needs. */
struct known_option {
    struct known_option *next;
    bool is_switch;
    char *category; /* NULL: none */
    char *id;
};

/*
 * An event in memory.  The conversation's list of them, the tail, begins with the last one that all
 * subscribers have got, and ends with the newest.
 */
struct tail_event {
    struct tail_event *next;
    size_t at;     /* how many subscribers have got this one as their last */
    bool not_kept; /* it is in no log: it can be delivered at once, and nowhere be read again */
    struct session_event event;
    char bytes[];
};

enum subscriber_state {
    SUBSCRIBER_WAITING,   /* until the log is open */
    SUBSCRIBER_REPLAYING, /* events come from the log */
    SUBSCRIBER_LIVE,      /* events come from the tail */
};

struct replay;

struct subscriber {
    struct subscriber *next;
    struct conversation *conversation;
    const struct subscriber_handler *handler;
    void *user;
    enum subscriber_state state;
    bool paused;
    bool delivering; /* inside a callback of it */
    bool freed;      /* in that callback: freed after it */
    bool idle;       /* caught_up was called since the last event */
    uint64_t cursor;
    uint64_t asked;          /* the number of the last question it got */
    struct tail_event *at;   /* live: the event at the cursor */
    struct replay *replay;   /* replaying: what is being read, or NULL */
    struct tail_event *read; /* replaying: what was read and is to be delivered */
};

struct conversation {
    struct agent_connection_user connection_user; /* first: connection.h */
    uv_loop_t *loop;
    struct conversation_options options;
    const struct conversation_handler *handler;
    void *user;

    uv_timer_t *step;     /* fires at once, from the loop */
    uv_timer_t *deadline; /* of what is being waited for */
    enum conversation_state state;
    enum log_state log_state;
    unsigned paused;           /* PAUSED_BY_... */
    enum error_source source;  /* of the failure to open the session */
    unsigned noise;            /* protocol errors of this turn */
    struct acp_raw turn_usage; /* of the turn that ends, while it does; absent: not told */
    bool stopping;             /* conversation_stop() was called */
    bool stopped;              /* `stopped` was called */
    bool untitled;             /* the session has no title yet */
    bool was_open;             /* with this agent session, or a fork of it */
    bool has_models;           /* the agent has session/set_model, which is older than options */

    struct store_writer *writer;
    struct store_worker *worker;
    struct store_log *log;

    struct agent_connection *connection;
    struct acp_client_session *session;
    struct acp_workspace *workspace;
    char *agent_session; /* the agent's id of it; NULL before the first */
    char *failure;       /* why it could not be opened; NULL: it could, or was not tried */
    int64_t code;        /* of the agent's error, or 0 */
    /* The last lines that the agent wrote to standard error; each overwrites the oldest. */
    char stderr_lines[CONVERSATION_MAX_STDERR_LINES][CONVERSATION_MAX_STDERR_LINE];
    size_t stderr_count; /* lines so far, of this turn or the start */

    struct queued_prompt *prompts;
    struct queued_prompt *last_prompt;
    uint64_t turns;

    struct wanted_setting *settings;
    struct wanted_setting
        *made; /* what was set, to be set again in a session that is opened anew */
    struct known_option *known_options;

    struct acp_map tool_kinds;          /* of this turn: id -> kind + 1 */
    struct permitted_action *permitted; /* newest first */
    size_t permitted_count;
    size_t permitted_bytes;
    struct open_question *open_questions;
    size_t question_count;
    size_t question_bytes;
    uint64_t questions;       /* asked since the beginning */
    unsigned limits_reported; /* enum conversation_limit, of this turn */

    struct tail_event *tail; /* never NULL */
    struct tail_event *last;
    size_t tail_bytes;    /* of the events after the first */
    uint64_t deliverable; /* events up to this one are durable, or never will be */
    struct subscriber *subscribers;
};

/* ---- conversation.c -------------------------------------------------------------------------- */

/* Something has happened: a step is due. */
void conversation_wake(struct conversation *c);
void conversation_set_state(struct conversation *c, enum conversation_state state);
/* Whether the session is open. */
bool conversation_is_open(const struct conversation *c);
/* Sets and clears reasons why the agent has to wait. */
void conversation_pause_agent(struct conversation *c, unsigned reason, bool pause);
struct acp_client *conversation_client(const struct conversation *c);
char *conversation_copy(struct acp_str text);

/* ---- prompts.c ------------------------------------------------------------------------------- */

/*
 * Ends the first prompt: stop says why, or, if that is absent, source and message say what went
 * wrong.
 */
void conversation_end_prompt(struct conversation *c, enum prompt_end_kind kind, struct acp_str stop,
                             enum error_source source, struct acp_str message);
/* Gives the first prompt to the agent. */
void conversation_run_prompt(struct conversation *c);
/* The blocks as the agent takes them, of the same number; they share what they point to. */
void conversation_adapt_blocks(struct conversation *c, struct acp_content_block_list blocks,
                               struct acp_content_block *ret_blocks);
/* Ends queued prompts that were cancelled, and the one that cannot be run. */
void conversation_drop_prompts(struct conversation *c);
void conversation_end_all_prompts(struct conversation *c);
void conversation_free_prompts(struct conversation *c);

/* ---- events.c -------------------------------------------------------------------------------- */

int conversation_open_log(struct conversation *c);
void conversation_close_log(struct conversation *c);
void conversation_add_event(struct conversation *c, enum event_kind kind, uint64_t turn,
                            struct acp_raw body);
/*
 * The same for the end of a turn, which must not fail: if memory runs out, it takes the prompt's
 * spare event, with a short body.
 */
void conversation_add_end(struct conversation *c, enum event_kind kind,
                          struct queued_prompt *prompt, struct acp_raw body);
struct tail_event *conversation_spare_end(void);
/* An event with members given as pairs of a name and a struct acp_str, NULL at the end. */
void conversation_add_texts(struct conversation *c, enum event_kind kind, ...);
void conversation_notice(struct conversation *c, const char *format, ...) ACP_PRINTF(2, 3);
/* The same for a limit that was reached: once in a turn. */
void conversation_notice_limit(struct conversation *c, enum conversation_limit limit,
                               const char *format, ...) ACP_PRINTF(3, 4);
/* What the agent reports. */
void conversation_agent_event(struct conversation *c, const struct acp_event *event);

/* ---- subscriber.c ---------------------------------------------------------------------------- */

int conversation_init_tail(struct conversation *c);
void conversation_free_tail(struct conversation *c);
void conversation_free_subscribers(struct conversation *c);
/* The log is open, and has events up to this number. */
void conversation_start_tail(struct conversation *c, uint64_t last);
/* Appends an event; body is copied.  ACP_ERR_NOMEM. */
int conversation_extend_tail(struct conversation *c, const struct session_event *event,
                             bool not_kept);
/* The same with an event that was allocated before; its body stays where it is. */
void conversation_link_tail(struct conversation *c, struct tail_event *event);
/* Whether an event could be delivered to everybody at once; and that. */
bool conversation_can_deliver_now(const struct conversation *c);
void conversation_deliver_now(struct conversation *c, const struct session_event *event);
/* Delivers what can be; false if something still waits for the log, or is read from there. */
bool conversation_deliver(struct conversation *c);
uint64_t conversation_last_sequence(const struct conversation *c);
bool conversation_can_ask(const struct conversation *c);
/* The same for elicitations. */
bool conversation_can_elicit(const struct conversation *c);
void conversation_question_settled(struct conversation *c, uint64_t number);

/* ---- replay.c -------------------------------------------------------------------------------- */

/*
 * Reads events of the log after the subscriber's cursor, into s->read; conversation_replayed() is
 * called.  ACP_ERR_NOMEM, ACP_ERR_STATE.
 */
int conversation_replay(struct subscriber *s);
/* Some events were read, or none, or it failed and failure says why. */
void conversation_replayed(struct subscriber *s, const struct acp_failure *failure);
/* The subscriber wants nothing any more. */
void conversation_drop_replay(struct subscriber *s);

/* ---- advice.c -------------------------------------------------------------------------------- */

void conversation_note_stderr(struct conversation *c, struct acp_str line);
void conversation_forget_stderr(struct conversation *c);
/*
 * The agent has failed with that outcome: reports what it wrote to standard error, and returns the
 * reason, to be freed, with what to do if it is not logged in.  NULL if out of memory.
 */
char *conversation_advise(struct conversation *c, const struct acp_outcome *outcome,
                          struct acp_str why);

/* ---- open.c ---------------------------------------------------------------------------------- */

extern const struct agent_connection_handler conversation_connection_handler;
void conversation_connect(struct conversation *c);
void conversation_stop_agent(struct conversation *c);
/* No session can be opened; what waits for it fails. */
void conversation_fail(struct conversation *c, enum error_source source, int64_t code,
                       const char *format, ...) ACP_PRINTF(4, 5);

/* ---- settings.c ------------------------------------------------------------------------------ */

void conversation_note_models(struct conversation *c, const struct acp_unknown *unknown);
void conversation_note_options(struct conversation *c,
                               struct acp_session_config_option_list options);
void conversation_forget_options(struct conversation *c);
/* Sends the next setting; false if there is none. */
bool conversation_apply_setting(struct conversation *c);
void conversation_want_settings(struct conversation *c);
void conversation_forget_settings(struct conversation *c);
/* Nothing can be set: all that wait are told why. */
void conversation_refuse_settings(struct conversation *c, struct acp_str why);

/* ---- permissions.c --------------------------------------------------------------------------- */

extern const struct acp_client_handler conversation_client_handler;
int conversation_make_workspace(struct conversation *c);
/* The rules for the turn that runs. */
const struct acp_policy *conversation_policy(const struct conversation *c);
enum permission_verdict {
    PERMISSION_DENIED,
    PERMISSION_ALLOWED,
    PERMISSION_OTHER, /* an option of a kind that we do not know: it permits nothing here */
};
struct permission_record {
    enum permission_verdict verdict;
    struct acp_str option; /* may be absent */
    struct acp_str by;
    bool unasked; /* a person had to be asked, and nobody could be */
};
/* Logs a verdict and counts it for the end of the turn. */
void conversation_log_verdict(struct conversation *c, const struct acp_action *action,
                              const struct permission_record *record);

/* ---- questions.c ----------------------------------------------------------------------------- */

/* Whether a person can be asked in this turn. */
bool conversation_has_person(const struct conversation *c);
/*
 * Whether one more question may wait for the person.  If not, the agent is told so by the text
 * below.
 */
bool conversation_may_ask(struct conversation *c, const struct permission_question *question);
extern const char conversation_too_many_questions[];
struct edit_changes;
/*
 * Asks; returns why that is not possible, or NULL.  A question without options of the agent's gets
 * our own.  The question's changes are those given here.
 */
const char *conversation_ask(struct conversation *c, acp_call call,
                             struct acp_pending_action *waiting,
                             const struct permission_question *question,
                             const struct edit_changes *changes);
/* Puts a question at the end of the list, with its number, turn and place. */
void conversation_open_question(struct conversation *c, struct open_question *question);
struct open_question *conversation_find_question(const struct conversation *c, uint64_t number);
/* The question is settled; frees it. */
void conversation_close_question(struct conversation *c, struct open_question *question);
/* Whether the limits allow one more, with texts of that size; if not, a notice says so once. */
bool conversation_has_question_room(struct conversation *c, size_t bytes);
/* The question of the call, or (call is 0) of the action, needs no answer any more. */
void conversation_withdraw_question(struct conversation *c,
                                    const struct acp_pending_action *pending, acp_call call);
/* All are settled, with no. */
void conversation_drop_questions(struct conversation *c);

/* ---- elicitations.c -------------------------------------------------------------------------- */

/* elicitation/create: asks the subscribers, or declines if nobody can be asked. */
void conversation_elicit(struct conversation *c, acp_call call, struct acp_raw params);
/* The agent has cancelled the request; false if it is none of these. */
bool conversation_withdraw_elicitation(struct conversation *c, acp_call call);
/* The turn is being cancelled: settles those that are open. */
void conversation_cancel_elicitations(struct conversation *c);
/* Settles it as cancelled; for the end of the turn. */
void conversation_drop_elicitation(struct conversation *c, struct open_question *question);

/* ---- changes.c ------------------------------------------------------------------------------- */

/* What edits change in files, as patches; why that cannot be shown, or "". */
struct edit_changes {
    struct acp_buf text;
    char complaint[320];
};
void edit_changes_init(struct edit_changes *changes);
void edit_changes_finish(struct edit_changes *changes);
/* A write of the whole file, compared with the file on disk. */
void conversation_describe_write(struct conversation *c, struct acp_str path,
                                 struct acp_str new_text, struct edit_changes *changes);
/*
 * The diffs of a tool call, as the agent gives them.  Where the disk does not have the old text of
 * a diff, the new content is not known to be what was shown: its edit in the action is marked so,
 * and a write of it is asked about again.
 */
void conversation_describe_diffs(struct conversation *c, struct acp_tool_call_content_list content,
                                 struct acp_arena *arena, struct acp_action *action,
                                 struct edit_changes *changes);

/* ---- turn_tools.c: forgotten with the turn --------------------------------------------------- */

/* Agents tell the kind of a tool call once, and need not repeat it when they ask about it. */
void conversation_note_tool(struct conversation *c, const struct acp_tool_call_update *tool);
enum acp_tool_kind_is conversation_tool_kind(const struct conversation *c, struct acp_str id);
/*
 * Whoever allowed a tool call is not asked again when the agent does just that through us: the same
 * command line with the same variables in the same directory, or a change of a file to the content
 * that a diff has shown.  Each once.
 */
void conversation_note_permitted(struct conversation *c, const struct acp_action *action);
/* Whether the action is covered by such a permission, which is used up by that. */
bool conversation_use_permission(struct conversation *c, const struct acp_action *action);
/* The bytes that a copy of the action takes. */
size_t conversation_action_bytes(const struct acp_action *action);
/* Copies all that an action points to. */
bool conversation_copy_action(struct acp_arena *arena, const struct acp_action *action,
                              struct acp_action *ret);
void conversation_forget_tools(struct conversation *c);

#endif
