/*
 * daemon.c - the process that owns a session: one talk, and the visitors who use it.
 *
 * A visitor is a link with a peer.  A prompt of a visitor who leaves goes on: the log keeps what
 * comes of it.  What only that visitor could have answered is answered with no.
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
    OWNER_MAX_WAITING = 100,
    OWNER_MAX_WAITING_BYTES = 64 * 1024 * 1024,
    OWNER_MAX_SETTINGS = 100,            /* that wait, of all visitors */
    OWNER_MAX_SETTING_BYTES = 64 * 1024, /* of the name and the value of one */
    OWNER_MAX_VISITORS = 64,
    /* Messages of all visitors: each takes half of what is left, the first 64 MiB. */
    OWNER_MAX_INPUT = 128 * 1024 * 1024,
    OWNER_MIN_MESSAGE = 64 * 1024, /* that each may send in any case */
    OWNER_SIGNALS = 3,
};

/* How long an agent has to stop when it was asked to. */
enum { CANCEL_GRACE_MS = 5000 };

/* JSON-RPC codes that visitors are told. */
enum { CODE_BUSY = -32000, CODE_METHOD = -32601, CODE_PARAMS = -32602, CODE_INTERNAL = -32603 };

/* A prompt that a visitor waits for. */
struct waited {
    struct waited *next;
    struct visitor *visitor;
    acp_call call;
    uint64_t request;
};

/* A question that a visitor has been asked. */
struct asked {
    struct asked *next;
    struct visitor *visitor;
    uint64_t number;  /* of the talk's question */
    uint64_t request; /* of ours to the visitor */
};

/* Lives until the visitor has left and nothing of its is at work any more. */
struct visitor {
    struct visitor *next;
    struct owner *owner;
    struct acp_peer *peer; /* NULL when it has left */
    struct acp_link *link;
    size_t input_room; /* for a message of its, taken from the owner's */
    unsigned uses;
};

struct owner {
    const struct owner_options *options;
    uv_loop_t *loop;
    struct talk *talk; /* NULL when it has stopped, and only visitors are left */
    uv_poll_t door;
    int door_fd;
    uv_timer_t idle;
    uint64_t idle_since;
    uv_signal_t signals[OWNER_SIGNALS];
    struct acp_reaper *reaper;
    struct visitor *visitors;
    size_t visitor_count; /* of those who are here */
    size_t setting_count; /* that wait */
    size_t input_room;    /* given to visitors */
    struct waited *waited;
    struct asked *asked;
    bool ending;
};

static void release(struct visitor *visitor)
{
    struct visitor **at = &visitor->owner->visitors;
    if (--visitor->uses)
        return;
    while (*at != visitor)
        at = &(*at)->next;
    *at = visitor->next;
    free(visitor);
}

/* ---- Idleness -------------------------------------------------------------------------------- */

static void end(struct owner *owner)
{
    if (owner->ending)
        return;
    owner->ending = true;
    (void) unlink(owner->options->socket);
    (void) uv_poll_stop(&owner->door);
    (void) uv_timer_stop(&owner->idle);
    talk_stop(owner->talk);
}

static void on_idle(uv_timer_t *timer)
{
    end(timer->data);
}

/* Called whenever something has begun or ended. */
static void note_work(struct owner *owner)
{
    bool busy = talk_request(owner->talk) || talk_waiting(owner->talk);
    owner->idle_since = uv_now(owner->loop);
    (void) uv_timer_stop(&owner->idle);
    if (!busy && owner->options->ttl_ms && !owner->ending)
        (void) uv_timer_start(&owner->idle, on_idle, owner->options->ttl_ms, 0);
}

/* ---- What the talk tells --------------------------------------------------------------------- */

static struct visitor *visitor_of(const struct owner *owner, uint64_t request)
{
    for (struct waited *w = owner->waited; w; w = w->next)
        if (w->request == request)
            return w->visitor;
    return NULL;
}

/* What belongs to no prompt is for everybody who waits for one. */
static bool is_for(const struct owner *owner, const struct visitor *visitor, uint64_t request)
{
    for (struct waited *w = owner->waited; w; w = w->next)
        if (w->visitor == visitor && (!request || w->request == request))
            return true;
    return false;
}

