/*
 * daemon.c - the process that owns a session: one conversation, and the clients who use it.
 *
 * A client is a link with a peer.  A prompt of a client who leaves goes on: the log keeps what
 * comes of it.  What only that client could have answered is answered with no.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "acp/io.h"
#include "acp/rpc.h"
#include "daemon/daemon_protocol.h"
#include "daemon/daemon_run.h"

enum {
    /* Prompts that wait: the count is the default of an option, the bytes are of all of them. */
    DAEMON_MAX_WAITING = 100,
    DAEMON_MAX_WAITING_BYTES = 64 * 1024 * 1024,
    DAEMON_MAX_SETTINGS = 100,            /* that wait, of all clients */
    DAEMON_MAX_SETTING_BYTES = 64 * 1024, /* of the name and the value of one */
    DAEMON_MAX_CLIENTS = 64,
    /* Messages of all clients: each takes half of what is left, the first 64 MiB. */
    DAEMON_MAX_INPUT = 128 * 1024 * 1024,
    DAEMON_MIN_MESSAGE = 64 * 1024, /* that each may send in any case */
    DAEMON_SIGNALS = 3,
};

/* How long an agent has to stop when it was asked to. */
enum { CANCEL_GRACE_MS = 5000 };

/* JSON-RPC codes that clients are told. */
enum { CODE_BUSY = -32000, CODE_METHOD = -32601, CODE_PARAMS = -32602, CODE_INTERNAL = -32603 };

/* A prompt that a client waits for. */
struct waiting_prompt {
    struct waiting_prompt *next;
    struct client *client;
    acp_call call;
    uint64_t request;
};

/* A question that a client has been asked. */
struct sent_question {
    struct sent_question *next;
    struct client *client;
    uint64_t number;  /* of the conversation's question */
    uint64_t request; /* of ours to the client */
};

/* Lives until the client has left and nothing of its is at work any more. */
struct client {
    struct client *next;
    struct daemon *daemon;
    struct acp_peer *peer; /* NULL when it has left */
    struct acp_link *link;
    size_t input_room; /* for a message of its, taken from the daemon's */
    unsigned uses;
};

struct daemon {
    const struct daemon_options *options;
    uv_loop_t *loop;
    struct conversation *conversation; /* NULL when it has stopped, and only clients are left */
    uv_poll_t listener;
    int listener_fd;
    uv_timer_t idle;
    uint64_t idle_since;
    uv_signal_t signals[DAEMON_SIGNALS];
    struct acp_reaper *reaper;
    struct client *clients;
    size_t client_count;  /* of those who are here */
    size_t setting_count; /* that wait */
    size_t input_room;    /* given to clients */
    struct waiting_prompt *waited;
    struct sent_question *asked;
    bool ending;
};

static void release(struct client *client)
{
    struct client **at = &client->daemon->clients;
    if (--client->uses)
        return;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    free(client);
}

/* ---- Idleness -------------------------------------------------------------------------------- */

static void end(struct daemon *daemon)
{
    if (daemon->ending)
        return;
    daemon->ending = true;
    (void) unlink(daemon->options->socket);
    (void) uv_poll_stop(&daemon->listener);
    (void) uv_timer_stop(&daemon->idle);
    conversation_stop(daemon->conversation);
}

static void on_idle(uv_timer_t *timer)
{
    end(timer->data);
}

/* Called whenever something has begun or ended. */
static void note_work(struct daemon *daemon)
{
    bool busy =
        conversation_request(daemon->conversation) || conversation_waiting(daemon->conversation);
    daemon->idle_since = uv_now(daemon->loop);
    (void) uv_timer_stop(&daemon->idle);
    if (!busy && daemon->options->ttl_ms && !daemon->ending)
        (void) uv_timer_start(&daemon->idle, on_idle, daemon->options->ttl_ms, 0);
}

/* ---- Events and ends of prompts -------------------------------------------------------------- */

static struct client *client_of(const struct daemon *daemon, uint64_t request)
{
    for (struct waiting_prompt *w = daemon->waited; w; w = w->next)
        if (w->request == request)
            return w->client;
    return NULL;
}

