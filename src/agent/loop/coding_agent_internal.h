/*
 * coding_agent_internal.h - the inside of the coding agent.
 *
 *   coding_agent.c           the process: loop, model service, the role's callbacks
 *   session.c   sessions: their setup, modes and options
 *   session_models.c    the models of all providers, and which one a session asks
 *   provider_methods.c providers as the client sets them
 *   login.c     keys that come and go while the process runs
 *   turn.c      a turn: the model, its tool calls, the model again
 *   title.c     what sessions are called
 *   tool_calls.c     the tool calls of an answer
 *   compaction.c   a conversation that fills the window, summed up
 *   compaction_cut.c   one that does not even fit for that, cut
 *   session_context.c   system text and tool list, made once for a session
 *   session_facts.c     what changes meanwhile, and how the model is told
 *   prompt_input.c     what a prompt holds, as the model takes it
 *   attach.c    the files that a prompt points at
 *   slash_commands.c   slash commands
 *   custom_commands.c    those of a project
 *   fetch_page.c     web pages for the model
 *   mcp_servers.c       the MCP servers of a session, and their tools
 *   jetbrains.c which chat of an IDE a session belongs to
 *   session_log.c       what is kept of a session, before anybody sees it
 *   session_open.c      sessions that come back: loaded, resumed, forked, or idle until now
 *   session_list.c      which sessions there are
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

enum { AGENT_SIGNALS = 3 };
/* Of enum acp_policy_mode. */
enum { AGENT_MODES = ACP_POLICY_FULL + 1 };

struct coding_agent {
    const struct coding_agent_options *options;
    uv_loop_t loop;
    uv_signal_t signals[AGENT_SIGNALS]; /* that ask us to end */
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
    struct acp_policy *policies[AGENT_MODES]; /* the user's rules in each mode; NULL: not used */
    struct acp_jobs *jobs;
    struct store_writer *writer; /* NULL: nothing is kept */
    bool store_failed;           /* and that was reported on standard error */
    uint64_t appended;           /* to the log: the numbers of acp_agent_hold_output() */
    uint64_t flushing;           /* up to this one, now; 0: nothing */
    uv_timer_t idle;             /* looks for sessions that nobody uses */
    size_t sessions;
    size_t servers;              /* of MCP, of all sessions */
    size_t history_bytes;        /* of all sessions */
    struct agent_session *first; /* of the sessions */
    uv_timer_t title_timer;      /* for sessions whose title is due */
};

/* That can be chosen from. */
enum { AGENT_MAX_MODELS = 400 };

/* Bytes of a session's title, and of the name of its model: a prompt can set both. */
enum { AGENT_MAX_NAME = 1024 };

/* The name of a chat of an IDE. */
enum { AGENT_CHAT_SIZE = 128 };

/* A session; the user pointer of the role's. */
struct agent_session {
    struct coding_agent *agent;
    struct agent_session *next;
    struct acp_session *role;
    const struct acp_policy *policy; /* one of the coder's */
    struct tools *tools;
    struct servers *servers; /* of MCP, or NULL: mcp_servers.c */
    bool commands_cut;       /* the project has more commands than are listed; not told yet */
    bool commands_told;
    struct history *history; /* NULL: it is idle, and all of it is in the log */
    struct context *context; /* NULL: it is idle, or the next request begins a new one */
    size_t logged;           /* messages of the history that are in the log */
    bool history_was_reset;  /* the history was made anew since */
    bool replays;            /* the client wants to hear what was said, once the log is open */
    bool skips_log;          /* what is sent now is in the log already */
    struct store_log *log;
    struct forking *forking; /* what waits to become this one's log, or NULL */
    uint64_t used;           /* when, last; the loop's time */
    uint64_t turns;
    char *title;
    bool title_wanted; /* it is but the first words: the model may give a better one */
    bool title_due;    /* and will be asked in a moment */
    struct model_reply *title_reply; /* on its way, or NULL */
    char *model;                     /* "provider/model"; NULL: the default of the process */
    enum model_effort effort;
    struct model_usage usage;   /* of the last answer */
    struct acp_opt_f64 cost;    /* of all answers so far, as far as it is known */
    uint64_t calls;             /* of tools, so far: their ids */
    uint64_t compactions;       /* likewise */
    char chat[AGENT_CHAT_SIZE]; /* of the IDE that the session belongs to; "": none */
    struct agent_turn *turn;    /* the turn at hand, or NULL */
    char *warning;              /* that could not be sent yet, or NULL */
};

