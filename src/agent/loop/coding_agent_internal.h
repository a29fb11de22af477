/*
 * coding_agent_internal.h - what the files of the coding agent share.
 *
 *   coding_agent.c      the process: loop, model service, callbacks of the role
 *   session.c           sessions: creation, states, modes, options, title
 *   session_open.c      opening stored sessions: load, resume, fork, and restoring idle ones
 *   session_read.c      reading a session from the log, on the store's thread
 *   session_replay.c    sending a client what a stored session has shown
 *   session_list.c      listing and deleting sessions
 *   session_log.c       writing the log, before the client sees anything
 *   log_kinds.h         the kinds of events in it
 *   session_context.c   system text and tool list, made once for a session
 *   session_facts.c     what changes during a session, and how the model learns of it
 *   session_models.c    the models of all providers, and the model of a session
 *   provider_methods.c  providers set by the client
 *   login.c             keys that are added or removed while the process runs
 *   turn.c              a turn: the model, its tool calls, the model again
 *   tool_calls.c        the tool calls of an answer
 *   compaction.c        summarising a conversation that fills the model's window
 *   compaction_cut.c    shortening one that is too long even for that
 *   prompt_input.c      the blocks of a prompt, as parts of a message to the model
 *   attach.c            reading the files that a prompt links to
 *   slash_commands.c    slash commands
 *   custom_commands.c   slash commands defined by the project
 *   title.c             session titles
 *   fetch_page.c        web pages for the model
 *   mcp_servers.h       the MCP servers of a session
 *   jetbrains.c         which chat of a JetBrains IDE a session belongs to
 *
 * `role` is the role's object for the same thing: struct acp_session for a session, struct acp_turn
 * for a turn.
 */
#ifndef SRC_AGENT_LOOP_CODING_AGENT_INTERNAL_H
#define SRC_AGENT_LOOP_CODING_AGENT_INTERNAL_H

#include "agent/loop/coding_agent.h"
#include "agent/loop/context.h"
#include "agent/loop/history.h"
#include "agent/loop/log_kinds.h"
#include "agent/toolkit/tools.h"
#include "model/catalog.h"
#include "model/find.h"
#include "store/log.h"
#include "store/worker.h"

enum { AGENT_SIGNALS = 3 };
/* One for each value of enum acp_policy_mode. */
enum { AGENT_MODES = ACP_POLICY_FULL + 1 };

/* ---- The process ----------------------------------------------------------------------------- */

struct coding_agent {
    const struct coding_agent_options *options;
    uv_loop_t loop;
    uv_signal_t signals[AGENT_SIGNALS]; /* that end the process */
    bool stopping;                      /* one of them has arrived */
    bool closed;                        /* everything, which takes the loop a moment */
    struct acp_agent_stdio *stdio;
    struct acp_reaper *reaper;
    struct http_client *http;
    struct model_find *find; /* while a model is searched for */
    int err;                 /* why the agent could not start */
    struct acp_failure failure;
    struct model_catalog *catalog;
    char *model;     /* "provider/model", for sessions without a model of their own */
    bool disabled;   /* the client has disabled the provider of that model */
    char *sign_ins;  /* memory of the login methods */
    char title[200]; /* with the model and its address */
    struct toolbox *box;
    struct acp_policy *policies[AGENT_MODES]; /* the user's rules in each mode; NULL: unused */
    struct acp_jobs *jobs;
    struct store_writer *writer; /* NULL: sessions are not stored */
    struct store_worker *worker; /* reads the log on a thread; NULL like the writer */
    bool store_failed;           /* reported on standard error */
    uint64_t appended;           /* events: the numbers of acp_agent_hold_output() */
    uint64_t flushing;           /* up to this event; 0: no flush is under way */
    uv_timer_t idle;             /* finds sessions that nobody uses */
    size_t sessions;
    size_t servers;              /* of MCP, of all sessions */
    size_t history_bytes;        /* of all sessions */
    struct agent_session *first; /* of the sessions */
    uv_timer_t title_timer;      /* for sessions whose title is scheduled */
};

/* Models to choose from. */
enum { AGENT_MAX_MODELS = 400 };

/* Most titles fit in the session: a separate block, allocated late, would keep a page in use. */
enum { AGENT_TITLE_ROOM = 104 };

