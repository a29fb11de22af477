/*
 * client.h - the client's role: one connection to an agent, as the client sees it.
 *
 * The counterpart of acp/agent.h: the program calls functions and gets one stream of events,
 * whichever version of the protocol the agent speaks.  A complete client, which sends one prompt;
 * its loop is the one of acp/endpoint.h:
 *
 *     #include <acp/client.h>
 *     #include <stdio.h>
 *
 *     void drive(struct acp_endpoint *end, int in, int out); // as in acp/endpoint.h
 *
 *     static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
 *                        const struct acp_outcome *outcome, void *user)
 *     {
 *         printf("\n%.*s\n", ACP_ARG(outcome->err ? outcome->why : stop->text));
 *         acp_client_close(acp_client_session_client(session), ACP_ERR_CLOSED);
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
 *         struct acp_session_params params = {.cwd = acp_str_from("/home/me/project")};
 *         if (!outcome->err)
 *             acp_client_new_session(client, &params, on_session, user);
 *     }
 *
 *     static void on_event(struct acp_client_session *session, const struct acp_event *event,
 *                          void *user)
 *     {
 *         if (event->kind == ACP_EVENT_CHUNK && event->block->is == ACP_CONTENT_BLOCK_TEXT)
 *             printf("%.*s", ACP_ARG(event->block->text.text));
 *     }
 *
 *     int run_client(int in, int out)
 *     {
 *         static const struct acp_client_handler handler = {.event = on_event};
 *         struct acp_client_options options = {.versions = ACP_V1 | ACP_V2};
 *         struct acp_client *client;
 *         int err = acp_client_new(&options, &handler, NULL, &client);
 *         if (err)
 *             return err;
 *         err = acp_client_initialize(client, on_ready, NULL);
 *         if (!err)
 *             drive(acp_client_endpoint(client), in, out);
 *         acp_client_free(client);
 *         return err;
 *     }
 *
 * With libacp-io, acp/run.h starts the agent and drives the client.  A program that prints what
 * agents send to a terminal should filter control characters; the example does not.
 *
 * What the role guarantees:
 *   - every function that takes a callback calls it exactly once if it returns 0, also when the
 *     agent dies
 *   - nothing is sent that the agent does not offer: such calls fail at once with ACP_ERR_STATE
 *   - a prompt ends exactly once, after all its events
 *   - a cancelled turn leaves no question open: permission requests are answered for the program
 *   - updates that arrive before their session is known are held, and delivered before what the
 *     response that opens the session says of modes, options and commands, so that the newest
 *     values come last
 *
 * acp/endpoint.h has the rules for threads, arguments, callbacks and freeing.  Callbacks run inside
 * the calls that drive the endpoint, inside acp_client_close() and acp_client_free(), and in these
 * cases: `event` inside acp_client_prompt(), and permission_cancelled inside acp_client_cancel().
 *
 * Sessions belong to the role.  A session is valid until its end_session callback returns.
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

/* What happened, and the members of struct acp_event that are set for it. */
enum acp_event_kind {
    ACP_EVENT_CHUNK,        /* author, message, block: to be appended to that message */
    ACP_EVENT_MESSAGE,      /* author, message, content: the whole message (version 2) */
    ACP_EVENT_TOOL,         /* tool: begins or changes a tool call */
    ACP_EVENT_TOOL_CONTENT, /* tool_id, tool_content: to be appended to that call (version 2) */
    ACP_EVENT_PLAN,         /* plan_id, plan: replaces the previous one of that id */
    ACP_EVENT_COMMANDS,     /* commands: replaces the previous ones */
    ACP_EVENT_MODES,        /* modes, mode: all of them, and the current one */
    ACP_EVENT_MODE,         /* mode: the current one now */
    ACP_EVENT_OPTIONS,      /* options: all of them, with their values */
    ACP_EVENT_STATE,        /* state */
    ACP_EVENT_OTHER,        /* update: anything else, such as usage or a title */
};

enum acp_message_role { ACP_MESSAGE_ROLE_AGENT, ACP_MESSAGE_ROLE_THOUGHT, ACP_MESSAGE_ROLE_USER };

enum acp_session_state {
    ACP_SESSION_IDLE,
    ACP_SESSION_RUNNING,
    ACP_SESSION_REQUIRES_ACTION, /* waits for the user (version 2) */
};

