/* help.c - help output, wrapped to the width of the terminal. */
#include "cli/help.h"

#include <stdio.h>

#include "cli/prose.h"

enum {
    INDENT = 2,
    WIDEST_LABEL = 26, /* a longer label gets its own line */
    TEXT_MAX = 4096,
};

/* ---- Lists of two columns ------------------------------------------------------------------- */

/* "-f, --file FILE"; indented if there is no letter. */
static size_t put_option_label(struct output *out, const struct option *option)
{
    char label[120];
    const char *no = option->kind == OPTION_TOGGLE ? "[no-]" : "";
    bool is_optional = option->kind == OPTION_OPTIONAL;
    const char *glue = is_optional ? "[=" : option->argument ? " " : "";
    const char *argument = option->argument ? option->argument : "";
    const char *end = is_optional ? "]" : "";
    int n = option->letter ? snprintf(label, sizeof(label), "-%c, --%s%s%s%s%s", option->letter, no,
                                      option->name, glue, argument, end)
                           : snprintf(label, sizeof(label), "    --%s%s%s%s%s", no, option->name,
                                      glue, argument, end);
    if (out)
        output_printf(out, "%*s%s", INDENT, "", label);
    return (size_t) n;
}

/* The start of the second column: after the widest label that fits. */
struct columns {
    size_t text;
    size_t width;
};

static void widen(struct columns *columns, size_t label)
{
    size_t text = INDENT + label + 2;
    if (label <= WIDEST_LABEL && text > columns->text)
        columns->text = text;
}

static void put_text(struct output *out, const struct columns *columns, size_t label,
                     const char *prose)
{
    size_t column = INDENT + label;
    if (column + 2 > columns->text) {
        output_text(out, acp_str_from("\n"));
        column = 0;
    }
    prose_print(out, prose, columns->text, column, columns->width);
}

static void put_row(struct output *out, const struct columns *columns, const char *label,
                    const char *prose)
{
    output_printf(out, "%*s%s", INDENT, "", label);
    put_text(out, columns, strlen(label), prose);
}

/* ---- Parts ---------------------------------------------------------------------------------- */

static void measure_options(struct columns *columns, const struct option_group *groups)
{
    for (; groups && groups->options; groups++)
        for (const struct option *row = groups->options; row->name; row++)
            if (!row->hidden)
                widen(columns, put_option_label(NULL, row));
}

/* The help of an option with its choices: "output format: text, json or quiet". */
static void put_option(struct output *out, const struct columns *columns,
                       const struct option *option)
{
    struct acp_buf text;
    acp_buf_init(&text, TEXT_MAX);
    int err = acp_buf_printf(&text, "%s", option->help);
    for (size_t i = 0; option->choices && option->choices[i] && !err; i++) {
        const char *glue = i == 0 ? ": " : option->choices[i + 1] ? ", " : " or ";
        err = acp_buf_printf(&text, "%s%s", glue, option->choices[i]);
    }
    if (!err)
        err = acp_buf_append(&text, "", 1);
    size_t label = put_option_label(out, option);
    put_text(out, columns, label, err ? option->help : acp_buf_view(&text).ptr);
    acp_buf_finish(&text);
}

/* Options under the headings of their tables; `heading` is for options without one. */
static void put_options(struct output *out, const struct columns *columns,
                        const struct option_group *groups, const char *heading)
{
    const char *due = heading;
    for (; groups && groups->options; groups++)
        for (const struct option *row = groups->options; row->name; row++) {
            due = row->heading ? row->heading : due;
            if (row->hidden)
                continue;
            if (due)
                output_printf(out, "\n%s:\n", due);
            due = NULL;
            put_option(out, columns, row);
        }
}

static const char *heading_of(const struct command_heading *headings, const struct command *command)
{
    for (; headings && headings->title; headings++)
        if (headings->first == command)
            return headings->title;
    return NULL;
}

/* Under the headings of the program, or all under `heading`. */
static void put_commands(struct output *out, size_t width, const struct command *const *commands,
                         const struct command_heading *headings, const char *heading)
{
    struct columns columns = {0, width};
    if (!commands)
        return;
    for (const struct command *const *c = commands; *c; c++)
        if (!(*c)->hidden)
            widen(&columns, strlen((*c)->name));
    const char *due = heading;
    for (const struct command *const *c = commands; *c; c++) {
        const char *own = heading_of(headings, *c);
        due = own ? own : due;
        if ((*c)->hidden)
            continue;
        if (due)
            output_printf(out, "\n%s:\n", due);
        due = NULL;
        put_row(out, &columns, (*c)->name, (*c)->summary);
    }
}