static void on_record(struct talk *talk, const struct record *record, void *user)
{
    struct owner *owner = user;
    (void) talk;
    for (struct visitor *v = owner->visitors; v; v = v->next) {
        if (!v->peer || !is_for(owner, v, record->request))
            continue;
        struct acp_json_writer *w = acp_peer_begin_notify(v->peer, acp_str_from("owner/record"));
        (void) record_write(record, owner->options->talk.session, w);
        (void) acp_peer_commit(v->peer, NULL);
    }
}

/* Who waits for the prompt is told how it ended. */
static void tell_end(struct owner *owner, uint64_t request, const struct talk_end *how)
{
    struct waited **at = &owner->waited;
    while (*at) {
        struct waited *waited = *at;
        if (waited->request != request) {
            at = &waited->next;
            continue;
        }
        *at = waited->next;
        if (waited->visitor->peer) {
            struct acp_json_writer *w = acp_peer_begin_result(waited->visitor->peer, waited->call);
            wire_write_end(w, request, how);
            (void) acp_peer_commit(waited->visitor->peer, NULL);
        }
        release(waited->visitor);
        free(waited);
    }
}

static void on_ended(struct talk *talk, uint64_t request, const struct talk_end *how, void *user)
{
    struct owner *owner = user;
    (void) talk;
    tell_end(owner, request, how);
    note_work(owner);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static struct asked *take_asked(struct owner *owner, const struct asked *wanted)
{
    struct asked **at = &owner->asked;
    while (*at && *at != wanted)
        at = &(*at)->next;
    struct asked *found = *at;
    if (found)
        *at = found->next;
    return found;
}

static void on_answered(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                        void *user)
{
    struct asked *asked = user;
    struct owner *owner = asked->visitor->owner;
    struct acp_arena arena;
    struct acp_str option = {0};
    (void) peer;
    (void) request;
    acp_arena_init(&arena, 0);
    if (!reply->err)
        (void) wire_read_text(reply->result, "option", &arena, &option);
    if (take_asked(owner, asked))
        (void) talk_answer(owner->talk, asked->number, option);
    free(asked);
    acp_arena_finish(&arena);
}

static void on_question(struct talk *talk, const struct talk_question *question, void *user)
{
    struct owner *owner = user;
    struct visitor *visitor = visitor_of(owner, talk_request(talk));
    struct asked *asked = visitor && visitor->peer ? calloc(1, sizeof(*asked)) : NULL;
    struct acp_request request = {
        .method = acp_str_from("owner/ask"), .reply = on_answered, .user = asked};
    struct acp_json_writer *w = asked ? acp_peer_begin_request(visitor->peer, &request) : NULL;
    if (w)
        wire_write_question(w, question);
    if (!w || acp_peer_commit(visitor->peer, &asked->request)) {
        free(asked);
        (void) talk_answer(talk, question->number, (struct acp_str){0});
        return;
    }
    asked->visitor = visitor;
    asked->number = question->number;
    asked->next = owner->asked;
    owner->asked = asked;
}

static void on_question_gone(struct talk *talk, uint64_t number, void *user)
{
    struct owner *owner = user;
    (void) talk;
    for (struct asked *a = owner->asked; a; a = a->next) {
        if (a->number != number)
            continue;
        /* Its answer still comes, and finds nothing to answer. */
        (void) take_asked(owner, a);
        if (a->visitor->peer)
            (void) acp_peer_cancel(a->visitor->peer, a->request);
        return;
    }
}

/* ---- What visitors want ---------------------------------------------------------------------- */

static void refuse(struct visitor *visitor, acp_call call, int64_t code, const char *sentence)
{
    (void) acp_peer_error(visitor->peer, call, code, acp_str_from(sentence), acp_raw_from(NULL));
}

static void tell_place(struct visitor *visitor, acp_call call, uint64_t request, size_t ahead,
                       bool wait)
{
    struct acp_json_writer *w =
        wait ? acp_peer_begin_notify(visitor->peer, acp_str_from("owner/queued"))
             : acp_peer_begin_result(visitor->peer, call);
    acp_json_begin_object(w);
    acp_json_write_key(w, acp_str_from("request"));
    acp_json_write_u64(w, request);
    acp_json_write_key(w, acp_str_from("ahead"));
    acp_json_write_u64(w, ahead);
    acp_json_end_object(w);
    (void) acp_peer_commit(visitor->peer, NULL);
}

static void serve_prompt(struct visitor *visitor, acp_call call, struct acp_raw params)
{
    struct owner *owner = visitor->owner;
    size_t most = owner->options->max_waiting ? owner->options->max_waiting : OWNER_MAX_WAITING;
    size_t ahead = talk_waiting(owner->talk) + (talk_request(owner->talk) ? 1 : 0);
    size_t waiting_bytes = talk_waiting_bytes(owner->talk);
    struct wire_prompt prompt;
    struct acp_arena arena;
    struct waited *waited = NULL;
    uint64_t request;
    acp_arena_init(&arena, 0);
    int err = wire_read_prompt(params, &arena, &prompt);
    if (err) {
        refuse(visitor, call, CODE_PARAMS, acp_err_text(err));
    } else if (ahead > most || prompt.body.len > OWNER_MAX_WAITING_BYTES - waiting_bytes) {
        refuse(visitor, call, CODE_BUSY, "too many prompts wait already");
    } else if (owner->ending) {
        refuse(visitor, call, CODE_BUSY, "the session is being closed");
    } else {
        struct talk_prompt_options options = {
            .timeout_ms = prompt.timeout_ms,
            .policy = owner->options->policies[prompt.permit],
            .nobody = !prompt.ask,
        };
        waited = calloc(1, sizeof(*waited));
        err = waited ? talk_prompt(owner->talk, prompt.body, &options, &request) : ACP_ERR_NOMEM;
        if (err) {
            free(waited);
            refuse(visitor, call, CODE_INTERNAL, acp_err_text(err));
        }
    }
    acp_arena_finish(&arena);
    if (err || !waited)
        return;
    if (prompt.wait) {
        *waited = (struct waited){owner->waited, visitor, call, request};
        owner->waited = waited;
        visitor->uses++;
    } else {
        free(waited);
    }
    if (ahead || !prompt.wait)
        tell_place(visitor, call, request, ahead, prompt.wait);
    note_work(owner);
}

static void serve_cancel(struct visitor *visitor, acp_call call)
{
    bool cancelled = talk_cancel(visitor->owner->talk, CANCEL_GRACE_MS);
    (void) acp_peer_result(
        visitor->peer, call,
        acp_raw_from(cancelled ? "{\"cancelled\":true}" : "{\"cancelled\":false}"));
}

static void serve_give_up(struct visitor *visitor, acp_call call)
{
    struct owner *owner = visitor->owner;
    const struct talk_end taken_back = {
        .kind = TALK_STOPPED, .stop = acp_str_from("cancelled"), .cancelled = true};
    struct waited *next;
    (void) acp_peer_result(visitor->peer, call, acp_raw_from(NULL));
    for (struct waited *w = owner->waited; w; w = next) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the end of one prompt frees no other */
        next = w->next;
        if (w->visitor != visitor)
            continue;
        if (w->request == talk_request(owner->talk))
            (void) talk_cancel(owner->talk, CANCEL_GRACE_MS);
        else if (talk_withdraw(owner->talk, w->request))
            tell_end(owner, w->request, &taken_back);
    }
    note_work(owner);
}

