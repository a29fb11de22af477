// What stands before the newest message of a request to a model: services bind thoughts to every byte of it, and
// refuse a request in which one has changed.  So, whatever happens in a session, each request repeats the one
// before it and goes on behind it; a new prefix begins only with another model, or with a conversation that was
// summed up or forgotten, and then nothing of it is bound to the old one.
//
//     node coding-agent-prefix.mjs ACP CLOCK
//
// CLOCK is clock.c as a shared object.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { begin, end } from "../conformance/tap.mjs";
import { kase, sleep } from "./cases.mjs";
import { CodingAgent, ownHome } from "./coding-agent-side.mjs";

const acp = resolve(process.argv[2]);
const clock = resolve(process.argv[3]);
const script = fileURLToPath(new URL("../mcp/server.mjs", import.meta.url));
const DAY = 24 * 60 * 60;
const VERSIONS = { anthropic: 1, "openai-responses": 2 };
const HM = { reply: [{ thought: "I think." }, { text: "Hm." }] };
const SUM = { when: { prompt: "Summarise" }, reply: [{ text: "We ate fruit." }] };
const DONE = { when: { last: "tool" }, reply: [{ thought: "It is done." }, { text: "Done." }] };
const call = (tool, args) => ({ tool, arguments: args });

/** The messages of a request, and all that stands before them, as texts; marks for caches are no part of it. */
function partsOf({ body }) {
  const write = (value) => JSON.stringify(value, (key, inner) => (key === "cache_control" ? undefined : inner));
  return {
    head: write([body.tools, body.system ?? body.instructions]),
    messages: (body.messages ?? body.input).map(write),
  };
}

/** Fails unless the later request repeats all of the earlier one. */
function checkRepeats(earlier, later, what) {
  const [before, after] = [partsOf(earlier), partsOf(later)];
  assert.equal(after.head, before.head, `${what}: the system text and the tools`);
  assert.deepEqual(after.messages.slice(0, before.messages.length), before.messages, `${what}: the messages`);
  assert.ok(after.messages.length > before.messages.length, `${what}: nothing new`);
}

const newest = (agent) => partsOf(agent.requests().at(-1)).messages.at(-1);
const hasThoughts = (agent) => agent.sent(-1).said.some(({ kind }) => kind === "thought");

function make(keep, api) {
  const agent = keep(new CodingAgent(VERSIONS[api], acp, api, []));
  const asan = process.env.ASAN_OPTIONS;
  agent.clock = join(agent.folder, "clock");
  agent.environment = {
    LD_PRELOAD: clock,
    TEST_CLOCK: agent.clock,
    ...(asan ? { ASAN_OPTIONS: `${asan}:verify_asan_link_order=0` } : {}),
  };
  return agent;
}

const server = (agent, name, ...words) => ({
  name,
  command: process.execPath,
  args: [script, ...words],
  env: [{ name: "LD_PRELOAD", value: "" }],
  ...(agent.version === 2 ? { type: "stdio" } : {}),
});

/** A turn; all requests since the last one that was looked at repeat the ones before them. */
async function goOn(agent, prompt, what) {
  await agent.stops(prompt, "end_turn");
  const requests = agent.requests();
  for (; agent.looked + 1 < requests.length; agent.looked++)
    checkRepeats(requests[agent.looked], requests[agent.looked + 1], what);
}

