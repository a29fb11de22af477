/*
 * The client's side of a connection: initialize, the requests it sends and how they end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "acp/client_role.h"
#include "acp/walk.h"

struct acp_outcome client_failed(const struct acp_client *client, int err)
{
    bool told = err == ACP_ERR_CLOSED && client->close_words;
    return (struct acp_outcome){.err = err,
                                .why = acp_str(told ? client->close_words : acp_err_text(err))};
}

void acp_client_explain_close(struct acp_client *client, struct acp_str sentence)
{
    char *copy = acp_str_copy(sentence);
    if (!copy)
        return;
    free(client->close_words);
    client->close_words = copy;
}

/* What a reply says, before its value is looked at. */
static struct acp_outcome outcome_of(const struct acp_client *client, const struct acp_reply *reply)
{
    if (reply->err != ACP_ERR_REMOTE)
        return client_failed(client, reply->err);
    return (struct acp_outcome){
        .err = reply->err, .code = reply->error_code, .why = reply->error_message};
}

/* ---- Requests -------------------------------------------------------------------------------- */

struct client_call *client_call_new(struct acp_client *client,
                                    void (*settle)(struct client_call *, const struct acp_reply *),
                                    acp_type_id result_type, void *user)
{
    struct client_call *call = calloc(1, sizeof(*call));
    if (!call)
        return NULL;
    call->client = client;
    call->settle = settle;
    call->result_type = result_type;
    call->user = user;
    return call;
}

static void free_call(struct client_call *call)
{
    free(call->id);
    free(call->cwd);
    free(call);
}

static void on_reply(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                     void *user)
{
    struct client_call *call = user;
    (void) peer;
    (void) request;
    acp_arena_reset(&call->client->arena);
    call->settle(call, reply);
    free_call(call);
}

int client_send(struct client_call *call, const char *method, acp_type_id type, const void *params,
                uint64_t timeout_ms)
{
    struct acp_client *client = call->client;
    struct acp_request request = {
        .method = acp_str(method), .timeout_ms = timeout_ms, .reply = on_reply, .user = call};
    /* Before initialize has agreed on a version, messages are of the one that is asked for. */
    unsigned mode = client->mode ? client->mode : client->options.versions;
    struct acp_json_writer *w = acp_peer_begin_request(client->peer, &request);
    int err = acp_peer_is_closed(client->peer) ? ACP_ERR_CLOSED : ACP_ERR_LIMIT;
    if (w) {
        if (type == ACP_TYPE_ANY)
            acp_json_write_raw(w, *(const struct acp_raw *) params);
        else
            (void) acp_encode(type, mode, params, w, NULL);
        err = acp_peer_commit(client->peer, NULL);
    }
    if (err)
        free_call(call);
    return err;
}

struct acp_outcome client_outcome(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_client *client = call->client;
    struct acp_outcome outcome = outcome_of(client, reply);
    if (reply->err || call->result_type == ACP_TYPE_ANY)
        return outcome;
    void *value = acp_arena_alloc(&client->arena, acp_type_size(call->result_type));
    /* Some agents answer null where nothing is to be said. */
    bool empty = reply->result.len == 4 && memcmp(reply->result.ptr, "null", 4) == 0;
    outcome.err =
        !value ? ACP_ERR_NOMEM
               : acp_decode(call->result_type, client->mode, empty ? acp_raw("{}") : reply->result,
                            &client->arena, value, NULL);
    if (outcome.err)
        return client_failed(client, ACP_ERR_MALFORMED);
    outcome.value = value;
    return outcome;
}

void client_settle_done(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_outcome outcome = client_outcome(call, reply);
    if (call->then.done)
        call->then.done(call->client, &outcome, call->user);
}

/* ---- initialize ------------------------------------------------------------------------------ */

/* An object without fields, which is how the protocol says yes. */
static const void *yes(bool condition)
{
    return condition ? (const void *) (acp_null_block + 1) : NULL;
}