/* A setting that a visitor waits for. */
struct setting {
    struct visitor *visitor;
    acp_call call;
};

static void on_set(struct talk *talk, const struct acp_outcome *outcome, void *user)
{
    struct setting *setting = user;
    struct visitor *visitor = setting->visitor;
    (void) talk;
    if (visitor->peer && outcome->err)
        (void) acp_peer_error(visitor->peer, setting->call,
                              outcome->code ? outcome->code : CODE_INTERNAL, outcome->why,
                              acp_raw_from(NULL));
    else if (visitor->peer)
        (void) acp_peer_result(visitor->peer, setting->call, acp_raw_from(NULL));
    free(setting);
    visitor->owner->setting_count--;
    note_work(visitor->owner);
    release(visitor);
}

static void serve_set(struct visitor *visitor, acp_call call, struct acp_raw params)
{
    struct acp_arena arena;
    struct acp_str name = {0};
    struct acp_str value = {0};
    struct setting *setting;
    if (visitor->owner->setting_count >= OWNER_MAX_SETTINGS) {
        refuse(visitor, call, CODE_BUSY, "too many settings wait already");
        return;
    }
    setting = calloc(1, sizeof(*setting));
    acp_arena_init(&arena, 0);
    int err = setting ? wire_read_text(params, "name", &arena, &name) : ACP_ERR_NOMEM;
    if (!err)
        err = wire_read_text(params, "value", &arena, &value);
    if (!err && (!name.len || !value.ptr))
        err = ACP_ERR_MISSING;
    if (!err && name.len + value.len > OWNER_MAX_SETTING_BYTES)
        err = ACP_ERR_LIMIT;
    if (!err) {
        *setting = (struct setting){visitor, call};
        err = talk_set(visitor->owner->talk, name, value, on_set, setting);
    }
    if (!err) {
        visitor->uses++;
        visitor->owner->setting_count++;
    } else {
        free(setting);
        refuse(visitor, call, CODE_PARAMS, acp_err_text(err));
    }
    acp_arena_finish(&arena);
}

