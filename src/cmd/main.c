/*
 * main.c - the acp command: its description and the list of its subcommands.  Each subcommand has
 * a file of its own.
 */
#include "cmd/cmd.h"
#include "registry/agent_names.h"
#include "registry/environment_keys.h"

/* In the order in which help shows them. */
static const struct command *const commands[] = {
    &command_agent,
    &command_exec,
    &command_prompt,
    &command_cancel,
    &command_set_mode,
    &command_set,
    &command_status,
    &command_sessions,
    &command_agents,
    &command_proxy,
    &command_config,
    &command_doctor,
    &command_trace,
    &command_completion,
    &command_help,
    &command_version,
    &command_complete,
    &command_fetch,
    NULL,
};

static const struct exit_status statuses[] = {
#define STATUS_ROW(name, number, meaning) {meaning, number},
    EXIT_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
        {0},
};

static const struct term environment[] = {
    {"*COLUMNS*", "The width of help output, in place of the width of the terminal."},
    {0},
};

static const struct program program = {
    .name = "acp",
    .version = ACP_VERSION ", protocol versions 1 and 2",
    .summary = "the Agent Client Protocol on the command line",
    .description =
        "*acp* works with the Agent Client Protocol (ACP), the JSON-RPC protocol between "
        "code editors and AI coding agents, in its versions 1 and 2.\n\n"
        "Standard output carries the result of a command, or the protocol. Messages for people go "
        "to standard error.",
    .commands = commands,
    .default_command = &command_prompt,
    .agent_names = agent_names,
    .statuses = statuses,
    .environment = environment,
    .see_also = "*acp-config*(5), *libacp*(3)",
};

int main(int argc, char **argv)
{
    keys_take(); /* before anything is started or can fail */
    return program_run(&program, argc, argv);
}
