/*
 * job.h - runs a command as a step of an agent's turn, in either version of the protocol.  A job is
 * a command that is running or has run.
 *
 *     #include <acp/job.h>
 *     #include <stdio.h>
 *
 *     static void on_done(struct acp_job *job, const struct acp_job_result *result, void *user)
 *     {
 *         struct acp_turn *turn = user;
 *         bool good = result->end == ACP_JOB_EXITED && result->how.has_code && !result->how.code;
 *         struct acp_tool_call_update tool;
 *         acp_tool_call_update_init(&tool, acp_str_from("call-7"));
 *         tool.status.is = good ? ACP_TOOL_CALL_STATUS_COMPLETED : ACP_TOOL_CALL_STATUS_FAILED;
 *         acp_turn_send_tool_call(turn, &tool);
 *         acp_turn_send_text(turn, good ? result->output : result->message);
 *         acp_turn_end(turn, ACP_STOP_END_TURN);
 *     }
 *
 *     // Runs the tests in a turn; jobs was made once, by acp_jobs_new().
 *     void run_tests(struct acp_turn *turn, struct acp_jobs *jobs)
 *     {
 *         struct acp_job_options options = {
 *             .tool_call = acp_str_from("call-7"),
 *             .command = acp_str_from("make -j4 && make test"),
 *             .timeout_ms = 120000,
 *         };
 *         struct acp_tool_call_update tool;
 *         acp_tool_call_update_init(&tool, acp_str_from("call-7"));
 *         tool.title = acp_str_from("Run the tests");
 *         tool.kind.is = ACP_TOOL_KIND_EXECUTE;
 *         tool.status.is = ACP_TOOL_CALL_STATUS_IN_PROGRESS;
 *         acp_turn_send_tool_call(turn, &tool);
 *         if (acp_turn_run_command(turn, jobs, &options, on_done, turn, NULL))
 *             acp_turn_fail(turn, -32603, acp_str_from("The command cannot be run"));
 *     }
 *
 * Where the command runs and how it is shown depends on the client:
 *
 *   version 1, client with terminals    the client runs it (terminal/create and so on); its
 *                                       terminal becomes the content of the tool call
 *   version 1, client without           this process runs it; the end of its output becomes text of
 *                                       the tool call, twice a second and at the end
 *   version 2                           this process runs it; its terminal becomes the content of
 *                                       the tool call, and its output is sent as it comes
 *
 * In this process a command runs as acp/terminals.h says, on a pseudo-terminal unless its output is
 * shown as text.  It blocks while the client does not read.  After stream_bytes of output, only the
 * end of it is sent to a version 2 client, from time to time and when the command is over.
 *
 * What is guaranteed:
 *   - every command has exactly one result, unless its job or set is freed first
 *   - a command ends together with all that it has started, also in the background: after its exit,
 *     a timeout or acp_job_kill(), with the cancellation or the end of its turn, with the end of
 *     its session, and when its set is freed
 *   - a terminal of the client is always released, also if its creation was cancelled
 *
 * A background job does not belong to the turn that starts it: it may outlive the turn, a
 * cancellation does not end it, and its output can be read at any time.  A version 2 client is told
 * of it by acp_session_send_background(), with the id of acp_job_terminal().
 *
 * acp/io.h has the rules for threads, callbacks and freeing.  Callbacks run from the loop, or
 * inside the calls that end the turn or the session.
 */
#ifndef ACP_JOB_H
#define ACP_JOB_H

#include "acp/agent.h"
#include "acp/terminals.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A set of jobs -------------------------------------------------------------------------- */

/* The jobs of one agent. */
struct acp_jobs;

/* Zero means the default. */
struct acp_jobs_options {
    struct acp_terminals_options terminals; /* for commands that run in this process */
    uint64_t merge_ms;     /* version 2: output is collected for this long before it is sent; 20 */
    uint64_t refresh_ms;   /* time between updates of output that is shown as text; 500 */
    uint64_t stream_bytes; /* version 2: output of a command that is sent completely; 8 MiB */
    uint64_t settle_ms;    /* time that a client has to end a command; 3000 */
};

/*
 * Makes the set of an agent, which uses acp_agent_set_observer().  options may be NULL.
 * ACP_ERR_STATE if the agent has an observer already, ACP_ERR_NOMEM.
 */
ACP_API int acp_jobs_new_sized(uv_loop_t *loop, struct acp_agent *agent,
                               const struct acp_jobs_options *options, size_t options_size,
                               struct acp_jobs **ret);
