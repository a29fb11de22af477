/*
 * What a turn asks of the client: permission, forms, files, anything.  An answer comes exactly
 * once; what the client says after that is ignored.
 */
#include <assert.h>
#include <stdlib.h>

#include "role/agent_role.h"

static void free_ask(struct ask *ask)
{
    for (size_t i = 0; i < ask->option_count; i++)
        free((void *) (uintptr_t) ask->options[i].option_id.ptr);
    free(ask->options);
    free(ask);
}

/* Takes the ask out of its turn, before the program is told. */
static void detach(struct ask *ask)
{
    struct ask **at = &ask->turn->asks;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it is in the list of its turn */
    while (*at != ask) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = ask->next;
}

/* The reply of the peer, which comes exactly once and ends the ask's life. */
static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    struct ask *ask = user;
    (void) peer;
    (void) request;
    if (ask->turn) {
        struct acp_session *session = ask->turn->session;
        acp_arena_reset(&session->agent->arena);
        detach(ask);
        if (ask->is_question)
            agent_count_question(ask->turn, -1);
        ask->settle(ask, reply);
    }
    free_ask(ask);
}

bool agent_settle_asks(struct acp_turn *turn, int err)
{
    struct acp_session *session = turn->session;
    struct acp_agent *agent = session->agent;
    uint64_t number = turn->number;
    bool was_closing = agent->closing;
    while (turn->asks) {
        struct ask *ask = turn->asks;
        struct acp_reply reply = {.err = err};
        /* It is freed when its reply comes, which may be from within the program's callback. */
        struct ask settled = *ask;
        detach(ask);
        if (ask->is_question)
            turn->questions--; /* the turn ends, or is told to: nobody waits for the user now */
        ask->turn = NULL;
        (void) acp_peer_cancel(agent->peer, ask->request);
        settled.settle(&settled, &reply);
        if (agent->closing != was_closing || !agent_turn_goes_on(session, number))
            return false;
    }
    return true;
}

/* Whether the method is answered by the user, and not by the client alone. */
static bool is_question(struct acp_str method)
{
    return acp_str_is(method, "session/request_permission") ||
           acp_str_is(method, "elicitation/create");
}

/* Checks and sends the request; on failure the ask is gone. */
static int send_ask(struct acp_turn *turn, struct acp_str method, acp_type_id type,
                    const void *params, struct ask *ask)
{
    struct acp_agent *agent = turn->session->agent;
    struct acp_request request = {.method = method, .reply = on_reply, .user = ask};
    int err = agent_check_request(agent, method, type, params);
    if (!err)
        err = agent_flush_text(turn->session);
    if (!err)
        err = agent_send_request(agent, &request, type, params, &ask->request);
    if (err) {
        free_ask(ask);
        return err;
    }
    ask->turn = turn;
    ask->next = turn->asks;
    turn->asks = ask;
    ask->is_question = is_question(method);
    if (ask->is_question)
        agent_count_question(turn, 1);
    return 0;
}

static struct ask *make_ask(void (*settle)(struct ask *, const struct acp_reply *), void *user)
{
    struct ask *ask = calloc(1, sizeof(*ask));
    if (ask) {
        ask->settle = settle;
        ask->user = user;
    }
    return ask;
}

/* ---- Permission ------------------------------------------------------------------------------ */

/* Only an option that was offered is an approval; everything else is none. */
static struct acp_permission_answer read_permission(struct ask *ask, const struct acp_reply *reply)
{
    struct acp_agent *agent = ask->turn->session->agent;
    struct acp_request_permission_response response;
    struct acp_permission_answer answer = {.err = reply->err};
    if (answer.err)
        return answer;
    answer.err = acp_request_permission_response_decode(agent->mode, reply->result, &agent->arena,
                                                        &response, NULL);
    if (answer.err)
        return answer;
    answer.err = ACP_ERR_CANCELLED;
    if (response.outcome.is != ACP_REQUEST_PERMISSION_OUTCOME_SELECTED)
        return answer;
    for (size_t i = 0; i < ask->option_count; i++) {
        if (acp_str_eq(ask->options[i].option_id, response.outcome.selected.option_id)) {
            answer = (struct acp_permission_answer){.option = ask->options[i].option_id,
                                                    .kind = ask->options[i].kind.is};
            break;
        }
    }
    return answer;
}

static void settle_permission(struct ask *ask, const struct acp_reply *reply)
{
    struct acp_permission_answer answer = read_permission(ask, reply);
    ask->answer.permission(ask->turn, &answer, ask->user);
}

