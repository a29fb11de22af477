// The agents of others, and what each of them needs to talk to the scripted model instead of its
// own: a command, variables, files in its home, and the tool by which it writes a file.
//
// `write(path, text)` is the piece of a script that has the agent write that file; `main` is a tool
// that only the requests of a turn offer: agents also ask their models for titles and the like.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

const QUIET = {
  DISABLE_TELEMETRY: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DO_NOT_TRACK: "1",
  NO_BROWSER: "1",
};

/** codex has its own providers of models; ours is one that needs no login. */
function codexConfig(url) {
  return `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;
}

/** By its shell: in its sandbox, or outside of it, for which it has to ask. */
const byShell = (path, text, more) => ({
  tool: "exec_command",
  arguments: { cmd: `printf %s '${text}' > '${path}'`, ...more },
});

const codex = {
  env: (url) => ({
    OPENAI_API_KEY: "sk-x",
    OPENAI_BASE_URL: `${url}/v1`,
    INITIAL_AGENT_MODE: "workspace-write", // in its own default a model judges instead of the user
  }),
  files: (url) => ({ ".codex/config.toml": codexConfig(url) }),
  main: "exec_command",
  write: (path, text) =>
    byShell(path, text, {
      sandbox_permissions: "require_escalated",
      justification: "the test wants it",
    }),
};

export const AGENTS = {
  claude: {
    program: "@agentclientprotocol/claude-agent-acp/dist/index.js",
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-ant-api03-x",
      IS_SANDBOX: "1", // it refuses some modes to root otherwise
    }),
    main: "Write",
    write: (path, text) => ({ tool: "Write", arguments: { file_path: path, content: text } }),
    model: { id: "sonnet", asked: "sonnet" }, // it takes haiku for titles anyway
    mode: { id: "acceptEdits" },
  },
  qwen: {
    program: "@qwen-code/qwen-code/cli-entry.js",
    args: ["--acp"],
    env: (url) => ({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: "sk-x",
      OPENAI_MODEL: "scripted-model",
    }),
    main: "skill",
    write: (path, text) => ({ tool: "write_file", arguments: { file_path: path, content: text } }),
    asksByWriting: true, // it has the client write, and leaves it to it to ask
    mode: { id: "yolo", flags: ["--no-fs"] },
  },
  opencode: {
    // What npm links is put in place by a script of the package, which we do not run.
    program: `opencode-${process.platform}-${process.arch}/bin/opencode`,
    args: ["acp"],
    native: true,
    env: () => ({
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    }),
    files: (url) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        autoupdate: false,
        share: "disabled",
        model: "scripted/one",
        permission: { edit: "ask", bash: "ask" },
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            name: "Scripted",
            options: { baseURL: `${url}/v1`, apiKey: "sk-x" },
            models: { one: { name: "One" }, two: { name: "Two" } },
          },
        },
      }),
    }),
    main: "write",
    write: (path, text) => ({ tool: "write", arguments: { filePath: path, content: text } }),
    model: { id: "scripted/two", asked: "two" },
  },
  gemini: {
    program: "@google/gemini-cli/bundle/gemini.js",
    args: ["--acp"],
    // With a model given it does not ask another one which to take.
    env: (url) => ({
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: "x",
      GEMINI_MODEL: "gemini-2.5-flash",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    auth: "gemini-api-key",
    // It cannot create a file through a client that offers fs.readTextFile; the table of known
    // agents has a quirk for that, without which the case that writes a file fails.
    mayForget: true, // a session that ends before it is on the disk: "No previous sessions found"
    mode: { id: "autoEdit" },
    main: "write_file",
    write: (path, text) => ({ tool: "write_file", arguments: { file_path: path, content: text } }),
  },
  codex: {
    ...codex,
    program: "@agentclientprotocol/codex-acp/dist/index.js",
    saysErrors: true, // as its own words, and the turn ends well
    model: { id: "gpt-6-sol", asked: "^gpt-6-sol$" },
    mode: { id: "agent-full-access", write: byShell },
  },
  "codex-zed": {
    ...codex,
    program: `@zed-industries/codex-acp-${process.platform}-${process.arch}/bin/codex-acp`,
    native: true,
    model: { id: "gpt-5.4", asked: "^gpt-5.4$", takesAny: true },
    mode: { id: "full-access", write: byShell },
  },
};

const nodeFolder = join(
  here,
  `../peers/node_modules/node-${process.platform}-${process.arch}/bin`,
);

/** Why the agent cannot be run here; undefined when it can. */
export function missing(name) {
  if (!existsSync(nodeFolder)) return "there is no Node 22 in tests/peers";
  const program = join(here, name, "node_modules", AGENTS[name].program);
  return existsSync(program) ? undefined : `${name} is not installed; scripts/setup-npm --agents`;
}

export function versionOf(name) {
  const wanted = JSON.parse(readFileSync(join(here, name, "package.json"), "utf8"));
  return Object.entries(wanted.devDependencies)[0].join(" ");
}

/** The entry of agent_servers in the configuration of acp. */
export function configured(name, url) {
  const agent = AGENTS[name];
  const program = join(here, name, "node_modules", agent.program);
  const args = agent.args ?? [];
  const [command, ...rest] = agent.native ? [program] : [join(nodeFolder, "node"), program];
  const entry = { command, args: [...rest, ...args], env: { ...QUIET, ...agent.env(url) } };
  return agent.auth ? { ...entry, auth_method: agent.auth } : entry;
}

/** What the agent finds before all other programs. */
export function searchPath() {
  return `${nodeFolder}:${process.env.PATH}`;
}
