/* acp agent - the built-in coding agent, on standard input and output. */
#include <stdio.h>

#include "agent/coder.h"
#include "cmd/cmd.h"
#include "cmd/conversation.h"
#include "cmd/places.h"

struct agent_run_options {
    const char *model;
    const char *policy;
    int mode;
    bool demo;
    bool unstable;
    bool no_log;
    struct option_number idle;
};

/* Somebody who has not come back by then will not mind the moment it takes to read a log. */
enum { IDLE_MS_DEFAULT = 10 * 60 * 1000 };

static const char *const mode_names[] = {"safe", "read-only", "sandbox", "full", NULL};
static const enum acp_policy_mode modes[] = {ACP_POLICY_SAFE, ACP_POLICY_READ_ONLY,
                                             ACP_POLICY_SANDBOX, ACP_POLICY_FULL};

/* Where its own sessions are: those of `acp exec` and `acp prompt` are the client's. */
static const char *store_path(struct conversation *c)
{
    const char *data = places_data_dir(config_environment(c->config), &c->arena);
    return data ? places_join(&c->arena, data, "agent.db") : NULL;
}

static int run(const struct invocation *invocation)
{
    static const struct agent_options nothing;
    const struct agent_run_options *options = invocation->options;
    struct conversation_options permissions = {.policy = options->policy};
    struct conversation c;
    int status = conversation_configure(&c, &nothing);
    if (!status)
        status = conversation_make_rules(&c, &permissions);
    if (status) {
        conversation_finish(&c);
        return status;
    }
    struct coder_options coder = {
        .version = ACP_VERSION,
        .environment = config_environment(c.config),
        .model = options->model ? options->model : config_text(c.config, CONFIG_MODEL),
        .demo = options->demo,
        .unstable = options->unstable,
        .mode =
            options->mode ? modes[options->mode - 1] : acp_policy_mode(c.policies[PERMIT_READS]),
        .policy = c.policies[PERMIT_READS],
        .ledger = c.ledger,
        .ledger_path = c.talk.ledger_path,
        .store_path = options->no_log ? NULL : store_path(&c),
        .idle_ms = options->idle.given ? options->idle.value : (uint64_t) IDLE_MS_DEFAULT,
    };
    status = coder_run(&coder) ? EXIT_FAILED : EXIT_OK;
    conversation_finish(&c);
    return status;
}

static const struct option rows[] = {
    {.heading = "Agent",
     .name = "model",
     .argument = "ID",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct agent_run_options, model),
     .help = "the model to ask, of the service that is found"},
    {.name = "demo",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, demo),
     .help = "use the offline demonstration, which follows plain requests by rules"},
    {.name = "mode",
     .argument = "MODE",
     .kind = OPTION_CHOICE,
     .choices = mode_names,
     .offset = offsetof(struct agent_run_options, mode),
     .help = "the mode in which sessions begin"},
    {.name = "policy",
     .alias = "permission-policy",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct agent_run_options, policy),
     .help = "decide by the rules in _FILE_"},
    {.name = "unstable",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, unstable),
     .help = "offer what the protocol has not settled yet, such as forking a session"},
    {.name = "no-log",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, no_log),
     .help = "keep no sessions"},
    {.name = "idle",
     .argument = "SECONDS",
     .kind = OPTION_DURATION,
     .offset = offsetof(struct agent_run_options, idle),
     .help = "let a session leave memory that was not used for so long, until it is; 0: never"},
    {0},
};

static const struct option_group groups[] = {{rows, 0}, {0}};

static const struct example examples[] = {
    {"acp exec --agent 'acp agent --demo' \"list the files\"", "has it do something, offline"},
    {0},
};

const struct command command_agent = {
    .name = "agent",
    .summary = "be a coding agent, for an editor or for acp itself",
    .description =
        "Speaks the protocol on the standard input and output, as an agent. The model is the one "
        "that a key in the environment belongs to (*ANTHROPIC_API_KEY*, *OPENAI_API_KEY*, "
        "*GEMINI_API_KEY* and others), or one on this machine (Ollama, llama.cpp, LM Studio), or, "
        "where there is none, an offline demonstration that follows plain requests by rules.",
    .options = groups,
    .options_size = sizeof(struct agent_run_options),
    .examples = examples,
    .run = run,
};