static void serve_status(struct visitor *visitor, acp_call call)
{
    const struct owner *owner = visitor->owner;
    struct wire_status status = {
        .pid = (uint64_t) getpid(),
        .agent_pid = (uint64_t) talk_agent_pid(owner->talk),
        .request = talk_request(owner->talk),
        .waiting = talk_waiting(owner->talk),
        .idle_ms = uv_now(owner->loop) - owner->idle_since,
        .agent_session = talk_agent_session(owner->talk),
    };
    struct acp_json_writer *w = acp_peer_begin_result(visitor->peer, call);
    wire_write_status(w, &status);
    (void) acp_peer_commit(visitor->peer, NULL);
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct visitor *visitor = user;
    (void) peer;
    if (!visitor->owner->talk) {
        refuse(visitor, call, CODE_BUSY, "the session is being closed");
    } else if (acp_str_is(message->method, "owner/prompt")) {
        serve_prompt(visitor, call, message->params);
    } else if (acp_str_is(message->method, "owner/cancel")) {
        serve_cancel(visitor, call);
    } else if (acp_str_is(message->method, "owner/give-up")) {
        serve_give_up(visitor, call);
    } else if (acp_str_is(message->method, "owner/set")) {
        serve_set(visitor, call, message->params);
    } else if (acp_str_is(message->method, "owner/status")) {
        serve_status(visitor, call);
    } else if (acp_str_is(message->method, "owner/stop")) {
        (void) acp_peer_result(visitor->peer, call, acp_raw_from(NULL));
        end(visitor->owner);
    } else {
        refuse(visitor, call, CODE_METHOD, "Method not found");
    }
}

/* ---- Coming and going ------------------------------------------------------------------------ */

/* The agent waits for the slowest visitor: what one cannot take would pile up in its output. */
static void regulate(struct owner *owner)
{
    bool pressed = false;
    for (const struct visitor *v = owner->visitors; v && !pressed; v = v->next)
        pressed = v->peer && acp_peer_is_above_high_water(v->peer);
    if (owner->talk)
        talk_pause(owner->talk, pressed);
}

static void on_left(struct acp_link *link, int reason, void *user)
{
    struct visitor *visitor = user;
    (void) reason;
    struct acp_peer *peer = visitor->peer;
    visitor->peer = NULL;
    visitor->link = NULL;
    acp_link_free(link);
    acp_peer_free(peer); /* what it was asked is answered with no, here */
    regulate(visitor->owner);
    visitor->owner->visitor_count--;
    visitor->owner->input_room -= visitor->input_room;
    release(visitor);
}

