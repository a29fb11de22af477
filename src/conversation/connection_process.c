/* connection_process.c - a connection to an agent that is a child process. */
#include <stdlib.h>

#include "acp/run.h"
#include "conversation/connection.h"

struct process_connection {
    struct agent_connection connection;
    struct acp_agent_process *process;
};

static struct acp_agent_process *process_of(const struct agent_connection *connection)
{
    return ((const struct process_connection *) connection)->process;
}

static void on_errors(struct acp_agent_process *process, struct acp_str line, void *user)
{
    const struct agent_connection_user *owner = user;
    (void) process;
    if (owner->handler->agent_stderr)
        owner->handler->agent_stderr(line, user);
}

static void on_exited(struct acp_agent_process *process, const struct acp_process_exit *how,
                      struct acp_str sentence, void *user)
{
    const struct agent_connection_user *owner = user;
    (void) process;
    (void) how;
    owner->handler->ended(sentence, user);
}

static struct acp_client *get_client(const struct agent_connection *connection)
{
    return acp_agent_process_client(process_of(connection));
}

static bool is_alive(const struct agent_connection *connection)
{
    return acp_process_is_running(acp_agent_process_process(process_of(connection)));
}

static int get_pid(const struct agent_connection *connection)
{
    return acp_process_pid(acp_agent_process_process(process_of(connection)));
}

static void pause_reading(struct agent_connection *connection, bool pause)
{
    acp_agent_process_pause(process_of(connection), pause);
}

static void stop(struct agent_connection *connection)
{
    acp_agent_process_stop(process_of(connection));
}

static void kill_process(struct agent_connection *connection)
{
    acp_process_kill(acp_agent_process_process(process_of(connection)));
}

static void free_connection(struct agent_connection *connection)
{
    acp_agent_process_free(process_of(connection));
    free(connection);
}

static const struct agent_connection_class process_class = {
    .client = get_client,
    .is_alive = is_alive,
    .pid = get_pid,
    .pause = pause_reading,
    .stop = stop,
    .kill = kill_process,
    .free = free_connection,
};

static int connect_process(const struct agent_endpoint *endpoint, uv_loop_t *loop,
                           const struct acp_client_options *client,
                           struct agent_connection_user *user, struct agent_connection **ret,
                           struct acp_failure *failure)
{
    const struct agent_process_endpoint *how = (const struct agent_process_endpoint *) endpoint;
    struct acp_agent_process_options options = {
        .process = {.argv = how->argv,
                    .env = how->env,
                    .cwd = how->cwd,
                    .traffic = how->traffic,
                    .traffic_user = how->traffic_user},
        .client = *client,
        .handler = *user->handler->client,
        .user = user,
        .errors = on_errors,
        .exited = on_exited,
    };
    struct process_connection *made = calloc(1, sizeof(*made));
    int err =
        made ? acp_agent_process_start(loop, &options, &made->process, failure) : ACP_ERR_NOMEM;
    if (err) {
        free(made);
        return err;
    }
    made->connection.class = &process_class;
    *ret = &made->connection;
    return 0;
}

void agent_process_endpoint_init(struct agent_process_endpoint *endpoint)
{
    endpoint->endpoint.connect = connect_process;
}
