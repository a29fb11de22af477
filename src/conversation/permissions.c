/*
 * permissions.c - what the agent asks for: permissions, files and terminals, decided by the policy
 * or by the person.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acp/types.h"
#include "conversation/conversation_internal.h"
#include "conversation/question.h"
#include "json/members.h"

/* ---- What is recorded of it ------------------------------------------------------------------ */

/* What the agent changes about the way a command runs. */
static void write_surroundings(struct acp_json_writer *w, const struct acp_action *action)
{
    if (action->command_cwd.len) {
        acp_json_write_key(w, acp_str_from("cwd"));
        acp_json_write_str(w, action->command_cwd);
    }
    if (!action->env.count)
        return;
    acp_json_write_key(w, acp_str_from("env"));
    acp_json_begin_object(w);
    for (size_t i = 0; i < action->env.count; i++) {
        acp_json_write_key(w, action->env.items[i].key);
        acp_json_write_str(w, action->env.items[i].value);
    }
    acp_json_end_object(w);
}

void conversation_log_verdict(struct conversation *c, const struct acp_action *action,
                              const struct permission_record *record)
{
    static const char *const words[] = {
        [PERMISSION_DENIED] = "deny", [PERMISSION_ALLOWED] = "allow", [PERMISSION_OTHER] = "other"};
    struct acp_buf body;
    struct acp_json_writer w;
    struct acp_str title = action->title.len ? action->title : action->command;
    acp_buf_init(&body, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("title"));
    acp_json_write_str(&w, title.len ? title : acp_str_from(acp_kind_name(action->kind)));
    acp_json_write_key(&w, acp_str_from("kind"));
    acp_json_write_str(&w, acp_str_from(acp_kind_name(action->kind)));
    if (action->command.len) {
        acp_json_write_key(&w, acp_str_from("command"));
        acp_json_write_str(&w, action->command);
        write_surroundings(&w, action);
    }
    acp_json_write_key(&w, acp_str_from("paths"));
    acp_json_begin_array(&w);
    for (size_t i = 0; i < action->paths.count; i++)
        acp_json_write_str(&w, action->paths.items[i]);
    acp_json_end_array(&w);
    acp_json_write_key(&w, acp_str_from("verdict"));
    acp_json_write_str(&w, acp_str_from(words[record->verdict]));
    if (record->option.len) {
        acp_json_write_key(&w, acp_str_from("option"));
        acp_json_write_str(&w, record->option);
    }
    acp_json_write_key(&w, acp_str_from("by"));
    acp_json_write_str(&w, record->by);
    if (record->unasked)
        acp_json_put_bool(&w, "unasked", true);
    acp_json_end_object(&w);
    if (!w.err)
        conversation_add_event(c, EVENT_PERMISSION, conversation_turn(c),
                               acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
    if (c->prompts && record->verdict != PERMISSION_DENIED)
        c->prompts->approved = true;
    else if (c->prompts)
        c->prompts->denied = true;
    if (c->prompts && record->unasked)
        c->prompts->unasked = true;
}

/* ---- Permission requests --------------------------------------------------------------------- */

const struct acp_policy *conversation_policy(const struct conversation *c)
{
    const struct queued_prompt *prompt = c->prompts;
    return prompt && prompt->options.policy ? prompt->options.policy : c->options.policy;
}

/* Another process may have granted or revoked something since. */
static void refresh_ledger(struct conversation *c)
{
    if (c->options.ledger && c->options.ledger_path)
        (void) acp_ledger_refresh_file(c->options.ledger, c->options.ledger_path, NULL);
}

/* why says who decided, where it was not the policy. */
static void answer_permission(struct conversation *c, acp_call call,
                              const struct acp_action *action,
                              struct acp_permission_option_list options,
                              const struct acp_decision *decision, const char *why)
{
    struct acp_client *client = conversation_client(c);
    struct acp_request_permission_outcome outcome;
    struct acp_buf by;
    struct acp_str option = {0};
    acp_buf_init(&by, 2000);
    if (why)
        (void) acp_buf_printf(&by, "nobody: %s", why);
    else
        (void) acp_decision_print(decision, &by);
    if (acp_policy_answer(decision->verdict, false, options, &outcome)) {
        option = outcome.selected.option_id;
        (void) acp_client_select_permission(client, call, option);
    } else {
        (void) acp_client_cancel_permission(client, call);
    }
    bool allow = decision->verdict == ACP_VERDICT_ALLOW;
    conversation_log_verdict(
        c, action,
        &(struct permission_record){.verdict = allow ? PERMISSION_ALLOWED : PERMISSION_DENIED,
                                    .option = option,
                                    .by = acp_buf_view(&by),
                                    .unasked = decision->by == ACP_DECIDED_BY_NOBODY});
    if (allow)
        conversation_note_permitted(c, action);
    acp_buf_finish(&by);
}

/* Only a directory that is not the session's is worth to be shown. */
static void drop_usual_directory(struct acp_action *action)
{
    struct acp_action usual = {.cwd = action->cwd};
    if (question_same_directory(action, &usual))
        action->command_cwd = (struct acp_str){0};
}

/* The question as the policy knows it.  What was said of the tool call before counts as well. */
static int read_action(struct conversation *c, const struct acp_permission_request *question,
                       struct acp_arena *arena, struct acp_action *ret)
{
    struct acp_request_permission_request request = {
        .title = question->title, .subject = question->subject, .options = question->options};
    if (question->tool)
        request.tool_call = *question->tool;
    int err = acp_action_from_request(&request, arena, ret);
    if (err)
        return err;
    if (question->command.len)
        ret->command = question->command;
    if (!ret->title.len)
        ret->title = question->title;
    if (question->tool && question->tool->kind.is <= 0)
        ret->kind = conversation_tool_kind(c, question->tool->tool_call_id);
    ret->session_id = acp_client_session_id(c->session);
    ret->cwd = c->options.place.cwd;
    ret->additional = c->options.place.directories;
    drop_usual_directory(ret);
    return 0;
}

static void ask_permission(struct conversation *c, acp_call call, const struct acp_action *action,
                           const struct acp_permission_request *question,
                           const struct edit_changes *changes)
{
    /* A list that is empty is the agent's as well: it can only be answered with no. */
    static const struct acp_permission_option none;
    struct acp_decision decision = {.verdict = ACP_VERDICT_DENY};
    struct permission_question asked = {.title = question->title,
                                        .description = question->description,
                                        .changes = acp_buf_view(&changes->text),
                                        .action = action,
                                        .options = question->options};
    if (!asked.options.items)
        asked.options.items = &none;
    if (!conversation_may_ask(c, &asked)) {
        (void) acp_client_respond_error(conversation_client(c), call, ACP_ERROR_CODE_INTERNAL_ERROR,
                                        acp_str_from(conversation_too_many_questions),
                                        acp_raw_from(NULL));
        return;
    }
    const char *why = conversation_ask(c, call, NULL, &asked, changes);
    if (why)
        answer_permission(c, call, action, question->options, &decision, why);
}

static void describe_and_ask(struct conversation *c, acp_call call, struct acp_action *action,
                             const struct acp_permission_request *question, struct acp_arena *arena)
{
    struct edit_changes changes;
    edit_changes_init(&changes);
    if (question->tool)
        conversation_describe_diffs(c, question->tool->content, arena, action, &changes);
    ask_permission(c, call, action, question, &changes);
    edit_changes_finish(&changes);
}

static void on_permission(struct acp_client_session *session, acp_call call,
                          const struct acp_permission_request *question, void *user)
{
    struct conversation *c = user;
    struct acp_arena arena;
    struct acp_action action = {0};
    (void) session;
    acp_arena_init(&arena, 0);
    int err = read_action(c, question, &arena, &action);
    struct acp_decision decision = {.verdict = ACP_VERDICT_DENY, .by = ACP_DECIDED_BY_ERROR};
    refresh_ledger(c);
    if (!err)
        decision = acp_policy_decide(conversation_policy(c), c->options.ledger, &action,
                                     (int64_t) time(NULL), conversation_has_person(c));
    if (decision.verdict == ACP_VERDICT_ASK)
        describe_and_ask(c, call, &action, question, &arena);
    else
        answer_permission(c, call, &action, question->options, &decision, NULL);
    acp_arena_finish(&arena);
}

static void on_permission_gone(struct acp_client_session *session, acp_call call, void *user)
{
    (void) session;
    conversation_withdraw_question(user, NULL, call);
}

/* ---- The workspace --------------------------------------------------------------------------- */

/* The agent is told why nobody was asked; unasked: because nobody is there. */
static void refuse_unasked(struct conversation *c, struct acp_pending_action *pending,
                           const struct acp_action *action, const char *why, bool unasked)
{
    char message[200];
    (void) snprintf(message, sizeof(message), "the user cannot be asked: %s", why);
    conversation_log_verdict(
        c, action, &(struct permission_record){.by = acp_str_from(message), .unasked = unasked});
    acp_workspace_refuse(pending, message);
}

static void ask_for_workspace(struct conversation *c, struct acp_pending_action *pending,
                              const struct acp_action *action)
{
    struct acp_str new_text = acp_workspace_new_text(pending);
    struct edit_changes changes;
    edit_changes_init(&changes);
    if (acp_is_set(new_text.ptr) && action->paths.count == 1)
        conversation_describe_write(c, action->paths.items[0], new_text, &changes);
    struct permission_question question = {.title =
                                               action->title.len ? action->title : action->command,
                                           .changes = acp_buf_view(&changes.text),
                                           .action = action};
    if (!conversation_may_ask(c, &question)) {
        acp_workspace_refuse(pending, conversation_too_many_questions);
    } else {
        const char *why = conversation_ask(c, 0, pending, &question, &changes);
        if (why)
            refuse_unasked(c, pending, action, why, false);
    }
    edit_changes_finish(&changes);
}

/*
 * Agents ask about a line and run it by a shell.  What was granted, and what is denied, for the
 * line holds for that as well; true if it decides.
 */
static bool decide_shell_line(struct conversation *c, struct acp_pending_action *pending,
                              const struct acp_action *line)
{
    struct acp_decision decision =
        acp_policy_decide(conversation_policy(c), c->options.ledger, line, (int64_t) time(NULL),
                          conversation_has_person(c));
    bool denied = decision.verdict == ACP_VERDICT_DENY && decision.by != ACP_DECIDED_BY_NOBODY;
    if (!denied && decision.by != ACP_DECIDED_BY_GRANT)
        return false;
    acp_workspace_decide(pending, decision.verdict == ACP_VERDICT_ALLOW);
    return true;
}

/* What the policy leaves to a person. */
static void ask_person(struct conversation *c, struct acp_pending_action *pending,
                       struct acp_action *shown)
{
    drop_usual_directory(shown);
    if (conversation_has_person(c))
        ask_for_workspace(c, pending, shown);
    else
        refuse_unasked(c, pending, shown, "nobody is there", true);
}

static void on_ask(struct acp_workspace *workspace, struct acp_pending_action *pending,
                   const struct acp_action *action, void *user)
{
    struct conversation *c = user;
    struct acp_action shown = *action;
    struct acp_arena arena;
    (void) workspace;
    if (conversation_use_permission(c, action)) {
        acp_workspace_decide(pending, true);
        return;
    }
    acp_arena_init(&arena, 0);
    struct acp_str line = question_shell_line(action->command, &arena);
    if (line.len)
        shown.command = line;
    if (!line.len || !decide_shell_line(c, pending, &shown))
        ask_person(c, pending, &shown);
    acp_arena_finish(&arena);
}

static void on_ask_gone(struct acp_workspace *workspace, struct acp_pending_action *pending,
                        void *user)
{
    (void) workspace;
    conversation_withdraw_question(user, pending, 0);
}

static void on_denied(struct acp_workspace *workspace, const struct acp_action *action,
                      const struct acp_decision *decision, void *user)
{
    struct acp_buf why;
    (void) workspace;
    acp_buf_init(&why, 4096);
    (void) acp_decision_print(decision, &why);
    conversation_log_verdict(user, action, &(struct permission_record){.by = acp_buf_view(&why)});
    acp_buf_finish(&why);
}

int conversation_make_workspace(struct conversation *c)
{
    struct acp_workspace_options options = {
        .policy = c->options.policy,
        .ledger = c->options.ledger,
        .ask = on_ask,
        .ask_gone = on_ask_gone,
        .denied = on_denied,
        .user = c,
    };
    return acp_workspace_new(c->loop, &options, &c->workspace);
}

static void on_request(struct acp_client *client, struct acp_client_session *session, acp_call call,
                       const struct acp_method *method, const void *params,
                       const struct acp_message *message, void *user)
{
    struct conversation *c = user;
    (void) params;
    if (method->id == ACP_METHOD_ELICITATION_CREATE) {
        conversation_elicit(c, call, message->params);
        return;
    }
    refresh_ledger(c);
    if (!acp_workspace_serve(c->workspace, client, session, call, method, message))
        (void) acp_client_respond_error(client, call, ACP_ERROR_CODE_METHOD_NOT_FOUND,
                                        acp_str_from("Method not found"), acp_raw_from(NULL));
}

static void on_request_cancelled(struct acp_client *client, acp_call call, void *user)
{
    (void) client;
    (void) conversation_withdraw_elicitation(user, call);
}

/* ---- Everything else that comes from the agent ----------------------------------------------- */

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    (void) session;
    conversation_agent_event(user, event);
}

