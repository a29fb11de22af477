/*
 * agent.h - the agent's role: one connection to a client, seen from the agent.  What the program
 * says in a session and asks in a turn is in turn.h, which comes with it.
 *
 * A program gives callbacks and works on turns; the role does the protocol.  What the program says
 * is the same whichever version the client speaks: the role writes it as version 1 or version 2.
 *
 *     static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt,
 *                           void *user)
 *     {
 *         acp_turn_send_text(turn, acp_str_from("Hello."));
 *         acp_turn_end(turn, ACP_STOP_END_TURN);
 *     }
 *
 *     static const struct acp_agent_handler handler = {.prompt = on_prompt};
 *     struct acp_agent_options options = {.name = acp_str_from("hello"),
 *           .versions = ACP_V1 | ACP_V2};
 *     getrandom(options.seed, sizeof(options.seed), 0);
 *     err = acp_agent_new(&options, &handler, NULL, &agent);
 *     drive(acp_agent_endpoint(agent));       the loop of endpoint.h; or use acp_agent_run()
 *     acp_agent_free(agent);
 *
 * What the role guarantees, so that the program need not:
 *   - a request before initialize, for an unknown session, with a relative path or for something
 *     that was not offered is refused and never reaches the program
 *   - every prompt ends exactly once, after all its updates; a cancelled one ends as cancelled
 *     whatever the program says
 *   - nothing is sent for a session before the client knows it
 *   - nothing is sent that the client did not say it can take
 *
 * The role does no I/O: whoever carries its bytes drives acp_agent_endpoint().  endpoint.h has the
 * rules for threads, callbacks and freeing.  Callbacks come out of the calls that drive the
 * endpoint, out of acp_agent_close() and acp_agent_free(), and: before_update out of whatever says
 * something, prompt out of acp_turn_end() and acp_turn_fail() when another prompt waits.
 * Sessions and turns belong to the role.  A session is valid until its `end_session` callback
 * returns, a turn until acp_turn_end() or acp_turn_fail() is called or that callback returns.
 * Texts, lists and structs that are passed to a call are read during the call and not kept; those
 * of the options must outlive the agent.  What a callback is given is valid until it returns.
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

/* ---- Making one ------------------------------------------------------------------------------ */

/*
 * Unstable services that the program has, besides what it has a callback for.  They are offered,
 * and served, only with ACP_UNSTABLE in the versions; the handler's request callback serves them.
 */
enum acp_agent_service {
    ACP_SERVICE_ARCHIVE = 1,                  /* session/archive and session/unarchive */
    ACP_SERVICE_STATUS = 2,                   /* session/status */
    ACP_SERVICE_TITLE = 4,                    /* session/set_title */
    ACP_SERVICE_PROVIDERS = 8,                /* providers/list, providers/set, providers/disable */
    ACP_SERVICE_AUTH_STATUS = 16,             /* auth/status, and telling auth/status_update */
    ACP_SERVICE_MCP = 32,                     /* MCP servers behind the client, by mcp/message */
    ACP_SERVICE_SYSTEM_PROMPT = 64,           /* systemPrompt of sessions that are opened */
    ACP_SERVICE_OVERRIDE_SYSTEM_PROMPT = 128, /* the same, instead of the agent's own */
};

/* All members are optional; texts and lists must outlive the agent. */
struct acp_agent_options {
    struct acp_str name;  /* for programs: "echo-agent" */
    struct acp_str title; /* for people */
    struct acp_str version;
    unsigned versions; /* ACP_V1, ACP_V2 or both; 0: ACP_V1.  ACP_UNSTABLE opens what is unstable */
    bool images;       /* blocks that prompts may hold besides text and resource links */
    bool audio;
    bool embedded_context;
    bool mcp_http; /* transports of MCP servers besides stdio */
    bool mcp_sse;
    bool mcp_lenient; /* sessions with servers over HTTP and SSE are not refused where these are not
                         offered; the program opens them without, and should tell the user */
    bool additional_directories;
    size_t max_prompt;                /* bytes of a prompt's params; a longer one is refused with
                                         -32602.  0: as long as a message may be */
    unsigned services;                /* of enum acp_agent_service */
    struct acp_raw capabilities_meta; /* an object: the _meta of our capabilities, for extensions */
    struct acp_auth_method_list auth_methods; /* terminal ones are offered only where they work */
    uint32_t merge_chars; /* join chunks of one message up to so many bytes; 0: 100 */
    uint32_t merge_ms;    /* or up to so long; 0: 50 */
    bool no_merging;
    bool quiet_between_turns; /* updates outside of turns wait for the next prompt */
    /* Join only what has to wait: text is sent at once while nothing else is on its way. */
    bool merge_waiting;
    /*
     * Random numbers that ids are made from; the role has no source of them itself.  Required, as
     * the only ones: ACP_ERR_ARGUMENT when both are 0.  acp_agent_run() fills them.
     */
    uint64_t seed[2];
    struct acp_peer_options peer; /* key is the role's own */
};

