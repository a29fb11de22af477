// The 106 requirements of the public kit for version 2, in our words and with our own cases: those
// about the connection and sessions.  Those about turns are in v2-turns.mjs.

import assert from "node:assert/strict";
import {
  ADVISORY, CAPABILITY, INFORMATIONAL, MANDATORY,
  assertDefined, assertFilled, badLine, choicesOf, customRequest, errors, jsonrpc, lines, otherChoice, promptMeta, rootKeys,
  schema, shutdown, standardError, unknownSession, utf8,
} from "./common.mjs";
import { TURNS, talkedSession } from "./v2-turns.mjs";

const isMarker = (value) => value === undefined || value === null || (typeof value === "object" && !Array.isArray(value));

const initialize = [
  {
    id: "ACP-INIT-001", tier: MANDATORY,
    says: "initialize succeeds",
    async holds(t) {
      assert.ok((await t.shared()).initialized);
    },
  },
  {
    id: "ACP-INIT-201", tier: MANDATORY,
    says: "version 2 is answered with version 2, or with the latest that the agent has",
    async holds(t) {
      assert.equal((await t.shared()).initialized.protocolVersion, 2);
      assert.equal((await t.start().initialize(65535)).protocolVersion, 2);
    },
  },
  {
    id: "ACP-INIT-003", tier: MANDATORY,
    says: "a version that nobody knows is answered with one that the agent has",
    async holds(t) {
      const { protocolVersion } = await t.start().initialize(65535);
      assert.ok(Number.isInteger(protocolVersion) && protocolVersion >= 2 && protocolVersion !== 65535, `${protocolVersion}`);
    },
  },
  {
    id: "ACP-INIT-202", tier: MANDATORY,
    says: "a client of version 1 is answered and not refused",
    async holds(t) {
      const { protocolVersion } = await t.start().initialize(1);
      assert.ok([1, 2].includes(protocolVersion), `${protocolVersion}`);
    },
  },
  {
    id: "ACP-INIT-203", tier: MANDATORY,
    says: "the agent has a name and a version",
    async holds(t) {
      const { info } = (await t.shared()).initialized;
      assertFilled(info?.name, "name");
      assertFilled(info?.version, "version");
    },
  },
  {
    id: "ACP-INIT-204", tier: MANDATORY,
    says: "what is offered is marked by objects, never by true and false",
    async holds(t) {
      const { capabilities = {} } = (await t.shared()).initialized;
      const { session, auth } = capabilities;
      for (const part of [capabilities, session, session?.prompt, session?.mcp, auth])
        for (const [key, value] of Object.entries(part ?? {})) assert.ok(isMarker(value), key);
    },
  },
];

const batches = [
  {
    id: "ACP-BATCH-201", tier: MANDATORY,
    says: "an empty batch gets one error -32600 with the id null",
    async holds(t) {
      const agent = await t.fresh();
      const before = agent.messages.length;
      agent.raw("[]");
      await agent.fence();
      const [reply] = agent.messages.slice(before);
      assert.equal(reply.id, null);
      assert.equal(reply.error.code, -32600);
    },
  },
  {
    id: "ACP-BATCH-202", tier: MANDATORY,
    says: "a batch of notifications gets nothing",
    async holds(t) {
      const agent = await t.fresh();
      const before = agent.messages.length;
      agent.raw('[{"jsonrpc":"2.0","method":"_conformance/one"},{"jsonrpc":"2.0","method":"_conformance/two"}]');
      await agent.fence();
      assert.equal(agent.messages.length, before + 1, "only the fence is answered");
    },
  },
  {
    id: "ACP-BATCH-203", tier: ADVISORY,
    says: "every entry of a batch that is not a message gets an error of its own",
    async holds(t) {
      const agent = await t.fresh();
      const before = agent.messages.length;
      agent.raw("[17,true,null]");
      await agent.fence();
      const replies = agent.messages.slice(before, -1).flat();
      assert.equal(replies.length, 3);
      for (const { id, error } of replies) assert.deepEqual([id, error.code], [null, -32600]);
    },
  },
  {
    id: "ACP-BATCH-204", tier: ADVISORY,
    says: "a batch of requests gets an array of responses",
    async holds(t) {
      const [reply] = await batchOfLists(t);
      assert.ok(Array.isArray(reply) && reply.length === 2, JSON.stringify(reply));
    },
  },
  {
    id: "ACP-BATCH-205", tier: ADVISORY,
    says: "the responses of a batch have the ids of its requests",
    async holds(t) {
      const replies = (await batchOfLists(t)).flat();
      assert.deepEqual(replies.map(({ id }) => id).sort(), ["batch-a", "batch-b"]);
    },
  },
  { id: "ACP-BATCH-206", tier: INFORMATIONAL, says: "the entries of a batch may be served in any order", why: "whoever sends it cannot see the order" },
  { id: "ACP-BATCH-207", tier: INFORMATIONAL, says: "an agent may send batches", why: "nobody can make it do so" },
  { id: "ACP-BATCH-208", tier: INFORMATIONAL, says: "what begins or ends something is not sent in a batch", why: "it is a rule for the sender" },
  badLine("ACP-INFO-BATCH-201", "what half a batch gets", '[{"jsonrpc":"2.0","id":1,"method":'),
  badLine(
    "ACP-INFO-BATCH-202",
    "what a batch of a request and a response gets",
    '[{"jsonrpc":"2.0","id":"mixed","method":"_conformance/mixed"},{"jsonrpc":"2.0","id":"other","result":{}}]',
  ),
];

