/*
 * What the client asks: requests and how they end, what may be sent at all, logging in and out.
 */
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/gate.h"
#include "role/client_role.h"
#include "role/values.h"

/* ---- Outcomes -------------------------------------------------------------------------------- */

struct acp_outcome client_failed(const struct acp_client *client, int err)
{
    bool told = err == ACP_ERR_CLOSED && client->close_words;
    const char *why = told ? client->close_words : acp_err_text(err);
    return (struct acp_outcome){.err = err, .why = acp_str_from(err ? why : "")};
}

/* The text in an error's data, where there is one. */
static struct acp_str error_details(struct acp_client *client, struct acp_raw data)
{
    struct acp_json_reader r;
    struct acp_str key;
    struct acp_str text = {0};
    if (!data.len)
        return text;
    acp_json_reader_init(&r, data, &client->arena, 0);
    if (acp_json_peek(&r) == ACP_JSON_STRING) {
        (void) acp_json_read_str(&r, &text); /* an empty one when it cannot be read */
        return text;
    }
    if (acp_json_peek(&r) != ACP_JSON_OBJECT || acp_json_enter_object(&r))
        return text;
    while (acp_json_next_key(&r, &key) > 0) {
        bool wanted = acp_str_is(key, "details") || acp_str_is(key, "message");
        if (wanted && acp_json_peek(&r) == ACP_JSON_STRING) {
            (void) acp_json_read_str(&r, &text);
            return text;
        }
        if (acp_json_skip(&r))
            break;
    }
    return text;
}

/* Both SDKs say "Internal error" and put what happened into the data. */
static struct acp_str error_sentence(struct acp_client *client, const struct acp_reply *reply)
{
    struct acp_str message = reply->error_message;
    struct acp_str details = error_details(client, reply->error_data);
    size_t size = message.len + 2 + details.len;
    char *both = details.len ? acp_arena_alloc(&client->arena, size) : NULL;
    if (!both)
        return message;
    (void) memcpy(both, message.ptr, message.len);
    (void) memcpy(both + message.len, ": ", 2);
    (void) memcpy(both + message.len + 2, details.ptr, details.len);
    return acp_str_n(both, size);
}

struct acp_outcome client_reply_outcome(struct acp_client *client, const struct acp_reply *reply)
{
    if (reply->err != ACP_ERR_REMOTE)
        return client_failed(client, reply->err);
    return (struct acp_outcome){
        .err = reply->err, .code = reply->error_code, .why = error_sentence(client, reply)};
}

struct acp_outcome client_outcome(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_client *client = call->client;
    struct acp_outcome outcome = client_reply_outcome(client, reply);
    if (reply->err)
        return outcome;
    if (call->result_type == ACP_TYPE_ANY) {
        outcome.value = &reply->result;
        return outcome;
    }
    void *value = acp_arena_alloc(&client->arena, acp_type_size(call->result_type));
    /* Some agents answer null where nothing is to be said. */
    bool empty = reply->result.len == 4 && memcmp(reply->result.ptr, "null", 4) == 0;
    outcome.err = !value ? ACP_ERR_NOMEM
                         : acp_decode(call->result_type, client->mode,
                                      empty ? acp_raw_from("{}") : reply->result, &client->arena,
                                      value, NULL);
    if (outcome.err)
        return client_failed(client,
                             outcome.err == ACP_ERR_NOMEM ? ACP_ERR_NOMEM : ACP_ERR_MALFORMED);
    outcome.value = value;
    return outcome;
}

void client_settle_done(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_outcome outcome = client_outcome(call, reply);
    if (call->then.done)
        call->then.done(call->client, &outcome, call->user);
}

/* ---- What may be sent ------------------------------------------------------------------------ */

int client_decline(struct acp_client *client, int err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void) vsnprintf(client->why, sizeof(client->why), format, args);
    va_end(args);
    return err;
}

int client_fail(struct acp_client *client, int err)
{
    if (!err)
        return 0; /* the program may have freed the client */
    return client_decline(client, err, "%.*s", ACP_ARG(client_failed(client, err).why));
}

struct acp_str acp_client_error_text(const struct acp_client *client)
{
    return acp_str_from(client->why);
}

