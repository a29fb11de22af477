/* prompt_run.c - one run of exec or prompt, from the command line to the exit status. */
#include "cmd/prompt_run.h"

#include <errno.h>
#include <stdio.h>

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

/* The configuration is that of the directory which the user is in. */
static int open_worktree(struct prompt_run *run, const char *name)
{
    struct conversation_setup *c = &run->setup;
    struct acp_failure failure = {0};
    char id[STORE_ID_SIZE];
    char fresh[32];
    if (run->has_session) {
        err_message("--worktree is for new sessions; a session is continued in its own directory");
        return EXIT_USAGE;
    }
    store_new_id(id);
    (void) snprintf(fresh, sizeof(fresh), "run-%.*s", 8, store_short_id(acp_str_from(id)).ptr);
    if (worktree_open(c->cwd, *name ? name : fresh, &c->arena, &run->worktree, &failure)) {
        err_message("--worktree: %s", *failure.message ? failure.message : "out of memory");
        return failure.err == ACP_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
    }
    if (run->worktree.is_dirty && run->worktree.is_new)
        err_message(
            "the worktree has the last commit; changes that are not committed are not in it");
    run->has_worktree = true;
    c->conversation.scope = acp_str_from(c->cwd); /* where --continue finds it */
    c->cwd = run->worktree.cwd;
    return EXIT_OK;
}

/* Configuration, session and agent. */
static int prepare_conversation(struct prompt_run *run, const struct invocation *invocation,
                                const struct agent_flags *agent, const struct prompt_run_plan *plan)
{
    struct conversation_setup *c = &run->setup;
    int status = conversation_setup_configure(c, agent);
    if (!status)
        status = choose_session(run, invocation, agent, plan->selection);
    if (!status && plan->worktree)
        status = open_worktree(run, plan->worktree);
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
                       const struct prompt_run_plan *plan)
{
    struct acp_str instructions = {0};
    struct acp_failure failure = {0};
    *run = (struct prompt_run){.options = options};
    acp_buf_init(&run->body, EVENT_MAX_BYTES);
    int status = prepare_conversation(run, invocation, agent, plan);
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

/* Where it is needed: counting decodes every event a second time. */
static int open_result(struct prompt_run *run)
{
    const struct conversation_flags *options = run->options;
    const struct run_budget budget = {
        .cost = (double) options->max_cost.value / 1e6,
        .tokens = options->max_tokens.value,
        .calls = options->max_turns.value,
    };
    bool has_budget =
        options->max_cost.given || options->max_tokens.given || options->max_turns.given;
    if (run->setup.format != RENDER_JSON && !has_budget)
        return 0;
    return run_result_new(&budget,
                          prompt_run_continues(run) ? run->session.usage : (struct acp_str){0},
                          &run->result);
}

int prompt_run_open(struct prompt_run *run, const struct agent_flags *agent,
                    const struct terminal_front_handler *handler, void *user)
{
    struct terminal_front_options options = {
        .format = run->setup.format,
        .session = run->setup.conversation.session,
        .fail_unasked = run->setup.fail_unasked,
        .display = {.verbose = agent->verbose,
                    .raw = agent->raw,
                    .agent =
                        run->setup.agent.title ? run->setup.agent.title : run->setup.agent.name,
                    .is_continued = run->has_session,
                    .is_fetched = run->setup.agent.fetched,
                    .cwd = run->setup.cwd,
                    .again = run->setup.store_path ? run->again : NULL},
    };
    int err = open_result(run);
    return err ? err : terminal_front_new(&run->loop, &options, handler, user, &run->front);
}

bool prompt_run_event(struct prompt_run *run, const struct session_event *event)
{
    terminal_front_event(run->front, event);
    if (!run->result)
        return true;
    run_result_add(run->result, event);
    const char *why = run_result_exceeded(run->result);
    if (!why || run->over_budget)
        return true;
    run->over_budget = true;
    if (run->setup.format != RENDER_JSON)
        err_message("%s", why);
    return false;
}

bool prompt_run_ended(struct prompt_run *run, const struct prompt_end *end)
{
    run->status = terminal_front_status(run->front, end);
    if (run->over_budget && run->status != EXIT_INTERRUPTED)
        run->status = EXIT_BUDGET;
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

/* The last line of --format json. */
static void print_result(struct prompt_run *run)
{
    const struct conversation_setup *c = &run->setup;
    struct acp_buf line;
    struct acp_json_writer w;
    struct run_result_rest rest = {
        .session = c->conversation.session,
        .agent = c->conversation.agent,
        .answer = prompt_run_answer(run),
        .status = run->status,
        .changes = run->has_changes ? &run->changes : NULL,
    };
    if (run->has_worktree) {
        rest.worktree = acp_str_from(run->worktree.root);
        rest.branch = acp_str_from(run->worktree.branch);
    }
    if (run->is_judged)
        rest.value = acp_raw_n(rest.answer.ptr, rest.answer.len);
    acp_buf_init(&line, EVENT_MAX_BYTES);
    acp_json_writer_init(&w, &line);
    if (run_result_write(run->result, &rest, &w) == 0)
        out_json_line(acp_buf_view(&line));
    acp_buf_finish(&line);
}

static void end_worktree(struct prompt_run *run)
{
    const struct conversation_setup *c = &run->setup;
    if (!run->has_worktree)
        return;
    run->is_worktree_used = true;
    enum worktree_fate fate = worktree_finish(&run->worktree, &run->changes);
    run->has_changes = fate != WORKTREE_UNKNOWN;
    run->has_worktree = fate != WORKTREE_REMOVED;
    if (c->format != RENDER_JSON)
        worktree_report(&run->worktree, fate, &run->changes,
                        c->store_path ? store_short_id(c->conversation.session)
                                      : (struct acp_str){0});
}

/* What is said of the run as a whole, when all else was written. */
static void report_result(struct prompt_run *run)
{
    const char *unchecked = run->result ? run_result_unchecked(run->result) : NULL;
    if (unchecked && run->setup.format != RENDER_JSON)
        err_message("%s", unchecked);
    if (run->result && run->setup.format == RENDER_JSON && run_result_totals(run->result)->turns)
        print_result(run);
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
    end_worktree(run);
    if (!unwritten)
        report_result(run);
    terminal_front_free(run->front);
    return run->status;
}

void prompt_run_finish(struct prompt_run *run)
{
    /* The run has failed before it began. */
    if (run->has_worktree && !run->is_worktree_used)
        (void) worktree_finish(&run->worktree, &run->changes);
    run_result_free(run->result);
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
    {"A budget was used up; see BUDGETS.", EXIT_BUDGET},
    {"The agent requested permissions, and all were denied.", EXIT_DENIED},
    {"Interrupted by Ctrl-C or another terminating signal.", EXIT_INTERRUPTED},
    {0},
};
