// Our client against the SDK's agent: turns, events of every kind, and what the agent asks.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kase } from "./cases.mjs";
import { until } from "./processes.mjs";
import { allBlocks } from "./script.mjs";
import { updateKindsOf } from "./wire.mjs";

async function hearing(v, start) {
  const name = (what) => `v${v} client: ${what}`;

  await kase(name("a turn is heard and ends"), async (keep) => {
    const c = keep(start());
    await c.open();
    const end = await c.prompt("say hello\nthink hm");
    assert.equal(end.stop, "end_turn");
    assert.equal(end.err, undefined);
    assert.equal(c.text(), "hello");
    const thought = c.of("chunk").find((event) => event.author === "thought");
    assert.equal(thought.block.text, "hm");
    const states = c.of("state").map((event) => event.state);
    assert.deepEqual(states, ["running", "idle"]);
    // The agent tells its commands whenever it gets to it.
    assert.equal(c.events.filter((event) => event.event !== "commands").at(-1), end);
  });

  await kase(name("every stop reason"), async (keep) => {
    const c = keep(start());
    await c.open();
    for (const reason of ["end_turn", "max_tokens", "max_turn_requests", "refusal"]) {
      assert.equal((await c.prompt(`stop ${reason}`)).stop, reason);
    }
  });

  if (v === 2) {
    await kase(name("work that is over before the prompt is answered ends once"), async (keep) => {
      const c = keep(start());
      await c.open();
      assert.equal((await c.prompt("say first")).stop, "end_turn");
      assert.equal((await c.prompt("say second")).stop, "end_turn");
      assert.equal(c.text(), "firstsecond");
      assert.equal(c.of("end").length, 2);
    });

    await kase(name("work that begins after the prompt is answered"), async (keep) => {
      const c = keep(start());
      await c.open();
      assert.equal((await c.prompt("say slowly")).stop, "end_turn");
      assert.equal(c.text(), "slowly");
      const [message] = c.of("message");
      assert.equal(message.author, "user");
      assert.equal(message.content[0].text, "say slowly");
    });
  }

  await kase(name("a turn that fails tells why"), async (keep) => {
    const c = keep(start());
    await c.open();
    const end = await c.prompt("say before\nfail the model is gone");
    assert.equal(end.err, "REMOTE");
    assert.equal(end.code, -32603);
    assert.equal(end.why, "the model is gone");
    assert.equal((await c.prompt("say after")).stop, "end_turn");
  });

  await kase(name("a prompt for a session that the agent has lost tells why"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.do('request session/close {"sessionId":"s-1"}', "replied");
    const end = await c.prompt("say x");
    assert.equal(end.err, "REMOTE");
    assert.equal(end.code, -32002);
  });

  await kase(name("every kind of update becomes an event"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("every");
    const raws = new Set(c.events.map((event) => event.raw?.sessionUpdate).filter(Boolean));
    assert.deepEqual([...raws].sort(), updateKindsOf(v).sort());
    assert.deepEqual(c.events.filter((event) => event.event === "trouble"), []);
    const others = c.of("other").map((event) => event.raw.sessionUpdate);
    assert.deepEqual(others, [
      "session_info_update",
      "usage_update",
      "notice",
      "compaction_update",
      "compaction_summary_chunk",
      "compaction_update",
      ...(v === 2 ? ["terminal_update", "terminal_output_chunk", "terminal_update"] : []),
    ]);
    const [plan] = c.of("plan");
    assert.deepEqual(
      plan.plan.map((entry) => [entry.content, entry.priority, entry.status]),
      [
        ["look", "high", "completed"],
        ["do", "low", "pending"],
      ],
    );
    assert.equal(plan.planId, v === 1 ? undefined : "p-1");
    const commands = c.of("commands").at(-1).commands;
    assert.deepEqual(commands.map((command) => command.name), ["test", "explain"]);
    assert.equal(commands[1].input.hint, "what");
    if (v === 1) {
      assert.equal(c.of("mode")[0].mode, "code");
    } else {
      const whole = c.of("message").map((event) => [event.author, event.message]);
      assert.deepEqual(whole.slice(1), [
        ["user", "w-1"],
        ["agent", "w-2"],
        ["thought", "w-3"],
      ]);
      const [part] = c.of("tool_content");
      assert.equal(part.toolId, "tool-1");
      assert.deepEqual(part.content, { type: "terminal", terminalId: "term-1" });
    }
  });

  await kase(name("tool calls begin and change, null by the version's meaning"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("tool\ndiff");
    const tools = c.of("tool");
    assert.deepEqual(tools.map((event) => [event.toolId, event.tool.status]), [
      ["tool-1", "pending"],
      ["tool-1", "in_progress"],
      ["tool-1", "completed"],
      ["tool-diff", undefined],
    ]);
    assert.equal(tools[0].tool.title, "Reading");
    assert.deepEqual(tools[0].tool.locations, [{ path: "/w/a.txt", line: 7 }]);
    assert.deepEqual(tools[0].tool.rawInput, { path: "/w/a.txt" });
    assert.equal("title" in tools[1].tool, v === 2);
    if (v === 2) assert.equal(tools[1].tool.title, null);
    assert.equal(tools[2].tool.content[0].content.text, "seven lines");
    const [diff] = tools[3].tool.content;
    if (v === 1) assert.equal(diff.newText, "two\n");
    else assert.equal(diff.changes[0].operation, "modify");
  });

  await kase(name("every kind of content, from the agent"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("blocks");
    assert.deepEqual(c.of("chunk").map((event) => event.block), allBlocks());
  });

  await kase(name("every kind of content, to the agent and back"), async (keep) => {
    const c = keep(start());
    await c.open();
    const prompt = [{ type: "text", text: "all of this" }, ...allBlocks()];
    assert.equal((await c.prompt(prompt)).stop, "end_turn");
    const said = c.of("chunk").map((event) => event.block);
    assert.deepEqual(said, prompt);
    const [{ params }] = c.sent("session/prompt");
    assert.deepEqual(params.prompt, prompt);
  });

  await kase(name("unknown updates are handed on, senseless ones reported"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("strange");
    const raws = c.of("other").map((event) => event.raw);
    assert.deepEqual(raws, [
      { sessionUpdate: "_x_custom", deep: { a: [1] } },
      { sessionUpdate: "from_the_future", value: 1 },
    ]);
    const troubles = c.events.filter((event) => event.event === "trouble");
    assert.deepEqual(troubles.map((event) => event.what), ["invalid"]);
    assert.equal(c.text(), "after");
  });

  await kase(name("what stands beside an update is shown, and sent beside a prompt"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.do('meta {"traceparent":"00-2"}', "did");
    await c.prompt("traced");
    await c.do("meta -", "did");
    await c.prompt("say on");
    const [chunk, later] = c.of("chunk");
    assert.deepEqual(chunk.meta, { traceparent: "00-1" });
    assert.equal(later.meta, undefined);
    const prompts = c.sent("session/prompt").map(({ params }) => params._meta);
    assert.deepEqual(prompts, [{ traceparent: "00-2" }, undefined]);
  });

  await kase(name("noise between messages is reported and does no harm"), async (keep) => {
    const c = keep(start());
    c.expectErrors = /^agent: Got response to unknown request null$/; // which is what we answer
    await c.open();
    assert.equal((await c.prompt("noise\nsay on")).stop, "end_turn");
    const [trouble] = c.events.filter((event) => event.event === "trouble");
    assert.equal(trouble.what, "noise");
  });

  await kase(name("the agent speaks between turns"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("later 30 by the way");
    assert.equal(c.text(), "");
    await c.heard("by the way");
  });

  await kase(name("an agent that crashes ends the turn with its last words"), async (keep) => {
    const c = keep(start());
    c.expectErrors = /^agent: /;
    await c.open();
    const end = await c.prompt("say before\ncrash the disk is full");
    assert.equal(end.err, "CLOSED");
    assert.match(end.why, /node/);
    assert.match(end.why, /code 3/);
    assert.match(end.why, /the disk is full/);
    const exited = await c.until("exit", () => c.events.find((e) => e.event === "exited"));
    assert.equal(exited.code, 3);
    const order = c.events.map((event) => event.event);
    assert.ok(order.indexOf("end") < order.indexOf("session_ended"));
    assert.ok(order.indexOf("session_ended") < order.indexOf("connection_closed"));
    assert.equal(order.filter((event) => event === "end").length, 1);
  });
}

