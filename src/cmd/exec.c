/*
 * acp exec [AGENT] PROMPT - one prompt, one answer.
 *
 * With --schema there may be several prompts: the agent is told what is wrong with its answer and
 * asked again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acp/run.h"
#include "cmd/answer.h"
#include "cmd/cmd.h"
#include "cmd/conversation.h"
#include "cmd/front.h"
#include "cmd/prompt_text.h"

struct exec_options {
    struct agent_options agent;
    struct conversation_options conversation;
};

/* How long an agent has to stop after Ctrl-C. */
enum { GRACE_MS = 2500 };

struct exec {
    const struct exec_options *options;
    struct conversation conversation;
    uv_loop_t loop;
    struct acp_reaper *reaper;
    struct front *front;
    struct talk *talk;
    struct answer *answer; /* what it must be like; NULL: anything */
    struct acp_buf body;   /* the prompt */
    uint64_t tries;
    int status;
};

/* ---- What the talk tells --------------------------------------------------------------------- */

static void on_record(struct talk *talk, const struct record *record, void *user)
{
    struct exec *exec = user;
    (void) talk;
    front_record(exec->front, record);
}

/* Nobody reads what we write: there is nothing left to do. */
static void on_shown(struct talk *talk, void *user)
{
    struct exec *exec = user;
    if (!front_flush(exec->front) && exec->status == EXIT_OK) {
        exec->status = EXIT_FAILED;
        talk_stop(talk);
    }
}

static void on_question(struct talk *talk, const struct talk_question *question, void *user)
{
    struct exec *exec = user;
    (void) talk;
    front_question(exec->front, question);
}

static void on_question_gone(struct talk *talk, uint64_t number, void *user)
{
    struct exec *exec = user;
    (void) talk;
    front_question_gone(exec->front, number);
}

static int prompt(struct exec *exec)
{
    struct talk_prompt_options options = {
        .timeout_ms = exec->options->conversation.timeout.value,
        .nobody = !front_has_person(exec->front),
    };
    int64_t configured = config_number(exec->conversation.config, CONFIG_TIMEOUT);
    if (!options.timeout_ms && configured > 0)
        options.timeout_ms = (uint64_t) configured;
    exec->tries++;
    return talk_prompt(exec->talk, acp_raw_n(exec->body.data + exec->body.start, exec->body.len),
                       &options, NULL);
}

/* The agent's own error may pass; an agent that cannot be started will not start the next time. */
static bool is_worth_another_try(const struct exec *exec, const struct talk_end *end)
{
    return end->kind == TALK_REFUSED && exec->tries <= exec->options->conversation.retries.value &&
           !front_interrupted(exec->front) && !show_answer(front_show(exec->front)).len;
}

static void on_ended(struct talk *talk, uint64_t request, const struct talk_end *end, void *user)
{
    struct exec *exec = user;
    (void) request;
    bool again = is_worth_another_try(exec, end);
    exec->status = again ? EXIT_OK : front_status(exec->front, end);
    if (!again && exec->status == EXIT_OK && exec->answer) {
        struct acp_str said = show_answer(front_show(exec->front));
        acp_buf_clear(&exec->body);
        again = answer_ask_again(exec->answer, said, &exec->body);
        exec->status = again ? EXIT_OK : answer_status(exec->answer);
        if (!again)
            show_set_answer(front_show(exec->front), answer_value(exec->answer));
    }
    if (again && prompt(exec) == 0)
        return;
    (void) show_turn_end(front_show(exec->front));
    talk_stop(talk);
}

static void on_stopped(struct talk *talk, void *user)
{
    struct exec *exec = user;
    talk_free(talk);
    exec->talk = NULL;
    acp_reaper_free(exec->reaper);
    front_close(exec->front);
}

