/*
 * command_line.c - parses a command line: command, agent, options.
 *
 * Options of a command may stand before it, so there are two passes: the first finds the words that
 * name the command and the agent, the second parses all the others by the command's own tables.
 */
#include "cli/command_line.h"

#include <stdio.h>

#include "text/suggest.h"

/* ---- The first pass ------------------------------------------------------------------------- */

/* The row of any command for a name, or for a letter where letter is not 0. */
static const struct option *find_anywhere(const struct command *const *commands,
                                          struct acp_str name, char letter)
{
    const struct option *row = NULL;
    for (; commands && *commands && !row; commands++) {
        const struct option_group *groups = (*commands)->options;
        if (groups)
            row = letter ? option_find_letter(groups, letter) : option_find(groups, name);
        if (!row)
            row = find_anywhere((*commands)->subcommands, name, letter);
    }
    return row;
}

static const struct option *find_row(const struct program *program, struct acp_str name,
                                     char letter)
{
    const struct option *row =
        letter ? option_find_letter(program_options, letter) : option_find(program_options, name);
    return row ? row : find_anywhere(program->commands, name, letter);
}

const struct option *line_find_option(const struct line_walk *walk, struct acp_str name)
{
    return find_row(walk->program, name, 0);
}

static void note_row(struct line_walk *walk, const struct option *row, const char *word, bool last)
{
    if (!row && !walk->unknown)
        walk->unknown = word;
    if (!row)
        return;
    walk->names_agent |= row->kind == OPTION_AGENT;
    if (last && option_takes_value(row))
        walk->pending = row;
}

static void pass_option(struct line_walk *walk, const char *word)
{
    if (word[1] == '-') {
        struct acp_str name = acp_str_n(word + 2, strcspn(word + 2, "="));
        note_row(walk, find_row(walk->program, name, 0), word, word[2 + name.len] == '\0');
        return;
    }
    for (const char *letter = word + 1; *letter; letter++) {
        const struct option *row = find_row(walk->program, acp_str_from(NULL), *letter);
        note_row(walk, row, word, letter[1] == '\0');
        if (!row || option_takes_value(row))
            return; /* the rest of the word is its value */
    }
}

size_t line_walk_next(struct line_walk *walk)
{
    while (walk->at < walk->count && !walk->ended) {
        const char *word = walk->words[walk->at++];
        if (walk->pending)
            walk->pending = NULL;
        else if (strcmp(word, "--") == 0)
            walk->ended = true;
        else if (word[0] == '-' && word[1])
            pass_option(walk, word);
        else
            return walk->at - 1;
    }
    return walk->count;
}

/* ---- Naming --------------------------------------------------------------------------------- */

static void suggest_commands(struct suggestion *near, const struct command *const *commands)
{
    for (; commands && *commands; commands++)
        if (!(*commands)->hidden)
            suggest_try(near, (*commands)->name);
}

static int refuse_subcommand(const struct command *parent, const char *word,
                             struct usage_error *error)
{
    struct suggestion near = {.wrong = word};
    suggest_commands(&near, parent->subcommands);
    if (near.best)
        usage_error_set(error, "'%s' has no subcommand '%.60s'; did you mean '%s'?", parent->name,
                        word, near.best);
    else
        usage_error_set(error, "'%s' has no subcommand '%.60s'", parent->name, word);
    return ACP_ERR_ARGUMENT;
}

/* The subcommand, if the command has any; optional for a command that takes arguments. */
static int find_subcommand(struct line_walk *walk, struct line_names *names,
                           struct usage_error *error)
{
    const struct command *parent = names->command;
    if (!parent->subcommands)
        return 0;
    struct line_walk ahead = *walk;
    size_t at = line_walk_next(&ahead);
    if (at == walk->count)
        return 0;
    const struct command *command = command_find(parent->subcommands, walk->words[at]);
    if (!command)
        return parent->run && parent->arguments ? 0
                                                : refuse_subcommand(parent, walk->words[at], error);
    *walk = ahead;
    names->parent = parent;
    names->command = command;
    names->subcommand_at = at;
    return 0;
}