/* What belongs to no prompt is for everybody who waits for one. */
static bool is_for(const struct daemon *daemon, const struct client *client, uint64_t request)
{
    for (struct waiting_prompt *w = daemon->waited; w; w = w->next)
        if (w->client == client && (!request || w->request == request))
            return true;
    return false;
}

static void on_record(struct conversation *conversation, const struct session_event *record,
                      void *user)
{
    struct daemon *daemon = user;
    (void) conversation;
    for (struct client *v = daemon->clients; v; v = v->next) {
        if (!v->peer || !is_for(daemon, v, record->turn))
            continue;
        struct acp_json_writer *w = acp_peer_begin_notify(v->peer, acp_str_from("daemon/event"));
        (void) event_write(record, daemon->options->conversation.session, w);
        (void) acp_peer_commit(v->peer, NULL);
    }
}

/* Who waits for the prompt is told how it ended. */
static void tell_end(struct daemon *daemon, uint64_t request, const struct prompt_end *how)
{
    struct waiting_prompt **at = &daemon->waited;
    while (*at) {
        struct waiting_prompt *waited = *at;
        if (waited->request != request) {
            at = &waited->next;
            continue;
        }
        *at = waited->next;
        if (waited->client->peer) {
            struct acp_json_writer *w = acp_peer_begin_result(waited->client->peer, waited->call);
            daemon_write_end(w, request, how);
            (void) acp_peer_commit(waited->client->peer, NULL);
        }
        release(waited->client);
        free(waited);
    }
}

static void on_ended(struct conversation *conversation, uint64_t request,
                     const struct prompt_end *how, void *user)
{
    struct daemon *daemon = user;
    (void) conversation;
    tell_end(daemon, request, how);
    note_work(daemon);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static struct sent_question *take_asked(struct daemon *daemon, const struct sent_question *wanted)
{
    struct sent_question **at = &daemon->asked;
    while (*at && *at != wanted)
        at = &(*at)->next;
    struct sent_question *found = *at;
    if (found)
        *at = found->next;
    return found;
}

static void on_answered(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                        void *user)
{
    struct sent_question *asked = user;
    struct daemon *daemon = asked->client->daemon;
    struct acp_arena arena;
    struct acp_str option = {0};
    (void) peer;
    (void) request;
    acp_arena_init(&arena, 0);
    if (!reply->err)
        (void) daemon_read_text(reply->result, "option", &arena, &option);
    if (take_asked(daemon, asked))
        (void) conversation_answer(daemon->conversation, asked->number, option);
    free(asked);
    acp_arena_finish(&arena);
}

static void on_question(struct conversation *conversation,
                        const struct permission_question *question, void *user)
{
    struct daemon *daemon = user;
    struct client *client = client_of(daemon, conversation_request(conversation));
    struct sent_question *asked = client && client->peer ? calloc(1, sizeof(*asked)) : NULL;
    struct acp_request request = {
        .method = acp_str_from("daemon/question"), .reply = on_answered, .user = asked};
    struct acp_json_writer *w = asked ? acp_peer_begin_request(client->peer, &request) : NULL;
    if (w)
        daemon_write_question(w, question);
    if (!w || acp_peer_commit(client->peer, &asked->request)) {
        free(asked);
        (void) conversation_answer(conversation, question->number, (struct acp_str){0});
        return;
    }
    asked->client = client;
    asked->number = question->number;
    asked->next = daemon->asked;
    daemon->asked = asked;
}

static void on_question_gone(struct conversation *conversation, uint64_t number, void *user)
{
    struct daemon *daemon = user;
    (void) conversation;
    for (struct sent_question *a = daemon->asked; a; a = a->next) {
        if (a->number != number)
            continue;
        /* Its answer still comes, and finds nothing to answer. */
        (void) take_asked(daemon, a);
        if (a->client->peer)
            (void) acp_peer_cancel(a->client->peer, a->request);
        return;
    }
}

/* ---- What clients want ---------------------------------------------------------------------- */

static void refuse(struct client *client, acp_call call, int64_t code, const char *sentence)
{
    (void) acp_peer_error(client->peer, call, code, acp_str_from(sentence), acp_raw_from(NULL));
}

static void tell_place(struct client *client, acp_call call, uint64_t request, size_t ahead,
                       bool wait)
{
    struct acp_json_writer *w =
        wait ? acp_peer_begin_notify(client->peer, acp_str_from("daemon/queued"))
             : acp_peer_begin_result(client->peer, call);
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str_from("request"));
    acp_json_write_u64(w, request);
    acp_json_write_key(w, acp_str_from("ahead"));
    acp_json_write_u64(w, ahead);
    acp_json_end_object(w);
    (void) acp_peer_commit(client->peer, NULL);
}

