// Our agent, seen by the SDK's client: turns, every kind of update and content, and what a turn asks.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kase, sleep } from "./cases.mjs";
import { FULL_CAPABILITIES } from "./sdk-side.mjs";
import { allBlocks } from "./script.mjs";
import { updateKindsOf } from "./wire.mjs";

/** One content block of each kind, as actor-agent makes them. */
const BLOCKS = allBlocks();

async function saying(v, start) {
  const name = (what) => `v${v} agent: ${what}`;

  await kase(name("a turn says something and ends"), async (keep) => {
    const c = keep(start());
    await c.open();
    const end = await c.prompt("say hello");
    assert.equal(end.stopReason, "end_turn");
    assert.equal(c.text(), "hello");
    assert.ok(c.of(c.sessionId, "agent_message_chunk")[0].messageId);
  });

  if (v === 2) {
    await kase(name("a prompt is acknowledged, told, begun and ended, in that order"), async (keep) => {
      const c = keep(start());
      await c.open();
      const { messageId } = await c.prompt("say hello");
      const at = c.lines.findIndex((line) => line.result?.messageId);
      const after = c.lines.slice(at + 1).map((line) => line.params.update);
      assert.deepEqual(
        after.map((update) => [update.sessionUpdate, update.state ?? update.messageId]),
        [
          ["user_message", messageId],
          ["state_update", "running"],
          ["agent_message_chunk", after[2].messageId],
          ["state_update", "idle"],
        ],
      );
      assert.deepEqual(after[0].content, [{ type: "text", text: "say hello" }]);
      assert.notEqual(after[2].messageId, messageId);
    });
  }

  await kase(name("every stop reason arrives"), async (keep) => {
    const c = keep(start());
    await c.open();
    for (const reason of ["end_turn", "max_tokens", "max_turn_requests", "refusal"]) {
      assert.equal((await c.prompt(`stop ${reason}`)).stopReason, reason);
    }
  });

  await kase(name("a turn that fails tells why"), async (keep) => {
    const c = keep(start());
    await c.open();
    if (v === 1) {
      const prompt = [{ type: "text", text: "say before\nfail the model is gone" }];
      const error = await c.refused("session/prompt", { sessionId: c.sessionId, prompt });
      assert.equal(error.code, -32603);
      assert.equal(error.message, "the model is gone");
      await c.settled();
    } else {
      const end = await c.prompt("say before\nfail the model is gone");
      assert.equal(end.stopReason, "error");
      assert.equal(end.error.code, -32603);
      assert.equal(end.error.message, "the model is gone");
    }
    assert.equal(c.text(), "before");
    assert.equal((await c.prompt("say after")).stopReason, "end_turn");
  });

  await kase(name("every kind of update"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("every");
    const kinds = new Set(c.of(c.sessionId).map((update) => update.sessionUpdate));
    assert.deepEqual([...kinds].sort(), updateKindsOf(v).sort());
    const find = (kind) => c.of(c.sessionId, kind).at(-1);
    assert.equal(find("session_info_update").title, "A talk");
    assert.deepEqual(find("usage_update").cost, { amount: 0.25, currency: "EUR" });
    assert.equal(find("notice").severity, "warning");
    assert.equal(find("compaction_update").status, "completed");
    assert.equal(find("compaction_summary_chunk").content.text, "In short: ");
    const plan = v === 1 ? find("plan") : find("plan_update").plan;
    assert.deepEqual(
      plan.entries.map((entry) => [entry.content, entry.priority, entry.status]),
      [
        ["look", "high", "completed"],
        ["think", "medium", "in_progress"],
        ["do", "low", "pending"],
      ],
    );
    if (v === 1) return;
    assert.ok(plan.planId);
    const terminals = c.of(c.sessionId, "terminal_update");
    assert.deepEqual(terminals[0].size, { cols: 80, rows: 24 });
    assert.equal(terminals[0].cwd, "/w");
    assert.deepEqual(terminals[1].exitStatus, { exitCode: 3 });
    assert.equal(find("terminal_output_chunk").data, "aGkK");
    assert.deepEqual(find("tool_call_content_chunk").content, { type: "terminal", terminalId: "term-1" });
  });

  await kase(name("every kind of content, from the agent"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("blocks");
    const said = c.of(c.sessionId, "agent_message_chunk");
    assert.deepEqual(said.map((update) => update.content), BLOCKS);
    assert.equal(new Set(said.map((update) => update.messageId)).size, 1);
  });

  await kase(name("every kind of content, to the agent and back"), async (keep) => {
    const c = keep(start());
    await c.open();
    const prompt = [{ type: "text", text: "echo" }, ...BLOCKS];
    assert.equal((await c.prompt(prompt)).stopReason, "end_turn");
    const said = c.of(c.sessionId, "agent_message_chunk").map((update) => update.content);
    assert.deepEqual(said, prompt);
    if (v === 2) assert.deepEqual(c.of(c.sessionId, "user_message")[0].content, prompt);
  });

  await kase(name("content that was not offered is refused"), async (keep) => {
    const c = keep(start(["--bare"]));
    await c.open();
    for (const block of BLOCKS) {
      if (["text", "resource_link"].includes(block.type)) continue;
      const prompt = [{ type: "text", text: "echo" }, block];
      const error = await c.refused("session/prompt", { sessionId: c.sessionId, prompt });
      assert.equal(error.code, -32602, block.type);
    }
    await c.prompt([{ type: "text", text: "echo" }, BLOCKS[3]]);
    assert.equal(c.of(c.sessionId, "user_message").length, v === 1 ? 0 : 1);
  });

  await kase(name("a tool call begins, changes and ends"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("tool");
    const calls = c.of(c.sessionId, "tool_call", "tool_call_update");
    assert.deepEqual(
      calls.map((call) => [call.sessionUpdate, call.toolCallId, call.status]),
      [
        [v === 1 ? "tool_call" : "tool_call_update", "tool-1", "pending"],
        ["tool_call_update", "tool-1", "in_progress"],
        ["tool_call_update", "tool-1", "completed"],
      ],
    );
    assert.equal(calls[0].title, "Reading a.txt");
    assert.equal(calls[0].kind, "read");
    assert.deepEqual(calls[0].locations, [{ path: "/w/a.txt", line: 7 }]);
    assert.deepEqual(calls[0].rawInput, { path: "/w/a.txt" });
    assert.deepEqual(calls[2].rawOutput, { lines: 7 });
    assert.equal(calls[2].content[0].content.text, "seven lines");
  });

  await kase(name("a diff is told in the words of the version"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("diff");
    const [{ content }] = c.of(c.sessionId, "tool_call", "tool_call_update");
    if (v === 1) {
      assert.deepEqual(content, [
        { type: "diff", path: "/w/a.txt", oldText: "one\ntwo\nthree\n", newText: "one\n2\nthree\n" },
        { type: "diff", path: "/w/new.txt", newText: "fresh\n" },
      ]);
      return;
    }
    const [changed, added] = content;
    assert.deepEqual(changed.changes, [{ operation: "modify", path: "/w/a.txt", fileType: "text" }]);
    assert.equal(changed.patch.format, "git_patch");
    assert.match(changed.patch.text, /^--- \/w\/a.txt\n\+\+\+ \/w\/a.txt\n@@ -1,3 \+1,3 @@\n one\n-two\n\+2\n three\n/m);
    assert.deepEqual(added.changes, [{ operation: "add", path: "/w/new.txt", fileType: "text" }]);
    assert.match(added.patch.text, /^--- \/dev\/null\n\+\+\+ \/w\/new.txt\n@@ -0,0 \+1(,1)? @@\n\+fresh\n/m);
  });

  await kase(name("every kind and status of tool calls"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("statuses");
    const calls = c.of(c.sessionId, "tool_call", "tool_call_update");
    const kinds = calls.slice(0, 10).map((call) => call.kind);
    assert.deepEqual(kinds.sort(), [
      ...["delete", "edit", "execute", "fetch", "move", "other", "read", "search", "switch_mode"],
      "think",
    ]);
    assert.deepEqual(
      calls.slice(10).map((call) => call.status),
      v === 1 // which has neither paused nor cancelled
        ? ["pending", "in_progress", "in_progress", "completed", "failed", "failed"]
        : ["pending", "in_progress", "paused", "completed", "cancelled", "failed"],
    );
  });

  await kase(name("text before and after other updates keeps its place and kind"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("say one \nsay two\nthink three\ntool\nsay four\nusage\nsay five\nplan\nsay six");
    const order = c.of(c.sessionId).flatMap((update) => {
      const kind = update.sessionUpdate;
      return /message_chunk|thought_chunk/.test(kind)
        ? [update.content.text]
        : /tool|usage|plan/.test(kind)
          ? [`(${kind.replace("_update", "").replace("tool_call", "tool")})`]
          : [];
    });
    assert.deepEqual(order, [
      ...["one two", "three", "(tool)", "(tool)", "(tool)", "four", "(usage)", "five", "(plan)"],
      "six",
    ]);
    const thoughts = c.of(c.sessionId, "agent_thought_chunk").map((update) => update.content.text);
    assert.deepEqual(thoughts, ["three"]);
    const texts = c.of(c.sessionId, "agent_message_chunk").map((update) => update.messageId);
    assert.equal(texts[1], texts[2]); // usage does not interrupt a message
    assert.equal(new Set(texts).size, 3);
  });

  await kase(name("a thousand chunks are joined and none is lost"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("chunks 1000");
    const expected = Array.from({ length: 1000 }, (_, i) => `[${i}]`).join("");
    assert.equal(c.text(), expected);
    const chunks = c.of(c.sessionId, "agent_message_chunk");
    assert.ok(chunks.length < 100, `${chunks.length} chunks`);
    assert.equal(new Set(chunks.map((chunk) => chunk.messageId)).size, 1);
  });

  await kase(name("five megabytes in one message"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("big 5000000");
    assert.equal(c.text().length, 5_000_000);
    const prompt = "say " + "y".repeat(3_000_000);
    await c.prompt(prompt);
    assert.equal(c.text().length, 8_000_000);
  });

  await kase(name("the agent speaks between turns"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("later 20 by the way");
    assert.equal(c.text(), "");
    await c.heard("by the way");
    assert.equal((await c.prompt("say fine")).stopReason, "end_turn");
    const ids = c.of(c.sessionId, "agent_message_chunk").map((update) => update.messageId);
    assert.equal(new Set(ids).size, 2);
  });

  await kase(name("updates between turns wait for the next prompt if so configured"), async (keep) => {
    const c = keep(start(["--quiet"]));
    await c.open();
    await c.prompt("later 10 by the way");
    await sleep(150);
    assert.equal(c.text(), "");
    await c.prompt("say now");
    assert.equal(c.text(), "by the waynow");
  });

  await kase(name("message ids are not used again after resume"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    const place = { sessionId: "old-1", cwd: "/w/one", mcpServers: [] };
    for (let i = 0; i < 3; i++) {
      await c.request("session/resume", place);
      await c.prompt(`say ${i}`, "old-1");
      await c.request("session/close", { sessionId: "old-1" });
    }
    const ids = c.of("old-1", "agent_message_chunk", "user_message").map((u) => u.messageId);
    assert.equal(ids.length, v === 1 ? 3 : 6);
    assert.equal(new Set(ids).size, ids.length);
  });
}

