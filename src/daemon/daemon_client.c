/* daemon_client.c - a client at the daemon of a session. */
#include "daemon/daemon_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "acp/io.h"
#include "acp/rpc.h"
#include "acp/types.h"
#include "json/members.h"

struct daemon_client {
    struct daemon_client_handler handler;
    void *user;
    struct acp_peer *peer;
    struct acp_link *link;
    bool freeing;
};

/* A request to the daemon. */
struct pending_request {
    struct daemon_client *client;
    daemon_reply_fn *done;
    void *user;
};

/* ---- What the daemon sends ------------------------------------------------------------------- */

static void on_notification(struct acp_peer *peer, const struct acp_message *message, void *user)
{
    struct daemon_client *client = user;
    struct acp_arena arena;
    struct session_event event;
    struct acp_str session;
    (void) peer;
    acp_arena_init(&arena, 0);
    if (acp_str_is(message->method, "daemon/event")) {
        if (event_read(message->params, &arena, &event, &session, NULL) == 0)
            client->handler.event(client, &event, client->user);
    } else if (acp_str_is(message->method, "daemon/queued") && client->handler.queued) {
        uint64_t turn = 0;
        uint64_t ahead = 0;
        (void) acp_json_member_u64(message->params, "turn", &turn);
        (void) acp_json_member_u64(message->params, "ahead", &ahead);
        client->handler.queued(client, turn, ahead, client->user);
    }
    acp_arena_finish(&arena);
}

/* False if the message is none of the questions that the handler takes. */
static bool serve_question(struct daemon_client *client, acp_call call,
                           const struct acp_message *message, struct acp_arena *arena)
{
    const struct daemon_client_handler *handler = &client->handler;
    struct permission_question question;
    struct elicitation_question elicitation;
    if (acp_str_is(message->method, "daemon/question") && handler->question &&
        daemon_read_question(message->params, arena, &question) == 0) {
        question.number = call;
        handler->question(client, &question, client->user);
        return true;
    }
    if (acp_str_is(message->method, "daemon/elicitation") && handler->elicitation &&
        daemon_read_elicitation(message->params, arena, &elicitation) == 0) {
        elicitation.number = call;
        handler->elicitation(client, &elicitation, client->user);
        return true;
    }
    return false;
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    if (!serve_question(user, call, message, &arena))
        (void) acp_peer_error(peer, call, ACP_ERROR_CODE_METHOD_NOT_FOUND,
                              acp_str_from("Method not found"), acp_raw_from(NULL));
    acp_arena_finish(&arena);
}

/* The agent took its question back; what we answer now does not matter, but it must come. */
static void on_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    struct daemon_client *client = user;
    (void) acp_peer_error_for(peer, call, ACP_ERR_CANCELLED);
    if (client->handler.question_gone)
        client->handler.question_gone(client, call, client->user);
}

void daemon_client_answer(struct daemon_client *client, uint64_t number, struct acp_str option)
{
    if (!client->peer)
        return;
    struct acp_json_writer *w = acp_peer_begin_result(client->peer, number);
    acp_json_begin_object(w);
    if (option.len) {
        acp_json_write_key(w, acp_str_from("option"));
        acp_json_write_str(w, option);
    }
    acp_json_end_object(w);
    (void) acp_peer_commit(client->peer, NULL);
}

void daemon_client_respond(struct daemon_client *client, uint64_t number, struct acp_raw response)
{
    if (!client->peer)
        return;
    acp_json_write_raw(acp_peer_begin_result(client->peer, number), response);
    (void) acp_peer_commit(client->peer, NULL);
}

/* ---- What we ask ----------------------------------------------------------------------------- */

static void on_reply(struct acp_peer *peer, uint64_t number, const struct acp_reply *reply,
                     void *user)
{
    struct pending_request *pending = user;
    struct acp_str why = reply->error_message;
    (void) peer;
    (void) number;
    if (reply->err && !why.len)
        why = acp_str_from(reply->err == ACP_ERR_CLOSED ? "the daemon of the session has gone"
                                                        : acp_err_text(reply->err));
    if (pending->done && !pending->client->freeing)
        pending->done(pending->client, reply->err, reply->result, why, pending->user);
    free(pending);
}

static struct pending_request *new_pending(struct daemon_client *client, daemon_reply_fn *done,
                                           void *user)
{
    struct pending_request *pending = malloc(sizeof(*pending));
    if (pending)
        *pending = (struct pending_request){client, done, user};
    return pending;
}

