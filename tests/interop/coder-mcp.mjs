// The MCP servers of a session of the built-in coding agent: their tools are offered to the model, called,
// permitted, shown and cancelled, and nothing waits for a server that is slow or broken.
//
//     node coder-mcp.mjs VERSION ACP

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { begin, end } from "../conformance/tap.mjs";
import { kase, sleep } from "./cases.mjs";
import { Coder, KEY, ownHome } from "./coder-side.mjs";
import { gone, isAlive, peakMemory, until } from "./processes.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const script = fileURLToPath(new URL("../mcp/server.mjs", import.meta.url));
const clean = ownHome();

const FULL = ["--mode", "full"];
const MOST_MEMORY = Number(process.env.ASAN_OPTIONS ? 512 : 64) * 1024 * 1024;
const DONE = { when: { last: "tool" }, reply: [{ text: "Done." }] };
const WAIT = { when: { prompt: "wait" }, reply: [{ text: "Waited." }] };
const name = (what) => `v${version} coder with MCP: ${what}`;
const call = (tool, args = {}) => ({ reply: [{ tool, arguments: args }] });
const resultIn = ({ said }) => said.filter(({ kind }) => kind === "result").at(-1);

/** A server that notes its process id and what it is told in files beside the workspace. */
function server(coder, label, way) {
  const files = join(coder.folder, label.replace(/\W/g, "-"));
  const env = [{ name: "PID_FILE", value: `${files}.pid` }, { name: "LOG_FILE", value: `${files}.log` }];
  return {
    name: label,
    command: process.execPath,
    args: way ? [script, way] : [script],
    env,
    ...(version === 2 ? { type: "stdio" } : {}),
  };
}

const fileOf = (coder, label, kind) => join(coder.folder, `${label.replace(/\W/g, "-")}.${kind}`);
const heard = (coder, label) => (existsSync(fileOf(coder, label, "log")) ? readFileSync(fileOf(coder, label, "log"), "utf8") : "");
const pidOf = (coder, label) => Number(readFileSync(fileOf(coder, label, "pid"), "utf8"));

/** A session with servers: [label, way]. */
async function open(keep, flags, servers, ...turns) {
  const coder = keep(new Coder(version, acp, "anthropic", flags));
  return coder.open(turns, { mcpServers: servers.map(([label, way]) => server(coder, label, way)) });
}

/** Asks until the model is offered a tool of that name: in the list, or, when it came late, by a note. */
async function offered(coder, tool) {
  const note = new RegExp(`MCP tool (available|changed); call it through mcp_call: \\{"name":"${tool}"`);
  const told = ({ said }) => said.some(({ text }) => note.test(text));
  do await coder.stops("wait", "end_turn");
  while (!coder.sent(-1).tools.includes(tool) && !told(coder.sent(-1)));
  return coder.sent(-1).tools;
}

/** A case in which the version of the protocol makes no difference. */
const once = (...words) => (version === 1 ? kase(...words) : undefined);

begin();

await kase(name("its tools are offered, called, shown and asked for"), async (keep) => {
  const coder = await open(keep, [], [["my tools"]], WAIT, DONE, call("my_tools__echo", { words: "hi" }));
  const tools = await offered(coder, "my_tools__echo");
  for (const tool of ["echo", "fail", "slow", "image", "die", "grow"]) assert.ok(tools.includes(`my_tools__${tool}`), tool);
  await coder.stops("go", "end_turn");
  assert.equal(coder.client.permissions.length, 1);
  assert.equal(resultIn(coder.sent(-1)).text, "echo: hi");
  const [tool] = coder.tools();
  assert.equal(tool.title, "my tools: echo");
  assert.equal(tool.kind, "other");
  assert.equal(tool.status, "completed");
  assert.deepEqual(tool.rawInput, { words: "hi" });
  assert.match(JSON.stringify(tool.content), /echo: hi/);
});

