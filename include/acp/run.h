/*
 * run.h - roles over real processes, on libuv: an agent on its standard input and output, and a
 * client together with the agent process that it talks to.  A whole agent:
 *
 *     static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt,
 *                           void *user)
 *     {
 *         acp_turn_send_text(turn, acp_str_from("Hello."));
 *         acp_turn_end(turn, ACP_STOP_END_TURN);
 *     }
 *
 *     int main(void)
 *     {
 *         static const struct acp_agent_handler handler = {.prompt = on_prompt};
 *         struct acp_agent_options options = {.name = acp_str_from("hello"),
 *                                             .versions = ACP_V1 | ACP_V2};
 *         return acp_agent_run(&options, &handler, NULL);
 *     }
 *
 * And a client, which starts an agent and then goes on as client.h shows:
 *
 *     struct acp_agent_process_options options = {.handler.event = on_event};
 *     options.process.argv = (const char *const[]){"some-agent", "--acp", NULL};
 *     if (acp_agent_process_start(loop, &options, &agent, &failure))
 *         return fprintf(stderr, "%s\n", failure.message), 1;
 *     acp_client_initialize(acp_agent_process_client(agent), on_ready, NULL);
 *     uv_run(loop, UV_RUN_DEFAULT);
 *     acp_agent_process_free(agent);
 *
 * examples/echo-agent.c and examples/mini-client.c are both as programs.  Everything belongs to the
 * thread of its loop; io.h has the rules for callbacks and freeing.
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
ACP_API int acp_agent_run_sized(const struct acp_agent_options *options, size_t options_size,
                                const struct acp_agent_handler *handler, size_t handler_size,
                                void *user);
static inline int acp_agent_run(const struct acp_agent_options *options,
                                const struct acp_agent_handler *handler, void *user)
{
    return acp_agent_run_sized(options, sizeof(*options), handler, sizeof(*handler), user);
}

/* The same on a loop that has other work too.  gone is called once, when the client has gone. */
struct acp_agent_stdio;
ACP_API int acp_agent_stdio_new_sized(uv_loop_t *loop, const struct acp_agent_options *options,
                                      size_t options_size, const struct acp_agent_handler *handler,
                                      size_t handler_size, void (*gone)(int reason, void *user),
                                      void *user, struct acp_agent_stdio **ret);
static inline int acp_agent_stdio_new(uv_loop_t *loop, const struct acp_agent_options *options,
                                      const struct acp_agent_handler *handler,
                                      void (*gone)(int reason, void *user), void *user,
                                      struct acp_agent_stdio **ret)
{
    return acp_agent_stdio_new_sized(loop, options, sizeof(*options), handler, sizeof(*handler),
                                     gone, user, ret);
}
ACP_API struct acp_agent *acp_agent_stdio_agent(const struct acp_agent_stdio *stdio);
/*
 * For a program that is told to stop: ends all sessions, so that prompts are answered as cancelled,
 * reads no more, and calls gone when that is sent, or after a second.
 */
ACP_API void acp_agent_stdio_stop(struct acp_agent_stdio *stdio);
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
ACP_API int acp_agent_process_start_sized(uv_loop_t *loop,
                                          const struct acp_agent_process_options *options,
                                          size_t options_size, struct acp_agent_process **ret,
                                          struct acp_failure *failure);
static inline int acp_agent_process_start(uv_loop_t *loop,
                                          const struct acp_agent_process_options *options,
                                          struct acp_agent_process **ret,
                                          struct acp_failure *failure)
{
    return acp_agent_process_start_sized(loop, options, sizeof(*options), ret, failure);
}
ACP_API struct acp_client *acp_agent_process_client(const struct acp_agent_process *agent);
ACP_API struct acp_process *acp_agent_process_process(const struct acp_agent_process *agent);
/* Stops reading what it says (true), so that it waits when we are slow; and goes on (false). */
ACP_API void acp_agent_process_pause(struct acp_agent_process *agent, bool pause);
/* Closes its input, then TERM, then KILL, each with its deadline; exited is called. */
ACP_API void acp_agent_process_stop(struct acp_agent_process *agent);
/* Kills what is left of it; calls nothing back.  Takes NULL. */
ACP_API void acp_agent_process_free(struct acp_agent_process *agent);

/* ---- Logging in at a terminal ---------------------------------------------------------------- */

/*
 * A method of logging in that is of the kind terminal: the agent's own program is run once more,
 * with the method's arguments behind its usual ones and the method's environment on top, at the
 * terminal that we run at.  There the user talks to it; its exit status 0 means that it worked, and
 * nothing that it prints means anything to us.
 *
 * The agent that runs meanwhile knows nothing of it.  After a success stop it, start it anew, and
 * begin with acp_client_initialize():
 *
 *     acp_login_start(loop, &login, on_done, me, &running, &failure);
 *     on_done: acp_agent_process_free(old); acp_agent_process_start(...);
 *           acp_client_initialize(...)
 */
struct acp_login;

struct acp_login_options {
    /* How the agent is started: argv, cwd, env, unset and keep_nesting are taken from it. */
    const struct acp_process_options *agent;
    const struct acp_auth_method
        *method; /* one of acp_client_initialize_response()->auth_methods */
    /*
     * Agents of before there was such a kind of method put a whole command line into the _meta of
     * one, under "terminal-auth", when the client's capabilities have a _meta that says
     * {"terminal-auth": true}.  Such a command is the agent's choice and runs outside of whatever
     * holds the agent itself, so it is run only when this says that it may.
     */
    bool agents_command;
};

/*
 * err is 0 after exit status 0, ACP_ERR_CANCELLED after acp_login_cancel(), ACP_ERR_REMOTE for any
 * other end; sentence says how it ended, for people.  acp_login_free() may be called here.
 */
typedef void acp_login_fn(struct acp_login *login, int err, const struct acp_process_exit *how,
                          struct acp_str sentence, void *user);

/*
 * ACP_ERR_STATE when the method is none that is run at a terminal, ACP_ERR_ARGUMENT when its
 * arguments or environment are nothing that can be given to a program; failure says why in words.
 */
ACP_API int acp_login_start_sized(uv_loop_t *loop, const struct acp_login_options *options,
                                  size_t options_size, acp_login_fn *done, void *user,
                                  struct acp_login **ret, struct acp_failure *failure);
static inline int acp_login_start(uv_loop_t *loop, const struct acp_login_options *options,
                                  acp_login_fn *done, void *user, struct acp_login **ret,
                                  struct acp_failure *failure)
{
    return acp_login_start_sized(loop, options, sizeof(*options), done, user, ret, failure);
}
/* Ends the program; done is called. */
ACP_API void acp_login_cancel(struct acp_login *login);
/* Ends what is left of it; calls nothing back.  Takes NULL. */
ACP_API void acp_login_free(struct acp_login *login);

#ifdef __cplusplus
}
#endif

#endif
