/*
 * The agent's side of a connection: agrees on a version, sends each request to where it is served,
 * and refuses what must not reach the program.
 */
#include "acp/agent_role.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "acp/walk.h"

static const struct acp_str no_name = ACP_STR("unnamed");
static const struct acp_str no_version = ACP_STR("0");

/* ---- Refusing -------------------------------------------------------------------------------- */

int agent_refuse(struct acp_agent *agent, acp_call call, int64_t code, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return acp_peer_error(agent->peer, call, code, acp_str(message), acp_raw(NULL));
}

int agent_refuse_failure(struct acp_agent *agent, acp_call call, const struct acp_failure *failure)
{
    return agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS, "Invalid params: %s%s%s",
                        failure->path, *failure->path ? " " : "", failure->message);
}

int agent_refuse_session(struct acp_agent *agent, acp_call call, struct acp_str id)
{
    return agent_refuse_missing(agent, call, id, acp_str("No such session"));
}

int agent_refuse_missing(struct acp_agent *agent, acp_call call, struct acp_str id,
                         struct acp_str message)
{
    struct acp_buf data;
    struct acp_json_writer w;
    acp_buf_init(&data, 8192);
    acp_json_writer_init(&w, &data);
    acp_json_begin_object(&w);
    acp_json_write_key(&w, acp_str("sessionId"));
    acp_json_write_str(&w, id);
    acp_json_end_object(&w);
    struct acp_str text = acp_buf_view(&data);
    int err = acp_peer_error(agent->peer, call, ACP_ERROR_CODE_RESOURCE_NOT_FOUND, message,
                             w.err ? acp_raw(NULL) : acp_raw_n(text.ptr, text.len));
    acp_buf_finish(&data);
    return err;
}

