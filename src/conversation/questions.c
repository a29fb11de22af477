/* questions.c - what is left for a person to decide: open questions and their answers. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acp/types.h"
#include "conversation/conversation_internal.h"
#include "conversation/question.h"

/* ---- Open questions -------------------------------------------------------------------------- */

static struct open_question *find_question(const struct conversation *c, uint64_t number)
{
    struct open_question *question = c->open_questions;
    while (question && question->number != number)
        question = question->next;
    return question;
}

/* The question is settled. */
static void close_question(struct conversation *c, struct open_question *question)
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

void conversation_drop_questions(struct conversation *c)
{
    while (c->open_questions) {
        struct open_question *question = c->open_questions;
        if (question->pending)
            acp_workspace_decide(question->pending, false);
        close_question(c, question);
    }
}

void conversation_withdraw_question(struct conversation *c,
                                    const struct acp_pending_action *pending, acp_call call)
{
    struct open_question *question = c->open_questions;
    while (question && (question->pending != pending || question->call != call))
        question = question->next;
    if (question)
        close_question(c, question);
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
bool conversation_may_ask(struct conversation *c, const struct permission_question *question)
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

const char conversation_too_many_questions[] =
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
    struct open_question *open = calloc(1, sizeof(*open));
    if (!open)
        return NULL;
    acp_arena_init(&open->arena, 0);
    open->always = describe_always(c, question->action, &open->arena);
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
    open->number = ++c->questions;
    open->turn = conversation_turn(c);
    open->after = conversation_last_sequence(c);
    open->call = call;
    open->pending = waiting;
    open->bytes = question_bytes(question);
    struct open_question **end = &c->open_questions;
    while (*end)
        end = &(*end)->next;
    *end = open;
    c->question_count++;
    c->question_bytes += open->bytes;
    conversation_wake(c);
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

bool conversation_answer(struct conversation *c, uint64_t number, struct acp_str option,
                         struct acp_str by)
{
    struct open_question *question = find_question(c, number);
    if (!question)
        return false;
    struct acp_client *client = conversation_client(c);
    const struct acp_permission_option *chosen = find_offered(question, option);
    enum acp_permission_option_kind_is kind =
        chosen ? chosen->kind.is : ACP_PERMISSION_OPTION_KIND_ABSENT;
    bool allow = kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ONCE ||
                 kind == ACP_PERMISSION_OPTION_KIND_ALLOW_ALWAYS;
    conversation_log_verdict(c, &question->action, allow, option,
                             by.len ? by : acp_str_from("the user"));
    remember(c, &question->action, kind);
    if (question->pending) {
        acp_workspace_decide(question->pending, allow);
    } else if (is_listed(kind)) {
        (void) acp_client_select_permission(client, question->call, option);
        if (allow)
            conversation_note_permitted(c, &question->action);
    } else {
        (void) acp_client_cancel_permission(client, question->call);
    }
    close_question(c, question);
    return true;
}