static void on_pressure(struct acp_peer *peer, bool high, void *user)
{
    struct visitor *visitor = user;
    (void) peer;
    (void) high;
    regulate(visitor->owner);
}

static void welcome(struct owner *owner, int fd)
{
    static const struct acp_peer_handler handler = {.request = on_request, .pressure = on_pressure};
    static const struct acp_link_handler link_handler = {.closed = on_left};
    size_t room = (OWNER_MAX_INPUT - owner->input_room) / 2;
    const struct acp_peer_options options = {
        .max_message = room < OWNER_MIN_MESSAGE ? (size_t) OWNER_MIN_MESSAGE : room};
    struct acp_link_options link = {.in = fd, .out = fd};
    struct visitor *visitor = calloc(1, sizeof(*visitor));
    if (!visitor || acp_peer_new(&options, &handler, visitor, &visitor->peer)) {
        (void) close(fd);
        free(visitor);
        return;
    }
    visitor->owner = owner;
    visitor->input_room = room < OWNER_MIN_MESSAGE ? 0 : room;
    struct acp_endpoint *endpoint = acp_peer_endpoint(visitor->peer);
    if (acp_link_new(owner->loop, &link, endpoint, &link_handler, visitor, &visitor->link)) {
        acp_peer_free(visitor->peer);
        free(visitor);
        return;
    }
    visitor->uses = 1;
    visitor->next = owner->visitors;
    owner->visitors = visitor;
    owner->visitor_count++;
    owner->input_room += visitor->input_room;
}

static void on_knock(uv_poll_t *door, int status, int events)
{
    struct owner *owner = door->data;
    (void) status;
    (void) events;
    int fd = accept4(owner->door_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (owner->visitor_count >= OWNER_MAX_VISITORS)
        (void) close(fd);
    else
        welcome(owner, fd);
    note_work(owner);
}

/* ---- Its life -------------------------------------------------------------------------------- */

static void on_signal(uv_signal_t *signal, int number)
{
    (void) number;
    end(signal->data);
}

/* Visitors who still wait are told by the end of the connection. */
static void on_stopped(struct talk *talk, void *user)
{
    struct owner *owner = user;
    talk_free(talk);
    owner->talk = NULL;
    for (struct visitor *v = owner->visitors; v; v = v->next)
        if (v->link)
            acp_link_close(v->link);
    acp_reaper_free(owner->reaper);
    uv_close((uv_handle_t *) &owner->door, NULL);
    uv_close((uv_handle_t *) &owner->idle, NULL);
    for (size_t i = 0; i < OWNER_SIGNALS; i++)
        uv_close((uv_handle_t *) &owner->signals[i], NULL);
    (void) close(owner->door_fd);
}

int owner_run(const struct owner_options *options, int door_fd, void (*ready)(void *user),
              void *user)
{
    static const struct talk_handler handler = {
        .record = on_record,
        .question = on_question,
        .question_gone = on_question_gone,
        .ended = on_ended,
        .stopped = on_stopped,
    };
    static const int numbers[OWNER_SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    struct owner owner = {.options = options, .door_fd = door_fd};
    uv_loop_t loop;
    int err = uv_loop_init(&loop) ? ACP_ERR_NOMEM : 0;
    if (err)
        return err;
    owner.loop = &loop;
    err = talk_new(&loop, &options->talk, &handler, &owner, &owner.talk);
    if (err)
        return err;
    (void) acp_reaper_new(&loop, &owner.reaper);
    (void) uv_timer_init(&loop, &owner.idle);
    owner.idle.data = &owner;
    for (size_t i = 0; i < OWNER_SIGNALS; i++) {
        (void) uv_signal_init(&loop, &owner.signals[i]);
        owner.signals[i].data = &owner;
        (void) uv_signal_start(&owner.signals[i], on_signal, numbers[i]);
    }
    (void) uv_poll_init(&loop, &owner.door, door_fd);
    owner.door.data = &owner;
    (void) uv_poll_start(&owner.door, UV_READABLE, on_knock);
    note_work(&owner);
    ready(user);
    (void) uv_run(&loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&loop);
    return 0;
}
