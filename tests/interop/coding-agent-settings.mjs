// How sessions of the built-in coding agent are set up and described: modes that are an option as
// well, titles, costs, limits.
//
//     node coding-agent-settings.mjs VERSION ACP

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase, sleep } from "./cases.mjs";
import { APIS, CodingAgent, configure, ownHome } from "./coding-agent-side.mjs";
import { until } from "./processes.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const name = (what) => `v${version} agent: ${what}`;

const make = (keep, ...flags) => keep(new CodingAgent(version, acp, "anthropic", flags));
const open = (keep, flags, ...turns) => make(keep, ...flags).open(turns);
const HM = { reply: [{ text: "Hm." }] };

// ---- Modes ----

const modeOf = (options) => options.find((option) => (option.id ?? option.configId) === "mode");
/** The modes that were told as options, and those told as modes. */
const toldOptions = (agent) => agent.of("config_option_update").map(({ configOptions }) => modeOf(configOptions).currentValue);
const toldModes = (agent) => agent.of("current_mode_update").map(({ currentModeId }) => currentModeId);

async function modes() {
  await kase(name("the mode is an option, too"), async (keep) => {
    const agent = await open(keep, [], HM);
    const { modes: state, configOptions } = agent.setup;
    const option = modeOf(configOptions);
    assert.equal(option.category, "mode");
    assert.equal(option.currentValue, "safe");
    assert.equal(configOptions.filter(({ category }) => category === "mode").length, 1);
    const values = option.options.map(({ value }) => value);
    assert.deepEqual(values, ["safe", "read-only", "sandbox", "full"]);
    if (version === 1) assert.deepEqual(state.availableModes.map(({ id }) => id), values);
  });

  await kase(name("a mode that is set as an option is told as a mode"), async (keep) => {
    const agent = await open(keep, [], HM);
    assert.equal(await agent.setOption("mode", "read-only"), "read-only");
    await agent.stops("one", "end_turn");
    assert.match(agent.sent(-1).system, /Mode: read-only \(refused in this mode: write,/);
    assert.deepEqual(toldModes(agent), version === 1 ? ["read-only"] : []);
    await assert.rejects(agent.setOption("mode", "wild"), { code: -32602 });
    assert.deepEqual(toldModes(agent), version === 1 ? ["read-only"] : []);
  });

  if (version === 1)
    await kase(name("a mode that is set as a mode is told as an option"), async (keep) => {
      const agent = await open(keep, [], HM);
      await agent.setMode("full");
      await agent.client.until("the option", () => toldOptions(agent).includes("full"));
      await assert.rejects(agent.setMode("wild"), { code: -32602 });
      await agent.stops("one", "end_turn");
      assert.deepEqual(toldOptions(agent), ["full"]);
      assert.deepEqual(toldModes(agent), []);
    });

  await kase(name("a mode that a command sets is told in both ways"), async (keep) => {
    const agent = await open(keep, [], HM);
    await agent.stops("/mode read-only", "end_turn");
    assert.deepEqual(toldModes(agent), version === 1 ? ["read-only"] : []);
    assert.deepEqual(toldOptions(agent), ["read-only"]);
    await agent.stops("/mode", "end_turn");
    await agent.stops("/mode wild", "end_turn");
    assert.deepEqual(toldOptions(agent), ["read-only"]);
  });
}

// ---- Titles ----

const TITLED = { when: { prompt: "Give this conversation a title" }, reply: [{ text: '"Apples and pears."\n' }] };
const titlesOf = (agent) => agent.of("session_info_update").map(({ title }) => title);

async function titles() {
  const openTitled = (keep, flags, ...turns) =>
    keep(new CodingAgent(version, acp, "anthropic", flags, { titles: true })).open(turns);
  const titled = (agent, count) => agent.client.until("the title", () => titlesOf(agent).length >= count);

  for (const api of APIS)
    await kase(`v${version} agent on ${api}: the model gives the title after the first turn`, async (keep) => {
      const agent = await keep(new CodingAgent(version, acp, api, [], { titles: true })).open([TITLED, HM]);
      await agent.stops("compare apples with pears, please\nat length", "end_turn");
      assert.deepEqual(titlesOf(agent), ["compare apples with pears, please"]);
      await titled(agent, 2);
      assert.equal(titlesOf(agent)[1], "Apples and pears");
      const { said, tools } = agent.sent(-1);
      assert.deepEqual(tools, []);
      assert.deepEqual(said.map(({ kind }) => kind), ["user", "assistant", "user"]);
      await agent.stops("two", "end_turn");
      assert.equal(agent.requests().length, 3, "a title is asked for once");
      assert.deepEqual(agent.sent(-1).said.map(({ text }) => text).slice(-1), ["two"]);
      await agent.client.request("session/list", {}).then(({ sessions }) =>
        assert.ok(sessions.some(({ title }) => title === "Apples and pears")));
    });

  await kase(name("turns of other sessions do not put a title off"), async (keep) => {
    const coder = await openTitled(keep, ["--max-sessions", "100000"], TITLED, HM);
    const { client, folder } = coder;
    const asked = () => coder.requests().some(({ asked: { tools } }) => tools.length === 0);
    const end = Date.now() + 60_000;
    await coder.stops("one", "end_turn");
    while (!asked() && Date.now() < end) {
      const { sessionId } = await client.request("session/new", { cwd: folder, mcpServers: [] });
      await client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "another" }] });
    }
    assert.ok(asked(), "a title was asked for while turns went on ending");
  });

  await kase(name("eight titles are asked for at a time"), async (keep) => {
    const coder = await openTitled(keep, [], { ...TITLED, reply: [{ stall: true }] }, HM);
    const { client, folder } = coder;
    const asked = () => coder.requests().filter(({ asked: { tools } }) => tools.length === 0).length;
    const next = async () => {
      client.sessionId = (await client.request("session/new", { cwd: folder, mcpServers: [] })).sessionId;
      await coder.stops("another", "end_turn");
    };
    const titles = async (count) => {
      await until("the titles", () => asked() >= count);
      assert.equal(asked(), count);
    };
    const first = client.sessionId;
    await coder.stops("one", "end_turn");
    await titles(1);
    for (let i = 0; i < 11; i++) await next();
    await titles(8);
    await coder.stops("two", "end_turn");
    await titles(8);
    await client.request("session/close", { sessionId: first });
    await titles(9);
  });

  await kase(name("a title that the user gives stays"), async (keep) => {
    const agent = await openTitled(keep, [], { ...TITLED, reply: [{ wait: 300 }, ...TITLED.reply] }, HM);
    await agent.stops("one", "end_turn");
    await agent.asked(2);
    await agent.stops("/title Mine", "end_turn");
    await sleep(500);
    assert.deepEqual(titlesOf(agent), ["one", "Mine"]);
  });

  await kase(name("a title is not asked for after a command, a failure, or a cancel"), async (keep) => {
    const agent = await openTitled(keep, [], { when: { prompt: "fail" }, error: { status: 400, message: "no" } },
      { when: { prompt: "wait" }, reply: [{ stall: true }] }, TITLED, HM);
    await agent.stops("/help", "end_turn");
    await agent.stops("fail", "error");
    const turn = agent.run("wait");
    await agent.asked(2);
    await agent.client.cancel();
    await turn;
    await agent.stops("/help", "end_turn");
    await sleep(300);
    assert.equal(agent.requests().length, 2);
    await agent.stops("now", "end_turn");
    await titled(agent, 2);
  });

  await kase(name("no title comes of a refusal, and nobody is troubled"), async (keep) => {
    const agent = await openTitled(keep, [], { ...TITLED, reply: undefined, error: { status: 400, message: "no" } }, HM);
    await agent.stops("one", "end_turn");
    await agent.asked(2);
    await agent.stops("two", "end_turn");
    assert.deepEqual(titlesOf(agent), ["one"]);
  });

  await kase(name("the client goes while a title is asked for"), async (keep) => {
    const agent = await openTitled(keep, [], { ...TITLED, reply: [{ stall: true }] }, HM);
    await agent.stops("one", "end_turn");
    await agent.asked(2);
  });

  await kase(name("titles can be switched off"), async (keep) => {
    const agent = await open(keep, [], HM);
    await agent.stops("one", "end_turn");
    await sleep(400);
    assert.equal(agent.requests().length, 1);
    const undo = configure({ agent: { titles: false } });
    const other = await openTitled(keep, [], HM);
    await other.stops("one", "end_turn");
    await sleep(400);
    undo();
    assert.equal(other.requests().length, 1);
  });

  await kase(name("the demo makes titles by rule"), async (keep) => {
    const agent = keep(new CodingAgent(version, acp, "anthropic", ["--demo"], { titles: true }));
    await agent.open([]);
    await agent.stops("search for apple in a.txt and in all others, then read b.txt", "end_turn");
    await titled(agent, 2);
    assert.equal(titlesOf(agent)[1], "Search for apple in a.txt and");
  });
}

