/*
 * exec.c - acp exec [AGENT] PROMPT: runs one prompt in a new session.
 *
 * With --schema there may be several turns: an answer that does not match is sent back to the
 * agent with the errors.
 */
#include <stdio.h>

#include "acp/run.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/exec.h"
#include "cmd/many_runs.h"
#include "cmd/prompt_run.h"
#include "cmd/recording.h"

/* How long an agent has to end its turn after Ctrl-C. */
enum { GRACE_MS = 2500 };

struct exec {
    struct prompt_run run;
    const struct exec_options *options;
    struct acp_reaper *reaper;
    struct store_writer *writer; /* NULL: no log is kept */
    struct conversation *conversation;
    struct subscriber *subscriber;
    struct recording *recording; /* NULL: none */
    uint64_t tries;
};

/* ---- Events ---------------------------------------------------------------------------------- */

static int prompt(struct exec *exec)
{
    struct prompt_options options = {
        .timeout_ms = prompt_run_timeout(&exec->run),
        .nobody = !terminal_front_can_ask(exec->run.front),
    };
    exec->tries++;
    return conversation_prompt(exec->conversation, prompt_run_body(&exec->run), &options, NULL);
}

/* An error that the agent reports may be temporary; a failure to start it is not. */
static bool is_worth_another_try(const struct exec *exec, const struct prompt_end *end)
{
    return end->kind == PROMPT_REFUSED &&
           exec->tries <= exec->options->conversation.retries.value && !exec->run.over_budget &&
           !terminal_front_interrupted(exec->run.front) &&
           !terminal_front_answer(exec->run.front).text.len;
}

static void end_turn(struct exec *exec, const struct prompt_end *end)
{
    bool again = is_worth_another_try(exec, end) || prompt_run_ended(&exec->run, end);
    if (again && prompt(exec) == 0)
        return;
    (void) renderer_end(terminal_front_renderer(exec->run.front), prompt_run_answer(&exec->run));
    conversation_stop(exec->conversation);
}

static void on_event(struct subscriber *s, const struct session_event *event, void *user)
{
    struct exec *exec = user;
    struct prompt_end end;
    struct acp_arena arena;
    (void) s;
    if (!prompt_run_event(&exec->run, event))
        (void) conversation_cancel(exec->conversation, GRACE_MS);
    acp_arena_init(&arena, 0);
    if (prompt_end_read(event, &arena, &end))
        end_turn(exec, &end);
    acp_arena_finish(&arena);
}

/* If nobody reads our output, there is nothing left to do. */
static void on_caught_up(struct subscriber *s, void *user)
{
    struct exec *exec = user;
    (void) s;
    if (!terminal_front_flush(exec->run.front) && exec->run.status == EXIT_OK) {
        exec->run.status = EXIT_FAILED;
        conversation_stop(exec->conversation);
    }
}

static void on_question(struct subscriber *s, const struct permission_question *question,
                        void *user)
{
    struct exec *exec = user;
    (void) s;
    terminal_front_question(exec->run.front, question);
}

static void on_elicitation(struct subscriber *s, const struct elicitation_question *question,
                           void *user)
{
    struct exec *exec = user;
    (void) s;
    terminal_front_elicitation(exec->run.front, question);
}

static void on_question_gone(struct subscriber *s, uint64_t number, void *user)
{
    struct exec *exec = user;
    (void) s;
    terminal_front_question_gone(exec->run.front, number);
}

static void on_stopped(struct conversation *conversation, void *user)
{
    struct exec *exec = user;
    conversation_free(conversation);
    exec->conversation = NULL;
    if (exec->writer)
        store_writer_close(exec->writer, NULL, NULL);
    acp_reaper_free(exec->reaper);
    terminal_front_close(exec->run.front);
}

static void on_stderr(struct conversation *conversation, struct acp_str line, void *user)
{
    struct exec *exec = user;
    (void) conversation;
    /* The built-in agent reports the model that it chose on standard error, for the user. */
    if (exec->options->agent.verbose || exec->run.setup.own_agent)
        err_printf("%s: %.*s\n", exec->run.setup.agent.name, (int) line.len, line.ptr);
}

/* ---- From the user --------------------------------------------------------------------------- */

