/*
 * background.c - background commands.  They have numbers, with which the model gets their output
 * and stops them.  When one has ended, its exit status and output are kept here and its job is
 * freed, so every job here is alive.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/tools/run_command.h"
#include "base/copy.h"
#include "launch/sandbox.h"

/* ---- Slots ---------------------------------------------------------------------------------- */

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

static void empty(struct tool_background *slot)
{
    (void) sandbox_run_free(slot->sandbox_run);
    free(slot->output);
    *slot = (struct tool_background){0};
}

/* A free slot, or that of the oldest command that has ended; NULL if all are running. */
static struct tool_background *find_slot(struct tools *set)
{
    struct tool_background *oldest = NULL;
    if (!set->background) {
        set->background = calloc(TOOLS_MAX_BACKGROUND, sizeof(*set->background));
        set->background_count = set->background ? TOOLS_MAX_BACKGROUND : 0;
    }
    for (size_t i = 0; i < set->background_count; i++) {
        struct tool_background *slot = &set->background[i];
        if (!slot->number)
            return slot;
        if (!slot->job && (!oldest || slot->number < oldest->number))
            oldest = slot;
    }
    if (oldest)
        empty(oldest);
    return oldest;
}

/* Version 2 clients get the list of what is running. */
static void send_background(struct tools *set)
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
    struct tool_background *slot = find_job(set, job);
    if (slot) {
        slot->job = NULL;
        (void) sandbox_run_free(slot->sandbox_run);
        slot->sandbox_run = NULL;
        slot->output = acp_str_copy(result->output);
        slot->output_len = slot->output ? result->output.len : 0;
        slot->truncated = result->truncated;
        command_how(result, slot->how, sizeof(slot->how));
    }
    acp_job_free(job);
    if (result->end != ACP_JOB_CANCELLED) /* otherwise the session is being closed */
        send_background(set);
}

void background_start(struct tool_run *run, const struct acp_job_options *options,
                      struct sandbox_run *sandbox_run)
{
    struct tools *set = run->set;
    struct acp_job *job = NULL;
    struct tool_background *slot = find_slot(set);
    if (!slot) {
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
    *slot = (struct tool_background){
        .number = ++set->next_background, .job = job, .sandbox_run = sandbox_run};
    send_background(set);
    tool_printf(
        run,
        "It runs in the background as command %llu. Get its output with \"command_output\", stop "
        "it with \"command_stop\".",
        (unsigned long long) slot->number);
    (void) acp_buf_printf(&run->output, "{\"command\":%llu}", (unsigned long long) slot->number);
    run->has_terminal = true;
    tool_finish(run, TOOL_COMPLETED);
}

/* ---- Output --------------------------------------------------------------------------------- */

static void on_output(struct acp_job *job, const struct acp_job_output *output, void *user)
{
    struct tool_run *run = user;
    char how[100];
    (void) job;
    if (!tool_resume(run))
        return;
    if (output->err) {
        tool_fail(run, "Its output is not available: %s.", acp_err_text(output->err));
        return;
    }
    command_print_output(run, output->text, output->truncated);
    command_exit(&output->how, how, sizeof(how));
    if (output->running)
        tool_printf(run, "[It is still running.]");
    else
        tool_printf(run, "[It has ended: %s]", how); /* its result arrives in a moment */
    tool_finish(run, TOOL_COMPLETED);
}

/* The command that the input names; NULL, and the run has failed, if there is none. */
static struct tool_background *named(struct tool_run *run)
{
    uint64_t number = 0;
    tool_get_u64(run, "command", &number);
    struct tool_background *slot = number ? find(run->set, number) : NULL;
    if (!slot)
        tool_fail(run, "There is no command %llu in the background.", (unsigned long long) number);
    return slot;
}

static void report_ended(struct tool_run *run, const struct tool_background *slot)
{
    command_print_output(run, acp_str_n(slot->output, slot->output_len), slot->truncated);
    tool_printf(run, "[It has ended: %s]", slot->how);
    tool_finish(run, TOOL_COMPLETED);
}

static void start_output(struct tool_run *run)
{
    const struct tool_background *slot = named(run);
    if (!slot)
        return;
    if (!slot->job) {
        report_ended(run, slot);
        return;
    }
    tool_hold(run);
    int err = acp_job_read(slot->job, on_output, run);
    if (!err)
        return;
    (void) tool_resume(run);
    if (err == ACP_ERR_STATE)
        tool_fail(run, "It has not started yet; try again.");
    else
        tool_fail(run, "Its output is not available: %s.", acp_err_text(err));
}

static void start_stop(struct tool_run *run)
{
    const struct tool_background *slot = named(run);
    if (!slot)
        return;
    if (!slot->job) {
        report_ended(run, slot);
        return;
    }
    acp_job_kill(slot->job);
    tool_printf(run, "Command %llu is being stopped.", (unsigned long long) slot->number);
    tool_finish(run, TOOL_COMPLETED);
}

#define NUMBER_SCHEMA                                                                              \
    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"integer\",\"minimum\":1,"        \
    "\"description\":\"its number\"}},\"required\":[\"command\"],"                                 \
    "\"additionalProperties\":false}"

const struct tool tool_for_output = {
    .info = {.name = "command_output",
             .title = "Look at a command in the background",
             .description =
                 "Returns the end of the output of a background command so far, and whether it is "
                 "still running.",
             .input_schema = NUMBER_SCHEMA,
             .kind = ACP_TOOL_KIND_EXECUTE,
             .writes = true},
    .harmless = true,
    .start = start_output,
};

const struct tool tool_for_stop = {
    .info = {.name = "command_stop",
             .title = "Stop a command in the background",
             .description = "Stops a background command and all processes that it has started.",
             .input_schema = NUMBER_SCHEMA,
             .kind = ACP_TOOL_KIND_EXECUTE,
             .writes = true},
    .harmless = true,
    .start = start_stop,
};
