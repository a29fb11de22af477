/* daemon_requests.c - what clients of a daemon ask for. */
#include <stdlib.h>
#include <unistd.h>

#include "acp/types.h"
#include "daemon/daemon_internal.h"
#include "json/members.h"

/* How long an agent has to end a turn when it was asked to. */
enum { CANCEL_GRACE_MS = 5000 };

static void refuse(struct client *client, acp_call call, int64_t code, const char *sentence)
{
    (void) acp_peer_error(client->peer, call, code, acp_str_from(sentence), acp_raw_from(NULL));
}

/* ---- Prompts --------------------------------------------------------------------------------- */

static void tell_place(struct client *client, acp_call call, uint64_t turn, size_t ahead, bool wait)
{
    struct acp_json_writer *w =
        wait ? acp_peer_begin_notify(client->peer, acp_str_from("daemon/queued"))
             : acp_peer_begin_result(client->peer, call);
    acp_json_begin_object(w);
    acp_json_put_u64(w, "turn", turn);
    acp_json_put_u64(w, "ahead", ahead);
    acp_json_end_object(w);
    (void) acp_peer_commit(client->peer, NULL);
}

/* The turn's end will be the answer. */
static int wait_for_end(struct client *client, acp_call call, bool can_answer,
                        struct waiting_prompt **ret)
{
    struct waiting_prompt *waiting = calloc(1, sizeof(*waiting));
    int err = waiting
                  ? client_subscribe(client, SUBSCRIBED_TO_OWN, can_answer, CONVERSATION_NEW_EVENTS)
                  : ACP_ERR_NOMEM;
    if (err) {
        free(waiting);
        return err;
    }
    *waiting = (struct waiting_prompt){.client = client, .call = call};
    *ret = waiting;
    return 0;
}

static void queue_prompt(struct client *client, acp_call call, const struct prompt_request *prompt,
                         size_t ahead)
{
    struct daemon *daemon = client->daemon;
    const struct prompt_options options = {
        .timeout_ms = prompt->timeout_ms,
        .policy = daemon->options->policies[prompt->permit],
        .nobody = !prompt->ask && !daemon_has_answering_client(daemon),
    };
    struct waiting_prompt *waiting = NULL;
    uint64_t turn = 0;
    int err = prompt->wait ? wait_for_end(client, call, prompt->ask, &waiting) : 0;
    if (!err)
        err = conversation_prompt(daemon->conversation, prompt->body, &options, &turn);
    if (err) {
        free(waiting);
        refuse(client, call, ACP_ERROR_CODE_INTERNAL_ERROR, acp_err_text(err));
        return;
    }
    if (waiting) {
        waiting->turn = turn;
        waiting->next = daemon->waiting;
        daemon->waiting = waiting;
        client_hold(client);
    }
    if (ahead || !prompt->wait)
        tell_place(client, call, turn, ahead, prompt->wait);
    daemon_note_activity(daemon);
}

static void serve_prompt(struct client *client, acp_call call, struct acp_raw params)
{
    struct daemon *daemon = client->daemon;
    size_t most = daemon->options->max_waiting ? daemon->options->max_waiting : DAEMON_MAX_WAITING;
    size_t ahead = conversation_queued(daemon->conversation) +
                   (conversation_turn(daemon->conversation) ? 1 : 0);
    size_t queued_bytes = conversation_queued_bytes(daemon->conversation);
    struct prompt_request prompt;
    struct acp_arena arena;
    acp_arena_init(&arena, 0);
    int err = daemon_read_prompt(params, &arena, &prompt);
    if (err)
        refuse(client, call, ACP_ERROR_CODE_INVALID_PARAMS, acp_err_text(err));
    else if (ahead > most || prompt.body.len > DAEMON_MAX_WAITING_BYTES - queued_bytes)
        refuse(client, call, CODE_BUSY, "too many prompts wait already");
    else if (daemon->ending)
        refuse(client, call, CODE_BUSY, "the session is being closed");
    else
        queue_prompt(client, call, &prompt, ahead);
    acp_arena_finish(&arena);
}

static void serve_cancel(struct client *client, acp_call call)
{
    bool cancelled = conversation_cancel(client->daemon->conversation, CANCEL_GRACE_MS);
    (void) acp_peer_result(
        client->peer, call,
        acp_raw_from(cancelled ? "{\"cancelled\":true}" : "{\"cancelled\":false}"));
}

