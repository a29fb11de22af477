/*
 * compare.c - acp compare AGENT... PROMPT: the same prompt to several agents, each in a worktree of
 * its own.
 */
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/text_table.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "cmd/exec.h"
#include "cmd/many_runs.h"
#include "json/members.h"
#include "store/store.h"

enum { COMPARE_MAX_AGENTS = 16, NAME_SIZE = 64, COLUMNS = 8 };

struct compare_options {
    struct agent_flags agent; /* offset 0: the same rows as exec */
    struct conversation_flags conversation;
    struct option_number jobs;
};

struct compare {
    const struct invocation *invocation;
    const struct compare_options *options;
    enum render_format format;
    const char *agents[COMPARE_MAX_AGENTS];
    char names[COMPARE_MAX_AGENTS][NAME_SIZE]; /* of the worktrees */
    size_t count;
    const char *const *words; /* the prompt */
    size_t word_count;
    struct acp_str rows[COMPARE_MAX_AGENTS][COLUMNS];
    bool has_row[COMPARE_MAX_AGENTS];
    struct acp_arena arena;
    size_t failed;
};

/* ---- Agents ---------------------------------------------------------------------------------- */

/* The first words that are agents; the others are the prompt. */
static int find_agents(struct compare *compare, struct conversation_setup *setup)
{
    const struct invocation *invocation = compare->invocation;
    size_t i = 0;
    for (; i < invocation->argument_count; i++) {
        const char *word = invocation->arguments[i];
        if (!agents_is_known(setup->config, word))
            break;
        if (compare->count == COMPARE_MAX_AGENTS) {
            err_message("at most %d agents can be compared", COMPARE_MAX_AGENTS);
            return EXIT_USAGE;
        }
        compare->agents[compare->count++] = word;
    }
    compare->words = invocation->arguments + i;
    compare->word_count = invocation->argument_count - i;
    if (compare->count >= 2)
        return EXIT_OK;
    if (i < invocation->argument_count)
        err_message("expected the names of two or more agents and a prompt; '%.60s' is not an "
                    "agent, see 'acp agents list'",
                    invocation->arguments[i]);
    else
        err_message("expected the names of two or more agents and a prompt");
    return EXIT_USAGE;
}

