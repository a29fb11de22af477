/*
 * Commands that a version 1 client runs for us, in terminals of its own:
 *
 *     terminal/create, wait_for_exit, [kill], output, release
 *
 * The requests are the agent's, not the turn's: the answer to terminal/create must be heard also
 * when the turn was cancelled meanwhile, or the terminal would never be released, and commands in
 * the background are asked about between turns.
 */
#include <stdio.h>
#include <stdlib.h>

#include "workspace/job.h"
#include "workspace/terminals_command.h"

bool job_client_serves(const struct acp_agent *agent)
{
    const struct acp_client_capabilities *client = acp_agent_client_capabilities(agent);
    return !(acp_agent_protocol(agent) & ACP_V2) && client && client->terminal;
}

/* ---- Requests ------------------------------------------------------------------------------- */

/* The four requests about a terminal that exists hold the same: one struct serves for all. */
_Static_assert(sizeof(struct acp_terminal_output_request) ==
                       sizeof(struct acp_wait_for_terminal_exit_request) &&
                   sizeof(struct acp_terminal_output_request) ==
                       sizeof(struct acp_kill_terminal_request) &&
                   sizeof(struct acp_terminal_output_request) ==
                       sizeof(struct acp_release_terminal_request),
               "requests about terminals differ");

static int ask_about(const struct acp_job *job, const char *method, acp_type_id type,
                     acp_reply_fn *reply, void *user)
{
    struct acp_terminal_output_request request;
    acp_terminal_output_request_init(&request, job->session_id, job->terminal_id);
    return acp_agent_request(job->agent, acp_str_from(method), type, &request, reply, user, NULL);
}

static int ask_output(const struct acp_job *job, acp_reply_fn *reply, void *user)
{
    return ask_about(job, "terminal/output", ACP_TYPE_TERMINAL_OUTPUT_REQUEST, reply, user);
}

/* Nobody waits for the answer: there is nothing that could be done. */
static void release(const struct acp_job *job)
{
    (void) ask_about(job, "terminal/release", ACP_TYPE_RELEASE_TERMINAL_REQUEST, NULL, NULL);
}

static void say_reply(struct acp_job *job, const char *what, int err, const struct acp_reply *reply)
{
    if (err == ACP_ERR_REMOTE && reply->error_message.len)
        job_say(job, "%s: %.*s", what, (int) reply->error_message.len, reply->error_message.ptr);
    else
        job_say(job, "%s: %s", what, acp_err_text(err));
}

/* ---- The end: output, then release ---------------------------------------------------------- */

static void note_status(struct acp_job *job, struct acp_opt_i64 code, struct acp_str signal)
{
    char name[sizeof(job->signal)];
    bool has_signal = acp_is_set(signal.ptr) && signal.len > 0;
    struct acp_terminal_exit how = {.has_code = code.has == ACP_PRESENT};
    if (how.has_code)
        how.code = (int) code.value;
    if (has_signal) {
        (void) snprintf(name, sizeof(name), "%.*s", (int) signal.len, signal.ptr);
        how.signal = name;
    }
    job_note_exit(job, &how);
}

static void on_output(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                      void *user)
{
    struct acp_job *job = user;
    struct acp_terminal_output_response response;
    struct acp_arena arena;
    (void) peer;
    (void) request;
    acp_arena_init(&arena, 0);
    int err = reply->err ? reply->err
                         : acp_terminal_output_response_decode(ACP_V1, reply->result, &arena,
                                                               &response, NULL);
    if (!job_is_over(job)) {
        if (err) {
            say_reply(job, "the output could not be read", err, reply);
        } else {
            struct acp_str kept = job_end_of(response.output, job->limit);
            (void) acp_buf_append_str(&job->output, kept);
            job->result.truncated = response.truncated || kept.len < response.output.len;
            if (acp_is_set(response.exit_status) && !job->result.how.has_code &&
                !job->result.how.signal)
                note_status(job, response.exit_status->exit_code, response.exit_status->signal);
        }
        job_finish(job);
    }
    acp_arena_finish(&arena);
    job_let_go(job);
}

/* The command has ended, or the client cannot tell. */
static void fetch_output(struct acp_job *job)
{
    job->phase = JOB_ENDING;
    if (ask_output(job, on_output, job)) {
        job_finish(job);
        return;
    }
    job->holds++;
    job_finish_within(job, job->set->options.settle_ms);
}

static void on_waited(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                      void *user)
{
    struct acp_job *job = user;
    struct acp_wait_for_terminal_exit_response response;
    (void) peer;
    (void) request;
    if (!job_is_over(job)) {
        int err = reply->err ? reply->err
                             : acp_wait_for_terminal_exit_response_decode(
                                   ACP_V1, reply->result, &job->arena, &response, NULL);
        if (!err) {
            note_status(job, response.exit_code, response.signal);
        } else if (!job->result.end) {
            job->result.end = ACP_JOB_LOST;
            say_reply(job, "the client no longer follows the command", err, reply);
        }
        fetch_output(job);
    }
    job_let_go(job);
}

/* ---- The beginning -------------------------------------------------------------------------- */

