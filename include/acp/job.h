/*
 * job.h - running a command as a step of an agent's turn, written once for both versions.  A job is
 * a command that runs or has run.
 *
 *     static void on_done(struct acp_job *job, const struct acp_job_result *result, void *user)
 *     {
 *         give_to_model(user, result->end, result->how.code, result->output);
 *     }
 *
 *     struct acp_job_options options = {
 *         // begun before with acp_turn_send_tool_call()
 *         .tool_call = acp_str_from("call-7"),
 *         .command = acp_str_from("make -j4 && make test"),
 *         .timeout_ms = 120000,
 *     };
 *     err = acp_turn_run_command(turn, jobs, &options, on_done, work, NULL);
 *
 * Where it runs, and how the client shows it, depends on the client:
 *
 *   version 1 with terminals      the client runs it in a terminal of its own (terminal/create and
 *                                 so on), which becomes the content of the tool call
 *   version 1 without             it is a process of ours; the end of its output becomes text of
 *                                 the tool call, twice a second and when it is over
 *   version 2                     it is a process of ours; its terminal becomes the content of the
 *                                 tool call, and its bytes follow as they come
 *
 * A process of ours runs as terminals.h tells, on a pseudo-terminal unless the output is shown as
 * text.  It waits when the client reads too slowly.  Past `stream_bytes` of output the client of
 * version 2 is no longer sent all of it but the end, now and then, and once more when it is over.
 *
 * What is guaranteed:
 *   - each command has exactly one result, whatever becomes of it, of the turn, of the client
 *   - a command ends with all that it has started, also with what it left in the background: after
 *     its exit, a timeout, acp_job_kill(), the cancellation or the end of its turn, the end of
 *     its session, and when its set is freed
 *   - a terminal of the client is always released, also one whose creation was cancelled
 *
 * A command in the background does not belong to the turn that has started it: it may outlive it,
 * is not ended by a cancellation, and can be read at any time.  That it goes on, a version 2 client
 * is told by acp_session_send_background(), with acp_job_terminal().
 *
 * Callbacks come from the loop or, when the turn or the session ends, from within that; they may
 * call anything here.
 */
#ifndef ACP_JOB_H
#define ACP_JOB_H

#include "acp/agent.h"
#include "acp/terminals.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The jobs of one agent. */
struct acp_jobs;

struct acp_jobs_options {
    struct acp_terminals_options terminals; /* limits, sizes, from SIGTERM to SIGKILL */
    uint64_t merge_ms;                      /* version 2: output is gathered for so long; 0: 20 */
    uint64_t refresh_ms;   /* how often the end of the output is shown anew; 0: 500 */
    uint64_t stream_bytes; /* version 2: sent of one command before only its end is; 0: 8 MiB */
    uint64_t settle_ms;    /* how long the client may take to end a command; 0: 3000 */
};

/* options may be NULL.  ACP_ERR_STATE when the agent has such a set already, ACP_ERR_NOMEM. */
ACP_API int acp_jobs_new_sized(uv_loop_t *loop, struct acp_agent *agent,
                               const struct acp_jobs_options *options, size_t options_size,
                               struct acp_jobs **ret);
static inline int acp_jobs_new(uv_loop_t *loop, struct acp_agent *agent,
                               const struct acp_jobs_options *options, struct acp_jobs **ret)
{
    return acp_jobs_new_sized(loop, agent, options, sizeof(*options), ret);
}
/* Ends all commands without a result.  Before or after the agent is freed.  Takes NULL. */
ACP_API void acp_jobs_free(struct acp_jobs *jobs);

struct acp_job;

struct acp_job_options {
    struct acp_str tool_call; /* that shows it, begun before; absent: it is not shown */
    struct acp_str command;   /* without args it may be a line for a shell */
    struct acp_str_list args;
    struct acp_str_map env;
    struct acp_str cwd;         /* absolute; absent: the session's */
    uint64_t output_byte_limit; /* kept of the output's end; 0: terminals.default_bytes */
    uint64_t timeout_ms;        /* 0: none */
    bool pipes;                 /* a process of ours gets no pseudo-terminal */
    bool own;                   /* it is a process of ours whatever the client offers */
    bool background;
};

