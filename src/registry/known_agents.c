/*
 * The agents that are known everywhere.  Names and commands are those that acpx has, so that its
 * users can switch; the rest comes from the agents' own documentation.
 */
#include "config/config_internal.h"
#include "registry/agents.h"

/*
 * The keys of model services that agents for several services look for.  Only what is meant for
 * models: tokens that other programs need as well (GITHUB_TOKEN, HF_TOKEN, AWS_SECRET_ACCESS_KEY)
 * are in nobody's list, and every process has them.
 */
#define SERVICE_KEYS                                                                               \
    "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN OPENAI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY "         \
    "GOOGLE_GENERATIVE_AI_API_KEY OPENROUTER_API_KEY GROQ_API_KEY MISTRAL_API_KEY "                \
    "DEEPSEEK_API_KEY XAI_API_KEY CEREBRAS_API_KEY TOGETHER_API_KEY FIREWORKS_API_KEY "            \
    "MOONSHOT_API_KEY DASHSCOPE_API_KEY ZAI_API_KEY ZHIPU_API_KEY MINIMAX_API_KEY "                \
    "PERPLEXITY_API_KEY COHERE_API_KEY NVIDIA_API_KEY AZURE_API_KEY AZURE_OPENAI_API_KEY "         \
    "AI_GATEWAY_API_KEY LITELLM_API_KEY AWS_BEARER_TOKEN_BEDROCK"

static const struct agent_known table[] = {
    {.name = "claude",
     .title = "Claude Code",
     .aliases = "claude-acp claude-agent claude-agent-acp claude-code claude-code-acp",
     .keys = "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN "
             "ANTHROPIC_FOUNDRY_API_KEY AWS_BEARER_TOKEN_BEDROCK",
     .command = "claude-agent-acp",
     .fetched = "npx -y @agentclientprotocol/claude-agent-acp@0.70.0",
     .install = "npm install -g @agentclientprotocol/claude-agent-acp",
     .login = "run `claude` once and log in, or set ANTHROPIC_API_KEY"},
    {.name = "codex",
     .title = "Codex",
     .aliases = "codex-acp codex-cli",
     .keys = "OPENAI_API_KEY CODEX_API_KEY AZURE_OPENAI_API_KEY OPENROUTER_API_KEY",
     .command = "codex-acp",
     .fetched = "npx -y @agentclientprotocol/codex-acp@1.6.0",
     .install = "npm install -g @agentclientprotocol/codex-acp",
     .login = "run `codex login`, or set OPENAI_API_KEY"},
    {.name = "gemini",
     .title = "Gemini CLI",
     .aliases = "gemini-cli",
     .keys = "GEMINI_API_KEY GOOGLE_API_KEY",
     .command = "gemini --acp",
     .fetched = "npx -y @google/gemini-cli@0.56.0 --acp",
     .install = "npm install -g @google/gemini-cli",
     .login = "run `gemini` once and log in, or set GEMINI_API_KEY"},
    {.name = "opencode",
     .title = "OpenCode",
     .keys = SERVICE_KEYS " OPENCODE_API_KEY",
     .command = "opencode acp",
     .fetched = "npx -y opencode-ai@1.18.18 acp",
     .install = "npm install -g opencode-ai",
     .login = "run `opencode auth login`"},
    {.name = "qwen",
     .title = "Qwen Code",
     .aliases = "qwen-code",
     .keys = "OPENAI_API_KEY DASHSCOPE_API_KEY BAILIAN_CODING_PLAN_API_KEY ANTHROPIC_API_KEY "
             "GEMINI_API_KEY GOOGLE_API_KEY OPENROUTER_API_KEY",
     .command = "qwen --acp",
     .fetched = "npx -y @qwen-code/qwen-code@0.21.14 --acp",
     .install = "npm install -g @qwen-code/qwen-code",
     .login = "run `qwen` once and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL"},
    {.name = "copilot",
     .title = "GitHub Copilot",
     .aliases = "copilot-cli github-copilot github-copilot-cli",
     .keys = "COPILOT_GITHUB_TOKEN",
     .command = "copilot --acp --stdio",
     .fetched = "npx -y @github/copilot@1.0.80 --acp --stdio",
     .install = "npm install -g @github/copilot",
     .login = "run `copilot` once and log in"},
    {.name = "cursor",
     .title = "Cursor",
     .aliases = "cursor-agent",
     .keys = "CURSOR_API_KEY",
     .command = "cursor-agent acp",
     .install = "install Cursor's command line agent, cursor-agent",
     .login = "run `cursor-agent login`"},
    {.name = "goose",
     .title = "Goose",
     .keys = SERVICE_KEYS,
     .command = "goose acp",
     .install = "install the Goose command line program, goose",
     .login = "run `goose configure`"},
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
     .login = "run `kimi` once and log in"},
    {.name = "droid",
     .title = "Factory Droid",
     .aliases = "factory-droid factorydroid",
     .keys = "FACTORY_API_KEY",
     .command = "droid exec --output-format acp",
     .install = "install Factory's command line program, droid",
     .login = "run `droid` once and log in, or set FACTORY_API_KEY"},
    {.name = "kilocode",
     .title = "Kilo Code",
     .aliases = "kilo",
     .keys = SERVICE_KEYS " KILO_API_KEY",
     .command = "kilo acp",
     .fetched = "npx -y @kilocode/cli@7.4.22 acp",
     .install = "npm install -g @kilocode/cli",
     .login = "run `kilo` once and log in"},
    {.name = "pi",
     .title = "Pi",
     .aliases = "pi-acp",
     .keys = SERVICE_KEYS,
     .command = "pi-acp",
     .fetched = "npx -y pi-acp@0.0.33",
     .install = "npm install -g pi-acp",
     .login = "run `pi` once and log in"},
    {.name = "openclaw",
     .title = "OpenClaw",
     .keys = SERVICE_KEYS,
     .command = "openclaw acp",
     .install = "npm install -g openclaw"},
    {.name = "devin",
     .title = "Devin",
     .keys = "DEVIN_API_KEY",
     .command = "devin acp",
     .install = "install devin"},
    {.name = "fast-agent",
     .title = "Fast Agent",
     .keys = SERVICE_KEYS,
     .command = "fast-agent acp",
     .fetched = "uvx --from fast-agent-acp==0.10.1 fast-agent-acp",
     .install = "uv tool install fast-agent-mcp"},
    {.name = "fx",
     .title = "fx",
     .keys = SERVICE_KEYS,
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
     .keys = SERVICE_KEYS,
     .command = "mcode acp",
     .install = "install mcode"},
    {.name = "mux",
     .title = "Mux",
     .keys = SERVICE_KEYS,
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
     .keys = SERVICE_KEYS,
     .command = "traecli acp serve",
     .install = "install Trae's command line program, traecli"},
    {.name = "zeroclaw",
     .title = "ZeroClaw",
     .keys = SERVICE_KEYS,
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
