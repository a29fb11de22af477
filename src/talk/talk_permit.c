/*
 * talk_permit.c - what the agent asks for: permissions, files and terminals, decided by the policy
 * or by the person.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acp/types.h"
#include "talk/talk_inside.h"

/* ---- What is recorded of it ------------------------------------------------------------------ */

static void record_verdict(struct talk *talk, const struct acp_action *action, bool allow,
                           struct acp_str option, struct acp_str by)
{
    struct acp_buf body;
    struct acp_json_writer w;
    struct acp_str title = action->title.len ? action->title : action->command;
    acp_buf_init(&body, RECORD_MAX);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str("title"));
    acp_json_write_str(&w, title.len ? title : acp_str(acp_kind_name(action->kind)));
    acp_json_write_key(&w, acp_str("kind"));
    acp_json_write_str(&w, acp_str(acp_kind_name(action->kind)));
    if (action->command.len) {
        acp_json_write_key(&w, acp_str("command"));
        acp_json_write_str(&w, action->command);
    }
    acp_json_write_key(&w, acp_str("paths"));
    acp_json_begin_array(&w);
    for (size_t i = 0; i < action->paths.count; i++)
        acp_json_write_str(&w, action->paths.items[i]);
    acp_json_end_array(&w);
    acp_json_write_key(&w, acp_str("verdict"));
    acp_json_write_str(&w, acp_str(allow ? "allow" : "deny"));
    if (option.len) {
        acp_json_write_key(&w, acp_str("option"));
        acp_json_write_str(&w, option);
    }
    acp_json_write_key(&w, acp_str("by"));
    acp_json_write_str(&w, by);
    acp_json_end_object(&w);
    if (!w.err)
        talk_record(talk, RECORD_PERMISSION, talk_request(talk),
                    acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
    if (allow)
        talk_note_permitted(talk, action);
    if (talk->prompts && allow)
        talk->prompts->approved = true;
    else if (talk->prompts)
        talk->prompts->denied = true;
}

/* ---- Questions for the person ---------------------------------------------------------------- */

static struct talk_pending *find_pending(const struct talk *talk, uint64_t number)
{
    struct talk_pending *pending = talk->pendings;
    while (pending && pending->number != number)
        pending = pending->next;
    return pending;
}

static void drop_pending(struct talk *talk, struct talk_pending *pending)
{
    struct talk_pending **at = &talk->pendings;
    while (*at != pending)
        at = &(*at)->next;
    *at = pending->next;
    talk->question_count--;
    talk->question_bytes -= pending->bytes;
    acp_arena_finish(&pending->arena);
    free(pending);
}

void talk_drop_questions(struct talk *talk)
{
    while (talk->pendings) {
        struct talk_pending *pending = talk->pendings;
        uint64_t number = pending->number;
        bool asked = pending->asked;
        if (pending->pending)
            acp_workspace_decide(pending->pending, false);
        drop_pending(talk, pending);
        if (asked && talk->handler.question_gone)
            talk->handler.question_gone(talk, number, talk->user);
    }
}

static bool copy_options(struct talk_pending *pending, struct acp_permission_option_list options)
{
    struct acp_permission_option *copies =
        acp_arena_alloc(&pending->arena, (options.count + 1) * sizeof(*copies));
    if (!copies)
        return false;
    for (size_t i = 0; i < options.count; i++) {
        acp_permission_option_init(
            &copies[i], acp_arena_copy(&pending->arena, options.items[i].option_id),
            acp_arena_copy(&pending->arena, options.items[i].name), options.items[i].kind.is);
    }
    pending->options = (struct acp_permission_option_list){copies, options.count};
    return true;
}

static size_t options_bytes(struct acp_permission_option_list options)
{
    size_t bytes = options.count * sizeof(struct acp_permission_option);
    for (size_t i = 0; i < options.count; i++)
        bytes += options.items[i].option_id.len + options.items[i].name.len;
    return bytes;
}

