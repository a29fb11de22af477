// The 56 requirements of the public kit for version 1, in our words and with our own cases.

import assert from "node:assert/strict";
import {
  ADVISORY, BLOCKS, CAPABILITY, MANDATORY,
  assertFilled, badLine, choicesOf, customRequest, errors, jsonrpc, lines, neverAsked, otherChoice, promptBlock,
  promptMeta, rootKeys, schema, shutdown, standardError, unknownSession, utf8,
} from "./common.mjs";

const STOPS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];
const HISTORY = ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"];
const SESSION = "agentCapabilities.sessionCapabilities";

const load = (agent, sessionId, cwd) => agent.request("session/load", { sessionId, cwd, mcpServers: [] });
const resume = (agent, sessionId, cwd) => agent.request("session/resume", { sessionId, cwd });

/** A session with one turn in it. */
async function talkedSession(t) {
  const opened = await t.session();
  await opened.agent.prompt(opened.sessionId, t.words.plain);
  return opened;
}

const initialize = [
  {
    id: "ACP-INIT-001", tier: MANDATORY,
    says: "initialize succeeds, with a whole number as the version",
    async holds(t) {
      const { initialized } = await t.shared();
      assert.ok(Number.isInteger(initialized.protocolVersion));
    },
  },
  {
    id: "ACP-INIT-002", tier: MANDATORY,
    says: "version 1 is answered with version 1",
    async holds(t) {
      assert.equal((await t.shared()).initialized.protocolVersion, 1);
    },
  },
  {
    id: "ACP-INIT-003", tier: MANDATORY,
    says: "a version that nobody knows is answered with one that the agent has",
    async holds(t) {
      const { protocolVersion } = await t.start().initialize(65535);
      assert.ok(Number.isInteger(protocolVersion) && protocolVersion >= 1 && protocolVersion !== 65535, `${protocolVersion}`);
    },
  },
  {
    id: "ACP-INIT-004", tier: ADVISORY,
    says: "the agent has a name and a version",
    async holds(t) {
      const { agentInfo } = (await t.shared()).initialized;
      assertFilled(agentInfo?.name, "name");
      assertFilled(agentInfo?.version, "version");
    },
  },
];

