// The MCP servers of a session of the built-in coding agent: their tools are offered to the model, called,
// permitted, shown and cancelled, and nothing waits for a server that is slow or broken.
//
//     node coding-agent-mcp.mjs VERSION ACP

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { begin, end } from "../conformance/tap.mjs";
import { kase, sleep } from "./cases.mjs";
import { CodingAgent, KEY, ownHome } from "./coding-agent-side.mjs";
import { gone, isAlive, peakMemory, until } from "./processes.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const script = fileURLToPath(new URL("../mcp/server.mjs", import.meta.url));
const clean = ownHome();

const FULL = ["--mode", "full"];
const MOST_MEMORY = Number(process.env.ASAN_OPTIONS ? 512 : 64) * 1024 * 1024;
const DONE = { when: { last: "tool" }, reply: [{ text: "Done." }] };
const WAIT = { when: { prompt: "wait" }, reply: [{ text: "Waited." }] };
const name = (what) => `v${version} agent with MCP: ${what}`;
const call = (tool, args = {}) => ({ reply: [{ tool, arguments: args }] });
const resultIn = ({ said }) => said.filter(({ kind }) => kind === "result").at(-1);

/** A server that notes its process id and what it is told in files beside the workspace. */
function server(agent, label, way) {
  const files = join(agent.folder, label.replace(/\W/g, "-"));
  const env = [{ name: "PID_FILE", value: `${files}.pid` }, { name: "LOG_FILE", value: `${files}.log` }];
  return {
    name: label,
    command: process.execPath,
    args: way ? [script, way] : [script],
    env,
    ...(version === 2 ? { type: "stdio" } : {}),
  };
}

const fileOf = (agent, label, kind) => join(agent.folder, `${label.replace(/\W/g, "-")}.${kind}`);
const heard = (agent, label) => (existsSync(fileOf(agent, label, "log")) ? readFileSync(fileOf(agent, label, "log"), "utf8") : "");
const pidOf = (agent, label) => Number(readFileSync(fileOf(agent, label, "pid"), "utf8"));

/** A session with servers: [label, way]. */
async function open(keep, flags, servers, ...turns) {
  const agent = keep(new CodingAgent(version, acp, "anthropic", flags));
  return agent.open(turns, { mcpServers: servers.map(([label, way]) => server(agent, label, way)) });
}

/** Asks until the model is offered a tool of that name: in the list, or, when it came late, by a note. */
async function offered(agent, tool) {
  const note = new RegExp(`MCP tool (available|changed); call it through mcp_call: \\{"name":"${tool}"`);
  const told = ({ said }) => said.some(({ text }) => note.test(text));
  do await agent.stops("wait", "end_turn");
  while (!agent.sent(-1).tools.includes(tool) && !told(agent.sent(-1)));
  return agent.sent(-1).tools;
}

/** A case in which the version of the protocol makes no difference. */
const once = (...words) => (version === 1 ? kase(...words) : undefined);

begin();

await kase(name("its tools are offered, called, shown and asked for"), async (keep) => {
  const agent = await open(keep, [], [["my tools"]], WAIT, DONE, call("my_tools__echo", { words: "hi" }));
  const tools = await offered(agent, "my_tools__echo");
  for (const tool of ["echo", "fail", "slow", "image", "die", "grow"]) assert.ok(tools.includes(`my_tools__${tool}`), tool);
  await agent.stops("go", "end_turn");
  assert.equal(agent.client.permissions.length, 1);
  assert.equal(resultIn(agent.sent(-1)).text, "echo: hi");
  const [tool] = agent.tools();
  assert.equal(tool.title, "my tools: echo");
  assert.equal(tool.kind, "other");
  assert.equal(tool.status, "completed");
  assert.deepEqual(tool.rawInput, { words: "hi" });
  assert.match(JSON.stringify(tool.content), /echo: hi/);
});

