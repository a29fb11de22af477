/*
 * agent.h - the agent's role: one connection to a client, as the agent sees it.  What a program
 * sends in a session and asks during a turn is in acp/turn.h, which this header includes.
 *
 * The program provides callbacks and calls functions; the role speaks the protocol, version 1 or
 * version 2, whichever the client asks for.  A complete agent, whose loop is the one of
 * acp/endpoint.h:
 *
 *     #include <acp/agent.h>
 *     #include <sys/random.h>
 *     #include <unistd.h>
 *
 *     void drive(struct acp_endpoint *end, int in, int out); // as in acp/endpoint.h
 *
 *     static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt,
 *                           void *user)
 *     {
 *         acp_turn_send_text(turn, acp_str_from("Hello."));
 *         acp_turn_end(turn, ACP_STOP_END_TURN);
 *     }
 *
 *     int run_agent(void)
 *     {
 *         static const struct acp_agent_handler handler = {.prompt = on_prompt};
 *         struct acp_agent_options options = {.name = acp_str_from("hello"),
 *                                             .versions = ACP_V1 | ACP_V2};
 *         struct acp_agent *agent;
 *         if (getrandom(options.seed, sizeof(options.seed), 0) < 0 ||
 *             acp_agent_new(&options, &handler, NULL, &agent))
 *             return 1;
 *         drive(acp_agent_endpoint(agent), STDIN_FILENO, STDOUT_FILENO);
 *         acp_agent_free(agent);
 *         return 0;
 *     }
 *
 * With libacp-io, acp_agent_run() of acp/run.h does all of run_agent().
 *
 * What the role guarantees, so that the program need not check:
 *   - requests before initialize, for an unknown session, with a relative path, or for something
 *     that was not offered are refused and never reach the program
 *   - every prompt ends exactly once, after all its updates; a cancelled one ends as cancelled
 *     whatever the program says
 *   - nothing is sent for a session before the client knows it
 *   - nothing is sent that the client did not offer to take
 *
 * acp/endpoint.h has the rules for threads, arguments, callbacks and freeing.  Callbacks run inside
 * the calls that drive the endpoint, inside acp_agent_close(), acp_agent_end_sessions() and
 * acp_agent_free(), and in these cases: before_update inside any function that sends an update, and
 * prompt inside acp_turn_end() and acp_turn_fail() if another prompt waits.
 *
 * Sessions and turns belong to the role.  A session is valid until its end_session callback
 * returns.  A turn is valid until acp_turn_end() or acp_turn_fail() is called, or the end_session
 * callback of its session returns.
 */
#ifndef ACP_AGENT_H
#define ACP_AGENT_H

#include "acp/endpoint.h"
#include "acp/rpc.h"
#include "acp/turn.h"
#include "acp/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Options --------------------------------------------------------------------------------- */

/*
 * Unstable features that the program has, besides those that have a callback of their own.  They
 * are offered only with ACP_UNSTABLE in options.versions; their requests go to the `request`
 * callback.
 */
enum acp_agent_service {
    ACP_SERVICE_ARCHIVE = 1,                  /* session/archive and session/unarchive */
    ACP_SERVICE_STATUS = 2,                   /* session/status */
    ACP_SERVICE_TITLE = 4,                    /* session/set_title */
    ACP_SERVICE_PROVIDERS = 8,                /* providers/list, providers/set, providers/disable */
    ACP_SERVICE_AUTH_STATUS = 16,             /* auth/status, and sending auth/status_update */
    ACP_SERVICE_MCP = 32,                     /* MCP servers in the client, by mcp/message */
    ACP_SERVICE_SYSTEM_PROMPT = 64,           /* systemPrompt, appended to the agent's own */
    ACP_SERVICE_OVERRIDE_SYSTEM_PROMPT = 128, /* systemPrompt, also in place of the agent's own */
};