const sessions = [
  {
    id: "ACP-SESSION-001", tier: MANDATORY,
    says: "session/new gives an id",
    async holds(t) {
      assertFilled((await t.session()).sessionId, "sessionId");
    },
  },
  {
    id: "ACP-SESSION-002", tier: MANDATORY,
    says: "two sessions have two ids",
    async holds(t) {
      assert.notEqual((await t.session()).sessionId, (await t.session()).sessionId);
    },
  },
  {
    id: "ACP-PROMPT-001", tier: MANDATORY,
    says: "a prompt of text ends with a stop reason",
    async holds(t) {
      const { agent, sessionId } = await t.session();
      const { response, stopReason } = await agent.prompt(sessionId, t.words.plain);
      assert.ok(STOPS.includes(stopReason), JSON.stringify(response));
    },
  },
  {
    id: "ACP-PROMPT-002", tier: MANDATORY,
    says: "the updates of a turn are those of its session",
    async holds(t) {
      const { agent, sessionId } = await t.session();
      const { from, end, updates } = await agent.prompt(sessionId, t.words.plain);
      const all = agent.messages.slice(from, end).filter(({ method }) => method === "session/update");
      assert.equal(all.length, updates.length, "all of them name the session");
      assert.ok(updates.length > 0, "and there are some");
    },
  },
  promptBlock("ACP-PROMPT-003", ADVISORY, "a prompt can have a link", undefined, [BLOCKS.link]),
  {
    id: "ACP-CANCEL-001", tier: MANDATORY,
    says: "a turn that is cancelled ends as cancelled, not with an error",
    async holds(t) {
      const { underWay } = t.needsLongTurn();
      const { agent, sessionId } = await t.session();
      const during = () => agent.notify("session/cancel", { sessionId });
      const { response, stopReason } = await agent.prompt(sessionId, t.words.long, { during, underWay });
      assert.equal(stopReason, "cancelled", JSON.stringify(response));
    },
  },
  {
    id: "ACP-CANCEL-002", tier: MANDATORY,
    says: "nothing of a cancelled turn comes after its response",
    async holds(t) {
      const { underWay } = t.needsLongTurn();
      const { agent, sessionId } = await t.session();
      const during = () => agent.notify("session/cancel", { sessionId });
      const { end } = await agent.prompt(sessionId, t.words.long, { during, underWay });
      await agent.fence();
      assert.deepEqual(agent.updates(sessionId, end), []);
    },
  },
  {
    id: "ACP-LOAD-001", tier: CAPABILITY,
    says: "a session can be loaded",
    async holds(t) {
      await t.needs("agentCapabilities.loadSession");
      const { agent, sessionId } = await talkedSession(t);
      const { error } = await load(agent, sessionId, t.folder);
      assert.equal(error, undefined);
    },
  },
  {
    id: "ACP-LOAD-002", tier: CAPABILITY,
    says: "what a load replays comes before its response, and nothing after it",
    async holds(t) {
      await t.needs("agentCapabilities.loadSession");
      const { agent, sessionId } = await talkedSession(t);
      const from = agent.messages.length;
      const end = agent.indexOf(await load(agent, sessionId, t.folder));
      const kinds = agent.updates(sessionId, from, end).map(({ sessionUpdate }) => sessionUpdate);
      assert.ok(kinds.some((kind) => HISTORY.includes(kind)), `${kinds}`);
      await agent.fence();
      assert.deepEqual(agent.updates(sessionId, end), []);
    },
  },
  {
    id: "ACP-LOAD-003", tier: ADVISORY,
    says: "the result of a load is an object, also for a session without a turn",
    async holds(t) {
      await t.needs("agentCapabilities.loadSession");
      const { agent, sessionId } = await t.session();
      const { result } = await load(agent, sessionId, t.folder);
      assert.equal(typeof result, "object");
      assert.notEqual(result, null);
    },
  },
  {
    id: "ACP-RESUME-001", tier: CAPABILITY,
    says: "a session can be resumed",
    async holds(t) {
      await t.needs(`${SESSION}.resume`);
      const { agent, sessionId } = await t.session();
      assert.equal((await resume(agent, sessionId, t.folder)).error, undefined);
    },
  },
  {
    id: "ACP-RESUME-002", tier: CAPABILITY,
    says: "resuming replays nothing of what was said",
    async holds(t) {
      await t.needs(`${SESSION}.resume`);
      const { agent, sessionId } = await talkedSession(t);
      const from = agent.messages.length;
      const end = agent.indexOf(await resume(agent, sessionId, t.folder));
      const kinds = agent.updates(sessionId, from, end).map(({ sessionUpdate }) => sessionUpdate);
      assert.deepEqual(kinds.filter((kind) => HISTORY.includes(kind)), []);
    },
  },
  {
    id: "ACP-LIST-001", tier: CAPABILITY,
    says: "sessions can be listed",
    async holds(t) {
      await t.needs(`${SESSION}.list`);
      const { agent } = await talkedSession(t);
      assert.ok(Array.isArray((await agent.result("session/list", {})).sessions));
    },
  },
  {
    id: "ACP-LIST-002", tier: CAPABILITY,
    says: "the list for a folder without sessions is empty",
    async holds(t) {
      await t.needs(`${SESSION}.list`);
      const { agent } = await talkedSession(t);
      assert.deepEqual((await agent.result("session/list", { cwd: `${t.folder}/none` })).sessions, []);
    },
  },
  {
    id: "ACP-DELETE-001", tier: CAPABILITY,
    says: "a session can be deleted",
    async holds(t) {
      await t.needs(`${SESSION}.delete`);
      const { agent, sessionId } = await talkedSession(t);
      assert.deepEqual(await agent.result("session/delete", { sessionId }), {});
    },
  },
  {
    id: "ACP-DELETE-002", tier: ADVISORY,
    says: "deleting a session that is not there succeeds",
    async holds(t) {
      await t.needs(`${SESSION}.delete`);
      const { agent, sessionId } = await t.session();
      for (const id of [sessionId, sessionId, "no-such-session"]) await agent.result("session/delete", { sessionId: id });
    },
  },
  {
    id: "ACP-CLOSE-001", tier: CAPABILITY,
    says: "a session can be closed",
    async holds(t) {
      await t.needs(`${SESSION}.close`);
      const { agent, sessionId } = await t.session();
      assert.deepEqual(await agent.result("session/close", { sessionId }), {});
    },
  },
  {
    id: "ACP-CLOSE-002", tier: CAPABILITY,
    says: "closing a session cancels its turn",
    async holds(t) {
      await t.needs(`${SESSION}.close`);
      const { underWay } = t.needsLongTurn();
      const { agent, sessionId } = await t.session();
      const during = () => agent.result("session/close", { sessionId });
      const { response, stopReason } = await agent.prompt(sessionId, t.words.long, { during, underWay });
      assert.equal(stopReason, "cancelled", JSON.stringify(response));
    },
  },
  {
    id: "ACP-ADDDIRS-001", tier: CAPABILITY,
    says: "a session can have more folders",
    async holds(t) {
      await t.needs(`${SESSION}.additionalDirectories`);
      assertFilled((await t.session({ additionalDirectories: ["/tmp"] })).sessionId, "sessionId");
    },
  },
];