async function batchOfLists(t) {
  const agent = await t.fresh();
  const before = agent.messages.length;
  const lists = ["batch-a", "batch-b"].map((id) => ({ jsonrpc: "2.0", id, method: "session/list" }));
  agent.raw(JSON.stringify(lists));
  await agent.fence();
  return agent.messages.slice(before, -1);
}

const resume = (agent, sessionId, cwd, more) => agent.request("session/resume", { sessionId, cwd, ...more });
const FROM_START = { replayFrom: { type: "start" } };
const HISTORY = /^(user_message|agent_message|agent_thought)(_chunk)?$/;

/** Resumes a session with a turn in it; gives what came before the response. */
async function resumed(t, more) {
  const { agent, sessionId, turn } = await talkedSession(t);
  const from = agent.messages.length;
  const response = await resume(agent, sessionId, t.folder, more);
  assert.equal(response.error, undefined, JSON.stringify(response));
  const end = agent.indexOf(response);
  return { agent, sessionId, turn, response, end, updates: agent.updates(sessionId, from, end) };
}

const sessions = [
  {
    id: "ACP-SESSION-001", tier: CAPABILITY,
    says: "session/new gives an id",
    async holds(t) {
      assertFilled((await t.session()).sessionId, "sessionId");
    },
  },
  {
    id: "ACP-SESSION-002", tier: CAPABILITY,
    says: "two sessions have two ids",
    async holds(t) {
      assert.notEqual((await t.session()).sessionId, (await t.session()).sessionId);
    },
  },
  {
    id: "ACP-SESSION-203", tier: CAPABILITY,
    says: "no MCP servers and an empty list of them are the same",
    async holds(t) {
      assertFilled((await t.session()).sessionId, "without");
      assertFilled((await t.session({ mcpServers: [] })).sessionId, "with an empty list");
    },
  },
  {
    id: "ACP-RESUME-201", tier: CAPABILITY,
    says: "a session can be resumed",
    async holds(t) {
      const { agent, sessionId } = await t.session();
      assert.equal((await resume(agent, sessionId, t.folder)).error, undefined);
    },
  },
  {
    id: "ACP-RESUME-202", tier: CAPABILITY,
    says: "what is replayed comes before the response, and nothing after it",
    async holds(t) {
      const { agent, sessionId, end, updates } = await resumed(t, FROM_START);
      assert.ok(updates.some(({ sessionUpdate }) => HISTORY.test(sessionUpdate)), "something is replayed");
      await agent.fence();
      // News, such as the models of a provider, may come at any time.
      assert.deepEqual(agent.updates(sessionId, end).filter(({ sessionUpdate }) => HISTORY.test(sessionUpdate)), []);
    },
  },
  {
    id: "ACP-RESUME-203", tier: CAPABILITY,
    says: "who does not ask for a replay gets none",
    async holds(t) {
      for (const more of [{}, { replayFrom: null }]) {
        const { updates } = await resumed(t, more);
        assert.deepEqual(updates.filter(({ sessionUpdate }) => HISTORY.test(sessionUpdate)), []);
      }
    },
  },
  {
    id: "ACP-RESUME-204", tier: CAPABILITY,
    says: "the user's message is replayed with the id that it had",
    async holds(t) {
      const { turn, updates } = await resumed(t, FROM_START);
      const ids = updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith("user_message")).map(({ messageId }) => messageId);
      assert.ok(ids.includes(turn.response.result.messageId), `${ids}`);
    },
  },
  {
    id: "ACP-RESUME-205", tier: CAPABILITY,
    says: "pieces of a replayed message follow its beginning as an empty message",
    async holds(t) {
      const { updates } = await resumed(t, FROM_START);
      updates.forEach(({ sessionUpdate, messageId }, index) => {
        if (!/^(user|agent)_\w+_chunk$/.test(sessionUpdate)) return;
        const whole = sessionUpdate.replace("_chunk", "");
        const begun = updates.slice(0, index).some((one) => one.sessionUpdate === whole && one.messageId === messageId && one.content?.length === 0);
        assert.ok(begun, `${sessionUpdate} ${messageId}`);
      });
    },
  },
  {
    id: "ACP-LIST-201", tier: CAPABILITY,
    says: "sessions can be listed",
    async holds(t) {
      const { agent } = await talkedSession(t);
      const { sessions: listed } = await agent.result("session/list", {});
      assert.ok(Array.isArray(listed) && listed.length > 0);
    },
  },
  {
    id: "ACP-LIST-202", tier: CAPABILITY,
    says: "the list for a folder without sessions is empty",
    async holds(t) {
      const { agent } = await talkedSession(t);
      assert.deepEqual((await agent.result("session/list", { cwd: `${t.folder}/none` })).sessions, []);
    },
  },
  {
    id: "ACP-LIST-203", tier: CAPABILITY,
    says: "the list for a folder has sessions of that folder alone",
    async holds(t) {
      const { agent } = await talkedSession(t);
      const { sessions: listed } = await agent.result("session/list", { cwd: t.folder });
      assert.ok(listed.length > 0);
      for (const { cwd } of listed) assert.equal(cwd, t.folder);
    },
  },
  {
    id: "ACP-LIST-204", tier: CAPABILITY,
    says: "the folders of a list are absolute",
    async holds(t) {
      const { agent } = await talkedSession(t);
      for (const { cwd } of (await agent.result("session/list", {})).sessions) assert.ok(cwd.startsWith("/"), cwd);
    },
  },
  {
    id: "ACP-CLOSE-201", tier: CAPABILITY,
    says: "a session can be closed",
    async holds(t) {
      const { agent, sessionId } = await t.session();
      assert.deepEqual(await agent.result("session/close", { sessionId }), {});
    },
  },
  {
    id: "ACP-DELETE-201", tier: CAPABILITY,
    says: "a session can be deleted",
    async holds(t) {
      await t.needs("capabilities.session.delete");
      const { agent, sessionId } = await talkedSession(t);
      assert.deepEqual(await agent.result("session/delete", { sessionId }), {});
    },
  },
  {
    id: "ACP-DELETE-202", tier: CAPABILITY,
    says: "a session that was deleted is not listed any more",
    async holds(t) {
      await t.needs("capabilities.session.delete");
      const { agent, sessionId } = await talkedSession(t);
      const isListed = async () =>
        (await agent.result("session/list", { cwd: t.folder })).sessions.some((one) => one.sessionId === sessionId);
      assert.ok(await isListed(), "it was listed before");
      await agent.result("session/delete", { sessionId });
      assert.ok(!(await isListed()));
    },
  },
  {
    id: "ACP-DELETE-203", tier: ADVISORY,
    says: "deleting a session that is not there succeeds",
    async holds(t) {
      await t.needs("capabilities.session.delete");
      const { agent, sessionId } = await t.session();
      for (const id of [sessionId, sessionId, "no-such-session"]) await agent.result("session/delete", { sessionId: id });
    },
  },
  {
    id: "ACP-ADDDIRS-201", tier: CAPABILITY,
    says: "a session can have more folders",
    async holds(t) {
      await t.needs("capabilities.session.additionalDirectories");
      assertFilled((await t.session({ additionalDirectories: ["/tmp"] })).sessionId, "sessionId");
    },
  },
  {
    id: "ACP-ADDDIRS-202", tier: CAPABILITY,
    says: "a session that is resumed can have more folders",
    async holds(t) {
      await t.needs("capabilities.session.additionalDirectories");
      const { agent, sessionId } = await talkedSession(t);
      const { error } = await resume(agent, sessionId, t.folder, { additionalDirectories: ["/tmp"] });
      assert.equal(error, undefined);
    },
  },
  mcpServer("ACP-MCP-201", "stdio", { type: "stdio", name: "none", command: "/no/such/server", args: [], env: [] }),
  mcpServer("ACP-MCP-202", "http", { type: "http", name: "none", url: "http://127.0.0.1:9/mcp", headers: [] }),
];

