/* daemon_client.c - a visit at the owner of a session. */
#include "daemon/daemon_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "acp/io.h"
#include "acp/rpc.h"

struct visit {
    struct visit_handler handler;
    void *user;
    struct acp_peer *peer;
    struct acp_link *link;
    bool freeing;
};

/* A request to the owner. */
struct errand {
    struct visit *visit;
    visit_fn *done;
    void *user;
};

/* ---- What the owner says --------------------------------------------------------------------- */

static void on_notification(struct acp_peer *peer, const struct acp_message *message, void *user)
{
    struct visit *visit = user;
    struct acp_arena arena;
    struct record record;
    struct acp_str session;
    (void) peer;
    acp_arena_init(&arena, 0);
    if (acp_str_is(message->method, "owner/record")) {
        if (record_read(message->params, &arena, &record, &session, NULL) == 0)
            visit->handler.record(visit, &record, visit->user);
    } else if (acp_str_is(message->method, "owner/queued") && visit->handler.queued) {
        uint64_t request = 0;
        uint64_t ahead = 0;
        (void) wire_read_number(message->params, "request", &request);
        (void) wire_read_number(message->params, "ahead", &ahead);
        visit->handler.queued(visit, request, ahead, visit->user);
    }
    acp_arena_finish(&arena);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct visit *visit = user;
    struct acp_arena arena;
    struct talk_question question;
    acp_arena_init(&arena, 0);
    if (!acp_str_is(message->method, "owner/ask") || !visit->handler.question ||
        wire_read_question(message->params, &arena, &question)) {
        (void) acp_peer_error(peer, call, -32601, acp_str_from("Method not found"),
                              acp_raw_from(NULL));
    } else {
        question.number = call;
        visit->handler.question(visit, &question, visit->user);
    }
    acp_arena_finish(&arena);
}

/* The agent took its question back; what we answer now does not matter, but it must come. */
static void on_cancel(struct acp_peer *peer, acp_call call, void *user)
{
    struct visit *visit = user;
    (void) acp_peer_error_for(peer, call, ACP_ERR_CANCELLED);
    if (visit->handler.question_gone)
        visit->handler.question_gone(visit, call, visit->user);
}

void visit_answer(struct visit *visit, uint64_t number, struct acp_str option)
{
    if (!visit->peer)
        return;
    struct acp_json_writer *w = acp_peer_begin_result(visit->peer, number);
    acp_json_begin_object(w);
    if (option.len) {
        acp_json_write_key(w, acp_str_from("option"));
        acp_json_write_str(w, option);
    }
    acp_json_end_object(w);
    (void) acp_peer_commit(visit->peer, NULL);
}

/* ---- What we ask ----------------------------------------------------------------------------- */

static void on_reply(struct acp_peer *peer, uint64_t number, const struct acp_reply *reply,
                     void *user)
{
    struct errand *errand = user;
    struct acp_str why = reply->error_message;
    (void) peer;
    (void) number;
    if (reply->err && !why.len)
        why = acp_str_from(reply->err == ACP_ERR_CLOSED ? "the owner of the session has gone"
                                                        : acp_err_text(reply->err));
    if (errand->done && !errand->visit->freeing)
        errand->done(errand->visit, reply->err, reply->result, why, errand->user);
    free(errand);
}

static struct errand *new_errand(struct visit *visit, visit_fn *done, void *user)
{
    struct errand *errand = malloc(sizeof(*errand));
    if (errand)
        *errand = (struct errand){visit, done, user};
    return errand;
}

static struct acp_json_writer *begin(struct visit *visit, const char *method, struct errand *errand)
{
    struct acp_request request = {
        .method = acp_str_from(method), .reply = on_reply, .user = errand};
    struct acp_json_writer *w =
        errand && visit->peer ? acp_peer_begin_request(visit->peer, &request) : NULL;
    if (!w)
        free(errand);
    return w;
}

static int commit(struct visit *visit, struct errand *errand)
{
    int err = acp_peer_commit(visit->peer, NULL);
    if (err)
        free(errand);
    return err;
}

int visit_prompt(struct visit *visit, const struct wire_prompt *prompt, visit_fn *done, void *user)
{
    struct errand *errand = new_errand(visit, done, user);
    struct acp_json_writer *w = begin(visit, "owner/prompt", errand);
    if (!w)
        return ACP_ERR_CLOSED;
    wire_write_prompt(w, prompt);
    return commit(visit, errand);
}

int visit_set(struct visit *visit, struct acp_str name, struct acp_str value, visit_fn *done,
              void *user)
{
    struct errand *errand = new_errand(visit, done, user);
    struct acp_json_writer *w = begin(visit, "owner/set", errand);
    if (!w)
        return ACP_ERR_CLOSED;
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str_from("name"));
    acp_json_write_str(w, name);
    acp_json_write_key(w, acp_str_from("value"));
    acp_json_write_str(w, value);
    acp_json_end_object(w);
    return commit(visit, errand);
}

int visit_ask(struct visit *visit, const char *method, visit_fn *done, void *user)
{
    struct errand *errand = new_errand(visit, done, user);
    struct acp_json_writer *w = begin(visit, method, errand);
    if (!w)
        return ACP_ERR_CLOSED;
    acp_json_begin_object(w);
    acp_json_end_object(w);
    return commit(visit, errand);
}

/* ---- Coming and going ------------------------------------------------------------------------ */

static void on_closed(struct acp_link *link, int reason, void *user)
{
    struct visit *visit = user;
    (void) reason;
    visit->link = NULL;
    acp_link_free(link);
    acp_peer_close(visit->peer, ACP_ERR_CLOSED);
    if (visit->handler.gone)
        visit->handler.gone(visit, visit->user);
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

int visit_new(uv_loop_t *loop, const char *socket, const struct visit_handler *handler, void *user,
              struct visit **ret)
{
    static const struct acp_peer_handler peer_handler = {
        .request = on_request, .notification = on_notification, .cancel = on_cancel};
    static const struct acp_link_handler link_handler = {.closed = on_closed};
    int fd = connect_to(socket);
    if (fd < 0)
        return fd;
    struct acp_link_options link = {.in = fd, .out = fd};
    struct visit *visit = calloc(1, sizeof(*visit));
    if (!visit || acp_peer_new(NULL, &peer_handler, visit, &visit->peer)) {
        (void) close(fd);
        free(visit);
        return ACP_ERR_NOMEM;
    }
    visit->handler = *handler;
    visit->user = user;
    struct acp_endpoint *endpoint = acp_peer_endpoint(visit->peer);
    int err = acp_link_new(loop, &link, endpoint, &link_handler, visit, &visit->link);
    if (err) {
        acp_peer_free(visit->peer);
        free(visit);
        return err;
    }
    *ret = visit;
    return 0;
}

void visit_free(struct visit *visit)
{
    if (!visit)
        return;
    visit->freeing = true;
    acp_link_free(visit->link);
    acp_peer_free(visit->peer);
    free(visit);
}
