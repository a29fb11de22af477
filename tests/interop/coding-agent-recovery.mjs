// Turns that end in the middle: the agent is killed, or the model's window is full.  What is left can be shown,
// and sent to every service.
//
//     node coding-agent-recovery.mjs VERSION ACP

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { APIS, CodingAgent, configure, ownHome } from "./coding-agent-side.mjs";
import { until } from "./processes.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const name = (api, what) => `v${version} agent on ${api}: ${what}`;
const call = (tool, args) => ({ tool, arguments: args });
const resultsIn = ({ said }) => said.filter(({ kind }) => kind === "result").map(({ text }) => text);
const open = (keep, api, ...turns) => keep(new CodingAgent(version, acp, api, ["--mode", "full"])).open(turns);

/** Kills the agent, and has another process load the session, with all that was shown. */
async function killAndLoad(agent) {
  const { sessionId, child, exited } = agent.client;
  child.kill("SIGKILL");
  await exited;
  agent.connect();
  await agent.client.initialize();
  await load(agent, sessionId);
}

async function load(agent, sessionId) {
  const place = { sessionId, cwd: agent.folder, mcpServers: [] };
  agent.client.sessionId = sessionId;
  if (version === 1) await agent.client.request("session/load", place);
  else await agent.client.request("session/resume", { ...place, replayFrom: { type: "start" } });
  await agent.client.settled();
}

async function killed(api) {
  await kase(name(api, "killed in a command: the call is shown as failed, and the model is told"), async (keep) => {
    const both = [{ text: "I wait." }, call("run_command", { command: "touch begun; sleep 20" }), call("read", { path: "a.txt" })];
    const agent = await open(keep, api, { when: { prompt: "one" }, reply: both }, { reply: [{ text: "Well." }] });
    agent.client.prompt("one").catch(() => {});
    await until("the command", () => existsSync(join(agent.folder, "begun")));
    await agent.client.until("the call", () => agent.tools().some(({ status }) => status === "in_progress"));
    await agent.client.until("the other", () => agent.tools().some(({ status }) => status === "completed"));
    await killAndLoad(agent);
    const check = () => {
      const [command, read] = agent.tools();
      assert.deepEqual([command.status, read.status], ["failed", "completed"]);
      assert.match(JSON.stringify(command.content), /The agent ended before this tool call did/);
    };
    check();
    await agent.stops("two", "end_turn");
    assert.match(resultsIn(agent.sent(-1))[0], /interrupted/);
    assert.equal(resultsIn(agent.sent(-1)).length, 2);
    // It is shown in its place, and to every process that comes later.
    const { sessionId } = agent.client;
    await agent.restart();
    await load(agent, sessionId);
    check();
    const kinds = agent.client.of(sessionId, "tool_call", "tool_call_update", "agent_message_chunk", "agent_message");
    assert.match(kinds.at(-1).sessionUpdate, /agent_message/, "what was said since comes behind it");
    await agent.stops("three", "end_turn");
  });

  await kase(name(api, "killed while the model answers"), async (keep) => {
    const agent = await open(keep, api, { when: { prompt: "one" }, reply: [{ text: "begun" }, { stall: true }] }, { reply: [{ text: "Well." }] });
    agent.client.prompt("one").catch(() => {});
    await agent.client.heard("begun");
    await killAndLoad(agent);
    await agent.stops("two", "end_turn");
    assert.match(agent.sent(-1).said.at(-1).text, /(^|\n)two$/); // one API takes both prompts as one message
  });
}

async function full(api) {
  const window = { anthropic: 200_000, "openai-chat": 400_000, "openai-responses": 400_000, gemini: 1_048_576 }[api];
  const sum = { when: { prompt: "Summarise" }, reply: [{ text: "We ate fruit." }] };

  await kase(name(api, "an answer that fills the window: it is summed up, and the turn goes on"), async (keep) => {
    const undo = configure({ models: { "claude-x": { context: window } } });
    const agent = await open(keep, api, sum,
      { when: { prompt: "eat" }, times: 1, reply: [{ text: "I ea" }], stop: "length", usage: { input: window - 10, output: 10 } },
      { reply: [{ text: "Well." }] });
    undo();
    await agent.stops("hello", "end_turn");
    await agent.stops("eat an apple", "end_turn");
    assert.equal(agent.requests().length, 4);
    const [first, last] = [agent.sent(-1).said[0].text, agent.sent(-1).said.at(-1).text];
    assert.match(first, /We ate fruit\.[^]*The current request of the user:\n\neat an apple(\n|$)/);
    assert.match(last, /cut off/);
    assert.match(agent.client.text(), /I eaWell\.$/);
  });
}

begin();
const clean = ownHome();
for (const api of APIS) {
  await killed(api);
  await full(api);
}
clean();
end();