/*
 * What the program does.  A callback that is left out means that the agent cannot do it, which is
 * what the client is then told; prompt must be there.
 *
 * Callbacks that take a session or a call answer later or at once: a session by
 * acp_session_accept() or acp_session_reject(), a call by acp_agent_respond() or
 * acp_agent_respond_error().
 */
struct acp_agent_handler {
    /* A new session.  Left out: accepted as it is. */
    void (*new_session)(struct acp_session *session, const struct acp_new_session_request *request,
                        void *user);
    /*
     * An old one whose history is to be sent again (acp_session_replay() or the acp_session_*
     * calls), then accepted.  When it is open in this connection already, acp_agent_find_session()
     * still gives that one: acp_session_accept() ends it, acp_session_reject() leaves it as it is.
     * While a turn is running in it the role refuses the request with -32600, because history and
     * turn would mix.  A version 2 client may resume it without the history meanwhile.  Left out in
     * version 2: the role itself replays what it sent of a session that is open.
     */
    void (*load_session)(struct acp_session *session,
                         const struct acp_resume_session_request *request, void *user);
    /* An old one without its history; otherwise like load_session. */
    void (*resume_session)(struct acp_session *session,
                           const struct acp_resume_session_request *request, void *user);
    /* A new one that knows what the old one of request->session_id knew (unstable). */
    void (*fork_session)(struct acp_session *session,
                         const struct acp_fork_session_request *request, void *user);
    /* Answer with ACP_TYPE_LIST_SESSIONS_RESPONSE. */
    void (*list_sessions)(struct acp_agent *agent, acp_call call,
                          const struct acp_list_sessions_request *request, void *user);
    /* Answer with ACP_TYPE_DELETE_SESSION_RESPONSE. */
    void (*delete_session)(struct acp_agent *agent, acp_call call, struct acp_str id, void *user);
    /*
     * The session is gone: closed by the client, or with the connection; also one that waits to be
     * accepted.  A turn that is still at work was cancelled before and is ended after this.
     */
    void (*end_session)(struct acp_session *session, void *user);

    /*
     * For a program that stores its sessions: an update of the session that acp_session_replay()
     * takes later, as the version at hand has it.  It is about to be sent; acp_agent_hold_output()
     * delays it until it is stored.  The user's message comes here too, before the prompt callback:
     * as a user_message in version 2, which is sent to the client, and as one user_message_chunk
     * for each of its blocks in version 1, which is not.  Not called for what is replayed while a
     * session is loaded.  Must not send anything.
     */
    void (*before_update)(struct acp_session *session, const struct acp_session_update *update,
                          void *user);

    /* The user said something. */
    void (*prompt)(struct acp_turn *turn, struct acp_content_block_list prompt, void *user);
    /* The client cancelled the turn: stop, and end it soon, with any reason. */
    void (*cancel)(struct acp_turn *turn, void *user);
    /*
     * Stop a single tool call, or the command of a terminal, and report its end; the turn goes on.
     * Version 2 only, and only for those whose last update has capabilities.cancel: where the
     * callback is left out, that is not told to the client.
     */
    void (*cancel_tool)(struct acp_session *session, struct acp_str tool_call, void *user);
    void (*cancel_terminal)(struct acp_session *session, struct acp_str terminal, void *user);

    /*
     * Answer with acp_session_reply_set_mode() or acp_agent_respond_error().  mode is what the
     * client sent: it need not be one of those in the setup.
     */
    void (*set_mode)(struct acp_session *session, acp_call call, struct acp_str mode, void *user);
    /* Answer with acp_session_reply_set_option() or acp_agent_respond_error(). */
    void (*set_option)(struct acp_session *session, acp_call call,
                       const struct acp_set_session_config_option_request *request, void *user);

    /* Answer with ACP_TYPE_AUTHENTICATE_RESPONSE. */
    void (*authenticate)(struct acp_agent *agent, acp_call call, struct acp_str method, void *user);
    /* Answer with ACP_TYPE_LOGOUT_RESPONSE. */
    void (*logout)(struct acp_agent *agent, acp_call call, void *user);

