/*
 * run.h - roles in real processes, on libuv: an agent on its standard input and output, and a
 * client together with the agent process that it talks to.
 *
 * A client program, which starts the agent that its arguments name, sends one prompt and prints the
 * answer:
 *
 *     #include <acp/run.h>
 *     #include <limits.h>
 *     #include <stdio.h>
 *     #include <unistd.h>
 *
 *     static void stop(struct acp_client *client)
 *     {
 *         acp_agent_process_stop(*(struct acp_agent_process **) acp_client_user(client));
 *     }
 *
 *     static void on_event(struct acp_client_session *session, const struct acp_event *event,
 *                          void *user)
 *     {
 *         if (event->kind == ACP_EVENT_CHUNK && event->block->is == ACP_CONTENT_BLOCK_TEXT)
 *             printf("%.*s", ACP_ARG(event->block->text.text));
 *     }
 *
 *     static void on_end(struct acp_client_session *session, const struct acp_turn_stop *turn,
 *                        const struct acp_outcome *outcome, void *user)
 *     {
 *         printf("\n%.*s\n", ACP_ARG(outcome->err ? outcome->why : turn->text));
 *         stop(acp_client_session_client(session));
 *     }
 *
 *     static void on_session(struct acp_client *client, struct acp_client_session *session,
 *                            const struct acp_outcome *outcome, void *user)
 *     {
 *         struct acp_content_block block;
 *         acp_content_block_init_text(&block, acp_str_from("What does this project do?"));
 *         if (outcome->err || acp_client_prompt(session, &block, 1, on_end, user))
 *             stop(client);
 *     }
 *
 *     static void on_ready(struct acp_client *client, const struct acp_outcome *outcome,
 *                          void *user)
 *     {
 *         char cwd[PATH_MAX];
 *         struct acp_session_params params = {.cwd = acp_str_from(getcwd(cwd, sizeof(cwd)))};
 *         if (outcome->err || acp_client_new_session(client, &params, on_session, user))
 *             stop(client);
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         struct acp_agent_process *agent = NULL;
 *         struct acp_agent_process_options options = {.handler.event = on_event, .user = &agent};
 *         struct acp_failure failure;
 *         uv_loop_t *loop = uv_default_loop();
 *         options.process.argv = (const char *const *) argv + 1;
 *         if (argc < 2 || acp_agent_process_start(loop, &options, &agent, &failure))
 *             return 1;
 *         acp_client_initialize(acp_agent_process_client(agent), on_ready, NULL);
 *         uv_run(loop, UV_RUN_DEFAULT);
 *         acp_agent_process_free(agent);
 *         uv_run(loop, UV_RUN_DEFAULT);
 *         return 0;
 *     }
 *
 * examples/mini-client.c is this program with messages for all errors; examples/echo-agent.c is an
 * agent.  acp/io.h has the rules for threads, callbacks and freeing.
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
 * Runs an agent on standard input and output, in a loop of its own, until the client has gone, and
 * then kills the processes that it started.  A whole agent is
 *
 *     static const struct acp_agent_handler handler = {.prompt = on_prompt};
 *
 *     int main(void)
 *     {
 *         struct acp_agent_options options = {.name = acp_str_from("hello"),
 *                                             .versions = ACP_V1 | ACP_V2};
 *         return acp_agent_run(&options, &handler, NULL);
 *     }
 *
 * with the on_prompt() of acp/agent.h.  options.seed is filled in.  While it runs, what is written
 * to stdout goes to standard error instead (acp_stdio_take()).
 *
 * Returns the exit status for main(): 0, or 1 if the agent could not be started.
 */
ACP_API int acp_agent_run_sized(const struct acp_agent_options *options, size_t options_size,
                                const struct acp_agent_handler *handler, size_t handler_size,
                                void *user);
static inline int acp_agent_run(const struct acp_agent_options *options,
                                const struct acp_agent_handler *handler, void *user)
{
    return acp_agent_run_sized(options, sizeof(*options), handler, sizeof(*handler), user);
}

struct acp_agent_stdio;
/*
 * The same on a loop of the program.  user is passed to the handler and to gone, which is called
 * once when the client has gone; its reason is that of acp_link_handler.closed.
 *
 * Errors as acp_agent_new(), acp_stdio_take() and acp_link_new().
 */
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
/* The agent; belongs to stdio. */
ACP_API struct acp_agent *acp_agent_stdio_agent(const struct acp_agent_stdio *stdio);
/*
 * For a program that is asked to stop: ends all sessions, so that prompts are answered as
 * cancelled, stops reading, and calls gone when the output is sent, or after a second.
 */
