/*
 * client.h - the client's role: one connection to an agent, seen from the client.
 *
 * The mirror image of agent.h.  The program is shown one stream of events whichever version the
 * agent speaks.
 *
 *     static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
 *                        const struct acp_outcome *outcome, void *user)
 *     {
 *         printf("%.*s\n", ACP_ARG(outcome->err ? outcome->why : stop->text));
 *     }
 *
 *     static void on_session(struct acp_client *client, struct acp_client_session *session,
 *                            const struct acp_outcome *outcome, void *user)
 *     {
 *         struct acp_content_block block;
 *         acp_content_block_init_text(&block, acp_str_from("What does this project do?"));
 *         if (!outcome->err && acp_client_prompt(session, &block, 1, on_end, user))
 *             printf("%.*s\n", ACP_ARG(acp_client_error_text(client)));
 *     }
 *
 *     static void on_ready(struct acp_client *client, const struct acp_outcome *outcome,
 *                          void *user)
 *     {
 *         struct acp_session_params place = {.cwd = acp_str_from("/home/me/project")};
 *         if (!outcome->err)
 *             acp_client_new_session(client, &place, on_session, user);
 *     }
 *
 *     static void on_event(struct acp_client_session *session, const struct acp_event *event,
 *                          void *user)
 *     {
 *         if (event->kind == ACP_EVENT_CHUNK && event->block->is == ACP_CONTENT_BLOCK_TEXT)
 *             printf("%.*s", ACP_ARG(event->block->text.text));
 *     }
 *
 *     static const struct acp_client_handler handler = {.event = on_event};
 *     struct acp_client_options options = {.versions = ACP_V1 | ACP_V2};
 *     err = acp_client_new(&options, &handler, NULL, &client);
 *     err = acp_client_initialize(client, on_ready, NULL);
 *     drive(acp_client_endpoint(client));      the loop of endpoint.h; or use run.h
 *     acp_client_free(client);
 *
 * What the role guarantees:
 *   - every call that takes a callback calls it exactly once, also when the agent dies
 *   - nothing is sent that the agent did not offer: such calls fail at once with ACP_ERR_STATE
 *   - a prompt ends exactly once, after all its events
 *   - a cancelled turn leaves no question open: permission requests are answered for the program
 *   - updates that come before the session they belong to are held and delivered then, before what
 *     the answer that opened it says of modes, options and commands: the newest comes last
 *
 * The role does no I/O: whoever carries its bytes drives acp_client_endpoint().  endpoint.h has the
 * rules for threads, callbacks and freeing.  Callbacks come out of the calls that drive the
 * endpoint, out of acp_client_close() and acp_client_free(), and: events out of
 * acp_client_prompt(), permission_cancelled out of acp_client_cancel().
 *
 * Texts and lists that are passed to a call are read during the call and not kept; those of the
 * options must outlive the client.  Texts in events, outcomes and callbacks are valid during the
 * callback.
 * Sessions belong to the role and are valid until the end_session callback returns.
 */
#ifndef ACP_CLIENT_H
#define ACP_CLIENT_H

#include "acp/endpoint.h"
#include "acp/rpc.h"
#include "acp/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct acp_client;
struct acp_client_session;

/* ---- Events ---------------------------------------------------------------------------------- */

enum acp_event_kind {
    ACP_EVENT_CHUNK,        /* block, to be appended to a message */
    ACP_EVENT_MESSAGE,      /* content, which is all of a message (version 2) */
    ACP_EVENT_TOOL,         /* tool: begins or changes a tool call */
    ACP_EVENT_TOOL_CONTENT, /* tool_content, to be appended to tool_id (version 2) */
    ACP_EVENT_PLAN,         /* plan: all of it */
    ACP_EVENT_COMMANDS,     /* commands: all of them */
    ACP_EVENT_MODES,        /* modes: all of them, and mode, which is the current one */
    ACP_EVENT_MODE,         /* mode is now the current one */
    ACP_EVENT_OPTIONS,      /* options: all of them, with their values */
    ACP_EVENT_STATE,        /* state of the session has changed */
    ACP_EVENT_OTHER,        /* update says what */
};