async function answering(v, start) {
  const name = (what) => `v${v} client: ${what}`;
  const outcome = (c) => JSON.parse(c.text().replace(/^permission: /, "")).outcome;

  for (const optionId of ["yes", "yes-always", "no", "no-always"]) {
    await kase(name(`permission answered with ${optionId}`), async (keep) => {
      const c = keep(start());
      await c.open();
      const turn = c.prompt("permission Delete it");
      const asked = await c.next("permission");
      assert.equal(asked.title, v === 1 ? "Delete it" : "May I: Delete it");
      assert.equal(asked.tool.toolCallId, "tool-ask");
      assert.equal(asked.description, v === 1 ? undefined : "It is necessary.");
      assert.deepEqual(
        asked.options.map((option) => option.kind),
        ["allow_once", "allow_always", "reject_once", "reject_always"],
      );
      c.send(`permit ${asked.call} ${optionId}`);
      assert.equal((await turn).stop, "end_turn");
      assert.deepEqual(outcome(c), { outcome: "selected", optionId });
      assert.equal(await c.refused(`permit ${asked.call} yes`), "UNKNOWN"); // it is settled
      const states = c.of("state").map((event) => event.state);
      const blocked = v === 1 ? [] : ["blocked", "running"];
      assert.deepEqual(states, ["running", ...blocked, "idle"]);
    });
  }

  await kase(name("permission that is rejected has the outcome cancelled"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("permission");
    const { call } = await c.next("permission");
    c.send(`reject ${call}`);
    assert.equal((await turn).stop, "end_turn");
    assert.deepEqual(outcome(c), { outcome: "cancelled" });
  });

  await kase(name("without anybody to ask the outcome is cancelled"), async (keep) => {
    const c = keep(start(["--no-permission"]));
    await c.open();
    assert.equal((await c.prompt("permission")).stop, "end_turn");
    assert.deepEqual(outcome(c), { outcome: "cancelled" });
  });

  await kase(name("a question that the agent takes back is gone"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("withdraw");
    const { call } = await c.next("permission");
    const gone = await c.next("permission_cancelled");
    assert.equal(gone.call, call);
    assert.equal((await turn).stop, "end_turn");
    assert.deepEqual(outcome(c), { outcome: "cancelled" });
    assert.equal(await c.refused(`permit ${call} yes`), "UNKNOWN");
  });

  if (v === 2) {
    await kase(name("permission for a command names it"), async (keep) => {
      const c = keep(start());
      await c.open();
      const turn = c.prompt("command");
      const asked = await c.next("permission");
      assert.equal(asked.title, "Run it?");
      assert.equal(asked.command, "make");
      assert.equal(asked.tool, undefined);
      c.send(`permit ${asked.call} no`);
      await turn;
      assert.deepEqual(outcome(c), { outcome: "selected", optionId: "no" });
    });
  }

  for (const answer of [
    { action: "accept", content: { name: "x", size: 1.5, count: 2, sure: false, colours: ["red"] } },
    { action: "decline" },
    { action: "cancel" },
  ]) {
    await kase(name(`a form that is answered with ${answer.action}`), async (keep) => {
      const c = keep(start());
      await c.open();
      const turn = c.prompt("elicit form");
      const { call, method, params, session } = await c.next("request");
      assert.equal(method, "elicitation/create");
      assert.equal(session, "a");
      assert.equal(params.mode, "form");
      assert.deepEqual(Object.keys(params.requestedSchema.properties), [
        "name",
        "size",
        "count",
        "sure",
        "colours",
      ]);
      c.send(`answer ${call} ${JSON.stringify(answer)}`);
      await turn;
      assert.deepEqual(JSON.parse(c.text().replace("elicited: ", "")), answer);
    });
  }

  await kase(name("a web page that is consented to and completed"), async (keep) => {
    const c = keep(start());
    await c.open();
    const turn = c.prompt("elicit url");
    const { call, params } = await c.next("request");
    assert.equal(params.url, "https://example.com/in");
    const completed = c.next("notification");
    c.send(`answer ${call} {"action":"accept"}`);
    await turn;
    const { method, params: note } = await completed;
    assert.equal(method, "elicitation/complete");
    assert.deepEqual(note, { elicitationId: "e-1" });
  });

  await kase(name("methods and notifications of one's own, both ways"), async (keep) => {
    const c = keep(start());
    await c.open();
    await c.prompt("custom");
    assert.equal(c.text(), 'pong: {"echoed":{"n":1}}\n');
    const noted = c.events.find((event) => event.event === "notification");
    assert.equal(noted.method, "_x/note");
    assert.deepEqual(noted.params, { n: 1 });
    assert.deepEqual((await c.do('request _x/echo {"a":1}', "replied")).value, { a: 1 });
    assert.equal((await c.do("request _x/unknown {}", "replied")).code, -32601);
    const back = await c.do('notify _x/note {"b":2}', "notification");
    assert.equal(back.method, "_x/noted");
  });

  await kase(name("a request of the agent's own that is refused"), async (keep) => {
    const c = keep(start());
    await c.open();
    c.serve["_x/ping"] = () => {
      throw Object.assign(new Error("not today"), { code: -32001 });
    };
    await c.prompt("custom");
    assert.equal(c.text(), "pong: -32001 not today\n");
  });
}

