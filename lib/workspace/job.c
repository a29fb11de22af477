/*
 * Commands of an agent's turns: the life of each, whichever place it runs in, and its one result.
 *
 * A command is gone for everybody outside when its result was given (in the foreground) or it was
 * freed (in the background); its memory stays until libuv has closed its timers and the client has
 * answered what it was asked.  So whatever a callback does, the command that it is about can still
 * be looked at.  A set that is freed inside of a callback goes when the outermost has returned.
 */
#include "workspace/job.h"
#include "base/sized.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DEFAULT_MERGE_MS = 20,
    DEFAULT_REFRESH_MS = 500,
    DEFAULT_STREAM_BYTES = 8 * 1024 * 1024,
    DEFAULT_SETTLE_MS = 3000,
    DEFAULT_OUTPUT_BYTES = 1024 * 1024,
    DEFAULT_MAX_BYTES = 16 * 1024 * 1024,
    DEFAULT_ROWS = 40,
    DEFAULT_COLUMNS = 120,
    UNSENT_MAX = 1024 * 1024, /* waits for a slow client; the command is paused long before */
};

static void enter(struct acp_jobs *set)
{
    set->depth++;
}

static void leave(struct acp_jobs *set)
{
    if (--set->depth == 0 && set->freed)
        free(set);
}

/* ---- Memory --------------------------------------------------------------------------------- */

void job_let_go(struct acp_job *job)
{
    if (--job->holds > 0 || !job->gone)
        return;
    acp_buf_finish(&job->output);
    acp_buf_finish(&job->unsent);
    acp_arena_finish(&job->arena);
    free(job);
}

static void on_timer_closed(uv_handle_t *handle)
{
    job_let_go(handle->data);
}

static void open_timer(struct acp_job *job, uv_timer_t *timer)
{
    (void) uv_timer_init(job->set->loop, timer);
    timer->data = job;
    job->holds++;
}

/* Nobody outside knows it from here on. */
static void forget(struct acp_job *job)
{
    if (job->gone)
        return;
    job->gone = true;
    for (struct acp_job **at = &job->set->first; *at; at = &(*at)->next)
        if (*at == job) {
            *at = job->next;
            break;
        }
    while (job->reads) {
        struct job_read *read = job->reads;
        job->reads = read->next;
        read->job = NULL;
        if (!read->asked)
            free(read);
    }
    uv_close((uv_handle_t *) &job->clock, on_timer_closed);
    uv_close((uv_handle_t *) &job->refresh, on_timer_closed);
}

static size_t output_limit(const struct acp_jobs *set, uint64_t asked)
{
    const struct acp_terminals_options *o = &set->options.terminals;
    uint64_t wanted = asked ? asked : o->default_bytes;
    return wanted < o->max_bytes ? (size_t) wanted : o->max_bytes;
}

static struct acp_job *make(struct acp_jobs *set, struct acp_turn *turn,
                            const struct acp_job_options *options)
{
    struct acp_job *job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->set = set;
    job->place = !options->own && job_client_serves(set->watch.agent) ? &job_client : &job_local;
    job->agent = set->watch.agent;
    job->session = acp_turn_session(turn);
    job->background = options->background;
    job->turn = options->background ? NULL : turn;
    job->timeout_ms = options->timeout_ms;
    job->limit = output_limit(set, options->output_byte_limit);
    acp_arena_init(&job->arena, 0);
    acp_buf_init(&job->output, job->limit);
    acp_buf_init(&job->unsent, UNSENT_MAX);
    open_timer(job, &job->clock);
    open_timer(job, &job->refresh);
    job->next = set->first;
    set->first = job;
    job->session_id = acp_arena_copy(&job->arena, acp_session_id(job->session));
    job->tool_call = acp_arena_copy(&job->arena, options->tool_call);
    if (job->session_id.ptr && job->tool_call.ptr)
        return job;
    forget(job);
    return NULL;
}

/* ---- What is known -------------------------------------------------------------------------- */

/* A sentence that is too long ends with a whole character. */
static void cut_message(struct acp_job *job)
{
    size_t len = sizeof(job->message) - 1;
    while (len && ((unsigned char) job->message[len - 1] & 0xC0) == 0x80)
        len--;
    job->message[len ? len - 1 : 0] = '\0';
}

