/* acp agent - the built-in coding agent, on standard input and output. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/loop/coding_agent.h"
#include "cli/output.h"
#include "cmd/agent_sources.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "config/key_store.h"
#include "config/paths.h"
#include "registry/environment_keys.h"

struct agent_run_options {
    const char *model;
    const char *policy;
    int mode;
    int fetch;
    struct option_number max_requests;
    struct option_number stall_timeout;
    bool demo;
    bool unstable;
    bool no_log;
    struct option_number idle;
    bool no_titles;
    struct option_number max_prompt;
    struct option_number max_sessions;
};

/* Somebody who has not come back by then will not mind the moment it takes to read a log. */
enum { IDLE_MS_DEFAULT = 10 * 60 * 1000 };

static const char *const mode_names[] = {"safe", "read-only", "sandbox", "full", NULL};
static const enum acp_policy_mode modes[] = {ACP_POLICY_SAFE, ACP_POLICY_READ_ONLY,
                                             ACP_POLICY_SANDBOX, ACP_POLICY_FULL};

static const char *const fetch_names[] = {"off", "public", "any", NULL};
static const enum coding_agent_fetch fetches[] = {CODING_AGENT_FETCH_OFF, CODING_AGENT_FETCH_PUBLIC,
                                                  CODING_AGENT_FETCH_ANY};

/* What the configuration says, which has checked that it is one of the words. */
static enum coding_agent_fetch configured_fetch(const struct config *config)
{
    const char *word = config_text(config, CONFIG_FETCH);
    for (size_t i = 0; fetch_names[i]; i++)
        if (strcmp(word, fetch_names[i]) == 0)
            return fetches[i];
    return CODING_AGENT_FETCH_OFF;
}

/* Where its own sessions are: those of `acp exec` and `acp prompt` are the client's. */
static const char *store_path(struct conversation_setup *c)
{
    const char *data = paths_data_dir(config_environment(c->config), &c->arena);
    return data ? paths_join(&c->arena, data, "agent.db") : NULL;
}

/* Where npx is started for MCP servers; the same as for agents. */
static const char *launch_folder(struct conversation_setup *c)
{
    const char *state = paths_state_dir(config_environment(c->config), &c->arena);
    return state ? paths_join(&c->arena, state, "launch") : NULL;
}

/* For coding_agent_options.forget_keys. */
static int forget_keys(void *user)
{
    struct conversation_setup *c = user;
    struct acp_buf why;
    const char *folder = key_store_folder(c->config, &c->arena);
    acp_buf_init(&why, CONFIG_MAX_REPORT);
    int err = folder ? key_store_remove_all(c->config, folder, &why) : 0;
    err_text(acp_buf_view(&why));
    acp_buf_finish(&why);
    return err ? ACP_ERR_STATE : 0;
}

/* What the command line says, or else the configuration; 0 where neither does. */
static uint64_t number_of(const struct conversation_setup *c, const struct option_number *given,
                          enum config_id id)
{
    int64_t configured = config_number(c->config, id);
    return given->given ? given->value : configured > 0 ? (uint64_t) configured : 0;
}

/* This very program; NULL if it is not known where it is, and model lists are asked for in here. */
static const char *const *helper_command(struct conversation_setup *c)
{
    char path[PATH_MAX];
    size_t n = sizeof(path);
    if (uv_exepath(path, &n))
        return NULL;
    struct acp_str program = acp_arena_copy(&c->arena, acp_str_n(path, n));
    const char **argv = acp_arena_alloc(&c->arena, 3 * sizeof(*argv));
    if (!program.ptr || !argv)
        return NULL;
    argv[0] = program.ptr;
    argv[1] = command_fetch.name;
    argv[2] = NULL;
    return argv;
}