static int copy_options(struct ask *ask, const struct acp_permission_option *options, size_t count)
{
    ask->options = calloc(count ? count : 1, sizeof(*options));
    if (!ask->options)
        return ACP_ERR_NOMEM;
    for (; ask->option_count < count; ask->option_count++) {
        struct acp_str id = options[ask->option_count].option_id;
        char *copy = acp_str_copy(id);
        if (!copy)
            return ACP_ERR_NOMEM;
        ask->options[ask->option_count].option_id = acp_str_n(copy, id.len);
        ask->options[ask->option_count].kind = options[ask->option_count].kind;
    }
    return 0;
}

/* Version 1 asks about a tool call; version 2 has a title and the call as the subject. */
static int send_permission(struct acp_turn *turn, const struct acp_tool_call_update *tool,
                           const struct acp_permission_option *options, size_t count,
                           struct ask *ask)
{
    struct acp_agent *agent = turn->session->agent;
    struct acp_request_permission_request request;
    struct acp_request_permission_subject subject;
    acp_request_permission_request_init(&request, acp_str_from(turn->session->id), options, count);
    request.meta = acp_raw_from(turn->own_meta);
    int err = agent_check_tool(agent, tool);
    if (!err)
        err = agent_dialect_tool(agent, tool, &request.tool_call);
    if (!err && agent_is_v2(agent)) {
        /* The client applies it like an update. */
        err = agent_note_tool(turn->session, &request.tool_call);
        request.title =
            acp_is_set(tool->title.ptr) ? tool->title : acp_str_from("Permission required");
        acp_request_permission_subject_init_tool_call(&subject);
        subject.tool_call.tool_call = request.tool_call;
        request.subject = &subject;
    }
    if (err) {
        free_ask(ask);
        return err;
    }
    return send_ask(turn, acp_str_from("session/request_permission"),
                    ACP_TYPE_REQUEST_PERMISSION_REQUEST, &request, ask);
}

int acp_turn_request_permission(struct acp_turn *turn, const struct acp_tool_call_update *tool,
                                const struct acp_permission_option *options, size_t count,
                                acp_permission_fn *answer, void *user)
{
    if (turn->cancelled)
        return ACP_ERR_CANCELLED;
    if (count == 0)
        return ACP_ERR_ARGUMENT;
    struct ask *ask = make_ask(settle_permission, user);
    if (!ask)
        return ACP_ERR_NOMEM;
    ask->answer.permission = answer;
    if (copy_options(ask, options, count)) {
        free_ask(ask);
        return ACP_ERR_NOMEM;
    }
    return send_permission(turn, tool, options, count, ask);
}

/* ---- Elicitation ----------------------------------------------------------------------------- */

/* What is neither accepted nor declined counts as cancelled. */
static void settle_elicitation(struct ask *ask, const struct acp_reply *reply)
{
    struct acp_agent *agent = ask->turn->session->agent;
    struct acp_create_elicitation_response response;
    struct acp_elicitation_answer answer = {.err = reply->err, .action = ACP_ELICITED_CANCEL};
    if (!answer.err)
        answer.err = acp_create_elicitation_response_decode(agent->mode, reply->result,
                                                            &agent->arena, &response, NULL);
    if (!answer.err && response.is == ACP_CREATE_ELICITATION_RESPONSE_ACCEPT) {
        answer.action = ACP_ELICITED_ACCEPT;
        answer.content = response.accept.content;
    } else if (!answer.err && response.is == ACP_CREATE_ELICITATION_RESPONSE_DECLINE) {
        answer.action = ACP_ELICITED_DECLINE;
    }
    ask->answer.elicitation(ask->turn, &answer, ask->user);
}

static int ask_user(struct acp_turn *turn, struct acp_create_elicitation_request *request,
                    acp_elicitation_fn *answer, void *user)
{
    if (turn->cancelled)
        return ACP_ERR_CANCELLED;
    struct ask *ask = make_ask(settle_elicitation, user);
    if (!ask)
        return ACP_ERR_NOMEM;
    ask->answer.elicitation = answer;
    request->meta = acp_raw_from(turn->own_meta);
    return send_ask(turn, acp_str_from("elicitation/create"), ACP_TYPE_CREATE_ELICITATION_REQUEST,
                    request, ask);
}