/* All members but seed are optional.  Texts and lists must outlive the agent. */
struct acp_agent_options {
    struct acp_str name;  /* for programs: "echo-agent" */
    struct acp_str title; /* for people: "Echo Agent" */
    struct acp_str version;
    unsigned versions; /* ACP_V1, ACP_V2 or both, with ACP_UNSTABLE for unstable parts; 0: ACP_V1 */
    bool images;       /* blocks that prompts may have besides text and resource links */
    bool audio;
    bool embedded_context;
    bool mcp_http; /* transports of MCP servers besides stdio */
    bool mcp_sse;
    bool mcp_lenient; /* accept sessions with HTTP and SSE servers although these are not offered;
                         the program opens the session without them, and should tell the user */
    bool additional_directories;
    size_t max_prompt;                /* bytes of a prompt's params; longer ones are refused with
                                         -32602.  0: limited by the size of a message only */
    unsigned services;                /* enum acp_agent_service */
    struct acp_raw capabilities_meta; /* a JSON object, the _meta of the agent's capabilities */
    struct acp_auth_method_list auth_methods; /* those of kind terminal are offered only to
                                                 clients that can run them */
    uint32_t merge_chars; /* merge chunks of a message until there are this many bytes; 0: 100 */
    uint32_t merge_ms;    /* or until the first is this old; 0: 50 */
    bool no_merging;
    bool quiet_between_turns; /* hold updates between turns back until the next prompt */
    bool merge_waiting; /* merge only while output waits to be sent, and send at once otherwise */
    /*
     * Random numbers, from which ids are made: the library has no source of randomness.  Required;
     * acp_agent_run() and acp_agent_stdio_new() fill them in.
     */
    uint64_t seed[2];
    struct acp_peer_options peer; /* limits and framing; key is set by the role */
};

/* ---- Callbacks ------------------------------------------------------------------------------- */

/*
 * What the program does.  prompt is required.  Leaving out another callback means that the agent
 * does not have that feature, and the client is told so.
 *
 * A callback that is given a session to open answers with acp_session_accept() or
 * acp_session_reject(); one that is given a call, with acp_agent_respond() or
 * acp_agent_respond_error(), unless its comment names another function.  Both may be done in the
 * callback or later.  Every call must be answered once.
 */
struct acp_agent_handler {
    /* A new session.  Left out: all are accepted, with no setup. */
    void (*new_session)(struct acp_session *session, const struct acp_new_session_request *request,
                        void *user);
    /*
     * An earlier session, request->session_id.  Send its history, by acp_session_replay() or the
     * acp_session_send_...() functions, then accept it.
     *
     * If that session is open in this connection already, acp_agent_find_session() returns the open
     * one until acp_session_accept() ends it; acp_session_reject() leaves it open.  While it has a
     * running turn the role refuses the request with -32600, because history and turn would mix; a
     * version 2 client may resume it without its history then.
     *
     * Left out: version 1 is not offered it; in version 2 the role itself replays a session that is
     * open, and refuses others.
     */
    void (*load_session)(struct acp_session *session,
                         const struct acp_resume_session_request *request, void *user);
    /* An earlier session, without its history.  Otherwise like load_session. */
    void (*resume_session)(struct acp_session *session,
                           const struct acp_resume_session_request *request, void *user);
    /* A new session that continues from the state of request->session_id (unstable). */
    void (*fork_session)(struct acp_session *session,
                         const struct acp_fork_session_request *request, void *user);
    /*
     * Answer with ACP_TYPE_LIST_SESSIONS_RESPONSE.  Left out in version 2: the role lists those
     * that are open.
     */
    void (*list_sessions)(struct acp_agent *agent, acp_call call,
                          const struct acp_list_sessions_request *request, void *user);
    /* Answer with ACP_TYPE_DELETE_SESSION_RESPONSE.  If it is open, it has been ended before. */
    void (*delete_session)(struct acp_agent *agent, acp_call call, struct acp_str id, void *user);
    /*
     * The session ends: closed by the client, by the program, or with the connection.  Also called
     * for one that was not accepted yet, but not after acp_session_reject().  A running turn has
     * been cancelled before; if it is still running, it is ended after this.
     */
    void (*end_session)(struct acp_session *session, void *user);

    /*
     * For a program that stores its sessions: an update that is about to be sent, as the version in
     * use has it.  Store its JSON, from acp_session_get_update(), together with
     * acp_agent_protocol(); acp_session_replay() takes both.  acp_agent_hold_output() delays it
     * until it is stored.
     *
     * The message of the user comes here, too, before `prompt`: in version 2 as a user_message,
     * which is also sent; in version 1 as one user_message_chunk for each block, which is not.  Not
     * called for the history that is sent while a session is loaded.  Must not send anything.
     */
    void (*before_update)(struct acp_session *session, const struct acp_session_update *update,
                          void *user);