/* Bytes of a session's title and of a model's name: a prompt can set both. */
enum { AGENT_MAX_NAME = 1024 };

/* The name of a chat of an IDE. */
enum { AGENT_CHAT_SIZE = 128 };

/* ---- Sessions -------------------------------------------------------------------------------- */

/* agent_session_set_state() has the transitions. */
enum agent_session_state {
    AGENT_SESSION_NEW,       /* made for a request of the client, which is not answered yet */
    AGENT_SESSION_OPENING,   /* the log is searched, flushed or claimed for it */
    AGENT_SESSION_READING,   /* its events are read, and replayed if the client asked for that */
    AGENT_SESSION_OPEN,      /* the client can use it */
    AGENT_SESSION_IDLE,      /* the same, but history and context are in the log only */
    AGENT_SESSION_RESTORING, /* they are read back for a turn, which waits */
    AGENT_SESSION_CLOSED,    /* about to be freed */
};

enum agent_title_state {
    AGENT_TITLE_FINAL,       /* set by the user or the model, or not wanted at all */
    AGENT_TITLE_PROVISIONAL, /* the first words of the prompt; the model may give a better one */
    AGENT_TITLE_SCHEDULED,   /* the model will be asked in a moment */
    AGENT_TITLE_REQUESTED,   /* it was asked */
};

/* Projects may define more slash commands than are listed. */
enum agent_commands_state {
    AGENT_COMMANDS_LISTED,       /* all of them are */
    AGENT_COMMANDS_CUT,          /* they are not; to be reported */
    AGENT_COMMANDS_CUT_REPORTED, /* it was */
};

/* What a client sets for one session: session_overrides.c. */
struct agent_overrides {
    char *system;          /* instead of our own text; NULL: ours */
    char *append;          /* after it; may be NULL */
    char *tools;           /* the names of those that there are, each with a line end; NULL: all */
    uint64_t max_requests; /* to the model in a turn; 0: the agent's */
    bool no_commands;
};

/* Bytes of the _meta in which they come. */
enum { AGENT_MAX_OVERRIDE = 1024 * 1024 };

/* A session; the user pointer of its role. */
struct agent_session {
    struct coding_agent *agent;
    struct agent_session *next;
    struct acp_session *role;
    enum agent_session_state state;
    const struct acp_policy *policy; /* one of the agent's */
    struct tools *tools;
    struct mcp_servers *servers; /* or NULL: mcp_servers.c */
    enum agent_commands_state commands;
    struct history *history;      /* NULL: idle */
    struct context *context;      /* NULL: idle, or the next request makes a new one */
    size_t logged;                /* messages of the history that are in the log */
    bool history_was_reset;       /* and the log does not say so yet */
    struct store_log *log;        /* NULL: not stored, or not opened yet */
    struct session_open *opening; /* while it is opened, read or restored, or NULL */
    uint64_t last_used;           /* the loop's time */
    uint64_t turns;
    char *title; /* in title_room where it fits */
    char title_room[AGENT_TITLE_ROOM];
    enum agent_title_state title_state;
    struct model_reply *title_reply; /* under way, or NULL */
    char *model;                     /* "provider/model"; NULL: the agent's */
    enum model_effort effort;
    struct model_usage usage;   /* of the last answer */
    struct acp_opt_f64 cost;    /* of all answers so far, as far as it is known */
    uint64_t calls;             /* tool calls so far, for their ids */
    uint64_t compactions;       /* so far, for their ids */
    char chat[AGENT_CHAT_SIZE]; /* of the IDE that the session belongs to; "": none */
    struct agent_turn *turn;    /* or NULL */
    struct agent_overrides overrides;
    char *warning; /* to be sent with the next turn, or NULL */
};

/* ---- Turns ----------------------------------------------------------------------------------- */

/*
 * What a turn is waiting for.  It can be cancelled in any state; it then ends as soon as what it is
 * waiting for has ended.  agent_turn_set_state() has the transitions.
 */
enum agent_turn_state {
    AGENT_TURN_PREPARING,           /* the prompt is being read; a slash command may be running */
    AGENT_TURN_RESTORING,           /* the history of an idle session is read from the log */
    AGENT_TURN_READING_FILES,       /* that the prompt links to */
    AGENT_TURN_WAITING_FOR_SERVERS, /* of MCP, which are still starting */
    AGENT_TURN_READY,               /* to ask the model, or to end */
    AGENT_TURN_ASKING,              /* the model is answering */
    AGENT_TURN_COMPACTING,          /* the model is writing a summary */
    AGENT_TURN_STARTING_CALLS,      /* of tools; those that end at once do not end the wait */
    AGENT_TURN_RUNNING_CALLS,
    AGENT_TURN_ENDED, /* about to be freed */
};

