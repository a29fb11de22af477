/*
 * core-client - a client on the core alone.  It starts an agent, sends it one prompt and prints the
 * answer:
 *
 *     core-client [-m MESSAGE] -- AGENT [ARGUMENT...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acp/rpc.h"
#include "acp/types.h"

struct client {
    struct acp_arena arena;
    const char *message;
    int to_agent;
    int from_agent;
    int status; /* -1 while the conversation goes on, then the exit status */
};

static void stop(struct client *client, const char *what, const struct acp_reply *reply)
{
    struct acp_str why =
        reply->error_message.ptr ? reply->error_message : acp_str_from(acp_err_text(reply->err));
    (void) fprintf(stderr, "core-client: %s: %.*s\n", what, (int) why.len, why.ptr);
    client->status = 1;
}

/* Takes the result of a commit: what could not be sent will not be answered. */
static void check_sent(struct client *client, int err)
{
    if (!err)
        return;
    (void) fprintf(stderr, "core-client: cannot send: %s\n", acp_err_text(err));
    client->status = 1;
}

static void on_prompt_end(struct acp_peer *peer, uint64_t id, const struct acp_reply *reply,
                          void *user)
{
    struct client *client = user;
    struct acp_prompt_response end;
    (void) peer;
    (void) id;
    if (reply->err) {
        stop(client, "the prompt failed", reply);
        return;
    }
    if (acp_prompt_response_decode(ACP_V1, reply->result, &client->arena, &end, NULL)) {
        (void) fputs("core-client: the agent ended the turn in a way that is no ACP\n", stderr);
        client->status = 1;
        return;
    }
    printf("\n[%.*s]\n", (int) end.stop_reason.text.len, end.stop_reason.text.ptr);
    client->status = 0;
}

static void on_session(struct acp_peer *peer, uint64_t id, const struct acp_reply *reply,
                       void *user)
{
    struct client *client = user;
    struct acp_new_session_response session;
    (void) id;
    if (reply->err ||
        acp_new_session_response_decode(ACP_V1, reply->result, &client->arena, &session, NULL)) {
        stop(client, "no session", reply);
        return;
    }
    struct acp_content_block block;
    struct acp_prompt_request prompt;
    acp_content_block_init_text(&block, acp_str_from(client->message));
    acp_prompt_request_init(&prompt, session.session_id, &block, 1);
    struct acp_request request = {
        .method = acp_str_from("session/prompt"), .reply = on_prompt_end, .user = client};
    struct acp_json_writer *w = acp_peer_begin_request(peer, &request);
    (void) acp_prompt_request_encode(ACP_V1, &prompt, w, NULL);
    check_sent(client, acp_peer_commit(peer, NULL));
}

static void on_initialized(struct acp_peer *peer, uint64_t id, const struct acp_reply *reply,
                           void *user)
{
    struct client *client = user;
    struct acp_new_session_request session;
    char cwd[4096];
    (void) id;
    if (reply->err || !getcwd(cwd, sizeof(cwd))) {
        stop(client, "the agent could not be initialized", reply);
        return;
    }
    acp_new_session_request_init(&session, acp_str_from(cwd));
    struct acp_request request = {
        .method = acp_str_from("session/new"), .reply = on_session, .user = client};
    struct acp_json_writer *w = acp_peer_begin_request(peer, &request);
    (void) acp_new_session_request_encode(ACP_V1, &session, w, NULL);
    check_sent(client, acp_peer_commit(peer, NULL));
}

static void begin(struct acp_peer *peer, struct client *client)
{
    struct acp_initialize_request hello;
    acp_initialize_request_init(&hello, 1);
    struct acp_request request = {
        .method = acp_str_from("initialize"), .reply = on_initialized, .user = client};
    struct acp_json_writer *w = acp_peer_begin_request(peer, &request);
    (void) acp_initialize_request_encode(ACP_V1, &hello, w, NULL);
    check_sent(client, acp_peer_commit(peer, NULL));
}

/* What the agent says while it works; only text is shown. */
static void on_notification(struct acp_peer *peer, const struct acp_message *message, void *user)
{
    struct client *client = user;
    struct acp_session_notification note;
    (void) peer;
    acp_arena_reset(&client->arena);
    if (!acp_str_is(message->method, "session/update") ||
        acp_session_notification_decode(ACP_V1, message->params, &client->arena, &note, NULL) ||
        note.update.is != ACP_SESSION_UPDATE_AGENT_MESSAGE_CHUNK)
        return;
    const struct acp_content_block *block = &note.update.agent_message_chunk.content;
    if (block->is == ACP_CONTENT_BLOCK_TEXT)
        (void) fwrite(block->text.text.ptr, 1, block->text.text.len, stdout);
}

static pid_t start_agent(struct client *client, char **argv)
{
    int to[2];
    int from[2];
    if (pipe(to) || pipe(from))
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        (void) dup2(to[0], STDIN_FILENO);
        (void) dup2(from[1], STDOUT_FILENO);
        for (int i = 0; i < 2; i++) {
            (void) close(to[i]);
            (void) close(from[i]);
        }
        (void) execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    (void) close(to[0]);
    (void) close(from[1]);
    client->to_agent = to[1];
    client->from_agent = from[0];
    return pid;
}

static void converse(struct acp_peer *peer, struct client *client)
{
    char bytes[65536];
    begin(peer, client);
    while (client->status < 0) {
        struct acp_str out = acp_peer_output(peer);
        ssize_t n = out.len ? write(client->to_agent, out.ptr, out.len) : 0;
        if (n > 0)
            acp_peer_sent(peer, (size_t) n);
        if (out.len)
            continue;
        n = read(client->from_agent, bytes, sizeof(bytes));
        if (n > 0)
            (void) acp_peer_receive(peer, bytes, (size_t) n, 0);
        else
            acp_peer_receive_end(peer, 0); /* fails what is open, which ends the conversation */
    }
}

int main(int argc, char **argv)
{
    static const struct acp_peer_handler handler = {.notification = on_notification};
    struct client client = {.message = "Hello, agent.", .status = -1};
    int option;
    while ((option = getopt(argc, argv, "m:")) == 'm')
        client.message = optarg;
    if (option != -1 || optind >= argc) {
        (void) fputs("usage: core-client [-m MESSAGE] -- AGENT [ARGUMENT...]\n", stderr);
        return 2;
    }
    struct acp_peer *peer;
    acp_arena_init(&client.arena, 0);
    pid_t agent = start_agent(&client, argv + optind);
    if (agent < 0 || acp_peer_new(NULL, &handler, &client, &peer))
        return 1;
    converse(peer, &client);
    acp_peer_free(peer);
    acp_arena_finish(&client.arena);
    (void) close(client.to_agent); /* the end of its input tells an agent to leave */
    (void) waitpid(agent, NULL, 0);
    return client.status;
}