enum acp_message_role { ACP_MESSAGE_ROLE_AGENT, ACP_MESSAGE_ROLE_THOUGHT, ACP_MESSAGE_ROLE_USER };

enum acp_session_state {
    ACP_SESSION_IDLE,
    ACP_SESSION_RUNNING,
    ACP_SESSION_REQUIRES_ACTION, /* waits for the user */
};

/*
 * What happened in a session; valid during the callback.  Only the members that the kind names are
 * set, and update, which is the message as it came; it is NULL for what the role found out itself
 * and for what an answer said.  In a tool call, absent fields are unchanged, null ones are reset.
 *
 * A session's modes, options and commands come right after it was opened, and again when they
 * change, whoever changed them.  Where the modes are an option (version 2), a change of it comes
 * both as OPTIONS and as MODE.
 */
struct acp_event {
    enum acp_event_kind kind;
    enum acp_message_role author;
    struct acp_str message; /* id; may be absent in version 1 */
    const struct acp_content_block *block;
    struct acp_content_block_list content;
    const struct acp_tool_call_update *tool;
    struct acp_str tool_id;
    const struct acp_tool_call_content *tool_content;
    struct acp_str plan_id; /* may be absent in version 1 */
    struct acp_plan_entry_list plan;
    struct acp_available_command_list commands;
    struct acp_str mode;
    struct acp_session_mode_list modes;
    struct acp_session_config_option_list options; /* id and group are set in both versions */
    enum acp_session_state state;
    const struct acp_session_update *update;
    struct acp_raw raw;  /* the update as its bytes, also when it is of no known kind */
    struct acp_raw meta; /* the _meta beside the update, such as a trace context; or absent */
};

/* ---- Diffs ----------------------------------------------------------------------------------- */

/*
 * What a tool call changes, in one shape.  Version 1 has the path and both texts of one file,
 * version 2 a list of files and, if the agent likes, a patch for all of them:
 *
 *     const struct acp_diff *diff;
 *     for (size_t i = 0; acp_event_diff(event, i, &diff); i++) {
 *         struct acp_diff_file file;
 *         for (size_t k = 0; acp_diff_file_at(diff, k, &file); k++)
 *             printf("changes %.*s\n", ACP_ARG(file.path));
 *         if (acp_diff_write_patch(diff, &patch) == 0)
 *             show(acp_buf_view(&patch));
 *     }
 *
 * The functions work on every struct acp_diff: also on those of a permission question's tool.
 */

/* The diff of that index, from 0, of an ACP_EVENT_TOOL or _TOOL_CONTENT; false: there is none. */
ACP_API bool acp_event_diff(const struct acp_event *event, size_t index,
                            const struct acp_diff **ret);

/* One file of a diff. */
struct acp_diff_file {
    enum acp_diff_change_is operation; /* ACP_DIFF_CHANGE_ADD, ...; _UNLISTED has no path */
    struct acp_str path;
    struct acp_str old_path; /* where it was moved or copied from; else absent */
    struct acp_str old_text; /* version 1: what was there; absent for a new file */
    struct acp_str new_text; /* version 1; absent in version 2, which has the patch */
    void *reserved[2];
};
ACP_API size_t acp_diff_file_count(const struct acp_diff *diff);
/* False, and ret is left alone, when there are not so many. */
ACP_API bool acp_diff_file_at(const struct acp_diff *diff, size_t index, struct acp_diff_file *ret);
/*
 * Appends the change as a git patch with absolute paths: as the agent sent it, or made from the
 * texts.  ACP_ERR_MISSING when the agent told the files alone, or sent a patch in another format;
 * ACP_ERR_LIMIT, _NOMEM.
 */
