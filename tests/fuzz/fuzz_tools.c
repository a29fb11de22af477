/*
 * Fuzzes what a model says to tools.  The first byte chooses the tool, the rest is its input, in a
 * session with a folder of its own and nobody to be asked, so that nothing is written and nothing
 * run.  Each run must have exactly one end, with a text that is not too long.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/toolkit/tools.h"
#include "fuzz.h"

enum { MOST = 4000 };

static struct world {
    uv_loop_t loop;
    struct acp_agent *agent;
    struct acp_jobs *jobs;
    struct acp_policy *policy;
    struct toolbox *box;
    struct tools *tools;
    struct acp_session *session;
    struct acp_turn *turn;
    char folder[64];
    int ends;
} world;

static void on_session(struct acp_session *session, const struct acp_new_session_request *request,
                       void *user)
{
    (void) request;
    (void) user;
    world.session = session;
    CHECK(acp_session_accept(session, NULL) == 0);
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    (void) prompt;
    (void) user;
    world.turn = turn;
}

static void hear(const char *line)
{
    struct acp_endpoint *agent = acp_agent_endpoint(world.agent);
    (void) acp_endpoint_receive(agent, line, strlen(line), uv_now(&world.loop));
    acp_endpoint_sent(agent, acp_endpoint_output(agent).len);
}

static void leave(void)
{
    char path[100];
    (void) snprintf(path, sizeof(path), "%s/f", world.folder);
    (void) unlink(path);
    (void) rmdir(world.folder);
}

static void make_folder(void)
{
    char path[100];
    (void) snprintf(world.folder, sizeof(world.folder), "/tmp/acp-fuzz-XXXXXX");
    CHECK(mkdtemp(world.folder));
    CHECK(atexit(leave) == 0);
    (void) snprintf(path, sizeof(path), "%s/f", world.folder);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs("one\ntwo\nthree\n", file) >= 0 && fclose(file) == 0);
}

static void make_world(void)
{
    static const struct acp_agent_handler handler = {.new_session = on_session,
                                                     .prompt = on_prompt};
    struct acp_agent_options options = {.versions = ACP_V1, .seed = {1, 2}};
    char line[300];
    make_folder();
    CHECK(uv_loop_init(&world.loop) == 0);
    CHECK(acp_agent_new(&options, &handler, NULL, &world.agent) == 0);
    CHECK(acp_jobs_new(&world.loop, world.agent, NULL, &world.jobs) == 0);
    CHECK(acp_policy_new(&world.policy) == 0);
    hear("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
         "\"params\":{\"protocolVersion\":1}}\n");
    (void) snprintf(line, sizeof(line),
                    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/new\",\"params\":{\"cwd\":"
                    "\"%s\",\"mcpServers\":[]}}\n",
                    world.folder);
    hear(line);
    CHECK(world.session);
    struct acp_str id = acp_session_id(world.session);
    (void) snprintf(line, sizeof(line),
                    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/prompt\",\"params\":{"
                    "\"sessionId\":\"%.*s\",\"prompt\":[{\"type\":\"text\",\"text\":\"go\"}]}}\n",
                    (int) id.len, id.ptr);
    hear(line);
    CHECK(world.turn);
    CHECK(toolbox_new(&world.loop, NULL, &world.box) == 0);
    struct tools_options set = {.box = world.box,
                                .session = world.session,
                                .jobs = world.jobs,
                                .policy = world.policy,
                                .nobody = true};
    CHECK(tools_new(&set, &world.tools) == 0);
}

static void on_done(struct tools *set, struct acp_str call, enum tool_end end, struct acp_str text,
                    void *user)
{
    (void) set;
    (void) call;
    (void) user;
    CHECK(end == TOOL_COMPLETED || end == TOOL_FAILED || end == TOOL_DENIED);
    CHECK(text.len && text.len <= TOOLS_MAX_RESULT);
    world.ends++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > MOST)
        return 0;
    if (!world.tools)
        make_world();
    size_t count = 0;
    while (toolbox_at(world.box, count))
        count++;
    const struct tool_info *tool = toolbox_at(world.box, data[0] % count);
    world.ends = 0;
    CHECK(tools_run(world.tools, world.turn, acp_str_from("call"), acp_str_from(tool->name),
                    acp_raw_n((const char *) data + 1, size - 1), on_done, NULL) == 0);
    while (!world.ends)
        (void) uv_run(&world.loop, UV_RUN_ONCE);
    (void) uv_run(&world.loop, UV_RUN_NOWAIT);
    CHECK(world.ends == 1 && tools_running(world.tools) == 0);
    struct acp_endpoint *agent = acp_agent_endpoint(world.agent);
    acp_endpoint_sent(agent, acp_endpoint_output(agent).len);
    return 0;
}
