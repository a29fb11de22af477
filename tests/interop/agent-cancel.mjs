// Our agent, seen by the SDK's client: cancel at every point, and several things at once.

import assert from "node:assert/strict";
import { kase, sleep } from "./cases.mjs";
import { THROUGH } from "./through.mjs";
import { promised } from "./sdk-side.mjs";

/** How often a turn has ended on the wire. */
const ends = (c) =>
  c.lines.filter((line) => line.result?.stopReason || line.params?.update?.state === "idle").length;

async function cancelling(v, start) {
  const name = (what) => `v${v} agent: ${what}`;

  await kase(name("cancel before the first update ends as cancelled"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("wait");
    await c.until("the prompt", () => c.check.theirs.size > 0 || v === 2);
    await c.cancel();
    assert.equal((await turn).stopReason, "cancelled");
    assert.equal(c.text(), "");
    assert.equal(ends(c), 1);
  });

  await kase(name("cancel in the same write as the prompt ends as cancelled"), async (keep) => {
    const c = keep(start());
    await c.open();
    const { sessionId } = c;
    const prompt = [{ type: "text", text: "wait" }];
    c.child.stdin.cork();
    c.raw({ jsonrpc: "2.0", id: "raw-1", method: "session/prompt", params: { sessionId, prompt } });
    c.raw({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    c.child.stdin.uncork();
    await c.until("the end", () => ends(c) === 1);
    const last = v === 1 ? c.lines.at(-1).result : c.lines.at(-1).params.update;
    assert.equal(last.stopReason, "cancelled");
  });

  await kase(name("cancel during streaming ends as cancelled, and nothing follows"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("stream 1000 2");
    await c.heard("tick");
    await c.cancel();
    assert.equal((await turn).stopReason, "cancelled");
    const heard = c.text().length;
    await sleep(100);
    await c.settled();
    assert.equal(c.text().length, heard);
    assert.equal(ends(c), 1);
  });

  await kase(name("cancel during a pending permission ends as cancelled"), async (keep) => {
    const c = keep(start());
    await c.open();
    const asked = promised();
    c.onPermission = () => asked.promise;
    const turn = c.prompt("permission");
    await c.until("the question", () => c.permissions.length === 1);
    await c.cancel();
    asked.resolve({ outcome: { outcome: "cancelled" } });
    assert.equal((await turn).stopReason, "cancelled");
    assert.equal(c.text(), "not permitted: cancelled\n");
    const withdrawn = c.lines.find((line) => line.method === "$/cancel_request");
    const question = c.lines.find((line) => line.method === "session/request_permission");
    // A proxy may have passed the answer on before the agent withdraws the question.
    if (!THROUGH.length) assert.ok(withdrawn);
    if (withdrawn) assert.equal(withdrawn.params.requestId, question.id);
    assert.equal(ends(c), 1);
  });

  await kase(name("cancel during a permission that is never answered ends all the same"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.onPermission = () => new Promise(() => {});
    const turn = c.prompt("permission");
    await c.until("the question", () => c.permissions.length === 1);
    await c.cancel();
    assert.equal((await turn).stopReason, "cancelled");
    assert.equal((await c.prompt("say on")).stopReason, "end_turn");
  });

  await kase(name("an allowance that crosses the cancel is no permission"), async (keep) => {
    const c = keep(start());
    await c.open();
    const asked = promised();
    c.onPermission = () => asked.promise;
    const turn = c.prompt("permission\nsay done it");
    await c.until("the question", () => c.permissions.length === 1);
    await c.cancel();
    await c.until("the withdrawal", () => c.lines.find((l) => l.method === "$/cancel_request"));
    asked.resolve({ outcome: { outcome: "selected", optionId: "yes" } });
    assert.equal((await turn).stopReason, "cancelled");
    assert.equal((await c.prompt("say on")).stopReason, "end_turn");
    assert.doesNotMatch(c.text(), /done it|permitted: yes/);
  });

  const pending = [
    ["elicitation", "elicit form", "onElicitation"],
    ["request of one's own", "custom", "onCustom"],
  ];
  if (v === 1) pending.push(["fs read", "read /w/a", "onRead"], ["fs write", "write /w/a x", "onWrite"]);
  for (const [what, line, handler] of pending) {
    await kase(name(`cancel during a pending ${what} ends as cancelled`), async (keep) => {
      const c = keep(start());
      await c.open();
      const asked = promised();
      c[handler] = () => asked.promise;
      const turn = c.prompt(`${line}\nsay never`);
      await c.until("the request", () => c.requests.length === 1);
      await c.cancel();
      assert.equal((await turn).stopReason, "cancelled");
      // The answer comes late and changes nothing.
      asked.resolve({ content: "late", action: "cancel" });
      assert.equal((await c.prompt("say on")).stopReason, "end_turn");
      assert.equal(c.text(), "on");
    });
  }

  if (v === 1) {
    await kase(name("cancel while a terminal is waited for ends as cancelled"), async (keep) => {
      const c = keep(start());
      await c.open();
      const turn = c.prompt("terminal sleep 30");
      await c.until("the wait", () => c.requests.includes("terminal/wait_for_exit"));
      await c.cancel();
      assert.equal((await turn).stopReason, "cancelled");
    });
  }

  await kase(name("cancel twice ends once"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("say at work\nwait");
    await c.heard("at work");
    await Promise.all([c.cancel(), c.cancel()]);
    assert.equal((await turn).stopReason, "cancelled");
    await sleep(50);
    assert.equal(ends(c), 1);
    assert.equal((await c.prompt("say on")).stopReason, "end_turn");
  });

  await kase(name("cancel after the end changes nothing"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("say one");
    const lines = c.lines.length;
    await c.cancel();
    await sleep(50);
    assert.equal(c.lines.length, lines);
    assert.equal((await c.prompt("say two")).stopReason, "end_turn");
    assert.equal(c.text(), "onetwo");
  });

  await kase(name("cancel before any prompt changes nothing"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.cancel();
    assert.equal((await c.prompt("say one")).stopReason, "end_turn");
  });

  await kase(name("a program that does not listen ends as cancelled all the same"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("say at work\nstubborn");
    await c.heard("at work");
    await c.cancel();
    assert.equal((await turn).stopReason, "cancelled");
    assert.equal(c.text(), "at workstill here\n"); // said before the end
  });

  await kase(name("a prompt request that is cancelled as a request ends as cancelled"), async (keep) => {
    const c = keep(start());
    await c.open();
    const stop = new AbortController();
    const prompt = [{ type: "text", text: "say at work\nwait" }];
    const params = { sessionId: c.sessionId, prompt };
    const turn = c.request("session/prompt", params, { cancellationSignal: stop.signal });
    await c.heard("at work");
    stop.abort();
    if (v === 1) {
      assert.equal((await turn).stopReason, "cancelled");
    } else {
      // It was answered long ago, so there is nothing to cancel; the work goes on.
      assert.ok((await turn).messageId);
      await sleep(50);
      assert.equal(ends(c), 0);
      await c.cancel();
      await c.until("the end", () => ends(c) === 1);
    }
  });
}

async function atOnce(v, start) {
  const name = (what) => `v${v} agent: ${what}`;

  if (v === 1) {
    await kase(name("a second prompt is refused and the first untouched"), async (keep) => {
      const c = keep(start());
      await c.open();
      const first = c.prompt("say one\nwait");
      await c.heard("one");
      const prompt = [{ type: "text", text: "say two" }];
      const error = await c.refused("session/prompt", { sessionId: c.sessionId, prompt });
      assert.equal(error.code, -32600);
      await c.cancel();
      assert.equal((await first).stopReason, "cancelled");
      assert.equal(c.text(), "one");
    });
  } else {
    await kase(name("a second prompt waits for the first, and is done then"), async (keep) => {
      const c = keep(start());
      await c.open();
      const first = c.prompt("say one \nstream 5 20\nsay two ");
      await c.heard("one");
      const prompt = [{ type: "text", text: "say three" }];
      const second = await c.request("session/prompt", { sessionId: c.sessionId, prompt });
      assert.equal((await first).stopReason, "end_turn");
      await c.heard("three");
      await c.until("both ends", () => ends(c) === 2);
      assert.equal(c.text(), `one ${"tick\n".repeat(5)}two three`);
      const users = c.of(c.sessionId, "user_message").map((update) => update.messageId);
      assert.equal(users[1], second.messageId);
      assert.equal(new Set(users).size, 2);
    });

    await kase(name("cancel drops the prompts that wait, which were never begun"), async (keep) => {
      const c = keep(start());
      await c.open();
      const first = c.prompt("say one\nwait");
      await c.heard("one");
      const prompt = [{ type: "text", text: "say two" }];
      const params = { sessionId: c.sessionId, prompt };
      const others = [c.refused("session/prompt", params), c.refused("session/prompt", params)];
      await sleep(20);
      await c.cancel();
      assert.equal((await first).stopReason, "cancelled");
      for (const error of await Promise.all(others)) assert.equal(error.code, -32800);
      assert.equal(c.of(c.sessionId, "user_message").length, 1);
      assert.equal(c.text(), "one");
    });

    await kase(name("close answers the prompts that wait with -32800"), async (keep) => {
      const c = keep(start());
      await c.open();
      const first = c.prompt("say one\nwait");
      await c.heard("one");
      const prompt = [{ type: "text", text: "say two" }];
      const second = c.refused("session/prompt", { sessionId: c.sessionId, prompt });
      await sleep(20);
      await c.request("session/close", { sessionId: c.sessionId });
      assert.equal((await first).stopReason, "cancelled");
      assert.equal((await second).code, -32800);
    });

    await kase(name("tool calls and terminals cannot be cancelled by themselves"), async (keep) => {
      const c = keep(start());
      await c.open();
      await c.prompt("tool");
      const { sessionId } = c;
      for (const [method, params] of [
        ["tool_call/cancel", { sessionId, toolCallId: "tool-1" }],
        ["terminal/cancel", { sessionId, terminalId: "term-1" }],
      ]) {
        c.raw({ jsonrpc: "2.0", id: `raw ${method}`, method, params });
        const answer = await c.until(method, () => c.lines.find((l) => l.id === `raw ${method}`));
        assert.equal(answer.error.code, -32602, method);
      }
    });
  }

  await kase(name("two sessions at once do not mix"), async (keep) => {
    const c = keep(start());
    await c.open("/w/one");
    const one = c.sessionId;
    const { sessionId: two } = await c.request("session/new", { cwd: "/w/two", mcpServers: [] });
    assert.notEqual(one, two);
    const first = c.prompt("stream 10 3\nsay one\nwhere", one);
    const second = c.prompt("stream 8 4\nsay two\nwhere", two);
    assert.equal((await first).stopReason, "end_turn");
    assert.equal((await second).stopReason, "end_turn");
    assert.match(c.text(one), /^(tick\n){10}onecwd=\/w\/one\n/);
    assert.match(c.text(two), /^(tick\n){8}twocwd=\/w\/two\n/);
  });

  await kase(name("cancel of one session leaves the other at work"), async (keep) => {
    const c = keep(start());
    await c.open("/w/one");
    const one = c.sessionId;
    const { sessionId: two } = await c.request("session/new", { cwd: "/w/two", mcpServers: [] });
    const asked = promised();
    c.onPermission = ({ sessionId }) =>
      sessionId === two ? asked.promise : new Promise(() => {});
    const first = c.prompt("permission", one);
    const second = c.prompt("permission", two);
    await c.until("both questions", () => c.permissions.length === 2);
    await c.cancel(one);
    assert.equal((await first).stopReason, "cancelled");
    asked.resolve({ outcome: { outcome: "selected", optionId: "yes" } });
    assert.equal((await second).stopReason, "end_turn");
    assert.equal(c.text(two), "permitted: yes (1)\n");
  });

  await kase(name("fifty sessions with a turn each"), async (keep) => {
    const c = keep(start());
    await c.initialize();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => c.request("session/new", { cwd: "/w", mcpServers: [] })),
    );
    const ids = answers.map((answer) => answer.sessionId);
    assert.equal(new Set(ids).size, 50);
    await Promise.all(ids.map((id, i) => c.prompt(`say ${i}\nstream 3 1\nsay .`, id)));
    ids.forEach((id, i) => assert.equal(c.text(id), `${i}tick\ntick\ntick\n.`));
  });

  await kase(name("the agent leaves when its client goes in the middle of a turn"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.onPermission = () => new Promise(() => {});
    c.prompt("stream 1000 1").catch(() => {});
    await c.heard("tick");
    const { sessionId } = await c.request("session/new", { cwd: "/w", mcpServers: [] });
    c.prompt("permission", sessionId).catch(() => {});
    await c.until("the question", () => c.permissions.length === 1);
    c.child.stdin.end();
    const { code } = await c.exited;
    assert.equal(code, 0);
  });
}

export async function cancelCases(v, start) {
  await cancelling(v, start);
  await atOnce(v, start);
}
