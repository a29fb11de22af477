/*
 * run_command.c - runs a command line in a shell, in a terminal of the client or of our own.  For a
 * background command the call ends at once; see background.c.
 */
#include "agent/tools/run_command.h"

#include <stdio.h>
#include <stdlib.h>

#include "launch/sandbox.h"
#include "text/plain.h"

enum {
    DEFAULT_TIMEOUT_MS = 120000,
    SHOWN_TITLE = 120,
};

struct command {
    struct acp_job *job;
    struct sandbox_run *sandbox_run; /* NULL: no sandbox */
    struct acp_str cwd;
    uint64_t timeout_ms;
    bool background;
};

/* ---- Preparing ------------------------------------------------------------------------------ */

static int prepare_jail(struct tool_run *run)
{
    struct acp_failure failure;
    if (acp_policy_get_mode(run->set->options.policy) != ACP_POLICY_SANDBOX)
        return 0;
    if (!toolbox_has_sandbox(run->box, &failure)) {
        tool_printf(run, "Commands run only in a sandbox here, and none is available: %s.",
                    failure.message);
        return ACP_ERR_STATE;
    }
    run->sandboxed = true;
    return 0;
}

static int prepare(struct tool_run *run)
{
    struct command *own = acp_arena_alloc(&run->arena, sizeof(*own));
    struct acp_str given = {NULL, 0};
    char title[SHOWN_TITLE + 16];
    if (!own)
        return ACP_ERR_NOMEM;
    run->own = own;
    own->timeout_ms = DEFAULT_TIMEOUT_MS;
    tool_get_str(run, "command", &run->command);
    tool_get_str(run, "cwd", &given);
    tool_get_u64(run, "timeout_ms", &own->timeout_ms);
    tool_get_bool(run, "background", &own->background);
    if (memchr(run->command.ptr, '\0', run->command.len)) {
        tool_printf(run, "A command must not contain a NUL.");
        return ACP_ERR_RANGE;
    }
    struct acp_str shown = acp_str_cut(run->command, SHOWN_TITLE);
    (void) snprintf(title, sizeof(title), "%.*s%s", (int) shown.len, shown.ptr,
                    shown.len < run->command.len ? " ..." : "");
    run->title = acp_arena_copy(&run->arena, acp_str_from(title));
    int err = tool_get_path(run, given, &own->cwd);
    if (!err)
        err = tool_set_path(run, own->cwd);
    return err ? err : prepare_jail(run);
}

/* ---- The sandbox ---------------------------------------------------------------------------- */

/* Removes the sandbox, once nothing is running in it. */
static void leave_sandbox(struct tool_run *run)
{
    struct command *own = run->own;
    size_t disabled = sandbox_run_free(own->sandbox_run);
    own->sandbox_run = NULL;
    if (disabled)
        tool_printf(
            run,
            "[%zu repositories in subdirectories were disabled: their .git is now called "
            ".git.sandbox-*. They were added to the repository of the workspace, and git would "
            "have run their programs outside of the sandbox.]\n",
            disabled);
}

/* Replaces the command by a sandbox with a shell that runs it. */
static int enter_sandbox(struct tool_run *run, struct acp_job_options *options)
{
    struct acp_failure failure;
    struct command *own = run->own;
    struct acp_roots *roots = run->roots->roots;
    size_t count = acp_roots_count(roots);
    struct acp_str *paths = acp_arena_alloc(&run->arena, count * sizeof(*paths));
    struct acp_str shell[] = {acp_str_from("/bin/sh"), acp_str_from("-c"), run->command};
    if (!paths) {
        tool_printf(run, "Out of memory.");
        return ACP_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++)
        paths[i] = acp_roots_path(roots, i);
    struct sandbox_profile profile = {.roots = {paths, count},
                                      .cwd = options->cwd,
                                      .command = {shell, 3},
                                      .commits = !own->background};
    int err = sandbox_run_new(run->box->sandbox, &profile, &own->sandbox_run, &failure);
    if (err) {
        tool_printf(run, "The command was not run: %s.", failure.message);
        return err;
    }
    options->command = own->sandbox_run->argv[0];
    options->args = (struct acp_str_list){own->sandbox_run->argv + 1, own->sandbox_run->count - 1};
    return 0;
}

/* ---- The end -------------------------------------------------------------------------------- */

void command_print_output(struct tool_run *run, struct acp_str output, bool truncated)
{
    struct acp_buf plain;
    acp_buf_init(&plain, COMMAND_OUTPUT_BYTES + 1024);
    (void) plain_text(output, &plain);
    if (truncated)
        tool_printf(run, "[The beginning of the output was left out.]\n");
    tool_append(run, acp_buf_view(&plain));
    if (plain.len && acp_buf_view(&plain).ptr[plain.len - 1] != '\n')
        tool_printf(run, "\n");
    acp_buf_finish(&plain);
}

