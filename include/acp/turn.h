/*
 * turn.h - what an agent sends in a session and asks during a turn.  Part of acp/agent.h.
 *
 *     #include <acp/agent.h>
 *
 *     // The prompt callback of an agent that edits a file and reports it as a tool call.
 *     void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
 *     {
 *         struct acp_tool_call_update tool;
 *         struct acp_tool_call_content diff = acp_tool_diff(
 *             acp_str_from("/w/main.c"), acp_str_from("int x;\n"), acp_str_from("long x;\n"));
 *
 *         acp_turn_send_text(turn, acp_str_from("Editing the file."));
 *
 *         acp_tool_call_update_init(&tool, acp_str_from("call-1"));
 *         tool.title = acp_str_from("Edit main.c");
 *         tool.kind.is = ACP_TOOL_KIND_EDIT;
 *         tool.status.is = ACP_TOOL_CALL_STATUS_IN_PROGRESS;
 *         tool.content.items = &diff;
 *         tool.content.count = 1;
 *         acp_turn_send_tool_call(turn, &tool);
 *
 *         acp_tool_call_update_init(&tool, acp_str_from("call-1")); // only what has changed
 *         tool.status.is = ACP_TOOL_CALL_STATUS_COMPLETED;
 *         acp_turn_send_tool_call(turn, &tool);
 *
 *         acp_turn_end(turn, ACP_STOP_END_TURN);
 *     }
 *
 * All functions that send return 0, or one of these errors, and send nothing then:
 *
 *   ACP_ERR_STATE      the session is not accepted yet, has ended, or the client does not take it
 *   ACP_ERR_ARGUMENT   a path that is not absolute, or a line number below 1
 *   ACP_ERR_MISSING, ACP_ERR_RANGE, ACP_ERR_TYPE, ACP_ERR_VARIANT
 *                      a struct that is not valid in the version in use (acp/codec.h)
 *   ACP_ERR_CLOSED     the connection is closed
 *   ACP_ERR_LIMIT, ACP_ERR_NOMEM
 *
 * A program may ignore them: if the connection is lost, end_session follows.  Sending after a
 * cancellation is allowed.  acp/endpoint.h has the rules for threads, arguments and callbacks.
 */
#ifndef ACP_TURN_H
#define ACP_TURN_H

#include "acp/rpc.h"
#include "acp/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct acp_agent;
struct acp_session;
struct acp_turn;

/* ---- Building messages ----------------------------------------------------------------------- */

/*
 * The structs of acp/types.h have the members of both versions.  A program fills in those of
 * version 1, and the role derives the others:
 *   - a tool call: tool_call_id and title in the first update, then those of title, kind, status,
 *     content, locations, raw_input and raw_output that change.  Absent members keep their values
 *   - a diff: path, old_text (absent for a new file) and new_text; `changes` and `patch` are
 *     derived
 *   - an option: id, name, and the current value with the possible values; a category if it has
 *     one.  config_id is derived from id
 *   - a group of values of an option: group, name, options.  group_id is derived from group
 *   - a mode: id, name and, for people, description
 *
 * What a session offers takes a line for each item:
 *
 *     const struct acp_session_mode modes[] = {
 *         acp_mode_value(acp_str_from("ask"), acp_str_from("Ask first")),
 *         acp_mode_value(acp_str_from("code"), acp_str_from("Write code")),
 *     };
 *     const struct acp_session_config_select_option models[] = {
 *         acp_option_value(acp_str_from("small"), acp_str_from("Small and fast")),
 *         acp_option_value(acp_str_from("large"), acp_str_from("Large")),
 *     };
 *     const struct acp_session_config_option options[] = {
 *         acp_option_select(acp_str_from("model"), acp_str_from("Model"), acp_str_from("small"),
 *                           models, 2),
 *         acp_option_boolean(acp_str_from("web"), acp_str_from("Search the web"), true),
 *     };
 *     struct acp_session_setup setup = {.modes = {modes, 2}, .current_mode = acp_str_from("ask"),
 *                                       .options = {options, 2}};
 *     acp_session_accept(session, &setup);
 *
 * The functions below copy nothing: the structs they return point to their arguments.
 */