async function asking(v, start) {
  const name = (what) => `v${v} agent: ${what}`;

  const KINDS = [
    ["yes", 1],
    ["yes-always", 2],
    ["no", 3],
    ["no-always", 4],
  ];
  for (const [optionId, kind] of KINDS) {
    await kase(name(`permission answered with ${optionId}`), async (keep) => {
      const c = keep(start());
      await c.open();
      c.onPermission = () => ({ outcome: { outcome: "selected", optionId } });
      assert.equal((await c.prompt("say before\npermission Delete it\nsay after")).stopReason, "end_turn");
      assert.equal(c.text(), `beforepermitted: ${optionId} (${kind})\nafter`);
      const [asked] = c.permissions;
      assert.equal(asked.sessionId, c.sessionId);
      assert.deepEqual(
        asked.options.map((option) => option.kind),
        ["allow_once", "allow_always", "reject_once", "reject_always"],
      );
      if (v === 1) {
        assert.equal(asked.toolCall.toolCallId, "tool-ask");
        assert.equal(asked.toolCall.title, "Delete it");
        return;
      }
      assert.equal(asked.title, "Delete it");
      assert.equal(asked.subject.type, "tool_call");
      assert.equal(asked.subject.toolCall.toolCallId, "tool-ask");
      const states = c.of(c.sessionId, "state_update").map((update) => update.state);
      assert.deepEqual(states, ["running", "requires_action", "running", "idle"]);
    });
  }

  await kase(name("permission answered with cancelled is none"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.onPermission = () => ({ outcome: { outcome: "cancelled" } });
    assert.equal((await c.prompt("permission")).stopReason, "end_turn");
    assert.equal(c.text(), "not permitted: CANCELLED\n");
  });

  await kase(name("an option that was not offered is no permission"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.onPermission = () => ({ outcome: { outcome: "selected", optionId: "root" } });
    await c.prompt("permission");
    assert.equal(c.text(), "not permitted: CANCELLED\n");
  });

  await kase(name("an error is no permission"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.onPermission = () => {
      throw new c.sdk.RequestError(-32603, "no user here");
    };
    await c.prompt("permission");
    assert.equal(c.text(), "not permitted: REMOTE\n");
  });

  await kase(name("a turn that does not wait takes its question back"), async (keep) => {
    const c = keep(start());
    await c.open();
    let aborted = false;
    c.onPermission = (_, { signal }) =>
      new Promise((done) => {
        const taken = () => {
          aborted = true;
          done({ outcome: { outcome: "cancelled" } });
          c.poke();
        };
        if (signal.aborted) taken();
        else signal.addEventListener("abort", taken);
      });
    assert.equal((await c.prompt("abandon")).stopReason, "end_turn");
    await c.until("the withdrawal", () => aborted);
    assert.equal((await c.prompt("say on")).stopReason, "end_turn");
  });

  for (const [answer, words] of [
    [
      {
        action: "accept",
        content: { name: "x", size: 1.5, count: 2, sure: false, colours: ["red"] },
      },
      "accept\nname=x\nsize=1.5\ncount=2\nsure=false\ncolours=1 items\n",
    ],
    [{ action: "decline" }, "decline\n"],
    [{ action: "cancel" }, "cancel\n"],
  ]) {
    await kase(name(`a form that is answered with ${answer.action}`), async (keep) => {
      const c = keep(start());
      await c.open();
      let form;
      c.onElicitation = (params) => ((form = params), answer);
      assert.equal((await c.prompt("elicit form")).stopReason, "end_turn");
      assert.equal(c.text(), `elicited: ${words}`);
      assert.equal(form.mode, "form");
      assert.equal(form.sessionId, c.sessionId);
      assert.equal(form.toolCallId, "tool-1");
      assert.deepEqual(
        Object.entries(form.requestedSchema.properties).map(([key, { type }]) => [key, type]),
        [
          ["name", "string"],
          ["size", "number"],
          ["count", "integer"],
          ["sure", "boolean"],
          ["colours", "array"],
        ],
      );
      assert.deepEqual(form.requestedSchema.required, ["name"]);
    });
  }

  await kase(name("a web page that is consented to and completed"), async (keep) => {
    const c = keep(start());
    await c.open();
    let page;
    c.onElicitation = (params) => ((page = params), { action: "accept" });
    await c.prompt("elicit url");
    assert.equal(page.url, "https://example.com/sign-in");
    assert.equal(c.text(), "elicited: accept\n");
    const done = await c.until("completion", () => c.others[0]);
    assert.deepEqual(done, { method: "elicitation/complete", params: { elicitationId: "elicit-1" } });
  });

  await kase(name("nothing is asked that the client does not serve"), async (keep) => {
    const c = keep(start([], { capabilities: {} }));
    await c.open();
    await c.prompt(
      "read /w/a\nwrite /w/a x\nterminal true\nelicit form\nelicit url\nnotice\ncompaction",
    );
    const words = ["read", "write", "terminal", "elicit", "elicit"].map((w) => `${w}: STATE\n`);
    if (v === 1) words.push("notice: STATE\n", "compaction: STATE\n");
    assert.equal(c.text(), words.join(""));
    assert.deepEqual(c.requests, []);
  });

  await kase(name("methods and notifications of one's own, both ways"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("custom");
    assert.equal(c.text(), 'pong: {"echoed":{"n":1}}\n');
    assert.deepEqual(c.others, [{ method: "_x/note", params: { n: 1 } }]);
    assert.deepEqual(await c.request("_x/echo", { deep: [1, { a: null }] }), { deep: [1, { a: null }] });
    await c.agent.notify("_x/note", { back: true });
    await c.until("the echo", () => c.others.find((other) => other.method === "_x/noted"));
    assert.deepEqual(c.others.at(-1).params, { back: true });
  });

  await kase(name("a request of one's own that is cancelled is answered with -32800"), async (keep) => {
    const c = keep(start());
    await c.open();
    const stop = new AbortController();
    const slow = c.request("_x/slow", {}, { cancellationSignal: stop.signal });
    await sleep(20);
    stop.abort();
    await assert.rejects(slow, { code: -32800 });
  });

  await kase(name("a refused request of one's own is told to the program"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.onCustom = ({ method }) => {
      throw c.sdk.RequestError.methodNotFound(method);
    };
    await c.prompt("custom");
    assert.equal(c.text(), "pong: REMOTE -32601\n");
  });
}

