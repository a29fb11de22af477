/* The table of keys.  Reading, `acp config show` and `init`, acp-config(5) and ACP_... walk it. */
#include "config/config_internal.h"

static const struct config_key keys[] = {
    [CONFIG_DEFAULT_AGENT] = {.name = "default_agent",
                              .type = CONFIG_TYPE_TEXT,
                              .project = CONFIG_PROJECT_TRUSTED,
                              .environment = "ACP_AGENT",
                              .help = "The agent that is used where none is named.",
                              .example = "\"claude\""},
    [CONFIG_AGENT_SERVERS] =
        {.name = "agent_servers",
         .type = CONFIG_TYPE_AGENTS,
         .project = CONFIG_PROJECT_TRUSTED,
         .help = "Agents of your own, by name, as editors have them: *command*, *args* and *env*; "
                 "*default_model*, *default_mode* and *auth_method* where they are wanted. An "
                 "entry without *command* changes the known agent of that name.",
         .example = "{\n"
                    "    // \"mine\": {\"command\": \"~/bin/my-agent\", \"args\": [\"--acp\"], "
                    "\"env\": {\"KEY\": \"value\"}},\n"
                    "  }"},
    [CONFIG_REGISTRY] =
        {.name = "registry",
         .type = CONFIG_TYPE_PATH,
         .project = CONFIG_PROJECT_TRUSTED,
         .environment = "ACP_REGISTRY",
         .help = "A copy of the public agent registry (registry.json). It is read for names that "
                 "are neither yours nor built in, and never downloaded.",
         .example = "\"~/registry.json\""},
    [CONFIG_MODEL] =
        {.name = "model",
         .type = CONFIG_TYPE_TEXT,
         .project = CONFIG_PROJECT_FREE,
         .environment = "ACP_MODEL",
         .help = "The model that an agent is asked to use, where the agent has no model of its own "
                 "in *agent_servers*.",
         .example = "\"name-of-a-model\""},
    [CONFIG_MODE] =
        {.name = "mode",
         .type = CONFIG_TYPE_TEXT,
         .project = CONFIG_PROJECT_TRUSTED,
         .environment = "ACP_MODE",
         .help = "The mode that a session starts in, where the agent has none of its own in "
                 "*agent_servers*.",
         .example = "\"plan\""},
    [CONFIG_FETCH] =
        {.name = "fetch",
         .type = CONFIG_TYPE_CHOICE,
         .project = CONFIG_PROJECT_TRUSTED,
         .fallback = "off",
         .choices = "off|public|any",
         .environment = "ACP_FETCH",
         .help =
             "Whether the model of *acp agent* may fetch web pages: *public* those of the public "
             "internet, *any* also those of this machine and of the networks around it."},
    [CONFIG_MAX_REQUESTS] =
        {.name = "max_requests",
         .type = CONFIG_TYPE_NUMBER,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "100",
         .environment = "ACP_MAX_REQUESTS",
         .help = "How often *acp agent* may ask its model in one turn; then the turn ends."},
    [CONFIG_STALL_TIMEOUT] =
        {.name = "stall_timeout",
         .type = CONFIG_TYPE_DURATION,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "300",
         .environment = "ACP_STALL_TIMEOUT",
         .help = "How long the model of *acp agent* may be silent before its answer is given up."},
    [CONFIG_ENV] =
        {.name = "env",
         .type = CONFIG_TYPE_ENV,
         .project = CONFIG_PROJECT_TRUSTED,
         .help = "Variables that are added to the environment of every agent. They are taken as "
                 "they stand.",
         .example = "{}"},
    [CONFIG_MCP_SERVERS] =
        {.name = "mcp_servers",
         .aliases = "mcpServers context_servers",
         .type = CONFIG_TYPE_MCP,
         .project = CONFIG_PROJECT_TRUSTED,
         .help = "MCP servers that every session is given, by name, as editors have them: "
                 "*command*, *args* and *env*, or *url*, *headers* and *type* (*http* or *sse*).",
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
         .help = "What happens when an agent asks for permission and no rule decides: *deny* "
                 "refuses, *ask* asks you, *reads* allows reading and searching and asks for the "
                 "rest, *all* allows."},
    [CONFIG_NON_INTERACTIVE] =
        {.name = "non_interactive_permissions",
         .type = CONFIG_TYPE_CHOICE,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "deny",
         .choices = "fail|deny",
         .environment = "ACP_NON_INTERACTIVE_PERMISSIONS",
         .help = "What happens when you should be asked and there is no terminal: *deny* refuses "
                 "and goes on, *fail* ends the turn."},
    [CONFIG_PERMISSIONS] =
        {.name = "permissions",
         .type = CONFIG_TYPE_POLICY,
         .project = CONFIG_PROJECT_STRICTER,
         .help = "Permission rules: *mode* is *safe*, *read-only*, *sandbox* or *full*; *rules* is "
                 "a list of objects with *verdict* (*allow*, *ask* or *deny*) and the conditions "
                 "*kinds*, *path*, *command* and *tool*. A deny rule cannot be overruled. An allow "
                 "rule for a command does not apply when the agent sets variables or another "
                 "directory for it; see PERMISSIONS in *acp-exec*(1).",
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
         .help = "How answers are printed: *text* for people, *json* with one event a line, "
                 "*quiet* for the last answer alone."},
    [CONFIG_TIMEOUT] =
        {.name = "timeout",
         .type = CONFIG_TYPE_DURATION,
         .project = CONFIG_PROJECT_FREE,
         .environment = "ACP_TIMEOUT",
         .help = "How long a turn may take: seconds, or a text such as \"90s\", \"5m\", \"2h\". 0, "
                 "or nothing: as long as it takes.",
         .example = "\"30m\""},
    [CONFIG_START_TIMEOUT] =
        {.name = "start_timeout",
         .type = CONFIG_TYPE_DURATION,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "120",
         .environment = "ACP_START_TIMEOUT",
         .help = "How long an agent may take to answer for the first time. Those that npx or uvx "
                 "fetch need it."},
    [CONFIG_TTL] =
        {.name = "ttl",
         .type = CONFIG_TYPE_DURATION,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "300",
         .environment = "ACP_TTL",
         .help = "How long *acp prompt* keeps an agent running after the last prompt. 0: for "
                 "ever."},
    [CONFIG_QUEUE] = {.name = "queue",
                      .type = CONFIG_TYPE_NUMBER,
                      .project = CONFIG_PROJECT_FREE,
                      .fallback = "16",
                      .environment = "ACP_QUEUE",
                      .help = "How many prompts may wait behind the one that runs."},
    [CONFIG_PROTOCOL] =
        {.name = "protocol",
         .type = CONFIG_TYPE_NUMBER,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "1",
         .choices = "1|2",
         .environment = "ACP_PROTOCOL",
         .help = "The version of the protocol that is asked for. Agents that do not know it answer "
                 "with the one they know."},
    [CONFIG_LOG_ENABLED] = {.name = "log.enabled",
                            .type = CONFIG_TYPE_BOOL,
                            .project = CONFIG_PROJECT_TRUSTED,
                            .fallback = "true",
                            .environment = "ACP_LOG",
                            .help = "Whether sessions are kept in the log."},
    [CONFIG_LOG_PATH] = {.name = "log.path",
                         .type = CONFIG_TYPE_PATH,
                         .project = CONFIG_PROJECT_TRUSTED,
                         .environment = "ACP_LOG_PATH",
                         .help = "The log's file, where it shall not be in the usual place.",
                         .example = "\"~/sessions.db\""},
    [CONFIG_LOG_SYNC] =
        {.name = "log.sync",
         .type = CONFIG_TYPE_BOOL,
         .project = CONFIG_PROJECT_TRUSTED,
         .fallback = "true",
         .environment = "ACP_LOG_SYNC",
         .help = "Whether the log waits for the disk, so that a power failure loses nothing that "
                 "was shown."},
    [CONFIG_AGENT_TITLES] =
        {.name = "agent.titles",
         .type = CONFIG_TYPE_BOOL,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "true",
         .environment = "ACP_AGENT_TITLES",
         .help = "Whether *acp agent* asks its model for a title when the first turn of a session "
                 "has ended. Without it the first words of the first prompt stay the title."},
    [CONFIG_AGENT_MAX_PROMPT] =
        {.name = "agent.max_prompt",
         .type = CONFIG_TYPE_NUMBER,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "16777216",
         .environment = "ACP_AGENT_MAX_PROMPT",
         .help = "How many bytes a prompt to *acp agent* may have, as it is sent; a longer one is "
                 "refused with the error -32602."},
    [CONFIG_AGENT_MAX_SESSIONS] =
        {.name = "agent.max_sessions",
         .type = CONFIG_TYPE_NUMBER,
         .project = CONFIG_PROJECT_FREE,
         .fallback = "1000",
         .environment = "ACP_AGENT_MAX_SESSIONS",
         .help = "How many sessions *acp agent* has open at a time; one more is refused with the "
                 "error -32603."},
    [CONFIG_AGENT_PRICES] =
        {.name = "agent.prices",
         .type = CONFIG_TYPE_PRICES,
         .project = CONFIG_PROJECT_FREE,
         .help = "What models cost, by their name or its beginning with a star behind: *input*, "
                 "*output*, *cache_read* and *cache_write*, in US dollars for a million tokens. "
                 "They count more than the prices that are built in or that the service lists.",
         .example = "{\n"
                    "      // \"my-model*\": {\"input\": 3, \"output\": 15, \"cache_read\": 0.3},\n"
                    "    }"},
    [CONFIG_MODELS] =
        {.name = "models",
         .type = CONFIG_TYPE_MODELS,
         .project = CONFIG_PROJECT_FREE,
         .help =
             "What you know about models, by *provider/model* or the name of the model alone; a "
             "star at the end stands for any rest. Each has some of: *context* and *output*, in "
             "tokens; *price*, an object with *input*, *output*, *cache_read* and "
             "*cache_write* in US dollars for a million tokens; *thinking* (none, budget, "
             "adaptive, effort); *efforts*, a list; *can* and *cannot*, lists of images, audio, "
             "pdf, tools, parallel_tools, caching. It counts more than what the provider lists, "
             "which counts more than what is built in.",
         .example = "{\n"
                    "    // \"ollama/my-model*\": {\"context\": 32768, \"can\": [\"images\"]},\n"
                    "  }"},
    [CONFIG_PROVIDERS] =
        {.name = "providers",
         .type = CONFIG_TYPE_PROVIDERS,
         .project = CONFIG_PROJECT_TRUSTED,
         .help = "Providers of models for *acp agent*, by a name of your own or by that of a "
                 "provider that is built in, of which it changes what it says. Each has some of: "
                 "*base_url*; *api* (anthropic, openai-chat, openai-responses, gemini; else "
                 "openai-chat); *key_env*, the variable with the key, beside which one that *acp "
                 "agent login* stores is used; *model*, the one that is asked by default; *title*; "
                 "*headers*. A project's file that is not trusted cannot say where keys are sent.",
         .example = "{\n"
                    "    // \"work\": {\"base_url\": \"https://llm.example.com/v1\", "
                    "\"key_env\": \"WORK_LLM_KEY\"},\n"
                    "  }"},
};

_Static_assert(sizeof(keys) / sizeof(keys[0]) == CONFIG_COUNT, "a row for each key");

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