void job_say(struct acp_job *job, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(job->message, sizeof(job->message), format, args);
    va_end(args);
    if (len >= (int) sizeof(job->message))
        cut_message(job);
}

void job_note_exit(struct acp_job *job, const struct acp_terminal_exit *how)
{
    job->result.how = *how;
    if (!how->signal)
        return;
    (void) snprintf(job->signal, sizeof(job->signal), "%s", how->signal);
    job->result.how.signal = job->signal;
}

struct acp_str job_end_of(struct acp_str text, size_t max)
{
    size_t skip = text.len > max ? text.len - max : 0;
    while (skip && skip < text.len && ((unsigned char) text.ptr[skip] & 0xC0) == 0x80)
        skip++;
    return acp_str_n(text.ptr + skip, text.len - skip);
}

/* Whatever the command has no sentence for yet gets one. */
static void explain(struct acp_job *job)
{
    if (job->message[0])
        return;
    switch (job->result.end) {
    case ACP_JOB_TIMED_OUT:
        job_say(job, "the command took longer than %llu ms and was ended",
                (unsigned long long) job->timeout_ms);
        break;
    case ACP_JOB_KILLED:
        job_say(job, "the command was ended");
        break;
    case ACP_JOB_CANCELLED:
        job_say(job, "the command was cancelled");
        break;
    case ACP_JOB_NOT_STARTED:
        job_say(job, "the command could not be started");
        break;
    case ACP_JOB_LOST:
        job_say(job, "the client does not tell what became of the command");
        break;
    case ACP_JOB_EXITED:
        break;
    }
}

