/*
 * run.h - roles over real processes, on libuv: an agent on its standard input and output, and a
 * client together with the agent process that it talks to.
 */
#ifndef ACP_RUN_H
#define ACP_RUN_H

#include "acp/agent.h"
#include "acp/client.h"
#include "acp/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- An agent program ------------------------------------------------------------------------ */

/*
 * Runs an agent on standard input and output, in a loop of its own, until the client has gone; its
 * children end with it.  Returns what main() is to return.  Prints that go to standard output by
 * mistake end up on the standard error.
 */
ACP_API int acp_agent_run(const struct acp_agent_options *options,
                          const struct acp_agent_handler *handler, void *user);

/* The same on a loop that has other work too.  gone is called once, when the client has gone. */
struct acp_agent_stdio;
ACP_API int acp_agent_stdio_new(uv_loop_t *loop, const struct acp_agent_options *options,
                                const struct acp_agent_handler *handler,
                                void (*gone)(int reason, void *user), void *user,
                                struct acp_agent_stdio **ret);
ACP_API struct acp_agent *acp_agent_stdio_agent(const struct acp_agent_stdio *stdio);
ACP_API void acp_agent_stdio_free(struct acp_agent_stdio *stdio);

/* ---- An agent process ------------------------------------------------------------------------ */

/*
 * An agent that we start, with the client that speaks to it.  Should it crash, everything open
 * fails with a sentence that names the program, how it ended and what it last wrote to standard
 * error.
 */
struct acp_agent_process;

struct acp_agent_process_options {
    struct acp_process_options process; /* argv, env, cwd, deadlines; stdio and endpoint are ours */
    struct acp_client_options client;
    struct acp_client_handler handler;
    void *user; /* for the handler and for the functions below */
    void (*errors)(struct acp_agent_process *agent, struct acp_str line, void *user);
    /* It is over; sentence says how, for people.  acp_agent_process_free() may be called here. */
    void (*exited)(struct acp_agent_process *agent, const struct acp_process_exit *how,
                   struct acp_str sentence, void *user);
};

/* failure names the program and the reason when it cannot be started. */
ACP_API int acp_agent_process_start(uv_loop_t *loop,
                                    const struct acp_agent_process_options *options,
                                    struct acp_agent_process **ret, struct acp_failure *failure);
ACP_API struct acp_client *acp_agent_process_client(const struct acp_agent_process *agent);
ACP_API struct acp_process *acp_agent_process_process(const struct acp_agent_process *agent);
/* Stops reading what it says (true), so that it waits when we are slow; and goes on (false). */
ACP_API void acp_agent_process_pause(struct acp_agent_process *agent, bool pause);
/* Closes its input, then TERM, then KILL, each with its deadline; exited is called. */
ACP_API void acp_agent_process_stop(struct acp_agent_process *agent);
/* Kills what is left of it; calls nothing back.  Takes NULL. */
ACP_API void acp_agent_process_free(struct acp_agent_process *agent);

#ifdef __cplusplus
}
#endif

#endif