ACP_API int acp_diff_write_patch(const struct acp_diff *diff, struct acp_buf *out);

/* ---- Making one ------------------------------------------------------------------------------ */

struct acp_client_options {
    struct acp_str name;
    struct acp_str title;
    struct acp_str version;
    /* ACP_V1, ACP_V2 or both: the highest is asked for; 0: ACP_V1.  ACP_UNSTABLE opens the rest. */
    unsigned versions;
    /* What the program serves; the handler's request callback gets such requests. */
    bool read_files;
    bool write_files;
    bool terminals;
    bool forms; /* elicitation */
    bool urls;
    bool terminal_login;
    bool no_notices;
    bool no_compaction;
    bool subagents; /* unstable: sessions that the agent starts by itself may be shown */
    struct acp_raw capabilities_meta; /* an object: the _meta of our capabilities, for extensions */
    uint64_t timeout_ms;              /* for answers other than a turn's end; 0: none */
    struct acp_peer_options peer;
    uint64_t reserved[8];
};

/* A question of the agent: may it do this? */
struct acp_permission_request {
    struct acp_str title;
    struct acp_str description;              /* may be absent */
    const struct acp_tool_call_update *tool; /* may be NULL in version 2 */
    struct acp_str command;                  /* where it is about a command; else absent */
    struct acp_permission_option_list options;
    /* What it is about, also when that is of no known kind; NULL: not told, or version 1. */
    const struct acp_request_permission_subject *subject;
    struct acp_raw meta; /* the _meta of the request; or absent */
};

struct acp_client_handler {
    void (*event)(struct acp_client_session *session, const struct acp_event *event, void *user);
    /*
     * Answer with acp_client_select_permission() or acp_client_cancel_permission(), now or later.
     * Left out: rejected.
     */
    void (*permission)(struct acp_client_session *session, acp_call call,
                       const struct acp_permission_request *question, void *user);
    /*
     * The question of that call is settled without an answer of the program: the agent took it
     * back, the turn was cancelled, or the session ended.  Not called after
     * acp_client_select_permission() and acp_client_cancel_permission().
     */
    void (*permission_cancelled)(struct acp_client_session *session, acp_call call, void *user);
    /*
     * A request that was offered in the options (files, terminals, elicitation) or is for an MCP
     * server that lives in the client (unstable), with its params decoded; or one of the agent's
     * own (method->id is then 0, params NULL).  Answer with acp_client_respond() or
     * acp_client_respond_error().  session is NULL when it names none.
     */
    void (*request)(struct acp_client *client, struct acp_client_session *session, acp_call call,
                    const struct acp_method *method, const void *params,
                    const struct acp_message *message, void *user);
    /* The agent no longer wants the answer; it must be given all the same. */
    void (*cancel_request)(struct acp_client *client, acp_call call, void *user);
    void (*notification)(struct acp_client *client, const struct acp_message *message, void *user);
    /* A violation of the protocol by the agent, already handled; for logs. */
    void (*protocol_error)(struct acp_client *client, enum acp_protocol_error what,
                           struct acp_str text, void *user);
    /* The agent reads more slowly than we write (true), or has caught up (false). */
    void (*pressure)(struct acp_client *client, bool high, void *user);
    void (*end_session)(struct acp_client_session *session, void *user);
    /* The connection is closed; everything open has been failed before this. */
    void (*closed)(struct acp_client *client, int reason, void *user);
    void *reserved[8];
};

ACP_API int acp_client_new_sized(const struct acp_client_options *options, size_t options_size,
                                 const struct acp_client_handler *handler, size_t handler_size,
                                 void *user, struct acp_client **ret);
