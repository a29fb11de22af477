/*
 * Turns: a prompt from its arrival to its one end.  In version 1 the prompt's response is the end;
 * in version 2 the response says that the message was taken, and the session's state tells the
 * rest.
 */
#include <stdlib.h>

#include "role/agent_role.h"
#include "rpc/peer.h"

/* ---- Beginning ------------------------------------------------------------------------------- */

static const char *bad_prompt(const struct acp_agent *agent, struct acp_content_block_list prompt)
{
    bool empty = true;
    for (size_t i = 0; i < prompt.count; i++) {
        switch (prompt.items[i].is) {
        case ACP_CONTENT_BLOCK_TEXT:
            if (prompt.items[i].text.text.len == 0)
                continue;
            break;
        case ACP_CONTENT_BLOCK_RESOURCE_LINK:
            break;
        case ACP_CONTENT_BLOCK_IMAGE:
            if (!agent->options.images)
                return "images were not offered";
            break;
        case ACP_CONTENT_BLOCK_AUDIO:
            if (!agent->options.audio)
                return "audio was not offered";
            break;
        case ACP_CONTENT_BLOCK_RESOURCE:
            if (!agent->options.embedded_context)
                return "embedded resources were not offered";
            break;
        default:
            return "a kind of content that was not offered";
        }
        empty = false;
    }
    return empty ? "the prompt is empty" : NULL;
}

/* Version 2: the message is taken, and work on it begins. */
static void acknowledge(struct acp_turn *turn, struct acp_content_block_list prompt)
{
    struct acp_session *session = turn->session;
    struct acp_prompt_response answer = {.message_id = acp_str_from(turn->message)};
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_USER_MESSAGE};
    (void) agent_answer(session->agent, turn->call, ACP_TYPE_PROMPT_RESPONSE, &answer);
    turn->call = 0;
    update.user_message.message_id = acp_str_from(turn->message);
    update.user_message.content = prompt;
    (void) agent_send_update(session, &update);
    (void) agent_send_state(session, ACP_STATE_UPDATE_RUNNING);
}

/* Version 1: the client knows what it said, but who keeps the session has to hear of it. */
static void keep_prompt(struct acp_turn *turn, struct acp_content_block_list prompt)
{
    struct acp_session_update update = {.is = ACP_SESSION_UPDATE_USER_MESSAGE_CHUNK};
    update.user_message_chunk.message_id = acp_str_from(turn->message);
    for (size_t i = 0; i < prompt.count; i++) {
        update.user_message_chunk.content = prompt.items[i];
        (void) agent_before_update(turn->session, &update);
    }
}

static void begin_turn(struct acp_session *session, acp_call call,
                       struct acp_content_block_list prompt, struct acp_raw meta)
{
    struct acp_agent *agent = session->agent;
    struct acp_turn *turn = calloc(1, sizeof(*turn));
    if (!turn) {
        (void) acp_peer_error_for(agent->peer, call, ACP_ERR_NOMEM);
        return;
    }
    turn->session = session;
    turn->number = ++session->turns;
    turn->call = call;
    if (meta.ptr)
        turn->meta = acp_str_copy(acp_str_n(meta.ptr, meta.len));
    agent_make_message_id(session, turn->message);
    session->turn = turn;
    agent_release_waiting(session);
    /* What was said between turns is a message of its own. */
    (void) agent_flush_text(session);
    agent_end_message(session);
    if (agent_is_v2(agent))
        acknowledge(turn, prompt);
    else
        keep_prompt(turn, prompt);
    agent->handler.prompt(turn, prompt, agent->user);
}

/* While a turn is at work, version 1 refuses another prompt and version 2 keeps it. */
static void hold(struct acp_session *session, acp_call call, struct acp_raw params)
{
    struct acp_agent *agent = session->agent;
    struct held_prompt **last = &session->held;
    size_t count = 0;
    for (; *last; last = &(*last)->next)
        count++;
    if (!agent_is_v2(agent) || count >= AGENT_MAX_HELD ||
        params.len > AGENT_MAX_HELD_BYTES - agent->held_bytes) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_REQUEST,
                            "A prompt is already at work in this session");
        return;
    }
    struct held_prompt *held = malloc(sizeof(*held) + params.len);
    if (!held) {
        (void) acp_peer_error_for(agent->peer, call, ACP_ERR_NOMEM);
        return;
    }
    *held = (struct held_prompt){.call = call, .len = params.len};
    memcpy(held->params, params.ptr, params.len);
    agent->held_bytes += params.len;
    *last = held;
}

static void serve_checked(struct acp_agent *agent, acp_call call, struct acp_raw params,
                          bool may_hold)
{
    struct acp_prompt_request request;
    struct acp_failure failure;
    if (acp_prompt_request_decode(agent->mode, params, &agent->arena, &request, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    const char *bad = request.meta.len > AGENT_MAX_META ? "_meta is larger than 1 MiB"
                                                        : bad_prompt(agent, request.prompt);
    if (!agent_is_usable(session))
        (void) agent_refuse_session(agent, call, request.session_id);
    else if (bad)
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS, "Invalid params: %s", bad);
    else if (session->turn && may_hold)
        hold(session, call, params);
    else
        begin_turn(session, call, request.prompt, request.meta);
}

void agent_serve_prompt(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    size_t most = agent->options.max_prompt;
    if (most && params.len > most) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                            "Invalid params: the prompt has %zu bytes, and at most %zu are taken",
                            params.len, most);
        return;
    }
    serve_checked(agent, call, params, true);
}

