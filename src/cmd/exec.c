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
    struct agent_options agent;
    struct conversation_options conversation;
};

/* How long an agent has to stop after Ctrl-C. */
enum { GRACE_MS = 2500 };

struct exec {
    struct asking asking;
    const struct exec_options *options;
    struct acp_reaper *reaper;
    struct talk *talk;
    uint64_t tries;
};

/* ---- What the talk tells --------------------------------------------------------------------- */

static void on_record(struct talk *talk, const struct record *record, void *user)
{
    struct exec *exec = user;
    (void) talk;
    front_record(exec->asking.front, record);
}

/* Nobody reads what we write: there is nothing left to do. */
static void on_shown(struct talk *talk, void *user)
{
    struct exec *exec = user;
    if (!front_flush(exec->asking.front) && exec->asking.status == EXIT_OK) {
        exec->asking.status = EXIT_FAILED;
        talk_stop(talk);
    }
}

static void on_question(struct talk *talk, const struct talk_question *question, void *user)
{
    struct exec *exec = user;
    (void) talk;
    front_question(exec->asking.front, question);
}

static void on_question_gone(struct talk *talk, uint64_t number, void *user)
{
    struct exec *exec = user;
    (void) talk;
    front_question_gone(exec->asking.front, number);
}

static int prompt(struct exec *exec)
{
    struct talk_prompt_options options = {
        .timeout_ms = asking_timeout(&exec->asking),
        .nobody = !front_has_person(exec->asking.front),
    };
    exec->tries++;
    return talk_prompt(exec->talk, asking_body(&exec->asking), &options, NULL);
}

/* The agent's own error may pass; an agent that cannot be started will not start the next time. */
static bool is_worth_another_try(const struct exec *exec, const struct talk_end *end)
{
    return end->kind == TALK_REFUSED && exec->tries <= exec->options->conversation.retries.value &&
           !front_interrupted(exec->asking.front) &&
           !show_answer(front_show(exec->asking.front)).len;
}

static void on_ended(struct talk *talk, uint64_t request, const struct talk_end *end, void *user)
{
    struct exec *exec = user;
    (void) request;
    bool again = is_worth_another_try(exec, end) || asking_ended(&exec->asking, end);
    if (again && prompt(exec) == 0)
        return;
    (void) show_turn_end(front_show(exec->asking.front));
    talk_stop(talk);
}

static void on_stopped(struct talk *talk, void *user)
{
    struct exec *exec = user;
    talk_free(talk);
    exec->talk = NULL;
    acp_reaper_free(exec->reaper);
    front_close(exec->asking.front);
}

static void on_errors(struct talk *talk, struct acp_str line, void *user)
{
    struct exec *exec = user;
    (void) talk;
    /* The built-in agent has little to say there, and it is for people: which model it found. */
    if (exec->options->agent.verbose || exec->asking.conversation.own_agent)
        err_printf("%s: %.*s\n", exec->asking.conversation.agent.name, (int) line.len, line.ptr);
}

/* ---- What the person says -------------------------------------------------------------------- */

static void on_answer(uint64_t number, struct acp_str option, void *user)
{
    struct exec *exec = user;
    (void) talk_answer(exec->talk, number, option);
}

static void on_interrupt(bool again, void *user)
{
    struct exec *exec = user;
    exec->asking.status = EXIT_INTERRUPTED;
    if (!exec->talk)
        return;
    if (again || !talk_cancel(exec->talk, GRACE_MS))
        talk_stop(exec->talk);
}

/* ---- The run --------------------------------------------------------------------------------- */

static int start(struct exec *exec)
{
    static const struct talk_handler handler = {
        .record = on_record,
        .shown = on_shown,
        .question = on_question,
        .question_gone = on_question_gone,
        .ended = on_ended,
        .stopped = on_stopped,
    };
    static const struct front_handler front_handler = {.answer = on_answer,
                                                       .interrupt = on_interrupt};
    exec->asking.conversation.talk.errors = on_errors;
    exec->asking.conversation.talk.close_session = true;
    int err = asking_open(&exec->asking, exec->options->agent.verbose, &front_handler, exec);
    if (!err)
        err = talk_new(&exec->asking.loop, &exec->asking.conversation.talk, &handler, exec,
                       &exec->talk);
    if (!err)
        err = prompt(exec);
    if (!err)
        (void) acp_reaper_new(&exec->asking.loop, &exec->reaper);
    return err;
}

static int run_loop(struct exec *exec)
{
    struct asking *asking = &exec->asking;
    if (uv_loop_init(&asking->loop))
        return EXIT_FAILED;
    int err = start(exec);
    if (err) {
        complain("%s", acp_io_err_text(err));
        asking->status = EXIT_FAILED;
        talk_free(exec->talk);
        if (asking->front)
            front_close(asking->front);
    }
    (void) uv_run(&asking->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&asking->loop);
    return asking_close(asking);
}

static int run(const struct invocation *invocation)
{
    struct exec exec = {.options = invocation->options};
    int status =
        asking_prepare(&exec.asking, invocation, &exec.options->agent, &exec.options->conversation);
    if (!status)
        status = run_loop(&exec);
    asking_finish(&exec.asking);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct option_group groups[] = {
    {conversation_option_rows, offsetof(struct exec_options, conversation)},
    {agent_option_rows, offsetof(struct exec_options, agent)},
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
    .arguments = asking_arguments,
    .options = groups,
    .options_size = sizeof(struct exec_options),
    .examples = examples,
    .statuses = asking_statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