static void serve_prompt(struct client *client, acp_call call, struct acp_raw params)
{
    struct daemon *daemon = client->daemon;
    size_t most = daemon->options->max_waiting ? daemon->options->max_waiting : DAEMON_MAX_WAITING;
    size_t ahead = conversation_waiting(daemon->conversation) +
                   (conversation_request(daemon->conversation) ? 1 : 0);
    size_t waiting_bytes = conversation_waiting_bytes(daemon->conversation);
    struct prompt_request prompt;
    struct acp_arena arena;
    struct waiting_prompt *waited = NULL;
    uint64_t request;
    acp_arena_init(&arena, 0);
    int err = daemon_read_prompt(params, &arena, &prompt);
    if (err) {
        refuse(client, call, CODE_PARAMS, acp_err_text(err));
    } else if (ahead > most || prompt.body.len > DAEMON_MAX_WAITING_BYTES - waiting_bytes) {
        refuse(client, call, CODE_BUSY, "too many prompts wait already");
    } else if (daemon->ending) {
        refuse(client, call, CODE_BUSY, "the session is being closed");
    } else {
        struct prompt_run_options options = {
            .timeout_ms = prompt.timeout_ms,
            .policy = daemon->options->policies[prompt.permit],
            .nobody = !prompt.ask,
        };
        waited = calloc(1, sizeof(*waited));
        err = waited ? conversation_prompt(daemon->conversation, prompt.body, &options, &request)
                     : ACP_ERR_NOMEM;
        if (err) {
            free(waited);
            refuse(client, call, CODE_INTERNAL, acp_err_text(err));
        }
    }
    acp_arena_finish(&arena);
    if (err || !waited)
        return;
    if (prompt.wait) {
        *waited = (struct waiting_prompt){daemon->waited, client, call, request};
        daemon->waited = waited;
        client->uses++;
    } else {
        free(waited);
    }
    if (ahead || !prompt.wait)
        tell_place(client, call, request, ahead, prompt.wait);
    note_work(daemon);
}

static void serve_cancel(struct client *client, acp_call call)
{
    bool cancelled = conversation_cancel(client->daemon->conversation, CANCEL_GRACE_MS);
    (void) acp_peer_result(
        client->peer, call,
        acp_raw_from(cancelled ? "{\"cancelled\":true}" : "{\"cancelled\":false}"));
}

static void serve_cancel_own(struct client *client, acp_call call)
{
    struct daemon *daemon = client->daemon;
    const struct prompt_end taken_back = {
        .kind = PROMPT_STOPPED, .stop = acp_str_from("cancelled"), .cancelled = true};
    struct waiting_prompt *next;
    (void) acp_peer_result(client->peer, call, acp_raw_from(NULL));
    for (struct waiting_prompt *w = daemon->waited; w; w = next) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the end of one prompt frees no other */
        next = w->next;
        if (w->client != client)
            continue;
        if (w->request == conversation_request(daemon->conversation))
            (void) conversation_cancel(daemon->conversation, CANCEL_GRACE_MS);
        else if (conversation_withdraw(daemon->conversation, w->request))
            tell_end(daemon, w->request, &taken_back);
    }
    note_work(daemon);
}

/* A setting that a client waits for. */
struct setting {
    struct client *client;
    acp_call call;
};

