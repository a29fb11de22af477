/* An agent on the standard input and output of its process. */
#define _DEFAULT_SOURCE /* getentropy */

#include <stdlib.h>
#include <unistd.h>

#include "acp/run.h"
#include "base/sized.h"

struct acp_agent_stdio {
    struct acp_agent *agent;
    struct acp_link *link;
    void (*gone)(int reason, void *user);
    void *user;
    bool *freed; /* set by acp_agent_stdio_free() while on_link_closed() runs */
};

/* Ids must not repeat from run to run; a system without entropy has the process id at least. */
static void make_seed(uint64_t seed[2])
{
    if (getentropy(seed, 2 * sizeof(seed[0])) != 0) {
        seed[0] = (uint64_t) getpid();
        seed[1] = uv_hrtime();
    }
}

static void on_link_closed(struct acp_link *link, int reason, void *user)
{
    struct acp_agent_stdio *stdio = user;
    bool freed = false;
    stdio->link = NULL;
    acp_link_free(link);
    stdio->freed = &freed;
    acp_agent_close(stdio->agent, reason ? reason : ACP_ERR_CLOSED);
    if (freed)
        return;
    stdio->freed = NULL;
    if (stdio->gone)
        stdio->gone(reason, stdio->user);
}

static int stdio_new(uv_loop_t *loop, const struct acp_agent_options *options,
                     const struct acp_agent_handler *handler, void (*gone)(int reason, void *user),
                     void *user, struct acp_agent_stdio **ret)
{
    static const struct acp_link_handler link_handler = {.closed = on_link_closed};
    struct acp_agent_options seeded = options ? *options : (struct acp_agent_options){0};
    struct acp_agent_stdio *stdio = calloc(1, sizeof(*stdio));
    if (!stdio)
        return ACP_ERR_NOMEM;
    stdio->gone = gone;
    stdio->user = user;
    if (!seeded.seed[0] && !seeded.seed[1])
        make_seed(seeded.seed);
    struct acp_link_options where = {0};
    int err = acp_agent_new(&seeded, handler, user, &stdio->agent);
    if (!err)
        err = acp_stdio_take(&where.in, &where.out);
    if (!err) {
        struct acp_endpoint *endpoint = acp_agent_endpoint(stdio->agent);
        err = acp_link_new(loop, &where, endpoint, &link_handler, stdio, &stdio->link);
    }
    if (err) {
        acp_agent_stdio_free(stdio);
        return err;
    }
    *ret = stdio;
    return 0;
}

int acp_agent_stdio_new_sized(uv_loop_t *loop, const struct acp_agent_options *options,
                              size_t options_size, const struct acp_agent_handler *handler,
                              size_t handler_size, void (*gone)(int reason, void *user), void *user,
                              struct acp_agent_stdio **ret)
{
    struct acp_agent_options own_options;
    struct acp_agent_handler own_handler;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    if (!err)
        err = ACP_SIZED_COPY(&own_handler, handler, handler_size);
    return err ? err : stdio_new(loop, &own_options, &own_handler, gone, user, ret);
}

struct acp_agent *acp_agent_stdio_agent(const struct acp_agent_stdio *stdio)
{
    return stdio->agent;
}

void acp_agent_stdio_stop(struct acp_agent_stdio *stdio)
{
    acp_agent_end_sessions(stdio->agent);
    if (stdio->link)
        acp_link_close(stdio->link);
}

void acp_agent_stdio_free(struct acp_agent_stdio *stdio)
{
    if (!stdio)
        return;
    if (stdio->freed)
        *stdio->freed = true;
    acp_link_free(stdio->link);
    acp_agent_free(stdio->agent);
    free(stdio);
}

static void on_gone(int reason, void *user)
{
    (void) reason;
    (void) user;
    acp_process_kill_all();
}

static int agent_run(const struct acp_agent_options *options,
                     const struct acp_agent_handler *handler, void *user)
{
    uv_loop_t loop;
    struct acp_agent_stdio *stdio;
    if (uv_loop_init(&loop) != 0)
        return 1;
    int err = acp_agent_stdio_new(&loop, options, handler, on_gone, user, &stdio);
    if (!err) {
        (void) uv_run(&loop, UV_RUN_DEFAULT);
        acp_agent_stdio_free(stdio);
        (void) uv_run(&loop, UV_RUN_DEFAULT);
    }
    (void) uv_loop_close(&loop);
    return err ? 1 : 0;
}

int acp_agent_run_sized(const struct acp_agent_options *options, size_t options_size,
                        const struct acp_agent_handler *handler, size_t handler_size, void *user)
{
    struct acp_agent_options own_options;
    struct acp_agent_handler own_handler;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    if (!err)
        err = ACP_SIZED_COPY(&own_handler, handler, handler_size);
    return err ? 1 : agent_run(&own_options, &own_handler, user);
}
