/*
 * core-agent - an agent on the core alone: messages, the JSON-RPC peer, and a read/write loop.
 *
 * It says back what it is told.  This is what to look at for an event loop of one's own; with
 * libuv, echo-agent.c does the same in a quarter of the lines.
 */
#include <stdio.h>
#include <unistd.h>

#include "acp/rpc.h"
#include "acp/types.h"

struct agent {
    struct acp_arena arena; /* for the message at hand */
    int sessions;
};

/* Takes the result of a commit.  The client was answered with an error already, if it waits. */
static void check_sent(int err)
{
    if (err)
        (void) fprintf(stderr, "core-agent: cannot send: %s\n", acp_err_text(err));
}

static void answer_initialize(struct acp_peer *peer, acp_call call)
{
    struct acp_initialize_response answer;
    struct acp_implementation info;
    acp_implementation_init(&info, acp_str_from("core-agent"), acp_str_from("1.0"));
    acp_initialize_response_init(&answer, 1);
    answer.agent_info = &info;
    struct acp_json_writer *w = acp_peer_begin_result(peer, call);
    (void) acp_initialize_response_encode(ACP_V1, &answer, w, NULL);
    check_sent(acp_peer_commit(peer, NULL));
}

static void answer_new_session(struct acp_peer *peer, acp_call call, struct agent *agent)
{
    char id[32];
    struct acp_new_session_response answer;
    (void) snprintf(id, sizeof(id), "session-%d", ++agent->sessions);
    acp_new_session_response_init(&answer, acp_str_from(id));
    struct acp_json_writer *w = acp_peer_begin_result(peer, call);
    (void) acp_new_session_response_encode(ACP_V1, &answer, w, NULL);
    check_sent(acp_peer_commit(peer, NULL));
}

static bool is_session(const struct agent *agent, struct acp_str id)
{
    char known[32];
    for (int i = 1; i <= agent->sessions; i++) {
        (void) snprintf(known, sizeof(known), "session-%d", i);
        if (acp_str_is(id, known))
            return true;
    }
    return false;
}

/* Sends each block of the prompt back as a chunk, then ends the turn. */
static void answer_prompt(struct acp_peer *peer, acp_call call, struct acp_raw params,
                          struct agent *agent)
{
    struct acp_prompt_request prompt;
    struct acp_failure failure;
    if (acp_prompt_request_decode(ACP_V1, params, &agent->arena, &prompt, &failure)) {
        (void) acp_peer_error(peer, call, ACP_ERROR_CODE_INVALID_PARAMS,
                              acp_str_from(failure.message), acp_raw_from(NULL));
        return;
    }
    if (!is_session(agent, prompt.session_id)) {
        (void) acp_peer_error(peer, call, ACP_ERROR_CODE_RESOURCE_NOT_FOUND,
                              acp_str_from("There is no such session"), acp_raw_from(NULL));
        return;
    }
    for (size_t i = 0; i < prompt.prompt.count; i++) {
        struct acp_session_notification note;
        acp_session_notification_init(&note, prompt.session_id);
        acp_session_update_init_agent_message_chunk(&note.update);
        note.update.agent_message_chunk.content = prompt.prompt.items[i];
        struct acp_json_writer *w = acp_peer_begin_notify(peer, acp_str_from("session/update"));
        (void) acp_session_notification_encode(ACP_V1, &note, w, NULL);
        check_sent(acp_peer_commit(peer, NULL));
    }
    (void) acp_peer_result(peer, call, acp_raw_from("{\"stopReason\":\"end_turn\"}"));
}

static void on_request(struct acp_peer *peer, acp_call call, const struct acp_message *message,
                       void *user)
{
    struct agent *agent = user;
    struct acp_method method;
    acp_arena_reset(&agent->arena);
    if (!acp_method_find(message->method, ACP_SIDE_CLIENT, ACP_V1, &method))
        method.id = -1;
    switch (method.id) {
    case ACP_METHOD_INITIALIZE:
        answer_initialize(peer, call);
        break;
    case ACP_METHOD_SESSION_NEW:
        answer_new_session(peer, call, agent);
        break;
    case ACP_METHOD_SESSION_PROMPT:
        answer_prompt(peer, call, message->params, agent);
        break;
    default:
        (void) acp_peer_error(peer, call, ACP_ERROR_CODE_METHOD_NOT_FOUND,
                              acp_str_from("Method not found"), acp_raw_from(NULL));
    }
}

/* Writes out all that the peer has to say. */
static int flush(struct acp_peer *peer)
{
    struct acp_str out;
    while ((out = acp_peer_output(peer)).len > 0) {
        ssize_t n = write(STDOUT_FILENO, out.ptr, out.len);
        if (n <= 0)
            return -1;
        acp_peer_sent(peer, (size_t) n);
    }
    return 0;
}

int main(void)
{
    static const struct acp_peer_handler handler = {.request = on_request};
    struct agent agent = {0};
    struct acp_peer *peer;
    char bytes[65536];
    ssize_t n;
    acp_arena_init(&agent.arena, 0);
    if (acp_peer_new(NULL, &handler, &agent, &peer))
        return 1;
    while ((n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
        if (acp_peer_receive(peer, bytes, (size_t) n, 0) || flush(peer))
            break;
    acp_peer_receive_end(peer, 0);
    (void) flush(peer);
    acp_peer_free(peer);
    acp_arena_finish(&agent.arena);
    return 0;
}
