// How the built-in coding agent lives and ends: signals, sessions that are opened again, folders,
// and how much it sends for what the model streams.
//
//     node coding-agent-life.mjs VERSION ACP

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { CodingAgent, ownHome } from "./coding-agent-side.mjs";
import { gone, until } from "./processes.mjs";
import { SdkClient } from "./sdk-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const clean = ownHome();
const name = (what) => `v${version} agent: ${what}`;

/** An empty folder, removed in the end. */
function workFolder(keep) {
  const folder = mkdtempSync(join(tmpdir(), "acp-agent-"));
  keep({ stop: async () => (rmSync(folder, { recursive: true, force: true }), { failures: [], checked: 1 }) });
  return folder;
}

function start(keep, capabilities = {}, ...flags) {
  return keep(new SdkClient(version, [acp, "agent", "--demo", "--mode", "full", ...flags], { capabilities }));
}

async function open(keep, folder, ...flags) {
  const client = start(keep, {}, ...flags);
  await client.open(folder);
  return client;
}

/** session/load, or what version 2 has instead. */
function load(client, sessionId, cwd) {
  const place = { sessionId, cwd, mcpServers: [] };
  if (version === 1) return client.request("session/load", place);
  return client.request("session/resume", { ...place, replayFrom: { type: "start" } });
}

function resume(client, sessionId, cwd) {
  return client.request("session/resume", { sessionId, cwd });
}

async function loadRefused(client, sessionId, cwd) {
  return load(client, sessionId, cwd).then(
    () => assert.fail("it was not refused"),
    (error) => error,
  );
}

/** Another process of the agent, initialized. */
async function another(keep, capabilities = {}) {
  const client = start(keep, capabilities);
  await client.initialize();
  return client;
}

const kindsOf = (client, id) => client.of(id).map(({ sessionUpdate }) => sessionUpdate);

/** A turn in the middle of a command that does not end by itself; gives the pids of its processes. */
async function stuckTurn(keep) {
  const folder = workFolder(keep);
  const script = "trap '' TERM INT HUP\nsleep 300 &\necho $$ $! > pids.new\nmv pids.new pids\nwait\nsleep 300\n";
  writeFileSync(join(folder, "wait.sh"), script);
  const client = await open(keep, folder);
  const turn = client.prompt("run sh wait.sh");
  await until("the command", () => existsSync(join(folder, "pids")));
  const pids = readFileSync(join(folder, "pids"), "utf8").trim().split(" ").map(Number);
  return { client, folder, turn, pids };
}

begin();

// ---- Signals ----

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
  await kase(name(`${signal} in the middle of a command cancels the turn, leaves no process, and exits with 0`), async (keep) => {
    const { client, folder, turn, pids } = await stuckTurn(keep);
    client.child.kill(signal);
    assert.equal((await turn).stopReason, "cancelled");
    assert.deepEqual(await client.exited, { code: 0, signal: null });
    for (const pid of pids) await gone(pid);

    const later = await another(keep);
    const { sessions } = await later.request("session/list", { cwd: folder });
    assert.equal(sessions.length, 1);
    assert.equal(sessions[0]._meta.libacp.running, false);
    await load(later, client.sessionId, folder);
    await later.settled();
    const kinds = kindsOf(later, client.sessionId);
    assert.ok(kinds.some((kind) => kind.startsWith("user_message")), `${kinds}`);
    assert.ok(kinds.some((kind) => kind.startsWith("tool_call")), `${kinds}`);
    later.sessionId = client.sessionId;
    assert.equal((await later.prompt("list the files")).stopReason, "end_turn");
  });
}

await kase(name("a second signal ends it at once, with all that it has started"), async (keep) => {
  const { client, pids } = await stuckTurn(keep);
  // Both are there before it can look at one of them.
  for (const signal of ["SIGSTOP", "SIGTERM", "SIGINT", "SIGCONT"]) client.child.kill(signal);
  const { code } = await client.exited;
  assert.ok([128 + 2, 128 + 15].includes(code), `${code}`);
  for (const pid of pids) await gone(pid);
  client.stop = async () => ({ failures: client.check.failures, checked: 1 }); // it has not exited with 0
});