    /*
     * A prompt of the user begins a turn.  Send updates and end it with acp_turn_end() or
     * acp_turn_fail(), in the callback or later.  prompt is valid until the callback returns.
     */
    void (*prompt)(struct acp_turn *turn, struct acp_content_block_list prompt, void *user);
    /*
     * The client cancelled the turn: stop, and end it soon, with any reason.  Questions that were
     * open have been answered with ACP_ERR_CANCELLED before this.
     */
    void (*cancel)(struct acp_turn *turn, void *user);
    /*
     * Stop a single tool call, or the command of a terminal, and send an update with its end.  The
     * turn goes on.  Version 2 only, and only for those whose last update had capabilities.cancel;
     * if the callback is left out, that capability is not sent.
     */
    void (*cancel_tool)(struct acp_session *session, struct acp_str tool_call, void *user);
    void (*cancel_terminal)(struct acp_session *session, struct acp_str terminal, void *user);

    /*
     * Answer with acp_session_reply_set_mode() or acp_agent_respond_error().  Check mode: the
     * client may send one that is not in the setup.
     */
    void (*set_mode)(struct acp_session *session, acp_call call, struct acp_str mode, void *user);
    /* Answer with acp_session_reply_set_option() or acp_agent_respond_error().  Check the value. */
    void (*set_option)(struct acp_session *session, acp_call call,
                       const struct acp_set_session_config_option_request *request, void *user);

    /* Answer with ACP_TYPE_AUTHENTICATE_RESPONSE. */
    void (*authenticate)(struct acp_agent *agent, acp_call call, struct acp_str method, void *user);
    /* Answer with ACP_TYPE_LOGOUT_RESPONSE. */
    void (*logout)(struct acp_agent *agent, acp_call call, void *user);

    /*
     * An unstable request that options.services offers: params is the struct of type
     * method->params; answer with method->result.  Or an extension request, whose name begins with
     * an underscore: method->id is 0, params is NULL, message->params has the JSON; answer with any
     * type.
     */
    void (*request)(struct acp_agent *agent, acp_call call, const struct acp_method *method,
                    const void *params, const struct acp_message *message, void *user);
    /*
     * The client cancelled a request other than a prompt.  It must still be answered, with a result
     * or with acp_peer_error_for(acp_agent_peer(agent), call, ACP_ERR_CANCELLED).
     */
    void (*cancel_request)(struct acp_agent *agent, acp_call call, void *user);
    /* An extension notification, or mcp/message if ACP_SERVICE_MCP is offered. */
    void (*notification)(struct acp_agent *agent, const struct acp_message *message, void *user);

    /* A violation of the protocol by the client, already handled; for logs. */
    void (*protocol_error)(struct acp_agent *agent, enum acp_protocol_error what,
                           struct acp_str text, void *user);
    /* The client does not read as fast as output is produced (true), or has caught up (false). */
    void (*pressure)(struct acp_agent *agent, bool high, void *user);
    /* The connection is closed, for that enum acp_err; all sessions have ended.  Called once. */
    void (*closed)(struct acp_agent *agent, int reason, void *user);
};

/* ---- Making one ------------------------------------------------------------------------------ */

/*
 * The handler and the options are copied, but not what the options point to.  user is passed to
 * all callbacks.  ACP_ERR_ARGUMENT without a prompt callback or a seed, ACP_ERR_NOMEM.
 */
ACP_API int acp_agent_new_sized(const struct acp_agent_options *options, size_t options_size,
                                const struct acp_agent_handler *handler, size_t handler_size,
                                void *user, struct acp_agent **ret);
static inline int acp_agent_new(const struct acp_agent_options *options,
                                const struct acp_agent_handler *handler, void *user,
                                struct acp_agent **ret)
{
    return acp_agent_new_sized(options, sizeof(*options), handler, sizeof(*handler), user, ret);
}
/*
 * Closes the connection with ACP_ERR_CLOSED, which ends all sessions, and frees the agent;
 * acp/endpoint.h has the rules.  Takes NULL.
 */
ACP_API void acp_agent_free(struct acp_agent *agent);
/* What a loop or a link drives (acp/endpoint.h).  Belongs to the agent. */
ACP_API struct acp_endpoint *acp_agent_endpoint(struct acp_agent *agent);
/*
 * Ends all sessions as if the client had closed each of them: prompts are answered as cancelled.
 * For a program that is about to stop; send the output that is left before closing.
 */
ACP_API void acp_agent_end_sessions(struct acp_agent *agent);
/*
 * Closes the connection as if the client had gone: ends all sessions, fails requests to the client
 * with reason, an enum acp_err, and calls `closed`.  Without effect on a closed connection.
 */
ACP_API void acp_agent_close(struct acp_agent *agent, int reason);

/* ---- Properties ------------------------------------------------------------------------------ */

