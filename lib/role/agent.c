/*
 * The agent's side of a connection: sends each request to where it is served, and refuses what must
 * not reach the program.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sized.h"
#include "codec/gate.h"
#include "role/agent_role.h"
#include "role/values.h"
#include "rpc/peer.h"

/* lib/rpc knows JSON-RPC and nothing of this protocol, so it has its codes itself. */
_Static_assert((int) RPC_PARSE_ERROR == (int) ACP_ERROR_CODE_PARSE_ERROR &&
                   (int) RPC_INVALID_REQUEST == (int) ACP_ERROR_CODE_INVALID_REQUEST &&
                   (int) RPC_METHOD_NOT_FOUND == (int) ACP_ERROR_CODE_METHOD_NOT_FOUND &&
                   (int) RPC_INTERNAL_ERROR == (int) ACP_ERROR_CODE_INTERNAL_ERROR,
               "the codes of lib/rpc are those of the description");

/* ---- Refusing -------------------------------------------------------------------------------- */

int agent_refuse(struct acp_agent *agent, acp_call call, int64_t code, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return acp_peer_error(agent->peer, call, code, acp_str_from(message), acp_raw_from(NULL));
}

int agent_refuse_failure(struct acp_agent *agent, acp_call call, const struct acp_failure *failure)
{
    return agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS, "Invalid params: %s%s%s",
                        failure->path, *failure->path ? " " : "", failure->message);
}

int agent_refuse_session(struct acp_agent *agent, acp_call call, struct acp_str id)
{
    return agent_refuse_missing(agent, call, id, acp_str_from("No such session"));
}

int agent_refuse_missing(struct acp_agent *agent, acp_call call, struct acp_str id,
                         struct acp_str message)
{
    struct acp_buf data;
    struct acp_json_writer w;
    acp_buf_init(&data, 8192);
    acp_json_writer_init(&w, &data);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str_from("sessionId"));
    acp_json_write_str(&w, id);
    acp_json_end_object(&w);
    struct acp_str text = acp_buf_view(&data);
    int err = acp_peer_error(agent->peer, call, ACP_ERROR_CODE_RESOURCE_NOT_FOUND, message,
                             w.err ? acp_raw_from(NULL) : acp_raw_n(text.ptr, text.len));
    acp_buf_finish(&data);
    return err;
}

int acp_agent_respond_error(struct acp_agent *agent, acp_call call, int64_t code,
                            struct acp_str message)
{
    return acp_peer_error(agent->peer, call, code, message, acp_raw_from(NULL));
}

/* Programs know answers by their names in version 1; the structs are the same. */
static acp_type_id dialect_answer(const struct acp_agent *agent, acp_type_id type)
{
    if (!agent_is_v2(agent))
        return type;
    return type == ACP_TYPE_AUTHENTICATE_RESPONSE ? ACP_TYPE_LOGIN_AUTH_RESPONSE
           : type == ACP_TYPE_LOGOUT_RESPONSE     ? ACP_TYPE_LOGOUT_AUTH_RESPONSE
                                                  : type;
}

int agent_answer(struct acp_agent *agent, acp_call call, acp_type_id type, const void *value)
{
    struct acp_json_writer *w = acp_peer_begin_result(agent->peer, call);
    acp_role_write_value(type, agent->mode, value, w);
    return acp_peer_commit(agent->peer, NULL);
}

int acp_agent_respond(struct acp_agent *agent, acp_call call, acp_type_id type, const void *value)
{
    type = dialect_answer(agent, type);
    int err = acp_check_answer(agent->peer, call, type, value);
    return err ? err : agent_answer(agent, call, type, value);
}

struct acp_raw acp_agent_meta(const struct acp_agent *agent)
{
    return agent->meta;
}

/* ---- Sending --------------------------------------------------------------------------------- */

int agent_send_request(struct acp_agent *agent, const struct acp_request *request, acp_type_id type,
                       const void *params, uint64_t *ret_request)
{
    struct acp_json_writer *w = acp_peer_begin_request(agent->peer, request);
    acp_role_write_value(type, agent->mode, params, w);
    return acp_peer_commit(agent->peer, ret_request);
}