    /*
     * An unstable request that options.services offers, with its params decoded: answer with
     * method->result.  Or one of the client's own, whose name begins with an underscore: method->id
     * is then 0 and params NULL.
     */
    void (*request)(struct acp_agent *agent, acp_call call, const struct acp_method *method,
                    const void *params, const struct acp_message *message, void *user);
    /* The client no longer wants the answer to such a request; it must be answered all the same. */
    void (*cancel_request)(struct acp_agent *agent, acp_call call, void *user);
    /* The client's own, and mcp/message where ACP_SERVICE_MCP is offered. */
    void (*notification)(struct acp_agent *agent, const struct acp_message *message, void *user);

    /* A violation of the protocol by the client, already handled; for logs. */
    void (*protocol_error)(struct acp_agent *agent, enum acp_protocol_error what,
                           struct acp_str text, void *user);
    /* The client reads more slowly than we write (true): pause until it has caught up (false). */
    void (*pressure)(struct acp_agent *agent, bool high, void *user);
    /* The connection is closed; all sessions have ended before this. */
    void (*closed)(struct acp_agent *agent, int reason, void *user);
};

ACP_API int acp_agent_new_sized(const struct acp_agent_options *options, size_t options_size,
                                const struct acp_agent_handler *handler, size_t handler_size,
                                void *user, struct acp_agent **ret);
static inline int acp_agent_new(const struct acp_agent_options *options,
                                const struct acp_agent_handler *handler, void *user,
                                struct acp_agent **ret)
{
    return acp_agent_new_sized(options, sizeof(*options), handler, sizeof(*handler), user, ret);
}
/* Takes NULL.  Ends all sessions first.  From a callback as well: see endpoint.h. */
ACP_API void acp_agent_free(struct acp_agent *agent);
/* For whoever carries its messages; belongs to the agent. */
ACP_API struct acp_endpoint *acp_agent_endpoint(struct acp_agent *agent);
/*
 * Ends all sessions as if the client had closed each of them: prompts are answered as cancelled.
 * For a program that is about to stop; the answers are still to be sent.
 */
ACP_API void acp_agent_end_sessions(struct acp_agent *agent);
/* Everything in the handler is failed with reason, as if the client had gone. */
ACP_API void acp_agent_close(struct acp_agent *agent, int reason);

/* ACP_V1 or ACP_V2 once initialized (with ACP_UNSTABLE where that is on), 0 before. */
ACP_API unsigned acp_agent_protocol(const struct acp_agent *agent);
/* What the client said it can do; NULL before it did. */
ACP_API const struct acp_client_capabilities *acp_agent_client_capabilities(
    const struct acp_agent *agent);
ACP_API void *acp_agent_user(const struct acp_agent *agent);
/* Whether it is time to pause: see the pressure callback. */
ACP_API bool acp_agent_is_above_high_water(const struct acp_agent *agent);
ACP_API struct acp_peer *acp_agent_peer(struct acp_agent *agent);

/*
 * The _meta of the message that is being served, such as a trace context: for callbacks that get no
 * request to find it in.  Valid during the callback; absent when there is none.
 */
ACP_API struct acp_raw acp_agent_meta(const struct acp_agent *agent);

/*
 * type is the one that the callback names; for a request of the client's own it may be any, also
 * ACP_TYPE_ANY with a struct acp_raw.  ACP_ERR_ARGUMENT for another type and for what is not JSON,
 * and the call stays open.  ACP_ERR_UNKNOWN when it was answered already.
 */
ACP_API int acp_agent_respond(struct acp_agent *agent, acp_call call, acp_type_id type,
                              const void *value);
ACP_API int acp_agent_respond_error(struct acp_agent *agent, acp_call call, int64_t code,
                                    struct acp_str message);

/*
 * A notification of one's own (the name begins with an underscore; type is ACP_TYPE_ANY and params
 * a struct acp_raw, or NULL), or one of the version at hand with its struct.  ACP_ERR_STATE for one
 * that the version does not have, that the client did not offer to take, or that the role sends
 * itself.
 */
ACP_API int acp_agent_notify(struct acp_agent *agent, struct acp_str method, acp_type_id type,
                             const void *params);
/* What the user was to do on the web page of acp_turn_elicit_url() is done. */
ACP_API int acp_agent_complete_elicitation(struct acp_agent *agent, struct acp_str id);
/*
 * A request that belongs to no turn; what belongs to one is asked by it (turn.h).  The rules are
 * those of acp_agent_notify(), the reply comes exactly once.  ret_request, for acp_peer_cancel(),
 * may be NULL.
 */