/*
 * An event of a session; valid during the callback.  update, raw and meta are set in addition to
 * the members of the kind.  update is NULL and raw absent for what the role derived itself or from
 * a response; update alone is NULL for an update of a kind that the library does not know.  In a
 * tool call, absent fields are unchanged and null ones are reset.
 *
 * The modes, options and commands of a session come right after it was opened, and again whenever
 * they change, whoever changed them.  If the modes are an option (version 2), a change of that
 * option comes as OPTIONS and as MODE.
 */
struct acp_event {
    enum acp_event_kind kind;
    enum acp_message_role author;
    struct acp_str message; /* id of the message; may be absent in version 1 */
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
    const struct acp_session_update *update; /* the update as decoded; may be NULL */
    struct acp_raw raw;                      /* the update as received, also of unknown kinds */
    struct acp_raw meta; /* the _meta beside the update, such as a trace context; or absent */
};

/* ---- Diffs ----------------------------------------------------------------------------------- */

/*
 * The changes of a tool call, independent of the version.  In version 1 a diff has the path and the
 * two texts of one file; in version 2 a list of files and optionally a patch for all of them:
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
 * The functions take any struct acp_diff, also one in the tool call of a permission request.
 */

/*
 * The diff at that index, from 0, of an ACP_EVENT_TOOL or ACP_EVENT_TOOL_CONTENT; false after the
 * last, and for other events.
 */
ACP_API bool acp_event_diff(const struct acp_event *event, size_t index,
                            const struct acp_diff **ret);

/* One file of a diff.  The texts point into the diff. */
struct acp_diff_file {
    enum acp_diff_change_is operation; /* ACP_DIFF_CHANGE_ADD, ...; _UNLISTED has no path */
    struct acp_str path;
    struct acp_str old_path; /* of a file that was moved or copied; otherwise absent */
    struct acp_str old_text; /* version 1: absent for a new file */
    struct acp_str new_text; /* version 1; absent in version 2, which has the patch */
    void *reserved[2];
};
/* The number of files in a diff. */
ACP_API size_t acp_diff_file_count(const struct acp_diff *diff);
/* The file at that index, from 0; false after the last. */
ACP_API bool acp_diff_file_at(const struct acp_diff *diff, size_t index, struct acp_diff_file *ret);
/*
 * Appends the change as a git patch with absolute paths: the one that the agent sent, or one made
 * from the texts.  ACP_ERR_MISSING if the agent sent only the list of files, or a patch in another
 * format; ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
ACP_API int acp_diff_write_patch(const struct acp_diff *diff, struct acp_buf *out);

/* ---- Options --------------------------------------------------------------------------------- */

/* All members are optional.  Texts must outlive the client. */
struct acp_client_options {
    struct acp_str name;  /* for programs; "unnamed" if empty */
    struct acp_str title; /* for people */
    struct acp_str version;
    /*
     * ACP_V1, ACP_V2 or both, of which the highest that the agent has is used; 0: ACP_V1.
     * ACP_UNSTABLE adds the unstable parts.
     */
    unsigned versions;
    /* What the program serves.  The requests of the first five go to the `request` callback. */
    bool read_files;     /* fs/read_text_file (version 1) */
    bool write_files;    /* fs/write_text_file (version 1) */
    bool terminals;      /* terminal/... (version 1) */
    bool forms;          /* elicitation/create with a form */
    bool urls;           /* elicitation/create with a web page */
    bool terminal_login; /* auth methods that run at a terminal: acp_login_start() in acp/run.h */
    bool no_notices;     /* unstable: do not send notices */
    bool no_compaction;  /* unstable: do not send compaction updates */
    bool subagents;      /* unstable: send sessions that the agent starts itself */
    struct acp_raw capabilities_meta; /* a JSON object, the _meta of the client's capabilities */
    uint64_t timeout_ms;              /* for all responses but the end of a turn; 0: none */
    struct acp_peer_options peer;     /* limits and framing; key is set by the role */
    uint64_t reserved[8];
};

/* ---- Callbacks ------------------------------------------------------------------------------- */

/* The agent asks for the user's permission; valid during the callback. */
struct acp_permission_request {
    struct acp_str title;
    struct acp_str description;              /* may be absent */
    const struct acp_tool_call_update *tool; /* may be NULL in version 2 */
    struct acp_str command;                  /* version 2: if it is about a command; or absent */
    struct acp_permission_option_list options;
    /* Version 2: what it is about, also if of an unknown kind.  May be NULL. */
    const struct acp_request_permission_subject *subject;
    struct acp_raw meta; /* the _meta of the request; or absent */
};