/** Whether a session opens with a server that is not there is the agent's business. */
function mcpServer(id, transport, server) {
  return {
    id,
    tier: INFORMATIONAL,
    says: `what a session with an MCP server over ${transport} gets`,
    async holds(t) {
      await t.needs(`capabilities.session.mcp.${transport}`);
      const agent = await t.fresh();
      const { error } = await agent.request("session/new", { cwd: t.folder, mcpServers: [server] });
      t.note(error ? JSON.stringify(error) : "a session");
    },
  };
}

async function optionsOf(t) {
  const opened = await t.session();
  if (!opened.setup.configOptions?.length) t.skip("its sessions have no options");
  return opened;
}

function assertOptions(options) {
  for (const option of options) {
    assertFilled(option.configId, "configId");
    assertFilled(option.name, "name");
    assertDefined(option.type, ["select", "boolean"], "type");
    if (option.type === "boolean") assert.equal(typeof option.currentValue, "boolean");
    if (option.type !== "select") continue;
    assert.ok(Array.isArray(option.options));
    const groups = option.options.filter((one) => Array.isArray(one.options)).length;
    assert.ok(groups === 0 || groups === option.options.length, "groups are not mixed with values");
  }
}

const idsOf = (options) => options.map(({ configId }) => configId);

/** Sets an option to another value: {agent, sessionId, setup, option, value, from, configOptions}. */
async function changedOption(t) {
  const opened = await optionsOf(t);
  const { option, value } = otherChoice(opened.setup.configOptions);
  const type = option.type === "select" ? "id" : "boolean";
  const from = opened.agent.messages.length;
  const params = { sessionId: opened.sessionId, configId: option.configId, type, value };
  return { ...opened, option, value, from, ...(await opened.agent.result("session/set_config_option", params)) };
}

