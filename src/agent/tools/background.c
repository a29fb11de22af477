/*
 * Commands in the background: they have numbers, by which the model asks for their output and stops
 * them.  When one has ended, how and with what output is kept here and the job itself is given up,
 * so that whatever job is known here is alive.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/tools/command.h"
#include "base/copy.h"
#include "launch/sandbox.h"

/* ---- Places --------------------------------------------------------------------------------- */

static struct tool_background *find(struct tools *set, uint64_t number)
{
    for (size_t i = 0; i < set->background_count; i++)
        if (set->background[i].number == number)
            return &set->background[i];
    return NULL;
}

static struct tool_background *find_job(struct tools *set, const struct acp_job *job)
{
    for (size_t i = 0; i < set->background_count; i++)
        if (set->background[i].number && set->background[i].job == job)
            return &set->background[i];
    return NULL;
}

static void empty(struct tool_background *place)
{
    (void) sandbox_run_free(place->sandbox_run);
    free(place->output);
    *place = (struct tool_background){0};
}

/* A free place, or that of the one that has ended first; NULL when all run. */
static struct tool_background *find_place(struct tools *set)
{
    struct tool_background *oldest = NULL;
    if (!set->background) {
        set->background = calloc(TOOLS_MAX_BACKGROUND, sizeof(*set->background));
        set->background_count = set->background ? TOOLS_MAX_BACKGROUND : 0;
    }
    for (size_t i = 0; i < set->background_count; i++) {
        struct tool_background *place = &set->background[i];
        if (!place->number)
            return place;
        if (!place->job && (!oldest || place->number < oldest->number))
            oldest = place;
    }
    if (oldest)
        empty(oldest);
    return oldest;
}

/* A version 2 client is told all that runs, each time. */
static void tell_client(struct tools *set)
{
    struct acp_background_work work[TOOLS_MAX_BACKGROUND];
    size_t count = 0;
    for (size_t i = 0; i < set->background_count; i++) {
        const struct acp_job *job = set->background[i].job;
        if (job && acp_job_is_running(job) && acp_job_terminal(job).len)
            acp_background_work_init_terminal(&work[count++], acp_job_terminal(job));
    }
    (void) acp_session_send_background(set->options.session, work, count);
}

void tool_end_background(struct tools *set)
{
    for (size_t i = 0; i < set->background_count; i++) {
        acp_job_free(set->background[i].job);
        empty(&set->background[i]);
    }
    free(set->background);
    set->background = NULL;
    set->background_count = 0;
}

/* ---- Starting ------------------------------------------------------------------------------- */

static void on_result(struct acp_job *job, const struct acp_job_result *result, void *user)
{
    struct tools *set = user;
    struct tool_background *place = find_job(set, job);
    if (place) {
        place->job = NULL;
        (void) sandbox_run_free(place->sandbox_run);
        place->sandbox_run = NULL;
        place->output = acp_str_copy(result->output);
        place->output_len = place->output ? result->output.len : 0;
        place->truncated = result->truncated;
        command_how(result, place->how, sizeof(place->how));
    }
    acp_job_free(job);
    if (result->end != ACP_JOB_CANCELLED) /* otherwise the session is over */
        tell_client(set);
}

void background_start(struct tool_run *run, const struct acp_job_options *options,
                      struct sandbox_run *sandbox_run)
{
    struct tools *set = run->set;
    struct acp_job *job = NULL;
    struct tool_background *place = find_place(set);
    if (!place) {
        (void) sandbox_run_free(sandbox_run);
        tool_fail(run, "%d commands run in the background already; stop one of them first.",
                  TOOLS_MAX_BACKGROUND);
        return;
    }
    int err = acp_turn_run_command(run->turn, set->options.jobs, options, on_result, set, &job);
    if (err) {
        (void) sandbox_run_free(sandbox_run);
        tool_fail(run, "The command cannot be run: %s.", acp_err_text(err));
        return;
    }
    *place = (struct tool_background){
        .number = ++set->next_background, .job = job, .sandbox_run = sandbox_run};
    tell_client(set);
    tool_printf(run,
                "It runs in the background as command %llu. Ask for its output with "
                "\"command_output\", end it with \"command_stop\".",
                (unsigned long long) place->number);
    (void) acp_buf_printf(&run->output, "{\"command\":%llu}", (unsigned long long) place->number);
    run->has_terminal = true;
    tool_finish(run, TOOL_COMPLETED);
}

/* ---- Asking for the output ------------------------------------------------------------------ */

static void on_output(struct acp_job *job, const struct acp_job_output *output, void *user)
{
    struct tool_run *run = user;
    char how[100];
    (void) job;
    if (!tool_resume(run))
        return;
    if (output->err) {
        tool_fail(run, "Its output cannot be had: %s.", acp_err_text(output->err));
        return;
    }
    command_say_output(run, output->text, output->truncated);
    command_exit(&output->how, how, sizeof(how));
    if (output->running)
        tool_printf(run, "[It is still running.]");
    else
        tool_printf(run, "[It has ended: %s]", how); /* and its result is on its way */
    tool_finish(run, TOOL_COMPLETED);
}

/* The one that the input names; NULL, and the run is over, when there is none. */
static struct tool_background *named(struct tool_run *run)
{
    uint64_t number = 0;
    tool_get_u64(run, "command", &number);
    struct tool_background *place = number ? find(run->set, number) : NULL;
    if (!place)
        tool_fail(run, "There is no command %llu in the background.", (unsigned long long) number);
    return place;
}

static void tell_ended(struct tool_run *run, const struct tool_background *place)
{
    command_say_output(run, acp_str_n(place->output, place->output_len), place->truncated);
    tool_printf(run, "[It has ended: %s]", place->how);
    tool_finish(run, TOOL_COMPLETED);
}

static void start_output(struct tool_run *run)
{
    const struct tool_background *place = named(run);
    if (!place)
        return;
    if (!place->job) {
        tell_ended(run, place);
        return;
    }
    tool_hold(run);
    int err = acp_job_read(place->job, on_output, run);
    if (!err)
        return;
    (void) tool_resume(run);
    if (err == ACP_ERR_STATE)
        tool_fail(run, "It has not begun yet; ask again.");
    else
        tool_fail(run, "Its output cannot be had: %s.", acp_err_text(err));
}

static void start_stop(struct tool_run *run)
{
    const struct tool_background *place = named(run);
    if (!place)
        return;
    if (!place->job) {
        tell_ended(run, place);
        return;
    }
    acp_job_kill(place->job);
    tool_printf(run, "Command %llu is being ended.", (unsigned long long) place->number);
    tool_finish(run, TOOL_COMPLETED);
}

#define NUMBER_SCHEMA                                                                              \
    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"integer\",\"minimum\":1,"        \
    "\"description\":\"its number\"}},\"required\":[\"command\"],"                                 \
    "\"additionalProperties\":false}"

const struct tool tool_for_output = {
    .info = {.name = "command_output",
             .title = "Look at a command in the background",
             .description = "Gives the end of what a command in the background has printed so far, "
                            "and whether it still runs.",
             .input_schema = NUMBER_SCHEMA,
             .kind = ACP_TOOL_KIND_EXECUTE,
             .writes = true},
    .harmless = true,
    .start = start_output,
};

const struct tool tool_for_stop = {
    .info = {.name = "command_stop",
             .title = "Stop a command in the background",
             .description = "Ends a command in the background with all that it has started.",
             .input_schema = NUMBER_SCHEMA,
             .kind = ACP_TOOL_KIND_EXECUTE,
             .writes = true},
    .harmless = true,
    .start = start_stop,
};