await kase(name("a signal while the model is silent cancels the turn, and what was said is kept"), async (keep) => {
  const agent = keep(new CodingAgent(version, acp, "anthropic", []));
  await agent.open([{ reply: [{ text: "half a sentence" }, { stall: true }] }]);
  const turn = agent.client.prompt("talk");
  await agent.client.heard("half a sentence");
  agent.client.child.kill("SIGTERM");
  assert.equal((await turn).stopReason, "cancelled");
  assert.deepEqual(await agent.client.exited, { code: 0, signal: null });
  const { sessionId } = agent.client;
  await agent.restart();
  await load(agent.client, sessionId, agent.folder);
  await agent.client.settled();
  assert.equal(agent.client.text(sessionId), "half a sentence");
});

await kase(name("a signal while the user is asked cancels the turn, and nothing was run"), async (keep) => {
  const folder = workFolder(keep);
  const client = keep(new SdkClient(version, [acp, "agent", "--demo"], { capabilities: {} }));
  client.onPermission = () => new Promise(() => {});
  await client.open(folder);
  const turn = client.prompt("run touch made");
  await client.until("the question", () => client.permissions.length > 0);
  client.child.kill("SIGINT");
  assert.equal((await turn).stopReason, "cancelled");
  assert.deepEqual(await client.exited, { code: 0, signal: null });
  assert.ok(!existsSync(join(folder, "made")));
});

await kase(name("a signal ends an agent that is idle, and one that has no client yet"), async (keep) => {
  const client = await open(keep, workFolder(keep));
  client.child.kill("SIGTERM");
  assert.deepEqual(await client.exited, { code: 0, signal: null });
  const silent = start(keep);
  await silent.initialize();
  silent.child.kill("SIGHUP");
  assert.deepEqual(await silent.exited, { code: 0, signal: null });
});

// ---- Sessions without a turn ----

await kase(name("a session without a turn can be loaded and resumed by another process, and is not listed"), async (keep) => {
  const folder = workFolder(keep);
  const client = await open(keep, folder);
  await client.stop();
  const loaded = await another(keep);
  await load(loaded, client.sessionId, folder);
  await loaded.settled();
  assert.ok(!kindsOf(loaded, client.sessionId).some((kind) => kind.includes("message")));
  assert.deepEqual((await loaded.request("session/list", { cwd: folder })).sessions, []);
  await loaded.stop();
  const resumed = await another(keep);
  await resume(resumed, client.sessionId, folder);
  resumed.sessionId = client.sessionId;
  assert.equal((await resumed.prompt("list the files")).stopReason, "end_turn");
  assert.equal((await resumed.request("session/list", { cwd: folder })).sessions.length, 1);
});

await kase(name("an open session without a turn can be loaded and resumed, and used then"), async (keep) => {
  const folder = workFolder(keep);
  const client = await open(keep, folder);
  await load(client, client.sessionId, folder);
  await resume(client, client.sessionId, folder);
  assert.equal((await client.prompt("list the files")).stopReason, "end_turn");
  await load(client, client.sessionId, folder);
  assert.equal((await client.prompt("list the files")).stopReason, "end_turn");
  const before = client.updates.length;
  await load(client, client.sessionId, folder);
  await client.settled();
  const kinds = client.updates.slice(before).map(({ update }) => update.sessionUpdate);
  assert.equal(kinds.filter((kind) => kind === "tool_call" || kind === "tool_call_update").length > 0, true);
  assert.equal((await client.request("session/list", { cwd: folder })).sessions.length, 1);
});

