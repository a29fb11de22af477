/*
 * main.c - the acp command: its description and the list of its subcommands.  Each subcommand has
 * a file of its own.
 */
#include "cmd/cmd.h"
#include "cmd/complete_values.h"
#include "registry/agent_names.h"
#include "registry/environment_keys.h"

/* In the order in which help shows them. */
/* clang-format off */
static const struct command *const commands[] = {
    &command_exec,
    &command_prompt,
    &command_compare,
    &command_agent,
    &command_proxy,
    &command_cancel,
    &command_set_mode,
    &command_set,
    &command_status,
    &command_sessions,
    &command_agents,
    &command_mcp,
    &command_permissions,
    &command_config,
    &command_doctor,
    &command_setup,
    &command_trace,
    &command_completion,
    &command_help,
    &command_version,
    &command_complete,
    &command_fetch,
    NULL,
};
/* clang-format on */

static const struct command_heading headings[] = {
    {"Running agents", &command_exec},
    {"Sessions", &command_cancel},
    {"Setting up", &command_agents},
    {"Tools", &command_trace},
    {0},
};

/* These work on any machine, without a key. */
static const struct example first_steps[] = {
    {"acp exec \"list the files\"",
     "runs the built-in agent; without a model it uses an offline demo"},
    {"acp exec claude \"explain this project\"",
     "runs another agent, here Claude Code; *acp agents list* shows them all"},
    {"acp doctor", "checks what is installed and which model would answer, and suggests fixes"},
    {0},
};

static const struct exit_status statuses[] = {
#define STATUS_ROW(name, number, meaning) {meaning, number},
    EXIT_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
        {0},
};

static const struct term environment[] = {
    {"*COLUMNS*", "The width of help output, in place of the width of the terminal."},
    {"*ACP_...*", "Settings, keys and addresses of model providers: see *acp-environment*(7)."},
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
    .headings = headings,
    .first_steps = first_steps,
    .default_command = &command_prompt,
    .agent_names = agent_names,
    .values = complete_values,
    .statuses = statuses,
    .environment = environment,
    .see_also = "*acp-config*(5), *acp-environment*(7), *libacp*(3)",
};

int main(int argc, char **argv)
{
    keys_take(); /* before anything is started or can fail */
    return program_run(&program, argc, argv);
}
