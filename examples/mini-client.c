/* mini-client - starts an agent, says one thing to it and prints what it answers. */
#include "acp/run.h"
#include <stdio.h>
#include <unistd.h>

static struct acp_agent_process *agent;
static const char *message;
static int status = 1;

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    (void) session, (void) user;
    if (event->kind == ACP_EVENT_CHUNK && event->block->is == ACP_CONTENT_BLOCK_TEXT)
        (void) fwrite(event->block->text.text.ptr, 1, event->block->text.text.len, stdout);
}

static void on_end(struct acp_client_session *session, struct acp_str stop,
                   const struct acp_outcome *outcome, void *user)
{
    (void) session, (void) user;
    status = outcome->err != 0;
    struct acp_str how = outcome->err ? outcome->why : stop;
    printf("\n[%.*s]\n", (int) how.len, how.ptr);
    acp_agent_process_stop(agent);
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *user)
{
    struct acp_content_block block;
    (void) client, (void) user;
    acp_content_block_init_text(&block, acp_str(message));
    if (outcome->err || acp_client_prompt(session, &block, 1, on_end, NULL))
        (void) fprintf(stderr, "no session: %.*s\n", (int) outcome->why.len, outcome->why.ptr);
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *user)
{
    static char cwd[4096];
    struct acp_session_place place = {.cwd = acp_str(getcwd(cwd, sizeof(cwd)))};
    (void) user;
    if (outcome->err || acp_client_new_session(client, &place, on_session, NULL))
        (void) fprintf(stderr, "no agent: %.*s\n", (int) outcome->why.len, outcome->why.ptr);
}

int main(int argc, char **argv)
{
    struct acp_agent_process_options options = {.handler.event = on_event};
    struct acp_failure failure = {.message = "usage: mini-client MESSAGE AGENT [ARGUMENT...]"};
    options.process.argv = (const char *const *) argv + 2;
    options.client.versions = ACP_V1 | ACP_V2;
    message = argv[1];
    if (argc < 3 || acp_agent_process_start(uv_default_loop(), &options, &agent, &failure))
        return fprintf(stderr, "%s\n", failure.message), 1;
    (void) acp_client_start(acp_agent_process_client(agent), on_ready, NULL);
    (void) uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    acp_agent_process_free(agent);
    return status;
}
