/* config_keys.c - the table of keys, for reading, `acp config`, acp-config(5) and ACP_.... */
#include "config/config_internal.h"

static const struct config_key keys[] = {
    [CONFIG_DEFAULT_AGENT] = {.name = "default_agent",
                              .type = CONFIG_TYPE_TEXT,
                              .project = CONFIG_PROJECT_TRUSTED,
                              .environment = "ACP_AGENT",
                              .help = "The agent to use if none is named.",
                              .example = "\"claude\""},
    [CONFIG_AGENT_SERVERS] =
        {.name = "agent_servers",
         .type = CONFIG_TYPE_AGENTS,
         .project = CONFIG_PROJECT_TRUSTED,
         .help = "Your agents by name, in the format of editors: *command*, *args* and *env*; "
                 "optionally *default_model*, *default_mode* and *auth_method*. An entry without "
                 "*command* changes the known agent of that name.",
         .example = "{\n"
                    "    // \"mine\": {\"command\": \"~/bin/my-agent\", \"args\": [\"--acp\"], "
                    "\"env\": {\"KEY\": \"value\"}},\n"
                    "  }"},
    [CONFIG_REGISTRY] =
        {.name = "registry",
         .type = CONFIG_TYPE_PATH,
         .project = CONFIG_PROJECT_TRUSTED,
         .environment = "ACP_REGISTRY",
         .help = "A copy of the public agent registry (registry.json), used for names that are "
                 "neither configured nor built in. It is never downloaded.",
         .example = "\"~/registry.json\""},
    [CONFIG_MODEL] = {.name = "model",
                      .type = CONFIG_TYPE_TEXT,
                      .project = CONFIG_PROJECT_FREE,
                      .environment = "ACP_MODEL",
                      .help =
                          "The model for agents that have no *default_model* in *agent_servers*.",
                      .example = "\"name-of-a-model\""},
    [CONFIG_MODE] = {.name = "mode",
                     .type = CONFIG_TYPE_TEXT,
                     .project = CONFIG_PROJECT_TRUSTED,
                     .environment = "ACP_MODE",
                     .help =
                         "The initial mode of sessions, for agents that have no *default_mode* in "
                         "*agent_servers*.",
                     .example = "\"plan\""},
    [CONFIG_FETCH] =
        {.name = "fetch",
         .type = CONFIG_TYPE_CHOICE,
         .project = CONFIG_PROJECT_TRUSTED,
         .fallback = "off",
         .choices = "off|public|any",
         .environment = "ACP_FETCH",
         .help = "Whether the model of *acp agent* may fetch web pages: *public* allows the public "
                 "internet, *any* also this machine and private networks."},
    [CONFIG_MAX_REQUESTS] =
        {.name = "max_requests",
         .type = CONFIG_TYPE_NUMBER,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "100",
         .environment = "ACP_MAX_REQUESTS",
         .help = "The maximum number of model calls per turn of *acp agent*; the turn then ends."},
    [CONFIG_STALL_TIMEOUT] =
        {.name = "stall_timeout",
         .type = CONFIG_TYPE_DURATION,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "300",
         .environment = "ACP_STALL_TIMEOUT",
         .help = "The time without data after which *acp agent* fails a model call."},
    [CONFIG_ENV] =
        {.name = "env",
         .type = CONFIG_TYPE_ENV,
         .project = CONFIG_PROJECT_TRUSTED,
         .help = "Variables added to the environment of every agent. Values are not expanded.",
         .example = "{}"},
    [CONFIG_MCP_SERVERS] =
        {.name = "mcp_servers",
         .aliases = "mcpServers context_servers",
         .type = CONFIG_TYPE_MCP,
         .project = CONFIG_PROJECT_TRUSTED,
         .help = "MCP servers for every session by name, in the format of editors: *command*, "
                 "*args* and *env*, or *url*, *headers* and *type* (*http* or *sse*).",
         .example = "{\n"
                    "    // \"files\": {\"command\": \"mcp-files\", \"args\": [\"--read-only\"]},\n"
                    "    // \"web\": {\"url\": \"https://mcp.example/\", \"headers\": {\"X-Key\": "
                    "\"value\"}},\n"
                    "  }"},
    [CONFIG_APPROVE] =
        {.name = "approve",
         .type = CONFIG_TYPE_CHOICE,
         .project = CONFIG_PROJECT_STRICTER,
         .fallback = "reads",
         .choices = "deny|ask|reads|all",
         .environment = "ACP_APPROVE",
         .help = "What to do when an agent requests a permission that no rule decides: *deny* "
                 "it, *ask* you, allow *reads* and searches and ask about everything else, or "
                 "allow *all*."},
    [CONFIG_NON_INTERACTIVE] =
        {.name = "non_interactive_permissions",
         .type = CONFIG_TYPE_CHOICE,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "deny",
         .choices = "fail|deny",
         .environment = "ACP_NON_INTERACTIVE_PERMISSIONS",
         .help = "What to do when you should be asked and there is no terminal: *deny* the "
                 "permission and continue, or *fail*: exit with status 5 after the turn."},
    [CONFIG_PERMISSIONS] =
        {.name = "permissions",
         .type = CONFIG_TYPE_POLICY,
         .project = CONFIG_PROJECT_STRICTER,
         .help = "Permission rules: *mode* is *safe*, *read-only*, *sandbox* or *full*; *rules* is "
                 "a list of objects with *verdict* (*allow*, *ask* or *deny*) and the conditions "
                 "*kinds*, *path*, *command* and *tool*. A deny rule cannot be overridden. An "
                 "allow rule does not apply to a command for which the agent sets environment "
                 "variables or another directory; see PERMISSIONS in *acp-exec*(1).",
         .example = "{\n"
                    "    \"mode\": \"safe\",\n"
                    "    \"rules\": [\n"
                    "      // {\"verdict\": \"deny\", \"path\": \"**/.env\"},\n"
                    "      // {\"verdict\": \"allow\", \"command\": \"make*\"},\n"
                    "    ],\n"
                    "  }"},
    [CONFIG_FORMAT] =
        {.name = "format",
         .type = CONFIG_TYPE_CHOICE,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "text",
         .choices = "text|json|quiet",
         .environment = "ACP_FORMAT",
         .help = "The output format: *text* for people, *json* with one event per line, *quiet* "
                 "for only the final answer."},
    [CONFIG_TIMEOUT] =
        {.name = "timeout",
         .type = CONFIG_TYPE_DURATION,
         .project = CONFIG_PROJECT_FREE,
         .environment = "ACP_TIMEOUT",
         .help = "The time limit of a turn: seconds, or a string such as \"90s\", \"5m\" or "
                 "\"2h\". 0, the default, means no limit.",
         .example = "\"30m\""},
    [CONFIG_START_TIMEOUT] =
        {.name = "start_timeout",
         .type = CONFIG_TYPE_DURATION,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "120",
         .environment = "ACP_START_TIMEOUT",
         .help = "The time limit for the first response of an agent, including a download by npx "
                 "or uvx."},
    [CONFIG_TTL] =
        {.name = "ttl",
         .type = CONFIG_TYPE_DURATION,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "300",
         .environment = "ACP_TTL",
         .help = "How long *acp prompt* keeps an agent running after the last prompt. 0 means no "
                 "limit."},
    [CONFIG_QUEUE] = {.name = "queue",
                      .type = CONFIG_TYPE_NUMBER,
                      .project = CONFIG_PROJECT_FREE,
                      .fallback = "16",
                      .environment = "ACP_QUEUE",
                      .help = "The maximum number of queued prompts of a session."},
    [CONFIG_PROTOCOL] =
        {.name = "protocol",
         .type = CONFIG_TYPE_NUMBER,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "1",
         .choices = "1|2",
         .environment = "ACP_PROTOCOL",
         .help = "The protocol version to offer. An agent that does not support it answers with "
                 "the version that it does."},
    [CONFIG_LOG_ENABLED] = {.name = "log.enabled",
                            .type = CONFIG_TYPE_BOOL,
                            .project = CONFIG_PROJECT_TRUSTED,
                            .fallback = "true",
                            .environment = "ACP_LOG",
                            .help = "Whether sessions are logged."},
    [CONFIG_LOG_PATH] = {.name = "log.path",
                         .type = CONFIG_TYPE_PATH,
                         .project = CONFIG_PROJECT_TRUSTED,
                         .environment = "ACP_LOG_PATH",
                         .help = "The file of the session log, in place of the default.",
                         .example = "\"~/sessions.db\""},
    [CONFIG_LOG_SYNC] =
        {.name = "log.sync",
         .type = CONFIG_TYPE_BOOL,
         .project = CONFIG_PROJECT_TRUSTED,
         .fallback = "false",
         .environment = "ACP_LOG_SYNC",
         .help = "Whether each write to the log waits for the disk, so that a power failure loses "
                 "no event that was shown. Without it, a crash of *acp* or of the agent loses "
                 "nothing, but a power failure may lose the last events."},
    [CONFIG_AGENT_TITLES] =
        {.name = "agent.titles",
         .type = CONFIG_TYPE_BOOL,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "true",
         .environment = "ACP_AGENT_TITLES",
         .help = "Whether *acp agent* asks its model for a session title after the first turn. "
                 "Otherwise the title is the beginning of the first prompt."},
    [CONFIG_AGENT_MAX_PROMPT] =
        {.name = "agent.max_prompt",
         .type = CONFIG_TYPE_NUMBER,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "16777216",
         .environment = "ACP_AGENT_MAX_PROMPT",
         .help = "The maximum size of a prompt to *acp agent* in bytes; a larger one is refused "
                 "with error -32602."},
    [CONFIG_AGENT_MAX_SESSIONS] =
        {.name = "agent.max_sessions",
         .type = CONFIG_TYPE_NUMBER,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "1000",
         .environment = "ACP_AGENT_MAX_SESSIONS",
         .help = "The maximum number of open sessions of *acp agent*; further ones are refused "
                 "with error -32603."},
    [CONFIG_AGENT_PRICES] =
        {.name = "agent.prices",
         .type = CONFIG_TYPE_PRICES,
         .project = CONFIG_PROJECT_FREE,
         .help = "Prices of models, by name or by a prefix followed by an asterisk: *input*, "
                 "*output*, *cache_read* and *cache_write*, in US dollars per million tokens. "
                 "They override the built-in prices and those listed by the provider.",
         .example = "{\n"
                    "      // \"my-model*\": {\"input\": 3, \"output\": 15, \"cache_read\": 0.3},\n"
                    "    }"},
    [CONFIG_MODELS] =
        {.name = "models",
         .type = CONFIG_TYPE_MODELS,
         .project = CONFIG_PROJECT_FREE,
         .help =
             "Facts about models, by *provider/model* or by the name of the model; an asterisk at "
             "the end matches any suffix. Each may have: *context* and *output*, in tokens; "
             "*price*, an object with *input*, *output*, *cache_read* and *cache_write* in US "
             "dollars per million tokens; *thinking* (none, budget, adaptive, effort); *efforts*, "
             "a list; *can* and *cannot*, lists of images, audio, pdf, tools, parallel_tools, "
             "caching. They override the facts listed by the provider, which override the built-in "
             "ones.",
         .example = "{\n"
                    "    // \"ollama/my-model*\": {\"context\": 32768, \"can\": [\"images\"]},\n"
                    "  }"},
    [CONFIG_PROVIDERS] =
        {.name = "providers",
         .type = CONFIG_TYPE_PROVIDERS,
         .project = CONFIG_PROJECT_TRUSTED,
         .help = "Model providers for *acp agent* by name; the name of a built-in provider changes "
                 "that provider. Each may have: *base_url*; *api* (anthropic, openai-chat, "
                 "openai-responses or gemini; default openai-chat); *key_env*, the variable that "
                 "holds the key, used in addition to a key stored by *acp agent login*; *model*, "
                 "the default model; *title*; *headers*. An untrusted project cannot decide where "
                 "keys are sent.",
         .example = "{\n"
                    "    // \"work\": {\"base_url\": \"https://llm.example.com/v1\", "
                    "\"key_env\": \"WORK_LLM_KEY\"},\n"
                    "  }"},
};

_Static_assert(sizeof(keys) / sizeof(keys[0]) == CONFIG_COUNT, "one row per key");

const struct config_key *config_key(enum config_id id)
{
    return &keys[id];
}

bool config_word_in(const char *words, char separator, struct acp_str word, size_t *ret_index)
{
    for (size_t i = 0; words; i++) {
        const char *end = strchr(words, separator);
        size_t n = end ? (size_t) (end - words) : strlen(words);
        if (acp_str_eq(word, acp_str_n(words, n))) {
            if (ret_index)
                *ret_index = i;
            return true;
        }
        words = end ? end + 1 : NULL;
    }
    return false;
}

enum config_id config_find_key(struct acp_str name)
{
    for (int i = 0; i < CONFIG_COUNT; i++)
        if (acp_str_is(name, keys[i].name) || config_word_in(keys[i].aliases, ' ', name, NULL))
            return (enum config_id) i;
    return CONFIG_COUNT;
}
