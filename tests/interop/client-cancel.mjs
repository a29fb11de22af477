// Our client against the SDK's agent: cancel at every point, and several things at once.

import assert from "node:assert/strict";
import { kase, sleep } from "./cases.mjs";

export async function clientCancelCases(v, start) {
  const name = (what) => `v${v} client: ${what}`;

  await kase(name("cancel before the first update ends as cancelled"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("wait");
    c.send("cancel a");
    if (v === 2) {
      // The work may begin after the cancellation: then it was not about this.
      await sleep(100);
      c.send("cancel a");
    }
    assert.equal((await turn).stop, "cancelled");
    assert.equal(c.text(), "");
  });

  await kase(name("cancel during streaming ends as cancelled"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("stream 1000 2");
    await c.heard("tick");
    c.send("cancel a");
    const end = await turn;
    assert.equal(end.stop, "cancelled");
    assert.equal(end.err, undefined);
    assert.equal(c.events.at(-1), end);
    assert.equal((await c.prompt("say on")).stop, "end_turn");
  });

  await kase(name("cancel during a pending permission settles it"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("permission");
    const { call } = await c.next("permission");
    const gone = c.next("permission_cancelled");
    c.send("cancel a");
    assert.equal((await gone).call, call);
    assert.equal((await turn).stop, "cancelled");
    assert.equal(await c.refused(`permit ${call} yes`), "UNKNOWN");
    const [answer] = c.sent().filter((message) => message.result?.outcome);
    assert.deepEqual(answer.result, { outcome: { outcome: "cancelled" } });
    assert.equal(c.of("permission_cancelled").length, 1);
  });

  await kase(name("cancel settles a question that the agent does not take back"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("stubborn");
    const { call } = await c.next("permission");
    const gone = c.next("permission_cancelled");
    c.send("cancel a");
    assert.equal((await gone).call, call);
    assert.equal((await turn).stop, "cancelled");
    assert.equal(c.text(), 'permission: {"outcome":"cancelled"}\n');
    assert.ok(!c.wire().some((line) => line.startsWith(">") && line.includes("$/cancel_request")));
  });

  await kase(name("a question that crosses the cancellation is not put to anybody"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("say at work\ncrossing");
    await c.heard("at work");
    c.send("cancel a");
    assert.equal((await turn).stop, "cancelled");
    assert.deepEqual(c.of("permission"), []);
    assert.match(c.text(), /"outcome":"cancelled"/);
  });

  const pending = [["elicitation", "elicit form"]];
  if (v === 1) pending.push(["fs read", "read /w/a"], ["fs write", "write /w/a x"]);
  for (const [what, line] of pending) {
    await kase(name(`cancel during a pending ${what} ends as cancelled`), async (keep) => {
      const c = keep(start());
      await c.open();
      delete c.serve["fs/read_text_file"];
      delete c.serve["fs/write_text_file"];
      const turn = c.prompt(`${line}\nsay never`);
      const { call } = await c.next("request");
      const withdrawn = c.next("cancel_request");
      c.send("cancel a");
      assert.equal((await withdrawn).call, call);
      assert.equal((await turn).stop, "cancelled");
      // It must be answered all the same, which changes nothing.
      c.send(`refuse ${call} -32800 Cancelled`);
      assert.equal((await c.prompt("say on")).stop, "end_turn");
      assert.equal(c.text(), "on");
    });
  }

  if (v === 1) {
    await kase(name("cancel while a terminal is waited for ends as cancelled"), async (keep) => {
      const c = keep(start());
      await c.open();
      const turn = c.prompt("terminal sleep 30");
      await c.next("request", (event) => event.method === "terminal/wait_for_exit");
      c.send("cancel a");
      assert.equal((await turn).stop, "cancelled");
    });
  } else {
    await kase(name("a prompt that is never begun ends as cancelled"), async (keep) => {
      const c = keep(start());
      await c.open();
      const turn = c.prompt("hold");
      await sleep(50);
      c.send("cancel a");
      const end = await turn;
      assert.equal(end.stop, "cancelled");
      assert.equal(end.err, undefined);
      assert.equal((await c.prompt("say on")).stop, "end_turn");
    });
  }

  if (v === 2) {
    await kase(name("a tool call and a terminal are cancelled by themselves"), async (keep) => {
      const c = keep(start());
      await c.open();
      assert.equal(await c.refused("cancel-tool a tool-c"), "STATE");
      const turn = c.prompt("cancellable");
      await c.next("other", (event) => event.raw.terminalId === "term-c");
      assert.equal(await c.refused("cancel-tool a term-c"), "STATE");
      assert.equal((await c.do("cancel-tool a tool-c", "tool_cancelled")).err, undefined);
      assert.equal((await c.do("cancel-terminal a term-c", "terminal_cancelled")).err, undefined);
      assert.equal((await turn).stop, "end_turn");
      assert.equal(c.text(), "cancelled");
      assert.equal(await c.refused("cancel-tool a tool-c"), "STATE");
      assert.equal(await c.refused("cancel-terminal a term-c"), "STATE");
    });
  }

  await kase(name("cancel twice ends once"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("say at work\nwait");
    await c.heard("at work");
    c.send("cancel a\ncancel a");
    assert.equal((await turn).stop, "cancelled");
    await sleep(50);
    assert.equal(c.of("end").length, 1);
    assert.equal((await c.prompt("say on")).stop, "end_turn");
  });

  await kase(name("cancel when nothing is at work sends nothing"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.do("cancel a", "did");
    await c.prompt("say one");
    await c.do("cancel a", "did");
    await c.prompt("say two");
    assert.equal(c.text(), "onetwo");
    assert.deepEqual(c.sent("session/cancel"), []);
  });

  await kase(name("a second prompt is not sent while the first is at work"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("say one\nwait");
    await c.heard("one");
    assert.equal(await c.refused('prompt a [{"type":"text","text":"say two"}]'), "STATE");
    c.send("cancel a");
    assert.equal((await turn).stop, "cancelled");
    assert.equal(c.sent("session/prompt").length, 1);
  });

  await kase(name("two sessions at once do not mix"), async (keep) => {
    const c = keep(start());
    await c.open("a", "/w/one");
    await c.open("b", "/w/two");
    const first = c.prompt("stream 10 3\nsay one", "a");
    const second = c.prompt("stream 8 4\nsay two", "b");
    assert.equal((await first).stop, "end_turn");
    assert.equal((await second).stop, "end_turn");
    assert.equal(c.text("a"), `${"tick\n".repeat(10)}one`);
    assert.equal(c.text("b"), `${"tick\n".repeat(8)}two`);
  });

  await kase(name("cancel of one session leaves the other at work"), async (keep) => {
    const c = keep(start());
    await c.open("a", "/w/one");
    await c.open("b", "/w/two");
    const first = c.prompt("permission", "a");
    await c.next("permission");
    const second = c.prompt("permission", "b");
    const { call } = await c.next("permission", (event) => event.session === "b");
    c.send("cancel a");
    assert.equal((await first).stop, "cancelled");
    assert.deepEqual(c.of("permission_cancelled", "b"), []);
    c.send(`permit ${call} yes`);
    assert.equal((await second).stop, "end_turn");
    assert.match(c.text("b"), /"optionId":"yes"/);
  });
}
