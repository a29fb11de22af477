// Turns that end in the middle: the agent is killed, or the model's window is full.  What is left can be shown,
// and sent to every service.
//
//     node coder-recovery.mjs VERSION ACP

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { APIS, Coder, configure, ownHome } from "./coder-side.mjs";
import { until } from "./processes.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const name = (api, what) => `v${version} coder on ${api}: ${what}`;
const call = (tool, args) => ({ tool, arguments: args });
const resultsIn = ({ said }) => said.filter(({ kind }) => kind === "result").map(({ text }) => text);
const open = (keep, api, ...turns) => keep(new Coder(version, acp, api, ["--mode", "full"])).open(turns);

/** Kills the agent, and has another process load the session, with all that was shown. */
async function killAndLoad(coder) {
  const { sessionId, child, exited } = coder.client;
  child.kill("SIGKILL");
  await exited;
  coder.connect();
  await coder.client.initialize();
  await load(coder, sessionId);
}

async function load(coder, sessionId) {
  const place = { sessionId, cwd: coder.folder, mcpServers: [] };
  coder.client.sessionId = sessionId;
  if (version === 1) await coder.client.request("session/load", place);
  else await coder.client.request("session/resume", { ...place, replayFrom: { type: "start" } });
  await coder.client.settled();
}

async function killed(api) {
  await kase(name(api, "killed in a command: the call is shown as failed, and the model is told"), async (keep) => {
    const both = [{ text: "I wait." }, call("run_command", { command: "touch begun; sleep 20" }), call("read", { path: "a.txt" })];
    const coder = await open(keep, api, { when: { prompt: "one" }, reply: both }, { reply: [{ text: "Well." }] });
    coder.client.prompt("one").catch(() => {});
    await until("the command", () => existsSync(join(coder.folder, "begun")));
    await coder.client.until("the call", () => coder.tools().some(({ status }) => status === "in_progress"));
    await coder.client.until("the other", () => coder.tools().some(({ status }) => status === "completed"));
    await killAndLoad(coder);
    const check = () => {
      const [command, read] = coder.tools();
      assert.deepEqual([command.status, read.status], ["failed", "completed"]);
      assert.match(JSON.stringify(command.content), /The agent ended before this tool call did/);
    };
    check();
    await coder.stops("two", "end_turn");
    assert.match(resultsIn(coder.sent(-1))[0], /interrupted/);
    assert.equal(resultsIn(coder.sent(-1)).length, 2);
    // It is shown in its place, and to every process that comes later.
    const { sessionId } = coder.client;
    await coder.restart();
    await load(coder, sessionId);
    check();
    const kinds = coder.client.of(sessionId, "tool_call", "tool_call_update", "agent_message_chunk", "agent_message");
    assert.match(kinds.at(-1).sessionUpdate, /agent_message/, "what was said since comes behind it");
    await coder.stops("three", "end_turn");
  });

  await kase(name(api, "killed while the model answers"), async (keep) => {
    const coder = await open(keep, api, { when: { prompt: "one" }, reply: [{ text: "begun" }, { stall: true }] }, { reply: [{ text: "Well." }] });
    coder.client.prompt("one").catch(() => {});
    await coder.client.heard("begun");
    await killAndLoad(coder);
    await coder.stops("two", "end_turn");
    assert.match(coder.sent(-1).said.at(-1).text, /(^|\n)two$/); // one API takes both prompts as one message
  });
}

async function full(api) {
  const window = { anthropic: 200_000, "openai-chat": 400_000, "openai-responses": 400_000, gemini: 1_048_576 }[api];
  const sum = { when: { prompt: "Sum up" }, reply: [{ text: "We ate fruit." }] };

  await kase(name(api, "an answer that fills the window: it is summed up, and the turn goes on"), async (keep) => {
    const undo = configure({ models: { "claude-x": { context: window } } });
    const coder = await open(keep, api, sum,
      { when: { prompt: "eat" }, times: 1, reply: [{ text: "I ea" }], stop: "length", usage: { input: window - 10, output: 10 } },
      { reply: [{ text: "Well." }] });
    undo();
    await coder.stops("hello", "end_turn");
    await coder.stops("eat an apple", "end_turn");
    assert.equal(coder.requests().length, 4);
    const [first, last] = [coder.sent(-1).said[0].text, coder.sent(-1).said.at(-1).text];
    assert.match(first, /We ate fruit\.[^]*The request of the user that is being worked on:\n\neat an apple(\n|$)/);
    assert.match(last, /cut off/);
    assert.match(coder.client.text(), /I eaWell\.$/);
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
