/*
 * What the agent asks: permission, and the services that were offered to it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "codec/gate.h"
#include "role/client_role.h"
#include "role/values.h"

int acp_client_respond(struct acp_client *client, acp_call call, acp_type_id type,
                       const void *value)
{
    if (acp_check_answer(client->peer, call, type, value))
        return client_decline(client, ACP_ERR_ARGUMENT,
                              "this is not the result of the method that was called");
    struct acp_json_writer *w = acp_peer_begin_result(client->peer, call);
    acp_role_write_value(type, client->mode, value, w);
    return client_fail(client, acp_peer_commit(client->peer, NULL));
}

static void refuse_failure(struct acp_client *client, acp_call call,
                           const struct acp_failure *failure)
{
    char message[400];
    (void) snprintf(message, sizeof(message), "Invalid params: %s%s%s", failure->path,
                    *failure->path ? " " : "", failure->message);
    (void) acp_peer_error(client->peer, call, ACP_ERROR_CODE_INVALID_PARAMS, acp_str_from(message),
                          acp_raw_from(NULL));
}

/* ---- Permission ------------------------------------------------------------------------------ */

static struct acp_str key_of(const acp_call *call)
{
    return acp_str_n((const char *) call, sizeof(*call));
}

static void free_question(struct question *question)
{
    for (size_t i = 0; i < question->option_count; i++)
        free((void *) (uintptr_t) question->options[i].ptr);
    free(question->options);
    free(question);
}

static struct question *make_question(acp_call call, struct acp_permission_option_list options)
{
    struct question *question = calloc(1, sizeof(*question));
    if (!question)
        return NULL;
    question->call = call;
    question->options = calloc(options.count + 1, sizeof(*question->options));
    for (size_t i = 0; question->options && i < options.count; i++) {
        char *copy = acp_str_copy(options.items[i].option_id);
        if (!copy)
            break;
        question->options[i] = acp_str_n(copy, options.items[i].option_id.len);
        question->option_count++;
    }
    if (question->option_count == options.count && question->options)
        return question;
    free_question(question);
    return NULL;
}

/* Puts the question where it is found again; takes it, also when it fails. */
static int add_question(struct acp_client_session *session, struct question *question)
{
    if (acp_map_set(&session->client->questions, key_of(&question->call), question)) {
        free_question(question);
        return ACP_ERR_NOMEM;
    }
    question->session = session;
    question->next = session->questions;
    question->link = &session->questions;
    if (question->next)
        question->next->link = &question->next;
    session->questions = question;
    return 0;
}

/* Takes the question of that call; its session is returned, or NULL when it is settled. */
static struct acp_client_session *take_question(struct acp_client *client, acp_call call)
{
    struct question *question = acp_map_remove(&client->questions, key_of(&call));
    if (!question)
        return NULL;
    struct acp_client_session *session = question->session;
    *question->link = question->next;
    if (question->next)
        question->next->link = question->link;
    free_question(question);
    return session;
}

static bool was_offered(const struct question *question, struct acp_str option)
{
    for (size_t i = 0; i < question->option_count; i++)
        if (acp_str_eq(question->options[i], option))
            return true;
    return false;
}

static int answer_outcome(struct acp_client *client, acp_call call, struct acp_str option)
{
    struct acp_request_permission_response answer;
    acp_request_permission_response_init(&answer);
    if (option.ptr)
        acp_request_permission_outcome_init_selected(&answer.outcome, option);
    else
        acp_request_permission_outcome_init_cancelled(&answer.outcome);
    return acp_client_respond(client, call, ACP_TYPE_REQUEST_PERMISSION_RESPONSE, &answer);
}

static int decline_settled(struct acp_client *client)
{
    return client_decline(client, ACP_ERR_UNKNOWN, "the permission request is settled already");
}

int acp_client_select_permission(struct acp_client *client, acp_call call, struct acp_str option)
{
    const struct question *question = acp_map_get(&client->questions, key_of(&call));
    if (!question)
        return decline_settled(client);
    if (!was_offered(question, option))
        return client_decline(client, ACP_ERR_ARGUMENT, "the agent did not offer option '%.*s'",
                              ACP_ARG(option));
    (void) take_question(client, call);
    return answer_outcome(client, call, option);
}

int acp_client_respond_error(struct acp_client *client, acp_call call, int64_t code,
                             struct acp_str message, struct acp_raw data)
{
    (void) take_question(client, call); /* if it is one */
    return client_fail(client, acp_peer_error(client->peer, call, code, message, data));
}