static void on_set(struct conversation *conversation, const struct acp_outcome *outcome, void *user)
{
    struct setting *setting = user;
    struct client *client = setting->client;
    (void) conversation;
    if (client->peer && outcome->err)
        (void) acp_peer_error(client->peer, setting->call,
                              outcome->code ? outcome->code : CODE_INTERNAL, outcome->why,
                              acp_raw_from(NULL));
    else if (client->peer)
        (void) acp_peer_result(client->peer, setting->call, acp_raw_from(NULL));
    free(setting);
    client->daemon->setting_count--;
    note_work(client->daemon);
    release(client);
}

static void serve_set(struct client *client, acp_call call, struct acp_raw params)
{
    struct acp_arena arena;
    struct acp_str name = {0};
    struct acp_str value = {0};
    struct setting *setting;
    if (client->daemon->setting_count >= DAEMON_MAX_SETTINGS) {
        refuse(client, call, CODE_BUSY, "too many settings wait already");
        return;
    }
    setting = calloc(1, sizeof(*setting));
    acp_arena_init(&arena, 0);
    int err = setting ? daemon_read_text(params, "name", &arena, &name) : ACP_ERR_NOMEM;
    if (!err)
        err = daemon_read_text(params, "value", &arena, &value);
    if (!err && (!name.len || !value.ptr))
        err = ACP_ERR_MISSING;
    if (!err && name.len + value.len > DAEMON_MAX_SETTING_BYTES)
        err = ACP_ERR_LIMIT;
    if (!err) {
        *setting = (struct setting){client, call};
        err = conversation_set(client->daemon->conversation, name, value, on_set, setting);
    }
    if (!err) {
        client->uses++;
        client->daemon->setting_count++;
    } else {
        free(setting);
        refuse(client, call, CODE_PARAMS, acp_err_text(err));
    }
    acp_arena_finish(&arena);
}

static void serve_status(struct client *client, acp_call call)
{
    const struct daemon *daemon = client->daemon;
    struct daemon_status status = {
        .pid = (uint64_t) getpid(),
        .agent_pid = (uint64_t) conversation_agent_pid(daemon->conversation),
        .request = conversation_request(daemon->conversation),
        .waiting = conversation_waiting(daemon->conversation),
        .idle_ms = uv_now(daemon->loop) - daemon->idle_since,
        .agent_session = conversation_agent_session(daemon->conversation),
    };
    struct acp_json_writer *w = acp_peer_begin_result(client->peer, call);
    daemon_write_status(w, &status);
    (void) acp_peer_commit(client->peer, NULL);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct client *client = user;
    (void) peer;
    if (!client->daemon->conversation) {
        refuse(client, call, CODE_BUSY, "the session is being closed");
    } else if (acp_str_is(message->method, "daemon/prompt")) {
        serve_prompt(client, call, message->params);
    } else if (acp_str_is(message->method, "daemon/cancel")) {
        serve_cancel(client, call);
    } else if (acp_str_is(message->method, "daemon/cancel_own")) {
        serve_cancel_own(client, call);
    } else if (acp_str_is(message->method, "daemon/set")) {
        serve_set(client, call, message->params);
    } else if (acp_str_is(message->method, "daemon/status")) {
        serve_status(client, call);
    } else if (acp_str_is(message->method, "daemon/stop")) {
        (void) acp_peer_result(client->peer, call, acp_raw_from(NULL));
        end(client->daemon);
    } else {
        refuse(client, call, CODE_METHOD, "Method not found");
    }
}

/* ---- Coming and going ------------------------------------------------------------------------ */

/* The agent waits for the slowest client: what one cannot take would pile up in its output. */
static void regulate(struct daemon *daemon)
{
    bool pressed = false;
    for (const struct client *v = daemon->clients; v && !pressed; v = v->next)
        pressed = v->peer && acp_peer_is_above_high_water(v->peer);
    if (daemon->conversation)
        conversation_pause(daemon->conversation, pressed);
}

static void on_left(struct acp_link *link, int reason, void *user)
{
    struct client *client = user;
    (void) reason;
    struct acp_peer *peer = client->peer;
    client->peer = NULL;
    client->link = NULL;
    acp_link_free(link);
    acp_peer_free(peer); /* what it was asked is answered with no, here */
    regulate(client->daemon);
    client->daemon->client_count--;
    client->daemon->input_room -= client->input_room;
    release(client);
}