/* A prompt until the model is asked; its parts are in the turn's arena. */
struct agent_prompt {
    struct model_part *parts;
    size_t count;
    size_t next;  /* the first part that may still be an unread link */
    size_t taken; /* bytes of the files that were read */
};

struct agent_turn {
    struct agent_session *session;
    struct acp_turn *role;
    enum agent_turn_state state;
    bool cancelled;
    struct agent_prompt prompt;
    struct model_reply *reply; /* while the state is ASKING or COMPACTING */
    uint64_t requests;
    size_t open_calls;
    struct acp_arena arena; /* of the results */
    struct model_part *results;
    uint64_t *hashes; /* of the calls, in the order of the results */
    size_t result_count;
    uint64_t failed;      /* hash of the last call that failed */
    unsigned failures;    /* of that call in a row; 0: the last call did not fail */
    unsigned continued;   /* answers in a row that were cut off */
    size_t first_message; /* of the turn, in the history */
    bool exceeded_window; /* the model has said so: it is acted on once in a turn */
    bool lost_a_call;     /* the answer was cut off in the middle of a call */
    struct acp_buf summary;
};

/* ---- session.c ------------------------------------------------------------------------------- */

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
void agent_session_set_state(struct agent_session *session, enum agent_session_state state);
bool coding_agent_is_folder(struct acp_str path);
/* Rejects the session if its folder does not exist. */
bool coding_agent_check_folder(struct acp_session *role_session);
/* Answers the request that was to open the session with an error, and frees the session. */
void agent_session_reject(struct agent_session *session, int64_t code, const char *sentence);
/* Opens the session: the client gets its modes, options and commands. */
int agent_session_accept(struct agent_session *session);
/* ACP_ERR_UNKNOWN, or ACP_ERR_STATE with a sentence if the mode is not possible here. */
int agent_session_set_mode(struct agent_session *session, struct acp_str mode,
                           struct acp_failure *failure);
/* Sets the mode without checking, logging or sending it.  ACP_ERR_NOMEM. */
int agent_session_use_mode(struct agent_session *session, enum acp_policy_mode mode);
/* Sends the mode to the client, in every way in which it takes modes. */
void agent_session_send_mode(struct agent_session *session);
void agent_session_send_options(struct agent_session *session);
/* Logs and sends it as well. */
int agent_session_set_title(struct agent_session *session, struct acp_str title);
int agent_session_use_title(struct agent_session *session, struct acp_str title);
/* Adds the cost of an answer. */
void agent_session_add_cost(struct agent_session *session, const struct model_usage *usage);

/* ---- session_overrides.c --------------------------------------------------------------------- */

/* Reads them from the _meta of session/new, which may be absent. */
void agent_session_read_overrides(struct agent_session *session, struct acp_raw meta);
/* Writes them as members of the settings, and reads one of these. */
void agent_overrides_write(const struct agent_overrides *overrides, struct acp_json_writer *w);
void agent_overrides_read(struct agent_overrides *overrides, struct acp_str key,
                          struct acp_str value);
bool agent_overrides_have_tool(const struct agent_overrides *overrides, struct acp_str name,
                               enum acp_tool_kind_is kind);
void agent_overrides_finish(struct agent_overrides *overrides);

/* ---- session_models.c ------------------------------------------------------------------------ */

/* Adds a provider to the catalog, or replaces it. */
int coding_agent_add_provider(struct coding_agent *agent, const char *id,
                              const struct model_settings *settings, struct acp_failure *failure);
/* Sets the model of sessions that have none of their own. */
int coding_agent_set_default(struct coding_agent *agent, const char *provider,
                             struct acp_str model);
/* Catalog and default model, as they were found. */
int coding_agent_fill_catalog(struct coding_agent *agent, const struct model_choice *choice);
/* Whether a model of any provider accepts this kind of input. */
bool coding_agent_accepts(const struct coding_agent *agent, enum model_part_kind kind);
/* Asks providers for their model lists where none is known; sends what has changed to clients. */
void coding_agent_list_models(struct coding_agent *agent);
/* The models that the session can choose from, its own included; returns their number. */
size_t agent_session_model_choices(
    const struct agent_session *session,
    struct acp_session_config_select_option choices[AGENT_MAX_MODELS]);
