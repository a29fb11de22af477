/*
 * turn.h - what an agent sends in a session and does in a turn: a part of agent.h.
 *
 *     acp_turn_send_text(turn, acp_str_from("Editing the file."));
 *     acp_tool_call_update_init(&tool, acp_str_from("call-1"));
 *     tool.title = acp_str_from("Edit main.c");
 *     tool.kind.is = ACP_TOOL_KIND_EDIT;
 *     content = acp_tool_diff(acp_str_from("/w/main.c"), old_text, new_text);
 *     tool.content = (struct acp_tool_call_content_list){&content, 1};
 *     acp_turn_send_tool_call(turn, &tool);
 *     tool = (struct acp_tool_call_update){.tool_call_id = acp_str_from("call-1")};
 *     tool.status.is = ACP_TOOL_CALL_STATUS_COMPLETED;
 *     acp_turn_send_tool_call(turn, &tool);                 only what has changed
 *     acp_turn_end(turn, ACP_STOP_END_TURN);
 *
 * All calls return 0 or an enum acp_err: ACP_ERR_STATE when the session or turn cannot send that
 * now, ACP_ERR_ARGUMENT for a path that is not absolute or a line below 1, ACP_ERR_CLOSED, _LIMIT,
 * _NOMEM; nothing is sent then.  What is passed is read during the call and not kept.  endpoint.h
 * has the rules for threads, callbacks and freeing.
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

/* ---- Filling in ------------------------------------------------------------------------------ */

/*
 * Structs of types.h have the members of both versions.  A program fills those of version 1, and
 * the role makes the others from them:
 *   - a tool call: tool_call_id and title with the first update, then what has changed of title,
 *     kind, status, content, locations, raw_input, raw_output.  Absent members stay as they were
 *   - a diff: path, old_text (absent: the file is new) and new_text; `changes` and `patch` are made
 *   - an option: id, name, and the current value with the values there are; category where it
 *     has one.  config_id is made from id
 *   - a group of an option's values: group, name, options.  group_id is made from group
 *   - a mode: id, name and, for people, description
 * What a session offers is a line each:
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
 *               models, 2),
 *         acp_option_boolean(acp_str_from("web"), acp_str_from("Search the web"), true),
 *     };
 *     struct acp_session_setup setup = {.modes = {modes, 2}, .current_mode = acp_str_from("ask"),
 *                                       .options = {options, 2}};
 *     acp_session_accept(session, &setup);
 *
 * Nothing of it is kept after the call: the arrays may be local.
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

/* An option that is one of several values; the array is not copied. */
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

/* An option that is on or off; clients of version 1 are told of it only if they take such. */
static inline struct acp_session_config_option acp_option_boolean(struct acp_str id,
                                                                  struct acp_str name, bool on)
{
    struct acp_session_config_option option;
    acp_session_config_option_init_boolean(&option, name, on);
    option.id = id;
    return option;
}

/* A diff as the content of a tool call; old_text absent: the file is new. */
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

/* ---- Sending --------------------------------------------------------------------------------- */

/*
 * Updates that belong to no turn in particular; in a turn or between turns.  ACP_ERR_STATE before
 * the session is accepted (but while it is being loaded they are its history) and after it ended.
 */
ACP_API int acp_session_send_user_block(struct acp_session *session,
                                        const struct acp_content_block *block,
                                        struct acp_str message);
/* message is the id of the message it belongs to; absent: the one that is open, or a new one. */
ACP_API int acp_session_send_text(struct acp_session *session, struct acp_str text,
                                  struct acp_str message);
ACP_API int acp_session_send_thought(struct acp_session *session, struct acp_str text,
                                     struct acp_str message);
ACP_API int acp_session_send_block(struct acp_session *session,
                                   const struct acp_content_block *block, struct acp_str message);
/*
 * The id of the message that was last said something of, so that it can be told again under the
 * same id when the session is loaded; absent when there is none.  Valid until the next call.
 */