static int refuse_unknown_option(const struct line_walk *walk, struct usage_error *error)
{
    char name[64];
    size_t length = strcspn(walk->unknown, "=");
    (void) snprintf(name, sizeof(name), "%.*s", length < 60 ? (int) length : 60, walk->unknown);
    struct suggestion near = {.wrong = name + strspn(name, "-")};
    option_suggest(program_options, &near);
    for (const struct command *const *c = walk->program->commands; *c; c++) {
        if ((*c)->options && !(*c)->hidden)
            option_suggest((*c)->options, &near);
        for (const struct command *const *sub = (*c)->subcommands; sub && *sub; sub++)
            if ((*sub)->options)
                option_suggest((*sub)->options, &near);
    }
    if (near.best && name[1] == '-')
        usage_error_set(error, "unknown option %s; did you mean --%s?", name, near.best);
    else
        usage_error_set(error, "unknown option %s", name);
    return ACP_ERR_ARGUMENT;
}

/* acp AGENT [COMMAND [SUBCOMMAND]]: the agent is the word at agent_at. */
static int find_command_after_agent(struct line_walk *walk, struct line_names *names,
                                    struct usage_error *error)
{
    struct line_walk ahead = *walk;
    size_t at = line_walk_next(&ahead);
    names->command = walk->program->default_command;
    const struct command *command =
        at < walk->count ? command_find(walk->program->commands, walk->words[at]) : NULL;
    if (!command)
        return 0;
    *walk = ahead;
    names->command = command;
    names->command_at = at;
    int err = find_subcommand(walk, names, error);
    if (!err && names->command->agent == AGENT_NONE) {
        usage_error_set(
            error, "'%s' does not take an agent; to send it to '%.60s', use: %s %s %.60s %s",
            command->name, walk->words[names->agent_at], walk->program->name,
            walk->program->default_command->name, walk->words[names->agent_at], command->name);
        err = ACP_ERR_ARGUMENT;
    }
    return err;
}

int line_find_names(struct line_walk *walk, struct line_names *ret_names, struct usage_error *error)
{
    struct line_walk begin = *walk;
    size_t none = walk->count;
    size_t at = line_walk_next(walk);
    *ret_names = (struct line_names){NULL, NULL, none, none, none};
    if (walk->unknown)
        return refuse_unknown_option(walk, error);
    if (at < none)
        ret_names->command = command_find(walk->program->commands, walk->words[at]);
    if (ret_names->command) {
        ret_names->command_at = at;
        return find_subcommand(walk, ret_names, error);
    }
    if (walk->program->default_command && walk->names_agent) {
        /* acp --agent COMMAND [PROMPT]: the first word is already an argument. */
        *walk = begin;
        ret_names->command = walk->program->default_command;
        return 0;
    }
    if (at == none)
        return 0;
    ret_names->agent_at = at;
    return walk->program->default_command ? find_command_after_agent(walk, ret_names, error) : 0;
}

/* ---- Agents --------------------------------------------------------------------------------- */

static const char *const *agent_names(const struct invocation *invocation)
{
    static const char *const none[] = {NULL};
    const struct program *program = invocation->program;
    const char *const *names = program->agent_names ? program->agent_names(invocation) : NULL;
    return names ? names : none;
}

bool line_is_agent(const struct invocation *invocation, const char *word)
{
    if (strstr(word, "://") && !strpbrk(word, " \t\n"))
        return true;
    for (const char *const *name = agent_names(invocation); *name; name++)
        if (strcmp(*name, word) == 0)
            return true;
    return false;
}

static void suggest_agents(struct suggestion *near, const struct invocation *invocation)
{
    for (const char *const *name = agent_names(invocation); *name; name++)
        suggest_try(near, *name);
}

/* The first word is neither a command nor an agent. */
static int refuse_first_word(const struct invocation *invocation, const char *word,
                             struct usage_error *error)
{
    const struct program *program = invocation->program;
    const char *what = program->default_command ? "command or agent" : "command";
    struct suggestion near = {.wrong = word};
    suggest_commands(&near, program->commands);
    suggest_agents(&near, invocation);
    if (near.best)
        usage_error_set(error, "no such %s '%.60s'; did you mean '%s'?", what, word, near.best);
    else if (program->default_command)
        usage_error_set(error, "no such %s '%.60s'; to send it as a prompt, use: %s %s '%.60s'",
                        what, word, program->name, program->default_command->name, word);
    else
        usage_error_set(error, "no such %s '%.60s'", what, word);
    return ACP_ERR_ARGUMENT;
}