await kase(name("the first prompt waits for servers that start"), async (keep) => {
  const coder = await open(keep, [], [["s"], ["other"]], WAIT);
  await coder.stops("wait", "end_turn");
  for (const tool of ["s__echo", "other__echo"]) assert.ok(coder.sent(0).tools.includes(tool), tool);
  assert.match(heard(coder, "s"), /"clientInfo":\{"name":"acp","version":"\d+\.\d+\.\d+/);
});

await once(name("it does not wait for long, says so, and the tools come later"), async (keep) => {
  const late = call("mcp_call", { tool: "late__echo", arguments: { words: "hi" } });
  const coder = await open(keep, FULL, [["late", "slow"]], WAIT, { when: { prompt: "go" }, ...late, times: 1 },
    { when: { prompt: "wrong" }, ...call("mcp_call", { tool: "late__ecco" }), times: 1 },
    { when: { prompt: "odd" }, ...call("mcp_call", { arguments: 7 }), times: 1 }, DONE);
  await coder.stops("wait", "end_turn");
  const { tools, system } = coder.sent(0);
  assert.ok(!tools.includes("late__echo"));
  assert.match(coder.warned(), /"late\\?" is not ready yet/);
  await offered(coder, "late__echo");
  assert.equal(coder.warned().match(/not ready yet/g).length, 1, "once");
  await coder.stops("go", "end_turn");
  assert.equal(resultIn(coder.sent(-1)).text, "echo: hi");
  assert.equal(coder.tools()[0].title, "late: echo");
  assert.deepEqual(coder.tools()[0].rawInput, { words: "hi" });
  await coder.stops("wrong", "end_turn");
  assert.match(resultIn(coder.sent(-1)).text, /no tool "late__ecco"\. The tools are, the most similar ones first: late__echo, /);
  await coder.stops("odd", "end_turn");
  assert.match(resultIn(coder.sent(-1)).text, /"tool" must be the name/);
  assert.deepEqual([coder.sent(-1).tools, coder.sent(-1).system], [tools, system], "the list never changes");
});

await kase(name("cancel while it waits for servers"), async (keep) => {
  const coder = await open(keep, [], [["s", "silent"]], WAIT);
  const turn = coder.run("hello");
  await sleep(100);
  await coder.client.cancel();
  assert.equal((await turn).stop, "cancelled");
  assert.equal(coder.requests().length, 0);
  await coder.stops("wait", "end_turn");
});

await once(name("the model's keys are not for servers, unless the client gives them one"), async (keep) => {
  const coder = keep(new Coder(version, acp, "anthropic", FULL));
  const one = server(coder, "s");
  one.env.push({ name: "OPENAI_API_KEY", value: "the-server's-own" });
  const others = ["ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"];
  for (const variable of others) process.env[variable] = KEY;
  try {
    await coder.open([DONE, call("s__environment")], { mcpServers: [one] });
  } finally {
    for (const variable of others) delete process.env[variable];
  }
  await coder.stops("go", "end_turn");
  const { text } = resultIn(coder.sent(-1));
  assert.match(text, /^PATH=/m);
  assert.match(text, /^OPENAI_API_KEY=the-server's-own$/m);
  assert.ok(!text.includes(KEY), text);
  for (const variable of ["ANTHROPIC_API_KEY", ...others])
    if (variable !== "OPENAI_API_KEY") assert.ok(!text.includes(`${variable}=`), variable);
});

await once(name("names that no API takes, twice, and the same server twice"), async (keep) => {
  const calls = ["a_b", "a_b_2"].map((tool) => call(`server_7_up__${tool}`).reply[0]);
  calls.push(call("server_7_up_2__a_b").reply[0]);
  const coder = await open(keep, FULL, [["7 up!", "names"], ["7 up!", "names"]], DONE, { reply: calls });
  await coder.stops("go", "end_turn");
  const tools = coder.sent(0).tools.filter((tool) => tool.startsWith("server_7_up"));
  assert.equal(tools.length, 2 * 13, tools.join(" "));
  for (const tool of coder.sent(0).tools) assert.match(tool, /^[a-zA-Z][a-zA-Z0-9_]{0,63}$/);
  assert.equal(new Set(coder.sent(0).tools).size, coder.sent(0).tools.length);
  const results = coder.sent(-1).said.filter(({ kind }) => kind === "result");
  assert.deepEqual(results.map(({ text }) => text), ["a.b", "a/b", "a.b"]);
});

await once(name("more tools than models take are left out, and that is said"), async (keep) => {
  const coder = await open(keep, FULL, [["s", "many"]], WAIT);
  await coder.stops("wait", "end_turn");
  await coder.stops("wait", "end_turn");
  assert.equal(coder.sent(-1).tools.length, 128);
  assert.equal(coder.warned().match(/\d+ tools, more than models take; \d+ are left out/g).length, 1);
});

await kase(name("what the user does not permit is not called"), async (keep) => {
  const coder = await open(keep, [], [["s"]], WAIT, DONE, call("s__echo", { words: "hi" }));
  await offered(coder, "s__echo");
  coder.allow("reject_once");
  await coder.stops("go", "end_turn");
  assert.match(resultIn(coder.sent(-1)).text, /does not allow/);
  assert.equal(coder.tools()[0].status, "failed");
  assert.ok(!heard(coder, "s").includes("tools/call"));
});

await kase(name("an error of a tool, and an image"), async (keep) => {
  const coder = await open(keep, FULL, [["s"]], WAIT, { when: { last: "tool", result: "wrong" }, ...call("s__image") },
    DONE, call("s__fail"));
  await offered(coder, "s__fail");
  await coder.stops("go", "end_turn");
  const results = coder.sent(-1).said.filter(({ kind }) => kind === "result");
  assert.deepEqual(results.map(({ text }) => text), ["it went wrong", "a pixel\n[image/png image, 70 bytes]"]);
  assert.equal(results[0].failed, true);
  assert.deepEqual(coder.tools().map(({ status }) => status), ["failed", "completed"]);
});

await kase(name("cancel gives up a call, and the server is told"), async (keep) => {
  const coder = await open(keep, FULL, [["s"]], WAIT, call("s__slow"));
  await offered(coder, "s__slow");
  const turn = coder.run("go");
  await coder.client.until("the call", () => coder.tools().some(({ status }) => status === "in_progress"));
  await until("the server's call", () => heard(coder, "s").includes("tools/call"));
  await coder.client.cancel();
  assert.equal((await turn).stop, "cancelled");
  await until("the server is told", () => heard(coder, "s").includes("notifications/cancelled"));
  const lines = heard(coder, "s").trim().split("\n").map((line) => JSON.parse(line));
  const called = lines.find(({ method }) => method === "tools/call");
  assert.equal(lines.find(({ method }) => method === "notifications/cancelled").params.requestId, called.id);
  await coder.stops("wait", "end_turn");
});

await kase(name("a server that ends in a call"), async (keep) => {
  const coder = await open(keep, FULL, [["s"]], WAIT, DONE, call("s__die"));
  await offered(coder, "s__die");
  await coder.stops("go", "end_turn");
  assert.match(resultIn(coder.sent(-1)).text, /MCP server "s" ended before/);
  assert.equal(coder.tools()[0].status, "failed");
  await coder.client.until("the report", () => /MCP server \\?"s\\?"/.test(coder.warned()));
  await coder.stops("wait", "end_turn");
  assert.match(JSON.stringify(coder.sent(-1).said), /MCP tool not available any more: s__echo/);
});

await once(name("a server that answers a call with what is no JSON"), async (keep) => {
  const coder = await open(keep, FULL, [["s"]], DONE, call("s__garble"));
  await coder.stops("go", "end_turn");
  assert.match(resultIn(coder.sent(-1)).text, /MCP server "s" ended before/);
  await coder.client.until("the report", () => /message that is no JSON/.test(coder.warned()));
  await coder.stops("again", "end_turn");
});

await kase(name("a server that ends while nobody asks it for anything"), async (keep) => {
  const coder = await open(keep, FULL, [["s"]], WAIT);
  await coder.stops("wait", "end_turn");
  process.kill(pidOf(coder, "s"), "SIGKILL");
  await coder.client.until("the report", () => /MCP server \\?"s\\?".*SIGKILL/.test(coder.warned()));
  await coder.stops("wait", "end_turn");
  assert.match(JSON.stringify(coder.sent(-1).said), /MCP tool not available any more: s__echo/);
});

await once(name("a server that floods us is ended, and costs little memory"), async (keep) => {
  const coder = await open(keep, FULL, [["s", "flood"]], WAIT);
  await coder.client.until("the report", () => /more than 16 MiB without an end/.test(coder.warned()));
  await coder.stops("wait", "end_turn");
  await gone(pidOf(coder, "s"));
  assert.ok(peakMemory(coder.client.child.pid) < MOST_MEMORY, `${peakMemory(coder.client.child.pid)} bytes`);
});

await kase(name("silent, broken and missing servers are reported and hold up nothing"), async (keep) => {
  const coder = keep(new Coder(version, acp, "anthropic", FULL));
  const missing = { ...server(coder, "missing"), command: "/no/such/program" };
  const servers = [server(coder, "silent", "silent"), server(coder, "broken", "crash"), missing, server(coder, "good", "noise")];
  const from = Date.now();
  await coder.open([WAIT, DONE, call("good__echo", { words: "hi" })], { mcpServers: servers });
  assert.ok(Date.now() - from < 5000, "the session is open at once");
  await offered(coder, "good__echo");
  await coder.stops("go", "end_turn");
  assert.equal(resultIn(coder.sent(-1)).text, "echo: hi");
  await coder.client.until("the reports", () => /configuration is missing/.test(coder.warned()));
  assert.equal(coder.warned().match(/MCP server \\?"broken\\?"/g).length, 1, "once");
  assert.match(coder.warned(), /"missing\\?" cannot be started/);
});

await kase(name("what cannot be told as a notice is a message of the next turn"), async (keep) => {
  const coder = keep(new Coder(version, acp, "anthropic", FULL));
  coder.capabilities = {};
  const missing = { ...server(coder, "missing"), command: "/no/such/program" };
  await coder.open([WAIT], { mcpServers: [missing] });
  await coder.stops("wait", "end_turn");
  await coder.stops("wait", "end_turn");
  const told = version === 1 ? coder.client.text() : coder.warned();
  assert.equal(told.match(/cannot be started/g).length, 1);
  if (version === 1) assert.match(told, /^Warning: .*"missing" cannot be started/);
});

await kase(name("two servers work side by side, under names of their own"), async (keep) => {
  const both = { reply: [call("a_b__echo", { words: "one" }).reply[0], call("a_b_2__echo", { words: "two" }).reply[0]] };
  const coder = await open(keep, FULL, [["a.b"], ["a b!"]], WAIT, DONE, both);
  await offered(coder, "a_b__echo");
  await offered(coder, "a_b_2__echo");
  await coder.stops("go", "end_turn");
  const results = coder.sent(-1).said.filter(({ kind }) => kind === "result");
  assert.deepEqual(results.map(({ text }) => text), ["echo: one", "echo: two"]);
  assert.deepEqual(coder.tools().map(({ title }) => title), ["a.b: echo", "a b!: echo"]);
});

await kase(name("tools that come later are offered, too"), async (keep) => {
  const coder = await open(keep, FULL, [["s"]], WAIT, DONE, call("s__grow"));
  await offered(coder, "s__grow");
  await coder.stops("go", "end_turn");
  await offered(coder, "s__new_one");
});

await kase(name("servers end with their session, and with the agent"), async (keep) => {
  const coder = await open(keep, FULL, [["one"], ["two"]], WAIT);
  await offered(coder, "one__echo");
  await offered(coder, "two__echo");
  const pids = [pidOf(coder, "one"), pidOf(coder, "two")];
  assert.ok(pids.every(isAlive));
  await coder.client.request("session/close", { sessionId: coder.client.sessionId });
  for (const pid of pids) await gone(pid);
  rmSync(fileOf(coder, "one", "pid"));
  const cwd = coder.folder;
  await coder.client.request("session/new", { cwd, mcpServers: [server(coder, "one"), server(coder, "two", "silent")] });
  await until("the servers", () => existsSync(fileOf(coder, "one", "pid")) && heard(coder, "one").length > 0);
  const last = [pidOf(coder, "one"), pidOf(coder, "two")];
  const from = Date.now();
  await coder.client.stop();
  assert.ok(Date.now() - from < 4000, "the agent does not wait for them for long");
  for (const pid of last) await gone(pid);
});

await once(name("servers are given some time to end, and then killed"), async (keep) => {
  const coder = await open(keep, FULL, [["good"], ["bad", "stubborn"]], WAIT);
  await coder.stops("wait", "end_turn");
  await coder.client.request("session/close", { sessionId: coder.client.sessionId });
  for (const label of ["good", "bad"]) await gone(pidOf(coder, label));
  assert.match(heard(coder, "good"), /end\n$/);
  assert.match(heard(coder, "bad"), /end\nSIGTERM\n$/);
});

await kase(name("a session that is resumed has its servers again"), async (keep) => {
  const coder = await open(keep, FULL, [], WAIT);
  await coder.stops("wait", "end_turn");
  await coder.resume({ mcpServers: [server(coder, "s")] });
  await offered(coder, "s__echo");
});

await kase(name("servers by HTTP and SSE are left out, and that is said"), async (keep) => {
  for (const capabilities of version === 1 ? [{ session: { notices: {} } }, {}] : [{}]) {
    const coder = keep(new Coder(version, acp, "anthropic", FULL));
    coder.capabilities = capabilities;
    const types = version === 1 ? ["http", "sse"] : ["http"];
    const web = types.map((type) => ({ type, name: `web-${type}`, url: "http://127.0.0.1:1/", headers: [] }));
    await coder.open([WAIT, DONE, call("good__echo", { words: "hi" })], { mcpServers: [...web, server(coder, "good")] });
    await coder.stops("wait", "end_turn");
    const told = coder.warned() + coder.client.text();
    for (const type of types) assert.match(told, new RegExp(`web-${type}\\\\?" was left out.*reached by ${type.toUpperCase()}`));
    await coder.stops("go", "end_turn");
    assert.equal(resultIn(coder.sent(-1)).text, "echo: hi", "the others are there");
    await coder.resume({ mcpServers: web });
    await coder.stops("wait", "end_turn");
  }
});

clean();
end();