async function services(start) {
  const name = (what) => `v1 agent: ${what}`;
  const folder = await mkdtemp(join(tmpdir(), "acp-interop-"));

  await kase(name("a file is read, whole and in part, and written"), async (keep) => {
    const c = keep(start());
    await c.open(folder);
    const path = join(folder, "a.txt");
    await writeFile(path, "one\ntwo\nthree\n");
    const asked = [];
    const read = c.onRead;
    c.onRead = (params) => (asked.push(params), read(params));
    await c.prompt(`read ${path}\nread ${path} 2 1`);
    assert.equal(c.text(), "read: one\ntwo\nthree\n\nread: one\ntwo\nthree\n\n");
    assert.deepEqual(asked, [
      { sessionId: c.sessionId, path },
      { sessionId: c.sessionId, path, line: 2, limit: 1 },
    ]);
    await c.prompt(`write ${path} new contents`);
    assert.equal(await readFile(path, "utf8"), "new contents");
    assert.match(c.text(), /written\n$/);
  });

  await kase(name("a file that cannot be read is told to the program"), async (keep) => {
    const c = keep(start());
    await c.open(folder);
    c.onRead = ({ path }) => {
      throw c.sdk.RequestError.resourceNotFound(path);
    };
    c.onWrite = () => {
      throw new c.sdk.RequestError(-32602, "outside of the workspace");
    };
    await c.prompt("read /w/none\nwrite /etc/passwd x");
    assert.match(c.text(), /^not read: REMOTE: .+\nnot written: REMOTE: outside of the workspace\n$/);
  });

  await kase(name("relative paths are not asked for"), async (keep) => {
    const c = keep(start());
    await c.open(folder);
    await c.prompt("read a.txt\nwrite b.txt x");
    assert.equal(c.text(), "read: ARGUMENT\nwrite: ARGUMENT\n");
    assert.deepEqual(c.requests, []);
  });

  await kase(name("reading without writing, and writing without reading"), async (keep) => {
    for (const [can, words] of [
      [{ readTextFile: true, writeTextFile: false }, "read: x\nwrite: STATE\n"],
      [{ writeTextFile: true }, "read: STATE\nwritten\n"],
    ]) {
      const c = keep(start([], { capabilities: { ...FULL_CAPABILITIES[1], fs: can } }));
      await c.open(folder);
      c.onRead = () => ({ content: "x" });
      c.onWrite = () => ({});
      await c.prompt("read /w/a\nwrite /w/a x");
      assert.equal(c.text(), words);
    }
  });

  await kase(name("a terminal is created, waited for, read and released"), async (keep) => {
    const c = keep(start());
    await c.open(folder);
    await c.prompt("terminal echo $GREETING from $CWD; exit 3");
    assert.equal(c.text(), `exit: 3\noutput: hello from ${folder}\n\nreleased\n`);
    assert.deepEqual(c.requests, [
      "terminal/create",
      "terminal/wait_for_exit",
      "terminal/output",
      "terminal/release",
    ]);
    const [call] = c.of(c.sessionId, "tool_call");
    assert.deepEqual(call.content, [{ type: "terminal", terminalId: "terminal-1" }]);
  });

  await kase(name("a command in a terminal is killed, its output kept"), async (keep) => {
    const c = keep(start());
    await c.open(folder);
    await c.prompt("kill echo started; sleep 30");
    assert.match(c.text(), /^killed\nexit: SIGKILL\noutput: .*\nreleased\n$/s);
    assert.equal(c.terminals.all.size, 0);
  });

  await kase(name("more output than the limit is cut"), async (keep) => {
    const c = keep(start());
    await c.open(folder);
    await c.prompt("terminal seq 1 100");
    assert.match(c.text(), /^exit: 0\noutput: .*99\n100\n \(truncated\)\nreleased\n$/s);
  });

  await kase(name("a terminal that cannot be made is told to the program"), async (keep) => {
    const c = keep(start());
    await c.open(folder);
    c.terminals.create = () => {
      throw new c.sdk.RequestError(-32602, "no such program");
    };
    await c.prompt("terminal true\nsay on");
    assert.equal(c.text(), "terminal: REMOTE: -32602 no such program\non");
  });

  await rm(folder, { recursive: true });
}

export async function turnCases(v, start) {
  await saying(v, start);
  await asking(v, start);
  if (v === 1) await services(start);
}
