/*
 * The client's side of a connection: initialize, what comes in, and the end.
 */
#include <stdlib.h>

#include "base/sized.h"
#include "codec/walk.h"
#include "role/client_role.h"
#include "rpc/peer.h"

void acp_client_set_close_message(struct acp_client *client, struct acp_str sentence)
{
    char *copy = acp_str_copy(sentence);
    if (!copy)
        return;
    free(client->close_words);
    client->close_words = copy;
}

/* ---- initialize ------------------------------------------------------------------------------ */

/* An object without fields, which is how the protocol says yes. */
static const void *yes(bool condition)
{
    return condition ? acp_zeros() : NULL;
}

/* The versions have other names for what the agent is called: programs find it under both. */
static void name_agent(struct acp_initialize_response *agent, unsigned mode)
{
    if (mode & ACP_V2)
        agent->agent_info = &agent->info;
    else if (acp_is_set(agent->agent_info))
        agent->info = *agent->agent_info;
}

/* Checks the version that the agent chose and keeps what it said. */
static int agree(struct acp_client *client, struct acp_raw result)
{
    acp_arena_reset(&client->kept);
    if (result.len > CLIENT_MAX_INITIALIZE)
        return ACP_ERR_LIMIT;
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
    name_agent(&client->agent, mode);
    return 0;
}

static void settle_start(struct client_call *call, const struct acp_reply *reply)
{
    struct acp_client *client = call->client;
    struct acp_outcome outcome = client_reply_outcome(client, reply);
    client->starting = false;
    if (!reply->err) {
        outcome = client_failed(client, agree(client, reply->result));
        if (outcome.err == ACP_ERR_VARIANT)
            outcome.why = acp_str_from("the agent speaks a version of the protocol that we do not");
        outcome.value = outcome.err ? NULL : &client->agent;
    }
    if (call->then.done)
        call->then.done(client, &outcome, call->user);
}

/* What the program offers, in the words of version 1; its parts live beside it. */
struct offer_v1 {
    struct acp_file_system_capabilities fs;
    struct acp_auth_capabilities auth;
    struct acp_elicitation_capabilities elicitation;
    struct acp_session_config_options_capabilities options;
    struct acp_client_session_capabilities session;
    struct acp_client_capabilities all;
};

static void make_offer_v1(const struct acp_client_options *o, struct offer_v1 *offer)
{
    *offer = (struct offer_v1){
        .fs = {.read_text_file = o->read_files, .write_text_file = o->write_files},
        .auth = {.terminal = o->terminal_login},
        .elicitation = {.form = yes(o->forms), .url = yes(o->urls)},
        .options = {.boolean = yes(true)},
    };
    offer->session = (struct acp_client_session_capabilities){
        .config_options = &offer->options,
        .notices = yes(!o->no_notices),
        .compaction = yes(!o->no_compaction),
    };
    /*
     * Left out when what is unstable is off: version 1 has neither plan nor subagents without it.
     */
    offer->all = (struct acp_client_capabilities){
        .fs = &offer->fs,
        .plan = yes(true),
        .subagents = yes(o->subagents),
        .terminal = o->terminals,
        .auth = &offer->auth,
        .elicitation = o->forms || o->urls ? &offer->elicitation : NULL,
        .meta = o->capabilities_meta,
        .session = &offer->session,
    };
}

static int send_v1(struct client_call *call, const struct acp_implementation *info)
{
    const struct acp_client_options *o = &call->client->options;
    struct offer_v1 offer;
    make_offer_v1(o, &offer);
    struct acp_initialize_request request = {
        .protocol_version = 1, .client_capabilities = &offer.all, .client_info = info};
    return client_send(call, acp_str_from("initialize"), ACP_TYPE_INITIALIZE_REQUEST, &request,
                       o->timeout_ms);
}

