/* prompt_run.c - one run of exec or prompt, from the command line to the exit status. */
#include "cmd/prompt_run.h"

#include <errno.h>

#include "acp/io.h"
#include "cli/output.h"
#include "cmd/cmd.h"
#include "cmd/prompt_text.h"
#include "cmd/session_find.h"

bool prompt_run_continues(const struct prompt_run *run)
{
    return run->has_session && !run->options->fork;
}

/* Finds the session if there is one to continue, and the agent. */
static int choose_session(struct prompt_run *run, const struct invocation *invocation,
                          const struct agent_flags *agent, const struct session_flags *selection)
{
    const struct conversation_flags *options = run->options;
    const struct session_wish wish = {
        .name = selection ? selection->session : NULL,
        .resume = options->resume,
        .last = options->continue_last || (options->fork && !options->resume),
    };
    if (wish.name && (wish.resume || wish.last) && !options->fork) {
        err_message("--session cannot be combined with --continue or --resume, except for the name "
                    "of a fork");
        return EXIT_USAGE;
    }
    if (!selection && !wish.resume && !wish.last)
        return conversation_setup_find_agent(&run->setup, invocation, agent);
    run->setup.conversation.must_continue = wish.resume || wish.last;
    return session_choose(&run->setup, invocation, agent, &wish, &run->session, &run->has_session);
}

/* Configuration, session and agent. */
static int prepare_conversation(struct prompt_run *run, const struct invocation *invocation,
                                const struct agent_flags *agent,
                                const struct session_flags *selection)
{
    struct conversation_setup *c = &run->setup;
    int status = conversation_setup_configure(c, agent);
    if (!status)
        status = choose_session(run, invocation, agent, selection);
    if (!status)
        status = conversation_setup_complete(c, run->options);
    if (status || !run->has_session)
        return status;
    int err =
        run->options->fork ? session_fork(c, &run->session) : session_continue(c, &run->session);
    if (err)
        err_message("cannot continue the session: %s", acp_err_text(err));
    return err ? EXIT_FAILED : EXIT_OK;
}

int prompt_run_prepare(struct prompt_run *run, const struct invocation *invocation,
                       const struct agent_flags *agent, const struct conversation_flags *options,
                       const struct session_flags *selection)
{
    struct acp_str instructions = {0};
    struct acp_failure failure = {0};
    *run = (struct prompt_run){.options = options};
    acp_buf_init(&run->body, EVENT_MAX_BYTES);
    int status = prepare_conversation(run, invocation, agent, selection);
    /* Opened before the agent starts, so that it cannot replace the file with a link. */
    if (!status && options->output &&
        output_file_open(&run->output, options->output, 0666, &failure)) {
        err_message("--output %s: %s", options->output, failure.message);
        status = EXIT_USAGE;
    }
    if (!status && options->schema)
        status = output_schema_new(options->schema, &run->schema, &instructions);
    /* --deny-all and --approve-all are about the agent; the rules hold for what the user names. */
    const struct prompt_roots roots = {
        .cwd = acp_str_from(run->setup.cwd),
        .directories = run->setup.conversation.place.directories,
        .policy = run->setup.policies[PERMIT_ASK],
    };
    return status ? status
                  : prompt_text_read(invocation, options, &roots, instructions, &run->body);
}

int prompt_run_open(struct prompt_run *run, bool verbose,
                    const struct terminal_front_handler *handler, void *user)
{
    struct terminal_front_options options = {
        .format = run->setup.format,
        .session = run->setup.conversation.session,
        .verbose = verbose,
        .fail_unasked = run->setup.fail_unasked,
    };
    return terminal_front_new(&run->loop, &options, handler, user, &run->front);
}

bool prompt_run_ended(struct prompt_run *run, const struct prompt_end *end)
{
    run->status = terminal_front_status(run->front, end);
    if (run->status != EXIT_OK || !run->schema)
        return false;
    acp_buf_clear(&run->body);
    if (output_schema_retry(run->schema, terminal_front_answer(run->front).text, &run->body))
        return true;
    run->status = output_schema_status(run->schema);
    run->is_judged = true;
    return false;
}

struct acp_str prompt_run_answer(const struct prompt_run *run)
{
    return run->is_judged ? output_schema_value(run->schema)
                          : terminal_front_answer(run->front).text;
}

int prompt_run_close(struct prompt_run *run)
{
    const char *output = run->options->output;
    if (!run->front)
        return run->status;
    int unwritten = renderer_flush(terminal_front_renderer(run->front));
    /* A reader that closed its end does not need a message. */
    if (unwritten && unwritten != acp_err_from_errno(EPIPE))
        err_message("cannot write the answer: %s", acp_io_err_text(unwritten));
    if (unwritten && run->status == EXIT_OK)
        run->status = EXIT_FAILED;
    if (run->status == EXIT_OK && output)
        run->status = output_file_write_answer(&run->output, output, prompt_run_answer(run));
    terminal_front_free(run->front);
    return run->status;
}

void prompt_run_finish(struct prompt_run *run)
{
    output_schema_free(run->schema);
    output_file_close(&run->output);
    acp_buf_finish(&run->body);
    conversation_setup_finish(&run->setup);
}

struct acp_raw prompt_run_body(const struct prompt_run *run)
{
    return acp_raw_n(run->body.data + run->body.start, run->body.len);
}

uint64_t prompt_run_timeout(const struct prompt_run *run)
{
    int64_t configured = config_number(run->setup.config, CONFIG_TIMEOUT);
    if (run->options->timeout.given)
        return run->options->timeout.value;
    return configured > 0 ? (uint64_t) configured : 0;
}

const struct argument prompt_run_arguments[] = {
    {.name = "PROMPT", .kind = OPTION_TEXT, .optional = true, .repeated = true},
    {0},
};

const struct exit_status prompt_run_statuses[] = {
    {"*--timeout* expired.", EXIT_TIMEOUT},
    {"The agent requested permissions, and all were denied.", EXIT_DENIED},
    {"Interrupted by Ctrl-C or another terminating signal.", EXIT_INTERRUPTED},
    {0},
};
