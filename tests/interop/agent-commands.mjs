// Our agent runs commands (job.h), seen by the SDK's client: in the client's terminals, as text, and
// as terminals of version 2.

import assert from "node:assert/strict";
import { kase, sleep } from "./cases.mjs";
import { FULL_CAPABILITIES } from "./sdk-side.mjs";

const bytesOf = ({ data }) => {
  const bytes = Buffer.from(data, "base64");
  assert.equal(bytes.toString("base64"), data); // by itself, with its padding
  return bytes;
};

/** What a client of version 2 has of a terminal: its last fields and its bytes. */
function terminalOf(c, terminalId) {
  const it = { bytes: Buffer.alloc(0), chunks: 0 };
  for (const update of c.of(c.sessionId, "terminal_update", "terminal_output_chunk")) {
    if (update.terminalId !== terminalId) continue;
    if (update.sessionUpdate === "terminal_output_chunk") {
      it.bytes = Buffer.concat([it.bytes, bytesOf(update)]);
      it.chunks++;
      continue;
    }
    Object.assign(it, update);
    if (update.output) it.bytes = bytesOf(update.output);
  }
  return it;
}

const contentsOf = (c) =>
  c.of(c.sessionId, "tool_call", "tool_call_update").flatMap((call) => call.content ?? []);

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function everywhere(start, name) {
  await kase(name("a command runs, and its output and exit code come back"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("say before \nrun echo $GREETING; exit 3\nsay after");
    assert.match(c.text(), /^before exited 3: hello\n\nafter$/);
    const statuses = c.of(c.sessionId, "tool_call", "tool_call_update").map((call) => call.status);
    assert.deepEqual(statuses.filter(Boolean), ["in_progress", "failed"]);
  });

  await kase(name("a command that takes too long is ended, its output kept"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("run-for 1000 echo early; sleep 30");
    assert.match(c.text(), /^timed out SIG(TERM|KILL) \(.*1000 ms.*\): early\n/);
    assert.equal(c.terminals.all.size, 0);
  });

  await kase(name("a cancelled turn ends its command first"), async (keep) => {
    const c = keep(start());
    await c.open();
    const end = c.prompt("run echo $$; sleep 30\nsay never");
    await c.until("the command", () => contentsOf(c).length > 0);
    await sleep(100);
    await c.cancel();
    assert.equal((await end).stopReason, "cancelled");
    const [, pid] = /^cancelled SIG(?:TERM|KILL) \(.*\): (\d+)\n/.exec(c.text()) ?? [];
    assert.ok(pid, c.text());
    assert.equal(isAlive(Number(pid)), false);
    assert.doesNotMatch(c.text(), /never/);
    assert.equal((await c.prompt("run echo on")).stopReason, "end_turn");
    assert.match(c.text(), /exited 0: on\n/);
  });

  await kase(name("a command in the background outlives turns and is polled"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("launch echo one; sleep 30; echo two\nsay on");
    assert.equal(c.text(), "launch: OK\non");
    for (let i = 0; i < 50 && !/so far: one\n/.test(c.text()); i++) {
      await c.prompt("poll");
      await sleep(20);
    }
    assert.match(c.text(), /so far: one\n/);
    await c.prompt("land");
    await c.heard("killed");
    await c.prompt("poll");
    assert.match(c.text(), /killed SIG(TERM|KILL) \(the command was ended\): one\n.*in all: one\n/s);
    assert.doesNotMatch(c.text(), /two/);
  });

  await kase(name("a cancellation leaves the background alone"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("launch sleep 0.5; echo finished");
    const end = c.prompt("wait");
    await sleep(50);
    await c.cancel();
    assert.equal((await end).stopReason, "cancelled");
    await c.heard("exited 0: finished");
  });

}