async function modesOf(t) {
  const opened = await t.session();
  if (!opened.setup.modes) t.skip("its sessions have no modes");
  return opened;
}

async function optionsOf(t) {
  const opened = await t.session();
  if (!opened.setup.configOptions) t.skip("its sessions have no options");
  return opened;
}

const settings = [
  {
    id: "ACP-MODES-001", tier: CAPABILITY,
    says: "the mode of a session is one of those that it lists",
    async holds(t) {
      const { modes } = (await modesOf(t)).setup;
      assert.ok(modes.availableModes.some(({ id }) => id === modes.currentModeId));
    },
  },
  {
    id: "ACP-MODES-002", tier: CAPABILITY,
    says: "the mode can be set, and an update about it names the mode",
    async holds(t) {
      const { agent, sessionId, setup } = await modesOf(t);
      const { id: modeId } = setup.modes.availableModes.find(({ id }) => id !== setup.modes.currentModeId);
      await agent.result("session/set_mode", { sessionId, modeId });
      await agent.fence();
      const told = agent.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "current_mode_update");
      for (const { currentModeId } of told) assert.equal(currentModeId, modeId);
    },
  },
  {
    id: "ACP-CONFIG-001", tier: CAPABILITY,
    says: "the value of every option is one that it can have",
    async holds(t) {
      for (const option of (await optionsOf(t)).setup.configOptions) {
        if (option.type === "boolean") assert.equal(typeof option.currentValue, "boolean");
        else assert.ok(choicesOf(option).includes(option.currentValue), option.id);
      }
    },
  },
  {
    id: "ACP-CONFIG-002", tier: CAPABILITY,
    says: "setting an option gives all options, with the new value",
    async holds(t) {
      const { agent, sessionId, setup } = await optionsOf(t);
      const { option, value } = otherChoice(setup.configOptions);
      const params = { sessionId, configId: option.id, value, ...(option.type === "boolean" ? { type: "boolean" } : {}) };
      const { configOptions } = await agent.result("session/set_config_option", params);
      assert.deepEqual(configOptions.map(({ id }) => id).sort(), setup.configOptions.map(({ id }) => id).sort());
      assert.equal(configOptions.find(({ id }) => id === option.id).currentValue, value);
    },
  },
  {
    id: "ACP-CONFIG-003", tier: MANDATORY,
    says: "a client that does not take them gets no options that are on or off",
    async holds(t) {
      const { configOptions } = (await t.session()).setup;
      assert.deepEqual((configOptions ?? []).filter(({ type }) => type === "boolean"), []);
    },
  },
];