// ---- Costs ----

const costsOf = (agent) => agent.of("usage_update").map(({ cost }) => cost);

async function costs() {
  const million = { input: 1_000_000, output: 100_000 };

  await kase(name("what a session costs adds up, where the user knows the price"), async (keep) => {
    const undo = configure({
      agent: { prices: { "claude-*": { input: 2, output: 10 } } },
      models: { "anthropic/claude-fruit": { context: 200_000 }, "claude-fruit": { context: 200_000 } },
    });
    const agent = await open(keep, ["--model", "claude-fruit"], { usage: { input: 1000, output: 100 }, ...HM });
    await agent.stops("one", "end_turn");
    await agent.stops("two", "end_turn");
    undo();
    const [first, second] = costsOf(agent);
    assert.equal(first.currency, "USD");
    assert.ok(Math.abs(first.amount - 0.003) < 1e-9, `${first.amount}`);
    assert.ok(Math.abs(second.amount - 0.006) < 1e-9, `${second.amount}`);
    await agent.stops("/context", "end_turn");
    assert.match(agent.client.text(), /cost about 0\.0060 US dollars/);
  });

  await kase(name("of a model that nobody knows no cost is told"), async (keep) => {
    const undo = configure({ models: { "claude-fr*": { context: 200_000 } } });
    const agent = await open(keep, ["--model", "claude-fruit"], { usage: million, ...HM });
    undo();
    await agent.stops("one", "end_turn");
    assert.deepEqual(costsOf(agent), [undefined]);
  });

  await kase(name("a price that is none is an error of the configuration"), async (keep) => {
    const undo = configure({ agent: { prices: { a: { input: "3" } } } });
    const said = spawnSync(acp, ["agent", "--demo"], { input: "", encoding: "utf8" });
    undo();
    assert.notEqual(said.status, 0);
    assert.match(said.stderr, /agent\.prices\.a\.input: expected a number of dollars/);
    keep({ stop: async () => ({ failures: [], checked: 1 }) });
  });
}