const settings = [
  {
    id: "ACP-CONFIG-201", tier: CAPABILITY,
    says: "every option has an id, a name and the members of its type",
    async holds(t) {
      assertOptions((await optionsOf(t)).setup.configOptions);
    },
  },
  {
    id: "ACP-CONFIG-202", tier: CAPABILITY,
    says: "setting an option gives all options",
    async holds(t) {
      const { setup, configOptions, option, value } = await changedOption(t);
      for (const id of idsOf(setup.configOptions)) assert.ok(idsOf(configOptions).includes(id), id);
      assert.equal(configOptions.find(({ configId }) => configId === option.configId).currentValue, value);
    },
  },
  {
    id: "ACP-CONFIG-203", tier: CAPABILITY,
    says: "a session that is resumed has its options",
    async holds(t) {
      const { agent, sessionId, setup } = await optionsOf(t);
      const { result } = await resume(agent, sessionId, t.folder);
      assertOptions(result.configOptions);
      assert.deepEqual(idsOf(result.configOptions), idsOf(setup.configOptions));
    },
  },
  {
    id: "ACP-CONFIG-204", tier: CAPABILITY,
    says: "the value of every option is one that it can have",
    async holds(t) {
      for (const option of (await optionsOf(t)).setup.configOptions)
        if (option.type === "select") assert.ok(choicesOf(option).includes(option.currentValue), option.configId);
    },
  },
  {
    id: "ACP-CONFIG-206", tier: CAPABILITY,
    says: "an update about options has all of them",
    async holds(t) {
      const { agent, sessionId, setup } = await changedOption(t);
      await agent.fence();
      const told = agent.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "config_option_update");
      for (const { configOptions } of told)
        for (const id of idsOf(setup.configOptions)) assert.ok(idsOf(configOptions).includes(id), id);
      t.note(`${told.length} such updates`);
    },
  },
];

const waysToLogIn = async (t) => (await t.offered("authMethods")) ?? [];

