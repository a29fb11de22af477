// Sessions of the built-in coding agent that come back, told to the official SDK's client: nothing
// is lost of what anybody has seen, and it looks as it did.
//
//     node coding-agent-sessions.mjs VERSION ACP

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase, sleep } from "./cases.mjs";
import { ownHome } from "./coding-agent-side.mjs";
import { SdkClient } from "./sdk-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const clean = ownHome();
const name = (what) => `v${version} agent: ${what}`;

/** A folder with two files, removed in the end. */
function repository() {
  const folder = mkdtempSync(join(tmpdir(), "acp-agent-"));
  writeFileSync(join(folder, "main.c"), "int main(void)\n{\n    return 1;\n}\n");
  writeFileSync(join(folder, "README"), "A program that fails.\n");
  return { folder, stop: async () => (rmSync(folder, { recursive: true }), { failures: [], checked: 1 }) };
}

function start(keep, clientVersion, ...flags) {
  const client = keep(new SdkClient(clientVersion, [acp, "agent", "--demo", ...flags]));
  client.onPermission = ({ options }) => ({
    outcome: { outcome: "selected", optionId: options.find(({ kind }) => kind === "allow_once").optionId },
  });
  return client;
}

async function open(keep, folder, ...flags) {
  const client = start(keep, version, ...flags);
  client.setup = await client.open(folder);
  return client;
}

/** session/load, or what version 2 has instead. */
function load(client, sessionId, cwd) {
  const place = { sessionId, cwd, mcpServers: [] };
  if (client.version === 1) return client.request("session/load", place);
  return client.request("session/resume", { ...place, replayFrom: { type: "start" } });
}

/** Another process that is told the session. */
async function loaded(keep, sessionId, folder, clientVersion = version, ...flags) {
  const client = start(keep, clientVersion, ...flags);
  await client.initialize();
  client.setup = await load(client, sessionId, folder);
  client.sessionId = sessionId;
  await client.settled();
  return client;
}

/** What a person sees of a session: texts, calls as they are in the end, the plan. */
function seen(client, id) {
  const calls = {};
  for (const { sessionUpdate: _, toolCallId, ...fields } of client.of(id, "tool_call", "tool_call_update"))
    calls[toolCallId] = { ...calls[toolCallId], ...fields };
  const plan = client.of(id, "plan", "plan_update").at(-1);
  return {
    said: client.text(id),
    thought: client.of(id, "agent_thought_chunk").map(({ content }) => content.text).join(""),
    calls,
    plan: plan?.entries ?? plan?.plan.entries,
  };
}

const current = (setup, id) =>
  setup.configOptions?.find((option) => (option.id ?? option.configId) === id)?.currentValue;
const modeOf = ({ modes, ...setup }) => modes?.currentModeId ?? current(setup, "mode");

const TASK =
  "make a plan to fix the program, then search for return, then replace return 1 by return 0 in main.c, " +
  "then run cat main.c";

begin();

await kase(name("what is loaded looks as it did"), async (keep) => {
  const { folder } = keep(repository());
  const first = await open(keep, folder);
  await first.prompt(TASK);
  const id = first.sessionId;
  const before = seen(first, id);
  await first.stop();
  const again = await loaded(keep, id, folder);
  const after = seen(again, id);
  const user = again.of(id, "user_message_chunk", "user_message").map(({ content }) => JSON.stringify(content));
  assert.match(user.join(""), /make a plan to fix/);
  for (const call of [...Object.values(before.calls), ...Object.values(after.calls)]) {
    // A terminal of the first client is not there any more: what it showed is told as text.
    if (version === 1 && call.kind === "execute") {
      delete call.content;
    }
    delete call.capabilities;
  }
  assert.deepEqual(after, before);
  const text = JSON.stringify(again.of(id, "tool_call_update", "terminal_output_chunk"));
  if (version === 1) assert.match(text, /return 0;/, "the command's output");
  assert.ok(!again.lines.some((line) => JSON.stringify(line).includes('"terminal-1"')), "no old terminal");
  assert.equal((await again.prompt("list the files")).stopReason, "end_turn");
  const ids = new Set(again.of(id, "tool_call", "tool_call_update").map(({ toolCallId }) => toolCallId));
  assert.equal(ids.size, Object.keys(before.calls).length + 1, "the new call has an id of its own");
});

