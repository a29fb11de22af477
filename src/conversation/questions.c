/* questions.c - what is left for a person to decide: open questions and their answers. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acp/types.h"
#include "conversation/conversation_internal.h"
#include "conversation/question.h"

/* ---- Open questions -------------------------------------------------------------------------- */

struct open_question *conversation_find_question(const struct conversation *c, uint64_t number)
{
    struct open_question *question = c->open_questions;
    while (question && question->number != number)
        question = question->next;
    return question;
}

void conversation_close_question(struct conversation *c, struct open_question *question)
{
    struct open_question **at = &c->open_questions;
    uint64_t number = question->number;
    while (*at != question)
        at = &(*at)->next;
    *at = question->next;
    c->question_count--;
    c->question_bytes -= question->bytes;
    acp_arena_finish(&question->arena);
    free(question);
    conversation_question_settled(c, number);
}

void conversation_open_question(struct conversation *c, struct open_question *question)
{
    struct open_question **end = &c->open_questions;
    question->number = ++c->questions;
    /* Before its turn begins, an agent may ask about logging in for it. */
    question->turn = c->prompts ? c->prompts->turn : 0;
    question->after = conversation_last_sequence(c);
    while (*end)
        end = &(*end)->next;
    *end = question;
    c->question_count++;
    c->question_bytes += question->bytes;
    conversation_wake(c);
}

void conversation_drop_questions(struct conversation *c)
{
    while (c->open_questions) {
        struct open_question *question = c->open_questions;
        if (question->elicitation.ptr) {
            conversation_drop_elicitation(c, question);
            continue;
        }
        if (question->pending)
            acp_workspace_decide(question->pending, false);
        conversation_close_question(c, question);
    }
}

void conversation_withdraw_question(struct conversation *c,
                                    const struct acp_pending_action *pending, acp_call call)
{
    struct open_question *question = c->open_questions;
    while (question && (question->pending != pending || question->call != call))
        question = question->next;
    if (question)
        conversation_close_question(c, question);
}