/*
 * Whether one more question may wait for the person.  They are copied whole, and an agent can send
 * any number of them, of any size, while the person reads the first.
 */
static bool may_wait(struct talk *talk, size_t bytes)
{
    if (talk->question_count < TALK_MAX_QUESTIONS &&
        bytes <= TALK_MAX_QUESTION_BYTES - talk->question_bytes)
        return true;
    if (talk->prompts)
        talk->prompts->denied = true;
    talk_notice_limit(talk, TALK_LIMIT_QUESTIONS,
                      "%.*s asked for more permissions at once than may wait for an answer (%d, "
                      "with %d MiB of text); the others are refused",
                      (int) talk->options.agent.len, talk->options.agent.ptr, TALK_MAX_QUESTIONS,
                      TALK_MAX_QUESTION_BYTES >> 20);
    return false;
}

static bool ask(struct talk *talk, acp_call call, struct acp_pending_action *waiting,
                const struct acp_action *action, struct acp_permission_option_list options,
                struct acp_str title, struct acp_str description, size_t bytes)
{
    struct talk_pending *pending = calloc(1, sizeof(*pending));
    if (!pending)
        return false;
    acp_arena_init(&pending->arena, 0);
    if (!talk_copy_action(&pending->arena, action, &pending->action) ||
        !copy_options(pending, options)) {
        acp_arena_finish(&pending->arena);
        free(pending);
        return false;
    }
    pending->title = acp_arena_copy(&pending->arena, title);
    pending->description = acp_arena_copy(&pending->arena, description);
    pending->number = ++talk->questions;
    pending->call = call;
    pending->pending = waiting;
    pending->bytes = bytes;
    pending->next = talk->pendings;
    talk->pendings = pending;
    talk->question_count++;
    talk->question_bytes += bytes;
    talk_show_question(talk, pending->number);
    return true;
}

void talk_ask_person(struct talk *talk, uint64_t number)
{
    struct talk_pending *pending = find_pending(talk, number);
    if (!pending)
        return;
    struct talk_question question = {
        .number = number,
        .title = pending->title,
        .description = pending->description,
        .action = &pending->action,
        .options = pending->options,
    };
    pending->asked = true;
    talk->handler.question(talk, &question, talk->user);
}

/* "Always" is remembered by us as well: the agent may forget, and another may ask the same. */
static void remember(struct talk *talk, const struct acp_action *action,
                     enum acp_permission_option_kind_is kind)
{
    struct acp_grant how = {
        .allow = kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS,
        .scope = ACP_GRANT_PROJECT,
        .who = acp_str("user"),
        .granted = (int64_t) time(NULL),
    };
    struct acp_failure failure = {0};
    bool always = how.allow || kind == ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS;
    if (!always || !talk->options.ledger)
        return;
    if (acp_ledger_remember(talk->options.ledger, action, &how, &failure))
        return; /* nothing to know it by again: the answer holds once */
    if (talk->options.ledger_path &&
        acp_ledger_save_file(talk->options.ledger, talk->options.ledger_path, NULL, NULL,
                             &failure) < 0)
        talk_notice(talk, "the answer is not remembered: %s", failure.message);
}

static const struct acp_permission_option *find_offered(const struct talk_pending *pending,
                                                        struct acp_str id)
{
    for (size_t i = 0; i < pending->options.count; i++)
        if (acp_str_eq(pending->options.items[i].option_id, id))
            return &pending->options.items[i];
    return NULL;
}

bool talk_answer(struct talk *talk, uint64_t number, struct acp_str option)
{
    struct talk_pending *pending = find_pending(talk, number);
    if (!pending)
        return false;
    if (pending->pending)
        return talk_allow(talk, number, option.len > 0);
    struct acp_client *client = acp_agent_process_client(talk->process);
    const struct acp_permission_option *chosen = find_offered(pending, option);
    enum acp_permission_option_kind_is kind =
        chosen ? chosen->kind.is : ACP_PERMISSION_OPTION_KIND_ABSENT;
    bool allow = kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE ||
                 kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS;
    if (chosen)
        (void) acp_client_permit(client, pending->call, option);
    else
        (void) acp_client_reject(client, pending->call);
    record_verdict(talk, &pending->action, allow, option, acp_str("the user"));
    remember(talk, &pending->action, kind);
    drop_pending(talk, pending);
    return true;
}

