/*
 * complete.c - completion candidates from the tables.
 *
 * The words are walked as by the parser, but nothing is refused, because the line is incomplete.
 */
#include "cli/complete.h"

#include "cli/command_line.h"
#include "cli/prose.h"

struct completion {
    struct output *out;
    struct invocation invocation; /* for the hooks: the command, without options */
    const char *typed;            /* the word to complete */
    struct line_names names;
    struct line_walk walk;
    size_t argument_count; /* plain words after the command */
    bool agent_is_named;
};

enum { HELP_MAX = 1024, LINE_MAX_BYTES = 64 * 1024 };

/* ---- Candidates ------------------------------------------------------------------------------ */

static bool is_begun(const struct completion *c, const char *word)
{
    return strncmp(word, c->typed, strlen(c->typed)) == 0;
}

/* The output is a pipe, but the shell shows it on the terminal. */
static void put_line(struct completion *c, const char *prefix, const char *word,
                     const char *meaning)
{
    struct acp_buf line;
    acp_buf_init(&line, LINE_MAX_BYTES);
    int err = sanitize_whole(SANITIZE_LINE, acp_str_from(prefix), &line);
    if (!err)
        err = sanitize_whole(SANITIZE_LINE, acp_str_from(word), &line);
    if (!err)
        err = acp_buf_append(&line, "\t", 1);
    if (!err)
        err = sanitize_whole(SANITIZE_LINE, acp_str_from(meaning), &line);
    if (!err)
        output_printf(c->out, "%.*s\n", (int) line.len, acp_buf_view(&line).ptr);
    acp_buf_finish(&line);
}

/* The meaning is prose. */
static void put_candidate(struct completion *c, const char *prefix, const char *word,
                          const char *meaning)
{
    struct acp_buf text;
    acp_buf_init(&text, HELP_MAX);
    int err = prose_plain(meaning ? meaning : "", &text);
    if (!err)
        err = acp_buf_append(&text, "", 1);
    put_line(c, prefix, word, err ? "" : acp_buf_view(&text).ptr);
    acp_buf_finish(&text);
}

static void offer(struct completion *c, const char *word, const char *meaning)
{
    if (is_begun(c, word))
        put_candidate(c, "", word, meaning);
}

static void head(struct completion *c, const char *directive, struct acp_str kept)
{
    output_printf(c->out, "%s\t%.*s\n", directive, (int) kept.len, kept.len ? kept.ptr : "");
}

static void offer_names(struct completion *c, const char *const *names, const char *meaning)
{
    for (; names && *names; names++)
        offer(c, *names, meaning);
}

/* Their meanings are texts of others, not prose. */
static void offer_values(struct completion *c, enum option_kind kind)
{
    const struct program *program = c->walk.program;
    const struct candidate *value = program->values ? program->values(&c->invocation, kind) : NULL;
    for (; value && value->word; value++)
        if (is_begun(c, value->word))
            put_line(c, "", value->word, value->meaning ? value->meaning : "");
}

static void offer_agents(struct completion *c)
{
    const struct program *program = c->walk.program;
    if (program->agent_names)
        offer_names(c, program->agent_names(&c->invocation), "agent");
}

/* If an agent was named before, only commands that take one. */
static void offer_commands(struct completion *c, const struct command *const *commands,
                           bool about_agents)
{
    for (; commands && *commands; commands++)
        if (!(*commands)->hidden && (!about_agents || (*commands)->agent != AGENT_NONE))
            offer(c, (*commands)->name, (*commands)->summary);
}

/* ---- Options -------------------------------------------------------------------------------- */

static void offer_options(struct completion *c, const struct option_group *groups)
{
    for (; groups && groups->options; groups++)
        for (const struct option *row = groups->options; row->name; row++) {
            if (row->hidden)
                continue;
            if (strncmp(c->typed, "--", 2) != 0 ||
                strncmp(row->name, c->typed + 2, strlen(c->typed + 2)) == 0)
                put_candidate(c, "--", row->name, row->help);
            if (row->kind == OPTION_TOGGLE && strncmp(c->typed, "--no-", 5) == 0 &&
                strncmp(row->name, c->typed + 5, strlen(c->typed + 5)) == 0)
                put_candidate(c, "--no-", row->name, row->help);
        }
}

/* Before a command, the options of all commands are possible; shared tables are used once. */
static void offer_all_options(struct completion *c, const struct command *const *commands)
{
    offer_options(c, program_options);
    for (const struct command *const *one = commands; *one; one++)
        for (const struct option_group *group = (*one)->options; group && group->options; group++) {
            bool seen = false;
            for (const struct command *const *other = commands; other != one; other++)
                for (const struct option_group *g = (*other)->options; g && g->options; g++)
                    seen |= g->options == group->options;
            struct option_group alone[] = {*group, {0}};
            if (!seen && !(*one)->hidden)
                offer_options(c, alone);
        }
}

/* The list of commands for an argument of help: acp help COMMAND SUBCOMMAND. */
static void offer_command_names(struct completion *c, size_t argument)
{
    const struct command *const *list = c->walk.program->commands;
    const struct command *parent = NULL;
    if (argument > 0 && c->walk.count > 0)
        parent = command_find(list, c->walk.words[c->walk.count - 1]);
    if (argument == 0)
        offer_commands(c, list, false);
    else if (parent)
        offer_commands(c, parent->subcommands, false);
}

