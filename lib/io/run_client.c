/*
 * A client and the agent process that it talks to.
 *
 * When the agent's output ends, the client is told only after the process is over: then it can be
 * said which program it was and how it ended, instead of just that a connection closed.
 */
#include <stdlib.h>

#include "acp/run.h"
#include "base/sized.h"
#include "io/spawn.h"

struct acp_agent_process {
    struct acp_agent_process_options options;
    uv_loop_t *loop;
    struct acp_client *client;
    struct acp_process *process;
    const char *stopped_for; /* what it did that we stop it, or NULL */
    bool told_to_stop;       /* by our owner */
    bool *freed;             /* set by acp_agent_process_free() while on_exited() runs */
};

/* It can be talked to no more; if it does not leave by itself it is made to. */
static void give_up(struct acp_agent_process *agent, const char *what_it_did)
{
    if (!agent->stopped_for && !agent->told_to_stop)
        agent->stopped_for = what_it_did;
    acp_process_stop(agent->process);
}

/* ---- The process ----------------------------------------------------------------------------- */

/* The client is told when it is known how the process ended. */
static void on_ended(struct acp_process *process, void *user)
{
    (void) process;
    give_up(user, "closed its output");
}

static void on_errors(struct acp_process *process, struct acp_str text, void *user)
{
    struct acp_agent_process *agent = user;
    (void) process;
    if (agent->options.errors)
        agent->options.errors(agent, text, agent->options.user);
}

/* The end of its output has stopped it already; but it may also be that nothing can be written. */
static void on_unlinked(struct acp_process *process, int reason, void *user)
{
    (void) process;
    give_up(user, acp_err_errno(reason) ? "closed its input" : NULL);
}

/* Who had to be stopped did something before that people should know. */
static void describe(const struct acp_agent_process *agent, const struct acp_process_exit *how,
                     struct acp_buf *out)
{
    struct acp_buf name;
    struct acp_buf tail;
    acp_buf_init(&name, 1 << 16);
    acp_buf_init(&tail, 1 << 20);
    (void) acp_buf_append_str(&name, acp_str_from(acp_process_program(agent->process)));
    if (agent->stopped_for && how->signal && how->stopped)
        (void) acp_buf_printf(&name, " %s and", agent->stopped_for);
    (void) acp_process_error_tail(agent->process, &tail);
    (void) acp_process_describe_exit(acp_buf_view(&name), how, acp_buf_view(&tail), out);
    acp_buf_finish(&name);
    acp_buf_finish(&tail);
}

static void on_exited(struct acp_process *process, const struct acp_process_exit *how, void *user)
{
    struct acp_agent_process *agent = user;
    struct acp_buf sentence;
    bool freed = false;
    (void) process;
    acp_buf_init(&sentence, 1 << 20);
    describe(agent, how, &sentence);
    struct acp_str words = acp_buf_view(&sentence);
    agent->freed = &freed;
    acp_client_set_close_message(agent->client, words);
    acp_endpoint_receive_end(acp_client_endpoint(agent->client), uv_now(agent->loop));
    if (!freed) {
        agent->freed = NULL;
        if (agent->options.exited)
            agent->options.exited(agent, how, words, agent->options.user);
    }
    acp_buf_finish(&sentence);
}

static int agent_process_start(uv_loop_t *loop, const struct acp_agent_process_options *options,
                               struct acp_agent_process **ret, struct acp_failure *failure)
{
    static const struct acp_process_handler handler = {
        .errors = on_errors, .ended = on_ended, .unlinked = on_unlinked, .exited = on_exited};
    struct acp_agent_process *agent = calloc(1, sizeof(*agent));
    if (!agent)
        return acp_spawn_failed(failure, "an agent", "", ACP_ERR_NOMEM);
    agent->options = *options;
    agent->loop = loop;
    int err = acp_client_new(&options->client, &options->handler, options->user, &agent->client);
    if (err) {
        free(agent);
        return acp_spawn_failed(failure, "an agent", "", err);
    }
    struct acp_process_options process = options->process;
    process.in = ACP_IO_PIPE;
    process.out = ACP_IO_PIPE;
    process.err_by_line = true;
    process.endpoint = acp_client_endpoint(agent->client);
    err = acp_process_start(loop, &process, &handler, agent, &agent->process, failure);
    if (err) {
        acp_client_free(agent->client);
        free(agent);
        return err;
    }
    *ret = agent;
    return 0;
}

int acp_agent_process_start_sized(uv_loop_t *loop, const struct acp_agent_process_options *options,
                                  size_t options_size, struct acp_agent_process **ret,
                                  struct acp_failure *failure)
{
    struct acp_agent_process_options own_options;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    if (err)
        return acp_spawn_failed(failure, "an agent", "an option that this library is too old for",
                                err);
    return agent_process_start(loop, &own_options, ret, failure);
}

struct acp_client *acp_agent_process_client(const struct acp_agent_process *agent)
{
    return agent->client;
}

struct acp_process *acp_agent_process_process(const struct acp_agent_process *agent)
{
    return agent->process;
}

void acp_agent_process_pause(struct acp_agent_process *agent, bool pause)
{
    acp_process_pause(agent->process, pause);
}

void acp_agent_process_stop(struct acp_agent_process *agent)
{
    agent->told_to_stop = true;
    acp_process_stop(agent->process);
}

void acp_agent_process_free(struct acp_agent_process *agent)
{
    if (!agent)
        return;
    if (agent->freed)
        *agent->freed = true;
    acp_process_free(agent->process);
    acp_client_free(agent->client);
    free(agent);
}