static struct acp_json_writer *begin(struct daemon_client *client, const char *method,
                                     struct pending_request *pending)
{
    struct acp_request request = {
        .method = acp_str_from(method), .reply = on_reply, .user = pending};
    struct acp_json_writer *w =
        pending && client->peer ? acp_peer_begin_request(client->peer, &request) : NULL;
    if (!w)
        free(pending);
    return w;
}

static int commit(struct daemon_client *client, struct pending_request *pending)
{
    int err = acp_peer_commit(client->peer, NULL);
    if (err)
        free(pending);
    return err;
}

int daemon_client_prompt(struct daemon_client *client, const struct prompt_request *prompt,
                         daemon_reply_fn *done, void *user)
{
    struct pending_request *pending = new_pending(client, done, user);
    struct acp_json_writer *w = begin(client, "daemon/prompt", pending);
    if (!w)
        return ACP_ERR_CLOSED;
    daemon_write_prompt(w, prompt);
    return commit(client, pending);
}

int daemon_client_set(struct daemon_client *client, struct acp_str name, struct acp_str value,
                      daemon_reply_fn *done, void *user)
{
    struct pending_request *pending = new_pending(client, done, user);
    struct acp_json_writer *w = begin(client, "daemon/set", pending);
    if (!w)
        return ACP_ERR_CLOSED;
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str_from("name"));
    acp_json_write_str(w, name);
    acp_json_write_key(w, acp_str_from("value"));
    acp_json_write_str(w, value);
    acp_json_end_object(w);
    return commit(client, pending);
}

int daemon_client_attach(struct daemon_client *client, uint64_t after, bool answer,
                         daemon_reply_fn *done, void *user)
{
    struct pending_request *pending = new_pending(client, done, user);
    struct acp_json_writer *w = begin(client, "daemon/attach", pending);
    if (!w)
        return ACP_ERR_CLOSED;
    acp_json_begin_object(w);
    acp_json_put_u64(w, "after", after);
    acp_json_put_bool(w, "answer", answer);
    acp_json_end_object(w);
    return commit(client, pending);
}

int daemon_client_request(struct daemon_client *client, const char *method, daemon_reply_fn *done,
                          void *user)
{
    struct pending_request *pending = new_pending(client, done, user);
    struct acp_json_writer *w = begin(client, method, pending);
    if (!w)
        return ACP_ERR_CLOSED;
    acp_json_begin_object(w);
    acp_json_end_object(w);
    return commit(client, pending);
}

int daemon_client_kill(struct daemon_client *client)
{
    struct pending_request *pending = new_pending(client, NULL, NULL);
    struct acp_json_writer *w = begin(client, "daemon/cancel_own", pending);
    if (!w)
        return ACP_ERR_CLOSED;
    acp_json_begin_object(w);
    acp_json_put_bool(w, "now", true);
    acp_json_end_object(w);
    return commit(client, pending);
}

/* ---- Coming and going ------------------------------------------------------------------------ */

static void on_closed(struct acp_link *link, int reason, void *user)
{
    struct daemon_client *client = user;
    (void) reason;
    client->link = NULL;
    acp_link_free(link);
    acp_peer_close(client->peer, ACP_ERR_CLOSED);
    if (client->handler.gone)
        client->handler.gone(client, client->user);
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void) snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return acp_err_from_errno(errno);
    if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0)
        return fd;
    int err = errno == ENOENT || errno == ECONNREFUSED ? ACP_ERR_CLOSED : acp_err_from_errno(errno);
    (void) close(fd);
    return err;
}

int daemon_client_new(uv_loop_t *loop, const char *socket,
                      const struct daemon_client_handler *handler, void *user,
                      struct daemon_client **ret)
{
    static const struct acp_peer_handler peer_handler = {
        .request = on_request, .notification = on_notification, .cancel = on_cancel};
    static const struct acp_link_handler link_handler = {.closed = on_closed};
    int fd = connect_to(socket);
    if (fd < 0)
        return fd;
    struct acp_link_options link = {.in = fd, .out = fd};
    struct daemon_client *client = calloc(1, sizeof(*client));
    if (!client || acp_peer_new(NULL, &peer_handler, client, &client->peer)) {
        (void) close(fd);
        free(client);
        return ACP_ERR_NOMEM;
    }
    client->handler = *handler;
    client->user = user;
    struct acp_endpoint *endpoint = acp_peer_endpoint(client->peer);
    int err = acp_link_new(loop, &link, endpoint, &link_handler, client, &client->link);
    if (err) {
        acp_peer_free(client->peer);
        free(client);
        return err;
    }
    *ret = client;
    return 0;
}

void daemon_client_free(struct daemon_client *client)
{
    if (!client)
        return;
    client->freeing = true;
    acp_link_free(client->link);
    acp_peer_free(client->peer);
    free(client);
}
