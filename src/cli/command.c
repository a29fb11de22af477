/* command.c - command lookup and synopses; see command.h. */
#include "cli/command.h"

#include "cli/command_line.h"

static const struct option common_rows[] = {
    {.name = "help", .letter = 'h', .kind = OPTION_HELP, .help = "print this help"},
    {.name = "version", .letter = 'V', .kind = OPTION_VERSION, .hidden = true},
    {0},
};

static const struct option program_rows[] = {
    {.name = "help", .letter = 'h', .kind = OPTION_HELP, .help = "print this help"},
    {.name = "version", .letter = 'V', .kind = OPTION_VERSION, .help = "print the version"},
    {0},
};

const struct option_group command_common_options[] = {{common_rows, 0}, {0}};
const struct option_group program_options[] = {{program_rows, 0}, {0}};

const struct command *command_find(const struct command *const *commands, const char *name)
{
    for (; commands && *commands; commands++)
        if (strcmp((*commands)->name, name) == 0)
            return *commands;
    return NULL;
}

const struct option_group *command_all_options(const struct command *command,
                                               struct acp_arena *arena)
{
    size_t count = 0;
    while (command->options && command->options[count].options)
        count++;
    struct option_group *all = acp_arena_alloc(arena, (count + 2) * sizeof(*all));
    if (!all)
        return NULL;
    if (count)
        memcpy(all, command->options, count * sizeof(*all));
    all[count] = command_common_options[0];
    return all;
}

static bool has_options(const struct command *command)
{
    for (const struct option_group *group = command->options; group && group->options; group++)
        for (const struct option *row = group->options; row->name; row++)
            if (!row->hidden)
                return true;
    return false;
}

static int put_arguments(const struct command *command, struct acp_buf *out)
{
    int err = 0;
    for (const struct argument *a = command->arguments; a && a->name && !err; a++)
        err = acp_buf_printf(out, " %s_%s_%s%s", a->optional ? "[" : "", a->name,
                             a->repeated ? "..." : "", a->optional ? "]" : "");
    return err;
}

int command_synopsis(const struct program *program, const struct command *parent,
                     const struct command *command, enum synopsis_form form, struct acp_buf *out)
{
    int err = acp_buf_printf(out, "*%s", program->name);
    if (!err && form == SYNOPSIS_AGENT_FIRST)
        err = acp_buf_printf(out, "* _AGENT_ *");
    else if (!err)
        err = acp_buf_printf(out, " ");
    if (!err)
        err = acp_buf_printf(out, "%s%s%s*", parent ? parent->name : "", parent ? " " : "",
                             command->name);
    if (!err && has_options(command))
        err = acp_buf_printf(out, " [_OPTION_...]");
    if (!err && form == SYNOPSIS_PLAIN && command->agent == AGENT_ARGUMENT)
        err = acp_buf_printf(out, " [_AGENT_]");
    if (!err && command->subcommands && !command->run)
        err = acp_buf_printf(out, " _SUBCOMMAND_ ...");
    if (!err)
        err = put_arguments(command, out);
    if (!err && form == SYNOPSIS_AGENT_COMMAND)
        err = acp_buf_printf(out, " *--* _COMMAND_ [_ARGUMENT_...]");
    return err;
}

bool command_has_form(const struct command *command, enum synopsis_form form)
{
    switch (form) {
    case SYNOPSIS_AGENT_FIRST:
        return command->agent != AGENT_NONE;
    case SYNOPSIS_AGENT_COMMAND:
        return command->agent == AGENT_ARGUMENT;
    default:
        return true;
    }
}
