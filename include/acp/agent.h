/*
 * agent.h - the agent's role: one connection to a client, seen from the agent.
 *
 * A program gives callbacks and works on turns; the role does the protocol.  What the program says
 * is the same whichever version the client speaks: the role writes it as version 1 or version 2.
 *
 *     static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void
 *     *user) {
 *         acp_turn_text(turn, acp_str("Hello."));
 *         acp_turn_end(turn, ACP_STOP_END_TURN);
 *     }
 *
 * What the role guarantees, so that the program need not:
 *   - a request before initialize, for an unknown session, with a relative path or for something
 *     that was not offered is refused and never reaches the program
 *   - every prompt ends exactly once, after all its updates; a cancelled one ends as cancelled
 *     whatever the program says
 *   - nothing is sent for a session before the client knows it
 *   - nothing is sent that the client did not say it can take
 *
 * The role does no I/O: whoever carries its bytes drives acp_agent_endpoint().
 * Sessions and turns belong to the role.  A session is valid until its `end_session` callback
 * returns, a turn until acp_turn_end() or acp_turn_fail() is called or that callback returns.
 */
#ifndef ACP_AGENT_H
#define ACP_AGENT_H

#include "acp/endpoint.h"
#include "acp/rpc.h"
#include "acp/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct acp_agent;
struct acp_session;
struct acp_turn;

/* Why a turn ends. */
enum acp_stop {
    ACP_STOP_END_TURN = 1,
    ACP_STOP_MAX_TOKENS,
    ACP_STOP_MAX_TURN_REQUESTS,
    ACP_STOP_REFUSAL,
    ACP_STOP_CANCELLED,
};

/* ---- Making one ------------------------------------------------------------------------------ */

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
    bool additional_directories;
    struct acp_raw capabilities_meta; /* an object: the _meta of our capabilities, for extensions */
    struct acp_auth_method_list auth_methods; /* terminal ones are offered only where they work */
    uint32_t merge_chars; /* join chunks of one message up to so many bytes; 0: 100 */
    uint32_t merge_ms;    /* or up to so long; 0: 50 */
    bool no_merging;
    bool quiet_between_turns; /* updates outside of turns wait for the next prompt */
    uint64_t seed[2];         /* random numbers that ids are made from; the role has none itself */
    struct acp_peer_options peer;
};

/*
 * What the program does.  A callback that is left out means that the agent cannot do it, which is
 * what the client is then told; prompt must be there.
 *
 * Callbacks that take a session or a call answer later or at once: a session by
 * acp_session_accept() or acp_session_refuse(), a call by acp_agent_answer() or acp_agent_refuse().
 */
struct acp_agent_handler {
    /* A new session.  Left out: accepted as it is. */
    void (*new_session)(struct acp_session *session, const struct acp_new_session_request *request,
                        void *user);
    /* An old one whose history is to be sent again (acp_session_* calls), then accepted. */
    void (*load_session)(struct acp_session *session,
                         const struct acp_resume_session_request *request, void *user);
    /* An old one without its history. */
    void (*resume_session)(struct acp_session *session,
                           const struct acp_resume_session_request *request, void *user);
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

    /* The user said something. */
    void (*prompt)(struct acp_turn *turn, struct acp_content_block_list prompt, void *user);
    /* Stop working on the turn and end it soon. */
    void (*cancel)(struct acp_turn *turn, void *user);

    /* Answer with acp_session_mode_set() or acp_agent_refuse(). */
    void (*set_mode)(struct acp_session *session, acp_call call, struct acp_str mode, void *user);
    /* Answer with acp_session_options_set() or acp_agent_refuse(). */
    void (*set_option)(struct acp_session *session, acp_call call,
                       const struct acp_set_session_config_option_request *request, void *user);

    /* Answer with ACP_TYPE_AUTHENTICATE_RESPONSE. */
    void (*authenticate)(struct acp_agent *agent, acp_call call, struct acp_str method, void *user);
    /* Answer with ACP_TYPE_LOGOUT_RESPONSE. */
    void (*logout)(struct acp_agent *agent, acp_call call, void *user);

    /* Methods of one's own, whose names begin with an underscore, and unstable ones. */
    void (*request)(struct acp_agent *agent, acp_call call, const struct acp_message *message,
                    void *user);
    /* The client no longer wants the answer to such a request; it must be answered all the same. */
    void (*cancel_request)(struct acp_agent *agent, acp_call call, void *user);
    void (*notification)(struct acp_agent *agent, const struct acp_message *message, void *user);

    /* What is wrong with the stream, for logs. */
    void (*trouble)(struct acp_agent *agent, enum acp_trouble what, struct acp_str text,
                    void *user);
    /* The client reads more slowly than we write (true): pause until it has caught up (false). */
    void (*pressure)(struct acp_agent *agent, bool high, void *user);
    /* The connection is closed; all sessions have ended before this. */
    void (*closed)(struct acp_agent *agent, int reason, void *user);
};

