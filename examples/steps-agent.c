/*
 * steps-agent - an agent that runs each line of the prompt as a command: the plan shows how far it
 * is, each command is a tool call with its output, and the first one that fails ends the turn.
 */
#include <acp/job.h>
#include <acp/run.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_STEPS = 50, TIMEOUT_MS = 60000 };

struct program {
    struct acp_agent_stdio *stdio;
    struct acp_jobs *jobs;
};

/* What a turn has to do; attached to the turn. */
struct work {
    struct program *program;
    struct acp_turn *turn;
    char *text; /* the lines point into it */
    struct acp_str lines[MAX_STEPS];
    size_t count;
    size_t done;
    char id[32]; /* of the current tool call */
};

static void run_next(struct work *work);

static void end_turn(struct work *work, enum acp_stop stop)
{
    struct acp_turn *turn = work->turn;
    free(work->text);
    free(work);
    (void) acp_turn_end(turn, stop);
}

static void send_plan(const struct work *work, bool failed)
{
    struct acp_plan_entry entries[MAX_STEPS];
    for (size_t i = 0; i < work->count; i++) {
        enum acp_plan_entry_status_is status = i < work->done ? ACP_PLAN_ENTRY_STATUS_COMPLETED
                                               : i == work->done && !failed
                                                   ? ACP_PLAN_ENTRY_STATUS_IN_PROGRESS
                                                   : ACP_PLAN_ENTRY_STATUS_PENDING;
        acp_plan_entry_init(&entries[i], work->lines[i], ACP_PLAN_ENTRY_PRIORITY_MEDIUM, status);
    }
    (void) acp_turn_send_plan(work->turn, entries, work->count);
}

static void send_status(const struct work *work, enum acp_tool_call_status_is status)
{
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from(work->id));
    if (status == ACP_TOOL_CALL_STATUS_IN_PROGRESS) {
        tool.title = work->lines[work->done];
        tool.kind.is = ACP_TOOL_KIND_EXECUTE;
    }
    tool.status.is = status;
    (void) acp_turn_send_tool_call(work->turn, &tool);
}

static void on_done(struct acp_job *job, const struct acp_job_result *result, void *user)
{
    struct work *work = user;
    bool good = result->end == ACP_JOB_EXITED && result->how.has_code && result->how.code == 0;
    char text[200];
    (void) job;
    send_status(work, good ? ACP_TOOL_CALL_STATUS_COMPLETED : ACP_TOOL_CALL_STATUS_FAILED);
    if (good) {
        work->done++;
        run_next(work);
        return;
    }
    send_plan(work, true);
    if (result->end == ACP_JOB_EXITED && result->how.has_code)
        (void) snprintf(text, sizeof(text), "exit status %d", result->how.code);
    else if (result->end == ACP_JOB_EXITED && result->how.signal)
        (void) snprintf(text, sizeof(text), "ended by %s", result->how.signal);
    else
        (void) snprintf(text, sizeof(text), "%.*s", ACP_ARG(result->message));
    (void) acp_turn_send_text(work->turn, acp_str_from(text));
    end_turn(work, ACP_STOP_END_TURN);
}

static void run_next(struct work *work)
{
    struct acp_job_options options = {.timeout_ms = TIMEOUT_MS};
    send_plan(work, false);
    if (work->done == work->count) {
        (void) acp_turn_send_text(work->turn, acp_str_from("Done."));
        end_turn(work, ACP_STOP_END_TURN);
        return;
    }
    (void) snprintf(work->id, sizeof(work->id), "step-%zu", work->done + 1);
    options.tool_call = acp_str_from(work->id);
    options.command = work->lines[work->done];
    send_status(work, ACP_TOOL_CALL_STATUS_IN_PROGRESS);
    if (acp_turn_run_command(work->turn, work->program->jobs, &options, on_done, work, NULL)) {
        send_status(work, ACP_TOOL_CALL_STATUS_FAILED);
        end_turn(work, ACP_STOP_REFUSAL);
    }
}

/* The lines of the prompt that are not empty; the rest of one that is too long is left out. */
static void split_lines(struct work *work)
{
    char *rest = NULL;
    for (char *line = strtok_r(work->text, "\n", &rest); line && work->count < MAX_STEPS;
         line = strtok_r(NULL, "\n", &rest))
        work->lines[work->count++] = acp_str_from(line);
}

static void on_prompt(struct acp_turn *turn, struct acp_content_block_list prompt, void *user)
{
    struct work *work = calloc(1, sizeof(*work));
    bool is_text = prompt.items[0].is == ACP_CONTENT_BLOCK_TEXT;
    char *text = acp_str_dup(is_text ? prompt.items[0].text.text : acp_str_from(""));
    if (!work || !text) {
        free(work);
        free(text);
        (void) acp_turn_fail(turn, -32603, acp_str_from("Out of memory"));
        return;
    }
    work->program = user;
    work->turn = turn;
    work->text = text;
    split_lines(work);
    run_next(work);
}

static void on_gone(int reason, void *user)
{
    struct program *program = user;
    (void) reason;
    acp_jobs_free(program->jobs);
    acp_agent_stdio_free(program->stdio);
}

int main(void)
{
    static const struct acp_agent_handler handler = {.prompt = on_prompt};
    struct acp_agent_options options = {.name = acp_str_from("steps-agent"),
                                        .versions = ACP_V1 | ACP_V2};
    struct program program = {0};
    uv_loop_t *loop = uv_default_loop();
    if (acp_agent_stdio_new(loop, &options, &handler, on_gone, &program, &program.stdio))
        return 1;
    if (acp_jobs_new(loop, acp_agent_stdio_agent(program.stdio), NULL, &program.jobs)) {
        acp_agent_stdio_free(program.stdio);
        return 1;
    }
    (void) uv_run(loop, UV_RUN_DEFAULT); /* until on_gone() has freed everything */
    return 0;
}
