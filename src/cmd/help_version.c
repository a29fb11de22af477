/* help_version.c - acp help and acp version. */
#include <stddef.h>

#include "cli/help.h"
#include "cli/manual.h"
#include "cmd/cmd.h"
#include "text/suggest.h"

struct help_options {
    bool manual;
    const char *sections;
};

static const struct option help_rows[] = {
    {.name = "man",
     .kind = OPTION_SWITCH,
     .hidden = true,
     .offset = offsetof(struct help_options, manual),
     .help = "print the man page's source for *scdoc*(1); the build uses it"},
    {.name = "sections",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .hidden = true,
     .offset = offsetof(struct help_options, sections),
     .help = "insert the sections in _FILE_ into that page"},
    {0},
};

/* Finds the command that the arguments name; prints a message and returns false if none. */
static bool find_command(const struct invocation *invocation, const struct command **ret_parent,
                         const struct command **ret_command)
{
    const struct command *const *list = invocation->program->commands;
    const struct command *command = NULL;
    *ret_parent = NULL;
    for (size_t i = 0; i < invocation->argument_count; i++) {
        const char *word = invocation->arguments[i];
        struct suggestion near = {.wrong = word};
        *ret_parent = command;
        command = command_find(list, word);
        if (!command) {
            for (; list && *list; list++)
                if (!(*list)->hidden)
                    suggest_try(&near, (*list)->name);
            struct usage_error error = {""};
            usage_error_set(&error, "no such %s '%.60s'%s%s%s", i ? "subcommand" : "command", word,
                            near.best ? "; did you mean '" : "", near.best ? near.best : "",
                            near.best ? "'?" : "");
            err_printf("%s help: %s\n", invocation->program->name, error.message);
            return false;
        }
        list = command->subcommands;
    }
    *ret_command = command;
    return true;
}

static int run_help(const struct invocation *invocation)
{
    const struct help_options *options = invocation->options;
    const struct command *parent;
    const struct command *command;
    if (!find_command(invocation, &parent, &command))
        return EXIT_USAGE;
    if (options->manual)
        return manual_print(output_results(), invocation->program, command, options->sections);
    help_print(output_results(), invocation->program, parent, command);
    return EXIT_OK;
}

static const struct argument help_arguments[] = {
    {.name = "COMMAND", .kind = OPTION_COMMAND, .optional = true},
    {.name = "SUBCOMMAND", .kind = OPTION_COMMAND, .optional = true},
    {0},
};

static const struct example help_examples[] = {
    {"acp help trace", "prints help for *acp trace*"},
    {0},
};

const struct command command_help = {
    .name = "help",
    .summary = "print help for a command",
    .description =
        "Prints help for _COMMAND_ or one of its subcommands; without an argument, the list of "
        "commands. *acp* _COMMAND_ *--help* prints the same.",
    .arguments = help_arguments,
    .options = (const struct option_group[]){{help_rows, 0}, {0}},
    .options_size = sizeof(struct help_options),
    .examples = help_examples,
    .run = run_help,
};

static int run_version(const struct invocation *invocation)
{
    out_printf("%s %s\n", invocation->program->name, invocation->program->version);
    return EXIT_OK;
}

const struct command command_version = {
    .name = "version",
    .summary = "print the version",
    .description = "Prints the version of the program and the protocol versions that it supports. "
                   "*acp --version* prints the same.",
    .run = run_version,
};