int acp_client_cancel_permission(struct acp_client *client, acp_call call)
{
    if (!take_question(client, call))
        return decline_settled(client);
    return answer_outcome(client, call, acp_str_from(NULL));
}

void client_drop_questions(struct acp_client_session *session)
{
    struct acp_client *client = session->client;
    bool was_closing = client->closing || session->gone;
    while (session->questions) {
        acp_call call = session->questions->call;
        (void) take_question(client, call);
        (void) answer_outcome(client, call, acp_str_from(NULL));
        if (client->handler.permission_cancelled)
            client->handler.permission_cancelled(session, call, client->user);
        if (client->closing && !was_closing)
            return; /* the program has closed the connection, and the session is freed */
    }
}

void client_withdraw(struct acp_client *client, acp_call call)
{
    struct acp_client_session *session = take_question(client, call);
    if (session) {
        (void) answer_outcome(client, call, acp_str_from(NULL));
        if (client->handler.permission_cancelled)
            client->handler.permission_cancelled(session, call, client->user);
    } else if (client->handler.cancel_request) {
        client->handler.cancel_request(client, call, client->user);
    }
}

/* The subject of version 2 in the terms of the question. */
static void read_subject(const struct acp_request_permission_subject *subject,
                         struct acp_permission_request *question)
{
    if (!acp_is_set(subject))
        return;
    question->subject = subject;
    if (subject->is == ACP_REQUEST_PERMISSION_SUBJECT_TOOL_CALL)
        question->tool = &subject->tool_call.tool_call;
    else if (subject->is == ACP_REQUEST_PERMISSION_SUBJECT_COMMAND)
        question->command = subject->command.command;
}

static void ask(struct acp_client_session *session, acp_call call,
                const struct acp_request_permission_request *request)
{
    struct acp_client *client = session->client;
    struct acp_permission_request question = {.options = request->options, .meta = request->meta};
    if (client_is_v2(client)) {
        question.title = request->title;
        question.description = request->description;
        read_subject(request->subject, &question);
        if (question.tool)
            client_note_tool(session, question.tool);
    } else {
        question.tool = &request->tool_call;
        question.title = acp_is_set(request->tool_call.title.ptr) ? request->tool_call.title
                                                                  : request->tool_call.tool_call_id;
    }
    client->handler.permission(session, call, &question, client->user);
}

/* What of a permission request is more than can be kept until it is answered; NULL: nothing. */
static const char *find_excess(const struct acp_client *client,
                               struct acp_permission_option_list options)
{
    size_t bytes = 0;
    for (size_t i = 0; i < options.count; i++)
        bytes += options.items[i].option_id.len;
    return client->questions.count >= CLIENT_MAX_QUESTIONS ? "Too many permission requests are open"
           : options.count > CLIENT_MAX_OPTIONS || bytes > CLIENT_MAX_OPTION_BYTES
               ? "Invalid params: too many options, or their ids are too long"
               : NULL;
}