async function services(start) {
  const name = (what) => `v1 client: ${what}`;
  const folder = await mkdtemp(join(tmpdir(), "acp-interop-"));
  const path = join(folder, "a.txt");

  await kase(name("files are read and written for the agent"), async (keep) => {
    const c = keep(start());
    await c.open("a", folder);
    await writeFile(path, "one\n");
    await c.prompt(`read ${path} 2 3\nwrite ${path} two words`);
    assert.equal(c.text(), 'read: {"content":"one\\n"}\nwrite: {}\n');
    assert.equal(await readFile(path, "utf8"), "two words");
    const [read] = c.of("request");
    assert.equal(read.method, "fs/read_text_file");
    assert.equal(read.params.path, path);
    assert.equal(read.params.line, 2);
    assert.equal(read.params.limit, 3);
  });

  await kase(name("a file that is refused is told to the agent with its code"), async (keep) => {
    const c = keep(start());
    await c.open("a", folder);
    c.serve["fs/read_text_file"] = () => {
      throw Object.assign(new Error("There is no such file"), { code: -32002 });
    };
    await c.prompt("read /w/none");
    assert.equal(c.text(), "read: -32002 There is no such file\n");
  });

  await kase(name("a terminal from its creation to its release"), async (keep) => {
    const c = keep(start());
    await c.open("a", folder);
    assert.equal((await c.prompt("terminal echo $GREETING; exit 3")).stop, "end_turn");
    assert.equal(c.text(), "3: hello\n\n");
    assert.deepEqual(
      c.of("request").map((event) => event.method),
      ["terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release"],
    );
    const [{ params }] = c.of("request");
    assert.deepEqual(params.args, ["-c", "echo $GREETING; exit 3"]);
    assert.deepEqual(params.env, [{ name: "GREETING", value: "hello" }]);
    assert.equal(params.cwd, folder);
    assert.equal(params.outputByteLimit, 64);
  });

  await kase(name("a command in a terminal is killed"), async (keep) => {
    const c = keep(start());
    await c.open("a", folder);
    await c.prompt("kill sleep 30");
    assert.equal(c.text(), "SIGKILL: \n");
    assert.ok(c.of("request").some((event) => event.method === "terminal/kill"));
  });

  await kase(name("a request for a session that is not there is refused"), async (keep) => {
    const c = keep(start());
    await c.open("a", folder);
    // The client forgets the session, the agent works on.
    await c.prompt("read-later 1000 /w/a");
    await c.do("close a", "closed");
    const refusals = () => c.sent().filter((message) => message.error?.code === -32002);
    await until("the refusal", () => refusals().length > 0);
    assert.equal(refusals().length, 1);
    assert.deepEqual(c.events.filter((event) => event.event === "request"), []);
  });

  await rm(folder, { recursive: true });
}

export async function clientTurnCases(v, start) {
  await hearing(v, start);
  await answering(v, start);
  if (v === 1) await services(start);
}