/* "provider/model" of the session, and its parts. */
const char *agent_session_model(const struct agent_session *session);
struct acp_str agent_session_provider(const struct agent_session *session);
struct acp_str agent_session_model_id(const struct agent_session *session);
/* NULL if the provider was removed. */
struct model_service *agent_session_service(const struct agent_session *session);
/* For people. */
const char *agent_session_service_name(const struct agent_session *session);
bool agent_session_accepts(const struct agent_session *session, enum model_part_kind kind);
/* Like model_ask(), with the session's model.  ACP_ERR_STATE: its provider is not available. */
int agent_session_ask(struct agent_session *session, struct model_ask *ask,
                      const struct model_handler *handler, void *user, struct model_reply **ret,
                      struct acp_failure *failure);
/* Keeps the model and changes its provider; NULL: the agent's default model. */
int agent_session_change_provider(struct agent_session *session, const char *provider);
/* Takes names as model_catalog_resolve() does; the failure says why it does not. */
int agent_session_set_model(struct agent_session *session, struct acp_str name,
                            struct acp_failure *failure);

/* ---- provider_methods.c ---------------------------------------------------------------------- */

/* What turns fail with while the provider is disabled. */
#define AGENT_PROVIDER_DISABLED                                                                    \
    "the client has disabled the provider of the model, and has set no other"
void coding_agent_request(struct acp_agent *role_agent, acp_call call,
                          const struct acp_method *method, const void *params,
                          const struct acp_message *message, void *user);
/* Whether the client has disabled the provider of the session's model. */
bool agent_session_is_disabled(const struct agent_session *session);

/* ---- login.c --------------------------------------------------------------------------------- */

/* The login methods; valid as long as the agent. */
int coding_agent_list_logins(struct coding_agent *agent, struct acp_auth_method_list *ret);
void coding_agent_authenticate(struct acp_agent *role_agent, acp_call call, struct acp_str method,
                               void *user);
void coding_agent_logout(struct acp_agent *role_agent, acp_call call, void *user);

/* ---- session_facts.c ------------------------------------------------------------------------- */

/* FACTS_QUICK: only the mode and the tools, which cost nothing to look up. */
enum fact_scope { FACTS_ALL, FACTS_QUICK };
/* The facts as they are now; those outside of the scope are taken from `known`. */
int facts_gather(struct agent_session *session, const struct facts *known, enum fact_scope scope,
                 struct facts *ret);
int facts_write_system(const struct facts *facts, struct acp_buf *out);
/* Appends a note of the differences; nothing if there are none. */
int facts_write_note(const struct facts *known, const struct facts *now, struct acp_buf *out);

/* ---- session_context.c ----------------------------------------------------------------------- */

/* The tool that calls tools of MCP servers which are not in the tool list. */
#define AGENT_MCP_CALL "mcp_call"
/* Around what the agent itself tells the model, in messages of the user. */
#define AGENT_NOTE_BEGIN "<agent_note>\n"
#define AGENT_NOTE_END "\n</agent_note>"
enum { AGENT_MAX_NOTE = 2 << 20 };
/* Sets system text and tools of a request; makes and logs them if this model has none yet. */
int agent_session_get_context(struct agent_session *session, struct model_ask *ask);
/* The next request makes a new context, and reasoning is removed from the history. */
void agent_session_free_context(struct agent_session *session);
/* Appends a note of what has changed since the last one; nothing if nothing has. */
int agent_session_write_note(struct agent_session *session, enum fact_scope scope,
                             struct acp_buf *out);
/* Remembers the facts that the model knows when a turn begins, and goes back to them. */
void agent_session_save_facts(struct agent_session *session);
void agent_session_rewind_facts(struct agent_session *session);

/* ---- tool_calls.c ---------------------------------------------------------------------------- */

/* Runs the calls among the parts, then calls agent_turn_ask(). */
void agent_turn_run_calls(struct agent_turn *turn, const struct model_part *parts, size_t count);

/* ---- compaction.c ---------------------------------------------------------------------------- */