/** Where the command is a process of the agent. */
async function inProcesses(start, name) {
  await kase(name("a command that is not there is told to the program"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("run /no/such/program\nsay on");
    assert.match(c.text(), /^not started \(.*\/no\/such\/program.*\): \non$/);
    assert.deepEqual(contentsOf(c), []);
  });

  await kase(name("commands end when the client goes"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("launch echo $$; exec sleep 30");
    while (!/so far: \d+\n/.test(c.text())) await c.prompt("poll");
    const [, pid] = /so far: (\d+)\n/.exec(c.text());
    assert.equal(isAlive(Number(pid)), true);
    c.child.stdin.end();
    await c.exited;
    assert.equal(isAlive(Number(pid)), false);
  });
}

async function inTerminals(start, name) {
  await kase(name("the client's terminal is embedded, waited for, read and released"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("run echo $GREETING from $CWD");
    assert.match(c.text(), /^exited 0: hello from \/tmp\n/);
    assert.deepEqual(c.requests, [
      "terminal/create",
      "terminal/wait_for_exit",
      "terminal/output",
      "terminal/release",
    ]);
    assert.deepEqual(contentsOf(c), [{ type: "terminal", terminalId: "terminal-1" }]);
    const embedded = c.lines.findIndex((l) => l.params?.update?.content?.[0]?.type === "terminal");
    const released = c.lines.findIndex((line) => line.method === "terminal/release");
    assert.ok(embedded < released);
  });

  await kase(name("the time limit is create, wait, kill, output, release"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("run-for 100 sleep 30");
    assert.deepEqual(c.requests, [
      "terminal/create",
      "terminal/wait_for_exit",
      "terminal/kill",
      "terminal/output",
      "terminal/release",
    ]);
  });

  await kase(name("a terminal that comes after the cancellation is released"), async (keep) => {
    const c = keep(start());
    await c.open();
    const create = c.terminals.create.bind(c.terminals);
    c.terminals.create = async (params) => (await sleep(200), create(params));
    const end = c.prompt("run sleep 30");
    await c.until("the request", () => c.requests.includes("terminal/create"));
    await c.cancel();
    assert.equal((await end).stopReason, "cancelled");
    assert.match(c.text(), /^cancelled/);
    await c.until("the release", () => c.requests.includes("terminal/release"));
    await c.until("its end", () => c.terminals.all.size === 0);
  });

  await kase(name("a client that refuses is told to the program"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.terminals.create = () => {
      throw new c.sdk.RequestError(-32602, "not on this machine");
    };
    await c.prompt("run true\nsay on");
    assert.equal(
      c.text(),
      "not started (the client did not start the command: not on this machine): \non",
    );
  });

  await kase(name("more output than is kept is cut by the client"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("run head -c 3000000 /dev/zero | tr '\\0' x");
    assert.match(c.text(), /^exited 0: 1048576 bytes \(truncated\)\n$/);
  });
}

async function asText(start, name) {
  const without = () => start([], { capabilities: { ...FULL_CAPABILITIES[1], terminal: false } });
  await inProcesses(without, name);

  await kase(name("without terminals the output is text of the tool call"), async (keep) => {
    const c = keep(without());
    await c.open();
    await c.prompt("run pwd; echo oops >&2; exit 1");
    assert.match(c.text(), /^exited 1: \/tmp\noops\n/);
    assert.deepEqual(c.requests, []);
    const text = contentsOf(c).at(-1);
    assert.deepEqual(text, {
      type: "content",
      content: { type: "text", text: "```\n/tmp\noops\n```" },
    });
  });

  await kase(name("without terminals it is shown while it runs"), async (keep) => {
    const c = keep(without());
    await c.open();
    const end = c.prompt("run echo one; sleep 1; echo two");
    await c.until("the first line", () => contentsOf(c).length > 0);
    assert.equal(contentsOf(c)[0].content.text, "```\none\n```");
    await end;
    assert.equal(contentsOf(c).at(-1).content.text, "```\none\ntwo\n```");
  });

  await kase(name("without terminals a cancelled turn ends its command"), async (keep) => {
    const c = keep(without());
    await c.open();
    const end = c.prompt("run echo $$; sleep 30");
    await c.until("the output", () => contentsOf(c).length > 0);
    await c.cancel();
    assert.equal((await end).stopReason, "cancelled");
    const [, pid] = /^cancelled SIGTERM \(.*\): (\d+)\n/.exec(c.text());
    assert.equal(isAlive(Number(pid)), false);
  });
}