int acp_agent_refuse(struct acp_agent *agent, acp_call call, int64_t code, struct acp_str message)
{
    return acp_peer_error(agent->peer, call, code, message, acp_raw(NULL));
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

int acp_agent_answer(struct acp_agent *agent, acp_call call, acp_type_id type, const void *value)
{
    struct acp_json_writer *w = acp_peer_begin_result(agent->peer, call);
    if (!w)
        return acp_peer_is_closed(agent->peer) ? ACP_ERR_CLOSED : ACP_ERR_UNKNOWN;
    (void) acp_encode(dialect_answer(agent, type), agent->mode, value, w, NULL);
    return acp_peer_commit(agent->peer, NULL);
}

/* ---- initialize ------------------------------------------------------------------------------ */

/* The version to speak, or 0 when there is none in common. */
static unsigned choose_version(const struct acp_agent *agent, int64_t requested)
{
    unsigned offered = agent->options.versions & (ACP_V1 | ACP_V2);
    if (offered == ACP_V1)
        return ACP_V1; /* the client decides whether it can live with that */
    if (requested >= 2)
        return ACP_V2;
    return requested == 1 && (offered & ACP_V1) ? ACP_V1 : 0;
}

static void refuse_version(struct acp_agent *agent, acp_call call, int64_t requested)
{
    bool both = agent->options.versions & ACP_V1;
    char data[80];
    (void) snprintf(data, sizeof(data), "{\"requested\":%lld,\"supported\":[%s2]}",
                    (long long) requested, both ? "1," : "");
    (void) acp_peer_error(agent->peer, call, ACP_ERROR_CODE_UNSUPPORTED_PROTOCOL_VERSION,
                          acp_str("Unsupported protocol version"), acp_raw(data));
}

/* The environment is a map in version 1 and a list in version 2. */
static struct acp_env_variable_list list_env(struct acp_agent *agent, struct acp_str_map env)
{
    struct acp_env_variable_list list = {NULL, 0};
    struct acp_env_variable *items = acp_arena_alloc(&agent->arena, env.count * sizeof(*items));
    if (!items || env.count == 0)
        return list;
    for (size_t i = 0; i < env.count; i++)
        acp_env_variable_init(&items[i], env.items[i].key, env.items[i].value);
    list.items = items;
    list.count = env.count;
    return list;
}

static struct acp_auth_method dialect_terminal(struct acp_agent *agent, struct acp_auth_method m)
{
    if (!m.terminal.method_id.ptr)
        m.terminal.method_id = m.terminal.id;
    if (!m.terminal.env_v2.items)
        m.terminal.env_v2 = list_env(agent, m.terminal.env);
    return m;
}

/*
 * Terminal methods are only for clients that can run them; ids are named differently in version 2.
 */
static struct acp_auth_method_list offered_methods(struct acp_agent *agent, unsigned mode,
                                                   bool terminal)
{
    struct acp_auth_method_list all = agent->options.auth_methods;
    struct acp_auth_method_list list = {NULL, 0};
    struct acp_auth_method *copies =
        acp_arena_alloc(&agent->arena, all.count * sizeof(struct acp_auth_method));
    if (!copies)
        return list;
    for (size_t i = 0; i < all.count; i++) {
        struct acp_auth_method m = all.items[i];
        if (m.is == ACP_AUTH_METHOD_TERMINAL && !terminal)
            continue;
        if (mode & ACP_V2 && m.is == ACP_AUTH_METHOD_AGENT && !m.agent.method_id.ptr)
            m.agent.method_id = m.agent.id;
        if (mode & ACP_V2 && m.is == ACP_AUTH_METHOD_TERMINAL)
            m = dialect_terminal(agent, m);
        copies[list.count++] = m;
    }
    list.items = copies;
    return list;
}

/* An object without fields, which is how the protocol says yes. */
#define MARKER(type, condition) ((condition) ? (const struct acp_##type *) acp_zeroed() : NULL)

static const void *acp_zeroed(void)
{
    return acp_null_block + 1;
}

static void answer_v1(struct acp_agent *agent, acp_call call, const struct acp_implementation *info)
{
    const struct acp_agent_handler *h = &agent->handler;
    const struct acp_agent_options *o = &agent->options;
    bool terminal = agent->client->auth && agent->client->auth->terminal;
    struct acp_prompt_capabilities prompt = {
        .image = o->images, .audio = o->audio, .embedded_context = o->embedded_context};
    struct acp_mcp_capabilities mcp = {.http = o->mcp_http, .sse = o->mcp_sse};
    struct acp_session_capabilities session = {
        .list = MARKER(session_list_capabilities, h->list_sessions),
        .resume = MARKER(session_resume_capabilities, h->resume_session),
        .close = acp_zeroed(),
        .delete_ = MARKER(session_delete_capabilities, h->delete_session),
        .additional_directories =
            MARKER(session_additional_directories_capabilities, o->additional_directories),
    };
    struct acp_agent_auth_capabilities auth = {.logout = MARKER(logout_capabilities, h->logout)};
    struct acp_agent_capabilities capabilities = {
        .load_session = h->load_session != NULL,
        .prompt_capabilities = &prompt,
        .mcp_capabilities = &mcp,
        .session_capabilities = &session,
        .auth = &auth,
        .meta = o->capabilities_meta,
    };
    struct acp_initialize_response answer = {
        .protocol_version = 1,
        .agent_capabilities = &capabilities,
        .agent_info = info,
        .auth_methods = offered_methods(agent, ACP_V1, terminal),
    };
    (void) acp_agent_answer(agent, call, ACP_TYPE_INITIALIZE_RESPONSE, &answer);
}

static void answer_v2(struct acp_agent *agent, acp_call call, const struct acp_implementation *info)
{
    const struct acp_agent_handler *h = &agent->handler;
    const struct acp_agent_options *o = &agent->options;
    bool terminal = agent->client->auth_v2 && acp_is_set(agent->client->auth_v2->terminal);
    struct acp_prompt_capabilities prompt = {
        .image_v2 = MARKER(prompt_image_capabilities, o->images),
        .audio_v2 = MARKER(prompt_audio_capabilities, o->audio),
        .embedded_context_v2 = MARKER(prompt_embedded_context_capabilities, o->embedded_context),
    };
    struct acp_mcp_capabilities mcp = {
        .stdio = acp_zeroed(),
        .http_v2 = MARKER(mcp_http_capabilities, o->mcp_http),
    };
    struct acp_session_capabilities session = {
        .prompt = &prompt,
        .mcp = &mcp,
        .delete_ = MARKER(session_delete_capabilities, h->delete_session),
        .additional_directories =
            MARKER(session_additional_directories_capabilities, o->additional_directories),
    };
    struct acp_agent_capabilities capabilities = {.session = &session,
                                                  .meta = o->capabilities_meta};
    struct acp_initialize_response answer = {
        .protocol_version = 2,
        .capabilities = &capabilities,
        .info = *info,
        .auth_methods = offered_methods(agent, ACP_V2, terminal),
    };
    (void) acp_agent_answer(agent, call, ACP_TYPE_INITIALIZE_RESPONSE, &answer);
}

/* What initialize says stays for the life of the connection. */
static int keep_client(struct acp_agent *agent, unsigned mode, struct acp_raw params, bool lenient,
                       struct acp_failure *failure)
{
    static const struct acp_client_capabilities nothing = {0};
    struct acp_initialize_request request = {0};
    agent->client = &nothing;
    acp_arena_reset(&agent->kept);
    struct acp_str copy = acp_arena_copy(&agent->kept, acp_str_n(params.ptr, params.len));
    if (!copy.ptr)
        return acp_failure_set(failure, ACP_ERR_NOMEM, "out of memory");
    int err = acp_initialize_request_decode(mode, acp_raw_n(copy.ptr, copy.len), &agent->kept,
                                            &request, failure);
    const struct acp_client_capabilities *said =
        mode & ACP_V2 ? request.capabilities : request.client_capabilities;
    if (!err && acp_is_set(said))
        agent->client = said;
    return lenient ? 0 : err;
}

static void serve_initialize(struct acp_agent *agent, acp_call call, struct acp_raw params)
{
    struct acp_initialize_request hello;
    struct acp_failure failure = {0};
    if (agent->served) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_REQUEST,
                            "initialize came after the conversation had begun");
        return;
    }
    if (acp_initialize_request_decode(ACP_V1, params, &agent->arena, &hello, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    unsigned version = choose_version(agent, hello.protocol_version);
    if (!version || (agent->mode & ACP_V2 && version == ACP_V1)) {
        refuse_version(agent, call, hello.protocol_version);
        return;
    }
    unsigned mode = version | (agent->options.versions & ACP_UNSTABLE);
    /* The params of a version that is newer than all we know are read as far as they make sense. */
    bool lenient = version == ACP_V1 || hello.protocol_version > 2;
    if (keep_client(agent, mode, params, lenient, &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    agent->mode = mode;
    struct acp_implementation info = {
        .name = agent->options.name.len ? agent->options.name : no_name,
        .version = agent->options.version.len ? agent->options.version : no_version,
        .title = agent->options.title,
    };
    if (version == ACP_V2)
        answer_v2(agent, call, &info);
    else
        answer_v1(agent, call, &info);
}

/* ---- Authentication -------------------------------------------------------------------------- */

static bool knows_method(const struct acp_agent *agent, struct acp_str id)
{
    for (size_t i = 0; i < agent->options.auth_methods.count; i++) {
        const struct acp_auth_method *m = &agent->options.auth_methods.items[i];
        if (m->is == ACP_AUTH_METHOD_AGENT &&
            (acp_str_eq(m->agent.id, id) || acp_str_eq(m->agent.method_id, id)))
            return true;
    }
    return false;
}

static void serve_authenticate(struct acp_agent *agent, acp_call call, struct acp_raw params,
                               acp_type_id type)
{
    struct acp_failure failure;
    struct acp_authenticate_request v1;
    struct acp_login_auth_request v2;
    bool is_v2 = type == ACP_TYPE_LOGIN_AUTH_REQUEST;
    if (acp_decode(type, agent->mode, params, &agent->arena, is_v2 ? (void *) &v2 : (void *) &v1,
                   &failure)) {
        (void) agent_refuse_failure(agent, call, &failure);
        return;
    }
    struct acp_str method = is_v2 ? v2.method_id : v1.method_id;
    if (!knows_method(agent, method))
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                            "There is no such way to authenticate");
    else
        agent->handler.authenticate(agent, call, method, agent->user);
}

/* ---- Dispatch -------------------------------------------------------------------------------- */

static bool is_custom(struct acp_str method)
{
    return method.len > 0 && method.ptr[0] == '_';
}

static void not_found(struct acp_agent *agent, acp_call call, const struct acp_message *message)
{
    if (agent->handler.request && (is_custom(message->method) || agent->mode & ACP_UNSTABLE))
        agent->handler.request(agent, call, message, agent->user);
    else
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_METHOD_NOT_FOUND, "Method not found");
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
    struct acp_raw params = message->params.ptr ? message->params : acp_raw("{}");
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
        serve_authenticate(agent, call, params, method->params);
        break;
    case ACP_METHOD_LOGOUT:
    case ACP_METHOD_AUTH_LOGOUT:
        agent->handler.logout(agent, call, agent->user);
        break;
    case ACP_METHOD_TOOL_CALL_CANCEL:
    case ACP_METHOD_TERMINAL_CANCEL:
        /* Nothing of ours is offered for that, so whatever is meant is not cancellable. */
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_PARAMS,
                            "It cannot be cancelled by itself");
        break;
    default:
        not_found(agent, call, message);
    }
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct acp_agent *agent = user;
    struct acp_method method;
    (void) peer;
    acp_arena_reset(&agent->arena);
    if (acp_str_is(message->method, "initialize")) {
        serve_initialize(agent, call, message->params.ptr ? message->params : acp_raw("{}"));
        return;
    }
    if (!agent->mode) {
        (void) agent_refuse(agent, call, ACP_ERROR_CODE_INVALID_REQUEST,
                            "Send initialize before anything else");
        return;
    }
    agent->served = true;
    if (!acp_method_find(message->method, ACP_SIDE_CLIENT, agent->mode, &method) ||
        !method.request || !is_offered(agent, method.id))
        not_found(agent, call, message);
    else
        serve(agent, call, &method, message);
}