await kase(name("the first prompt waits for servers that start"), async (keep) => {
  const agent = await open(keep, [], [["s"], ["other"]], WAIT);
  await agent.stops("wait", "end_turn");
  for (const tool of ["s__echo", "other__echo"]) assert.ok(agent.sent(0).tools.includes(tool), tool);
  assert.match(heard(agent, "s"), /"clientInfo":\{"name":"acp","version":"\d+\.\d+\.\d+/);
});

await once(name("it does not wait for long, says so, and the tools come later"), async (keep) => {
  const late = call("mcp_call", { tool: "late__echo", arguments: { words: "hi" } });
  const agent = await open(keep, FULL, [["late", "slow"]], WAIT, { when: { prompt: "go" }, ...late, times: 1 },
    { when: { prompt: "wrong" }, ...call("mcp_call", { tool: "late__ecco" }), times: 1 },
    { when: { prompt: "odd" }, ...call("mcp_call", { arguments: 7 }), times: 1 }, DONE);
  await agent.stops("wait", "end_turn");
  const { tools, system } = agent.sent(0);
  assert.ok(!tools.includes("late__echo"));
  assert.match(agent.warned(), /"late\\?" is not ready yet/);
  await offered(agent, "late__echo");
  assert.equal(agent.warned().match(/not ready yet/g).length, 1, "once");
  await agent.stops("go", "end_turn");
  assert.equal(resultIn(agent.sent(-1)).text, "echo: hi");
  assert.equal(agent.tools()[0].title, "late: echo");
  assert.deepEqual(agent.tools()[0].rawInput, { words: "hi" });
  await agent.stops("wrong", "end_turn");
  assert.match(resultIn(agent.sent(-1)).text, /no tool "late__ecco"\. The tools, most similar first: late__echo, /);
  await agent.stops("odd", "end_turn");
  assert.match(resultIn(agent.sent(-1)).text, /"tool" must be the name/);
  assert.deepEqual([agent.sent(-1).tools, agent.sent(-1).system], [tools, system], "the list never changes");
});

await kase(name("cancel while it waits for servers"), async (keep) => {
  const agent = await open(keep, [], [["s", "silent"]], WAIT);
  const turn = agent.run("hello");
  await sleep(100);
  await agent.client.cancel();
  assert.equal((await turn).stop, "cancelled");
  assert.equal(agent.requests().length, 0);
  await agent.stops("wait", "end_turn");
});

await once(name("the model's keys are not for servers, unless the client gives them one"), async (keep) => {
  const agent = keep(new CodingAgent(version, acp, "anthropic", FULL));
  const one = server(agent, "s");
  one.env.push({ name: "OPENAI_API_KEY", value: "the-server's-own" });
  const others = ["ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"];
  for (const variable of others) process.env[variable] = KEY;
  try {
    await agent.open([DONE, call("s__environment")], { mcpServers: [one] });
  } finally {
    for (const variable of others) delete process.env[variable];
  }
  await agent.stops("go", "end_turn");
  const { text } = resultIn(agent.sent(-1));
  assert.match(text, /^PATH=/m);
  assert.match(text, /^OPENAI_API_KEY=the-server's-own$/m);
  assert.ok(!text.includes(KEY), text);
  for (const variable of ["ANTHROPIC_API_KEY", ...others])
    if (variable !== "OPENAI_API_KEY") assert.ok(!text.includes(`${variable}=`), variable);
});

await once(name("names that no API takes, twice, and the same server twice"), async (keep) => {
  const calls = ["a_b", "a_b_2"].map((tool) => call(`server_7_up__${tool}`).reply[0]);
  calls.push(call("server_7_up_2__a_b").reply[0]);
  const agent = await open(keep, FULL, [["7 up!", "names"], ["7 up!", "names"]], DONE, { reply: calls });
  await agent.stops("go", "end_turn");
  const tools = agent.sent(0).tools.filter((tool) => tool.startsWith("server_7_up"));
  assert.equal(tools.length, 2 * 13, tools.join(" "));
  for (const tool of agent.sent(0).tools) assert.match(tool, /^[a-zA-Z][a-zA-Z0-9_]{0,63}$/);
  assert.equal(new Set(agent.sent(0).tools).size, agent.sent(0).tools.length);
  const results = agent.sent(-1).said.filter(({ kind }) => kind === "result");
  assert.deepEqual(results.map(({ text }) => text), ["a.b", "a/b", "a.b"]);
});

await once(name("more tools than models take are left out, and that is said"), async (keep) => {
  const agent = await open(keep, FULL, [["s", "many"]], WAIT);
  await agent.stops("wait", "end_turn");
  await agent.stops("wait", "end_turn");
  assert.equal(agent.sent(-1).tools.length, 128);
  assert.equal(agent.warned().match(/\d+ tools, more than models accept; \d+ are left out/g).length, 1);
});

await kase(name("what the user does not permit is not called"), async (keep) => {
  const agent = await open(keep, [], [["s"]], WAIT, DONE, call("s__echo", { words: "hi" }));
  await offered(agent, "s__echo");
  agent.allow("reject_once");
  await agent.stops("go", "end_turn");
  assert.match(resultIn(agent.sent(-1)).text, /denied permission/);
  assert.equal(agent.tools()[0].status, "failed");
  assert.ok(!heard(agent, "s").includes("tools/call"));
});

await kase(name("an error of a tool, and an image"), async (keep) => {
  const agent = await open(keep, FULL, [["s"]], WAIT, { when: { last: "tool", result: "wrong" }, ...call("s__image") },
    DONE, call("s__fail"));
  await offered(agent, "s__fail");
  await agent.stops("go", "end_turn");
  const results = agent.sent(-1).said.filter(({ kind }) => kind === "result");
  assert.deepEqual(results.map(({ text }) => text), ["it went wrong", "a pixel\n[image/png image, 70 bytes]"]);
  assert.equal(results[0].failed, true);
  assert.deepEqual(agent.tools().map(({ status }) => status), ["failed", "completed"]);
});

await kase(name("cancel gives up a call, and the server is told"), async (keep) => {
  const agent = await open(keep, FULL, [["s"]], WAIT, call("s__slow"));
  await offered(agent, "s__slow");
  const turn = agent.run("go");
  await agent.client.until("the call", () => agent.tools().some(({ status }) => status === "in_progress"));
  await until("the server's call", () => heard(agent, "s").includes("tools/call"));
  await agent.client.cancel();
  assert.equal((await turn).stop, "cancelled");
  await until("the server is told", () => heard(agent, "s").includes("notifications/cancelled"));
  const lines = heard(agent, "s").trim().split("\n").map((line) => JSON.parse(line));
  const called = lines.find(({ method }) => method === "tools/call");
  assert.equal(lines.find(({ method }) => method === "notifications/cancelled").params.requestId, called.id);
  await agent.stops("wait", "end_turn");
});

await kase(name("a server that ends in a call"), async (keep) => {
  const agent = await open(keep, FULL, [["s"]], WAIT, DONE, call("s__die"));
  await offered(agent, "s__die");
  await agent.stops("go", "end_turn");
  assert.match(resultIn(agent.sent(-1)).text, /MCP server "s" ended before/);
  assert.equal(agent.tools()[0].status, "failed");
  await agent.client.until("the report", () => /MCP server \\?"s\\?"/.test(agent.warned()));
  await agent.stops("wait", "end_turn");
  assert.match(JSON.stringify(agent.sent(-1).said), /MCP tool no longer available: s__echo/);
});

await once(name("a server that answers a call with what is not JSON"), async (keep) => {
  const agent = await open(keep, FULL, [["s"]], DONE, call("s__garble"));
  await agent.stops("go", "end_turn");
  assert.match(resultIn(agent.sent(-1)).text, /MCP server "s" ended before/);
  await agent.client.until("the report", () => /message that is not JSON/.test(agent.warned()));
  await agent.stops("again", "end_turn");
});

await kase(name("a server that ends while nobody asks it for anything"), async (keep) => {
  const agent = await open(keep, FULL, [["s"]], WAIT);
  await agent.stops("wait", "end_turn");
  process.kill(pidOf(agent, "s"), "SIGKILL");
  await agent.client.until("the report", () => /MCP server \\?"s\\?".*SIGKILL/.test(agent.warned()));
  await agent.stops("wait", "end_turn");
  assert.match(JSON.stringify(agent.sent(-1).said), /MCP tool no longer available: s__echo/);
});

await once(name("a server that floods us is ended, and costs little memory"), async (keep) => {
  const agent = await open(keep, FULL, [["s", "flood"]], WAIT);
  await agent.client.until("the report", () => /more than 16 MiB without a line end/.test(agent.warned()));
  await agent.stops("wait", "end_turn");
  await gone(pidOf(agent, "s"));
  assert.ok(peakMemory(agent.client.child.pid) < MOST_MEMORY, `${peakMemory(agent.client.child.pid)} bytes`);
});

await kase(name("silent, broken and missing servers are reported and hold up nothing"), async (keep) => {
  const agent = keep(new CodingAgent(version, acp, "anthropic", FULL));
  const missing = { ...server(agent, "missing"), command: "/no/such/program" };
  const servers = [server(agent, "silent", "silent"), server(agent, "broken", "crash"), missing, server(agent, "good", "noise")];
  const from = Date.now();
  await agent.open([WAIT, DONE, call("good__echo", { words: "hi" })], { mcpServers: servers });
  assert.ok(Date.now() - from < 25_000, "nobody waits the 30 s that a silent server has");
  await offered(agent, "good__echo");
  await agent.stops("go", "end_turn");
  assert.equal(resultIn(agent.sent(-1)).text, "echo: hi");
  await agent.client.until("the reports", () => /configuration is missing/.test(agent.warned()));
  assert.equal(agent.warned().match(/MCP server \\?"broken\\?"/g).length, 1, "once");
  assert.match(agent.warned(), /"missing\\?" cannot be started/);
});

await kase(name("what cannot be told as a notice is a message of the next turn"), async (keep) => {
  const agent = keep(new CodingAgent(version, acp, "anthropic", FULL));
  agent.capabilities = {};
  const missing = { ...server(agent, "missing"), command: "/no/such/program" };
  await agent.open([WAIT], { mcpServers: [missing] });
  await agent.stops("wait", "end_turn");
  await agent.stops("wait", "end_turn");
  const told = version === 1 ? agent.client.text() : agent.warned();
  assert.equal(told.match(/cannot be started/g).length, 1);
  if (version === 1) assert.match(told, /^Warning: .*"missing" cannot be started/);
});

await kase(name("two servers work side by side, under names of their own"), async (keep) => {
  const both = { reply: [call("a_b__echo", { words: "one" }).reply[0], call("a_b_2__echo", { words: "two" }).reply[0]] };
  const agent = await open(keep, FULL, [["a.b"], ["a b!"]], WAIT, DONE, both);
  await offered(agent, "a_b__echo");
  await offered(agent, "a_b_2__echo");
  await agent.stops("go", "end_turn");
  const results = agent.sent(-1).said.filter(({ kind }) => kind === "result");
  assert.deepEqual(results.map(({ text }) => text), ["echo: one", "echo: two"]);
  assert.deepEqual(agent.tools().map(({ title }) => title), ["a.b: echo", "a b!: echo"]);
});

await kase(name("tools that come later are offered, too"), async (keep) => {
  const agent = await open(keep, FULL, [["s"]], WAIT, DONE, call("s__grow"));
  await offered(agent, "s__grow");
  await agent.stops("go", "end_turn");
  await offered(agent, "s__new_one");
});

await kase(name("servers end with their session, and with the agent"), async (keep) => {
  const agent = await open(keep, FULL, [["one"], ["two"]], WAIT);
  await offered(agent, "one__echo");
  await offered(agent, "two__echo");
  const pids = [pidOf(agent, "one"), pidOf(agent, "two")];
  assert.ok(pids.every(isAlive));
  await agent.client.request("session/close", { sessionId: agent.client.sessionId });
  for (const pid of pids) await gone(pid);
  rmSync(fileOf(agent, "one", "pid"));
  const cwd = agent.folder;
  await agent.client.request("session/new", { cwd, mcpServers: [server(agent, "one"), server(agent, "two", "silent")] });
  await until("the servers", () => existsSync(fileOf(agent, "one", "pid")) && heard(agent, "one").length > 0);
  const last = [pidOf(agent, "one"), pidOf(agent, "two")];
  const from = Date.now();
  await agent.client.stop();
  assert.ok(Date.now() - from < 25_000, "nobody waits the 30 s that a silent server has");
  for (const pid of last) await gone(pid);
});

await once(name("servers are given some time to end, and then killed"), async (keep) => {
  const agent = await open(keep, FULL, [["good"], ["bad", "stubborn"]], WAIT);
  await agent.stops("wait", "end_turn");
  await agent.client.request("session/close", { sessionId: agent.client.sessionId });
  for (const label of ["good", "bad"]) await gone(pidOf(agent, label));
  assert.match(heard(agent, "good"), /end\n$/);
  assert.match(heard(agent, "bad"), /end\nSIGTERM\n$/);
});

await kase(name("a session that is resumed has its servers again"), async (keep) => {
  const agent = await open(keep, FULL, [], WAIT);
  await agent.stops("wait", "end_turn");
  await agent.resume({ mcpServers: [server(agent, "s")] });
  await offered(agent, "s__echo");
});

await kase(name("servers by HTTP and SSE that cannot be reached are reported"), async (keep) => {
  for (const capabilities of version === 1 ? [{ session: { notices: {} } }, {}] : [{}]) {
    const agent = keep(new CodingAgent(version, acp, "anthropic", FULL));
    agent.capabilities = capabilities;
    const types = version === 1 ? ["http", "sse"] : ["http"];
    const web = types.map((type) => ({ type, name: `web-${type}`, url: "http://127.0.0.1:1/", headers: [] }));
    await agent.open([WAIT, DONE, call("good__echo", { words: "hi" })], { mcpServers: [...web, server(agent, "good")] });
    await agent.stops("wait", "end_turn");
    const told = agent.warned() + agent.client.text();
    for (const type of types) assert.match(told, new RegExp(`web-${type}\\\\?" .*nothing answers at 127\\.0\\.0\\.1:1`));
    await agent.stops("go", "end_turn");
    assert.equal(resultIn(agent.sent(-1)).text, "echo: hi", "the others are there");
    await agent.resume({ mcpServers: web });
    await agent.stops("wait", "end_turn");
  }
});

clean();
end();