async function asStreams(start, name) {
  await inProcesses(start, name);

  await kase(name("a terminal begins, is embedded, prints and exits"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("run printf 'h\\303'; sleep 0.1; printf '\\251\\377'; exit 3");
    const [begun] = c.of(c.sessionId, "terminal_update");
    assert.match(begun.command, /^printf/);
    assert.equal(begun.cwd, "/tmp");
    assert.deepEqual(begun.size, { cols: 120, rows: 40 });
    assert.equal(begun.exitStatus, undefined);
    assert.notEqual(begun.terminalId, "tool-run");
    assert.deepEqual(contentsOf(c), [{ type: "terminal", terminalId: begun.terminalId }]);
    const it = terminalOf(c, begun.terminalId);
    assert.deepEqual(it.bytes, Buffer.from([0x68, 0xc3, 0xa9, 0xff]));
    assert.ok(it.chunks >= 2); // a character was cut in two
    assert.deepEqual(it.exitStatus, { exitCode: 3 });
    assert.match(c.text(), /^exited 3: h\u00e9\ufffd\n/);
    const kinds = c.of(c.sessionId).map((update) => update.sessionUpdate);
    assert.ok(kinds.indexOf("terminal_update") < kinds.indexOf("terminal_output_chunk"));
    assert.ok(kinds.lastIndexOf("terminal_output_chunk") < kinds.lastIndexOf("terminal_update"));
  });

  await kase(name("ids of terminals are not used again, nor by another process"), async (keep) => {
    const ids = [];
    for (let i = 0; i < 2; i++) {
      const c = keep(start());
      await c.initialize();
      c.sessionId = "old-1";
      await c.request("session/resume", { sessionId: "old-1", cwd: "/w/one", mcpServers: [] });
      await c.prompt("run true\nrun true");
      ids.push(...new Set(c.of("old-1", "terminal_update").map((update) => update.terminalId)));
    }
    assert.equal(ids.length, 4);
    assert.equal(new Set(ids).size, 4);
  });

  await kase(name("the exit is told before the turn is idle, also when cancelled"), async (keep) => {
    const c = keep(start());
    await c.open();
    const end = c.prompt("run sleep 30");
    await c.until("the terminal", () => c.of(c.sessionId, "terminal_update").length > 0);
    await c.cancel();
    assert.equal((await end).stopReason, "cancelled");
    const updates = c.of(c.sessionId);
    const exit = updates.findIndex((update) => update.exitStatus);
    assert.deepEqual(updates[exit].exitStatus, { signal: "SIGTERM" });
    assert.ok(exit < updates.findIndex((update) => update.state === "idle"));
    const call = c.of(c.sessionId, "tool_call_update").at(-1);
    assert.equal(call.status, "cancelled");
  });

  await kase(name("a flood is sent in part, and its end is right"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("run head -c 12000000 /dev/zero | tr '\\0' x; echo end");
    assert.match(c.text(), /^exited 0: 1048576 bytes \(truncated\)\n$/);
    const [{ terminalId }] = c.of(c.sessionId, "terminal_update");
    const it = terminalOf(c, terminalId);
    assert.equal(it.bytes.length, 1048576);
    assert.equal(it.bytes.subarray(-5).toString(), "xend\n");
    const sent = c.lines.reduce((sum, line) => sum + JSON.stringify(line).length, 0);
    assert.ok(sent < 15_000_000, `${sent} bytes`);
  });
}

export async function commandCases(v, start) {
  const name = (what) => `v${v} agent: ${what}`;
  await everywhere(start, name);
  if (v === 1) {
    await inTerminals(start, name);
    await asText(start, name);
  } else {
    await asStreams(start, name);
  }
}