/* ---- Ending ---------------------------------------------------------------------------------- */

/* False when the program has meanwhile ended the turn, or closed the connection. */
static bool tell_turn_ends(struct acp_turn *turn)
{
    struct acp_session *session = turn->session;
    struct acp_agent *agent = session->agent;
    uint64_t number = turn->number;
    bool was_closing = agent->closing;
    if (agent->watch)
        agent->watch->turn_ends(agent->watch, turn);
    return agent->closing == was_closing && agent_turn_goes_on(session, number);
}

/* Settles what the turn has asked for and sends its last words.  False when it is over already. */
static bool close_turn(struct acp_turn *turn)
{
    if (!agent_settle_asks(turn, ACP_ERR_CANCELLED) || !tell_turn_ends(turn))
        return false;
    (void) agent_flush_text(turn->session);
    agent_end_message(turn->session);
    return true;
}

/* The next prompt that waits, if any, has its turn now. */
static void finish_turn(struct acp_turn *turn)
{
    struct acp_session *session = turn->session;
    struct held_prompt *held = session->held;
    session->turn = NULL;
    free(turn->meta);
    free(turn->own_meta);
    free(turn);
    if (!held)
        agent_free_text_buffer(session);
    if (!held || session->agent->closing)
        return;
    session->held = held->next;
    session->agent->held_bytes -= held->len;
    serve_checked(session->agent, held->call, acp_raw_n(held->params, held->len), false);
    free(held);
}

static void answer_end(struct acp_turn *turn, enum acp_stop stop)
{
    static const enum acp_stop_reason_is v1[] = {
        [ACP_STOP_END_TURN] = ACP_STOP_REASON_END_TURN,
        [ACP_STOP_MAX_TOKENS] = ACP_STOP_REASON_MAX_TOKENS,
        [ACP_STOP_MAX_TURN_REQUESTS] = ACP_STOP_REASON_MAX_TURN_REQUESTS,
        [ACP_STOP_REFUSAL] = ACP_STOP_REASON_REFUSAL,
        [ACP_STOP_CANCELLED] = ACP_STOP_REASON_CANCELLED,
    };
    static const enum acp_idle_state_update_is v2[] = {
        [ACP_STOP_END_TURN] = ACP_IDLE_STATE_UPDATE_END_TURN,
        [ACP_STOP_MAX_TOKENS] = ACP_IDLE_STATE_UPDATE_MAX_TOKENS,
        [ACP_STOP_MAX_TURN_REQUESTS] = ACP_IDLE_STATE_UPDATE_MAX_TURN_REQUESTS,
        [ACP_STOP_REFUSAL] = ACP_IDLE_STATE_UPDATE_REFUSAL,
        [ACP_STOP_CANCELLED] = ACP_IDLE_STATE_UPDATE_CANCELLED,
    };
    struct acp_agent *agent = turn->session->agent;
    if (agent_is_v2(agent)) {
        (void) agent_send_idle(turn, v2[stop], NULL);
        return;
    }
    struct acp_prompt_response answer = {.stop_reason = {.is = v1[stop]},
                                         .usage = turn->has_usage ? &turn->usage : NULL};
    (void) agent_answer(agent, turn->call, ACP_TYPE_PROMPT_RESPONSE, &answer);
}

int acp_turn_end(struct acp_turn *turn, enum acp_stop stop)
{
    if (stop < ACP_STOP_END_TURN || stop > ACP_STOP_CANCELLED)
        return ACP_ERR_ARGUMENT;
    /* The next prompt may begin in here, and the program may free the agent then. */
    struct acp_peer *peer = turn->session->agent->peer;
    acp_rpc_enter(peer);
    if (close_turn(turn)) {
        answer_end(turn, turn->cancelled ? ACP_STOP_CANCELLED : stop);
        finish_turn(turn);
    }
    acp_rpc_leave(peer);
    return 0;
}

/* A turn that is not cancelled. */
static void fail_turn(struct acp_turn *turn, int64_t code, struct acp_str message)
{
    struct acp_agent *agent = turn->session->agent;
    if (!close_turn(turn))
        return;
    if (agent_is_v2(agent)) {
        struct acp_error error = {.code = code, .message = message};
        (void) agent_send_idle(turn, ACP_IDLE_STATE_UPDATE_ERROR, &error);
    } else {
        (void) acp_peer_error(agent->peer, turn->call, code, message, acp_raw_from(NULL));
    }
    finish_turn(turn);
}