const PROMPTS = "agentCapabilities.promptCapabilities";

const prompts = [
  promptBlock("ACP-PROMPTCAP-001", CAPABILITY, "a prompt can have an image", `${PROMPTS}.image`, [BLOCKS.image]),
  promptBlock("ACP-PROMPTCAP-002", CAPABILITY, "a prompt can have audio", `${PROMPTS}.audio`, [BLOCKS.audio]),
  promptBlock("ACP-PROMPTCAP-003", CAPABILITY, "a prompt can have a resource of text or of bytes", `${PROMPTS}.embeddedContext`, [
    BLOCKS.text,
    BLOCKS.blob,
  ]),
];

const login = [
  {
    id: "ACP-AUTH-001", tier: ADVISORY,
    says: "no two ways to log in have the same id",
    async holds(t) {
      const ids = ((await t.offered("authMethods")) ?? []).map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length);
    },
  },
  {
    id: "ACP-AUTH-002", tier: MANDATORY,
    says: "a client without a terminal is not told to log in at one",
    async holds(t) {
      const methods = (await t.offered("authMethods")) ?? [];
      assert.deepEqual(methods.filter(({ type }) => type === "terminal"), []);
    },
  },
  {
    id: "ACP-AUTH-003", tier: CAPABILITY,
    says: "after logging in sessions can be opened",
    async holds(t) {
      const methods = (await t.offered("authMethods")) ?? [];
      if (methods.length === 0) t.skip("there is no way to log in");
      await (await t.shared()).result("authenticate", { methodId: methods[0].id });
      assert.notEqual((await (await t.shared()).request("session/new", { cwd: t.folder, mcpServers: [] })).error?.code, -32000);
    },
  },
  {
    id: "ACP-AUTH-004", tier: CAPABILITY,
    says: "one can log out",
    async holds(t) {
      await t.needs("agentCapabilities.auth.logout");
      assert.deepEqual(await (await t.fresh()).result("logout", {}), {});
    },
  },
  {
    id: "ACP-AUTH-005", tier: ADVISORY,
    says: "without a way to log in, sessions do not ask for it",
    async holds(t) {
      if (((await t.offered("authMethods")) ?? []).length > 0) t.skip("there is a way to log in");
      const { error } = await (await t.shared()).request("session/new", { cwd: t.folder, mcpServers: [] });
      assert.notEqual(error?.code, -32000);
    },
  },
];



export const REQUIREMENTS = [
  lines("ACP-TRANSPORT-001", "every line of the standard output is one message of JSON-RPC 2.0"),
  utf8,
  ...jsonrpc,
  ...initialize,
  schema,
  ...sessions,
  ...settings,
  ...prompts,
  ...login,
  neverAsked("ACP-CLIENTCAP-001", MANDATORY, "no files are asked of a client that serves none", (m) => m.startsWith("fs/")),
  neverAsked("ACP-CLIENTCAP-002", MANDATORY, "no terminals are asked of a client that has none", (m) => m.startsWith("terminal/")),
  neverAsked("ACP-CLIENTCAP-003", MANDATORY, "no forms are asked of a client that shows none", (m) => m.startsWith("elicitation/")),
  customRequest,
  promptMeta,
  errors,
  shutdown,
  rootKeys,
  standardError,
  badLine("ACP-INFO-PARSE-001", "what a line that is not JSON gets", "this is not JSON"),
  badLine("ACP-INFO-INVALIDREQ-001", "what JSON that is not a message gets", '{"foo":"bar"}'),
  unknownSession,
];

/** What is known not to hold, by agent. */
export const EXCEPTIONS = {};

export const COUNT = 56;
