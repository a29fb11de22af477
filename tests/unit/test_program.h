/* test_program.h - a made-up program of commands, for tests of grammar and completion. */
#ifndef TESTS_UNIT_TEST_PROGRAM_H
#define TESTS_UNIT_TEST_PROGRAM_H

#include "cli/command.h"
#include "cmd/shared_options.h"

struct test_prompt_options {
    struct agent_flags agent;
    struct conversation_flags conversation;
    struct session_flags session;
    struct queue_flags queue;
};

static int test_run(const struct invocation *invocation)
{
    (void) invocation;
    return 0;
}

static const struct argument test_prompt_arguments[] = {
    {.name = "PROMPT", .kind = OPTION_TEXT, .optional = true, .repeated = true},
    {0},
};

static const struct option_group test_prompt_groups[] = {
    {agent_flag_rows, offsetof(struct test_prompt_options, agent)},
    {conversation_flag_rows, offsetof(struct test_prompt_options, conversation)},
    {session_flag_rows, offsetof(struct test_prompt_options, session)},
    {queue_flag_rows, offsetof(struct test_prompt_options, queue)},
    {0},
};

static const struct command test_prompt = {
    .name = "prompt",
    .summary = "send a prompt",
    .arguments = test_prompt_arguments,
    .options = test_prompt_groups,
    .options_size = sizeof(struct test_prompt_options),
    .agent = AGENT_ARGUMENT,
    .run = test_run,
};

static const struct option_group test_agent_groups[] = {{agent_flag_rows, 0}, {0}};

static const struct command test_cancel = {
    .name = "cancel",
    .summary = "cancel the turn",
    .options = test_agent_groups,
    .options_size = sizeof(struct agent_flags),
    .agent = AGENT_BEFORE,
    .run = test_run,
};

static const struct argument test_show_arguments[] = {
    {.name = "NAME", .kind = OPTION_SESSION},
    {.name = "FILE", .kind = OPTION_FILE, .optional = true},
    {0},
};

static const struct command test_list = {
    .name = "list",
    .summary = "list sessions",
    .options = test_agent_groups,
    .options_size = sizeof(struct agent_flags),
    .agent = AGENT_BEFORE,
    .run = test_run,
};

static const struct command test_show = {
    .name = "show",
    .summary = "show a session",
    .arguments = test_show_arguments,
    .agent = AGENT_BEFORE,
    .run = test_run,
};

/* Runs by itself as well. */
static const struct command test_sessions = {
    .name = "sessions",
    .summary = "look at sessions",
    .options = test_agent_groups,
    .options_size = sizeof(struct agent_flags),
    .subcommands = (const struct command *const[]){&test_list, &test_show, NULL},
    .agent = AGENT_BEFORE,
    .run = test_run,
};

static const struct command test_init = {
    .name = "init",
    .summary = "write a file",
    .run = test_run,
};

static const char *const test_shells[] = {"bash", "zsh", NULL};
static const struct argument test_shell_arguments[] = {
    {.name = "SHELL", .kind = OPTION_CHOICE, .choices = test_shells},
    {.name = "FILE", .kind = OPTION_FILE, .optional = true, .repeated = true},
    {0},
};

static const struct command test_shell = {
    .name = "shell",
    .summary = "for a shell",
    .arguments = test_shell_arguments,
    .run = test_run,
};

/* Needs a subcommand. */
static const struct command test_config = {
    .name = "config",
    .summary = "look at the configuration",
    .subcommands = (const struct command *const[]){&test_init, &test_shell, NULL},
};

static const struct command test_secret = {
    .name = "secret",
    .summary = "unseen",
    .hidden = true,
    .run = test_run,
};

static const char *const *test_agent_names(const struct invocation *invocation)
{
    static const char *const names[] = {"claude", "codex", "gemini", NULL};
    (void) invocation;
    return names;
}

static const struct candidate *test_values(struct invocation *invocation, enum option_kind kind)
{
    static const struct candidate sessions[] = {
        {"backend", "a _title_\tof others"}, {"frontend", NULL}, {0}};
    static const struct candidate models[] = {{"large", "Large"}, {0}};
    bool is_claude = invocation->agent && strcmp(invocation->agent, "claude") == 0;
    return kind == OPTION_SESSION ? sessions : is_claude ? models : NULL;
}

static const struct program test_program = {
    .name = "acp",
    .version = "1",
    .summary = "a made-up program",
    .commands = (const struct command *const[]){&test_prompt, &test_cancel, &test_sessions,
                                                &test_config, &test_secret, NULL},
    .default_command = &test_prompt,
    .agent_names = test_agent_names,
    .values = test_values,
};

#endif