await kase(name("a client of the other version is told the same"), async (keep) => {
  const { folder } = keep(repository());
  const first = await open(keep, folder);
  await first.prompt(TASK);
  const id = first.sessionId;
  const before = seen(first, id);
  await first.stop();
  const other = await loaded(keep, id, folder, 3 - version);
  const after = seen(other, id);
  assert.equal(after.said, before.said);
  assert.deepEqual(after.plan.map(({ content, status }) => [content, status]),
    before.plan.map(({ content, status }) => [content, status]));
  assert.deepEqual(Object.keys(after.calls), Object.keys(before.calls));
  for (const [call, { title, status, kind }] of Object.entries(before.calls))
    assert.deepEqual([after.calls[call].title, after.calls[call].status, after.calls[call].kind], [title, status, kind]);
  assert.match(JSON.stringify(Object.values(after.calls)), /return 0;/, "the diff");
  assert.equal((await other.prompt("list the files")).stopReason, "end_turn");
});

await kase(name("what was seen before a crash is there after it"), async (keep) => {
  const { folder } = keep(repository());
  for (let round = 0; round < 6; round++) {
    const client = await open(keep, folder);
    // It is killed, which is no failure, and may be in the middle of a line.
    client.stop = async () => {
      client.child.kill("SIGKILL");
      await client.exited;
      return { failures: [], checked: client.check.lines };
    };
    const id = client.sessionId;
    void client.prompt("read README, then search for return, then list the files");
    await client.until("some words", () => client.text().length > 10 + round * 25);
    await client.stop();
    const before = client.lines
      .filter(({ params }) => params?.update?.sessionUpdate === "agent_message_chunk")
      .map(({ params }) => params.update.content.text)
      .join("");
    const calls = new Set(client.lines.map(({ params }) => params?.update?.toolCallId).filter(Boolean));
    const again = await loaded(keep, id, folder);
    assert.ok(again.text(id).startsWith(before), `"${before.slice(-60)}" is not in "${again.text(id).slice(-60)}"`);
    const told = new Set(Object.keys(seen(again, id).calls));
    for (const call of calls) assert.ok(told.has(call), `${call} is lost`);
    assert.equal((await again.prompt("list the files")).stopReason, "end_turn");
  }
}, 30_000);