// ---- What is too long ----

async function lengths() {
  const tooLong = { status: 400, message: "prompt is too long: 250000 tokens > 200000 maximum" };
  const sum = { when: { prompt: "Summarise" }, reply: [{ text: "We ate fruit." }] };

  for (const api of APIS)
    await kase(`v${version} agent on ${api}: a conversation that is too long is summed up, and the turn goes on`, async (keep) => {
      const agent = await keep(new CodingAgent(version, acp, api, [])).open([
        { when: { prompt: "three" }, times: 1, error: tooLong }, sum, { reply: [{ text: "apple ".repeat(2000) }] }]);
      await agent.stops("one", "end_turn");
      await agent.stops("two", "end_turn");
      await agent.stops("three", "end_turn");
      assert.equal(agent.requests().length, 5);
      const whole = JSON.stringify(agent.sent(2)).length;
      assert.ok(JSON.stringify(agent.sent(3)).length < whole / 2, "what is to be summed up fits");
      const last = agent.sent(4).said.map(({ text }) => text).join("\n");
      assert.match(last, /We ate fruit\.[^]*three$/);
      assert.ok(!last.includes("apple"));
    });

  await kase(name("when it is still too long the turn fails with the reason"), async (keep) => {
    const agent = await open(keep, [], { when: { prompt: "two" }, error: tooLong }, sum, HM);
    await agent.stops("one", "end_turn");
    const { stop, why } = await agent.run("two");
    assert.equal(stop, "error");
    assert.match(why, /too long/);
    assert.equal(agent.requests().length, 4, "summed up once");
    await agent.stops("three", "end_turn");
  });

  await kase(name("a single prompt that is too long cannot be summed up"), async (keep) => {
    const agent = await open(keep, [], { times: 1, error: tooLong }, HM);
    assert.match((await agent.run("one")).why, /too long/);
    assert.equal(agent.requests().length, 1);
  });

  await kase(name("a summary that was asked for makes do with less when all of it is too long"), async (keep) => {
    const agent = await open(keep, [], { ...sum, times: 1, reply: undefined, error: tooLong }, sum,
      { reply: [{ text: "apple ".repeat(2000) }] });
    await agent.stops("one", "end_turn");
    await agent.stops("/compact", "end_turn");
    assert.match(agent.client.text(), /summarised/);
    assert.ok(JSON.stringify(agent.sent(2)).length < JSON.stringify(agent.sent(1)).length / 2);
    await agent.stops("two", "end_turn");
    assert.match(agent.sent(-1).said[0].text, /We ate fruit/);
  });

  await kase(name("results of tools are cut before they are summed up"), async (keep) => {
    const read = { reply: [{ tool: "read", arguments: { path: "large" } }] };
    const agent = await open(keep, [], { when: { last: "tool" }, times: 1, error: tooLong }, sum,
      { when: { last: "tool" }, reply: [{ text: "Done." }] }, read);
    writeFileSync(join(agent.folder, "large"), "apple\n".repeat(8000));
    await agent.stops("read it", "end_turn");
    assert.equal(agent.client.text(), "Done.");
    assert.ok(JSON.stringify(agent.sent(2).said).length < JSON.stringify(agent.sent(1).said).length / 2);
  });
}

