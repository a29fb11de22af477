/*
 * hub_questions.c - what an agent asks the clients of a shared session: all that are attached are
 * asked, the first answer counts, and the others are told.  With nobody attached the question
 * waits.
 */
#include <stdlib.h>

#include "hub/hub_internal.h"

static struct hub_agent *agent_of(const struct hub_question *question)
{
    return (struct hub_agent *) question->asked->from;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

void hub_question_ask(struct hub_session *session, const struct hub_message *message)
{
    struct hub_agent *agent = session->agent;
    struct hub_question *question = NULL;
    struct hub_request *asked = NULL;
    struct acp_splice splice = {message->scan.session_id, session->public_id};
    int err = session->questions < HUB_MAX_QUESTIONS ? 0 : ACP_ERR_LIMIT;
    if (!err)
        err = hub_request_open(&agent->connection, message->scan.id, NULL, message->method, session,
                               &asked);
    if (!err && !(question = calloc(1, sizeof(*question))))
        err = ACP_ERR_NOMEM;
    if (!err)
        err = hub_session_add_event(session, HUB_EVENT_QUESTION, NULL, message->text, &splice, 1,
                                    &question->event);
    if (err) {
        if (asked)
            hub_request_close(asked);
        free(question);
        hub_send_error(&agent->connection, message->scan.id, RPC_INTERNAL_ERROR,
                       acp_str_from(err == ACP_ERR_LIMIT   ? "too many open requests"
                                    : err == ACP_ERR_STATE ? "a request with this id is still open"
                                                           : "out of memory"));
        return;
    }
    question->session = session;
    question->asked = asked;
    question->next = session->open_questions;
    session->open_questions = question;
    question->event->question = question;
    asked->question = question;
    hub_request_count(asked);
    hub_session_deliver(session);
}

void hub_question_send(struct hub_question *question, struct hub_client *client)
{
    char number[HUB_NUMBER_SIZE];
    struct hub_request *copy;
    struct acp_scan scan;
    struct acp_raw text = acp_raw_n(question->event->text, question->event->len);
    if (acp_scan_message(text, acp_str_from(NULL), &scan, NULL) ||
        hub_request_open(NULL, acp_raw_from(NULL), &client->connection, question->asked->method,
                         NULL, &copy))
        return; /* others are asked; the client has more open requests than it may */
    copy->question = question;
    question->copies++;
    struct acp_splice splice = {scan.id, hub_number_text(copy->number, number)};
    hub_send(&client->connection, text, &splice, 1);
}

/* ---- The end --------------------------------------------------------------------------------- */

static struct hub_request *find_copy(const struct hub_question *question, struct hub_client *client)
{
    struct hub_request *request;
    for (size_t cursor = 0; (request = acp_numbers_next(&client->connection.asked, &cursor));)
        if (request->question == question)
            return request;
    return NULL;
}

/* Those that have not answered need not any more. */
static void cancel_copies(struct hub_question *question, bool answered)
{
    struct hub_request *copy;
    for (struct hub_client *c = question->session->hub->clients; c; c = c->next)
        while (question->copies && (copy = find_copy(question, c))) {
            hub_request_send_cancel(copy);
            if (answered)
                hub_send_text(&c->connection,
                              "{\"jsonrpc\":\"2.0\",\"method\":\"_acp/request_answered\","
                              "\"params\":{\"sessionId\":%.*s,\"requestId\":%llu}}",
                              ACP_ARG(question->session->public_id),
                              (unsigned long long) copy->number);
            question->copies--;
            hub_request_close(copy);
        }
}

static void free_question(struct hub_question *question)
{
    struct hub_question **link = &question->session->open_questions;
    while (*link != question)
        link = &(*link)->next;
    *link = question->next;
    question->event->question = NULL;
    hub_request_close(question->asked);
    free(question);
}

void hub_question_answer(struct hub_request *copy, const struct hub_message *message)
{
    struct hub_question *question = copy->question;
    hub_question_drop_copy(copy);
    /* An error is one client's; somebody else may still answer. */
    if (!message->scan.result.ptr && question->copies)
        return;
    hub_agent_send_reply(agent_of(question), question->asked, message);
    cancel_copies(question, true);
    free_question(question);
}

void hub_question_drop_copy(struct hub_request *copy)
{
    copy->question->copies--;
    hub_request_close(copy);
}

void hub_session_unask(struct hub_session *session, struct hub_client *client)
{
    struct hub_request *copy;
    for (struct hub_question *q = session->open_questions; q; q = q->next)
        if ((copy = find_copy(q, client)))
            hub_question_drop_copy(copy);
}

void hub_question_withdraw(struct hub_question *question)
{
    cancel_copies(question, false);
    free_question(question);
}

/* The agent does not want it any more; whoever was asked answers that. */
void hub_question_cancel(struct hub_question *question)
{
    struct hub_request *copy;
    if (!question->copies) {
        hub_send_error(question->asked->from,
                       acp_raw_n(question->asked->id, question->asked->id_len), RPC_CANCELLED,
                       acp_str_from("cancelled"));
        free_question(question);
        return;
    }
    for (struct hub_client *c = question->session->hub->clients; c; c = c->next)
        if ((copy = find_copy(question, c)))
            hub_request_send_cancel(copy);
}
