/*
 * acp exec [AGENT] PROMPT - one prompt, one answer.
 *
 * With --schema there may be several prompts: the agent is told what is wrong with its answer and
 * asked again.
 */
#include <stdio.h>

#include "acp/run.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/prompt_run.h"

struct exec_options {
    struct agent_flags agent;
    struct conversation_flags conversation;
};

/* How long an agent has to stop after Ctrl-C. */
enum { GRACE_MS = 2500 };

struct exec {
    struct prompt_run run;
    const struct exec_options *options;
    struct acp_reaper *reaper;
    struct conversation *conversation;
    uint64_t tries;
};

/* ---- What the talk tells --------------------------------------------------------------------- */

static void on_record(struct conversation *conversation, const struct session_event *record,
                      void *user)
{
    struct exec *exec = user;
    (void) conversation;
    terminal_front_record(exec->run.front, record);
}

/* Nobody reads what we write: there is nothing left to do. */
static void on_shown(struct conversation *conversation, void *user)
{
    struct exec *exec = user;
    if (!terminal_front_flush(exec->run.front) && exec->run.status == EXIT_OK) {
        exec->run.status = EXIT_FAILED;
        conversation_stop(conversation);
    }
}

static void on_question(struct conversation *conversation,
                        const struct permission_question *question, void *user)
{
    struct exec *exec = user;
    (void) conversation;
    terminal_front_question(exec->run.front, question);
}

static void on_question_gone(struct conversation *conversation, uint64_t number, void *user)
{
    struct exec *exec = user;
    (void) conversation;
    terminal_front_question_gone(exec->run.front, number);
}

static int prompt(struct exec *exec)
{
    struct prompt_run_options options = {
        .timeout_ms = prompt_run_timeout(&exec->run),
        .nobody = !terminal_front_has_person(exec->run.front),
    };
    exec->tries++;
    return conversation_prompt(exec->conversation, prompt_run_body(&exec->run), &options, NULL);
}

/* The agent's own error may pass; an agent that cannot be started will not start the next time. */
static bool is_worth_another_try(const struct exec *exec, const struct prompt_end *end)
{
    return end->kind == PROMPT_REFUSED &&
           exec->tries <= exec->options->conversation.retries.value &&
           !terminal_front_interrupted(exec->run.front) &&
           !show_answer(terminal_front_show(exec->run.front)).len;
}

static void on_ended(struct conversation *conversation, uint64_t request,
                     const struct prompt_end *end, void *user)
{
    struct exec *exec = user;
    (void) request;
    bool again = is_worth_another_try(exec, end) || prompt_run_ended(&exec->run, end);
    if (again && prompt(exec) == 0)
        return;
    (void) show_turn_end(terminal_front_show(exec->run.front));
    conversation_stop(conversation);
}

static void on_stopped(struct conversation *conversation, void *user)
{
    struct exec *exec = user;
    conversation_free(conversation);
    exec->conversation = NULL;
    acp_reaper_free(exec->reaper);
    terminal_front_close(exec->run.front);
}

static void on_errors(struct conversation *conversation, struct acp_str line, void *user)
{
    struct exec *exec = user;
    (void) conversation;
    /* The built-in agent has little to say there, and it is for people: which model it found. */
    if (exec->options->agent.verbose || exec->run.setup.own_agent)
        err_printf("%s: %.*s\n", exec->run.setup.agent.name, (int) line.len, line.ptr);
}

/* ---- What the person says -------------------------------------------------------------------- */

static void on_answer(uint64_t number, struct acp_str option, void *user)
{
    struct exec *exec = user;
    (void) conversation_answer(exec->conversation, number, option);
}

static void on_interrupt(bool again, void *user)
{
    struct exec *exec = user;
    exec->run.status = EXIT_INTERRUPTED;
    if (!exec->conversation)
        return;
    if (again || !conversation_cancel(exec->conversation, GRACE_MS))
        conversation_stop(exec->conversation);
}

/* ---- The run --------------------------------------------------------------------------------- */

static int start(struct exec *exec)
{
    static const struct conversation_handler handler = {
        .record = on_record,
        .shown = on_shown,
        .question = on_question,
        .question_gone = on_question_gone,
        .ended = on_ended,
        .stopped = on_stopped,
    };
    static const struct terminal_front_handler front_handler = {.answer = on_answer,
                                                                .interrupt = on_interrupt};
    exec->run.setup.conversation.errors = on_errors;
    exec->run.setup.conversation.close_session = true;
    int err = prompt_run_open(&exec->run, exec->options->agent.verbose, &front_handler, exec);
    if (!err)
        err = conversation_new(&exec->run.loop, &exec->run.setup.conversation, &handler, exec,
                               &exec->conversation);
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
        if (run->front)
            terminal_front_close(run->front);
    }
    (void) uv_run(&run->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&run->loop);
    return prompt_run_close(run);
}

static int run(const struct invocation *invocation)
{
    struct exec exec = {.options = invocation->options};
    int status = prompt_run_prepare(&exec.run, invocation, &exec.options->agent,
                                    &exec.options->conversation);
    if (!status)
        status = run_loop(&exec);
    prompt_run_finish(&exec.run);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct option_group groups[] = {
    {conversation_flag_rows, offsetof(struct exec_options, conversation)},
    {agent_flag_rows, offsetof(struct exec_options, agent)},
    {0},
};

static const struct example examples[] = {
    {"acp exec claude \"why does the build fail?\"", "asks once and prints the answer"},
    {"git diff | acp exec codex --file - \"review this\"",
     "puts what is piped in before the question"},
    {"acp exec claude --format quiet --schema todo.json \"what is left to do?\" > todo",
     "wants the answer as JSON of a certain form"},
    {"acp exec --approve-all -p \"fix the tests\" -- ./my-agent --fast",
     "talks to a program that is in no list"},
    {0},
};

const struct command command_exec = {
    .name = "exec",
    .summary = "give an agent one prompt and print the answer",
    .description =
        "Starts the agent in a new session, gives it the prompt, shows what it says, and ends. The "
        "agent's words go to the standard output as they come; what it does beside them is shown "
        "on the standard error when that is a terminal, or with *--verbose*.\n\n"
        "The prompt is the arguments, joined by blanks; or *--file*; or, when neither is given, "
        "the standard input.\n\n"
        "Where the rules say to ask and there is a terminal, you are asked there; otherwise the "
        "answer is no. A yes is for exactly what was shown, once; see PERMISSIONS. Ctrl-C asks the "
        "agent to stop, and ends it when it does not; a second one ends it at once.\n\n"
        "The session is kept in the log (see *acp-sessions*(1)) unless *--no-log* is given.",
    .arguments = prompt_run_arguments,
    .options = groups,
    .options_size = sizeof(struct exec_options),
    .examples = examples,
    .statuses = prompt_run_statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
