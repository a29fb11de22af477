// The built-in coding agent where the world is bad: no network, a silent model, a full disk, files that
// vanish, commands and folders without an end.  Each time there is a clear word, nothing is lost, memory stays
// bounded, and the next prompt is served.  What services answer instead of an answer is in coding-agent-models.mjs.
//
//     node coding-agent-trouble.mjs ACP
//
// With ACP_TEST_HUGE=1 the folder has a million files.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { kase } from "./cases.mjs";
import { CodingAgent, KEY, ownHome } from "./coding-agent-side.mjs";
import { peakMemory } from "./processes.mjs";

const VERSION = 1;
const acp = resolve(process.argv[2]);
const clean = ownHome();

const FULL = ["--mode", "full"];
const MIB = 1024 * 1024;
const IS_ASAN = Boolean(process.env.ASAN_OPTIONS);
const MOST_MEMORY = (IS_ASAN ? 512 : 64) * MIB;
const DONE = { when: { last: "tool" }, reply: [{ text: "Done." }] };
const HERE = { reply: [{ text: "Here." }] };
const name = (what) => `agent in trouble: ${what}`;
const call = (tool, args) => ({ tool, arguments: args });
const make = (keep, flags = FULL) => keep(new CodingAgent(VERSION, acp, "anthropic", flags));
const open = (keep, flags, ...turns) => make(keep, flags).open(turns);
const resultsIn = ({ said }) => said.filter(({ kind }) => kind === "result").map(({ text }) => text);

function staysSmall(agent) {
  const bytes = peakMemory(agent.client.child.pid);
  assert.ok(bytes < MOST_MEMORY, `${Math.round(bytes / MIB)} MiB`);
}

begin();

// ---- The model ----

await kase(name("nothing listens where the model should be"), async (keep) => {
  const agent = await open(keep, FULL, HERE);
  await agent.model.stop();
  const { stop, why } = await agent.run("one");
  assert.equal(stop, "error");
  assert.match(why, /nothing answers at 127\.0\.0\.1:\d+: is the server running/);
  await agent.model.start(agent.model.port);
  await agent.stops("two", "end_turn");
  assert.equal(agent.client.text(), "Here.");
  assert.deepEqual(agent.sent(-1).said.map(({ text }) => text), ["one", "two"]);
});

await kase(name("a model that falls silent, before its first word and behind it"), async (keep) => {
  const agent = await open(keep, [...FULL, "--stall-timeout", "0.4"], { when: { prompt: "one" }, reply: [{ stall: true }] },
    { when: { prompt: "two" }, reply: [{ text: "It is" }, { stall: true }] }, HERE);
  const first = await agent.run("one");
  assert.equal(first.stop, "error");
  assert.match(first.why, /nothing came from 127\.0\.0\.1:\d+ any more for 1 s, also after 2 attempts/);
  const second = await agent.run("two");
  assert.match(second.why, /any more for 1 s in the middle of the answer, also after 2 attempts/);
  await agent.stops("three", "end_turn");
  assert.equal(agent.client.text(), "It isHere.");
  assert.deepEqual(agent.sent(-1).said.map(({ text }) => text), ["one", "two", "It is", "three"]);
});

await kase(name("a model that calls tools for ever"), async (keep) => {
  const agent = await open(keep, [...FULL, "--max-requests", "3"], { when: { prompt: "two" }, ...HERE },
    { reply: [call("read", { path: "a.txt" })] });
  await agent.stops("one", "max_turn_requests");
  assert.equal(agent.requests().length, 3);
  assert.deepEqual(agent.tools().map(({ status }) => status), ["completed", "completed", "completed"]);
  await agent.stops("two", "end_turn");
});

await kase(name("cancel while a full window is summed up, in the middle of a turn"), async (keep) => {
  const usage = { input: 2_000_000, output: 10 };
  const agent = await open(keep, FULL, { when: { prompt: "Summarise" }, times: 1, reply: [{ text: "We" }, { stall: true }] },
    { when: { prompt: "Summarise" }, reply: [{ text: "We ate." }] }, { when: { prompt: "two" }, ...HERE },
    { usage, reply: [call("read", { path: "a.txt" })] });
  const turn = agent.run("one");
  await agent.asked(2);
  await agent.client.cancel();
  assert.equal((await turn).stop, "cancelled");
  await agent.stops("two", "end_turn");
  assert.match(agent.client.text(), /Here\.$/);
});

// ---- Files ----

await kase(name("a file that vanishes between listing and reading"), async (keep) => {
  const agent = await open(keep, FULL, { when: { result: "a\\.txt" }, times: 1, reply: [call("run_command", { command: "rm a.txt; echo gone" })] },
    { when: { result: "gone" }, times: 1, reply: [call("read", { path: "a.txt" }), call("edit", { path: "a.txt", edits: [{ old_text: "apple", new_text: "pear" }] })] },
    DONE, { reply: [call("list", { path: "." })] });
  await agent.stops("go", "end_turn");
  const [read, edit] = resultsIn(agent.sent(-1)).slice(-2);
  for (const text of [read, edit]) assert.match(text, /not found: file:.*a\.txt/);
  assert.deepEqual(agent.tools().map(({ status }) => status), ["completed", "completed", "failed", "failed"]);
  await agent.stops("again", "end_turn");
});