/* A mode. */
static inline struct acp_session_mode acp_mode_value(struct acp_str id, struct acp_str name)
{
    struct acp_session_mode mode;
    acp_session_mode_init(&mode, id, name);
    return mode;
}

/* One of the values of an option. */
static inline struct acp_session_config_select_option acp_option_value(struct acp_str value,
                                                                       struct acp_str name)
{
    struct acp_session_config_select_option option;
    acp_session_config_select_option_init(&option, value, name);
    return option;
}

/* An option that has one of several values; `current` is one of them. */
static inline struct acp_session_config_option acp_option_select(
    struct acp_str id, struct acp_str name, struct acp_str current,
    const struct acp_session_config_select_option *values, size_t count)
{
    struct acp_session_config_option option;
    acp_session_config_option_init_select(&option, name, current);
    acp_session_config_select_options_init_ungrouped(&option.select.options, values, count);
    option.id = id;
    return option;
}

/* An option that is on or off.  Version 1 clients get it only if they support such options. */
static inline struct acp_session_config_option acp_option_boolean(struct acp_str id,
                                                                  struct acp_str name, bool on)
{
    struct acp_session_config_option option;
    acp_session_config_option_init_boolean(&option, name, on);
    option.id = id;
    return option;
}

/* A diff as content of a tool call.  old_text is absent for a new file. */
static inline struct acp_tool_call_content acp_tool_diff(struct acp_str path,
                                                         struct acp_str old_text,
                                                         struct acp_str new_text)
{
    struct acp_tool_call_content content;
    acp_tool_call_content_init_diff(&content);
    content.diff.path = path;
    content.diff.old_text = old_text;
    content.diff.new_text = new_text;
    return content;
}

/* ---- Sending in a session -------------------------------------------------------------------- */

/*
 * These may be called during a turn, between turns, and while the session is being loaded: then
 * they send its history.  The errors are those at the top.
 *
 * Messages: a message is made of chunks of text and of other blocks.  `message` is its id.  If that
 * is absent, the chunk is appended to the message in progress if there is one of the same author,
 * and begins a new one otherwise; a tool call or a plan ends the message in progress.  Text is
 * merged (acp_agent_options.merge_chars); the order of updates is kept.
 */
ACP_API int acp_session_send_text(struct acp_session *session, struct acp_str text,
                                  struct acp_str message);
/* A part of the agent's reasoning. */
ACP_API int acp_session_send_thought(struct acp_session *session, struct acp_str text,
                                     struct acp_str message);
/* Any block of the agent's message: an image, a resource. */
ACP_API int acp_session_send_block(struct acp_session *session,
                                   const struct acp_content_block *block, struct acp_str message);
/* A block of a message of the user, for the history of a session. */
ACP_API int acp_session_send_user_block(struct acp_session *session,
                                        const struct acp_content_block *block,
                                        struct acp_str message);
/*
 * The id of the message that a chunk was sent of last, for storing it: the same id is to be used
 * when the session is loaded.  Absent if there is none; valid until the next message begins.
 */
ACP_API struct acp_str acp_session_message_id(const struct acp_session *session);

/*
 * Begins or changes a tool call.  The first update of a tool_call_id must have a title, or it fails
 * with ACP_ERR_MISSING.
 */
ACP_API int acp_session_send_tool_call(struct acp_session *session,
                                       const struct acp_tool_call_update *update);
/* The plan; replaces the previous one. */
ACP_API int acp_session_send_plan(struct acp_session *session, const struct acp_plan_entry *entries,
                                  size_t count);
/* The slash commands of the session; replaces the previous ones. */
ACP_API int acp_session_send_commands(struct acp_session *session,
                                      const struct acp_available_command *commands, size_t count);
/* The current mode has changed.  ACP_ERR_STATE in version 2 if the session has no modes. */
ACP_API int acp_session_send_mode(struct acp_session *session, struct acp_str mode);
/* All options with their values, after one has changed. */
ACP_API int acp_session_send_options(struct acp_session *session,
                                     const struct acp_session_config_option *options, size_t count);
/* The title of the session and the like. */
ACP_API int acp_session_send_info(struct acp_session *session,
                                  const struct acp_session_info_update *info);
/* How much of the context is used. */
ACP_API int acp_session_send_usage(struct acp_session *session,
                                   const struct acp_usage_update *usage);