bool agent_session_is_nearly_full(const struct agent_session *session);
/* Whether a conversation that exceeds the window can be summarised: once in a turn. */
bool agent_turn_can_compact(const struct agent_turn *turn);
/* Has the model write a summary, which replaces the conversation; then the turn continues. */
void agent_turn_compact(struct agent_turn *turn);
/* The same for a conversation that exceeds the window: the model gets it with long texts cut. */
void agent_turn_compact_cut(struct agent_turn *turn);
/* The summary, or the error in its place. */
void agent_turn_end_compaction(struct agent_turn *turn, const struct model_end *end);

/* ---- compaction_cut.c ------------------------------------------------------------------------ */

/* Copies the messages to ret, which has room for them, with long texts cut; in the arena. */
int compaction_cut(const struct model_message *messages, size_t count, struct acp_arena *arena,
                   struct model_message *ret);

/* ---- turn.c ---------------------------------------------------------------------------------- */

void coding_agent_prompt(struct acp_turn *role_turn, struct acp_content_block_list blocks,
                         void *user);
void coding_agent_cancel(struct acp_turn *role_turn, void *user);
void agent_turn_set_state(struct agent_turn *turn, enum agent_turn_state state);
/*
 * Sends a warning: as a notice to clients that take notices, as a thought in a turn to others.
 * Returns false if neither is possible now.
 */
bool agent_session_warn(struct agent_session *session, const char *sentence);
/* The same; a warning that cannot be sent now is sent with the next turn. */
void agent_session_warn_later(struct agent_session *session, const char *sentence);
/* Sends the warning that has waited for a turn. */
void agent_session_send_warning(struct agent_session *session);
/* Like agent_session_warn(), for what users must not miss: a message in place of the thought. */
bool agent_session_alert(struct agent_session *session, const char *sentence);
/* Sends these messages with the context in front of them.  state: ASKING or COMPACTING. */
int agent_turn_send(struct agent_turn *turn, enum agent_turn_state state,
                    const struct model_message *messages, size_t count,
                    struct acp_failure *failure);
/* Sends the whole history. */
void agent_turn_ask(struct agent_turn *turn);
/* Returns whether the turn was cancelled; if it was, ends it unless something is still running. */
bool agent_turn_end_if_cancelled(struct agent_turn *turn);
void agent_turn_end(struct agent_turn *turn, enum acp_stop stop);
void agent_turn_fail(struct agent_turn *turn, const char *sentence);
/* The session is closed during the turn, which the role answers as cancelled. */
void agent_turn_abandon(struct agent_turn *turn);
/* The history was restored: continues with the prompt, or fails. */
void agent_turn_restored(struct agent_turn *turn, int err, const struct acp_failure *failure);
/* The prompt is complete: waits for MCP servers if necessary, then asks the model. */
void agent_turn_begin(struct agent_turn *turn);
/* The MCP servers are there: asks the model. */
void agent_turn_continue(struct agent_turn *turn);

/* ---- title.c --------------------------------------------------------------------------------- */

/* Titles the session with the first words of a prompt, unless it has a title. */
void agent_session_title_from_prompt(struct agent_session *session, const struct model_part *parts,
                                     size_t count);
/* A turn has ended well: the model is asked for a title unless the session has a final one. */
void agent_session_schedule_title(struct agent_session *session);
/* The title stays as it is: what the model may still answer is ignored. */
void agent_session_settle_title(struct agent_session *session);
/* The same, and ends the request. */
void agent_session_cancel_title(struct agent_session *session);

/* ---- prompt_input.c -------------------------------------------------------------------------- */

/*
 * The parts of a prompt, in the arena; links become resources without a text.  The failure says
 * what the model cannot take.
 */
int agent_session_read_prompt(struct agent_session *session, struct acp_content_block_list prompt,
                              struct acp_arena *arena, struct model_part **ret_parts,
                              size_t *ret_count, struct acp_failure *failure);

/* ---- attach.c -------------------------------------------------------------------------------- */

/*
 * Reads the files that turn->prompt links to, then calls agent_turn_begin(), possibly before it
 * returns.  ACP_ERR_NOMEM: nothing was done.
 */
int agent_turn_read_links(struct agent_turn *turn);
/* Copies the prompt, which is otherwise valid only until its callback returns. */
int agent_turn_copy_prompt(struct agent_turn *turn);

