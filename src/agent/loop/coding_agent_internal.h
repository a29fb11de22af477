/*
 * coding_agent_internal.h - the inside of the coding agent.
 *
 *   coder.c           the process: loop, model service, the role's callbacks
 *   coder_session.c   sessions: their setup, modes and options
 *   coder_models.c    the models of all providers, and which one a session asks
 *   coder_providers.c providers as the client sets them
 *   coder_login.c     keys that come and go while the process runs
 *   coder_turn.c      a turn: the model, its tool calls, the model again
 *   coder_title.c     what sessions are called
 *   coder_calls.c     the tool calls of an answer
 *   coder_compact.c   a conversation that fills the window, summed up
 *   coder_shorten.c   one that does not even fit for that, cut
 *   coder_context.c   system text and tool list, made once for a session
 *   coder_facts.c     what changes meanwhile, and how the model is told
 *   coder_input.c     what a prompt holds, as the model takes it
 *   coder_attach.c    the files that a prompt points at
 *   coder_command.c   slash commands
 *   coder_custom.c    those of a project
 *   coder_fetch.c     web pages for the model
 *   coder_mcp.c       the MCP servers of a session, and their tools
 *   coder_jetbrains.c which chat of an IDE a session belongs to
 *   coder_log.c       what is kept of a session, before anybody sees it
 *   coder_open.c      sessions that come back: loaded, resumed, forked, or idle until now
 *   coder_list.c      which sessions there are
 */
#ifndef SRC_AGENT_LOOP_CODING_AGENT_INTERNAL_H
#define SRC_AGENT_LOOP_CODING_AGENT_INTERNAL_H

#include "agent/loop/coding_agent.h"
#include "agent/loop/context.h"
#include "agent/loop/history.h"
#include "agent/toolkit/tools.h"
#include "model/catalog.h"
#include "model/find.h"
#include "store/log.h"

enum { CODER_SIGNALS = 3 };
/* Of enum acp_policy_mode. */
enum { CODER_MODES = ACP_POLICY_FULL + 1 };

struct coder {
    const struct coder_options *options;
    uv_loop_t loop;
    uv_signal_t signals[CODER_SIGNALS]; /* that ask us to end */
    bool stopping;                      /* one of them has come */
    struct acp_agent_stdio *stdio;
    struct acp_reaper *reaper;
    struct http_client *http;
    struct model_find *find; /* while a model is looked for */
    int err;                 /* why there is no agent */
    struct acp_failure failure;
    struct model_catalog *catalog;
    char *model;     /* that is asked where a session has none of its own: "provider/model" */
    bool disabled;   /* the client wants its provider not to be asked */
    char *sign_ins;  /* memory of the ways to log in */
    char title[200]; /* with the model and where it is */
    struct toolbox *box;
    struct acp_policy *policies[CODER_MODES]; /* the user's rules in each mode; NULL: not used */
    struct acp_jobs *jobs;
    struct store_writer *writer; /* NULL: nothing is kept */
    bool store_failed;           /* and that was reported on standard error */
    uint64_t appended;           /* to the log: the numbers of acp_agent_hold_output() */
    uint64_t flushing;           /* up to this one, now; 0: nothing */
    uv_timer_t idle;             /* looks for sessions that nobody uses */
    size_t sessions;
    size_t servers;         /* of MCP, of all sessions */
    size_t history_bytes;   /* of all sessions */
    struct coding *first;   /* of the sessions */
    uv_timer_t title_timer; /* for sessions whose title is due */
};

/* That can be chosen from. */
enum { CODER_MAX_MODELS = 400 };

/* Bytes of a session's title, and of the name of its model: a prompt can set both. */
enum { CODER_MAX_NAME = 1024 };

/* The name of a chat of an IDE. */
enum { CODER_CHAT_SIZE = 128 };