ACP_API void acp_agent_stdio_stop(struct acp_agent_stdio *stdio);
/* Frees the agent, too.  Takes NULL. */
ACP_API void acp_agent_stdio_free(struct acp_agent_stdio *stdio);

/* ---- An agent process ------------------------------------------------------------------------ */

/*
 * An agent program that is started as a child process, with the client that talks to it.  When the
 * process ends, everything that is open fails with ACP_ERR_CLOSED, and the sentence in
 * acp_outcome.why names the program, how it ended and what it last wrote to standard error.
 */
struct acp_agent_process;

struct acp_agent_process_options {
    /* argv, env, cwd, time limits; standard input and output and the endpoint are set here. */
    struct acp_process_options process;
    struct acp_client_options client;
    struct acp_client_handler handler;
    void *user; /* for the handler and the callbacks below, which may be left out */
    /* A line that the agent wrote to standard error. */
    void (*errors)(struct acp_agent_process *agent, struct acp_str line, void *user);
    /* The process has ended; sentence tells people how.  The client has been closed before. */
    void (*exited)(struct acp_agent_process *agent, const struct acp_process_exit *how,
                   struct acp_str sentence, void *user);
};

/*
 * Starts the program and makes the client; begin with acp_client_initialize().  Errors and failure
 * as acp_process_start(); no callback is called then.
 */
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
/* The client and the process; they belong to agent. */
ACP_API struct acp_client *acp_agent_process_client(const struct acp_agent_process *agent);
ACP_API struct acp_process *acp_agent_process_process(const struct acp_agent_process *agent);
/*
 * Stops (true) and resumes (false) reading what the agent sends, so that it blocks while the
 * program cannot take more.
 */
ACP_API void acp_agent_process_pause(struct acp_agent_process *agent, bool pause);
/* Ends the process as acp_process_stop() does; `exited` is called. */
ACP_API void acp_agent_process_stop(struct acp_agent_process *agent);
/*
 * Kills the process and frees the client, with the client's last callbacks; `errors` and `exited`
 * are not called any more.  Takes NULL.
 */
ACP_API void acp_agent_process_free(struct acp_agent_process *agent);

/* ---- Logging in at a terminal ---------------------------------------------------------------- */

/*
 * Runs an auth method of the kind terminal: the program of the agent is started once more, with the
 * arguments and the environment of the method added to its own, at the terminal of this process.
 * The user logs in there; only the exit status of the program counts.
 *
 * The agent that is already running is not affected.  After a success free it, start it again, and
 * begin with acp_client_initialize().
 */
struct acp_login;

struct acp_login_options {
    /* How the agent is started; argv, cwd, env, unset and keep_nesting are used. */
    const struct acp_process_options *agent;
    const struct acp_auth_method
        *method; /* one of acp_client_initialize_response()->auth_methods */
    /*
     * Some agents put a complete command line into the _meta of a method, as "terminal-auth", if
     * the _meta of the client's capabilities has {"terminal-auth": true}.  The agent chooses that
     * command, and it runs outside any sandbox of the agent, so it is only run if this is set.
     */
    bool agents_command;
};

/*
 * The end of the program.  err is 0 for exit status 0, ACP_ERR_CANCELLED after acp_login_cancel(),
 * and ACP_ERR_REMOTE otherwise; sentence tells people how it ended.  The login must still be freed,
 * here or later.
 */
typedef void acp_login_fn(struct acp_login *login, int err, const struct acp_process_exit *how,
                          struct acp_str sentence, void *user);

/*
 * Starts the program; done, which must not be NULL, is called once if this returns 0.
 *
 * ACP_ERR_STATE if the method is not run at a terminal; ACP_ERR_ARGUMENT if its arguments or
 * environment cannot be passed to a program, or agent or method is not set; otherwise as
 * acp_process_start().  failure->message says why.
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
/* Ends the program, beginning with SIGTERM; done is called. */
ACP_API void acp_login_cancel(struct acp_login *login);
/* Kills the program if it runs; done is not called any more.  Takes NULL. */
ACP_API void acp_login_free(struct acp_login *login);

#ifdef __cplusplus
}
#endif

#endif
