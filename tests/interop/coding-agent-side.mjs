// The built-in coding agent with a scripted model, and the official SDK's client that drives it.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ModelServer } from "../model/server.mjs";
import { checkSent, sentIn } from "../model/sent.mjs";
import { until } from "./processes.mjs";
import { SdkClient } from "./sdk-side.mjs";

export const KEY = "sk-very-secret-0123456789";

/** How the agent is told, by its environment, to ask a server by each API. */
const ENVIRONMENTS = {
  anthropic: (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url, ANTHROPIC_MODEL: "claude-x" }),
  "openai-chat": (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "gpt-5" }),
  "openai-responses": (url) => ({
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_WIRE_API: "responses",
    OPENAI_MODEL: "gpt-5",
  }),
  gemini: (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url, GEMINI_MODEL: "gemini-2.5-flash" }),
};
export const APIS = Object.keys(ENVIRONMENTS);

const OTHERS = ["ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "OLLAMA_HOST"];
const HOMES = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];

/** Takes away what the agent could find of the real user; gives a function that cleans up. */
export function ownHome() {
  const home = mkdtempSync(join(tmpdir(), "acp-agent-home-"));
  const found = APIS.flatMap((api) => Object.keys(ENVIRONMENTS[api]("")));
  for (const name of [...found, ...OTHERS, ...HOMES]) delete process.env[name];
  process.env.HOME = home;
  return () => rmSync(home, { recursive: true });
}

/** Writes the user's configuration, of that home; gives a function that takes it away. */
export function configure(settings) {
  const folder = join(process.env.HOME, ".config", "acp");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(settings));
  return () => rmSync(join(folder, "config.json"));
}

export class CodingAgent {
  /**
   * acp is the program; flags are those of `acp agent`.  Unless a case is about titles, none are asked
   * for, so that what the model is asked is what the case has it asked.
   */
  constructor(version, acp, api, flags, { titles = false } = {}) {
    this.version = version;
    this.api = api;
    this.command = [acp, "agent", ...(titles ? [] : ["--no-titles"]), ...flags];
    this.environment = {}; // more of it
    this.capabilities = version === 1 ? { session: { notices: {} } } : {};
    this.folder = mkdtempSync(join(tmpdir(), "acp-agent-"));
    writeFileSync(join(this.folder, "a.txt"), "apple\n");
    writeFileSync(join(this.folder, "b.txt"), "banana\n");
  }

  startModel(turns, models = []) {
    return new ModelServer({ turns, models }, { strict: true }).start();
  }

  /** Opens a session.  Without capabilities the agent uses its own files and terminals. */
  async open(turns, { models = [], mcpServers = [] } = {}) {
    this.model = await this.startModel(turns, models);
    this.connect();
    this.setup = await this.client.open(this.folder, mcpServers);
    return this;
  }

  connect() {
    const environment = Object.entries({ ...ENVIRONMENTS[this.api](this.model.url), ...this.environment });
    const words = environment.map(([name, value]) => `${name}=${value}`);
    const { capabilities } = this;
    this.client = new SdkClient(this.version, ["env", ...words, ...this.command], { capabilities });
    this.allow("allow_once");
  }

  /** Another process of the agent; the model stays. */
  async restart() {
    const { failures } = await this.client.stop();
    assert.deepEqual(failures, []);
    this.connect();
    await this.client.initialize();
  }

  /** Another process goes on with the session. */
  async resume({ mcpServers = [] } = {}) {
    const { sessionId } = this.client;
    await this.restart();
    await this.client.request("session/resume", { sessionId, cwd: this.folder, mcpServers });
    this.client.sessionId = sessionId;
  }

  /** Permissions are answered with the option of this kind. */
  allow(wanted) {
    this.client.onPermission = ({ options }) => ({
      outcome: { outcome: "selected", optionId: options.find(({ kind }) => kind === wanted).optionId },
    });
  }

  /** A turn: {stop, why}, stop being "error" when it failed, and why its sentence. */
  async run(prompt) {
    try {
      const { stopReason, error } = await this.client.prompt(prompt);
      return { stop: stopReason, why: error?.message };
    } catch (error) {
      await this.client.settled();
      return { stop: "error", why: error.message };
    }
  }

  async stops(prompt, reason) {
    const { stop, why } = await this.run(prompt);
    assert.equal(stop, reason, why);
  }

  /** All that wanted an answer of the model. */
  requests() {
    return this.model?.requests.filter(({ asked }) => asked) ?? [];
  }

  /** What the model was sent in its request of that number; from the end when it is negative. */
  sent(number) {
    const request = this.requests().at(number);
    assert.ok(request, `there are only ${this.requests().length} requests`);
    return sentIn(request);
  }

  /** Waits until the model has received this number of requests. */
  async asked(count) {
    await until(`request ${count} to the model`, () => this.requests().length >= count);
  }

  of(...kinds) {
    return this.client.of(this.client.sessionId, ...kinds);
  }

  /** The tool calls as they are now: id to all of their fields. */
  tools() {
    const all = new Map();
    for (const { toolCallId, ...fields } of this.of("tool_call", "tool_call_update"))
      all.set(toolCallId, { ...all.get(toolCallId), ...fields });
    return [...all.values()];
  }

  /** What the user was told beside the conversation: notices, or thoughts where there are none. */
  warned() {
    const notices = [...this.of("notice", "session_notice"), ...this.client.others.map(({ params }) => params)];
    const thoughts = this.of("agent_thought_chunk").map(({ content }) => content.text);
    return notices.map((notice) => JSON.stringify(notice)).join("\n") + thoughts.join("");
  }

  async setOption(configId, value) {
    const type = this.version === 2 ? { type: "id" } : {};
    const params = { sessionId: this.client.sessionId, configId, value, ...type };
    const { configOptions } = await this.client.request("session/set_config_option", params);
    return configOptions.find((option) => (option.id ?? option.configId) === configId).currentValue;
  }

  setMode(modeId) {
    if (this.version === 2) return this.setOption("mode", modeId);
    return this.client.request("session/set_mode", { sessionId: this.client.sessionId, modeId });
  }

  tail() {
    const asked = this.model?.requests.map(({ path, ended }) => `${path}: ${ended}`) ?? [];
    return `${this.client?.tail()}\nthe model was asked:\n  ${asked.join("\n  ")}`;
  }

  /** Besides what the client finds: whether all that the model was sent is valid, and the key unsaid. */
  async stop() {
    const { failures, checked } = (await this.client?.stop()) ?? { failures: [], checked: 0 };
    for (const request of this.requests()) {
      try {
        checkSent(sentIn(request));
      } catch (error) {
        failures.push(`request ${request.number}: ${error.message}\n${JSON.stringify(request.body).slice(-3000)}`);
      }
    }
    for (const { number, wrong, body } of this.model?.deviations() ?? [])
      failures.push(`request ${number} is refused: ${wrong.join("; ")}\n${JSON.stringify(body).slice(-3000)}`);
    for (const { path } of this.model?.unexpected() ?? []) failures.push(`no turn for ${path}`);
    const written = JSON.stringify(this.client?.lines ?? []) + (this.client?.errors ?? "");
    if (written.includes(KEY) || written.includes(KEY.slice(0, 12))) failures.push("the agent tells the key");
    await this.model?.stop();
    rmSync(this.folder, { recursive: true });
    return { failures, checked };
  }
}