/* A session; the user pointer of the role's. */
struct coding {
    struct coder *coder;
    struct coding *next;
    struct acp_session *session;
    const struct acp_policy *policy; /* one of the coder's */
    struct tools *tools;
    struct servers *servers; /* of MCP, or NULL: coder_mcp.c */
    bool commands_cut;       /* the project has more commands than are listed; not told yet */
    bool commands_told;
    struct history *history; /* NULL: it is idle, and all of it is in the log */
    struct context *context; /* NULL: it is idle, or the next request begins a new one */
    size_t logged;           /* messages of the history that are in the log */
    bool forgot;             /* the history was made anew since */
    bool telling;            /* the client wants to hear what was said, once the log is open */
    bool repeating;          /* what is sent now is in the log already */
    struct store_log *log;
    struct forking *forking; /* what waits to become this one's log, or NULL */
    uint64_t used;           /* when, last; the loop's time */
    uint64_t turns;
    char *title;
    bool title_wanted;           /* it is but the first words: the model may give a better one */
    bool title_due;              /* and will be asked in a moment */
    struct model_reply *titling; /* on its way, or NULL */
    char *model;                 /* "provider/model"; NULL: the default of the process */
    enum model_effort effort;
    struct model_usage usage;   /* of the last answer */
    struct acp_opt_f64 cost;    /* of all answers so far, as far as it is known */
    uint64_t calls;             /* of tools, so far: their ids */
    uint64_t compactions;       /* likewise */
    char chat[CODER_CHAT_SIZE]; /* of the IDE that the session belongs to; "": none */
    struct work *work;          /* the turn at hand, or NULL */
    char *warning;              /* that could not be sent yet, or NULL */
};

/* A prompt until the model is asked; its parts are in the turn's arena. */
struct work_prompt {
    struct model_part *parts;
    size_t count;
    size_t next;  /* the first that may still be a link */
    size_t taken; /* bytes of the files that were read */
};

/* What a turn is doing. */
struct work {
    struct coding *coding;
    struct acp_turn *turn;
    struct work_prompt prompt;
    struct model_reply *reply; /* on its way, or NULL */
    uint64_t requests;
    size_t open_calls;
    struct acp_arena arena; /* of the results */
    struct model_part *results;
    uint64_t *hashes; /* of the calls, in the order of the results */
    size_t result_count;
    uint64_t failed;      /* the hash of the last call that failed */
    unsigned failures;    /* of this one, one behind the other; 0: the last call has not failed */
    unsigned continued;   /* answers that were cut off, one behind the other */
    size_t first_message; /* of the turn, in the history */
    bool cancelled;
    bool compacting; /* the answer is the summary */
    bool too_long;   /* the model has said so in this turn: only once is something done about it */
    bool lost_call;  /* the answer was cut off in a call */
    bool starting;   /* calls are being begun: their end is awaited all the same */
    bool waiting;    /* for MCP servers, before the model is asked */
    struct acp_buf text;
};

/* coder_session.c */
void coder_new_session(struct acp_session *session, const struct acp_new_session_request *request,
                       void *user);
void coder_end_session(struct acp_session *session, void *user);
void coder_set_mode(struct acp_session *session, acp_call call, struct acp_str mode, void *user);
void coder_set_option(struct acp_session *session, acp_call call,
                      const struct acp_set_session_config_option_request *request, void *user);
struct coding *coding_new(struct coder *coder, struct acp_session *session);
void coding_free(struct coding *coding);
bool coder_is_folder(struct acp_str path);
/* Refuses the session when its folder does not exist. */
bool coder_has_folder(struct acp_session *session);
/* The session cannot be had; the coding is freed. */
void coding_refuse(struct coding *coding, int64_t code, const char *sentence);
/* Accepts the session and tells the client its modes, options and commands. */
int coding_accept(struct coding *coding);
/*
 * Changes the mode; ACP_ERR_UNKNOWN, or ACP_ERR_STATE with a sentence when it cannot be had here.
 */
int coding_set_mode(struct coding *coding, struct acp_str mode, struct acp_failure *failure);
/* The same without the questions whether that is possible, and without a word.  ACP_ERR_NOMEM. */
int coding_use_mode(struct coding *coding, enum acp_policy_mode mode);
/* Tells the client the mode, in every way that it has for modes. */
void coding_tell_mode(struct coding *coding);
/* Tells the client what the options are now. */
void coding_tell_options(struct coding *coding);
int coding_set_title(struct coding *coding, struct acp_str title);
/* The same without telling anybody. */
int coding_keep_title(struct coding *coding, struct acp_str title);
/* Adds the cost of an answer to the session's. */
void coding_spend(struct coding *coding, const struct model_usage *usage);