static inline int acp_client_new(const struct acp_client_options *options,
                                 const struct acp_client_handler *handler, void *user,
                                 struct acp_client **ret)
{
    return acp_client_new_sized(options, sizeof(*options), handler, sizeof(*handler), user, ret);
}
/* Takes NULL.  Everything open is failed first.  From a callback as well: see endpoint.h. */
ACP_API void acp_client_free(struct acp_client *client);
/* For whoever carries its messages (endpoint.h); belongs to the client. */
ACP_API struct acp_endpoint *acp_client_endpoint(struct acp_client *client);
ACP_API void acp_client_close(struct acp_client *client, int reason);
/* What people are told, from now on, when something fails because the connection is closed. */
ACP_API void acp_client_set_close_message(struct acp_client *client, struct acp_str sentence);
ACP_API struct acp_peer *acp_client_peer(struct acp_client *client);
ACP_API void *acp_client_user(const struct acp_client *client);

/* ---- Asking the agent ------------------------------------------------------------------------ */

typedef void acp_client_fn(struct acp_client *client, const struct acp_outcome *outcome,
                           void *user);
/* session is NULL when err is not 0. */
typedef void acp_session_fn(struct acp_client *client, struct acp_client_session *session,
                            const struct acp_outcome *outcome, void *user);

/*
 * Calls that fail at once return ACP_ERR_STATE (not offered, or not now), ACP_ERR_ARGUMENT or what
 * the connection says, and call nothing back.  This is the sentence that tells people why the last
 * one did; empty when there is none, valid until the next call.
 */
ACP_API struct acp_str acp_client_error_text(const struct acp_client *client);
/*
 * The _meta that requests and notifications carry from now on, such as a trace context; it is
 * copied.  Absent: none.  Params that have their own keep it.  ACP_ERR_ARGUMENT when it is no
 * object.
 */
ACP_API int acp_client_set_meta(struct acp_client *client, struct acp_raw meta);

/* initialize.  value is struct acp_initialize_response. */
ACP_API int acp_client_initialize(struct acp_client *client, acp_client_fn *ready, void *user);
/* What initialize agreed on: ACP_V1 or ACP_V2 with flags; 0 before. */
ACP_API unsigned acp_client_protocol(const struct acp_client *client);
/*
 * What the agent answered to it; NULL before, valid as long as the client.  Capabilities are where
 * the version has them; agent_info and info are the same in both.
 */
ACP_API const struct acp_initialize_response *acp_client_initialize_response(
    const struct acp_client *client);
/*
 * Name, title and version of the agent; NULL before initialize was answered, and when a version 1
 * agent did not give them.  Valid as long as the client.
 */
ACP_API const struct acp_implementation *acp_client_agent_info(const struct acp_client *client);

/* The agent's methods of logging in; terminal ones are run: acp_login_start() in acp/run.h. */
ACP_API int acp_client_authenticate(struct acp_client *client, struct acp_str method,
                                    acp_client_fn *done, void *user);
ACP_API int acp_client_logout(struct acp_client *client, acp_client_fn *done, void *user);

struct acp_session_params {
    struct acp_str cwd; /* absolute */
    struct acp_str_list directories;
    /* The command of one that is started must be an absolute path, too. */
    struct acp_mcp_server_list mcp_servers;
    const struct acp_system_prompt *system_prompt; /* unstable; NULL: none */
    void *reserved[4];
};
/*
 * value is struct acp_new_session_response, or the response to load, resume or fork.  What it says
 * of modes, options and commands also comes as events, after done.
 */
ACP_API int acp_client_new_session(struct acp_client *client,
                                   const struct acp_session_params *place, acp_session_fn *done,
                                   void *user);
/*
 * With its history, as events before done is called.  A session that is open already stays so when
 * this is refused; the same holds for acp_client_resume_session().
 */
ACP_API int acp_client_load_session(struct acp_client *client, struct acp_str id,
                                    const struct acp_session_params *place, acp_session_fn *done,
                                    void *user);
ACP_API int acp_client_resume_session(struct acp_client *client, struct acp_str id,
                                      const struct acp_session_params *place, acp_session_fn *done,
                                      void *user);