static void begin(struct acp_job *job)
{
    job_show_embedded(job);
    job_started(job);
    if (ask_about(job, "terminal/wait_for_exit", ACP_TYPE_WAIT_FOR_TERMINAL_EXIT_REQUEST, on_waited,
                  job)) {
        job->result.end = ACP_JOB_LOST;
        job_finish(job);
        return;
    }
    job->holds++;
}

static void on_created(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                       void *user)
{
    struct acp_job *job = user;
    struct acp_create_terminal_response response;
    (void) peer;
    (void) request;
    job->is_creating = false;
    int err = reply->err ? reply->err
                         : acp_create_terminal_response_decode(ACP_V1, reply->result, &job->arena,
                                                               &response, NULL);
    if (!err) {
        job->terminal_id = acp_arena_copy(&job->arena, response.terminal_id);
        err = job->terminal_id.ptr ? 0 : ACP_ERR_NOMEM;
    }
    if (job_is_over(job)) {
        if (!err)
            release(job);
    } else if (err) {
        if (!job->result.end) {
            job->result.end = ACP_JOB_NOT_STARTED;
            say_reply(job, "the client did not start the command", err, reply);
        }
        job_finish(job);
    } else if (job->phase == JOB_STOPPING) {
        job_finish(job);
    } else {
        begin(job);
    }
    job_let_go(job);
}

static struct acp_env_variable_list environment(struct acp_arena *arena, struct acp_str_map env)
{
    struct acp_env_variable_list list = {NULL, 0};
    struct acp_env_variable *items = acp_arena_alloc(arena, (env.count + 1) * sizeof(*items));
    if (!items)
        return list;
    for (size_t i = 0; i < env.count; i++)
        acp_env_variable_init(&items[i], env.items[i].key, env.items[i].value);
    list.items = items;
    list.count = env.count;
    return list;
}

static int start(struct acp_job *job, const struct acp_job_options *options,
                 struct acp_failure *failure)
{
    const struct acp_str line[] = {ACP_STR("-c"), options->command};
    struct acp_create_terminal_request request;
    (void) failure; /* the error says it all */
    acp_create_terminal_request_init(&request, job->session_id, options->command);
    request.args = options->args;
    /* A client runs what it is given as it is, so the shell has to be asked for. */
    if (options->args.count == 0 && acp_terminal_is_line(options->command)) {
        request.command = acp_str_from("/bin/sh");
        request.args = (struct acp_str_list){line, 2};
    }
    request.env = environment(&job->arena, options->env);
    if (!request.env.items)
        return ACP_ERR_NOMEM;
    request.cwd = options->cwd;
    request.output_byte_limit = acp_some_u64(job->limit);
    int err = acp_agent_request(job->agent, acp_str_from("terminal/create"),
                                ACP_TYPE_CREATE_TERMINAL_REQUEST, &request, on_created, job,
                                &job->creating);
    if (err)
        return err;
    job->is_creating = true;
    job->holds++;
    return 0;
}

/* ---- The place ------------------------------------------------------------------------------ */

/*
 * Before there is a terminal nothing is waited for; should it come all the same, it is released.
 * Otherwise wait_for_exit tells when the command is dead.
 */
static void stop(struct acp_job *job)
{
    if (job->phase == JOB_STARTING) {
        job_finish_within(job, 0);
        return;
    }
    (void) ask_about(job, "terminal/kill", ACP_TYPE_KILL_TERMINAL_REQUEST, NULL, NULL);
    job_finish_within(job, job->set->options.settle_ms);
}

static void drop(struct acp_job *job)
{
    if (job->is_creating)
        (void) acp_peer_cancel(acp_agent_peer(job->agent), job->creating);
    if (job->terminal_id.len)
        release(job);
}

static void on_read(struct acp_peer *peer, uint64_t request, const struct acp_reply *reply,
                    void *user)
{
    struct job_read *read = user;
    struct acp_job *job = read->job;
    struct acp_terminal_output_response response = {0};
    struct acp_arena arena;
    (void) peer;
    (void) request;
    acp_arena_init(&arena, 0);
    if (job) {
        struct acp_job_output output = {.err = reply->err, .running = true};
        if (!output.err)
            output.err =
                acp_terminal_output_response_decode(ACP_V1, reply->result, &arena, &response, NULL);
        if (!output.err) {
            output.text = job_end_of(response.output, job->limit);
            output.truncated = response.truncated || output.text.len < response.output.len;
        }
        job_detach_read(read);
        read->fn(job, &output, read->user);
    }
    acp_arena_finish(&arena);
    free(read);
}

static int read_output(struct acp_job *job, acp_job_output_fn *fn, void *user)
{
    struct job_read *read = job_add_read(job, fn, user);
    if (!read)
        return ACP_ERR_NOMEM;
    int err = ask_output(job, on_read, read);
    if (!err) {
        read->asked = true;
        return 0;
    }
    job_detach_read(read);
    free(read);
    return err;
}

const struct job_place job_client = {
    .start = start,
    .stop = stop,
    .drop = drop,
    .read = read_output,
};