static bool gave_agent_option(const struct option_result *result)
{
    for (size_t i = 0; i < result->given_count; i++)
        if (result->given[i]->kind == OPTION_AGENT)
            return true;
    return false;
}

/* How many arguments the command needs. */
static size_t count_required(const struct command *command)
{
    size_t count = 0;
    for (const struct argument *a = command->arguments; a && a->name; a++)
        count += !a->optional;
    return count;
}

/*
 * The first argument may be the agent.  A word that resembles an agent is refused, if there is one
 * word more than the command needs.
 */
static int take_agent_argument(struct invocation *invocation, struct option_result *result,
                               struct usage_error *error)
{
    if (result->argument_count == 0)
        return 0;
    const char *word = result->arguments[0];
    if (line_is_agent(invocation, word)) {
        invocation->agent = word;
        result->arguments++;
        result->argument_count--;
        return 0;
    }
    struct suggestion near = {.wrong = word};
    if (result->argument_count > 1 &&
        result->argument_count > count_required(invocation->command) && !strpbrk(word, " \t\n"))
        suggest_agents(&near, invocation);
    if (!near.best)
        return 0;
    usage_error_set(error,
                    "no such agent '%.60s'; did you mean '%s'? "
                    "If it is part of the prompt, put the prompt in quotes",
                    word, near.best);
    return ACP_ERR_ARGUMENT;
}

/* The words after "--": the agent's command line if no agent is named, else arguments. */
static int take_words_after(struct invocation *invocation, struct option_result *result,
                            bool agent_is_named, struct usage_error *error)
{
    if (!result->after)
        return 0;
    if (agent_is_named || invocation->command->agent != AGENT_ARGUMENT) {
        const char **arguments =
            acp_arena_alloc(&invocation->arena, (result->argument_count + result->after_count + 1) *
                                                    sizeof(*arguments));
        if (!arguments)
            return ACP_ERR_NOMEM;
        memcpy(arguments, result->arguments, result->argument_count * sizeof(*arguments));
        memcpy(arguments + result->argument_count, result->after,
               result->after_count * sizeof(*arguments));
        result->arguments = arguments;
        result->argument_count += result->after_count;
        return 0;
    }
    if (result->after_count == 0 || result->after[0][0] == '-' || result->after[0][0] == '\0') {
        usage_error_set(error, "no agent named; expected its command line after --%s%.60s",
                        result->after_count ? ", got " : "",
                        result->after_count ? result->after[0] : "");
        return ACP_ERR_ARGUMENT;
    }
    invocation->agent_command = result->after;
    invocation->agent_command_count = result->after_count;
    return 0;
}

/* ---- The second pass ------------------------------------------------------------------------ */

static int check_arguments(const struct invocation *invocation, struct usage_error *error)
{
    static const struct argument none = {0};
    const struct argument *a = invocation->command->arguments;
    size_t i = 0;
    for (a = a ? a : &none; i < invocation->argument_count; i++) {
        struct option as_option = {.kind = a->kind, .choices = a->choices, .may_be_empty = true};
        uint64_t number;
        if (!a->name) {
            bool agent_place =
                i == 0 && invocation->command->agent == AGENT_ARGUMENT && !invocation->agent;
            usage_error_set(error, "unexpected argument '%.60s'%s", invocation->arguments[i],
                            agent_place ? "; no agent has that name" : "");
            return ACP_ERR_ARGUMENT;
        }
        int err = option_read(&as_option, a->name, invocation->arguments[i], &number, error);
        if (err)
            return err;
        if (!a->repeated)
            a++;
    }
    /* A repeated argument must occur at least once. */
    bool had = a->repeated && i > 0 && (size_t) (a - invocation->command->arguments) < i;
    if (!a->name || a->optional || had)
        return 0;
    usage_error_set(error, "missing argument %s", a->name);
    return ACP_ERR_ARGUMENT;
}