ACP_API int acp_agent_new(const struct acp_agent_options *options,
                          const struct acp_agent_handler *handler, void *user,
                          struct acp_agent **ret);
/* Takes NULL.  Ends all sessions first. */
ACP_API void acp_agent_free(struct acp_agent *agent);
ACP_API struct acp_endpoint acp_agent_endpoint(struct acp_agent *agent);
/* Called whenever there is something to send: set by whoever drives the endpoint. */
ACP_API void acp_agent_on_output(struct acp_agent *agent, void (*wake)(void *user), void *user);
/* Everything in the handler is failed with reason, as if the client had gone. */
ACP_API void acp_agent_close(struct acp_agent *agent, int reason);

/* ACP_V1 or ACP_V2 once initialized (with ACP_UNSTABLE where that is on), 0 before. */
ACP_API unsigned acp_agent_mode(const struct acp_agent *agent);
/* What the client said it can do; NULL before it did. */
ACP_API const struct acp_client_capabilities *acp_agent_client_capabilities(
    const struct acp_agent *agent);
ACP_API void *acp_agent_user(const struct acp_agent *agent);
/* Whether it is time to pause: see the pressure callback. */
ACP_API bool acp_agent_is_pressed(const struct acp_agent *agent);
ACP_API struct acp_peer *acp_agent_peer(struct acp_agent *agent);

ACP_API int acp_agent_answer(struct acp_agent *agent, acp_call call, acp_type_id type,
                             const void *value);
ACP_API int acp_agent_refuse(struct acp_agent *agent, acp_call call, int64_t code,
                             struct acp_str message);

/* ---- Sessions -------------------------------------------------------------------------------- */

/* What a client is told of a session when it is accepted; all of it may be absent. */
struct acp_session_setup {
    struct acp_session_mode_list modes;
    struct acp_str current_mode;
    struct acp_session_config_option_list options;
    struct acp_available_command_list commands;
};

/* setup may be NULL. */
ACP_API int acp_session_accept(struct acp_session *session, const struct acp_session_setup *setup);
ACP_API int acp_session_refuse(struct acp_session *session, int64_t code, struct acp_str message);

/* The id may be chosen by new_session before it accepts; otherwise the role makes one up. */
ACP_API int acp_session_set_id(struct acp_session *session, struct acp_str id);
ACP_API struct acp_str acp_session_id(const struct acp_session *session);
ACP_API struct acp_str acp_session_cwd(const struct acp_session *session);
ACP_API struct acp_str_list acp_session_directories(const struct acp_session *session);
ACP_API struct acp_agent *acp_session_agent(const struct acp_session *session);
ACP_API void acp_session_set_user(struct acp_session *session, void *user);
ACP_API void *acp_session_user(const struct acp_session *session);
/* The session of that id, or NULL. */
ACP_API struct acp_session *acp_agent_session(const struct acp_agent *agent, struct acp_str id);
/* The turn at work, or NULL. */
ACP_API struct acp_turn *acp_session_turn(const struct acp_session *session);

/* Answers set_mode and set_option. */
ACP_API int acp_session_mode_set(struct acp_session *session, acp_call call, struct acp_str mode);
ACP_API int acp_session_options_set(struct acp_session *session, acp_call call,
                                    struct acp_session_config_option_list options);

/*
 * Updates that belong to no turn in particular; in a turn or between turns.  ACP_ERR_STATE before
 * the session is accepted (but while it is being loaded they are its history) and after it ended.
 */
ACP_API int acp_session_user_block(struct acp_session *session,
                                   const struct acp_content_block *block, struct acp_str message);
ACP_API int acp_session_text(struct acp_session *session, struct acp_str text,
                             struct acp_str message);
ACP_API int acp_session_thought(struct acp_session *session, struct acp_str text,
                                struct acp_str message);
ACP_API int acp_session_block(struct acp_session *session, const struct acp_content_block *block,
                              struct acp_str message);
/* The first update of a tool call begins it and must have a title. */
ACP_API int acp_session_tool(struct acp_session *session,
                             const struct acp_tool_call_update *update);
ACP_API int acp_session_plan(struct acp_session *session, const struct acp_plan_entry *entries,
                             size_t count);
ACP_API int acp_session_commands(struct acp_session *session,
                                 const struct acp_available_command *commands, size_t count);
ACP_API int acp_session_mode(struct acp_session *session, struct acp_str mode);
ACP_API int acp_session_options(struct acp_session *session,
                                const struct acp_session_config_option *options, size_t count);
ACP_API int acp_session_info(struct acp_session *session,
                             const struct acp_session_info_update *info);
