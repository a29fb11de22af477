/* mini-client - starts an agent, says one thing to it and prints what it answers. */
#include "acp/run.h"
#include <stdio.h>
#include <unistd.h>

static struct acp_agent_process *agent;
static int status = 1;

static void on_event(struct acp_client_session *session, const struct acp_event *event, void *user)
{
    (void) session, (void) user;
    if (event->kind == ACP_EVENT_CHUNK && event->block->is == ACP_CONTENT_BLOCK_TEXT)
        (void) fwrite(event->block->text.text.ptr, 1, event->block->text.text.len, stdout);
}

static void finish(struct acp_agent_process *process, struct acp_str how, int exit_status)
{
    status = exit_status;
    printf("\n[%.*s]\n", ACP_ARG(how));
    acp_agent_process_stop(process);
}

static void on_end(struct acp_client_session *session, const struct acp_turn_stop *stop,
                   const struct acp_outcome *outcome, void *process)
{
    (void) session;
    finish(process, outcome->err ? outcome->why : stop->text, outcome->err != 0);
}

static void on_session(struct acp_client *client, struct acp_client_session *session,
                       const struct acp_outcome *outcome, void *message)
{
    struct acp_content_block block;
    (void) client;
    acp_content_block_init_text(&block, acp_str_from(message));
    if (outcome->err || acp_client_prompt(session, &block, 1, on_end, agent))
        finish(agent, outcome->err ? outcome->why : acp_str_from("no prompt"), 1);
}

static void on_ready(struct acp_client *client, const struct acp_outcome *outcome, void *message)
{
    static char cwd[4096];
    struct acp_session_params place = {.cwd = acp_str_from(getcwd(cwd, sizeof(cwd)))};
    if (outcome->err || acp_client_new_session(client, &place, on_session, message))
        finish(agent, outcome->err ? outcome->why : acp_str_from("no session"), 1);
}

int main(int argc, char **argv)
{
    struct acp_agent_process_options options = {.handler.event = on_event};
    struct acp_failure failure = {.message = "usage: mini-client MESSAGE AGENT [ARGUMENT...]"};
    struct acp_reaper *reaper = NULL;
    options.process.argv = (const char *const *) argv + 2;
    options.client.versions = ACP_V1 | ACP_V2;
    (void) acp_reaper_new(uv_default_loop(), &reaper); /* ends what the agent leaves behind */
    if (argc < 3 || acp_agent_process_start(uv_default_loop(), &options, &agent, &failure))
        return fprintf(stderr, "%s\n", failure.message), 1;
    (void) acp_client_initialize(acp_agent_process_client(agent), on_ready, argv[1]);
    (void) uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    acp_agent_process_free(agent);
    acp_reaper_free(reaper);
    (void) uv_run(uv_default_loop(), UV_RUN_DEFAULT); /* lets them go */
    return status;
}