/* A prompt until the model is asked; its parts are in the turn's arena. */
struct agent_turn_prompt {
    struct model_part *parts;
    size_t count;
    size_t next;  /* the first that may still be a link */
    size_t taken; /* bytes of the files that were read */
};

/* What a turn is doing. */
struct agent_turn {
    struct agent_session *session;
    struct acp_turn *role;
    struct agent_turn_prompt prompt;
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
    bool compacting;  /* the answer is the summary */
    bool too_long;    /* the model has said so in this turn: only once is something done about it */
    bool lost_a_call; /* the answer was cut off in a call */
    bool starting;    /* calls are being begun: their end is awaited all the same */
    bool waiting;     /* for MCP servers, before the model is asked */
    struct acp_buf text;
};

/* session.c */
void coding_agent_new_session(struct acp_session *role_session,
                              const struct acp_new_session_request *request, void *user);
void coding_agent_end_session(struct acp_session *role_session, void *user);
void coding_agent_set_mode(struct acp_session *role_session, acp_call call, struct acp_str mode,
                           void *user);
void coding_agent_set_option(struct acp_session *role_session, acp_call call,
                             const struct acp_set_session_config_option_request *request,
                             void *user);
struct agent_session *agent_session_new(struct coding_agent *agent,
                                        struct acp_session *role_session);
void agent_session_free(struct agent_session *session);
bool coding_agent_is_folder(struct acp_str path);
/* Refuses the session when its folder does not exist. */
bool coding_agent_check_folder(struct acp_session *role_session);
/* The session cannot be had; the coding is freed. */
void agent_session_reject(struct agent_session *session, int64_t code, const char *sentence);
/* Accepts the session and tells the client its modes, options and commands. */
int agent_session_accept(struct agent_session *session);
/*
 * Changes the mode; ACP_ERR_UNKNOWN, or ACP_ERR_STATE with a sentence when it cannot be had here.
 */
int agent_session_set_mode(struct agent_session *session, struct acp_str mode,
                           struct acp_failure *failure);
/* The same without the questions whether that is possible, and without a word.  ACP_ERR_NOMEM. */
int agent_session_use_mode(struct agent_session *session, enum acp_policy_mode mode);
/* Tells the client the mode, in every way that it has for modes. */
void agent_session_send_mode(struct agent_session *session);
/* Tells the client what the options are now. */
void agent_session_send_options(struct agent_session *session);
int agent_session_set_title(struct agent_session *session, struct acp_str title);
/* The same without telling anybody. */
int agent_session_use_title(struct agent_session *session, struct acp_str title);
/* Adds the cost of an answer to the session's. */
void agent_session_add_cost(struct agent_session *session, const struct model_usage *usage);

/* session_models.c */
/* Adds a provider to the catalog, or replaces it. */
int coding_agent_add_provider(struct coding_agent *agent, const char *id,
                              const struct model_settings *settings, struct acp_failure *failure);
/* Which model is asked by sessions that have none of their own. */
int coding_agent_set_default(struct coding_agent *agent, const char *provider,
                             struct acp_str model);
/* The catalog and the default, as they were found. */
int coding_agent_fill_catalog(struct coding_agent *agent, const struct model_choice *choice);
/* Whether a model of any provider may be sent it. */
bool coding_agent_accepts(const struct coding_agent *agent, enum model_part_kind kind);
/* Asks providers whose models nobody knows for their lists; sessions are told what comes. */
void coding_agent_list_models(struct coding_agent *agent);
/* What the session can choose from, the model that it has included; how many they are. */
size_t agent_session_model_choices(
    const struct agent_session *session,
    struct acp_session_config_select_option choices[AGENT_MAX_MODELS]);
/* "provider/model" of the session, and its parts. */
const char *agent_session_model(const struct agent_session *session);
struct acp_str agent_session_provider(const struct agent_session *session);
struct acp_str agent_session_model_id(const struct agent_session *session);
/* NULL when the provider has gone. */
struct model_service *agent_session_service(const struct agent_session *session);
/* For people. */
const char *agent_session_service_name(const struct agent_session *session);
bool agent_session_accepts(const struct agent_session *session, enum model_part_kind kind);
/* As model_ask(), of the session's model, which is put into ask.  ACP_ERR_STATE: it must not be. */
int agent_session_ask(struct agent_session *session, struct model_ask *ask,
                      const struct model_handler *handler, void *user, struct model_reply **ret,
                      struct acp_failure *failure);
