// A long conversation of the built-in coding agent by each of the four APIs, with a model that
// thinks before each of thirty tool calls, and with everything in the middle that changes what the
// model is sent: another model, another mode, a summary, another process.  The scripted model is
// strict: it refuses what the service would refuse, and knows whether its thoughts come back as they
// were, to the model that had them, behind what they were about.
//
//     node coding-agent-long.mjs VERSION ACP

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { APIS, CodingAgent, ownHome } from "./coding-agent-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);

const MODELS = {
  anthropic: ["claude-opus-5", "claude-sonnet-5"],
  "openai-chat": ["gpt-5", "gpt-5.6"],
  "openai-responses": ["gpt-5", "gpt-5.6"],
  gemini: ["gemini-2.5-flash", "gemini-3.5-flash"],
};
const CALLS = 10; // for each of three prompts
const FILES = ["a.txt", "b.txt"];

/** Ten calls, one after the other, and the answer; each of them with a thought. */
function work(answer) {
  const calls = Array.from({ length: CALLS }, (_, i) => ({
    times: 1,
    reply: [
      { thought: [`${answer}: I look `, `for the ${i}. time.`] },
      ...(i % 3 === 0 ? [{ text: `Step ${i}. ` }] : []),
      { tool: "read", arguments: { path: FILES[i % 2] } },
      ...(i % 4 === 0 ? [{ tool: "read", arguments: { path: FILES[(i + 1) % 2] } }] : []),
    ],
  }));
  return [...calls, { times: 1, reply: [{ thought: "That was all." }, { text: answer }] }];
}

function load(agent, sessionId) {
  const place = { sessionId, cwd: agent.folder, mcpServers: [] };
  if (agent.version === 1) return agent.client.request("session/load", place);
  return agent.client.request("session/resume", { ...place, replayFrom: { type: "start" } });
}

/** What happens between the prompts. */
const CHANGES = {
  "another model": async (agent) => {
    await agent.client.until("the list", () => agent.of("config_option_update").length);
    const other = MODELS[agent.api][1];
    assert.equal(await agent.setOption("model", other), `${agent.api.replace(/-.*/, "")}/${other}`);
  },
  "another model and back": async (agent, round) => {
    await agent.client.until("the list", () => agent.of("config_option_update").length);
    await agent.setOption("model", MODELS[agent.api][round % 2]);
  },
  "another process": async (agent) => {
    const { sessionId } = agent.client;
    await agent.restart();
    await load(agent, sessionId);
    agent.client.sessionId = sessionId;
    await agent.client.settled();
  },
  "another effort": async (agent, round) => {
    await agent.setOption("effort", ["max", "low"][round % 2]);
  },
  "another mode": async (agent, round) => {
    await agent.setMode(["read-only", "full"][round % 2]);
  },
  "a summary": async (agent) => {
    agent.model.script.first({ times: 1, when: { prompt: "Summarise" }, reply: [{ text: "We read fruit." }] });
    await agent.stops("/compact", "end_turn");
  },
  "each of these in turn": async (agent, round) => {
    const turns = [[], ["another model", "another mode"], ["a summary", "another effort"], ["another process"]];
    for (const what of turns[round]) await CHANGES[what](agent, round);
  },
};

async function talk(keep, api, change) {
  const agent = await keep(new CodingAgent(version, acp, api, [])).open(
    [...work("One."), ...work("Two."), ...work("Three."), { reply: [{ text: "Four." }] }],
    { models: MODELS[api] },
  );
  for (const [round, prompt] of ["first", "second", "third", "fourth"].entries()) {
    if (round > 0) await change(agent, round);
    await agent.stops(prompt, "end_turn");
  }
  assert.match(agent.client.text(), /Four\.$/);
  if (api.startsWith("openai"))
    for (const { body } of agent.requests()) assert.equal(body.prompt_cache_key, agent.client.sessionId.slice(0, 64));
  const asked = agent.requests().length;
  assert.ok(asked >= 3 * (CALLS + 1) + 1, `${asked} requests`);
}

const clean = ownHome();
begin();
for (const api of APIS)
  for (const [what, change] of Object.entries(CHANGES))
    await kase(`v${version} agent on ${api}: thirty calls with ${what} in between`, (keep) => talk(keep, api, change));
clean();
end();
