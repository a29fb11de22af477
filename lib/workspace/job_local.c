/* Commands that are processes of ours, in terminals of ours. */
#include "workspace/job.h"

int job_local_output(const struct acp_job *job, struct acp_buf *out,
                     struct acp_terminal_snapshot *ret)
{
    return acp_terminals_output(job->set->terminals, job->session_id, job->local_id, out, ret);
}

void job_local_pause(struct acp_job *job, bool pause)
{
    (void) acp_terminals_pause(job->set->terminals, job->session_id, job->local_id, pause);
}

/* ---- What the terminals tell ---------------------------------------------------------------- */

static struct acp_job *find(const struct acp_jobs *set, struct acp_str id)
{
    for (struct acp_job *job = set->first; job; job = job->next)
        if (job->local_id.len && acp_str_eq(job->local_id, id))
            return job;
    return NULL;
}

static void on_bytes(struct acp_terminals *terminals, struct acp_str session, struct acp_str id,
                     struct acp_str bytes, void *user)
{
    (void) terminals;
    (void) session;
    struct acp_job *job = find(user, id);
    if (job)
        job_show_bytes(job, bytes);
}

static void on_exited(struct acp_terminals *terminals, struct acp_str session, struct acp_str id,
                      const struct acp_terminal_exit *how, void *user)
{
    (void) terminals;
    (void) session;
    (void) how; /* the snapshot has it too */
    struct acp_job *job = find(user, id);
    if (job)
        job_finish(job);
}

const struct acp_terminals_handler job_terminals_handler = {
    .bytes = on_bytes,
    .exited = on_exited,
};

/* ---- The place ------------------------------------------------------------------------------ */

static int start(struct acp_job *job, const struct acp_job_options *options,
                 struct acp_failure *failure)
{
    bool as_text = !(acp_agent_protocol(job->agent) & ACP_V2);
    struct acp_terminal_request request = {
        .command = options->command,
        .args = options->args,
        .env = options->env,
        .cwd = options->cwd,
        .has_limit = true,
        .output_byte_limit = job->limit,
        /* What a terminal would do with escape sequences, text cannot. */
        .pipes = options->pipes || as_text,
    };
    int err = acp_terminals_create(job->set->terminals, job->session_id, &request, &job->local_id,
                                   failure);
    if (err)
        return err;
    job_show_begin(job, options);
    job_started(job);
    return 0;
}

static void stop(struct acp_job *job)
{
    (void) acp_terminals_kill(job->set->terminals, job->session_id, job->local_id);
}

static void drop(struct acp_job *job)
{
    static const struct acp_terminal_exit killed = {.signal = "SIGKILL"};
    struct acp_terminal_snapshot snapshot = {0};
    if (!job->local_id.len)
        return;
    if (job_local_output(job, &job->output, &snapshot) == 0)
        job->result.truncated = snapshot.truncated;
    job_note_exit(job, snapshot.exited ? &snapshot.how : &killed);
    (void) acp_terminals_release(job->set->terminals, job->session_id, job->local_id);
    job->local_id = acp_str_from(NULL);
}

static int read_output(struct acp_job *job, acp_job_output_fn *fn, void *user)
{
    struct acp_terminal_snapshot snapshot;
    struct acp_buf text;
    acp_buf_init(&text, job->limit);
    int err = job_local_output(job, &text, &snapshot);
    if (!err) {
        struct acp_job_output output = {
            .text = acp_buf_view(&text), .truncated = snapshot.truncated, .running = true};
        fn(job, &output, user);
    }
    acp_buf_finish(&text);
    return err;
}

const struct job_place job_local = {
    .start = start,
    .stop = stop,
    .drop = drop,
    .read = read_output,
};