static void serve_permission(struct acp_client *client, acp_call call, struct acp_raw params)
{
    struct acp_request_permission_request request;
    struct acp_failure failure;
    if (acp_request_permission_request_decode(client->mode, params, &client->arena, &request,
                                              &failure)) {
        refuse_failure(client, call, &failure);
        return;
    }
    struct acp_client_session *session = acp_map_get(&client->sessions, request.session_id);
    if (!session) {
        (void) acp_client_respond_error(client, call, ACP_ERROR_CODE_RESOURCE_NOT_FOUND,
                                        acp_str_from("No such session"), acp_raw_from(NULL));
        return;
    }
    /*
     * Without a person to ask, the answer is no; and one who has cancelled is not asked any more.
     */
    if (!client->handler.permission || (session->prompting && session->cancelled)) {
        (void) answer_outcome(client, call, acp_str_from(NULL));
        return;
    }
    const char *excess = find_excess(client, request.options);
    if (excess) {
        (void) acp_peer_error(client->peer, call, ACP_ERROR_CODE_INVALID_PARAMS,
                              acp_str_from(excess), acp_raw_from(NULL));
        return;
    }
    struct question *question = make_question(call, request.options);
    if (!question || add_question(session, question)) {
        (void) acp_peer_error_for(client->peer, call, ACP_ERR_NOMEM);
        return;
    }
    ask(session, call, &request);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static bool is_offered(const struct acp_client *client, int method)
{
    const struct acp_client_options *o = &client->options;
    switch (method) {
    case ACP_METHOD_FS_READ_TEXT_FILE:
        return o->read_files;
    case ACP_METHOD_FS_WRITE_TEXT_FILE:
        return o->write_files;
    case ACP_METHOD_TERMINAL_CREATE:
    case ACP_METHOD_TERMINAL_OUTPUT:
    case ACP_METHOD_TERMINAL_WAIT_FOR_EXIT:
    case ACP_METHOD_TERMINAL_KILL:
    case ACP_METHOD_TERMINAL_RELEASE:
        return o->terminals;
    case ACP_METHOD_ELICITATION_CREATE:
        return o->forms || o->urls;
    case ACP_METHOD_MCP_MESSAGE:
        return client->serves_mcp;
    default:
        return false;
    }
}

/* Every params struct that names a session has it as its first member or in its scope. */
static struct acp_str session_of(struct acp_client *client, struct acp_raw params)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_str id = {NULL, 0};
    acp_json_reader_init(&r, params, &client->arena, 0);
    int err = acp_json_enter_object(&r);
    while (!err && acp_json_next_key(&r, &key) > 0)
        err = acp_str_is(key, "sessionId") && acp_json_peek(&r) == ACP_JSON_STRING
                  ? acp_json_read_str(&r, &id)
                  : acp_json_skip(&r);
    return id;
}

/* A mode of elicitation that was not offered is the request's fault. */
static bool elicits_in_vain(const struct acp_client *client, const struct acp_method *method,
                            const void *params)
{
    if (method->id != ACP_METHOD_ELICITATION_CREATE)
        return false;
    const struct acp_create_elicitation_request *request = params;
    return request->is == ACP_CREATE_ELICITATION_REQUEST_FORM  ? !client->options.forms
           : request->is == ACP_CREATE_ELICITATION_REQUEST_URL ? !client->options.urls
                                                               : true;
}

static void serve_offered(struct acp_client *client, acp_call call, const struct acp_method *method,
                          const struct acp_message *message, struct acp_raw params)
{
    struct acp_failure failure = {0};
    struct acp_str id = session_of(client, params);
    struct acp_client_session *session = id.ptr ? acp_map_get(&client->sessions, id) : NULL;
    void *value = acp_arena_alloc(&client->arena, acp_type_size(method->params));
    if (!value) {
        (void) acp_peer_error_for(client->peer, call, ACP_ERR_NOMEM);
    } else if (acp_decode(method->params, client->mode, params, &client->arena, value, &failure)) {
        refuse_failure(client, call, &failure);
    } else if (id.ptr && !session) {
        (void) acp_client_respond_error(client, call, ACP_ERROR_CODE_RESOURCE_NOT_FOUND,
                                        acp_str_from("No such session"), acp_raw_from(NULL));
    } else if (elicits_in_vain(client, method, value)) {
        (void) acp_client_respond_error(client, call, ACP_ERROR_CODE_INVALID_PARAMS,
                                        acp_str_from("This way of asking was not offered"),
                                        acp_raw_from(NULL));
    } else {
        client->handler.request(client, session, call, method, value, message, client->user);
    }
}

void client_serve_request(struct acp_client *client, acp_call call,
                          const struct acp_message *message)
{
    struct acp_method method = {.id = ACP_METHOD_NONE, .name = message->method};
    struct acp_raw params = message->params.ptr ? message->params : acp_raw_from("{}");
    bool known = client->mode &&
                 acp_method_find(message->method, ACP_SIDE_AGENT, client->mode, &method) &&
                 method.request;
    bool custom = message->method.len > 0 && message->method.ptr[0] == '_';
    if (known)
        acp_note_result_type(client->peer, call, method.result);
    if (known && method.id == ACP_METHOD_SESSION_REQUEST_PERMISSION)
        serve_permission(client, call, params);
    else if (known && client->handler.request && is_offered(client, method.id))
        serve_offered(client, call, &method, message, params);
    else if (custom && client->mode && client->handler.request)
        client->handler.request(client, NULL, call, &method, NULL, message, client->user);
    else
        (void) acp_client_respond_error(client, call, ACP_ERROR_CODE_METHOD_NOT_FOUND,
                                        acp_str_from("Method not found"), acp_raw_from(NULL));
}