/* What the program does.  All callbacks may be left out. */
struct acp_client_handler {
    /* Something happened in a session.  In loading a session this is its history. */
    void (*event)(struct acp_client_session *session, const struct acp_event *event, void *user);
    /*
     * Answer with acp_client_select_permission() or acp_client_cancel_permission(), in the callback
     * or later.  acp_action_from_request() of acp/policy.h describes it for a policy.  Left out:
     * answered as cancelled.
     */
    void (*permission)(struct acp_client_session *session, acp_call call,
                       const struct acp_permission_request *question, void *user);
    /*
     * The permission request of that call needs no answer any more: the agent withdrew it, the turn
     * was cancelled, or the session ended.  Not called once the program has answered.
     */
    void (*permission_cancelled)(struct acp_client_session *session, acp_call call, void *user);
    /*
     * Any other request of the agent: of a service that the options offer, or (unstable) for an MCP
     * server in the client, with params the struct of type method->params; or an extension, whose
     * name begins with an underscore, with method->id 0 and params NULL.  session is NULL if it
     * names none.  Answer with acp_client_respond() or acp_client_respond_error(), in the callback
     * or later; acp_workspace_serve() of acp/workspace.h answers those for files and terminals.
     */
    void (*request)(struct acp_client *client, struct acp_client_session *session, acp_call call,
                    const struct acp_method *method, const void *params,
                    const struct acp_message *message, void *user);
    /*
     * The agent cancelled such a request.  It must still be answered, with a result or with
     * acp_peer_error_for(acp_client_peer(client), call, ACP_ERR_CANCELLED).
     */
    void (*cancel_request)(struct acp_client *client, acp_call call, void *user);
    /* Any notification other than session/update. */
    void (*notification)(struct acp_client *client, const struct acp_message *message, void *user);
    /* A violation of the protocol by the agent, already handled; for logs. */
    void (*protocol_error)(struct acp_client *client, enum acp_protocol_error what,
                           struct acp_str text, void *user);
    /* The agent does not read as fast as output is produced (true), or has caught up (false). */
    void (*pressure)(struct acp_client *client, bool high, void *user);
    /* The session ends: closed, deleted, or with the connection.  Its turn has ended before. */
    void (*end_session)(struct acp_client_session *session, void *user);
    /* The connection is closed, for that enum acp_err; all sessions have ended.  Called once. */
    void (*closed)(struct acp_client *client, int reason, void *user);
    void *reserved[8];
};

/* ---- Making one ------------------------------------------------------------------------------ */

/*
 * The handler and the options are copied, but not what the options point to.  user is passed to
 * all callbacks of the handler.  ACP_ERR_NOMEM.
 */
ACP_API int acp_client_new_sized(const struct acp_client_options *options, size_t options_size,
                                 const struct acp_client_handler *handler, size_t handler_size,
                                 void *user, struct acp_client **ret);
static inline int acp_client_new(const struct acp_client_options *options,
                                 const struct acp_client_handler *handler, void *user,
                                 struct acp_client **ret)
{
    return acp_client_new_sized(options, sizeof(*options), handler, sizeof(*handler), user, ret);
}
/*
 * Closes the connection with ACP_ERR_CLOSED, which ends all sessions, and frees the client;
 * acp/endpoint.h has the rules.  Takes NULL.
 */
ACP_API void acp_client_free(struct acp_client *client);
/* What a loop or a link drives (acp/endpoint.h).  Belongs to the client. */
ACP_API struct acp_endpoint *acp_client_endpoint(struct acp_client *client);
/*
 * Closes the connection: ends all sessions, fails all requests with reason, an enum acp_err, and
 * calls `closed`.  Without effect on a closed connection.
 */
ACP_API void acp_client_close(struct acp_client *client, int reason);
/*
 * From now on, outcomes with ACP_ERR_CLOSED have this sentence as their `why`: it tells people how
 * the connection was lost.  Copied.
 */
ACP_API void acp_client_set_close_message(struct acp_client *client, struct acp_str sentence);
/* The peer inside the client, for acp_peer_error_for() and acp_peer_call_id(). */
ACP_API struct acp_peer *acp_client_peer(struct acp_client *client);
/* The user pointer of acp_client_new(). */
ACP_API void *acp_client_user(const struct acp_client *client);

/* ---- Requests to the agent ------------------------------------------------------------------- */