static const char *trouble_words(enum acp_protocol_error what)
{
    switch (what) {
    case ACP_PROTOCOL_ERROR_PARSE:
        return "wrote a non-protocol line to stdout";
    case ACP_PROTOCOL_ERROR_TOO_LARGE:
        return "sent a message that is larger than we take; it was dropped";
    case ACP_PROTOCOL_ERROR_INVALID_MESSAGE:
        return "sent JSON that is not a message";
    case ACP_PROTOCOL_ERROR_UNEXPECTED_RESPONSE:
        return "answered something that was not asked, or twice";
    case ACP_PROTOCOL_ERROR_DUPLICATE_ID:
        return "asked two things under the same id";
    case ACP_PROTOCOL_ERROR_LIMIT:
        return "sent more than is kept";
    }
    return "sent something strange";
}

static void on_protocol_error(struct acp_client *client, enum acp_protocol_error what,
                              struct acp_str text, void *user)
{
    struct conversation *c = user;
    enum { MOST = 120 };
    (void) client;
    if (c->state == CONVERSATION_ENDING)
        return; /* whom we end may be in the middle of a line */
    if (c->noise++ >= CONVERSATION_MAX_NOISE)
        return;
    conversation_notice(c, "%.*s %s: %.*s%s", (int) c->options.agent.len, c->options.agent.ptr,
                        trouble_words(what), (int) (text.len < MOST ? text.len : MOST), text.ptr,
                        text.len > MOST ? "..." : "");
}

static void on_end_session(struct acp_client_session *session, void *user)
{
    struct conversation *c = user;
    if (c->session == session)
        c->session = NULL;
}

const struct acp_client_handler conversation_client_handler = {
    .event = on_event,
    .permission = on_permission,
    .permission_cancelled = on_permission_gone,
    .request = on_request,
    .cancel_request = on_request_cancelled,
    .protocol_error = on_protocol_error,
    .end_session = on_end_session,
};