/* coder_models.c */
/* Adds a provider to the catalog, or replaces it. */
int coder_add_provider(struct coder *coder, const char *id, const struct model_settings *settings,
                       struct acp_failure *failure);
/* Which model is asked by sessions that have none of their own. */
int coder_set_default(struct coder *coder, const char *provider, struct acp_str model);
/* The catalog and the default, as they were found. */
int coder_fill_catalog(struct coder *coder, const struct model_choice *choice);
/* Whether a model of any provider may be sent it. */
bool coder_takes(const struct coder *coder, enum model_part_kind kind);
/* Asks providers whose models nobody knows for their lists; sessions are told what comes. */
void coder_list_models(struct coder *coder);
/* What the session can choose from, the model that it has included; how many they are. */
size_t coding_model_choices(const struct coding *coding,
                            struct acp_session_config_select_option choices[CODER_MAX_MODELS]);
/* "provider/model" of the session, and its parts. */
const char *coding_model(const struct coding *coding);
struct acp_str coding_provider(const struct coding *coding);
struct acp_str coding_model_id(const struct coding *coding);
/* NULL when the provider has gone. */
struct model_service *coding_service(const struct coding *coding);
/* For people. */
const char *coding_service_name(const struct coding *coding);
bool coding_takes(const struct coding *coding, enum model_part_kind kind);
/* As model_ask(), of the session's model, which is put into ask.  ACP_ERR_STATE: it must not be. */
int coding_ask(struct coding *coding, struct model_ask *ask, const struct model_handler *handler,
               void *user, struct model_reply **ret, struct acp_failure *failure);
/* The same model of another provider; NULL: the default in its place. */
int coding_move(struct coding *coding, const char *provider);
/* Chooses the model by a name as in model_catalog_resolve(); a sentence says why not. */
int coding_set_model(struct coding *coding, struct acp_str name, struct acp_failure *failure);

/* coder_providers.c */
/* What turns fail with while nobody may be asked. */
#define CODER_DISABLED "the client has disabled the provider of the model, and has set no other"
void coder_request(struct acp_agent *agent, acp_call call, const struct acp_method *method,
                   const void *params, const struct acp_message *message, void *user);
/* Whether the client has disabled the provider of the session's model. */
bool coding_is_disabled(const struct coding *coding);

/* coder_login.c */
/* The ways to log in, for as long as the coder lives. */
int coder_list_logins(struct coder *coder, struct acp_auth_method_list *ret);
void coder_authenticate(struct acp_agent *agent, acp_call call, struct acp_str method, void *user);
void coder_logout(struct acp_agent *agent, acp_call call, void *user);

/* coder_facts.c */
/* Which of them are looked at: all, or only those that cost nothing, the mode and the tools. */
enum fact_scope { FACTS_ALL, FACTS_QUICK };
/* What is so now; what is not looked at is as in told. */
int facts_gather(struct coding *coding, const struct facts *told, enum fact_scope scope,
                 struct facts *ret);
int facts_write_system(const struct facts *facts, struct acp_buf *out);
/* A note of what differs; nothing when nothing does. */
int facts_write_note(const struct facts *told, const struct facts *now, struct acp_buf *out);

/* coder_context.c */
/* The tool that calls tools of MCP servers which are not in the tool list. */
#define CODER_MCP_CALL "mcp_call"
/* Around what the agent says to the model itself, in messages of the user. */
#define CODER_NOTE_BEGIN "<agent_note>\n"
#define CODER_NOTE_END "\n</agent_note>"
enum { CODER_MAX_NOTE = 2 << 20 };
/* System text and tools of a request; made and logged when there are none for this model. */
int coding_get_context(struct coding *coding, struct model_ask *ask);
/* The next request begins a new prefix, and reasoning is taken out of the history. */
void coding_free_context(struct coding *coding);
/* Appends a note of what has changed since the model was last told; nothing when nothing has. */
int coding_write_note(struct coding *coding, enum fact_scope scope, struct acp_buf *out);
/* A turn begins; and all that the model was told in it was not, after all. */
void coding_begin_facts(struct coding *coding);
void coding_rewind_facts(struct coding *coding);

/* coder_calls.c */
/* Runs the calls among the parts; then work_ask() follows. */
void work_run_calls(struct work *work, const struct model_part *parts, size_t count);