ACP_API struct acp_str acp_session_message_id(const struct acp_session *session);
/*
 * The first update of a tool call begins it and must have a title: ACP_ERR_MISSING otherwise.  A
 * diff must have an absolute path: ACP_ERR_ARGUMENT.
 */
ACP_API int acp_session_send_tool_call(struct acp_session *session,
                                       const struct acp_tool_call_update *update);
ACP_API int acp_session_send_plan(struct acp_session *session, const struct acp_plan_entry *entries,
                                  size_t count);
ACP_API int acp_session_send_commands(struct acp_session *session,
                                      const struct acp_available_command *commands, size_t count);
ACP_API int acp_session_send_mode(struct acp_session *session, struct acp_str mode);
ACP_API int acp_session_send_options(struct acp_session *session,
                                     const struct acp_session_config_option *options, size_t count);
ACP_API int acp_session_send_info(struct acp_session *session,
                                  const struct acp_session_info_update *info);
ACP_API int acp_session_send_usage(struct acp_session *session,
                                   const struct acp_usage_update *usage);
ACP_API int acp_session_send_notice(struct acp_session *session, const struct acp_notice *notice);
ACP_API int acp_session_send_compaction(struct acp_session *session,
                                        const struct acp_compaction_update *update);
/*
 * What goes on beside the conversation: all of it, each time; count 0 says that it is over.  Once
 * told, the role repeats it with every state.  Version 1 has no word for it and is told nothing.
 */
ACP_API int acp_session_send_background(struct acp_session *session,
                                        const struct acp_background_work *items, size_t count);
/*
 * Any update of the version at hand, for what has no call of its own.  ACP_ERR_STATE when the
 * client did not offer to take it, and for a state while a turn is at work, which the role tells.
 */
ACP_API int acp_session_send_update(struct acp_session *session,
                                    const struct acp_session_update *update);

/* ---- Turns ----------------------------------------------------------------------------------- */

ACP_API struct acp_session *acp_turn_session(const struct acp_turn *turn);
ACP_API bool acp_turn_is_cancelled(const struct acp_turn *turn);
/* The _meta that came with the prompt, such as a trace context; absent when there was none. */
ACP_API struct acp_raw acp_turn_meta(const struct acp_turn *turn);
/*
 * The _meta that goes beside all updates of the turn, and into its questions, from now on: an
 * object, which is copied; absent: none.  ACP_ERR_TYPE for anything else.
 */
ACP_API int acp_turn_set_meta(struct acp_turn *turn, struct acp_raw meta);
/* The id of the user's message, for telling it again when the session is loaded. */
ACP_API struct acp_str acp_turn_user_message_id(const struct acp_turn *turn);
ACP_API void acp_turn_set_user(struct acp_turn *turn, void *user);
ACP_API void *acp_turn_user(const struct acp_turn *turn);

ACP_API int acp_turn_send_text(struct acp_turn *turn, struct acp_str text);
ACP_API int acp_turn_send_thought(struct acp_turn *turn, struct acp_str text);
ACP_API int acp_turn_send_block(struct acp_turn *turn, const struct acp_content_block *block);
ACP_API int acp_turn_send_tool_call(struct acp_turn *turn,
                                    const struct acp_tool_call_update *update);
ACP_API int acp_turn_send_plan(struct acp_turn *turn, const struct acp_plan_entry *entries,
                               size_t count);
ACP_API int acp_turn_send_usage(struct acp_turn *turn, const struct acp_usage_update *usage);

/* What the turn cost, told at its end (unstable); copied, without its _meta. */
ACP_API void acp_turn_set_usage(struct acp_turn *turn, const struct acp_usage *usage);

/*
 * Ends the turn; it must not be used afterwards.  A turn that was cancelled ends as cancelled,
 * whatever the reason.  ACP_ERR_ARGUMENT for ACP_STOP_NONE and ACP_STOP_OTHER: it goes on.
 */