bool conversation_has_person(const struct conversation *c)
{
    /* Nobody is asked about a prompt of someone who cannot be. */
    return c->prompts && !c->prompts->options.nobody && conversation_can_ask(c);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static bool copy_options(struct open_question *open, struct acp_permission_option_list options)
{
    struct acp_permission_option *copies =
        acp_arena_alloc(&open->arena, (options.count + 1) * sizeof(*copies));
    if (!copies)
        return false;
    for (size_t i = 0; i < options.count; i++) {
        acp_permission_option_init(
            &copies[i], acp_arena_copy(&open->arena, options.items[i].option_id),
            acp_arena_copy(&open->arena, options.items[i].name), options.items[i].kind.is);
        copies[i].kind.text = acp_arena_copy(&open->arena, options.items[i].kind.text);
    }
    open->options = (struct acp_permission_option_list){copies, options.count};
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

/* Questions are copied whole, and an agent can send any number, of any size. */
bool conversation_has_question_room(struct conversation *c, size_t bytes)
{
    if (c->question_count < CONVERSATION_MAX_QUESTIONS &&
        bytes <= CONVERSATION_MAX_QUESTION_BYTES - c->question_bytes)
        return true;
    conversation_notice_limit(
        c, CONVERSATION_LIMIT_QUESTIONS,
        "%.*s asked for more permissions or answers at once than may wait for an answer (%d, "
        "with %d MiB of text); the others are refused",
        (int) c->options.agent.len, c->options.agent.ptr, CONVERSATION_MAX_QUESTIONS,
        CONVERSATION_MAX_QUESTION_BYTES >> 20);
    return false;
}

bool conversation_may_ask(struct conversation *c, const struct permission_question *question)
{
    bool has_room = conversation_has_question_room(c, question_bytes(question));
    if (!has_room && c->prompts)
        c->prompts->denied = true;
    return has_room;
}

const char conversation_too_many_questions[] =
    "too many questions are open; wait for the answers to some of them";

/* What "always" covers, for the person; absent when it is not remembered. */
static void describe_always(const struct conversation *c, struct open_question *open,
                            const struct acp_action *action)
{
    struct question_scope scope;
    question_scope_init(&scope);
    if (c->options.ledger && question_scope_write(&scope, action, c->options.ledger_path) == 0) {
        open->always = acp_arena_copy(&open->arena, acp_buf_view(&scope.full));
        open->always_brief = acp_arena_copy(&open->arena, acp_buf_view(&scope.brief));
    }
    question_scope_finish(&scope);
}

static struct open_question *copy_question(const struct conversation *c,
                                           const struct permission_question *question)
{
    struct open_question *open = calloc(1, sizeof(*open));
    if (!open)
        return NULL;
    acp_arena_init(&open->arena, 0);
    describe_always(c, open, question->action);
    struct acp_permission_option_list options = question->options;
    if (!options.items)
        options = question_own_options(open->always.len > 0);
    if (!conversation_copy_action(&open->arena, question->action, &open->action) ||
        !copy_options(open, options)) {
        acp_arena_finish(&open->arena);
        free(open);
        return NULL;
    }
    open->title = acp_arena_copy(&open->arena, question->title);
    open->description = acp_arena_copy(&open->arena, question->description);
    open->changes = acp_arena_copy(&open->arena, question->changes);
    return open;
}

const char *conversation_ask(struct conversation *c, acp_call call,
                             struct acp_pending_action *waiting,
                             const struct permission_question *question,
                             const struct edit_changes *changes)
{
    enum { MOST = 80 };
    const char *complaint = *changes->complaint ? changes->complaint : question_complaint(question);
    if (complaint) {
        struct acp_str title = question->title;
        if (!title.len)
            title = acp_str_from(acp_kind_name(question->action->kind));
        conversation_notice(c,
                            "refused '%.*s%s' without asking, because %s; what cannot be shown "
                            "whole cannot be approved, except by a rule",
                            (int) (title.len < MOST ? title.len : MOST), title.ptr,
                            title.len > MOST ? "..." : "", complaint);
        return complaint;
    }
    struct open_question *open = copy_question(c, question);
    if (!open)
        return "memory ran out";
    open->call = call;
    open->pending = waiting;
    open->bytes = question_bytes(question);
    conversation_open_question(c, open);
    return NULL;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* "Always" is remembered by us as well: the agent may forget, and another may ask the same. */
static void remember(struct conversation *c, const struct acp_action *action,
                     enum acp_permission_option_kind_is kind)
{
    struct acp_grant how = {
        .allow = kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS,
        .scope = ACP_GRANT_PROJECT,
        .who = acp_str_from("user"),
        .agent = c->options.agent,
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

static const struct acp_permission_option *find_offered(const struct open_question *open,
                                                        struct acp_str id)
{
    for (size_t i = 0; i < open->options.count; i++)
        if (acp_str_eq(open->options.items[i].option_id, id))
            return &open->options.items[i];
    return NULL;
}

static bool is_listed(enum acp_permission_option_kind_is kind)
{
    return kind >= ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE &&
           kind <= ACP_PERMISSION_OPTION_KIND_REJECT_ALWAYS;
}

static enum permission_verdict verdict_of(enum acp_permission_option_kind_is kind)
{
    if (kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE ||
        kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS)
        return PERMISSION_ALLOWED;
    return kind == ACP_PERMISSION_OPTION_KIND_ABSENT || is_listed(kind) ? PERMISSION_DENIED
                                                                        : PERMISSION_OTHER;
}

bool conversation_answer(struct conversation *c, uint64_t number, struct acp_str option,
                         struct acp_str by)
{
    struct open_question *question = conversation_find_question(c, number);
    if (!question || question->elicitation.ptr)
        return false;
    struct acp_client *client = conversation_client(c);
    const struct acp_permission_option *chosen = find_offered(question, option);
    enum acp_permission_option_kind_is kind =
        chosen ? chosen->kind.is : ACP_PERMISSION_OPTION_KIND_ABSENT;
    enum permission_verdict verdict = verdict_of(kind);
    bool allow = verdict == PERMISSION_ALLOWED;
    conversation_log_verdict(
        c, &question->action,
        &(struct permission_record){
            .verdict = verdict, .option = option, .by = by.len ? by : acp_str_from("the user")});
    remember(c, &question->action, kind);
    if (question->pending) {
        acp_workspace_decide(question->pending, allow);
    } else if (chosen) {
        (void) acp_client_select_permission(client, question->call, option);
        if (allow)
            conversation_note_permitted(c, &question->action);
    } else {
        (void) acp_client_cancel_permission(client, question->call);
    }
    conversation_close_question(c, question);
    return true;
}