async function changes(api) {
  await kase(`agent on ${api}: whatever changes, the next request repeats the last`, async (keep) => {
    const agent = make(keep, api);
    const instructions = join(agent.folder, "AGENTS.md");
    writeFileSync(instructions, "Use tabs.\n");
    agent.looked = 0;
    const late = call("mcp_call", { tool: "late__echo", arguments: { words: "hi" } });
    await agent.open([SUM, DONE, { when: { prompt: "write it$" }, reply: [{ thought: "I write." }, call("write", { path: "new.txt", text: "1\n" })] },
      { when: { prompt: "read (it|more)$" }, reply: [{ thought: "I look." }, { text: "I look." }, call("read", { path: "a.txt" })] },
      { when: { prompt: "echo hi$" }, reply: [late] }, HM], { mcpServers: [server(agent, "late", "slow")] });
    await goOn(agent, "read it", "a tool call");
    assert.match(agent.sent(0).system, /Mode: safe\n[^]*Use tabs\./);

    await agent.stops("/mode read-only", "end_turn");
    await goOn(agent, "one", "the mode");
    assert.match(newest(agent), /Mode is now: read-only \(refused in this mode: write, /);
    await goOn(agent, "one more", "nothing");
    assert.doesNotMatch(newest(agent), /agent_note/, "what is told once is not replayed");

    writeFileSync(instructions, "Use blanks.\n");
    await goOn(agent, "two", "AGENTS.md");
    assert.match(newest(agent), /AGENTS\.md has changed\. It says:\\n\\nUse blanks\./);

    writeFileSync(agent.clock, `${DAY}\n`);
    const tomorrow = new Date(Date.now() + DAY * 1000);
    await goOn(agent, "three", "midnight");
    assert.match(newest(agent), new RegExp(`Date is now: ${tomorrow.getFullYear()}-`));

    mkdirSync(join(agent.folder, ".git"));
    writeFileSync(join(agent.folder, ".git", "HEAD"), "ref: refs/heads/topic\n");
    await goOn(agent, "four", "a branch");
    assert.match(newest(agent), /Git branch is now: topic/);

    while (!/late__echo/.test(JSON.stringify(agent.sent(-1).said))) {
      await sleep(100);
      await goOn(agent, "wait", "a late MCP server");
    }
    await agent.stops("/mode full", "end_turn");
    await goOn(agent, "echo hi", "a call of a late tool");
    assert.match(JSON.stringify(agent.sent(-1).said), /echo: hi/);

    await agent.resume({ mcpServers: [server(agent, "other")] });
    await goOn(agent, "five", "a resume");
    assert.match(newest(agent), /call it through mcp_call: \{\\"name\\":\\"other__echo/);
    assert.match(newest(agent), /MCP tool no longer available: late__echo/);
    assert.doesNotMatch(newest(agent), /Use blanks/);
    await goOn(agent, "read more", "a tool call after a resume");
    assert.ok(hasThoughts(agent));

    // In the middle of a turn.
    await agent.stops("/mode safe", "end_turn");
    const { onPermission } = agent.client;
    agent.client.onPermission = async (request) => {
      await agent.setMode("full");
      return onPermission(request);
    };
    await goOn(agent, "write it", "the mode, in the middle of a turn");
    assert.match(JSON.stringify(agent.sent(-1).said.at(-1)), /Mode is now: full/);
  }, 90_000);
}

async function beginnings(api) {
  const last = (agent) => agent.requests().at(-1);

  await kase(`agent on ${api}: another model begins a new prefix without the old one's thoughts`, async (keep) => {
    const agent = await make(keep, api).open([DONE, { when: { prompt: "read (it|more)$" }, reply: [{ thought: "I look." }, call("read", { path: "a.txt" })] }, HM]);
    await agent.stops("/mode read-only", "end_turn");
    await agent.stops("read it", "end_turn");
    await agent.stops("/mode full", "end_turn");
    await agent.stops("two", "end_turn");
    assert.ok(hasThoughts(agent));
    const kinds = agent.sent(-1).said.map(({ kind }) => kind).filter((kind) => kind !== "thought");
    await agent.stops(`/model ${api === "anthropic" ? "claude-sonnet-5" : "gpt-5-mini"}`, "end_turn");
    await agent.stops("three", "end_turn");
    assert.ok(!hasThoughts(agent), "of the old model");
    assert.match(agent.sent(-1).system, /Mode: full\b/);
    assert.deepEqual(agent.sent(-1).said.map(({ kind }) => kind).slice(0, kinds.length), kinds, "the words stay");
    const before = last(agent);
    await agent.resume();
    await agent.stops("four", "end_turn");
    checkRepeats(before, last(agent), "a resume behind a change of model");
  });

  await kase(`agent on ${api}: a summary begins a new prefix`, async (keep) => {
    const agent = await make(keep, api).open([SUM, HM]);
    for (const word of ["one", "two", "three", "four"]) await agent.stops(word, "end_turn");
    const before = last(agent);
    await agent.stops("/compact", "end_turn");
    checkRepeats(before, last(agent), "the wish for a summary");
    await agent.stops("five", "end_turn");
    assert.ok(!hasThoughts(agent), "they were made for another prefix");
    assert.match(agent.sent(-1).said[0].text, /We ate fruit/);
    const after = last(agent);
    await agent.resume();
    await agent.stops("six", "end_turn");
    checkRepeats(after, last(agent), "a resume behind a summary");
    assert.ok(hasThoughts(agent), "what was said since is whole");
    await agent.stops("/clear", "end_turn");
    await agent.stops("seven", "end_turn");
    assert.deepEqual(agent.sent(-1).said.map(({ text }) => text), ["seven"]);
  });

  await kase(`agent on ${api}: thoughts that the service refuses are left out, once`, async (keep) => {
    const message = {
      anthropic: "messages.1.content.0: Invalid `signature` in `thinking` block",
      "openai-responses": "The encrypted content of input[1] could not be verified.",
    }[api];
    const agent = await make(keep, api).open([{ when: { prompt: "two" }, times: 1, error: { status: 400, message } },
      { when: { prompt: "three" }, times: 2, error: { status: 400, message } }, HM]);
    await agent.stops("one", "end_turn");
    await agent.stops("two", "end_turn");
    assert.ok(!hasThoughts(agent));
    const { stop, why } = await agent.run("three");
    assert.equal(stop, "error");
    assert.ok(why.includes(message), why);
  });
}

begin();
const clean = ownHome();
for (const api of Object.keys(VERSIONS)) {
  await changes(api);
  await beginnings(api);
}
clean();
end();