/* Unstable: a new session that knows what the one of that id knew. */
ACP_API int acp_client_fork_session(struct acp_client *client, struct acp_str id,
                                    const struct acp_session_params *place, acp_session_fn *done,
                                    void *user);
/* cwd and cursor may be absent.  value is struct acp_list_sessions_response. */
ACP_API int acp_client_list_sessions(struct acp_client *client, struct acp_str cwd,
                                     struct acp_str cursor, acp_client_fn *done, void *user);
ACP_API int acp_client_delete_session(struct acp_client *client, struct acp_str id,
                                      acp_client_fn *done, void *user);
/*
 * Any other request: one of one's own, whose name begins with an underscore, or one that the
 * version has and that the agent offers by a capability; unstable ones only with ACP_UNSTABLE.
 * ACP_ERR_STATE otherwise, and for methods that have a call of their own for a reason: they open a
 * session or a turn, or depend on what a session has told.  params is a struct acp_raw when its
 * type is ACP_TYPE_ANY, and so is the outcome's value when the result's type is; ACP_ERR_ARGUMENT
 * when it is not a JSON object.  NULL with that type is the empty object.
 */
ACP_API int acp_client_request(struct acp_client *client, struct acp_str method,
                               acp_type_id params_type, const void *params, acp_type_id result_type,
                               acp_client_fn *done, void *user);
/* A notification, under the same conditions. */
ACP_API int acp_client_notify(struct acp_client *client, struct acp_str method,
                              acp_type_id params_type, const void *params);

/* ---- Sessions -------------------------------------------------------------------------------- */

ACP_API struct acp_str acp_client_session_id(const struct acp_client_session *session);
ACP_API struct acp_str acp_client_session_cwd(const struct acp_client_session *session);
ACP_API struct acp_client *acp_client_session_client(const struct acp_client_session *session);
ACP_API void acp_client_session_set_user(struct acp_client_session *session, void *user);
ACP_API void *acp_client_session_user(const struct acp_client_session *session);
ACP_API struct acp_client_session *acp_client_find_session(const struct acp_client *client,
                                                           struct acp_str id);
ACP_API enum acp_session_state acp_client_session_state(const struct acp_client_session *session);
/*
 * What may be set, as last told, in the words of version 1: known from the moment that the callback
 * of the call that opened the session is called.  Valid until the next event of the session.
 */
ACP_API struct acp_session_mode_list acp_client_session_modes(
    const struct acp_client_session *session);
/* The current one; absent when there are no modes. */
ACP_API struct acp_str acp_client_session_mode(const struct acp_client_session *session);
ACP_API struct acp_session_config_option_list acp_client_session_options(
    const struct acp_client_session *session);

/* All of it at once: also what the calls that set something give as their outcome's value. */
struct acp_client_settings {
    struct acp_session_mode_list modes;
    struct acp_str mode; /* the current one; absent when there are no modes */
    struct acp_session_config_option_list options;
    void *reserved[4];
};
/* Valid as long as the lists are: until the next event of the session. */
ACP_API void acp_client_session_settings(const struct acp_client_session *session,
                                         struct acp_client_settings *ret);

/* Why a turn stopped. */
struct acp_turn_stop {
    enum acp_stop reason; /* ACP_STOP_NONE when outcome->err is not 0 */
    struct acp_str text;  /* as the agent spelled it ("end_turn"); absent for ACP_STOP_NONE */
};
typedef void acp_turn_fn(struct acp_client_session *session, const struct acp_turn_stop *stop,
                         const struct acp_outcome *outcome, void *user);
/*
 * One at a time: ACP_ERR_STATE while another is running, and before the session is opened.  end may
 * be NULL; ACP_EVENT_STATE tells then when the session is idle again.
 */
ACP_API int acp_client_prompt(struct acp_client_session *session,
                              const struct acp_content_block *blocks, size_t count,
                              acp_turn_fn *end, void *user);