static void on_pressure(struct acp_peer *peer, bool high, void *user)
{
    struct client *client = user;
    (void) peer;
    (void) high;
    regulate(client->daemon);
}

static void accept_client(struct daemon *daemon, int fd)
{
    static const struct acp_peer_handler handler = {.request = on_request, .pressure = on_pressure};
    static const struct acp_link_handler link_handler = {.closed = on_left};
    size_t room = (DAEMON_MAX_INPUT - daemon->input_room) / 2;
    const struct acp_peer_options options = {
        .max_message = room < DAEMON_MIN_MESSAGE ? (size_t) DAEMON_MIN_MESSAGE : room};
    struct acp_link_options link = {.in = fd, .out = fd};
    struct client *client = calloc(1, sizeof(*client));
    if (!client || acp_peer_new(&options, &handler, client, &client->peer)) {
        (void) close(fd);
        free(client);
        return;
    }
    client->daemon = daemon;
    client->input_room = room < DAEMON_MIN_MESSAGE ? 0 : room;
    struct acp_endpoint *endpoint = acp_peer_endpoint(client->peer);
    if (acp_link_new(daemon->loop, &link, endpoint, &link_handler, client, &client->link)) {
        acp_peer_free(client->peer);
        free(client);
        return;
    }
    client->uses = 1;
    client->next = daemon->clients;
    daemon->clients = client;
    daemon->client_count++;
    daemon->input_room += client->input_room;
}

static void on_connection(uv_poll_t *listener, int status, int events)
{
    struct daemon *daemon = listener->data;
    (void) status;
    (void) events;
    int fd = accept4(daemon->listener_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (daemon->client_count >= DAEMON_MAX_CLIENTS)
        (void) close(fd);
    else
        accept_client(daemon, fd);
    note_work(daemon);
}

/* ---- Its life -------------------------------------------------------------------------------- */

static void on_signal(uv_signal_t *signal, int number)
{
    (void) number;
    end(signal->data);
}

/* Visitors who still wait are told by the end of the connection. */
static void on_stopped(struct conversation *conversation, void *user)
{
    struct daemon *daemon = user;
    conversation_free(conversation);
    daemon->conversation = NULL;
    for (struct client *v = daemon->clients; v; v = v->next)
        if (v->link)
            acp_link_close(v->link);
    acp_reaper_free(daemon->reaper);
    uv_close((uv_handle_t *) &daemon->listener, NULL);
    uv_close((uv_handle_t *) &daemon->idle, NULL);
    for (size_t i = 0; i < DAEMON_SIGNALS; i++)
        uv_close((uv_handle_t *) &daemon->signals[i], NULL);
    (void) close(daemon->listener_fd);
}

int daemon_run(const struct daemon_options *options, int listener_fd, void (*ready)(void *user),
               void *user)
{
    static const struct conversation_handler handler = {
        .record = on_record,
        .question = on_question,
        .question_gone = on_question_gone,
        .ended = on_ended,
        .stopped = on_stopped,
    };
    static const int numbers[DAEMON_SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    struct daemon daemon = {.options = options, .listener_fd = listener_fd};
    uv_loop_t loop;
    int err = uv_loop_init(&loop) ? ACP_ERR_NOMEM : 0;
    if (err)
        return err;
    daemon.loop = &loop;
    err = conversation_new(&loop, &options->conversation, &handler, &daemon, &daemon.conversation);
    if (err)
        return err;
    (void) acp_reaper_new(&loop, &daemon.reaper);
    (void) uv_timer_init(&loop, &daemon.idle);
    daemon.idle.data = &daemon;
    for (size_t i = 0; i < DAEMON_SIGNALS; i++) {
        (void) uv_signal_init(&loop, &daemon.signals[i]);
        daemon.signals[i].data = &daemon;
        (void) uv_signal_start(&daemon.signals[i], on_signal, numbers[i]);
    }
    (void) uv_poll_init(&loop, &daemon.listener, listener_fd);
    daemon.listener.data = &daemon;
    (void) uv_poll_start(&daemon.listener, UV_READABLE, on_connection);
    note_work(&daemon);
    ready(user);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&loop);
    return 0;
}