static int encode_to(struct acp_buf *out, acp_type_id type, unsigned mode, const void *value)
{
    struct acp_json_writer w;
    acp_json_writer_init(&w, out);
    int err = acp_encode(type, mode, value, &w, NULL);
    return err ? err : w.err;
}

/*
 * The request of version 2, and beside it what version 1 calls the same things: an agent that knows
 * only version 1 answers in that, and learns all the same what it may ask of us.
 */
static int send_both(struct client_call *call, struct acp_initialize_request *request,
                     const struct acp_implementation *info)
{
    const struct acp_client_options *o = &call->client->options;
    unsigned flags = o->versions & ACP_UNSTABLE;
    struct offer_v1 offer;
    struct acp_buf buf[3]; /* the offer, who we are, and all of it */
    for (size_t i = 0; i < 3; i++)
        acp_buf_init(&buf[i], ACP_WIRE_DEFAULT_MAX);
    make_offer_v1(o, &offer);
    int err = encode_to(&buf[0], ACP_TYPE_CLIENT_CAPABILITIES, ACP_V1 | flags, &offer.all);
    if (!err)
        err = encode_to(&buf[1], ACP_TYPE_IMPLEMENTATION, ACP_V1 | flags, info);
    struct acp_unknown who = {.key = acp_str_from("clientInfo"),
                              .value = acp_raw_n(buf[1].data + buf[1].start, buf[1].len)};
    struct acp_unknown what = {.next = &who,
                               .key = acp_str_from("clientCapabilities"),
                               .value = acp_raw_n(buf[0].data + buf[0].start, buf[0].len)};
    /* cppcheck-suppress autoVariables ; taken back before we return */
    request->unknown = &what;
    if (call->client->meta)
        request->meta = acp_raw_from(call->client->meta);
    if (!err)
        err = encode_to(&buf[2], ACP_TYPE_INITIALIZE_REQUEST, ACP_V2 | flags | ACP_KEEP_UNKNOWN,
                        request);
    struct acp_raw params = acp_raw_n(buf[2].data + buf[2].start, buf[2].len);
    if (err)
        client_call_free(call);
    else
        err = client_send(call, acp_str_from("initialize"), ACP_TYPE_ANY, &params, o->timeout_ms);
    for (size_t i = 0; i < 3; i++)
        acp_buf_finish(&buf[i]);
    request->unknown = NULL; /* it stood on this stack */
    return err;
}

static int send_v2(struct client_call *call, const struct acp_implementation *info, bool both)
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
    if (both)
        return send_both(call, &request, info);
    return client_send(call, acp_str_from("initialize"), ACP_TYPE_INITIALIZE_REQUEST, &request,
                       o->timeout_ms);
}