/* Checks the version that the agent chose and keeps what it said. */
static int agree(struct acp_client *client, struct acp_raw result)
{
    acp_arena_reset(&client->kept);
    struct acp_str copy = acp_arena_copy(&client->kept, acp_str_n(result.ptr, result.len));
    if (!copy.ptr)
        return ACP_ERR_NOMEM;
    struct acp_raw text = acp_raw_n(copy.ptr, copy.len);
    struct acp_initialize_response agent;
    int err = acp_initialize_response_decode(ACP_V1, text, &client->kept, &agent, NULL);
    if (err)
        return ACP_ERR_MALFORMED;
    unsigned version = agent.protocol_version == 1   ? ACP_V1
                       : agent.protocol_version == 2 ? ACP_V2
                                                     : 0;
    if (!(version & client->options.versions))
        return ACP_ERR_VARIANT;
    unsigned mode = version | (client->options.versions & ACP_UNSTABLE);
    if (acp_initialize_response_decode(mode, text, &client->kept, &client->agent, NULL))
        return ACP_ERR_MALFORMED;
    client->mode = mode;
    return 0;
}

static void settle_start(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_client *client = call->client;
    struct acp_outcome outcome = outcome_of(client, reply);
    client->starting = false;
    if (!reply->err) {
        outcome.err = agree(client, reply->result);
        outcome.why = outcome.err == ACP_ERR_VARIANT
                          ? acp_str("the agent speaks a version of the protocol that we do not")
                          : acp_str(acp_err_text(outcome.err));
        outcome.value = outcome.err ? NULL : &client->agent;
    }
    if (call->then.done)
        call->then.done(client, &outcome, call->user);
}

static int send_v1(struct client_call *call, const struct acp_implementation *info)
{
    const struct acp_client_options *o = &call->client->options;
    struct acp_file_system_capabilities fs = {.read_text_file = o->read_files,
                                              .write_text_file = o->write_files};
    struct acp_auth_capabilities auth = {.terminal = o->terminal_login};
    struct acp_elicitation_capabilities elicitation = {.form = yes(o->forms), .url = yes(o->urls)};
    struct acp_session_config_options_capabilities options = {.boolean = yes(true)};
    struct acp_client_session_capabilities session = {
        .config_options = &options,
        .notices = yes(!o->no_notices),
        .compaction = yes(!o->no_compaction),
    };
    struct acp_client_capabilities capabilities = {
        .fs = &fs,
        .terminal = o->terminals,
        .auth = &auth,
        .elicitation = o->forms || o->urls ? &elicitation : NULL,
        .meta = o->capabilities_meta,
        .session = &session,
    };
    struct acp_initialize_request request = {
        .protocol_version = 1, .client_capabilities = &capabilities, .client_info = info};
    return client_send(call, "initialize", ACP_TYPE_INITIALIZE_REQUEST, &request, o->timeout_ms);
}

static int send_v2(struct client_call *call, const struct acp_implementation *info)
{
    const struct acp_client_options *o = &call->client->options;
    struct acp_client_auth_capabilities auth = {.terminal = yes(o->terminal_login)};
    struct acp_elicitation_capabilities elicitation = {.form = yes(o->forms), .url = yes(o->urls)};
    struct acp_client_capabilities capabilities = {
        .auth_v2 = o->terminal_login ? &auth : NULL,
        .elicitation = o->forms || o->urls ? &elicitation : NULL,
        .meta = o->capabilities_meta,
    };
    struct acp_initialize_request request = {
        .protocol_version = 2, .capabilities = &capabilities, .info = *info};
    return client_send(call, "initialize", ACP_TYPE_INITIALIZE_REQUEST, &request, o->timeout_ms);
}

