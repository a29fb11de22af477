// Our agent, seen by the SDK's client: what is cancelled by itself, states, ids, the trace, and what
// is not sent.

import assert from "node:assert/strict";
import { kase } from "./cases.mjs";
import { FULL_CAPABILITIES, promised } from "./sdk-side.mjs";

const states = (c) => c.of(c.sessionId, "state_update").map((update) => update.state);

async function cancellingOne(start) {
  const name = (what) => `v2 agent: ${what}`;

  for (const [what, line, method, target] of [
    ["tool call", "long-tool", "tool_call/cancel", { toolCallId: "tool-long" }],
    ["terminal", "long-terminal", "terminal/cancel", { terminalId: "term-long" }],
  ]) {
    await kase(name(`a ${what} that is cancelled by itself ends, and the turn goes on`), async (keep) => {
      const c = keep(start());
      await c.open();
      const { sessionId } = c;
      const turn = c.prompt(`${line}\nsay and on`);
      const kind = what === "terminal" ? "terminal_update" : "tool_call_update";
      await c.until("the offer", () => c.of(sessionId, kind).some((u) => u.capabilities?.cancel));
      assert.deepEqual(await c.request(method, { sessionId, ...target }), {});
      assert.equal((await turn).stopReason, "end_turn");
      assert.equal(c.text(), "and on");
      assert.deepEqual(states(c), ["running", "idle"]);
      const last = c.of(sessionId, kind).at(-1);
      assert.equal(last.capabilities, null);
      if (what === "terminal") assert.deepEqual(last.exitStatus, { signal: "SIGTERM" });
      else assert.equal(last.status, "cancelled");
      assert.equal((await c.refused(method, { sessionId, ...target })).code, -32602);
    });
  }

  await kase(name("without callbacks nothing can be cancelled by itself"), async (keep) => {
    const c = keep(start(["--bare"]));
    await c.open();
    const { sessionId } = c;
    const turn = c.prompt("long-tool");
    const [call] = await c.until("the call", () => {
      const calls = c.of(sessionId, "tool_call_update");
      return calls.length && calls;
    });
    assert.equal(call.capabilities, undefined);
    const id = "raw cancel";
    const params = { sessionId, toolCallId: "tool-long" };
    c.raw({ jsonrpc: "2.0", id, method: "tool_call/cancel", params });
    const answer = await c.until("the answer", () => c.lines.find((l) => l.id === id));
    assert.equal(answer.error.code, -32602);
    await c.cancel();
    assert.equal((await turn).stopReason, "cancelled");
  });
}

async function telling(start) {
  const name = (what) => `v2 agent: ${what}`;

  await kase(name("background work is in every state once it was told"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("background term-1\npermission");
    await c.prompt("background");
    const told = c.of(c.sessionId, "state_update").map((u) => [u.state, u.background]);
    const list = [{ type: "terminal", terminalId: "term-1" }];
    assert.deepEqual(told, [
      ["running", undefined],
      ["running", list],
      ["requires_action", list],
      ["running", list],
      ["idle", list],
      ["running", list],
      ["running", []],
      ["idle", []],
    ]);
  });

  await kase(name("an elicitation is waited for like a permission"), async (keep) => {
    const c = keep(start());
    await c.open();
    const asked = promised();
    c.onElicitation = () => asked.promise;
    const turn = c.prompt("elicit form");
    await c.until("the block", () => states(c).at(-1) === "requires_action");
    asked.resolve({ action: "decline" });
    assert.equal((await turn).stopReason, "end_turn");
    assert.deepEqual(states(c), ["running", "requires_action", "running", "idle"]);
  });

  await kase(name("a turn that works on is not told as waiting"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("busy on\npermission\nbusy off");
    assert.deepEqual(states(c), ["running", "idle"]);
  });
}

async function both(v, start) {
  const name = (what) => `v${v} agent: ${what}`;

  await kase(name("the program knows the ids of messages"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("ids");
    const [, user, agent] = /^user=(.+)\nagent=(.+)\n$/.exec(c.text());
    const chunk = c.of(c.sessionId, "agent_message_chunk")[0];
    assert.equal(chunk.messageId, agent);
    assert.notEqual(user, agent);
    if (v === 2) assert.equal(c.of(c.sessionId, "user_message")[0].messageId, user);
  });

  await kase(name("a trace context is passed on"), async (keep) => {
    const c = keep(start());
    await c.open();
    const { sessionId } = c;
    const _meta = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
    const prompt = [{ type: "text", text: "say before\ntrace\nsay after\npermission" }];
    await c.request("session/prompt", { sessionId, prompt, _meta });
    await c.heard("permitted");
    const metaOf = (find) => c.lines.find((line) => line.params && find(line)).params._meta;
    const said = (text) => (line) => line.params.update?.content?.text?.startsWith(text);
    assert.equal(metaOf(said("before")), undefined);
    assert.deepEqual(metaOf(said("after")), _meta);
    assert.deepEqual(metaOf((line) => line.method === "session/request_permission"), _meta);
  });

  await kase(name("relative paths and line 0 are not sent"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("relative");
    assert.equal(c.text(), "location: ARGUMENT\nline: ARGUMENT\ndiff: ARGUMENT\n");
    assert.deepEqual(c.of(c.sessionId, "tool_call", "tool_call_update"), []);
  });

  for (const mode of ["form", "url"]) {
    const other = mode === "form" ? "url" : "form";
    await kase(name(`a client that takes ${mode}s alone is not asked by ${other}`), async (keep) => {
      const capabilities = { ...FULL_CAPABILITIES[v], elicitation: { [mode]: {} } };
      const c = keep(start([], { capabilities }));
      await c.open();
      await c.prompt(`elicit ${other}\nelicit ${mode}`);
      assert.equal(c.text(), "elicit: STATE\nelicited: decline\n");
      assert.deepEqual(c.requests, ["elicitation/create"]);
    });
  }
}

export async function workCases(v, start) {
  await both(v, start);
  if (v === 1) return;
  await cancellingOne(start);
  await telling(start);
}