/* The same model of another provider; NULL: the default in its place. */
int agent_session_change_provider(struct agent_session *session, const char *provider);
/* Chooses the model by a name as in model_catalog_resolve(); a sentence says why not. */
int agent_session_set_model(struct agent_session *session, struct acp_str name,
                            struct acp_failure *failure);

/* provider_methods.c */
/* What turns fail with while nobody may be asked. */
#define AGENT_PROVIDER_DISABLED                                                                    \
    "the client has disabled the provider of the model, and has set no other"
void coding_agent_request(struct acp_agent *role_agent, acp_call call,
                          const struct acp_method *method, const void *params,
                          const struct acp_message *message, void *user);
/* Whether the client has disabled the provider of the session's model. */
bool agent_session_is_disabled(const struct agent_session *session);

/* login.c */
/* The ways to log in, for as long as the coder lives. */
int coding_agent_list_logins(struct coding_agent *agent, struct acp_auth_method_list *ret);
void coding_agent_authenticate(struct acp_agent *role_agent, acp_call call, struct acp_str method,
                               void *user);
void coding_agent_logout(struct acp_agent *role_agent, acp_call call, void *user);

/* session_facts.c */
/* Which of them are looked at: all, or only those that cost nothing, the mode and the tools. */
enum fact_scope { FACTS_ALL, FACTS_QUICK };
/* What is so now; what is not looked at is as in told. */
int facts_gather(struct agent_session *session, const struct facts *told, enum fact_scope scope,
                 struct facts *ret);
int facts_write_system(const struct facts *facts, struct acp_buf *out);
/* A note of what differs; nothing when nothing does. */
int facts_write_note(const struct facts *told, const struct facts *now, struct acp_buf *out);

/* session_context.c */
/* The tool that calls tools of MCP servers which are not in the tool list. */
#define AGENT_MCP_CALL "mcp_call"
/* Around what the agent says to the model itself, in messages of the user. */
#define AGENT_NOTE_BEGIN "<agent_note>\n"
#define AGENT_NOTE_END "\n</agent_note>"
enum { AGENT_MAX_NOTE = 2 << 20 };
/* System text and tools of a request; made and logged when there are none for this model. */
int agent_session_get_context(struct agent_session *session, struct model_ask *ask);
/* The next request begins a new prefix, and reasoning is taken out of the history. */
void agent_session_free_context(struct agent_session *session);
/* Appends a note of what has changed since the model was last told; nothing when nothing has. */
int agent_session_write_note(struct agent_session *session, enum fact_scope scope,
                             struct acp_buf *out);
/* A turn begins; and all that the model was told in it was not, after all. */
void agent_session_save_facts(struct agent_session *session);
void agent_session_rewind_facts(struct agent_session *session);

/* tool_calls.c */
/* Runs the calls among the parts; then agent_turn_ask() follows. */
void agent_turn_run_calls(struct agent_turn *turn, const struct model_part *parts, size_t count);

/* compaction.c */
bool agent_session_is_nearly_full(const struct agent_session *session);
/* What does not fit can be summed up, once in a turn; a single message cannot be. */
bool agent_turn_can_compact(const struct agent_turn *turn);
/* The same with what was said cut, since all of it does not fit. */
void agent_turn_compact_cut(struct agent_turn *turn);
/* Asks the model for a summary and puts it in the place of what was said; then the turn goes on. */
void agent_turn_compact(struct agent_turn *turn);
/* The summary has come, or will not. */
void agent_turn_end_compaction(struct agent_turn *turn, const struct model_end *end);

/* turn.c */
void coding_agent_prompt(struct acp_turn *role_turn, struct acp_content_block_list prompt,
                         void *user);
void coding_agent_cancel(struct acp_turn *role_turn, void *user);
/*
 * Clients that take notices get one; to the others it is said as a thought, in a turn.  False when
 * there is none.
 */
