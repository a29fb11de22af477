/*
 * known_agents.c - the table of known agents.  Names and commands are those of acpx, so that its
 * users can switch; the rest comes from the documentation of the agents.
 */
#include "config/config_internal.h"
#include "registry/agents.h"

/*
 * The API keys used by agents that support several providers.  Tokens that other programs also need
 * (GITHUB_TOKEN, HF_TOKEN, AWS_SECRET_ACCESS_KEY) are in no list; every process inherits them.
 */
#define PROVIDER_KEYS                                                                              \
    "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN OPENAI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY "         \
    "GOOGLE_GENERATIVE_AI_API_KEY OPENROUTER_API_KEY GROQ_API_KEY MISTRAL_API_KEY "                \
    "DEEPSEEK_API_KEY XAI_API_KEY CEREBRAS_API_KEY TOGETHER_API_KEY FIREWORKS_API_KEY "            \
    "MOONSHOT_API_KEY DASHSCOPE_API_KEY ZAI_API_KEY ZHIPU_API_KEY MINIMAX_API_KEY "                \
    "PERPLEXITY_API_KEY COHERE_API_KEY NVIDIA_API_KEY AZURE_API_KEY AZURE_OPENAI_API_KEY "         \
    "AI_GATEWAY_API_KEY LITELLM_API_KEY AWS_BEARER_TOKEN_BEDROCK"