/* The names alone, a line for each heading: "Sessions       sessions, status". */
static void put_names(struct output *out, size_t width, const struct program *program)
{
    struct columns columns = {0, width};
    struct acp_buf names;
    for (const struct command_heading *h = program->headings; h && h->title; h++)
        widen(&columns, strlen(h->title));
    const struct command_heading *heading = program->headings;
    const struct command *const *c = program->commands;
    for (; heading && heading->title; heading++) {
        const struct command *next = heading[1].title ? heading[1].first : NULL;
        acp_buf_init(&names, TEXT_MAX);
        int err = 0;
        for (; *c && *c != next && !err; c++)
            if (!(*c)->hidden)
                err = acp_buf_printf(&names, "%s%s", names.len ? ", " : "", (*c)->name);
        if (!err)
            err = acp_buf_append(&names, "", 1);
        if (!err)
            put_row(out, &columns, heading->title, acp_buf_view(&names).ptr);
        acp_buf_finish(&names);
    }
}

static void put_synopses(struct output *out, size_t width, const struct program *program,
                         const struct command *parent, const struct command *command)
{
    output_text(out, acp_str_from("\nUsage:\n"));
    for (enum synopsis_form form = SYNOPSIS_PLAIN; form < SYNOPSIS_FORMS; form++) {
        struct acp_buf text;
        acp_buf_init(&text, TEXT_MAX);
        if (command_has_form(command, form) &&
            command_synopsis(program, parent, command, form, &text) == 0 &&
            acp_buf_append(&text, "", 1) == 0)
            prose_print(out, acp_buf_view(&text).ptr, INDENT, 0, width);
        acp_buf_finish(&text);
    }
}

static void put_examples(struct output *out, size_t width, const struct example *examples)
{
    if (!examples)
        return;
    output_text(out, acp_str_from("\nExamples:\n"));
    for (; examples->line; examples++) {
        for (const char *line = examples->line; *line;) {
            size_t n = strcspn(line, "\n");
            output_printf(out, "%*s%.*s\n", INDENT, "", (int) n, line);
            line += n + (line[n] == '\n');
        }
        prose_print(out, examples->meaning, (size_t) INDENT * 3, 0, width);
    }
}

/* ---- Whole pages ---------------------------------------------------------------------------- */

/* "acp trace - summary", wrapped in line with the summary. */
static void put_title(struct output *out, size_t width, const char *title, const char *summary)
{
    output_printf(out, "%s -", title);
    size_t begin = strlen(title) + 2;
    prose_print(out, summary, begin + 1, begin, width);
}

static void print_command(struct output *out, const struct program *program,
                          const struct command *parent, const struct command *command)
{
    size_t width = prose_width(out);
    struct columns columns = {0, width};
    char title[120];
    (void) snprintf(title, sizeof(title), "%s%s%s %s", program->name, parent ? " " : "",
                    parent ? parent->name : "", command->name);
    put_title(out, width, title, command->summary);
    put_synopses(out, width, program, parent, command);
    if (command->description) {
        output_text(out, acp_str_from("\n"));
        prose_print(out, command->description, 0, 0, width);
    }
    put_commands(out, width, command->subcommands, NULL, "Subcommands");
    measure_options(&columns, command->options);
    measure_options(&columns, command_common_options);
    put_options(out, &columns, command->options, "Options");
    put_options(out, &columns, command_common_options, "Help");
    put_examples(out, width, command->examples);
}

static void print_program(struct output *out, const struct program *program)
{
    size_t width = prose_width(out);
    struct columns columns = {0, width};
    put_title(out, width, program->name, program->summary);
    output_printf(out, "\nUsage:\n  %s COMMAND [OPTION...] [ARGUMENT...]\n", program->name);
    if (program->default_command)
        output_printf(out, "  %s AGENT [COMMAND] [OPTION...] [ARGUMENT...]\n", program->name);
    put_commands(out, width, program->commands, program->headings, "Commands");
    measure_options(&columns, program_options);
    put_options(out, &columns, program_options, "Options");
    output_printf(out, "\nSee '%s help COMMAND' for help on a command.\n", program->name);
}

void help_print(struct output *out, const struct program *program, const struct command *parent,
                const struct command *command)
{
    if (command)
        print_command(out, program, parent, command);
    else
        print_program(out, program);
}

void help_print_first_steps(struct output *out, const struct program *program)
{
    size_t width = prose_width(out);
    put_title(out, width, program->name, program->summary);
    if (program->first_steps) {
        output_text(out, acp_str_from("\nTo begin:\n"));
        for (const struct example *step = program->first_steps; step->line; step++) {
            output_printf(out, "%*s%s\n", INDENT, "", step->line);
            prose_print(out, step->meaning, (size_t) INDENT * 3, 0, width);
        }
    }
    if (program->headings) {
        output_text(out, acp_str_from("\nCommands:\n"));
        put_names(out, width, program);
    } else {
        put_commands(out, width, program->commands, NULL, "Commands");
    }
    output_printf(out, "\n'%s help' describes all commands, '%s help COMMAND' one of them.\n",
                  program->name, program->name);
}