bool agent_session_warn(struct agent_session *session, const char *sentence);
/* The same; what cannot be sent now is sent in the next turn. */
void agent_session_warn_later(struct agent_session *session, const char *sentence);
/* A turn has begun: sends the warning that has waited for it. */
void agent_session_send_warning(struct agent_session *session);
/* The same for what users must not miss: a message, in a turn, to clients without notices. */
bool agent_session_alert(struct agent_session *session, const char *sentence);
/* Sends these messages behind the context. */
int agent_turn_send(struct agent_turn *turn, const struct model_message *messages, size_t count,
                    struct acp_failure *failure);
/* Asks the model, with all of the history. */
void agent_turn_ask(struct agent_turn *turn);
/* A turn that was cancelled ends when nothing of it is under way any more. */
bool agent_turn_end_if_cancelled(struct agent_turn *turn);
/* The turn is over. */
void agent_turn_end(struct agent_turn *turn, enum acp_stop stop);
/* The session ends in the middle of the turn, which the role answers as cancelled. */
void agent_turn_abandon(struct agent_turn *turn);
/* What the turn has waited for is there: the model is asked. */
void agent_turn_continue(struct agent_turn *turn);
void agent_turn_fail(struct agent_turn *turn, const char *sentence);
/* The prompt is whole: the model is asked. */
void agent_turn_begin(struct agent_turn *turn);

/* title.c */
/* Names the session after the first words of a prompt, unless it has a title. */
void agent_session_title_from_prompt(struct agent_session *session, const struct model_part *parts,
                                     size_t count);
/* A turn has ended well: the model is asked for a title, when one is wanted. */
void agent_session_schedule_title(struct agent_session *session);
/* It is not wanted any more. */
void agent_session_cancel_title(struct agent_session *session);

/* compaction_cut.c */
/* Copies the messages into ret, which has room for them, with long texts cut; in the arena. */
int compaction_cut(const struct model_message *messages, size_t count, struct acp_arena *arena,
                   struct model_message *ret);

/* prompt_input.c */
/*
 * The parts of a prompt, in the arena; links are resources that have no text yet.  A sentence when
 * the model cannot take it.
 */
int agent_session_read_prompt(struct agent_session *session, struct acp_content_block_list prompt,
                              struct acp_arena *arena, struct model_part **ret_parts,
                              size_t *ret_count, struct acp_failure *failure);

/* attach.c */
/*
 * Reads what the links of turn->prompt point at, then calls agent_turn_begin(), maybe inside of the
 * call.
 * ACP_ERR_NOMEM: it will not.
 */
int agent_turn_read_links(struct agent_turn *turn);
/* Copies the prompt, which is otherwise gone when the loop runs. */
int agent_turn_copy_prompt(struct agent_turn *turn);

/* slash_commands.c */
/* The commands that clients are told of, those of the project included; in the arena. */
struct acp_available_command_list agent_session_commands(struct agent_session *session,
                                                         struct acp_arena *arena);
/*
 * Looks whether the text is a command, and runs it.  One that stands for a prompt puts that into
 * the arena; ret_prompt is then what the model is to be given.
 */
enum command_end {
    COMMAND_NONE, /* it is none */
    COMMAND_DONE, /* the turn has ended, or will */
    COMMAND_PROMPT,
};
enum command_end agent_turn_run_command(struct agent_turn *turn, struct acp_str text,
                                        struct acp_str *ret_prompt);

/* custom_commands.c: .acp/commands/NAME.md of the project, each a prompt with $ARGUMENTS in it */
void agent_session_list_custom_commands(struct agent_session *session, struct acp_arena *arena,
                                        struct acp_available_command_list *commands);
/* Tells once that there are more commands than are listed, as soon as there is a way to. */
void agent_session_warn_commands_cut(struct agent_session *session);
/* The prompt that the command stands for, in the arena; false when there is no such file. */
bool agent_session_read_custom_command(struct agent_session *session, struct acp_str name,
                                       struct acp_str arguments, struct acp_arena *arena,
                                       struct acp_str *ret_prompt);

/* fetch_page.c */
/* How the tools fetch an address. */
struct toolbox_fetch coding_agent_fetch_tool(struct coding_agent *agent);

/* mcp_servers.c */
/* Starts those that are programs.  The session has been accepted. */
void agent_session_start_servers(struct agent_session *session, struct acp_mcp_server_list list);
/*
 * Whether the turn has to wait for servers that still start, which have some seconds for it.  Then
 * agent_turn_continue() follows, unless agent_session_stop_waiting() comes before.
 */