int acp_agent_request(struct acp_agent *agent, struct acp_str method, acp_type_id type,
                      const void *params, acp_reply_fn *reply, void *user, uint64_t *ret_request)
{
    struct acp_request request = {.method = method, .reply = reply, .user = user};
    int err = agent_check_request(agent, method, type, params);
    if (err)
        return err;
    agent_flush_all(agent);
    return agent_send_request(agent, &request, type, params, ret_request);
}

int acp_agent_notify(struct acp_agent *agent, struct acp_str method, acp_type_id type,
                     const void *params)
{
    int err = agent_check_notification(agent, method, type, params);
    if (err)
        return err;
    agent_flush_all(agent);
    struct acp_json_writer *w = acp_peer_begin_notify(agent->peer, method);
    acp_role_write_value(type, agent->mode, params, w);
    return acp_peer_commit(agent->peer, NULL);
}

int acp_agent_complete_elicitation(struct acp_agent *agent, struct acp_str id)
{
    struct acp_complete_elicitation_notification note;
    acp_complete_elicitation_notification_init(&note, id);
    return acp_agent_notify(agent, acp_str_from("elicitation/complete"),
                            ACP_TYPE_COMPLETE_ELICITATION_NOTIFICATION, &note);
}

/* ---- Dispatch -------------------------------------------------------------------------------- */

static void refuse_method(struct acp_agent *agent, acp_call call)
{
    (void) agent_refuse(agent, call, ACP_ERROR_CODE_METHOD_NOT_FOUND, "Method not found");
}

/* A method of the client's own. */
static void serve_custom(struct acp_agent *agent, acp_call call, const struct acp_message *message)
{
    struct acp_method method = {.name = message->method,
                                .id = ACP_METHOD_NONE,
                                .request = true,
                                .from = ACP_SIDE_CLIENT,
                                .to = ACP_SIDE_AGENT,
                                .params = ACP_TYPE_ANY,
                                .result = ACP_TYPE_ANY};
    if (agent->handler.request)
        agent->handler.request(agent, call, &method, NULL, message, agent->user);
    else
        refuse_method(agent, call);
}

/* The unstable requests, and the services that they belong to. */
static unsigned service_of(int method)
{
    static const struct {
        int method;
        unsigned service;
    } services[] = {
        {ACP_METHOD_SESSION_ARCHIVE, ACP_SERVICE_ARCHIVE},
        {ACP_METHOD_SESSION_UNARCHIVE, ACP_SERVICE_ARCHIVE},
        {ACP_METHOD_SESSION_STATUS, ACP_SERVICE_STATUS},
        {ACP_METHOD_SESSION_SET_TITLE, ACP_SERVICE_TITLE},
        {ACP_METHOD_PROVIDERS_LIST, ACP_SERVICE_PROVIDERS},
        {ACP_METHOD_PROVIDERS_SET, ACP_SERVICE_PROVIDERS},
        {ACP_METHOD_PROVIDERS_DISABLE, ACP_SERVICE_PROVIDERS},
        {ACP_METHOD_AUTH_STATUS, ACP_SERVICE_AUTH_STATUS},
    };
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
        if (services[i].method == method)
            return services[i].service;
    return 0;
}

static void serve_service(struct acp_agent *agent, acp_call call, const struct acp_method *method,
                          const struct acp_message *message)
{
    struct acp_raw json = message->params.ptr ? message->params : acp_raw_from("{}");
    struct acp_failure failure;
    if (!agent_offers(agent, service_of(method->id)) || !agent->handler.request) {
        refuse_method(agent, call);
        return;
    }
    void *params = acp_arena_alloc(&agent->arena, acp_type_size(method->params));
    if (!params)
        (void) acp_peer_error_for(agent->peer, call, ACP_ERR_NOMEM);
    else if (acp_decode(method->params, agent->mode, json, &agent->arena, params, &failure))
        (void) agent_refuse_failure(agent, call, &failure);
    else
        agent->handler.request(agent, call, method, params, message, agent->user);
}