int acp_turn_fail(struct acp_turn *turn, int64_t code, struct acp_str message)
{
    /* What goes wrong because it was cancelled is the cancellation. */
    if (turn->cancelled)
        return acp_turn_end(turn, ACP_STOP_CANCELLED);
    struct acp_peer *peer = turn->session->agent->peer;
    acp_rpc_enter(peer);
    fail_turn(turn, code, message);
    acp_rpc_leave(peer);
    return 0;
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

/* Prompts that were never begun are not answered with a stop reason: nothing stopped. */
static void drop_held(struct acp_session *session)
{
    while (session->held) {
        struct held_prompt *held = session->held;
        session->held = held->next;
        session->agent->held_bytes -= held->len;
        (void) acp_peer_error_for(session->agent->peer, held->call, ACP_ERR_CANCELLED);
        free(held);
    }
}

void agent_cancel_turn(struct acp_turn *turn)
{
    struct acp_agent *agent = turn->session->agent;
    if (turn->cancelled)
        return;
    turn->cancelled = true;
    if (!agent_settle_asks(turn, ACP_ERR_CANCELLED))
        return;
    if (agent->watch)
        agent->watch->turn_cancelled(agent->watch, turn);
    if (agent->handler.cancel)
        agent->handler.cancel(turn, agent->user);
}

void agent_serve_cancel(struct acp_agent *agent, struct acp_raw params)
{
    /* The two versions' notifications hold the same. */
    struct acp_close_session_request request;
    if (!params.ptr ||
        acp_close_session_request_decode(agent->mode, params, &agent->arena, &request, NULL))
        return;
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (session)
        agent_cancel_work(session);
}

/* Some clients send the notification as a request. */
void agent_serve_cancel_request(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_close_session_request request;
    struct acp_failure failure;
    params = params.ptr ? params : acp_raw_from("{}");
    if (acp_close_session_request_decode(agent->mode, params, &agent->arena, &request, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_session *session = acp_map_get(&agent->sessions, request.session_id);
    if (!session) {
        (void) agent_refuse_session(agent, call, request.session_id);
        return;
    }
    /* Answered first: cancelling may make the program close the connection. */
    (void) acp_peer_result(agent->peer, call, acp_raw_from(NULL));
    agent_cancel_work(session);
}

void agent_cancel_work(struct acp_session *session)
{
    drop_held(session);
    if (session->turn)
        agent_cancel_turn(session->turn);
}

void agent_drop_work(struct acp_session *session)
{
    agent_cancel_work(session);
    /* The program may end it now or not at all: the session does not wait for it. */
    if (session->turn)
        (void) acp_turn_end(session->turn, ACP_STOP_CANCELLED);
}

/* ---- Saying and looking ---------------------------------------------------------------------- */

struct acp_session *acp_turn_session(const struct acp_turn *turn)
{
    return turn->session;
}

bool acp_turn_is_cancelled(const struct acp_turn *turn)
{
    return turn->cancelled;
}

struct acp_raw acp_turn_meta(const struct acp_turn *turn)
{
    return acp_raw_from(turn->meta);
}

int acp_turn_set_meta(struct acp_turn *turn, struct acp_raw meta)
{
    char *copy = NULL;
    if (meta.ptr) {
        if (!meta.len || *meta.ptr != '{' || acp_json_validate(meta, 0, NULL))
            return ACP_ERR_TYPE;
        copy = acp_str_copy(acp_str_n(meta.ptr, meta.len));
        if (!copy)
            return ACP_ERR_NOMEM;
    }
    (void) agent_flush_text(turn->session); /* was said before */
    free(turn->own_meta);
    turn->own_meta = copy;
    return 0;
}

struct acp_str acp_turn_user_message_id(const struct acp_turn *turn)
{
    return acp_str_from(turn->message);
}

void acp_turn_set_usage(struct acp_turn *turn, const struct acp_usage *usage)
{
    turn->usage = *usage;
    turn->usage.meta = acp_raw_from(NULL);
    turn->usage.unknown = NULL;
    turn->has_usage = true;
}

void acp_turn_set_user(struct acp_turn *turn, void *user)
{
    turn->user = user;
}

void *acp_turn_user(const struct acp_turn *turn)
{
    return turn->user;
}

int acp_turn_send_text(struct acp_turn *turn, struct acp_str text)
{
    return acp_session_send_text(turn->session, text, acp_str_from(NULL));
}

int acp_turn_send_thought(struct acp_turn *turn, struct acp_str text)
{
    return acp_session_send_thought(turn->session, text, acp_str_from(NULL));
}

int acp_turn_send_block(struct acp_turn *turn, const struct acp_content_block *block)
{
    return acp_session_send_block(turn->session, block, acp_str_from(NULL));
}

int acp_turn_send_tool_call(struct acp_turn *turn, const struct acp_tool_call_update *update)
{
    return acp_session_send_tool_call(turn->session, update);
}

int acp_turn_send_plan(struct acp_turn *turn, const struct acp_plan_entry *entries, size_t count)
{
    return acp_session_send_plan(turn->session, entries, count);
}

int acp_turn_send_usage(struct acp_turn *turn, const struct acp_usage_update *usage)
{
    return acp_session_send_usage(turn->session, usage);
}