/* "cmp-4f2a9c01-claude": the runs of one comparison have the same number. */
static void name_worktrees(struct compare *compare)
{
    char id[STORE_ID_SIZE];
    store_new_id(id);
    struct acp_str number = store_short_id(acp_str_from(id));
    for (size_t i = 0; i < compare->count; i++) {
        char *name = compare->names[i];
        (void) snprintf(name, NAME_SIZE, "cmp-%.*s-%zu-%.32s", (int) number.len, number.ptr, i + 1,
                        compare->agents[i]);
        for (char *c = name; *c; c++)
            if (!strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-", *c))
                *c = '-';
    }
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static int run_one(size_t index, void *user)
{
    const struct compare *compare = user;
    struct exec_options options = {
        .agent = compare->options->agent,
        .conversation = compare->options->conversation,
        .worktree = compare->names[index],
    };
    struct invocation invocation = *compare->invocation;
    options.agent.format = RENDER_JSON;
    invocation.options = &options;
    invocation.agent = compare->agents[index];
    invocation.arguments = compare->words;
    invocation.argument_count = compare->word_count;
    return exec_run(&invocation);
}

static const char *name_run(size_t index, void *user)
{
    const struct compare *compare = user;
    return compare->agents[index];
}

/* ---- Printing -------------------------------------------------------------------------------- */

static struct acp_str print(struct compare *compare, const char *format, ...) ACP_PRINTF(2, 3);

static struct acp_str print(struct compare *compare, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return acp_arena_copy(&compare->arena, acp_str_from(text));
}

static struct acp_str print_cost(struct compare *compare, struct acp_raw body)
{
    struct acp_raw cost = {0};
    struct acp_json_reader r;
    struct acp_str currency = {0};
    double amount = 0;
    if (acp_json_member_raw(body, "cost", &cost) || !cost.len ||
        !acp_json_find_member(cost, "amount", NULL, &r) || acp_json_read_f64(&r, &amount) ||
        acp_json_member_str(cost, "currency", &compare->arena, &currency))
        return (struct acp_str){0};
    return print(compare, "%.4f %.*s", amount, (int) currency.len, currency.ptr);
}

static struct acp_str print_tokens(struct compare *compare, struct acp_raw body)
{
    struct acp_raw usage = {0};
    uint64_t total = 0;
    if (acp_json_member_raw(body, "usage", &usage) || !usage.len ||
        acp_json_member_u64(usage, "totalTokens", &total) || !total)
        return (struct acp_str){0};
    return print(compare, "%llu", (unsigned long long) total);
}

static struct acp_str print_changes(struct compare *compare, struct acp_raw body)
{
    struct acp_raw changes = {0};
    uint64_t files = 0;
    uint64_t added = 0;
    uint64_t removed = 0;
    if (acp_json_member_raw(body, "changes", &changes) || !changes.len)
        return (struct acp_str){0};
    (void) acp_json_member_u64(changes, "files", &files);
    (void) acp_json_member_u64(changes, "added", &added);
    (void) acp_json_member_u64(changes, "removed", &removed);
    return print(compare, "%llu file%s, +%llu -%llu", (unsigned long long) files,
                 files == 1 ? "" : "s", (unsigned long long) added, (unsigned long long) removed);
}

/* A text of the result, which is gone when the run was noted. */
static struct acp_str keep_member(struct compare *compare, struct acp_raw json, const char *name)
{
    struct acp_str text = {0};
    if (!json.len || acp_json_member_str(json, name, &compare->arena, &text) || !text.len)
        return (struct acp_str){0};
    return acp_arena_copy(&compare->arena, text);
}

static void note_row(struct compare *compare, const struct finished_run *run)
{
    struct acp_raw body = {0};
    if (run->result.len)
        (void) acp_json_member_raw(run->result, "body", &body);
    struct acp_str stop = keep_member(compare, body, "stopReason");
    struct acp_str session = keep_member(compare, run->result, "session");
    const struct acp_str values[COLUMNS] = {
        acp_str_from(compare->agents[run->index]),
        run->status == EXIT_OK && stop.len ? stop : print(compare, "failed (%d)", run->status),
        print(compare, "%.1f s", (double) run->duration_ms / 1000),
        print_tokens(compare, body),
        print_cost(compare, body),
        print_changes(compare, body),
        store_short_id(session),
        keep_member(compare, body, "worktree"),
    };
    memcpy(compare->rows[run->index], values, sizeof(values));
    compare->has_row[run->index] = true;
}

/* In the order of the command line, whichever has ended first. */
static int print_rows(const struct compare *compare)
{
    static const struct table_column columns[COLUMNS + 1] = {
        {.heading = "AGENT"},
        {.heading = "END"},
        {.heading = "TIME", .right = true},
        {.heading = "TOKENS", .right = true},
        {.heading = "COST", .right = true},
        {.heading = "CHANGES"},
        {.heading = "SESSION"},
        {.heading = "WORKTREE", .cut = true},
        {0},
    };
    struct table *table = table_new(columns);
    int err = table ? 0 : ACP_ERR_NOMEM;
    for (size_t i = 0; i < compare->count && !err; i++)
        if (compare->has_row[i])
            err = table_add(table, compare->rows[i]);
    if (!err)
        err = table_print(table, output_results());
    table_free(table);
    return err;
}

/* {"agent":NAME,"session":ID,"result":{...}} */
static int write_run(struct compare *compare, const struct finished_run *run, struct acp_buf *out)
{
    struct acp_json_writer w;
    struct acp_str session = {0};
    struct acp_raw body = {0};
    acp_json_writer_init(&w, out);
    acp_json_begin_object(&w);
    acp_json_put_text(&w, "agent", compare->agents[run->index]);
    if (run->result.len) {
        (void) acp_json_member_str(run->result, "session", &compare->arena, &session);
        (void) acp_json_member_raw(run->result, "body", &body);
        acp_json_put_str(&w, "session", session);
    }
    if (body.len) {
        acp_json_put_raw(&w, "result", body);
    } else {
        acp_json_write_key(&w, acp_str_from("result"));
        acp_json_begin_object(&w);
        if (run->message.len)
            acp_json_put_str(&w, "error", run->message);
        acp_json_put_i64(&w, "exitStatus", run->status);
        acp_json_end_object(&w);
    }
    acp_json_end_object(&w);
    return w.err;
}

static int note_done(const struct finished_run *run, void *user)
{
    struct compare *compare = user;
    struct acp_buf line;
    compare->failed += run->status != EXIT_OK;
    if (compare->format != RENDER_JSON) {
        err_row("[%s] %s after %.1f s", compare->agents[run->index],
                run->status == EXIT_OK ? "done" : "failed", (double) run->duration_ms / 1000);
        note_row(compare, run);
        return 0;
    }
    acp_buf_init(&line, (size_t) MANY_RUNS_MAX_LINE * 2);
    int err = write_run(compare, run, &line);
    if (!err)
        out_json_line(acp_buf_view(&line));
    acp_buf_finish(&line);
    return err;
}

static int run_all(struct compare *compare)
{
    const struct many_runs runs = {
        .count = compare->count,
        .jobs = compare->options->jobs.given ? compare->options->jobs.value : compare->count,
        .run = run_one,
        .name = name_run,
        .done = note_done,
        .user = compare,
    };
    int status = many_runs(&runs);
    if (print_rows(compare) && !status)
        status = EXIT_FAILED;
    return status == EXIT_OK && compare->failed ? EXIT_FAILED : status;
}

static int run(const struct invocation *invocation)
{
    struct compare compare = {.invocation = invocation, .options = invocation->options};
    struct conversation_setup setup;
    const struct conversation_flags *options = &compare.options->conversation;
    acp_arena_init(&compare.arena, 0);
    int status = conversation_setup_configure(&setup, &compare.options->agent);
    compare.format = setup.format;
    if (!status && compare.options->agent.agent) {
        err_message("compare takes names of agents; give the command a name with 'acp agents add'");
        status = EXIT_USAGE;
    }
    if (!status && (options->resume || options->continue_last || options->fork)) {
        err_message("compare begins new sessions; leave --continue, --resume and --fork out");
        status = EXIT_USAGE;
    }
    if (!status)
        status = find_agents(&compare, &setup);
    conversation_setup_finish(&setup);
    name_worktrees(&compare);
    if (!status)
        status = run_all(&compare);
    acp_arena_finish(&compare.arena);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct argument arguments[] = {
    {.name = "AGENT", .kind = OPTION_AGENT_NAME},
    {.name = "PROMPT", .kind = OPTION_AGENT_NAME, .optional = true, .repeated = true},
    {0},
};

static const struct option rows[] = {
    {.heading = "Run",
     .name = "jobs",
     .letter = 'j',
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .max = MANY_RUNS_MAX_JOBS,
     .offset = offsetof(struct compare_options, jobs),
     .help = "the most runs at a time (default: all)"},
    {0},
};

static const struct option_group groups[] = {
    {conversation_flag_rows, offsetof(struct compare_options, conversation)},
    {rows, 0},
    {agent_flag_rows, offsetof(struct compare_options, agent)},
    {0},
};

static const struct example examples[] = {
    {"acp compare claude codex gemini \"make the tests pass\"",
     "shows time, cost and changes of each"},
    {"acp compare claude codex --approve-all --json -f task.md", "prints the results as JSON"},
    {0},
};

const struct command command_compare = {
    .name = "compare",
    .summary = "send the same prompt to several agents, side by side",
    .description =
        "Runs *acp exec* with each agent at the same time, in a git worktree of its own, so that "
        "none sees what the others do. The first words that are names of agents are the agents; "
        "the others are the prompt, which may also come from *--prompt* or *--file*.\n\n"
        "At the end a table has, for each agent, how its turn ended, time, tokens and cost where "
        "it reports them, what it has changed, its session for *acp sessions show*, and its "
        "worktree; one without changes is removed. With *--format json* there is one object for "
        "each agent, with its result as in *acp-exec*(1).\n\n"
        "Nobody is asked for permissions: give *--approve-all* or *--policy* for agents that need "
        "some.",
    .arguments = arguments,
    .options = groups,
    .options_size = sizeof(struct compare_options),
    .examples = examples,
    .run = run,
};