enum acp_job_end {
    ACP_JOB_EXITED = 1,  /* by itself, or by a signal that is not ours: `how` tells */
    ACP_JOB_TIMED_OUT,   /* ended after timeout_ms */
    ACP_JOB_KILLED,      /* by acp_job_kill() */
    ACP_JOB_CANCELLED,   /* with its turn or its session */
    ACP_JOB_NOT_STARTED, /* the program was not found, the client refused, ... */
    ACP_JOB_LOST,        /* the client no longer tells what became of it */
};

struct acp_job_result {
    enum acp_job_end end;
    struct acp_terminal_exit how; /* as far as it is known; also of one that we have ended */
    struct acp_str output;        /* the end of it, UTF-8 in whole characters */
    bool truncated;               /* there was more before */
    struct acp_str message;       /* for people: one sentence, or empty when all went well */
};

/*
 * The texts are valid inside of the call only.  A command in the foreground is gone when this
 * returns.
 */
typedef void acp_job_fn(struct acp_job *job, const struct acp_job_result *result, void *user);

/*
 * Starts the command.  done, which may be NULL, is called once if this returns 0, and not before it
 * has returned; a command that cannot be started has a result too.  ret may be NULL.
 * ACP_ERR_CANCELLED when the turn is; ACP_ERR_ARGUMENT: no command, a relative cwd; ACP_ERR_CLOSED
 * and ACP_ERR_NOMEM.
 */
ACP_API int acp_turn_run_command_sized(struct acp_turn *turn, struct acp_jobs *jobs,
                                       const struct acp_job_options *options, size_t options_size,
                                       acp_job_fn *done, void *user, struct acp_job **ret);
static inline int acp_turn_run_command(struct acp_turn *turn, struct acp_jobs *jobs,
                                       const struct acp_job_options *options, acp_job_fn *done,
                                       void *user, struct acp_job **ret)
{
    return acp_turn_run_command_sized(turn, jobs, options, sizeof(*options), done, user, ret);
}

/* Ends it; the result comes.  Without effect when it has come. */
ACP_API void acp_job_kill(struct acp_job *job);

struct acp_job_output {
    int err;             /* 0, or why it cannot be told; then there is no text */
    struct acp_str text; /* as in a result */
    bool truncated;
    bool running;
    struct acp_terminal_exit how; /* when it is not running */
};
typedef void acp_job_output_fn(struct acp_job *job, const struct acp_job_output *output,
                               void *user);

/*
 * Asks for what it has printed so far.  fn is called once if this returns 0: inside of this call,
 * unless the client has to be asked.  ACP_ERR_STATE before it runs, ACP_ERR_CLOSED, _LIMIT, _NOMEM.
 */
ACP_API int acp_job_read(struct acp_job *job, acp_job_output_fn *fn, void *user);
ACP_API bool acp_job_is_running(const struct acp_job *job);
/* The id of its terminal, as the client knows it; empty before it has one, and without any. */
ACP_API struct acp_str acp_job_terminal(const struct acp_job *job);
/*
 * The job whose terminal a version 2 client knows by that id, or NULL: what the handler's
 * cancel_terminal kills.  Where the program has that callback, clients are told that they may.
 */
ACP_API struct acp_job *acp_jobs_find(const struct acp_jobs *jobs,
                                      const struct acp_session *session, struct acp_str terminal);
/*
 * For a command in the background, which stays after its result so that it can be read, until this
 * or the end of its session: forgets it, and ends it without a result if it runs.  Takes NULL.
 */
ACP_API void acp_job_free(struct acp_job *job);

#ifdef __cplusplus
}
#endif

#endif