static void on_errors(struct talk *talk, struct acp_str line, void *user)
{
    struct exec *exec = user;
    (void) talk;
    if (exec->options->agent.verbose)
        (void) fprintf(stderr, "%s: %.*s\n", exec->conversation.agent.name, (int) line.len,
                       line.ptr);
}

/* ---- What the person says -------------------------------------------------------------------- */

static void on_answer(uint64_t number, struct acp_str option, void *user)
{
    struct exec *exec = user;
    (void) talk_answer(exec->talk, number, option);
}

static void on_allow(uint64_t number, bool allow, void *user)
{
    struct exec *exec = user;
    (void) talk_allow(exec->talk, number, allow);
}

static void on_interrupt(bool again, void *user)
{
    struct exec *exec = user;
    exec->status = EXIT_INTERRUPTED;
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
    static const struct front_handler front_handler = {
        .answer = on_answer, .allow = on_allow, .interrupt = on_interrupt};
    struct front_options front = {
        .format = exec->conversation.format,
        .session = exec->conversation.talk.session,
        .verbose = exec->options->agent.verbose,
    };
    exec->conversation.talk.errors = on_errors;
    exec->conversation.talk.close_session = true;
    int err = front_new(&exec->loop, &front, &front_handler, exec, &exec->front);
    if (!err)
        err = talk_new(&exec->loop, &exec->conversation.talk, &handler, exec, &exec->talk);
    if (!err)
        err = prompt(exec);
    if (!err)
        (void) acp_reaper_new(&exec->loop, &exec->reaper);
    return err;
}

static int write_answer(struct exec *exec)
{
    const char *path = exec->options->conversation.output;
    return path ? answer_write(path, show_answer(front_show(exec->front))) : EXIT_OK;
}

static int run_loop(struct exec *exec)
{
    if (uv_loop_init(&exec->loop))
        return EXIT_FAILED;
    int err = start(exec);
    if (err) {
        complain("%s", acp_io_err_text(err));
        exec->status = EXIT_FAILED;
        talk_free(exec->talk);
        if (exec->front)
            front_close(exec->front);
    }
    (void) uv_run(&exec->loop, UV_RUN_DEFAULT);
    if (!err && !front_flush(exec->front) && exec->status == EXIT_OK)
        exec->status = EXIT_FAILED;
    if (!err && exec->status == EXIT_OK)
        exec->status = write_answer(exec);
    front_free(exec->front);
    (void) uv_loop_close(&exec->loop);
    return exec->status;
}

static int run(const struct invocation *invocation)
{
    struct exec exec = {.options = invocation->options};
    const struct conversation_options *options = &exec.options->conversation;
    struct acp_str extra = {0};
    acp_buf_init(&exec.body, RECORD_MAX);
    int status =
        conversation_prepare(&exec.conversation, invocation, &exec.options->agent, options);
    if (!status && options->schema)
        status = answer_new(options->schema, &exec.answer, &extra);
    if (!status)
        status = prompt_text_read(invocation, options, extra, &exec.body);
    if (!status)
        status = run_loop(&exec);
    answer_free(exec.answer);
    acp_buf_finish(&exec.body);
    conversation_finish(&exec.conversation);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct argument arguments[] = {
    {.name = "PROMPT", .kind = OPTION_TEXT, .optional = true, .repeated = true},
    {0},
};

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

static const struct exit_status statuses[] = {
    {"*--timeout* was over.", EXIT_TIMEOUT},
    {"The agent asked for permissions, and none was given.", EXIT_DENIED},
    {"Ctrl-C, or another signal to end.", EXIT_INTERRUPTED},
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
        "answer is no. Ctrl-C asks the agent to stop, and ends it when it does not; a second one "
        "ends it at once.\n\n"
        "The session is kept in the log (see *acp-sessions*(1)) unless *--no-log* is given.",
    .arguments = arguments,
    .options = groups,
    .options_size = sizeof(struct exec_options),
    .examples = examples,
    .statuses = statuses,
    .agent = AGENT_ARGUMENT,
    .run = run,
};