bool talk_allow(struct talk *talk, uint64_t number, bool allow)
{
    struct talk_pending *pending = find_pending(talk, number);
    if (!pending || !pending->pending)
        return false;
    record_verdict(talk, &pending->action, allow, (struct acp_str){0}, acp_str("the user"));
    acp_workspace_decide(pending->pending, allow);
    drop_pending(talk, pending);
    return true;
}

/* ---- Permission requests --------------------------------------------------------------------- */

const struct acp_policy *talk_policy(const struct talk *talk)
{
    const struct talk_prompt *prompt = talk->prompts;
    return prompt && prompt->options.policy ? prompt->options.policy : talk->options.policy;
}

bool talk_has_person(const struct talk *talk)
{
    /* Who gave no prompt does not wait for questions about one. */
    return talk->handler.question && talk->prompts && !talk->prompts->options.nobody;
}

static void answer_permission(struct talk *talk, acp_call call, const struct acp_action *action,
                              struct acp_permission_option_list options,
                              const struct acp_decision *decision)
{
    struct acp_client *client = acp_agent_process_client(talk->process);
    struct acp_request_permission_outcome outcome;
    struct acp_buf by;
    struct acp_str option = {0};
    acp_buf_init(&by, 2000);
    (void) acp_decision_print(decision, &by);
    if (acp_policy_answer(decision->verdict, false, options, &outcome)) {
        option = outcome.selected.option_id;
        (void) acp_client_permit(client, call, option);
    } else {
        (void) acp_client_reject(client, call);
    }
    if (talk->prompts && decision->by == ACP_DECIDED_BY_NOBODY)
        talk->prompts->unasked = true;
    record_verdict(talk, action, decision->verdict == ACP_VERDICT_ALLOW, option, acp_buf_view(&by));
    acp_buf_finish(&by);
}

/* The question as the policy knows it.  What was said of the tool call before counts as well. */
static int read_action(struct talk *talk, const struct acp_permission_question *question,
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
        ret->kind = talk_tool_kind(talk, question->tool->tool_call_id);
    ret->session_id = acp_client_session_id(talk->session);
    ret->cwd = talk->options.place.cwd;
    ret->additional = talk->options.place.directories;
    return 0;
}

static void on_permission(struct acp_client_session *session, acp_call call,
                          const struct acp_permission_question *question, void *user)
{
    struct talk *talk = user;
    struct acp_arena arena;
    struct acp_action action = {0};
    (void) session;
    acp_arena_init(&arena, 0);
    int err = read_action(talk, question, &arena, &action);
    struct acp_decision decision = {.verdict = ACP_VERDICT_DENY, .by = ACP_DECIDED_BY_TROUBLE};
    if (!err)
        decision = acp_policy_decide(talk_policy(talk), talk->options.ledger, &action,
                                     (int64_t) time(NULL), talk_has_person(talk));
    size_t bytes = talk_action_bytes(&action) + options_bytes(question->options) +
                   question->title.len + question->description.len;
    if (decision.verdict == ACP_VERDICT_ASK && !may_wait(talk, bytes))
        (void) acp_client_refuse(acp_agent_process_client(talk->process), call,
                                 ACP_ERROR_CODE_INTERNAL_ERROR,
                                 acp_str("too many permission requests are open; wait for the "
                                         "answers to some of them"),
                                 acp_raw(NULL));
    else if (decision.verdict != ACP_VERDICT_ASK ||
             !ask(talk, call, NULL, &action, question->options, question->title,
                  question->description, bytes))
        answer_permission(talk, call, &action, question->options, &decision);
    acp_arena_finish(&arena);
}

