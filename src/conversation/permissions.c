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

static void record_verdict(struct conversation *c, const struct acp_action *action, bool allow,
                           struct acp_str option, struct acp_str by)
{
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
    acp_json_write_str(&w, acp_str_from(allow ? "allow" : "deny"));
    if (option.len) {
        acp_json_write_key(&w, acp_str_from("option"));
        acp_json_write_str(&w, option);
    }
    acp_json_write_key(&w, acp_str_from("by"));
    acp_json_write_str(&w, by);
    acp_json_end_object(&w);
    if (!w.err)
        conversation_record(c, EVENT_PERMISSION, conversation_request(c),
                            acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
    if (c->prompts && allow)
        c->prompts->approved = true;
    else if (c->prompts)
        c->prompts->denied = true;
}

/* ---- Questions for the person ---------------------------------------------------------------- */

static struct open_question *find_pending(const struct conversation *c, uint64_t number)
{
    struct open_question *pending = c->open_questions;
    while (pending && pending->number != number)
        pending = pending->next;
    return pending;
}

static void drop_pending(struct conversation *c, struct open_question *pending)
{
    struct open_question **at = &c->open_questions;
    while (*at != pending)
        at = &(*at)->next;
    *at = pending->next;
    c->question_count--;
    c->question_bytes -= pending->bytes;
    acp_arena_finish(&pending->arena);
    free(pending);
}

void conversation_drop_questions(struct conversation *c)
{
    while (c->open_questions) {
        struct open_question *pending = c->open_questions;
        uint64_t number = pending->number;
        bool asked = pending->asked;
        if (pending->pending)
            acp_workspace_decide(pending->pending, false);
        drop_pending(c, pending);
        if (asked && c->handler.question_gone)
            c->handler.question_gone(c, number, c->user);
    }
}

static bool copy_options(struct open_question *pending, struct acp_permission_option_list options)
{
    struct acp_permission_option *copies =
        acp_arena_alloc(&pending->arena, (options.count + 1) * sizeof(*copies));
    if (!copies)
        return false;
    for (size_t i = 0; i < options.count; i++) {
        acp_permission_option_init(
            &copies[i], acp_arena_copy(&pending->arena, options.items[i].option_id),
            acp_arena_copy(&pending->arena, options.items[i].name), options.items[i].kind.is);
        copies[i].kind.text = acp_arena_copy(&pending->arena, options.items[i].kind.text);
    }
    pending->options = (struct acp_permission_option_list){copies, options.count};
    return true;
}

static size_t question_bytes(const struct permission_question *question)
{
    struct acp_permission_option_list options = question->options;
    size_t bytes = conversation_action_bytes(question->action) + question->title.len +
                   question->description.len + question->changes.len +
                   options.count * sizeof(struct acp_permission_option);
    for (size_t i = 0; i < options.count; i++)
        bytes += options.items[i].option_id.len + options.items[i].name.len;
    return bytes;
}

/*
 * Whether one more question may wait for the person.  They are copied whole, and an agent can send
 * any number of them, of any size, while the person reads the first.
 */
static bool may_wait(struct conversation *c, const struct permission_question *question)
{
    size_t bytes = question_bytes(question);
    if (c->question_count < CONVERSATION_MAX_QUESTIONS &&
        bytes <= CONVERSATION_MAX_QUESTION_BYTES - c->question_bytes)
        return true;
    if (c->prompts)
        c->prompts->denied = true;
    conversation_notice_limit(
        c, CONVERSATION_LIMIT_QUESTIONS,
        "%.*s asked for more permissions at once than may wait for an answer (%d, "
        "with %d MiB of text); the others are refused",
        (int) c->options.agent.len, c->options.agent.ptr, CONVERSATION_MAX_QUESTIONS,
        CONVERSATION_MAX_QUESTION_BYTES >> 20);
    return false;
}

static const char too_many[] =
    "too many permission requests are open; wait for the answers to some of them";

/* What "always" covers, for the person; absent when it is not remembered. */
static struct acp_str describe_always(const struct conversation *c, const struct acp_action *action,
                                      struct acp_arena *arena)
{
    struct acp_buf text;
    struct acp_str always = {0};
    acp_buf_init(&text, (size_t) QUESTION_MAX_BYTES);
    if (c->options.ledger && question_scope(action, c->options.ledger_path, &text) == 0)
        always = acp_arena_copy(arena, acp_buf_view(&text));
    acp_buf_finish(&text);
    return always;
}

static struct open_question *copy_question(const struct conversation *c,
                                           const struct permission_question *question)
{
    struct open_question *pending = calloc(1, sizeof(*pending));
    if (!pending)
        return NULL;
    acp_arena_init(&pending->arena, 0);
    pending->always = describe_always(c, question->action, &pending->arena);
    struct acp_permission_option_list options = question->options;
    if (!options.items)
        options = question_own_options(pending->always.len > 0);
    if (!conversation_copy_action(&pending->arena, question->action, &pending->action) ||
        !copy_options(pending, options)) {
        acp_arena_finish(&pending->arena);
        free(pending);
        return NULL;
    }
    pending->title = acp_arena_copy(&pending->arena, question->title);
    pending->description = acp_arena_copy(&pending->arena, question->description);
    pending->changes = acp_arena_copy(&pending->arena, question->changes);
    return pending;
}

/*
 * Asks the person; returns why that is not possible, or NULL.  A question without options of the
 * agent's gets our own.  The question's changes are those given here.
 */
static const char *ask(struct conversation *c, acp_call call, struct acp_pending_action *waiting,
                       const struct permission_question *question,
                       const struct edit_changes *changes)
{
    enum { MOST = 80 };
    const char *complaint = *changes->complaint ? changes->complaint : question_complaint(question);
    if (complaint) {
        struct acp_str title = question->title;
        if (!title.len)
            title = acp_str_from(acp_kind_name(question->action->kind));
        conversation_notice(
            c,
            "refused '%.*s%s' without asking, because %s; what cannot be shown whole "
            "cannot be approved, except by a rule",
            (int) (title.len < MOST ? title.len : MOST), title.ptr, title.len > MOST ? "..." : "",
            complaint);
        return complaint;
    }
    struct open_question *pending = copy_question(c, question);
    if (!pending)
        return "memory ran out";
    pending->number = ++c->questions;
    pending->call = call;
    pending->pending = waiting;
    pending->bytes = question_bytes(question);
    pending->next = c->open_questions;
    c->open_questions = pending;
    c->question_count++;
    c->question_bytes += pending->bytes;
    conversation_show_question(c, pending->number);
    return NULL;
}

void conversation_ask_person(struct conversation *c, uint64_t number)
{
    struct open_question *pending = find_pending(c, number);
    if (!pending)
        return;
    struct permission_question question = {
        .number = number,
        .title = pending->title,
        .description = pending->description,
        .changes = pending->changes,
        .action = &pending->action,
        .options = pending->options,
        .always = pending->always,
    };
    pending->asked = true;
    c->handler.question(c, &question, c->user);
}

/* "Always" is remembered by us as well: the agent may forget, and another may ask the same. */
static void remember(struct conversation *c, const struct acp_action *action,
                     enum acp_permission_option_kind_is kind)
{
    struct acp_grant how = {
        .allow = kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS,
        .scope = ACP_GRANT_PROJECT,
        .who = acp_str_from("user"),
        .granted = (int64_t) time(NULL),
    };
    struct acp_failure failure = {0};
    bool always = how.allow || kind == ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS;
    if (!always || !c->options.ledger)
        return;
    if (acp_ledger_remember(c->options.ledger, action, &how, &failure))
        return; /* nothing to know it by again: the answer holds once */
    if (c->options.ledger_path &&
        acp_ledger_save_file(c->options.ledger, c->options.ledger_path, NULL, NULL, &failure) < 0)
        conversation_notice(c, "the answer is not remembered: %s", failure.message);
}

static const struct acp_permission_option *find_offered(const struct open_question *pending,
                                                        struct acp_str id)
{
    for (size_t i = 0; i < pending->options.count; i++)
        if (acp_str_eq(pending->options.items[i].option_id, id))
            return &pending->options.items[i];
    return NULL;
}

static bool is_listed(enum acp_permission_option_kind_is kind)
{
    return kind >= ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE &&
           kind <= ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS;
}

bool conversation_answer(struct conversation *c, uint64_t number, struct acp_str option)
{
    struct open_question *pending = find_pending(c, number);
    if (!pending)
        return false;
    struct acp_client *client = acp_agent_process_client(c->process);
    const struct acp_permission_option *chosen = find_offered(pending, option);
    enum acp_permission_option_kind_is kind =
        chosen ? chosen->kind.is : ACP_PERMISSION_OPTION_KIND_ABSENT;
    bool allow = kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE ||
                 kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS;
    record_verdict(c, &pending->action, allow, option, acp_str_from("the user"));
    remember(c, &pending->action, kind);
    if (pending->pending) {
        acp_workspace_decide(pending->pending, allow);
    } else if (is_listed(kind)) {
        (void) acp_client_select_permission(client, pending->call, option);
        if (allow)
            conversation_note_permitted(c, &pending->action);
    } else {
        (void) acp_client_cancel_permission(client, pending->call);
    }
    drop_pending(c, pending);
    return true;
}

/* ---- Permission requests --------------------------------------------------------------------- */

const struct acp_policy *conversation_policy(const struct conversation *c)
{
    const struct queued_prompt *prompt = c->prompts;
    return prompt && prompt->options.policy ? prompt->options.policy : c->options.policy;
}

bool conversation_has_person(const struct conversation *c)
{
    /* Who gave no prompt does not wait for questions about one. */
    return c->handler.question && c->prompts && !c->prompts->options.nobody;
}

/* why says who decided, where it was not the policy. */
static void answer_permission(struct conversation *c, acp_call call,
                              const struct acp_action *action,
                              struct acp_permission_option_list options,
                              const struct acp_decision *decision, const char *why)
{
    struct acp_client *client = acp_agent_process_client(c->process);
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
    if (c->prompts && decision->by == ACP_DECIDED_BY_NOBODY)
        c->prompts->unasked = true;
    record_verdict(c, action, decision->verdict == ACP_VERDICT_ALLOW, option, acp_buf_view(&by));
    if (decision->verdict == ACP_VERDICT_ALLOW)
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
    if (!may_wait(c, &asked)) {
        (void) acp_client_respond_error(acp_agent_process_client(c->process), call,
                                        ACP_ERROR_CODE_INTERNAL_ERROR, acp_str_from(too_many),
                                        acp_raw_from(NULL));
        return;
    }
    const char *why = ask(c, call, NULL, &asked, changes);
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
    if (!err)
        decision = acp_policy_decide(conversation_policy(c), c->options.ledger, &action,
                                     (int64_t) time(NULL), conversation_has_person(c));
    if (decision.verdict == ACP_VERDICT_ASK)
        describe_and_ask(c, call, &action, question, &arena);
    else
        answer_permission(c, call, &action, question->options, &decision, NULL);
    acp_arena_finish(&arena);
}

/* What asked no longer waits: an action of the workspace, or, where that is NULL, a call. */
static void withdraw_question(struct conversation *c, const struct acp_pending_action *pending,
                              acp_call call)
{
    for (struct open_question *p = c->open_questions; p; p = p->next) {
        if (p->pending != pending || p->call != call)
            continue;
        uint64_t number = p->number;
        bool asked = p->asked;
        drop_pending(c, p);
        if (asked && c->handler.question_gone)
            c->handler.question_gone(c, number, c->user);
        return;
    }
}

static void on_permission_gone(struct acp_client_session *session, acp_call call, void *user)
{
    (void) session;
    withdraw_question(user, NULL, call);
}

/* ---- The workspace --------------------------------------------------------------------------- */

/* The agent is told why nobody was asked. */
static void refuse_unasked(struct conversation *c, struct acp_pending_action *pending,
                           const struct acp_action *action, const char *why)
{
    char message[200];
    (void) snprintf(message, sizeof(message), "the user cannot be asked: %s", why);
    record_verdict(c, action, false, (struct acp_str){0}, acp_str_from(message));
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
    if (!may_wait(c, &question)) {
        acp_workspace_refuse(pending, too_many);
    } else {
        const char *why = ask(c, 0, pending, &question, &changes);
        if (why)
            refuse_unasked(c, pending, action, why);
    }
    edit_changes_finish(&changes);
}

static void on_ask(struct acp_workspace *workspace, struct acp_pending_action *pending,
                   const struct acp_action *action, void *user)
{
    struct conversation *c = user;
    struct acp_action shown = *action;
    (void) workspace;
    drop_usual_directory(&shown);
    if (conversation_use_permission(c, action)) {
        acp_workspace_decide(pending, true);
        return;
    }
    if (conversation_has_person(c)) {
        ask_for_workspace(c, pending, &shown);
        return;
    }
    if (c->prompts)
        c->prompts->unasked = true;
    refuse_unasked(c, pending, &shown, "nobody is there");
}

static void on_ask_gone(struct acp_workspace *workspace, struct acp_pending_action *pending,
                        void *user)
{
    (void) workspace;
    withdraw_question(user, pending, 0);
}

static void on_denied(struct acp_workspace *workspace, const struct acp_action *action,
                      const struct acp_decision *decision, void *user)
{
    struct acp_buf why;
    (void) workspace;
    acp_buf_init(&why, 4096);
    (void) acp_decision_print(decision, &why);
    record_verdict(user, action, false, (struct acp_str){0}, acp_buf_view(&why));
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
    if (!acp_workspace_serve(c->workspace, client, session, call, method, message))
        (void) acp_client_respond_error(client, call, -32601, acp_str_from("Method not found"),
                                        acp_raw_from(NULL));
}

/* ---- Everything else that comes from the agent ----------------------------------------------- */

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    (void) session;
    conversation_event(user, event);
}

static const char *trouble_words(enum acp_protocol_error what)
{
    switch (what) {
    case ACP_PROTOCOL_ERROR_PARSE:
        return "wrote to its standard output what is no message";
    case ACP_PROTOCOL_ERROR_TOO_LARGE:
        return "sent a message that is larger than we take; it was dropped";
    case ACP_PROTOCOL_ERROR_INVALID_MESSAGE:
        return "sent JSON that is no message";
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
    .protocol_error = on_protocol_error,
    .end_session = on_end_session,
};