static void on_answer(uint64_t number, struct acp_str option, void *user)
{
    struct exec *exec = user;
    (void) conversation_answer(exec->conversation, number, option, (struct acp_str){0});
}

static void on_elicited(uint64_t number, struct acp_raw response, void *user)
{
    struct exec *exec = user;
    (void) conversation_answer_elicitation(exec->conversation, number, response);
}

static void on_interrupt(bool again, void *user)
{
    struct exec *exec = user;
    exec->run.status = EXIT_INTERRUPTED;
    if (!exec->conversation)
        return;
    if (again || !conversation_cancel(exec->conversation, GRACE_MS))
        conversation_stop(exec->conversation);
    if (again)
        conversation_kill_agent(exec->conversation);
}

/* ---- The run --------------------------------------------------------------------------------- */

static int open_conversation(struct exec *exec)
{
    static const struct conversation_handler handler = {.stopped = on_stopped,
                                                        .agent_stderr = on_stderr};
    static const struct subscriber_handler sink = {.event = on_event,
                                                   .caught_up = on_caught_up,
                                                   .question = on_question,
                                                   .elicitation = on_elicitation,
                                                   .question_gone = on_question_gone};
    struct conversation_setup *setup = &exec->run.setup;
    const struct store_writer_options writer = {.path = setup->store_path,
                                                .flags = setup->store_flags | STORE_CREATE};
    int err = 0;
    if (setup->store_path)
        err = store_writer_new(&exec->run.loop, &writer, &exec->writer);
    setup->conversation.stderr_is_shown = exec->options->agent.verbose || setup->own_agent;
    /* A session of acp prompt stays open when a single prompt is added to it. */
    setup->conversation.close_session =
        !prompt_run_continues(&exec->run) || exec->run.session.closed;
    /* Only new events are shown, so nothing is read from the log. */
    if (!err)
        err = conversation_new(&exec->run.loop, &setup->conversation, exec->writer, NULL, &handler,
                               exec, &exec->conversation);
    if (!err)
        err = conversation_subscribe(exec->conversation, CONVERSATION_NEW_EVENTS, &sink, exec,
                                     &exec->subscriber);
    return err;
}

static int start(struct exec *exec)
{
    static const struct terminal_front_handler front_handler = {
        .answer = on_answer, .elicited = on_elicited, .interrupt = on_interrupt};
    int err = prompt_run_open(&exec->run, &exec->options->agent, &front_handler, exec);
    if (!err)
        err = open_conversation(exec);
    if (!err)
        err = prompt(exec);
    if (!err)
        (void) acp_reaper_new(&exec->run.loop, &exec->reaper);
    return err;
}

static int run_loop(struct exec *exec)
{
    struct prompt_run *run = &exec->run;
    if (uv_loop_init(&run->loop))
        return EXIT_FAILED;
    int err = start(exec);
    if (err) {
        err_message("%s", acp_io_err_text(err));
        run->status = EXIT_FAILED;
        conversation_free(exec->conversation);
        if (exec->writer)
            store_writer_close(exec->writer, NULL, NULL);
        if (run->front)
            terminal_front_close(run->front);
    }
    (void) uv_run(&run->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&run->loop);
    return prompt_run_close(run);
}

/* The daemon of the session has its agent, and writes its log. */
static int refuse_busy(const struct store_session *session)
{
    struct acp_str id = store_short_id(session->id);
    err_message("session %.*s is in use by process %lld; use 'acp prompt --resume %.*s', or close "
                "it with 'acp sessions close %.*s'",
                (int) id.len, id.ptr, (long long) session->owner, (int) id.len, id.ptr,
                (int) id.len, id.ptr);
    return EXIT_FAILED;
}

static int open_recording(struct exec *exec)
{
    struct agent_process_endpoint *agent = &exec->run.setup.endpoint;
    int err = recording_open(exec->options->record, &exec->recording);
    if (err)
        err_message("--record %s: %s", exec->options->record, strerror(-err));
    agent->traffic = recording_add;
    agent->traffic_user = exec->recording;
    return err ? EXIT_USAGE : EXIT_OK;
}

static int close_recording(struct exec *exec, int status)
{
    int err = recording_close(exec->recording);
    if (err)
        err_message("--record %s: %s", exec->options->record, strerror(-err));
    return err && status == EXIT_OK ? EXIT_FAILED : status;
}