/*
 * All functions below that send something return 0, or an error, in which case nothing is sent and
 * no callback is called:
 *
 *   ACP_ERR_STATE      the agent does not offer it, or it is not possible now
 *   ACP_ERR_ARGUMENT   an argument that the protocol forbids, such as a relative path
 *   ACP_ERR_MISSING, ACP_ERR_RANGE, ACP_ERR_TYPE, ACP_ERR_VARIANT
 *                      a struct that is not valid in the version in use (acp/codec.h)
 *   ACP_ERR_CLOSED, ACP_ERR_LIMIT, ACP_ERR_NOMEM
 *
 * acp_client_error_text() then has the reason as a sentence.  If they return 0, the callback is
 * called exactly once, unless it is NULL.
 */

/* The end of a request.  outcome is valid during the callback. */
typedef void acp_client_fn(struct acp_client *client, const struct acp_outcome *outcome,
                           void *user);
/* The same for a request that opens a session; session is NULL if outcome->err is not 0. */
typedef void acp_session_fn(struct acp_client *client, struct acp_client_session *session,
                            const struct acp_outcome *outcome, void *user);

/*
 * One sentence for people: why the function that failed last did so.  Valid until the next call.
 */
ACP_API struct acp_str acp_client_error_text(const struct acp_client *client);
/*
 * Sets the _meta that requests and notifications have from now on, such as a trace context: a JSON
 * object, which is copied; absent removes it.  Params that have a _meta keep their own.
 * ACP_ERR_ARGUMENT if it is not a JSON object, ACP_ERR_NOMEM.
 */
ACP_API int acp_client_set_meta(struct acp_client *client, struct acp_raw meta);

/*
 * Sends initialize, which comes before everything else.  The outcome's value is a struct
 * acp_initialize_response; its err is ACP_ERR_VARIANT if the agent has none of options.versions.
 * ACP_ERR_STATE if it was sent before.
 */
ACP_API int acp_client_initialize(struct acp_client *client, acp_client_fn *ready, void *user);
/* The mode in use: ACP_V1 or ACP_V2, perhaps with ACP_UNSTABLE; 0 before initialize. */
ACP_API unsigned acp_client_protocol(const struct acp_client *client);
/*
 * The agent's response to initialize; NULL before.  Valid as long as the client.  Capabilities are
 * in the members of the version in use.
 */
ACP_API const struct acp_initialize_response *acp_client_initialize_response(
    const struct acp_client *client);
/*
 * Name, title and version of the agent; NULL before initialize, and if a version 1 agent did not
 * send them.  Valid as long as the client.
 */
ACP_API const struct acp_implementation *acp_client_agent_info(const struct acp_client *client);

/*
 * Logs in by a method of acp_client_initialize_response()->auth_methods that is of the kind agent.
 * Those of the kind terminal are run by acp_login_start() of acp/run.h.
 */
ACP_API int acp_client_authenticate(struct acp_client *client, struct acp_str method,
                                    acp_client_fn *done, void *user);
/* Logs out. */
ACP_API int acp_client_logout(struct acp_client *client, acp_client_fn *done, void *user);

/* ---- Opening sessions ------------------------------------------------------------------------ */

/* Where and with what a session works. */
struct acp_session_params {
    struct acp_str cwd;                            /* the working directory, an absolute path */
    struct acp_str_list directories;               /* additional ones, absolute paths */
    struct acp_mcp_server_list mcp_servers;        /* commands must be absolute paths */
    const struct acp_system_prompt *system_prompt; /* unstable; NULL: none */
    void *reserved[4];
};
/*
 * Opens a new session.  The outcome's value is a struct acp_new_session_response.  The modes,
 * options and commands in it also come as events, after done.
 */
ACP_API int acp_client_new_session(struct acp_client *client,
                                   const struct acp_session_params *place, acp_session_fn *done,
                                   void *user);
/*
 * Opens an earlier session with its history, which comes as events before done.  The session that
 * they belong to exists from this call on: acp_client_find_session().  A session of that id that is
 * open stays open if the agent refuses.  The value is a struct acp_load_session_response in version
 * 1, acp_resume_session_response in version 2.
 */
ACP_API int acp_client_load_session(struct acp_client *client, struct acp_str id,
                                    const struct acp_session_params *place, acp_session_fn *done,
                                    void *user);
/* The same without history.  The value is a struct acp_resume_session_response. */
ACP_API int acp_client_resume_session(struct acp_client *client, struct acp_str id,
                                      const struct acp_session_params *place, acp_session_fn *done,
                                      void *user);