static int run(const struct invocation *invocation)
{
    static const struct agent_flags nothing;
    const struct agent_run_options *options = invocation->options;
    struct conversation_flags permissions = {.policy = options->policy};
    struct conversation_setup c;
    int status = conversation_setup_configure(&c, &nothing);
    if (!status)
        status = conversation_setup_make_rules(&c, &permissions);
    if (status) {
        conversation_setup_finish(&c);
        return status;
    }
    struct coding_agent_options agent = {
        .version = ACP_VERSION,
        .sources = {.environment = keys_environment()},
        .model = options->model ? options->model : config_text(c.config, CONFIG_MODEL),
        .model_is_general = !options->model,
        .demo = options->demo,
        .unstable = options->unstable,
        .fetch = options->fetch ? fetches[options->fetch - 1] : configured_fetch(c.config),
        .max_requests = number_of(&c, &options->max_requests, CONFIG_MAX_REQUESTS),
        .stall_ms = number_of(&c, &options->stall_timeout, CONFIG_STALL_TIMEOUT),
        .mode = options->mode ? modes[options->mode - 1]
                              : acp_policy_get_mode(c.policies[PERMIT_READS]),
        .policy = c.policies[PERMIT_READS],
        .ledger = c.ledger,
        .ledger_path = c.conversation.ledger_path,
        .launch_folder = launch_folder(&c),
        .store_path = options->no_log ? NULL : store_path(&c),
        .idle_ms = options->idle.given ? options->idle.value : (uint64_t) IDLE_MS_DEFAULT,
        .no_titles = options->no_titles || !config_bool(c.config, CONFIG_AGENT_TITLES),
        .max_prompt = number_of(&c, &options->max_prompt, CONFIG_AGENT_MAX_PROMPT),
        .max_sessions = number_of(&c, &options->max_sessions, CONFIG_AGENT_MAX_SESSIONS),
        .http_helper = helper_command(&c),
    };
    agent_read_providers(&c, &agent.sources);
    agent.read_keys = agent_read_keys;
    agent.forget_keys = forget_keys;
    agent.keys_user = &c;
    (void) agent_read_keys(&c, &c.arena, &agent.sources); /* without memory there are none */
    struct model_table facts = agent_read_facts(&c);
    agent.facts = &facts;
    keys_protect(); /* also from keys that the client sets later */
    if (isatty(STDIN_FILENO))
        err_message("this waits for an editor that speaks the protocol; people use acp exec and "
                    "acp prompt");
    status = coding_agent_run(&agent) ? EXIT_FAILED : EXIT_OK;
    conversation_setup_finish(&c);
    return status;
}

static const struct option rows[] = {
    {.heading = "Agent",
     .name = "model",
     .letter = 'm',
     .argument = "MODEL",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct agent_run_options, model),
     .help =
         "the model that sessions begin with: _PROVIDER/MODEL_, or its name alone where only one "
         "provider has it"},
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
    {.name = "fetch",
     .argument = "WHAT",
     .kind = OPTION_CHOICE,
     .choices = fetch_names,
     .offset = offsetof(struct agent_run_options, fetch),
     .help = "let the model fetch web pages: *public* ones, or *any*, also of this machine and the "
             "networks around it"},
    {.name = "policy",
     .alias = "permission-policy",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct agent_run_options, policy),
     .help = "decide by the rules in _FILE_"},
    {.name = "unstable",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, unstable),
     .help = "offer what the protocol has not settled yet, such as forking a session and setting "
             "where the model is asked"},
    {.name = "no-log",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, no_log),
     .help = "keep no sessions"},
    {.name = "idle",
     .argument = "SECONDS",
     .kind = OPTION_DURATION,
     .offset = offsetof(struct agent_run_options, idle),
     .help = "let a session leave memory that was not used for so long, until it is; 0: never"},
    {.name = "no-titles",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, no_titles),
     .environment = "ACP_AGENT_TITLES",
     .help = "do not ask the model for titles of sessions"},
    {.heading = "Limits",
     .name = "max-prompt",
     .argument = "BYTES",
     .kind = OPTION_NUMBER,
     .min = 1,
     .max = UINT64_C(1000000000),
     .offset = offsetof(struct agent_run_options, max_prompt),
     .environment = "ACP_AGENT_MAX_PROMPT",
     .help = "refuse prompts that are longer (16 MiB)"},
    {.name = "max-sessions",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .max = UINT64_C(1000000),
     .offset = offsetof(struct agent_run_options, max_sessions),
     .environment = "ACP_AGENT_MAX_SESSIONS",
     .help = "have at most _COUNT_ sessions open (1000)"},
    {.name = "max-requests",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .offset = offsetof(struct agent_run_options, max_requests),
     .help = "ask the model at most so often in one turn"},
    {.name = "stall-timeout",
     .argument = "SECONDS",
     .kind = OPTION_DURATION,
     .min = 1,
     .offset = offsetof(struct agent_run_options, stall_timeout),
     .help = "give an answer up when the model was silent for so long"},
    {0},
};

static const struct option_group groups[] = {{rows, 0}, {0}};

static const struct example examples[] = {
    {"acp exec --agent 'acp agent --demo' \"list the files\"", "has it do something, offline"},
    {0},
};

static const struct command *const subcommands[] = {
    &command_agent_login,
    &command_agent_logout,
    NULL,
};

const struct command command_agent = {
    .name = "agent",
    .summary = "be a coding agent, for an editor or for acp itself",
    .description =
        "Speaks the protocol on the standard input and output, as an agent. All providers that "
        "have a key can be asked, in the environment (*ANTHROPIC_API_KEY*, *OPENAI_API_KEY*, "
        "*GEMINI_API_KEY* and others) or stored by *acp agent login*; their models are named "
        "_PROVIDER/MODEL_. Where no model is named, it is that of the first provider with a key, "
        "or one on this machine (Ollama, llama.cpp, LM Studio, vLLM), or, where there is none, an "
        "offline demonstration that follows plain requests by rules.",
    .options = groups,
    .options_size = sizeof(struct agent_run_options),
    .subcommands = subcommands,
    .examples = examples,
    .run = run,
};