ACP_API int acp_turn_end(struct acp_turn *turn, enum acp_stop stop);
/* Ends it with an error: it failed, the user is told why. */
ACP_API int acp_turn_fail(struct acp_turn *turn, int64_t code, struct acp_str message);

/* ---- Asking ---------------------------------------------------------------------------------- */

/*
 * Asking the client.  Each answer comes exactly once, also when the turn is cancelled, the client
 * says nothing sensible or the connection closes; err is then one of enum acp_err, and the thing
 * asked for was not granted.  Calls fail at once with ACP_ERR_STATE where the client did not offer
 * the service (acp_agent_client_capabilities() tells).
 */

/*
 * Whether the turn works on while questions to the user are open.  It does not unless this is said:
 * a version 2 client is then told that the session waits for the user.
 */
ACP_API int acp_turn_set_busy(struct acp_turn *turn, bool busy);

struct acp_permission_answer {
    int err;               /* 0 when an offered option was chosen */
    struct acp_str option; /* its id */
    enum acp_permission_option_kind_is kind;
};
typedef void acp_permission_fn(struct acp_turn *turn, const struct acp_permission_answer *answer,
                               void *user);
ACP_API int acp_turn_request_permission(struct acp_turn *turn,
                                        const struct acp_tool_call_update *tool,
                                        const struct acp_permission_option *options, size_t count,
                                        acp_permission_fn *answer, void *user);

/* What the user did with a form or a web page; what is unknown or failed counts as cancelled. */
enum acp_elicited_action { ACP_ELICITED_CANCEL, ACP_ELICITED_DECLINE, ACP_ELICITED_ACCEPT };
struct acp_elicitation_answer {
    int err; /* 0 when the client has answered */
    enum acp_elicited_action action;
    /* What was filled into a form that was accepted, as the client says: to be checked again. */
    struct acp_elicitation_content_value_map content;
};
typedef void acp_elicitation_fn(struct acp_turn *turn, const struct acp_elicitation_answer *answer,
                                void *user);
/*
 * Asks the user by a form, which never asks for secrets.  tool_call is the id of the call it is
 * for; absent: the session.  form->type need not be set.
 */
ACP_API int acp_turn_elicit_form(struct acp_turn *turn, struct acp_str tool_call,
                                 struct acp_str message, const struct acp_elicitation_schema *form,
                                 acp_elicitation_fn *answer, void *user);
/*
 * Asks the user to visit a web page.  id names the visit and differs from those of all others that
 * are open.  That it is accepted says that the page is opened, not that anything was done there:
 * tell that with acp_agent_complete_elicitation().
 */
ACP_API int acp_turn_elicit_url(struct acp_turn *turn, struct acp_str tool_call,
                                struct acp_str message, struct acp_str url, struct acp_str id,
                                acp_elicitation_fn *answer, void *user);

/* text is what was read; absent when outcome->err is not 0, and then outcome->why says why. */
typedef void acp_text_fn(struct acp_turn *turn, const struct acp_outcome *outcome,
                         struct acp_str text, void *user);
/* line and limit 0: the whole file.  Version 1 only: in version 2 agents own the files. */
ACP_API int acp_turn_read_file(struct acp_turn *turn, struct acp_str path, uint32_t line,
                               uint32_t limit, acp_text_fn *answer, void *user);
ACP_API int acp_turn_write_file(struct acp_turn *turn, struct acp_str path, struct acp_str text,
                                acp_text_fn *answer, void *user);

/*
 * Any request of the version at hand, with its own struct, or one of one's own; params is then a
 * struct acp_raw and type ACP_TYPE_ANY.  The result is absent when err is not 0.
 */
typedef void acp_result_fn(struct acp_turn *turn, const struct acp_reply *reply, void *user);
ACP_API int acp_turn_request(struct acp_turn *turn, struct acp_str method, acp_type_id type,
                             const void *params, acp_result_fn *answer, void *user);

#ifdef __cplusplus
}
#endif

#endif