int acp_client_start(struct acp_client *client, acp_client_fn *ready, void *user)
{
    if (client->mode || client->starting)
        return ACP_ERR_STATE;
    struct acp_implementation info = {
        .name = client->options.name.len ? client->options.name : acp_str("unnamed"),
        .version = client->options.version.len ? client->options.version : acp_str("0"),
        .title = client->options.title,
    };
    struct client_call *call =
        client_call_new(client, settle_start, ACP_TYPE_INITIALIZE_RESPONSE, user);
    if (!call)
        return ACP_ERR_NOMEM;
    call->then.done = ready;
    /* The request is in the words of the version asked for, so that is what must encode it. */
    unsigned both = client->options.versions;
    bool v2 = both & ACP_V2;
    client->starting = true;
    client->options.versions = (v2 ? ACP_V2 : ACP_V1) | (both & ACP_UNSTABLE);
    int err = v2 ? send_v2(call, &info) : send_v1(call, &info);
    client->options.versions = both;
    if (err)
        client->starting = false;
    return err;
}

/* ---- Authentication and anything else -------------------------------------------------------- */

static int send_done(struct acp_client *client, const char *method, acp_type_id params_type,
                     const void *params, acp_type_id result_type, acp_client_fn *done, void *user)
{
    struct client_call *call = client_call_new(client, client_settle_done, result_type, user);
    if (!call)
        return ACP_ERR_NOMEM;
    call->then.done = done;
    return client_send(call, method, params_type, params, client->options.timeout_ms);
}

/* The method of that id, if it is one that the protocol drives. */
static bool has_agent_method(const struct acp_client *client, struct acp_str id)
{
    for (size_t i = 0; i < client->agent.auth_methods.count; i++) {
        const struct acp_auth_method *m = &client->agent.auth_methods.items[i];
        if (m->is == ACP_AUTH_METHOD_AGENT &&
            acp_str_eq(client_is_v2(client) ? m->agent.method_id : m->agent.id, id))
            return true;
    }
    return false;
}

int acp_client_authenticate(struct acp_client *client, struct acp_str method, acp_client_fn *done,
                            void *user)
{
    if (!client->mode || !has_agent_method(client, method))
        return ACP_ERR_STATE;
    if (client_is_v2(client)) {
        struct acp_login_auth_request request;
        acp_login_auth_request_init(&request, method);
        return send_done(client, "auth/login", ACP_TYPE_LOGIN_AUTH_REQUEST, &request,
                         ACP_TYPE_LOGIN_AUTH_RESPONSE, done, user);
    }
    struct acp_authenticate_request request;
    acp_authenticate_request_init(&request, method);
    return send_done(client, "authenticate", ACP_TYPE_AUTHENTICATE_REQUEST, &request,
                     ACP_TYPE_AUTHENTICATE_RESPONSE, done, user);
}

int acp_client_logout(struct acp_client *client, acp_client_fn *done, void *user)
{
    if (client_is_v2(client)) {
        struct acp_logout_auth_request request = {0};
        if (client->agent.auth_methods.count == 0)
            return ACP_ERR_STATE;
        return send_done(client, "auth/logout", ACP_TYPE_LOGOUT_AUTH_REQUEST, &request,
                         ACP_TYPE_LOGOUT_AUTH_RESPONSE, done, user);
    }
    const struct acp_agent_capabilities *can = client->agent.agent_capabilities;
    struct acp_logout_request request = {0};
    if (!client->mode || !acp_is_set(can) || !acp_is_set(can->auth) ||
        !acp_is_set(can->auth->logout))
        return ACP_ERR_STATE;
    return send_done(client, "logout", ACP_TYPE_LOGOUT_REQUEST, &request, ACP_TYPE_LOGOUT_RESPONSE,
                     done, user);
}

int acp_client_request(struct acp_client *client, struct acp_str method, acp_type_id params_type,
                       const void *params, acp_type_id result_type, acp_client_fn *done, void *user)
{
    char name[128];
    if (!client->mode || method.len >= sizeof(name))
        return ACP_ERR_STATE;
    memcpy(name, method.ptr, method.len);
    name[method.len] = '\0';
    return send_done(client, name, params_type, params, result_type, done, user);
}