/* A notice for the user (unstable). */
ACP_API int acp_session_send_notice(struct acp_session *session, const struct acp_notice *notice);
/* The context is being compacted, or was (unstable). */
ACP_API int acp_session_send_compaction(struct acp_session *session,
                                        const struct acp_compaction_update *update);
/*
 * The work that goes on in the background: the whole list each time, and count 0 when there is
 * none.  The role repeats it with every state.  Version 1 does not have this: 0, and nothing is
 * sent.
 */
ACP_API int acp_session_send_background(struct acp_session *session,
                                        const struct acp_background_work *items, size_t count);
/*
 * Any update of the version in use, for those without a function above.  ACP_ERR_STATE also for a
 * state_update during a turn, since the role sends those.
 */
ACP_API int acp_session_send_update(struct acp_session *session,
                                    const struct acp_session_update *update);

/* ---- Turns ----------------------------------------------------------------------------------- */

/* The session of the turn. */
ACP_API struct acp_session *acp_turn_session(const struct acp_turn *turn);
/* Whether the client has cancelled it. */
ACP_API bool acp_turn_is_cancelled(const struct acp_turn *turn);
/* The _meta of the prompt, such as a trace context, valid as long as the turn; or absent. */
ACP_API struct acp_raw acp_turn_meta(const struct acp_turn *turn);
/*
 * Sets the _meta that updates and questions of the turn have from now on: a JSON object, which is
 * copied; absent removes it.  ACP_ERR_TYPE if it is not a JSON object, ACP_ERR_NOMEM.
 */
ACP_API int acp_turn_set_meta(struct acp_turn *turn, struct acp_raw meta);
/* The id of the user's message, for storing it; valid as long as the turn. */
ACP_API struct acp_str acp_turn_user_message_id(const struct acp_turn *turn);
/* A pointer for the program's use; NULL at first. */
ACP_API void acp_turn_set_user(struct acp_turn *turn, void *user);
ACP_API void *acp_turn_user(const struct acp_turn *turn);

/* The same as the functions for sessions, with the message in progress. */
ACP_API int acp_turn_send_text(struct acp_turn *turn, struct acp_str text);
ACP_API int acp_turn_send_thought(struct acp_turn *turn, struct acp_str text);
ACP_API int acp_turn_send_block(struct acp_turn *turn, const struct acp_content_block *block);
ACP_API int acp_turn_send_tool_call(struct acp_turn *turn,
                                    const struct acp_tool_call_update *update);
ACP_API int acp_turn_send_plan(struct acp_turn *turn, const struct acp_plan_entry *entries,
                               size_t count);
ACP_API int acp_turn_send_usage(struct acp_turn *turn, const struct acp_usage_update *usage);

/* The token usage of the turn, sent when it ends (unstable).  Copied, without its _meta. */
ACP_API void acp_turn_set_usage(struct acp_turn *turn, const struct acp_usage *usage);

/*
 * Ends the turn, which must not be used afterwards.  A turn that was cancelled ends as cancelled,
 * whatever `stop` says.  Open questions are answered with ACP_ERR_CANCELLED inside this call, and
 * the next prompt may begin inside it.
 *
 * 0; ACP_ERR_ARGUMENT for ACP_STOP_NONE and ACP_STOP_OTHER, and the turn goes on.
 */
ACP_API int acp_turn_end(struct acp_turn *turn, enum acp_stop stop);
/*
 * Ends the turn with an error: a JSON-RPC code and a message for the user.  Otherwise as
 * acp_turn_end(); always returns 0.
 */
ACP_API int acp_turn_fail(struct acp_turn *turn, int64_t code, struct acp_str message);

/* ---- Asking ---------------------------------------------------------------------------------- */

/*
 * Requests to the client during a turn.  If the function returns 0 the answer callback, which must
 * not be NULL, is called exactly once, always before the turn is gone.  Its err is 0 only if the
 * client has granted what was asked; otherwise it is ACP_ERR_REMOTE, ACP_ERR_CANCELLED (the turn
 * was cancelled or has ended), ACP_ERR_CLOSED, a decoding error, or another enum acp_err.
 *
 * The functions fail with the errors at the top; ACP_ERR_STATE means that the client does not offer
 * the service, as acp_agent_client_capabilities() tells.  They fail with ACP_ERR_CANCELLED after a
 * cancellation.
 */