/* Whether the program has what the method needs; some of version 2 is needed always. */
static bool is_offered(const struct acp_agent *agent, int method)
{
    const struct acp_agent_handler *h = &agent->handler;
    switch (method) {
    case ACP_METHOD_SESSION_LOAD:
        return h->load_session;
    case ACP_METHOD_SESSION_RESUME:
        return h->resume_session || agent_is_v2(agent);
    case ACP_METHOD_SESSION_FORK:
        return h->fork_session;
    case ACP_METHOD_SESSION_LIST:
        return h->list_sessions || agent_is_v2(agent);
    case ACP_METHOD_SESSION_DELETE:
        return h->delete_session;
    case ACP_METHOD_SESSION_SET_MODE:
        return h->set_mode;
    case ACP_METHOD_SESSION_SET_CONFIG_OPTION:
        return h->set_option || (h->set_mode && agent_is_v2(agent));
    case ACP_METHOD_AUTHENTICATE:
    case ACP_METHOD_AUTH_LOGIN:
        return h->authenticate && agent->options.auth_methods.count > 0;
    case ACP_METHOD_LOGOUT:
    case ACP_METHOD_AUTH_LOGOUT:
        return h->logout;
    default:
        return true;
    }
}

static void serve(struct acp_agent *agent, acp_call call, const struct acp_method *method,
                  const struct acp_message *message)
{
    struct acp_raw params = message->params.ptr ? message->params : acp_raw_from("{}");
    switch (method->id) {
    case ACP_METHOD_SESSION_NEW:
        agent_serve_new(agent, call, params);
        break;
    case ACP_METHOD_SESSION_LOAD:
        agent_serve_load(agent, call, params);
        break;
    case ACP_METHOD_SESSION_RESUME:
        agent_serve_resume(agent, call, params);
        break;
    case ACP_METHOD_SESSION_FORK:
        agent_serve_fork(agent, call, params);
        break;
    case ACP_METHOD_SESSION_LIST:
        agent_serve_list(agent, call, params);
        break;
    case ACP_METHOD_SESSION_CLOSE:
        agent_serve_close(agent, call, params);
        break;
    case ACP_METHOD_SESSION_DELETE:
        agent_serve_delete(agent, call, params);
        break;
    case ACP_METHOD_SESSION_PROMPT:
        agent_serve_prompt(agent, call, params);
        break;
    case ACP_METHOD_SESSION_SET_MODE:
        agent_serve_set_mode(agent, call, params);
        break;
    case ACP_METHOD_SESSION_SET_CONFIG_OPTION:
        agent_serve_set_option(agent, call, params);
        break;
    case ACP_METHOD_AUTHENTICATE:
    case ACP_METHOD_AUTH_LOGIN:
        agent_serve_authenticate(agent, call, params, method->params);
        break;
    case ACP_METHOD_LOGOUT:
    case ACP_METHOD_AUTH_LOGOUT:
        agent->handler.logout(agent, call, agent->user);
        break;
    case ACP_METHOD_TOOL_CALL_CANCEL:
        agent_serve_cancel_tool(agent, call, params);
        break;
    case ACP_METHOD_TERMINAL_CANCEL:
        agent_serve_cancel_terminal(agent, call, params);
        break;
    default:
        serve_service(agent, call, method, message);
    }
}