int acp_turn_elicit_form(struct acp_turn *turn, struct acp_str tool_call, struct acp_str message,
                         const struct acp_elicitation_schema *form, acp_elicitation_fn *answer,
                         void *user)
{
    struct acp_create_elicitation_request request;
    acp_create_elicitation_request_init_form(&request, message);
    acp_elicitation_form_mode_init_session(&request.form, acp_str_from(turn->session->id));
    request.form.session.tool_call_id = tool_call;
    request.form.requested_schema = *form;
    request.form.requested_schema.type.is = ACP_ELICITATION_SCHEMA_TYPE_OBJECT;
    return ask_user(turn, &request, answer, user);
}

int acp_turn_elicit_url(struct acp_turn *turn, struct acp_str tool_call, struct acp_str message,
                        struct acp_str url, struct acp_str id, acp_elicitation_fn *answer,
                        void *user)
{
    struct acp_create_elicitation_request request;
    if (id.len == 0 || url.len == 0)
        return ACP_ERR_ARGUMENT;
    acp_create_elicitation_request_init_url(&request, message);
    acp_elicitation_url_mode_init_session(&request.url, id, url, acp_str_from(turn->session->id));
    request.url.session.tool_call_id = tool_call;
    return ask_user(turn, &request, answer, user);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void settle_text(struct ask *ask, const struct acp_reply *reply)
{
    struct acp_agent *agent = ask->turn->session->agent;
    struct acp_outcome outcome = {.err = reply->err, .code = reply->error_code};
    struct acp_str text = acp_str_from(reply->err ? NULL : "");
    struct acp_read_text_file_response response;
    if (!outcome.err && ask->result_type == ACP_TYPE_READ_TEXT_FILE_RESPONSE) {
        outcome.err = acp_read_text_file_response_decode(agent->mode, reply->result, &agent->arena,
                                                         &response, NULL);
        text = outcome.err ? acp_str_from(NULL) : response.content;
        outcome.value = outcome.err ? NULL : &response;
    }
    outcome.why = outcome.err == ACP_ERR_REMOTE ? reply->error_message
                                                : acp_str_from(acp_err_text(outcome.err));
    ask->answer.text(ask->turn, &outcome, text, ask->user);
}

static int ask_file(struct acp_turn *turn, const char *method, acp_type_id params_type,
                    const void *params, acp_type_id result_type, acp_text_fn *answer, void *user)
{
    if (turn->cancelled)
        return ACP_ERR_CANCELLED;
    struct ask *ask = make_ask(settle_text, user);
    if (!ask)
        return ACP_ERR_NOMEM;
    ask->answer.text = answer;
    ask->result_type = result_type;
    return send_ask(turn, acp_str_from(method), params_type, params, ask);
}

int acp_turn_read_file(struct acp_turn *turn, struct acp_str path, uint32_t line, uint32_t limit,
                       acp_text_fn *answer, void *user)
{
    struct acp_read_text_file_request request;
    acp_read_text_file_request_init(&request, acp_str_from(turn->session->id), path);
    request.meta = acp_raw_from(turn->own_meta);
    if (line)
        request.line = acp_some_i64(line);
    if (limit)
        request.limit = acp_some_i64(limit);
    return ask_file(turn, "fs/read_text_file", ACP_TYPE_READ_TEXT_FILE_REQUEST, &request,
                    ACP_TYPE_READ_TEXT_FILE_RESPONSE, answer, user);
}

int acp_turn_write_file(struct acp_turn *turn, struct acp_str path, struct acp_str text,
                        acp_text_fn *answer, void *user)
{
    struct acp_write_text_file_request request;
    acp_write_text_file_request_init(&request, acp_str_from(turn->session->id), path, text);
    request.meta = acp_raw_from(turn->own_meta);
    return ask_file(turn, "fs/write_text_file", ACP_TYPE_WRITE_TEXT_FILE_REQUEST, &request,
                    ACP_TYPE_WRITE_TEXT_FILE_RESPONSE, answer, user);
}

/* ---- Anything -------------------------------------------------------------------------------- */

static void settle_result(struct ask *ask, const struct acp_reply *reply)
{
    ask->answer.result(ask->turn, reply, ask->user);
}

int acp_turn_request(struct acp_turn *turn, struct acp_str method, acp_type_id type,
                     const void *params, acp_result_fn *answer, void *user)
{
    /* What was begun may be ended also after a cancellation. */
    bool cleans_up = acp_str_is(method, "terminal/kill") || acp_str_is(method, "terminal/release");
    if (turn->cancelled && !cleans_up)
        return ACP_ERR_CANCELLED;
    struct ask *ask = make_ask(settle_result, user);
    if (!ask)
        return ACP_ERR_NOMEM;
    ask->answer.result = answer;
    return send_ask(turn, method, type, params, ask);
}