static void on_permission_gone(struct acp_client_session *session, acp_call call, void *user)
{
    struct talk *talk = user;
    (void) session;
    for (struct talk_pending *p = talk->pendings; p; p = p->next) {
        if (p->pending || p->call != call)
            continue;
        uint64_t number = p->number;
        bool asked = p->asked;
        drop_pending(talk, p);
        if (asked && talk->handler.question_gone)
            talk->handler.question_gone(talk, number, talk->user);
        return;
    }
}

/* ---- The workspace --------------------------------------------------------------------------- */

static void on_ask(struct acp_workspace *workspace, struct acp_pending_action *pending,
                   const struct acp_action *action, void *user)
{
    struct talk *talk = user;
    struct acp_str title = action->title.len ? action->title : action->command;
    size_t bytes = talk_action_bytes(action) + title.len;
    (void) workspace;
    if (talk_is_permitted(talk, action)) {
        acp_workspace_decide(pending, true);
        return;
    }
    if (talk_has_person(talk) && !may_wait(talk, bytes)) {
        acp_workspace_decide(pending, false);
        return;
    }
    if (talk_has_person(talk) &&
        ask(talk, 0, pending, action, (struct acp_permission_option_list){0}, title,
            (struct acp_str){0}, bytes))
        return;
    if (talk->prompts)
        talk->prompts->unasked = true;
    record_verdict(talk, action, false, (struct acp_str){0}, acp_str("nobody is there to ask"));
    acp_workspace_decide(pending, false);
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

int talk_make_workspace(struct talk *talk)
{
    struct acp_workspace_options options = {
        .policy = talk->options.policy,
        .ledger = talk->options.ledger,
        .ask = on_ask,
        .denied = on_denied,
        .user = talk,
    };
    return acp_workspace_new(talk->loop, &options, &talk->workspace);
}

static void on_request(struct acp_client *client, struct acp_client_session *session, acp_call call,
                       const struct acp_method *method, const void *params,
                       const struct acp_message *message, void *user)
{
    struct talk *talk = user;
    (void) params;
    if (!acp_workspace_serve(talk->workspace, client, session, call, method, message))
        (void) acp_client_refuse(client, call, -32601, acp_str("Method not found"), acp_raw(NULL));
}

/* ---- Everything else that comes from the agent ----------------------------------------------- */

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    (void) session;
    talk_event(user, event);
}

static const char *trouble_words(enum acp_trouble what)
{
    switch (what) {
    case ACP_TROUBLE_NOISE:
        return "wrote to its standard output what is no message";
    case ACP_TROUBLE_TOO_LARGE:
        return "sent a message that is larger than we take; it was dropped";
    case ACP_TROUBLE_INVALID:
        return "sent JSON that is no message";
    case ACP_TROUBLE_STRAY:
        return "answered something that was not asked, or twice";
    case ACP_TROUBLE_DUPLICATE_ID:
        return "asked two things under the same id";
    case ACP_TROUBLE_LIMIT:
        return "sent more than is kept";
    }
    return "sent something strange";
}

static void on_trouble(struct acp_client *client, enum acp_trouble what, struct acp_str text,
                       void *user)
{
    struct talk *talk = user;
    enum { MOST = 120 };
    (void) client;
    if (talk->state == TALK_ENDING)
        return; /* whom we end may be in the middle of a line */
    if (talk->noise++ >= TALK_MAX_NOISE)
        return;
    talk_notice(talk, "%.*s %s: %.*s%s", (int) talk->options.agent.len, talk->options.agent.ptr,
                trouble_words(what), (int) (text.len < MOST ? text.len : MOST), text.ptr,
                text.len > MOST ? "..." : "");
}

static void on_end_session(struct acp_client_session *session, void *user)
{
    struct talk *talk = user;
    if (talk->session == session)
        talk->session = NULL;
}

const struct acp_client_handler talk_client_handler = {
    .event = on_event,
    .permission = on_permission,
    .permission_gone = on_permission_gone,
    .request = on_request,
    .trouble = on_trouble,
    .end_session = on_end_session,
};