static void serve_cancel_own(struct client *client, acp_call call, struct acp_raw params)
{
    static const char cancelled[] = "cancelled";
    struct daemon *daemon = client->daemon;
    const struct prompt_end withdrawn = {
        .kind = PROMPT_STOPPED, .stop = acp_str_from(cancelled), .cancelled = true};
    uint64_t running = conversation_turn(daemon->conversation);
    bool now = false;
    (void) acp_json_member_bool(params, "now", &now);
    (void) acp_peer_result(client->peer, call, acp_raw_from(NULL));
    for (struct waiting_prompt *w = daemon->waiting; w;) {
        uint64_t turn = w->turn;
        bool own = w->client == client;
        w = w->next;
        if (!own)
            continue;
        if (turn == running) {
            (void) conversation_cancel(daemon->conversation, CANCEL_GRACE_MS);
            if (now)
                conversation_kill_agent(daemon->conversation);
        } else if (conversation_withdraw(daemon->conversation, turn)) {
            daemon_tell_end(daemon, client, turn, &withdrawn);
            w = daemon->waiting;
        }
    }
    daemon_note_activity(daemon);
}

/* ---- Attaching ------------------------------------------------------------------------------- */

static void serve_attach(struct client *client, acp_call call, struct acp_raw params)
{
    uint64_t after = 0;
    bool answer = false;
    int err = acp_json_member_u64(params, "after", &after);
    if (!err)
        err = acp_json_member_bool(params, "answer", &answer);
    if (err) {
        refuse(client, call, ACP_ERROR_CODE_INVALID_PARAMS, acp_err_text(err));
        return;
    }
    err = client_subscribe(client, SUBSCRIBED_TO_ALL, answer, after);
    if (err)
        refuse(client, call, ACP_ERROR_CODE_INTERNAL_ERROR, acp_err_text(err));
    else
        (void) acp_peer_result(client->peer, call, acp_raw_from("{}"));
}

/* ---- Settings -------------------------------------------------------------------------------- */

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
                              outcome->code ? outcome->code : ACP_ERROR_CODE_INTERNAL_ERROR,
                              outcome->why, acp_raw_from(NULL));
    else if (client->peer)
        (void) acp_peer_result(client->peer, setting->call, acp_raw_from(NULL));
    free(setting);
    client->daemon->setting_count--;
    daemon_note_activity(client->daemon);
    client_release(client);
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
    int err = setting ? acp_json_member_str(params, "name", &arena, &name) : ACP_ERR_NOMEM;
    if (!err)
        err = acp_json_member_str(params, "value", &arena, &value);
    if (!err && (!name.len || !value.ptr))
        err = ACP_ERR_MISSING;
    if (!err && name.len + value.len > DAEMON_MAX_SETTING_BYTES)
        err = ACP_ERR_LIMIT;
    if (!err) {
        *setting = (struct setting){client, call};
        err = conversation_set(client->daemon->conversation, name, value, on_set, setting);
    }
    if (!err) {
        client_hold(client);
        client->daemon->setting_count++;
    } else {
        free(setting);
        refuse(client, call, ACP_ERROR_CODE_INVALID_PARAMS, acp_err_text(err));
    }
    acp_arena_finish(&arena);
}

/* ---- The rest -------------------------------------------------------------------------------- */

static void serve_status(struct client *client, acp_call call)
{
    const struct daemon *daemon = client->daemon;
    struct daemon_status status = {
        .pid = (uint64_t) getpid(),
        .agent_pid = (uint64_t) conversation_agent_pid(daemon->conversation),
        .turn = conversation_turn(daemon->conversation),
        .queued = conversation_queued(daemon->conversation),
        .idle_ms = uv_now(daemon->loop) - daemon->idle_since,
        .state =
            acp_str_from(conversation_state_name(conversation_get_state(daemon->conversation))),
        .agent_session = conversation_agent_session(daemon->conversation),
    };
    struct acp_json_writer *w = acp_peer_begin_result(client->peer, call);
    daemon_write_status(w, &status);
    (void) acp_peer_commit(client->peer, NULL);
}

void daemon_serve(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                  void *user)
{
    struct client *client = user;
    struct acp_str method = message->method;
    (void) peer;
    if (!client->daemon->conversation) {
        refuse(client, call, CODE_BUSY, "the session is being closed");
    } else if (acp_str_is(method, "daemon/prompt")) {
        serve_prompt(client, call, message->params);
    } else if (acp_str_is(method, "daemon/attach")) {
        serve_attach(client, call, message->params);
    } else if (acp_str_is(method, "daemon/cancel")) {
        serve_cancel(client, call);
    } else if (acp_str_is(method, "daemon/cancel_own")) {
        serve_cancel_own(client, call, message->params);
    } else if (acp_str_is(method, "daemon/set")) {
        serve_set(client, call, message->params);
    } else if (acp_str_is(method, "daemon/status")) {
        serve_status(client, call);
    } else if (acp_str_is(method, "daemon/stop")) {
        (void) acp_peer_result(client->peer, call, acp_raw_from(NULL));
        daemon_end(client->daemon);
    } else {
        refuse(client, call, ACP_ERROR_CODE_METHOD_NOT_FOUND, "Method not found");
    }
}