ACP_API int acp_session_usage(struct acp_session *session, const struct acp_usage_update *usage);
ACP_API int acp_session_notice(struct acp_session *session, const struct acp_notice *notice);
ACP_API int acp_session_compaction(struct acp_session *session,
                                   const struct acp_compaction_update *update);
/* Any update of the version at hand, for what has no call of its own. */
ACP_API int acp_session_update(struct acp_session *session,
                               const struct acp_session_update *update);

/* ---- Turns ----------------------------------------------------------------------------------- */

ACP_API struct acp_session *acp_turn_session(const struct acp_turn *turn);
ACP_API bool acp_turn_is_cancelled(const struct acp_turn *turn);
/* The _meta that came with the prompt, such as a trace context; absent when there was none. */
ACP_API struct acp_raw acp_turn_meta(const struct acp_turn *turn);
ACP_API void acp_turn_set_user(struct acp_turn *turn, void *user);
ACP_API void *acp_turn_user(const struct acp_turn *turn);

ACP_API int acp_turn_text(struct acp_turn *turn, struct acp_str text);
ACP_API int acp_turn_thought(struct acp_turn *turn, struct acp_str text);
ACP_API int acp_turn_block(struct acp_turn *turn, const struct acp_content_block *block);
ACP_API int acp_turn_tool(struct acp_turn *turn, const struct acp_tool_call_update *update);
ACP_API int acp_turn_plan(struct acp_turn *turn, const struct acp_plan_entry *entries,
                          size_t count);
ACP_API int acp_turn_usage(struct acp_turn *turn, const struct acp_usage_update *usage);

/* Ends the turn.  A turn that was cancelled ends as cancelled. */
ACP_API int acp_turn_end(struct acp_turn *turn, enum acp_stop stop);
/* Ends it with an error: it failed, the user is told why. */
ACP_API int acp_turn_fail(struct acp_turn *turn, int64_t code, struct acp_str message);

/*
 * Asking the client.  Each answer comes exactly once, also when the turn is cancelled, the client
 * says nothing sensible or the connection closes; err is then one of enum acp_err, and the thing
 * asked for was not granted.  Calls fail at once with ACP_ERR_STATE where the client did not offer
 * the service (acp_agent_client_capabilities() tells).
 */
struct acp_permission {
    int err;               /* 0 when an offered option was chosen */
    struct acp_str option; /* its id */
    enum acp_permission_option_kind_is kind;
};
typedef void acp_permission_fn(struct acp_turn *turn, const struct acp_permission *answer,
                               void *user);
ACP_API int acp_turn_ask_permission(struct acp_turn *turn, const struct acp_tool_call_update *tool,
                                    const struct acp_permission_option *options, size_t count,
                                    acp_permission_fn *answer, void *user);

/* text is absent when err is not 0; message then says why. */
typedef void acp_text_fn(struct acp_turn *turn, int err, struct acp_str text, void *user);
/* line and limit 0: the whole file.  Version 1 only: in version 2 agents own the files. */
ACP_API int acp_turn_read_file(struct acp_turn *turn, struct acp_str path, uint32_t line,
                               uint32_t limit, acp_text_fn *answer, void *user);
ACP_API int acp_turn_write_file(struct acp_turn *turn, struct acp_str path, struct acp_str text,
                                acp_text_fn *answer, void *user);

/*
 * Any request of the version at hand, or one of one's own; params is then a struct acp_raw and type
 * ACP_TYPE_ANY.  The result is absent when err is not 0.
 */
typedef void acp_result_fn(struct acp_turn *turn, const struct acp_reply *reply, void *user);
ACP_API int acp_turn_request(struct acp_turn *turn, struct acp_str method, acp_type_id type,
                             const void *params, acp_result_fn *answer, void *user);

/* ---- Watching -------------------------------------------------------------------------------- */

/*
 * For a part that works on turns beside the program, such as job.h: it hears what it must know
 * without the program passing it on.  The struct belongs to the watcher, who sets the functions.
 */
struct acp_agent_watch {
    /* The program hears of it after this.  The turn must not be ended from here. */
    void (*turn_cancelled)(struct acp_agent_watch *watch, struct acp_turn *turn);
    /* The last moment for what belongs to the turn. */
    void (*turn_ends)(struct acp_agent_watch *watch, struct acp_turn *turn);
    /* The program hears of it after this. */
    void (*session_ends)(struct acp_agent_watch *watch, struct acp_session *session);
    /* The client has caught up: see the pressure callback. */
    void (*relieved)(struct acp_agent_watch *watch);
    struct acp_agent *agent; /* set by the role; NULL when it watches none, also once it is freed */
};

/* ACP_ERR_STATE when the agent has one already. */
ACP_API int acp_agent_set_watch(struct acp_agent *agent, struct acp_agent_watch *watch);
/* Without effect when it watches none. */
ACP_API void acp_agent_remove_watch(struct acp_agent_watch *watch);

#ifdef __cplusplus
}
#endif

#endif