ACP_API int acp_agent_request(struct acp_agent *agent, struct acp_str method, acp_type_id type,
                              const void *params, acp_reply_fn *reply, void *user,
                              uint64_t *ret_request);

/* ---- Sessions -------------------------------------------------------------------------------- */

/* What a client is told of a session when it is accepted; all of it may be absent. */
struct acp_session_setup {
    struct acp_session_mode_list modes;
    struct acp_str current_mode;
    struct acp_session_config_option_list options;
    struct acp_available_command_list commands;
    void *reserved[4];
};

/*
 * Opens the session and answers the request.  setup may be NULL, and is not kept.  ACP_ERR_STATE
 * when it was accepted or refused before; ACP_ERR_NOMEM, and then it still waits: refuse it.
 */
ACP_API int acp_session_accept(struct acp_session *session, const struct acp_session_setup *setup);
/*
 * Answers the request with an error, and ends the session: it must not be used afterwards, and
 * end_session is not called.  ACP_ERR_STATE when it was accepted or refused before.
 */
ACP_API int acp_session_reject(struct acp_session *session, int64_t code, struct acp_str message);

/* The id may be chosen by new_session before it accepts; otherwise the role makes one up. */
ACP_API int acp_session_set_id(struct acp_session *session, struct acp_str id);
ACP_API struct acp_str acp_session_id(const struct acp_session *session);
ACP_API struct acp_str acp_session_cwd(const struct acp_session *session);
ACP_API struct acp_str_list acp_session_directories(const struct acp_session *session);
ACP_API struct acp_agent *acp_session_agent(const struct acp_session *session);
ACP_API void acp_session_set_user(struct acp_session *session, void *user);
ACP_API void *acp_session_user(const struct acp_session *session);
/* The session of that id, or NULL. */
ACP_API struct acp_session *acp_agent_find_session(const struct acp_agent *agent,
                                                   struct acp_str id);
/* The running turn, or NULL. */
ACP_API struct acp_turn *acp_session_turn(const struct acp_session *session);

/* Answers set_mode and set_option. */
ACP_API int acp_session_reply_set_mode(struct acp_session *session, acp_call call,
                                       struct acp_str mode);
ACP_API int acp_session_reply_set_option(struct acp_session *session, acp_call call,
                                         struct acp_session_config_option_list options);

/* ---- Keeping --------------------------------------------------------------------------------- */

/*
 * Whatever is sent from now on, of all sessions, waits until acp_agent_release_output() names this
 * number or a later one.  Numbers are the program's own, above 0, and grow: those of the events
 * that it is writing to a disk, say, which nobody is to see before they are there.
 */
ACP_API void acp_agent_hold_output(struct acp_agent *agent, uint64_t number);
ACP_API void acp_agent_release_output(struct acp_agent *agent, uint64_t number);

/*
 * Tells an update again that before_update was given in an earlier connection: its JSON, and the
 * acp_agent_protocol() of that time.  While the session is being loaded.  What is told anew with
 * every session (modes, options, commands, states) is passed over, and so are terminals of a
 * client, which ended with it.  An error for what is no update.
 */
ACP_API int acp_session_replay(struct acp_session *session, unsigned mode, struct acp_raw update);

/* ---- Watching -------------------------------------------------------------------------------- */

/*
 * For a part that works on turns beside the program, such as job.h: it hears what it must know
 * without the program passing it on.  The struct belongs to the watcher, who sets the functions.
 */
struct acp_agent_observer {
    /* The program hears of it after this.  The turn must not be ended from here. */
    void (*turn_cancelled)(struct acp_agent_observer *watch, struct acp_turn *turn);
    /* The last moment for what belongs to the turn. */
    void (*turn_ends)(struct acp_agent_observer *watch, struct acp_turn *turn);
    /* The program hears of it after this. */
    void (*session_ends)(struct acp_agent_observer *watch, struct acp_session *session);
    /* The client has caught up: see the pressure callback. */
    void (*relieved)(struct acp_agent_observer *watch);
    struct acp_agent *agent; /* set by the role; NULL when it watches none, also once it is freed */
    void *reserved[4];
};

/* ACP_ERR_STATE when the agent has one already. */
ACP_API int acp_agent_set_observer(struct acp_agent *agent, struct acp_agent_observer *watch);
/* Without effect when it watches none. */
ACP_API void acp_agent_remove_observer(struct acp_agent_observer *watch);

#ifdef __cplusplus
}
#endif

#endif
