// acpx drives our example agent, and actor-agent where a turn must take its time.
//
//     node acpx.mjs ECHO-AGENT ACTOR-AGENT

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { begin, end } from "../conformance/tap.mjs";
import { Acpx } from "./acpx-side.mjs";
import { kase } from "./cases.mjs";
import { gone, until } from "./processes.mjs";
import { allBlocks } from "./script.mjs";

const [echo, actor] = process.argv.slice(2);
const CASE_MS = 60_000; // a command takes about a second, and a case several of them

/** The content blocks that the agent said in some messages. */
function blocksOf(messages) {
  const updates = messages
    .filter((message) => message.method === "session/update")
    .map((message) => message.params.update);
  return updates
    .filter((update) => update.sessionUpdate === "agent_message_chunk")
    .map((update) => update.content);
}

function textOf(messages) {
  return blocksOf(messages)
    .map((block) => block.text)
    .join("");
}

function sentOf(messages, method) {
  return messages.filter((message) => message.method === method);
}

const acpxCase = (name, agent, body) =>
  kase(`acpx: ${name}`, (keep) => body(keep(new Acpx(agent))), CASE_MS);

begin();

await acpxCase("exec says something once and leaves nothing behind", echo, async (acpx) => {
  const { code, messages } = await acpx.exec([], { input: "hello" });
  assert.equal(code, 0);
  assert.deepEqual(
    messages.filter((message) => message.method).map((message) => message.method),
    ["initialize", "session/new", "session/prompt", "session/update"],
  );
  assert.equal(messages[1].result.protocolVersion, 1);
  assert.equal(messages[1].result.agentInfo.name, "echo-agent");
  assert.equal(textOf(messages), "hello");
  assert.equal(messages.at(-1).result.stopReason, "end_turn");
  assert.equal(existsSync(join(acpx.home, ".acpx/sessions")), false);
  const quiet = await acpx.run(["exec", "hello"], { format: "quiet" });
  assert.deepEqual(quiet, { code: 0, out: "hello\n", err: "" });
});

await acpxCase("exec gives every kind of content there and back", echo, async (acpx) => {
  const { code, messages } = await acpx.exec([], { input: JSON.stringify(allBlocks()) });
  assert.equal(code, 0);
  assert.deepEqual(blocksOf(messages), allBlocks());
});

await acpxCase("a named session is one conversation with one agent", echo, async (acpx) => {
  const { created, acpxRecordId } = await acpx.ask("sessions", "new", "--name", "a");
  assert.equal(created, true);
  const first = await acpx.prompt("a", "one");
  assert.equal(first.code, 0);
  assert.equal(textOf(first.messages), "one");
  const second = await acpx.prompt("a", "two");
  assert.equal(second.code, 0);
  assert.equal(textOf(second.messages), "two");
  assert.deepEqual(sentOf(second.messages, "initialize"), []);
  const [prompt] = sentOf(first.messages, "session/prompt");
  const [again] = sentOf(second.messages, "session/prompt");
  assert.equal(prompt.params.sessionId, again.params.sessionId);

  const nothing = await acpx.ask("cancel", "-s", "a");
  assert.deepEqual(nothing, { action: "cancel_result", acpxRecordId, cancelled: false });
  const { pid } = await acpx.ask("sessions", "show", "a");
  const [owner] = acpx.owners();
  assert.equal((await acpx.ask("sessions", "close", "a")).action, "session_closed");
  await gone(pid);
  await gone(owner);
  const { messages } = await acpx.ask("sessions", "show", "a");
  assert.deepEqual(
    messages.map((message) => (message.User ?? message.Agent).content),
    ["one", "one", "two", "two"].map((text) => [{ Text: text }]),
  );
});

await acpxCase("an agent that has died is started anew", echo, async (acpx) => {
  await acpx.ask("sessions", "new", "--name", "a");
  assert.equal((await acpx.prompt("a", "one")).code, 0);
  const before = await acpx.ask("sessions", "show", "a");
  process.kill(before.pid, "SIGKILL");
  await gone(before.pid);
  const { code, messages } = await acpx.prompt("a", "two");
  assert.equal(code, 0);
  assert.equal(textOf(messages), "two");
  assert.notEqual((await acpx.ask("sessions", "show", "a")).pid, before.pid);
});

await acpxCase("cancel ends the turn, and the session stays", actor, async (acpx) => {
  await acpx.ask("sessions", "new", "--name", "a");
  const turn = acpx.start(["prompt", "-s", "a", "say begun\nwait"]);
  await until("the turn's beginning", () => turn.output().includes("begun"));
  assert.equal((await acpx.ask("cancel", "-s", "a")).cancelled, true);
  const { code, out } = await turn.ended;
  assert.equal(code, 0);
  assert.equal(out.includes('"method":"session/cancel"'), true);
  assert.equal(JSON.parse(out.trim().split("\n").at(-1)).result.stopReason, "cancelled");
  const { messages } = await acpx.prompt("a", "say still here");
  assert.equal(textOf(messages), "still here");
});

await acpxCase("permission is given and refused", actor, async (acpx) => {
  const given = await acpx.exec(["--approve-all"], { input: "permission" });
  assert.equal(given.code, 0);
  assert.equal(textOf(given.messages), "permitted: yes (1)\n");
  const refused = await acpx.exec(["--deny-all"], { input: "permission" });
  assert.equal(refused.code, 5);
  assert.equal(textOf(refused.messages), "permitted: no (3)\n");
});

await acpxCase("a mode and a model are set, an unknown mode is refused", actor, async (acpx) => {
  await acpx.ask("sessions", "new", "--name", "a");
  await acpx.prompt("a", "say hello");
  assert.equal((await acpx.ask("set-mode", "code", "-s", "a")).modeId, "code");
  assert.equal((await acpx.ask("set", "model", "fast-2", "-s", "a")).modelId, "fast-2");
  assert.equal((await acpx.ask("status", "-s", "a")).model, "fast-2");
  const { code, out } = await acpx.run(["set-mode", "nonsense", "-s", "a"]);
  assert.equal(code, 1);
  assert.equal(JSON.parse(out).error.code, -32602);
});

await acpxCase("the sessions of the agent are listed", actor, async (acpx) => {
  const { source, sessions, nextCursor } = await acpx.ask("sessions", "list");
  assert.equal(source, "agent");
  assert.deepEqual(
    sessions.map((session) => session.sessionId),
    ["old-1", "old-2", "old-3"],
  );
  const next = await acpx.ask("sessions", "list", "--cursor", nextCursor);
  assert.notDeepEqual(next.sessions, sessions);
});

end();