bool client_has(const struct acp_client *client, const char *v1, const char *v2)
{
    const char *path = client_is_v2(client) ? v2 : v1;
    return client->mode && path &&
           acp_gate_is_open(ACP_TYPE_INITIALIZE_RESPONSE, client->mode, &client->agent,
                            acp_str_from(path));
}

/* Finds a method of ours that the agent offers by a capability, or that needs none. */
static int find_offered(struct acp_client *client, struct acp_str name, struct acp_method *ret)
{
    int len = (int) (name.len < 80 ? name.len : 80);
    if (!client->mode)
        return client_decline(client, ACP_ERR_STATE, "initialize has not been answered yet");
    if (!acp_method_find(name, ACP_SIDE_CLIENT, client->mode, ret))
        return client_decline(client, ACP_ERR_STATE, "version %d of the protocol has no %.*s",
                              client_is_v2(client) ? 2 : 1, len, name.ptr);
    if (!acp_gate_is_open(ACP_TYPE_INITIALIZE_RESPONSE, client->mode, &client->agent, ret->gate))
        return client_decline(client, ACP_ERR_STATE, "the agent does not offer %.*s", len,
                              name.ptr);
    return 0;
}

int client_may(struct acp_client *client, const char *method)
{
    struct acp_method found;
    return find_offered(client, acp_str_from(method), &found);
}

/* What the role must know of when it is sent. */
static bool has_call_of_its_own(const struct acp_method *method)
{
    switch (method->id) {
    case ACP_METHOD_INITIALIZE:
    case ACP_METHOD_SESSION_NEW:
    case ACP_METHOD_SESSION_LOAD:
    case ACP_METHOD_SESSION_RESUME:
    case ACP_METHOD_SESSION_FORK:
    case ACP_METHOD_SESSION_PROMPT:
    case ACP_METHOD_SESSION_CANCEL:
    case ACP_METHOD_CANCEL_REQUEST:
        return true;
    default:
        return false;
    }
}

static int may_send(struct acp_client *client, struct acp_str name, bool request, acp_type_id type,
                    const void *params)
{
    struct acp_method method = {0};
    bool custom = name.len > 0 && name.ptr[0] == '_';
    if (acp_check_raw_params(type, params))
        return client_decline(client, ACP_ERR_ARGUMENT, "the params are not a JSON object");
    if (custom && client->mode)
        return 0;
    int err = find_offered(client, name, &method);
    if (err)
        return err;
    if (method.request != request)
        return client_decline(client, ACP_ERR_STATE, "%.*s is %s", (int) method.name.len,
                              method.name.ptr, request ? "a notification" : "a request");
    if (has_call_of_its_own(&method))
        return client_decline(client, ACP_ERR_STATE, "%.*s has a call of its own",
                              (int) method.name.len, method.name.ptr);
    if (type != ACP_TYPE_ANY && type != method.params)
        return client_decline(client, ACP_ERR_ARGUMENT, "these are not the params of %.*s",
                              (int) method.name.len, method.name.ptr);
    return 0;
}

/* ---- Sending --------------------------------------------------------------------------------- */

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

void client_call_free(struct client_call *call)
{
    free(call->id);
    free(call->cwd);
    free(call->mode);
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
    client_call_free(call);
}

/* Before initialize has agreed on a version, messages are of the one that is asked for. */
static unsigned mode_to_write(const struct acp_client *client)
{
    return client->mode ? client->mode : client->options.versions;
}

/* Params with the _meta that requests carry now; those that have their own keep it. */
static void write_params(const struct acp_client *client, acp_type_id type, const void *params,
                         struct acp_json_writer *w)
{
    unsigned mode = mode_to_write(client);
    alignas(max_align_t) char copy[ACP_NULL_SIZE];
    if (type == ACP_TYPE_ANY) {
        acp_role_write_value(type, mode, params, w);
        return;
    }
    const struct acp_field *f =
        client->meta ? acp_field_named(type, acp_str_from("_meta"), mode) : NULL;
    if (f) {
        struct acp_raw meta;
        memcpy(copy, params, acp_type_size(type));
        memcpy(&meta, copy + f->offset, sizeof(meta));
        if (!meta.ptr) {
            meta = acp_raw_from(client->meta);
            memcpy(copy + f->offset, &meta, sizeof(meta));
        }
        params = copy;
    }
    (void) acp_encode(type, mode, params, w, NULL);
}

