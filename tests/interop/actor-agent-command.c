/*
 * Lines that run commands: `run` in the foreground, `run-for` with a time limit, `launch` in the
 * background, where `poll` reads what there is and `land` ends it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor-agent.h"

static const char *name_of(enum acp_job_end end)
{
    switch (end) {
    case ACP_JOB_EXITED:
        return "exited";
    case ACP_JOB_TIMED_OUT:
        return "timed out";
    case ACP_JOB_KILLED:
        return "killed";
    case ACP_JOB_CANCELLED:
        return "cancelled";
    case ACP_JOB_NOT_STARTED:
        return "not started";
    case ACP_JOB_LOST:
        return "lost";
    }
    return "?";
}

static void say_result(struct acp_session *session, const struct acp_job_result *result)
{
    struct acp_buf text;
    acp_buf_init(&text, 1 << 20);
    (void) acp_buf_printf(&text, "%s", name_of(result->end));
    if (result->how.has_code)
        (void) acp_buf_printf(&text, " %d", result->how.code);
    if (result->how.signal)
        (void) acp_buf_printf(&text, " %s", result->how.signal);
    if (result->message.len)
        (void) acp_buf_printf(&text, " (%.*s)", (int) result->message.len, result->message.ptr);
    if (result->output.len > 1000)
        (void) acp_buf_printf(&text, ": %zu bytes", result->output.len);
    else
        (void) acp_buf_printf(&text, ": %.*s", (int) result->output.len, result->output.ptr);
    (void) acp_buf_printf(&text, "%s\n", result->truncated ? " (truncated)" : "");
    (void) acp_session_send_text(session, acp_buf_view(&text), acp_str_from(NULL));
    acp_buf_finish(&text);
}

static void set_status(struct acp_session *session, enum acp_tool_call_status_is status)
{
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from("tool-run"));
    tool.status.is = status;
    (void) acp_session_send_tool_call(session, &tool);
}

/* What a cancelled turn still has to do is left out. */
static void on_result(struct acp_job *job, const struct acp_job_result *result, void *user)
{
    struct work *work = user;
    struct acp_session *session = acp_turn_session(work->turn);
    (void) job;
    bool good = result->end == ACP_JOB_EXITED && result->how.has_code && result->how.code == 0;
    bool cancelled = result->end == ACP_JOB_CANCELLED;
    set_status(session, good        ? ACP_TOOL_CALL_STATUS_COMPLETED
                        : cancelled ? ACP_TOOL_CALL_STATUS_CANCELLED
                                    : ACP_TOOL_CALL_STATUS_FAILED);
    say_result(session, result);
    work->running = false;
    if (acp_turn_is_cancelled(work->turn))
        work->next += strlen(work->next);
    go_on(work);
}

static struct acp_job_options make_options(struct work *work, const char *line)
{
    static const struct acp_str_entry env[] = {{ACP_STR("GREETING"), ACP_STR("hello")}};
    struct acp_tool_call_update tool;
    acp_tool_call_update_init(&tool, acp_str_from("tool-run"));
    tool.title = acp_str_from(line);
    tool.kind.is = ACP_TOOL_KIND_EXECUTE;
    tool.status.is = ACP_TOOL_CALL_STATUS_IN_PROGRESS;
    (void) acp_turn_send_tool_call(work->turn, &tool);
    return (struct acp_job_options){
        .tool_call = acp_str_from("tool-run"),
        .command = acp_str_from(line),
        .env = {env, 1},
        .cwd = acp_str_from("/tmp"),
    };
}

static enum step run(struct work *work, const struct acp_job_options *options)
{
    int err = acp_turn_run_command(work->turn, actor_jobs, options, on_result, work, NULL);
    work->running = !err;
    if (!err)
        return STEP_WAIT;
    sayf(work, "run: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

static enum step do_run(struct work *work, const char *argument)
{
    struct acp_job_options options = make_options(work, argument);
    return run(work, &options);
}

/* run-for MS LINE */
static enum step do_run_for(struct work *work, const char *argument)
{
    unsigned ms = 0;
    int at = 0;
    if (sscanf(argument, "%u %n", &ms, &at) < 1)
        return STEP_NEXT;
    struct acp_job_options options = make_options(work, argument + at);
    options.timeout_ms = ms;
    return run(work, &options);
}

/* ---- In the background ---------------------------------------------------------------------- */

static void on_background_result(struct acp_job *job, const struct acp_job_result *result,
                                 void *user)
{
    struct talk *talk = user;
    (void) job;
    say_result(talk->session, result);
}

static enum step do_launch(struct work *work, const char *argument)
{
    struct acp_job_options options = make_options(work, argument);
    options.background = true;
    acp_job_free(work->talk->background);
    work->talk->background = NULL;
    int err = acp_turn_run_command(work->turn, actor_jobs, &options, on_background_result,
                                   work->talk, &work->talk->background);
    sayf(work, "launch: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

static void on_polled(uv_timer_t *timer)
{
    struct work *work = timer->data;
    drop_timer(&work->timer);
    go_on(work);
}

static void on_poll(struct acp_job *job, const struct acp_job_output *output, void *user)
{
    struct work *work = user;
    (void) job;
    sayf(work, "%s: %.*s", output->running ? "so far" : "in all", (int) output->text.len,
         output->text.ptr ? output->text.ptr : "");
    /* Maybe from within do_poll, which must not go on before it has returned. */
    work->timer = make_timer(0, 0, on_polled, work);
}

static enum step do_poll(struct work *work, const char *argument)
{
    (void) argument;
    struct acp_job *job = work->talk->background;
    int err = job ? acp_job_read(job, on_poll, work) : ACP_ERR_UNKNOWN;
    if (!err)
        return STEP_WAIT;
    sayf(work, "poll: %s\n", acp_err_name(err));
    return STEP_NEXT;
}

static enum step do_land(struct work *work, const char *argument)
{
    (void) argument;
    if (work->talk->background)
        acp_job_kill(work->talk->background);
    return STEP_NEXT;
}

/* ---- Finding them --------------------------------------------------------------------------- */

line_fn *find_command_line(const char *line, size_t len)
{
    static const struct {
        const char *name;
        line_fn *fn;
    } lines[] = {
        {"run", do_run},   {"run-for", do_run_for}, {"launch", do_launch},
        {"poll", do_poll}, {"land", do_land},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (strlen(lines[i].name) == len && memcmp(lines[i].name, line, len) == 0)
            return lines[i].fn;
    return NULL;
}