/* The _meta of a message; anything but an object is none. */
static struct acp_raw meta_of(const struct acp_message *message)
{
    bool is_object = message->key.ptr && message->key.len && *message->key.ptr == '{';
    return is_object ? message->key : acp_raw_from(NULL);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct acp_agent *agent = user;
    struct acp_method method;
    acp_arena_reset(&agent->arena);
    if (acp_str_is(message->method, "initialize")) {
        agent_serve_initialize(agent, call,
                               message->params.ptr ? message->params : acp_raw_from("{}"));
        return;
    }
    if (!agent->mode) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_REQUEST,
                            "Send initialize before anything else");
        return;
    }
    agent->served = true;
    agent->meta = meta_of(message);
    if (agent_is_custom(message->method)) {
        serve_custom(agent, call, message);
    } else if (acp_str_is(message->method, "session/cancel")) {
        agent_serve_cancel_request(agent, call, message->params);
    } else if (!acp_method_find(message->method, ACP_SIDE_CLIENT, agent->mode, &method) ||
               !method.request || !is_offered(agent, method.id)) {
        refuse_method(agent, call);
    } else {
        acp_note_result_type(peer, call, method.result);
        serve(agent, call, &method, message);
    }
    agent->meta = acp_raw_from(NULL);
}

static void on_notification(struct acp_peer *peer, const struct acp_message *message, void *user)
{
    struct acp_agent *agent = user;
    (void) peer;
    if (!agent->mode)
        return;
    acp_arena_reset(&agent->arena);
    bool is_theirs =
        agent_is_custom(message->method) ||
        (agent_offers(agent, ACP_SERVICE_MCP) && acp_str_is(message->method, "mcp/message"));
    agent->meta = meta_of(message);
    if (acp_str_is(message->method, "session/cancel"))
        agent_serve_cancel(agent, message->params);
    else if (is_theirs && agent->handler.notification)
        agent->handler.notification(agent, message, agent->user);
    agent->meta = acp_raw_from(NULL);
}

/* A prompt that is no longer wanted is cancelled like any other. */
static void on_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    struct acp_agent *agent = user;
    size_t cursor = 0;
    struct acp_session *session;
    (void) peer;
    while ((session = acp_map_next(&agent->sessions, &cursor, NULL))) {
        if (session->turn && session->turn->call == call) {
            agent_cancel_turn(session->turn);
            return;
        }
    }
    if (agent->handler.cancel_request)
        agent->handler.cancel_request(agent, call, agent->user);
}

static void on_peer_wake(void *user)
{
    struct acp_agent *agent = user;
    acp_endpoint_wake(&agent->endpoint);
}

static void on_protocol_error(struct acp_peer *peer, enum acp_protocol_error what,
                              struct acp_str text, void *user)
{
    struct acp_agent *agent = user;
    (void) peer;
    if (agent->handler.protocol_error)
        agent->handler.protocol_error(agent, what, text, agent->user);
}

static void on_pressure(struct acp_peer *peer, bool high, void *user)
{
    struct acp_agent *agent = user;
    (void) peer;
    if (agent->watch && !high)
        agent->watch->relieved(agent->watch);
    if (agent->handler.pressure)
        agent->handler.pressure(agent, high, agent->user);
}

static void end_all_sessions(struct acp_agent *agent)
{
    struct acp_session *session;
    size_t cursor = 0;
    while ((session = acp_map_next(&agent->sessions, &cursor, NULL))) {
        agent_end_session(session);
        cursor = 0; /* the map has changed */
    }
    while (agent->pending)
        agent_end_session(agent->pending);
}

void acp_agent_end_sessions(struct acp_agent *agent)
{
    struct acp_peer *peer = agent->peer;
    acp_rpc_enter(peer);
    end_all_sessions(agent);
    acp_rpc_leave(peer);
}

/* Once, and before the role is freed: it may be, while its sessions end. */
static void tell_closed(struct acp_agent *agent, int reason)
{
    if (agent->closed_told)
        return;
    agent->closed_told = true;
    if (agent->handler.closed)
        agent->handler.closed(agent, reason, agent->user);
}

static void on_closed(struct acp_peer *peer, int reason, void *user)
{
    struct acp_agent *agent = user;
    (void) peer;
    agent->closing = true;
    end_all_sessions(agent);
    tell_closed(agent, reason);
}

/* ---- Life ------------------------------------------------------------------------------------ */

