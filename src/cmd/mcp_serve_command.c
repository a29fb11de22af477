/* mcp_serve_command.c - acp mcp serve: our tools as an MCP server. */
#include "agent/loop/mcp_serve.h"
#include "cmd/cmd.h"
#include "cmd/config_command.h"
#include "cmd/conversation_setup.h"
#include "registry/environment_keys.h"

struct serve_options {
    struct config_flags place;
    const char *policy;
    int mode;
};

static const char *const mode_names[] = {"safe", "read-only", "sandbox", "full", NULL};
static const enum acp_policy_mode modes[] = {ACP_POLICY_SAFE, ACP_POLICY_READ_ONLY,
                                             ACP_POLICY_SANDBOX, ACP_POLICY_FULL};

static const struct option rows[] = {
    {.name = "mode",
     .argument = "MODE",
     .kind = OPTION_CHOICE,
     .choices = mode_names,
     .offset = offsetof(struct serve_options, mode),
     .help = "what is allowed without a rule: *safe* (default), *read-only*, *sandbox* or *full*"},
    {.name = "policy",
     .alias = "permission-policy",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct serve_options, policy),
     .help = "apply the permission rules in _FILE_"},
    {0},
};

static const struct option_group groups[] = {
    {rows, 0},
    {config_flag_rows, offsetof(struct serve_options, place)},
    {0},
};

static int run(const struct invocation *invocation)
{
    const struct serve_options *options = invocation->options;
    struct agent_flags place = {.cwd = options->place.cwd};
    struct conversation_flags permissions = {.policy = options->policy};
    struct conversation_setup c;
    struct acp_policy *policy = NULL;
    int status = conversation_setup_configure(&c, &place);
    if (!status)
        status = conversation_setup_make_rules(&c, &permissions);
    if (!status && acp_policy_copy(c.policies[PERMIT_READS], &policy))
        status = EXIT_FAILED;
    if (!status) {
        if (options->mode)
            acp_policy_set_mode(policy, modes[options->mode - 1]);
        struct mcp_serve_options serve = {.version = ACP_VERSION,
                                          .cwd = config_cwd(c.config),
                                          .policy = policy,
                                          .ledger = c.ledger,
                                          .ledger_path = c.conversation.ledger_path};
        keys_protect();
        status = mcp_serve_run(&serve) ? EXIT_FAILED : EXIT_OK;
    }
    acp_policy_free(policy);
    conversation_setup_finish(&c);
    return status;
}

static const struct example examples[] = {
    {"acp mcp serve --mode read-only", "lets another agent read and search the current directory"},
    {0},
};

const struct command command_mcp_serve = {
    .name = "serve",
    .summary = "offer the tools of the built-in agent as an MCP server",
    .description =
        "Speaks MCP on standard input and output, for other agents: read, write, edit, patch, "
        "list, glob, grep and commands, in the current directory and under the same rules as in "
        "the built-in agent. What the rules say to ask about is asked through the client, if that "
        "supports elicitation; otherwise it is denied.",
    .options = groups,
    .options_size = sizeof(struct serve_options),
    .examples = examples,
    .run = run,
};
