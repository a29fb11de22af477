// The built-in coding agent with a database that does not answer: reads of the session log wait at a
// gate (read_gate.c), which the case opens.  Other sessions go on meanwhile.
//
//     node coding-agent-store.mjs VERSION ACP GATE

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase, sleep } from "./cases.mjs";
import { ownHome } from "./coding-agent-side.mjs";
import { until } from "./processes.mjs";
import { SdkClient } from "./sdk-side.mjs";

const version = Number(process.argv[2]);
const acp = resolve(process.argv[3]);
const library = resolve(process.argv[4]);
const clean = ownHome();
const gate = join(process.env.HOME, "gate");
const name = (what) => `v${version} agent: ${what}`;

const closeGate = () => writeFileSync(gate, "");
const openGate = () => rmSync(gate, { force: true });
const isWaiting = () => existsSync(`${gate}.waiting`);

/** A folder with a file, removed in the end. */
function workFolder(keep) {
  const folder = mkdtempSync(join(tmpdir(), "acp-agent-"));
  writeFileSync(join(folder, "README"), "A program that fails.\n");
  keep({ stop: async () => (rmSync(folder, { recursive: true }), { failures: [], checked: 1 }) });
  return folder;
}

/** An agent whose reads of the database wait at the gate. */
function start(keep, ...flags) {
  const asan = process.env.ASAN_OPTIONS;
  const environment = [
    `LD_PRELOAD=${library}`,
    `TEST_GATE=${gate}`,
    `ASAN_OPTIONS=${asan ? `${asan}:` : ""}verify_asan_link_order=0`,
  ];
  const client = new SdkClient(version, ["env", ...environment, acp, "agent", "--demo", "--no-titles", ...flags]);
  const { stop } = client;
  client.stop = () => (openGate(), stop.call(client));
  return keep(client);
}

/** A stored session that nobody has open, and an agent with a session of its own. */
async function prepare(keep) {
  const folder = workFolder(keep);
  const first = start(keep);
  await first.open(folder);
  await first.prompt("remember that tea is hot");
  await first.stop();
  first.stop = async () => ({ failures: [], checked: 1 });
  const client = start(keep);
  await client.open(folder);
  assert.equal((await client.prompt("read README")).stopReason, "end_turn");
  return { client, folder, stored: first.sessionId };
}

/** session/load, or what version 2 has instead. */
function load(client, sessionId, cwd) {
  const place = { sessionId, cwd, mcpServers: [] };
  if (version === 1) return client.request("session/load", place);
  return client.request("session/resume", { ...place, replayFrom: { type: "start" } });
}

/** Requests that are not answered yet, by their names. */
function watch(requests) {
  const open = new Set(Object.keys(requests));
  for (const [what, request] of Object.entries(requests)) {
    const done = () => open.delete(what);
    request.then(done, done);
  }
  return open;
}

begin();

await kase(name("requests that wait for the database hold up no other session"), async (keep) => {
  const { client, folder, stored } = await prepare(keep);
  closeGate();
  const requests = {
    load: load(client, stored, folder),
    list: client.request("session/list", { cwd: folder }),
    delete: client.request("session/delete", { sessionId: "nobody" }),
  };
  if (version === 1) requests.fork = client.refused("session/fork", { sessionId: "nobody", cwd: folder, mcpServers: [] });
  const open = watch(requests);
  await until("a read", isWaiting);
  assert.equal((await client.prompt("read README")).stopReason, "end_turn");
  assert.ok(["load", "list", "delete"].every((what) => open.has(what)), `still open: ${[...open]}`);
  openGate();
  await Promise.all(Object.values(requests));
  await client.settled();
  assert.match(client.text(stored), /tea is hot/);
  const { sessions } = await requests.list;
  assert.deepEqual(sessions.map(({ sessionId }) => sessionId).sort(), [stored, client.sessionId].sort());
  assert.equal((await client.prompt("what do you remember", stored)).stopReason, "end_turn");
});

await kase(name("an idle session waits for its history, and can be cancelled meanwhile"), async (keep) => {
  const folder = workFolder(keep);
  const client = start(keep, "--idle", "0.05");
  await client.open(folder);
  await client.prompt("remember that tea is hot");
  let turn;
  for (let ended = true; ended; ) {
    await sleep(100);
    closeGate();
    turn = client.prompt("remember that ice is cold");
    const open = watch({ turn });
    await until("a read, or the end of a turn", () => isWaiting() || !open.has("turn"));
    ended = !open.has("turn");
    if (ended) openGate();
  }
  await client.request("session/new", { cwd: folder, mcpServers: [] });
  await client.cancel();
  openGate();
  assert.equal((await turn).stopReason, "cancelled");
  await client.prompt("what do you remember");
  assert.match(client.text(), /tea is hot/);
});

await kase(name("a session that is closed while it is loaded can be loaded again"), async (keep) => {
  const { client, folder, stored } = await prepare(keep);
  closeGate();
  const first = load(client, stored, folder);
  const failed = first.then(() => false, () => true);
  await until("a read", isWaiting);
  await client.request("session/close", { sessionId: stored });
  assert.ok(await failed, "the first load is answered with an error");
  const second = load(client, stored, folder);
  openGate();
  await second;
  await client.settled();
  assert.match(client.text(stored), /tea is hot/);
});

await kase(name("an agent that waits for the database ends with its client"), async (keep) => {
  const { client, folder, stored } = await prepare(keep);
  closeGate();
  void load(client, stored, folder);
  void client.request("session/list", { cwd: folder });
  await until("a read", isWaiting);
  client.child.stdin.end();
  openGate();
  assert.deepEqual(await client.exited, { code: 0, signal: null });
});

clean();
end();