void command_exit(const struct acp_terminal_exit *how, char *out, size_t size)
{
    if (how->has_code)
        (void) snprintf(out, size, "exit status %d", how->code);
    else
        (void) snprintf(out, size, "ended by %s", how->signal ? how->signal : "a signal");
}

void command_how(const struct acp_job_result *result, char *out, size_t size)
{
    if (result->end == ACP_JOB_EXITED)
        command_exit(&result->how, out, size);
    else
        (void) snprintf(out, size, "%.*s", (int) acp_str_cut(result->message, size - 1).len,
                        result->message.len ? result->message.ptr : "");
}

static void on_result(struct acp_job *job, const struct acp_job_result *result, void *user)
{
    struct tool_run *run = user;
    char how[300];
    (void) job;
    if (!tool_resume(run))
        return;
    ((struct command *) run->own)->job = NULL;
    leave_sandbox(run);
    command_print_output(run, result->output, result->truncated);
    command_how(result, how, sizeof(how));
    tool_printf(run, "[%s]", how[0] ? how : "It has ended.");
    bool good = result->end == ACP_JOB_EXITED && result->how.has_code && result->how.code == 0;
    if (result->how.has_code)
        (void) acp_buf_printf(&run->output, "{\"exitCode\":%d}", result->how.code);
    else if (result->how.signal)
        (void) acp_buf_printf(&run->output, "{\"signal\":\"%s\"}", result->how.signal);
    /* A command that was not started has no terminal. */
    run->has_terminal = result->end != ACP_JOB_NOT_STARTED;
    tool_finish(run, result->end == ACP_JOB_CANCELLED ? TOOL_CANCELLED
                     : good                           ? TOOL_COMPLETED
                                                      : TOOL_FAILED);
}

/* ---- Running -------------------------------------------------------------------------------- */

static void start(struct tool_run *run)
{
    struct command *own = run->own;
    struct acp_job_options options = {
        .tool_call = run->call,
        .command = run->command,
        .cwd = own->cwd,
        .output_byte_limit = COMMAND_OUTPUT_BYTES,
        .timeout_ms = own->background ? 0 : own->timeout_ms,
        /* The sandbox is made here; a client would show its long command line, and ask about it. */
        .own = run->sandboxed,
        .background = own->background,
    };
    if (run->sandboxed && enter_sandbox(run, &options)) {
        tool_finish(run, TOOL_FAILED);
        return;
    }
    if (own->background) {
        struct sandbox_run *sandbox_run = own->sandbox_run;
        own->sandbox_run = NULL;
        background_start(run, &options, sandbox_run);
        return;
    }
    tool_hold(run);
    int err = acp_turn_run_command(run->turn, run->set->options.jobs, &options, on_result, run,
                                   &own->job);
    if (!err)
        return;
    (void) tool_resume(run);
    leave_sandbox(run);
    if (err == ACP_ERR_CANCELLED)
        tool_finish(run, TOOL_CANCELLED);
    else
        tool_fail(run, "The command cannot be run: %s.", acp_err_text(err));
}

static bool cancel(struct tool_run *run)
{
    struct command *own = run->own;
    if (!own->job)
        return false;
    if (!run->set) {
        /* Nobody waits for the result. */
        acp_job_free(own->job);
        leave_sandbox(run);
        (void) tool_resume(run);
        return false;
    }
    acp_job_kill(own->job);
    return true;
}

const struct tool tool_for_command = {
    .info = {.name = "run_command",
             .title = "Run a command",
             .description =
                 "Runs a command line in a shell and returns the end of its output and its exit "
                 "status. It gets no input. It is stopped after timeout_ms (default: 2 minutes). "
                 "With \"background\" it keeps running, and \"command_output\" returns its output. "
                 "Use the other tools for reading, searching and editing files.",
             .input_schema =
                 "{\"type\":\"object\",\"properties\":{"
                 "\"command\":{\"type\":\"string\",\"minLength\":1},"
                 "\"cwd\":{\"type\":\"string\",\"description\":\"default: the working directory\"},"
                 "\"timeout_ms\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600000},"
                 "\"background\":{\"type\":\"boolean\"}},"
                 "\"required\":[\"command\"],\"additionalProperties\":false}",
             .kind = ACP_TOOL_KIND_EXECUTE,
             .writes = true},
    .prepare = prepare,
    .start = start,
    .cancel = cancel,
};