/* The mode in use: ACP_V1 or ACP_V2, perhaps with ACP_UNSTABLE; 0 before initialize. */
ACP_API unsigned acp_agent_protocol(const struct acp_agent *agent);
/* What the client offers; NULL before initialize.  Valid as long as the agent. */
ACP_API const struct acp_client_capabilities *acp_agent_client_capabilities(
    const struct acp_agent *agent);
/* The user pointer of acp_agent_new(). */
ACP_API void *acp_agent_user(const struct acp_agent *agent);
/* Whether `pressure` was called with true last: a program should pause producing output. */
ACP_API bool acp_agent_is_above_high_water(const struct acp_agent *agent);
/* The peer inside the agent, for acp_peer_cancel(), acp_peer_error_for() and acp_peer_call_id(). */
ACP_API struct acp_peer *acp_agent_peer(struct acp_agent *agent);
/*
 * The _meta of the message being served, such as a trace context, for callbacks that are not given
 * the request.  Valid during the callback; absent if there is none.
 */
ACP_API struct acp_raw acp_agent_meta(const struct acp_agent *agent);

/* ---- Answering and asking the client --------------------------------------------------------- */

/*
 * Answers a call with a struct of the type that the callback names; for an extension request of any
 * type, or ACP_TYPE_ANY with a struct acp_raw.  ACP_ERR_ARGUMENT for another type or if the raw
 * value is not valid JSON; the call stays open then.  ACP_ERR_UNKNOWN if it was answered already.
 * Otherwise as acp_peer_result().
 */
ACP_API int acp_agent_respond(struct acp_agent *agent, acp_call call, acp_type_id type,
                              const void *value);
/* Answers a call with an error; as acp_peer_error(), without data. */
ACP_API int acp_agent_respond_error(struct acp_agent *agent, acp_call call, int64_t code,
                                    struct acp_str message);

/*
 * Sends a notification: an extension, whose name begins with an underscore, with ACP_TYPE_ANY and
 * a struct acp_raw, or NULL for none; or one of the version in use, with the struct of its params.
 *
 * ACP_ERR_STATE before initialize, and for a notification that the version does not have, that the
 * client did not offer to take, or that only the role sends (session/update); ACP_ERR_ARGUMENT for
 * another type, raw params that are not a JSON object, or a path that is not absolute; otherwise as
 * acp_peer_notify().
 */
ACP_API int acp_agent_notify(struct acp_agent *agent, struct acp_str method, acp_type_id type,
                             const void *params);
/*
 * Notifies the client that the user is done on the web page of acp_turn_elicit_url(); id is the one
 * given there.  Errors as acp_agent_notify().
 */
ACP_API int acp_agent_complete_elicitation(struct acp_agent *agent, struct acp_str id);
/*
 * Sends a request that does not belong to a turn; acp_turn_request() sends those that do.  The
 * reply comes exactly once if this returns 0.  ret_request, for acp_peer_cancel(), may be NULL.
 * Arguments and errors as acp_agent_notify().
 */
ACP_API int acp_agent_request(struct acp_agent *agent, struct acp_str method, acp_type_id type,
                              const void *params, acp_reply_fn *reply, void *user,
                              uint64_t *ret_request);

/* ---- Sessions -------------------------------------------------------------------------------- */

/*
 * What a session offers, sent to the client when it is accepted.  All of it may be absent.
 * acp/turn.h has functions that make the items, with an example.
 */
struct acp_session_setup {
    struct acp_session_mode_list modes;
    struct acp_str current_mode;
    struct acp_session_config_option_list options;
    struct acp_available_command_list commands;
    void *reserved[4];
};

/*
 * Opens the session and answers the request.  setup may be NULL.  If the session replaces one that
 * is open, that one ends inside this call.
 *
 * ACP_ERR_STATE if it was accepted before; ACP_ERR_NOMEM, after which it still waits and should be
 * rejected; ACP_ERR_CLOSED if the program closed the connection in a callback of this call.
 */
ACP_API int acp_session_accept(struct acp_session *session, const struct acp_session_setup *setup);
/*
 * Answers the request with an error and ends the session, which must not be used afterwards;
 * end_session is not called.  ACP_ERR_STATE if it was accepted before; otherwise as
 * acp_peer_error(), and the session is gone in any case.
 */
ACP_API int acp_session_reject(struct acp_session *session, int64_t code, struct acp_str message);

/*
 * Chooses the id of a new or forked session before it is accepted; otherwise the role makes one.
 * ACP_ERR_STATE if it has one or the text is empty, ACP_ERR_ARGUMENT if another open session has
 * it, ACP_ERR_NOMEM.
 */