/* coder_compact.c */
bool coding_is_nearly_full(const struct coding *coding);
/* What does not fit can be summed up, once in a turn; a single message cannot be. */
bool work_can_compact(const struct work *work);
/* The same with what was said cut, since all of it does not fit. */
void work_make_room(struct work *work);
/* Asks the model for a summary and puts it in the place of what was said; then the turn goes on. */
void work_compact(struct work *work);
/* The summary has come, or will not. */
void work_end_compaction(struct work *work, const struct model_end *end);

/* coder_turn.c */
void coder_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user);
void coder_cancel(struct acp_turn *turn, void *user);
/*
 * Clients that take notices get one; to the others it is said as a thought, in a turn.  False when
 * there is none.
 */
bool coding_warn(struct coding *coding, const char *sentence);
/* The same; what cannot be sent now is sent in the next turn. */
void coding_warn_later(struct coding *coding, const char *sentence);
/* A turn has begun: sends the warning that has waited for it. */
void coding_tell_warning(struct coding *coding);
/* The same for what users must not miss: a message, in a turn, to clients without notices. */
bool coding_tell(struct coding *coding, const char *sentence);
/* Sends these messages behind the context. */
int work_send(struct work *work, const struct model_message *messages, size_t count,
              struct acp_failure *failure);
/* Asks the model, with all of the history. */
void work_ask(struct work *work);
/* A turn that was cancelled ends when nothing of it is under way any more. */
bool work_end_if_cancelled(struct work *work);
/* The turn is over. */
void work_end(struct work *work, enum acp_stop stop);
/* The session ends in the middle of the turn, which the role answers as cancelled. */
void work_abandon(struct work *work);
/* What the turn has waited for is there: the model is asked. */
void work_go_on(struct work *work);
void work_fail(struct work *work, const char *sentence);
/* The prompt is whole: the model is asked. */
void work_begin(struct work *work);

/* coder_title.c */
/* Names the session after the first words of a prompt, unless it has a title. */
void coding_name(struct coding *coding, const struct model_part *parts, size_t count);
/* A turn has ended well: the model is asked for a title, when one is wanted. */
void coding_turn_ended(struct coding *coding);
/* It is not wanted any more. */
void coding_drop_title(struct coding *coding);

/* coder_shorten.c */
/* Copies the messages into ret, which has room for them, with long texts cut; in the arena. */
int coder_shorten(const struct model_message *messages, size_t count, struct acp_arena *arena,
                  struct model_message *ret);

/* coder_input.c */
/*
 * The parts of a prompt, in the arena; links are resources that have no text yet.  A sentence when
 * the model cannot take it.
 */
int coder_read_prompt(struct coding *coding, struct acp_content_block_list prompt,
                      struct acp_arena *arena, struct model_part **ret_parts, size_t *ret_count,
                      struct acp_failure *failure);

/* coder_attach.c */
/*
 * Reads what the links of work->prompt point at, then calls work_begin(), maybe inside of the call.
 * ACP_ERR_NOMEM: it will not.
 */
int work_read_links(struct work *work);
/* Copies the prompt, which is otherwise gone when the loop runs. */
int work_keep_prompt(struct work *work);

/* coder_command.c */
/* The commands that clients are told of, those of the project included; in the arena. */
struct acp_available_command_list coder_commands(struct coding *coding, struct acp_arena *arena);
/*
 * Looks whether the text is a command, and runs it.  One that stands for a prompt puts that into
 * the arena; ret_prompt is then what the model is to be given.
 */
enum command_end {
    COMMAND_NONE, /* it is none */
    COMMAND_DONE, /* the turn has ended, or will */
    COMMAND_PROMPT,
};
enum command_end coder_run_command(struct work *work, struct acp_str text,
                                   struct acp_str *ret_prompt);

/* coder_custom.c: .acp/commands/NAME.md of the project, each a prompt with $ARGUMENTS in it */
void coder_list_custom(struct coding *coding, struct acp_arena *arena,
                       struct acp_available_command_list *commands);
/* Tells once that there are more commands than are listed, as soon as there is a way to. */
void coding_tell_commands_cut(struct coding *coding);
/* The prompt that the command stands for, in the arena; false when there is no such file. */
bool coder_read_custom(struct coding *coding, struct acp_str name, struct acp_str arguments,
                       struct acp_arena *arena, struct acp_str *ret_prompt);

