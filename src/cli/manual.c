/*
 * manual.c - man page sources for scdoc, from the tables.
 *
 * The texts in the tables use the markup of scdoc, so a page is made of those texts in the usual
 * order of man pages.
 */
#include "cli/manual.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "cli/exit_status.h"

enum { SYNOPSIS_MAX = 4096 };

/* ---- Parts --------------------------------------------------------------------------------- */

/* A fragment, such as the help of an option, as a sentence. */
static void put_sentence(struct output *out, const char *fragment)
{
    output_printf(out, "%c%s.", toupper((unsigned char) *fragment), fragment + 1);
}

/* The text of a term can only be one paragraph; its lines are indented by a tab. */
static void put_term(struct output *out, const char *term, const char *meaning)
{
    output_printf(out, "%s\n\t%s\n\n", term, meaning);
}

static void put_option_label(struct output *out, const struct option *option)
{
    if (option->letter)
        output_printf(out, "*-%c*, ", option->letter);
    output_printf(out, "*--%s*", option->name);
    if (option->kind == OPTION_TOGGLE)
        output_printf(out, ", *--no-%s*", option->name);
    if (option->kind == OPTION_OPTIONAL)
        output_printf(out, "[=_%s_]", option->argument);
    else if (option->argument)
        output_printf(out, " _%s_", option->argument);
}