ACP_API int acp_session_set_id(struct acp_session *session, struct acp_str id);
/* Its id; absent before it has one.  This and the following are valid as long as the session. */
ACP_API struct acp_str acp_session_id(const struct acp_session *session);
/* Its working directory, an absolute path. */
ACP_API struct acp_str acp_session_cwd(const struct acp_session *session);
/* Its additional directories, absolute paths. */
ACP_API struct acp_str_list acp_session_directories(const struct acp_session *session);
ACP_API struct acp_agent *acp_session_agent(const struct acp_session *session);
/* A pointer for the program's use; NULL at first. */
ACP_API void acp_session_set_user(struct acp_session *session, void *user);
ACP_API void *acp_session_user(const struct acp_session *session);
/* The session of that id, or NULL. */
ACP_API struct acp_session *acp_agent_find_session(const struct acp_agent *agent,
                                                   struct acp_str id);
/* Its running turn, or NULL. */
ACP_API struct acp_turn *acp_session_turn(const struct acp_session *session);

/*
 * Answers set_mode: mode is the current one now.  ACP_ERR_UNKNOWN if the call was answered already;
 * ACP_ERR_STATE in version 2 if the session has no modes, and the call is answered with an error;
 * otherwise as acp_peer_result().
 */
ACP_API int acp_session_reply_set_mode(struct acp_session *session, acp_call call,
                                       struct acp_str mode);
/*
 * Answers set_option with all options and their values as they are now.  ACP_ERR_UNKNOWN if the
 * call was answered already; otherwise as acp_peer_result().
 */
ACP_API int acp_session_reply_set_option(struct acp_session *session, acp_call call,
                                         struct acp_session_config_option_list options);

/* ---- Storing sessions ------------------------------------------------------------------------ */

/*
 * Holds back all output produced from now on, of all sessions, until acp_agent_release_output() is
 * called with this number or a later one.  For a program that shows nothing before it is durable:
 * the numbers are its own, above 0 and increasing, such as those of the events it is writing.
 */
ACP_API void acp_agent_hold_output(struct acp_agent *agent, uint64_t number);
ACP_API void acp_agent_release_output(struct acp_agent *agent, uint64_t number);

/*
 * In before_update: the JSON of the update, valid until the callback returns.  The update is
 * encoded once, for this and for sending it.  ACP_ERR_STATE outside of the callback, ACP_ERR_NOMEM,
 * ACP_ERR_LIMIT, or an encoding error of acp/codec.h.
 */
ACP_API int acp_session_get_update(struct acp_session *session, struct acp_raw *ret);

/*
 * Sends an update that before_update was given in an earlier connection, while the session is being
 * loaded.  update is its JSON, and mode the acp_agent_protocol() of that connection; the update is
 * translated if the version differs.  Skipped are updates that are sent again with every session
 * (modes, options, commands, states), and terminals of the earlier client.
 *
 * ACP_ERR_STATE if the session can send nothing, a decoding error of acp/codec.h if update is not
 * an update, or the errors of acp/turn.h.
 */
ACP_API int acp_session_replay(struct acp_session *session, unsigned mode, struct acp_raw update);

/* ---- Observing ------------------------------------------------------------------------------- */

/*
 * For a component that works on turns beside the program, as acp/job.h does, so that the program
 * need not pass on what happens to them.  The component owns the struct and sets the functions, all
 * of which are required.
 */
struct acp_agent_observer {
    /* Called before `cancel`.  Must not end the turn. */
    void (*turn_cancelled)(struct acp_agent_observer *watch, struct acp_turn *turn);
    /* Called when the turn is about to end; updates can still be sent. */
    void (*turn_ends)(struct acp_agent_observer *watch, struct acp_turn *turn);
    /* Called before `end_session`. */
    void (*session_ends)(struct acp_agent_observer *watch, struct acp_session *session);
    /* The client has caught up: called before `pressure` with false. */
    void (*relieved)(struct acp_agent_observer *watch);
    struct acp_agent *agent; /* set by the role; NULL while it observes none, or that is freed */
    void *reserved[4];
};

/* There is one at a time: ACP_ERR_STATE if the agent has one. */
ACP_API int acp_agent_set_observer(struct acp_agent *agent, struct acp_agent_observer *watch);
/* Without effect if it observes none. */
ACP_API void acp_agent_remove_observer(struct acp_agent_observer *watch);

#ifdef __cplusplus
}
#endif

#endif