await kase(name("a load that is refused leaves the open session as it is"), async (keep) => {
  const folder = workFolder(keep);
  const client = await open(keep, folder);
  writeFileSync(join(folder, "notes"), "plums");
  await client.prompt("read notes");
  assert.match(client.text(), /plums/);
  const error = await loadRefused(client, client.sessionId, "/no/such/folder");
  assert.equal(error.code, -32602);
  assert.match(error.message, /no such folder: \/no\/such\/folder/);
  assert.equal((await client.prompt("list the files")).stopReason, "end_turn");
  const unknown = await loadRefused(client, "no-such-session", folder);
  assert.equal(unknown.code, -32002);
});

await kase(name("loading a session again and again does not make it longer"), async (keep) => {
  const folder = workFolder(keep);
  const client = await open(keep, folder);
  await client.prompt("list the files");
  await client.stop();
  const lengths = [];
  for (let i = 0; i < 3; i++) {
    const loaded = await another(keep);
    await load(loaded, client.sessionId, folder);
    await resume(loaded, client.sessionId, folder);
    await loaded.settled();
    const kinds = kindsOf(loaded, client.sessionId);
    lengths.push(kinds.filter((kind) => kind === "session_info_update").length);
    await loaded.stop();
  }
  assert.ok(lengths[0] > 0, "the title is sent");
  assert.deepEqual(lengths, [lengths[0], lengths[0], lengths[0]]);
});

// ---- Folders ----

await kase(name("a session is loaded in its own folder only, however that is written"), async (keep) => {
  const folder = workFolder(keep);
  const client = await open(keep, folder);
  await client.prompt("list the files");
  await client.stop();
  const loaded = await another(keep);
  const other = await loadRefused(loaded, client.sessionId, workFolder(keep));
  assert.equal(other.code, -32602);
  assert.ok(other.message.includes(folder), other.message);
  const resumed = await resume(loaded, client.sessionId, tmpdir()).catch((error) => error);
  assert.equal(resumed.code, -32602);
  const link = join(workFolder(keep), "link");
  symlinkSync(folder, link);
  await load(loaded, client.sessionId, link);
  await load(loaded, client.sessionId, `${folder}/.`);
  loaded.sessionId = client.sessionId;
  assert.equal((await loaded.prompt("list the files")).stopReason, "end_turn");
});

for (const notices of [true, false]) {
  await kase(name(`a session moves with its folder, and says so ${notices ? "in a notice" : "in the next turn"}`), async (keep) => {
    if (version === 2 && !notices) return; // every client of version 2 takes them
    const parent = workFolder(keep);
    const [before, after] = [join(parent, "before"), join(parent, "after")];
    mkdirSync(before);
    const client = await open(keep, before);
    await client.prompt("list the files");
    await client.stop();
    renameSync(before, after);
    const loaded = await another(keep, notices && version === 1 ? { session: { notices: {} } } : {});
    await load(loaded, client.sessionId, after);
    loaded.sessionId = client.sessionId;
    await loaded.prompt("list the files");
    const said = JSON.stringify([loaded.updates, loaded.others]);
    assert.ok(said.includes(`was in ${before} before and works in ${after}`), said);
    const { sessions } = await loaded.request("session/list", { cwd: after });
    assert.deepEqual(sessions.map(({ sessionId }) => sessionId), [client.sessionId]);
  });
}

// ---- Streams ----

await kase(name("2,000 pieces of five bytes are not 2,000 updates, and nothing of them is lost"), async (keep) => {
  const pieces = Array.from({ length: 2000 }, (_, i) => String(i).padStart(5, "0"));
  const agent = keep(new CodingAgent(version, acp, "anthropic", []));
  await agent.open([{ reply: [{ text: pieces }] }]);
  await agent.stops("count", "end_turn");
  const chunks = agent.of("agent_message_chunk").map(({ content }) => content.text);
  assert.equal(chunks.join(""), pieces.join(""));
  assert.ok(chunks.length <= 500, `${chunks.length} updates`);
  assert.ok(chunks.every((text) => text.length <= 100), "no update is longer than 100 bytes");
  assert.ok(chunks[0].length < 100, "the first goes at once");
});

clean();
end();