/* Gives up the place where it ran; from here on all that there will be is known. */
static void settle(struct acp_job *job)
{
    (void) uv_timer_stop(&job->clock);
    job->place->drop(job);
    job->phase = JOB_OVER;
    if (!job->result.end)
        job->result.end = ACP_JOB_EXITED;
    explain(job);
    job->result.message = acp_str_from(job->message);
    job->result.output = acp_buf_view(&job->output);
    job_show_end(job);
    (void) uv_timer_stop(&job->refresh);
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct job_read *job_add_read(struct acp_job *job, acp_job_output_fn *fn, void *user)
{
    struct job_read *read = calloc(1, sizeof(*read));
    if (!read)
        return NULL;
    *read = (struct job_read){.next = job->reads, .job = job, .fn = fn, .user = user};
    job->reads = read;
    return read;
}

void job_detach_read(struct job_read *read)
{
    struct job_read **at = &read->job->reads;
    while (*at && *at != read)
        at = &(*at)->next;
    if (*at)
        *at = read->next;
    read->job = NULL;
}

static void tell_kept_output(struct acp_job *job, acp_job_output_fn *fn, void *user)
{
    struct acp_job_output output = {
        .text = job->result.output,
        .truncated = job->result.truncated,
        .how = job->result.how,
    };
    fn(job, &output, user);
}

static void settle_reads(struct acp_job *job)
{
    while (job->reads) {
        struct job_read *read = job->reads;
        acp_job_output_fn *fn = read->fn;
        void *user = read->user;
        job_detach_read(read);
        if (!read->asked)
            free(read);
        tell_kept_output(job, fn, user);
    }
}

int acp_job_read(struct acp_job *job, acp_job_output_fn *fn, void *user)
{
    switch (job->phase) {
    case JOB_STARTING:
        return ACP_ERR_STATE;
    case JOB_RUNNING:
    case JOB_STOPPING:
        return job->place->read(job, fn, user);
    case JOB_ENDING:
        return job_add_read(job, fn, user) ? 0 : ACP_ERR_NOMEM;
    case JOB_OVER:
        break;
    }
    tell_kept_output(job, fn, user);
    return 0;
}

/* ---- The end -------------------------------------------------------------------------------- */

void job_finish(struct acp_job *job)
{
    struct acp_jobs *set = job->set;
    if (job_is_over(job))
        return;
    enter(set);
    settle(job);
    settle_reads(job);
    if (!job->gone && job->done)
        job->done(job, &job->result, job->user);
    if (!job->background)
        forget(job);
    leave(set);
}

static void stop(struct acp_job *job, enum acp_job_end why)
{
    if (job->phase != JOB_STARTING && job->phase != JOB_RUNNING)
        return;
    job->result.end = why;
    (void) uv_timer_stop(&job->clock);
    job->place->stop(job);
    job->phase = JOB_STOPPING;
}

static void on_clock(uv_timer_t *timer)
{
    struct acp_job *job = timer->data;
    if (job->phase == JOB_RUNNING)
        stop(job, ACP_JOB_TIMED_OUT);
    else
        job_finish(job);
}

void job_finish_within(struct acp_job *job, uint64_t ms)
{
    (void) uv_timer_start(&job->clock, on_clock, ms, 0);
}

void job_started(struct acp_job *job)
{
    job->phase = JOB_RUNNING;
    if (job->timeout_ms)
        (void) uv_timer_start(&job->clock, on_clock, job->timeout_ms, 0);
}

void acp_job_kill(struct acp_job *job)
{
    stop(job, ACP_JOB_KILLED);
}

void acp_job_free(struct acp_job *job)
{
    if (!job || job->gone)
        return;
    if (!job_is_over(job))
        settle(job);
    forget(job);
}

bool acp_job_is_running(const struct acp_job *job)
{
    return job->phase < JOB_ENDING;
}

struct acp_str acp_job_terminal(const struct acp_job *job)
{
    return job->terminal_id.ptr ? job->terminal_id : acp_str_from("");
}

struct acp_job *acp_jobs_find(const struct acp_jobs *set, const struct acp_session *session,
                              struct acp_str terminal)
{
    for (struct acp_job *job = set->first; job; job = job->next)
        if (job->session == session && job->terminal_id.len &&
            acp_str_eq(job->terminal_id, terminal))
            return job;
    return NULL;
}

/* ---- What the role tells -------------------------------------------------------------------- */

static struct acp_jobs *set_of(struct acp_agent_observer *watch)
{
    return (struct acp_jobs *) (void *) watch;
}

static void on_turn_cancelled(struct acp_agent_observer *watch, struct acp_turn *turn)
{
    for (struct acp_job *job = set_of(watch)->first; job; job = job->next)
        if (job->turn == turn)
            stop(job, ACP_JOB_CANCELLED);
}

/* One of the turn when it is given, otherwise of the session; results may change the list. */
static struct acp_job *find_open(const struct acp_jobs *set, const struct acp_session *session,
                                 const struct acp_turn *turn)
{
    for (struct acp_job *job = set->first; job; job = job->next)
        if (job->session == session && !job_is_over(job) && (!turn || job->turn == turn))
            return job;
    return NULL;
}

static void finish_now(struct acp_jobs *set, const struct acp_session *session,
                       const struct acp_turn *turn)
{
    struct acp_job *job;
    while ((job = find_open(set, session, turn))) {
        if (!job->result.end && job->phase != JOB_ENDING)
            job->result.end = ACP_JOB_CANCELLED;
        job_finish(job);
    }
}

static void on_turn_ends(struct acp_agent_observer *watch, struct acp_turn *turn)
{
    struct acp_jobs *set = set_of(watch);
    enter(set);
    finish_now(set, acp_turn_session(turn), turn);
    leave(set);
}

static void on_session_ends(struct acp_agent_observer *watch, struct acp_session *session)
{
    struct acp_jobs *set = set_of(watch);
    enter(set);
    finish_now(set, session, NULL);
    for (struct acp_job *job = set->first, *next; job; job = next) {
        next = job->next;
        if (job->session == session)
            forget(job);
    }
    leave(set);
}

static void on_relieved(struct acp_agent_observer *watch)
{
    for (struct acp_job *job = set_of(watch)->first; job; job = job->next)
        job_show_relieved(job);
}

/* ---- Sets ----------------------------------------------------------------------------------- */

static struct acp_jobs_options with_defaults(const struct acp_jobs_options *options)
{
    struct acp_jobs_options o = options ? *options : (struct acp_jobs_options){0};
    struct acp_terminals_options *t = &o.terminals;
    /* As the terminals have them, but here they must be known. */
    if (!t->max_bytes)
        t->max_bytes = DEFAULT_MAX_BYTES;
    if (!t->default_bytes)
        t->default_bytes = DEFAULT_OUTPUT_BYTES;
    if (!t->rows)
        t->rows = DEFAULT_ROWS;
    if (!t->columns)
        t->columns = DEFAULT_COLUMNS;
    if (!o.merge_ms)
        o.merge_ms = DEFAULT_MERGE_MS;
    if (!o.refresh_ms)
        o.refresh_ms = DEFAULT_REFRESH_MS;
    if (!o.stream_bytes)
        o.stream_bytes = DEFAULT_STREAM_BYTES;
    if (!o.settle_ms)
        o.settle_ms = DEFAULT_SETTLE_MS;
    return o;
}

static int jobs_new(uv_loop_t *loop, struct acp_agent *agent,
                    const struct acp_jobs_options *options, struct acp_jobs **ret)
{
    struct acp_jobs *set = calloc(1, sizeof(*set));
    if (!set)
        return ACP_ERR_NOMEM;
    set->loop = loop;
    set->options = with_defaults(options);
    set->watch = (struct acp_agent_observer){
        .turn_cancelled = on_turn_cancelled,
        .turn_ends = on_turn_ends,
        .session_ends = on_session_ends,
        .relieved = on_relieved,
    };
    /* A system without entropy has the time at least. */
    if (uv_random(NULL, NULL, &set->seed, sizeof(set->seed), 0, NULL) != 0)
        set->seed = uv_hrtime();
    int err = acp_terminals_new(loop, &set->options.terminals, &job_terminals_handler, set,
                                &set->terminals);
    if (!err)
        err = acp_agent_set_observer(agent, &set->watch);
    if (err) {
        acp_terminals_free(set->terminals);
        free(set);
        return err;
    }
    *ret = set;
    return 0;
}

int acp_jobs_new_sized(uv_loop_t *loop, struct acp_agent *agent,
                       const struct acp_jobs_options *options, size_t options_size,
                       struct acp_jobs **ret)
{
    struct acp_jobs_options own_options;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    return err ? err : jobs_new(loop, agent, &own_options, ret);
}

void acp_jobs_free(struct acp_jobs *set)
{
    if (!set || set->freed)
        return;
    enter(set);
    set->freed = true;
    while (set->first)
        acp_job_free(set->first);
    acp_agent_remove_observer(&set->watch);
    acp_terminals_free(set->terminals);
    leave(set);
}

/* ---- The start ------------------------------------------------------------------------------ */

static bool is_misuse(int err)
{
    return err == ACP_ERR_ARGUMENT || err == ACP_ERR_NOMEM || err == ACP_ERR_CLOSED;
}

static int turn_run_command(struct acp_turn *turn, struct acp_jobs *set,
                            const struct acp_job_options *options, acp_job_fn *done, void *user,
                            struct acp_job **ret)
{
    struct acp_session *session = acp_turn_session(turn);
    if (set->freed)
        return ACP_ERR_CLOSED;
    if (acp_turn_is_cancelled(turn))
        return ACP_ERR_CANCELLED;
    if (acp_session_agent(session) != set->watch.agent || options->command.len == 0 ||
        (options->cwd.len && options->cwd.ptr[0] != '/'))
        return ACP_ERR_ARGUMENT;
    struct acp_job *job = make(set, turn, options);
    if (!job)
        return ACP_ERR_NOMEM;
    struct acp_job_options placed = *options;
    if (!placed.cwd.len)
        placed.cwd = acp_session_cwd(session);
    struct acp_failure failure = {0};
    int err = job->place->start(job, &placed, &failure);
    if (is_misuse(err)) {
        job->phase = JOB_OVER;
        forget(job);
        return err;
    }
    job->done = done;
    job->user = user;
    if (err) {
        job->phase = JOB_ENDING;
        job->result.end = ACP_JOB_NOT_STARTED;
        job_say(job, "%s", failure.message[0] ? failure.message : acp_io_err_text(err));
        job_finish_within(job, 0);
    }
    if (ret)
        *ret = job;
    return 0;
}

int acp_turn_run_command_sized(struct acp_turn *turn, struct acp_jobs *set,
                               const struct acp_job_options *options, size_t options_size,
                               acp_job_fn *done, void *user, struct acp_job **ret)
{
    struct acp_job_options own_options;
    int err = ACP_SIZED_COPY(&own_options, options, options_size);
    return err ? err : turn_run_command(turn, set, &own_options, done, user, ret);
}