/* ---- slash_commands.c ------------------------------------------------------------------------ */

/* The commands to list, including those of the project; in the arena. */
struct acp_available_command_list agent_session_commands(struct agent_session *session,
                                                         struct acp_arena *arena);
enum command_end {
    COMMAND_NONE,   /* the text is not a command */
    COMMAND_DONE,   /* it was run; the turn has ended, or will */
    COMMAND_PROMPT, /* it stands for a prompt */
};
/* Runs the command that the text may be.  ret_prompt, in the turn's arena: what it stands for. */
enum command_end agent_turn_run_command(struct agent_turn *turn, struct acp_str text,
                                        struct acp_str *ret_prompt);

/* ---- custom_commands.c: .acp/commands/NAME.md, a prompt with $ARGUMENTS in it ---------------- */

void agent_session_list_custom_commands(struct agent_session *session, struct acp_arena *arena,
                                        struct acp_available_command_list *commands);
/* Warns, once and as soon as that is possible, if not all commands are listed. */
void agent_session_warn_commands_cut(struct agent_session *session);
/* The prompt that the command stands for, in the arena; false if there is no such file. */
bool agent_session_read_custom_command(struct agent_session *session, struct acp_str name,
                                       struct acp_str arguments, struct acp_arena *arena,
                                       struct acp_str *ret_prompt);

/* ---- fetch_page.c ---------------------------------------------------------------------------- */

/* How the tools fetch an address. */
struct toolbox_fetch coding_agent_fetch_tool(struct coding_agent *agent);

/* ---- mcp_servers.c --------------------------------------------------------------------------- */

/* Rejects the session, naming the entry, if a server cannot be used as it is given. */
bool coding_agent_check_servers(struct acp_session *role_session, struct acp_mcp_server_list list);
/* For acp_agent_handler.notification: notifications of servers in the client. */
void coding_agent_notified(struct acp_agent *role_agent, const struct acp_message *message,
                           void *user);
/* Starts those of the list, and those of the configuration. */
void agent_session_start_servers(struct agent_session *session, struct acp_mcp_server_list list);
/*
 * Whether the turn has to wait for servers that are starting, which have some seconds for it.  If
 * so, agent_turn_continue() is called later, unless agent_session_stop_waiting() comes first.
 */
bool agent_session_wait_for_servers(struct agent_session *session, struct agent_turn *turn);
void agent_session_stop_waiting(struct agent_session *session);
/* To be called after the session's tools were freed, which may be using them. */
void agent_session_stop_servers(struct agent_session *session);
/* The tools of the servers that are ready; false past the last.  Valid until the loop runs. */
bool agent_session_server_tool(const struct agent_session *session, size_t index,
                               struct model_tool *ret);
/* Only this many of them are in the tool list: warns the user. */
void agent_session_warn_tools_omitted(struct agent_session *session, size_t offered);
/* A turn has begun: reports problems that could not be reported before. */
void agent_session_report_servers(struct agent_session *session);
/* Adds the prompts of the servers to the commands; in the arena. */
void agent_session_list_server_prompts(struct agent_session *session, struct acp_arena *arena,
                                       struct acp_available_command_list *commands);
/* Runs the prompt "SERVER:PROMPT"; false if there is none of that name. */
bool agent_turn_run_server_prompt(struct agent_turn *turn, struct acp_str name,
                                  struct acp_str argument);
/* For /mcp: a line for each server. */
int agent_session_describe_servers(const struct agent_session *session, struct acp_buf *out);
/* What servers say about their use; false past the last. */
bool agent_session_server_instructions(const struct agent_session *session, size_t index,
                                       const char **ret_name, struct acp_str *ret_text);
/* For tools_options.find and tools_options.name; the user pointer is the session. */
const struct tool *agent_session_find_server_tool(struct acp_str name, void *user);
const char *agent_session_name_server_tool(size_t index, void *user);

/* ---- jetbrains.c ----------------------------------------------------------------------------- */

/* The chat that is open in the IDE that started us; false without an IDE, or without a chat. */
bool coding_agent_find_chat(const struct coding_agent *agent, char ret_chat[AGENT_CHAT_SIZE]);

/* ---- session_log.c --------------------------------------------------------------------------- */

