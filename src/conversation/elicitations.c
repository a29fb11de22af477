/*
 * elicitations.c - what the agent asks the user by a form or a web page.
 *
 * It is put to the subscribers like a permission question, and the first answer counts.  If nobody
 * can be asked it is declined, and the event of it says so.
 */
#include <stdlib.h>

#include "acp/rpc.h"
#include "acp/types.h"
#include "conversation/conversation_internal.h"
#include "json/members.h"

/* ---- The log --------------------------------------------------------------------------------- */

static const char *action_name(const struct acp_create_elicitation_response *response)
{
    switch (response->is) {
    case ACP_CREATE_ELICITATION_RESPONSE_ACCEPT:
        return "accept";
    case ACP_CREATE_ELICITATION_RESPONSE_DECLINE:
        return "decline";
    default:
        return "cancel";
    }
}

/* The texts of the request are read from its JSON, whatever else is in it. */
static void log_elicitation(struct conversation *c, struct acp_raw params,
                            const struct acp_create_elicitation_response *response,
                            struct acp_raw content, bool unasked)
{
    static const char *const parts[] = {"message", "mode", "url"};
    struct acp_arena arena;
    struct acp_buf body;
    struct acp_json_writer w;
    acp_arena_init(&arena, 0);
    acp_buf_init(&body, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &body);
    acp_json_begin_object(&w);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct acp_str text = {0};
        if (acp_json_member_str(params, parts[i], &arena, &text) == 0 && text.ptr)
            acp_json_put_str(&w, parts[i], text);
    }
    acp_json_put_text(&w, "action", action_name(response));
    if (content.ptr) {
        acp_json_write_key(&w, acp_str_from("content"));
        acp_json_write_raw(&w, content);
    }
    if (unasked)
        acp_json_put_bool(&w, "unasked", true);
    acp_json_end_object(&w);
    if (!w.err)
        conversation_add_event(c, EVENT_ELICITATION, conversation_turn(c),
                               acp_raw_n(body.data + body.start, body.len));
    acp_buf_finish(&body);
    acp_arena_finish(&arena);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void respond(struct conversation *c, acp_call call,
                    const struct acp_create_elicitation_response *response)
{
    if (c->connection)
        (void) acp_client_respond(conversation_client(c), call,
                                  ACP_TYPE_CREATE_ELICITATION_RESPONSE, response);
}

static void settle(struct conversation *c, struct open_question *question,
                   const struct acp_create_elicitation_response *response, struct acp_raw content)
{
    log_elicitation(c, question->elicitation, response, content, false);
    respond(c, question->call, response);
    conversation_close_question(c, question);
}

bool conversation_answer_elicitation(struct conversation *c, uint64_t number,
                                     struct acp_raw response)
{
    struct open_question *question = conversation_find_question(c, number);
    struct acp_create_elicitation_response decoded;
    struct acp_raw content = {0};
    if (!question || !question->elicitation.ptr)
        return false;
    if (acp_decode(ACP_TYPE_CREATE_ELICITATION_RESPONSE, ACP_V1, response, &question->arena,
                   &decoded, NULL))
        acp_create_elicitation_response_init_cancel(&decoded);
    if (decoded.is == ACP_CREATE_ELICITATION_RESPONSE_ACCEPT)
        (void) acp_json_member_raw(response, "content", &content);
    settle(c, question, &decoded, content);
    return true;
}

void conversation_cancel_elicitations(struct conversation *c)
{
    for (struct open_question *question = c->open_questions; question;) {
        struct open_question *next = question->next;
        if (question->elicitation.ptr)
            conversation_drop_elicitation(c, question);
        question = next;
    }
}

void conversation_drop_elicitation(struct conversation *c, struct open_question *question)
{
    struct acp_create_elicitation_response response;
    acp_create_elicitation_response_init_cancel(&response);
    settle(c, question, &response, (struct acp_raw){0});
}

bool conversation_withdraw_elicitation(struct conversation *c, acp_call call)
{
    struct open_question *question = c->open_questions;
    while (question && (!question->elicitation.ptr || question->call != call))
        question = question->next;
    if (!question)
        return false;
    struct acp_peer *peer = acp_client_peer(conversation_client(c));
    (void) acp_peer_error_for(peer, call, ACP_ERR_CANCELLED);
    conversation_close_question(c, question);
    return true;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void decline_unasked(struct conversation *c, acp_call call, struct acp_raw params)
{
    struct acp_create_elicitation_response response;
    acp_create_elicitation_response_init_decline(&response);
    if (c->prompts)
        c->prompts->unasked = true;
    log_elicitation(c, params, &response, (struct acp_raw){0}, true);
    respond(c, call, &response);
}

static bool has_person(const struct conversation *c)
{
    return c->prompts && !c->prompts->options.nobody && conversation_can_elicit(c);
}

static struct open_question *copy_request(struct acp_raw params)
{
    struct open_question *question = calloc(1, sizeof(*question));
    if (!question)
        return NULL;
    acp_arena_init(&question->arena, 0);
    struct acp_str copy = acp_arena_copy(&question->arena, acp_str_n(params.ptr, params.len));
    question->elicitation = acp_raw_n(copy.ptr, copy.len);
    if (copy.ptr)
        return question;
    acp_arena_finish(&question->arena);
    free(question);
    return NULL;
}

void conversation_elicit(struct conversation *c, acp_call call, struct acp_raw params)
{
    struct open_question *question = NULL;
    if (c->state == CONVERSATION_CANCELLING) {
        struct acp_create_elicitation_response response;
        acp_create_elicitation_response_init_cancel(&response);
        respond(c, call, &response);
        return;
    }
    if (!has_person(c)) {
        decline_unasked(c, call, params);
        return;
    }
    if (conversation_has_question_room(c, params.len))
        question = copy_request(params);
    if (!question) {
        (void) acp_client_respond_error(conversation_client(c), call, ACP_ERROR_CODE_INTERNAL_ERROR,
                                        acp_str_from(conversation_too_many_questions),
                                        (struct acp_raw){0});
        return;
    }
    question->call = call;
    question->bytes = params.len;
    conversation_open_question(c, question);
}