static inline int acp_jobs_new(uv_loop_t *loop, struct acp_agent *agent,
                               const struct acp_jobs_options *options, struct acp_jobs **ret)
{
    return acp_jobs_new_sized(loop, agent, options, sizeof(*options), ret);
}
/*
 * Ends all commands, without results: no callback is called any more.  May be called before or
 * after the agent is freed.  Takes NULL.
 */
ACP_API void acp_jobs_free(struct acp_jobs *jobs);

/* ---- Running a command ---------------------------------------------------------------------- */

struct acp_job;

/* Read during the call. */
struct acp_job_options {
    struct acp_str
        tool_call;          /* the tool call that shows it, sent before; absent: it is not shown */
    struct acp_str command; /* without args it may be a line for the shell: acp/terminals.h */
    struct acp_str_list args;
    struct acp_str_map env;     /* added to the environment */
    struct acp_str cwd;         /* an absolute path; absent: that of the session */
    uint64_t output_byte_limit; /* output to keep, from its end; 0: terminals.default_bytes */
    uint64_t timeout_ms;        /* 0: none */
    bool pipes;                 /* in this process: no pseudo-terminal */
    bool own;                   /* run it in this process, whatever the client offers */
    bool background;            /* it does not belong to the turn; see the top */
};

/* Why a command ended. */
enum acp_job_end {
    ACP_JOB_EXITED = 1,  /* by itself, or by a signal of somebody else: see `how` */
    ACP_JOB_TIMED_OUT,   /* after timeout_ms */
    ACP_JOB_KILLED,      /* by acp_job_kill() */
    ACP_JOB_CANCELLED,   /* with its turn or its session */
    ACP_JOB_NOT_STARTED, /* there is no such program, the client refused, ... */
    ACP_JOB_LOST,        /* the client does not say how it ended */
};

struct acp_job_result {
    enum acp_job_end end;
    struct acp_terminal_exit how; /* as far as it is known, for every `end` */
    struct acp_str output;        /* the end of the output, whole characters of UTF-8 */
    bool truncated;               /* there was more before */
    struct acp_str message;       /* one sentence for people; empty for ACP_JOB_EXITED */
};

/*
 * The result of a job; valid during the callback, which may end the turn.  A job that is not in the
 * background is gone when this returns.
 */
typedef void acp_job_fn(struct acp_job *job, const struct acp_job_result *result, void *user);

/*
 * Starts a command.  done, which may be NULL, is called once if this returns 0, but not inside this
 * call: a command that cannot be started has a result, too (ACP_JOB_NOT_STARTED).  ret may be NULL.
 *
 * ACP_ERR_CANCELLED if the turn is cancelled; ACP_ERR_ARGUMENT for an empty command, a relative
 * cwd, or a turn of another agent; ACP_ERR_CLOSED, ACP_ERR_NOMEM.
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

/* Ends the command; its result still comes.  Without effect if it has ended. */
ACP_API void acp_job_kill(struct acp_job *job);

/* ---- Looking at a job ----------------------------------------------------------------------- */

struct acp_job_output {
    int err;             /* 0, or why the output is not known; the rest is empty then */
    struct acp_str text; /* this and truncated as in a result */
    bool truncated;
    bool running;
    struct acp_terminal_exit how; /* if it is not running */
};
/* The output of a job; valid during the callback. */
typedef void acp_job_output_fn(struct acp_job *job, const struct acp_job_output *output,
                               void *user);

/*
 * Reads the output so far.  fn is called once if this returns 0: inside this call if the command
 * runs in this process, later if the client has to be asked; not at all if the job is freed first.
 * ACP_ERR_STATE before the command runs, ACP_ERR_CLOSED, ACP_ERR_LIMIT, ACP_ERR_NOMEM.
 */
ACP_API int acp_job_read(struct acp_job *job, acp_job_output_fn *fn, void *user);
/* Whether the command has been started, or is being started, and has not ended. */
ACP_API bool acp_job_is_running(const struct acp_job *job);
/* The id of its terminal at the client; empty if it has none (yet).  Valid as long as the job. */
ACP_API struct acp_str acp_job_terminal(const struct acp_job *job);
/*
 * The job whose terminal has that id at a version 2 client, or NULL: the one that
 * acp_agent_handler.cancel_terminal is to kill.  If the agent has that callback, the client is told
 * that terminals can be cancelled.
 */
ACP_API struct acp_job *acp_jobs_find(const struct acp_jobs *jobs,
                                      const struct acp_session *session, struct acp_str terminal);
/*
 * Frees a background job, which otherwise exists until its session ends, so that it can be read
 * after its result.  If the command runs it is ended, without a result.  Takes NULL.
 */
ACP_API void acp_job_free(struct acp_job *job);

#ifdef __cplusplus
}
#endif

#endif