bool agent_session_wait_for_servers(struct agent_session *session, struct agent_turn *turn);
void agent_session_stop_waiting(struct agent_session *session);
/* After the session's tools, which may be at work with them. */
void agent_session_stop_servers(struct agent_session *session);
/*
 * The tools of those that are ready, one by one; false behind the last.  Valid until the loop runs.
 */
bool agent_session_server_tool(const struct agent_session *session, size_t index,
                               struct model_tool *ret);
/* Only so many of these tools are in the tool list; users are told. */
void agent_session_warn_tools_omitted(struct agent_session *session, size_t offered);
/* A turn has begun: troubles that could not be told yet are told in it. */
void agent_session_report_servers(struct agent_session *session);
/* For tools_options.find; the user is the session. */
const struct tool *agent_session_find_server_tool(struct acp_str name, void *user);
/* For tools_options.name. */
const char *agent_session_name_server_tool(size_t index, void *user);

/* jetbrains.c */
/*
 * The chat that is open in the IDE that has started us; false when we are not in one, or none is.
 */
bool coding_agent_find_chat(const struct coding_agent *agent, char ret_chat[AGENT_CHAT_SIZE]);

/* session_log.c */
extern const struct store_log_handler agent_session_log_handler;
int coding_agent_open_store(struct coding_agent *agent);
/* The role's before_update. */
void coding_agent_before_update(struct acp_session *role_session,
                                const struct acp_session_update *update, void *user);
/* Puts the session into the log, if it is not there yet; false when that cannot be. */
bool agent_session_begin_log(struct agent_session *session);
/* Whether all of it is on disk. */
bool agent_session_is_durable(const struct agent_session *session);
void agent_session_log_prompt(struct agent_session *session, const struct acp_turn *role_turn,
                              struct acp_content_block_list prompt);
/* Writes down what the history has got since the last time. */
void agent_session_log_history(struct agent_session *session);
/* The history was made anew: all of it is written down next, and the context begins anew. */
void agent_session_reset_history(struct agent_session *session);
/* The history was cut back to what it is now. */
void agent_session_log_rewind(struct agent_session *session);
/* The context as an event of that kind: model_context, or model_facts, which is less. */
void agent_session_log_context(struct agent_session *session, const char *kind);
void agent_session_log_stop(struct agent_session *session, const char *stop_reason);
void agent_session_log_error(struct agent_session *session, const char *sentence);
/* For tools_options.shown; the user is the session. */
void agent_session_log_output(struct tools *set, const struct acp_tool_call_update *call,
                              void *user);
/* Mode, model, effort and cost, after one of them has changed; and as they were kept. */
void agent_session_log_settings(struct agent_session *session);
void agent_session_apply_settings(struct agent_session *session, struct acp_str settings);

/* session_open.c */
void coding_agent_load_session(struct acp_session *role_session,
                               const struct acp_resume_session_request *request, void *user);
void coding_agent_resume_session(struct acp_session *role_session,
                                 const struct acp_resume_session_request *request, void *user);
void coding_agent_fork_session(struct acp_session *role_session,
                               const struct acp_fork_session_request *request, void *user);
/* The session that belongs to that chat; false when there is none. */
bool coding_agent_session_of_chat(const struct coding_agent *agent, const char *chat,
                                  char ret_id[STORE_ID_SIZE]);
/*
 * Goes on with the session of the same id out of the log, which answers the client: it accepts the
 * session or refuses it, later.
 */
int agent_session_reopen(struct agent_session *session, bool tell, struct acp_failure *failure);
/* The session ends while it waits to be a copy of another. */
void agent_session_cancel_open(struct agent_session *session);
/* Lets sessions that nobody uses leave memory. */
int coding_agent_watch_idle(struct coding_agent *agent);
/* Brings the history of one back. */
int agent_session_restore(struct agent_session *session, struct acp_failure *failure);

/* session_list.c */
void coding_agent_list_sessions(struct acp_agent *role_agent, acp_call call,
                                const struct acp_list_sessions_request *request, void *user);
void coding_agent_delete_session(struct acp_agent *role_agent, acp_call call, struct acp_str id,
                                 void *user);

#endif