// ---- Limits ----

async function limits() {
  const text = (count) => [{ type: "text", text: "x".repeat(count) }];
  const refused = { code: -32602, message: /the prompt has 1\d{3} bytes, and at most 1000 are taken/ };

  await kase(name("a prompt that is too large is refused, and nothing is left of it"), async (keep) => {
    const agent = await open(keep, ["--max-prompt", "1000"], HM);
    await assert.rejects(agent.client.prompt(text(1000)), refused);
    await agent.client.settled();
    assert.deepEqual(agent.of("user_message", "state_update", "session_info_update"), []);
    await agent.stops(text(500), "end_turn");
    assert.equal(agent.requests().length, 1);
  });

  await kase(name("the limit is a setting, too; without it megabytes are taken"), async (keep) => {
    const undo = configure({ agent: { max_prompt: 1000 } });
    const agent = await open(keep, [], HM);
    await assert.rejects(agent.client.prompt(text(1000)), refused);
    undo();
    const other = await open(keep, [], HM);
    await other.stops(text(5_000_000), "end_turn");
    await assert.rejects(other.client.prompt(text(17_000_000)), { code: -32602 });
    await other.stops("still here", "end_turn");
  });

  await kase(name("the number of sessions is limited until one is closed"), async (keep) => {
    const agent = await open(keep, ["--max-sessions", "2"], HM);
    const place = { cwd: agent.folder, mcpServers: [] };
    const { sessionId } = await agent.client.request("session/new", place);
    const error = await agent.client.refused("session/new", place);
    assert.equal(error.code, -32603);
    assert.match(error.message, /too many sessions are open/);
    await agent.stops("one", "end_turn");
    await agent.client.request("session/close", { sessionId });
    await agent.client.request("session/new", place);
    const resumed = await agent.client.refused("session/resume", { ...place, sessionId });
    assert.match(resumed.message, /too many sessions are open/);
  });
}

// ---- Permissions ----

async function permissions() {
  await kase(name("what is always allowed is known to the next process"), async (keep) => {
    const append = { reply: [{ tool: "run_command", arguments: { command: "echo again >> new.txt" } }], times: 1 };
    const agent = await open(keep, [], { ...append }, { when: { prompt: "two" }, ...append }, HM);
    const grants = join(process.env.HOME, ".local", "state", "acp", "grants.jsonl");
    assert.ok(!existsSync(grants));
    agent.allow("allow_always");
    await agent.stops("one", "end_turn");
    assert.equal(agent.client.permissions.length, 1);
    assert.match(readFileSync(grants, "utf8"), /new\.txt/);
    await agent.restart();
    await agent.client.open(agent.folder, []);
    await agent.stops("two", "end_turn");
    assert.equal(agent.client.permissions.length, 0);
    assert.equal(readFileSync(join(agent.folder, "new.txt"), "utf8"), "again\nagain\n");
    rmSync(grants);
  });
}

const clean = ownHome();
begin();
await modes();
await permissions();
await titles();
await costs();
await lengths();
await limits();
clean();
end();