int acp_agent_new_sized(const struct acp_agent_options *options, size_t options_size,
                        const struct acp_agent_handler *handler, size_t handler_size, void *user,
                        struct acp_agent **ret)
{
    static const struct acp_peer_handler peer_handler = {
        .request = on_request,
        .notification = on_notification,
        .cancel = on_cancel,
        .protocol_error = on_protocol_error,
        .pressure = on_pressure,
        .closed = on_closed,
    };
    struct acp_agent *agent = calloc(1, sizeof(*agent));
    if (!agent)
        return ACP_ERR_NOMEM;
    int err = ACP_SIZED_COPY(&agent->options, options, options_size);
    if (!err)
        err = ACP_SIZED_COPY(&agent->handler, handler, handler_size);
    /* Without randomness every process would give its first session the same id. */
    if (!err && (!agent->handler.prompt || (!agent->options.seed[0] && !agent->options.seed[1])))
        err = ACP_ERR_ARGUMENT;
    if (err) {
        free(agent);
        return err;
    }
    agent->user = user;
    if (!(agent->options.versions & (ACP_V1 | ACP_V2)))
        agent->options.versions |= ACP_V1;
    if (!agent->options.merge_chars)
        agent->options.merge_chars = 100;
    if (!agent->options.merge_ms)
        agent->options.merge_ms = 50;
    acp_arena_init(&agent->arena, AGENT_MAX_DECODED);
    acp_arena_init(&agent->kept, AGENT_MAX_KEPT);
    acp_buf_init(&agent->update_json, (size_t) ACP_WIRE_DEFAULT_MAX);
    acp_map_init(&agent->sessions, agent->options.seed[0]);
    acp_map_init(&agent->texts, agent->options.seed[0]);
    agent->options.peer.key = acp_str_from("_meta");
    err = acp_peer_new(&agent->options.peer, &peer_handler, agent, &agent->peer);
    if (err) {
        free(agent);
        return err;
    }
    acp_endpoint_init(&agent->endpoint, &agent_endpoint_handler, agent);
    acp_endpoint_on_wake(acp_peer_endpoint(agent->peer), on_peer_wake, agent);
    *ret = agent;
    return 0;
}

static void destroy(void *user)
{
    struct acp_agent *agent = user;
    acp_map_finish(&agent->sessions);
    acp_map_finish(&agent->texts);
    acp_arena_finish(&agent->arena);
    acp_arena_finish(&agent->kept);
    acp_buf_finish(&agent->update_json);
    free(agent);
}

/* The memory goes with the peer's: when no call into it is on the stack any more. */
void acp_agent_free(struct acp_agent *agent)
{
    if (!agent || agent->freeing)
        return;
    struct acp_peer *peer = agent->peer;
    agent->freeing = true;
    acp_rpc_enter(peer);
    acp_rpc_on_destroy(peer, destroy, agent);
    acp_peer_close(peer, ACP_ERR_CLOSED);
    end_all_sessions(agent);
    tell_closed(agent, ACP_ERR_CLOSED);
    if (agent->watch)
        acp_agent_remove_observer(agent->watch);
    acp_endpoint_on_wake(&agent->endpoint, NULL, NULL);
    acp_peer_free(peer);
    acp_rpc_leave(peer);
}

void acp_agent_close(struct acp_agent *agent, int reason)
{
    acp_peer_close(agent->peer, reason);
}

int acp_agent_set_observer(struct acp_agent *agent, struct acp_agent_observer *watch)
{
    if (agent->watch)
        return ACP_ERR_STATE;
    agent->watch = watch;
    watch->agent = agent;
    return 0;
}

void acp_agent_remove_observer(struct acp_agent_observer *watch)
{
    if (watch->agent)
        watch->agent->watch = NULL;
    watch->agent = NULL;
}

unsigned acp_agent_protocol(const struct acp_agent *agent)
{
    return agent->mode;
}

const struct acp_client_capabilities *acp_agent_client_capabilities(const struct acp_agent *agent)
{
    return agent->client;
}

