/*
 * A client and the agent process that it talks to.
 *
 * When the agent's output ends, the client is told only after the process is over: then it can be
 * said which program it was and how it ended, instead of just that a connection closed.
 */
#include <stdlib.h>

#include "acp/run.h"

struct acp_agent_process {
    struct acp_agent_process_options options;
    uv_loop_t *loop;
    struct acp_client *client;
    struct acp_endpoint inner; /* the client's own */
    struct acp_process *process;
    bool ended; /* the agent's output has ended */
};

/* ---- The endpoint: the client's, but for the end --------------------------------------------------- */

static int receive(void *self, const void *bytes, size_t n, uint64_t now)
{
    struct acp_agent_process *agent = self;
    return agent->inner.receive(agent->inner.self, bytes, n, now);
}

static void receive_end(void *self, uint64_t now)
{
    struct acp_agent_process *agent = self;
    (void) now;
    agent->ended = true;
    /* It has nothing more to say; if it does not leave by itself it is made to. */
    if (agent->process)
        acp_process_stop(agent->process);
}

static struct acp_str output(void *self)
{
    struct acp_agent_process *agent = self;
    return agent->inner.output(agent->inner.self);
}

static void sent(void *self, size_t n)
{
    struct acp_agent_process *agent = self;
    agent->inner.sent(agent->inner.self, n);
}

static uint64_t deadline(void *self)
{
    struct acp_agent_process *agent = self;
    return agent->inner.deadline(agent->inner.self);
}

static void tick(void *self, uint64_t now)
{
    struct acp_agent_process *agent = self;
    agent->inner.tick(agent->inner.self, now);
}

static bool paused(void *self)
{
    struct acp_agent_process *agent = self;
    return agent->inner.paused(agent->inner.self);
}

/* ---- The process ------------------------------------------------------------------------------------- */

static void wake(void *user)
{
    struct acp_agent_process *agent = user;
    struct acp_link *link = agent->process ? acp_process_link(agent->process) : NULL;
    if (link)
        acp_link_wake(link);
}

static void on_errors(struct acp_process *process, struct acp_str text, void *user)
{
    struct acp_agent_process *agent = user;
    (void) process;
    if (agent->options.errors)
        agent->options.errors(agent, text, agent->options.user);
}

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    struct acp_agent_process *agent = user;
    struct acp_buf tail;
    struct acp_buf sentence;
    acp_buf_init(&tail, 1 << 20);
    acp_buf_init(&sentence, 1 << 20);
    (void) acp_process_error_tail(process, &tail);
    (void) acp_process_describe_exit(acp_str(acp_process_program(process)), how,
                                     acp_buf_view(&tail), &sentence);
    struct acp_str words = acp_buf_view(&sentence);
    acp_client_explain_close(agent->client, words);
    agent->inner.receive_end(agent->inner.self, uv_now(agent->loop));
    if (agent->options.exited)
        agent->options.exited(agent, how, words, agent->options.user);
    acp_buf_finish(&tail);
    acp_buf_finish(&sentence);
}

int acp_agent_process_start(uv_loop_t *loop, const struct acp_agent_process_options *options,
                            struct acp_agent_process **ret, struct acp_failure *failure)
{
    static const struct acp_process_handler handler = {.errors = on_errors, .exited = on_exited};
    struct acp_agent_process *agent = calloc(1, sizeof(*agent));
    if (!agent)
        return ACP_ERR_NOMEM;
    agent->options = *options;
    agent->loop = loop;
    int err = acp_client_new(&options->client, &options->handler, options->user, &agent->client);
    if (err) {
        free(agent);
        return err;
    }
    agent->inner = acp_client_endpoint(agent->client);
    struct acp_process_options process = options->process;
    process.in = ACP_IO_PIPE;
    process.out = ACP_IO_PIPE;
    process.err_by_line = true;
    process.endpoint = (struct acp_endpoint){
        .self = agent,
        .receive = receive,
        .receive_end = receive_end,
        .output = output,
        .sent = sent,
        .deadline = deadline,
        .tick = tick,
        .paused = paused,
    };
    err = acp_process_start(loop, &process, &handler, agent, &agent->process, failure);
    if (err) {
        acp_client_free(agent->client);
        free(agent);
        return err;
    }
    acp_client_on_output(agent->client, wake, agent);
    *ret = agent;
    return 0;
}

struct acp_client *acp_agent_process_client(const struct acp_agent_process *agent)
{
    return agent->client;
}

struct acp_process *acp_agent_process_process(const struct acp_agent_process *agent)
{
    return agent->process;
}

void acp_agent_process_stop(struct acp_agent_process *agent)
{
    acp_process_stop(agent->process);
}

void acp_agent_process_free(struct acp_agent_process *agent)
{
    if (!agent)
        return;
    acp_client_on_output(agent->client, NULL, NULL);
    acp_process_free(agent->process);
    acp_client_free(agent->client);
    free(agent);
}
