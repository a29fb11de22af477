/* agent_command.c - acp agent: the built-in coding agent, on standard input and output. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/loop/coding_agent.h"
#include "cli/output.h"
#include "cmd/agent_sources.h"
#include "cmd/cmd.h"
#include "cmd/conversation_setup.h"
#include "cmd/mcp_store.h"
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

/* After this time the delay of reading a session back from the log is acceptable. */
enum { IDLE_MS_DEFAULT = 10 * 60 * 1000 };

static const char *const mode_names[] = {"safe", "read-only", "sandbox", "full", NULL};
static const enum acp_policy_mode modes[] = {ACP_POLICY_SAFE, ACP_POLICY_READ_ONLY,
                                             ACP_POLICY_SANDBOX, ACP_POLICY_FULL};

static const char *const fetch_names[] = {"off", "public", "any", NULL};
static const enum coding_agent_fetch fetches[] = {CODING_AGENT_FETCH_OFF, CODING_AGENT_FETCH_PUBLIC,
                                                  CODING_AGENT_FETCH_ANY};

/* The configured value, which has been validated. */
static enum coding_agent_fetch configured_fetch(const struct config *config)
{
    const char *word = config_text(config, CONFIG_FETCH);
    for (size_t i = 0; fetch_names[i]; i++)
        if (strcmp(word, fetch_names[i]) == 0)
            return fetches[i];
    return CODING_AGENT_FETCH_OFF;
}

/* The agent's own session log; that of `acp exec` and `acp prompt` belongs to the client. */
static const char *store_path(struct conversation_setup *c)
{
    const char *data = paths_data_dir(config_environment(c->config), &c->arena);
    return data ? paths_join(&c->arena, data, "agent.db") : NULL;
}

/* The directory in which npx is started for MCP servers, the same as for agents. */
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

/* The option, else the configured value, else 0. */
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
    struct mcp_token_store tokens = token_store_of(c.config, &c.arena);
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
        .mcp_servers = config_mcp_servers(c.config),
        .mcp_tokens = &tokens,
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
    (void) agent_read_keys(&c, &c.arena, &agent.sources); /* on error there are no stored keys */
    struct model_table facts = agent_read_facts(&c);
    agent.facts = &facts;
    keys_protect(); /* also covers keys that the client sets later */
    if (isatty(STDIN_FILENO))
        err_message("waiting for ACP messages on standard input; for a prompt use 'acp exec' or "
                    "'acp prompt'");
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
         "initial model of sessions: _PROVIDER/MODEL_, or just the name if only one provider has "
         "it"},
    {.name = "demo",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, demo),
     .help = "use the offline demo model, which follows simple requests by rules"},
    {.name = "mode",
     .argument = "MODE",
     .kind = OPTION_CHOICE,
     .choices = mode_names,
     .offset = offsetof(struct agent_run_options, mode),
     .help = "initial mode of sessions"},
    {.name = "fetch",
     .argument = "WHAT",
     .kind = OPTION_CHOICE,
     .choices = fetch_names,
     .offset = offsetof(struct agent_run_options, fetch),
     .help = "let the model fetch web pages: *public* ones, or *any*, which includes this machine "
             "and private networks"},
    {.name = "policy",
     .alias = "permission-policy",
     .argument = "FILE",
     .kind = OPTION_FILE,
     .offset = offsetof(struct agent_run_options, policy),
     .help = "apply the permission rules in _FILE_"},
    {.name = "unstable",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, unstable),
     .help = "enable unstable protocol features, such as forking a session and configuring "
             "providers"},
    {.name = "no-log",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, no_log),
     .help = "do not log sessions"},
    {.name = "idle",
     .argument = "TIME",
     .kind = OPTION_DURATION,
     .offset = offsetof(struct agent_run_options, idle),
     .help = "unload a session that is idle for this time; it is loaded again on use; 0: never"},
    {.name = "no-titles",
     .kind = OPTION_SWITCH,
     .offset = offsetof(struct agent_run_options, no_titles),
     .environment = "ACP_AGENT_TITLES",
     .help = "do not ask the model for session titles"},
    {.heading = "Limits",
     .name = "max-prompt",
     .argument = "BYTES",
     .kind = OPTION_NUMBER,
     .min = 1,
     .max = UINT64_C(1000000000),
     .offset = offsetof(struct agent_run_options, max_prompt),
     .environment = "ACP_AGENT_MAX_PROMPT",
     .help = "maximum size of a prompt (default 16 MiB)"},
    {.name = "max-sessions",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .max = UINT64_C(1000000),
     .offset = offsetof(struct agent_run_options, max_sessions),
     .environment = "ACP_AGENT_MAX_SESSIONS",
     .help = "maximum number of open sessions (default 1000)"},
    {.name = "max-requests",
     .argument = "COUNT",
     .kind = OPTION_NUMBER,
     .min = 1,
     .offset = offsetof(struct agent_run_options, max_requests),
     .help = "maximum number of model calls per turn"},
    {.name = "stall-timeout",
     .argument = "TIME",
     .kind = OPTION_DURATION,
     .min = 1,
     .offset = offsetof(struct agent_run_options, stall_timeout),
     .help = "fail a model call after this time without data"},
    {0},
};

static const struct option_group groups[] = {{rows, 0}, {0}};

static const struct example examples[] = {
    {"acp exec --agent 'acp agent --demo' \"list the files\"", "runs it offline"},
    {0},
};

static const struct command *const subcommands[] = {
    &command_agent_login,
    &command_agent_logout,
    NULL,
};

const struct command command_agent = {
    .name = "agent",
    .summary = "run the built-in coding agent",
    .description =
        "Runs an agent that speaks ACP on standard input and output, for an editor or for *acp* "
        "itself. It can use every provider that has a key, either in the environment "
        "(*ANTHROPIC_API_KEY*, *OPENAI_API_KEY*, *GEMINI_API_KEY* and others) or stored by *acp "
        "agent login*. Models are named _PROVIDER/MODEL_. The default is the model of the first "
        "provider with a key, else a model server on this machine (Ollama, llama.cpp, LM Studio, "
        "vLLM), else the offline demo model, which follows simple requests by rules.",
    .options = groups,
    .options_size = sizeof(struct agent_run_options),
    .subcommands = subcommands,
    .examples = examples,
    .run = run,
};