/** Keeps everybody else from writing to a database, until it is stopped. */
async function lock(keep, path) {
  const words =
    "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('BEGIN IMMEDIATE'); " +
    "print('locked', flush=True); sys.stdin.read()";
  const child = spawn("python3", ["-c", words, path], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((done) => child.on("close", done));
  const stop = async () => (child.stdin.end(), await exited, { failures: [], checked: 1 });
  await new Promise((done) => child.stdout.once("data", done));
  return keep({ stop });
}

await kase(name("nobody sees what cannot be kept yet"), async (keep) => {
  const { folder } = keep(repository());
  const client = await open(keep, folder, "--no-titles");
  await client.prompt("read README");
  const before = client.lines.length;
  const other = await lock(keep, join(process.env.HOME, ".local/share/acp/agent.db"));
  const turn = client.prompt("read main.c");
  await sleep(400);
  // Version 2 has been told that the prompt was taken.
  assert.equal(client.lines.length, before + (version === 2 ? 1 : 0));
  await other.stop();
  assert.equal((await turn).stopReason, "end_turn");
  assert.match(client.text(), /int main/);
});

await kase(name("a session can be closed and opened again at once"), async (keep) => {
  const { folder } = keep(repository());
  const client = await open(keep, folder);
  const id = client.sessionId;
  await client.prompt("remember that tea is hot");
  for (let i = 0; i < 5; i++) {
    const closed = client.request("session/close", { sessionId: id });
    const resumed =
      i % 2 ? load(client, id, folder) : client.request("session/resume", { sessionId: id, cwd: folder, mcpServers: [] });
    await Promise.all([closed, resumed]);
    await client.prompt("what do you remember", id);
  }
  assert.match(client.text(id), /tea is hot/);
});

await kase(name("mode, effort and title come back"), async (keep) => {
  const { folder } = keep(repository());
  const client = await open(keep, folder);
  const id = client.sessionId;
  const option = (configId, value) =>
    client.request("session/set_config_option",
      { sessionId: id, configId, value, ...(version === 2 ? { type: "id" } : {}) });
  await option("effort", "low");
  await client.prompt("/title Tea time");
  if (version === 1) await client.request("session/set_mode", { sessionId: id, modeId: "read-only" });
  else await option("mode", "read-only");
  await client.stop();
  const again = await loaded(keep, id, folder);
  assert.equal(modeOf(again.setup), "read-only");
  assert.equal(current(again.setup, "effort"), "low");
  await again.until("the title", () => again.of(id, "session_info_update").some(({ title }) => title === "Tea time"));
  await again.prompt("replace return 1 by return 0 in main.c");
  assert.equal(again.permissions.length, 0, "nothing is written in read-only mode");
});

await kase(name("what is invalid is refused, and changes nothing"), async (keep) => {
  const { folder } = keep(repository());
  const client = start(keep, version, "--max-sessions", "2");
  const session = (cwd) => ({ cwd, mcpServers: [] });
  const code = async (method, params) => (await client.refused(method, params)).code;
  assert.equal(await code("session/new", session(folder)), -32600, "before initialize");
  client.setup = await client.open(folder);
  const { sessionId } = client;
  const prompt = (text, id = sessionId) => ({ sessionId: id, prompt: text });
  assert.equal(await code("session/new", session("relative")), -32602);
  assert.equal(await code("session/new", session(join(folder, "nowhere"))), -32602);
  assert.equal(await code("session/prompt", prompt([])), -32602);
  assert.equal(await code("session/prompt", prompt([{ type: "text", text: "" }])), -32602);
  assert.equal(await code("session/prompt", prompt([{ type: "text", text: "hi" }], "nobody")), -32002);
  assert.equal(await code("session/resume", { sessionId: "nobody", ...session(folder) }), -32002);
  const { sessionId: second } = await client.request("session/new", session(folder));
  assert.equal(await code("session/new", session(folder)), -32603, "too many");
  await client.request("session/delete", { sessionId: second });
  assert.deepEqual((await client.request("session/list", { cwd: folder })).sessions, []);
  assert.equal((await client.prompt("list the files")).stopReason, "end_turn");
  await client.request("session/delete", { sessionId });
  assert.deepEqual((await client.request("session/list", { cwd: folder })).sessions, []);
  assert.equal(await code("session/resume", { sessionId, ...session(folder) }), -32002, "it is gone");
});

/** Decided without our own code: where it works, a sandbox must be had. */
function bubblewrapWorks() {
  return spawnSync("bwrap", ["--unshare-user", "--unshare-all", "--ro-bind", "/", "/", "true"]).status === 0;
}

await kase(name("who wants a sandbox gets none without a wall"), async (keep) => {
  const { folder } = keep(repository());
  const without = (...flags) => {
    const hidden = ["env", "ACP_SANDBOX_HELPER=/nowhere", acp, "agent", "--demo"];
    const client = keep(new SdkClient(version, [...hidden, ...flags]));
    return client.initialize().then(() => client);
  };
  const place = { cwd: folder, mcpServers: [] };
  const { message } = await (await without("--mode", "sandbox")).refused("session/new", place);
  assert.match(message, /no sandbox: .*acp-sandbox/);
  const first = start(keep, version, "--mode", "sandbox");
  await first.initialize();
  const made = await first.request("session/new", place).catch(() => null);
  assert.ok(made || !bubblewrapWorks(), "bubblewrap works, and there is no sandbox");
  if (!made) return;
  await first.prompt("/help", made.sessionId);
  await first.stop();
  const again = await without("--mode", "full");
  assert.equal(modeOf(await load(again, made.sessionId, folder)), "read-only");
});

await kase(name("in a sandbox a command changes the workspace, and not what others obey"), async (keep) => {
  if (!bubblewrapWorks()) return;
  const { folder } = keep(repository());
  spawnSync("git", ["init", "-q", folder]);
  const client = start(keep, version, "--mode", "sandbox");
  await client.initialize();
  const { sessionId } = await client.request("session/new", { cwd: folder, mcpServers: [] });
  await client.prompt("run echo made > made; git config core.fsmonitor evil; mkdir .vscode/x", sessionId);
  assert.equal(readFileSync(join(folder, "made"), "utf8"), "made\n");
  assert.doesNotMatch(readFileSync(join(folder, ".git/config"), "utf8"), /fsmonitor/);
  assert.equal(existsSync(join(folder, ".vscode")), false);
});

await kase(name("the list tells whether a prompt is running"), async (keep) => {
  const { folder } = keep(repository());
  const client = await open(keep, folder, "--mode", "full");
  const turn = client.prompt("run sleep 300");
  await client.until("the command", () =>
    client.of(client.sessionId, "tool_call", "tool_call_update").some(({ status }) => status === "in_progress"));
  const other = start(keep, version);
  await other.initialize();
  const running = async (asked) => {
    const { sessions } = await asked.request("session/list", { cwd: folder });
    return sessions.map(({ sessionId, _meta }) => [sessionId, _meta.libacp.running]);
  };
  assert.deepEqual(await running(client), [[client.sessionId, true]]);
  assert.deepEqual(await running(other), [[client.sessionId, true]]);
  await client.cancel();
  await turn;
  assert.deepEqual(await running(client), [[client.sessionId, false]]);
  // One that is open here cannot be opened there.
  const { message } = await other.refused("session/resume", { sessionId: client.sessionId, cwd: folder, mcpServers: [] });
  assert.match(message, /process \d+ is writing/);
});

await kase(name("an idle session comes back when it is used"), async (keep) => {
  const { folder } = keep(repository());
  const client = await open(keep, folder, "--idle", "0.1");
  await client.prompt("remember that tea is hot");
  await client.prompt("/clear");
  await client.prompt("remember that ice is cold");
  const first = await client.request("session/new", { cwd: folder, mcpServers: [] });
  await sleep(500);
  await client.prompt("what do you remember");
  assert.match(client.text(), /ice is cold/);
  await client.prompt("/context", first.sessionId);
  assert.match(client.text(first.sessionId), /0 messages/);
});

/** Runs SQL in the agent's database; gives the rows. */
function sql(statement) {
  const words =
    "import json, sqlite3, sys; db = sqlite3.connect(sys.argv[1]); " +
    "print(json.dumps(db.execute(sys.argv[2]).fetchall())); db.commit()";
  const path = join(process.env.HOME, ".local/share/acp/agent.db");
  const { stdout, stderr } = spawnSync("python3", ["-c", words, path, statement], { encoding: "utf8" });
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}

await kase(name("events under the names of version 0.1 are read"), async (keep) => {
  const { folder } = keep(repository());
  const first = await open(keep, folder, "--no-titles");
  await first.prompt("remember that tea is hot");
  await first.prompt("/compact");
  await first.prompt("remember that ice is cold");
  await first.stop();
  const kinds = () => new Set(sql("SELECT DISTINCT kind FROM events").map(([kind]) => kind));
  const renamed = { message: "said", retained: "kept", history_reset: "forget" };
  for (const [now, old] of Object.entries(renamed)) {
    assert.ok(kinds().has(now), `${now} is written`);
    assert.ok(!kinds().has(old), `${old} is not`);
    sql(`UPDATE events SET kind = '${old}' WHERE kind = '${now}'`);
  }
  const again = await loaded(keep, first.sessionId, folder, version, "--no-titles");
  assert.equal((await again.prompt("/context")).stopReason, "end_turn");
  const count = Number(/(\d+) messages/.exec(again.text())[1]);
  assert.ok(count > 2, `${count} messages`);
  await again.prompt("what do you remember");
  assert.match(again.text().split(" messages").at(-1), /ice is cold/);
});

clean();
end();