/* ---- What comes in --------------------------------------------------------------------------- */

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct acp_client *client = user;
    (void) peer;
    acp_arena_reset(&client->arena);
    client_serve_request(client, call, message);
}

static void on_notification(struct acp_peer *peer, const struct acp_message *message, void *user)
{
    struct acp_client *client = user;
    (void) peer;
    acp_arena_reset(&client->arena);
    if (acp_str_is(message->method, "session/update"))
        client_serve_update(client, message);
    else if (client->handler.notification)
        client->handler.notification(client, message, client->user);
}

static void on_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    (void) peer;
    client_withdraw(user, call);
}

static void on_trouble(struct acp_peer *peer, enum acp_trouble what, struct acp_str text,
                       void *user)
{
    struct acp_client *client = user;
    (void) peer;
    if (client->handler.trouble)
        client->handler.trouble(client, what, text, client->user);
}

static void on_pressure(struct acp_peer *peer, bool high, void *user)
{
    struct acp_client *client = user;
    (void) peer;
    if (client->handler.pressure)
        client->handler.pressure(client, high, client->user);
}

static void on_output(struct acp_peer *peer, void *user)
{
    struct acp_client *client = user;
    (void) peer;
    if (client->wake)
        client->wake(client->wake_user);
}

static void end_all_sessions(struct acp_client *client, int reason)
{
    struct acp_client_session *session;
    size_t cursor = 0;
    while ((session = acp_map_next(&client->sessions, &cursor, NULL))) {
        client_end_session(session, reason);
        cursor = 0; /* the map has changed */
    }
}

static void on_closed(struct acp_peer *peer, int reason, void *user)
{
    struct acp_client *client = user;
    (void) peer;
    client->closing = true;
    end_all_sessions(client, reason);
    if (client->handler.closed)
        client->handler.closed(client, reason, client->user);
}

/* ---- Life ------------------------------------------------------------------------------------ */

int acp_client_new(const struct acp_client_options *options,
                   const struct acp_client_handler *handler, void *user, struct acp_client **ret)
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
    struct acp_client *client = calloc(1, sizeof(*client));
    if (!client)
        return ACP_ERR_NOMEM;
    client->handler = *handler;
    client->user = user;
    if (options)
        client->options = *options;
    if (!(client->options.versions & (ACP_V1 | ACP_V2)))
        client->options.versions |= ACP_V1;
    acp_arena_init(&client->arena, 0);
    acp_arena_init(&client->kept, 0);
    acp_map_init(&client->sessions, (uintptr_t) client);
    client->options.peer.key = acp_str("update");
    int err = acp_peer_new(&client->options.peer, &peer_handler, client, &client->peer);
    if (err) {
        free(client);
        return err;
    }
    *ret = client;
    return 0;
}

void acp_client_free(struct acp_client *client)
{
    if (!client)
        return;
    acp_peer_close(client->peer, ACP_ERR_CLOSED);
    acp_peer_free(client->peer);
    end_all_sessions(client, ACP_ERR_CLOSED);
    client_forget_early(client);
    free(client->close_words);
    acp_map_finish(&client->sessions);
    acp_arena_finish(&client->arena);
    acp_arena_finish(&client->kept);
    free(client);
}

void acp_client_close(struct acp_client *client, int reason)
{
    acp_peer_close(client->peer, reason);
}

unsigned acp_client_mode(const struct acp_client *client)
{
    return client->mode;
}

const struct acp_initialize_response *acp_client_agent(const struct acp_client *client)
{
    return client->mode ? &client->agent : NULL;
}

struct acp_endpoint acp_client_endpoint(struct acp_client *client)
{
    return acp_peer_endpoint(client->peer);
}

struct acp_peer *acp_client_peer(struct acp_client *client)
{
    return client->peer;
}

void *acp_client_user(const struct acp_client *client)
{
    return client->user;
}

void acp_client_on_output(struct acp_client *client, void (*wake)(void *user), void *user)
{
    client->wake = wake;
    client->wake_user = user;
}