const login = [
  {
    id: "ACP-AUTH-201", tier: ADVISORY,
    says: "no two ways to log in have the same id",
    async holds(t) {
      const ids = (await waysToLogIn(t)).map(({ methodId }) => methodId);
      assert.equal(new Set(ids).size, ids.length);
    },
  },
  {
    id: "ACP-AUTH-202", tier: MANDATORY,
    says: "a client without a terminal is not told to log in at one",
    async holds(t) {
      assert.deepEqual((await waysToLogIn(t)).filter(({ type }) => type === "terminal"), []);
    },
  },
  {
    id: "ACP-AUTH-203", tier: CAPABILITY,
    says: "one can log out",
    async holds(t) {
      if ((await waysToLogIn(t)).length === 0) t.skip("there is no way to log in");
      assert.deepEqual(await (await t.fresh()).result("auth/logout", {}), {});
    },
  },
  {
    id: "ACP-AUTH-204", tier: CAPABILITY,
    says: "after logging in sessions can be opened",
    async holds(t) {
      const [way] = (await waysToLogIn(t)).filter(({ type }) => type !== "terminal");
      if (!way) t.skip("there is no way to log in");
      const agent = await t.fresh();
      await agent.result("auth/login", { methodId: way.methodId });
      assert.notEqual((await agent.request("session/new", { cwd: t.folder })).error?.code, -32000);
    },
  },
  {
    id: "ACP-AUTH-205", tier: ADVISORY,
    says: "without a way to log in, sessions do not ask for it",
    async holds(t) {
      if ((await waysToLogIn(t)).length > 0) t.skip("there is a way to log in");
      const { error } = await (await t.shared()).request("session/new", { cwd: t.folder });
      assert.notEqual(error?.code, -32000);
    },
  },
  {
    id: "ACP-AUTH-206", tier: MANDATORY,
    says: "the kind of a way to log in is a known one, or the agent's own",
    async holds(t) {
      for (const { type } of await waysToLogIn(t)) assertDefined(type, ["agent", "terminal"], "type");
    },
  },
  {
    id: "ACP-AUTH-207", tier: MANDATORY,
    says: "arguments and environment of a login at a terminal are well formed",
    async holds(t) {
      const { initialized } = await t.fresh({ auth: { terminal: {} } });
      const ways = (initialized.authMethods ?? []).filter(({ type }) => type === "terminal");
      if (ways.length === 0) t.skip("nobody logs in at a terminal");
      for (const { args = [], env = [] } of ways) {
        for (const word of args) assert.equal(typeof word, "string");
        for (const { name, value } of env) assert.deepEqual([typeof name, typeof value], ["string", "string"]);
        assert.equal(new Set(env.map(({ name }) => name)).size, env.length);
      }
    },
  },
];

/** Every member of that name, however deep. */
function* membersOf(value, name) {
  if (value === null || typeof value !== "object") return;
  for (const [key, member] of Object.entries(value)) {
    if (key === name && !Array.isArray(value)) yield member;
    yield* membersOf(member, name);
  }
}

const OFFERS = ["session", "auth", "_meta"];

const extensions = [
  customRequest,
  promptMeta,
  {
    id: "ACP-META-201", tier: ADVISORY,
    says: "every _meta is an object or null",
    last: true,
    async holds(t) {
      for (const message of t.said()) for (const meta of membersOf(message, "_meta")) assert.ok(isMarker(meta), JSON.stringify(meta));
    },
  },
  {
    id: "ACP-EXT-201", tier: ADVISORY,
    says: "a notification of somebody's own is passed over",
    async holds(t) {
      const agent = await t.shared();
      const before = agent.messages.length;
      agent.notify("_conformance/hint", { any: "thing" });
      await agent.fence();
      assert.equal(agent.responses(before).length, 1, "only the fence is answered");
    },
  },
  {
    id: "ACP-EXT-202", tier: ADVISORY,
    says: "extensions are offered in the _meta of the capabilities",
    async holds(t) {
      const { capabilities = {} } = (await t.shared()).initialized;
      assert.deepEqual(Object.keys(capabilities).filter((key) => !OFFERS.includes(key)), []);
    },
  },
  {
    id: "ACP-EXT-203", tier: INFORMATIONAL,
    says: "what a notification about the connection that nobody knows gets",
    async holds(t) {
      const agent = await t.shared();
      const before = agent.messages.length;
      agent.notify("$/conformance", {});
      await agent.fence();
      t.note(agent.responses(before).length === 1 ? "no reply" : "a reply");
    },
  },
];

export const REQUIREMENTS = [
  ...initialize,
  schema,
  ...sessions,
  ...TURNS,
  lines("ACP-TRANSPORT-201", "every line of the standard output is a message of JSON-RPC 2.0, or a batch of them"),
  utf8,
  lines("ACP-TRANSPORT-203", "no message has a line end inside"),
  ...jsonrpc,
  ...batches,
  ...settings,
  ...login,
  ...extensions,
  errors,
  shutdown,
  rootKeys,
  standardError,
  badLine("ACP-INFO-PARSE-001", "what a line that is not JSON gets", "this is not JSON"),
  badLine("ACP-INFO-INVALIDREQ-001", "what JSON that is not a message gets", '{"foo":"bar"}'),
  unknownSession,
];

const NO_BATCHES = "the version 2 of SDK 2.4.0 has no batches any more: they are refused as a whole";

/** What is known not to hold: of all agents, or by the name of one. */
export const EXCEPTIONS = {
  all: { "ACP-BATCH-203": NO_BATCHES, "ACP-BATCH-204": NO_BATCHES, "ACP-BATCH-205": NO_BATCHES },
};

export const COUNT = 106;