static void on_notification(struct acp_peer *peer, const struct acp_message *message, void *user)
{
    struct acp_agent *agent = user;
    (void) peer;
    if (!agent->mode)
        return;
    acp_arena_reset(&agent->arena);
    if (acp_str_is(message->method, "session/cancel"))
        agent_serve_cancel(agent, message->params);
    else if (agent->handler.notification)
        agent->handler.notification(agent, message, agent->user);
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

static void on_output(struct acp_peer *peer, void *user)
{
    struct acp_agent *agent = user;
    (void) peer;
    if (agent->wake)
        agent->wake(agent->wake_user);
}

static void on_trouble(struct acp_peer *peer, enum acp_trouble what, struct acp_str text,
                       void *user)
{
    struct acp_agent *agent = user;
    (void) peer;
    if (agent->handler.trouble)
        agent->handler.trouble(agent, what, text, agent->user);
}

static void on_pressure(struct acp_peer *peer, bool high, void *user)
{
    struct acp_agent *agent = user;
    (void) peer;
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
    while (agent->unnamed)
        agent_end_session(agent->unnamed);
}

static void on_closed(struct acp_peer *peer, int reason, void *user)
{
    struct acp_agent *agent = user;
    (void) peer;
    agent->closing = true;
    end_all_sessions(agent);
    if (agent->handler.closed)
        agent->handler.closed(agent, reason, agent->user);
}

/* ---- Life ------------------------------------------------------------------------------------ */

int acp_agent_new(const struct acp_agent_options *options, const struct acp_agent_handler *handler,
                  void *user, struct acp_agent **ret)
{
    static const struct acp_peer_handler peer_handler = {
        .request = on_request,
        .notification = on_notification,
        .cancel = on_cancel,
        .trouble = on_trouble,
        .output = on_output,
        .pressure = on_pressure,
        .closed = on_closed,
    };
    if (!handler->prompt)
        return ACP_ERR_ARGUMENT;
    struct acp_agent *agent = calloc(1, sizeof(*agent));
    if (!agent)
        return ACP_ERR_NOMEM;
    agent->handler = *handler;
    agent->user = user;
    if (options)
        agent->options = *options;
    if (!(agent->options.versions & (ACP_V1 | ACP_V2)))
        agent->options.versions |= ACP_V1;
    if (!agent->options.merge_chars)
        agent->options.merge_chars = 100;
    if (!agent->options.merge_ms)
        agent->options.merge_ms = 50;
    acp_arena_init(&agent->arena, 0);
    acp_arena_init(&agent->kept, 0);
    acp_map_init(&agent->sessions, agent->options.seed[0]);
    int err = acp_peer_new(&agent->options.peer, &peer_handler, agent, &agent->peer);
    if (err) {
        free(agent);
        return err;
    }
    *ret = agent;
    return 0;
}

void acp_agent_free(struct acp_agent *agent)
{
    if (!agent)
        return;
    acp_peer_close(agent->peer, ACP_ERR_CLOSED);
    acp_peer_free(agent->peer);
    end_all_sessions(agent);
    acp_map_finish(&agent->sessions);
    acp_arena_finish(&agent->arena);
    acp_arena_finish(&agent->kept);
    free(agent);
}

void acp_agent_close(struct acp_agent *agent, int reason)
{
    acp_peer_close(agent->peer, reason);
}

unsigned acp_agent_mode(const struct acp_agent *agent)
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

bool acp_agent_is_pressed(const struct acp_agent *agent)
{
    return acp_peer_is_pressed(agent->peer);
}

struct acp_peer *acp_agent_peer(struct acp_agent *agent)
{
    return agent->peer;
}

struct acp_session *acp_agent_session(const struct acp_agent *agent, struct acp_str id)
{
    return acp_map_get(&agent->sessions, id);
}

void acp_agent_on_output(struct acp_agent *agent, void (*wake)(void *user), void *user)
{
    agent->wake = wake;
    agent->wake_user = user;
}

/* ---- The endpoint: the peer's, with the time that text is due -------------------------------- */

static int endpoint_receive(void *self, const void *bytes, size_t n, uint64_t now)
{
    struct acp_agent *agent = self;
    agent->now = now;
    return acp_peer_receive(agent->peer, bytes, n, now);
}

static void endpoint_receive_end(void *self, uint64_t now)
{
    struct acp_agent *agent = self;
    agent->now = now;
    acp_peer_receive_end(agent->peer, now);
}

static struct acp_str endpoint_output(void *self)
{
    return acp_peer_output(((struct acp_agent *) self)->peer);
}

static void endpoint_sent(void *self, size_t n)
{
    acp_peer_sent(((struct acp_agent *) self)->peer, n);
}

static uint64_t endpoint_deadline(void *self)
{
    struct acp_agent *agent = self;
    uint64_t deadline = acp_peer_deadline(agent->peer);
    if (agent->merging && agent->merging->text_due < deadline)
        deadline = agent->merging->text_due;
    return deadline;
}

static void endpoint_tick(void *self, uint64_t now)
{
    struct acp_agent *agent = self;
    agent->now = now;
    while (agent->merging && agent->merging->text_due <= now)
        (void) agent_flush_text(agent->merging);
    acp_peer_tick(agent->peer, now);
}

static bool endpoint_paused(void *self)
{
    return acp_agent_is_pressed(self);
}

struct acp_endpoint acp_agent_endpoint(struct acp_agent *agent)
{
    return (struct acp_endpoint){
        .self = agent,
        .receive = endpoint_receive,
        .receive_end = endpoint_receive_end,
        .output = endpoint_output,
        .sent = endpoint_sent,
        .deadline = endpoint_deadline,
        .tick = endpoint_tick,
        .paused = endpoint_paused,
    };
}