const TMPFS = "mount -t tmpfs -o size=128k none";
const canMount = spawnSync("unshare", ["-rm", "sh", "-c", `${TMPFS} /mnt`]).status === 0;

/** Cases with a disk of 128 KiB. */
const full = (what, body) =>
  canMount ? kase(name(what), body) : console.log(`# skipped, since nothing can be mounted here: ${what}`);

await full("a disk that is full when a file is written", async (keep) => {
  const agent = make(keep);
  const prepare = `${TMPFS} '${agent.folder}' && cd '${agent.folder}' && echo apple > a.txt && exec "$@"`;
  agent.command = ["unshare", "-rm", "sh", "-c", prepare, "sh", ...agent.command];
  const text = `${"much text ".repeat(20_000)}\n`;
  await agent.open([{ when: { prompt: "look" }, times: 1, reply: [call("read", { path: "a.txt" }), call("list", { path: "." })] },
    DONE, { reply: [call("write", { path: "a.txt", text }), call("write", { path: "new.txt", text })] }]);
  await agent.stops("write", "end_turn");
  for (const result of resultsIn(agent.sent(-1))) assert.match(result, /no space left/i);
  await agent.stops("look", "end_turn");
  const [read, list] = resultsIn(agent.sent(-1)).slice(-2);
  assert.match(read, /apple/, "the old text is still there");
  assert.ok(!list.includes("new.txt"), list);
  await agent.stops("/undo", "end_turn");
});

await full("a disk that is full when the session is to be kept", async (keep) => {
  const agent = make(keep);
  const data = join(agent.folder, "data");
  mkdirSync(data);
  const prepare = `${TMPFS} '${data}' && exec "$@"`;
  agent.command = ["unshare", "-rm", "sh", "-c", prepare, "sh", "env", `XDG_DATA_HOME=${data}`, ...agent.command];
  await agent.open([{ reply: [{ text: "word ".repeat(40_000) }] }]);
  for (let i = 0; i < 4; i++) await agent.stops("tell", "end_turn");
  assert.equal(agent.client.text().length, 4 * 200_000);
  await agent.client.until("the word of it", () => /disk is full/.test(agent.warned()));
  agent.client.errors = "";
  assert.equal(agent.sent(-1).said.length, 7, "the conversation goes on");
});

// ---- Floods ----

await kase(name("a command that prints its environment"), async (keep) => {
  const reply = [call("run_command", { command: "env; echo ${#HOME}" })];
  const agent = await open(keep, FULL, DONE, { reply });
  await agent.stops("one", "end_turn");
  const [result] = resultsIn(agent.sent(-1));
  assert.match(result, /^PATH=/m);
  assert.doesNotMatch(result, /API_KEY/);
  assert.ok(!result.includes(KEY), "the key");
});

await kase(name("a command that prints a gigabyte"), async (keep) => {
  const much = IS_ASAN ? 100_000_000 : 1_000_000_000;
  const command = `echo the beginning; yes 'all work and no play' | head -c ${much}; echo the end`;
  const agent = await open(keep, FULL, { when: { prompt: "two" }, ...HERE }, DONE, { reply: [call("run_command", { command })] });
  await agent.stops("one", "end_turn");
  const [result] = resultsIn(agent.sent(-1));
  assert.match(result, /the end/);
  assert.match(result, /left out|cut|missing/i);
  assert.ok(result.length <= 64 * 1024, `${result.length} bytes`);
  staysSmall(agent);
  await agent.stops("two", "end_turn");
}, 120_000);

await kase(name("a folder without an end"), async (keep) => {
  const count = process.env.ACP_TEST_HUGE ? 1_000_000 : 100_000;
  const agent = make(keep);
  // In memory, where there may be a mount: disks are slow at that.
  const mount = canMount ? `mount -t tmpfs none '${agent.folder}' && ` : "";
  const fill = `mkdir many && cd many && seq -f 'file-%07g.txt' ${count} | xargs touch`;
  const prepare = `${mount}cd '${agent.folder}' && (${fill}) && exec "$@"`;
  agent.command = [...(canMount ? ["unshare", "-rm"] : []), "sh", "-c", prepare, "sh", ...agent.command];
  await agent.open([DONE, { when: { prompt: "two" }, ...HERE }, {
    reply: [call("list", { path: "many" }), call("glob", { pattern: "many/*7.txt" }), call("grep", { pattern: "x", path: "many" })],
  }]);
  await agent.stops("one", "end_turn");
  const [list, glob, grep] = resultsIn(agent.sent(-1));
  for (const result of [list, glob, grep]) assert.ok(result.length <= 64 * 1024, `${result.length} bytes`);
  assert.match(list, /file-\d+\.txt[^]*There may be more/);
  assert.match(glob, /file-\d+7\.txt[^]*There may be more/);
  assert.match(grep, /No line matches/);
  staysSmall(agent);
  await agent.stops("two", "end_turn");
}, 180_000);

clean();
end();