int acp_client_initialize(struct acp_client *client, acp_client_fn *ready, void *user)
{
    if (client->mode || client->starting)
        return client_decline(client, ACP_ERR_STATE, "initialize was sent already");
    struct acp_implementation info = {
        .name = client->options.name.len ? client->options.name : acp_str_from("unnamed"),
        .version = client->options.version.len ? client->options.version : acp_str_from("0"),
        .title = client->options.title,
    };
    struct client_call *call =
        client_call_new(client, settle_start, ACP_TYPE_INITIALIZE_RESPONSE, user);
    if (!call)
        return client_fail(client, ACP_ERR_NOMEM);
    call->then.done = ready;
    /* The request is in the words of the version asked for, so that is what must encode it. */
    unsigned both = client->options.versions;
    bool v2 = both & ACP_V2;
    client->starting = true;
    client->options.versions = (v2 ? ACP_V2 : ACP_V1) | (both & ACP_UNSTABLE);
    int err = v2 ? send_v2(call, &info, both & ACP_V1) : send_v1(call, &info);
    client->options.versions = both;
    if (err)
        client->starting = false;
    return client_fail(client, err);
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

static void on_protocol_error(struct acp_peer *peer, enum acp_protocol_error what,
                              struct acp_str text, void *user)
{
    struct acp_client *client = user;
    (void) peer;
    if (client->handler.protocol_error)
        client->handler.protocol_error(client, what, text, client->user);
}

static void on_pressure(struct acp_peer *peer, bool high, void *user)
{
    struct acp_client *client = user;
    (void) peer;
    if (client->handler.pressure)
        client->handler.pressure(client, high, client->user);
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

/* Once, and before the role is freed: it may be, while its sessions end. */
static void tell_closed(struct acp_client *client, int reason)
{
    if (client->closed_told)
        return;
    client->closed_told = true;
    if (client->handler.closed)
        client->handler.closed(client, reason, client->user);
}

static void on_closed(struct acp_peer *peer, int reason, void *user)
{
    struct acp_client *client = user;
    (void) peer;
    client->closing = true;
    end_all_sessions(client, reason);
    tell_closed(client, reason);
}

/* ---- Life ------------------------------------------------------------------------------------ */

int acp_client_new_sized(const struct acp_client_options *options, size_t options_size,
                         const struct acp_client_handler *handler, size_t handler_size, void *user,
                         struct acp_client **ret)
{
    static const struct acp_peer_handler peer_handler = {
        .request = on_request,
        .notification = on_notification,
        .cancel = on_cancel,
        .protocol_error = on_protocol_error,
        .pressure = on_pressure,
        .closed = on_closed,
    };
    struct acp_client *client = calloc(1, sizeof(*client));
    if (!client)
        return ACP_ERR_NOMEM;
    int err = ACP_SIZED_COPY(&client->options, options, options_size);
    if (!err)
        err = ACP_SIZED_COPY(&client->handler, handler, handler_size);
    if (err) {
        free(client);
        return err;
    }
    client->user = user;
    if (!(client->options.versions & (ACP_V1 | ACP_V2)))
        client->options.versions |= ACP_V1;
    acp_arena_init(&client->arena, CLIENT_MAX_DECODED);
    acp_arena_init(&client->kept, CLIENT_MAX_KEPT);
    acp_map_init(&client->sessions, (uintptr_t) client);
    acp_map_init(&client->questions, (uintptr_t) client);
    client->early_end = &client->early;
    client->options.peer.key = acp_str_from("update");
    err = acp_peer_new(&client->options.peer, &peer_handler, client, &client->peer);
    if (err) {
        free(client);
        return err;
    }
    *ret = client;
    return 0;
}

static void destroy(void *user)
{
    struct acp_client *client = user;
    client_forget_early(client);
    free(client->close_words);
    free(client->meta);
    acp_map_finish(&client->sessions);
    acp_map_finish(&client->questions);
    acp_arena_finish(&client->arena);
    acp_arena_finish(&client->kept);
    free(client);
}

/* The memory goes with the peer's: when no call into it is on the stack any more. */
void acp_client_free(struct acp_client *client)
{
    if (!client || client->freeing)
        return;
    struct acp_peer *peer = client->peer;
    client->freeing = true;
    acp_rpc_enter(peer);
    acp_rpc_on_destroy(peer, destroy, client);
    acp_peer_close(peer, ACP_ERR_CLOSED);
    end_all_sessions(client, ACP_ERR_CLOSED);
    tell_closed(client, ACP_ERR_CLOSED);
    acp_peer_free(peer);
    acp_rpc_leave(peer);
}

void acp_client_close(struct acp_client *client, int reason)
{
    acp_peer_close(client->peer, reason);
}

unsigned acp_client_protocol(const struct acp_client *client)
{
    return client->mode;
}

const struct acp_initialize_response *acp_client_initialize_response(
    const struct acp_client *client)
{
    return client->mode ? &client->agent : NULL;
}

const struct acp_implementation *acp_client_agent_info(const struct acp_client *client)
{
    const struct acp_implementation *info = client->mode ? client->agent.agent_info : NULL;
    return acp_is_set(info) ? info : NULL;
}

struct acp_endpoint *acp_client_endpoint(struct acp_client *client)
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