static const struct agent_known table[] = {
    {.name = AGENTS_OWN_NAME,
     .title = "the built-in agent",
     .command = "acp agent",
     .login = "run `acp agent login PROVIDER`, or set a key such as ANTHROPIC_API_KEY"},
    {.name = "claude",
     .title = "Claude Code",
     .aliases = "claude-acp claude-agent claude-agent-acp claude-code claude-code-acp",
     .keys = "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN "
             "ANTHROPIC_FOUNDRY_API_KEY AWS_BEARER_TOKEN_BEDROCK",
     .command = "claude-agent-acp",
     .fetched = "npx -y @agentclientprotocol/claude-agent-acp@0.70.0",
     .install = "npm install -g @agentclientprotocol/claude-agent-acp",
     .login = "run `claude` once and log in, or set ANTHROPIC_API_KEY",
     .addresses = "ANTHROPIC_BASE_URL",
     .state = "~/.claude ~/.claude.json",
     .credentials = "~/.claude/.credentials.json"},
    {.name = "codex",
     .title = "Codex",
     .aliases = "codex-acp codex-cli",
     .keys = "OPENAI_API_KEY CODEX_API_KEY AZURE_OPENAI_API_KEY OPENROUTER_API_KEY",
     .command = "codex-acp",
     .fetched = "npx -y @agentclientprotocol/codex-acp@1.6.0",
     .install = "npm install -g @agentclientprotocol/codex-acp",
     .login = "run `codex login`, or set OPENAI_API_KEY",
     .addresses = "OPENAI_BASE_URL",
     .state = "~/.codex",
     .credentials = "~/.codex/auth.json"},
    {.name = "gemini",
     .title = "Gemini CLI",
     .aliases = "gemini-cli",
     .keys = "GEMINI_API_KEY GOOGLE_API_KEY",
     .command = "gemini --acp",
     .fetched = "npx -y @google/gemini-cli@0.56.0 --acp",
     .install = "npm install -g @google/gemini-cli",
     .login = "run `gemini` once and log in, or set GEMINI_API_KEY",
     .addresses = "GOOGLE_GEMINI_BASE_URL",
     .state = "~/.gemini",
     .credentials = "~/.gemini/oauth_creds.json",
     /* 0.61: its SDK rejects with plain objects, so its check for "not found" never matches. */
     .quirks = AGENT_NO_FILES},
    {.name = "opencode",
     .title = "OpenCode",
     .keys = PROVIDER_KEYS " OPENCODE_API_KEY",
     .command = "opencode acp",
     .fetched = "npx -y opencode-ai@1.18.18 acp",
     .install = "npm install -g opencode-ai",
     .login = "run `opencode auth login`",
     .state = "~/.config/opencode ~/.local/share/opencode",
     .credentials = "~/.local/share/opencode/auth.json"},
    {.name = "qwen",
     .title = "Qwen Code",
     .aliases = "qwen-code",
     .keys = "OPENAI_API_KEY DASHSCOPE_API_KEY BAILIAN_CODING_PLAN_API_KEY ANTHROPIC_API_KEY "
             "GEMINI_API_KEY GOOGLE_API_KEY OPENROUTER_API_KEY",
     .command = "qwen --acp",
     .fetched = "npx -y @qwen-code/qwen-code@0.21.14 --acp",
     .install = "npm install -g @qwen-code/qwen-code",
     .login = "run `qwen` once and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL",
     .addresses = "OPENAI_BASE_URL",
     .state = "~/.qwen",
     .credentials = "~/.qwen/oauth_creds.json"},
    {.name = "copilot",
     .title = "GitHub Copilot",
     .aliases = "copilot-cli github-copilot github-copilot-cli",
     .keys = "COPILOT_GITHUB_TOKEN",
     .command = "copilot --acp --stdio",
     .fetched = "npx -y @github/copilot@1.0.80 --acp --stdio",
     .install = "npm install -g @github/copilot",
     .login = "run `copilot` once and log in",
     .state = "~/.copilot"},
    {.name = "cursor",
     .title = "Cursor",
     .aliases = "cursor-agent",
     .keys = "CURSOR_API_KEY",
     .command = "cursor-agent acp",
     .install = "install Cursor's command line agent, cursor-agent",
     .login = "run `cursor-agent login`"},
    {.name = "goose",
     .title = "Goose",
     .keys = PROVIDER_KEYS,
     .command = "goose acp",
     .install = "install the Goose command line program, goose",
     .login = "run `goose configure`",
     .state = "~/.config/goose ~/.local/share/goose"},
    {.name = "kiro",
     .title = "Kiro",
     .aliases = "kiro-cli",
     .keys = "KIRO_API_KEY",
     .command = "kiro-cli-chat acp",
     .install = "install the Kiro command line program, kiro-cli",
     .login = "run `kiro-cli login`"},
    {.name = "kimi",
     .title = "Kimi Code",
     .aliases = "kimi-cli",
     .keys = "KIMI_API_KEY MOONSHOT_API_KEY",
     .command = "kimi acp",
     .install = "uv tool install kimi-cli",
     .login = "run `kimi` once and log in",
     .state = "~/.kimi"},
    {.name = "droid",
     .title = "Factory Droid",
     .aliases = "factory-droid factorydroid",
     .keys = "FACTORY_API_KEY",
     .command = "droid exec --output-format acp",
     .install = "install Factory's command line program, droid",
     .login = "run `droid` once and log in, or set FACTORY_API_KEY",
     .state = "~/.factory"},
    {.name = "kilocode",
     .title = "Kilo Code",
     .aliases = "kilo",
     .keys = PROVIDER_KEYS " KILO_API_KEY",
     .command = "kilo acp",
     .fetched = "npx -y @kilocode/cli@7.4.22 acp",
     .install = "npm install -g @kilocode/cli",
     .login = "run `kilo` once and log in"},
    {.name = "pi",
     .title = "Pi",
     .aliases = "pi-acp",
     .keys = PROVIDER_KEYS,
     .command = "pi-acp",
     .fetched = "npx -y pi-acp@0.0.33",
     .install = "npm install -g pi-acp",
     .login = "run `pi` once and log in"},
    {.name = "openclaw",
     .title = "OpenClaw",
     .keys = PROVIDER_KEYS,
     .command = "openclaw acp",
     .install = "npm install -g openclaw"},
    {.name = "devin",
     .title = "Devin",
     .keys = "DEVIN_API_KEY",
     .command = "devin acp",
     .install = "install devin"},
    {.name = "fast-agent",
     .title = "Fast Agent",
     .keys = PROVIDER_KEYS,
     .command = "fast-agent acp",
     .fetched = "uvx --from fast-agent-acp==0.10.1 fast-agent-acp",
     .install = "uv tool install fast-agent-mcp"},
    {.name = "fx",
     .title = "fx",
     .keys = PROVIDER_KEYS,
     .command = "fx acp",
     .install = "install fx"},
    {.name = "grok-build",
     .title = "Grok Build",
     .aliases = "grok",
     .keys = "XAI_API_KEY GROK_API_KEY",
     .command = "grok agent stdio",
     .install = "install Grok's command line program, grok"},
    {.name = "iflow",
     .title = "iFlow",
     .keys = "IFLOW_API_KEY",
     .command = "iflow --experimental-acp",
     .install = "install the iFlow command line program, iflow"},
    {.name = "junie",
     .title = "Junie",
     .keys = "JUNIE_API_KEY ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY "
             "XAI_API_KEY OPENROUTER_API_KEY",
     .command = "junie --acp=true",
     .install = "install the Junie command line program, junie"},
    {.name = "mcode",
     .title = "MCode",
     .keys = PROVIDER_KEYS,
     .command = "mcode acp",
     .install = "install mcode"},
    {.name = "mux",
     .title = "Mux",
     .keys = PROVIDER_KEYS,
     .command = "mux acp",
     .install = "npm install -g mux"},
    {.name = "pool",
     .title = "Poolside",
     .aliases = "poolside",
     .keys = "POOLSIDE_API_KEY",
     .command = "pool acp",
     .install = "install Poolside's command line program, pool"},
    {.name = "qoder",
     .title = "Qoder",
     .aliases = "qodercli",
     .keys = "QODER_PERSONAL_ACCESS_TOKEN",
     .command = "qodercli --acp",
     .fetched = "npx -y @qoder-ai/qodercli@0.1.30 --acp",
     .install = "npm install -g @qoder-ai/qodercli"},
    {.name = "trae",
     .title = "Trae",
     .keys = PROVIDER_KEYS,
     .command = "traecli acp serve",
     .install = "install Trae's command line program, traecli"},
    {.name = "zeroclaw",
     .title = "ZeroClaw",
     .keys = PROVIDER_KEYS,
     .command = "zeroclaw acp",
     .install = "install zeroclaw"},
    {.name = "antigravity",
     .title = "Google Antigravity",
     .keys = "GEMINI_API_KEY GOOGLE_API_KEY",
     .command = "agy_acp_server.par --uid=",
     .install = "install Antigravity's server, agy_acp_server.par"},
};