/*
 * Whether the turn goes on working while questions to the user are open.  If not, which is the
 * default, a version 2 client is told that the session waits for the user (requires_action).  Sends
 * that at once if it changes; the errors are those at the top, and the setting is changed anyway.
 */
ACP_API int acp_turn_set_busy(struct acp_turn *turn, bool busy);

struct acp_permission_answer {
    int err;               /* 0 if the user chose one of the options; ACP_ERR_CANCELLED if none */
    struct acp_str option; /* its id, and its kind: check whether it allows or rejects */
    enum acp_permission_option_kind_is kind;
};
typedef void acp_permission_fn(struct acp_turn *turn, const struct acp_permission_answer *answer,
                               void *user);
/*
 * Asks the user for permission to run a tool call, which need not have been sent before.  It has a
 * title, which version 2 shows.  ACP_ERR_ARGUMENT without options.
 */
ACP_API int acp_turn_request_permission(struct acp_turn *turn,
                                        const struct acp_tool_call_update *tool,
                                        const struct acp_permission_option *options, size_t count,
                                        acp_permission_fn *answer, void *user);

/* What the user did with a form or a web page.  Unknown answers and errors count as CANCEL. */
enum acp_elicited_action { ACP_ELICITED_CANCEL, ACP_ELICITED_DECLINE, ACP_ELICITED_ACCEPT };
struct acp_elicitation_answer {
    int err; /* 0 if the client has answered */
    enum acp_elicited_action action;
    /* The values of an accepted form.  Not validated against it: check them. */
    struct acp_elicitation_content_value_map content;
};
typedef void acp_elicitation_fn(struct acp_turn *turn, const struct acp_elicitation_answer *answer,
                                void *user);
/*
 * Has the user fill in a form.  Forms must not ask for secrets.  tool_call is the id of the tool
 * call that needs it, or absent.  form->type need not be set.
 */
ACP_API int acp_turn_elicit_form(struct acp_turn *turn, struct acp_str tool_call,
                                 struct acp_str message, const struct acp_elicitation_schema *form,
                                 acp_elicitation_fn *answer, void *user);
/*
 * Asks the user to visit a web page.  id is chosen by the program and differs from those of other
 * visits that are open.  ACP_ELICITED_ACCEPT means that the page is being opened, not that the user
 * is done there; when the program knows that, it calls acp_agent_complete_elicitation().
 * ACP_ERR_ARGUMENT for an empty id or URL.
 */
ACP_API int acp_turn_elicit_url(struct acp_turn *turn, struct acp_str tool_call,
                                struct acp_str message, struct acp_str url, struct acp_str id,
                                acp_elicitation_fn *answer, void *user);

/* text is what was read, empty after a write, and absent if outcome->err is not 0. */
typedef void acp_text_fn(struct acp_turn *turn, const struct acp_outcome *outcome,
                         struct acp_str text, void *user);
/*
 * Reads a text file through the client: from `line`, counted from 1, `limit` lines; 0 and 0 for the
 * whole file.  Version 1 only, like the following: in version 2 agents access files themselves.
 */
ACP_API int acp_turn_read_file(struct acp_turn *turn, struct acp_str path, uint32_t line,
                               uint32_t limit, acp_text_fn *answer, void *user);
/* Writes a text file through the client. */
ACP_API int acp_turn_write_file(struct acp_turn *turn, struct acp_str path, struct acp_str text,
                                acp_text_fn *answer, void *user);

/* The result is not decoded: use the T_decode() of acp/types.h with acp_agent_protocol(). */
typedef void acp_result_fn(struct acp_turn *turn, const struct acp_reply *reply, void *user);
/*
 * Sends any other request of the version in use with the struct of its params, or an extension,
 * whose name begins with an underscore, with ACP_TYPE_ANY and a struct acp_raw.  terminal/kill and
 * terminal/release are possible after a cancellation, too.
 */
ACP_API int acp_turn_request(struct acp_turn *turn, struct acp_str method, acp_type_id type,
                             const void *params, acp_result_fn *answer, void *user);

#ifdef __cplusplus
}
#endif

#endif