/* Candidates for a value; typed is the part that is there. */
static void complete_value(struct completion *c, enum option_kind kind, const char *const *choices,
                           struct acp_str kept, size_t argument)
{
    if (kind == OPTION_DIRECTORY) {
        head(c, "directories", kept);
        return;
    }
    head(c, kind == OPTION_FILE || kind == OPTION_AGENT ? "files" : "words", kept);
    if (kind == OPTION_CHOICE)
        offer_names(c, choices, NULL);
    else if (kind == OPTION_SESSION || kind == OPTION_MODEL || kind == OPTION_MODE)
        offer_values(c, kind);
    else if (kind == OPTION_AGENT_NAME)
        offer_agents(c);
    else if (kind == OPTION_COMMAND)
        offer_command_names(c, argument);
}

/* --name=VALUE; false when the typed word has another form. */
static bool complete_joined(struct completion *c)
{
    const char *equals = strchr(c->typed, '=');
    struct line_walk walk = c->walk;
    if (strncmp(c->typed, "--", 2) != 0 || !equals)
        return false;
    struct acp_str kept = acp_str_n(c->typed, (size_t) (equals - c->typed) + 1);
    const struct option *row = line_find_option(&walk, acp_str_n(c->typed + 2, kept.len - 3));
    c->typed = equals + 1;
    if (row && option_takes_value(row))
        complete_value(c, row->kind, row->choices, kept, 0);
    else
        head(c, "words", kept);
    return true;
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* Counts the plain words after the command, and checks whether one of them names the agent. */
static void walk_arguments(struct completion *c)
{
    const struct command *command = c->names.command;
    c->agent_is_named = c->names.agent_at < c->walk.count;
    if (c->agent_is_named)
        c->invocation.agent = c->walk.words[c->names.agent_at];
    for (size_t at; (at = line_walk_next(&c->walk)) < c->walk.count;) {
        bool agent = command && command->agent == AGENT_ARGUMENT && !c->agent_is_named &&
                     c->argument_count == 0 && line_is_agent(&c->invocation, c->walk.words[at]);
        if (agent)
            c->invocation.agent = c->walk.words[at];
        c->agent_is_named |= agent;
        c->argument_count += !agent;
    }
    c->agent_is_named |= c->walk.names_agent;
    if (c->walk.ended)
        c->argument_count += c->walk.count - c->walk.at;
}

static void complete_argument(struct completion *c)
{
    const struct command *command = c->names.command;
    const struct argument *argument = command->arguments;
    size_t left = c->argument_count;
    for (; argument && argument->name && left && !argument->repeated; left--)
        argument++;
    if (argument && argument->name)
        complete_value(c, argument->kind, argument->choices, acp_str_from(NULL), c->argument_count);
    else
        head(c, "words", acp_str_from(NULL));
    if (command->agent == AGENT_ARGUMENT && !c->agent_is_named && c->argument_count == 0)
        offer_agents(c);
    if (c->argument_count == 0 && !c->names.parent)
        offer_commands(c, command->subcommands, false);
}

static void complete_word(struct completion *c)
{
    const struct program *program = c->walk.program;
    const struct command *command = c->names.command;
    size_t agent_at = c->names.agent_at;
    if (agent_at < c->walk.count && !line_is_agent(&c->invocation, c->walk.words[agent_at])) {
        head(c, "words", acp_str_from(NULL)); /* no candidates after an unknown word */
    } else if (c->typed[0] == '-' && !c->walk.ended) {
        head(c, "words", acp_str_from(NULL));
        if (command)
            offer_options(c, command->options);
        if (command)
            offer_options(c, command_common_options);
        else
            offer_all_options(c, program->commands);
    } else if (c->walk.ended && command && command->agent == AGENT_ARGUMENT && !c->agent_is_named) {
        head(c, "files", acp_str_from(NULL));
    } else if (!command) {
        head(c, "words", acp_str_from(NULL));
        offer_commands(c, program->commands, false);
        if (program->default_command)
            offer_agents(c);
    } else {
        complete_argument(c);
        /* acp AGENT without a command: a command or a prompt may follow. */
        if (agent_at < c->walk.count && c->names.command_at == c->walk.count &&
            c->argument_count == 0 && !c->walk.ended)
            offer_commands(c, program->commands, true);
    }
}

int complete_print(struct output *out, const struct program *program, const char *const *words,
                   size_t count)
{
    struct usage_error ignored;
    struct completion c = {.out = out, .typed = count ? words[count - 1] : ""};
    c.walk = (struct line_walk){.program = program, .words = words, .count = count ? count - 1 : 0};
    c.invocation.program = program;
    acp_arena_init(&c.invocation.arena, 0);
    (void) line_find_names(&c.walk, &c.names, &ignored);
    c.invocation.parent = c.names.parent;
    c.invocation.command = c.names.command;
    size_t size = c.names.command ? c.names.command->options_size : 0;
    if (size)
        c.invocation.options = acp_arena_alloc(&c.invocation.arena, size);
    int err = size && !c.invocation.options ? ACP_ERR_NOMEM : 0;
    if (!err) {
        walk_arguments(&c);
        if (c.walk.pending)
            complete_value(&c, c.walk.pending->kind, c.walk.pending->choices, acp_str_from(NULL),
                           0);
        else if (c.walk.ended || !complete_joined(&c))
            complete_word(&c);
    }
    acp_arena_finish(&c.invocation.arena);
    return err;
}