static int refuse_missing_subcommand(const struct command *command, struct usage_error *error)
{
    char list[200] = "";
    size_t used = 0;
    for (const struct command *const *c = command->subcommands; *c; c++) {
        const char *glue = c == command->subcommands ? "" : c[1] ? ", " : " or ";
        int n = snprintf(list + used, sizeof(list) - used, "%s%s", glue, (*c)->name);
        used = n > 0 && (size_t) n < sizeof(list) - used ? used + (size_t) n : sizeof(list) - 1;
    }
    usage_error_set(error, "'%s' requires a subcommand: %s", command->name, list);
    return ACP_ERR_ARGUMENT;
}

/* The words without those that name the command and the agent; NULL: out of memory. */
static const char **without_names(struct acp_arena *arena, const struct line_walk *walk,
                                  const struct line_names *names, size_t *ret_count)
{
    const char **words = acp_arena_alloc(arena, (walk->count + 1) * sizeof(*words));
    size_t count = 0;
    for (size_t i = 0; words && i < walk->count; i++)
        if (i != names->agent_at && i != names->command_at && i != names->subcommand_at)
            words[count++] = walk->words[i];
    *ret_count = count;
    return words;
}

/* Parses the options by the tables of the command, or of the program if there is no command. */
static int parse_options(struct invocation *invocation, const struct line_walk *walk,
                         const struct line_names *names, struct option_result *result,
                         struct usage_error *error)
{
    const struct command *command = names->command;
    struct acp_arena *arena = &invocation->arena;
    size_t count;
    const char **words = without_names(arena, walk, names, &count);
    void *values =
        acp_arena_alloc(arena, command && command->options_size ? command->options_size : 1);
    const struct option_group *groups =
        command ? command_all_options(command, arena) : program_options;
    if (!words || !values || !groups)
        return ACP_ERR_NOMEM;
    invocation->parent = names->parent;
    invocation->command = command;
    invocation->options = command && command->options_size ? values : NULL;
    int err = options_parse(groups, words, count, arena, values, result, error);
    invocation->help = result->help;
    invocation->version = result->version;
    return err;
}

/* The agent, the words after "--" and the arguments, once the options are known. */
static int take_words(struct invocation *invocation, struct option_result *result,
                      struct usage_error *error)
{
    const struct command *command = invocation->command;
    bool by_option = gave_agent_option(result);
    int err = 0;
    if (by_option && invocation->agent) {
        usage_error_set(error, "agent given twice: '%.60s' and --agent", invocation->agent);
        return ACP_ERR_ARGUMENT;
    }
    if (command->agent == AGENT_ARGUMENT && !by_option && !invocation->agent)
        err = take_agent_argument(invocation, result, error);
    if (!err)
        err = take_words_after(invocation, result, by_option || invocation->agent, error);
    invocation->arguments = result->arguments;
    invocation->argument_count = result->argument_count;
    if (!err && !command->run)
        err = refuse_missing_subcommand(command, error);
    return err ? err : check_arguments(invocation, error);
}

int invocation_parse(struct invocation *invocation, const struct program *program,
                     const char *const *words, size_t count, struct usage_error *error)
{
    struct line_walk walk = {.program = program, .words = words, .count = count};
    struct line_names names;
    struct option_result result;
    memset(invocation, 0, sizeof(*invocation));
    invocation->program = program;
    acp_arena_init(&invocation->arena, 0);
    int err = line_find_names(&walk, &names, error);
    invocation->command = names.command;
    invocation->parent = names.parent;
    if (err)
        return err;
    if (names.agent_at < count && !names.command)
        return refuse_first_word(invocation, words[names.agent_at], error);
    err = parse_options(invocation, &walk, &names, &result, error);
    if (err == ACP_ERR_NOMEM)
        return err;
    /* Report an invalid first word rather than the errors that follow from it. */
    if (names.agent_at < count && !line_is_agent(invocation, words[names.agent_at])) {
        invocation->command = NULL;
        return refuse_first_word(invocation, words[names.agent_at], error);
    }
    if (invocation->help || invocation->version)
        return 0;
    /* Every option belongs to some command; the first pass has refused others. */
    if (!names.command) {
        usage_error_set(error, "no command given");
        return ACP_ERR_ARGUMENT;
    }
    if (err)
        return err;
    invocation->agent = names.agent_at < count ? words[names.agent_at] : NULL;
    return take_words(invocation, &result, error);
}

void invocation_finish(struct invocation *invocation)
{
    acp_arena_finish(&invocation->arena);
}