void *acp_agent_user(const struct acp_agent *agent)
{
    return agent->user;
}

bool acp_agent_is_above_high_water(const struct acp_agent *agent)
{
    return acp_peer_is_above_high_water(agent->peer);
}

struct acp_peer *acp_agent_peer(struct acp_agent *agent)
{
    return agent->peer;
}

struct acp_session *acp_agent_find_session(const struct acp_agent *agent, struct acp_str id)
{
    return acp_map_get(&agent->sessions, id);
}

/* ---- The endpoint: the peer's, with the time that text is due -------------------------------- */

/* Text said since the last call with a time is due from now on. */
static void begin_timed(struct acp_agent *agent, uint64_t now)
{
    if (now > agent->now)
        agent->now = now;
    acp_rpc_enter(agent->peer);
    agent->timed++;
    if (!agent->unarmed)
        return;
    agent->unarmed = false;
    for (struct acp_session *s = agent->merging; s; s = s->next_merging)
        if (!s->text_due)
            s->text_due = agent->now + agent->options.merge_ms;
}

/* The agent may be gone afterwards. */
static void end_timed(struct acp_agent *agent)
{
    agent->timed--;
    acp_rpc_leave(agent->peer);
}

static int endpoint_receive(void *self, const void *bytes, size_t n, uint64_t now)
{
    struct acp_agent *agent = self;
    begin_timed(agent, now);
    int err = acp_peer_receive(agent->peer, bytes, n, now);
    end_timed(agent);
    return err;
}

static void endpoint_receive_end(void *self, uint64_t now)
{
    struct acp_agent *agent = self;
    begin_timed(agent, now);
    acp_peer_receive_end(agent->peer, now);
    end_timed(agent);
}

static int endpoint_receive_message(void *self, struct acp_raw text, uint64_t now)
{
    struct acp_agent *agent = self;
    begin_timed(agent, now);
    int err = acp_peer_receive_message(agent->peer, text, now);
    end_timed(agent);
    return err;
}

static struct acp_str endpoint_output(void *self)
{
    return agent_free_output(self);
}

static void endpoint_sent(void *self, size_t n)
{
    struct acp_agent *agent = self;
    struct acp_peer *peer = agent->peer;
    acp_rpc_enter(peer);
    agent->sent += n;
    acp_peer_sent(peer, n);
    /* Nothing is on its way any more that text would have to wait for. */
    if (agent->options.merge_waiting && acp_peer_output(peer).len == 0)
        agent_flush_all(agent);
    acp_rpc_leave(peer);
}

static uint64_t endpoint_deadline(void *self)
{
    struct acp_agent *agent = self;
    uint64_t deadline = acp_peer_deadline(agent->peer);
    if (agent->unarmed && agent->merging)
        return 0;
    if (agent->merging && agent->merging->text_due < deadline)
        deadline = agent->merging->text_due;
    return deadline;
}

static void endpoint_tick(void *self, uint64_t now)
{
    struct acp_agent *agent = self;
    begin_timed(agent, now);
    while (agent->merging && agent->merging->text_due <= now)
        (void) agent_flush_text(agent->merging);
    acp_peer_tick(agent->peer, now);
    end_timed(agent);
}

static bool endpoint_paused(void *self)
{
    return acp_agent_is_above_high_water(self);
}

static bool endpoint_holding(void *self)
{
    const struct acp_agent *agent = self;
    return acp_peer_output(agent->peer).len > agent_free_output(agent).len;
}

const struct acp_endpoint_handler agent_endpoint_handler = {
    .receive = endpoint_receive,
    .receive_end = endpoint_receive_end,
    .receive_message = endpoint_receive_message,
    .output = endpoint_output,
    .sent = endpoint_sent,
    .deadline = endpoint_deadline,
    .tick = endpoint_tick,
    .paused = endpoint_paused,
    .holding = endpoint_holding,
};

struct acp_endpoint *acp_agent_endpoint(struct acp_agent *agent)
{
    return &agent->endpoint;
}