enum { KNOWN_COUNT = sizeof(table) / sizeof(table[0]) };

const struct agent_known *agents_known_at(size_t index)
{
    return index < KNOWN_COUNT ? &table[index] : NULL;
}

const struct agent_known *agents_known_find(const char *name)
{
    char lower[64];
    size_t n = strlen(name);
    if (n == 0 || n >= sizeof(lower))
        return NULL;
    for (size_t i = 0; i <= n; i++)
        lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char) (name[i] - 'A' + 'a') : name[i];
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (strcmp(table[i].name, lower) == 0 ||
            config_word_in(table[i].aliases, ' ', acp_str_from(lower), NULL))
            return &table[i];
    return NULL;
}

/* Whether a word of a command line is that package, with or without a version. */
static bool is_package(const char *word, struct acp_str package)
{
    return strncmp(word, package.ptr, package.len) == 0 &&
           (word[package.len] == '\0' || word[package.len] == '@' || word[package.len] == '=');
}

/* The package in a command line of the table: the word with a version, without that. */
static struct acp_str package_of(const char *fetched)
{
    for (const char *word = fetched; word && *word;) {
        size_t n = strcspn(word, " ");
        for (size_t i = 1; i < n; i++)
            if (word[i] == '@' || word[i] == '=')
                return acp_str_n(word, i);
        word += n + (word[n] == ' ');
    }
    return (struct acp_str){0};
}

static bool has_package(const char *const *argv, struct acp_str package)
{
    for (size_t i = 1; package.len && argv[0] && argv[i]; i++)
        if (is_package(argv[i], package))
            return true;
    return false;
}

const struct agent_known *agents_known_by_command(const char *const *argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *program = slash ? slash + 1 : argv[0];
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        size_t n = strcspn(table[i].command, " ");
        if (acp_str_is(acp_str_n(table[i].command, n), program) ||
            has_package(argv, package_of(table[i].fetched)))
            return &table[i];
    }
    return NULL;
}