/* coder_fetch.c */
/* How the tools fetch an address. */
struct toolbox_fetch coder_fetch_tool(struct coder *coder);

/* coder_mcp.c */
/* Starts those that are programs.  The session has been accepted. */
void coding_start_servers(struct coding *coding, struct acp_mcp_server_list list);
/*
 * Whether the turn has to wait for servers that still start, which have some seconds for it.  Then
 * work_go_on() follows, unless coding_stop_waiting() comes before.
 */
bool coding_await_servers(struct coding *coding, struct work *work);
void coding_stop_waiting(struct coding *coding);
/* After the session's tools, which may be at work with them. */
void coding_end_servers(struct coding *coding);
/*
 * The tools of those that are ready, one by one; false behind the last.  Valid until the loop runs.
 */
bool coding_server_tool(const struct coding *coding, size_t index, struct model_tool *ret);
/* Only so many of these tools are in the tool list; users are told. */
void coding_tell_left_out(struct coding *coding, size_t offered);
/* A turn has begun: troubles that could not be told yet are told in it. */
void coding_tell_servers(struct coding *coding);
/* For tools_options.find; the user is the session. */
const struct tool *coder_find_server_tool(struct acp_str name, void *user);
/* For tools_options.name. */
const char *coder_name_server_tool(size_t index, void *user);

/* coder_jetbrains.c */
/*
 * The chat that is open in the IDE that has started us; false when we are not in one, or none is.
 */
bool coder_find_chat(const struct coder *coder, char ret_chat[CODER_CHAT_SIZE]);

/* coder_log.c */
extern const struct store_log_handler coding_log_handler;
int coder_open_store(struct coder *coder);
/* The role's before_update. */
void coder_keep_update(struct acp_session *session, const struct acp_session_update *update,
                       void *user);
/* Puts the session into the log, if it is not there yet; false when that cannot be. */
bool coding_begin_log(struct coding *coding);
/* Whether all of it is on disk. */
bool coding_is_kept(const struct coding *coding);
void coding_log_prompt(struct coding *coding, const struct acp_turn *turn,
                       struct acp_content_block_list prompt);
/* Writes down what the history has got since the last time. */
void coding_log(struct coding *coding);
/* The history was made anew: all of it is written down next, and the context begins anew. */
void coding_forget(struct coding *coding);
/* The history was cut back to what it is now. */
void coding_log_rewind(struct coding *coding);
/* The context as an event of that kind: model_context, or model_facts, which is less. */
void coding_log_context(struct coding *coding, const char *kind);
void coding_log_stop(struct coding *coding, const char *stop_reason);
void coding_log_error(struct coding *coding, const char *sentence);
/* For tools_options.shown; the user is the session. */
void coding_log_output(struct tools *set, const struct acp_tool_call_update *call, void *user);
/* Mode, model, effort and cost, after one of them has changed; and as they were kept. */
void coding_log_settings(struct coding *coding);
void coding_take_settings(struct coding *coding, struct acp_str settings);

/* coder_open.c */
void coder_load_session(struct acp_session *session,
                        const struct acp_resume_session_request *request, void *user);
void coder_resume_session(struct acp_session *session,
                          const struct acp_resume_session_request *request, void *user);
void coder_fork_session(struct acp_session *session, const struct acp_fork_session_request *request,
                        void *user);
/* The session that belongs to that chat; false when there is none. */
bool coder_session_of_chat(const struct coder *coder, const char *chat, char ret_id[STORE_ID_SIZE]);
/*
 * Goes on with the session of the same id out of the log, which answers the client: it accepts the
 * session or refuses it, later.
 */
int coding_open_again(struct coding *coding, bool tell, struct acp_failure *failure);
/* The session ends while it waits to be a copy of another. */
void coding_end_fork(struct coding *coding);
/* Lets sessions that nobody uses leave memory. */
int coder_watch_idle(struct coder *coder);
/* Brings the history of one back. */
int coding_wake(struct coding *coding, struct acp_failure *failure);

/* coder_list.c */
void coder_list_sessions(struct acp_agent *agent, acp_call call,
                         const struct acp_list_sessions_request *request, void *user);
void coder_delete_session(struct acp_agent *agent, acp_call call, struct acp_str id, void *user);

#endif