static void put_choices(struct output *out, const char *const *choices)
{
    output_text(out, acp_str_from(" One of "));
    for (size_t i = 0; choices[i]; i++)
        output_printf(out, "%s*%s*", i == 0 ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
    output_text(out, acp_str_from("."));
}

static void put_option(struct output *out, const struct option *option)
{
    put_option_label(out, option);
    output_text(out, acp_str_from("\n\t"));
    put_sentence(out, option->help);
    if (option->choices)
        put_choices(out, option->choices);
    if (option->details)
        output_printf(out, " %s", option->details);
    if (option->repeated)
        output_text(out, acp_str_from(" May be given more than once."));
    if (option->alias)
        output_printf(out, " *--%s* is an alias.", option->alias);
    if (option->environment)
        output_printf(out, " Overrides the environment variable *%s*.", option->environment);
    output_text(out, acp_str_from("\n\n"));
}

static void put_groups(struct output *out, const struct option_group *groups)
{
    for (; groups && groups->options; groups++)
        for (const struct option *row = groups->options; row->name; row++) {
            if (row->heading)
                output_printf(out, "## %s\n\n", row->heading);
            if (!row->hidden)
                put_option(out, row);
        }
}

static bool has_headings(const struct option_group *groups)
{
    for (; groups && groups->options; groups++)
        for (const struct option *row = groups->options; row->name; row++)
            if (row->heading)
                return true;
    return false;
}

static bool has_table(const struct option_group *groups, const struct option *options)
{
    for (; groups && groups->options; groups++)
        if (groups->options == options)
            return true;
    return false;
}

static void put_synopses(struct output *out, const struct program *program,
                         const struct command *parent, const struct command *command)
{
    for (enum synopsis_form form = SYNOPSIS_PLAIN; form < SYNOPSIS_FORMS; form++) {
        struct acp_buf text;
        acp_buf_init(&text, SYNOPSIS_MAX);
        if (command_has_form(command, form) &&
            command_synopsis(program, parent, command, form, &text) == 0)
            output_printf(out, "%.*s\n\n", (int) text.len, acp_buf_view(&text).ptr);
        acp_buf_finish(&text);
    }
}

static void put_example_lines(struct output *out, const struct example *examples)
{
    for (; examples && examples->line; examples++)
        output_printf(out, "%s:\n\n```\n%s\n```\n\n", examples->meaning, examples->line);
}

static void put_examples(struct output *out, const struct example *examples)
{
    if (examples)
        output_text(out, acp_str_from("# EXAMPLES\n\n"));
    put_example_lines(out, examples);
}

/* ---- Exit statuses -------------------------------------------------------------------------- */

static const struct exit_status *find_status(const struct exit_status *statuses, int number)
{
    for (; statuses && statuses->meaning; statuses++)
        if (statuses->number == number)
            return statuses;
    return NULL;
}

static void put_status(struct output *out, const struct exit_status *status)
{
    char term[16];
    (void) snprintf(term, sizeof(term), "*%d*", status->number);
    put_term(out, term, status->meaning);
}

/* The statuses of the command and those common to all commands, by number. */
static void put_statuses(struct output *out, const struct program *program,
                         const struct command *command)
{
    output_text(out, acp_str_from("# EXIT STATUS\n\n"));
    for (const struct exit_status *s = program->statuses; s && s->meaning; s++) {
        const struct exit_status *own = command ? find_status(command->statuses, s->number) : s;
        if (own || s->number <= EXIT_USAGE)
            put_status(out, own ? own : s);
    }
}

/* ---- Pages ---------------------------------------------------------------------------------- */

/* A table that a subcommand shares with the command appears once, under the command. */
static void put_subcommand(struct output *out, const struct program *program,
                           const struct command *parent, const struct command *command)
{
    output_printf(out, "## %s\n\n", command->name);
    put_synopses(out, program, parent, command);
    put_sentence(out, command->summary);
    output_text(out, acp_str_from("\n\n"));
    if (command->description)
        output_printf(out, "%s\n\n", command->description);
    for (const struct option_group *g = command->options; g && g->options; g++)
        for (const struct option *row = g->options; row->name; row++)
            if (!row->hidden && !has_table(parent->options, g->options))
                put_option(out, row);
    put_example_lines(out, command->examples);
}

static void put_subcommands(struct output *out, const struct program *program,
                            const struct command *command)
{
    if (!command->subcommands)
        return;
    output_text(out, acp_str_from("# SUBCOMMANDS\n\n"));
    for (const struct command *const *sub = command->subcommands; *sub; sub++)
        if (!(*sub)->hidden)
            put_subcommand(out, program, command, *sub);
}

static int put_file(struct output *out, const char *name)
{
    char bytes[4096];
    size_t n;
    FILE *in = fopen(name, "r");
    if (!in) {
        err_printf("acp help: cannot open %s: %s\n", name, strerror(errno));
        return EXIT_FAILED;
    }
    while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
        output_text(out, acp_str_n(bytes, n));
    output_text(out, acp_str_from("\n"));
    bool failed = ferror(in);
    (void) fclose(in);
    return failed ? EXIT_FAILED : EXIT_OK;
}

static int print_command(struct output *out, const struct program *program,
                         const struct command *command, const char *sections)
{
    int status = EXIT_OK;
    output_printf(out, "%s-%s(1)\n\n# NAME\n\n%s-%s - %s\n\n# SYNOPSIS\n\n", program->name,
                  command->name, program->name, command->name, command->summary);
    put_synopses(out, program, NULL, command);
    output_printf(out, "# DESCRIPTION\n\n%s\n\n", command->description);
    put_subcommands(out, program, command);
    output_text(out, acp_str_from("# OPTIONS\n\n"));
    put_groups(out, command->options);
    if (has_headings(command->options))
        output_text(out, acp_str_from("## Help\n\n"));
    put_option(out, &command_common_options->options[0]);
    if (sections)
        status = put_file(out, sections);
    put_statuses(out, program, command);
    put_examples(out, command->examples);
    output_printf(out, "# SEE ALSO\n\n*%s*(1)\n", program->name);
    return status;
}

static void put_commands(struct output *out, const struct program *program)
{
    output_text(out, acp_str_from("# COMMANDS\n\n"));
    for (const struct command *const *c = program->commands; *c; c++) {
        if ((*c)->hidden)
            continue;
        output_printf(out, "*%s-%s*(1)\n\t", program->name, (*c)->name);
        put_sentence(out, (*c)->summary);
        output_text(out, acp_str_from("\n\n"));
    }
}

static void put_terms(struct output *out, const char *heading, const struct term *terms)
{
    if (!terms || !terms->name)
        return;
    output_printf(out, "# %s\n\n", heading);
    for (; terms->name; terms++)
        put_term(out, terms->name, terms->meaning);
}

static int print_program(struct output *out, const struct program *program, const char *sections)
{
    int status = EXIT_OK;
    output_printf(out, "%s(1)\n\n# NAME\n\n%s - %s\n\n# SYNOPSIS\n\n", program->name, program->name,
                  program->summary);
    output_printf(out, "*%s* _COMMAND_ [_OPTION_...] [_ARGUMENT_...]\n\n", program->name);
    if (program->default_command)
        output_printf(out, "*%s* _AGENT_ [_COMMAND_] [_OPTION_...] [_ARGUMENT_...]\n\n",
                      program->name);
    output_printf(out, "# DESCRIPTION\n\n%s\n\n", program->description);
    put_commands(out, program);
    output_text(out, acp_str_from("# OPTIONS\n\n"));
    put_groups(out, program_options);
    if (sections)
        status = put_file(out, sections);
    put_statuses(out, program, NULL);
    put_terms(out, "ENVIRONMENT", program->environment);
    put_terms(out, "FILES", program->files);
    output_printf(out, "# SEE ALSO\n\n%s\n", program->see_also);
    return status;
}

int manual_print(struct output *out, const struct program *program, const struct command *command,
                 const char *sections)
{
    return command ? print_command(out, program, command, sections)
                   : print_program(out, program, sections);
}