/*
 * Asks the agent to stop the running turn; its end still comes.  Open permission requests of the
 * session are answered as cancelled.  0 without effect when no turn is running.
 */
ACP_API int acp_client_cancel(struct acp_client_session *session);
/*
 * Stops one tool call, or the command of one of the agent's terminals, while the turn goes on
 * (version 2).  ACP_ERR_STATE when the agent does not say, as of now, that it can be stopped.  done
 * tells that the wish was taken; that it came true comes as an event.
 */
ACP_API int acp_client_cancel_tool_call(struct acp_client_session *session, struct acp_str tool,
                                        acp_client_fn *done, void *user);
ACP_API int acp_client_cancel_terminal(struct acp_client_session *session, struct acp_str terminal,
                                       acp_client_fn *done, void *user);
/*
 * Setting a mode or an option.  In either version, and whether modes are modes or an option of the
 * agent's, the outcome's value is a struct acp_client_settings: modes and options as they are now,
 * or all of it empty when the session has ended meanwhile.  What has changed comes as events before
 * done is called.
 *
 * One of the modes that the session has told of.  ACP_ERR_STATE when it has told of none.
 */
ACP_API int acp_client_set_mode(struct acp_client_session *session, struct acp_str mode,
                                acp_client_fn *done, void *user);
/* An option that is a choice, or one that is on or off.  ACP_ERR_STATE when there are none. */
ACP_API int acp_client_set_config_option(struct acp_client_session *session, struct acp_str option,
                                         struct acp_str value, acp_client_fn *done, void *user);
ACP_API int acp_client_set_boolean_option(struct acp_client_session *session, struct acp_str option,
                                          bool value, acp_client_fn *done, void *user);
/* The session is over; end_session is called before done. */
ACP_API int acp_client_close_session(struct acp_client_session *session, acp_client_fn *done,
                                     void *user);

/*
 * For a part that serves a session beside the program, such as workspace.h: it is told when the
 * session ends, also by acp_client_free(), without the program passing that on.  The struct belongs
 * to the watcher, who sets the function; any number of them may watch one session.
 */
struct acp_client_session_observer {
    /* The program's end_session comes after this.  The watch is removed already. */
    void (*session_ends)(struct acp_client_session_observer *watch);
    struct acp_client_session *session;       /* set by the role; NULL while it watches none */
    struct acp_client_session_observer *next; /* the role's own */
};

/* ACP_ERR_STATE when the watch is in use, or when the session is ending. */
ACP_API int acp_client_session_add_observer(struct acp_client_session *session,
                                            struct acp_client_session_observer *watch);
/* Without effect when it watches none. */
ACP_API void acp_client_session_remove_observer(struct acp_client_session_observer *watch);

/* ---- Answering the agent --------------------------------------------------------------------- */

/*
 * option is the id of one that was offered: ACP_ERR_ARGUMENT otherwise, and the question stays
 * open. ACP_ERR_UNKNOWN when it is settled already.
 */
ACP_API int acp_client_select_permission(struct acp_client *client, acp_call call,
                                         struct acp_str option);
/* Answers that the question was cancelled.  ACP_ERR_UNKNOWN when it is settled already. */
ACP_API int acp_client_cancel_permission(struct acp_client *client, acp_call call);
/*
 * type is method->result of the request; for one of the agent's own it may be any type, also
 * ACP_TYPE_ANY with a struct acp_raw.  ACP_ERR_ARGUMENT for another type and for what is not JSON,
 * and the call stays open.  ACP_ERR_UNKNOWN when it was answered already.
 */
ACP_API int acp_client_respond(struct acp_client *client, acp_call call, acp_type_id type,
                               const void *value);
ACP_API int acp_client_respond_error(struct acp_client *client, acp_call call, int64_t code,
                                     struct acp_str message, struct acp_raw data);

#ifdef __cplusplus
}
#endif

#endif