/*
 * Opens a new session that continues from the state of that one (unstable).  The value is a struct
 * acp_fork_session_response.
 */
ACP_API int acp_client_fork_session(struct acp_client *client, struct acp_str id,
                                    const struct acp_session_params *place, acp_session_fn *done,
                                    void *user);
/*
 * Lists sessions, of one working directory or of all if cwd is absent.  cursor is absent, or the
 * next_cursor of an earlier answer.  The value is a struct acp_list_sessions_response.
 */
ACP_API int acp_client_list_sessions(struct acp_client *client, struct acp_str cwd,
                                     struct acp_str cursor, acp_client_fn *done, void *user);
/* Deletes a session.  If it is open, end_session is called before done. */
ACP_API int acp_client_delete_session(struct acp_client *client, struct acp_str id,
                                      acp_client_fn *done, void *user);

/* ---- Other requests -------------------------------------------------------------------------- */

/*
 * Sends any other request: an extension, whose name begins with an underscore, or one that the
 * version in use has and the agent offers; unstable ones with ACP_UNSTABLE.  Methods that open a
 * session, prompt or cancel are ACP_ERR_STATE, because they have functions of their own.
 *
 * params is the struct of type params_type, or a struct acp_raw if that is ACP_TYPE_ANY; NULL is
 * then the empty object.  The outcome's value is a struct of result_type, or a struct acp_raw.
 * ACP_ERR_ARGUMENT for another type than the method's, and if raw params are not a JSON object.
 */
ACP_API int acp_client_request(struct acp_client *client, struct acp_str method,
                               acp_type_id params_type, const void *params, acp_type_id result_type,
                               acp_client_fn *done, void *user);
/* Sends a notification, under the same conditions. */
ACP_API int acp_client_notify(struct acp_client *client, struct acp_str method,
                              acp_type_id params_type, const void *params);

/* ---- Properties of a session ----------------------------------------------------------------- */

/* Its id and its working directory.  Valid as long as the session. */
ACP_API struct acp_str acp_client_session_id(const struct acp_client_session *session);
ACP_API struct acp_str acp_client_session_cwd(const struct acp_client_session *session);
ACP_API struct acp_client *acp_client_session_client(const struct acp_client_session *session);
/* A pointer for the program's use; NULL at first. */
ACP_API void acp_client_session_set_user(struct acp_client_session *session, void *user);
ACP_API void *acp_client_session_user(const struct acp_client_session *session);
/* The session of that id, or NULL. */
ACP_API struct acp_client_session *acp_client_find_session(const struct acp_client *client,
                                                           struct acp_str id);
/* Whether a turn is running, and whether that waits for the user. */
ACP_API enum acp_session_state acp_client_session_state(const struct acp_client_session *session);
/*
 * What can be set, as the agent sent it last, in the structs of version 1.  Known from when the
 * callback of the call that opened the session is called; valid until the next event of the
 * session.
 */
ACP_API struct acp_session_mode_list acp_client_session_modes(
    const struct acp_client_session *session);
/* The current mode; absent if there are no modes. */
ACP_API struct acp_str acp_client_session_mode(const struct acp_client_session *session);
ACP_API struct acp_session_config_option_list acp_client_session_options(
    const struct acp_client_session *session);

/* All three; also the value of the outcome of the functions that set them. */
struct acp_client_settings {
    struct acp_session_mode_list modes;
    struct acp_str mode; /* the current one; absent if there are no modes */
    struct acp_session_config_option_list options;
    void *reserved[4];
};
/* Valid until the next event of the session. */
ACP_API void acp_client_session_settings(const struct acp_client_session *session,
                                         struct acp_client_settings *ret);

/* ---- Turns ----------------------------------------------------------------------------------- */

/* Why a turn stopped. */
struct acp_turn_stop {
    enum acp_stop reason; /* ACP_STOP_NONE if outcome->err is not 0 */
    struct acp_str text;  /* as the agent sent it ("end_turn"); absent for ACP_STOP_NONE */
};
/*
 * The end of a turn.  If outcome->err is not 0 the turn failed, the session ended or the connection
 * was lost; outcome->why says how.
 */
typedef void acp_turn_fn(struct acp_client_session *session, const struct acp_turn_stop *stop,
                         const struct acp_outcome *outcome, void *user);
/*
 * Sends a prompt, which begins a turn.  ACP_ERR_STATE if one is running, before the session is
 * open, and for content that the agent does not take.  end may be NULL: ACP_EVENT_STATE tells when
 * the session is idle again.
 */