int exec_run(const struct invocation *invocation)
{
    struct exec exec = {.options = invocation->options};
    const struct prompt_run_plan plan = {.worktree = exec.options->worktree};
    int status = prompt_run_prepare(&exec.run, invocation, &exec.options->agent,
                                    &exec.options->conversation, &plan);
    exec.run.again = "acp exec --continue";
    if (!status && prompt_run_continues(&exec.run) && exec.run.session.owner)
        status = refuse_busy(&exec.run.session);
    if (!status && exec.options->record)
        status = open_recording(&exec);
    if (!status)
        status = run_loop(&exec);
    status = close_recording(&exec, status);
    prompt_run_finish(&exec.run);
    return status;
}

static int run(const struct invocation *invocation)
{
    const struct exec_options *options = invocation->options;
    return options->each ? exec_run_each(invocation) : exec_run(invocation);
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct option rows[] = {
    {.heading = "Run",
     .name = "worktree",
     .argument = "NAME",
     .kind = OPTION_OPTIONAL,
     .offset = offsetof(struct exec_options, worktree),
     .help = "work in a git worktree of its own",
     .details = "See WORKTREES."},
    {.name = "record",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct exec_options, record),
     .help = "record the messages to and from the agent in _FILE_, for *acp trace*",
     .details = "Secrets are removed, as far as they can be recognised. Prompts and answers are "
                "not."},
    {.name = "each",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct exec_options, each),
     .help = "run once for each line or JSON object of _FILE_",
     .details = "*-* is standard input. See MANY RUNS."},
    {.name = "jobs",
     .letter = 'j',
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .max = MANY_RUNS_MAX_JOBS,
     .offset = offsetof(struct exec_options, jobs),
     .help = "with *--each*: the most runs at a time (default 1)"},
    {.name = "results",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct exec_options, results),
     .help = "with *--each*: add the results to _FILE_, and skip inputs that are done there"},
    {0},
};

static const struct option_group groups[] = {
    {conversation_flag_rows, offsetof(struct exec_options, conversation)},
    {rows, 0},
    {agent_flag_rows, offsetof(struct exec_options, agent)},
    {0},
};

static const struct example examples[] = {
    {"acp exec claude \"why does the build fail?\"", "runs one prompt and prints the answer"},
    {"acp exec --continue \"and now the tests\"", "continues the latest session of the directory"},
    {"git diff | acp exec codex \"review this\"", "sends the piped text with the question"},
    {"acp exec -f shot.png \"what is wrong with the layout of @index.html?\"",
     "attaches an image and a file of the project"},
    {"acp exec claude --format quiet --schema todo.json \"what is left to do?\" > todo",
     "requires an answer that matches a JSON Schema"},
    {"acp exec --each issues.jsonl --results done.jsonl -j 4 --worktree \"fix {title}\"",
     "runs once for each object of a file, four at a time, and can be repeated"},
    {"acp exec --approve-all -p \"fix the tests\" -- ./my-agent --fast",
     "runs an agent that is not configured"},
    {0},
};

const struct command command_exec = {
    .name = "exec",
    .summary = "run one prompt and print the answer",
    .description =
        "Starts the agent with a new session (see SESSIONS), sends the prompt, shows the answer, "
        "and exits. The agent's messages are streamed to standard output. Tool calls and other "
        "progress are shown on standard error if it is a terminal, or with *--verbose*.\n\n"
        "The prompt is the arguments, joined with blanks; or *--file*; or standard input if "
        "neither is given. Beside a prompt on the command line, files are attached, and piped "
        "input is sent with it; see FILES AND PIPES.\n\n"
        "When the rules say to ask, the question is shown on the terminal; without a terminal, "
        "permission is denied. Approval covers exactly what was shown, once; see PERMISSIONS. "
        "Ctrl-C cancels the turn, and stops an agent that does not respond; a second Ctrl-C kills "
        "it at once, with all that it has started.\n\n"
        "The session is logged (see *acp-sessions*(1)) unless *--no-log* is given.",
    .arguments = prompt_run_arguments,
    .options = groups,
    .options_size = sizeof(struct exec_options),
    .examples = examples,
    .statuses = prompt_run_statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