int client_send(struct client_call *call, struct acp_str method, acp_type_id type,
                const void *params, uint64_t timeout_ms)
{
    struct acp_client *client = call->client;
    struct acp_request request = {
        .method = method, .timeout_ms = timeout_ms, .reply = on_reply, .user = call};
    struct acp_json_writer *w = acp_peer_begin_request(client->peer, &request);
    write_params(client, type, params, w);
    int err = acp_peer_commit(client->peer, NULL);
    if (err)
        client_call_free(call);
    return client_fail(client, err);
}

int client_send_done(struct acp_client *client, struct acp_str method, acp_type_id params_type,
                     const void *params, acp_type_id result_type, acp_client_fn *done, void *user)
{
    struct client_call *call = client_call_new(client, client_settle_done, result_type, user);
    if (!call)
        return client_fail(client, ACP_ERR_NOMEM);
    call->then.done = done;
    return client_send(call, method, params_type, params, client->options.timeout_ms);
}

int client_send_note(struct acp_client *client, struct acp_str method, acp_type_id type,
                     const void *params)
{
    struct acp_json_writer *w = acp_peer_begin_notify(client->peer, method);
    write_params(client, type, params, w);
    return client_fail(client, acp_peer_commit(client->peer, NULL));
}

int acp_client_request(struct acp_client *client, struct acp_str method, acp_type_id params_type,
                       const void *params, acp_type_id result_type, acp_client_fn *done, void *user)
{
    int err = may_send(client, method, true, params_type, params);
    return err ? err
               : client_send_done(client, method, params_type, params, result_type, done, user);
}

int acp_client_notify(struct acp_client *client, struct acp_str method, acp_type_id params_type,
                      const void *params)
{
    int err = may_send(client, method, false, params_type, params);
    return err ? err : client_send_note(client, method, params_type, params);
}

int acp_client_set_meta(struct acp_client *client, struct acp_raw meta)
{
    struct acp_json_reader r;
    char *copy = NULL;
    if (meta.ptr) {
        acp_json_reader_init(&r, meta, NULL, 0);
        if (acp_json_peek(&r) != ACP_JSON_OBJECT || acp_json_skip(&r) || acp_json_read_end(&r))
            return client_decline(client, ACP_ERR_ARGUMENT, "_meta must be a JSON object");
        copy = acp_str_copy(acp_str_n(meta.ptr, meta.len));
        if (!copy)
            return client_fail(client, ACP_ERR_NOMEM);
    }
    free(client->meta);
    client->meta = copy;
    return 0;
}

/* ---- Logging in and out ---------------------------------------------------------------------- */

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
        return client_decline(client, ACP_ERR_STATE, "the agent has no such method to log in by");
    if (client_is_v2(client)) {
        struct acp_login_auth_request request;
        acp_login_auth_request_init(&request, method);
        return client_send_done(client, acp_str_from("auth/login"), ACP_TYPE_LOGIN_AUTH_REQUEST,
                                &request, ACP_TYPE_LOGIN_AUTH_RESPONSE, done, user);
    }
    struct acp_authenticate_request request;
    acp_authenticate_request_init(&request, method);
    return client_send_done(client, acp_str_from("authenticate"), ACP_TYPE_AUTHENTICATE_REQUEST,
                            &request, ACP_TYPE_AUTHENTICATE_RESPONSE, done, user);
}

int acp_client_logout(struct acp_client *client, acp_client_fn *done, void *user)
{
    if (client_is_v2(client)) {
        struct acp_logout_auth_request request = {0};
        if (client->agent.auth_methods.count == 0)
            return client_decline(client, ACP_ERR_STATE, "the agent has no login");
        return client_send_done(client, acp_str_from("auth/logout"), ACP_TYPE_LOGOUT_AUTH_REQUEST,
                                &request, ACP_TYPE_LOGOUT_AUTH_RESPONSE, done, user);
    }
    struct acp_logout_request request = {0};
    int err = client_may(client, "logout");
    return err ? err
               : client_send_done(client, acp_str_from("logout"), ACP_TYPE_LOGOUT_REQUEST, &request,
                                  ACP_TYPE_LOGOUT_RESPONSE, done, user);
}