ACP_API int acp_client_prompt(struct acp_client_session *session,
                              const struct acp_content_block *blocks, size_t count,
                              acp_turn_fn *end, void *user);
/*
 * Asks the agent to stop the running turn, whose end still comes.  Open permission requests of the
 * session are answered as cancelled, inside this call.  0 without effect if no turn is running.
 */
ACP_API int acp_client_cancel(struct acp_client_session *session);
/*
 * Asks the agent to stop one tool call, or the command of one of its terminals; the turn goes on
 * (version 2).  ACP_ERR_STATE if the agent does not say, in the last update, that it can be
 * stopped.  done tells that the agent takes the request; the end of the tool call or the command
 * comes as an event.
 */
ACP_API int acp_client_cancel_tool_call(struct acp_client_session *session, struct acp_str tool,
                                        acp_client_fn *done, void *user);
ACP_API int acp_client_cancel_terminal(struct acp_client_session *session, struct acp_str terminal,
                                       acp_client_fn *done, void *user);

/* ---- Changing a session ---------------------------------------------------------------------- */

/*
 * Sets the mode, also if the modes are an option (version 2).  In this and the next two functions
 * the outcome's value is a struct acp_client_settings with all that is set now, empty if the
 * session has ended meanwhile; changes come as events before done.  ACP_ERR_STATE if the session
 * has no modes.
 */
ACP_API int acp_client_set_mode(struct acp_client_session *session, struct acp_str mode,
                                acp_client_fn *done, void *user);
/* Sets an option, by its id, to one of its values.  ACP_ERR_STATE if the session has none. */
ACP_API int acp_client_set_config_option(struct acp_client_session *session, struct acp_str option,
                                         struct acp_str value, acp_client_fn *done, void *user);
/* Sets an option that is on or off. */
ACP_API int acp_client_set_boolean_option(struct acp_client_session *session, struct acp_str option,
                                          bool value, acp_client_fn *done, void *user);
/* Closes the session; end_session is called before done. */
ACP_API int acp_client_close_session(struct acp_client_session *session, acp_client_fn *done,
                                     void *user);

/* ---- Answering the agent --------------------------------------------------------------------- */

/*
 * Answers a permission request with one of its options.  ACP_ERR_ARGUMENT if it has no option of
 * that id; the request stays open then.  ACP_ERR_UNKNOWN if it was answered or cancelled already.
 * Otherwise as acp_peer_result().
 */
ACP_API int acp_client_select_permission(struct acp_client *client, acp_call call,
                                         struct acp_str option);
/*
 * Answers a permission request as cancelled.  ACP_ERR_UNKNOWN if it was answered or cancelled
 * already; otherwise as acp_peer_result().
 */
ACP_API int acp_client_cancel_permission(struct acp_client *client, acp_call call);
/*
 * Answers any other request with a struct of type method->result; an extension with one of any
 * type, or ACP_TYPE_ANY with a struct acp_raw.  ACP_ERR_ARGUMENT for another type or if the raw
 * value is not valid JSON; the call stays open then.  ACP_ERR_UNKNOWN if it was answered already.
 * Otherwise as acp_peer_result().
 */
ACP_API int acp_client_respond(struct acp_client *client, acp_call call, acp_type_id type,
                               const void *value);
/* Answers any request with an error; as acp_peer_error(). */
ACP_API int acp_client_respond_error(struct acp_client *client, acp_call call, int64_t code,
                                     struct acp_str message, struct acp_raw data);

/* ---- Observing a session --------------------------------------------------------------------- */

/*
 * For a component that serves a session beside the program, as acp/workspace.h does, so that the
 * program need not tell it when the session ends.  The component owns the struct and sets the
 * function; a session may have any number of observers.
 */
struct acp_client_session_observer {
    /* Called before `end_session`.  The observer has been removed. */
    void (*session_ends)(struct acp_client_session_observer *watch);
    struct acp_client_session *session;       /* set by the role; NULL while it observes none */
    struct acp_client_session_observer *next; /* used by the role */
};

/* ACP_ERR_STATE if the observer is in use, or the session is ending. */
ACP_API int acp_client_session_add_observer(struct acp_client_session *session,
                                            struct acp_client_session_observer *watch);
/* Without effect if it observes none. */
ACP_API void acp_client_session_remove_observer(struct acp_client_session_observer *watch);

#ifdef __cplusplus
}
#endif

#endif