extern const struct store_log_handler agent_session_log_handler;
int coding_agent_open_store(struct coding_agent *agent);
void coding_agent_close_store(struct coding_agent *agent);
/* The role's before_update. */
void coding_agent_before_update(struct acp_session *role_session,
                                const struct acp_session_update *update, void *user);
/* Creates the session in the log unless it is there; returns whether it is. */
bool agent_session_begin_log(struct agent_session *session);
/* Whether all of it is on disk. */
bool agent_session_is_durable(const struct agent_session *session);
void agent_session_log_prompt(struct agent_session *session, const struct acp_turn *role_turn,
                              struct acp_content_block_list prompt);
/* Logs the messages that were added to the history. */
void agent_session_log_history(struct agent_session *session);
/* The history was replaced: all of it is logged next, and the context is made anew. */
void agent_session_reset_history(struct agent_session *session);
/* The history was cut back to what it is now. */
void agent_session_log_rewind(struct agent_session *session);
/* kind: LOG_KIND_MODEL_CONTEXT, or LOG_KIND_MODEL_FACTS for the facts alone. */
void agent_session_log_context(struct agent_session *session, enum log_kind kind);
void agent_session_log_stop(struct agent_session *session, const char *stop_reason);
void agent_session_log_error(struct agent_session *session, const char *sentence);
/* For tools_options.shown; the user pointer is the session. */
void agent_session_log_output(struct tools *set, const struct acp_tool_call_update *call,
                              void *user);
/* Mode, model, effort and cost: logs them, and applies those of a stored session. */
void agent_session_log_settings(struct agent_session *session);
void agent_session_apply_settings(struct agent_session *session, struct acp_str settings);

/* ---- session_read.c -------------------------------------------------------------------------- */

/*
 * Reads a stored session a page at a time: SQLite runs on the store's thread, the callbacks on the
 * loop.  Events that are written meanwhile are not read.
 */
struct session_read;
struct session_read_handler {
    /* Comes first.  Any error of the two ends the read.  May be NULL. */
    int (*row)(const struct store_session *row, void *user, struct acp_failure *failure);
    int (*event)(const struct store_event *event, void *user);
    /* Called exactly once, last, unless the read was cancelled; the read is gone then. */
    void (*done)(int err, const struct acp_failure *failure, void *user);
};
int session_read_new(struct store_worker *worker, struct acp_str id,
                     const struct session_read_handler *handler, void *user,
                     struct session_read **ret);
/* Takes NULL.  Must not be called from `row` and `event`. */
void session_read_cancel(struct session_read *read);

/* ---- session_replay.c ------------------------------------------------------------------------ */

struct session_replay {
    struct acp_session *role;
    struct replayed_call *calls; /* tool calls that have not ended yet; in the arena */
    struct acp_arena arena;
};
void session_replay_init(struct session_replay *replay, struct acp_session *role_session);
void session_replay_finish(struct session_replay *replay);
/* Sends an event of the log to the client; those of other views of the session are ignored. */
void session_replay_event(struct session_replay *replay, enum log_kind kind, struct acp_raw body);
/* The tool calls of an interrupted turn never end: the client gets them as failed. */
void session_replay_end(struct session_replay *replay);

/* ---- session_open.c -------------------------------------------------------------------------- */

void coding_agent_load_session(struct acp_session *role_session,
                               const struct acp_resume_session_request *request, void *user);
void coding_agent_resume_session(struct acp_session *role_session,
                                 const struct acp_resume_session_request *request, void *user);
void coding_agent_fork_session(struct acp_session *role_session,
                               const struct acp_fork_session_request *request, void *user);
/* Opens the session of session->chat if there is one, otherwise a new one. */
int agent_session_open_chat(struct agent_session *session);
/* The session is closed while it is being opened or restored.  Takes one that is not. */
void agent_session_cancel_open(struct agent_session *session);
/* Starts the timer that frees the history of sessions that nobody uses. */
int coding_agent_watch_idle(struct coding_agent *agent);
/* Reads the history of an idle session, then calls agent_turn_restored(). */
int agent_session_restore(struct agent_session *session);

/* ---- session_list.c -------------------------------------------------------------------------- */

void coding_agent_list_sessions(struct acp_agent *role_agent, acp_call call,
                                const struct acp_list_sessions_request *request, void *user);
void coding_agent_delete_session(struct acp_agent *role_agent, acp_call call, struct acp_str id,
                                 void *user);

#endif
